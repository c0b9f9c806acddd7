#include "contact/passage_watch.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "contact/compliant.hpp"
#include "contact/contact_dynamics.hpp"
#include "shapes/contour.hpp"
#include "shapes/support.hpp"

namespace clatter::contact {

namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
// Penetrations below this part of the length scale are left unseen: contacts that have just opened stand there.
constexpr double kUnseen = 1e-10;
// Speeds between the looks of a stretch are larger than at them by no more than this.
constexpr double kFaster = 1.25;
// What turns by more than this within a stretch (radians) is looked at in parts.
constexpr double kTurn = 2;
constexpr int kMostParts = 4096;
// Compliant beams this part of their thickness in each other pass through each other.
constexpr double kDeep = 0.05;
// How far compliant beams look for each other, in their thicknesses.
constexpr double kBeamReach = 8;
// Beyond Bernstein's coefficients by this part of their spread.
constexpr double kSpread = 0.1;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// Bernstein's coefficients of the cubic on [0, 1] whose means over the four quarters are given.
const Eigen::Matrix4d& of_means() {
  static const Eigen::Matrix4d inverse = [] {
    // Integrals of the Bernstein polynomials from 0 to x: sum over the higher ones of degree four, divided by four.
    const auto integral = [](int j, double x) {
      constexpr double binomial[] = {1, 4, 6, 4, 1};
      double sum = 0;
      for (int i = j + 1; i <= 4; ++i) sum += binomial[i] * std::pow(x, i) * std::pow(1 - x, 4 - i);
      return sum / 4;
    };
    Eigen::Matrix4d means;
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) means(i, j) = 4 * (integral(j, (i + 1) / 4.0) - integral(j, i / 4.0));
    return Eigen::Matrix4d(means.inverse());
  }();
  return inverse;
}

// Largest tau up to which height + slope tau - drop tau^2 / 2 >= 0.
double time_to_zero(double height, double slope, double drop) {
  if (height < 0) return -1;
  if (drop <= 0) return slope >= 0 ? kInfinite : height / -slope;
  const double root = std::sqrt(slope * slope + 2 * drop * height);
  return slope >= 0 ? (slope + root) / drop : 2 * height / (root - slope);
}

// The first of an ascending list that is not below `slot`.
template <class List>
auto from_slot(const List& list, int slot) {
  return std::lower_bound(list.begin(), list.end(), slot, [](const auto& s, int x) { return s.slot < x; });
}

}  // namespace

PassageWatch::PassageWatch(const Contacts& contacts)
    : contacts_(contacts), system_(contacts.system()), looks_(most_looks) {
  unseen_ = kUnseen * system_.length_scale;
  for (const PairInstance& pair : system_.pairs) {
    Pair p;
    if (!pair.in_coordinates()) {
      const Geometry &first = system_.shapes[at(pair.shape1)].geometry,
                     &second = system_.shapes[at(pair.shape2)].geometry;
      const auto take = [&](bool first_moves, Way way) {
        p.a = first_moves ? pair.shape1 : pair.shape2;
        p.b = first_moves ? pair.shape2 : pair.shape1;
        p.first_moves = first_moves;
        p.way = way;
      };
      p.planar = first.planar();
      p.bounds = first.bound + second.bound;
      const auto corners = [](const Geometry& g) {
        return !is_contour(g.kind) && g.kind != ContactShape::Kind::cylinder;
      };
      if (first.hollow || second.hollow) {
        take(second.hollow, Way::hole);
        if (!corners(first.hollow ? second : first)) p.way = Way::slots;
      } else if (is_endless(first) || is_endless(second)) {
        take(is_endless(second), Way::face);
        if (!has_support(is_endless(second) ? first : second)) p.way = Way::slots;
      } else {
        take(is_round(first) || !is_round(second), Way::separate);
        if (!has_support(first) || !has_support(second)) p.way = Way::slots;
      }
      const ShapeInstance& frame = system_.shapes[at(p.b)];
      p.axes = frame.link >= 0 && !is_round(frame.geometry);
    }
    pairs_.push_back(p);
  }
  for (const PairInstance& pair : system_.pairs)
    if (!pair.rigid && pair.beams) deep_.push_back(kDeep * (pair.beams->beam[0].reach() + pair.beams->beam[1].reach()));
  closed_.assign(pairs_.size(), 0);
  by_slots_.assign(pairs_.size(), 0);
  is_active_.assign(at(system_.slots()), 0);
  near_.reserve(pairs_.size());
  open_.reserve(512);
  speed_.assign(system_.shapes.size(), 0);
  const std::size_t slots = std::min<std::size_t>(at(system_.slots()), 512);
  now_.places.resize(system_.shapes.size());
  now_.slots.reserve(slots);
  for (Look& look : looks_) {
    look.places.resize(system_.shapes.size());
    look.slots.reserve(slots);
  }
}

