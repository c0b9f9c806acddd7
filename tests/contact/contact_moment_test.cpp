// Moments of contacts (P-26): rolling and drilling friction, event by event and smoothed, against closed forms.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "contact/event_driven.hpp"
#include "integrate/initial.hpp"
#include "model/load.hpp"

namespace clatter::contact {
namespace {

struct Machine {
  explicit Machine(const std::string& text, bool smooth = false, double tolerance = 1e-11)
      : system(System::compile(load_model_text("clatter: 1\n" + text, "moment.yaml"))),
        contacts(ContactSystem::compile(system, smooth)),
        engine(system),
        stepper(contacts, engine, settings(tolerance)) {
    stepper.start(system->initial);
    energy0 = stepper.dynamics().stored_energy(stepper.state());
  }
  static IntegratorSettings settings(double tolerance) {
    IntegratorSettings s;
    s.scheme = Scheme::dopri5;
    s.relative_tolerance = tolerance;
    s.absolute_tolerance = tolerance;
    return s;
  }
  std::vector<double> run(double t, const std::string& name = "", const std::string& what = "") {
    std::vector<double> times;
    while (stepper.state().t < t) {
      stepper.step(t);
      for (const ContactChange& c : stepper.changes())
        if (c.what == what && c.friction >= 0 && contacts->frictions[static_cast<std::size_t>(c.friction)].name == name)
          times.push_back(stepper.state().t);
    }
    return times;
  }
  FrameState<double> body(int i = 0) {
    engine.observe(stepper.contact_dynamics().engine_state(stepper.state()), nullptr);
    return engine.frame_state(system->bodies[static_cast<std::size_t>(i)].frame);
  }
  double unaccounted() { return stepper.dynamics().stored_energy(stepper.state()) - energy0 - stepper.work().sum(); }
  std::shared_ptr<const System> system;
  std::shared_ptr<const ContactSystem> contacts;
  Engine engine;
  EventDriven stepper;
  double energy0 = 0;
};

// A hundred times the integrator's tolerance; rounding of the closed forms is far below.
constexpr double kTolerance = 1e-9;

// Rolling without slip about the point of contact, (J + m R^2) alpha = -rho m g: the centre is slowed by
// g rho / (R (1 + k)), k = J / (m R^2), and comes to rest.
TEST(RollingFriction, SlowsADiscByItsLengthOverTheRadius) {
  const double R = 0.2, rho = 0.004, k = 0.5, a = 9.81 * rho / (R * (1 + k)), v = 0.5;
  Machine m(R"(
gravity: [0, -9.81, 0]
bodies: {disc: {type: planar, mass: 3, inertia: 0.06, position: [0, 0.2], velocity: [0.5, 0], angular_velocity: -2.5 rad/s}}
shapes: {rim: {on: disc, type: circle, radius: 0.2}, floor: {on: ground, type: line}}
contacts: {track: {between: [rim, floor], law: {type: rigid, friction: 0.4, rolling_friction: 4 mm}}}
)");
  m.run(1);
  EXPECT_NEAR(m.body().v.x(), v - a, kTolerance);
  const std::vector<double> sticks = m.run(2 * v / a, "track.rolling", "sticks");
  ASSERT_EQ(sticks.size(), 1u);
  EXPECT_NEAR(sticks[0], v / a, 1e-8);
  EXPECT_NEAR(m.body().p.x(), 0.5 * v * v / a, 1e-8);
  EXPECT_NEAR(m.unaccounted(), 0, kTolerance);
}

// On an incline a disc rolls only beyond tan(beta) = rho / R.
TEST(RollingFriction, HoldsADiscOnASlopeUpToItsLengthOverTheRadius) {
  for (const double part : {0.99, 1.01}) {
    const double beta = std::atan(part * 0.01 / 0.2);
    Machine m("parameters: {beta: " + fmt::format("{:.17g}", beta) + R"( rad}
gravity: [9.81*sin(beta), -9.81*cos(beta), 0]
bodies: {disc: {type: planar, mass: 3, inertia: 0.06, position: [0, 0.2]}}
shapes: {rim: {on: disc, type: circle, radius: 0.2}, floor: {on: ground, type: line}}
contacts: {track: {between: [rim, floor], law: {type: rigid, friction: 0.4, rolling_friction: 10 mm}}}
)");
    m.run(2);
    const double a = 9.81 * (std::sin(beta) - 0.05 * std::cos(beta)) / 1.5;
    EXPECT_NEAR(m.body().p.x(), part > 1 ? 2 * a : 0.0, kTolerance) << part;
  }
}

// A ball rolls on a plane in a straight line whatever the direction: g rho / (R (1 + 2/5)).
TEST(RollingFriction, SlowsABallAlongItsPath) {
  const double R = 0.1, rho = 0.002, a = 9.81 * rho / (R * 1.4);
  Machine m(R"(
gravity: [0, 0, -9.81]
bodies: {ball: {mass: 2, inertia: [0.008, 0.008, 0.008], position: [0, 0, 0.1], velocity: [0.3, 0.4, 0], angular_velocity: [-4, 3, 0]}}
shapes: {hull: {on: ball, type: sphere, radius: 0.1}, floor: {on: ground, type: plane}}
contacts: {track: {between: [hull, floor], law: {type: rigid, friction: 0.3, rolling_friction: 2 mm}}}
)");
  m.run(1);
  EXPECT_NEAR(m.body().v.x(), 0.6 * (0.5 - a), kTolerance);
  EXPECT_NEAR(m.body().v.y(), 0.8 * (0.5 - a), kTolerance);
  const std::vector<double> sticks = m.run(2 * 0.5 / a, "track.rolling", "sticks");
  ASSERT_EQ(sticks.size(), 1u);
  EXPECT_NEAR(sticks[0], 0.5 / a, 1e-7);
  EXPECT_NEAR(m.unaccounted(), 0, kTolerance);
}

// A ball that spins on the spot: J omega' = -delta m g.
TEST(DrillingFriction, StopsASpinningBallAtTheTimeOfItsMoment) {
  const double alpha = 0.003 * 2 * 9.81 / 0.008;
  Machine m(R"(
gravity: [0, 0, -9.81]
bodies: {ball: {mass: 2, inertia: [0.008, 0.008, 0.008], position: [0, 0, 0.1], angular_velocity: [0, 0, 10]}}
shapes: {hull: {on: ball, type: sphere, radius: 0.1}, floor: {on: ground, type: plane}}
contacts: {spot: {between: [hull, floor], law: {type: rigid, friction: 0.3, drilling_friction: 3 mm}}}
)");
  const std::vector<double> sticks = m.run(3, "spot.drilling", "sticks");
  ASSERT_EQ(sticks.size(), 1u);
  EXPECT_NEAR(sticks[0], 10 / alpha, kTolerance);
  EXPECT_NEAR(m.body().w.z(), 0, kTolerance);
  EXPECT_NEAR(m.stepper.work()[m.stepper.contact_dynamics().friction_channel(0)], -0.5 * 0.008 * 100, kTolerance);
  EXPECT_NEAR(m.unaccounted(), 0, kTolerance);
}

// Compliant contacts and `method: smooth`: above the velocity of the law the moments are the same.
TEST(ContactMoments, OfCompliantContactsAreThoseOfRigidOnesAboveTheVelocityOfTheLaw) {
  const double rolling = 9.81 * 0.002 / (0.1 * 1.4), spinning = 0.003 * 2 * 9.81 / 0.008;
  Machine m(R"(
gravity: [0, 0, -9.81]
bodies: {ball: {mass: 2, inertia: [0.008, 0.008, 0.008], position: [0, 0, 0.09999019], velocity: [0.3, 0.4, 0], angular_velocity: [-4, 3, 20]}}
shapes: {hull: {on: ball, type: sphere, radius: 0.1}, floor: {on: ground, type: plane}}
contacts: {track: {between: [hull, floor], law: {type: linear, stiffness: 2e6, damping: 2000, friction: 0.3, friction_velocity: 1e-4, rolling_friction: 2 mm, drilling_friction: 3 mm}}}
)",
            true, 1e-9);
  m.run(0.5);
  // The ball slips within the regularisation, which costs it about that much of its speed.
  EXPECT_NEAR(m.body().v.head<2>().norm(), 0.5 - 0.5 * rolling, 2e-4);
  EXPECT_NEAR(m.body().w.z(), 20 - 0.5 * spinning, 2e-3);
  EXPECT_NEAR(m.unaccounted(), 0, 1e-6);
}

}  // namespace
}  // namespace clatter::contact
