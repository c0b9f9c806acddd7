// Every study of the table keeps the same promises.
#include "study/study.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <set>

#include "base/error.hpp"
#include "model/load.hpp"
#include "model/schema.hpp"
#include "study/method.hpp"

namespace clatter::study {
namespace {

// A stone thrown up at 20 m/s: highest after 20/9.81 s, v^2/(2 g) above the ground.
constexpr const char* kStone = R"(clatter: 1
gravity: [0, -9.81, 0]
bodies:
  stone: {type: particle, mass: 2 kg, velocity: [0, 20, 0]}
checks:
  - {quantity: stone.position.y, at: maximum, value: 20.387359837 m, tolerance: 1e-6 m, from: v^2/(2 g)}
simulate: {method: dopri5, end: 4 s}
)";

Prepared prepared(const char* text) {
  Model model = load_model_text(text, "stone.yaml", {});
  decide_steps(model);
  return prepare(std::move(model));
}

class EveryStudy : public testing::TestWithParam<const Study*> {};

TEST_P(EveryStudy, IsFoundByItsNameAndItsKeyIsOneOfTheModelLanguage) {
  const Study& study = *GetParam();
  EXPECT_EQ(&study_named(study.name()), &study);
  EXPECT_NE(json_schema().find("\"" + std::string(study.key()) + "\""), std::string::npos);
  EXPECT_FALSE(study.purpose().empty());
}

TEST_P(EveryStudy, AnswersWithATableOfFiniteNumbersAndTellsHowFarItIs) {
  Prepared p = prepared(kStone);
  std::vector<Progress> seen;
  Request request;
  request.progress = [&](const Progress& progress) { seen.push_back(progress); };
  const Answer answer = GetParam()->run(p, request);
  EXPECT_EQ(answer.status, Status::finished);
  EXPECT_FALSE(answer.failure);
  ASSERT_FALSE(answer.table.rows.empty());
  for (const auto& row : answer.table.rows) {
    ASSERT_EQ(row.size(), answer.table.columns.size());
    for (const ResultTable::Cell& cell : row) {
      if (std::holds_alternative<std::string>(cell)) continue;
      EXPECT_TRUE(std::isfinite(std::get<double>(cell)));
    }
  }
  ASSERT_FALSE(seen.empty());
  for (std::size_t i = 1; i < seen.size(); ++i) EXPECT_GE(seen[i].done, seen[i - 1].done);
  EXPECT_LE(seen.back().done, 1);
  EXPECT_FALSE(answer.method.empty());
}

TEST_P(EveryStudy, StopsWhenAskedTo) {
  Prepared p = prepared(kStone);
  std::atomic<bool> stop = false;
  Request request;
  request.stop = &stop;
  request.progress = [&](const Progress&) { stop = true; };
  const Answer answer = GetParam()->run(p, request);
  EXPECT_EQ(answer.status, Status::stopped);
  EXPECT_FALSE(answer.failure);
}

INSTANTIATE_TEST_SUITE_P(Studies, EveryStudy, testing::ValuesIn(studies().begin(), studies().end()),
                         [](const auto& of) { return std::string(of.param->name()); });

TEST(Studies, HaveNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (const Study* study : studies()) EXPECT_TRUE(names.insert(study->name()).second) << study->name();
}

TEST(Studies, TellTheNearestWord) {
  try {
    study_named("simulat");
    FAIL() << "there is no such study";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean `simulate`"), std::string::npos) << error.what();
  }
}

// The table of a simulation, and its checks, against the closed form.
TEST(SimulateStudy, TellsStartEndAndExtremesOfEveryNumber) {
  Prepared p = prepared(kStone);
  const Answer answer = study_named("simulate").run(p, {});
  const auto value = [&](const std::string& quantity, const std::string& column) {
    std::size_t k = 0;
    while (answer.table.columns.at(k).name != column) ++k;
    for (const auto& row : answer.table.rows)
      if (std::get<std::string>(row[0]) == quantity) return std::get<double>(row[k]);
    ADD_FAILURE() << quantity;
    return 0.0;
  };
  EXPECT_EQ(value("stone.position.y", "start"), 0);
  EXPECT_NEAR(value("stone.position.y", "end"), 20 * 4 - 9.81 * 16 / 2, 1e-9);
  EXPECT_NEAR(value("stone.position.y", "greatest"), 400 / (2 * 9.81), 9.81 * 0.002 * 0.002 / 2);  // half a sample off
  EXPECT_NEAR(value("stone.velocity.y", "least"), 20 - 9.81 * 4, 1e-9);
  ASSERT_EQ(answer.checks.size(), 1U);
  EXPECT_TRUE(answer.checks[0].ok());
  EXPECT_EQ(answer.reached, 4);
}

// A force that grows beyond all bounds at t = 1 s ends in a diagnosis and in how far it came.
TEST(SimulateStudy, NamesWhatFailed) {
  Prepared p = prepared(R"(clatter: 1
bodies:
  stone: {type: particle, mass: 1 kg, position: [1, 0, 0]}
forces:
  push: {type: force, on: stone, components: [1 N / (1 - t / 1 s)^2, 0, 0]}
simulate: {method: dopri5, end: 2 s}
)");
  const Answer answer = study_named("simulate").run(p, {});
  EXPECT_EQ(answer.status, Status::failed);
  ASSERT_TRUE(answer.failure);
  EXPECT_NEAR(answer.reached, 1, 1e-3);
}

}  // namespace
}  // namespace clatter::study
