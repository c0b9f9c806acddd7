#include "integrate/projection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "integrate/diagnosis.hpp"

namespace clatter {

namespace {

constexpr int kMaxIterations = 20;
// Newton's error after a correction of size s is of order s^2: below this the next one would be round-off.
constexpr double kLastCorrection = 1e-8;
constexpr double kRoundoff = 1e-13;

// Part of what a correction does to the rows that may be left to their curvature, smallest part of a correction, and
// how many of them are made.
constexpr double kFollows = 0.1, kSmallestPart = 1.0 / 256;
constexpr int kMostParts = 500;
// Violations below this part of the scales are no way to go.
constexpr double kNear = 1e-3;

double largest_ratio(const Vec& x, const Vec& scale) {
  double largest = 0;
  for (Eigen::Index i = 0; i < x.size(); ++i) largest = std::max(largest, std::abs(x[i]) / scale[i]);
  return largest;
}

}  // namespace

Projector::Projector(Dynamics& dynamics) : dynamics_(dynamics) {
  const Sizes& n = dynamics.sizes();
  u_scale_.setOnes(n.nv);
  v_scale_.setOnes(n.nv);
  z_scale_.setOnes(n.nz);
  dynamics.scales(u_scale_, v_scale_, z_scale_);
  rho_.setOnes(n.nc());
  rho_v_.setOnes(n.nc());
  phi_.setZero(n.nh);
  residual_.setZero(n.nc());
  b_.setZero(n.nc());
  delta_.setZero(n.nv);
}

void Projector::start(const State& s) {
  const Sizes& n = dynamics_.sizes();
  if (n.nc() == 0) return;
  Tangents tangents = dynamics_.tangent_layout();
  dynamics_.tangents(s, Vec::Zero(n.nv), Vec::Zero(n.nc()), tangents);
  const Pattern& pattern = tangents.G.pattern();
  rho_.setZero();
  rho_v_.setZero();
  for (int j = 0; j < n.nv; ++j) {
    for (int k = pattern.col_start()[j]; k < pattern.col_start()[j + 1]; ++k) {
      const int row = pattern.row_index()[k];
      const double g = tangents.G.values()[k];
      rho_[row] += g * g * u_scale_[j] * u_scale_[j];
      rho_v_[row] += g * g * v_scale_[j] * v_scale_[j];
    }
  }
  // A row without entries (the coordinates alone hold what it says) has the scale of the largest of them.
  const double u = n.nv > 0 ? u_scale_.maxCoeff() : 1.0, v = n.nv > 0 ? v_scale_.maxCoeff() : 1.0;
  for (int i = 0; i < n.nc(); ++i) {
    rho_[i] = rho_[i] > 0 ? std::sqrt(rho_[i]) : u;
    rho_v_[i] = rho_v_[i] > 0 ? std::sqrt(rho_v_[i]) : v;
  }
}

ProjectionReport Projector::positions(State& s, bool polish) {
  const Sizes& n = dynamics_.sizes();
  ProjectionReport report;
  if (n.nh == 0) return report;
  const double spread = 10 * std::sqrt(static_cast<double>(n.nv));
  for (;;) {
    const double violation = position_violation(s);
    const bool rounding = violation <= kRoundoff;
    if (rounding && (!polish || violation == 0)) return report;
    if (report.iterations == kMaxIterations || !std::isfinite(violation)) {
      const Culprits rows = worst_rows(dynamics_, phi_, rho_);
      throw SolveError(
          "constraints-not-met", s.t, rows.names,
          fmt::format("the constraints cannot be met after {} corrections of the positions; what remains: {}",
                      report.iterations, rows.text),
          "look for parts that cannot reach each other, or start closer to the assembled position");
    }
    b_.setZero();
    b_.head(n.nh) = -phi_;
    dynamics_.least_correction(s, b_, true, delta_);
    dynamics_.plus(s.q, delta_, s.q);
    const double size = largest_ratio(delta_, u_scale_);
    ++report.iterations;
    report.size = std::max(report.size, size);
    // A violation that its own correction does not account for lies in rows that contradict each other.
    const bool contradiction = violation > spread * size + 1e-11;
    if (contradiction && report.iterations > 3) {
      const Culprits rows = worst_rows(dynamics_, phi_, rho_);
      throw SolveError("constraints-contradict", s.t, rows.names,
                       fmt::format("redundant constraints contradict each other; what remains: {}", rows.text),
                       "make the dimensions of the closed loop agree, or free one of its joints");
    }
    if (rounding || (!polish && size <= kLastCorrection && !contradiction)) return report;
  }
}

ProjectionReport Projector::assemble(State& s) {
  if (dynamics_.sizes().nh == 0) return {};
  const State begin = s;
  const int parts = approach(s);
  ProjectionReport report = positions(s);
  if (parts > 0) {
    report.iterations += parts;
    dynamics_.minus(s.q, begin.q, delta_);
    report.size = largest_ratio(delta_, u_scale_);
  }
  return report;
}

int Projector::approach(State& s) {
  const int nh = dynamics_.sizes().nh;
  const auto follows = [&](double part) {
    dynamics_.plus(s.q, part * delta_, moved_.q);
    try {
      if (!std::isfinite(position_violation(moved_))) return false;
    } catch (const SolveError&) {
      return false;  // a measure that is not defined there
    }
    double done = 0, off = 0;
    for (int i = 0; i < nh; ++i) {
      done = std::max(done, std::abs(part * along_[i]) / rho_[i]);
      off = std::max(off, std::abs(phi_[i] - before_[i] - part * along_[i]) / rho_[i]);
    }
    return off <= kFollows * done;
  };
  double part = 1;
  for (int parts = 0; parts < kMostParts; ++parts) {
    const double violation = position_violation(s);
    if (!(violation > kNear)) return parts;
    before_ = phi_;
    b_.setZero();
    b_.head(nh) = -phi_;
    dynamics_.least_correction(s, b_, true, delta_);
    rate_of(s, delta_, along_);
    moved_ = s;
    part = std::min(1.0, 4 * part);
    while (part > kSmallestPart && !follows(part)) part /= 2;
    // A full correction that follows is positions()' business, and so is a place where no part of one does.
    if (part == 1 || part <= kSmallestPart) return parts;
    s.q = moved_.q;
  }
  return kMostParts;
}

ProjectionReport Projector::velocities(State& s, bool polish) {
  ProjectionReport report;
  if (dynamics_.sizes().nc() == 0) return report;
  // The equations are linear in v: a second pass only removes what the first left by rounding of a poor factorisation.
  for (int pass = 0; pass < 3; ++pass) {
    const double violation = velocity_violation(s);
    const bool rounding = violation <= kRoundoff;
    if (rounding && (!polish || violation == 0)) return report;
    b_ = -residual_;
    dynamics_.least_correction(s, b_, false, delta_);
    s.v += delta_;
    const double size = largest_ratio(delta_, v_scale_);
    ++report.iterations;
    report.size = std::max(report.size, size);
    if (rounding || (!polish && size <= 1e-3 && violation <= 10 * std::sqrt(static_cast<double>(delta_.size())) * size))
      return report;
  }
  if (velocity_violation(s) > 1e-9) {
    const Culprits rows = worst_rows(dynamics_, residual_, rho_v_);
    throw SolveError("velocities-not-met", s.t, rows.names,
                     fmt::format("no velocities meet all constraints; what remains: {}", rows.text),
                     "look for drives that work against each other or a singular position");
  }
  return report;
}

void Projector::tangent(const State& s, Vec& d) {
  if (dynamics_.sizes().nc() == 0) return;
  rate_of(s, d, b_);
  b_ = -b_;
  dynamics_.least_correction(s, b_, false, delta_);
  d += delta_;
}

// The difference of two velocity residuals.
void Projector::rate_of(const State& s, const Vec& d, Vec& rate) {
  dynamics_.constraints(s, phi_, residual_);
  moved_ = s;
  moved_.v += d;
  rate.resize(residual_.size());
  dynamics_.constraints(moved_, phi_, rate);
  rate -= residual_;
}

double Projector::position_violation(const State& s) {
  dynamics_.constraints(s, phi_, residual_);
  return largest_ratio(phi_, rho_);
}

double Projector::velocity_violation(const State& s) {
  dynamics_.constraints(s, phi_, residual_);
  return largest_ratio(residual_, rho_v_);
}

}  // namespace clatter
