// Between the ends of steps of time stepping: what is thin and fast is met, or told by name, and the certificate sees
// how deep contacts get on the way. And beams on beams with compliant laws in smooth motions.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cmath>

#include "contact/event_driven.hpp"
#include "contact/motion.hpp"
#include "contact/nonsmooth_alpha.hpp"
#include "contact/time_stepping.hpp"
#include "model/load.hpp"
#include "study/summary.hpp"

namespace clatter::contact {
namespace {

struct Machine {
  Machine(const std::string& text, TimeStepping scheme, double step)
      : system(System::compile(load_model_text("clatter: 1\n" + text, "machine.yaml"))),
        contacts(ContactSystem::compile(system)),
        engine(system),
        dynamics(contacts, engine) {
    IntegratorSettings settings;
    settings.step = step;
    if (scheme == TimeStepping::moreau)
      stepper = std::make_unique<MoreauStepper>(dynamics, settings);
    else
      stepper = std::make_unique<NonsmoothAlpha>(dynamics, settings);
    stepper->start(system->initial);
  }
  void run(double t) {
    while (stepper->state().t < t) rejected += stepper->step(t).rejected;
  }
  std::shared_ptr<const System> system;
  std::shared_ptr<const ContactSystem> contacts;
  Engine engine;
  ContactDynamics dynamics;
  std::unique_ptr<ContactStepper> stepper;
  long rejected = 0;
};

constexpr TimeStepping kSchemes[] = {TimeStepping::moreau, TimeStepping::generalized_alpha};

// A ball against a plate of 1 mm, `place` away, at 1000 m/s; lengths in units of `size`.
std::string bullet(double place, double radius, const std::string& law, double size = 1, double height = 0.01) {
  return fmt::format(R"(
bodies:
  ball: {{mass: 1, inertia: [0.01, 0.01, 0.01], position: [0, {0}, 0], velocity: [{1}, 0, 0], angular_velocity: [0, 0, 2]}}
shapes:
  bullet: {{on: ball, type: sphere, radius: {2}}}
  plate: {{on: ground, type: box, size: [{3}, {4}, {4}], at: [{5}, 0, 0]}}
contacts:
  hit: {{between: [bullet, plate], law: {6}}}
)",
                     height * size, 1000 * size, radius * size, 1e-3 * size, 0.2 * size, place * size, law);
}

// A step of 1 ms leads a metre on. Wherever within it the plate stands, a ball of 5 mm is met with all its speed.
TEST(StepPassage, ABulletIsStoppedByAPlateWhereverTheStepEnds) {
  for (const TimeStepping scheme : kSchemes)
    for (const double size : {1.0, 1e-3})
      for (const double e : {0.0, 0.5})
        for (const double place : {2.05, 2.2, 2.4999, 2.5, 2.51, 2.77, 2.999}) {
          Machine m(bullet(place, 5e-3, fmt::format("{{type: rigid, restitution: {}}}", e), size), scheme, 1e-3);
          m.run(5e-3);
          EXPECT_NEAR(m.stepper->state().v[0], -e * 1000 * size, 1e-6 * size) << place << " " << e << " " << size;
          EXPECT_LT(m.stepper->state().q[0], place * size);
          EXPECT_EQ(m.stepper->passages().steps, 0);
          EXPECT_LT(m.stepper->certificate().penetration, 1e-9 * size);
        }
}

// A ball of 20 um is in the plate for a microsecond, which no halving of the step comes to: it passes, and is told.
TEST(StepPassage, WhatNoStepMeetsIsToldByName) {
  for (const TimeStepping scheme : kSchemes) {
    Machine m(bullet(2.2123, 2e-5, "{type: rigid, restitution: 0.5}"), scheme, 1e-2);
    m.run(5e-2);
    const Passages& passed = m.stepper->passages();
    if (m.stepper->state().v[0] < 0) continue;  // one of the ends lay in the plate by chance
    ASSERT_EQ(passed.steps, 1);
    EXPECT_EQ(m.contacts->slot_name(passed.slot), "hit");
    EXPECT_NEAR(passed.t, 2.2123e-3, 1e-6);
    EXPECT_GT(passed.depth, 1e-8);
    EXPECT_GE(m.stepper->certificate().on_way, passed.depth);
    study::ContactSummary summary;
    summary.passages = {passed, m.contacts->slot_name(passed.slot)};
    const std::string text = study::passages_text(summary);
    EXPECT_TRUE(text.starts_with("passed-through: in 1 step")) << text;
    EXPECT_NE(text.find("contact `hit`"), text.npos) << text;
    EXPECT_NE(text.find("0.0022123 s"), text.npos) << text;
  }
}

TEST(StepPassage, ACompliantPlateIsMetOrToldToo) {
  for (const TimeStepping scheme : kSchemes)
    for (const double place : {2.05, 2.2, 2.5, 2.6, 2.77, 2.999}) {
      Machine m(bullet(place, 2e-3, "{type: linear, stiffness: 1e6, damping: 10}"), scheme, 1e-3);
      m.run(5e-3);
      EXPECT_TRUE(m.stepper->counts().closes > 0 || m.stepper->passages().steps > 0) << place;
    }
}

// Past the edge of the plate at a tenth of a millimetre: no shorter steps, nothing told.
TEST(StepPassage, PassingByTakesNoShorterSteps) {
  for (const TimeStepping scheme : kSchemes) {
    Machine m(bullet(2.2, 2e-3, "{type: rigid, restitution: 0.5}", 1, 0.1021), scheme, 1e-3);
    m.run(5e-3);
    EXPECT_EQ(m.stepper->passages().steps, 0);
    EXPECT_EQ(m.rejected, 0);
    EXPECT_EQ(m.stepper->certificate().on_way, 0);
  }
}

// A bead that slides over a disc would be (v h)^2 / (8 (R + r)) deep on the chords of its steps. The dense output bends
// with the velocities, and the middle of a step is off by their third order alone: v h / R times as much.
TEST(StepPassage, ABeadThatSlidesOverADiscFollowsItBetweenTheEndsOfSteps) {
  for (const TimeStepping scheme : kSchemes) {
    const double h = 4e-3;
    Machine m(R"(
gravity: [0, -10]
bodies:
  bead: {type: planar-particle, mass: 1, position: [0, 1.1], velocity: [1, 0]}
shapes:
  round: {on: bead, type: circle, radius: 0.1}
  disc: {on: ground, type: circle, radius: 1}
contacts:
  slide: {between: [round, disc], law: {type: rigid}}
)",
              scheme, h);
    m.run(0.1);
    EXPECT_FALSE(m.stepper->contact_samples().empty());
    const double v = m.stepper->state().v.norm();
    EXPECT_LT(m.stepper->certificate().on_way, v * h * v * h * v * h / 8 / 1.1);
    EXPECT_EQ(m.stepper->passages().steps, 0);
  }
}

