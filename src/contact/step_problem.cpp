#include "contact/step_problem.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace clatter::contact {

namespace {

// Up to this many rows of an island the dense methods are affordable: where Newton's fails, and for the laws of
// impacts.
constexpr int kDenseRows = 160;
// From this many velocities that a contact moves on, and this many times the rows of its island, dense methods come
// first.
constexpr int kWideVelocities = 40, kWideRows = 2;
// With discs only up to this many rows: where their Newton's method fails, sweeps by the thousand follow.
constexpr int kWideDiscRows = 24;

int find_root(std::vector<int>& root, int i) {
  while (root[static_cast<std::size_t>(i)] != i) {
    root[static_cast<std::size_t>(i)] = root[static_cast<std::size_t>(root[static_cast<std::size_t>(i)])];
    i = root[static_cast<std::size_t>(i)];
  }
  return i;
}

void join(std::vector<int>& root, int i, int j) {
  const int a = find_root(root, i), b = find_root(root, j);
  root[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
}

}  // namespace

void StepProblem::Report::take(const Report& other) {
  solved = solved && other.solved;
  complementarity = std::max(complementarity, other.complementarity);
  violation = std::max(violation, other.violation);
}

StepProblem::StepProblem(Contacts& contacts, FrictionRows& frictions)
    : contacts_(contacts), frictions_(frictions), engine_(contacts.engine()), joints_(by_joints()) {
  coupling_ = &joints_;
  const int nv = engine_.sizes().nv;
  for (Vec* x : {&column_, &answer_, &it_.x, &it_.F, &it_.d, &it_.trial, &it_.weight, &it_.lu_x}) x->setZero(nv);
  island_begin_.assign(1, 0);
}

void StepProblem::number(const Tree& tree, Coupling& coupling) {
  int first = 0;
  for (Group& group : coupling.groups) {
    group.first = first;
    first += group.size;
    group.size = 0;
  }
  coupling.place_in_group.clear();
  for (std::size_t t = 0; t < tree.trees.size(); ++t) {
    int& size = coupling.groups[static_cast<std::size_t>(coupling.group_of_tree[t])].size;
    coupling.place_in_group.push_back(size);
    size += tree.trees[t].v1 - tree.trees[t].v0;
  }
}

StepProblem::Coupling StepProblem::by_joints() const {
  Coupling out;
  const Tree& tree = engine_.system().tree;
  engine_.response_groups(out.group_of_tree);
  for (std::size_t t = 0; t < tree.trees.size(); ++t) {
    const auto g = static_cast<std::size_t>(std::abs(out.group_of_tree[t]) - 1);
    if (out.groups.size() <= g) out.groups.resize(g + 1);
    const TreeRange& range = tree.trees[t];
    out.groups[g].ranges.emplace_back(range.v0, range.v1 - range.v0);
    out.groups[g].size += range.v1 - range.v0;
    out.groups[g].lone_tree = out.group_of_tree[t] > 0 ? static_cast<int>(t) : -1;
    out.group_of_tree[t] = static_cast<int>(g);
  }
  number(tree, out);
  return out;
}

// Trees that tangents or constraint rows tie together.
StepProblem::Coupling StepProblem::by_matrix(const StepMatrix& matrix) const {
  Coupling out;
  const Tree& tree = engine_.system().tree;
  const std::size_t trees = tree.trees.size();
  std::vector<int> root(trees), tree_of(static_cast<std::size_t>(engine_.sizes().nv));
  for (std::size_t t = 0; t < trees; ++t) {
    root[t] = static_cast<int>(t);
    for (int v = tree.trees[t].v0; v < tree.trees[t].v1; ++v)
      tree_of[static_cast<std::size_t>(v)] = static_cast<int>(t);
  }
  const Pattern& M = matrix.tangents().M.pattern();
  const Pattern& G = matrix.tangents().G.pattern();
  std::vector<int> first_of_row(static_cast<std::size_t>(G.rows()), -1);
  for (int j = 0; j < engine_.sizes().nv; ++j) {
    const auto at = static_cast<std::size_t>(j);
    for (int e = M.col_start()[at]; e < M.col_start()[at + 1]; ++e)
      join(root, tree_of[at], tree_of[static_cast<std::size_t>(M.row_index()[static_cast<std::size_t>(e)])]);
    for (int e = G.col_start()[at]; e < G.col_start()[at + 1]; ++e) {
      int& first = first_of_row[static_cast<std::size_t>(G.row_index()[static_cast<std::size_t>(e)])];
      if (first < 0) first = tree_of[at];
      join(root, first, tree_of[at]);
    }
  }
  out.group_of_tree.assign(trees, -1);
  for (std::size_t t = 0; t < trees; ++t) {
    const auto r = static_cast<std::size_t>(find_root(root, static_cast<int>(t)));
    if (r == t) {
      out.group_of_tree[t] = static_cast<int>(out.groups.size());
      out.groups.emplace_back();
    } else {
      out.group_of_tree[t] = out.group_of_tree[r];
    }
    Group& group = out.groups[static_cast<std::size_t>(out.group_of_tree[t])];
    group.ranges.emplace_back(tree.trees[t].v0, tree.trees[t].v1 - tree.trees[t].v0);
    group.size += tree.trees[t].v1 - tree.trees[t].v0;
  }
  number(tree, out);
  return out;
}

void StepProblem::begin(StepMatrix* matrix) {
  for (const int g : touched_) groups()[static_cast<std::size_t>(g)].root = -1;
  touched_.clear();
  matrix_ = matrix;
  if (matrix_ != nullptr && stiff_of_ != matrix_->tangents().M.pattern_ptr()) {
    stiff_ = by_matrix(*matrix_);
    stiff_of_ = matrix_->tangents().M.pattern_ptr();
  }
  coupling_ = matrix_ != nullptr ? &stiff_ : &joints_;
  items_.clear();
  parts_.clear();
  W_.clear();
  island_items_.clear();
  island_begin_.assign(1, 0);
}

void StepProblem::make_room(int link1, int link2) {
  const Item& item = items_.back();
  std::array<Part, 2>& parts = parts_.emplace_back();
  int count = 0;
  for (const int link : {link1, link2}) {
    if (link < 0) continue;
    const int tree = engine_.system().tree.links[static_cast<std::size_t>(link)].tree;
    const int g = coupling_->group_of_tree[static_cast<std::size_t>(tree)];
    if (count == 1 && parts[0].group == g) continue;
    const Group& group = groups()[static_cast<std::size_t>(g)];
    if (group.size == 0) continue;
    parts[static_cast<std::size_t>(count)].group = g;
    parts[static_cast<std::size_t>(count)].offset = static_cast<int>(W_.size());
    W_.resize(W_.size() + static_cast<std::size_t>(item.rows() * group.size));
    ++count;
  }
}

StepProblem::Item& StepProblem::add(int slot, const BlockCone& cone) {
  Item item;
  item.slot = slot;
  item.cone = cone;
  items_.push_back(item);
  const PairInstance& pair = contacts_.system().pair(slot);
  make_room(pair.link1, pair.link2);
  const std::array<Part, 2>& parts = parts_.back();
  int last_tree = -1;
  for (const int link : {pair.link1, pair.link2}) {
    if (link < 0) continue;
    const int tree = engine_.system().tree.links[static_cast<std::size_t>(link)].tree;
    if (tree == last_tree) continue;
    last_tree = tree;
    const int g = coupling_->group_of_tree[static_cast<std::size_t>(tree)];
    const Group& group = groups()[static_cast<std::size_t>(g)];
    if (group.size == 0) continue;
    const Part& part = parts[0].group == g ? parts[0] : parts[1];
    for (int k = 0; k < item.rows(); ++k) {
      double* W = W_.data() + part.offset + k * group.size + coupling_->place_in_group[static_cast<std::size_t>(tree)];
      contacts_.add_column(slot, k, tree, W);
    }
  }
  return items_.back();
}

StepProblem::Item& StepProblem::add_friction(int friction, const BlockCone& cone) {
  Item item;
  item.friction = friction;
  item.cone = cone;
  items_.push_back(item);
  make_room(frictions_[friction].link1, frictions_[friction].link2);
  for (int k = 0; k < item.rows(); ++k) {
    frictions_.column(friction, k, column_.data());
    for (const Part& part : parts_.back()) {
      if (part.group < 0) continue;
      double* W = W_.data() + part.offset + k * group_of(part).size;
      for (const auto& [v0, n] : group_of(part).ranges) W = std::copy(column_.data() + v0, column_.data() + v0 + n, W);
    }
  }
  return items_.back();
}

double StepProblem::along(int i, int k, const Vec& x) const {
  double sum = 0;
  for (const Part& part : parts(i)) {
    if (part.group < 0) continue;
    const Group& group = group_of(part);
    const double* W = W_.data() + part.offset + k * group.size;
    for (const auto& [v0, n] : group.ranges)
      for (int j = 0; j < n; ++j) sum += *W++ * x[v0 + j];
  }
  return sum;
}

double StepProblem::along_packed(int i, int k, const double* x) const {
  double sum = 0;
  for (const Part& part : parts(i)) {
    if (part.group < 0) continue;
    const Group& group = group_of(part);
    const double* W = W_.data() + part.offset + k * group.size;
    const double* u = x + group.first;
    for (int j = 0; j < group.size; ++j) sum += W[j] * u[j];
  }
  return sum;
}

void StepProblem::add_response(int i, const Vec3& r, double* x) const {
  for (const Part& part : parts(i)) {
    if (part.group < 0) continue;
    const Group& group = group_of(part);
    double* u = x + group.first;
    for (int k = 0; k < items_[static_cast<std::size_t>(i)].rows(); ++k) {
      if (r[k] == 0) continue;
      const double* X = X_.data() + part.offset + k * group.size;
      for (int j = 0; j < group.size; ++j) u[j] += r[k] * X[j];
    }
  }
}

Vec3 StepProblem::rates(int i, const double* x) const {
  const Item& item = items_[static_cast<std::size_t>(i)];
  Vec3 y = item.b;
  for (int k = 0; k < item.rows(); ++k) y[k] += along_packed(i, k, x);
  return y;
}

void StepProblem::find_islands() {
  const auto find = [&](int g) {
    while (groups()[static_cast<std::size_t>(g)].root != g) g = groups()[static_cast<std::size_t>(g)].root;
    return g;
  };
  for (const std::array<Part, 2>& two : parts_)
    for (const Part& part : two) {
      if (part.group < 0) continue;
      Group& group = groups()[static_cast<std::size_t>(part.group)];
      if (group.root < 0) {
        group.root = part.group;
        touched_.push_back(part.group);
      }
      const int a = find(two[0].group), b = find(part.group);
      groups()[static_cast<std::size_t>(std::max(a, b))].root = std::min(a, b);
    }
  // Islands are numbered by their first contact; a contact that moves nothing is one of its own.
  for (const int g : touched_) groups()[static_cast<std::size_t>(g)].node = -1;
  island_of_.clear();
  // At most one island a contact: no more memory when they fall apart.
  island_begin_.reserve(items_.size() + 1);
  row0_.reserve(items_.size() + 1);
  int count = 0;
  for (const std::array<Part, 2>& two : parts_) {
    if (two[0].group < 0) {
      island_of_.push_back(count++);
      continue;
    }
    int& number = groups()[static_cast<std::size_t>(find(two[0].group))].node;
    if (number < 0) number = count++;
    island_of_.push_back(number);
  }
  island_begin_.assign(static_cast<std::size_t>(count) + 1, 0);
  for (const int k : island_of_) ++island_begin_[static_cast<std::size_t>(k) + 1];
  for (int k = 0; k < count; ++k)
    island_begin_[static_cast<std::size_t>(k) + 1] += island_begin_[static_cast<std::size_t>(k)];
  row0_.assign(island_begin_.begin(), island_begin_.end());
  island_items_.resize(items_.size());
  for (int i = 0; i < size(); ++i) {
    int& at = row0_[static_cast<std::size_t>(island_of_[static_cast<std::size_t>(i)])];
    island_items_[static_cast<std::size_t>(at++)] = i;
  }
}

// Columns that meet no group in common are answered together.
void StepProblem::respond(double factor) {
  X_.resize(W_.size());
  for (const int g : touched_) groups()[static_cast<std::size_t>(g)].next_batch = 0;
  jobs_.clear();
  for (int i = 0; i < size(); ++i)
    for (int k = 0; k < items_[static_cast<std::size_t>(i)].rows(); ++k) {
      int batch = 0;
      bool together = false;
      for (const Part& part : parts(i)) {
        if (part.group < 0) continue;
        const Group& group = group_of(part);
        if (matrix_ == nullptr && group.lone_tree >= 0) {
          engine_.response_tree(group.lone_tree, W_.data() + part.offset + k * group.size,
                                X_.data() + part.offset + k * group.size);
          continue;
        }
        together = true;
        batch = std::max(batch, group.next_batch);
      }
      if (!together) continue;
      for (const Part& part : parts(i))
        if (part.group >= 0) groups()[static_cast<std::size_t>(part.group)].next_batch = batch + 1;
      jobs_.push_back({batch, i, k});
    }
  std::sort(jobs_.begin(), jobs_.end(), [](const Job& a, const Job& b) {
    return a.batch != b.batch ? a.batch < b.batch : a.item != b.item ? a.item < b.item : a.row < b.row;
  });
  const auto each_entry = [&](const Job& job, auto&& visit) {
    for (const Part& part : parts(job.item)) {
      if (part.group < 0) continue;
      const Group& group = group_of(part);
      if (matrix_ == nullptr && group.lone_tree >= 0) continue;
      int at = part.offset + job.row * group.size;
      for (const auto& [v0, n] : group.ranges)
        for (int j = 0; j < n; ++j) visit(v0 + j, static_cast<std::size_t>(at++));
    }
  };
  for (std::size_t first = 0, last = 0; first < jobs_.size(); first = last) {
    column_.setZero();
    for (last = first; last < jobs_.size() && jobs_[last].batch == jobs_[first].batch; ++last)
      each_entry(jobs_[last], [&](int v, std::size_t at) { column_[v] = W_[at]; });
    if (matrix_ != nullptr) {
      matrix_->solve(column_.data(), nullptr, answer_.data(), nullptr);
    } else {
      engine_.response(column_.data(), answer_.data(), nullptr);
    }
    for (std::size_t j = first; j < last; ++j)
      each_entry(jobs_[j], [&](int v, std::size_t at) { X_[at] = answer_[v]; });
  }
  if (factor != 1)
    for (double& x : X_) x *= factor;
}

void StepProblem::assemble(double factor) {
  find_islands();
  respond(factor);
  diagonal_.resize(items_.size());
  it_.diagonal_scale.resize(items_.size());
  for (int i = 0; i < size(); ++i) {
    Mat3 A = Mat3::Zero();
    const int n = items_[static_cast<std::size_t>(i)].rows();
    for (const Part& part : parts(i)) {
      if (part.group < 0) continue;
      const int m = group_of(part).size;
      for (int k = 0; k < n; ++k)
        for (int l = 0; l < n; ++l) {
          const double *W = W_.data() + part.offset + k * m, *X = X_.data() + part.offset + l * m;
          for (int j = 0; j < m; ++j) A(k, l) += W[j] * X[j];
        }
    }
    diagonal_[static_cast<std::size_t>(i)] = A;
    const double t = std::max(A(1, 1), A(2, 2)) + std::abs(A(1, 2));
    if (items_[static_cast<std::size_t>(i)].cone.alone) {
      const double d = std::max(A(0, 0), A(1, 1)) + std::abs(A(0, 1));
      it_.diagonal_scale[static_cast<std::size_t>(i)].setConstant(d > 0 ? d : 1);
      continue;
    }
    it_.diagonal_scale[static_cast<std::size_t>(i)] = Vec3(A(0, 0) > 0 ? A(0, 0) : 1, t > 0 ? t : 1, t > 0 ? t : 1);
  }
}

int StepProblem::rows() const {
  int n = 0;
  for (const Item& item : items_) n += item.rows();
  return n;
}

std::span<const int> StepProblem::island(int k) const {
  const auto at = static_cast<std::size_t>(k);
  return {island_items_.data() + island_begin_[at],
          static_cast<std::size_t>(island_begin_[at + 1] - island_begin_[at])};
}

int StepProblem::island_rows(int k) const {
  int n = 0;
  for (const int i : island(k)) n += items_[static_cast<std::size_t>(i)].rows();
  return n;
}

int StepProblem::island_velocities(int k) const {
  int most = 0;
  for (const int i : island(k)) {
    int sum = 0;
    for (const Part& part : parts(i))
      if (part.group >= 0) sum += group_of(part).size;
    most = std::max(most, sum);
  }
  return most;
}

bool StepProblem::wide(int k) const {
  return few_rows(k) && island_velocities(k) > std::max(kWideVelocities, kWideRows * island_rows(k));
}

bool StepProblem::few_rows(int k) const { return island_rows(k) <= kDenseRows; }

void StepProblem::matrix(int which, Mat& A) const {
  const int n = island_rows(which);
  A.setZero(n, n);
  int row = 0;
  for (const int i : island(which)) {
    const int ni = items_[static_cast<std::size_t>(i)].rows();
    int column = 0;
    for (const int j : island(which)) {
      const int nj = items_[static_cast<std::size_t>(j)].rows();
      for (const Part& left : parts(i))
        for (const Part& right : parts(j)) {
          if (left.group < 0 || left.group != right.group) continue;
          const int m = group_of(left).size;
          for (int k = 0; k < ni; ++k)
            for (int l = 0; l < nj; ++l) {
              const double *W = W_.data() + left.offset + k * m, *X = X_.data() + right.offset + l * m;
              double sum = 0;
              for (int v = 0; v < m; ++v) sum += W[v] * X[v];
              A(row + k, column + l) += sum;
            }
        }
      column += nj;
    }
    row += ni;
  }
}

StepProblem::Report StepProblem::solve() {
  Report report;
  for (int k = 0; k < islands(); ++k) report.take(solve(k));
  return report;
}

StepProblem::Report StepProblem::solve(int which) {
  // Pivoting decides the plane where Newton's method circles; discs it cannot treat.
  bool discs = false;
  for (const int i : island(which)) discs = discs || items_[static_cast<std::size_t>(i)].cone.tangents == 2;
  const bool few = few_rows(which);
  Report report;
  report.solved = false;
  report.complementarity = std::numeric_limits<double>::infinity();
  if (wide(which) && (!discs || island_rows(which) <= kWideDiscRows)) {
    report = solve_dense(which);
    if (report.solved) return report;
  }
  const Report first = solve_many(island(which), true);
  if (first.solved) return first;
  if (first.complementarity < report.complementarity) report = first;
  for (const bool dense : {!discs, discs}) {
    if (dense && !few) continue;
    it_.before.clear();
    for (const int i : island(which)) it_.before.push_back(items_[static_cast<std::size_t>(i)].r);
    const Report next = dense ? solve_dense(which) : solve_many(island(which), false);
    if (next.solved) return next;
    if (next.complementarity < report.complementarity) {
      report = next;
      continue;
    }
    std::size_t at = 0;
    for (const int i : island(which)) items_[static_cast<std::size_t>(i)].r = it_.before[at++];
  }
  return report;
}

StepProblem::Report StepProblem::solve_dense(int which) {
  ++counts_.dense;
  const int count = island_rows(which);
  int tangents = 0;
  for (const int i : island(which)) tangents += items_[static_cast<std::size_t>(i)].cone.tangents;
  Dense& own = dense_[{count, tangents}];
  ContactProblem& problem = own.problem;
  Vec &r = own.r, &cold = own.cold;
  matrix(which, problem.A);
  problem.b.resize(count);
  r.resize(count);
  problem.cones.clear();
  bool warm = false;
  int at = 0;
  for (const int i : island(which)) {
    const Item& item = items_[static_cast<std::size_t>(i)];
    const BlockCone& c = item.cone;
    for (int k = 0; k < item.rows(); ++k) {
      problem.b[at + k] = item.b[k];
      r[at + k] = item.r[k];
      warm = warm || item.r[k] != 0;
    }
    if (c.alone) {
      for (int k = 0; c.sliding && k < c.tangents; ++k)
        problem.cones.push_back(Cone::box(at + k, -c.limit * c.d[k], -c.limit * c.d[k]));
      if (!c.sliding)
        problem.cones.push_back(c.tangents == 1 ? Cone::box(at, -c.limit, c.limit) : Cone::disc(-1, at, 0, c.limit));
      at += item.rows();
      continue;
    }
    problem.cones.push_back(c.bilateral ? Cone::line(at) : Cone::ray(at));
    if (c.sliding) {
      for (int k = 0; k < c.tangents; ++k)
        problem.cones.push_back(Cone::interval(at, at + 1 + k, c.mu * c.d[k], -c.mu * c.d[k], 0, 0));
    } else if (c.tangents == 1) {
      problem.cones.push_back(Cone::friction(at, at + 1, c.mu));
    } else if (c.tangents == 2) {
      problem.cones.push_back(Cone::disc(at, at + 1, c.mu));
    }
    at += item.rows();
  }
  ContactOptions options;
  options.warm_start = warm;
  ContactResult result = own.solver.solve(problem, r, options);
  if (result.status != ContactStatus::solved && warm) {
    options.warm_start = false;
    cold.resize(count);
    const ContactResult again = own.solver.solve(problem, cold, options);
    if (again.residual < result.residual) {
      result = again;
      r = cold;
    }
  }
  int row = 0;
  for (const int i : island(which)) {
    Item& item = items_[static_cast<std::size_t>(i)];
    for (int k = 0; k < item.rows(); ++k) item.r[k] = r[row++];
  }
  return {result.status == ContactStatus::solved, result.residual, result.violation};
}

double StepProblem::scale_of(std::span<const int> list) const {
  double scale = 0;
  for (const int i : list) {
    const Item& item = items_[static_cast<std::size_t>(i)];
    for (int k = 0; k < item.rows(); ++k) scale = std::max(scale, std::abs(item.b[k]));
  }
  return scale;
}

double StepProblem::natural_residual(std::span<const int> list, const std::vector<Vec3>& r, double* x) const {
  for (const int g : it_.nodes) {
    const Group& group = groups()[static_cast<std::size_t>(g)];
    std::fill(x + group.first, x + group.first + group.size, 0.0);
  }
  for (const int i : list) add_response(i, r[static_cast<std::size_t>(i)], x);
  double worst = 0;
  for (const int i : list) {
    const auto at = static_cast<std::size_t>(i);
    const Vec3 &d = it_.diagonal_scale[at], y = rates(i, x);
    const Vec3 moved = project(items_[at].cone, r[at] - y.cwiseQuotient(d)) - r[at];
    for (int k = 0; k < items_[at].rows(); ++k) worst = std::max(worst, d[k] * std::abs(moved[k]));
  }
  const double scale = scale_of(list);
  return scale > 0 ? worst / scale : worst;
}

double StepProblem::quadratic(int which) {
  gather_nodes(island(which));
  for (const int g : it_.nodes) {
    const Group& group = groups()[static_cast<std::size_t>(g)];
    it_.x.segment(group.first, group.size).setZero();
  }
  double sum = 0;
  for (const int i : island(which)) add_response(i, items_[static_cast<std::size_t>(i)].r, it_.x.data());
  for (const int i : island(which))
    for (int k = 0; k < items_[static_cast<std::size_t>(i)].rows(); ++k)
      sum += items_[static_cast<std::size_t>(i)].r[k] * along_packed(i, k, it_.x.data());
  return sum;
}

void StepProblem::impulses(Vec& out) const {
  out.setZero();
  for (int i = 0; i < size(); ++i) {
    const Item& item = items_[static_cast<std::size_t>(i)];
    for (const Part& part : parts(i)) {
      if (part.group < 0) continue;
      const Group& group = group_of(part);
      for (int k = 0; k < item.rows(); ++k) {
        if (item.r[k] == 0) continue;
        const double* W = W_.data() + part.offset + k * group.size;
        for (const auto& [v0, m] : group.ranges)
          for (int j = 0; j < m; ++j) out[v0 + j] += item.r[k] * *W++;
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