void PassageWatch::begin_phase(const std::vector<ActiveContact>& active, int first_gap, int gaps, int first_compliant) {
  first_gap_ = first_gap;
  gaps_ = gaps;
  first_compliant_ = first_compliant;
  limited_ = false;
  std::fill(closed_.begin(), closed_.end(), 0);
  std::fill(is_active_.begin(), is_active_.end(), 0);
  for (const ActiveContact& c : active) {
    closed_[at(system_.pair_of_slot[at(c.slot)])] = 1;
    is_active_[at(c.slot)] = 1;
  }
}

void PassageWatch::watch_only(std::span<const std::size_t> pairs) {
  limited_ = true;
  std::fill(closed_.begin(), closed_.end(), 1);
  for (const std::size_t pair : pairs) closed_[pair] = 0;
}

bool PassageWatch::leaves_out(int slot) const { return limited_ && closed_[at(system_.pair_of_slot[at(slot)])]; }

void PassageWatch::see_shapes() {
  now_.slots.clear();
  now_.room.clear();
  now_.depth = now_.open_depth = 0;
  now_.open_slot = -1;
  const auto& motion = contacts_.engine().links().motion;
  for (std::size_t i = 0; i < system_.shapes.size(); ++i) {
    const ShapeInstance& s = system_.shapes[i];
    Place& place = now_.places[i];
    if (s.link < 0) {
      place = {s.R, s.r, Vec3::Zero(), Vec3::Zero()};
      continue;
    }
    const LinkMotion& m = motion[at(s.link)];
    const Vec3 r = m.R * s.r;
    place = {m.R * s.R, m.p + r, m.v + m.w.cross(r), m.w};
  }
}

void PassageWatch::see_slot(int slot) {
  const SlotState& s = contacts_[slot];
  if (!s.present) return;
  now_.slots.push_back({slot, s.gap, s.rate[0], s.basis.col(0)});
  now_.depth = std::max(now_.depth, -s.gap);
  take_open(slot, s.gap);
}

void PassageWatch::take_open(int slot, double gap) {
  if (-gap <= now_.open_depth || closed_[at(system_.pair_of_slot[at(slot)])]) return;
  now_.open_depth = -gap;
  now_.open_slot = slot;
}

void PassageWatch::see_compliant(CompliantForces& compliant) {
  compliant_ = &compliant;
  compliant.for_each_near([&](int slot) {
    const SlotState& s = contacts_[slot];
    if (!compliant.closed(slot)) {
      now_.slots.push_back({slot, s.gap, s.rate[0], s.basis.col(0)});
      take_open(slot, s.gap);
    }
    if (!system_.any_rigid) now_.depth = std::max(now_.depth, -s.gap);
  });
  compliant.beam_rooms(kBeamReach, now_.room);
  now_.speed = now_.room.empty() ? 0 : contacts_.largest_speed();
}

void PassageWatch::begin() {
  depth_ = 0;
  open_.clear();
  for (std::size_t k = 0; k < beams_watched_.size(); ++k) compliant_->watch_beams(k, false);
  beams_watched_.clear();
}

void PassageWatch::arm(std::size_t k, double room) {
  if (beams_watched_[k] != kApart || room > -deep_[k]) return;
  beams_watched_[k] = kPassing;
  compliant_->watch_beams(k, true);
}

double PassageWatch::velocity_change(int slot) const {
  const Pair& pair = pairs_[at(system_.pair_of_slot[at(slot)])];
  if (pair.a < 0) return 0;
  const Look &begin = looks_[0], &end = looks_[at(last_look_)];
  const auto changes = [&](int shape) {
    const double bound = system_.shapes[at(shape)].geometry.bound;
    const Place &from = begin.places[at(shape)], &to = end.places[at(shape)];
    return (to.v - from.v).norm() + (std::isfinite(bound) ? bound : 0) * (to.w - from.w).norm();
  };
  return changes(pair.a) + changes(pair.b);
}

