#include "contact/crowd_newton.hpp"

#include <algorithm>
#include <cmath>

#include "contact/crowd_cone.hpp"

namespace clatter::contact {

namespace {

// kappa: the first, that of Coulomb's law as it is, the least, the most.
constexpr double kSoft = 1e3, kGentle = 1e2, kSoftest = 10, kStiff = 1e6;
constexpr double kNear = 1e-3;           // residual by the largest rate
constexpr double kEnough = 0.1;          // of a round: what is left, by what the round before left
constexpr int kRounds = 60, kStuck = 6;  // of multipliers; without gain
constexpr int kWhole = 12;               // iterations of a round with Coulomb's law as it is
constexpr int kEasy = 10;                // iterations of a round after which a stiffer one is dared
constexpr int kPatience = 2;             // rounds with its lift before that is tried again
constexpr int kSearch = 20;
constexpr double kFlat = 0.1;  // slope at the end of a step, by that at its begin
constexpr double kRounding = 1e-14;
constexpr int kAttempts = 4, kBatches = 12, kSweeps = 100;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

double CrowdNewton::take(const CrowdProblem& problem, std::span<const int> rows, bool exact) {
  const int from = unknowns_.first, n = unknowns_.second - from;
  y_.segment(from, n).setZero();
  for (const int i : rows) {
    push_of(i, P0_[at(i)], y_);
  }
  double worst = 0;
  for (const int i : rows) {
    const CrowdRow& row = problem.rows[at(i)];
    const Vec3 nrm = normal(row);
    const Vec3 d = d_[at(i)] = start_[at(i)] + rate_of(i, y_);
    if (exact) lift_[at(i)] = row.mu * (d - nrm.dot(d) * nrm).norm();
    const Vec3 z = P0_[at(i)] - eta_[at(i)] * (d + lift_[at(i)] * nrm);
    const double off = (P0_[at(i)] - onto_cone(row, z)).norm() / eta_[at(i)];
    worst = off <= worst ? worst : off;  // NaN stays
  }
  return worst;
}

double CrowdNewton::evaluate(const CrowdProblem& problem, std::span<const int> rows) {
  const int from = unknowns_.first, n = unknowns_.second - from;
  g_.segment(from, n) = -y_.segment(from, n);
  for (const int i : rows) {
    const CrowdRow& row = problem.rows[at(i)];
    const Vec3 d = d_[at(i)] + lift_[at(i)] * normal(row);
    P_[at(i)] = onto_cone(row, P0_[at(i)] - kappa_ * eta_[at(i)] * d, slope_[at(i)]);
    push_of(i, P_[at(i)], g_);
  }
  g_.segment(from, n) *= -1;
  double most = 0;
  for (const int i : rows) {
    const double change = rate_of(i, g_).norm();
    most = change <= most ? most : change;
  }
  return most;
}

// Root of the slope of phi along the step, an increasing function: regula falsi with the Illinois correction. The whole
// step where the slope there is small.
double CrowdNewton::length_of_step(const CrowdProblem& problem, std::span<const int> rows) const {
  const int from = unknowns_.first, n = unknowns_.second - from;
  const double begin = g_.segment(from, n).dot(dy_.segment(from, n)), square = dy_.segment(from, n).squaredNorm();
  const auto slope = [&](double t) {
    double sum = begin + t * square;
    for (const int i : rows) {
      const CrowdRow& row = problem.rows[at(i)];
      const Vec3 d = d_[at(i)] + lift_[at(i)] * normal(row) + t * way_[at(i)];
      sum += way_[at(i)].dot(P_[at(i)] - onto_cone(row, P0_[at(i)] - kappa_ * eta_[at(i)] * d));
    }
    return sum;
  };
  const double end = slope(1);
  if (!(end > kFlat * std::abs(begin))) return 1;
  double a = 0, fa = begin, b = 1, fb = end, t = 1;
  for (int k = 0; k < kSearch; ++k) {
    t = (a * fb - b * fa) / (fb - fa);
    if (!(t > a && t < b)) t = 0.5 * (a + b);
    const double f = slope(t);
    if (std::abs(f) <= kFlat * std::abs(begin)) break;
    if (f > 0) {
      b = t;
      fb = f;
      fa *= 0.5;
    } else {
      a = t;
      fa = f;
      fb *= 0.5;
    }
  }
  return t;
}

bool CrowdNewton::minimise(const CrowdProblem& problem, std::span<const int> rows, double enough, int& left) {
  const int from = unknowns_.first, n = unknowns_.second - from;
  last_round_.clear();
  double missing = evaluate(problem, rows);
  for (;;) {
    last_round_.push_back(missing);
    if (missing <= enough) return true;
    if (!std::isfinite(missing) || left <= 0 || !factorize(rows)) return false;
    --left;
    ++counts_.newton;
    dy_.segment(from, n) = -g_.segment(from, n);
    matrix_.solve(island_, dy_.data());
    for (const int i : rows) way_[at(i)] = rate_of(i, dy_);
    const double t = length_of_step(problem, rows);
    y_.segment(from, n) += t * dy_.segment(from, n);
    double fastest = 0;
    for (const int i : rows) {
      d_[at(i)] += t * way_[at(i)];
      fastest = std::max(fastest, d_[at(i)].norm());
    }
    const double next = evaluate(problem, rows);
    // A whole step that gains no more has met rounding.
    if (t == 1 && next > 0.25 * missing && next <= kRounding * kappa_ * fastest) return true;
    missing = next;
  }
}

bool CrowdNewton::solve_island(const CrowdProblem& problem, int island, bool exact, double tolerance, int& left) {
  const std::span<const int> rows(island_rows_.data() + island_begin_[at(island)],
                                  island_rows_.data() + island_begin_[at(island) + 1]);
  if (rows.empty()) return true;
  island_ = island;
  unknowns_ = matrix_.unknowns_of(island);
  factored_ = false;
  double residual = take(problem, rows, exact), best = residual;
  if (residual <= tolerance) return true;
  bool friction = false;
  double fastest = 0;
  for (const int i : rows) {
    best_[at(i)] = P0_[at(i)];
    friction = friction || (exact && problem.rows[at(i)].mu > 0);
    fastest = std::max(fastest, start_[at(i)].norm());
  }
  // Coulomb's law as it is, from near; from afar, and where that does not lead on, rounds with its lift.
  bool whole = friction && residual <= kNear * fastest;
  double gentle = kGentle, firm = kSoft;
  int stuck = 0, patience = 0;
  for (int round = 0; round < kRounds && residual > tolerance && left > 0 && stuck < kStuck; ++round) {
    ++counts_.rounds;
    kappa_ = whole ? gentle : firm;
    const long before = counts_.newton;
    const double enough = kEnough * std::max(residual * kEnough, tolerance), last = residual;
    int allowed = std::min(left, whole ? kWhole : left);
    left -= allowed;
    const bool solved =
        whole ? minimise_whole(problem, rows, enough, allowed) : minimise(problem, rows, enough, allowed);
    left += allowed;
    for (const int i : rows) P0_[at(i)] = P_[at(i)];
    residual = take(problem, rows, exact);
    stuck = residual < 0.9 * best ? 0 : stuck + 1;
    if (residual < best) {
      best = residual;
      for (const int i : rows) best_[at(i)] = P0_[at(i)];
    }
    if (whole) {
      // Rates are known to rounding, impulses to kappa times that: no stiffer than it must be.
      if (solved && residual < last) {
        if (residual > 0.1 * last) gentle = std::min(kStiff, 10 * gentle);
        continue;
      }
      // Back to the best point met, and on by its lift.
      whole = false;
      patience = kPatience;
      gentle = std::max(kSoftest, 0.1 * gentle);
      for (const int i : rows) P0_[at(i)] = best_[at(i)];
      residual = take(problem, rows, exact);
      continue;
    }
    if (!std::isfinite(residual)) break;
    whole = friction && --patience <= 0 && residual <= kNear * fastest;
    if (!solved)
      firm = std::max(kSoftest, 0.1 * firm);
    else if (residual > 0.1 * last && counts_.newton - before <= kEasy)
      firm = std::min(kStiff, 10 * firm);
  }
  for (const int i : rows) P0_[at(i)] = best_[at(i)];
  return best <= tolerance;
}

// Impulses and the velocities that belong to them.
void CrowdNewton::put(CrowdProblem& problem) const {
  problem.bodies = free_bodies_;
  problem.x = free_x_;
  for (std::size_t i = 0; i < problem.rows.size(); ++i) {
    CrowdRow& row = problem.rows[i];
    row.pn = normal(row).dot(P0_[i]);
    const Vec3 pt = P0_[i] - row.pn * normal(row);
    for (int k = 0; k < 3; ++k) row.pt[k] = pt[k];
    problem.push(row, P0_[i]);
  }
}

void CrowdNewton::begin(CrowdProblem& problem) {
  const std::size_t n = problem.rows.size();
  for (std::vector<Vec3>* list : {&start_, &P0_, &P_, &best_, &d_, &way_}) list->resize(n);
  for (std::vector<Mat3>* list : {&slope_, &factored_slope_, &whole_slope_}) list->resize(n);
  lift_.assign(n, 0);
  eta_.resize(n);
  gather(problem);
  gather_islands(problem);
  for (Vec* x : {&y_, &g_, &dy_})
    if (x->size() < matrix_.unknowns()) x->setZero(matrix_.unknowns());
  // Velocities without contact: those of the start impulses are in the problem.
  for (std::size_t i = 0; i < n; ++i) {
    P0_[i] = impulse(problem.rows[i]);
    problem.push(problem.rows[i], -P0_[i]);
  }
  free_bodies_ = problem.bodies;
  free_x_ = problem.x;
  for (std::size_t i = 0; i < n; ++i) {
    const CrowdRow& row = problem.rows[i];
    start_[i] = problem.rate(row) + row.b * normal(row);
    eta_[i] = row.mu > 0 ? std::min(row.inverse_nn, row.inverse_tt) : row.inverse_nn;
    P0_[i] = onto_cone(row, P0_[i]);
  }
  put(problem);
}

// Batches of sweeps, each at about the price of a factorisation of a thousand bodies: at least `least`, then as long as
// one halves the residual; returns that. From what is not nearer to the law than before it goes back.
double CrowdNewton::sweep(CrowdProblem& problem, bool exact, double tolerance, int least) {
  double residual = problem.residual(exact).rate;
  const double begin = residual;
  for (int batch = 0; batch < kBatches && residual > tolerance; ++batch) {
    sweeps_.solve(problem, exact, 0.1 * tolerance, kSweeps);
    const double last = residual;
    residual = problem.residual(exact).rate;
    if (batch + 1 >= least && !(residual < 0.5 * last)) break;
  }
  if (!(residual < begin)) {
    put(problem);
    return begin;
  }
  for (std::size_t i = 0; i < P0_.size(); ++i) P0_[i] = onto_cone(problem.rows[i], impulse(problem.rows[i]));
  return residual;
}

CrowdSolverReport CrowdNewton::solve(CrowdProblem& problem, bool exact, double tolerance, int most) {
  CrowdSolverReport report;
  if (problem.rows.empty() || problem.residual(exact).rate <= tolerance) {
    report.converged = true;
    return report;
  }
  begin(problem);
  const long before = counts_.newton;
  int left = most;
  double reached = 0;
  for (int attempt = 0; attempt < kAttempts && !report.converged; ++attempt) {
    if (attempt > 0) ++counts_.fallbacks;
    if (attempt > 0 || sweeps_first_) {
      const double residual = sweep(problem, exact, tolerance, 2 * attempt);
      report.converged = residual <= tolerance;
      // Where neither leads on, there is no more to be had.
      if (attempt > 1 && !(residual < 0.5 * reached)) break;
      reached = residual;
    }
    if (report.converged || left <= 0) break;
    report.converged = true;
    for (int k = 0; k < matrix_.islands(); ++k)
      report.converged = solve_island(problem, k, exact, tolerance, left) && report.converged;
    put(problem);
  }
  report.iterations = static_cast<int>(counts_.newton - before);
  return report;
}

}  // namespace clatter::contact
