// Compliant contact laws: force of one contact point as a function of its gap g (negative: penetration delta = -g), the
// gap's rate and the slip, on any scalar (P-9 to P-11, E-23, E-24, S-42, S-43, Y-23 to Y-25).
//
//   elastic               F = c delta                                     delta > 0
//   damped                F = c delta + d ddelta                          delta > 0; jumps at touch, pulls at the end
//   clipped               F = max(0, c delta + d ddelta)                  for every delta: may act before touch
//   relaxing              F = c delta + d ddelta while closed, else 0     massless surface with its own place s
//                         closed: s = g;  open: d ds/dt = -c s            (P-10)
//   hertz                 F = max(0, c delta^n + d delta ddelta)          delta > 0
//   hunt_crossley         F = c delta^n max(0, 1 + chi ddelta)            delta > 0
//                         chi = damping + 3 (1 - c_r) / (2 v),  v: speed of approach at first touch of this contact.
//                         A body that meets it at v leaves at e v with d - log(1 + d) = -d e - log(1 - d e),
//                         d = 3 (1 - c_r) / 2: at 0.488 v for c_r = 0
//   lankarani_nikravesh   as hunt_crossley with chi = 3 (1 - e^2) / (4 v),  v: speed of approach at first touch;
//                         chi = damping / v where a damping (a number) is given
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
// Ledger: the law stores E and loses the power P <= 0 with F dg/dt + r_T . s = -dE/dt + P on every branch. The stored
// part is the elastic one, E = c delta^(n+1) / (n+1), of the relaxing surface c s^2 / 2.
//
// Beginning and end (P-10): contact begins where the gap closes and ends where the force vanishes. `indicator` is
// positive exactly where the law pushes (damped: where it acts), in parts of a length.
#pragma once

#include <algorithm>
#include <cmath>

#include "base/dual.hpp"
#include "contact/contact_system.hpp"

namespace clatter::contact {

// What a contact remembers of its past. `unknown`: never settled; the gap decides.
enum class Closure : std::uint8_t { unknown, open, closed };

struct CompliantPhase {
  Closure closure = Closure::unknown;
  double chi = 0;  // hunt_crossley, lankarani_nikravesh; s/m
};

template <class T>
struct NormalLaw {
  T force, stored, loss;
};

inline double hysteresis(const CompliantContact& law, double approach_speed) {
  switch (law.kind) {
    case CompliantContact::Kind::hunt_crossley:
      return law.damping + 1.5 * (1 - law.restitution) / approach_speed;
    case CompliantContact::Kind::lankarani_nikravesh:
      return (law.damping > 0 ? law.damping : 0.75 * (1 - law.restitution * law.restitution)) / approach_speed;
    default:
      return 0;
  }
}

// x^n for x > 0, with the usual exponents written out.
template <class T>
T penetration_power(const T& x, double n) {
  using std::pow, std::sqrt;
  if (n == 1) return x;
  if (n == 1.5) return x * sqrt(x);
  return pow(x, n);
}

// Whether a law with a jump acts: its memory says so, or without one the gap (from the surface).
inline bool closed(const CompliantPhase& phase, double gap, double surface) {
  return phase.closure == Closure::unknown ? gap < surface : phase.closure == Closure::closed;
}

// Whether a relaxing surface follows the gap. Without memory the force decides too: the surface stays behind where it
// would have to be pulled.
inline bool surface_follows(const CompliantContact& law, const CompliantPhase& phase, double gap, double rate,
                            double surface) {
  if (!closed(phase, gap, surface)) return false;
  return phase.closure == Closure::closed || -law.stiffness * gap - law.damping * rate > 0;
}

template <class T>
NormalLaw<T> normal_law(const CompliantContact& law, const CompliantPhase& phase, const T& gap, const T& rate,
                        const T& surface) {
  using Kind = CompliantContact::Kind;
  const double c = law.stiffness, d = law.damping;
  const T nil(0.0);
  switch (law.kind) {
    case Kind::elastic:
      if (!(gap < 0.0)) break;
      return {-c * gap, 0.5 * c * gap * gap, nil};
    case Kind::damped:
      if (!closed(phase, value(gap), 0)) break;
      return {-c * gap - d * rate, 0.5 * c * gap * gap, -d * rate * rate};
    case Kind::clipped: {
      const T raw = -c * gap - d * rate;
      const T force = raw > 0.0 ? raw : nil, elastic = gap < 0.0 ? T(-c * gap) : nil;
      return {force, -0.5 * elastic * gap, (force - elastic) * rate};
    }
    case Kind::relaxing:
      if (surface_follows(law, phase, value(gap), value(rate), value(surface)))
        return {-c * gap - d * rate, 0.5 * c * gap * gap, -d * rate * rate};
      if (!(d > 0)) break;
      return {nil, 0.5 * c * surface * surface, -(c / d) * c * surface * surface};
    case Kind::hertz: {
      if (!(gap < 0.0)) break;
      const T delta = -gap;
      const T elastic = c * penetration_power(delta, law.exponent), raw = elastic - d * delta * rate;
      const T force = raw > 0.0 ? raw : nil;
      return {force, elastic * delta / (law.exponent + 1), (force - elastic) * rate};
    }
    case Kind::hunt_crossley:
    case Kind::lankarani_nikravesh: {
      if (!(gap < 0.0)) break;
      const T delta = -gap;
      const double n = law.exponent;
      const T elastic = c * penetration_power(delta, n);
      const T bracket = 1.0 - phase.chi * rate;
      const T force = bracket > 0.0 ? T(elastic * bracket) : nil;
      return {force, elastic * delta / (n + 1), (force - elastic) * rate};
    }
  }
  return {nil, nil, nil};
}

// Rate of the inner state that carries a relaxing surface.
inline double surface_rate(const CompliantContact& law, const CompliantPhase& phase, double gap, double rate,
                           double surface) {
  if (surface_follows(law, phase, gap, rate, surface)) return rate;
  return law.damping > 0 ? -(law.stiffness / law.damping) * surface : 0;
}

inline double indicator(const CompliantContact& law, const CompliantPhase& phase, double length, double gap,
                        double rate) {
  using Kind = CompliantContact::Kind;
  switch (law.kind) {
    case Kind::clipped:
    case Kind::relaxing:
      return -(gap + law.damping / law.stiffness * rate) / length;
    case Kind::hunt_crossley:
    case Kind::lankarani_nikravesh:
      return std::min(-gap / length, 1 - phase.chi * rate);
    case Kind::hertz: {
      if (!(law.damping > 0)) return -gap / length;
      // The force by delta, in parts of that at a penetration of the length.
      const double whole = law.stiffness * penetration_power(length, law.exponent) / length;
      const double elastic = gap < 0 ? penetration_power(-gap / length, law.exponent) / (-gap / length) : 0;
      return std::min(-gap / length, elastic - law.damping * rate / whole);
    }
    default:
      return -gap / length;
  }
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
