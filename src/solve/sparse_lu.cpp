#include "solve/sparse_lu.hpp"

#include <klu.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>
#include <stdexcept>

#include "solve/scaling.hpp"

namespace clatter {

namespace {

// With kept exchanges, entries of U may outgrow those of A by this factor before new exchanges are looked for...
constexpr double kGrowthAllowed = 1e-3;
// ...unless freshly chosen ones were not better by at least this factor.
constexpr double kGrowthWorseThanFresh = 0.1;

// A diagonal entry is the pivot when it is no smaller than this fraction of its column. KLU's own default, 1e-3,
// favours sparsity; multibody matrices lose accuracy with it and have little fill to lose.
constexpr double kDiagonalPreference = 0.05;

template <class Scalar>
struct Klu;

template <>
struct Klu<double> {
  static constexpr auto factor = klu_factor;
  static constexpr auto refactor = klu_refactor;
  static constexpr auto solve = klu_solve;
  static constexpr auto rcond = klu_rcond;
  static constexpr auto rgrowth = klu_rgrowth;
  static constexpr auto free_numeric = klu_free_numeric;
};

template <>
struct Klu<std::complex<double>> {
  static constexpr auto factor = klu_z_factor;
  static constexpr auto refactor = klu_z_refactor;
  static constexpr auto solve = klu_z_solve;
  static constexpr auto rcond = klu_z_rcond;
  static constexpr auto rgrowth = klu_z_rgrowth;
  static constexpr auto free_numeric = klu_z_free_numeric;
};

}  // namespace

template <class Scalar>
struct SparseLu<Scalar>::Handles {
  klu_common common;
  klu_symbolic* symbolic = nullptr;
  klu_numeric* numeric = nullptr;

