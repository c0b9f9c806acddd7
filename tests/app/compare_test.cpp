// `clatter compare`: what it prints, writes and returns.
#include <cmath>

#include "fixture.hpp"

namespace clatter::app {
namespace {

// Falls 0.8 m in 0.4 s, hits the floor with 4 m/s, leaves with 2 m/s: at 0.6 s it is 0.2 m above the floor, at the top
// of its flight, with m g (0.2 m + radius) = 6 J.
constexpr const char* kBall = R"(clatter: 1
title: Ball
gravity: [0, -10 m/s^2, 0]
parameters: {e: 0.5}
bodies:
  ball: {type: planar, mass: 2 kg, inertia: 0.008, position: [0, 0.9 m]}
shapes:
  hull: {on: ball, type: circle, radius: 10 cm}
  floor: {on: ground, type: line}
contacts:
  bounce: {between: [hull, floor], law: {type: rigid, restitution: e}}
simulate: {method: event-driven, end: 0.6 s}
)";

class Compare : public Commands {
 protected:
  int compare_models(const CompareOptions& options) {
    return guarded(console_, [&] { return compare(options, console_); });
  }
  // The CSV of the last comparison: cells by row, the heading first.
  std::vector<std::vector<std::string>> cells() const {
    std::vector<std::vector<std::string>> rows;
    std::istringstream lines(out_.str());
    for (std::string line; std::getline(lines, line);) {
      rows.emplace_back();
      std::istringstream words(line);
      for (std::string word; std::getline(words, word, ',');) rows.back().push_back(word);
    }
    return rows;
  }
};

TEST_F(Compare, PrintsARowForEachMethodWithTheDifferenceToTheFirst) {
  CompareOptions options;
  options.model = file("ball.yaml", kBall);
  options.quiet = true;
  ASSERT_EQ(compare_models(options), kDone) << err_.str();
  for (const char* text :
       {"event-driven/dopri5", "time-stepping/moreau", "time-stepping/generalized-alpha", "smooth/dopri5",
        "ball.position.x/m", "ball.position.y/m", "difference", "penetration/m", "complementarity", "remainder/J"})
    EXPECT_TRUE(contains(out_, text)) << text << "\n" << out_.str();
  EXPECT_FALSE(contains(out_, "position.z")) << "the ball is planar";
  EXPECT_EQ(files(), 1U) << "no result file is written";
}

// First order through an impact: the differences to the exact motion are below h times the jump of the velocity (6
// m/s), for every step. Event-driven: 1e-9 is its tolerance.
TEST_F(Compare, MethodsApproachTheClosedFormAtTheOrderOfTheStep) {
  CompareOptions options;
  options.model = file("ball.yaml", kBall);
  options.methods = {"event-driven", "time-stepping", "time-stepping/generalized-alpha"};
  options.steps = {"0.7ms", "0.07 ms", "7e-6"};
  options.quantities = {"ball.position.y", "energy.total"};
  options.csv = "-";
  options.quiet = true;
  ASSERT_EQ(compare_models(options), kDone) << err_.str();
  const auto rows = cells();
  ASSERT_EQ(rows.size(), 8U) << out_.str();  // heading, one event-driven run, three steps of two schemes
  EXPECT_EQ(rows[0][2], "ball.position.y [m]");
  EXPECT_NEAR(std::stod(rows[1][2]), 0.3, 1e-9);
  EXPECT_NEAR(std::stod(rows[1][4]), 6, 1e-8);
  EXPECT_EQ(rows[1][1], "") << "a controlled step";
  const double steps[] = {7e-4, 7e-5, 7e-6};
  for (std::size_t i = 2; i < rows.size(); ++i) {
    const double h = steps[(i - 2) % 3];
    EXPECT_DOUBLE_EQ(std::stod(rows[i][1]), h);
    EXPECT_LT(std::abs(std::stod(rows[i][3])), 6 * h) << out_.str();
    EXPECT_DOUBLE_EQ(std::stod(rows[i][3]), std::stod(rows[i][2]) - std::stod(rows[1][2]));
    EXPECT_EQ(rows[i][11], "1") << "one impact\n" << out_.str();
  }
}

// The compliant law made for a rigid one gives back e of the speed, whatever e is: 2 J + e^2 16 J, but for the work of
// the weight on the way through the contact, at most m g times the penetration of a millimetre (0.02 J), twice.
TEST_F(Compare, TheCompliantSubstituteKeepsTheRestitution) {
  for (const double e : {0.3, 0.5, 0.9}) {
    out_.str("");
    CompareOptions options;
    options.model = file("ball.yaml", kBall);
    options.methods = {"event-driven", "smooth"};
    options.quantities = {"energy.total"};
    options.changes.parameters = {"e=" + std::to_string(e)};
    options.changes.end = 0.5;
    options.csv = "-";
    options.quiet = true;
    ASSERT_EQ(compare_models(options), kDone) << err_.str();
    const auto rows = cells();
    ASSERT_EQ(rows.size(), 3U) << out_.str();
    EXPECT_NEAR(std::stod(rows[1][2]), 2 + 16 * e * e, 1e-8) << out_.str();
    EXPECT_NEAR(std::stod(rows[2][2]), 2 + 16 * e * e, 0.04) << out_.str();
    EXPECT_LT(std::stod(rows[2][6]), 1e-3) << "penetration\n" << out_.str();
  }
}

// Three models whose end is known in closed form, each by events, by time steps and by a compliant law that `soft`
// makes stiffer (times of contact, depths and creeping speeds in proportion to it).
struct KnownEnd {
  const char* what;
  const char* quantity;
  double value;
  const char* text;
};

const KnownEnd kKnownEnds[] = {
    // Elastic: falls 0.8 m in 0.4 s, is up again at 0.8 s, and 0.05 m lower 0.1 s before that.
    {"a ball that bounces", "ball.position.y", 0.85, R"(clatter: 1
gravity: [0, -10 m/s^2, 0]
parameters: {soft: 1}
bodies:
  ball: {type: planar, mass: 2 kg, inertia: 0.008, position: [0, 0.9 m]}
shapes:
  hull: {on: ball, type: circle, radius: 10 cm}
  floor: {on: ground, type: line}
contacts:
  bounce: {between: [hull, floor], law: {type: rigid, restitution: 1, smooth: {type: linear, stiffness: 2e4/soft^2, friction: 0}}}
simulate: {method: event-driven, end: 0.7 s}
)"},
    // Up a slope of 30 degrees with 2 m/s, mu = 0.6: stops after v^2 / (2 g (sin + mu cos)) and stays.
    {"a block that stops and sticks", "block.position.x", 4 / (20 * (0.5 + 0.6 * 0.86602540378443865)), R"(clatter: 1
gravity: [-5 m/s^2, -8.6602540378443865 m/s^2, 0]
parameters: {soft: 1}
bodies:
  block: {type: planar-particle, mass: 3 kg, position: [0, 0.1], velocity: [2, 0]}
shapes:
  foot: {on: block, type: circle, radius: 10 cm}
  floor: {on: ground, type: line}
contacts:
  rub: {between: [foot, floor], law: {type: rigid, friction: 0.6, smooth: {type: linear, stiffness: 1e6/soft^2, damping: 3e3/soft, friction: 0.6, friction_velocity: 10 mm/s*soft}}}
simulate: {method: event-driven, end: 0.5 s}
)"},
    // A sphere set down with v = 1 m/s and no spin rolls from 2 v / (7 mu g) = 1/7 s on with 5/7 v: at 0.5 s
    // v t_1 - mu g t_1^2 / 2 + 5/7 v (t - t_1).
    {"a sphere that begins to roll", "ball.position.x", 1.0 / 7 - 1.0 / 49 + 5.0 / 7 * (0.5 - 1.0 / 7), R"(clatter: 1
gravity: [0, 0, -10 m/s^2]
parameters: {soft: 1}
bodies:
  ball: {mass: 1 kg, shape: {sphere: 0.1 m}, position: [0, 0, 0.1], velocity: [1, 0, 0]}
shapes:
  floor: {on: ground, type: plane}
contacts:
  rub: {between: [ball, floor], law: {type: rigid, friction: 0.2, smooth: {type: linear, stiffness: 1e6/soft^2, damping: 2e3/soft, friction: 0.2, friction_velocity: 10 mm/s*soft}}}
simulate: {method: event-driven, end: 0.5 s}
)"}};

// Time stepping is of first order through impacts, the compliant law in `soft`; both are better where only friction
// changes. Sixteen times finer leaves a sixteenth or less, within a factor of two (the sum of three steps evens out
// where in a step the event falls). Event-driven: its tolerance.
TEST_F(Compare, DifferencesBetweenMethodsShrinkAtTheirOrdersOnThreeContactModels) {
  for (const KnownEnd& model : kKnownEnds) {
    SCOPED_TRACE(model.what);
    const auto end = [&](const std::string& method, const std::string& step, double soft) {
      out_.str("");
      CompareOptions options;
      options.model = file("known.yaml", model.text);
      options.methods = {method};
      if (!step.empty()) options.steps = {step};
      options.quantities = {model.quantity};
      options.changes.parameters = {"soft=" + std::to_string(soft)};
      options.csv = "-";
      options.quiet = true;
      EXPECT_EQ(compare_models(options), kDone) << err_.str();
      return std::abs(std::stod(cells().at(1).at(2)) - model.value);
    };
    EXPECT_LT(end("event-driven", "", 1), 1e-7);
    for (const char* scheme : {"time-stepping/moreau", "time-stepping/generalized-alpha"}) {
      SCOPED_TRACE(scheme);
      const double coarse = end(scheme, "3.3 ms", 1) + end(scheme, "2.9 ms", 1) + end(scheme, "2.3 ms", 1);
      const double fine = end(scheme, "0.20625 ms", 1) + end(scheme, "0.18125 ms", 1) + end(scheme, "0.14375 ms", 1);
      EXPECT_LT(coarse, 8.5e-3 * 8) << "the largest jump of a velocity here is 8 m/s";
      EXPECT_LT(fine, 2 * coarse / 16);
    }
    const double soft = end("smooth/dopri5", "", 1), hard = end("smooth/dopri5", "", 1.0 / 16);
    EXPECT_LT(soft, 0.1);
    EXPECT_LT(hard, 2 * soft / 16);
  }
}

TEST_F(Compare, TakesSchemesAndChangesAndWritesATable) {
  CompareOptions options;
  options.model = file("ball.yaml", kBall);
  options.methods = {"event-driven", "smooth"};
  options.scheme = "radau5";
  options.changes.parameters = {"e=0"};
  options.csv = "";
  options.quiet = true;
  ASSERT_EQ(compare_models(options), kDone) << err_.str();
  EXPECT_TRUE(contains(out_, "event-driven/radau5")) << out_.str();
  EXPECT_TRUE(contains(out_, "smooth/radau5")) << out_.str();
  std::ifstream table("ball.csv");
  std::string line;
  std::getline(table, line);
  EXPECT_TRUE(line.starts_with("method,step [s],ball.position.x [m],difference of ball.position.x [m],")) << line;
  std::getline(table, line);
  EXPECT_TRUE(line.starts_with("event-driven/radau5,,0,,0.1")) << "e = 0: it stays on the floor: " << line;
}

TEST_F(Compare, WrongWordsAreNamedWithTheNearestRightOne) {
  const auto hint = [&](CompareOptions options, const std::string& word) {
    err_.str("");
    options.model = "ball.yaml";
    options.quiet = true;
    EXPECT_EQ(compare_models(options), kBadInput);
    EXPECT_TRUE(contains(err_, word)) << err_.str();
  };
  file("ball.yaml", kBall);
  CompareOptions options;
  options.methods = {"event-drivn"};
  hint(options, "did you mean `event-driven`");
  options.methods = {"time-stepping/moreua"};
  hint(options, "did you mean `moreau`");
  options.methods = {"event-driven", "rk4"};
  hint(options, "cannot integrate rigid contacts");
  options.methods = {"rk4/euler"};
  hint(options, "no schemes");
  options.methods = {"event-driven/smooth"};
  hint(options, "not a scheme");
  options.methods = {"time-stepping"};
  options.steps = {"1 kg"};
  hint(options, "is not a time");
  options.steps = {"0"};
  hint(options, "positive");
  options.steps = {};
  options.quantities = {"ball.positon.y"};
  hint(options, "ball.position");
  EXPECT_EQ(out_.str(), "");
}

// x'' = 2 x^3 from x = 1, x' = 1 is x = 1/(1 - t), at infinity at 1 s. A controlled step cannot get there; Euler's
// steps of half a second go past it and notice nothing.
TEST_F(Compare, AMethodThatFailsIsARowWithItsDiagnosisAndTheOthersStillRun) {
  CompareOptions options;
  options.model = file("blowup.yaml", R"(clatter: 1
bodies:
  p: {type: particle, mass: 1, position: [1, 0, 0], velocity: [1, 0, 0]}
forces:
  push: {type: force, on: p, components: ["2*p.position.x*p.position.x*p.position.x", 0, 0]}
simulate: {method: dopri5, end: 1.5 s}
)");
  options.methods = {"euler", "dopri5", "euler"};
  options.steps = {"0.5 s"};
  options.quiet = true;
  EXPECT_EQ(compare_models(options), kSolveFailed);
  EXPECT_TRUE(contains(out_, "FAILED")) << out_.str();
  EXPECT_TRUE(contains(out_, "  dopri5: ")) << "the diagnosis: " << out_.str();
  EXPECT_FALSE(contains(out_, "penetration")) << "there are no contacts: " << out_.str();
  options.csv = "-";
  out_.str("");
  EXPECT_EQ(compare_models(options), kSolveFailed);
  const auto rows = cells();
  ASSERT_EQ(rows.size(), 4U) << out_.str();
  EXPECT_EQ(rows[2][2], "");
  EXPECT_EQ(std::stod(rows[3][3]), 0) << "the third is the same as the first";
}

}  // namespace
}  // namespace clatter::app
