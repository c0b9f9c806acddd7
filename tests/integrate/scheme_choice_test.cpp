// Stiffness: explicit steps that stability keeps short are noticed, and where the program may choose radau5 goes on.
#include <gtest/gtest.h>

#include "integrate/run.hpp"
#include "integrate/studies.hpp"

namespace clatter::test {
namespace {

// A slow oscillator, w = 1, that carries a fast one, whose motion against it dies out by damping or never begins:
//   x'' = -x,   y'' = -w^2 (y - x) - 2 d (y' - x')
class Carried : public SmallDynamics {
 public:
  Carried(double frequency, double damping) : SmallDynamics(2, 0, 0, 0, {}, 1), w(frequency), d(damping) {}
  double w, d;
  void terms(const State& s, Terms& t) const override {
    t.M.setIdentity();
    t.h[0] = -s.q[0];
    t.h[1] = -w * w * (s.q[1] - s.q[0]) - 2 * d * (s.v[1] - s.v[0]);
  }
  // On the slow motion: y = x w^2/(w^2 - 1) without damping; with it, what is off dies out.
  State initial() const { return make_state(vec({1, w * w / (w * w - 1)}), vec({0, 0})); }
};

IntegratorSettings dopri5(bool automatic) {
  IntegratorSettings settings;
  settings.scheme = Scheme::dopri5;
  settings.relative_tolerance = 1e-8;
  settings.absolute_tolerance = 1e-10;
  settings.automatic = automatic;
  return settings;
}

struct Moved {
  State s;
  long steps = 0, stiff = 0, implicit = 0;
  double since = 0;
  int stiffest = -1;
};

Moved moved(Dynamics& dynamics, const State& from, bool automatic, double end) {
  PlainStepper stepper(dopri5(automatic), dynamics);
  stepper.start(from);
  Moved out;
  while (stepper.state().t < end) {
    stepper.step(end);
    ++out.steps;
  }
  const SchemeChoice& choice = *stepper.scheme_choice();
  out.s = stepper.state();
  out.stiff = choice.stiff_steps();
  out.implicit = choice.implicit_steps();
  out.since = choice.fast_since();
  out.stiffest = choice.fastest();
  return out;
}

// The fast coordinate follows x with a lag of order 1/w^2 and 2 d/w^2: x itself is cos t. Explicit steps stay below
// 3.3/(2 d) or 1.6/w; the motion needs some hundred of its own. The answer is that of the tolerance either way: 1e-8 a
// step, a hundred steps.
TEST(SchemeChoice, StiffMotionsGoOverToTheImplicitSchemeAndKeepTheirAnswer) {
  for (const auto& [w, d] : {std::pair{3e4, 0.0}, std::pair{1e3, 1e5}, std::pair{3e4, 3e4}}) {
    Carried problem(w, d);
    const Moved chosen = moved(problem, problem.initial(), true, 10);
    EXPECT_GT(chosen.implicit, 10) << w << " " << d;
    EXPECT_LT(chosen.steps, 3000) << w << " " << d;
    EXPECT_NEAR(chosen.s.q[0], std::cos(10.0), 2e-6) << w << " " << d;
    EXPECT_NEAR(chosen.s.q[1], std::cos(10.0), 2e-4) << "with its lag " << w << " " << d;
  }
}

// A chain of masses between springs with their own damping: overdamped rates of 4e5 and 4e7 a second, in displacements
// far below the rounding of the chain's size. Both tolerances see stability as the limit; explicit steps would be 1e5
// and 1e7.
TEST(SchemeChoice, MaterialDampingIsStiffWhateverTheTolerance) {
  class Chain : public SmallDynamics {
   public:
    explicit Chain(double damping) : SmallDynamics(12, 0, 0, 0), beta(damping) {}
    double beta;
    void terms(const State& s, Terms& t) const override {
      t.M.setIdentity();
      const auto at = [](const Vec& x, int i) { return i < 0 ? 0.0 : x[std::min(i, 11)]; };
      for (int i = 0; i < 12; ++i) {
        const auto bend = [&](const Vec& x) { return at(x, i - 1) - 2 * at(x, i) + at(x, i + 1); };
        t.h[i] = 1 + 1e6 * (bend(s.q) + beta * bend(s.v));
      }
    }
  };
  for (const double beta : {0.1, 10.0}) {
    for (const double tolerance : {1e-5, 1e-8}) {
      Chain chain(beta);
      IntegratorSettings settings = dopri5(true);
      settings.relative_tolerance = tolerance;
      settings.absolute_tolerance = 0.01 * tolerance;
      PlainStepper stepper(settings, chain);
      stepper.start(make_state(Vec::Zero(12), Vec::Zero(12)));
      long steps = 0;
      for (; stepper.state().t < 0.5 && steps < 3000; ++steps) stepper.step(0.5);
      EXPECT_LT(steps, 1000) << beta << " " << tolerance;
      EXPECT_GT(stepper.scheme_choice()->implicit_steps(), 5) << beta << " " << tolerance;
    }
  }
}

// Who names dopri5 gets it, and is told: nearly all of its steps stand at the limit, from the start on, for the fast
// coordinate. One second is enough to see it.
TEST(SchemeChoice, ANamedSchemeStaysAndItsStiffStepsAreCounted) {
  for (const auto& [w, d] : {std::pair{1e4, 0.0}, std::pair{1e3, 1e4}}) {
    Carried problem(w, d);
    const Moved named = moved(problem, problem.initial(), false, 1);
    EXPECT_EQ(named.implicit, 0);
    EXPECT_GT(named.stiff, named.steps / 2) << w << " " << d << " steps " << named.steps;
    EXPECT_LT(named.since, 0.5);
    EXPECT_EQ(named.stiffest, 1);
  }
}

// A vibration that is the motion itself is no stiffness, whatever its frequency and damping, at three tolerances.
TEST(SchemeChoice, VibrationsThatAreFollowedAreNotTakenForStiffness) {
  for (const double w : {1.0, 1e4}) {
    for (const double tolerance : {1e-5, 1e-8, 1e-11}) {
      Oscillator problem(w, 0.01 * w);
      problem.v_scale_value = w;
      IntegratorSettings settings = dopri5(true);
      settings.relative_tolerance = tolerance;
      settings.absolute_tolerance = 0.01 * tolerance;
      PlainStepper stepper(settings, problem);
      stepper.start(Oscillator::initial());
      while (stepper.state().t < 60 / w) stepper.step(60 / w);
      EXPECT_EQ(stepper.scheme_choice()->implicit_steps(), 0) << w << " " << tolerance;
    }
  }
}

// A run continued from a checkpoint repeats the digits, whichever scheme it is in.
TEST(SchemeChoice, CheckpointsKeepTheSchemeAndTheDigits) {
  Carried problem(1e3, 1e5);
  RunSettings settings;
  settings.integrator = dopri5(true);
  settings.end = 3;
  settings.output_step = 0.1;
  settings.checkpoint_interval = 0.25;
  std::vector<std::vector<double>> memories;
  State whole;
  RunCallbacks callbacks;
  callbacks.on_checkpoint = [&](double, std::span<const double> m) { memories.emplace_back(m.begin(), m.end()); };
  callbacks.on_output = [&](const Sample& sample) { whole = sample.s; };
  clatter::Run run(problem, settings, callbacks);
  run.start(problem.initial());
  ASSERT_TRUE(run.go().finished);
  ASSERT_GT(memories.size(), 8U);
  for (const std::size_t i : {std::size_t{0}, memories.size() / 2, memories.size() - 2}) {
    Carried again(1e3, 1e5);
    State end;
    RunCallbacks quiet;
    quiet.on_output = [&](const Sample& sample) { end = sample.s; };
    quiet.on_checkpoint = [](double, std::span<const double>) {};
    clatter::Run rest(again, settings, quiet);
    rest.restore(again.initial(), memories[i]);
    ASSERT_TRUE(rest.go().finished);
    ASSERT_EQ(end.q.size(), whole.q.size()) << i;
    EXPECT_EQ(end.q, whole.q) << i;
    EXPECT_EQ(end.v, whole.v) << i;
  }
}

}  // namespace
}  // namespace clatter::test