  Handles() { klu_defaults(&common); }
  ~Handles() {
    if (numeric) Klu<Scalar>::free_numeric(&numeric, &common);
    if (symbolic) klu_free_symbolic(&symbolic, &common);
  }
  Handles(const Handles&) = delete;
  Handles& operator=(const Handles&) = delete;
};

template <class Scalar>
SparseLu<Scalar>::SparseLu(PatternPtr pattern)
    : pattern_(std::move(pattern)),
      klu_(std::make_unique<Handles>()),
      col_start_(pattern_->col_start()),
      row_index_(pattern_->row_index()),
      values_(row_index_.size()) {
  const size_t n = static_cast<size_t>(pattern_->cols());
  row_scale_.assign(n, 1.0);
  col_scale_.assign(n, 1.0);
  row_max_.assign(n, 0.0);
  col_max_.assign(n, 0.0);
  klu_->common.scale = -1;  // scaled here, by rows and columns
  klu_->common.tol = kDiagonalPreference;
  klu_->symbolic = klu_analyze(pattern_->cols(), col_start_.data(), row_index_.data(), &klu_->common);
  if (!klu_->symbolic) throw std::bad_alloc();
}

template <class Scalar>
SparseLu<Scalar>::~SparseLu() = default;
template <class Scalar>
SparseLu<Scalar>::SparseLu(SparseLu&&) noexcept = default;
template <class Scalar>
SparseLu<Scalar>& SparseLu<Scalar>::operator=(SparseLu&&) noexcept = default;

template <class Scalar>
double SparseLu<Scalar>::expected_flops() const {
  return klu_->symbolic->est_flops;
}

template <class Scalar>
double SparseLu<Scalar>::expected_fill() const {
  return klu_->symbolic->lnz + klu_->symbolic->unz;
}

template <class Scalar>
void SparseLu<Scalar>::scale(const SparseMatrix<Scalar>& A) {
  const int n = pattern_->cols();
  const std::span<const Scalar> a = A.values();
  finite_ = true;
  double check = 0;
  for (const Scalar& entry : a) check += magnitude(entry) * 0.0;
  if (check != 0.0) {
    finite_ = false;
    return;
  }
  // Largest entries of the matrix as scaled so far.
  auto maxima = [&] {
    std::fill(row_max_.begin(), row_max_.end(), 0.0);
    for (int j = 0; j < n; ++j) {
      double top = 0;
      for (int k = col_start_[j]; k < col_start_[j + 1]; ++k) {
        const int i = row_index_[k];
        const double size = magnitude(a[k]) * (row_scale_[i] * col_scale_[j]);
        row_max_[i] = std::max(row_max_[i], size);
        top = std::max(top, size);
      }
      col_max_[j] = top;
    }
  };
  std::fill(row_scale_.begin(), row_scale_.end(), 1.0);
  std::fill(col_scale_.begin(), col_scale_.end(), 1.0);
  maxima();
  double low = std::numeric_limits<double>::max(), high = 0;
  for (int i = 0; i < n; ++i) {
    low = std::min(low, std::min(row_max_[i], col_max_[i]));
    high = std::max(high, std::max(row_max_[i], col_max_[i]));
  }
  if (high > kScaledWellEnough * low || low < 1e-100 || high > 1e100) {
    for (int i = 0; i < n; ++i) {
      row_scale_[i] = reciprocal_root_power(row_max_[i]);
      col_scale_[i] = reciprocal_root_power(col_max_[i]);
    }
    maxima();
    for (int i = 0; i < n; ++i) row_scale_[i] *= reciprocal_power(row_max_[i]);
    maxima();
    for (int j = 0; j < n; ++j) col_scale_[j] *= reciprocal_power(col_max_[j]);
  }
  for (int j = 0; j < n; ++j) {
    for (int k = col_start_[j]; k < col_start_[j + 1]; ++k) {
      values_[k] = a[k] * (row_scale_[row_index_[k]] * col_scale_[j]);
    }
  }
}

template <class Scalar>
bool SparseLu<Scalar>::choose_pivots() {
  Handles& h = *klu_;
  double* ax = reinterpret_cast<double*>(values_.data());
  ++pivot_searches_;
  if (h.numeric) Klu<Scalar>::free_numeric(&h.numeric, &h.common);
  h.numeric = Klu<Scalar>::factor(col_start_.data(), row_index_.data(), ax, h.symbolic, &h.common);
  if (!h.numeric) {
    if (h.common.status < 0) throw std::bad_alloc();
    weakest_column_ = h.common.singular_col;
    pivot_ratio_ = 0;
    return false;
  }
  Klu<Scalar>::rgrowth(col_start_.data(), row_index_.data(), ax, h.symbolic, h.numeric, &h.common);
  Klu<Scalar>::rcond(h.symbolic, h.numeric, &h.common);
  growth_ = h.common.rgrowth;
  pivot_ratio_ = h.common.rcond;
  return true;
}

// Recomputes the factors with the row exchanges of an earlier factorization; false when these serve badly.
template <class Scalar>
bool SparseLu<Scalar>::keep_pivots() {
  Handles& h = *klu_;
  double* ax = reinterpret_cast<double*>(values_.data());
  if (!Klu<Scalar>::refactor(col_start_.data(), row_index_.data(), ax, h.symbolic, h.numeric, &h.common)) return false;
  Klu<Scalar>::rgrowth(col_start_.data(), row_index_.data(), ax, h.symbolic, h.numeric, &h.common);
  if (!(h.common.rgrowth >= kGrowthAllowed) && !(h.common.rgrowth >= kGrowthWorseThanFresh * growth_)) return false;
  Klu<Scalar>::rcond(h.symbolic, h.numeric, &h.common);
  pivot_ratio_ = h.common.rcond;
  return pivot_ratio_ >= 1e-12;  // perhaps singular: fresh exchanges decide
}

template <class Scalar>
void SparseLu<Scalar>::find_weakest() {
  const Scalar* pivot = static_cast<const Scalar*>(klu_->numeric->Udiag);
  double least = std::numeric_limits<double>::max();
  for (int k = 0; k < pattern_->cols(); ++k) {
    if (std::abs(pivot[k]) < least) {
      least = std::abs(pivot[k]);
      weakest_column_ = klu_->symbolic->Q[k];
    }
  }
}

template <class Scalar>
void SparseLu<Scalar>::factorize(const SparseMatrix<Scalar>& A) {
  pivot_ratio_ = 0;
  weakest_column_ = -1;
  scale(A);
  if (!finite_) return;
  if (klu_->numeric && keep_pivots()) return;
  pivot_ratio_ = 0;
  if (choose_pivots()) find_weakest();
}

template <class Scalar>
void SparseLu<Scalar>::solve(Scalar* b) {
  const int n = pattern_->cols();
  for (int i = 0; i < n; ++i) b[i] *= row_scale_[i];
  Klu<Scalar>::solve(klu_->symbolic, klu_->numeric, n, 1, reinterpret_cast<double*>(b), &klu_->common);
  for (int j = 0; j < n; ++j) b[j] *= col_scale_[j];
}

template <class Scalar>
void SparseLu<Scalar>::forget_pivots() {
  if (klu_->numeric) Klu<Scalar>::free_numeric(&klu_->numeric, &klu_->common);
}

template class SparseLu<double>;
template class SparseLu<std::complex<double>>;

}  // namespace clatter
