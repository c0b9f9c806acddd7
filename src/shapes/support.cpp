#include "shapes/support.hpp"

#include <cmath>

#include "shapes/contour.hpp"

namespace clatter::contact {

using Kind = ContactShape::Kind;

bool has_support(const Geometry& g) {
  if (g.hollow || is_endless(g)) return false;
  return !is_contour(g.kind) || g.convex;
}

double core_bound(const Geometry& g) {
  if (is_round(g)) return 0;
  return g.kind == Kind::capsule ? g.length / 2 : g.bound;
}

Vec3 support_point(const Geometry& g, const Vec3& m) {
  switch (g.kind) {
    case Kind::circle:
    case Kind::sphere:
    case Kind::plane:
      return Vec3::Zero();
    case Kind::line:
      return {m.x() < 0 ? -g.length / 2 : g.length / 2, 0, 0};
    case Kind::capsule:
      return {0, 0, m.z() < 0 ? -g.length / 2 : g.length / 2};
    case Kind::cylinder: {
      const double across = std::hypot(m.x(), m.y()), half = m.z() < 0 ? -g.length / 2 : g.length / 2;
      if (across == 0) return {0, 0, half};
      return {g.radius * m.x() / across, g.radius * m.y() / across, half};
    }
    case Kind::ellipse: {
      const double ax = g.size.x() * m.x(), by = g.size.y() * m.y(), size = std::hypot(ax, by);
      if (size == 0) return Vec3::Zero();
      return {g.size.x() * ax / size, g.size.y() * by / size, 0};
    }
    case Kind::curve:
    case Kind::spline: {
      double s = 0;
      lowest_along(g, Vec2(-m.x(), -m.y()), false, s);
      const Vec2 r = contour_at(g, s).r;
      return {r.x(), r.y(), 0};
    }
    case Kind::polygon:
    case Kind::box:
    case Kind::polytope:
      break;
  }
  const Vec3* best = g.points.data();
  double most = best->dot(m);
  for (const Vec3& p : g.points) {
    const double x = p.dot(m);
    if (x > most) {
      most = x;
      best = &p;
    }
  }
  return *best;
}

}  // namespace clatter::contact
