// Runs that cannot go on end at once, by the name of what stops them (integrate/collapse.cpp,
// integrate/stall_watch.hpp).
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.hpp"
#include "integrate/problems.hpp"
#include "integrate/run.hpp"
#include "integrate/singular_watch.hpp"
#include "integrate/small_dynamics.hpp"

namespace clatter::test {
namespace {

// A bead without forces on the curve y^2 = x^3, on its way to the cusp at the origin: the gradient of the curve
// vanishes there, and what continues the velocity, x < 0, is not on it. Along the curve the way is (8/27) ((1 + 9 x /
// 4)^(3/2) - 1), at a speed of 1.
class Cusp : public SmallDynamics {
 public:
  Cusp() : SmallDynamics(2, 0, 1, 0) {}
  void terms(const State& s, Terms& t) const override {
    const double x = s.q[0], y = s.q[1], u = s.v[0], w = s.v[1];
    t.M.setIdentity();
    t.phi[0] = y * y - x * x * x;
    t.G(0, 0) = -3 * x * x;
    t.G(0, 1) = 2 * y;
    t.gamma[0] = -6 * x * u * u + 2 * w * w;
    sine_ = t.G.norm();
  }
  double constraint_sine() const override { return sine_; }
  std::vector<std::string> nearly_dependent() const override { return {"curve"}; }

  static State start() {
    const double x = 0.5, slope = 1.5 * std::sqrt(x), speed = std::hypot(1, slope);
    return make_state(vec({x, std::pow(x, 1.5)}), vec({-1 / speed, -slope / speed}));
  }

 private:
  mutable double sine_ = 1;
};

TEST(Collapse, ASingularPositionThatNoMotionContinuesEndsTheRunByName) {
  const double arrival = 8.0 / 27 * (std::pow(1 + 9 * 0.5 / 4, 1.5) - 1);
  for (const Scheme scheme : {Scheme::dopri5, Scheme::adams, Scheme::radau5, Scheme::bdf}) {
    Cusp problem;
    RunSettings settings;
    settings.integrator.scheme = scheme;
    settings.end = 2;
    try {
      simulate(problem, Cusp::start(), settings);
      FAIL() << "nothing goes on from the cusp";
    } catch (const SolveError& error) {
      EXPECT_EQ(error.kind(), "singular-position") << error.what();
      EXPECT_NEAR(error.time(), arrival, 1e-3);
      EXPECT_EQ(error.elements(), std::vector<std::string>{"curve"});
    }
  }
}

// Relay control: v' = -sign(q + v) brings the state onto q + v = 0, where the force would have to change its sign
// without end.
TEST(Collapse, EventsThatFollowEachOtherWithoutEndAreToldFrom) {
  class Relay : public SmallDynamics {
   public:
    Relay() : SmallDynamics(1, 0, 0, 0, {}, 0, 1) {}
    void terms(const State& s, Terms& t) const override {
      t.M.setIdentity();
      t.h[0] = s.q[0] + s.v[0] > 0 ? -1 : 1;
    }
    void event_functions(const State& s, Vec& g) const override { g[0] = s.q[0] + s.v[0]; }
  } problem;
  RunSettings settings;
  settings.end = 10;
  try {
    simulate(problem, make_state(vec({0.5}), vec({0.2})), settings);
    FAIL() << "a sliding mode is none of single events";
  } catch (const SolveError& error) {
    EXPECT_EQ(error.kind(), "events-accumulate") << error.what();
    EXPECT_EQ(error.elements().front(), problem.event_name(0));
  }
}

// |t - 1| sampled unevenly: told once, with the zero, also where the last step ends nearer to it than the one before.
TEST(SingularWatch, TellsAZeroOnceWhereverStepsEnd) {
  for (const double nearest : {0.3, 0.55, 0.9}) {
    SingularWatch watch;
    int told = 0;
    const double h = 0.1;
    for (int i = -8; i <= 8; ++i) {
      const double t = 1 + (i + nearest) * h;
      if (!watch.passed(t, std::abs(t - 1))) continue;
      ++told;
      EXPECT_NEAR(watch.time(), 1, 1e-12);
    }
    EXPECT_EQ(told, 1) << nearest;
  }
}

// sin(t) on its way down to pi is foretold by the parabola; a near miss is not taken for a zero.
TEST(SingularWatch, ForetellsAZeroButNoNearMiss) {
  SingularWatch watch, miss;
  for (const double t : {2.9, 3.0, 3.1}) {
    watch.passed(t, std::sin(t));
    miss.passed(t, std::hypot(0.3, std::sin(t)));
  }
  EXPECT_NEAR(watch.ahead(), M_PI, 1e-3);
  EXPECT_FALSE(std::isfinite(miss.ahead()));
}

}  // namespace
}  // namespace clatter::test
