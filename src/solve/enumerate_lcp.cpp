#include "solve/enumerate_lcp.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "solve/basis_lu.hpp"
#include "solve/cone_map.hpp"

namespace clatter {
namespace {

constexpr double kSingular = 1e-10;  // pivot of the scaled equations, relative to the largest
constexpr double kSame = 1e-8;       // scaled distance below which two solutions are one
constexpr double kNothing = 1e-10;   // scaled coefficients below this are rounding
// A state refused by less than this factor times its tolerance is doubtful: then "none" is not proved.
constexpr double kDoubt = 1e3;

class Enumerator {
 public:
  Enumerator(const ScaledContact& s, Enumeration& out) : s_(s), p_(s.problem), out_(out), n_(p_.size()) {
    at_.assign(static_cast<std::size_t>(n_), Piece::lower);
    for (const bool with_normal : {false, true}) {
      for (const Cone& c : p_.cones) {
        if ((c.normal >= 0) == with_normal) order_.push_back(&c);
      }
    }
    C_.resize(n_, n_);
    d_.resize(n_);
  }

  void run() {
    choose(0);
    classify();
  }

 private:
  // Rows r and value f of  lower end = row . r + f  and the upper end alike.
  double end(const Cone& c, bool upper, Eigen::RowVectorXd* row) const {
    if (row) {
      row->setZero(n_);
      if (c.normal >= 0) (*row)(c.normal) = upper ? c.mu_plus : -c.mu_minus;
    }
    return c.kind == Cone::Kind::ray ? 0.0 : upper ? c.hi : c.lo;
  }

  bool shut(const Cone& c) const {
    if (c.normal < 0 || c.lo != 0 || c.hi != 0) return false;
    const Cone& of_normal = p_.cones[static_cast<std::size_t>(s_.cone_of[static_cast<std::size_t>(c.normal)])];
    return at_[static_cast<std::size_t>(c.normal)] == Piece::lower &&
           (of_normal.kind == Cone::Kind::ray || of_normal.lo == 0);
  }

  void choose(std::size_t k) {
    if (k == order_.size()) {
      try_state();
      return;
    }
    const Cone& c = *order_[k];
    Piece& piece = at_[static_cast<std::size_t>(c.row)];
    const bool line = c.kind == Cone::Kind::line;
    if (!line && std::isfinite(c.kind == Cone::Kind::ray ? 0.0 : c.lo)) {
      piece = Piece::lower;
      set_equation(c, piece);
      choose(k + 1);
      if (shut(c)) return;
    }
    piece = Piece::active;
    set_equation(c, piece);
    choose(k + 1);
    if (c.kind == Cone::Kind::box && std::isfinite(c.hi)) {
      piece = Piece::upper;
      set_equation(c, piece);
      choose(k + 1);
    }
  }

  void set_equation(const Cone& c, Piece piece) {
    const int i = c.row;
    if (piece == Piece::active) {
      C_.row(i) = p_.A.row(i);
      d_(i) = -p_.b(i);
      return;
    }
    C_.row(i).setZero();
    C_(i, i) = 1;
    const bool upper = piece == Piece::upper;
    if (c.normal >= 0) C_(i, c.normal) = upper ? -c.mu_plus : c.mu_minus;
    d_(i) = end(c, upper, nullptr);
  }

  void try_state() {
    ++out_.states;
    lu_.matrix(n_).topLeftCorner(n_, n_) = C_;
    if (!lu_.factorize(kSingular)) {
      ++out_.singular_states;
      try_singular();
      return;
    }
    u_ = d_;
    lu_.solve(u_);
    rest_.noalias() = d_ - C_ * u_;
    lu_.solve(rest_);
    u_ += rest_;
    keep_if_solution(false, false);
  }

  void keep_if_solution(bool family, bool family_of_y) {
    project(s_, u_);
    kinematics(p_, u_, y_);
    const double found = residual(s_, u_, y_, F_).complementarity;
    if (found > kSolvedResidual) {
      doubt_ = doubt_ || found <= kDoubt * kSolvedResidual;
      return;
    }
    for (EnumeratedSolution& known : out_.solutions) {
      if ((known.r - u_).cwiseAbs().maxCoeff() > kSame * (1 + u_.cwiseAbs().maxCoeff())) continue;
      known.family = known.family || family;
      known.family_of_y = known.family_of_y || family_of_y;
      return;
    }
    out_.solutions.push_back({u_, y_, at_, family, family_of_y});
  }

