// Exact tangents of a superelement.
//
// Forces f of the local coordinates (x0, Theta0, eta) reach the coordinates as r = Z^T f, Z = (1 0; P). With the local
// tangents M', C', K' of f and hats for rows of zeros above,
//
//   K = Z^T (K' Z + C' Pq^ + M' Q^) + G(q, f_eta),   C = Z^T (C' Z + M' V^),   M = Z^T M' Z
//   Pq = d(eta')/dq,  Q = d(eta'')/dq,  V = d(eta'')/dv:  all four lifts have the blocks of P
//
// u:      u'' = R0^T (x'' - x0'') - Omega x (d + u') - Omega' x a
// gamma:  gamma' = y(gamma) = T^-1 Omega_B - T^-T Omega_0 is a function of gamma alone at given body-fixed Omega, so
//         Pq = Y P with Y = dy/dgamma, and gamma'' = T^-1 Omega_B' - T^-T Omega_0' + Y y.
#include "base/dual.hpp"
#include "base/rotation.hpp"
#include "engine/superelement.hpp"

namespace clatter {

namespace {

Eigen::Map<const Vec3> as3(const double* x) { return Eigen::Map<const Vec3>(x); }

// d(Y c)/dgamma at fixed c, Omega.
Mat3 second_derivative(const Vec3& gamma, const Vec3& Omega_B, const Vec3& Omega_0, const Vec3& c) {
  using D = Dual<3>;
  Eigen::Matrix<D, 3, 1> g;
  for (int i = 0; i < 3; ++i) g[i] = D::variable(gamma[i], i);
  const Eigen::Matrix<D, 3, 1> B = Omega_B.cast<D>(), O = Omega_0.cast<D>(), direction = c.cast<D>();
  const Eigen::Matrix<D, 3, 1> v =
      right_jacobian_inverse_derivative<D>(g, B) * direction - left_jacobian_inverse_derivative<D>(g, O) * direction;
  Mat3 out;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) out(i, j) = v[i].d[j];
  return out;
}

// d(T^-1(gamma + s c))/ds without its skew part 1/2 c~, which changes sign for T^-T.
Mat3 jacobian_rate(const Vec3& gamma, const Vec3& c) {
  const double x = gamma.squaredNorm(), b = rotation_detail::cotc(x), slope = rotation_detail::cotc_slope(x);
  const Mat3 g = skew<double>(gamma), cs = skew<double>(c);
  return b * (cs * g + g * cs) + slope * gamma.dot(c) * (g * g);
}

}  // namespace

void Superelement::update_derivatives() {
  const Mat3 W = skew<double>(Omega0_), Rt = R0_.transpose(), WRt = W * Rt;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const NodeWork& w = nodes_[i];
    const Mat3 a = skew<double>(w.a), d = skew<double>(w.d);
    Mat6 &pr = Pq_.root[i], &po = Pq_.own[i], &qr = Q_.root[i], &qo = Q_.own[i], &vr = V_.root[i], &vo = V_.own[i];
    pr.topLeftCorner<3, 3>() = WRt;
    pr.topRightCorner<3, 3>() = d - W * a;
    po.topLeftCorner<3, 3>() = -WRt;
    const Mat3 Wd = skew<double>(Omegad0_);
    qr.topLeftCorner<3, 3>() = Wd * Rt - W * WRt;
    qr.topRightCorner<3, 3>() = skew<double>(w.D2) - W * d - Wd * a - W * Mat3(pr.topRightCorner<3, 3>());
    qo.topLeftCorner<3, 3>() = -Wd * Rt + W * WRt;
    vr.topLeftCorner<3, 3>() = 2 * WRt;
    vr.topRightCorner<3, 3>() = d + skew<double>(w.ud) - W * a;
    vo.topLeftCorner<3, 3>() = -2 * WRt;
    if (!b_->nodes[i].rotations) continue;
    const Mat3 root = -w.Ti.transpose(), own = w.Ti;
    const Mat3 rate = jacobian_rate(w.gamma, w.gammad), half = 0.5 * skew<double>(w.gammad);
    const Mat3 Y2 = right_jacobian_inverse_derivative<double>(w.gamma, w.Omegad) -
                    left_jacobian_inverse_derivative<double>(w.gamma, Omegad0_) + w.Y * w.Y +
                    second_derivative(w.gamma, w.Omega, Omega0_, w.gammad);
    pr.bottomRightCorner<3, 3>() = w.Y * root;
    po.bottomRightCorner<3, 3>() = w.Y * own;
    qr.bottomRightCorner<3, 3>() = Y2 * root;
    qo.bottomRightCorner<3, 3>() = Y2 * own;
    vr.bottomRightCorner<3, 3>() = w.Y * root - (rate - half);
    vo.bottomRightCorner<3, 3>() = w.Y * own + (rate + half);
  }
}

