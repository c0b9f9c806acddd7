// Beams and cables in model files: what is read, and what is said about mistakes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "model/beam.hpp"
#include "model/load.hpp"

namespace clatter {
namespace {

std::string with(const std::string& beam, const std::string& rest = "") {
  return "clatter: 1\ntitle: beam\nbodies:\n  one: {type: beam, " + beam + "}\n" + rest;
}
const std::string cable = "planar: true, element: ancf-cable, elements: 4, to: [2 m, 0]";
const std::string section = ", section: {circle: 10 mm}, material: {density: 1000, young: 1e9, poisson: 0.25}";

// The first message of a model that cannot be read.
std::string complaint(const std::string& text) {
  try {
    load_model_text(text, "m");
  } catch (const InputError& e) {
    const Diagnostic& d = e.diagnostics().front();
    return fmt::format("{}:{} {}{}{}", d.source.line, d.source.column, d.message, d.hint.empty() ? "" : " / ", d.hint);
  }
  return "none";
}

TEST(BeamLoading, TakesSectionAndMaterial) {
  const Model m = load_model_text(with(cable + section + ", damping: {beta: 2 ms}, points: {third: 1/3}"), "m");
  const Body& b = m.bodies[0];
  ASSERT_TRUE(b.beam);
  EXPECT_EQ(b.kind, BodyKind::planar_beam);
  const double A = M_PI * 25e-6, I = M_PI * 625e-12 / 4;
  EXPECT_NEAR(b.beam->EA, 1e9 * A, 1e-9 * 1e9 * A);
  EXPECT_NEAR(b.beam->EIz, 1e9 * I, 1e-9 * 1e9 * I);
  EXPECT_NEAR(b.beam->rhoA, 1000 * A, 1e-12);
  EXPECT_EQ(b.beam->damping, 2e-3);
  ASSERT_EQ(b.beam->nodes.size(), 5u);
  EXPECT_EQ(b.beam->lengths, std::vector<double>(4, 0.5));
  ASSERT_EQ(b.frames.size(), 3u);
  EXPECT_EQ(b.frames[0].name, "start");
  EXPECT_EQ(b.frames[2].name, "third");
  EXPECT_NEAR(b.frames[2].placement.position.x(), 2.0 / 3, 1e-15);
}

TEST(BeamLoading, TakesTheNumbersOfASection) {
  const Model m = load_model_text(with("element: ancf-beam, elements: 2, to: [0, 0, 3], section_stiffness: {axial: 10, "
                                       "shear: [4, 5], bending: [6, 7], "
                                       "torsion: 8}, section_inertia: {mass: 2, rotary: [0.1, 0.2]}"),
                                  "m");
  const BeamSource& s = *m.bodies[0].beam;
  EXPECT_FALSE(s.planar);
  EXPECT_EQ(s.GAy, 4);
  EXPECT_EQ(s.GAz, 5);
  EXPECT_EQ(s.EIy, 6);
  EXPECT_EQ(s.EIz, 7);
  EXPECT_EQ(s.GJ, 8);
  EXPECT_EQ(s.rhoIz, 0.2);
  EXPECT_EQ(s.nodes.size(), 5u);
  // x along the axis
  EXPECT_NEAR((s.nodes[1].rotation * Vec3::UnitX() - Vec3::UnitZ()).norm(), 0, 1e-15);
}

// A quarter of a circle: equal arcs, tangents along it, and the place in the middle of an element inside of it by R
// (arc/R)^4/384 = 3.9e-4 m, as cubic polynomials have it.
TEST(BeamLoading, FollowsACurve) {
  const Model m =
      load_model_text(with("planar: true, element: ancf-cable, elements: 3, curve: {x: 2 m * sin(s), y: 2 m - 2 m * "
                           "cos(s), from: 0, to: pi/2}" +
                           section),
                      "m");
  const BeamSource& s = *m.bodies[0].beam;
  for (const double length : s.lengths) EXPECT_NEAR(length, M_PI / 3, 1e-12);
  EXPECT_NEAR((s.nodes[3].rotation * Vec3::UnitX() - Vec3::UnitY()).norm(), 0, 1e-12);
  EXPECT_NEAR((s.at(0.5).position - Vec3(0, 2, 0)).norm(), 2 - 2 * std::pow(M_PI / 6, 4) / 384, 1e-5);
}

TEST(BeamLoading, TellsWhatIsWrong) {
  EXPECT_EQ(complaint(with("planar: true, element: ancf-cabel, elements: 4, to: [2, 0]" + section)),
            "4:44 `ancf-cabel` is not a valid `element` of body `one` / did you mean `ancf-cable`?");
  EXPECT_NE(
      complaint(with("planar: true, element: ancf-cable, elements: 4, to: [0, 0]" + section)).find("has no length"),
      std::string::npos);
  EXPECT_NE(complaint(with(cable + ", section: {rectangle: [1 mm, 0]}, material: {density: 1, young: 1}"))
                .find("both numbers of `rectangle` of the section of body `one` must be positive"),
            std::string::npos);
  EXPECT_NE(complaint(with(cable)).find("section"), std::string::npos);
  EXPECT_NE(complaint(with(cable + section + ", points: {far: 1.5}")).find("a number from 0 (start) to 1 (end)"),
            std::string::npos);
  EXPECT_NE(complaint(with(cable + section + ", points: {side: {at: 0.5, y: 1 mm}}")).find("no section vectors"),
            std::string::npos);
  EXPECT_NE(complaint(with(cable + section + ", points: {end: 0.5}")).find("`end` cannot name a point"),
            std::string::npos);
  EXPECT_NE(complaint(with(cable + section + ", frames: {a: [0, 0]}")).find("its `points`"), std::string::npos);
  EXPECT_NE(complaint(with(cable + section + ", damping: 0.02")).find("`beta`, a time"), std::string::npos);
  EXPECT_NE(
      complaint(with(cable + section + ", elastic_forces: continuum")).find("planar beams of `element: ancf-beam`"),
      std::string::npos);
  EXPECT_NE(complaint(with(cable + section + ", mass: 1 kg")).find("`mass` has no meaning"), std::string::npos);
  EXPECT_NE(
      complaint(with("element: ancf-cable, elements: 4, to: [2, 0, 0], section: {rectangle: [1 mm, 2 mm]}, material: "
                     "{density: 1, young: 1}"))
          .find("must bend alike"),
      std::string::npos);
  EXPECT_NE(complaint(with("planar: true, element: ancf-cable, elements: 4, to: [2, 0, 1]" + section))
                .find("leaves the x-y plane"),
            std::string::npos);
  EXPECT_NE(
      complaint(with(cable + section, "joints:\n  j: {type: revolute, between: [ground, one.strat]}\n")).find("strat"),
      std::string::npos);
  // Two points of a beam may be tied, a point to itself not.
  EXPECT_EQ(
      complaint(with(cable + section,
                     "forces:\n  f: {type: spring-damper, between: [one.start, one.end], stiffness: 1, length: 1}\n")),
      "none");
  EXPECT_NE(complaint(with(cable + section,
                           "forces:\n  f: {type: spring-damper, between: [one.end, one.end], stiffness: 1}\n"))
                .find("to itself"),
            std::string::npos);
}

TEST(BeamLoading, TakesPressuresOnItsSides) {
  const std::string flat =
      "planar: true, element: ancf-beam, elements: 2, to: [2 m, 0], section: {rectangle: [0.1, 0.2]}, "
      "material: {density: 1000, young: 1e9, poisson: 0.25}";
  const auto pressed = [&](const std::string& keys) {
    return with(flat, "forces:\n  f: {type: pressure" + keys + "}\n");
  };
  const Model m = load_model_text(pressed(", on: one, side: above, pressure: 3 kPa * t/(1 s)"), "m");
  ASSERT_EQ(m.bodies[0].beam->pressures.size(), 1u);
  EXPECT_EQ(m.bodies[0].beam->pressures[0].name, "f");
  EXPECT_TRUE(m.bodies[0].beam->pressures[0].above);
  EXPECT_EQ(complaint(pressed(", on: one, side: above")),
            "6:6 `pressure` is missing in force `f` / a number or a function of t");
  EXPECT_EQ(complaint(pressed(", on: one, pressure: 1")), "6:6 `side` is missing in force `f` / `below` or `above`");
  EXPECT_EQ(complaint(pressed(", on: one, side: above, pressure: 1 N")), "6:55 expected a pressure, got a force (1 N)");
  EXPECT_EQ(complaint(pressed(", on: one.end, side: above, pressure: 1")),
            "6:23 force `f` acts on a side of a planar beam of `element: ancf-beam`, and `one.end` is none");
  EXPECT_EQ(complaint(with(cable + section, "forces:\n  f: {type: pressure, on: one, side: above, pressure: 1}\n")),
            "6:23 force `f` acts on a side of a planar beam of `element: ancf-beam`, and `one` is none");
}

}  // namespace
}  // namespace clatter
