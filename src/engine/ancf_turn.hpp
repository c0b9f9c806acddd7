// How a place of a cable or beam is turned: axes from the gradient vectors x at that place, and its angular velocity
// w = W(x) dx/dt, which is linear in the rates; accelerations and tangents follow from it by time jets and dual
// numbers.
//
//   planar cable   x = r'        turned by arg x
//   planar beam    x = r_y       turned by arg x - 90 degrees
//   spatial cable  x = r'        axes of the start, turned by the shortest way from t0 to t = r'/|r'|: a cable has no
//                                twist, so the turn about the tangent is a convention; without meaning where t = -t0
//                  w = (t x dx - t (t0 x t).dx/(1 + t0.t))/|x|
//   spatial beam   x = (r_y, r_z)  axes of ancf_strains_spatial.hpp
#pragma once

#include "base/jet.hpp"
#include "engine/ancf_body.hpp"
#include "engine/ancf_strains_spatial.hpp"

namespace clatter::ancf {

template <bool Beam>
struct PlanarTurn {
  static constexpr int variables = 2;
  static Mat3 axes(const double* x, const TurnStart&) {
    const double i = 1 / std::sqrt(x[0] * x[0] + x[1] * x[1]);
    const double c = (Beam ? x[1] : x[0]) * i, s = (Beam ? -x[0] : x[1]) * i;
    Mat3 R;
    R << c, -s, 0, s, c, 0, 0, 0, 1;
    return R;
  }
  template <class T>
  static void spin(const T* x, const T* xd, const TurnStart&, T* w) {
    w[0] = w[1] = T(0.0);
    w[2] = (x[0] * xd[1] - x[1] * xd[0]) / (x[0] * x[0] + x[1] * x[1]);
  }
};

struct CableTurn {
  static constexpr int variables = 3;
  // Keeps 1 + t0.t away from zero, where the turn is not defined.
  static constexpr double kLeast = 1e-9;
  static Mat3 axes(const double* x, const TurnStart& start) {
    const Vec3 t0 = start.axes.col(0), t = Vec3(x[0], x[1], x[2]).normalized(), v = t0.cross(t);
    const Mat3 S = skew<double>(v);
    return (Mat3::Identity() + S + S * S / std::max(1 + t0.dot(t), kLeast)) * start.axes;
  }
  template <class T>
  static void spin(const T* x, const T* xd, const TurnStart& start, T* w) {
    using std::sqrt;
    const T length = sqrt(T(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]));
    T t[3], n[3];
    for (int i = 0; i < 3; ++i) t[i] = x[i] / length;
    const Vec3 t0 = start.axes.col(0);
    n[0] = t0[1] * t[2] - t0[2] * t[1];
    n[1] = t0[2] * t[0] - t0[0] * t[2];
    n[2] = t0[0] * t[1] - t0[1] * t[0];
    T below = 1.0 + (t0[0] * t[0] + t0[1] * t[1] + t0[2] * t[2]);
    if (value(below) < kLeast) below = T(kLeast);
    const T along = (n[0] * xd[0] + n[1] * xd[1] + n[2] * xd[2]) / below;
    w[0] = (t[1] * xd[2] - t[2] * xd[1] - t[0] * along) / length;
    w[1] = (t[2] * xd[0] - t[0] * xd[2] - t[1] * along) / length;
    w[2] = (t[0] * xd[1] - t[1] * xd[0] - t[2] * along) / length;
  }
};

struct BeamTurn {
  static constexpr int variables = 6;
  static Mat3 axes(const double* x, const TurnStart&) {
    const SectionAxes<double> A(Vec3(x[0], x[1], x[2]), Vec3(x[3], x[4], x[5]));
    Mat3 R;
    R << A.e1, A.e2, A.e3;
    return R;
  }
  template <class T>
  static void spin(const T* x, const T* xd, const TurnStart&, T* w) {
    const SectionAxes<T> A(V3<T>(x[0], x[1], x[2]), V3<T>(x[3], x[4], x[5]));
    const V3<T> phi = A.turn(V3<T>(xd[0], xd[1], xd[2]), V3<T>(xd[3], xd[4], xd[5]));
    for (int k = 0; k < 3; ++k) w[k] = phi[0] * A.e1[k] + phi[1] * A.e2[k] + phi[2] * A.e3[k];
  }
};

}  // namespace clatter::ancf
