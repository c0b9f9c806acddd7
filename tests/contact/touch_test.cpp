// Touch of every pair of kinds: what must hold for any pair along any motion.
//
// Rates come from Jet<double>, second rates from Jet<Dual<24>> with time as the first direction of the Dual.
// Differences are central with step h: error h^2 g''' / 6 + eps / h, 1e-8 for h = 1e-5 and motions of order 1.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <random>

#include "contact/contour.hpp"
#include "contact/pairs.hpp"
#include "shapes.hpp"

namespace clatter::contact {
namespace {

using Second = Jet<Dual<24>>;

Second time_of_second_order(double t) { return {Dual<24>::variable(t, 0), Dual<24>(1.0)}; }

// A cam with hollow flanks, a hilly road (run from right to left: material below), a closed and an open spline.
Geometry cam() { return curve("(0.7+0.1*cos(3*s))*cos(s)", "(0.7+0.1*cos(3*s))*sin(s)", 0, 2 * std::numbers::pi); }
Geometry road() { return curve("-s", "0.1*sin(3*s)", -2, 2); }
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
      {"cylinder-plane", cylinder(0.4, 0.7), plane(), 0.5},
      {"cylinder-box", cylinder(0.4, 0.7), box({0.6, 0.8, 1.0}), 0.8},
      {"cylinder-polytope", cylinder(0.4, 0.7), wedge(), 0.8},
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
  return c.first.kind == ContactShape::Kind::cylinder && before.s1 != after.s1;
}

Drawn draw(const Case& c, std::mt19937& gen) {
  std::uniform_real_distribution<double> u(-1, 1);
  const auto vector = [&](double size) { return Vec3(size * u(gen), size * u(gen), size * u(gen)); };
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

TEST(Touch, SwappedShapesGiveTheMirrorImage) {
  for_each_touch(cases(), 20, [](const Case& c, const Drawn& m, int slot, const Branch&, const Touch<double>& t) {
    if (family(c.first.kind) == family(c.second.kind) && c.first.hollow == c.second.hollow &&
        pair_kind(c.first, c.second, Contact{}).slots > 1)
      return;  // slots are numbered from the first shape
    Branch branch;
    Touch<double> s;
    ASSERT_TRUE(touch<double>(c.second, c.first, slot, m.second.at(0.0), m.first.at(0.0), branch, s));
    EXPECT_NEAR(s.gap, t.gap, 1e-11);
    EXPECT_LT((s.n + t.n).norm(), 1e-9);
    EXPECT_LT((s.p1 - t.p2).norm(), 1e-9);
    EXPECT_LT((s.p2 - t.p1).norm(), 1e-9);
  });
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

TEST(Touch, RatesAndSecondRatesAgreeWithDifferences) {
  const double h = 1e-5;
  int compared = 0;
  const int total = for_each_touch(
      cases(), 40, [&](const Case& c, const Drawn& m, int slot, const Branch& b, const Touch<double>& t) {
        if (std::abs(t.margin) < 1e-3) return;
        Touch<double> up, down;
        Touch<Jet<double>> jet, jet_up, jet_down;
        Touch<Second> second;
        Branch bu = b, bd = b, keep = b;
        ASSERT_TRUE(touch<double>(c.first, c.second, slot, m.first.at(h), m.second.at(h), bu, up));
        ASSERT_TRUE(touch<double>(c.first, c.second, slot, m.first.at(-h), m.second.at(-h), bd, down));
        if (bu.feature != b.feature || bd.feature != b.feature || bu.axis != b.axis || bd.axis != b.axis) return;
        if (b.feature == 1 && (chosen_anew(c, b, bu) || chosen_anew(c, b, bd))) return;
        ++compared;
        using J = Jet<double>;
        const J now(0.0, 1.0), later(h, 1.0), before(-h, 1.0);
        ASSERT_TRUE(touch<J>(c.first, c.second, slot, m.first.at(now), m.second.at(now), keep, jet));
        ASSERT_TRUE(touch<J>(c.first, c.second, slot, m.first.at(later), m.second.at(later), bu, jet_up));
        ASSERT_TRUE(touch<J>(c.first, c.second, slot, m.first.at(before), m.second.at(before), bd, jet_down));
        const Second then = time_of_second_order(0);
        ASSERT_TRUE(touch<Second>(c.first, c.second, slot, m.first.at(then), m.second.at(then), keep, second));

        // Sharp corners and thin ellipses turn fast: the size of the second rates scales the differences' error.
        const auto near_enough = [&](const char* what, double value, double difference, double size) {
          EXPECT_NEAR(value, difference, 2e-6 * (1 + size)) << what;
        };
        const double size_n = second.n.unaryExpr([](const Second& x) { return std::abs(x.d.d[0]); }).maxCoeff();
        const double size = 1 + size_n * size_n;
        near_enough("gap", jet.gap.d, (up.gap - down.gap) / (2 * h), size);
        near_enough("gap, second", second.gap.d.d[0], (jet_up.gap.d - jet_down.gap.d) / (2 * h), size);
        EXPECT_NEAR(jet.gap.v, t.gap, 1e-12);
        EXPECT_NEAR(second.gap.d.v, jet.gap.d, 1e-12 * size);
        near_enough("margin", jet.margin.d, t.margin > 1e20 ? 0 : (up.margin - down.margin) / (2 * h), size);
        for (int i = 0; i < 3; ++i) {
          near_enough("n", jet.n[i].d, (up.n[i] - down.n[i]) / (2 * h), size);
          near_enough("t1", jet.t1[i].d, (up.t1[i] - down.t1[i]) / (2 * h), size);
          near_enough("t2", jet.t2[i].d, (up.t2[i] - down.t2[i]) / (2 * h), size);
          near_enough("p1", jet.p1[i].d, (up.p1[i] - down.p1[i]) / (2 * h), size);
          near_enough("p2", jet.p2[i].d, (up.p2[i] - down.p2[i]) / (2 * h), size);
          near_enough("n, second", second.n[i].d.d[0], (jet_up.n[i].d - jet_down.n[i].d) / (2 * h), size);
          near_enough("t1, second", second.t1[i].d.d[0], (jet_up.t1[i].d - jet_down.t1[i].d) / (2 * h), size);
          near_enough("p1, second", second.p1[i].d.d[0], (jet_up.p1[i].d - jet_down.p1[i].d) / (2 * h), size);
          near_enough("p2, second", second.p2[i].d.d[0], (jet_up.p2[i].d - jet_down.p2[i].d) / (2 * h), size);
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

// Poses of both bodies at time t with what the contact rows need: P-14's velocities and accelerations of the material
// point and the slip g_T' = t1 . (v1 - v2) with its rate.
struct Kinematics {
  double gap, gap_rate, slip, gap_second, slip_second;
  Vec3 n, t1, p1, p2;
  Vec3 creep1, creep2;  // p_k' - v_k: the contact point's motion over the body
};

Kinematics kinematics(const Geometry& a, const Geometry& b, const Motion& m1, const Motion& m2, double t,
                      Branch& branch) {
  Touch<double> start;
  EXPECT_TRUE(touch<double>(a, b, 0, m1.at(t), m2.at(t), branch, start));
  const Second now = time_of_second_order(t);
  const Pose<Second> X1 = m1.at(now), X2 = m2.at(now);
  Touch<Second> s;
  EXPECT_TRUE(touch<Second>(a, b, 0, X1, X2, branch, s));
  const auto value3 = [](const V3<Second>& x) { return Vec3(x[0].v.v, x[1].v.v, x[2].v.v); };
  const auto rate3 = [](const V3<Second>& x) { return Vec3(x[0].d.v, x[1].d.v, x[2].d.v); };
  const auto second3 = [](const V3<Second>& x) { return Vec3(x[0].d.d[0], x[1].d.d[0], x[2].d.d[0]); };
  Vec3 v[2], acceleration[2], creep[2], turn[2];
  for (int k = 0; k < 2; ++k) {
    const Pose<Second>& X = k == 0 ? X1 : X2;
    const V3<Second>& p = k == 0 ? s.p1 : s.p2;
    Mat3 R, Rd, Rdd;
    for (int j = 0; j < 3; ++j) {
      R.col(j) = value3(X.R.col(j));
      Rd.col(j) = rate3(X.R.col(j));
      Rdd.col(j) = second3(X.R.col(j));
    }
    const Vec3 fixed = R.transpose() * (value3(p) - value3(X.p));
    v[k] = rate3(X.p) + Rd * fixed;
    creep[k] = rate3(p) - v[k];
    turn[k] = Rd * R.transpose() * creep[k];
    acceleration[k] = second3(X.p) + Rdd * fixed;
  }
  Kinematics out;
  out.n = value3(s.n);
  out.t1 = value3(s.t1);
  out.p1 = value3(s.p1);
  out.p2 = value3(s.p2);
  const Vec3 slip = v[0] - v[1], second = acceleration[0] - acceleration[1] + turn[0] - turn[1];
  out.gap = s.gap.v.v;
  out.gap_rate = out.n.dot(slip);
  out.slip = out.t1.dot(slip);
  out.gap_second = out.n.dot(second) + rate3(s.n).dot(slip);
  out.slip_second = out.t1.dot(second) + rate3(s.t1).dot(slip);
  EXPECT_NEAR(out.gap_rate, s.gap.d.v, 1e-13);
  EXPECT_NEAR(out.gap_second, s.gap.d.d[0], 1e-12);
  out.creep1 = creep[0];
  out.creep2 = creep[1];
  return out;
}

// PV-4, printed to nine digits.
TEST(TwoEllipses, HaveTheContactKinematicsOfPV4) {
  const Geometry a = ellipse(1, 0.6), b = ellipse(0.8, 0.5);
  const Motion m1 = planar_motion(0, 0, 0.1, 0.2, 0.1, 0, 0.3, 0.4, 0.4);
  const Motion m2 = planar_motion(0.2, 1.4, 0.3, -0.25, -0.2, 0.2, -0.2, 0.5, -0.3);
  Branch branch;
  const Kinematics k = kinematics(a, b, m1, m2, 0.3, branch);
  const double digits = 1e-8, turn = 2 * std::numbers::pi;
  EXPECT_NEAR(branch.s1, 0.939582590, digits);
  EXPECT_NEAR(branch.s2, turn - 1.430275300, digits);
  EXPECT_NEAR(k.gap, 0.083890521, digits);
  EXPECT_NEAR(k.n.x(), 0.02467655, digits);
  EXPECT_NEAR(k.n.y(), -0.99969549, digits);
  const ContourPoint q1 = contour_at(a, branch.s1), q2 = contour_at(b, branch.s2);
  EXPECT_NEAR(q1.curvature(), 0.875825982, digits);
  EXPECT_NEAR(q2.curvature(), 0.795470663, digits);
  EXPECT_NEAR(k.gap_rate, -0.544565835, digits);
  EXPECT_NEAR(k.slip, 0.660503096, digits);
  // t2 = -t1; s' = |r'| u'
  EXPECT_NEAR(k.creep1.dot(k.t1) / q1.speed(), -0.439461907, digits);
  EXPECT_NEAR(-k.creep2.dot(k.t1) / q2.speed(), -0.362493981, digits);
  EXPECT_NEAR(k.gap_second, -0.121804246, digits);
  EXPECT_NEAR(k.slip_second, -0.189939979, digits);

  // P-16 in closed form from the quantities above.
  const double w1 = 0.4 + 0.4 * 0.3, w2 = 0.5 - 0.3 * 0.3;
  const double kappa1 = q1.curvature(), kappa2 = q2.curvature(), lag = -k.slip;  // t1 . (v2 - v1)
  const double det = kappa1 + kappa2 + k.gap * kappa1 * kappa2;
  EXPECT_NEAR(k.creep1.dot(k.t1), (kappa2 * lag - kappa2 * k.gap * w1 + (w2 - w1)) / det, 1e-12);
  EXPECT_NEAR(-k.creep2.dot(k.t1), (kappa1 * lag - kappa1 * k.gap * w2 - (w2 - w1)) / det, 1e-12);
}

// PV-5. There b = -e_z: seen with b = +e_z all tangents turn round, n stays. The line's shape has its normal along y:
// it lies on the platform turned so that its outward normal is -n1 = k (a, -1).
struct ParabolaAndLine {
  double a = 1, p1 = 2, p2 = 0.3, b = 1;
  Geometry straight = line();
  // material on the left: run so that it lies on the inner side, below the parabola
  Geometry parabola = curve("-s", "0.3 - 2*s^2", -2, 2);
  Motion platform, damper;
  ParabolaAndLine(const Eigen::Vector4d& q, const Eigen::Vector4d& qd) {
    platform = planar_motion(q[0], b, qd[0], 0, 0, 0, std::atan2(-1.0, a) - std::numbers::pi / 2, 0, 0);
    damper = planar_motion(q[2], q[3], qd[2], qd[3], 0, 0, q[1], qd[1], 0);
  }
};

TEST(ParabolaAndLineContact, HasTheNumbersOfPV5) {
  const Eigen::Vector4d q(0.1, 0.2, 0.05, 0.15), qd(0.3, 1.5, -0.2, 0.4);
  const ParabolaAndLine pair(q, qd);
  Branch branch;
  const Kinematics k = kinematics(pair.straight, pair.parabola, pair.platform, pair.damper, 0, branch);
  const double digits = 1e-8;
  EXPECT_NEAR(-branch.s1, -0.165727802, digits);
  const Vec3 from_platform = k.p1 - pair.platform.p;
  EXPECT_NEAR(-from_platform.x(), 0.451926695, digits);
  EXPECT_NEAR(k.gap, 0.269852880, digits);
  const ContourPoint point = contour_at(pair.parabola, branch.s1);
  EXPECT_NEAR(point.curvature(), 2.316138575, digits);
  EXPECT_NEAR(k.gap_rate, -0.632308966, digits);
  EXPECT_NEAR(-k.slip, -0.514459495, digits);
  EXPECT_NEAR(k.gap_second, -0.305821240, digits);  // no accelerations: w-bar
  EXPECT_NEAR(-k.slip_second, 0.006130705, digits);
  // s2' along t2 there, which is t1 here
  EXPECT_NEAR(k.creep2.dot(k.t1), 0.647629644, digits);

  const Eigen::Vector4d w_N(-0.707106781, 0.002724758, 0.707106781, -0.707106781);
  const Eigen::Vector4d w_T(-0.707106781, -0.295832545, 0.707106781, 0.707106781);
  for (int i = 0; i < 4; ++i) {
    const ParabolaAndLine unit(q, Eigen::Vector4d::Unit(i));
    Branch fresh;
    const Kinematics u = kinematics(unit.straight, unit.parabola, unit.platform, unit.damper, 0, fresh);
    EXPECT_NEAR(u.gap_rate, w_N[i], digits) << i;
    EXPECT_NEAR(-u.slip, w_T[i], digits) << i;
  }
}

// --- particular positions --------------------------------------------------------------------------------------------

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
      if (b.feature == 1 && (chosen_anew(c, b, bu) || chosen_anew(c, b, bd))) continue;
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
