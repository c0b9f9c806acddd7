// Transition matrices across the rarer events: compliant contacts, points that pass the end of an edge, contacts
// written in coordinates, forces that depend on time; and the woodpecker's cycle.
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "analysis/contact_motions.hpp"
#include "base/error.hpp"
#include "source_root.hpp"

namespace clatter {
namespace {

std::string ball_on_floor(const std::string& law) {
  return with(R"(
clatter: 1
gravity: [0, -10]
bodies:
  ball: {type: planar, mass: 1, inertia: 0.004, position: [0, 0.3], velocity: [0.4, 0], angular_velocity: [0, 0, 1]}
shapes:
  hull: {on: ball, type: circle, radius: 0.1}
  floor: {on: ground, rotate: 8 deg, type: line}
contacts:
  touch: {between: [hull, floor], law: {LAW}}
simulate: {end: 1}
)",
              "LAW", law);
}

// A damper in the contact makes the force jump where it begins, a surface of its own has an inner state; the others
// begin and end without a jump. Friction stays below `friction_velocity`, where it is smooth.
TEST(ContactTransition, AcrossTheBeginningAndEndOfCompliantContactsAgreesWithDifferences) {
  for (const char* law :
       {"type: linear, stiffness: 2000, damping: 30",
        "type: linear, model: clipped, stiffness: 2000, damping: 30, friction: 0.3, friction_velocity: 20",
        "type: linear, model: relaxing, stiffness: 2000, damping: 30",
        "type: hertz, stiffness: 50000, friction: 0.3, friction_velocity: 20",
        "type: hunt-crossley, stiffness: 50000, damping: 0.2"}) {
    SCOPED_TRACE(law);
    const Outcome o = compare(ball_on_floor(law), 0.35);
    EXPECT_GE(o.jumps.size(), 2u);  // begins, ends
  }
}

TEST(ContactTransition, RefusesALawThatRemembersTheSpeedOfItsImpact) {
  Machine m(ball_on_floor("type: lankarani-nikravesh, stiffness: 5000, restitution: 0.7"));
  ContactTransition transition(m.stepper);
  transition.start(m.system->initial);
  try {
    while (transition.state().t < 0.35) transition.step(0.35);
    FAIL() << "carried on";
  } catch (const SolveError& e) {
    EXPECT_EQ(e.kind(), "no-sensitivity");
    EXPECT_NE(std::string(e.what()).find("touch"), std::string::npos);
  }
}

// A point slides off the end of a table: the contact is lost at once, and gravity takes over from friction.
TEST(ContactTransition, AcrossTheEndOfAnEdgeAgreesWithDifferences) {
  const Outcome o = compare(R"(
clatter: 1
gravity: [0, -10]
bodies:
  slider: {type: planar, mass: 2, inertia: 0.01, position: [0.35, 0], velocity: [0.9, 0]}
shapes:
  foot: {on: slider, type: circle, radius: 0}
  table: {on: ground, type: line, length: 1}
contacts:
  top: {between: [foot, table], law: {type: rigid, friction: 0.2}}
simulate: {end: 1}
)",
                            0.4);
  bool passed = false;
  for (const ContactJump& jump : o.jumps)
    for (const std::string& event : jump.events)
      passed = passed || (event.find("passes an edge") != std::string::npos && jump.event_rate != 0);
  EXPECT_TRUE(passed);
}

// A ball rolls over that end and goes on about it: accelerations have a corner within a step.
TEST(ContactTransition, RefusesAPointThatRollsFromOneEdgeToTheNext) {
  Machine m(R"(
clatter: 1
gravity: [0, -10]
bodies:
  ball: {type: planar, mass: 2, inertia: 0.01, position: [0.35, 0.1], velocity: [0.4, 0], angular_velocity: [0, 0, -4]}
shapes:
  hull: {on: ball, type: circle, radius: 0.1}
  table: {on: ground, type: line, length: 1}
contacts:
  top: {between: [hull, table], law: {type: rigid, friction: 0.8}}
simulate: {end: 1}
)");
  ContactTransition transition(m.stepper);
  transition.start(m.system->initial);
  try {
    while (transition.state().t < 0.5) transition.step(0.5);
    FAIL() << "carried on";
  } catch (const SolveError& e) {
    EXPECT_EQ(e.kind(), "no-sensitivity");
    EXPECT_NEAR(transition.state().t, 0.375, 0.1);  // 0.15 m at 0.4 m/s, to a step
  }
}

// Two masses on one rail and a stop that moves: gaps and slides are formulas of coordinates and time. Impact, sliding,
// stick and lift-off.
TEST(ContactTransition, OfContactsWrittenInCoordinatesAndTimeAgreesWithDifferences) {
  // With restitution up to the second flight: later ones are short, and differences of 1e-5 no longer small beside
  // them.
  for (const auto& [restitution, end] : {std::pair{"0.5", 0.45}, std::pair{"0", 0.9}}) {
    SCOPED_TRACE(restitution);
    const Outcome o = compare(with(R"(
clatter: 1
coordinates: joint
gravity: [0, -9.81, 0]
bodies:
  cart: {mass: 1, inertia: [0.1, 0.1, 0.1]}
  bob: {mass: 0.5, inertia: [0.01, 0.01, 0.01]}
joints:
  rail: {type: prismatic, between: [ground, cart], axis: x, rate: 0.7}
  lift: {type: prismatic, between: [cart, bob], axis: y, displacement: 0.2}
contacts:
  stop:
    gap: lift.displacement + 0.1*rail.displacement^2 - 0.02*sin(9*t)
    slide: rail.displacement*(1 + 0.3*lift.displacement) - 0.1*cos(3*t)
    law: {type: rigid, restitution: EPS, friction: 0.2 + 0.1*exp(-v/0.8)}
simulate: {end: 1}
)",
                                   "EPS", restitution),
                              end);
    EXPECT_GE(impacts(o), 1);
  }
}

