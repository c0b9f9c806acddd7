// What other programs get (src/api): runs, single steps and results, with the words the program would print.
#include "api/clatter.hpp"

#include <cmath>

#include "fixture.hpp"

namespace clatter::api {
namespace {

// A stone thrown up: y = v t - g t^2 / 2, so 4 s after a start with 20 m/s it is at 80 - 78.48 = 1.52 m.
constexpr const char* kStone = R"(clatter: 1
title: A stone thrown up
parameters: {v: 20 m/s}
gravity: [0, -9.81 m/s^2, 0]
bodies:
  stone: {type: particle, mass: 2 kg, position: [0, 0, 0], velocity: [0, v, 0]}
simulate: {method: dopri5, end: 4 s}
)";

// Falls a metre onto the floor and leaves it with half the speed.
constexpr const char* kBall = R"(clatter: 1
gravity: [0, -9.81 m/s^2, 0]
bodies:
  ball: {type: planar, mass: 1 kg, inertia: 0.004 kg*m^2, position: [0, 1.1 m]}
shapes:
  hull: {on: ball, type: circle, radius: 10 cm}
  floor: {on: ground, type: line}
contacts:
  bounce: {between: [hull, floor], law: {type: rigid, restitution: 0.5}}
simulate: {method: event-driven, end: 0.6 s}
)";

Setup text(const std::string& model) {
  Setup setup;
  setup.text = model;
  return setup;
}

class Api : public app::Commands {};

TEST_F(Api, RunsATextAndReadsItsResult) {
  api::Setup setup = text(kStone);
  setup.parameters = {{"v", "10 m/s"}};
  setup.end = 1;
  std::uint64_t calls = 0;
  const RunReport report = run(setup, "stone.h5", [&](const Progress& p) { return p.steps == ++calls; });
  EXPECT_TRUE(report.finished);
  EXPECT_NE(report.summary.find("A stone thrown up"), std::string::npos);
  EXPECT_GT(calls, 3u);

  const Result result("stone.h5");
  EXPECT_EQ(result.status(), "finished");
  const std::vector<double> t = result.times();
  const Table position = result.read("stone.position"), y = result.read("stone.position.y");
  ASSERT_EQ(position.rows, t.size());
  ASSERT_EQ(position.columns, 3u);
  ASSERT_EQ(y.columns, 1u);
  for (std::size_t i = 0; i < t.size(); ++i) {
    // A method of order five is exact for a parabola: rounding alone.
    EXPECT_NEAR(y.values[i], 10 * t[i] - 9.81 / 2 * t[i] * t[i], 1e-12);
    EXPECT_EQ(y.values[i], position.values[3 * i + 1]);
  }
  EXPECT_EQ(result.read_ledger("stored").rows, result.ledger_times().size());
  try {
    result.read("stone.positon");
    FAIL() << "an unknown quantity was read";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean `stone.position`?"), std::string::npos) << error.what();
  }
}

TEST_F(Api, AWatcherStopsARun) {
  const RunReport report = run(text(kBall), "ball.h5", [](const Progress& p) { return p.t < 0.3; });
  EXPECT_FALSE(report.finished);
  const Result result("ball.h5");
  EXPECT_EQ(result.status(), "interrupted");
  EXPECT_GE(result.times().back(), 0.3);
  EXPECT_LT(result.times().back(), 0.6);
}

TEST_F(Api, StepsByHandMeetEventsAndShowEveryQuantity) {
  Simulation ball(text(kBall));
  EXPECT_EQ(ball.degrees_of_freedom(), 3);
  const std::span<const double> q = ball.coordinates();
  std::vector<Event> impacts;
  while (ball.time() < 0.55) {
    ball.step(0.55);
    for (const Event& e : ball.events())
      if (e.kind == "impact") impacts.push_back(e);
  }
  ASSERT_EQ(impacts.size(), 1u);
  const double hit = std::sqrt(2 / 9.81), v = 0.5 * 9.81 * hit, dt = 0.55 - hit;
  // The event is located to the tolerance of the root finder, the rest is a parabola.
  EXPECT_NEAR(impacts[0].t, hit, 1e-9);
  const double y = 0.1 + v * dt - 9.81 / 2 * dt * dt;
  EXPECT_NEAR(ball.value("ball.position.y")[0], y, 1e-8);
  EXPECT_NEAR(ball.value("bounce.gap")[0], y - 0.1, 1e-8);
  EXPECT_NEAR(q[1], y, 1e-8) << "the view follows the steps";
  EXPECT_THROW(ball.advance(0.1), InputError);
  EXPECT_THROW(ball.value("ball.positon"), InputError);
  ball.restart();
  EXPECT_EQ(ball.time(), 0);
  EXPECT_EQ(ball.value("ball.position.y")[0], 1.1);
}

TEST_F(Api, ThrowsWhatTheProgramWouldSay) {
  std::string wrong = kStone;
  wrong.replace(wrong.find("mass:"), 5, "mas:");
  try {
    api::Setup setup = text(wrong);
    setup.file = "stone.yaml";
    Simulation simulation(setup);
    FAIL() << "a wrong model was taken";
  } catch (const InputError& error) {
    EXPECT_EQ(error.diagnostics().front().source.file, "stone.yaml");
    EXPECT_EQ(error.diagnostics().front().source.line, 6);
  }
  // Step control cannot pass a force that grows without bound at 1 s; what was recorded before stays.
  const std::string pulled =
      std::string(kStone) + "forces:\n  pull: {type: force, on: stone, components: [0, 1 N/(1 - t/1 s)^3, 0]}\n";
  try {
    run(text(pulled), "pulled.h5");
    FAIL() << "nobody can integrate that";
  } catch (const SolveError& error) {
    EXPECT_EQ(error.kind(), "step-too-small");
    EXPECT_NEAR(error.time(), 1, 1e-3);
  }
  EXPECT_EQ(Result("pulled.h5").status(), "failed");
  EXPECT_THROW(Result("missing.h5"), ResultFileError);
  EXPECT_THROW(run(api::Setup(), "none.h5"), InputError);
}

}  // namespace
}  // namespace clatter::api
