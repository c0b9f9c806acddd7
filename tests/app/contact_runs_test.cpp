// Runs with contacts as a user meets them: what the summary says, stopping and going on, failing, exporting.
#include <algorithm>
#include <array>

#include "fixture.hpp"
#include "record/reader.hpp"
#include "record/writer.hpp"

namespace clatter::app {
namespace {

// A box and an egg (curved contour) thrown on a floor with friction: impacts, rolling, sliding and rest in one run.
constexpr const char* kThrown = R"(clatter: 1
title: Thrown things
gravity: [0, -9.81 m/s^2, 0]
bodies:
  box: {type: planar, mass: 1 kg, inertia: 0.02, position: [0, 0.4 m], angle: 20 deg, velocity: [1 m/s, 0], angular_velocity: 2}
  egg: {type: planar, mass: 0.5 kg, inertia: 0.003, position: [2 m, 0.3 m], angle: 0.3, velocity: [0.5 m/s, 0]}
shapes:
  hull: {on: box, type: polygon, points: [[-0.2, -0.1], [0.2, -0.1], [0.2, 0.1], [-0.2, 0.1]]}
  shell: {on: egg, type: ellipse, semi_axes: [0.15, 0.1]}
  floor: {on: ground, type: line}
contacts:
  corner: {between: [hull, floor], law: {type: rigid, restitution: 0.3, friction: 0.4}}
  rolls: {between: [shell, floor], law: {type: rigid, restitution: 0.2, friction: 0.3}}
simulate: {method: event-driven, end: 1 s, step: 1 ms, output_step: 10 ms, checkpoint: 0.02 s}
)";

// Falls 0.8 m, arrives with 4 m/s, leaves with 2 m/s (e = 0.5): impacts at 0.4 s and 0.8 s, the next one at 1 s.
constexpr const char* kBall = R"(clatter: 1
title: Ball
gravity: [0, -10 m/s^2, 0]
bodies:
  ball: {type: planar, mass: 2 kg, inertia: 0.008, position: [0, 0.9 m]}
shapes:
  hull: {on: ball, type: circle, radius: 10 cm}
  floor: {on: ground, type: line}
contacts:
  bounce: {between: [hull, floor], law: {type: rigid, restitution: 0.5}}
simulate: {method: event-driven, end: 0.9 s, step: 1 ms}
)";

class ContactRuns : public Commands {
 protected:
  int run_by(const std::string& model, const std::string& method, const std::string& result, double end = 0) {
    RunOptions options;
    options.model = model;
    options.result = result;
    options.changes.method = method;
    if (end > 0) options.changes.end = end;
    return run_model(options);
  }
};

