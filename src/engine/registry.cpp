#include "engine/registry.hpp"

#include <fmt/format.h>

namespace clatter {

namespace {

// --- pieces of models: nothing symmetric, nothing at the origin, nothing along an axis -------------------------------

const std::string pose_one = R"(
    position: [0.2, -0.1, 0.4]
    orientation: {kardan: [0.3, -0.5, 0.8]}
    velocity: [0.4, -0.3, 0.6]
    angular_velocity: [1.1, -0.7, 0.9])";
const std::string pose_two = R"(
    position: [0.9, 0.5, -0.3]
    orientation: {kardan: [-0.4, 0.3, 0.5]}
    velocity: [-0.2, 0.5, 0.3]
    angular_velocity: [-0.8, 0.6, 1.2])";
const std::string pose_three = R"(
    position: [-0.6, 0.7, 0.2]
    orientation: {kardan: [0.1, 0.7, -0.6]}
    velocity: [0.3, 0.2, -0.5]
    angular_velocity: [0.5, 0.9, -0.4])";

std::string one(const std::string& pose = "") {
  return R"(  one:
    mass: 1.3
    inertia: [0.11, 0.17, 0.23, 0.012, -0.02, 0.031]
    center_of_mass: [0.05, -0.04, 0.03]
    frames:
      p: {at: [0.4, 0.1, -0.2], rotate: {kardan: [0.2, 0.6, -0.4]}}
      q: {at: [-0.3, 0.25, 0.15], rotate: {kardan: [-0.7, 0.1, 0.3]}})" +
         pose + "\n";
}

std::string two(const std::string& pose = "") {
  return R"(  two:
    mass: 0.9
    inertia: [0.09, 0.06, 0.08, -0.011, 0.008, 0.005]
    center_of_mass: [-0.03, 0.06, -0.05]
    frames:
      p: {at: [-0.35, 0.2, 0.1], rotate: {kardan: [0.5, -0.3, 0.2]}}
      q: {at: [0.15, -0.3, 0.2], rotate: {kardan: [0.1, 0.4, 0.9]}})" +
         pose + "\n";
}

std::string three(const std::string& pose = "") {
  return R"(  three:
    mass: 0.7
    inertia: [0.05, 0.07, 0.06, 0.004, -0.003, 0.006]
    center_of_mass: [0.02, 0.03, 0.04]
    frames:
      p: {at: [0.1, 0.2, -0.25], rotate: {kardan: [-0.2, 0.5, 0.6]}})" +
         pose + "\n";
}

std::string flat(const std::string& name, double mass, double inertia, const std::string& pose) {
  return fmt::format(R"(  {}:
    type: planar
    mass: {}
    inertia: {}
    center_of_mass: [0.06, -0.04]
    frames:
      p: {{at: [0.4, 0.1], rotate: 0.7}}
      q: {{at: [-0.3, 0.25], rotate: -0.4}}{}
)",
                     name, mass, inertia, pose);
}

const std::string pose_flat_one = R"(
    position: [0.3, -0.2]
    angle: 0.6
    velocity: [-0.2, 0.3]
    angular_velocity: 0.7)";
const std::string pose_flat_two = R"(
    position: [0.7, 0.5]
    angle: -0.9
    velocity: [0.5, 0.7]
    angular_velocity: -0.8)";

std::string flat_one(const std::string& pose = pose_flat_one) { return flat("one", 1.3, 0.21, pose); }
std::string flat_two(const std::string& pose = pose_flat_two) { return flat("two", 0.8, 0.13, pose); }

std::string point(const std::string& name, const char* type, const char* position, const char* velocity) {
  return fmt::format("  {}: {{type: {}, mass: 0.6, position: [{}], velocity: [{}]}}\n", name, type, position, velocity);
}

const std::string gravity = "gravity: [1.2, -2.3, -9.4]\n";
const std::string flat_gravity = "gravity: [1.2, -9.4, 0]\n";
const std::string ground_frames = "frames:\n  g: {at: [0.3, -0.2, 0.5], rotate: {kardan: [0.4, -0.3, 0.6]}}\n";
const std::string flat_ground = "frames:\n  g: {at: [0.2, -0.1, 0], rotate: 0.3}\n";