PassageWatch::Deepest PassageWatch::deepest_open(double begin, double end) const {
  Deepest most;
  for (const Deepest& d : open_)
    if (d.t > begin && d.t < end && d.depth > most.depth) most = d;
  return most;
}

void PassageWatch::keep(int look, double t) {
  Look& out = looks_[at(look)];
  out.t = t;
  out.depth = now_.depth;
  out.places = now_.places;
  out.slots = now_.slots;
  out.room = now_.room;
  out.speed = now_.speed;
  for (std::size_t k = 0; k < beams_watched_.size() && k < now_.room.size(); ++k) arm(k, now_.room[k]);
  if (now_.open_slot >= 0) open_.push_back({now_.open_depth, t, now_.open_slot});
  if (system_.any_rigid && system_.any_compliant)
    std::sort(out.slots.begin(), out.slots.end(), [](const Seen& x, const Seen& y) { return x.slot < y.slot; });
  if (out.depth > depth_) {
    depth_ = out.depth;
    depth_time_ = t;
  }
}

int PassageWatch::parts(const Stretch& stretch) {
  const double h = looks_[at(stretch[4])].t - looks_[at(stretch[0])].t;
  double most = 0;
  for (std::size_t i = 0; i < system_.shapes.size(); ++i) {
    const ShapeInstance& s = system_.shapes[i];
    if (s.link < 0 || (is_round(s.geometry) && s.r.isZero(0.0))) continue;
    for (const int k : stretch) most = std::max(most, looks_[at(k)].places[i].w.squaredNorm());
  }
  return static_cast<int>(std::clamp(std::ceil(std::sqrt(most) * h / kTurn), 1.0, double(kMostParts)));
}

PassageWatch::Relative PassageWatch::relative(const Pair& pair, const Look& look) const {
  const Place &A = look.places[at(pair.a)], &B = look.places[at(pair.b)];
  Relative m;
  m.c = A.p - B.p;
  m.dc = A.v - B.v;
  m.w = A.w;
  m.R = A.R;
  if (pair.axes || system_.shapes[at(pair.b)].link < 0) {  // shapes on the ground have axes that do not turn
    if (pair.axes) m.dc -= B.w.cross(m.c);
    m.dc = (B.R.transpose() * m.dc).eval();
    m.c = (B.R.transpose() * m.c).eval();
    m.w = B.R.transpose() * (A.w - B.w);
    if (!is_round(system_.shapes[at(pair.a)].geometry)) m.R = B.R.transpose() * A.R;
  }
  if (pair.planar) m.c.z() = m.dc.z() = 0;
  return m;
}

// Farther apart by the balls around them than all speeds bring together: at the middle in half the stretch, or at each
// two neighbouring looks in what lies between.
bool PassageWatch::apart(const Pair& pair, const Stretch& stretch, double h) const {
  const Geometry &moving = system_.shapes[at(pair.a)].geometry, &fixed = system_.shapes[at(pair.b)].geometry;
  const bool bounded = std::isfinite(pair.bounds);
  if (!bounded && pair.way != Way::face && pair.way != Way::hole) return false;
  const auto room = [&](int k) {
    const Look& look = looks_[at(stretch[at(k)])];
    const Place &A = look.places[at(pair.a)], &B = look.places[at(pair.b)];
    Vec3 d = A.p - B.p;
    if (pair.planar) d.z() = 0;
    if (bounded) return d.norm() - pair.bounds;
    if (pair.way == Way::hole) return fixed.radius - d.norm() - moving.bound;
    return B.R.col(fixed.kind == ContactShape::Kind::plane ? 2 : 1).dot(d) - moving.bound;
  };
  double speed = speed_[at(pair.a)] + speed_[at(pair.b)];
  if (pair.way == Way::face && system_.shapes[at(pair.b)].link >= 0) {
    const Look& middle = looks_[at(stretch[2])];
    const double distance = (middle.places[at(pair.a)].p - middle.places[at(pair.b)].p).norm();
    double turn = 0;
    for (const int k : stretch) turn = std::max(turn, looks_[at(k)].places[at(pair.b)].w.norm());
    speed += kFaster * turn * (distance + speed * h / 2);
  }
  double last = room(2);
  if (last > speed * h / 2 + unseen_) return true;
  last = room(0);
  for (int k = 1; k < 5; ++k) {
    const double next = room(k);
    if (last < 0 || next < 0 || !(last + next > speed * h / 4 + 2 * unseen_)) return false;
    last = next;
  }
  return true;
}

