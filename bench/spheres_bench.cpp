// Problem G: n balls fall into a box, by the crowd solvers; and the same with other settings. Steps a second (CPU time
// of one thread), where the time goes, the largest penetration over the run in percent of the radius, kinetic energy
// and contacts at the end, and with several n the exponent with which the time of a step grows.
//
// Usage: spheres_bench [--n 1000] [--to N] [--iterations K] [--tolerance m/s] [--solver 0|1|2|3] [--relaxed 0|1]
//                      [--end 2] [--step 1e-3] [--threads 1] [--packed 0|1] [--across K]
// --to: doubles n up to N and gives the exponents with which the times of a step grow; parts of the step by their
// shares of the wall time. --packed: balls that lie on each other in a cube from the start, instead of those of the
// problem; --across 1: in a column. --solver: sweeps, apgd, barzilai-borwein, semismooth Newton. Unless given up to 60
// sweeps a step, to rates right within what gravity changes in one (0.01 m/s).
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <memory>
#include <string>

#include "contact/crowd_stepper.hpp"
#include "spheres_model.hpp"

namespace clatter::contact {
namespace {

double cpu_now() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// CPU time of a step, and what it is made of.
struct Times {
  double all = 0, detection = 0, assembly = 0, solution = 0;
};

Times run(int n, const CrowdModel& settings, bool packed, int across, double step, double end) {
  const auto system = System::compile(spheres_model(n, settings, packed, across));
  const auto contacts = ContactSystem::compile(system);
  Engine engine(system);
  ContactDynamics dynamics(contacts, engine);
  IntegratorSettings integrator;
  integrator.step = step;
  CrowdStepper stepper(dynamics, integrator);
  stepper.start(system->initial);
  const double begin = cpu_now();
  long steps = 0, rows = 0;
  while (stepper.state().t < end * (1 - 1e-12)) {
    stepper.step(end);
    ++steps;
    rows += stepper.rows();
  }
  const double cpu = cpu_now() - begin;
  const double deepest = std::max(stepper.certificate().penetration, stepper.penetration());
  engine.observe(stepper.state(), nullptr);
  const CrowdTimes& t = stepper.times();
  const double us = 1e6 / static_cast<double>(steps);
  std::printf(
      "bench=spheres n=%d solver=%d friction=%s iterations=%d steps=%ld steps_per_s=%.4g penetration_percent=%.3g "
      "kinetic_J=%.3g contacts=%d rows_per_step=%.0f sweeps_per_step=%.3g us_per_step=%.4g free_us=%.4g "
      "detection_us=%.4g "
      "assembly_us=%.4g solution_us=%.4g rest_us=%.4g residual_m_per_s=%.2g\n",
      n, static_cast<int>(settings.solver), settings.friction == FrictionModel::exact ? "exact" : "relaxed",
      settings.iterations, steps, static_cast<double>(steps) / cpu, 100 * deepest / 0.05, engine.kinetic(),
      stepper.touching(), static_cast<double>(rows) / static_cast<double>(steps),
      static_cast<double>(stepper.sweeps()) / static_cast<double>(steps), cpu * us, t.free_motion * us,
      t.detection * us, t.assembly * us, t.solution * us, t.rest * us, stepper.worst_residual().rate);
  std::fflush(stdout);
  const double all = cpu / static_cast<double>(steps);
  const double share = all / (t.free_motion + t.detection + t.assembly + t.solution + t.rest);
  return {all, share * t.detection, share * t.assembly, share * t.solution};
}

}  // namespace
}  // namespace clatter::contact

int main(int argc, char** argv) {
  int n = 1000, to = 0, across = 0;
  bool packed = false;
  double step = 1e-3, end = 2;
  clatter::CrowdModel settings;
  settings.iterations = 60;
  settings.tolerance = 0.01;
  for (int i = 1; i + 1 < argc; i += 2) {
    const double value = std::atof(argv[i + 1]);
    const auto is = [&](const char* name) { return std::strcmp(argv[i], name) == 0; };
    if (is("--n")) n = static_cast<int>(value);
    if (is("--to")) to = static_cast<int>(value);
    if (is("--iterations")) settings.iterations = static_cast<int>(value);
    if (is("--tolerance")) settings.tolerance = value;
    if (is("--solver")) settings.solver = static_cast<clatter::CrowdSolver>(static_cast<int>(value));
    if (is("--relaxed") && value != 0) settings.friction = clatter::FrictionModel::relaxed;
    if (is("--threads")) settings.threads = static_cast<int>(value);
    if (is("--packed")) packed = value != 0;
    if (is("--across")) across = static_cast<int>(value);
    if (is("--step")) step = value;
    if (is("--end")) end = value;
  }
  try {
    clatter::contact::Times first;
    for (int k = n; k <= std::max(n, to); k *= 2) {
      const clatter::contact::Times t = clatter::contact::run(k, settings, packed, across, step, end);
      if (k == n) {
        first = t;
        continue;
      }
      const auto exponent = [&](double now, double then) { return std::log(now / then) / std::log(1.0 * k / n); };
      std::printf("bench=spheres_growth from=%d to=%d exponent=%.2f detection=%.2f assembly=%.2f solution=%.2f\n", n, k,
                  exponent(t.all, first.all), exponent(t.detection, first.detection),
                  exponent(t.assembly, first.assembly), exponent(t.solution, first.solution));
    }
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 3;
  }
}
