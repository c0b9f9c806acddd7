// Symmetric elimination by blocks, against dense elimination of the same matrix.
#include "solve/block_cholesky.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <random>

#include "base/math.hpp"

namespace clatter {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// 1 + stiff B B^T over random pairs of block rows of sizes 0 to 6, as contacts between bodies give it; `parts`: groups
// of rows that are coupled among themselves only.
struct Example {
  std::vector<int> sizes, first;
  std::vector<std::pair<int, int>> pairs;
  Mat A;
  Example(int rows, int couplings, int parts, double stiff, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> u(-1, 1);
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    int n = 0;
    for (int i = 0; i < rows; ++i) {
      sizes.push_back(below(7));
      first.push_back(n);
      n += sizes.back();
    }
    A = Mat::Identity(n, n);
    for (int k = 0; k < couplings; ++k) {
      const int i = below(rows), j = i % parts + parts * below(rows / parts);
      if (i == j) continue;
      pairs.emplace_back(std::min(i, j), std::max(i, j));
      Vec w = Vec::Zero(n);
      for (const int b : {i, j})
        for (int c = 0; c < sizes[at(b)]; ++c) w[first[at(b)] + c] = u(random);
      A += stiff * w * w.transpose();
    }
    std::sort(pairs.begin(), pairs.end());
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  }

  void put(BlockCholesky& matrix) const {
    const auto block = [&](int i, int j) {
      if (!matrix.after(i, j) && i != j) std::swap(i, j);
      int stride;
      double* values = matrix.block(i, j, stride);
      for (int c = 0; c < sizes[at(j)]; ++c)
        for (int r = 0; r < sizes[at(i)]; ++r) values[c * stride + r] += A(first[at(i)] + r, first[at(j)] + c);
    };
    for (int k = 0; k < matrix.islands(); ++k) matrix.set_zero(k);
    for (int i = 0; i < static_cast<int>(sizes.size()); ++i) block(i, i);
    for (const auto& [i, j] : pairs) block(i, j);
  }
};

// Largest difference to dense elimination, all islands; -1: a pivot failed.
double error_of(BlockCholesky& matrix, const Example& e, unsigned seed) {
  matrix.analyse(e.sizes, e.pairs);
  e.put(matrix);
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> u(-1, 1);
  Vec b(e.A.rows());
  for (double& x : b) x = u(random);
  const Vec expected = e.A.llt().solve(b);
  Vec x(matrix.unknowns());
  const auto each = [&](const auto& visit) {
    for (int i = 0; i < static_cast<int>(e.sizes.size()); ++i)
      for (int c = 0; c < e.sizes[at(i)]; ++c) visit(e.first[at(i)] + c, matrix.first(i) + c);
  };
  each([&](Eigen::Index from, Eigen::Index to) { x[to] = b[from]; });
  for (int k = 0; k < matrix.islands(); ++k) {
    if (!matrix.factorize(k)) return -1;
    matrix.solve(k, x.data());
  }
  double most = 0;
  each([&](Eigen::Index from, Eigen::Index to) { most = std::max(most, std::abs(x[to] - expected[from])); });
  return most;
}

TEST(BlockCholesky, SolvesWhatDenseEliminationSolves) {
  // Tolerance: rounding times the condition of the matrices, up to 1e2 and 1e6 times their size.
  BlockCholesky matrix;
  for (unsigned seed = 1; seed <= 12; ++seed) {
    const int rows = 1 + static_cast<int>(seed * seed);
    const double error = error_of(matrix, Example(rows, 3 * rows, 1, 10, seed), seed);
    EXPECT_GE(error, 0) << seed;
    EXPECT_LT(error, 1e-12) << seed;
  }
  const double stiff = error_of(matrix, Example(200, 700, 1, 1e6, 3), 3);
  EXPECT_GE(stiff, 0);
  EXPECT_LT(stiff, 1e-8);
}

TEST(BlockCholesky, PanelsWiderThanATileAreRight) {
  // Nearly everything is coupled with everything: one supernode of some 500 columns.
  BlockCholesky matrix;
  const double error = error_of(matrix, Example(160, 9000, 1, 1, 5), 5);
  EXPECT_GE(error, 0);
  EXPECT_LT(error, 1e-11);
}

TEST(BlockCholesky, IslandsAreRangesThatAreSolvedAlone) {
  const Example e(90, 600, 3, 10, 4);
  BlockCholesky matrix;
  matrix.analyse(e.sizes, e.pairs);
  ASSERT_EQ(matrix.islands(), 3);
  for (int i = 0; i < 90; ++i) {
    EXPECT_EQ(matrix.island_of(i), matrix.island_of(i % 3));
    const auto [first, end] = matrix.unknowns_of(matrix.island_of(i));
    EXPECT_GE(matrix.first(i), first);
    EXPECT_LE(matrix.first(i) + e.sizes[at(i)], end);
  }
  for (int k = 0; k < 3; ++k) EXPECT_EQ(matrix.rows_of(k).size(), 30);
  EXPECT_LT(error_of(matrix, e, 4), 1e-12);
  // One alone leaves the others' unknowns as they are.
  Vec x = Vec::Ones(matrix.unknowns());
  e.put(matrix);
  ASSERT_TRUE(matrix.factorize(1));
  matrix.solve(1, x.data());
  const auto [first, end] = matrix.unknowns_of(1);
  for (int i = 0; i < matrix.unknowns(); ++i)
    if (i < first || i >= end) {
      EXPECT_EQ(x[i], 1);
    }
}

TEST(BlockCholesky, OrderIsAMatterOfThePattern) {
  // The same pattern after another one: the same bits.
  const Example a(60, 150, 1, 10, 1), b(80, 260, 1, 10, 2);
  BlockCholesky fresh, used;
  error_of(used, b, 1);
  error_of(used, a, 1);
  error_of(fresh, a, 1);
  for (int i = 0; i < 60; ++i) EXPECT_EQ(fresh.first(i), used.first(i));
  EXPECT_EQ(fresh.entries(), used.entries());
}

TEST(BlockCholesky, ToldWhereAMatrixIsNotPositive) {
  Example e(20, 60, 1, 10, 7);
  e.A(30, 30) = -1;
  BlockCholesky matrix;
  EXPECT_EQ(error_of(matrix, e, 7), -1);
}

}  // namespace
}  // namespace clatter
