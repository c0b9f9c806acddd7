// Dual<N>: a number that carries its exact derivatives with respect to N directions (forward-mode differentiation).
//
//   x = v + sum_i d_i eps_i,   eps_i eps_j = 0   =>   f(x) = f(v) + sum_i f'(v) d_i eps_i
//
// The type is a plain value without allocation and works as the scalar of Eigen's fixed-size matrices, so a formula
// written once as a template on its scalar gives values (T = double) and all derivatives (T = Dual<N>) by the same
// lines. Comparisons look at the value only, hence a branch is differentiated on the side taken.
// Where a function has a value but no finite derivative (sqrt, hypot and norm at 0, abs at 0, asin and acos at +-1,
// atan2 at the origin) the derivative is zero, so that no NaN is born there.
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <limits>

namespace clatter {

template <int N>
struct Dual {
  using Derivatives = Eigen::Array<double, N, 1>;

  double v;       // value
  Derivatives d;  // derivatives

  Dual() = default;  // not initialised, as double
  Dual(double value) : v(value), d(Derivatives::Zero()) {}
  template <class D>
  Dual(double value, const Eigen::ArrayBase<D>& derivatives) : v(value), d(derivatives) {}
  // The i-th independent variable.
  static Dual variable(double value, int i) {
    Dual x(value);
    x.d[i] = 1;
    return x;
  }

  Dual& operator+=(const Dual& o) {
    v += o.v;
    d += o.d;
    return *this;
  }
  Dual& operator-=(const Dual& o) {
    v -= o.v;
    d -= o.d;
    return *this;
  }
  Dual& operator*=(const Dual& o) {
    d = d * o.v + v * o.d;
    v *= o.v;
    return *this;
  }
  Dual& operator/=(const Dual& o) {
    const double inverse = 1 / o.v;
    v *= inverse;
    d = (d - v * o.d) * inverse;
    return *this;
  }
  Dual& operator+=(double o) {
    v += o;
    return *this;
  }
  Dual& operator-=(double o) {
    v -= o;
    return *this;
  }
  Dual& operator*=(double o) {
    v *= o;
    d *= o;
    return *this;
  }
  Dual& operator/=(double o) { return *this *= 1 / o; }

  friend Dual operator+(const Dual& a) { return a; }
  friend Dual operator-(const Dual& a) { return {-a.v, -a.d}; }
  friend Dual operator+(const Dual& a, const Dual& b) { return {a.v + b.v, a.d + b.d}; }
  friend Dual operator-(const Dual& a, const Dual& b) { return {a.v - b.v, a.d - b.d}; }
  friend Dual operator*(const Dual& a, const Dual& b) { return {a.v * b.v, a.d * b.v + a.v * b.d}; }
  friend Dual operator/(const Dual& a, const Dual& b) {
    const double inverse = 1 / b.v, quotient = a.v * inverse;
    return {quotient, (a.d - quotient * b.d) * inverse};
  }
  friend Dual operator+(const Dual& a, double b) { return {a.v + b, a.d}; }
  friend Dual operator+(double a, const Dual& b) { return {a + b.v, b.d}; }
  friend Dual operator-(const Dual& a, double b) { return {a.v - b, a.d}; }
  friend Dual operator-(double a, const Dual& b) { return {a - b.v, -b.d}; }
  friend Dual operator*(const Dual& a, double b) { return {a.v * b, a.d * b}; }
  friend Dual operator*(double a, const Dual& b) { return {a * b.v, a * b.d}; }
  friend Dual operator/(const Dual& a, double b) { return a * (1 / b); }
  friend Dual operator/(double a, const Dual& b) {
    const double quotient = a / b.v;
    return {quotient, b.d * (-quotient / b.v)};
  }

  friend bool operator==(const Dual& a, const Dual& b) { return a.v == b.v; }
  friend auto operator<=>(const Dual& a, const Dual& b) { return a.v <=> b.v; }
  friend bool operator==(const Dual& a, double b) { return a.v == b; }
  friend auto operator<=>(const Dual& a, double b) { return a.v <=> b; }

  // f(a) given f and f' at the value.
  friend Dual chain(const Dual& a, double f, double df) { return {f, a.d * df}; }

