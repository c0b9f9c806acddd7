// Benchmark problem B: a cable pinned at one end, let go horizontally, by generalized-alpha in steps of 1 ms for 2 s.
// Steps per second of CPU and the tip for 20, 100 and 500 elements; the exponent with which the cost of a step grows.
// One thread. The timed loop is Integrator::step alone.
//
// Usage: cable_bench [--elements N] [--element cable|beam] [--repeat K] [--end T]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "integrate/initial.hpp"
#include "integrate/integrator.hpp"
#include "model/beam.hpp"

namespace clatter {
namespace {

Model cable_model(int elements, bool beam) {
  auto cable = std::make_shared<BeamSource>();
  cable->element = beam ? BeamSource::Element::beam : BeamSource::Element::cable;
  cable->planar = true;
  cable->elements = elements;
  cable->rectangle(0.01, 0.01, 1e8, 0, 1000);
  cable->straight(Vec3::Zero(), Vec3::UnitX());
  cable->points = {{"start", {}, 0}, {"end", {}, 1}};
  Model model;
  model.gravity = Vec3(0, -9.81, 0);
  Body body;
  body.name = "cable";
  body.kind = BodyKind::planar_beam;
  for (const BeamSource::Point& p : cable->points) body.frames.push_back({{p.name, {}}, cable->at(p.s)});
  body.beam = cable;
  body.pose = Placement{};
  model.bodies.push_back(body);
  Joint pin;
  pin.name = "pin";
  pin.kind = JointKind::revolute;
  pin.b = {0, cable->at(0), "cable.start", {}, "start"};
  model.joints.push_back(pin);
  return model;
}

// CPU seconds a step of the fastest of `repeat` runs.
double run(int elements, bool beam, int repeat, double end) {
  const auto system = System::compile(cable_model(elements, beam));
  double best = 1e300;
  for (int k = 0; k < repeat; ++k) {
    Engine engine(system);
    State s = system->initial;
    make_consistent(engine, s, {});
    IntegratorSettings settings;
    settings.scheme = Scheme::generalized_alpha;
    settings.step = 1e-3;
    const auto integrator = make_integrator(settings, engine);
    integrator->start(s);
    long steps = 0, newton = 0;
    std::vector<Vec3> tips;
    const std::vector<double> times{0.5, 1, 2};
    const auto begin = std::clock();
    for (const double t : times) {
      if (t > end) break;
      while (integrator->state().t < t - 1e-9) {
        newton += integrator->step(t).newton_iterations;
        ++steps;
      }
      const Vec& q = integrator->state().q;
      tips.emplace_back(q[q.size() - 4], q[q.size() - 3], 0);
    }
    const double cpu = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC / static_cast<double>(steps);
    best = std::min(best, cpu);
    if (k + 1 < repeat) continue;
    std::printf(
        "bench=cable element=%s elements=%d velocities=%d steps=%ld steps_per_s=%.4g us_per_step=%.4g "
        "newton_per_step=%.3g",
        beam ? "beam" : "cable", elements, system->sizes.nv, steps, 1 / best, 1e6 * best,
        static_cast<double>(newton) / static_cast<double>(steps));
    for (std::size_t i = 0; i < tips.size(); ++i)
      std::printf(" tip_%gs=(%.4f, %.4f)", times[i], tips[i].x(), tips[i].y());
    std::printf("\n");
    std::fflush(stdout);
  }
  return best;
}

}  // namespace
}  // namespace clatter

int main(int argc, char** argv) {
  std::vector<int> sizes{20, 100, 500};
  int repeat = 3;
  double end = 2;
  bool beam = false;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--elements") == 0) sizes = {std::atoi(argv[i + 1])};
    if (std::strcmp(argv[i], "--element") == 0) beam = std::string(argv[i + 1]) == "beam";
    if (std::strcmp(argv[i], "--repeat") == 0) repeat = std::atoi(argv[i + 1]);
    if (std::strcmp(argv[i], "--end") == 0) end = std::atof(argv[i + 1]);
  }
  std::vector<double> cost;
  for (const int n : sizes) cost.push_back(clatter::run(n, beam, repeat, end));
  for (std::size_t i = 1; i < sizes.size(); ++i)
    std::printf("growth from %d to %d elements: exponent %.2f\n", sizes[i - 1], sizes[i],
                std::log(cost[i] / cost[i - 1]) / std::log(static_cast<double>(sizes[i]) / sizes[i - 1]));
}
