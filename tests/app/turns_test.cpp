// Angles count their turns: whatever is recorded, in both coordinates, by every method, in `compare`, and after a
// checkpoint. What is recorded changes nothing.
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "api/clatter.hpp"
#include "fixture.hpp"
#include "model/load.hpp"
#include "study/simulate.hpp"

namespace clatter::app {
namespace {

class Column final : public study::Sink {
 public:
  void sample(double t, std::span<const double> values) override {
    time.push_back(t);
    rows.emplace_back(values.begin(), values.end());
  }
  void ledger(double, std::span<const double>) override {}
  void event(double, const StepEvent&) override {}
  void checkpoint(double, std::span<const double>) override {}
  std::vector<double> time;
  std::vector<std::vector<double>> rows;
};

struct Recorded {
  std::vector<double> time, value;
  std::uint64_t steps = 0;
};

// `outputs` as written in the model; `quantity` as an observer sees it.
Recorded record(std::string text, bool joint, const std::string& outputs, const std::string& quantity) {
  if (!outputs.empty()) text += "outputs: " + outputs + "\n";
  Model model = load_model_text(text, "turns.yaml");
  model.joint_coordinates = joint;
  study::Prepared p = study::prepare(std::move(model));
  const Observer observer =
      outputs.empty() ? Observer(p.system, {quantity, "energy.kinetic"}, p.extra) : study::recorder(p);
  Column sink;
  study::RunRequest request;
  request.sink = &sink;
  const study::Outcome outcome = study::simulate(p, observer, request);
  EXPECT_TRUE(outcome.finished) << (outcome.failure ? outcome.failure->what() : "");
  Recorded out;
  out.time = sink.time;
  out.steps = outcome.summary.steps;
  const auto column = static_cast<std::size_t>(study::column_of(observer, quantity));
  for (const std::vector<double>& row : sink.rows) out.value.push_back(row[column]);
  return out;
}

std::string motor(const std::string& kind, const std::string& simulate) {
  const bool planar = kind == "planar";
  return "clatter: 1\nbodies:\n  rotor: {" +
         std::string(planar ? "type: planar, mass: 1, inertia: 0.1, position: [0.2, 0]"
                            : "mass: 1, inertia: [0.1, 0.1, 0.2], position: [0.2, 0, 0]") +
         "}\njoints:\n  motor: {type: revolute, between: [ground, rotor], at: [0, 0" + (planar ? "" : ", 0") + "], " +
         (planar ? "" : "axis: [1, 2, 3], ") + "drive: \"20 * t + sin(3 * t)\"}\nsimulate: {" + simulate +
         ", end: 2 s, output_step: 0.1 s}\n";
}

// The drive says what the angle is. Rows are met to 1e-9 or better (Verlet and Euler keep projected positions, too).
TEST(Turns, OfADrivenJointAreCountedWhateverIsRecorded) {
  for (const char* kind : {"planar", "spatial"})
    for (const bool joint : {false, true})
      for (const char* method : {"method: dopri5, tolerance: 1e-7", "method: radau5, tolerance: 1e-6",
                                 "method: generalized-alpha, step: 2 ms", "method: rk4, step: 5 ms"}) {
        std::uint64_t steps = 0;
        for (const char* outputs : {"", "[motor.angle]", "[\"motor.*\"]", "[rotor.velocity, motor.angle]", "[\"*\"]"}) {
          const Recorded r = record(motor(kind, method), joint, outputs, "motor.angle");
          ASSERT_EQ(r.time.size(), 21U);
          for (std::size_t i = 0; i < r.time.size(); ++i)
            EXPECT_NEAR(r.value[i], 20 * r.time[i] + std::sin(3 * r.time[i]), 1e-7)
                << kind << joint << method << outputs;
          if (steps == 0) steps = r.steps;
          EXPECT_EQ(r.steps, steps) << "recording changed the steps: " << outputs;
        }
      }
}

std::string pinned(const std::string& kind, const std::string& simulate) {
  const bool planar = kind == "planar";
  return "clatter: 1\nbodies:\n" +
         std::string(planar ? "  first: {type: planar, mass: 1, inertia: 0.1, position: [0.3, 0], angular_velocity: 9, "
                              "velocity: [0, 2.7]}\n"
                              "  second: {type: planar, mass: 1, inertia: 0.2, position: [0.6, 0], angular_velocity: "
                              "-14, velocity: [0, 5.4]}\n"
                            : "  first: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [0.3, 0, 0], angular_velocity: "
                              "[0, 0, 9], velocity: [0, 2.7, 0]}\n"
                              "  second: {mass: 1, inertia: [0.2, 0.2, 0.2], position: [0.6, 0, 0], angular_velocity: "
                              "[0, 0, -14], velocity: [0, 5.4, 0]}\n") +
         "joints:\n  one: {type: revolute, between: [ground, first], at: [0, 0, 0], axis: z}\n"
         "  two: {type: revolute, between: [first, second], at: [0.6, 0, 0], axis: z}\nsimulate: {" +
         simulate + ", end: 3 s, output_step: 50 ms}\n";
}

// Both bodies turn at constant speed, since the second's centre is on its pin: angles 9 t, -23 t between the bodies,
// and -14 t of the second in the world. 1e-5 is what 60 turns lose at a tolerance of 1e-8.
TEST(Turns, OfFreeJointsAndPlanarBodiesAreCountedInBothCoordinates) {
  for (const char* kind : {"planar", "spatial"})
    for (const bool joint : {false, true})
      for (const char* method : {"method: dopri5, tolerance: 1e-8", "method: bdf, tolerance: 1e-8"}) {
        const std::string text = pinned(kind, method);
        std::vector<std::pair<std::string, double>> angles = {{"one.angle", 9}, {"two.angle", -23}};
        if (std::string(kind) == "planar") {
          angles.emplace_back("first.angle", 9);
          angles.emplace_back("second.angle", -14);
        }
        for (const auto& [quantity, rate] : angles) {
          const Recorded r = record(text, joint, "", quantity);
          for (std::size_t i = 0; i < r.time.size(); ++i)
            EXPECT_NEAR(r.value[i], rate * r.time[i],
                        std::string(method).find("bdf") == std::string::npos ? 1e-5 : 1e-3)
                << kind << joint << method << quantity;
        }
      }
}

// A body that turns about its centre, its speed a polynomial of time: joint coordinates and planar bodies take steps of
// many turns, spatial bodies in absolute coordinates some 1.5 rad each.
TEST(Turns, OfStepsThatGoRoundSeveralTimesAreCounted) {
  const std::string spatial = "{mass: 1, inertia: [0.1, 0.1, 0.2], position: [0, 0, 0]}";
  const std::string planar = "{type: planar, mass: 1, inertia: 0.2, position: [0, 0]}";
  for (const std::string& wheel : {spatial, planar}) {
    const std::string text = "clatter: 1\nbodies:\n  wheel: " + wheel + R"(
joints:
  axle: {type: revolute, between: [ground, wheel], at: [0, 0, 0], axis: z, rate: 40}
forces:
  push: {type: torque, on: wheel, components: [0, 0, "0.2 * t"]}
simulate: {method: dopri5, tolerance: 1e-6, end: 5 s, output_step: 1 s}
)";
    for (const bool joint : {false, true}) {
      const Recorded r = record(text, joint, "", "axle.angle");
      if (joint || wheel == planar) {
        EXPECT_LT(r.steps, 20U) << "the test means long steps";
      }
      for (std::size_t i = 0; i < r.time.size(); ++i) {
        const double t = r.time[i];
        EXPECT_NEAR(r.value[i], 40 * t + t * t * t / 6, 1e-3) << t << wheel << joint;
      }
    }
  }
}

// A drive decides the angle of a rotor about its own centre but for whole turns, and nothing else keeps steps short:
// those of implicit schemes turn it by several radians. Its rows are met to 1e-9 or better, as above.
TEST(Turns, OfADrivenBodyAreNeitherLostNorGainedInLongSteps) {
  const std::string text = R"yaml(clatter: 1
bodies:
  rotor: {type: planar, mass: 1, inertia: 0.1, position: [0, 0]}
joints:
  motor: {type: revolute, between: [ground, rotor], at: [0, 0], drive: "30 * t + sin(3 * t)"}
)yaml";
  for (const bool joint : {false, true})
    for (const char* method : {"radau5", "bdf", "adams", "dopri5"})
      for (const char* tolerance : {"1e-3", "1e-5", "1e-7"}) {
        const std::string simulate =
            fmt::format("simulate: {{method: {}, tolerance: {}, end: 3 s, output_step: 0.1 s}}\n", method, tolerance);
        const Recorded r = record(text + simulate, joint, "", "rotor.angle");
        if (std::string(method) == "radau5" && std::string(tolerance) != "1e-7") {
          EXPECT_LT(r.steps, 60U) << "the test means long steps";
        }
        for (std::size_t i = 0; i < r.time.size(); ++i)
          EXPECT_NEAR(r.value[i], 30 * r.time[i] + std::sin(3 * r.time[i]), 1e-7)
              << joint << method << tolerance << " at " << r.time[i];
      }
}

