// Bodies and jointed trees in coordinates of energy, and the matrix of Newton's method; for CrowdNewton.
#include <algorithm>
#include <cmath>

#include "contact/crowd_newton.hpp"

namespace clatter::contact {

namespace {

constexpr double kRank = 1e-14;  // what is left of A by its largest: nothing

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// R R^T = A of a positive semidefinite matrix; directions that A does not have are left out.
Mat3 root_of(const Mat3& A) {
  Mat3 R = Mat3::Zero();
  const double least = 1e-14 * A.diagonal().maxCoeff();
  for (int j = 0; j < 3; ++j) {
    const double d = A(j, j) - R.row(j).head(j).squaredNorm();
    if (!(d > least)) continue;
    R(j, j) = std::sqrt(d);
    for (int i = j + 1; i < 3; ++i) R(i, j) = (A(i, j) - R.row(i).head(j).dot(R.row(j).head(j))) / R(j, j);
  }
  return R;
}

}  // namespace

CrowdNewton::Side CrowdNewton::side(int side, const double* arm) const {
  Side s;
  s.arm = arm;
  if (side >= CrowdProblem::grounds) {
    s.node = side - CrowdProblem::grounds;
  } else if (side < 0) {
    s.node = static_cast<int>(root_mass_.size()) + group_of_side_[at(~side)];
    s.L = L_.data() + L_at_[at(~side)];
  }
  return s;
}

Vec3 CrowdNewton::rate(const Side& s, const double* y) const {
  if (s.node < 0) return Vec3::Zero();
  const double* x = y + matrix_.first(s.node);
  if (s.L != nullptr) {
    const int n = matrix_.size(s.node);
    Vec3 u = Vec3::Zero();
    for (int k = 0; k < 3; ++k)
      for (int j = 0; j < n; ++j) u[k] += s.L[k * n + j] * x[j];
    return u;
  }
  const Vec3 w = root_inertia_[at(s.node)] * Vec3(x[3], x[4], x[5]);
  return root_mass_[at(s.node)] * Vec3(x[0], x[1], x[2]) + w.cross(Vec3(s.arm[0], s.arm[1], s.arm[2]));
}

void CrowdNewton::push(const Side& s, const Vec3& F, double* y) const {
  if (s.node < 0) return;
  double* x = y + matrix_.first(s.node);
  if (s.L != nullptr) {
    const int n = matrix_.size(s.node);
    for (int k = 0; k < 3; ++k)
      for (int j = 0; j < n; ++j) x[j] += s.L[k * n + j] * F[k];
    return;
  }
  const Vec3 turn = root_inertia_[at(s.node)].transpose() * Vec3(s.arm[0], s.arm[1], s.arm[2]).cross(F);
  for (int k = 0; k < 3; ++k) {
    x[k] += root_mass_[at(s.node)] * F[k];
    x[3 + k] += turn[k];
  }
}

const double* CrowdNewton::columns(const Side& s, double* body) const {
  if (s.L != nullptr) return s.L;
  const Mat3 turn = -skew<double>(Vec3(s.arm[0], s.arm[1], s.arm[2])) * root_inertia_[at(s.node)];
  for (int k = 0; k < 3; ++k)
    for (int j = 0; j < 3; ++j) {
      body[6 * k + j] = k == j ? root_mass_[at(s.node)] : 0;
      body[6 * k + 3 + j] = turn(k, j);
    }
  return body;
}

// A = W^T X of the places touched in each group, of rank r: L L^T by the largest pivot left.
void CrowdNewton::factor_groups(const CrowdProblem& problem) {
  group_at_.assign(problem.x.size(), -1);
  group_of_side_.resize(problem.sides.size());
  L_at_.resize(problem.sides.size());
  group_count_ = 0;
  for (std::size_t i = 0; i < problem.sides.size(); ++i) {
    const CrowdSide& s = problem.sides[i];
    int& g = group_at_[at(s.first)];
    if (g < 0) {
      g = group_count_++;
      if (groups_.size() < at(group_count_)) groups_.emplace_back();
      Group& group = groups_[at(g)];
      group.first = s.first;
      group.n = s.n;
      group.sides.clear();
    }
    groups_[at(g)].sides.push_back(static_cast<int>(i));
    group_of_side_[i] = g;
  }
  L_.clear();
  for (int g = 0; g < group_count_; ++g) {
    Group& group = groups_[at(g)];
    const int m = 3 * static_cast<int>(group.sides.size()), n = group.n;
    const auto W = [&](int i) {
      return problem.W.data() + problem.sides[at(group.sides[at(i / 3)])].offset + i % 3 * n;
    };
    const auto X = [&](int i) {
      return problem.X.data() + problem.sides[at(group.sides[at(i / 3)])].offset + i % 3 * n;
    };
    const auto A = [&](int i, int j) {
      const double *w = W(i), *x = X(j);
      double sum = 0;
      for (int k = 0; k < n; ++k) sum += w[k] * x[k];
      return sum;
    };
    diagonal_.resize(at(m));
    for (int i = 0; i < m; ++i) diagonal_[at(i)] = A(i, i);
    const double least = kRank * *std::max_element(diagonal_.begin(), diagonal_.end());
    // Column by column, m numbers each; then turned into three rows a side.
    column_.clear();
    const int most = std::min(m, n);
    group.rank = 0;
    while (group.rank < most) {
      const int p = static_cast<int>(std::max_element(diagonal_.begin(), diagonal_.end()) - diagonal_.begin());
      if (!(diagonal_[at(p)] > least)) break;
      const double pivot = std::sqrt(diagonal_[at(p)]);
      const std::size_t begin = column_.size();
      column_.resize(begin + at(m));
      for (int i = 0; i < m; ++i) {
        double l = A(i, p);
        for (int r = 0; r < group.rank; ++r) l -= column_[at(r * m + i)] * column_[at(r * m + p)];
        column_[begin + at(i)] = l / pivot;
      }
      for (int i = 0; i < m; ++i) diagonal_[at(i)] -= column_[begin + at(i)] * column_[begin + at(i)];
      diagonal_[at(p)] = 0;
      ++group.rank;
    }
    for (std::size_t s = 0; s < group.sides.size(); ++s) {
      L_at_[at(group.sides[s])] = L_.size();
      for (int k = 0; k < 3; ++k)
        for (int r = 0; r < group.rank; ++r) L_.push_back(column_[at(r * m + 3 * static_cast<int>(s) + k)]);
    }
  }
}

void CrowdNewton::gather(const CrowdProblem& problem) {
  const std::size_t bodies = problem.bodies.size() - CrowdProblem::grounds, n = problem.rows.size();
  root_mass_.resize(bodies);
  root_inertia_.resize(bodies);
  for (std::size_t i = 0; i < bodies; ++i) {
    const CrowdBody& body = problem.bodies[i + CrowdProblem::grounds];
    root_mass_[i] = std::sqrt(body.inverse_mass);
    root_inertia_[i] = problem.balls ? Mat3(std::sqrt(body.inverse_inertia) * Mat3::Identity())
                                     : root_of(problem.inverse_inertia[i + CrowdProblem::grounds]);
  }
  factor_groups(problem);
  sizes_.assign(bodies, 6);
  for (int g = 0; g < group_count_; ++g) sizes_.push_back(groups_[at(g)].rank);
  side1_.resize(n);
  side2_.resize(n);
  coupled_.clear();
  for (std::size_t i = 0; i < n; ++i) {
    const CrowdRow& row = problem.rows[i];
    side1_[i] = side(row.side1, row.c1);
    side2_[i] = side(row.side2, row.c2);
    const int a = side1_[i].node, b = side2_[i].node;
    if (a >= 0 && b >= 0 && a != b) coupled_.emplace_back(std::min(a, b), std::max(a, b));
  }
  std::sort(coupled_.begin(), coupled_.end());
  coupled_.erase(std::unique(coupled_.begin(), coupled_.end()), coupled_.end());
  matrix_.analyse(sizes_, coupled_);
}

// Rows island by island.
void CrowdNewton::gather_islands(const CrowdProblem& problem) {
  const std::size_t n = problem.rows.size();
  row_island_.resize(n);
  island_begin_.assign(at(matrix_.islands()) + 2, 0);
  for (std::size_t i = 0; i < n; ++i) {
    const int node = side1_[i].node >= 0 ? side1_[i].node : side2_[i].node;
    row_island_[i] = node < 0 ? matrix_.islands() : matrix_.island_of(node);
    ++island_begin_[at(row_island_[i])];
  }
  int sum = 0;
  for (int& begin : island_begin_) {
    const int count = begin;
    begin = sum;
    sum += count;
  }
  island_rows_.resize(n);
  for (std::size_t i = 0; i < n; ++i) island_rows_[at(island_begin_[at(row_island_[i])]++)] = static_cast<int>(i);
  for (std::size_t k = island_begin_.size(); k-- > 1;) island_begin_[k] = island_begin_[k - 1];
  island_begin_[0] = 0;
}

bool CrowdNewton::factorize(std::span<const int> rows) {
  bool same = factored_ && factored_kappa_ == kappa_;
  for (std::size_t k = 0; same && k < rows.size(); ++k) same = factored_slope_[at(rows[k])] == slope_[at(rows[k])];
  if (same) return true;
  matrix_.set_zero(island_);
  for (const int i : rows) {
    factored_slope_[at(i)] = slope_[at(i)];
    if (slope_[at(i)].isZero(0)) continue;
    const Mat3 H = kappa_ * eta_[at(i)] * slope_[at(i)];
    const Side* sides[2] = {&side1_[at(i)], &side2_[at(i)]};
    double body[2][18];
    const double* S[2];
    for (int k = 0; k < 2; ++k) S[k] = sides[k]->node < 0 ? nullptr : columns(*sides[k], body[k]);
    for (int b = 0; b < 2; ++b) {
      if (S[b] == nullptr) continue;
      const int nb = matrix_.size(sides[b]->node);
      // H S_b, three rows.
      T_.resize(at(3 * nb));
      for (int k = 0; k < 3; ++k)
        for (int j = 0; j < nb; ++j)
          T_[at(k * nb + j)] = H(k, 0) * S[b][j] + H(k, 1) * S[b][nb + j] + H(k, 2) * S[b][2 * nb + j];
      for (int a = 0; a < 2; ++a) {
        if (S[a] == nullptr) continue;
        if (sides[a]->node != sides[b]->node && !matrix_.after(sides[a]->node, sides[b]->node)) continue;
        const int na = matrix_.size(sides[a]->node);
        const double sign = a == b ? 1 : -1;
        int stride;
        double* A = matrix_.block(sides[a]->node, sides[b]->node, stride);
        for (int j = 0; j < nb; ++j) {
          const double t[3] = {sign * T_[at(j)], sign * T_[at(nb + j)], sign * T_[at(2 * nb + j)]};
          double* out = A + static_cast<std::ptrdiff_t>(j) * stride;
          for (int k = 0; k < na; ++k) out[k] += S[a][k] * t[0] + S[a][na + k] * t[1] + S[a][2 * na + k] * t[2];
        }
      }
    }
  }
  for (const int node : matrix_.rows_of(island_)) {
    int stride;
    double* A = matrix_.block(node, node, stride);
    for (int j = 0; j < matrix_.size(node); ++j) A[static_cast<std::ptrdiff_t>(j) * (stride + 1)] += 1;
  }
  ++counts_.factorisations;
  factored_ = matrix_.factorize(island_);
  factored_kappa_ = kappa_;
  return factored_;
}

}  // namespace clatter::contact
