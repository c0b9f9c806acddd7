#include "solve/minimum_norm.hpp"

#include <cmath>
#include <limits>
#include <utility>

namespace clatter {

void MinimumNorm::reserve(int n) {
  if (n <= R_.rows()) return;
  R_.setZero(n, n);
  Z_.setZero(n, n);
  for (Vec* x : {&tau_, &tau_z_, &norm_, &c_}) x->setZero(n);
  column_.resize(static_cast<std::size_t>(n));
}

// v = (1, a_k+1 / (a_k - beta), ...), beta = -sign(a_k) |a|; H = 1 - tau v v^T takes a to beta e_k. v without its one is
// left below the diagonal, beta on it.
double MinimumNorm::reflector(Mat& a, Eigen::Index k, Eigen::Index n) {
  double square = 0;
  for (Eigen::Index i = k + 1; i < n; ++i) square += a(i, k) * a(i, k);
  if (square == 0) return 0;
  const double first = a(k, k), beta = first > 0 ? -std::sqrt(first * first + square) : std::sqrt(first * first + square);
  for (Eigen::Index i = k + 1; i < n; ++i) a(i, k) /= first - beta;
  a(k, k) = beta;
  return (beta - first) / beta;
}

void MinimumNorm::reflect(const Mat& a, Eigen::Index k, Eigen::Index n, double tau, double* x) {
  if (tau == 0) return;
  double sum = x[k];
  for (Eigen::Index i = k + 1; i < n; ++i) sum += a(i, k) * x[i];
  sum *= tau;
  x[k] -= sum;
  for (Eigen::Index i = k + 1; i < n; ++i) x[i] -= sum * a(i, k);
}

void MinimumNorm::compute(const Mat& A, int size) {
  reserve(size);
  n_ = size;
  rank_ = 0;
  for (Eigen::Index j = 0; j < n_; ++j) {
    column_[static_cast<std::size_t>(j)] = j;
    for (Eigen::Index i = 0; i < n_; ++i) R_(i, j) = A(i, j);
  }
  double largest = 0;
  for (Eigen::Index k = 0; k < n_; ++k) {
    // Norms of what is left are formed anew: few rows, and no digits lost.
    Eigen::Index pivot = k;
    for (Eigen::Index j = k; j < n_; ++j) {
      norm_[j] = 0;
      for (Eigen::Index i = k; i < n_; ++i) norm_[j] += R_(i, j) * R_(i, j);
      if (norm_[j] > norm_[pivot]) pivot = j;
    }
    const double length = std::sqrt(norm_[pivot]);
    if (k == 0) largest = length;
    if (!(length > static_cast<double>(n_) * std::numeric_limits<double>::epsilon() * largest)) break;
    if (pivot != k) {
      for (Eigen::Index i = 0; i < n_; ++i) std::swap(R_(i, k), R_(i, pivot));
      std::swap(column_[static_cast<std::size_t>(k)], column_[static_cast<std::size_t>(pivot)]);
    }
    tau_[k] = reflector(R_, k, n_);
    for (Eigen::Index j = k + 1; j < n_; ++j) reflect(R_, k, n_, tau_[k], &R_(0, j));
    ++rank_;
  }
  if (rank_ == n_) return;
  for (Eigen::Index k = 0; k < rank_; ++k)
    for (Eigen::Index i = 0; i < n_; ++i) Z_(i, k) = i >= k ? R_(k, i) : 0;
  for (Eigen::Index k = 0; k < rank_; ++k) {
    tau_z_[k] = reflector(Z_, k, n_);
    for (Eigen::Index j = k + 1; j < rank_; ++j) reflect(Z_, k, n_, tau_z_[k], &Z_(0, j));
  }
}

void MinimumNorm::solve(Vec& x) {
  for (Eigen::Index i = 0; i < n_; ++i) c_[i] = x[i];
  for (Eigen::Index k = 0; k < rank_; ++k) reflect(R_, k, n_, tau_[k], c_.data());
  if (rank_ == n_) {
    for (Eigen::Index k = n_ - 1; k >= 0; --k) {
      for (Eigen::Index j = k + 1; j < n_; ++j) c_[k] -= R_(k, j) * c_[j];
      c_[k] /= R_(k, k);
    }
  } else {
    // (R11 R12) = L Z^T with L = the transpose of the triangle in Z_: L y = c, then Z (y, 0).
    for (Eigen::Index k = 0; k < rank_; ++k) {
      for (Eigen::Index j = 0; j < k; ++j) c_[k] -= Z_(j, k) * c_[j];
      c_[k] /= Z_(k, k);
    }
    for (Eigen::Index k = rank_; k < n_; ++k) c_[k] = 0;
    for (Eigen::Index k = rank_ - 1; k >= 0; --k) reflect(Z_, k, n_, tau_z_[k], c_.data());
  }
  for (Eigen::Index k = 0; k < n_; ++k) x[column_[static_cast<std::size_t>(k)]] = c_[k];
}

}  // namespace clatter
