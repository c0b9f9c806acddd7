// Contacts within a step: shapes that meet and part, or pass through each other, between the ends of one step.
//
// All motions here are uniform until the first touch, so that a first step of a second or more is exact for every
// scheme and no error control shortens it: what is missed is missed by the search for events alone. Times are compared
// to the rounding of times of such a step.
#include <gtest/gtest.h>

#include <cmath>

#include <fmt/format.h>

#include "contact/event_driven.hpp"
#include "contact/motion.hpp"
#include "integrate/run.hpp"
#include "model/load.hpp"

namespace clatter::contact {
namespace {

struct Machine {
  Machine(const std::string& text, Scheme scheme, double step, bool find_events = true)
      : system(System::compile(load_model_text(text, "machine.yaml"))),
        contacts(ContactSystem::compile(system, text.find("method: smooth") != text.npos)),
        engine(system),
        stepper(contacts, engine, settings(scheme, step, find_events)) {
    stepper.start(system->initial);
  }
  static IntegratorSettings settings(Scheme scheme, double step, bool find_events) {
    IntegratorSettings s;
    s.scheme = scheme;
    s.step = step;
    s.find_events = find_events;
    return s;
  }
  // When the first event happens, and how; the end where none does.
  double first_event(double end) {
    while (stepper.state().t < end) {
      stepper.step(end);
      if (!stepper.fired_names().empty()) {
        name = stepper.fired_names().front();
        return stepper.state().t;
      }
    }
    return end;
  }
  std::shared_ptr<const System> system;
  std::shared_ptr<const ContactSystem> contacts;
  Engine engine;
  EventDriven stepper;
  std::string name;
};

constexpr Scheme kSchemes[] = {Scheme::dopri5, Scheme::radau5, Scheme::bdf,
                               Scheme::adams,  Scheme::rk4,    Scheme::generalized_alpha};

const std::string kRigid = "{type: rigid, restitution: 0.5}", kSoft = "{type: linear, stiffness: 1e9, damping: 10}";

// A ball of 2 mm through a plate of 1 mm, 100 m away, at 1000 m/s: inside for 5 microseconds of a second.
std::string bullet(double scale, const std::string& law, const std::string& method, double height = 0.01) {
  return fmt::format(R"(
clatter: 1
bodies:
  ball: {{mass: 1, inertia: [0.01, 0.01, 0.01], position: [0, {0}, 0], velocity: [{1}, 0, 0], angular_velocity: [0, 0, 2]}}
shapes:
  bullet: {{on: ball, type: sphere, radius: {2}}}
  plate: {{on: ground, type: box, size: [{3}, {4}, {4}], at: [{5}, 0, 0]}}
contacts:
  hit: {{between: [bullet, plate], law: {6}}}
simulate: {{method: {7}, end: 1}}
)",
                     height * scale, 1000 * scale, 2e-3 * scale, 1e-3 * scale, 0.2 * scale, 100 * scale, law, method);
}

TEST(Passage, ABulletIsStoppedByAPlateThatItWouldCrossInFiveMillionthsOfAStep) {
  for (const double scale : {1.0, 1000.0})
    for (const bool smooth : {false, true})
      for (const Scheme scheme : kSchemes) {
        Machine m(bullet(scale, smooth ? kSoft : kRigid, smooth ? "smooth" : "event-driven"), scheme, 1);
        EXPECT_NEAR(m.first_event(1), (100 - 2.5e-3) / 1000, 1e-12)
            << scale << " " << smooth << " " << static_cast<int>(scheme);
        EXPECT_EQ(m.name, smooth ? "hit: contact begins" : "hit: touches");
      }
}

// Two balls whose paths cross nearly at a right angle; the first touch from |x0 + u t| = 2 r.
TEST(Passage, TwoBallsThatCrossWithinAStepTouch) {
  const Vec3 x0(-30, -40.002, 0), u(60, 80, 0);
  const double r = 5e-3, b = x0.dot(u) / u.squaredNorm(), c = (x0.squaredNorm() - 4 * r * r) / u.squaredNorm();
  const double expected = -b - std::sqrt(b * b - c);
  for (const bool planar : {true, false})
    for (const Scheme scheme : kSchemes) {
      const std::string kind = planar ? "circle" : "sphere";
      Machine m(fmt::format(R"(
clatter: 1
bodies:
  one: {{{0}, position: [-30, 0{1}], velocity: [60, 0{1}]}}
  two: {{{0}, position: [0, 40.002{1}], velocity: [0, -80{1}]}}
shapes:
  first: {{on: one, type: {2}, radius: 0.005}}
  second: {{on: two, type: {2}, radius: 0.005}}
contacts:
  hit: {{between: [first, second], law: {3}}}
simulate: {{method: event-driven, end: 1}}
)",
                            planar ? "type: planar, mass: 1, inertia: 1" : "mass: 1, inertia: [1, 1, 1]",
                            planar ? "" : ", 0", kind, kRigid),
                scheme, 1);
      EXPECT_NEAR(m.first_event(1), expected, 1e-11) << kind << " " << static_cast<int>(scheme);
    }
}

