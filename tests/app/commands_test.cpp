// The commands as a user meets them: what they print, write and return.
#include "app/commands.hpp"

#include <sys/resource.h>

#include "fixture.hpp"

namespace clatter::app {
namespace {

// A stone thrown up: y = v t - g t^2 / 2, so 4 s after a start with 20 m/s it is at 80 - 78.48 = 1.52 m, and highest at
// v^2 / (2 g) = 20.387359836901... m.
constexpr const char* kStone = R"(clatter: 1
title: A stone thrown up
parameters: {v: 20 m/s}
gravity: [0, -9.81 m/s^2, 0]
bodies:
  stone: {type: particle, mass: 2 kg, position: [0, 0, 0], velocity: [0, v, 0]}
checks:
  - {quantity: stone.position.y, value: 1.52 m, tolerance: 1e-9 m, from: closed form}
  - {quantity: stone.position.y, at: max, value: 20.38735983690112 m, tolerance: 1e-9 m, from: closed form}
  - {quantity: energy.total, at: drift, value: 0 J, tolerance: 1e-9 J, from: conservation}
simulate: {method: dopri5, end: 4 s}
)";

// Two pendulum links with a spring and a damper between them: long enough to be killed, with inner life in the ledger.
constexpr const char* kPendulum = R"(clatter: 1
title: Two links
gravity: [0, 0, -9.81]
bodies:
  upper: {mass: 1 kg, inertia: [0.1, 0.1, 0.02], position: [0.5, 0, 0]}
  lower: {mass: 1 kg, inertia: [0.1, 0.1, 0.02], position: [1.5, 0, 0]}
joints:
  hip: {type: revolute, between: [ground, upper], at: [0, 0, 0], axis: y}
  knee: {type: revolute, between: [upper, lower], at: [1, 0, 0], axis: y}
forces:
  brake: {type: torsion-spring, joint: knee, stiffness: 2, damping: 0.05}
simulate: {method: METHOD, end: 20 s, step: 1e-4 s, output_step: 0.01 s, checkpoint: 0.25 s}
)";

std::string pendulum(const std::string& method) {
  std::string text = kPendulum;
  return text.replace(text.find("METHOD"), 6, method);
}

TEST_F(Commands, RunWritesAResultNamedAfterTheModelAndSumsUp) {
  RunOptions options;
  options.model = file("stone.yaml", kStone);
  ASSERT_EQ(run_model(options), kDone) << err_.str();
  EXPECT_TRUE(contains(out_, "A stone thrown up")) << out_.str();
  EXPECT_TRUE(contains(out_, "3 degrees of freedom")) << out_.str();
  EXPECT_TRUE(contains(out_, "energy ledger")) << out_.str();
  EXPECT_TRUE(contains(out_, "closes")) << out_.str();
  EXPECT_FALSE(contains(out_, "FAIL")) << out_.str();
  const record::Reader reader("stone.h5");
  EXPECT_EQ(reader.status(), record::Status::kFinished);
  EXPECT_EQ(reader.info().model_files.front().text, kStone);
  const auto y = reader.read("bodies/stone/position");
  EXPECT_NEAR(y(y.rows() - 1, 1), 1.52, 1e-9);
}

TEST_F(Commands, RunTakesChangesFromTheCommandLine) {
  RunOptions options;
  options.model = file("stone.yaml", kStone);
  options.result = "other.h5";
  options.changes.parameters = {"v=10 m/s"};
  options.changes.end = 1.0;
  options.changes.method = "rk4";
  options.changes.step = 0.01;
  options.quiet = true;
  ASSERT_EQ(run_model(options), kDone) << err_.str();
  EXPECT_EQ(out_.str(), "");
  const record::Reader reader("other.h5");
  EXPECT_EQ(reader.times().back(), 1.0);
  const auto y = reader.read("bodies/stone/position");
  EXPECT_NEAR(y(y.rows() - 1, 1), 10 - 9.81 / 2, 1e-12);  // RK4 is exact for a parabola: rounding of 100 steps
}

TEST_F(Commands, BadInputNamesThePlaceReturnsTwoAndWritesNothing) {
  std::string text = kStone;
  text.replace(text.find("mass:"), 5, "mas:");
  RunOptions options;
  options.model = file("stone.yaml", text);
  EXPECT_EQ(run_model(options), kBadInput);
  EXPECT_TRUE(contains(err_, "stone.yaml:6:")) << err_.str();
  EXPECT_TRUE(contains(err_, "mass")) << err_.str();
  EXPECT_EQ(files(), 1U);
  options.model = "nowhere.yaml";
  EXPECT_EQ(run_model(options), kBadInput);
  EXPECT_EQ(files(), 1U);
}

