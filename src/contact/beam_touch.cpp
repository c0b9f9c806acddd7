#include "contact/beam_touch.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "contact/contacts.hpp"

namespace clatter::contact {

namespace {

using Runs = BeamCurve::Runs;
using Kind = BeamStation::Kind;

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

// How far a curve may leave the chord of a quarter of its element: |second derivative| (L/4)^2 / 8, which is largest at
// an end.
template <class V>
double sag_of(const V& from, const V& to, double L) {
  return std::max(from.norm(), to.norm()) * L * L / 128;
}

}  // namespace

BeamTouch::BeamTouch(const BeamPair& pair, bool rigid)
    : pair_(pair), rigid_(rigid), feet_(pair.stations.size()), awake_(pair.stations.size(), 0) {
  for (int b = 0; b < 2; ++b) {
    const auto n = sz(pair.beam[b].elements());
    box_[b].resize(n);
    middle_[b].resize(n);
    ball_[b].resize(n);
    polynomials_[b].assign(n * sz(kCurves * kDerivatives * pair.dim), 0.0);
    near_[b].resize(n);
    const BeamOutline& master = pair.beam[pair.self || b == 1 ? 0 : 1];
    for (int e = 0; e < master.elements(); ++e) all_[b].push_back(e);
    for (auto& list : near_[b]) list.reserve(all_[b].size());
  }
  woken_.reserve(pair.stations.size());
  outline_.reserve(16);
}

double BeamTouch::largest_speed(const Vec& v) const {
  double most = 0;
  for (int b = 0; b < (pair_.self ? 1 : 2); ++b) {
    const BeamOutline& beam = pair_.beam[b];
    const ancf::AncfBody& body = *beam.body;
    for (int i = 0; i < body.vectors; i += body.gradients) {
      double speed = v.segment(beam.v + i * body.dim, body.dim).norm();
      // The skin moves with the section, or turns with the axis.
      for (int g = 1; g < body.gradients; ++g)
        speed += beam.reach() * v.segment(beam.v + (i + g) * body.dim, body.dim).norm();
      most = std::max(most, speed);
    }
  }
  return most;
}

template <int D>
BeamVector<double, D> BeamTouch::at(const BeamOutline& beam, const BeamCurve& curve, double x, int derivative) const {
  const double* c = polynomial<D>(beam, curve);
  BeamVector<double, D> out;
  for (int i = 0; i < D; ++i) {
    const double c0 = c[i], c1 = c[D + i], c2 = c[2 * D + i], c3 = c[3 * D + i];
    switch (derivative) {
      case 0:
        out[i] = ((c3 * x + c2) * x + c1) * x + c0;
        break;
      case 1:
        out[i] = (3 * c3 * x + 2 * c2) * x + c1;
        break;
      default:
        out[i] = 6 * c3 * x + 2 * c2;
    }
  }
  return out;
}

template <int D>
void BeamTouch::prepare(const Vec& q) {
  for (int b = 0; b < (pair_.self ? 1 : 2); ++b) {
    const BeamOutline& beam = pair_.beam[b];
    const auto own = q.segment(beam.q, beam.body->nv);
    if (prepared_[b].size() == own.size() && prepared_[b] == own) continue;
    prepared_[b] = own;
    for (int e = 0; e < beam.elements(); ++e) {
      for (int which = 0; which < (beam.sides ? kCurves : 1); ++which) {
        double* c = polynomials_[b].data() + sz((e * kCurves + which) * kDerivatives * D);
        double w[kMost], factorial = 1;
        for (int k = 0; k < kDerivatives; ++k) {
          if (k > 0) factorial *= k;
          beam.weights({Runs::along, e, which == 0 ? 0.0 : which == 1 ? -beam.half : beam.half}, 0, k, w);
          const auto x = combine<D>(beam, e, w, q, beam.q);
          for (int i = 0; i < D; ++i) c[k * D + i] = x[i] / factorial;
        }
      }
      const double L = beam.length(e), r = beam.sides ? 0 : beam.radius;
      const BeamCurve axis{Runs::along, e, 0};
      middle_[b][sz(e)] = in_space(at<D>(beam, axis, 0.5 * L, 0));
      if constexpr (D == 2) {
        outline_.clear();
        double sag = 0;
        for (int side = 0; side < (beam.sides ? 2 : 1); ++side) {
          const BeamCurve curve{Runs::along, e, beam.sides ? (side ? beam.half : -beam.half) : 0.0};
          for (const double z : {0.0, 0.25, 0.5, 0.75, 1.0}) outline_.push_back(at<2>(beam, curve, z * L, 0));
          sag = std::max(sag, sag_of(at<2>(beam, curve, 0, 2), at<2>(beam, curve, L, 2), L));
        }
        OrientedBox& box = box_[b][sz(e)];
        box = smallest_box(outline_);
        box.half.array() += r + sag;
        // The middle need not be the centre of the box.
        ball_[b][sz(e)] = 0.5 * box.diagonal() + (middle_[b][sz(e)].template head<2>() - box.centre).norm();
      } else {
        double farthest = 0;
        for (const double z : {0.0, 0.25, 0.75, 1.0})
          farthest = std::max(farthest, (in_space(at<D>(beam, axis, z * L, 0)) - middle_[b][sz(e)]).norm());
        ball_[b][sz(e)] = farthest + r + sag_of(at<D>(beam, axis, 0, 2), at<D>(beam, axis, L, 2), L);
      }
    }
  }
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

bool BeamTouch::side_by_side(double cosine, double curvature, double half) const {
  const double bend = std::min(1.0, half * curvature);
  const double least = std::max(pair_.touching.least_angle, std::acos(1 - bend));
  return std::acos(std::clamp(std::abs(cosine), 0.0, 1.0)) <= least;
}

namespace {

template <int D>
double bend_of(const BeamVector<double, D>& d1, const BeamVector<double, D>& d2) {
  const double s = d1.squaredNorm();
  const BeamVector<double, D> across = d2 - d1 * (d1.dot(d2) / s);
  return across.norm() / s;
}

}  // namespace

// A point of a side (of an axis) against the sides (the axis) of the master.
template <int D>
void BeamTouch::locate_line(const BeamStation& s, const std::vector<int>& candidates, Foot& foot) const {
  const BeamOutline &slave = pair_.slave(s), &master = pair_.master(s);
  const auto P = at<D>(slave, s.curve, s.x, 0), S1 = at<D>(slave, s.curve, s.x, 1);
  const double deepest = -(slave.reach() + master.reach());
  double best = std::numeric_limits<double>::infinity();
  for (const int e : candidates) {
    if (!allowed(s, e) || (pair_.self && e < s.curve.element)) continue;
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
      if (switches()) {
        const double curvature =
            std::max(bend_of<D>(S1, at<D>(slave, s.curve, s.x, 2)), bend_of<D>(M1, at<D>(master, curve, x, 2)));
        const double half = std::max(slave.reach(), master.reach());
        if (!side_by_side(S1.dot(M1) / (S1.norm() * M1.norm()), curvature, half)) continue;
      }
      best = score;
      foot.present = true;
      foot.kind = master.sides ? FootKind::side : FootKind::tube;
      foot.curve = curve;
      foot.x = x;
      foot.xs = s.x;
      foot.sign = sign;
      foot.radius = slave.radius + master.radius;
      foot.gap = gap;
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
    const auto take = [&](FootKind kind, const BeamCurve& curve, double x, double sign, double gap) {
      foot.present = true;
      foot.kind = kind;
      foot.curve = curve;
      foot.x = x;
      foot.xs = s.x;
      foot.sign = sign;
      foot.radius = 0;
      foot.gap = gap;
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
        if (!beyond && !front) continue;
        const BeamCurve face{runs, e, 0};
        V at0, ry;
        face_at(runs, at0, ry);
        const V out = sign_of_face(runs) * left_of(ry).normalized();
        const double y = (P - at0).dot(ry) / ry.squaredNorm(), ahead = out.dot(P - at0);
        if (std::abs(y) <= H) {
          if (ahead > deepest && (ahead > 0 || front) && std::abs(ahead) < best)
            take(FootKind::side, face, y, sign_of_face(runs), ahead);
          facing = facing || front;
        } else if (ahead > 0 && gap > 0) {
          // Beyond the corner of both: from corner to corner, once for each pair of corners.
          const double distance = (P - at<2>(master, curve, finish ? L : 0.0, 0)).norm();
          if (distance < best && !(s.second && !pair_.self))
            take(FootKind::point, curve, finish ? L : 0.0, 1, distance);
        }
      }
      const double low = e > 0 ? -kKink * L : 0, high = e < last ? (1 + kKink) * L : L;
      if (x < low || x > high || gap <= deepest || facing) continue;
      const double score = std::abs(gap) + 100 * std::max({0.0, -x, x - L});
      if (score >= best) continue;
      if (!rigid_ && pair_.touching.way != BeamTouching::Way::points) {
        const double curvature =
            std::max(bend_of<2>(S1, at<2>(slave, s.curve, s.x, 2)), bend_of<2>(M1, at<2>(master, curve, x, 2)));
        if (left_to_lines(S1.dot(M1) / (S1.norm() * M1.norm()), curvature, std::max(slave.half, H))) continue;
      }
      take(FootKind::side, curve, x, side, gap);
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
  const double radius = slave.radius + master.radius;
  for (const int e : candidates) {
    if (!allowed(s, e) || distance_bound(master, e, in_space(P)) - slave.radius > best) continue;
    for (int side = 0; side < (master.sides ? 2 : 1); ++side) {
      const BeamCurve curve{Runs::along, e, master.sides ? (side ? master.half : -master.half) : 0.0};
      const double L = master.length(e), x = std::clamp(project<D>(master, curve, P), 0.0, L);
      const BeamVector<double, D> d = P - at<D>(master, curve, x, 0);
      const double gap = d.norm() - radius;
      if (gap >= best) continue;
      const bool capped = (x == 0 && e == 0) || (x == L && e + 1 == master.elements());
      if (!rigid_ && !capped && pair_.touching.way != BeamTouching::Way::points) {
        const auto M1 = at<D>(master, curve, x, 1);
        const double curvature =
            std::max(bend_of<D>(S1, at<D>(slave, s.curve, s.x, 2)), bend_of<D>(M1, at<D>(master, curve, x, 2)));
        if (left_to_lines(S1.dot(M1) / (S1.norm() * M1.norm()), curvature, std::max(slave.reach(), master.reach())))
          continue;
      }
      best = gap;
      // Both ends find each other; the first beam's keeps it.
      foot.present = !(capped && s.second && !pair_.self);
      foot.kind = capped ? FootKind::point : FootKind::tube;
      foot.curve = curve;
      foot.x = x;
      foot.xs = s.x;
      foot.sign = 1;
      foot.radius = radius;
      foot.gap = gap;
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
      const double curvature =
          std::max(bend_of<3>(S1, at<3>(slave, s.curve, y, 2)), bend_of<3>(M1, at<3>(master, curve, x, 2)));
      if (side_by_side(S1.dot(M1) / (S1.norm() * M1.norm()), curvature, std::max(slave.radius, master.radius)))
        continue;
      best = gap;
      foot.present = true;
      foot.kind = FootKind::crossing;
      foot.curve = curve;
      foot.x = x;
      foot.xs = y;
      foot.sign = 1;
      foot.radius = radius;
      foot.gap = gap;
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

void BeamTouch::range(int slot, int& begin, int& end) const {
  begin = pair_.slot_begin[sz(slot)];
  end = pair_.slot_begin[sz(slot) + 1];
}

void BeamTouch::locate(const Vec& q, int slot) {
  if (pair_.dim == 2)
    prepare<2>(q);
  else
    prepare<3>(q);
  int begin, end;
  range(slot, begin, end);
  for (int i = begin; i < end; ++i) {
    const std::vector<int>& all = all_[pair_.stations[sz(i)].second ? 1 : 0];
    if (pair_.dim == 2)
      locate_station<2>(i, all);
    else
      locate_station<3>(i, all);
  }
}

void BeamTouch::wake_lines(int element, const OrientedBox& box, double grow) {
  const BeamOutline& beam = pair_.beam[0];
  const double L = beam.length(element);
  for (int side = 0; side < (beam.sides ? 2 : 1); ++side) {
    const BeamCurve curve{Runs::along, element, beam.sides ? (side ? beam.half : -beam.half) : 0.0};
    const double sag = sag_of(at<2>(beam, curve, 0, 2), at<2>(beam, curve, L, 2), L);
    for (int part = 0; part < 4; ++part) {
      double from, to;
      if (!clip(box, grow + sag, at<2>(beam, curve, 0.25 * part * L, 0), at<2>(beam, curve, 0.25 * (part + 1) * L, 0),
                from, to))
        continue;
      const double low = 0.25 * (part + from) * L - sag, high = 0.25 * (part + to) * L + sag;
      for (int i = pair_.line_begin[sz(element)]; i < pair_.line_begin[sz(element) + 1]; ++i) {
        const BeamStation& s = pair_.stations[sz(i)];
        if (awake_[sz(i)] || s.curve.y != curve.y || s.x < low || s.x > high) continue;
        awake_[sz(i)] = 1;
        woken_.push_back(i);
      }
    }
  }
}

// Boxes of elements, pairs that are near (Y-16, Y-17), and the line stations in them (Y-18).
template <int D>
void BeamTouch::find_elements(double reach) {
  for (int b = 0; b < (pair_.self ? 1 : 2); ++b)
    for (auto& list : near_[b]) list.clear();
  const int other = pair_.self ? 0 : 1;
  for (int i = 0; i < pair_.beam[0].elements(); ++i)
    for (int j = pair_.self ? i + 2 : 0; j < pair_.beam[other].elements(); ++j) {
      if ((middle_[0][sz(i)] - middle_[other][sz(j)]).norm() > ball_[0][sz(i)] + ball_[other][sz(j)] + reach) continue;
      if constexpr (D == 2)
        if (apart(box_[0][sz(i)], box_[other][sz(j)], 0.5 * reach)) continue;
      near_[0][sz(i)].push_back(j);
      near_[other][sz(j)].push_back(i);
      if constexpr (D == 2) {
        wake_lines(i, box_[other][sz(j)], reach + pair_.beam[0].radius);
      } else {
        for (int k = pair_.line_begin[sz(i)]; k < pair_.line_begin[sz(i) + 1]; ++k)
          if (!awake_[sz(k)]) {
            awake_[sz(k)] = 1;
            woken_.push_back(k);
          }
      }
    }
}

void BeamTouch::find(const Vec& q, double reach, std::vector<int>& slots) {
  for (const int i : woken_) {
    awake_[sz(i)] = 0;
    feet_[sz(i)].present = false;
  }
  woken_.clear();
  slots.clear();
  if (pair_.dim == 2) {
    prepare<2>(q);
    find_elements<2>(reach);
  } else {
    prepare<3>(q);
    find_elements<3>(reach);
  }
  for (int i = pair_.ends; i < static_cast<int>(pair_.stations.size()); ++i) {
    const BeamStation& s = pair_.stations[sz(i)];
    if (near_[s.second ? 1 : 0][sz(s.curve.element)].empty()) continue;
    awake_[sz(i)] = 1;
    woken_.push_back(i);
  }
  for (const int i : woken_) {
    const BeamStation& s = pair_.stations[sz(i)];
    const std::vector<int>& near = near_[s.second ? 1 : 0][sz(s.curve.element)];
    if (pair_.dim == 2)
      locate_station<2>(i, near);
    else
      locate_station<3>(i, near);
    if (feet_[sz(i)].present) slots.push_back(pair_.slot_of_station[sz(i)]);
  }
  std::sort(slots.begin(), slots.end());
  slots.erase(std::unique(slots.begin(), slots.end()), slots.end());
}

int BeamTouch::feature(int slot) const {
  int begin, end;
  range(slot, begin, end);
  for (int i = begin; i < end; ++i)
    if (feet_[sz(i)].present)
      return static_cast<int>(feet_[sz(i)].kind) + (feet_[sz(i)].curve.across() ? 8 : feet_[sz(i)].sign > 0 ? 0 : 16);
  return -1;
}

}  // namespace clatter::contact
