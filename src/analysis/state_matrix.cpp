#include "analysis/state_matrix.hpp"

#include <cmath>

namespace clatter {

namespace {

// X(row0 + i, col0 + j) += factor A(i, j), or A(j, i) when transposed.
void put(const SparseMatrix<double>& A, double factor, int row0, int col0, Mat& X, bool transposed = false) {
  const Pattern& pattern = A.pattern();
  for (int j = 0; j < pattern.cols(); ++j) {
    const std::size_t col = static_cast<std::size_t>(j);
    for (int k = pattern.col_start()[col]; k < pattern.col_start()[col + 1]; ++k) {
      const int i = pattern.row_index()[static_cast<std::size_t>(k)];
      const double value = factor * A.values()[static_cast<std::size_t>(k)];
      X(row0 + (transposed ? j : i), col0 + (transposed ? i : j)) += value;
    }
  }
}

}  // namespace

Linearisation::Linearisation(Dynamics& dynamics)
    : dynamics_(dynamics), n_(dynamics.sizes()), tangents_(dynamics.tangent_layout()) {
  const int nk = n_.nv + n_.nc();
  a_.setZero(n_.nv);
  lambda_.setZero(n_.nc());
  zdot_.setZero(n_.nz);
  scale_.setOnes(nk);
  kkt_.setZero(nk, nk);
  rhs_.setZero(nk, size());
  qr_.setThreshold(1e-12);
}

void Linearisation::evaluate(const State& s, Mat& A) {
  const int nv = n_.nv, nz = n_.nz, nc = n_.nc();
  dynamics_.accelerations(s, a_, lambda_, zdot_);
  dynamics_.tangents(s, a_, lambda_, tangents_);

  kkt_.setZero();
  put(tangents_.M, 1, 0, 0, kkt_);
  put(tangents_.directions(), -1, 0, nv, kkt_, true);
  put(tangents_.G, 1, nv, 0, kkt_);
  rhs_.setZero();
  put(tangents_.K, -1, 0, 0, rhs_);
  put(tangents_.C, -1, 0, nv, rhs_);
  put(tangents_.Rz, -1, 0, 2 * nv, rhs_);
  put(tangents_.Aq, -1, nv, 0, rhs_);
  put(tangents_.Av, -1, nv, nv, rhs_);

  // S kkt S: masses become ones and rows of G unit rows in the metric of M, so that the rank can be judged without
  // units.
  for (int i = 0; i < nv; ++i) scale_[i] = kkt_(i, i) > 0 ? 1 / std::sqrt(kkt_(i, i)) : 1;
  for (int i = 0; i < nc; ++i) {
    const double norm = kkt_.row(nv + i).head(nv).transpose().cwiseProduct(scale_.head(nv)).norm();
    scale_[nv + i] = norm > 0 ? 1 / norm : 1;
  }
  kkt_ = scale_.asDiagonal() * kkt_ * scale_.asDiagonal();
  rhs_ = scale_.asDiagonal() * rhs_;
  qr_.compute(kkt_);
  solution_ = qr_.solve(rhs_);

  A.setZero(size(), size());
  A.block(0, nv, nv, nv).setIdentity();
  for (const int i : dynamics_.rotation_blocks()) {
    const Vec3 omega = s.v.segment<3>(i);
    A.block<3, 3>(i, i) = -skew(omega);
  }
  A.middleRows(nv, nv) = scale_.head(nv).asDiagonal() * solution_.topRows(nv);
  if (nz > 0) {
    put(tangents_.Fq, 1, 2 * nv, 0, A);
    put(tangents_.Fv, 1, 2 * nv, nv, A);
    put(tangents_.Fz, 1, 2 * nv, 2 * nv, A);
  }
}

Vec Linearisation::multipliers_by_time(const Vec& r_t, const Vec& gamma_t) const {
  Vec rhs(n_.nv + n_.nc());
  rhs << -r_t, -gamma_t;
  const Vec x = qr_.solve(Vec(scale_.cwiseProduct(rhs)));
  return scale_.tail(n_.nc()).cwiseProduct(x.tail(n_.nc()));
}

void state_matrix(Dynamics& dynamics, const State& s, Mat& A) { Linearisation(dynamics).evaluate(s, A); }

}  // namespace clatter
