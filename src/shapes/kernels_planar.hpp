// Kernels of planar pairs without contours: point and ball against line, corner and convex polygon.
//
// Everything happens in the plane z = const. A line or edge with outward normal m through o: distance y = m . (c - o);
// a convex polygon: the distance of a point is the largest of those to its edges, negative exactly inside.
// Features of ball against polygon: edge e, or count + corner. Of ball against line: 0 face, 1 and 2 the ends.
#pragma once

#include "shapes/kernels.hpp"

namespace clatter::contact {

template <class T>
using V2 = Eigen::Matrix<T, 2, 1>;
using Vec2 = Eigen::Vector2d;

template <class T>
using Near2 = Near<T, 2>;

// A shape's frame in the plane.
template <class T>
struct Frame2 {
  V2<T> x, y, p;
  explicit Frame2(const Pose<T>& pose)
      : x(pose.R.col(0).template head<2>()), y(pose.R.col(1).template head<2>()), p(pose.p.template head<2>()) {}
  V2<T> direction(const Vec2& v) const { return x * v.x() + y * v.y(); }
  V2<T> point(const Vec2& v) const { return p + direction(v); }
  V2<T> point(const Vec3& v) const { return p + x * v.x() + y * v.y(); }
  V2<T> local(const V2<T>& w) const {
    const V2<T> d = w - p;
    return {x.dot(d), y.dot(d)};
  }
};

inline Vec2 flat(const Vec3& v) { return v.head<2>(); }

// Ball against the line through o with outward normal m, both in the axes of `frame`.
template <class T>
Near2<T> ball_line(const V2<T>& c, double radius, const Frame2<T>& frame, const Vec2& o, const Vec2& m) {
  Near2<T> out;
  out.n = frame.direction(m);
  const T y = out.n.dot(V2<T>(c - frame.point(o)));
  out.gap = y - radius;
  out.p1 = c - out.n * radius;
  out.p2 = c - out.n * y;
  return out;
}

template <class T>
Near2<T> ball_corner(const V2<T>& c, double radius, const Frame2<T>& frame, const Vec2& corner) {
  return ball_ball<T, 2>(c, radius, frame.point(corner), 0, frame.y);
}

// Ball against a line shape. A point has nothing to touch beyond the end of a line; a ball touches the end itself. A
// line of finite length is taken to be as deep as half its length: what is below did not come through it.
template <class T>
bool ball_against_line(const V2<T>& c, double radius, const Geometry& line, const Frame2<T>& frame, Branch& branch,
                       Near2<T>& out) {
  const double half = line.length / 2;
  if (line.length == 0) {
    branch.feature = 0;
    out = ball_line<T>(c, radius, frame, Vec2::Zero(), Vec2::UnitY());
    return true;
  }
  const V2<T> local = frame.local(c);
  if constexpr (searching<T>) {
    branch.feature = local.x() > half ? 1 : (local.x() < -half ? 2 : 0);
    if (local.y() < -half) return false;
  }
  if (branch.feature == 0) {
    out = ball_line<T>(c, radius, frame, Vec2::Zero(), Vec2::UnitY());
    out.margin = value(local.x()) > 0 ? T(half - local.x()) : T(local.x() + half);
    return true;
  }
  if (radius == 0) return false;
  const double end = branch.feature == 1 ? half : -half;
  out = ball_corner<T>(c, radius, frame, {end, 0});
  out.margin = branch.feature == 1 ? T(local.x() - half) : T(-half - local.x());
  return true;
}

// The edge whose line is farthest below the point; `second` the next largest distance.
inline int outermost_edge(const Geometry& polygon, const Vec2& c, double& largest, double& second) {
  int edge = 0;
  largest = second = -std::numeric_limits<double>::infinity();
  for (int i = 0; i < count_of(polygon.points); ++i) {
    const double d = flat(item(polygon.normals, i)).dot(c - flat(item(polygon.points, i)));
    if (d > largest) {
      second = largest;
      largest = d;
      edge = i;
    } else if (d > second) {
      second = d;
    }
  }
  return edge;
}

template <class T>
T edge_distance(const Geometry& polygon, int i, const V2<T>& c) {
  const Vec3 &m = item(polygon.normals, i), &o = item(polygon.points, i);
  return (c.x() - o.x()) * m.x() + (c.y() - o.y()) * m.y();
}

// Distance of the foot of c on edge i to the edge's nearer end; negative beyond it.
template <class T>
T edge_overhang(const Geometry& polygon, int i, const V2<T>& c) {
  const Vec3 &m = item(polygon.normals, i), &o = item(polygon.points, i);
  const double length = (item(polygon.points, (i + 1) % count_of(polygon.points)) - o).norm();
  const T along = (c.y() - o.y()) * m.x() - (c.x() - o.x()) * m.y();  // the edge runs along (-m_y, m_x)
  return smaller<T>(along, length - along);
}

// Point against edge e of a polygon. The margin is the distance of the foot from the edge's ends.
template <class T>
void point_against_edge(const V2<T>& c, const Geometry& polygon, int e, const Frame2<T>& frame, Near2<T>& out) {
  out = ball_line<T>(c, 0, frame, flat(item(polygon.points, e)), flat(item(polygon.normals, e)));
  out.margin = edge_overhang<T>(polygon, e, frame.local(c));
}

// Point against polygon: the edge with the largest distance. The margin is how much it leads; outside, where that says
// little, it also ends with the edge.
template <class T>
bool point_against_polygon(const V2<T>& c, const Geometry& polygon, const Frame2<T>& frame, Branch& branch,
                           Near2<T>& out) {
  const V2<T> local = frame.local(c);
  double largest, second;
  const int edge = outermost_edge(polygon, {value(local.x()), value(local.y())}, largest, second);
  if constexpr (searching<T>) branch.feature = edge;
  const int e = branch.feature;
  out = ball_line<T>(c, 0, frame, flat(item(polygon.points, e)), flat(item(polygon.normals, e)));
  T next = -far_away;
  for (int i = 0; i < count_of(polygon.points); ++i) {
    if (i == e) continue;
    const T d = edge_distance<T>(polygon, i, local);
    if (value(d) > value(next)) next = d;
  }
  out.margin = smaller<T>(edge_distance<T>(polygon, e, local) - next, edge_overhang<T>(polygon, e, local));
  return true;
}

// Ball against polygon: nearest edge or corner outside, outermost edge inside.
template <class T>
bool ball_against_polygon(const V2<T>& c, double radius, const Geometry& polygon, const Frame2<T>& frame,
                          Branch& branch, Near2<T>& out) {
  const V2<T> local = frame.local(c);
  const int count = count_of(polygon.points);
  if constexpr (searching<T>) {
    double largest, second;
    branch.feature = outermost_edge(polygon, local, largest, second);
    if (largest > 0) {
      double nearest = std::numeric_limits<double>::infinity();
      for (int i = 0; i < count; ++i) {
        const double d = edge_distance<double>(polygon, i, local);
        if (d > 0 && edge_overhang<double>(polygon, i, local) >= 0 && d < nearest) {
          nearest = d;
          branch.feature = i;
        }
        const double r = (local - flat(item(polygon.points, i))).norm();
        if (r < nearest) {
          nearest = r;
          branch.feature = count + i;
        }
      }
    }
  }
  if (branch.feature < count) {
    const int e = branch.feature;
    out = ball_line<T>(c, radius, frame, flat(item(polygon.points, e)), flat(item(polygon.normals, e)));
    out.margin = edge_overhang<T>(polygon, e, local);
    if (value(edge_distance<T>(polygon, e, local)) < 0) {
      for (int i = 0; i < count; ++i)
        if (i != e)
          out.margin =
              smaller<T>(out.margin, edge_distance<T>(polygon, e, local) - edge_distance<T>(polygon, i, local));
    }
    return true;
  }
  const int k = branch.feature - count, before = (k + count - 1) % count;
  const Vec3 &v = item(polygon.points, k), &m = item(polygon.normals, k), &w = item(polygon.normals, before);
  out = ball_corner<T>(c, radius, frame, flat(v));
  const T along = (local.y() - v.y()) * m.x() - (local.x() - v.x()) * m.y();
  const T back = (local.y() - v.y()) * w.x() - (local.x() - v.x()) * w.y();
  out.margin = smaller<T>(-along, back);
  return true;
}

// --- slots of pairs --------------------------------------------------------------------------------------------------

template <class T>
bool circle_circle(const Geometry& a, const Geometry& b, const Frame2<T>& A, const Frame2<T>& B, Near2<T>& out) {
  out = b.hollow ? ball_in_hole<T, 2>(A.p, a.radius, B.p, b.radius, B.x)
                 : ball_ball<T, 2>(A.p, a.radius, B.p, b.radius, B.x);
  return true;
}

// A point of the second body in the hollow circle of the first.
template <class T>
bool hole_point(const Geometry& hole, const Frame2<T>& A, const V2<T>& point, Near2<T>& out) {
  out = ball_in_hole<T, 2>(point, 0, A.p, hole.radius, A.x);
  turn_round(out);
  return true;
}

template <class T>
bool polygon_line(const Geometry& a, const Geometry& b, int slot, const Frame2<T>& A, const Frame2<T>& B,
                  Branch& branch, Near2<T>& out) {
  const int count = count_of(a.points);
  if (slot < count) return ball_against_line<T>(A.point(item(a.points, slot)), 0, b, B, branch, out);
  const double end = (slot == count ? 0.5 : -0.5) * b.length;
  point_against_polygon<T>(B.point(Vec2(end, 0)), a, A, branch, out);
  turn_round(out);
  return true;
}

}  // namespace clatter::contact
