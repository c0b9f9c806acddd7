// A x = b for general square matrices, real or complex, of one pattern and many values.
//
//   LinearSolver<double> solver(pattern);     // analysed once; dense or sparse elimination is chosen here
//   solver.factorize(A);                      // again and again, without taking memory
//   if (solver.singular()) ...                // solver.weakest_unknown() names the column
//   solver.solve(b);                          // b becomes x
//
// Rows and columns are scaled by powers of two before the elimination: in constrained dynamics the entries of one
// matrix differ by twelve orders of magnitude and more.
#pragma once

#include <complex>
#include <memory>
#include <stdexcept>
#include <vector>

#include "solve/dense_lu.hpp"
#include "solve/sparse_lu.hpp"
#include "solve/sparsity.hpp"

namespace clatter {

// Thrown when a solution is asked of a matrix that was found singular.
class SingularMatrix : public std::runtime_error {
 public:
  SingularMatrix(const std::string& what, int unknown) : std::runtime_error(what), unknown_(unknown) {}
  int unknown() const { return unknown_; }

 private:
  int unknown_;
};

enum class LinearMethod { automatic, dense, sparse };

template <class Scalar>
class LinearSolver {
 public:
  explicit LinearSolver(PatternPtr pattern, LinearMethod method = LinearMethod::automatic);

  int size() const { return n_; }
  bool is_dense() const { return dense_ != nullptr; }

  // A must have the pattern given at construction.
  void factorize(const SparseMatrix<Scalar>& A);
  // Column-major; only when is_dense().
  void factorize_dense(const Scalar* A, int leading_dimension);

  // b <- A^-1 b. Throws SingularMatrix when singular().
  void solve(Scalar* b);
  // The same followed by one step of iterative refinement with the matrix last factored.
  void solve_refined(const SparseMatrix<Scalar>& A, Scalar* b);

  // No digit of a solution could be trusted, or an entry is not a finite number.
  bool singular() const { return singular_; }
  // Smallest over largest pivot of the scaled matrix: the order of the reciprocal condition number, zero when singular.
  double rcond() const { return rcond_; }
  // When singular: the unknown whose column depends on the others; -1 when an entry is not finite.
  int weakest_unknown() const { return weakest_unknown_; }

  // Makes the next factorization independent of those before it, so that a run continued from a checkpoint repeats the
  // digits of an uninterrupted one.
  void forget();

 private:
  void judge(bool finite, double pivot_ratio, int weakest);

  int n_;
  PatternPtr pattern_;
  std::unique_ptr<DenseLu<Scalar>> dense_;
  std::unique_ptr<SparseLu<Scalar>> sparse_;
  std::vector<Scalar> rhs_, residual_;
  bool singular_ = true;
  double rcond_ = 0;
  int weakest_unknown_ = -1;
};

extern template class LinearSolver<double>;
extern template class LinearSolver<std::complex<double>>;

}  // namespace clatter
