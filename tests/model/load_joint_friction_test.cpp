// Friction and play of joints in the model language: what is read, and mistakes reported at their places.
#include <gtest/gtest.h>

#include <string>

#include "base/error.hpp"
#include "model/expression.hpp"
#include "model/load.hpp"

namespace clatter {
namespace {

const std::string kBodies = R"(clatter: 1
bodies:
  arm: {type: planar, mass: 1, inertia: 1, position: [0, 0]}
  box: {mass: 1, inertia: [1, 1, 1], position: [0, 0, 0]}
  dot: {type: planar-particle, mass: 1, position: [0, 0]}
joints:
)";

Model load(const std::string& joint) { return load_model_text(kBodies + "  j: " + joint + "\n", "m.yaml"); }

TEST(JointFrictionLanguage, ReadsLimitsCoefficientsAndSizes) {
  const Model m = load(
      "{type: revolute, between: [ground, box], at: [0, 0, 0], axis: x, friction: {torque: 2 N*m, coefficient: "
      "{static: 0.4, kinetic: 0.2, velocity: 1 cm/s}, radius: 10 mm, collar_radius: 15 mm, length: 5 cm, velocity: 1 "
      "mm/s}}");
  ASSERT_TRUE(m.joints[0].friction);
  const JointFriction& f = *m.joints[0].friction;
  EXPECT_EQ(f.torque.mu, 2);
  EXPECT_EQ(f.coefficient.mu, 0.4);
  ASSERT_TRUE(f.coefficient.curve);
  const double fast[] = {1.0};
  EXPECT_NEAR(f.coefficient.curve->value(fast), 0.2, 1e-12);
  EXPECT_EQ(f.radius, 0.01);
  EXPECT_EQ(f.collar_radius, 0.015);
  EXPECT_EQ(f.length, 0.05);
  EXPECT_EQ(f.velocity, 1e-3);
  // Friction cannot be integrated by a smooth method alone.
  EXPECT_EQ(m.simulate.method, Method::event_driven);
}

TEST(JointFrictionLanguage, TakesAFormulaOfTheRate) {
  const Model m =
      load("{type: prismatic, between: [ground, arm], at: [0, 0], axis: x, friction: {force: 3 + 2*exp(-v/0.1)}}");
  ASSERT_TRUE(m.joints[0].friction->force.curve);
  EXPECT_EQ(m.joints[0].friction->force.mu, 5);
}

struct Expected {
  const char* name;
  const char* joint;
  int column;  // in line 7
  const char* message;
  const char* hint;
};
void PrintTo(const Expected& e, std::ostream* out) { *out << e.name; }

struct JointFrictionMistake : testing::TestWithParam<Expected> {};

TEST_P(JointFrictionMistake, IsReportedAtItsPlace) {
  const Expected& e = GetParam();
  try {
    load(e.joint);
    FAIL() << "was accepted";
  } catch (const InputError& error) {
    // A misspelt key may be missed under its right name too; the last word is about the key.
    const Diagnostic& d = error.diagnostics().back();
    EXPECT_EQ(d.source.line, 7) << error.what();
    EXPECT_EQ(d.source.column, e.column) << error.what();
    EXPECT_EQ(d.message, e.message);
    EXPECT_EQ(d.hint, e.hint);
  }
}

#define PIN "{type: revolute, between: [ground, arm], "
#define RAIL "{type: prismatic, between: [ground, arm], axis: x, "

INSTANTIATE_TEST_SUITE_P(
    Friction, JointFrictionMistake,
    testing::Values(
        Expected{"Fixed", "{type: fixed, between: [ground, arm], friction: {torque: 1}}", 44,
                 "`friction` has no meaning for joint `j` of type `fixed`",
                 "`friction` belongs to: revolute prismatic cylindrical universal planar screw point-on-curve"},
        Expected{"Negative", PIN "friction: {coefficient: -0.1, radius: 1}}", 71,
                 "`coefficient` of the friction of joint `j` cannot be negative, this is -0.1", ""},
        Expected{"NoRadius", PIN "friction: {coefficient: 0.1}}", 57,
                 "`radius` is missing in the friction of joint `j`", "of the bearing, the lever arm of its friction"},
        Expected{"NoLimit", PIN "friction: {velocity: 1}}", 57, "the friction of joint `j` has no limit",
                 "give `torque`, or `coefficient` and `radius`"},
        Expected{"ForceOfAnAngle", PIN "friction: {force: 3}}", 58,
                 "`force` has no meaning for the friction of a `revolute` joint",
                 "an angle is held back by a `torque`"},
        Expected{"TorqueOfADisplacement", RAIL "friction: {torque: 3}}", 68,
                 "`torque` has no meaning for the friction of a `prismatic` joint",
                 "a displacement is held back by a `force`"},
        Expected{"NoCoefficient", RAIL "friction: {force: 3, length: 1}}", 78, "`length` belongs to a `coefficient`",
                 ""},
        Expected{"WrongUnit", PIN "friction: {torque: 3 N}}", 66, "expected a torque or energy, got a force (3 N)", ""},
        Expected{"UnknownKey", PIN "friction: {torgue: 3}}", 58, "unknown key `torgue` in the friction of joint `j`",
                 "did you mean `torque`?"},
        Expected{"Driven", PIN "drive: 1*t, friction: {torque: 3}}", 59,
                 "`angle` of joint `j` is driven and cannot have friction",
                 "friction belongs to components that move freely; drive the joint by a torque or force instead"},
        Expected{"Particle", "{type: revolute, between: [ground, dot], friction: {torque: 3}}", 47,
                 "joint `j` joins a particle, which does not turn", ""},
        Expected{"Circle",
                 "{type: point-on-curve, between: [ground, arm], curve: {circle: 1}, friction: {coefficient: 0.1}}", 73,
                 "only a point on a line has friction, not one on another curve",
                 "use `shapes` and a contact, or `curve: {line: true}`"}),
    [](const auto& which) { return which.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Play, JointFrictionMistake,
    testing::Values(
        Expected{"PlayNoRadius", PIN "play: {clearance: 1, law: {type: rigid}}}", 53,
                 "`radius` is missing in the play of joint `j`", "of the pin"},
        Expected{"PlayNegative", PIN "play: {clearance: -1, radius: 1, law: {type: rigid}}}", 65,
                 "`clearance` of the play of joint `j` must be positive, this is -1", ""},
        Expected{"PlayOfABox",
                 "{type: revolute, between: [ground, box], play: {clearance: 1, radius: 1, law: {type: rigid}}}", 47,
                 "joint `j` joins spatial bodies: play is for planar ones",
                 "put shapes on the bodies and contacts between them"},
        Expected{"PlayAndFriction", PIN "friction: {torque: 1}, play: {clearance: 1, radius: 1, law: {type: rigid}}}",
                 47, "a joint with play has no `friction`", "give friction in the law of its play"},
        Expected{"PlayOfABlockHasNoRadius",
                 RAIL "play: {clearance: 1, radius: 1, length: 1, height: 1, law: {type: rigid}}}", 78,
                 "`radius` has no meaning for the play of a `prismatic` joint",
                 "a block has a `length` and a `height`"}),
    [](const auto& which) { return which.param.name; });

}  // namespace
}  // namespace clatter
