// Kernels of spatial pairs: point and ball against plane, capsule, cylinder and convex polytope, edge against edge.
//
// A convex polytope has faces with outward normals f through o: distance of a point f . (c - o), of the body the
// largest of these. Features of ball against polytope: face, faces + edge, faces + edges + vertex.
#pragma once

#include "contact/kernels.hpp"

namespace clatter::contact {

template <class T>
using Near3 = Near<T, 3>;

// A shape's frame in space.
template <class T>
struct Frame3 {
  V3<T> x, y, z, p;
  explicit Frame3(const Pose<T>& pose) : x(pose.R.col(0)), y(pose.R.col(1)), z(pose.R.col(2)), p(pose.p) {}
  V3<T> direction(const Vec3& v) const { return x * v.x() + y * v.y() + z * v.z(); }
  V3<T> point(const Vec3& v) const { return p + direction(v); }
  V3<T> local(const V3<T>& w) const {
    const V3<T> d = w - p;
    return {x.dot(d), y.dot(d), z.dot(d)};
  }
};

// Ball against the plane through o with outward normal m, both in the axes of `frame`.
template <class T>
Near3<T> ball_plane(const V3<T>& c, double radius, const Frame3<T>& frame, const Vec3& o, const Vec3& m) {
  Near3<T> out;
  out.n = frame.direction(m);
  const T y = out.n.dot(V3<T>(c - frame.point(o)));
  out.gap = y - radius;
  out.p1 = c - out.n * radius;
  out.p2 = c - out.n * y;
  return out;
}

template <class T>
Near3<T> ball_plane(const V3<T>& c, double radius, const Frame3<T>& frame) {
  return ball_plane<T>(c, radius, frame, Vec3::Zero(), Vec3::UnitZ());
}

template <class T>
bool sphere_sphere(const Geometry& a, const Geometry& b, const Frame3<T>& A, const Frame3<T>& B, Near3<T>& out) {
  out = b.hollow ? ball_in_hole<T, 3>(A.p, a.radius, B.p, b.radius, B.z)
                 : ball_ball<T, 3>(A.p, a.radius, B.p, b.radius, B.z);
  return true;
}

// A ball of the second body in the hollow sphere of the first.
template <class T>
bool hole_ball(const Geometry& hole, const Frame3<T>& A, const V3<T>& c, double radius, Near3<T>& out) {
  out = ball_in_hole<T, 3>(c, radius, A.p, hole.radius, A.z);
  turn_round(out);
  return true;
}

}  // namespace clatter::contact
