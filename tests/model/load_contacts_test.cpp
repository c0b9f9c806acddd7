// Shapes, contacts, their laws and the methods that treat them: what each key becomes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "base/error.hpp"
#include "contact_bodies.hpp"
#include "laws/table.hpp"
#include "model/expression.hpp"
#include "model/schema.hpp"
#include "shapes/shape.hpp"

namespace clatter {
namespace {

using Kind = ContactShape::Kind;

ContactShape shape(const std::string& text) { return load("shapes:\n  s: " + text + "\n").shapes.at(0); }

Contact law(const std::string& text) {
  return load("shapes: {floor: {on: ground, type: plane}}\ncontacts:\n  c: {between: [one, floor], law: " + text +
              "}\n")
      .contacts.at(0);
}
RigidContact rigid(const std::string& keys) { return std::get<RigidContact>(law("{type: rigid" + keys + "}").law); }
CompliantContact soft(const std::string& text) { return std::get<CompliantContact>(law(text).law); }
std::string name(const CompliantContact& c) { return laws::row(c.normal).name(); }
double of(const CompliantContact& c, const char* parameter) { return laws::parameter(c.normal, parameter); }

double at(const std::shared_ptr<const Expression>& f, double x) { return f->value(std::span(&x, 1)); }

// --- shapes ----------------------------------------------------------------------------------------------------------

TEST(ContactShapes, SitOnBodiesFramesAndGround) {
  const auto on_frame = shape("{on: ball.rim, type: circle, radius: 10 mm, at: [1, 0], rotate: 90 deg}");
  EXPECT_EQ(on_frame.name, "s");
  EXPECT_EQ(on_frame.kind, Kind::circle);
  EXPECT_EQ(on_frame.radius, 0.01);
  EXPECT_EQ(on_frame.at.body, 0);
  // The frame at (1, 0) is turned by a quarter: its x is the body's y. Rounding of cos 90 deg.
  EXPECT_NEAR((on_frame.at.placement.position - Vec3(1, 1, 0)).norm(), 0, 1e-15);
  EXPECT_NEAR((on_frame.at.placement.rotation * Vec3::UnitX() + Vec3::UnitX()).norm(), 0, 1e-15);
  EXPECT_EQ(shape("{on: ground, type: plane}").at.body, -1);
}

TEST(ContactShapes, OfEveryPlanarKind) {
  EXPECT_EQ(shape("{on: ground, type: line}").length, 0);
  EXPECT_EQ(shape("{on: ground, type: line, length: 2 m}").length, 2);
  EXPECT_TRUE(shape("{on: ground, type: circle, radius: 1, hollow: true}").hollow);
  EXPECT_EQ(shape("{on: ball, type: circle, radius: 0}").radius, 0);
  const auto polygon = shape("{on: ball, type: polygon, points: [[0 mm, 0 mm], [10 mm, 0 mm], [10 mm, 5 mm]]}");
  EXPECT_EQ(polygon.kind, Kind::polygon);
  ASSERT_EQ(polygon.points.size(), 3u);
  EXPECT_EQ(polygon.points[2], Vec3(0.01, 0.005, 0));
  const auto ellipse = shape("{on: ball, type: ellipse, semi_axes: [3 cm, 2 cm]}");
  EXPECT_EQ(ellipse.kind, Kind::ellipse);
  EXPECT_EQ(ellipse.size, Vec3(0.03, 0.02, 0));
  const auto spline = shape("{on: ball, type: spline, points: [[0, 0], [1, 0], [1, 1]], closed: true}");
  EXPECT_EQ(spline.kind, Kind::spline);
  EXPECT_TRUE(spline.closed);
  EXPECT_FALSE(shape("{on: ball, type: spline, points: [[0, 0], [1, 0]]}").closed);
}

TEST(ContactShapes, OfEverySpatialKind) {
  EXPECT_EQ(shape("{on: ground, type: plane}").kind, Kind::plane);
  EXPECT_TRUE(shape("{on: one, type: sphere, radius: 2, hollow: true}").hollow);
  EXPECT_EQ(shape("{on: one, type: box, size: [1, 2, 3]}").size, Vec3(1, 2, 3));
  const auto capsule = shape("{on: one, type: capsule, radius: 1, length: 2}");
  EXPECT_EQ(capsule.kind, Kind::capsule);
  EXPECT_EQ(capsule.length, 2);
  EXPECT_EQ(shape("{on: one, type: cylinder, radius: 1, length: 2}").kind, Kind::cylinder);
  const auto hull = shape("{on: one, type: polytope, points: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1 m]]}");
  EXPECT_EQ(hull.kind, Kind::polytope);
  EXPECT_EQ(hull.points.size(), 4u);
}

TEST(ContactShapes, CurvesAreFormulasOfTheirParameter) {
  const auto c = load(
                     "parameters: {a: 30 mm}\nshapes:\n  s: {on: ball, type: curve, x: a*cos(s), y: 20 mm*sin(s), "
                     "from: 0, to: 2*pi, closed: true}\n")
                     .shapes.at(0);
  EXPECT_EQ(c.kind, Kind::curve);
  EXPECT_TRUE(c.closed);
  EXPECT_DOUBLE_EQ(c.to, 2 * std::numbers::pi);
  EXPECT_DOUBLE_EQ(at(c.x, 1), 0.03 * std::cos(1.0));
  EXPECT_DOUBLE_EQ(at(c.y, 1), 0.02 * std::sin(1.0));
  // A coordinate without s is a function of it all the same.
  const auto wall = shape("{on: ground, type: curve, x: 30 mm, y: 1 m * s, from: -1, to: 1}");
  ASSERT_TRUE(wall.x && wall.y);
  EXPECT_EQ(wall.x->variables(), 1);
  EXPECT_EQ(at(wall.x, 0.7), 0.03);
}

TEST(ContactShapes, HaveNamesApartFromBodies) {
  const Model m = load(
      "shapes: {ball: {on: ball, type: circle, radius: 1}, floor: {on: ground, type: line}}\n"
      "contacts: {c: {between: [ball, floor], law: {type: rigid}}}\n");
  EXPECT_EQ(m.shapes.size(), 2u);
  EXPECT_EQ(m.shapes[static_cast<std::size_t>(m.contacts[0].first)].kind, Kind::circle);
}

TEST(ContactShapes, MayBeTheSolidOfABody) {
  const Model m = load("contacts: {c: {between: [one, two], law: {type: rigid}}}\n");
  ASSERT_EQ(m.shapes.size(), 2u);
  EXPECT_EQ(m.shapes[0].name, "one");
  EXPECT_EQ(m.shapes[0].kind, Kind::sphere);
  EXPECT_EQ(m.shapes[0].radius, 0.01);
  EXPECT_EQ(m.shapes[1].kind, Kind::box);
  EXPECT_EQ(m.shapes[1].size, Vec3(1, 2, 3));
  EXPECT_EQ(m.shapes[1].at.placement.position, Vec3(0, 0, 1));
  EXPECT_EQ(m.shapes[1].at.body, 2);
}

Model solids(const std::string& a, const std::string& b) {
  return load_model_text("clatter: 1\nbodies:\n  a: " + a + "\n  b: " + b +
                         "\ncontacts: {c: {between: [a, b], law: {type: rigid}}}\n");
}

TEST(ContactShapes, OfRoundSolidsKeepTheirAxis) {
  const Model m = solids("{mass: 1, shape: {cylinder: {radius: 1, length: 3}, axis: x}}",
                         "{mass: 1, shape: {capsule: {radius: 2, length: 4}}}");
  EXPECT_EQ(m.shapes[0].kind, Kind::cylinder);
  EXPECT_EQ(m.shapes[0].radius, 1);
  EXPECT_EQ(m.shapes[0].length, 3);
  EXPECT_NEAR((m.shapes[0].at.placement.rotation * Vec3::UnitZ() - Vec3::UnitX()).norm(), 0, 1e-15);
  EXPECT_EQ(m.shapes[1].kind, Kind::capsule);
  EXPECT_EQ(m.shapes[1].length, 4);
  const Model rod = solids("{mass: 1, shape: {rod: {length: 3, radius: 1}}}", "{mass: 1, shape: {sphere: 1}}");
  EXPECT_EQ(rod.shapes[0].kind, Kind::cylinder);
}

// Corners in the body's frame, turned back by hand.
TEST(ContactShapes, OfPlanarBodiesAreSectionsOfTheirSolids) {
  const Model m = solids("{type: planar, mass: 1, shape: {box: [4, 2, 1], at: [1, 0], rotate: 90 deg}}",
                         "{type: planar, mass: 1, shape: {sphere: 2}}");
  const auto& box = m.shapes[0];
  EXPECT_EQ(box.kind, Kind::polygon);
  ASSERT_EQ(box.points.size(), 4u);
  const Vec3 corner = box.at.placement.position + box.at.placement.rotation * box.points[0];
  EXPECT_NEAR((corner - Vec3(2, -2, 0)).norm(), 0, 1e-14);
  double area = 0;
  for (std::size_t i = 0; i < 4; ++i) area += box.points[i].cross(box.points[(i + 1) % 4]).z() / 2;
  EXPECT_NEAR(area, 8, 1e-14);  // positive: counter-clockwise
  EXPECT_EQ(m.shapes[1].kind, Kind::circle);
  EXPECT_EQ(m.shapes[1].radius, 2);

  const Model round = solids("{type: planar, mass: 1, shape: {cylinder: {radius: 1, length: 6}, axis: x}}",
                             "{type: planar, mass: 1, shape: {cylinder: {radius: 3, length: 1}}}");
  const auto& lying = round.shapes[0];
  EXPECT_EQ(lying.kind, Kind::polygon);
  Vec3 reach = Vec3::Zero();
  for (const auto& p : lying.points) reach = reach.cwiseMax(lying.at.placement.rotation * p);
  EXPECT_NEAR((reach - Vec3(3, 1, 0)).norm(), 0, 1e-14);
  EXPECT_EQ(round.shapes[1].kind, Kind::circle);
  EXPECT_EQ(round.shapes[1].radius, 3);
}

// --- laws ------------------------------------------------------------------------------------------------------------

TEST(ContactLaws, RigidHasDefaultsAndTakesEveryKey) {
  const auto plain = rigid("");
  EXPECT_EQ(plain.impact, RigidContact::Impact::poisson);
  EXPECT_EQ(plain.restitution, 0);
  EXPECT_EQ(plain.reversibility, 1);
  EXPECT_FALSE(plain.impact_friction);
  const auto r = rigid(
      ", restitution: 0.5, impact: newton, friction: 30 %, tangential_restitution: 0.2, reversibility: 0.9, "
      "impact_friction: 0.1");
  EXPECT_EQ(r.impact, RigidContact::Impact::newton);
  EXPECT_EQ(r.restitution, 0.5);
  EXPECT_EQ(r.friction.mu, 0.3);
  EXPECT_FALSE(r.friction.curve);
  EXPECT_EQ(r.tangential_restitution, 0.2);
  EXPECT_EQ(r.reversibility, 0.9);
  EXPECT_EQ(r.impact_friction, 0.1);
  EXPECT_EQ(rigid(", impact: moreau").impact, RigidContact::Impact::moreau);
  EXPECT_EQ(rigid(", impact: poisson").impact, RigidContact::Impact::poisson);
}

TEST(ContactLaws, FrictionIsAFormulaOfTheSlipSpeed) {
  for (const char* text :
       {"0.2 + 0.1*exp(-v/0.1)", "0.2 + 0.1*exp(-v/(10 cm/s))", "{static: 0.3, kinetic: 0.2, velocity: 100 mm/s}"}) {
    const auto f = rigid(std::string(", friction: ") + text).friction;
    ASSERT_TRUE(f.curve) << text;
    EXPECT_EQ(f.curve->variables(), 1);
    EXPECT_DOUBLE_EQ(f.mu, 0.3);  // at rest
    EXPECT_NEAR(at(f.curve, 0.05), 0.2 + 0.1 * std::exp(-0.5), 1e-15) << text;
  }
  EXPECT_FALSE(rigid(", friction: {static: 0.3, kinetic: 0.3, velocity: 1}").friction.curve);
}

TEST(ContactLaws, LinearHasFourModels) {
  const auto c =
      soft("{type: linear, stiffness: 1e5 N/m, damping: 10 N*s/m, friction: 0.3, friction_velocity: 1 mm/s}");
  EXPECT_EQ(name(c), "damped");
  EXPECT_EQ(of(c, "stiffness"), 1e5);
  EXPECT_EQ(of(c, "damping"), 10);
  EXPECT_EQ(laws::exponent(c.normal), 1);
  EXPECT_EQ(c.friction.mu, 0.3);
  EXPECT_EQ(c.friction_velocity, 1e-3);
  EXPECT_EQ(name(soft("{type: linear, stiffness: 1, model: elastic}")), "elastic");
  EXPECT_EQ(name(soft("{type: linear, stiffness: 1, damping: 2, model: damped}")), "damped");
  EXPECT_EQ(name(soft("{type: linear, stiffness: 1, damping: 2, model: clipped}")), "clipped");
  EXPECT_EQ(name(soft("{type: linear, stiffness: 1, damping: 2, model: relaxing}")), "relaxing");
}

TEST(ContactLaws, PowersOfThePenetrationHaveUnitsToMatch) {
  const auto hertz = soft("{type: hertz, stiffness: 2 N/mm^1.5}");
  EXPECT_EQ(name(hertz), "hertz");
  EXPECT_EQ(of(hertz, "exponent"), 1.5);
  EXPECT_NEAR(of(hertz, "stiffness"), 2 * std::pow(1e3, 1.5), 1e-10);  // of 63245.55: rounding of the power
  EXPECT_EQ(hertz.friction_velocity, 0);
  EXPECT_EQ(of(soft("{type: hertz, stiffness: 5e9, exponent: 1.1}"), "stiffness"), 5e9);
  EXPECT_EQ(of(soft("{type: hertz, stiffness: 3 N/m^2, exponent: 2}"), "stiffness"), 3);
  const auto hunt = soft("{type: hunt-crossley, stiffness: 1e9, exponent: 1.25, damping: 300 ms/m}");
  EXPECT_EQ(name(hunt), "hunt-crossley");
  EXPECT_EQ(of(hunt, "exponent"), 1.25);
  EXPECT_DOUBLE_EQ(of(hunt, "damping"), 0.3);
  const auto lankarani = soft("{type: lankarani-nikravesh, stiffness: 1e9, restitution: 0.8}");
  EXPECT_EQ(name(lankarani), "lankarani-nikravesh");
  EXPECT_EQ(of(lankarani, "restitution"), 0.8);
}

TEST(ContactLaws, ASmoothOneMayStandInForTheRigid) {
  const auto c =
      law("{type: rigid, friction: 0.4, smooth: {type: linear, stiffness: 1e6, damping: 5, model: clipped}}");
  EXPECT_TRUE(std::holds_alternative<RigidContact>(c.law));
  ASSERT_TRUE(c.smooth);
  EXPECT_EQ(name(*c.smooth), "clipped");
  EXPECT_EQ(c.smooth->friction.mu, 0.4);  // the rigid one's
  EXPECT_EQ(law("{type: rigid, friction: 0.4, smooth: {type: hertz, stiffness: 1, friction: 0.1}}").smooth->friction.mu,
            0.1);
  EXPECT_FALSE(law("{type: rigid}").smooth);
}

// --- pairs -----------------------------------------------------------------------------------------------------------

std::vector<std::string> names(const Model& m) {
  std::vector<std::string> all;
  for (const auto& c : m.contacts) all.push_back(c.name);
  return all;
}
using Names = std::vector<std::string>;

const std::string circles =
    "clatter: 1\n"
    "bodies:\n"
    "  p: {type: planar, mass: 1, shape: {sphere: 1}, position: [0, 0]}\n"
    "  q: {type: planar, mass: 1, shape: {sphere: 1}, position: [3, 0]}\n"
    "shapes:\n"
    "  a: {on: p, type: circle, radius: 1}\n"
    "  b: {on: q, type: circle, radius: 1}\n"
    "  c: {on: q, type: circle, radius: 2}\n"
    "  floor: {on: ground, type: line}\n"
    "  wall: {on: ground, type: line, rotate: 90 deg}\n";

Names pairs(const std::string& text) {
  return names(load_model_text(circles + "contacts:\n  pile: {" + text + ", law: {type: rigid}}\n"));
}

TEST(ContactPairs, AmongTakesAllOnDifferentBodies) {
  EXPECT_EQ(pairs("among: [a, b, c, floor, wall]"),
            (Names{"pile.a.b", "pile.a.c", "pile.a.floor", "pile.a.wall", "pile.b.floor", "pile.b.wall", "pile.c.floor",
                   "pile.c.wall"}));
  EXPECT_EQ(pairs("among: [a, b, a]"), (Names{"pile.a.b"}));
}

TEST(ContactPairs, BetweenTakesTwoShapesOrTwoGroups) {
  EXPECT_EQ(pairs("between: [a, b]"), (Names{"pile"}));
  EXPECT_EQ(pairs("between: [[a, b], [c, floor]]"), (Names{"pile.a.c", "pile.a.floor", "pile.b.floor"}));
  EXPECT_EQ(pairs("between: [[a, b], floor]"), (Names{"pile.a.floor", "pile.b.floor"}));
  // Each pair once, even where the groups overlap.
  EXPECT_EQ(pairs("between: [[a, b], [a, b]]"), (Names{"pile.a.b"}));
}

TEST(ContactPairs, PatternsTakeShapesAndBodiesWithoutOne) {
  EXPECT_EQ(pairs("between: [a, \"?\"]"), (Names{"pile.a.b", "pile.a.c"}));  // p and q carry shapes
  EXPECT_EQ(pairs("between: [[\"w*\", floor], \"a\"]"), (Names{"pile.wall.a", "pile.floor.a"}));
  std::string many = "clatter: 1\nbodies:\n";
  for (int i = 0; i < 100; ++i) many += "  brick" + std::to_string(i) + ": {mass: 1, shape: {box: [1, 1, 1]}}\n";
  const Model m = load_model_text(many +
                                  "shapes: {floor: {on: ground, type: plane}}\n"
                                  "contacts: {pile: {among: [\"brick*\", floor], law: {type: rigid}}}\n");
  EXPECT_EQ(m.shapes.size(), 101u);
  EXPECT_EQ(m.contacts.size(), 100u * 99 / 2 + 100);
  EXPECT_EQ(m.contacts[0].name, "pile.brick0.brick1");
  EXPECT_EQ(m.contacts[0].group, "pile");
}

TEST(ContactPairs, InAssembliesHaveFullNames) {
  const Model m = load_model_text(
      "clatter: 1\n"
      "assemblies:\n"
      "  toy:\n"
      "    bodies:\n"
      "      top: {mass: 1, shape: {sphere: 1}, position: [0, 0, 1]}\n"
      "      low: {mass: 1, shape: {sphere: 1}, position: [0, 0, 0]}\n"
      "    shapes:\n"
      "      base: {on: ground, type: plane, at: [0, 0, -1]}\n"
      "      tip: {on: top, type: sphere, radius: 1 mm}\n"
      "    contacts:\n"
      "      pair: {between: [tip, low], law: {type: rigid}}\n"
      "      all: {among: [\"*\"], law: {type: rigid}}\n"
      "      out: {between: [low, floor], law: {type: rigid}}\n"
      "instances: {left: {of: toy}, right: {of: toy, at: [5, 0, 0]}}\n"
      "shapes: {floor: {on: ground, type: plane}}\n"
      "contacts:\n"
      "  cross: {between: [left.tip, right.low], law: {type: rigid}}\n"
      "  tips: {between: [\"*.tip\", floor], law: {type: rigid}}\n"
      "outputs: [cross.gap, left.pair.gap]\n");
  EXPECT_EQ(names(m), (Names{"cross", "tips.left.tip.floor", "tips.right.tip.floor", "left.pair", "left.all.base.tip",
                             "left.all.base.low", "left.out", "right.pair", "right.all.base.tip", "right.all.base.low",
                             "right.out"}));
  for (const auto& s : m.shapes)
    if (s.name == "right.base") {
      EXPECT_EQ(s.at.placement.position, Vec3(5, 0, -1));
    }
}

// --- simulate --------------------------------------------------------------------------------------------------------

Simulate simulate(const std::string& keys, bool contact = true) {
  const std::string law = "contacts: {c: {between: [one, two], law: {type: rigid}}}\n";
  return load((contact ? law : "") + (keys.empty() ? "" : "simulate: {" + keys + "}\n")).simulate;
}

TEST(ContactMethods, HaveTheirSchemes) {
  auto s = simulate("method: event-driven");
  EXPECT_EQ(s.method, Method::event_driven);
  EXPECT_EQ(s.scheme, Method::dopri5);
  s = simulate("method: event-driven, scheme: rk4, step: 1 ms");
  EXPECT_EQ(s.scheme, Method::rk4);
  s = simulate("method: smooth, scheme: radau5");
  EXPECT_EQ(s.method, Method::smooth);
  EXPECT_EQ(s.scheme, Method::radau5);
  s = simulate("method: smooth, scheme: generalized-alpha, step: 1 ms");
  EXPECT_EQ(s.scheme, Method::generalized_alpha);
  s = simulate("method: time-stepping, step: 1 ms");
  EXPECT_EQ(s.method, Method::time_stepping);
  EXPECT_EQ(s.time_stepping, TimeStepping::moreau);
  EXPECT_EQ(s.theta, 0.5);
  s = simulate("method: time-stepping, scheme: moreau, theta: 0.6, step: 1 ms");
  EXPECT_EQ(s.theta, 0.6);
  s = simulate("method: time-stepping, scheme: generalized-alpha, rho_infinity: 0.7, step: 1 ms");
  EXPECT_EQ(s.time_stepping, TimeStepping::generalized_alpha);
}

TEST(ContactMethods, EventDrivenIsTheDefaultWithRigidContacts) {
  EXPECT_EQ(simulate("").method, Method::event_driven);
  EXPECT_EQ(simulate("end: 2 s").method, Method::event_driven);
  EXPECT_EQ(simulate("", false).method, Method::dopri5);
  EXPECT_EQ(load("contacts: {c: {between: [one, two], law: {type: hertz, stiffness: 1}}}\n").simulate.method,
            Method::dopri5);
}

TEST(ContactMethods, SchemeWordsAreMethods) {
  const auto& spec = object_spec("simulate");
  const auto& all = spec.find("method")->words;
  for (const auto& w : spec.find("scheme")->words)
    if (w != "moreau") {
      EXPECT_NE(std::find(all.begin(), all.end(), w), all.end()) << w;
    }
  EXPECT_EQ(spec.find("scheme")->words.size() + 2, all.size());  // without the three families, with moreau
}

// Materials by pair: what is special stands before what is general.
TEST(Contacts, OfTwoShapesInSeveralEntriesTheFirstCounts) {
  const Model m = load(
      "shapes: {floor: {on: ground, type: plane}}\n"
      "contacts:\n"
      "  slippery: {between: [one, floor], law: {type: rigid, friction: 0.1}}\n"
      "  all: {among: [one, two, floor], law: {type: rigid, friction: 0.7}}\n");
  ASSERT_EQ(m.contacts.size(), 3u);
  EXPECT_EQ(m.contacts[0].name, "slippery");
  for (const Contact& c : m.contacts) {
    const bool of_first = c.name == "slippery";
    EXPECT_NE(c.name, "all.one.floor");
    EXPECT_EQ(std::get<RigidContact>(c.law).friction.mu, of_first ? 0.1 : 0.7) << c.name;
  }
}

// A polytope is the hull of its points; those inside count for nothing.
TEST(ContactShapes, PolytopesLeaveOutPointsInsideTheirHull) {
  const ContactShape s = shape(
      "{on: one, type: polytope, points: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0.2, 0.2, 0.2], [0.5, 0.5, "
      "0]]}");
  const contact::Geometry g = contact::make_geometry(s);
  EXPECT_EQ(g.points.size(), 4u);
  EXPECT_EQ(g.normals.size(), 4u);
  EXPECT_EQ(g.edges.size(), 6u);
}

}  // namespace
}  // namespace clatter
