#include "contact/block_prox.hpp"

#include <algorithm>
#include <cmath>

namespace clatter::contact {

namespace {

// Nearest point of the set to r - y / d, with the radius of the projected normal force.
Vec3 project(const BlockCone& c, const Vec3& r, const Vec3& y, double dn, double dt) {
  Vec3 out = Vec3::Zero();
  out[0] = r[0] - y[0] / dn;
  if (!c.bilateral) out[0] = std::max(0.0, out[0]);
  const double radius = c.mu * std::max(0.0, out[0]);
  if (c.tangents == 0) return out;
  if (c.sliding) {
    for (int k = 0; k < c.tangents; ++k) out[1 + k] = -radius * c.d[k];
    return out;
  }
  if (c.tangents == 1) {
    out[1] = std::clamp(r[1] - y[1] / dt, -radius, radius);
    return out;
  }
  out[1] = r[1] - y[1] / dt;
  out[2] = r[2] - y[2] / dt;
  const double length = std::hypot(out[1], out[2]);
  if (length > radius) {
    out[1] *= radius / length;
    out[2] *= radius / length;
  }
  return out;
}

}  // namespace

double BlockProx::residual(const BlockMatrix& A, const std::vector<BlockCone>& cones, const std::vector<Vec3>& b,
                           const std::vector<Vec3>& r) {
  double worst = 0, scale = 0;
  for (int i = 0; i < A.rows(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    Vec3 y = b[at];
    for (int k = A.begin[at]; k < A.begin[at + 1]; ++k) {
      const BlockMatrix::Block& block = A.blocks[static_cast<std::size_t>(k)];
      y.noalias() += block.A * r[static_cast<std::size_t>(block.column)];
    }
    y_[at] = y;
    const Vec3 moved = project(cones[at], r[at], y, normal_[at], tangent_[at]) - r[at];
    worst = std::max({worst, normal_[at] * std::abs(moved[0]), tangent_[at] * std::abs(moved[1]),
                      tangent_[at] * std::abs(moved[2])});
    for (int k = 0; k < 1 + cones[at].tangents; ++k) scale = std::max(scale, std::abs(b[at][k]));
  }
  return scale > 0 ? worst / scale : worst;
}

void BlockProx::diagonals(const BlockMatrix& A, const std::vector<BlockCone>& cones) {
  const auto n = static_cast<std::size_t>(A.rows());
  y_.resize(n);
  normal_.assign(n, 1);
  tangent_.assign(n, 1);
  for (std::size_t i = 0; i < n; ++i) {
    for (int k = A.begin[i]; k < A.begin[i + 1]; ++k) {
      const BlockMatrix::Block& block = A.blocks[static_cast<std::size_t>(k)];
      if (block.column != static_cast<int>(i)) continue;
      if (block.A(0, 0) > 0) normal_[i] = block.A(0, 0);
      const double t =
          std::max(block.A(1, 1), block.A(2, 2)) + (cones[i].tangents == 2 ? std::abs(block.A(1, 2)) : 0.0);
      if (t > 0) tangent_[i] = t;
    }
  }
}

double BlockProx::residual_of(const BlockMatrix& A, const std::vector<BlockCone>& cones, const std::vector<Vec3>& b,
                              const std::vector<Vec3>& r) {
  diagonals(A, cones);
  return residual(A, cones, b, r);
}

BlockProx::Report BlockProx::solve(const BlockMatrix& A, const std::vector<BlockCone>& cones,
                                   const std::vector<Vec3>& b, std::vector<Vec3>& r, double tolerance, int max_sweeps) {
  const auto n = static_cast<std::size_t>(A.rows());
  diagonals(A, cones);
  mirror_.resize(A.blocks.size());
  for (std::size_t i = 0; i < n; ++i)
    for (int k = A.begin[i]; k < A.begin[i + 1]; ++k) {
      const auto j = static_cast<std::size_t>(A.blocks[static_cast<std::size_t>(k)].column);
      int m = A.begin[j];
      while (A.blocks[static_cast<std::size_t>(m)].column != static_cast<int>(i)) ++m;
      mirror_[static_cast<std::size_t>(k)] = m;
    }
  Report report;
  report.residual = residual(A, cones, b, r);
  best_ = r;
  double best = report.residual, last = best, omega = 1;
  constexpr int kBetweenChecks = 10;
  while (best > tolerance && report.sweeps < max_sweeps) {
    for (int s = 0; s < kBetweenChecks; ++s, ++report.sweeps) {
      // Forward and backward in turn: a load travels up and down a pile in one pair of sweeps.
      const bool forward = s % 2 == 0;
      for (std::size_t c = 0; c < n; ++c) {
        const std::size_t i = forward ? c : n - 1 - c;
        const Vec3 change = omega * (project(cones[i], r[i], y_[i], normal_[i], tangent_[i]) - r[i]);
        if (change.isZero(0)) continue;
        r[i] += change;
        for (int k = A.begin[i]; k < A.begin[i + 1]; ++k) {
          const auto column = static_cast<std::size_t>(A.blocks[static_cast<std::size_t>(k)].column);
          y_[column].noalias() += A.blocks[static_cast<std::size_t>(mirror_[static_cast<std::size_t>(k)])].A * change;
        }
      }
    }
    const double now = residual(A, cones, b, r);
    omega = now > last ? std::max(0.7 * omega, 0.1) : std::min(1.05 * omega, 1.3);
    last = now;
    if (now < best) {
      best = now;
      best_ = r;
    } else if (!(now < 1e3 * (best + 1))) {
      r = best_;
      residual(A, cones, b, r);
      omega *= 0.5;
    }
  }
  r = best_;
  report.residual = best;
  report.converged = best <= tolerance;
  return report;
}

}  // namespace clatter::contact
