// Hertz's ellipse (Y-44): against Hertz's own equations, a published table, closed forms at both ends, and differences.
#include "contact/hertz_ellipse.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "base/error.hpp"

namespace clatter::contact {
namespace {

constexpr double pi = std::numbers::pi;
const double kSteel = contact_modulus(2.1e11, 0.28, 2.1e11, 0.28);

TEST(EllipticIntegrals, AreThoseOfTheStandardLibrary) {
  // K = B + D, E = B + k^2 D, C = (D - B)/m. The library works at the modulus sqrt(1 - k^2), whose rounding changes k^2
  // by 2e-16 and with it K by as much over k^2; its own series are good to 1e-13.
  for (const double k : {1e-3, 0.01, 0.1, 0.3, 0.5, 0.8, 0.95}) {
    const EllipticIntegrals I = elliptic_integrals(k);
    const double e = std::sqrt((1 - k) * (1 + k));
    const double rounding = 1e-13 + 2e-16 / (k * k);
    EXPECT_NEAR(I.B + I.D, std::comp_ellint_1(e), rounding * (I.B + I.D)) << k;
    EXPECT_NEAR(I.B + k * k * I.D, std::comp_ellint_2(e), rounding) << k;
    EXPECT_NEAR(I.C * (1 - k * k), I.D - I.B, 1e-14 * I.D) << k;
  }
  const EllipticIntegrals circle = elliptic_integrals(1);
  EXPECT_DOUBLE_EQ(circle.B, pi / 4);
  EXPECT_DOUBLE_EQ(circle.D, pi / 4);
  EXPECT_DOUBLE_EQ(circle.C, pi / 16);
}

TEST(HertzEllipse, FulfilsHertzsEquations) {
  // With p_0 = 3 N/(2 pi a b), along the long axis a: A = p_0 b (K - E)/(E* e^2 a^2), B = p_0 b (a^2/b^2 E - K)/(E* e^2
  // a^2), delta = p_0 b K/E*. Rounding, magnified by the differences K - E.
  const double N = 15e3;
  for (const double ratio : {0.9, 0.5, 0.1, 0.01, 1e-4}) {
    const double B = 3, A = ratio * B;
    const HertzEllipse h = hertz_ellipse(A, B, kSteel);
    const double a = h.a.value * HertzEllipse::growth(N), b = h.b.value * HertzEllipse::growth(N);
    ASSERT_GT(a, b);
    EXPECT_DOUBLE_EQ(h.ratio.value, a / b);
    const double k = b / a, e2 = (1 - k) * (1 + k), p0 = 1.5 * N / (pi * a * b);
    const double K = std::comp_ellint_1(std::sqrt(e2)), E = std::comp_ellint_2(std::sqrt(e2));
    EXPECT_NEAR(p0 * b * (K - E) / (kSteel * e2 * a * a), A, 1e-11 * A) << ratio;
    EXPECT_NEAR(p0 * b * (E / (k * k) - K) / (kSteel * e2 * a * a), B, 1e-11 * B) << ratio;
    EXPECT_NEAR(h.force(p0 * b * K / kSteel), N, 1e-11 * N) << ratio;
  }
}

TEST(HertzEllipse, OfASphereOnAPlaneIsTheCircleOfTheClosedForm) {
  // a^3 = 3 N R/(4 E*), N = (4/3) E* sqrt(R) delta^1.5 with A = B = 1/(2 R).
  const double R = 0.05, N = 200;
  const HertzEllipse h = hertz_ellipse(0.5 / R, 0.5 / R, kSteel);
  EXPECT_NEAR(h.a.value * HertzEllipse::growth(N), std::cbrt(0.75 * N * R / kSteel), 1e-17);
  EXPECT_DOUBLE_EQ(h.a.value, h.b.value);
  EXPECT_NEAR(h.stiffness.value, 4.0 / 3 * kSteel * std::sqrt(R), 1e-15 * h.stiffness.value);
  EXPECT_EQ(h.force(-1e-6), 0);
  EXPECT_EQ(HertzEllipse::growth(-5), 0);
}

TEST(HertzEllipse, HasTheStiffnessOfThePublishedTable) {
  // Y-44: K_h = 4 beta_h/(3 (K_i + K_j) sqrt(A + B)), K_i + K_j = 1/(pi E*). Printed with four digits, and so is A/B,
  // on which beta_h depends less than in proportion: half a unit of the last digit of each.
  const double table[][2] = {{1, 0.3183},      {0.7041, 0.3216}, {0.4903, 0.3318}, {0.328, 0.3516}, {0.2174, 0.3812},
                             {0.1325, 0.4304}, {0.0718, 0.5142}, {0.0319, 0.6723}, {0.00765, 1.137}};
  for (const auto& [ratio, beta] : table) {
    const HertzEllipse h = hertz_ellipse(ratio, 1, 1);
    const double computed = 3 * h.stiffness.value * std::sqrt(1 + ratio) / (4 * pi);
    EXPECT_NEAR(computed, beta, beta < 1 ? 0.6e-4 : 6e-4) << ratio;
  }
}

TEST(HertzEllipse, TurnsWithTheCurvatures) {
  const HertzEllipse h = hertz_ellipse(0.7, 2.9, kSteel), turned = hertz_ellipse(2.9, 0.7, kSteel);
  EXPECT_DOUBLE_EQ(h.a.value, turned.b.value);
  EXPECT_DOUBLE_EQ(h.b.value, turned.a.value);
  EXPECT_DOUBLE_EQ(h.stiffness.value, turned.stiffness.value);
  EXPECT_NEAR(h.a.by_A, turned.b.by_B, 1e-14 * std::abs(h.a.by_A));
  EXPECT_NEAR(h.stiffness.by_A, turned.stiffness.by_B, 1e-14 * std::abs(h.stiffness.by_A));
}

TEST(HertzEllipse, HasExactDerivatives) {
  // Central differences with a step of 1e-5: their own error is some 1e-10.
  const double cases[][2] = {{1.094, 3.333}, {3, 1}, {2, 2}, {2, 2.0001}, {1e-3, 5}, {4, 1e-4}};
  for (const auto& curvatures : cases) {
    const double A = curvatures[0], B = curvatures[1];
    const HertzEllipse h = hertz_ellipse(A, B, kSteel);
    const auto check = [&](OfCurvatures HertzEllipse::*q, const char* name) {
      const double dA = 1e-5 * A, dB = 1e-5 * B, size = std::abs((h.*q).value);
      const auto at = [&](double x, double y) { return (hertz_ellipse(x, y, kSteel).*q).value; };
      EXPECT_NEAR((h.*q).by_A * A, A * (at(A + dA, B) - at(A - dA, B)) / (2 * dA), 1e-9 * size) << name << " " << A;
      EXPECT_NEAR((h.*q).by_B * B, B * (at(A, B + dB) - at(A, B - dB)) / (2 * dB), 1e-9 * size) << name << " " << A;
    };
    check(&HertzEllipse::ratio, "ratio");
    check(&HertzEllipse::a, "a");
    check(&HertzEllipse::b, "b");
    check(&HertzEllipse::stiffness, "stiffness");
  }
}

TEST(HertzEllipse, OfBodiesThatAreNotCurvedAgainstEachOtherIsRefused) {
  for (const double bad : {0.0, -1.0, std::nan("")}) {
    try {
      hertz_ellipse(bad, 1, kSteel);
      ADD_FAILURE() << bad;
    } catch (const SolveError& error) {
      EXPECT_EQ(error.kind(), "no-hertz-ellipse");
    }
  }
}

}  // namespace
}  // namespace clatter::contact
