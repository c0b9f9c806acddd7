// Explicit steps on beams (Y-9, T-13): how long they may be, and what is said about longer ones.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "contact/motion.hpp"
#include "contact/stable_step.hpp"
#include "integrate/integrator.hpp"
#include "model/load.hpp"

namespace clatter::contact {
namespace {

// The flying spaghetti of YV-15 beside a floor it never meets, bent a little at the start.
std::string spaghetti(int elements, const std::string& rest = "") {
  return fmt::format(
      "clatter: 1\nbodies:\n  spaghetti: {{type: beam, planar: true, element: ancf-beam, elements: {}, from: [0, 8], "
      "to: "
      "[6, 0], section_stiffness: {{axial: 1e4, shear: 1e4, bending: 100}}, section_inertia: {{mass: 1, rotary: 10}}, "
      "angular_velocity: 0.3{}}}\nshapes:\n  floor: {{on: ground, type: line, at: [0, -100]}}\n"
      "  tip: {{on: spaghetti.end, type: circle, radius: 1 cm}}\ncontacts: {{c: {{between: [tip, floor], law: {{type: "
      "rigid}}}}}}\n",
      elements, rest);
}

// Energy after a second of time stepping, in parts of that at the start.
double growth(const std::string& text, const std::string& simulate) {
  const auto system = System::compile(load_model_text(text + "simulate: {" + simulate + "}\n", "m"));
  Engine engine(system);
  IntegratorSettings settings;
  const Simulate& s = system->model.simulate;
  settings.step = s.step;
  Motion motion(system, engine, s, settings);
  Stepper& stepper = motion.stepper();
  stepper.start(system->initial);
  const double start = motion.dynamics().stored_energy(stepper.state());
  while (stepper.state().t < 1 - 1e-9) stepper.step(1);
  return motion.dynamics().stored_energy(stepper.state()) / start;
}

// Y-9: with 32 elements the source's steps of 1 ms diverge and those of 0.2 ms run.
TEST(StableStep, OfTheFlyingSpaghettiLiesWhereTheSourceFoundIt) {
  const auto system = System::compile(load_model_text(spaghetti(32), "m"));
  const StableStep limit = stable_step(*system, system->initial);
  EXPECT_EQ(limit.body, 0);
  EXPECT_GT(limit.step, 2e-4);
  EXPECT_LT(limit.step, 1e-3);
  EXPECT_NEAR(limit.step * limit.frequency, 2, 1e-12);
}

// Just below the limit a step is stable; just above, the same scheme without contacts, which is not refused, explodes.
TEST(StableStep, IsTheBorderBetweenRunningAndExploding) {
  const std::string text = spaghetti(8);
  const auto system = System::compile(load_model_text(text, "m"));
  const double h = stable_step(*system, system->initial).step;
  EXPECT_NEAR(growth(text, fmt::format("method: time-stepping, contact_solver: gauss-seidel, step: {}", 0.97 * h)), 1,
              0.01);
  EXPECT_NEAR(growth(text, fmt::format("method: time-stepping, step: {}", 0.97 * h)), 1, 0.01);
  Engine engine(system);
  IntegratorSettings settings;
  settings.scheme = Scheme::symplectic_euler;
  settings.step = 1.05 * h;
  const auto integrator = make_integrator(settings, engine);
  integrator->start(system->initial);
  const double start = engine.stored_energy(system->initial);
  double most = start;
  while (integrator->state().t < 1 && most < 100 * start) {
    integrator->step(1);
    most = std::max(most, engine.stored_energy(integrator->state()));
  }
  EXPECT_GT(most, 100 * start);
}

// Stress that lags the strain takes a further part of the step: h w < 2 (sqrt(1 + zeta^2) - zeta).
TEST(StableStep, IsShorterForDampedBeams) {
  const auto plain = System::compile(load_model_text(spaghetti(8), "m"));
  const StableStep free = stable_step(*plain, plain->initial);
  const double zeta = 0.75, beta = 2 * zeta / free.frequency;
  const auto system = System::compile(load_model_text(spaghetti(8, fmt::format(", damping: {{beta: {}}}", beta)), "m"));
  // The lag of a beam that turns at 0.3 rad/s adds 2e-5 to its stiffness, and each of the two frequencies is known to
  // what its power iteration leaves, which stops at changes of 1e-5 of the square.
  EXPECT_NEAR(stable_step(*system, system->initial).step, free.step / 2, 1e-4 * free.step);
}

TEST(StableStep, IsAskedForByName) {
  for (const char* solver : {"", "contact_solver: gauss-seidel, "}) {
    try {
      growth(spaghetti(32), fmt::format("method: time-stepping, {}step: 1 ms", solver));
      FAIL() << "ran";
    } catch (const SolveError& e) {
      EXPECT_EQ(e.kind(), "step-too-long");
      ASSERT_EQ(e.elements().size(), 1u);
      EXPECT_EQ(e.elements()[0], "spaghetti");
      EXPECT_NE(e.advice().find("use `step: "), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace clatter::contact
