// Joints with play: what they expand to, and a motion that hand-written contacts repeat.
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.hpp"
#include "contact/event_driven.hpp"
#include "model/load.hpp"

namespace clatter::contact {
namespace {

State run(const std::string& text, double t) {
  const auto system = System::compile(load_model_text("clatter: 1\n" + text, "play.yaml"));
  Engine engine(system);
  IntegratorSettings settings;
  settings.scheme = Scheme::dopri5;
  settings.relative_tolerance = settings.absolute_tolerance = 1e-10;
  EventDriven stepper(ContactSystem::compile(system), engine, settings);
  stepper.start(system->initial);
  while (stepper.state().t < t) stepper.step(t);
  return stepper.state();
}

// A pin in a hole is a circle in a hollow circle.
TEST(Play, OfAPinIsACircleInAHole) {
  const std::string bodies = R"(
gravity: [0, -9.81, 0]
bodies: {rod: {type: planar, mass: 1, inertia: 0.02, position: [0.2, 0]}}
)";
  const State joint = run(bodies + R"(
joints: {pin: {type: revolute, between: [ground, rod], at: [0, 0], play: {clearance: 1 mm, radius: 1 cm, law: {type: rigid, restitution: 0.3, friction: 0.2}}}}
)",
                          0.6);
  const State contact = run(bodies + R"(
shapes: {bolt: {on: rod, at: [-0.2, 0], type: circle, radius: 1 cm}, hole: {on: ground, type: circle, radius: 11 mm, hollow: true}}
contacts: {pin: {between: [bolt, hole], law: {type: rigid, restitution: 0.3, friction: 0.2}}}
)",
                            0.6);
  // Length scales differ by the joint, and with them event tolerances of 1e-9.
  EXPECT_LT((joint.q - contact.q).norm(), 1e-7);
  EXPECT_LT((joint.v - contact.v).norm(), 1e-6);
  // The pin's centre stays within the clearance.
  const double x = joint.q[0] - 0.2 * std::cos(joint.q[2]), y = joint.q[1] - 0.2 * std::sin(joint.q[2]);
  EXPECT_LT(std::hypot(x, y), 1e-3 * (1 + 1e-6));
}

// A block pushed off its axis in a guide inclined by 30 degrees tilts until two opposite corners touch: then
// h cos(phi) + l sin(phi) = h + 2 c. It rests so, held by friction: tan(30 deg) < 0.6 without even the tilting moment.
TEST(Play, OfABlockInAGuideLetsItTiltByTheClearance) {
  const State s = run(R"(
gravity: [0, -9.81, 0]
bodies: {block: {type: planar, mass: 1, inertia: 0.01, position: [0, 0], orientation: 30 deg, frames: {arm: [0, 0.2]}}}
joints: {guide: {type: prismatic, between: [ground, block], at: [0, 0], axis: [0.8660254037844386, 0.5], play: {clearance: 0.5 mm, length: 10 cm, height: 4 cm, law: {type: rigid, friction: 0.9}}}}
forces: {push: {type: force, on: block.arm, components: [-30, -18]}}
)",
                      1.5);
  const double phi = std::abs(s.q[2] - M_PI / 6);
  EXPECT_NEAR(0.04 * std::cos(phi) + 0.1 * std::sin(phi), 0.041, 1e-9);
  EXPECT_LT(s.v.norm(), 1e-9);
}

TEST(Play, ThatMakesNoSenseIsRefusedWithItsPlace) {
  const auto message = [](const std::string& joint) {
    try {
      load_model_text(
          "clatter: 1\nbodies: {rod: {type: planar, mass: 1, inertia: 1, position: [0, 0]}}\njoints:\n  pin: " + joint +
              "\n",
          "play.yaml");
    } catch (const InputError& e) {
      return std::string(e.what());
    }
    return std::string("accepted");
  };
  const std::string law = "law: {type: rigid}";
  EXPECT_NE(message("{type: revolute, between: [ground, rod], play: {clearance: 1 mm, " + law + "}}")
                .find("`radius` is missing"),
            std::string::npos);
  EXPECT_NE(message("{type: revolute, between: [ground, rod], play: {clearance: -1 mm, radius: 1 cm, " + law + "}}")
                .find("must be positive"),
            std::string::npos);
  EXPECT_NE(message("{type: revolute, between: [ground, rod], drive: 1*t, play: {clearance: 1 mm, radius: 1 cm, " +
                    law + "}}")
                .find("has no `drive`"),
            std::string::npos);
  EXPECT_NE(message("{type: fixed, between: [ground, rod], play: {clearance: 1 mm, radius: 1 cm, " + law + "}}")
                .find("`play` has no meaning"),
            std::string::npos);
}

}  // namespace
}  // namespace clatter::contact
