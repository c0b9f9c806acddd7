// Linearisation and state-transition matrices against closed forms and against differences of whole trajectories.
#include "analysis/transition.hpp"

#include <gtest/gtest.h>

#include "integrate/studies.hpp"

namespace clatter::test {
namespace {

IntegratorSettings sharp(Scheme scheme, double step = 0) {
  IntegratorSettings settings;
  settings.scheme = scheme;
  settings.step = step;
  settings.relative_tolerance = settings.absolute_tolerance = 1e-12;
  return settings;
}

Mat transition(Dynamics& problem, const IntegratorSettings& settings, const State& s0, double end) {
  Transition run(problem, settings);
  run.start(s0);
  run.advance_to(end);
  return run.matrix();
}

State shifted(const Dynamics& problem, const State& s, const Vec& x) {
  const Sizes& n = problem.sizes();
  State out = s;
  const Vec u = x.head(n.nv);
  problem.plus(s.q, u, out.q);
  out.v += x.segment(n.nv, n.nv);
  out.z += x.tail(n.nz);
  return out;
}

// Central difference of the end state of whole trajectories in the direction x.
Vec trajectory_difference(Dynamics& problem, const State& s0, const Vec& x, double end, double eps) {
  const Sizes& n = problem.sizes();
  const State plus = run_to(problem, sharp(Scheme::dopri5), shifted(problem, s0, eps * x), end);
  const State minus = run_to(problem, sharp(Scheme::dopri5), shifted(problem, s0, -eps * x), end);
  const State middle = run_to(problem, sharp(Scheme::dopri5), s0, end);
  Vec up(n.nv), um(n.nv), d(2 * n.nv + n.nz);
  problem.minus(plus.q, middle.q, up);
  problem.minus(minus.q, middle.q, um);
  d << up - um, plus.v - minus.v, plus.z - minus.z;
  return d / (2 * eps);
}

TEST(Transition, OfTheOscillatorIsTheRotationOfItsPhasePlane) {
  // Phi = [cos wt, sin wt / w; -w sin wt, cos wt].
  const double w = 2, t = 3;
  Mat expected(2, 2);
  expected << std::cos(w * t), std::sin(w * t) / w, -w * std::sin(w * t), std::cos(w * t);
  Oscillator problem(w);
  EXPECT_LT((transition(problem, quiet(sharp(Scheme::dopri5)), Oscillator::initial(), t) - expected).norm(), 1e-9);
  EXPECT_LT((transition(problem, quiet(sharp(Scheme::rk4, 0.002)), Oscillator::initial(), t) - expected).norm(), 1e-9);
  EXPECT_LT((transition(problem, quiet(sharp(Scheme::radau5)), Oscillator::initial(), t) - expected).norm(), 1e-8);
  EXPECT_LT(
      (transition(problem, quiet(sharp(Scheme::generalized_alpha, 0.002)), Oscillator::initial(), t) - expected).norm(),
      1e-4);
}

TEST(Transition, OfALaggedForceIsItsClosedForm) {
  // z = z0 e, v = v0 + tau z0 (1 - e), x = x0 + v0 t + tau z0 t - tau^2 z0 (1 - e), e = exp(-t/tau).
  const double t = 1.3, tau = LaggedForce::tau, e = std::exp(-t / tau);
  Mat expected(3, 3);
  expected << 1, t, tau * t - tau * tau * (1 - e), 0, 1, tau * (1 - e), 0, 0, e;
  LaggedForce problem;
  for (const Scheme scheme : {Scheme::dopri5, Scheme::radau5}) {
    EXPECT_LT((transition(problem, sharp(scheme), LaggedForce::initial(), t) - expected).norm(), 1e-8);
  }
}

TEST(Transition, OfASpinningTopAgreesWithDifferencesOfTrajectories) {
  MinimalTop top;
  const double t = 0.4;
  const Mat Phi = transition(top, sharp(Scheme::dopri5), MinimalTop::initial(), t);
  for (int j = 0; j < 6; ++j) {
    const Vec column = trajectory_difference(top, MinimalTop::initial(), Vec::Unit(6, j), t, 1e-5);
    // Central differences of trajectories of 1e-12: about 1e-7 of the largest entry.
    EXPECT_LT((Phi.col(j) - column).norm(), 1e-6 * Phi.norm()) << j;
  }
}

TEST(Transition, HasTheOrderOfItsScheme) {
  MinimalTop top;
  const double t = 0.2;
  const Mat exact = transition(top, sharp(Scheme::dopri5), MinimalTop::initial(), t);
  const auto error = [&](Scheme scheme, int n) {
    return (transition(top, fixed(scheme, t / n), MinimalTop::initial(), t) - exact).norm();
  };
  EXPECT_NEAR(order(error(Scheme::rk4, 40), error(Scheme::rk4, 80)), 4, 0.3);
  EXPECT_GT(order(error(Scheme::dopri5, 20), error(Scheme::dopri5, 40)), 4.6);
}

TEST(Transition, OfAConstrainedPendulumAgreesOnPerturbationsThatKeepTheConstraint) {
  for (const int copies : {1, 2}) {
    CartesianPendulum pendulum(copies);
    const State s0 = CartesianPendulum::exact(0.2);
    const double t = 1.1, l = CartesianPendulum::l, a = CartesianPendulum::angle(0.2), r = CartesianPendulum::rate(0.2);
    // d/d(angle) and d/d(rate) of (x, y, x', y').
    Mat direction(4, 2);
    direction << l * std::cos(a), 0, l * std::sin(a), 0, -l * std::sin(a) * r, l * std::cos(a), l * std::cos(a) * r,
        l * std::sin(a);
    const Mat Phi = transition(pendulum, sharp(Scheme::dopri5), s0, 0.2 + t);
    const auto run = [&](double da, double dr) {
      State s = s0;
      const double b = a + da, w = r + dr;
      s.q = vec({l * std::sin(b), -l * std::cos(b)});
      s.v = vec({l * std::cos(b) * w, l * std::sin(b) * w});
      const State end = run_to(pendulum, sharp(Scheme::dopri5), s, 0.2 + t);
      Vec x(4);
      x << end.q, end.v;
      return x;
    };
    const double eps = 1e-5;
    EXPECT_LT((Phi * direction.col(0) - (run(eps, 0) - run(-eps, 0)) / (2 * eps)).norm(), 1e-6);
    EXPECT_LT((Phi * direction.col(1) - (run(0, eps) - run(0, -eps)) / (2 * eps)).norm(), 1e-6);
  }
}

TEST(Transition, PassesContinuousEventsWithoutAJumpAndTakesJumpsWhereGiven) {
  // Play: the force is continuous at the flanks, the jump matrix the identity. Period by speed: crossing time p / v.
  Play problem;
  Transition run(problem, sharp(Scheme::dopri5));
  run.start(Play::initial());
  int events = 0;
  while (run.state().t < 3) events += run.step(3).at_event;
  EXPECT_EQ(events, 2);
  const Vec difference = [&] {
    const double eps = 1e-5;
    Vec d(2);
    State ends[2];
    for (int side = 0; side < 2; ++side) {
      State s = Play::initial();
      s.v[0] += side ? -eps : eps;
      auto integrator = make_integrator(sharp(Scheme::dopri5), problem);
      integrator->start(s);
      while (integrator->state().t < 3) integrator->step(3);
      ends[side] = integrator->state();
    }
    d << (ends[0].q[0] - ends[1].q[0]) / (2 * eps), (ends[0].v[0] - ends[1].v[0]) / (2 * eps);
    return d;
  }();
  // Second derivatives jump at the flanks: differences over 1e-5 are good to about that.
  EXPECT_LT((run.matrix().col(1) - difference).norm(), 1e-5);

  const Mat before = run.matrix();
  Jump jump{Mat::Identity(2, 2)};
  jump.S(1, 1) = -0.5;
  run.apply(jump);
  EXPECT_EQ(run.matrix().row(1), -0.5 * before.row(1));
  EXPECT_EQ(run.matrix().row(0), before.row(0));
}

TEST(StateMatrix, OfTheHeavyTopMatchesDifferencesOfAccelerations) {
  // With constraints, along a perturbation that keeps them: turning and spinning about the fixed point.
  HeavyTop top;
  const State s = HeavyTop::initial();
  Mat A;
  state_matrix(top, s, A);
  const auto perturbed = [&](const Vec& x) {
    State minimal = MinimalTop::initial();
    MinimalTop body;
    const Vec u = x.head(3);
    body.plus(minimal.q, u, minimal.q);
    minimal.v += x.tail(3);
    return MinimalTop::spread(minimal);
  };
  const double eps = 1e-6;
  for (int j = 0; j < 6; ++j) {
    const State plus = perturbed(eps * Vec::Unit(6, j)), minus = perturbed(-eps * Vec::Unit(6, j));
    Vec a[2] = {Vec(6), Vec(6)}, lambda(3), zdot(0), up(6), um(6), x(12);
    top.accelerations(plus, a[0], lambda, zdot);
    top.accelerations(minus, a[1], lambda, zdot);
    top.minus(plus.q, s.q, up);
    top.minus(minus.q, s.q, um);
    x << (up - um) / (2 * eps), (plus.v - minus.v) / (2 * eps);
    const Vec expected = (a[0] - a[1]) / (2 * eps);
    EXPECT_LT(((A * x).tail(6) - expected).norm(), 1e-5 * (1 + expected.norm())) << j;
  }
}

}  // namespace
}  // namespace clatter::test
