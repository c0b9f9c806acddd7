// In the axes of the beam, bending in the x-y plane (v, theta = rotation about z), s = x/L, Phi = 12 E I/(k G A L^2),
// c = 1/(1 + Phi) (Friedman and Kosmatka 1993):
//   v     = c (1 - 3 s^2 + 2 s^3 + Phi (1 - s)) v1 + c L (s - 2 s^2 + s^3 + Phi/2 (s - s^2)) theta1
//         + c (3 s^2 - 2 s^3 + Phi s) v2           + c L (-s^2 + s^3 - Phi/2 (s - s^2)) theta2
//   theta = 6 c/L (s^2 - s) v1 + c (1 - 4 s + 3 s^2 + Phi (1 - s)) theta1
//         - 6 c/L (s^2 - s) v2 + c (3 s^2 - 2 s + Phi s) theta2
// Bending in x-z is the same with w and -theta_y. Phi = 0 gives Euler and Bernoulli's beam (with rotatory inertia).
#include <cmath>

#include "base/error.hpp"
#include "fem/element.hpp"

namespace clatter::fem {
namespace {

using Row4 = Eigen::Matrix<double, 1, 4>;

struct Bending {
  Row4 v, theta;
};

Bending shapes(double s, double L, double Phi) {
  const double c = 1 / (1 + Phi);
  Bending b;
  b.v << c * (1 - 3 * s * s + 2 * s * s * s + Phi * (1 - s)),
      c * L * (s - 2 * s * s + s * s * s + Phi / 2 * (s - s * s)), c * (3 * s * s - 2 * s * s * s + Phi * s),
      c * L * (-s * s + s * s * s - Phi / 2 * (s - s * s));
  b.theta << 6 * c / L * (s * s - s), c * (1 - 4 * s + 3 * s * s + Phi * (1 - s)), -6 * c / L * (s * s - s),
      c * (3 * s * s - 2 * s + Phi * s);
  return b;
}

// Slope dv/dx: the derivative of v.
Row4 slope(double s, double L, double Phi) {
  const double c = 1 / (1 + Phi);
  Row4 r;
  r << c / L * (-6 * s + 6 * s * s - Phi), c * (1 - 4 * s + 3 * s * s + Phi / 2 * (1 - 2 * s)),
      c / L * (6 * s - 6 * s * s + Phi), c * (-2 * s + 3 * s * s - Phi / 2 * (1 - 2 * s));
  return r;
}

double shear_parameter(double E, double I, double k, double G, double A, double L) {
  return k > 0 ? 12 * E * I / (k * G * A * L * L) : 0;
}

struct Local {
  double L, E, G, Phi_y, Phi_z;  // Phi_y: bending in x-y (I about z, shear along y)
  Mat3 axes;
  Mat12 T;  // to the beam's axes
  Local(const Vec3& a, const Vec3& b, const Properties& p) {
    L = (b - a).norm();
    E = p.material.young;
    G = E / (2 * (1 + p.material.poisson));
    const BeamSection& s = p.section;
    Phi_y = shear_parameter(E, s.Iz, s.shear_y, G, s.area, L);
    Phi_z = shear_parameter(E, s.Iy, s.shear_z, G, s.area, L);
    axes = beam_axes(a, b, s);
    T.setZero();
    for (int i = 0; i < 4; ++i) T.block<3, 3>(3 * i, 3 * i) = axes;
  }
};

// Places of v1, theta1, v2, theta2 in the twelve freedoms, and the sign of the rotation.
constexpr int in_xy[4] = {1, 5, 7, 11};
constexpr int in_xz[4] = {2, 4, 8, 10};

void add_bending(Mat12& M, const Eigen::Matrix4d& m, bool xz) {
  const int* at = xz ? in_xz : in_xy;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      const double sign = xz && (i % 2 != j % 2) ? -1 : 1;
      M(at[i], at[j]) += sign * m(i, j);
    }
}

Eigen::Matrix4d bending_stiffness(double EI, double L, double Phi) {
  Eigen::Matrix4d k;
  k << 12, 6 * L, -12, 6 * L, 6 * L, (4 + Phi) * L * L, -6 * L, (2 - Phi) * L * L, -12, -6 * L, 12, -6 * L, 6 * L,
      (2 - Phi) * L * L, -6 * L, (4 + Phi) * L * L;
  return EI / (L * L * L * (1 + Phi)) * k;
}

Eigen::Matrix4d bending_mass(double rhoA, double rhoI, double L, double Phi) {
  Eigen::Matrix4d m = Eigen::Matrix4d::Zero();
  for (const auto& q : mass_rule(ElementType::line2)) {
    const Bending b = shapes(0.5 * (1 + q.xi[0]), L, Phi);
    m += 0.5 * L * q.weight * (rhoA * b.v.transpose() * b.v + rhoI * b.theta.transpose() * b.theta);
  }
  return m;
}

}  // namespace