// out += X L; X has the columns of eta.
template <class X, class Out>
void Superelement::times(const X& x, const Lift& lift, Out& out) const {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = b_->nodes[i];
    const int m = node.size();
    out.template leftCols<6>() += x.middleCols(node.first, m).lazyProduct(lift.root[i].topRows(m));
    out.middleCols(node.v, m) += x.middleCols(node.first, m).lazyProduct(lift.own[i].topLeftCorner(m, m));
  }
  if (lift.modes != 0 && b_->modes > 0) out.rightCols(b_->modes) += lift.modes * x.rightCols(b_->modes);
}

// out += L^T X; X has the rows of eta.
template <class X, class Out>
void Superelement::transposed_times(const Lift& lift, const X& x, Out& out) const {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = b_->nodes[i];
    const int m = node.size();
    out.template topRows<6>() += lift.root[i].topRows(m).transpose().lazyProduct(x.middleRows(node.first, m));
    out.middleRows(node.v, m) += lift.own[i].topLeftCorner(m, m).transpose().lazyProduct(x.middleRows(node.first, m));
  }
  if (lift.modes != 0 && b_->modes > 0) out.bottomRows(b_->modes) += lift.modes * x.bottomRows(b_->modes);
}

// K += d(P^T s)/dq
void Superelement::geometric(const double* s, Eigen::Map<Mat>& K) const {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = b_->nodes[i];
    const NodeWork& w = nodes_[i];
    const Mat3 su = skew<double>(as3(s + node.first)), Rsu = R0_ * su;
    K.block<3, 3>(0, 3) += Rsu;
    K.block<3, 3>(node.v, 3) -= Rsu;
    K.block<3, 3>(3, 0) += su * P_.root[i].topLeftCorner<3, 3>();
    K.block<3, 3>(3, 3) += su * P_.root[i].topRightCorner<3, 3>();
    K.block<3, 3>(3, node.v) += su * P_.own[i].topLeftCorner<3, 3>();
    if (!node.rotations) continue;
    const Vec3 sg = as3(s + node.first + 3);
    const Mat3 plus = right_jacobian_inverse_derivative<double>(w.gamma, sg),
               minus = left_jacobian_inverse_derivative<double>(w.gamma, sg);
    const Mat3 root = P_.root[i].bottomRightCorner<3, 3>(), own = P_.own[i].bottomRightCorner<3, 3>();
    K.block<3, 3>(3, 3) -= plus * root;
    K.block<3, 3>(3, node.v + 3) -= plus * own;
    K.block<3, 3>(node.v + 3, 3) += minus * root;
    K.block<3, 3>(node.v + 3, node.v + 3) += minus * own;
  }
}

