// Shapes, contacts, their laws and the methods that treat them: what each key becomes, and where mistakes are reported.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "base/error.hpp"
#include "model/expression.hpp"
#include "model/load.hpp"
#include "model/schema.hpp"

namespace clatter {
namespace {

using Kind = ContactShape::Kind;

// A planar ball, two spatial ones, and a planar floor: enough bodies for everything below.
const std::string bodies =
    "clatter: 1\n"
    "bodies:\n"
    "  ball: {type: planar, mass: 1, inertia: 1, position: [0, 1], frames: {rim: {at: [1, 0], rotate: 90 deg}}}\n"
    "  one: {mass: 1, shape: {sphere: 10 mm}, position: [0, 0, 1]}\n"
    "  two: {mass: 1, shape: {box: [1, 2, 3], at: [0, 0, 1 m]}, position: [0, 0, 2]}\n";

Model load(const std::string& text) { return load_model_text(bodies + text, "m.yaml"); }

ContactShape shape(const std::string& text) { return load("shapes:\n  s: " + text + "\n").shapes.at(0); }

Contact law(const std::string& text) {
  return load("shapes: {floor: {on: ground, type: plane}}\ncontacts:\n  c: {between: [one, floor], law: " + text +
              "}\n")
      .contacts.at(0);
}
RigidContact rigid(const std::string& keys) { return std::get<RigidContact>(law("{type: rigid" + keys + "}").law); }
CompliantContact soft(const std::string& text) { return std::get<CompliantContact>(law(text).law); }

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
  using K = CompliantContact::Kind;
  const auto c =
      soft("{type: linear, stiffness: 1e5 N/m, damping: 10 N*s/m, friction: 0.3, friction_velocity: 1 mm/s}");
  EXPECT_EQ(c.kind, K::damped);
  EXPECT_EQ(c.stiffness, 1e5);
  EXPECT_EQ(c.damping, 10);
  EXPECT_EQ(c.exponent, 1);
  EXPECT_EQ(c.friction.mu, 0.3);
  EXPECT_EQ(c.friction_velocity, 1e-3);
  EXPECT_EQ(soft("{type: linear, stiffness: 1, model: elastic}").kind, K::elastic);
  EXPECT_EQ(soft("{type: linear, stiffness: 1, damping: 2, model: damped}").kind, K::damped);
  EXPECT_EQ(soft("{type: linear, stiffness: 1, damping: 2, model: clipped}").kind, K::clipped);
  EXPECT_EQ(soft("{type: linear, stiffness: 1, damping: 2, model: relaxing}").kind, K::relaxing);
}

TEST(ContactLaws, PowersOfThePenetrationHaveUnitsToMatch) {
  using K = CompliantContact::Kind;
  const auto hertz = soft("{type: hertz, stiffness: 2 N/mm^1.5}");
  EXPECT_EQ(hertz.kind, K::hertz);
  EXPECT_EQ(hertz.exponent, 1.5);
  EXPECT_NEAR(hertz.stiffness, 2 * std::pow(1e3, 1.5), 1e-10);  // of 63245.55: rounding of the power
  EXPECT_EQ(hertz.friction_velocity, 0);
  EXPECT_EQ(soft("{type: hertz, stiffness: 5e9, exponent: 1.1}").stiffness, 5e9);
  EXPECT_EQ(soft("{type: hertz, stiffness: 3 N/m^2, exponent: 2}").stiffness, 3);
  const auto hunt = soft("{type: hunt-crossley, stiffness: 1e9, exponent: 1.25, damping: 300 ms/m}");
  EXPECT_EQ(hunt.kind, K::hunt_crossley);
  EXPECT_EQ(hunt.exponent, 1.25);
  EXPECT_DOUBLE_EQ(hunt.damping, 0.3);
  const auto lankarani = soft("{type: lankarani-nikravesh, stiffness: 1e9, restitution: 0.8}");
  EXPECT_EQ(lankarani.kind, K::lankarani_nikravesh);
  EXPECT_EQ(lankarani.restitution, 0.8);
}

TEST(ContactLaws, ASmoothOneMayStandInForTheRigid) {
  const auto c =
      law("{type: rigid, friction: 0.4, smooth: {type: linear, stiffness: 1e6, damping: 5, model: clipped}}");
  EXPECT_TRUE(std::holds_alternative<RigidContact>(c.law));
  ASSERT_TRUE(c.smooth);
  EXPECT_EQ(c.smooth->kind, CompliantContact::Kind::clipped);
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
                             "left.all.base.low", "left.all.tip.low", "left.out", "right.pair", "right.all.base.tip",
                             "right.all.base.low", "right.all.tip.low", "right.out"}));
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

