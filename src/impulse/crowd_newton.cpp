#include "impulse/crowd_newton.hpp"

#include <algorithm>
#include <cmath>

#include "base/interrupt.hpp"
#include "impulse/crowd_cone.hpp"
#include "solve/line_search.hpp"

namespace clatter::contact {

namespace {

// kappa: the first, that of Coulomb's law as it is, the least, the most.
constexpr double kSoft = 1e3, kGentle = 1e2, kSoftest = 1, kStiff = 1e9;
constexpr double kNear = 1e-3;             // residual by the largest rate
constexpr double kEnough = 0.1;            // of a round: what is left, by what the round before left
constexpr int kRounds = 200, kStuck = 40;  // of multipliers; without gain
constexpr int kWhole = 12;                 // iterations of a round with Coulomb's law as it is
constexpr int kQuick = 4, kSlow = 7;       // iterations of such a round after which the next is stiffer, softer
constexpr double kAway = 100;              // residual of a round by the best: it has lost its way
constexpr int kEasy = 10;                  // iterations of a round after which a stiffer one is dared
constexpr int kPatience = 2;               // rounds with its lift before the law as it is is tried again
constexpr double kRounding = 1e-14;
constexpr double kLeast = 5;  // iterations that are always worth their price
constexpr int kAttempts = 4, kBatches = 12, kSweeps = 100;
// Sweeps where nothing else leads on, by the multiplications of one row in a sweep as many as are left.
constexpr double kManySweeps = 5000, kSweptRow = 200, kMostSwept = 4e9;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

void CrowdNewton::project(const CrowdProblem& problem, int row, Vec3& P, Vec3& M) const {
  if (turns(row))
    onto_cone(problem.rows[at(row)], *turn_[at(row)], P, M);
  else
    P = onto_cone(problem.rows[at(row)], P);
}

Vec3 CrowdNewton::lifted(const CrowdProblem& problem, int row) const {
  return d_[at(row)] + lift_[at(row)] * normal(problem.rows[at(row)]);
}

double CrowdNewton::lift_at(const CrowdProblem& problem, int i) const {
  const CrowdRow& row = problem.rows[at(i)];
  if (has_given_limit(row)) return 0;
  const Vec3 n = normal(row), &d = d_[at(i)];
  const double slip = row.mu * (d - n.dot(d) * n).norm();
  if (!turns(i)) return slip;
  const CrowdTurn& t = *turn_[at(i)];
  const Vec3& w = d_[at(moment_port(i))];
  const double wn = n.dot(w);
  return slip + (t.rolling * (w - wn * n).norm() + t.drilling * std::abs(wn)) / t.lever;
}

void CrowdNewton::keep(std::vector<Vec3>& to, const std::vector<Vec3>& from) const {
  for (const int port : ports_) to[at(port)] = from[at(port)];
}

double CrowdNewton::take(const CrowdProblem& problem, bool exact) {
  const int from = unknowns_.first, n = unknowns_.second - from;
  y_.segment(from, n).setZero();
  for (const int port : ports_) push_of(port, P0_[at(port)], y_.data());
  for (const int port : ports_) d_[at(port)] = start_[at(port)] + rate_of(port, y_);
  double worst = 0;
  for (const int i : rows_) {
    if (exact) lift_[at(i)] = lift_at(problem, i);
    Vec3 P = P0_[at(i)] - eta_[at(i)] * lifted(problem, i), M = Vec3::Zero();
    if (turns(i)) M = P0_[at(moment_port(i))] - eta_[at(i)] * d_[at(moment_port(i))];
    project(problem, i, P, M);
    double square = (P0_[at(i)] - P).squaredNorm();
    if (turns(i)) square += (P0_[at(moment_port(i))] - M).squaredNorm();
    const double off = std::sqrt(square) / eta_[at(i)];
    worst = off <= worst ? worst : off;  // NaN stays
  }
  return worst;
}

double CrowdNewton::largest_rate(const Vec& y) const {
  double most = 0;
  for (const int port : ports_) {
    const double rate = rate_of(port, y).norm();
    most = rate <= most ? most : rate;
  }
  return most;
}

double CrowdNewton::evaluate(const CrowdProblem& problem) {
  const int from = unknowns_.first, n = unknowns_.second - from;
  g_.segment(from, n) = -y_.segment(from, n);
  for (const int i : rows_) {
    const CrowdRow& row = problem.rows[at(i)];
    const double rho = kappa_ * eta_[at(i)];
    P_[at(i)] = P0_[at(i)] - rho * lifted(problem, i);
    if (!turns(i)) {
      P_[at(i)] = onto_cone(row, P_[at(i)], slope_[at(i)]);
    } else {
      const auto m = at(moment_port(i));
      P_[m] = P0_[m] - rho * d_[m];
      onto_cone(row, *turn_[at(i)], P_[at(i)], P_[m], slope_[at(i)], slope_[m], cross_[at(i)]);
    }
    each_port(i, [&](int port) { push_of(port, P_[at(port)], g_.data()); });
  }
  g_.segment(from, n) *= -1;
  return largest_rate(g_);
}

double CrowdNewton::length_of_step(const CrowdProblem& problem) const {
  const int from = unknowns_.first, n = unknowns_.second - from;
  const double begin = g_.segment(from, n).dot(dy_.segment(from, n)), square = dy_.segment(from, n).squaredNorm();
  return least_point_along(begin, [&](double t) {
    double sum = begin + t * square;
    for (const int i : rows_) {
      const double rho = kappa_ * eta_[at(i)];
      Vec3 P = P0_[at(i)] - rho * (lifted(problem, i) + t * way_[at(i)]), M = Vec3::Zero();
      if (turns(i)) {
        const auto m = at(moment_port(i));
        M = P0_[m] - rho * (d_[m] + t * way_[m]);
        project(problem, i, P, M);
        sum += way_[m].dot(P_[m] - M);
      } else {
        project(problem, i, P, M);
      }
      sum += way_[at(i)].dot(P_[at(i)] - P);
    }
    return sum;
  });
}

double CrowdNewton::go(double t) {
  const int from = unknowns_.first, n = unknowns_.second - from;
  y_.segment(from, n) += t * dy_.segment(from, n);
  double fastest = 0;
  for (const int port : ports_) {
    d_[at(port)] += t * way_[at(port)];
    fastest = std::max(fastest, d_[at(port)].norm());
  }
  return fastest;
}

bool CrowdNewton::minimise(const CrowdProblem& problem, double enough, int& left) {
  const int from = unknowns_.first, n = unknowns_.second - from;
  last_round_.clear();
  double missing = evaluate(problem);
  bool rounded = false;
  for (;;) {
    leave_if_interrupted();
    last_round_.push_back(missing);
    if (missing <= enough) return true;
    if (!std::isfinite(missing) || left <= 0 || !factorize()) return false;
    --left;
    ++counts_.newton;
    dy_.segment(from, n) = -g_.segment(from, n);
    matrix_.solve(island_, dy_.data());
    for (const int port : ports_) way_[at(port)] = rate_of(port, dy_);
    if (rounded) break;
    const double t = length_of_step(problem), fastest = go(t), next = evaluate(problem);
    // A step that gains no more so near to the end has met rounding.
    rounded = next > 0.25 * missing && next <= kRounding * kappa_ * fastest;
    missing = next;
  }
  // The last step by the linear map alone.
  for (const int i : rows_) {
    const double rho = kappa_ * eta_[at(i)];
    P_[at(i)] -= rho * (slope_[at(i)] * way_[at(i)]);
    if (!turns(i)) continue;
    const auto m = at(moment_port(i));
    P_[at(i)] -= rho * (cross_[at(i)] * way_[m]);
    P_[m] -= rho * (slope_[m] * way_[m] + cross_[at(i)].transpose() * way_[at(i)]);
  }
  return true;
}

bool CrowdNewton::solve_island(const CrowdProblem& problem, int island, bool exact, double tolerance, int& left) {
  const int* ports = island_ports_.data();
  rows_ = {ports + island_begin_[at(island)], at(island_rows_[at(island)])};
  ports_ = {ports + island_begin_[at(island)], ports + island_begin_[at(island) + 1]};
  if (rows_.empty()) return true;
  island_ = island;
  unknowns_ = matrix_.unknowns_of(island);
  factored_ = false;
  double residual = take(problem, exact), best = residual;
  if (residual <= tolerance) return true;
  bool friction = false;
  double fastest = 0;
  for (const int i : rows_) {
    friction = friction || (exact && (problem.rows[at(i)].mu > 0 || turns(i)));
    fastest = std::max(fastest, start_[at(i)].norm());
  }
  keep(best_, P0_);
  keep(kept_, P0_);
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
    const bool solved = whole ? minimise_whole(problem, enough, allowed) : minimise(problem, enough, allowed);
    left += allowed;
    const long iterations = counts_.newton - before;
    for (const int i : rows_) {
      Vec3 P = P_[at(i)], M = turns(i) ? P_[at(moment_port(i))] : Vec3::Zero();
      project(problem, i, P, M);
      P0_[at(i)] = P;
      if (turns(i)) P0_[at(moment_port(i))] = M;
    }
    residual = take(problem, exact);
    stuck = residual < 0.9 * best ? 0 : stuck + 1;
    if (residual < best) {
      best = residual;
      keep(best_, P0_);
    }
    if (whole) {
      if (solved && residual < kAway * best) {
        keep(kept_, P0_);
        if (iterations <= kQuick) gentle = std::min(kStiff, 4 * gentle);
        if (iterations > kSlow) gentle = std::max(kSoftest, 0.5 * gentle);
        continue;
      }
      // Back, and on softer; in the end by its lift.
      keep(P0_, kept_);
      residual = take(problem, exact);
      gentle *= 0.25;
      if (gentle >= kSoftest) continue;
      gentle = kGentle;
      whole = false;
      patience = kPatience;
      continue;
    }
    if (!std::isfinite(residual)) break;
    whole = friction && --patience <= 0 && residual <= kNear * fastest;
    if (whole) keep(kept_, P0_);
    if (!solved)
      firm = std::max(kSoftest, 0.1 * firm);
    else if (residual > 0.1 * last && iterations <= kEasy)
      firm = std::min(kStiff, 10 * firm);
  }
  keep(P0_, best_);
  return best <= tolerance;
}

void CrowdNewton::read(const CrowdProblem& problem) {
  for (std::size_t i = 0; i < turn_.size(); ++i) {
    const int row = static_cast<int>(i);
    Vec3 P = impulse(problem.rows[i]), M = Vec3::Zero();
    if (turns(row)) M = moment(*turn_[i]) / turn_[i]->lever;
    project(problem, row, P, M);
    P0_[i] = P;
    if (turns(row)) P0_[at(moment_port(row))] = M;
  }
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
    if (turn_[i] == nullptr) continue;
    CrowdTurn& t = problem.turns[i];
    const Vec3 M = t.lever * P0_[at(moment_port(static_cast<int>(i)))];
    for (int k = 0; k < 3; ++k) t.m[k] = M[k];
    problem.turn(row, t, M);
  }
}

