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
  for (const laws::LawRow& row : laws::table())
    for (int i = 0; i < 400; ++i) {
      CompliantContact law;
      law.normal = laws::with_sample(row);
      set(law, "stiffness", 3);
      law.friction_curve = static_cast<CompliantContact::FrictionCurve>(i % 3);
      set(law, "exponent", i % 3 == 0 ? 1.0 : (i % 3 == 1 ? 1.5 : 2.2));
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
      EXPECT_TRUE(row.pulls || n.force >= 0) << row.name();
    }
  EXPECT_GT(loaded, 700);
}

// phi and its slope, the slip in parts of the friction velocity.
Dual<1> friction_factor(CompliantContact::FrictionCurve curve, double x) {
  CompliantContact law;
  law.friction_velocity = 0.01;
  law.friction_curve = curve;
  const Dual<1> u = 0.01 * Dual<1>::variable(x, 0);
  return u * friction_slope(law, u);
}

TEST(CompliantLaw, FrictionFactorIsOnceContinuouslyDifferentiable) {
  // EVX-12: phi(v/2) = 0.75, phi'(v-) = 0. Y-25's smooth cubic: 11/16 there, slope 3/2 at rest.
  using Curve = CompliantContact::FrictionCurve;
  const double half[] = {0.75, 0.6875}, at_rest[] = {2, 1.5};
  for (const Curve curve : {Curve::quadratic, Curve::cubic}) {
    const int i = curve == Curve::cubic ? 1 : 0;
    EXPECT_NEAR(friction_factor(curve, 0.5).v, half[i], 1e-15);
    EXPECT_NEAR(friction_factor(curve, 1 - 1e-12).v, 1, 1e-11);
    EXPECT_NEAR(friction_factor(curve, 1 - 1e-12).d[0], 0, 1e-11);
    EXPECT_NEAR(friction_factor(curve, 1 + 1e-12).d[0], 0, 1e-11);
    EXPECT_NEAR(friction_factor(curve, 0).d[0], at_rest[i], 1e-14);
  }
}

TEST(CompliantLaw, PrintedFrictionFactorHasNoSlopeAtRestAndACornerAtTheEnd) {
  // Y-25 as printed, phi = (3 x^2 - x^4) / 2: 11/32 at one half, slope 3 x - 2 x^3 = 1 at x = 1 and 0 beyond.
  constexpr auto quartic = CompliantContact::FrictionCurve::quartic;
  EXPECT_NEAR(friction_factor(quartic, 0.5).v, 11.0 / 32, 1e-15);
  EXPECT_EQ(friction_factor(quartic, 0).d[0], 0);
  EXPECT_NEAR(friction_factor(quartic, 1 - 1e-12).v, 1, 1e-11);
  EXPECT_NEAR(friction_factor(quartic, 1 - 1e-12).d[0], 1, 1e-11);
  EXPECT_NEAR(friction_factor(quartic, 1 + 1e-12).d[0], 0, 1e-11);
}

TEST(CompliantLaw, DampingOfARestitutionIsOneAndAHalfPartsLostByTheSpeedOfApproach) {
  // Y-23: chi = 3 (1 - c_r) / (2 v); none for c_r = 1.
  CompliantContact law = law_of("hunt-crossley", 1);
  EXPECT_EQ(hysteresis(law, 4.0), 0);
  set(law, "restitution", 0.2);
  EXPECT_NEAR(hysteresis(law, 4.0), 0.3, 1e-15);
}

TEST(CompliantLaw, FrictionPassesSmoothlyThroughZeroSlip) {
  CompliantContact law = law_of("elastic", 1);
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

}  // namespace
}  // namespace clatter::contact
