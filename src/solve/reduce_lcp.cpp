#include "solve/reduce_lcp.hpp"

#include <algorithm>
#include <cmath>

namespace clatter {
namespace {

constexpr double kRank = 1e-11;          // entries of the scaled bilateral block below this are rounding
constexpr double kContradiction = 1e-9;  // load left on a dependent row

}  // namespace

LcpReduction::Outcome LcpReduction::eliminate(const ContactProblem& p) {
  n_ = p.size();
  K_.resize(n_, n_ + 1);
  K_.leftCols(n_) = p.A;
  K_.col(n_) = p.b;
  exchanges_.clear();
  line_row_.assign(static_cast<std::size_t>(n_), 0);
  line_column_.assign(static_cast<std::size_t>(n_), 0);
  for (const Cone& c : p.cones) {
    const bool free = c.kind == Cone::Kind::line || (c.kind == Cone::Kind::box && std::isinf(c.lo) && std::isinf(c.hi));
    line_row_[static_cast<std::size_t>(c.row)] = line_column_[static_cast<std::size_t>(c.row)] = free;
  }
  for (;;) {
    int row = -1, column = -1;
    double largest = kRank;
    for (int j = 0; j < n_; ++j) {
      if (line_column_[static_cast<std::size_t>(j)] != 1) continue;
      for (int i = 0; i < n_; ++i) {
        if (line_row_[static_cast<std::size_t>(i)] != 1 || !(std::abs(K_(i, j)) > largest)) continue;
        largest = std::abs(K_(i, j));
        row = i;
        column = j;
      }
    }
    if (row < 0) break;
    // Row `row` keeps the formula of r_column: r_column = - sum_k K(row, k) r_k - K(row, n), with K(row, column) = 1.
    K_.row(row) /= K_(row, column);
    column_ = K_.col(column);
    column_(row) = 0;
    for (const Exchange& e : exchanges_) column_(e.row) = 0;  // earlier formulas may use later unknowns
    for (int k = 0; k <= n_; ++k) {
      const double t = K_(row, k);
      if (t != 0) K_.col(k) -= t * column_;
    }
    line_row_[static_cast<std::size_t>(row)] = 2;
    line_column_[static_cast<std::size_t>(column)] = 2;
    exchanges_.push_back({row, column});
  }
  rows_.clear();
  row_at_.assign(static_cast<std::size_t>(n_), -1);
  int column = 0;
  for (int i = 0; i < n_; ++i) {
    if (line_row_[static_cast<std::size_t>(i)] != 1) continue;
    while (line_column_[static_cast<std::size_t>(column)] != 1) ++column;
    const int j = column++;
    double coupling = 0;
    for (int k = 0; k < n_; ++k) {
      if (line_column_[static_cast<std::size_t>(k)] == 0) coupling = std::max(coupling, std::abs(K_(i, k)));
      if (line_row_[static_cast<std::size_t>(k)] == 0) coupling = std::max(coupling, std::abs(K_(k, j)));
    }
    if (coupling <= kRank) {
      if (std::abs(K_(i, n_)) > kContradiction) return Outcome::inconsistent;
      continue;
    }
    rows_.push_back({Form::split, i, j, -1, -1, 0, 0, 0, 0, -1});
  }
  return Outcome::reduced;
}

void LcpReduction::add_rows(const ContactProblem& p) {
  // Rows with a normal come last, so that the normal's place is known.
  for (const bool with_normal : {false, true}) {
    for (const Cone& c : p.cones) {
      if (line_row_[static_cast<std::size_t>(c.row)] != 0 || (c.normal >= 0) != with_normal) continue;
      Row r{Form::lower, c.row, c.row, -1, -1, c.mu_minus, c.mu_plus, c.lo, c.hi, -1};
      if (c.kind == Cone::Kind::ray) r.lo = 0;
      if (c.kind == Cone::Kind::box) {
        r.form = std::isinf(c.hi) ? Form::lower : std::isinf(c.lo) ? Form::upper : Form::both;
      }
      if (c.normal >= 0) r.normal = row_at_[static_cast<std::size_t>(c.normal)];
      row_at_[static_cast<std::size_t>(c.row)] = static_cast<int>(rows_.size());
      rows_.push_back(r);
    }
  }
  m_ = 0;
  for (Row& r : rows_) r.x = m_++;
  for (Row& r : rows_) {
    if (r.form == Form::both || r.form == Form::split) r.second = m_++;
  }
}

LcpReduction::Outcome LcpReduction::reduce(const ContactProblem& p) {
  if (eliminate(p) == Outcome::inconsistent) return Outcome::inconsistent;
  add_rows(p);

  const auto k = static_cast<Eigen::Index>(rows_.size());
  S_.setZero(k, m_);
  s_.setZero(k);
  for (Eigen::Index i = 0; i < k; ++i) {
    const Row& r = rows_[static_cast<std::size_t>(i)];
    S_(i, r.x) = r.form == Form::upper ? -1 : 1;
    if (r.form == Form::split) {
      S_(i, r.second) = -1;
      continue;
    }
    s_(i) = r.form == Form::upper ? r.hi : r.lo;
    if (r.normal >= 0) {
      const double mu = r.form == Form::upper ? r.mu_plus : -r.mu_minus;
      S_.row(i) += mu * S_.row(r.normal);
      s_(i) += mu * s_(r.normal);
    }
  }
  lcp_A_.setZero(m_, m_);
  lcp_b_.setZero(m_);
  for (Eigen::Index j = 0; j < k; ++j) {
    const int unknown = rows_[static_cast<std::size_t>(j)].unknown;
    for (Eigen::Index i = 0; i < k; ++i) {
      const Row& r = rows_[static_cast<std::size_t>(i)];
      const double a = K_(r.row, unknown);
      if (a == 0) continue;
      lcp_b_(r.x) += a * s_(j);
      // A row of S has at most three entries: its own, the second half of a split, its normal's.
      const Row& rj = rows_[static_cast<std::size_t>(j)];
      lcp_A_(r.x, rj.x) += a * S_(j, rj.x);
      if (rj.form == Form::split) lcp_A_(r.x, rj.second) += a * S_(j, rj.second);
      if (rj.normal >= 0) {
        const int xn = rows_[static_cast<std::size_t>(rj.normal)].x;
        lcp_A_(r.x, xn) += a * S_(j, xn);
      }
    }
  }
  for (const Row& r : rows_) {
    lcp_b_(r.x) += K_(r.row, n_);
    switch (r.form) {
      case Form::lower:
        break;
      case Form::upper:
        lcp_A_.row(r.x) *= -1;
        lcp_b_(r.x) *= -1;
        break;
      case Form::split:
        lcp_A_.row(r.second) = -lcp_A_.row(r.x);
        lcp_b_(r.second) = -lcp_b_(r.x);
        break;
      case Form::both:
        lcp_A_(r.x, r.second) = 1;
        lcp_A_(r.second, r.x) = -1;
        lcp_b_(r.second) = r.hi - r.lo;
        if (r.normal >= 0) {
          lcp_A_.row(r.second) += (r.mu_minus + r.mu_plus) * S_.row(r.normal);
          lcp_b_(r.second) += (r.mu_minus + r.mu_plus) * s_(r.normal);
        }
        break;
    }
  }
  return Outcome::reduced;
}

void LcpReduction::expand(const Vec& x, Vec& r) const {
  r.setZero(n_);
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    r(rows_[i].unknown) = s_(row) + S_.row(row).dot(x);
  }
  for (std::size_t e = exchanges_.size(); e-- > 0;) {
    const auto [row, column] = exchanges_[e];
    double value = -K_(row, n_);
    for (int k = 0; k < n_; ++k) {
      if (k != column) value -= K_(row, k) * r(k);
    }
    r(column) = value;
  }
}

}  // namespace clatter
