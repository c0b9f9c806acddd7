// Compliant laws at one point: power balance on every branch, friction regularised smoothly.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "compliant_models.hpp"
#include "model/expression.hpp"

namespace clatter::contact {
namespace {

TEST(CompliantLaw, PowerOfTheForceIsWhatIsStoredAndLostOnEveryBranch) {
  // F dg/dt + r_T . s = -dE/dt + P with dE/dt by automatic differentiation: rounding only.
  std::mt19937 random(5);
  std::uniform_real_distribution<double> any(-1, 1);
  using D = Dual<2>;
  int loaded = 0;
  for (const Kind kind : kKinds)
    for (int i = 0; i < 400; ++i) {
      CompliantContact law = law_of(kind, 3, kind == Kind::hunt_crossley ? 2 : 0.7);
      law.restitution = 0.4;
      law.exponent = i % 3 == 0 ? 1.0 : (i % 3 == 1 ? 1.5 : 2.2);
      law.friction.mu = 0.3;
      law.friction_velocity = 0.2;
      CompliantPhase phase;
      phase.closure = static_cast<Closure>(i % 3);
      phase.chi = hysteresis(law, 0.5);
      const double g = any(random), rate = any(random), s = any(random), s1 = any(random), s2 = any(random);
      const NormalLaw<double> n = normal_law<double>(law, phase, g, rate, s);
      const NormalLaw<D> d = normal_law<D>(law, phase, D::variable(g, 0), D(rate), D::variable(s, 1));
      double r[3];
      const double lost = friction_law<double>(law, 2, n.force, s1, s2, r);
      // While the surface follows the gap its place is not an independent variable of the energy.
      const double stored_rate = d.stored.d[0] * rate + d.stored.d[1] * surface_rate(law, phase, g, rate, s);
      EXPECT_NEAR(r[0] * rate + r[1] * s1 + r[2] * s2, -stored_rate + n.loss + lost, 1e-14);
      EXPECT_LE(n.loss, 1e-15);
      EXPECT_LE(lost, 0);
      loaded += n.force > 0;
      const bool may_pull = kind == Kind::damped || (kind == Kind::relaxing && phase.closure == Closure::closed);
      EXPECT_TRUE(may_pull || n.force >= 0);
    }
  EXPECT_GT(loaded, 700);
}

TEST(CompliantLaw, FrictionFactorIsOnceContinuouslyDifferentiable) {
  // EVX-12: phi(v/2) = 0.75, phi'(v-) = 0.
  const double v = 0.01;
  using D = Dual<1>;
  const auto phi = [&](double u) {
    const D x = D::variable(u, 0);
    return x * friction_slope(x, v);
  };
  EXPECT_NEAR(phi(v / 2).v, 0.75, 1e-15);
  EXPECT_NEAR(phi(v * (1 - 1e-12)).v, 1, 1e-12);
  EXPECT_NEAR(phi(v * (1 - 1e-12)).d[0] * v, 0, 1e-11);
  EXPECT_NEAR(phi(v * (1 + 1e-12)).d[0] * v, 0, 1e-11);
  EXPECT_NEAR(phi(0).d[0] * v, 2, 1e-14);
}

TEST(CompliantLaw, FrictionPassesSmoothlyThroughZeroSlip) {
  CompliantContact law = law_of(Kind::elastic, 1);
  law.friction.mu = 0.5;
  law.friction_velocity = 0.1;
  using D = Dual<2>;
  const auto at = [&](double s1, double s2, D r[3]) {
    friction_law<D>(law, 2, D(2.0), D::variable(s1, 0), D::variable(s2, 1), r);
  };
  D zero[3], near[3];
  at(0, 0, zero);
  EXPECT_EQ(zero[1].v, 0);
  EXPECT_EQ(zero[2].v, 0);
  EXPECT_NEAR(zero[1].d[0], -20, 1e-12);  // mu F 2 / v_eps
  EXPECT_NEAR(zero[2].d[1], -20, 1e-12);
  EXPECT_EQ(zero[1].d[1], 0);
  for (const double angle : {0.0, 1.0, 2.5, 4.0}) {
    at(1e-9 * std::cos(angle), 1e-9 * std::sin(angle), near);
    for (int k = 1; k < 3; ++k)
      for (int j = 0; j < 2; ++j) EXPECT_NEAR(near[k].d[j], zero[k].d[j], 1e-5);
  }
  // Against the slip, at its full size beyond v_eps.
  at(0.3, -0.4, near);
  EXPECT_NEAR(near[1].v, -0.6, 1e-15);
  EXPECT_NEAR(near[2].v, 0.8, 1e-15);
}

// --- models
// ------------------------------------------------------------------------------------------------------------

}  // namespace
}  // namespace clatter::contact
