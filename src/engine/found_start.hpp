// A start carried from one System of a model to another: where bodies are and how they move says all that is in the
// coordinates of either.
//
// A start is found in absolute coordinates, whatever the coordinates of the motion. There every joint is rows, so that
// what the model states about bodies is moved, told or refused the same way; then a System in joint coordinates begins
// with what was found.
#pragma once

#include "base/state.hpp"
#include "model/model.hpp"

namespace clatter {

class Engine;

// The model of the engine's system with s written into it: poses and velocities of all bodies, elastic coordinates,
// turns of joints.
Model starting_at(Engine& engine, const State& s);

// The same model with no joint in a tree.
Model in_absolute_coordinates(Model model);

// Whether two systems of one model have their bodies at the same places, moving the same way, up to rounding.
bool same_start(Engine& one, const State& s, Engine& other, const State& of_other);

}  // namespace clatter
