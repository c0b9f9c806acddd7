// The sparse factorization and the eigenvalue method of finite elements, against dense ones and closed forms.
#include "solve/supernodal_ldl.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <numbers>
#include <random>

#include "solve/block_lanczos.hpp"

namespace clatter {
namespace {

using Sparse = Eigen::SparseMatrix<double>;

// Lower triangle of the seven-point Laplacian on n x n x n points with `dofs` coupled freedoms a point.
Sparse laplacian(int n, int dofs, double shift, std::vector<int>* block = nullptr) {
  std::vector<Eigen::Triplet<double>> t;
  const auto index = [&](int i, int j, int k) { return (k * n + j) * n + i; };
  for (int k = 0; k < n; ++k)
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i) {
        const int p = index(i, j, k);
        const auto couple = [&](int q) {
          for (int d = 0; d < dofs; ++d) {
            t.emplace_back(dofs * q + d, dofs * p + d, -1);
            if (d > 0) t.emplace_back(dofs * q + d, dofs * p + d - 1, 0.1);
          }
        };
        for (int d = 0; d < dofs; ++d) {
          t.emplace_back(dofs * p + d, dofs * p + d, 6 - shift + 0.5 * (dofs - 1));
          if (block != nullptr) block->push_back(p);
          if (d > 0) t.emplace_back(dofs * p + d, dofs * p + d - 1, 0.2);
        }
        if (i + 1 < n) couple(index(i + 1, j, k));
        if (j + 1 < n) couple(index(i, j + 1, k));
        if (k + 1 < n) couple(index(i, j, k + 1));
      }
  Sparse A(dofs * n * n * n, dofs * n * n * n);
  A.setFromTriplets(t.begin(), t.end());
  return A;
}

TEST(SupernodalLdl, SolvesWhatADenseFactorizationSolves) {
  std::vector<int> block;
  for (int dofs : {1, 3}) {
    block.clear();
    const Sparse A = laplacian(6, dofs, 0, &block);
    const Eigen::MatrixXd dense = Eigen::MatrixXd(Sparse(A.selfadjointView<Eigen::Lower>()));
    SupernodalLdl f(A, block);
    ASSERT_TRUE(f.factorize(A));
    EXPECT_EQ(f.negative_pivots(), 0);
    Eigen::MatrixXd B = Eigen::MatrixXd::Random(A.rows(), 5), X = B;
    f.solve(X);
    EXPECT_LT((dense * X - B).norm(), 1e-12 * B.norm());
    EXPECT_LT((X - dense.llt().solve(B)).norm(), 1e-12 * X.norm());
  }
}

// Sylvester: negative pivots count the eigenvalues below the shift. Eigenvalues of the Laplacian are
// sum 4 sin^2(pi m/(2 (n + 1))).
TEST(SupernodalLdl, CountsTheEigenvaluesBelowAShift) {
  const int n = 5;
  std::vector<double> exact;
  for (int a = 1; a <= n; ++a)
    for (int b = 1; b <= n; ++b)
      for (int c = 1; c <= n; ++c) {
        const auto s = [&](int m) { return 4 * std::pow(std::sin(std::numbers::pi * m / (2 * (n + 1))), 2); };
        exact.push_back(s(a) + s(b) + s(c));
      }
  for (double shift : {0.5, 1.13, 2.2, 4.4, 7.31}) {
    const Sparse A = laplacian(n, 1, shift);
    SupernodalLdl f(A);
    ASSERT_TRUE(f.factorize(A));
    EXPECT_EQ(f.negative_pivots(), std::count_if(exact.begin(), exact.end(), [&](double e) { return e < shift; }));
  }
}

TEST(SupernodalLdl, NamesTheFreedomWithoutStiffness) {
  Sparse A = laplacian(4, 1, 0);
  // Freedom 21 loses all its stiffness but its own coupling's share: a row of zeros.
  for (int c = 0; c < A.outerSize(); ++c)
    for (Sparse::InnerIterator it(A, c); it; ++it)
      if (it.row() == 21 || c == 21) it.valueRef() = 0;
  SupernodalLdl f(A);
  EXPECT_FALSE(f.factorize(A));
  EXPECT_EQ(f.smallest_pivot_freedom(), 21);
}

// The cube's eigenvalues are threefold and sixfold: blocks of six find all of them, with their multiplicity.
TEST(BlockLanczos, FindsMultipleEigenvaluesOfTheCube) {
  const int n = 9;
  const Sparse A = laplacian(n, 1, 0);
  SupernodalLdl f(A);
  ASSERT_TRUE(f.factorize(A));
  std::vector<double> exact;
  for (int a = 1; a <= n; ++a)
    for (int b = 1; b <= n; ++b)
      for (int c = 1; c <= n; ++c) {
        const auto s = [&](int m) { return 4 * std::pow(std::sin(std::numbers::pi * m / (2 * (n + 1))), 2); };
        exact.push_back(s(a) + s(b) + s(c));
      }
  std::sort(exact.begin(), exact.end());
  // Mass 2 I: eigenvalues halve.
  const ColumnMap inverse = [&](const Eigen::MatrixXd& b) {
    Eigen::MatrixXd x = b;
    f.solve(x);
    return x;
  };
  const ColumnMap mass = [](const Eigen::MatrixXd& x) -> Eigen::MatrixXd { return 2 * x; };
  EigenpairsRequest r;
  r.count = 40;
  const Eigenpairs p = lowest_eigenpairs(static_cast<int>(A.rows()), inverse, mass, r);
  ASSERT_TRUE(p.converged);
  ASSERT_EQ(p.values.size(), 40);
  for (int i = 0; i < 40; ++i) EXPECT_NEAR(p.values[i] / (exact[static_cast<std::size_t>(i)] / 2), 1, 1e-11) << i;
  EXPECT_LT((p.vectors.transpose() * (2 * p.vectors) - Eigen::MatrixXd::Identity(40, 40)).norm(), 1e-11);
  // By a limit instead of a count.
  EigenpairsRequest up;
  up.limit = 0.5 * (exact[19] + exact[20]) / 2;
  if (exact[20] - exact[19] > 1e-6) {
    EXPECT_EQ(lowest_eigenpairs(static_cast<int>(A.rows()), inverse, mass, up).values.size(), 20);
  }
}

TEST(BlockLanczos, ReturnsAllPairsOfASmallProblemAndSaysSo) {
  const Sparse A = laplacian(2, 1, 0);
  const Eigen::MatrixXd dense = Eigen::MatrixXd(Sparse(A.selfadjointView<Eigen::Lower>()));
  EigenpairsRequest r;
  r.count = 50;
  const Eigenpairs p = lowest_eigenpairs(
      8, [&](const Eigen::MatrixXd& b) -> Eigen::MatrixXd { return dense.llt().solve(b); },
      [](const Eigen::MatrixXd& x) { return x; }, r);
  EXPECT_TRUE(p.complete);
  ASSERT_EQ(p.values.size(), 8);
  EXPECT_NEAR(p.values[0], 3, 1e-12);
  EXPECT_NEAR(p.values[7], 9, 1e-12);
}

}  // namespace
}  // namespace clatter
