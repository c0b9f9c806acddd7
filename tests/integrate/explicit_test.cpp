// Explicit schemes: orders of convergence, constraints, rotations, ledger, events.
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "integrate/integrator.hpp"
#include "integrate/problems.hpp"
#include "integrate/studies.hpp"

namespace clatter::test {
namespace {

TEST(Explicit, EulerConvergesWithOrderOne) { EXPECT_NEAR(oscillator_order(Scheme::euler, 200), 1, 0.05); }

TEST(Explicit, VerletConvergesWithOrderTwoWithoutVelocityForces) {
  EXPECT_NEAR(oscillator_order(Scheme::verlet, 50), 2, 0.05);
}

TEST(Explicit, RungeKuttaConvergesWithOrderFour) { EXPECT_NEAR(oscillator_order(Scheme::rk4, 40), 4, 0.1); }

TEST(Explicit, DormandPrinceConvergesWithOrderFive) { EXPECT_NEAR(oscillator_order(Scheme::dopri5, 20), 5, 0.15); }

TEST(Explicit, VerletIsStableUpToTwiceTheReciprocalFrequencyOnly) {
  // S-38: h w < 2.
  for (const double hw : {1.99, 2.01}) {
    Oscillator problem;
    auto integrator = make_integrator(quiet(fixed(Scheme::verlet, hw)), problem);
    integrator->start(Oscillator::initial());
    for (int i = 0; i < 2000; ++i) integrator->step(1e9);
    EXPECT_EQ(std::abs(integrator->state().q[0]) < 100, hw < 2) << hw;
  }
}

TEST(Explicit, SymplecticEulerConvergesWithOrderOne) {
  EXPECT_NEAR(oscillator_order(Scheme::symplectic_euler, 200), 1, 0.05);
}

TEST(Explicit, SymplecticEulerIsStableUpToTwiceTheReciprocalFrequencyOnly) {
  // Y-9: h w < 2.
  for (const double hw : {1.99, 2.01}) {
    Oscillator problem;
    auto integrator = make_integrator(quiet(fixed(Scheme::symplectic_euler, hw)), problem);
    integrator->start(Oscillator::initial());
    for (int i = 0; i < 2000; ++i) integrator->step(1e9);
    EXPECT_EQ(std::abs(integrator->state().q[0]) < 100, hw < 2) << hw;
  }
}

TEST(Explicit, SymplecticEulerKeepsTheEnergyItConserves) {
  // Not the energy but v^2 + q^2 - h v q is constant, so that the energy oscillates in proportion to the step and never
  // drifts: rounding of 10 000 steps.
  const double h = 0.1;
  Oscillator problem;
  auto integrator = make_integrator(quiet(fixed(Scheme::symplectic_euler, h)), problem);
  integrator->start(Oscillator::initial());
  const auto kept = [&] {
    const double q = integrator->state().q[0], v = integrator->state().v[0];
    return v * v + q * q - h * v * q;
  };
  const double start = kept();
  for (int i = 0; i < 10000; ++i) integrator->step(1e9);
  EXPECT_NEAR(kept(), start, 1e-11 * start);
}

TEST(Explicit, OrientationOfASymmetricBodyConvergesWithFullOrder) {
  // R(t) = exp(t L/J1) exp(t (1 - J3/J1) w3 e3), closed form of the free symmetric body.
  FreeBody body(Vec3(2, 2, 3));
  const auto error = [&](Scheme scheme, int steps) {
    const State s = run_fixed(body, fixed(scheme, 2.0 / steps), FreeBody::initial(), 2.0);
    return Quat(s.q[0], s.q[1], s.q[2], s.q[3]).angularDistance(body.symmetric_orientation(2.0));
  };
  EXPECT_NEAR(order(error(Scheme::rk4, 40), error(Scheme::rk4, 80)), 4, 0.2);
  EXPECT_NEAR(order(error(Scheme::dopri5, 80), error(Scheme::dopri5, 160)), 5, 0.3);
  EXPECT_NEAR(order(error(Scheme::verlet, 200), error(Scheme::verlet, 400)), 1, 0.2);
}

TEST(Explicit, FreeAsymmetricBodyKeepsItsSpatialMomentumAndQuaternionNorm) {
  FreeBody body(Vec3(1, 2, 3.5));
  const State s0 = FreeBody::initial();
  IntegratorSettings settings;
  settings.relative_tolerance = 1e-11;
  settings.absolute_tolerance = 1e-12;
  const State s = run_to(body, settings, s0, 50.0);
  // Error per unit time of the order of the tolerance.
  EXPECT_LT((body.momentum(s) - body.momentum(s0)).norm(), 50 * 1e-9);
  EXPECT_LT(std::abs(body.energy(s) - body.energy(s0)), 50 * 1e-9);
  EXPECT_NEAR(s.q.norm(), 1, 4e-16);
}

TEST(Explicit, PendulumInCartesianCoordinatesFollowsTheEllipticFunctionsWithMultiplier) {
  CartesianPendulum pendulum;
  const double t = 1.7;
  const State exact = CartesianPendulum::exact(t);
  const auto errors = [&](Scheme scheme, int steps) {
    auto integrator = make_integrator(fixed(scheme, t / steps), pendulum);
    integrator->start(CartesianPendulum::initial());
    while (integrator->state().t < t) integrator->step(t);
    return Vec3((integrator->state().q - exact.q).norm(), (integrator->state().v - exact.v).norm(),
                std::abs(integrator->lambda()[0] - CartesianPendulum::exact_lambda(t)));
  };
  for (const auto& [scheme, expected, steps] : {std::tuple{Scheme::rk4, 4, 60}, std::tuple{Scheme::dopri5, 5, 40}}) {
    const Vec3 coarse = errors(scheme, steps), fine = errors(scheme, 2 * steps);
    for (int i = 0; i < 3; ++i) EXPECT_NEAR(order(coarse[i], fine[i]), expected, 0.6) << i;
  }
}

TEST(Explicit, ConstraintsHoldToRoundoffAfterEveryStepAlsoWhenStatedTwice) {
  for (const int copies : {1, 2}) {
    CartesianPendulum pendulum(copies);
    auto integrator = make_integrator(fixed(Scheme::rk4, 0.02), pendulum);
    integrator->start(CartesianPendulum::initial());
    Vec phi(copies), residual(copies);
    for (int i = 0; i < 500; ++i) {
      integrator->step(1e9);
      pendulum.constraints(integrator->state(), phi, residual);
      ASSERT_LT(phi.cwiseAbs().maxCoeff(), 1e-12);
      ASSERT_LT(residual.cwiseAbs().maxCoeff(), 1e-11);
    }
  }
}

TEST(Explicit, KnifeEdgeFollowsTheCycloidOfNeimarkAndFufaev) {
  KnifeEdge edge;
  IntegratorSettings settings;
  settings.relative_tolerance = 1e-11;
  settings.absolute_tolerance = 1e-12;
  const State s = run_to(edge, settings, KnifeEdge::initial(), 4.0);
  EXPECT_LT((s.q - KnifeEdge::exact(4.0).q).norm(), 1e-9);
  EXPECT_LT((s.v - KnifeEdge::exact(4.0).v).norm(), 1e-9);
}

TEST(Explicit, DenseOutputOfDormandPrinceHasAtLeastOrderFour) {
  Oscillator problem;
  const auto error = [&](int steps) {
    auto integrator = make_integrator(quiet(fixed(Scheme::dopri5, 4.0 / steps)), problem);
    integrator->start(Oscillator::initial());
    double worst = 0;
    State s = Oscillator::initial();
    while (integrator->state().t < 4.0 - 1e-9) {
      integrator->step(4.0);
      for (const double theta : {0.2, 0.5, 0.7, 0.9}) {
        const double t = integrator->step_begin() + theta * (integrator->state().t - integrator->step_begin());
        integrator->interpolate(t, s);
        worst = std::max({worst, std::abs(s.q[0] - problem.x(t)), std::abs(s.v[0] - problem.v(t))});
      }
    }
    return worst;
  };
  EXPECT_GT(order(error(20), error(40)), 3.9);
}

TEST(Explicit, TheLedgerClosesWithTheOrderOfTheScheme) {
  // stored(t) - stored(0) = W for the damped oscillator.
  const auto remainder = [&](Scheme scheme, int steps) {
    Oscillator problem(2.0, 0.3);
    auto integrator = make_integrator(quiet(fixed(scheme, 3.0 / steps)), problem);
    integrator->start(Oscillator::initial());
    while (integrator->state().t < 3.0) integrator->step(3.0);
    return std::abs(problem.energy(integrator->state()) - problem.energy(Oscillator::initial()) -
                    integrator->work()[0]);
  };
  EXPECT_NEAR(order(remainder(Scheme::rk4, 40), remainder(Scheme::rk4, 80)), 4, 0.5);
  EXPECT_NEAR(order(remainder(Scheme::dopri5, 30), remainder(Scheme::dopri5, 60)), 5, 0.7);
}

TEST(Explicit, InnerStatesConvergeWithTheOrderOfTheScheme) {
  LaggedForce problem;
  const auto error = [&](Scheme scheme, int steps) {
    const State s = run_fixed(problem, fixed(scheme, 1.0 / steps), LaggedForce::initial(), 1.0);
    return std::abs(s.q[0] - LaggedForce::x(1)) + std::abs(s.v[0] - LaggedForce::v(1)) +
           std::abs(s.z[0] - LaggedForce::z(1));
  };
  EXPECT_NEAR(order(error(Scheme::rk4, 20), error(Scheme::rk4, 40)), 4, 0.2);
  EXPECT_NEAR(order(error(Scheme::dopri5, 10), error(Scheme::dopri5, 20)), 5, 0.4);
}

TEST(Explicit, DrivenMassFollowsItsForcedMotionAndTheDriveForce) {
  DrivenMass problem;
  IntegratorSettings settings;
  settings.relative_tolerance = 1e-11;
  settings.absolute_tolerance = 1e-12;
  auto integrator = make_integrator(settings, problem);
  integrator->start(DrivenMass::initial());
  while (integrator->state().t < 3) integrator->step(3);
  EXPECT_NEAR(integrator->state().q[1], DrivenMass::B() * std::sin(DrivenMass::W * 3), 1e-9);
  EXPECT_NEAR(integrator->lambda()[0], DrivenMass::exact_lambda(3), 1e-7);
  EXPECT_NEAR(problem.energy(integrator->state()) - problem.energy(DrivenMass::initial()), integrator->work()[0], 1e-8);
}

TEST(Explicit, AStepOfMoreThanHalfATurnIsRefusedByName) {
  FreeBody body(Vec3(1, 2, 3));
  auto integrator = make_integrator(fixed(Scheme::rk4, 3.0), body);
  integrator->start(FreeBody::initial());
  EXPECT_THROW(integrator->step(10), SolveError);
}

TEST(Explicit, AnExplosionIsReportedNotRecorded) {
  Oscillator problem(1000);
  auto integrator = make_integrator(quiet(fixed(Scheme::euler, 1.0)), problem);
  integrator->start(Oscillator::initial());
  try {
    for (int i = 0; i < 1000; ++i) integrator->step(1e9);
    FAIL() << "no error";
  } catch (const SolveError& error) {
    EXPECT_EQ(error.kind(), "not-finite");
    EXPECT_EQ(error.elements().front(), "velocity 0");
  }
  EXPECT_TRUE(integrator->state().v.allFinite());
}

}  // namespace
}  // namespace clatter::test