// Two planar beams of 0.1 m, one of which flies through the other at 1000 m/s: inside for 0.2 ms of a step of 0.1 s,
// at its end they are 50 m apart.
TEST(StepPassage, CompliantBeamsThatCrossWithinAStepOfASmoothMotionTouch) {
  for (const char* touch : {"points", "lines", "automatic"})
    for (const double angle : {0.0, 0.3}) {
      // Lines alone leave a corner to itself.
      if (angle > 0 && std::string(touch) == "lines") continue;
      const std::string beam =
          "type: beam, planar: true, element: ancf-beam, elements: 2, to: [1, 0], section: {rectangle: [0.1, 0.2]}, "
          "material: {density: 1000, young: 1e5, poisson: 0.3}";
      const auto system = System::compile(load_model_text(
          fmt::format("clatter: 1\nbodies:\n  upper: {{{0}, position: [0.2, 50], orientation: {1}, velocity: [0, "
                      "-1000]}}\n  lower: {{{0}}}\ncontacts: {{press: {{between: [upper, lower], law: {{type: linear, "
                      "stiffness: 1e4}}, beams: {{touch: {2}, line_stiffness: 3e6}}}}}}\nsimulate: {{method: smooth, "
                      "end: 0.1}}\n",
                      beam, angle, touch),
          "beams.yaml"));
      const auto contacts = ContactSystem::compile(system, true);
      Engine engine(system);
      IntegratorSettings settings;
      settings.scheme = Scheme::radau5;
      settings.step = 0.1;
      EventDriven stepper(contacts, engine, settings);
      stepper.start(system->initial);
      std::string name;
      while (stepper.state().t < 0.1 && name.empty()) {
        stepper.step(0.1);
        if (!stepper.fired_names().empty()) name = stepper.fired_names().front();
      }
      ASSERT_FALSE(name.empty()) << touch << " " << angle;
      EXPECT_NE(name.find("press"), name.npos) << name;
      EXPECT_NE(name.find("contact begins"), name.npos) << name;
      // The lower corner of the upper beam: half its height below its axis, which begins at its position.
      const double lowest = 50 - 0.05 * std::cos(angle);
      EXPECT_NEAR(stepper.state().t, (lowest - 0.05) / 1000, 1e-9) << touch << " " << angle;
    }
}

}  // namespace
}  // namespace clatter::contact
