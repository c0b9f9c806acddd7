// Search on contours in double: the samples of the shape give a global start, a Newton iteration held between the
// neighbours of the best sample gives the place.
#include <algorithm>
#include <cmath>
#include <limits>

#include "shapes/contour.hpp"

namespace clatter::contact {

namespace {

constexpr int most_iterations = 60;

// First and second derivative of the function at a point of the contour.
struct Slopes {
  double first, second;
};

// Least value of a function given at samples (`at_sample`, of position) with `slopes` at any point.
template <class Value, class Derivatives>
int least_on_contour(const Geometry& g, const Value& at, const Derivatives& slopes, bool warm, double& s) {
  const int count = static_cast<int>(g.points.size());
  int best = 0;
  double least = std::numeric_limits<double>::infinity(), most = -least;
  for (int i = 0; i < count; ++i) {
    const double f = at(Vec2(g.points[static_cast<std::size_t>(i)].head<2>()));
    most = std::max(most, f);
    if (f < least) {
      least = f;
      best = i;
    }
  }
  const double spacing = sample_parameter(g, 1) - sample_parameter(g, 0);
  const double tiny = 1e-15 * (g.to - g.from);
  if (warm) {
    double x = s;
    for (int k = 0; k < 8; ++k) {
      const ContourPoint p = contour_at(g, x);
      const Slopes d = slopes(p);
      if (!(d.second > 0)) break;
      const double step = -d.first / d.second;
      if (std::abs(step) > spacing) break;
      x += step;
      if (!g.closed && (x < g.from || x > g.to)) break;
      if (std::abs(step) <= 100 * tiny) {
        if (at(contour_at(g, x).r) > least + 1e-12 * (most - least)) break;
        s = contour_wrap(g, x);
        return 0;
      }
    }
  }
  double low = sample_parameter(g, best) - spacing, high = sample_parameter(g, best) + spacing;
  if (!g.closed) {
    low = std::max(low, g.from);
    high = std::min(high, g.to);
    if (best == 0 && slopes(contour_at(g, g.from)).first >= 0) return 1;
    if (best == count - 1 && slopes(contour_at(g, g.to)).first <= 0) return 2;
  }
  double x = sample_parameter(g, best);
  for (int k = 0; k < most_iterations; ++k) {
    const ContourPoint p = contour_at(g, x);
    const Slopes d = slopes(p);
    (d.first > 0 ? high : low) = x;
    double next = d.second > 0 ? x - d.first / d.second : (low + high) / 2;
    if (!(next >= low && next <= high)) next = (low + high) / 2;
    const double step = next - x;
    x = next;
    if (std::abs(step) <= tiny) break;
  }
  s = contour_wrap(g, x);
  return 0;
}

double cross(const Vec2& a, const Vec2& b) { return a.x() * b.y() - a.y() * b.x(); }

// Samples to start from: of convex contours the pair whose direction separates most (right for overlap too, where the
// nearest points of the two lines are crossings); of others the nearest pair that faces each other.
void start_of_two(const Geometry& g1, const Plane2& x1, const Geometry& g2, const Plane2& x2, double& s1, double& s2) {
  const Eigen::Matrix2d R = x2.R.transpose() * x1.R;  // of the first in the axes of the second
  const Vec2 p = x2.R.transpose() * (x1.p - x2.p);
  const bool convex = g1.convex && g2.convex;
  const int count1 = static_cast<int>(g1.points.size()), count2 = static_cast<int>(g2.points.size());
  double best = -std::numeric_limits<double>::infinity();
  int best1 = 0, best2 = 0;
  for (int i = 0; i < count1; ++i) {
    const Vec2 r1 = p + R * g1.points[static_cast<std::size_t>(i)].head<2>();
    const Vec2 n1 = R * g1.normals[static_cast<std::size_t>(i)].head<2>();
    const bool end1 = !g1.closed && (i == 0 || i == count1 - 1);
    double merit = -std::numeric_limits<double>::infinity();
    int partner = 0;
    for (int j = 0; j < count2; ++j) {
      const Vec2 d = g2.points[static_cast<std::size_t>(j)].head<2>() - r1;
      const bool end2 = !g2.closed && (j == 0 || j == count2 - 1);
      double m;
      if (convex) {
        m = -n1.dot(d);
      } else {
        if (!end1 && !end2 && n1.dot(g2.normals[static_cast<std::size_t>(j)].head<2>()) > -0.2) continue;
        m = -d.squaredNorm();
      }
      if (m > merit) {
        merit = m;
        partner = j;
      }
    }
    if (convex) merit = -merit;
    if (merit > best) {
      best = merit;
      best1 = i;
      best2 = partner;
    }
  }
  s1 = sample_parameter(g1, best1);
  s2 = sample_parameter(g2, best2);
}

// P-15 with r' in the place of the unit tangents: F1 = r1' x r2' = 0, F2 = (r2 - r1) . (r1' - r2') = 0. Where the first
// holds with opposite normals, r1' - r2' is along the tangent: the same as (r2 - r1) . r1' = 0, and the same steps for
// the first contour as for the second.
struct Conditions {
  Vec2 d, u1, u2, w1, w2;
  Conditions(const Plane2& x1, const ContourPoint& q1, const Plane2& x2, const ContourPoint& q2)
      : d(x2.p + x2.R * q2.r - x1.p - x1.R * q1.r),
        u1(x1.R * q1.d1),
        u2(x2.R * q2.d1),
        w1(x1.R * q1.d2),
        w2(x2.R * q2.d2) {}
  bool newton(double& step1, double& step2) const {
    const Vec2 along = u1 - u2;
    const double F1 = cross(u1, u2), F2 = d.dot(along);
    const double J11 = cross(w1, u2), J12 = cross(u1, w2);
    const double J21 = d.dot(w1) - u1.dot(along), J22 = u2.dot(along) - d.dot(w2);
    const double det = J11 * J22 - J12 * J21;
    if (!(std::abs(det) > 0)) return false;
    step1 = -(J22 * F1 - J12 * F2) / det;
    step2 = -(J11 * F2 - J21 * F1) / det;
    return true;
  }
};

// Whether two places face each other, as a proper minimum; their gap.
bool faces(const Plane2& x1, const ContourPoint& q1, const Plane2& x2, const ContourPoint& q2, double& gap) {
  const Vec2 n1 = x1.R * q1.outward(), n2 = x2.R * q2.outward();
  gap = n1.dot(Vec2(x2.p + x2.R * q2.r - x1.p - x1.R * q1.r));
  const double kappa1 = q1.curvature(), kappa2 = q2.curvature();
  return n1.dot(n2) <= -0.999999 && kappa1 + kappa2 + gap * kappa1 * kappa2 > 0;
}

// 0 converged; 1..4 left the range of an open contour; -1 not converged or a wrong root.
int newton_of_two(const Geometry& g1, const Plane2& x1, const Geometry& g2, const Plane2& x2, double& s1, double& s2) {
  const double most1 = 2 * (sample_parameter(g1, 1) - sample_parameter(g1, 0));
  const double most2 = 2 * (sample_parameter(g2, 1) - sample_parameter(g2, 0));
  double a = s1, b = s2;
  for (int k = 0; k < most_iterations; ++k) {
    double step1, step2;
    if (!Conditions(x1, contour_at(g1, a), x2, contour_at(g2, b)).newton(step1, step2)) return -1;
    const double shrink = std::max({1.0, std::abs(step1) / most1, std::abs(step2) / most2});
    step1 /= shrink;
    step2 /= shrink;
    a += step1;
    b += step2;
    if (!g1.closed && (a < g1.from || a > g1.to)) return a < g1.from ? 1 : 2;
    if (!g2.closed && (b < g2.from || b > g2.to)) return b < g2.from ? 3 : 4;
    if (std::abs(step1) <= 1e-13 * (g1.to - g1.from) && std::abs(step2) <= 1e-13 * (g2.to - g2.from)) {
      double gap;
      if (!faces(x1, contour_at(g1, a), x2, contour_at(g2, b), gap)) return -1;
      s1 = contour_wrap(g1, a);
      s2 = contour_wrap(g2, b);
      return 0;
    }
  }
  return -1;
}

// Of all places where two contours face each other the nearest: Newton's method from every pair of intervals between
// samples in which both conditions can vanish. For where it leads from the nearest samples to no such place.
bool nearest_of_all(const Geometry& g1, const Plane2& x1, const Geometry& g2, const Plane2& x2, double& s1,
                    double& s2) {
  const Eigen::Matrix2d R = x2.R.transpose() * x1.R;
  const Vec2 p = x2.R.transpose() * (x1.p - x2.p);
  const int count1 = static_cast<int>(g1.points.size()), count2 = static_cast<int>(g2.points.size());
  const auto conditions = [&](int i, int j) {
    const auto k1 = static_cast<std::size_t>(i % count1), k2 = static_cast<std::size_t>(j % count2);
    const Vec2 d = g2.points[k2].head<2>() - p - R * g1.points[k1].head<2>();
    const Vec2 n1 = R * g1.normals[k1].head<2>(), n2 = g2.normals[k2].head<2>();
    return Vec3(cross(n1, n2), cross(d, n1 - n2), n1.dot(n2));
  };
  const int cells1 = g1.closed ? count1 : count1 - 1, cells2 = g2.closed ? count2 : count2 - 1;
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < cells1; ++i)
    for (int j = 0; j < cells2; ++j) {
      const Vec3 c[4] = {conditions(i, j), conditions(i + 1, j), conditions(i, j + 1), conditions(i + 1, j + 1)};
      const auto changes = [&](int k) {
        const auto [least, most] = std::minmax({c[0][k], c[1][k], c[2][k], c[3][k]});
        return least <= 0 && most >= 0;
      };
      if (std::min({c[0][2], c[1][2], c[2][2], c[3][2]}) >= 0 || !changes(0) || !changes(1)) continue;
      double a = 0.5 * (sample_parameter(g1, i) + sample_parameter(g1, i + 1));
      double b = 0.5 * (sample_parameter(g2, j) + sample_parameter(g2, j + 1));
      double gap;
      if (newton_of_two(g1, x1, g2, x2, a, b) != 0) continue;
      if (!faces(x1, contour_at(g1, a), x2, contour_at(g2, b), gap) || !(std::abs(gap) < best)) continue;
      best = std::abs(gap);
      s1 = a;
      s2 = b;
    }
  return std::isfinite(best);
}

}  // namespace

