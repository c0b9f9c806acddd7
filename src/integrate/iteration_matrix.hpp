// Puts the blocks of a Tangents into one iteration matrix, optionally times a block-diagonal matrix P from the right:
//
//   X <- X + factor diag(w) A P,     P = p 1 on vector coordinates, a full 3 x 3 block on each rotation block
//
// The places of all entries are looked up once.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "solve/sparsity.hpp"

namespace clatter {

// For each velocity index the rotation block it lies in and its place there; block -1 for vector coordinates.
struct RotationIndex {
  std::vector<int> block, first;
  RotationIndex(int nv, std::span<const int> rotation_blocks);
};

template <class Scalar>
struct BlockDiagonal {
  Scalar p = 1;                                              // on vector coordinates
  std::vector<std::array<std::array<Scalar, 3>, 3>> blocks;  // [block][row][col]
};

class BlockMap {
 public:
  BlockMap() = default;
  // Declares the entries of A P at (row0, col0), or those of A^T with `transposed` (then P is not available).
  static void declare(PatternBuilder& builder, const Pattern& A, int row0, int col0, const RotationIndex* rotations,
                      bool transposed = false);
  BlockMap(const Pattern& whole, const Pattern& A, int row0, int col0, const RotationIndex* rotations,
           bool transposed = false);

  // w: one weight a row of A, null for ones.
  template <class Scalar>
  void add(std::span<Scalar> whole, const SparseMatrix<double>& A, Scalar factor, const double* w = nullptr) const {
    const std::span<const double> values = A.values();
    for (std::size_t k = 0; k < direct_.size(); ++k) {
      whole[static_cast<std::size_t>(direct_[k])] += factor * (w ? w[row_[k]] * values[k] : values[k]);
    }
  }
  template <class Scalar>
  void add_turned(std::span<Scalar> whole, const SparseMatrix<double>& A, const BlockDiagonal<Scalar>& P, Scalar factor,
                  const double* w = nullptr) const {
    const std::span<const double> values = A.values();
    for (std::size_t k = 0; k < direct_.size(); ++k) {
      const Scalar x = factor * (w ? w[row_[k]] * values[k] : values[k]);
      if (block_[k] < 0) {
        whole[static_cast<std::size_t>(direct_[k])] += x * P.p;
      } else {
        const auto& row = P.blocks[static_cast<std::size_t>(block_[k])][static_cast<std::size_t>(place_[k])];
        for (std::size_t c = 0; c < 3; ++c) whole[static_cast<std::size_t>(turned_[k][c])] += x * row[c];
      }
    }
  }

 private:
  std::vector<int> direct_, row_, block_, place_;
  std::vector<std::array<int, 3>> turned_;
};

}  // namespace clatter
