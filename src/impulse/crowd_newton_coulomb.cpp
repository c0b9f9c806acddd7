// Coulomb's law as it is, by Newton's method from a point that is near; for CrowdNewton.
//
//   F(y) = y - S^T P = 0,   P = onto_disc(P0 - rho d)            1 + S^T rho J S, J not symmetric where contacts slip
//
// Directions by GMRES (Saad and Schultz 1986) with the Cholesky factors of the matrix without the share of the radius
// of friction: what they leave out is of the rank of the contacts that slip and of the size of mu. Steps are halved
// until |F|, a root of an energy, falls. There is no law that it must get there: the caller judges.
#include <algorithm>
#include <cmath>

#include "base/interrupt.hpp"
#include "impulse/crowd_cone.hpp"
#include "impulse/crowd_newton.hpp"

namespace clatter::contact {

namespace {

constexpr int kDirections = 60;   // of GMRES
constexpr double kLinear = 1e-3;  // its residual, relative
constexpr int kCuts = 8;
constexpr double kRounding = 1e-14;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

double CrowdNewton::evaluate_whole(const CrowdProblem& problem) {
  const int from = unknowns_.first, n = unknowns_.second - from;
  g_.segment(from, n) = -y_.segment(from, n);
  for (const int i : rows_) {
    const CrowdRow& row = problem.rows[at(i)];
    const double rho = kappa_ * eta_[at(i)];
    P_[at(i)] = P0_[at(i)] - rho * d_[at(i)];
    if (!turns(i)) {
      P_[at(i)] = onto_disc(row, P_[at(i)], whole_slope_[at(i)], slope_[at(i)]);
    } else {
      const auto m = at(moment_port(i));
      P_[m] = P0_[m] - rho * d_[m];
      onto_disc(row, *turn_[at(i)], P_[at(i)], P_[m], whole_slope_[at(i)], whole_slope_[m], whole_cross_[at(i)],
                slope_[at(i)], slope_[m]);
      cross_[at(i)].setZero();
    }
    each_port(i, [&](int port) { push_of(port, P_[at(port)], g_.data()); });
  }
  g_.segment(from, n) *= -1;
  return g_.segment(from, n).squaredNorm();
}

// dy = -A^-1 F.
bool CrowdNewton::direction() {
  const int from = unknowns_.first, n = unknowns_.second - from;
  if (!factorize()) return false;
  // Columns begin at multiples of eight: the order of sums hangs on how they lie in memory, and must not on what was
  // solved before.
  if (krylov_.rows() < y_.size()) krylov_.resize((y_.size() + 7) / 8 * 8, kDirections + 1);
  const auto V = [&](int k) { return krylov_.col(k).segment(from, n); };
  Eigen::Matrix<double, kDirections + 1, kDirections> H;
  Eigen::Matrix<double, kDirections + 1, 1> e = Eigen::Matrix<double, kDirections + 1, 1>::Zero();
  double cosine[kDirections], sine[kDirections];
  const double norm = g_.segment(from, n).norm();
  V(0) = g_.segment(from, n) / -norm;
  e[0] = norm;
  int k = 0;
  while (k < kDirections && std::abs(e[k]) > kLinear * norm) {
    dy_.segment(from, n) = V(k);
    matrix_.solve(island_, dy_.data());
    V(k + 1) = dy_.segment(from, n);
    for (const int port : ports_) way_[at(port)] = rate_of(port, dy_);
    for (const int i : rows_) {
      if (whole_slope_[at(i)].isZero(0)) continue;
      const double rho = kappa_ * eta_[at(i)];
      push_of(i, rho * (whole_slope_[at(i)] * way_[at(i)]), krylov_.col(k + 1).data());
      if (!turns(i)) continue;
      const auto m = at(moment_port(i));
      push_of(moment_port(i), rho * (whole_slope_[m] * way_[m] + whole_cross_[at(i)] * way_[at(i)]),
              krylov_.col(k + 1).data());
    }
    // Twice: what rounding leaves of the first.
    for (int j = 0; j <= k; ++j) H(j, k) = 0;
    for (int pass = 0; pass < 2; ++pass)
      for (int j = 0; j <= k; ++j) {
        const double along = V(j).dot(V(k + 1));
        H(j, k) += along;
        V(k + 1) -= along * V(j);
      }
    const double rest = V(k + 1).norm();
    if (!std::isfinite(rest)) return false;
    H(k + 1, k) = rest;
    if (rest > 0) V(k + 1) /= rest;
    for (int j = 0; j < k; ++j) {
      const double a = H(j, k), b = H(j + 1, k);
      H(j, k) = cosine[j] * a + sine[j] * b;
      H(j + 1, k) = cosine[j] * b - sine[j] * a;
    }
    const double r = std::hypot(H(k, k), rest);
    if (!(r > 0)) return false;
    cosine[k] = H(k, k) / r;
    sine[k] = rest / r;
    H(k, k) = r;
    e[k + 1] = -sine[k] * e[k];
    e[k] *= cosine[k];
    ++k;
    ++counts_.directions;
  }
  for (int j = k - 1; j >= 0; --j) {
    for (int l = j + 1; l < k; ++l) e[j] -= H(j, l) * e[l];
    e[j] /= H(j, j);
  }
  dy_.segment(from, n).setZero();
  for (int j = 0; j < k; ++j) dy_.segment(from, n) += e[j] * V(j);
  matrix_.solve(island_, dy_.data());
  for (const int port : ports_) way_[at(port)] = rate_of(port, dy_);
  return true;
}

bool CrowdNewton::minimise_whole(const CrowdProblem& problem, double enough, int& left) {
  last_round_.clear();
  double square = evaluate_whole(problem);
  for (;;) {
    leave_if_interrupted();
    const double missing = largest_rate(g_);
    double fastest = 0;
    for (const int port : ports_) fastest = std::max(fastest, d_[at(port)].norm());
    const bool rounded =
        !last_round_.empty() && missing > 0.25 * last_round_.back() && missing <= kRounding * kappa_ * fastest;
    last_round_.push_back(missing);
    if (missing <= enough) return true;
    if (!std::isfinite(missing) || left <= 0 || !direction()) return false;
    --left;
    ++counts_.newton;
    if (rounded) break;
    double t = 1, moved = 0;
    go(t);
    for (int cut = 0;; ++cut) {
      moved = evaluate_whole(problem);
      if (moved < square || cut == kCuts) break;
      // Back by half of what it went.
      t *= 0.5;
      go(-t);
    }
    if (!(moved < square) && missing > kRounding * kappa_ * fastest) return false;
    square = moved;
  }
  // The last step by the linear map alone.
  for (const int i : rows_) {
    const double rho = kappa_ * eta_[at(i)];
    P_[at(i)] -= rho * (whole_slope_[at(i)] * way_[at(i)]);
    if (!turns(i)) continue;
    const auto m = at(moment_port(i));
    P_[m] -= rho * (whole_slope_[m] * way_[m] + whole_cross_[at(i)] * way_[at(i)]);
  }
  return true;
}

}  // namespace clatter::contact
