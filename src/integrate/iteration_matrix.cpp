#include "integrate/iteration_matrix.hpp"

namespace clatter {

RotationIndex::RotationIndex(int nv, std::span<const int> rotation_blocks)
    : block(static_cast<std::size_t>(nv), -1), first(static_cast<std::size_t>(nv), -1) {
  int k = 0;
  for (const int start : rotation_blocks) {
    for (int i = start; i < start + 3; ++i) {
      block[static_cast<std::size_t>(i)] = k;
      first[static_cast<std::size_t>(i)] = start;
    }
    ++k;
  }
}

void BlockMap::declare(PatternBuilder& builder, const Pattern& A, int row0, int col0, const RotationIndex* rotations,
                       bool transposed) {
  for (int j = 0; j < A.cols(); ++j) {
    const bool turned = rotations && rotations->block[static_cast<std::size_t>(j)] >= 0;
    for (int k = A.col_start()[static_cast<std::size_t>(j)]; k < A.col_start()[static_cast<std::size_t>(j) + 1]; ++k) {
      const int i = A.row_index()[static_cast<std::size_t>(k)];
      if (transposed) {
        builder.add(row0 + j, col0 + i);
      } else if (turned) {
        for (int c = 0; c < 3; ++c) builder.add(row0 + i, col0 + rotations->first[static_cast<std::size_t>(j)] + c);
      } else {
        builder.add(row0 + i, col0 + j);
      }
    }
  }
}

BlockMap::BlockMap(const Pattern& whole, const Pattern& A, int row0, int col0, const RotationIndex* rotations,
                   bool transposed) {
  const std::size_t count = static_cast<std::size_t>(A.nonzeros());
  direct_.resize(count);
  row_.resize(count);
  block_.assign(count, -1);
  place_.assign(count, 0);
  turned_.assign(count, {-1, -1, -1});
  for (int j = 0; j < A.cols(); ++j) {
    const std::size_t col = static_cast<std::size_t>(j);
    for (int k = A.col_start()[col]; k < A.col_start()[col + 1]; ++k) {
      const std::size_t slot = static_cast<std::size_t>(k);
      const int i = A.row_index()[slot];
      row_[slot] = i;
      direct_[slot] = transposed ? whole.slot(row0 + j, col0 + i) : whole.slot(row0 + i, col0 + j);
      if (transposed || !rotations || rotations->block[col] < 0) continue;
      block_[slot] = rotations->block[col];
      place_[slot] = j - rotations->first[col];
      for (int c = 0; c < 3; ++c) {
        turned_[slot][static_cast<std::size_t>(c)] = whole.slot(row0 + i, col0 + rotations->first[col] + c);
      }
    }
  }
}

}  // namespace clatter
