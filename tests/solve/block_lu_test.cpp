// Elimination by blocks, against dense elimination of the same matrix.
#include "solve/block_lu.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <random>

#include "base/math.hpp"

namespace clatter {
namespace {

// 1 + B B^T over random pairs of block rows of sizes 1 to 6, as contacts between bodies give it, not symmetric.
struct Example {
  std::vector<int> sizes;
  std::vector<std::pair<int, int>> pairs;
  Mat A;
  Example(int rows, int couplings, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> u(-1, 1);
    std::vector<int> first;
    int n = 0;
    for (int i = 0; i < rows; ++i) {
      sizes.push_back(1 + static_cast<int>(random() % 6));
      first.push_back(n);
      n += sizes.back();
    }
    A = Mat::Identity(n, n);
    for (int k = 0; k < couplings; ++k) {
      const int i = static_cast<int>(random() % static_cast<unsigned>(rows)),
                j = static_cast<int>(random() % static_cast<unsigned>(rows));
      if (i == j) continue;
      pairs.emplace_back(i, j);
      Vec w = Vec::Zero(n), x = Vec::Zero(n);
      for (const int b : {i, j})
        for (int c = 0; c < sizes[static_cast<std::size_t>(b)]; ++c) {
          w[first[static_cast<std::size_t>(b)] + c] = u(random);
          x[first[static_cast<std::size_t>(b)] + c] = w[first[static_cast<std::size_t>(b)] + c] + 0.1 * u(random);
        }
      A += 10 * x * w.transpose();
    }
  }
};

void load(const Example& e, BlockLu& lu) {
  lu.begin(e.sizes);
  for (const auto& [i, j] : e.pairs) lu.couple(i, j);
  lu.analyse();
  lu.set_zero();
  for (int i = 0; i < lu.rows(); ++i)
    for (int j = 0; j < lu.rows(); ++j) {
      double* block = lu.block(i, j);
      const int m = e.sizes[static_cast<std::size_t>(i)], n = e.sizes[static_cast<std::size_t>(j)];
      const auto part = e.A.block(lu.first(i), lu.first(j), m, n);
      if (block == nullptr) {
        EXPECT_TRUE(part.isZero(0));
        continue;
      }
      Eigen::Map<Mat>(block, m, n) = part;
    }
}

TEST(BlockLu, SolvesAsDenseEliminationDoes) {
  BlockLu lu;
  for (unsigned seed = 0; seed < 40; ++seed) {
    const int rows = 1 + static_cast<int>(seed);
    const Example e(rows, 3 * rows, seed);
    load(e, lu);
    ASSERT_TRUE(lu.factorize());
    Vec b = Vec::LinSpaced(e.A.rows(), -1, 2), x = b;
    lu.solve(x.data());
    // Residual relative to the terms that cancel in A x.
    EXPECT_LT((e.A * x - b).lpNorm<Eigen::Infinity>(), 1e-11 * (e.A.cwiseAbs() * x.cwiseAbs()).maxCoeff()) << seed;
  }
}

TEST(BlockLu, KeepsTheFillOfAChainLinear) {
  // Any order of elimination from the ends inwards has none beyond the chain's own blocks: 3 n - 2.
  BlockLu lu;
  const std::vector<int> sizes(200, 3);
  lu.begin(sizes);
  for (int i = 0; i + 1 < 200; ++i) lu.couple(i, i + 1);
  lu.analyse();
  EXPECT_EQ(lu.fill(), 9 * (3 * 200 - 2));
}

TEST(BlockLu, SaysWhenADiagonalBlockIsSingular) {
  BlockLu lu;
  const std::vector<int> sizes{2, 1};
  lu.begin(sizes);
  lu.couple(0, 1);
  lu.analyse();
  lu.set_zero();
  *lu.block(1, 1) = 1;
  EXPECT_FALSE(lu.factorize());
}

}  // namespace
}  // namespace clatter
