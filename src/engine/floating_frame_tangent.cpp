// Exact tangents of the floating frame: every term of its forces is a polynomial in eta, Omega and their derivatives.
//
// In the body's axes, increments of the frame being dTheta (dR = R dTheta~), with A0' = A0 - R^T g:
//
//   K_xTheta     = R (m A0'~ - F_X~)
//   K_xeta,l     = R (Omega' x N_l + Omega x (Omega x N_l) + (n eta'')_l + 2 Omega x (n eta')_l)
//   K_ThetaTheta = S~ A0'~
//   K_Thetaeta,l = N_l x A0' + J_,l Omega' + H_,l eta'' + Omega x J_,l Omega
//                  + 2 (tr(d_,l) I - d_,l) Omega + Omega x h_,l
//   K_etaTheta,l = (N_l x A0')^T
//   K_etaeta     = K + A0'.n + Omega'.(A + Y) + (Omega Omega^T - |Omega|^2 I):P
//   C_xOmega     = -R ((Omega x S)~ + Omega~ S~ + 2 (N eta')~),   C_xeta,l = 2 R (Omega x N_l + (n eta')_l)
//   C_ThetaOmega = Omega~ J - (J Omega)~ + 2 (tr(d) I - d) - h~,
//   C_Thetaeta,l = 2 (tr(D_l) - D^s_l) Omega + Omega x H_l + 2 (Y eta')_l
//   C_etaOmega,l = 2 (D^s_l - tr D_l) Omega + 2 sum_k A_kl eta'_k,      C_etaeta = D + 2 Omega.A
//
// with J_,l = 2 (tr(D_l) I - D^s_l), d_,l = (P eta')_l, h_,l = (Y - A) eta', H_,l eta'' = (Y - A) eta''.
//
// A marker's wrench (F, N) held fixed in space gives Q = (F, a x f + n, S^T f + Psi^T Gamma^T n) with f = R^T F and n
// = R^T N about the marker; the marker moves away from under it, so n falls by dp x f.
#include "base/dual.hpp"
#include "engine/floating_frame.hpp"
#include "engine/marker_rotation.hpp"
#include "engine/tree.hpp"

namespace clatter {

namespace {

// What the eigen-angles of a marker's rotation do: derivatives of w and w' with respect to psi and psi'.
struct SpinTangent {
  Mat3 w_psi, wd_psi, wd_psid;
};

SpinTangent spin_tangent(const Vec3& psi, const Vec3& psid, const Vec3& psidd) {
  using D = Dual<6>;
  Eigen::Matrix<D, 3, 1> p, r, a, w, wd;
  for (int i = 0; i < 3; ++i) {
    p[i] = D::variable(psi[i], i);
    r[i] = D::variable(psid[i], 3 + i);
    a[i] = D(psidd[i]);
  }
  marker_spin<D>(p, r, a, w, wd);
  SpinTangent t;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      t.w_psi(i, j) = w[i].d[j];
      t.wd_psi(i, j) = wd[i].d[j];
      t.wd_psid(i, j) = wd[i].d[3 + j];
    }
  return t;
}

// d(Gamma^T s)/dpsi
Mat3 moment_tangent(const Vec3& psi, const Vec3& s) {
  using D = Dual<3>;
  Eigen::Matrix<D, 3, 1> p;
  for (int i = 0; i < 3; ++i) p[i] = D::variable(psi[i], i);
  const Eigen::Matrix<D, 3, 1> m = right_jacobian_times<D>(p, s);
  Mat3 t;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) t(i, j) = m[i].d[j];
  return t;
}

// The frame's velocities inside the tangents: rows and columns of a 6-vector (x, Theta) that move.
struct FrameRows {
  int n;
  int axis[6];
  explicit FrameRows(bool planar) : n(planar ? 3 : 6), axis{0, 1, 2, 3, 4, 5} {
    if (planar) axis[2] = 5;
  }
};

Vec3 row3(const Mat& field, int l) { return {field(l, 0), field(l, 1), field(l, 2)}; }

}  // namespace

void FloatingFrame::tangents(const Vec3& gravity, const Vec3* F, const Vec3* N_applied, const double*, double* Mp,
                             double* Cp, double* Kp) {
  if (!inertial_) {
    // Weight, elasticity and damping are those of a body at rest.
    const Vec3 A = A_, Omega = Omega_, Omegad = Omegad_;
    A_.setZero(), Omega_.setZero(), Omegad_.setZero();
    rest_ = etad_, rest2_ = etadd_;
    etad_.setZero(), etadd_.setZero();
    fresh_ = false;
    inertial_tangents(gravity, Mp, Cp, Kp);
    fresh_ = false;
    etad_ = rest_, etadd_ = rest2_;
    A_ = A, Omega_ = Omega, Omegad_ = Omegad;
    Eigen::Map<Mat>(Mp, nr_ + b_->n, nr_ + b_->n).setZero();
  } else {
    inertial_tangents(gravity, Mp, Cp, Kp);
  }
  Eigen::Map<Mat> K(Kp, nr_ + b_->n, nr_ + b_->n);
  for (std::size_t link = 0; link <= b_->markers.size(); ++link)
    if (!F[link].isZero(0.0) || !N_applied[link].isZero(0.0))
      geometric(static_cast<int>(link), F[link], N_applied[link], K);
}

