// Boxes that stand exactly on each other: corners on corners and edges, where rounding must not decide.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "contact/event_driven.hpp"
#include "model/load.hpp"

namespace clatter::contact {
namespace {

struct Stack {
  int cubes = 4;
  double size = 0.25;
  bool planar = true;
  double shift = 0;    // of every second cube
  double turn = 0;     // of each cube about the vertical against the one below, degrees
  double incline = 0;  // degrees
  std::string coordinates = "joint";
};

std::string model(const Stack& s) {
  const double gx = 9.81 * std::sin(s.incline * std::numbers::pi / 180),
               g = 9.81 * std::cos(s.incline * std::numbers::pi / 180);
  std::string text = "clatter: 1\n";
  text += s.planar ? fmt::format("gravity: [{:.17g}, {:.17g}]\n", gx, -g)
                   : fmt::format("gravity: [{:.17g}, 0, {:.17g}]\n", gx, -g);
  text += fmt::format("coordinates: {}\nbodies:\n", s.coordinates);
  for (int i = 0; i < s.cubes; ++i) {
    const double x = i % 2 == 1 ? s.shift : 0, height = s.size / 2 + i * s.size;
    text +=
        fmt::format("  cube{0}: {{{1}mass: 1, shape: {{box: [{3}, {3}, {3}]}}, position: {2}}}\n", i + 1,
                    s.planar ? "type: planar, " : "",
                    s.planar ? fmt::format("[{:.17g}, {:.17g}]", x, height)
                             : fmt::format("[{:.17g}, 0, {:.17g}], orientation: {:.17g} deg", x, height, i * s.turn),
                    s.size);
  }
  text += fmt::format("shapes:\n  floor: {{on: ground, type: {}}}\ncontacts:\n", s.planar ? "line" : "plane");
  for (int i = 0; i < s.cubes; ++i)
    text += fmt::format("  under{0}: {{between: [cube{0}, {1}], law: {{type: rigid, friction: 0.5}}}}\n", i + 1,
                        i == 0 ? std::string("floor") : fmt::format("cube{}", i));
  return text + "simulate: {end: 1}\n";
}

// Ten seconds: nothing happens and nothing moves (by 1e-9 of the size: what sticks is held by its velocity, which is
// zero to rounding), in steps that get long.
void stays(const Stack& stack, int most_steps = 60) {
  const std::string text = model(stack);
  const auto system = System::compile(load_model_text(text, "stack.yaml"));
  const auto contacts = ContactSystem::compile(system);
  Engine engine(system);
  IntegratorSettings settings;
  settings.relative_tolerance = 1e-8;
  EventDriven stepper(contacts, engine, settings);
  stepper.start(system->initial);
  const std::size_t active = stepper.active().size();
  int steps = 0;
  for (; stepper.state().t < 10; ++steps) {
    ASSERT_LT(steps, most_steps) << text;
    const StepReport& report = stepper.step(10);
    std::string names;
    for (const std::string& name : stepper.fired_names()) names += name + ", ";
    ASSERT_FALSE(report.at_event) << names << " at " << report.t << "\n" << text;
  }
  EXPECT_EQ(stepper.active().size(), active);
  Vec moved(engine.sizes().nv);
  engine.minus(stepper.state().q, system->initial.q, moved);
  EXPECT_LT(moved.lpNorm<Eigen::Infinity>(), 1e-9 * std::max(1.0, stack.size)) << text;
  const Vec& lambda = stepper.lambda();
  double under_all = 0, under_top = 0;
  for (std::size_t i = 0; i < stepper.active().size(); ++i) {
    const double r = stepper.contact_dynamics().force(static_cast<int>(i), lambda)[0];
    const std::string name = contacts->slot_name(stepper.active()[i].slot);
    if (name.starts_with("under1[")) under_all += r;
    if (name.starts_with(fmt::format("under{}[", stack.cubes))) under_top += r;
  }
  const double weight = 9.81 * std::cos(stack.incline * std::numbers::pi / 180);
  EXPECT_NEAR(under_all, stack.cubes * weight, 1e-8 * weight * stack.cubes) << text;
  EXPECT_NEAR(under_top, weight, 1e-8 * weight) << text;
}

TEST(AlignedStack, OfSquaresStandsWhateverItsSize) {
  for (const int cubes : {2, 4, 10})
    for (const double size : {0.1, 0.2, 0.25, 0.3, 1.0, 1e-3})
      for (const char* coordinates : {"joint", "absolute"}) {
        Stack s;
        s.cubes = cubes;
        s.size = size;
        s.coordinates = coordinates;
        stays(s);
      }
}

TEST(AlignedStack, OfSquaresStandsHoweverNearlyAligned) {
  for (const double shift : {1e-16, 1e-13, 1e-11, 1e-10, 1e-9, 1e-8, 1e-6, 1e-3}) {
    Stack s;
    s.shift = shift;
    stays(s);
  }
}

TEST(AlignedStack, OfSquaresStandsOnAnInclineThatFrictionHolds) {
  for (const double incline : {1.0, 5.0}) {
    Stack s;
    s.cubes = 4;
    s.incline = incline;
    stays(s);
  }
}

TEST(AlignedStack, OfCubesStandsWhateverItsSize) {
  for (const double size : {0.1, 0.2, 0.25, 1.0, 1e-3})
    for (const char* coordinates : {"joint", "absolute"}) {
      Stack s;
      s.planar = false;
      s.size = size;
      s.coordinates = coordinates;
      stays(s);
    }
}

TEST(AlignedStack, OfTenCubesStands) {
  Stack s;
  s.planar = false;
  s.cubes = 10;
  stays(s);
}

TEST(AlignedStack, OfCubesStandsHoweverNearlyAlignedOrTurned) {
  Stack s;
  s.planar = false;
  s.cubes = 3;
  for (const double shift : {1e-16, 1e-12, 1e-10, 1e-9, 1e-8, 1e-6, 1e-3}) {
    s.shift = shift;
    stays(s);
  }
  s.shift = 0;
  for (const double turn : {1e-14, 1e-9, 1e-7, 1e-5, 1e-3, 0.1, 10.0, 45.0}) {
    s.turn = turn;
    stays(s);
  }
  s.turn = 0;
  s.incline = 5;
  stays(s);
}

// On 20 degrees four cubes tip over: slip that begins from nothing seems to stop again on the dense output, by what
// that is off, and corners seem to touch that no repeated step shows. Each of these once cost hundreds of repeated
// steps, again and again (the first at 0.68 s). What one moment may take is now a few attempts; 0.75 s take about 150
// steps.
TEST(AlignedStack, OfCubesThatTipsOverOnAnInclineTakesFewStepsAndLosesNoEnergyUnseen) {
  for (const double friction : {0.5, 0.8}) {
    std::string text = model({.planar = false, .incline = 20});
    for (std::size_t at = text.find("friction: 0.5"); at != text.npos; at = text.find("friction: 0.5", at + 1))
      if (friction != 0.5) text.replace(at, 13, fmt::format("friction: {}", friction));
    const auto system = System::compile(load_model_text(text, "stack.yaml"));
    Engine engine(system);
    IntegratorSettings settings;
    settings.relative_tolerance = 1e-8;
    EventDriven stepper(ContactSystem::compile(system), engine, settings);
    stepper.start(system->initial);
    int steps = 0;
    for (; stepper.state().t < 0.69; ++steps) {
      ASSERT_LT(steps, 1000) << friction << " at " << stepper.state().t;
      stepper.step(0.69);
    }
    const double energy = stepper.contact_dynamics().stored_energy(stepper.state()) -
                          stepper.contact_dynamics().stored_energy(system->initial);
    // The tolerance of each of some fifty steps, of the 10 J that four cubes weigh along their size.
    EXPECT_NEAR(energy - stepper.work().sum(), 0, 50 * 1e-8 * 10) << friction;
  }
}

}  // namespace
}  // namespace clatter::contact