std::string model(const std::string& top, const std::string& bodies, const std::string& joints = "",
                  const std::string& forces = "") {
  std::string text = "clatter: 1\ntitle: sample\n" + top + "bodies:\n" + bodies;
  if (!joints.empty()) text += "joints:\n" + joints;
  if (!forces.empty()) text += "forces:\n" + forces;
  return text;
}

std::string joint(const std::string& name, const std::string& type, const std::string& a, const std::string& b,
                  const std::string& rest = "") {
  return fmt::format("  {}: {{type: {}, between: [{}, {}]{}{}}}\n", name, type, a, b, rest.empty() ? "" : ", ", rest);
}

std::string force(const std::string& name, const std::string& type, const std::string& rest) {
  return fmt::format("  {}: {{type: {}, {}}}\n", name, type, rest);
}

// Two free bodies and a force between them.
std::string forced_pair(const std::string& forces) { return model("", one(pose_one) + two(pose_two), "", forces); }
// A free body that carries another one.
std::string joined_pair(const std::string& type, const std::string& rest = "", const std::string& forces = "") {
  return model("", one(pose_one) + two(), joint("j", type, "one.p", "two.p", rest), forces);
}

class Collection {
 public:
  std::vector<Registered> all;

  void add(const std::string& group, const std::string& name, const std::string& sample, const Traits& traits) {
    all.push_back({group + "_" + name, group, sample, traits});
  }
};

constexpr Traits free_pair{.conservative = true, .internal = true, .scleronomic = true, .objective = true};
constexpr Traits free_tree{
    .conservative = true, .internal = true, .scleronomic = true, .objective = true, .tree_capable = true};
constexpr Traits grounded_tree{.conservative = true, .scleronomic = true, .objective = true, .tree_capable = true};
constexpr Traits grounded{.conservative = true, .scleronomic = true, .objective = true};
constexpr Traits dissipative{.internal = true, .scleronomic = true, .objective = true};
constexpr Traits dissipative_tree{.internal = true, .scleronomic = true, .objective = true, .tree_capable = true};
constexpr Traits driven_tree{.internal = true, .objective = true, .tree_capable = true};

Traits flat_twin(Traits t) {
  t.planar_twin = true;
  return t;
}

// --- bodies ----------------------------------------------------------------------------------------------------------

void bodies(Collection& c) {
  c.add("body", "rigid", model(gravity, one(pose_one) + two(pose_two)), grounded);
  c.add("body", "rigid_without_gravity", model("", one(pose_one)), free_pair);
  c.add("body", "particle",
        model(gravity, point("one", "particle", "0.3, -0.2, 0.5", "0.6, 0.4, -0.7") + two(pose_two)), grounded);
  c.add("body", "planar", model(flat_gravity, flat_one() + flat_two()), flat_twin(grounded));
  c.add("body", "planar_particle", model(flat_gravity, point("one", "planar-particle", "0.3, -0.2", "0.6, 0.4")),
        flat_twin(grounded));
}

// --- mobilities: the joints that may stand in a tree -----------------------------------------------------------------

struct TreeKind {
  const char* name;
  const char* start;  // start values that place the second body
};

const TreeKind tree_kinds[] = {{"revolute", "angle: 0.4, rate: 0.9"},
                               {"prismatic", "displacement: 0.3, rate: -0.6"},
                               {"screw", "pitch: 0.07, angle: 0.4, rate: 1.1"},
                               {"cylindrical", "displacement: 0.3, angle: 0.4, rate: [0.5, -0.8]"},
                               {"spherical", "angle: [0.3, -0.2, 0.5], rate: [0.4, 0.7, -0.9]"},
                               {"universal", "angle: [0.4, -0.3], rate: [0.6, -0.8]"},
                               {"planar", "displacement: [0.2, -0.1], angle: 0.5, rate: [0.3, 0.4, -0.7]"},
                               {"fixed", ""}};

