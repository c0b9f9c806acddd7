// Projected gradients over a CrowdProblem; see crowd_solver.hpp.
//
//   f(P) = 1/2 P^T N P + r^T P,   gradient g = N P + r = d, the rates with b: one pass over contacts and bodies
//
// Steps are judged by gradients alone: differences of f are quadratic in the error and drown in rounding long before.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/interrupt.hpp"
#include "impulse/crowd_solver.hpp"

namespace clatter::contact {

namespace {

double dot(const std::vector<Vec3>& a, const std::vector<Vec3>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i].dot(b[i]);
  return sum;
}

Vec3 normal(const CrowdRow& row) { return Vec3(row.n[0], row.n[1], row.n[2]); }

void project_one(const CrowdRow& row, const CrowdTurn& t, Vec3& P, Vec3& M) {
  const Vec3 n = normal(row);
  double pn = n.dot(P), mn = n.dot(M);
  Vec3 pt = P - pn * n, mt = M - mn * n;
  project_on_cone(row.mu, t.rolling / t.lever, t.drilling / t.lever, pn, pt, mt, mn);
  P = pn * n + pt;
  M = mn * n + mt;
}

void project_one(const CrowdRow& row, Vec3& P) {
  const Vec3 n = normal(row);
  double pn = n.dot(P);
  Vec3 pt = P - pn * n;
  if (has_given_limit(row)) {
    pn = row.pn;
    project_on_disc(row.mu * pn, pt);
  } else if (row.mu > 0) {
    project_on_cone(row.mu, pn, pt);
  } else {
    pn = std::max(0.0, pn);
    pt.setZero();
  }
  P = pn * n + pt;
}

}  // namespace

void CrowdGradients::take(CrowdProblem& problem, const Impulses& P) {
  problem.bodies = free_bodies_;
  problem.x = free_x_;
  const std::size_t n = problem.rows.size();
  for (std::size_t i = 0; i < n; ++i) problem.push(problem.rows[i], P[i]);
  for (std::size_t i = 0; i < problem.turns.size(); ++i)
    problem.turn(problem.rows[i], problem.turns[i], problem.turns[i].lever * P[n + i]);
}

void CrowdGradients::gradient(const CrowdProblem& problem, Impulses& g) const {
  const std::size_t n = problem.rows.size();
  for (std::size_t i = 0; i < n; ++i) {
    const CrowdRow& row = problem.rows[i];
    g[i] = problem.shifted_rate(i) + (row.b + lift_[i]) * normal(row);
  }
  for (std::size_t i = 0; i < problem.turns.size(); ++i)
    g[n + i] = problem.turns[i].any() ? Vec3(problem.turns[i].lever * problem.spin(problem.rows[i], problem.turns[i]))
                                      : Vec3::Zero();
}

void CrowdGradients::project(const CrowdProblem& problem, Impulses& P) {
  const std::size_t n = problem.rows.size();
  for (std::size_t i = 0; i < n; ++i)
    if (problem.turns.empty() || !problem.turns[i].any())
      project_one(problem.rows[i], P[i]);
    else
      project_one(problem.rows[i], problem.turns[i], P[i], P[n + i]);
}

double CrowdGradients::natural(const CrowdProblem& problem, const Impulses& P, const Impulses& g) const {
  double worst = 0;
  const std::size_t n = problem.rows.size();
  for (std::size_t i = 0; i < n; ++i) {
    const double eta = problem.step_of(i);
    if (!(eta > 0)) continue;
    Vec3 z = P[i] - eta * g[i], y = Vec3::Zero();
    double off;
    if (problem.turns.empty() || !problem.turns[i].any()) {
      project_one(problem.rows[i], z);
      off = (P[i] - z).norm();
    } else {
      y = P[n + i] - eta * g[n + i];
      project_one(problem.rows[i], problem.turns[i], z, y);
      off = std::sqrt((P[i] - z).squaredNorm() + (P[n + i] - y).squaredNorm());
    }
    worst = std::max(worst, off / eta);
  }
  return worst;
}

