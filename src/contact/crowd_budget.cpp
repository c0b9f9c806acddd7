// No contact of a crowd brings energy in; for CrowdStepper.
//
//   Semi-implicit Euler under uniform forces, v+ = v + h M^-1 f + M^-1 D P, q+ = q + h v+:
//
//   E+ - E = P . u+ - 1/2 |v+ - v|^2_M          u+ = D^T v+: a law that is met has P . u+ <= 0, the energy falls
//
//   Moments of contacts belong to P and their spins to u: P . u includes M . w.
//
//   Sweeps that end early may leave P . u+ > 0. Impulses t P, 0 <= t <= 1, lie in the same cones and give
//
//   (t P) . u+(t) = t P . u_free + t^2 P^T N P,   N = D^T M^-1 D
//
//   which vanishes at t = 1 - (P . u+) / (P^T N P): islands of contacts that would bring energy in have their impulses
//   reduced to that. Momentum changes by exactly what the impulses say; what is left is approach, of the size of the
//   error that the sweeps left, and shows as such in the residual.
//
//   Where a contact bounces, P . u+ > 0 is the law. What then must not rise is the energy that semi-implicit Euler
//   keeps in flight, E + h/2 f . v (the potential half a step earlier), which changes by P . (u+ + u-) / 2: the same
//   with u_free + u- in the place of u_free, and half. Where the law itself would let it rise (friction and restitution
//   of Moreau's law, Kane's paradox), an island takes the part s of its bounce that brings none, as pairs do
//   (impact.hpp), P = P_0 + s (P_e - P_0), P_0: solved with restitution 0; and it is told.
#include <algorithm>
#include <array>
#include <numeric>

#include "contact/crowd_stepper.hpp"
#include "contact/impact.hpp"

namespace clatter::contact {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

// Its body, or behind all bodies its jointed trees; -1: the ground.
int CrowdStepper::node_of(int link) const {
  if (link < 0) return -1;
  const Place& place = places_[at(link)];
  if (place.group < 0 && place.body == 0) return -1;
  return place.group >= 0 ? static_cast<int>(problem_.bodies.size()) + place.group : place.body;
}

int CrowdStepper::island_of(int link) {
  int node = node_of(link);
  if (node < 0) return -1;
  while (parent_[at(node)] != node) node = parent_[at(node)] = parent_[at(parent_[at(node)])];
  return node;
}

// Change of the energy that flight keeps by the impulses of a part of the rows.
double CrowdStepper::impact_energy(const CrowdProblem& part, std::span<const int> of_rows) const {
  double sum = 0;
  for (std::size_t k = 0; k < part.rows.size(); ++k) {
    const CrowdRow& row = part.rows[k];
    if (!(row.pn > 0)) continue;
    const std::size_t i = at(of_rows[k]);
    sum += 0.5 * impulse(row).dot(part.rate(row) + rows_[i].u_begin);
    if (turning_) sum += 0.5 * moment(part.turns[k]).dot(part.spin(row, part.turns[k]) + turned_[i].w_begin);
  }
  return sum;
}

bool CrowdStepper::bounces(std::size_t i) const {
  const CrowdRow& row = problem_.rows[i];
  return row.pn > 0 && (row.b < 0 || (shifting_ && !problem_.shifts[i].isZero(0)));
}

// Impacts whose law would bring energy in take less of their bounce.
void CrowdStepper::forbid_gain(double tolerance, int most) {
  constexpr double kGain = 1e-9;
  gains_.clear();
  bool any = false;
  for (std::size_t i = 0; i < rows_.size() && !any; ++i) any = bounces(i);
  if (!any) return;
  join_islands(false);
  islands_.assign(parent_.size(), {});
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const CrowdRow& row = problem_.rows[i];
    if (!(row.pn > 0)) continue;
    Island& k = islands_[root_of_row(i)];
    const Vec3 P = impulse(row);
    k.middle += P.dot(problem_.rate(row) + rows_[i].u_begin);
    k.square += std::abs(P.dot(rows_[i].u_begin));
    if (turning_) k.middle += moment_power(i) + moment(problem_.turns[i]).dot(turned_[i].w_begin);
    k.bounces = k.bounces || bounces(i);
    k.driven = k.driven || rows_[i].driven;
  }
  for (std::size_t root = 0; root < islands_.size(); ++root) {
    if (!islands_[root].bounces || islands_[root].driven || !(islands_[root].middle > kGain * islands_[root].square))
      continue;
    open_rows_.clear();
    int worst = -1;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (root_of_row(i) != root) continue;
      open_rows_.push_back(static_cast<int>(i));
      if (bounces(i) && (worst < 0 || problem_.rows[i].pn > problem_.rows[at(worst)].pn)) worst = static_cast<int>(i);
    }
    part_.take(problem_, open_rows_);
    with_bounce_ = part_.problem;
    const double with = impact_energy(part_.problem, open_rows_);
    for (CrowdRow& row : part_.problem.rows) row.b = std::max(0.0, row.b);
    std::fill(part_.problem.shifts.begin(), part_.problem.shifts.end(), Vec3(Vec3::Zero()));
    solve_part(tolerance, most);
    without_bounce_ = part_.problem;
    const double without = impact_energy(part_.problem, open_rows_);
    take_part_of_bounce(0.5);
    const double s = part_without_gain(without, impact_energy(part_.problem, open_rows_), with);
    take_part_of_bounce(s);
    part_.put_back(problem_);
    gains_.push_back({worst, with, s});
  }
}

