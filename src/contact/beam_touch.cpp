#include "contact/beam_touch.hpp"

#include <algorithm>
#include <cmath>

namespace clatter::contact {

namespace {

using Runs = BeamCurve::Runs;

std::size_t sz(int i) { return static_cast<std::size_t>(i); }

// How far a curve may leave the chord of a quarter of its element: |second derivative| (L/4)^2 / 8, which is largest at
// an end.
template <class V>
double sag_of(const V& from, const V& to, double L) {
  return std::max(from.norm(), to.norm()) * L * L / 128;
}

}  // namespace

BeamTouch::BeamTouch(const BeamPair& pair, bool rigid)
    : pair_(pair),
      rigid_(rigid),
      cos_least_(std::cos(pair.touching.least_angle)),
      feet_(pair.stations.size()),
      awake_(pair.stations.size(), 0) {
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
  found_.reserve(pair.stations.size());
  sorted_.reserve(sz(std::max(pair.beam[0].elements(), pair.beam[1].elements())));
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
bool BeamTouch::prepare(const Vec& q) {
  bool moved = false;
  for (int b = 0; b < (pair_.self ? 1 : 2); ++b) {
    const BeamOutline& beam = pair_.beam[b];
    const auto own = q.segment(beam.q, beam.body->nv);
    if (prepared_[b].size() == own.size() && prepared_[b] == own) continue;
    prepared_[b] = own;
    moved = true;
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
  if (moved) found_reach_ = -1;
  return moved;
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

void BeamTouch::wake_lines(int b, int element, const OrientedBox& box, double grow) {
  const std::vector<int>& begin = pair_.line_begin[b];
  if (begin.empty()) return;
  const BeamOutline& beam = pair_.beam[b];
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
      for (int i = begin[sz(element)]; i < begin[sz(element) + 1]; ++i) {
        const BeamStation& s = pair_.stations[sz(i)];
        // Compliant stations may stand anywhere in their segment.
        if (s.curve.y == curve.y && (rigid_ ? s.x : s.to) >= low && (rigid_ ? s.x : s.from) <= high) wake(i);
      }
    }
  }
}

// Balls sorted along the axis on which the middles of both beams spread most: each looks only at those that overlap it
// there.
template <class Visit>
void BeamTouch::near_elements(double reach, Visit&& visit) {
  const int other = pair_.self ? 0 : 1, count = pair_.beam[other].elements();
  Vec3 low = middle_[0][0], high = low;
  for (int b = 0; b <= other; ++b)
    for (const Vec3& m : middle_[b]) {
      low = low.cwiseMin(m);
      high = high.cwiseMax(m);
    }
  Eigen::Index axis = 0;
  (high - low).maxCoeff(&axis);
  sorted_.clear();
  double widest = 0;
  for (int j = 0; j < count; ++j) {
    sorted_.emplace_back(middle_[other][sz(j)][axis] - ball_[other][sz(j)], j);
    widest = std::max(widest, 2 * ball_[other][sz(j)]);
  }
  std::sort(sorted_.begin(), sorted_.end());
  for (int i = 0; i < pair_.beam[0].elements(); ++i) {
    const double at = middle_[0][sz(i)][axis], r = ball_[0][sz(i)] + reach;
    auto it = std::lower_bound(sorted_.begin(), sorted_.end(), std::pair(at - r - widest, -1));
    for (; it != sorted_.end() && it->first <= at + r; ++it) {
      const int j = it->second;
      if (pair_.self && j < i + 2) continue;
      if ((middle_[0][sz(i)] - middle_[other][sz(j)]).norm() <= r + ball_[other][sz(j)]) visit(i, j);
    }
  }
}

// Boxes of elements, pairs that are near (Y-16, Y-17), and the line stations in them (Y-18).
template <int D>
void BeamTouch::find_elements(double reach) {
  for (int b = 0; b < (pair_.self ? 1 : 2); ++b)
    for (auto& list : near_[b]) list.clear();
  const int other = pair_.self ? 0 : 1;
  near_elements(reach, [&](int i, int j) {
    if constexpr (D == 2)
      if (apart(box_[0][sz(i)], box_[other][sz(j)], 0.5 * reach)) return;
    near_[0][sz(i)].push_back(j);
    near_[other][sz(j)].push_back(i);
    const auto wake_both = [&](auto&& wake_in) {
      wake_in(0, i, other, j);
      if (pair_.both) wake_in(other, j, 0, i);
    };
    if constexpr (D == 2) {
      wake_both(
          [&](int b, int e, int of, int by) { wake_lines(b, e, box_[of][sz(by)], reach + pair_.beam[b].radius); });
    } else {
      wake_both([&](int b, int e, int, int) {
        for (int k = pair_.line_begin[b][sz(e)]; k < pair_.line_begin[b][sz(e) + 1]; ++k) wake(k);
      });
    }
  });
  for (int b = 0; b < (pair_.self ? 1 : 2); ++b)
    for (auto& list : near_[b]) std::sort(list.begin(), list.end());
}

void BeamTouch::find(const Vec& q, double reach, std::vector<int>& slots) {
  // The same place again: powers and energies are asked for where forces were.
  if (!(pair_.dim == 2 ? prepare<2>(q) : prepare<3>(q)) && found_reach_ == reach) {
    slots.assign(found_.begin(), found_.end());
    return;
  }
  for (const int i : woken_) {
    awake_[sz(i)] = 0;
    feet_[sz(i)].present = false;
  }
  woken_.clear();
  slots.clear();
  if (pair_.dim == 2)
    find_elements<2>(reach);
  else
    find_elements<3>(reach);
  for (int i = pair_.ends; i < static_cast<int>(pair_.stations.size()); ++i) {
    const BeamStation& s = pair_.stations[sz(i)];
    if (near_[s.second ? 1 : 0][sz(s.curve.element)].empty()) continue;
    wake(i);
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
  found_.assign(slots.begin(), slots.end());
  found_reach_ = reach;
}

int BeamTouch::feature(int slot) const {
  int begin, end;
  range(slot, begin, end);
  for (int i = begin; i < end; ++i)
    if (feet_[sz(i)].present)
      return static_cast<int>(feet_[sz(i)].row.kind) + (feet_[sz(i)].curve.across() ? 8
                                                        : feet_[sz(i)].row.sign > 0 ? 0
                                                                                    : 16);
  return -1;
}

}  // namespace clatter::contact
