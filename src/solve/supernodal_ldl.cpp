#include "solve/supernodal_ldl.hpp"

#include <metis.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace clatter {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// Elimination tree of the matrix in the new order (Liu 1990); lower triangle by columns of the old order.
std::vector<int> elimination_tree(int n, const std::vector<std::vector<int>>& row_entries) {
  std::vector<int> parent(at(n), -1), ancestor(at(n), -1);
  for (int i = 0; i < n; ++i)
    for (int j : row_entries[at(i)]) {  // j < i
      int k = j;
      while (k != -1 && k < i) {
        const int next = ancestor[at(k)];
        ancestor[at(k)] = i;
        if (next == -1) parent[at(k)] = i;
        k = next;
      }
    }
  return parent;
}

std::vector<int> postorder(const std::vector<int>& parent) {
  const int n = static_cast<int>(parent.size());
  std::vector<int> head(at(n), -1), next(at(n), -1), order, stack;
  for (int i = n - 1; i >= 0; --i)
    if (parent[at(i)] >= 0) {
      next[at(i)] = head[at(parent[at(i)])];
      head[at(parent[at(i)])] = i;
    }
  for (int root = 0; root < n; ++root) {
    if (parent[at(root)] >= 0) continue;
    stack.push_back(root);
    while (!stack.empty()) {
      const int i = stack.back();
      if (const int c = head[at(i)]; c >= 0) {
        head[at(i)] = next[at(c)];
        stack.push_back(c);
      } else {
        order.push_back(i);
        stack.pop_back();
      }
    }
  }
  return order;
}

// Columns j < i of each row i of the lower triangle in the new order.
std::vector<std::vector<int>> rows_in_order(const Eigen::SparseMatrix<double>& A, const std::vector<int>& new_of) {
  std::vector<std::vector<int>> rows(at(static_cast<int>(A.rows())));
  for (int c = 0; c < A.outerSize(); ++c)
    for (Eigen::SparseMatrix<double>::InnerIterator it(A, c); it; ++it) {
      const int i = new_of[at(static_cast<int>(it.row()))], j = new_of[at(c)];
      if (i != j) rows[at(std::max(i, j))].push_back(std::min(i, j));
    }
  return rows;
}

// L D L^T of the lower triangle of the leading k columns of F in place, and the update of the rest, in panels.
void eliminate(Eigen::Ref<Eigen::MatrixXd> F, int k, double* d) {
  constexpr int panel = 64;
  const long n = F.rows();
  Eigen::MatrixXd scaled;
  for (int j0 = 0; j0 < k; j0 += panel) {
    const int w = std::min(panel, k - j0);
    auto D = F.block(j0, j0, w, w);
    for (int j = 0; j < w; ++j) {
      const double pivot = D(j, j);
      d[j0 + j] = pivot;
      const double inverse = pivot != 0 ? 1 / pivot : 0;
      for (int c = j + 1; c < w; ++c) {
        const double f = D(c, j) * inverse;
        for (int r = c; r < w; ++r) D(r, c) -= D(r, j) * f;
      }
      for (int r = j + 1; r < w; ++r) D(r, j) *= inverse;
      D(j, j) = 1;
    }
    const long rest = n - j0 - w;
    if (rest == 0) continue;
    auto B = F.block(j0 + w, j0, rest, w);
    // L21 D = B L11^-T, then L21.
    D.triangularView<Eigen::UnitLower>().transpose().solveInPlace<Eigen::OnTheRight>(B);
    scaled = B;
    for (int j = 0; j < w; ++j) B.col(j) *= d[j0 + j] != 0 ? 1 / d[j0 + j] : 0;
    auto C = F.block(j0 + w, j0 + w, rest, rest);
    C.triangularView<Eigen::Lower>() -= B * scaled.transpose();
  }
}

}  // namespace

SupernodalLdl::SupernodalLdl(const Eigen::SparseMatrix<double>& A, std::span<const int> block_of)
    : n_(static_cast<int>(A.rows())) {
  order(A, block_of);
  analyse(A);
}

