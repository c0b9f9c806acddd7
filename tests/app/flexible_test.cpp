// Flexible bodies as a user meets them: the report of a reduction, the cache, frequencies as quantities.
#include "study/flexible.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "api/clatter.hpp"
#include "app/progress.hpp"
#include "fem/sid.hpp"
#include "fixture.hpp"

namespace clatter::app {
namespace {

// A cantilever of steel, 1 m, 1 cm square: f1 = 1.8751^2 sqrt(E I/(rho A L^4))/(2 pi) = 8.382 Hz; 61.3 % of its mass
// goes with the first pair of modes (4 (sigma/beta)^2 of the clamped beam).
constexpr const char* kCantilever = R"(clatter: 1
title: Cantilever
bodies:
  rod:
    type: flexible
    position: [0, 0, 0]
    mesh: {beam: 1 m, elements: 10}
    section: {rectangle: [1 cm, 1 cm], shear: false}
    material: {density: 7800 kg/m^3, young: 210 GPa, poisson: 0.3}
    interfaces: {root: start, tip: end}
    reduce: {method: modal, clamped: root, modes: 6, static_corrections: true}
    reference: root
  twin:
    type: flexible
    position: [0, 1 m, 0]
    mesh: {beam: 1 m, elements: 10}
    section: {rectangle: [1 cm, 1 cm], shear: false}
    material: {density: 7800 kg/m^3, young: 210 GPa, poisson: 0.3}
    interfaces: {root: start, tip: end}
    reduce: {method: modal, clamped: root, modes: 6, static_corrections: true}
    reference: root
joints:
  wall: {type: fixed, between: [ground, rod.root]}
  other: {type: fixed, between: [{on: ground, at: [0, 1 m, 0]}, twin.root]}
outputs: [rod.tip.position]
simulate: {method: radau5, end: 1 ms}
checks:
  - {quantity: rod.frequency.1, value: 8.382 Hz, tolerance: 0.01 Hz, from: closed form}
)";

class FlexibleCommands : public Commands {
 protected:
  void SetUp() override {
    Commands::SetUp();
    if (const char* old = std::getenv("XDG_CACHE_HOME")) before_cache_ = old;
    setenv("XDG_CACHE_HOME", (folder_ / "cache").c_str(), 1);
  }
  void TearDown() override {
    if (before_cache_.empty())
      unsetenv("XDG_CACHE_HOME");
    else
      setenv("XDG_CACHE_HOME", before_cache_.c_str(), 1);
    Commands::TearDown();
  }
  int reduce_model(const ReduceOptions& options) {
    return guarded(console_, [&] { return reduce(options, console_); });
  }
  std::string before_cache_;
};

TEST_F(FlexibleCommands, ReduceTellsFrequenciesMassesStaticErrorsAndTheCache) {
  ReduceOptions options;
  options.model = file("rod.yaml", kCantilever);
  ASSERT_EQ(reduce_model(options), kDone) << err_.str();
  EXPECT_TRUE(contains(out_, "body `rod`: 66 degrees of freedom reduced to ")) << out_.str();
  EXPECT_TRUE(contains(out_, "body `twin`: 66 degrees of freedom reduced to ")) << out_.str();
  EXPECT_TRUE(contains(out_, "as for `rod`")) << out_.str();
  EXPECT_FALSE(contains(out_, "from the cache")) << out_.str();
  EXPECT_TRUE(contains(out_, "8.381")) << out_.str();
  EXPECT_TRUE(contains(out_, "held at `root`, that the shapes miss (worst 0 %)")) << out_.str();
  out_.str("");
  options.body = "rod";
  ASSERT_EQ(reduce_model(options), kDone) << err_.str();
  EXPECT_TRUE(contains(out_, "elastic coordinates, from the cache")) << out_.str();
  EXPECT_FALSE(contains(out_, "twin")) << out_.str();
  options.body = "rid";
  EXPECT_EQ(reduce_model(options), kBadInput);
  EXPECT_TRUE(contains(err_, "did you mean `rod`?")) << err_.str();
}

// E-14: a body and what was written of it hang side by side; a gauge between their tips sees no difference beyond
// rounding of the 17 digits. Where the tip is: tools/reference/cantilever_release.py; ten elements, few modes: 2e-5 m.
TEST_F(FlexibleCommands, WriteStandardInputDataThatMoveAsTheBodyDoes) {
  ReduceOptions options;
  options.model = file("rod.yaml", kCantilever);
  options.body = "rod";
  options.sid = "parts";
  ASSERT_EQ(reduce_model(options), kDone) << err_.str();
  EXPECT_TRUE(contains(out_, "parts/rod.sid")) << out_.str();
  std::string both = kCantilever;
  const auto cut = [&](const std::string& from, const std::string& to, const std::string& text) {
    const std::size_t a = both.find(from), b = both.find(to, a);
    ASSERT_NE(b, std::string::npos) << from;
    both.replace(a, b - a, text);
  };
  cut("  twin:", "joints:", "  twin: {type: flexible, position: [0, 1 m, 0], mesh: parts/rod.sid}\n");
  cut("outputs:", "checks:",
      "  gauge: {type: bushing, between: [rod.tip, twin.tip], components: {x: free, y: free, z: free}}\n"
      "gravity: [0, 0, -9.81 m/s^2]\n"
      "simulate: {method: radau5, end: 20 ms, tolerance: 1e-7}\n");
  both +=
      "  - {quantity: gauge.z, at: drift, value: 0, tolerance: 1e-12}\n"
      "  - {quantity: gauge.y, at: final, value: 1, tolerance: 1e-12}\n"
      "  - {quantity: twin.tip.position.z, at: final, value: -0.0027948, tolerance: 2e-5}\n";
  RunOptions run;
  run.model = file("both.yaml", both);
  ASSERT_EQ(run_model(run), kDone) << err_.str();
  EXPECT_TRUE(contains(err_, "body `twin`: ")) << err_.str();
  EXPECT_FALSE(contains(out_, "FAIL")) << out_.str();
  EXPECT_TRUE(contains(out_, "gauge.z")) << out_.str();
}

TEST_F(FlexibleCommands, ReduceOfAModelWithoutFlexibleBodiesSaysSo) {
  ReduceOptions options;
  options.model =
      file("stone.yaml", "clatter: 1\nbodies: {stone: {type: particle, mass: 1 kg}}\nsimulate: {end: 1 s}\n");
  EXPECT_EQ(reduce_model(options), kBadInput);
  EXPECT_TRUE(contains(err_, "has no flexible bodies")) << err_.str();
}

// E-14.
TEST_F(FlexibleCommands, ReduceWritesStandardInputData) {
  ReduceOptions options;
  options.model = file("rod.yaml", kCantilever);
  options.sid = "sid";
  ASSERT_EQ(reduce_model(options), kDone) << err_.str();
  EXPECT_TRUE(contains(out_, "written: sid/rod.sid")) << out_.str();
  const ReducedBody body = fem::read_sid(text_of("sid/rod.sid"), "rod.sid");
  EXPECT_NEAR(body.mass, 0.78, 1e-12);
  EXPECT_NEAR(body.frequencies.front(), 8.382, 0.01);
}

TEST_F(FlexibleCommands, RunTellsWhatWasReducedAndChecksFrequencies) {
  RunOptions options;
  options.model = file("rod.yaml", kCantilever);
  ASSERT_EQ(run_model(options), kDone) << err_.str();
  EXPECT_TRUE(contains(err_, "body `rod`: 66 degrees of freedom reduced to")) << err_.str();
  EXPECT_FALSE(contains(err_, "from the cache")) << err_.str();
  EXPECT_FALSE(contains(out_, "FAIL")) << out_.str();
  ASSERT_EQ(run_model(options), kDone) << err_.str();
  EXPECT_TRUE(contains(err_, "from the cache")) << err_.str();
  // The coordinates are there whatever `outputs:` says: a motion can always be shown.
  const record::Reader reader("rod.h5");
  EXPECT_EQ(reader.channel("bodies/rod/eta").width, reader.channel("bodies/twin/eta").width);
}

std::string with_mesh(const std::string& mesh, const std::string& rest = "") {
  return "clatter: 1\nbodies:\n  part:\n    type: flexible\n    position: [0, 0, 0]\n    mesh: " + mesh +
         "\n    reduce: {method: modal, modes: 2}\n" + rest + "simulate: {end: 1 s}\n";
}
const std::string kSteel = "    material: {density: 7800 kg/m^3, young: 210 GPa, poisson: 0.3}\n";

// Two cubes of edge 1, the second one `shift` further along x and y; `order`: its nodes.
std::string two_cubes(double x, double y, const std::string& second, bool shared_edge) {
  std::ostringstream t;
  t << "*NODE\n1, 0, 0, 0\n2, 1, 0, 0\n3, 1, 1, 0\n4, 0, 1, 0\n5, 0, 0, 1\n6, 1, 0, 1\n7, 1, 1, 1\n8, 0, 1, 1\n";
  const double corner[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
  for (int i = 0; i < 8; ++i)
    if (!shared_edge || (i != 0 && i != 4))
      t << 11 + i << ", " << corner[i][0] + x << ", " << corner[i][1] + y << ", " << corner[i][2] << "\n";
  t << "*ELEMENT, TYPE=C3D8, ELSET=one\n1, 1, 2, 3, 4, 5, 6, 7, 8\n*ELEMENT, TYPE=C3D8, ELSET=two\n2, " << second
    << "\n";
  return t.str();
}

// What can be wrong with a mesh and its places: the model's line, the mesh's name, what to do. Exit code 2.
TEST_F(FlexibleCommands, MistakesInMeshesAreToldWithPlaceAndAdvice) {
  const auto message = [&](const std::string& model) {
    err_.str("");
    ReduceOptions options;
    options.model = file("part.yaml", model);
    EXPECT_EQ(reduce_model(options), kBadInput) << model;
    return err_.str();
  };
  const auto expect = [](const std::string& text, const std::vector<std::string>& parts) {
    for (const std::string& part : parts) EXPECT_NE(text.find(part), std::string::npos) << part << "\nin: " << text;
  };
  // Bottom and top of the second cube are exchanged.
  file("inverted.inp", two_cubes(1, 0, "15, 16, 17, 18, 11, 12, 13, 14", false));
  expect(message(with_mesh("inverted.inp", kSteel)),
         {"part.yaml:3:", "body `part`", "inverted.inp`: 1 of 2 elements is inverted", "improve the mesh there"});
  file("apart.inp", two_cubes(3, 0, "11, 12, 13, 14, 15, 16, 17, 18", false));
  expect(message(with_mesh("apart.inp", kSteel)),
         {"part.yaml:3:", "2 parts that are not connected", "must be of one piece"});
  file("touching.inp", two_cubes(1, 0, "11, 12, 13, 14, 15, 16, 17, 18", false));
  expect(message(with_mesh("touching.inp", kSteel)), {"4 nodes lie on top of others", "`merge: true`"});
  expect(message(with_mesh("touching.inp")), {"part.yaml:", "material"});
  const std::string one = "    materials:\n      - {set: one, density: 7800 kg/m^3, young: 210 GPa}\n";
  expect(message(with_mesh("{file: touching.inp, merge: true}", one)), {"element 2 of the mesh has no material"});
  // A hinge: the cubes have one edge in common (nodes 3 and 7).
  file("hinge.inp", two_cubes(1, 1, "3, 12, 13, 14, 7, 16, 17, 18", true));
  expect(message(with_mesh("hinge.inp", kSteel)),
         {"part.yaml:3:", "can move without deforming: node", "connect them by faces"});
  expect(message(with_mesh("{box: [1 m, 1 m, 1 m], elements: [2, 2, 2]}",
                           kSteel + "    interfaces:\n      far: {node: [5 m, 0, 0]}\n")),
         {"part.yaml:10:", "interface `far`: its place is off the mesh", "the nearest node is at (0.5, 0, 0) m"});
  expect(message(
             with_mesh("{box: [1 m, 1 m, 1 m], elements: [2, 2, 2]}",
                       kSteel + "    interfaces:\n      top: z*\n      side: {plane: [[0.3 m, 0, 0], [1 m, 0, 0]]}\n")),
         {"part.yaml:11:", "interface `side`: no node lies in its plane"});
  // A mesh in millimetres, read as metres.
  file("large.inp", two_cubes(1, 0, "2, 12, 13, 3, 6, 16, 17, 7", true));
  std::string large = text_of("large.inp");
  for (const auto& [from, to] : {std::pair{", 1", ", 1000"}, {", 2", ", 2000"}})
    for (std::size_t at = large.find(from); at != std::string::npos && at < large.find("*ELEMENT");
         at = large.find(from, at + 2))
      if (large[at + 3] == ',' || large[at + 3] == '\n') large.replace(at, 3, to);
  file("large.inp", large);
  expect(message(with_mesh("large.inp", kSteel + "    interfaces:\n      tip: {plane: [[2 m, 0, 0], [3 m, 0, 0]]}\n")),
         {"no node lies in its plane", "is its unit right (`unit: mm`)?"});
}

// A block of steel on its end, shaken by gravity that is switched on.
constexpr const char* kBlock = R"(clatter: 1
title: Solid cantilever
gravity: [0, 0, -9.81 m/s^2]
bodies:
  rod:
    type: flexible
    position: [0.5 m, 0, 0]
    mesh: {box: [1 m, 5 cm, 5 cm], elements: [10, 2, 2]}
    material: {density: 7800 kg/m^3, young: 210 GPa, poisson: 0.3}
    interfaces: {root: x-, tip: x+}
    reduce: {modes: 4}
    reference: root
joints:
  wall: {type: fixed, between: [ground, rod.root]}
outputs: [rod.tip.position, rod.tip.displacement, rod.von_mises]
simulate: {method: radau5, end: 10 ms, output_step: 2 ms}
)";

double bytes_as(const std::string& text, std::size_t at, bool wide) {
  if (wide) {
    std::uint64_t x = 0;
    std::memcpy(&x, text.data() + at, 8);
    return static_cast<double>(x);
  }
  float x = 0;
  std::memcpy(&x, text.data() + at, 4);
  return x;
}

// Numbers of an appended array of a .vtu, by the offsets its header gives.
std::vector<double> array_of(const std::string& vtu, const std::string& name) {
  const std::size_t entry = vtu.find("Name=\"" + name + "\"");
  EXPECT_NE(entry, std::string::npos) << name;
  const std::size_t offset = vtu.find("offset=\"", entry) + 8;
  const std::size_t data = vtu.find("<AppendedData encoding=\"raw\">\n_") + 31 + std::stoul(vtu.substr(offset));
  const auto bytes = static_cast<std::size_t>(bytes_as(vtu, data, true));
  std::vector<double> out;
  for (std::size_t i = 0; i < bytes / 4; ++i) out.push_back(bytes_as(vtu, data + 8 + 4 * i, false));
  return out;
}

// The skin in the result, the mesh for ParaView and the recorded quantities tell the same motion: the mean of the end
// face is the interface (its weights are known for 2 x 2 squares: 1, 2 and 4 sixteenths), the largest stress is the
// quantity. Numbers in pictures are single precision.
TEST_F(FlexibleCommands, ResultsHoldTheSkinAndExportsTheWholeMeshWithStress) {
  RunOptions options;
  options.model = file("block.yaml", kBlock);
  ASSERT_EQ(run_model(options), kDone) << err_.str();
  const record::Reader reader("block.h5");
  ASSERT_EQ(reader.info().surfaces.size(), 1U);
  const record::Surface& skin = reader.info().surfaces[0];
  EXPECT_EQ(skin.name, "rod");
  EXPECT_NE(reader.info().scene.find("\"coordinates\":\"rod.eta\""), std::string::npos) << reader.info().scene;
  EXPECT_EQ(skin.triangles.size() / 3, 2U * (4 * 10 * 2 + 2 * 4));
  const auto eta = reader.read("bodies/rod/eta"), tip = reader.read("frames/rod.tip/displacement"),
             mises = reader.read("bodies/rod/von_mises");
  const Eigen::Index last = eta.rows() - 1;
  ASSERT_EQ(skin.modes.size(), skin.vertices.size() * static_cast<std::size_t>(eta.cols()));
  const std::size_t n = skin.vertices.size() / 3;
  double mean = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (std::abs(skin.vertices[3 * i] - 0.5F) > 1e-6F) continue;
    const int middle = (std::abs(skin.vertices[3 * i + 1]) < 1e-6F) + (std::abs(skin.vertices[3 * i + 2]) < 1e-6F);
    double u = 0;
    for (Eigen::Index k = 0; k < eta.cols(); ++k)
      u += eta(last, k) * static_cast<double>(skin.modes[static_cast<std::size_t>(k) * 3 * n + 3 * i + 2]);
    mean += (1 << middle) / 16.0 * u;
  }
  EXPECT_LT(tip(last, 2), -1e-4);
  EXPECT_NEAR(mean / tip(last, 2), 1, 1e-5);

