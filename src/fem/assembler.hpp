// Symmetric sparse matrices from small dense blocks: the pattern is found once from the adjacency of units (nodes with
// their freedoms), then blocks are added in place. Only the lower triangle is kept.
#pragma once

#include <Eigen/SparseCore>
#include <span>
#include <vector>

namespace clatter::fem {

class Assembler {
 public:
  // Unit u holds freedoms first[u] .. first[u] + size[u] - 1, ascending without gaps.
  explicit Assembler(std::vector<int> sizes);
  int first(int unit) const { return first_[static_cast<std::size_t>(unit)]; }
  int freedoms() const { return first_.back(); }

  void connect(std::span<const int> units);  // before `close`
  void close();
  Eigen::SparseMatrix<double> zero() const;
  // Adds value(r, c) for freedoms r of unit a and c of unit b (a != b: the block and, by symmetry, its transpose).
  // `block` is size(a) x size(b), column-major.
  void add(Eigen::SparseMatrix<double>& matrix, int a, int b, const double* block, int stride) const;

 private:
  std::vector<int> size_, first_;
  std::vector<std::vector<int>> neighbours_;  // larger units, ascending
  std::vector<std::vector<int>> offset_;      // rows before each neighbour in a column
  std::vector<int> outer_, inner_;
};

}  // namespace clatter::fem
