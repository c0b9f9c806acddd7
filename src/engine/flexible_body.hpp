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
// left out: a plane body or a straight beam has few of them.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "engine/packed_matrix.hpp"
#include "fem/reduced_body.hpp"

namespace clatter {

// Some components of a field of matrices over the elastic coordinates, packed under each other.
struct FieldMatrices {
  std::vector<int> component;  // which, ascending
  std::vector<Mat> matrix;     // [i](l, k) of component[i]: the value of l that eta_k brings about
  PackedMatrix packed;
  void add(int c, const Mat& m, double scale);  // nothing when m is zero, to rounding of matrices of this size
  void pack(int n, int stride);
  bool empty() const { return component.empty(); }
};

struct FlexibleMarker {
  Vec3 X;
  Mat3 R;
  Mat S;                      // stride x 3
  Mat Psi;                    // stride x 3, or empty: does not turn against the reference frame
  std::array<Mat, 3> second;  // stride x stride, or empty
};

struct FlexibleBody {
  explicit FlexibleBody(std::shared_ptr<const fem::ReducedBody> reduced);

  std::shared_ptr<const fem::ReducedBody> reduced;  // keeps M, K, D
  int n, stride;
  bool planar;
  double mass;
  Mat3 J0;
  Mat N0, P0, H0;  // stride x 3, 6, 3
  FieldMatrices P, A, Y, nu;
  bool stiffens;
  // What is diagonal is kept as a vector (stride), else empty.
  Vec K_diagonal, D_diagonal;
  bool damped;
  bool unit_mass;  // M = I
  Mat M_cholesky;  // lower factor of M, unless it is I
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
