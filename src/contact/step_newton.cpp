// Many contacts on not so many bodies: Newton's method in the space of velocities, for StepProblem.
//
//   x = X r,   r = proj_K(r0 - rho (b + W^T x)),   rho = kappa / diagonal of A
//
// is solved for the change x of the velocities with r0 given (semismooth Newton, J = 1 + X D rho W^T, D one element of
// the derivative of the projection), then r0 <- r: the proximal method of multipliers. J has one block row for each
// group of velocities and a block for each pair of them that touches. Contacts that depend on each other leave J
// regular; from the r0 of the step before, a pile at rest needs no iteration at all.
//
// Where Newton's method circles, sweeps over the contacts bring it elsewhere,
//
//   r_i <- proj_K(r_i - y_i / d_i),   x += X_i (change of r_i)
//
// forward and backward in turn: a load travels up and down a pile in one pair of sweeps.
#include <algorithm>
#include <cmath>

#include "contact/step_problem.hpp"

namespace clatter::contact {

namespace {

constexpr double kStiffness[] = {1e4, 1e2, 1e4, 1e3};  // kappa of the attempts in turn
constexpr int kSweeps[] = {0, 40, 200, 1000};          // before each of them
constexpr int kOuter = 30, kInner = 40, kCuts = 8, kMemory = 4;
constexpr double kStart = 1e-12;    // natural map of a start that needs no iteration
constexpr double kTarget = 1e-14;   // gone on to while an iteration gains much
constexpr double kAccepted = 1e-9;  // solved, where rounding or the conditioning allow no more
constexpr int kBetweenChecks = 10;

}  // namespace

double StepProblem::newton_residual(std::span<const int> list, double stiffness, const double* x) {
  for (const int g : nodes_) {
    const Group& group = groups()[static_cast<std::size_t>(g)];
    std::copy(x + group.first, x + group.first + group.size, F_.data() + group.first);
  }
  for (const int i : list) {
    const auto at = static_cast<std::size_t>(i);
    const Vec3 s = r0_[at] - stiffness * rates(i, x).cwiseQuotient(diagonal_scale_[at]);
    r1_[at] = project(items_[at].cone, s, &slopes_[at]);
    add_response(i, -r1_[at], F_.data());
  }
  double merit = 0;
  for (const int g : nodes_) {
    const Group& group = groups()[static_cast<std::size_t>(g)];
    for (int j = group.first; j < group.first + group.size; ++j) merit += weight_[j] * F_[j] * F_[j];
  }
  return merit;
}

void StepProblem::newton_matrix(std::span<const int> list, double stiffness) {
  lu_.set_zero();
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    double* D = lu_.block(static_cast<int>(n), static_cast<int>(n));
    for (int j = 0; j < node_sizes_[n]; ++j) D[j * node_sizes_[n] + j] = 1;
  }
  for (const int i : list) {
    const auto at = static_cast<std::size_t>(i);
    const int rows = items_[at].rows();
    if (slopes_[at].isZero(0)) continue;
    for (const Part& right : parts(i)) {
      if (right.group < 0) continue;
      const Group& gr = group_of(right);
      for (const Part& left : parts(i)) {
        if (left.group < 0) continue;
        const Group& gl = group_of(left);
        double* J = lu_.block(gl.node, gr.node);
        for (int j = 0; j < gr.size; ++j) {
          // Row j of rho W^T, turned by the slopes: what one unit of velocity j does to the impulses.
          double c[3] = {0, 0, 0};
          for (int l = 0; l < rows; ++l) {
            const double w =
                W_[static_cast<std::size_t>(right.offset + l * gr.size + j)] * stiffness / diagonal_scale_[at][l];
            for (int k = 0; k < rows; ++k) c[k] += slopes_[at](k, l) * w;
          }
          for (int k = 0; k < rows; ++k) {
            if (c[k] == 0) continue;
            const double* X = X_.data() + left.offset + k * gl.size;
            for (int p = 0; p < gl.size; ++p) J[j * gl.size + p] += c[k] * X[p];
          }
        }
      }
    }
  }
}

// Bodies of the island, what couples them, and weights that make |F|^2 a kinetic energy: (M^-1)_jj is about the largest
// X_j^2 / A_ii of its contacts.
void StepProblem::gather_nodes(std::span<const int> list) {
  nodes_.clear();
  node_sizes_.clear();
  for (const int i : list)
    for (const Part& part : parts(i))
      if (part.group >= 0) groups()[static_cast<std::size_t>(part.group)].node = -1;
  for (const int i : list)
    for (const Part& part : parts(i)) {
      if (part.group < 0) continue;
      Group& group = groups()[static_cast<std::size_t>(part.group)];
      if (group.node < 0) {
        group.node = static_cast<int>(nodes_.size());
        nodes_.push_back(part.group);
        node_sizes_.push_back(group.size);
        weight_.segment(group.first, group.size).setZero();
      }
      for (int k = 0; k < items_[static_cast<std::size_t>(i)].rows(); ++k) {
        const double A = diagonal_[static_cast<std::size_t>(i)](k, k);
        const double* X = X_.data() + part.offset + k * group.size;
        for (int j = 0; A > 0 && j < group.size; ++j)
          weight_[group.first + j] = std::max(weight_[group.first + j], X[j] * X[j] / A);
      }
    }
  for (const int g : nodes_) {
    const Group& group = groups()[static_cast<std::size_t>(g)];
    for (int j = group.first; j < group.first + group.size; ++j) weight_[j] = weight_[j] > 0 ? 1 / weight_[j] : 0;
  }
}

