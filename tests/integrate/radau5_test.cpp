// RADAU5: order 5, stiff problems, constrained systems in stabilised index-2 form.
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "integrate/controlled_runs.hpp"

namespace clatter::test {
namespace {

Result run(Dynamics& problem, IntegratorSettings settings, const State& s0, double end) {
  settings.scheme = Scheme::radau5;
  return run_scheme(problem, settings, s0, end);
}

// Newton is driven to rounding so that only the truncation error is seen.
IntegratorSettings sharp_fixed(double h) {
  IntegratorSettings settings = fixed(Scheme::radau5, h);
  settings.relative_tolerance = settings.absolute_tolerance = 1e-12;
  return settings;
}

TEST(Radau5, ConvergesWithOrderFive) {
  Oscillator problem;
  const auto error = [&](int n) {
    const State s = run(problem, sharp_fixed(3.0 / n), Oscillator::initial(), 3.0).s;
    return std::hypot(s.q[0] - problem.x(3), s.v[0] - problem.v(3));
  };
  EXPECT_NEAR(order(error(10), error(20)), 5, 0.2);
}

TEST(Radau5, OrientationOfASymmetricBodyConvergesWithOrderFive) {
  FreeBody body(Vec3(2, 2, 3));
  const auto error = [&](int n) {
    const State s = run(body, sharp_fixed(2.0 / n), FreeBody::initial(), 2.0).s;
    return Quat(s.q[0], s.q[1], s.q[2], s.q[3]).angularDistance(body.symmetric_orientation(2.0));
  };
  EXPECT_GT(order(error(20), error(40)), 4.7);
}

TEST(Radau5, PendulumAndItsMultiplierConvergeWithOrderFive) {
  CartesianPendulum pendulum;
  const double t = 1.7;
  const State exact = CartesianPendulum::exact(t);
  const auto errors = [&](int n) {
    const Result r = run(pendulum, sharp_fixed(t / n), CartesianPendulum::initial(), t);
    return Vec3((r.s.q - exact.q).norm(), (r.s.v - exact.v).norm(),
                std::abs(r.lambda[0] - CartesianPendulum::exact_lambda(t)));
  };
  const Vec3 coarse = errors(12), fine = errors(24);
  for (int i = 0; i < 3; ++i) EXPECT_GT(order(coarse[i], fine[i]), 4.6) << i << " " << coarse[i] << " " << fine[i];
}

TEST(Radau5, HeavyTopMeetsTheMinimalSystemAtTheToleranceAsked) {
  expect_heavy_top(Scheme::radau5, {1e-5, 1e-7, 1e-9}, 300);
}

TEST(Radau5, StiffVanDerPolReachesTheReferenceInFewSteps) { expect_stiff_van_der_pol(Scheme::radau5, 1500); }

TEST(Radau5, PositionsAndVelocitiesBothSatisfyTheConstraintsAlsoWhenStatedTwice) {
  expect_constraints_held(Scheme::radau5, 1e-5);
}

TEST(Radau5, KnifeEdgeDrivenMassAndInnerStateFollowTheirClosedForms) { expect_closed_forms(Scheme::radau5, 1e-7); }

TEST(Radau5, TheLedgerClosesAtTheTolerance) { expect_ledger_closes(Scheme::radau5, 1e-6); }

TEST(Radau5, DenseOutputHasOrderThreeAtLeast) {
  Oscillator problem;
  const auto error = [&](int n) {
    auto integrator = make_integrator(quiet(sharp_fixed(4.0 / n)), problem);
    integrator->start(Oscillator::initial());
    double worst = 0;
    State s = Oscillator::initial();
    while (integrator->state().t < 4.0 - 1e-9) {
      integrator->step(4.0);
      for (const double theta : {0.3, 0.5, 0.8}) {
        const double t = integrator->step_begin() + theta * (integrator->state().t - integrator->step_begin());
        integrator->interpolate(t, s);
        worst = std::max(worst, std::abs(s.q[0] - problem.x(t)));
      }
    }
    return worst;
  };
  EXPECT_GT(order(error(20), error(40)), 3.7);
}

}  // namespace
}  // namespace clatter::test
