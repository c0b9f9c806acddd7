// Touch in particular positions: corners, supports of bodies that lie or stand, degenerate directions.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "shapes.hpp"
#include "shapes/contour.hpp"
#include "shapes/pairs.hpp"

namespace clatter::contact {
namespace {

Pose<double> put(double x, double y, double z = 0, const Mat3& R = Mat3::Identity()) { return {R, Vec3(x, y, z)}; }
Mat3 about(const Vec3& axis, double angle) { return Eigen::AngleAxisd(angle, axis.normalized()).toRotationMatrix(); }

struct Result {
  bool alive;
  Branch branch;
  Touch<double> t;
};
Result touched(const Geometry& a, const Geometry& b, int slot, const Pose<double>& x, const Pose<double>& y) {
  Result r;
  r.alive = touch<double>(a, b, slot, x, y, r.branch, r.t);
  return r;
}
std::vector<Result> all_slots(const Geometry& a, const Geometry& b, const Pose<double>& x, const Pose<double>& y) {
  std::vector<Result> list;
  for (int i = 0; i < pair_kind(a, b, Contact{}).slots; ++i) {
    const Result r = touched(a, b, i, x, y);
    if (r.alive) list.push_back(r);
  }
  return list;
}
int closed(const std::vector<Result>& list, double tolerance = 1e-9) {
  int count = 0;
  for (const Result& r : list) count += r.t.gap < tolerance;
  return count;
}

TEST(CircleOnLine, TouchesTheEndOfAShortLineAsACorner) {
  const Result face = touched(circle(0.5), line(2), 0, put(0.4, 0.7), put(0, 0));
  EXPECT_EQ(face.branch.feature, 0);
  EXPECT_NEAR(face.t.gap, 0.2, 1e-15);
  EXPECT_NEAR(face.t.margin, 0.6, 1e-15);
  const Result end = touched(circle(0.5), line(2), 0, put(1.3, 0.4), put(0, 0));
  EXPECT_EQ(end.branch.feature, 1);
  EXPECT_NEAR(end.t.gap, 0, 1e-15);
  EXPECT_LT((end.t.n - Vec3(0.6, 0.8, 0)).norm(), 1e-15);
  EXPECT_LT((end.t.p2 - Vec3(1, 0, 0)).norm(), 1e-15);
  EXPECT_FALSE(touched(circle(0), line(2), 0, put(1.3, 0.4), put(0, 0)).alive);  // a point passes by
  EXPECT_FALSE(touched(circle(0.5), line(2), 0, put(0, -3), put(0, 0)).alive);   // far below
  EXPECT_TRUE(touched(circle(0.5), line(), 0, put(0, -3), put(0, 0)).alive);     // an endless line has no below
}

TEST(ConcentricCircles, HaveADirectionAndNoNaN) {
  for (const bool hollow : {false, true}) {
    const Geometry ball = circle(0.5), other = circle(1, hollow);
    const Result r = touched(ball, other, 0, put(0.3, 0.2), put(0.3, 0.2));
    ASSERT_TRUE(r.alive);
    EXPECT_NEAR(r.t.gap, hollow ? 0.5 : -1.5, 1e-15);
    EXPECT_NEAR(r.t.n.norm(), 1, 1e-15);
    // Its rate must be the one of the direction chosen.
    using J = Jet<double>;
    const Motion m1 = planar_motion(0.3, 0.2, 1, 2, 0, 0, 0, 0, 0), m2 = planar_motion(0.3, 0.2, 0, 0, 0, 0, 0, 1, 0);
    Branch branch = r.branch;
    Touch<J> t;
    ASSERT_TRUE(touch<J>(ball, other, 0, m1.at(J(0, 1)), m2.at(J(0, 1)), branch, t));
    EXPECT_NEAR(t.gap.d, r.t.n.dot(Vec3(1, 2, 0)), 1e-15);
  }
  const Result s = touched(sphere(0.5), sphere(1), 0, put(0, 0), put(0, 0));
  ASSERT_TRUE(s.alive);
  EXPECT_NEAR(s.t.n.norm(), 1, 1e-15);
  EXPECT_TRUE(s.t.t1.allFinite());
}

TEST(CircleInHole, TouchesWhereItIsFarthestFromTheCentre) {
  const Result r = touched(circle(0.4), circle(1, true), 0, put(0.3, 0.4), put(0, 0));
  EXPECT_NEAR(r.t.gap, 0.1, 1e-15);
  EXPECT_LT((r.t.n - Vec3(-0.6, -0.8, 0)).norm(), 1e-15);
  EXPECT_LT((r.t.p2 - Vec3(0.6, 0.8, 0)).norm(), 1e-15);
}

TEST(CircleOnPolygon, TouchesFacesAndCorners) {
  const Geometry s = square(2);
  const Result face = touched(circle(0.5), s, 0, put(0.2, 1.6), put(0, 0));
  EXPECT_NEAR(face.t.gap, 0.1, 1e-15);
  EXPECT_NEAR(face.t.margin, 0.8, 1e-15);
  const Result corner = touched(circle(0.5), s, 0, put(1.3, 1.4), put(0, 0));
  EXPECT_EQ(corner.branch.feature, 4 + 2);
  EXPECT_NEAR(corner.t.gap, 0, 1e-15);
  EXPECT_NEAR(corner.t.margin, 0.3, 1e-15);
  const Result inside = touched(circle(0.5), s, 0, put(0.9, 0.2), put(0, 0));
  EXPECT_NEAR(inside.t.gap, -0.6, 1e-15);
  EXPECT_LT((inside.t.n - Vec3(1, 0, 0)).norm(), 1e-15);
}

TEST(PolygonOnPolygon, StandsOnTwoVertices) {
  EXPECT_EQ(closed(all_slots(square(1), square(2), put(0.2, 1.5), put(0, 0))), 2);
  EXPECT_EQ(closed(all_slots(square(2), square(1), put(0.2, 1.5), put(0, 0))), 2);
  // pushed half over the edge: one vertex of each
  EXPECT_EQ(closed(all_slots(square(1), square(2), put(1.2, 1.5), put(0, 0))), 2);
  EXPECT_EQ(closed(all_slots(square(1), square(2), put(1.2, 1.6), put(0, 0))), 0);
}

TEST(Ellipse, OnAPolygonIgnoresTheFarEdges) {
  const std::vector<Result> list = all_slots(ellipse(0.5, 0.3), square(2), put(0.1, 1.35), put(0, 0));
  for (const Result& r : list) EXPECT_GT(r.t.gap, 0.04);
  EXPECT_EQ(closed(list, 0.050001), 1);
}

TEST(Ellipses, ThatOverlapFindTheShallowestDirection) {
  // Two circles written as ellipses, 1.5 apart: overlap 0.5, also from a cold start.
  const Result r = touched(ellipse(1, 1), ellipse(1, 1), 0, put(1.2, 0.9), put(0, 0));
  ASSERT_TRUE(r.alive);
  EXPECT_NEAR(r.t.gap, -0.5, 1e-12);
  EXPECT_LT((r.t.n - Vec3(0.8, 0.6, 0)).norm(), 1e-9);
}

TEST(OpenCurve, EndsInACorner) {
  const Geometry g = road();
  const double end = 2;  // its right end, where it begins
  const Result r = touched(circle(0.3), g, 0, put(end + 0.2, contour_at(g, g.from).r.y()), put(0, 0));
  ASSERT_TRUE(r.alive);
  EXPECT_NE(r.branch.feature, 0);
  EXPECT_NEAR(r.t.gap, -0.1, 1e-12);
  EXPECT_FALSE(touched(circle(0), g, 0, put(end + 0.2, 0), put(0, 0)).alive);
}

TEST(Box, StandsOnFourVerticesOfAPlaneAndOfABox) {
  const Geometry b = box({1, 1, 1});
  EXPECT_EQ(closed(all_slots(b, plane(), put(0, 0, 0.5), put(0, 0))), 4);
  EXPECT_GE(closed(all_slots(b, box({3, 3, 1}), put(0, 0, 1), put(0, 0))), 4);
  for (const Result& r : all_slots(b, box({3, 3, 1}), put(0.1, 0.2, 1.1), put(0, 0)))
    EXPECT_GT(r.t.gap, 0.0999) << "nothing may overlap";
}

// A bar laid across a bar has no vertex over the other: four crossings of edges carry it.
TEST(Box, LaidAcrossABoxRestsOnFourCrossingsOfEdges) {
  const Geometry bar = box({4, 0.6, 0.5});
  const auto list = all_slots(bar, bar, put(0.1, 0, 0.5, about({0, 0, 1}, 1.2)), put(0, 0));
  int edges = 0;
  for (const Result& r : list)
    if (r.t.gap < 1e-9) {
      ++edges;
      EXPECT_LT((r.t.n - Vec3(0, 0, 1)).norm(), 1e-9);
      EXPECT_NEAR(r.t.p1.z(), 0.25, 1e-12);
    }
  EXPECT_EQ(edges, 4);
  for (const Result& r : all_slots(bar, bar, put(0.1, 0, 5, about({0, 0, 1}, 1.2)), put(0, 0)))
    EXPECT_GT(r.t.gap, 0) << "far above nothing overlaps";
}

TEST(Box, TouchesABoxEdgeOnEdge) {
  const Geometry b = box({2, 1, 1});
  const double h = std::sqrt(0.5);
  const Mat3 tip = about({1, 0, 0}, std::numbers::pi / 4);
  const auto list =
      all_slots(b, b, put(0, 0, 2 * h + 0.1, about({0, 0, 1}, std::numbers::pi / 2) * tip), put(0, 0, 0, tip));
  double least = 1;
  for (const Result& r : list) least = std::min(least, r.t.gap);
  int nearest = 0;
  for (const Result& r : list)
    if (std::abs(r.t.gap - 0.1) < 1e-12 && std::abs(r.t.p1.z() - h - 0.1) < 1e-12) ++nearest;
  EXPECT_EQ(nearest, 1);
}

TEST(Cylinder, StandingUprightHasFourSupportsAndNoNaN) {
  const Geometry coin = cylinder(0.5, 0.2);
  const auto list = all_slots(coin, plane(), put(0, 0, 0.1), put(0, 0));
  EXPECT_EQ(closed(list), 4);
  for (const Result& r : list) EXPECT_TRUE(r.t.p1.allFinite() && r.t.t1.allFinite());
  const auto tilted = all_slots(coin, plane(), put(0, 0, 0.5, about({0, 1, 0}, 0.3)), put(0, 0));
  double least = 1;
  for (const Result& r : tilted) least = std::min(least, r.t.gap);
  EXPECT_NEAR(least, 0.5 - 0.1 * std::cos(0.3) - 0.5 * std::sin(0.3), 1e-14);
  EXPECT_EQ(closed(all_slots(coin, box({2, 2, 2}), put(0.1, 0.2, 1.1), put(0, 0))), 4);
  EXPECT_EQ(closed(all_slots(coin, plane(), put(0, 0, 0.5, about({1, 0, 0}, std::numbers::pi / 2)), put(0, 0))), 2);
}

// A coin that settles: while nearly upright the supports are points of the body, so that nothing jumps between steps.
TEST(Cylinder, NearlyUprightKeepsItsSupports) {
  const Geometry coin = cylinder(0.5, 0.2);
  for (int slot = 0; slot < 8; ++slot) {
    Branch branch;
    Touch<double> first, later;
    ASSERT_TRUE(touch<double>(coin, plane(), slot, put(0, 0, 0.1, about({0, 1, 0}, 2e-3)), put(0, 0), branch, first));
    const double angle = branch.s1;
    ASSERT_TRUE(touch<double>(coin, plane(), slot, put(0, 0, 0.1, about({1, 1, 0}, 1e-3)), put(0, 0), branch, later));
    EXPECT_EQ(branch.s1, angle);
    ASSERT_TRUE(touch<double>(coin, plane(), slot, put(0, 0, 0.1), put(0, 0), branch, later));
    EXPECT_EQ(branch.s1, angle);
    EXPECT_LT((first.p1 - later.p1).norm(), 2e-3);
  }
}

TEST(Capsules, LyingSideBySideHaveTwoSupports) {
  const Geometry c = capsule(0.5, 2);
  EXPECT_EQ(closed(all_slots(c, c, put(1, 0, 0.4), put(0, 0))), 2);
  EXPECT_EQ(closed(all_slots(c, c, put(1, 0, 0, about({1, 0, 0}, 1)), put(0, 0))), 1);
  EXPECT_EQ(closed(all_slots(c, plane(), put(0, 0, 0.5, about({1, 0, 0}, std::numbers::pi / 2)), put(0, 0))), 2);
}

TEST(Capsule, OverTheEdgeOfABoxRestsOnTheEdge) {
  const Geometry c = capsule(0.1, 4), b = box({1, 1, 1});
  const auto list = all_slots(c, b, put(0, 0, 0.6, about({0, 1, 0}, std::numbers::pi / 2)), put(0, 0));
  EXPECT_EQ(closed(list), 2);
  for (const Result& r : list) {
    const double off = std::abs(r.t.p2.x()) - 0.5;
    EXPECT_NEAR(r.t.gap < 1e-9 ? off : 0, 0, 1e-12);
  }
}

// YV-9, YV-10: points above and below sin(x) and x^2/2 + 1, nearer than the radius of curvature (1 m at its smallest),
// find the place where the distance is normal to the curve to rounding, and none of 40 000 places is nearer (their
// distance of 0.25 mm leaves 3e-8 m of the square).
TEST(BeamSides, FindTheNearestPlaceOfACurve) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> along(-2.5, 2.5), off(-0.6, 0.6);
  struct Hill {
    Geometry shape;
    double (*y)(double);
    double (*slope)(double);
  };
  const Hill hills[] = {
      {curve("-s", "-sin(s)", -5, 5), [](double x) { return std::sin(x); }, [](double x) { return std::cos(x); }},
      {curve("-s", "0.5*s^2 + 1", -5, 5), [](double x) { return 0.5 * x * x + 1; }, [](double x) { return x; }}};
  const Geometry point = circle(0);
  const Pose<double> ground{Mat3::Identity(), Vec3::Zero()};
  for (const Hill& hill : hills)
    for (int i = 0; i < 40; ++i) {
      const double x = along(random), d = off(random), slope = hill.slope(x);
      const Vec3 p = Vec3(x, hill.y(x), 0) + d * Vec3(-slope, 1, 0).normalized();
      Touch<double> t;
      Branch branch;
      ASSERT_TRUE(touch<double>(point, hill.shape, 0, {Mat3::Identity(), p}, ground, branch, t));
      EXPECT_NEAR(t.gap, d, 1e-12);
      EXPECT_NEAR((p - t.p2).dot(Vec3(1, hill.slope(t.p2.x()), 0).normalized()), 0, 1e-12);
      double nearest = 1e9;
      for (int k = 0; k <= 40000; ++k) {
        const double at = -5 + 10.0 * k / 40000;
        nearest = std::min(nearest, std::hypot(p.x() - at, p.y() - hill.y(at)));
      }
      EXPECT_NEAR(std::abs(t.gap), nearest, 1e-6);
      EXPECT_LE(std::abs(t.gap), nearest + 1e-12);
    }
}

}  // namespace
}  // namespace clatter::contact
