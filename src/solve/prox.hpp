// Projected Gauss-Seidel for contact problems: one cone after the other,
//
//   u_i <- (1 - omega) u_i + omega proj_K(u)(u_i - y_i / d_i),     y += A (change of u_i)
//
// d_i: diagonal entry of the row (the larger of the two for a disc). A disc is projected on the radius of the normal
// force at hand: exact Coulomb friction, not a relaxed cone. omega falls when the residual rises and recovers slowly.
// Converges linearly when it does; its use is many contacts at low accuracy, and starts for Newton.
#pragma once

#include "solve/cone_map.hpp"

namespace clatter {

struct ProxOptions {
  double tolerance = kSolvedResidual;
  int max_sweeps = 20000;
};

struct IterationReport {
  bool converged = false;
  int iterations = 0;
  double residual = 0;
};

class ProxSolver {
 public:
  // u: start and result, in the units of the scaled problem. Without convergence: the best point met.
  IterationReport solve(const ScaledContact& s, Vec& u, const ProxOptions& options = {});

 private:
  void sweep(const ScaledContact& s, double omega, Vec& u);

  Vec y_, F_, best_, diagonal_;
};

}  // namespace clatter
