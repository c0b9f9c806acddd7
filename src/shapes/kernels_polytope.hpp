// Kernels of convex polytopes (box, polytope): ball, point, rod and edge against them.
//
// A face has the outward normal f through o; the distance of a point is the largest f . (c - o), negative exactly
// inside. Features of ball against polytope: face, faces + edge, faces + edges + vertex. An edge with directions u1, u2
// along its two faces away from it has as outward normals all n with n . u_k <= 0 that are perpendicular to it; two
// edges can touch where some n is such a normal of one and -n of the other (their arcs on the Gauss sphere cross).
#pragma once

#include "shapes/kernels_spatial.hpp"

namespace clatter::contact {

template <class T>
T face_distance(const Geometry& g, int f, const V3<T>& c) {
  const Vec3 &m = item(g.normals, f), &o = item(g.points, item(g.faces, f).front());
  return (c.x() - o.x()) * m.x() + (c.y() - o.y()) * m.y() + (c.z() - o.z()) * m.z();
}

inline int outermost_face(const Geometry& g, const Vec3& c, double& largest) {
  int face = 0;
  largest = -std::numeric_limits<double>::infinity();
  for (int i = 0; i < count_of(g.normals); ++i) {
    const double d = face_distance<double>(g, i, c);
    if (d > largest) {
      largest = d;
      face = i;
    }
  }
  return face;
}

template <class T>
Near3<T> ball_face(const V3<T>& c, double radius, const Geometry& g, const Frame3<T>& frame, int f) {
  return ball_plane<T>(c, radius, frame, item(g.points, item(g.faces, f).front()), item(g.normals, f));
}

// By how much face f leads.
template <class T>
T face_lead(const Geometry& g, int f, const V3<T>& local) {
  T next = -far_away;
  for (int i = 0; i < count_of(g.normals); ++i) {
    if (i == f) continue;
    const T d = face_distance<T>(g, i, local);
    if (value(d) > value(next)) next = d;
  }
  return face_distance<T>(g, f, local) - next;
}

// Distance of the foot of c on face f to the nearest of its edges, negative beyond.
template <class T>
T face_overhang(const Geometry& g, int f, const V3<T>& c) {
  const auto& corners = item(g.faces, f);
  const Vec3& m = item(g.normals, f);
  T least(far_away);
  for (int k = 0; k < count_of(corners); ++k) {
    const Vec3& a = item(g.points, item(corners, k));
    const Vec3 along = item(g.points, item(corners, (k + 1) % count_of(corners))) - a;
    const Vec3 inward = m.cross(along).normalized();
    least =
        smaller<T>(least, (c.x() - a.x()) * inward.x() + (c.y() - a.y()) * inward.y() + (c.z() - a.z()) * inward.z());
  }
  return least;
}

template <class T>
T along(const V3<T>& c, const Vec3& from, const Vec3& direction) {
  return (c.x() - from.x()) * direction.x() + (c.y() - from.y()) * direction.y() + (c.z() - from.z()) * direction.z();
}

struct Edge {
  Vec3 a, e;  // start, unit direction
  double length;
  Edge(const Geometry& g, int i) : a(item(g.points, item(g.edges, i).first)) {
    const Vec3 d = item(g.points, item(g.edges, i).second) - a;
    length = d.norm();
    e = d / length;
  }
};

// Distance to leaving the region of points that are nearest to vertex v.
template <class T>
T vertex_lead(const Geometry& g, int v, const V3<T>& c) {
  T least(far_away);
  for (int i = 0; i < count_of(g.edges); ++i) {
    const auto& edge = item(g.edges, i);
    if (edge.first != v && edge.second != v) continue;
    const Vec3& here = item(g.points, v);
    const Vec3 away = (item(g.points, edge.first == v ? edge.second : edge.first) - here).normalized();
    least = smaller<T>(least, -along<T>(c, here, away));
  }
  return least;
}

inline int nearest_feature(const Geometry& g, const Vec3& c) {
  double largest;
  int feature = outermost_face(g, c, largest);
  if (largest <= 0) return feature;
  const int faces = count_of(g.normals), edges = count_of(g.edges);
  double nearest = std::numeric_limits<double>::infinity();
  const auto offer = [&](double distance, int which) {
    if (distance < nearest) {
      nearest = distance;
      feature = which;
    }
  };
  for (int f = 0; f < faces; ++f) {
    const double d = face_distance<double>(g, f, c);
    if (d > 0 && d < nearest && face_overhang<double>(g, f, c) >= 0) offer(d, f);
  }
  for (int i = 0; i < edges; ++i) {
    const Edge edge(g, i);
    const double s = edge.e.dot(c - edge.a);
    if (s > 0 && s < edge.length) offer((c - edge.a - s * edge.e).norm(), faces + i);
  }
  for (int v = 0; v < count_of(g.points); ++v) offer((c - item(g.points, v)).norm(), faces + edges + v);
  return feature;
}

template <class T>
bool ball_against_polytope(const V3<T>& c, double radius, const Geometry& g, const Frame3<T>& frame, Branch& branch,
                           Near3<T>& out) {
  const V3<T> local = frame.local(c);
  const int faces = count_of(g.normals), edges = count_of(g.edges);
  if constexpr (searching<T>) branch.feature = nearest_feature(g, local);
  if (branch.feature < faces) {
    const int f = branch.feature;
    out = ball_face<T>(c, radius, g, frame, f);
    out.margin = value(face_distance<T>(g, f, local)) > 0 ? face_overhang<T>(g, f, local) : face_lead<T>(g, f, local);
  } else if (branch.feature < faces + edges) {
    const int i = branch.feature - faces;
    const Edge edge(g, i);
    const T s = along<T>(local, edge.a, edge.e);
    out = ball_ball<T, 3>(c, radius, frame.point(edge.a) + frame.direction(edge.e) * s, 0,
                          frame.direction(item(g.normals, item(g.edge_faces, i)[0])));
    out.margin = smaller<T>(s, edge.length - s);
    for (const Vec3& side : item(g.edge_sides, i)) out.margin = smaller<T>(out.margin, -along<T>(local, edge.a, side));
  } else {
    const int v = branch.feature - faces - edges;
    out = ball_ball<T, 3>(c, radius, frame.point(item(g.points, v)), 0, frame.z);
    out.margin = vertex_lead<T>(g, v, local);
  }
  return true;
}

// A rod along a face, with both ends beyond it, rests on edges in the direction of that face: to rounding.
inline constexpr double on_edge = 1e-9;

// Side of a rod (first) about c along e against edge i; false where the edge does not face it.
template <class T>
bool rod_edge(const V3<T>& c, const V3<T>& e, double half, double radius, const Geometry& g, int i,
              const Frame3<T>& frame, Near3<T>& out) {
  const Edge edge(g, i);
  const Vec3 middle = edge.a + edge.e * (edge.length / 2);
  const V3<T> p = frame.point(middle), d = frame.direction(edge.e);
  if (!rod_rod<T>(c, e, half, radius, p, d, edge.length / 2, 0, out)) return false;
  const V3<T> axis_point = frame.local(V3<T>(out.p1 + out.n * radius));
  for (const Vec3& side : item(g.edge_sides, i)) {
    const T lead = -along<T>(axis_point, edge.a, side);
    if (searching<T> && value(lead) < -on_edge * g.bound) return false;
    out.margin = smaller<T>(out.margin, lead);
  }
  return true;
}

// Slots: the capsule's ends against the polytope, the polytope's edges and its vertices against the capsule's side.
template <class T>
bool capsule_polytope(const Geometry& a, const Geometry& b, int slot, const Frame3<T>& A, const Frame3<T>& B,
                      Branch& branch, Near3<T>& out) {
  if (slot < 2) return ball_against_polytope<T>(rod_end<T>(a, A, slot), a.radius, b, B, branch, out);
  branch.feature = 0;
  const int edges = count_of(b.edges);
  if (slot < 2 + edges) return rod_edge<T>(A.p, A.z, a.length / 2, a.radius, b, slot - 2, B, out);
  const int v = slot - 2 - edges;
  const V3<T> vertex = B.point(item(b.points, v));
  const T z = A.z.dot(V3<T>(vertex - A.p));
  const V3<T> foot = A.p + A.z * z;
  const T lead = vertex_lead<T>(b, v, B.local(foot));
  const T inside = value(z) > 0 ? T(a.length / 2 - z) : T(z + a.length / 2);
  if (searching<T> && (value(inside) < 0 || value(lead) < 0)) return false;
  out = ball_ball<T, 3>(foot, a.radius, vertex, 0, A.x);
  out.margin = smaller<T>(inside, lead);
  return true;
}

// Edge i of the first against edge j of the second. Features: 0 and 1, the sign of e1 x e2 that makes n.
template <class T>
bool edge_edge(const Geometry& a, int i, const Geometry& b, int j, const Frame3<T>& A, const Frame3<T>& B, int feature,
               Near3<T>& out) {
  const Edge first(a, i), second(b, j);
  const V3<T> a1 = A.point(first.a), a2 = B.point(second.a);
  const V3<T> e1 = A.direction(first.e), e2 = B.direction(second.e);
  const Perpendicular<T> feet(a1, e1, a2, e2);
  if (feet.parallel) return false;
  out.n = feet.N / length_of<T, 3>(feet.N);
  out.margin = smaller<T>(smaller<T>(feet.s, first.length - feet.s), smaller<T>(feet.u, second.length - feet.u));
  if (feature == 1) out.n = -out.n;
  out.p1 = feet.p1;
  out.p2 = feet.p2;
  out.gap = out.n.dot(V3<T>(feet.p1 - feet.p2));
  return true;
}

// Vertex against face f, with the distance of its foot from the face's edges as margin.
template <class T>
void point_against_face(const V3<T>& c, const Geometry& g, int f, const Frame3<T>& frame, Near3<T>& out) {
  out = ball_face<T>(c, 0, g, frame, f);
  out.margin = face_overhang<T>(g, f, frame.local(c));
}

// Which slots touch, and what (polytope_manifold.hpp); the pair last asked for is remembered.
int manifold_feature(const Geometry& a, const Geometry& b, const Frame3<double>& A, const Frame3<double>& B, int slot);

// Slots: vertices of the first against the second, of the second against the first, every edge against every edge; each
// against a feature that is known.
template <class T>
bool polytope_feature(const Geometry& a, const Geometry& b, int slot, int feature, const Frame3<T>& A,
                      const Frame3<T>& B, Near3<T>& out) {
  const int vertices1 = count_of(a.points), vertices2 = count_of(b.points), edges2 = count_of(b.edges);
  if (slot < vertices1) {
    point_against_face<T>(A.point(item(a.points, slot)), b, feature, B, out);
    return true;
  }
  slot -= vertices1;
  if (slot < vertices2) {
    point_against_face<T>(B.point(item(b.points, slot)), a, feature, A, out);
    turn_round(out);
    return true;
  }
  slot -= vertices2;
  return edge_edge<T>(a, slot / edges2, b, slot % edges2, A, B, feature, out);
}

template <class T>
bool polytope_polytope(const Geometry& a, const Geometry& b, int slot, const Frame3<T>& A, const Frame3<T>& B,
                       Branch& branch, Near3<T>& out) {
  if constexpr (searching<T>) {
    branch.feature = manifold_feature(a, b, A, B, slot);
    if (branch.feature < 0) return false;
  }
  return polytope_feature<T>(a, b, slot, branch.feature, A, B, out);
}

}  // namespace clatter::contact
