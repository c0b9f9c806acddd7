// One model, several formulations: joint against absolute coordinates, planar against spatial bodies. The equations
// differ, the motion and the joints' forces must not.
#include "engine/conformance.hpp"
#include "engine/quantity.hpp"

namespace clatter::test {
namespace {

struct JointCoordinates : Conformance {};
struct PlanarTwin : Conformance {};

// Tolerances: both systems are solved to rounding, times the condition of G M^-1 G^T (up to 1e4 in the samples).
void expect_same_motion(Setting& x, Setting& y) {
  x.engine->observe(x.s, &x.a);
  y.engine->observe(y.s, &y.a);
  for (std::size_t i = 0; i < x.system->bodies.size(); ++i) {
    SCOPED_TRACE("body " + x.system->model.bodies[i].name);
    const FrameState<double> f = x.engine->frame_state(x.system->bodies[i].frame),
                             g = y.engine->frame_state(y.system->bodies[i].frame);
    EXPECT_LT((f.p - g.p).norm(), 1e-11 * (1 + f.p.norm()));
    EXPECT_LT((f.R - g.R).norm(), 1e-11);
    EXPECT_LT((f.v - g.v).norm(), 1e-11 * (1 + f.v.norm()));
    EXPECT_LT((f.w - g.w).norm(), 1e-11 * (1 + f.w.norm()));
    EXPECT_LT((f.a - g.a).norm(), 1e-9 * (1 + f.a.norm()));
    EXPECT_LT((f.alpha - g.alpha).norm(), 1e-9 * (1 + f.alpha.norm()));
  }
  for (std::size_t i = 0; i < x.system->model.force_elements.size(); ++i) {
    const Deformation &d = x.system->deformations[x.system->element_deformation[i]],
                      &e = y.system->deformations[y.system->element_deformation[i]];
    const double sx = x.engine->stress(d, x.s), sy = y.engine->stress(e, y.s);
    EXPECT_NEAR(sx, sy, 1e-9 * (1 + std::abs(sx))) << d.name;
    if (d.z >= 0) {
      EXPECT_NEAR(x.zdot[d.z], y.zdot[e.z], 1e-9 * (1 + std::abs(x.zdot[d.z])));
    }
  }
  EXPECT_NEAR(x.dynamics().stored_energy(x.s), y.dynamics().stored_energy(y.s), 1e-9);
}

std::vector<double> observed(Setting& x, const std::string& quantity) {
  const Observer observer(x.system, {quantity});
  std::vector<double> out(static_cast<std::size_t>(observer.width()));
  observer.evaluate(*x.engine, x.s, x.a, x.lambda, Vec::Zero(x.sizes().np), 0, out);
  return out;
}

void expect_same_quantity(Setting& x, Setting& y, const std::string& quantity) {
  const std::vector<double> a = observed(x, quantity), b = observed(y, quantity);
  ASSERT_EQ(a.size(), b.size());
  double size = 1;
  for (const double v : a) size = std::max(size, std::abs(v));
  for (std::size_t k = 0; k < a.size(); ++k) EXPECT_NEAR(a[k], b[k], 1e-8 * size) << quantity << " component " << k;
}

void expect_same_joint_forces(Setting& x, Setting& y) {
  for (std::size_t j = 0; j < x.system->model.joints.size(); ++j) {
    if (x.system->joints[j].frame_a < 0) continue;
    expect_same_quantity(x, y, x.system->model.joints[j].name + ".force");
    expect_same_quantity(x, y, x.system->model.joints[j].name + ".torque");
  }
}

void expect_same_joint_components(Setting& x, Setting& y) {
  for (const System::JointComponentIndex& c : x.system->joint_components) {
    const std::string& joint = x.system->model.joints[c.joint].name;
    expect_same_quantity(x, y, joint + "." + c.name);
    expect_same_quantity(x, y, joint + ".rate." + c.name);
  }
}

// The power channels are the same, channel by channel.
void expect_same_powers(Setting& x, Setting& y) {
  ASSERT_EQ(x.system->channel_names, y.system->channel_names);
  Vec p(x.sizes().np), q(y.sizes().np);
  x.dynamics().powers(x.s, x.a, x.lambda, p);
  y.dynamics().powers(y.s, y.a, y.lambda, q);
  // Those of contacts follow the named ones of the engine.
  const auto name = [&](auto k) { return k < x.system->channel_names.size() ? x.system->channel_names[k] : "contact"; };
  for (Eigen::Index k = 0; k < p.size(); ++k)
    EXPECT_NEAR(p[k], q[k], 1e-8 * (1 + std::abs(p[k]))) << name(static_cast<std::size_t>(k));
}

TEST_P(JointCoordinates, GiveTheMotionOfAbsoluteCoordinates) {
  for (int which = 0; which < states_of_a_sample; ++which) {
    SCOPED_TRACE("state " + std::to_string(which));
    Setting x = thrown(sample(true), which);
    Model model = in_state(x);
    model.joint_coordinates = false;
    Setting y(model);
    y.solve();
    expect_same_motion(x, y);
  }
}

TEST_P(JointCoordinates, GiveTheJointForcesOfAbsoluteCoordinates) {
  for (int which = 0; which < states_of_a_sample; ++which) {
    SCOPED_TRACE("state " + std::to_string(which));
    Setting x = thrown(sample(true), which);
    Model model = in_state(x);
    model.joint_coordinates = false;
    Setting y(model);
    y.solve();
    expect_same_joint_forces(x, y);
    expect_same_joint_components(x, y);
    expect_same_powers(x, y);
  }
}

TEST_P(JointCoordinates, AreFoundBackFromPoses) {
  for (int which = 0; which < states_of_a_sample; ++which) {
    SCOPED_TRACE("state " + std::to_string(which));
    Setting x = thrown(sample(true), which);
    const Setting y(in_state(x));
    Vec delta(x.sizes().nv);
    x.engine->minus(y.s.q, x.s.q, delta);
    EXPECT_LT(largest(delta), 1e-12);
    EXPECT_LT(largest(x.s.v - y.s.v), 1e-12 * (1 + largest(x.s.v)));
  }
}

// Circles become spheres, lines planes with the same side outside.
void make_spatial(ContactShape& shape) {
  const bool line = shape.kind == ContactShape::Kind::line;
  ASSERT_TRUE(line || shape.kind == ContactShape::Kind::circle);
  shape.kind = line ? ContactShape::Kind::plane : ContactShape::Kind::sphere;
  if (line) shape.at.placement.rotation = shape.at.placement.rotation * Quat(Eigen::AngleAxisd(-M_PI_2, Vec3::UnitX()));
}

TEST_P(PlanarTwin, MovesAsTheSpatialModel) {
  each_setting([](Setting& x) {
    Model model = in_state(x);
    for (Body& b : model.bodies) {
      if (b.kind == BodyKind::planar_particle) b.kind = BodyKind::particle;
      if (b.kind == BodyKind::planar_flexible) {
        auto reduced = std::make_shared<ReducedBody>(*b.reduced);
        reduced->planar = false;
        b.kind = BodyKind::flexible;
        b.reduced = reduced;
      }
      if (b.kind != BodyKind::planar) continue;
      b.kind = BodyKind::rigid;
      b.inertia(0, 0) = 0.6 * b.inertia(2, 2);
      b.inertia(1, 1) = 0.7 * b.inertia(2, 2);
    }
    for (ContactShape& shape : model.shapes) make_spatial(shape);
    Setting y(model);
    y.solve();
    expect_same_motion(x, y);
    expect_same_joint_forces(x, y);
    expect_same_powers(x, y);
  });
}

INSTANTIATE_TEST_SUITE_P(Registry, JointCoordinates,
                         ::testing::ValuesIn(samples([](const Registered& r) { return r.traits.tree_capable; })),
                         sample_name);
INSTANTIATE_TEST_SUITE_P(Registry, PlanarTwin,
                         ::testing::ValuesIn(samples([](const Registered& r) { return r.traits.planar_twin; })),
                         sample_name);

}  // namespace
}  // namespace clatter::test
