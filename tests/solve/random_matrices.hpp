// Matrices the tests of this room share. Seeds are fixed: every run sees the same numbers.
#pragma once

#include <Eigen/Core>
#include <random>
#include <vector>

#include "solve/sparsity.hpp"

namespace clatter::test {

template <class Scalar>
Scalar random_scalar(std::mt19937& random) {
  std::normal_distribution<double> normal;
  if constexpr (std::is_same_v<Scalar, double>) {
    return normal(random);
  } else {
    const double re = normal(random);
    return {re, normal(random)};
  }
}

template <class Scalar>
Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic> random_matrix(int rows, int cols, unsigned seed) {
  std::mt19937 random(seed);
  Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic> A(rows, cols);
  for (int j = 0; j < cols; ++j) {
    for (int i = 0; i < rows; ++i) A(i, j) = random_scalar<Scalar>(random);
  }
  return A;
}

template <class Scalar>
SparseMatrix<Scalar> to_sparse(const Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>& A) {
  SparseMatrix<Scalar> S(dense_pattern(static_cast<int>(A.rows()), static_cast<int>(A.cols())));
  std::copy(A.data(), A.data() + A.size(), S.values().begin());
  return S;
}

inline std::vector<int> range(int first, int count) {
  std::vector<int> indices(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) indices[static_cast<size_t>(i)] = first + i;
  return indices;
}

// [M G^T; G 0] of a chain: per link six velocities and the five rows of a revolute joint to the link before.
template <class Scalar>
SparseMatrix<Scalar> chain_saddle(int links, unsigned seed) {
  const int n = 11 * links;
  PatternBuilder builder(n, n);
  for (int l = 0; l < links; ++l) {
    const auto v = range(11 * l, 6), joint = range(11 * l + 6, 5);
    builder.add_block(v, v);
    builder.add_block(v, joint);
    builder.add_block(joint, v);
    if (l == 0) continue;
    const auto before = range(11 * (l - 1), 6);
    builder.add_block(before, joint);
    builder.add_block(joint, before);
  }
  SparseMatrix<Scalar> A(builder.build());
  std::mt19937 random(seed);
  for (int l = 0; l < links; ++l) {
    for (int i = 0; i < 6; ++i) A.add(11 * l + i, 11 * l + i, Scalar(2.0));
    for (int r = 0; r < 5; ++r) {
      for (int side = l > 0 ? -1 : 0; side <= 0; ++side) {
        for (int i = 0; i < 6; ++i) {
          const double g = random_scalar<double>(random);
          A.add(11 * l + 6 + r, 11 * (l + side) + i, Scalar(g));
          A.add(11 * (l + side) + i, 11 * l + 6 + r, Scalar(g));
        }
      }
    }
  }
  return A;
}

// S = G G^T of the same chain: block tridiagonal, 5 x 5 blocks, full pattern.
inline SparseMatrix<double> chain_schur(int joints, unsigned seed) {
  const int n = 5 * joints;
  PatternBuilder builder(n, n);
  for (int k = 0; k < joints; ++k) {
    builder.add_block(range(5 * k, 5), range(5 * k, 5));
    if (k == 0) continue;
    builder.add_block(range(5 * k, 5), range(5 * k - 5, 5));
    builder.add_block(range(5 * k - 5, 5), range(5 * k, 5));
  }
  SparseMatrix<double> S(builder.build());
  std::mt19937 random(seed);
  Eigen::MatrixXd G(5, 12), before(5, 12);
  for (int k = 0; k < joints; ++k) {
    for (int i = 0; i < 60; ++i) G.data()[i] = random_scalar<double>(random);
    for (int i = 0; i < 5; ++i) {
      for (int j = 0; j < 5; ++j) {
        S.add(5 * k + i, 5 * k + j, G.row(i).dot(G.row(j)));
        if (k == 0) continue;
        const double coupling = G.row(i).head(6).dot(before.row(j).tail(6));
        S.add(5 * k + i, 5 * k - 5 + j, coupling);
        S.add(5 * k - 5 + j, 5 * k + i, coupling);
      }
    }
    before = G;
  }
  return S;
}

}  // namespace clatter::test
