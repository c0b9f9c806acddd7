#include "solve/least_norm.hpp"

#include <cmath>
#include <limits>
#include <utility>

namespace clatter {

void LeastNorm::reserve(int n) {
  R_.setZero(n, n);
  V_.setZero(n, n);
  Z_.setZero(n, n);
  beta_.setZero(n);
  beta_right_.setZero(n);
  first_right_.setZero(n);
  c_.setZero(n);
  column_.resize(static_cast<std::size_t>(n));
}

void LeastNorm::compute(const Eigen::Ref<const Mat>& A) {
  n_ = static_cast<int>(A.rows());
  rank_ = n_;
  R_.topLeftCorner(n_, n_) = A;
  for (int j = 0; j < n_; ++j) column_[static_cast<std::size_t>(j)] = j;
  double largest = 0;
  for (int k = 0; k < n_; ++k) {
    const int rest = n_ - k;
    int pivot = k;
    double best = -1;
    for (int j = k; j < n_; ++j) {
      const double size = R_.col(j).segment(k, rest).squaredNorm();
      if (size > best) {
        best = size;
        pivot = j;
      }
    }
    const double norm = std::sqrt(best);
    if (k == 0) largest = norm;
    if (!(norm > n_ * std::numeric_limits<double>::epsilon() * largest)) {
      rank_ = k;
      break;
    }
    if (pivot != k) {
      R_.col(k).head(n_).swap(R_.col(pivot).head(n_));
      std::swap(column_[static_cast<std::size_t>(k)], column_[static_cast<std::size_t>(pivot)]);
    }
    auto v = V_.col(k).segment(k, rest);
    v = R_.col(k).segment(k, rest);
    const double alpha = v[0] > 0 ? -norm : norm;
    v[0] -= alpha;
    beta_[k] = 2 / v.squaredNorm();
    R_(k, k) = alpha;
    for (int j = k + 1; j < n_; ++j) {
      auto c = R_.col(j).segment(k, rest);
      c -= (beta_[k] * v.dot(c)) * v;
    }
  }
  const int over = n_ - rank_;
  if (over == 0) return;
  for (int i = rank_ - 1; i >= 0; --i) {
    auto z = Z_.row(i).head(over);
    z = R_.row(i).segment(rank_, over);
    const double norm = std::hypot(R_(i, i), z.norm());
    const double alpha = R_(i, i) > 0 ? -norm : norm;
    const double first = R_(i, i) - alpha;
    first_right_[i] = first;
    beta_right_[i] = 2 / (first * first + z.squaredNorm());
    R_(i, i) = alpha;
    for (int row = 0; row < i; ++row) {
      auto s = R_.row(row).segment(rank_, over);
      const double along = beta_right_[i] * (first * R_(row, i) + z.dot(s));
      R_(row, i) -= along * first;
      s -= along * z;
    }
  }
}

void LeastNorm::solve(Eigen::Ref<Vec> x) {
  auto c = c_.head(n_);
  c = x;
  for (int k = 0; k < rank_; ++k) {
    const auto v = V_.col(k).segment(k, n_ - k);
    auto rest = c.segment(k, n_ - k);
    rest -= (beta_[k] * v.dot(rest)) * v;
  }
  for (int i = rank_ - 1; i >= 0; --i) {
    double sum = c[i];
    for (int j = i + 1; j < rank_; ++j) sum -= R_(i, j) * c[j];
    c[i] = sum / R_(i, i);
  }
  const int over = n_ - rank_;
  c.tail(over).setZero();
  for (int i = 0; over > 0 && i < rank_; ++i) {
    const auto z = Z_.row(i).head(over);
    auto tail = c.tail(over);
    const double along = beta_right_[i] * (first_right_[i] * c[i] + z.dot(tail));
    c[i] -= along * first_right_[i];
    tail -= along * z.transpose();
  }
  for (int j = 0; j < n_; ++j) x[column_[static_cast<std::size_t>(j)]] = c[j];
}

}  // namespace clatter
