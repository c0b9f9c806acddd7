// Kinematics of particular contours against the published numbers: two ellipses (PV-4), parabola and line (PV-5).
//
// Second rates come from Jet<Dual<24>> with time as the first direction of the Dual.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "shapes.hpp"
#include "shapes/contour.hpp"

namespace clatter::contact {
namespace {

using Second = Jet<Dual<24>>;

Second time_of_second_order(double t) { return {Dual<24>::variable(t, 0), Dual<24>(1.0)}; }

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

}  // namespace
}  // namespace clatter::contact
