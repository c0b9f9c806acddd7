// P B = L U with row exchanges on storage that is kept: for bases whose size changes from call to call, where a class
// of fixed size (dense_lu.hpp) or an allocating one does not fit.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/math.hpp"

namespace clatter {

class BasisLu {
 public:
  // The leading n x n block of this is the matrix; after factorize() its factors.
  Mat& matrix(int n) {
    n_ = n;
    if (B_.rows() < n) {
      B_.resize(n, n);
      exchange_.resize(static_cast<std::size_t>(n));
    }
    return B_;
  }

  // False when a pivot is not larger than `smallest` times the largest pivot met.
  bool factorize(double smallest) {
    double largest = 0;
    for (int k = 0; k < n_; ++k) {
      int p = k;
      for (int i = k + 1; i < n_; ++i) {
        if (std::abs(B_(i, k)) > std::abs(B_(p, k))) p = i;
      }
      exchange_[static_cast<std::size_t>(k)] = p;
      if (p != k) B_.row(k).head(n_).swap(B_.row(p).head(n_));
      const double pivot = B_(k, k);
      largest = std::max(largest, std::abs(pivot));
      if (!(std::abs(pivot) > smallest * largest)) return false;
      const int rest = n_ - k - 1;
      B_.col(k).segment(k + 1, rest) /= pivot;
      for (int j = k + 1; j < n_; ++j) {
        const double u = B_(k, j);
        if (u != 0) B_.col(j).segment(k + 1, rest) -= u * B_.col(k).segment(k + 1, rest);
      }
    }
    return true;
  }

  // v <- B^-1 v for the first n entries of v.
  template <class Vector>
  void solve(Vector&& v) const {
    for (int k = 0; k < n_; ++k) {
      const int p = exchange_[static_cast<std::size_t>(k)];
      if (p != k) std::swap(v(k), v(p));
    }
    for (int k = 0; k < n_; ++k) {
      const int rest = n_ - k - 1;
      if (v(k) != 0) v.segment(k + 1, rest) -= v(k) * B_.col(k).segment(k + 1, rest);
    }
    for (int k = n_ - 1; k >= 0; --k) {
      v(k) /= B_(k, k);
      if (v(k) != 0) v.head(k) -= v(k) * B_.col(k).head(k);
    }
  }

 private:
  int n_ = 0;
  Mat B_;
  std::vector<int> exchange_;
};

}  // namespace clatter
