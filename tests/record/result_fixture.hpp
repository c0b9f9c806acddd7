// A small chaotic "run" to record: a logistic map per component, whose whole future is in its state, so that any lost,
// doubled or swapped row shows. Also the folder the tests write in, removed at the end.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bit>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "record/reader.hpp"
#include "record/writer.hpp"

namespace clatter::record::test {

class ResultFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "record_test_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  std::filesystem::path folder_;
};

inline RunInfo sample_info() {
  return {
      .model_name = "two rods",
      .model_files = {{"rods.yaml", "bodies: {rod: {mass: 2 kg}}\n# \xC3\xA9t\xC3\xA9\n"}, {"parts/bearing.yaml", ""}},
      .model_hash = std::string(64, 'a'),
      .version = "0.1.0",
      .settings = {{"integrator", "radau5"}, {"tolerance", "1e-8"}, {"empty", ""}},
      .started = "2026-01-02T03:04:05Z",
      .scene = "{\"bodies\":[]}",
      .surfaces = {{"rod", {0, 0, 0, 1, 0, 0, 0, 1, 0}, {0, 1, 2}, {0, 0, 1, 0, 0, 2, 0, 0, 3}},
                   {"rigid", {0, 0, 0, 1, 0, 0, 0, 1, 0}, {2, 1, 0}, {}}}};
}

inline std::vector<Channel> sample_channels() {
  return {{"bodies/rod/position", "m", 3, {"x", "y", "z"}, "centre of mass"},
          {"bodies/rod/orientation", "", 4, {"w", "x", "y", "z"}, ""},
          {"energy", "J", 1, {}, "total"},
          {"bodies/a \"b\", c/position", "m", 3, {"x", "y", "z"}, ""}};
}
inline std::vector<Channel> ledger_channels() { return {{"stored", "J", 1, {}, ""}, {"dissipated", "J", 2, {}, ""}}; }

struct MapRun {
  static constexpr std::size_t kWidth = 11;
  std::uint64_t step = 0;
  std::vector<double> x = [] {
    std::vector<double> start(kWidth);
    for (std::size_t i = 0; i < kWidth; ++i) start[i] = 0.3 + 0.01 * static_cast<double>(i);
    return start;
  }();
  double t() const { return 1e-3 * static_cast<double>(step); }
  void advance() {
    for (double& value : x) value = 3.99 * value * (1.0 - value);
    ++step;
  }
  // One step with all it records. Events, ledger rows and checkpoints come at steps without a common rhythm.
  void record_step(Writer& writer) {
    advance();
    writer.append(t(), x);
    if (step % 7 == 0) writer.append_ledger(t(), std::span(x).first(3));
    if (step % 11 == 0) writer.append_event({t(), "impact", "rod|wall", "step " + std::to_string(step)});
    if (step % 50 == 0) writer.checkpoint(t(), x, std::span(x).first(2), std::span(&step, 1));
  }
  void restore(const Checkpoint& c) {
    x = c.state;
    step = c.counters.at(0);
  }
};

inline WriterOptions sample_options() {
  WriterOptions options;
  options.checkpoint = {MapRun::kWidth, 2, 1};
  return options;
}

inline Writer sample_writer(const std::string& path) {
  return Writer::create(path, sample_info(), sample_channels(), ledger_channels(), sample_options());
}

inline void expect_same_bits(double a, double b, const std::string& where) {
  EXPECT_EQ(std::bit_cast<std::uint64_t>(a), std::bit_cast<std::uint64_t>(b)) << where;
}

// Everything the reader shows is what a MapRun records: bit for bit, without gap, whatever the number of rows. Returns
// false at the first difference.
inline bool is_prefix_of_run(const Reader& reader) {
  const RowCounts rows = reader.rows();
  const std::vector<double> times = reader.times();
  std::vector<RowMatrix> data;
  for (const Channel& c : reader.channels()) data.push_back(reader.read(c.name));
  const std::vector<double> ledger_times = reader.ledger_times();
  const RowMatrix dissipated = reader.read_ledger("dissipated");
  const std::vector<Event> events = reader.events();
  if (times.size() != rows.samples || ledger_times.size() != rows.ledger || events.size() != rows.events) return false;
  // The tables are committed together, so each may be at most one commit behind another within one step.
  MapRun run;
  for (std::uint64_t i = 0; i < rows.samples; ++i) {
    run.advance();
    if (times[i] != run.t()) return false;
    std::size_t at = 0;
    for (const RowMatrix& m : data)
      for (const double value : m.row(static_cast<Eigen::Index>(i)))
        if (value != run.x[at++]) return false;
    if (run.step % 7 == 0 && run.step / 7 <= rows.ledger) {
      const std::uint64_t k = run.step / 7 - 1;
      const auto row = dissipated.row(static_cast<Eigen::Index>(k));
      if (ledger_times[k] != run.t() || row[0] != run.x[1] || row[1] != run.x[2]) return false;
    }
    if (run.step % 11 == 0 && run.step / 11 <= rows.events) {
      const Event& e = events[run.step / 11 - 1];
      if (e != Event{run.t(), "impact", "rod|wall", "step " + std::to_string(run.step)}) return false;
    }
    if (run.step % 50 == 0 && run.step / 50 <= rows.checkpoints) {
      const Checkpoint c = reader.checkpoint(run.step / 50 - 1);
      if (c.t != run.t() || c.state != run.x || c.counters.at(0) != run.step || c.rows.samples != run.step)
        return false;
    }
  }
  const std::uint64_t n = rows.samples;
  return rows.ledger <= n / 7 && rows.ledger + 1 >= n / 7 && rows.events <= n / 11 && rows.events + 1 >= n / 11 &&
         rows.checkpoints <= n / 50 && rows.checkpoints + 1 >= n / 50;
}

// Runs `work` in a child process that ends without touching the parent's test state.
template <class Work>
pid_t in_child(const Work& work) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  try {
    work();
  } catch (...) {
    ::_exit(99);
  }
  ::_exit(0);
}

}  // namespace clatter::record::test
