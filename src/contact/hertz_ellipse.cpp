// The integrals come from the arithmetic-geometric mean of 1 and k. With c_0^2 = m and c_n the half difference of the
// pair before,
//
//   K = pi / (2 agm),   D/K = 1/2 + sum_{n>=1} 2^(n-1) c_n^2 / m,   (D - B_m)/K = 2 sum_{n>=1} 2^(n-1) c_n^2 / m
//
// and c_1^2/m^2 = 1 / (4 (1 + k)^2), c_{n+1} = c_n^2 / (4 a_{n+1}): no difference of nearly equal numbers anywhere.
#include "contact/hertz_ellipse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.hpp"

namespace clatter::contact {

EllipticIntegrals elliptic_integrals(double k) {
  const double m = (1 - k) * (1 + k);
  double a = 0.5 * (1 + k), g = std::sqrt(k);
  double c2 = 0.25 * (1 - k) * (1 - k);      // c_n^2
  double part = 0.25 / ((1 + k) * (1 + k));  // c_n^2 / m^2
  double sum = 0, weight = 1;
  // The differences are squared by every step: even from k = 1e-300 on fourteen steps reach rounding.
  for (int n = 0; n < 16; ++n) {
    sum += weight * part;
    const double next = 0.5 * (a + g);
    g = std::sqrt(a * g);
    a = next;
    const double factor = c2 / (16 * a * a);
    if (factor < 0x1p-60) break;
    part *= factor;
    c2 *= factor;
    weight *= 2;
  }
  const double K = 0.5 * std::numbers::pi / a;
  const double D = K * (0.5 + m * sum);
  return {K - D, D, 2 * K * sum};
}

double contact_modulus(double young_1, double poisson_1, double young_2, double poisson_2) {
  return 1 / ((1 - poisson_1 * poisson_1) / young_1 + (1 - poisson_2 * poisson_2) / young_2);
}

HertzEllipse hertz_ellipse(double A, double B, double contact_modulus) {
  if (!(A > 0 && B > 0 && std::isfinite(A) && std::isfinite(B)))
    throw SolveError("no-hertz-ellipse", 0, {},
                     fmt::format("relative curvatures of {:.6g} and {:.6g} 1/m have no ellipse of contact", A, B),
                     "bodies must be curved against each other in both directions");
  constexpr double pi = std::numbers::pi;
  // In logarithms: t of the larger over the smaller curvature, l = ln k.
  const double t = std::abs(std::log(B / A));
  double l = -0.6 * t, slope = 1.5;
  EllipticIntegrals I{};
  for (int i = 0; i < 30; ++i) {
    const double k = std::exp(l);
    I = elliptic_integrals(k);
    slope = 1 + k * k * I.C / I.B + I.C / I.D;
    const double step = (std::log(I.B / I.D) - 2 * l - t) / slope;
    if (std::abs(step) < 4e-16 * std::max(1.0, -l)) break;
    l = std::min(0.0, l + step);
  }
  const double k = std::exp(l);
  I = elliptic_integrals(k);
  const double K = I.B + I.D;
  const double R_e = 0.5 / std::sqrt(A * B);
  const double F1 = std::cbrt(4 / pi * std::sqrt(k * I.B * I.D));
  const double F2 = 2 / pi * std::sqrt(k) * K / F1;
  const double mean = F1 * std::cbrt(0.75 * R_e / contact_modulus);  // sqrt(a b)

  // Logarithmic derivatives: of l by t, then of F_1 and K_h by l; R_e follows both curvatures alike.
  const double side = B >= A ? 1 : -1;  // along x lies the long axis or the short one
  const double l_t = -1 / slope;
  const double F1_l = (I.C / I.D - k * k * I.C / I.B) / 6;
  const double F2_l = 0.5 - I.B / K - F1_l;
  const auto quantity = [&](double value, double by_R, double by_l, double by_ratio) {
    // t changes by side dB/B - side dA/A, ln(a/b) = -side l.
    const double by_t = side * by_l * l_t - by_ratio * l_t;
    return OfCurvatures{value, value * (-0.5 * by_R - by_t) / A, value * (-0.5 * by_R + by_t) / B};
  };
  const double root = std::exp(-0.5 * side * l);  // sqrt(a / b)
  HertzEllipse e;
  e.ratio = quantity(root * root, 0, 0, 1);
  e.a = quantity(mean * root, 1.0 / 3, F1_l, 0.5);
  e.b = quantity(mean / root, 1.0 / 3, F1_l, -0.5);
  e.stiffness = quantity(4.0 / 3 * contact_modulus * std::sqrt(R_e) / (F2 * std::sqrt(F2)), 0.5, -1.5 * F2_l, 0);
  return e;
}

}  // namespace clatter::contact
