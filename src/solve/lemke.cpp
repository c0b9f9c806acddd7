#include "solve/lemke.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "base/interrupt.hpp"
#include "solve/scaling.hpp"

namespace clatter {
namespace {

constexpr double kTie = 1e-11;           // two ratios this close (scaled) are one
constexpr double kLexicographic = 1e-9;  // entries of B^-1 this close are one

// Fixed sequence of numbers in (0, 1): the paths tried must not depend on anything but the problem.
double sequence(int path, int i) {
  const double golden = 0.6180339887498949, plastic = 0.7548776662466927;
  const double s = golden * (i + 1) * path + plastic * path + 0.5;
  return s - std::floor(s);
}

std::uint64_t mark(int variable) {
  std::uint64_t h = (static_cast<std::uint64_t>(variable) + 1) * 0x9e3779b97f4a7c15ull;
  h ^= h >> 31;
  h *= 0xbf58476d1ce4e5b9ull;
  return h ^ (h >> 29);
}

}  // namespace

void equilibrate(const Eigen::Ref<const Mat>& A, Vec& R, Vec& C) {
  const Eigen::Index n = A.rows();
  R.setOnes(n);
  C.setOnes(n);
  for (int pass = 0; pass < 3; ++pass) {
    bool done = true;
    for (Eigen::Index i = 0; i < n; ++i) {
      double row = 0, column = 0;
      for (Eigen::Index j = 0; j < n; ++j) {
        row = std::max(row, std::abs(A(i, j)) * C(j));
        column = std::max(column, std::abs(A(j, i)) * R(j));
      }
      const double r = reciprocal_root_power(row * R(i)), c = reciprocal_root_power(column * C(i));
      done = done && r == 1 && c == 1;
      R(i) *= r;
      C(i) *= c;
    }
    if (done) break;
  }
}

double lcp_residual(const Mat& A, const Vec& b, const Vec& x, const Vec& y) {
  double worst = 0, size = b.size() ? b.cwiseAbs().maxCoeff() : 0;
  const Eigen::Index n = b.size();
  for (Eigen::Index i = 0; i < n; ++i) {
    worst = std::max(worst, std::abs(std::min(x(i), y(i))));
    double terms = 0;
    for (Eigen::Index j = 0; j < n; ++j) terms += std::abs(A(i, j)) * std::abs(x(j));
    size = std::max(size, std::min(terms, kLargestCancellation));
  }
  return size > 0 ? worst / size : worst;
}

void LemkeSolver::load(const Eigen::Ref<const Mat>& A, const Eigen::Ref<const Vec>& b) {
  if (A.rows() != A.cols() || A.rows() != b.size()) throw std::invalid_argument("lemke: A and b do not fit together");
  if (!A.allFinite() || !b.allFinite()) throw std::domain_error("lemke: a number in A or b is not finite");
  n_ = static_cast<int>(b.size());
  equilibrate(A, R_, C_);
  A_ = R_.asDiagonal() * A * C_.asDiagonal();
  b_ = R_.cwiseProduct(b);
  load_ = n_ ? b_.cwiseAbs().maxCoeff() : 0;
  if (!(load_ > 0)) load_ = 1;
  b_ /= load_;
}

bool LemkeSolver::lexicographically_less(int i, int k, int entering_column) const {
  const double ti = T_(i, entering_column), tk = T_(k, entering_column);
  for (int j = 0; j < n_; ++j) {
    const int place = place_[static_cast<std::size_t>(j)];
    const double bi = place >= 0 ? (place == i ? 1.0 : 0.0) : T_(i, -1 - place);
    const double bk = place >= 0 ? (place == k ? 1.0 : 0.0) : T_(k, -1 - place);
    const double left = bi / ti, right = bk / tk;
    if (std::abs(left - right) > kLexicographic * std::max({1.0, std::abs(left), std::abs(right)})) {
      return left < right;
    }
  }
  return ti > tk;
}

// The row with the lexicographically smallest (b_i, e_i) / d_i: among equal b_i / d_i the last one, whose unit vector
// has its one farthest to the right.
int LemkeSolver::first_row() const {
  int row = 0;
  for (int i = 1; i < n_; ++i) {
    if (b_(i) / d_(i) <= b_(row) / d_(row) + kTie) {
      if (b_(i) / d_(i) < b_(row) / d_(row) - kTie || i > row) row = i;
    }
  }
  return row;
}

int LemkeSolver::leaving_row(int e) const {
  const double pivot_floor = std::max(options_.tolerance, 1e-10 * T_.col(e).cwiseAbs().maxCoeff());
  double smallest = std::numeric_limits<double>::infinity();
  for (int i = 0; i < n_; ++i) {
    if (T_(i, e) > pivot_floor) smallest = std::min(smallest, std::max(q_(i), 0.0) / T_(i, e));
  }
  int row = -1;
  for (int i = 0; i < n_; ++i) {
    if (!(T_(i, e) > pivot_floor) || q_(i) - smallest * T_(i, e) > kTie) continue;
    if (basic_[static_cast<std::size_t>(i)] == 2 * n_) return i;
    if (row < 0 || lexicographically_less(i, row, e)) row = i;
  }
  return row;
}

void LemkeSolver::pivot(int r, int e) {
  column_ = T_.col(e);
  const double p = column_(r);
  for (int j = 0; j <= n_; ++j) {
    if (j == e) continue;
    const double t = T_(r, j) / p;
    if (t != 0) T_.col(j) -= t * column_;
    T_(r, j) = t;
  }
  const double t = q_(r) / p;
  q_ -= t * column_;
  q_(r) = t;
  T_.col(e) = -column_ / p;
  T_(r, e) = 1 / p;
  const auto ir = static_cast<std::size_t>(r), ie = static_cast<std::size_t>(e);
  signature_ ^= mark(basic_[ir]) ^ mark(nonbasic_[ie]);
  std::swap(basic_[ir], nonbasic_[ie]);
  place_[static_cast<std::size_t>(basic_[ir])] = r;
  place_[static_cast<std::size_t>(nonbasic_[ie])] = -1 - e;
}

// T = B^-1 N and q = B^-1 b from the list of basic variables.
bool LemkeSolver::refresh() {
  Mat& B = lu_.matrix(n_);
  const auto fill = [&](int variable, auto&& target) {
    if (variable < n_) {
      target.setZero();
      target(variable) = 1;
    } else if (variable < 2 * n_) {
      target = -A_.col(variable - n_);
    } else {
      target = -d_;
    }
  };
  for (int i = 0; i < n_; ++i) fill(basic_[static_cast<std::size_t>(i)], B.col(i).head(n_));
  if (!lu_.factorize(1e-14)) return false;
  for (int j = 0; j <= n_; ++j) {
    fill(nonbasic_[static_cast<std::size_t>(j)], T_.col(j));
    lu_.solve(T_.col(j));
  }
  q_ = b_;
  lu_.solve(q_);
  return true;
}

LcpStatus LemkeSolver::limit_status() {
  std::sort(visited_.begin(), visited_.end());
  const bool again = std::adjacent_find(visited_.begin(), visited_.end()) != visited_.end();
  return again ? LcpStatus::cycling : LcpStatus::iteration_limit;
}

LcpStatus LemkeSolver::walk(int refresh_every, int& pivots) {
  const int limit = options_.max_pivots > 0 ? options_.max_pivots : 50 * n_ + 200;
  visited_.clear();
  visited_.reserve(static_cast<std::size_t>(limit) + 1);
  signature_ = 0;
  T_.resize(n_, n_ + 1);
  T_.leftCols(n_) = -A_;
  T_.col(n_) = -d_;
  q_ = b_;
  basic_.resize(static_cast<std::size_t>(n_));
  nonbasic_.resize(static_cast<std::size_t>(n_) + 1);
  place_.resize(2 * static_cast<std::size_t>(n_) + 1);
  for (int i = 0; i < n_; ++i) {
    basic_[static_cast<std::size_t>(i)] = i;
    place_[static_cast<std::size_t>(i)] = i;
  }
  for (int j = 0; j <= n_; ++j) {
    nonbasic_[static_cast<std::size_t>(j)] = n_ + j;
    place_[static_cast<std::size_t>(n_ + j)] = -1 - j;
  }

  int row = first_row(), column = n_;
  for (int step = 0;; ++step) {
    leave_if_interrupted();
    const int left = basic_[static_cast<std::size_t>(row)];
    pivot(row, column);
    ++pivots;
    if (left == 2 * n_) return LcpStatus::solved;
    if (step >= limit) return limit_status();
    visited_.push_back(signature_);
    if (refresh_every > 0 && step % refresh_every == refresh_every - 1 && !refresh()) return LcpStatus::singular;
    const int entering = left < n_ ? left + n_ : left - n_;
    column = -1 - place_[static_cast<std::size_t>(entering)];
    row = leaving_row(column);
    if (row < 0) return LcpStatus::ray;
  }
}

double LemkeSolver::finish() {
  x_.setZero(n_);
  active_.clear();
  for (int i = 0; i < n_; ++i) {
    const int variable = basic_[static_cast<std::size_t>(i)];
    if (variable < n_ || variable == 2 * n_) continue;
    x_(variable - n_) = std::max(q_(i), 0.0);
    active_.push_back(variable - n_);
  }
  const auto residual_of_x = [&] {
    y_ = b_;
    y_.noalias() += A_ * x_;
    return lcp_residual(A_, b_, x_, y_);
  };
  const double from_tableau = residual_of_x();
  best_x_ = x_;

  const int k = static_cast<int>(active_.size());
  Mat& B = lu_.matrix(std::max(k, 1));
  for (int j = 0; j < k; ++j) {
    for (int i = 0; i < k; ++i)
      B(i, j) = A_(active_[static_cast<std::size_t>(i)], active_[static_cast<std::size_t>(j)]);
  }
  if (k == 0 || !lu_.factorize(1e-14)) return from_tableau;
  if (rhs_.size() < n_) rhs_.resize(n_);
  for (int round = 0; round < 2; ++round) {  // the second round corrects the first by its residual
    for (int i = 0; i < k; ++i)
      rhs_(i) = round == 0 ? -b_(active_[static_cast<std::size_t>(i)]) : -y_(active_[static_cast<std::size_t>(i)]);
    lu_.solve(rhs_.head(k));
    for (int i = 0; i < k; ++i) {
      double& xi = x_(active_[static_cast<std::size_t>(i)]);
      xi = round == 0 ? rhs_(i) : xi + rhs_(i);
    }
    y_ = b_;
    y_.noalias() += A_ * x_;
  }
  x_ = x_.cwiseMax(0.0);
  const double refined = residual_of_x();
  if (refined <= from_tableau) return refined;
  x_ = best_x_;
  return residual_of_x();
}

LcpResult LemkeSolver::solve(const Eigen::Ref<const Mat>& A, const Eigen::Ref<const Vec>& b, Vec& x, Vec& y) {
  return solve(A, b, Vec(), x, y);
}

LcpResult LemkeSolver::solve(const Eigen::Ref<const Mat>& A, const Eigen::Ref<const Vec>& b, const Vec& cover, Vec& x,
                             Vec& y) {
  load(A, b);
  LcpResult result;
  x.setZero(n_);
  y = b;
  if (n_ == 0 || b_.minCoeff() >= 0) {
    result.status = LcpStatus::solved;
    return result;
  }
  result.residual = std::numeric_limits<double>::infinity();
  for (int path = 0; path < std::max(options_.paths, 1); ++path) {
    if (path == 0 && cover.size() == n_) {
      d_ = cover;
    } else {
      d_.setOnes(n_);
      for (int i = 0; path > 0 && i < n_; ++i) d_(i) = 0.25 + 1.5 * sequence(path, i);
    }
    // A first path through a large problem is already long enough for rounding to build up in the tableau.
    const int refresh_every = path == 0 ? (n_ > 150 ? 200 : 0) : 20;
    const LcpStatus status = walk(refresh_every, result.pivots);
    const double residual = finish();
    if (path == 0) result.status = status == LcpStatus::solved ? LcpStatus::singular : status;
    if (residual < result.residual) {
      result.residual = residual;
      x = load_ * C_.cwiseProduct(x_);
      y = b;
      y.noalias() += A * x;
      // Exact zeros where the basis says so; what is cut off is in the residual.
      for (int i = 0; i < n_; ++i) y(i) = x_(i) > std::max(y_(i), 0.0) ? 0.0 : std::max(y(i), 0.0);
    }
    if (residual <= kSolvedResidual) {
      result.status = LcpStatus::solved;
      break;
    }
  }
  return result;
}

}  // namespace clatter