TEST_F(Commands, WrongOptionsAreExplained) {
  RunOptions options;
  options.model = file("stone.yaml", kStone);
  options.changes.method = "rk5";
  EXPECT_EQ(run_model(options), kBadInput);
  EXPECT_TRUE(contains(err_, "rk4")) << err_.str();
  options.changes.method = "rk4";
  EXPECT_EQ(run_model(options), kBadInput);
  EXPECT_TRUE(contains(err_, "--step")) << err_.str();
  options.changes.method.reset();
  options.changes.end = -1;
  EXPECT_EQ(run_model(options), kBadInput);
  options.changes.end.reset();
  options.changes.parameters = {"speed"};
  EXPECT_EQ(run_model(options), kBadInput);
  options.changes.parameters = {"w=3"};
  EXPECT_EQ(run_model(options), kBadInput);
  EXPECT_EQ(files(), 1U);
}

TEST_F(Commands, RunDoesNotReplaceTheResultOfAnotherModelUnasked) {
  fs::create_directory("sub");
  RunOptions options;
  options.model = file("stone.yaml", kStone);
  options.quiet = true;
  ASSERT_EQ(run_model(options), kDone);
  ASSERT_EQ(run_model(options), kDone) << "a model replaces its own result";
  file("pebble.yaml", kStone);
  options.model = "pebble.yaml";
  options.result = "stone.h5";
  ASSERT_EQ(run_model(options), kDone) << "asked for by name";
  options.model = "stone.yaml";
  options.result = "";
  EXPECT_EQ(run_model(options), kBadInput);
  EXPECT_TRUE(contains(err_, "another model")) << err_.str();
  file("notes.h5", "not a result");
  options.result = "notes.h5";
  EXPECT_NE(run_model(options), kDone);
  EXPECT_EQ(fs::file_size("notes.h5"), 12U);
}

TEST_F(Commands, VerifyComparesEveryModelOfAFolder) {
  fs::create_directories("models/sub");
  file("models/stone.yaml", kStone);
  file("models/sub/plain.yaml", "clatter: 1\nbodies:\n  p: {type: particle, mass: 1, position: [0, 0, 0]}\n");
  EXPECT_EQ(verify_models({{"models"}, {}, 2, false, {}}), kDone) << out_.str() << err_.str();
  EXPECT_TRUE(contains(out_, "maximum of stone.position.y")) << out_.str();
  EXPECT_TRUE(contains(out_, "has no checks")) << out_.str();
  EXPECT_TRUE(contains(out_, "1 passed, 0 failed")) << out_.str();
}

TEST_F(Commands, VerifyReturnsOneWhenACheckFallsShortAndSaysWhich) {
  std::string text = kStone;
  text.replace(text.find("1.52 m"), 6, "1.53 m");
  EXPECT_EQ(verify_models({{file("stone.yaml", text)}, {}, 2, false, {}}), kChecksFail);
  EXPECT_TRUE(contains(out_, "FAIL")) << out_.str();
  EXPECT_TRUE(contains(out_, "-0.01")) << out_.str();
  EXPECT_TRUE(contains(out_, "0 passed, 1 failed")) << out_.str();
}

// A ball under one of ten thousand times its mass: ten sweeps a step do not carry it. The check holds all the same
// (what falls stays on its line), and says nothing about that.
constexpr const char* kUnlike = R"(clatter: 1
gravity: [0, 0, -9.81 m/s^2]
bodies:
  light: {mass: 1 kg, shape: {sphere: 10 cm}, position: [0, 0, 10 cm]}
  heavy: {mass: 10000 kg, shape: {sphere: 10 cm}, position: [0, 0, 30 cm]}
shapes: {floor: {on: ground, type: plane}}
contacts: {pile: {among: [light, heavy, floor], law: {type: rigid}}}
simulate: {method: time-stepping, contact_solver: gauss-seidel, contact_iterations: 10, step: 1 ms, end: 0.1 s}
checks:
  - {quantity: heavy.position.x, at: final, value: 0, tolerance: 1e-9, from: symmetry}
)";

