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
// forward and backward in turn: a load travels up and down a pile in one pair of sweeps. A contact of the plane has its
// own answer case by case (stick, slip to either side, open). Where contacts are many, sweeps come first, twice as many
// each time, until Newton's method from where they lead has an end.
#include <algorithm>
#include <cmath>

#include "base/interrupt.hpp"
#include "contact/step_problem.hpp"
#include "solve/line_search.hpp"

namespace clatter::contact {

namespace {

constexpr double kStiffest = 1e4, kSoftest = 10;     // kappa
constexpr double kStiffestOfAll = 1e9, kSlow = 0.3;  // where masses are unlike; residual by the last that asks for it
constexpr double kSoft = 100;                        // the first where there is no friction
constexpr double kNear = 1e-3;                       // residual from which the whole law is worth a try
constexpr int kSweeps[] = {0, 40, 200};              // before each attempt
constexpr std::size_t kMany = 100;                   // contacts from which sweeps come first
constexpr int kRounds = 8;                           // of twice as many sweeps each
constexpr double kNearly = 1e-6;                     // where Newton's fails from here, more sweeps are not worth it
constexpr int kPolished = 3;                         // soft ones at the end
constexpr int kShort = 5, kOuter = 60;               // outer iterations of a first attempt, of the others
constexpr int kCoupled = 8, kPolish = 12, kConvex = 30;  // Newton's of one
constexpr int kContradiction = 6;                        // outer iterations without a change
constexpr int kCuts = 6, kMemory = 4;
constexpr double kExact = 1e-30, kRounded = 1e-16;  // |F|^2 by its scale: no better wanted, rounding may begin
// Natural map of a start that needs no iteration; rounding in the sums over many contacts leaves 1e-11 of one that had.
constexpr double kStart = 1e-12, kStartMany = 1e-10;
constexpr std::size_t kFew = 16;
constexpr double kGap = 1e-6;                         // natural map of a correction of gaps, which is repeated
constexpr double kTarget = 1e-14;                     // gone on to while an iteration gains much
constexpr double kAccepted = StepProblem::solved_to;  // where rounding or the conditioning allow no more
constexpr int kBetweenChecks = 10;
constexpr int kRough = 10;  // sweeps where gaps of rounding are corrected

// One contact of the plane by itself: y = q + A r with Coulomb's law, case by case. False where another law holds, or
// no case does.
bool alone_in_plane(const BlockCone& c, const Mat3& A, const Vec3& q, Vec3& r) {
  if (c.alone || c.bilateral || c.sliding || c.tangents != 1) return false;
  if (q[0] >= 0) {
    r.setZero();
    return true;
  }
  const double det = A(0, 0) * A(1, 1) - A(0, 1) * A(1, 0);
  if (det > 1e-12 * A(0, 0) * A(1, 1)) {
    const double n = (A(0, 1) * q[1] - A(1, 1) * q[0]) / det, t = (A(1, 0) * q[0] - A(0, 0) * q[1]) / det;
    if (n >= 0 && std::abs(t) <= c.mu * n) {
      r = Vec3(n, t, 0);
      return true;
    }
  }
  for (const double side : {-1.0, 1.0}) {
    const double stiffness = A(0, 0) + side * c.mu * A(0, 1);
    if (!(stiffness > 0)) continue;
    const double n = -q[0] / stiffness, slip = q[1] + (A(1, 0) + side * c.mu * A(1, 1)) * n;
    if (side * slip > 0) continue;
    r = Vec3(n, side * c.mu * n, 0);
    return true;
  }
  return false;
}

}  // namespace

double StepProblem::newton_residual(std::span<const int> list, double stiffness, const double* x, bool given) {
  for (const int g : it_.nodes) {
    const Group& group = groups()[static_cast<std::size_t>(g)];
    std::copy(x + group.first, x + group.first + group.size, it_.F.data() + group.first);
  }
  for (const int i : list) {
    const auto at = static_cast<std::size_t>(i);
    it_.s[at] = it_.r0[at] - stiffness * rates(i, x).cwiseQuotient(it_.diagonal_scale[at]);
    it_.r1[at] = project(items_[at].cone, it_.s[at], &it_.slopes[at], given ? it_.radius[at] : -1);
    add_response(i, -it_.r1[at], it_.F.data());
  }
  double merit = 0;
  for (const int g : it_.nodes) {
    const Group& group = groups()[static_cast<std::size_t>(g)];
    for (int j = group.first; j < group.first + group.size; ++j) merit += it_.weight[j] * it_.F[j] * it_.F[j];
  }
  return merit;
}

void StepProblem::newton_matrix(std::span<const int> list, double stiffness) {
  it_.lu.set_zero();
  for (std::size_t n = 0; n < it_.nodes.size(); ++n) {
    double* D = it_.lu.block(static_cast<int>(n), static_cast<int>(n));
    for (int j = 0; j < it_.node_sizes[n]; ++j) D[j * it_.node_sizes[n] + j] = 1;
  }
  for (const int i : list) {
    const auto at = static_cast<std::size_t>(i);
    const int rows = items_[at].rows();
    if (it_.slopes[at].isZero(0)) continue;
    for (const Part& right : parts(i)) {
      if (right.group < 0) continue;
      const Group& gr = group_of(right);
      for (const Part& left : parts(i)) {
        if (left.group < 0) continue;
        const Group& gl = group_of(left);
        double* J = it_.lu.block(gl.node, gr.node);
        for (int j = 0; j < gr.size; ++j) {
          // Row j of rho W^T, turned by the slopes: what one unit of velocity j does to the impulses.
          double c[3] = {0, 0, 0};
          for (int l = 0; l < rows; ++l) {
            const double w =
                W_[static_cast<std::size_t>(right.offset + l * gr.size + j)] * stiffness / it_.diagonal_scale[at][l];
            for (int k = 0; k < rows; ++k) c[k] += it_.slopes[at](k, l) * w;
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
  it_.nodes.clear();
  it_.node_sizes.clear();
  for (const int i : list)
    for (const Part& part : parts(i))
      if (part.group >= 0) groups()[static_cast<std::size_t>(part.group)].node = -1;
  for (const int i : list)
    for (const Part& part : parts(i)) {
      if (part.group < 0) continue;
      Group& group = groups()[static_cast<std::size_t>(part.group)];
      if (group.node < 0) {
        group.node = static_cast<int>(it_.nodes.size());
        it_.nodes.push_back(part.group);
        it_.node_sizes.push_back(group.size);
        it_.weight.segment(group.first, group.size).setZero();
      }
      for (int k = 0; k < items_[static_cast<std::size_t>(i)].rows(); ++k) {
        const double A = diagonal_[static_cast<std::size_t>(i)](k, k);
        const double* X = X_.data() + part.offset + k * group.size;
        for (int j = 0; A > 0 && j < group.size; ++j)
          it_.weight[group.first + j] = std::max(it_.weight[group.first + j], X[j] * X[j] / A);
      }
    }
  for (const int g : it_.nodes) {
    const Group& group = groups()[static_cast<std::size_t>(g)];
    for (int j = group.first; j < group.first + group.size; ++j)
      it_.weight[j] = it_.weight[j] > 0 ? 1 / it_.weight[j] : 0;
  }
}

void StepProblem::newton_direction(std::span<const int> list, double stiffness, bool& regular) {
  newton_matrix(list, stiffness);
  ++counts_.factorisations;
  regular = it_.lu.factorize();
  if (!regular) return;
  for (const int g : it_.nodes) {
    const Group& group = groups()[static_cast<std::size_t>(g)];
    std::copy(it_.F.data() + group.first, it_.F.data() + group.first + group.size,
              it_.lu_x.data() + it_.lu.first(group.node));
  }
  it_.lu.solve(it_.lu_x.data());
  for (const int g : it_.nodes) {
    const Group& group = groups()[static_cast<std::size_t>(g)];
    std::copy(it_.lu_x.data() + it_.lu.first(group.node), it_.lu_x.data() + it_.lu.first(group.node) + group.size,
              it_.d.data() + group.first);
  }
}

// x, s, r1 and F for the whole law, from r0; false when Newton's method circles.
bool StepProblem::coupled_newton(std::span<const int> list, double stiffness, double scale, int iterations) {
  double merit = newton_residual(list, stiffness, it_.x.data(), false);
  double recent[kMemory];
  std::fill(recent, recent + kMemory, merit);
  int stuck = 0;
  for (int iteration = 0; iteration < iterations; ++iteration) {
    leave_if_interrupted();
    if (merit <= kExact * scale) return true;
    bool regular = false;
    newton_direction(list, stiffness, regular);
    if (!regular) return false;
    const double bound = *std::max_element(recent, recent + kMemory);
    double t = 1, moved = 0;
    for (int cut = 0; cut < kCuts; ++cut, t *= 0.5) {
      each_velocity([&](int j) { it_.trial[j] = it_.x[j] - t * it_.d[j]; });
      moved = newton_residual(list, stiffness, it_.trial.data(), false);
      if (moved < bound) break;
    }
    if (!std::isfinite(moved)) return false;
    each_velocity([&](int j) { it_.x[j] = it_.trial[j]; });
    // A full step that gains no more has met rounding.
    if (t == 1 && moved > 0.25 * merit && std::min(moved, merit) <= kRounded * scale) return true;
    stuck = moved >= 0.999 * bound ? stuck + 1 : 0;
    merit = moved;
    recent[iteration % kMemory] = merit;
    if (stuck > 1) return false;
  }
  return merit <= kRounded * scale;
}

// The same with the radii of friction given: x minimises a convex function whose slope along -d is known by contact,
//
//   x = X z,   d = X w,   w = z - p - D rho W^T d,      phi'(t) = -sum (W^T d) . (z - t w - p(s + t rho W^T d))
//
// so that each step goes to the least point along it.
bool StepProblem::convex_newton(std::span<const int> list, double stiffness, double scale, double enough) {
  for (const int i : list) {
    const auto at = static_cast<std::size_t>(i);
    it_.z[at] = it_.r0[at];
    it_.radius[at] = items_[at].cone.mu * std::max(0.0, it_.r0[at][0]);
  }
  double merit = newton_residual(list, stiffness, it_.x.data(), true);
  for (int iteration = 0; iteration < kConvex; ++iteration) {
    leave_if_interrupted();
    if (merit <= enough * scale) return true;
    bool regular = false;
    newton_direction(list, stiffness, regular);
    if (!regular) return false;
    double at_start = 0;
    for (const int i : list) {
      const auto at = static_cast<std::size_t>(i);
      const int rows = items_[at].rows();
      Vec3& u = it_.u[at];
      u.setZero();
      for (int k = 0; k < rows; ++k) u[k] = along_packed(i, k, it_.d.data());
      it_.w[at] = it_.z[at] - it_.r1[at] - it_.slopes[at] * (stiffness * u.cwiseQuotient(it_.diagonal_scale[at]));
      at_start -= u.dot(it_.z[at] - it_.r1[at]);
    }
    const auto slope = [&](double t) {
      double sum = 0;
      for (const int i : list) {
        const auto at = static_cast<std::size_t>(i);
        const Vec3 s = it_.s[at] + t * stiffness * it_.u[at].cwiseQuotient(it_.diagonal_scale[at]);
        sum -= it_.u[at].dot(it_.z[at] - t * it_.w[at] - project(items_[at].cone, s, nullptr, it_.radius[at]));
      }
      return sum;
    };
    const double t = least_point_along(at_start, slope);
    each_velocity([&](int j) { it_.x[j] -= t * it_.d[j]; });
    for (const int i : list) it_.z[static_cast<std::size_t>(i)] -= t * it_.w[static_cast<std::size_t>(i)];
    const double moved = newton_residual(list, stiffness, it_.x.data(), true);
    if (!std::isfinite(moved)) return false;
    if (t == 1 && moved > 0.25 * merit && std::min(moved, merit) <= kRounded * scale) return true;
    merit = moved;
  }
  return merit <= kRounded * scale;
}

double StepProblem::take_outer(std::span<const int> list, double& best) {
  for (const int i : list) it_.r0[static_cast<std::size_t>(i)] = it_.r1[static_cast<std::size_t>(i)];
  const double residual = natural_residual(list, it_.r0, it_.x.data());
  if (residual < best) {
    best = residual;
    for (const int i : list) it_.best[static_cast<std::size_t>(i)] = it_.r0[static_cast<std::size_t>(i)];
  }
  return residual;
}

// A kinetic energy to compare |F|^2 with: what it takes to undo the rates b.
double StepProblem::energy_of(std::span<const int> list) const {
  double scale = 0;
  for (const int i : list)
    for (int k = 0; k < items_[static_cast<std::size_t>(i)].rows(); ++k) {
      const double b = items_[static_cast<std::size_t>(i)].b[k];
      scale = std::max(scale, b * b / it_.diagonal_scale[static_cast<std::size_t>(i)][k]);
    }
  return scale;
}

double StepProblem::newton(std::span<const int> list, bool shortly, double best) {
  const double scale = energy_of(list);
  bool friction = false;
  for (const int i : list) friction = friction || items_[static_cast<std::size_t>(i)].cone.tangents > 0;
  double residual = natural_residual(list, it_.r0, it_.x.data());
  bool coupled = friction && shortly;
  int same = 0;
  // Softer where much is open: the inner problem then has fewer kinks on its way.
  double stiffness = shortly ? kStiffest : std::clamp(1 / residual, kSoftest, kStiffest);
  for (int outer = 0; outer < (shortly ? kShort : kOuter) && best > kTarget; ++outer) {
    const double last = residual;
    if (coupled) {
      for (const int i : list) it_.keep[static_cast<std::size_t>(i)] = it_.r0[static_cast<std::size_t>(i)];
      const bool solved = coupled_newton(list, kStiffest, scale, shortly ? kCoupled : kPolish);
      residual = solved ? take_outer(list, best) : last;
      coupled = solved && residual < 0.1 * last;
      if (!coupled) {
        if (shortly) break;
        for (const int i : list) it_.r0[static_cast<std::size_t>(i)] = it_.keep[static_cast<std::size_t>(i)];
        residual = natural_residual(list, it_.r0, it_.x.data());
      }
    } else {
      const bool solved = convex_newton(list, stiffness, scale, kExact);
      // What was not solved to its end is read from z: r1 is off by kappa times what is missing, or rounded.
      for (const int i : list) {
        const auto at = static_cast<std::size_t>(i);
        if (!solved || stiffness > kStiffest) it_.r1[at] = project(items_[at].cone, it_.z[at]);
      }
      residual = take_outer(list, best);
      // Where radii of friction that follow the normal impulses converge slowly, the whole law is tried.
      coupled = friction && residual < kNear && residual > 0.1 * last;
      // What is heavy on what is light gets its weight by kappa times what the light weigh: a round that gains little
      // asks for more.
      const double stiffest = residual > kSlow * last ? kStiffestOfAll : std::max(kStiffest, stiffness);
      stiffness = solved ? std::min(stiffest, 10 * stiffness) : std::max(kSoftest, 0.1 * stiffness);
    }
    if (!std::isfinite(residual)) break;
    if (best <= kAccepted && residual > 0.1 * last) break;
    // Impulses that grow while the rates stay as they are belong to rows that contradict each other.
    same = std::abs(residual - last) <= 1e-3 * last ? same + 1 : 0;
    if (same >= kContradiction) break;
  }
  // Rates are known to rounding, r1 to kappa times that: what a stiff iteration leaves is mended by a soft one.
  for (int outer = 0; friction && outer < kPolished && best <= kAccepted && best > kTarget; ++outer) {
    const double last = best;
    for (const int i : list) it_.r0[static_cast<std::size_t>(i)] = it_.best[static_cast<std::size_t>(i)];
    natural_residual(list, it_.r0, it_.x.data());
    coupled_newton(list, kSoft, scale, kPolish);
    take_outer(list, best);
    if (best > 0.5 * last) break;
  }
  return best;
}

double StepProblem::sweep(std::span<const int> list, int sweeps, double best) {
  natural_residual(list, it_.r0, it_.x.data());
  for (int s = 0; s < sweeps && best > kTarget; ++s) {
    leave_if_interrupted();
    ++counts_.sweeps;
    const bool forward = s % 2 == 0;
    for (std::size_t c = 0; c < list.size(); ++c) {
      const int i = list[forward ? c : list.size() - 1 - c];
      const auto at = static_cast<std::size_t>(i);
      Vec3 y = rates(i, it_.x.data()), r = it_.r0[at];
      // The contact's own block: normal and friction impulses that depend on each other.
      const bool known = alone_in_plane(items_[at].cone, diagonal_[at], y - diagonal_[at] * r, r);
      for (int k = 0; !known && k < 3; ++k) {
        const Vec3 next = project(items_[at].cone, r - y.cwiseQuotient(it_.diagonal_scale[at]));
        y += diagonal_[at] * (next - r);
        r = next;
      }
      const Vec3 change = r - it_.r0[at];
      if (change.isZero(0)) continue;
      it_.r0[at] = r;
      add_response(i, change, it_.x.data());
    }
    if ((s + 1) % kBetweenChecks != 0 && s + 1 != sweeps) continue;
    const double residual = natural_residual(list, it_.r0, it_.x.data());
    if (!std::isfinite(residual)) {
      for (const int i : list) it_.r0[static_cast<std::size_t>(i)] = it_.best[static_cast<std::size_t>(i)];
      break;
    }
    if (residual < best) {
      best = residual;
      for (const int i : list) it_.best[static_cast<std::size_t>(i)] = it_.r0[static_cast<std::size_t>(i)];
    }
  }
  return best;
}

double StepProblem::begin_many(std::span<const int> list, bool newton_too) {
  for (std::vector<Vec3>* r : {&it_.r0, &it_.r1, &it_.best, &it_.keep, &it_.s, &it_.z, &it_.u, &it_.w})
    r->resize(items_.size());
  it_.slopes.resize(items_.size());
  it_.radius.resize(items_.size());
  gather_nodes(list);
  for (const int i : list)
    it_.r0[static_cast<std::size_t>(i)] = it_.best[static_cast<std::size_t>(i)] = items_[static_cast<std::size_t>(i)].r;
  if (newton_too) {
    it_.lu.begin(it_.node_sizes);
    for (const int i : list) {
      const auto& [first, second] = parts(i);
      if (second.group >= 0) it_.lu.couple(group_of(first).node, group_of(second).node);
    }
    it_.lu.analyse();
  }
  double best = natural_residual(list, it_.r0, it_.x.data());
  if (!std::isfinite(best)) {
    for (const int i : list) it_.r0[static_cast<std::size_t>(i)] = it_.best[static_cast<std::size_t>(i)] = Vec3::Zero();
    best = natural_residual(list, it_.r0, it_.x.data());
  }
  return best;
}

StepProblem::Report StepProblem::solve_convex(int which, bool roughly) {
  const std::span<const int> list = island(which);
  if (!roughly && wide(which)) {
    it_.before.clear();
    for (const int i : list) it_.before.push_back(items_[static_cast<std::size_t>(i)].r);
    const Report dense = solve_dense(which);
    if (dense.solved) return dense;
    std::size_t at = 0;
    for (const int i : list) items_[static_cast<std::size_t>(i)].r = it_.before[at++];
  }
  double best = begin_many(list, !roughly), last = best;
  if (roughly) {
    best = sweep(list, kRough, best);
  } else {
    double stiffness = kSoft;
    for (int outer = 0; outer < kShort && best > kGap; ++outer) {
      convex_newton(list, stiffness, energy_of(list), kGap * kGap);
      const double residual = take_outer(list, best);
      if (outer > 1 && !(residual < 0.5 * last)) break;
      last = residual;
      stiffness = std::min(kStiffest, 10 * stiffness);
    }
  }
  for (const int i : list) items_[static_cast<std::size_t>(i)].r = it_.best[static_cast<std::size_t>(i)];
  return {best <= kGap, best, 0};
}

StepProblem::Report StepProblem::solve_many(std::span<const int> list, bool shortly) {
  double best = begin_many(list, !shortly);
  if (shortly) {
    if (best > (list.size() > kFew ? kStartMany : kStart)) best = newton(list, true, begin_many(list, true));
  } else {
    // Many contacts: sweeps until Newton's method takes hold.
    const bool many = list.size() > kMany;
    for (int round = 0, sweeps = kSweeps[1]; many && round < kRounds && best > kAccepted; ++round, sweeps *= 2) {
      for (const int i : list) it_.r0[static_cast<std::size_t>(i)] = it_.best[static_cast<std::size_t>(i)];
      best = sweep(list, sweeps, best);
      for (const int i : list) it_.r0[static_cast<std::size_t>(i)] = it_.best[static_cast<std::size_t>(i)];
      best = newton(list, true, best);
      if (best <= kNearly) break;
    }
    for (int attempt = 0; attempt < (many ? 0 : 3) && best > kAccepted; ++attempt) {
      // From the best point met, and once from nothing: a start of the step before may be far away.
      for (const int i : list)
        it_.r0[static_cast<std::size_t>(i)] = attempt == 1 ? Vec3(Vec3::Zero()) : it_.best[static_cast<std::size_t>(i)];
      if (kSweeps[attempt] > 0) best = sweep(list, kSweeps[attempt], best);
      best = newton(list, false, best);
    }
  }
  for (const int i : list) items_[static_cast<std::size_t>(i)].r = it_.best[static_cast<std::size_t>(i)];
  return {best <= kAccepted, best, 0};
}

}  // namespace clatter::contact
