// Many contacts on not so many bodies: Newton's method in the space of velocities, for StepProblem.
//
//   x = X r,   r = proj_K(r0 - rho (b + W^T x)),   rho = kappa / diagonal of A
//
// is solved for the change x of the velocities with r0 given (semismooth Newton, J = 1 + X D rho W^T, D one element of
// the derivative of the projection), then r0 <- r: the proximal method of multipliers. Contacts that depend on each
// other leave J regular; from the r0 of the step before, a pile at rest needs no iteration at all.
#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "contact/step_problem.hpp"

namespace clatter::contact {

namespace {

constexpr double kStiffness = 1e4;  // kappa
constexpr int kOuter = 30, kInner = 20;
constexpr double kTolerance = 1e-10;

// Projection of s on the set, and its derivative.
Vec3 project(const BlockCone& c, const Vec3& s, Mat3& D) {
  Vec3 r = Vec3::Zero();
  D.setZero();
  const bool presses = c.bilateral || s[0] > 0;
  if (presses) {
    r[0] = s[0];
    D(0, 0) = 1;
  }
  const double radius = c.mu * std::max(0.0, r[0]), slope = r[0] > 0 ? c.mu : 0.0;
  if (c.tangents == 0) return r;
  if (c.sliding) {
    for (int k = 0; k < c.tangents; ++k) {
      r[1 + k] = -radius * c.d[k];
      D(1 + k, 0) = -slope * c.d[k];
    }
    return r;
  }
  const double s2 = c.tangents == 2 ? s[2] : 0.0, length = std::hypot(s[1], s2);
  if (length <= radius) {
    for (int k = 1; k <= c.tangents; ++k) {
      r[k] = s[k];
      D(k, k) = 1;
    }
    return r;
  }
  const Eigen::Vector2d d(s[1] / length, s2 / length);
  for (int k = 0; k < c.tangents; ++k) {
    r[1 + k] = radius * d[k];
    D(1 + k, 0) = slope * d[k];
    for (int l = 0; l < c.tangents; ++l) D(1 + k, 1 + l) = radius / length * ((k == l ? 1.0 : 0.0) - d[k] * d[l]);
  }
  return r;
}

}  // namespace

double StepProblem::newton_residual(const Vec& x, std::vector<Vec3>& r, Vec& F) {
  F = x;
  const std::size_t n = items_.size();
  slopes_.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    const Item& item = items_[i];
    Vec3 s = r_blocks_[i];
    for (int k = 0; k < item.rows(); ++k)
      s[k] -= kStiffness / diagonal_[i][k] * (item.b[k] + along(static_cast<int>(i), k, x));
    r[i] = project(item.cone, s, slopes_[i]);
    for (const Part& part : parts_[i]) {
      if (part.group < 0) continue;
      const Group& group = group_of(part);
      for (int k = 0; k < item.rows(); ++k) {
        if (r[i][k] == 0) continue;
        const double* X = X_.data() + part.offset + k * group.size;
        for (const auto& [v0, m] : group.ranges)
          for (int j = 0; j < m; ++j) F[v0 + j] -= r[i][k] * *X++;
      }
    }
  }
  return F.squaredNorm();
}

void StepProblem::newton_matrix(Mat& J) const {
  J.setIdentity();
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const int rows = items_[i].rows();
    for (int k = 0; k < rows; ++k)
      for (int l = 0; l < rows; ++l) {
        const double c = slopes_[i](k, l) * kStiffness / diagonal_[i][l];
        if (c == 0) continue;
        for (const Part& left : parts_[i]) {
          if (left.group < 0) continue;
          const Group& gl = group_of(left);
          for (const Part& right : parts_[i]) {
            if (right.group < 0) continue;
            const Group& gr = group_of(right);
            const double* W = W_.data() + right.offset + l * gr.size;
            for (const auto& [wr, mr] : gr.ranges)
              for (int j = 0; j < mr; ++j, ++W) {
                if (*W == 0) continue;
                const double* X = X_.data() + left.offset + k * gl.size;
                for (const auto& [wl, ml] : gl.ranges)
                  for (int p = 0; p < ml; ++p) J(wl + p, wr + j) += c * *W * *X++;
              }
          }
        }
      }
  }
}

StepProblem::Report StepProblem::solve_newton() {
  const std::size_t n = items_.size();
  const int nv = engine_.sizes().nv;
  cones_.resize(n);
  b_blocks_.resize(n);
  r_blocks_.resize(n);
  r_next_.resize(n);
  diagonal_.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    cones_[i] = items_[i].cone;
    b_blocks_[i] = items_[i].b;
    r_blocks_[i] = items_[i].r;
    Mat3 A = Mat3::Identity();
    for (int k = A_.begin[i]; k < A_.begin[i + 1]; ++k)
      if (A_.blocks[static_cast<std::size_t>(k)].column == static_cast<int>(i))
        A = A_.blocks[static_cast<std::size_t>(k)].A;
    const double t = std::max(A(1, 1), A(2, 2));
    diagonal_[i] = Vec3(A(0, 0) > 0 ? A(0, 0) : 1, t > 0 ? t : 1, t > 0 ? t : 1);
  }
  newton_x_.setZero(nv);
  for (std::size_t i = 0; i < n; ++i)
    for (const Part& part : parts_[i]) {
      if (part.group < 0) continue;
      const Group& group = group_of(part);
      for (int k = 0; k < items_[i].rows(); ++k) {
        const double* X = X_.data() + part.offset + k * group.size;
        for (const auto& [v0, m] : group.ranges)
          for (int j = 0; j < m; ++j) newton_x_[v0 + j] += r_blocks_[i][k] * *X++;
      }
    }
  newton_J_.resize(nv, nv);
  double residual = prox_.residual_of(A_, cones_, b_blocks_, r_blocks_);
  best_blocks_ = r_blocks_;
  double best = residual;
  for (int outer = 0; outer < kOuter && best > kTolerance; ++outer) {
    double merit = newton_residual(newton_x_, r_next_, newton_F_);
    const double start = merit;
    for (int inner = 0; inner < kInner; ++inner) {
      newton_matrix(newton_J_);
      newton_lu_.compute(newton_J_);
      newton_d_ = newton_lu_.solve(newton_F_);
      if (!newton_d_.allFinite()) break;
      double t = 1, moved = 0;
      for (int cut = 0; cut < 8; ++cut, t *= 0.5) {
        newton_trial_ = newton_x_ - t * newton_d_;
        moved = newton_residual(newton_trial_, r_next_, newton_F_);
        if (moved < merit) break;
      }
      newton_x_ = newton_trial_;
      const bool done = moved <= 1e-24 * (1 + newton_x_.squaredNorm()) || moved <= 1e-26 * start;
      const bool stuck = moved >= 0.999999 * merit;
      merit = moved;
      if (done || (stuck && inner > 5)) break;
    }
    r_blocks_.swap(r_next_);
    residual = prox_.residual_of(A_, cones_, b_blocks_, r_blocks_);
    if (residual < best) {
      best = residual;
      best_blocks_ = r_blocks_;
    } else if (outer > 5 && residual > 0.9 * best) {
      break;
    }
  }
  for (std::size_t i = 0; i < n; ++i) items_[i].r = best_blocks_[i];
  return {best <= 1e-8, best, 0};
}

}  // namespace clatter::contact
