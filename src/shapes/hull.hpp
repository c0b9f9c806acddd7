// Convex hull of a few points: the faces, edges and vertices of box and polytope.
#pragma once

#include "shapes/shape.hpp"

namespace clatter::contact {

// Fills points (the corners, in the order given), normals, faces, edges, edge_faces, edge_sides and bound. False when
// the points lie in a plane.
bool convex_hull(const std::vector<Vec3>& points, Geometry& g);

}  // namespace clatter::contact
