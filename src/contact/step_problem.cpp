#include "contact/step_problem.hpp"

#include <algorithm>
#include <cstdlib>

namespace clatter::contact {

namespace {

// Above this many rows the dense methods cost more than sweeps over blocks.
constexpr int kDenseRows = 160;
// Up to this many velocities a matrix of theirs is factored within milliseconds.
constexpr int kNewtonVelocities = 600;
constexpr double kProxTolerance = 1e-8;
constexpr int kProxSweeps = 4000, kLastSweeps = 20000;

}  // namespace

StepProblem::StepProblem(Contacts& contacts) : contacts_(contacts), engine_(contacts.engine()) {
  const Tree& tree = engine_.system().tree;
  engine_.response_groups(group_of_tree_);
  for (std::size_t t = 0; t < tree.trees.size(); ++t) {
    const auto g = static_cast<std::size_t>(std::abs(group_of_tree_[t]) - 1);
    if (groups_.size() <= g) groups_.resize(g + 1);
    const TreeRange& range = tree.trees[t];
    groups_[g].ranges.emplace_back(range.v0, range.v1 - range.v0);
    groups_[g].size += range.v1 - range.v0;
    groups_[g].lone_tree = group_of_tree_[t] > 0 ? static_cast<int>(t) : -1;
    group_of_tree_[t] = static_cast<int>(g);
  }
  whole_.ranges.emplace_back(0, engine_.sizes().nv);
  whole_.size = engine_.sizes().nv;
  column_.setZero(engine_.sizes().nv);
  answer_.setZero(engine_.sizes().nv);
}

void StepProblem::begin(StepMatrix* matrix) {
  matrix_ = matrix;
  for (const int g : touched_) groups_[static_cast<std::size_t>(g)].members.clear();
  whole_.members.clear();
  touched_.clear();
  items_.clear();
  parts_.clear();
  W_.clear();
  X_.clear();
}

void StepProblem::gather(const Group& group, const double* full, double* packed) const {
  for (const auto& [v0, n] : group.ranges) packed = std::copy(full + v0, full + v0 + n, packed);
}

StepProblem::Item& StepProblem::add(int slot, const BlockCone& cone) {
  const int index = size();
  Item item;
  item.slot = slot;
  item.cone = cone;
  items_.push_back(item);
  std::array<Part, 2> parts;
  const PairInstance& pair = contacts_.system().pair(slot);
  const int links[2] = {pair.link1, pair.link2};
  int count = 0;
  for (const int link : links) {
    if (link < 0) continue;
    const int tree = engine_.system().tree.links[static_cast<std::size_t>(link)].tree;
    const int g = matrix_ != nullptr ? 0 : group_of_tree_[static_cast<std::size_t>(tree)];
    if (count == 1 && parts[0].group == g) continue;
    Group& group = matrix_ != nullptr ? whole_ : groups_[static_cast<std::size_t>(g)];
    if (group.size == 0) continue;
    if (group.members.empty() && matrix_ == nullptr) touched_.push_back(g);
    group.members.push_back(index);
    parts[static_cast<std::size_t>(count)].group = g;
    parts[static_cast<std::size_t>(count)].offset = static_cast<int>(W_.size());
    W_.resize(W_.size() + static_cast<std::size_t>(item.rows() * group.size));
    ++count;
  }
  X_.resize(W_.size());
  for (int k = 0; k < item.rows(); ++k) {
    contacts_.column(slot, k, column_.data());
    bool answered = false;
    for (const Part& part : parts) {
      if (part.group < 0) continue;
      const Group& group = matrix_ != nullptr ? whole_ : groups_[static_cast<std::size_t>(part.group)];
      double* W = W_.data() + part.offset + k * group.size;
      double* X = X_.data() + part.offset + k * group.size;
      gather(group, column_.data(), W);
      if (matrix_ != nullptr) {
        matrix_->solve(column_.data(), nullptr, X, nullptr);
      } else if (group.lone_tree >= 0) {
        engine_.response_tree(group.lone_tree, W, X);
      } else {
        if (!answered) engine_.response(column_.data(), answer_.data(), nullptr);
        answered = true;
        gather(group, answer_.data(), X);
      }
    }
  }
  parts_.push_back(parts);
  return items_.back();
}

double StepProblem::along(int i, int k, const Vec& x) const {
  double sum = 0;
  for (const Part& part : parts_[static_cast<std::size_t>(i)]) {
    if (part.group < 0) continue;
    const Group& group = matrix_ != nullptr ? whole_ : groups_[static_cast<std::size_t>(part.group)];
    const double* W = W_.data() + part.offset + k * group.size;
    for (const auto& [v0, n] : group.ranges)
      for (int j = 0; j < n; ++j) sum += *W++ * x[v0 + j];
  }
  return sum;
}

void StepProblem::assemble(double factor) {
  A_.blocks.clear();
  A_.begin.assign(1, 0);
  seen_.assign(items_.size(), -1);
  row0_.clear();
  int row = 0;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const int ni = items_[i].rows();
    row0_.push_back(row);
    row += ni;
    for (const Part& part : parts_[i]) {
      if (part.group < 0) continue;
      const Group& group = matrix_ != nullptr ? whole_ : groups_[static_cast<std::size_t>(part.group)];
      for (const int j : group.members) {
        const auto at = static_cast<std::size_t>(j);
        if (seen_[at] < A_.begin.back()) {
          seen_[at] = static_cast<int>(A_.blocks.size());
          A_.blocks.push_back({j, Mat3::Zero()});
        }
        Mat3& A = A_.blocks[static_cast<std::size_t>(seen_[at])].A;
        const Part& other = parts_[at][0].group == part.group ? parts_[at][0] : parts_[at][1];
        const int nj = items_[at].rows();
        for (int k = 0; k < ni; ++k) {
          const Eigen::Map<const Vec> w(W_.data() + part.offset + k * group.size, group.size);
          for (int l = 0; l < nj; ++l) {
            const Eigen::Map<const Vec> x(X_.data() + other.offset + l * group.size, group.size);
            A(k, l) += factor * w.dot(x);
          }
        }
      }
    }
    A_.begin.push_back(static_cast<int>(A_.blocks.size()));
  }
}

