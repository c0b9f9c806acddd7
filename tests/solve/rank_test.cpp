#include "solve/rank.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <numbers>

#include "solve/random_matrices.hpp"

namespace clatter {
namespace {

using Rows = Eigen::SparseMatrix<double, Eigen::RowMajor>;

Rows rows_of(const Eigen::MatrixXd& G) { return G.sparseView(); }

constexpr RankMethod kPaths[] = {RankMethod::dense, RankMethod::sparse};

TEST(DependentRows, NamesTheLaterOfTwoEqualRows) {
  Eigen::MatrixXd G = test::random_matrix<double>(6, 9, 1);
  G.row(4) = -3 * G.row(1);
  for (RankMethod path : kPaths) {
    const RankReport report = dependent_rows(rows_of(G), {}, 1e-8, path);
    EXPECT_EQ(report.rank, 5);
    ASSERT_EQ(report.redundant.size(), 1u);
    EXPECT_EQ(report.redundant[0].row, 4);
    EXPECT_EQ(report.redundant[0].depends_on, std::vector<int>{1});
    EXPECT_LT(report.redundant[0].rest, 1e-14);
  }
}

TEST(DependentRows, NamesExactlyTheRowsACombinationIsMadeOf) {
  Eigen::MatrixXd G = test::random_matrix<double>(12, 20, 2);
  G.row(7) = G.row(2) - 2 * G.row(5) + 1e3 * G.row(6);
  G.row(9).setZero();
  G.row(11) = G.row(0) + G.row(10);
  for (RankMethod path : kPaths) {
    const RankReport report = dependent_rows(rows_of(G), {}, 1e-8, path);
    EXPECT_EQ(report.rank, 9);
    ASSERT_EQ(report.redundant.size(), 3u);
    EXPECT_EQ(report.redundant[0].row, 7);
    EXPECT_EQ(report.redundant[0].depends_on, (std::vector<int>{2, 5, 6}));
    EXPECT_EQ(report.redundant[1].row, 9);
    EXPECT_TRUE(report.redundant[1].depends_on.empty());
    EXPECT_EQ(report.redundant[2].row, 11);
    EXPECT_EQ(report.redundant[2].depends_on, (std::vector<int>{0, 10}));
  }
}

TEST(DependentRows, MoreRowsThanColumnsLeaveTheSurplusRedundant) {
  const Eigen::MatrixXd G = test::random_matrix<double>(7, 4, 3);
  for (RankMethod path : kPaths) {
    const RankReport report = dependent_rows(rows_of(G), {}, 1e-8, path);
    EXPECT_EQ(report.rank, 4);
    ASSERT_EQ(report.redundant.size(), 3u);
    for (int k = 0; k < 3; ++k) {
      EXPECT_EQ(report.redundant[k].row, 4 + k);
      EXPECT_EQ(report.redundant[k].depends_on, (std::vector<int>{0, 1, 2, 3}));
    }
  }
}

// Rows in units 1e12 apart and masses 1e10 apart: still independent, and the redundant one still found.
TEST(DependentRows, DoNotDependOnUnitsOrMasses) {
  Eigen::MatrixXd G = test::random_matrix<double>(8, 12, 4);
  G.row(6) = G.row(3) + G.row(4);
  std::vector<double> mass(12);
  for (int j = 0; j < 12; ++j) {
    mass[j] = std::pow(10.0, j - 5);
    G.col(j) *= std::sqrt(mass[j]);
  }
  for (int i = 0; i < 8; ++i) G.row(i) *= std::pow(10.0, 3 * (i % 5) - 6);
  for (RankMethod path : kPaths) {
    const RankReport report = dependent_rows(rows_of(G), mass, 1e-8, path);
    EXPECT_EQ(report.rank, 7);
    ASSERT_EQ(report.redundant.size(), 1u);
    EXPECT_EQ(report.redundant[0].row, 6);
    EXPECT_EQ(report.redundant[0].depends_on, (std::vector<int>{3, 4}));
  }
}

// Rows 1e-6 rad apart are independent at the tolerance 1e-8 and redundant at 1e-5.
TEST(DependentRows, ToleranceIsTheSineOfAnAngle) {
  Eigen::MatrixXd G(2, 3);
  G << 1, 0, 0, std::cos(1e-6), std::sin(1e-6), 0;
  for (RankMethod path : kPaths) {
    EXPECT_EQ(dependent_rows(rows_of(G), {}, 1e-8, path).rank, 2);
    const RankReport report = dependent_rows(rows_of(G), {}, 1e-5, path);
    EXPECT_EQ(report.rank, 1);
    EXPECT_NEAR(report.redundant.at(0).rest, 1e-6, 1e-12);
  }
}

// A planar four-bar of revolute joints built in space: 3 bodies, 4 joints of 5 rows, 18 velocities, one degree of
// freedom that moves, hence rank 17 and 3 redundant rows (Gruebler's count gives -2; the loop cannot leave its plane).
TEST(DependentRows, FourBarInSpaceHasThreeRedundantRowsAllOfTheLastJoint) {
  struct Joint {
    int a, b;  // bodies, -1 for ground
    Eigen::Vector3d place;
  };
  const Eigen::Vector3d centre[3] = {{0.1, 0.5, 0}, {1.2, 1.1, 0}, {2.1, 0.6, 0}};
  const Joint joints[4] = {{-1, 0, {0, 0, 0}}, {0, 1, {0.2, 1.0, 0}}, {1, 2, {2.2, 1.2, 0}}, {2, -1, {2.0, 0, 0}}};
  Eigen::MatrixXd G = Eigen::MatrixXd::Zero(20, 18);
  for (int k = 0; k < 4; ++k) {
    for (int side = 0; side < 2; ++side) {
      const int body = side == 0 ? joints[k].a : joints[k].b;
      if (body < 0) continue;
      const double sign = side == 0 ? -1 : 1;
      const Eigen::Vector3d r = joints[k].place - centre[body];
      Eigen::Matrix3d cross;
      cross << 0, -r.z(), r.y(), r.z(), 0, -r.x(), -r.y(), r.x(), 0;
      G.block<3, 3>(5 * k, 6 * body) = sign * Eigen::Matrix3d::Identity();
      G.block<3, 3>(5 * k, 6 * body + 3) = -sign * cross;
      G(5 * k + 3, 6 * body + 3) = sign;
      G(5 * k + 4, 6 * body + 4) = sign;
    }
  }
  for (RankMethod path : kPaths) {
    const RankReport report = dependent_rows(rows_of(G), {}, 1e-8, path);
    EXPECT_EQ(report.rank, 17);
    ASSERT_EQ(report.redundant.size(), 3u);
    for (const RedundantRow& row : report.redundant) EXPECT_GE(row.row, 15);
  }
}

TEST(DependentRows, BothPathsAgreeOnALongChainWithRepeatedJoints) {
  const int links = 60;
  std::vector<Eigen::Triplet<double>> entries;
  std::mt19937 random(8);
  for (int l = 0; l < links; ++l) {
    for (int r = 0; r < 5; ++r) {
      for (int j = l > 0 ? 6 * l - 6 : 0; j < 6 * l + 6; ++j) {
        const double g = test::random_scalar<double>(random);
        entries.emplace_back(5 * l + r, j, g);
        if (l % 20 == 10) entries.emplace_back(5 * links + 5 * (l / 20) + r, j, g);
      }
    }
  }
  Rows G(5 * links + 15, 6 * links);
  G.setFromTriplets(entries.begin(), entries.end());
  const RankReport dense = dependent_rows(G, {}, 1e-8, RankMethod::dense);
  const RankReport sparse = dependent_rows(G, {}, 1e-8, RankMethod::sparse);
  EXPECT_EQ(dense.rank, 5 * links);
  EXPECT_EQ(sparse.rank, 5 * links);
  ASSERT_EQ(dense.redundant.size(), 15u);
  ASSERT_EQ(sparse.redundant.size(), 15u);
  for (int k = 0; k < 15; ++k) {
    EXPECT_EQ(dense.redundant[k].row, 5 * links + k);
    EXPECT_EQ(sparse.redundant[k].row, 5 * links + k);
    EXPECT_EQ(dense.redundant[k].depends_on, std::vector<int>{5 * (20 * (k / 5) + 10) + k % 5});
    EXPECT_EQ(sparse.redundant[k].depends_on, dense.redundant[k].depends_on);
  }
}

// Rows at 0, 1 and 90 degrees in a plane: the third is the widest to whichever comes first, and of the first two one is
// left, whose squared sine to both others is nothing. With the order of declaration the second pivot would be
// sin^2(1 deg) = 3.0e-4.
TEST(PivotedOrder, KeepsTheRowsWithTheWidestAnglesBetweenThem) {
  const double angle = std::numbers::pi / 180;
  Eigen::MatrixXd G(3, 2);
  G << 1, 0, std::cos(angle), std::sin(angle), 0, 1;
  Eigen::MatrixXd gram = G * G.transpose();
  Eigen::VectorXd work(3);
  std::vector<int> order(3);
  EXPECT_EQ(pivoted_order(gram, 1e-9, work, order), 2);
  EXPECT_EQ(order, (std::vector<int>{0, 2, 1}));
  // What was left of the row left out: cos^2 + sin^2 was taken from 1.
  EXPECT_LT(std::abs(gram(1, 1)), 1e-15);
}

// 12 rows in a space of 8: whatever the rows are, 8 are kept; their Gram matrix is regular, and each next pivot is not
// larger than the one before (complete pivoting), which bounds the smallest from below by det^(1/8)-like products only;
// so it is compared with the smallest pivot of the first 8 rows in order.
TEST(PivotedOrder, IsBetterConditionedThanTheOrderOfDeclaration) {
  Eigen::MatrixXd G = test::random_matrix<double>(12, 8, 12);
  G.row(3) = G.row(1) + 1e-4 * G.row(3);  // nearly a repetition among the first eight
  G.rowwise().normalize();
  const Eigen::MatrixXd full = G * G.transpose();
  Eigen::MatrixXd gram = full;
  Eigen::VectorXd work(12);
  std::vector<int> order(12);
  ASSERT_EQ(pivoted_order(gram, 1e-9, work, order), 8);
  const auto smallest = [&](const std::vector<int>& rows) {
    Eigen::MatrixXd K(8, 8);
    for (int i = 0; i < 8; ++i)
      for (int j = 0; j < 8; ++j) K(i, j) = full(rows[i], rows[j]);
    return K.selfadjointView<Eigen::Lower>().eigenvalues().minCoeff();
  };
  EXPECT_LT(smallest({0, 1, 2, 3, 4, 5, 6, 7}), 1e-7);
  EXPECT_GT(smallest(order), 1e-3);
}

TEST(PivotedOrder, LeavesEmptyRowsOutAndKeepsAllIndependentOnes) {
  Eigen::MatrixXd gram = Eigen::MatrixXd::Identity(4, 4);
  gram(2, 2) = 0;
  Eigen::VectorXd work(4);
  std::vector<int> order(4);
  EXPECT_EQ(pivoted_order(gram, 1e-9, work, order), 3);
  EXPECT_EQ(order[3], 2);
}

TEST(DependentRows, RefuseEntriesThatAreNotFiniteAndMassesOfAnotherSize) {
  Eigen::MatrixXd G = Eigen::MatrixXd::Ones(2, 2);
  const std::vector<double> mass(3, 1.0);
  EXPECT_THROW(dependent_rows(rows_of(G), mass), std::invalid_argument);
  G(1, 0) = std::nan("");
  Rows sparse(2, 2);
  sparse.insert(1, 0) = std::nan("");
  EXPECT_THROW(dependent_rows(sparse), std::domain_error);
  EXPECT_EQ(dependent_rows(Rows(0, 5)).rank, 0);
}

}  // namespace
}  // namespace clatter