TEST_F(Commands, VerifyFailsAModelWhoseContactsWereNotSolved) {
  EXPECT_EQ(verify_models({{file("unlike.yaml", kUnlike)}, {}, 2, false, {}}), kChecksFail);
  EXPECT_TRUE(contains(out_, "FAIL")) << out_.str();
  EXPECT_TRUE(contains(out_, "contacts-not-solved: the contacts of 9")) << out_.str();
  EXPECT_TRUE(contains(out_, "`light`")) << out_.str();
  EXPECT_TRUE(contains(out_, "0 passed, 1 failed")) << out_.str();
  std::string text = kUnlike;
  text.replace(text.find("contact_iterations: 10, "), 24, "");
  out_.str("");
  EXPECT_EQ(verify_models({{file("solved.yaml", text)}, {}, 2, false, {}}), kDone) << out_.str();
}

TEST_F(Commands, ARunWhoseContactsWereNotSolvedSaysSoAndKeepsItInTheResult) {
  RunOptions options;
  options.model = file("unlike.yaml", kUnlike);
  options.result = "unlike.h5";
  EXPECT_EQ(run_model(options), kDone);
  EXPECT_TRUE(contains(out_, "warning: contacts-not-solved")) << out_.str();
  out_.str("");
  EXPECT_EQ(info("unlike.h5", {}, console_), kDone);
  EXPECT_TRUE(contains(out_, "warning: contacts-not-solved: the contacts of 9")) << out_.str();
}

TEST_F(Commands, VerifyReturnsTwoForAModelThatCannotBeRead) {
  const std::string good = file("good.yaml", kStone);
  const std::string bad = file("bad.yaml", "clatter: 1\nbodys: {}\n");
  EXPECT_EQ(verify_models({{good, bad}, {}, 2, false, {}}), kBadInput);
  EXPECT_TRUE(contains(out_, "1 passed, 1 failed")) << out_.str();
  EXPECT_TRUE(contains(out_, "bodies")) << out_.str();
  EXPECT_EQ(verify_models({{"no-such-folder"}, {}, 2, false, {}}), kBadInput);
}

// x'' = x^3 from x = 1, v = 1 leaves every bound in finite time: no integrator gets past it. What was computed before
// stays.
TEST_F(Commands, AFailingSolveKeepsTheResultsSoFarAndNamesTheDiagnosis) {
  RunOptions options;
  options.model = file("blowup.yaml", R"(clatter: 1
bodies:
  p: {type: particle, mass: 1, position: [1, 0, 0], velocity: [1, 0, 0]}
forces:
  push: {type: force, on: p, components: ["2*p.position.x*p.position.x*p.position.x", 0, 0]}
simulate: {method: dopri5, end: 10 s}
)");
  EXPECT_EQ(run_model(options), kSolveFailed) << out_.str();
  EXPECT_TRUE(contains(err_, "p.x")) << err_.str();
  EXPECT_TRUE(contains(err_, "blowup.h5")) << err_.str();
  const record::Reader reader("blowup.h5");
  EXPECT_EQ(reader.status(), record::Status::kFailed);
  EXPECT_GT(reader.rows().samples, 50U);
  EXPECT_FALSE(reader.message().empty());
}

TEST_F(Commands, InfoTellsBodiesDegreesOfFreedomAndEnergy) {
  file("pendulum.yaml", pendulum("dopri5"));
  ASSERT_EQ(guarded(console_, [&] { return info("pendulum.yaml", {}, console_); }), kDone) << err_.str();
  EXPECT_TRUE(contains(out_, "2 bodies")) << out_.str();
  EXPECT_TRUE(contains(out_, "2 degrees of freedom")) << out_.str();
  EXPECT_TRUE(contains(out_, "kinetic 0 J")) << out_.str();
  EXPECT_TRUE(contains(out_, "knee")) << out_.str();
}

// A four-bar in space: three revolutes close a planar loop with four; the loop's three out-of-plane rows are redundant,
// one degree of freedom is left (Gruebler's count 6 (4-1) - 5*4 = -2 lies by three).
TEST_F(Commands, InfoNamesRedundantConstraints) {
  file("fourbar.yaml", R"(clatter: 1
bodies:
  crank: {mass: 1, inertia: [1, 1, 1], position: [0, 0.5, 0]}
  coupler: {mass: 1, inertia: [1, 1, 1], position: [1, 1, 0]}
  rocker: {mass: 1, inertia: [1, 1, 1], position: [2, 0.5, 0]}
joints:
  a: {type: revolute, between: [ground, crank], at: [0, 0, 0], axis: z}
  b: {type: revolute, between: [crank, coupler], at: [0, 1, 0], axis: z}
  c: {type: revolute, between: [coupler, rocker], at: [2, 1, 0], axis: z}
  d: {type: revolute, between: [rocker, ground], at: [2, 0, 0], axis: z}
)");
  ASSERT_EQ(guarded(console_, [&] { return info("fourbar.yaml", {}, console_); }), kDone) << err_.str();
  EXPECT_TRUE(contains(out_, "1 degree of freedom")) << out_.str();
  EXPECT_TRUE(contains(out_, "3 redundant constraints")) << out_.str();
}

