#include "model/beam.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace clatter {

void BeamSource::straight(const Vec3& from, const Vec3& to, const Vec3& up) {
  const Vec3 along = (to - from).normalized();
  Vec3 y = up - along * along.dot(up);
  if (y.norm() < 1e-6) y = along.unitOrthogonal();
  y.normalize();
  Mat3 axes;
  axes << along, y, along.cross(y);
  const int n = node_count();
  nodes.clear();
  for (int i = 0; i < n; ++i) nodes.push_back({from + (to - from) * (static_cast<double>(i) / (n - 1)), Quat(axes)});
  lengths.assign(static_cast<std::size_t>(elements), (to - from).norm() / elements);
}

Placement BeamSource::at(double s, double side_y, double side_z) const {
  const double x = std::clamp(s, 0.0, 1.0) * elements;
  const int e = std::min(static_cast<int>(x), elements - 1), first = e * (nodes_of_element() - 1);
  const double z = x - e, L = lengths[static_cast<std::size_t>(e)];
  const auto node = [&](int a) -> const Placement& { return nodes[static_cast<std::size_t>(first + a)]; };
  const auto axis = [&](int a, int k) { return Vec3(node(a).rotation * Vec3::Unit(k)); };
  Placement out;
  Mat3 R;
  if (element == Element::cable) {
    const Vec3 p0 = node(0).position, p1 = node(1).position, t0 = axis(0, 0), t1 = axis(1, 0);
    out.position = (1 + z * z * (2 * z - 3)) * p0 + L * z * (1 + z * (z - 2)) * t0 + z * z * (3 - 2 * z) * p1 +
                   L * z * z * (z - 1) * t1;
    const Vec3 t = (6 * z * (z - 1) / L * (p0 - p1) + (1 + z * (3 * z - 4)) * t0 + z * (3 * z - 2) * t1).normalized();
    // The axes of the node before, turned the shortest way.
    R = Quat::FromTwoVectors(t0, t).toRotationMatrix() * node(0).rotation.toRotationMatrix();
  } else {
    const double xi = 2 * z - 1, N[3] = {0.5 * xi * (xi - 1), 1 - xi * xi, 0.5 * xi * (xi + 1)};
    Vec3 ry = Vec3::Zero(), rz = Vec3::Zero();
    out.position.setZero();
    for (int a = 0; a < 3; ++a) {
      out.position += N[a] * node(a).position;
      ry += N[a] * axis(a, 1);
      rz += N[a] * axis(a, 2);
    }
    out.position += side_y * ry + side_z * rz;
    const Vec3 e3 = rz.normalized(), e1 = ry.cross(rz).normalized();
    R << e1, e3.cross(e1), e3;
  }
  out.rotation = Quat(R).normalized();
  return out;
}

void BeamSource::rectangle(double y, double z, double young_modulus, double poisson_ratio, double density) {
  const double A = y * z, G = young_modulus / (2 * (1 + poisson_ratio));
  const double shear = 10 * (1 + poisson_ratio) / (12 + 11 * poisson_ratio);  // Cowper
  const double a = std::max(y, z), b = std::min(y, z);
  // Saint-Venant's torsion constant: the leading term of the series and a correction, better than 0.5 %
  const double torsion = a * b * b * b * (1.0 / 3 - 0.21 * b / a * (1 - std::pow(b / a, 4) / 12));
  young = young_modulus;
  poisson = poisson_ratio;
  width = size_y = y;
  depth = size_z = z;
  EA = young * A;
  GAy = GAz = shear * G * A;
  GJ = G * torsion;
  EIz = young * z * y * y * y / 12;
  EIy = young * y * z * z * z / 12;
  rhoA = density * A;
  rhoIz = density * z * y * y * y / 12;
  rhoIy = density * y * z * z * z / 12;
}

void BeamSource::circle(double diameter, double young_modulus, double poisson_ratio, double density) {
  const double r = diameter / 2, A = std::numbers::pi * r * r, I = A * r * r / 4;
  const double G = young_modulus / (2 * (1 + poisson_ratio));
  const double shear = 6 * (1 + poisson_ratio) / (7 + 6 * poisson_ratio);  // Cowper
  young = young_modulus;
  poisson = poisson_ratio;
  size_y = size_z = diameter;
  EA = young * A;
  GAy = GAz = shear * G * A;
  GJ = 2 * G * I;
  EIy = EIz = young * I;
  rhoA = density * A;
  rhoIy = rhoIz = density * I;
}

}  // namespace clatter
