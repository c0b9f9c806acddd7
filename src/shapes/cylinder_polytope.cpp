#include "shapes/cylinder_polytope.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "shapes/kernels_cylinder.hpp"

namespace clatter::contact {

namespace {

// As in cylinder_manifold.cpp.
constexpr double kRounding = 1e-9, kPreference = 0.05, kNear = 0.7, kCrossing = 1e-3;

double support(const Geometry& cylinder, const Vec3& z, const Vec3& n) {
  return cylinder.radius * n.cross(z).norm() + 0.5 * cylinder.length * std::abs(n.dot(z));
}

struct Farthest {
  double reach;
  int vertex;
};
Farthest farthest(const Geometry& polytope, const Frame3<double>& B, const Vec3& n) {
  const Vec3 m(B.x.dot(n), B.y.dot(n), B.z.dot(n));
  Farthest out{-std::numeric_limits<double>::infinity(), 0};
  for (int i = 0; i < count_of(polytope.points); ++i) {
    const double d = m.dot(item(polytope.points, i));
    if (d > out.reach) out = {d, i};
  }
  out.reach += n.dot(B.p);
  return out;
}

double separation_along(const Geometry& cylinder, const Geometry& polytope, const Frame3<double>& A,
                        const Frame3<double>& B, const Vec3& n) {
  return n.dot(A.p) - support(cylinder, A.z, n) - farthest(polytope, B, n).reach;
}

double separation_of_face(const Geometry& cylinder, const Geometry& polytope, const Frame3<double>& A,
                          const Frame3<double>& B, int f) {
  const Vec3 n = B.direction(item(polytope.normals, f));
  return n.dot(A.p - B.point(item(polytope.points, item(polytope.faces, f).front()))) - support(cylinder, A.z, n);
}

}  // namespace

bool cylinder_apart(const Geometry& cylinder, const Geometry& polytope, const Frame3<double>& A,
                    const Frame3<double>& B, double reach) {
  for (int f = 0; f < count_of(polytope.normals); ++f)
    if (separation_of_face(cylinder, polytope, A, B, f) > reach) return true;
  for (const Vec3& n : {A.z, Vec3(-A.z)})
    if (separation_along(cylinder, polytope, A, B, n) > reach) return true;
  const Vec3 d = A.p - B.p;
  const double distance = d.norm();
  return distance > 0 && separation_along(cylinder, polytope, A, B, d / distance) > reach;
}

void CylinderPolytopeManifold::find(const Geometry& cylinder, const Geometry& polytope, const Frame3<double>& A,
                                    const Frame3<double>& B) {
  const Slots slots(polytope);
  rounding_ = kRounding * (cylinder.bound + polytope.bound);
  crossings_.clear();
  separation_ = -std::numeric_limits<double>::infinity();
  const auto offer = [&](double s, const Vec3& n, int slot, bool sharper) {
    if (sharper && !(s > separation_ + rounding_ - kPreference * std::min(0.0, separation_))) return;
    if (!(s > separation_)) return;
    separation_ = s;
    n_ = n;
    leads_ = slot;
  };
  for (int f = 0; f < count_of(polytope.normals); ++f) {
    const Vec3 n = B.direction(item(polytope.normals, f));
    offer(separation_of_face(cylinder, polytope, A, B, f), n, 8 * f + (n.dot(A.z) < 0 ? 0 : 4), false);
  }
  for (const Vec3& n : {A.z, Vec3(-A.z)}) {
    const Farthest v = farthest(polytope, B, n);
    offer(n.dot(A.p) - support(cylinder, A.z, n) - v.reach, n, slots.vertices + v.vertex, true);
  }
  // A feature of which the bodies reach beyond `gap` along its own normal is not what is between them.
  const auto along = [&](const Vec3& n, double gap, int slot) {
    const double s = separation_along(cylinder, polytope, A, B, n);
    if (gap <= s + kPreference * std::abs(s) + 4 * rounding_) offer(s, n, slot, true);
  };
  for (int i = 0; i < count_of(polytope.edges); ++i) {
    Near3<double> near;
    if (rod_edge<double>(A.p, A.z, cylinder.length / 2, cylinder.radius, polytope, i, B, near))
      along(near.n, near.gap, slots.edges + i);
  }
  for (int i = 0; i < count_of(polytope.points); ++i) {
    const Vec3 d = A.p - B.point(item(polytope.points, i));
    const double z = A.z.dot(d), over_cap = std::abs(z) - cylinder.length / 2;
    const Vec3 across = d - A.z * z;
    const double distance = across.norm(), over_side = distance - cylinder.radius;
    if (distance > no_direction) along(across / distance, over_side, slots.vertices + i);
    if (over_cap <= 0 || over_side <= 0) continue;
    const Vec3 to_rim = across * (over_side / distance) + A.z * (z > 0 ? over_cap : -over_cap);
    along(to_rim.normalized(), to_rim.norm(), slots.vertices + i);
  }
  for (int i = 0; i < count_of(polytope.edges); ++i) {
    const Edge edge(polytope, i);
    const Vec3 a = B.point(edge.a), e = B.direction(edge.e);
    for (int up = 0; up < 2; ++up) {
      const Rim<double> rim(cylinder, A, up == 0);
      const RimMinima m = rim_and_line({rim.c, rim.x, rim.y, rim.r}, a, e);
      for (int k = 0; k < m.count; ++k) {
        const int slot = slots.crossings + 4 * i + 2 * up + k;
        int feature = rim.along(m.s1[k]).cross(e).norm() < kCrossing ? 12 : 10;
        Near3<double> near;
        if (!rim_edge<double>(rim, m.s1[k], polytope, i, B, feature, near)) continue;
        // Outward from the edge.
        double outward = 0;
        for (const Vec3& side : item(polytope.edge_sides, i)) outward -= near.n.dot(B.direction(side));
        if (feature == 10 && outward < 0) {
          feature = 11;
          rim_edge<double>(rim, m.s1[k], polytope, i, B, feature, near);
        }
        if (near.margin < -rounding_) continue;
        crossings_.push_back({slot, feature, m.s1[k]});
        along(near.n, near.gap, slot);
      }
    }
  }
  lean_ = A.z.dot(n_);
}

bool CylinderPolytopeManifold::counts(int slot, const Vec3& n, double inside, double gap, bool nearest_only) const {
  if (n.dot(n_) < kNear) return false;
  if (nearest_only && !(separation_ > 0 && gap <= separation_ + 4 * (rounding_ + kRounding * separation_)))
    return false;
  if (slot == leads_ && separation_ <= rounding_) return true;
  return inside >= -rounding_ && gap >= std::min(0.0, separation_) - rounding_;
}

int CylinderPolytopeManifold::vertex_feature(const Geometry& cylinder, const Vec3& vertex) const {
  const int cap_towards = lean_ < 0 ? 1 : 2;
  if (separation_ <= 0) return std::abs(lean_) < kNear ? 0 : cap_towards;
  const double over_side = std::hypot(vertex.x(), vertex.y()) - cylinder.radius;
  const double over_cap = std::abs(vertex.z()) - cylinder.length / 2;
  if (over_side > 0 && over_cap > 0) return vertex.z() > 0 ? 3 : 4;
  return over_side > over_cap ? 0 : (vertex.z() > 0 ? 1 : 2);
}

const CylinderPolytopeManifold& manifold_of_cylinder(const Geometry& cylinder, const Geometry& polytope,
                                                     const Frame3<double>& A, const Frame3<double>& B) {
  // All slots of a pair are asked for in turn, at the same place. Shapes are known by their sizes and points.
  thread_local struct {
    Eigen::Matrix<double, 3, 8> at = Eigen::Matrix<double, 3, 8>::Constant(std::numeric_limits<double>::infinity());
    double radius = 0, length = 0;
    std::vector<Vec3> points;
    CylinderPolytopeManifold manifold;
  } last;
  Eigen::Matrix<double, 3, 8> at;
  at << A.x, A.y, A.z, A.p, B.x, B.y, B.z, B.p;
  if (last.at != at || last.radius != cylinder.radius || last.length != cylinder.length ||
      last.points != polytope.points) {
    last.at = at;
    last.radius = cylinder.radius;
    last.length = cylinder.length;
    last.points.assign(polytope.points.begin(), polytope.points.end());
    last.manifold.find(cylinder, polytope, A, B);
  }
  return last.manifold;
}

}  // namespace clatter::contact