TEST_F(Commands, InfoAndExportReadAResult) {
  RunOptions options;
  options.model = file("stone.yaml", kStone);
  options.quiet = true;
  ASSERT_EQ(run_model(options), kDone);
  ASSERT_EQ(info("stone.h5", {}, console_), kDone);
  EXPECT_TRUE(contains(out_, "finished")) << out_.str();
  EXPECT_TRUE(contains(out_, "stone.position")) << out_.str();
  ExportOptions csv;
  csv.result = "stone.h5";
  csv.csv = "";
  csv.channels = {"stone.pos*"};
  ASSERT_EQ(export_result(csv, console_), kDone);
  std::ifstream table("stone.csv");
  std::string header;
  std::getline(table, header);
  EXPECT_NE(header.find("time [s]"), std::string::npos);
  EXPECT_NE(header.find("position.y [m]"), std::string::npos);
  EXPECT_EQ(header.find("velocity"), std::string::npos);
  ExportOptions vtk;
  vtk.result = "stone.h5";
  vtk.vtk = "";
  vtk.stride = 100;
  ASSERT_EQ(export_result(vtk, console_), kDone);
  EXPECT_TRUE(fs::exists("stone.pvd"));
  csv.channels = {"stone.positon"};
  EXPECT_EQ(guarded(console_, [&] { return export_result(csv, console_); }), kBadInput);
  EXPECT_TRUE(contains(err_, "stone.position")) << err_.str();
  EXPECT_EQ(guarded(console_, [&] { return export_result({"stone.h5", {}, {}, {}, 1}, console_); }), kBadInput);
}

TEST_F(Commands, SchemaIsJsonThatNamesTheKeysOfAModel) {
  ASSERT_EQ(schema(console_), kDone);
  EXPECT_TRUE(contains(out_, "\"$schema\""));
  EXPECT_TRUE(contains(out_, "\"bodies\""));
}

TEST_F(Commands, EverythingThrownBecomesAMessageAndAnExitCode) {
  EXPECT_EQ(guarded(console_, []() -> int { throw std::bad_alloc(); }), kSolveFailed);
  EXPECT_TRUE(contains(err_, "memory"));
  EXPECT_EQ(guarded(console_, []() -> int { throw 1; }), kSolveFailed);
  EXPECT_EQ(guarded(console_, []() -> int { throw record::ResultError("x.h5", "is not there", "look"); }), kBadInput);
}

// --- the program itself, as a process
// ---------------------------------------------------------------------------------

class Continued : public Process, public testing::WithParamInterface<const char*> {};

INSTANTIATE_TEST_SUITE_P(Methods, Continued, testing::Values("rk4", "dopri5", "generalized-alpha", "radau5"),
                         [](const auto& chosen) {
                           std::string name = chosen.param;
                           std::erase(name, '-');
                           return name;
                         });

// The contract of --continue: killed without warning, then continued, the result has the same bits as if nothing had
// happened. No tolerance.
TEST_P(Continued, AKilledRunHasTheBitsOfAnUninterruptedOne) {
  std::string text = pendulum(GetParam());
  const std::string name = GetParam();
  if (name == "dopri5" || name == "radau5") {
    const std::string tight = "step: 1e-4 s, max_step: 2e-4 s";
    text.replace(text.find("step: 1e-4 s"), 12, tight);
  }
  if (name == "radau5" || name == "generalized-alpha") text.replace(text.find("end: 20 s"), 9, "end: 4 s");
  file("links.yaml", text);
  ASSERT_EQ(exit_code(spawn({"run", "links.yaml", "-o", "whole.h5"})), kDone) << text_of("stderr.txt");
  const pid_t child = spawn({"run", "links.yaml", "-o", "cut.h5"});
  wait_for_progress("cut.h5", 0.6);
  kill(child, SIGKILL);
  ASSERT_EQ(exit_code(child), 256 + SIGKILL) << "the run was over before it could be killed";
  ASSERT_TRUE(record::Reader("cut.h5").killed());
  ASSERT_EQ(exit_code(spawn({"run", "--continue", "cut.h5"})), kDone) << text_of("stderr.txt");
  expect_same_bits("whole.h5", "cut.h5");
}

