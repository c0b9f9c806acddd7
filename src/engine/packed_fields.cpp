#include "engine/packed_fields.hpp"

#include <algorithm>
#include <cmath>

#include "engine/padded.hpp"

namespace clatter {

namespace {

using padded::Lanes8;

constexpr int kMostOnce = 6, kMostTwice = 3;

}  // namespace

void FieldMatrices::add(int c, const Mat& m, double scale) {
  if (m.size() == 0 || m.cwiseAbs().maxCoeff() <= kShapeRounding * scale) return;
  component.push_back(c);
  matrix.push_back(m);
}

template <int ones, int twos>
void PackedFields::products(const PackedFields& f, const Vectors& v) {
  const double* a = f.data_.data();
  const std::size_t blocks = f.begin_.size() - 1;
  for (std::size_t block = 0; block < blocks; ++block) {
    const int row = static_cast<int>(block) * 8;
    // Unrolled by order: left to itself the compiler keeps the sums in memory.
    Lanes8 y[std::max(1, ones)], z[std::max(1, twos)], zd[std::max(1, twos)], m;
#pragma GCC unroll 6
    for (int i = 0; i < ones; ++i) padded::load(v.once0 + f.once_[i] * f.stride_ + row, y[i]);
#pragma GCC unroll 3
    for (int i = 0; i < twos; ++i) {
      padded::load(v.twice0 + f.twice_[i] * f.stride_ + row, z[i]);
      zd[i] = Lanes8{};
    }
    const int* end = f.column_.data() + f.begin_[block + 1];
    for (const int* k = f.column_.data() + f.begin_[block]; k != end; ++k) {
      const double x = v.x[*k], xd = v.xd[*k];
#pragma GCC unroll 6
      for (int i = 0; i < ones; ++i, a += 8) {
        padded::load(a, m);
        y[i] += m * x;
      }
#pragma GCC unroll 3
      for (int i = 0; i < twos; ++i, a += 8) {
        padded::load(a, m);
        z[i] += m * x;
        zd[i] += m * xd;
      }
    }
#pragma GCC unroll 6
    for (int i = 0; i < ones; ++i) padded::store(y[i], v.once + f.once_[i] * f.stride_ + row);
#pragma GCC unroll 3
    for (int i = 0; i < twos; ++i) {
      padded::store(z[i], v.twice + f.twice_[i] * f.stride_ + row);
      padded::store(zd[i], v.twice_d + f.twice_[i] * f.stride_ + row);
    }
  }
}

// Takes the products written for the numbers of components there are.
template <int kernel>
void PackedFields::choose(int wanted) {
  if (kernel == wanted) products_ = &products<kernel % (kMostOnce + 1), kernel / (kMostOnce + 1)>;
  if constexpr (kernel > 0) choose<kernel - 1>(wanted);
}

PackedFields::PackedFields(const FieldMatrices& once, const FieldMatrices& twice, int n, int stride)
    : once_(once.component), twice_(twice.component), stride_(stride), begin_{0} {
  std::vector<const Mat*> all;
  for (const Mat& m : once.matrix) all.push_back(&m);
  for (const Mat& m : twice.matrix) all.push_back(&m);
  std::vector<double> data;
  for (int row = 0; row < stride; row += 8) {
    const int rows = std::min(8, n - row);
    for (int k = 0; k < n; ++k) {
      if (std::all_of(all.begin(), all.end(), [&](const Mat* m) { return m->col(k).segment(row, rows).isZero(0.0); }))
        continue;
      column_.push_back(k);
      for (const Mat* m : all)
        for (int i = 0; i < 8; ++i) data.push_back(i < rows ? (*m)(row + i, k) : 0.0);
    }
    begin_.push_back(static_cast<int>(column_.size()));
  }
  data_ = Eigen::Map<const Vec>(data.data(), static_cast<Eigen::Index>(data.size()));
  choose<(kMostOnce + 1) * (kMostTwice + 1) - 1>(static_cast<int>(once_.size() + twice_.size() * (kMostOnce + 1)));
}

}  // namespace clatter
