// `clatter STUDY MODEL`: the same answer as a table, as CSV and from C++.
#include <gtest/gtest.h>

#include <string>

#include "api/clatter.hpp"
#include "fixture.hpp"

namespace clatter::app {
namespace {

class Ask : public Commands {
 protected:
  int ask_model(const AskOptions& options) {
    return guarded(console_, [&] { return ask(options, console_); });
  }
  static std::string stone() {
    return file("stone.yaml", R"(clatter: 1
title: A stone
gravity: [0, -9.81, 0]
bodies:
  stone: {type: particle, mass: 2 kg, velocity: [0, 20, 0]}
outputs: [stone.position]
simulate: {method: dopri5, end: 4 s}
)");
  }
  static api::Setup setup(const std::string& model) {
    api::Setup s;
    s.file = model;
    return s;
  }
  static std::string text_of(const std::string& path) {
    std::ostringstream out;
    out << std::ifstream(path).rdbuf();
    return out.str();
  }
};

TEST_F(Ask, PrintsATableAndWritesNoResult) {
  EXPECT_EQ(ask_model({.study = "simulate", .model = stone(), .changes = {}, .csv = {}, .quiet = true}), kDone);
  EXPECT_NE(out_.str().find("A stone: dopri5"), std::string::npos) << out_.str();
  EXPECT_NE(out_.str().find("stone.position.y"), std::string::npos);
  EXPECT_EQ(files(), 1U) << "the model alone";
}

// All digits: what C++ gets is what the file says.
TEST_F(Ask, WritesTheDigitsThatProgramsGet) {
  const std::string model = stone();
  EXPECT_EQ(ask_model({.study = "simulate", .model = model, .changes = {}, .csv = "", .quiet = true}), kDone);
  const std::string csv = text_of("stone.csv");
  EXPECT_TRUE(csv.starts_with("study,quantity,unit,start,end,least,greatest\nsimulate,stone.position.x,m,")) << csv;
  const api::Answer answer = api::ask(setup(model), "simulate");
  ASSERT_TRUE(answer.finished);
  EXPECT_EQ(answer.columns.at(3), "end");
  for (const auto& row : answer.rows) {
    if (std::get<std::string>(row[0]) != "stone.position.y") continue;
    const double end = std::get<double>(row[3]);
    EXPECT_NEAR(end, 20 * 4 - 9.81 * 16 / 2, 1e-9);
    const std::size_t at = csv.find("stone.position.y,m,0,") + std::string("stone.position.y,m,0,").size();
    EXPECT_EQ(std::stod(csv.substr(at)), end);
    return;
  }
  FAIL() << "no row of the height";
}

TEST_F(Ask, ReplacesItsOwnTableButNoFileOfAnother) {
  const std::string model = stone();
  const AskOptions options{.study = "simulate", .model = model, .changes = {}, .csv = "table.csv", .quiet = true};
  EXPECT_EQ(ask_model(options), kDone);
  EXPECT_EQ(ask_model(options), kDone);
  file("table.csv", "mine\n");
  EXPECT_EQ(ask_model(options), kBadInput);
  EXPECT_EQ(text_of("table.csv"), "mine\n");
}

TEST_F(Ask, TellsTheNearestStudyAndTheDiagnosis) {
  EXPECT_EQ(ask_model({.study = "simulat", .model = stone(), .changes = {}, .csv = {}, .quiet = true}), kBadInput);
  EXPECT_NE(err_.str().find("did you mean `simulate`"), std::string::npos) << err_.str();
  const std::string wild = file("wild.yaml", R"(clatter: 1
bodies:
  stone: {type: particle, mass: 1 kg}
forces:
  push: {type: force, on: stone, components: [1 N / (1 - t / 1 s)^2, 0, 0]}
simulate: {method: dopri5, end: 2 s}
)");
  EXPECT_EQ(ask_model({.study = "simulate", .model = wild, .changes = {}, .csv = {}, .quiet = true}), kSolveFailed);
  EXPECT_NE(err_.str().find("the solve failed"), std::string::npos) << err_.str();
  EXPECT_THROW(api::ask(setup(wild), "simulate"), SolveError);
}

}  // namespace
}  // namespace clatter::app
