// Beams that hit each other: a corner on a side (YV-13), rigid contact against penalty, in steps of 0.1 ms (64
// elements: 0.05 ms) until the beams part. CPU of a step for both, and their ratio; the source reports 3.9. One thread;
// the timed loop is the stepper alone.
//
// Usage: beams_bench [--elements N] [--repeat K]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>

#include "contact/motion.hpp"
#include "model/load.hpp"

namespace clatter {
namespace {

std::string corner_to_side(int elements, const std::string& law) {
  const std::string beam = "type: beam, planar: true, element: ancf-beam, elements: " + std::to_string(elements) +
                           ", to: [1, 0], section: {rectangle: [0.1, 0.1]}, material: {density: 7850, young: 2.07e7, "
                           "poisson: 0.3}";
  return "clatter: 1\ngravity: [0, -9.81, 0]\nbodies:\n  upper: {" + beam +
         ", position: [0.5, 0.0903553390593274], orientation: 45 deg, velocity: [0, -3]}\n  lower: {" + beam +
         ", velocity: [3, 0]}\ncontacts: {hit: {between: [upper, lower], law: " + law + "}}\n";
}

// CPU seconds a step of the fastest of `repeat` runs.
double run(int elements, bool rigid, int repeat) {
  Model model = load_model_text(corner_to_side(elements, rigid ? "{type: rigid}" : "{type: linear, stiffness: 4.14e7}"),
                                "beams_bench");
  model.simulate.method = rigid ? Method::time_stepping : Method::smooth;
  model.simulate.scheme = Method::generalized_alpha;
  model.simulate.time_stepping = TimeStepping::moreau;
  const Simulate simulate = model.simulate;
  const auto system = System::compile(std::move(model));
  double best = 1e300;
  long steps = 0;
  for (int k = 0; k < repeat; ++k) {
    Engine engine(system);
    IntegratorSettings settings;
    settings.scheme = Scheme::generalized_alpha;
    settings.step = elements > 32 ? 5e-5 : 1e-4;  // explicit steps of short elements must be shorter
    contact::Motion motion(system, engine, simulate, settings);
    motion.stepper().start(system->initial);
    steps = 0;
    const auto begin = std::clock();
    while (motion.stepper().state().t < 0.04 - 1e-9) {
      motion.stepper().step(0.04);
      ++steps;
    }
    best = std::min(best, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC / static_cast<double>(steps));
  }
  std::printf("bench=beams contact=%s elements=%d velocities=%d steps=%ld us_per_step=%.4g\n",
              rigid ? "rigid" : "penalty", elements, system->sizes.nv, steps, 1e6 * best);
  return best;
}

}  // namespace
}  // namespace clatter

int main(int argc, char** argv) {
  int only = 0, repeat = 3;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--elements") == 0) only = std::atoi(argv[i + 1]);
    if (std::strcmp(argv[i], "--repeat") == 0) repeat = std::atoi(argv[i + 1]);
  }
  for (const int elements : {8, 16, 32, 64}) {
    if (only > 0 && elements != only) continue;
    const double rigid = clatter::run(elements, true, repeat), penalty = clatter::run(elements, false, repeat);
    std::printf("bench=beams elements=%d penalty_by_rigid=%.3g goal=3.9\n", elements, penalty / rigid);
  }
}
