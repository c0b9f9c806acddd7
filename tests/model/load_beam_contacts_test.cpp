// Contacts between beams as they are written: what is understood, and what is said of mistakes.
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "model/load.hpp"

namespace clatter {
namespace {

std::string beams(const std::string& contact, const std::string& upper = "", const std::string& simulate = "") {
  const std::string common = ", element: ancf-beam, elements: 2, material: {density: 1000, young: 1e7, poisson: 0.3}";
  return "clatter: 1\nbodies:\n  upper: {type: beam" + common + ", to: [1, 0], " +
         (upper.empty() ? "planar: true, section: {rectangle: [0.1, 0.2]}" : upper) + "}\n  lower: {type: beam" +
         common +
         ", to: [1, 0], position: [0, -0.2], planar: true, section: {rectangle: [0.1, 0.2]}}\n"
         "  block: {mass: 1, shape: {box: [1, 1, 1]}, position: [0, 0, 5]}\ncontacts:\n  slap: " +
         contact + "\n" + simulate;
}

std::string mistake(const std::string& text) {
  try {
    load_model_text(text, "beams.yaml");
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

void expect_mistake(const std::string& text, const std::string& part) {
  const std::string said = mistake(text);
  EXPECT_NE(said.find(part), std::string::npos) << "said: " << said;
  EXPECT_NE(said.find("beams.yaml:"), std::string::npos) << "without a place: " << said;
}

TEST(BeamContacts, AreReadWithWhatTheyLeaveOut) {
  const Model rigid = load_model_text(beams("{between: [upper, lower], law: {type: rigid}}"), "beams");
  ASSERT_EQ(rigid.contacts.size(), 1u);
  ASSERT_TRUE(rigid.contacts[0].beams);
  EXPECT_EQ(rigid.contacts[0].beams->first, 0);
  EXPECT_EQ(rigid.contacts[0].beams->second, 1);
  EXPECT_EQ(rigid.contacts[0].beams->gauss, 3);
  const Model soft = load_model_text(beams("{within: lower, law: {type: linear, stiffness: 1e5}, beams: {segments: 2, "
                                           "touch: lines, line_stiffness: 1e6, "
                                           "least_angle: 5 deg}}"),
                                     "beams");
  const BeamTouching& t = *soft.contacts[0].beams;
  EXPECT_EQ(t.first, 1);
  EXPECT_EQ(t.second, 1);
  EXPECT_EQ(t.segments, 2);
  EXPECT_EQ(t.gauss, 4);
  EXPECT_EQ(t.way, BeamTouching::Way::lines);
  EXPECT_DOUBLE_EQ(t.line_stiffness, 1e6);
  EXPECT_NEAR(t.least_angle, 5 * M_PI / 180, 1e-15);
}

TEST(BeamContacts, SayWhatIsWrong) {
  const std::string rigid = ", law: {type: rigid}";
  expect_mistake(beams("{within: block" + rigid + "}"), "`within` takes a body of type beam");
  expect_mistake(beams("{within: lowr" + rigid + "}"), "lower");
  expect_mistake(beams("{between: [lower, lower]" + rigid + "}"), "within: lower");
  expect_mistake(beams("{between: [upper, lower]" + rigid + "}", "section: {circle: 0.1}"), "they cannot touch");
  expect_mistake(
      beams("{between: [upper, lower]" + rigid + "}",
            "planar: true, section_stiffness: {axial: 1e4, shear: 1e4, bending: 10}, section_inertia: {mass: "
            "1, rotary: 1}"),
      "no size to touch with");
  expect_mistake(beams("{within: upper" + rigid + "}", "section: {rectangle: [0.1, 0.2]}"), "as round ones");
  expect_mistake(beams("{between: [upper, lower]" + rigid + ", beams: {gauss: 11}}"), "whole number from 1 to 10");
  expect_mistake(beams("{between: [upper, lower]" + rigid + ", beams: {line_stiffness: 1e6}}"), "no stiffness");
  expect_mistake(beams("{between: [upper, lower]" + rigid + ", beams: {multiplier: patch}}"), "segment");
  const std::string soft = ", law: {type: linear, stiffness: 1e5}";
  expect_mistake(beams("{between: [upper, lower]" + soft + ", beams: {multiplier: segment}}"), "at every point");
  EXPECT_EQ(mistake(beams("{between: [upper, lower]" + soft + ", beams: {multiplier: point}}")), "");
  expect_mistake(beams("{between: [upper, block]" + rigid + ", beams: {gauss: 2}}"), "`beams` belongs to");
  EXPECT_EQ(mistake(beams("{between: [upper, lower]" + rigid + "}", "",
                          "simulate: {method: time-stepping, contact_solver: sweeps, step: 1 ms, end: 1 s}\n")),
            "");
}

}  // namespace
}  // namespace clatter
