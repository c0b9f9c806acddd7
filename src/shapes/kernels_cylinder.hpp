// Kernels of cylinders with capsules, polytopes, each other and in a hollow sphere: what a rim touches.
//
// A rim p(s) = c + r (x cos s + y sin s) has the tangent t and outward normals between its radius and the normal of its
// cap. Places that the searches of rim_search.hpp find are written as functions of the poses: conditions of nearness
//
//   rim and side    w . t = 0                    w from the axis of the other to p, across it
//   rim and edge    the same, n = t x e up to its sign: right also where they meet
//   two rims        d . t1 = 0,  d . t2 = 0      d = p1 - p2;  n = t1 x t2 up to its sign: right also where d = 0
//
// are solved again in the kernel's scalar by simplified Newton steps. Two rims, or rim and edge, whose tangents are
// parallel have n along d, as long as there is one; so have a vertex and its nearest point of a rim.
//
// Features: 0 to 2 rim on the upper cap, 3 to 5 on the lower one (rim_point); 10 and 11 two rims, or rim and edge, with
// n = +-t1 x t2, 12 with n along d; 20 rim and side; 30 and 31 side and side. Vertices: 0 on the side, 1 and 2 on caps,
// 3 and 4 nearest to rims.
#pragma once

#include "shapes/cylinder_manifold.hpp"
#include "shapes/cylinder_polytope.hpp"

