// S = L D L^T of small dense symmetric positive semidefinite matrices, four columns at a time, on storage taken once.
//
//   L   unit lower triangular, D diagonal. A pivot d_j that falls below kWeakPivot * S_jj is raised by
//       kRegularization * S_jj: the factors are then those of S + E, E diagonal and small (schur_solver.hpp says why,
//       and corrects for it).
#pragma once

#include <Eigen/Core>
#include <vector>

#include "solve/sparsity.hpp"

namespace clatter {

// d_j / S_jj is the square of the sine of the angle between row j and the rows before it, in the metric of the inverse
// mass.
inline constexpr double kWeakPivot = 1e-10;
// Large against the rounding of the elimination, n * 1e-16, so that raised pivots are positive; small enough that what
// it changes is repaired in a few corrections.
inline constexpr double kRegularization = 1e-12;

class DenseLdl {
 public:
  explicit DenseLdl(int n);

  int size() const { return n_; }

  // Reads the lower triangle: of a pattern holding it (or the full matrix), or column-major.
  void load(const Pattern& pattern, const double* value);
  void load(const double* S, int leading_dimension);

  void factorize();
  // Exchanges rows and columns of the matrix loaded so that each row is the one with the largest sine to those before
  // it; order[i] is the row that came to place i. All else then speaks of places.
  void reorder(std::vector<int>& order);
  void solve(double* x);                            // x <- (S + E)^-1 x
  void solve_transpose(double* x);                  // x <- L^-T x
  void multiply(const double* x, double* y) const;  // y = S x, of the matrix loaded

  double diagonal(int j) const { return S_[static_cast<Eigen::Index>(j) * ld_ + j]; }
  // d_j / S_jj after regularization, 1 for an empty row.
  double pivot_ratio(int j) const { return pivot_ratio_[j]; }
  // Solutions leave unknown j to the others: for a row that depends on them.
  void drop_pivot(int j) { inverse_d_[j] = 0; }
  double smallest_pivot_ratio() const { return smallest_ratio_; }
  // Finite exactly when all entries that were read are.
  double pivot_sum() const { return pivot_sum_; }

 private:
  void factor_panel(int k);
  void update_trailing(int k);
  void forward();
  void backward();

  int n_, ld_;
  Eigen::VectorXd S_, L_;  // column-major, lower triangle; surplus columns carry the identity
  Eigen::VectorXd d_, inverse_d_, x_;
  std::vector<double> pivot_ratio_;
  Eigen::MatrixXd rest_;  // of reorder()
  double smallest_ratio_ = 1, pivot_sum_ = 0;
};

}  // namespace clatter
