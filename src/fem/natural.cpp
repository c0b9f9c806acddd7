#include "fem/natural.hpp"

#include <Eigen/Eigenvalues>
#include <cmath>
#include <numbers>

namespace clatter::fem {

std::vector<NaturalShape> natural_shapes(const ReducedBody& body, int most) {
  std::vector<NaturalShape> out;
  if (body.n == 0) return out;
  const Eigen::GeneralizedSelfAdjointEigenSolver<Mat> pairs(body.K, body.M);
  if (pairs.info() != Eigen::Success) return out;
  const Vec& squares = pairs.eigenvalues();
  // Rigid motions have frequency zero but for the rounding of the largest.
  const double rounding = 1e-11 * squares.tail(1)[0];
  for (Eigen::Index k = 0; k < squares.size() && static_cast<int>(out.size()) < most; ++k) {
    if (!(squares[k] > rounding)) continue;
    const auto shape = pairs.eigenvectors().col(k);
    Eigen::Index largest = 0;
    shape.cwiseAbs().maxCoeff(&largest);
    out.push_back({std::sqrt(squares[k]) / (2 * std::numbers::pi), shape / shape[largest]});
  }
  return out;
}

}  // namespace clatter::fem
