#include "solve/sparsity.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace clatter {
namespace {

using Entries = std::vector<std::pair<int, int>>;

TEST(Pattern, MergesRepeatedEntriesAndSortsRowsInEachColumn) {
  const Pattern pattern(3, 4, Entries{{2, 1}, {0, 3}, {2, 1}, {0, 1}, {1, 3}, {0, 3}});
  EXPECT_EQ(pattern.nonzeros(), 4);
  EXPECT_EQ(pattern.col_start(), (std::vector<int>{0, 0, 2, 2, 4}));
  EXPECT_EQ(pattern.row_index(), (std::vector<int>{0, 2, 0, 1}));
}

TEST(Pattern, FindsSlotsOfItsEntriesAndNoOthers) {
  PatternBuilder builder(5, 5);
  builder.add_block(std::vector<int>{4, 1}, std::vector<int>{3, 0});
  builder.add_diagonal();
  const PatternPtr pattern = builder.build();
  EXPECT_EQ(pattern->nonzeros(), 9);
  for (int col = 0; col < 5; ++col) {
    for (int row = 0; row < 5; ++row) {
      const bool held = row == col || ((row == 4 || row == 1) && (col == 3 || col == 0));
      const int slot = pattern->slot(row, col);
      ASSERT_EQ(slot >= 0, held) << row << ", " << col;
      if (held) {
        EXPECT_EQ(pattern->row_index()[slot], row);
        EXPECT_GE(slot, pattern->col_start()[col]);
        EXPECT_LT(slot, pattern->col_start()[col + 1]);
      }
    }
  }
  EXPECT_EQ(pattern->slot(5, 0), -1);
  EXPECT_EQ(pattern->slot(0, -1), -1);
}

TEST(Pattern, RefusesEntriesOutsideItsSize) {
  EXPECT_THROW(Pattern(2, 2, Entries{{2, 0}}), std::out_of_range);
  EXPECT_THROW(Pattern(2, 2, Entries{{0, -1}}), std::out_of_range);
}

TEST(Pattern, MayBeEmpty) {
  EXPECT_EQ(Pattern(0, 0, Entries{}).nonzeros(), 0);
  EXPECT_EQ(Pattern(3, 2, Entries{}).col_start(), (std::vector<int>{0, 0, 0}));
}

// The product of [1 0 2; 0 3 0] with (1, 2, 3) is (7, 6); of its transpose with (1, 2), (1, 6, 2).
TEST(SparseMatrix, MultipliesLikeTheMatrixItHolds) {
  SparseMatrix<double> A(std::make_shared<const Pattern>(2, 3, Entries{{0, 0}, {1, 1}, {0, 2}}));
  A.add(0, 0, 1);
  A.add(0, 2, 1.5);
  A.add(0, 2, 0.5);
  A.values()[A.slot(1, 1)] += 3;
  const double x[] = {1, 2, 3};
  double y[2], z[3];
  A.multiply(x, y);
  EXPECT_EQ(y[0], 7);
  EXPECT_EQ(y[1], 6);
  A.multiply_transpose(x, z);
  EXPECT_EQ(z[0], 1);
  EXPECT_EQ(z[1], 6);
  EXPECT_EQ(z[2], 2);
  A.set_zero();
  EXPECT_EQ(A.at(0, 2), 0);
}

TEST(SparseMatrix, RefusesToAddOutsideItsPattern) {
  SparseMatrix<double> A(std::make_shared<const Pattern>(2, 2, Entries{{0, 0}}));
  EXPECT_THROW(A.add(1, 0, 1.0), std::out_of_range);
  EXPECT_EQ(A.at(1, 0), 0);
}

}  // namespace
}  // namespace clatter
