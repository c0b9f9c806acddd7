// Runs of schemes with step control, and what all of them must reach at a tolerance, in one place: the tests of a
// scheme say with which accuracy.
#pragma once

#include <gtest/gtest.h>

#include <stdexcept>

#include "integrate/studies.hpp"

namespace clatter::test {

struct Result {
  State s;
  Vec lambda;
  int steps = 0, newton = 0, rejected = 0, highest = 0;  // highest order, of schemes that choose it
  double longest = 0;
};

template <class Stepping>
Result run_counted(Stepping& integrator, const State& s0, double end) {
  integrator.start(s0);
  Result result;
  while (integrator.state().t < end) {
    if constexpr (requires { integrator.order(); }) result.highest = std::max(result.highest, integrator.order());
    const StepReport& report = integrator.step(end);
    ++result.steps;
    result.newton += report.newton_iterations;
    result.rejected += report.rejected;
    result.longest = std::max(result.longest, report.h);
    if (result.steps > 200000) throw std::runtime_error("too many steps");
  }
  result.s = integrator.state();
  result.lambda = integrator.lambda();
  return result;
}

inline IntegratorSettings at_tolerance(Scheme scheme, double tol) {
  IntegratorSettings settings;
  settings.scheme = scheme;
  settings.relative_tolerance = settings.absolute_tolerance = tol;
  return settings;
}

inline Result run_scheme(Dynamics& problem, const IntegratorSettings& settings, const State& s0, double end) {
  auto integrator = make_integrator(quiet(settings), problem);
  return run_counted(*integrator, s0, end);
}

// Closed forms at tolerance 1e-9, positions to `accuracy`, multipliers to ten and a hundred times that.
inline void expect_closed_forms(Scheme scheme, double accuracy) {
  const IntegratorSettings settings = at_tolerance(scheme, 1e-9);
  KnifeEdge edge;
  const Result e = run_scheme(edge, settings, KnifeEdge::initial(), 2.0);
  EXPECT_LT((e.s.q - KnifeEdge::exact(2).q).norm(), accuracy);
  EXPECT_NEAR(e.lambda[0], KnifeEdge::exact_lambda(2), 10 * accuracy);
  DrivenMass driven;
  const Result d = run_scheme(driven, settings, DrivenMass::initial(), 3.0);
  EXPECT_NEAR(d.s.q[1], DrivenMass::B() * std::sin(DrivenMass::W * 3), accuracy);
  EXPECT_NEAR(d.lambda[0], DrivenMass::exact_lambda(3), 100 * accuracy);
  LaggedForce lagged;
  const Result l = run_scheme(lagged, settings, LaggedForce::initial(), 1.0);
  EXPECT_NEAR(l.s.q[0], LaggedForce::x(1), 0.1 * accuracy);
  EXPECT_NEAR(l.s.z[0], LaggedForce::z(1), 0.1 * accuracy);
}

// Positions and velocities satisfy the constraints to rounding after every step, also when they are stated twice.
inline void expect_constraints_held(Scheme scheme, double accuracy) {
  for (const int copies : {1, 2}) {
    CartesianPendulum pendulum(copies);
    auto integrator = make_integrator(at_tolerance(scheme, 1e-8), pendulum);
    integrator->start(CartesianPendulum::initial());
    Vec phi(copies), residual(copies);
    int steps = 0;
    while (integrator->state().t < 3) {
      integrator->step(3);
      ++steps;
      pendulum.constraints(integrator->state(), phi, residual);
      ASSERT_LT(phi.cwiseAbs().maxCoeff(), 1e-12);
      ASSERT_LT(residual.cwiseAbs().maxCoeff(), 1e-11);
    }
    EXPECT_LT((integrator->state().q - CartesianPendulum::exact(3).q).norm(), accuracy);
    EXPECT_NEAR(integrator->lambda().sum(), CartesianPendulum::exact_lambda(3), 10 * accuracy);
    EXPECT_LT(steps, 3000);
  }
}

// The heavy top on constraints meets the one on minimal coordinates, run at 1e-12, to `factor` tolerances. Velocities
// reach 15 rad/s, and some hundred steps add up.
inline void expect_heavy_top(Scheme scheme, std::initializer_list<double> tolerances, double factor) {
  MinimalTop minimal;
  const State exact =
      MinimalTop::spread(run_to(minimal, at_tolerance(Scheme::dopri5, 1e-12), MinimalTop::initial(), 1.0));
  HeavyTop top;
  for (const double tol : tolerances) {
    const Result r = run_scheme(top, at_tolerance(scheme, tol), HeavyTop::initial(), 1.0);
    EXPECT_LT((r.s.q - exact.q).norm(), factor * tol) << tol << " steps " << r.steps;
  }
}

// Hairer and Wanner, Solving ODEs II, IV.10, eps = 1e-6: x(2) = 1.706167732170483, x'(2) = -0.8928097010247975.
inline void expect_stiff_van_der_pol(Scheme scheme, int most_steps) {
  VanDerPol problem(1e-6);
  const Result r = run_scheme(problem, at_tolerance(scheme, 1e-7), VanDerPol::initial(), 2.0);
  EXPECT_NEAR(r.s.q[0], 1.706167732170483, 1e-5);
  EXPECT_NEAR(r.s.v[0], -0.8928097010247975, 1e-5);
  EXPECT_LT(r.steps, most_steps);
}

inline void expect_ledger_closes(Scheme scheme, double accuracy) {
  DrivenMass driven;
  auto integrator = make_integrator(at_tolerance(scheme, 1e-9), driven);
  integrator->start(DrivenMass::initial());
  while (integrator->state().t < 3) integrator->step(3);
  EXPECT_NEAR(driven.energy(integrator->state()) - driven.energy(DrivenMass::initial()), integrator->work()[0],
              accuracy);
}

}  // namespace clatter::test
