// What commands write, and what they must never cost the user: results, models, notes. Runs that go on only with what
// they began with.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>

#include "app/result_page.hpp"
#include "base/error.hpp"
#include "fixture.hpp"
#include "record/writer.hpp"
#include "source_root.hpp"
#include "study/changes.hpp"
#include "study/simulate.hpp"

namespace clatter::app {
namespace {

constexpr const char* kStone = R"(clatter: 1
gravity: [0, -9.81 m/s^2, 0]
bodies:
  stone: {type: planar, mass: 2 kg, inertia: 1, velocity: [1, 20]}
checks:
  - {quantity: stone.position.x, value: 4 m, tolerance: 1e-9 m, from: closed form}
simulate: {method: dopri5, end: 4 s, output_step: 0.02 s, checkpoint: 0.1 s}
)";

class FileRules : public Commands {
 protected:
  void SetUp() override {
    Commands::SetUp();
    file("stone.yaml", kStone);
    RunOptions options;
    options.model = "stone.yaml";
    options.quiet = true;
    ASSERT_EQ(run_model(options), kDone) << err_.str();
    result_ = text_of("stone.h5");
  }
  int exported(const std::string& csv, const std::string& vtk = "", bool force = false) {
    ExportOptions options;
    options.result = "stone.h5";
    if (!csv.empty()) options.csv = csv;
    if (!vtk.empty()) options.vtk = vtk;
    options.force = force;
    return guarded(console_, [&] { return export_result(options, console_); });
  }
  int plotted(const std::string& path, bool force = false) {
    PlotOptions options;
    options.result = "stone.h5";
    options.quantities = {"stone.position"};
    options.output = path;
    options.force = force;
    return guarded(console_, [&] { return plot(options, console_); });
  }
  int compared(const std::string& csv, bool force = false) {
    CompareOptions options;
    options.model = "stone.yaml";
    options.methods = {"dopri5"};
    options.csv = csv;
    options.quiet = options.force = force;
    return guarded(console_, [&] { return compare(options, console_); });
  }
  int verified(const std::string& folder, bool force = false) {
    VerifyOptions options;
    options.paths = {"stone.yaml"};
    options.gallery = folder;
    options.force = force;
    return verify_models(options);
  }
  int continued(const std::string& result, double end = 0) {
    RunOptions options;
    options.continue_from = result;
    options.quiet = true;
    if (end > 0) options.changes.end = end;
    return run_model(options);
  }
  std::string result_;
};

TEST_F(FileRules, NoCommandWritesOverWhatItReadsNotEvenWithForce) {
  fs::create_hard_link("stone.h5", "hard.csv");
  fs::create_symlink("stone.h5", "soft.csv");
  fs::create_hard_link("stone.h5", "figure.svg");
  for (const bool force : {false, true}) {
    for (const char* name : {"stone.h5", "./stone.h5", "hard.csv", "soft.csv"})
      EXPECT_EQ(exported(name, "", force), kBadInput) << name;
    EXPECT_EQ(plotted("figure.svg", force), kBadInput);
    EXPECT_EQ(compared("stone.yaml", force), kBadInput);
    RunOptions run;
    run.model = run.result = "stone.yaml";
    run.force = force;
    EXPECT_EQ(run_model(run), kBadInput);
  }
  EXPECT_EQ(text_of("stone.h5"), result_);
  EXPECT_EQ(text_of("stone.yaml"), kStone);
  EXPECT_EQ(files(), 5U) << "nothing else was left";
}

TEST_F(FileRules, WhatIsNotOfTheKindIsReplacedOnlyWithForce) {
  const std::string notes = "my notes\n";
  for (const char* name : {"notes.csv", "notes.svg", "notes.pdf", "notes.png", "series.pvd", "gallery.json"})
    file(name, notes);
  EXPECT_EQ(exported("notes.csv"), kBadInput);
  EXPECT_TRUE(contains(err_, "notes.csv is there already and is not a table of `clatter export`")) << err_.str();
  EXPECT_TRUE(contains(err_, "--force")) << err_.str();
  EXPECT_EQ(compared("notes.csv"), kBadInput);
  EXPECT_EQ(exported("", "series"), kBadInput);
  EXPECT_FALSE(fs::exists("series_vtp"));
  for (const char* name : {"notes.svg", "notes.pdf", "notes.png"}) EXPECT_EQ(plotted(name), kBadInput) << name;
  EXPECT_EQ(verified("."), kBadInput);
  for (const char* name : {"notes.csv", "notes.svg", "notes.pdf", "notes.png", "series.pvd", "gallery.json"})
    EXPECT_EQ(text_of(name), notes) << name;

  // Then by force, and then, being of the kind, without.
  for (const bool force : {true, false}) {
    EXPECT_EQ(exported("notes.csv", "", force), kDone) << err_.str();
    EXPECT_EQ(exported("", "series", force), kDone) << err_.str();
    for (const char* name : {"notes.svg", "notes.pdf", "notes.png"}) EXPECT_EQ(plotted(name, force), kDone) << name;
    EXPECT_EQ(verified(".", force), kDone) << err_.str();
  }
  EXPECT_TRUE(text_of("notes.csv").starts_with("time [s],"));
  EXPECT_EQ(compared("notes.csv"), kBadInput) << "a table of another command is of another kind";
}

TEST_F(FileRules, ASeriesTakesThePlaceOfAnOlderOneAndKeepsWhatIsNotPartOfIt) {
  ASSERT_EQ(exported("", "out"), kDone) << err_.str();
  const auto frames = [] { return std::distance(fs::directory_iterator("out_vtp"), fs::directory_iterator()); };
  EXPECT_EQ(frames(), 201);
  file("out_vtp/readme.txt", "notes\n");
  ExportOptions options;
  options.result = "stone.h5";
  options.vtk = "out";
  options.stride = 10;
  ASSERT_EQ(guarded(console_, [&] { return export_result(options, console_); }), kDone) << err_.str();
  EXPECT_EQ(frames(), 22) << "frames of the longer series are gone";
  EXPECT_EQ(text_of("out_vtp/readme.txt"), "notes\n");
  EXPECT_EQ(files(), 4U) << "model, result, series and its folder";
  file("out_vtp/frame_000003.vtp", "mine\n");
  EXPECT_EQ(exported("", "out"), kBadInput);
  EXPECT_EQ(text_of("out_vtp/frame_000003.vtp"), "mine\n");
}

TEST_F(FileRules, ARunReplacesOnlyResultsUnlessForced) {
  file("other.h5", "not a result\n");
  RunOptions options;
  options.model = "stone.yaml";
  options.result = "other.h5";
  options.quiet = true;
  EXPECT_EQ(run_model(options), kBadInput);
  EXPECT_EQ(text_of("other.h5"), "not a result\n");
  options.force = true;
  EXPECT_EQ(run_model(options), kDone) << err_.str();
  EXPECT_EQ(record::Reader("other.h5").status(), record::Status::kFinished);
}

// 100 bytes of a result, one at a time: what is exported is what was recorded, or nothing is.
TEST_F(FileRules, ADamagedResultExportsTheSameTableOrNone) {
  ASSERT_EQ(exported("whole.csv"), kDone);
  const std::string whole = text_of("whole.csv");
  std::mt19937_64 random(7);
  int refused = 0;
  for (int round = 0; round < 100; ++round) {
    std::string bytes = result_;
    const std::size_t at = random() % bytes.size();
    bytes[at] = static_cast<char>(bytes[at] ^ static_cast<char>(1 + random() % 255));
    fs::remove("stone.h5");
    file("stone.h5", bytes);
    fs::remove("a.csv");
    const int code = exported("a.csv");
    if (code == kDone) {
      EXPECT_EQ(text_of("a.csv"), whole) << "byte " << at;
    } else {
      EXPECT_EQ(code, kBadInput);
      EXPECT_FALSE(fs::exists("a.csv"));
      ++refused;
    }
  }
  EXPECT_GT(refused, 25);
}

TEST_F(FileRules, ADamagedCheckpointGoesOnToTheSameEndOrIsRefused) {
  ASSERT_EQ(continued("stone.h5", 5), kDone) << err_.str();
  ASSERT_EQ(exported("whole.csv"), kDone);
  const std::string whole = text_of("whole.csv");
  std::mt19937_64 random(8);
  for (int round = 0; round < 30; ++round) {
    std::string bytes = result_;
    const std::size_t at = random() % bytes.size();
    bytes[at] = static_cast<char>(bytes[at] ^ static_cast<char>(1 + random() % 255));
    fs::remove("stone.h5");
    file("stone.h5", bytes);
    const int code = continued("stone.h5", 5);
    if (code != kDone) {
      EXPECT_EQ(code, kBadInput) << err_.str();
      continue;
    }
    fs::remove("a.csv");
    ASSERT_EQ(exported("a.csv"), kDone) << err_.str();
    EXPECT_EQ(text_of("a.csv"), whole) << "byte " << at;
  }
}

TEST_F(FileRules, ARunWhoseIncludeWasChangedDoesNotGoOn) {
  file("part.yaml", "clatter: 1\nbodies:\n  ball: {type: planar, mass: 1 kg, inertia: 1}\n");
  file("main.yaml", "clatter: 1\ninclude: [part.yaml]\nsimulate: {method: dopri5, end: 1 s}\n");
  RunOptions options;
  options.model = "main.yaml";
  options.quiet = true;
  ASSERT_EQ(run_model(options), kDone) << err_.str();
  file("part.yaml", "clatter: 1\nbodies:\n  ball: {type: planar, mass: 2 kg, inertia: 1}\n");
  EXPECT_EQ(continued("main.h5", 2), kBadInput);
  EXPECT_TRUE(contains(err_, "part.yaml was changed since the run began")) << err_.str();
  fs::remove("part.yaml");  // the result has its text
  EXPECT_EQ(continued("main.h5", 2), kDone) << err_.str();
}

TEST_F(FileRules, ARunWhoseBodyWasReadFromAFileGoesOnOnlyWithThatFile) {
  file("rod.yaml", R"(clatter: 1
bodies:
  rod:
    type: flexible
    mesh: {beam: 1 m, elements: 4}
    section: {rectangle: [1 cm, 1 cm], shear: false}
    material: {density: 7800 kg/m^3, young: 210 GPa, poisson: 0.3}
    interfaces: {root: start, tip: end}
    reduce: {method: modal, clamped: root, modes: 2}
    reference: root
simulate: {end: 1 s}
)");
  ReduceOptions reduction;
  reduction.model = "rod.yaml";
  reduction.sid = ".";
  ASSERT_EQ(guarded(console_, [&] { return reduce(reduction, console_); }), kDone) << err_.str();
  file("swing.yaml",
       "clatter: 1\nbodies:\n  rod: {type: flexible, mesh: rod.sid}\njoints:\n  wall: {type: fixed, between: [ground, "
       "rod.root]}\ngravity: [0, 0, -9.81]\nsimulate: {method: radau5, end: 2 ms}\n");
  RunOptions options;
  options.model = "swing.yaml";
  options.quiet = true;
  ASSERT_EQ(run_model(options), kDone) << err_.str();
  EXPECT_EQ(continued("swing.h5", 0.003), kDone) << err_.str();
  reduction.model = "swing.yaml";  // its body is named as the file it comes from
  reduction.force = true;
  EXPECT_EQ(guarded(console_, [&] { return reduce(reduction, console_); }), kBadInput);

  std::string sid = text_of("rod.sid");
  const std::size_t digit = sid.find("mass = ") + 9;
  sid[digit] = sid[digit] == '9' ? '8' : '9';
  file("rod.sid", sid);
  EXPECT_EQ(continued("swing.h5", 0.004), kBadInput);
  EXPECT_TRUE(contains(err_, "rod.sid was changed since the run began")) << err_.str();
  // A page about the result neither reads the file it does not know nor fails.
  const record::Reader reader("swing.h5");
  EXPECT_NE(checks_json(reader).find("not here as the run read it"), std::string::npos) << checks_json(reader);
  fs::remove("rod.sid");
  EXPECT_EQ(continued("swing.h5", 0.004), kBadInput);
}

// A foreign file in place of a result: what it holds reaches a page as text and as numbers, never as a part of it.
TEST_F(FileRules, NothingOfAForeignResultIsPartOfAPage) {
  const std::string evil = "</script><script>alert(1)</script><!--";
  record::RunInfo info;
  info.model_name = info.version = info.started = evil;
  info.model_files = {{evil, evil}};
  info.settings = {{evil, evil}};
  const auto page_of = [&](const std::string& scene) {
    info.scene = scene;
    {
      record::Writer writer = record::Writer::create(
          "evil.h5", info, {{"bodies/" + std::string("<b>") + "/position", evil, 1, {evil}, evil}},
          {{"stored" + std::string("<i>"), evil, 1, {}, evil}});
      writer.append(0, std::vector<double>{1});
      writer.append_event({0, "<script>", evil, evil});
      writer.finish(record::Status::kFinished, evil, evil);
    }
    const record::Reader reader("evil.h5");
    return meta_json(reader) + progress_json(reader) + events_json(reader, 0, 10) + checks_json(reader);
  };
  const std::string sound = R"({"version":1,"title":"\u003c/script>","bodies":[],"ground":{"shapes":[],"anchors":[]}})";
  const std::string page = page_of(sound);
  EXPECT_EQ(page.find('<'), std::string::npos) << page;
  EXPECT_NE(page.find("\\u003c/script>"), std::string::npos) << page;
  for (const std::string& scene : {evil, "0" + evil, R"({"version":1})" + evil,
                                   std::string(R"({"version":1,"bodies":[],"ground":")") + evil + "\"}"})
    EXPECT_THROW(page_of(scene), record::ResultError) << scene;
}

// --- runs that fail -------------------------------------------------------------------------------------------------

TEST_F(FileRules, ARunThatLeavesAllBoundsIsADiagnosisWithNamesAndHoldsNumbersOnly) {
  struct Case {
    const char *method, *step;
  };
  for (const Case& c : {Case{"time-stepping/generalized-alpha", ""}, Case{"time-stepping/moreau", ""},
                        Case{"smooth/rk4", ""}, Case{"event-driven", ""}}) {
    RunOptions options;
    options.model = file("fall.yaml", R"(clatter: 1
gravity: [0, -1e157 m/s^2, 0]
bodies:
  ball: {type: planar, mass: 2 kg, inertia: 0.008 kg*m^2, position: [0, 0.9 m, 0], velocity: [1e157, 0]}
shapes:
  hull: {on: ball, type: circle, radius: 10 cm}
  floor: {on: ground, type: line}
contacts:
  bounce: {between: [hull, floor], law: {type: rigid, restitution: 0.9, friction: 0.3}}
simulate: {method: event-driven, end: 5 s, step: 1 ms}
)");
    options.result = "fall.h5";
    options.quiet = true;
    options.changes.method = c.method;
    options.changes.step = 1e-3;
    err_.str("");
    EXPECT_EQ(run_model(options), kSolveFailed) << c.method << err_.str();
    EXPECT_TRUE(contains(err_, " at t = ")) << c.method << err_.str();
    EXPECT_TRUE(contains(err_, "concerns: ")) << c.method << err_.str();
    EXPECT_TRUE(contains(err_, "try: ")) << c.method << err_.str();
    EXPECT_FALSE(contains(err_, "defect")) << c.method << err_.str();
    const record::Reader reader("fall.h5");
    EXPECT_EQ(reader.status(), record::Status::kFailed);
    for (const record::Channel& channel : reader.channels())
      EXPECT_TRUE(reader.read(channel.name).allFinite()) << c.method << channel.name;
    for (const record::Channel& channel : reader.ledger_channels())
      EXPECT_TRUE(reader.read_ledger(channel.name).allFinite()) << c.method << channel.name;
  }
}

// --- the order of events --------------------------------------------------------------------------------------------

struct Record : study::Sink {
  struct Line {
    double t;
    std::string element, what, detail;
    bool operator==(const Line&) const = default;
  };
  std::vector<Line> events;
  std::vector<std::vector<double>> checkpoints;
  std::vector<std::size_t> events_before;
  std::vector<double> last;
  void sample(double, std::span<const double> values) override { last.assign(values.begin(), values.end()); }
  void ledger(double, std::span<const double>) override {}
  void event(double t, const StepEvent& e) override { events.push_back({t, e.element, e.what, e.detail}); }
  void checkpoint(double, std::span<const double> memory) override {
    checkpoints.emplace_back(memory.begin(), memory.end());
    events_before.push_back(events.size());
  }
};

// The box slides on four corners whose normal forces depend on each other, which is noted once for as long as it lasts;
// its corners then stick at one moment. Every continued run says the same in the same order.
TEST_F(FileRules, AContinuedRunHasTheSameEventsInTheSameOrder) {
  const std::string path = source_root() + "/models/contact/box_thrown.yaml";
  const auto run = [&](Record& record, std::span<const double> memory) {
    Model model = study::load_changed(path, {});
    model.simulate.checkpoint_interval = 0.03;
    study::Prepared prepared = study::prepare(std::move(model));
    const Observer observer = study::recorder(prepared);
    study::RunRequest request;
    request.sink = &record;
    request.memory = memory;
    EXPECT_TRUE(study::simulate(prepared, observer, request).finished);
  };
  Record whole;
  run(whole, {});
  ASSERT_GT(whole.checkpoints.size(), 10U);
  for (std::size_t k = 0; k + 1 < whole.checkpoints.size(); k += 3) {
    Record part;
    run(part, whole.checkpoints[k]);
    const std::vector<Record::Line> wanted(whole.events.begin() + static_cast<std::ptrdiff_t>(whole.events_before[k]),
                                           whole.events.end());
    EXPECT_EQ(part.events.size(), wanted.size()) << "from checkpoint " << k;
    EXPECT_TRUE(part.events == wanted) << "from checkpoint " << k;
    EXPECT_EQ(part.last, whole.last);
  }
}

}  // namespace
}  // namespace clatter::app
