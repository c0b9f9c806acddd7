// Dense algebra for the tests' oracles. Eigen's decompositions take seconds to compile; here each is compiled once.
#pragma once

#include <utility>

#include "base/math.hpp"

namespace clatter::test {

Mat solve_symmetric(const Mat& A, const Mat& B);        // A X = B by L D L^T
Vec symmetric_eigenvalues(const Mat& A);                // ascending
Vec symmetric_eigenvalues(const Mat& K, const Mat& M);  // of K x = lambda M x, ascending
std::pair<Vec, Mat> symmetric_eigenpairs(const Mat& K, const Mat& M);
Mat inverse(const Mat& A);
Mat least_norm(const Mat& A, const Mat& B);  // the shortest of the nearest X, by a complete orthogonal decomposition

}  // namespace clatter::test
