// Third-order series of one variable: x(s) with x', x'', x'''. A function f of x follows Faa di Bruno's rule
//
//   (f o x)' = f' x'     (f o x)'' = f' x'' + f'' x'^2     (f o x)''' = f' x''' + 3 f'' x' x'' + f''' x'^3
#include "model/formula.hpp"

#include "model/expression.hpp"

namespace clatter {

namespace {

struct Series {
  double v, a, b, c;  // value and the three derivatives

  Series() = default;
  Series(double value) : v(value), a(0), b(0), c(0) {}  // NOLINT(google-explicit-constructor): numbers are series
  Series(double value, double first, double second, double third) : v(value), a(first), b(second), c(third) {}
  bool constant() const { return a == 0 && b == 0 && c == 0; }
};

double value_of(const Series& x) { return x.v; }

// A derivative that is infinite somewhere must not spoil an argument that stands still there.
Series chain(const Series& x, double f, double f1, double f2, double f3) {
  if (x.constant()) return {f};
  return {f, f1 * x.a, f1 * x.b + f2 * x.a * x.a, f1 * x.c + 3 * f2 * x.a * x.b + f3 * x.a * x.a * x.a};
}

Series operator-(const Series& x) { return {-x.v, -x.a, -x.b, -x.c}; }
Series operator+(const Series& x, const Series& y) { return {x.v + y.v, x.a + y.a, x.b + y.b, x.c + y.c}; }
Series operator-(const Series& x, const Series& y) { return {x.v - y.v, x.a - y.a, x.b - y.b, x.c - y.c}; }
Series operator*(const Series& x, const Series& y) {
  return {x.v * y.v, x.a * y.v + x.v * y.a, x.b * y.v + 2 * x.a * y.a + x.v * y.b,
          x.c * y.v + 3 * (x.b * y.a + x.a * y.b) + x.v * y.c};
}
Series operator/(const Series& x, const Series& y) {
  const double i = 1 / y.v;
  return x * chain(y, i, -i * i, 2 * i * i * i, -6 * i * i * i * i);
}
Series sin(const Series& x) {
  const double s = std::sin(x.v), k = std::cos(x.v);
  return chain(x, s, k, -s, -k);
}
Series cos(const Series& x) {
  const double s = std::sin(x.v), k = std::cos(x.v);
  return chain(x, k, -s, -k, s);
}
Series exp(const Series& x) {
  const double f = std::exp(x.v);
  return chain(x, f, f, f, f);
}
Series log(const Series& x) {
  const double i = 1 / x.v;
  return chain(x, std::log(x.v), i, -i * i, 2 * i * i * i);
}
Series pow(const Series& x, double p) {
  const auto term = [&](double factor, double q) { return factor == 0 ? 0 : factor * std::pow(x.v, q); };
  return chain(x, std::pow(x.v, p), term(p, p - 1), term(p * (p - 1), p - 2), term(p * (p - 1) * (p - 2), p - 3));
}
Series pow(const Series& x, const Series& p) { return p.constant() ? pow(x, p.v) : exp(p * log(x)); }
Series sqrt(const Series& x) { return pow(x, 0.5); }
Series tan(const Series& x) { return sin(x) / cos(x); }
Series sinh(const Series& x) {
  const double s = std::sinh(x.v), k = std::cosh(x.v);
  return chain(x, s, k, s, k);
}
Series cosh(const Series& x) {
  const double s = std::sinh(x.v), k = std::cosh(x.v);
  return chain(x, k, s, k, s);
}
Series tanh(const Series& x) {
  const double t = std::tanh(x.v), u = 1 - t * t;
  return chain(x, t, u, -2 * t * u, u * (6 * t * t - 2));
}
Series atan(const Series& x) {
  const double w = 1 / (1 + x.v * x.v);
  return chain(x, std::atan(x.v), w, -2 * x.v * w * w, (6 * x.v * x.v - 2) * w * w * w);
}
Series asin(const Series& x) {
  const double w = 1 / std::sqrt((1 - x.v) * (1 + x.v)), w3 = w * w * w;
  return chain(x, std::asin(x.v), w, x.v * w3, (1 + 2 * x.v * x.v) * w3 * w * w);
}
Series acos(const Series& x) { return Series(std::acos(0.0)) - asin(x); }
Series hypot(const Series& x, const Series& y) { return sqrt(x * x + y * y); }
Series atan2(const Series& y, const Series& x) {
  // Its derivatives are those of atan of the quotient that does not blow up.
  Series r = std::abs(x.v) >= std::abs(y.v) ? atan(y / x) : -atan(x / y);
  r.v = std::atan2(y.v, x.v);
  return r;
}

}  // namespace

std::array<double, 4> formula_at(const Expression& f, double s) {
  const Series x[1] = {{s, 1, 0, 0}};
  const Series y = f.evaluate<Series>(std::span<const Series>(x));
  return {y.v, y.a, y.b, y.c};
}

double third_along(const Expression& f, std::span<const double> x, std::span<const double> d) {
  Series at[Expression::max_variables];
  for (std::size_t i = 0; i < x.size(); ++i) at[i] = Series(x[i], d[i], 0, 0);
  return f.evaluate<Series>(std::span<const Series>(at, x.size())).c;
}

}  // namespace clatter
