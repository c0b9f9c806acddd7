// Where a cylinder and a convex polytope touch.
//
// As for two cylinders (cylinder_manifold.hpp): the direction with the largest separation is the reference, out of the
// polytope's faces, the cylinder's axis (a cap faces the polytope), the products of its axis and the edges (edge on
// side), the directions from the axis to vertices, and those of a rim that crosses an edge. Points of contact are those
// of all these features whose own normals are not far from the reference, that lie within what they touch, and that are
// no deeper than the separation: a rim point at the very edge of a box cannot take its side for its face, and a coin
// half over the edge of a table rests where its rim crosses the edge.
#pragma once

#include <vector>

#include "contact/kernels_polytope.hpp"

namespace clatter::contact {

class CylinderPolytopeManifold {
 public:
  // Slots: eight rim points for each face; vertices against the cylinder; edges against its side; each edge with each
  // rim, two places.
  struct Slots {
    int vertices, edges, crossings, count;
    explicit Slots(const Geometry& polytope)
        : vertices(8 * count_of(polytope.normals)),
          edges(vertices + count_of(polytope.points)),
          crossings(edges + count_of(polytope.edges)),
          count(crossings + 4 * count_of(polytope.edges)) {}
  };
  struct Crossing {
    int slot, feature;
    double s;  // angle on the rim
  };

  void find(const Geometry& cylinder, const Geometry& polytope, const Frame3<double>& A, const Frame3<double>& B);

  double separation() const { return separation_; }
  const Vec3& normal() const { return n_; }  // to the cylinder
  // A point at `slot` whose normal is n, `inside` what it touches by a length.
  bool counts(int slot, const Vec3& n, double inside, double gap) const;
  // A vertex lies on: 1 the upper cap, 2 the lower one, 0 the side.
  int vertex_feature() const;
  const Crossing* crossing(int slot) const {
    for (const Crossing& c : crossings_)
      if (c.slot == slot) return &c;
    return nullptr;
  }

 private:
  double separation_ = 0, rounding_ = 0;
  Vec3 n_ = Vec3::UnitZ();
  double lean_ = 0;
  int leads_ = -1;  // slot that counts wherever it is, when they overlap
  std::vector<Crossing> crossings_;
};

// Farther apart than `reach`, by a look at faces and caps; false: not known.
bool cylinder_apart(const Geometry& cylinder, const Geometry& polytope, const Frame3<double>& A,
                    const Frame3<double>& B, double reach);

// The pair last asked for is remembered.
const CylinderPolytopeManifold& manifold_of_cylinder(const Geometry& cylinder, const Geometry& polytope,
                                                     const Frame3<double>& A, const Frame3<double>& B);

}  // namespace clatter::contact
