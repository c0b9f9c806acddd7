#include "fem/assembler.hpp"

#include <algorithm>

namespace clatter::fem {
namespace {
std::size_t at(int i) { return static_cast<std::size_t>(i); }
}  // namespace

Assembler::Assembler(std::vector<int> sizes) : size_(std::move(sizes)) {
  first_.push_back(0);
  for (int s : size_) first_.push_back(first_.back() + s);
  neighbours_.resize(size_.size());
}

void Assembler::connect(std::span<const int> units) {
  for (int a : units)
    for (int b : units)
      if (b > a) neighbours_[at(a)].push_back(b);
}

void Assembler::close() {
  const int units = static_cast<int>(size_.size());
  offset_.resize(size_.size());
  outer_.assign(1, 0);
  for (int u = 0; u < units; ++u) {
    auto& n = neighbours_[at(u)];
    std::sort(n.begin(), n.end());
    n.erase(std::unique(n.begin(), n.end()), n.end());
    n.shrink_to_fit();
    int rows = 0;
    for (int v : n) {
      offset_[at(u)].push_back(rows);
      rows += size_[at(v)];
    }
    for (int i = 0; i < size_[at(u)]; ++i) {
      for (int r = i; r < size_[at(u)]; ++r) inner_.push_back(first_[at(u)] + r);
      for (int v : n)
        for (int r = 0; r < size_[at(v)]; ++r) inner_.push_back(first_[at(v)] + r);
      outer_.push_back(static_cast<int>(inner_.size()));
    }
  }
}

Eigen::SparseMatrix<double> Assembler::zero() const {
  const int n = freedoms();
  Eigen::SparseMatrix<double> m(n, n);
  m.resizeNonZeros(static_cast<int>(inner_.size()));
  std::copy(outer_.begin(), outer_.end(), m.outerIndexPtr());
  std::copy(inner_.begin(), inner_.end(), m.innerIndexPtr());
  std::fill(m.valuePtr(), m.valuePtr() + inner_.size(), 0.0);
  return m;
}

void Assembler::add(Eigen::SparseMatrix<double>& matrix, int a, int b, const double* block, int stride) const {
  double* value = matrix.valuePtr();
  if (a == b) {
    for (int c = 0; c < size_[at(a)]; ++c)
      for (int r = c; r < size_[at(a)]; ++r) value[outer_[at(first_[at(a)] + c)] + r - c] += block[c * stride + r];
    return;
  }
  const int lower = std::max(a, b), upper = std::min(a, b);  // rows, columns
  const auto& n = neighbours_[at(upper)];
  const auto k = static_cast<std::size_t>(std::lower_bound(n.begin(), n.end(), lower) - n.begin());
  const int skip = offset_[at(upper)][k];
  for (int c = 0; c < size_[at(upper)]; ++c) {
    double* column = value + outer_[at(first_[at(upper)] + c)] + (size_[at(upper)] - c) + skip;
    for (int r = 0; r < size_[at(lower)]; ++r) column[r] += a == lower ? block[c * stride + r] : block[r * stride + c];
  }
}

}  // namespace clatter::fem
