// Events whose distances shrink without bound: each of them is found while time can tell them apart, and what follows
// ends by name or goes on beyond.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "base/error.hpp"
#include "integrate/run.hpp"
#include "integrate/small_dynamics.hpp"

namespace clatter::test {
namespace {

constexpr double kPi = std::numbers::pi;

// Uniform motion x = t past marks that lie where g(x) vanishes.
class Marks : public SmallDynamics {
 public:
  enum class Kind { halving, harmonic };
  explicit Marks(Kind kind) : SmallDynamics(1, 0, 0, 0, {}, 0, 1), kind_(kind) {}
  void terms(const State&, Terms& t) const override { t.M(0, 0) = 1; }
  // halving: where |1 - x| = 2^-(k + 1/2); harmonic: where |1 - x| = 1/(k pi)
  void event_functions(const State& s, Vec& g) const override {
    const double left = std::abs(1 - s.q[0]);
    if (left == 0) {
      g[0] = 1;
      return;
    }
    g[0] = kind_ == Kind::halving ? std::cos(kPi * std::log2(left)) : std::sin(1 / left);
  }

 private:
  Kind kind_;
};

struct Seen {
  std::vector<double> times;
  std::string diagnosis;
  double end = 0;
  long steps = 0;
};

Seen seen(Marks::Kind kind, Scheme scheme, double end, double step = 0) {
  Marks marks(kind);
  State s;
  s.q = Vec::Zero(1);
  s.v = Vec::Ones(1);
  s.z = Vec::Zero(0);
  RunSettings settings;
  settings.integrator.scheme = scheme;
  settings.integrator.step = step;
  settings.end = end;
  settings.output_step = end;
  Seen out;
  RunCallbacks callbacks;
  callbacks.on_event = [&](const State& at, const std::vector<StepEvent>& events) {
    for (const StepEvent& e : events)
      if (e.element != "run") out.times.push_back(at.t);
  };
  Run run(marks, settings, callbacks);
  run.start(s);
  try {
    out.steps = run.go().steps;
  } catch (const SolveError& e) {
    out.diagnosis = e.kind();
  }
  out.end = run.state().t;
  return out;
}

constexpr Scheme kSchemes[] = {Scheme::dopri5, Scheme::radau5, Scheme::bdf, Scheme::adams, Scheme::rk4};

// However close the marks come, time moves on: what lies closer than its rounding is one moment. dopri5 with a first
// step of 0.1 used to fire 6000 times at one moment before the mark at 1, until the run was given up; a scheme of fixed
// steps, which nobody watched for that, would have gone on for ever.
TEST(ClosingMarks, EndsWhateverTheStepsAre) {
  for (const Scheme scheme : kSchemes)
    for (const double step : {0.1, 1e-2, 1e-3, 2e-4})
      for (const double end : {1.0, 1.5})
        for (const auto kind : {Marks::Kind::halving, Marks::Kind::harmonic}) {
          const Seen s = seen(kind, scheme, end, step);
          EXPECT_EQ(s.diagnosis, "") << static_cast<int>(scheme) << " " << step;
          EXPECT_EQ(s.end, end) << static_cast<int>(scheme) << " " << step;
          EXPECT_LT(s.steps, 20000) << static_cast<int>(scheme) << " " << step;
        }
}

// Marks that halve their distances lie one in a quarter of a step, or farther apart, until a step of 1e-3 holds
// several: 1 - 2^-(k + 1/2) with k up to 9. Times to rounding.
TEST(ClosingMarks, AreFoundOneByOneWhileStepsTellThemApart) {
  for (const Scheme scheme : {Scheme::rk4, Scheme::bdf, Scheme::adams}) {
    const Seen s = seen(Marks::Kind::halving, scheme, 1.0, 1e-3);
    ASSERT_GE(s.times.size(), 10u);
    for (int k = 0; k < 10; ++k)
      EXPECT_NEAR(s.times[static_cast<std::size_t>(k)], 1 - std::exp2(-(k + 0.5)), 1e-15) << k;
  }
}

// Half a million million events a second, each of them real, by steps that nobody controls.
TEST(ClosingMarks, AnEventStormOfFixedStepsIsGivenUpByName) {
  class Flicker : public SmallDynamics {
   public:
    Flicker() : SmallDynamics(1, 0, 0, 0, {}, 0, 1) {}
    void terms(const State&, Terms& t) const override { t.M(0, 0) = 1; }
    void event_functions(const State& s, Vec& g) const override { g[0] = std::cos(1e12 * s.t); }
  } problem;
  State s;
  s.q = Vec::Zero(1);
  s.v = Vec::Ones(1);
  s.z = Vec::Zero(0);
  RunSettings settings;
  settings.integrator.scheme = Scheme::rk4;
  settings.integrator.step = 2e-12;
  settings.end = 1;
  clatter::Run run(problem, settings, {});
  run.start(s);
  try {
    run.go();
    FAIL();
  } catch (const SolveError& e) {
    EXPECT_EQ(e.kind(), "events-accumulate");
    EXPECT_LT(e.time(), 1e-6);
    EXPECT_EQ(e.elements(), std::vector<std::string>{problem.event_name(0)});
  }
}

}  // namespace
}  // namespace clatter::test