void CrowdNewton::begin(CrowdProblem& problem) {
  const std::size_t n = problem.rows.size(), ports = n + problem.turns.size();
  for (std::vector<Vec3>* list : {&start_, &P0_, &P_, &best_, &kept_, &d_, &way_}) list->resize(ports);
  for (std::vector<Mat3>* list : {&slope_, &factored_slope_, &whole_slope_}) list->resize(ports);
  for (std::vector<Mat3>* list : {&cross_, &factored_cross_, &whole_cross_}) list->resize(problem.turns.size());
  lift_.assign(n, 0);
  eta_.resize(n);
  gather(problem);
  gather_islands(problem);
  for (Vec* x : {&y_, &g_, &dy_})
    if (x->size() < matrix_.unknowns()) x->setZero(matrix_.unknowns());
  // Velocities without contact: those of the start impulses are in the problem.
  for (std::size_t i = 0; i < n; ++i) {
    problem.push(problem.rows[i], -impulse(problem.rows[i]));
    if (turn_[i] != nullptr) problem.turn(problem.rows[i], *turn_[i], -moment(*turn_[i]));
  }
  free_bodies_ = problem.bodies;
  free_x_ = problem.x;
  for (std::size_t i = 0; i < n; ++i) {
    const CrowdRow& row = problem.rows[i];
    start_[i] = problem.shifted_rate(i) + row.b * normal(row);
    if (turn_[i] != nullptr) start_[n + i] = turn_[i]->lever * problem.spin(row, *turn_[i]);
    eta_[i] = problem.step_of(i);
  }
  read(problem);
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
  read(problem);
  return residual;
}

