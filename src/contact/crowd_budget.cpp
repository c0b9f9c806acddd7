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
//   with u_free + u- in the place of u_free, and half.
#include <algorithm>
#include <array>
#include <numeric>

#include "contact/crowd_stepper.hpp"

namespace clatter::contact {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

int CrowdStepper::island_of(int link) {
  if (link < 0) return -1;
  const Place& place = places_[at(link)];
  if (place.group < 0 && place.body == 0) return -1;
  int node = place.group >= 0 ? static_cast<int>(problem_.bodies.size()) + place.group : place.body;
  while (parent_[at(node)] != node) node = parent_[at(node)] = parent_[at(parent_[at(node)])];
  return node;
}

void CrowdStepper::settle_energy() {
  std::array<double, kChunks> gains{};
  std::array<bool, kChunks> bounce{};
  visit_chunks(rows_.size(), crew_, [&](std::size_t from, std::size_t to, int k) {
    for (std::size_t i = from; i < to; ++i) {
      const CrowdRow& row = problem_.rows[i];
      if (!(row.pn > 0)) continue;
      gains[at(k)] += impulse(row).dot(problem_.rate(row));
      if (turning_) gains[at(k)] += moment_power(i);
      bounce[at(k)] = bounce[at(k)] || row.b < 0;
    }
  });
  const double gain = std::accumulate(gains.begin(), gains.end(), 0.0);
  const bool bounces = std::find(bounce.begin(), bounce.end(), true) != bounce.end();
  if (!(gain > 0) && !bounces) return;
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
    k.bounces = k.bounces || row.b < 0;
  }
  for (Island& k : islands_) {
    const double excess = k.bounces ? k.middle : k.gain;
    if (excess > 0 && k.square > 0) k.part = std::max(0.0, 1 - excess / k.square);
  }
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    CrowdRow& row = problem_.rows[i];
    if (!(row.pn > 0)) continue;
    const double part = island(rows_[i]).part;
    row.pn *= part;
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
