// Gauss-Seidel sweeps over a CrowdProblem; see crowd_solver.hpp.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <tuple>

#include "base/interrupt.hpp"
#include "base/wide.hpp"
#include "impulse/crowd_parts.hpp"
#include "impulse/crowd_solver.hpp"
#include "impulse/crowd_turn_sweep.hpp"

namespace clatter::contact {

namespace {

using wide::V3;

// The two bodies of a row, their velocities in registers.
template <bool Balls>
struct Sides {
  const CrowdProblem& problem;
  const CrowdRow& row;
  CrowdBody &o1, &o2;
  V3 c1, c2, v1, w1, v2, w2;
  [[gnu::always_inline]] Sides(CrowdProblem& p, const CrowdRow& r)
      : problem(p),
        row(r),
        o1(p.bodies[static_cast<std::size_t>(r.side1)]),
        o2(p.bodies[static_cast<std::size_t>(r.side2)]),
        c1(wide::load(r.c1)),
        c2(wide::load(r.c2)),
        v1(wide::load(o1.v)),
        w1(wide::load(o1.w)),
        v2(wide::load(o2.v)),
        w2(wide::load(o2.w)) {}
  [[gnu::always_inline]] V3 rate() const { return v1 - v2 + wide::cross(w1, c1) - wide::cross(w2, c2); }
  [[gnu::always_inline]] void push(const V3& P) {
    v1 += P * o1.inverse_mass;
    v2 += P * -o2.inverse_mass;
    const V3 m1 = wide::cross(c1, P), m2 = wide::cross(c2, P);
    if constexpr (Balls) {
      w1 += m1 * o1.inverse_inertia;
      w2 += m2 * -o2.inverse_inertia;
    } else {
      const double* I1 = problem.inverse_inertia[static_cast<std::size_t>(row.side1)].data();
      const double* I2 = problem.inverse_inertia[static_cast<std::size_t>(row.side2)].data();
      w1 += wide::load(I1) * m1.x[0] + wide::load(I1 + 3) * m1.x[1] + wide::make(I1[6], I1[7], I1[8]) * m1.x[2];
      w2 += -(wide::load(I2) * m2.x[0] + wide::load(I2 + 3) * m2.x[1] + wide::make(I2[6], I2[7], I2[8]) * m2.x[2]);
    }
  }
  // Whole registers, with the number that stands behind each vector: what is loaded again next forwards only from
  // those.
  [[gnu::always_inline]] void store() {
    v1.x[3] = o1.inverse_mass;
    w1.x[3] = o1.inverse_inertia;
    v2.x[3] = o2.inverse_mass;
    w2.x[3] = o2.inverse_inertia;
    for (const auto& [body, v, w] : {std::tuple(&o1, &v1, &w1), std::tuple(&o2, &v2, &w2)}) {
      char* at = static_cast<char*>(static_cast<void*>(body));
      std::memcpy(at, &v->x, 32);
      std::memcpy(at + 32, &w->x, 32);
    }
  }
};

// Change of the rates of the row that it asked for.
template <bool Balls, bool Exact>
[[gnu::always_inline]] inline double answer(CrowdProblem& problem, CrowdRow& row) {
  Sides<Balls> sides(problem, row);
  const V3 n = wide::load(row.n), pt = wide::load(row.pt);
  V3 u = sides.rate();
  double un = wide::dot(n, u);
  if constexpr (!Exact) {
    const double eta = row.mu > 0 ? std::min(row.inverse_nn, row.inverse_tt) : row.inverse_nn;
    double pn = row.pn - eta * (un + row.b);
    const V3 zt = row.mu > 0 ? pt - (u - n * un) * eta : wide::zero();
    const double t = std::sqrt(wide::dot(zt, zt));
    double part = 1;
    if (row.mu * t <= -pn) {
      pn = 0;
      part = 0;
    } else if (t > row.mu * pn) {
      pn = (row.mu * t + pn) / (1 + row.mu * row.mu);
      part = t > 0 ? row.mu * pn / t : 0;
    }
    const V3 next = zt * part, dt = next - pt;
    const double dn = pn - row.pn;
    if (dn == 0 && wide::dot(dt, dt) == 0) return 0;
    sides.push(n * dn + dt);
    sides.store();
    row.pn = pn;
    wide::store(next, row.pt);
    return (std::abs(dn) + std::sqrt(wide::dot(dt, dt))) / eta;
  } else {
    const double pn = std::max(0.0, row.pn - (un + row.b) * row.inverse_nn), dn = pn - row.pn;
    if (pn == 0 && row.pn == 0) return 0;
    double change = std::abs(un + row.b);
    if (pn == 0) change = std::abs(dn) / row.inverse_nn;
    if constexpr (!Balls) {
      // The normal impulse changes the slip too.
      sides.push(n * dn);
      u = sides.rate();
      un = wide::dot(n, u);
    }
    V3 next = pt - (u - n * un) * row.inverse_tt;
    const double limit = row.mu * pn, t2 = wide::dot(next, next);
    if (t2 > limit * limit) next = next * (limit / std::sqrt(t2));
    const V3 dt = next - pt;
    sides.push(Balls ? n * dn + dt : dt);
    sides.store();
    row.pn = pn;
    wide::store(next, row.pt);
    return std::max(change, std::sqrt(wide::dot(dt, dt)) / row.inverse_tt);
  }
}

template <bool Balls>
[[gnu::always_inline]] inline void push_free(CrowdProblem& problem, const CrowdRow& row, const V3& P) {
  Sides<Balls> sides(problem, row);
  sides.push(P);
  sides.store();
}

// Friction of a given limit.
double answer_given_limit(CrowdProblem& problem, std::size_t i) {
  CrowdRow& row = problem.rows[i];
  const Vec3 pt(row.pt[0], row.pt[1], row.pt[2]);
  Vec3 next = pt - problem.shifted_rate(i) * row.inverse_tt;
  project_on_disc(row.mu * row.pn, next);
  const Vec3 change = next - pt;
  if (change.isZero(0)) return 0;
  problem.push(row, change);
  for (int k = 0; k < 3; ++k) row.pt[k] = next[k];
  return change.norm() / row.inverse_tt;
}

// Any row: those with a side in jointed trees, and those whose rates are shifted.
double answer_any(CrowdProblem& problem, std::size_t i, bool exact) {
  CrowdRow& row = problem.rows[i];
  if (has_given_limit(row)) return answer_given_limit(problem, i);
  const Vec3 n(row.n[0], row.n[1], row.n[2]), pt(row.pt[0], row.pt[1], row.pt[2]);
  Vec3 u = problem.shifted_rate(i);
  double un = n.dot(u);
  double change = 0, pn = row.pn;
  Vec3 next = Vec3::Zero();
  if (exact) {
    pn = std::max(0.0, row.pn - (un + row.b) * row.inverse_nn);
    if (pn == 0 && row.pn == 0) return 0;
    problem.push(row, (pn - row.pn) * n);
    change = std::abs(pn - row.pn) / row.inverse_nn;
    if (row.mu > 0) {
      u = problem.shifted_rate(i);
      un = n.dot(u);
      next = pt - (u - un * n) * row.inverse_tt;
      const double limit = row.mu * pn, t = next.norm();
      if (t > limit) next *= limit / t;
    }
    problem.push(row, next - pt);
    if (row.inverse_tt > 0) change = std::max(change, (next - pt).norm() / row.inverse_tt);
  } else {
    const double eta = row.mu > 0 ? std::min(row.inverse_nn, row.inverse_tt) : row.inverse_nn;
    pn = row.pn - eta * (un + row.b);
    if (row.mu > 0) next = pt - eta * (u - un * n);
    project_on_cone(row.mu, pn, next);
    if (row.mu == 0) pn = std::max(0.0, pn);
    const Vec3 P = (pn - row.pn) * n + next - pt;
    problem.push(row, P);
    change = P.norm() / eta;
  }
  row.pn = pn;
  for (int k = 0; k < 3; ++k) row.pt[k] = next[k];
  return change;
}

// A row with what few rows have: a moment it may transmit, a shifted rate.
template <bool Balls, bool Exact>
[[gnu::always_inline]] inline double answer_with_rare(CrowdProblem& problem, int i) {
  CrowdRow& row = problem.rows[static_cast<std::size_t>(i)];
  // What collides transmits no moment.
  if (!problem.shifts.empty() && !problem.shifts[static_cast<std::size_t>(i)].isZero(0))
    return answer_any(problem, static_cast<std::size_t>(i), Exact);
  if (problem.turns.empty()) return answer<Balls, Exact>(problem, row);
  CrowdTurn& t = problem.turns[static_cast<std::size_t>(i)];
  if (!t.any()) return answer<Balls, Exact>(problem, row);
  if constexpr (!Exact) return answer_relaxed_turn(problem, static_cast<std::size_t>(i));
  const double change = answer<Balls, Exact>(problem, row);
  return std::max(change, answer_turn<Balls>(problem, row, t));
}

double answer_coupled(CrowdProblem& problem, int i, bool exact) {
  CrowdRow& row = problem.rows[static_cast<std::size_t>(i)];
  if (problem.turns.empty() || !problem.turns[static_cast<std::size_t>(i)].any())
    return answer_any(problem, static_cast<std::size_t>(i), exact);
  if (!exact) return answer_relaxed_turn(problem, static_cast<std::size_t>(i));
  const double change = answer_any(problem, static_cast<std::size_t>(i), exact);
  return std::max(change, answer_turn_coupled(problem, row, problem.turns[static_cast<std::size_t>(i)]));
}

template <bool Balls, bool Exact>
double sweep_range(CrowdProblem& problem, int from, int to, bool backward) {
  double change = 0;
  CrowdRow* rows = problem.rows.data();
  if (!problem.turns.empty() || !problem.shifts.empty()) {
    for (int i = from; i < to; ++i)
      change = std::max(change, answer_with_rare<Balls, Exact>(problem, backward ? to - 1 - (i - from) : i));
    return change;
  }
  if (backward)
    for (int i = to - 1; i >= from; --i) change = std::max(change, answer<Balls, Exact>(problem, rows[i]));
  else
    for (int i = from; i < to; ++i) change = std::max(change, answer<Balls, Exact>(problem, rows[i]));
  return change;
}

template <bool Balls, bool Exact>
double sweep(CrowdProblem& problem, bool backward, WorkerPool& pool) {
  double changes[kParts] = {};
  visit_parts(problem, backward, pool, [&](int from, int to, int part) {
    if (part <= CrowdProblem::grounds) {
      changes[part] = sweep_range<Balls, Exact>(problem, from, to, backward);
      return;
    }
    for (int i = from; i < to; ++i) {
      const int k = backward ? to - 1 - (i - from) : i;
      changes[part] = std::max(changes[part], answer_coupled(problem, k, Exact));
    }
  });
  return *std::max_element(changes, changes + kParts);
}

}  // namespace

void CrowdSweeps::begin_round(const CrowdProblem& problem) {
  start_.resize(problem.rows.size());
  way_.resize(problem.rows.size());
  for (std::size_t i = 0; i < problem.rows.size(); ++i) std::memcpy(&start_[i], problem.rows[i].pt, 32);
  start_turn_.resize(problem.turns.size());
  way_turn_.resize(problem.turns.size());
  for (std::size_t i = 0; i < problem.turns.size(); ++i) {
    const double* m = problem.turns[i].m;
    start_turn_[i] = wide::Lanes{m[0], m[1], m[2], 0};
  }
}

double CrowdSweeps::change_of_round(const CrowdProblem& problem) {
  double sums[kParts] = {};
  visit_parts(problem, false, pool_, [&](int from, int to, int part) {
    for (int i = from; i < to; ++i) {
      const CrowdRow& row = problem.rows[static_cast<std::size_t>(i)];
      wide::Lanes d;
      std::memcpy(&d, row.pt, 32);
      d -= start_[static_cast<std::size_t>(i)];
      d *= d;
      sums[part] += (d[0] + d[1] + d[2] + d[3]) / (row.inverse_nn > 0 ? row.inverse_nn : row.inverse_tt);
    }
    if (problem.turns.empty()) return;
    for (int i = from; i < to; ++i) {
      const CrowdTurn& t = problem.turns[static_cast<std::size_t>(i)];
      if (!t.any()) continue;
      wide::Lanes d{t.m[0], t.m[1], t.m[2], 0};
      d -= start_turn_[static_cast<std::size_t>(i)];
      d *= d;
      sums[part] += (d[0] + d[1] + d[2]) / (t.lever * t.lever * problem.rows[static_cast<std::size_t>(i)].inverse_nn);
    }
  });
  double sum = 0;
  for (const double s : sums) sum += s;
  return sum;
}

void CrowdSweeps::go_on(CrowdProblem& problem, double beta) {
  visit_parts(problem, false, pool_, [&](int from, int to, int part) {
    for (int i = from; i < to; ++i) {
      CrowdRow& row = problem.rows[static_cast<std::size_t>(i)];
      wide::Lanes &start = start_[static_cast<std::size_t>(i)], &way = way_[static_cast<std::size_t>(i)], P;
      std::memcpy(&P, row.pt, 32);
      const wide::Lanes further = beta > 0 ? beta * way : wide::Lanes{0, 0, 0, 0};
      way = further + P - start;
      start = P + further;
      if (!(beta > 0)) continue;
      std::memcpy(row.pt, &start, 32);
      const V3 P_further = wide::load(row.n) * further[3] + V3{further};
      if (part > CrowdProblem::grounds)
        problem.push(row, Vec3(P_further.x[0], P_further.x[1], P_further.x[2]));
      else if (problem.balls)
        push_free<true>(problem, row, P_further);
      else
        push_free<false>(problem, row, P_further);
    }
    if (!problem.turns.empty()) turn_on(problem, beta, from, to);
  });
}

void CrowdSweeps::turn_on(CrowdProblem& problem, double beta, int from, int to) {
  for (int i = from; i < to; ++i) {
    CrowdTurn& t = problem.turns[static_cast<std::size_t>(i)];
    if (!t.any()) continue;
    wide::Lanes &start = start_turn_[static_cast<std::size_t>(i)], &way = way_turn_[static_cast<std::size_t>(i)];
    const wide::Lanes M{t.m[0], t.m[1], t.m[2], 0};
    const wide::Lanes further = beta > 0 ? beta * way : wide::Lanes{0, 0, 0, 0};
    way = further + M - start;
    start = M + further;
    if (!(beta > 0)) continue;
    wide::store(V3{start}, t.m);
    problem.turn(problem.rows[static_cast<std::size_t>(i)], t, Vec3(further[0], further[1], further[2]));
  }
}

CrowdSolverReport CrowdSweeps::solve(CrowdProblem& problem, bool exact, double tolerance, int most) {
  CrowdSolverReport report;
  if (problem.rows.empty()) {
    report.converged = true;
    return report;
  }
  // Rounds with conjugate directions after which the change must have become smaller by this factor: under Coulomb's
  // law, whose slopes are not symmetric, directions can go on for ever where rounds alone reach the end. As many rounds
  // without them follow.
  constexpr int kRounds = 100;
  constexpr double kSmaller = 0.5;
  double last = 0, mark = std::numeric_limits<double>::infinity();
  bool conjugate = true;
  begin_round(problem);
  for (;;) {
    leave_if_interrupted();
    const bool backward = report.iterations % 2 == 1;
    const double change =
        problem.balls
            ? (exact ? sweep<true, true>(problem, backward, pool_) : sweep<true, false>(problem, backward, pool_))
            : (exact ? sweep<false, true>(problem, backward, pool_) : sweep<false, false>(problem, backward, pool_));
    ++report.iterations;
    report.converged = change <= tolerance;
    if (report.converged || report.iterations >= most) return report;
    if (!backward) continue;
    const double now = change_of_round(problem);
    if (report.iterations % (2 * kRounds) == 0) {
      conjugate = !conjugate || now <= kSmaller * mark;
      mark = now;
    }
    const double beta = conjugate && last > 0 && now < last ? now / last : 0;
    go_on(problem, beta);
    last = now;
  }
}

}  // namespace clatter::contact