void FloatingFrame::inertial_tangents(const Vec3& gravity, double* Mp, double* Cp, double* Kp) {
  terms();
  const FlexibleBody& b = *b_;
  const int n = b.n, nv = nr_ + n;
  Eigen::Map<Mat> M(Mp, nv, nv), C(Cp, nv, nv), K(Kp, nv, nv);
  const FrameRows rows(b.planar);
  const Vec3& w = Omega_;
  const Vec3 S = vector(S_);
  const Mat3 J = matrix(J_), W = skew<double>(w), St = skew<double>(S);
  const Vec3 A0 = A_ - R_.transpose() * gravity;
  const Mat3 At = skew<double>(A0);

  // The frame itself.
  Vec3 Nd = Vec3::Zero(), Ndd = Vec3::Zero();
  for (int l = 0; l < n; ++l) {
    Nd += row3(N(), l) * etad_[l];
    Ndd += row3(N(), l) * etadd_[l];
  }
  Vec3 FX = b.mass * A0 + Omegad_.cross(S) + Ndd + w.cross(w.cross(S) + 2 * Nd);
  if (b.stiffens)
    for (int l = 0; l < n; ++l) FX += row3(nd_, l) * etad_[l];
  const Mat3 dm = symmetric_tensor(d_);
  Mat6 Mr, Cr = Mat6::Zero(), Kr = Mat6::Zero();
  Mr.topLeftCorner<3, 3>() = b.mass * Mat3::Identity();
  Mr.topRightCorner<3, 3>() = -R_ * St;
  Mr.bottomLeftCorner<3, 3>() = St * R_.transpose();
  Mr.bottomRightCorner<3, 3>() = J;
  Cr.topRightCorner<3, 3>() = -R_ * (skew<double>(w.cross(S)) + W * St + 2 * skew<double>(Nd));
  Cr.bottomRightCorner<3, 3>() =
      W * J - skew<double>(J * w) + 2 * (dm.trace() * Mat3::Identity() - dm) - skew<double>(vector(h_));
  Kr.topRightCorner<3, 3>() = R_ * (b.mass * At - skew<double>(FX));
  Kr.bottomRightCorner<3, 3>() = St * At;
  for (int i = 0; i < nr_; ++i)
    for (int j = 0; j < nr_; ++j) {
      M(i, j) = Mr(rows.axis[i], rows.axis[j]);
      C(i, j) = Cr(rows.axis[i], rows.axis[j]);
      K(i, j) = Kr(rows.axis[i], rows.axis[j]);
    }

  // Products of the fields with eta' and eta''.
  const double *etad = etad_.data(), *etadd = etadd_.data(), *zero = zero_.data();
  b.inertia.multiply({etad, etadd, zero, zero, Pd_.data(), spare_.data(), Add_.data()});
  if (b.stiffens) {
    b.turning.multiply({etad, etadd, nullptr, zero, nullptr, spare_.data(), Ydd_.data()});
    b.moving.multiply({etad, etadd, nullptr, zero, nullptr, spare_.data(), ndd_.data()});
  }

  const double ww = w.squaredNorm();
  for (int l = 0; l < n; ++l) {
    const Vec3 Nl = row3(N(), l), Hl = row3(H_, l), Hdl = row3(Hd_, l);
    Vec3 nd = Vec3::Zero(), Yd = Vec3::Zero(), ndd = Vec3::Zero(), Hdd = -row3(Add_, l);
    if (b.stiffens) {
      nd = row3(nd_, l);
      Yd = row3(Yd_, l);
      ndd = row3(ndd_, l);
      Hdd += row3(Ydd_, l);
    }
    double sym[6], dsym[6];
    for (int c = 0; c < 6; ++c) {
      sym[c] = Ds_(l, c);
      dsym[c] = Pd_(l, c);
    }
    const Mat3 D = symmetric_tensor(sym), Dd = symmetric_tensor(dsym);
    const double tr = D.trace(), trd = Dd.trace();
    const auto J_l = [&](const Vec3& x) -> Vec3 { return 2 * (tr * x - D * x); };
    const Vec3 NxA = Nl.cross(A0);
    Vec6 m, c, k, ct, kt;  // rows of the frame; then the columns of the frame in row l
    m << R_ * Nl, Hl;
    c << R_ * (2 * (w.cross(Nl) + nd)), J_l(w) + w.cross(Hl) + 2 * Yd;
    k << R_ * (Omegad_.cross(Nl) + w.cross(w.cross(Nl) + 2 * nd) + ndd),
        NxA + J_l(Omegad_) + Hdd + w.cross(J_l(w)) + 2 * (trd * w - Dd * w) + w.cross(Yd - Hdl);
    ct << Vec3::Zero(), 2 * Hdl - J_l(w);
    kt << Vec3::Zero(), NxA;
    for (int i = 0; i < nr_; ++i) {
      const int a = rows.axis[i];
      M(i, nr_ + l) = M(nr_ + l, i) = m[a];
      C(i, nr_ + l) = c[a];
      K(i, nr_ + l) = k[a];
      C(nr_ + l, i) = ct[a];
      K(nr_ + l, i) = kt[a];
    }
  }

  // Elastic coordinates among themselves.
  auto Me = M.bottomRightCorner(n, n), Ce = C.bottomRightCorner(n, n), Ke = K.bottomRightCorner(n, n);
  Me = b.reduced->M;
  Ke = b.reduced->K;
  if (b.damped)
    Ce = b.reduced->D;
  else
    Ce.setZero();
  const double centrifugal[6] = {w[0] * w[0] - ww, w[1] * w[1] - ww, w[2] * w[2] - ww,
                                 2 * w[0] * w[1],  2 * w[1] * w[2],  2 * w[2] * w[0]};
  for (std::size_t i = 0; i < b.P.component.size(); ++i) Ke += centrifugal[b.P.component[i]] * b.P.matrix[i];
  for (std::size_t i = 0; i < b.A.component.size(); ++i) {
    Ke += Omegad_[b.A.component[i]] * b.A.matrix[i];
    Ce += 2 * w[b.A.component[i]] * b.A.matrix[i];
  }
  for (std::size_t i = 0; i < b.Y.component.size(); ++i) Ke += Omegad_[b.Y.component[i]] * b.Y.matrix[i];
  for (std::size_t i = 0; i < b.nu.component.size(); ++i) Ke += A0[b.nu.component[i]] * b.nu.matrix[i];
}

