// Where two cylinders touch.
//
//   separation along n   n . (c1 - c2) - h1(n) - h2(n),   h(n) = r |n x z| + l/2 |n . z|  (support functions)
//   reference            the direction with the largest separation: the distance where they are apart, the shortest way
//                        out where they overlap. It is one of a few: the axes (a cap faces the other), their product
//                        (sides crossed), the directions from an axis to the places of the other's rims that are
//                        nearest to it (side and rim), those between places of two rims that are nearest to each other.
//
// Points of contact are those of all these features whose own normals are not far from the reference: supports of a
// coin on a coin (points of each rim over the other's cap, crossings of the rims), of a log along a log (rims on
// sides), of a log on a cap (its rims, or the cap's rim under its side), and those that will bear in a moment when the
// bodies tip. None is deeper than the separation, and what coincides (rims of equal coins) is told once.
#pragma once

#include <array>
#include <limits>

#include "shapes/kernels_spatial.hpp"
#include "shapes/rim_search.hpp"

namespace clatter::contact {

class CylinderManifold {
 public:
  // Slots begin at these; 0: rim points of the first on a cap of the second, 8: of the second on the first.
  static constexpr int rim_rim = 16, first_rim_side = 24, second_rim_side = 28, sides = 32, slots = 33;

  struct Point {
    int slot, feature;
    double s1, s2;
  };

  void find(const Geometry& first, const Geometry& second, const Frame3<double>& A, const Frame3<double>& B);

  double separation() const { return separation_; }
  const Vec3& normal() const { return n_; }  // to the first
  // Whether a cap of the second (or of the first) faces the other body, and which.
  bool cap_faces(bool of_second, bool& upper) const;
  // A rim point at a slot below 16: `inside` the distance to the end of the cap it is over.
  bool rim_point_counts(int slot, double inside, double gap) const;
  // Of the slots from 16 on; null: not alive.
  const Point* point(int slot) const {
    for (int i = 0; i < count_; ++i)
      if (points_[static_cast<std::size_t>(i)].slot == slot) return &points_[static_cast<std::size_t>(i)];
    return nullptr;
  }

 private:
  double separation_ = 0, rounding_ = 0;
  Vec3 n_ = Vec3::UnitZ();
  double lean_[2] = {0, 0};  // of the axes against n, signed
  int forced_ = -1;          // slot of a rim point that counts wherever it is
  int count_ = 0;
  std::array<Point, slots - rim_rim> points_;
};

// Farther apart than `reach`, by a look at a few directions; false: not known.
bool cylinders_apart(const Geometry& first, const Geometry& second, const Frame3<double>& A, const Frame3<double>& B,
                     double reach);

// The pair last asked for is remembered.
const CylinderManifold& manifold_of_cylinders(const Geometry& a, const Geometry& b, const Frame3<double>& A,
                                              const Frame3<double>& B);

}  // namespace clatter::contact
