// The cone solvers against each other, against Lemke's method, and against the laws they solve (Y-28, Y-29).
#include <numeric>

#include "crowd/problems.hpp"
#include "solve/lemke.hpp"

namespace clatter::contact {
namespace {

constexpr double kTight = 1e-11;  // m/s, rates in the problems are near 1

CrowdProblem swept(CrowdProblem p, bool exact) {
  WorkerPool pool(1);
  CrowdSweeps sweeps(pool);
  EXPECT_TRUE(sweeps.solve(p, exact, 0.1 * kTight, 200000).converged);
  return p;
}

CrowdProblem by_gradients(CrowdProblem p, bool exact, bool spectral) {
  WorkerPool pool(1);
  CrowdSweeps sweeps(pool);
  CrowdGradients gradients(sweeps);
  EXPECT_TRUE(gradients.solve(p, exact, spectral, 10 * kTight, 200000).converged);
  return p;
}

TEST(CrowdSolvers, AllFindTheSameVelocitiesUnderTheRelaxedLaw) {
  // The relaxed problem is convex: velocities are unique although impulses are not (T-10). Residual to velocity: the
  // problems' conditioning, a few hundred.
  for (unsigned seed = 1; seed <= 8; ++seed) {
    const CrowdProblem p = random_problem(seed, 6, 15, seed % 2 == 0, seed % 3 == 0);
    const CrowdProblem a = swept(p, false), b = by_gradients(p, false, false), c = by_gradients(p, false, true);
    EXPECT_LT(a.residual(false).rate, 10 * kTight) << seed;
    EXPECT_LT(largest_difference(a, b), 1e-6) << seed;
    EXPECT_LT(largest_difference(a, c), 1e-6) << seed;
    EXPECT_GT(largest_difference(a, p), 0.1) << "nothing happened in problem " << seed;
  }
}

TEST(CrowdSolvers, MeetCoulombsLawExactly) {
  // Among them some whose fixed point in mu |u_T| crawls (seed 11) or goes round a cycle (184), and two beyond the
  // first two hundred on which conjugate directions of sweeps have no end.
  std::vector<unsigned> seeds(200);
  std::iota(seeds.begin(), seeds.end(), 1U);
  seeds.insert(seeds.end(), {462, 1995});
  for (const unsigned seed : seeds) {
    const CrowdProblem p = random_problem(seed, 5, 9, seed % 2 == 0, seed % 3 == 0);
    for (const CrowdProblem& x : {swept(p, true), by_gradients(p, true, false), by_gradients(p, true, true)}) {
      const CrowdResidual r = x.residual(true);
      EXPECT_LT(r.rate, 1e-9) << seed;
      EXPECT_LE(r.cone, 1e-12) << seed;
      // Signorini and Coulomb, contact by contact.
      for (const CrowdRow& row : x.rows) {
        const Vec3 u = x.rate(row), n(row.n[0], row.n[1], row.n[2]), pt(row.pt[0], row.pt[1], row.pt[2]);
        const double un = n.dot(u) + row.b;
        const Vec3 ut = u - n.dot(u) * n;
        EXPECT_GE(un, -1e-9);
        EXPECT_LE(std::abs(un * row.pn), 1e-8);
        if (ut.norm() > 1e-6 && row.pn > 1e-6) {
          EXPECT_NEAR(pt.norm(), row.mu * row.pn, 1e-6);
          EXPECT_NEAR(pt.dot(ut), -pt.norm() * ut.norm(), 1e-6);
        }
      }
    }
  }
}

TEST(CrowdSolvers, SpectralStepsDoNotGoRoundACycle) {
  // In problem 152 lengths and cuts of steps repeated every four steps, for 25 000 of them; the hardest of the others
  // takes some 3 000.
  WorkerPool pool(1);
  CrowdSweeps sweeps(pool);
  CrowdGradients gradients(sweeps);
  for (unsigned seed = 1; seed <= 1000; ++seed) {
    CrowdProblem p = random_problem(seed, 5, 9, seed % 2 == 0, seed % 3 == 0);
    EXPECT_TRUE(gradients.solve(p, false, true, 10 * kTight, 10000).converged) << seed;
  }
}

TEST(CrowdSolvers, RelaxedLawMeetsItsOptimalityConditions) {
  // Y-28: impulses in the cone, rates in its dual, and at right angles.
  for (unsigned seed = 20; seed < 26; ++seed) {
    const CrowdProblem x = swept(random_problem(seed, 5, 12, false, false), false);
    for (const CrowdRow& row : x.rows) {
      const Vec3 u = x.rate(row), n(row.n[0], row.n[1], row.n[2]);
      const double dn = n.dot(u) + row.b;
      EXPECT_GE(dn, row.mu * (u - n.dot(u) * n).norm() - 1e-9);
      EXPECT_NEAR(impulse(row).dot(u) + row.pn * row.b, 0, 1e-8);
    }
  }
}

TEST(CrowdSolvers, PlanarConesAreALinearProblemThatLemkeSolves) {
  // Y-29: with generators g = (+-mu, 1) of the planar cone, 0 <= alpha perp (G^T V G) alpha + G^T p >= 0.
  for (unsigned seed = 1; seed <= 6; ++seed) {
    CrowdProblem p = random_problem(seed, 4, 8, true, false);
    const CrowdProblem a = swept(p, false);
    const auto m = static_cast<Eigen::Index>(2 * p.rows.size());
    std::vector<Vec3> generator;
    for (const CrowdRow& row : p.rows) {
      const Vec3 n(row.n[0], row.n[1], row.n[2]), t(n.y(), -n.x(), 0);
      generator.push_back(n + row.mu * t);
      generator.push_back(n - row.mu * t);
    }
    const auto rates = [&](const CrowdProblem& x, bool bias) {
      Vec r(m);
      for (Eigen::Index i = 0; i < m; ++i) {
        const CrowdRow& row = x.rows[static_cast<std::size_t>(i / 2)];
        r[i] = generator[static_cast<std::size_t>(i)].dot(x.rate(row)) + (bias ? row.b : 0);
      }
      return r;
    };
    CrowdProblem still = p;
    for (CrowdBody& b : still.bodies)
      for (int k = 0; k < 3; ++k) b.v[k] = b.w[k] = 0;
    Mat A(m, m);
    for (Eigen::Index i = 0; i < m; ++i) {
      CrowdProblem x = still;
      x.push(x.rows[static_cast<std::size_t>(i / 2)], generator[static_cast<std::size_t>(i)]);
      A.col(i) = rates(x, false);
    }
    const Vec b = rates(p, true);
    LemkeSolver lemke;
    Vec alpha, y;
    ASSERT_EQ(lemke.solve(A, b, alpha, y).status, LcpStatus::solved) << seed;
    CrowdProblem x = p;
    for (Eigen::Index i = 0; i < m; ++i)
      x.push(x.rows[static_cast<std::size_t>(i / 2)], alpha[i] * generator[static_cast<std::size_t>(i)]);
    EXPECT_LT(largest_difference(a, x), 1e-7) << seed;
    CrowdProblem by_newton = p;
    WorkerPool pool(1);
    CrowdSweeps sweeps(pool);
    CrowdNewton newton(sweeps, false);
    EXPECT_TRUE(newton.solve(by_newton, false, kTight, 200).converged);
    EXPECT_LT(largest_difference(by_newton, x), 1e-9) << seed;
  }
}

TEST(CrowdSolvers, ProjectOnTheConeAsInThePlane) {
  // Y-29: inside, polar, and in between.
  double n = 1;
  Vec3 t(0.2, 0, 0);
  project_on_cone(0.3, n, t);
  EXPECT_EQ(n, 1);
  EXPECT_EQ(t.x(), 0.2);
  n = -1;
  t = Vec3(3, 0, 0);
  project_on_cone(0.3, n, t);
  EXPECT_EQ(n, 0);
  EXPECT_EQ(t.x(), 0);
  n = 1;
  t = Vec3(-2, 0, 0);
  project_on_cone(0.3, n, t);
  EXPECT_NEAR(n, (0.3 * 2 + 1) / 1.09, 1e-15);
  EXPECT_NEAR(t.x(), -0.3 * (0.3 * 2 + 1) / 1.09, 1e-15);
}

}  // namespace
}  // namespace clatter::contact
