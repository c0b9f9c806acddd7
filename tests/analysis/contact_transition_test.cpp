// Transition matrices across impacts and transitions against closed forms and differences of whole trajectories.
#include <gtest/gtest.h>

#include <cmath>

#include "analysis/contact_motions.hpp"
#include "analysis/transition.hpp"
#include "base/error.hpp"

namespace clatter {
namespace {

// With F(t) = [1 t; 0 1] between impacts and S = [-e 0; -(1+e) g / v-, -e] at those with approach v-.
TEST(ContactTransition, OfABouncingBallIsItsClosedForm) {
  const std::string text = R"(
clatter: 1
gravity: [0, -10, 0]
bodies:
  ball: {type: planar, mass: 2, inertia: 0.01, position: [0, 0.9, 0]}
shapes:
  hull: {on: ball, type: circle, radius: 0.1}
  floor: {on: ground, type: line}
contacts:
  bounce: {between: [hull, floor], law: {type: rigid, restitution: 0.5}}
simulate: {end: 1}
)";
  const double g = 10, e = 0.5, t1 = std::sqrt(2 * 0.8 / g), v1 = -g * t1, flight = 2 * e * g * t1 / g, end = 0.95;
  const auto F = [](double t) { return (Mat(2, 2) << 1, t, 0, 1).finished(); };
  const auto S = [&](double v) { return (Mat(2, 2) << -e, 0, -(1 + e) * g / v, -e).finished(); };
  const Mat expected = F(end - t1 - flight) * S(e * v1) * F(flight) * S(v1) * F(t1);
  const Outcome o = compare(text, end);
  EXPECT_EQ(impacts(o), 2);
  Mat vertical(2, 2);
  vertical << o.Phi(1, 1), o.Phi(1, 4), o.Phi(4, 1), o.Phi(4, 4);
  EXPECT_LT((vertical - expected).norm(), 1e-9 * expected.norm());
  EXPECT_NEAR(o.Phi(0, 3), end, 1e-12);  // along the floor nothing happens
}

// A contact that stays open changes nothing: through the base class both ways give the same matrix.
TEST(ContactTransition, OfAMotionWithoutContactIsThatOfTheSmoothOne) {
  Machine m(R"(
clatter: 1
gravity: [0, -10, 0]
bodies:
  rod: {type: planar, mass: 2, inertia: 0.1, position: [0.5, 5, 0], angular_velocity: [0, 0, 1]}
joints:
  pin: {type: revolute, between: [ground, rod], at: [0, 5]}
shapes:
  hull: {on: rod, type: circle, radius: 0.1}
  floor: {on: ground, type: line}
contacts:
  bounce: {between: [hull, floor], law: {type: rigid, restitution: 0.5}}
simulate: {end: 1}
)");
  Engine engine(m.system);
  Transition smooth(engine, Machine::settings());
  ContactTransition events(m.stepper);
  const auto run = [&](VariationalMotion& motion) {
    motion.start(m.system->initial);
    const Mat Pi = motion.matrix();
    motion.advance_to(1);
    return std::pair(motion.matrix(), Pi);
  };
  const Mat with_events = run(events).first, Pi = run(events).second;
  // The smooth one maps all perturbations; the other those alone that keep the pin closed.
  const Mat without = run(smooth).first * Pi;
  EXPECT_TRUE(events.jumps().empty());
  EXPECT_LT((with_events - without).norm(), 1e-8 * without.norm());
}

std::string thrown(const std::string& law, double speed, double spin) {
  return R"(
clatter: 1
gravity: [0, -10, 0]
bodies:
  ball:
    type: planar
    mass: 2
    inertia: 0.02
    position: [0, 0.5, 0]
    center_of_mass: [0.03, 0.02]
    velocity: [)" +
         std::to_string(speed) + ", -1]\n    angular_velocity: [0, 0, " + std::to_string(spin) + R"(]
shapes:
  hull: {on: ball, type: circle, radius: 0.1}
  floor: {on: ground, rotate: 10 deg, type: line}
contacts:
  bounce: {between: [hull, floor], law: {type: rigid, )" +
         law + "}}\nsimulate: {end: 1}\n";
}

// The mass centre is off the middle: G = W^T M^-1 W depends on the angle, and the impulses with it.
TEST(ContactTransition, OfImpactsWithFrictionAgreesWithDifferences) {
  for (const char* law : {"restitution: 0.5, friction: 0.3", "restitution: 0.5, friction: 0.3, impact: moreau",
                          "restitution: 0.5, friction: 0.2 + 0.3*exp(-v/0.8)",
                          "restitution: 0.6, friction: 0.4, tangential_restitution: 0.7",
                          "restitution: 0.6, friction: 0.4, tangential_restitution: 0.7, reversibility: 0.5",
                          "restitution: 0.8, impact: newton", "restitution: 0, friction: 0.3"}) {
    for (const double speed : {0.1, 0.6, 4.0}) {
      SCOPED_TRACE(std::string(law) + ", speed " + std::to_string(speed));
      const Outcome o = compare(thrown(law, speed, 2), 0.3);
      EXPECT_GE(impacts(o), 1);
    }
  }
}

// An impact whose law would bring energy in is reduced (impact.hpp); how much depends on the velocities, too.
TEST(ContactTransition, OfAnImpactThatIsReducedAgreesWithDifferences) {
  for (const char* slip : {"1", "1.5"}) {
    SCOPED_TRACE(slip);
    const Outcome o = compare(std::string(R"(
clatter: 1
gravity: [0, -10, 0]
bodies:
  stick: {type: planar, mass: 1, inertia: 1/12, position: [0, 0.35], angle: 40 deg, velocity: [)") +
                                  slip + R"(, -2], angular_velocity: [0, 0, 0.3]}
shapes:
  tip: {on: stick, at: [-0.5, 0], type: circle, radius: 0}
  floor: {on: ground, type: line}
contacts:
  hit: {between: [tip, floor], law: {type: rigid, restitution: 1, friction: 0.3, impact: moreau}}
simulate: {end: 1}
)",
                              0.06);
    EXPECT_EQ(impacts(o), 1);
  }
}

std::string block(const std::string& forces, double speed, double slope) {
  return R"(
clatter: 1
gravity: [)" +
         std::to_string(-10 * std::sin(slope)) + ", " + std::to_string(-10 * std::cos(slope)) + R"(, 0]
bodies:
  block: {type: planar, mass: 3, inertia: 0.02, position: [0, 0.05], velocity: [)" +
         std::to_string(speed) + R"(, 0]}
)" + forces +
         R"(
shapes:
  box: {on: block, type: polygon, points: [[-0.2, -0.05], [0.2, -0.05], [0.2, 0.05], [-0.2, 0.05]]}
  floor: {on: ground, type: line}
contacts:
  feet: {between: [box, floor], law: {type: rigid, friction: 0.6}}
simulate: {end: 1}
)";
}

// dx/dv0 = v0 / |a| at rest, a = g (sin + mu cos); dx/dx0 = 1; no other perturbation is left.
TEST(ContactTransition, OfABlockThatStopsAndSticksLosesTheRankOfItsVelocity) {
  const double slope = 0.4, v0 = 2, a = 10 * (std::sin(slope) + 0.6 * std::cos(slope));
  const Outcome o = compare(block("", v0, slope), 0.5);
  EXPECT_EQ(rank(o.Phi), 1);
  EXPECT_NEAR(o.Phi(0, 0), 1, 1e-9);
  EXPECT_NEAR(o.Phi(0, 3), v0 / a, 1e-6);  // gravity is written with six decimals
  EXPECT_LT(o.Phi.bottomRows(3).norm(), 1e-9);
  ASSERT_EQ(o.jumps.size(), 1u);
  EXPECT_FALSE(o.jumps[0].ambiguous);  // both feet stop, but together
}

TEST(ContactTransition, OfASliderPulledToAndFroThroughStickAndSlipAgreesWithDifferences) {
  const Outcome o = compare(R"(
clatter: 1
gravity: [0, -10, 0]
bodies:
  slider: {type: planar-particle, mass: 3, position: [0, 0.05], velocity: [0.4, 0]}
forces:
  pull: {type: force, on: slider, components: [30*sin(4*t) - 5*slider.position.x, 0]}
shapes:
  foot: {on: slider, type: circle, radius: 0.05}
  floor: {on: ground, type: line}
contacts:
  rub: {between: [foot, floor], law: {type: rigid, friction: 0.6}}
simulate: {end: 1}
)",
                            1.5);
  EXPECT_GE(o.jumps.size(), 3u);  // stops, slips, stops, slips ...
}

// Friction rows: the pins of a double pendulum stop, slide back and stick; in the second the limit follows the
// reaction.
TEST(ContactTransition, OfADoublePendulumWithFrictionInItsPinsAgreesWithDifferences) {
  for (const char* coordinates : {"joint", "absolute"})
    for (const char* second : {"torque: 0.7 N*m", "coefficient: 0.5, radius: 5 cm"}) {
      SCOPED_TRACE(std::string(coordinates) + ", " + second);
      const Outcome o = compare(std::string("clatter: 1\ncoordinates: ") + coordinates + R"(
gravity: [0, -9.81, 0]
bodies:
  upper: {type: planar, mass: 1, inertia: 0.05, frames: {top: [0, 0.3], end: [0, -0.3]}}
  lower: {type: planar, mass: 1, inertia: 0.05, frames: {top: [0, 0.3]}}
joints:
  first: {type: revolute, between: [ground, upper.top], angle: 1.2 rad, rate: -1, friction: {torque: 0.4 + 0.2*exp(-v/0.2)}}
  second: {type: revolute, between: [upper.end, lower.top], angle: 0.4 rad, rate: 1.5, friction: {)" +
                                    second + R"(}}
simulate: {end: 1}
)",
                                1.2);
      EXPECT_GE(o.jumps.size(), 2u);
    }
}

TEST(ContactTransition, OfABallThatFallsOnOneAtRestAgreesWithDifferences) {
  for (const char* law : {"restitution: 0.6, friction: 0.2", "restitution: 0.6, friction: 0.2, impact: moreau"}) {
    SCOPED_TRACE(law);
    const Outcome o = compare(with(R"(
clatter: 1
gravity: [0, -10, 0]
bodies:
  low: {type: planar, mass: 2, inertia: 0.01, position: [0, 0.1]}
  high: {type: planar, mass: 1, inertia: 0.003, position: [0.05, 0.5], velocity: [0.1, 0]}
shapes:
  one: {on: low, type: circle, radius: 0.1}
  two: {on: high, type: circle, radius: 0.08}
  floor: {on: ground, type: line}
contacts:
  bounce: {between: [one, floor], law: {type: rigid, LAW}}
  meet: {between: [one, two], law: {type: rigid, LAW}}
simulate: {end: 1}
)",
                                   "LAW", law),
                              0.3);
    EXPECT_GE(impacts(o), 1);
  }
}

