#include "solve/contact_solver.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <numbers>

#include "solve/contact_systems.hpp"

namespace clatter {
namespace {

constexpr ContactMethod kPlanarMethods[] = {ContactMethod::automatic, ContactMethod::lemke, ContactMethod::enumeration,
                                            ContactMethod::prox, ContactMethod::newton};

ContactOptions with(ContactMethod method) {
  ContactOptions options;
  options.method = method;
  return options;
}

// Checks the laws of each cone on r and y = A r + b themselves, without any map or scaling of the library.
void expect_laws(const ContactProblem& p, const Vec& r, double tolerance, const std::string& where) {
  const Vec y = p.A * r + p.b;
  for (const Cone& c : p.cones) {
    const int i = c.row;
    const double normal = c.normal >= 0 ? r(c.normal) : 0;
    const double lower = c.lo - c.mu_minus * normal, upper = c.hi + c.mu_plus * normal;
    switch (c.kind) {
      case Cone::Kind::line:
        EXPECT_NEAR(y(i), 0, tolerance) << where;
        break;
      case Cone::Kind::ray:
        EXPECT_GE(r(i), -tolerance) << where;
        EXPECT_GE(y(i), -tolerance) << where;
        EXPECT_LE(std::min(r(i), y(i)), tolerance) << where;
        break;
      case Cone::Kind::box:
        EXPECT_GE(r(i), lower - tolerance) << where;
        EXPECT_LE(r(i), upper + tolerance) << where;
        if (y(i) > tolerance) {
          EXPECT_NEAR(r(i), lower, tolerance) << where;
        }
        if (y(i) < -tolerance) {
          EXPECT_NEAR(r(i), upper, tolerance) << where;
        }
        break;
      case Cone::Kind::disc: {
        const Eigen::Vector2d rT = r.segment<2>(i), yT = y.segment<2>(i);
        EXPECT_LE(rT.norm(), upper + tolerance) << where;
        if (yT.norm() > tolerance) {
          // Maximal dissipation: r_T = -radius * direction of slip.
          EXPECT_LT((rT + upper * yT / yT.norm()).norm(), tolerance * (1 + upper / yT.norm())) << where;
        }
        break;
      }
    }
  }
}

// PV-12: two stacked bodies, m = 1, forces on both, normal forces from the weight; x of both and tangential forces.
struct StackState {
  Eigen::Vector2d a, rT;
};

// The nine regions as tabulated; all regions whose conditions hold are returned (they overlap on their borders only).
std::vector<StackState> nine_regions(double F1, double F2, double mu, double g) {
  const double a = 2 * mu * g, c = mu * g;
  std::vector<StackState> found;
  if (std::abs(F2) <= c && std::abs(F1 + F2) <= a) found.push_back({{0, 0}, {-F1 - F2, -F2}});
  for (const double s : {1.0, -1.0}) {
    if (s * (F1 + F2) >= a && std::abs(F1 - F2 - s * a) <= 2 * c) {
      const double both = 0.5 * (F1 + F2 - s * a);
      found.push_back({{both, both}, {-s * a, 0.5 * (F1 - F2 - s * a)}});
    }
    if (s * F2 >= c && std::abs(F1 + s * c) <= a) found.push_back({{0, F2 - s * c}, {-F1 - s * c, -s * c}});
  }
  if (F1 >= a - c && F2 - F1 + a - 2 * c >= 0) found.push_back({{F1 - a + c, F2 - c}, {-a, -c}});
  if (F1 >= a + c && F2 - F1 + a + 2 * c <= 0) found.push_back({{F1 - a - c, F2 + c}, {-a, c}});
  if (F1 <= -a - c && F2 - F1 - a - 2 * c >= 0) found.push_back({{F1 + a + c, F2 - c}, {a, -c}});
  if (F1 <= c - a && F2 - F1 - a + 2 * c <= 0) found.push_back({{F1 + a - c, F2 + c}, {a, c}});
  return found;
}

test::PlanarContacts stack(double F1, double F2, double mu) {
  test::PlanarContacts s = test::tower(Vec::Constant(2, mu), 0);
  s.h(0) = F1;
  s.h(2) = F2;
  return s;
}

TEST(StackPV12, FollowsTheNineRegionsOnRandomForces) {
  std::mt19937 random(12);
  std::uniform_real_distribution<double> force(-60, 60);
  ContactSolver solver;
  int in_region = 0;
  for (int k = 0; k < 3000; ++k) {
    const double F1 = force(random), F2 = force(random);
    const auto expected = nine_regions(F1, F2, 1, 10);
    ASSERT_FALSE(expected.empty()) << F1 << " " << F2;
    in_region += expected.size() == 1;
    const test::PlanarContacts s = stack(F1, F2, 1);
    for (const ContactMethod method : {ContactMethod::lemke, ContactMethod::newton}) {
      Vec r;
      ASSERT_EQ(solver.solve(s.problem(), r, with(method)).status, ContactStatus::solved) << F1 << " " << F2;
      const Vec a = s.accelerations(r);
      ASSERT_LT((Eigen::Vector2d(a(0), a(2)) - expected[0].a).norm(), 1e-9);
      ASSERT_LT((r.tail(2) - expected[0].rT).norm(), 1e-9);
    }
  }
  EXPECT_EQ(in_region, 3000);  // random points do not lie on borders
}

TEST(StackPV12, GivesTheTabulatedNumbersByEveryMethod) {
  struct Case {
    double F1, F2, x1, x2, T1, T2;
  };
  const Case cases[] = {
      {20, 10, 5, 5, -20, -5}, {5, 15, 0, 5, -15, -10}, {25, 30, 15, 20, -20, -10}, {40, -10, 10, 0, -20, 10}};
  for (const ContactMethod method : kPlanarMethods) {
    for (const Case& c : cases) {
      const test::PlanarContacts s = stack(c.F1, c.F2, 1);
      Vec r;
      ASSERT_EQ(solve(s.problem(), r, with(method)).status, ContactStatus::solved);
      const Vec a = s.accelerations(r);
      // `solved` allows 1e-10 of forces of order 40; accelerations see a few of them.
      EXPECT_NEAR(a(0), c.x1, 2e-8);
      EXPECT_NEAR(a(2), c.x2, 2e-8);
      EXPECT_NEAR(r(2), c.T1, 2e-8);
      EXPECT_NEAR(r(3), c.T2, 2e-8);
    }
  }
}

// PV-14: accelerations of the blocks in the full LCP P-31 and in the compact form P-29.
void expect_tower(const Vec& mu, double a0, const Vec& x, const Vec* rT) {
  const test::PlanarContacts s = test::tower(mu, a0);
  const int n = s.contacts();
  Mat A;
  Vec b, full, w, r;
  s.full_lcp(A, b);
  ASSERT_EQ(b.size(), 5 * n);
  ASSERT_EQ(LemkeSolver().solve(A, b, full, w).status, LcpStatus::solved);
  LcpReduction compact;
  ScaledContact scaled;
  scaled.assign(s.problem());
  compact.reduce(scaled.problem);
  EXPECT_EQ(compact.b().size(), 3 * n);
  ASSERT_EQ(solve(s.problem(), r, with(ContactMethod::lemke)).status, ContactStatus::solved);
  for (int i = 0; i < n; ++i) {
    EXPECT_NEAR(s.accelerations_full(full)(2 * i), x(i), 1e-10);
    EXPECT_NEAR(s.accelerations(r)(2 * i), x(i), 1e-10);
    EXPECT_NEAR(r(i), 10.0 * (n - i), 1e-9);
    if (rT) {
      EXPECT_NEAR(r(n + i), (*rT)(i), 1e-9);
    }
  }
}

TEST(TowerPV14, MatchesThreeAndTenBlocks) {
  Vec mu(3), x(3), rT(3);
  mu << .5, .3, .6;
  x << 4, 3, 3;
  rT << 10, 6, 3;
  expect_tower(mu, 4, x, &rT);
  Vec mu10(10), x10(10), rT10(10);
  mu10 << .25, .4, .2, .35, .15, .3, .1, .25, .4, .2;
  x10 << 3, 3, 3, 3, 2.5, 2.5, 1, 1, 1, 1;
  rT10 << 21, 18, 15, 12, 9, 6.5, 4, 3, 2, 1;
  expect_tower(mu10, 3, x10, &rT10);
}

TEST(TowerPV14, TerminatesWhenEveryContactIsSaturated) {
  const Vec mu = Vec::Constant(10, 0.3);
  expect_tower(mu, 2.5, Vec::Constant(10, 2.5), nullptr);
  expect_tower(mu, 3, Vec::Constant(10, 3), nullptr);
  expect_tower(mu, 3.5, Vec::Constant(10, 3), nullptr);
}

// PV-25: P-29 and P-31 give the same accelerations. Friction is moderate so that the solution is unique (checked by
// enumeration where the forms differ).
TEST(CompactForm, GivesTheAccelerationsOfTheFullFormOnRandomSystems) {
  std::mt19937 random(29);
  LemkeSolver lemke;
  ContactSolver solver;
  int compared = 0, not_unique = 0;
  for (int k = 0; k < 3000; ++k) {
    const int n = 1 + k % 4, f = 2 + k % 6;  // 2 n > f: dependent
    const test::PlanarContacts s = test::random_contacts(f, n, 0.6, random);
    Mat A;
    Vec b, full, w, r;
    s.full_lcp(A, b);
    const LcpResult four = lemke.solve(A, b, full, w);
    const ContactResult two = solver.solve(s.problem(), r, with(ContactMethod::lemke));
    if (four.status != LcpStatus::solved || two.status != ContactStatus::solved) {
      // Never a wrong answer, and the automatic choice decides.
      const ContactResult decided = solver.solve(s.problem(), r);
      ASSERT_TRUE(decided.status == ContactStatus::solved || decided.status == ContactStatus::no_solution) << k;
      continue;
    }
    const Vec a4 = s.accelerations_full(full), a2 = s.accelerations(r);
    if ((a4 - a2).norm() < 1e-8 * (1 + a4.norm())) {
      ++compared;
      continue;
    }
    ++not_unique;
    const Enumeration all = enumerate(s.problem());
    ASSERT_TRUE(all.count_y == SolutionCount::several || all.count_y == SolutionCount::infinite) << k;
  }
  EXPECT_GT(compared, 2850);
  EXPECT_LT(not_unique, 60);
}

TEST(PlanarFriction, AllMethodsObeyTheLawsOnRandomSystems) {
  std::mt19937 random(41);
  ContactSolver solver;
  int solved[5] = {};
  const int cases = 400;
  for (int k = 0; k < cases; ++k) {
    const test::PlanarContacts s = test::random_contacts(3 + k % 5, 1 + k % 4, 0.4, random);
    const ContactProblem p = s.problem();
    const double size = 1 + p.b.cwiseAbs().maxCoeff();
    for (const ContactMethod method : kPlanarMethods) {
      Vec r;
      const ContactResult result = solver.solve(p, r, with(method));
      ASSERT_TRUE(r.allFinite());
      if (result.status != ContactStatus::solved) continue;
      ++solved[static_cast<std::size_t>(method)];
      EXPECT_LE(result.residual, 1e-10);
      EXPECT_LE(result.violation, 1e-10);
      expect_laws(p, r, 1e-7 * (size + r.cwiseAbs().maxCoeff()), "case " + std::to_string(k));
    }
  }
  EXPECT_EQ(solved[static_cast<std::size_t>(ContactMethod::automatic)],
            solved[static_cast<std::size_t>(ContactMethod::enumeration)]);
  for (const int count : solved) EXPECT_GT(count, cases * 8 / 10);
}

// PV-6 with friction in the cone: sticking or sliding is decided, no solution is proved.
TEST(ContactSolver, ReportsWhenThereIsNoSolution) {
  // Sliding rod at 60 degrees with mu = 5/3: friction -mu r_N in the column, a < 0 and b < 0.
  const ContactProblem p{Mat::Constant(1, 1, -0.415063509), Vec::Constant(1, -8.943974596), {Cone::ray(0)}};
  for (const ContactMethod method : kPlanarMethods) {
    Vec r;
    const ContactResult result = solve(p, r, with(method));
    EXPECT_NE(result.status, ContactStatus::solved);
    EXPECT_TRUE(r.allFinite());
    if (method == ContactMethod::automatic || method == ContactMethod::enumeration) {
      EXPECT_EQ(result.status, ContactStatus::no_solution);
    }
    if (method == ContactMethod::lemke) {
      EXPECT_EQ(result.status, ContactStatus::ray);
    }
  }
}

// PV-17: rod on two obstacles, compression impulses; dependent constraints at a = 1.
TEST(ImpactPV17, CompressesARodOnTwoObstacles) {
  for (const double a : {-1.0, -0.5, 0.0, 0.25, 0.5, 1.0}) {
    Mat W(3, 2);
    W << 0, 0, 1, 1, a, 1;
    const Vec M_inverse = Eigen::Vector3d(1, 1, 3);
    const Vec v = Eigen::Vector3d(0, -1, 0);
    const ContactProblem p{W.transpose() * M_inverse.asDiagonal() * W, W.transpose() * v, {Cone::ray(0), Cone::ray(1)}};
    for (const ContactMethod method : kPlanarMethods) {
      Vec r;
      ContactOptions options = with(method);
      options.count_solutions = true;
      const ContactResult result = solve(p, r, options);
      ASSERT_EQ(result.status, ContactStatus::solved) << a;
      if (a == 1) {
        EXPECT_NEAR(r.sum(), 0.25, 1e-9);
        EXPECT_EQ(result.count, SolutionCount::infinite);
        EXPECT_EQ(result.count_y, SolutionCount::unique);
        continue;
      }
      EXPECT_EQ(result.count, SolutionCount::unique);
      const Eigen::Vector2d expected =
          a <= 0 ? Eigen::Vector2d(1, -a) / (1 - a) : Eigen::Vector2d(1 / (1 + 3 * a * a), 0);
      EXPECT_LT((r - expected).norm(), 1e-9) << a;
    }
  }
}

// Poisson's two phases as two contact problems (P-40 to P-45). Rows N_1.., T_1..; friction bounds of the expansion are
// asymmetric (P-42, P-43). Returns (Lambda_C, Lambda_E, velocities of the rows after).
struct Impact {
  Vec C, E, after;
};
Impact poisson(const Mat& G, const Vec& before, int n, const Vec& mu, const Vec& eN, double eT, double nu,
               ContactMethod method) {
  const bool friction = G.rows() == 2 * n;
  ContactProblem compression{G, before, {}};
  for (int i = 0; i < n; ++i) compression.cones.push_back(Cone::ray(i));
  for (int i = 0; friction && i < n; ++i) compression.cones.push_back(Cone::friction(i, n + i, mu(i)));
  Impact out;
  EXPECT_EQ(solve(compression, out.C, with(method)).status, ContactStatus::solved);
  Vec poisson_part = out.C;
  for (int i = 0; i < n; ++i) {
    poisson_part(i) *= eN(i);
    if (friction) poisson_part(n + i) *= eN(i);
  }
  ContactProblem expansion{G, before + G * out.C + G * poisson_part, {}};
  for (int i = 0; i < n; ++i) expansion.cones.push_back(Cone::ray(i));
  for (int i = 0; friction && i < n; ++i) {
    const double TC = out.C(n + i), NC = out.C(i), sigma = TC > 1e-12 ? 1 : TC < -1e-12 ? -1 : 0;
    const double mu_minus = sigma == 0 ? mu(i) : mu(i) * (1 - nu * (0.5 + sigma / 2));
    const double mu_plus = sigma == 0 ? mu(i) : mu(i) * (1 - nu * (0.5 - sigma / 2));
    const double eT_minus = 1 - eT * (0.5 + sigma / 2), eT_plus = -1 + eT * (0.5 - sigma / 2);
    const double lo = -mu_minus * eN(i) * NC - eT_minus * eN(i) * TC;
    const double hi = mu_plus * eN(i) * NC + eT_plus * eN(i) * TC;
    // The interval holds zero; at its ends rounding may put zero outside.
    expansion.cones.push_back(Cone::interval(i, n + i, mu_minus, mu_plus, std::min(lo, 0.0), std::max(hi, 0.0)));
  }
  Vec excess;
  EXPECT_EQ(solve(expansion, excess, with(method)).status, ContactStatus::solved);
  out.E = poisson_part + excess;
  out.after = before + G * (out.C + out.E);
  return out;
}

TEST(ImpactPV19, LiftsTheRestingBallByPoissonsLaw) {
  Mat W(2, 2);
  W << 1, -1, 0, 1;
  const Mat G = W.transpose() * W;
  for (const ContactMethod method : kPlanarMethods) {
    for (const double e : {0.0, 0.3, 0.5, 0.75, 1.0}) {
      const Impact i = poisson(G, Eigen::Vector2d(0, -1), 2, Vec(), Eigen::Vector2d(1, e), 0, 0, method);
      EXPECT_LT((i.C - Eigen::Vector2d(1, 1)).norm(), 1e-9);
      const Eigen::Vector2d E = e <= 0.5 ? Eigen::Vector2d(1, 0.5) : Eigen::Vector2d(1, e);
      const Eigen::Vector2d after = e <= 0.5 ? Eigen::Vector2d(0.5, 0) : Eigen::Vector2d(1 - e, 2 * e - 1);
      EXPECT_LT((i.E - E).norm(), 1e-9) << e;
      EXPECT_LT((i.after - after).norm(), 1e-9) << e;
    }
  }
}

// PV-20, first impact of the superball: N and T do not couple, G_TT = 3.5.
TEST(ImpactPV20, ReversesTheSuperballTangentially) {
  const Mat G = Eigen::Vector2d(1, 3.5).asDiagonal();
  const Vec before = Eigen::Vector2d(-1, 1);
  struct Case {
    double mu, eN, eT, nu, TE, after;
  };
  const Case cases[] = {{1, 1, 0, 0, 0, 0},        {1, 1, 1, 1, -2.0 / 7, -1}, {1, 1, 0.5, 1, -1.0 / 7, -0.5},
                        {1, 1, 0.5, 0.5, 0, 0},    {1, 1, 1, 0, 0, 0},         {1, 1, 0, 1, 0, 0},
                        {0.2, 1, 1, 1, -0.2, -0.4}};
  for (const ContactMethod method : kPlanarMethods) {
    for (const Case& c : cases) {
      const Impact i = poisson(G, before, 1, Vec::Constant(1, c.mu), Vec::Constant(1, c.eN), c.eT, c.nu, method);
      EXPECT_NEAR(i.E(1), c.TE, 1e-9);
      EXPECT_NEAR(i.after(1), c.after, 1e-9);
    }
  }
}

TEST(ImpactPV22, MatchesTheEccentricImpactsOfTheRod) {
  Mat G(2, 2);
  G << 2.5, 1.5, 1.5, 2.5;
  const double s = std::sqrt(0.5);
  Mat W(3, 2);  // w_N, w_T of PV-6 at 45 degrees
  W << 0, 1, 1, 0, -s, -s;
  struct Case {
    Eigen::Vector3d v;
    double mu, eN, eT, nu, NC, TC, NE, TE, gN, gT;
  };
  const Case cases[] = {
      {{1, -1, 0}, 0.3, .5, 0, 0, 0.487804878, -0.146341463, 0.243902439, -0.073170732, 0.5, 1.548780488 - 0},
      {{1, -1, 0}, 1, .5, 0, 0, 1, -1, 0.5, -0.3, 0.8, 0},
      {{-1, -1, 0}, 0.3, .5, 0, 0, 0.338983051, 0.101694915, 0.169491525, -0.006779661, 0.413559322, 0},
      {{-.2, -1, 0}, 0.8, .5, 0, 0, 0.55, -0.25, 0.275, -0.165, 0.44, 0},
      {{1, -1, 0}, 1, 1, 1, 1, 1, -1, 1, -1, 1, -1}};
  for (const ContactMethod method : kPlanarMethods) {
    for (const Case& c : cases) {
      const Impact i =
          poisson(G, W.transpose() * c.v, 1, Vec::Constant(1, c.mu), Vec::Constant(1, c.eN), c.eT, c.nu, method);
      EXPECT_NEAR(i.C(0), c.NC, 1e-8);  // nine digits in the table
      EXPECT_NEAR(i.C(1), c.TC, 1e-8);
      EXPECT_NEAR(i.E(0), c.NE, 1e-8);
      EXPECT_NEAR(i.E(1), c.TE, 1e-8);
      EXPECT_NEAR(i.after(0), c.gN, 1e-8);
      EXPECT_NEAR(i.after(1), c.gT, 1e-8);
    }
  }
}

// Bilateral rows among contacts: the same r as when they are eliminated by hand beforehand.
TEST(BilateralRows, LeaveByPivotingAlsoWhenTheyAreDependent) {
  std::mt19937 random(6);
  for (int k = 0; k < 200; ++k) {
    const int f = 6, joints = 2, contacts = 3;
    const Mat L = test::random_normal(f, f, random);
    const Mat M = L * L.transpose() + 0.5 * Mat::Identity(f, f);
    Mat W = test::random_normal(f, joints + contacts, random);
    W.row(0).tail(contacts) = W.row(0).tail(contacts).cwiseAbs().array() + 1;
    const bool repeated = k % 2 == 1;
    if (repeated) W.col(1) = -2 * W.col(0);
    const Eigen::LLT<Mat> llt(M);
    const Vec h = 3 * test::random_normal(f, 1, random);
    ContactProblem p{W.transpose() * llt.solve(W), W.transpose() * llt.solve(h), {}};
    p.cones = {Cone::line(0), Cone::line(1), Cone::ray(2), Cone::ray(3), Cone::box(4, -0.4, 0.7)};
    Vec accelerations;
    for (const ContactMethod method : kPlanarMethods) {
      Vec r;
      ContactOptions options = with(method);
      const ContactResult result = solve(p, r, options);
      if (method == ContactMethod::prox && result.status != ContactStatus::solved) continue;
      ASSERT_EQ(result.status, ContactStatus::solved) << k << " method " << static_cast<int>(method);
      expect_laws(p, r, 1e-7 * (1 + r.cwiseAbs().maxCoeff()), std::to_string(k));
      const Vec a = llt.solve(h + W * r);
      if (accelerations.size() == 0) accelerations = a;
      ASSERT_LT((a - accelerations).norm(), 1e-6 * (1 + a.norm())) << k;
    }
  }
}

TEST(BilateralRows, ThatContradictEachOtherAreNamed) {
  Mat A = Mat::Zero(3, 3);
  A << 1, 1, 0, 1, 1, 0, 0, 0, 1;
  Vec r;
  const ContactProblem p{A, Eigen::Vector3d(1, 2, -1), {Cone::line(0), Cone::line(1), Cone::ray(2)}};
  EXPECT_EQ(solve(p, r).status, ContactStatus::inconsistent);
  EXPECT_TRUE(r.allFinite());
}

// A bilateral row whose own entry is zero (a saddle-point form) still couples to the rest.
TEST(BilateralRows, MayHaveNoEntryOfTheirOwn) {
  Mat A(2, 2);
  A << 0, 1, -1, 1;  // y_0 = r_1 - 1 = 0, y_1 = -r_0 + r_1 + 0.5 >= 0 perp r_1: r = (1.5, 1)
  Vec r;
  const ContactProblem p{A, Eigen::Vector2d(-1, 0.5), {Cone::line(0), Cone::ray(1)}};
  ASSERT_EQ(solve(p, r).status, ContactStatus::solved);
  EXPECT_LT((r - Eigen::Vector2d(1.5, 1)).norm(), 1e-12);
}

TEST(Boxes, KeepOneSidedAndFreeBounds) {
  const double inf = std::numeric_limits<double>::infinity();
  const Mat A = Mat::Identity(4, 4);
  const Vec b = Eigen::Vector4d(-5, 5, -5, -5);
  const ContactProblem p{
      A, b, {Cone::box(0, 1, inf), Cone::box(1, 1, inf), Cone::box(2, -inf, 2), Cone::box(3, -inf, inf)}};
  for (const ContactMethod method : kPlanarMethods) {
    Vec r;
    ASSERT_EQ(solve(p, r, with(method)).status, ContactStatus::solved);
    EXPECT_LT((r - Eigen::Vector4d(5, 1, 2, 5)).norm(), 1e-9);
  }
}

TEST(ContactSolver, WarmStartsFromTheLastSolution) {
  std::mt19937 random(3);
  test::PlanarContacts s = test::random_contacts(8, 4, 0.3, random);
  s.h(0) = -8;
  ContactSolver solver;
  Vec r;
  ASSERT_EQ(solver.solve(s.problem(), r).status, ContactStatus::solved);
  ContactOptions options;
  options.warm_start = true;
  s.h *= 1.0001;
  const ContactResult again = solver.solve(s.problem(), r, options);
  EXPECT_EQ(again.status, ContactStatus::solved);
  EXPECT_EQ(again.answered, ContactMethod::newton);
  EXPECT_LE(again.iterations, 2);  // same states: the map is linear there
}

TEST(ContactProblem, RefusesWhatIsNotAProblem) {
  Vec r;
  const Mat A = Mat::Identity(2, 2);
  const Vec b = Vec::Ones(2);
  EXPECT_THROW(solve({A, b, {Cone::ray(0)}}, r), std::invalid_argument);
  EXPECT_THROW(solve({A, b, {Cone::ray(0), Cone::ray(0)}}, r), std::invalid_argument);
  EXPECT_THROW(solve({A, b, {Cone::line(0), Cone::friction(0, 1, 0.3)}}, r), std::invalid_argument);
  EXPECT_THROW(solve({A, b, {Cone::ray(0), Cone::box(1, 1, 0)}}, r), std::invalid_argument);
  EXPECT_THROW(solve({A, Vec::Constant(2, NAN), {Cone::ray(0), Cone::ray(1)}}, r), std::domain_error);
  EXPECT_EQ(solve({Mat(0, 0), Vec(0), {}}, r).status, ContactStatus::solved);
}

// One block pushed over a plane, N = m g: exact disc, direction of slip opposite to the force, whatever the axes.
TEST(Discs, SlideAgainstTheForceInEveryDirection) {
  const double mu = 0.5, weight = 10;
  for (int k = 0; k < 24; ++k) {
    const double angle = k * std::numbers::pi / 12;
    const Eigen::Vector2d e(std::cos(angle), std::sin(angle));
    for (const double push : {4.0, 7.0}) {  // below and above mu * weight
      const ContactProblem p{Mat::Identity(3, 3),
                             Eigen::Vector3d(-weight, push * e(0), push * e(1)),
                             {Cone::ray(0), Cone::disc(0, 1, mu)}};
      for (const ContactMethod method : {ContactMethod::automatic, ContactMethod::prox, ContactMethod::newton}) {
        Vec r;
        ASSERT_EQ(solve(p, r, with(method)).status, ContactStatus::solved);
        EXPECT_NEAR(r(0), weight, 1e-8);
        EXPECT_LT((r.tail<2>() + std::min(push, mu * weight) * e).norm(), 1e-8);
      }
    }
  }
}

TEST(Discs, ProxAndNewtonAgreeOnRandomSpatialProblems) {
  std::mt19937 random(17);
  ContactSolver solver;
  int both = 0, automatic_solved = 0, newton_solved = 0, prox_solved = 0, different = 0;
  const int cases = 300;
  for (int k = 0; k < cases; ++k) {
    const int n = 1 + k % 5;
    const ContactProblem p = test::random_spatial(3 * n + 3, n, 0.1 + 0.1 * (k % 6), random);
    Vec r_newton, r_prox, r;
    const ContactResult newton = solver.solve(p, r_newton, with(ContactMethod::newton));
    const ContactResult prox = solver.solve(p, r_prox, with(ContactMethod::prox));
    const ContactResult automatic = solver.solve(p, r);
    newton_solved += newton.status == ContactStatus::solved;
    prox_solved += prox.status == ContactStatus::solved;
    automatic_solved += automatic.status == ContactStatus::solved;
    const double tolerance = 1e-6 * (1 + p.b.cwiseAbs().maxCoeff() + r.cwiseAbs().maxCoeff());
    if (automatic.status == ContactStatus::solved) expect_laws(p, r, tolerance, std::to_string(k));
    if (newton.status == ContactStatus::solved && prox.status == ContactStatus::solved) {
      ++both;
      different += (r_newton - r_prox).norm() > 1e-5 * (1 + r_newton.norm());
    }
  }
  EXPECT_EQ(automatic_solved, cases);
  EXPECT_GT(both, cases * 8 / 10);
  // Friction couples: where several solutions exist the methods may find different ones, rarely.
  EXPECT_LE(different, cases / 50);
  RecordProperty("newton solved", newton_solved);
  RecordProperty("prox solved", prox_solved);
}

// Four feet on six coordinates: A is singular, forces are not unique, accelerations of a table at rest are.
TEST(Discs, StandOnDependentContacts) {
  const Mat M = Eigen::Matrix<double, 6, 1>(2, 2, 2, 0.3, 0.4, 0.5).asDiagonal();
  Mat W(6, 12);
  int column = 0;
  for (const Eigen::Vector3d& foot : {Eigen::Vector3d(1, 1, -1), Eigen::Vector3d(-1, 1, -1),
                                      Eigen::Vector3d(-1, -1, -1), Eigen::Vector3d(1, -1, -1)}) {
    for (const Eigen::Vector3d& e : {Eigen::Vector3d(0, 0, 1), Eigen::Vector3d(1, 0, 0), Eigen::Vector3d(0, 1, 0)}) {
      W.col(column).head<3>() = e;
      W.col(column++).tail<3>() = foot.cross(e);
    }
  }
  ContactSolver solver;
  for (const double push : {0.0, 3.0, 9.0}) {
    Vec h = Vec::Zero(6);
    h(2) = -20;
    h(0) = push;
    h(1) = 0.5 * push;
    // Pushed at the height of the feet: no moment about them.
    h.tail<3>() = Eigen::Vector3d(0, 0, -1).cross(Eigen::Vector3d(h(0), h(1), 0));
    const Mat Mi = M.inverse();
    ContactProblem p{W.transpose() * Mi * W, W.transpose() * Mi * h, {}};
    for (int i = 0; i < 4; ++i) {
      p.cones.push_back(Cone::ray(3 * i));
      p.cones.push_back(Cone::disc(3 * i, 3 * i + 1, 0.4));
    }
    Vec r;
    ASSERT_EQ(solver.solve(p, r).status, ContactStatus::solved) << push;
    const Vec a = Mi * (h + W * r);
    const double force = push * std::sqrt(1.25), slip = std::max(0.0, force - 0.4 * 20) / 2;
    EXPECT_NEAR(a(0), slip * push / std::max(force, 1e-300), 1e-7) << push;
    EXPECT_NEAR(a(2), 0, 1e-7) << push;
    EXPECT_NEAR(a.tail<3>().norm(), 0, 1e-6) << push;
  }
}

TEST(Discs, AreNotForPivotingMethods) {
  Vec r;
  const ContactProblem p{Mat::Identity(3, 3), -Vec::Ones(3), {Cone::ray(0), Cone::disc(0, 1, 0.5)}};
  EXPECT_EQ(solve(p, r, with(ContactMethod::lemke)).status, ContactStatus::unsupported);
  EXPECT_EQ(solve(p, r, with(ContactMethod::enumeration)).status, ContactStatus::unsupported);
}

}  // namespace
}  // namespace clatter
