// Kernels with contours: ellipse, curve, spline (P-12 to P-16).
//
// The parameters are found in double. For other scalars the contour is its Taylor series about them, the conditions of
// nearness are solved again in that scalar, and everything follows as a function of the poses.
// Features: 0 inside both, 1 and 2 the ends of the (first) contour, 3 and 4 the ends of the other.
#pragma once

#include "shapes/contour.hpp"
#include "shapes/kernels_planar.hpp"

namespace clatter::contact {

// Point and derivative at s + ds.
template <class T>
struct SeriesPoint {
  V2<T> r, d1;
  SeriesPoint(const ContourPoint& q, const T& ds) {
    for (int i = 0; i < 2; ++i) {
      r[i] = ((ds * (q.d3[i] / 6) + q.d2[i] / 2) * ds + q.d1[i]) * ds + q.r[i];
      d1[i] = (ds * (q.d3[i] / 2) + q.d2[i]) * ds + q.d1[i];
    }
  }
  V2<T> outward() const {
    const T speed = length_of<T, 2>(d1);
    return {d1.y() / speed, -d1.x() / speed};
  }
};

template <class T>
V2<T> turned(const Frame2<T>& frame, const V2<T>& v) {
  return frame.x * v.x() + frame.y * v.y();
}

template <class T>
Vec2 values(const V2<T>& v) {
  return {value(v.x()), value(v.y())};
}

// How far s + ds is from the nearer end, as a length.
template <class T>
T end_margin(const Geometry& g, double s, const T& ds) {
  if (g.closed) return T(far_away);
  const T ahead = (g.to - s) - ds, behind = ds + (s - g.from);
  return smaller<T>(ahead, behind) * g.pace;
}

inline Vec2 contour_end(const Geometry& g, int which) { return contour_at(g, which == 1 ? g.from : g.to).r; }

// Ball about c against a contour; n from the contour to the ball. With `hole` the ball is empty and holds the contour,
// which touches where it is farthest from c. A point (radius 0) does not touch an end.
template <class T>
bool ball_against_contour(const V2<T>& c, double radius, bool hole, const Geometry& g, const Frame2<T>& frame,
                          int& feature, double& s, Near2<T>& out) {
  const V2<T> local = frame.local(c);
  if constexpr (searching<T>) {
    const bool warm = feature == 0;
    feature = hole ? farthest_from_point(g, local, warm, s) : nearest_to_point(g, local, warm, s);
  }
  if (feature != 0) {
    const V2<T> corner = frame.point(contour_end(g, feature));
    if (!hole && radius == 0) return false;
    if (hole) {
      out = ball_in_hole<T, 2>(corner, 0, c, radius, frame.x);
      turn_round(out);
    } else {
      out = ball_ball<T, 2>(c, radius, corner, 0, frame.x);
    }
    return true;
  }
  const ContourPoint q = contour_at(g, s);
  T ds(0.0);
  for (int k = 0; k < newton_steps<T>; ++k) {
    const SeriesPoint<T> p(q, ds);
    const Vec2 d = values<T>(local) - q.r;
    const double slope = d.dot(q.d2) - q.d1.squaredNorm();
    if (slope == 0) break;
    const V2<T> e = local - p.r;
    ds -= e.dot(p.d1) / slope;
  }
  const SeriesPoint<T> p(q, ds);
  const V2<T> normal = p.outward();
  const T distance = normal.dot(V2<T>(local - p.r));
  out.n = turned<T>(frame, normal);
  out.p2 = frame.p + turned<T>(frame, p.r);
  out.gap = hole ? T(distance + radius) : T(distance - radius);
  out.p1 = hole ? V2<T>(c + out.n * radius) : V2<T>(c - out.n * radius);
  out.margin = end_margin<T>(g, s, ds);
  return true;
}

// Contour (first) against the line through o with outward normal m in the axes of `frame`: its lowest point, or its
// end.
template <class T>
bool contour_against_edge(const Geometry& g, const Frame2<T>& A, const Frame2<T>& frame, const Vec2& o, const Vec2& m,
                          Branch& branch, Near2<T>& out) {
  const V2<T> n = frame.direction(m);
  const V2<T> local = {A.x.dot(n), A.y.dot(n)};
  if constexpr (searching<T>) branch.feature = lowest_along(g, local, branch.feature == 0, branch.s1);
  if (branch.feature != 0) {
    out = ball_line<T>(A.point(contour_end(g, branch.feature)), 0, frame, o, m);
    return true;
  }
  const ContourPoint q = contour_at(g, branch.s1);
  T ds(0.0);
  for (int k = 0; k < newton_steps<T>; ++k) {
    const double slope = values<T>(local).dot(q.d2);
    if (slope == 0) break;
    ds -= local.dot(SeriesPoint<T>(q, ds).d1) / slope;
  }
  const SeriesPoint<T> p(q, ds);
  out = ball_line<T>(V2<T>(A.p + turned<T>(A, p.r)), 0, frame, o, m);
  out.margin = end_margin<T>(g, branch.s1, ds);
  return true;
}

// A line that ends below the contour's lowest point offers its end instead.
template <class T>
bool contour_line(const Geometry& a, const Geometry& b, const Frame2<T>& A, const Frame2<T>& B, Branch& branch,
                  Near2<T>& out) {
  const double half = b.length / 2;
  const auto against_end = [&] {
    const V2<T> end = B.point(Vec2(branch.feature == 3 ? half : -half, 0));
    int feature = searching<T> ? -1 : 0;
    if (!ball_against_contour<T>(end, 0, false, a, A, feature, branch.s1, out)) return false;
    turn_round(out);
    return true;
  };
  if (!searching<T> && branch.feature >= 3) return against_end();
  if (!contour_against_edge<T>(a, A, B, Vec2::Zero(), Vec2::UnitY(), branch, out)) return false;
  if (b.length == 0) return true;
  const T x = B.local(out.p1).x();
  if constexpr (searching<T>) {
    if (std::abs(x) > half) {
      branch.feature = x > 0 ? 3 : 4;
      return against_end();
    }
    if (out.gap < -half) return false;
  }
  out.margin = smaller<T>(out.margin, value(x) > 0 ? T(half - x) : T(x + half));
  return true;
}

// Slots: the polygon's vertices against the contour, then the contour against the polygon's edges. An edge counts only
// where the polygon itself would name it: the far edges lie above everything.
template <class T>
bool contour_polygon(const Geometry& a, const Geometry& b, int slot, const Frame2<T>& A, const Frame2<T>& B,
                     Branch& branch, Near2<T>& out) {
  const int count = count_of(b.points);
  if (slot < count) {
    if (!ball_against_contour<T>(B.point(item(b.points, slot)), 0, false, a, A, branch.feature, branch.s1, out))
      return false;
    turn_round(out);
    return true;
  }
  const int e = slot - count;
  contour_against_edge<T>(a, A, B, flat(item(b.points, e)), flat(item(b.normals, e)), branch, out);
  const V2<T> local = B.local(out.p1);
  const T overhang = edge_overhang<T>(b, e, local);
  if constexpr (searching<T>) {
    double largest, second;
    if (overhang < 0 || outermost_edge(b, local, largest, second) != e) return false;
  }
  out.margin = smaller<T>(out.margin, overhang);
  return true;
}

template <class T>
bool contour_contour(const Geometry& a, const Geometry& b, const Frame2<T>& A, const Frame2<T>& B, Branch& branch,
                     Near2<T>& out) {
  if constexpr (searching<T>) {
    Plane2 x1, x2;
    x1.R << A.x, A.y;
    x1.p = A.p;
    x2.R << B.x, B.y;
    x2.p = B.p;
    branch.feature = nearest_of_two(a, x1, b, x2, branch.feature == 0, branch.s1, branch.s2);
    if (branch.feature < 0) return false;
  }
  if (branch.feature > 0) {
    const bool of_first = branch.feature <= 2;
    const Geometry &with_end = of_first ? a : b, &other = of_first ? b : a;
    const Frame2<T>&E = of_first ? A : B, &O = of_first ? B : A;
    const V2<T> end = E.point(contour_end(with_end, of_first ? branch.feature : branch.feature - 2));
    int feature = searching<T> ? -1 : 0;
    double& s = of_first ? branch.s2 : branch.s1;
    if (!ball_against_contour<T>(end, 0, false, other, O, feature, s, out)) return false;
    if (!of_first) turn_round(out);
    return true;
  }
  const ContourPoint q1 = contour_at(a, branch.s1), q2 = contour_at(b, branch.s2);
  const auto cross = [](const auto& u, const auto& w) { return u.x() * w.y() - u.y() * w.x(); };
  T ds1(0.0), ds2(0.0);
  if constexpr (!searching<T>) {
    const Vec2 Ax = values<T>(A.x), Ay = values<T>(A.y), Bx = values<T>(B.x), By = values<T>(B.y);
    const auto at1 = [&](const Vec2& v) { return Vec2(Ax * v.x() + Ay * v.y()); };
    const auto at2 = [&](const Vec2& v) { return Vec2(Bx * v.x() + By * v.y()); };
    const Vec2 d = values<T>(B.p) + at2(q2.r) - values<T>(A.p) - at1(q1.r);
    const Vec2 u1 = at1(q1.d1), u2 = at2(q2.d1), w1 = at1(q1.d2), w2 = at2(q2.d2);
    const double J11 = cross(w1, u2), J12 = cross(u1, w2), J21 = d.dot(w1) - u1.dot(u1), J22 = u1.dot(u2);
    const double det = J11 * J22 - J12 * J21;
    if (!(std::abs(det) > 0)) return false;
    for (int k = 0; k < newton_steps<T>; ++k) {
      const SeriesPoint<T> p1(q1, ds1), p2(q2, ds2);
      const V2<T> t1 = turned<T>(A, p1.d1), t2 = turned<T>(B, p2.d1);
      const V2<T> r = B.p + turned<T>(B, p2.r) - A.p - turned<T>(A, p1.r);
      const T F1 = cross(t1, t2), F2 = r.dot(t1);
      ds1 -= (F1 * J22 - F2 * J12) / det;
      ds2 -= (F2 * J11 - F1 * J21) / det;
    }
  }
  const SeriesPoint<T> p1(q1, ds1), p2(q2, ds2);
  out.p1 = A.p + turned<T>(A, p1.r);
  out.p2 = B.p + turned<T>(B, p2.r);
  out.n = -turned<T>(A, p1.outward());
  out.gap = out.n.dot(V2<T>(out.p1 - out.p2));
  out.margin = smaller<T>(end_margin<T>(a, branch.s1, ds1), end_margin<T>(b, branch.s2, ds2));
  return true;
}

}  // namespace clatter::contact
