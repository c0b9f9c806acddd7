// An independent measure of the distance of two convex bodies, by nothing but their support points.
//
// The point x of the difference {a - b} that is nearest to the origin is found as in Wolfe (1976), "Finding the nearest
// point in a polytope": x is the nearest point of the hull of a few support points, the one farthest along -x joins
// them, those that x leaves go. |x| is an upper bound of the distance, the separation along x / |x| a lower one. In
// long double, since rims need many support points close to each other.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "shapes/shape.hpp"

namespace clatter::contact {

struct Bracket {
  double lower = 0, upper = 0;  // upper 0: they overlap
  Vec3 n = Vec3::UnitZ();       // from the second to the first
};

namespace convex {

using Real = long double;
using Point = Eigen::Matrix<Real, 3, 1>;

// The point of a solid farthest along d.
inline Point farthest(const Geometry& g, const Pose<double>& pose, const Point& d) {
  using Kind = ContactShape::Kind;
  const Eigen::Matrix<Real, 3, 3> R = pose.R.cast<Real>();
  const Point m = R.transpose() * d;
  Point q = Point::Zero();
  if (g.kind == Kind::box || g.kind == Kind::polytope) {
    Real best = -std::numeric_limits<Real>::infinity();
    for (const Vec3& v : g.points)
      if (const Real along = m.dot(v.cast<Real>()); along > best) best = along, q = v.cast<Real>();
  } else {
    const Real half = g.kind == Kind::sphere ? Real(0) : Real(g.length) / 2;
    q.z() = m.z() >= 0 ? half : -half;
    if (g.kind == Kind::capsule || g.kind == Kind::sphere) {
      q += m * (Real(g.radius) / m.norm());
    } else {
      const Real across = std::hypot(m.x(), m.y());
      if (across > 0) q.template head<2>() = m.template head<2>() * (Real(g.radius) / across);
    }
  }
  return pose.p.cast<Real>() + R * q;
}

struct Simplex {
  std::vector<Point> w;
  std::vector<Real> weight;

  Point nearest() const {
    Point x = Point::Zero();
    for (std::size_t i = 0; i < w.size(); ++i) x += weight[i] * w[i];
    return x;
  }
  // Weights of the point of the affine hull that is nearest to the origin; false where the points are dependent.
  bool affine(std::vector<Real>& out) const {
    const auto k = static_cast<Eigen::Index>(w.size()) - 1;
    out.assign(w.size(), 1);
    if (k == 0) return true;
    Eigen::Matrix<Real, 3, Eigen::Dynamic> E(3, k);
    for (Eigen::Index i = 0; i < k; ++i) E.col(i) = w[static_cast<std::size_t>(i) + 1] - w[0];
    const Eigen::ColPivHouseholderQR<Eigen::Matrix<Real, 3, Eigen::Dynamic>> qr(E);
    if (qr.rank() < k) return false;
    const Eigen::Matrix<Real, Eigen::Dynamic, 1> c = qr.solve(Point(-w[0]));
    for (Eigen::Index i = 0; i < k; ++i) {
      out[static_cast<std::size_t>(i) + 1] = c[i];
      out[0] -= c[i];
    }
    return true;
  }
  void drop(std::size_t i) {
    w.erase(w.begin() + static_cast<std::ptrdiff_t>(i));
    weight.erase(weight.begin() + static_cast<std::ptrdiff_t>(i));
  }
};

}  // namespace convex

// Until the bounds are `tolerance` apart, or support points repeat; the first one is the farthest along -start.
inline Bracket convex_distance_from(const Vec3& start, const Geometry& a, const Pose<double>& A, const Geometry& b,
                                    const Pose<double>& B, double tolerance) {
  using namespace convex;
  const auto support = [&](const Point& d) { return Point(farthest(a, A, -d) - farthest(b, B, d)); };
  Simplex s;
  Point x = support(start.cast<Real>());
  s.w = {x};
  s.weight = {1};
  Bracket out;
  out.lower = -std::numeric_limits<double>::infinity();
  std::vector<Real> target;
  for (int k = 0; k < 500; ++k) {
    const Real size = x.norm();
    out.upper = static_cast<double>(size);
    if (size <= Real(tolerance) * Real(1e-3)) return {0, 0, out.n};
    const Point w = support(x);
    const Real lower = x.dot(w) / size;
    if (lower > Real(out.lower)) {
      out.lower = static_cast<double>(lower);
      out.n = (x / size).cast<double>();
    }
    if (out.upper - out.lower <= tolerance) break;
    if (std::any_of(s.w.begin(), s.w.end(), [&](const Point& p) { return p == w; })) break;
    s.w.push_back(w);
    s.weight.push_back(0);
    for (;;) {
      if (!s.affine(target)) {  // dependent: of the older ones the one with the least weight goes
        s.drop(static_cast<std::size_t>(std::min_element(s.weight.begin(), s.weight.end() - 1) - s.weight.begin()));
        continue;
      }
      if (*std::min_element(target.begin(), target.end()) > 0) break;
      Real part = 1;
      for (std::size_t i = 0; i < target.size(); ++i)
        if (target[i] <= 0 && s.weight[i] > target[i]) part = std::min(part, s.weight[i] / (s.weight[i] - target[i]));
      for (std::size_t i = 0; i < target.size(); ++i) s.weight[i] += part * (target[i] - s.weight[i]);
      s.drop(static_cast<std::size_t>(std::min_element(s.weight.begin(), s.weight.end()) - s.weight.begin()));
    }
    s.weight = target;
    if (s.w.size() == 4) return {0, 0, out.n};
    x = s.nearest();
  }
  return out;
}

// A walk that ends early, where rims are nearly flat against something, is taken up from another side.
inline Bracket convex_distance(const Geometry& a, const Pose<double>& A, const Geometry& b, const Pose<double>& B,
                               double tolerance) {
  const double size = a.bound + b.bound;
  Bracket best = convex_distance_from(A.p - B.p + 1e-3 * size * Vec3(1, 2, 3), a, A, b, B, tolerance);
  const Vec3 sides[] = {{1, 2, -3}, {-2, 1, 1}, {3, -1, 2}, {-1, -2, 1}, {1, -3, -2}, {-3, 1, -1}};
  for (const Vec3& side : sides) {
    if (best.upper == 0 || best.upper - best.lower <= tolerance) break;
    const Bracket again = convex_distance_from(best.n + 0.1 * side, a, A, b, B, tolerance);
    best.upper = std::min(best.upper, again.upper);
    if (again.upper == 0) return again;
    if (again.lower > best.lower) {
      best.lower = again.lower;
      best.n = again.n;
    }
  }
  return best;
}

}  // namespace clatter::contact
