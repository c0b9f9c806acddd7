// What a model states about the start of its bodies is treated alike in both coordinates: the same least correction in
// the metric of the masses, the same note, the same energy, the same refusal.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <optional>

#include "base/error.hpp"
#include "model/load.hpp"
#include "study/simulate.hpp"
#include "study/start_notes.hpp"

namespace clatter::study {
namespace {

struct Start {
  double kinetic = 0, potential = 0;
  std::vector<std::string> moved, changed;
  std::vector<FrameState<double>> bodies;
};

Start start(const std::string& text, bool joint) {
  Model model = load_model_text(text, "start.yaml");
  model.joint_coordinates = joint;
  Prepared p = prepare(std::move(model));
  Start out;
  out.moved = changed_positions(p);
  out.changed = changed_velocities(p);
  p.engine->observe(p.start, nullptr);
  out.kinetic = p.engine->kinetic();
  out.potential = p.engine->potential(p.start);
  for (const BodyIndex& b : p.system->bodies) out.bodies.push_back(p.engine->frame_state(b.frame));
  return out;
}

std::string refusal(const std::string& text, bool joint) {
  Model model = load_model_text(text, "start.yaml");
  model.joint_coordinates = joint;
  try {
    prepare(std::move(model));
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

// Constraints are met to 1e-13 of the scales; velocities and energies of order one follow to 1e-11.
void expect_same(const std::string& text) {
  const Start absolute = start(text, false), joint = start(text, true);
  EXPECT_NEAR(absolute.kinetic, joint.kinetic, 1e-11 * (1 + absolute.kinetic)) << text;
  EXPECT_NEAR(absolute.potential, joint.potential, 1e-11 * (1 + std::abs(absolute.potential))) << text;
  EXPECT_EQ(absolute.moved, joint.moved) << text;
  EXPECT_EQ(absolute.changed, joint.changed) << text;
  for (std::size_t i = 0; i < absolute.bodies.size(); ++i) {
    EXPECT_LT((absolute.bodies[i].p - joint.bodies[i].p).norm(), 1e-11) << text;
    EXPECT_LT((absolute.bodies[i].R - joint.bodies[i].R).norm(), 1e-11) << text;
    EXPECT_LT((absolute.bodies[i].v - joint.bodies[i].v).norm(), 1e-11) << text;
    EXPECT_LT((absolute.bodies[i].w - joint.bodies[i].w).norm(), 1e-11) << text;
  }
}

std::string double_pendulum(const std::string& second, const std::string& rest = "") {
  return "clatter: 1\ngravity: [0, -9.81]\nbodies:\n"
         "  first: {type: planar, mass: 1, shape: {rod: 1 m}, frames: {start: [-0.5, 0], end: [0.5, 0]}, position: "
         "[0.5, 0]}\n"
         "  second: {type: planar, mass: 1, shape: {rod: 1 m}, frames: {start: [-0.5, 0], end: [0.5, 0]}, " +
         second +
         "}\njoints:\n  top: {type: revolute, between: [ground, first.start]}\n"
         "  pin: {type: revolute, between: [first.end, second.start]}\n" +
         rest + "simulate: {end: 1 s}\n";
}

// Two uniform rods of 1 m and 1 kg in line. The second moves across with v = 1 m/s and does not turn, the first rests:
// the pin fits (0, 1) at its left end only when something is changed. Least squares in the metric of M over
// (w1, w2), the angular velocities that fit: minimise (1/3) w1^2 ... by hand,
//
//   first:  v1 = w1/2, w1;   second: v2 = w1 + w2/2, w2;    m = 1, J = 1/12
//   min  (w1/2)^2 + w1^2/12 + (w1 + w2/2 - 1)^2 + w2^2/12
//   4/3 w1 + 1/2 w2 = 1,   1/2 w1 + 1/3 w2 = 1/2
//
// w1 = 3/7, w2 = 6/7: T = ((4/3) w1^2 + w1 w2 + (1/3) w2^2)/2 = (12 + 18 + 12)/98 = 3/7.
TEST(JointStart, VelocitiesThatDoNotFitAreChangedLeastInTheMetricOfTheMasses) {
  const std::string text = double_pendulum("position: [1.5, 0], velocity: [0, 1]");
  for (const bool joint : {false, true}) {
    const Start s = start(text, joint);
    EXPECT_NEAR(s.kinetic, 3.0 / 7, 1e-12);
    EXPECT_NEAR(s.bodies[0].w.z(), 3.0 / 7, 1e-12);
    EXPECT_NEAR(s.bodies[1].w.z(), 6.0 / 7, 1e-12);
    ASSERT_EQ(s.changed.size(), 1U);
    EXPECT_EQ(s.changed[0], "second.velocity.y from 1 m/s to 0.85714 m/s");
    EXPECT_TRUE(s.moved.empty());
  }
}

TEST(JointStart, IsTheSameInBothCoordinates) {
  for (const char* second : {
           "position: [1.5, 0], velocity: [0, 1]",                          // velocities off
           "position: [1.5, 0], velocity: [0.3, 1], angular_velocity: -2",  // all of them
           "position: [1.52, 0.04], angle: 3 deg",                          // position off
           "position: [1.4, -0.3], angle: -40 deg, velocity: [0.5, 1]",     // both
           "position: [1.5, 0]",                                            // fits
       })
    expect_same(double_pendulum(second));
  // A loop that does not close, joints that state angles and rates which it changes.
  expect_same(R"(clatter: 1
gravity: [0, -9.81]
bodies:
  crank: {type: planar, mass: 1, shape: {rod: 0.4 m}, frames: {start: [-0.2, 0], end: [0.2, 0]}}
  coupler: {type: planar, mass: 2, shape: {rod: 1 m}, frames: {start: [-0.5, 0], end: [0.5, 0]}}
  rocker: {type: planar, mass: 1.5, shape: {rod: 0.7 m}, frames: {start: [-0.35, 0], end: [0.35, 0]}, position: [1, 0.36], angle: 88 deg, angular_velocity: 0.4}
joints:
  a: {type: revolute, between: [ground, crank.start], angle: 80 deg, rate: 2}
  b: {type: revolute, between: [crank.end, coupler.start], angle: -60 deg}
  c: {type: revolute, between: [coupler.end, rocker.end]}
  d: {type: revolute, between: [{on: ground, at: [1, 0]}, rocker.start]}
simulate: {end: 1 s}
)");
  // In space: spherical, universal and prismatic joints in a chain of four.
  const auto chain = [](const char* third) {
    return fmt::format(R"(clatter: 1
gravity: [0, 0, -9.81]
bodies:
  a: {{mass: 2, inertia: [0.1, 0.2, 0.3], position: [0.5, 0, 0], angular_velocity: [0.3, 0, 1]}}
  b: {{mass: 1, inertia: [0.1, 0.1, 0.2], position: [1.5, 0.1, 0], velocity: [0, 1, -0.5]}}
  c: {{mass: 1.5, inertia: [0.2, 0.1, 0.1], {}}}
  d: {{mass: 1, inertia: [0.2, 0.3, 0.2], position: [3.5, 0, 0.2], velocity: [1, 1, 1]}}
joints:
  ja: {{type: spherical, between: [ground, a], at: [0, 0, 0]}}
  jb: {{type: revolute, between: [a, b], at: [1, 0, 0], axis: [1, 2, 3]}}
  jc: {{type: universal, between: [b, c], at: [2, 0, 0], axis: [0, 0, 1], axis2: [0, 1, 0]}}
  jd: {{type: prismatic, between: [c, d], at: [3, 0, 0], axis: [1, 0, 1]}}
simulate: {{end: 1 s}}
)",
                       third);
  };
  expect_same(chain("position: [2.5, 0, 0.1]"));
  expect_same(chain("position: [2.5, 0, 0.1], velocity: [3, 0, 0], angular_velocity: [0, 0, 5]"));
}

// Frames of the two bodies that do not meet: positions are off, too.
TEST(JointStart, PositionsInSpaceAreMovedAlike) {
  const std::string text = R"(clatter: 1
bodies:
  a: {mass: 2, inertia: [0.1, 0.2, 0.3], position: [0.5, 0.05, 0], frames: {in: [-0.5, 0, 0], out: [0.5, 0, 0]}}
  b: {mass: 1, inertia: [0.1, 0.1, 0.2], position: [1.45, 0, 0.1], orientation: {axis: [1, 1, 0], angle: 7 deg}, velocity: [0, 0, 1], frames: {in: [-0.5, 0, 0]}}
joints:
  ja: {type: revolute, between: [ground, a.in], axis: z}
  jb: {type: revolute, between: [a.out, b.in], axis: [0, 1, 1]}
simulate: {end: 1 s}
)";
  expect_same(text);
  EXPECT_FALSE(start(text, true).moved.empty());
}

TEST(JointStart, WhatMayNotBeAdjustedIsRefusedByTheSameWords) {
  for (const auto& [second, rest] :
       {std::pair("position: [1.5, 0], velocity: [0, 1]", "initial: {adjust_velocities: false}\n"),
        std::pair("position: [1.52, 0.04]", "initial: {adjust_positions: false}\n")}) {
    const std::string text = double_pendulum(second, rest);
    const std::string absolute = refusal(text, false), joint = refusal(text, true);
    EXPECT_NE(absolute.find("pin."), std::string::npos) << absolute;
    EXPECT_EQ(absolute, joint);
  }
  const std::string fits = double_pendulum("position: [1.5, 0], velocity: [0, 0.5], angular_velocity: 1",
                                           "initial: {adjust_velocities: false, adjust_positions: false}\n");
  EXPECT_EQ(refusal(fits, false), "");
  EXPECT_EQ(refusal(fits, true), "");
}

// T = (0.1 + 1 * 0.5^2) 2^2 / 2 = 0.7 J for a rod that turns at 2 rad/s, whichever side of the joint it is written on;
// and a second one that hangs on it by a joint at rest turns with it, 0.1 + 1.5^2 more.
TEST(JointStart, RatesOfJointsMoveTheBodyOnEitherSide) {
  for (const char* between : {"[ground, rod]", "[rod, ground]"})
    for (const char* next : {"", "[rod, more]", "[more, rod]"})
      for (const bool joint : {false, true}) {
        std::string text =
            "clatter: 1\nbodies:\n"
            "  rod: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [0.5, 0, 0]}\n";
        if (*next) text += "  more: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [1.5, 0, 0]}\n";
        text +=
            fmt::format("joints:\n  pin: {{type: revolute, between: {}, at: [0, 0, 0], axis: z, rate: 2}}\n", between);
        if (*next) text += fmt::format("  hinge: {{type: revolute, between: {}, at: [1, 0, 0], axis: z}}\n", next);
        const Start s = start(text + "simulate: {end: 1 s}\n", joint);
        EXPECT_NEAR(s.kinetic, *next ? 5.4 : 0.7, 1e-12) << between << next << joint;
        EXPECT_TRUE(s.changed.empty());
      }
}

// A rod's length that the model leaves to the start is the one between the bodies as stated.
TEST(JointStart, LengthsThatTheStartDefinesAreThoseOfTheModelInBothCoordinates) {
  const std::string text = R"(clatter: 1
gravity: [0, -9.81]
bodies:
  first: {type: planar, mass: 1, shape: {rod: 1 m}, frames: {start: [-0.5, 0], end: [0.5, 0]}, position: [0.5, 0.02]}
  second: {type: planar, mass: 1, shape: {rod: 1 m}, frames: {start: [-0.5, 0], end: [0.5, 0]}, position: [1.45, -0.3], angle: -30 deg}
joints:
  top: {type: revolute, between: [ground, first.start]}
  pin: {type: revolute, between: [first.end, second.start]}
  rope: {type: distance, between: [ground, second.end]}
simulate: {end: 1 s}
)";
  expect_same(text);
}

// A four-bar linkage whose rods are stated anywhere: crank 1, coupler 3, rocker 2.5, pins 3 m apart.
constexpr double kRods[3] = {1, 3, 2.5}, kPins = 3;
using Poses = std::array<double, 9>;  // x, y, angle of each rod

// The assembled position for an angle of the crank, with the coupler's end on one side or the other.
std::optional<Poses> assembled(double angle, double side) {
  const double ax = kRods[0] * std::cos(angle), ay = kRods[0] * std::sin(angle), rx = kPins - ax, ry = -ay;
  const double d = std::hypot(rx, ry), along = (kRods[1] * kRods[1] - kRods[2] * kRods[2] + d * d) / (2 * d);
  if (std::abs(along) > kRods[1]) return std::nullopt;
  const double off = side * std::sqrt(kRods[1] * kRods[1] - along * along);
  const double bx = ax + (along * rx - off * ry) / d, by = ay + (along * ry + off * rx) / d;
  return Poses{ax / 2,           ay / 2,        angle,
               (ax + bx) / 2,    (ay + by) / 2, std::atan2(by - ay, bx - ax),
               (kPins + bx) / 2, by / 2,        std::atan2(by, bx - kPins)};
}

// In the metric of the masses: thin rods of 1 kg.
double distance(const Poses& a, const Poses& b) {
  double sum = 0;
  for (int i = 0; i < 3; ++i) {
    const auto k = static_cast<std::size_t>(3 * i);
    sum += std::pow(a[k] - b[k], 2) + std::pow(a[k + 1] - b[k + 1], 2) +
           kRods[i] * kRods[i] / 12 * std::pow(std::remainder(a[k + 2] - b[k + 2], 2 * M_PI), 2);
  }
  return std::sqrt(sum);
}

// The least distance of all assembled positions, in steps of a tenth of a degree: exact to 1e-6.
double least_distance(const Poses& stated) {
  double least = 1e300;
  for (int k = 0; k < 3600; ++k)
    for (const double side : {-1.0, 1.0})
      if (const auto q = assembled(k * M_PI / 1800, side)) least = std::min(least, distance(*q, stated));
  return least;
}

// Starts off by 0.4 and by 0.7 m or rad on average, from which Newton's full corrections fold the linkage to positions
// 1.5 to 2.7 times as far away as the nearest, or to none.
TEST(JointStart, OfALoopFarOffIsTheNearestAssemblyInBothCoordinates) {
  const Poses starts[] = {{0.25, -0.74, -1.19, 1.27, 0.15, 1.31, 2.33, 1.04, 1.32},
                          {0.17, 0.52, 1.49, 0.58, -0.27, -1.75, 1.2, -0.77, -2.14},
                          {-0.64, 0.55, 2.71, -0.09, -0.06, -0.08, 2.04, -0.74, -2.59},
                          {-0.01, 0.51, 1.14, 0.81, -0.82, -2.25, 2.23, -1.15, -2.24},
                          {0.43, -0.12, 0.76, 1.49, 1.21, 0.82, 2.21, 1.35, 1.99},
                          {0.85, 0.16, -0.09, 2.54, -1.78, -0.38, 4.02, -0.68, -0.37},
                          {0.23, -0.98, -1.34, 1.45, -0.17, 1.37, 2.39, 1.06, 0.65},
                          {0.5, 0.47, -1.41, 1.99, 1.63, 1.47, 3.42, 1.68, 1.32}};
  for (const Poses& q : starts) {
    const auto rod = [&](const char* name, int i) {
      const auto k = static_cast<std::size_t>(3 * i);
      return fmt::format(
          "  {}: {{type: planar, mass: 1, shape: {{rod: {}}}, position: [{}, {}], angle: {}, frames: {{begin: [{}, "
          "0], end: [{}, 0]}}}}\n",
          name, kRods[i], q[k], q[k + 1], q[k + 2], -kRods[i] / 2, kRods[i] / 2);
    };
    const std::string text = "clatter: 1\nbodies:\n" + rod("crank", 0) + rod("coupler", 1) + rod("rocker", 2) +
                             R"(frames: {post: {at: [3, 0]}}
joints:
  a: {type: revolute, between: [ground, crank.begin]}
  b: {type: revolute, between: [crank.end, coupler.begin]}
  c: {type: revolute, between: [coupler.end, rocker.end]}
  d: {type: revolute, between: [ground.post, rocker.begin]}
simulate: {end: 1 s}
)";
    expect_same(text);
    const Start found = start(text, false);
    Poses p{};
    for (std::size_t i = 0; i < 3; ++i) {
      const FrameState<double>& f = found.bodies[i];
      p[3 * i] = f.p.x();
      p[3 * i + 1] = f.p.y();
      p[3 * i + 2] = std::atan2(f.R(1, 0), f.R(0, 0));
    }
    EXPECT_LT(distance(p, q), 1.001 * least_distance(q)) << text;
  }
}

}  // namespace
}  // namespace clatter::study
