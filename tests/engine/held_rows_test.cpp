// Rows of joints that close a loop and repeat what the tree holds: empty in G wherever it is asked for.
#include <gtest/gtest.h>

#include "engine/engine.hpp"
#include "model/load.hpp"

namespace clatter {
namespace {

// A door on two hinges along [1, 2, 3], and a rod to the ground that no hinge says.
std::shared_ptr<const System> door(bool joint, const char* high = "0.3, 0.6, 0.9") {
  Model model = load_model_text(std::string(R"(clatter: 1
bodies:
  door: {mass: 4, inertia: [0.2, 0.3, 0.25], position: [-0.4, 0.2, 0], orientation: {axis: [1, 0, 2], angle: 0.3}}
joints:
  low: {type: revolute, between: [ground, door], at: [-0.2, -0.4, -0.6], axis: [1, 2, 3]}
  high: {type: revolute, between: [ground, door], at: [)") +
                                    high + R"(], axis: [1, 2, 3]}
  rod: {type: distance, between: [{on: ground, at: [0, 0, 2]}, {on: door, at: [0, 0.1, 0]}]}
simulate: {end: 1 s}
)",
                                "door.yaml");
  model.joint_coordinates = joint;
  return System::compile(std::move(model));
}

TEST(HeldRows, AreEmptyInTheConstraintMatrixAndInTheTangents) {
  const auto system = door(true);
  Engine engine(system);
  ASSERT_EQ(system->sizes.nv, 1);
  ASSERT_EQ(system->sizes.nh, 6);
  const Eigen::MatrixXd G = Eigen::MatrixXd(engine.constraint_matrix(system->initial));
  Tangents tangents = engine.tangent_layout();
  engine.tangents(system->initial, Vec::Zero(1), Vec::Zero(6), tangents);
  for (int r = 0; r < 6; ++r) {
    const bool held = engine.row_name(r).starts_with("high.");
    EXPECT_EQ(G(r, 0) == 0, held) << engine.row_name(r);
    EXPECT_EQ(tangents.G.at(r, 0) == 0, held) << engine.row_name(r);
    // Computed on two ways: a few units in the last place, as the compiler orders and fuses them.
    EXPECT_DOUBLE_EQ(tangents.G.at(r, 0), G(r, 0)) << engine.row_name(r);
  }
}

// A tenth of a millimetre off the axis, of half a metre, is a lever.
TEST(HeldRows, HaveNoLeverAtAll) {
  const auto system = door(true, "0.3001, 0.6, 0.9");
  Engine engine(system);
  const Eigen::MatrixXd G = Eigen::MatrixXd(engine.constraint_matrix(system->initial));
  EXPECT_GT(G.cwiseAbs().topRows(3).maxCoeff(), 5e-5);
}

TEST(HeldRows, CarryNoForceAndDoNotMoveWhatTheOthersHold) {
  const auto system = door(true);
  Engine engine(system);
  Vec a = Vec::Zero(1), lambda = Vec::Zero(6), zdot, delta = Vec::Zero(1);
  engine.accelerations(system->initial, a, lambda, zdot);
  engine.least_correction(system->initial, Vec::Ones(6), true, delta);
  for (int r = 0; r < 5; ++r) EXPECT_EQ(lambda[r], 0) << engine.row_name(r);
  EXPECT_TRUE(std::isfinite(delta[0]));
}

}  // namespace
}  // namespace clatter
