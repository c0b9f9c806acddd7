#include "engine/packed_matrix.hpp"

#include <algorithm>

#include "engine/padded.hpp"

namespace clatter {

namespace {

using padded::Lanes8;

// One panel of 8 w rows against `vectors` vectors; sums in `parts` for columns that take turns, so that enough of them
// are under way at a time. Returns the end of the panel.
template <int w, int vectors, int parts>
const double* panel(const double* a, int cols, const double* const (&x)[2], double* const (&y)[2]) {
  // Unrolled by order: left to itself the compiler keeps the sums in memory.
  Lanes8 sum[parts][vectors][w], column;
#pragma GCC unroll 2
  for (int p = 0; p < parts; ++p)
#pragma GCC unroll 2
    for (int i = 0; i < vectors; ++i)
#pragma GCC unroll 4
      for (int j = 0; j < w; ++j) sum[p][i][j] = Lanes8{};
  int k = 0;
  for (; k + parts <= cols; k += parts)
#pragma GCC unroll 2
    for (int p = 0; p < parts; ++p, a += 8 * w)
#pragma GCC unroll 4
      for (int j = 0; j < w; ++j) {
        padded::load(a + 8 * j, column);
#pragma GCC unroll 2
        for (int i = 0; i < vectors; ++i) sum[p][i][j] += column * x[i][k + p];
      }
  if (k < cols) {
#pragma GCC unroll 4
    for (int j = 0; j < w; ++j) {
      padded::load(a + 8 * j, column);
#pragma GCC unroll 2
      for (int i = 0; i < vectors; ++i) sum[0][i][j] += column * x[i][k];
    }
    a += 8 * w;
  }
#pragma GCC unroll 2
  for (int i = 0; i < vectors; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < w; ++j) {
      if constexpr (parts == 2) sum[0][i][j] += sum[1][i][j];
      padded::store(sum[0][i][j], y[i] + 8 * j);
    }
  return a;
}

template <int vectors>
void product(const double* a, int rows, int cols, const double* const (&x)[2], double* const (&y0)[2]) {
  double* y[2] = {y0[0], y0[1]};
  for (; rows >= 32; rows -= 32) {
    a = panel<4, vectors, 2 / vectors>(a, cols, x, {y[0], y[1]});
    for (int i = 0; i < vectors; ++i) y[i] += 32;
  }
  if (rows == 24) panel<3, vectors, 2>(a, cols, x, {y[0], y[1]});
  if (rows == 16) panel<2, vectors, 2>(a, cols, x, {y[0], y[1]});
  if (rows == 8) panel<1, vectors, 2>(a, cols, x, {y[0], y[1]});
}

}  // namespace

PackedMatrix::PackedMatrix(const Mat& m)
    : rows_(static_cast<int>(m.rows())), cols_(static_cast<int>(m.cols())), data_(m.size()) {
  double* to = data_.data();
  for (int r = 0; r < rows_; r += 32)
    for (int k = 0; k < cols_; ++k)
      for (int i = r; i < std::min(r + 32, rows_); ++i) *to++ = m(i, k);
}

void PackedMatrix::multiply(const double* x, double* y) const {
  product<1>(data_.data(), rows_, cols_, {x, nullptr}, {y, nullptr});
}

void PackedMatrix::multiply(const double* x1, const double* x2, double* y1, double* y2) const {
  product<2>(data_.data(), rows_, cols_, {x1, x2}, {y1, y2});
}

}  // namespace clatter
