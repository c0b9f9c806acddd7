// Finding a start that fits the joints: flexible bodies are moved, and bent only where moving cannot do it; the run
// says what of the model's words it changed.
#include <fmt/format.h>

#include <cmath>

#include "app/flexible.hpp"
#include "app/simulation.hpp"
#include "app/start_notes.hpp"
#include "fixture.hpp"
#include "model/load.hpp"

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

Prepared prepared(const std::string& text) {
  LoadOptions options;
  make_flexible_bodies(options);
  return prepare(load_model_text(text, "rod.yaml", options));
}

double largest_elastic(Prepared& p) {
  p.engine->observe(p.start, nullptr);
  const FlexibleIndex& f = p.system->flexible[0];
  const double* eta = p.engine->links().blocks[static_cast<std::size_t>(f.block)]->elastic_coordinates();
  return Eigen::Map<const Vec>(eta, f.n).cwiseAbs().maxCoeff();
}

double elastic_energy(Prepared& p) {
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
  const std::string text =
      "    position: [1 cm, 5 mm, 0]\n    orientation: {axis: [0, 1, 1], angle: 3 deg}\n"
      "joints:\n  wall: {type: fixed, between: [ground, rod.left]}\n";
  for (const std::string& options : {std::string(), kSuper}) {
    Prepared p = prepared(rod(text, options));
    EXPECT_LT(largest_elastic(p), 1e-13) << options;
    EXPECT_LT(elastic_energy(p), 1e-12) << options;
    const std::vector<std::string> lines = changed_positions(p);
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
    Prepared p = prepared(rod(text, options));
    EXPECT_NEAR(elastic_energy(p) / energy, 1, 2e-3) << options;
    EXPECT_TRUE(tells(changed_positions(p), "rod.eta.")) << options;
  }
}

// The same at velocities: the end of the rod is driven away from the wall, which no rigid motion can follow.
TEST(FlexibleStart, VelocitiesChangeTheFrameFirstAndElasticRatesOnlyWhereTheyMust) {
  const std::string one =
      "    position: [0, 0, 0]\n    velocity: [0, 1 m/s, 0]\n"
      "joints:\n  wall: {type: revolute, between: [ground, rod.left], axis: z}\n";
  Prepared free = prepared(rod(one));
  const std::vector<std::string> lines = changed_velocities(free);
  EXPECT_TRUE(tells(lines, "rod.velocity.y from 1 m/s to 0 m/s"));
  EXPECT_FALSE(tells(lines, "eta_rate"));
  const std::string both =
      "    position: [0, 0, 0]\n"
      "joints:\n  wall: {type: fixed, between: [ground, rod.left]}\n"
      "  pull: {type: prismatic, between: [{on: ground, at: [1 m, 0, 0]}, rod.right], axis: x, drive: \"1 cm/s * "
      "t\"}\n";
  Prepared pulled = prepared(rod(both));
  EXPECT_TRUE(tells(changed_velocities(pulled), "rod.eta_rate."));
}

// Nothing of the model's words is changed in the slider-crank: the sliders' velocities, which it does not give, follow
// from the joints.
TEST(FlexibleStart, WhatAModelDoesNotSayIsNotTold) {
  LoadOptions options;
  make_flexible_bodies(options);
  Prepared p = prepare(load_model(std::string(CLATTER_ROOT) + "/models/flexible/slider_crank.yaml", options));
  EXPECT_TRUE(changed_positions(p).empty());
  EXPECT_TRUE(changed_velocities(p).empty());
  p.engine->observe(p.start, nullptr);
  for (const FlexibleIndex& f : p.system->flexible)
    EXPECT_LT(Vec(p.start.v.segment(f.v, f.states)).cwiseAbs().maxCoeff(), 1e-12) << f.body;
}

}  // namespace
}  // namespace clatter::app
