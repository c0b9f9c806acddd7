// A constant matrix packed for products with one or two vectors: panels of up to 32 rows, each panel column by column,
// so that a product reads memory once from front to end and keeps its sums in registers. Rows are padded to multiples
// of 8 by whoever fills it.
#pragma once

#include "base/math.hpp"

namespace clatter {

class PackedMatrix {
 public:
  PackedMatrix() = default;
  explicit PackedMatrix(const Mat& m);  // rows: a multiple of 8
  int rows() const { return rows_; }
  int cols() const { return cols_; }
  bool empty() const { return rows_ == 0; }
  void multiply(const double* x, double* y) const;  // y = A x
  void multiply(const double* x1, const double* x2, double* y1, double* y2) const;

 private:
  int rows_ = 0, cols_ = 0;
  Vec data_;  // on the boundary of a register, as std::vector is not
};

}  // namespace clatter
