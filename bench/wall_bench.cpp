// A wall of blocks by time stepping: at rest, or struck by a ball. CPU time of a step, in all and split into detection
// (broad and narrow phase), assembly of the contact problem and its solution; contacts; certificate. One thread.
//
// Usage: wall_bench [--courses N] [--blocks N] [--step S] [--end T] [--ball SPEED]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <memory>

#include "contact/time_stepping.hpp"
#include "wall_model.hpp"

namespace clatter::contact {
namespace {

void run(const Wall& wall, double step, double end) {
  const auto system = System::compile(wall_model(wall));
  const auto contacts = ContactSystem::compile(system);
  Engine engine(system);
  ContactDynamics dynamics(contacts, engine);
  IntegratorSettings settings;
  settings.step = step;
  MoreauStepper stepper(dynamics, settings);
  stepper.start(system->initial);
  const double begin = static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
  long steps = 0;
  std::size_t most = 0;
  while (stepper.state().t < end) {
    stepper.step(end);
    ++steps;
    most = std::max(most, stepper.contact_samples().size());
  }
  const double cpu = static_cast<double>(std::clock()) / CLOCKS_PER_SEC - begin;
  const Certificate& worst = stepper.certificate();
  const StepTimes& times = stepper.times();
  const StepProblem::Counts& counts = stepper.solver_counts();
  const double per_step = 1e6 / static_cast<double>(steps);
  std::printf(
      "bench=wall blocks=%d slots=%d ball=%g step=%g simulated_s=%g cpu_s=%.4g steps_per_s=%.4g us_per_step=%.4g "
      "detection_us=%.4g assembly_us=%.4g solution_us=%.4g most_contacts=%zu factorisations=%ld sweeps=%ld dense=%ld "
      "moved=%.3g complementarity=%.2g penetration=%.2g\n",
      wall.courses * wall.blocks, contacts->slots(), wall.ball_speed, step, stepper.state().t, cpu,
      static_cast<double>(steps) / cpu, cpu * per_step, times.detection * per_step, times.assembly * per_step,
      times.solution * per_step, most, counts.factorisations, counts.sweeps, counts.dense,
      (stepper.state().q - system->initial.q).lpNorm<Eigen::Infinity>(), worst.complementarity, worst.penetration);
  std::fflush(stdout);
}

}  // namespace
}  // namespace clatter::contact

int main(int argc, char** argv) {
  clatter::Wall wall;
  double step = 2e-3, end = 2;
  for (int i = 1; i + 1 < argc; i += 2) {
    const double value = std::atof(argv[i + 1]);
    if (std::strcmp(argv[i], "--courses") == 0) wall.courses = static_cast<int>(value);
    if (std::strcmp(argv[i], "--blocks") == 0) wall.blocks = static_cast<int>(value);
    if (std::strcmp(argv[i], "--step") == 0) step = value;
    if (std::strcmp(argv[i], "--end") == 0) end = value;
    if (std::strcmp(argv[i], "--ball") == 0) wall.ball_speed = value;
  }
  try {
    clatter::contact::run(wall, step, end);
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 3;
  }
}
