// Adams PECE: orders, order and step control, constrained systems with projection, rotations.
#include "integrate/adams.hpp"

#include <gtest/gtest.h>

#include "integrate/controlled_runs.hpp"

namespace clatter::test {
namespace {

Result run(Dynamics& problem, IntegratorSettings settings, const State& s0, double end) {
  settings.scheme = Scheme::adams;
  Adams integrator(problem, quiet(settings));
  return run_counted(integrator, s0, end);
}

IntegratorSettings at_order(double h, int order) {
  IntegratorSettings settings = fixed(Scheme::adams, h);
  settings.max_order = order;
  return settings;
}
IntegratorSettings tolerance(double tol) { return at_tolerance(Scheme::adams, tol); }

class AdamsOrder : public ::testing::TestWithParam<int> {
 protected:
  // Steps over 3 s at which the error is well above rounding (1e-14) and the next term of the error small.
  static int steps(int k) { return k == 1 ? 800 : (k == 2 ? 200 : (k <= 4 ? 100 : (k <= 6 ? 60 : 45))); }
};

// The motion has the order of the corrector, k+1, for a predictor of order k: local extrapolation. The next term of the
// error has relative size h.
TEST_P(AdamsOrder, OfTheOscillatorIsThatOfTheCorrector) {
  const int k = GetParam();
  Oscillator problem;
  const auto error = [&](int n) {
    const State s = run(problem, at_order(3.0 / n, k), Oscillator::initial(), 3.0).s;
    return std::hypot(s.q[0] - problem.x(3), s.v[0] - problem.v(3));
  };
  EXPECT_NEAR(order(error(steps(k)), error(2 * steps(k))), k + 1, 0.5) << error(steps(k)) << " " << error(2 * steps(k));
}

TEST_P(AdamsOrder, OfTheOrientationOfAFreeBodyIsThatOfTheCorrector) {
  const int k = GetParam();
  FreeBody body(Vec3(2, 2, 3));
  const auto error = [&](int n) {
    const State s = run(body, at_order(2.0 / n, k), FreeBody::initial(), 2.0).s;
    const Quat r(s.q[0], s.q[1], s.q[2], s.q[3]), exact = body.symmetric_orientation(2.0);
    return 2 * (exact.conjugate() * r).vec().norm();
  };
  // With 60 steps the error of order 7 would reach rounding.
  const int n = k == 6 ? 30 : steps(k);
  EXPECT_NEAR(order(error(n), error(2 * n)), k + 1, 0.6) << error(n) << " " << error(2 * n);
}

TEST_P(AdamsOrder, OfTheDenseOutputIsThatOfTheCorrector) {
  const int k = GetParam();
  Oscillator problem;
  const auto error = [&](int n) {
    Adams integrator(problem, quiet(at_order(3.0 / n, k)));
    integrator.start(Oscillator::initial());
    State s = integrator.state();
    double worst = 0;
    for (int i = 0; integrator.state().t < 3.0 - 1e-9; ++i) {
      integrator.step(3.0);
      // The first steps have only as many points as there are.
      if (i < k) continue;
      for (const double theta : {0.3, 0.5, 0.8}) {
        const double t = integrator.step_begin() + theta * (integrator.state().t - integrator.step_begin());
        integrator.interpolate(t, s);
        worst = std::max(worst, std::abs(s.q[0] - problem.x(t)));
      }
    }
    return worst;
  };
  EXPECT_NEAR(order(error(steps(k)), error(2 * steps(k))), k + 1, 0.6) << error(steps(k));
}

INSTANTIATE_TEST_SUITE_P(Orders, AdamsOrder, ::testing::Values(1, 2, 3, 4, 5, 6, 7, 8));

TEST(Adams, PendulumAndItsMultiplierConvergeWithTheOrderOfTheCorrector) {
  CartesianPendulum pendulum;
  const double t = 1.7;
  const State exact = CartesianPendulum::exact(t);
  for (const int k : {2, 4, 6}) {
    const auto errors = [&](int n) {
      const Result r = run(pendulum, at_order(t / n, k), CartesianPendulum::initial(), t);
      return Vec3((r.s.q - exact.q).norm(), (r.s.v - exact.v).norm(),
                  std::abs(r.lambda[0] - CartesianPendulum::exact_lambda(t)));
    };
    const Vec3 coarse = errors(k == 2 ? 200 : 120), fine = errors(k == 2 ? 400 : 240);
    for (int i = 0; i < 3; ++i) EXPECT_GT(order(coarse[i], fine[i]), k + 0.6) << k << " " << i << " " << coarse[i];
  }
}

// Global errors are some ten to a hundred local tolerances.
TEST(Adams, ErrorsFollowTheToleranceAsked) {
  Oscillator problem;
  double last = 0;
  for (const double tol : {1e-4, 1e-6, 1e-8, 1e-10}) {
    const Result r = run(problem, tolerance(tol), Oscillator::initial(), 10.0);
    const double error = std::hypot(r.s.q[0] - problem.x(10), r.s.v[0] - problem.v(10));
    EXPECT_LT(error, 50 * tol) << tol << " steps " << r.steps;
    // A hundredth of the tolerance: an error between a tenth of and ten times a hundredth.
    if (last > 0) {
      EXPECT_LT(error, 0.1 * last);
    }
    last = error;
  }
}

TEST(Adams, ReachesHighOrdersInASmoothMotionAndNoMoreThanTheOrderAllowed) {
  Oscillator problem;
  EXPECT_GE(run(problem, tolerance(1e-11), Oscillator::initial(), 20.0).highest, 9);
  for (const int most : {1, 3, 6}) {
    IntegratorSettings settings = tolerance(1e-8);
    settings.max_order = most;
    EXPECT_EQ(run(problem, settings, Oscillator::initial(), 3.0).highest, most);
  }
}

TEST(Adams, OrderAndStepDropTogetherAtAnEventAndRecoverAfterwards) {
  Play play;
  Adams integrator(play, tolerance(1e-9));
  integrator.start(Play::initial());
  int events = 0, highest_since = 0, recovered = 0;
  double longest_since = 0;
  while (integrator.state().t < 12) {
    const int order = integrator.order();
    const StepReport& report = integrator.step(12);
    highest_since = std::max(highest_since, order);
    longest_since = std::max(longest_since, report.h);
    if (!report.at_event) continue;
    ++events;
    EXPECT_EQ(integrator.order(), 1);
    EXPECT_LT(integrator.next_step(), 0.02 * longest_since);
    if (integrator.state().q[0] * integrator.state().v[0] < 0) {
      EXPECT_GE(highest_since, 5);
      ++recovered;
    }
    highest_since = 0;
    longest_since = 0;
  }
  // Period 2 (2 p / v0) + 2 pi / sqrt(k) = 5.1416 s, four crossings in each, the first at 0.5 s.
  EXPECT_EQ(events, 9);
  EXPECT_GE(recovered, 4);
  EXPECT_NEAR(play.energy(integrator.state()), 0.5, 1e-7);
}

TEST(Adams, TopsOnRotationCoordinatesMeetEachOtherAtTheToleranceAsked) {
  MinimalTop minimal;
  IntegratorSettings sharp;
  sharp.relative_tolerance = sharp.absolute_tolerance = 1e-12;
  const State exact = MinimalTop::spread(run_to(minimal, sharp, MinimalTop::initial(), 1.0));
  HeavyTop top;
  for (const double tol : {1e-6, 1e-8, 1e-10}) {
    const Result r = run(top, tolerance(tol), HeavyTop::initial(), 1.0);
    EXPECT_LT((r.s.q - exact.q).norm(), 30 * tol) << tol << " steps " << r.steps;
    const Result m = run(minimal, tolerance(tol), MinimalTop::initial(), 1.0);
    EXPECT_LT((MinimalTop::spread(m.s).q - exact.q).norm(), 30 * tol) << tol << " steps " << m.steps;
  }
}

// What the method is for: smooth motions at sharp tolerances. Two evaluations a step against six of DOPRI5.
TEST(Adams, NeedsFewerEvaluationsThanDopri5AtSharpTolerances) {
  Oscillator problem;
  IntegratorSettings sharp = tolerance(1e-11);
  problem.evaluations = 0;
  run(problem, sharp, Oscillator::initial(), 30.0);
  const long adams = problem.evaluations;
  problem.evaluations = 0;
  sharp.scheme = Scheme::dopri5;
  run_to(problem, sharp, Oscillator::initial(), 30.0);
  EXPECT_LT(2 * adams, problem.evaluations);
}

TEST(Adams, ConstraintsHoldAlsoWhenStatedTwice) { expect_constraints_held(Scheme::adams, 1e-6); }

TEST(Adams, KnifeEdgeDrivenMassAndInnerStateFollowTheirClosedForms) { expect_closed_forms(Scheme::adams, 1e-7); }

TEST(Adams, TheLedgerClosesAtTheTolerance) { expect_ledger_closes(Scheme::adams, 1e-7); }

}  // namespace
}  // namespace clatter::test
