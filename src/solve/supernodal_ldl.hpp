// P A P^T = L D L^T of large sparse symmetric matrices by dense blocks: for finite elements.
//
//   P        nested dissection (METIS, Karypis and Kumar 1998) of the graph of blocks (nodes), so that the
//            freedoms of a node stay together
//   L        in supernodes: neighbouring columns of like structure, merged further where few zeros are stored
//   method   multifrontal (Duff and Reid 1983): each supernode gathers its own entries of A and the updates of its
//            children in a dense front, eliminates its columns and passes the rest on
//
// Pivots are taken from the diagonal without exchange: right for positive definite matrices, and for indefinite ones
// (K - omega^2 M) as long as no leading block is near singular; `smallest_pivot` tells.
#pragma once

#include <Eigen/Core>
#include <Eigen/SparseCore>
#include <functional>
#include <span>
#include <vector>

namespace clatter {

class SupernodalLdl {
 public:
  // Lower triangle of A; block_of[i] names the block freedom i belongs to (ascending), or nothing: each its own.
  explicit SupernodalLdl(const Eigen::SparseMatrix<double>& A, std::span<const int> block_of = {});

  // Values of a matrix with the same pattern; progress: share of the operations done. False when a pivot is zero or not
  // finite.
  bool factorize(const Eigen::SparseMatrix<double>& A, const std::function<void(double)>& progress = {});

  int size() const { return n_; }
  double factor_entries() const { return entries_; }
  double operations() const { return operations_; }
  // Number of negative pivots: of eigenvalues of A below zero (Sylvester).
  int negative_pivots() const { return negative_; }
  // Smallest |d_j| / |a_jj| and the freedom it belongs to.
  double smallest_pivot() const { return smallest_; }
  int smallest_pivot_freedom() const { return smallest_at_; }

  void solve(Eigen::Ref<Eigen::MatrixXd> X) const;  // X <- A^-1 X, all columns together

 private:
  struct Node {
    int first, width, parent;  // columns first .. first + width - 1 in the new order
    std::vector<int> rows;     // below, in the new order
    std::vector<int> children;
    std::vector<double> panel;  // (width + rows) x width, column-major: unit lower triangle, then L21
  };
  void order(const Eigen::SparseMatrix<double>& A, std::span<const int> block_of);
  void analyse(const Eigen::SparseMatrix<double>& A);

  int n_ = 0;
  std::vector<int> new_of_;  // place of a freedom in the new order
  std::vector<int> old_of_;
  std::vector<Node> nodes_;
  std::vector<int> node_of_;  // supernode of a column
  Eigen::VectorXd d_;
  double entries_ = 0, operations_ = 0, smallest_ = 0;
  int negative_ = 0, smallest_at_ = -1;
};

}  // namespace clatter
