// The verdict of the ledger about runs with much stored energy: what rests far from the origin closes, and what is
// integrated badly beside it does not.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "app/summary_text.hpp"
#include "model/load.hpp"
#include "study/method.hpp"
#include "study/simulate.hpp"

namespace clatter::app {
namespace {

study::Outcome outcome(const std::string& text) {
  Model model = load_model_text("clatter: 1\n" + text, "far.yaml");
  study::decide_steps(model);
  study::Prepared p = study::prepare(std::move(model));
  const Observer observer = study::recorder(p);
  return study::simulate(p, observer, {});
}

// Weights of 1e10 J above and below the origin, both 1e6 m away from it, and 4905 J that rest on a floor there.
std::string weights(const std::string& more, const std::string& simulate) {
  return fmt::format(R"(
gravity: [0, -9.81]
bodies:
  low: {{type: planar, mass: 1000 kg, inertia: 100, position: [1e6 m, -1e6 m]}}
  high: {{type: planar, mass: 1000 kg, inertia: 100, position: [1e6 m, 1e6 m]}}
  block: {{type: planar, mass: 1000 kg, inertia: 100, position: [1e6 m, 0.5 m]}}
joints:
  under: {{type: fixed, between: [ground, low]}}
  above: {{type: fixed, between: [ground, high]}}
{}simulate: {{{}, end: 2 s}}
)",
                     more, simulate);
}

TEST(Ledger, OfWhatRestsFarFromTheOriginClosesByEveryMethod) {
  const std::string floor = R"(shapes:
  hull: {on: block, type: circle, radius: 0.5}
  floor: {on: ground, type: line}
contacts:
  rest: {between: [hull, floor], law: {type: rigid, friction: 0.5}}
)";
  for (const char* method : {"method: event-driven", "method: time-stepping, step: 1 ms", "method: smooth",
                             "method: time-stepping, scheme: generalized-alpha, step: 1 ms"}) {
    const study::Outcome out = outcome(weights(floor, method));
    ASSERT_TRUE(out.finished) << method;
    EXPECT_TRUE(out.summary.ledger.closes()) << method << "\n" << ledger_text(out.summary.ledger);
    EXPECT_EQ(ledger_text(out.summary.ledger).find("NOT"), std::string::npos) << method;
  }
}

// The block swings on a spring of 1e4 N/m by 3.5 m: 6e4 J, w = 3.2 rad/s. Steps of 0.1 s by euler gain (w h)^2 = 0.1 of
// that each, in 20 steps more than all of it: 5e-6 of the 2e10 J that are stored, far above their rounding of 0.2 J.
TEST(Ledger, OfABadlyIntegratedMotionDoesNotCloseHoweverMuchIsStored) {
  const std::string spring = R"(forces:
  spring: {type: spring-damper, between: [{on: ground, at: [1e6 m, 10 m]}, block], stiffness: 1e4 N/m, length: 5 m}
)";
  const study::Outcome bad = outcome(weights(spring, "method: euler, step: 0.1 s"));
  ASSERT_TRUE(bad.finished);
  EXPECT_FALSE(bad.summary.ledger.closes()) << ledger_text(bad.summary.ledger);
  EXPECT_NE(ledger_text(bad.summary.ledger).find("does NOT close"), std::string::npos);
  const study::Outcome good = outcome(weights(spring, "method: dopri5"));
  ASSERT_TRUE(good.finished);
  EXPECT_TRUE(good.summary.ledger.closes()) << ledger_text(good.summary.ledger);
}

}  // namespace
}  // namespace clatter::app
