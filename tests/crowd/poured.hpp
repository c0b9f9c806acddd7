// Grains of several kinds poured into a box, and the balance of their energy and momentum step by step, for the tests.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "crowd/problems.hpp"

namespace clatter::contact {

inline const char* const kBall = "bodies: {b: {shape: {sphere: 5 cm}, density: 2000 kg/m^3}}";
inline const char* const kBrick = "bodies: {b: {shape: {box: [12 cm, 8 cm, 5 cm]}, density: 1800 kg/m^3}}";
inline const char* const kRod =
    "bodies: {b: {mass: 0.3 kg, inertia: [4e-4, 4e-4, 1e-4]}}, "
    "shapes: {skin: {on: b, type: capsule, radius: 3 cm, length: 8 cm}}";
inline const char* const kLog =
    "bodies: {b: {mass: 0.6 kg, inertia: [9e-4, 9e-4, 3e-4]}}, "
    "shapes: {skin: {on: b, type: cylinder, radius: 3 cm, length: 12 cm}}";
inline const char* const kPiece =
    "bodies: {b: {mass: 0.5 kg, inertia: [5e-4, 5e-4, 4e-4]}}, shapes: {skin: {on: b, type: polytope, points: "
    "[[0.05, 0, 0], [-0.05, 0, 0], [0, 0.045, 0], [0, -0.045, 0], [0, 0, 0.04], [0, 0, -0.04]]}}";

// 3 x 3 x layers grains, turned at random, that fall into a box.
inline std::string poured(const char* grain, int layers, const char* law, const char* simulate) {
  const bool own = std::string(grain).find("skin") == std::string::npos;
  return fmt::format(R"(
clatter: 1
gravity: [0, 0, -9.81 m/s^2]
assemblies: {{grain: {{{0}}}}}
instances:
  heap: {{of: grain, repeat: {{i: 3, j: 3, k: {1}, seed: 11}}, rotate: {{axis: [1, 0.4, 0.2], angle: 90 deg * w}},
         at: [0.15*(i - 1) + 1 cm * u, 0.15*(j - 1) + 1 cm * v, 8 cm + 0.15*k]}}
shapes:
  floor: {{on: ground, type: plane}}
  west: {{on: ground, type: plane, at: [-24 cm, 0, 0], rotate: {{axis: y, angle: 90 deg}}}}
  east: {{on: ground, type: plane, at: [24 cm, 0, 0], rotate: {{axis: y, angle: -90 deg}}}}
  south: {{on: ground, type: plane, at: [0, -24 cm, 0], rotate: {{axis: x, angle: -90 deg}}}}
  north: {{on: ground, type: plane, at: [0, 24 cm, 0], rotate: {{axis: x, angle: 90 deg}}}}
contacts:
  pile: {{among: ["heap_*.{2}"], law: {{type: rigid, {3}}}}}
  walls: {{between: ["heap_*.{2}", [floor, west, east, south, north]], law: {{type: rigid, {3}}}}}
simulate: {{method: time-stepping, contact_solver: gauss-seidel, step: 1 ms, end: 3 s, {4}}}
)",
                     grain, layers, own ? "b" : "skin", law, simulate);
}

// Steps a crowd to `end`: largest rise of its stored energy (of the energy that semi-implicit Euler keeps in flight
// where `staggered`: the weights half a step earlier), of what was there at the start; largest error of the balance of
// momentum, of the weight's impulse in a step.
struct Balance {
  double rise = 0, momentum = 0;
};
inline Balance balance(Crowd& c, double end, bool staggered = false) {
  Balance out;
  double mass = 0;
  for (const Link& link : c.system->tree.links) mass += link.mass;
  const double g = 9.81;
  const auto momentum = [&] {
    Vec3 p = Vec3::Zero();
    for (std::size_t l = 0; l < c.system->tree.links.size(); ++l)
      p += c.system->tree.links[l].mass * c.v().segment<3>(c.system->tree.links[l].v);
    return p;
  };
  double last = c.energy();
  const double start = last;
  while (c.stepper->state().t < end * (1 - 1e-12)) {
    const Vec3 before = momentum();
    const double t = c.stepper->state().t;
    c.stepper->step(end);
    const double h = c.stepper->state().t - t;
    const Vec3 given = h * (c.stepper->entries()[1].force - Vec3(0, 0, g * mass));
    out.momentum = std::max(out.momentum, (momentum() - before - given).norm() / (h * g * mass));
    const double now = c.energy() - (staggered ? 0.5 * h * g * momentum().z() : 0);
    out.rise = std::max(out.rise, (now - last) / start);
    last = now;
  }
  return out;
}

// Energies are sums over some 40 bodies of relative rounding 1e-16, and so is momentum.
constexpr double kRounding = 1e-13, kMomentum = 1e-10;

}  // namespace clatter::contact
