// Slender ellipses (Kalker), L = ln(16/g^2):
//
//   a < b:  C_11 -> pi^2 / (4 (1 - nu)),   C_22 -> pi^2 / 4,
//           C_23 -> pi sqrt(g) (1 + nu (L/2 + ln 4 - 5)) / (3 (1 - nu))
//   b < a:  C_11 -> (2 pi / g) (1 + (3 - ln 4)/p) / p,                 p = L - 2 nu
//           C_22 -> (2 pi / g) (1 + (1 - nu) (3 - ln 4)/q) / q,        q = (1 - nu) L + 2 nu
//           C_23 -> 2 pi / (3 g sqrt(g)) / ((1 - nu) L - 2 + 4 nu)
//
// At g = 0.1 they lie within 7 % of the table.
#include "contact/kalker_coefficients.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "base/dual.hpp"

namespace clatter::contact {
namespace {

constexpr int kNodes = 19;  // a/b = 0.1 ... 0.9, 1, 1/0.9 ... 1/0.1
using Column = std::array<double, kNodes>;

// [coefficient][nu = 0, 1/4, 1/2][ratio]
constexpr std::array<std::array<Column, 3>, 3> kTable{{
    {{{2.51, 2.59, 2.68, 2.78, 2.88, 2.98, 3.09, 3.19, 3.29, 3.40,  //
       3.51, 3.65, 3.82, 4.06, 4.37, 4.84, 5.57, 6.96, 10.7},
      {3.31, 3.37, 3.44, 3.53, 3.62, 3.72, 3.81, 3.91, 4.01, 4.12,  //
       4.22, 4.36, 4.54, 4.78, 5.10, 5.57, 6.34, 7.78, 11.7},
      {4.85, 4.81, 4.80, 4.82, 4.83, 4.91, 4.97, 5.05, 5.12, 5.20,  //
       5.30, 5.42, 5.58, 5.80, 6.11, 6.57, 7.34, 8.82, 12.9}}},
    {{{2.51, 2.59, 2.68, 2.78, 2.88, 2.98, 3.09, 3.19, 3.29, 3.40,  //
       3.51, 3.65, 3.82, 4.06, 4.37, 4.84, 5.57, 6.96, 10.7},
      {2.52, 2.63, 2.75, 2.88, 3.01, 3.14, 3.28, 3.41, 3.54, 3.67,  //
       3.81, 3.99, 4.21, 4.50, 4.90, 5.48, 6.40, 8.14, 12.8},
      {2.53, 2.66, 2.81, 2.98, 3.14, 3.31, 3.48, 3.65, 3.82, 3.98,  //
       4.16, 4.39, 4.67, 5.04, 5.56, 6.31, 7.51, 9.79, 16.0}}},
    {{{0.334, 0.483, 0.607, 0.720, 0.827, 0.930, 1.03, 1.13, 1.23, 1.33,  //
       1.44, 1.58, 1.76, 2.01, 2.35, 2.88, 3.79, 5.72, 12.2},
      {0.473, 0.603, 0.715, 0.823, 0.929, 1.03, 1.14, 1.25, 1.36, 1.47,  //
       1.59, 1.75, 1.95, 2.23, 2.62, 3.24, 4.32, 6.63, 14.6},
      {0.731, 0.809, 0.889, 0.977, 1.07, 1.18, 1.29, 1.40, 1.51, 1.63,  //
       1.77, 1.94, 2.18, 2.50, 2.96, 3.70, 5.01, 7.89, 18.0}}},
}};

using D = Dual<1>;

// ln C of a slender ellipse over x = ln(a/b), in the order of the table.
D limit(int coefficient, double nu, const D& x) {
  constexpr double pi = std::numbers::pi;
  const double c = 3 - std::log(4.0);
  const D g = exp(x.v < 0 ? x : -x), L = std::log(16.0) - 2 * log(g);
  if (x.v < 0) {
    if (coefficient == 0) return D(std::log(pi * pi / (4 * (1 - nu))));
    if (coefficient == 1) return D(std::log(pi * pi / 4));
    return log(pi * sqrt(g) * (1 + nu * (0.5 * L + std::log(4.0) - 5)) / (3 * (1 - nu)));
  }
  const D p = L - 2 * nu, q = (1 - nu) * L + 2 * nu;
  if (coefficient == 0) return log(2 * pi / g * (1 + c / p) / p);
  if (coefficient == 1) return log(2 * pi / g * (1 + (1 - nu) * c / q) / q);
  return log(2 * pi / (3 * g * sqrt(g)) / ((1 - nu) * L - 2 + 4 * nu));
}

// One column of the table as a function of x = ln(a/b): cubics between the nodes with slopes that keep them monotonic
// (weighted harmonic means of the chords), at both ends the slopes of the limits.
struct Curve {
  int coefficient = 0;
  double nu = 0;
  Column x{}, y{}, slope{};

