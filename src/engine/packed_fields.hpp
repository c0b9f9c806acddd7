// PackedFields: the shape integrals of one evaluation, packed so that a single pass over them gives all their products.
//
//   y_c = y0_c + F_c x            for every component c of one field (the symmetric part of int phi phi^T)
//   z_c = z0_c + G_c x,  z'_c = G_c x'   for every component of another, which is needed with two vectors (its vector)
//
// Eight rows of all components at a time: their sums stay in registers while the columns pass by, memory is read once
// from front to end, and a number of x is fetched once for all components. Columns in which the eight rows of every
// component are zero are left out; integrals between bending in one plane and bending in the other are of that kind.
#pragma once

#include <vector>

#include "base/math.hpp"

namespace clatter {

// Reductions are exact to rounding: shapes orthonormal to 1e-15 or so, integrals that vanish by symmetry likewise. What
// is below this part of its neighbours is taken for zero.
inline constexpr double kShapeRounding = 1e-12;

// Some components of a field of matrices over the elastic coordinates.
struct FieldMatrices {
  std::vector<int> component;                   // which, ascending
  std::vector<Mat> matrix;                      // [i](l, k) of component[i]: the value of l that eta_k brings about
  void add(int c, const Mat& m, double scale);  // nothing when m is zero, to rounding of matrices of this size
  bool empty() const { return component.empty(); }
};

class PackedFields {
 public:
  PackedFields() = default;
  // `once` has at most six components, `twice` three; stride: n rounded up to a multiple of 8.
  PackedFields(const FieldMatrices& once, const FieldMatrices& twice, int n, int stride);

  // Fields are columns of stride numbers by component; only the columns of components that exist are written. A start
  // may be its own result.
  struct Vectors {
    const double *x, *xd;  // n numbers
    const double *once0, *twice0;
    double *once, *twice, *twice_d;
  };
  void multiply(const Vectors& v) const { products_(*this, v); }
  bool empty() const { return once_.empty() && twice_.empty(); }

 private:
  template <int ones, int twos>
  static void products(const PackedFields& f, const Vectors& v);
  template <int kernel>
  void choose(int wanted);

  void (*products_)(const PackedFields&, const Vectors&) = [](const PackedFields&, const Vectors&) {};
  std::vector<int> once_, twice_;  // components
  int stride_ = 0;
  std::vector<int> column_;  // that are not zero, block of eight rows by block
  std::vector<int> begin_;   // of each block in column_
  Vec data_;
};

}  // namespace clatter