bool CrowdNewton::solve_islands(CrowdProblem& problem, bool exact, double tolerance, int most, double& operations) {
  const double each = std::max(1.0, matrix_.operations());
  bool solved = true;
  for (int k = 0; k < matrix_.islands(); ++k) {
    int left = static_cast<int>(std::min<double>(most, std::max(kLeast, operations / each)));
    const int begin_with = left;
    solved = solve_island(problem, k, exact, tolerance, left) && solved;
    operations -= (begin_with - left) * each;
  }
  put(problem);
  return solved;
}

// A weight that strikes a heap changes which contacts slide and which open all over it: Newton's method then finds no
// way out of where it stands, while some thousand sweeps find one, and it ends what they have begun.
bool CrowdNewton::sweep_long(CrowdProblem& problem, bool exact, double tolerance, int most, double operations) {
  const double affordable = std::min(operations, kMostSwept) / (kSweptRow * static_cast<double>(problem.rows.size()));
  const int sweeps = static_cast<int>(std::min(kManySweeps, affordable));
  if (sweeps <= kSweeps) return false;
  ++counts_.fallbacks;
  const double begin = problem.residual(exact).rate;
  sweeps_.solve(problem, exact, 0.1 * tolerance, sweeps);
  const double residual = problem.residual(exact).rate;
  if (!(residual < begin)) {
    put(problem);
    return false;
  }
  read(problem);
  return residual <= tolerance || solve_islands(problem, exact, tolerance, most, operations);
}

CrowdSolverReport CrowdNewton::solve(CrowdProblem& problem, bool exact, double tolerance, int most, double operations) {
  CrowdSolverReport report;
  if (problem.rows.empty() || problem.residual(exact).rate <= tolerance) {
    report.converged = true;
    return report;
  }
  begin(problem);
  const long before = counts_.newton;
  const double allowed = operations;
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
    if (report.converged) break;
    report.converged = solve_islands(problem, exact, tolerance, most, operations);
  }
  if (!report.converged) report.converged = sweep_long(problem, exact, tolerance, most, allowed);
  report.iterations = static_cast<int>(counts_.newton - before);
  return report;
}

}  // namespace clatter::contact
