// Events: found in order, at their time, once.
#include <gtest/gtest.h>

#include <numbers>

#include "integrate/studies.hpp"

namespace clatter::test {
namespace {

constexpr double kPi = std::numbers::pi;

struct Found {
  double t;
  int index;
};

std::vector<Found> all_events(Dynamics& problem, const IntegratorSettings& settings, const State& s0, double end) {
  auto integrator = make_integrator(settings, problem);
  integrator->start(s0);
  std::vector<Found> found;
  int guard = 0;
  while (integrator->state().t < end && ++guard < 200000) {
    if (integrator->step(end).at_event) {
      for (const int index : integrator->fired()) found.push_back({integrator->state().t, index});
    }
  }
  return found;
}

std::vector<Scheme> schemes() { return {Scheme::dopri5, Scheme::rk4, Scheme::radau5}; }

IntegratorSettings sharp(Scheme scheme) {
  IntegratorSettings settings;
  settings.scheme = scheme;
  settings.relative_tolerance = settings.absolute_tolerance = 1e-13;
  if (scheme == Scheme::rk4) settings.step = 1e-3;
  return settings;
}

TEST(Events, CrossingsOfTheOscillatorAreFoundAtTheirTimesInOrder) {
  // x = cos t: x = 0.3 at +-acos 0.3 + 2 pi k, x' = 0 at k pi. At t = 0 the function x' stands on its zero.
  for (const Scheme scheme : schemes()) {
    Oscillator problem;
    const auto found = all_events(problem, sharp(scheme), Oscillator::initial(), 10);
    const double a = std::acos(0.3);
    const std::vector<Found> expected{{a, 0}, {kPi, 1}, {2 * kPi - a, 0}, {2 * kPi, 1}, {2 * kPi + a, 0}, {3 * kPi, 1}};
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(found[i].t, expected[i].t, 1e-12 + (scheme == Scheme::rk4 ? 1e-12 : 0)) << i;
      EXPECT_EQ(found[i].index, expected[i].index);
    }
  }
}

TEST(Events, TwoCrossingsWithinOneStepAreBothFound) {
  // With loose tolerance a step covers about a second; x dips below -0.99 for 2 acos(0.99) = 0.283 s.
  Oscillator problem(1, 0, -0.9);
  IntegratorSettings settings;
  settings.relative_tolerance = settings.absolute_tolerance = 1e-4;
  const auto found = all_events(problem, settings, Oscillator::initial(), 5);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_NEAR(found[0].t, std::acos(-0.9), 1e-3);
  EXPECT_NEAR(found[1].t, kPi, 1e-3);
  EXPECT_NEAR(found[2].t, 2 * kPi - std::acos(-0.9), 1e-3);
}

// x(t) = t, a step of one second: below zero between 0.59 and 0.61, between two of the five places where
// the step is looked at; the polynomial through these shows it.
class Dip : public SmallDynamics {
 public:
  Dip() : SmallDynamics(1, 0, 0, 0, {}, 0, 1) {}
  void terms(const State&, Terms& t) const override { t.M(0, 0) = 1; }
  void event_functions(const State& s, Vec& g) const override {
    const double x = s.q[0] - 0.6;
    g[0] = (x * x - 1e-4) * (1 + 0.5 * x);
  }
};

TEST(Events, AFunctionThatDipsBelowZeroBetweenTheLooksOfAStepIsFound) {
  for (const Scheme scheme : schemes()) {
    Dip problem;
    IntegratorSettings settings = sharp(scheme);
    settings.step = 1;
    const auto found = all_events(problem, settings, make_state(vec({0}), vec({1})), 1);
    ASSERT_EQ(found.size(), 2u) << static_cast<int>(scheme);
    EXPECT_NEAR(found[0].t, 0.59, 1e-12);
    EXPECT_NEAR(found[1].t, 0.61, 1e-12);
  }
}

TEST(Events, FlanksOfPlayAreMetToTwelveDigitsThoughTheForceHasAKinkThere) {
  // Crossing the play takes 2 p / v0, the first time p / v0; a stay in a spring pi / sqrt(k).
  Play problem;
  const auto found = all_events(problem, sharp(Scheme::dopri5), Play::initial(), 12);
  std::vector<double> expected;
  double t = Play::p / Play::v0;
  while (t < 12) {
    expected.push_back(t);
    t += expected.size() % 2 ? kPi / std::sqrt(Play::k) : 2 * Play::p / Play::v0;
  }
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(found[i].t, expected[i], 1e-11) << i;
}

// The oscillator without a look at its events.
class Unwatched : public Oscillator {
 public:
  using Oscillator::Oscillator;
  void event_functions(const State&, Vec& g) const override { g.setOnes(); }
};

TEST(Events, LandingOnOneTakesAFewAttempts) {
  // Secants from a start that the dense output gives to the step's own accuracy: three attempts lead to rounding, the
  // fourth tells. An attempt has six evaluations, and the next step begins at a place of its own.
  for (const double tolerance : {1e-4, 1e-6, 1e-8, 1e-11}) {
    IntegratorSettings settings;
    settings.relative_tolerance = settings.absolute_tolerance = tolerance;
    Oscillator watched;
    Unwatched plain;
    const auto found = all_events(watched, settings, Oscillator::initial(), 100);
    all_events(plain, settings, Oscillator::initial(), 100);
    ASSERT_EQ(found.size(), 63u);
    const double more = static_cast<double>(watched.evaluations - plain.evaluations) / 63;
    EXPECT_LT(more, 6 * 5 + 6) << tolerance;
  }
}

TEST(Events, ARestartOnAnEventDoesNotFindItAgain) {
  Oscillator problem;
  auto integrator = make_integrator(sharp(Scheme::dopri5), problem);
  integrator->start(Oscillator::initial());
  while (!integrator->step(10).at_event) {
  }
  const double t = integrator->state().t;
  std::vector<double> memory(integrator->memory_size());
  integrator->save(memory);
  auto other = make_integrator(sharp(Scheme::dopri5), problem);
  other->start(Oscillator::initial());
  other->restore(memory);
  while (!other->step(10).at_event) {
  }
  EXPECT_GT(other->state().t, t + 0.5);
}

}  // namespace
}  // namespace clatter::test