// --- mistakes --------------------------------------------------------------------------------------------------------

struct Expected {
  const char* name;
  const char* text;  // after the bodies: its first line is line 6
  int line, column;
  const char* message;
  const char* hint;
};
void PrintTo(const Expected& e, std::ostream* out) { *out << e.name; }

struct ContactMistake : testing::TestWithParam<Expected> {};

TEST_P(ContactMistake, IsReportedAtItsPlace) {
  const Expected& e = GetParam();
  try {
    load(e.text);
    FAIL() << "was accepted";
  } catch (const InputError& error) {
    ASSERT_EQ(error.diagnostics().size(), 1u) << error.what();
    const Diagnostic& d = error.diagnostics()[0];
    EXPECT_EQ(d.source.line, e.line) << error.what();
    EXPECT_EQ(d.source.column, e.column) << error.what();
    EXPECT_EQ(d.message, e.message);
    EXPECT_EQ(d.hint, e.hint);
    EXPECT_EQ(d.source.file, "m.yaml");
  }
}

#define S(keys) "shapes:\n  s: {" keys "}\n"
#define CAM "on: ball, type: curve"

INSTANTIATE_TEST_SUITE_P(
    Shapes, ContactMistake,
    testing::Values(
        Expected{"NoBody", S("on: bal, type: circle, radius: 1"), 7, 11, "there is no body or frame `bal`",
                 "did you mean `ball`?"},
        Expected{"NoPlace", S("type: line"), 7, 6, "`on` is missing in shape `s`", ""},
        Expected{"NoType", S("on: ball"), 7, 6, "`type` is missing in shape `s`", ""},
        Expected{"UnknownType", S("on: ball, type: circel"), 7, 23, "`circel` is not a valid `type` of shape `s`",
                 "did you mean `circle`?"},
        Expected{"WrongKey", S("on: ball, type: line, radius: 1"), 7, 29,
                 "`radius` has no meaning for shape `s` of type `line`",
                 "`radius` belongs to: circle sphere capsule cylinder"},
        Expected{"NoRadius", S("on: ball, type: circle"), 7, 6, "`radius` is missing in shape `s`", ""},
        Expected{"NegativeRadius", S("on: ball, type: circle, radius: -1"), 7, 39,
                 "`radius` of shape `s` cannot be negative, this is -1", ""},
        Expected{"HollowPoint", S("on: ball, type: circle, radius: 0, hollow: true"), 7, 39,
                 "`radius` of shape `s` must be positive, this is 0", ""},
        Expected{"RadiusIsNoLength", S("on: ball, type: circle, radius: 1 s"), 7, 39,
                 "expected a length, got a time (1 s)", ""},
        Expected{"NoLength", S("on: one, type: capsule, radius: 1"), 7, 6, "`length` is missing in shape `s`", ""},
        Expected{"NoSize", S("on: one, type: box"), 7, 6, "`size` is missing in shape `s`", "edges [x, y, z]"},
        Expected{"FlatBox", S("on: one, type: box, size: [1, 0, 1]"), 7, 33, "the edges of a box must be positive", ""},
        Expected{"NoAxes", S("on: ball, type: ellipse"), 7, 6, "`semi_axes` is missing in shape `s`",
                 "[a, b], along x and y"},
        Expected{"ThreeAxes", S("on: ball, type: ellipse, semi_axes: [1, 2, 3]"), 7, 43,
                 "an ellipse has two semi-axes [a, b], these are 3", ""},
        Expected{"FlatEllipse", S("on: ball, type: ellipse, semi_axes: [1, 0]"), 7, 43,
                 "the semi-axes of an ellipse must be positive", ""},
        Expected{"NoPoints", S("on: ball, type: polygon"), 7, 6, "`points` is missing in shape `s`", "[[x, y], ...]"},
        Expected{"PointsNoList", S("on: ball, type: polygon, points: 3"), 7, 40,
                 "a list of points was expected, this is a value", ""},
        Expected{"SpatialPoint", S("on: ball, type: polygon, points: [[0, 0], [1, 0, 0], [1, 1]]"), 7, 49,
                 "a point of shape `s` is [x, y]", ""},
        Expected{"TwoPoints", S("on: ball, type: polygon, points: [[0, 0], [1, 0]]"), 7, 40,
                 "shape `s` needs at least 3 points, these are 2", ""},
        Expected{"Clockwise", S("on: ball, type: polygon, points: [[0, 0], [1, 1], [1, 0]]"), 7, 40,
                 "the corners of the polygon go clockwise; they must go counter-clockwise", "turn the list around"},
        Expected{"NotConvex", S("on: ball, type: polygon, points: [[0, 0], [4, 0], [1, 1], [0, 4]]"), 7, 40,
                 "the polygon is not convex at corner 3",
                 "a body may carry several shapes: divide the polygon into convex ones"},
        Expected{"Straight", S("on: ball, type: polygon, points: [[0, 0], [1, 0], [2, 0], [0, 4]]"), 7, 40,
                 "corner 2 of the polygon lies on the line between its neighbours", "leave it out"},
        Expected{"OnALine", S("on: ball, type: polygon, points: [[0, 0], [1, 1], [2, 2]]"), 7, 40,
                 "the corners of the polygon lie on a line", ""},
        Expected{"TwiceTheSame", S("on: ball, type: polygon, points: [[0, 0], [1, 0], [1, 0], [0, 1]]"), 7, 40,
                 "corner 3 of the polygon is the same as corner 2", ""},
        // Five corners of a star: left turns only, but twice round.
        Expected{"Star",
                 S("on: ball, type: polygon, points: [[0, 1], [-0.588, -0.809], [0.951, 0.309], [-0.951, 0.309], "
                   "[0.588, -0.809]]"),
                 7, 40, "the polygon crosses itself", ""},
        Expected{"OnePointSpline", S("on: ball, type: spline, points: [[0, 0]]"), 7, 39,
                 "shape `s` needs at least 2 points, these are 1", ""},
        Expected{"SplineStandsStill", S("on: ball, type: spline, points: [[0, 0], [0, 0]]"), 7, 48,
                 "point 2 of shape `s` is the same as point 1", ""},
        Expected{"ClosedTwice", S("on: ball, type: spline, closed: true, points: [[0, 0], [1, 0], [0, 0]]"), 7, 70,
                 "the last point of shape `s` is its first",
                 "a closed spline returns by itself: leave the last point out"},
        Expected{"FlatPolytope", S("on: one, type: polytope, points: [[0, 0, 1], [1, 0, 1], [0, 1, 1], [1, 1, 1]]"), 7,
                 40, "the points of shape `s` lie in a plane", ""},
        Expected{"ThreePointPolytope", S("on: one, type: polytope, points: [[0, 0, 1], [1, 0, 1], [0, 1, 1]]"), 7, 40,
                 "shape `s` needs at least 4 points, these are 3", ""},
        Expected{"NoFormula", S(CAM ", x: s, from: 0, to: 1"), 7, 6, "`y` is missing in shape `s`", "a formula of `s`"},
        Expected{"NoEnd", S(CAM ", x: s, y: s^2, from: 0"), 7, 6, "`to` is missing in shape `s`",
                 "the last value of `s`"},
        Expected{"Backwards", S(CAM ", x: s, y: s^2, from: 1, to: 0"), 7, 53, "`to` (0) must be larger than `from` (1)",
                 ""},
        Expected{"TimeInCurve", S(CAM ", x: s*t, y: s^2, from: 0, to: 1"), 7, 35, "this cannot depend on the time `t`",
                 ""},
        Expected{"WrongDimension", S(CAM ", x: 3 s*cos(s), y: s^2, from: 0, to: 1"), 7, 33,
                 "expected a length, got a time (3 s*cos(s))", ""},
        Expected{"Pole", S(CAM ", x: 1/s, y: s, from: 0, to: 1"), 7, 6, "shape `s` is not finite at s = 0", ""},
        Expected{"Point", S(CAM ", x: 1 m, y: 2 m, from: 0, to: 1"), 7, 6, "shape `s` does not move with `s`",
                 "the parameter follows a factor with blanks around it: 5 mm * s; `mm*s` is a unit"},
        Expected{"OpenEnds", S(CAM ", x: cos(s), y: sin(s), from: 0, to: pi, closed: true"), 7, 69,
                 "the ends of shape `s` do not meet: (1, 0) and (-1, 1.22465e-16)", ""},
        Expected{"OutOfPlane", S("on: ball, type: line, rotate: {axis: x, angle: 90 deg}"), 7, 7,
                 "shape `s` is turned out of the x-y plane, in which its body moves", ""},
        Expected{"AbovePlane", S("on: ball, type: line, at: [0, 0, 1]"), 7, 7,
                 "shape `s` leaves the x-y plane, in which its body moves", ""},
        Expected{"BadName", "shapes: {my-s: {on: ball, type: line}}\n", 6, 10,
                 "`my-s` is not a name for a shape: letters, digits and _ only, a letter first",
                 "for example `my_s`"}));

