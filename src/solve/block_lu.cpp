#include "solve/block_lu.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <functional>

namespace clatter {

void BlockLu::begin(std::span<const int> sizes) {
  size_.assign(sizes.begin(), sizes.end());
  coupled_.clear();
  first_.resize(size_.size());
  unknowns_ = 0;
  for (std::size_t i = 0; i < size_.size(); ++i) {
    first_[i] = unknowns_;
    unknowns_ += size_[i];
  }
}

void BlockLu::couple(int i, int j) {
  if (i != j) coupled_.emplace_back(std::min(i, j), std::max(i, j));
}

// Eliminates the row with the fewest neighbours; its neighbours become neighbours of each other.
void BlockLu::order() {
  const std::size_t n = size_.size();
  if (neighbours_.size() < n) neighbours_.resize(n);
  for (std::size_t i = 0; i < n; ++i) neighbours_[i].clear();
  for (const auto& [i, j] : coupled_) {
    neighbours_[at(i)].push_back(j);
    neighbours_[at(j)].push_back(i);
  }
  heap_.clear();
  for (std::size_t i = 0; i < n; ++i) {
    std::sort(neighbours_[i].begin(), neighbours_[i].end());
    heap_.emplace_back(static_cast<int>(neighbours_[i].size()), static_cast<int>(i));
  }
  std::make_heap(heap_.begin(), heap_.end(), std::greater<>());
  order_.clear();
  position_.assign(n, -1);
  while (order_.size() < n) {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    const auto [degree, k] = heap_.back();
    heap_.pop_back();
    if (position_[at(k)] >= 0 || degree != static_cast<int>(neighbours_[at(k)].size())) continue;
    position_[at(k)] = static_cast<int>(order_.size());
    order_.push_back(k);
    clique_ = neighbours_[at(k)];
    for (const int i : clique_) {
      std::vector<int>& list = neighbours_[at(i)];
      merged_.clear();
      std::set_union(list.begin(), list.end(), clique_.begin(), clique_.end(), std::back_inserter(merged_));
      list.clear();
      for (const int j : merged_)
        if (j != i && j != k) list.push_back(j);
      heap_.emplace_back(static_cast<int>(list.size()), i);
      std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
    }
  }
}

void BlockLu::analyse() {
  std::sort(coupled_.begin(), coupled_.end());
  coupled_.erase(std::unique(coupled_.begin(), coupled_.end()), coupled_.end());
  if (size_ == last_size_ && coupled_ == last_coupled_) return;
  last_size_ = size_;
  last_coupled_ = coupled_;
  order();
  const std::size_t n = size_.size();
  if (row_.size() < n) row_.resize(n);
  for (Row& row : row_) {
    row.lower.clear();
    row.upper.clear();
  }
  int at_value = 0, largest = 0;
  const auto take = [&](int i, int j) {
    const int here = at_value;
    at_value += size_[at(order_[at(i)])] * size_[at(order_[at(j)])];
    return here;
  };
  for (int k = 0; k < rows(); ++k) {
    // When k was eliminated its list held the rows still to come.
    const int node = order_[at(k)];
    largest = std::max(largest, size_[at(node)]);
    Row& row = row_[at(k)];
    row.diagonal = take(k, k);
    for (const int j : neighbours_[at(node)]) row.upper.push_back({position_[at(j)], 0});
    std::sort(row.upper.begin(), row.upper.end(), [](const Entry& a, const Entry& b) { return a.column < b.column; });
    for (Entry& e : row.upper) {
      e.at = take(k, e.column);
      row_[at(e.column)].lower.push_back({k, take(e.column, k)});
    }
  }
  value_.resize(static_cast<std::size_t>(at_value));
  work_.resize(static_cast<std::size_t>(std::max(largest * largest, unknowns_)));
  inverse_.resize(static_cast<std::size_t>(largest * largest));
  where_.assign(n, -1);
}

void BlockLu::set_zero() { std::fill(value_.begin(), value_.end(), 0.0); }

double* BlockLu::block(int i, int j) {
  const int p = position_[at(i)], q = position_[at(j)];
  Row& row = row_[at(p)];
  if (p == q) return value_.data() + row.diagonal;
  std::vector<Entry>& list = q < p ? row.lower : row.upper;
  const auto found =
      std::lower_bound(list.begin(), list.end(), q, [](const Entry& e, int column) { return e.column < column; });
  return found == list.end() || found->column != q ? nullptr : value_.data() + found->at;
}

// C -= A B; C is m x n, A m x k, B k x n.
void BlockLu::subtract_product(double* C, const double* A, const double* B, int m, int k, int n) const {
  using Mat3x3 = Eigen::Matrix<double, 3, 3>;
  using Mat6x6 = Eigen::Matrix<double, 6, 6>;
  if (m == 3 && k == 3 && n == 3) {
    Eigen::Map<Mat3x3>(C).noalias() -= Eigen::Map<const Mat3x3>(A).lazyProduct(Eigen::Map<const Mat3x3>(B));
    return;
  }
  if (m == 6 && k == 6 && n == 6) {
    Eigen::Map<Mat6x6>(C).noalias() -= Eigen::Map<const Mat6x6>(A).lazyProduct(Eigen::Map<const Mat6x6>(B));
    return;
  }
  for (int j = 0; j < n; ++j)
    for (int l = 0; l < k; ++l) {
      const double b = B[j * k + l];
      if (b == 0) continue;
      for (int i = 0; i < m; ++i) C[j * m + i] -= A[l * m + i] * b;
    }
}

// Gauss-Jordan with row exchanges; A is destroyed.
bool BlockLu::invert(double* A, double* inverse, int n) {
  for (int i = 0; i < n * n; ++i) inverse[i] = i % (n + 1) == 0 ? 1 : 0;
  for (int k = 0; k < n; ++k) {
    int pivot = k;
    for (int i = k + 1; i < n; ++i)
      if (std::abs(A[k * n + i]) > std::abs(A[k * n + pivot])) pivot = i;
    const double d = A[k * n + pivot];
    if (!(std::abs(d) > 0) || !std::isfinite(d)) return false;
    if (pivot != k)
      for (int j = 0; j < n; ++j) {
        std::swap(A[j * n + k], A[j * n + pivot]);
        std::swap(inverse[j * n + k], inverse[j * n + pivot]);
      }
    for (int j = 0; j < n; ++j) {
      A[j * n + k] /= d;
      inverse[j * n + k] /= d;
    }
    for (int i = 0; i < n; ++i) {
      const double f = A[k * n + i];
      if (i == k || f == 0) continue;
      for (int j = 0; j < n; ++j) {
        A[j * n + i] -= f * A[j * n + k];
        inverse[j * n + i] -= f * inverse[j * n + k];
      }
    }
  }
  return true;
}

bool BlockLu::factorize() {
  for (int i = 0; i < rows(); ++i) {
    Row& row = row_[at(i)];
    const int m = size_[at(order_[at(i)])];
    for (const Entry& e : row.lower) where_[at(e.column)] = e.at;
    where_[at(i)] = row.diagonal;
    for (const Entry& e : row.upper) where_[at(e.column)] = e.at;
    for (const Entry& e : row.lower) {
      const Row& above = row_[at(e.column)];
      const int k = size_[at(order_[at(e.column)])];
      double* L = value_.data() + e.at;
      // L <- L U_kk^-1 (the diagonal block holds its inverse by now)
      std::fill(work_.begin(), work_.begin() + m * k, 0.0);
      subtract_product(work_.data(), L, value_.data() + above.diagonal, m, k, k);
      for (int x = 0; x < m * k; ++x) L[x] = -work_[at(x)];
      for (const Entry& u : above.upper)
        subtract_product(value_.data() + where_[at(u.column)], L, value_.data() + u.at, m, k,
                         size_[at(order_[at(u.column)])]);
    }
    double* D = value_.data() + row.diagonal;
    std::copy(D, D + m * m, work_.begin());
    if (!invert(work_.data(), D, m)) return false;
  }
  return true;
}

void BlockLu::solve(double* x) {
  const auto unknown = [&](int i) { return x + first_[at(order_[at(i)])]; };
  const auto size = [&](int i) { return size_[at(order_[at(i)])]; };
  for (int i = 0; i < rows(); ++i)
    for (const Entry& e : row_[at(i)].lower)
      subtract_product(unknown(i), value_.data() + e.at, unknown(e.column), size(i), size(e.column), 1);
  for (int i = rows() - 1; i >= 0; --i) {
    const int m = size(i);
    double* b = unknown(i);
    for (const Entry& e : row_[at(i)].upper)
      subtract_product(b, value_.data() + e.at, unknown(e.column), m, size(e.column), 1);
    std::fill(work_.begin(), work_.begin() + m, 0.0);
    subtract_product(work_.data(), value_.data() + row_[at(i)].diagonal, b, m, m, 1);
    for (int k = 0; k < m; ++k) b[k] = -work_[at(k)];
  }
}

}  // namespace clatter