void SupernodalLdl::order(const Eigen::SparseMatrix<double>& A, std::span<const int> block_of) {
  // Blocks are numbered densely in the order they appear.
  std::vector<int> block(at(n_));
  int blocks = 0;
  if (block_of.empty()) {
    std::iota(block.begin(), block.end(), 0);
    blocks = n_;
  } else {
    for (int i = 0; i < n_; ++i) {
      if (i > 0 && block_of[at(i)] != block_of[at(i - 1)]) ++blocks;
      block[at(i)] = blocks;
    }
    ++blocks;
  }
  std::vector<std::vector<int>> neighbours(at(blocks));
  for (int c = 0; c < n_; ++c) {
    int last = -1;
    for (Eigen::SparseMatrix<double>::InnerIterator it(A, c); it; ++it) {
      const int a = block[at(static_cast<int>(it.row()))], b = block[at(c)];
      if (a == b || a == last) continue;
      last = a;
      neighbours[at(a)].push_back(b);
      neighbours[at(b)].push_back(a);
    }
  }
  std::vector<idx_t> start{0}, adjacent;
  for (auto& list : neighbours) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    adjacent.insert(adjacent.end(), list.begin(), list.end());
    start.push_back(static_cast<idx_t>(adjacent.size()));
  }
  neighbours.clear();
  std::vector<idx_t> permutation(at(blocks)), inverse(at(blocks));
  std::iota(permutation.begin(), permutation.end(), 0);
  if (blocks > 2 && !adjacent.empty()) {
    std::vector<idx_t> weight(at(blocks), 0);
    for (int b : block) ++weight[at(b)];
    idx_t vertices = blocks;
    idx_t options[METIS_NOPTIONS];
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = 1;
    METIS_NodeND(&vertices, start.data(), adjacent.data(), weight.data(), options, permutation.data(), inverse.data());
  }
  std::vector<std::vector<int>> members(at(blocks));
  for (int i = 0; i < n_; ++i) members[at(block[at(i)])].push_back(i);
  old_of_.clear();
  for (idx_t b : permutation) old_of_.insert(old_of_.end(), members[at(b)].begin(), members[at(b)].end());
  new_of_.resize(at(n_));
  for (int i = 0; i < n_; ++i) new_of_[at(old_of_[at(i)])] = i;
  // The same order but with children right before their parents.
  const std::vector<int> post = postorder(elimination_tree(n_, rows_in_order(A, new_of_)));
  std::vector<int> reordered;
  for (int i : post) reordered.push_back(old_of_[at(i)]);
  old_of_ = std::move(reordered);
  for (int i = 0; i < n_; ++i) new_of_[at(old_of_[at(i)])] = i;
}

