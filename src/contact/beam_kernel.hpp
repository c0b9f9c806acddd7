// Rows of a contact between a point or curve of one beam (the slave) and a curve of another (the master), as functions
// of the curves' derivatives at their nearest points (Y-19 to Y-21, and closest points of curves in space).
//
// With S_k, M_k the k-th derivatives by the arc length at the parameters found, both curves are their Taylor series
// (exact: quadratic sides of beams, cubic axes of cables); shifts y and x of the parameters solve
//
//   side      (S - M).M' = 0,  n = sign * M' turned by +90 degrees / |M'|,   gap = (S - M).n - radius
//   point     no shift,        n = (S - M)/|S - M|,                          gap = |S - M| - radius
//   tube      (S - M).M' = 0,  n as of a point
//   crossing  (S - M).M' = 0,  (S - M).S' = 0,  n as of a point
//
// n points from the master to the slave. Gaps are stationary in the shifts, so that with u = dS/dt - dM/dt of the
// material points gap' = n.u exactly, and the gradients by nodal vectors are N_S n and -N_M n with the shape functions
// at the nearest points. Evaluated on jets and dual numbers this gives accelerations and tangents: nothing of the
// curvature is written by hand.
//
// Slip is that of the skins. Of a tube of radius r it is the axis that has coordinates. Both skins are taken where the
// two touch, at one point P between the axes, so that force and counterforce have one line of action whatever the gap:
//
//   P = S - rho_S n = M + rho_M n,   rho_S = (gap + radius) r_S / radius,   rho_M = (gap + radius) r_M / radius
//
// (on tubes that just touch rho = r), and P is carried along by the section, as
//
//   bends     cables: turns with the tangent, w = S' x dS'/dt / S'^2 (about the tangent itself nothing is known):
//             t.v = t.dS/dt + (rho/S'^2) ((t.S') n - (n.S') t).dS'/dt
//   turns     beams in space have the material point r + y Y + z Z. Where the section stands askew to the axis, and on
//             the caps of ends, P lies off its plane; with the whole gradient of the axis' point,
//               P - S = F (a, y, z)^T,   F = (S' Y Z)
//               v = dS/dt + a dS'/dt + y dY/dt + z dZ/dt = dS/dt + dF/dt F^-1 (P - S)
//             which is the velocity of the material point on the section (a = 0), to first order in a beside it, and of
//             a rigid body in every rigid motion: dS/dt = c + w x S, dF/dt = w x F give v = c + w x P
//
// so a row is a sum of coefficient vectors times the rates of S, S', Y, Z and of the master's, and its gradient the
// same vectors times their shape functions. Moments balance with it: the sum of q_i x g_i over the nodal vectors is
//
//   S x t + (a S' + y Y + z Z) x t = P x t   for the slave,   -P x t   for the master
//
// Cables in space lack the part of P x t along their tangents.
//
// Along lines of compliant contact the place of a station depends on the position too (beam_feet.cpp): between the
// ends a and b of the part that the other beam covers, S(a) = point of the slave at which (S - E).E' = 0 for an end E
// of the master. And it acts by a share of its area, 1 where the directions differ by less than alpha_min, 0 from
// 2 alpha_min on (Y-22), in between
//
//   share = 1 - 3 s^2 + 2 s^3,   s = (cos alpha_min - cos alpha) / (cos alpha_min - cos 2 alpha_min)
//   cos alpha_min = min(cos least, 1 - half |curvature|)
//
// corners and ends by the rest: forces pass from points to lines without a jump, and nothing has to be remembered.
#pragma once

#include <Eigen/Core>

#include "base/jet.hpp"

