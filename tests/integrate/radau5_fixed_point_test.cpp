// RADAU5 with its stages found by fixed-point iteration: the same method as with Newton's, for short steps.
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "integrate/studies.hpp"

namespace clatter::test {
namespace {

IntegratorSettings fixed_point(IntegratorSettings settings) {
  settings.scheme = Scheme::radau5;
  settings.fixed_point = true;
  return settings;
}
IntegratorSettings sharp_fixed(double h) {
  IntegratorSettings settings = fixed(Scheme::radau5, h);
  settings.relative_tolerance = settings.absolute_tolerance = 1e-12;
  return settings;
}

TEST(Radau5FixedPoint, ConvergesWithOrderFive) {
  Oscillator problem;
  const auto error = [&](int n) {
    const State s = run_to(problem, fixed_point(sharp_fixed(3.0 / n)), Oscillator::initial(), 3.0);
    return std::hypot(s.q[0] - problem.x(3), s.v[0] - problem.v(3));
  };
  EXPECT_NEAR(order(error(10), error(20)), 5, 0.2);
}

// Both iterations solve the same equations for the stages: what is left is the tolerance of 1e-12 they stop at, over 40
// steps.
TEST(Radau5FixedPoint, FindsTheStagesThatNewtonFinds) {
  FreeBody body(Vec3(2, 2.5, 3));
  const State by_newton = run_to(body, sharp_fixed(0.05), FreeBody::initial(), 2.0);
  const State by_fixed_point = run_to(body, fixed_point(sharp_fixed(0.05)), FreeBody::initial(), 2.0);
  EXPECT_LT((by_newton.q - by_fixed_point.q).norm(), 1e-11);
  EXPECT_LT((by_newton.v - by_fixed_point.v).norm(), 1e-11);
}

TEST(Radau5FixedPoint, ControlsItsStepAndHoldsConstraints) {
  CartesianPendulum pendulum;
  IntegratorSettings settings;
  settings.relative_tolerance = settings.absolute_tolerance = 1e-9;
  const State s = run_to(pendulum, fixed_point(settings), CartesianPendulum::initial(), 3.0);
  // A hundred steps of the tolerance, and the swing's own growth of errors.
  EXPECT_LT((s.q - CartesianPendulum::exact(3).q).norm(), 1e-6);
  EXPECT_NEAR(s.q.norm(), CartesianPendulum::l, 1e-12);
}

// h times the fast rate (x^2 - 1)/eps = 3e4: far from a contraction.
TEST(Radau5FixedPoint, StopsWithANamedDiagnosisWhereItDoesNotContract) {
  VanDerPol problem(1e-6);
  try {
    run_to(problem, fixed_point(fixed(Scheme::radau5, 1e-2)), VanDerPol::initial(), 0.1);
    FAIL() << "no diagnosis";
  } catch (const SolveError& error) {
    EXPECT_EQ(error.kind(), "no-contraction");
    EXPECT_NE(std::string(error.what()).find("velocity 0"), std::string::npos) << error.what();
  }
}

TEST(Radau5FixedPoint, AContinuedRunRepeatsTheDigitsOfTheUninterruptedOne) {
  HeavyTop top;
  IntegratorSettings settings;
  settings.relative_tolerance = 1e-7;
  auto whole = make_integrator(fixed_point(settings), top);
  whole->start(HeavyTop::initial());
  for (int i = 0; i < 17; ++i) whole->step(1e3);
  whole->refresh();
  std::vector<double> memory(whole->memory_size());
  whole->save(memory);
  auto rest = make_integrator(fixed_point(settings), top);
  rest->start(HeavyTop::initial());
  rest->restore(memory);
  rest->refresh();
  for (int i = 0; i < 25; ++i) {
    whole->step(1e3);
    rest->step(1e3);
  }
  EXPECT_EQ(whole->state().q, rest->state().q);
  EXPECT_EQ(whole->state().v, rest->state().v);
}

}  // namespace
}  // namespace clatter::test
