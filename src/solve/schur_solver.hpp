// S x = b with S = G M^-1 G^T, the equations of the constraint forces, also when constraints are redundant.
//
// S is symmetric and positive semidefinite; each dependent row of G takes one from its rank. b then lies in the range
// of S up to rounding (or up to the error with which redundant constraints are met), and every solution gives the same
// constraint forces G^T x. The one returned is the smallest in the metric D = diag(S), x^T D x = min: it does not
// depend on units or on the order of the rows, and shares a load evenly between equal joints.
//
//   S + E = L D L^T          E raises only pivots that collapse (dense_ldl.hpp)
//   x <- x + (S + E)^-1 (b - S x)      iterated Tikhonov regularization, until the residual stops falling
//   N                        basis of the null space, N^T D N = 1, from the collapsed pivots: n_j = L^-T e_j, refined
//   b <- b - D N N^T b       the nearest consistent right-hand side, before
//   x <- x - N N^T D x       the smallest solution, after
//
// Which rows of a dependent set are eliminated first matters: an angle between them that closes as the mechanism moves
// leaves small pivots, although another choice of rows is well conditioned. The rows are then reordered, each next one
// having the largest angle to those before it: all of them by the dense path; by the sparse path those with small
// pivots, after all others (which only widens the angles of the others). The order follows from S alone, not from
// earlier ones.
//
// While all rows are independent this is one factorization and one solution. Nothing is allocated after the first
// factorization that meets a given number of redundant rows.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "solve/dense_ldl.hpp"
#include "solve/sparse_ldl.hpp"
#include "solve/sparsity.hpp"

namespace clatter {

enum class SchurMethod { automatic, dense, sparse };

class SchurSolver {
 public:
  // The pattern holds the lower triangle or the full matrix.
  explicit SchurSolver(PatternPtr pattern, SchurMethod method = SchurMethod::automatic);
  // Dense, for factorize_dense().
  explicit SchurSolver(int n);

  int size() const { return n_; }
  bool is_dense() const { return dense_ != nullptr; }

  // Both read the lower triangle only. They throw std::domain_error when an entry is not finite.
  void factorize(const SparseMatrix<double>& S);
  void factorize_dense(const double* S, int leading_dimension);  // column-major; only when is_dense()

  void solve(double* b);  // in place

  // Number of redundant rows met by the last factorization, and which ones: rows that depend on those eliminated before
  // them. The dense path eliminates in the order of the rows while that is well conditioned; the sparse path in an
  // order of its own. rank.hpp names redundant
  // constraints whatever the path.
  int deficiency() const { return static_cast<int>(dependent_.size()); }
  const std::vector<int>& dependent_rows() const { return dependent_; }

  // Of the last solve: the part of b outside the range of S, relative to b, in the metric of D^-1. More than rounding
  // means that redundant constraints contradict each other.
  double inconsistency() const { return inconsistency_; }
  // Smallest pivot over diagonal entry: the squared sine of the smallest angle met between a row and those before it.
  double smallest_pivot_ratio() const;
  // How near the rows are to losing a rank that they have: the squared sine of the smallest angle met, and the rows
  // that take part in that near dependence, those with more than a tenth of the largest coefficient in it. A row that
  // vanishes by itself shows where `scale` gives, a row each, what its diagonal entry is to be measured against.
  //
  // With redundant rows no order serves: which of them come late follows from the order, and one that becomes weak may
  // have another that stands in for it. The measure then is the smallest eigenvalue beyond the null space,
  //
  //   S x = lambda C x,   N^T C x = 0,   C = diag(scale)
  //
  // by a fixed number of inverse iterations from a fixed start: a smooth function of S, zero where a rank is lost. With
  // more redundant rows than null vectors are kept for, it is the smallest angle of the rows kept, and rows are named
  // only where that is so small that no other choice of them would have a wide one.
  double smallest_independent_ratio(std::span<const double> scale = {});
  std::vector<int> weakest_rows(std::span<const double> scale = {});

 private:
  void factorize_loaded();
  void factorize_sparse(const double* value);
  template <class Ldl>
  bool poor_order(const Ldl& ldl) const;
  template <class Ldl>
  double ratio_at(const Ldl& ldl, int place, std::span<const double> scale) const;
  template <class Ldl>
  int weakest_place(const Ldl& ldl, std::span<const double> scale) const;  // -1 when all rows are redundant
  template <class Ldl>
  void find_null_space(Ldl& ldl);
  template <class Ldl>
  void solve_with(Ldl& ldl, double* b);
  // Gram-Schmidt in the metric given against the first `count` of the vectors in `basis`; false: nothing is left of n.
  bool orthonormalize(double* n, const double* metric, const double* basis, int count) const;
  template <class Ldl>
  double smallest_beyond_null_space(Ldl& ldl, std::span<const double> scale);
  void project_load(double* b);
  void project_solution(double* x);
  double load_norm(const double* b) const;

  int n_;
  PatternPtr pattern_;
  std::unique_ptr<DenseLdl> dense_;
  std::unique_ptr<SparseLdl> sparse_;
  // The sparse path with weak rows last: as a set, then in the order found best. Made anew when these change.
  std::unique_ptr<SparseLdl> postponed_, reordered_;
  std::vector<int> weak_, weak_order_, tail_;
  SparseLdl* used_ = nullptr;  // of the last factorization
  std::vector<int> dependent_, candidates_;
  std::vector<int> order_;  // row at each place of the dense factors, empty when rows are in their own places
  std::vector<double> placed_;
  std::vector<double> N_;         // null vectors, one after the other
  std::vector<double> diagonal_;  // D, one for an empty row
  std::vector<double> x_, r_, y_;
  int null_vectors_ = 0;
  double inconsistency_ = 0;
  std::vector<double> weakest_, metric_, null_in_metric_;  // eigenvector beyond the null space, C, N with N^T C N = 1
  double beyond_ = -1;                                     // its eigenvalue; -1: not asked for yet
  bool factored_ = false;
};

}  // namespace clatter
