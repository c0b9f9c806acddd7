// Shortest least-squares solutions, against Eigen's complete orthogonal decomposition.
#include "solve/minimum_norm.hpp"

#include <gtest/gtest.h>

#include <Eigen/QR>
#include <random>

namespace clatter {
namespace {

TEST(MinimumNorm, AgreesWithEigenWhateverTheRank) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> u(-1, 1);
  MinimumNorm solver(9);
  for (int n = 1; n <= 9; ++n)
    for (int rank = 0; rank <= n; ++rank) {
      const auto matrix = [&](int rows, int cols) {
        Mat m(rows, cols);
        for (double& x : m.reshaped()) x = u(random);
        return m;
      };
      const Mat A = matrix(n, rank) * matrix(rank, n);
      Vec b = matrix(n, 1), x = b;
      solver.compute(A, n);
      EXPECT_EQ(solver.rank(), rank);
      solver.solve(x);
      Eigen::CompleteOrthogonalDecomposition<Mat> qr;
      qr.setThreshold(1e-12);
      qr.compute(A);
      const Vec expected = qr.solve(b);
      // Condition numbers of random factors of this size stay below 1e5.
      EXPECT_LT((x - expected).norm(), 1e-9 * (1 + expected.norm())) << n << " " << rank;
    }
}

TEST(MinimumNorm, SharesALoadEquallyBetweenEqualRows) {
  MinimumNorm solver;
  const Mat A = Mat::Ones(3, 3);
  Vec x = Vec::Constant(3, 6);
  solver.compute(A, 3);
  solver.solve(x);
  EXPECT_EQ(solver.rank(), 1);
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(x[i], 2, 1e-14);
}

}  // namespace
}  // namespace clatter
