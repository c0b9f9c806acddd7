// Polygon on polygon: which vertices touch which edges.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "shapes.hpp"
#include "shapes/polygon_manifold.hpp"

namespace clatter::contact {
namespace {

Pose<double> at(double x, double y, double angle = 0) {
  return {Mat3(Eigen::AngleAxisd(angle, Vec3::UnitZ())), Vec3(x, y, 0)};
}

std::vector<Touch<double>> touching(const Geometry& a, const Geometry& b, const Pose<double>& A,
                                    const Pose<double>& B) {
  std::vector<Touch<double>> out;
  const int slots = static_cast<int>(a.points.size() + b.points.size());
  for (int slot = 0; slot < slots; ++slot) {
    Branch branch;
    Touch<double> t;
    if (touch<double>(a, b, slot, A, B, branch, t)) out.push_back(t);
  }
  return out;
}

TEST(EqualSquares, CarryEachOtherOnBothCornersHoweverTheyAreRounded) {
  // Upper square beside its place by nothing, by rounding, by more; and apart or sunk in by rounding.
  for (const double x : {0.0, 1e-16, -1e-16, 3e-13, -3e-13, 1e-7, -1e-7, 1e-3, -1e-3})
    for (const double y : {0.0, 1e-16, -1e-16, 1e-12, -1e-12, 1e-6, -1e-6})
      for (const double angle : {0.0, 1e-15, -1e-15, 1e-9, -1e-9}) {
        const auto list = touching(square(1), square(1), at(x, 1 + y, angle), at(0, 0));
        double left = 0, right = 0;
        for (const Touch<double>& t : list) {
          EXPECT_NEAR(t.n.y(), 1, 1e-15) << x << " " << y << " " << angle;
          EXPECT_NEAR(t.gap, y, 1e-9) << x << " " << y;
          left = std::min(left, t.p1.x());
          right = std::max(right, t.p1.x());
        }
        // One point of contact a side, at the inner of the two corners.
        EXPECT_EQ(list.size(), 2u) << x << " " << y << " " << angle;
        EXPECT_NEAR(left, -0.5 + std::max(x, 0.0), 1e-8);
        EXPECT_NEAR(right, 0.5 + std::min(x, 0.0), 1e-8);
      }
}

TEST(Polygons, ThatPassCornerByCornerDoNotTouch) {
  EXPECT_TRUE(touching(square(1), square(1), at(1.001, 1.002), at(0, 0)).empty());
  // The distance is known all the same.
  Branch branch;
  Touch<double> t;
  EXPECT_FALSE(touch<double>(square(1), square(1), 0, at(1.03, 1.04), at(0, 0), branch, t));
  EXPECT_NEAR(t.gap, 0.05, 1e-15);
}

TEST(Polygons, HaveNoPointOfContactOnTheFarSide) {
  // A plank, a corner of which a square has passed by half: the way out is back, for each point of contact.
  const Geometry plank =
      of_points(ContactShape::Kind::polygon, {{-1, -0.01, 0}, {1, -0.01, 0}, {1, 0.01, 0}, {-1, 0.01, 0}});
  for (const Touch<double>& t : touching(square(1), plank, at(0, 0.505), at(0, 0))) {
    EXPECT_NEAR(t.n.y(), 1, 1e-15);
    EXPECT_NEAR(t.gap, -0.005, 1e-15);
  }
}

TEST(Polygons, AreAsFarApartAsTheirSeparatingAxisSays) {
  // Minkowski: two convex bodies overlap by the smallest of the overlaps along the normals of their edges.
  std::mt19937 random(11);
  std::uniform_real_distribution<double> u(-1, 1);
  const Geometry a = pentagon(), b = square(1.1);
  int overlapping = 0, touches = 0;
  for (int k = 0; k < 3000; ++k) {
    const Pose<double> A = at(u(random) * 1.5, u(random) * 1.5, 3 * u(random)), B = at(0, 0, 3 * u(random));
    double separation = -1e30;
    const auto along = [&](const Geometry& g, const Pose<double>& of, const Geometry& other,
                           const Pose<double>& at_other) {
      for (std::size_t e = 0; e < g.points.size(); ++e) {
        const Vec3 n = of.R * g.normals[e], o = of.p + of.R * g.points[e];
        double least = 1e30;
        for (const Vec3& p : other.points) least = std::min(least, n.dot(at_other.p + at_other.R * p - o));
        separation = std::max(separation, least);
      }
    };
    along(a, A, b, B);
    along(b, B, a, A);
    const auto list = touching(a, b, A, B);
    double least = 1e30;
    for (const Touch<double>& t : list) {
      least = std::min(least, t.gap);
      EXPECT_GE(t.gap, separation - 1e-9) << k;
      EXPECT_NEAR((t.p1 - t.p2).dot(t.n), t.gap, 1e-12);
    }
    overlapping += separation < 0;
    touches += !list.empty();
    if (separation >= 0) continue;
    ASSERT_FALSE(list.empty()) << k;
    // The deepest vertex lies on the reference edge, or the edge's end in the other polygon tells of it, less deep.
    EXPECT_LT(least, 1e-9) << k;
  }
  EXPECT_GT(overlapping, 500);
  EXPECT_GT(touches, overlapping);
}

}  // namespace
}  // namespace clatter::contact
