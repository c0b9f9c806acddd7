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
#pragma once

#include <Eigen/Core>

#include "base/jet.hpp"

namespace clatter::contact {

enum class FootKind { side, point, tube, crossing };

inline constexpr int kDerivatives = 4;  // 0 to 3

template <class T, int D>
using BeamVector = Eigen::Matrix<T, D, 1>;

template <class T, int D>
struct BeamCurves {
  BeamVector<T, D> S[kDerivatives], M[kDerivatives];    // positions and derivatives by the arc length
  BeamVector<T, D> dS[kDerivatives], dM[kDerivatives];  // rates at fixed parameters
};

template <class T, int D>
struct BeamRows {
  T gap;
  BeamVector<T, D> e[D];  // n, then tangents: n x b in the plane, in space along the master and n x that
  T rate[D];              // e_k.u
  T x, y;                 // shifts of the master's and the slave's parameter; zero in value
};

template <class T, int D>
BeamVector<T, D> series(const BeamVector<T, D>* c, const T& x, int from) {
  BeamVector<T, D> out = c[from];
  T power = x;
  double factorial = 1;
  for (int k = from + 1; k < kDerivatives; ++k) {
    factorial *= k - from;
    out += c[k] * (power / factorial);
    power = power * x;
  }
  return out;
}

template <class T, int D>
void beam_rows(FootKind kind, double sign, double radius, const BeamCurves<T, D>& c, BeamRows<T, D>& out) {
  using V = BeamVector<T, D>;
  using std::sqrt;
  T x(0.0), y(0.0);
  // Solved in double before; two steps carry the solution to the derivatives of derivatives.
  if (kind != FootKind::point)
    for (int step = 0; step < 2; ++step) {
      const V M1 = series<T, D>(c.M, x, 1), M2 = series<T, D>(c.M, x, 2);
      const V d = series<T, D>(c.S, y, 0) - series<T, D>(c.M, x, 0);
      const T F = d.dot(M1), Fx = d.dot(M2) - M1.dot(M1);
      if (kind != FootKind::crossing) {
        x = x - F / Fx;
        continue;
      }
      const V S1 = series<T, D>(c.S, y, 1), S2 = series<T, D>(c.S, y, 2);
      const T G = d.dot(S1), Fy = S1.dot(M1), Gy = d.dot(S2) + S1.dot(S1), Gx = -Fy;
      const T det = Fx * Gy - Fy * Gx;
      x = x - (F * Gy - Fy * G) / det;
      y = y - (Fx * G - Gx * F) / det;
    }
  const V d = series<T, D>(c.S, y, 0) - series<T, D>(c.M, x, 0);
  const V M1 = series<T, D>(c.M, x, 1);
  V& n = out.e[0];
  if constexpr (D == 2) {
    if (kind == FootKind::side) {
      const T length = sqrt(T(M1.dot(M1)));
      n[0] = -M1[1] * sign / length;
      n[1] = M1[0] * sign / length;
      out.gap = d.dot(n) - radius;
    }
  }
  if (D == 3 || kind != FootKind::side) {
    const T distance = sqrt(T(d.dot(d)));
    for (int i = 0; i < D; ++i) n[i] = d[i] / distance;
    out.gap = distance - radius;
  }
  if constexpr (D == 2) {
    out.e[1][0] = n[1];
    out.e[1][1] = -n[0];
  } else {
    // Along the master; where that is along n, along the axis that is least so.
    V along = M1;
    const double across = value(T(M1.dot(M1) - M1.dot(n) * M1.dot(n))) / value(T(M1.dot(M1)));
    if (!(across > 1e-6)) {
      int least = 0;
      for (int i = 1; i < 3; ++i)
        if (std::abs(value(n[i])) < std::abs(value(n[least]))) least = i;
      for (int i = 0; i < 3; ++i) along[i] = T(i == least ? 1.0 : 0.0);
    }
    const T part = along.dot(n);
    along -= n * part;
    const T length = sqrt(T(along.dot(along)));
    for (int i = 0; i < 3; ++i) out.e[1][i] = along[i] / length;
    const V& t = out.e[1];
    out.e[2][0] = n[1] * t[2] - n[2] * t[1];
    out.e[2][1] = n[2] * t[0] - n[0] * t[2];
    out.e[2][2] = n[0] * t[1] - n[1] * t[0];
  }
  const V u = series<T, D>(c.dS, y, 0) - series<T, D>(c.dM, x, 0);
  for (int k = 0; k < D; ++k) out.rate[k] = out.e[k].dot(u);
  out.x = x;
  out.y = y;
}

}  // namespace clatter::contact
