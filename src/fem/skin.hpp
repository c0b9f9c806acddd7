// What a flexible body looks like: triangles of its skin, and how each of its shapes moves their corners.
//
// Solids show their outer faces, plane bodies their elements. Beams have no skin of their own: each is drawn as a prism
// whose section is the rectangle of the same area moments, sqrt(12 I/A), its corners turning with the beam's ends.
#pragma once

#include "fem/structure.hpp"

namespace clatter::fem {

struct Skin {
  std::vector<Vec3> vertices;                 // undeformed, coordinates of the mesh
  std::vector<std::array<int, 3>> triangles;  // counter-clockwise from outside
  std::vector<int> nodes;                     // of the mesh, that each vertex stands at or beside
  Mat modes;                                  // 3 rows a vertex, a column a shape; axes of the mesh
};
// Shapes: freedoms x n of the structure. A body given by matrices has none.
Skin make_skin(const Structure& structure, const Mat& shapes);

}  // namespace clatter::fem
