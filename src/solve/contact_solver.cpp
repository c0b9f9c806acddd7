#include "solve/contact_solver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace clatter {
namespace {

constexpr long kFewStates = 4096;        // decided in milliseconds: tried before the iterations
constexpr long kManyStates = 200000;     // the last resort
constexpr double kNewtonTarget = 1e-13;  // Newton goes on to rounding while it still gains

}  // namespace

bool ContactSolver::offer(const Vec& u, ContactMethod method) {
  candidate_ = u;
  project(scaled_, candidate_);
  kinematics(scaled_.problem, candidate_, y_);
  const ConeResidual found = residual(scaled_, candidate_, y_, F_);
  if (found.complementarity < best_residual_) {
    best_residual_ = found.complementarity;
    best_ = candidate_;
    result_.residual = found.complementarity;
    result_.violation = found.violation;
    result_.answered = method;
  }
  return best_residual_ <= std::min(options_.tolerance, kSolvedResidual);
}

bool ContactSolver::try_lemke(const ScaledContact& s) {
  if (reduction_.reduce(s.problem) == LcpReduction::Outcome::inconsistent) {
    failure_ = ContactStatus::inconsistent;
    return false;
  }
  const LcpResult lcp = lemke_.solve(reduction_.A(), reduction_.b(), x_, w_);
  result_.iterations += lcp.pivots;
  if (lcp.status != LcpStatus::solved) {
    failure_ = lcp.status == LcpStatus::ray ? ContactStatus::ray : ContactStatus::iteration_limit;
  }
  reduction_.expand(x_, u_);
  if (&s != &scaled_) return lcp.status == LcpStatus::solved;
  return offer(u_, ContactMethod::lemke);
}

bool ContactSolver::try_newton(const ScaledContact& s, int steps) {
  const IterationReport report = newton_.solve(s, u_, {std::min(kNewtonTarget, options_.tolerance), steps});
  result_.iterations += report.iterations;
  return offer(u_, ContactMethod::newton);
}

bool ContactSolver::try_prox(const ScaledContact& s, int sweeps, double tolerance) {
  const IterationReport report = prox_.solve(s, u_, {tolerance, sweeps});
  result_.iterations += report.iterations;
  return offer(u_, ContactMethod::prox);
}

bool ContactSolver::try_enumeration(const ContactProblem& problem, long max_states) {
  if (state_count(problem) > max_states) return false;
  const Enumeration all = enumerate(problem, max_states);
  result_.iterations += static_cast<int>(std::min<long>(all.states, std::numeric_limits<int>::max() / 2));
  result_.count = all.count;
  result_.count_y = all.count_y;
  bool solved = false;
  for (const EnumeratedSolution& e : all.solutions) {
    scaled_.from_original(e.r, u_);
    solved = offer(u_, ContactMethod::enumeration) || solved;
    if (solved) break;
  }
  return solved;
}

void ContactSolver::automatic_linear(const ContactProblem& problem, bool warm) {
  if (warm && try_newton(scaled_, 15)) return;
  if (try_lemke(scaled_)) return;
  if (failure_ == ContactStatus::inconsistent) return;
  const long states = state_count(problem);
  if (states <= kFewStates) {
    try_enumeration(problem, kFewStates);
    return;
  }
  if (try_newton(scaled_, 60)) return;
  u_.setZero(problem.size());
  if (try_prox(scaled_, 500, options_.tolerance)) return;
  if (try_newton(scaled_, 60)) return;
  if (states <= kManyStates) try_enumeration(problem, kManyStates);
}

// Squares inscribed in the discs: |r_1|, |r_2| <= radius / sqrt(2). A start of the right kind: who sticks, who is open.
void ContactSolver::start_from_squares() {
  const double shrink = std::sqrt(0.5);
  squares_.problem.A = scaled_.problem.A;
  squares_.problem.b = scaled_.problem.b;
  squares_.problem.cones.clear();
  for (Cone c : scaled_.problem.cones) {
    if (c.kind != Cone::Kind::disc) {
      squares_.problem.cones.push_back(c);
      continue;
    }
    c.kind = Cone::Kind::box;
    c.mu_plus *= shrink;
    c.mu_minus = c.mu_plus;
    c.hi *= shrink;
    c.lo = -c.hi;
    squares_.problem.cones.push_back(c);
    ++c.row;
    squares_.problem.cones.push_back(c);
  }
}

void ContactSolver::automatic_discs(bool warm) {
  const int n = scaled_.problem.size();
  if (warm && try_newton(scaled_, 20)) return;
  if (!warm) u_.setZero(n);
  if (try_prox(scaled_, 30, options_.tolerance) || try_newton(scaled_, 40)) return;
  start_from_squares();
  if (try_lemke(squares_) && try_newton(scaled_, 60)) return;
  if (failure_ == ContactStatus::inconsistent) return;
  u_.setZero(n);
  for (int sweeps = 300; sweeps <= 30000; sweeps *= 10) {
    if (try_prox(scaled_, sweeps, options_.tolerance)) return;
    const Vec from_prox = u_;
    if (try_newton(scaled_, 60)) return;
    u_ = from_prox;
  }
  failure_ = ContactStatus::iteration_limit;
}

ContactResult ContactSolver::solve(const ContactProblem& problem, Vec& r, const ContactOptions& options) {
  options_ = options;
  result_ = {};
  failure_ = ContactStatus::iteration_limit;
  best_residual_ = std::numeric_limits<double>::infinity();
  scaled_.assign(problem);
  if (problem.size() == 0) {
    r.resize(0);
    result_.status = ContactStatus::solved;
    return result_;
  }
  const bool discs = problem.has_discs();
  const bool warm = options.warm_start && r.size() == problem.size() && r.allFinite();
  if (warm) {
    scaled_.from_original(r, u_);
  } else {
    u_.setZero(problem.size());
  }
  best_ = u_;

  switch (options.method) {
    case ContactMethod::automatic:
      if (discs) {
        automatic_discs(warm);
      } else {
        automatic_linear(problem, warm);
      }
      break;
    case ContactMethod::lemke:
      if (discs) {
        failure_ = ContactStatus::unsupported;
      } else {
        try_lemke(scaled_);
      }
      break;
    case ContactMethod::enumeration:
      if (discs || state_count(problem) > kManyStates) {
        failure_ = ContactStatus::unsupported;
      } else {
        try_enumeration(problem, kManyStates);
      }
      break;
    case ContactMethod::prox:
      try_prox(scaled_, options.max_iterations > 0 ? options.max_iterations : 20000, options.tolerance);
      break;
    case ContactMethod::newton:
      try_newton(scaled_, options.max_iterations > 0 ? options.max_iterations : 100);
      break;
  }
  const bool solved = best_residual_ <= std::min(options.tolerance, kSolvedResidual);
  if (!std::isfinite(best_residual_)) {
    u_.setZero(problem.size());
    offer(u_, options.method);
  }
  if (options.count_solutions && !discs && result_.count == SolutionCount::unknown &&
      state_count(problem) <= kManyStates) {
    const Enumeration all = enumerate(problem, kManyStates);
    result_.count = all.count;
    result_.count_y = all.count_y;
  }
  result_.status = solved                                 ? ContactStatus::solved
                   : result_.count == SolutionCount::none ? ContactStatus::no_solution
                                                          : failure_;
  scaled_.to_original(best_, r);
  return result_;
}

}  // namespace clatter
