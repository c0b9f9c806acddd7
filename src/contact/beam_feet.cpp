// Where the stations of a pair of beams touch: feet on sides, ends, corners and crossings (Y-19 to Y-22).
#include <algorithm>
#include <cmath>
#include <limits>

#include "contact/beam_touch.hpp"

namespace clatter::contact {

namespace {

using Runs = BeamCurve::Runs;
using Kind = BeamStation::Kind;
using Share = BeamRowKind::Share;

// Sides of quadratic elements have small kinks at the nodes: a foot may lie this part of an element beyond its end
// where another element follows.
constexpr double kKink = 0.05;
// Feet are not followed farther than this part of an element beyond its end.
constexpr double kBeyond = 0.2;
constexpr int kSteps = 40;
constexpr double kEps = 1e-14;

std::size_t sz(int i) { return static_cast<std::size_t>(i); }

BeamVector<double, 2> left_of(const BeamVector<double, 2>& t) { return {-t.y(), t.x()}; }

// The side of a planar beam that looks to the left of its axis has y > 0.
double sign_of_side(double y) { return y > 0 ? 1 : -1; }
// Across an end the parameter y runs to the left of the axis: outward is to its right at the end, left at the start.
double sign_of_face(Runs runs) { return runs == Runs::across_end ? -1 : 1; }

}  // namespace

void BeamTouch::take(const BeamStation& s, FootKind kind, const BeamCurve& curve, double x, double sign, double gap,
                     Foot& foot) const {
  const BeamOutline &slave = pair_.slave(s), &master = pair_.master(s);
  foot.present = true;
  foot.curve = curve;
  foot.x = x;
  foot.xs = s.x;
  foot.gap = gap;
  BeamRowKind& row = foot.row;
  row.kind = kind;
  row.sign = sign;
  row.radius = slave.radius + master.radius;
  row.skin[0] = slave.skin();
  row.skin[1] = master.skin();
  row.skin_radius[0] = slave.radius;
  row.skin_radius[1] = master.radius;
  row.share = Share::whole;
  row.half = std::max(slave.reach(), master.reach());
  row.cos_least = cos_least_;
}

template <int D>
double BeamTouch::project(const BeamOutline& beam, const BeamCurve& curve, const BeamVector<double, D>& P) const {
  const double L = beam.length(curve.element);
  double x = 0, least = std::numeric_limits<double>::infinity();
  for (const double z : {0.0, 0.25, 0.5, 0.75, 1.0}) {
    const double d = (at<D>(beam, curve, z * L, 0) - P).squaredNorm();
    if (d < least) {
      least = d;
      x = z * L;
    }
  }
  for (int step = 0; step < kSteps; ++step) {
    const auto d = (P - at<D>(beam, curve, x, 0)).eval(), M1 = at<D>(beam, curve, x, 1);
    const double F = d.dot(M1), steep = M1.squaredNorm();
    double slope = steep - d.dot(at<D>(beam, curve, x, 2));
    if (slope < 0.1 * steep) slope = steep;  // beyond the centre of curvature
    const double next = std::clamp(x + std::clamp(F / slope, -0.5 * L, 0.5 * L), -kBeyond * L, (1 + kBeyond) * L);
    const bool done = std::abs(next - x) < kEps * L;  // also where it would go on beyond the element
    x = next;
    if (done) break;
  }
  return x;
}

bool BeamTouch::allowed(const BeamStation& s, int element) const {
  if (!pair_.self) return true;
  const int apart = std::abs(s.curve.element - element);
  if (apart < 2) return false;
  const BeamOutline& beam = pair_.beam[0];
  if (beam.sides) return true;
  // Tubes: no hairpin is tighter than its own radius.
  double arc = 0;
  for (int e = std::min(s.curve.element, element) + 1; e < std::max(s.curve.element, element); ++e)
    arc += beam.length(e);
  return arc > 4 * beam.radius;
}

// Ends of the master whose normal planes cut the segment near them.
template <int D>
bool BeamTouch::cover(const BeamStation& s, Foot& foot) const {
  const BeamOutline &slave = pair_.slave(s), &master = pair_.master(s);
  Edge *low = &foot.edge[0], *high = &foot.edge[1];
  *low = {};
  *high = {};
  low->at = s.from;
  high->at = s.to;
  const double near = slave.reach() + master.reach();
  const auto middle = at<D>(slave, s.curve, 0.5 * (s.from + s.to), 0);
  const double span = nominal_length(s);
  for (const bool finish : {false, true}) {
    const int e = finish ? master.elements() - 1 : 0;
    if (!allowed(s, e)) continue;
    const double end = finish ? master.length(e) : 0.0, out = finish ? 1 : -1;
    for (int side = 0; side < (master.sides ? 2 : 1); ++side) {
      const BeamCurve curve{Runs::along, e, master.sides ? (side ? master.half : -master.half) : 0.0};
      const auto E = at<D>(master, curve, end, 0);
      // A beam stretched to twice its length would still be near enough.
      if ((E - middle).norm() > span + 2 * near) continue;
      const auto T = at<D>(master, curve, end, 1);
      const auto beyond = [&](double x) { return out * (at<D>(slave, s.curve, x, 0) - E).dot(T); };
      double a = low->at, b = high->at;
      const double Fa = beyond(a), Fb = beyond(b);
      if ((Fa > 0) == (Fb > 0)) continue;
      // Newton's method, kept between the two.
      double x = a + (b - a) * Fa / (Fa - Fb);
      for (int step = 0; step < kSteps; ++step) {
        const double F = beyond(x);
        ((F > 0) == (Fa > 0) ? a : b) = x;
        double next = x - F / (out * at<D>(slave, s.curve, x, 1).dot(T));
        if (!(next >= a && next <= b)) next = 0.5 * (a + b);
        const bool done = std::abs(next - x) < kEps * span;
        x = next;
        if (done) break;
      }
      const BeamVector<double, D> d = at<D>(slave, s.curve, x, 0) - E;
      if (d.norm() > (master.sides ? 1 : 2) * near) continue;
      if constexpr (D == 2) {
        if (master.sides && slave.sides &&
            (sign_of_side(curve.y) * left_of(T)).dot(sign_of_side(s.curve.y) * left_of(at<2>(slave, s.curve, x, 1))) >=
                0)
          continue;
      }
      Edge& edge = Fa > 0 ? *low : *high;
      edge = {true, x, curve, end};
    }
  }
  return high->at > low->at;
}

// A point of a side (of an axis) against the sides (the axis) of the master.
template <int D>
void BeamTouch::locate_line(const BeamStation& s, const std::vector<int>& candidates, Foot& foot) const {
  const BeamOutline &slave = pair_.slave(s), &master = pair_.master(s);
  if (!rigid_ && !cover<D>(s, foot)) return;
  const double xs = rigid_ ? s.x : foot.edge[0].at + s.z * (foot.edge[1].at - foot.edge[0].at);
  const auto P = at<D>(slave, s.curve, xs, 0), S1 = at<D>(slave, s.curve, xs, 1);
  const double deepest = -(slave.reach() + master.reach()), half = std::max(slave.reach(), master.reach());
  double best = std::numeric_limits<double>::infinity();
  for (const int e : candidates) {
    if (!allowed(s, e) || (pair_.self && !pair_.both && e < s.curve.element)) continue;
    if (distance_bound(master, e, in_space(P)) - slave.radius > best) continue;
    for (int side = 0; side < (master.sides ? 2 : 1); ++side) {
      BeamCurve curve{Runs::along, e, master.sides ? (side ? master.half : -master.half) : 0.0};
      const double L = master.length(e), x = project<D>(master, curve, P);
      const double low = e > 0 ? -kKink * L : 0, high = e + 1 < master.elements() ? (1 + kKink) * L : L;
      if (x < low || x > high) continue;
      const auto M1 = at<D>(master, curve, x, 1);
      const BeamVector<double, D> d = P - at<D>(master, curve, x, 0);
      double gap = 0, sign = 1;
      if constexpr (D == 2) {
        if (master.sides) {
          sign = sign_of_side(curve.y);
          const BeamVector<double, 2> n = sign * left_of(M1).normalized();
          // A tube looks in every direction.
          if (slave.sides && n.dot(sign_of_side(s.curve.y) * left_of(S1)) >= 0) continue;
          gap = d.dot(n) - slave.radius;
        }
      }
      if (!master.sides) gap = d.norm() - (slave.sides ? 0 : slave.radius) - master.radius;
      if (gap <= deepest) continue;
      const double beyond = std::max({0.0, -x, x - L});
      const double score = std::abs(gap) + 100 * beyond;
      if (score >= best) continue;
      if (switches() && share_of_lines<D>(S1, at<D>(slave, s.curve, xs, 2), M1, at<D>(master, curve, x, 2), half) == 0)
        continue;
      best = score;
      take(s, master.sides ? FootKind::side : FootKind::tube, curve, x, sign, gap, foot);
      foot.xs = xs;
      foot.row.z = s.z;
      if (switches() && !rigid_) foot.row.share = Share::line;
    }
  }
}

// A corner of an outline against an outline.
template <int D>
void BeamTouch::locate_corner(const BeamStation& s, const std::vector<int>& candidates, Foot& foot) const {
  if constexpr (D == 2) {
    using V = BeamVector<double, 2>;
    const BeamOutline &slave = pair_.slave(s), &master = pair_.master(s);
    const V P = at<2>(slave, s.curve, s.x, 0), S1 = at<2>(slave, s.curve, s.x, 1);
    const V inside = at<2>(slave, {Runs::along, s.curve.element, 0}, s.x, 0);
    const double deepest = -(slave.reach() + master.reach()), H = master.half;
    const int last = master.elements() - 1;
    double best = std::numeric_limits<double>::infinity();
    const auto touch = [&](FootKind kind, const BeamCurve& curve, double x, double sign, double gap) {
      take(s, kind, curve, x, sign, gap, foot);
      best = std::abs(gap);
    };
    // Where the slave's end lies in front of an end face more than beside it, that face is what it meets.
    const auto face_at = [&](Runs runs, V& middle, V& ry) {
      const int e = runs == Runs::across_end ? last : 0;
      const double x = runs == Runs::across_end ? master.length(e) : 0;
      middle = at<2>(master, {Runs::along, e, 0}, x, 0);
      ry = (at<2>(master, {Runs::along, e, H}, x, 0) - middle) / H;
    };
    const auto in_front = [&](Runs runs) {
      V middle, ry;
      face_at(runs, middle, ry);
      const V y = ry.normalized(), out = sign_of_face(runs) * left_of(y), d = inside - middle;
      return d.dot(out) > 0 && d.dot(out) >= std::abs(d.dot(y)) - H;
    };
    bool facing = false;
    for (const int e : candidates) {
      if (!allowed(s, e)) continue;
      const BeamCurve axis{Runs::along, e, 0};
      const double L = master.length(e);
      // The side on which the slave's end lies.
      const double xi = std::clamp(project<2>(master, axis, inside), 0.0, L);
      const V across = left_of(at<2>(master, axis, xi, 1));
      const double side = across.dot(inside - at<2>(master, axis, xi, 0)) >= 0 ? 1 : -1;
      const BeamCurve curve{Runs::along, e, side * H};
      const double x = project<2>(master, curve, P);
      const V M1 = at<2>(master, curve, x, 1), n = side * left_of(M1).normalized();
      const double gap = n.dot(P - at<2>(master, curve, x, 0));
      for (const bool finish : {false, true}) {
        if (e != (finish ? last : 0)) continue;
        const Runs runs = finish ? Runs::across_end : Runs::across_start;
        const bool beyond = finish ? x > L : x < 0, front = in_front(runs);
        const BeamCurve face{runs, e, 0};
        V at0, ry;
        face_at(runs, at0, ry);
        const V out = sign_of_face(runs) * left_of(ry).normalized();
        const double y = (P - at0).dot(ry) / ry.squaredNorm(), ahead = out.dot(P - at0);
        // A corner that rests on a face stays on it while the end it belongs to slides past: the side would find it as
        // deep as the end has slid.
        const bool shallow = std::abs(y) <= H && gap < 0 && std::abs(ahead) < -gap;
        if (!beyond && !front && !shallow) continue;
        if (std::abs(y) <= H) {
          if (ahead > deepest && (ahead > 0 || front || shallow) && std::abs(ahead) < best)
            touch(FootKind::side, face, y, sign_of_face(runs), ahead);
          facing = facing || front;
        } else if (ahead > 0 && gap > 0) {
          // Beyond the corner of both: from corner to corner, once for each pair of corners.
          const double distance = (P - at<2>(master, curve, finish ? L : 0.0, 0)).norm();
          if (distance < best && !(s.second && !pair_.self))
            touch(FootKind::point, curve, finish ? L : 0.0, 1, distance);
        }
      }
      const double low = e > 0 ? -kKink * L : 0, high = e < last ? (1 + kKink) * L : L;
      if (x < low || x > high || gap <= deepest || facing) continue;
      const double score = std::abs(gap) + 100 * std::max({0.0, -x, x - L});
      if (score >= best) continue;
      if (leaves_to_lines() &&
          (!switches() || share_of_lines<2>(S1, at<2>(slave, s.curve, s.x, 2), M1, at<2>(master, curve, x, 2),
                                            std::max(slave.half, H)) == 1))
        continue;
      touch(FootKind::side, curve, x, side, gap);
      if (leaves_to_lines()) foot.row.share = Share::rest;
    }
  } else {
    (void)s, (void)candidates, (void)foot;
  }
}

// The end of an axis against a tube, or against an outline; and the corner of an outline against a tube.
template <int D>
void BeamTouch::locate_end(const BeamStation& s, const std::vector<int>& candidates, Foot& foot) const {
  const BeamOutline &slave = pair_.slave(s), &master = pair_.master(s);
  const auto P = at<D>(slave, s.curve, s.x, 0), S1 = at<D>(slave, s.curve, s.x, 1);
  double best = std::numeric_limits<double>::infinity();
  const double radius = slave.radius + master.radius, half = std::max(slave.reach(), master.reach());
  for (const int e : candidates) {
    if (!allowed(s, e) || distance_bound(master, e, in_space(P)) - slave.radius > best) continue;
    for (int side = 0; side < (master.sides ? 2 : 1); ++side) {
      const BeamCurve curve{Runs::along, e, master.sides ? (side ? master.half : -master.half) : 0.0};
      const double L = master.length(e), x = std::clamp(project<D>(master, curve, P), 0.0, L);
      const BeamVector<double, D> d = P - at<D>(master, curve, x, 0);
      const double gap = d.norm() - radius;
      if (gap >= best) continue;
      const bool capped = (x == 0 && e == 0) || (x == L && e + 1 == master.elements());
      const bool leaves = leaves_to_lines() && !capped;
      if (leaves && (!switches() || share_of_lines<D>(S1, at<D>(slave, s.curve, s.x, 2), at<D>(master, curve, x, 1),
                                                      at<D>(master, curve, x, 2), half) == 1))
        continue;
      best = gap;
      take(s, capped ? FootKind::point : FootKind::tube, curve, x, 1, gap, foot);
      // Both ends find each other; the first beam's keeps it.
      foot.present = !(capped && s.second && !pair_.self);
      if (leaves) foot.row.share = Share::rest;
    }
  }
}

// The nearest points of two axes in space.
template <int D>
void BeamTouch::locate_crossing(const BeamStation& s, const std::vector<int>& candidates, Foot& foot) const {
  if constexpr (D == 3) {
    const BeamOutline &slave = pair_.slave(s), &master = pair_.master(s);
    const double Ls = slave.length(s.curve.element), radius = slave.radius + master.radius;
    double best = std::numeric_limits<double>::infinity();
    for (const int e : candidates) {
      if (!allowed(s, e) || (pair_.self && e < s.curve.element)) continue;
      const BeamCurve curve{Runs::along, e, 0};
      const double L = master.length(e);
      double x = 0, y = 0, least = std::numeric_limits<double>::infinity();
      for (const double zs : {0.0, 0.25, 0.5, 0.75, 1.0}) {
        const Vec3 S = at<3>(slave, s.curve, zs * Ls, 0);
        for (const double zm : {0.0, 0.25, 0.5, 0.75, 1.0}) {
          const double d = (S - at<3>(master, curve, zm * L, 0)).squaredNorm();
          if (d < least) {
            least = d;
            x = zm * L;
            y = zs * Ls;
          }
        }
      }
      bool regular = true;
      for (int step = 0; step < kSteps; ++step) {
        const Vec3 d = at<3>(slave, s.curve, y, 0) - at<3>(master, curve, x, 0);
        const Vec3 S1 = at<3>(slave, s.curve, y, 1), M1 = at<3>(master, curve, x, 1);
        double Fx = d.dot(at<3>(master, curve, x, 2)) - M1.squaredNorm();
        double Gy = d.dot(at<3>(slave, s.curve, y, 2)) + S1.squaredNorm();
        if (Fx > -0.1 * M1.squaredNorm()) Fx = -M1.squaredNorm();
        if (Gy < 0.1 * S1.squaredNorm()) Gy = S1.squaredNorm();
        const double F = d.dot(M1), G = d.dot(S1), Fy = S1.dot(M1), det = Fx * Gy + Fy * Fy;
        regular = std::abs(det) > 1e-9 * M1.squaredNorm() * S1.squaredNorm();
        if (!regular) break;
        const double dx = std::clamp((F * Gy - Fy * G) / det, -0.5 * L, 0.5 * L);
        const double dy = std::clamp((Fx * G + Fy * F) / det, -0.5 * Ls, 0.5 * Ls);
        const double to_x = std::clamp(x - dx, -kBeyond * L, (1 + kBeyond) * L);
        const double to_y = std::clamp(y - dy, -kBeyond * Ls, (1 + kBeyond) * Ls);
        const bool done = std::abs(to_x - x) < kEps * L && std::abs(to_y - y) < kEps * Ls;
        x = to_x;
        y = to_y;
        if (done) break;
      }
      if (!regular || x < 0 || x > L || y < 0 || y > Ls) continue;
      const Vec3 S1 = at<3>(slave, s.curve, y, 1), M1 = at<3>(master, curve, x, 1);
      const double gap = (at<3>(slave, s.curve, y, 0) - at<3>(master, curve, x, 0)).norm() - radius;
      if (gap >= best) continue;
      if (share_of_lines<3>(S1, at<3>(slave, s.curve, y, 2), M1, at<3>(master, curve, x, 2),
                            std::max(slave.radius, master.radius)) == 1)
        continue;
      best = gap;
      take(s, FootKind::crossing, curve, x, 1, gap, foot);
      foot.xs = y;
      if (leaves_to_lines()) foot.row.share = Share::rest;
    }
  } else {
    (void)s, (void)candidates, (void)foot;
  }
}

template <int D>
void BeamTouch::locate_station(int station, const std::vector<int>& candidates) {
  const BeamStation& s = pair_.stations[sz(station)];
  Foot& foot = feet_[sz(station)];
  foot.present = false;
  switch (s.kind) {
    case Kind::line:
      return locate_line<D>(s, candidates, foot);
    case Kind::end:
      if (pair_.slave(s).sides && pair_.master(s).sides) return locate_corner<D>(s, candidates, foot);
      return locate_end<D>(s, candidates, foot);
    case Kind::crossing:
      return locate_crossing<D>(s, candidates, foot);
  }
}

template void BeamTouch::locate_station<2>(int, const std::vector<int>&);
template void BeamTouch::locate_station<3>(int, const std::vector<int>&);

}  // namespace clatter::contact