void Superelement::tangents(const Vec3& gravity, const Vec3* F, const Vec3* N, const double* row_forces, double* Mp,
                            double* Cp, double* Kp) {
  const SuperelementBody& b = *b_;
  const int n = b.n, nv = b.nv, nodes = static_cast<int>(nodes_.size());
  Eigen::Map<Mat> M(Mp, nv, nv), C(Cp, nv, nv), K(Kp, nv, nv);
  update_derivatives();
  for (std::size_t i = 1; i < F_in_.size(); ++i) {
    F_in_[i] = F[static_cast<std::size_t>(nodes) + i];
    N_in_[i] = N[static_cast<std::size_t>(nodes) + i];
  }
  inner_.tangents(gravity, F_in_.data(), N_in_.data(), nullptr, M_in_.data(), C_in_.data(), K_in_.data());
  if (!b.exact) M_in_.bottomRightCorner(n, n) += b.W;

  const auto lifted = [&](const Mat& inner, Mat& out) {  // out += inner Z
    out.leftCols<6>() += inner.leftCols<6>();
    times(inner.rightCols(n), P_, out);
  };
  const auto lowered = [&](const Mat& x, Eigen::Map<Mat>& out) {  // out = Z^T x
    out.setZero();
    out.topRows<6>() = x.topRows<6>();
    transposed_times(P_, x.bottomRows(n), out);
  };
  X_.setZero();
  lifted(M_in_, X_);
  lowered(X_, M);
  X_.setZero();
  lifted(C_in_, X_);
  times(M_in_.rightCols(n), V_, X_);
  lowered(X_, C);
  X_.setZero();
  lifted(K_in_, X_);
  times(C_in_.rightCols(n), Pq_, X_);
  times(M_in_.rightCols(n), Q_, X_);
  lowered(X_, K);

  // Local forces, with the markers' wrenches and the multipliers of the frame's rows.
  local_.setZero();
  inner_.add_forces(gravity, local_.data());
  if (!b.exact) local_.tail(n).noalias() += b.W * etadd_;
  local2_.setZero();
  for (std::size_t i = 1; i < F_in_.size(); ++i)
    if (!F_in_[i].isZero(0.0) || !N_in_[i].isZero(0.0))
      inner_.project(static_cast<int>(i), F_in_[i], N_in_[i], local2_.data());
  local_ -= local2_;
  if (row_forces) local_.tail(n).noalias() -= b.A.transpose() * Eigen::Map<const Vec6>(row_forces);
  geometric(local_.data() + 6, K);
  if (!b.exact) interpolated_tangents(M, C, K);

  // Wrenches on the frame and the nodes, fixed in space.
  const auto fixed = [&](int v, const Mat3& R, const Vec3& force, const Vec3& torque) {
    K.block<3, 3>(v + 3, v) -= skew<double>(R.transpose() * force) * R.transpose();
    K.block<3, 3>(v + 3, v + 3) -= skew<double>(R.transpose() * torque);
  };
  fixed(0, R0_, F[0], N[0]);
  for (int i = 0; i < nodes; ++i)
    if (b.nodes[static_cast<std::size_t>(i)].rotations)
      fixed(b.nodes[static_cast<std::size_t>(i)].v, nodes_[static_cast<std::size_t>(i)].R, F[1 + i], N[1 + i]);
}

