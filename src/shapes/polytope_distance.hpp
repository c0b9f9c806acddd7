// Nearest points of the edges of two convex polytopes that are apart.
//
//   |a + s d - b - t e| least over 0 <= s, t <= 1, over all pairs of edges
//
// Polytopes that are apart are nearest where a vertex is above a face, which the manifold tells
// (polytope_manifold.hpp), or on edges: where two cross, or at their ends. Along any unit axis two edges are no nearer
// than the axis tells: pairs that lie farther apart than what is known are passed over.
#pragma once

#include "shapes/kernels_spatial.hpp"

namespace clatter::contact {

struct NearestPoints {
  double distance = 0;
  Vec3 p1, p2;
};

// False: none are nearer than `far`. axis: from the second to the first, best one that separates them.
bool nearest_edges(const Geometry& first, const Geometry& second, const Frame3<double>& A, const Frame3<double>& B,
                   const Vec3& axis, double far, NearestPoints& out);

}  // namespace clatter::contact