// One rule for every method, for pairs and for crowds (contact/overlap.hpp).
TEST_F(ContactRuns, ShapesThatOverlapAtTheStartAreTakenBackAlikeOrRefusedByEveryMethod) {
  // Two balls of 5 cm: 6 cm apart they are 4 cm in each other, a mistake; 0.5 mm are an inaccuracy. The smallest
  // correction of unequal masses, 1 to 3: three quarters of it to the lighter one.
  const auto balls = [&](const char* distance, const char* initial, const std::string& between) {
    return file("balls.yaml", std::string(R"(clatter: 1
bodies:
  one: {shape: {sphere: 5 cm}, mass: 1 kg}
  two: {shape: {sphere: 5 cm}, mass: 3 kg, position: [)") +
                                  distance + R"(, 0, 0]}
contacts:
  knock: {)" + between + R"(: [one, two], law: {type: rigid}}
initial: {)" + initial + R"(}
simulate: {method: time-stepping, end: 10 ms, step: 1 ms)" +
                                  (between == "among" ? ", contact_solver: gauss-seidel" : "") + R"(}
outputs: [one.position, two.position]
)");
  };
  struct Way {
    const char *method, *between;
  };
  for (const Way& way : {Way{"event-driven", "between"}, Way{"time-stepping/moreau", "between"},
                         Way{"time-stepping/generalized-alpha", "between"}, Way{"smooth", "between"},
                         Way{"time-stepping/moreau", "among"}}) {
    SCOPED_TRACE(std::string(way.method) + ", " + way.between);
    const auto run = [&](const char* distance, const char* initial) {
      err_.str("");
      out_.str("");
      fs::remove("balls.h5");
      return run_by(balls(distance, initial, way.between), way.method, "balls.h5");
    };
    EXPECT_EQ(run("6 cm", ""), kBadInput);
    EXPECT_TRUE(contains(err_, "balls.yaml:6:3: contact `knock`: `one` and `two` overlap by 0.04 m at the start"))
        << err_.str();
    EXPECT_FALSE(fs::exists("balls.h5"));
    EXPECT_EQ(run("9.95 cm", "adjust_positions: false"), kBadInput);
    EXPECT_TRUE(contains(err_, "`one` and `two` overlap by 0.0005 m at the start")) << err_.str();
    EXPECT_FALSE(fs::exists("balls.h5"));
    EXPECT_EQ(run("9.95 cm", ""), kDone) << err_.str();
    EXPECT_TRUE(contains(out_,
                         "start-overlap: contact `knock`: `one` and `two` overlapped by 0.0005 m at the start; "
                         "bodies were moved by up to 0.00037"))
        << out_.str() << err_.str();
    const record::Reader reader("balls.h5");
    // To a crowd 1e-5 of a shape is touching.
    EXPECT_NEAR(reader.read("bodies/one/position", 0, 1)(0, 0), -3.75e-4, 5e-7);
    EXPECT_NEAR(reader.read("bodies/two/position", 0, 1)(0, 0), 9.95e-2 + 1.25e-4, 5e-7);
    EXPECT_EQ(run("10 cm", "adjust_positions: false"), kDone) << err_.str();
    EXPECT_FALSE(contains(out_, "start-overlap")) << out_.str();
  }
}

TEST_F(ContactRuns, ImpactsThatWouldBringEnergyInAreToldInTheSummary) {
  const std::string model = file("stick.yaml", R"(clatter: 1
bodies:
  stick: {type: planar, mass: 1, inertia: 1/12, position: [0, 0.34], angle: 40 deg, velocity: [1, -2]}
shapes:
  tip: {on: stick, at: [-0.5, 0], type: circle, radius: 0}
  floor: {on: ground, type: line}
contacts:
  hit: {between: [tip, floor], law: {type: rigid, restitution: 1, friction: 0.3, impact: moreau}}
simulate: {method: event-driven, end: 20 ms, step: 0.1 ms}
)");
  for (const char* method : {"event-driven", "time-stepping/moreau", "time-stepping/generalized-alpha"}) {
    SCOPED_TRACE(method);
    out_.str("");
    EXPECT_EQ(run_by(model, method, "stick.h5"), kDone) << err_.str();
    EXPECT_TRUE(contains(out_, "energy-gain: contact hit at t = 0.009")) << out_.str();
    EXPECT_TRUE(contains(out_, "the law `moreau` with this friction and restitution would bring 0.1")) << out_.str();
    fs::remove("stick.h5");
  }
}

class ContinuedContact : public ContactRuns, public testing::WithParamInterface<const char*> {};

INSTANTIATE_TEST_SUITE_P(Methods, ContinuedContact,
                         testing::Values("event-driven/dopri5", "event-driven/radau5", "event-driven/rk4",
                                         "time-stepping/moreau", "time-stepping/generalized-alpha", "smooth/dopri5",
                                         "smooth/radau5"),
                         [](const auto& chosen) {
                           std::string name = chosen.param;
                           std::erase_if(name, [](char c) { return c == '-' || c == '/'; });
                           return name;
                         });

// The same contract as for motions without contact: continued from any checkpoint, the result has the same bits. No
// tolerance.
TEST_P(ContinuedContact, FromAnyCheckpointHasTheBitsOfAnUninterruptedRun) {
  file("thrown.yaml", kThrown);
  // Compliant laws take many steps; their first impacts are enough.
  const bool smooth = std::string(GetParam()).starts_with("smooth");
  ASSERT_EQ(run_by("thrown.yaml", GetParam(), "whole.h5", smooth ? 0.4 : 1), kDone) << err_.str();
  const std::uint64_t checkpoints = record::Reader("whole.h5").rows().checkpoints;
  ASSERT_GT(checkpoints, 10U);
  const std::string summary = record::Reader("whole.h5").summary();
  for (const std::uint64_t row : {std::uint64_t{1}, checkpoints / 3, checkpoints / 2, checkpoints - 3}) {
    fs::copy_file("whole.h5", "cut.h5", fs::copy_options::overwrite_existing);
    record::Writer::resume("cut.h5", row).finish(record::Status::kInterrupted, "cut");
    RunOptions options;
    options.continue_from = "cut.h5";
    options.quiet = true;
    ASSERT_EQ(run_model(options), kDone) << err_.str();
    expect_same_bits("whole.h5", "cut.h5");
    // The certificate and the counts are those of the whole run.
    const std::string again = record::Reader("cut.h5").summary();
    const auto contact_part = [](const std::string& text) {
      const std::size_t from = text.find("  2 contacts");
      return from == text.npos ? std::string("none") : text.substr(from, text.find("\n\n") - from);
    };
    EXPECT_EQ(contact_part(again), contact_part(summary)) << "from checkpoint " << row;
  }
}

// Two impacts until 0.9 s (see kBall); nothing penetrates by more than the gap that counts as closed, 1e-9 of the
// model's length, and rounding.
TEST_F(ContactRuns, SummaryCountsImpactsAndGivesTheCertificate) {
  file("ball.yaml", kBall);
  for (const char* method : {"event-driven", "time-stepping", "time-stepping/generalized-alpha"}) {
    out_.str("");
    ASSERT_EQ(run_by("ball.yaml", method, "ball.h5"), kDone) << err_.str();
    EXPECT_TRUE(contains(out_, "1 contact: 2 impacts\n")) << method << "\n" << out_.str();
    EXPECT_TRUE(contains(out_, "contact laws at worst: complementarity ")) << out_.str();
    const std::string summary = record::Reader("ball.h5").summary();
    EXPECT_NE(summary.find("2 impacts"), std::string::npos) << "the result holds what was printed";
  }
  out_.str("");
  ASSERT_EQ(info("ball.h5", {}, console_), kDone);
  EXPECT_TRUE(contains(out_, "contact laws at worst")) << out_.str();
}

TEST_F(ContactRuns, CompliantRunsTellThePenetrationOnly) {
  file("ball.yaml", kBall);
  ASSERT_EQ(run_by("ball.yaml", "smooth", "ball.h5"), kDone) << err_.str();
  EXPECT_TRUE(contains(out_, "deepest penetration: ")) << out_.str();
  EXPECT_FALSE(contains(out_, "deepest penetration: none")) << out_.str();
  EXPECT_FALSE(contains(out_, "complementarity")) << out_.str();
  EXPECT_TRUE(contains(out_, "1 contact: 2 closings and 2 openings\n")) << out_.str();
}

TEST_F(ContactRuns, InfoListsContactsWithShapesLawAndPoints) {
  file("thrown.yaml", kThrown);
  ASSERT_EQ(info("thrown.yaml", {}, console_), kDone);
  EXPECT_TRUE(contains(out_, "2 contacts")) << out_.str();
  EXPECT_TRUE(contains(out_, "hull (polygon) and floor (line)")) << out_.str();
  EXPECT_TRUE(contains(out_, "restitution 0.3, friction 0.4")) << out_.str();
}

// Every impact is two samples of one time; a table for other programs keeps both.
TEST_F(ContactRuns, TablesKeepBothSidesOfAnImpact) {
  file("ball.yaml", kBall);
  ASSERT_EQ(run_by("ball.yaml", "event-driven", "ball.h5"), kDone) << err_.str();
  ASSERT_EQ(export_result({"ball.h5", "ball.csv", {}, {"ball.velocity"}, 1}, console_), kDone);
  std::ifstream table("ball.csv");
  std::string line;
  std::getline(table, line);
  std::vector<std::array<double, 2>> rows;  // time, vertical velocity
  while (std::getline(table, line)) {
    const std::size_t first = line.find(','), second = line.find(',', first + 1);
    rows.push_back({std::stod(line), std::stod(line.substr(second + 1))});
  }
  EXPECT_EQ(rows.size(), record::Reader("ball.h5").rows().samples);
  EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a[0] < b[0]; }));
  int jumps = 0;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    if (rows[i][0] != rows[i - 1][0]) continue;
    ++jumps;
    EXPECT_NEAR(rows[i][1], -0.5 * rows[i - 1][1], 1e-9);  // restitution; 1e-9 is rounding at 4 m/s
  }
  EXPECT_EQ(jumps, 2);
}

