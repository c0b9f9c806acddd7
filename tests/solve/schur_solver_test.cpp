#include "solve/schur_solver.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "solve/random_matrices.hpp"

namespace clatter {
namespace {

using Mat = Eigen::MatrixXd;
using Vec = Eigen::VectorXd;

constexpr SchurMethod kPaths[] = {SchurMethod::dense, SchurMethod::sparse};

TEST(SchurSolver, SolvesIndependentRowsOfEverySizeByBothPaths) {
  for (int n : {1, 2, 3, 4, 5, 8, 15, 17, 33, 60}) {
    const Mat G = test::random_matrix<double>(n, n + 10, 60 + n);
    const Mat S = G * G.transpose();
    const Vec expected = test::random_matrix<double>(n, 1, 61 + n);
    for (SchurMethod path : kPaths) {
      SchurSolver solver(dense_pattern(n, n), path);
      solver.factorize(test::to_sparse<double>(S));
      EXPECT_EQ(solver.deficiency(), 0);
      Vec x = S * expected;
      solver.solve(x.data());
      // Condition numbers up to 2e3 times rounding.
      EXPECT_LT((x - expected).norm(), 1e-12 * expected.norm()) << n;
    }
  }
}

TEST(SchurSolver, ReadsTheLowerTriangleAloneOrTheFullMatrix) {
  const int n = 20;
  const Mat G = test::random_matrix<double>(n, n + 4, 70);
  const Mat S = G * G.transpose();
  PatternBuilder lower(n, n);
  for (int j = 0; j < n; ++j) {
    for (int i = j; i < n; ++i) lower.add(i, j);
  }
  SparseMatrix<double> L(lower.build());
  for (int j = 0; j < n; ++j) {
    for (int i = j; i < n; ++i) L.add(i, j, S(i, j));
  }
  for (SchurMethod path : kPaths) {
    SchurSolver half(L.pattern_ptr(), path), full(dense_pattern(n, n), path);
    half.factorize(L);
    full.factorize(test::to_sparse<double>(S));
    Vec x = Vec::Ones(n), y = x;
    half.solve(x.data());
    full.solve(y.data());
    EXPECT_LT((x - y).norm(), 1e-11 * y.norm());
    EXPECT_LT((S * x - Vec::Ones(n)).norm(), 1e-11);
  }
  PatternBuilder upper(2, 2);
  upper.add(0, 1);
  EXPECT_THROW(SchurSolver(upper.build()), std::invalid_argument);
}

// A body held by redundant constraints: M a + G^T x = f, G a = c. The acceleration is unique although x is not; it is
// compared with the one obtained from an independent set of the same rows.
TEST(SchurSolver, AccelerationsAreUniqueAlthoughRedundantForcesAreNot) {
  const int velocities = 18, independent = 12, rows = 17;
  const Mat base = test::random_matrix<double>(independent, velocities, 80);
  const Mat mix = test::random_matrix<double>(rows - independent, independent, 81);
  Mat G(rows, velocities);
  G << base, mix * base;
  Vec inverse_mass(velocities);
  for (int i = 0; i < velocities; ++i) inverse_mass[i] = std::pow(10.0, -3 + (i % 7));
  const Vec f = test::random_matrix<double>(velocities, 1, 82);
  const Vec wanted = test::random_matrix<double>(velocities, 1, 83);
  const Vec c = G * wanted;

  // Independent rows alone, by an orthogonal factorization of M^(-1/2) G^T.
  const Mat B = inverse_mass.cwiseSqrt().asDiagonal() * base.transpose();
  const Vec w = inverse_mass.cwiseSqrt().cwiseProduct(f);
  const Eigen::HouseholderQR<Mat> qr(B);
  const Mat Q = qr.householderQ() * Mat::Identity(velocities, independent);
  const Mat R = qr.matrixQR().topRows(independent).triangularView<Eigen::Upper>();
  const Vec y = R.transpose().triangularView<Eigen::Lower>().solve(c.head(independent));
  const Vec expected = inverse_mass.cwiseSqrt().cwiseProduct(w - Q * (Q.transpose() * w) + Q * y);

  const Mat S = G * inverse_mass.asDiagonal() * G.transpose();
  const Vec b = G * inverse_mass.cwiseProduct(f) - c;
  for (SchurMethod path : kPaths) {
    SchurSolver solver(dense_pattern(rows, rows), path);
    solver.factorize(test::to_sparse<double>(S));
    EXPECT_EQ(solver.deficiency(), rows - independent);
    Vec x = b;
    solver.solve(x.data());
    const Vec a = inverse_mass.cwiseProduct(f - G.transpose() * x);
    // The inverse masses span six orders: forming S costs about their condition, 1e3, times rounding.
    EXPECT_LT((a - expected).cwiseAbs().maxCoeff(), 1e-9 * expected.cwiseAbs().maxCoeff());
    EXPECT_LT((S * x - b).norm(), 1e-12 * b.norm());
    EXPECT_LT(solver.inconsistency(), 1e-12);
    if (path == SchurMethod::dense) {
      EXPECT_EQ(solver.dependent_rows(), (std::vector<int>{12, 13, 14, 15, 16}));
    }
  }
}

// Three equal constraints carry a third of the load each: the smallest solution of x1 + x2 + x3 = 1 by symmetry.
TEST(SchurSolver, SharesALoadEvenlyBetweenEqualConstraints) {
  Mat S = Mat::Constant(3, 3, 4.0);
  for (SchurMethod path : kPaths) {
    SchurSolver solver(dense_pattern(3, 3), path);
    solver.factorize(test::to_sparse<double>(S));
    EXPECT_EQ(solver.deficiency(), 2);
    Vec x = Vec::Constant(3, 4.0);
    solver.solve(x.data());
    // Null vectors are known to the regularization, 1e-12.
    for (int i = 0; i < 3; ++i) EXPECT_NEAR(x[i], 1.0 / 3, 1e-12);
  }
}

// Two equal rows asked for 1 and 1 + 1e-3: nothing meets both; the even compromise asks each for 1 + 5e-4. The part
// outside the range, (-5e-4, 5e-4), relative to (1, 1.001) is 5.0e-4.
TEST(SchurSolver, CompromisesAndReportsWhenRedundantConstraintsContradict) {
  for (SchurMethod path : kPaths) {
    SchurSolver solver(dense_pattern(2, 2), path);
    solver.factorize(test::to_sparse<double>(Mat::Ones(2, 2)));
    double x[] = {1.0, 1.001};
    solver.solve(x);
    EXPECT_NEAR(x[0] + x[1], 1.0005, 1e-11);
    EXPECT_NEAR(x[0], x[1], 1e-8);
    EXPECT_NEAR(solver.inconsistency(), 5e-4, 1e-6);
  }
}

// Rows at an angle of 1e-4 are independent: S has eigenvalues 2 and 1e-8, and x keeps the digits the condition 2e8
// leaves.
TEST(SchurSolver, TreatsNearlyParallelRowsAsIndependent) {
  const double angle = 1e-4;
  Mat G(2, 2);
  G << 1, 0, std::cos(angle), std::sin(angle);
  const Mat S = G * G.transpose();
  for (SchurMethod path : kPaths) {
    SchurSolver solver(dense_pattern(2, 2), path);
    solver.factorize(test::to_sparse<double>(S));
    EXPECT_EQ(solver.deficiency(), 0);
    const Vec expected = Vec::LinSpaced(2, 1, 2);
    Vec x = S * expected;
    solver.solve(x.data());
    EXPECT_LT((x - expected).norm(), 1e-7);
    EXPECT_LT((S * x - S * expected).norm(), 1e-15);
  }
}

// Near a singular position the force grows without bound; whatever the angle, the residual stays at rounding or the row
// is declared redundant, and nothing is NaN.
TEST(SchurSolver, PassesThroughASingularPositionWithoutBreakdown) {
  for (int e = 0; e <= 20; ++e) {
    const double angle = std::pow(10.0, -e);
    Mat G(3, 3);
    G << 1, 0, 0, std::cos(angle), std::sin(angle), 0, 0, 0.5, 1;
    const Mat S = G * G.transpose();
    const Vec b = G * Vec::Ones(3);
    for (SchurMethod path : kPaths) {
      SchurSolver solver(dense_pattern(3, 3), path);
      solver.factorize(test::to_sparse<double>(S));
      Vec x = b;
      solver.solve(x.data());
      ASSERT_TRUE(x.allFinite());
      // A row dropped at an angle below 1e-6 leaves an error of that angle.
      EXPECT_LT((S * x - b).norm(), e >= 6 ? 2e-6 : 1e-11) << angle;
    }
  }
}

// Redundant joints assembled with an error of 1e-8 and right-hand sides that disagree by as much: the acceleration must
// stay within that error of the one without the redundant rows, not be amplified by 1e8.
TEST(SchurSolver, ToleratesRedundantRowsThatAgreeOnlyToTheAccuracyOfTheAssembly) {
  const int independent = 10, rows = 13, velocities = 16;
  const Mat base = test::random_matrix<double>(independent, velocities, 85);
  Mat G(rows, velocities);
  G << base, test::random_matrix<double>(rows - independent, independent, 86) * base;
  G += 1e-8 * test::random_matrix<double>(rows, velocities, 87);
  const Vec exact = test::random_matrix<double>(velocities, 1, 88);
  const Vec b = G * exact + 1e-8 * test::random_matrix<double>(rows, 1, 89);
  const Mat S = G * G.transpose();
  const Vec expected = base.transpose() * (base * base.transpose()).ldlt().solve(base * exact);
  for (SchurMethod path : kPaths) {
    SchurSolver solver(dense_pattern(rows, rows), path);
    solver.factorize(test::to_sparse<double>(S));
    EXPECT_EQ(solver.deficiency(), rows - independent);
    Vec x = b;
    solver.solve(x.data());
    EXPECT_LT((G.transpose() * x - expected).norm(), 1e-6)
        << "errors of 1e-8, 48 entries, condition of the rows below 50";
    EXPECT_LT(x.norm(), 10 * exact.norm());
  }
}

// Rows 0 and 1 at an angle of 1e-4 and row 2 between them and the rest of a plane: in the order of declaration row 1
// has a pivot of 1e-8 and row 2 none; with row 2 before row 1 all that is kept is well conditioned. The accelerations
// X lambda then carry rounding, 1e-15, instead of rounding amplified by 1e4 (and the load shared evenly by 1e8).
// Blocks of other rows make the matrix sparse, at places before and after.
TEST(SchurSolver, ReordersRowsWhenAnotherChoiceIsBetterConditioned) {
  const double angle = 1e-4;
  const int blocks = 30, n = 3 * blocks;
  Mat G = Mat::Zero(n, 4 * blocks);
  for (int k = 0; k < blocks; ++k) {
    if (k % 10 == 4) {
      G.block<1, 2>(3 * k, 4 * k) << 1, 0;
      G.block<1, 2>(3 * k + 1, 4 * k) << std::cos(angle), std::sin(angle);
      G.block<1, 2>(3 * k + 2, 4 * k) << 0.6, 0.8;
    } else {
      G.block<3, 4>(3 * k, 4 * k) = test::random_matrix<double>(3, 4, 100 + k);
    }
    // Neighbours share a velocity no other row of the plane has.
    if (k > 0) G(3 * k, 4 * k - 1) = 0.5;
  }
  for (int k = 4; k < blocks; k += 10) G(3 * k, 4 * k - 1) = 0;
  const Mat S = G * G.transpose();
  PatternBuilder builder(n, n);
  for (int j = 0; j < n; ++j) {
    for (int i = j; i < n; ++i) {
      if (S(i, j) != 0 || i == j) builder.add(i, j);
    }
  }
  SparseMatrix<double> sparse(builder.build());
  for (int j = 0; j < n; ++j) {
    for (int i = j; i < n; ++i) {
      if (S(i, j) != 0) sparse.add(i, j, S(i, j));
    }
  }
  const Vec exact = test::random_matrix<double>(4 * blocks, 1, 140);
  const Vec b = G * exact;
  // The nearest velocities with the same G v, from the singular values.
  const Vec expected = G.jacobiSvd(Eigen::ComputeThinU | Eigen::ComputeThinV).setThreshold(1e-9).solve(b);
  for (SchurMethod path : kPaths) {
    SchurSolver solver(sparse.pattern_ptr(), path);
    ASSERT_EQ(solver.is_dense(), path == SchurMethod::dense);
    solver.factorize(sparse);
    EXPECT_EQ(solver.deficiency(), 3);
    for (const int row : solver.dependent_rows()) EXPECT_NE(row % 3, 2) << "row 2 of a plane is the one to keep";
    // No pivot is small but for the redundant rows': the least sine squared kept is of the random blocks.
    Vec x = b;
    solver.solve(x.data());
    EXPECT_LT((G.transpose() * x - expected).norm(), 1e-11 * expected.norm());
    EXPECT_LT((S * x - b).norm(), 1e-12 * b.norm());
    // The same matrix again, after another: the order follows from the matrix alone, so that not a bit differs.
    SparseMatrix<double> other = sparse;
    for (double& value : other.values()) value *= 0.5;
    other.add(0, 0, 1.0);
    solver.factorize(other);
    solver.factorize(sparse);
    Vec y = b;
    solver.solve(y.data());
    EXPECT_EQ((x - y).norm(), 0);
  }
}

// Rows 0 and 1 come together as t goes through zero, row 2 is their sum: redundant always. Without row 4 a rank is then
// lost; row 4 stands in for the one that becomes weak.
TEST(SchurSolver, TellsARankThatIsLostFromRedundantRows) {
  for (const bool stand_in : {false, true})
    for (const SchurMethod path : kPaths) {
      const int n = stand_in ? 5 : 4;
      std::vector<double> sine;
      for (const double t : {4e-3, 2e-3, 1e-3, -1e-3}) {
        Mat G = Mat::Zero(n, 3);
        G.row(0) << 1, 0, 0;
        G.row(1) << std::cos(t), std::sin(t), 0;
        G.row(2) = G.row(0) + G.row(1);
        G.row(3) << 0, 0, 2;
        if (stand_in) G.row(4) << 0, 1, 0;
        SchurSolver solver(dense_pattern(n, n), path);
        solver.factorize(test::to_sparse<double>(Mat(G * G.transpose())));
        EXPECT_EQ(solver.deficiency(), n - 3);
        sine.push_back(std::sqrt(solver.smallest_independent_ratio()));
        // The same for rows that are measured against something else, here twice their size.
        std::vector<double> scale;
        for (int i = 0; i < n; ++i) scale.push_back(4 * G.row(i).squaredNorm());
        SchurSolver scaled(dense_pattern(n, n), path);
        scaled.factorize(test::to_sparse<double>(Mat(G * G.transpose())));
        EXPECT_NEAR(std::sqrt(scaled.smallest_independent_ratio(scale)), sine.back() / 2, 1e-9 * sine.back());
        if (!stand_in) {
          EXPECT_EQ(scaled.weakest_rows(scale), (std::vector<int>{0, 1}));
        }
      }
      if (stand_in) {
        for (const double s : sine) EXPECT_GT(s, 0.5);
        continue;
      }
      // Linear through the position, to the next power of t and to the weight of the other eigenvalues.
      EXPECT_NEAR(sine[0] / sine[1], 2, 1e-4);
      EXPECT_NEAR(sine[1] / sine[2], 2, 1e-4);
      EXPECT_NEAR(sine[2], sine[3], 1e-6 * sine[2]);
      EXPECT_LT(sine[2], 1e-3);
    }
}

TEST(SchurSolver, DoesNotDependOnTheUnitsOfTheRows) {
  const int n = 12;
  Mat G = test::random_matrix<double>(n, 20, 90);
  G.row(9) = G.row(2) + G.row(5);
  const Mat S = G * G.transpose();
  const Vec expected_load = G * Vec::Ones(20);
  Vec unit(n);
  for (int i = 0; i < n; ++i) unit[i] = std::pow(10.0, 2 * (i % 6) - 5);
  const Mat scaled = unit.asDiagonal() * S * unit.asDiagonal();
  SchurSolver plain(n), other(n);
  plain.factorize_dense(S.data(), n);
  other.factorize_dense(scaled.data(), n);
  EXPECT_EQ(plain.dependent_rows(), std::vector<int>{9});
  EXPECT_EQ(other.dependent_rows(), std::vector<int>{9});
  Vec x = expected_load, y = unit.cwiseProduct(expected_load);
  plain.solve(x.data());
  other.solve(y.data());
  EXPECT_LT((unit.cwiseProduct(y) - x).norm(), 1e-10 * x.norm());
}

TEST(SchurSolver, AnEmptyRowCarriesNoForceAndDisturbsNoOther) {
  Mat S = Mat::Zero(3, 3);
  S(0, 0) = 2;
  S(2, 2) = 4;
  for (SchurMethod path : kPaths) {
    SchurSolver solver(dense_pattern(3, 3), path);
    solver.factorize(test::to_sparse<double>(S));
    double x[] = {2, 0, 8};
    solver.solve(x);
    EXPECT_EQ(x[0], 1);
    EXPECT_EQ(x[1], 0);
    EXPECT_EQ(x[2], 2);
  }
}

TEST(SchurSolver, RefusesEntriesThatAreNotFinite) {
  for (double bad : {std::nan(""), HUGE_VAL}) {
    for (SchurMethod path : kPaths) {
      for (int row : {0, 3, 7}) {
        Mat S = Mat::Identity(8, 8);
        S(7, row) = S(row, 7) = bad;
        SchurSolver solver(dense_pattern(8, 8), path);
        EXPECT_THROW(solver.factorize(test::to_sparse<double>(S)), std::domain_error) << row;
        double x[8] = {};
        EXPECT_THROW(solver.solve(x), std::logic_error);
      }
    }
  }
}

// Joint rows repeated for every link: more redundant rows than null vectors are kept for.
TEST(SchurSolver, SolvesLongChainsInWhichEveryJointIsRedundant) {
  const int joints = 100;
  const auto chain = test::chain_schur(joints, 95);
  // Row 5 of each joint becomes the sum of rows 0 and 1: S' = T S T^T with T = [1; 1 1 0 0 0].
  PatternBuilder builder(6 * joints, 6 * joints);
  for (int k = 0; k < joints; ++k) {
    builder.add_block(test::range(6 * k, 6), test::range(6 * k, 6));
    if (k == 0) continue;
    builder.add_block(test::range(6 * k, 6), test::range(6 * k - 6, 6));
    builder.add_block(test::range(6 * k - 6, 6), test::range(6 * k, 6));
  }
  SparseMatrix<double> S(builder.build());
  const Pattern& p = S.pattern();
  auto entry = [&](int i, int j) { return chain.at(i, j); };
  auto row_entry = [&](int i, int j) {  // i over rows with the sum, j plain
    const int joint = i / 6, r = i % 6;
    return r < 5 ? entry(5 * joint + r, j) : entry(5 * joint, j) + entry(5 * joint + 1, j);
  };
  for (int j = 0; j < S.cols(); ++j) {
    for (int k = p.col_start()[j]; k < p.col_start()[j + 1]; ++k) {
      const int i = p.row_index()[k], joint = j / 6, c = j % 6;
      S.values()[k] = c < 5 ? row_entry(i, 5 * joint + c) : row_entry(i, 5 * joint) + row_entry(i, 5 * joint + 1);
    }
  }
  std::vector<double> one(S.cols(), 1.0), b(S.cols()), y(S.cols());
  S.multiply(one.data(), b.data());
  SchurSolver solver(S.pattern_ptr());
  ASSERT_FALSE(solver.is_dense());
  solver.factorize(S);
  EXPECT_EQ(solver.deficiency(), joints);
  std::vector<double> x = b;
  solver.solve(x.data());
  S.multiply(x.data(), y.data());
  for (int i = 0; i < S.cols(); ++i) EXPECT_NEAR(y[i], b[i], 1e-10);
}

// A chain must cost the same per joint however long it is: entries of L per row stay below the 5 x 5 block bound (one
// block of 25 and half a block of 10 for five rows, 7 each), operations follow.
TEST(SparseLdl, CostOfAChainGrowsLinearly) {
  double fill_before = 0, flops_before = 0;
  for (int joints : {200, 2000, 20000}) {
    const auto S = test::chain_schur(joints, 99);
    SparseLdl ldl(S.pattern());
    const double fill = static_cast<double>(ldl.fill()) / ldl.size(), flops = ldl.flops() / ldl.size();
    EXPECT_LE(fill, 7.5);
    if (fill_before > 0) {
      EXPECT_NEAR(fill, fill_before, 0.05 * fill);
      EXPECT_NEAR(flops, flops_before, 0.05 * flops);
    }
    fill_before = fill;
    flops_before = flops;
    ldl.load(S.values().data());
    ldl.factorize();
    std::vector<double> one(ldl.size(), 1.0), x(ldl.size());
    S.multiply(one.data(), x.data());
    ldl.solve(x.data());
    for (double xi : x) ASSERT_NEAR(xi, 1.0, 1e-10);
  }
}

TEST(SchurSolver, ChoosesDenseForFewRowsAndSparseForChains) {
  EXPECT_TRUE(SchurSolver(test::chain_schur(3, 1).pattern_ptr()).is_dense());
  EXPECT_TRUE(SchurSolver(dense_pattern(60, 60)).is_dense());
  EXPECT_FALSE(SchurSolver(test::chain_schur(40, 1).pattern_ptr()).is_dense());
}

}  // namespace
}  // namespace clatter
