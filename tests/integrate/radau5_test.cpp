// RADAU5: order 5, stiff problems, constrained systems in stabilised index-2 form.
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "integrate/studies.hpp"

namespace clatter::test {
namespace {

struct Result {
  State s;
  Vec lambda;
  int steps = 0, newton = 0, rejected = 0;
};

Result run(Dynamics& problem, IntegratorSettings settings, const State& s0, double end) {
  settings.scheme = Scheme::radau5;
  auto integrator = make_integrator(quiet(settings), problem);
  integrator->start(s0);
  Result result;
  while (integrator->state().t < end) {
    const StepReport& report = integrator->step(end);
    ++result.steps;
    result.newton += report.newton_iterations;
    result.rejected += report.rejected;
    if (result.steps > 200000) throw std::runtime_error("too many steps");
  }
  result.s = integrator->state();
  result.lambda = integrator->lambda();
  return result;
}

// Newton is driven to rounding so that only the truncation error is seen.
IntegratorSettings sharp_fixed(double h) {
  IntegratorSettings settings = fixed(Scheme::radau5, h);
  settings.relative_tolerance = settings.absolute_tolerance = 1e-12;
  return settings;
}
IntegratorSettings tolerance(double tol) {
  IntegratorSettings settings;
  settings.relative_tolerance = settings.absolute_tolerance = tol;
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
  MinimalTop minimal;
  IntegratorSettings sharp;
  sharp.relative_tolerance = sharp.absolute_tolerance = 1e-12;
  const State exact = MinimalTop::spread(run_to(minimal, sharp, MinimalTop::initial(), 1.0));
  HeavyTop top;
  for (const double tol : {1e-5, 1e-7, 1e-9}) {
    const Result r = run(top, tolerance(tol), HeavyTop::initial(), 1.0);
    // Velocities reach 15 rad/s: global errors of a hundred local tolerances are usual.
    EXPECT_LT((r.s.q - exact.q).norm(), 300 * tol) << tol << " steps " << r.steps;
  }
}

TEST(Radau5, StiffVanDerPolReachesTheReferenceInFewSteps) {
  // Hairer and Wanner, Solving ODEs II, IV.10, eps = 1e-6: x(2) = 1.706167732170483, x'(2) = -0.8928097010247975.
  VanDerPol problem(1e-6);
  const Result r = run(problem, tolerance(1e-7), VanDerPol::initial(), 2.0);
  EXPECT_NEAR(r.s.q[0], 1.706167732170483, 1e-5);
  EXPECT_NEAR(r.s.v[0], -0.8928097010247975, 1e-5);
  EXPECT_LT(r.steps, 1500);
}

TEST(Radau5, PositionsAndVelocitiesBothSatisfyTheConstraintsAlsoWhenStatedTwice) {
  for (const int copies : {1, 2}) {
    CartesianPendulum pendulum(copies);
    IntegratorSettings settings = tolerance(1e-8);
    settings.scheme = Scheme::radau5;
    auto integrator = make_integrator(settings, pendulum);
    integrator->start(CartesianPendulum::initial());
    Vec phi(copies), residual(copies);
    while (integrator->state().t < 3) {
      integrator->step(3);
      pendulum.constraints(integrator->state(), phi, residual);
      ASSERT_LT(phi.cwiseAbs().maxCoeff(), 1e-12);
      ASSERT_LT(residual.cwiseAbs().maxCoeff(), 1e-11);
    }
    EXPECT_LT((integrator->state().q - CartesianPendulum::exact(3).q).norm(), 1e-5);
    EXPECT_NEAR(integrator->lambda().sum(), CartesianPendulum::exact_lambda(3), 1e-4);
  }
}

TEST(Radau5, KnifeEdgeDrivenMassAndInnerStateFollowTheirClosedForms) {
  KnifeEdge edge;
  const Result e = run(edge, tolerance(1e-9), KnifeEdge::initial(), 2.0);
  EXPECT_LT((e.s.q - KnifeEdge::exact(2).q).norm(), 1e-7);
  EXPECT_NEAR(e.lambda[0], KnifeEdge::exact_lambda(2), 1e-6);
  DrivenMass driven;
  const Result d = run(driven, tolerance(1e-9), DrivenMass::initial(), 3.0);
  EXPECT_NEAR(d.s.q[1], DrivenMass::B() * std::sin(DrivenMass::W * 3), 1e-7);
  EXPECT_NEAR(d.lambda[0], DrivenMass::exact_lambda(3), 1e-5);
  LaggedForce lagged;
  const Result l = run(lagged, tolerance(1e-9), LaggedForce::initial(), 1.0);
  EXPECT_NEAR(l.s.q[0], LaggedForce::x(1), 1e-8);
  EXPECT_NEAR(l.s.z[0], LaggedForce::z(1), 1e-8);
}

TEST(Radau5, TheLedgerClosesAtTheTolerance) {
  DrivenMass driven;
  IntegratorSettings settings = tolerance(1e-9);
  settings.scheme = Scheme::radau5;
  auto integrator = make_integrator(settings, driven);
  integrator->start(DrivenMass::initial());
  while (integrator->state().t < 3) integrator->step(3);
  EXPECT_NEAR(driven.energy(integrator->state()) - driven.energy(DrivenMass::initial()), integrator->work()[0], 1e-6);
}

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
