// Touch of every pair of kinds: what must hold for any pair along any motion.
//
// Rates come from Jet<double>, second rates from Jet<Dual<24>> with time as the first direction of the Dual.
// Differences are central with step h, extrapolated or not: error h^2 g''' / 6 + eps / h, 1e-8 for h = 1e-5 and motions
// of order 1.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <random>

#include "shapes.hpp"
#include "shapes/contour.hpp"
#include "shapes/pairs.hpp"

namespace clatter::contact {
namespace {

using Second = Jet<Dual<24>>;

Second time_of_second_order(double t) { return {Dual<24>::variable(t, 0), Dual<24>(1.0)}; }

// A cam with hollow flanks, a closed and an open spline.
Geometry cam() { return curve("(0.7+0.1*cos(3*s))*cos(s)", "(0.7+0.1*cos(3*s))*sin(s)", 0, 2 * std::numbers::pi); }
Geometry blob() {
  return of_points(ContactShape::Kind::spline,
                   {{0.9, 0, 0}, {0.6, 0.7, 0}, {-0.3, 0.8, 0}, {-1, 0.1, 0}, {-0.6, -0.6, 0}, {0.4, -0.7, 0}}, true);
}
Geometry track() {
  return of_points(ContactShape::Kind::spline, {{1.5, 0, 0}, {0.6, 0.2, 0}, {-0.3, -0.1, 0}, {-1.5, 0.1, 0}});
}

struct Case {
  std::string name;
  Geometry first, second;
  double reach;  // distance of the shapes' origins to try
};

std::vector<Case> cases() {
  std::vector<Case> list = {
      {"circle-line", circle(0.4), line(), 0.5},
      {"circle-finite line", circle(0.4), line(1.2), 0.8},
      {"circle-circle", circle(0.4), circle(0.3), 0.8},
      {"circle-hollow circle", circle(0.4), circle(1.0, true), 0.5},
      {"circle-polygon", circle(0.3), pentagon(), 1.0},
      {"point-polygon", circle(0), pentagon(), 0.6},
      {"polygon-line", pentagon(), line(), 0.6},
      {"polygon-finite line", pentagon(), line(1.5), 0.8},
      {"polygon-polygon", pentagon(), square(1.1), 1.0},
      {"polygon-hollow circle", pentagon(), circle(1.1, true), 0.1},
      {"finite line-hollow circle", line(1.2), circle(0.9, true), 0.2},
      {"ellipse-line", ellipse(0.7, 0.4), line(), 0.5},
      {"ellipse-finite line", ellipse(0.7, 0.4), line(1.0), 0.7},
      {"ellipse-circle", ellipse(0.7, 0.4), circle(0.3), 0.8},
      {"ellipse-hollow circle", ellipse(0.7, 0.4), circle(1.0, true), 0.2},
      {"ellipse-ellipse", ellipse(0.7, 0.4), ellipse(0.5, 0.6), 1.0},
      {"ellipse-polygon", ellipse(0.7, 0.4), pentagon(), 1.1},
      {"cam-circle", cam(), circle(0.3), 1.2},
      {"cam-line", cam(), line(), 0.8},
      {"cam-polygon", cam(), square(0.6), 1.2},
      {"cam-ellipse", cam(), ellipse(0.3, 0.2), 1.3},
      {"road-circle", road(), circle(0.3), 0.5},
      {"road-line", road(), line(), 0.5},
      {"road-polygon", road(), pentagon(), 0.8},
      {"road-ellipse", road(), ellipse(0.3, 0.2), 0.5},
      {"spline-circle", blob(), circle(0.3), 1.2},
      {"spline-line", blob(), line(), 0.8},
      {"spline-point", blob(), circle(0), 1.0},
      {"open spline-circle", track(), circle(0.2), 0.4},
      {"spline-spline", blob(), blob(), 1.9},
      {"sphere-plane", sphere(0.4), plane(), 0.5},
      {"sphere-sphere", sphere(0.4), sphere(0.3), 0.7},
      {"sphere-hollow sphere", sphere(0.4), sphere(1.0, true), 0.5},
      {"box-plane", box({0.6, 0.8, 1.0}), plane(), 0.6},
      {"polytope-plane", wedge(), plane(), 0.6},
      {"sphere-box", sphere(0.3), box({0.6, 0.8, 1.0}), 0.7},
      {"sphere-capsule", sphere(0.3), capsule(0.2, 0.8), 0.5},
      {"sphere-cylinder", sphere(0.3), cylinder(0.4, 0.7), 0.7},
      {"sphere-polytope", sphere(0.3), wedge(), 0.8},
      {"capsule-hollow sphere", capsule(0.2, 0.8), sphere(1.0, true), 0.3},
      {"box-hollow sphere", box({0.6, 0.8, 1.0}), sphere(1.0, true), 0.1},
      {"capsule-plane", capsule(0.2, 0.8), plane(), 0.5},
      {"capsule-capsule", capsule(0.2, 0.8), capsule(0.3, 0.6), 0.5},
      {"capsule-box", capsule(0.2, 0.8), box({0.6, 0.8, 1.0}), 0.7},
      {"capsule-cylinder", capsule(0.2, 0.8), cylinder(0.4, 0.7), 0.6},
      {"capsule-polytope", capsule(0.2, 0.8), wedge(), 0.7},
      {"cylinder-cylinder", cylinder(0.4, 0.7), cylinder(0.3, 0.9), 0.7},
      {"coin-coin", cylinder(0.5, 0.15), cylinder(0.4, 0.2), 0.5},
      {"cylinder-hollow sphere", cylinder(0.3, 0.7), sphere(1.0, true), 0.3},
      {"cylinder-plane", cylinder(0.4, 0.7), plane(), 0.5},
      {"cylinder-box", cylinder(0.4, 0.7), box({0.6, 0.8, 1.0}), 0.8},
      {"cylinder-polytope", cylinder(0.4, 0.7), wedge(), 0.8},
      {"cylinder-box apart", cylinder(0.2, 0.3), box({0.6, 0.8, 1.0}), 1.6},
      {"box-box", box({0.6, 0.8, 1.0}), box({0.9, 0.5, 0.7}), 0.8},
      {"box-polytope", box({0.6, 0.8, 1.0}), wedge(), 0.8},
      {"polytope-polytope", wedge(), wedge(), 0.8},
  };
  return list;
}

struct Drawn {
  Motion first, second;
};

// Rim points of a cylinder that are points of the body are chosen anew in every position while it is tilted.
bool chosen_anew(const Case& c, const Branch& before, const Branch& after) {
  const bool of_body = before.feature == 1 || (c.second.kind == ContactShape::Kind::cylinder && before.feature == 4);
  return c.first.kind == ContactShape::Kind::cylinder && of_body && before.s1 != after.s1;
}

Drawn draw(const Case& c, std::mt19937& gen) {
  std::uniform_real_distribution<double> u(-1, 1);
  // One after the other: compilers order arguments as they like, and other positions would be drawn.
  const auto vector = [&](double size) {
    const double x = size * u(gen), y = size * u(gen), z = size * u(gen);
    return Vec3(x, y, z);
  };
  const auto motion = [&](const Vec3& p) {
    Motion m{p, vector(1), vector(1), vector(3), vector(1), vector(1)};
    if (c.first.planar()) {
      for (Vec3* x : {&m.p, &m.v, &m.a}) x->z() = 0;
      for (Vec3* x : {&m.angle, &m.rate, &m.second}) *x = Vec3(0, 0, x->z());
    }
    return m;
  };
  Vec3 d = vector(1);
  if (c.first.planar()) d.z() = 0;
  const Vec3 base = vector(0.3);
  Drawn out{motion(base + d.normalized() * c.reach * (1 + 0.5 * u(gen))), motion(base)};
  return out;
}

// Calls `check` for every slot that is alive at t = 0 in some random positions of every pair.
using Check = std::function<void(const Case&, const Drawn&, int slot, const Branch&, const Touch<double>&)>;
int for_each_touch(const std::vector<Case>& list, int draws, const Check& check) {
  int total = 0;
  for (const Case& c : list) {
    std::mt19937 gen(7);
    int alive = 0;
    const int slots = pair_kind(c.first, c.second, Contact{}).slots;
    for (int k = 0; k < draws; ++k) {
      const Drawn m = draw(c, gen);
      for (int slot = 0; slot < slots; ++slot) {
        Branch branch;
        Touch<double> out;
        if (!touch<double>(c.first, c.second, slot, m.first.at(0.0), m.second.at(0.0), branch, out)) continue;
        ++alive;
        SCOPED_TRACE(c.name + ", draw " + std::to_string(k) + ", slot " + std::to_string(slot));
        check(c, m, slot, branch, out);
        if (::testing::Test::HasFailure()) break;
      }
    }
    EXPECT_GT(alive, draws / 4) << c.name;
    total += alive;
  }
  return total;
}

TEST(Touch, PointsDifferByTheGapAlongAUnitNormalWithRightHandedTangents) {
  for_each_touch(cases(), 40, [](const Case& c, const Drawn&, int, const Branch&, const Touch<double>& t) {
    EXPECT_NEAR(t.n.norm(), 1, 1e-12);
    EXPECT_LT((t.p1 - t.p2 - t.gap * t.n).norm(), 1e-10);  // contours are converged to 1e-12 of their size
    EXPECT_NEAR(t.t1.norm(), 1, 1e-12);
    EXPECT_LT((t.n.cross(t.t1) - t.t2).norm(), 1e-12);
    EXPECT_NEAR(t.n.dot(t.t1), 0, 1e-12);
    const Vec3 planar = t.n.cross(Vec3::UnitZ());
    EXPECT_LT(c.first.planar() ? (t.t1 - planar).norm() : 0, 1e-12);
    EXPECT_TRUE(std::isfinite(t.margin));
  });
}

std::vector<Touch<double>> all_touches(const Geometry& a, const Geometry& b, const Pose<double>& x,
                                       const Pose<double>& y) {
  std::vector<Touch<double>> list;
  for (int slot = 0; slot < pair_kind(a, b, Contact{}).slots; ++slot) {
    Branch branch;
    Touch<double> t;
    if (touch<double>(a, b, slot, x, y, branch, t)) list.push_back(t);
  }
  return list;
}

double least_gap(const std::vector<Touch<double>>& list) {
  double least = 1e9;
  for (const Touch<double>& t : list) least = std::min(least, t.gap);
  return least;
}

TEST(Touch, SwappedShapesGiveTheMirrorImage) {
  // Slots are numbered from the first shape, so points are looked for. Two capsules tell of an end that is near an end
  // for the first alone: theirs have the nearest point in common. Many positions: of two hundred positions of coins one
  // had another direction when swapped, of twenty of a cam and an ellipse one had no point.
  for (const Case& c : cases()) {
    std::mt19937 gen(7);
    const bool nearest_alone = c.name == "capsule-capsule";
    for (int k = 0; k < 1000; ++k) {
      SCOPED_TRACE(c.name + ", draw " + std::to_string(k));
      const Drawn m = draw(c, gen);
      const Pose<double> X = m.first.at(0.0), Y = m.second.at(0.0);
      const auto there = all_touches(c.first, c.second, X, Y), back = all_touches(c.second, c.first, Y, X);
      ASSERT_EQ(there.empty(), back.empty());
      ASSERT_NEAR(least_gap(there), least_gap(back), 1e-10);
      if (nearest_alone) continue;
      ASSERT_EQ(there.size(), back.size());
      for (const Touch<double>& t : there)
        ASSERT_TRUE(std::any_of(back.begin(), back.end(), [&](const Touch<double>& s) {
          return std::abs(s.gap - t.gap) < 1e-10 && (s.n + t.n).norm() < 1e-8 && (s.p1 - t.p2).norm() < 1e-8 &&
                 (s.p2 - t.p1).norm() < 1e-8;
        })) << t.gap;
    }
  }
}

// Closed contours always face each other somewhere; where they are apart, the gap is the distance of all their points:
// of 2000 on each, whose spacing of 2 mm leaves 1e-5 m of the distance.
TEST(Touch, ContoursThatAreApartHaveTheirDistanceAsGap) {
  const auto outline = [](const Geometry& g, const Pose<double>& x) {
    std::vector<Vec3> list;
    for (int i = 0; i < 2000; ++i) {
      const Eigen::Vector2d r = contour_at(g, g.from + (g.to - g.from) * i / 2000).r;
      list.push_back(x.p + x.R * Vec3(r.x(), r.y(), 0));
    }
    return list;
  };
  const Geometry shapes[] = {cam(), blob(), ellipse(0.7, 0.4), ellipse(0.3, 0.2)};
  int apart = 0;
  for (const Geometry& one : shapes)
    for (const Geometry& two : shapes) {
      std::mt19937 gen(11);
      for (int k = 0; k < 10; ++k) {
        const Case c{"contours", one, two, 1.8};
        const Drawn m = draw(c, gen);
        const Pose<double> X = m.first.at(0.0), Y = m.second.at(0.0);
        const auto found = all_touches(one, two, X, Y);
        ASSERT_EQ(found.size(), 1U) << k;
        if (!((X.p - Y.p).norm() > one.bound + two.bound)) continue;
        ++apart;
        double least = 1e9;
        const auto there = outline(two, Y);
        for (const Vec3& a : outline(one, X))
          for (const Vec3& b : there) least = std::min(least, (a - b).squaredNorm());
        EXPECT_NEAR(found.front().gap, std::sqrt(least), 2e-5) << k;
      }
    }
  EXPECT_GT(apart, 40);
}

TEST(Touch, GapDoesNotChangeWhenBothBodiesMoveTogether) {
  for_each_touch(cases(), 20, [](const Case& c, const Drawn& m, int slot, const Branch& b, const Touch<double>& t) {
    const Motion carry = c.first.planar() ? planar_motion(0.7, -0.4, 0, 0, 0, 0, 0.9, 0, 0)
                                          : Motion{{0.7, -0.4, 0.2}, Vec3::Zero(), Vec3::Zero(),
                                                   {0.5, -0.8, 1.1}, Vec3::Zero(), Vec3::Zero()};
    const Pose<double> X = carry.at(0.0);
    const auto moved = [&](const Pose<double>& p) { return Pose<double>{X.R * p.R, X.p + X.R * p.p}; };
    Branch branch = b;
    Touch<double> s;
    ASSERT_TRUE(touch<double>(c.first, c.second, slot, moved(m.first.at(0.0)), moved(m.second.at(0.0)), branch, s));
    EXPECT_NEAR(s.gap, t.gap, 1e-11);
    EXPECT_LT((s.n - X.R * t.n).norm(), 1e-9);
  });
}

// A touch a little later and a little before, at two distances.
struct Around {
  static constexpr double h[2] = {1e-5, 5e-6};
  Touch<double> up[2], down[2];
  Touch<Jet<double>> jet_up[2], jet_down[2];