void mobilities(Collection& c) {
  for (const TreeKind& k : tree_kinds) {
    const std::string name = k.name;
    c.add("mobility", name + "_on_free_root", joined_pair(name, k.start), free_tree);
    c.add("mobility", name + "_reversed_on_free_root",
          model("", one(pose_one) + two(), joint("j", name, "two.p", "one.p", k.start)), free_tree);
    c.add("mobility", name + "_on_ground",
          model(gravity + ground_frames, one() + two(),
                joint("base", name, "ground.g", "one.p", k.start) + joint("j", name, "one.q", "two.p", k.start)),
          grounded_tree);
    c.add("mobility", name + "_reversed_on_ground",
          model(gravity + ground_frames, one() + two(),
                joint("base", name, "one.p", "ground.g", k.start) + joint("j", name, "two.p", "one.q", k.start)),
          grounded_tree);
    // The root moves in the plane, what it carries need not.
    c.add("mobility", name + "_on_planar_root",
          model(flat_gravity, flat_one() + two(),
                joint("j", name, "{on: one.p, rotate: {kardan: [0.3, 0.4, 0]}}", "two.p", k.start)),
          grounded_tree);
  }
  c.add("mobility", "branches_of_mixed_kinds",
        model(gravity + ground_frames, one() + two() + three(),
              joint("base", "universal", "ground.g", "one.p", tree_kinds[5].start) +
                  joint("left", "spherical", "one.q", "two.p", tree_kinds[4].start) +
                  joint("right", "cylindrical", "three.p", "one.q", tree_kinds[3].start)),
        grounded_tree);
  c.add("mobility", "loop_closed_by_a_constraint",
        model(gravity + ground_frames, one() + two(),
              joint("base", "universal", "ground.g", "one.p", tree_kinds[5].start) +
                  joint("j", "spherical", "one.q", "two.p", tree_kinds[4].start) +
                  joint("rod", "distance", "two.q", "ground")),
        grounded_tree);
  // In the plane.
  const struct {
    const char *name, *type, *rest;
  } flat_kinds[] = {
      {"planar_revolute", "revolute", ""}, {"planar_prismatic", "prismatic", "axis: x"}, {"planar_fixed", "fixed", ""}};
  for (const auto& k : flat_kinds) {
    const std::string name = k.name;
    Traits t = flat_twin(free_tree);
    c.add("mobility", name + "_on_free_root",
          model("", flat_one() + flat_two(""), joint("j", k.type, "one.p", "two.p", k.rest)), t);
    c.add("mobility", name + "_reversed_on_free_root",
          model("", flat_one() + flat_two(""), joint("j", k.type, "two.p", "one.p", k.rest)), t);
    c.add("mobility", name + "_on_ground",
          model(flat_gravity + flat_ground, flat_one("") + flat_two(""),
                joint("base", "revolute", "ground.g", "one.p") + joint("j", k.type, "one.q", "two.p", k.rest)),
          flat_twin(grounded_tree));
    c.add("mobility", name + "_reversed_on_ground",
          model(flat_gravity + flat_ground, flat_one("") + flat_two(""),
                joint("base", "revolute", "one.p", "ground.g") + joint("j", k.type, "two.p", "one.q", k.rest)),
          flat_twin(grounded_tree));
  }
}

// --- joints: constraints, drives, elastic components -----------------------------------------------------------------