void PassageWatch::add_near(int index, const Stretch& stretch) {
  const Pair& pair = pairs_[at(index)];
  std::array<Vec3, 5> dc, w;
  double turn = 0;
  for (std::size_t k = 0; k < 5; ++k) {
    const Relative m = relative(pair, looks_[at(stretch[k])]);
    dc[k] = m.dc;
    w[k] = m.w;
    turn = std::max(turn, m.w.norm());
  }
  const double delta = (looks_[at(stretch[4])].t - looks_[at(stretch[0])].t) / 4;
  const Eigen::Matrix4d& weight = of_means();
  const double reach = core_bound(system_.shapes[at(pair.a)].geometry);
  Near near{index, {}, 0};
  double turning = 0;
  for (int j = 0; j < 4; ++j) {
    Vec3& c2 = near.c2[at(j)];
    c2.setZero();
    for (int k = 0; k < 4; ++k) c2 += weight(j, k) / delta * (dc[at(k) + 1] - dc[at(k)]);
    if (reach == 0) continue;
    Vec3 dw = Vec3::Zero();
    for (int k = 0; k < 4; ++k) dw += weight(j, k) / delta * (w[at(k) + 1] - w[at(k)]);
    turning = std::max(turning, dw.norm());
  }
  near.bend = reach > 0 ? (turning + kFaster * kFaster * turn * turn) * reach : 0;
  near_.push_back(near);
}

void PassageWatch::bound(const Stretch& stretch) {
  last_look_ = stretch[4];
  const std::vector<double>&first = looks_[at(stretch[0])].room, &last = looks_[at(stretch[4])].room;
  beams_watched_.assign(std::min(first.size(), last.size()), 0);
  for (std::size_t k = 0; k < beams_watched_.size(); ++k) {
    beams_watched_[k] = first[k] > 0 && last[k] > 0 ? kApart : 0;
    for (const int look : stretch) arm(k, looks_[at(look)].room[k]);
  }
  const double h = looks_[at(stretch[4])].t - looks_[at(stretch[0])].t;
  for (std::size_t i = 0; i < speed_.size(); ++i) {
    double most = 0;
    for (const int k : stretch) most = std::max(most, looks_[at(k)].places[i].v.squaredNorm());
    speed_[i] = kFaster * std::sqrt(most);
  }
  near_.clear();
  any_by_slots_ = false;
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    const Pair& pair = pairs_[i];
    by_slots_[i] = 0;
    if (limited_ && closed_[i]) continue;
    if (pair.way != Way::slots && apart(pair, stretch, h)) continue;
    bool closed = closed_[i] != 0;
    const PairInstance& instance = system_.pairs[i];
    if (!instance.rigid && compliant_ != nullptr)
      for (int k = 0; k < instance.slots && !closed; ++k) closed = compliant_->closed(instance.slot0 + k);
    if (closed || pair.way == Way::slots) {
      by_slots_[i] = 1;
      any_by_slots_ = true;
    } else {
      add_near(static_cast<int>(i), stretch);
    }
  }
}

const PassageWatch::Seen* PassageWatch::nearest_seen(int pair, const Look& look) const {
  const int first = system_.pairs[at(pair)].slot0, count = system_.pairs[at(pair)].slots;
  const Seen* best = nullptr;
  for (auto s = from_slot(look.slots, first); s != look.slots.end() && s->slot < first + count; ++s)
    if (best == nullptr || s->gap < best->gap) best = &*s;
  return best;
}

