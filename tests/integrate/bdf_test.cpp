// BDF: orders 1 to 5, order and step control, stiff problems, constrained systems in stabilised index-2 form,
// rotations.
#include "integrate/bdf.hpp"

#include <gtest/gtest.h>

#include "integrate/controlled_runs.hpp"

namespace clatter::test {
namespace {

Result run(Dynamics& problem, IntegratorSettings settings, const State& s0, double end) {
  settings.scheme = Scheme::bdf;
  Bdf integrator(problem, quiet(settings));
  return run_counted(integrator, s0, end);
}

// Newton is driven to rounding so that only the truncation error is seen.
IntegratorSettings sharp_fixed(double h, int order) {
  IntegratorSettings settings = fixed(Scheme::bdf, h);
  settings.relative_tolerance = settings.absolute_tolerance = 1e-12;
  settings.max_order = order;
  return settings;
}
IntegratorSettings tolerance(double tol) { return at_tolerance(Scheme::bdf, tol); }

class BdfOrder : public ::testing::TestWithParam<int> {};

// EVX-6. The observed order of BDF k approaches k from the next term of the error, of relative size h: 0.15 at the
// steps taken.
TEST_P(BdfOrder, OfTheOscillatorIsTheOneSet) {
  const int k = GetParam();
  Oscillator problem;
  const int n = k == 1 ? 1600 : (k == 2 ? 400 : 150);
  const auto error = [&](int steps) {
    const State s = run(problem, sharp_fixed(3.0 / steps, k), Oscillator::initial(), 3.0).s;
    return std::hypot(s.q[0] - problem.x(3), s.v[0] - problem.v(3));
  };
  EXPECT_NEAR(order(error(n), error(2 * n)), k, 0.15) << error(n);
}

TEST_P(BdfOrder, OfTheOrientationOfAFreeBodyIsTheOneSet) {
  const int k = GetParam();
  FreeBody body(Vec3(2, 2, 3));
  const int n = k == 1 ? 1600 : (k == 2 ? 400 : 200);
  const auto error = [&](int steps) {
    const State s = run(body, sharp_fixed(2.0 / steps, k), FreeBody::initial(), 2.0).s;
    return Quat(s.q[0], s.q[1], s.q[2], s.q[3]).angularDistance(body.symmetric_orientation(2.0));
  };
  EXPECT_NEAR(order(error(n), error(2 * n)), k, 0.2) << error(n);
}

TEST_P(BdfOrder, OfAPendulumOnAConstraintAndOfItsMultiplierIsTheOneSet) {
  const int k = GetParam();
  CartesianPendulum pendulum;
  const double t = 1.7;
  const State exact = CartesianPendulum::exact(t);
  const auto errors = [&](int n) {
    const Result r = run(pendulum, sharp_fixed(t / n, k), CartesianPendulum::initial(), t);
    return Vec3((r.s.q - exact.q).norm(), (r.s.v - exact.v).norm(),
                std::abs(r.lambda[0] - CartesianPendulum::exact_lambda(t)));
  };
  const int n = k == 1 ? 3200 : (k == 2 ? 800 : 200);
  const Vec3 coarse = errors(n), fine = errors(2 * n);
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(order(coarse[i], fine[i]), k, 0.3) << i << " " << coarse[i] << " " << fine[i];
}

// The largest error on the way: at single instants terms of opposite sign may cancel.
TEST_P(BdfOrder, OfTheLedgerIsTheOneSet) {
  const int k = GetParam();
  Oscillator problem(1, 0.1);
  const int n = k == 1 ? 1600 : (k == 2 ? 400 : 150);
  const auto error = [&](int steps) {
    Bdf integrator(problem, quiet(sharp_fixed(3.0 / steps, k)));
    integrator.start(Oscillator::initial());
    double worst = 0;
    while (integrator.state().t < 3.0) {
      integrator.step(3.0);
      const double t = integrator.state().t;
      const State exact = make_state(vec({problem.x(t)}), vec({problem.v(t)}));
      const double work = problem.energy(exact) - problem.energy(Oscillator::initial());
      worst = std::max(worst, std::abs(integrator.work()[0] - work));
    }
    return worst;
  };
  EXPECT_NEAR(order(error(n), error(2 * n)), k, 0.3) << error(n) << " " << error(2 * n);
}

// Interpolation of degree k errs by h^(k+1), the points themselves by h^k.
TEST_P(BdfOrder, OfTheDenseOutputIsTheOneSet) {
  const int k = GetParam();
  Oscillator problem;
  const int n = k == 1 ? 1600 : (k == 2 ? 400 : 150);
  const auto error = [&](int steps) {
    Bdf integrator(problem, quiet(sharp_fixed(3.0 / steps, k)));
    integrator.start(Oscillator::initial());
    State s = integrator.state();
    double worst = 0;
    while (integrator.state().t < 3.0 - 1e-9) {
      integrator.step(3.0);
      for (const double theta : {0.3, 0.5, 0.8}) {
        const double t = integrator.step_begin() + theta * (integrator.state().t - integrator.step_begin());
        integrator.interpolate(t, s);
        worst = std::max(worst, std::abs(s.q[0] - problem.x(t)));
      }
    }
    return worst;
  };
  EXPECT_NEAR(order(error(n), error(2 * n)), k, 0.25) << error(n);
}

INSTANTIATE_TEST_SUITE_P(Orders, BdfOrder, ::testing::Values(1, 2, 3, 4, 5));

// Global errors are some ten to a hundred local tolerances, growing with the number of steps.
TEST(Bdf, ErrorsFollowTheToleranceAsked) {
  Oscillator problem;
  double last = 0;
  for (const double tol : {1e-4, 1e-6, 1e-8, 1e-10}) {
    const Result r = run(problem, tolerance(tol), Oscillator::initial(), 10.0);
    const double error = std::hypot(r.s.q[0] - problem.x(10), r.s.v[0] - problem.v(10));
    EXPECT_LT(error, 100 * tol) << tol << " steps " << r.steps;
    if (last > 0) {
      // A hundredth of the tolerance: an error between a tenth of and ten times a hundredth.
      EXPECT_LT(error, 0.1 * last);
      EXPECT_GT(error, 1e-3 * last);
    }
    last = error;
  }
}

TEST(Bdf, ReachesOrderFiveInASmoothMotionAndNoMoreThanTheOrderAllowed) {
  Oscillator problem;
  EXPECT_EQ(run(problem, tolerance(1e-8), Oscillator::initial(), 10.0).highest, 5);
  for (const int most : {1, 2, 3, 4}) {
    IntegratorSettings settings = tolerance(1e-5);
    settings.max_order = most;
    EXPECT_EQ(run(problem, settings, Oscillator::initial(), 10.0).highest, most);
  }
}

// E-20: order and step drop together at contact events and recover in the smooth phases.
TEST(Bdf, OrderAndStepDropTogetherAtAnEventAndRecoverAfterwards) {
  Play play;
  Bdf integrator(play, tolerance(1e-7));
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
    // Between the springs the mass flies straight: order 1 is exact there. In a spring it is not.
    if (std::abs(integrator.state().v[0]) > 0 && integrator.state().q[0] * integrator.state().v[0] < 0) {
      EXPECT_GE(highest_since, 4);
      ++recovered;
    }
    highest_since = 0;
    longest_since = 0;
  }
  // Period 2 (2 p / v0) + 2 pi / sqrt(k) = 5.1416 s, four crossings in each, the first at 0.5 s.
  EXPECT_EQ(events, 9);
  EXPECT_GE(recovered, 4);
  EXPECT_NEAR(play.energy(integrator.state()), 0.5, 1e-5);
}

TEST(Bdf, HeavyTopMeetsTheMinimalSystemAtTheToleranceAsked) { expect_heavy_top(Scheme::bdf, {1e-5, 1e-7, 1e-9}, 50); }

TEST(Bdf, StiffVanDerPolReachesTheReferenceInFewSteps) { expect_stiff_van_der_pol(Scheme::bdf, 2500); }

// On the slow manifold (no relaxation jump before t = 0.8) steps are chosen by accuracy alone.
TEST(Bdf, StepsHardlyDependOnTheStiffness) {
  std::vector<int> steps;
  for (const double eps : {1e-4, 1e-6, 1e-8}) {
    VanDerPol problem(eps);
    steps.push_back(run(problem, tolerance(1e-6), VanDerPol::initial(), 0.6).steps);
  }
  EXPECT_LT(steps[2], 1.5 * steps[0]);
}

TEST(Bdf, PositionsAndVelocitiesBothSatisfyTheConstraintsAlsoWhenStatedTwice) {
  expect_constraints_held(Scheme::bdf, 1e-5);
}

TEST(Bdf, KnifeEdgeDrivenMassAndInnerStateFollowTheirClosedForms) { expect_closed_forms(Scheme::bdf, 1e-6); }

TEST(Bdf, TheLedgerClosesAtTheTolerance) { expect_ledger_closes(Scheme::bdf, 1e-6); }

class CountedOscillator : public Oscillator {
 public:
  int tangent_evaluations = 0;
  void tangents(const State& s, const Vec& a, const Vec& lambda, Tangents& out) override {
    ++tangent_evaluations;
    Oscillator::tangents(s, a, lambda, out);
  }
};

// Tangents that do not change serve the whole run, and exact ones need one iteration; a second one confirms the rate
// every few steps and whenever step or order change.
TEST(Bdf, LinearEquationsTakeOneSetOfTangentsAndLittleMoreThanOneNewtonIterationAStep) {
  CountedOscillator problem;
  const Result r = run(problem, tolerance(1e-8), Oscillator::initial(), 10.0);
  EXPECT_EQ(problem.tangent_evaluations, 1);
  EXPECT_LT(r.newton, 1.6 * r.steps);
}

}  // namespace
}  // namespace clatter::test