// A start beyond half a turn is kept as written.
TEST(Turns, StartWhereTheJointSaysInBothCoordinates) {
  const std::string text = R"(clatter: 1
bodies:
  wheel: {mass: 1, inertia: [0.1, 0.1, 0.2], center_of_mass: [0.1, 0, 0]}
joints:
  axle: {type: revolute, between: [ground, wheel], axis: [1, 2, 3], angle: 1000 deg, rate: 2}
simulate: {method: dopri5, end: 2 s, output_step: 0.5 s}
)";
  const Recorded absolute = record(text, false, "", "axle.angle"), joint = record(text, true, "", "axle.angle");
  EXPECT_NEAR(absolute.value.front(), 1000 * std::numbers::pi / 180, 1e-12);
  for (std::size_t i = 0; i < absolute.value.size(); ++i) EXPECT_NEAR(absolute.value[i], joint.value[i], 1e-5);
}

// The memory of a checkpoint holds the turns: continued, the same bits follow.
TEST(Turns, AreContinuedFromACheckpoint) {
  class Keeping final : public study::Sink {
   public:
    void sample(double t, std::span<const double> values) override { rows.emplace_back(t, values[0]); }
    void ledger(double, std::span<const double>) override {}
    void event(double, const StepEvent&) override {}
    void checkpoint(double t, std::span<const double> memory) override {
      if (at == 0) kept.assign(memory.begin(), memory.end()), at = t;
    }
    std::vector<std::pair<double, double>> rows;
    std::vector<double> kept;
    double at = 0;
  };
  for (const char* method : {"method: dopri5, tolerance: 1e-8", "method: radau5, tolerance: 1e-6"}) {
    Model model = load_model_text(pinned("spatial", method), "turns.yaml");
    model.simulate.checkpoint_interval = 1.5;
    const auto run = [&](Keeping& sink, std::span<const double> memory) {
      study::Prepared p = study::prepare(model);
      const Observer observer(p.system, {"two.angle", "energy.kinetic"}, p.extra);
      study::RunRequest request;
      request.sink = &sink;
      request.memory = memory;
      EXPECT_TRUE(study::simulate(p, observer, request).finished);
    };
    Keeping whole, rest;
    run(whole, {});
    ASSERT_GT(whole.at, 1.4);
    run(rest, whole.kept);
    ASSERT_GT(rest.rows.size(), 5U);
    ASSERT_LT(rest.rows.size(), whole.rows.size());
    for (std::size_t i = 1; i <= rest.rows.size(); ++i)
      EXPECT_EQ(rest.rows[rest.rows.size() - i], whole.rows[whole.rows.size() - i]) << method;
  }
}

