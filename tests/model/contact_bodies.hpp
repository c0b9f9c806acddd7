// Bodies for models with contacts written as text.
#pragma once

#include <string>

#include "model/load.hpp"

namespace clatter {

// A planar ball, two spatial ones, and a planar floor: enough bodies for everything below.
inline const std::string bodies =
    "clatter: 1\n"
    "bodies:\n"
    "  ball: {type: planar, mass: 1, inertia: 1, position: [0, 1], frames: {rim: {at: [1, 0], rotate: 90 deg}}}\n"
    "  one: {mass: 1, shape: {sphere: 10 mm}, position: [0, 0, 1]}\n"
    "  two: {mass: 1, shape: {box: [1, 2, 3], at: [0, 0, 1 m]}, position: [0, 0, 2]}\n";

inline Model load(const std::string& text) { return load_model_text(bodies + text, "m.yaml"); }

}  // namespace clatter
