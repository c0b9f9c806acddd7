// The linear system of one Newton iteration of RADAU5, for one eigenvalue sigma (real or complex) of A^-1 / h.
//
// Unknown increments du, dv, dz, dlambda, dmu; right sides ru, rv, rz, rp (positions), rw (velocities):
//
//   sigma du - J du - dv - D Gh^T dmu               = ru     J = -skew(v)/2 on rotation blocks: d(dexpinv(u) v)/du at 0
//   K du + (sigma M + C) dv + Rz dz - G^T dlambda   = rv     D = diag(scale^2)
//   -Fq du - Fv dv + (sigma - Fz) dz                = rz
//   Gh du                                           = rp     Gh: the holonomic rows of G
//   Vq du + G dv                                    = rw
//
// du = P (ru + dv + D Gh^T dmu), P = (sigma - J)^-1 block by block, is eliminated: with N = P D Gh^T
//
//   [ sigma M + C + K P    Rz           -G^T   K N   ] [ dv      ]   [ rv - K P ru  ]
//   [ -Fv - Fq P           sigma - Fz    0    -Fq N  ] [ dz      ] = [ rz + Fq P ru ]
//   [ G + Vq P             0             e     Vq N  ] [ dlambda ]   [ rw - Vq P ru ]
//   [ Gh P                 0             0     Gh N  ] [ dmu     ]   [ rp - Gh P ru ]
//
// Small multiples of the diagonals of the two Schur complements (e, and on Gh N) keep the matrix regular with redundant
// rows; the residuals do not contain them, so the solution does not depend on them.
#pragma once

#include <array>
#include <complex>
#include <vector>

#include "integrate/dynamics.hpp"
#include "integrate/iteration_matrix.hpp"
#include "solve/linear_solver.hpp"

namespace clatter {

template <class Scalar>
using VecOf = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;

// Right sides in, increments out.
template <class Scalar>
struct RadauVector {
  VecOf<Scalar> u, v, z, w, p;  // w: velocity rows, then dlambda; p: position rows, then dmu
  void resize(const Sizes& n);
  void set_zero();
};

template <class Scalar>
class RadauSystem {
 public:
  RadauSystem(const Dynamics& dynamics, const Vec& u_scale);

  // False when the matrix is singular. Tangents whose pattern has grown are laid out anew.
  bool factorize(Scalar sigma, const Tangents& tangents, const Vec& v);
  void solve(const Tangents& tangents, RadauVector<Scalar>& x);
  void forget() { solver_.forget(); }
  // Rows that say nothing new: their multipliers stay as they are and their residuals are left to the other rows.
  void leave_out(const std::vector<char>& redundant) { redundant_ = redundant; }
  const Vec& weights() const { return D_; }  // D, one value a rotation block

 private:
  RadauSystem(const Sizes& n, std::vector<int> rotations, const Tangents& layout, const Vec& D);
  // X(i, m) += sign A(i, j) N(j, m) as slots.
  struct Product {
    std::vector<std::array<int, 3>> terms;  // slots of A, N^T, X
    void declare(PatternBuilder& builder, const Pattern& A, const Pattern& Nt, int row0, int col0, int rows,
                 int nh) const;
    void find(const Pattern& whole, const Pattern& A, const Pattern& Nt, int row0, int col0, int rows, int nh);
    void add(std::span<Scalar> whole, const SparseMatrix<double>& A, const SparseMatrix<Scalar>& Nt, double sign) const;
  };

  static PatternPtr turned_rows(const Tangents& layout, const Sizes& n, const RotationIndex& rotations);
  PatternPtr make_pattern(const Tangents& layout) const;
  void apply_P(const VecOf<Scalar>& x, VecOf<Scalar>& y) const;

  Sizes n_;
  PatternPtr of_;  // of the tangents' M
  std::vector<int> rotations_;
  RotationIndex rotation_index_;
  Vec D_;
  PatternPtr turned_;
  PatternPtr pattern_;
  SparseMatrix<double> GD_;
  SparseMatrix<Scalar> Nt_, matrix_;
  LinearSolver<Scalar> solver_;
  BlockMap map_M_, map_Rz_, map_Gt_, map_Fq_, map_Fv_, map_Fz_, map_G_, map_Nt_;
  Product KN_, FqN_, VqN_, GhN_;
  std::vector<int> diagonal_, position_slot_;  // the latter: of Gh P, in the order of turned_
  std::vector<char> redundant_;                // empty: none
  BlockDiagonal<Scalar> P_, Pt_;
  VecOf<Scalar> Pu_, work_, rhs_, schur_;
};

extern template struct RadauVector<double>;
extern template struct RadauVector<std::complex<double>>;
extern template class RadauSystem<double>;
extern template class RadauSystem<std::complex<double>>;

}  // namespace clatter