// Event-driven motion and time stepping, whose equations change on the way: a wheel in space that a stop never touches.
TEST(Turns, AreCountedByTheMethodsOfContact) {
  const std::string contact = R"(shapes:
  ball: {on: first, type: sphere, radius: 1 cm}
  floor: {on: ground, type: plane, at: [0, 0, -5]}
contacts:
  touch: {between: [ball, floor], law: {type: rigid, restitution: 0.5}}
)";
  for (const char* method : {"method: event-driven", "method: time-stepping, step: 0.5 ms"})
    for (const bool joint : {false, true}) {
      const Recorded r = record(pinned("spatial", method) + contact, joint, "", "two.angle");
      for (std::size_t i = 0; i < r.time.size(); ++i)
        EXPECT_NEAR(r.value[i], -23 * r.time[i], 0.5) << method << joint << r.time[i];  // first order; a turn is 6.3
    }
}

// One of the program's own interfaces sees the same.
TEST(Turns, AreSeenByASimulationMovedStepByStep) {
  api::Setup setup;
  setup.text = motor("spatial", "method: dopri5, tolerance: 1e-7");
  api::Simulation simulation(setup);
  for (const double t : {0.3, 0.9, 1.7}) {
    simulation.advance(t);
    EXPECT_NEAR(simulation.value("motor.angle")[0], 20 * t + std::sin(3 * t), 1e-7);
  }
}

class TurnsCompared : public Commands {};

TEST_F(TurnsCompared, AtTheEndOfEveryMethod) {
  CompareOptions options;
  options.model = file("motor.yaml", motor("spatial", "method: dopri5, tolerance: 1e-7"));
  options.quantities = {"motor.angle"};
  options.quiet = true;
  options.csv = "-";
  ASSERT_EQ(guarded(console_, [&] { return compare(options, console_); }), kDone) << err_.str();
  std::istringstream lines(out_.str());
  std::string line;
  std::getline(lines, line);
  int rows = 0;
  for (; std::getline(lines, line); ++rows) {
    std::istringstream words(line);
    std::string method, step, value;
    std::getline(words, method, ',');
    std::getline(words, step, ',');
    std::getline(words, value, ',');
    EXPECT_NEAR(std::stod(value), 40 + std::sin(6), 1e-5) << line;
  }
  EXPECT_GE(rows, 2);
}

}  // namespace
}  // namespace clatter::app
