// Moments of a crowd's contacts (rolling and drilling friction, P-26) in a step, for CrowdStepper.
//
// A contact that collides in the step (the same that restitution and `impact_friction` mean) transmits none, as impacts
// of pairs do not: the limits rho p_N and delta p_N are those of a pressure that lasts.
#include <algorithm>

#include "contact/crowd_stepper.hpp"

namespace clatter::contact {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

Vec3 CrowdStepper::begin_spin(int link) const {
  return link < 0 ? Vec3::Zero() : Vec3(engine_.links().motion[at(link)].w);
}

// Of the row that was added last; starts with the moment of the last step, as far as the new limits let it.
void CrowdStepper::make_turn(Draft& draft, const RigidContact& law, const CrowdMemory::Entry* last) {
  const CrowdRow& row = draft.rows.back();
  const RowOrigin& c = draft.about.back();
  CrowdTurn& t = draft.turns.emplace_back();
  Turned& about = draft.turned.emplace_back();
  about.w_begin = begin_spin(c.link1) - begin_spin(c.link2);
  about.w_free = Vec3::Zero();
  if (c.impact || !(law.rolling > 0 || law.drilling > 0)) return;
  t.rolling = law.rolling;
  t.drilling = law.drilling;
  const Vec3 none[3] = {Vec3::Zero(), Vec3::Zero(), Vec3::Zero()},
             unit[3] = {Vec3::UnitX(), Vec3::UnitY(), Vec3::UnitZ()};
  if (row.side1 < 0) t.place1 = columns_of(problem_, c.link1, none, unit);
  if (row.side2 < 0) t.place2 = columns_of(problem_, c.link2, none, unit);
  problem_.set_response(row, t);
  if (last == nullptr) return;
  const Vec3 n(row.n[0], row.n[1], row.n[2]), m = memory_.moment(*last);
  const double most = t.drilling * row.pn, mn = std::clamp(n.dot(m), -most, most), limit = t.rolling * row.pn;
  Vec3 mt = m - n.dot(m) * n;
  const double size = mt.norm();
  if (size > limit) mt *= limit / size;
  for (int k = 0; k < 3; ++k) t.m[k] = mt[k] + mn * n[k];
}

double CrowdStepper::moment_power(std::size_t i) const {
  return moment(problem_.turns[i]).dot(problem_.spin(problem_.rows[i], problem_.turns[i]));
}

// Where the problem has the velocities before impulses.
void CrowdStepper::find_free_spins() {
  for (std::size_t i = 0; i < assembly_.turned.size(); ++i)
    assembly_.turned[i].w_free = problem_.spin(problem_.rows[i], problem_.turns[i]);
}

}  // namespace clatter::contact
