// What there is to draw of a model, as JSON that a result keeps (docs/results.md) and the viewer reads:
//
//   version, title, planar, gravity
//   bodies     name, kind, mass, center (of mass), shapes, anchors: places where joints and forces hold it
//   ground     shapes, anchors
//   joints     name, type, a, b: {body, position, rotation} in the body's axes; body -1 is the ground
//   forces     name, kind, a, b
//   contacts   name, first, second: names of shapes
//   surfaces   name, body, coordinates, stress: index into the result's surfaces is the place in this list
//
// A shape has kind, name, role (body: how it looks, contact: what touches), position, rotation (w x y z), and by kind
// size, radius, length, points, faces, closed, hollow. Lengths in m.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/model.hpp"

namespace clatter::view {

// A body's skin among the result's surfaces: which body carries it, the quantity that deforms it and the one that holds
// the stress at its vertices (each may be empty), and its natural vibrations. `large`: it deforms by more than a
// little.
struct SurfaceUse {
  std::string name;
  int body = -1;
  std::string coordinates = {}, stress = {};
  bool large = false;
  struct Shape {
    double frequency;  // Hz
    Vec eta;
  };
  std::vector<Shape> shapes = {};
};

std::string scene_json(const Model& model, const std::vector<SurfaceUse>& surfaces = {});

// The same of a text that somebody else may have written: compared with the above and written anew; keys that do not
// belong there are left out. Throws JsonError (json_value.hpp) where it is no scene.
std::string checked_scene(std::string_view text);

}  // namespace clatter::view
