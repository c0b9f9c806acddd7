// The part of the language's table that is about joints and forces.
#include "model/kinds.hpp"
#include "model/schema.hpp"

namespace clatter {

namespace {

using V = ValueType;
using Words = std::vector<std::string>;

const Words elements{"spring-damper", "torsion-spring", "play", "actuator"};
const Words springs{"spring-damper", "torsion-spring"};

// Keys of a stress law; joints' elastic components and springs share them.
std::vector<KeySpec> law_keys() {
  return {
      {"stiffness", V::quantity, false, "N/m | N*m", "Force for each unit of deformation; may be negative."},
      {"damping", V::quantity, false, "N*s/m | N*m*s", "Force for each unit of deformation rate."},
      {"rest", V::quantity, false, "m | rad", "The deformation without force; 0 unless given."},
      {"table", V::pairs, false, "", "Points [deformation, force] instead of a stiffness, deformations increasing."},
      {"smooth", V::boolean, false, "",
       "Join the table's points by a natural cubic spline (true) or by straight lines (false)."},
      {"formula", V::function, false, "N | N*m",
       "The force as a formula of the deformation `e`, its rate `de`, the time `t` and any quantities; positive pulls "
       "the places together."},
      {"tension_only", V::boolean, false, "", "No force when shorter than at rest: a rope."},
      {"compression_only", V::boolean, false, "", "No force when longer than at rest: a stop."}};
}

// Of the kinds of joints that fit.
template <class Fits>
Words joint_words(const Fits& fits) {
  Words words;
  for (const JointKindInfo& k : joint_kinds())
    if (fits(k)) words.push_back(k.word);
  return words;
}

std::vector<KeySpec> operator+(std::vector<KeySpec> a, const std::vector<KeySpec>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace

// Long because it is a table: a row a key of the language.
std::vector<ObjectSpec> mechanism_language() {
  std::vector<ObjectSpec> all;
  all.push_back(
      {"joint",
       "A joint between two places.",
       "",
       {{"type", V::word, true, "", "The kind of joint.", "", joint_words([](const JointKindInfo&) { return true; })},
        {"between", V::places, false, "", "The two places: first A, then B.", "place"},
        {"at", V::vector, false, "m",
         "A point of the world at the start where both bodies are joined; `between` then names bodies that have a "
         "position."},
        {"axis", V::direction, false, "",
         "The joint's axis (z unless given): in world axes with `at`, else in the axes of the two places."},
        {"axis2", V::direction, false, "",
         "Second axis: of the universal joint, and wherever the y axis of the joint's frames matters."},
        {"drive", V::function, false, "m | rad", "The motion of the joint's one free component as a function of `t`."},
        {"elastic", V::object, false, "", "A spring in the joint's one free component.", "law"},
        {"components", V::components, false, "",
         "Status of single components: `free`, `rigid`, or a `component`. Names: x y z rx ry rz, or angle and "
         "displacement.",
         "component"},
        {"friction",
         V::object,
         false,
         "",
         "Dry friction in the free components.",
         "joint-friction",
         {},
         joint_words([](const JointKindInfo& k) { return k.friction != JointKindInfo::Friction::none; })},
        {"play",
         V::object,
         false,
         "",
         "Clearance instead of a constraint, between planar bodies: a pin in a hole, a block in a guide. The joint "
         "then "
         "holds nothing; contacts do.",
         "joint-play",
         {},
         {"revolute", "prismatic"}},
        {"pitch",
         V::quantity,
         false,
         "m/rad",
         "Screw: displacement for each radian (divide the lead by 2*pi).",
         "",
         {},
         {"screw"}},
        {"ratio",
         V::quantity,
         false,
         "1 | m/rad",
         "Gear: angle1 + ratio*angle2 stays constant; rack: displacement - ratio*angle does.",
         "",
         {},
         {"gear", "rack"}},
        {"length",
         V::quantity,
         false,
         "m",
         "Distance joint: the length; that of the start unless given.",
         "",
         {},
         {"distance"}},
        {"curve",
         V::object,
         false,
         "",
         "The curve in the x-y plane of place A on which B's origin stays.",
         "curve",
         {},
         {"point-on-curve"}},
        {"joints",
         V::names,
         false,
         "",
         "Gear: the two joints; rack: first the joint with the displacement, then the one with the angle.",
         "",
         {},
         {"gear", "rack"}},
        {"quantity", V::name, false, "", "Coordinate: the quantity that is held or driven.", "", {}, {"coordinate"}},
        {"angle", V::quantities, false, "rad",
         "Angle at the start, to place a body without a pose; universal: two (about z of A, about y of B), "
         "spherical: a rotation vector."},
        {"displacement", V::quantities, false, "m", "Displacement at the start; planar: two."},
        {"rate", V::quantities, false, "rad/s | m/s",
         "Rates of the free components at the start, displacements before angles."},
        {"coordinates",
         V::word,
         false,
         "",
         "`joint` makes this joint's motion a coordinate, `absolute` never does; the model's choice unless given.",
         "",
         {"joint", "absolute"}}}});
  all.push_back(
      {"joint-friction",
       "Dry friction in a joint: sticks, and slides against a torque or force of a given size, or of `coefficient` "
       "times "
       "the joint's reactions, or of both together.",
       "",
       {{"torque", V::function, false, "N*m",
         "Friction torque of the angle: a number, or a formula of its rate `v` in rad/s whose value at 0 holds at "
         "rest."},
        {"force", V::function, false, "N",
         "Friction force of the displacement: a number, or a formula of its rate `v` in m/s."},
        {"coefficient", V::friction, false, "1",
         "Coefficient of friction with the joint's reactions: a number, a formula of the slip speed `v`, or a block "
         "with `static` and `kinetic`. Such a joint is never a coordinate of the tree.",
         "friction"},
        {"radius", V::quantity, false, "m",
         "Radius of the bearing of an angle: its torque is coefficient * radius * radial reaction. Revolute and "
         "cylindrical: required with `coefficient`; planar: of the turning about its normal, without it that is free."},
        {"collar_radius", V::quantity, false, "m",
         "Revolute: radius at which the axial reaction is carried; without it that causes no friction."},
        {"length", V::quantity, false, "m",
         "Length of bearing or guide, about B's origin: reaction moments are carried by a pair of forces at its ends. "
         "Without it they cause no friction."},
        {"width", V::quantity, false, "m",
         "Prismatic: the reaction moment about the axis is carried by a pair of forces this far apart. Without it that "
         "causes no friction."},
        {"velocity", V::quantity, false, "m/s | rad/s",
         "For `method: smooth`: slip speed at which friction has reached its value (rate of the angle where only "
         "`torque` is given); chosen by the program unless given."}}});
  all.push_back(
      {"joint-play",
       "Play of a planar joint. Revolute: a pin of `radius` on B in a hole on A. Prismatic: a block of `length` along "
       "the "
       "axis and `height` across it on B between two walls on A. Contacts are named `JOINT.play`, of a guide "
       "`JOINT.upper` and `JOINT.lower`; the joint's components x y z rx ry rz are all free and only observed.",
       "",
       {{"clearance", V::quantity, true, "m",
         "Distance of the surfaces when B sits in the middle: radial for a pin, on either side for a block."},
        {"radius", V::quantity, false, "m", "Revolute: radius of the pin."},
        {"length", V::quantity, false, "m", "Prismatic: length of the block along the axis."},
        {"height", V::quantity, false, "m", "Prismatic: height of the block across the axis."},
        {"law", V::object, true, "", "What the surfaces do when they touch.", "contact-law"}}});
  all.push_back(
      {"law", "A spring and damper: one of `stiffness`, `table`, `formula`, `play`, with `damping`.", "",
       law_keys() + std::vector<KeySpec>{{"play", V::object, false, "", "Backlash between two flanks.", "play"}}});
  all.push_back({"component", "A component of a joint that is driven or elastic.", "`free` or `rigid`",
                 std::vector<KeySpec>{{"drive", V::function, false, "m | rad", "Its motion as a function of `t`."}} +
                     law_keys() +
                     std::vector<KeySpec>{{"play", V::object, false, "", "Backlash between two flanks.", "play"}}});
  all.push_back({"play",
                 "Backlash: free between two flanks, a spring and damper at each.",
                 "",
                 {{"lower", V::quantity, false, "m | rad", "Lower flank; without it there is none."},
                  {"upper", V::quantity, false, "m | rad", "Upper flank; without it there is none."},
                  {"stiffness", V::quantity, true, "N/m | N*m", "Of a flank."},
                  {"damping", V::quantity, false, "N*s/m | N*m*s", "Of a flank."},
                  {"law",
                   V::word,
                   false,
                   "",
                   "`elastic`: no damping; `damped` (the default): damping while in contact; `clipped`: as damped, but "
                   "a flank never pulls.",
                   "",
                   {"elastic", "damped", "clipped"}}}});
  all.push_back({"curve",
                 "A plane curve, in one of these ways.",
                 "",
                 {{"circle", V::quantity, false, "m", "Radius of a circle about the origin."},
                  {"ellipse", V::quantities, false, "m", "[a, b]: semi-axes along x and y."},
                  {"line", V::boolean, false, "", "`true`: the x axis."},
                  {"formula", V::function, false, "", "A formula of x and y that is zero on the curve."}}});
  all.push_back(
      {"force", "A load, or a force element between two places.", "",
       std::vector<KeySpec>{
           {"type",
            V::word,
            true,
            "",
            "The kind of force.",
            "",
            {"force", "torque", "pressure", "spring-damper", "torsion-spring", "play", "actuator"}},
           {"on",
            V::place,
            false,
            "",
            "The place a force or torque acts on; pressure: a planar beam.",
            "place",
            {},
            {"force", "torque", "pressure"}},
           {"side",
            V::word,
            false,
            "",
            "Pressure: the side of the beam, `below` (y < 0 of its section) or `above`; required.",
            "",
            {"below", "above"},
            {"pressure"}},
           {"pressure",
            V::function,
            false,
            "Pa",
            "Pressure on the whole side, a number or a function of `t`; positive towards the axis. It stays normal to "
            "the side and grows with it.",
            "",
            {},
            {"pressure"}},
           {"reaction",
            V::place,
            false,
            "",
            "The place that takes the opposite; nothing does unless given.",
            "place",
            {},
            {"force", "torque"}},
           {"components",
            V::functions,
            false,
            "N | N*m",
            "[x, y, z] as numbers or functions of `t` and quantities; in the plane [x, y], a planar torque one number.",
            "",
            {},
            {"force", "torque"}},
           {"axes",
            V::word,
            false,
            "",
            "Components along the world's axes (`world`, the default) or along those of the place (`body`).",
            "",
            {"world", "body"},
            {"force", "torque"}},
           {"between", V::places, false, "", "The two places.", "place", {}, elements},
           {"joint",
            V::name,
            false,
            "",
            "A joint whose angle or displacement is the deformation, instead of `between`.",
            "",
            {},
            elements},
           {"quantity",
            V::name,
            false,
            "",
            "A quantity that is the deformation, instead of `between`: `pin.angle`.",
            "",
            {},
            elements},
           {"along",
            V::word,
            false,
            "",
            "With `between`: the deformation is the `distance` (the default), the displacement of the second place "
            "along `x`, `y`, `z` of the first, or the `angle` about the first's z (torsion-spring).",
            "",
            {"distance", "x", "y", "z", "angle"},
            elements},
           {"length",
            V::quantity,
            false,
            "m",
            "Length without force; the length at the start unless given.",
            "",
            {},
            {"spring-damper"}}} +
           [] {
             auto keys = law_keys();
             for (auto& k : keys) k.only = springs;
             keys[0].only = keys[1].only = Words{"spring-damper", "torsion-spring", "play"};
             return keys;
           }() +
           std::vector<KeySpec>{
               {"lower", V::quantity, false, "m | rad", "Lower flank; without it there is none.", "", {}, {"play"}},
               {"upper", V::quantity, false, "m | rad", "Upper flank; without it there is none.", "", {}, {"play"}},
               {"law",
                V::word,
                false,
                "",
                "`elastic`, `damped` (the default) or `clipped`, as in `play`.",
                "",
                {"elastic", "damped", "clipped"},
                {"play"}},
               {"command",
                V::function,
                false,
                "",
                "What the actuator is told: a function of `t` and quantities.",
                "",
                {},
                {"actuator"}},
               {"time_constant", V::quantity, false, "s", "T of T dz/dt = command - z.", "", {}, {"actuator"}},
               {"gain",
                V::quantity,
                false,
                "",
                "Force for each unit of z, pushing the places apart; 1 unless given.",
                "",
                {},
                {"actuator"}},
               {"initial", V::quantity, false, "", "z at the start; 0 unless given.", "", {}, {"actuator"}}}});
  return all;
}

}  // namespace clatter