Mat3 beam_axes(const Vec3& a, const Vec3& b, const BeamSection& s) {
  const Vec3 x = (b - a).normalized();
  Vec3 up = s.up;
  if (up.norm() > 0 && up.normalized().cross(x).norm() < 1e-6)
    throw InputError("the direction `up` of a beam's section is along the beam");
  if (up.norm() == 0) up = std::abs(x.z()) < 0.99 ? Vec3(Vec3::UnitZ().cross(x)) : Vec3(Vec3::UnitX());
  const Vec3 z = x.cross(up).normalized();
  Mat3 R;
  R << x.transpose(), z.cross(x).transpose(), z.transpose();
  return R;
}

void beam_stiffness(const Vec3& a, const Vec3& b, const Properties& p, Mat12& K) {
  const Local l(a, b, p);
  const BeamSection& s = p.section;
  Mat12 k = Mat12::Zero();
  const double ea = l.E * s.area / l.L, gj = l.G * s.torsion / l.L;
  k(0, 0) = k(6, 6) = ea;
  k(0, 6) = k(6, 0) = -ea;
  k(3, 3) = k(9, 9) = gj;
  k(3, 9) = k(9, 3) = -gj;
  add_bending(k, bending_stiffness(l.E * s.Iz, l.L, l.Phi_y), false);
  add_bending(k, bending_stiffness(l.E * s.Iy, l.L, l.Phi_z), true);
  K.noalias() = l.T.transpose() * k * l.T;
}

void beam_mass(const Vec3& a, const Vec3& b, const Properties& p, MassKind kind, Mat12& M) {
  const Local l(a, b, p);
  const BeamSection& s = p.section;
  const double rho = p.material.density, rhoA = rho * s.area;
  const double rhoJ = rho * (s.polar > 0 ? s.polar : s.Iy + s.Iz);
  Mat12 m = Mat12::Zero();
  if (kind == MassKind::lumped) {
    for (int i : {0, 1, 2, 6, 7, 8}) m(i, i) = rhoA * l.L / 2;
    for (int i : {3, 9}) m(i, i) = rhoJ * l.L / 2;
    for (int i : {4, 10}) m(i, i) = rho * s.Iy * l.L / 2;
    for (int i : {5, 11}) m(i, i) = rho * s.Iz * l.L / 2;
  } else {
    m(0, 0) = m(6, 6) = rhoA * l.L / 3;
    m(0, 6) = m(6, 0) = rhoA * l.L / 6;
    m(3, 3) = m(9, 9) = rhoJ * l.L / 3;
    m(3, 9) = m(9, 3) = rhoJ * l.L / 6;
    add_bending(m, bending_mass(rhoA, rho * s.Iz, l.L, l.Phi_y), false);
    add_bending(m, bending_mass(rhoA, rho * s.Iy, l.L, l.Phi_z), true);
  }
  M.noalias() = l.T.transpose() * m * l.T;
}

void beam_geometric(const Vec3& a, const Vec3& b, const Properties& p, Mat12& G) {
  const Local l(a, b, p);
  Mat12 g = Mat12::Zero();
  Eigen::Matrix4d y = Eigen::Matrix4d::Zero(), z = y;
  for (const auto& q : mass_rule(ElementType::line2)) {
    const double s = 0.5 * (1 + q.xi[0]), w = 0.5 * l.L * q.weight;
    const Row4 ry = slope(s, l.L, l.Phi_y), rz = slope(s, l.L, l.Phi_z);
    y += w * ry.transpose() * ry;
    z += w * rz.transpose() * rz;
  }
  add_bending(g, y, false);
  add_bending(g, z, true);
  G.noalias() = l.T.transpose() * g * l.T;
}

double beam_axial_force(const Vec3& a, const Vec3& b, const Properties& p, const Eigen::Matrix<double, 12, 1>& u) {
  const Vec3 d = b - a;
  const double L = d.norm();
  return p.material.young * p.section.area / L * d.dot(u.segment<3>(6) - u.head<3>()) / L;
}

Mat3x12 beam_interpolation(const Vec3& a, const Vec3& b, const Properties& p, double s) {
  const Local l(a, b, p);
  Mat3x12 H = Mat3x12::Zero();
  H(0, 0) = 1 - s;
  H(0, 6) = s;
  const Row4 v = shapes(s, l.L, l.Phi_y).v, w = shapes(s, l.L, l.Phi_z).v;
  for (int i = 0; i < 4; ++i) {
    H(1, in_xy[i]) = v[i];
    H(2, in_xz[i]) = (i % 2 != 0 ? -1 : 1) * w[i];
  }
  return l.axes.transpose() * H * l.T;
}

}  // namespace clatter::fem
