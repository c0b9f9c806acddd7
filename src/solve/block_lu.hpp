// P A P^T = L U of sparse square matrices made of small blocks whose pattern is symmetric and changes from one problem
// to the next (bodies that touch each other now).
//
//   P   minimum degree (Rose 1972; ties by number), found when the pattern is not that of the problem before
//   L   unit lower triangular, U upper, block row by block row:  L_ik = A_ik U_kk^-1,  A_ij -= L_ik U_kj
//
// Rows are exchanged within diagonal blocks only: for matrices 1 + (positive semidefinite), as contact problems give
// them, whose diagonal blocks stay regular; `false` from factorize() tells where that was not enough. Arrays grow to
// their largest size and stay: no memory is taken once it is reached.
#pragma once

#include <span>
#include <utility>
#include <vector>

namespace clatter {

class BlockLu {
 public:
  // A new pattern: block rows of these sizes, all diagonal blocks. Couplings may be repeated.
  void begin(std::span<const int> sizes);
  void couple(int i, int j);
  void analyse();

  int rows() const { return static_cast<int>(size_.size()); }
  int unknowns() const { return unknowns_; }
  int first(int i) const { return first_[static_cast<std::size_t>(i)]; }  // first unknown of block row i
  long fill() const { return static_cast<long>(value_.size()); }

  void set_zero();
  // Values of block (i, j), column by column; null when the pattern does not hold it.
  double* block(int i, int j);
  bool factorize();
  void solve(double* x);

 private:
  struct Entry {
    int column;  // in the order of elimination
    int at;      // of its values
  };
  struct Row {
    std::vector<Entry> lower, upper;
    int diagonal = 0;
  };
  void order();
  void subtract_product(double* C, const double* A, const double* B, int m, int k, int n) const;
  static bool invert(double* A, double* inverse, int n);
  std::size_t at(int i) const { return static_cast<std::size_t>(i); }

  std::vector<int> size_, first_, last_size_;
  std::vector<std::pair<int, int>> coupled_, last_coupled_;
  int unknowns_ = 0;
  std::vector<int> order_, position_;  // block row order_[k] is eliminated at step k
  std::vector<std::vector<int>> neighbours_;
  std::vector<std::pair<int, int>> heap_;  // (degree, block row)
  std::vector<int> clique_, merged_;
  std::vector<Row> row_;  // by step of elimination
  std::vector<double> value_, work_, inverse_;
  std::vector<int> where_;
};

}  // namespace clatter