void SupernodalLdl::analyse(const Eigen::SparseMatrix<double>& A) {
  std::vector<std::vector<int>> rows = rows_in_order(A, new_of_);
  const std::vector<int> parent = elimination_tree(n_, rows);
  // Entries of each column of L: row i reaches the columns on the tree paths from its entries up to i.
  std::vector<int> count(at(n_), 1), mark(at(n_), -1), children(at(n_), 0);
  for (int i = 0; i < n_; ++i) {
    mark[at(i)] = i;
    for (int j : rows[at(i)])
      for (int k = j; mark[at(k)] != i; k = parent[at(k)]) {
        ++count[at(k)];
        mark[at(k)] = i;
      }
  }
  for (int i = 0; i < n_; ++i)
    if (parent[at(i)] >= 0) ++children[at(parent[at(i)])];

  struct Group {
    int first, width;
    double zeros;
  };
  std::vector<Group> groups;
  std::vector<int> group_of(at(n_));
  for (int j = 0; j < n_; ++j) {
    const bool joins = j > 0 && parent[at(j - 1)] == j && children[at(j)] == 1 && count[at(j - 1)] == count[at(j)] + 1;
    if (joins)
      ++groups.back().width;
    else
      groups.push_back({j, 1, 0});
    group_of[at(j)] = static_cast<int>(groups.size()) - 1;
  }
  // Merge a supernode into its parent where the parent follows directly and few zeros are stored for it.
  std::vector<Group> merged;
  for (const Group& g : groups) {
    Group current = g;
    while (!merged.empty()) {
      const Group& child = merged.back();
      const int last = child.first + child.width - 1;
      if (parent[at(last)] < current.first || parent[at(last)] >= current.first + current.width ||
          last + 1 != current.first)
        break;
      const double below = count[at(current.first + current.width - 1)] - 1;
      const double wide = child.width + current.width;
      const double stored = wide * (wide + 1) / 2 + wide * below;
      const double child_below = count[at(last)] - 1;
      const double child_stored = child.width * (child.width + 1) / 2.0 + child.width * child_below;
      const double current_stored = current.width * (current.width + 1) / 2.0 + current.width * below;
      const double zeros = child.zeros + current.zeros + stored - child_stored - current_stored;
      const double share = zeros / stored;
      if (!(wide <= 12 || (wide <= 32 && share < 0.4) || (wide <= 96 && share < 0.15) || share < 0.05)) break;
      current = {child.first, child.width + current.width, zeros};
      merged.pop_back();
    }
    merged.push_back(current);
  }

  nodes_.clear();
  node_of_.assign(at(n_), 0);
  for (const Group& g : merged) {
    for (int j = g.first; j < g.first + g.width; ++j) node_of_[at(j)] = static_cast<int>(nodes_.size());
    nodes_.push_back({g.first, g.width, -1, {}, {}, {}});
  }
  // Rows below each supernode: of its columns of A, and what its children leave.
  std::vector<std::vector<int>> below(nodes_.size());
  for (int i = 0; i < n_; ++i)
    for (int j : rows[at(i)])
      if (node_of_[at(j)] != node_of_[at(i)]) below[at(node_of_[at(j)])].push_back(i);
  rows.clear();
  std::fill(mark.begin(), mark.end(), -1);
  entries_ = operations_ = 0;
  for (std::size_t s = 0; s < nodes_.size(); ++s) {
    Node& node = nodes_[s];
    const int end = node.first + node.width;
    const auto take = [&](int i) {
      if (i >= end && mark[at(i)] != static_cast<int>(s)) {
        mark[at(i)] = static_cast<int>(s);
        node.rows.push_back(i);
      }
    };
    for (int i : below[s]) take(i);
    for (int c : node.children)
      for (int i : nodes_[at(c)].rows) take(i);
    below[s].clear();
    below[s].shrink_to_fit();
    std::sort(node.rows.begin(), node.rows.end());
    if (!node.rows.empty()) {
      node.parent = node_of_[at(node.rows.front())];
      nodes_[at(node.parent)].children.push_back(static_cast<int>(s));
    }
    const double w = node.width, r = static_cast<double>(node.rows.size());
    entries_ += w * (w + 1) / 2 + w * r;
    operations_ += w * w * w / 3 + w * w * r + w * r * r;
  }
}