// A thin rod of 2 m on a hinge, at w = 7 rad/s, against a ball of 1 mm at 0.8 m and half a turn and a bit away; over
// the ball it needs 0.5 ms of a step of 1 s, in which it turns more than once. Touch: sin(angle left) = (r + half its
// thickness) / 0.8.
TEST(Passage, ARodThatSweepsOverASmallBallWithinAStepTouchesIt) {
  const double w = 7, place = 4, r = 1e-3;
  for (const char* coordinates : {"joint", "absolute"})
    for (const bool planar : {true, false})
      for (const Scheme scheme : kSchemes) {
        // In absolute coordinates steps are shortened by their error, and by turns of rotations of bodies in space.
        Machine m(
            fmt::format(R"(
clatter: 1
coordinates: {0}
bodies:
  rod: {{{1}, position: [0, 0, 0]}}
joints:
  hinge: {{type: revolute, between: [ground, rod], at: [0, 0, 0], axis: z, rate: {2}}}
shapes:
  edge: {{on: rod, {3}}}
  stone: {{on: ground, type: {4}, radius: {5}, at: [{6:.17g}, {7:.17g}, 0]}}
contacts:
  hit: {{between: [edge, stone], law: {8}}}
simulate: {{method: event-driven, end: 1}}
)",
                        coordinates, planar ? "type: planar, mass: 1, inertia: 1" : "mass: 1, inertia: [1, 1, 1]", w,
                        planar ? "type: line, length: 2, at: [1, 0]" : "type: box, size: [2, 2e-3, 0.1], at: [1, 0, 0]",
                        planar ? "circle" : "sphere", r, 0.8 * std::cos(place), 0.8 * std::sin(place), kRigid),
            scheme, scheme == Scheme::rk4 || scheme == Scheme::generalized_alpha ? 1e-2 : 1);
        const double t = m.first_event(1), half = planar ? 0 : 1e-3;
        const double expected = (place - std::asin((r + half) / 0.8)) / w;
        EXPECT_NEAR(t, expected, 1e-6) << coordinates << " " << planar << " " << static_cast<int>(scheme);
      }
}

// The corner of a square against a thin wedge: polygons, whose points of contact change while they overlap.
TEST(Passage, ASquareThatFliesThroughAThinWallWithItsCornerFirstTouchesIt) {
  for (const Scheme scheme : kSchemes) {
    Machine m(fmt::format(R"(
clatter: 1
bodies:
  block: {{type: planar, mass: 1, inertia: 1, position: [0, 0], angle: 45 deg, velocity: [500, 0]}}
shapes:
  square: {{on: block, type: polygon, points: [[-0.01, -0.01], [0.01, -0.01], [0.01, 0.01], [-0.01, 0.01]]}}
  wall: {{on: ground, type: polygon, points: [[60, -1], [60.001, -1], [60.001, 1], [60, 1]]}}
contacts:
  hit: {{between: [square, wall], law: {0}}}
simulate: {{method: event-driven, end: 1}}
)",
                          kRigid),
              scheme, 1);
    EXPECT_NEAR(m.first_event(1), (60 - 0.01 * std::sqrt(2.0)) / 500, 1e-12) << static_cast<int>(scheme);
  }
}

