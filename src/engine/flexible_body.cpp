#include "engine/flexible_body.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

namespace clatter {

namespace {

// Axes (a, b) of the symmetric components, and of the components of vect.
constexpr int sym_a[6] = {0, 1, 2, 0, 1, 2}, sym_b[6] = {0, 1, 2, 1, 2, 0};
constexpr int vect_a[3] = {1, 2, 0}, vect_b[3] = {2, 0, 1};

Mat padded(const Mat& rows, int stride) {  // 3 x n -> stride x 3
  Mat out = Mat::Zero(stride, rows.rows());
  out.topRows(rows.cols()) = rows.transpose();
  return out;
}

double largest(const std::vector<const Mat*>& matrices) {
  double out = 0;
  for (const Mat* m : matrices)
    if (m->size() > 0) out = std::max(out, m->cwiseAbs().maxCoeff());
  return out;
}

// The diagonal, padded, of a matrix that has nothing else; else empty.
Vec diagonal_of(const Mat& m, int stride) {
  for (Eigen::Index i = 0; i < m.rows(); ++i)
    for (Eigen::Index k = 0; k < i; ++k)
      if (std::max(std::abs(m(i, k)), std::abs(m(k, i))) > kShapeRounding * std::sqrt(std::abs(m(i, i) * m(k, k))))
        return {};
  Vec d = Vec::Zero(stride);
  d.head(m.rows()) = m.diagonal();
  return d;
}

// A field of inertia without what is zero to rounding: |E_kl| <= sqrt(M_kk M_ll), whatever the units of k and l.
Mat without_rounding(const Mat& field, const Mat& M) {
  if (field.size() == 0) return field;
  const Vec root = M.diagonal().cwiseAbs().cwiseSqrt();
  return (field.array().abs() <= kShapeRounding * (root * root.transpose()).array()).select(0.0, field);
}

}  // namespace

FlexibleBody::FlexibleBody(std::shared_ptr<const ReducedBody> body)
    : reduced(std::move(body)),
      n(reduced->n),
      stride((reduced->n + 7) / 8 * 8),
      planar(reduced->planar),
      mass(reduced->mass),
      J0(reduced->J0),
      N0(padded(reduced->N, stride)),
      P0(Mat::Zero(stride, 6)),
      H0(Mat::Zero(stride, 3)),
      stiffens(!reduced->stiffening.empty()) {
  const ReducedBody& b = *reduced;
  const auto E0 = [&](int a, int c) { return b.E0[a].row(c).transpose(); };  // int X_a Phi_l,c
  const auto X = [&](int a, int c) -> const Mat& { return b.stiffening[3 + 3 * a + c]; };
  double scale = largest({&b.E[0], &b.E[1], &b.E[2], &b.E[3], &b.E[4], &b.E[5]}), scale_n = 0;
  for (std::size_t i = 0; i < b.stiffening.size(); ++i) {
    double& of = i < 3 ? scale_n : scale;
    of = std::max(of, largest({&b.stiffening[i]}));
  }
  for (int c = 0; c < 6; ++c) {
    const int a1 = sym_a[c], a2 = sym_b[c];
    P0.col(c).head(n) = 0.5 * (E0(a1, a2) + E0(a2, a1));
    Mat m = 0.5 * (b.E[c] + b.E[c].transpose());
    if (stiffens) m += 0.5 * (X(a1, a2) + X(a2, a1));
    P.add(c, without_rounding(m, b.M), scale);
  }
  constexpr int stored[3] = {4, 5, 3};  // E_yz, E_zx, E_xy
  for (int c = 0; c < 3; ++c) {
    const int a1 = vect_a[c], a2 = vect_b[c];
    H0.col(c).head(n) = E0(a1, a2) - E0(a2, a1);
    const Mat& e = b.E[stored[c]];
    A.add(c, without_rounding(e.transpose() - e, b.M), scale);  // (l, k): vect(E_kl)
    if (!stiffens) continue;
    Y.add(c, X(a1, a2) - X(a2, a1), scale);
    nu.add(c, b.stiffening[c], scale_n);
  }
  // |N_l|^2 <= m M_ll
  centred = nu.empty() && (b.N.cwiseAbs2().colwise().sum().transpose().array() <=
                           kShapeRounding * kShapeRounding * b.mass * b.M.diagonal().array())
                              .all();
  if (centred) N0.setZero();
  inertia = PackedFields(P, A, n, stride);
  turning = PackedFields({}, Y, n, stride);
  moving = PackedFields({}, nu, n, stride);
  K_diagonal = diagonal_of(b.K, stride);
  damped = !b.D.isZero(0.0);
  if (damped) D_diagonal = diagonal_of(b.D, stride);
  unit_mass = b.M.isIdentity(kShapeRounding);
  if (!unit_mass) M_cholesky = b.M.llt().matrixL();
  N0_forward = N0;
  for (int c = 0; c < 3; ++c) forward(N0_forward.col(c).data());
  N0_gram = N0_forward.transpose() * N0_forward;
  int row = centred ? 0 : 4;
  for (const Marker& m : b.markers) {
    FlexibleMarker out;
    out.X = m.X;
    out.R = m.R;
    out.aligned = m.R == Mat3::Identity();
    out.row = row;
    out.S = padded(m.S, stride);
    if (m.Psi.size() > 0 && !m.Psi.isZero(0.0)) out.Psi = padded(m.Psi, stride);
    if (m.second[0].size() > 0)
      for (int c = 0; c < 3; ++c) {
        out.second[c] = Mat::Zero(stride, stride);
        out.second[c].topLeftCorner(n, n) = m.second[c];
      }
    row += out.Psi.size() > 0 ? 8 : 4;
    markers.push_back(std::move(out));
  }
  Mat linear = Mat::Zero((row + 7) / 8 * 8, n);
  if (!centred) linear.topRows<3>() = N0.topRows(n).transpose();
  for (const FlexibleMarker& m : markers) {
    linear.middleRows<3>(m.row) = m.S.topRows(n).transpose();
    if (m.Psi.size() > 0) linear.middleRows<3>(m.row + 4) = m.Psi.topRows(n).transpose();
  }
  rows = PackedMatrix(linear);
}

void FlexibleBody::add_product(const Vec& diagonal, const Mat& full, const double* x, double* y) const {
  Eigen::Map<Eigen::ArrayXd> out(y, stride);
  if (diagonal.size() > 0)
    out += diagonal.array() * Eigen::Map<const Eigen::ArrayXd>(x, stride);
  else
    Eigen::Map<Vec>(y, n).noalias() += full * Eigen::Map<const Vec>(x, n);
}

void FlexibleBody::add_mass(const double* x, double* y) const {
  if (unit_mass)
    Eigen::Map<Vec>(y, stride) += Eigen::Map<const Vec>(x, stride);
  else
    Eigen::Map<Vec>(y, n).noalias() += reduced->M * Eigen::Map<const Vec>(x, n);
}

void FlexibleBody::forward(double* x) const {
  if (!unit_mass) M_cholesky.triangularView<Eigen::Lower>().solveInPlace(Eigen::Map<Vec>(x, n));
}

void FlexibleBody::backward(double* x) const {
  if (!unit_mass) M_cholesky.transpose().triangularView<Eigen::Upper>().solveInPlace(Eigen::Map<Vec>(x, n));
}

}  // namespace clatter
