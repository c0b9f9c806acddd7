// Strains of cables and beams in absolute nodal coordinates, at one point of the axis.
//
// A law sees a few vectors X = (x_1 .. x_k), derivatives of the position r(x, y, z) that are linear in the nodal
// coordinates, and gives its strains s(X), their gradients, and for given stresses sigma the matrix sum sigma_i d2s_i.
// With the section's stiffness D and damping E the chain of elements makes of them (per length, at a point)
//
//   force  G^T sigma,  sigma = D (s - s_0) + E ds/dt,  G = ds/dX
//   K      G^T D G + sum sigma_i d2s_i + G^T E d(ds/dt)/dX,     C = G^T E G
//
// Stretch    (r')                      |r'| - 1                                     cables
// Bend2      (r', r'')                 r' x r'' / |r'|^2 = d(angle)/dx               planar cables
// Bend3      (r', r'')                 the same as a vector, world axes              spatial cables; no damping
// Shear2     (r', r_y, r_y')           Gamma_1, Gamma_2, K of Simo and Vu-Quoc (Y-5) planar beams
// Height2    (r_y)                     E_yy = (r_y.r_y - 1)/2                        planar beams
// Plane      (r_x, r_y)                E_xx, E_yy, 2 E_xy (Y-6)                      planar beams, continuum
// Section3   (r_y, r_z)                E_yy, E_zz, 2 E_yz                            spatial beams
//
// (Shear3, of spatial beams, is in ancf_strains_spatial.hpp.) Angles are those of complex numbers: with z = x + i y,
// grad arg z = (Im, Re) 1/z, and its further derivatives those of log z.
#pragma once

#include "base/math.hpp"

namespace clatter::ancf {

using Vec2 = Eigen::Vector2d;
using Mat2 = Eigen::Matrix2d;

// First to third derivatives of arg(x + i y).
struct AngleDerivatives {
  Vec2 h;         // gradient
  Mat2 H;         // second derivative
  double im, re;  // of 2/z^3

