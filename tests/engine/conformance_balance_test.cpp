// Balances of every registered element: power, momentum, and the same motion wherever the model stands.
#include "engine/conformance.hpp"

namespace clatter::test {
namespace {

struct Power : Conformance {};
struct Conservation : Conformance {};
struct Momentum : Conformance {};
struct Objectivity : Conformance {};
struct TimeIndependence : Conformance {};

// Rate of the stored energy by differences along the motion; tolerance 1e-9 of the power that flows between kinetic and
// potential energy (the differences are good to 1e-11 of the energy).
void energy_rates(Setting& x, double& stored, double& supplied, double& scale) {
  stored = slope([&](double dt) { return x.dynamics().stored_energy(along(x, dt)); });
  Vec p(x.sizes().np);
  x.dynamics().powers(x.s, x.a, x.lambda, p);
  supplied = p.sum();
  Vec h = x.residual(x.s, Vec::Zero(x.sizes().nv));
  scale = 1 + h.cwiseAbs().dot(x.s.v.cwiseAbs()) + p.cwiseAbs().sum() + std::abs(x.dynamics().stored_energy(x.s));
}

TEST_P(Power, OfAllChannelsIsTheRateOfTheStoredEnergy) {
  each_setting([](Setting& x) {
    double stored, supplied, scale;
    energy_rates(x, stored, supplied, scale);
    EXPECT_NEAR(stored, supplied, 1e-9 * scale);
  });
}

TEST_P(Conservation, StoredEnergyStays) {
  each_setting([](Setting& x) {
    double stored, supplied, scale;
    energy_rates(x, stored, supplied, scale);
    EXPECT_NEAR(stored, 0, 1e-9 * scale);
  });
}

TEST_P(Momentum, LinearAndAngularStay) {
  each_setting([](Setting& x) {
    x.engine->observe(x.s, &x.a);
    if (!x.system->flexible.empty()) {
      // By differences along the motion, as the power is.
      const auto momentum = [&](double dt) {
        x.engine->observe(along(x, dt), nullptr);
        const Momenta m = momenta(x.system->tree, x.engine->links());
        Vec6 p;
        p << m.linear, m.angular;
        return p;
      };
      const Vec6 rate = slope(momentum);
      EXPECT_LT(largest(rate), 1e-9 * (1 + largest(momentum(0)) + largest(x.a)));
      return;
    }
    Vec3 F = Vec3::Zero(), N = Vec3::Zero();
    double F_size = 0, N_size = 0;  // what cancels
    for (std::size_t i = 0; i < x.system->tree.links.size(); ++i) {
      const Link& l = x.system->tree.links[i];
      const LinkMotion& m = x.engine->links().motion[i];
      const Mat3 J = m.R * l.inertia * m.R.transpose();
      const Vec3 f = l.mass * m.a, n = J * m.alpha + m.w.cross(J * m.w);
      F += f;
      N += n + m.p.cross(f);
      F_size += f.norm();
      N_size += n.norm() + m.p.norm() * f.norm();
    }
    EXPECT_LT(F.norm(), 1e-12 * (1 + F_size));
    EXPECT_LT(N.norm(), 1e-12 * (1 + N_size));
  });
}

TEST_P(Objectivity, TheModelMovedAsAWholeMovesTheSameWay) {
  each_setting([](Setting& x) {
    const Model here = in_state(x);
    const bool flat = has_planar_bodies(here);
    const Placement X{flat ? Vec3(1.3, -0.8, 0) : Vec3(1.3, -0.8, 0.9),
                      flat ? Quat(Eigen::AngleAxisd(0.9, Vec3::UnitZ()))
                           : Quat(Eigen::AngleAxisd(1.1, Vec3(0.3, -0.7, 0.5).normalized()))};
    Setting y(moved(here, X));
    y.solve();
    x.engine->observe(x.s, &x.a);
    y.engine->observe(y.s, &y.a);
    for (const BodyIndex& b : x.system->bodies) {
      const FrameState<double> f = x.engine->frame_state(b.frame), g = y.engine->frame_state(b.frame);
      EXPECT_LT((X.rotation * f.p + X.position - g.p).norm(), 1e-12 * (1 + f.p.norm()));
      EXPECT_LT((X.rotation * f.a - g.a).norm(), 1e-10 * (1 + f.a.norm()));
      EXPECT_LT((X.rotation * f.alpha - g.alpha).norm(), 1e-10 * (1 + f.alpha.norm()));
    }
    // Rows are numbered alike and scalar: the multipliers are the same.
    ASSERT_EQ(x.lambda.size(), y.lambda.size());
    EXPECT_LT((x.lambda - y.lambda).norm(), 1e-10 * (1 + x.lambda.norm()));
  });
}

TEST_P(TimeIndependence, AtRestNothingMovesAndLaterIsTheSame) {
  each_setting([](Setting& x) {
    const int nc = x.sizes().nc();
    Vec phi(x.sizes().nh), y(nc);
    State later = x.s;
    later.t += 1.7;
    Vec a(x.sizes().nv), lambda(nc), zdot(x.sizes().nz);
    x.dynamics().accelerations(later, a, lambda, zdot);
    EXPECT_EQ(a, x.a);
    EXPECT_EQ(lambda, x.lambda);
    EXPECT_EQ(zdot, x.zdot);
    later.v.setZero();
    x.dynamics().constraints(later, phi, y);
    EXPECT_EQ(y, Vec::Zero(nc));
  });
}

INSTANTIATE_TEST_SUITE_P(Registry, Power, ::testing::ValuesIn(samples()), sample_name);
INSTANTIATE_TEST_SUITE_P(Registry, Conservation,
                         ::testing::ValuesIn(samples([](const Registered& r) { return r.traits.conservative; })),
                         sample_name);
INSTANTIATE_TEST_SUITE_P(Registry, Momentum,
                         ::testing::ValuesIn(samples([](const Registered& r) { return r.traits.internal; })),
                         sample_name);
INSTANTIATE_TEST_SUITE_P(Registry, Objectivity,
                         ::testing::ValuesIn(samples([](const Registered& r) { return r.traits.objective; })),
                         sample_name);
INSTANTIATE_TEST_SUITE_P(Registry, TimeIndependence,
                         ::testing::ValuesIn(samples([](const Registered& r) { return r.traits.scleronomic; })),
                         sample_name);

}  // namespace
}  // namespace clatter::test
