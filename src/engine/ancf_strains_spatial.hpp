// Strains of Simo and Vu-Quoc for spatial beams in absolute nodal coordinates (structural mechanics approach of
// Nachbagauer, Gruber and Gerstmayr 2013), and the axes of a section that they are measured in.
//
//   e3 = r_z/|r_z|,  e1 = (r_y x r_z)/|r_y x r_z|,  e2 = e3 x e1
//   Gamma = (e1.r' - 1, e2.r', e3.r'),  K: e_i' = K x e_i, components along e1, e2, e3
//
// With p = r_y.e2, q = r_y.e3, z = |r_z| a change of the section's vectors turns the axes by phi (along e1, e2, e3)
//
//   phi_1 = -e2.dr_z/z,   phi_2 = e1.dr_z/z,   phi_3 = -e1.dr_y/p + q/(z p) e1.dr_z
//
// and K is phi of (r_y', r_z'). Gradients are by hand, their derivatives by dual numbers on the same lines.
#pragma once

#include "base/dual.hpp"
#include "engine/ancf_strains.hpp"

namespace clatter::ancf {

template <class T>
using V3 = Eigen::Matrix<T, 3, 1>;

template <class T>
struct SectionAxes {
  V3<T> e1, e2, e3;
  T p, q, z;
  SectionAxes(const V3<T>& ry, const V3<T>& rz) {
    using std::sqrt;
    z = sqrt(T(rz.dot(rz)));
    e3 = rz / z;
    const V3<T> n = ry.cross(rz);
    e1 = n / T(sqrt(T(n.dot(n))));
    e2 = e3.cross(e1);
    p = ry.dot(e2);
    q = ry.dot(e3);
  }
  // phi of (dry, drz)
  V3<T> turn(const V3<T>& dry, const V3<T>& drz) const {
    const T a = e1.dot(drz) / z;
    return V3<T>(-e2.dot(drz) / z, a, (q * a - e1.dot(dry)) / p);
  }
};

// X = (r', r_y, r_z, r_y', r_z')
struct Shear3 : Law<3, 5, 6> {
  template <class T>
  static void evaluate(const Eigen::Matrix<T, 15, 1>& x, Eigen::Matrix<T, 6, 1>& s, Eigen::Matrix<T, 6, 15>* gradient) {
    const V3<T> u = x.template segment<3>(0), ry = x.template segment<3>(3), rz = x.template segment<3>(6);
    const V3<T> b = x.template segment<3>(9), c = x.template segment<3>(12);
    const SectionAxes<T> A(ry, rz);
    const V3<T> K = A.turn(b, c);
    const V3<T> g(A.e1.dot(u), A.e2.dot(u), A.e3.dot(u));
    s << g[0] - 1.0, g[1], g[2], K[0], K[1], K[2];
    if (!gradient) return;
    Eigen::Matrix<T, 6, 15>& G = *gradient;
    for (int i = 0; i < 6; ++i)
      for (int j = 0; j < 15; ++j) G(i, j) = T(0.0);
    const T iz = 1.0 / A.z, ip = 1.0 / A.p, qzp = A.q * iz * ip;
    const T c1 = A.e1.dot(c), c2 = A.e2.dot(c), c3 = A.e3.dot(c), b1 = A.e1.dot(b), b2 = A.e2.dot(b), b3 = A.e3.dot(b);
    for (int k = 0; k < 3; ++k) {
      G(0, k) = A.e1[k];
      G(1, k) = A.e2[k];
      G(2, k) = A.e3[k];
      G(3, 12 + k) = -A.e2[k] * iz;
      G(4, 12 + k) = A.e1[k] * iz;
      G(5, 9 + k) = -A.e1[k] * ip;
      G(5, 12 + k) = A.e1[k] * qzp;
    }
    // Through the axes: one column for each component of r_y and r_z.
    for (int k = 0; k < 6; ++k) {
      const bool of_z = k >= 3;
      const int i = k % 3;
      const T f1 = of_z ? T(-A.e2[i] * iz) : T(0.0), f2 = of_z ? T(A.e1[i] * iz) : T(0.0);
      const T f3 = of_z ? T(A.e1[i] * qzp) : T(-A.e1[i] * ip);
      const T dz = of_z ? T(A.e3[i]) : T(0.0);
      const T dp = (of_z ? T(0.0) : T(A.e2[i])) + f1 * A.q, dq = (of_z ? T(0.0) : T(A.e3[i])) - f1 * A.p;
      const T dc1 = f3 * c2 - f2 * c3, dc2 = f1 * c3 - f3 * c1, db1 = f3 * b2 - f2 * b3;
      const int column = 3 + k;
      G(0, column) = f3 * g[1] - f2 * g[2];
      G(1, column) = f1 * g[2] - f3 * g[0];
      G(2, column) = f2 * g[0] - f1 * g[1];
      G(3, column) = (c2 * iz * dz - dc2) * iz;
      G(4, column) = (dc1 - c1 * iz * dz) * iz;
      G(5, column) = (b1 * ip * dp - db1) * ip + qzp * dc1 + c1 * iz * ip * (dq - A.q * (iz * dz + ip * dp));
    }
  }
  static void strain(const X& x, Strain& s) { evaluate<double>(x, s, nullptr); }
  static void gradient(const X& x, Strain& s, Gradient& G) { evaluate<double>(x, s, &G); }
  static void hessian(const X& x, const Strain& sigma, Hessian& H);  // ancf_strains_spatial.cpp
};

}  // namespace clatter::ancf
