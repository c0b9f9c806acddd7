#include "integrate/redundant_rows.hpp"

#include <algorithm>
#include <cmath>

namespace clatter {

namespace {

constexpr double kDependent = 1e-9;  // squared sine of the angle to the rows kept
// Beyond this many rows the regularised matrix alone must do.
constexpr int kMostRows = 300;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

RedundantRows::RedundantRows(const Sizes& n) {
  if (n.nc() == 0 || n.nc() > kMostRows) return;
  matrix_.setZero(n.nc(), n.nc());
  scale_.setZero(n.nc());
  column_.setZero(n.nc());
  found_.assign(at(n.nc()), 0);
}

void RedundantRows::exchange(Archive& archive) { archive.count(look_); }

const std::vector<char>& RedundantRows::find(const Tangents& tangents) {
  if (found_.empty()) return none_;
  matrix_.setZero();
  const Pattern& G = tangents.G.pattern();
  const std::span<const double> g = tangents.G.values();
  for (int j = 0; j < G.cols(); ++j) {
    const double mass = tangents.M.at(j, j);
    const double weight = mass > 0 ? 1 / mass : 1;
    for (int k = G.col_start()[at(j)]; k < G.col_start()[at(j) + 1]; ++k) {
      for (int l = G.col_start()[at(j)]; l < G.col_start()[at(j) + 1]; ++l) {
        matrix_(G.row_index()[at(k)], G.row_index()[at(l)]) += weight * g[at(k)] * g[at(l)];
      }
    }
  }
  // Cholesky with complete pivoting on the matrix of cosines: the rows kept are those with the widest angles between
  // them.
  const int n = static_cast<int>(scale_.size());
  for (int i = 0; i < n; ++i) scale_[i] = matrix_(i, i) > 0 ? 1 / std::sqrt(matrix_(i, i)) : 0;
  for (int j = 0; j < n; ++j) matrix_.col(j).array() *= scale_.array() * scale_[j];
  std::fill(found_.begin(), found_.end(), char{1});
  int kept = 0;
  for (; kept < n; ++kept) {
    int best = -1;
    for (int i = 0; i < n; ++i) {
      if (found_[at(i)] && (best < 0 || matrix_(i, i) > matrix_(best, best))) best = i;
    }
    const double pivot = matrix_(best, best);
    if (!(pivot > kDependent)) break;
    found_[at(best)] = 0;
    column_ = matrix_.col(best);
    for (int j = 0; j < n; ++j) matrix_.col(j) -= (column_[j] / pivot) * column_;
  }
  look_ = kept < n;
  return look_ ? found_ : none_;
}

}  // namespace clatter