int StepProblem::rows() const {
  int n = 0;
  for (const Item& item : items_) n += item.rows();
  return n;
}

bool StepProblem::few_rows() const { return rows() <= kDenseRows; }

void StepProblem::matrix(Mat& A) const {
  const int n = rows();
  A.setZero(n, n);
  int at = 0;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    for (int k = A_.begin[i]; k < A_.begin[i + 1]; ++k) {
      const BlockMatrix::Block& block = A_.blocks[static_cast<std::size_t>(k)];
      const auto j = static_cast<std::size_t>(block.column);
      A.block(at, row0_[j], items_[i].rows(), items_[j].rows()) =
          block.A.topLeftCorner(items_[i].rows(), items_[j].rows());
    }
    at += items_[i].rows();
  }
}

StepProblem::Report StepProblem::solve() {
  if (items_.empty()) return {};
  if (few_rows()) return solve_dense();
  Report report;
  report.solved = false;
  if (engine_.sizes().nv <= kNewtonVelocities) report = solve_newton();
  return report.solved ? report : solve_blocks(kProxSweeps);
}

StepProblem::Report StepProblem::solve_dense() {
  const int count = rows();
  matrix(dense_.A);
  dense_.b.resize(count);
  r_.resize(count);
  dense_.cones.clear();
  bool warm = false;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const Item& item = items_[i];
    const BlockCone& c = item.cone;
    const int at = row0_[i];
    for (int k = 0; k < item.rows(); ++k) {
      dense_.b[at + k] = item.b[k];
      r_[at + k] = item.r[k];
      warm = warm || item.r[k] != 0;
    }
    dense_.cones.push_back(c.bilateral ? Cone::line(at) : Cone::ray(at));
    if (c.tangents == 0) continue;
    if (c.sliding) {
      for (int k = 0; k < c.tangents; ++k)
        dense_.cones.push_back(Cone::interval(at, at + 1 + k, c.mu * c.d[k], -c.mu * c.d[k], 0, 0));
    } else if (c.tangents == 1) {
      dense_.cones.push_back(Cone::friction(at, at + 1, c.mu));
    } else {
      dense_.cones.push_back(Cone::disc(at, at + 1, c.mu));
    }
  }
  ContactOptions options;
  options.warm_start = warm;
  ContactResult result = solver_.solve(dense_, r_, options);
  if (result.status != ContactStatus::solved && warm) {
    options.warm_start = false;
    const double before = result.residual;
    Vec& other = answer_rows_;
    other.resize(count);
    const ContactResult cold = solver_.solve(dense_, other, options);
    if (cold.residual < before) {
      result = cold;
      r_ = other;
    }
  }
  for (std::size_t i = 0; i < items_.size(); ++i)
    for (int k = 0; k < items_[i].rows(); ++k) items_[i].r[k] = r_[row0_[i] + k];
  if (result.status == ContactStatus::solved) return {true, result.residual, result.violation};
  // Dependent contacts with discs: many sweeps find what Newton's method circles around.
  const Report swept = solve_blocks(kLastSweeps);
  if (swept.complementarity < result.residual) return swept;
  for (std::size_t i = 0; i < items_.size(); ++i)
    for (int k = 0; k < items_[i].rows(); ++k) items_[i].r[k] = r_[row0_[i] + k];
  return {false, result.residual, result.violation};
}

StepProblem::Report StepProblem::solve_blocks(int sweeps) {
  const std::size_t n = items_.size();
  cones_.resize(n);
  b_blocks_.resize(n);
  r_blocks_.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    cones_[i] = items_[i].cone;
    b_blocks_[i] = items_[i].b;
    r_blocks_[i] = items_[i].r;
  }
  const BlockProx::Report report = prox_.solve(A_, cones_, b_blocks_, r_blocks_, kProxTolerance, sweeps);
  for (std::size_t i = 0; i < n; ++i) items_[i].r = r_blocks_[i];
  return {report.converged, report.residual, 0};
}

void StepProblem::impulses(Vec& out) const {
  out.setZero();
  for (std::size_t i = 0; i < items_.size(); ++i) {
    for (const Part& part : parts_[i]) {
      if (part.group < 0) continue;
      const Group& group = matrix_ != nullptr ? whole_ : groups_[static_cast<std::size_t>(part.group)];
      for (int k = 0; k < items_[i].rows(); ++k) {
        const double r = items_[i].r[k];
        if (r == 0) continue;
        const double* W = W_.data() + part.offset + k * group.size;
        for (const auto& [v0, m] : group.ranges)
          for (int j = 0; j < m; ++j) out[v0 + j] += r * *W++;
      }
    }
  }
}

void StepProblem::response(const Vec& b, Vec& x, Vec& mu) {
  if (matrix_ != nullptr) {
    matrix_->solve(b.data(), nullptr, x.data(), mu.data());
  } else {
    engine_.response(b.data(), x.data(), mu.size() > 0 ? mu.data() : nullptr);
  }
}

}  // namespace clatter::contact