// V-9. B is (R0^T, Lambda_i, 1) on the nodes and modes, and zero on the frame.
void Superelement::interpolated_tangents(Eigen::Map<Mat>& M, Eigen::Map<Mat>& C, Eigen::Map<Mat>& K) {
  const SuperelementBody& b = *b_;
  const Mat& Mb = b.reduced->M;
  const int n = b.n, vectors = b.first_mode / 3;
  for (double& x : inertia_scratch_) x = 0;
  interpolated_forces(inertia_scratch_.data());  // pi, h
  const Mat3 W = skew<double>(Omega0_);

  // Of each boundary 3-vector: where it is in v, its turn into the frame's axes, and whether it is a rotation.
  const auto turn = [&](int k) -> const Vector3Block& { return vector_blocks_[static_cast<std::size_t>(k)]; };
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = b.nodes[i];
    vector_blocks_[static_cast<std::size_t>(node.first / 3)] = {node.v, R0_.transpose(), nullptr};
    if (node.rotations)
      vector_blocks_[static_cast<std::size_t>(node.first / 3 + 1)] = {node.v + 3, nodes_[i].Lambda, &nodes_[i]};
  }

  // S = dh/dnu
  for (int j = 0; j < n; ++j)
    for (int k = 0; k < vectors; ++k) S_.col(j).segment<3>(3 * k) = Omega0_.cross(Vec3(Mb.col(j).segment<3>(3 * k)));
  S_.bottomRows(b.modes).setZero();
  for (int k = 0; k < vectors; ++k) S_.middleCols<3>(3 * k) -= Mb.middleCols<3>(3 * k).lazyProduct(W);
  for (int k = 0; k < vectors; ++k) {
    if (!turn(k).node) continue;
    S_.block<3, 3>(3 * k, 3 * k) += skew<double>(pi_.segment<3>(3 * k));
    S_.middleRows<3>(3 * k) -= skew<double>(nu_.segment<3>(3 * k)).lazyProduct(Mb.middleRows<3>(3 * k));
  }
  // R = d(sum nu x pi)/dnu: 3 x n
  Mat& R = frame_row_;
  R.setZero();
  for (int k = 0; k < vectors; ++k) {
    R.middleCols<3>(3 * k) -= skew<double>(pi_.segment<3>(3 * k));
    R += skew<double>(nu_.segment<3>(3 * k)).lazyProduct(Mb.middleRows<3>(3 * k));
  }

  // Columns of the frame's rotation in the axes of the frame: C (C0), K (K0); n x 3.
  Mat &C0 = frame_C_, &K0 = frame_K_;
  C0.setZero();
  K0.setZero();
  for (int k = 0; k < vectors; ++k) {
    const Mat3 nu = skew<double>(nu_.segment<3>(3 * k)), alpha = skew<double>(alpha_.segment<3>(3 * k));
    C0.middleRows<3>(3 * k) -= skew<double>(pi_.segment<3>(3 * k));
    C0 += Mb.middleCols<3>(3 * k).lazyProduct(nu);
    K0 += Mb.middleCols<3>(3 * k).lazyProduct(alpha);
    K0 += S_.middleCols<3>(3 * k).lazyProduct(nu);
    K0.middleRows<3>(3 * k) -= skew<double>(h_.segment<3>(3 * k));
    K.block<3, 3>(3, 3) += R.middleCols<3>(3 * k).lazyProduct(nu);
  }
  // Rows turned back by B^T.
  const auto put = [&](const auto& column, int col, int cols, Eigen::Map<Mat>& out) {
    for (int k = 0; k < vectors; ++k)
      out.block(turn(k).v, col, 3, cols) += turn(k).turn.transpose().lazyProduct(column.middleRows(3 * k, 3));
    if (b.modes > 0) out.block(b.v_mode, col, b.modes, cols) += column.bottomRows(b.modes);
  };
  put(C0, 3, 3, C);
  put(K0, 3, 3, K);
  Mat& X = block_column_;  // n x 3
  for (int j = 0; j < vectors; ++j) {
    const Vector3Block& t = turn(j);
    X = Mb.middleCols<3>(3 * j).lazyProduct(t.turn);
    put(X, t.v, 3, M);
    X = S_.middleCols<3>(3 * j).lazyProduct(t.turn);
    put(X, t.v, 3, C);
    C.block<3, 3>(3, t.v) += R.middleCols<3>(3 * j).lazyProduct(t.turn);
    if (!t.node) continue;
    // Turning the node turns nu_gamma and alpha_gamma with it.
    const Mat3 nu = -t.turn * skew<double>(t.node->Omega), alpha = -t.turn * skew<double>(t.node->Omegad);
    X = Mb.middleCols<3>(3 * j).lazyProduct(alpha);
    X += S_.middleCols<3>(3 * j).lazyProduct(nu);
    put(X, t.v, 3, K);
    K.block<3, 3>(3, t.v) += R.middleCols<3>(3 * j).lazyProduct(nu);
    K.block<3, 3>(t.v, t.v) += skew<double>(t.turn.transpose() * h_.segment<3>(3 * j));
  }
  for (int j = 0; j < b.modes; ++j) {
    put(Mb.middleCols<1>(b.first_mode + j), b.v_mode + j, 1, M);
    put(S_.middleCols<1>(b.first_mode + j), b.v_mode + j, 1, C);
    C.block<3, 1>(3, b.v_mode + j) += R.col(b.first_mode + j);
  }
}

