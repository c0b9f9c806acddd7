// Impact laws on plain matrices against the closed forms and numbers of spec PV-8 and PV-15 to PV-22.
#include "impulse/impact.hpp"

#include <gtest/gtest.h>

#include "impacts.hpp"

namespace clatter::contact {
namespace {

using Impact = RigidContact::Impact;

ImpactResult solved(const ImpactProblem& p, const ImpactOptions& options = {}) {
  const ImpactResult r = ImpactSolver().solve(p, options);
  EXPECT_EQ(r.status, ContactStatus::solved) << r.note;
  return r;
}

ImpactContact smooth(int row, double eps, Impact rule = Impact::poisson) { return {row, 0, 0, eps, 0, 0, rule}; }

void expect_vector(const Vec& found, std::initializer_list<double> expected, double tolerance) {
  ASSERT_EQ(found.size(), static_cast<Eigen::Index>(expected.size()));
  Eigen::Index i = 0;
  for (const double e : expected) EXPECT_NEAR(found[i++], e, tolerance);
}

TEST(PoissonImpact, EccentricRodCouplesNormalAndTangent) {  // PV-22
  struct Row {
    Vec3 v;
    double mu, eps, eps_T, nu, P_NC, P_TC, P_NE, P_TE, gap, slip;
  };
  const Row rows[] = {
      {{1, -1, 0}, 0.3, 0.5, 0, 0, 0.487804878, -0.146341463, 0.243902439, -0.073170732, 0.5, 1.548780488},
      {{1, -1, 0}, 1, 0.5, 0, 0, 1, -1, 0.5, -0.3, 0.8, 0},
      {{-1, -1, 0}, 0.3, 0.5, 0, 0, 0.338983051, 0.101694915, 0.169491525, -0.006779661, 0.413559322, 0},
      {{-0.2, -1, 0}, 0.8, 0.5, 0, 0, 0.55, -0.25, 0.275, -0.165, 0.44, 0},
      {{1, -1, 0}, 1, 1, 1, 1, 1, -1, 1, -1, 1, -1},
  };
  for (const Row& row : rows) {
    const ImpactSystem s = rod_on_tip(radians(45), row.v);
    const ImpactResult r = solved(s.problem({{0, 1, row.mu, row.eps, row.eps_T, row.nu}}));
    expect_vector(r.P_compression, {row.P_NC, row.P_TC}, kPrinted);
    expect_vector(r.P - r.P_compression, {row.P_NE, row.P_TE}, kPrinted);
    expect_vector(r.rate, {row.gap, row.slip}, kPrinted);
  }
  const ImpactSystem s = rod_on_tip(radians(45), rows[4].v);
  EXPECT_NEAR(solved(s.problem({{0, 1, 1, 1, 1, 1}})).energy, 0, kClosed);  // P-46 case 3: energy kept
}

TEST(ImpactWithoutCollision, RodThatSlidesIsThrownUpByItsFriction) {  // PV-8
  const ImpactSystem s = rod_on_tip(radians(60), {1, 0, 0});
  ImpactOptions ask;
  ask.nonzero_solution = true;
  const ImpactResult r = solved(s.problem({{0, 1, 2, 0, 0, 0}}), ask);
  expect_vector(r.P, {0.324759526, -0.4375}, kPrinted);
  expect_vector(r.rate, {0, 0}, kClosed);
  ImpactSystem after = s;
  after.apply(r.P);
  expect_vector(after.v, {0.5625, 0.324759526, 0.649519053}, kPrinted);
  EXPECT_NE(r.note.find("without collision"), std::string::npos);
  for (const double rounding : {-1e-13, 1e-13}) {  // gap' is zero only up to rounding in a simulation
    ImpactProblem p = s.problem({{0, 1, 2, 0, 0, 0}});
    p.rate[0] = rounding;
    expect_vector(solved(p, ask).P, {0.324759526, -0.4375}, kPrinted);
  }
  // Unasked, nothing happens: zero solves the problem too.
  EXPECT_EQ(solved(s.problem({{0, 1, 2, 0, 0, 0}})).P.norm(), 0);
}

TEST(ImpactWithoutCollision, HappensOnlyWhereFrictionReversesTheAcceleration) {  // PV-8: admissible iff a <= 0
  ImpactOptions ask;
  ask.nonzero_solution = true;
  for (const double degrees : {35.0, 50.0, 63.0, 74.0}) {
    const double phi = radians(degrees), C = std::cos(phi), S = std::sin(phi);
    const double critical = (1 + 3 * C * C) / (3 * S * C);
    for (const double slip : {0.1, 2.0}) {
      const ImpactSystem s = rod_on_tip(phi, {slip, 0, 0});
      const ImpactResult r = solved(s.problem({{0, 1, 1.01 * critical, 0, 0, 0}}), ask);
      expect_vector(r.P, {0.75 * S * C * slip, -0.25 * (1 + 3 * C * C) * slip}, kClosed);
      const ImpactResult none = ImpactSolver().solve(s.problem({{0, 1, 0.99 * critical, 0, 0, 0}}), ask);
      EXPECT_EQ(none.status, ContactStatus::no_solution);
      EXPECT_EQ(none.P.norm(), 0);
      // In space, with the slip in a direction that is no axis of the tangents, the rod's plane is turned with it.
      ImpactProblem space;
      const double c = std::cos(0.7), sn = std::sin(0.7);
      Mat T = Mat::Identity(3, 3);
      T.bottomRightCorner(2, 2) << c, -sn, sn, c;
      Mat G = Mat::Identity(3, 3);
      G.topLeftCorner(2, 2) = s.problem({}).G;
      space.G = T * G * T.transpose();
      space.rate = T * Vec3(0, slip, 0);
      space.contacts = {{0, 2, 1.01 * critical, 0, 0, 0}};
      const Vec3 P(0.75 * S * C * slip, -0.25 * (1 + 3 * C * C) * slip, 0);
      EXPECT_LT((solved(space, ask).P - T * P).norm(), 1e-10);  // the disc problem's own tolerance, kSolvedResidual
    }
  }
}

TEST(NewtonImpact, TwoPointMassesRebound) {  // PV-15
  ImpactSystem s{Vec::Zero(2).asDiagonal(), Mat(2, 1), Vec(2)};
  s.M.diagonal() << 2, 1;
  s.W << -1, 1;
  s.v << 3, -1;
  for (const Impact rule : {Impact::newton, Impact::moreau, Impact::poisson}) {
    const ImpactResult r = solved(s.problem({smooth(0, 0.5, rule)}));
    ImpactSystem after = s;
    after.apply(r.P);
    EXPECT_NEAR(r.P[0], 4, kClosed);
    expect_vector(after.v, {1, 3}, kClosed);
    EXPECT_NEAR(r.energy, -4, kClosed);
    EXPECT_NEAR(after.energy() - s.energy(), r.energy, kClosed);
  }
  s.M.setIdentity();
  ImpactSystem swapped = s, common = s;
  swapped.apply(solved(s.problem({smooth(0, 1, Impact::newton)})).P);
  common.apply(solved(s.problem({smooth(0, 0, Impact::newton)})).P);
  expect_vector(swapped.v, {-1, 3}, kClosed);
  expect_vector(common.v, {1, 1}, kClosed);
}

TEST(NewtonImpact, RodOnTwoObstaclesNeverPulls) {  // PV-16, PV-17: bilateral (2, -1) is inadmissible for a = 0.5
  for (const Impact rule : {Impact::newton, Impact::moreau, Impact::poisson}) {
    const auto impact = [&](double a) {
      return solved(rod_on_obstacles(a, 1, {0, -1, 0}).problem({smooth(0, 0, rule), smooth(1, 0, rule)}));
    };
    expect_vector(impact(-0.5).P, {2.0 / 3, 1.0 / 3}, kClosed);
    expect_vector(impact(0.5).P, {0.571428571, 0}, kPrinted);
    expect_vector(impact(0.5).rate, {0, 0.428571429}, kPrinted);
    expect_vector(impact(0.25).rate, {0, 0.473684211}, kPrinted);
    EXPECT_NEAR(impact(0.25).P[0], 0.842105263, kPrinted);
  }
}

TEST(PoissonImpact, RodOnTwoObstaclesFollowsTheUnilateralLaw) {  // PV-17, closed
  for (double a = -1; a < 1; a += 0.0625) {
    const ImpactSystem s = rod_on_obstacles(a, 1, {0, -1, 0});
    const ImpactResult r = solved(s.problem({smooth(0, 0), smooth(1, 0)}));
    const double one = 1 + 3 * a * a;
    if (a <= 0) {
      expect_vector(r.P, {1 / (1 - a), -a / (1 - a)}, kClosed);
      expect_vector(r.rate, {0, 0}, kClosed);
    } else {
      expect_vector(r.P, {1 / one, 0}, kClosed);
      expect_vector(r.rate, {0, 3 * a * (1 - a) / one}, kClosed);
    }
  }
  ImpactSystem half = rod_on_obstacles(0.5, 1, {0, -1, 0});
  half.apply(solved(half.problem({smooth(0, 0), smooth(1, 0)})).P);
  expect_vector(half.v, {0, -0.428571429, 0.857142857}, kPrinted);
  const ImpactResult both = solved(rod_on_obstacles(1, 1, {0, -1, 0}).problem({smooth(0, 0), smooth(1, 0)}));
  EXPECT_NEAR(both.P.sum(), 0.25, kClosed);
  EXPECT_GE(both.P.minCoeff(), 0);
  EXPECT_NE(both.note.find("not unique"), std::string::npos) << both.note;
}

TEST(PoissonImpact, RockingRodPassesFromOneObstacleToTheOther) {  // PV-18; l = m = 1, friction huge
  const auto strike = [](double b, double turn) {
    return rod_on_obstacles(-b, b, {0, -b * turn, turn}, true).problem({{0, 1, 1000}, {2, 1, 1000}});
  };
  for (const double b : {0.05, 0.2, 0.4, 0.55, 0.57}) {
    const double turn = 1.3, rho = (1 - 3 * b * b) / (1 + 3 * b * b);
    const ImpactResult r = solved(strike(b, turn));
    EXPECT_NEAR(r.P[0], 2 * b / (1 + 3 * b * b) * turn, kClosed);
    EXPECT_NEAR(r.P[2], 0, kClosed);
    ImpactSystem after = rod_on_obstacles(-b, b, {0, -b * turn, turn}, true);
    const double before = after.energy();
    after.apply(r.P);
    EXPECT_NEAR(after.v[2], rho * turn, kClosed);
    EXPECT_GT(r.rate[2], 0);  // contact 2, at rest before, is lifted
    EXPECT_NEAR(after.energy() / before, rho * rho, kClosed);
  }
  for (const double b : {0.58, 0.7, 1.0}) {
    const ImpactResult r = solved(strike(b, 1));
    EXPECT_NEAR(r.P[0], 0.5 * (b + 1 / (3 * b)), kClosed);
    EXPECT_NEAR(r.P[2], 0.5 * (b - 1 / (3 * b)), kClosed);
    EXPECT_LT(r.rate.norm(), kClosed);
  }
  EXPECT_NEAR(solved(strike(0.7, 1)).P[0], 0.588095238, kPrinted);
  EXPECT_NEAR(solved(strike(0.7, 1)).P[2], 0.111904762, kPrinted);
  // Released at -0.1 with b = 0.2, g = 10: between impacts energy is kept, 1/2 (J + b^2) w^2 = g b sin(angle).
  double top = std::sin(0.1);
  const double inertia = 1.0 / 3 + 0.04, maxima[] = {0.061670939, 0.038057423, 0.023491123};
  for (int k = 0; k < 3; ++k) {
    const double turn = std::sqrt(2 * 10 * 0.2 * top / inertia);
    if (k == 0) {
      EXPECT_NEAR(turn, 1.034235829, kPrinted);
    }
    ImpactSystem after = rod_on_obstacles(-0.2, 0.2, {0, -0.2 * turn, turn}, true);
    after.apply(solved(strike(0.2, turn)).P);
    EXPECT_NEAR(after.v[2] / turn, 0.785714286, kPrinted);
    top = inertia * after.v[2] * after.v[2] / (2 * 10 * 0.2);
    EXPECT_NEAR(std::asin(top), maxima[k], kPrinted);
  }
}

ImpactSystem two_balls(double m1, double m2, double v) {  // PV-19: the lower one rests on the ground
  ImpactSystem s{Mat::Zero(2, 2), Mat(2, 2), Vec(2)};
  s.M.diagonal() << m1, m2;
  s.W << 1, -1, 0, 1;
  s.v << 0, -v;
  return s;
}

TEST(PoissonImpact, RestingBallIsLiftedByTheOneThatFallsOnIt) {  // PV-19
  const struct {
    double eps, gap1, gap2, P2, T;
  } rows[] = {{0, 0.5, 0, 0.5, 0.25},
              {0.3, 0.5, 0, 0.5, 0.25},
              {0.5, 0.5, 0, 0.5, 0.25},
              {0.75, 0.25, 0.5, 0.75, 0.3125},
              {1, 0, 1, 1, 0.5}};
  for (const auto& row : rows) {
    const ImpactSystem s = two_balls(1, 1, 1);
    const ImpactResult r = solved(s.problem({smooth(0, 1), smooth(1, row.eps)}));
    expect_vector(r.P_compression, {1, 1}, kClosed);
    expect_vector(r.P - r.P_compression, {1, row.P2}, kClosed);
    expect_vector(r.rate, {row.gap1, row.gap2}, kClosed);
    EXPECT_NEAR(s.energy() + r.energy, row.T, kClosed);
    const ImpactResult newton = solved(s.problem({smooth(0, 1, Impact::newton), smooth(1, row.eps, Impact::newton)}));
    expect_vector(newton.rate, {0, row.eps}, kClosed);
  }
}

TEST(PoissonImpact, ThresholdOfLiftingFollowsTheMasses) {  // PV-19, general masses
  for (const double m1 : {0.3, 1.0, 4.0}) {
    for (const double m2 : {0.5, 2.0}) {
      for (const double eps1 : {0.25, 0.9}) {
        const double threshold = eps1 * m2 / (m1 + m2), v = 1.7;
        for (const double eps2 : {0.0, 0.9 * threshold, 1.1 * threshold}) {
          const ImpactResult r = solved(two_balls(m1, m2, v).problem({smooth(0, eps1), smooth(1, eps2)}));
          const double P2 = std::max(eps2, threshold) * m2 * v, tolerance = 1e-11;  // impulses up to 4, 1/m up to 3
          expect_vector(r.P_compression, {m2 * v, m2 * v}, tolerance);
          expect_vector(r.P - r.P_compression, {eps1 * m2 * v, P2}, tolerance);
          expect_vector(r.rate, {(eps1 * m2 * v - P2) / m1, P2 * (1 / m1 + 1 / m2) - eps1 * m2 * v / m1}, tolerance);
        }
      }
    }
  }
}

ImpactSystem superball(const Vec3& v, bool ceiling) {  // PV-20
  ImpactSystem s{Vec3(1, 1, 0.004).asDiagonal(), Mat(3, 2), v};
  if (ceiling) {
    s.W << 0, -1, -1, 0, 0, 0.1;
  } else {
    s.W << 0, 1, 1, 0, 0, 0.1;
  }
  return s;
}

TEST(PoissonImpact, SuperballSlowsDownUnderTheTableByCoulombFriction) {  // PV-20; spins are ten times the speeds
  ImpactSystem s = superball({1, -1, 0}, false);
  double x = 0.8, expected = 5.0 / 7;
  for (int n = 1; n <= 40; ++n) {
    s.W = superball(s.v, n % 2 == 0).W;
    s.apply(solved(s.problem({{0, 1, 1, 1, 0, 0}})).P);
    expect_vector(s.v, {expected, n % 2 == 0 ? -1.0 : 1.0, (n % 2 == 0 ? 10.0 : -10.0) * expected}, 1e-11);
    if (n == 1) {
      EXPECT_NEAR(s.energy(), 0.857142857, kPrinted);
    }
    if (n == 2) {
      EXPECT_NEAR(s.energy(), 0.565597668, kPrinted);
    }
    x += 0.8 * s.v[0];
    expected *= 3.0 / 7;
  }
  EXPECT_NEAR(x, 1.8, 1e-11);
}

TEST(PoissonImpact, SuperballComesBackFromUnderTheTableByReversibleFriction) {  // PV-20
  ImpactSystem s = superball({1, -1, 0}, false);
  const double expected[4][2] = {
      {3.0 / 7, -100.0 / 7}, {-31.0 / 49, 600.0 / 49}, {-333.0 / 343, 1300.0 / 343}, {-0.199500208, -15.493544357}};
  for (int n = 1; n <= 4; ++n) {
    s.W = superball(s.v, n % 2 == 0).W;
    s.apply(solved(s.problem({{0, 1, 1, 1, 1, 1}})).P);
    expect_vector(s.v, {expected[n - 1][0], n % 2 == 0 ? -1.0 : 1.0, expected[n - 1][1]}, n < 4 ? 1e-11 : kPrinted);
    EXPECT_NEAR(s.energy(), 1, kClosed);
  }
}

TEST(PoissonImpact, ReversibilityOfTheSuperballHasThresholds) {  // PV-20, variants of the first impact
  const struct {
    double mu, eps, eps_T, nu;
    Vec3 v;
    double T;
  } rows[] = {{1, 1, 0.5, 1, {4.0 / 7, 1, -75.0 / 7}, 0.892857143},
              {1, 1, 0.5, 0.5, {5.0 / 7, 1, -50.0 / 7}, 0.857142857},
              {1, 1, 1, 0, {5.0 / 7, 1, -50.0 / 7}, 0.857142857},
              {1, 1, 0, 1, {5.0 / 7, 1, -50.0 / 7}, 0.857142857},
              {0.2, 1, 1, 1, {0.6, 1, -10}, 0.88},
              {1, 0.5, 1, 1, {4.0 / 7, 0.5, -75.0 / 7}, 0.517857143}};
  for (const auto& row : rows) {
    ImpactSystem s = superball({1, -1, 0}, false);
    const ImpactResult r = solved(s.problem({{0, 1, row.mu, row.eps, row.eps_T, row.nu}}));
    s.apply(r.P);
    expect_vector(s.v, {row.v[0], row.v[1], row.v[2]}, 1e-11);
    EXPECT_NEAR(s.energy(), row.T, kPrinted);
    EXPECT_NEAR(1 + r.energy, row.T, kPrinted);
    if (row.mu == 0.2) {
      expect_vector(r.P_compression, {1, -0.2}, kClosed);
      EXPECT_NEAR(r.rate_compression[1], 0.3, kClosed);
      EXPECT_NEAR(r.rate[1], -0.4, kClosed);
    }
  }
}

ImpactProblem pendulum(double phi, double v0, double turn) {  // PV-21: J = 1/3, l = 1
  const double C = std::cos(phi), S = std::sin(phi);
  ImpactProblem p{Mat(2, 2), Vec(2), {{0, 1, 1, 1, 0, 0}}};
  p.G << 3 * S * S, 3 * S * C, 3 * S * C, 3 * C * C;
  p.rate << turn * S, turn * C - v0;
  return p;
}

TEST(PoissonImpact, PendulumOnAMovingSurface) {  // PV-21
  const double none = -1;
  const struct {
    double degrees, ratio[5];
  } rows[] = {{30, {none, 0, 0.113269616, 0.226539233, 0.453078465}},
              {50, {1, 0.087488664, 0.177136530, 0.354273059, 0.708546118}},
              {60, {1, 0.267949192, 0.267949192, 0.516397779, 1}},
              {70, {1, 0.466307658, 0.466307658, 0.912771026, 1}},
              {75, {1, 0.577350269, 0.693290152, 1, 1}}};
  const double v0[] = {-1, 0, 0.5, 1, 2};
  for (const auto& row : rows) {
    const double phi = radians(row.degrees), turn = -std::sqrt(30 * std::cos(phi));
    for (int k = 0; k < 5; ++k) {
      const ImpactProblem p = pendulum(phi, v0[k], turn);
      const ImpactResult r = ImpactSolver().solve(p);
      if (row.ratio[k] == none) {
        EXPECT_EQ(r.status, ContactStatus::no_solution);
        EXPECT_NE(r.note.find("no impulse satisfies"), std::string::npos);
        continue;
      }
      ASSERT_EQ(r.status, ContactStatus::solved) << row.degrees << " " << v0[k] << " " << r.note;
      EXPECT_NEAR(-r.rate[0] / p.rate[0], row.ratio[k], kPrinted) << row.degrees << " " << v0[k];
      if (v0[k] == 0) {
        EXPECT_NE(r.note.find("against the slip before"), std::string::npos);
      }
      const bool leaves_without_slip = row.ratio[k] < 1 && std::abs(r.rate[1]) < kPrinted && v0[k] > 0;
      if (leaves_without_slip) {  // area III: it comes back with the speed it left with, and from then on keeps it
        const double later = -r.rate[0] / std::sin(phi);
        EXPECT_NEAR(-later, v0[k] / std::cos(phi), kClosed);
        const ImpactProblem again = pendulum(phi, v0[k], later);
        EXPECT_NEAR(-ImpactSolver().solve(again).rate[0] / again.rate[0], 1, kClosed);
      }
    }
  }
  const ImpactResult r = solved(pendulum(radians(60), 1, -std::sqrt(15.0)));
  expect_vector(r.P_compression, {0.945073529, 0.945073529}, kPrinted);
  expect_vector(r.P - r.P_compression, {0.945073529, -0.303582035}, kPrinted);
  // Boundary of areas III and IV for v0 = 1: cos^3 = 1/30.
  const auto ratio = [](double phi) {
    const ImpactProblem p = pendulum(phi, 1, -std::sqrt(30 * std::cos(phi)));
    return -ImpactSolver().solve(p).rate[0] / p.rate[0];
  };
  const double boundary = std::acos(std::cbrt(1.0 / 30));
  EXPECT_NEAR(boundary, radians(71.226381), 1e-8);
  EXPECT_LT(ratio(boundary - 1e-6), 1 - 1e-7);
  EXPECT_NEAR(ratio(boundary + 1e-6), 1, kClosed);
}

}  // namespace
}  // namespace clatter::contact
