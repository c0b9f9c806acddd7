// Sparse matrices whose pattern is fixed once and whose values change at every step.
//
//   Pattern        which entries (row, col) may be non-zero: compressed columns, rows ascending, no duplicates
//   SparseMatrix   one value for each entry ("slot") of a shared Pattern
//
// A caller that adds to the same entries at each step asks for their slots once, Pattern::slot(row, col), and then
// writes values()[slot] += x.
#pragma once

#include <complex>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace clatter {

class Pattern {
 public:
  Pattern(int rows, int cols, std::span<const std::pair<int, int>> entries);

  int rows() const { return rows_; }
  int cols() const { return cols_; }
  int nonzeros() const { return static_cast<int>(row_index_.size()); }

  // Slots of column j are col_start()[j] .. col_start()[j + 1] - 1; row_index()[slot] is the row.
  const std::vector<int>& col_start() const { return col_start_; }
  const std::vector<int>& row_index() const { return row_index_; }

  // Place of the entry in the value array, -1 when the pattern does not hold it.
  int slot(int row, int col) const;

 private:
  int rows_, cols_;
  std::vector<int> col_start_, row_index_;
};

using PatternPtr = std::shared_ptr<const Pattern>;

// Collects entries in any order, with repetition, then builds the pattern.
class PatternBuilder {
 public:
  PatternBuilder(int rows, int cols) : rows_(rows), cols_(cols) {}

  void add(int row, int col) { entries_.emplace_back(row, col); }
  void add_block(std::span<const int> rows, std::span<const int> cols);
  void add_diagonal();

  PatternPtr build() const { return std::make_shared<const Pattern>(rows_, cols_, entries_); }

 private:
  int rows_, cols_;
  std::vector<std::pair<int, int>> entries_;
};

PatternPtr dense_pattern(int rows, int cols);

template <class Scalar>
class SparseMatrix {
 public:
  explicit SparseMatrix(PatternPtr pattern);

  const Pattern& pattern() const { return *pattern_; }
  const PatternPtr& pattern_ptr() const { return pattern_; }
  int rows() const { return pattern_->rows(); }
  int cols() const { return pattern_->cols(); }

  void set_zero();
  // Throws std::out_of_range when the pattern has no such entry. Costs a search in the column.
  void add(int row, int col, Scalar value);
  // Zero for an entry outside the pattern.
  Scalar at(int row, int col) const;

  int slot(int row, int col) const { return pattern_->slot(row, col); }
  std::span<Scalar> values() { return values_; }
  std::span<const Scalar> values() const { return values_; }

  void multiply(const Scalar* x, Scalar* y) const;            // y = A x
  void multiply_transpose(const Scalar* x, Scalar* y) const;  // y = A^T x

 private:
  PatternPtr pattern_;
  std::vector<Scalar> values_;
};

extern template class SparseMatrix<double>;
extern template class SparseMatrix<std::complex<double>>;

}  // namespace clatter