void Superelement::point(int link, const Vec3& at, PointColumns& out) const {
  const int nodes = static_cast<int>(nodes_.size());
  if (link <= nodes) {
    const Node* node = link > 0 ? &b_->nodes[static_cast<std::size_t>(link - 1)] : nullptr;
    out.n = node ? node->size() : 6;
    for (auto* m : {&out.J, &out.Zq, &out.Aq, &out.Av}) m->leftCols(out.n).setZero();
    out.J.topLeftCorner<3, 3>().setIdentity();
    if (out.n == 3) return;
    const NodeWork* work = node ? &nodes_[static_cast<std::size_t>(link - 1)] : nullptr;
    const Mat3& R = work ? work->R : R0_;
    const Vec3 w = R * (work ? work->Omega : Omega0_), alpha = R * (work ? work->Omegad : Omegad0_);
    const Vec3 rho = at - (work ? Vec3(x0_ + R0_ * work->a) : x0_);
    const Vec3 wr = w.cross(rho);
    for (int k = 0; k < 3; ++k) {
      const Vec3 e = R.col(k), dr = e.cross(rho), dw = e.cross(w), dal = e.cross(alpha);
      out.J.col(3 + k) << dr, e;
      out.Zq.col(3 + k) << dw.cross(rho) + w.cross(dr), dw;
      out.Aq.col(3 + k) << dal.cross(rho) + alpha.cross(dr) + dw.cross(wr) + w.cross(dw.cross(rho) + w.cross(dr)), dal;
      out.Av.col(3 + k) << e.cross(wr) + w.cross(dr), Vec3::Zero();
    }
    return;
  }
  const int n = b_->n;
  inner_.point(link - nodes, at, point_);
  out.n = b_->nv;
  const auto compose = [&](const auto& frame, Eigen::Matrix<double, 6, Eigen::Dynamic>& to) {
    to.leftCols(out.n).setZero();
    to.leftCols<6>() = frame.template leftCols<6>();
    auto whole = to.leftCols(out.n);
    times(frame.middleCols(6, n), P_, whole);
  };
  const auto J = point_.J.middleCols(6, n), Av = point_.Av.middleCols(6, n);
  compose(point_.J, out.J);
  compose(point_.Zq, out.Zq);
  compose(point_.Aq, out.Aq);
  compose(point_.Av, out.Av);
  auto Zq = out.Zq.leftCols(out.n), Aq = out.Aq.leftCols(out.n), Av_out = out.Av.leftCols(out.n);
  times(J, Pq_, Zq);
  times(Av, Pq_, Aq);
  times(J, Q_, Aq);
  times(J, V_, Av_out);
}

void Superelement::row_tangent(int i, double* g, double* zq, double* aq, double* av) const {
  Eigen::Map<Vec>(local_.data(), b_->n) = b_->A.row(i).transpose();
  const auto put = [&](const Lift& lift, double* out) {
    Eigen::Map<Vec>(out, b_->nv).setZero();
    apply_transposed(lift, local_.data(), out);
  };
  put(P_, g);
  put(Pq_, zq);
  put(Q_, aq);
  put(V_, av);
}

}  // namespace clatter
