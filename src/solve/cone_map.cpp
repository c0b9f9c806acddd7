#include "solve/cone_map.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "solve/lemke.hpp"

namespace clatter {

bool ContactProblem::has_discs() const {
  return std::any_of(cones.begin(), cones.end(), [](const Cone& c) { return c.kind == Cone::Kind::disc; });
}

void ContactProblem::validate() const {
  std::vector<int> cone_of;
  validate(cone_of);
}

void ContactProblem::validate(std::vector<int>& cone_of) const {
  const int n = size();
  if (A.rows() != n || A.cols() != n) throw std::invalid_argument("contact problem: A and b do not fit together");
  if (!A.allFinite() || !b.allFinite()) throw std::domain_error("contact problem: a number in A or b is not finite");
  const auto fail = [](const Cone& c, const char* what) {
    throw std::invalid_argument("contact problem: cone at row " + std::to_string(c.row) + ": " + what);
  };
  cone_of.assign(static_cast<std::size_t>(n), -1);
  for (std::size_t k = 0; k < cones.size(); ++k) {
    const Cone& c = cones[k];
    if (c.row < 0 || c.row + c.size() > n) fail(c, "row outside of the problem");
    if (c.normal >= n) fail(c, "normal outside of the problem");
    if (std::isnan(c.lo) || std::isnan(c.hi) || !std::isfinite(c.mu_minus) || !std::isfinite(c.mu_plus)) {
      throw std::domain_error("contact problem: a bound or a friction coefficient is not a number");
    }
    if (c.kind == Cone::Kind::disc && (c.hi < 0 || c.mu_plus < 0)) fail(c, "negative radius");
    if (c.kind == Cone::Kind::box && (c.lo > c.hi || (c.normal >= 0 && c.mu_minus + c.mu_plus < 0))) {
      fail(c, "empty interval");
    }
    for (int i = 0; i < c.size(); ++i) {
      int& owner = cone_of[static_cast<std::size_t>(c.row + i)];
      if (owner >= 0) fail(c, "row shared with another cone");
      owner = static_cast<int>(k);
    }
  }
  for (int i = 0; i < n; ++i) {
    if (cone_of[static_cast<std::size_t>(i)] < 0) {
      throw std::invalid_argument("contact problem: row " + std::to_string(i) + " has no cone");
    }
  }
  for (const Cone& c : cones) {
    if (c.normal < 0) continue;
    const Cone& of_normal = cones[static_cast<std::size_t>(cone_of[static_cast<std::size_t>(c.normal)])];
    const bool nonnegative = of_normal.kind == Cone::Kind::ray ||
                             (of_normal.kind == Cone::Kind::box && of_normal.normal < 0 && of_normal.lo >= 0);
    if (!nonnegative) fail(c, "its normal is not a nonnegative row");
  }
}

void ScaledContact::assign(const ContactProblem& original) {
  original.validate(cone_of);
  const int n = original.size();
  equilibrate(original.A, R, C);
  for (const Cone& c : original.cones) {
    if (c.kind != Cone::Kind::disc) continue;
    R(c.row) = R(c.row + 1) = std::min(R(c.row), R(c.row + 1));
    C(c.row) = C(c.row + 1) = std::min(C(c.row), C(c.row + 1));
  }
  problem.A = R.asDiagonal() * original.A * C.asDiagonal();
  problem.b = R.cwiseProduct(original.b);
  problem.cones = original.cones;
  load = n ? problem.b.cwiseAbs().maxCoeff() : 0;
  if (!(load > 0)) {
    for (const Cone& c : original.cones) {
      for (double bound : {c.lo, c.hi}) {
        if (std::isfinite(bound)) load = std::max(load, std::abs(bound) / C(c.row));
      }
    }
  }
  if (!(load > 0)) load = 1;
  problem.b /= load;
  for (Cone& c : problem.cones) {
    c.lo /= C(c.row) * load;
    c.hi /= C(c.row) * load;
    if (c.normal >= 0) {
      c.mu_minus *= C(c.normal) / C(c.row);
      c.mu_plus *= C(c.normal) / C(c.row);
    }
  }
}

void kinematics(const ContactProblem& p, const Vec& u, Vec& y) {
  y = p.b;
  y.noalias() += p.A * u;
}

double project_range(const Cone& cone, double v) {
  return cone.kind == Cone::Kind::ray ? std::max(v, 0.0) : std::clamp(v, cone.lo, cone.hi);
}

void natural_map(const ScaledContact& s, const Vec& u, const Vec& y, Vec& F, Mat* J) {
  const ContactProblem& p = s.problem;
  const int n = p.size();
  F.resize(n);
  if (J) J->resize(n, n);
  for (const Cone& c : p.cones) {
    const int i = c.row;
    double normal = 0;
    bool normal_moves = false;
    if (c.normal >= 0) {
      const Cone& of_normal = p.cones[static_cast<std::size_t>(s.cone_of[static_cast<std::size_t>(c.normal)])];
      const double v = u(c.normal) - y(c.normal);
      normal = project_range(of_normal, v);
      normal_moves = normal == v;
    }
    // Adds factor * dn/du to row i of J.
    const auto add_normal = [&](int row, double factor) {
      if (!normal_moves) return;
      J->row(row) -= factor * p.A.row(c.normal);
      (*J)(row, c.normal) += factor;
    };
    const auto unit_row = [&](int row) {
      J->row(row).setZero();
      (*J)(row, row) = 1;
    };
    switch (c.kind) {
      case Cone::Kind::line:
        F(i) = y(i);
        if (J) J->row(i) = p.A.row(i);
        break;
      case Cone::Kind::ray:
        F(i) = std::min(u(i), y(i));
        if (!J) break;
        if (y(i) < u(i)) {
          J->row(i) = p.A.row(i);
        } else {
          unit_row(i);
        }
        break;
      case Cone::Kind::box: {
        const double lower = c.lo - c.mu_minus * normal, upper = c.hi + c.mu_plus * normal, v = u(i) - y(i);
        if (v <= lower || v >= upper) {
          const bool low = v <= lower;
          F(i) = u(i) - (low ? lower : upper);
          if (!J) break;
          unit_row(i);
          if (c.normal >= 0) add_normal(i, low ? c.mu_minus : -c.mu_plus);
        } else {
          F(i) = y(i);
          if (J) J->row(i) = p.A.row(i);
        }
        break;
      }
      case Cone::Kind::disc: {
        const double radius = c.hi + c.mu_plus * normal;
        const Eigen::Vector2d v = u.segment<2>(i) - y.segment<2>(i);
        const double length = v.norm();
        if (length < radius) {
          F.segment<2>(i) = y.segment<2>(i);
          if (J) J->middleRows<2>(i) = p.A.middleRows<2>(i);
          break;
        }
        const Eigen::Vector2d e = length > 0 ? Eigen::Vector2d(v / length) : Eigen::Vector2d::Zero();
        F.segment<2>(i) = u.segment<2>(i) - radius * e;
        if (!J) break;
        unit_row(i);
        unit_row(i + 1);
        for (int k = 0; k < 2; ++k) {
          if (c.normal >= 0) add_normal(i + k, -c.mu_plus * e(k));
        }
        if (radius > 0) {
          const Eigen::Matrix2d turn = radius / length * (Eigen::Matrix2d::Identity() - e * e.transpose());
          J->middleRows<2>(i).noalias() += turn.lazyProduct(p.A.middleRows<2>(i));
          J->block<2, 2>(i, i) -= turn;
        }
        break;
      }
    }
  }
}

ConeResidual residual(const ScaledContact& s, const Vec& u, const Vec& y, Vec& F) {
  const ContactProblem& p = s.problem;
  const int n = p.size();
  natural_map(s, u, y, F);
  double size = n ? p.b.cwiseAbs().maxCoeff() : 0;
  for (int i = 0; i < n; ++i) {
    double terms = 0;
    for (int j = 0; j < n; ++j) terms += std::abs(p.A(i, j)) * std::abs(u(j));
    size = std::max(size, std::min(terms, kLargestCancellation));
  }
  if (!(size > 0)) size = 1;
  ConeResidual out;
  out.complementarity = n ? F.cwiseAbs().maxCoeff() / size : 0;
  for (const Cone& c : p.cones) {
    const int i = c.row;
    const double normal = c.normal >= 0 ? u(c.normal) : 0;
    double outside = 0;
    switch (c.kind) {
      case Cone::Kind::line:
        outside = std::abs(y(i));
        break;
      case Cone::Kind::ray:
        outside = std::max(-u(i), -y(i));
        break;
      case Cone::Kind::box:
        outside = std::max(c.lo - c.mu_minus * normal - u(i), u(i) - c.hi - c.mu_plus * normal);
        break;
      case Cone::Kind::disc:
        outside = u.segment<2>(i).norm() - c.hi - c.mu_plus * normal;
        break;
    }
    out.violation = std::max(out.violation, outside / size);
  }
  if (!std::isfinite(out.complementarity) || !u.allFinite()) {
    out.complementarity = std::numeric_limits<double>::infinity();
  }
  return out;
}

void project(const ScaledContact& s, Vec& u) {
  for (const Cone& c : s.problem.cones) {
    if (c.kind == Cone::Kind::ray || (c.kind == Cone::Kind::box && c.normal < 0)) u(c.row) = project_range(c, u(c.row));
  }
  for (const Cone& c : s.problem.cones) {
    const double normal = c.normal >= 0 ? u(c.normal) : 0;
    if (c.kind == Cone::Kind::box && c.normal >= 0) {
      u(c.row) = std::clamp(u(c.row), c.lo - c.mu_minus * normal, c.hi + c.mu_plus * normal);
    } else if (c.kind == Cone::Kind::disc) {
      const double radius = c.hi + c.mu_plus * normal, length = u.segment<2>(c.row).norm();
      if (length > radius) u.segment<2>(c.row) *= radius / length;
    }
  }
}

}  // namespace clatter
