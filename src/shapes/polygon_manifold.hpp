// Where two convex polygons touch or come nearest: one edge of one of them faces the other polygon.
//
//   separation of an edge    smallest distance of the other polygon's vertices from its line, outward positive
//   reference edge e         the edge of both polygons with the largest separation (separating axis; when they overlap,
//                            the shortest way out)
//   incident edge f          of the two edges at the other polygon's nearest vertex, the one that faces e more
//
// Points of contact are the ends of f whose foot lies on e, and the ends of e whose foot lies on f: vertex against edge
// in both roles, never a vertex against an edge on the far side, and with all of both polygons in the decision, so that
// two corners that lie on each other cannot take the side for the face. Ends are inclusive: a foot beyond the end by no
// more than rounding is on the edge. No point of contact is deeper than the separation. Polygons that are apart corner
// to corner touch nowhere.
#pragma once

#include "shapes/kernels_planar.hpp"

namespace clatter::contact {

struct PolygonManifold {
  double separation = 0;
  bool edge_of_first = false;  // e belongs to the first polygon
  int edge = 0, incident = 0;  // e, f
  double distance = 0;         // of the nearest vertex to e itself, when no foot lies on the edges
  bool apart = false;          // corner to corner

  // The edge of the other polygon that vertex `vertex` of the first (or second) polygon touches; -1 for none.
  int touched_by(bool vertex_of_first, int vertex) const {
    for (int k = 0; k < 2; ++k) {
      if (alive[0][k] == vertex && vertex_of_first != edge_of_first) return edge;
      if (alive[1][k] == vertex && vertex_of_first == edge_of_first) return incident;
    }
    return -1;
  }
  int alive[2][2] = {{-1, -1}, {-1, -1}};  // ends of f on e, ends of e on f; vertices of their own polygons
};

PolygonManifold polygon_manifold(const Geometry& first, const Geometry& second, const Frame2<double>& A,
                                 const Frame2<double>& B);

}  // namespace clatter::contact
