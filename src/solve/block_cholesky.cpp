#include "solve/block_cholesky.hpp"

#include <amd.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

namespace clatter {

namespace {

// Columns eliminated one by one before the rest of a panel hears of them.
constexpr int kStrip = 24;
// Products go by tiles of this size: what Eigen packs of them has room on the stack.
constexpr int kTile = 96;
// Zeros stored where supernodes are merged, as a part of the panel; narrow ones may have more.
constexpr double kZeros = 0.15, kZerosNarrow = 0.4;
constexpr int kNarrow = 4;

using Block = Eigen::Map<Eigen::MatrixXd, 0, Eigen::OuterStride<>>;
using ConstBlock = Eigen::Map<const Eigen::MatrixXd, 0, Eigen::OuterStride<>>;

// C -= A B^T; C m x n, A m x k, B n x k.
void subtract_product(double* C, int c, const double* A, int a, const double* B, int b, int m, int n, int k) {
  for (int j = 0; j < n; j += kTile)
    for (int l = 0; l < k; l += kTile)
      for (int i = 0; i < m; i += kTile) {
        const int p = std::min(kTile, m - i), q = std::min(kTile, n - j), r = std::min(kTile, k - l);
        Block(C + i + static_cast<std::ptrdiff_t>(j) * c, p, q, Eigen::OuterStride<>(c)).noalias() -=
            ConstBlock(A + i + static_cast<std::ptrdiff_t>(l) * a, p, r, Eigen::OuterStride<>(a)) *
            ConstBlock(B + j + static_cast<std::ptrdiff_t>(l) * b, q, r, Eigen::OuterStride<>(b)).transpose();
      }
}

}  // namespace

std::pair<int, int> BlockCholesky::unknowns_of(int island) const {
  const Island& k = islands_[at(island)];
  const Supernode &a = supernodes_[at(k.begin)], &b = supernodes_[at(k.end - 1)];
  return {a.first, b.first + b.width};
}

std::span<const int> BlockCholesky::rows_of(int island) const {
  const Island& k = islands_[at(island)];
  const int begin = supernodes_[at(k.begin)].begin;
  return {order_.data() + begin, at(supernodes_[at(k.end - 1)].end - begin)};
}

void BlockCholesky::analyse(std::span<const int> sizes, std::span<const std::pair<int, int>> coupled) {
  const bool same_graph =
      size_.size() == sizes.size() && std::equal(coupled.begin(), coupled.end(), coupled_.begin(), coupled_.end());
  if (same_graph && std::equal(sizes.begin(), sizes.end(), size_.begin())) return;
  size_.assign(sizes.begin(), sizes.end());
  if (!same_graph) {
    coupled_.assign(coupled.begin(), coupled.end());
    order();
    number();
    structures();
  }
  gather_supernodes();
}

void BlockCholesky::order() {
  const int n = rows(), edges = 2 * static_cast<int>(coupled_.size());
  start_.assign(at(n) + 1, 0);
  for (const auto& [i, j] : coupled_) {
    ++start_[at(i) + 1];
    ++start_[at(j) + 1];
  }
  for (int i = 0; i < n; ++i) start_[at(i) + 1] += start_[at(i)];
  adjacent_.resize(at(edges));
  mark_.assign(start_.begin(), start_.end() - 1);
  for (const auto& [i, j] : coupled_) {
    adjacent_[at(mark_[at(i)]++)] = j;
    adjacent_[at(mark_[at(j)]++)] = i;
  }
  order_.resize(at(n));
  position_.resize(at(n));
  if (n == 0) return;
  // Pe, Len, Nv, Next, Head, Elen, Degree, W by block row; Iw with elbow room.
  for (int k = 0; k < 8; ++k) amd_[k].resize(at(n));
  std::copy(start_.begin(), start_.end() - 1, amd_[0].begin());
  for (int i = 0; i < n; ++i) amd_[1][at(i)] = start_[at(i) + 1] - start_[at(i)];
  const int room = edges + edges / 5 + n + 1;
  amd_[8].resize(at(room));
  std::copy(adjacent_.begin(), adjacent_.end(), amd_[8].begin());
  double control[AMD_CONTROL], info[AMD_INFO];
  amd_defaults(control);
  amd_2(n, amd_[0].data(), amd_[8].data(), amd_[1].data(), room, edges, amd_[2].data(), amd_[3].data(), order_.data(),
        amd_[4].data(), amd_[5].data(), amd_[6].data(), amd_[7].data(), control, info);
  for (int k = 0; k < n; ++k) position_[at(order_[at(k)])] = k;
}

// Elimination tree (Liu 1990), children before parents and next to each other.
void BlockCholesky::number() {
  const int n = rows();
  parent_.assign(at(n), -1);
  ancestor_.assign(at(n), -1);
  for (int k = 0; k < n; ++k) {
    const int i = order_[at(k)];
    for (int e = start_[at(i)]; e < start_[at(i) + 1]; ++e)
      for (int j = position_[at(adjacent_[at(e)])]; j >= 0 && j < k;) {
        const int next = ancestor_[at(j)];
        ancestor_[at(j)] = k;
        if (next < 0) parent_[at(j)] = k;
        j = next;
      }
  }
  child_.assign(at(n) + 1, -1);
  sibling_.assign(at(n), -1);
  const auto root = at(n);
  for (int k = n - 1; k >= 0; --k) {
    int& first = child_[parent_[at(k)] < 0 ? root : at(parent_[at(k)])];
    sibling_[at(k)] = first;
    first = k;
  }
  // place_of = ancestor_: new place of each old one.
  int next = 0;
  stack_.clear();
  for (int r = child_[root]; r >= 0; r = sibling_[at(r)]) {
    stack_.push_back(r);
    while (!stack_.empty()) {
      const int k = stack_.back();
      if (child_[at(k)] >= 0) {
        stack_.push_back(child_[at(k)]);
        child_[at(k)] = sibling_[at(child_[at(k)])];
        continue;
      }
      ancestor_[at(k)] = next++;
      stack_.pop_back();
    }
  }
  mark_.assign(order_.begin(), order_.end());
  child_.assign(parent_.begin(), parent_.end());
  for (int k = 0; k < n; ++k) {
    const int place = ancestor_[at(k)];
    order_[at(place)] = mark_[at(k)];
    position_[at(mark_[at(k)])] = place;
    parent_[at(place)] = child_[at(k)] < 0 ? -1 : ancestor_[at(child_[at(k)])];
  }
}

void BlockCholesky::structures() {
  const int n = rows();
  below_begin_.resize(at(n) + 1);
  below_.clear();
  mark_.assign(at(n), -1);
  child_.assign(at(n), -1);
  sibling_.assign(at(n), -1);
  for (int k = 0; k < n; ++k) {
    below_begin_[at(k)] = static_cast<int>(below_.size());
    const auto take = [&](int row) {
      if (row <= k || mark_[at(row)] == k) return;
      mark_[at(row)] = k;
      below_.push_back(row);
    };
    const int i = order_[at(k)];
    for (int e = start_[at(i)]; e < start_[at(i) + 1]; ++e) take(position_[at(adjacent_[at(e)])]);
    for (int c = child_[at(k)]; c >= 0; c = sibling_[at(c)])
      for (int e = below_begin_[at(c)]; e < below_begin_[at(c) + 1]; ++e) take(below_[at(e)]);
    std::sort(below_.begin() + below_begin_[at(k)], below_.end());
    below_begin_[at(k) + 1] = static_cast<int>(below_.size());
    if (parent_[at(k)] >= 0) {
      sibling_[at(k)] = child_[at(parent_[at(k)])];
      child_[at(parent_[at(k)])] = k;
    }
  }
}

void BlockCholesky::gather_supernodes() {
  const int n = rows();
  const auto count = [&](int k) { return below_begin_[at(k) + 1] - below_begin_[at(k)]; };
  supernodes_.clear();
  zeros_.clear();  // blocks stored for nothing, by supernode
  for (int k = 0; k < n; ++k) {
    Supernode s{};
    s.begin = k;
    s.end = k + 1;
    int zeros = 0;
    while (!supernodes_.empty()) {
      const Supernode& last = supernodes_.back();
      const int parent = parent_[at(last.end - 1)];
      if (parent < s.begin || parent >= s.end) break;
      const int columns = last.end - last.begin, rows_of = s.end - s.begin + count(s.end - 1);
      const int more = zeros_.back() + zeros + columns * (rows_of - count(last.end - 1));
      const int width = s.end - last.begin;
      const double stored = 0.5 * width * (width + 1.0) + 1.0 * width * count(s.end - 1);
      if (more > (width <= kNarrow ? kZerosNarrow : kZeros) * stored) break;
      zeros = more;
      s.begin = last.begin;
      supernodes_.pop_back();
      zeros_.pop_back();
    }
    supernodes_.push_back(s);
    zeros_.push_back(zeros);
  }
  first_.resize(at(n) + 1);
  first_[0] = 0;
  for (int k = 0; k < n; ++k) first_[at(k) + 1] = first_[at(k)] + size_[at(order_[at(k)])];
  unknowns_ = first_[at(n)];
  supernode_of_.resize(at(n));
  island_of_.resize(at(n));
  rows_.clear();
  row_offset_.clear();
  islands_.clear();
  std::size_t values = 0;
  int highest = 0;
  operations_ = 0;
  for (int k = 0; k < static_cast<int>(supernodes_.size()); ++k) {
    Supernode& s = supernodes_[at(k)];
    s.first = first_[at(s.begin)];
    s.width = first_[at(s.end)] - s.first;
    s.height = s.width;
    s.below = static_cast<int>(rows_.size());
    for (int e = below_begin_[at(s.end - 1)]; e < below_begin_[at(s.end)]; ++e) {
      rows_.push_back(below_[at(e)]);
      row_offset_.push_back(s.height);
      s.height += first_[at(below_[at(e)]) + 1] - first_[at(below_[at(e)])];
    }
    s.below_end = static_cast<int>(rows_.size());
    s.values = values;
    values += at(s.height) * at(s.width);
    highest = std::max(highest, s.height);
    operations_ += 0.5 * s.width * (1.0 * s.height * s.height - 1.0 * s.height * s.width + s.width * s.width / 3.0);
    if (s.begin == 0 || parent_[at(s.begin - 1)] < 0) islands_.push_back({k, k});
    islands_.back().end = k + 1;
    for (int j = s.begin; j < s.end; ++j) {
      supernode_of_[at(j)] = k;
      island_of_[at(j)] = islands() - 1;
    }
  }
  entries_ = static_cast<long>(values);
  if (values_.size() < values) values_.resize(values);
  if (work_.size() < at(highest) * kTile) work_.resize(at(highest) * kTile);
  if (part_.size() < at(highest)) part_.resize(at(highest));
}

void BlockCholesky::set_zero(int island) {
  const Island& k = islands_[at(island)];
  const Supernode& last = supernodes_[at(k.end - 1)];
  std::fill(values_.begin() + static_cast<std::ptrdiff_t>(supernodes_[at(k.begin)].values),
            values_.begin() + static_cast<std::ptrdiff_t>(last.values + at(last.height) * at(last.width)), 0.0);
}

double* BlockCholesky::block(int i, int j, int& stride) {
  const int row = position_[at(i)], column = position_[at(j)];
  const Supernode& s = supernodes_[at(supernode_of_[at(column)])];
  stride = s.height;
  int offset = first_[at(row)] - s.first;
  if (row >= s.end) {
    const auto found = std::lower_bound(rows_.begin() + s.below, rows_.begin() + s.below_end, row);
    offset = row_offset_[static_cast<std::size_t>(found - rows_.begin())];
  }
  return values_.data() + s.values + at(first_[at(column)] - s.first) * at(s.height) + offset;
}

// L of the columns of a panel, from those of A with what was passed on to them.
bool BlockCholesky::eliminate(double* panel, int height, int width) {
  const auto column = [&](int j) { return panel + static_cast<std::ptrdiff_t>(j) * height; };
  for (int k = 0; k < width; k += kStrip) {
    const int end = std::min(width, k + kStrip);
    for (int j = k; j < end; ++j) {
      double* a = column(j);
      if (!(a[j] > 0) || !std::isfinite(a[j])) return false;
      const double scale = 1 / std::sqrt(a[j]);
      for (int i = j; i < height; ++i) a[i] *= scale;
      for (int c = j + 1; c < end; ++c) {
        double* b = column(c);
        const double f = a[c];
        if (f == 0) continue;
        for (int i = c; i < height; ++i) b[i] -= f * a[i];
      }
    }
    for (int c = end; c < width; c += kTile) {
      const int n = std::min(kTile, width - c);
      subtract_product(column(c) + c, height, column(k) + c, height, column(k) + c, height, height - c, n, end - k);
    }
  }
  return true;
}

// Panels of ancestors: minus the products of the rows below.
void BlockCholesky::pass_on(const Supernode& s) {
  const double* panel = values_.data() + s.values;
  for (int e = s.below; e < s.below_end;) {
    const Supernode& up = supernodes_[at(supernode_of_[at(rows_[at(e)])])];
    int columns_end = e;
    while (columns_end < s.below_end && rows_[at(columns_end)] < up.end) ++columns_end;
    // Where the blocks from e on stand in that panel.
    target_.clear();
    int look = up.below;
    for (int r = e; r < s.below_end; ++r) {
      const int row = rows_[at(r)];
      if (row < up.end) {
        target_.push_back(first_[at(row)] - up.first);
        continue;
      }
      while (rows_[at(look)] != row) ++look;
      target_.push_back(row_offset_[at(look)]);
    }
    const int from = row_offset_[at(e)], m = s.height - from;
    const int to = columns_end < s.below_end ? row_offset_[at(columns_end)] : s.height;
    double* into = values_.data() + up.values;
    for (int c = from; c < to; c += kTile) {
      const int n = std::min(kTile, to - c);
      std::fill(work_.begin(), work_.begin() + static_cast<std::ptrdiff_t>(m) * n, 0.0);
      subtract_product(work_.data(), m, panel + from, s.height, panel + c, s.height, m, n, s.width);
      int block = e;  // of column c + j
      while (block + 1 < columns_end && row_offset_[at(block + 1)] <= c) ++block;
      for (int j = 0; j < n; ++j) {
        while (block + 1 < columns_end && row_offset_[at(block + 1)] <= c + j) ++block;
        const int column = target_[at(block - e)] + c + j - row_offset_[at(block)];
        double* b = into + static_cast<std::ptrdiff_t>(column) * up.height;
        const double* a = work_.data() + static_cast<std::ptrdiff_t>(j) * m;
        for (int r = block; r < s.below_end; ++r) {
          const int begin = row_offset_[at(r)] - from;
          const int end = (r + 1 < s.below_end ? row_offset_[at(r + 1)] : s.height) - from;
          double* out = b + target_[at(r - e)];
          for (int i = begin; i < end; ++i) out[i - begin] += a[i];
        }
      }
    }
    e = columns_end;
  }
}

bool BlockCholesky::factorize(int island) {
  const Island& k = islands_[at(island)];
  for (int i = k.begin; i < k.end; ++i) {
    const Supernode& s = supernodes_[at(i)];
    if (!eliminate(values_.data() + s.values, s.height, s.width)) return false;
    pass_on(s);
  }
  return true;
}

void BlockCholesky::solve(int island, double* x) {
  const Island& k = islands_[at(island)];
  // Of the rows below: their unknowns, block by block.
  const auto each_below = [&](const Supernode& s, const auto& visit) {
    for (int r = s.below; r < s.below_end; ++r) {
      const int begin = first_[at(rows_[at(r)])], n = first_[at(rows_[at(r)]) + 1] - begin;
      visit(x + begin, part_.data() + row_offset_[at(r)], n);
    }
  };
  for (int i = k.begin; i < k.end; ++i) {
    const Supernode& s = supernodes_[at(i)];
    const double* panel = values_.data() + s.values;
    double* b = x + s.first;
    std::copy(b, b + s.width, part_.begin());
    std::fill(part_.begin() + s.width, part_.begin() + s.height, 0.0);
    for (int j = 0; j < s.width; ++j) {
      const double* a = panel + static_cast<std::ptrdiff_t>(j) * s.height;
      const double f = part_[at(j)] /= a[j];
      for (int r = j + 1; r < s.height; ++r) part_[at(r)] -= f * a[r];
    }
    std::copy(part_.begin(), part_.begin() + s.width, b);
    each_below(s, [](double* out, const double* change, int n) {
      for (int j = 0; j < n; ++j) out[j] += change[j];
    });
  }
  for (int i = k.end - 1; i >= k.begin; --i) {
    const Supernode& s = supernodes_[at(i)];
    const double* panel = values_.data() + s.values;
    double* b = x + s.first;
    each_below(s, [](double* in, double* part, int n) { std::copy(in, in + n, part); });
    std::copy(b, b + s.width, part_.begin());
    for (int j = s.width - 1; j >= 0; --j) {
      const double* a = panel + static_cast<std::ptrdiff_t>(j) * s.height;
      const Eigen::Map<const Eigen::VectorXd> l(a + j + 1, s.height - j - 1),
          known(part_.data() + j + 1, s.height - j - 1);
      part_[at(j)] = (part_[at(j)] - l.dot(known)) / a[j];
    }
    std::copy(part_.begin(), part_.begin() + s.width, b);
  }
}

}  // namespace clatter