// K -= d(J^T W)/dq for a wrench W fixed in space.
void FloatingFrame::geometric(int link, const Vec3& F, const Vec3& N, Eigen::Map<Mat>& K) const {
  const FlexibleBody& b = *b_;
  const int n = b.n;
  const FrameRows rows(b.planar);
  const Vec3 f = R_.transpose() * F, m = R_.transpose() * N;
  const Mat3 ft = skew<double>(f), mt = skew<double>(m);
  Mat6 Kr = Mat6::Zero();
  Kr.bottomLeftCorner<3, 3>() = ft * R_.transpose();
  Kr.bottomRightCorner<3, 3>() = mt;
  if (link > 0) {
    const Mat3 at = skew<double>(markers_[link - 1].a);
    Kr.bottomRightCorner<3, 3>() += at * ft - ft * at;
  }
  for (int i = 0; i < nr_; ++i)
    for (int j = 0; j < nr_; ++j) K(i, j) -= Kr(rows.axis[i], rows.axis[j]);
  if (link == 0) return;
  const FlexibleMarker& marker = b.markers[link - 1];
  const MarkerWork& w = markers_[link - 1];
  const Mat& S = S_of(link - 1);
  const bool turns = marker.Psi.size() > 0;
  Mat3 bend = Mat3::Zero();  // Gamma^T f~
  Mat3 turn = Mat3::Zero();
  if (turns) {
    bend = w.Gamma.transpose() * ft;
    turn = moment_tangent(w.psi, m);
  }
  const Mat3 at = skew<double>(w.a);
  for (int l = 0; l < n; ++l) {
    Eigen::Matrix<double, 1, 6> k = Eigen::Matrix<double, 1, 6>::Zero();
    k.tail<3>() = row3(S, l).transpose() * ft;
    if (turns) {
      const Eigen::RowVector3d psi = row3(marker.Psi, l).transpose();
      k.head<3>() = psi * bend * R_.transpose();
      k.tail<3>() += psi * (w.Gamma.transpose() * mt - bend * at);
    }
    for (int i = 0; i < nr_; ++i) K(nr_ + l, i) -= k[rows.axis[i]];
  }
  if (turns)
    for (int j = 0; j < n; ++j) {
      const Vec3 x = turn * row3(marker.Psi, j) + bend * row3(S, j);
      for (int l = 0; l < n; ++l) K(nr_ + l, nr_ + j) -= row3(marker.Psi, l).dot(x);
    }
  if (marker.second[0].size() > 0)
    for (int c = 0; c < 3; ++c) K.bottomRightCorner(n, n) -= f[c] * marker.second[c].topLeftCorner(n, n);
}

