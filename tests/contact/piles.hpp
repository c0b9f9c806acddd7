// Random piles of convex polygons in the plane.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include "contact/models.hpp"

namespace clatter::contact {

struct Polygon {
  std::vector<Vec3> points;      // about the centre of mass
  double area = 0, inertia = 0;  // inertia for unit density
};

// Corners on an ellipse, at angles that differ by enough for all corners to be corners.
inline Polygon random_polygon(std::mt19937& random, double size) {
  std::uniform_real_distribution<double> u(0, 1);
  const int n = 3 + static_cast<int>(random() % 5);
  const double flat = 0.4 + 0.6 * u(random);
  std::vector<double> angle;
  double sum = 0;
  for (int i = 0; i < n; ++i) angle.push_back(sum += 0.4 + u(random));
  Polygon out;
  for (double& a : angle) {
    a *= 2 * std::numbers::pi / sum;
    out.points.push_back(Vec3(size * std::cos(a), flat * size * std::sin(a), 0));
  }
  Vec3 centre = Vec3::Zero();
  for (int i = 0; i < n; ++i) {
    const Vec3 &p = out.points[static_cast<std::size_t>(i)], &q = out.points[static_cast<std::size_t>((i + 1) % n)];
    const double cross = p.x() * q.y() - p.y() * q.x();
    out.area += cross / 2;
    centre += (p + q) * cross / 6;
    out.inertia += cross * (p.dot(p) + p.dot(q) + q.dot(q)) / 12;
  }
  centre /= out.area;
  out.inertia -= out.area * centre.squaredNorm();
  double reach = 0;
  for (Vec3& p : out.points) reach = std::max(reach, (p -= centre).norm());
  // All of it within `size` of the centre.
  const double scale = size / reach;
  for (Vec3& p : out.points) p *= scale;
  out.area *= scale * scale;
  out.inertia *= scale * scale * scale * scale;
  return out;
}

struct Pile {
  Model model;
  double length = 0, mass = 0;  // largest size of a body, sum of masses
};

// 3 to 12 polygons, of sizes 4 to 12 cm, over a floor or in a box, moving at up to 1 m/s.
inline Pile random_pile(unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> u(-1, 1), w(0, 1);
  const int n = 3 + static_cast<int>(random() % 10);
  const bool boxed = random() % 2 == 0, mixed = random() % 2 == 0;
  const double e = 0.5 * w(random), mu = w(random), pitch = 0.25;
  const int columns = std::max(1, static_cast<int>(std::sqrt(n)));
  Pile out;
  ModelMaker m(Vec3(0, -9.81, 0));
  std::vector<int> fixed{m.line(-1)};
  if (boxed) {
    const double half = 0.5 * pitch * columns + 0.02;
    fixed.push_back(m.line(-1, -std::numbers::pi / 2, Vec3(-half, 0, 0)));
    fixed.push_back(m.line(-1, std::numbers::pi / 2, Vec3(half, 0, 0)));
  }
  std::vector<int> shapes;
  for (int i = 0; i < n; ++i) {
    const double size = 0.04 + 0.08 * w(random);
    const Polygon polygon = random_polygon(random, size);
    const double density = 100 * (1 + 4 * w(random));
    const Vec3 at(pitch * (i % columns - 0.5 * (columns - 1)), 0.13 + pitch * (i / columns), 0);
    const int body = m.planar_body(density * polygon.area, density * polygon.inertia, at, Vec3(u(random), u(random), 0),
                                   std::numbers::pi * u(random), 3 * u(random));
    m.shape(body, ContactShape::Kind::polygon).points = polygon.points;
    const int shape = m.last_shape();
    const auto touch = [&](int other) {
      m.contact(shape, other, mixed ? e * w(random) : e, mixed ? mu * w(random) : mu);
    };
    for (const int other : fixed) touch(other);
    for (const int other : shapes) touch(other);
    shapes.push_back(shape);
    out.length = std::max(out.length, 2 * size);
    out.mass += density * polygon.area;
  }
  out.model = m.model;
  return out;
}

}  // namespace clatter::contact
