// Jets: a value with its exact derivatives with respect to N variables.
//
//   Jet1<N>: f, df/dx_i              Jet2<N>: f, df/dx_i, d2f/dx_i dx_j (upper triangle, row by row)
//
// Every function is one of two rules: f(a) with f', f'', and f(a, b) with its five partial derivatives. A derivative
// that is infinite at a point (sqrt at 0) does not spoil directions in which nothing changes: 0 * infinity is 0 here.
// At kinks the derivative is that of the branch taken; abs and sign have 0 at 0.
#pragma once

#include <array>
#include <cmath>
#include <concepts>

namespace clatter {

// The number a comparison looks at.
inline double value_of(double x) { return x; }

namespace jet {
inline double times(double c, double x) { return x == 0 ? 0 : c * x; }
}  // namespace jet

template <int N>
struct Jet1 {
  double v;
  std::array<double, N> g;

  Jet1() = default;
  Jet1(double value) : v(value) { g.fill(0); }  // NOLINT(google-explicit-constructor): numbers are jets
  static Jet1 variable(double value, int index) {
    Jet1 r(value);
    r.g[static_cast<std::size_t>(index)] = 1;
    return r;
  }
  bool constant() const {
    for (double x : g)
      if (x != 0) return false;
    return true;
  }
  static Jet1 unary(const Jet1& a, double f, double f1, double) {
    Jet1 r;
    r.v = f;
    for (std::size_t i = 0; i < N; ++i) r.g[i] = jet::times(f1, a.g[i]);
    return r;
  }
  static Jet1 binary(const Jet1& a, const Jet1& b, double f, double fa, double fb, double, double, double) {
    Jet1 r;
    r.v = f;
    for (std::size_t i = 0; i < N; ++i) r.g[i] = jet::times(fa, a.g[i]) + jet::times(fb, b.g[i]);
    return r;
  }
};

template <int N>
struct Jet2 {
  static constexpr int pairs = N * (N + 1) / 2;
  double v;
  std::array<double, N> g;
  std::array<double, pairs> h;

