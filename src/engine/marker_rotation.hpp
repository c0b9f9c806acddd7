// Angular velocity and acceleration of a rotation exp(psi) against the frame it turns in, in that frame's axes:
//   w = Gamma(psi) psi',  Gamma = T^T of V-3: w = psi' + c psi x psi' + k psi x (psi x psi')
// by time jets of the one formula, on any scalar.
#pragma once

#include "base/jet.hpp"
#include "base/rotation.hpp"

namespace clatter {

template <class T>
void marker_spin(const Eigen::Matrix<T, 3, 1>& psi, const Eigen::Matrix<T, 3, 1>& psid,
                 const Eigen::Matrix<T, 3, 1>& psidd, Eigen::Matrix<T, 3, 1>& w, Eigen::Matrix<T, 3, 1>& wd) {
  using J = Jet<T>;
  J p[3], r[3], u[3], uu[3];
  for (int i = 0; i < 3; ++i) {
    p[i] = J(psi[i], psid[i]);
    r[i] = J(psid[i], psidd[i]);
  }
  const auto cross = [](const J* a, const J* b, J* out) {
    for (int i = 0; i < 3; ++i) {
      const int j = (i + 1) % 3, k = (i + 2) % 3;
      out[i] = a[j] * b[k] - a[k] * b[j];
    }
  };
  cross(p, r, u);
  cross(p, u, uu);
  const J x = p[0] * p[0] + p[1] * p[1] + p[2] * p[2];
  const J c = rotation_detail::cosc(x), k = rotation_detail::sinc3(x);
  for (int i = 0; i < 3; ++i) {
    const J wi = r[i] + c * u[i] + k * uu[i];
    w[i] = wi.v;
    wd[i] = wi.d;
  }
}

// T(psi) s = s - c psi x s + k psi x (psi x s)
template <class T>
Eigen::Matrix<T, 3, 1> right_jacobian_times(const Eigen::Matrix<T, 3, 1>& psi, const Vec3& s) {
  const T x = psi.squaredNorm();
  const Eigen::Matrix<T, 3, 1> st = s.cast<T>(), u = psi.cross(st);
  return st - u * rotation_detail::cosc(x) + psi.cross(u) * rotation_detail::sinc3(x);
}

}  // namespace clatter