// A gap written as a formula, negative for 2 mm of a way of 1 km: smooth, and with a kink.
TEST(Passage, OfAFormulaContactIsFoundWithinAStep) {
  for (const char* gap : {"(way.displacement - 430 m)^2/(1 m) - 1e-6 m", "abs(way.displacement - 430 m) - 1 mm"})
    for (const Scheme scheme : kSchemes) {
      Machine m(fmt::format(R"(
clatter: 1
coordinates: joint
bodies:
  car: {{type: planar, mass: 1, inertia: 1}}
joints:
  way: {{type: prismatic, between: [ground, car], axis: x, rate: 1000}}
contacts:
  hit: {{gap: "{0}", slide: way.displacement, law: {1}}}
simulate: {{method: event-driven, end: 1}}
)",
                            gap, kRigid),
                scheme, 1);
      EXPECT_NEAR(m.first_event(1), 0.429999, 1e-11) << gap << " " << static_cast<int>(scheme);
    }
}

// A ball in a hole of 1 m leaves it within a step; it would be outside at all five looks of the step but the first.
TEST(Passage, ABallDoesNotLeaveAHole) {
  for (const Scheme scheme : kSchemes) {
    Machine m(fmt::format(R"(
clatter: 1
bodies:
  ball: {{type: planar, mass: 1, inertia: 1, position: [0.1, 0], velocity: [0, 30]}}
shapes:
  round: {{on: ball, type: circle, radius: 0.1}}
  hole: {{on: ground, type: circle, radius: 1, hollow: true}}
contacts:
  hit: {{between: [round, hole], law: {0}}}
simulate: {{method: event-driven, end: 1}}
)",
                          kRigid),
              scheme, 1);
    EXPECT_NEAR(m.first_event(1), std::sqrt(0.81 - 0.01) / 30, 1e-12) << static_cast<int>(scheme);
  }
}

// Nothing touches: passing by at a hundredth of a millimetre is no event, and takes few looks.
TEST(Passage, PassingByIsNoTouch) {
  for (const Scheme scheme : kSchemes) {
    // The plate is 20 cm wide: past its edge at 0.1 + 0.002 + 0.00001 m.
    Machine m(bullet(1, kRigid, "event-driven", 0.10201), scheme, 1);
    EXPECT_EQ(m.first_event(1), 1) << static_cast<int>(scheme);
    EXPECT_LT(m.stepper.certificate().penetration, 1e-12);
  }
}

// Where steps are taken without a search for events, the certificate shows what happened between their ends.
TEST(Passage, TheCertificateSeesAPenetrationBetweenTheEndsOfAStep) {
  Machine m(bullet(1, kRigid, "event-driven"), Scheme::dopri5, 1, false);
  EXPECT_EQ(m.first_event(1), 1);
  EXPECT_GT(m.stepper.certificate().penetration, 1e-3);
  EXPECT_NEAR(m.stepper.certificate().t_penetration, 0.1, 3e-6);
}

struct Recorded {
  State end;
  std::vector<double> events;
  long steps = 0;
  bool operator==(const Recorded& o) const {
    return end.t == o.end.t && end.q == o.end.q && end.v == o.end.v && events == o.events && steps == o.steps;
  }
};

// As the program runs a model, with everything about the contacts looked at at each output.
Recorded recorded(const std::string& text, Scheme scheme, double output_step) {
  const auto system = System::compile(load_model_text(text, "machine.yaml"));
  Engine engine(system);
  RunSettings settings;
  settings.integrator.scheme = scheme;
  settings.integrator.step = scheme == Scheme::rk4 || scheme == Scheme::generalized_alpha ? 1e-3 : 0;
  settings.end = system->model.simulate.end;
  settings.output_step = output_step;
  Motion motion(system, engine, system->model.simulate, settings.integrator);
  Recorded out;
  RunCallbacks callbacks;
  callbacks.on_output = [&](const Sample& s) { motion.observe(s.s, s.lambda, s.W); };
  callbacks.on_event = [&](const State& s, const std::vector<StepEvent>&) { out.events.push_back(s.t); };
  Run run(motion.stepper(), settings, callbacks);
  run.start(system->initial);
  out.steps = run.go().steps;
  out.end = run.state();
  return out;
}

