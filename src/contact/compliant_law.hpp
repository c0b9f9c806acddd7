// Compliant contact: force of one contact point as a function of its gap, the gap's rate, the slip and the spins, on
// any scalar (P-9 to P-11, E-23, E-24, S-42, S-43, Y-23 to Y-25). The laws of the normal force are one file each in
// laws/; here the one that a contact names is asked, and friction follows from its force.
//
// Friction acts against the slip s = (s1, s2), |s| = u, smoothed by a phi that grows from 0 to 1:
//
//   r_T = -mu(u) max(0, F) phi(u) s / u,   x = u / u_eps < 1, phi = 1 beyond
//
//   quadratic   phi = x (2 - x)           once continuously differentiable (E-24)
//   cubic       phi = x (3 - x^2) / 2     the same, smoother at u_eps
//   quartic     phi = x^2 (3 - x^2) / 2   as Y-25 prints it: no slope at rest, a corner at u_eps
//
// phi / u is a polynomial below u_eps, so nothing is divided by a vanishing slip. Moments against rolling and drilling
// (P-26) are the same law of the spins w = (w_n, w_1, w_2) with a length instead of mu and the model's length L times
// the spin for u:  M = -length max(0, F) phi(u) w / |w|,  u = L |w|.
//
// Ledger: the law stores E and loses the power P <= 0 with F dg/dt + r_T . s = -dE/dt + P on every branch.
#pragma once

#include <cmath>

#include "base/dual.hpp"
#include "contact/contact_system.hpp"
#include "laws/laws.hpp"

namespace clatter::contact {

using laws::Closure;
using CompliantPhase = laws::Phase;
template <class T>
using NormalLaw = laws::Normal<T>;

// What a contact that closes at this speed remembers of it.
inline double hysteresis(const CompliantContact& law, double approach_speed) {
  return laws::visit(law.normal, [&](const auto& l) { return l.chi(approach_speed); });
}

// Whether a surface with a place of its own follows the gap.
inline bool surface_follows(const CompliantContact& law, const CompliantPhase& phase, double gap, double rate,
                            double surface) {
  return laws::visit(law.normal, [&](const auto& l) { return l.follows(phase, gap, rate, surface); });
}

template <class T>
NormalLaw<T> normal_law(const CompliantContact& law, const CompliantPhase& phase, const T& gap, const T& rate,
                        const T& surface) {
  return laws::visit(law.normal, [&](const auto& l) { return l.template normal<T>(phase, gap, rate, surface); });
}

// A surface that nobody touches creeps back, ds/dt = -relaxation s; what it stores and loses then.
inline double relaxation(const CompliantContact& law) {
  return laws::visit(law.normal, [](const auto& l) { return l.relaxation(); });
}
inline NormalLaw<double> left_surface(const CompliantContact& law, double surface) {
  return laws::visit(law.normal, [&](const auto& l) { return l.left(surface); });
}

// Rate of the inner state that carries such a surface.
inline double surface_rate(const CompliantContact& law, const CompliantPhase& phase, double gap, double rate,
                           double surface) {
  if (surface_follows(law, phase, gap, rate, surface)) return rate;
  return -relaxation(law) * surface;
}

inline double indicator(const CompliantContact& law, const CompliantPhase& phase, double length, double gap,
                        double rate) {
  return laws::visit(law.normal, [&](const auto& l) { return l.indicator(phase, length, gap, rate); });
}

// How far from touch shapes that close at this speed feel the law.
inline double reach_before_touch(const CompliantContact& law, double speed) {
  return laws::visit(law.normal, [&](const auto& l) { return l.reach(speed); });
}

// Whether the law keeps the speed at which it was touched.
inline bool remembers(const CompliantContact& law) {
  return laws::visit(law.normal, [](const auto& l) { return l.remembers(); });
}

inline bool has_surface(const CompliantContact& law) {
  return laws::visit(law.normal, [](const auto& l) { return l.has_surface; });
}
inline bool acts_before_touch(const CompliantContact& law) {
  return laws::visit(law.normal, [](const auto& l) { return l.before_touch; });
}

template <class T>
T friction_coefficient_of(const Friction& friction, const T& u) {
  double slope = 0;
  const double mu = friction_coefficient(friction, value(u), &slope);
  if constexpr (std::is_same_v<T, double>)
    return mu;
  else
    return chain(u, mu, mu > 0 ? slope : 0);
}

// phi(u) / u
template <class T>
T friction_slope(const CompliantContact& law, const T& u) {
  using Curve = CompliantContact::FrictionCurve;
  const double u_eps = law.friction_velocity;
  if (!(u < u_eps)) return 1.0 / u;
  const T x = u / u_eps;
  switch (law.friction_curve) {
    case Curve::quadratic:
      return (2.0 - x) / u_eps;
    case Curve::cubic:
      return (1.5 - 0.5 * x * x) / u_eps;
    case Curve::quartic:
      return x * (1.5 - 0.5 * x * x) / u_eps;
  }
  return T(0.0);
}

// (r_N, r_1, r_2) into `force`; returns the power friction loses.
template <class T>
T friction_law(const CompliantContact& law, int tangents, const T& normal, const T& s1, const T& s2, T force[3]) {
  using std::hypot, std::abs;
  force[0] = normal;
  force[1] = force[2] = T(0.0);
  if (!(normal > 0.0) || !(law.friction.mu > 0 || law.friction.curve)) return T(0.0);
  const T u = tangents == 2 ? T(hypot(s1, s2)) : T(abs(s1));
  const T k = friction_coefficient_of(law.friction, u) * normal * friction_slope(law, u);
  force[1] = -k * s1;
  if (tangents == 2) force[2] = -k * s2;
  return -k * u * u;
}

// (M_n, M_1, M_2) into `moment`; returns the power they lose.
template <class T>
T moment_law(const CompliantContact& law, int tangents, const T& normal, const T spin[3], double L, T moment[3]) {
  using std::hypot, std::abs;
  moment[0] = moment[1] = moment[2] = T(0.0);
  T lost(0.0);
  if (!(normal > 0.0)) return lost;
  if (tangents == 2 && law.drilling > 0) {
    const T u = L * abs(spin[0]), k = law.drilling * L * normal * friction_slope(law, u);
    moment[0] = -k * spin[0];
    lost = lost - k * spin[0] * spin[0];
  }
  if (law.rolling > 0) {
    const T w = tangents == 2 ? T(hypot(spin[1], spin[2])) : T(abs(spin[2])), u = L * w;
    const T k = law.rolling * L * normal * friction_slope(law, u);
    if (tangents == 2) moment[1] = -k * spin[1];
    moment[2] = -k * spin[2];
    lost = lost - k * w * w;
  }
  return lost;
}

}  // namespace clatter::contact