namespace clatter::contact {

enum class FootKind { side, point, tube, crossing };
// How what touches moves: as the curve itself (outlines), with its tangent (cables), with the section (beams in space).
enum class SkinMotion { curve, bends, turns };

inline constexpr int kDerivatives = 4;  // 0 to 3
inline constexpr int kArms = 4;         // rates that a row is made of: of the curve, its slope, Y, Z
inline constexpr int kSections = 3;     // derivatives of Y and Z, which are quadratic

// Whether row k has coefficients of rate j.
inline bool has_arm(SkinMotion skin, int k, int j) {
  return j == 0 || (k > 0 && (skin == SkinMotion::turns || (skin == SkinMotion::bends && j == 1)));
}

template <class T, int D>
using BeamVector = Eigen::Matrix<T, D, 1>;

// One of the two curves at its nearest point.
template <class T, int D>
struct BeamArc {
  BeamVector<T, D> r[kDerivatives], dr[kDerivatives];  // derivatives by the arc length, and their rates
  BeamVector<T, D> Y[2][kSections], dY[2][kSections];  // Y and Z, their derivatives, and their rates
};

// An end of the part of the slave that is covered: of the segment, or where an end of the master cuts it.
template <class T, int D>
struct BeamEdge {
  bool cut = false;
  double from = 0;               // its parameter less that of the station
  BeamVector<T, D> E[2], dE[2];  // the master's end and its slope
};

template <class T, int D>
struct BeamCurves {
  BeamArc<T, D> S, M;
  BeamEdge<T, D> edge[2];
};

// What is constant of a row.
struct BeamRowKind {
  FootKind kind = FootKind::side;
  double sign = 1, radius = 0;
  SkinMotion skin[2] = {SkinMotion::curve, SkinMotion::curve};  // slave, master
  double skin_radius[2] = {0, 0};
  enum class Share { whole, line, rest } share = Share::whole;
  double half = 0, cos_least = 1;
  double z = 0;  // place of a station between its edges
};

template <class T, int D>
struct BeamRows {
  T gap;
  BeamVector<T, D> e[D];  // n, then tangents: n x b in the plane, in space along the master and n x that
  BeamVector<T, D> S[D][kArms], M[D][kArms];  // coefficients of the rates of slave and master
  T rate[D];
  T x, y;    // shifts of the master's and the slave's parameter; zero in value
  T length;  // of the covered part less its value
  T share;
};

template <class T, int D>
BeamVector<T, D> series(const BeamVector<T, D>* c, const T& x, int from, int count = kDerivatives) {
  BeamVector<T, D> out = c[from];
  T power = x;
  double factorial = 1;
  for (int k = from + 1; k < count; ++k) {
    factorial *= k - from;
    out += c[k] * (power / factorial);
    power = power * x;
  }
  return out;
}

template <class T, int D>
T curvature_of(const BeamVector<T, D>& d1, const BeamVector<T, D>& d2) {
  using std::sqrt;
  const T s = d1.dot(d1);
  const BeamVector<T, D> bend = d2 - d1 * (d1.dot(d2) / s);
  return sqrt(T(bend.dot(bend))) / s;
}

// The part that lines have of a contact between directions S1 and M1.
template <class T, int D>
T line_share(const BeamVector<T, D>& S1, const BeamVector<T, D>& S2, const BeamVector<T, D>& M1,
             const BeamVector<T, D>& M2, double half, double cos_least) {
  using std::abs, std::sqrt;
  T least(cos_least);
  const T bend_S = half * curvature_of<T, D>(S1, S2), bend_M = half * curvature_of<T, D>(M1, M2);
  const T& bend = bend_S > bend_M ? bend_S : bend_M;
  if (value(bend) > 1)
    least = T(0.0);
  else if (1 - value(bend) < cos_least)
    least = 1.0 - bend;
  const T cosine = abs(T(S1.dot(M1))) / sqrt(T(S1.dot(S1) * M1.dot(M1)));
  if (!(cosine < least)) return T(1.0);
  const T band = (1.0 - least) * (1.0 + 2.0 * least);
  const T s = (least - cosine) / band;
  if (!(s < 1.0)) return T(0.0);
  return 1.0 - s * s * (3.0 - 2.0 * s);
}

template <class T>
BeamVector<T, 3> across(const BeamVector<T, 3>& a, const BeamVector<T, 3>& b) {
  BeamVector<T, 3> out;
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
  return out;
}

// How P follows the section at its foot: w = P - S = F (a, y, z)^T by Cramer's rule.
template <class T>
void place_in_section(const BeamArc<T, 3>& c, const T& shift, const BeamVector<T, 3>& w, T place[3]) {
  using V = BeamVector<T, 3>;
  const V slope = series<T, 3>(c.r, shift, 1), Y = series<T, 3>(c.Y[0], shift, 0, kSections),
          Z = series<T, 3>(c.Y[1], shift, 0, kSections);
  const V normal = across<T>(Y, Z);
  const T det = slope.dot(normal);
  place[0] = w.dot(normal) / det;
  place[1] = w.dot(across<T>(Z, slope)) / det;
  place[2] = w.dot(across<T>(slope, Y)) / det;
}

// Coefficients of the rates beside that of the curve, of the skin at rho from the axis.
template <class T, int D>
void add_arms(SkinMotion skin, const T& rho, const BeamArc<T, D>& c, const T& shift, const BeamVector<T, D>& n,
              const BeamVector<T, D>& t, BeamVector<T, D>* out) {
  // The master's skin is on the other side of its axis, and its rates enter with the other sign: the same for both.
  if (skin == SkinMotion::bends) {
    const BeamVector<T, D> slope = series<T, D>(c.r, shift, 1);
    const T s = slope.dot(slope), along = t.dot(slope), off = n.dot(slope);
    out[1] = n * T(rho * along / s) - t * T(rho * off / s);
  }
  if constexpr (D == 3) {
    if (skin != SkinMotion::turns) return;
    T place[3];
    place_in_section<T>(c, shift, n * T(-rho), place);
    for (int j = 0; j < 3; ++j) out[1 + j] = t * place[j];
  }
}

template <class T, int D>
void beam_rows(const BeamRowKind& of, const BeamCurves<T, D>& c, BeamRows<T, D>& out) {
  using V = BeamVector<T, D>;
  using std::sqrt;
  const V *S = c.S.r, *M = c.M.r;
  T x(0.0), y(0.0);
  out.length = T(0.0);
  for (int end = 0; end < 2; ++end) {
    const BeamEdge<T, D>& edge = c.edge[end];
    if (!edge.cut) continue;
    const T from(edge.from);
    const T F = (series<T, D>(S, from, 0) - edge.E[0]).dot(edge.E[1]), slope = series<T, D>(S, from, 1).dot(edge.E[1]);
    const T moved = -F / slope;
    y = y + moved * (end == 0 ? 1 - of.z : of.z);
    out.length = out.length + moved * (end == 0 ? -1.0 : 1.0);
  }
  // Solved in double before; two steps carry the solution to the derivatives of derivatives.
  if (of.kind != FootKind::point)
    for (int step = 0; step < 2; ++step) {
      const V M1 = series<T, D>(M, x, 1), M2 = series<T, D>(M, x, 2);
      const V d = series<T, D>(S, y, 0) - series<T, D>(M, x, 0);
      const T F = d.dot(M1), Fx = d.dot(M2) - M1.dot(M1);
      if (of.kind != FootKind::crossing) {
        x = x - F / Fx;
        continue;
      }
      const V S1 = series<T, D>(S, y, 1), S2 = series<T, D>(S, y, 2);
      const T G = d.dot(S1), Fy = S1.dot(M1), Gy = d.dot(S2) + S1.dot(S1), Gx = -Fy;
      const T det = Fx * Gy - Fy * Gx;
      x = x - (F * Gy - Fy * G) / det;
      y = y - (Fx * G - Gx * F) / det;
    }
  const V d = series<T, D>(S, y, 0) - series<T, D>(M, x, 0);
  const V M1 = series<T, D>(M, x, 1);
  V& n = out.e[0];
  if constexpr (D == 2) {
    if (of.kind == FootKind::side) {
      const T length = sqrt(T(M1.dot(M1)));
      n[0] = -M1[1] * of.sign / length;
      n[1] = M1[0] * of.sign / length;
      out.gap = d.dot(n) - of.radius;
    }
  }
  if (D == 3 || of.kind != FootKind::side) {
    const T distance = sqrt(T(d.dot(d)));
    for (int i = 0; i < D; ++i) n[i] = d[i] / distance;
    out.gap = distance - of.radius;
  }
  if constexpr (D == 2) {
    out.e[1][0] = n[1];
    out.e[1][1] = -n[0];
  } else {
    // Along the master; where that is along n, along the axis that is least so.
    V along = M1;
    const double off = value(T(M1.dot(M1) - M1.dot(n) * M1.dot(n))) / value(T(M1.dot(M1)));
    if (!(off > 1e-6)) {
      int least = 0;
      for (int i = 1; i < 3; ++i)
        if (std::abs(value(n[i])) < std::abs(value(n[least]))) least = i;
      for (int i = 0; i < 3; ++i) along[i] = T(i == least ? 1.0 : 0.0);
    }
    const T part = along.dot(n);
    along -= n * part;
    const T length = sqrt(T(along.dot(along)));
    for (int i = 0; i < 3; ++i) out.e[1][i] = along[i] / length;
    out.e[2] = across<T>(n, out.e[1]);
  }
  const V nil = V::Constant(T(0.0));
  const T distance = out.gap + of.radius;
  for (int k = 0; k < D; ++k) {
    for (int j = 1; j < kArms; ++j) out.S[k][j] = out.M[k][j] = nil;
    out.S[k][0] = out.e[k];
    out.M[k][0] = -out.e[k];
    if (k == 0 || of.radius == 0) continue;
    add_arms<T, D>(of.skin[0], distance * (of.skin_radius[0] / of.radius), c.S, y, n, out.e[k], out.S[k]);
    add_arms<T, D>(of.skin[1], distance * (of.skin_radius[1] / of.radius), c.M, x, n, out.e[k], out.M[k]);
  }
  const auto add_rates = [&](SkinMotion skin, const BeamArc<T, D>& curve, const T& shift, const V(*arms)[kArms]) {
    for (int j = 0; j < kArms; ++j) {
      if (!has_arm(skin, 1, j)) continue;
      const V rate = j < 2 ? series<T, D>(curve.dr, shift, j) : series<T, D>(curve.dY[j - 2], shift, 0, kSections);
      for (int k = 0; k < D; ++k)
        if (has_arm(skin, k, j)) out.rate[k] = out.rate[k] + arms[k][j].dot(rate);
    }
  };
  for (int k = 0; k < D; ++k) out.rate[k] = T(0.0);
  add_rates(of.skin[0], c.S, y, out.S);
  add_rates(of.skin[1], c.M, x, out.M);
  out.share = T(1.0);
  if (of.share != BeamRowKind::Share::whole) {
    const T lines = line_share<T, D>(series<T, D>(S, y, 1), series<T, D>(S, y, 2), M1, series<T, D>(M, x, 2), of.half,
                                     of.cos_least);
    out.share = of.share == BeamRowKind::Share::line ? lines : T(1.0 - lines);
  }
  out.x = x;
  out.y = y;
}

}  // namespace clatter::contact
