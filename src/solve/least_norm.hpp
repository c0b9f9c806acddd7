// LeastNorm: the shortest x among those that come closest to A x = b, for small square matrices that may be singular
// and need not be symmetric (contacts that depend on each other). Complete orthogonal decomposition by reflections,
//
//   A P = Q [ R S ; 0 0 ],   [ R S ] = [ T 0 ] Z,   x = P Z^T [ T^-1 (Q^T b)_1 ; 0 ]
//
// with column pivoting. No allocation after reserve().
#pragma once

#include <vector>

#include "base/math.hpp"

namespace clatter {

class LeastNorm {
 public:
  void reserve(int n);  // largest size
  void compute(const Eigen::Ref<const Mat>& A);
  int rank() const { return rank_; }
  // x holds b before.
  void solve(Eigen::Ref<Vec> x);

 private:
  int n_ = 0, rank_ = 0;
  Mat R_, V_, Z_;  // R and S, then T; vectors of the reflections from the left (columns) and from the right (rows)
  Vec beta_, beta_right_, first_right_, c_;
  std::vector<int> column_;  // P
};

}  // namespace clatter
