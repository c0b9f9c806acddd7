// Bodies and jointed trees in coordinates of energy, and the matrix of Newton's method; for CrowdNewton.
#include <algorithm>
#include <cmath>

#include "impulse/crowd_newton.hpp"

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

CrowdNewton::Side CrowdNewton::turning_side(int side, int place, double lever) const {
  Side s;
  s.lever = lever;
  if (place >= 0) {
    s.node = static_cast<int>(root_mass_.size()) + group_of_side_[at(place)];
    s.L = L_.data() + L_at_[at(place)];
  } else if (side >= CrowdProblem::grounds) {
    s.node = side - CrowdProblem::grounds;
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
  if (s.arm == nullptr) return s.lever * w;
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
  const Mat3& root = root_inertia_[at(s.node)];
  if (s.arm == nullptr) {
    const Vec3 turn = s.lever * (root.transpose() * F);
    for (int k = 0; k < 3; ++k) x[3 + k] += turn[k];
    return;
  }
  const Vec3 turn = root.transpose() * Vec3(s.arm[0], s.arm[1], s.arm[2]).cross(F);
  for (int k = 0; k < 3; ++k) {
    x[k] += root_mass_[at(s.node)] * F[k];
    x[3 + k] += turn[k];
  }
}

const double* CrowdNewton::columns(const Side& s, double* body) const {
  if (s.L != nullptr) return s.L;
  const Mat3& root = root_inertia_[at(s.node)];
  const bool moment = s.arm == nullptr;
  const Mat3 turn = moment ? Mat3(s.lever * root) : Mat3(-skew<double>(Vec3(s.arm[0], s.arm[1], s.arm[2])) * root);
  for (int k = 0; k < 3; ++k)
    for (int j = 0; j < 3; ++j) {
      body[6 * k + j] = k == j && !moment ? root_mass_[at(s.node)] : 0;
      body[6 * k + 3 + j] = turn(k, j);
    }
  return body;
}

// A = W^T X of the places touched in each group (those of moments times their levers), of rank r: L L^T by the largest
// pivot left.
void CrowdNewton::factor_groups(const CrowdProblem& problem) {
  place_lever_.assign(problem.sides.size(), 1);
  for (const CrowdTurn& t : problem.turns)
    for (const int place : {t.place1, t.place2})
      if (place >= 0) place_lever_[at(place)] = t.lever;
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
      return sum * place_lever_[at(group.sides[at(i / 3)])] * place_lever_[at(group.sides[at(j / 3)])];
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
  turn_.assign(n, nullptr);
  for (std::size_t i = 0; i < problem.turns.size(); ++i)
    if (problem.turns[i].any()) turn_[i] = &problem.turns[i];
  side1_.resize(n + problem.turns.size());
  side2_.resize(n + problem.turns.size());
  coupled_.clear();
  for (std::size_t i = 0; i < n; ++i) {
    const CrowdRow& row = problem.rows[i];
    side1_[i] = side(row.side1, row.c1);
    side2_[i] = side(row.side2, row.c2);
    if (turn_[i] != nullptr) {
      side1_[n + i] = turning_side(row.side1, turn_[i]->place1, turn_[i]->lever);
      side2_[n + i] = turning_side(row.side2, turn_[i]->place2, turn_[i]->lever);
    }
    const int a = side1_[i].node, b = side2_[i].node;
    if (a >= 0 && b >= 0 && a != b) coupled_.emplace_back(std::min(a, b), std::max(a, b));
  }
  std::sort(coupled_.begin(), coupled_.end());
  coupled_.erase(std::unique(coupled_.begin(), coupled_.end()), coupled_.end());
  matrix_.analyse(sizes_, coupled_);
}

// Ports island by island; rows without a body are the last.
void CrowdNewton::gather_islands(const CrowdProblem& problem) {
  const std::size_t n = problem.rows.size(), islands = at(matrix_.islands()) + 1;
  row_island_.resize(n);
  island_begin_.assign(islands + 1, 0);
  island_rows_.assign(islands, 0);
  for (std::size_t i = 0; i < n; ++i) {
    const int node = side1_[i].node >= 0 ? side1_[i].node : side2_[i].node;
    row_island_[i] = node < 0 ? matrix_.islands() : matrix_.island_of(node);
    ++island_rows_[at(row_island_[i])];
    island_begin_[at(row_island_[i]) + 1] += turn_[i] != nullptr ? 2 : 1;
  }
  next_row_.resize(islands);
  next_turn_.resize(islands);
  for (std::size_t k = 0; k < islands; ++k) {
    island_begin_[k + 1] += island_begin_[k];
    next_row_[k] = island_begin_[k];
    next_turn_[k] = island_begin_[k] + island_rows_[k];
  }
  island_ports_.resize(at(island_begin_[islands]));
  for (int i = 0; i < static_cast<int>(n); ++i) {
    const auto k = at(row_island_[at(i)]);
    island_ports_[at(next_row_[k]++)] = i;
    if (turns(i)) island_ports_[at(next_turn_[k]++)] = moment_port(i);
  }
}

// A += S^T H S, the sides of port `left` by those of `right`: blocks below the diagonal, and on it.
void CrowdNewton::add_to_matrix(int left, int right, const Mat3& H) {
  const Side* rows[2] = {&side1_[at(left)], &side2_[at(left)]};
  const Side* columns_of[2] = {&side1_[at(right)], &side2_[at(right)]};
  double body_left[2][18], body_right[18];
  const double* S[2];
  for (int k = 0; k < 2; ++k) S[k] = rows[k]->node < 0 ? nullptr : columns(*rows[k], body_left[k]);
  for (int b = 0; b < 2; ++b) {
    const Side& side_b = *columns_of[b];
    if (side_b.node < 0) continue;
    const double* R = columns(side_b, body_right);
    const int nb = matrix_.size(side_b.node);
    // H S_b, three rows.
    T_.resize(at(3 * nb));
    for (int k = 0; k < 3; ++k)
      for (int j = 0; j < nb; ++j) T_[at(k * nb + j)] = H(k, 0) * R[j] + H(k, 1) * R[nb + j] + H(k, 2) * R[2 * nb + j];
    for (int a = 0; a < 2; ++a) {
      if (S[a] == nullptr) continue;
      const Side& side_a = *rows[a];
      if (side_a.node != side_b.node && !matrix_.after(side_a.node, side_b.node)) continue;
      const int na = matrix_.size(side_a.node);
      const double sign = a == b ? 1 : -1;
      int stride;
      double* A = matrix_.block(side_a.node, side_b.node, stride);
      for (int j = 0; j < nb; ++j) {
        const double t[3] = {sign * T_[at(j)], sign * T_[at(nb + j)], sign * T_[at(2 * nb + j)]};
        double* out = A + static_cast<std::ptrdiff_t>(j) * stride;
        for (int k = 0; k < na; ++k) out[k] += S[a][k] * t[0] + S[a][na + k] * t[1] + S[a][2 * na + k] * t[2];
      }
    }
  }
}

bool CrowdNewton::factorize() {
  bool same = factored_ && factored_kappa_ == kappa_;
  for (std::size_t k = 0; same && k < ports_.size(); ++k) {
    const auto i = at(ports_[k]);
    same =
        factored_slope_[i] == slope_[i] && (k >= rows_.size() || !turns(ports_[k]) || factored_cross_[i] == cross_[i]);
  }
  if (same) return true;
  matrix_.set_zero(island_);
  for (const int i : rows_) {
    const double rho = kappa_ * eta_[at(i)];
    each_port(i, [&](int port) {
      factored_slope_[at(port)] = slope_[at(port)];
      if (!slope_[at(port)].isZero(0)) add_to_matrix(port, port, rho * slope_[at(port)]);
    });
    if (!turns(i)) continue;
    factored_cross_[at(i)] = cross_[at(i)];
    if (cross_[at(i)].isZero(0)) continue;
    add_to_matrix(i, moment_port(i), rho * cross_[at(i)]);
    add_to_matrix(moment_port(i), i, rho * cross_[at(i)].transpose());
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
