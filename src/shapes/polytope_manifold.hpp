// Where two convex polytopes touch: one face of one of them faces the other, or two edges cross.
//
//   separation of a face     smallest distance of the other polytope's vertices from its plane, outward positive
//   separation of two edges  along their common perpendicular, where that is an outward normal of both (their arcs on
//                            the Gauss sphere cross)
//   reference                the face or the pair of edges with the largest separation (separating axis; when they
//                            overlap, the shortest way out). Faces are preferred where they are nearly as good.
//   incident face g          of the other polytope's faces, the one that faces the reference face f most
//
// Points of contact of f and g are the vertices of g above f, the vertices of f above g, and the crossings of their
// edges: never a vertex against a face of the far side, and with all of both polytopes in the decision, so that boxes
// whose corners lie on each other cannot take a side for the face. A foot beyond the end by no more than rounding is
// on the face; what coincides is told once. No point of contact is deeper than the separation. The same in the plane:
// polygon_manifold.hpp.
#pragma once

#include <limits>
#include <vector>

#include "shapes/kernels_spatial.hpp"

namespace clatter::contact {

class PolytopeManifold {
 public:
  struct Point {
    int slot;     // of polytope_polytope()
    int feature;  // face touched by a vertex; of edges 0 or 1, the sign of e1 x e2 that points to the first
  };

  // Polytopes that a face tells to be farther apart than `far` are left at that: no points. `soon`: where two edges
  // cross, also the points of the faces beside them, none deeper than the edges: faces that are nearly parallel meet
  // within a step; and apart, no edges that pass each other beyond their ends.
  void find(const Geometry& first, const Geometry& second, const Frame3<double>& A, const Frame3<double>& B,
            double far = std::numeric_limits<double>::infinity(), bool soon = false);
  double separation() const { return separation_; }
  const Vec3& axis() const { return axis_; }  // that it is measured along, from the second to the first
  const std::vector<Point>& points() const { return points_; }
  // Feature of a slot, -1 for one that does not touch.
  int feature(int slot) const {
    for (const Point& p : points_)
      if (p.slot == slot) return p.feature;
    return -1;
  }

 private:
  void faces_touch(const Geometry& P, const Geometry& Q, int f, int nearest, bool reference_is_first,
                   const Geometry& first, const Geometry& second, const Frame3<double>& A, const Frame3<double>& B);

  double separation_ = 0;
  Vec3 axis_ = Vec3::UnitZ();
  std::vector<Point> points_;
  std::vector<Vec3> told_;
};

}  // namespace clatter::contact
