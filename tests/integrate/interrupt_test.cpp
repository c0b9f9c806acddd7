// A wish to stop ends a run within a step that lasts, not after it, with the last accepted state kept.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

#include "base/interrupt.hpp"
#include "integrate/run.hpp"
#include "integrate/studies.hpp"

namespace clatter::test {
namespace {

// An oscillator that asks for a stop at its n-th evaluation after `armed`, as a user would in the middle of a step.
class Impatient : public Oscillator {
 public:
  Impatient(std::atomic<bool>& wish, long at) : wish_(wish), at_(at) {}
  void terms(const State& s, Terms& t) const override {
    Oscillator::terms(s, t);
    if (armed && ++count == at_) wish_ = true;
  }
  bool armed = false;
  mutable long count = 0;

 private:
  std::atomic<bool>& wish_;
  long at_;
};

struct Stopped {
  RunSummary summary;
  double t = 0;
  long evaluations = 0;
};

Stopped stopped(Scheme scheme, double first_step) {
  std::atomic<bool> wish = false;
  Impatient problem(wish, 3);
  RunSettings settings;
  settings.integrator.scheme = scheme;
  settings.integrator.step = first_step;
  settings.integrator.relative_tolerance = 1e-12;
  settings.integrator.absolute_tolerance = 1e-14;
  settings.end = 1e3;
  Run run(problem, settings, {});
  run.start(Oscillator::initial());
  problem.armed = true;
  const InterruptScope scope(&wish);
  Stopped out;
  out.summary = run.go();
  out.t = run.state().t;
  out.evaluations = problem.count;
  return out;
}

// A first step a thousand times too long is rejected again and again; the wish comes in its first attempt. Each attempt
// (six evaluations of dopri5; three stages, iterations and tangents of radau5) is the most that may follow it, and no
// step has been made. Without the look inside the step the run would go on to its first accepted one.
TEST(Interrupt, AStepThatIsRepeatedAgainAndAgainEndsWithTheAttemptAtHand) {
  for (const Scheme scheme : {Scheme::dopri5, Scheme::radau5, Scheme::bdf, Scheme::generalized_alpha}) {
    const Stopped s = stopped(scheme, 500);
    EXPECT_FALSE(s.summary.finished);
    EXPECT_EQ(s.summary.steps, 0) << static_cast<int>(scheme);
    EXPECT_EQ(s.t, 0) << "the state is the one before the step";
  }
}

// Uniform motion past a thousand marks a second in one step of a second: the wish comes while the first of them is
// searched for, and ends the search at its next look.
TEST(Interrupt, ASearchForEventsEndsWithTheLookAtHand) {
  class Marks : public SmallDynamics {
   public:
    explicit Marks(std::atomic<bool>& wish) : SmallDynamics(1, 0, 0, 0, {}, 0, 1), wish_(wish) {}
    void terms(const State&, Terms& t) const override { t.M(0, 0) = 1; }
    void event_functions(const State& s, Vec& g) const override {
      g[0] = std::cos(3000 * s.q[0]);
      if (armed && ++looks == at) wish_ = true;
    }
    bool armed = false;
    long at = 0;
    mutable long looks = 0;

   private:
    std::atomic<bool>& wish_;
  };
  // The looks along the step, the root on the dense output, the repeated steps.
  for (const long at : {1, 3, 8, 12}) {
    std::atomic<bool> wish = false;
    Marks problem(wish);
    RunSettings settings;
    settings.integrator.scheme = Scheme::dopri5;
    settings.integrator.step = 1;
    settings.end = 1;
    clatter::Run run(problem, settings, {});
    run.start(make_state(vec({0}), vec({1})));
    problem.armed = true;
    problem.at = at;
    const InterruptScope scope(&wish);
    EXPECT_FALSE(run.go().finished);
    EXPECT_EQ(run.summary().steps, 0) << at;
    EXPECT_EQ(run.state().t, 0) << at;
    // The look after it sees the wish, and so does the attempt after it.
    EXPECT_LE(problem.looks, at + 1) << at;
  }
}

// Outputs may be far denser than steps (a mistaken unit: 1e-30 s): the wish comes with the sixth of ten thousand in the
// first step, and no further one is written.
TEST(Interrupt, OutputsThatAreFarDenserThanStepsEndWithTheOneAtHand) {
  std::atomic<bool> wish = false;
  Oscillator problem;
  RunSettings settings;
  settings.integrator.scheme = Scheme::rk4;
  settings.integrator.step = 0.1;
  settings.output_step = 1e-5;
  settings.end = 1;
  long written = 0;
  RunCallbacks callbacks;
  callbacks.on_output = [&](const Sample&) { wish = ++written == 6; };
  clatter::Run run(problem, settings, callbacks);
  run.start(Oscillator::initial());
  const InterruptScope scope(&wish);
  const RunSummary summary = run.go();
  EXPECT_FALSE(summary.finished);
  EXPECT_EQ(written, 6);
}

TEST(Interrupt, WithoutAnAnnouncedWishNothingIsLookedAt) {
  EXPECT_NO_THROW(leave_if_interrupted());
  const std::atomic<bool> wish = true;
  {
    const InterruptScope scope(&wish);
    EXPECT_THROW(leave_if_interrupted(), Interrupted);
  }
  EXPECT_NO_THROW(leave_if_interrupted());
}

}  // namespace
}  // namespace clatter::test