  Jet2() = default;
  Jet2(double value) : v(value) {  // NOLINT(google-explicit-constructor): numbers are jets
    g.fill(0);
    h.fill(0);
  }
  static Jet2 variable(double value, int index) {
    Jet2 r(value);
    r.g[static_cast<std::size_t>(index)] = 1;
    return r;
  }
  bool constant() const {
    for (double x : g)
      if (x != 0) return false;
    for (double x : h)
      if (x != 0) return false;
    return true;
  }
  static Jet2 unary(const Jet2& a, double f, double f1, double f2) {
    Jet2 r;
    r.v = f;
    std::size_t k = 0;
    for (std::size_t i = 0; i < N; ++i) {
      r.g[i] = jet::times(f1, a.g[i]);
      for (std::size_t j = i; j < N; ++j, ++k) r.h[k] = jet::times(f1, a.h[k]) + jet::times(f2, a.g[i] * a.g[j]);
    }
    return r;
  }
  static Jet2 binary(const Jet2& a, const Jet2& b, double f, double fa, double fb, double faa, double fab, double fbb) {
    Jet2 r;
    r.v = f;
    std::size_t k = 0;
    for (std::size_t i = 0; i < N; ++i) {
      r.g[i] = jet::times(fa, a.g[i]) + jet::times(fb, b.g[i]);
      for (std::size_t j = i; j < N; ++j, ++k)
        r.h[k] = jet::times(fa, a.h[k]) + jet::times(fb, b.h[k]) + jet::times(faa, a.g[i] * a.g[j]) +
                 jet::times(fab, a.g[i] * b.g[j] + a.g[j] * b.g[i]) + jet::times(fbb, b.g[i] * b.g[j]);
    }
    return r;
  }
};

template <class T>
concept FormulaJet = requires(const T& x) {
  { x.v } -> std::convertible_to<double>;
  { x.constant() } -> std::same_as<bool>;
  T::unary(x, 0.0, 0.0, 0.0);
};

template <FormulaJet T>
double value_of(const T& x) {
  return x.v;
}

// clang-format off
template <FormulaJet T> T operator-(const T& a) { return T::unary(a, -a.v, -1, 0); }
template <FormulaJet T> T operator+(const T& a, const T& b) { return T::binary(a, b, a.v + b.v, 1, 1, 0, 0, 0); }
template <FormulaJet T> T operator-(const T& a, const T& b) { return T::binary(a, b, a.v - b.v, 1, -1, 0, 0, 0); }
template <FormulaJet T> T operator*(const T& a, const T& b) { return T::binary(a, b, a.v * b.v, b.v, a.v, 0, 1, 0); }
template <FormulaJet T> T operator/(const T& a, const T& b) {
  const double i = 1 / b.v, q = a.v / b.v;
  return T::binary(a, b, q, i, -q * i, 0, -i * i, 2 * q * i * i);
}

template <FormulaJet T> T sin(const T& x) { const double s = std::sin(x.v); return T::unary(x, s, std::cos(x.v), -s); }
template <FormulaJet T> T cos(const T& x) { const double c = std::cos(x.v); return T::unary(x, c, -std::sin(x.v), -c); }
template <FormulaJet T> T tan(const T& x) { const double y = std::tan(x.v), d = 1 + y * y; return T::unary(x, y, d, 2 * y * d); }
template <FormulaJet T> T asin(const T& x) { const double d = 1 / std::sqrt(1 - x.v * x.v); return T::unary(x, std::asin(x.v), d, x.v * d * d * d); }
template <FormulaJet T> T acos(const T& x) { const double d = 1 / std::sqrt(1 - x.v * x.v); return T::unary(x, std::acos(x.v), -d, -x.v * d * d * d); }
template <FormulaJet T> T atan(const T& x) { const double d = 1 / (1 + x.v * x.v); return T::unary(x, std::atan(x.v), d, -2 * x.v * d * d); }
template <FormulaJet T> T sinh(const T& x) { const double s = std::sinh(x.v); return T::unary(x, s, std::cosh(x.v), s); }
template <FormulaJet T> T cosh(const T& x) { const double c = std::cosh(x.v); return T::unary(x, c, std::sinh(x.v), c); }
template <FormulaJet T> T tanh(const T& x) { const double y = std::tanh(x.v), d = 1 - y * y; return T::unary(x, y, d, -2 * y * d); }
template <FormulaJet T> T exp(const T& x) { const double y = std::exp(x.v); return T::unary(x, y, y, y); }
template <FormulaJet T> T log(const T& x) { const double d = 1 / x.v; return T::unary(x, std::log(x.v), d, -d * d); }
template <FormulaJet T> T sqrt(const T& x) { const double y = std::sqrt(x.v), d = 0.5 / y; return T::unary(x, y, d, -0.5 * d / x.v); }
// clang-format on

template <FormulaJet T>
T pow(const T& x, double c) {
  const double f1 = c == 0 ? 0 : c * std::pow(x.v, c - 1);
  const double f2 = c == 0 || c == 1 ? 0 : c * (c - 1) * std::pow(x.v, c - 2);
  return T::unary(x, std::pow(x.v, c), f1, f2);
}
template <FormulaJet T>
T pow(const T& x, const T& y) {
  if (y.constant()) return pow(x, y.v);
  const double f = std::pow(x.v, y.v), l = std::log(x.v), q = y.v / x.v;
  if (x.v == 0 && y.v > 2) return T::binary(x, y, f, 0, 0, 0, 0, 0);  // 0^y stays 0, with two derivatives
  return T::binary(x, y, f, f * q, f * l, f * q * (y.v - 1) / x.v, f * (1 + y.v * l) / x.v, f * l * l);
}
// hypot and atan2 have no derivative at the origin; 0 is the mean over all directions.
template <FormulaJet T>
T hypot(const T& a, const T& b) {
  const double r = std::hypot(a.v, b.v);
  if (r == 0) return T::binary(a, b, 0, 0, 0, 0, 0, 0);
  const double c = a.v / r, s = b.v / r;
  return T::binary(a, b, r, c, s, s * s / r, -c * s / r, c * c / r);
}
template <FormulaJet T>
T atan2(const T& y, const T& x) {
  const double r = std::hypot(y.v, x.v), f = std::atan2(y.v, x.v);
  if (r == 0) return T::binary(y, x, f, 0, 0, 0, 0, 0);
  const double s = y.v / r, c = x.v / r, i = 1 / r;
  return T::binary(y, x, f, c * i, -s * i, -2 * s * c * i * i, (s * s - c * c) * i * i, 2 * s * c * i * i);
}

}  // namespace clatter
