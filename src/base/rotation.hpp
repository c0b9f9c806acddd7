// Rotations: exponential and logarithm, their Jacobians, elementary matrices, Euler parameters.
//
// With psi a rotation vector, theta = |psi|, x = theta^2 and tilde the skew matrix (V-3):
//   R = exp(psi)  = I + s(x) tilde + c(x) tilde^2          s = sin(theta)/theta,  c = (1 - cos theta)/theta^2
//   T(psi)        = I - c(x) tilde + k(x) tilde^2          k = (theta - sin theta)/theta^3
//   T^-1(psi)     = I + 1/2 tilde + b(x) tilde^2           b = (1 - theta/2 cot(theta/2))/theta^2
// T is the right Jacobian: Omega = T(psi) dpsi/dt is the angular velocity in the axes of the rotated frame,
// dR/dt = R tilde(Omega); its transpose is the left Jacobian, omega = T^T(psi) dpsi/dt in the fixed axes.
// All coefficients are taken as smooth functions of x, so that they and their derivatives are exact to round-off
// through theta = 0. A matrix R maps components in the rotated frame to the fixed frame; its columns are the axes of
// the rotated frame.
#pragma once

#include <cmath>
#include <numbers>

#include "base/math.hpp"

namespace clatter {

namespace rotation_detail {

// sum_i c[i] x^i
template <class T, int n>
T polynomial(const double (&c)[n], const T& x) {
  T p(c[n - 1]);
#pragma GCC unroll 16
  for (int i = n - 2; i >= 0; --i) p = p * x + c[i];
  return p;
}

// sin(theta)/theta
template <class T>
T sinc(const T& x) {
  using std::sin, std::sqrt;
  if (x < 1.0) {
    static constexpr double c[] = {1.,
                                   -1. / 6,
                                   1. / 120,
                                   -1. / 5040,
                                   1. / 362880,
                                   -1. / 39916800,
                                   1. / 6227020800.,
                                   -1. / 1307674368000.,
                                   1. / 355687428096000.,
                                   -1. / 121645100408832000.};
    return polynomial(c, x);
  }
  const T theta = sqrt(x);
  return sin(theta) / theta;
}

// (1 - cos(theta))/theta^2 = (1/2) (sin(theta/2)/(theta/2))^2: no difference of near numbers
template <class T>
T cosc(const T& x) {
  const T s = sinc(T(x * 0.25));
  return 0.5 * s * s;
}

// (theta - sin(theta))/theta^3
template <class T>
T sinc3(const T& x) {
  using std::sin, std::sqrt;
  if (x < 2.0) {
    static constexpr double c[] = {1. / 6,
                                   -1. / 120,
                                   1. / 5040,
                                   -1. / 362880,
                                   1. / 39916800,
                                   -1. / 6227020800.,
                                   1. / 1307674368000.,
                                   -1. / 355687428096000.,
                                   1. / 121645100408832000.,
                                   -1. / 51090942171709440000.};
    return polynomial(c, x);
  }
  const T theta = sqrt(x);
  return (theta - sin(theta)) / (x * theta);
}

// The partial fractions of the cotangent give b(x) = sum_k 2/(4 pi^2 k^2 - x). The first two poles are kept as they
// are, the rest is the power series sum_n c_n x^n with c_n = 2 (zeta(2n+2) - 1 - 4^-(n+1)) / (2 pi)^(2n+2), which
// has converged to round-off for all theta <= pi, that is for every logarithm.
inline constexpr double pole_1 = 4 * std::numbers::pi * std::numbers::pi, pole_2 = 4 * pole_1;
inline constexpr double b_series[] = {0.020007593556872226181,   0.00002543812068862562158, 5.5845683904944151311e-8,
                                      1.4088241574761046862e-10, 3.7567162002157978115e-13, 1.0280125375360461078e-15,
                                      2.8500221292137912383e-18, 7.9555754107198449836e-21, 2.2289326645537011567e-23,
                                      6.2574711508057722392e-26, 1.7586730492909679891e-28};

// b(x)
template <class T>
T cotc(const T& x) {
  using std::cos, std::sin, std::sqrt;
  if (x < 10.0) return polynomial(b_series, x) + 2.0 / (pole_1 - x) + 2.0 / (pole_2 - x);
  const T half = 0.5 * sqrt(x);
  return (1.0 - half * cos(half) / sin(half)) / x;
}

// b'(theta)/theta = 2 db/dx
template <class T>
T cotc_slope(const T& x) {
  using std::cos, std::sin, std::sqrt;
  if (x < 10.0) {
    constexpr int n = sizeof(b_series) / sizeof(double);
    T p(2.0 * (n - 1) * b_series[n - 1]);
    for (int i = n - 2; i >= 1; --i) p = p * x + 2.0 * i * b_series[i];
    const T r1 = 1.0 / (pole_1 - x), r2 = 1.0 / (pole_2 - x);
    return p + 4.0 * (r1 * r1 + r2 * r2);
  }
  const T theta = sqrt(x), half = 0.5 * theta, s = sin(half), cot = cos(half) / s;
  return (0.5 * (half / (s * s) - cot) / theta - 2.0 * (1.0 - half * cot) / x) / x;
}

}  // namespace rotation_detail

// exp of the rotation vector psi, as a matrix.
template <class T>
Eigen::Matrix<T, 3, 3> rotation_exp(const Eigen::Matrix<T, 3, 1>& psi) {
  const T x = psi.squaredNorm();
  const T s = rotation_detail::sinc(x), c = rotation_detail::cosc(x);
  const T cx = c * psi.x(), cy = c * psi.y(), cz = c * psi.z();
  const T xx = cx * psi.x(), yy = cy * psi.y(), zz = cz * psi.z();
  const T xy = cx * psi.y(), xz = cx * psi.z(), yz = cy * psi.z();
  const T sx = s * psi.x(), sy = s * psi.y(), sz = s * psi.z();
  Eigen::Matrix<T, 3, 3> R;
  R << 1.0 - (yy + zz), xy - sz, xz + sy,  //
      xy + sz, 1.0 - (xx + zz), yz - sx,   //
      xz - sy, yz + sx, 1.0 - (xx + yy);
  return R;
}

// exp of the rotation vector psi, as a unit quaternion.
template <class T>
Eigen::Quaternion<T> quaternion_exp(const Eigen::Matrix<T, 3, 1>& psi) {
  using std::cos, std::sqrt;
  const T x4 = 0.25 * psi.squaredNorm();  // (theta/2)^2
  const T s = 0.5 * rotation_detail::sinc(x4);
  // cos(theta/2) = 1 - (theta/2)^2 c: smooth in x, and exact near 1.
  const T w = x4 < 1.0 ? T(1.0 - x4 * rotation_detail::cosc(x4)) : T(cos(sqrt(x4)));
  return {w, s * psi.x(), s * psi.y(), s * psi.z()};
}

// The rotation vector of a quaternion (of any length but zero), |psi| <= pi. At half a turn both signs describe
// the rotation; the one of the quaternion is kept when w = 0.
template <class T>
Eigen::Matrix<T, 3, 1> rotation_log(const Eigen::Quaternion<T>& quaternion) {
  using std::atan2, std::sqrt;
  const Eigen::Matrix<T, 3, 1> u = quaternion.vec();
  const T s2 = u.squaredNorm(), w = quaternion.w();
  if (s2 < 0.01 * (w * w)) {
    // psi = u (2/w) atan(t)/t with t = |u|/w, in powers of t^2
    static constexpr double c[] = {1., -1. / 3, 1. / 5, -1. / 7, 1. / 9, -1. / 11, 1. / 13, -1. / 15, 1. / 17};
    return u * T(2.0 / w * rotation_detail::polynomial(c, T(s2 / (w * w))));
  }
  const T s = sqrt(s2);
  return w < 0.0 ? Eigen::Matrix<T, 3, 1>(u * T(-2.0 * atan2(s, T(-w)) / s))
                 : Eigen::Matrix<T, 3, 1>(u * T(2.0 * atan2(s, w) / s));
}

// The quaternion of a rotation matrix. The largest of the four components is found first and divides the others, so
// nothing is lost near half a turn. Unit length as far as R is orthogonal.
template <class T>
Eigen::Quaternion<T> quaternion_from_matrix(const Eigen::Matrix<T, 3, 3>& R) {
  using std::sqrt;
  const T trace = R(0, 0) + R(1, 1) + R(2, 2);
  Eigen::Quaternion<T> q;
  int i = 0;
  if (R(1, 1) > R(0, 0)) i = 1;
  if (R(2, 2) > R(i, i)) i = 2;
  if (trace > R(i, i)) {
    const T r = sqrt(T(1.0 + trace)), f = 0.5 / r;
    q.w() = 0.5 * r;
    q.x() = (R(2, 1) - R(1, 2)) * f;
    q.y() = (R(0, 2) - R(2, 0)) * f;
    q.z() = (R(1, 0) - R(0, 1)) * f;
  } else {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    const T r = sqrt(T(1.0 + R(i, i) - R(j, j) - R(k, k))), f = 0.5 / r;
    q.w() = (R(k, j) - R(j, k)) * f;
    q.coeffs()[i] = 0.5 * r;
    q.coeffs()[j] = (R(j, i) + R(i, j)) * f;
    q.coeffs()[k] = (R(k, i) + R(i, k)) * f;
  }
  return q;
}

// The rotation vector of a rotation matrix, |psi| <= pi.
template <class T>
Eigen::Matrix<T, 3, 1> rotation_log(const Eigen::Matrix<T, 3, 3>& R) {
  return rotation_log(quaternion_from_matrix(R));
}

// a I + b tilde(psi) + c psi psi^T: the form every matrix function of tilde(psi) takes.
template <class T>
Eigen::Matrix<T, 3, 3> isotropic(const T& a, const T& b, const T& c, const Eigen::Matrix<T, 3, 1>& psi) {
  const T cx = c * psi.x(), cy = c * psi.y(), cz = c * psi.z();
  const T xy = cx * psi.y(), xz = cx * psi.z(), yz = cy * psi.z();
  const T bx = b * psi.x(), by = b * psi.y(), bz = b * psi.z();
  Eigen::Matrix<T, 3, 3> m;
  m << a + cx * psi.x(), xy - bz, xz + by,  //
      xy + bz, a + cy * psi.y(), yz - bx,   //
      xz - by, yz + bx, a + cz * psi.z();
  return m;
}

// T(psi): Omega = T(psi) dpsi/dt.
template <class T>
Eigen::Matrix<T, 3, 3> right_jacobian(const Eigen::Matrix<T, 3, 1>& psi) {
  const T x = psi.squaredNorm(), k = rotation_detail::sinc3(x);
  return isotropic(T(1.0 - k * x), T(-rotation_detail::cosc(x)), k, psi);
}

// T^-1(psi): dpsi/dt = T^-1(psi) Omega; singular at |psi| = 2 pi.
template <class T>
Eigen::Matrix<T, 3, 3> right_jacobian_inverse(const Eigen::Matrix<T, 3, 1>& psi) {
  const T x = psi.squaredNorm(), b = rotation_detail::cotc(x);
  return isotropic(T(1.0 - b * x), T(0.5), b, psi);
}

namespace rotation_detail {
// D+- of V-3 with the sign of the first term.
template <class T>
Eigen::Matrix<T, 3, 3> jacobian_inverse_derivative(const Eigen::Matrix<T, 3, 1>& psi, const Eigen::Matrix<T, 3, 1>& s,
                                                   double sign) {
  const T x = psi.squaredNorm(), b = cotc(x), b1 = cotc_slope(x);
  const Eigen::Matrix<T, 3, 1> n = psi.cross(s), m = psi.cross(n) * b1;
  // tilde(psi x s) = s psi^T - psi s^T and tilde(psi) tilde(s) = s psi^T - (psi . s) I
  Eigen::Matrix<T, 3, 3> D = skew<T>(s * T(sign * 0.5));
  D.noalias() += (m - (2.0 * b) * s) * psi.transpose();
  D.noalias() += (b * psi) * s.transpose();
  D.diagonal().array() += b * psi.dot(s);
  return D;
}
}  // namespace rotation_detail

// D+(psi, s) = d(T^-1(psi) s)/dpsi at fixed s.
template <class T>
Eigen::Matrix<T, 3, 3> right_jacobian_inverse_derivative(const Eigen::Matrix<T, 3, 1>& psi,
                                                         const Eigen::Matrix<T, 3, 1>& s) {
  return rotation_detail::jacobian_inverse_derivative(psi, s, -1.0);
}

// D-(psi, s) = d(T^-T(psi) s)/dpsi at fixed s.
template <class T>
Eigen::Matrix<T, 3, 3> left_jacobian_inverse_derivative(const Eigen::Matrix<T, 3, 1>& psi,
                                                        const Eigen::Matrix<T, 3, 1>& s) {
  return rotation_detail::jacobian_inverse_derivative(psi, s, 1.0);
}

// --- elementary rotations (P-1): the frame turned by a positive angle about its own axis -----------------------------

template <class T>
Eigen::Matrix<T, 3, 3> rotation_x(const T& angle) {
  using std::cos, std::sin;
  const T c = cos(angle), s = sin(angle), o(0), e(1);
  Eigen::Matrix<T, 3, 3> R;
  R << e, o, o, o, c, -s, o, s, c;
  return R;
}

template <class T>
Eigen::Matrix<T, 3, 3> rotation_y(const T& angle) {
  using std::cos, std::sin;
  const T c = cos(angle), s = sin(angle), o(0), e(1);
  Eigen::Matrix<T, 3, 3> R;
  R << c, o, s, o, e, o, -s, o, c;
  return R;
}

template <class T>
Eigen::Matrix<T, 3, 3> rotation_z(const T& angle) {
  using std::cos, std::sin;
  const T c = cos(angle), s = sin(angle), o(0), e(1);
  Eigen::Matrix<T, 3, 3> R;
  R << c, -s, o, s, c, o, o, o, e;
  return R;
}

// Turned about z by gamma, then about the new y by beta, then about the new x by alpha.
template <class T>
Eigen::Matrix<T, 3, 3> kardan(const T& alpha, const T& beta, const T& gamma) {
  return rotation_z(gamma) * rotation_y(beta) * rotation_x(alpha);
}

// Turned about z by psi, then about the new x by theta, then about the new z by phi.
template <class T>
Eigen::Matrix<T, 3, 3> euler(const T& psi, const T& theta, const T& phi) {
  return rotation_z(psi) * rotation_x(theta) * rotation_z(phi);
}

// --- Euler parameters theta = (theta_0, theta_1, theta_2, theta_3), theta_0 the scalar part (E-1) --------------------

template <class T>
Eigen::Matrix<T, 3, 3> rotation_from_euler_parameters(const Eigen::Matrix<T, 4, 1>& theta) {
  const T &t0 = theta[0], &t1 = theta[1], &t2 = theta[2], &t3 = theta[3];
  Eigen::Matrix<T, 3, 3> A;
  A << 2.0 * (t0 * t0 + t1 * t1) - 1.0, 2.0 * (t1 * t2 - t0 * t3), 2.0 * (t1 * t3 + t0 * t2),  //
      2.0 * (t1 * t2 + t0 * t3), 2.0 * (t0 * t0 + t2 * t2) - 1.0, 2.0 * (t2 * t3 - t0 * t1),   //
      2.0 * (t1 * t3 - t0 * t2), 2.0 * (t2 * t3 + t0 * t1), 2.0 * (t0 * t0 + t3 * t3) - 1.0;
  return A;
}

// G with Omega = G dtheta/dt, Omega in the axes of the body; G theta = 0, G G^T = 4 I, dtheta/dt = G^T Omega / 4.
template <class T>
Eigen::Matrix<T, 3, 4> euler_parameter_jacobian(const Eigen::Matrix<T, 4, 1>& theta) {
  const T t0 = 2.0 * theta[0], t1 = 2.0 * theta[1], t2 = 2.0 * theta[2], t3 = 2.0 * theta[3];
  Eigen::Matrix<T, 3, 4> G;
  G << -t1, t0, t3, -t2,  //
      -t2, -t3, t0, t1,   //
      -t3, t2, -t1, t0;
  return G;
}

}  // namespace clatter