// s of the pair along n.
double PassageWatch::along(const Pair& pair, const Relative& m, const Vec3& n) const {
  const Geometry &A = system_.shapes[at(pair.a)].geometry, &B = system_.shapes[at(pair.b)].geometry;
  double s = n.dot(m.c) - radius_around_core(A);
  if (!is_round(A)) s += n.dot(m.R * support_point(A, -(m.R.transpose() * n)));
  if (pair.way == Way::face || is_round(B)) return pair.way == Way::face ? s : s - B.radius;
  return s - n.dot(support_point(B, n)) - radius_around_core(B);
}

Vec3 PassageWatch::quick_direction(const Near& near, const Relative& m, const Look& look) const {
  const Pair& pair = pairs_[at(near.pair)];
  if (pair.way == Way::face)
    return system_.shapes[at(pair.b)].geometry.kind == ContactShape::Kind::plane ? Vec3(Vec3::UnitZ())
                                                                                 : Vec3(Vec3::UnitY());
  if (const Seen* seen = nearest_seen(near.pair, look)) {
    const Vec3 n = pair.first_moves ? seen->n : Vec3(-seen->n);
    const bool turned = pair.axes || system_.shapes[at(pair.b)].link < 0;
    return turned ? Vec3(look.places[at(pair.b)].R.transpose() * n) : n;
  }
  const double distance = m.c.norm();
  return distance > 0 ? Vec3(m.c / distance) : Vec3(Vec3::UnitX());
}

// The direction along which the two are farthest apart, by Gilbert's iteration for the point of A - B nearest to the
// origin. Any direction tells the truth; better ones tell more of it.
Vec3 PassageWatch::best_direction(const Pair& pair, const Relative& m, const Vec3& start) const {
  constexpr int kRounds = 20;
  constexpr double kGood = 1e-2;
  const Geometry &A = system_.shapes[at(pair.a)].geometry, &B = system_.shapes[at(pair.b)].geometry;
  const double radii = radius_around_core(A) + radius_around_core(B);
  Vec3 best = start, d = m.c;
  double most = along(pair, m, start);
  for (int round = 0; round < kRounds; ++round) {
    const double size = d.norm();
    if (!(size > 0)) break;
    const Vec3 n = d / size;
    const Vec3 p = m.c + m.R * support_point(A, -(m.R.transpose() * n)) - support_point(B, n);
    const double apart = n.dot(p) - radii;
    if (apart > most) {
      most = apart;
      best = n;
    }
    if (size - radii - most <= kGood * (size - radii)) break;
    const Vec3 e = p - d;
    const double square = e.squaredNorm();
    if (!(square > 0)) break;
    d += std::clamp(-d.dot(e) / square, 0.0, 1.0) * e;
  }
  return best;
}

double PassageWatch::free_time(const Near& near, const Relative& m, const Vec3& n, double side, double delta) const {
  const Pair& pair = pairs_[at(near.pair)];
  const Geometry& A = system_.shapes[at(pair.a)].geometry;
  double low = kInfinite, high = -kInfinite;
  for (const Vec3& c2 : near.c2) {
    const double x = n.dot(c2);
    low = std::min(low, x);
    high = std::max(high, x);
  }
  const double drop = std::max(0.0, kSpread * (high - low) - low) + near.bend;
  double slope = side * n.dot(m.dc);
  if (!is_round(A)) {
    const Vec3 later = n + side * delta * n.cross(m.w);
    const double now_low = n.dot(m.R * support_point(A, -(m.R.transpose() * n)));
    const double later_low = later.dot(m.R * support_point(A, -(m.R.transpose() * later)));
    slope += (later_low - now_low) / delta;
  }
  return time_to_zero(along(pair, m, n) + unseen_, slope, drop);
}

double PassageWatch::free_time_in_hole(const Near& near, const Relative& m, double side, double delta) const {
  const Pair& pair = pairs_[at(near.pair)];
  const Geometry& A = system_.shapes[at(pair.a)].geometry;
  double now = 0, later = 0;
  const auto take = [&](const Vec3& y) {
    const Vec3 r = m.R * y, x = m.c + r;
    now = std::max(now, x.norm());
    later = std::max(later, (x + side * delta * (m.dc + m.w.cross(r))).norm());
  };
  if (is_round(A)) {
    take(Vec3::Zero());
  } else if (A.points.empty()) {  // capsule, line
    const Vec3 axis = A.kind == ContactShape::Kind::capsule ? Vec3(Vec3::UnitZ()) : Vec3(Vec3::UnitX());
    take(A.length / 2 * axis);
    take(-A.length / 2 * axis);
  } else {
    for (const Vec3& p : A.points) take(pair.planar ? Vec3(p.x(), p.y(), 0) : p);
  }
  double drop = near.bend;
  for (const Vec3& c2 : near.c2) drop = std::max(drop, near.bend + (1 + kSpread) * c2.norm());
  const double room = system_.shapes[at(pair.b)].geometry.radius - radius_around_core(A) - now;
  return time_to_zero(room + unseen_, -(later - now) / delta, drop);
}