namespace clatter::contact {

template <class T>
struct Rim {
  V3<T> c, x, y, cap;  // centre, axes, normal of its cap
  double r;
  Rim(const Geometry& g, const Frame3<T>& frame, bool up)
      : c(frame.p + frame.z * (up ? g.length / 2 : -g.length / 2)),
        x(frame.x),
        y(frame.y),
        cap(up ? frame.z : V3<T>(-frame.z)),
        r(g.radius) {}
  V3<T> radial(const T& s) const {
    using std::cos, std::sin;
    return x * cos(s) + y * sin(s);
  }
  V3<T> along(const T& s) const {
    using std::cos, std::sin;
    return y * cos(s) - x * sin(s);
  }
  // How far `outward` is within the rim's normals, as a length; a little beyond counts as within, so that a rim that
  // lies flat or along a line has its points before it touches.
  T lead(const T& s, const V3<T>& outward) const {
    constexpr double beyond = 0.3;
    return smaller<T>(outward.dot(radial(s)), outward.dot(cap)) * r + beyond * r;
  }
};

// Where a place of nearness is one of many, or about to vanish, it stays where it is on the body: gap and rates do not
// depend on how it moves.
inline constexpr double degenerate = 1e-9;

template <class T>
double dot_of_values(const V3<T>& a, const V3<T>& b) {
  return value(a[0]) * value(b[0]) + value(a[1]) * value(b[1]) + value(a[2]) * value(b[2]);
}

// The angle near s at which the rim is nearest to the line through c along e; false where it is not alone.
template <class T>
bool rim_angle(const Rim<T>& rim, double s, const V3<T>& c, const V3<T>& e, T& angle) {
  angle = T(s);
  if constexpr (!searching<T>) {
    const auto across = [&](const V3<T>& v) { return V3<T>(v - e * e.dot(v)); };
    const V3<T> t = across(rim.along(angle)), w = across(rim.c + rim.radial(angle) * rim.r - c);
    const double slope = rim.r * dot_of_values<T>(t, t) - dot_of_values<T>(w, rim.radial(angle));
    if (slope < -degenerate * rim.r) return false;
    for (int k = 0; k < newton_steps<T> && slope > degenerate * rim.r; ++k)
      angle -= across(rim.c + rim.radial(angle) * rim.r - c).dot(rim.along(angle)) / slope;
  }
  return true;
}

// Rim (first) against the side of a rod about c along e.
template <class T>
bool rim_side(const Rim<T>& rim, double s, const V3<T>& c, const V3<T>& e, double half, double radius, Near3<T>& out) {
  T angle;
  if (!rim_angle<T>(rim, s, c, e, angle)) return false;
  const V3<T> p = rim.c + rim.radial(angle) * rim.r;
  const T z = e.dot(V3<T>(p - c));
  const V3<T> foot = c + e * z;
  if (searching<T> && value(length_of<T, 3>(V3<T>(p - foot))) <= no_direction) return false;
  out = ball_ball<T, 3>(p, 0, foot, radius, rim.cap);
  out.margin = smaller<T>(value(z) > 0 ? T(half - z) : T(z + half), rim.lead(angle, -out.n));
  return true;
}

// Rim (first) across edge i of a polytope.
template <class T>
bool rim_edge(const Rim<T>& rim, double s, const Geometry& g, int i, const Frame3<T>& frame, int feature,
              Near3<T>& out) {
  constexpr double beyond = 0.3;  // as for the rim's own normals
  const Edge edge(g, i);
  const V3<T> a = frame.point(edge.a), e = frame.direction(edge.e);
  T angle;
  if (!rim_angle<T>(rim, s, a, e, angle)) return false;
  const V3<T> p = rim.c + rim.radial(angle) * rim.r, N = rim.along(angle).cross(e);
  const T u = e.dot(V3<T>(p - a));
  const V3<T> d = p - a - e * u;
  out.margin = smaller<T>(u, edge.length - u);
  if (feature < 12) {
    const T crossing = length_of<T, 3>(N);
    out.n = N * ((feature == 10 ? 1.0 : -1.0) / crossing);
    out.margin = smaller<T>(out.margin, crossing * rim.r);
  } else {
    const T distance = length_of<T, 3>(d);
    if (!(value(distance) > no_direction)) return false;
    out.n = d / distance;
  }
  out.gap = out.n.dot(d);
  out.p1 = p;
  out.p2 = p - out.n * out.gap;
  out.margin = smaller<T>(out.margin, rim.lead(angle, -out.n));
  for (const Vec3& side : item(g.edge_sides, i))
    out.margin = smaller<T>(out.margin, (beyond - out.n.dot(frame.direction(side))) * rim.r);
  return true;
}

template <class T>
bool rim_rim(const Rim<T>& a, const Rim<T>& b, int feature, double s1, double s2, Near3<T>& out) {
  T angle1(s1), angle2(s2);
  const auto apart = [&] { return V3<T>(a.c + a.radial(angle1) * a.r - b.c - b.radial(angle2) * b.r); };
  if constexpr (!searching<T>) {
    const V3<T> d = apart(), t1 = a.along(angle1), t2 = b.along(angle2);
    const double cross = dot_of_values<T>(t1, t2);
    const double J11 = a.r - dot_of_values<T>(d, a.radial(angle1)), J12 = -b.r * cross;
    const double J21 = a.r * cross, J22 = -b.r - dot_of_values<T>(d, b.radial(angle2));
    const double det = J11 * J22 - J12 * J21;
    for (int k = 0; k < newton_steps<T> && std::abs(det) > degenerate * a.r * b.r; ++k) {
      const V3<T> r = apart();
      const T F1 = r.dot(a.along(angle1)), F2 = r.dot(b.along(angle2));
      angle1 -= (F1 * J22 - F2 * J12) / det;
      angle2 -= (F2 * J11 - F1 * J21) / det;
    }
  }
  const V3<T> d = apart(), N = a.along(angle1).cross(b.along(angle2));
  const T crossing = length_of<T, 3>(N);
  out.margin = T(far_away);
  if (feature < 12) {
    out.n = N * ((feature == 10 ? 1.0 : -1.0) / crossing);
    out.margin = crossing * std::min(a.r, b.r);
  } else {
    const T distance = length_of<T, 3>(d);
    if (!(value(distance) > no_direction)) return false;
    out.n = d / distance;
  }
  out.gap = out.n.dot(d);
  out.p1 = a.c + a.radial(angle1) * a.r;
  out.p2 = out.p1 - out.n * out.gap;
  out.margin = smaller<T>(out.margin, smaller<T>(a.lead(angle1, -out.n), b.lead(angle2, out.n)));
  return true;
}

// Slots: ends of the capsule against the cylinder; the two sides, crossed; each rim of the cylinder twice against the
// side of the capsule (one that lies across a cap rests on the rim in two places).
template <class T>
bool capsule_cylinder(const Geometry& a, const Geometry& b, int slot, const Frame3<T>& A, const Frame3<T>& B,
                      Branch& branch, Near3<T>& out) {
  if (slot < 2) return ball_against_cylinder<T>(rod_end<T>(a, A, slot), a.radius, b, B, branch, out);
  if (slot == 2) {
    branch.feature = 30;
    return rod_rod<T>(A.p, A.z, a.length / 2, a.radius, B.p, B.z, b.length / 2, b.radius, out);
  }
  const Rim<T> rim(b, B, slot < 5);
  if constexpr (searching<T>) {
    branch.feature = -1;
    const RimMinima m = rim_and_line({rim.c, rim.x, rim.y, rim.r}, A.p, A.z);
    if ((slot - 3) % 2 >= m.count) return false;
    branch.s1 = m.s1[(slot - 3) % 2];
    branch.feature = 20;
  }
  if (!rim_side<T>(rim, branch.s1, A.p, A.z, a.length / 2, a.radius, out)) return false;
  turn_round(out);
  return !searching<T> || value(out.margin) >= 0;
}

// Point `which` of a rim of the first against a cap of the second.
template <class T>
void rim_cap(const Geometry& a, const Frame3<T>& A, bool up, int which, const Geometry& b, const Frame3<T>& B,
             bool upper_cap, Branch& branch, Near3<T>& out) {
  Branch on_cap = branch;
  on_cap.feature = branch.feature < 0 ? -1 : branch.feature % 3;
  const V3<T> p = rim_point<T>(a, A, up, which, upper_cap ? B.z : V3<T>(-B.z), on_cap);
  if constexpr (searching<T>) {
    branch = on_cap;
    if (!upper_cap) branch.feature += 3;
  }
  const double sign = upper_cap ? 1 : -1;
  out = ball_plane<T>(p, 0, B, Vec3(0, 0, sign * b.length / 2), Vec3(0, 0, sign));
  const V3<T> local = B.local(p);
  // The distance to the cap's rim, but smooth in its middle.
  out.margin = (b.radius * b.radius - local.x() * local.x() - local.y() * local.y()) * (0.5 / b.radius);
}

// A slot beyond those of caps, with a feature that is known.
template <class T>
bool cylinder_feature(const Geometry& a, const Geometry& b, int slot, int feature, double s1, double s2,
                      const Frame3<T>& A, const Frame3<T>& B, Near3<T>& out) {
  using Slots = CylinderManifold;
  if (slot < Slots::first_rim_side) {
    const int k = (slot - Slots::rim_rim) / 2;
    return rim_rim<T>(Rim<T>(a, A, k < 2), Rim<T>(b, B, k % 2 == 0), feature, s1, s2, out);
  }
  if (slot < Slots::second_rim_side)
    return rim_side<T>(Rim<T>(a, A, slot - Slots::first_rim_side < 2), s1, B.p, B.z, b.length / 2, b.radius, out);
  if (slot < Slots::sides) {
    if (!rim_side<T>(Rim<T>(b, B, slot - Slots::second_rim_side < 2), s1, A.p, A.z, a.length / 2, a.radius, out))
      return false;
    turn_round(out);
    return true;
  }
  const Perpendicular<T> feet(A.p, A.z, B.p, B.z);
  if (feet.parallel) return false;
  // n by the product, not by the axes' distance: cylinders that overlap deeply keep their direction.
  out.n = feet.N * ((feature == 30 ? 1.0 : -1.0) / length_of<T, 3>(feet.N));
  out.gap = out.n.dot(V3<T>(feet.p1 - feet.p2)) - (a.radius + b.radius);
  out.p1 = feet.p1 - out.n * a.radius;
  out.p2 = feet.p2 + out.n * b.radius;
  const auto inside = [](const T& s, double half) { return value(s) > 0 ? T(half - s) : T(s + half); };
  out.margin = smaller<T>(inside(feet.s, a.length / 2), inside(feet.u, b.length / 2));
  return true;
}

// Slots: rim points of the first on a cap of the second, eight; of the second on a cap of the first, eight; rims of the
// first with rims of the second, two places each; rims of the first on the side of the second, two places each; the
// other way round; the two sides, crossed. Which of them are alive the pair decides (cylinder_manifold.hpp).
template <class T>
bool cylinder_cylinder(const Geometry& a, const Geometry& b, int slot, const Frame3<T>& A, const Frame3<T>& B,
                       Branch& branch, Near3<T>& out) {
  using Slots = CylinderManifold;
  if (slot < Slots::rim_rim) {
    const bool of_first = slot < 8;
    const Geometry &rim = of_first ? a : b, &cap = of_first ? b : a;
    const Frame3<T>&at_rim = of_first ? A : B, &at_cap = of_first ? B : A;
    bool upper = branch.feature < 3;
    if constexpr (searching<T>) {
      const CylinderManifold& manifold = manifold_of_cylinders(a, b, A, B);
      if (!manifold.cap_faces(of_first, upper)) return false;
      rim_cap<T>(rim, at_rim, slot % 8 < 4, slot % 4, cap, at_cap, upper, branch, out);
      if (!manifold.rim_point_counts(slot, out.margin, out.gap)) return false;
    } else {
      rim_cap<T>(rim, at_rim, slot % 8 < 4, slot % 4, cap, at_cap, upper, branch, out);
    }
    if (!of_first) turn_round(out);
    return true;
  }
  if constexpr (searching<T>) {
    const CylinderManifold::Point* p = manifold_of_cylinders(a, b, A, B).point(slot);
    if (p == nullptr) {
      branch.feature = -1;
      return false;
    }
    branch.feature = p->feature;
    branch.s1 = p->s1;
    branch.s2 = branch.here = p->s2;
  }
  return cylinder_feature<T>(a, b, slot, branch.feature, branch.s1, branch.s2, A, B, out);
}

// Slots: CylinderPolytopeManifold::Slots, which of them are alive the pair decides.
template <class T>
bool cylinder_polytope(const Geometry& a, const Geometry& b, int slot, const Frame3<T>& A, const Frame3<T>& B,
                       Branch& branch, Near3<T>& out) {
  const CylinderPolytopeManifold::Slots slots(b);
  if (slot < slots.vertices) {
    const int f = slot / 8;
    const V3<T> p = rim_point<T>(a, A, slot % 8 < 4, slot % 4, B.direction(item(b.normals, f)), branch);
    point_against_face<T>(p, b, f, B, out);
  } else if (slot < slots.edges) {
    const int v = slot - slots.vertices;
    const V3<T> vertex = B.point(item(b.points, v)), local = A.local(vertex);
    if constexpr (searching<T>) branch.feature = manifold_of_cylinder(a, b, A, B).vertex_feature(a, local);
    if (branch.feature == 0) {
      out = ball_ball<T, 3>(A.p + A.z * local.z(), a.radius, vertex, 0, A.x);
      out.margin = value(local.z()) > 0 ? T(a.length / 2 - local.z()) : T(local.z() + a.length / 2);
    } else if (branch.feature <= 2) {
      const double sign = branch.feature == 1 ? 1 : -1;
      out = ball_plane<T>(vertex, 0, A, Vec3(0, 0, sign * a.length / 2), Vec3(0, 0, sign));
      out.margin = (a.radius * a.radius - local.x() * local.x() - local.y() * local.y()) * (0.5 / a.radius);
      turn_round(out);
    } else {
      const double end = branch.feature == 3 ? a.length / 2 : -a.length / 2;
      const T rho = length_of<T, 2>(V2<T>(local.x(), local.y()));
      const V3<T> rim = A.p + A.z * end + (A.x * local.x() + A.y * local.y()) * (a.radius / rho);
      out = ball_ball<T, 3>(rim, 0, vertex, 0, A.z);
      out.margin = smaller<T>(rho - a.radius, branch.feature == 3 ? T(local.z() - end) : T(end - local.z()));
      out.margin = smaller<T>(out.margin, vertex_lead<T>(b, v, B.local(rim)));
    }
  } else if (slot < slots.crossings) {
    branch.feature = 20;
    if (!rod_edge<T>(A.p, A.z, a.length / 2, a.radius, b, slot - slots.edges, B, out)) return false;
  } else {
    if constexpr (searching<T>) {
      branch.feature = -1;
      const CylinderPolytopeManifold::Crossing* c = manifold_of_cylinder(a, b, A, B).crossing(slot);
      if (c == nullptr) return false;
      branch.feature = c->feature;
      branch.s1 = c->s;
      branch.s2 = branch.here = 0;
    }
    const int k = slot - slots.crossings;
    if (!rim_edge<T>(Rim<T>(a, A, k % 4 < 2), branch.s1, b, k / 4, B, branch.feature, out)) return false;
  }
  if constexpr (searching<T>) {
    const bool sharp = slot < slots.edges ? slot >= slots.vertices && branch.feature >= 3 : branch.feature == 12;
    return manifold_of_cylinder(a, b, A, B).counts(slot, out.n, out.margin, out.gap, sharp);
  }
  return true;
}

// In a hollow sphere the rim's point farthest from its centre touches. The direction is taken by the hole's radius: it
// fades where the centre comes near the axis, and points of the body take over.
template <class T>
bool cylinder_in_hole(const Geometry& hole, const Geometry& g, int slot, const Frame3<T>& A, const Frame3<T>& B,
                      Branch& branch, Near3<T>& out) {
  const V3<T> inward = (A.p - B.p) / hole.radius;
  const V3<T> p = rim_point<T>(g, B, slot < 4, slot % 4, inward, branch);
  return hole_ball<T>(hole, A, p, 0, out);
}

}  // namespace clatter::contact