  // The signs on this state as G t + g >= 0 for r = r0 + N t.
  void inequalities(const Mat& N, const Vec& r0, Mat& G, Vec& g) const {
    std::vector<Eigen::RowVectorXd> rows;
    std::vector<double> values;
    Eigen::RowVectorXd bound;
    const auto add = [&](const Eigen::RowVectorXd& row, double value) {
      rows.push_back(row);
      values.push_back(value);
    };
    for (const Cone& c : p_.cones) {
      if (c.kind == Cone::Kind::line) continue;
      const int i = c.row;
      const Piece piece = at_[static_cast<std::size_t>(i)];
      if (piece != Piece::active) {
        if (shut(c)) continue;
        const double sign = piece == Piece::lower ? 1 : -1;
        add(sign * p_.A.row(i), sign * p_.b(i));
        continue;
      }
      for (const bool upper : {false, true}) {
        const double value = end(c, upper, &bound);
        if (!std::isfinite(value) || (upper && c.kind == Cone::Kind::ray)) continue;
        bound(i) -= 1;  // end - r
        add(upper ? bound : Eigen::RowVectorXd(-bound), upper ? value : -value);
      }
    }
    G.resize(static_cast<Eigen::Index>(rows.size()), N.cols());
    g.resize(G.rows());
    for (Eigen::Index k = 0; k < G.rows(); ++k) {
      const auto i = static_cast<std::size_t>(k);
      G.row(k) = rows[i] * N;
      g(k) = rows[i].dot(r0) + values[i];
    }
    // Ranks below are relative to the largest entry: a matrix of rounding errors must count as zero.
    G = (G.array().abs() < kNothing).select(0.0, G);
  }

  bool beyond(double value, double tolerance) {
    doubt_ = doubt_ || (value > tolerance && value <= kDoubt * tolerance);
    return value > tolerance;
  }

  void try_singular() {
    Eigen::CompleteOrthogonalDecomposition<Mat> cod;
    cod.setThreshold(kSingular);
    cod.compute(C_);
    const Vec r0 = cod.solve(d_);
    if (beyond((C_ * r0 - d_).cwiseAbs().maxCoeff(), kSolvedResidual * (1 + r0.cwiseAbs().maxCoeff()))) return;
    Eigen::FullPivLU<Mat> kernel;
    kernel.setThreshold(kSingular);
    kernel.compute(C_);
    if (kernel.dimensionOfKernel() == 0) {
      u_ = r0;
      keep_if_solution(false, false);
      return;
    }
    Eigen::HouseholderQR<Mat> basis(kernel.kernel());
    const Mat N = basis.householderQ() * Mat::Identity(n_, kernel.dimensionOfKernel());
    Mat G;
    Vec g;
    inequalities(N, r0, G, g);

    // s = G t + g >= 0 for some t  <=>  Q^T s = Q^T g with s >= 0, Q spanning the complement of the range of G.
    Vec t = Vec::Zero(N.cols());
    if (G.rows() > 0) {
      Eigen::ColPivHouseholderQR<Mat> range(G);
      range.setThreshold(1e-9);
      const Mat Q = Mat(range.householderQ()).rightCols(G.rows() - range.rank());
      Vec slack;
      const double left = nonnegative_least_squares(Q.transpose(), Q.transpose() * g, slack);
      if (beyond(left, 1e-9 * (1 + g.cwiseAbs().maxCoeff()))) return;
      Eigen::CompleteOrthogonalDecomposition<Mat> cod_G;
      cod_G.setThreshold(1e-9);
      cod_G.compute(G);
      t = cod_G.solve(slack - g);
    }
    u_ = r0 + N * t;
    const bool family = more_than_a_point(G, G.rows() > 0 ? Vec(G * t + g) : Vec(0), N.cols());
    const bool y_moves = (p_.A * N).cwiseAbs().maxCoeff() > 1e-9;
    keep_if_solution(family, family && y_moves);
  }

  // Whether some d != 0 has G_A d >= 0 on the rows A that are zero at this point. None has iff G_A has full column rank
  // and lambda > 0 with G_A^T lambda = 0 exists (Stiemke).
  static bool more_than_a_point(const Mat& G, const Vec& slack, Eigen::Index unknowns) {
    std::vector<Eigen::Index> tight;
    for (Eigen::Index i = 0; i < slack.size(); ++i) {
      if (slack(i) <= kSame * (1 + slack.cwiseAbs().maxCoeff())) tight.push_back(i);
    }
    if (tight.empty()) return true;
    const Mat T = G(tight, Eigen::all);
    Eigen::ColPivHouseholderQR<Mat> qr(T);
    qr.setThreshold(1e-9);
    if (qr.rank() < unknowns) return true;
    Vec extra;
    const Vec ones = Vec::Ones(T.rows());
    return nonnegative_least_squares(T.transpose(), -T.transpose() * ones, extra) > 1e-8;
  }

  void classify() {
    bool family = false, family_of_y = false, several_y = false;
    for (const EnumeratedSolution& e : out_.solutions) {
      family = family || e.family;
      family_of_y = family_of_y || e.family_of_y;
      const Vec& first = out_.solutions.front().y;
      several_y = several_y || (e.y - first).cwiseAbs().maxCoeff() > kSame * (1 + first.cwiseAbs().maxCoeff());
    }
    const std::size_t found = out_.solutions.size();
    if (found == 0 && doubt_) return;
    out_.count = family       ? SolutionCount::infinite
                 : found == 0 ? SolutionCount::none
                 : found == 1 ? SolutionCount::unique
                              : SolutionCount::several;
    out_.count_y = family_of_y  ? SolutionCount::infinite
                   : found == 0 ? SolutionCount::none
                   : several_y  ? SolutionCount::several
                                : SolutionCount::unique;
  }

