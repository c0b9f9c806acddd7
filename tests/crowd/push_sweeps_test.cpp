// The smallest motion that opens gaps, against its optimality conditions.
#include "impulse/push_sweeps.hpp"

#include "crowd/problems.hpp"
#include "impulse/crowd_newton.hpp"

namespace clatter::contact {
namespace {

// Rows of a random problem; some are deep, most are open.
void fill(PushSweeps& push, const CrowdProblem& p, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> u(-1, 1);
  push.begin(p);
  for (const CrowdRow& row : p.rows) {
    const Vec3 n(row.n[0], row.n[1], row.n[2]), c1(row.c1[0], row.c1[1], row.c1[2]),
        c2(row.c2[0], row.c2[1], row.c2[2]);
    const int block = push.blocks == 0 ? 0 : row.side1 % 2 == row.side2 % 2 || row.side2 == 0 ? row.side1 % 2 : 2;
    push.add(row.side1, row.side2, n, c1, c2, u(random) < -0.6 ? -0.1 : 0.05, block);
  }
}

// dv = M^-1 D n p with p >= 0 and p (n . D^T dv + b) = 0 is the smallest: unique, so that the sweeps of velocities
// without friction, which know nothing of what moved, must find the same.
TEST(PushSweeps, OpenGapsByTheSmallestMotion) {
  WorkerPool pool(2);
  for (const bool balls : {true, false})
    for (unsigned seed = 1; seed <= 5; ++seed) {
      const CrowdProblem p = random_problem(seed, 40, 110, false, balls);
      PushSweeps push(pool);
      fill(push, p, seed);
      push.solve(1e-13, 1e5);
      // The same by the sweeps of the velocities, without friction.
      CrowdProblem same = p;
      std::mt19937 random(seed);
      std::uniform_real_distribution<double> u(-1, 1);
      for (CrowdBody& body : same.bodies)
        for (int k = 0; k < 3; ++k) body.v[k] = body.w[k] = 0;
      for (CrowdRow& row : same.rows) {
        row.mu = 0;
        row.b = u(random) < -0.6 ? -0.1 : 0.05;
      }
      CrowdSweeps sweeps(pool);
      sweeps.solve(same, true, 1e-13, 100000);
      double most = 0;
      for (std::size_t i = 0; i < p.bodies.size(); ++i)
        for (int k = 0; k < 3; ++k) {
          EXPECT_NEAR(push.problem.bodies[i].v[k], same.bodies[i].v[k], 1e-10) << seed;
          EXPECT_NEAR(push.problem.bodies[i].w[k], balls ? 0 : same.bodies[i].w[k], 1e-10) << seed;
          most = std::max(most, std::abs(push.problem.bodies[i].v[k]));
        }
      EXPECT_GT(most, 1e-2) << "nothing was deep";
      for (const CrowdRow& row : same.rows) {
        const Vec3 n(row.n[0], row.n[1], row.n[2]);
        EXPECT_GT(n.dot(push.problem.rate(row)) + row.b, -1e-11) << seed;
      }
    }
}

// A column under a ball a million times heavier, pushed together: sweeps stand still, the same rows by Newton's method
// give the motion that opens all gaps, by hand: body i moves by the sum of the depths under it.
TEST(PushSweeps, GoToNewtonsMethodWhereMassesAreUnlike) {
  WorkerPool pool(1);
  for (const bool balls : {true, false}) {
    CrowdProblem p;
    p.balls = balls;
    p.bodies.assign(CrowdProblem::grounds + 5, {});
    p.inverse_inertia.assign(p.bodies.size(), Mat3::Zero());
    PushSweeps push(pool);
    for (std::size_t i = CrowdProblem::grounds; i < p.bodies.size(); ++i) {
      p.bodies[i].inverse_mass = i + 1 < p.bodies.size() ? 1 : 1e-6;
      p.bodies[i].inverse_inertia = 100 * p.bodies[i].inverse_mass;
      p.inverse_inertia[i] = p.bodies[i].inverse_inertia * Mat3::Identity();
    }
    push.begin(p);
    for (int i = 0; i < 5; ++i)
      for (const double side : {-0.1, 0.1})
        push.add(CrowdProblem::grounds + i, i == 0 ? 0 : CrowdProblem::grounds + i - 1, Vec3::UnitZ(),
                 Vec3(balls ? 0 : side, 0, -0.1), Vec3(balls ? 0 : side, 0, i == 0 ? 0 : 0.1), -0.01, 0);
    push.solve(1e-9, 40);
    EXPECT_LT(push.problem.bodies.back().v[2], 0.04);
    CrowdSweeps sweeps(pool);
    CrowdNewton newton(sweeps);
    EXPECT_TRUE(newton.solve(push.as_problem(), true, 1e-9, 400).converged);
    push.take_velocities();
    for (std::size_t i = 0; i < 5; ++i)
      EXPECT_NEAR(push.problem.bodies[CrowdProblem::grounds + i].v[2], 0.01 * static_cast<double>(i + 1), 1e-8);
  }
}

TEST(PushSweeps, AnswerOnlyWhatMoves) {
  // One of a hundred pairs is deep, the others do not touch it: two answers each at most, not forty.
  WorkerPool pool(1);
  CrowdProblem p;
  p.bodies.assign(CrowdProblem::grounds, {});
  p.inverse_inertia.assign(CrowdProblem::grounds + 200, Mat3::Zero());
  CrowdBody body;
  body.inverse_mass = 2;
  p.bodies.insert(p.bodies.end(), 200, body);
  PushSweeps push(pool);
  push.begin(p);
  for (int i = 0; i < 100; ++i) {
    const int side = CrowdProblem::grounds + 2 * i;
    push.add(side, side + 1, Vec3::UnitZ(), -Vec3::UnitZ(), Vec3::UnitZ(), i == 50 ? -1.0 : 0.1, 0);
  }
  EXPECT_LT(push.solve(1e-12, 40), 1.1);
  const std::size_t deep = CrowdProblem::grounds + 100;
  EXPECT_NEAR(push.problem.bodies[deep].v[2], 0.5, 1e-15) << "each half of the way";
  EXPECT_NEAR(push.problem.bodies[deep + 1].v[2], -0.5, 1e-15);
}

TEST(PushSweeps, GiveTheSameBitsByAnyNumberOfThreads) {
  const CrowdProblem p = random_problem(9, 300, 900, false, false);
  WorkerPool one(1), two(2);
  PushSweeps alone(one), together(two);
  for (PushSweeps* push : {&alone, &together}) {
    push->blocks = 2;
    fill(*push, p, 9);
    push->solve(1e-6, 30);
  }
  for (std::size_t i = 0; i < p.bodies.size(); ++i)
    for (int k = 0; k < 3; ++k) EXPECT_EQ(alone.problem.bodies[i].v[k], together.problem.bodies[i].v[k]);
}

}  // namespace
}  // namespace clatter::contact
