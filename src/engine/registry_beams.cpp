// Samples of beams and cables for the conformance tests (registry.hpp): every kind of element alone, damped, curved,
// jointed, sprung and loaded, in a general position.
#include <fmt/format.h>

#include "engine/registry.hpp"

namespace clatter {

namespace {

constexpr Traits alone{.conservative = true, .internal = true, .scleronomic = true, .objective = true};
constexpr Traits held{.conservative = true, .scleronomic = true, .objective = true};

// A cable has no twist: which way its places are turned about the tangent is a matter of where it started.
Traits by_convention(Traits t) {
  t.objective = false;
  return t;
}
Traits losing(Traits t) {
  t.conservative = false;
  return t;
}

const std::string flat_pose = "position: [0.3, -0.2], angle: 0.6, velocity: [-0.2, 0.3], angular_velocity: 0.7";
const std::string pose =
    "position: [0.2, -0.1, 0.4], orientation: {kardan: [0.3, -0.5, 0.8]}, velocity: [0.4, -0.3, 0.6], "
    "angular_velocity: [1.1, -0.7, 0.9]";
const std::string flat_axis = "from: [0.1, -0.2], to: [3.1, 0.9]";
const std::string axis = "from: [0.1, -0.2, 0.3], to: [2.4, 0.9, -0.8]";
const std::string material = "material: {density: 2, young: 9, poisson: 0.3}";
const std::string points = "points: {p: 0.3, q: 0.85}";

std::string beam(bool planar, const std::string& element, const std::string& section, const std::string& rest = "") {
  return fmt::format(
      "  one: {{type: beam, planar: {}, element: {}, elements: 2, {}, section: {{{}}}, {}, {}, {}{}{}}}\n", planar,
      element, planar ? flat_axis : axis, section, material, points, planar ? flat_pose : pose,
      rest.empty() ? "" : ", ", rest);
}
const std::string rectangle = "rectangle: [0.5, 0.4]", circle = "circle: 0.6";

std::string two() {
  return R"(  two:
    mass: 0.9
    inertia: [0.09, 0.06, 0.08, -0.011, 0.008, 0.005]
    frames:
      p: {at: [-0.35, 0.2, 0.1], rotate: {kardan: [0.5, -0.3, 0.2]}}
)";
}
std::string flat_two() {
  return R"(  two:
    type: planar
    mass: 0.8
    inertia: 0.13
    frames:
      p: {at: [0.4, 0.1], rotate: 0.7}
)";
}

std::string model(const std::string& top, const std::string& bodies, const std::string& rest = "") {
  return "clatter: 1\ntitle: sample\n" + top + "bodies:\n" + bodies + rest;
}

}  // namespace

