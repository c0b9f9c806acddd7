// P S P^T = L D L^T of sparse symmetric positive semidefinite matrices of one pattern, row by row ("up-looking").
//
//   P   fill-reducing order (approximate minimum degree, Amestoy, Davis and Duff 1996), found once
//   Row k of L solves L(0..k, 0..k) y = S(0..k, k), l_ki = y_i / d_i; its non-zeros are the paths from the entries of
//   column k to k in the elimination tree (Liu 1990), so that the whole structure of L is found once as well.
//
// Weak pivots are raised as in dense_ldl.hpp.
#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

#include "solve/sparsity.hpp"

namespace clatter {

class SparseLdl {
 public:
  // The pattern holds the lower triangle; what it holds above the diagonal is not read.
  // Unknowns in `last` are eliminated after all others, in their order there.
  explicit SparseLdl(const Pattern& pattern, std::span<const int> last = {});

  int size() const { return n_; }
  // Entries of L below the diagonal, and multiplications of one factorization.
  long fill() const { return static_cast<long>(row_of_.size()); }
  double flops() const { return flops_; }

  void load(const double* value);

  void factorize();
  void solve(double* x);                            // x <- (S + E)^-1 x
  void solve_transpose(double* x);                  // x <- P^T L^-T e, where x holds e in the order of the unknowns
  void multiply(const double* x, double* y) const;  // y = S x, of the matrix loaded
  // What is left of S for the unknowns eliminated last, T.rows() of them, after all others: L22 D22 L22^T.
  void trailing(Eigen::Ref<Eigen::MatrixXd> T) const;

  double diagonal(int j) const { return diagonal_[inverse_[j]]; }
  double pivot_ratio(int j) const { return pivot_ratio_[inverse_[j]]; }
  // Solutions leave unknown j to the others: for a row that depends on them.
  void drop_pivot(int j) { d_[inverse_[j]] = 0; }
  double smallest_pivot_ratio() const { return smallest_ratio_; }
  // Finite exactly when all entries that were read are.
  double pivot_sum() const { return pivot_sum_; }

 private:
  void analyse();

  int n_;
  std::vector<int> order_, inverse_;  // unknown order_[k] is eliminated at step k; inverse_ is its inverse
  // Strict upper triangle of P S P^T by columns: the entries of column k above the diagonal.
  std::vector<int> up_start_, up_row_, up_slot_, diagonal_slot_;
  std::vector<double> up_, diagonal_;
  // L by columns; the columns of row k, in an order in which each comes before its ancestors.
  std::vector<int> col_start_, row_of_, filled_;
  std::vector<int> row_start_, row_cols_;
  std::vector<double> l_, d_, pivot_ratio_, y_, x_;  // d_ holds the inverse of D
  double flops_ = 0, smallest_ratio_ = 1, pivot_sum_ = 0;
};

}  // namespace clatter