void FloatingFrame::point(int link, const Vec3& at, PointColumns& out) const {
  const FlexibleBody& b = *b_;
  const FrameRows rows(b.planar);
  const Vec3& w = Omega_;
  // Motion of the link's origin and turn in the body's axes, and of the point from there.
  Vec3 a = Vec3::Zero(), y = Vec3::Zero(), y2 = Vec3::Zero(), spin = Vec3::Zero(), spin_rate = Vec3::Zero();
  const MarkerWork* marker = link > 0 ? &markers_[link - 1] : nullptr;
  const bool turns = marker && b.markers[link - 1].Psi.size() > 0;
  const bool second = marker && b.markers[link - 1].second[0].size() > 0;
  if (marker) {
    a = marker->a;
    Vec3 udd = marker->udd_bias;
    const Mat& S = S_of(link - 1);
    for (int l = 0; l < b.n; ++l) udd += row3(S, l) * etadd_[l];
    y = w.cross(a) + marker->ud;
    y2 = Omegad_.cross(a) + w.cross(w.cross(a) + 2 * marker->ud) + udd;
  }
  SpinTangent t;
  if (turns) {
    Vec3 psidd = Vec3::Zero();
    for (int l = 0; l < b.n; ++l) psidd += row3(b.markers[link - 1].Psi, l) * etadd_[l];
    t = spin_tangent(marker->psi, marker->psid, psidd);
    spin = marker->w;
    spin_rate = marker->wd;
  }
  const Vec3 omega = w + spin, alpha = Omegad_ + spin_rate + w.cross(spin);
  const Vec3 rho = R_.transpose() * (at - x0_) - a;
  const Vec3 wr = omega.cross(rho);

  // dp, dtheta, dv, domega, da, dalpha of the link's origin (body axes) for one increment of q; av, aw for one of v.
  const auto put = [&](int column, const Vec3& dp, const Vec3& dth, const Vec3& dv, const Vec3& dw, const Vec3& da,
                       const Vec3& dal, const Vec3& av, const Vec3& aw) {
    const Vec3 dr = dth.cross(rho);
    out.J.col(column) << R_ * (dp + dr), R_ * dth;
    out.Zq.col(column) << R_ * (dv + dw.cross(rho) + omega.cross(dr)), R_ * dw;
    out.Aq.col(column) << R_ * (da + dal.cross(rho) + alpha.cross(dr) + dw.cross(wr) +
                                omega.cross(dw.cross(rho) + omega.cross(dr))),
        R_ * dal;
    out.Av.col(column) << R_ * (av + aw.cross(rho) + dth.cross(wr) + omega.cross(dth.cross(rho))), R_ * aw;
  };
  const Vec3 none = Vec3::Zero();
  out.n = nr_;
  for (int i = 0; i < nr_; ++i) {
    const int axis = rows.axis[i];
    if (axis < 3) {
      put(i, R_.row(axis).transpose(), none, none, none, none, none, none, none);
      continue;
    }
    const Vec3 e = Vec3::Unit(axis - 3);
    Vec3 av = none, aw = none;
    if (marker) {
      av = e.cross(w.cross(a) + 2 * marker->ud) + w.cross(e.cross(a));
      aw = e.cross(spin);
    }
    put(i, e.cross(a), e, e.cross(y), e.cross(omega), e.cross(y2), e.cross(alpha), av, aw);
  }
  if (!marker) return;
  const Mat& S = S_of(link - 1);
  out.n = nr_ + b.n;
  for (int l = 0; l < b.n; ++l) {
    const Vec3 s = row3(S, l);
    Vec3 dth = none, dw = none, dal = none, aw = none, sd = none, sdd = none;
    if (turns) {
      const Vec3 psi = row3(b.markers[link - 1].Psi, l);
      dth = marker->Gamma * psi;
      dw = t.w_psi * psi;
      dal = t.wd_psi * psi + w.cross(dw);
      aw = t.wd_psid * psi + w.cross(dth);
    }
    if (second) {
      sd = row3(marker->second_d, l);
      for (int c = 0; c < 3; ++c) sdd[c] = b.markers[link - 1].second[c].row(l).dot(etadd_);
    }
    put(nr_ + l, s, dth, w.cross(s) + sd, dw, Omegad_.cross(s) + w.cross(w.cross(s) + 2 * sd) + sdd, dal,
        2 * (w.cross(s) + sd), aw);
  }
}

}  // namespace clatter