// The same machine in both kinds of coordinates: the joints' reactions take part in the impact.
TEST(ContactTransition, OfADoublePendulumThatHitsAWallAgreesWithDifferences) {
  for (const char* coordinates : {"joint", "absolute"}) {
    SCOPED_TRACE(coordinates);
    const Outcome o = compare(with(R"(
clatter: 1
gravity: [0, -9.81, 0]
coordinates: COORDINATES
bodies:
  upper: {type: planar, mass: 2, inertia: 0.3, position: [0.5, 0]}
  lower: {type: planar, mass: 1, inertia: 0.1, position: [1.4, 0]}
joints:
  shoulder: {type: revolute, between: [ground, upper], at: [0, 0]}
  elbow: {type: revolute, between: [upper, lower], at: [1, 0]}
shapes:
  tip: {on: lower, at: [0.4, 0], type: circle, radius: 0.1}
  wall: {on: ground, at: [0.4, 0], rotate: -80 deg, type: line}
contacts:
  hit: {between: [tip, wall], law: {type: rigid, restitution: 0.4, friction: 0.2}}
simulate: {end: 1}
)",
                                   "COORDINATES", coordinates),
                              0.8);
    EXPECT_GE(impacts(o), 1);
  }
}

// The table moves by a drive: its motion is a function of time, not of the state.
TEST(ContactTransition, OfABallOnADrivenTableAgreesWithDifferences) {
  for (const char* coordinates : {"joint", "absolute"}) {
    SCOPED_TRACE(coordinates);
    const Outcome o = compare(with(R"(
clatter: 1
gravity: [0, -9.81, 0]
coordinates: COORDINATES
bodies:
  table: {type: planar, mass: 2, inertia: 0.3, position: [0, 0]}
  ball: {type: planar, mass: 1, inertia: 0.01, position: [0.2, 0.5], velocity: [0.3, 0]}
joints:
  lift: {type: prismatic, between: [ground, table], at: [0, 0], axis: y, drive: 0.1*sin(7*t)}
shapes:
  hull: {on: ball, type: circle, radius: 0.2}
  top: {on: table, type: line}
contacts:
  bounce: {between: [hull, top], law: {type: rigid, restitution: 0.5, friction: 0.1}}
simulate: {end: 1}
)",
                                   "COORDINATES", coordinates),
                              0.6);
    EXPECT_GE(impacts(o), 2);
  }
}