bool PassageWatch::unsure_pair(const Near& near, const Look& a, const Look& b, double& from, double& to) const {
  const Pair& pair = pairs_[at(near.pair)];
  const double delta = b.t - a.t;
  const Relative at_a = relative(pair, a), at_b = relative(pair, b);
  double free[2];
  if (pair.way == Way::hole) {
    free[0] = free_time_in_hole(near, at_a, 1, delta);
    free[1] = free_time_in_hole(near, at_b, -1, delta);
  } else {
    const Vec3 n_a = quick_direction(near, at_a, a), n_b = quick_direction(near, at_b, b);
    free[0] = free_time(near, at_a, n_a, 1, delta);
    if (free[0] >= delta) return false;
    free[1] = free_time(near, at_b, n_b, -1, delta);
    if (pair.way == Way::separate && free[0] + free[1] < delta)
      free[0] = std::max(free[0], free_time(near, at_a, best_direction(pair, at_a, n_a), 1, delta));
    if (pair.way == Way::separate && free[0] + free[1] < delta)
      free[1] = std::max(free[1], free_time(near, at_b, best_direction(pair, at_b, n_b), -1, delta));
  }
  if (free[0] < 0) return false;  // they overlap already: what was open is not any more, or was behind a line
  const double begin = a.t + free[0], end = b.t - std::max(0.0, free[1]);
  if (begin >= end) return false;
  from = std::min(from, begin);
  to = std::max(to, end);
  return true;
}

void PassageWatch::unsure_slots(const Look& a, const Look& b, double& from, double& to) const {
  const double delta = b.t - a.t;
  for (const Seen& s : a.slots) {
    if (!by_slots_[at(system_.pair_of_slot[at(s.slot)])] || !(s.rate < 0) || s.gap < -unseen_) continue;
    const auto later = from_slot(b.slots, s.slot);
    if (later == b.slots.end() || later->slot != s.slot || !(later->rate > 0)) continue;
    const double tau = (later->gap - s.gap - later->rate * delta) / (s.rate - later->rate);
    if (!(tau > 0 && tau < delta) || s.gap + s.rate * tau > -unseen_) continue;
    from = std::min(from, a.t + tau);
    to = std::max(to, a.t + tau);
  }
}

void PassageWatch::unsure_beams(const Look& a, const Look& b, double& from, double& to) const {
  const double fastest = 2 * kFaster * std::max(a.speed, b.speed);
  for (std::size_t k = 0; k < beams_watched_.size(); ++k) {
    if (!beams_watched_[k] || a.room[k] <= 0) continue;             // they overlap already
    if (b.room[k] <= 0 && beams_watched_[k] != kPassing) continue;  // a tap
    const double begin = a.t + a.room[k] / fastest, end = b.t - std::max(0.0, b.room[k]) / fastest;
    if (!(begin < end)) continue;
    from = std::min(from, begin);
    to = std::max(to, end);
  }
}

bool PassageWatch::unsure(int index_a, int index_b, double& from, double& to) {
  const Look &a = looks_[at(index_a)], &b = looks_[at(index_b)];
  from = kInfinite;
  to = -kInfinite;
  if (!(b.t > a.t)) return false;
  for (const Near& near : near_) unsure_pair(near, a, b, from, to);
  if (any_by_slots_) unsure_slots(a, b, from, to);
  unsure_beams(a, b, from, to);
  return from <= to;
}

bool PassageWatch::covers(int index) const {
  if (index >= first_compliant_) return (index - first_compliant_) % 2 == 0;
  return index >= first_gap_ && index < first_gap_ + gaps_;
}

}  // namespace clatter::contact
