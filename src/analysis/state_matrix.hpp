// Exact linearisation about a motion: x = (du, dv, dz) with dx/dt = A x, du the right increment of q.
//
//       [ -skew(omega) on rotation blocks, else 0     1        0      ]
//   A = [ da/dq                                       da/dv    da/dz  ]
//       [ Fq                                          Fv       Fz     ]
//
//   M da - G^T dlambda = -(K du + C dv + Rz dz),   G da = -(Aq du + Av dv)
//
// (a perturbed rotation R exp(du) turns with omega + dv: d(du)/dt = dv - omega x du). With constraints A holds for
// perturbations that respect them: G du = 0 on the holonomic rows and Vq du + G dv = 0; others leave the constraints
// like t. Redundant rows share their load (least norm).
#pragma once

#include <Eigen/QR>
#include <vector>

#include "integrate/dynamics.hpp"

namespace clatter {

// Keeps its work arrays between evaluations.
class Linearisation {
 public:
  explicit Linearisation(Dynamics& dynamics);
  int size() const { return 2 * n_.nv + n_.nz; }
  void evaluate(const State& s, Mat& A);
  // d(lambda)/dx of the last evaluation.
  Mat multipliers() const { return scale_.tail(n_.nc()).asDiagonal() * solution_.bottomRows(n_.nc()); }
  // d(lambda)/dt at fixed x, from the derivatives by time of M a - h - G^T lambda and of G a + gamma.
  Vec multipliers_by_time(const Vec& r_t, const Vec& gamma_t) const;

 private:
  Dynamics& dynamics_;
  const Sizes n_;
  Tangents tangents_;
  Vec a_, lambda_, zdot_, scale_;
  Mat kkt_, rhs_, solution_;
  Eigen::CompleteOrthogonalDecomposition<Mat> qr_;
};

void state_matrix(Dynamics& dynamics, const State& s, Mat& A);

}  // namespace clatter
