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
#include "impulse/impact.hpp"

namespace clatter::contact {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

// Its body, or behind all bodies its jointed trees; -1: the ground.
int CrowdStepper::node_of(int link) const {
  if (link < 0) return -1;
  const Place& place = nodes_.places[at(link)];
  if (place.group < 0 && place.body == 0) return -1;
  return place.group >= 0 ? static_cast<int>(problem_.bodies.size()) + place.group : place.body;
}

int CrowdStepper::island_of(int link) {
  int node = node_of(link);
  if (node < 0) return -1;
  while (graph_.parent[at(node)] != node) node = graph_.parent[at(node)] = graph_.parent[at(graph_.parent[at(node)])];
  return node;
}

// Change of the energy that flight keeps by the impulses of a part of the rows.
double CrowdStepper::impact_energy(const CrowdProblem& part, std::span<const int> of_rows) const {
  double sum = 0;
  for (std::size_t k = 0; k < part.rows.size(); ++k) {
    const CrowdRow& row = part.rows[k];
    if (!(row.pn > 0)) continue;
    const std::size_t i = at(of_rows[k]);
    sum += 0.5 * impulse(row).dot(part.rate(row) + assembly_.origins[i].u_begin);
    if (laws_.turning)
      sum += 0.5 * moment(part.turns[k]).dot(part.spin(row, part.turns[k]) + assembly_.turned[i].w_begin);
  }
  return sum;
}

bool CrowdStepper::bounces(std::size_t i) const {
  const CrowdRow& row = problem_.rows[i];
  return row.pn > 0 && (row.b < 0 || (laws_.shifting && !problem_.shifts[i].isZero(0)));
}

// Impacts whose law would bring energy in take less of their bounce.
void CrowdStepper::forbid_gain(double tolerance, int most) {
  constexpr double kGain = 1e-9;
  bounce_.gains.clear();
  bool any = false;
  for (std::size_t i = 0; i < assembly_.origins.size() && !any; ++i) any = bounces(i);
  if (!any) return;
  join_islands(false);
  graph_.islands.assign(graph_.parent.size(), {});
  for (std::size_t i = 0; i < assembly_.origins.size(); ++i) {
    const CrowdRow& row = problem_.rows[i];
    if (!(row.pn > 0)) continue;
    Island& k = graph_.islands[root_of_row(i)];
    const Vec3 P = impulse(row);
    k.middle += P.dot(problem_.rate(row) + assembly_.origins[i].u_begin);
    k.square += std::abs(P.dot(assembly_.origins[i].u_begin));
    if (laws_.turning) k.middle += moment_power(i) + moment(problem_.turns[i]).dot(assembly_.turned[i].w_begin);
    k.bounces = k.bounces || bounces(i);
    k.driven = k.driven || assembly_.origins[i].driven;
  }
  for (std::size_t root = 0; root < graph_.islands.size(); ++root) {
    if (!graph_.islands[root].bounces || graph_.islands[root].driven ||
        !(graph_.islands[root].middle > kGain * graph_.islands[root].square))
      continue;
    graph_.open_rows.clear();
    int worst = -1;
    for (std::size_t i = 0; i < assembly_.origins.size(); ++i) {
      if (root_of_row(i) != root) continue;
      graph_.open_rows.push_back(static_cast<int>(i));
      if (bounces(i) && (worst < 0 || problem_.rows[i].pn > problem_.rows[at(worst)].pn)) worst = static_cast<int>(i);
    }
    part_.take(problem_, graph_.open_rows);
    bounce_.with = part_.problem;
    const double with = impact_energy(part_.problem, graph_.open_rows);
    for (CrowdRow& row : part_.problem.rows) row.b = std::max(0.0, row.b);
    std::fill(part_.problem.shifts.begin(), part_.problem.shifts.end(), Vec3(Vec3::Zero()));
    solve_part(tolerance, most);
    bounce_.without = part_.problem;
    const double without = impact_energy(part_.problem, graph_.open_rows);
    take_part_of_bounce(0.5);
    const double s = part_without_gain(without, impact_energy(part_.problem, graph_.open_rows), with);
    take_part_of_bounce(s);
    part_.put_back(problem_);
    bounce_.gains.push_back({worst, with, s});
  }
}

// The part's impulses and velocities between those without and with its bounces.
void CrowdStepper::take_part_of_bounce(double s) {
  const auto mix = [s](double& out, double without, double with) { out = without + s * (with - without); };
  for (std::size_t k = 0; k < part_.problem.rows.size(); ++k) {
    CrowdRow& row = part_.problem.rows[k];
    const CrowdRow &a = bounce_.without.rows[k], &b = bounce_.with.rows[k];
    mix(row.pn, a.pn, b.pn);
    for (int i = 0; i < 3; ++i) mix(row.pt[i], a.pt[i], b.pt[i]);
    for (int i = 0; laws_.turning && i < 3; ++i)
      mix(part_.problem.turns[k].m[i], bounce_.without.turns[k].m[i], bounce_.with.turns[k].m[i]);
  }
  for (std::size_t k = 0; k < part_.problem.bodies.size(); ++k)
    for (int i = 0; i < 3; ++i) {
      mix(part_.problem.bodies[k].v[i], bounce_.without.bodies[k].v[i], bounce_.with.bodies[k].v[i]);
      mix(part_.problem.bodies[k].w[i], bounce_.without.bodies[k].w[i], bounce_.with.bodies[k].w[i]);
    }
  for (std::size_t k = 0; k < part_.problem.x.size(); ++k)
    mix(part_.problem.x[k], bounce_.without.x[k], bounce_.with.x[k]);
}

// Impulses of islands that would bring energy in are reduced; `bouncing`: of those that bounce too.
void CrowdStepper::settle_energy(bool bouncing) {
  std::array<double, kChunks> gains{};
  std::array<bool, kChunks> bounce{};
  visit_chunks(assembly_.origins.size(), pool_, [&](std::size_t from, std::size_t to, int k) {
    for (std::size_t i = from; i < to; ++i) {
      const CrowdRow& row = problem_.rows[i];
      if (!(row.pn > 0)) continue;
      gains[at(k)] += impulse(row).dot(problem_.rate(row));
      if (laws_.turning) gains[at(k)] += moment_power(i);
      bounce[at(k)] = bounce[at(k)] || bounces(i);
    }
  });
  const double gain = std::accumulate(gains.begin(), gains.end(), 0.0);
  const bool any_bounce = std::find(bounce.begin(), bounce.end(), true) != bounce.end();
  if (!(gain > 0) && !(any_bounce && bouncing)) return;
  join_islands(true);
  graph_.islands.assign(graph_.parent.size(), {});
  // u_free of all rows: the velocities of the problem change places with those before the impulses.
  problem_.bodies.swap(free_.bodies);
  problem_.x.swap(free_.x);
  for (std::size_t i = 0; i < assembly_.origins.size(); ++i)
    assembly_.origins[i].u_free = problem_.rate(problem_.rows[i]);
  if (laws_.turning) find_free_spins();
  problem_.bodies.swap(free_.bodies);
  problem_.x.swap(free_.x);
  const auto island = [&](const RowOrigin& c) -> Island& {
    const int a = island_of(c.link1);
    return graph_.islands[at(a >= 0 ? a : island_of(c.link2))];
  };
  for (std::size_t i = 0; i < assembly_.origins.size(); ++i) {
    const CrowdRow& row = problem_.rows[i];
    if (!(row.pn > 0)) continue;
    const RowOrigin& c = assembly_.origins[i];
    const Vec3 P = impulse(row), u = problem_.rate(row);
    Island& k = island(c);
    k.gain += P.dot(u);
    k.middle += P.dot(u + c.u_begin);
    k.square += P.dot(u - c.u_free);
    if (laws_.turning) {
      const Vec3 M = moment(problem_.turns[i]);
      const double power = moment_power(i);
      k.gain += power;
      k.middle += power + M.dot(assembly_.turned[i].w_begin);
      k.square += power - M.dot(assembly_.turned[i].w_free);
    }
    k.bounces = k.bounces || bounces(i);
    k.driven = k.driven || c.driven;
  }
  for (Island& k : graph_.islands) {
    if (k.driven || (k.bounces && !bouncing)) continue;
    const double excess = k.bounces ? k.middle : k.gain;
    if (excess > 0 && k.square > 0) k.part = std::max(0.0, 1 - excess / k.square);
  }
  for (std::size_t i = 0; i < assembly_.origins.size(); ++i) {
    CrowdRow& row = problem_.rows[i];
    if (!(row.pn > 0)) continue;
    const double part = island(assembly_.origins[i]).part;
    if (!has_given_limit(row)) row.pn *= part;
    for (double& p : row.pt) p *= part;
    if (!laws_.turning) continue;
    for (double& m : problem_.turns[i].m) m *= part;
  }
  const auto shrink = [](double& v, double free, double part) { v = free + part * (v - free); };
  for (std::size_t k = 0; k < nodes_.bodies.size(); ++k) {
    const double part = graph_.islands[at(island_of(nodes_.bodies[k]))].part;
    if (part == 1) continue;
    CrowdBody& body = problem_.bodies[k + CrowdProblem::grounds];
    const CrowdBody& free = free_.bodies[k + CrowdProblem::grounds];
    for (int j = 0; j < 3; ++j) {
      shrink(body.v[j], free.v[j], part);
      shrink(body.w[j], free.w[j], part);
    }
  }
  for (std::size_t g = 0; g < nodes_.groups.size(); ++g) {
    int node = static_cast<int>(problem_.bodies.size() + g);
    while (graph_.parent[at(node)] != node) node = graph_.parent[at(node)];
    const double part = graph_.islands[at(node)].part;
    for (int j = nodes_.groups[g].first; j < nodes_.groups[g].first + nodes_.groups[g].n; ++j)
      shrink(problem_.x[at(j)], free_.x[at(j)], part);
  }
}

}  // namespace clatter::contact