  // False: dead there, or on another branch.
  bool find(const Case& c, const Drawn& m, int slot, const Branch& b) {
    using J = Jet<double>;
    for (int k = 0; k < 2; ++k) {
      Branch bu = b, bd = b;
      if (!touch<double>(c.first, c.second, slot, m.first.at(h[k]), m.second.at(h[k]), bu, up[k]) ||
          !touch<double>(c.first, c.second, slot, m.first.at(-h[k]), m.second.at(-h[k]), bd, down[k])) {
        ADD_FAILURE() << "dead nearby";
        return false;
      }
      if (bu.feature != b.feature || bd.feature != b.feature || bu.axis != b.axis || bd.axis != b.axis) return false;
      if (chosen_anew(c, b, bu) || chosen_anew(c, b, bd)) return false;
      const J later(h[k], 1.0), before(-h[k], 1.0);
      EXPECT_TRUE(touch<J>(c.first, c.second, slot, m.first.at(later), m.second.at(later), bu, jet_up[k]));
      EXPECT_TRUE(touch<J>(c.first, c.second, slot, m.first.at(before), m.second.at(before), bd, jet_down[k]));
    }
    return true;
  }
  // Richardson's extrapolation of central differences: the deepest point of a coin that is nearly upright turns so fast
  // that h^2 of its third rates is more than rounding.
  static double extrapolated(double wide, double narrow) { return (4 * narrow - wide) / 3; }
  template <class Get>
  double rate(const Get& get) const {
    const auto of = [&](int k) { return (get(up[k]) - get(down[k])) / (2 * h[k]); };
    return extrapolated(of(0), of(1));
  }
  template <class Get>
  double second(const Get& get) const {
    const auto of = [&](int k) { return (get(jet_up[k]).d - get(jet_down[k]).d) / (2 * h[k]); };
    return extrapolated(of(0), of(1));
  }
};

TEST(Touch, RatesAndSecondRatesAgreeWithDifferences) {
  int compared = 0;
  const int total = for_each_touch(
      cases(), 40, [&](const Case& c, const Drawn& m, int slot, const Branch& b, const Touch<double>& t) {
        if (std::abs(t.margin) < 1e-3) return;
        Around around;
        if (!around.find(c, m, slot, b)) return;
        ++compared;
        using J = Jet<double>;
        Touch<J> jet;
        Touch<Second> second;
        Branch keep = b;
        const J now(0.0, 1.0);
        ASSERT_TRUE(touch<J>(c.first, c.second, slot, m.first.at(now), m.second.at(now), keep, jet));
        const Second then = time_of_second_order(0);
        ASSERT_TRUE(touch<Second>(c.first, c.second, slot, m.first.at(then), m.second.at(then), keep, second));

        // Sharp corners and thin ellipses turn fast: the size of the second rates scales the differences' error.
        const auto near_enough = [&](const char* what, double value, double difference, double size) {
          EXPECT_NEAR(value, difference, 2e-6 * (1 + size)) << what;
        };
        const double size_n = second.n.unaryExpr([](const Second& x) { return std::abs(x.d.d[0]); }).maxCoeff();
        const double size = 1 + size_n * size_n;
        const auto gap = [](const auto& x) { return x.gap; };
        near_enough("gap", jet.gap.d, around.rate(gap), size);
        near_enough("gap, second", second.gap.d.d[0], around.second(gap), size);
        EXPECT_NEAR(jet.gap.v, t.gap, 1e-12);
        EXPECT_NEAR(second.gap.d.v, jet.gap.d, 1e-12 * size);
        near_enough("margin", jet.margin.d, t.margin > 1e20 ? 0 : around.rate([](const auto& x) { return x.margin; }),
                    size);
        for (int i = 0; i < 3; ++i) {
          const auto n = [i](const auto& x) { return x.n[i]; };
          const auto t1 = [i](const auto& x) { return x.t1[i]; };
          const auto t2 = [i](const auto& x) { return x.t2[i]; };
          const auto p1 = [i](const auto& x) { return x.p1[i]; };
          const auto p2 = [i](const auto& x) { return x.p2[i]; };
          near_enough("n", jet.n[i].d, around.rate(n), size);
          near_enough("t1", jet.t1[i].d, around.rate(t1), size);
          near_enough("t2", jet.t2[i].d, around.rate(t2), size);
          near_enough("p1", jet.p1[i].d, around.rate(p1), size);
          near_enough("p2", jet.p2[i].d, around.rate(p2), size);
          near_enough("n, second", second.n[i].d.d[0], around.second(n), size);
          near_enough("t1, second", second.t1[i].d.d[0], around.second(t1), size);
          near_enough("p1, second", second.p1[i].d.d[0], around.second(p1), size);
          near_enough("p2, second", second.p2[i].d.d[0], around.second(p2), size);
        }
      });
  EXPECT_GT(compared, total / 2);
}

// P-17, P-18 for any gap: the rate of the gap is the normal part of the material velocities, the second rate
//   g'' = n . (a1 - a2) + n' . (v1 - v2) + n . (w1 x rho1' - w2 x rho2'),   rho_k' = p_k' - v_k,
// with a_k the material accelerations. Exact, so only rounding is allowed for.
TEST(Touch, GapFollowsTheMaterialVelocitiesAndAccelerations) {
  for_each_touch(cases(), 40, [&](const Case& c, const Drawn& m, int slot, const Branch& b, const Touch<double>&) {
    const Second now = time_of_second_order(0);
    const Pose<Second> X1 = m.first.at(now), X2 = m.second.at(now);
    Branch keep = b;
    Touch<Second> t;
    ASSERT_TRUE(touch<Second>(c.first, c.second, slot, X1, X2, keep, t));
    const auto value3 = [](const V3<Second>& x) { return Vec3(x[0].v.v, x[1].v.v, x[2].v.v); };
    const auto rate3 = [](const V3<Second>& x) { return Vec3(x[0].d.v, x[1].d.v, x[2].d.v); };
    const auto second3 = [](const V3<Second>& x) { return Vec3(x[0].d.d[0], x[1].d.d[0], x[2].d.d[0]); };
    Vec3 v[2], a[2], drift[2];
    for (int k = 0; k < 2; ++k) {
      const Pose<Second>& X = k == 0 ? X1 : X2;
      const V3<Second>& p = k == 0 ? t.p1 : t.p2;
      Mat3 R, Rd, Rdd;
      for (int j = 0; j < 3; ++j) {
        R.col(j) = value3(X.R.col(j));
        Rd.col(j) = rate3(X.R.col(j));
        Rdd.col(j) = second3(X.R.col(j));
      }
      const Vec3 fixed = R.transpose() * (value3(p) - value3(X.p));
      v[k] = rate3(X.p) + Rd * fixed;
      a[k] = second3(X.p) + Rdd * fixed;
      drift[k] = Rd * R.transpose() * (rate3(p) - v[k]);
    }
    const Vec3 n = value3(t.n);
    const double scale = 1 + rate3(t.n).squaredNorm() + second3(t.n).norm();
    EXPECT_NEAR(t.gap.d.v, n.dot(v[0] - v[1]), 1e-10 * scale);
    const double second = n.dot(a[0] - a[1]) + rate3(t.n).dot(v[0] - v[1]) + n.dot(drift[0] - drift[1]);
    EXPECT_NEAR(t.gap.d.d[0], second, 1e-9 * scale);
  });
}

// d/dx of the rates: x the pose of the first body (three translations, three right rotations), v moving with it.
TEST(Touch, DerivativesOfRatesAgreeWithDifferences) {
  std::vector<Case> list = cases();
  const double h = 1e-5;
  for_each_touch(list, 6, [&](const Case& c, const Drawn& m, int slot, const Branch& b, const Touch<double>& t) {
    if (std::abs(t.margin) < 1e-2) return;
    using J = Jet<double>;
    const J now(0.0, 1.0);
    const Pose<J> X1 = m.first.at(now), X2 = m.second.at(now);
    const bool flat = c.first.planar();
    for (int i = 0; i < 6; ++i) {
      if (flat && (i == 2 || i == 3 || i == 4)) continue;
      const auto moved = [&](auto e) {  // the pose moved by e along direction i, at fixed velocity fields
        using S = decltype(e);
        Pose<Jet<S>> X;
        for (int j = 0; j < 3; ++j) {
          X.p[j] = Jet<S>(S(X1.p[j].v), S(X1.p[j].d));
          for (int k = 0; k < 3; ++k) X.R(j, k) = Jet<S>(S(X1.R(j, k).v), S(X1.R(j, k).d));
        }
        if (i < 3) {
          X.p[i].v += e;
        } else {
          using std::cos, std::sin;
          M3<Jet<S>> E = M3<Jet<S>>::Identity();
          const int j = (i - 2) % 3, k = (i - 1) % 3;
          E(j, j) = E(k, k) = Jet<S>(cos(e), S(0.0));
          E(j, k) = Jet<S>(-sin(e), S(0.0));
          E(k, j) = Jet<S>(sin(e), S(0.0));
          X.R = (X.R * E).eval();
        }
        return X;
      };
      Touch<Second> s;
      Pose<Second> Y;
      for (int j = 0; j < 3; ++j) {
        Y.p[j] = Second(Dual<24>(X2.p[j].v), Dual<24>(X2.p[j].d));
        for (int k = 0; k < 3; ++k) Y.R(j, k) = Second(Dual<24>(X2.R(j, k).v), Dual<24>(X2.R(j, k).d));
      }
      Branch keep = b, bu = b, bd = b;
      ASSERT_TRUE(touch<Second>(c.first, c.second, slot, moved(Dual<24>::variable(0, 5)), Y, keep, s));
      const auto plain = [](const Pose<J>& X) {
        Pose<double> p;
        for (int j = 0; j < 3; ++j) {
          p.p[j] = X.p[j].v;
          for (int k = 0; k < 3; ++k) p.R(j, k) = X.R(j, k).v;
        }
        return p;
      };
      Touch<double> probe;
      Touch<J> up, down;
      const Pose<J> Xu = moved(h), Xd = moved(-h);
      ASSERT_TRUE(touch<double>(c.first, c.second, slot, plain(Xu), plain(X2), bu, probe));
      ASSERT_TRUE(touch<double>(c.first, c.second, slot, plain(Xd), plain(X2), bd, probe));
      if (bu.feature != b.feature || bd.feature != b.feature) continue;
      if (chosen_anew(c, b, bu) || chosen_anew(c, b, bd)) continue;
      ASSERT_TRUE(touch<J>(c.first, c.second, slot, Xu, X2, bu, up));
      ASSERT_TRUE(touch<J>(c.first, c.second, slot, Xd, X2, bd, down));
      const double size = 1 + s.n.unaryExpr([](const Second& x) { return x.d.d.abs().maxCoeff(); }).maxCoeff();
      EXPECT_NEAR(s.gap.d.d[5], (up.gap.d - down.gap.d) / (2 * h), 2e-6 * size * size) << i;
      for (int j = 0; j < 3; ++j)
        EXPECT_NEAR(s.n[j].d.d[5], (up.n[j].d - down.n[j].d) / (2 * h), 2e-6 * size * size) << i;
    }
  });
}

}  // namespace
}  // namespace clatter::contact
