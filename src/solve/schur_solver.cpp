#include "solve/schur_solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "solve/rank.hpp"

namespace clatter {

namespace {

// Pivots this small, relative to the diagonal, are looked at: their null vector n decides.
constexpr double kCollapsedPivot = 1e-9;
// A row is redundant when S n = lambda D n with lambda up to this: an angle of 1e-6 between the row and the others.
// Rounding alone leaves about 1e-15.
constexpr double kNullQuotient = 1e-12;
constexpr int kInverseIterations = 3;
// With pivots above this a single solution is as exact as S itself.
constexpr double kNoCorrection = 1e-3;
constexpr int kMaxCorrections = 6;
// Beyond, null vectors cost more than they give: redundant rows then carry no force.
constexpr int kMaxNullVectors = 64;
// Inverse iterations for the smallest eigenvalue beyond the null space. Others than the smallest are in the result by
// (lambda_1 / lambda_j)^6.
constexpr int kBeyondIterations = 3;
// Squared sine below which rows are named whatever the order.
constexpr double kDependentAnyway = 1e-6;
// Weak rows the sparse path reorders at most: their part of the matrix is dense.
constexpr int kMaxReordered = 200;

// Nanoseconds of one factorization and solution, measured on block-tridiagonal matrices of 5 x 5 blocks.
double dense_cost(double n) { return 150 + 0.9 * n * n + 0.011 * n * n * n; }
double sparse_cost(double n, double fill, double flops) { return 20 * n + 4 * fill + 0.6 * flops; }

}  // namespace

SchurSolver::SchurSolver(int n) : n_(n), dense_(std::make_unique<DenseLdl>(n)) {
  for (auto* v : {&diagonal_, &x_, &r_, &y_}) v->assign(static_cast<size_t>(n), 0.0);
  dependent_.reserve(n);
  candidates_.reserve(n);
}

SchurSolver::SchurSolver(PatternPtr pattern, SchurMethod method) : n_(pattern->cols()), pattern_(std::move(pattern)) {
  if (pattern_->rows() != n_) {
    throw std::invalid_argument(fmt::format("a symmetric matrix is square, not {} x {}", pattern_->rows(), n_));
  }
  for (int j = 0; j < n_; ++j) {
    for (int s = pattern_->col_start()[j]; s < pattern_->col_start()[j + 1]; ++s) {
      const int i = pattern_->row_index()[s];
      if (i < j && pattern_->slot(j, i) < 0) {
        throw std::invalid_argument(fmt::format("entry ({}, {}) has no twin below the diagonal", i, j));
      }
    }
  }
  constexpr int kAlwaysDense = 16, kNeverDense = 500;
  if (method == SchurMethod::sparse || (method == SchurMethod::automatic && n_ > kAlwaysDense)) {
    sparse_ = std::make_unique<SparseLdl>(*pattern_);
    if (method == SchurMethod::automatic && n_ <= kNeverDense &&
        dense_cost(n_) < sparse_cost(n_, static_cast<double>(sparse_->fill()), sparse_->flops())) {
      sparse_.reset();
    }
  }
  if (!sparse_) dense_ = std::make_unique<DenseLdl>(n_);
  for (auto* v : {&diagonal_, &x_, &r_, &y_}) v->assign(static_cast<size_t>(n_), 0.0);
  dependent_.reserve(n_);
  candidates_.reserve(n_);
}

double SchurSolver::smallest_pivot_ratio() const {
  return dense_ ? dense_->smallest_pivot_ratio() : (used_ ? used_ : sparse_.get())->smallest_pivot_ratio();
}

template <class Ldl>
double SchurSolver::ratio_at(const Ldl& ldl, int place, std::span<const double> scale) const {
  if (scale.empty()) return ldl.pivot_ratio(place);
  const double against = scale[dense_ && !order_.empty() ? order_[place] : place];
  return against > 0 ? ldl.pivot_ratio(place) * ldl.diagonal(place) / against : 1.0;
}

template <class Ldl>
int SchurSolver::weakest_place(const Ldl& ldl, std::span<const double> scale) const {
  int weakest = -1;
  for (int j = 0; j < n_; ++j) {
    const int row = dense_ && !order_.empty() ? order_[j] : j;
    if (std::binary_search(dependent_.begin(), dependent_.end(), row)) continue;
    if (weakest < 0 || ratio_at(ldl, j, scale) < ratio_at(ldl, weakest, scale)) weakest = j;
  }
  return weakest;
}

double SchurSolver::smallest_independent_ratio(std::span<const double> scale) {
  if (!factored_ || n_ == 0) return 1;
  if (dependent_.empty() && scale.empty()) return smallest_pivot_ratio();
  if (null_vectors_ > 0 && null_vectors_ == deficiency())
    return dense_ ? smallest_beyond_null_space(*dense_, scale) : smallest_beyond_null_space(*used_, scale);
  if (!dependent_.empty()) scale = {};
  const int j = dense_ ? weakest_place(*dense_, scale) : weakest_place(*used_, scale);
  return j < 0 ? 1.0 : dense_ ? ratio_at(*dense_, j, scale) : ratio_at(*used_, j, scale);
}

template <class Ldl>
double SchurSolver::smallest_beyond_null_space(Ldl& ldl, std::span<const double> scale) {
  if (beyond_ >= 0) return beyond_;
  const auto row = [&](int place) { return dense_ && !order_.empty() ? order_[place] : place; };
  metric_.resize(static_cast<size_t>(n_));
  weakest_.resize(static_cast<size_t>(n_));
  for (int j = 0; j < n_; ++j) {
    // An empty row is none.
    const double against = scale.empty() ? ldl.diagonal(j) : scale[row(j)];
    metric_[j] = against > 0 && ldl.diagonal(j) > 0 ? against : 0.0;
    // Numbers without a pattern that a mode of the mechanism could share.
    weakest_[j] = metric_[j] > 0 ? (1.5 + std::sin(1.0 + 2.399963 * row(j))) / std::sqrt(metric_[j]) : 0.0;
  }
  null_in_metric_.resize(static_cast<size_t>(null_vectors_) * n_);
  int kept = 0;
  for (int m = 0; m < null_vectors_; ++m) {
    double* n = null_in_metric_.data() + static_cast<size_t>(kept) * n_;
    std::copy_n(N_.data() + static_cast<size_t>(m) * n_, n_, n);
    if (orthonormalize(n, metric_.data(), null_in_metric_.data(), kept)) ++kept;
  }
  const double inconsistency = inconsistency_;
  beyond_ = 1;
  for (int iteration = 0; iteration < kBeyondIterations; ++iteration) {
    if (!orthonormalize(weakest_.data(), metric_.data(), null_in_metric_.data(), kept)) break;
    for (int j = 0; j < n_; ++j) weakest_[j] *= metric_[j];
    solve_with(ldl, weakest_.data());
  }
  if (orthonormalize(weakest_.data(), metric_.data(), null_in_metric_.data(), kept)) {
    ldl.multiply(weakest_.data(), y_.data());
    double lambda = 0;
    for (int j = 0; j < n_; ++j) lambda += weakest_[j] * y_[j];
    beyond_ = std::max(lambda, 0.0);
  }
  inconsistency_ = inconsistency;
  return beyond_;
}

std::vector<int> SchurSolver::weakest_rows(std::span<const double> scale) {
  std::vector<int> rows;
  if (!factored_ || n_ == 0) return rows;
  const double ratio = smallest_independent_ratio(scale);
  if (beyond_ >= 0) {
    double largest = 0;
    const auto part = [&](int j) { return std::abs(weakest_[j]) * std::sqrt(metric_[j]); };
    for (int j = 0; j < n_; ++j) largest = std::max(largest, part(j));
    for (int j = 0; j < n_; ++j)
      if (part(j) > 0.1 * largest) rows.push_back(dense_ && !order_.empty() ? order_[j] : j);
    std::sort(rows.begin(), rows.end());
    return rows;
  }
  if (!dependent_.empty()) {
    if (ratio > kDependentAnyway) return rows;
    scale = {};
  }
  const int weakest = dense_ ? weakest_place(*dense_, scale) : weakest_place(*used_, scale);
  if (weakest < 0) return rows;
  // L^T n = e: the combination of rows that is shortest for the coefficient one at the weakest.
  std::vector<double> n(static_cast<size_t>(n_), 0.0);
  n[weakest] = 1;
  dense_ ? dense_->solve_transpose(n.data()) : used_->solve_transpose(n.data());
  double largest = 0;
  const auto part = [&](int j) {
    return std::abs(n[j]) * std::sqrt(std::max(0.0, dense_ ? dense_->diagonal(j) : used_->diagonal(j)));
  };
  for (int j = 0; j < n_; ++j) largest = std::max(largest, part(j));
  for (int j = 0; j < n_; ++j) {
    if (part(j) > 0.1 * largest) rows.push_back(dense_ && !order_.empty() ? order_[j] : j);
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

void SchurSolver::factorize(const SparseMatrix<double>& S) {
  if (!pattern_ || S.cols() != n_ || S.pattern().nonzeros() != pattern_->nonzeros()) {
    throw std::invalid_argument("the matrix does not have the pattern the solver was made for");
  }
  factored_ = false;
  beyond_ = -1;
  if (dense_) {
    dense_->load(*pattern_, S.values().data());
    factorize_loaded();
  } else {
    factorize_sparse(S.values().data());
  }
  factored_ = true;
}

void SchurSolver::factorize_dense(const double* S, int leading_dimension) {
  if (!dense_) throw std::logic_error("this solver works on the sparse pattern: pass the matrix as such");
  factored_ = false;
  beyond_ = -1;
  dense_->load(S, leading_dimension);
  factorize_loaded();
  factored_ = true;
}

// Redundant rows, and pivots of others that are small without being nothing: perhaps only the order's fault.
template <class Ldl>
bool SchurSolver::poor_order(const Ldl& ldl) const {
  if (!(ldl.smallest_pivot_ratio() <= kCollapsedPivot)) return false;
  for (int j = 0; j < n_; ++j) {
    const double ratio = ldl.pivot_ratio(j);
    if (ratio > 4 * kRegularization && ratio <= kNoCorrection) return true;
  }
  return false;
}

void SchurSolver::factorize_loaded() {
  order_.clear();
  dense_->factorize();
  if (poor_order(*dense_)) {
    dense_->reorder(order_);
    dense_->factorize();
  }
  find_null_space(*dense_);
  if (order_.empty()) return;
  for (int& j : dependent_) j = order_[j];
  std::sort(dependent_.begin(), dependent_.end());
}

void SchurSolver::factorize_sparse(const double* value) {
  used_ = sparse_.get();
  sparse_->load(value);
  sparse_->factorize();
  if (poor_order(*sparse_)) {
    tail_.clear();
    for (int j = 0; j < n_; ++j) {
      if (sparse_->pivot_ratio(j) <= kNoCorrection) tail_.push_back(j);
    }
    if (tail_.size() <= kMaxReordered) {
      if (!postponed_ || tail_ != weak_) {
        weak_ = tail_;
        postponed_ = std::make_unique<SparseLdl>(*pattern_, weak_);
      }
      postponed_->load(value);
      postponed_->factorize();
      const int m = static_cast<int>(weak_.size());
      Eigen::MatrixXd T(m, m);
      postponed_->trailing(T);
      Eigen::VectorXd scale(m);
      for (int k = 0; k < m; ++k) {
        const double s = postponed_->diagonal(weak_[k]);
        scale[k] = s > 0 ? 1 / std::sqrt(s) : 0;
      }
      T = scale.asDiagonal() * T * scale.asDiagonal();
      std::vector<int> order(weak_.size());
      pivoted_order(T, kWeakPivot, scale, order);
      for (int k = 0; k < m; ++k) tail_[k] = weak_[order[k]];
      if (!reordered_ || tail_ != weak_order_) {
        weak_order_ = tail_;
        reordered_ = std::make_unique<SparseLdl>(*pattern_, weak_order_);
      }
      reordered_->load(value);
      reordered_->factorize();
      used_ = reordered_.get();
    }
  }
  find_null_space(*used_);
}

template <class Ldl>
void SchurSolver::find_null_space(Ldl& ldl) {
  dependent_.clear();
  null_vectors_ = 0;
  if (!(ldl.pivot_sum() < std::numeric_limits<double>::infinity())) {
    throw std::domain_error("the matrix of the constraint forces holds an entry that is not finite");
  }
  if (ldl.smallest_pivot_ratio() > kNoCorrection) return;
  for (int j = 0; j < n_; ++j) diagonal_[j] = ldl.diagonal(j) > 0 ? ldl.diagonal(j) : 1.0;
  if (ldl.smallest_pivot_ratio() > kCollapsedPivot) return;

  candidates_.clear();
  for (int j = 0; j < n_; ++j) {
    if (ldl.pivot_ratio(j) <= kCollapsedPivot) candidates_.push_back(j);
  }
  if (candidates_.size() > kMaxNullVectors) {
    for (int j : candidates_) {
      if (ldl.pivot_ratio(j) > 2 * kNullQuotient) continue;
      ldl.drop_pivot(j);
      dependent_.push_back(j);
    }
    return;
  }
  if (N_.size() < candidates_.size() * n_) N_.resize(candidates_.size() * n_);
  for (int j : candidates_) {
    double* n = N_.data() + static_cast<size_t>(null_vectors_) * n_;
    std::fill(n, n + n_, 0.0);
    n[j] = 1.0;
    ldl.solve_transpose(n);
    // Rows that are dependent up to an error e leave |S n| ~ e although n^T S n ~ e^2: inverse iteration makes n an
    // eigenvector, S n = lambda D n, so that projections along it do not disturb the rest.
    for (int iteration = 0;; ++iteration) {
      if (!orthonormalize(n, diagonal_.data(), N_.data(), null_vectors_)) break;
      ldl.multiply(n, y_.data());
      double lambda = 0, error = 0;
      for (int i = 0; i < n_; ++i) lambda += n[i] * y_[i];
      for (int i = 0; i < n_; ++i) {
        const double e = y_[i] - lambda * diagonal_[i] * n[i];
        error += e * e / diagonal_[i];
      }
      if (std::sqrt(error) <= kNullQuotient || iteration == kInverseIterations) {
        if (lambda <= kNullQuotient) {
          dependent_.push_back(j);
          ++null_vectors_;
        }
        break;
      }
      for (int i = 0; i < n_; ++i) n[i] *= diagonal_[i];
      ldl.solve(n);
    }
  }
}

// Twice, to be orthogonal to rounding.
bool SchurSolver::orthonormalize(double* n, const double* metric, const double* basis, int count) const {
  double size = 0;
  for (int i = 0; i < n_; ++i) size += metric[i] * n[i] * n[i];
  for (int pass = 0; pass < 2; ++pass) {
    for (int m = 0; m < count; ++m) {
      const double* other = basis + static_cast<size_t>(m) * n_;
      double dot = 0;
      for (int i = 0; i < n_; ++i) dot += other[i] * metric[i] * n[i];
      for (int i = 0; i < n_; ++i) n[i] -= dot * other[i];
    }
  }
  double norm = 0;
  for (int i = 0; i < n_; ++i) norm += metric[i] * n[i] * n[i];
  if (!(norm > 1e-20 * size)) return false;
  const double factor = 1.0 / std::sqrt(norm);
  for (int i = 0; i < n_; ++i) n[i] *= factor;
  return true;
}

void SchurSolver::project_load(double* b) {
  for (int m = 0; m < null_vectors_; ++m) {
    const double* n = N_.data() + static_cast<size_t>(m) * n_;
    double dot = 0;
    for (int i = 0; i < n_; ++i) dot += n[i] * b[i];
    for (int i = 0; i < n_; ++i) b[i] -= dot * diagonal_[i] * n[i];
    inconsistency_ = std::hypot(inconsistency_, dot);
  }
}

void SchurSolver::project_solution(double* x) {
  for (int m = 0; m < null_vectors_; ++m) {
    const double* n = N_.data() + static_cast<size_t>(m) * n_;
    double dot = 0;
    for (int i = 0; i < n_; ++i) dot += n[i] * diagonal_[i] * x[i];
    for (int i = 0; i < n_; ++i) x[i] -= dot * n[i];
  }
}

double SchurSolver::load_norm(const double* b) const {
  double sum = 0;
  for (int i = 0; i < n_; ++i) sum += b[i] * b[i] / diagonal_[i];
  return std::sqrt(sum);
}

template <class Ldl>
void SchurSolver::solve_with(Ldl& ldl, double* b) {
  inconsistency_ = 0;
  if (ldl.smallest_pivot_ratio() > kNoCorrection) {
    ldl.solve(b);
    return;
  }
  const double size = load_norm(b);
  if (size == 0) return;
  project_load(b);
  inconsistency_ /= size;

  std::fill(x_.begin(), x_.end(), 0.0);
  std::copy(b, b + n_, r_.begin());
  double residual = size;
  for (int correction = 0; correction <= kMaxCorrections; ++correction) {
    ldl.solve(r_.data());
    for (int i = 0; i < n_; ++i) x_[i] += r_[i];
    ldl.multiply(x_.data(), y_.data());
    for (int i = 0; i < n_; ++i) y_[i] = b[i] - y_[i];
    const double now = load_norm(y_.data());
    if (!(now < residual)) {
      if (correction > 0) {
        for (int i = 0; i < n_; ++i) x_[i] -= r_[i];
      }
      break;
    }
    if (now > 0.5 * residual || now < std::numeric_limits<double>::epsilon() * size) break;
    residual = now;
    std::copy(y_.begin(), y_.end(), r_.begin());
  }
  project_solution(x_.data());
  std::copy(x_.begin(), x_.end(), b);
}

void SchurSolver::solve(double* b) {
  if (n_ == 0) return;
  if (!factored_) throw std::logic_error("the constraint forces were asked for before their matrix was factored");
  if (dense_ && !order_.empty()) {
    placed_.resize(n_);
    for (int i = 0; i < n_; ++i) placed_[i] = b[order_[i]];
    solve_with(*dense_, placed_.data());
    for (int i = 0; i < n_; ++i) b[order_[i]] = placed_[i];
  } else if (dense_) {
    solve_with(*dense_, b);
  } else {
    solve_with(*used_, b);
  }
}

}  // namespace clatter
