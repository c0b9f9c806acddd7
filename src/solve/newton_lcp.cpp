#include "solve/newton_lcp.hpp"
#include "base/interrupt.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <array>
#include <cmath>

namespace clatter {

bool NewtonSolver::newton_direction() {
  lu_.compute(J_);
  const auto pivots = lu_.matrixLU().diagonal().cwiseAbs();
  if (!(pivots.minCoeff() > 1e-12 * pivots.maxCoeff())) return false;
  // Without the temporary that solve() would take.
  d_.noalias() = lu_.permutationP() * F_;
  d_ *= -1;
  lu_.matrixLU().triangularView<Eigen::UnitLower>().solveInPlace(d_);
  lu_.matrixLU().triangularView<Eigen::Upper>().solveInPlace(d_);
  return d_.allFinite();
}

void NewtonSolver::regularized_direction(double eta) {
  H_.noalias() = J_.transpose() * J_;
  H_.diagonal().array() += eta;
  d_.noalias() = -(J_.transpose() * F_);
  llt_.compute(H_);
  llt_.solveInPlace(d_);
}

double NewtonSolver::merit_at(const ScaledContact& s, const Vec& u) {
  kinematics(s.problem, u, y_);
  natural_map(s, u, y_, F_);
  const double merit = F_.squaredNorm();
  return std::isfinite(merit) ? merit : std::numeric_limits<double>::infinity();
}

IterationReport NewtonSolver::solve(const ScaledContact& s, Vec& u, const NewtonOptions& options) {
  IterationReport report;
  if (u.size() == 0) {
    report.converged = true;
    return report;
  }
  double merit = merit_at(s, u), best = merit;
  best_ = u;
  std::array<double, 4> recent;
  recent.fill(merit);
  const auto small_enough = [&] {
    kinematics(s.problem, best_, y_);
    report.residual = residual(s, best_, y_, F_).complementarity;
    return report.residual <= options.tolerance;
  };
  int failures = 0;
  while (report.iterations < options.max_steps && !small_enough()) {
    leave_if_interrupted();
    ++report.iterations;
    kinematics(s.problem, u, y_);
    natural_map(s, u, y_, F_, &J_);
    bool accepted = false;
    const double bound = *std::max_element(recent.begin(), recent.end());
    for (int attempt = 0; attempt < 4 && !accepted; ++attempt) {
      if (attempt == 0) {
        if (failures > 0 && failures % 2 == 0) continue;  // a Newton step that failed twice running is not tried thrice
        if (!newton_direction()) continue;
      } else {
        kinematics(s.problem, u, y_);
        natural_map(s, u, y_, F_);
        regularized_direction(std::pow(100.0, attempt - 3) * std::max(std::sqrt(merit), 1e-10));
      }
      double t = 1;
      const double reference = attempt == 0 ? bound : merit;
      for (int halving = 0; halving < 10; ++halving, t *= 0.5) {
        trial_ = u + t * d_;
        const double trial = merit_at(s, trial_);
        if (trial <= (1 - 1e-4 * t) * reference) {
          accepted = true;
          u = trial_;
          merit = trial;
          break;
        }
      }
    }
    if (!accepted) {
      if (++failures > 2) break;
      // At a kink no direction of this piece descends: the full Newton step, with the memory of merits cleared.
      kinematics(s.problem, u, y_);
      natural_map(s, u, y_, F_);
      if (!newton_direction()) break;
      u += d_;
      merit = merit_at(s, u);
      recent.fill(merit);
    }
    recent[static_cast<std::size_t>(report.iterations) % recent.size()] = merit;
    if (merit < best) {
      best = merit;
      best_ = u;
      failures = 0;
    }
  }
  u = best_;
  report.converged = small_enough();
  return report;
}

LcpResult newton_lcp(const Eigen::Ref<const Mat>& A, const Eigen::Ref<const Vec>& b, Vec& x, Vec& y,
                     const NewtonOptions& options) {
  ContactProblem problem{A, b, {}};
  for (int i = 0; i < problem.size(); ++i) problem.cones.push_back(Cone::ray(i));
  ScaledContact s;
  s.assign(problem);
  if (x.size() != b.size()) x.setZero(b.size());
  Vec u, y_scaled, F;
  s.from_original(x, u);
  const IterationReport report = NewtonSolver().solve(s, u, options);
  project(s, u);
  kinematics(s.problem, u, y_scaled);
  LcpResult result;
  result.pivots = report.iterations;
  result.residual = residual(s, u, y_scaled, F).complementarity;
  result.status = result.residual <= kSolvedResidual ? LcpStatus::solved : LcpStatus::iteration_limit;
  s.to_original(u, x);
  y = b;
  y.noalias() += A * x;
  for (int i = 0; i < problem.size(); ++i) y(i) = u(i) > std::max(y_scaled(i), 0.0) ? 0.0 : std::max(y(i), 0.0);
  return result;
}

}  // namespace clatter
