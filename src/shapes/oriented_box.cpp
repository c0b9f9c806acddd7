#include "shapes/oriented_box.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace clatter::contact {

namespace {

using Vec2 = Eigen::Vector2d;

double cross(const Vec2& a, const Vec2& b) { return a.x() * b.y() - a.y() * b.x(); }

// Convex hull in place, counter-clockwise (gift wrapping: outlines have few points). Returns the number of its corners.
std::size_t wrap(std::span<Vec2> p) {
  const auto lower = [](const Vec2& a, const Vec2& b) { return a.y() < b.y() || (a.y() == b.y() && a.x() < b.x()); };
  std::iter_swap(p.begin(), std::min_element(p.begin(), p.end(), lower));
  const Vec2 start = p[0];
  std::size_t n = 1;
  while (n < p.size()) {
    std::size_t best = n;
    for (std::size_t i = n + 1; i < p.size(); ++i) {
      const Vec2 to = p[i] - p[n - 1], held = p[best] - p[n - 1];
      const double turn = cross(held, to);
      if (turn < 0 || (turn == 0 && to.squaredNorm() > held.squaredNorm())) best = i;
    }
    // Back at the start: what is left lies to the left of the edge that closes the hull.
    if (n > 1) {
      const Vec2 home = start - p[n - 1], to = p[best] - p[n - 1];
      const double turn = cross(to, home);
      if (turn < 0 || (turn == 0 && home.squaredNorm() >= to.squaredNorm())) break;
    }
    std::swap(p[n], p[best]);
    ++n;
  }
  return n;
}

}  // namespace

OrientedBox smallest_box(std::span<Vec2> points) {
  OrientedBox best;
  if (points.empty()) return best;
  const std::size_t n = wrap(points);
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < n; ++i) {
    const Vec2 edge = points[(i + 1) % n] - points[i];
    const double length = edge.norm();
    if (!(length > 0)) continue;
    const Vec2 x = edge / length, y(-x.y(), x.x());
    Vec2 low(std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()), high = -low;
    for (std::size_t k = 0; k < n; ++k) {
      const Vec2 at(points[k].dot(x), points[k].dot(y));
      low = low.cwiseMin(at);
      high = high.cwiseMax(at);
    }
    const Vec2 size = high - low, middle = 0.5 * (low + high);
    if (size.x() * size.y() >= least) continue;
    least = size.x() * size.y();
    best = {x * middle.x() + y * middle.y(), x, 0.5 * size};
  }
  if (!std::isfinite(least)) best.centre = points[0];
  return best;
}

bool apart(const OrientedBox& a, const OrientedBox& b, double grow) {
  const Vec2 between = b.centre - a.centre;
  const Vec2 ha = a.half.array() + grow, hb = b.half.array() + grow;
  const Vec2 axes[4] = {a.axis, a.other_axis(), b.axis, b.other_axis()};
  for (const Vec2& L : axes) {
    const double reach = ha.x() * std::abs(axes[0].dot(L)) + ha.y() * std::abs(axes[1].dot(L)) +
                         hb.x() * std::abs(axes[2].dot(L)) + hb.y() * std::abs(axes[3].dot(L));
    if (std::abs(between.dot(L)) > reach) return true;
  }
  return false;
}

bool clip(const OrientedBox& box, double grow, const Vec2& a, const Vec2& b, double& from, double& to) {
  from = 0;
  to = 1;
  const Vec2 axes[2] = {box.axis, box.other_axis()};
  for (int k = 0; k < 2; ++k)
    for (const double side : {1.0, -1.0}) {
      const Vec2 m = side * axes[k];
      const double N = box.half[k] + grow - m.dot(a - box.centre), D = m.dot(b - a);
      if (D < 0)
        from = std::max(from, N / D);
      else if (D > 0)
        to = std::min(to, N / D);
      else if (N < 0)
        return false;
    }
  return from <= to;
}

}  // namespace clatter::contact
