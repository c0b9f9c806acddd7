// Kernels of spatial pairs: point and ball against plane, capsule, cylinder and convex polytope, edge against edge.
//
// A convex polytope has faces with outward normals f through o: distance of a point f . (c - o), of the body the
// largest of these. Features of ball against polytope: face, faces + edge, faces + edges + vertex.
#pragma once

#include <numbers>

#include "shapes/kernels.hpp"

namespace clatter::contact {

template <class T>
using V2 = Eigen::Matrix<T, 2, 1>;
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

// --- rods: capsule and cylinder --------------------------------------------------------------------------------------

// Ball against the capsule: 0 its side, 1 and 2 its ends.
template <class T>
bool ball_against_capsule(const V3<T>& c, double radius, const Geometry& g, const Frame3<T>& frame, Branch& branch,
                          Near3<T>& out) {
  const double half = g.length / 2;
  const T z = frame.z.dot(V3<T>(c - frame.p));
  if constexpr (searching<T>) branch.feature = z > half ? 1 : (z < -half ? 2 : 0);
  const T foot = branch.feature == 0 ? z : T(branch.feature == 1 ? half : -half);
  out = ball_ball<T, 3>(c, radius, frame.p + frame.z * foot, g.radius, frame.x);
  const T inside = value(z) > 0 ? T(half - z) : T(z + half);
  out.margin = branch.feature == 0 ? inside : T(-inside);
  return true;
}

// Ball against the cylinder: 0 its side, 1 and 2 its caps, 3 and 4 the rims. A point touches no rim: outside, it
// belongs to the surface it is farther from, as with polytopes.
template <class T>
bool ball_against_cylinder(const V3<T>& c, double radius, const Geometry& g, const Frame3<T>& frame, Branch& branch,
                           Near3<T>& out) {
  const double half = g.length / 2;
  const V3<T> local = frame.local(c);
  const T z = local.z();
  const T rho = length_of<T, 2>(V2<T>(local.x(), local.y()));
  const bool up = searching<T> ? value(z) >= 0 : branch.feature % 2 == 1;
  if constexpr (searching<T>) {
    const double side = rho - g.radius, cap = std::abs(z) - half;
    branch.feature = side > cap ? 0 : (up ? 1 : 2);
    if (side > 0 && cap > 0 && radius > 0) branch.feature = up ? 3 : 4;
  }
  const T over_cap = (branch.feature == 0 ? value(z) >= 0 : up) ? T(z - half) : T(-z - half);
  const T over_side = rho - g.radius;
  if (branch.feature == 0) {
    out = ball_ball<T, 3>(c, radius, frame.p + frame.z * z, g.radius, frame.x);
    out.margin = value(over_side) > 0 && radius > 0 ? T(-over_cap) : T(over_side - over_cap);
  } else if (branch.feature <= 2) {
    const double end = up ? half : -half;
    out = ball_plane<T>(c, radius, frame, Vec3(0, 0, end), Vec3(0, 0, up ? 1 : -1));
    out.margin = value(over_cap) > 0 && radius > 0 ? T(-over_side) : T(over_cap - over_side);
  } else {
    const V3<T> outward = (frame.x * local.x() + frame.y * local.y()) / rho;
    const V3<T> rim = frame.p + frame.z * (up ? half : -half) + outward * g.radius;
    out = ball_ball<T, 3>(c, radius, rim, 0, frame.z);
    out.margin = smaller<T>(over_side, over_cap);
  }
  return true;
}

// Feet of the common perpendicular of two lines a + s e, unit directions: s and u on the first and second, and the
// product N = e1 x e2.
template <class T>
struct Perpendicular {
  V3<T> N, p1, p2;
  T s, u;
  bool parallel;
  Perpendicular(const V3<T>& a1, const V3<T>& e1, const V3<T>& a2, const V3<T>& e2) : N(e1.cross(e2)) {
    const T square = N.dot(N);
    parallel = value(square) < 1e-12;
    if (parallel) return;
    const V3<T> d = a1 - a2;
    s = -(d.cross(e2).dot(N)) / square;
    u = -(d.cross(e1).dot(N)) / square;
    p1 = a1 + e1 * s;
    p2 = a2 + e2 * u;
  }
};

// Two rods, balls swept along their axes, touching between their ends. Axes that meet have no direction but that of
// their common perpendicular.
template <class T>
bool rod_rod(const V3<T>& c1, const V3<T>& e1, double half1, double r1, const V3<T>& c2, const V3<T>& e2, double half2,
             double r2, Near3<T>& out) {
  const Perpendicular<T> feet(c1, e1, c2, e2);
  if (feet.parallel) return false;
  if constexpr (searching<T>) {
    if (std::abs(feet.s) > half1 || std::abs(feet.u) > half2) return false;
  }
  out = ball_ball<T, 3>(feet.p1, r1, feet.p2, r2, feet.N / length_of<T, 3>(feet.N));
  const T m1 = value(feet.s) > 0 ? T(half1 - feet.s) : T(feet.s + half1);
  const T m2 = value(feet.u) > 0 ? T(half2 - feet.u) : T(feet.u + half2);
  out.margin = smaller<T>(m1, m2);
  return true;
}

template <class T>
V3<T> rod_end(const Geometry& g, const Frame3<T>& frame, int which) {
  return frame.p + frame.z * (which == 0 ? g.length / 2 : -g.length / 2);
}

// Slots: ends of the first against the second; ends of the second against the side of the first (end against end was
// told before); the two sides, crossed. Parallel capsules so have two supports.
template <class T>
bool capsule_capsule(const Geometry& a, const Geometry& b, int slot, const Frame3<T>& A, const Frame3<T>& B,
                     Branch& branch, Near3<T>& out) {
  if (slot < 2) return ball_against_capsule<T>(rod_end<T>(a, A, slot), a.radius, b, B, branch, out);
  if (slot < 4) {
    ball_against_capsule<T>(rod_end<T>(b, B, slot - 2), b.radius, a, A, branch, out);
    turn_round(out);
    return branch.feature == 0;
  }
  branch.feature = 0;
  return rod_rod<T>(A.p, A.z, a.length / 2, a.radius, B.p, B.z, b.length / 2, b.radius, out);
}

// Point `which` (0 to 3) of the rim `up` of a cylinder over a plane with normal n. 0 is the deepest, and moves round
// the rim; where the cylinder stands so upright that it has no deepest point, and for the others, a quarter turn each
// from it, the point is one of the body. These stay where they are while the cylinder is nearly upright, the only time
// they bear anything: a support must not run round the rim of a coin that comes to rest by steps. Where positions are
// followed (Branch) they keep their quarter turns: a deepest point that rolls over one that stays would touch it
// without speed. Point 0 is then the deepest or the highest, whichever continues the last accepted position, and point
// 2 the other one: a drum that rocks over from one side to the other stands on point 2. Features: 0 deepest, 1 of the
// body, 2 highest.
template <class T>
V3<T> rim_point(const Geometry& g, const Frame3<T>& frame, bool up, int which, const V3<T>& n, Branch& branch) {
  constexpr double upright = 1e-7, nearly_upright = 1e-2;
  const T nx = frame.x.dot(n), ny = frame.y.dot(n);
  const T tilt = length_of<T, 2>(V2<T>(nx, ny));
  if constexpr (searching<T>) {
    const bool known = branch.feature >= 0;
    bool highest = false;
    if (tilt > upright) {
      const double deepest = std::atan2(-ny, -nx);
      if (!known) branch.s2 = deepest;
      highest = branch.followed && std::cos(deepest - branch.s2) < 0;
      if (!known || branch.followed || tilt > nearly_upright)
        branch.s1 = highest ? deepest + std::numbers::pi : deepest;
      branch.here = branch.s1;
    } else if (known && branch.followed) {
      // Flat: as at the last accepted position, whatever trial steps and outputs have looked at since.
      branch.s1 = branch.here = branch.s2;
    }
    branch.feature = 1;
    if (tilt > upright && which == 0) branch.feature = highest ? 2 : 0;
    if (tilt > upright && which == 2 && branch.followed) branch.feature = highest ? 0 : 2;
  }
  const V3<T> centre = frame.p + frame.z * (up ? g.length / 2 : -g.length / 2);
  if (branch.feature != 1)
    return centre - (frame.x * nx + frame.y * ny) * ((branch.feature == 0 ? g.radius : -g.radius) / tilt);
  const double angle = branch.s1 + which * std::numbers::pi / 2;
  return centre + frame.x * (g.radius * std::cos(angle)) + frame.y * (g.radius * std::sin(angle));
}

template <class T>
bool cylinder_plane(const Geometry& a, int slot, const Frame3<T>& A, const Frame3<T>& B, Branch& branch,
                    Near3<T>& out) {
  out = ball_plane<T>(rim_point<T>(a, A, slot < 4, slot % 4, B.z, branch), 0, B);
  return true;
}

}  // namespace clatter::contact