#define FLOOR "shapes: {floor: {on: ground, type: plane}, line: {on: ground, type: line}}\n"
#define C(keys) FLOOR "contacts:\n  c: {" keys "}\n"
#define LAW ", law: {type: rigid}"

INSTANTIATE_TEST_SUITE_P(
    Pairs, ContactMistake,
    testing::Values(
        Expected{"NoLaw", C("between: [one, two]"), 8, 6, "`law` is missing in contact `c`", ""},
        Expected{"Neither", C("law: {type: rigid}"), 8, 6, "contact `c` needs one of `between`, `among`, `gap`", ""},
        Expected{"Both", C("between: [one, two], among: [one, two]" LAW), 8, 28,
                 "`between` and `among` exclude each other in contact `c`", ""},
        Expected{"OneShape", C("between: [one]" LAW), 8, 16,
                 "`between` takes two shapes, or two lists of them: [[a, b], [c, d]]", ""},
        Expected{"UnknownShape", C("between: [one, flor]" LAW), 8, 22,
                 "there is no shape `flor`, nor a body with a shape", "did you mean `floor`?"},
        Expected{"UnknownInGroup", C("between: [[one, tow], floor]" LAW), 8, 23,
                 "there is no shape `tow`, nor a body with a shape", "did you mean `two`?"},
        Expected{"NoSolid", C("between: [ball, floor]" LAW), 8, 17, "body `ball` has no `shape` to touch with",
                 "describe one under `shapes`"},
        Expected{"Ground", C("between: [one, ground]" LAW), 8, 22, "`ground` has no shape of its own",
                 "describe one under `shapes`, for example floor: {on: ground, type: plane}"},
        Expected{"NothingLike", C("among: [\"brick*\"]" LAW), 8, 15,
                 "no shape, and no body with a shape, is named like `brick*`", ""},
        Expected{"SameGround", C("between: [floor, line]" LAW), 8, 16, "`floor` and `line` are both on ground",
                 "shapes of one body cannot touch each other"},
        Expected{"SameBody",
                 "shapes: {tip: {on: one, type: sphere, radius: 1}}\ncontacts:\n  c: {between: [tip, one]" LAW "}\n", 8,
                 16, "`tip` and `one` are both on body `one`", "shapes of one body cannot touch each other"},
        Expected{"NoPair", C("among: [floor, line]" LAW), 8, 14, "contact `c` has no two shapes on different bodies",
                 ""},
        Expected{"PlanarAndSpatial", C("between: [one, line]" LAW), 8, 16,
                 "`line` is a planar shape and `one` a spatial one: they cannot touch",
                 "planar are: line circle polygon ellipse curve spline"},
        Expected{"PlanarAmongSpatial", C("among: [one, two, line]" LAW), 8, 14,
                 "`line` is a planar shape and `one` a spatial one: they cannot touch",
                 "planar are: line circle polygon ellipse curve spline"},
        Expected{"TiltedFloor",
                 "shapes:\n  hull: {on: ball, type: circle, radius: 1}\n"
                 "  floor: {on: ground, type: line, rotate: {axis: x, angle: 90 deg}}\n"
                 "contacts: {c: {between: [hull, floor]" LAW "}}\n",
                 8, 3, "shape `floor` is turned out of the x-y plane, in which `hull` moves", ""},
        Expected{"SectionOfPlanarBody",
                 FLOOR
                 "instances: {i: {of: d}}\nassemblies: {d: {bodies: {disc: {type: planar, mass: 1, shape: {sphere: "
                 "1}}}}}\ncontacts:\n  c: {between: [i.disc, floor]" LAW "}\n",
                 10, 16, "`i.disc` is a planar shape and `floor` a spatial one: they cannot touch",
                 "the solid of planar body `i.disc` stands for its section; describe a spatial one under `shapes`"},
        Expected{"NoSection",
                 FLOOR
                 "instances: {i: {of: d}}\nassemblies: {d: {bodies: {disc: {type: planar, mass: 1, shape: {capsule: "
                 "{radius: 1, length: 2}, axis: x}}}}}\ncontacts:\n  c: {between: [i.disc, line]" LAW "}\n",
                 10, 17, "the solid of planar body `i.disc` has no simple section with the x-y plane",
                 "describe what touches under `shapes`"},
        Expected{"ThinRod",
                 FLOOR "instances: {i: {of: d}}\nassemblies: {d: {bodies: {rod: {mass: 1, shape: {rod: 1 m}}}}}\n"
                       "contacts:\n  c: {between: [i.rod, floor]" LAW "}\n",
                 10, 17, "body `i.rod` is a rod without radius: it has no surface", "describe one under `shapes`"},
        Expected{"NameTaken", FLOOR "contacts:\n  one: {between: [one, floor]" LAW "}\n", 8, 3,
                 "the name `one` is already taken", "first used in m.yaml:4:3"},
        // A shape with a mistake is reported once, not again by its contacts.
        Expected{"BrokenShape",
                 "shapes: {hull: {on: ball, type: circle}, line: {on: ground, type: line}}\n"
                 "contacts:\n  c: {between: [hull, line]" LAW "}\n",
                 6, 16, "`radius` is missing in shape `hull`", ""}));

