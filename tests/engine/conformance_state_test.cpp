// Evaluations of every registered element depend on the state and nothing else, agree with each other, and take no
// memory from the heap.
#include <cstdlib>

#include "dense.hpp"
#include "engine/conformance.hpp"

// Eigen asks malloc, everything else operator new, which asks malloc: counting there sees all of it. The sanitizers
// bring their own malloc; under them the test only shows that the evaluations run.
namespace {
long allocations = 0;
}
#if defined(__GLIBC__) && !defined(CLATTER_SANITIZED)
#define CLATTER_COUNTS_ALLOCATIONS
extern "C" {
void* __libc_malloc(std::size_t);
void* malloc(std::size_t size) {
  ++allocations;
  return __libc_malloc(size);
}
}
#endif

namespace clatter::test {
namespace {

using Evaluation = Conformance;

// Everything an engine says about a state.
struct Report {
  Vec a, lambda, zdot, r, phi, y, p, events, delta, a_again;
  double stored = 0;
  Tangents T;

  explicit Report(const Dynamics& dynamics) : T(dynamics.tangent_layout()) {
    const Sizes& n = dynamics.sizes();
    const auto zero = [](int size) { return Vec(Vec::Zero(size)); };
    a = delta = r = zero(n.nv), a_again = zero(n.nv);
    lambda = y = zero(n.nc());
    zdot = zero(n.nz), phi = zero(n.nh), p = zero(n.np), events = zero(n.ne);
  }
  void fill(Dynamics& dynamics, const State& s) {
    dynamics.constraints(s, phi, y);
    dynamics.accelerations(s, a, lambda, zdot);
    dynamics.events(s, events);
    dynamics.residual(s, a, lambda, r, zdot);
    dynamics.tangents(s, a, lambda, T);
    dynamics.powers(s, a, lambda, p);
    stored = dynamics.stored_energy(s);
    dynamics.least_correction(s, y, false, delta);
    dynamics.accelerations(s, a_again, lambda, zdot);
  }
};

void expect_identical(const Report& x, const Report& y) {
  EXPECT_EQ(x.a, y.a);
  EXPECT_EQ(x.lambda, y.lambda);
  EXPECT_EQ(x.zdot, y.zdot);
  EXPECT_EQ(x.r, y.r);
  EXPECT_EQ(x.phi, y.phi);
  EXPECT_EQ(x.y, y.y);
  EXPECT_EQ(x.p, y.p);
  EXPECT_EQ(x.events, y.events);
  EXPECT_EQ(x.delta, y.delta);
  EXPECT_EQ(x.stored, y.stored);
  const auto list = [](const Tangents& T) {
    return std::array<const SparseMatrix<double>*, 11>{&T.M,  &T.C, &T.K,  &T.Rz, &T.Fq, &T.Fv,
                                                       &T.Fz, &T.G, &T.Vq, &T.Aq, &T.Av};
  };
  for (std::size_t k = 0; k < 11; ++k) {
    const auto p = list(x.T)[k]->values(), q = list(y.T)[k]->values();
    EXPECT_TRUE(std::equal(p.begin(), p.end(), q.begin(), q.end())) << "tangent block " << k;
  }
}

TEST_P(Evaluation, HasNoMemoryAndIsTheSameInEveryEngine) {
  each_setting([](Setting& x) {
    const State other = along(x, 0.05);
    Report first(x.dynamics()), between(x.dynamics()), again(x.dynamics());
    first.fill(x.dynamics(), x.s);
    EXPECT_EQ(first.a, first.a_again);
    between.fill(x.dynamics(), other);
    again.fill(x.dynamics(), x.s);
    expect_identical(first, again);
    Setting second(x.system->model);
    Report in_second(second.dynamics());
    in_second.fill(second.dynamics(), other);
    expect_identical(between, in_second);
    in_second.fill(second.dynamics(), x.s);
    expect_identical(first, in_second);
  });
}

// Engines between pieces of 16 to 64 bytes: their arrays begin at all places that the heap has.
TEST_P(Evaluation, IsTheSameWhereverItsArraysLie) {
  each_setting([](Setting& x) {
    Report first(x.dynamics());
    first.fill(x.dynamics(), x.s);
    std::vector<std::unique_ptr<char[]>> pads;
    std::vector<std::unique_ptr<Setting>> settings;
    for (std::size_t k = 0; k < 8; ++k) {
      pads.push_back(std::make_unique<char[]>(16 * (k % 4) + 8));
      settings.push_back(std::make_unique<Setting>(x.system->model));
      Report moved(settings.back()->dynamics());
      moved.fill(settings.back()->dynamics(), x.s);
      expect_identical(first, moved);
    }
  });
}

// M a - h - G^T lambda = 0 and G a + gamma = 0 at the accelerations; rounding times what cancels.
TEST_P(Evaluation, AccelerationsSatisfyTheEquationsTheyComeFrom) {
  each_setting([](Setting& x) {
    const int nv = x.sizes().nv, nc = x.sizes().nc();
    if (nv == 0) return;
    Tangents T = x.dynamics().tangent_layout();
    x.dynamics().tangents(x.s, x.a, x.lambda, T);
    const Mat M = dense(T.M), G = dense(T.G);
    EXPECT_LT(largest(M - M.transpose()), 1e-14 * largest(M));
    EXPECT_GT(symmetric_eigenvalues(M)[0], 0);
    Vec f(nv);
    x.dynamics().constraint_forces(x.s, x.lambda, f);
    EXPECT_LT(largest(f - G.transpose() * x.lambda), 1e-12 * (1 + largest(f)));
    EXPECT_LT((Mat(x.engine->constraint_matrix(x.s)) - G).norm(), 1e-13 * (1 + G.norm()));
    const Vec lambda = x.lambda;
    x.lambda.setZero();
    const Vec h = -x.residual(x.s, Vec::Zero(nv));
    x.lambda = lambda;
    const double size = 1 + largest(h) + largest(f);
    EXPECT_LT(largest(M * x.a - h - f), 1e-11 * size);
    EXPECT_LT(largest(M * x.a - h - f - x.residual(x.s, x.a)), 1e-12 * size);
    if (nc == 0) return;
    EXPECT_LT(largest(x.constraint_accelerations(x.s, x.a)), 1e-10 * (1 + largest(G * solve_symmetric(M, h))));
  });
}

TEST_P(Evaluation, LeastCorrectionIsTheSmallestThatMakesItsRows) {
  each_setting([](Setting& x) {
    const int nc = x.sizes().nc(), nh = x.sizes().nh, nv = x.sizes().nv;
    if (nc == 0) return;
    Tangents T = x.dynamics().tangent_layout();
    x.dynamics().tangents(x.s, x.a, x.lambda, T);
    const Mat M = dense(T.M), G = dense(T.G);
    Dice dice(3);
    for (const bool positions : {false, true}) {
      const int rows = positions ? nh : nc;
      if (rows == 0) continue;
      // In the range of G, so that redundant rows can be made too.
      const Mat Gr = G.topRows(rows);
      const Vec b = Gr * dice(nv);
      Vec delta(nv);
      x.dynamics().least_correction(x.s, b, positions, delta);
      EXPECT_LT(largest(Gr * delta - b), 1e-10 * (1 + largest(b)));
      const Mat S = Gr * solve_symmetric(M, Gr.transpose());
      const Vec least = solve_symmetric(M, Gr.transpose() * least_norm(S, b));
      EXPECT_LT(largest(delta - least), 1e-8 * (1 + largest(least)));
    }
  });
}

TEST_P(Evaluation, TakesNoMemoryFromTheHeap) {
  each_setting([](Setting& x) {
    const State other = along(x, 0.05);
#ifdef CLATTER_COUNTS_ALLOCATIONS
    ASSERT_GT(allocations, 0) << "the count is not alive";
#endif
    Report report(x.dynamics());
    report.fill(x.dynamics(), x.s);
    const long before = allocations;
    report.fill(x.dynamics(), other);
    report.fill(x.dynamics(), x.s);
    EXPECT_EQ(allocations - before, 0);
  });
}

INSTANTIATE_TEST_SUITE_P(Registry, Evaluation, ::testing::ValuesIn(samples()), sample_name);

}  // namespace
}  // namespace clatter::test
