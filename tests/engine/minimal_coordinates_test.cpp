// PV-24 of the contact theory: minimal coordinates with sliding friction (P-23, P-24), from what the engine gives.
//
// The rod of PV-6: length 2 s, mass m, inertia m s^2/3, its lower end on the ground y = 0 and sliding to the right.
//   P-23   (W^T M^-1 (W + N_G)) lambda = -(W^T M^-1 h + w),   N_G = -mu w_T: friction against the slip
//   P-24   ddq = Q ddp + rho,  W^T Q = 0,  W^T rho + w = 0:   Q^T M Q ddp = -Q^T (M rho - h - N_G lambda)
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <numbers>

#include "dense.hpp"
#include "engine/engine.hpp"
#include "model/load.hpp"

namespace clatter {
namespace {

// The end slides on the x axis of the world; friction acts on it with the magnitude `parameters: friction`.
const char* const rod = R"(
clatter: 1
title: sliding rod
parameters: {friction: 0 N}
gravity: [0, -9.81, 0]
bodies:
  rod:
    type: planar
    mass: 1
    inertia: 1/3
    position: [0.2, 0.5]
    angle: -30 deg
    velocity: [2, 0.866025403784438646]
    angular_velocity: -1
    frames: {end: [1, 0]}
joints:
  floor: {type: point-on-curve, between: [ground, rod.end], curve: {line: true}}
forces:
  friction: {type: force, on: rod.end, components: [-friction, 0]}
)";

// PV-6 measures the inclination downwards: phi = -angle.
const double ddx = -1.790053492, ddy = -6.229893016, ddphi = -6.616310550738;
const double tolerance = 1e-9;  // the digits given

LoadOptions with_friction(const std::string& magnitude) {
  LoadOptions options;
  options.parameters = {{"friction", magnitude}};
  return options;
}

struct Rod {
  std::shared_ptr<const System> system;
  Engine engine;
  State s;
  Vec a = Vec::Zero(3), lambda = Vec::Zero(1), none = Vec::Zero(0);
  Mat M{3, 3}, W{3, 1};
  Vec h = Vec::Zero(3);
  double w = 0;  // of W^T ddq + w = 0

  explicit Rod(const std::string& friction = "0 N")
      : system(System::compile(load_model_text(rod, "rod", with_friction(friction)))),
        engine(system),
        s(system->initial) {
    Tangents T = engine.tangent_layout();
    engine.tangents(s, a, lambda, T);
    for (int i = 0; i < 3; ++i) {
      W(i, 0) = T.G.at(0, i);
      for (int j = 0; j < 3; ++j) M(i, j) = T.M.at(i, j);
    }
    engine.residual(s, a, lambda, h, none);
    h = -h;
    engine.observe(s, &a);
    w = engine.deformation_value(system->deformations[system->holonomic[0]], s).bias;
  }
  // Generalized direction of a force along x on the end: the row of its velocity.
  Vec tangent() const { return Vec3(1, 0, -std::sin(s.q[2])); }
};

const double mu = 0.5;

double normal_force(const Rod& r) {
  const Vec N_G = -mu * r.tangent();
  const Mat MiW = test::solve_symmetric(r.M, r.W + N_G);
  const double A = (r.W.transpose() * MiW)(0, 0), b = r.W.col(0).dot(Vec(test::solve_symmetric(r.M, r.h))) + r.w;
  EXPECT_NEAR(A, 2.600480947, 1e-9);  // PV-6
  EXPECT_NEAR(b, -9.31, 1e-12);
  return -b / A;
}

TEST(MinimalCoordinates, NormalForceOfTheSlidingRodIsThatOfPV6) {
  Rod r;
  Vec phi(1), rate(1);
  r.engine.constraints(r.s, phi, rate);
  EXPECT_LT(std::abs(phi[0]), 1e-15);
  EXPECT_LT(std::abs(rate[0]), 1e-15);
  EXPECT_NEAR(normal_force(r), 3.580106984, 1e-9);
}

TEST(MinimalCoordinates, NullSpaceReductionGivesTheAccelerationsOfPV24) {
  const Rod r;
  const Vec N_G = -mu * r.tangent();
  const double lambda = normal_force(r);
  // Any basis of the null space and any particular solution will do: from the QR decomposition of W.
  const Mat orthogonal = Eigen::HouseholderQR<Mat>(r.W).householderQ();
  const Mat Q = orthogonal.rightCols(2);
  ASSERT_LT((r.W.transpose() * Q).norm(), 1e-15);
  const Vec rho = -r.W.col(0) * r.w / r.W.squaredNorm();
  const Vec ddp = test::solve_symmetric(Q.transpose() * r.M * Q, -Q.transpose() * (r.M * rho - r.h - N_G * lambda));
  const Vec ddq = Q * ddp + rho;
  EXPECT_NEAR(ddq[0], ddx, tolerance);
  EXPECT_NEAR(ddq[1], ddy, tolerance);
  EXPECT_NEAR(-ddq[2], ddphi, tolerance);
}

TEST(MinimalCoordinates, CoordinatesOfPV24GiveTheSame) {
  const Rod r;
  const double s_cos = std::cos(std::numbers::pi / 6), s_sin = std::sin(std::numbers::pi / 6);
  // p = (x, phi) with phi = -angle.
  Mat Q(3, 2);
  Q << 1, 0, 0, s_cos, 0, -1;
  ASSERT_LT((r.W.transpose() * Q).norm(), 1e-15);
  const Vec rho = Vec3(0, -s_sin, 0);
  ASSERT_LT(std::abs(r.W.col(0).dot(rho) + r.w), 1e-15);
  const Vec N_G = -mu * r.tangent();
  const Vec ddp =
      test::solve_symmetric(Q.transpose() * r.M * Q, -Q.transpose() * (r.M * rho - r.h - N_G * normal_force(r)));
  EXPECT_NEAR(ddp[0], ddx, tolerance);
  EXPECT_NEAR(ddp[1], ddphi, tolerance);
}

TEST(MinimalCoordinates, FrictionAsALoadGivesTheSameAccelerationsAndNormalForce) {
  const double lambda = normal_force(Rod());
  Rod rubbed(fmt::format("{:.17g} N", mu * lambda));
  rubbed.engine.accelerations(rubbed.s, rubbed.a, rubbed.lambda, rubbed.none);
  EXPECT_NEAR(rubbed.a[0], ddx, tolerance);
  EXPECT_NEAR(rubbed.a[1], ddy, tolerance);
  EXPECT_NEAR(-rubbed.a[2], ddphi, tolerance);
  EXPECT_NEAR(rubbed.lambda[0], lambda, 1e-12);
}

}  // namespace
}  // namespace clatter
