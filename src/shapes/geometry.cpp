// Contact shapes of the model, checked and prepared for the kernels: outward normals of polygons, faces and edges of
// polytopes, the spline through its points (C2, knots at the chord lengths), samples of contours for the global search.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/error.hpp"
#include "shapes/contour.hpp"
#include "shapes/hull.hpp"

namespace clatter::contact {

namespace {

using Kind = ContactShape::Kind;

[[noreturn]] void fail(const ContactShape& shape, const std::string& what, const std::string& hint = {}) {
  throw InputError(shape.source, fmt::format("contact shape `{}`: {}", shape.name, what), hint);
}

void require_positive(const ContactShape& shape, double x, const char* what) {
  if (!(x > 0) || !std::isfinite(x)) fail(shape, fmt::format("{} must be greater than 0", what));
}

double cross2(const Vec3& a, const Vec3& b) { return a.x() * b.y() - a.y() * b.x(); }

std::vector<Vec3> flattened(const std::vector<Vec3>& points) {
  std::vector<Vec3> flat = points;
  for (Vec3& p : flat) p.z() = 0;
  return flat;
}

double extent_of(const std::vector<Vec3>& points) {
  double e = 0;
  for (const Vec3& p : points) e = std::max(e, (p - points.front()).norm());
  return e;
}

void require_finite_points(const ContactShape& shape) {
  for (std::size_t i = 0; i < shape.points.size(); ++i)
    if (!shape.points[i].allFinite()) fail(shape, fmt::format("point {} is not a finite number", i + 1));
}

void make_polygon(const ContactShape& shape, Geometry& g) {
  const std::size_t n = shape.points.size();
  if (n < 3) fail(shape, fmt::format("a polygon needs at least 3 points, this has {}", n));
  g.points = flattened(shape.points);
  const double slack = 1e-9 * extent_of(g.points);
  double area = 0, turning = 0;
  for (std::size_t i = 0; i < n; ++i) {
    area += cross2(g.points[i], g.points[(i + 1) % n]) / 2;
    if ((g.points[(i + 1) % n] - g.points[i]).norm() <= slack)
      fail(shape, fmt::format("points {} and {} coincide", i + 1, (i + 1) % n + 1));
  }
  if (area < -slack * slack) fail(shape, "its points run clockwise", "write them counter-clockwise");
  for (std::size_t i = 0; i < n; ++i) {
    const Vec3 before = (g.points[i] - g.points[(i + n - 1) % n]).normalized();
    const Vec3 after = (g.points[(i + 1) % n] - g.points[i]).normalized();
    const double turn = cross2(before, after);
    if (std::abs(turn) < 1e-9 && before.dot(after) > 0)
      fail(shape, fmt::format("point {} lies on the straight line between its neighbours", i + 1), "leave it out");
    if (turn <= 0)
      fail(shape, fmt::format("not convex at point {}", i + 1), "put it together from several convex polygons");
    turning += std::atan2(turn, before.dot(after));
    g.normals.emplace_back(after.y(), -after.x(), 0);
  }
  if (turning > 3 * std::numbers::pi) fail(shape, "its sides cross each other");
  for (const Vec3& p : g.points) g.bound = std::max(g.bound, p.norm());
}

// Second derivatives m at the knots: h_i m_i + 2 (h_i + h_i+1) m_i+1 + h_i+1 m_i+2 = 6 (slope_i+1 - slope_i); natural
// at open ends (m = 0), cyclic when closed. Dense: splines have few points and are made once.
void make_spline(const ContactShape& shape, Geometry& g) {
  const int least = shape.closed ? 3 : 2;
  std::vector<Vec3> points = flattened(shape.points);
  if (static_cast<int>(points.size()) < least)
    fail(shape, fmt::format("a{} spline needs at least {} points, this has {}", shape.closed ? " closed" : "n open",
                            least, points.size()));
  const double slack = 1e-9 * extent_of(points);
  g.closed = shape.closed;
  if (g.closed) {
    if ((points.front() - points.back()).norm() <= slack) points.pop_back();
    if (points.size() < 3) fail(shape, "a closed spline needs at least 3 different points");
    points.push_back(points.front());
  }
  const auto spans = static_cast<Eigen::Index>(points.size()) - 1;
  const auto at = [&](Eigen::Index i) -> const Vec3& { return points[static_cast<std::size_t>(i)]; };
  Vec h(spans);
  g.knots = {0.0};
  for (Eigen::Index i = 0; i < spans; ++i) {
    h[i] = (at(i + 1) - at(i)).norm();
    if (h[i] <= slack) fail(shape, fmt::format("points {} and {} coincide", i + 1, (i + 1) % spans + 1));
    g.knots.push_back(g.knots.back() + h[i]);
  }
  Mat A = Mat::Zero(spans + 1, spans + 1), b = Mat::Zero(spans + 1, 2);
  const auto row = [&](Eigen::Index r, Eigen::Index left, Eigen::Index middle, Eigen::Index right, Eigen::Index i,
                       Eigen::Index j) {
    A(r, left) += h[i];
    A(r, middle) += 2 * (h[i] + h[j]);
    A(r, right) += h[j];
    b.row(r) = 6 * ((at(j + 1) - at(j)) / h[j] - (at(i + 1) - at(i)) / h[i]).head<2>().transpose();
  };
  for (Eigen::Index i = 1; i < spans; ++i) row(i, i - 1, i, i + 1, i - 1, i);
  if (g.closed) {
    row(0, spans - 1, 0, 1, spans - 1, 0);
    A(spans, spans) = 1;
    A(spans, 0) = -1;
  } else {
    A(0, 0) = A(spans, spans) = 1;
  }
  const Mat m = A.partialPivLu().solve(b);
  for (Eigen::Index i = 0; i < spans; ++i) {
    Eigen::Matrix<double, 4, 2> c;
    c.row(0) = at(i).head<2>().transpose();
    c.row(1) = (at(i + 1) - at(i)).head<2>().transpose() / h[i] - h[i] * (2 * m.row(i) + m.row(i + 1)) / 6;
    c.row(2) = m.row(i) / 2;
    c.row(3) = (m.row(i + 1) - m.row(i)) / (6 * h[i]);
    g.spline.push_back(c);
  }
  g.from = 0;
  g.to = g.knots.back();
}

void make_curve(const ContactShape& shape, Geometry& g) {
  if (!shape.x || !shape.y) fail(shape, "a curve needs x and y as functions of s");
  if (!(shape.to > shape.from)) fail(shape, "a curve needs from < to");
  g.x = shape.x;
  g.y = shape.y;
  g.from = shape.from;
  g.to = shape.to;
}

// Samples for the global search; closedness, convexity, bound. The ends of a closed contour must meet smoothly, or the
// seam would be a corner that nobody knows of.
void sample_contour(const ContactShape& shape, Geometry& g) {
  const int per_span = 8;
  const int count = g.kind == Kind::spline ? std::max(64, per_span * static_cast<int>(g.spline.size()))
                                           : (g.kind == Kind::curve ? 128 : 64);
  if (g.kind == Kind::curve) {
    const ContourPoint a = contour_at(g, g.from), b = contour_at(g, g.to);
    if (!a.r.allFinite() || !b.r.allFinite()) fail(shape, "x(s) or y(s) is not a finite number at an end");
    double extent = 0;
    for (int i = 0; i <= 16; ++i)
      extent = std::max(extent, (contour_at(g, g.from + (g.to - g.from) * i / 16).r - a.r).norm());
    const bool meet = (a.r - b.r).norm() <= 1e-9 * extent;
    const bool smooth = meet && (a.d1 - b.d1).norm() <= 1e-6 * a.d1.norm();
    if (shape.closed && !meet)
      fail(shape, fmt::format("it is said to be closed, but its ends are {:.3g} m apart", (a.r - b.r).norm()));
    if (meet && !smooth) fail(shape, "its ends meet with a corner", "split it, or let x and y be periodic in s");
    g.closed = smooth;
  }
  g.points.resize(static_cast<std::size_t>(count + (g.closed ? 0 : 1)));
  g.normals.resize(g.points.size());
  double largest_step = 0;
  g.convex = g.closed;
  const ContourPoint first = contour_at(g, sample_parameter(g, 0));
  for (std::size_t i = 0; i < g.points.size(); ++i) {
    const double s = sample_parameter(g, static_cast<int>(i));
    const ContourPoint p = contour_at(g, s);
    if (!p.r.allFinite() || !p.d1.allFinite() || !p.d2.allFinite() || !p.d3.allFinite())
      fail(shape, fmt::format("x(s) or y(s) or a derivative is not a finite number at s = {:.6g}", s));
    if (p.speed() * (g.to - g.from) <= 1e-9 * (p.r - first.r).norm() || p.speed() == 0)
      fail(shape, fmt::format("the curve stands still at s = {:.6g}: x'(s) = y'(s) = 0", s));
    g.points[i] = {p.r.x(), p.r.y(), 0};
    g.normals[i] = {p.outward().x(), p.outward().y(), 0};
    if (p.curvature() * p.speed() * (g.to - g.from) < -1e-9) g.convex = false;
    if (i > 0) {
      const double step = (g.points[i] - g.points[i - 1]).norm();
      largest_step = std::max(largest_step, step);
      g.pace += step / (g.to - g.from);
    }
    g.bound = std::max(g.bound, p.r.norm());
  }
  if (g.closed) {
    double area = 0;
    for (std::size_t i = 0; i < g.points.size(); ++i)
      area += cross2(g.points[i], g.points[(i + 1) % g.points.size()]) / 2;
    if (area < 0 && !g.hollow) g.convex = false;  // material outside: a hole of free form
  }
  g.bound += largest_step;
}

}  // namespace

Geometry make_geometry(const ContactShape& shape) {
  Geometry g;
  g.kind = shape.kind;
  g.radius = shape.radius;
  g.length = shape.length;
  g.size = shape.size;
  g.hollow = shape.hollow;
  const double infinite = std::numeric_limits<double>::infinity();
  require_finite_points(shape);
  if (shape.hollow && shape.kind != Kind::circle && shape.kind != Kind::sphere)
    fail(shape, "only circle and sphere can be hollow");
  switch (shape.kind) {
    case Kind::line:
      if (!(shape.length >= 0) || !std::isfinite(shape.length)) fail(shape, "its length must not be negative");
      g.bound = shape.length > 0 ? shape.length / 2 : infinite;
      break;
    case Kind::plane:
      g.bound = infinite;
      break;
    case Kind::circle:
    case Kind::sphere:
      if (!(shape.radius >= 0) || !std::isfinite(shape.radius)) fail(shape, "its radius must not be negative");
      if (shape.hollow) require_positive(shape, shape.radius, "the radius of a hole");
      g.bound = shape.hollow ? infinite : shape.radius;
      break;
    case Kind::polygon:
      make_polygon(shape, g);
      break;
    case Kind::ellipse:
      require_positive(shape, shape.size.x(), "its first semi-axis");
      require_positive(shape, shape.size.y(), "its second semi-axis");
      g.closed = true;
      g.to = 2 * std::numbers::pi;
      sample_contour(shape, g);
      break;
    case Kind::curve:
      make_curve(shape, g);
      sample_contour(shape, g);
      break;
    case Kind::spline:
      make_spline(shape, g);
      sample_contour(shape, g);
      break;
    case Kind::box: {
      for (int i = 0; i < 3; ++i) require_positive(shape, shape.size[i], "each edge of a box");
      std::vector<Vec3> corners;
      for (int i = 0; i < 8; ++i)
        corners.push_back(0.5 * shape.size.cwiseProduct(Vec3(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1)));
      if (!convex_hull(corners, g)) fail(shape, "one edge of the box is far too thin for the others");
      break;
    }
    case Kind::polytope:
      if (shape.points.size() < 4)
        fail(shape, fmt::format("a polytope needs at least 4 points, this has {}", shape.points.size()));
      if (!convex_hull(shape.points, g)) fail(shape, "its points lie in a plane", "a polytope needs a volume");
      break;
    case Kind::capsule:
      require_positive(shape, shape.radius, "its radius");
      if (!(shape.length >= 0) || !std::isfinite(shape.length)) fail(shape, "its length must not be negative");
      g.bound = shape.radius + shape.length / 2;
      break;
    case Kind::cylinder:
      require_positive(shape, shape.radius, "its radius");
      require_positive(shape, shape.length, "its length");
      g.bound = std::hypot(shape.radius, shape.length / 2);
      break;
  }
  return g;
}

}  // namespace clatter::contact
