// Finding a start that fits the joints: flexible bodies are moved, and bent only where moving cannot do it; the run
// says what of the model's words it changed.
#include <fmt/format.h>

#include <cmath>

#include "fixture.hpp"
#include "model/load.hpp"
#include "source_root.hpp"
#include "study/flexible.hpp"
#include "study/simulate.hpp"
#include "study/start_notes.hpp"

namespace clatter::app {
namespace {

// A rod of steel, 1 m, 1 cm square: E A/L = 2.1e7 N/m.
std::string rod(const std::string& rest, const std::string& options = "") {
  return "clatter: 1\nbodies:\n  rod:\n    type: flexible\n    mesh: {beam: 1 m, elements: 6}\n"
         "    section: {rectangle: [1 cm, 1 cm], shear: false}\n"
         "    material: {density: 7800 kg/m^3, young: 210 GPa, poisson: 0.3}\n"
         "    interfaces: {left: start, right: end}\n    reduce: {modes: 4}\n" +
         options + rest + "simulate: {method: radau5, end: 1 ms}\n";
}

study::Prepared prepared(const std::string& text) {
  LoadOptions options;
  study::make_flexible_bodies(options);
  return study::prepare(load_model_text(text, "rod.yaml", options));
}

double largest_elastic(study::Prepared& p) {
  p.engine->observe(p.start, nullptr);
  const FlexibleIndex& f = p.system->flexible[0];
  const double* eta = p.engine->links().blocks[static_cast<std::size_t>(f.block)]->elastic_coordinates();
  return Eigen::Map<const Vec>(eta, f.n).cwiseAbs().maxCoeff();
}

double elastic_energy(study::Prepared& p) {
  p.engine->observe(p.start, nullptr);
  return p.engine->links().blocks[static_cast<std::size_t>(p.system->flexible[0].block)]->elastic_energy();
}

bool tells(const std::vector<std::string>& lines, const std::string& text) {
  return std::any_of(lines.begin(), lines.end(),
                     [&](const std::string& line) { return line.find(text) != std::string::npos; });
}

const std::string kSuper = "    formulation: superelement\n";

// The gap of 1 cm, and the turn by 3 degrees, are closed by the frame alone. Rounding of the boundary nodes' positions
// leaves 1e-16 m in a superelement.
TEST(FlexibleStart, GapsAreClosedByMovingTheBodyNotByBendingIt) {
  for (const char* coordinates : {"absolute", "joint"}) {
    const std::string text = fmt::format(
        "    position: [1 cm, 5 mm, 0]\n    orientation: {{axis: [0, 1, 1], angle: 3 deg}}\n"
        "joints:\n  wall: {{type: fixed, between: [ground, rod.left]}}\ncoordinates: {}\n",
        coordinates);
    study::Prepared p = prepared(rod(text));
    EXPECT_LT(largest_elastic(p), 1e-13) << coordinates;
    EXPECT_LT(elastic_energy(p), 1e-12) << coordinates;
    EXPECT_TRUE(tells(study::changed_positions(p), "rod.position.x from 0.01 m to ")) << coordinates;
  }
  const std::string text =
      "    position: [1 cm, 5 mm, 0]\n    orientation: {axis: [0, 1, 1], angle: 3 deg}\n"
      "joints:\n  wall: {type: fixed, between: [ground, rod.left]}\n";
  for (const std::string& options : {std::string(), kSuper}) {
    study::Prepared p = prepared(rod(text, options));
    EXPECT_LT(largest_elastic(p), 1e-13) << options;
    EXPECT_LT(elastic_energy(p), 1e-12) << options;
    const std::vector<std::string> lines = study::changed_positions(p);
    EXPECT_TRUE(tells(lines, "rod.position.x from 0.01 m to ")) << fmt::format("{}", lines.size());
    EXPECT_TRUE(tells(lines, "rod.orientation by 3 deg about"));
    EXPECT_FALSE(tells(lines, "eta"));
  }
}

// Two walls 0.1 mm further apart than the rod is long: it must stretch, and stretches as it would under a slow pull,
// with the energy 1/2 (E A/L) d^2, to the thousandth the metric promises.
TEST(FlexibleStart, WhereBothEndsAreHeldTheBodyTakesTheShapeOfLeastEnergy) {
  const std::string text =
      "    position: [0, 0, 0]\njoints:\n  left: {type: fixed, between: [ground, rod.left]}\n"
      "  right: {type: spherical, between: [{on: ground, at: [1.0001 m, 0, 0]}, rod.right]}\n";
  const double energy = 0.5 * 210e9 * 1e-4 / 1.0 * 1e-8;
  for (const std::string& options : {std::string(), kSuper}) {
    study::Prepared p = prepared(rod(text, options));
    EXPECT_NEAR(elastic_energy(p) / energy, 1, 2e-3) << options;
    EXPECT_TRUE(tells(study::changed_positions(p), "rod.eta.")) << options;
  }
}

// The same at velocities: the end of the rod is driven away from the wall, which no rigid motion can follow.
TEST(FlexibleStart, VelocitiesChangeTheFrameFirstAndElasticRatesOnlyWhereTheyMust) {
  const std::string one =
      "    position: [0, 0, 0]\n    velocity: [0, 1 m/s, 0]\n"
      "joints:\n  wall: {type: revolute, between: [ground, rod.left], axis: z}\n";
  study::Prepared free = prepared(rod(one));
  const std::vector<std::string> lines = study::changed_velocities(free);
  EXPECT_TRUE(tells(lines, "rod.velocity.y from 1 m/s to 0 m/s"));
  EXPECT_FALSE(tells(lines, "eta_rate"));
  const std::string both =
      "    position: [0, 0, 0]\n"
      "joints:\n  wall: {type: fixed, between: [ground, rod.left]}\n"
      "  pull: {type: prismatic, between: [{on: ground, at: [1 m, 0, 0]}, rod.right], axis: x, drive: \"1 cm/s * "
      "t\"}\n";
  study::Prepared pulled = prepared(rod(both));
  EXPECT_TRUE(tells(study::changed_velocities(pulled), "rod.eta_rate."));
}

// Cables and beams, in the plane and in space: a steel one of 1 m and 1 cm x 1 cm (a round of 5 mm for the cable in
// space).
std::string beam(const std::string& name, const std::string& element, bool planar, const std::string& rest) {
  const std::string section = element == "ancf-cable" && !planar ? "{circle: 5 mm}" : "{rectangle: [1 cm, 1 cm]}";
  return "  " + name + ":\n    type: beam\n    element: " + element + "\n" + (planar ? "    planar: true\n" : "") +
         "    elements: 6\n    to: [1 m, 0" + (planar ? "]\n" : ", 0]\n") + "    section: " + section +
         "\n    material: {density: 7800 kg/m^3, young: 210 GPa, poisson: 0}\n" + rest;
}

double all_elastic(study::Prepared& p) {
  p.engine->observe(p.start, nullptr);
  double sum = 0;
  for (const FlexibleIndex& f : p.system->flexible)
    sum += p.engine->links().blocks[static_cast<std::size_t>(f.block)]->elastic_energy();
  return sum;
}

class BeamStart : public testing::TestWithParam<std::tuple<const char*, bool>> {
 protected:
  std::string element() const { return std::get<0>(GetParam()); }
  bool planar() const { return std::get<1>(GetParam()); }
  // Spatial cables have no twist that a clamp could hold.
  std::string held() const { return element() == "ancf-cable" && !planar() ? "spherical" : "fixed"; }
  std::string at(const std::string& x, const std::string& y) const {
    return "[" + x + ", " + y + (planar() ? "]" : ", 2 mm]");
  }
};

// 1 cm (1 %) off: weighed by its mass alone the beam was bent to 600 J and more. Moved, what is left is the rounding of
// its strains, 1e-16 squared of E A L = 2e7 J, in some hundred of sums.
TEST_P(BeamStart, ABeamOffItsClampIsMovedNotBent) {
  const std::string turned =
      planar() ? "    orientation: 5 deg\n" : "    orientation: {axis: [0, 1, 2], angle: 5 deg}\n";
  for (const char* coordinates : {"absolute", "joint"}) {
    study::Prepared p =
        prepared(fmt::format("clatter: 1\ncoordinates: {}\nbodies:\n", coordinates) +
                 beam("cable", element(), planar(), "    position: " + at("3 mm", "1 cm") + "\n" + turned) +
                 "joints:\n  wall: {type: " + held() + ", between: [ground, cable.start]}\n" +
                 "simulate: {method: radau5, end: 1 ms}\n");
    EXPECT_LT(all_elastic(p), 1e-18) << coordinates;
    const std::vector<std::string> lines = study::changed_positions(p);
    EXPECT_TRUE(tells(lines, "cable.position.y from 0.01 m to 0 m")) << coordinates;
    EXPECT_FALSE(tells(lines, "elastic energy")) << coordinates;
  }
}

// Two beams 2 cm apart, the second off the first's line: both move, neither bends.
TEST_P(BeamStart, ABeamsGapToAnotherIsClosedByMovingBoth) {
  for (const char* coordinates : {"absolute", "joint"}) {
    study::Prepared p = prepared(fmt::format("clatter: 1\ncoordinates: {}\nbodies:\n", coordinates) +
                                 beam("left", element(), planar(), "    position: " + at("0", "0") + "\n") +
                                 beam("right", element(), planar(), "    position: " + at("1.02 m", "1 cm") + "\n") +
                                 "joints:\n  weld: {type: " + held() + ", between: [left.end, right.start]}\n" +
                                 "simulate: {method: radau5, end: 1 ms}\n");
    EXPECT_LT(all_elastic(p), 1e-18) << coordinates;
    const std::vector<std::string> lines = study::changed_positions(p);
    EXPECT_TRUE(tells(lines, "right.position.")) << coordinates << " " << lines.size();
    EXPECT_TRUE(tells(lines, "left.position.")) << coordinates << " " << lines.size();
  }
}

// Between two pins at the right distance it turns by 24 degrees and stays straight. Where they are 0.1 mm too far apart
// it stretches as under a slow pull, by 1/2 (E A/L) d^2, to the strain's own size (ancf measures Green's: 1e-4) and the
// thousandth of the metric; and the run tells what that stores.
TEST_P(BeamStart, BetweenTwoPinsItIsTurnedAndStretchedOnlyByWhatIsMissing) {
  const std::string pin = planar() ? "revolute" : "spherical";
  const double A = element() == "ancf-cable" && !planar() ? 3.14159265358979 * 6.25e-6 : 1e-4;
  for (const double missing : {0.0, 1e-4}) {
    const double L = 1 + missing, x = 0.91 * L, y = std::sqrt(1 - 0.91 * 0.91) * L;
    study::Prepared p = prepared(
        "clatter: 1\nbodies:\n" + beam("cable", element(), planar(), "    position: " + at("3 mm", "1 cm") + "\n") +
        "joints:\n  l: {type: " + pin + ", between: [ground, cable.start]}\n" +
        fmt::format("  r: {{type: {}, between: [{{on: ground, at: [{:.17g}, {:.17g}, 0]}}, cable.end]}}\n", pin, x, y) +
        "simulate: {method: radau5, end: 1 ms}\n");
    const double energy = 0.5 * 210e9 * A * missing * missing;
    if (missing == 0)
      EXPECT_LT(all_elastic(p), 1e-12);
    else
      EXPECT_NEAR(all_elastic(p) / energy, 1, 3e-3);
    EXPECT_EQ(tells(study::changed_positions(p), "elastic energy of cable from 0 J to "), missing > 0);
  }
}

// What must not be adjusted is refused, and what is to be kept stays while the other one moves, unbent.
TEST_P(BeamStart, WordsAboutTheStartAreRespected) {
  const std::string gap = beam("left", element(), planar(), "    position: " + at("0", "0") + "\n") +
                          beam("right", element(), planar(), "    position: " + at("1.02 m", "1 cm") + "\n") +
                          "joints:\n  weld: {type: " + held() + ", between: [left.end, right.start]}\n" +
                          "simulate: {method: radau5, end: 1 ms}\n";
  EXPECT_THROW(prepared("clatter: 1\nbodies:\n" + gap + "initial: {adjust_positions: false}\n"), InputError);
  study::Prepared kept = prepared("clatter: 1\nbodies:\n" + gap + "initial: {keep: [left]}\n");
  EXPECT_LT(all_elastic(kept), 1e-12);
  EXPECT_FALSE(tells(study::changed_positions(kept), "left.position."));
}

INSTANTIATE_TEST_SUITE_P(Elements, BeamStart,
                         testing::Combine(testing::Values("ancf-cable", "ancf-beam"), testing::Bool()),
                         [](const auto& named) {
                           return std::string(std::get<0>(named.param) == std::string("ancf-cable") ? "Cable"
                                                                                                    : "Beam") +
                                  (std::get<1>(named.param) ? "Planar" : "Spatial");
                         });

// Nothing of the model's words is changed in the slider-crank: the sliders' velocities, which it does not give, follow
// from the joints.
TEST(FlexibleStart, WhatAModelDoesNotSayIsNotTold) {
  LoadOptions options;
  study::make_flexible_bodies(options);
  study::Prepared p = study::prepare(load_model(source_root() + "/models/flexible/slider_crank.yaml", options));
  EXPECT_TRUE(study::changed_positions(p).empty());
  EXPECT_TRUE(study::changed_velocities(p).empty());
  p.engine->observe(p.start, nullptr);
  for (const FlexibleIndex& f : p.system->flexible)
    EXPECT_LT(Vec(p.start.v.segment(f.v, f.states)).cwiseAbs().maxCoeff(), 1e-12) << f.body;
}

}  // namespace
}  // namespace clatter::app