  explicit AngleDerivatives(const Vec2& d) {
    const double x = d.x(), y = d.y(), i2 = 1 / (x * x + y * y);
    h << -y * i2, x * i2;
    const double re2 = -(h.y() * h.y() - h.x() * h.x()), im2 = -2 * h.x() * h.y();  // -1/z^2, 1/z = h.y + i h.x
    H << im2, re2, re2, -im2;
    re = -2 * (re2 * h.y() - im2 * h.x());
    im = -2 * (re2 * h.x() + im2 * h.y());
  }
  // Third derivative contracted with c.
  Mat2 third(const Vec2& c) const {
    Mat2 T;
    T << c.x() * im + c.y() * re, c.x() * re - c.y() * im, c.x() * re - c.y() * im, -c.x() * im - c.y() * re;
    return T;
  }
};

template <int Dim, int K, int S>
struct Law {
  static constexpr int dim = Dim, vectors = K, strains = S, variables = K * Dim;
  using X = Eigen::Matrix<double, variables, 1>;
  using Strain = Eigen::Matrix<double, S, 1>;
  using Gradient = Eigen::Matrix<double, S, variables>;
  using Hessian = Eigen::Matrix<double, variables, variables>;
};

template <int Dim>
struct Stretch : Law<Dim, 1, 1> {
  using Base = Law<Dim, 1, 1>;
  static void strain(const typename Base::X& u, typename Base::Strain& s) { s[0] = u.norm() - 1; }
  static void gradient(const typename Base::X& u, typename Base::Strain& s, typename Base::Gradient& G) {
    const double length = u.norm();
    s[0] = length - 1;
    G = u.transpose() / length;
  }
  static void hessian(const typename Base::X& u, const typename Base::Strain& sigma, typename Base::Hessian& H) {
    const double a = u.squaredNorm(), c = sigma[0] / std::sqrt(a);
    H.noalias() = (-c / a) * u * u.transpose();
    H.diagonal().array() += c;
  }
};

struct Bend2 : Law<2, 2, 1> {
  static void strain(const X& x, Strain& s) { s[0] = (x[0] * x[3] - x[1] * x[2]) / (x[0] * x[0] + x[1] * x[1]); }
  static void gradient(const X& x, Strain& s, Gradient& G) {
    const double i2 = 1 / (x[0] * x[0] + x[1] * x[1]), k = (x[0] * x[3] - x[1] * x[2]) * i2;
    s[0] = k;
    G << (x[3] - 2 * k * x[0]) * i2, (-x[2] - 2 * k * x[1]) * i2, -x[1] * i2, x[0] * i2;
  }
  static void hessian(const X& x, const Strain& sigma, Hessian& H) {
    const AngleDerivatives angle(x.head<2>());
    H.topLeftCorner<2, 2>() = sigma[0] * angle.third(x.tail<2>());
    H.topRightCorner<2, 2>() = sigma[0] * angle.H;
    H.bottomLeftCorner<2, 2>() = sigma[0] * angle.H;
    H.bottomRightCorner<2, 2>().setZero();
  }
};

struct Bend3 : Law<3, 2, 3> {
  static void strain(const X& x, Strain& s) {
    const Vec3 u = x.head<3>(), w = x.tail<3>();
    s = u.cross(w) / u.squaredNorm();
  }
  static void gradient(const X& x, Strain& s, Gradient& G) {
    const Vec3 u = x.head<3>(), w = x.tail<3>();
    const double i2 = 1 / u.squaredNorm();
    s = u.cross(w) * i2;
    G.leftCols<3>() = -i2 * (skew<double>(w) + 2 * s * u.transpose());
    G.rightCols<3>() = i2 * skew<double>(u);
  }
  // f = sigma.(u x w)/|u|^2
  static void hessian(const X& x, const Strain& sigma, Hessian& H) {
    const Vec3 u = x.head<3>(), w = x.tail<3>(), p = w.cross(sigma), n = sigma.cross(u);
    const double i2 = 1 / u.squaredNorm(), f = sigma.dot(u.cross(w)) * i2;
    const Mat3 pu = p * u.transpose();
    Mat3 uu = (-2 * i2 * i2) * (pu + pu.transpose()) + (8 * f * i2 * i2) * u * u.transpose();
    uu.diagonal().array() -= 2 * f * i2;
    const Mat3 uw = -i2 * (skew<double>(sigma) + 2 * i2 * u * n.transpose());
    H.topLeftCorner<3, 3>() = uu;
    H.topRightCorner<3, 3>() = uw;
    H.bottomLeftCorner<3, 3>() = uw.transpose();
    H.bottomRightCorner<3, 3>().setZero();
  }
};

struct Shear2 : Law<2, 3, 3> {
  static void strain(const X& x, Strain& s) {
    const double ry = std::sqrt(x[2] * x[2] + x[3] * x[3]), i = 1 / ry;
    s[0] = (x[3] * x[0] - x[2] * x[1]) * i - 1;
    s[1] = (x[2] * x[0] + x[3] * x[1]) * i;
    s[2] = (x[2] * x[5] - x[3] * x[4]) * i * i;
  }
  static void gradient(const X& x, Strain& s, Gradient& G) {
    strain(x, s);
    const AngleDerivatives angle(x.segment<2>(2));
    const double i = 1 / std::sqrt(x[2] * x[2] + x[3] * x[3]);
    const Vec2 e1(x[3] * i, -x[2] * i), e2(x[2] * i, x[3] * i), turn = angle.H * x.tail<2>();
    G.row(0) << e1.transpose(), s[1] * angle.h.transpose(), 0, 0;
    G.row(1) << e2.transpose(), -(1 + s[0]) * angle.h.transpose(), 0, 0;
    G.row(2) << 0, 0, turn.transpose(), angle.h.transpose();
  }
  static void hessian(const X& x, const Strain& sigma, Hessian& H) {
    Strain s;
    strain(x, s);
    const AngleDerivatives angle(x.segment<2>(2));
    const double i = 1 / std::sqrt(x[2] * x[2] + x[3] * x[3]);
    const Vec2 e1(x[3] * i, -x[2] * i), e2(x[2] * i, x[3] * i);
    const Mat2 mixed = (sigma[0] * e2 - sigma[1] * e1) * angle.h.transpose();
    H.setZero();
    H.block<2, 2>(0, 2) = mixed;
    H.block<2, 2>(2, 0) = mixed.transpose();
    H.block<2, 2>(2, 2) = -(sigma[0] * (1 + s[0]) + sigma[1] * s[1]) * angle.h * angle.h.transpose() +
                          (sigma[0] * s[1] - sigma[1] * (1 + s[0])) * angle.H + sigma[2] * angle.third(x.tail<2>());
    H.block<2, 2>(2, 4) = sigma[2] * angle.H;
    H.block<2, 2>(4, 2) = sigma[2] * angle.H;
  }
};

struct Height2 : Law<2, 1, 1> {
  static void strain(const X& d, Strain& s) { s[0] = 0.5 * (d.squaredNorm() - 1); }
  static void gradient(const X& d, Strain& s, Gradient& G) {
    strain(d, s);
    G = d.transpose();
  }
  static void hessian(const X&, const Strain& sigma, Hessian& H) { H = sigma[0] * Hessian::Identity(); }
};

// Green's strains of two vectors: (a.a - 1)/2, (b.b - 1)/2, a.b
template <int Dim>
struct Green : Law<Dim, 2, 3> {
  using Base = Law<Dim, 2, 3>;
  static void strain(const typename Base::X& x, typename Base::Strain& s) {
    const auto a = x.template head<Dim>();
    const auto b = x.template tail<Dim>();
    s << 0.5 * (a.squaredNorm() - 1), 0.5 * (b.squaredNorm() - 1), a.dot(b);
  }
  static void gradient(const typename Base::X& x, typename Base::Strain& s, typename Base::Gradient& G) {
    strain(x, s);
    const auto a = x.template head<Dim>().transpose();
    const auto b = x.template tail<Dim>().transpose();
    G.setZero();
    G.template block<1, Dim>(0, 0) = a;
    G.template block<1, Dim>(1, Dim) = b;
    G.template block<1, Dim>(2, 0) = b;
    G.template block<1, Dim>(2, Dim) = a;
  }
  static void hessian(const typename Base::X&, const typename Base::Strain& sigma, typename Base::Hessian& H) {
    H.setZero();
    for (int c = 0; c < Dim; ++c) {
      H(c, c) = sigma[0];
      H(Dim + c, Dim + c) = sigma[1];
      H(c, Dim + c) = H(Dim + c, c) = sigma[2];
    }
  }
};
using Plane = Green<2>;
using Section3 = Green<3>;

}  // namespace clatter::ancf
