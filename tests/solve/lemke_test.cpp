#include "solve/lemke.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <numbers>

#include "solve/contact_solver.hpp"
#include "solve/contact_systems.hpp"
#include "solve/enumerate_lcp.hpp"
#include "solve/newton_lcp.hpp"

namespace clatter {
namespace {

// Residual in the problem's own numbers, computed from x alone: independent of how the solvers scale.
double plain_residual(const Mat& A, const Vec& b, const Vec& x) {
  const Vec y = A * x + b;
  return x.cwiseMin(y).cwiseAbs().maxCoeff();
}

constexpr double kClosedForm = 1e-12;  // closed forms of order ten: some rounding errors

// PV-11: two stacked bodies, regions I to IV and the numbers of each.
TEST(LemkePV11, FindsEachOfTheFourRegionsOfTwoStackedBodies) {
  Mat A(2, 2);
  A << 1, -1, -1, 2;
  const double g = 10;
  struct Case {
    double F1, F2;
    Eigen::Vector2d x, y;
  };
  const Case cases[] = {
      {12, 11, {0, 0.5}, {1.5, 0}}, {12, 14, {0, 0}, {2, 2}}, {5, 5, {10, 5}, {0, 0}}, {5, 12, {5, 0}, {0, 2}}};
  LemkeSolver lemke;
  for (const Case& c : cases) {
    const Vec b = Eigen::Vector2d(c.F1 - g, c.F2 - c.F1);
    Vec x, y;
    ASSERT_EQ(lemke.solve(A, b, x, y).status, LcpStatus::solved);
    EXPECT_LT((x - c.x).norm(), kClosedForm);
    EXPECT_LT((y - c.y).norm(), kClosedForm);
    const Enumeration all = enumerate(A, b);
    EXPECT_EQ(all.count, SolutionCount::unique);
    EXPECT_LT((all.solutions.at(0).r - c.x).norm(), kClosedForm);
  }
}

// P-32, PV-11: the four cones tile the plane, so every load has one solution, also on the rays between two cones.
TEST(EnumerationPV11, ConesTileThePlane) {
  Mat A(2, 2);
  A << 1, -1, -1, 2;
  LemkeSolver lemke;
  for (int k = 0; k < 720; ++k) {
    const double angle = k * std::numbers::pi / 360;
    const Vec b = Eigen::Vector2d(std::cos(angle), std::sin(angle));
    const Enumeration all = enumerate(A, b);
    ASSERT_EQ(all.count, SolutionCount::unique) << k;
    Vec x, y;
    ASSERT_EQ(lemke.solve(A, b, x, y).status, LcpStatus::solved) << k;
    ASSERT_LT((x - all.solutions[0].r).norm(), 1e-12) << k;
  }
  for (const Vec& boundary : {Vec(Eigen::Vector2d(0, 1)), Vec(-A.col(0)), Vec(-A.col(1))}) {
    EXPECT_EQ(enumerate(A, boundary).count, SolutionCount::unique);
  }
}

// PV-6: the sliding rod of Painleve as a scalar LCP with 1, 1, 0 and 2 solutions, m = s = 1, g = 9.81.
struct Rod {
  double a, b;
};
Rod rod(double degrees, double rate, double mu) {
  const double phi = degrees * std::numbers::pi / 180;
  return {1 + 3 * std::cos(phi) * (std::cos(phi) - mu * std::sin(phi)), rate * rate * std::sin(phi) - 9.81};
}

TEST(PainlevePV6, HasZeroOneOrTwoSolutionsWithTheTabulatedForces) {
  struct Case {
    double degrees, rate, mu, a, b;
    std::vector<double> forces;
  };
  const Case cases[] = {{30, 1, 0.5, 2.600480947, -9.31, {3.580106984}},
                        {30, 5, 0.5, 2.600480947, 2.69, {0}},
                        {60, 1, 5.0 / 3, -0.415063509, -8.943974596, {}},
                        {60, 4, 5.0 / 3, -0.415063509, 4.046406461, {0, 9.748885094}}};
  for (const Case& c : cases) {
    const Rod r = rod(c.degrees, c.rate, c.mu);
    EXPECT_NEAR(r.a, c.a, 1e-9);  // the table has ten digits
    EXPECT_NEAR(r.b, c.b, 1e-9);
    const Mat A = Mat::Constant(1, 1, r.a);
    const Vec b = Vec::Constant(1, r.b);
    const Enumeration all = enumerate(A, b);
    ASSERT_EQ(all.solutions.size(), c.forces.size());
    for (std::size_t k = 0; k < c.forces.size(); ++k) EXPECT_NEAR(all.solutions[k].r(0), c.forces[k], 1e-8);
    const SolutionCount expected[] = {SolutionCount::none, SolutionCount::unique, SolutionCount::several};
    EXPECT_EQ(all.count, expected[c.forces.size()]);

    Vec x, y;
    const LcpResult lemke = LemkeSolver().solve(A, b, x, y);
    EXPECT_EQ(lemke.status, c.forces.empty() ? LcpStatus::ray : LcpStatus::solved);
    if (!c.forces.empty()) {
      EXPECT_NEAR(x(0), c.forces[0], 1e-8);
    }

    ContactOptions count;
    count.count_solutions = true;
    const ContactResult automatic = solve({A, b, {Cone::ray(0)}}, x, count);
    EXPECT_EQ(automatic.status, c.forces.empty() ? ContactStatus::no_solution : ContactStatus::solved);
    EXPECT_EQ(automatic.count, expected[c.forces.size()]);
  }
}

// P-32: a load inside a degenerate cone has infinitely many solutions, beside it none.
TEST(Enumeration, TellsInfinitelyManyFromNoneOnDegenerateCones) {
  Mat A(2, 2);  // PV-9, the pantograph: lambda_1 + 2 lambda_2 = const, M_1 = 1
  A << 1, 2, 2, 4;
  const Enumeration pantograph = enumerate(A, Eigen::Vector2d(-3, -6));
  EXPECT_EQ(pantograph.count, SolutionCount::infinite);
  EXPECT_EQ(pantograph.count_y, SolutionCount::unique);
  for (const EnumeratedSolution& s : pantograph.solutions) EXPECT_NEAR(s.r(0) + 2 * s.r(1), 3, 1e-10);

  // y = -x_1 + x_2 twice; b = (-1, -1) needs x_2 - x_1 = 1: a half line of solutions. b = (-1, -2): x_2 - x_1 = 2 with
  // y_1 = 1 is forbidden for x_1 > 0 and right for x_1 = 0.
  A << -1, 1, -1, 1;
  EXPECT_EQ(enumerate(A, Eigen::Vector2d(-1, -1)).count, SolutionCount::infinite);
  const Enumeration one = enumerate(A, Eigen::Vector2d(-1, -2));
  EXPECT_EQ(one.count, SolutionCount::unique);
  EXPECT_NEAR(one.solutions.at(0).r(1), 2, 1e-12);
  EXPECT_EQ(enumerate(A, Eigen::Vector2d(-2, -1)).count, SolutionCount::none);

  EXPECT_EQ(enumerate(Mat::Zero(1, 1), Vec::Zero(1)).count, SolutionCount::infinite);
  EXPECT_EQ(enumerate(Mat::Zero(1, 1), Vec::Constant(1, -1.0)).count, SolutionCount::none);
}

TEST(NonnegativeLeastSquares, MeetsTheConditionsOfTheMinimum) {
  std::mt19937 random(5);
  for (int k = 0; k < 200; ++k) {
    Mat E = test::random_normal(3 + k % 4, 2 + k % 6, random);
    if (k % 3 == 0) E.col(0) = E.col(1);
    const Vec f = test::random_normal(static_cast<int>(E.rows()), 1, random);
    Vec x;
    nonnegative_least_squares(E, f, x);
    const Vec gradient = E.transpose() * (E * x - f);
    EXPECT_GE(x.minCoeff(), 0);
    EXPECT_GE(gradient.minCoeff(), -1e-10);
    EXPECT_NEAR(x.dot(gradient), 0, 1e-10);
  }
}

// PV-25: frictionless systems against Gauss's principle (P-25), also with dependent constraints.
TEST(LemkePV25, AgreesWithGaussPrincipleOnFrictionlessSystems) {
  std::mt19937 random(11);
  LemkeSolver lemke;
  for (int k = 0; k < 300; ++k) {
    const int f = 2 + k % 5, n = 1 + k % 7;  // n > f: dependent
    const test::PlanarContacts s = test::random_contacts(f, n, 0, random);
    const Eigen::LLT<Mat> llt(s.M);
    Vec x, y;
    const LcpResult result =
        lemke.solve(s.WN.transpose() * llt.solve(s.WN), s.WN.transpose() * llt.solve(s.h) + s.wN, x, y);
    ASSERT_EQ(result.status, LcpStatus::solved) << k;
    const Vec a = s.accelerations(x, Vec::Zero(n));
    // Hildreth's steps stop at 1e-15; its linear convergence leaves some more in nearly dependent systems.
    ASSERT_LT((a - test::gauss_principle(s.M, s.h, s.WN, s.wN)).norm(), 1e-7 * (1 + a.norm())) << k;
  }
}

enum class Kind { monotone, dependent, copositive, integer, sparse, general };

void random_lcp(Kind kind, int n, std::mt19937& random, Mat& A, Vec& b) {
  std::uniform_int_distribution<int> small(-2, 2), third(0, 2);
  b = test::random_normal(n, 1, random);
  switch (kind) {
    case Kind::monotone: {  // positive definite plus a skew part
      const Mat L = test::random_normal(n, n, random), K = test::random_normal(n, n, random);
      A = L * L.transpose() + K - K.transpose();
      break;
    }
    case Kind::dependent: {  // G = W^T W of rank below n, load in the range: solvable
      const Mat W = test::random_normal(std::max(1, n / 2), n, random);
      A = W.transpose() * W;
      b = W.transpose() * test::random_normal(static_cast<int>(W.rows()), 1, random);
      break;
    }
    case Kind::copositive: {  // nonnegative with a positive diagonal
      A = test::random_normal(n, n, random).cwiseAbs();
      A.diagonal().array() += 0.1;
      break;
    }
    case Kind::integer: {  // ties everywhere
      A.resize(n, n);
      for (int i = 0; i < n; ++i) {
        b(i) = small(random);
        for (int j = 0; j < n; ++j) A(i, j) = small(random);
      }
      const Mat L = A;
      A = L * L.transpose();
      break;
    }
    case Kind::sparse: {  // zero rows and columns, repeated columns, zero loads
      const Mat L = test::random_normal(n, n, random);
      A = L * L.transpose();
      for (int i = 0; i < n; ++i) {
        if (third(random) == 0) b(i) = 0;
        if (third(random) == 0 && i > 0) A.col(i) = A.col(i - 1);
        if (small(random) == 2) A.row(i).setZero();
        if (small(random) == 2) A.col(i).setZero();
      }
      break;
    }
    case Kind::general:
      A.resize(n, n);
      for (int i = 0; i < n; ++i) {
        b(i) = small(random);
        for (int j = 0; j < n; ++j) A(i, j) = small(random);
      }
      break;
  }
}

// PV-25 and P-34 over ten thousand problems: solved with a small residual in the problem's own numbers, or diagnosed;
// and where Lemke says "ray" enumeration says whether that was right.
TEST(Lemke, SolvesOrDiagnosesTenThousandRandomProblems) {
  std::mt19937 random(2024);
  LemkeSolver lemke;
  ContactSolver automatic;
  constexpr Kind kKinds[] = {Kind::monotone, Kind::dependent, Kind::copositive,
                             Kind::integer,  Kind::sparse,    Kind::general};
  int solved[6] = {}, diagnosed[6] = {}, reached_otherwise[6] = {};
  for (int k = 0; k < 10000; ++k) {
    const Kind kind = kKinds[k % 6];
    const auto which = static_cast<std::size_t>(kind);
    const int n = 1 + (k / 6) % 7;
    Mat A;
    Vec b, x, y;
    random_lcp(kind, n, random, A, b);
    const LcpResult result = lemke.solve(A, b, x, y);
    ASSERT_TRUE(x.allFinite() && y.allFinite());
    if (result.status == LcpStatus::solved) {
      ++solved[which];
      ASSERT_GE(x.minCoeff(), 0);
      ASSERT_LT(plain_residual(A, b, x), 1e-10 * (1 + A.cwiseAbs().maxCoeff() * x.cwiseAbs().maxCoeff())) << k;
      ASSERT_EQ((x.array() * y.array()).maxCoeff(), 0) << k;
      continue;
    }
    ++diagnosed[which];
    const Enumeration all = enumerate(A, b);
    ContactProblem p{A, b, {}};
    for (int i = 0; i < n; ++i) p.cones.push_back(Cone::ray(i));
    Vec r;
    const ContactResult found = automatic.solve(p, r);
    if (all.count == SolutionCount::none) {
      ASSERT_EQ(found.status, ContactStatus::no_solution) << k;
    } else {
      ++reached_otherwise[which];
      ASSERT_EQ(found.status, ContactStatus::solved) << k;
      ASSERT_LT(plain_residual(A, b, r), 1e-9 * (1 + r.cwiseAbs().maxCoeff())) << k;
    }
  }
  // P-34: copositive-plus matrices are decided by Lemke. Positive definite and strictly copositive ones always have a
  // solution; positive semidefinite ones a solution or none.
  EXPECT_EQ(diagnosed[0], 0);
  EXPECT_EQ(diagnosed[1], 0);
  EXPECT_EQ(diagnosed[2], 0);
  EXPECT_EQ(reached_otherwise[3], 0);
  RecordProperty("rays with a solution, sparse", reached_otherwise[4]);
  RecordProperty("rays with a solution, general", reached_otherwise[5]);
}

// Positive definite problems have one solution: Lemke, enumeration and Newton from any start must meet there.
TEST(Lemke, MeetsEnumerationAndNewtonOnMonotoneProblems) {
  std::mt19937 random(77);
  LemkeSolver lemke;
  for (int k = 0; k < 300; ++k) {
    Mat A;
    Vec b, x, y;
    random_lcp(Kind::monotone, 1 + k % 8, random, A, b);
    ASSERT_EQ(lemke.solve(A, b, x, y).status, LcpStatus::solved);
    const Enumeration all = enumerate(A, b);
    ASSERT_EQ(all.count, SolutionCount::unique) << k;
    ASSERT_LT((all.solutions[0].r - x).norm(), 1e-9 * (1 + x.norm())) << k;
    Vec start = x + 0.1 * test::random_normal(static_cast<int>(b.size()), 1, random), y2;
    const LcpResult newton = newton_lcp(A, b, start, y2);
    ASSERT_EQ(newton.status, LcpStatus::solved) << k;
    ASSERT_LT((start - x).norm(), 1e-9 * (1 + x.norm())) << k;
  }
}

// Rows in newtons beside rows in micrometres per second squared: units must not decide.
TEST(Lemke, GivesTheSameSolutionInOtherUnits) {
  std::mt19937 random(8);
  LemkeSolver lemke;
  for (int k = 0; k < 200; ++k) {
    const int n = 2 + k % 6;
    Mat A;
    Vec b, x, y, x2, y2;
    random_lcp(Kind::monotone, n, random, A, b);
    Vec units(n);
    for (int i = 0; i < n; ++i) units(i) = std::pow(10.0, 6 * std::sin(3.0 * i + k));
    ASSERT_EQ(lemke.solve(A, b, x, y).status, LcpStatus::solved);
    ASSERT_EQ(lemke.solve(units.asDiagonal() * A * units.asDiagonal(), units.asDiagonal() * b, x2, y2).status,
              LcpStatus::solved)
        << k;
    ASSERT_LT((units.asDiagonal() * x2 - x).norm(), 1e-8 * (1 + x.norm())) << k;
  }
}

TEST(Lemke, TakesACoveringVectorOfTheCaller) {
  Mat A(2, 2);
  A << 2, 1, 1, 2;
  Vec x, y;
  const Vec cover = Eigen::Vector2d(1, 5);
  ASSERT_EQ(LemkeSolver().solve(A, Vec(Eigen::Vector2d(-5, -6)), cover, x, y).status, LcpStatus::solved);
  EXPECT_LT((x - Eigen::Vector2d(4.0 / 3, 7.0 / 3)).norm(), kClosedForm);
}

TEST(Lemke, SolvesLargeMonotoneProblems) {
  std::mt19937 random(4);
  Mat A;
  Vec b, x, y;
  random_lcp(Kind::monotone, 200, random, A, b);
  const LcpResult result = LemkeSolver().solve(A, b, x, y);
  ASSERT_EQ(result.status, LcpStatus::solved);
  EXPECT_LT(plain_residual(A, b, x), 1e-10);
}

TEST(Lemke, RefusesNumbersThatAreNotFinite) {
  Vec x, y;
  EXPECT_THROW(LemkeSolver().solve(Mat::Constant(1, 1, NAN), Vec::Ones(1), x, y), std::domain_error);
  EXPECT_THROW(LemkeSolver().solve(Mat::Ones(2, 2), Vec::Ones(1), x, y), std::invalid_argument);
}

}  // namespace
}  // namespace clatter