// The table falls away faster than the ball: it lifts off, flies and comes back.
TEST(ContactTransition, OfABallThatLeavesItsTableAgreesWithDifferences) {
  const Outcome o = compare(R"(
clatter: 1
gravity: [0, -9.81, 0]
bodies:
  table: {type: planar, mass: 2, inertia: 0.3, position: [0, 0]}
  ball: {type: planar, mass: 1, inertia: 0.01, position: [0.2, 0.2], velocity: [0.3, 0]}
joints:
  lift: {type: prismatic, between: [ground, table], at: [0, 0], axis: y, drive: 0.1*(1 - cos(12*t))}
shapes:
  hull: {on: ball, type: circle, radius: 0.2}
  top: {on: table, type: line}
contacts:
  bounce: {between: [hull, top], law: {type: rigid, restitution: 0.3, friction: 0.1}}
simulate: {end: 1}
)",
                            0.6);
  EXPECT_GE(impacts(o), 1);
}

TEST(ContactTransition, OfASpatialBallThatSpinsAgreesWithDifferences) {
  for (const char* law : {"restitution: 0.5, friction: 0.2", "restitution: 0.5, friction: 0.9",
                          "restitution: 0.5, friction: 0.3, tangential_restitution: 0.6, reversibility: 0.4",
                          "restitution: 0.5, friction: 0.2 + 0.2*exp(-v/0.8), impact: moreau"}) {
    SCOPED_TRACE(law);
    const Outcome o = compare(with(R"(
clatter: 1
gravity: [0, 0, -10]
bodies:
  ball:
    mass: 2
    inertia: [0.02, 0.025, 0.03]
    position: [0, 0, 0.5]
    center_of_mass: [0.02, 0.01, 0.015]
    velocity: [1, 0.4, -1]
    angular_velocity: [2, -3, 5]
shapes:
  hull: {on: ball, type: sphere, radius: 0.1}
  floor: {on: ground, type: plane}
contacts:
  bounce: {between: [hull, floor], law: {type: rigid, LAW}}
simulate: {end: 1}
)",
                                   "LAW", law),
                              0.3);
    EXPECT_EQ(impacts(o), 1);
  }
}