// The part's impulses and velocities between those without and with its bounces.
void CrowdStepper::take_part_of_bounce(double s) {
  const auto mix = [s](double& out, double without, double with) { out = without + s * (with - without); };
  for (std::size_t k = 0; k < part_.problem.rows.size(); ++k) {
    CrowdRow& row = part_.problem.rows[k];
    const CrowdRow &a = without_bounce_.rows[k], &b = with_bounce_.rows[k];
    mix(row.pn, a.pn, b.pn);
    for (int i = 0; i < 3; ++i) mix(row.pt[i], a.pt[i], b.pt[i]);
    for (int i = 0; turning_ && i < 3; ++i)
      mix(part_.problem.turns[k].m[i], without_bounce_.turns[k].m[i], with_bounce_.turns[k].m[i]);
  }
  for (std::size_t k = 0; k < part_.problem.bodies.size(); ++k)
    for (int i = 0; i < 3; ++i) {
      mix(part_.problem.bodies[k].v[i], without_bounce_.bodies[k].v[i], with_bounce_.bodies[k].v[i]);
      mix(part_.problem.bodies[k].w[i], without_bounce_.bodies[k].w[i], with_bounce_.bodies[k].w[i]);
    }
  for (std::size_t k = 0; k < part_.problem.x.size(); ++k)
    mix(part_.problem.x[k], without_bounce_.x[k], with_bounce_.x[k]);
}

// Impulses of islands that would bring energy in are reduced; `bouncing`: of those that bounce too.
void CrowdStepper::settle_energy(bool bouncing) {
  std::array<double, kChunks> gains{};
  std::array<bool, kChunks> bounce{};
  visit_chunks(rows_.size(), crew_, [&](std::size_t from, std::size_t to, int k) {
    for (std::size_t i = from; i < to; ++i) {
      const CrowdRow& row = problem_.rows[i];
      if (!(row.pn > 0)) continue;
      gains[at(k)] += impulse(row).dot(problem_.rate(row));
      if (turning_) gains[at(k)] += moment_power(i);
      bounce[at(k)] = bounce[at(k)] || bounces(i);
    }
  });
  const double gain = std::accumulate(gains.begin(), gains.end(), 0.0);
  const bool any_bounce = std::find(bounce.begin(), bounce.end(), true) != bounce.end();
  if (!(gain > 0) && !(any_bounce && bouncing)) return;
  join_islands(true);
  islands_.assign(parent_.size(), {});
  // u_free of all rows: the velocities of the problem change places with those before the impulses.
  problem_.bodies.swap(free_bodies_);
  problem_.x.swap(free_x_);
  for (std::size_t i = 0; i < rows_.size(); ++i) rows_[i].u_free = problem_.rate(problem_.rows[i]);
  if (turning_) find_free_spins();
  problem_.bodies.swap(free_bodies_);
  problem_.x.swap(free_x_);
  const auto island = [&](const Contacted& c) -> Island& {
    const int a = island_of(c.link1);
    return islands_[at(a >= 0 ? a : island_of(c.link2))];
  };
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const CrowdRow& row = problem_.rows[i];
    if (!(row.pn > 0)) continue;
    const Contacted& c = rows_[i];
    const Vec3 P = impulse(row), u = problem_.rate(row);
    Island& k = island(c);
    k.gain += P.dot(u);
    k.middle += P.dot(u + c.u_begin);
    k.square += P.dot(u - c.u_free);
    if (turning_) {
      const Vec3 M = moment(problem_.turns[i]);
      const double power = moment_power(i);
      k.gain += power;
      k.middle += power + M.dot(turned_[i].w_begin);
      k.square += power - M.dot(turned_[i].w_free);
    }
    k.bounces = k.bounces || bounces(i);
    k.driven = k.driven || c.driven;
  }
  for (Island& k : islands_) {
    if (k.driven || (k.bounces && !bouncing)) continue;
    const double excess = k.bounces ? k.middle : k.gain;
    if (excess > 0 && k.square > 0) k.part = std::max(0.0, 1 - excess / k.square);
  }
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    CrowdRow& row = problem_.rows[i];
    if (!(row.pn > 0)) continue;
    const double part = island(rows_[i]).part;
    if (!has_given_limit(row)) row.pn *= part;
    for (double& p : row.pt) p *= part;
    if (!turning_) continue;
    for (double& m : problem_.turns[i].m) m *= part;
  }
  const auto shrink = [](double& v, double free, double part) { v = free + part * (v - free); };
  for (std::size_t k = 0; k < bodies_.size(); ++k) {
    const double part = islands_[at(island_of(bodies_[k]))].part;
    if (part == 1) continue;
    CrowdBody& body = problem_.bodies[k + CrowdProblem::grounds];
    const CrowdBody& free = free_bodies_[k + CrowdProblem::grounds];
    for (int j = 0; j < 3; ++j) {
      shrink(body.v[j], free.v[j], part);
      shrink(body.w[j], free.w[j], part);
    }
  }
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    int node = static_cast<int>(problem_.bodies.size() + g);
    while (parent_[at(node)] != node) node = parent_[at(node)];
    const double part = islands_[at(node)].part;
    for (int j = groups_[g].first; j < groups_[g].first + groups_[g].n; ++j)
      shrink(problem_.x[at(j)], free_x_[at(j)], part);
  }
}

}  // namespace clatter::contact