// Long because it is a table: a row a sample.
void joints(Collection& c) {
  const std::string free_two = one(pose_one) + two(pose_two);
  const auto pair = [&](const std::string& name, const std::string& type, const std::string& rest, Traits t) {
    c.add("joint", name, model("", free_two, joint("j", type, "one.p", "two.p", rest)), t);
  };
  pair("distance", "distance", "length: 0.8", free_pair);
  pair("distance_of_start", "distance", "", free_pair);
  pair("distance_driven", "distance", "drive: 0.8 + 0.1*sin(3*t)", {.internal = true, .objective = true});
  pair("distance_elastic", "distance", "elastic: {stiffness: 30, damping: 0.4, rest: 0.7}", dissipative);
  pair("curve_circle", "point-on-curve", "curve: {circle: 0.9}", free_pair);
  pair("curve_ellipse", "point-on-curve", "curve: {ellipse: [1.1, 0.7]}", free_pair);
  pair("curve_line", "point-on-curve", "curve: {line: true}", free_pair);
  pair("curve_formula", "point-on-curve", "curve: {formula: \"y - 0.5*sin(2*x) + 0.2*x^3*y\"}", free_pair);
  pair("constant_velocity", "constant-velocity", "", free_pair);
  pair("bushing", "bushing",
       "components: {x: {stiffness: 40, damping: 0.3}, y: {stiffness: 50}, z: {stiffness: 60, damping: 0.2}, "
       "rx: {stiffness: 4, damping: 0.1}, ry: {stiffness: 5}, rz: {stiffness: 6, damping: 0.2, rest: 0.1}}",
       dissipative);
  pair("bushing_nonlinear", "bushing",
       "components: {x: {formula: 40*e + 300*e^3 + 0.2*de}, z: {table: [[-1, -30], [0, 1], [0.5, 12], [2, 70]]}, "
       "rx: {play: {lower: -0.05, upper: 0.08, stiffness: 9}}}",
       dissipative);
  pair("slip", "slip", "", {.conservative = true, .scleronomic = true, .objective = true});
  c.add("joint", "slip_on_ground", model(gravity + ground_frames, free_two, joint("j", "slip", "ground.g", "one.p")),
        grounded);
  c.add("joint", "slip_knife_edge", model(gravity, one(pose_one), joint("j", "slip", "one.p", "ground")), grounded);
  c.add("joint", "spherical_of_particle",
        model(gravity, one(pose_one) + point("dot", "particle", "0.5, 0.1, 0.3", "0.6, 0.4, -0.7"),
              joint("j", "spherical", "one.p", "dot")),
        grounded);
  c.add("joint", "distance_of_particles",
        model(gravity,
              point("dot", "particle", "0.5, 0.1, 0.3", "0.6, 0.4, -0.7") +
                  point("other", "particle", "-0.2, 0.4, -0.3", "-0.3, 0.5, 0.1"),
              joint("rod", "distance", "dot", "other") + joint("thread", "distance", "dot", "ground")),
        grounded);

  // Couplings of joints on a carrier that moves freely.
  const std::string carried = one(pose_one) + two() + three();
  const std::string shafts = joint("left", "revolute", "one.p", "two.p", "angle: 0.4, rate: 0.5") +
                             joint("right", "revolute", "one.q", "three.p", "angle: -0.3, rate: 0.8");
  c.add("joint", "gear", model("", carried, shafts + "  j: {type: gear, joints: [left, right], ratio: 1.7}\n"),
        free_tree);
  c.add("joint", "rack",
        model("", carried,
              joint("left", "prismatic", "one.p", "two.p", "displacement: 0.2, rate: 0.5") +
                  joint("right", "revolute", "one.q", "three.p", "angle: -0.3, rate: 0.8") +
                  "  j: {type: rack, joints: [left, right], ratio: 0.3}\n"),
        free_tree);
  c.add("joint", "gear_of_screw_and_cylinder",
        model("", carried,
              joint("left", "screw", "one.p", "two.p", "pitch: 0.07, angle: 0.4") +
                  joint("right", "cylindrical", "three.p", "one.q", "angle: -0.3, displacement: 0.2") +
                  "  j: {type: gear, joints: [left, right], ratio: -0.6}\n"),
        free_tree);
  c.add("joint", "coordinate_held", model(gravity, free_two, "  j: {type: coordinate, quantity: one.q.position.y}\n"),
        {.conservative = true, .scleronomic = true});
  c.add("joint", "coordinate_driven",
        model(gravity, free_two, "  j: {type: coordinate, quantity: two.position.x, drive: 0.9 + 0.2*sin(2*t)}\n"), {});
  c.add("joint", "coordinate_velocity_driven",
        model(gravity, free_two, "  j: {type: coordinate, quantity: two.q.velocity.z, drive: 0.4 + 0.2*sin(2*t)}\n"),
        {});
  c.add("joint", "coordinate_angle_driven",
        model("", one(pose_one) + two(),
              joint("pin", "revolute", "one.p", "two.p", "angle: 0.4") +
                  "  j: {type: coordinate, quantity: pin.angle, drive: 0.4 + 0.3*sin(2*t)}\n"),
        driven_tree);

  // Components of tree joints that are driven or elastic.
  const auto tree = [&](const std::string& name, const std::string& type, const std::string& rest, Traits t) {
    c.add("joint", name, joined_pair(type, rest), t);
    c.add("joint", name + "_reversed", model("", one(pose_one) + two(), joint("j", type, "two.p", "one.p", rest)), t);
  };
  tree("revolute_driven", "revolute", "angle: 0.4, drive: 0.4 + 0.3*sin(2*t)", driven_tree);
  tree("revolute_elastic", "revolute", "angle: 0.4, elastic: {stiffness: 7, damping: 0.3, rest: 0.2}",
       dissipative_tree);
  tree("prismatic_driven", "prismatic", "displacement: 0.3, drive: 0.3 + 0.2*sin(2*t)", driven_tree);
  tree("prismatic_elastic", "prismatic", "displacement: 0.3, elastic: {stiffness: 50, damping: 0.3, rest: 0.1}",
       dissipative_tree);
  tree("screw_driven", "screw", "pitch: 0.07, angle: 0.4, drive: 0.4 + 0.3*sin(2*t)", driven_tree);
  tree("cylindrical_mixed", "cylindrical",
       "displacement: 0.3, angle: 0.4, components: {displacement: {drive: 0.3 + 0.2*sin(2*t)}, "
       "angle: {stiffness: 6, damping: 0.2}}",
       driven_tree);
  tree("universal_mixed", "universal",
       "angle: [0.4, -0.3], components: {rz: {drive: 0.4 + 0.3*sin(2*t)}, ry: {stiffness: 6, damping: 0.2}}",
       driven_tree);
  tree("planar_mixed", "planar",
       "displacement: [0.2, -0.1], angle: 0.5, components: {x: {stiffness: 60}, y: {drive: -0.1 + 0.2*sin(2*t)}, "
       "rz: {stiffness: 6, damping: 0.2}}",
       driven_tree);
  tree("revolute_with_elastic_bearing", "revolute",
       "angle: 0.4, components: {x: {stiffness: 900, damping: 2}, y: {stiffness: 800}}", dissipative_tree);
  tree("fixed_with_driven_direction", "fixed", "components: {y: {drive: 0.1*sin(3*t)}}", driven_tree);
  tree("spherical_elastic", "spherical",
       "angle: [0.3, -0.2, 0.5], components: {rx: {stiffness: 5}, ry: {stiffness: 6, damping: 0.1}, "
       "rz: {stiffness: 7}}",
       dissipative_tree);

  // In the plane.
  const auto flat_pair = [&](const std::string& name, const std::string& type, const std::string& rest, Traits t) {
    c.add("joint", name, model("", flat_one() + flat_two(), joint("j", type, "one.p", "two.p", rest)), flat_twin(t));
  };
  flat_pair("planar_distance", "distance", "length: 0.8", free_pair);
  flat_pair("planar_curve", "point-on-curve", "curve: {ellipse: [1.1, 0.7]}", free_pair);
  flat_pair("planar_bushing", "bushing",
            "components: {x: {stiffness: 40, damping: 0.3}, y: {stiffness: 50}, rz: {stiffness: 6, damping: 0.2}}",
            dissipative);
  flat_pair("planar_slip", "slip", "axis: x", {.conservative = true, .scleronomic = true, .objective = true});
  const auto flat_tree = [&](const std::string& name, const std::string& type, const std::string& rest, Traits t) {
    c.add("joint", name, model("", flat_one() + flat_two(""), joint("j", type, "one.p", "two.p", rest)), flat_twin(t));
  };
  flat_tree("planar_revolute_driven", "revolute", "angle: 0.4, drive: 0.4 + 0.3*sin(2*t)", driven_tree);
  flat_tree("planar_prismatic_elastic", "prismatic",
            "axis: x, displacement: 0.2, elastic: {stiffness: 40, damping: 0.3}", dissipative_tree);
  c.add("joint", "planar_gear",
        model(flat_gravity + flat_ground, flat_one("") + flat_two(""),
              joint("left", "revolute", "ground.g", "one.p") + joint("right", "revolute", "ground", "two.p") +
                  "  j: {type: gear, joints: [left, right], ratio: 1.7}\n"),
        flat_twin(grounded_tree));
  c.add(
      "joint", "planar_rack",
      model(flat_gravity + flat_ground, flat_one("") + flat_two(""),
            joint("left", "prismatic", "ground.g", "one.p", "axis: x") + joint("right", "revolute", "ground", "two.p") +
                "  j: {type: rack, joints: [left, right], ratio: 0.3}\n"),
      flat_twin(grounded_tree));
  c.add("joint", "planar_distance_of_particles",
        model(flat_gravity,
              point("dot", "planar-particle", "0.5, 0.1", "0.6, 0.4") +
                  point("other", "planar-particle", "-0.2, 0.4", "-0.3, 0.5"),
              joint("rod", "distance", "dot", "other") + joint("thread", "distance", "dot", "ground")),
        flat_twin(grounded));
  c.add("joint", "planar_coordinate_driven",
        model(flat_gravity, flat_one() + flat_two(),
              "  j: {type: coordinate, quantity: one.q.position.x, drive: 0.2*sin(2*t)}\n"),
        flat_twin({}));
}