// Long because it is a table: a row a sample.
std::vector<Registered> registered_beams() {
  std::vector<Registered> all;
  const auto add = [&](const std::string& name, const std::string& sample, const Traits& traits) {
    all.push_back({"beam_" + name, "beam", sample, traits});
  };
  const std::string beta = "damping: {beta: 0.3}";
  add("planar_cable", model("", beam(true, "ancf-cable", rectangle)), alone);
  add("planar_cable_damped", model("", beam(true, "ancf-cable", rectangle, beta)), losing(alone));
  add("planar_cable_fully_integrated", model("", beam(true, "ancf-cable", rectangle, "integration: full")), alone);
  add("planar_beam", model("", beam(true, "ancf-beam", rectangle)), alone);
  add("planar_beam_damped", model("", beam(true, "ancf-beam", rectangle, beta)), losing(alone));
  add("planar_continuum", model("", beam(true, "ancf-beam", rectangle, "elastic_forces: continuum")), alone);
  add("planar_continuum_damped", model("", beam(true, "ancf-beam", rectangle, "elastic_forces: continuum, " + beta)),
      losing(alone));
  add("spatial_cable", model("", beam(false, "ancf-cable", circle)), by_convention(alone));
  add("spatial_cable_damped", model("", beam(false, "ancf-cable", circle, beta)), by_convention(losing(alone)));
  add("spatial_beam", model("", beam(false, "ancf-beam", rectangle)), alone);
  add("spatial_beam_damped", model("", beam(false, "ancf-beam", rectangle, beta)), losing(alone));

  const std::string flat_arc = "curve: {x: 1.3 m * sin(s), y: 1.1 m * cos(s), from: 0.2, to: 2}";
  for (const char* element : {"ancf-cable", "ancf-beam"})
    add(fmt::format("planar_arc_of_{}", element[5] == 'c' ? "cable" : "beam"),
        model(
            "gravity: [1.2, -9.4, 0]\n",
            fmt::format("  one: {{type: beam, planar: true, element: {}, elements: 2, {}, section: {{{}}}, {}, {}}}\n",
                        element, flat_arc, rectangle, material, flat_pose)),
        held);
  add("spatial_helix",
      model("gravity: [1.2, -2.3, -9.4]\n",
            fmt::format(
                "  one: {{type: beam, element: ancf-beam, elements: 2, curve: {{x: 1 m * cos(s), y: 1 m * sin(s), "
                "z: 0.3 m * s, from: 0, to: 2}}, section: {{{}}}, {}, {}}}\n",
                rectangle, material, pose)),
      held);

  const std::string flat_gravity = "gravity: [1.2, -9.4, 0]\nframes:\n  g: {at: [0.2, -0.1, 0], rotate: 0.3}\n";
  const std::string gravity =
      "gravity: [1.2, -2.3, -9.4]\nframes:\n  g: {at: [0.3, -0.2, 0.5], rotate: {kardan: [0.4, -0.3, 0.6]}}\n";
  const auto joint = [](const char* type, const char* a, const char* b) {
    return fmt::format("joints:\n  j: {{type: {}, between: [{}, {}]}}\n", type, a, b);
  };
  add("planar_cable_pinned_to_a_body",
      model(flat_gravity, beam(true, "ancf-cable", rectangle) + flat_two(), joint("revolute", "one.q", "two.p")), held);
  add("planar_beam_fixed_to_a_body",
      model(flat_gravity, beam(true, "ancf-beam", rectangle) + flat_two(), joint("fixed", "one.q", "two.p")), held);
  add("planar_beam_clamped",
      model(flat_gravity, beam(true, "ancf-beam", rectangle), joint("fixed", "ground.g", "one.start")), held);
  // Beside the axis, where the section strains.
  const auto beside = [](std::string text, const std::string& point) {
    text.replace(text.find("p: 0.3"), 6, point);
    return text;
  };
  add("planar_beam_pinned_beside_its_axis",
      model(flat_gravity, beside(beam(true, "ancf-beam", rectangle), "p: {at: 0.5, y: -0.25}") + flat_two(),
            joint("revolute", "one.p", "two.p")),
      held);
  add("spatial_beam_fixed_beside_its_axis",
      model(gravity, beside(beam(false, "ancf-beam", rectangle), "p: {at: 0.5, y: 0.25, z: -0.2}") + two(),
            joint("fixed", "one.p", "two.p")),
      held);
  add("spatial_cable_hung", model(gravity, beam(false, "ancf-cable", circle), joint("spherical", "ground.g", "one.p")),
      by_convention(held));
  add("spatial_cable_on_a_body",
      model(gravity, beam(false, "ancf-cable", circle) + two(), joint("revolute", "one.q", "two.p")),
      by_convention(held));
  add("spatial_beam_fixed_to_a_body",
      model(gravity, beam(false, "ancf-beam", rectangle) + two(), joint("fixed", "one.q", "two.p")), held);
  add("spatial_beam_universal",
      model(gravity, beam(false, "ancf-beam", rectangle) + two(), joint("universal", "one.p", "two.p")), held);
  add("planar_beam_spring_to_itself",
      model("", beam(true, "ancf-beam", rectangle),
            "forces:\n  f: {type: spring-damper, between: [one.p, one.end], stiffness: 3, length: 0.7}\n"),
      alone);
  add("planar_beam_pressed",
      model("", beam(true, "ancf-beam", rectangle),
            "forces:\n  f: {type: pressure, on: one, side: above, pressure: 2.1}\n  g: {type: pressure, on: one, side: "
            "below, pressure: -0.7}\n"),
      {.scleronomic = true, .objective = true});
  add("planar_beam_pressed_for_a_while",
      model("", beam(true, "ancf-beam", rectangle),
            "forces:\n  f: {type: pressure, on: one, side: below, pressure: 1.3 Pa * (1 + sin(t/(1 s)))}\n"),
      {.objective = true});
  add("planar_cable_follower_torque",
      model("", beam(true, "ancf-cable", rectangle),
            "forces:\n  f: {type: torque, on: one.q, components: [0, 0, 1.3]}\n"),
      {.scleronomic = true, .objective = true});
  add("spatial_beam_follower_torque",
      model("", beam(false, "ancf-beam", rectangle),
            "forces:\n  f: {type: torque, on: one.q, components: [0.4, -0.7, 1.3], axes: body}\n"),
      {.scleronomic = true, .objective = true});
  add("spatial_cable_follower_force",
      model("", beam(false, "ancf-cable", circle),
            "forces:\n  f: {type: force, on: one.q, components: [0.4, -0.7, 1.3], axes: body}\n"),
      {.scleronomic = true});
  return all;
}

}  // namespace clatter
