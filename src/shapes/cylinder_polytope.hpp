// Where a cylinder and a convex polytope touch.
//
// As for two cylinders (cylinder_manifold.hpp): the direction with the largest separation is the reference, out of
//
//   face and rim       the polytope's faces            edge and side    the product of axis and edge
//   cap and vertex     the cylinder's axis             vertex and side  from the vertex across to the axis
//   edge and rim       t x e where the rim is nearest to the edge; along their difference where t is parallel to e
//   vertex and rim     from the vertex to the rim's nearest point
//
// Where the bodies are apart one of these is the direction of their distance, whatever that is: the separation is the
// distance. Where they overlap it is the shortest way out; vertex and rim then have none, nor have rim and edge along
// each other, since both are sharp.
//
// Points of contact are those of all these features whose own normals are not far from the reference, that lie within
// what they touch, and that are no deeper than the separation: a rim point at the very edge of a box cannot take its
// side for its face, and a coin half over the edge of a table rests where its rim crosses the edge. The two that are no
// way out are points only while they are the distance. So the least gap of all points is the distance at any distance.
#pragma once

#include <vector>

#include "shapes/kernels_polytope.hpp"

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
  // `nearest_only`: vertex and rim, rim along edge.
  bool counts(int slot, const Vec3& n, double inside, double gap, bool nearest_only) const;
  // What of the cylinder a vertex (in its axes) is against: 0 the side, 1 the upper cap, 2 the lower one, 3 the upper
  // rim, 4 the lower one.
  int vertex_feature(const Geometry& cylinder, const Vec3& vertex) const;
  const Crossing* crossing(int slot) const {
    for (const Crossing& c : crossings_)
      if (c.slot == slot) return &c;
    return nullptr;
  }

 private:
  double separation_ = 0, rounding_ = 0;
  Vec3 n_ = Vec3::UnitZ();
  double lean_ = 0;
  int leads_ = -1;  // slot that counts wherever it is, when they touch or overlap
  std::vector<Crossing> crossings_;
};

// Farther apart than `reach`, by a look at faces and caps; false: not known.
bool cylinder_apart(const Geometry& cylinder, const Geometry& polytope, const Frame3<double>& A,
                    const Frame3<double>& B, double reach);

// The pair last asked for is remembered.
const CylinderPolytopeManifold& manifold_of_cylinder(const Geometry& cylinder, const Geometry& polytope,
                                                     const Frame3<double>& A, const Frame3<double>& B);

}  // namespace clatter::contact