double StepProblem::newton(std::span<const int> list, double stiffness, double best) {
  double residual = natural_residual(list, r0_, x_.data()), last = residual;
  const auto each = [&](auto&& visit) {
    for (const int g : nodes_) {
      const Group& group = groups()[static_cast<std::size_t>(g)];
      visit(group.first, group.size, lu_.first(group.node));
    }
  };
  for (int outer = 0; outer < kOuter && best > kTarget; ++outer) {
    double merit = newton_residual(list, stiffness, x_.data());
    const double start = merit;
    double recent[kMemory];
    std::fill(recent, recent + kMemory, merit);
    for (int inner = 0; inner < kInner; ++inner) {
      newton_matrix(list, stiffness);
      ++counts_.factorisations;
      if (!lu_.factorize()) break;
      each([&](int at, int n, int to) { std::copy(F_.data() + at, F_.data() + at + n, lu_x_.data() + to); });
      lu_.solve(lu_x_.data());
      const double bound = *std::max_element(recent, recent + kMemory);
      double t = 1, moved = 0;
      for (int cut = 0; cut < kCuts; ++cut, t *= 0.5) {
        each([&](int at, int n, int from) {
          for (int j = 0; j < n; ++j) trial_[at + j] = x_[at + j] - t * lu_x_[from + j];
        });
        moved = newton_residual(list, stiffness, trial_.data());
        if (moved < bound) break;
      }
      ++counts_.newton;
      if (!std::isfinite(moved)) break;
      each([&](int at, int n, int) { std::copy(trial_.data() + at, trial_.data() + at + n, x_.data() + at); });
      const bool done = moved <= 1e-28 * start || moved == 0;
      const bool stuck = moved >= 0.999999 * bound;
      merit = moved;
      recent[inner % kMemory] = merit;
      if (done || (stuck && inner > 5)) break;
    }
    for (const int i : list) r0_[static_cast<std::size_t>(i)] = r1_[static_cast<std::size_t>(i)];
    last = residual;
    residual = natural_residual(list, r0_, x_.data());
    if (!std::isfinite(residual)) break;
    if (residual < best) {
      best = residual;
      for (const int i : list) best_[static_cast<std::size_t>(i)] = r0_[static_cast<std::size_t>(i)];
    }
    if (best <= kAccepted ? residual > 0.1 * last : (outer > 3 && residual > 0.5 * last)) break;
  }
  return best;
}

double StepProblem::sweep(std::span<const int> list, int sweeps, double best) {
  natural_residual(list, r0_, x_.data());
  for (int s = 0; s < sweeps && best > kTarget; ++s) {
    ++counts_.sweeps;
    const bool forward = s % 2 == 0;
    for (std::size_t c = 0; c < list.size(); ++c) {
      const int i = list[forward ? c : list.size() - 1 - c];
      const auto at = static_cast<std::size_t>(i);
      Vec3 y = rates(i, x_.data()), r = r0_[at];
      // The contact's own block, nearly to its end: normal and friction impulses that depend on each other.
      for (int k = 0; k < 3; ++k) {
        const Vec3 next = project(items_[at].cone, r - y.cwiseQuotient(diagonal_scale_[at]));
        y += diagonal_[at] * (next - r);
        r = next;
      }
      const Vec3 change = r - r0_[at];
      if (change.isZero(0)) continue;
      r0_[at] = r;
      add_response(i, change, x_.data());
    }
    if ((s + 1) % kBetweenChecks != 0 && s + 1 != sweeps) continue;
    const double residual = natural_residual(list, r0_, x_.data());
    if (!std::isfinite(residual)) {
      for (const int i : list) r0_[static_cast<std::size_t>(i)] = best_[static_cast<std::size_t>(i)];
      break;
    }
    if (residual < best) {
      best = residual;
      for (const int i : list) best_[static_cast<std::size_t>(i)] = r0_[static_cast<std::size_t>(i)];
    }
  }
  return best;
}

StepProblem::Report StepProblem::solve_many(std::span<const int> list) {
  for (std::vector<Vec3>* r : {&r0_, &r1_, &best_}) r->resize(items_.size());
  slopes_.resize(items_.size());
  gather_nodes(list);
  lu_.begin(node_sizes_);
  for (const int i : list) {
    r0_[static_cast<std::size_t>(i)] = best_[static_cast<std::size_t>(i)] = items_[static_cast<std::size_t>(i)].r;
    const auto& [first, second] = parts(i);
    if (second.group >= 0) lu_.couple(group_of(first).node, group_of(second).node);
  }
  lu_.analyse();
  double best = natural_residual(list, r0_, x_.data());
  if (!std::isfinite(best)) {
    for (const int i : list) r0_[static_cast<std::size_t>(i)] = best_[static_cast<std::size_t>(i)] = Vec3::Zero();
    best = natural_residual(list, r0_, x_.data());
  }
  for (int attempt = 0; attempt < 4 && best > (attempt == 0 ? kStart : kAccepted); ++attempt) {
    if (kSweeps[attempt] > 0) {
      // From the best point met, and once from nothing: a start of the step before may be far away.
      for (const int i : list)
        r0_[static_cast<std::size_t>(i)] = attempt == 2 ? Vec3(Vec3::Zero()) : best_[static_cast<std::size_t>(i)];
      best = sweep(list, kSweeps[attempt], best);
    }
    best = newton(list, kStiffness[attempt], best);
  }
  for (const int i : list) items_[static_cast<std::size_t>(i)].r = best_[static_cast<std::size_t>(i)];
  return {best <= kAccepted, best, 0};
}

}  // namespace clatter::contact
