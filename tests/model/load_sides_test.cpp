// The sides of beams in contacts: what a beam's name, or a shape of type `sides`, stands for.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "base/error.hpp"
#include "laws/table.hpp"
#include "model/beam.hpp"
#include "model/load.hpp"

namespace clatter {
namespace {

// A planar beam of two elements, 2 m long, 0.1 m high and 0.3 m wide; a planar cable; a spatial beam; floors.
Model load(const std::string& rest) {
  const std::string material = "material: {density: 1000, young: 1e9, poisson: 0.25}";
  return load_model_text(
      "clatter: 1\nbodies:\n"
      "  beam: {type: beam, planar: true, element: ancf-beam, elements: 2, to: [2, 0], section: {rectangle: [0.1, "
      "0.3]}, " +
          material +
          "}\n"
          "  cable: {type: beam, planar: true, element: ancf-cable, elements: 2, to: [2, 0], section: {circle: 0.1}, " +
          material +
          "}\n"
          "  bar: {type: beam, element: ancf-beam, elements: 1, to: [2, 0, 0], section: {rectangle: [0.1, 0.04]}, " +
          material +
          "}\n"
          "  thin: {type: beam, planar: true, element: ancf-beam, elements: 1, to: [1, 0], "
          "section_stiffness: {axial: 1, shear: 1, bending: 1}, section_inertia: {mass: 1, rotary: 1}}\n"
          "  ball: {type: planar, mass: 1, inertia: 1, position: [0, 1]}\n" +
          rest,
      "m");
}

std::string complaint(const std::string& rest) {
  try {
    load(rest);
  } catch (const InputError& e) {
    const Diagnostic& d = e.diagnostics().front();
    return fmt::format("{}:{} {}{}{}", d.source.line, d.source.column, d.message, d.hint.empty() ? "" : " / ", d.hint);
  }
  return "none";
}

std::string touch(const std::string& shape, const std::string& between, const std::string& law = "{type: rigid}") {
  return "shapes:\n  skin: {" + shape + "}\n  floor: {on: ground, type: line}\n  table: {on: ground, type: plane}\n" +
         "contacts:\n  touch: {between: " + between + ", law: " + law + "}\n";
}
const std::string floor_only =
    "shapes: {floor: {on: ground, type: line}, table: {on: ground, type: plane}}\ncontacts:\n  touch: ";

TEST(BeamSides, ArePointsOfTheSectionAndShareTheEndsOfElements) {
  const Model m = load(touch("on: beam, type: sides, per_element: 11, side: below", "[skin, floor]"));
  ASSERT_EQ(m.contacts.size(), 21u);  // T-10: 2 x 11, the middle once
  const BeamSource& beam = *m.bodies[0].beam;
  EXPECT_EQ(beam.points.size(), 23u);  // and its two ends
  double shares = 0;
  for (int i = 0; i < 21; ++i) {
    const Contact& c = m.contacts[static_cast<std::size_t>(i)];
    EXPECT_EQ(c.group, "touch");
    EXPECT_EQ(c.name, fmt::format("touch.skin[{}].floor", i + 1));
    const ContactShape& s = m.shapes[static_cast<std::size_t>(c.first)];
    EXPECT_EQ(s.kind, ContactShape::Kind::circle);
    EXPECT_EQ(s.radius, 0);
    EXPECT_EQ(s.at.marker, s.name);
    EXPECT_NEAR((s.at.placement.position - Vec3(0.1 * i, -0.05, 0)).norm(), 0, 1e-15);
    EXPECT_NEAR(s.share, i == 0 || i == 20 ? 0.05 : 0.1, 1e-15);
    shares += s.share;
  }
  EXPECT_NEAR(shares, 2, 1e-14);
  EXPECT_EQ(m.bodies[0].frames.size(), 2u);  // no frames to output: contacts tell of the points
}

TEST(BeamSides, HaveNamesBySide) {
  const Model m = load(touch("on: beam, type: sides, per_element: 2", "[floor, skin]"));
  ASSERT_EQ(m.contacts.size(), 6u);
  EXPECT_EQ(m.contacts[0].name, "touch.floor.skin.below[1]");
  EXPECT_EQ(m.contacts[5].name, "touch.floor.skin.above[3]");
  EXPECT_NEAR(m.shapes[static_cast<std::size_t>(m.contacts[5].second)].at.placement.position.y(), 0.05, 1e-15);
}

TEST(BeamSides, AreMeantByABeamsName) {
  const Model m = load(floor_only + "{between: [beam, floor], law: {type: rigid}}\n");
  EXPECT_EQ(m.contacts.size(), 18u);  // five points an element and side
  EXPECT_EQ(m.contacts[0].name, "touch.beam.below[1].floor");
  const Model pattern = load(floor_only + "{between: [\"be*\", floor], law: {type: rigid}}\n");
  EXPECT_EQ(pattern.contacts.size(), 18u);
}

TEST(BeamSides, OfOnePointAnElementAreItsMiddles) {
  const Model m = load(touch("on: beam, type: sides, per_element: 1, side: above", "[skin, floor]"));
  ASSERT_EQ(m.contacts.size(), 2u);
  const ContactShape& s = m.shapes[static_cast<std::size_t>(m.contacts[1].first)];
  EXPECT_NEAR((s.at.placement.position - Vec3(1.5, 0.05, 0)).norm(), 0, 1e-15);
  EXPECT_EQ(s.share, 1);
}

TEST(BeamSides, OfCablesAndSpatialBeamsAreRoundAboutTheAxis) {
  const Model cable = load(touch("on: cable, type: sides, per_element: 3", "[skin, floor]"));
  ASSERT_EQ(cable.contacts.size(), 5u);
  EXPECT_EQ(cable.shapes[0].kind, ContactShape::Kind::circle);
  EXPECT_EQ(cable.shapes[0].radius, 0.05);
  EXPECT_EQ(load(touch("on: cable, type: sides, radius: 3 cm", "[skin, floor]")).shapes[0].radius, 0.03);
  const Model bar = load(floor_only + "{between: [bar, table], law: {type: rigid}}\n");
  ASSERT_EQ(bar.contacts.size(), 5u);
  const ContactShape& s = bar.shapes[static_cast<std::size_t>(bar.contacts[0].first)];
  EXPECT_EQ(s.kind, ContactShape::Kind::sphere);
  EXPECT_EQ(s.radius, 0.02);  // half the smaller extent
}

TEST(BeamSides, TellWhatIsWrong) {
  EXPECT_EQ(complaint(touch("on: beam, type: sides, per_element: 0", "[skin, floor]")),
            "9:46 `per_element` of shape `skin` is a whole number from 1 to 400, this is 0");
  EXPECT_EQ(complaint(touch("on: beam, type: sides, side: left", "[skin, floor]")),
            "9:39 `left` is not a valid `side` of shape `skin` / one of: below above both");
  EXPECT_EQ(complaint(touch("on: cable, type: sides, side: below", "[skin, floor]")),
            "9:34 cable `cable` has no section vectors: it touches around its axis / leave `side` out");
  EXPECT_EQ(complaint(touch("on: bar, type: sides, side: below", "[skin, table]")),
            "9:32 `bar` is spatial: it touches around its axis / leave `side` out");
  EXPECT_EQ(complaint(touch("on: beam, type: sides, radius: 1 cm", "[skin, floor]")),
            "9:33 the sides of `beam` are points of its section, without radius");
  EXPECT_EQ(complaint(touch("on: beam.end, type: sides", "[skin, floor]")),
            "9:10 the sides go along the whole beam, not from its point `end` / on: beam");
  EXPECT_EQ(complaint(touch("on: ball, type: sides", "[skin, floor]")),
            "9:10 `ball` is not a beam: only beams have `sides`");
  EXPECT_EQ(complaint(touch("on: beam, type: sides, at: [1, 0]", "[skin, floor]")),
            "9:33 `at` has no meaning for the sides of a beam");
  EXPECT_EQ(complaint(touch("on: thin, type: sides", "[skin, floor]")),
            "9:10 beam `thin` has no size: its `section` is not given");
  EXPECT_EQ(complaint(touch("on: beam, type: circle, side: below, radius: 1", "[skin, floor]")),
            "9:34 `side` has no meaning for shape `skin` of type `circle` / `side` belongs to: sides");
  EXPECT_EQ(complaint(floor_only + "{between: [thin, floor], law: {type: rigid}}\n"),
            "10:21 beam `thin` has no size: its `section` is not given / describe what touches under `shapes`: {on: "
            "thin, type: sides, ...}");
  EXPECT_TRUE(complaint(floor_only + "{between: [beam, table], law: {type: rigid}}\n")
                  .starts_with("10:20 `beam.below[1]` is a planar shape and `table` a spatial one: they cannot touch"));
  EXPECT_EQ(complaint(floor_only + "{between: [[beam, floor], cable], law: {type: rigid}}\n"),
            "10:20 `beam.below[1]` and `cable[1]` are points of two beams' sides, which do not meet / name the beams "
            "themselves: between: [beam1, beam2]");
}

// --- laws that take something from the shapes ------------------------------------------------------------------------

double soft(const Model& m, std::size_t i, const char* parameter) {
  return laws::parameter(std::get<CompliantContact>(m.contacts[i].law).normal, parameter);
}

TEST(BeamSides, HaveTheirShareOfALawPerLengthOrArea) {
  // T-8: half a share at the ends; the width is 0.3 m. chi of Hunt and Crossley is a factor and has no share.
  const std::string skin = "on: beam, type: sides, per_element: 11, side: below";
  const Model length =
      load(touch(skin, "[skin, floor]", "{type: hertz, stiffness: 1e6 N/m^2.5, damping: 10 N*s/m^3, per: length}"));
  EXPECT_NEAR(soft(length, 0, "stiffness"), 1e6 * 0.05, 1e-9);
  EXPECT_NEAR(soft(length, 1, "stiffness"), 1e6 * 0.1, 1e-9);
  EXPECT_NEAR(soft(length, 1, "damping"), 1, 1e-15);
  const Model area =
      load(touch(skin, "[floor, skin]", "{type: linear, stiffness: 1e6 N/m^3, damping: 5 N*s/m^3, per: area}"));
  EXPECT_NEAR(soft(area, 3, "stiffness"), 1e6 * 0.1 * 0.3, 1e-9);
  EXPECT_NEAR(soft(area, 3, "damping"), 5 * 0.1 * 0.3, 1e-15);
  const Model factor =
      load(touch(skin, "[skin, floor]", "{type: hunt-crossley, stiffness: 1e6, damping: 2 s/m, per: length}"));
  EXPECT_EQ(soft(factor, 1, "damping"), 2);
  EXPECT_EQ(complaint(touch(skin, "[skin, floor]", "{type: hertz, stiffness: 1e6 N/m^1.5, per: length}")),
            "13:65 expected a quantity in kg/(m^(1.5)*s^2), got a quantity in kg/(m^(0.5)*s^2) (1e6 N/m^1.5)");
}

TEST(ContactLaws, TakeTheirStiffnessFromModuliAndRadii) {
  // Y-23: K = 4 / (3 (s1 + s2)) sqrt(R1 R2 / (R1 + R2)), s = (1 - nu^2)/E; two equal spheres of radius H/2 give the
  // simplification sqrt(H)/(3 s), 2.4325e6 for the beam of YV-5 (five printed digits).
  const std::string skin = "on: beam, type: sides, side: below";
  const Model equal = load(touch(skin, "[skin, floor]", "{type: hertz, young: 2.1e7, poisson: 0.3, radii: 5 cm}"));
  EXPECT_NEAR(soft(equal, 0, "stiffness"), std::sqrt(0.1) / (3 * 0.91 / 2.1e7), 1e-6);
  EXPECT_NEAR(soft(equal, 0, "stiffness"), 2.4325e6, 50);
  // On a plane the radius is the beam's half height alone: larger by sqrt(2).
  const Model plane = load(touch(skin, "[skin, floor]", "{type: hertz, young: 2.1e7, poisson: 0.3}"));
  EXPECT_NEAR(soft(plane, 0, "stiffness"), std::sqrt(2.0) * soft(equal, 0, "stiffness"), 1e-6);
  // A circle of 5 cm in a hollow one of 10 cm: 1/R = 20 - 10; different materials.
  const Model hollow = load(
      "shapes: {a: {on: ball, type: circle, radius: 5 cm}, b: {on: ground, type: circle, radius: 10 cm, hollow: "
      "true}}\ncontacts: {c: {between: [a, b], law: {type: hunt-crossley, restitution: 0.5, young: [2e11, 1e9], "
      "poisson: [0.3, 0.4]}}}\n");
  EXPECT_NEAR(soft(hollow, 0, "stiffness"), 4.0 / 3 / (0.91 / 2e11 + 0.84 / 1e9) * std::sqrt(0.1), 1e-3);
  EXPECT_EQ(soft(hollow, 0, "restitution"), 0.5);
}

TEST(ContactLaws, SayWhatHertzsFormulaLacks) {
  const auto with = [](const std::string& shapes, const std::string& law) {
    return complaint("shapes:\n  a: {on: ball, " + shapes +
                     "}\n  b: {on: ground, type: line}\ncontacts:\n  c: {between: [a, b], law: {" + law + "}}\n");
  };
  const std::string moduli = "type: hertz, young: 1e9, poisson: 0.3";
  EXPECT_EQ(with("type: circle, radius: 0", moduli),
            "12:50 shape `a` is a point and has no radius / give `radii`, or `stiffness` instead of `young`");
  EXPECT_EQ(with("type: ellipse, semi_axes: [1, 2]", moduli),
            "12:50 shape `a` has no radius of its own everywhere / give `radii`, or `stiffness` instead of `young`");
  EXPECT_EQ(with("type: circle, radius: 1", "type: hertz, young: 1e9"),
            "12:29 `poisson` is missing in the law of contact `c`");
  EXPECT_EQ(with("type: circle, radius: 1", moduli + ", stiffness: 1"),
            "12:69 `stiffness` and `young` exclude each other");
  EXPECT_EQ(with("type: circle, radius: 1", "type: hertz, stiffness: 1, radii: 2"), "12:57 `radii` goes with `young`");
  EXPECT_EQ(with("type: circle, radius: 1", "type: hertz, stiffness: 1, per: length"),
            "12:62 neither `a` nor `b` is a point of a beam's sides / `per` spreads a law over the length of a beam; "
            "leave it out");
  EXPECT_EQ(with("type: circle, radius: 1", "type: hunt-crossley, stiffness: 1"),
            "12:29 the law of contact `c` needs one of `damping`, `restitution`");
  EXPECT_EQ(with("type: circle, radius: 1", "type: hunt-crossley, stiffness: 1, damping: 1, restitution: 1").substr(6),
            "`damping` and `restitution` exclude each other in the law of contact `c`");
}

}  // namespace
}  // namespace clatter
