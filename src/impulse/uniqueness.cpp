#include "impulse/uniqueness.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>

#include "solve/enumerate_lcp.hpp"

namespace clatter::contact {
namespace {

constexpr long kCountedStates = 64;    // tried in some tens of microseconds
constexpr double kSmallForce = 1e-9;   // of the largest: open, or at the limit of friction
constexpr double kRank = 1e-10;        // pivots below this part of the largest are zero
constexpr double kSameMotion = 1e-12;  // of the energy norm: 1e-6 of the accelerations
constexpr double kSame = 1e-12;        // of the largest entry: rounding of M^-1 D
constexpr double kUnbounded = std::numeric_limits<double>::infinity();

// |X d|^2 against the size that rounding could leave of it for forces as large as `size`.
bool moves(const Mat& Q, const Vec& d, const Vec& size) {
  return d.dot(Q * d) > kSameMotion * size.dot(Q.cwiseAbs() * size);
}

// Friction can only be the reason: without it D = W, and A = Q is symmetric and positive semidefinite (P-34).
bool frictionless(const ContactProblem& p, const Mat& Q) {
  for (const Cone& c : p.cones)
    if (c.kind != Cone::Kind::ray) return false;
  return (p.A - Q).cwiseAbs().maxCoeff() <= kSame * Q.cwiseAbs().maxCoeff();
}

double normal_sum(const ContactProblem& p, const Vec& r) {
  double sum = 0;
  for (const Cone& c : p.cones)
    if (c.kind == Cone::Kind::ray) sum += r[c.row];
  return sum;
}

void find_several(const ContactProblem& p, const Mat& Q, Vec& r, Ambiguity& out) {
  if (p.has_discs() || state_count(p) > kCountedStates) return;
  const Enumeration all = enumerate(p, kCountedStates);
  const EnumeratedSolution *least = nullptr, *most = nullptr;
  for (const EnumeratedSolution& e : all.solutions) {
    if (e.family) continue;
    if (least == nullptr || normal_sum(p, e.r) < normal_sum(p, least->r)) least = &e;
    if (most == nullptr || normal_sum(p, e.r) > normal_sum(p, most->r)) most = &e;
  }
  if (least == most || !moves(Q, most->r - least->r, most->r.cwiseAbs() + least->r.cwiseAbs())) return;
  out.kind = Ambiguity::Kind::several;
  r = least->r;
  out.other = most->r;
  const double small = kSmallForce * (r.cwiseAbs() + out.other.cwiseAbs()).maxCoeff();
  for (const Cone& c : p.cones)
    if (c.kind == Cone::Kind::ray && std::abs(r[c.row] - out.other[c.row]) > small) out.rows.push_back(c.row);
}

// Narrows low <= t <= high to value + t slope >= 0.
void keep_positive(double value, double slope, double size, Ambiguity& out) {
  if (std::abs(slope) <= kRank * size) return;
  const double t = -std::max(value, 0.0) / slope;
  if (slope > 0)
    out.low = std::max(out.low, t);
  else
    out.high = std::min(out.high, t);
}

void bound(const ContactProblem& p, const Vec& r, const std::vector<int>& free, Ambiguity& out) {
  const Vec y = p.A * r + p.b, dy = p.A * out.n;
  const double small = kSmallForce * r.cwiseAbs().maxCoeff();
  const double dr = out.n.cwiseAbs().maxCoeff(), dA = p.A.cwiseAbs().maxCoeff() * dr;
  out.low = -kUnbounded;
  out.high = kUnbounded;
  for (const Cone& c : p.cones) {
    const int i = c.row;
    if (c.kind == Cone::Kind::ray) {
      if (std::find(free.begin(), free.end(), i) != free.end())
        keep_positive(r[i], out.n[i], dr, out);
      else
        keep_positive(y[i], dy[i], dA, out);
    }
    if (c.kind == Cone::Kind::box && c.normal >= 0 && r[c.normal] > small) {
      const double up = c.mu_plus * r[c.normal] - r[i], down = c.mu_minus * r[c.normal] + r[i];
      if (up <= small)
        keep_positive(-y[i], -dy[i], dA, out);
      else
        keep_positive(up, c.mu_plus * out.n[c.normal] - out.n[i], dr, out);
      if (down <= small)
        keep_positive(y[i], dy[i], dA, out);
      else
        keep_positive(down, c.mu_minus * out.n[c.normal] + out.n[i], dr, out);
    }
  }
}

// Unknowns that may change: normal forces that press or could (a pivoting solver leaves vertices of the family, where
// force and second rate of a contact both vanish), friction inside of its limit; friction at its limit follows.
void find_family(const ContactProblem& p, const Mat& Q, Vec& r, Ambiguity& out) {
  const double small = kSmallForce * r.cwiseAbs().maxCoeff();
  const Vec y = p.A * r + p.b;
  const double still = kSmallForce * p.b.cwiseAbs().maxCoeff();
  std::vector<int> free;
  Mat expand = Mat::Zero(r.size(), r.size());
  for (const Cone& c : p.cones)
    if (c.kind == Cone::Kind::ray && (r[c.row] > small || std::abs(y[c.row]) <= still)) {
      expand(c.row, static_cast<Eigen::Index>(free.size())) = 1;
      free.push_back(c.row);
    }
  const std::size_t normals = free.size();
  if (normals < 2) return;
  for (const Cone& c : p.cones) {
    if (c.normal < 0 || r[c.normal] <= small) continue;
    const double size = r.segment(c.row, c.size()).norm();
    if (size < c.mu_plus * r[c.normal] - small) {
      for (int k = 0; k < c.size(); ++k) {
        expand(c.row + k, static_cast<Eigen::Index>(free.size())) = 1;
        free.push_back(c.row + k);
      }
    } else {
      const auto of = std::find(free.begin(), free.end(), c.normal) - free.begin();
      expand.block(c.row, of, c.size(), 1) = r.segment(c.row, c.size()) / r[c.normal];
    }
  }
  const Mat E = expand.leftCols(static_cast<Eigen::Index>(free.size()));
  // Rows in units of their own stiffness.
  Vec scale(E.cols());
  for (Eigen::Index i = 0; i < E.cols(); ++i) {
    const double q = E.col(i).dot(Q * E.col(i));
    scale[i] = q > 0 ? 1 / std::sqrt(q) : 0;
  }
  const Mat AE = p.A * E;
  Eigen::FullPivLU<Mat> lu(scale.asDiagonal() * Mat(AE(free, Eigen::all)) * scale.asDiagonal());
  lu.setThreshold(kRank);
  if (lu.dimensionOfKernel() == 0) return;
  const Mat kernel = E * (scale.asDiagonal() * lu.kernel());
  for (Eigen::Index j = 0; j < kernel.cols(); ++j) {
    const Vec n = kernel.col(j);
    if (!moves(Q, n, n.cwiseAbs())) continue;
    out.kind = Ambiguity::Kind::family;
    for (std::size_t i = 0; i < normals; ++i)
      if (std::abs(n[free[i]]) > kSmallForce * n.cwiseAbs().maxCoeff() &&
          std::find(out.rows.begin(), out.rows.end(), free[i]) == out.rows.end())
        out.rows.push_back(free[i]);
  }
  std::sort(out.rows.begin(), out.rows.end());
  if (out.kind == Ambiguity::Kind::none || kernel.cols() > 1) return;
  out.n = kernel.col(0);
  bound(p, r, free, out);
  const double t = std::clamp(-r.dot(out.n) / out.n.squaredNorm(), out.low, out.high);
  r += t * out.n;
  out.low -= t;
  out.high -= t;
}

}  // namespace

Ambiguity find_ambiguity(const ContactProblem& problem, const Mat& Q, Vec& r) {
  Ambiguity out;
  if (problem.size() == 0 || frictionless(problem, Q)) return out;
  find_several(problem, Q, r, out);
  if (out.kind == Ambiguity::Kind::none && r.cwiseAbs().maxCoeff() > 0) find_family(problem, Q, r, out);
  return out;
}

}  // namespace clatter::contact
