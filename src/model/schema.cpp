#include "model/schema.hpp"

#include <algorithm>
#include <stdexcept>

namespace clatter {

namespace {

using V = ValueType;

// Long because it is a table: a row a key of the language.
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
  for (auto& o : mechanism_language()) all.push_back(std::move(o));
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
         "The integrator; unless given `dopri5`, and `radau5` while the motion is stiff. With rigid contacts one of "
         "`event-driven` (the default then), `time-stepping` and `smooth`.",
         "",
         {"rk4", "dopri5", "radau5", "generalized-alpha", "newmark", "hht", "euler", "symplectic-euler", "verlet",
          "bdf", "adams", "event-driven", "time-stepping", "smooth"}},
        {"scheme",
         V::word,
         false,
         "",
         "How event-driven and smooth go on between events: any other method; unless given `dopri5`, and `radau5` "
         "while "
         "the motion is stiff. Time-stepping: `moreau` (the default) or `generalized-alpha`.",
         "",
         {"rk4", "dopri5", "radau5", "generalized-alpha", "newmark", "hht", "euler", "symplectic-euler", "verlet",
          "bdf", "adams", "moreau"}},
        {"theta", V::quantity, false, "1",
         "Weight of the end of the step in `moreau`, 0 to 1 (stable from 0.5 on); 0.5 unless given."},
        {"contact_solver",
         V::word,
         false,
         "",
         "How `moreau` finds the impulses of a step: `newton` (exact, pair by pair, for up to some hundred contacts), "
         "or for crowds `sweeps` (of Gauss and Seidel, also written `gauss-seidel`), `gradients` (accelerated, also "
         "written `apgd`; `barzilai-borwein`: spectral ones) and `semismooth-newton` (to rounding, by factorisations). "
         "Unless given, or with `auto`, `newton`, and `sweeps` for more than 100 bodies or with ropes.",
         "",
         {"auto", "newton", "sweeps", "gradients", "semismooth-newton", "gauss-seidel", "apgd", "barzilai-borwein"}},
        {"friction_model",
         V::word,
         false,
         "",
         "With the solvers for crowds: Coulomb's law as it is (`exact`, unless given) or its convex relaxation "
         "(`relaxed`), in which what slides at speed v hovers at a gap of mu v times the step.",
         "",
         {"exact", "relaxed"}},
        {"contact_iterations", V::integer, false, "",
         "With the solvers for crowds: most sweeps, gradient steps or Newton's iterations (of bodies that hang "
         "together) in a step, and nothing else. Unless given 60, 200, 400, and what sweeps or gradients then leave "
         "above the tolerance goes on by Newton's method."},
        {"contact_tolerance", V::quantity, false, "m/s",
         "With the solvers for crowds: rates that may still change when they stop; a ten-thousandth of what forces "
         "change in a step unless given, for Newton's method 3e-9 of it. A step counts as solved where no rate is off "
         "by more than ten times that; the summary names what is not, and `verify` fails."},
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
                   "Move bodies until the joints fit and rigid shapes do not overlap (true unless given); else a "
                   "misfit is an error."},
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