// A block rests on a table that a drive moves, pulled by a load written in time.
TEST(ContactTransition, RatesOfForceEventsContainTheirExplicitTime) {
  Machine m(R"(
clatter: 1
gravity: [0, -10]
bodies:
  table: {type: planar, mass: 2, inertia: 0.3, position: [0, 0]}
  block: {type: planar, mass: 3, inertia: 0.02, position: [0, 0.05]}
joints:
  lift: {type: prismatic, between: [ground, table], at: [0, 0], axis: y, drive: 0.05*(1 - cos(9*t))}
forces:
  pull: {type: force, on: block, components: [20*t^2 + 4*t - 5*block.position.x, 3*sin(5*t)]}
shapes:
  box: {on: block, type: circle, radius: 0.05}
  top: {on: table, type: line}
contacts:
  rub: {between: [box, top], law: {type: rigid, friction: 0.3}}
simulate: {end: 1}
)");
  // d(lambda)/dt of a state at rest on the table, by differences of fourth order at fixed q, v.
  m.stepper.start(m.system->initial);
  contact::ContactDynamics& dynamics = m.stepper.contact_dynamics();
  ASSERT_EQ(m.stepper.active().size(), 1u);
  const Sizes& n = dynamics.sizes();
  State s = m.stepper.state();
  s.t = 0.11;
  Vec a(n.nv), lambda(n.nc()), zdot(n.nz), r_t, gamma_t;
  const auto at = [&](double t) {
    State moved = s;
    moved.t += t;
    Vec out(n.nc());
    dynamics.accelerations(moved, a, out, zdot);
    return out;
  };
  const double h = 1e-3;
  const Vec expected = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
  dynamics.accelerations(s, a, lambda, zdot);
  dynamics.time_tangent(s, a, lambda, r_t, gamma_t);
  Linearisation linearisation(dynamics);
  Mat A;
  linearisation.evaluate(s, A);
  // Truncation h^4 9^6 / 30 and rounding 1e-15 * 40 N / h.
  EXPECT_LT((linearisation.multipliers_by_time(r_t, gamma_t) - expected).norm(), 1e-8 * expected.norm());
  EXPECT_GT(expected.norm(), 10);
}

// AV-11: the stable cycle of the printed data. Perturbations that keep the lower edge closed and sticking are of the
// height, the bird's angle and its rate; the cycle does not care about height and time (multipliers 1 and 1), and its
// third multiplier is the slope of the map from turning point to turning point of the bird, "about -0.86" there: that
// is the secant of the map's published values at -0.52 and -0.54, the slope at the cycle itself is -0.8392. From the
// stuck state at the period's end the turning point follows in closed form, phi_0 - sqrt((phi - phi_0)^2 + (phi' /
// omega)^2), whose central difference over 1e-4 rad leaves 1e-8 times third derivatives of the map (of order 100).
TEST(ContactTransition, OfTheWoodpeckersCycleHasTheMultipliersOfAV11) {
  Machine m(load_model(source_root() + "/models/contact/woodpecker_cycle.yaml"));
  const double T = 0.1459760651, c = 0.0056, J = 7.0e-7 + 0.0045 * 0.015 * 0.015, phi_M = -0.6e-3 / 5.8e-3;
  const double omega = std::sqrt(c / J), phi_0 = phi_M - 0.0045 * 9.81 * 0.015 / c;

  ContactTransition transition(m.stepper);
  transition.start(m.system->initial);
  while (transition.state().t < T || m.stepper.undecided()) transition.step(T);
  const Eigen::EigenSolver<Mat> eigen(transition.matrix());
  std::vector<double> multipliers;
  for (const std::complex<double> x : eigen.eigenvalues()) {
    EXPECT_NEAR(x.imag(), 0, 1e-4);
    if (std::abs(x) > 1e-3) multipliers.push_back(x.real());
  }
  std::sort(multipliers.begin(), multipliers.end());
  ASSERT_EQ(multipliers.size(), 3u);
  RecordProperty("multiplier", std::to_string(multipliers[0]));

  const int nod_q = static_cast<int>(m.system->initial.q.size()) - 1,
            nod_v = static_cast<int>(m.system->initial.v.size()) - 1;
  const auto next_turning_point = [&](double from) {
    State s = m.system->initial;
    s.q[nod_q] = from - phi_M;
    const State end = m.run(s, T);
    const double phi = end.q[nod_q] + phi_M, rate = end.v[nod_v];
    return phi_0 - std::hypot(phi - phi_0, rate / omega);
  };
  const double phi = -0.5294719671, eps = 1e-4;
  EXPECT_NEAR(next_turning_point(phi), phi, 2e-9);
  const double slope = (next_turning_point(phi + eps) - next_turning_point(phi - eps)) / (2 * eps);
  EXPECT_NEAR(multipliers[0], slope, 1e-5);
  EXPECT_NEAR(multipliers[0], (-0.52103554 + 0.53829046) / -0.02, 0.03);
  // Two digits lost to the double eigenvalue: it splits by the square root of the matrix's accuracy.
  EXPECT_NEAR(multipliers[1], 1, 1e-3);
  EXPECT_NEAR(multipliers[2], 1, 1e-3);
}

}  // namespace
}  // namespace clatter
