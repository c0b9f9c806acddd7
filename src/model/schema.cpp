#include "model/schema.hpp"

#include <algorithm>
#include <stdexcept>

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

std::vector<KeySpec> operator+(std::vector<KeySpec> a, const std::vector<KeySpec>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

std::vector<ObjectSpec> build() {
  std::vector<ObjectSpec> all;
  all.push_back({"model",
                 "A model file.",
                 "",
                 {{"clatter", V::integer, true, "", "Version of the model language: 1."},
                  {"title", V::text, false, "", "One line that names the model."},
                  {"description", V::text, false, "", "What it shows, how to run it, what to look at."},
                  {"include", V::names, false, "",
                   "Files to merge, relative to this one. A parameter given here overrides an included one."},
                  {"parameters", V::parameters, false, "", "Named numbers with units, or expressions of each other."},
                  {"gravity", V::vector, false, "m/s^2", "Acceleration of gravity in world axes; none unless given."},
                  {"coordinates",
                   V::word,
                   false,
                   "",
                   "How bodies move: each by its own pose (`absolute`, the default) or by their joints (`joint`).",
                   "",
                   {"absolute", "joint"}},
                  {"frames", V::object_map, false, "", "Places fixed in the world, named `ground.NAME`.", "frame"},
                  {"bodies", V::object_map, false, "", "What moves.", "body"},
                  {"joints", V::object_map, false, "", "What ties bodies to each other and to `ground`.", "joint"},
                  {"forces", V::object_map, false, "", "Loads, springs, dampers, play and actuators.", "force"},
                  {"shapes", V::object_map, false, "", "Contours and surfaces that may touch.", "contact-shape"},
                  {"contacts", V::object_map, false, "", "Which of them touch, and how.", "contact"},
                  {"assemblies", V::object_map, false, "", "Definitions to be used several times.", "assembly"},
                  {"instances", V::object_map, false, "",
                   "Uses of assemblies; their objects are named `INSTANCE.NAME`.", "instance"},
                  {"outputs", V::names, false, "", "Quantities to record: names, or patterns with `*` and `?`."},
                  {"checks", V::object_list, false, "", "Numbers the run must reproduce.", "check"},
                  {"simulate", V::object, false, "", "How to run it.", "simulate"},
                  {"initial", V::object, false, "", "How the start is made consistent with the joints.", "initial"}}});
  all.push_back(
      {"frame",
       "A place with axes of its own.",
       "the position alone: `tip: [1 m, 0, 0]`",
       {{"at", V::vector, false, "m", "Position in the body (for ground: in the world)."},
        {"rotate", V::rotation, false, "", "Orientation in the body (for ground: in the world).", "orientation"}}});
  all.push_back(
      {"orientation",
       "A rotation, in one of these ways.",
       "an angle about z: `30 deg`",
       {{"axis", V::direction, false, "", "Axis of rotation; needs `angle`."},
        {"angle", V::quantity, false, "rad", "Angle about `axis` (about z without one)."},
        {"kardan", V::vector, false, "rad",
         "[alpha, beta, gamma]: turned by gamma about z, then beta about the new y, then alpha about the new x."},
        {"euler", V::vector, false, "rad",
         "[psi, theta, phi]: turned by psi about z, then theta about the new x, then phi about the new z."},
        {"quaternion", V::quantities, false, "1", "[w, x, y, z] of unit length."},
        {"matrix", V::matrix, false, "1", "Rotation matrix, row by row; its columns are the turned axes."}}});
  const std::vector<std::string> stiff{"rigid", "planar", "particle", "planar-particle"};
  all.push_back(
      {"body",
       "A moving body.",
       "",
       {{"type",
         V::word,
         false,
         "",
         "`rigid` (the default), `planar` (moves in the x-y plane), `particle` (a mass point), `planar-particle`, "
         "`flexible` (a mesh that deforms) or `beam` (a beam or cable that bends as far as it likes).",
         "",
         {"rigid", "planar", "particle", "planar-particle", "flexible", "beam"}},
        {"planar",
         V::boolean,
         false,
         "",
         "`true` keeps a body of type `rigid`, `particle` or `beam` in the x-y plane.",
         "",
         {},
         {"rigid", "planar", "particle", "planar-particle", "beam"}},
        {"mass",
         V::quantity,
         false,
         "kg",
         "Mass; may be left out when `shape` and `density` are given.",
         "",
         {},
         stiff},
        {"inertia",
         V::inertia,
         false,
         "kg*m^2",
         "About the mass centre in body axes: [Ixx, Iyy, Izz], [Ixx, Iyy, Izz, Ixy, Ixz, Iyz] (elements of the tensor) "
         "or 3x3; planar: one number.",
         "",
         {},
         stiff},
        {"center_of_mass",
         V::vector,
         false,
         "m",
         "Mass centre in the body's frame; the origin unless given.",
         "",
         {},
         stiff},
        {"shape", V::object, false, "", "A shape, from which mass and inertia follow.", "shape", {}, stiff},
        {"density", V::quantity, false, "kg/m^3", "Density of the shape, instead of `mass`.", "", {}, stiff},
        {"position", V::vector, false, "m",
         "Position of the body's frame at the start; without a pose the joints place the body."},
        {"orientation", V::rotation, false, "", "Orientation of the body's frame at the start.", "orientation"},
        {"angle", V::quantity, false, "rad", "Planar bodies: angle about z at the start."},
        {"velocity", V::vector, false, "m/s", "Velocity of the frame's origin at the start, world axes."},
        {"angular_velocity", V::vector, false, "rad/s",
         "Angular velocity at the start, world axes; planar: one number."},
        {"frames", V::object_map, false, "", "Named places on the body: `BODY.FRAME`.", "frame"}}});
  for (auto& key : flexible_body_keys()) all.back().keys.push_back(std::move(key));
  for (auto& key : beam_keys()) all.back().keys.push_back(std::move(key));
  all.push_back(
      {"shape",
       "A solid of uniform density; one of the solids and where it sits.",
       "",
       {{"box", V::vector, false, "m", "Edges along x, y, z."},
        {"sphere", V::quantity, false, "m", "Radius."},
        {"cylinder", V::object, false, "", "Solid cylinder.", "round"},
        {"capsule", V::object, false, "", "Cylinder with a half sphere on each end; `length` is the cylinder's.",
         "round"},
        {"rod", V::object, false, "", "Slender rod; with a radius a solid cylinder.", "rod"},
        {"axis", V::direction, false, "", "Axis of cylinder and capsule (z unless given) or rod (x unless given)."},
        {"at", V::vector, false, "m", "Centre of the solid in the body's frame."},
        {"rotate", V::rotation, false, "", "Orientation of the solid in the body's frame.", "orientation"}}});
  all.push_back({"round",
                 "Size of a cylinder or capsule.",
                 "",
                 {{"radius", V::quantity, true, "m", "Radius."}, {"length", V::quantity, true, "m", "Length."}}});
  all.push_back({"rod",
                 "Size of a rod.",
                 "the length alone: `rod: 1 m`",
                 {{"length", V::quantity, true, "m", "Length."},
                  {"radius", V::quantity, false, "m",
                   "Radius; without it the rod is thin and turns about its own axis without effort."}}});
  all.push_back({"place",
                 "A place on a body.",
                 "its name: `rod.tip`, `rod` or `ground`",
                 {{"on", V::place, true, "", "Body, or frame of a body."},
                  {"at", V::vector, false, "m", "Position in that body or frame."},
                  {"rotate", V::rotation, false, "", "Orientation in that body or frame.", "orientation"}}});
  all.push_back(
      {"joint",
       "A joint between two places.",
       "",
       {{"type",
         V::word,
         true,
         "",
         "The kind of joint.",
         "",
         {"revolute", "prismatic", "cylindrical", "spherical", "universal", "planar", "fixed", "screw", "distance",
          "point-on-curve", "constant-velocity", "bushing", "gear", "rack", "slip", "coordinate"}},
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
         {"revolute", "prismatic", "cylindrical", "planar", "screw", "universal", "point-on-curve"}},
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
  for (auto& o : contact_language()) all.push_back(std::move(o));
  for (auto& o : flexible_language()) all.push_back(std::move(o));
  for (auto& o : beam_language()) all.push_back(std::move(o));
  all.push_back({"assembly",
                 "A definition to be used by instances. Positions are in the assembly's own frame.",
                 "",
                 {{"description", V::text, false, "", "What it is."},
                  {"parameters", V::parameters, false, "",
                   "Parameters with their defaults; one without a value must be given by every instance."},
                  {"frames", V::object_map, false, "", "Places fixed in the world, moved with the instance.", "frame"},
                  {"bodies", V::object_map, false, "", "Its bodies.", "body"},
                  {"joints", V::object_map, false, "", "Its joints.", "joint"},
                  {"forces", V::object_map, false, "", "Its forces.", "force"},
                  {"shapes", V::object_map, false, "", "Its shapes.", "contact-shape"},
                  {"contacts", V::object_map, false, "", "Its contacts.", "contact"},
                  {"instances", V::object_map, false, "", "Assemblies inside it.", "instance"}}});
  all.push_back({"instance",
                 "A use of an assembly.",
                 "",
                 {{"of", V::name, true, "", "The assembly."},
                  {"at", V::vector, false, "m", "Where its origin is placed."},
                  {"rotate", V::rotation, false, "", "How it is turned.", "orientation"},
                  {"parameters", V::parameters, false, "", "Values that replace the assembly's defaults."},
                  {"repeat", V::object, false, "", "Makes copies, named `INSTANCE_1` and so on.", "repeat"}}});
  all.push_back({"repeat",
                 "Copies of an instance. Its `at`, `rotate` and `parameters` may use the counters `i`, `j`, `k`, the "
                 "running number `n`, all from 0, and the random numbers `u`, `v`, `w`, uniform from -0.5 to 0.5.",
                 "",
                 {{"i", V::quantity, false, "1", "Copies along the first counter, which runs fastest (1)."},
                  {"j", V::quantity, false, "1", "Along the second (1)."},
                  {"k", V::quantity, false, "1", "Along the third (1)."},
                  {"seed", V::quantity, false, "1", "Start of the random numbers (0)."}}});
  all.push_back({"check",
                 "A number the run must reproduce.",
                 "",
                 {{"quantity", V::name, true, "", "A scalar quantity: `rod.tip.position.x`."},
                  {"at",
                   V::outcome,
                   false,
                   "s",
                   "A time, or what is taken over the run; `final` unless given.",
                   "",
                   {"final", "min", "max", "mean", "drift", "amplitude", "peak-to-peak", "integral", "first-zero"}},
                  {"value", V::quantity, true, "", "The expected value."},
                  {"tolerance", V::quantity, false, "", "Largest allowed difference, or `1e-6 relative`."},
                  {"relative", V::quantity, false, "1",
                   "Largest allowed difference divided by the value, instead of `tolerance`."},
                  {"from", V::text, false, "", "Where the value comes from."}}});
  all.push_back(
      {"simulate",
       "How to run the model.",
       "",
       {{"method",
         V::word,
         false,
         "",
         "The integrator; `dopri5` unless given. With rigid contacts one of `event-driven` (the default then), "
         "`time-stepping` and `smooth`.",
         "",
         {"rk4", "dopri5", "radau5", "generalized-alpha", "newmark", "hht", "euler", "symplectic-euler", "verlet",
          "bdf", "adams", "event-driven", "time-stepping", "smooth"}},
        {"scheme",
         V::word,
         false,
         "",
         "How event-driven and smooth go on between events: any other method (`dopri5` unless given). Time-stepping: "
         "`moreau` (the default) or `generalized-alpha`.",
         "",
         {"rk4", "dopri5", "radau5", "generalized-alpha", "newmark", "hht", "euler", "symplectic-euler", "verlet",
          "bdf", "adams", "moreau"}},
        {"theta", V::quantity, false, "1",
         "Weight of the end of the step in `moreau`, 0 to 1 (stable from 0.5 on); 0.5 unless given."},
        {"contact_solver",
         V::word,
         false,
         "",
         "How `moreau` finds the impulses of a step: `newton` (exact, for up to some hundred contacts), or for crowds "
         "`gauss-seidel` (sweeps), `apgd` (accelerated gradients) and `barzilai-borwein` (spectral gradients). Unless "
         "given `newton`, and `gauss-seidel` for more than 100 bodies or with ropes.",
         "",
         {"newton", "gauss-seidel", "apgd", "barzilai-borwein"}},
        {"friction_model",
         V::word,
         false,
         "",
         "With the solvers for crowds: Coulomb's law as it is (`exact`, unless given) or its convex relaxation "
         "(`relaxed`), in which what slides at speed v hovers at a gap of mu v times the step.",
         "",
         {"exact", "relaxed"}},
        {"contact_iterations", V::integer, false, "",
         "With the solvers for crowds: most sweeps or gradient steps in a step; 60 sweeps or 200 gradient steps unless "
         "given."},
        {"contact_tolerance", V::quantity, false, "m/s",
         "With the solvers for crowds: rates that may be wrong when they stop; a ten-thousandth of what forces change "
         "in "
         "a step unless given."},
        {"threads", V::integer, false, "",
         "With the solvers for crowds: threads at work, 1 unless given. Results do not depend on it."},
        {"start", V::quantity, false, "s", "Time at the start; 0 unless given."},
        {"end", V::quantity, false, "s", "Time at the end; 1 s unless given."},
        {"step", V::quantity, false, "s", "The step, or the first step where the method controls it."},
        {"max_step", V::quantity, false, "s", "Largest step."},
        {"output_step", V::quantity, false, "s",
         "Time between recorded instants; a thousandth of the run unless given."},
        {"tolerance", V::quantity, false, "1",
         "Relative tolerance of the step control; the absolute one is a hundredth of it unless given."},
        {"absolute_tolerance", V::quantity, false, "1", "Absolute tolerance of the step control."},
        {"max_order", V::quantity, false, "1",
         "Highest order of `bdf` (1 to 5) and `adams` (1 to 12); the highest there is unless given."},
        {"iteration",
         V::word,
         false,
         "",
         "How `radau5` solves for its stages: `newton` unless given; `fixed-point` needs no matrices but short steps.",
         "",
         {"newton", "fixed-point"}},
        {"rho_infinity", V::quantity, false, "1",
         "Spectral radius at infinite frequency of generalized-alpha, 0 to 1."},
        {"beta", V::quantity, false, "1",
         "Newmark's weight of positions; (gamma + 1/2)^2 / 4 unless given, which is stable for every step."},
        {"gamma", V::quantity, false, "1",
         "Newmark's weight of velocities; 0.5 unless given. Above 0.5 vibrations are damped and the order is 1."},
        {"alpha", V::quantity, false, "1",
         "Damping of `hht` (Hilber, Hughes, Taylor), -1/3 to 0; -0.1 unless given. 0 is Newmark's trapezoidal rule."},
        {"checkpoint", V::quantity, false, "s",
         "Simulated time between checkpoints; a hundredth of the run unless given."},
        {"project", V::boolean, false, "", "Remove the drift of the joints' constraints (true unless given)."}}});
  all.push_back({"initial",
                 "How the start is made consistent with the joints.",
                 "",
                 {{"adjust_positions", V::boolean, false, "",
                   "Move bodies until the joints fit (true unless given); else a misfit is an error."},
                  {"adjust_velocities", V::boolean, false, "", "The same for velocities."},
                  {"keep", V::names, false, "", "Bodies and joints that must stay as given."}}});
  return all;
}

}  // namespace

const KeySpec* ObjectSpec::find(std::string_view key) const {
  for (const auto& k : keys)
    if (k.name == key) return &k;
  return nullptr;
}

std::vector<std::string> ObjectSpec::key_names() const {
  std::vector<std::string> names;
  for (const auto& k : keys) names.push_back(k.name);
  return names;
}

const std::vector<ObjectSpec>& language() {
  static const std::vector<ObjectSpec> all = build();
  return all;
}

const ObjectSpec& object_spec(std::string_view name) {
  for (const auto& o : language())
    if (o.name == name) return o;
  throw std::logic_error("no such object in the model language: " + std::string(name));
}

}  // namespace clatter
