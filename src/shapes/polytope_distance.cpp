#include "shapes/polytope_distance.hpp"

#include <algorithm>

namespace clatter::contact {

namespace {

// Two segments from a and b on, along d and e.
NearestPoints of_segments(const Vec3& a, const Vec3& d, const Vec3& b, const Vec3& e) {
  const Vec3 r = a - b;
  const double dd = d.squaredNorm(), ee = e.squaredNorm(), de = d.dot(e), dr = d.dot(r), er = e.dot(r);
  const double across = dd * ee - de * de;
  // Nearly parallel: any s will do, the ends are tried below.
  double s = across > 1e-14 * dd * ee ? std::clamp((de * er - dr * ee) / across, 0.0, 1.0) : 0.0;
  double t = (de * s + er) / ee;
  if (t < 0 || t > 1) {
    t = std::clamp(t, 0.0, 1.0);
    s = std::clamp((de * t - dr) / dd, 0.0, 1.0);
  }
  NearestPoints out;
  out.p1 = a + s * d;
  out.p2 = b + t * e;
  out.distance = (out.p1 - out.p2).norm();
  return out;
}

}  // namespace

bool nearest_edges(const Geometry& first, const Geometry& second, const Frame3<double>& A, const Frame3<double>& B,
                   const Vec3& axis, double far, NearestPoints& out) {
  bool any = false;
  out.distance = far;
  for (const auto& [i, j] : first.edges) {
    const Vec3 a = A.point(item(first.points, i)), d = A.point(item(first.points, j)) - a;
    const double low = axis.dot(a) + std::min(0.0, axis.dot(d));
    for (const auto& [k, l] : second.edges) {
      const Vec3 b = B.point(item(second.points, k)), e = B.point(item(second.points, l)) - b;
      if (low - axis.dot(b) - std::max(0.0, axis.dot(e)) >= out.distance) continue;
      const NearestPoints here = of_segments(a, d, b, e);
      if (!(here.distance < out.distance)) continue;
      out = here;
      any = true;
    }
  }
  return any;
}

}  // namespace clatter::contact
