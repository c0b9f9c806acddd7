// The decision of a pair of polytopes against brute force over directions.
#include "shapes/polytope_manifold.hpp"

#include <gtest/gtest.h>

#include <random>

#include "contact/shapes.hpp"
#include "shapes/touch.hpp"

namespace clatter::contact {
namespace {

// Largest separation over many directions: no larger than that of the best axis, and near to it.
double sampled_separation(const Geometry& a, const Geometry& b, const Frame3<double>& A, const Frame3<double>& B) {
  double best = -1e9;
  constexpr int kDirections = 4000;
  for (int k = 0; k < kDirections; ++k) {
    // Points of a Fibonacci lattice on the sphere.
    const double z = 1 - (2 * k + 1.0) / kDirections, phi = k * 2.399963229728653, r = std::sqrt(1 - z * z);
    const Vec3 n(r * std::cos(phi), r * std::sin(phi), z);
    double low = 1e9, high = -1e9;
    for (const Vec3& p : a.points) low = std::min(low, n.dot(A.point(p)));
    for (const Vec3& p : b.points) high = std::max(high, n.dot(B.point(p)));
    best = std::max(best, low - high);
  }
  return best;
}

TEST(PolytopeManifold, TouchesAlongTheSeparatingAxisAndNowhereDeeper) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> u(-1, 1);
  int overlapping = 0, faces = 0, edges = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const Geometry a = box({0.6 + 0.2 * u(random), 0.8, 1.0}), b = trial % 2 == 0 ? box({0.5, 0.9, 0.7}) : wedge();
    const auto pose = [&](double reach) {
      const Quat q = Quat(u(random), u(random), u(random), u(random)).normalized();
      return Pose<double>{q.toRotationMatrix(), reach * Vec3(u(random), u(random), u(random))};
    };
    const Pose<double> pa = pose(0.6), pb = pose(0.6);
    const Frame3<double> A(pa), B(pb);
    PolytopeManifold manifold;
    manifold.find(a, b, A, B);
    const double sampled = sampled_separation(a, b, A, B);
    // A lattice of 4000 directions is 0.03 rad wide; both shapes are about 1 across. An overlap may be told up to 5 %
    // deeper than it is, where a face is preferred to edges; apart, corners may be farther than any face or edge tells.
    if (sampled > 0) {
      EXPECT_GT(manifold.separation(), 0.0) << trial;
    } else {
      EXPECT_GE(manifold.separation(), 1.06 * sampled - 1e-12) << trial;
    }
    EXPECT_LE(manifold.separation(), sampled + 0.04) << trial;
    if (manifold.separation() > 0) continue;
    ++overlapping;
    ASSERT_FALSE(manifold.points().empty()) << trial;
    double deepest = 0;
    for (const PolytopeManifold::Point& p : manifold.points()) {
      Branch branch;
      Touch<double> t;
      ASSERT_TRUE(touch<double>(a, b, p.slot, pa, pb, branch, t)) << trial;
      EXPECT_EQ(branch.feature, p.feature);
      EXPECT_GE(t.gap, manifold.separation() - 1e-8) << trial << " slot " << p.slot;
      deepest = std::min(deepest, t.gap);
      const bool edge = p.slot >= static_cast<int>(a.points.size() + b.points.size());
      (edge ? edges : faces) += 1;
    }
    EXPECT_LT(deepest, 0.0);
  }
  EXPECT_GT(overlapping, 80);
  EXPECT_GT(faces, 80);
  EXPECT_GT(edges, 20);
}

}  // namespace
}  // namespace clatter::contact
