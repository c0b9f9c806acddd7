// Semi-implicit Euler with Newton's method in steps with contact (Y-11), `method: smooth` with `scheme:
// symplectic-euler`.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "contact/contact_euler.hpp"
#include "contact/motion.hpp"
#include "model/load.hpp"

namespace clatter::contact {
namespace {

struct SmoothRun {
  std::shared_ptr<const System> system;
  std::unique_ptr<Engine> engine;
  std::unique_ptr<Motion> motion;

  SmoothRun(const std::string& text, Scheme scheme, double step) {
    Model model = load_model_text("clatter: 1\n" + text, "run");
    model.simulate.method = Method::smooth;
    const Simulate simulate = model.simulate;
    system = System::compile(std::move(model));
    engine = std::make_unique<Engine>(system);
    IntegratorSettings settings;
    settings.scheme = scheme;
    settings.step = step;
    motion = std::make_unique<Motion>(system, *engine, simulate, settings);
    motion->stepper().start(system->initial);
  }
  const State& to(double end) {
    Stepper& stepper = motion->stepper();
    while (stepper.state().t < end - 1e-12) stepper.step(end);
    return stepper.state();
  }
};

// A ball of 1 kg falls by 1 mm on a spring of 1e8 N/m. Steps of 0.2 ms are a third of its period, omega h = 2, where
// explicit steps would throw the ball up; here the spring gives back little and the energy falls.
const char* const kBall = R"(
gravity: [0, -10, 0]
bodies: {ball: {type: planar, mass: 1, inertia: 1e-3, position: [0, 0.051]}}
shapes:
  round: {on: ball, type: circle, radius: 0.05}
  floor: {on: ground, type: line}
contacts: {touch: {between: [round, floor], law: {type: linear, stiffness: 1e8}}}
)";

std::string corner(int elements) {
  const std::string beam = fmt::format(
      "type: beam, planar: true, element: ancf-beam, elements: {}, to: [1, 0], section: {{rectangle: [0.1, 0.1]}}, "
      "material: {{density: 7850, young: 2.07e7, poisson: 0.3}}",
      elements);
  return fmt::format(
      "bodies:\n  upper: {{{0}, position: [0.5, 0.0903553390593274], orientation: 45 deg, velocity: [0, -3]}}\n  "
      "lower: "
      "{{{0}, velocity: [3, 0]}}\ncontacts: {{hit: {{between: [upper, lower], law: {{type: linear, stiffness: "
      "4.14e7}}}}}}\n",
      beam);
}

// Y-11, 1: where nothing touches, the step is that of semi-implicit Euler to the last digit.
TEST(ContactEuler, MovesAsSemiImplicitEulerUntilItTouches) {
  const double h = 5e-5;
  SmoothRun run(corner(4), Scheme::symplectic_euler, h);
  Model model = load_model_text("clatter: 1\n" + corner(4), "free");
  model.contacts.clear();
  const auto system = System::compile(std::move(model));
  Engine engine(system);
  IntegratorSettings settings;
  settings.scheme = Scheme::symplectic_euler;
  settings.step = h;
  const auto free = make_integrator(settings, engine);
  free->start(system->initial);
  // The corner is 5 mm above the side and comes at 3 m/s.
  for (int i = 0; i < 30; ++i) {
    free->step(1);
    run.motion->stepper().step(1);
  }
  EXPECT_EQ(free->state().q, run.motion->stepper().state().q);
  EXPECT_EQ(free->state().v, run.motion->stepper().state().v);
  for (int i = 0; i < 20; ++i) {
    free->step(1);
    run.motion->stepper().step(1);
  }
  EXPECT_GT((free->state().v - run.motion->stepper().state().v).norm(), 0.1);
}

// Y-11, 2 and 3: a step with contact meets the equations of backward Euler, all forces at the new state; the source
// stops at a residual of 1e-4 N, Newton's method with exact tangents at rounding of forces of 1e5 N.
TEST(ContactEuler, MeetsTheEquationsOfBackwardEulerInContact) {
  const double h = 5e-5;
  SmoothRun run(corner(4), Scheme::symplectic_euler, h);
  ContactDynamics dynamics(ContactSystem::compile(run.system), *run.engine);
  int looked = 0;
  for (int i = 0; i < 60; ++i) {
    const State before = run.motion->stepper().state();
    run.motion->stepper().step(1);
    const State after = run.motion->stepper().state();
    Vec r(after.v.size()), z(0);
    const Vec a = (after.v - before.v) / h, none(0);
    dynamics.residual(after, a, none, r, z);
    double force = 0;
    for (int slot = 0; slot < dynamics.contacts().slots(); ++slot)
      force = std::max(force, dynamics.compliant().force(slot)[0]);
    if (!(force > 0)) continue;
    ++looked;
    EXPECT_LT((after.q - before.q - h * after.v).cwiseAbs().maxCoeff(), 1e-15);
    EXPECT_LT(r.cwiseAbs().maxCoeff(), 1e-4) << i;
  }
  EXPECT_GT(looked, 5);
}

// T-13: backward Euler takes energy out of what it does not resolve, and never brings any in.
TEST(ContactEuler, HoldsAStiffSpringInLongSteps) {
  SmoothRun run(kBall, Scheme::symplectic_euler, 2e-4);
  const double before = run.motion->dynamics().stored_energy(run.system->initial);
  const State& s = run.to(0.2);
  const double after = run.motion->dynamics().stored_energy(s);
  EXPECT_LT(after, before);
  EXPECT_LT(std::abs(s.q[1] - 0.05), 2e-3);
}

// YV-13 by the source's own scheme against generalized-alpha: the steps are of first order, so that half the step
// halves the distance, here a millisecond into the contact.
TEST(ContactEuler, ComesToTheMotionOfGeneralizedAlphaWithTheStep) {
  const auto at = [](Scheme scheme, double h) {
    SmoothRun run(corner(4), scheme, h);
    return run.to(2.6e-3).q;
  };
  const Vec exact = at(Scheme::generalized_alpha, 1e-6);
  const double coarse = (at(Scheme::symplectic_euler, 1e-5) - exact).cwiseAbs().maxCoeff();
  const double fine = (at(Scheme::symplectic_euler, 5e-6) - exact).cwiseAbs().maxCoeff();
  EXPECT_GT(coarse, 1e-6);
  EXPECT_NEAR(fine / coarse, 0.5, 0.1);
}

// Further on positions no longer tell, for the corner taps the side again and again, 0.9 ms apart: backward Euler takes
// energy from the vibration of the corner while it touches, so that every tap comes sooner than the last, and at steps
// of 0.01 ms the fourth is half an interval early. The times of the taps are what converges, all of them with the first
// order: half the step, half as early.
TEST(ContactEuler, TapsAtTheTimesOfGeneralizedAlphaWithTheStep) {
  const auto taps = [](Scheme scheme, double h) {
    SmoothRun run(corner(4), scheme, h);
    ContactDynamics dynamics(ContactSystem::compile(run.system), *run.engine);
    std::vector<double> out;
    bool touched = false;
    while (run.motion->stepper().state().t < 6e-3) {
      run.motion->stepper().step(1);
      dynamics.stored_energy(run.motion->stepper().state());
      bool touches = false;
      for (int slot = 0; slot < dynamics.contacts().slots(); ++slot)
        touches = touches || dynamics.compliant().force(slot)[0] > 0;
      if (touches && !touched) out.push_back(run.motion->stepper().state().t);
      touched = touches;
    }
    return out;
  };
  const std::vector<double> exact = taps(Scheme::generalized_alpha, 2e-6);
  const std::vector<double> coarse = taps(Scheme::symplectic_euler, 5e-6),
                            fine = taps(Scheme::symplectic_euler, 2.5e-6);
  ASSERT_EQ(exact.size(), 5u);
  ASSERT_GE(coarse.size(), 5u);
  ASSERT_GE(fine.size(), 5u);
  // The first contact is a free fall of 5 mm at 3 m/s.
  for (const auto* list : {&exact, &coarse, &fine}) EXPECT_NEAR((*list)[0], 5e-3 / 3, 6e-6);
  for (std::size_t i = 1; i < 5; ++i) {
    const double early = exact[i] - coarse[i];
    EXPECT_GT(early, 2e-5) << i;
    // Times are known to a step, 2 to 5 us.
    EXPECT_NEAR(exact[i] - fine[i], 0.5 * early, 0.05 * early + 4e-6) << i;
  }
}

}  // namespace
}  // namespace clatter::contact
