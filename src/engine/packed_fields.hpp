// PackedFields: the shape integrals of one evaluation, packed so that a single pass over them gives all their products.
//
//   y_c = y0_c + F_c x            for every component c of one field (the symmetric part of int phi phi^T)
//   z_c = z0_c + G_c x,  z'_c = G_c x'   for every component of another, which is needed with two vectors (its vector)
//
// Eight rows of all components at a time (four, where no more are left): their sums stay in registers while the columns
// pass by, memory is read once from front to end, and a number of x is fetched once for all components. Columns in
// which these rows of every component are zero are left out. Components that are zero nearly everywhere make a group of
// their own for that: of a straight beam those that go with stretching.
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
  void multiply(const Vectors& v) const {
    for (const Group& g : groups_) g.products(g, stride_, v);
  }

 private:
  struct Group {
    std::vector<int> once, twice;  // components
    std::vector<int> column;       // those that are not zero, block of rows by block
    std::vector<int> begin;        // of each block in `column`
    int rows = 0;                  // n
    Vec data;
    void (*products)(const Group&, int stride, const Vectors&) = nullptr;
  };
  template <int ones, int twos>
  static void products(const Group& g, int stride, const Vectors& v);
  template <class Lanes, int ones, int twos>
  static const double* block(const Group& g, int stride, const Vectors& v, int row, const double* a);
  template <int kernel>
  static void choose(int wanted, Group& g);
  static Group packed(const FieldMatrices& once, const FieldMatrices& twice, int n);

  std::vector<Group> groups_;
  int stride_ = 0;
};

}  // namespace clatter