int CrowdGradients::nesterov(CrowdProblem& problem, double tolerance, int most, bool& converged) {
  double theta = 1, L = 0;
  for (const CrowdRow& row : problem.rows)
    if (row.inverse_tt > 0) L = std::max(L, 1 / row.inverse_tt);
  y_ = P_;
  int k = 0;
  for (; k < most && !converged; ++k) {
    leave_if_interrupted();
    take(problem, y_);
    gradient(problem, g_);
    for (;;) {
      for (std::size_t i = 0; i < P_.size(); ++i) next_[i] = y_[i] - g_[i] / L;
      project(problem, next_);
      take(problem, next_);
      gradient(problem, g_next_);
      // f is quadratic: the step is short enough where its curvature along s, s . N s = s . (g' - g), is no more than
      // L.
      double curvature = 0, square = 0;
      for (std::size_t i = 0; i < P_.size(); ++i) {
        const Vec3 s = next_[i] - y_[i];
        curvature += s.dot(g_next_[i] - g_[i]);
        square += s.squaredNorm();
      }
      if (curvature <= L * square || !(square > 0)) break;
      L *= 2;
    }
    double uphill = 0;
    const double theta_next = 0.5 * theta * (std::sqrt(theta * theta + 4) - theta);
    const double beta = theta * (1 - theta) / (theta * theta + theta_next);
    for (std::size_t i = 0; i < P_.size(); ++i) uphill += g_[i].dot(next_[i] - P_[i]);
    converged = natural(problem, next_, g_next_) <= tolerance;
    if (uphill > 0) {
      theta = 1;
      y_ = next_;
    } else {
      for (std::size_t i = 0; i < P_.size(); ++i) y_[i] = next_[i] + beta * (next_[i] - P_[i]);
      theta = theta_next;
    }
    P_.swap(next_);
    L *= 0.95;
  }
  return k;
}

int CrowdGradients::spectral(CrowdProblem& problem, double tolerance, int most, bool& converged) {
  constexpr int kMemory = 10;
  // Lengths s . s / s . N s can repeat every few steps together with the cuts of the line search, and the way to the
  // optimum then shrinks by 1e-5 a step. Other multiples of them in every step, spread evenly by the golden section,
  // leave no cycle (Raydan and Svaiter 2002 relax steepest descent so).
  constexpr double kShortest = 0.7, kSpread = 0.6, kGolden = 0.6180339887498949;
  constexpr double kDecrease = 1e-4, kRange = 1e4, kRounding = 1e-15;
  // Values of the last steps, relative to the present one: differences of f itself would drown in rounding.
  std::array<double, kMemory> last;
  last.fill(-std::numeric_limits<double>::infinity());
  take(problem, P_);
  gradient(problem, g_);
  double typical = 0;
  for (const CrowdRow& row : problem.rows)
    typical = std::max(typical, has_given_limit(row) ? row.inverse_tt : std::min(row.inverse_nn, row.inverse_tt));
  double step = typical;
  converged = natural(problem, P_, g_) <= tolerance;
  int k = 0;
  for (; k < most && !converged; ++k) {
    leave_if_interrupted();
    last[static_cast<std::size_t>(k % kMemory)] = 0;
    const double worst = *std::max_element(last.begin(), last.end());
    for (std::size_t i = 0; i < P_.size(); ++i) next_[i] = P_[i] - step * g_[i];
    project(problem, next_);
    for (std::size_t i = 0; i < P_.size(); ++i) y_[i] = next_[i] - P_[i];
    const double slope = dot(g_, y_);
    // One evaluation tells f along the whole way, which is quadratic: f(part) = part slope + part^2 bend / 2.
    take(problem, next_);
    gradient(problem, g_next_);
    double bend = 0, square = 0, rounding = 0;
    for (std::size_t i = 0; i < P_.size(); ++i) {
      rounding += kRounding * g_[i].norm() * (y_[i].norm() + P_[i].norm());
      bend += y_[i].dot(g_next_[i] - g_[i]);
      square += y_[i].squaredNorm();
    }
    double part = 1;
    // Next to the optimum slopes are rounding: there steps go on without a look at f.
    if (slope < -rounding && slope + 0.5 * bend > worst + kDecrease * slope) part = std::min(1.0, -slope / bend);
    if (part < 1)
      for (std::size_t i = 0; i < P_.size(); ++i) {
        next_[i] = P_[i] + part * y_[i];
        g_next_[i] = g_[i] + part * (g_next_[i] - g_[i]);
      }
    const double change = part * slope + 0.5 * part * part * bend;
    for (double& value : last) value -= change;
    const double turn = kGolden * k;
    const double multiple = kShortest + kSpread * (turn - std::floor(turn));
    if (bend > 0) step = std::clamp(multiple * square / bend, typical / kRange, typical * kRange);
    P_.swap(next_);
    g_.swap(g_next_);
    converged = natural(problem, P_, g_) <= tolerance;
  }
  return k;
}

