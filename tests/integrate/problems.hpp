// Small problems with known solutions.
#pragma once

#include <cmath>

#include "integrate/small_dynamics.hpp"

namespace clatter::test {

inline State make_state(Vec q, Vec v, Vec z = Vec()) { return State{0, std::move(q), std::move(v), std::move(z)}; }
inline Vec vec(std::initializer_list<double> values) {
  Vec x(static_cast<Eigen::Index>(values.size()));
  Eigen::Index i = 0;
  for (const double value : values) x[i++] = value;
  return x;
}

// x'' + 2 d x' + w^2 x = 0, x(0) = 1, x'(0) = 0. Event functions: x - level, x' (extrema).
class Oscillator : public SmallDynamics {
 public:
  explicit Oscillator(double frequency = 1, double damping = 0, double event_level = 0.3)
      : SmallDynamics(1, 0, 0, 0, {}, 1, 2), w(frequency), d(damping), level(event_level) {}
  double w, d, level;
  void terms(const State& s, Terms& t) const override {
    t.M(0, 0) = 1;
    t.h[0] = -w * w * s.q[0] - 2 * d * s.v[0];
  }
  double energy(const State& s) const override { return 0.5 * (s.v[0] * s.v[0] + w * w * s.q[0] * s.q[0]); }
  void channel_powers(const State& s, const Vec&, const Vec&, Vec& p) const override {
    p[0] = -2 * d * s.v[0] * s.v[0];
  }
  void event_functions(const State& s, Vec& g) const override {
    g[0] = s.q[0] - level;
    g[1] = s.v[0];
  }
  static State initial() { return make_state(vec({1}), vec({0})); }
  double x(double t) const {
    const double wd = std::sqrt(w * w - d * d);
    return std::exp(-d * t) * (std::cos(wd * t) + d / wd * std::sin(wd * t));
  }
  double v(double t) const {
    const double wd = std::sqrt(w * w - d * d);
    return -std::exp(-d * t) * w * w / wd * std::sin(wd * t);
  }
};

// Mass between two springs with play: x'' = -k (x - p) for x > p, -k (x + p) for x < -p, 0 between. Started at x = 0
// with speed v0: it crosses the play in p / v0, stays half a period pi / sqrt(k) in a spring, and so on.
class Play : public SmallDynamics {
 public:
  Play() : SmallDynamics(1, 0, 0, 0, {}, 0, 2) {}
  static constexpr double k = 4, p = 0.5, v0 = 1;
  void terms(const State& s, Terms& t) const override {
    t.M(0, 0) = 1;
    const double x = s.q[0];
    t.h[0] = x > p ? -k * (x - p) : (x < -p ? -k * (x + p) : 0.0);
  }
  double energy(const State& s) const override {
    const double x = std::abs(s.q[0]), e = x > p ? x - p : 0;
    return 0.5 * s.v[0] * s.v[0] + 0.5 * k * e * e;
  }
  void event_functions(const State& s, Vec& g) const override {
    g[0] = s.q[0] - p;
    g[1] = s.q[0] + p;
  }
  static State initial() { return make_state(vec({0}), vec({v0})); }
};

// Jacobi's sn(u, k) by descending Landen transformation.
inline double jacobi_sn(double u, double k) {
  if (k < 1e-9) return std::sin(u) - 0.25 * k * k * (u - std::sin(u) * std::cos(u)) * std::cos(u);
  const double root = std::sqrt(1 - k * k), k1 = (1 - root) / (1 + root);
  const double s = jacobi_sn(u / (1 + k1), k1);
  return (1 + k1) * s / (1 + k1 * s * s);
}

// Mathematical pendulum in Cartesian coordinates, released at rest at angle theta0 from the lowest point; the row is
// stated `copies` times. phi = (x^2 + y^2 - l^2) / 2.
class CartesianPendulum : public SmallDynamics {
 public:
  explicit CartesianPendulum(int copies = 1) : SmallDynamics(2, 0, copies, 0) {}
  static constexpr double m = 2, l = 1.5, g = 9.81, theta0 = 1.2;
  void terms(const State& s, Terms& t) const override {
    t.M(0, 0) = t.M(1, 1) = m;
    t.h[1] = -m * g;
    for (int i = 0; i < t.phi.size(); ++i) {
      t.phi[i] = 0.5 * (s.q.squaredNorm() - l * l);
      t.G(i, 0) = s.q[0];
      t.G(i, 1) = s.q[1];
      t.gamma[i] = s.v.squaredNorm();
    }
  }
  double energy(const State& s) const override { return 0.5 * m * s.v.squaredNorm() + m * g * s.q[1]; }
  static State initial() { return make_state(vec({l * std::sin(theta0), -l * std::cos(theta0)}), vec({0, 0})); }
  // sin(theta/2) = k cd(w t) = k sn(K + w t), k = sin(theta0/2), w^2 = g/l.
  static double angle(double t) {
    const double k = std::sin(theta0 / 2), w = std::sqrt(g / l);
    return 2 * std::asin(k * jacobi_sn(std::comp_ellint_1(k) + w * t, k));
  }
  static double rate(double t) {
    const double k = std::sin(theta0 / 2), w = std::sqrt(g / l), u = std::comp_ellint_1(k) + w * t;
    const double sn = jacobi_sn(u, k), period = 4 * std::comp_ellint_1(k);
    const double phase = std::fmod(u, period) / period;
    const double cn = (phase > 0.25 && phase < 0.75 ? -1 : 1) * std::sqrt(std::max(0.0, 1 - sn * sn));
    return 2 * k * w * cn;  // d/du asin(k sn) = k cn dn / sqrt(1 - k^2 sn^2) = k cn
  }
  static State exact(double t) {
    const double a = angle(t), r = rate(t);
    State s = make_state(vec({l * std::sin(a), -l * std::cos(a)}), vec({l * std::cos(a) * r, l * std::sin(a) * r}));
    s.t = t;
    return s;
  }
  // Sum over the copies of the row: m a . r = F . r + lambda l^2 with a . r = -v^2.
  static double exact_lambda(double t) {
    const State s = exact(t);
    return (-m * s.v.squaredNorm() + m * g * s.q[1]) / (l * l);
  }
};

// Free rigid body on one rotation block, principal inertias J.
class FreeBody : public SmallDynamics {
 public:
  explicit FreeBody(Vec3 inertia) : SmallDynamics(3, 0, 0, 0, {0}), J(inertia) {}
  Vec3 J;
  void terms(const State& s, Terms& t) const override {
    const Vec3 w = s.v;
    t.M.diagonal() = J;
    t.h = -w.cross(J.cwiseProduct(w));
  }
  double energy(const State& s) const override { return 0.5 * s.v.dot(J.cwiseProduct(Vec3(s.v))); }
  Vec3 momentum(const State& s) const { return rotation(s.q, 0) * J.cwiseProduct(Vec3(s.v)); }
  static State initial() { return make_state(vec({1, 0, 0, 0}), vec({1.3, 0.7, 2.1})); }
  // Symmetric body J1 = J2: R(t) = exp(t L / J1) R(0) exp(t (1 - J3/J1) w3 e3).
  Quat symmetric_orientation(double t) const {
    const State s = initial();
    const Vec3 L = momentum(s);
    const Quat outer(Eigen::AngleAxisd(t * L.norm() / J.x(), L.normalized()));
    const Quat inner(Eigen::AngleAxisd(t * (1 - J.z() / J.x()) * s.v[2], Vec3::UnitZ()));
    return outer * inner;
  }
};

// Heavy top of Geradin and Cardona (Flexible Multibody Dynamics, 2001) with its point on the ground: coordinates of the
// mass centre and the orientation, three rows x = R X. As minimal system: rotation about the fixed point.
struct TopData {
  static constexpr double m = 15, g = 9.81;
  static Vec3 J() { return {0.234375, 0.46875, 0.234375}; }
  static Vec3 X() { return {0, 1, 0}; }
  static Vec3 w0() { return {0, 15, -4.61538}; }
};

class HeavyTop : public SmallDynamics, public TopData {
 public:
  HeavyTop() : SmallDynamics(6, 0, 3, 0, {3}) {}
  void terms(const State& s, Terms& t) const override {
    const Mat3 R = rotation(s.q, 3);
    const Vec3 w = s.v.tail<3>();
    t.M.diagonal() << m, m, m, J();
    t.h << 0, 0, -m * g, Vec3(-w.cross(J().cwiseProduct(w)));
    t.phi = s.q.head<3>() - R * X();
    t.G.leftCols<3>().setIdentity();
    t.G.rightCols<3>() = R * skew(X());
    t.gamma = R * w.cross(Vec3(X().cross(w)));
  }
  double energy(const State& s) const override {
    const Vec3 w = s.v.tail<3>();
    return 0.5 * m * s.v.head<3>().squaredNorm() + 0.5 * w.dot(J().cwiseProduct(w)) + m * g * s.q[2];
  }
  static State initial() {
    const Vec3 v = w0().cross(X());
    return make_state(vec({0, 1, 0, 1, 0, 0, 0}), vec({v.x(), v.y(), v.z(), w0().x(), w0().y(), w0().z()}));
  }
};

class MinimalTop : public SmallDynamics, public TopData {
 public:
  MinimalTop() : SmallDynamics(3, 0, 0, 0, {0}) {}
  static Vec3 J_fixed() { return J() + m * Vec3(1, 0, 1); }
  void terms(const State& s, Terms& t) const override {
    const Vec3 w = s.v;
    t.M.diagonal() = J_fixed();
    t.h = -w.cross(J_fixed().cwiseProduct(w)) + X().cross(Vec3(rotation(s.q, 0).transpose() * Vec3(0, 0, -m * g)));
  }
  static State initial() { return make_state(vec({1, 0, 0, 0}), w0()); }
  // The state of HeavyTop that belongs to s.
  static State spread(const State& s) {
    const Mat3 R = rotation(s.q, 0);
    const Vec3 x = R * X(), v = R * Vec3(Vec3(s.v).cross(X()));
    State full = make_state(Vec(7), Vec(6));
    full.t = s.t;
    full.q << x, s.q;
    full.v << v, s.v;
    return full;
  }
  // lambda of HeavyTop: m a = (0,0,-m g) + lambda.
  static Vec3 reaction(const State& s, const Vec& wdot) {
    const Vec3 w = s.v;
    const Vec3 a = rotation(s.q, 0) * (Vec3(wdot).cross(X()) + w.cross(w.cross(X())));
    return m * a + Vec3(0, 0, m * g);
  }
};

// Van der Pol in the stiff scaling of Hairer and Wanner (Solving ODEs II, IV.10): eps x'' = (1 - x^2) x' - x.
class VanDerPol : public SmallDynamics {
 public:
  explicit VanDerPol(double epsilon = 1e-6) : SmallDynamics(1, 0, 0, 0), eps(epsilon) {}
  double eps;
  void terms(const State& s, Terms& t) const override {
    t.M(0, 0) = eps;
    t.h[0] = (1 - s.q[0] * s.q[0]) * s.v[0] - s.q[0];
  }
  static State initial() { return make_state(vec({2}), vec({-0.66})); }
};

// x'' = z, z' = -z / tau: x = x0 + v0 t + tau z0 t - tau^2 z0 (1 - exp(-t/tau)).
class LaggedForce : public SmallDynamics {
 public:
  LaggedForce() : SmallDynamics(1, 1, 0, 0, {}, 1) {}
  static constexpr double tau = 0.4;
  void terms(const State& s, Terms& t) const override {
    t.M(0, 0) = 1;
    t.h[0] = s.z[0];
    t.f[0] = -s.z[0] / tau;
  }
  double energy(const State& s) const override { return 0.5 * s.v[0] * s.v[0]; }
  void channel_powers(const State& s, const Vec&, const Vec&, Vec& p) const override { p[0] = s.z[0] * s.v[0]; }
  static State initial() { return make_state(vec({0}), vec({0.5}), vec({2})); }
  static double x(double t) { return 0.5 * t + tau * 2 * t - tau * tau * 2 * (1 - std::exp(-t / tau)); }
  static double v(double t) { return 0.5 + tau * 2 * (1 - std::exp(-t / tau)); }
  static double z(double t) { return 2 * std::exp(-t / tau); }
};

// Two masses: x1 = A sin(W t) driven, x2 on a spring k to x1, started on its forced motion x2 = B sin(W t),
// B = A k / (k - m2 W^2). lambda = m1 a1 + k (x1 - x2). The drive supplies lambda * x1'.
class DrivenMass : public SmallDynamics {
 public:
  DrivenMass() : SmallDynamics(2, 0, 1, 0, {}, 1) {}
  static constexpr double m1 = 1, m2 = 2, k = 30, A = 0.2, W = 2.5;
  static double B() { return A * k / (k - m2 * W * W); }
  void terms(const State& s, Terms& t) const override {
    t.M.diagonal() << m1, m2;
    const double force = k * (s.q[1] - s.q[0]);
    t.h << force, -force;
    t.phi[0] = s.q[0] - A * std::sin(W * s.t);
    t.G(0, 0) = 1;
    t.y[0] = -A * W * std::cos(W * s.t);
    t.gamma[0] = A * W * W * std::sin(W * s.t);
  }
  double energy(const State& s) const override {
    const double e = s.q[1] - s.q[0];
    return 0.5 * (m1 * s.v[0] * s.v[0] + m2 * s.v[1] * s.v[1] + k * e * e);
  }
  void channel_powers(const State& s, const Vec&, const Vec& lambda, Vec& p) const override {
    p[0] = lambda[0] * s.v[0];
  }
  static State initial() { return make_state(vec({0, 0}), vec({A * W, B() * W})); }
  static double exact_lambda(double t) { return (-m1 * A * W * W + k * (A - B())) * std::sin(W * t); }
};

// Knife edge on an incline (Neimark and Fufaev, Dynamics of Nonholonomic Systems, 1972): x downhill, started at rest
// with turning rate W: x = b sin^2(Wt), y = b (W t - sin(2 W t)/2), b = g' / (2 W^2).
class KnifeEdge : public SmallDynamics {
 public:
  KnifeEdge() : SmallDynamics(3, 0, 0, 1) {}
  static constexpr double m = 1.5, J = 0.3, g = 4, W = 2;
  void terms(const State& s, Terms& t) const override {
    const double c = std::cos(s.q[2]), n = std::sin(s.q[2]);
    t.M.diagonal() << m, m, J;
    t.h << m * g, 0, 0;
    t.G(0, 0) = -n;
    t.G(0, 1) = c;
    t.gamma[0] = -s.v[2] * (c * s.v[0] + n * s.v[1]);
  }
  static State initial() { return make_state(vec({0, 0, 0}), vec({0, 0, W})); }
  static State exact(double t) {
    const double b = g / (2 * W * W), p = W * t;
    State s = make_state(vec({b * std::sin(p) * std::sin(p), b * (p - 0.5 * std::sin(2 * p)), p}),
                         vec({b * W * std::sin(2 * p), b * W * (1 - std::cos(2 * p)), W}));
    s.t = t;
    return s;
  }
  // m a across = m g' . across + lambda, a across = W u, u = g'/W sin(p): lambda = m (g' sin p + g' sin p).
  static double exact_lambda(double t) { return 2 * m * g * std::sin(W * t); }
};

}  // namespace clatter::test
