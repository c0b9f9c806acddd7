// PV-2 of the contact theory: the two-body spatial chain, in joint and in absolute coordinates.
#include <gtest/gtest.h>

#include "engine/engine.hpp"
#include "model/load.hpp"

namespace clatter {
namespace {

const char* const chain = R"(
clatter: 1
title: two-body chain
gravity: [0, 0, -9.81]
coordinates: joint
bodies:
  one:
    mass: 1 kg
    inertia: [0.1, 0.2, 0.3]
    frames: {inner: {at: [-0.5, 0, 0]}, outer: {at: [0.5, 0, 0], rotate: {axis: [1, 0, 0], angle: -90 deg}}}
  two:
    mass: 1 kg
    inertia: [0.05, 0.06, 0.07]
    frames: {inner: {at: [-0.5, 0, 0], rotate: {axis: [1, 0, 0], angle: -90 deg}}}
joints:
  first: {type: revolute, between: [ground, one.inner], angle: 0.3, rate: 1}
  second: {type: revolute, between: [one.outer, two.inner], angle: 0.4, rate: -0.7}
simulate: {end: 1 s}
)";

TEST(TwoBodyChain, MassForceAndAccelerationAreThoseOfPV2) {
  auto system = System::compile(load_model_text(chain, "chain"));
  Engine engine(system);
  ASSERT_EQ(system->sizes.nv, 2);
  ASSERT_EQ(system->sizes.nc(), 0);
  State s = system->initial;
  EXPECT_NEAR(s.q[0], 0.3, 1e-14);
  EXPECT_NEAR(s.q[1], 0.4, 1e-14);
  EXPECT_NEAR(s.v[0], 1.0, 1e-14);
  EXPECT_NEAR(s.v[1], -0.7, 1e-14);
  Vec a(2), lambda(0), z(0);
  engine.accelerations(s, a, lambda, z);
  EXPECT_NEAR(a[0], -0.148420314, 1e-9);
  EXPECT_NEAR(a[1], 13.633070749, 1e-8);
  Vec h(2), zero = Vec::Zero(2);
  engine.residual(s, zero, lambda, h, z);
  EXPECT_NEAR(-h[0], -0.408173141, 1e-9);
  EXPECT_NEAR(-h[1], 4.226251932, 1e-9);
  Tangents T = engine.tangent_layout();
  engine.tangents(s, a, lambda, T);
  EXPECT_NEAR(T.M.at(0, 0), 2.750116400, 1e-9);
  EXPECT_NEAR(T.M.at(1, 1), 0.31, 1e-12);
  EXPECT_NEAR(T.M.at(0, 1), 0, 1e-12);
  // Accelerations of the second body for given joint accelerations.
  Vec qdd(2);
  qdd << 0.5, 0.2;
  engine.observe(s, &qdd);
  const FrameState<double> two = engine.frame_state(system->bodies[1].frame);
  const Vec3 v = two.R.transpose() * two.v, w = two.R.transpose() * two.w, acc = two.R.transpose() * two.a,
             alpha = two.R.transpose() * two.alpha;
  EXPECT_LT((v - Vec3(0, 1.460530497, 0.35)).norm(), 1e-9);
  EXPECT_LT((w - Vec3(-0.389418342, -0.7, 0.921060994)).norm(), 1e-9);
  EXPECT_LT((acc - Vec3(-1.590237671, 1.002858088, -0.668757365)).norm(), 2e-9);
  EXPECT_LT((alpha - Vec3(0.450033525, 0.2, 0.733123337)).norm(), 1e-9);
  EXPECT_LT((two.p - Vec3(1.395298077, 0.431616274, -0.194709171)).norm(), 1e-9);
}

TEST(TwoBodyChain, AbsoluteCoordinatesGiveTheSameMotion) {
  Model model = load_model_text(chain, "chain");
  model.joint_coordinates = false;
  auto system = System::compile(model);
  Engine engine(system);
  ASSERT_EQ(system->sizes.nv, 12);
  ASSERT_EQ(system->sizes.nc(), 10);
  Vec a(12), lambda(10), z(0), phi(10), rate(10);
  engine.constraints(system->initial, phi, rate);
  EXPECT_LT(phi.norm(), 1e-14);
  EXPECT_LT(rate.norm(), 1e-14);
  engine.accelerations(system->initial, a, lambda, z);
  // Relative accelerations about the joint axes: of body one about its z, of body two about its y.
  const double one = a[5];
  EXPECT_NEAR(one, -0.148420314, 1e-9);
  // In body axes of two: w2 = (-sin(q2) w1, q2', cos(q2) w1), so its y component differentiates to q2''.
  EXPECT_NEAR(a[10], 13.633070749, 1e-8);
}

}  // namespace
}  // namespace clatter
