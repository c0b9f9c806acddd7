// Rows of a crowd's step: from points of contact of the search and from ropes, with the laws they name; for
// CrowdStepper. Those that no search finds are in crowd_slots.cpp.
#include <algorithm>
#include <cmath>

#include "contact/crowd_stepper.hpp"
#include "impulse/strike.hpp"

namespace clatter::contact {

namespace {

// Gaps and penetrations below this part of the length scale are rounding.
constexpr double kNoGap = 1e-12;
// A contact is the one of the last step if it is no farther from it than this part of the smaller shape, and what
// moved.
constexpr double kSamePlace = 0.1;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

Vec3 CrowdStepper::begin_velocity(int link, const Vec3& arm) const {
  if (link < 0) return Vec3::Zero();
  const LinkMotion& m = engine_.links().motion[at(link)];
  return m.v + m.w.cross(arm);
}

bool CrowdStepper::coupled(int link) const { return link >= 0 && nodes_.places[at(link)].group >= 0; }

// The row of a point of contact, or of a rope; false where it cannot touch within the step, or waits. The problem has
// the velocities without impulses.
bool CrowdStepper::make_row(Draft& draft, int entry, int point, std::uint64_t key, int link1, int link2, const Vec3& p1,
                            const Vec3& p2, const Vec3& n, double gap, double size, const RigidContact& law, double h) {
  const auto centre = [&](int link) -> Vec3 {
    return link < 0 ? Vec3::Zero() : Vec3(engine_.links().motion[at(link)].p);
  };
  Vec3 c1 = p1 - centre(link1), c2 = p2 - centre(link2);
  if (point >= 0 && coupled(link1) && coupled(link2) &&
      nodes_.places[at(link1)].group == nodes_.places[at(link2)].group) {
    // What hangs together answers at one point: two, a gap apart, slip by that and its turning, which no impulse stops.
    const Vec3 between = 0.5 * (p2 - p1);
    c1 += between;
    c2 -= between;
  }
  Meeting m;
  m.entry = entry;
  m.point = point;
  m.link1 = link1;
  m.link2 = link2;
  m.key = key;
  m.gap = gap;
  m.size = size;
  m.place = p2;
  m.u_begin = begin_velocity(link1, c1) - begin_velocity(link2, c2);
  if (!within_reach(gap, n.dot(m.u_begin), h)) return false;
  CrowdRow& row = draft.rows.emplace_back();
  row.side1 = side_of(problem_, link1, c1);
  row.side2 = side_of(problem_, link2, c2);
  for (int k = 0; k < 3; ++k) {
    row.n[k] = n[k];
    row.c1[k] = c1[k];
    row.c2[k] = c2[k];
    row.pt[k] = 0;
  }
  row.pn = 0;
  return add_laws(draft, m, law, h);
}

bool CrowdStepper::within_reach(double gap, double rate, double h) const {
  return gap <= h * (speeds_.fastest + speeds_.change + std::max(0.0, -rate)) + kNoGap * system().length_scale;
}

// Laws and start of the row that was added last, whose sides are known.
bool CrowdStepper::add_laws(Draft& draft, const Meeting& m, const RigidContact& law, double h) {
  CrowdRow& row = draft.rows.back();
  const Vec3 n(row.n[0], row.n[1], row.n[2]), u = m.u_begin + m.moving;
  const double before = n.dot(u);
  const bool apart = crowd_.friction == FrictionModel::exact;
  const Closing closing{m.gap, h, before, apart ? closing_rate(row) + n.dot(m.moving) : before, speeds_.change};
  const bool impact = closing.strikes(system().velocity_scale);
  const double slip = std::sqrt(std::max(0.0, u.squaredNorm() - before * before));
  row.mu = impact && law.impact_friction ? *law.impact_friction : friction_coefficient(law.friction, slip);
  problem_.set_response(row);
  if (row.inverse_nn <= 0) {
    draft.rows.pop_back();
    return false;
  }
  if (!(row.inverse_tt > 0)) row.mu = 0;
  if (apart && draft.may_wait && closing.waits(system().velocity_scale)) {
    row.b = m.gap / h + n.dot(m.moving);
    draft.waiting.push_back({row, m.entry});
    draft.rows.pop_back();
    return false;
  }
  RowOrigin& c = draft.about.emplace_back();
  c.entry = m.entry;
  c.point = m.point;
  c.link1 = m.link1;
  c.link2 = m.link2;
  c.key = m.key;
  c.gap = m.gap;
  c.before = before;
  c.u_begin = m.u_begin;
  c.impact = impact;
  c.driven = !m.moving.isZero(0);
  c.lands = apart && impact && law.restitution == 0;
  c.free = closing.free;
  row.b = c.way = impact && law.restitution > 0 ? law.restitution * before : m.gap > 0 ? m.gap / h : 0;
  if (c.lands) row.b = 0;
  if (laws_.shifting) {
    draft.shifts.push_back(m.moving);
    if (impact && row.mu > 0) draft.shifts.back() += law.tangential_restitution * (u - before * n);
  }
  c.place = m.place;
  const CrowdMemory::Entry* last = memory_.find(m.key, m.place, kSamePlace * m.size + 2 * h * speeds_.fastest);
  c.closed = last != nullptr;
  if (last != nullptr) {
    row.pn = last->pn;
    const Vec3 pt = last->pt - n.dot(last->pt) * n;
    const double t = pt.norm(), limit = row.mu * row.pn;
    const double part = t > limit ? limit / t : 1;
    for (int k = 0; k < 3; ++k) row.pt[k] = part * pt[k];
  }
  if (laws_.turning) make_turn(draft, law, last);
  return true;
}

void CrowdStepper::row_of_point(Draft& draft, int index, double h) {
  const CrowdPoint& p = search_.points()[at(index)];
  const ShapeInstance &s1 = system().shapes[at(p.shape1)], &s2 = system().shapes[at(p.shape2)];
  make_row(draft, p.entry, index, p.key, s1.link, s2.link, p.p1, p.p2, p.n, p.gap,
           std::min(s1.geometry.bound, s2.geometry.bound), crowd_.contacts[at(p.entry)].law, h);
}

CrowdStepper::RopeState CrowdStepper::rope_state(const RopeEnds& ends, double length) const {
  const auto place = [&](int link, const Vec3& r) -> Vec3 {
    if (link < 0) return r;
    const LinkMotion& m = engine_.links().motion[at(link)];
    return m.p + m.R * r;
  };
  RopeState rope;
  rope.p1 = place(ends.link1, ends.r1);
  rope.p2 = place(ends.link2, ends.r2);
  const Vec3 d = rope.p2 - rope.p1;
  rope.distance = d.norm();
  rope.gap = length - rope.distance;
  rope.n = d / rope.distance;  // of the first end: pulled towards the second
  return rope;
}

void CrowdStepper::row_of_rope(Draft& draft, int index, double h) {
  const RopeEnds& ends = ropes_[at(index)];
  const CrowdRope& rope = crowd_.ropes[at(index)];
  const RopeState now = rope_state(ends, rope.length);
  const int entry = static_cast<int>(crowd_.contacts.size()) + index;
  draft.gaps[at(entry)] = now.gap;
  draft.deepest = std::max(draft.deepest, -now.gap);
  if (!(now.distance > 0)) return;
  make_row(draft, entry, ~index, ~std::uint64_t(1) - static_cast<std::uint64_t>(index), ends.link1, ends.link2, now.p1,
           now.p2, now.n, now.gap, rope.length, rope.law, h);
}

}  // namespace clatter::contact
