// What a row of a CrowdProblem with a moment does in a sweep; see crowd_solver.hpp and crowd_turn.hpp.
//
//   exact     after the row's impulse: M_T = (M_T - w_T / B_rr) into the disc of radius rho p_N, then
//             M_N = M_N - w_N / B_dd into [-delta p_N, delta p_N]. Moments move no mass centre: only spins are touched.
//   relaxed   impulse and moment together, a step against (d, L w) and into K: blocks of a set that is no product must
//             not be answered one after the other, or sweeps end where no single part can move
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/wide.hpp"
#include "impulse/crowd_problem.hpp"

namespace clatter::contact {

// I^-1 M of a free body.
template <bool Balls>
[[gnu::always_inline]] inline wide::V3 turned_by(const CrowdProblem& problem, std::int32_t side, const CrowdBody& o,
                                                 const wide::V3& M) {
  if constexpr (Balls) return M * o.inverse_inertia;
  const double* I = problem.inverse_inertia[static_cast<std::size_t>(side)].data();
  return wide::load(I) * M.x[0] + wide::load(I + 3) * M.x[1] + wide::make(I[6], I[7], I[8]) * M.x[2];
}

// Between free bodies, by the exact law. Returns the change of the rate L w that the moment asked for.
template <bool Balls>
[[gnu::always_inline]] inline double answer_turn(CrowdProblem& problem, const CrowdRow& row, CrowdTurn& t) {
  using wide::V3;
  if (!t.any() || (row.pn == 0 && t.m[0] == 0 && t.m[1] == 0 && t.m[2] == 0)) return 0;
  CrowdBody &o1 = problem.bodies[static_cast<std::size_t>(row.side1)],
            &o2 = problem.bodies[static_cast<std::size_t>(row.side2)];
  const V3 n = wide::load(row.n), m = wide::load(t.m);
  V3 w1 = wide::load(o1.w), w2 = wide::load(o2.w), w = w1 - w2;
  double wn = wide::dot(n, w);
  const double mn = wide::dot(n, m);
  const V3 mt = m - n * mn;
  V3 rolled = mt - (w - n * wn) * t.inverse_rr;
  const double limit = t.rolling * row.pn, r2 = wide::dot(rolled, rolled);
  if (r2 > limit * limit) rolled = rolled * (limit / std::sqrt(r2));
  const V3 dt = rolled - mt;
  if constexpr (!Balls) {
    // The moment against rolling changes the spin about the normal too.
    w1 += turned_by<Balls>(problem, row.side1, o1, dt);
    w2 += -turned_by<Balls>(problem, row.side2, o2, dt);
    wn = wide::dot(n, w1 - w2);
  }
  const double most = t.drilling * row.pn, drilled = std::clamp(mn - wn * t.inverse_dd, -most, most);
  const V3 dn = n * (drilled - mn), dm = Balls ? dt + dn : dn;
  w1 += turned_by<Balls>(problem, row.side1, o1, dm);
  w2 += -turned_by<Balls>(problem, row.side2, o2, dm);
  w1.x[3] = o1.inverse_inertia;
  w2.x[3] = o2.inverse_inertia;
  std::memcpy(o1.w, &w1.x, 32);
  std::memcpy(o2.w, &w2.x, 32);
  wide::store(rolled + n * drilled, t.m);
  double change = 0;
  if (t.rolling > 0) change = std::sqrt(wide::dot(dt, dt)) / t.inverse_rr;
  if (t.drilling > 0) change = std::max(change, std::abs(drilled - mn) / t.inverse_dd);
  return t.lever * change;
}

// Any row, by the exact law.
inline double answer_turn_coupled(CrowdProblem& problem, const CrowdRow& row, CrowdTurn& t) {
  if (!t.any() || (row.pn == 0 && moment(t).isZero(0))) return 0;
  const Vec3 n(row.n[0], row.n[1], row.n[2]), m = moment(t);
  Vec3 w = problem.spin(row, t);
  const double mn = n.dot(m);
  const Vec3 mt = m - mn * n;
  Vec3 rolled = mt - (w - n.dot(w) * n) * t.inverse_rr;
  const double limit = t.rolling * row.pn, size = rolled.norm();
  if (size > limit) rolled *= limit / size;
  problem.turn(row, t, rolled - mt);
  w = problem.spin(row, t);
  const double most = t.drilling * row.pn, drilled = std::clamp(mn - n.dot(w) * t.inverse_dd, -most, most);
  problem.turn(row, t, (drilled - mn) * n);
  for (int k = 0; k < 3; ++k) t.m[k] = rolled[k] + drilled * n[k];
  double change = 0;
  if (t.rolling > 0) change = (rolled - mt).norm() / t.inverse_rr;
  if (t.drilling > 0) change = std::max(change, std::abs(drilled - mn) / t.inverse_dd);
  return t.lever * change;
}

// Any row with a moment, by the relaxed law.
inline double answer_relaxed_turn(CrowdProblem& problem, std::size_t i) {
  CrowdRow& row = problem.rows[i];
  CrowdTurn& t = problem.turns[i];
  // The step must stay below 2 / (largest eigenvalue of the block). In the lever's measure forces and moments of a ball
  // have 1 each, and together less than 2; of other bodies, whose normal and tangential parts answer together, up to 2
  // each.
  constexpr double kBall = 1, kOther = 0.45;
  const double eta = (problem.balls && t.place1 < 0 && t.place2 < 0 ? kBall : kOther) * problem.step_of(i);
  const Vec3 n(row.n[0], row.n[1], row.n[2]), pt(row.pt[0], row.pt[1], row.pt[2]), m = moment(t) / t.lever;
  const Vec3 u = problem.rate(row), w = t.lever * problem.spin(row, t);
  const double un = n.dot(u), wn = n.dot(w), mn = n.dot(m);
  double pn = row.pn - eta * (un + row.b), drilled = mn - eta * wn;
  Vec3 slid = pt - eta * (u - un * n), rolled = m - mn * n - eta * (w - wn * n);
  project_on_cone(row.mu, t.rolling / t.lever, t.drilling / t.lever, pn, slid, rolled, drilled);
  const Vec3 P = (pn - row.pn) * n + slid - pt, M = rolled + drilled * n - m;
  if (P.isZero(0) && M.isZero(0)) return 0;
  problem.push(row, P);
  problem.turn(row, t, t.lever * M);
  row.pn = pn;
  for (int k = 0; k < 3; ++k) {
    row.pt[k] = slid[k];
    t.m[k] += t.lever * M[k];
  }
  return std::sqrt(P.squaredNorm() + M.squaredNorm()) / eta;
}

}  // namespace clatter::contact