#define L(keys) FLOOR "contacts:\n  c: {between: [one, floor], law: {" keys "}}\n"

INSTANTIATE_TEST_SUITE_P(
    Laws, ContactMistake,
    testing::Values(
        Expected{"NotAMap", FLOOR "contacts:\n  c: {between: [one, floor], law: rigid}\n", 8, 35,
                 "the law of contact `c` must be a map of keys, this is a value", "it needs `type`"},
        Expected{"NoLawType", L("friction: 0.3"), 8, 35, "`type` is missing in the law of contact `c`", ""},
        Expected{"UnknownLaw", L("type: herz"), 8, 42, "`herz` is not a valid `type` of the law of contact `c`",
                 "did you mean `hertz`?"},
        Expected{"UnknownKey", L("type: rigid, restitutoin: 1"), 8, 49,
                 "unknown key `restitutoin` in the law of contact `c`", "did you mean `restitution`?"},
        Expected{"Bouncy", L("type: rigid, restitution: 1.5"), 8, 62,
                 "`restitution` of the law of contact `c` lies between 0 and 1, this is 1.5", ""},
        Expected{"NegativeRestitution", L("type: rigid, restitution: -0.1"), 8, 62,
                 "`restitution` of the law of contact `c` lies between 0 and 1, this is -0.1", ""},
        Expected{"TangentialBouncy", L("type: rigid, tangential_restitution: 2"), 8, 73,
                 "`tangential_restitution` of the law of contact `c` lies between 0 and 1, this is 2", ""},
        Expected{"Reversible", L("type: rigid, reversibility: 2"), 8, 64,
                 "`reversibility` of the law of contact `c` lies between 0 and 1, this is 2", ""},
        Expected{"UnknownImpact", L("type: rigid, impact: newtn"), 8, 57,
                 "`newtn` is not a valid `impact` of the law of contact `c`", "did you mean `newton`?"},
        Expected{"NegativeFriction", L("type: rigid, friction: -0.3"), 8, 59,
                 "`friction` of the law of contact `c` cannot be negative, this is -0.3", ""},
        Expected{"NegativeImpactFriction", L("type: rigid, impact_friction: -0.3"), 8, 66,
                 "`impact_friction` of the law of contact `c` cannot be negative, this is -0.3", ""},
        Expected{"FallingFriction", L("type: rigid, friction: 0.3 - 0.2*v"), 8, 59,
                 "`friction` of the law of contact `c` is negative (-0.3) at v = 3 m/s",
                 "`v` is the slip speed, 0 or more"},
        Expected{"PoleOfFriction", L("type: rigid, friction: 0.3/v"), 8, 59,
                 "`friction` of the law of contact `c` is not finite at v = 0 m/s", "`v` is the slip speed, 0 or more"},
        Expected{"FrictionIsNoForce", L("type: rigid, friction: 3 N"), 8, 59,
                 "expected a number without unit, got a force (3 N)", ""},
        Expected{"FrictionOfTime", L("type: rigid, friction: 0.1 + 0.1*sin(t)"), 8, 73,
                 "this cannot depend on the time `t`", ""},
        Expected{"StribeckIncomplete", L("type: rigid, friction: {static: 0.3, kinetic: 0.2}"), 8, 59,
                 "`velocity` is missing in the friction of the law of contact `c`", ""},
        Expected{"StribeckSwapped", L("type: rigid, friction: {static: 0.2, kinetic: 0.3, velocity: 1}"), 8, 60,
                 "`static` (0.2) is smaller than `kinetic` (0.3)",
                 "friction that rises with the speed is written as a formula of `v`"},
        Expected{"RigidStiffness", L("type: rigid, stiffness: 1e5"), 8, 49,
                 "`stiffness` has no meaning for the law of contact `c` of type `rigid`",
                 "`stiffness` belongs to: linear hertz hunt-crossley lankarani-nikravesh"},
        Expected{"NoStiffness", L("type: linear"), 8, 35, "`stiffness` is missing in the law of contact `c`", ""},
        Expected{"NegativeStiffness", L("type: linear, stiffness: -1"), 8, 61,
                 "`stiffness` of the law of contact `c` must be positive, this is -1", ""},
        Expected{"LinearUnit", L("type: linear, stiffness: 1 N/m^2"), 8, 61,
                 "expected a stiffness (N/m), got a pressure (1 N/m^2)", ""},
        Expected{"HertzUnit", L("type: hertz, stiffness: 1 N/m"), 8, 60,
                 "expected a quantity in kg/(m^(0.5)*s^2), got a stiffness (N/m) (1 N/m)", ""},
        Expected{"OddExponent", L("type: hertz, exponent: 1.1, stiffness: 1 N/m"), 8, 75,
                 "with the exponent 1.1 `stiffness` is a number without unit, in N and m", ""},
        Expected{"ZeroExponent", L("type: hertz, exponent: 0, stiffness: 1"), 8, 59,
                 "`exponent` of the law of contact `c` must be positive, this is 0", ""},
        Expected{"ElasticDamping", L("type: linear, stiffness: 1, model: elastic, damping: 3"), 8, 80,
                 "an `elastic` contact has no damping", ""},
        Expected{"RelaxingWithout", L("type: linear, stiffness: 1, model: relaxing"), 8, 35,
                 "`damping` is missing in the law of contact `c`", "it resists the surface's creep"},
        Expected{"HuntWithout", L("type: hunt-crossley, stiffness: 1"), 8, 35,
                 "`damping` is missing in the law of contact `c`", ""},
        Expected{"HuntUnit", L("type: hunt-crossley, stiffness: 1, damping: 3 N*s/m"), 8, 80,
                 "expected a quantity in s/m, got a damping (N*s/m) (3 N*s/m)", ""},
        Expected{"LankaraniWithout", L("type: lankarani-nikravesh, stiffness: 1"), 8, 35,
                 "`restitution` is missing in the law of contact `c`", ""},
        Expected{"StandingFriction", L("type: linear, stiffness: 1, friction_velocity: 0"), 8, 83,
                 "`friction_velocity` of the law of contact `c` must be positive, this is 0", ""},
        Expected{"RigidSmooth", L("type: rigid, smooth: {type: rigid}"), 8, 64,
                 "`rigid` is not a valid `type` of the smooth law of contact `c`",
                 "one of: linear hertz hunt-crossley lankarani-nikravesh"},
        Expected{"SmoothOfSoft", L("type: linear, stiffness: 1, smooth: {type: hertz}"), 8, 64,
                 "`smooth` has no meaning for the law of contact `c` of type `linear`", "`smooth` belongs to: rigid"}));