  Curve() = default;
  Curve(int which, int nu_index) : coefficient(which), nu(0.25 * nu_index) {
    for (int i = 0; i < kNodes; ++i) {
      const auto n = static_cast<std::size_t>(i);
      x[n] = i < 10 ? std::log(0.1 * (i + 1)) : -std::log(0.1 * (kNodes - i));
      y[n] = std::log(kTable[static_cast<std::size_t>(which)][static_cast<std::size_t>(nu_index)][n]);
    }
    for (std::size_t i = 1; i + 1 < x.size(); ++i) {
      const double h0 = x[i] - x[i - 1], h1 = x[i + 1] - x[i];
      const double d0 = (y[i] - y[i - 1]) / h0, d1 = (y[i + 1] - y[i]) / h1;
      slope[i] = d0 * d1 > 0 ? 3 * (h0 + h1) / ((2 * h1 + h0) / d0 + (h1 + 2 * h0) / d1) : 0;
    }
    slope.front() = limit(coefficient, nu, D::variable(x.front(), 0)).d[0];
    slope.back() = limit(coefficient, nu, D::variable(x.back(), 0)).d[0];
  }

  // C with its derivative by x.
  D operator()(double at) const {
    const D z = D::variable(at, 0);
    if (at < x.front()) return exp(y.front() + limit(coefficient, nu, z) - limit(coefficient, nu, x.front()).v);
    if (at > x.back()) return exp(y.back() + limit(coefficient, nu, z) - limit(coefficient, nu, x.back()).v);
    const auto above = std::upper_bound(x.begin() + 1, x.end() - 1, at);
    const auto i = static_cast<std::size_t>(above - x.begin()) - 1;
    const double h = x[i + 1] - x[i];
    const D s = (z - x[i]) / h, r = 1 - s;
    return exp(r * r * ((1 + 2 * s) * y[i] + s * (h * slope[i])) +
               s * s * ((1 + 2 * r) * y[i + 1] - r * (h * slope[i + 1])));
  }
};

}  // namespace

KalkerCoefficients kalker_coefficients(double ratio, double poisson) {
  static const auto curves = [] {
    std::array<std::array<Curve, 3>, 3> all;
    for (int c = 0; c < 3; ++c)
      for (int n = 0; n < 3; ++n) all[static_cast<std::size_t>(c)][static_cast<std::size_t>(n)] = Curve(c, n);
    return all;
  }();
  const double x = std::log(ratio);
  const double place = 4 * std::clamp(poisson, 0.0, 0.5);
  const std::size_t low = place < 1 ? 0 : 1;
  const double part = place - static_cast<double>(low);
  const auto at = [&](std::size_t c) {
    const D value = (1 - part) * curves[c][low](x) + part * curves[c][low + 1](x);
    return KalkerCoefficient{value.v, value.d[0] / ratio};
  };
  return {at(0), at(1), at(2)};
}

}  // namespace clatter::contact
