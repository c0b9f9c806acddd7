// Shear factors after Cowper (1966): rectangle 10 (1+nu)/(12+11 nu), circle 6 (1+nu)/(7+6 nu), thick ring
// 6 (1+nu) (1+m^2)^2 / ((7+6 nu) (1+m^2)^2 + (20+12 nu) m^2) with m = inner/outer. Torsion of a rectangle a x b, a >=
// b: a b^3 (1/3 - 64/pi^5 b/a sum tanh(n pi a/2b)/n^5), n odd (Saint-Venant).
#include "fem/material.hpp"

#include <Eigen/Dense>
#include <cmath>
#include <numbers>

#include "base/error.hpp"

namespace clatter::fem {
namespace {

constexpr double pi = std::numbers::pi;

// Compliance in material axes, order 11, 22, 33, 12, 23, 31.
Mat6 compliance(const Orthotropic& o) {
  Mat6 S = Mat6::Zero();
  for (int i = 0; i < 3; ++i) S(i, i) = 1 / o.E[i];
  S(0, 1) = S(1, 0) = -o.nu12 / o.E[0];
  S(1, 2) = S(2, 1) = -o.nu23 / o.E[1];
  S(0, 2) = S(2, 0) = -o.nu13 / o.E[0];
  S(3, 3) = 1 / o.G12;
  S(4, 4) = 1 / o.G23;
  S(5, 5) = 1 / o.G13;
  return S;
}

// Strains in material axes from strains in mesh axes: eps' = A^T eps A.
Mat6 strain_rotation(const Mat3& A) {
  constexpr int row[6] = {0, 1, 2, 0, 1, 2}, col[6] = {0, 1, 2, 1, 2, 0};
  Mat6 T;
  for (int j = 0; j < 6; ++j) {
    Mat3 e = Mat3::Zero();
    const double half = j < 3 ? 1 : 0.5;
    e(row[j], col[j]) = half;
    e(col[j], row[j]) = half;
    const Mat3 m = A.transpose() * e * A;
    for (int i = 0; i < 6; ++i) T(i, j) = m(row[i], col[i]) * (i < 3 ? 1 : 2);
  }
  return T;
}

}  // namespace

void check_material(const Material& m) {
  const auto need = [](bool good, const char* what) {
    if (!good) throw InputError(what);
  };
  need(m.density > 0 && std::isfinite(m.density), "a flexible body needs a material with a positive density");
  if (!m.orthotropic) {
    need(m.young > 0 && std::isfinite(m.young), "a flexible body needs a material with a positive Young's modulus");
    need(m.poisson > -1 && m.poisson < 0.5, "Poisson's ratio must lie between -1 and 0.5");
    return;
  }
  const Orthotropic& o = *m.orthotropic;
  for (double x : {o.E[0], o.E[1], o.E[2], o.G12, o.G23, o.G13})
    need(x > 0 && std::isfinite(x), "the moduli of an orthotropic material must be positive");
  need(Eigen::LLT<Mat6>(compliance(o)).info() == Eigen::Success,
       "the orthotropic material has strains with negative energy: its ratios nu are too large");
  need((o.axes.transpose() * o.axes - Mat3::Identity()).norm() < 1e-9, "the axes of the material are not orthogonal");
}

Mat6 elasticity(const Material& m) {
  if (m.orthotropic) {
    const Mat6 T = strain_rotation(m.orthotropic->axes);
    return T.transpose() * compliance(*m.orthotropic).inverse() * T;
  }
  const double E = m.young, nu = m.poisson;
  const double lambda = E * nu / ((1 + nu) * (1 - 2 * nu)), mu = E / (2 * (1 + nu));
  Mat6 D = Mat6::Zero();
  D.topLeftCorner<3, 3>().setConstant(lambda);
  for (int i = 0; i < 3; ++i) {
    D(i, i) += 2 * mu;
    D(i + 3, i + 3) = mu;
  }
  return D;
}

Mat3 plane_elasticity(const Material& m, bool plane_strain) {
  const Mat6 D = elasticity(m);
  constexpr int in[3] = {0, 1, 3};
  Mat3 P;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) P(i, j) = D(in[i], in[j]);
  if (plane_strain) return P;
  // No stress out of the plane: zz, yz, zx are condensed.
  constexpr int out[3] = {2, 4, 5};
  Mat3 Q, O;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      Q(i, j) = D(in[i], out[j]);
      O(i, j) = D(out[i], out[j]);
    }
  return P - Q * O.inverse() * Q.transpose();
}

void check_section(const BeamSection& s) {
  const auto need = [](bool good, const char* what) {
    if (!good) throw InputError(what);
  };
  need(s.area > 0, "beam elements need a section with a positive area");
  need(s.Iy > 0 && s.Iz > 0, "beam elements need positive second moments of area");
  need(s.torsion > 0, "beam elements need a positive torsion constant");
  need(s.shear_y >= 0 && s.shear_z >= 0, "shear factors must not be negative");
}

BeamSection annular_section(double outer, double inner, double nu, bool shear) {
  BeamSection s;
  const double a = outer / 2, b = inner / 2, m2 = (b / a) * (b / a);
  s.area = pi * (a * a - b * b);
  s.Iy = s.Iz = pi / 4 * (std::pow(a, 4) - std::pow(b, 4));
  s.torsion = 2 * s.Iy;
  if (shear)
    s.shear_y = s.shear_z =
        6 * (1 + nu) * (1 + m2) * (1 + m2) / ((7 + 6 * nu) * (1 + m2) * (1 + m2) + (20 + 12 * nu) * m2);
  return s;
}

BeamSection circular_section(double diameter, double nu, bool shear) { return annular_section(diameter, 0, nu, shear); }

BeamSection rectangular_section(double y, double z, double nu, bool shear) {
  BeamSection s;
  s.area = y * z;
  s.Iy = y * z * z * z / 12;
  s.Iz = z * y * y * y / 12;
  const double a = std::max(y, z), b = std::min(y, z);
  double sum = 0;
  for (int n = 1; n < 60; n += 2) sum += std::tanh(n * pi * a / (2 * b)) / std::pow(n, 5);
  s.torsion = a * b * b * b * (1.0 / 3 - 64 / std::pow(pi, 5) * b / a * sum);
  if (shear) s.shear_y = s.shear_z = 10 * (1 + nu) / (12 + 11 * nu);
  return s;
}

}  // namespace clatter::fem