bool SupernodalLdl::factorize(const Eigen::SparseMatrix<double>& A, const std::function<void(double)>& progress) {
  d_.resize(n_);
  negative_ = 0;
  smallest_ = std::numeric_limits<double>::infinity();
  smallest_at_ = -1;
  std::vector<Eigen::MatrixXd> updates(nodes_.size());
  std::vector<int> local(at(n_), -1);
  Eigen::VectorXd diagonal = Eigen::VectorXd::Zero(n_);
  // Columns of the lower triangle in the new order, gathered by the smaller of the two indices.
  std::vector<int> start(at(n_) + 1, 0);
  for (int c = 0; c < n_; ++c)
    for (Eigen::SparseMatrix<double>::InnerIterator it(A, c); it; ++it)
      ++start[at(std::min(new_of_[at(static_cast<int>(it.row()))], new_of_[at(c)])) + 1];
  std::partial_sum(start.begin(), start.end(), start.begin());
  std::vector<std::pair<int, double>> entry(at(start.back()));
  {
    std::vector<int> fill(start.begin(), start.end() - 1);
    for (int c = 0; c < n_; ++c)
      for (Eigen::SparseMatrix<double>::InnerIterator it(A, c); it; ++it) {
        const int i = new_of_[at(static_cast<int>(it.row()))], j = new_of_[at(c)];
        entry[at(fill[at(std::min(i, j))]++)] = {std::max(i, j), it.value()};
        if (i == j) diagonal[i] = it.value();
      }
  }
  double done = 0, told = 0;
  Eigen::MatrixXd F;
  for (std::size_t s = 0; s < nodes_.size(); ++s) {
    Node& node = nodes_[s];
    const int w = node.width, r = static_cast<int>(node.rows.size());
    F.setZero(w + r, w + r);
    for (int k = 0; k < r; ++k) local[at(node.rows[at(k)])] = w + k;
    for (int j = 0; j < w; ++j) local[at(node.first + j)] = j;
    for (int j = 0; j < w; ++j)
      for (int e = start[at(node.first + j)]; e < start[at(node.first + j + 1)]; ++e)
        F(local[at(entry[at(e)].first)], j) += entry[at(e)].second;
    for (int c : node.children) {
      const Node& child = nodes_[at(c)];
      Eigen::MatrixXd& U = updates[at(c)];
      const int m = static_cast<int>(child.rows.size());
      for (int q = 0; q < m; ++q) {
        double* column = &F(0, local[at(child.rows[at(q)])]);
        const double* from = U.data() + static_cast<std::ptrdiff_t>(q) * m;
        for (int p = q; p < m; ++p) column[local[at(child.rows[at(p)])]] += from[p];
      }
      U.resize(0, 0);
    }
    eliminate(F, w, d_.data() + node.first);
    for (int j = 0; j < w; ++j) {
      const double pivot = d_[node.first + j], size = std::abs(diagonal[node.first + j]);
      if (!std::isfinite(pivot) || pivot == 0) {
        smallest_ = 0;
        smallest_at_ = old_of_[at(node.first + j)];
        return false;
      }
      if (pivot < 0) ++negative_;
      const double ratio = size > 0 ? std::abs(pivot) / size : 0;
      if (ratio < smallest_) {
        smallest_ = ratio;
        smallest_at_ = old_of_[at(node.first + j)];
      }
    }
    node.panel.resize(at(w + r) * at(w));
    Eigen::Map<Eigen::MatrixXd>(node.panel.data(), w + r, w) = F.leftCols(w);
    if (r > 0) updates[s] = F.bottomRightCorner(r, r);
    done += static_cast<double>(w) * w * w / 3 + static_cast<double>(w) * w * r + static_cast<double>(w) * r * r;
    if (progress && done > told + 0.02 * operations_) {
      progress(done / operations_);
      told = done;
    }
  }
  return true;
}

void SupernodalLdl::solve(Eigen::Ref<Eigen::MatrixXd> X) const {
  const long columns = X.cols();
  // Rows of right-hand sides stay together in memory: a block of all columns for each freedom.
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  RowMajor Y(n_, columns);
  for (int i = 0; i < n_; ++i) Y.row(i) = X.row(old_of_[at(i)]);
  RowMajor T;
  for (const Node& node : nodes_) {
    const int w = node.width, r = static_cast<int>(node.rows.size());
    const Eigen::Map<const Eigen::MatrixXd> L(node.panel.data(), w + r, w);
    auto own = Y.middleRows(node.first, w);
    L.topRows(w).triangularView<Eigen::UnitLower>().solveInPlace(own);
    if (r == 0) continue;
    T.noalias() = L.bottomRows(r) * own;
    for (int k = 0; k < r; ++k) Y.row(node.rows[at(k)]) -= T.row(k);
  }
  for (int i = 0; i < n_; ++i) Y.row(i) /= d_[i];
  for (std::size_t s = nodes_.size(); s-- > 0;) {
    const Node& node = nodes_[s];
    const int w = node.width, r = static_cast<int>(node.rows.size());
    const Eigen::Map<const Eigen::MatrixXd> L(node.panel.data(), w + r, w);
    auto own = Y.middleRows(node.first, w);
    if (r > 0) {
      T.resize(r, columns);
      for (int k = 0; k < r; ++k) T.row(k) = Y.row(node.rows[at(k)]);
      own.noalias() -= L.bottomRows(r).transpose() * T;
    }
    L.topRows(w).triangularView<Eigen::UnitLower>().transpose().solveInPlace(own);
  }
  for (int i = 0; i < n_; ++i) X.row(old_of_[at(i)]) = Y.row(i);
}

}  // namespace clatter