// x'' = 2 x^3 from x = 1, x' = 1 is at infinity at 1 s; the ball has bounced at 0.4 s and 0.8 s by then.
TEST_F(ContactRuns, AFailingSolveKeepsTheImpactsBeforeIt) {
  std::string text = kBall;
  text.replace(text.find("position: [0, 0.9 m]"), 20, "position: [1, 0.9 m], velocity: [1, 0]");
  text.replace(text.find("end: 0.9 s"), 10, "end: 3 s");
  text += R"(forces:
  push: {type: force, on: ball, components: ["4*ball.position.x*ball.position.x*ball.position.x", 0]}
)";
  file("blowup.yaml", text);
  EXPECT_EQ(run_by("blowup.yaml", "event-driven", "blowup.h5"), kSolveFailed) << out_.str();
  const record::Reader reader("blowup.h5");
  EXPECT_EQ(reader.status(), record::Status::kFailed);
  const auto events = reader.events();
  EXPECT_EQ(std::count_if(events.begin(), events.end(), [](const record::Event& e) { return e.kind == "impact"; }), 2);
  EXPECT_NE(reader.summary().find("2 impacts"), std::string::npos) << reader.summary();
}

class ContactProcess : public Process {};

// An elastic ball never comes to rest: the run lasts until it is stopped.
TEST_F(ContactProcess, CtrlCStopsContactRunsWithTheirResultsKept) {
  std::string text = kBall;
  text.replace(text.find("restitution: 0.5"), 16, "restitution: 1");
  text.replace(text.find("end: 0.9 s"), 10, "end: 20000 s, output_step: 1 s, checkpoint: 0.5 s");
  file("ball.yaml", text);
  for (const char* method : {"event-driven", "time-stepping", "smooth"}) {
    const pid_t child = spawn({"run", "ball.yaml", "-o", "ball.h5", "--method", method});
    wait_for_progress("ball.h5", 0.4);
    kill(child, SIGINT);
    ASSERT_EQ(exit_code(child), kInterrupted) << method << text_of("stderr.txt");
    const record::Reader reader("ball.h5");
    EXPECT_EQ(reader.status(), record::Status::kInterrupted);
    EXPECT_NE(reader.summary().find("1 contact: "), std::string::npos) << method;
    fs::remove("ball.h5");
  }
}

}  // namespace
}  // namespace clatter::app
