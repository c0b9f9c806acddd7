#include "dense.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>

namespace clatter::test {

Mat solve_symmetric(const Mat& A, const Mat& B) { return A.ldlt().solve(B); }

Vec symmetric_eigenvalues(const Mat& A) {
  return Eigen::SelfAdjointEigenSolver<Mat>(A, Eigen::EigenvaluesOnly).eigenvalues();
}

Vec symmetric_eigenvalues(const Mat& K, const Mat& M) {
  return Eigen::GeneralizedSelfAdjointEigenSolver<Mat>(K, M, Eigen::EigenvaluesOnly).eigenvalues();
}

std::pair<Vec, Mat> symmetric_eigenpairs(const Mat& K, const Mat& M) {
  const Eigen::GeneralizedSelfAdjointEigenSolver<Mat> pairs(K, M);
  return {pairs.eigenvalues(), pairs.eigenvectors()};
}

Mat inverse(const Mat& A) { return A.inverse(); }

Mat least_norm(const Mat& A, const Mat& B) { return A.completeOrthogonalDecomposition().solve(B); }

}  // namespace clatter::test