void expect_same_for_all_outputs(const std::string& text, std::size_t events) {
  for (const Scheme scheme : kSchemes) {
    const Recorded often = recorded(text, scheme, 5e-4);
    EXPECT_GE(often.events.size(), events);
    for (const double output_step : {0.013, 1.0})
      EXPECT_TRUE(recorded(text, scheme, output_step) == often) << static_cast<int>(scheme) << " " << output_step;
  }
}

// Not a bit of the motion, no step and no event follows what is recorded.
TEST(Outputs, DoNotChangeAColumnOfBeadsThatComesToRest) {
  std::string text = "clatter: 1\ngravity: [0, -9.81]\nbodies:\n",
              shapes = "shapes:\n  floor: {on: ground, type: line}\n";
  std::string contacts = "contacts:\n";
  for (int i = 1; i <= 3; ++i) {
    text += fmt::format("  bead{}: {{type: planar-particle, mass: 1, position: [0, {}]}}\n", i, 0.12 * i - 0.05);
    shapes += fmt::format("  round{0}: {{on: bead{0}, type: circle, radius: 0.05}}\n", i);
    contacts += fmt::format("  hit{0}: {{between: [round{0}, {1}], law: {{type: rigid, restitution: 0.3}}}}\n", i,
                            i == 1 ? "floor" : fmt::format("round{}", i - 1));
  }
  expect_same_for_all_outputs(text + shapes + contacts + "simulate: {method: event-driven, end: 0.3}\n", 10);
}

// Edges, a curved contour that rolls, sliding and rest.
TEST(Outputs, DoNotChangeAThrownBoxAndAnEgg) {
  expect_same_for_all_outputs(R"(
clatter: 1
gravity: [0, -9.81, 0]
bodies:
  box: {type: planar, mass: 1, inertia: 0.02, position: [0, 0.3], angle: 0.35, velocity: [1, 0], angular_velocity: 2}
  egg: {type: planar, mass: 0.5, inertia: 0.003, position: [2, 0.12], angle: 0.3, velocity: [0.5, 0]}
shapes:
  hull: {on: box, type: polygon, points: [[-0.2, -0.1], [0.2, -0.1], [0.2, 0.1], [-0.2, 0.1]]}
  shell: {on: egg, type: ellipse, semi_axes: [0.15, 0.1]}
  floor: {on: ground, type: line}
contacts:
  corner: {between: [hull, floor], law: {type: rigid, restitution: 0.3, friction: 0.4}}
  rolls: {between: [shell, floor], law: {type: rigid, restitution: 0.2, friction: 0.3}}
simulate: {method: event-driven, end: 0.3}
)",
                              4);
}

TEST(Outputs, DoNotChangeAMechanismWithoutContact) {
  for (const char* coordinates : {"joint", "absolute"})
    expect_same_for_all_outputs(fmt::format(R"(
clatter: 1
coordinates: {}
gravity: [0, -9.81, 0]
bodies:
  upper: {{mass: 1, inertia: [0.1, 0.2, 0.3], position: [0.5, 0, 0]}}
  lower: {{mass: 2, inertia: [0.1, 0.2, 0.3], position: [1.5, 0, 0]}}
joints:
  hip: {{type: revolute, between: [ground, upper], at: [0, 0, 0], axis: z, rate: 1}}
  knee: {{type: spherical, between: [upper, lower], at: [1, 0, 0]}}
simulate: {{end: 0.3}}
)",
                                            coordinates),
                                0);
}

}  // namespace
}  // namespace clatter::contact
