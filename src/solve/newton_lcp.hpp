// Semismooth Newton on the natural map F(u) = 0 of cone_map.hpp, discs included.
//
//   J d = -F,   u <- u + t d        t = 1, 1/2, 1/4, ... until |F|^2 falls below the largest of the last few values
//
// J is one element of the generalized derivative. Where it is singular (dependent contacts) or its step leads nowhere,
// the step is regularized, (J^T J + eta |F| E) d = -J^T F, which always descends where F is smooth. Piecewise linear
// problems (no discs) end exactly after a few steps; from a good start this is the fastest of the methods.
#pragma once

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <Eigen/QR>

#include "solve/prox.hpp"

namespace clatter {

struct NewtonOptions {
  double tolerance = 1e-12;  // stops here; whether the result is good enough is the caller's judgement
  int max_steps = 60;
};

class NewtonSolver {
 public:
  // u: start and result. Without convergence: the best point met.
  IterationReport solve(const ScaledContact& s, Vec& u, const NewtonOptions& options = {});

 private:
  bool newton_direction();
  void regularized_direction(double eta);
  double merit_at(const ScaledContact& s, const Vec& u);

  Vec y_, F_, d_, trial_, best_;
  Mat J_, H_;
  Eigen::PartialPivLU<Mat> lu_;
  Eigen::LLT<Mat> llt_;
};

// Plain LCP from a start x (nonnegative or not): for warm starts. Falls back on nothing; `solved` only when it is.
LcpResult newton_lcp(const Eigen::Ref<const Mat>& A, const Eigen::Ref<const Vec>& b, Vec& x, Vec& y,
                     const NewtonOptions& options = {});

}  // namespace clatter
