#include "engine/curve_third.hpp"

#include "model/expression.hpp"

namespace clatter {

namespace third {

using J = Jet2<2>;

// v + eps d, eps^2 = 0
struct DualJet {
  J v, d;
  DualJet() = default;
  DualJet(double x) : v(x), d(0.0) {}  // NOLINT(google-explicit-constructor): numbers are dual jets
  DualJet(const J& value, const J& derivative) : v(value), d(derivative) {}
};

double value_of(const DualJet& x) { return x.v.v; }

// clang-format off
DualJet operator-(const DualJet& a) { return {-a.v, -a.d}; }
DualJet operator+(const DualJet& a, const DualJet& b) { return {a.v + b.v, a.d + b.d}; }
DualJet operator-(const DualJet& a, const DualJet& b) { return {a.v - b.v, a.d - b.d}; }
DualJet operator*(const DualJet& a, const DualJet& b) { return {a.v * b.v, a.d * b.v + a.v * b.d}; }
DualJet operator/(const DualJet& a, const DualJet& b) { const J q = a.v / b.v; return {q, (a.d - q * b.d) / b.v}; }
DualJet sin(const DualJet& x) { return {sin(x.v), cos(x.v) * x.d}; }
DualJet cos(const DualJet& x) { return {cos(x.v), -sin(x.v) * x.d}; }
DualJet tan(const DualJet& x) { const J y = tan(x.v); return {y, (J(1.0) + y * y) * x.d}; }
DualJet asin(const DualJet& x) { return {asin(x.v), x.d / sqrt(J(1.0) - x.v * x.v)}; }
DualJet acos(const DualJet& x) { return {acos(x.v), -(x.d / sqrt(J(1.0) - x.v * x.v))}; }
DualJet atan(const DualJet& x) { return {atan(x.v), x.d / (J(1.0) + x.v * x.v)}; }
DualJet sinh(const DualJet& x) { return {sinh(x.v), cosh(x.v) * x.d}; }
DualJet cosh(const DualJet& x) { return {cosh(x.v), sinh(x.v) * x.d}; }
DualJet tanh(const DualJet& x) { const J y = tanh(x.v); return {y, (J(1.0) - y * y) * x.d}; }
DualJet exp(const DualJet& x) { const J y = exp(x.v); return {y, y * x.d}; }
DualJet log(const DualJet& x) { return {log(x.v), x.d / x.v}; }
DualJet sqrt(const DualJet& x) { const J y = sqrt(x.v); return {y, x.d / (J(2.0) * y)}; }
DualJet pow(const DualJet& x, double c) {
  return {pow(x.v, c), c == 0 ? J(0.0) : J(c) * pow(x.v, c - 1) * x.d};
}
DualJet pow(const DualJet& x, const DualJet& y) {
  if (y.v.constant() && y.d.constant() && y.d.v == 0) return pow(x, y.v.v);
  const J p = pow(x.v, y.v);
  return {p, p * (y.d * log(x.v) + y.v * x.d / x.v)};
}
DualJet hypot(const DualJet& a, const DualJet& b) { const J r = hypot(a.v, b.v); return {r, (a.v * a.d + b.v * b.d) / r}; }
DualJet atan2(const DualJet& y, const DualJet& x) {
  return {atan2(y.v, x.v), (x.v * y.d - y.v * x.d) / (x.v * x.v + y.v * y.v)};
}
// clang-format on

}  // namespace third

void curve_third_derivative(const Expression& f, double x, double y, double ux, double uy, double t[2]) {
  using third::DualJet, third::J;
  for (int k = 0; k < 2; ++k) {
    const DualJet xy[2] = {{J::variable(x, 0), J(k == 0 ? 1.0 : 0.0)}, {J::variable(y, 1), J(k == 1 ? 1.0 : 0.0)}};
    const DualJet value = f.evaluate<DualJet>(std::span<const DualJet>(xy));
    const auto& h = value.d.h;  // xx, xy, yy
    t[k] = h[0] * ux * ux + 2 * h[1] * ux * uy + h[2] * uy * uy;
  }
}

}  // namespace clatter
