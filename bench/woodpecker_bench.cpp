// The woodpecker's stable cycle event by event (A-8, AV-11): periods a second of CPU time at several tolerances, with
// the error of the period. A period has nine events, four of them impacts.
//
// Usage: woodpecker_bench [--periods N] [--model FILE]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <string>

#include "contact/event_driven.hpp"
#include "model/load.hpp"

namespace clatter::contact {
namespace {

constexpr double kPeriod = 0.1459760651;

void run(const std::string& model, int periods, double tolerance) {
  const auto system = System::compile(load_model(model));
  const auto contacts = ContactSystem::compile(system);
  double best = 0;
  long steps = 0, events = 0;
  double error = 0, drop = 0;
  for (int repeat = 0; repeat < 3; ++repeat) {
    Engine engine(system);
    IntegratorSettings settings;
    settings.scheme = Scheme::dopri5;
    settings.relative_tolerance = settings.absolute_tolerance = tolerance;
    EventDriven stepper(contacts, engine, settings);
    stepper.start(system->initial);
    const double begin = static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
    steps = events = 0;
    const double end = periods * kPeriod;
    while (stepper.state().t < end) {
      ++steps;
      events += stepper.step(end).at_event;
    }
    const double cpu = static_cast<double>(std::clock()) / CLOCKS_PER_SEC - begin;
    best = repeat == 0 ? cpu : std::min(best, cpu);
    // The bird's rate at the turning point over its acceleration there: by how much the periods were missed.
    error = std::abs(stepper.state().v[stepper.state().v.size() - 1] /
                     stepper.acceleration()[stepper.acceleration().size() - 1]);
    drop = -stepper.state().q[0] / periods;
  }
  std::printf(
      "bench=woodpecker tolerance=%g periods=%d cpu_s=%.4g periods_per_s=%.4g steps=%ld event_ends=%ld "
      "time_error_s=%.2g drop_mm=%.6f\n",
      tolerance, periods, best, periods / best, steps, events, error, 1e3 * drop);
  std::fflush(stdout);
}

}  // namespace
}  // namespace clatter::contact

int main(int argc, char** argv) {
  int periods = 100;
  std::string model = CLATTER_ROOT "/models/contact/woodpecker_cycle.yaml";
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--periods") == 0) periods = std::max(1, std::atoi(argv[i + 1]));
    if (std::strcmp(argv[i], "--model") == 0) model = argv[i + 1];
  }
  try {
    for (const double tolerance : {1e-6, 1e-8, 1e-11}) clatter::contact::run(model, periods, tolerance);
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 3;
  }
}
