#include "solve/prox.hpp"
#include "base/interrupt.hpp"

#include <algorithm>
#include <cmath>

namespace clatter {

void ProxSolver::sweep(const ScaledContact& s, double omega, Vec& u) {
  const ContactProblem& p = s.problem;
  const auto move = [&](int row, double target) {
    const double change = omega * (target - u(row));
    if (change == 0) return;
    u(row) += change;
    y_ += change * p.A.col(row);
  };
  for (const Cone& c : p.cones) {
    const int i = c.row;
    const double normal = c.normal >= 0 ? std::max(u(c.normal), 0.0) : 0;
    const double v = u(i) - y_(i) / diagonal_(i);
    switch (c.kind) {
      case Cone::Kind::line:
        move(i, v);
        break;
      case Cone::Kind::ray:
        move(i, std::max(v, 0.0));
        break;
      case Cone::Kind::box:
        move(i, std::clamp(v, c.lo - c.mu_minus * normal, c.hi + c.mu_plus * normal));
        break;
      case Cone::Kind::disc: {
        const double radius = c.hi + c.mu_plus * normal;
        Eigen::Vector2d target(v, u(i + 1) - y_(i + 1) / diagonal_(i + 1));
        const double length = target.norm();
        if (length > radius) target *= radius / length;
        move(i, target(0));
        move(i + 1, target(1));
        break;
      }
    }
  }
}

IterationReport ProxSolver::solve(const ScaledContact& s, Vec& u, const ProxOptions& options) {
  const ContactProblem& p = s.problem;
  const int n = p.size();
  IterationReport report;
  diagonal_.resize(n);
  for (int i = 0; i < n; ++i) {
    // A row with a small or negative diagonal moves by what its largest entry allows.
    const double row = p.A.row(i).cwiseAbs().maxCoeff();
    diagonal_(i) = std::max(p.A(i, i), 0.25 * row);
    if (!(diagonal_(i) > 0)) diagonal_(i) = 1;
  }
  for (const Cone& c : p.cones) {
    if (c.kind != Cone::Kind::disc) continue;
    diagonal_(c.row) = diagonal_(c.row + 1) =
        std::max(diagonal_(c.row), diagonal_(c.row + 1)) + std::abs(p.A(c.row, c.row + 1));
  }

  kinematics(p, u, y_);
  best_ = u;
  double best = residual(s, u, y_, F_).complementarity, last = best, omega = 1;
  constexpr int kBetweenChecks = 10;
  int checks_without_gain = 0;
  while (best > options.tolerance && report.iterations < options.max_sweeps) {
    leave_if_interrupted();
    for (int k = 0; k < kBetweenChecks && report.iterations < options.max_sweeps; ++k, ++report.iterations) {
      sweep(s, omega, u);
    }
    kinematics(p, u, y_);
    const double now = residual(s, u, y_, F_).complementarity;
    if (!std::isfinite(now) || now > 1e6 * (1 + best)) {
      u = best_;
      kinematics(p, u, y_);
      omega *= 0.5;
      last = best;
      if (omega < 1e-3) break;
      continue;
    }
    omega = now > last ? std::max(0.7 * omega, 0.05) : std::min(1.02 * omega, 1.2);
    last = now;
    checks_without_gain = now < 0.999 * best ? 0 : checks_without_gain + 1;
    if (now < best) {
      best = now;
      best_ = u;
    }
    if (checks_without_gain > 100) break;
  }
  u = best_;
  report.residual = best;
  report.converged = best <= options.tolerance;
  return report;
}

}  // namespace clatter
