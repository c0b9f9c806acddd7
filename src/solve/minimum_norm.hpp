// Of all x that make |A x - b| smallest the shortest one, for small dense square matrices, on storage taken once.
//
//   A P = Q R       Householder with column pivoting; rank = number of pivots above n eps times the largest
//   (R11 R12)^T = Z L^T        where the rank is smaller than n: a second triangularisation
//   x = P Z L^-1 (Q^T b) of the first `rank` rows
//
// (Golub and Van Loan, Matrix Computations, 5.5.2 "complete orthogonal decomposition".)
#pragma once

#include <vector>

#include "base/math.hpp"

namespace clatter {

class MinimumNorm {
 public:
  // Room for matrices of up to n rows.
  explicit MinimumNorm(int n = 0) { reserve(n); }
  void reserve(int n);

  // The leading n x n part of A.
  void compute(const Mat& A, int n);
  int rank() const { return rank_; }
  // The first n entries of x <- those of the solution for the right-hand side in them.
  void solve(Vec& x);

 private:
  // Reflection of entries [k, n) of column k of `a` onto its first; returns the factor tau.
  static double reflector(Mat& a, Eigen::Index k, Eigen::Index n);
  static void reflect(const Mat& a, Eigen::Index k, Eigen::Index n, double tau, double* x);

  Eigen::Index n_ = 0;
  int rank_ = 0;
  Mat R_, Z_;  // reflections below the diagonal
  Vec tau_, tau_z_, norm_, c_;
  std::vector<Eigen::Index> column_;
};

}  // namespace clatter