  friend Dual sqrt(const Dual& a) {
    const double r = std::sqrt(a.v);
    return chain(a, r, r > 0 ? 0.5 / r : 0);
  }
  friend Dual sin(const Dual& a) { return chain(a, std::sin(a.v), std::cos(a.v)); }
  friend Dual cos(const Dual& a) { return chain(a, std::cos(a.v), -std::sin(a.v)); }
  friend Dual tan(const Dual& a) {
    const double t = std::tan(a.v);
    return chain(a, t, 1 + t * t);
  }
  friend Dual asin(const Dual& a) {
    const double c2 = (1 - a.v) * (1 + a.v);
    return chain(a, std::asin(a.v), c2 > 0 ? 1 / std::sqrt(c2) : 0);
  }
  friend Dual acos(const Dual& a) {
    const double c2 = (1 - a.v) * (1 + a.v);
    return chain(a, std::acos(a.v), c2 > 0 ? -1 / std::sqrt(c2) : 0);
  }
  friend Dual atan(const Dual& a) { return chain(a, std::atan(a.v), 1 / (1 + a.v * a.v)); }
  friend Dual atan2(const Dual& y, const Dual& x) {
    const double r2 = x.v * x.v + y.v * y.v, s = r2 > 0 ? 1 / r2 : 0;
    return {std::atan2(y.v, x.v), y.d * (x.v * s) - x.d * (y.v * s)};
  }
  friend Dual exp(const Dual& a) {
    const double f = std::exp(a.v);
    return chain(a, f, f);
  }
  friend Dual log(const Dual& a) { return chain(a, std::log(a.v), 1 / a.v); }
  friend Dual sinh(const Dual& a) { return chain(a, std::sinh(a.v), std::cosh(a.v)); }
  friend Dual cosh(const Dual& a) { return chain(a, std::cosh(a.v), std::sinh(a.v)); }
  friend Dual tanh(const Dual& a) {
    const double t = std::tanh(a.v);
    return chain(a, t, 1 - t * t);
  }
  friend Dual pow(const Dual& a, double p) {
    if (p == 0) return Dual(1.0);
    const double df = p * std::pow(a.v, p - 1);
    return chain(a, std::pow(a.v, p), std::isfinite(df) ? df : 0);
  }
  friend Dual pow(double a, const Dual& p) {
    const double f = std::pow(a, p.v);
    return chain(p, f, a > 0 ? f * std::log(a) : 0);
  }
  friend Dual pow(const Dual& a, const Dual& p) {
    const double f = std::pow(a.v, p.v);
    const double df = p.v == 0 ? 0 : p.v * std::pow(a.v, p.v - 1);
    return {f, a.d * (std::isfinite(df) ? df : 0) + p.d * (a.v > 0 ? f * std::log(a.v) : 0)};
  }
  friend Dual abs(const Dual& a) { return a.v < 0 ? -a : (a.v > 0 ? a : Dual(0.0)); }
  friend Dual hypot(const Dual& a, const Dual& b) {
    const double r = std::hypot(a.v, b.v), s = r > 0 ? 1 / r : 0;
    return {r, a.d * (a.v * s) + b.d * (b.v * s)};
  }
  friend Dual min(const Dual& a, const Dual& b) { return b.v < a.v ? b : a; }
  friend Dual max(const Dual& a, const Dual& b) { return a.v < b.v ? b : a; }
  friend bool isfinite(const Dual& a) { return std::isfinite(a.v) && a.d.isFinite().all(); }
};

// The value of a scalar of either kind.
inline double value(double x) { return x; }
template <int N>
double value(const Dual<N>& x) {
  return x.v;
}

}  // namespace clatter

namespace Eigen {

template <int N>
struct NumTraits<clatter::Dual<N>> : NumTraits<double> {
  using Real = clatter::Dual<N>;
  using NonInteger = clatter::Dual<N>;
  using Nested = clatter::Dual<N>;
  using Literal = double;
  enum {
    IsComplex = 0,
    IsInteger = 0,
    IsSigned = 1,
    RequireInitialization = 0,
    ReadCost = N + 1,
    AddCost = N + 1,
    MulCost = 3 * N
  };
};

template <int N, class Operation>
struct ScalarBinaryOpTraits<clatter::Dual<N>, double, Operation> {
  using ReturnType = clatter::Dual<N>;
};
template <int N, class Operation>
struct ScalarBinaryOpTraits<double, clatter::Dual<N>, Operation> {
  using ReturnType = clatter::Dual<N>;
};

}  // namespace Eigen
