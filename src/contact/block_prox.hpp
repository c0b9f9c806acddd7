// Projected Gauss-Seidel on a contact problem whose matrix is stored in small blocks: for hundreds of contacts, of
// which each couples only to those on the same bodies.
//
//   r_i <- proj_K(r_i - y_i / d_i),     y_j += A_ji (change of r_i)  for the contacts j that i couples to
//
// The same law and the same test as solve/prox.hpp: exact Coulomb friction, the natural map relative to the largest
// entry of b decides.
#pragma once

#include <vector>

#include "base/math.hpp"
#include "solve/complementarity.hpp"

namespace clatter::contact {

// Square blocks of three rows a contact; rows beyond a contact's own are empty. Where block (i, j) is, (j, i) is too.
struct BlockMatrix {
  struct Block {
    int column;
    Mat3 A;
  };
  std::vector<Block> blocks;
  std::vector<int> begin;  // blocks of block row i: [begin[i], begin[i + 1])
  int rows() const { return static_cast<int>(begin.size()) - 1; }
};

// Set of one contact: normal r >= 0 (or free for `bilateral`), tangents in the disc of mu r_N, or at -mu r_N d where
// `sliding` gives the direction.
struct BlockCone {
  int tangents = 0;  // 0, 1, 2
  bool bilateral = false, sliding = false;
  double mu = 0;
  double d[2] = {1, 0};
};

class BlockProx {
 public:
  struct Report {
    bool converged = false;
    int sweeps = 0;
    double residual = 0;
  };
  // b and r: three numbers a contact; r is start and result.
  Report solve(const BlockMatrix& A, const std::vector<BlockCone>& cones, const std::vector<Vec3>& b,
               std::vector<Vec3>& r, double tolerance, int max_sweeps);

  // Largest entry of the natural map at r, relative to the largest of b.
  double residual_of(const BlockMatrix& A, const std::vector<BlockCone>& cones, const std::vector<Vec3>& b,
                     const std::vector<Vec3>& r);

 private:
  void diagonals(const BlockMatrix& A, const std::vector<BlockCone>& cones);
  double residual(const BlockMatrix& A, const std::vector<BlockCone>& cones, const std::vector<Vec3>& b,
                  const std::vector<Vec3>& r);

  std::vector<int> mirror_;  // block (i, j) -> block (j, i)
  std::vector<Vec3> y_, best_;
  std::vector<double> normal_, tangent_;  // diagonals
};

}  // namespace clatter::contact