int nearest_to_point(const Geometry& g, const Vec2& c, bool warm, double& s) {
  return least_on_contour(
      g, [&](const Vec2& r) { return (c - r).squaredNorm() / 2; },
      [&](const ContourPoint& p) {
        return Slopes{-(c - p.r).dot(p.d1), p.d1.squaredNorm() - (c - p.r).dot(p.d2)};
      },
      warm, s);
}

int farthest_from_point(const Geometry& g, const Vec2& c, bool warm, double& s) {
  return least_on_contour(
      g, [&](const Vec2& r) { return -(c - r).squaredNorm() / 2; },
      [&](const ContourPoint& p) {
        return Slopes{(c - p.r).dot(p.d1), (c - p.r).dot(p.d2) - p.d1.squaredNorm()};
      },
      warm, s);
}

int lowest_along(const Geometry& g, const Vec2& m, bool warm, double& s) {
  return least_on_contour(
      g, [&](const Vec2& r) { return m.dot(r); },
      [&](const ContourPoint& p) {
        return Slopes{m.dot(p.d1), m.dot(p.d2)};
      },
      warm, s);
}

int nearest_of_two(const Geometry& g1, const Plane2& x1, const Geometry& g2, const Plane2& x2, bool warm, double& s1,
                   double& s2) {
  if (warm && newton_of_two(g1, x1, g2, x2, s1, s2) == 0) return 0;
  start_of_two(g1, x1, g2, x2, s1, s2);
  const int found = newton_of_two(g1, x1, g2, x2, s1, s2);
  if (found == 0) return 0;
  // Where the nearest sample is the end of an open contour, that end is the place.
  if (!g1.closed && (s1 <= g1.from || s1 >= g1.to)) return s1 <= g1.from ? 1 : 2;
  if (!g2.closed && (s2 <= g2.from || s2 >= g2.to)) return s2 <= g2.from ? 3 : 4;
  return nearest_of_all(g1, x1, g2, x2, s1, s2) ? 0 : found;
}

}  // namespace clatter::contact
