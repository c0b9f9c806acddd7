// Lemke's algorithm with the lexicographic rule (P-33) for  y = A x + b,  0 <= x perp y >= 0.
//
//   y' = R y,  x' = C^-1 x,  A' = R A C,  b' = R b / |R b|      rows are accelerations or forces: brought to one size
//   y' - A' x' - d z0 = b'                                      d > 0 covering vector, ones at first
//   basic = q - T nonbasic                                      tableau of the nonbasic columns only
//
// z0 enters at the row that lets all q become nonnegative; then the complement of what left enters. b has blocks of
// zeros and A dependent columns (traps 7, 9), so ties are the rule: rows are compared lexicographically by
// (q_i, row i of B^-1) / T_ie, and z0 leaves whenever it ties. The solution found is computed anew by LU of the basis.
// A path that ends on a ray, or in a solution whose residual is too large, is walked again with another covering vector
// from a fixed sequence and the tableau recomputed from the basis now and then.
//
// Work arrays are kept: solving again with the same size takes no memory.
#pragma once

#include <cstdint>
#include <vector>

#include "solve/basis_lu.hpp"
#include "solve/complementarity.hpp"

namespace clatter {

class LemkeSolver {
 public:
  explicit LemkeSolver(const LcpOptions& options = {}) : options_(options) {}

  LcpOptions& options() { return options_; }

  // x and y are resized. When the status is not `solved` they hold the best point met, nonnegative and finite.
  LcpResult solve(const Eigen::Ref<const Mat>& A, const Eigen::Ref<const Vec>& b, Vec& x, Vec& y);
  // The same with the first covering vector given (all entries positive), in the scaled rows.
  LcpResult solve(const Eigen::Ref<const Mat>& A, const Eigen::Ref<const Vec>& b, const Vec& cover, Vec& x, Vec& y);

 private:
  void load(const Eigen::Ref<const Mat>& A, const Eigen::Ref<const Vec>& b);
  LcpStatus walk(int refresh_every, int& pivots);
  int first_row() const;
  int leaving_row(int entering_column) const;
  bool lexicographically_less(int i, int k, int entering_column) const;
  void pivot(int row, int column);
  bool refresh();
  LcpStatus limit_status();
  double finish();  // x_, y_ from the basis; their residual

  LcpOptions options_;
  int n_ = 0;
  Mat A_, T_;
  Vec b_, d_, q_, R_, C_, x_, y_, best_x_, rhs_, column_;
  double load_ = 1;
  std::vector<int> basic_, nonbasic_, place_;  // variables: y 0..n-1, x n..2n-1, z0 2n; place: row, or -1 - column
  std::vector<int> active_;
  std::vector<std::uint64_t> visited_;
  std::uint64_t signature_ = 0;
  BasisLu lu_;
};

// Powers of two R, C with the largest entry of each row and column of R A C near one; ones for empty rows and columns.
void equilibrate(const Eigen::Ref<const Mat>& A, Vec& R, Vec& C);

// max |min(x, y)| over the size of what cancels, for a scaled problem.
double lcp_residual(const Mat& A, const Vec& b, const Vec& x, const Vec& y);

}  // namespace clatter
