// What a beam looks like: a prism of its section along the axis. Positions of absolute nodal coordinates are linear in
// them, so the prism of a beam moves as shapes do: corners r + y r_y + z r_z; planar cables take the slope turned by 90
// degrees for r_y. A spatial cable has no section vectors: it is drawn as three ribbons along the axes of the body.
#pragma once

#include "model/model.hpp"
#include "record/format.hpp"

namespace clatter::app {

// No triangles for chains of so many elements that the shapes would outweigh the result.
record::Surface beam_skin(const Body& body);

}  // namespace clatter::app
