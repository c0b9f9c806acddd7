#include "engine/packed_fields.hpp"

#include <algorithm>
#include <cmath>

#include "engine/padded.hpp"

namespace clatter {

namespace {

using padded::Lanes4;
using padded::Lanes8;

constexpr int kMostOnce = 6, kMostTwice = 3;

// Most of the columns, taken eight rows at a time, are zero.
bool sparse(const Mat& m) {
  int full = 0, all = 0;
  for (Eigen::Index row = 0; row < m.rows(); row += 8)
    for (Eigen::Index k = 0; k < m.cols(); ++k, ++all)
      full += !m.col(k).segment(row, std::min<Eigen::Index>(8, m.rows() - row)).isZero(0.0);
  return 2 * full < all;
}

}  // namespace

void FieldMatrices::add(int c, const Mat& m, double scale) {
  if (m.size() == 0 || m.cwiseAbs().maxCoeff() <= kShapeRounding * scale) return;
  component.push_back(c);
  matrix.push_back(m);
}

// One block of rows from `row` on. Returns the end of its numbers.
template <class Lanes, int ones, int twos>
[[gnu::always_inline]] inline const double* PackedFields::block(const Group& g, int stride, const Vectors& v, int row,
                                                                const double* a) {
  // Unrolled by order: left to itself the compiler keeps the sums in memory.
  Lanes y[std::max(1, ones)], z[std::max(1, twos)], zd[std::max(1, twos)], m;
#pragma GCC unroll 6
  for (int i = 0; i < ones; ++i) padded::load(v.once0 + g.once[i] * stride + row, y[i]);
#pragma GCC unroll 3
  for (int i = 0; i < twos; ++i) {
    padded::load(v.twice0 + g.twice[i] * stride + row, z[i]);
    zd[i] = Lanes{};
  }
  const int* end = g.column.data() + g.begin[row / 8 + 1];
  for (const int* k = g.column.data() + g.begin[row / 8]; k != end; ++k) {
    const double x = v.x[*k], xd = v.xd[*k];
#pragma GCC unroll 6
    for (int i = 0; i < ones; ++i, a += sizeof(Lanes) / sizeof(double)) {
      padded::load(a, m);
      y[i] += m * x;
    }
#pragma GCC unroll 3
    for (int i = 0; i < twos; ++i, a += sizeof(Lanes) / sizeof(double)) {
      padded::load(a, m);
      z[i] += m * x;
      zd[i] += m * xd;
    }
  }
#pragma GCC unroll 6
  for (int i = 0; i < ones; ++i) padded::store(y[i], v.once + g.once[i] * stride + row);
#pragma GCC unroll 3
  for (int i = 0; i < twos; ++i) {
    padded::store(z[i], v.twice + g.twice[i] * stride + row);
    padded::store(zd[i], v.twice_d + g.twice[i] * stride + row);
  }
  return a;
}

template <int ones, int twos>
void PackedFields::products(const Group& g, int stride, const Vectors& v) {
  const double* a = g.data.data();
  int row = 0;
  for (; row + 4 < g.rows; row += 8) a = block<Lanes8, ones, twos>(g, stride, v, row, a);
  if (row < g.rows) block<Lanes4, ones, twos>(g, stride, v, row, a);
}

// Takes the products written for the numbers of components there are.
template <int kernel>
void PackedFields::choose(int wanted, Group& g) {
  if (kernel == wanted) g.products = &products<kernel % (kMostOnce + 1), kernel / (kMostOnce + 1)>;
  if constexpr (kernel > 0) choose<kernel - 1>(wanted, g);
}

PackedFields::Group PackedFields::packed(const FieldMatrices& once, const FieldMatrices& twice, int n) {
  Group g;
  g.once = once.component;
  g.twice = twice.component;
  g.rows = n;
  g.begin.push_back(0);
  std::vector<const Mat*> all;
  for (const Mat& m : once.matrix) all.push_back(&m);
  for (const Mat& m : twice.matrix) all.push_back(&m);
  std::vector<double> data;
  for (int row = 0; row < n; row += 8) {
    const int rows = std::min(8, n - row), lanes = rows > 4 ? 8 : 4;
    for (int k = 0; k < n; ++k) {
      if (std::all_of(all.begin(), all.end(), [&](const Mat* m) { return m->col(k).segment(row, rows).isZero(0.0); }))
        continue;
      g.column.push_back(k);
      for (const Mat* m : all)
        for (int i = 0; i < lanes; ++i) data.push_back(i < rows ? (*m)(row + i, k) : 0.0);
    }
    g.begin.push_back(static_cast<int>(g.column.size()));
  }
  g.data = Eigen::Map<const Vec>(data.data(), static_cast<Eigen::Index>(data.size()));
  choose<(kMostOnce + 1) * (kMostTwice + 1) - 1>(static_cast<int>(g.once.size() + g.twice.size() * (kMostOnce + 1)), g);
  return g;
}

PackedFields::PackedFields(const FieldMatrices& once, const FieldMatrices& twice, int n, int stride) : stride_(stride) {
  FieldMatrices fields[2][2];  // full and sparse; once and twice
  for (const bool second : {false, true}) {
    const FieldMatrices& from = second ? twice : once;
    for (std::size_t i = 0; i < from.matrix.size(); ++i) {
      FieldMatrices& to = fields[sparse(from.matrix[i])][second];
      to.component.push_back(from.component[i]);
      to.matrix.push_back(from.matrix[i]);
    }
  }
  for (const auto& group : fields)
    if (!group[0].empty() || !group[1].empty()) groups_.push_back(packed(group[0], group[1], n));
}

}  // namespace clatter
