// Cylinders that overlap, and that lie on something. Distances: cylinder_distance_test.cpp.
//
// How deep bodies overlap is the largest separation along 5000 directions spread over the sphere and, from the best
// of these, uphill.
#include "shapes/cylinder_manifold.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include "convex_distance.hpp"
#include "shapes.hpp"
#include "shapes/cylinder_polytope.hpp"
#include "shapes/pairs.hpp"

namespace clatter::contact {
namespace {

Mat3 about(const Vec3& axis, double angle) { return Eigen::AngleAxisd(angle, axis.normalized()).toRotationMatrix(); }

double support(const Geometry& g, const Pose<double>& pose, const Vec3& n) {
  const Vec3 m = pose.R.transpose() * n;
  double h = g.radius * std::hypot(m.x(), m.y()) + 0.5 * g.length * std::abs(m.z());
  for (const Vec3& v : g.points) h = std::max(h, m.dot(v));  // a polytope about its origin
  return n.dot(pose.p) + h;
}

double separation(const Geometry& a, const Pose<double>& A, const Geometry& b, const Pose<double>& B, const Vec3& n) {
  return -support(a, A, -n) - support(b, B, n);
}

// Largest separation; negative: how far they must be moved apart.
double depth(const Geometry& a, const Pose<double>& A, const Geometry& b, const Pose<double>& B) {
  double best = -1e30;
  Vec3 n = Vec3::UnitZ();
  const int count = 5000;
  for (int i = 0; i < count; ++i) {  // a spiral over the sphere
    const double z = 1 - (2 * i + 1.0) / count, phi = 2.399963229728653 * i, r = std::sqrt(1 - z * z);
    const Vec3 m(r * std::cos(phi), r * std::sin(phi), z);
    const double s = separation(a, A, b, B, m);
    if (s > best) best = s, n = m;
  }
  std::mt19937 gen(1);
  std::normal_distribution<double> u;
  double step = 0.04;
  for (int round = 0; round < 300 && step > 1e-9; ++round) {
    bool better = false;
    for (int k = 0; k < 24; ++k) {
      const Vec3 m = (n + step * Vec3(u(gen), u(gen), u(gen))).normalized();
      const double s = separation(a, A, b, B, m);
      if (s > best) best = s, n = m, better = true;
    }
    if (!better) step /= 2;
  }
  return best;
}

struct Slots {
  double least = 1e30;
  int alive = 0;
};
Slots all_slots(const Geometry& a, const Pose<double>& A, const Geometry& b, const Pose<double>& B) {
  Slots out;
  for (int slot = 0; slot < pair_kind(a, b, Contact{}).slots; ++slot) {
    Branch branch;
    Touch<double> t;
    if (!touch<double>(a, b, slot, A, B, branch, t)) continue;
    ++out.alive;
    out.least = std::min(out.least, t.gap);
    EXPECT_TRUE(t.p1.allFinite() && t.p2.allFinite() && t.t1.allFinite()) << slot;
  }
  return out;
}

// Poses of the first against the second in which the shapes are near, from `nearest` of the distance at which they are
// apart for sure: any, and those that are special.
std::vector<Pose<double>> poses_near(const Geometry& a, const Geometry& b, int count, unsigned seed, double nearest) {
  std::mt19937 gen(seed);
  std::uniform_real_distribution<double> u(-1, 1);
  const auto direction = [&] {
    Vec3 d;
    do d = Vec3(u(gen), u(gen), u(gen));
    while (d.norm() > 1 || d.norm() < 0.1);
    return Vec3(d.normalized());
  };
  const double right = std::numbers::pi / 2;
  std::vector<Pose<double>> list;
  for (int i = 0; i < count; ++i) {
    Mat3 R = about(direction(), std::numbers::pi * u(gen));
    Vec3 p = direction();
    switch (i % 8) {
      case 0:  // axes parallel
        R = about(Vec3::UnitZ(), 3 * u(gen));
        break;
      case 1:  // upside down
        R = about(Vec3::UnitX(), 2 * right);
        break;
      case 2:  // perpendicular
        R = about(Vec3::UnitX(), right);
        break;
      case 3:  // nearly parallel
        R = about(Vec3(u(gen), u(gen), 0), std::pow(10, -1 - 4 * std::abs(u(gen))));
        break;
      case 4:  // on the other's axis
        p = Vec3::UnitZ();
        break;
      case 5:  // axes in one plane
        R = about(Vec3::UnitX(), 3 * u(gen));
        p = Vec3(0, p.y(), p.z()).normalized();
        break;
      default:
        break;
    }
    // Along p they are apart at the sum of their supports; often they are already at less.
    const Pose<double> here{R, Vec3::Zero()}, origin{Mat3::Identity(), Vec3::Zero()};
    const double enough = support(a, here, p) + support(b, origin, p);
    list.push_back({R, p * enough * (nearest + (1.3 - nearest) * std::abs(u(gen)))});
  }
  return list;
}

struct Way {
  double separation;
  Vec3 n;
};
Way way_out(const Geometry& a, const Pose<double>& A, const Geometry& b, const Pose<double>& B) {
  if (b.kind == ContactShape::Kind::cylinder) {
    CylinderManifold manifold;
    manifold.find(a, b, Frame3<double>(A), Frame3<double>(B));
    return {manifold.separation(), manifold.normal()};
  }
  CylinderPolytopeManifold manifold;
  manifold.find(a, b, Frame3<double>(A), Frame3<double>(B));
  return {manifold.separation(), manifold.normal()};
}

// From a pose apart the first is pushed along the normal by a millionth to a half of the least size beyond touching:
// that way out is known, there may be a shorter one. The preference for blunt features may cost 5 % of the depth,
// twice.
TEST(CylindersOverlap, AsDeepAsTheLargestSeparation) {
  const std::pair<Geometry, Geometry> pairs[] = {
      {cylinder(0.5, 0.1), cylinder(0.5, 0.1)},   {cylinder(0.1, 1.2), cylinder(0.12, 1.0)},
      {cylinder(0.5, 0.1), cylinder(0.1, 1.2)},   {cylinder(2, 1), cylinder(0.05, 0.1)},
      {cylinder(0.1, 1.2), box({0.3, 0.5, 0.9})}, {cylinder(0.5, 0.1), box({0.4, 0.6, 0.3})},
      {cylinder(0.4, 0.5), box({0.1, 0.1, 2})},   {cylinder(0.4, 0.5), wedge()}};
  std::mt19937 gen(5);
  std::uniform_real_distribution<double> u(std::log(1e-6), std::log(0.5));
  int measured = 0, poor = 0;
  const Pose<double> B{Mat3::Identity(), Vec3::Zero()};
  for (const auto& [a, b] : pairs) {
    double least_size = std::min(a.radius, a.length);
    if (b.radius > 0) least_size = std::min({least_size, b.radius, b.length});
    for (const Vec3& n : b.normals) least_size = std::min(least_size, support(b, B, n) + support(b, B, -n));
    const double size = a.bound + b.bound;
    for (Pose<double> A : poses_near(a, b, 80, 3, 0.6)) {
      const Way apart = way_out(a, A, b, B);
      if (!(apart.separation > 0)) continue;
      const double push = least_size * std::exp(u(gen));
      A.p -= (apart.separation + push) * apart.n;
      const double expected = std::max(-push, depth(a, A, b, B));
      const Way out = way_out(a, A, b, B);
      ++measured;
      EXPECT_NEAR(out.separation, separation(a, A, b, B, out.n), 1e-12 * size);
      EXPECT_GE(out.separation, 1.11 * expected - 1e-8 * size);
      const Slots s = all_slots(a, A, b, B);
      ASSERT_GT(s.alive, 0);
      EXPECT_GE(s.least, out.separation - 1e-8 * size) << "nothing is deeper than the separation";
      poor += s.least > 0.9 * out.separation + 1e-8 * size;
    }
  }
  EXPECT_GT(measured, 300);
  EXPECT_EQ(poor, 0) << "the deepest point tells the depth";
}

// However deep: no pose is without a point.
TEST(CylindersOverlap, AlwaysHaveAPointOfContact) {
  for (const auto& [a, b] :
       {std::pair{cylinder(0.5, 0.1), cylinder(0.4, 0.1)}, std::pair{cylinder(0.1, 1.2), cylinder(0.4, 0.5)}})
    for (const Pose<double>& A : poses_near(a, b, 1000, 9, 0.0)) {
      const Pose<double> B{Mat3::Identity(), Vec3::Zero()};
      if (convex_distance(a, A, b, B, 1e-9).upper > 0) continue;
      ASSERT_GT(all_slots(a, A, b, B).alive, 0) << A.R.col(2).transpose() << " at " << A.p.transpose();
    }
}

struct Coins {
  int supports = 0;
  double least = 1;
  Vec3 lo = Vec3::Constant(1e9), hi = Vec3::Constant(-1e9);
};
Coins supports(const Geometry& a, const Pose<double>& A, const Geometry& b, const Pose<double>& B) {
  Coins out;
  for (int slot = 0; slot < CylinderManifold::slots; ++slot) {
    Branch branch;
    Touch<double> t;
    if (!touch<double>(a, b, slot, A, B, branch, t)) continue;
    out.least = std::min(out.least, t.gap);
    if (t.gap > 1e-9) continue;
    ++out.supports;
    EXPECT_LT((t.n - Vec3::UnitZ()).norm(), 1e-9) << slot;
    out.lo = out.lo.cwiseMin(t.p2);
    out.hi = out.hi.cwiseMax(t.p2);
  }
  return out;
}

// Supports of what lies on something reach as far as the area both share.
// Axes that cross under so small an angle that they count as parallel are nearest between their ends, by some
// (phi l)^2 / r nearer than any rim is to the other's side. It is their sides that touch all the same, not their caps,
// 16 cm deep.
TEST(Cylinders, NearlyParallelTouchWithTheirSides) {
  const Geometry log = cylinder(0.03, 0.16);
  const Pose<double> ground{Eigen::AngleAxisd(std::numbers::pi / 2, Vec3::UnitY()).toRotationMatrix(), Vec3::Zero()};
  for (const double phi : {0.0, 1e-9, 1e-5, 3e-4, 9.9e-4, 1.1e-3, 1e-2})
    for (const double gap : {1.2e-6, 1e-9, -1e-9, -1e-6, -1e-4})
      for (const double shift : {0.0, 0.0016, 0.05}) {
        const Mat3 turned = Eigen::AngleAxisd(phi, Vec3::UnitZ()).toRotationMatrix() * ground.R;
        const Pose<double> upper{turned, Vec3(shift, 0, 0.06 + gap)};
        double least = 1;
        int points = 0;
        for (int slot = 0; slot < CylinderManifold::slots; ++slot) {
          Branch branch;
          Touch<double> t;
          if (!touch<double>(log, log, slot, upper, ground, branch, t) || t.gap > 1e-3) continue;
          least = std::min(least, t.gap);
          EXPECT_GT(t.n.z(), 0.99) << phi << ' ' << gap << ' ' << shift << " slot " << slot;
          ++points;
        }
        EXPECT_GT(points, 0) << phi << ' ' << gap << ' ' << shift;
        // What a rim tells where they count as parallel; to rounding where they cross.
        EXPECT_NEAR(least, gap, phi > 0 && phi < 1e-3 ? 2 * phi * phi * 0.16 * 0.16 / 0.06 + 1e-9 : 1e-9)
            << phi << ' ' << gap << ' ' << shift;
      }
}

TEST(Cylinders, LyingOnEachOtherAreSupportedAllOver) {
  const Geometry coin = cylinder(0.5, 0.2), log = cylinder(0.1, 1.0);
  const Pose<double> ground{Mat3::Identity(), Vec3::Zero()};
  const Mat3 lying = about(Vec3::UnitX(), std::numbers::pi / 2);
  for (const double press : {0.0, 1e-7, 1e-5}) {
    const Coins equal = supports(coin, {Mat3::Identity(), {0, 0, 0.2 - press}}, coin, ground);
    EXPECT_EQ(equal.supports, 4);
    EXPECT_NEAR(equal.hi.x() - equal.lo.x(), 1, 1e-9);
    EXPECT_NEAR(equal.hi.y() - equal.lo.y(), 1, 1e-9);
    // A lens: its two tips, and what of each rim is over the other.
    const Coins offset = supports(coin, {about(Vec3::UnitZ(), 0.3), {0.5, 0, 0.2 - press}}, coin, ground);
    EXPECT_GE(offset.supports, 4);
    EXPECT_NEAR(offset.hi.y(), std::sqrt(0.25 - 0.0625), 1e-9);
    EXPECT_NEAR(offset.lo.y(), -offset.hi.y(), 1e-9);
    EXPECT_NEAR(offset.hi.x(), 0.5, 1e-9);
    EXPECT_LT(offset.lo.x(), 0.15);
    // A small one on a large one.
    EXPECT_EQ(supports(cylinder(0.2, 0.2), {Mat3::Identity(), {0.1, 0.1, 0.2 - press}}, coin, ground).supports, 4);
    // A log across a coin rests on the coin's rim; a short one on its own ends.
    const Coins across = supports(cylinder(0.1, 2), {lying, {0.2, 0, 0.2 - press}}, coin, ground);
    EXPECT_EQ(across.supports, 2);
    EXPECT_NEAR(across.hi.y(), std::sqrt(0.25 - 0.04), 1e-6);
    EXPECT_EQ(supports(cylinder(0.1, 0.6), {lying, {0.1, 0, 0.2 - press}}, coin, ground).supports, 2);
    // Logs side by side, of one length and shifted, and crossed.
    const Pose<double> below{lying, Vec3::Zero()};
    EXPECT_EQ(supports(log, {lying, {0, 0, 0.2 - press}}, log, below).supports, 2);
    const Coins shifted = supports(log, {lying, {0, 0.3, 0.2 - press}}, log, below);
    EXPECT_EQ(shifted.supports, 2);
    EXPECT_NEAR(shifted.hi.y() - shifted.lo.y(), 0.7, 1e-9);
    EXPECT_EQ(supports(log, {about(Vec3::UnitZ(), 0.4) * lying, {0, 0, 0.2 - press}}, log, below).supports, 1);
  }
}

// A capsule longer than a drum is wide lies on its rim in two places (its ends are beyond).
TEST(Capsule, AcrossADrumRestsOnItsRim) {
  const Geometry drum = cylinder(0.5, 0.4), rod = capsule(0.1, 2);
  const Pose<double> A{about(Vec3::UnitX(), std::numbers::pi / 2), {0.3, 0, 0.3}}, B{Mat3::Identity(), Vec3::Zero()};
  int touching = 0;
  for (int slot = 0; slot < pair_kind(rod, drum, Contact{}).slots; ++slot) {
    Branch branch;
    Touch<double> t;
    if (!touch<double>(rod, drum, slot, A, B, branch, t)) continue;
    EXPECT_GT(t.gap, -1e-12);
    if (t.gap > 1e-9) continue;
    ++touching;
    EXPECT_LT((t.p2 - Vec3(0.3, t.p2.y() > 0 ? 0.4 : -0.4, 0.2)).norm(), 1e-9);
    EXPECT_LT((t.n - Vec3::UnitZ()).norm(), 1e-9);
  }
  EXPECT_EQ(touching, 2);
}

// Its mass centre beyond the edge by nothing: the coin is carried by the edge where its rim crosses it, to both sides.
TEST(Coin, HalfOverTheEdgeOfATableRestsOnTheEdge) {
  const Geometry coin = cylinder(0.5, 0.2), table = box({4, 4, 1});
  for (const double press : {0.0, 1e-7, 1e-5}) {
    const Pose<double> A{about(Vec3::UnitZ(), 0.3), {2, 0.1, 0.6 - press}}, B{Mat3::Identity(), Vec3::Zero()};
    double left = 1, right = -1;
    for (int slot = 0; slot < pair_kind(coin, table, Contact{}).slots; ++slot) {
      Branch branch;
      Touch<double> t;
      if (!touch<double>(coin, table, slot, A, B, branch, t) || t.gap > 1e-9) continue;
      EXPECT_LT((t.n - Vec3::UnitZ()).norm(), 1e-9);
      EXPECT_NEAR(t.gap, -press, 1e-12);
      if (std::abs(t.p2.x() - 2) > 1e-9) continue;
      left = std::min(left, t.p2.y());
      right = std::max(right, t.p2.y());
    }
    EXPECT_NEAR(left, -0.4, 1e-9);
    EXPECT_NEAR(right, 0.6, 1e-9);
  }
}

// The points farthest from the centre, brute force over both rims.
TEST(Cylinder, InAHollowSphereTouchesWithItsRims) {
  std::mt19937 gen(2);
  std::uniform_real_distribution<double> u(-1, 1);
  const Geometry g = cylinder(0.3, 0.8), hole = sphere(1, true);
  for (int i = 0; i < 200; ++i) {
    const Pose<double> A{about(Vec3(u(gen), u(gen), u(gen)), 3 * u(gen)), 0.4 * Vec3(u(gen), u(gen), u(gen))};
    const Pose<double> B{Mat3::Identity(), Vec3(0.1, 0, 0)};
    double farthest = 0;
    for (int k = 0; k < 20000; ++k) {
      const double phi = 2 * std::numbers::pi * k / 10000;
      const Vec3 p = A.p + A.R * Vec3(0.3 * std::cos(phi), 0.3 * std::sin(phi), k < 10000 ? 0.4 : -0.4);
      farthest = std::max(farthest, (p - B.p).norm());
    }
    EXPECT_NEAR(all_slots(g, A, hole, B).least, 1 - farthest, 1e-7);  // samples are 2e-4 apart
  }
  const Slots on_axis = all_slots(g, {Mat3::Identity(), Vec3(0, 0, 0.2)}, hole, {Mat3::Identity(), Vec3::Zero()});
  EXPECT_EQ(on_axis.alive, 8);
  EXPECT_NEAR(on_axis.least, 1 - std::hypot(0.3, 0.6), 1e-12);
}

}  // namespace
}  // namespace clatter::contact
