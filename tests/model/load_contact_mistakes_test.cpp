// Mistakes in shapes, contacts, laws and methods: each is reported at its place with what was expected.
#include <gtest/gtest.h>

#include <string>

#include "base/error.hpp"
#include "contact_bodies.hpp"
#include "laws/table.hpp"

namespace clatter {
namespace {

struct Expected {
  const char* name;
  const char* text;  // after the bodies: its first line is line 6
  int line, column;
  const char* message;
  std::string hint;
};
void PrintTo(const Expected& e, std::ostream* out) { *out << e.name; }

// As messages list them; laws are added to.
std::string compliant_types() {
  std::string out;
  for (const std::string& type : laws::types()) out += " " + type;
  return out;
}

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
                 "`radius` belongs to: circle sphere capsule cylinder sides"},
        Expected{"NoRadius", S("on: ball, type: circle"), 7, 6, "`radius` is missing in shape `s`", ""},
        Expected{"NegativeRadius", S("on: ball, type: circle, radius: -1"), 7, 39,
                 "`radius` of shape `s` cannot be negative, this is -1", ""},
        Expected{"HollowPoint", S("on: ball, type: circle, radius: 0, hollow: true"), 7, 39,
                 "`radius` of shape `s` must be positive, this is 0", ""},
        Expected{"RadiusIsNoLength", S("on: ball, type: circle, radius: 1 s"), 7, 39,
                 "expected a length, got a time (1 s)", ""},
        Expected{"NoLength", S("on: one, type: capsule, radius: 1"), 7, 6, "`length` is missing in shape `s`", ""},
        Expected{"ThinCapsule", S("on: one, type: capsule, radius: 0, length: 1"), 7, 39,
                 "`radius` of shape `s` must be positive, this is 0", ""},
        Expected{"ThinCylinder", S("on: one, type: cylinder, radius: 0, length: 1"), 7, 40,
                 "`radius` of shape `s` must be positive, this is 0", ""},
        Expected{"FlatCylinder", S("on: one, type: cylinder, radius: 1, length: 0"), 7, 51,
                 "`length` of shape `s` must be positive, this is 0", ""},
        Expected{"HollowSphereOfNothing", S("on: one, type: sphere, radius: 0, hollow: true"), 7, 38,
                 "`radius` of shape `s` must be positive, this is 0", ""},
        Expected{"NoSize", S("on: one, type: box"), 7, 6, "`size` is missing in shape `s`", "edges [x, y, z]"},
        Expected{"FlatBox", S("on: one, type: box, size: [1, 0, 1]"), 7, 33, "the edges of shape `s` must be positive",
                 ""},
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
                 7, 40, "the polygon crosses itself: its sides 1 and 3 meet",
                 "list the corners in their order round the polygon"},
        // Its two triangles cancel: no area, but not on a line.
        Expected{"BowTie", S("on: ball, type: polygon, points: [[0, 0], [1, 1], [1, 0], [0, 1]]"), 7, 40,
                 "the polygon crosses itself: its sides 1 and 3 meet",
                 "list the corners in their order round the polygon"},
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
        Expected{"Neither", C("law: {type: rigid}"), 8, 6,
                 "contact `c` needs one of `between`, `among`, `within`, `gap`, `rope`", ""},
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
        Expected{"NothingLeft", C("between: [one, two]" LAW "}\n  d: {among: [one, two]" LAW), 9, 14,
                 "every pair of contact `d` has its law from an entry above", "the first one counts"},
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
                 "`stiffness` belongs to:" + compliant_types()},
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
                 "`damping` has no meaning for the law of contact `c` of model `elastic`", ""},
        Expected{"RelaxingWithout", L("type: linear, stiffness: 1, model: relaxing"), 8, 35,
                 "`damping` is missing in the law of contact `c`", "it resists the surface's creep"},
        Expected{"HuntWithout", L("type: hunt-crossley, stiffness: 1"), 8, 35,
                 "the law of contact `c` needs one of `damping`, `restitution`", ""},
        Expected{"HuntUnit", L("type: hunt-crossley, stiffness: 1, damping: 3 N*s/m"), 8, 80,
                 "expected a quantity in s/m, got a damping (N*s/m) (3 N*s/m)", ""},
        Expected{"LankaraniWithout", L("type: lankarani-nikravesh, stiffness: 1"), 8, 35,
                 "`restitution` is missing in the law of contact `c`", ""},
        Expected{"FloresPlastic", L("type: flores, stiffness: 1, restitution: 0"), 8, 77,
                 "`restitution` of the law of contact `c` must be above 0, up to 1, this is 0",
                 "its damping 8 (1 - e) / (5 e v) has no bound as e becomes 0"},
        Expected{"StandingFriction", L("type: linear, stiffness: 1, friction_velocity: 0"), 8, 83,
                 "`friction_velocity` of the law of contact `c` must be positive, this is 0", ""},
        Expected{"RigidSmooth", L("type: rigid, smooth: {type: rigid}"), 8, 64,
                 "`rigid` is not a valid `type` of the smooth law of contact `c`", "one of:" + compliant_types()},
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