TEST_F(Process, AnInterruptedRunKeepsItsResultsSaysHowToGoOnAndDoes) {
  file("links.yaml", pendulum("rk4"));
  ASSERT_EQ(exit_code(spawn({"run", "links.yaml", "-o", "whole.h5"})), kDone) << text_of("stderr.txt");
  const pid_t child = spawn({"run", "links.yaml"});
  wait_for_progress("links.h5", 0.6);
  kill(child, SIGINT);
  ASSERT_EQ(exit_code(child), kInterrupted) << text_of("stderr.txt");
  EXPECT_NE(text_of("stderr.txt").find("clatter run --continue links.h5"), std::string::npos);
  EXPECT_EQ(record::Reader("links.h5").status(), record::Status::kInterrupted);
  ASSERT_EQ(exit_code(spawn({"run", "--continue", "links.h5"})), kDone) << text_of("stderr.txt");
  expect_same_bits("whole.h5", "links.h5");
}

TEST_F(Process, ARunWhoseResultNoLongerFitsTheDiskSaysSoKeepsWhatItHasAndCanGoOn) {
  // A limit of the file's size stands for the full disk. The result is a quarter of a megabyte at its start and grows
  // by 1.5 MB in these 20 s.
  const std::string model = file("links.yaml", pendulum("rk4"));
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{1 << 20, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const int code = exit_code(spawn({"run", model, "-q"}));
  setrlimit(RLIMIT_FSIZE, &before);
  const std::string err = text_of("stderr.txt");
  EXPECT_EQ(code, kSolveFailed) << err;
  EXPECT_NE(err.find("File too large"), std::string::npos) << err;
  EXPECT_NE(err.find("clatter run --continue links.h5"), std::string::npos) << err;
  {
    const record::Reader reader("links.h5");
    EXPECT_EQ(reader.status(), record::Status::kFailed);
    EXPECT_GT(reader.rows().samples, 100U);
    EXPECT_GT(reader.rows().checkpoints, 1U);
  }
  EXPECT_EQ(exit_code(spawn({"run", "--continue", "links.h5", "-q"})), kDone) << text_of("stderr.txt");
  EXPECT_EQ(exit_code(spawn({"run", model, "-o", "whole.h5", "-q"})), kDone);
  expect_same_bits("links.h5", "whole.h5");
}

TEST_F(Process, ARunWhoseResultCannotBeBegunForWantOfRoomSaysSoAndLeavesNothing) {
  const std::string model = file("links.yaml", pendulum("rk4"));
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  for (const rlim_t room : {rlim_t{100}, rlim_t{5000}, rlim_t{20000}}) {
    const rlimit small{room, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    const int code = exit_code(spawn({"run", model, "-q"}));
    setrlimit(RLIMIT_FSIZE, &before);
    EXPECT_EQ(code, kSolveFailed) << room << " " << text_of("stderr.txt");
    EXPECT_EQ(files(), 3U) << "the model and both outputs";
  }
  EXPECT_EQ(exit_code(spawn({"run", model, "-q"})), kDone) << text_of("stderr.txt");
}

TEST_F(Process, AFinishedRunIsNotContinuedUnlessItsEndIsMoved) {
  file("stone.yaml", kStone);
  ASSERT_EQ(exit_code(spawn({"run", "stone.yaml", "--quiet"})), kDone) << text_of("stderr.txt");
  ASSERT_EQ(exit_code(spawn({"run", "--continue", "stone.h5", "--end", "5"})), kDone) << text_of("stderr.txt");
  const record::Reader reader("stone.h5");
  EXPECT_EQ(reader.times().back(), 5.0);
}

TEST_F(Process, CommandLineMistakesAreExplainedAndReturnTwo) {
  EXPECT_EQ(exit_code(spawn({"rnu", "x.yaml"})), kBadInput);
  EXPECT_NE(text_of("stderr.txt").find("did you mean `run`"), std::string::npos) << text_of("stderr.txt");
  EXPECT_EQ(exit_code(spawn({"run", "--frobnicate"})), kBadInput);
  EXPECT_EQ(exit_code(spawn({})), kBadInput);
  EXPECT_EQ(exit_code(spawn({"run"})), kBadInput);
  EXPECT_EQ(exit_code(spawn({"--help"})), kDone);
  EXPECT_NE(text_of("stdout.txt").find("examples:"), std::string::npos);
  EXPECT_EQ(exit_code(spawn({"--version"})), kDone);
  EXPECT_EQ(text_of("stdout.txt"), "clatter " CLATTER_VERSION "\n");
}

}  // namespace
}  // namespace clatter::app