  const ScaledContact& s_;
  const ContactProblem& p_;
  Enumeration& out_;
  int n_;
  std::vector<const Cone*> order_;
  std::vector<Piece> at_;
  Mat C_;
  Vec d_, u_, y_, F_, rest_;
  bool doubt_ = false;
  BasisLu lu_;
};

}  // namespace

double nonnegative_least_squares(const Mat& E, const Vec& f, Vec& x) {
  const Eigen::Index n = E.cols();
  x.setZero(n);
  std::vector<Eigen::Index> passive;
  std::vector<char> is_passive(static_cast<std::size_t>(n), 0);
  const double size = E.size() > 0 ? E.cwiseAbs().maxCoeff() * (f.size() ? f.cwiseAbs().maxCoeff() : 0) : 0;
  if (E.rows() == 0 || !(size > 0)) return f.norm();
  const double tolerance = 1e-13 * size * static_cast<double>(n + E.rows());
  std::vector<char> refused(static_cast<std::size_t>(n), 0);
  for (Eigen::Index outer = 0; outer < 10 * n + 10; ++outer) {
    const Vec gradient = E.transpose() * (f - E * x);
    Eigen::Index enter = -1;
    for (Eigen::Index j = 0; j < n; ++j) {
      const auto k = static_cast<std::size_t>(j);
      if (is_passive[k] || refused[k] || gradient(j) <= tolerance) continue;
      if (enter < 0 || gradient(j) > gradient(enter)) enter = j;
    }
    if (enter < 0) break;
    const double before = (f - E * x).squaredNorm();
    const Vec x_before = x;
    const auto passive_before = passive;
    passive.push_back(enter);
    for (;;) {
      const Mat P = E(Eigen::all, passive);
      const Vec z = P.colPivHouseholderQr().solve(f);
      double step = 1;
      for (std::size_t k = 0; k < passive.size(); ++k) {
        const auto i = static_cast<Eigen::Index>(k);
        if (z(i) <= 0) step = std::min(step, x(passive[k]) / (x(passive[k]) - z(i) + 1e-300));
      }
      for (std::size_t k = 0; k < passive.size(); ++k) {
        x(passive[k]) += step * (z(static_cast<Eigen::Index>(k)) - x(passive[k]));
      }
      if (step >= 1) break;
      const std::size_t size_before = passive.size();
      std::erase_if(passive, [&](Eigen::Index j) {
        if (x(j) > 1e-14) return false;
        x(j) = 0;
        return true;
      });
      if (passive.empty() || passive.size() == size_before) break;
    }
    // A column that gains nothing (dependent up to rounding) must not come in again and again.
    if (!((f - E * x).squaredNorm() < before)) {
      x = x_before;
      passive = passive_before;
      refused[static_cast<std::size_t>(enter)] = 1;
    } else {
      std::fill(refused.begin(), refused.end(), char{0});
    }
    std::fill(is_passive.begin(), is_passive.end(), char{0});
    for (const Eigen::Index j : passive) is_passive[static_cast<std::size_t>(j)] = 1;
  }
  return (f - E * x).norm();
}

long state_count(const ContactProblem& p) {
  constexpr double kMany = 1099511627776.0;
  double count = 1;
  std::vector<int> friction_on(static_cast<std::size_t>(p.size()), 0);
  for (const Cone& c : p.cones) {
    if (c.kind == Cone::Kind::box && c.normal >= 0 && c.lo == 0 && c.hi == 0) {
      ++friction_on[static_cast<std::size_t>(c.normal)];
    }
  }
  for (const Cone& c : p.cones) {
    double pieces = 1;
    const double friction_states = std::pow(3.0, friction_on[static_cast<std::size_t>(c.row)]);
    if (c.kind == Cone::Kind::ray) {
      pieces = 1 + friction_states;
    } else if (c.kind == Cone::Kind::box && !(c.normal >= 0 && c.lo == 0 && c.hi == 0)) {
      pieces = 3 * friction_states;
    } else if (c.kind == Cone::Kind::disc) {
      pieces = kMany;
    }
    count = std::min(count * pieces, kMany);
  }
  return static_cast<long>(count);
}

Enumeration enumerate(const ContactProblem& p, long max_states) {
  Enumeration out;
  ScaledContact s;
  s.assign(p);
  if (p.size() == 0) {
    out.count = out.count_y = SolutionCount::unique;
    out.solutions.resize(1);
    return out;
  }
  if (state_count(p) > max_states) return out;
  Enumerator(s, out).run();
  for (EnumeratedSolution& e : out.solutions) {
    const Vec u = e.r;
    s.to_original(u, e.r);
    e.y = e.y.cwiseQuotient(s.R) * s.load;
  }
  return out;
}

Enumeration enumerate(const Eigen::Ref<const Mat>& A, const Eigen::Ref<const Vec>& b, long max_states) {
  ContactProblem p{A, b, {}};
  for (int i = 0; i < p.size(); ++i) p.cones.push_back(Cone::ray(i));
  return enumerate(p, max_states);
}

}  // namespace clatter
