// Least-norm solutions of singular, unsymmetric systems against Eigen's complete orthogonal decomposition.
#include "solve/least_norm.hpp"

#include <gtest/gtest.h>

#include <Eigen/QR>
#include <random>

namespace clatter {
namespace {

// Random A = B C of every rank below its size, also not square in its range and null space: both methods find the same
// rank and x. Singular values are of order one: the tolerance is rounding times the square of the condition.
TEST(LeastNorm, IsThatOfACompleteOrthogonalDecomposition) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(-1, 1);
  LeastNorm solver;
  solver.reserve(9);
  for (int n = 1; n <= 9; ++n) {
    for (int rank = 0; rank <= n; ++rank) {
      const Mat A = Mat::NullaryExpr(n, rank, [&] { return uniform(random); }) *
                    Mat::NullaryExpr(rank, n, [&] { return uniform(random); });
      const Vec b = Vec::NullaryExpr(n, [&] { return uniform(random); });
      const Eigen::CompleteOrthogonalDecomposition<Mat> reference(A);
      Vec x = b;
      solver.compute(A);
      solver.solve(x);
      EXPECT_EQ(solver.rank(), rank);
      const Vec expected = reference.solve(b);
      EXPECT_LT((x - expected).norm(), 1e-8 * (1 + expected.norm())) << n << " " << rank;
      EXPECT_LT((A.transpose() * (A * x - b)).norm(), 1e-9 * (1 + x.norm())) << "as close as possible";
    }
  }
}

}  // namespace
}  // namespace clatter
