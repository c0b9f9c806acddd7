// P A P^T = L L^T of sparse symmetric positive definite matrices made of blocks whose pattern changes from one problem
// to the next (bodies that touch each other now).
//
//   P   approximate minimum degree (Amestoy, Davis, Duff 1996) over the graph of blocks, then a postorder of the
//       elimination tree: what hangs together is one range of unknowns, an island, factored and solved by itself
//   L   in supernodes: neighbouring block columns of like structure, merged further where few zeros are stored; each is
//       a dense panel, which is eliminated and then subtracted from the panels of its ancestors
//
// Unknowns stand in the order of elimination: first(i) tells where those of block row i begin. The order is a function
// of the pattern alone. Arrays grow to their largest size and stay: no memory is taken once it is reached, in whatever
// order patterns come.
#pragma once

#include <Eigen/Core>
#include <span>
#include <utility>
#include <vector>

namespace clatter {

class BlockCholesky {
 public:
  // Block rows of these sizes; pairs (i, j), i < j, of those that are coupled, ascending, each once. Does nothing where
  // both are as they were.
  void analyse(std::span<const int> sizes, std::span<const std::pair<int, int>> coupled);

  int rows() const { return static_cast<int>(size_.size()); }
  int unknowns() const { return unknowns_; }
  int first(int i) const { return first_[at(position_[at(i)])]; }
  int size(int i) const { return size_[at(i)]; }
  bool after(int i, int j) const { return position_[at(i)] > position_[at(j)]; }  // eliminated later
  long entries() const { return entries_; }
  double operations() const { return operations_; }  // multiplications of a factorisation of all islands

  int islands() const { return static_cast<int>(islands_.size()); }
  int island_of(int i) const { return island_of_[at(position_[at(i)])]; }
  std::pair<int, int> unknowns_of(int island) const;  // first, and behind the last
  std::span<const int> rows_of(int island) const;

  // Values to be factored next: zero, then blocks (i, j) with j eliminated no later than i are added to, column by
  // column, `stride` apart. Of diagonal blocks only the lower triangle counts.
  void set_zero(int island);
  double* block(int i, int j, int& stride);
  // False where a pivot is not positive: not a positive definite matrix.
  bool factorize(int island);
  // x <- A^-1 x for the unknowns of the island.
  void solve(int island, double* x);

 private:
  struct Supernode {
    int begin, end;        // block columns, by place in the order
    int first, width;      // of its unknowns
    int below, below_end;  // of rows_: blocks below
    int height;            // width and the unknowns of those below
    std::size_t values;    // of its panel, `height` apart
  };
  struct Island {
    int begin, end;  // supernodes
  };
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  void order();
  void number();      // postorder of the elimination tree
  void structures();  // of the columns of L
  void gather_supernodes();
  bool eliminate(double* panel, int height, int width);
  void pass_on(const Supernode& s);

  std::vector<int> size_;
  std::vector<std::pair<int, int>> coupled_;
  int unknowns_ = 0;
  long entries_ = 0;
  double operations_ = 0;
  std::vector<int> order_, position_;  // block row order_[k] is eliminated at place k
  std::vector<int> first_;             // by place
  std::vector<int> start_, adjacent_;  // graph, by block row
  std::vector<int> parent_, ancestor_, child_, sibling_, stack_, mark_;
  std::vector<int> below_begin_, below_;  // structure of the columns of L, by place
  std::vector<Supernode> supernodes_;
  std::vector<int> supernode_of_;       // by place
  std::vector<int> rows_, row_offset_;  // blocks below supernodes: place, first row in the panel
  std::vector<Island> islands_;
  std::vector<int> island_of_;
  std::vector<int> zeros_;
  std::vector<int> amd_[9];
  // Aligned: Eigen divides loops by the addresses of what they write, so that small products elsewhere in memory would
  // be rounded in another way.
  using Aligned = std::vector<double, Eigen::aligned_allocator<double>>;
  Aligned values_, work_, part_;
  std::vector<int> target_;
};

}  // namespace clatter
