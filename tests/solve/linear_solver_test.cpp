#include "solve/linear_solver.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "solve/random_matrices.hpp"

namespace clatter {
namespace {

using Complex = std::complex<double>;
template <class Scalar>
using MatrixOf = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;
template <class Scalar>
using VectorOf = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;

// |b - A x| relative to |A||x| + |b|, row by row: the componentwise backward error (Oettli and Prager 1964).
template <class Scalar>
double backward_error(const SparseMatrix<Scalar>& A, const std::vector<Scalar>& x, const std::vector<Scalar>& b) {
  std::vector<Scalar> Ax(b.size());
  std::vector<double> size(b.size(), 0.0);
  A.multiply(x.data(), Ax.data());
  const Pattern& p = A.pattern();
  for (int j = 0; j < A.cols(); ++j) {
    for (int k = p.col_start()[j]; k < p.col_start()[j + 1]; ++k) {
      size[p.row_index()[k]] += std::abs(A.values()[k]) * std::abs(x[j]);
    }
  }
  double worst = 0;
  for (size_t i = 0; i < b.size(); ++i) {
    worst = std::max(worst, std::abs(b[i] - Ax[i]) / (size[i] + std::abs(b[i]) + 1e-300));
  }
  return worst;
}

template <class Scalar>
class AnyScalar : public testing::Test {};
using Scalars = testing::Types<double, Complex>;
TYPED_TEST_SUITE(AnyScalar, Scalars);

// Backward stability: the residual is a modest multiple of n eps = 2e-14 for n = 100, whatever the condition.
TYPED_TEST(AnyScalar, SolvesRandomSystemsOfEverySizeByBothPaths) {
  for (int n : {1, 2, 3, 4, 5, 7, 8, 15, 33, 60, 101}) {
    const auto A = test::to_sparse<TypeParam>(test::random_matrix<TypeParam>(n, n, 7 + n));
    const auto b = test::random_matrix<TypeParam>(n, 1, 1000 + n);
    for (LinearMethod method : {LinearMethod::dense, LinearMethod::sparse}) {
      LinearSolver<TypeParam> solver(A.pattern_ptr(), method);
      solver.factorize(A);
      ASSERT_FALSE(solver.singular()) << n;
      std::vector<TypeParam> x(b.data(), b.data() + n);
      solver.solve(x.data());
      EXPECT_LT(backward_error(A, x, std::vector<TypeParam>(b.data(), b.data() + n)), 1e-13) << n;
      std::copy(b.data(), b.data() + n, x.begin());
      solver.solve_refined(A, x.data());
      // One refinement step brings the componentwise backward error to a few units of rounding (Skeel 1980).
      EXPECT_LT(backward_error(A, x, std::vector<TypeParam>(b.data(), b.data() + n)), 3e-15) << n;
    }
  }
}

TYPED_TEST(AnyScalar, DenseAndSparsePathsAgreeOnAChainWithZeroDiagonalBlocks) {
  const auto A = test::chain_saddle<TypeParam>(9, 5);
  LinearSolver<TypeParam> dense(A.pattern_ptr(), LinearMethod::dense), sparse(A.pattern_ptr(), LinearMethod::sparse);
  dense.factorize(A);
  sparse.factorize(A);
  std::vector<TypeParam> x(A.cols(), TypeParam(1)), y = x;
  dense.solve(x.data());
  sparse.solve(y.data());
  // The condition of this matrix is below 1e4; both have n eps times that.
  for (int i = 0; i < A.cols(); ++i) EXPECT_LT(std::abs(x[i] - y[i]), 1e-10);
}

TEST(LinearSolver, TakesADenseMatrixAsItStands) {
  const int n = 13;
  const MatrixOf<double> A = test::random_matrix<double>(n, n, 3);
  LinearSolver<double> solver(dense_pattern(n, n), LinearMethod::dense);
  solver.factorize_dense(A.data(), n);
  const VectorOf<double> expected = VectorOf<double>::LinSpaced(n, -1, 1);
  VectorOf<double> x = A * expected;
  solver.solve(x.data());
  EXPECT_LT((x - expected).norm(), 1e-11);
  LinearSolver<double> sparse(dense_pattern(n, n), LinearMethod::sparse);
  EXPECT_THROW(sparse.factorize_dense(A.data(), n), std::logic_error);
}

// (A + iB)(u + iv) = f + ig is the real system [A -B; B A](u, v) = (f, g).
TEST(LinearSolver, ComplexSolutionIsThatOfTheRealEmbedding) {
  const int n = 21;
  const MatrixOf<Complex> C = test::random_matrix<Complex>(n, n, 11);
  MatrixOf<double> R(2 * n, 2 * n);
  R << C.real(), -C.imag(), C.imag(), C.real();
  const auto c = test::random_matrix<Complex>(n, 1, 12);
  for (LinearMethod method : {LinearMethod::dense, LinearMethod::sparse}) {
    LinearSolver<Complex> complex(dense_pattern(n, n), method);
    LinearSolver<double> real(dense_pattern(2 * n, 2 * n), method);
    complex.factorize(test::to_sparse<Complex>(C));
    real.factorize(test::to_sparse<double>(R));
    VectorOf<Complex> z = c;
    VectorOf<double> r(2 * n);
    r << c.real(), c.imag();
    complex.solve(z.data());
    real.solve(r.data());
    EXPECT_LT((z.real() - r.head(n)).norm() + (z.imag() - r.tail(n)).norm(), 1e-11 * r.norm());
  }
}

// Rows and columns multiplied by 10^(-12 .. 12): the solution of the unscaled system with its unknowns rescaled, to
// nearly the same digits, because power-of-two equilibration restores the original up to factors of two.
TYPED_TEST(AnyScalar, LosesNoDigitsToRowsAndColumnsOfVeryDifferentSize) {
  const int n = 40;
  const MatrixOf<TypeParam> A = test::random_matrix<TypeParam>(n, n, 21);
  const auto exponents = test::random_matrix<double>(n, 2, 22);
  const VectorOf<TypeParam> expected = test::random_matrix<TypeParam>(n, 1, 23);
  Eigen::VectorXd row(n), col(n);
  for (int i = 0; i < n; ++i) {
    row[i] = std::pow(10.0, std::clamp(6 * exponents(i, 0), -12.0, 12.0));
    col[i] = std::pow(10.0, std::clamp(6 * exponents(i, 1), -12.0, 12.0));
  }
  const MatrixOf<TypeParam> B = row.asDiagonal() * A * col.asDiagonal();
  const VectorOf<TypeParam> b = row.asDiagonal() * (A * expected);
  for (LinearMethod method : {LinearMethod::dense, LinearMethod::sparse}) {
    LinearSolver<TypeParam> solver(dense_pattern(n, n), method);
    solver.factorize(test::to_sparse<TypeParam>(B));
    ASSERT_FALSE(solver.singular());
    EXPECT_GT(solver.rcond(), 1e-5);
    VectorOf<TypeParam> x = b;
    solver.solve(x.data());
    for (int i = 0; i < n; ++i) EXPECT_LT(std::abs(x[i] * col[i] - expected[i]), 1e-11);
  }
}

TYPED_TEST(AnyScalar, ReportsASingularMatrixAndTheUnknownInsteadOfNumbers) {
  const int n = 30;
  MatrixOf<TypeParam> A = test::random_matrix<TypeParam>(n, n, 31);
  A.col(17) = A.col(3) - TypeParam(2) * A.col(8);
  for (LinearMethod method : {LinearMethod::dense, LinearMethod::sparse}) {
    LinearSolver<TypeParam> solver(dense_pattern(n, n), method);
    solver.factorize(test::to_sparse<TypeParam>(A));
    EXPECT_TRUE(solver.singular());
    EXPECT_EQ(solver.rcond(), 0);
    // One of the three columns that depend on each other.
    EXPECT_TRUE(solver.weakest_unknown() == 17 || solver.weakest_unknown() == 3 || solver.weakest_unknown() == 8)
        << solver.weakest_unknown();
    std::vector<TypeParam> b(n, TypeParam(1));
    EXPECT_THROW(solver.solve(b.data()), SingularMatrix);

    A.col(17) += VectorOf<TypeParam>::Ones(n);
    solver.factorize(test::to_sparse<TypeParam>(A));
    EXPECT_FALSE(solver.singular()) << "a solver must recover when the matrix does";
    A.col(17) -= VectorOf<TypeParam>::Ones(n);
  }
}

TYPED_TEST(AnyScalar, ReportsEmptyRowsAndNonFiniteEntriesAsSingular) {
  for (LinearMethod method : {LinearMethod::dense, LinearMethod::sparse}) {
    for (double bad : {0.0, std::nan(""), HUGE_VAL}) {
      MatrixOf<TypeParam> A = MatrixOf<TypeParam>::Identity(20, 20);
      A(6, 6) = bad;
      LinearSolver<TypeParam> solver(dense_pattern(20, 20), method);
      solver.factorize(test::to_sparse<TypeParam>(A));
      EXPECT_TRUE(solver.singular());
      EXPECT_EQ(solver.weakest_unknown(), bad == 0.0 ? 6 : -1);
      std::vector<TypeParam> b(20, TypeParam(1));
      EXPECT_THROW(solver.solve(b.data()), SingularMatrix);
    }
  }
}

TEST(LinearSolver, ReportsAPatternThatCanOnlyBeSingular) {
  PatternBuilder builder(30, 30);
  for (int j = 0; j < 30; ++j) builder.add(j, j == 5 ? 4 : j);
  SparseMatrix<double> A(builder.build());
  for (double& a : A.values()) a = 1;
  LinearSolver<double> solver(A.pattern_ptr(), LinearMethod::sparse);
  solver.factorize(A);
  EXPECT_TRUE(solver.singular());
}

// A diagonal that was large when the row exchanges were chosen vanishes: kept exchanges would divide by 1e-14 of the
// column.
TEST(LinearSolver, ChoosesNewRowExchangesWhenTheOldOnesLetEntriesGrow) {
  auto A = test::chain_saddle<double>(20, 41);
  for (int j = 0; j < A.cols(); ++j) {
    if (j % 11 < 6) A.add(j, j, 50.0);
  }
  SparseLu<double> lu(A.pattern_ptr());
  lu.factorize(A);
  lu.factorize(A);
  EXPECT_EQ(lu.pivot_searches(), 1);
  for (int j = 0; j < A.cols(); ++j) {
    if (j % 11 < 6) A.values()[A.slot(j, j)] = 1e-14;
    for (int i = 0; i < 6 && j % 11 < 6; ++i) {
      if (i != j % 11) A.values()[A.slot(j / 11 * 11 + i, j)] = 0.3 * std::sin(i + 7.0 * j);
    }
  }
  lu.factorize(A);
  EXPECT_EQ(lu.pivot_searches(), 2);
  std::vector<double> x(A.cols(), 1.0);
  lu.solve(x.data());
  EXPECT_LT(backward_error(A, x, std::vector<double>(A.cols(), 1.0)), 1e-12);
}

TEST(LinearSolver, RepeatsTheDigitsOfAFreshSolverAfterForgetting) {
  auto A = test::chain_saddle<double>(20, 51);
  LinearSolver<double> used(A.pattern_ptr(), LinearMethod::sparse), fresh(A.pattern_ptr(), LinearMethod::sparse);
  used.factorize(A);
  std::mt19937 random(52);
  for (double& a : A.values()) a *= 1 + test::random_scalar<double>(random);
  used.forget();
  used.factorize(A);
  fresh.factorize(A);
  std::vector<double> x(A.cols(), 1.0), y = x;
  used.solve(x.data());
  fresh.solve(y.data());
  EXPECT_EQ(x, y);
}

TEST(LinearSolver, ChoosesDenseForFewUnknownsAndSparseForLongChains) {
  EXPECT_TRUE(LinearSolver<double>(test::chain_saddle<double>(2, 1).pattern_ptr()).is_dense());
  EXPECT_TRUE(LinearSolver<double>(dense_pattern(100, 100)).is_dense());
  EXPECT_FALSE(LinearSolver<double>(test::chain_saddle<double>(30, 1).pattern_ptr()).is_dense());
  EXPECT_FALSE(LinearSolver<Complex>(test::chain_saddle<Complex>(30, 1).pattern_ptr()).is_dense());
}

TEST(LinearSolver, AcceptsASystemWithoutUnknowns) {
  SparseMatrix<double> A(dense_pattern(0, 0));
  LinearSolver<double> solver(A.pattern_ptr());
  solver.factorize(A);
  EXPECT_NO_THROW(solver.solve(nullptr));
}

TEST(LinearSolver, RefusesMatricesThatAreNotSquareOrNotOfItsPattern) {
  EXPECT_THROW(LinearSolver<double>(dense_pattern(3, 4)), std::invalid_argument);
  LinearSolver<double> solver(dense_pattern(4, 4));
  EXPECT_THROW(solver.factorize(SparseMatrix<double>(dense_pattern(5, 5))), std::invalid_argument);
}

}  // namespace
}  // namespace clatter
