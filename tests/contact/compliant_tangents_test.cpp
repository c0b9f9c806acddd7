// Tangents of compliant contacts against differences of the residuals.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "compliant_models.hpp"
#include "model/expression.hpp"

namespace clatter::contact {
namespace {

// Two bodies on joints, the second with a ball that presses on a plane, and a free ball that presses on it.
Model spatial_pair(bool joint, const CompliantContact& law) {
  Model m = load_model_text(R"(clatter: 1
coordinates: joint
gravity: [0, 0, -10]
bodies:
  upper: {mass: 2, inertia: [0.1, 0.2, 0.15], position: [0.4, 0, 0.5], center_of_mass: [0.1, 0.02, 0]}
  lower: {mass: 1, inertia: [0.05, 0.08, 0.06], position: [1.2, 0, 0.4]}
  free: {mass: 1.5, inertia: [0.05, 0.08, 0.06], position: [1.45, 0.35, 0.85]}
joints:
  shoulder: {type: spherical, between: [ground, upper], at: [0, 0, 0.5]}
  elbow: {type: revolute, between: [upper, lower], at: [0.8, 0, 0.5], axis: [0, 1, 0.3]}
simulate: {end: 1}
)",
                            "spatial.yaml");
  m.joint_coordinates = joint;
  m.shapes = {shape("tip", 1, ContactShape::Kind::sphere, 0.5), shape("floor", -1, ContactShape::Kind::plane),
              shape("ball", 2, ContactShape::Kind::sphere, 0.2)};
  m.shapes[0].at.placement.position = Vec3(0.1, 0.05, 0.02);
  m.contacts = {contact("floor", 0, 1, law), contact("ball", 0, 2, law)};
  return m;
}

Model planar_pair(bool joint, const CompliantContact& law) {
  Model m = load_model_text(R"(clatter: 1
coordinates: joint
gravity: [0, -10, 0]
bodies:
  upper: {type: planar, mass: 2, inertia: 0.1, position: [0.4, 0.5]}
  lower: {type: planar, mass: 1, inertia: 0.05, position: [1.2, 0.4], center_of_mass: [0.05, 0.02]}
  free: {type: planar, mass: 1.5, inertia: 0.05, position: [1.5, 0.85]}
joints:
  shoulder: {type: revolute, between: [ground, upper], at: [0, 0.5]}
  elbow: {type: revolute, between: [upper, lower], at: [0.8, 0.5]}
simulate: {end: 1}
)",
                            "planar.yaml");
  m.joint_coordinates = joint;
  m.shapes = {shape("tip", 1, ContactShape::Kind::circle, 0.5), shape("floor", -1, ContactShape::Kind::line),
              shape("ball", 2, ContactShape::Kind::circle, 0.2)};
  m.shapes[0].at.placement.position = Vec3(0.1, 0.05, 0);
  m.contacts = {contact("floor", 0, 1, law), contact("ball", 0, 2, law)};
  return m;
}

Mat dense(const SparseMatrix<double>& m) {
  Mat out = Mat::Zero(m.rows(), m.cols());
  for (int j = 0; j < m.cols(); ++j)
    for (int i = 0; i < m.rows(); ++i) out(i, j) = m.at(i, j);
  return out;
}

// Central differences, one step of Richardson's extrapolation.
Vec slope(const std::function<Vec(double)>& f, double h = 4e-4) {
  const Vec wide = (f(h) - f(-h)) / (2 * h), half = (f(h / 2) - f(-h / 2)) / h;
  const Vec quarter = (f(h / 4) - f(-h / 4)) / (h / 2);
  const Vec a = (4 * half - wide) / 3, b = (4 * quarter - half) / 3;
  return (16 * b - a) / 15;
}

void expect_block(const std::string& name, const Mat& exact, const Mat& differences) {
  if (exact.size() == 0) return;
  const double scale = std::max(1.0, differences.cwiseAbs().maxCoeff());
  EXPECT_LT((exact - differences).cwiseAbs().maxCoeff(), 1e-8 * scale) << name;
}

TEST(CompliantContact, TangentsAreTheDerivativesOfTheResiduals) {
  // Extrapolated differences are good to about 1e-10 of the block's largest entry.
  for (const bool planar : {false, true})
    for (const bool joint : {false, true})
      for (const laws::LawRow& row : laws::table()) {
        CompliantContact law;
        law.normal = laws::with_sample(row);
        law.friction.mu = 0.4;
        law.friction_velocity = 3;  // below and above it within one model
        law.friction_curve = static_cast<CompliantContact::FrictionCurve>(row.kind % 3);
        const Model model = planar ? planar_pair(joint, law) : spatial_pair(joint, law);
        const auto system = System::compile(model);
        const auto contacts = ContactSystem::compile(system);
        Engine engine(system);
        ContactDynamics dynamics(contacts, engine);
        const Sizes n = dynamics.sizes();
        const std::string name =
            std::string(planar ? "planar" : "spatial") + (joint ? " joint " : " absolute ") + row.name();
        std::mt19937 random(11);
        std::uniform_real_distribution<double> any(-1, 1);
        State s = system->initial;
        s.z.setConstant(n.nz, 0.3);
        for (double& v : s.v) v += 0.8 * any(random);
        Vec delta(n.nv), a(n.nv), lambda(n.nc());
        for (double& x : delta) x = 0.005 * any(random);
        for (double& x : a) x = any(random);
        for (double& x : lambda) x = any(random);
        engine.plus(s.q, delta, s.q);
        const auto shifted = [&](int k, double h, char part) {
          State to = s;
          if (part == 'q') engine.plus(s.q, h * Vec::Unit(n.nv, k), to.q);
          if (part == 'v') to.v[k] += h;
          if (part == 'z') to.z[k] += h;
          return to;
        };
        const auto both = [&](const State& at) {
          Vec r(n.nv), z(n.nz), all(n.nv + n.nz);
          dynamics.residual(at, a, lambda, r, z);
          all << r, z;
          return all;
        };
        both(s);
        for (int slot = 0; slot < dynamics.contacts().slots(); ++slot)
          EXPECT_GT(dynamics.compliant().force(slot)[0], 0.1) << name << ": nothing to see";
        Tangents T = dynamics.tangent_layout();
        dynamics.tangents(s, a, lambda, T);
        Mat K(n.nv + n.nz, n.nv), C(n.nv + n.nz, n.nv), Z(n.nv + n.nz, n.nz);
        for (int k = 0; k < n.nv; ++k) {
          K.col(k) = slope([&](double h) { return both(shifted(k, h, 'q')); });
          C.col(k) = slope([&](double h) { return both(shifted(k, h, 'v')); });
        }
        for (int k = 0; k < n.nz; ++k) Z.col(k) = slope([&](double h) { return both(shifted(k, h, 'z')); });
        expect_block(name + " K", dense(T.K), K.topRows(n.nv));
        expect_block(name + " C", dense(T.C), C.topRows(n.nv));
        expect_block(name + " Fq", dense(T.Fq), K.bottomRows(n.nz));
        expect_block(name + " Fv", dense(T.Fv), C.bottomRows(n.nz));
        expect_block(name + " Rz", dense(T.Rz), Z.topRows(n.nv));
        expect_block(name + " Fz", dense(T.Fz), Z.bottomRows(n.nz));
      }
}

}  // namespace
}  // namespace clatter::contact
