// Superelements: against the floating frame of the same body, against each other, and against rigid motion (VV-9). The
// tangent checks of VV-10 are those of the conformance tests, which hold superelements among their samples.
#include <gtest/gtest.h>

#include <Eigen/LU>

#include "base/rotation.hpp"
#include "engine/conformance.hpp"
#include "integrate/run.hpp"

namespace clatter::test {
namespace {

using Frame6 = SuperelementOptions::Frame;

ReducedBody sample_body(unsigned seed) {
  Dice dice(seed);
  const std::vector<BoundaryNode> nodes = {{"p", Vec3(0.4, 0.1, -0.2), 0, true},
                                           {"q", Vec3(-0.3, 0.2, 0.1), 0, true},
                                           {"r", Vec3(0.1, -0.4, 0.3), 0, false}};
  return random_superelement(nodes, 3, false, [&] { return dice(); });
}

Model lone(const ReducedBody& reduced, const SuperelementOptions& options = {}) {
  Model model;
  Body b;
  b.name = "body";
  b.kind = BodyKind::flexible;
  b.pose = Placement{};
  b.reduced = std::make_shared<const ReducedBody>(reduced);
  b.superelement = options;
  model.bodies.push_back(b);
  return model;
}

const LinkMotion& node(const Setting& x, int i) {
  return x.engine->links().motion[static_cast<std::size_t>(x.system->flexible[0].node0 + i)];
}

// The rows A eta = 0 leave the deformations eta = Z xi, Z a basis of their null space; with the exact inertia the
// superelement then is the floating frame with the modes Phi Z. Same start, same accelerations, to rounding.
TEST(Superelement, WithExactInertiaIsTheFloatingFrameOfItsConstrainedModes) {
  const ReducedBody body = sample_body(3);
  for (const Frame6 option : {Frame6::full_momentum, Frame6::boundary_mass, Frame6::node, Frame6::weighted_mean}) {
    Model super = lone(body, {.frame = option, .node = "p"});
    super.gravity = Vec3(1, -2, -9);
    Setting probe(super);
    // The rows by their gradient with respect to the local coordinates, at rest: move nodes and modes.
    const int n = body.n, m = n - 6;
    Mat A(6, n);
    for (int k = 0; k < n; ++k) {
      Model moved = super;
      moved.bodies[0].elastic.assign(static_cast<std::size_t>(n), 0.0);
      moved.bodies[0].elastic[static_cast<std::size_t>(k)] = 1e-2;
      Setting x(moved);
      Vec phi(6), rate(6);
      x.engine->constraints(x.s, phi, rate);
      A.col(k) = phi / 1e-2;  // the rows are linear in eta
    }
    const Mat Z = A.fullPivLu().kernel();
    ASSERT_EQ(Z.cols(), m);
    ReducedBody floating = body;
    floating.n = m;
    floating.boundary.clear();
    floating.N = body.N * Z;
    for (int c = 0; c < 3; ++c) floating.E0[c] = body.E0[c] * Z;
    for (int c = 0; c < 6; ++c) floating.E[c] = Z.transpose() * body.E[c] * Z;
    floating.M = Z.transpose() * body.M * Z;
    floating.K = Z.transpose() * body.K * Z;
    floating.D = Mat::Zero(m, m);
    for (const BoundaryNode& b : body.boundary) {
      Marker marker;
      marker.name = b.name;
      marker.X = b.X;
      marker.S = Z.middleRows<3>(b.first);
      marker.Psi = b.rotations ? Mat(Z.middleRows<3>(b.first + 3)) : Mat(Mat::Zero(3, m));
      floating.markers.push_back(marker);
    }
    Dice dice(7);
    const Vec xi = 0.05 * dice(m), xid = 0.5 * dice(m);
    const Vec eta = Z * xi, etad = Z * xid;
    Model frame = lone(floating);
    frame.gravity = super.gravity;
    for (Model* model : {&super, &frame}) {
      model->bodies[0].pose = Placement{Vec3(0.3, 0.2, -0.5), Quat(0.6, -0.3, 0.5, 0.2).normalized()};
      model->bodies[0].velocity = Vec3(0.4, -0.3, 0.8);
      model->bodies[0].angular_velocity = Vec3(1.5, -0.9, 2.1);
    }
    super.bodies[0].elastic.assign(eta.begin(), eta.end());
    super.bodies[0].elastic_rate.assign(etad.begin(), etad.end());
    frame.bodies[0].elastic.assign(xi.begin(), xi.end());
    frame.bodies[0].elastic_rate.assign(xid.begin(), xid.end());
    Setting x(super), y(frame);
    x.solve();
    y.solve();
    x.engine->observe(x.s, &x.a);
    y.engine->observe(y.s, &y.a);
    EXPECT_NEAR(x.engine->stored_energy(x.s), y.engine->stored_energy(y.s), 1e-11);
    for (std::size_t i = 0; i < body.boundary.size(); ++i) {
      const LinkMotion& a = node(x, static_cast<int>(i));
      const LinkMotion& b = y.engine->links().motion[static_cast<std::size_t>(y.system->flexible[0].marker0) + i];
      EXPECT_LT((a.p - b.p).norm(), 1e-13);
      EXPECT_LT((a.v - b.v).norm(), 1e-12);
      EXPECT_LT((a.a - b.a).norm(), 1e-9 * (1 + b.a.norm()));
      if (!body.boundary[i].rotations) continue;
      EXPECT_LT((a.w - b.w).norm(), 1e-12 * (1 + b.w.norm()));
      EXPECT_LT((a.alpha - b.alpha).norm(), 1e-9 * (1 + b.alpha.norm()));
    }
  }
}

// VV-9 b: the two inertias have the same kinetic energy in the undeformed body, whatever its nodes do, and differ by
// Omega u elsewhere. Accelerations of a body at rest, released from a shape u, therefore differ by u^2; those of an
// undeformed body that spins by the Omega^2 with which only the exact one stretches its inner modes.
TEST(Superelement, InertiasAgreeToTheSizeOfTheDeformation) {
  const ReducedBody body = sample_body(4);
  Dice dice(2);
  const Vec shape = dice(body.n);
  const auto difference = [&](double size, double spin) {
    Model a = lone(body, {.exact_inertia = false}), b = lone(body);
    for (Model* model : {&a, &b}) {
      model->bodies[0].angular_velocity = Vec3(2 * spin, -spin, 3 * spin);
      const Vec eta = size * shape;
      model->bodies[0].elastic.assign(eta.begin(), eta.end());
    }
    Setting x(a), y(b);
    make_consistent(*x.engine, x.s);
    y.s = x.s;
    x.solve();
    y.solve();
    return largest(x.a - y.a);
  };
  const double released = difference(1e-4, 0), spinning = difference(0, 1);
  EXPECT_GT(released, 0);
  EXPECT_NEAR(difference(2e-4, 0) / released, 4, 0.1);
  EXPECT_GT(spinning, 0);
  EXPECT_NEAR(difference(0, 2) / spinning, 4, 1e-6);
}

// A common velocity V changes no acceleration. True for the exact inertia; interpolated velocities (V-9) have internal
// modes whose momentum N.V turns with the frame, so that they feel Omega x V: its errors are not bounded by Omega u.
TEST(Superelement, OnlyTheExactInertiaIsTheSameForAllInertialObservers) {
  const ReducedBody body = sample_body(4);
  Dice dice(7);
  const Vec shape = 1e-2 * dice(body.n);
  for (const bool exact : {true, false}) {
    const auto accelerations = [&](const Vec3& V) {
      Model model = lone(body, {.exact_inertia = exact});
      model.bodies[0].velocity = V;
      model.bodies[0].angular_velocity = Vec3(2, -1, 3);
      model.bodies[0].elastic.assign(shape.begin(), shape.end());
      Setting x(model);
      make_consistent(*x.engine, x.s);
      x.solve();
      return x.a;
    };
    const Vec rest = accelerations(Vec3::Zero());
    const double change = largest(accelerations(Vec3(5, -3, 4)) - rest) / largest(rest);
    if (exact)
      EXPECT_LT(change, 1e-12);
    else
      EXPECT_GT(change, 0.1);
  }
}

// T-9: a body turned all the way round as a rigid one is not deformed, and spins on without inner forces.
TEST(Superelement, RigidTurnsLeaveItUndeformed) {
  const ReducedBody body = sample_body(5);
  for (const bool exact : {false, true})
    for (int k = 0; k <= 12; ++k) {
      const double angle = 2 * std::numbers::pi * k / 12;
      Model model = lone(body, {.exact_inertia = exact});
      model.bodies[0].pose = Placement{Vec3(1, 2, 3), Quat(Eigen::AngleAxisd(angle, Vec3(1, -2, 3).normalized()))};
      Setting x(model);
      x.engine->observe(x.s, nullptr);
      for (int i = 0; i < body.n; ++i)
        EXPECT_NEAR(x.engine->links().blocks[0]->elastic_coordinates()[i], 0, 2e-15) << i;
      x.solve();
      EXPECT_LT(largest(x.a), 1e-12);
    }
}

// VV-9 c: a torque on the frame of a body at rest. The frame held to the momentum of the whole body accelerates as the
// rigid body does; held to the boundary's mass alone, the internal modes are left behind and it does not (T-6).
TEST(Superelement, FrameOfFullMomentumTurnsAsTheRigidBody) {
  const ReducedBody body = sample_body(6);
  const Vec3 torque(0.4, -0.7, 0.9), rigid = body.J0.inverse() * torque;
  const auto frame_acceleration = [&](Frame6 option, bool exact) {
    Model model = lone(body, {.frame = option, .node = "p", .exact_inertia = exact});
    Load load;
    load.name = "drive";
    load.torque = true;
    load.at.body = 0;
    load.at.label = "body";
    for (int k = 0; k < 3; ++k) load.component[k].constant = torque[k];
    model.loads.push_back(load);
    Setting x(model);
    x.solve();
    return Vec3(x.a.segment<3>(3));
  };
  for (const bool exact : {false, true}) {
    EXPECT_LT((frame_acceleration(Frame6::full_momentum, exact) - rigid).norm(), 1e-11 * rigid.norm());
    EXPECT_GT((frame_acceleration(Frame6::boundary_mass, exact) - rigid).norm(), 0.01 * rigid.norm());
  }
}

// VV-9 a: free motion keeps momentum, angular momentum and energy; what is lost is the integrator's tolerance (1e-9)
// over some hundred vibrations.
TEST(Superelement, FreeMotionKeepsMomentaAndEnergy) {
  for (const bool exact : {false, true}) {
    Model model = lone(sample_body(8), {.exact_inertia = exact});
    model.bodies[0].velocity = Vec3(0.3, 0.1, -0.2);
    model.bodies[0].angular_velocity = Vec3(2, 3, 1);
    const auto system = System::compile(model);
    Engine engine(system);
    State s = system->initial;
    make_consistent(engine, s);
    RunSettings settings;
    settings.integrator.relative_tolerance = 1e-9;
    settings.integrator.absolute_tolerance = 1e-9;
    settings.end = 3;
    settings.output_step = 0.5;
    engine.observe(s, nullptr);
    const Momenta start = momenta(system->tree, engine.links());
    const double energy = engine.stored_energy(s);
    double momentum = 0, turning = 0, stored = 0;
    RunCallbacks callbacks;
    callbacks.on_output = [&](const clatter::Sample& sample) {
      engine.observe(sample.s, nullptr);
      const Momenta now = momenta(system->tree, engine.links());
      momentum = std::max(momentum, (now.linear - start.linear).norm() / start.linear.norm());
      turning = std::max(turning, (now.angular - start.angular).norm() / start.angular.norm());
      stored = std::max(stored, std::abs(sample.stored - energy) / energy);
    };
    clatter::Run run(engine, settings, callbacks);
    run.start(s);
    run.go();
    EXPECT_LT(momentum, 1e-7);
    EXPECT_LT(turning, 1e-7);
    EXPECT_LT(stored, 1e-6);
  }
}

TEST(Superelement, SaysWhenItsNodesCannotHoldTheFrame) {
  Dice dice(1);
  const std::vector<BoundaryNode> line = {{"p", Vec3(0.4, 0, 0), 0, false}, {"q", Vec3(-0.3, 0, 0), 0, false}};
  ReducedBody body = sample_body(3);
  body.boundary = line;
  body.boundary[1].first = 3;
  try {
    System::compile(lone(body));
    FAIL() << "compiled";
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("reference frame"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace clatter::test
