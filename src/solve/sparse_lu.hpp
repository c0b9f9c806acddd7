// P R A C Q = L U of a sparse square matrix whose pattern never changes, by the KLU library (Davis and Palamadai
// Natarajan, "Algorithm 907: KLU", ACM TOMS 37(3), 2010).
//
//   R, C   diagonal powers of two, see scaling.hpp
//   Q      fill-reducing order of the columns, found once
//   P      row exchanges, chosen at the first factorization and kept while they serve: later factorizations only
//          recompute the numbers, without taking memory. New exchanges are chosen when the old ones let the entries grow.
#pragma once

#include <complex>
#include <memory>
#include <vector>

#include "solve/sparsity.hpp"

namespace clatter {

template <class Scalar>
class SparseLu {
 public:
  explicit SparseLu(PatternPtr pattern);
  ~SparseLu();
  SparseLu(SparseLu&&) noexcept;
  SparseLu& operator=(SparseLu&&) noexcept;

  void factorize(const SparseMatrix<Scalar>& A);
  void solve(Scalar* b);
  // The next factorization chooses its row exchanges anew: its result then depends on the matrix alone, not on those
  // before.
  void forget_pivots();

  double smallest_to_largest_pivot() const { return pivot_ratio_; }
  int weakest_column() const { return weakest_column_; }
  bool finite() const { return finite_; }

  // Operations of one factorization and entries of the factors, as foreseen by the ordering.
  double expected_flops() const;
  double expected_fill() const;
  // How often row exchanges were chosen.
  int pivot_searches() const { return pivot_searches_; }

 private:
  void scale(const SparseMatrix<Scalar>& A);
  bool choose_pivots();
  bool keep_pivots();
  void find_weakest();

  struct Handles;
  PatternPtr pattern_;
  std::unique_ptr<Handles> klu_;
  std::vector<int> col_start_, row_index_;  // KLU takes non-const arrays
  std::vector<Scalar> values_;              // R A C
  std::vector<double> row_scale_, col_scale_, row_max_, col_max_;
  double pivot_ratio_ = 0, growth_ = 0;
  int weakest_column_ = -1, pivot_searches_ = 0;
  bool finite_ = false;
};

extern template class SparseLu<double>;
extern template class SparseLu<std::complex<double>>;

}  // namespace clatter
