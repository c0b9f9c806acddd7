#include "solve/dense_ldl.hpp"

#include <algorithm>
#include <numeric>

#include "solve/pack.hpp"

namespace clatter {

DenseLdl::DenseLdl(int n) : n_(n), ld_(padded(n)) {
  const Eigen::Index entries = static_cast<Eigen::Index>(ld_) * ld_;
  S_.setZero(entries);
  L_.setZero(entries);
  for (int i = n_; i < ld_; ++i) S_[static_cast<Eigen::Index>(i) * ld_ + i] = 1.0;
  d_.setOnes(ld_);
  inverse_d_.setOnes(ld_);
  x_.setZero(ld_);
  pivot_ratio_.assign(ld_, 1.0);
}

void DenseLdl::load(const Pattern& pattern, const double* value) {
  const int* start = pattern.col_start().data();
  const int* row = pattern.row_index().data();
  for (int j = 0; j < n_; ++j) {
    double* s = S_.data() + static_cast<Eigen::Index>(j) * ld_;
    std::fill(s + j, s + n_, 0.0);
    // Rows ascend: what lies above the diagonal comes first and is left out.
    for (int k = start[j + 1] - 1; k >= start[j] && row[k] >= j; --k) s[row[k]] = value[k];
  }
}

void DenseLdl::load(const double* S, int leading_dimension) {
  for (int j = 0; j < n_; ++j) {
    const double* from = S + static_cast<size_t>(j) * leading_dimension;
    std::copy(from + j, from + n_, S_.data() + static_cast<Eigen::Index>(j) * ld_ + j);
  }
}

void DenseLdl::factor_panel(int k) {
  double* panel = L_.data() + static_cast<Eigen::Index>(k) * ld_;
  for (int p = 0; p < kPack; ++p) {
    double* l = panel + p * ld_;
    const int j = k + p;
    const double s = S_[static_cast<Eigen::Index>(j) * ld_ + j];
    double d = l[j];
    if (!(d > kWeakPivot * s)) {
      // An empty row has no say: its unknown becomes its right-hand side.
      d = s > 0 ? std::max(d, 0.0) + kRegularization * s : 1.0 + 0.0 * d;
    }
    const double inverse = 1.0 / d;
    pivot_sum_ += d;
    d_[j] = d;
    inverse_d_[j] = inverse;
    pivot_ratio_[j] = s > 0 ? d / s : 1.0;
    smallest_ratio_ = std::min(smallest_ratio_, pivot_ratio_[j]);

    double u[kPack];  // column before division, in the rows of the panel
    for (int i = p + 1; i < kPack; ++i) {
      u[i] = l[k + i];
      l[k + i] *= inverse;
    }
    for (int i = k + kPack; i < ld_; i += kPack) pack(l + i) *= inverse;
    for (int q = p + 1; q < kPack; ++q) {
      double* a = panel + q * ld_;
      const double factor = u[q];
      for (int i = q; i < kPack; ++i) a[k + i] -= l[k + i] * factor;
      for (int i = k + kPack; i < ld_; i += kPack) pack(a + i) -= pack(l + i) * factor;
    }
  }
}

void DenseLdl::update_trailing(int k) {
  const double* l0 = L_.data() + static_cast<Eigen::Index>(k) * ld_;
  const double *l1 = l0 + ld_, *l2 = l1 + ld_, *l3 = l2 + ld_;
  const double d0 = d_[k], d1 = d_[k + 1], d2 = d_[k + 2], d3 = d_[k + 3];
  // Column pairs start at even columns, so both begin in the same pack of rows; what is written above the diagonal is
  // not read.
  for (int j = k + kPack; j < ld_; j += 2) {
    double* a = L_.data() + static_cast<Eigen::Index>(j) * ld_;
    double* b = a + ld_;
    const double a0 = l0[j] * d0, a1 = l1[j] * d1, a2 = l2[j] * d2, a3 = l3[j] * d3;
    const double b0 = l0[j + 1] * d0, b1 = l1[j + 1] * d1, b2 = l2[j + 1] * d2, b3 = l3[j + 1] * d3;
    for (int i = j / kPack * kPack; i < ld_; i += kPack) {
      const Pack c0 = pack(l0 + i), c1 = pack(l1 + i), c2 = pack(l2 + i), c3 = pack(l3 + i);
      pack(a + i) -= (c0 * a0 + c1 * a1) + (c2 * a2 + c3 * a3);
      pack(b + i) -= (c0 * b0 + c1 * b1) + (c2 * b2 + c3 * b3);
    }
  }
}

void DenseLdl::factorize() {
  smallest_ratio_ = 1.0;
  pivot_sum_ = 0.0;
  for (int j = 0; j < ld_; ++j) {
    const Eigen::Index c = static_cast<Eigen::Index>(j) * ld_;
    for (int i = j / kPack * kPack; i < ld_; i += kPack) pack(L_.data() + c + i) = pack(S_.data() + c + i);
  }
  for (int k = 0; k < ld_; k += kPack) {
    factor_panel(k);
    update_trailing(k);
  }
}

void DenseLdl::reorder(std::vector<int>& order) {
  order.resize(n_);
  std::iota(order.begin(), order.end(), 0);
  const auto load_rest = [&] {
    rest_.resize(n_, n_);
    for (int j = 0; j < n_; ++j)
      for (int i = j; i < n_; ++i) rest_(i, j) = rest_(j, i) = S_[static_cast<Eigen::Index>(j) * ld_ + i];
  };
  load_rest();
  // Cholesky with complete pivoting, on the matrix brought to a unit diagonal by comparing ratios.
  for (int k = 0; k < n_; ++k) {
    const auto ratio = [&](int place) {
      const double s = diagonal(order[place]);
      return s > 0 ? rest_(place, place) / s : 0.0;
    };
    int best = k;
    for (int j = k + 1; j < n_; ++j)
      if (ratio(j) > ratio(best)) best = j;
    if (best != k) {
      std::swap(order[k], order[best]);
      rest_.row(k).swap(rest_.row(best));
      rest_.col(k).swap(rest_.col(best));
    }
    if (!(ratio(k) > kWeakPivot)) break;
    for (int j = k + 1; j < n_; ++j) {
      const double factor = rest_(j, k) / rest_(k, k);
      for (int i = k + 1; i < n_; ++i) rest_(i, j) -= factor * rest_(i, k);
    }
  }
  load_rest();
  for (int j = 0; j < n_; ++j)
    for (int i = j; i < n_; ++i) S_[static_cast<Eigen::Index>(j) * ld_ + i] = rest_(order[i], order[j]);
}

// x_ <- L^-1 x_
void DenseLdl::forward() {
  double* x = x_.data();
  for (int k = 0; k < ld_; k += kPack) {
    const double* l0 = L_.data() + static_cast<Eigen::Index>(k) * ld_;
    const double *l1 = l0 + ld_, *l2 = l1 + ld_, *l3 = l2 + ld_;
    const double x0 = x[k];
    const double x1 = x[k + 1] - l0[k + 1] * x0;
    const double x2 = x[k + 2] - l0[k + 2] * x0 - l1[k + 2] * x1;
    const double x3 = x[k + 3] - l0[k + 3] * x0 - l1[k + 3] * x1 - l2[k + 3] * x2;
    x[k + 1] = x1, x[k + 2] = x2, x[k + 3] = x3;
    for (int i = k + kPack; i < ld_; i += kPack) {
      pack(x + i) -= (pack(l0 + i) * x0 + pack(l1 + i) * x1) + (pack(l2 + i) * x2 + pack(l3 + i) * x3);
    }
  }
}

// x_ <- L^-T x_
void DenseLdl::backward() {
  double* x = x_.data();
  for (int k = ld_ - kPack; k >= 0; k -= kPack) {
    const double* l0 = L_.data() + static_cast<Eigen::Index>(k) * ld_;
    const double *l1 = l0 + ld_, *l2 = l1 + ld_, *l3 = l2 + ld_;
    Pack s0 = {0, 0, 0, 0}, s1 = s0, s2 = s0, s3 = s0;
    for (int i = k + kPack; i < ld_; i += kPack) {
      const Pack y = pack(x + i);
      s0 += pack(l0 + i) * y, s1 += pack(l1 + i) * y, s2 += pack(l2 + i) * y, s3 += pack(l3 + i) * y;
    }
    const double x3 = x[k + 3] - ((s3[0] + s3[1]) + (s3[2] + s3[3]));
    const double x2 = x[k + 2] - ((s2[0] + s2[1]) + (s2[2] + s2[3])) - l2[k + 3] * x3;
    const double x1 = x[k + 1] - ((s1[0] + s1[1]) + (s1[2] + s1[3])) - l1[k + 2] * x2 - l1[k + 3] * x3;
    x[k] -= ((s0[0] + s0[1]) + (s0[2] + s0[3])) + l0[k + 1] * x1 + l0[k + 2] * x2 + l0[k + 3] * x3;
    x[k + 1] = x1, x[k + 2] = x2, x[k + 3] = x3;
  }
}

void DenseLdl::solve(double* x) {
  std::copy(x, x + n_, x_.data());
  std::fill(x_.data() + n_, x_.data() + ld_, 0.0);
  forward();
  for (int i = 0; i < ld_; i += kPack) pack(x_.data() + i) *= pack(inverse_d_.data() + i);
  backward();
  std::copy(x_.data(), x_.data() + n_, x);
}

void DenseLdl::solve_transpose(double* x) {
  std::copy(x, x + n_, x_.data());
  std::fill(x_.data() + n_, x_.data() + ld_, 0.0);
  backward();
  std::copy(x_.data(), x_.data() + n_, x);
}

void DenseLdl::multiply(const double* x, double* y) const {
  std::fill(y, y + n_, 0.0);
  for (int j = 0; j < n_; ++j) {
    const double* s = S_.data() + static_cast<Eigen::Index>(j) * ld_;
    double sum = s[j] * x[j];
    for (int i = j + 1; i < n_; ++i) {
      y[i] += s[i] * x[j];
      sum += s[i] * x[i];
    }
    y[j] += sum;
  }
}

}  // namespace clatter
