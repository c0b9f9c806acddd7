// What holds for impacts of any system: energy balance (P-46, PV-23), equality of the laws where the theory says so
// (P-37, P-38, P-47), the cradle, friction in space.
#include <gtest/gtest.h>

#include "impacts.hpp"
#include "impulse/impact.hpp"

namespace clatter::contact {
namespace {

using Impact = RigidContact::Impact;

ImpactContact smooth(int row, double eps, Impact rule = Impact::poisson) { return {row, 0, 0, eps, 0, 0, rule}; }

std::vector<ImpactContact> smooth_row(int count, double eps, Impact rule) {
  std::vector<ImpactContact> contacts;
  for (int i = 0; i < count; ++i) contacts.push_back(smooth(i, eps, rule));
  return contacts;
}

// A random system in which at least one contact approaches, with random parameters.
struct RandomImpact {
  ImpactSystem system;
  ImpactProblem problem;
};

RandomImpact random_problem(std::mt19937& random, int count, int tangents, bool equal) {
  std::uniform_real_distribution<double> u(0, 1);
  RandomImpact out;
  std::vector<ImpactContact> contacts;
  const double common = u(random);
  for (int i = 0; i < count; ++i) {
    contacts.push_back(
        {i * (1 + tangents), tangents, 1.5 * u(random), equal ? common : u(random), u(random), u(random)});
  }
  do {
    out.system = random_impact(random, 3 * count, count, tangents);
    out.problem = out.system.problem(contacts);
  } while (out.problem.rate[0] > -0.1);
  return out;
}

TEST(ImpactEnergy, BalanceOfTheTheoryHoldsForAnySystem) {  // PV-23 (a), P-46
  std::mt19937 random(1);
  ImpactSolver solver;
  ImpactResult r;
  for (int k = 0; k < 500; ++k) {
    RandomImpact s = random_problem(random, 1 + k % 3, 1 + k % 2, false);
    solver.solve(s.problem, r);
    ASSERT_EQ(r.status, ContactStatus::solved) << r.note;
    const double before = s.system.energy();
    s.system.apply(r.P);
    const double change = s.system.energy() - before;
    // |P| up to 10 and rates up to 10 cancel: some hundred units of rounding.
    EXPECT_NEAR(r.energy, change, 1e-12);
    double sum = 0;
    for (const double e : r.energy_of_contact) sum += e;
    EXPECT_NEAR(sum, r.energy, 1e-14);
    const Mat& G = s.problem.G;
    const Vec& P_C = r.P_compression;
    Vec eP_C = P_C;
    for (const ImpactContact& c : s.problem.contacts) eP_C.segment(c.row, 1 + c.tangents) *= c.restitution;
    const Vec P_P = r.P - P_C - eP_C;
    const double terms = -0.5 * P_C.dot(G * P_C) - 0.5 * P_P.dot(G * P_P) + 0.5 * eP_C.dot(G * eP_C);
    const double losses[] = {P_C.dot(r.rate_compression), P_P.dot(r.rate), eP_C.dot(r.rate_compression)};
    EXPECT_NEAR(terms + losses[0] + losses[1] + losses[2], change, 1e-11);
    for (const double loss : losses) EXPECT_LT(loss, 1e-10);  // never positive; the problems' own tolerance
    EXPECT_NEAR(r.energy_compression, -0.5 * P_C.dot(G * P_C) + losses[0], 1e-12);
  }
}

TEST(ImpactEnergy, NeverGrowsForEqualRestitution) {  // PV-23 (b)
  std::mt19937 random(2);
  ImpactSolver solver;
  ImpactResult r;
  int failed = 0;
  for (int k = 0; k < 20000; ++k) {
    const RandomImpact s = random_problem(random, 1 + k % 2, 1, true);
    solver.solve(s.problem, r);
    if (r.status != ContactStatus::solved) ++failed;
    ASSERT_LT(r.energy, 1e-10) << k;
    for (const ImpactContact& c : s.problem.contacts) ASSERT_GT(r.rate[c.row], -1e-9) << k << r.note;
  }
  EXPECT_EQ(failed, 0);
}

TEST(ImpactEnergy, NeverGrowsInSpaceForEqualRestitution) {  // the same, with discs and reversible parts
  std::mt19937 random(3);
  ImpactSolver solver;
  ImpactResult r;
  int failed = 0;
  for (int k = 0; k < 2000; ++k) {
    const RandomImpact s = random_problem(random, 1 + k % 2, 2, true);
    solver.solve(s.problem, r);
    if (r.status != ContactStatus::solved) ++failed;
    ASSERT_LT(r.energy, 1e-9) << k;
  }
  EXPECT_EQ(failed, 0);
}

TEST(ImpactEnergy, NeverGrowsWithoutFrictionForAnyRestitution) {  // PV-23, last remark
  std::mt19937 random(4);
  ImpactSolver solver;
  ImpactResult r;
  for (int k = 0; k < 5000; ++k) {
    RandomImpact s = random_problem(random, 1 + k % 2, 0, false);
    solver.solve(s.problem, r);
    ASSERT_EQ(r.status, ContactStatus::solved);
    ASSERT_LT(r.energy, 1e-10) << k;
  }
}

TEST(ImpactEnergy, GrowsForUnequalRestitutionWithFriction) {  // PV-23 (c): the law itself, no error
  ImpactSystem s{Mat::Identity(3, 3), Mat(3, 4), Vec(3)};
  s.W.col(0) << 0, -1, -2;
  s.W.col(1) << -1, 0, 0;
  s.W.col(2) << 1, 0, 0;
  s.W.col(3) << 2, 0, -2;
  s.v << -1, 1, 0;
  const ImpactResult r = ImpactSolver().solve(s.problem({{0, 1, 0, 1}, {2, 1, 1, 0}}));
  ASSERT_EQ(r.status, ContactStatus::solved);
  EXPECT_LT((r.P_compression - Eigen::Vector4d(1, 0, 3, -1)).norm(), kClosed);
  s.apply(r.P_compression);
  EXPECT_LT(s.v.norm(), kClosed);
  s.apply(r.P - r.P_compression);
  EXPECT_LT((s.v - Vec3(0, -1, -2)).norm(), kClosed);
  EXPECT_NEAR(r.energy, 1.5, kClosed);
}

TEST(ImpactEnergy, ThatWouldGrowIsTakenBackToThePartOfTheBounceThatBringsNone) {
  // PV-23 (c) again: without restitution everything stops, E_0 = -1; with it P_1 - P_0 = (1, 0, 0, 0) and E_1 = 1.5.
  // From rest after P_0 the bounce brings D G D s^2 / 2 = 2.5 s^2: s = sqrt(1 / 2.5).
  ImpactSystem s{Mat::Identity(3, 3), Mat(3, 4), Vec(3)};
  s.W.col(0) << 0, -1, -2;
  s.W.col(1) << -1, 0, 0;
  s.W.col(2) << 1, 0, 0;
  s.W.col(3) << 2, 0, -2;
  s.v << -1, 1, 0;
  const ImpactProblem problem = s.problem({{0, 1, 0, 1}, {2, 1, 1, 0}});
  ImpactSolver solver;
  ImpactResult r = solver.solve(problem);
  solver.forbid_gain(problem, r);
  EXPECT_NEAR(r.gain, 1.5, kClosed);
  EXPECT_NEAR(r.part, std::sqrt(1 / 2.5), kClosed);
  EXPECT_NEAR(r.energy, 0, kClosed);
  EXPECT_LT((r.rate - problem.rate - problem.G * r.P).norm(), kClosed);
  s.apply(r.P);
  EXPECT_NEAR(s.energy(), 1, kClosed);
}

TEST(ImpactEnergy, NeverGrowsByAnyLawInAMotion) {
  std::mt19937 random(11);
  ImpactSolver solver;
  ImpactResult r;
  int reduced = 0;
  for (int k = 0; k < 3000; ++k) {
    RandomImpact s = random_problem(random, 1 + k % 3, 1 + k % 2, false);
    for (ImpactContact& c : s.problem.contacts) c.rule = k % 2 == 0 ? Impact::poisson : Impact::moreau;
    solver.solve(s.problem, r);
    if (r.status != ContactStatus::solved) continue;
    solver.forbid_gain(s.problem, r);
    reduced += r.gains >= 0;
    EXPECT_LT(r.energy, 1e-8) << k;
    for (const ImpactContact& c : s.problem.contacts) {
      EXPECT_GE(r.P[c.row], -1e-9) << k;
      EXPECT_LE(r.P.segment(c.row + 1, c.tangents).norm(), c.mu * r.P[c.row] + 1e-8) << k;
      EXPECT_GT(r.rate[c.row], -1e-7) << k;
    }
  }
  EXPECT_GT(reduced, 10);  // few systems gain
}

// P-37 with the loop of P-38; false where the loop ends without an answer.
bool newton_by_loop(const ImpactProblem& p, Vec& P) {
  std::vector<int> active;
  for (const ImpactContact& c : p.contacts) active.push_back(c.row);
  while (!active.empty()) {
    Vec g = p.rate(active);
    for (std::size_t i = 0; i < active.size(); ++i) {
      g[static_cast<Eigen::Index>(i)] *= 1 + p.contacts[static_cast<std::size_t>(active[i])].restitution;
    }
    const Vec L = -p.G(active, active).lu().solve(g);
    std::vector<int> kept;
    for (std::size_t i = 0; i < active.size(); ++i) {
      if (L[static_cast<Eigen::Index>(i)] >= 0) kept.push_back(active[i]);
    }
    if (kept.size() == active.size()) {
      P.setZero(p.rate.size());
      P(active) = L;
      break;
    }
    active = kept;
  }
  if (active.empty()) return false;
  const Vec after = p.rate + p.G * P;
  for (const ImpactContact& c : p.contacts) {
    if (P[c.row] == 0 && after[c.row] + c.restitution * p.rate[c.row] < 0) return false;
  }
  return true;
}

TEST(NewtonImpact, AgreesWithTheConsistencyLoop) {  // P-37, P-38
  std::mt19937 random(5);
  int compared = 0, reduced = 0;
  for (int k = 0; k < 2000; ++k) {
    const int count = 2 + k % 3;
    ImpactSystem s = random_impact(random, 5, count, 0);
    std::uniform_real_distribution<double> u(0, 1);
    std::vector<ImpactContact> contacts;
    for (int i = 0; i < count; ++i) contacts.push_back(smooth(i, u(random), Impact::newton));
    ImpactProblem p = s.problem(contacts);
    p.rate = -p.rate.cwiseAbs();
    Vec P;
    const ImpactResult r = ImpactSolver().solve(p);
    ASSERT_EQ(r.status, ContactStatus::solved);
    EXPECT_LT(r.energy, 1e-10);  // P-39: rates before are not positive
    if (!newton_by_loop(p, P)) continue;
    ++compared;
    if ((P.array() == 0).any()) ++reduced;
    EXPECT_LT((r.P - P).norm(), 1e-9 * (1 + P.norm()));  // G of four random columns in five coordinates: condition 1e5
  }
  EXPECT_GT(compared, 1500);
  EXPECT_GT(reduced, 300);
}

TEST(NewtonImpact, EqualsPoissonForEqualRestitution) {  // P-47
  std::mt19937 random(6);
  std::uniform_real_distribution<double> u(0, 1);
  int unequal_differ = 0, compared = 0;
  while (compared < 300) {
    ImpactSystem s = random_impact(random, 5, 3, 0);
    ImpactProblem p = s.problem(smooth_row(3, u(random), Impact::newton));
    const Vec P_C = Vec3(0.1 + u(random), 0.1 + u(random), 0.1 + u(random));
    p.rate = -p.G * P_C;                  // all are active in compression
    if (p.rate.maxCoeff() > 0) continue;  // and the Poisson impulse suffices
    ++compared;
    const Vec newton = ImpactSolver().solve(p).P;
    for (ImpactContact& c : p.contacts) c.rule = Impact::poisson;
    const ImpactResult poisson = ImpactSolver().solve(p);
    EXPECT_LT((poisson.P_compression - P_C).norm(), 1e-9);
    EXPECT_LT((poisson.P - newton).norm(), 1e-9);
    p.contacts[0].restitution = 0;
    p.contacts[1].restitution = 1;
    const Vec poisson_unequal = ImpactSolver().solve(p).P;
    for (ImpactContact& c : p.contacts) c.rule = Impact::newton;
    if ((ImpactSolver().solve(p).P - poisson_unequal).norm() > 1e-3) ++unequal_differ;
  }
  EXPECT_GT(unequal_differ, 250);
}

TEST(NewtonImpact, RefusesFrictionInAnEccentricImpact) {  // P-47
  const ImpactProblem rod = rod_on_tip(radians(45), {1, -1, 0}).problem({{0, 1, 0.3, 0.5, 0, 0, Impact::newton}});
  const ImpactResult refused = ImpactSolver().solve(rod);
  EXPECT_EQ(refused.status, ContactStatus::unsupported);
  EXPECT_NE(refused.note.find("needs a central impact"), std::string::npos);
  EXPECT_EQ(refused.P.norm(), 0);
  EXPECT_EQ(refused.rate, rod.rate);
  // A ball is central: the same as Poisson's law. So is anything without friction.
  ImpactProblem ball{
      Eigen::Vector2d(1, 3.5).asDiagonal(), Eigen::Vector2d(-2, 1), {{0, 1, 0.1, 0.5, 0, 0, Impact::newton}}};
  const Vec newton = ImpactSolver().solve(ball).P;
  ball.contacts[0].rule = Impact::poisson;
  EXPECT_LT((newton - ImpactSolver().solve(ball).P).norm(), kClosed);
  EXPECT_LT((newton - Eigen::Vector2d(3, -1.0 / 3.5)).norm(), kClosed);  // mu P_N = 0.3 would be more than it takes
  ImpactProblem slippery = rod;
  slippery.contacts[0].mu = 0;
  EXPECT_NEAR(ImpactSolver().solve(slippery).rate[0], 0.5, kClosed);
}

TEST(MoreauImpact, ReflectsRatesAndObeysCoulombInTheEccentricRod) {
  // One contact in closed form: sliding, P_T = -mu P_N, gap'_E = -eps gap'_A; and sticking, slip_E = -eps_T slip_A.
  ImpactProblem rod = rod_on_tip(radians(45), {1, -1, 0}).problem({{0, 1, 0.3, 0.5, 0, 0, Impact::moreau}});
  const ImpactResult sliding = ImpactSolver().solve(rod);
  const double P_N = 1.5 / (2.5 - 0.3 * 1.5);
  EXPECT_LT((sliding.P - Eigen::Vector2d(P_N, -0.3 * P_N)).norm(), kClosed);
  EXPECT_NEAR(sliding.rate[0], 0.5, kClosed);
  EXPECT_GT(sliding.rate[1], 0);
  rod.contacts[0].mu = 5;
  rod.contacts[0].tangential_restitution = 0.5;
  const ImpactResult sticking = ImpactSolver().solve(rod);
  EXPECT_LT((sticking.rate - Eigen::Vector2d(0.5, -0.5)).norm(), kClosed);
}

TEST(MoreauImpact, NeverGainsEnergyForEqualRestitutions) {
  // With eps_T = eps = the same everywhere: T_E - T_A = -(1 - eps) / (2 (1 + eps)) P^T G P + P^T (mean rate) <= 0.
  std::mt19937 random(7);
  ImpactSolver solver;
  ImpactResult r;
  for (int k = 0; k < 3000; ++k) {
    RandomImpact s = random_problem(random, 1 + k % 2, 1, true);
    for (ImpactContact& c : s.problem.contacts) {
      c.rule = Impact::moreau;
      c.tangential_restitution = c.restitution;
    }
    solver.solve(s.problem, r);
    ASSERT_EQ(r.status, ContactStatus::solved) << r.note;
    ASSERT_LT(r.energy, 1e-10) << k;
    for (const ImpactContact& c : s.problem.contacts) ASSERT_GT(r.rate[c.row], -1e-8) << k;
  }
}

TEST(MoreauImpact, ContactClosedByOthersCollidesAtOnce) {
  // Ball 1 has just left the ground at speed 1, ball 2 falls on it at 3; equal masses, elastic. The first collision
  // would send ball 1 to the ground at 1 (not at 3, which would need 8 units of energy for 5), the next sends it back.
  for (const Impact rule : {Impact::moreau, Impact::newton}) {
    ImpactSystem s{Mat::Identity(2, 2), Mat(2, 2), Eigen::Vector2d(1, -3)};
    s.W << 1, -1, 0, 1;
    const ImpactResult r = ImpactSolver().solve(s.problem({smooth(0, 1, rule), smooth(1, 1, rule)}));
    s.apply(r.P);
    EXPECT_LT((s.v - Eigen::Vector2d(1, 3)).norm(), kClosed);
    EXPECT_NEAR(r.energy, 0, kClosed);
    EXPECT_NE(r.note.find("at the same instant"), std::string::npos);
  }
}

TEST(Cradle, TouchingBallsShareTheBlowAndSeparatedOnesPassItOn) {
  // All contacts at once, elastic: compression ends with the common speed 1/n, expansion doubles the impulses, so the
  // first ball goes back at 1 - 2/n and the others leave together at 2/n; Newton's law gives gap'_E = (1, 0, ..., 0),
  // which is the same state (P-47). The toy's (0, ..., 0, 1) is a sequence of pairs: balls that do not quite touch.
  for (const int n : {3, 5}) {
    for (const Impact rule : {Impact::poisson, Impact::newton, Impact::moreau}) {
      ImpactSystem together = cradle(n);
      const ImpactResult r = ImpactSolver().solve(together.problem(smooth_row(n - 1, 1, rule)));
      ASSERT_EQ(r.status, ContactStatus::solved);
      if (rule == Impact::poisson) {
        EXPECT_LT(r.rate_compression.norm(), kClosed);
      }
      together.apply(r.P);
      Vec expected = Vec::Constant(n, 2.0 / n);
      expected[0] = 2.0 / n - 1;
      EXPECT_LT((together.v - expected).norm(), kClosed);
      EXPECT_NEAR(r.energy, 0, kClosed);

      ImpactSystem toy = cradle(n);
      for (int i = 0; i + 1 < n; ++i) {
        ImpactSystem pair = toy;
        pair.W = toy.W.col(i);
        const ImpactResult one = ImpactSolver().solve(pair.problem(smooth_row(1, 1, rule)));
        pair.apply(one.P);
        toy.v = pair.v;
      }
      EXPECT_LT((toy.v - Vec::Unit(n, n - 1)).norm(), kClosed);
    }
  }
}

TEST(SpatialImpact, BallActsInThePlaneOfItsSlip) {
  // G = diag(1, 3.5, 3.5) is the superball of PV-20: whatever the direction of slip, the planar answer turned.
  for (const double angle : {0.0, 0.3, 1.2, 2.5, 4.0}) {
    for (const double mu : {0.05, 0.2, 1.0}) {
      for (const double eps_T : {0.0, 0.5, 1.0}) {
        for (const double nu : {0.0, 0.6, 1.0}) {
          ImpactProblem plane{
              Eigen::Vector2d(1, 3.5).asDiagonal(), Eigen::Vector2d(-1, 1), {{0, 1, mu, 0.8, eps_T, nu}}};
          ImpactProblem space{
              Vec3(1, 3.5, 3.5).asDiagonal(), Vec3(-1, std::cos(angle), std::sin(angle)), {{0, 2, mu, 0.8, eps_T, nu}}};
          const ImpactResult p = ImpactSolver().solve(plane), s = ImpactSolver().solve(space);
          ASSERT_EQ(s.status, ContactStatus::solved) << s.note;
          const auto turned = [&](const Vec& v) { return Vec3(v[0], v[1] * std::cos(angle), v[1] * std::sin(angle)); };
          EXPECT_LT((s.P - turned(p.P)).norm(), 1e-10);  // the disc problem's own tolerance
          EXPECT_LT((s.rate - turned(p.rate)).norm(), 1e-10);
          EXPECT_NEAR(s.energy, p.energy, 1e-10);
        }
      }
    }
  }
}

TEST(SpatialImpact, ResultDoesNotDependOnTheTangentAxes) {
  std::mt19937 random(8);
  int compared = 0;
  for (int k = 0; k < 400; ++k) {
    const RandomImpact s = random_problem(random, 1, 2, true);
    // The disc problem's own tolerance, 1e-10, times the condition; systems nearly dependent are left out.
    const Vec values = s.problem.G.selfadjointView<Eigen::Lower>().eigenvalues();
    if (values[2] > 100 * values[0]) continue;
    ++compared;
    Mat T = Mat::Identity(3, 3);
    T.bottomRightCorner(2, 2) = Eigen::Rotation2Dd(0.1 + k).toRotationMatrix();
    ImpactProblem turned = s.problem;
    turned.G = T * s.problem.G * T.transpose();
    turned.rate = T * s.problem.rate;
    const ImpactResult a = ImpactSolver().solve(s.problem), b = ImpactSolver().solve(turned);
    ASSERT_EQ(a.status, ContactStatus::solved);
    EXPECT_LT((b.P - T * a.P).norm(), 1e-8);
    // Coulomb's disc: within the rim, and against the slip on it.
    const Vec3 P_C = a.P_compression;
    const double bound = s.problem.contacts[0].mu * P_C[0], rub = P_C.tail(2).norm();
    EXPECT_LE(rub, bound * (1 + 1e-12));
    const Vec slip = a.rate_compression.tail(2);
    if (slip.norm() > 1e-6) {
      EXPECT_NEAR(P_C.tail(2).dot(slip), -bound * slip.norm(), 1e-8);
    }
  }
  EXPECT_GT(compared, 200);
}

TEST(ImpactLaws, MixedContactsAndParametersOfExpansion) {
  ImpactProblem p{Eigen::Vector2d(1, 1).asDiagonal(), Eigen::Vector2d(-1, -1), {smooth(0, 0.5), smooth(1, 0.5)}};
  p.contacts[1].rule = Impact::moreau;
  EXPECT_NE(ImpactSolver().solve(p).note.find("Poisson's taken for all"), std::string::npos);
  ImpactOptions options;
  options.for_expansion = [](int contact, double P_N, double, ImpactContact& c) {
    EXPECT_NEAR(P_N, 1, kClosed);
    if (contact == 1) c.restitution = 0.25;
  };
  EXPECT_LT((ImpactSolver().solve(p, options).rate - Eigen::Vector2d(0.5, 0.25)).norm(), kClosed);
  RigidContact law;
  law.restitution = 0.3;
  law.impact_friction = 0.7;
  EXPECT_EQ(impact_contact(law, 4, 2, 0.1).mu, 0.7);
  EXPECT_EQ(impact_contact(law, 4, 2, 0.1).reversibility, 0);
  p.contacts[0].restitution = 1.5;
  EXPECT_THROW(ImpactSolver().solve(p), std::invalid_argument);
}

}  // namespace
}  // namespace clatter::contact
