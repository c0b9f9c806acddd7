// Stresses of the meshes of flexible bodies as quantities.
#pragma once

#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "engine/quantity.hpp"
#include "model/flexible.hpp"

namespace clatter::study {

bool has_stress(const FlexibleSource& source);
// Whether an output asks for the stress over a body's skin. Its thousands of numbers come by name only: `rod.stress` or
// `*.stress`, not `rod.*`.
bool wants_stress(const Model& model, const std::string& body);

// BODY.von_mises: the largest von Mises stress of the whole mesh. The mesh is made when it is asked for first.
// BODY.stress, only where an output of the model names it: the von Mises stress at every vertex of the body's skin.
std::vector<ExtraQuantity> stress_quantities(const System& system, Engine& engine);

}  // namespace clatter::study