  ExportOptions to;
  to.result = "block.h5";
  to.vtk = "";
  ASSERT_EQ(guarded(console_, [&] { return export_result(to, console_); }), kDone) << err_.str();
  const std::string series = text_of("block.pvd");
  EXPECT_NE(series.find("part=\"1\" file=\"block_vtp/rod_000005.vtu\""), std::string::npos) << series;
  const std::string vtu = text_of("block_vtp/rod_000005.vtu");
  EXPECT_NE(vtu.find("NumberOfPoints=\"99\" NumberOfCells=\"40\""), std::string::npos);
  const std::vector<double> stress = array_of(vtu, "von_mises"), points = array_of(vtu, "position"),
                            moved = array_of(vtu, "displacement");
  ASSERT_EQ(stress.size(), 99U);
  ASSERT_EQ(points.size(), 297U);
  EXPECT_NEAR(*std::max_element(stress.begin(), stress.end()) / mises(last, 0), 1, 1e-6);
  EXPECT_GT(mises(last, 0), 1e5);
  double lowest = 0;
  for (std::size_t i = 0; i < 99; ++i) {
    lowest = std::min(lowest, moved[3 * i + 2]);
    EXPECT_NEAR(points[3 * i] - moved[3 * i], 0.5 + std::round((points[3 * i] - 0.5) * 10) / 10, 1e-6);
  }
  EXPECT_NEAR(lowest / tip(last, 2), 1, 0.01);
}

