// Dispatch of a pair to its kernel, in the kernel's order, and back to the model's; tangents.
#include "shapes/kernels_contour.hpp"
#include "shapes/kernels_cylinder.hpp"
#include "shapes/kernels_polytope.hpp"
#include "shapes/pairs.hpp"
#include "shapes/polygon_manifold.hpp"

namespace clatter::contact {

namespace {

// Slots: vertices of the first against the second, then of the second against the first.
template <class T>
bool polygon_polygon(const Geometry& a, const Geometry& b, int slot, const Frame2<T>& A, const Frame2<T>& B,
                     Branch& branch, Near2<T>& out) {
  const int count = count_of(a.points);
  const bool of_first = slot < count;
  const int vertex = of_first ? slot : slot - count;
  if constexpr (searching<T>) {
    const PolygonManifold manifold = polygon_manifold(a, b, A, B);
    branch.feature = manifold.touched_by(of_first, vertex);
    if (branch.feature < 0) {
      if (manifold.apart) out.gap = manifold.distance;
      return false;
    }
  }
  if (of_first) {
    point_against_edge<T>(A.point(item(a.points, vertex)), b, branch.feature, B, out);
  } else {
    point_against_edge<T>(B.point(item(b.points, vertex)), a, branch.feature, A, out);
    turn_round(out);
  }
  return true;
}

template <class T>
bool touch_planar(const Geometry& a, const Geometry& b, int slot, const Pose<T>& pose1, const Pose<T>& pose2,
                  Branch& branch, Near2<T>& out) {
  const Frame2<T> A(pose1), B(pose2);
  switch (pair_key(family(a.kind), family(b.kind))) {
    case pair_key(Family::circle, Family::circle):
      return circle_circle<T>(a, b, A, B, out);
    case pair_key(Family::circle, Family::contour):
      return ball_against_contour<T>(A.p, a.radius, a.hollow, b, B, branch.feature, branch.s1, out);
    case pair_key(Family::contour, Family::contour):
      return contour_contour<T>(a, b, A, B, branch, out);
    case pair_key(Family::contour, Family::polygon):
      return contour_polygon<T>(a, b, slot, A, B, branch, out);
    case pair_key(Family::contour, Family::line):
      return contour_line<T>(a, b, A, B, branch, out);
    case pair_key(Family::circle, Family::polygon):
      if (a.hollow) return hole_point<T>(a, A, B.point(item(b.points, slot)), out);
      return ball_against_polygon<T>(A.p, a.radius, b, B, branch, out);
    case pair_key(Family::circle, Family::line):
      if (a.hollow) return hole_point<T>(a, A, B.point(Vec2(slot == 0 ? b.length / 2 : -b.length / 2, 0)), out);
      return ball_against_line<T>(A.p, a.radius, b, B, branch, out);
    case pair_key(Family::polygon, Family::polygon):
      return polygon_polygon<T>(a, b, slot, A, B, branch, out);
    case pair_key(Family::polygon, Family::line):
      return polygon_line<T>(a, b, slot, A, B, branch, out);
  }
  return false;
}

template <class T>
bool touch_spatial(const Geometry& a, const Geometry& b, int slot, const Pose<T>& pose1, const Pose<T>& pose2,
                   Branch& branch, Near3<T>& out) {
  const Frame3<T> A(pose1), B(pose2);
  switch (pair_key(family(a.kind), family(b.kind))) {
    case pair_key(Family::sphere, Family::sphere):
      return sphere_sphere<T>(a, b, A, B, out);
    case pair_key(Family::sphere, Family::plane):
      out = ball_plane<T>(A.p, a.radius, B);
      return true;
    case pair_key(Family::sphere, Family::capsule):
      if (a.hollow) return hole_ball<T>(a, A, rod_end<T>(b, B, slot), b.radius, out);
      return ball_against_capsule<T>(A.p, a.radius, b, B, branch, out);
    case pair_key(Family::sphere, Family::cylinder):
      if (a.hollow) return cylinder_in_hole<T>(a, b, slot, A, B, branch, out);
      return ball_against_cylinder<T>(A.p, a.radius, b, B, branch, out);
    case pair_key(Family::sphere, Family::polytope):
      if (a.hollow) return hole_ball<T>(a, A, B.point(item(b.points, slot)), 0, out);
      return ball_against_polytope<T>(A.p, a.radius, b, B, branch, out);
    case pair_key(Family::capsule, Family::capsule):
      return capsule_capsule<T>(a, b, slot, A, B, branch, out);
    case pair_key(Family::capsule, Family::cylinder):
      return capsule_cylinder<T>(a, b, slot, A, B, branch, out);
    case pair_key(Family::capsule, Family::polytope):
      return capsule_polytope<T>(a, b, slot, A, B, branch, out);
    case pair_key(Family::capsule, Family::plane):
      out = ball_plane<T>(rod_end<T>(a, A, slot), a.radius, B);
      return true;
    case pair_key(Family::cylinder, Family::cylinder):
      return cylinder_cylinder<T>(a, b, slot, A, B, branch, out);
    case pair_key(Family::cylinder, Family::polytope):
      return cylinder_polytope<T>(a, b, slot, A, B, branch, out);
    case pair_key(Family::cylinder, Family::plane):
      return cylinder_plane<T>(a, slot, A, B, branch, out);
    case pair_key(Family::polytope, Family::polytope):
      return polytope_polytope<T>(a, b, slot, A, B, branch, out);
    case pair_key(Family::polytope, Family::plane):
      out = ball_plane<T>(A.point(item(a.points, slot)), 0, B);
      return true;
  }
  return false;
}

// t1 follows an axis of the second shape; another axis takes over before the first one points along n, and keeps the
// lead until it does so itself, so that the frame does not flicker.
template <class T>
void spatial_tangents(const Pose<T>& second, Branch& branch, Touch<T>& out) {
  constexpr double steep = 0.9;
  if constexpr (searching<T>) {
    if (std::abs(out.n.dot(second.R.col(branch.axis))) > steep) branch.axis = 1 - branch.axis;
  }
  const V3<T> axis = second.R.col(branch.axis);
  const V3<T> t = axis - out.n * out.n.dot(axis);
  out.t1 = t / length_of<T, 3>(t);
  out.t2 = out.n.cross(out.t1);
}

template <class T>
V3<T> lifted(const V2<T>& v, const T& z) {
  return {v.x(), v.y(), z};
}

}  // namespace

template <class T>
bool touch(const Geometry& first, const Geometry& second, int slot, const Pose<T>& pose1, const Pose<T>& pose2,
           Branch& branch, Touch<T>& out) {
  const bool turned = swapped(first, second);
  const Geometry &a = turned ? second : first, &b = turned ? first : second;
  const Pose<T>&pose_a = turned ? pose2 : pose1, &pose_b = turned ? pose1 : pose2;
  if (first.planar()) {
    Near2<T> near;
    near.gap = out.gap;
    if (!touch_planar<T>(a, b, slot, pose_a, pose_b, branch, near)) {
      out.gap = near.gap;
      return false;
    }
    if (turned) turn_round(near);
    const T zero(0.0), z = (pose1.p.z() + pose2.p.z()) * 0.5;  // one plane for both points
    out.gap = near.gap;
    out.margin = near.margin;
    out.n = lifted<T>(near.n, zero);
    out.t1 = V3<T>(near.n.y(), -near.n.x(), zero);
    out.t2 = V3<T>(zero, zero, T(-1.0));
    out.p1 = lifted<T>(near.p1, z);
    out.p2 = lifted<T>(near.p2, z);
    return true;
  }
  Near3<T> near;
  if (!touch_spatial<T>(a, b, slot, pose_a, pose_b, branch, near)) return false;
  if (turned) turn_round(near);
  out.gap = near.gap;
  out.margin = near.margin;
  out.n = near.n;
  out.p1 = near.p1;
  out.p2 = near.p2;
  spatial_tangents<T>(pose2, branch, out);
  return true;
}

template bool touch(const Geometry&, const Geometry&, int, const Pose<double>&, const Pose<double>&, Branch&,
                    Touch<double>&);
template bool touch(const Geometry&, const Geometry&, int, const Pose<Jet<double>>&, const Pose<Jet<double>>&, Branch&,
                    Touch<Jet<double>>&);
template bool touch(const Geometry&, const Geometry&, int, const Pose<Jet<Dual<24>>>&, const Pose<Jet<Dual<24>>>&,
                    Branch&, Touch<Jet<Dual<24>>>&);

}  // namespace clatter::contact
