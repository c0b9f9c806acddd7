// Meshes of flexible bodies in results: skins for pictures, whole meshes with displacement and stress for ParaView.
#pragma once

#include <vector>

#include "record/export.hpp"
#include "record/format.hpp"
#include "study/flexible.hpp"
#include "view/scene.hpp"

namespace clatter::app {

struct Skins {
  std::vector<record::Surface> surfaces;
  std::vector<view::SurfaceUse> uses;
};
// Of the bodies as they were made while `model` was loaded.
Skins skins_of(const Model& model, const std::vector<study::MadeBody>& bodies);

// Writers of `FRAME.vtu` of each flexible body of a result: points where they are in the world, `displacement` in the
// body's axes, `von_mises` (solids and plane bodies).
std::vector<record::VtkPart> mesh_parts(const record::Reader& reader);

}  // namespace clatter::app