// --- laws of force elements ------------------------------------------------------------------------------------------

void laws(Collection& c) {
  const std::string at = "between: [one.p, two.p]";
  const auto pair = [&](const std::string& name, const std::string& type, const std::string& rest, Traits t) {
    c.add("law", name, forced_pair(force("f", type, at + ", " + rest)), t);
  };
  pair("spring", "spring-damper", "stiffness: 30, length: 0.5", free_pair);
  pair("spring_damper", "spring-damper", "stiffness: 30, damping: 0.7, length: 0.5", dissipative);
  pair("damper", "spring-damper", "damping: 0.7", dissipative);
  pair("spring_along_x", "spring-damper", "along: x, stiffness: 30, damping: 0.4, rest: 0.1", dissipative);
  pair("spring_along_z", "spring-damper", "along: z, stiffness: 30, rest: -0.1", free_pair);
  pair("torsion_spring", "torsion-spring", "stiffness: 6, damping: 0.3, rest: 0.2", dissipative);
  pair("rope_taut", "spring-damper", "stiffness: 30, damping: 0.1, length: 0.2, tension_only: true", dissipative);
  pair("rope_slack", "spring-damper", "stiffness: 30, length: 4, tension_only: true", free_pair);
  pair("stop_pressed", "spring-damper", "stiffness: 30, damping: 0.1, length: 4, compression_only: true", dissipative);
  pair("table_smooth", "spring-damper", "table: [[0.1, -9], [0.4, -1], [0.9, 3], [1.6, 14], [2.5, 20]]", free_pair);
  pair("table_polygon", "spring-damper",
       "table: [[0.1, -9], [0.4, -1], [0.9, 3], [1.6, 14], [2.5, 20]], smooth: false, damping: 0.2", dissipative);
  pair("play_elastic", "play", "lower: 0.1, upper: 0.3, stiffness: 40, law: elastic", free_pair);
  pair("play_damped", "play", "lower: 0.1, upper: 0.3, stiffness: 40, damping: 0.2, law: damped", dissipative);
  pair("play_clipped", "play", "lower: 0.1, upper: 0.3, stiffness: 40, damping: 0.2, law: clipped", dissipative);
  pair("play_lower_flank", "play", "lower: 3, stiffness: 40, damping: 0.2, law: clipped", dissipative);
  pair("play_free", "play", "lower: 0.01, upper: 9, stiffness: 40, law: elastic", free_pair);
  pair("play_of_angle", "play", "along: angle, lower: -0.01, upper: 0.02, stiffness: 8, damping: 0.1", dissipative);
  pair("formula", "spring-damper", "formula: 20*(e - 0.4) + 8*e^3 + 0.3*de*e + 2*sin(3*t)",
       {.internal = true, .objective = true});
  c.add("law", "formula_of_quantities",
        model("", one(pose_one) + two() + three(pose_three), joint("pin", "revolute", "one.p", "two.p", "angle: 0.4"),
              force("f", "spring-damper",
                    "between: [two.q, three.p], formula: 9*e*cos(pin.angle) + 0.2*pin.rate.angle*de + 3*other.length") +
                  force("other", "spring-damper", "between: [one.q, three.p], stiffness: 12, length: 0.3")),
        dissipative_tree);
  const auto on_joint = [&](const std::string& name, const std::string& type, const std::string& start,
                            const std::string& element, Traits t) {
    c.add("law", name, joined_pair(type, start, element), t);
    c.add("law", name + "_reversed",
          model("", one(pose_one) + two(), joint("j", type, "two.p", "one.p", start), element), t);
  };
  on_joint("torsion_spring_on_revolute", "revolute", "angle: 0.4",
           force("f", "torsion-spring", "joint: j, stiffness: 6, damping: 0.3, rest: 0.1"), dissipative_tree);
  on_joint("spring_on_prismatic", "prismatic", "displacement: 0.3",
           force("f", "spring-damper", "joint: j, stiffness: 60, damping: 0.3, rest: 0.1"), dissipative_tree);
  on_joint("spring_on_screw_displacement", "screw", "pitch: 0.07, angle: 0.4",
           force("f", "spring-damper", "quantity: j.displacement, stiffness: 60, damping: 0.3, rest: 0.1"),
           dissipative_tree);
  on_joint("play_on_cylindrical_angle", "cylindrical", "displacement: 0.3, angle: 0.4",
           force("f", "play", "quantity: j.angle, lower: -0.01, upper: 0.01, stiffness: 8, damping: 0.1"),
           dissipative_tree);
  c.add("law", "spring_to_ground",
        model(gravity + ground_frames, one(pose_one), "",
              force("f", "spring-damper", "between: [ground.g, one.q], stiffness: 30, length: 0.5")),
        grounded);
  c.add("law", "spring_of_particles",
        model("",
              point("dot", "particle", "0.5, 0.1, 0.3", "0.6, 0.4, -0.7") +
                  point("other", "particle", "-0.2, 0.4, -0.3", "-0.3, 0.5, 0.1"),
              "", force("f", "spring-damper", "between: [dot, other], stiffness: 30, damping: 0.2, length: 0.3")),
        dissipative);
  c.add("law", "spring_of_position",
        model("", one(pose_one), "",
              force("f", "spring-damper", "quantity: one.q.position.y, stiffness: 30, damping: 0.2, rest: 0.1")),
        {.scleronomic = true});
  c.add("law", "planar_spring",
        model("", flat_one() + flat_two(), "",
              force("f", "spring-damper", "between: [one.p, two.q], stiffness: 30, damping: 0.2, length: 0.3")),
        flat_twin(dissipative));
  c.add("law", "planar_torsion_spring",
        model("", flat_one() + flat_two(), "",
              force("f", "torsion-spring", "between: [one.p, two.q], stiffness: 6, damping: 0.2, rest: 0.3")),
        flat_twin(dissipative));
}

