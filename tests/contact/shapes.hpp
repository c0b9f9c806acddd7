// Shapes and motions that the tests of contact geometry share.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "shapes/shape.hpp"

namespace clatter::contact {

std::shared_ptr<const Expression> formula_of_s(const std::string& text);  // in formula_test.cpp

inline ContactShape shape_of(ContactShape::Kind kind) {
  ContactShape s;
  s.name = "part";
  s.kind = kind;
  return s;
}
inline Geometry line(double length = 0) {
  ContactShape s = shape_of(ContactShape::Kind::line);
  s.length = length;
  return make_geometry(s);
}
inline Geometry round(ContactShape::Kind kind, double radius, bool hollow = false) {
  ContactShape s = shape_of(kind);
  s.radius = radius;
  s.hollow = hollow;
  return make_geometry(s);
}
inline Geometry circle(double radius, bool hollow = false) { return round(ContactShape::Kind::circle, radius, hollow); }
inline Geometry sphere(double radius, bool hollow = false) { return round(ContactShape::Kind::sphere, radius, hollow); }
inline Geometry plane() { return make_geometry(shape_of(ContactShape::Kind::plane)); }
inline Geometry ellipse(double a, double b) {
  ContactShape s = shape_of(ContactShape::Kind::ellipse);
  s.size = {a, b, 0};
  return make_geometry(s);
}
inline Geometry of_points(ContactShape::Kind kind, std::vector<Vec3> points, bool closed = false) {
  ContactShape s = shape_of(kind);
  s.points = std::move(points);
  s.closed = closed;
  return make_geometry(s);
}
inline Geometry pentagon() {
  return of_points(ContactShape::Kind::polygon,
                   {{0.6, -0.5, 0}, {0.9, 0.3, 0}, {0.1, 0.8, 0}, {-0.7, 0.4, 0}, {-0.5, -0.6, 0}});
}
inline Geometry square(double side) {
  const double h = side / 2;
  return of_points(ContactShape::Kind::polygon, {{-h, -h, 0}, {h, -h, 0}, {h, h, 0}, {-h, h, 0}});
}
inline Geometry curve(const std::string& x, const std::string& y, double from, double to) {
  ContactShape s = shape_of(ContactShape::Kind::curve);
  s.x = formula_of_s(x);
  s.y = formula_of_s(y);
  s.from = from;
  s.to = to;
  return make_geometry(s);
}
// A hilly road, run from right to left: material below.
inline Geometry road() { return curve("-s", "0.1*sin(3*s)", -2, 2); }
inline Geometry box(const Vec3& size) {
  ContactShape s = shape_of(ContactShape::Kind::box);
  s.size = size;
  return make_geometry(s);
}
inline Geometry rod(ContactShape::Kind kind, double radius, double length) {
  ContactShape s = shape_of(kind);
  s.radius = radius;
  s.length = length;
  return make_geometry(s);
}
inline Geometry capsule(double radius, double length) { return rod(ContactShape::Kind::capsule, radius, length); }
inline Geometry cylinder(double radius, double length) { return rod(ContactShape::Kind::cylinder, radius, length); }
inline Geometry wedge() {
  return of_points(ContactShape::Kind::polytope,
                   {{-0.6, -0.5, -0.3}, {0.7, -0.4, -0.4}, {0.5, 0.6, -0.35}, {-0.5, 0.5, -0.3}, {0.1, -0.1, 0.6}});
}

// Position and three angles (about x, then y, then z) as quadratics of time.
struct Motion {
  Vec3 p, v, a;
  Vec3 angle, rate, second;

  template <class T>
  Pose<T> at(const T& t) const {
    using std::cos, std::sin;
    Pose<T> pose;
    M3<T> R = M3<T>::Identity();
    for (int i = 0; i < 3; ++i) {
      pose.p[i] = t * t * (a[i] / 2) + t * v[i] + p[i];
      const T phi = t * t * (second[i] / 2) + t * rate[i] + angle[i];
      const T c = cos(phi), s = sin(phi);
      M3<T> E = M3<T>::Identity();
      const int j = (i + 1) % 3, k = (i + 2) % 3;
      E(j, j) = c;
      E(k, k) = c;
      E(j, k) = -s;
      E(k, j) = s;
      R = (E * R).eval();
    }
    pose.R = R;
    return pose;
  }
};

inline Motion planar_motion(double x, double y, double vx, double vy, double ax, double ay, double phi, double w,
                            double dw) {
  return {{x, y, 0}, {vx, vy, 0}, {ax, ay, 0}, {0, 0, phi}, {0, 0, w}, {0, 0, dw}};
}

}  // namespace clatter::contact
