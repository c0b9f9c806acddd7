// P A = L U with row pivoting for dense square matrices of up to a few hundred rows, in place on storage taken once.
//
//   A      n x n, column-major with leading dimension ld = n rounded up to four; complex matrices keep their real
//          and imaginary parts in two planes
//   L      unit lower, U upper; both overwrite A
//   R, C   diagonal powers of two with which equilibrate() replaces A by R A C, so that no rounding is added
//
// The matrix is eliminated four columns at a time: a panel is factored with row exchanges, and the columns after it
// take one update of rank four. The columns before it keep their rows: a solution exchanges the right-hand side panel
// by panel.
#pragma once

#include <Eigen/Core>
#include <complex>
#include <vector>

#include "solve/sparsity.hpp"

namespace clatter {

template <class Scalar>
class DenseLu {
 public:
  explicit DenseLu(int n);

  int size() const { return n_; }

  // Takes a matrix: `value` of the entries of a pattern, or column-major with any leading dimension.
  void load(const Pattern& pattern, const Scalar* value);
  void load(const Scalar* A, int leading_dimension);

  // Scales the matrix loaded, then factors. Pivots too small to divide by are reported, not divided by.
  void factorize();
  // b <- A^-1 b. Only after a factorization with smallest_pivot() > 0.
  void solve(Scalar* b);

  // Largest and smallest |U_kk| of the scaled matrix and the column where the smallest was met.
  double largest_pivot() const { return largest_pivot_; }
  double smallest_pivot() const { return smallest_pivot_; }
  int weakest_column() const { return weakest_column_; }
  bool finite() const { return finite_; }

 private:
  static constexpr bool kComplex = !std::is_same_v<Scalar, double>;

  void clear();
  void set(int row, int col, Scalar value);
  Scalar get(int row, int col) const;
  void equilibrate();
  void scale(const double* row_factor, const double* col_factor);
  bool maxima(double* row_max, double* col_max) const;
  void factor_panel(int k);
  void update_trailing(int k);
  int pivot_row(int p) const;

  int n_, ld_;
  Eigen::VectorXd re_, im_;  // planes of A, then of L and U
  Eigen::VectorXd row_scale_, col_scale_;
  Eigen::VectorXd row_work_, col_work_;
  Eigen::VectorXd x_re_, x_im_;  // right-hand side in elimination order
  std::vector<Scalar> inverse_pivot_;
  std::vector<int> exchange_;  // row swapped with row k at step k
  double largest_pivot_ = 0, smallest_pivot_ = 0;
  int weakest_column_ = -1;
  bool finite_ = false;
};

template <>
void DenseLu<double>::update_trailing(int k);
template <>
void DenseLu<std::complex<double>>::update_trailing(int k);
extern template class DenseLu<double>;
extern template class DenseLu<std::complex<double>>;

}  // namespace clatter
