#include "solve/sparse_ldl.hpp"

#include <amd.h>

#include <algorithm>
#include <new>

#include "solve/dense_ldl.hpp"

namespace clatter {

SparseLdl::SparseLdl(const Pattern& pattern, std::span<const int> last) : n_(pattern.cols()) {
  const size_t n = static_cast<size_t>(n_);
  order_.resize(n);
  inverse_.resize(n);
  if (amd_order(n_, pattern.col_start().data(), pattern.row_index().data(), order_.data(), nullptr, nullptr) < 0) {
    throw std::bad_alloc();
  }
  if (!last.empty()) {
    std::vector<char> postponed(n, 0);
    for (const int i : last) postponed[i] = 1;
    std::erase_if(order_, [&](int i) { return postponed[i] != 0; });
    order_.insert(order_.end(), last.begin(), last.end());
  }
  for (int k = 0; k < n_; ++k) inverse_[order_[k]] = k;

  diagonal_slot_.assign(n, -1);
  up_start_.assign(n + 1, 0);
  auto each_entry = [&](auto&& visit) {
    for (int j = 0; j < n_; ++j) {
      for (int s = pattern.col_start()[j]; s < pattern.col_start()[j + 1]; ++s) {
        const int i = pattern.row_index()[s];
        if (i > j) visit(std::min(inverse_[i], inverse_[j]), std::max(inverse_[i], inverse_[j]), s);
        if (i == j) diagonal_slot_[inverse_[j]] = s;
      }
    }
  };
  each_entry([&](int, int col, int) { ++up_start_[col + 1]; });
  for (int k = 0; k < n_; ++k) up_start_[k + 1] += up_start_[k];
  up_row_.resize(up_start_[n]);
  up_slot_.resize(up_start_[n]);
  std::vector<int> next(up_start_.begin(), up_start_.end() - 1);
  each_entry([&](int row, int col, int s) {
    up_row_[next[col]] = row;
    up_slot_[next[col]++] = s;
  });
  up_.assign(up_row_.size(), 0.0);
  diagonal_.assign(n, 0.0);
  d_.assign(n, 1.0);
  pivot_ratio_.assign(n, 1.0);
  y_.assign(n, 0.0);
  x_.assign(n, 0.0);
  analyse();
}

// Climbs the elimination tree, which grows as rows are added: parent of i = first row below the diagonal in column i of
// L.
void SparseLdl::analyse() {
  const size_t n = static_cast<size_t>(n_);
  std::vector<int> parent(n, -1), seen(n, -1), count(n, 0), path, row;
  row_start_.assign(1, 0);
  for (int k = 0; k < n_; ++k) {
    row.clear();
    seen[k] = k;
    for (int s = up_start_[k]; s < up_start_[k + 1]; ++s) {
      path.clear();
      for (int i = up_row_[s]; seen[i] != k; i = parent[i]) {
        if (parent[i] < 0) parent[i] = k;
        seen[i] = k;
        path.push_back(i);
      }
      // Later paths join earlier ones further up, so they are put before them.
      row.insert(row.end(), path.rbegin(), path.rend());
    }
    std::reverse(row.begin(), row.end());
    for (int i : row) flops_ += 2.0 * count[i] + 2, ++count[i];
    row_cols_.insert(row_cols_.end(), row.begin(), row.end());
    row_start_.push_back(static_cast<int>(row_cols_.size()));
  }
  col_start_.assign(n + 1, 0);
  for (int j = 0; j < n_; ++j) col_start_[j + 1] = col_start_[j] + count[j];
  row_of_.resize(row_cols_.size());
  l_.assign(row_cols_.size(), 0.0);
  filled_.assign(n, 0);
  std::vector<int> next(col_start_.begin(), col_start_.end() - 1);
  for (int k = 0; k < n_; ++k) {
    for (int s = row_start_[k]; s < row_start_[k + 1]; ++s) row_of_[next[row_cols_[s]]++] = k;
  }
}

void SparseLdl::load(const double* value) {
  for (size_t s = 0; s < up_.size(); ++s) up_[s] = value[up_slot_[s]];
  for (int k = 0; k < n_; ++k) diagonal_[k] = diagonal_slot_[k] >= 0 ? value[diagonal_slot_[k]] : 0.0;
}

void SparseLdl::factorize() {
  smallest_ratio_ = 1.0;
  pivot_sum_ = 0.0;
  const int* row_of = row_of_.data();
  double* l = l_.data();
  double* y = y_.data();
  std::copy(col_start_.begin(), col_start_.end() - 1, filled_.begin());
  for (int k = 0; k < n_; ++k) {
    for (int s = up_start_[k]; s < up_start_[k + 1]; ++s) y[up_row_[s]] = up_[s];
    double d = diagonal_[k];
    for (int s = row_start_[k]; s < row_start_[k + 1]; ++s) {
      const int i = row_cols_[s];
      const double yi = y[i];
      y[i] = 0;
      const int last = filled_[i];
      for (int p = col_start_[i]; p < last; ++p) y[row_of[p]] -= l[p] * yi;
      const double lki = yi * d_[i];
      d -= lki * yi;
      l[last] = lki;
      filled_[i] = last + 1;
    }
    const double skk = diagonal_[k];
    if (!(d > kWeakPivot * skk)) d = skk > 0 ? std::max(d, 0.0) + kRegularization * skk : 1.0 + 0.0 * d;
    d_[k] = 1.0 / d;
    pivot_sum_ += d;
    pivot_ratio_[k] = skk > 0 ? d / skk : 1.0;
    smallest_ratio_ = std::min(smallest_ratio_, pivot_ratio_[k]);
  }
}

void SparseLdl::solve(double* x) {
  double* z = x_.data();
  for (int k = 0; k < n_; ++k) z[k] = x[order_[k]];
  for (int j = 0; j < n_; ++j) {
    const double zj = z[j];
    for (int p = col_start_[j]; p < col_start_[j + 1]; ++p) z[row_of_[p]] -= l_[p] * zj;
  }
  for (int k = 0; k < n_; ++k) z[k] *= d_[k];
  for (int j = n_ - 1; j >= 0; --j) {
    double sum = z[j];
    for (int p = col_start_[j]; p < col_start_[j + 1]; ++p) sum -= l_[p] * z[row_of_[p]];
    z[j] = sum;
  }
  for (int k = 0; k < n_; ++k) x[order_[k]] = z[k];
}

void SparseLdl::solve_transpose(double* x) {
  double* z = x_.data();
  for (int k = 0; k < n_; ++k) z[k] = x[order_[k]];
  for (int j = n_ - 1; j >= 0; --j) {
    double sum = z[j];
    for (int p = col_start_[j]; p < col_start_[j + 1]; ++p) sum -= l_[p] * z[row_of_[p]];
    z[j] = sum;
  }
  for (int k = 0; k < n_; ++k) x[order_[k]] = z[k];
}

void SparseLdl::trailing(Eigen::Ref<Eigen::MatrixXd> T) const {
  const int m = static_cast<int>(T.rows()), first = n_ - m;
  Eigen::MatrixXd L = Eigen::MatrixXd::Identity(m, m);
  Eigen::VectorXd D(m);
  for (int j = 0; j < m; ++j) {
    D[j] = 1.0 / d_[first + j];
    for (int p = col_start_[first + j]; p < col_start_[first + j + 1]; ++p) L(row_of_[p] - first, j) = l_[p];
  }
  T.noalias() = L * D.asDiagonal() * L.transpose();
}

void SparseLdl::multiply(const double* x, double* y) const {
  for (int k = 0; k < n_; ++k) y[order_[k]] = diagonal_[k] * x[order_[k]];
  for (int k = 0; k < n_; ++k) {
    const int col = order_[k];
    double sum = 0;
    for (int s = up_start_[k]; s < up_start_[k + 1]; ++s) {
      const int row = order_[up_row_[s]];
      y[row] += up_[s] * x[col];
      sum += up_[s] * x[row];
    }
    y[col] += sum;
  }
}

}  // namespace clatter
