// A model of a crowd, run until it rests: what it took, how deep anything penetrates, whether energy ever rose, and
// whether momentum changed by what walls and weight gave.
//
//   rest       kinetic energy of the mass centres below `--rest` (1e-8) of the largest kinetic energy, for 100 steps in
//              turn; balls may go on to spin about the normals of their contacts, which nothing resists
//   momentum   largest |change - h (forces of the entries against the ground + weight)| of a step, of what the weight
//              gives in one
//   rise       largest rise of the stored energy in a step, of the largest kinetic energy
//
// Usage: crowd_bench MODEL.yaml [--iterations K] [--tolerance m/s] [--threads N] [--step s] [--most 20 s] [--rest 1e-8]
//                    [--every 0 s: prints the state]
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <limits>
#include <memory>

#include "contact/crowd_stepper.hpp"
#include "model/load.hpp"

namespace clatter::contact {
namespace {

constexpr int kStill = 100;

struct Options {
  int iterations = 0, threads = 0;
  double tolerance = 0, step = 0, most = 20, rest = 1e-8, every = 0;
};

// Entries that hold bodies against the ground.
std::vector<std::size_t> walls(const Model& model) {
  std::vector<std::size_t> out;
  for (std::size_t e = 0; e < model.crowd->contacts.size(); ++e) {
    const auto ground = [&](int shape) { return model.shapes[static_cast<std::size_t>(shape)].at.body < 0; };
    const CrowdContact& entry = model.crowd->contacts[e];
    if (std::all_of(entry.second.begin(), entry.second.end(), ground)) out.push_back(e);
  }
  return out;
}

int run(const char* path, const Options& options) {
  Model model = load_model(path);
  if (!model.crowd) throw std::runtime_error("this model is no crowd");
  auto crowd = std::make_shared<CrowdModel>(*model.crowd);
  if (options.iterations > 0) crowd->iterations = options.iterations;
  if (options.tolerance > 0) crowd->tolerance = options.tolerance;
  if (options.threads > 0) crowd->threads = options.threads;
  model.crowd = crowd;
  IntegratorSettings settings;
  settings.step = options.step > 0 ? options.step : model.simulate.step;
  const std::vector<std::size_t> supports = walls(model);
  const auto system = System::compile(std::move(model));
  const auto contacts = ContactSystem::compile(system);
  Engine engine(system);
  ContactDynamics dynamics(contacts, engine);
  CrowdStepper stepper(dynamics, settings);
  stepper.start(system->initial);
  double size = std::numeric_limits<double>::infinity(), mass = 0;
  for (const ShapeInstance& s : contacts->shapes)
    if (s.link >= 0) size = std::min(size, s.geometry.bound);
  for (const Link& link : system->tree.links) mass += link.mass;
  const Vec3 weight = mass * system->model.gravity;
  const auto momentum = [&] {
    Vec3 p = Vec3::Zero();
    for (std::size_t l = 0; l < system->tree.links.size(); ++l)
      p += system->tree.links[l].mass * engine.links().motion[l].v;
    return p;
  };
  double energy = dynamics.stored_energy(stepper.state()), rise = -std::numeric_limits<double>::infinity();
  double kinetic = 0, largest = 0, centres = 0, speed = 0, balance = 0, rate = 0, next = options.every;
  long steps = 0;
  int still = 0;
  engine.observe(stepper.state(), nullptr);
  Vec3 p = momentum();
  const auto begin = std::chrono::steady_clock::now();
  while (stepper.state().t < options.most * (1 - 1e-12) && still < kStill) {
    const double t = stepper.state().t;
    stepper.step(options.most);
    ++steps;
    const double h = stepper.state().t - t;
    rise = std::max(rise, stepper.stored_energy() - energy);
    energy = stepper.stored_energy();
    engine.observe(stepper.state(), nullptr);
    kinetic = engine.kinetic();
    largest = std::max(largest, kinetic);
    speed = centres = 0;
    for (std::size_t l = 0; l < system->tree.links.size(); ++l) {
      const double v = engine.links().motion[l].v.norm();
      speed = std::max(speed, v);
      centres += 0.5 * system->tree.links[l].mass * v * v;
    }
    still = centres <= options.rest * largest ? still + 1 : 0;
    rate = std::max(rate, stepper.residual().rate);
    Vec3 given = weight;
    for (const std::size_t e : supports) given += stepper.entries()[e].force;
    const Vec3 now = momentum();
    balance = std::max(balance, (now - p - h * given).norm() / (h * weight.norm()));
    p = now;
    if (options.every > 0 && stepper.state().t >= next * (1 - 1e-12)) {
      next += options.every;
      std::printf("  t=%.3f kinetic_J=%.3g speed=%.2g rows=%d depth=%.2g rise=%.2g rate=%.2g sweeps=%.4g\n",
                  stepper.state().t, kinetic, speed, stepper.rows(), stepper.last_certificate().penetration / size,
                  rise / largest, stepper.residual().rate,
                  static_cast<double>(stepper.sweeps()) / static_cast<double>(steps));
      std::fflush(stdout);
    }
  }
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  int moving = 0;  // mass centres faster than 1 mm/s
  for (const LinkMotion& m : engine.links().motion) moving += m.v.norm() > 1e-3 ? 1 : 0;
  const double depth = stepper.penetration();
  std::printf(
      "bench=crowd model=%s bodies=%d steps=%ld rest=%s t=%.4g wall_s=%.4g steps_per_s=%.4g sweeps_per_step=%.4g "
      "contacts=%d depth_at_end=%.2g depth_at_worst=%.2g speed_at_end=%.2g moving=%d kinetic_of_centres=%.2g "
      "kinetic=%.2g "
      "rise=%.2g momentum=%.2g "
      "rate_at_worst=%.2g\n",
      path, static_cast<int>(system->model.bodies.size()), steps, still >= kStill ? "yes" : "no", stepper.state().t,
      wall, static_cast<double>(steps) / wall, static_cast<double>(stepper.sweeps()) / static_cast<double>(steps),
      stepper.touching(), depth / size, std::max(depth, stepper.certificate().penetration) / size, speed, moving,
      centres / largest, kinetic / largest, rise / largest, balance, rate);
  return still >= kStill ? 0 : 1;
}

}  // namespace
}  // namespace clatter::contact

int main(int argc, char** argv) {
  clatter::contact::Options options;
  if (argc < 2) {
    std::fprintf(stderr, "usage: crowd_bench MODEL.yaml [--option value ...]\n");
    return 2;
  }
  for (int i = 2; i + 1 < argc; i += 2) {
    const double value = std::atof(argv[i + 1]);
    const auto is = [&](const char* name) { return std::strcmp(argv[i], name) == 0; };
    if (is("--iterations")) options.iterations = static_cast<int>(value);
    if (is("--tolerance")) options.tolerance = value;
    if (is("--threads")) options.threads = static_cast<int>(value);
    if (is("--step")) options.step = value;
    if (is("--most")) options.most = value;
    if (is("--rest")) options.rest = value;
    if (is("--every")) options.every = value;
  }
  try {
    return clatter::contact::run(argv[1], options);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 3;
  }
}
