// FlexibleBody: a ReducedBody sorted for the equations of motion (V-10, E-6), shared by all bodies made of it.
//
// Vectors over the n elastic coordinates are padded to a stride of a multiple of 8 numbers, all components of a field
// one after the other; the padding is zero. Symmetric tensors have the components xx yy zz xy yz zx. With
// D_l = int x (dx/deta_l)^T, split in its symmetric part and its vector H_l = int x cross dx/deta_l:
//
//   D^s_l = P0_l + sum_k eta_k P_kl              P_kl  = sym(E_kl + X_kl)
//   H_l   = H0_l + sum_k eta_k (A_kl + Y_kl)     A_kl  = vect(E_kl) = -A_lk,  Y_kl = vect(X_kl) = Y_lk
//   N_l   = N0_l + sum_k eta_k n_kl              vect(D)_i = epsilon_ijk D_jk
//
// X, Y, n are there only for bodies that stiffen. Components of P, A, Y, n that are zero for all k, l (to rounding) are
// left out: a plane body or a straight beam has few of them; N0 is zero in mean axes. What an evaluation multiplies by
// eta, eta', eta'' is packed for it: `inertia` (P with one vector, A with two), `turning` (Y), `moving` (n), and
// `rows`, everything that is linear in eta alone: N0, and S and Psi of the markers.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "engine/packed_fields.hpp"
#include "engine/packed_matrix.hpp"
#include "model/reduced_body.hpp"

namespace clatter {

struct FlexibleMarker {
  Vec3 X;
  Mat3 R;
  double pad = 0;             // of wide loads (base/wide.hpp)
  Mat S;                      // stride x 3
  Mat Psi;                    // stride x 3, or empty: does not turn against the reference frame
  bool aligned;               // R = I
  int row;                    // in FlexibleBody::rows: of S, then of Psi if there is one
  std::array<Mat, 3> second;  // stride x stride, or empty
};

struct FlexibleBody {
  explicit FlexibleBody(std::shared_ptr<const ReducedBody> reduced);

  std::shared_ptr<const ReducedBody> reduced;  // keeps M, K, D
  int n, stride;
  bool planar;
  double mass;
  Mat3 J0;
  double pad = 0;  // of wide loads
  Mat N0, P0, H0;  // stride x 3, 6, 3
  FieldMatrices P, A, Y, nu;
  PackedFields inertia, turning, moving;
  PackedMatrix rows;  // four a vector, so that it is read at once; N0 first, unless centred
  bool stiffens;
  bool centred;  // N is zero: the origin stays in the centre of mass
  // What is diagonal is kept as a vector (stride), else empty.
  Vec K_diagonal, D_diagonal;
  bool damped;
  bool unit_mass;  // M = I
  Mat M_cholesky;  // lower factor L of M, unless it is I
  Mat N0_forward;  // L^-1 N0, stride x 3
  Mat3 N0_gram;    // its squares: what N0 takes from the mass of the frame
  std::vector<FlexibleMarker> markers;

  // y += K x and so on; x and y padded.
  void add_stiffness(const double* x, double* y) const { add_product(K_diagonal, reduced->K, x, y); }
  void add_damping(const double* x, double* y) const { add_product(D_diagonal, reduced->D, x, y); }
  void add_mass(const double* x, double* y) const;
  // x = L^-1 x and x = L^-T x with M = L L^T; nothing for M = I.
  void forward(double* x) const;
  void backward(double* x) const;

 private:
  void add_product(const Vec& diagonal, const Mat& full, const double* x, double* y) const;
};

// Symmetric tensor from its six components.
inline Mat3 symmetric_tensor(const double* c) {
  Mat3 m;
  m << c[0], c[3], c[5], c[3], c[1], c[4], c[5], c[4], c[2];
  return m;
}

}  // namespace clatter
