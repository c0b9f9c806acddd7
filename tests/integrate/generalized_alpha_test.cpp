// Generalized-alpha: second order for positions, velocities and multipliers, whatever the scaling.
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "integrate/studies.hpp"

namespace clatter::test {
namespace {

struct Result {
  State s;
  Vec lambda;
};

Result run(Dynamics& problem, const IntegratorSettings& settings, const State& s0, double end) {
  auto integrator = make_integrator(quiet(settings), problem);
  integrator->start(s0);
  while (integrator->state().t < end) integrator->step(end);
  return {integrator->state(), integrator->lambda()};
}

TEST(GeneralizedAlpha, ConvergesWithOrderTwoForAnyDissipation) {
  for (const double rho : {0.0, 0.5, 0.8, 0.95, 1.0}) {
    Oscillator problem;
    const auto error = [&](int n) {
      IntegratorSettings settings = fixed(Scheme::generalized_alpha, 3.0 / n);
      settings.rho_inf = rho;
      const State s = run(problem, settings, Oscillator::initial(), 3.0).s;
      return std::hypot(s.q[0] - problem.x(3), s.v[0] - problem.v(3));
    };
    EXPECT_NEAR(order(error(100), error(200)), 2, 0.05) << rho;
  }
}

TEST(GeneralizedAlpha, PendulumPositionsVelocitiesAndMultiplierConvergeWithOrderTwo) {
  CartesianPendulum pendulum;
  const double t = 1.7;
  const State exact = CartesianPendulum::exact(t);
  const auto errors = [&](int n) {
    const Result r = run(pendulum, fixed(Scheme::generalized_alpha, t / n), CartesianPendulum::initial(), t);
    return Vec3((r.s.q - exact.q).norm(), (r.s.v - exact.v).norm(),
                std::abs(r.lambda[0] - CartesianPendulum::exact_lambda(t)));
  };
  const Vec3 coarse = errors(200), fine = errors(400);
  for (int i = 0; i < 3; ++i)
    EXPECT_NEAR(order(coarse[i], fine[i]), 2, 0.15) << i << " " << coarse[i] << " " << fine[i];
}

TEST(GeneralizedAlpha, RefusesToKeepTheFastestOscillationsOfConstraints) {
  CartesianPendulum pendulum;
  IntegratorSettings settings = fixed(Scheme::generalized_alpha, 0.01);
  settings.rho_inf = 0.99;
  try {
    make_integrator(settings, pendulum);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("rho_infinity = 0.99"), std::string::npos) << error.what();
  }
  Oscillator free;
  EXPECT_NO_THROW(make_integrator(settings, free));
}

TEST(GeneralizedAlpha, TheMultiplierIsOfSecondOrderFromTheFirstStepsOn) {
  CartesianPendulum pendulum;
  const auto worst = [&](int n) {
    const double end = 0.5;
    auto integrator = make_integrator(fixed(Scheme::generalized_alpha, end / n), pendulum);
    integrator->start(CartesianPendulum::exact(0.3));
    double largest = 0;
    while (integrator->state().t < 0.3 + end - 1e-9) {
      integrator->step(0.3 + end);
      largest =
          std::max(largest, std::abs(integrator->lambda()[0] - CartesianPendulum::exact_lambda(integrator->state().t)));
    }
    return largest;
  };
  EXPECT_GT(order(worst(100), worst(200)), 1.8);
}

TEST(GeneralizedAlpha, HeavyTopConvergesWithOrderTwoIncludingTheReaction) {
  // Reference: the same top as a rotation about its fixed point, Dormand-Prince at 1e-12.
  MinimalTop minimal;
  IntegratorSettings sharp;
  sharp.relative_tolerance = sharp.absolute_tolerance = 1e-12;
  auto reference = make_integrator(sharp, minimal);
  reference->start(MinimalTop::initial());
  const double t = 0.5;
  while (reference->state().t < t) reference->step(t);
  const State exact = MinimalTop::spread(reference->state());
  const Vec3 reaction = MinimalTop::reaction(reference->state(), reference->acceleration());
  HeavyTop top;
  const auto errors = [&](int n) {
    const Result r = run(top, fixed(Scheme::generalized_alpha, t / n), HeavyTop::initial(), t);
    return Vec3((r.s.q - exact.q).norm(), (r.s.v - exact.v).norm(), (r.lambda - reaction).norm());
  };
  const Vec3 coarse = errors(400), fine = errors(800);
  for (int i = 0; i < 3; ++i)
    EXPECT_NEAR(order(coarse[i], fine[i]), 2, 0.15) << i << " " << coarse[i] << " " << fine[i];
}

TEST(GeneralizedAlpha, PositionsAndVelocitiesBothSatisfyTheConstraints) {
  HeavyTop top;
  auto integrator = make_integrator(fixed(Scheme::generalized_alpha, 1e-3), top);
  integrator->start(HeavyTop::initial());
  Vec phi(3), residual(3);
  for (int i = 0; i < 300; ++i) {
    integrator->step(1e9);
    top.constraints(integrator->state(), phi, residual);
    ASSERT_LT(phi.cwiseAbs().maxCoeff(), 1e-13);
    ASSERT_LT(residual.cwiseAbs().maxCoeff(), 1e-11);
  }
}

TEST(GeneralizedAlpha, TheSolutionDoesNotDependOnTheScalingOfTheConstraints) {
  // V-1: k times 100 and k / 100 change nothing beyond the Newton tolerance.
  HeavyTop top;
  IntegratorSettings settings = fixed(Scheme::generalized_alpha, 1e-3);
  const Result plain = run(top, settings, HeavyTop::initial(), 0.3);
  for (const double k : {100.0, 0.01}) {
    settings.constraint_scaling = k;
    const Result scaled = run(top, settings, HeavyTop::initial(), 0.3);
    EXPECT_LT((scaled.s.q - plain.s.q).norm(), 1e-10);
    EXPECT_LT((scaled.s.v - plain.s.v).norm(), 1e-8);
    EXPECT_LT((scaled.lambda - plain.lambda).norm(), 1e-6 * plain.lambda.norm());
  }
}

TEST(GeneralizedAlpha, ARowStatedTwiceSharesTheLoadAndChangesNothingElse) {
  CartesianPendulum once(1), twice(2);
  const IntegratorSettings settings = fixed(Scheme::generalized_alpha, 0.005);
  const Result a = run(once, settings, CartesianPendulum::initial(), 2);
  const Result b = run(twice, settings, CartesianPendulum::initial(), 2);
  EXPECT_LT((a.s.q - b.s.q).norm(), 1e-10);
  EXPECT_LT((a.s.v - b.s.v).norm(), 1e-8);
  EXPECT_NEAR(a.lambda[0], b.lambda.sum(), 1e-6);
  EXPECT_NEAR(b.lambda[0], b.lambda[1], 1e-5);
}

TEST(GeneralizedAlpha, KnifeEdgeAndItsSideForceConvergeWithOrderTwo) {
  KnifeEdge edge;
  const auto errors = [&](int n) {
    const Result r = run(edge, fixed(Scheme::generalized_alpha, 2.0 / n), KnifeEdge::initial(), 2.0);
    return Vec3((r.s.q - KnifeEdge::exact(2).q).norm(), (r.s.v - KnifeEdge::exact(2).v).norm(),
                std::abs(r.lambda[0] - KnifeEdge::exact_lambda(2)));
  };
  const Vec3 coarse = errors(200), fine = errors(400);
  for (int i = 0; i < 3; ++i) EXPECT_GT(order(coarse[i], fine[i]), 1.8) << i << " " << coarse[i] << " " << fine[i];
}

TEST(GeneralizedAlpha, DrivenMassAndItsDriveForceConvergeWithOrderTwo) {
  DrivenMass problem;
  const auto errors = [&](int n) {
    const Result r = run(problem, fixed(Scheme::generalized_alpha, 3.0 / n), DrivenMass::initial(), 3.0);
    return Vec3(std::abs(r.s.q[1] - DrivenMass::B() * std::sin(DrivenMass::W * 3)),
                std::abs(r.s.v[1] - DrivenMass::B() * DrivenMass::W * std::cos(DrivenMass::W * 3)),
                std::abs(r.lambda[0] - DrivenMass::exact_lambda(3)));
  };
  const Vec3 coarse = errors(400), fine = errors(800);
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(order(coarse[i], fine[i]), 2, 0.2) << i << " " << coarse[i] << " " << fine[i];
}

TEST(GeneralizedAlpha, InnerStatesConvergeWithOrderTwo) {
  LaggedForce problem;
  const auto error = [&](int n) {
    const State s = run(problem, fixed(Scheme::generalized_alpha, 1.0 / n), LaggedForce::initial(), 1.0).s;
    return Vec3(std::abs(s.q[0] - LaggedForce::x(1)), std::abs(s.v[0] - LaggedForce::v(1)),
                std::abs(s.z[0] - LaggedForce::z(1)));
  };
  const Vec3 coarse = error(100), fine = error(200);
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(order(coarse[i], fine[i]), 2, 0.1) << i;
}

TEST(GeneralizedAlpha, TinyStepsKeepTheirMultipliers) {
  // h = 1e-6: entries of an unscaled matrix would differ by 1e12. The reaction at rest is that of the closed form; phi
  // is only known to rounding, 1e-16 l^2, which h^2 turns into about 1e-3 of the acceleration scale.
  CartesianPendulum pendulum;
  const Result r = run(pendulum, fixed(Scheme::generalized_alpha, 1e-6), CartesianPendulum::exact(0.3), 0.3 + 2e-4);
  EXPECT_NEAR(r.lambda[0], CartesianPendulum::exact_lambda(0.3 + 2e-4), 5e-3 * std::abs(r.lambda[0]));
}

TEST(GeneralizedAlpha, FewIterationsAStep) {
  HeavyTop top;
  auto integrator = make_integrator(fixed(Scheme::generalized_alpha, 1e-3), top);
  integrator->start(HeavyTop::initial());
  int iterations = 0;
  for (int i = 0; i < 500; ++i) iterations += integrator->step(1e9).newton_iterations;
  EXPECT_LT(iterations, 500 * 6);
  RecordProperty("iterations_per_step", std::to_string(iterations / 500.0));
}

}  // namespace
}  // namespace clatter::test