// --- loads and actuators ---------------------------------------------------------------------------------------------

void loads(Collection& c) {
  const auto on_free = [&](const std::string& name, const std::string& forces, Traits t) {
    c.add("load", name, forced_pair(forces), t);
  };
  const Traits follower{.scleronomic = true, .objective = true};
  const Traits world{.scleronomic = true};
  on_free("force_world", force("f", "force", "on: one.p, components: [3, -2, 5]"), world);
  on_free("force_follower", force("f", "force", "on: one.p, components: [3, -2, 5], axes: body"), follower);
  on_free("torque_world", force("f", "torque", "on: one.p, components: [0.3, -0.2, 0.5]"), world);
  on_free("torque_follower", force("f", "torque", "on: one.p, components: [0.3, -0.2, 0.5], axes: body"), follower);
  on_free("force_world_with_reaction", force("f", "force", "on: one.p, reaction: two.q, components: [3, -2, 5]"),
          world);
  on_free("force_follower_with_reaction",
          force("f", "force", "on: one.p, reaction: two.q, components: [3, -2, 5], axes: body"), follower);
  on_free("torque_world_with_reaction",
          force("f", "torque", "on: one.p, reaction: two.q, components: [0.3, -0.2, 0.5]"),
          {.internal = true, .scleronomic = true});
  on_free("torque_follower_with_reaction",
          force("f", "torque", "on: one.p, reaction: two.q, components: [0.3, -0.2, 0.5], axes: body"),
          {.internal = true, .scleronomic = true, .objective = true});
  on_free("force_of_time", force("f", "force", "on: one.p, components: [3*sin(2*t), -2, 4*t^2], axes: body"),
          {.objective = true});
  on_free("force_of_quantities",
          force("f", "force",
                "on: one.p, components: [\"-4*two.position.x\", \"-0.5*one.p.velocity.y*two.q.position.z\", "
                "\"2*sin(3*one.q.position.x)\"]"),
          world);
  on_free("force_follower_of_quantities",
          force("f", "force",
                "on: one.p, reaction: two.q, axes: body, components: [\"-4*two.position.x\", "
                "\"-0.5*one.p.velocity.y*two.q.position.z\", \"3*s.length + s.rate\"]") +
              force("s", "spring-damper", "between: [one.q, two.p], stiffness: 9, length: 0.3"),
          world);
  const std::string chain = joint("base", "revolute", "ground.g", "one.p", "angle: 0.4, rate: 0.5") +
                            joint("j", "universal", "one.q", "two.p", "angle: [0.4, -0.3], rate: [0.6, -0.8]");
  c.add("load", "force_on_a_chain",
        model(gravity + ground_frames, one() + two(), chain,
              force("f", "force", "on: two.q, axes: body, components: [\"2*base.angle\", -3, \"0.4*j.rate.ry\"]") +
                  force("g", "torque", "on: two.q, reaction: one, components: [\"0.2*j.rz\", \"-0.3*base.rate\", 1]")),
        {.scleronomic = true, .tree_capable = true});
  c.add("load", "planar_force_and_torque",
        model(flat_gravity, flat_one() + flat_two(), "",
              force("f", "force", "on: one.p, reaction: two.q, axes: body, components: [3, \"-2*two.position.x\"]") +
                  force("g", "torque", "on: two, components: \"0.4*one.angle\"")),
        {.scleronomic = true});

  c.add("actuator", "of_time",
        forced_pair(force("f", "actuator",
                          "between: [one.p, two.p], command: 2*sin(3*t), time_constant: 0.2, gain: 4, initial: 0.6")),
        {.internal = true, .objective = true});
  c.add("actuator", "of_quantities",
        forced_pair(force("f", "actuator",
                          "between: [one.p, two.p], command: \"-3*f.length - 0.4*f.rate + 0.2*g.state^2\", "
                          "time_constant: 0.2, gain: 4, initial: 0.6") +
                    force("g", "actuator",
                          "between: [one.q, two.q], along: y, command: \"f.length*t\", time_constant: 0.1, "
                          "initial: 0.4")),
        {.internal = true, .objective = true});
  c.add("actuator", "on_a_joint",
        joined_pair("revolute", "angle: 0.4",
                    force("f", "actuator",
                          "joint: j, command: \"3*(0.5 - j.angle) - 0.2*j.rate.angle\", time_constant: 0.2, gain: 4, "
                          "initial: 0.6")),
        dissipative_tree);
  c.add("actuator", "state_in_a_load",
        forced_pair(force("f", "actuator", "between: [one.p, two.p], command: 1, time_constant: 0.2, initial: 0.6") +
                    force("g", "force", "on: one.q, axes: body, components: [\"2*f.state\", 0, \"f.state^2\"]")),
        {.scleronomic = true, .objective = true});
}

}  // namespace

const std::vector<Registered>& registry() {
  static const std::vector<Registered> all = [] {
    Collection c;
    for (const auto add : {bodies, mobilities, joints, laws, loads}) add(c);
    for (const auto part : {registered_beams, registered_contact_laws})
      for (Registered& r : part()) c.all.push_back(std::move(r));
    return std::move(c.all);
  }();
  return all;
}

}  // namespace clatter
