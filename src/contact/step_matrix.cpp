#include "contact/step_matrix.hpp"

#include <cmath>

namespace clatter::contact {

namespace {
constexpr double kRegularisation = 1e-8;
}

StepMatrix::StepMatrix(Dynamics& dynamics)
    : dynamics_(dynamics),
      tangents_(dynamics.tangent_layout()),
      of_(tangents_.M.pattern_ptr()),
      pattern_(make_pattern()),
      matrix_(pattern_),
      solver_(pattern_),
      nv_(dynamics.sizes().nv),
      nc_(dynamics.sizes().nc()) {
  lay_out();
  regular_.setZero(nc_);
  row_scale_.setZero(nc_);
  for (Vec* x : {&rhs_, &x_, &residual_}) x->setZero(nv_ + nc_);
}

void StepMatrix::lay_out() {
  map_M_ = BlockMap(*pattern_, tangents_.M.pattern(), 0, 0, nullptr);
  map_G_ = BlockMap(*pattern_, tangents_.G.pattern(), nv_, 0, nullptr);
  map_Gt_ = BlockMap(*pattern_, tangents_.G.pattern(), 0, nv_, nullptr, true);
  diagonal_.clear();
  for (int i = 0; i < nv_ + nc_; ++i) diagonal_.push_back(pattern_->slot(i, i));
}

PatternPtr StepMatrix::make_pattern() const {
  const int nv = dynamics_.sizes().nv, n = nv + dynamics_.sizes().nc();
  PatternBuilder builder(n, n);
  builder.add_diagonal();
  BlockMap::declare(builder, tangents_.M.pattern(), 0, 0, nullptr);
  BlockMap::declare(builder, tangents_.G.pattern(), nv, 0, nullptr);
  BlockMap::declare(builder, tangents_.G.pattern(), 0, nv, nullptr, true);
  return builder.build();
}

bool StepMatrix::factorize(const State& s, const Vec& a, const Vec& lambda, double c, double k) {
  dynamics_.tangents(s, a, lambda, tangents_);
  if (tangents_.M.pattern_ptr() != of_) {
    of_ = tangents_.M.pattern_ptr();
    pattern_ = make_pattern();
    matrix_ = SparseMatrix<double>(pattern_);
    solver_ = LinearSolver<double>(pattern_);
    lay_out();
  }
  matrix_.set_zero();
  const std::span<double> x = matrix_.values();
  map_M_.add(x, tangents_.M, 1.0);
  map_M_.add(x, tangents_.C, c);
  map_M_.add(x, tangents_.K, k);
  map_G_.add(x, tangents_.G, 1.0);
  map_Gt_.add(x, tangents_.G, -1.0);
  row_scale_.setZero();
  const Pattern& G = tangents_.G.pattern();
  for (int j = 0; j < nv_; ++j) {
    const double mass = std::abs(x[static_cast<std::size_t>(diagonal_[static_cast<std::size_t>(j)])]);
    if (!(mass > 0)) continue;
    for (int e = G.col_start()[static_cast<std::size_t>(j)]; e < G.col_start()[static_cast<std::size_t>(j) + 1]; ++e) {
      const double entry = tangents_.G.values()[static_cast<std::size_t>(e)];
      row_scale_[G.row_index()[static_cast<std::size_t>(e)]] += entry * entry / mass;
    }
  }
  for (int i = 0; i < nc_; ++i) {
    regular_[i] = row_scale_[i] > 0 ? kRegularisation * row_scale_[i] : 1;
    x[static_cast<std::size_t>(diagonal_[static_cast<std::size_t>(nv_ + i)])] += regular_[i];
  }
  solver_.factorize(matrix_);
  return !solver_.singular();
}

void StepMatrix::solve(const double* b, const double* g, double* x, double* mu) {
  for (int i = 0; i < nv_; ++i) rhs_[i] = b[i];
  for (int i = 0; i < nc_; ++i) rhs_[nv_ + i] = g != nullptr && row_scale_[i] > 0 ? g[i] : 0;
  x_ = rhs_;
  solver_.solve(x_.data());
  if (nc_ > 0) {
    // What the regularisation left of the rows; twice, because redundant rows converge more slowly.
    for (int pass = 0; pass < 2; ++pass) {
      matrix_.multiply(x_.data(), residual_.data());
      residual_ = rhs_ - residual_;
      residual_.tail(nc_) += regular_.cwiseProduct(x_.tail(nc_));
      solver_.solve(residual_.data());
      x_ += residual_;
    }
  }
  for (int i = 0; i < nv_; ++i) x[i] = x_[i];
  if (mu != nullptr)
    for (int i = 0; i < nc_; ++i) mu[i] = x_[nv_ + i];
}

}  // namespace clatter::contact
