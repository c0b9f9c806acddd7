// Runs: consistent starts, outputs at their times, ledger, checkpoints that repeat the digits.
#include <gtest/gtest.h>

#include <numbers>

#include "base/error.hpp"
#include "integrate/initial.hpp"
#include "integrate/run.hpp"
#include "integrate/studies.hpp"

namespace clatter::test {
namespace {

TEST(Initial, PositionsAndVelocitiesAreMovedOntoTheConstraints) {
  CartesianPendulum pendulum;
  State s = make_state(vec({1.0, -1.3}), vec({0.3, 0.4}));
  const InitialReport report = make_consistent(pendulum, s);
  Vec phi(1), residual(1);
  pendulum.constraints(s, phi, residual);
  EXPECT_LT(std::abs(phi[0]), 1e-13);
  EXPECT_LT(std::abs(residual[0]), 1e-13);
  // The smallest correction is radial: the point moves along its own direction, the velocity keeps its tangential part.
  EXPECT_NEAR(s.q[0] / s.q[1], 1.0 / -1.3, 1e-12);
  const Vec tangent = vec({-s.q[1], s.q[0]}) / s.q.norm();
  EXPECT_NEAR(s.v.dot(tangent), vec({0.3, 0.4}).dot(tangent), 1e-13);
  EXPECT_GT(report.position_correction, 0.01);
  EXPECT_NEAR(report.lambda[0], (-2 * s.v.squaredNorm() + 2 * 9.81 * s.q[1]) / 2.25, 1e-10);
}

TEST(Initial, AnInconsistentStartThatMustNotMoveIsRefusedByName) {
  CartesianPendulum pendulum;
  InitialSettings fixed_start;
  fixed_start.adjust_positions = fixed_start.adjust_velocities = false;
  State s = make_state(vec({1.0, -1.3}), vec({0, 0}));
  try {
    make_consistent(pendulum, s, fixed_start);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("row 0"), std::string::npos);
  }
  State moving = CartesianPendulum::initial();
  moving.v = vec({1, 1});
  EXPECT_THROW(make_consistent(pendulum, moving, fixed_start), InputError);
  State good = CartesianPendulum::initial();
  EXPECT_NO_THROW(make_consistent(pendulum, good, fixed_start));
}

TEST(Initial, AnImpossibleAssemblyIsReportedByName) {
  // Rows y = 1 and y = 2 for one coordinate cannot both hold.
  class Impossible : public SmallDynamics {
   public:
    Impossible() : SmallDynamics(1, 0, 2, 0) {}
    void terms(const State& s, Terms& t) const override {
      t.M(0, 0) = 1;
      t.G.setOnes();
      t.phi[0] = s.q[0] - 1;
      t.phi[1] = s.q[0] - 2;
    }
  } problem;
  State s = make_state(vec({0}), vec({0}));
  try {
    make_consistent(problem, s);
    FAIL();
  } catch (const SolveError& error) {
    EXPECT_EQ(error.kind(), "constraints-contradict");
    EXPECT_EQ(error.elements().size(), 2u);
  }
}

class Runs : public ::testing::TestWithParam<Scheme> {
 protected:
  RunSettings settings() const {
    RunSettings s;
    s.integrator.scheme = GetParam();
    s.integrator.step = GetParam() == Scheme::dopri5 || GetParam() == Scheme::radau5 ? 0 : 0.002;
    s.end = 2;
    s.output_step = 0.05;
    s.checkpoint_interval = 0.3;
    return s;
  }
};

TEST_P(Runs, OutputsLieAtMultiplesAndOnTheSolution) {
  CartesianPendulum pendulum;
  std::vector<double> times;
  double worst = 0, worst_phi = 0, worst_lambda = 0;
  RunCallbacks callbacks;
  Vec phi(1), residual(1);
  callbacks.on_output = [&](const Sample& sample) {
    times.push_back(sample.s.t);
    worst = std::max(worst, (sample.s.q - CartesianPendulum::exact(sample.s.t).q).norm());
    worst_lambda = std::max(worst_lambda, std::abs(sample.lambda[0] - CartesianPendulum::exact_lambda(sample.s.t)));
    pendulum.constraints(sample.s, phi, residual);
    worst_phi = std::max({worst_phi, std::abs(phi[0]), std::abs(residual[0])});
  };
  const RunSummary summary = simulate(pendulum, CartesianPendulum::initial(), settings(), callbacks);
  EXPECT_TRUE(summary.finished);
  ASSERT_EQ(times.size(), 41u);
  for (std::size_t i = 0; i < times.size(); ++i) EXPECT_NEAR(times[i], 0.05 * static_cast<double>(i), 1e-12);
  const bool second_order = GetParam() == Scheme::generalized_alpha || GetParam() == Scheme::verlet;
  EXPECT_LT(worst, second_order ? 1e-4 : 1e-6);
  EXPECT_LT(worst_lambda, second_order ? 1e-2 : 1e-5);
  EXPECT_LT(worst_phi, 1e-11);
}

TEST_P(Runs, AContinuedRunGivesTheSameOutputsToTheLastDigit) {
  DrivenMass problem;
  std::vector<std::vector<double>> whole, rest;
  std::vector<double> memory;
  double saved_at = -1;
  RunCallbacks callbacks;
  const auto record = [](std::vector<std::vector<double>>& into) {
    return [&into](const Sample& s) {
      into.push_back({s.s.t, s.s.q[0], s.s.q[1], s.s.v[0], s.s.v[1], s.a[1], s.lambda[0], s.W[0], s.remainder});
    };
  };
  callbacks.on_output = record(whole);
  int checkpoints = 0;
  callbacks.on_checkpoint = [&](double t, std::span<const double> m) {
    if (++checkpoints != 3) return;
    saved_at = t;
    memory.assign(m.begin(), m.end());
  };
  const RunSummary first = simulate(problem, DrivenMass::initial(), settings(), callbacks);
  ASSERT_GT(saved_at, 0.8);
  RunCallbacks later;
  later.on_output = record(rest);
  DrivenMass again;
  clatter::Run run(again, settings(), later);
  run.restore(DrivenMass::initial(), memory);
  const RunSummary second = run.go();
  ASSERT_GT(rest.size(), 5u);
  for (std::size_t i = 0; i < rest.size(); ++i) EXPECT_EQ(rest[rest.size() - 1 - i], whole[whole.size() - 1 - i]);
  EXPECT_GT(rest.front()[0], saved_at);
  EXPECT_EQ(first.steps, second.steps);
  EXPECT_EQ(first.largest_remainder, second.largest_remainder);
}

TEST_P(Runs, TheLedgerOfADrivenSystemCloses) {
  DrivenMass problem;
  const RunSummary summary = simulate(problem, DrivenMass::initial(), settings());
  const bool second_order = GetParam() == Scheme::generalized_alpha || GetParam() == Scheme::verlet;
  // Energies are of the order of 1 J.
  EXPECT_LT(summary.largest_remainder, second_order ? 1e-3 : 1e-6);
  EXPECT_GT(summary.largest_remainder, 0);
}

INSTANTIATE_TEST_SUITE_P(Schemes, Runs,
                         ::testing::Values(Scheme::verlet, Scheme::rk4, Scheme::dopri5, Scheme::generalized_alpha,
                                           Scheme::radau5));

TEST(Run, StopsWhenAsked) {
  Oscillator problem;
  RunSettings settings;
  settings.integrator = fixed(Scheme::rk4, 0.01);
  settings.end = 100;
  std::atomic<bool> stop = false;
  RunCallbacks callbacks;
  callbacks.stop = &stop;
  callbacks.on_progress = [&](const Progress& p) { stop = p.t > 1; };
  const RunSummary summary = simulate(problem, Oscillator::initial(), settings, callbacks);
  EXPECT_FALSE(summary.finished);
  EXPECT_LT(summary.steps, 110);
}

TEST(Run, EventsAreReportedByTheirNameAndState) {
  Play problem;
  RunSettings settings;
  settings.end = 12;
  settings.output_step = 0.1;
  std::vector<int> seen;
  RunCallbacks callbacks;
  callbacks.on_event = [&](const State& s, const std::vector<StepEvent>& events) {
    for (const StepEvent& event : events) {
      const int e = event.element == problem.event_name(0) ? 0 : 1;
      EXPECT_EQ(event.element, problem.event_name(e));
      seen.push_back(e);
      EXPECT_NEAR(s.q[0], e == 0 ? Play::p : -Play::p, 1e-9);
    }
  };
  const RunSummary summary = simulate(problem, Play::initial(), settings, callbacks);
  EXPECT_EQ(seen, (std::vector<int>{0, 0, 1, 1, 0, 0, 1, 1, 0}));
  EXPECT_EQ(summary.events, 9);
}

TEST(Run, EventsThatFollowEachOtherFastLeaveNoMoreThanAStatedNumberOfSamplesBetweenTwoOutputs) {
  // Uniform motion past a mark every millimetre, 1 m/s.
  class Marks : public SmallDynamics {
   public:
    Marks() : SmallDynamics(1, 0, 0, 0, {}, 0, 1) {}
    void terms(const State&, Terms& t) const override { t.M(0, 0) = 1; }
    void event_functions(const State& s, Vec& g) const override { g[0] = std::cos(1000 * std::numbers::pi * s.q[0]); }
  } problem;
  RunSettings settings;
  settings.end = 1;
  settings.integrator = fixed(Scheme::rk4, 2e-4);
  settings.output_step = 0.1;
  settings.most_events = 20;
  long events = 0, recorded = 0, left_out = 0, samples = 0;
  RunCallbacks callbacks;
  callbacks.on_output = [&](const Sample&) { ++samples; };
  clatter::Run* self = nullptr;
  callbacks.on_event = [&](const State&, const std::vector<StepEvent>& list) {
    for (const StepEvent& event : list) {
      if (event.what == "left out") {
        left_out += std::stol(event.detail);
        continue;
      }
      ++events;
      if (self->recorded()) ++recorded;
    }
  };
  clatter::Run run(problem, settings, callbacks);
  self = &run;
  run.start(make_state(vec({0}), vec({1})));
  const RunSummary summary = run.go();
  EXPECT_TRUE(summary.finished);
  EXPECT_EQ(events, 1000);
  EXPECT_EQ(summary.events, events);  // all are counted
  EXPECT_EQ(recorded + left_out, events);
  EXPECT_EQ(recorded, 10 * 20);
  EXPECT_LE(samples, 11 + 2 * recorded);
}

TEST(Run, AStepThatCannotMeetItsToleranceNamesTheCoordinate) {
  class Wild : public SmallDynamics {
   public:
    Wild() : SmallDynamics(2, 0, 0, 0) {}
    void terms(const State& s, Terms& t) const override {
      t.M.setIdentity();
      t.h[1] = 1 / ((1 - s.t) * (1 - s.t));
    }
  } problem;
  RunSettings settings;
  settings.integrator.min_step = 1e-9;
  settings.end = 2;
  try {
    simulate(problem, make_state(vec({0, 0}), vec({0, 0})), settings);
    FAIL();
  } catch (const SolveError& error) {
    EXPECT_EQ(error.kind(), "step-too-small");
    EXPECT_EQ(error.elements().front(), "velocity 1");
    EXPECT_NEAR(error.time(), 1, 1e-3);
  }
}

}  // namespace
}  // namespace clatter::test