// Closed form: it slides by x = |v| v / (2 mu g) along its velocity, so that dx = (|v| + v v^T / |v|) dv / (2 mu g).
TEST(ContactTransition, OfASpatialSliderThatStopsAgreesWithDifferences) {
  const Outcome o = compare(R"(
clatter: 1
gravity: [0, 0, -10]
bodies:
  slider: {type: particle, mass: 3, position: [0, 0, 0.05], velocity: [1.2, 0.5, 0]}
shapes:
  foot: {on: slider, type: sphere, radius: 0.05}
  floor: {on: ground, type: plane}
contacts:
  rub: {between: [foot, floor], law: {type: rigid, friction: 0.4}}
simulate: {end: 1}
)",
                            0.6);
  const Eigen::Vector2d v(1.2, 0.5);
  const Eigen::Matrix2d expected =
      (v.norm() * Eigen::Matrix2d::Identity() + v * v.transpose() / v.norm()) / (2 * 0.4 * 10);
  EXPECT_LT((o.Phi.block<2, 2>(0, 3) - expected).norm(), 1e-6 * expected.norm());
  EXPECT_EQ(rank(o.Phi), 2);
}

// A ball that skids until it rolls: slip stops, the rolling goes on.
TEST(ContactTransition, OfASpatialBallThatBeginsToRollAgreesWithDifferences) {
  const Outcome o = compare(R"(
clatter: 1
gravity: [0, 0, -10]
bodies:
  ball: {mass: 2, inertia: [0.008, 0.008, 0.008], position: [0, 0, 0.1], velocity: [1, 0.2, 0], angular_velocity: [2, -1, 3]}
shapes:
  hull: {on: ball, type: sphere, radius: 0.1}
  floor: {on: ground, type: plane}
contacts:
  rub: {between: [hull, floor], law: {type: rigid, friction: 0.3}}
simulate: {end: 1}
)",
                            0.4);
  EXPECT_GE(o.jumps.size(), 1u);
}

// Accelerations f jump from free fall to none where a ball without restitution lands: only what moves along is left.
TEST(ContactTransition, OfABallThatLandsKeepsNoPerturbationAcrossTheFloor) {
  const Outcome o = compare(thrown("restitution: 0", 0.5, 1), 0.4);
  EXPECT_LE(rank(o.Phi), 4);
}

TEST(ContactTransition, SaysThatATouchWithoutSpeedIsGrazing) {
  // Thrown up to a ceiling 1e-11 m below the height v^2 / (2 g) that it would reach, after 0.2 s.
  const std::string text = R"(
clatter: 1
gravity: [0, -10, 0]
bodies:
  ball: {type: planar, mass: 2, inertia: 0.01, position: [0, 0], velocity: [0, 2]}
shapes:
  hull: {on: ball, type: circle, radius: 0.1}
  roof: {on: ground, at: [0, 0.29999999999], rotate: 180 deg, type: line}
contacts:
  touch: {between: [hull, roof], law: {type: rigid, restitution: 0.5}}
simulate: {end: 1}
)";
  Machine m(text);
  ContactTransition transition(m.stepper);
  transition.start(m.system->initial);
  std::string said;
  try {
    for (const double t : {0.2, 0.3})
      while (transition.state().t < t) transition.step(t);
    for (const ContactJump& jump : transition.jumps())
      if (jump.grazing) said = "flag";
  } catch (const SolveError& e) {
    said = e.kind();
  }
  EXPECT_TRUE(said == "flag" || said == "grazing") << said;
}

}  // namespace
}  // namespace clatter
