#include "solve/linear_solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace clatter {

namespace {

// Below this ratio of pivots of the scaled matrix a solution has no correct digit.
constexpr double kSingular = 32 * std::numeric_limits<double>::epsilon();

// Measured cost of a factorization and solution in nanoseconds, from which the faster path is chosen (bench of the
// room: dense n = 15 .. 120, chains of 6 .. 30 links).
double dense_cost(double n, bool complex) { return (complex ? 3.0 : 1.0) * (300 + 1.2 * n * n + 0.03 * n * n * n); }
double sparse_cost(double nonzeros, double flops, double fill, bool complex) {
  return (complex ? 1.6 : 1.0) * (4 * nonzeros + 2 * fill + 0.35 * flops);
}

}  // namespace

template <class Scalar>
LinearSolver<Scalar>::LinearSolver(PatternPtr pattern, LinearMethod method)
    : n_(pattern->cols()), pattern_(std::move(pattern)) {
  if (pattern_->rows() != n_) {
    throw std::invalid_argument(
        fmt::format("a linear system needs a square matrix, not {} x {}", pattern_->rows(), n_));
  }
  rhs_.assign(n_, Scalar(0));
  residual_.assign(n_, Scalar(0));
  constexpr int kAlwaysDense = 16, kNeverDense = 400;
  if (method != LinearMethod::dense && n_ > 0 && (method == LinearMethod::sparse || n_ > kAlwaysDense)) {
    sparse_ = std::make_unique<SparseLu<Scalar>>(pattern_);
    const bool complex = !std::is_same_v<Scalar, double>;
    if (method == LinearMethod::automatic && n_ <= kNeverDense &&
        dense_cost(n_, complex) <
            sparse_cost(pattern_->nonzeros(), sparse_->expected_flops(), sparse_->expected_fill(), complex)) {
      sparse_.reset();
    }
  }
  if (!sparse_) dense_ = std::make_unique<DenseLu<Scalar>>(n_);
}

template <class Scalar>
void LinearSolver<Scalar>::judge(bool finite, double pivot_ratio, int weakest) {
  singular_ = !finite || !(pivot_ratio > kSingular);
  rcond_ = singular_ ? 0.0 : std::min(pivot_ratio, 1.0);
  weakest_unknown_ = finite && singular_ ? weakest : -1;
}

template <class Scalar>
void LinearSolver<Scalar>::factorize(const SparseMatrix<Scalar>& A) {
  if (A.cols() != n_ || A.pattern().nonzeros() != pattern_->nonzeros()) {
    throw std::invalid_argument("the matrix does not have the pattern the solver was made for");
  }
  if (sparse_) {
    sparse_->factorize(A);
    judge(sparse_->finite(), sparse_->smallest_to_largest_pivot(), sparse_->weakest_column());
    return;
  }
  dense_->load(*pattern_, A.values().data());
  dense_->factorize();
  judge(dense_->finite(), dense_->smallest_pivot() / dense_->largest_pivot(), dense_->weakest_column());
}

template <class Scalar>
void LinearSolver<Scalar>::factorize_dense(const Scalar* A, int leading_dimension) {
  if (!dense_) throw std::logic_error("this solver works on the sparse pattern: pass the matrix as such");
  dense_->load(A, leading_dimension);
  dense_->factorize();
  judge(dense_->finite(), dense_->smallest_pivot() / dense_->largest_pivot(), dense_->weakest_column());
}

template <class Scalar>
void LinearSolver<Scalar>::solve(Scalar* b) {
  if (n_ == 0) return;
  if (singular_) {
    throw SingularMatrix(weakest_unknown_ >= 0
                             ? fmt::format("the matrix is singular: unknown {} depends on the others", weakest_unknown_)
                             : std::string("the matrix is not factored or holds an entry that is not finite"),
                         weakest_unknown_);
  }
  if (sparse_) {
    sparse_->solve(b);
  } else {
    dense_->solve(b);
  }
}

template <class Scalar>
void LinearSolver<Scalar>::solve_refined(const SparseMatrix<Scalar>& A, Scalar* b) {
  std::copy(b, b + n_, rhs_.begin());
  solve(b);
  A.multiply(b, residual_.data());
  for (int i = 0; i < n_; ++i) residual_[i] = rhs_[i] - residual_[i];
  solve(residual_.data());
  for (int i = 0; i < n_; ++i) b[i] += residual_[i];
}

template <class Scalar>
void LinearSolver<Scalar>::forget() {
  if (sparse_) sparse_->forget_pivots();
}

template class LinearSolver<double>;
template class LinearSolver<std::complex<double>>;

}  // namespace clatter