// Impulses of the problem as the unknowns of the gradients.
void CrowdGradients::begin(const CrowdProblem& problem) {
  const std::size_t n = problem.rows.size(), turns = problem.turns.size();
  for (Impulses* list : {&P_, &y_, &next_, &g_, &g_next_}) list->resize(n + turns);
  for (std::size_t i = 0; i < n; ++i) P_[i] = impulse(problem.rows[i]);
  for (std::size_t i = 0; i < turns; ++i) P_[n + i] = moment(problem.turns[i]) / problem.turns[i].lever;
}

void CrowdGradients::put_into(CrowdProblem& problem) {
  const std::size_t n = problem.rows.size();
  take(problem, P_);
  for (std::size_t i = 0; i < n; ++i) {
    CrowdRow& row = problem.rows[i];
    row.pn = normal(row).dot(P_[i]);
    const Vec3 pt = P_[i] - row.pn * normal(row);
    for (int k = 0; k < 3; ++k) row.pt[k] = pt[k];
  }
  for (std::size_t i = 0; i < problem.turns.size(); ++i)
    for (int k = 0; k < 3; ++k) problem.turns[i].m[k] = problem.turns[i].lever * P_[n + i][k];
}

void CrowdGradients::lift_by_slip(const CrowdProblem& problem) {
  for (std::size_t i = 0; i < problem.rows.size(); ++i) {
    const CrowdRow& row = problem.rows[i];
    if (has_given_limit(row)) continue;
    const Vec3 u = problem.shifted_rate(i);
    lift_[i] = row.mu * (u - normal(row).dot(u) * normal(row)).norm();
    if (problem.turns.empty()) continue;
    const CrowdTurn& t = problem.turns[i];
    const Vec3 w = problem.spin(row, t);
    const double wn = normal(row).dot(w);
    lift_[i] += t.rolling * (w - wn * normal(row)).norm() + t.drilling * std::abs(wn);
  }
}

// By sweeps with the law as it is, to the same residual; a sweep that changes little may still leave more than that.
int CrowdGradients::sweep_on(CrowdProblem& problem, double tolerance, int most, double& off) {
  constexpr double kFirst = 0.1, kFiner = 0.1, kFinest = 1e-4;
  int done = 0;
  for (double change = kFirst; done < most && off > tolerance && change >= kFinest; change *= kFiner) {
    done += sweeps_.solve(problem, true, change * tolerance, most - done).iterations;
    off = problem.residual(true).rate;
  }
  return done;
}

CrowdSolverReport CrowdGradients::solve(CrowdProblem& problem, bool exact, bool spectral_steps, double tolerance,
                                        int most) {
  // Rounds of the fixed point after which it must have come nearer by this factor. It is no contraction where slip and
  // normal force change each other strongly: it then crawls, or goes round a cycle.
  constexpr int kRounds = 8;
  constexpr double kNearer = 0.1;
  // Residual of the problem with mu |u_T| fixed, by that of the exact law in the last round.
  constexpr double kInner = 1e-2;
  CrowdSolverReport report;
  const std::size_t n = problem.rows.size();
  if (n == 0) {
    report.converged = true;
    return report;
  }
  begin(problem);
  lift_.assign(n, 0);
  // Velocities without contact: those of the start impulses are in the problem.
  for (std::size_t i = 0; i < n; ++i) problem.push(problem.rows[i], -P_[i]);
  for (std::size_t i = 0; i < problem.turns.size(); ++i)
    problem.turn(problem.rows[i], problem.turns[i], -moment(problem.turns[i]));
  free_bodies_ = problem.bodies;
  free_x_ = problem.x;
  bool any_friction = false;
  for (const CrowdRow& row : problem.rows) any_friction = any_friction || row.mu > 0;
  for (const CrowdTurn& t : problem.turns) any_friction = any_friction || t.any();
  exact = exact && any_friction;
  double off = 0, mark = std::numeric_limits<double>::infinity();
  for (int round = 0;; ++round) {
    bool inner = false;
    const double goal = std::max(0.5 * tolerance, kInner * off);
    const int left = most - report.iterations;
    report.iterations += spectral_steps ? spectral(problem, goal, left, inner) : nesterov(problem, goal, left, inner);
    put_into(problem);
    report.converged = inner;
    if (!exact) return report;
    off = problem.residual(true).rate;
    if (off > tolerance && round % kRounds == kRounds - 1) {
      if (off > kNearer * mark) report.iterations += sweep_on(problem, tolerance, most - report.iterations, off);
      mark = off;
      begin(problem);
    }
    report.converged = off <= tolerance;
    if (report.converged || report.iterations >= most) return report;
    lift_by_slip(problem);
  }
}

}  // namespace clatter::contact
