// Jet<T>: a number with its first time derivative, x + x' eps with eps^2 = 0, over any scalar T.
//
// Nests: Jet<double> gives rates, Jet<Dual<N>> gives rates together with their derivatives. A formula for a position
// written once on its scalar thereby yields velocities, and with Dual inside everything that tangents of velocities
// and accelerations need. Comparisons look at the value only.
#pragma once

#include <Eigen/Core>
#include <cmath>

#include "base/dual.hpp"

namespace clatter {

template <class T>
struct Jet {
  T v;  // value
  T d;  // time derivative

  Jet() = default;
  Jet(double value) : v(value), d(0.0) {}
  Jet(const T& value, const T& derivative) : v(value), d(derivative) {}

  Jet& operator+=(const Jet& o) { return *this = *this + o; }
  Jet& operator-=(const Jet& o) { return *this = *this - o; }
  Jet& operator*=(const Jet& o) { return *this = *this * o; }
  Jet& operator/=(const Jet& o) { return *this = *this / o; }

  friend Jet operator+(const Jet& a) { return a; }
  friend Jet operator-(const Jet& a) { return {-a.v, -a.d}; }
  friend Jet operator+(const Jet& a, const Jet& b) { return {a.v + b.v, a.d + b.d}; }
  friend Jet operator-(const Jet& a, const Jet& b) { return {a.v - b.v, a.d - b.d}; }
  friend Jet operator*(const Jet& a, const Jet& b) { return {a.v * b.v, a.d * b.v + a.v * b.d}; }
  friend Jet operator/(const Jet& a, const Jet& b) {
    const T q = a.v / b.v;
    return {q, (a.d - q * b.d) / b.v};
  }
  friend Jet operator+(const Jet& a, double b) { return {a.v + b, a.d}; }
  friend Jet operator+(double a, const Jet& b) { return {a + b.v, b.d}; }
  friend Jet operator-(const Jet& a, double b) { return {a.v - b, a.d}; }
  friend Jet operator-(double a, const Jet& b) { return {a - b.v, -b.d}; }
  friend Jet operator*(const Jet& a, double b) { return {a.v * b, a.d * b}; }
  friend Jet operator*(double a, const Jet& b) { return {a * b.v, a * b.d}; }
  friend Jet operator/(const Jet& a, double b) { return {a.v / b, a.d / b}; }
  friend Jet operator/(double a, const Jet& b) { return Jet(a) / b; }

  friend bool operator==(const Jet& a, const Jet& b) { return a.v == b.v; }
  friend auto operator<=>(const Jet& a, const Jet& b) { return a.v <=> b.v; }
  friend bool operator==(const Jet& a, double b) { return a.v == b; }
  friend auto operator<=>(const Jet& a, double b) { return a.v <=> b; }

  friend Jet sqrt(const Jet& a) {
    using std::sqrt;
    const T r = sqrt(a.v);
    return {r, value(r) > 0 ? T(a.d / (2.0 * r)) : T(0.0)};
  }
  friend Jet sin(const Jet& a) {
    using std::cos, std::sin;
    return {sin(a.v), cos(a.v) * a.d};
  }
  friend Jet cos(const Jet& a) {
    using std::cos, std::sin;
    return {cos(a.v), -(sin(a.v) * a.d)};
  }
  friend Jet atan2(const Jet& y, const Jet& x) {
    using std::atan2;
    const T r2 = x.v * x.v + y.v * y.v;
    return {atan2(y.v, x.v), value(r2) > 0 ? T((y.d * x.v - x.d * y.v) / r2) : T(0.0)};
  }
  friend Jet abs(const Jet& a) { return value(a.v) < 0 ? -a : a; }
};

template <class T>
double value(const Jet<T>& x) {
  return value(x.v);
}

}  // namespace clatter

namespace Eigen {

template <class T>
struct NumTraits<clatter::Jet<T>> : NumTraits<double> {
  using Real = clatter::Jet<T>;
  using NonInteger = clatter::Jet<T>;
  using Nested = clatter::Jet<T>;
  using Literal = double;
  enum {
    IsComplex = 0,
    IsInteger = 0,
    IsSigned = 1,
    RequireInitialization = 0,
    ReadCost = 2,
    AddCost = 2,
    MulCost = 6
  };
};

template <class T, class Operation>
struct ScalarBinaryOpTraits<clatter::Jet<T>, double, Operation> {
  using ReturnType = clatter::Jet<T>;
};
template <class T, class Operation>
struct ScalarBinaryOpTraits<double, clatter::Jet<T>, Operation> {
  using ReturnType = clatter::Jet<T>;
};

}  // namespace Eigen