#define M(keys) "contacts: {c: {between: [one, two], law: {type: rigid}}}\nsimulate: {" keys "}\n"

INSTANTIATE_TEST_SUITE_P(
    Methods, ContactMistake,
    testing::Values(Expected{"PlainMethod", M("method: dopri5"), 7, 20,
                             "`dopri5` cannot integrate rigid contacts by itself",
                             "use event-driven, time-stepping or smooth, with this as its `scheme`"},
                    Expected{"SchemeWithoutFamily", "simulate: {method: rk4, step: 1 ms, scheme: dopri5}\n", 6, 37,
                             "`scheme` goes with the methods event-driven, time-stepping and smooth",
                             "name it as the method: method: dopri5"},
                    Expected{"MoreauWithoutFamily", "simulate: {scheme: moreau}\n", 6, 12,
                             "`scheme` goes with the methods event-driven, time-stepping and smooth",
                             "use method: time-stepping"},
                    Expected{"UnknownFamily", M("method: event-drivn"), 7, 20,
                             "`event-drivn` is not a valid `method` of `simulate`", "did you mean `event-driven`?"},
                    Expected{"NoStep", M("method: time-stepping"), 7, 11, "`step` is missing in `simulate`",
                             "this method has a fixed step"},
                    Expected{"NoStepOfScheme", M("method: event-driven, scheme: rk4"), 7, 11,
                             "`step` is missing in `simulate`", "this method has a fixed step"},
                    Expected{"WrongTimeStepping", M("method: time-stepping, step: 1 ms, scheme: rk4"), 7, 55,
                             "`rk4` is no scheme of time-stepping", "one of: moreau generalized-alpha"},
                    Expected{"MoreauByEvents", M("method: event-driven, scheme: moreau"), 7, 42,
                             "`moreau` is a scheme of time-stepping", "use method: time-stepping"},
                    Expected{"ThetaElsewhere", M("method: event-driven, theta: 0.6"), 7, 34,
                             "`theta` goes with time-stepping by `moreau`", ""},
                    Expected{"ThetaTooLarge", M("method: time-stepping, step: 1 ms, theta: 1.5"), 7, 54,
                             "`theta` lies between 0 and 1, this is 1.5", ""}));

}  // namespace
}  // namespace clatter