// `rod.stress` is the stress of every vertex of the skin, in single precision: its largest is the largest of the mesh
// (bending: at the surface), and it comes by its name only.
TEST_F(FlexibleCommands, StressOfTheSkinIsRecordedWhereAnOutputNamesIt) {
  std::string text = kBlock;
  const std::string_view key = "outputs: [";
  const std::size_t at = text.find(key);
  ASSERT_NE(at, std::string::npos);
  text.insert(at + key.size(), "rod.stress, ");
  RunOptions options;
  options.model = file("block.yaml", text);
  ASSERT_EQ(run_model(options), kDone) << err_.str();
  const record::Reader reader("block.h5");
  const record::Surface& skin = reader.info().surfaces.at(0);
  EXPECT_NE(reader.info().scene.find("\"stress\":\"rod.stress\""), std::string::npos) << reader.info().scene;
  const record::Channel& channel = reader.channel("bodies/rod/stress");
  EXPECT_TRUE(channel.single);
  EXPECT_EQ(channel.unit, "Pa");
  ASSERT_EQ(static_cast<std::size_t>(channel.width), skin.vertices.size() / 3);
  const auto stress = reader.read("bodies/rod/stress"), mises = reader.read("bodies/rod/von_mises");
  const Eigen::Index last = stress.rows() - 1;
  EXPECT_GT(mises(last, 0), 1e5);
  EXPECT_NEAR(stress.row(last).maxCoeff() / mises(last, 0), 1, 1e-6);
  // Bending: at the clamped end more than at the free one.
  Eigen::Index most = 0;
  stress.row(last).maxCoeff(&most);
  EXPECT_LT(skin.vertices[3 * static_cast<std::size_t>(most)], -0.4F);

  const auto table = [&](const std::vector<std::string>& channels) {
    ExportOptions to;
    to.result = "block.h5";
    to.csv = "block.csv";
    to.channels = channels;
    EXPECT_EQ(guarded(console_, [&] { return export_result(to, console_); }), kDone) << err_.str();
    return text_of("block.csv");
  };
  EXPECT_EQ(table({}).find("rod/stress"), std::string::npos);
  EXPECT_NE(table({"rod.stress"}).find("rod/stress"), std::string::npos);

  // For other programs, and in a run that goes on.
  const api::Table field = api::Result("block.h5").read("rod.stress");
  EXPECT_EQ(field.columns, static_cast<std::size_t>(channel.width));
  EXPECT_EQ(field.rows, static_cast<std::size_t>(stress.rows()));
  RunOptions more;
  more.continue_from = "block.h5";
  more.changes.end = 12e-3;
  ASSERT_EQ(run_model(more), kDone) << err_.str();
  const auto longer = record::Reader("block.h5").read("bodies/rod/stress");
  ASSERT_EQ(longer.rows(), stress.rows() + 1);
  EXPECT_GT(longer.row(last + 1).maxCoeff(), 0);
}

TEST(StageProgress, TellsBodyStageShareAndTime) {
  EXPECT_EQ(stage_text("body `rod`", "computing modes", 0.42, 3.14, 0, false),
            " 42%  body `rod`: computing modes  3.14 s");
  EXPECT_EQ(stage_text("body `rod`", "computing modes", 0.5, 3.14, 4, false).substr(0, 7), "[##..] ");
}

}  // namespace
}  // namespace clatter::app
