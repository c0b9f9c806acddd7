// Samples of contact laws: two bodies whose round shapes press on each other, and one that presses on the ground, with
// every law of the list and the parameters of its own sample. A law that is added to the list stands here by itself.
#include <fmt/format.h>

#include "engine/registry.hpp"
#include "laws/table.hpp"

namespace clatter {

namespace {

// The law as a model writes it; of parameters that exclude each other the first.
std::string law_text(const laws::LawRow& row) {
  std::string text = fmt::format("type: {}", row.type);
  if (row.model[0] != 0) text += fmt::format(", model: {}", row.model);
  int chosen = 0;
  for (std::size_t i = 0; i < row.parameters.size(); ++i) {
    const laws::Parameter& p = row.parameters[i];
    if (!p.in_language || (p.choice != 0 && p.choice == chosen)) continue;
    if (p.choice != 0) chosen = p.choice;
    text += fmt::format(", {}: {}", p.key, row.sample[i]);
  }
  return text;
}

// Penetrations of some tenths of a metre, so that bodies thrown about still press.
std::string spatial(const std::string& law) {
  return fmt::format(R"(clatter: 1
gravity: [0, 0, 0]
bodies:
  one:
    mass: 1.3
    inertia: [0.11, 0.17, 0.23, 0.012, -0.02, 0.031]
    center_of_mass: [0.05, -0.04, 0.03]
    position: [0.2, -0.1, 0.4]
    orientation: {{kardan: [0.3, -0.5, 0.8]}}
    velocity: [0.4, -0.3, 0.6]
    angular_velocity: [1.1, -0.7, 0.9]
  two:
    mass: 0.9
    inertia: [0.09, 0.06, 0.08, -0.011, 0.008, 0.005]
    center_of_mass: [-0.03, 0.06, -0.05]
    position: [0.9, 0.5, -0.3]
    orientation: {{kardan: [-0.4, 0.3, 0.5]}}
    velocity: [-0.2, 0.5, 0.3]
    angular_velocity: [-0.8, 0.6, 1.2]
shapes:
  hull: {{on: one, type: sphere, radius: 1.1, at: [0.1, 0.05, -0.08]}}
  ball: {{on: two, type: sphere, radius: 1.2, at: [-0.06, 0.1, 0.04]}}
contacts:
  press: {{between: [hull, ball], law: {{{}}}}}
simulate: {{end: 1, method: smooth}}
)",
                     law);
}

// Planar bodies, one of them on a joint, against each other and the ground.
std::string planar(const std::string& law) {
  return fmt::format(R"(clatter: 1
coordinates: joint
gravity: [0, -10, 0]
bodies:
  one: {{type: planar, mass: 1.3, inertia: 0.2, center_of_mass: [0.06, -0.04], position: [0.4, 0.5], velocity: [0, 0.3], angular_velocity: 0.7}}
  two: {{type: planar, mass: 0.9, inertia: 0.1, center_of_mass: [0.03, 0.02], position: [1.5, 1.3], angle: -0.9, velocity: [0.5, -0.7], angular_velocity: -1.1}}
joints:
  pin: {{type: revolute, between: [ground, one], at: [0, 0.5]}}
shapes:
  floor: {{on: ground, type: line}}
  hull: {{on: one, type: circle, radius: 1.2, at: [0.2, 0.05]}}
  ball: {{on: two, type: circle, radius: 1.1, at: [-0.06, 0.1]}}
contacts:
  stand: {{between: [hull, floor], law: {{{0}}}}}
  press: {{between: [hull, ball], law: {{{0}, rolling_friction: 0.02}}}}
simulate: {{end: 1, method: smooth}}
)",
                     law);
}

std::string word(std::string name) {
  for (char& c : name)
    if (c == '-') c = '_';
  return name;
}

}  // namespace

std::vector<Registered> registered_contact_laws() {
  std::vector<Registered> out;
  for (const laws::LawRow& row : laws::table()) {
    const std::string name = "contact_" + word(row.name());
    const std::string law = law_text(row);
    // Slips below and above the speed over which friction grows. Friction acts on either skin, so that its two forces
    // have a moment of the penetration: only without it angular momentum stays.
    out.push_back(
        {name + "_free", "contact_law", spatial(law), {.internal = true, .scleronomic = true, .objective = true}});
    out.push_back(
        {name + "_spatial",
         "contact_law",
         spatial(law + ", friction: 0.3, friction_velocity: 1, rolling_friction: 0.02, drilling_friction: 0.03"),
         {.scleronomic = true, .objective = true}});
    out.push_back({name + "_planar",
                   "contact_law",
                   planar(law + ", friction: 0.3, friction_velocity: 3"),
                   {.scleronomic = true, .objective = true, .planar_twin = true, .tree_capable = true}});
  }
  return out;
}

}  // namespace clatter
