#include "solve/sparsity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace clatter {

// Two counting sorts, by row and then stably by column, order the entries in linear time.
Pattern::Pattern(int rows, int cols, std::span<const std::pair<int, int>> entries) : rows_(rows), cols_(cols) {
  if (rows < 0 || cols < 0) throw std::invalid_argument(fmt::format("pattern of {} x {} entries", rows, cols));
  std::vector<int> row_start(static_cast<size_t>(rows) + 1, 0);
  std::vector<int> start(static_cast<size_t>(cols) + 1, 0);
  for (const auto& [row, col] : entries) {
    if (row < 0 || row >= rows || col < 0 || col >= cols) {
      throw std::out_of_range(fmt::format("entry ({}, {}) lies outside the {} x {} pattern", row, col, rows, cols));
    }
    ++row_start[row + 1];
    ++start[col + 1];
  }
  for (int i = 0; i < rows; ++i) row_start[i + 1] += row_start[i];
  for (int j = 0; j < cols; ++j) start[j + 1] += start[j];

  std::vector<std::pair<int, int>> by_row(entries.size());
  for (const auto& entry : entries) by_row[row_start[entry.first]++] = entry;
  std::vector<int> sorted_rows(entries.size());
  std::vector<int> next(start.begin(), start.end() - (cols > 0 ? 1 : 0));
  for (const auto& [row, col] : by_row) sorted_rows[next[col]++] = row;

  col_start_.reserve(static_cast<size_t>(cols) + 1);
  col_start_.push_back(0);
  for (int j = 0; j < cols; ++j) {
    for (int k = start[j]; k < start[j + 1]; ++k) {
      if (k == start[j] || sorted_rows[k] != sorted_rows[k - 1]) row_index_.push_back(sorted_rows[k]);
    }
    col_start_.push_back(static_cast<int>(row_index_.size()));
  }
  row_index_.shrink_to_fit();
}

int Pattern::slot(int row, int col) const {
  if (row < 0 || row >= rows_ || col < 0 || col >= cols_) return -1;
  const auto first = row_index_.begin() + col_start_[col];
  const auto last = row_index_.begin() + col_start_[col + 1];
  const auto found = std::lower_bound(first, last, row);
  return found != last && *found == row ? static_cast<int>(found - row_index_.begin()) : -1;
}

void PatternBuilder::add_block(std::span<const int> rows, std::span<const int> cols) {
  for (int col : cols) {
    for (int row : rows) add(row, col);
  }
}

void PatternBuilder::add_diagonal() {
  for (int i = 0; i < std::min(rows_, cols_); ++i) add(i, i);
}

PatternPtr dense_pattern(int rows, int cols) {
  PatternBuilder builder(rows, cols);
  for (int j = 0; j < cols; ++j) {
    for (int i = 0; i < rows; ++i) builder.add(i, j);
  }
  return builder.build();
}

template <class Scalar>
SparseMatrix<Scalar>::SparseMatrix(PatternPtr pattern) : pattern_(std::move(pattern)) {
  values_.assign(static_cast<size_t>(pattern_->nonzeros()), Scalar(0));
}

template <class Scalar>
void SparseMatrix<Scalar>::set_zero() {
  std::fill(values_.begin(), values_.end(), Scalar(0));
}

template <class Scalar>
void SparseMatrix<Scalar>::add(int row, int col, Scalar value) {
  const int place = slot(row, col);
  if (place < 0) throw std::out_of_range(fmt::format("the pattern holds no entry ({}, {})", row, col));
  values_[place] += value;
}

template <class Scalar>
Scalar SparseMatrix<Scalar>::at(int row, int col) const {
  const int place = slot(row, col);
  return place < 0 ? Scalar(0) : values_[place];
}

template <class Scalar>
void SparseMatrix<Scalar>::multiply(const Scalar* x, Scalar* y) const {
  const int* start = pattern_->col_start().data();
  const int* row = pattern_->row_index().data();
  std::fill(y, y + rows(), Scalar(0));
  for (int j = 0; j < cols(); ++j) {
    for (int k = start[j]; k < start[j + 1]; ++k) y[row[k]] += values_[k] * x[j];
  }
}

template <class Scalar>
void SparseMatrix<Scalar>::multiply_transpose(const Scalar* x, Scalar* y) const {
  const int* start = pattern_->col_start().data();
  const int* row = pattern_->row_index().data();
  for (int j = 0; j < cols(); ++j) {
    Scalar sum(0);
    for (int k = start[j]; k < start[j + 1]; ++k) sum += values_[k] * x[row[k]];
    y[j] = sum;
  }
}

template class SparseMatrix<double>;
template class SparseMatrix<std::complex<double>>;

}  // namespace clatter
