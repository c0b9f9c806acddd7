#include "shapes/polygon_manifold.hpp"

#include <algorithm>
#include <cmath>

namespace clatter::contact {

namespace {

// Feet this part of the sizes beyond the end of an edge are on it; separations that differ by less are equal.
constexpr double kRounding = 1e-9;

// One frame in another.
struct Relative {
  double c, s, x, y;  // p -> (c x - s y, s x + c y) + (x, y)
  Relative(const Frame2<double>& from, const Frame2<double>& to) {
    c = to.x.dot(from.x);
    s = to.y.dot(from.x);
    const Vec2 d = to.local(from.p);
    x = d.x();
    y = d.y();
  }
  Vec2 point(const Vec3& p) const { return {c * p.x() - s * p.y() + x, s * p.x() + c * p.y() + y}; }
  Vec2 direction(const Vec3& p) const { return {c * p.x() - s * p.y(), s * p.x() + c * p.y()}; }
};

struct Axis {
  double separation = -std::numeric_limits<double>::infinity();
  int edge = 0, vertex = 0;
};

// The edge of `polygon` with the largest separation from `other`, and the vertex of that which is nearest to it.
Axis best_axis(const Geometry& polygon, const Geometry& other, const Relative& to_polygon, double rounding) {
  Axis best;
  for (int e = 0; e < count_of(polygon.points); ++e) {
    const Vec2 m = flat(item(polygon.normals, e)), o = flat(item(polygon.points, e));
    // m . (T p - o) with the turn taken into m.
    const double mx = m.x() * to_polygon.c + m.y() * to_polygon.s, my = m.y() * to_polygon.c - m.x() * to_polygon.s;
    const double offset = m.x() * (to_polygon.x - o.x()) + m.y() * (to_polygon.y - o.y());
    double least = std::numeric_limits<double>::infinity();
    int nearest = 0;
    for (int i = 0; i < count_of(other.points); ++i) {
      const Vec3& p = item(other.points, i);
      const double d = mx * p.x() + my * p.y();
      if (d < least) {
        least = d;
        nearest = i;
      }
    }
    if (least + offset > best.separation + rounding) best = {least + offset, e, nearest};
  }
  return best;
}

double edge_length(const Geometry& g, int e) {
  return (item(g.points, (e + 1) % count_of(g.points)) - item(g.points, e)).norm();
}

double along_edge(const Geometry& g, int e, const Vec2& local) {
  const Vec3 &m = item(g.normals, e), &o = item(g.points, e);
  return (local.y() - o.y()) * m.x() - (local.x() - o.x()) * m.y();
}

}  // namespace

PolygonManifold polygon_manifold(const Geometry& first, const Geometry& second, const Frame2<double>& A,
                                 const Frame2<double>& B) {
  const double rounding = kRounding * (first.bound + second.bound);
  const Relative first_in_second(A, B), second_in_first(B, A);
  const Axis of_second = best_axis(second, first, first_in_second, rounding);
  const Axis of_first = best_axis(first, second, second_in_first, rounding);
  PolygonManifold out;
  out.edge_of_first = of_first.separation > of_second.separation + rounding;
  const Axis& axis = out.edge_of_first ? of_first : of_second;
  const Geometry &P = out.edge_of_first ? first : second, &Q = out.edge_of_first ? second : first;
  const Relative& q_in_p = out.edge_of_first ? second_in_first : first_in_second;
  const Relative& p_in_q = out.edge_of_first ? first_in_second : second_in_first;
  out.separation = axis.separation;
  out.edge = axis.edge;
  const int count_p = count_of(P.points), count_q = count_of(Q.points);
  const Vec2 m = flat(item(P.normals, axis.edge));
  const int before = (axis.vertex + count_q - 1) % count_q;
  const double facing_after = q_in_p.direction(item(Q.normals, axis.vertex)).dot(m),
               facing_before = q_in_p.direction(item(Q.normals, before)).dot(m);
  out.incident = facing_before < facing_after ? before : axis.vertex;

  const double length_e = edge_length(P, out.edge), length_f = edge_length(Q, out.incident);
  const auto within = [&](double along, double length) { return along >= -rounding && along <= length + rounding; };
  bool any = false;
  double on_e[2];
  for (int k = 0; k < 2; ++k) {
    const int q = (out.incident + k) % count_q;
    on_e[k] = along_edge(P, out.edge, q_in_p.point(item(Q.points, q)));
    if (!within(on_e[k], length_e)) continue;
    out.alive[0][k] = q;
    any = true;
  }
  for (int k = 0; k < 2; ++k) {
    const int p = (out.edge + k) % count_p;
    const Vec2 end = p_in_q.point(item(P.points, p));
    if (!within(along_edge(Q, out.incident, end), length_f)) continue;
    // Nothing is deeper than the way out. With the angle phi between the edges and the nearest vertex at depth d, the
    // end of e can be so by 1 / cos(phi), within d tan(phi) of that vertex and behind it: which then tells of it.
    const double depth = -flat(item(Q.normals, out.incident)).dot(end - flat(item(Q.points, out.incident)));
    if (out.separation < 0 && depth > -out.separation + rounding) continue;
    // Corner on corner is one point of contact, told by the other polygon's vertex.
    const double place = k == 0 ? 0 : length_e;
    const auto told = [&](int l) { return out.alive[0][l] >= 0 && std::abs(on_e[l] - place) <= rounding; };
    if (told(0) || told(1)) continue;
    out.alive[1][k] = p;
    any = true;
  }
  if (any) return out;
  if (out.separation <= 0) {
    // Overlapping without a foot on an edge (a sliver in a sliver): the deepest vertex decides.
    out.alive[0][0] = axis.vertex;
    return out;
  }
  out.apart = true;
  const double beyond = along_edge(P, out.edge, q_in_p.point(item(Q.points, axis.vertex)));
  out.distance = std::hypot(out.separation, beyond < 0 ? -beyond : beyond - length_e);
  return out;
}

}  // namespace clatter::contact
