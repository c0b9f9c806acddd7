// Meshes of flexible bodies in results: skins for pictures, whole meshes with displacement and stress for ParaView, and
// the largest stress as a quantity.
#pragma once

#include <vector>

#include "app/flexible.hpp"
#include "app/simulation.hpp"
#include "record/export.hpp"
#include "record/format.hpp"
#include "view/scene.hpp"

namespace clatter::app {

struct Skins {
  std::vector<record::Surface> surfaces;
  std::vector<view::SurfaceUse> uses;
};
// Of the bodies as they were made while `model` was loaded.
Skins skins_of(const Model& model, const std::vector<MadeBody>& bodies);

// BODY.von_mises: the largest von Mises stress of the whole mesh. The mesh is made when it is asked for first.
// BODY.stress, only where an output of the model names it: the von Mises stress at every vertex of the body's skin.
std::vector<ExtraQuantity> stress_quantities(const System& system, Engine& engine);

// Writers of `FRAME.vtu` of each flexible body of a result: points where they are in the world, `displacement` in the
// body's axes, `von_mises` (solids and plane bodies).
std::vector<record::VtkPart> mesh_parts(const record::Reader& reader);

}  // namespace clatter::app
