#include "engine/superelement.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cstring>

#include "base/rotation.hpp"

namespace clatter {

namespace {

Eigen::Map<Vec3> as3(double* x) { return Eigen::Map<Vec3>(x); }
Eigen::Map<const Vec3> as3(const double* x) { return Eigen::Map<const Vec3>(x); }

// Rigid motions of the boundary nodes: columns translation, rotation.
Mat rigid_motions(const ReducedBody& r) {
  Mat tau = Mat::Zero(r.n, 6);
  for (const BoundaryNode& node : r.boundary) {
    tau.block<3, 3>(node.first, 0).setIdentity();
    tau.block<3, 3>(node.first, 3) = -skew<double>(node.X);
    if (node.rotations) tau.block<3, 3>(node.first + 3, 3).setIdentity();
  }
  return tau;
}

// Rows A of V-11, scaled so that a rigid displacement eta = tau x gives x.
Mat frame_rows(const ReducedBody& r, const SuperelementOptions& options) {
  const Mat tau = rigid_motions(r);
  Mat A = Mat::Zero(6, r.n);
  switch (options.frame) {
    case SuperelementOptions::Frame::full_momentum:
      A = tau.transpose() * r.M;
      break;
    case SuperelementOptions::Frame::boundary_mass: {
      int boundary = 0;
      for (const BoundaryNode& node : r.boundary) boundary += node.rotations ? 6 : 3;
      A.leftCols(boundary) = tau.topRows(boundary).transpose() * r.M.topLeftCorner(boundary, boundary);
      break;
    }
    case SuperelementOptions::Frame::node: {
      for (const BoundaryNode& node : r.boundary)
        if (node.name == options.node)
          for (int k = 0; k < (node.rotations ? 6 : 3); ++k) A(k, node.first + k) = 1;
      break;
    }
    case SuperelementOptions::Frame::weighted_mean: {
      double square = 0;
      Vec3 centre = Vec3::Zero();
      for (const BoundaryNode& node : r.boundary) centre += node.X / static_cast<double>(r.boundary.size());
      for (const BoundaryNode& node : r.boundary)
        square += (node.X - centre).squaredNorm() / static_cast<double>(r.boundary.size());
      for (const BoundaryNode& node : r.boundary) {
        A.block<3, 3>(0, node.first).setIdentity();
        A.block<3, 3>(3, node.first) = skew<double>(node.X);
        if (node.rotations) A.block<3, 3>(3, node.first + 3) = square * Mat3::Identity();
      }
      break;
    }
  }
  const Eigen::FullPivLU<Mat6> lu(Mat6(A * tau));
  if (!lu.isInvertible()) return {};
  return lu.solve(A);
}

}  // namespace

SuperelementBody::SuperelementBody(std::shared_ptr<const ReducedBody> body, const SuperelementOptions& options)
    : reduced(std::move(body)), exact(options.exact_inertia), n(reduced->n) {
  const ReducedBody& r = *reduced;
  q_mode = 7;
  v_mode = 6;
  first_mode = 0;
  for (const BoundaryNode& node : r.boundary) {
    nodes.push_back({node.X, node.first, node.rotations, q_mode, v_mode});
    q_mode += node.rotations ? 7 : 3;
    v_mode += nodes.back().size();
    first_mode += nodes.back().size();
  }
  modes = n - first_mode;
  nq = q_mode + modes;
  nv = v_mode + modes;
  A = frame_rows(r, options);
  if (A.size() == 0) return;  // the compiler says so
  D.setZero();
  D.topLeftCorner<3, 3>() = r.mass * Mat3::Identity();
  D.bottomRightCorner<3, 3>() = r.J0;
  D_inverse = D.inverse();
  W = A.transpose() * D * A;
  auto local = std::make_shared<ReducedBody>(r);
  if (exact) {
    local->M += W;
  } else {
    for (Mat& m : local->E0) m.setZero();
    for (Mat& m : local->E) m.setZero();
    local->M.setIdentity();
    local->stiffening.clear();
    M_cholesky = r.M.llt().matrixL();
  }
  inner = std::make_unique<const FlexibleBody>(local);
}

std::unique_ptr<BlockWork> SuperelementBlock::make_work() const { return std::make_unique<Superelement>(*body_); }

Superelement::Superelement(const SuperelementBody& body)
    : b_(&body),
      inner_(*body.inner, 0, body.exact),
      inner_motion_(body.reduced->markers.size() + 1),
      nodes_(body.nodes.size()) {
  const int n = body.n, nv = body.nv;
  q_in_.setZero(7 + n);
  for (Vec* v : {&v_in_, &a_in_, &local_, &local2_}) v->setZero(6 + n);
  for (Vec* v : {&eta_, &etad_, &etadd_, &nu_, &alpha_, &pi_, &h_, &scratch_}) v->setZero(n);
  for (Lift* lift : {&P_, &Pq_, &Q_, &V_}) {
    lift->root.assign(nodes_.size(), Mat6::Zero());
    lift->own.assign(nodes_.size(), Mat6::Zero());
    lift->modes = 0;
  }
  P_.modes = 1;
  for (Mat* m : {&M_in_, &C_in_, &K_in_}) m->setZero(6 + n, 6 + n);
  X_.setZero(6 + n, nv);
  S_.setZero(n, n);
  frame_row_.setZero(3, n);
  for (Mat* m : {&frame_C_, &frame_K_, &block_column_}) m->setZero(n, 3);
  vector_blocks_.resize(static_cast<std::size_t>(body.first_mode / 3));
  inertia_scratch_.resize(static_cast<std::size_t>(nv));
  point_.reserve(6 + n);
  F_in_.assign(inner_motion_.size(), Vec3::Zero());
  N_in_.assign(inner_motion_.size(), Vec3::Zero());
}

void Superelement::assign(const BlockWork& other) { *this = static_cast<const Superelement&>(other); }

// --- operators from velocities to local coordinates -----------------------------------------------------------------

void Superelement::apply(const Lift& lift, const double* v, double* eta) const {
  const Eigen::Map<const Vec6> root(v);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = b_->nodes[i];
    if (node.rotations)
      Eigen::Map<Vec6>(eta + node.first) = lift.root[i] * root + lift.own[i] * Eigen::Map<const Vec6>(v + node.v);
    else
      as3(eta + node.first) = lift.root[i].topRows<3>() * root + lift.own[i].topLeftCorner<3, 3>() * as3(v + node.v);
  }
  for (int k = 0; k < b_->modes; ++k) eta[b_->first_mode + k] = lift.modes * v[b_->v_mode + k];
}

void Superelement::apply_transposed(const Lift& lift, const double* s, double* tau) const {
  Eigen::Map<Vec6> root(tau);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = b_->nodes[i];
    if (node.rotations) {
      const Eigen::Map<const Vec6> si(s + node.first);
      root += lift.root[i].transpose() * si;
      Eigen::Map<Vec6>(tau + node.v) += lift.own[i].transpose() * si;
    } else {
      root += lift.root[i].topRows<3>().transpose() * as3(s + node.first);
      as3(tau + node.v) += lift.own[i].topLeftCorner<3, 3>().transpose() * as3(s + node.first);
    }
  }
  for (int k = 0; k < b_->modes; ++k) tau[b_->v_mode + k] += lift.modes * s[b_->first_mode + k];
}

void Superelement::update_P() {
  const Mat3 Rt = R0_.transpose();
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    P_.root[i].topLeftCorner<3, 3>() = -Rt;
    P_.root[i].topRightCorner<3, 3>() = skew<double>(nodes_[i].a);
    P_.own[i].topLeftCorner<3, 3>() = Rt;
    if (!b_->nodes[i].rotations) continue;
    P_.root[i].bottomRightCorner<3, 3>() = -nodes_[i].Ti.transpose();
    P_.own[i].bottomRightCorner<3, 3>() = nodes_[i].Ti;
  }
}

// --- sweeps ----------------------------------------------------------------------------------------------------------

void Superelement::watch(int link, bool on) {
  const int nodes = static_cast<int>(nodes_.size());
  if (link > nodes) inner_.watch(link - nodes, on);
}

void Superelement::kinematics(const double* q, const double* v, LinkMotion* motion) {
  free_motion(Mobility::free6, 0, q, v, motion[0]);
  R0_ = motion[0].R;
  x0_ = motion[0].p;
  V0_ = motion[0].v;
  Omega0_ = as3(v + 3);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = b_->nodes[i];
    NodeWork& w = nodes_[i];
    LinkMotion& m = motion[1 + i];
    if (node.rotations) {
      free_motion(Mobility::free6, 0, q + node.q, v + node.v, m);
      w.R = m.R;
      w.Lambda = R0_.transpose() * m.R;
      w.Omega = as3(v + node.v + 3);
      const Quat frame(q[3], q[4], q[5], q[6]), own(q[node.q + 3], q[node.q + 4], q[node.q + 5], q[node.q + 6]);
      w.gamma = rotation_log<double>(Quat(frame.conjugate() * own));
      w.Ti = right_jacobian_inverse<double>(w.gamma);
      as3(eta_.data() + node.first + 3) = w.gamma;
    } else {
      m.p = as3(q + node.q);
      m.v = as3(v + node.v);
      m.R.setIdentity();
      m.w.setZero();
    }
    w.a = R0_.transpose() * (m.p - x0_);
    w.d = R0_.transpose() * (m.v - V0_);
    as3(eta_.data() + node.first) = w.a - node.X;
  }
  for (int k = 0; k < b_->modes; ++k) eta_[b_->first_mode + k] = q[b_->q_mode + k];
  update_P();
  apply(P_, v, etad_.data());
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = b_->nodes[i];
    NodeWork& w = nodes_[i];
    w.ud = as3(etad_.data() + node.first);
    as3(nu_.data() + node.first) = R0_.transpose() * motion[1 + i].v;
    if (!node.rotations) continue;
    w.gammad = as3(etad_.data() + node.first + 3);
    w.Y = right_jacobian_inverse_derivative<double>(w.gamma, w.Omega) -
          left_jacobian_inverse_derivative<double>(w.gamma, Omega0_);
    as3(nu_.data() + node.first + 3) = w.Lambda * w.Omega;
  }
  nu_.tail(b_->modes) = etad_.tail(b_->modes);
  std::memcpy(q_in_.data(), q, 7 * sizeof(double));
  q_in_.tail(b_->n) = eta_;
  std::memcpy(v_in_.data(), v, 6 * sizeof(double));
  v_in_.tail(b_->n) = etad_;
  inner_.kinematics(q_in_.data(), v_in_.data(), inner_motion_.data());
  for (std::size_t i = 1; i < inner_motion_.size(); ++i) motion[nodes_.size() + i] = inner_motion_[i];
}

void Superelement::accelerations(const double* qdd) {
  A0_ = qdd ? Vec3(as3(qdd)) : Vec3(Vec3::Zero());
  Omegad0_ = qdd ? Vec3(as3(qdd + 3)) : Vec3(Vec3::Zero());
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = b_->nodes[i];
    NodeWork& w = nodes_[i];
    w.A = qdd ? Vec3(as3(qdd + node.v)) : Vec3(Vec3::Zero());
    w.D2 = R0_.transpose() * (w.A - A0_);
    // u'' = R0^T (x'' - x0'') - Omega x d - Omega' x a - Omega x u'
    as3(etadd_.data() + node.first) = w.D2 - Omega0_.cross(w.d + w.ud) - Omegad0_.cross(w.a);
    as3(alpha_.data() + node.first) = R0_.transpose() * w.A;
    if (!node.rotations) continue;
    w.Omegad = qdd ? Vec3(as3(qdd + node.v + 3)) : Vec3(Vec3::Zero());
    as3(etadd_.data() + node.first + 3) = w.Ti * w.Omegad - w.Ti.transpose() * Omegad0_ + w.Y * w.gammad;
    as3(alpha_.data() + node.first + 3) = w.Lambda * w.Omegad;
  }
  for (int k = 0; k < b_->modes; ++k)
    etadd_[b_->first_mode + k] = alpha_[b_->first_mode + k] = qdd ? qdd[b_->v_mode + k] : 0;
  a_in_.head<3>() = A0_;
  a_in_.segment<3>(3) = Omegad0_;
  a_in_.tail(b_->n) = etadd_;
  inner_.accelerations(a_in_.data());
}

void Superelement::link_accelerations(LinkMotion* motion) {
  motion[0].a = A0_;
  motion[0].alpha = R0_ * Omegad0_;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    LinkMotion& m = motion[1 + i];
    m.a = nodes_[i].A;
    if (b_->nodes[i].rotations)
      m.alpha = nodes_[i].R * nodes_[i].Omegad;
    else
      m.alpha.setZero();
  }
  inner_.link_accelerations(inner_motion_.data());
  for (std::size_t i = 1; i < inner_motion_.size(); ++i) motion[nodes_.size() + i] = inner_motion_[i];
}

void Superelement::project(int link, const Vec3& F, const Vec3& N, double* tau) const {
  const int nodes = static_cast<int>(nodes_.size());
  if (link == 0) {
    as3(tau) += F;
    as3(tau + 3) += R0_.transpose() * N;
  } else if (link <= nodes) {
    const Node& node = b_->nodes[static_cast<std::size_t>(link - 1)];
    as3(tau + node.v) += F;
    if (node.rotations) as3(tau + node.v + 3) += nodes_[static_cast<std::size_t>(link - 1)].R.transpose() * N;
  } else {
    local_.setZero();
    inner_.project(link - nodes, F, N, local_.data());
    Eigen::Map<Vec6>(tau) += local_.head<6>();
    apply_transposed(P_, local_.data() + 6, tau);
  }
}

void Superelement::add_forces(const Vec3& gravity, double* r) {
  local_.setZero();
  inner_.add_forces(gravity, local_.data());
  if (!b_->exact) {
    local_.tail(b_->n).noalias() += b_->W * etadd_;
    interpolated_forces(r);
  }
  Eigen::Map<Vec6>(r) += local_.head<6>();
  apply_transposed(P_, local_.data() + 6, r);
}

// V-9: h = M alpha + W M nu - M W nu - {nu_gamma x pi_gamma}, W nu = Omega0 x nu block by block.
void Superelement::interpolated_forces(double* r) {
  const Mat& M = b_->reduced->M;
  pi_.noalias() = M * nu_;
  const auto turned = [&](const Vec& x, Vec& out) {
    for (int k = 0; k < b_->first_mode; k += 3) as3(out.data() + k) = Omega0_.cross(as3(x.data() + k));
    out.tail(b_->modes).setZero();
  };
  turned(nu_, scratch_);
  scratch_ = alpha_ - scratch_;
  h_.noalias() = M * scratch_;
  turned(pi_, scratch_);
  h_ += scratch_;
  Vec3 frame = Vec3::Zero();
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = b_->nodes[i];
    frame += as3(nu_.data() + node.first).cross(as3(pi_.data() + node.first));
    as3(r + node.v) += R0_ * as3(h_.data() + node.first);
    if (!node.rotations) continue;
    const Vec3 own = as3(nu_.data() + node.first + 3).cross(as3(pi_.data() + node.first + 3));
    frame += own;
    as3(h_.data() + node.first + 3) -= own;
    as3(r + node.v + 3) += nodes_[i].Lambda.transpose() * as3(h_.data() + node.first + 3);
  }
  as3(r + 3) += frame;
  for (int k = 0; k < b_->modes; ++k) r[b_->v_mode + k] += h_[b_->first_mode + k];
}

// --- mass ------------------------------------------------------------------------------------------------------------

void Superelement::factorize_mass() {
  if (b_->exact) {
    inner_.factorize_mass();
    return;
  }
  G0_.setZero();
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = b_->nodes[i];
    if (node.rotations)
      G0_.noalias() += b_->A.middleCols<6>(node.first) * P_.root[i];
    else
      G0_.noalias() += b_->A.middleCols<3>(node.first) * P_.root[i].topRows<3>();
  }
  G0_lu_.compute(G0_);
}

void Superelement::solve_mass(const double* rhs, double* x) const {
  const SuperelementBody& b = *b_;
  const Vec6 b0 = Eigen::Map<const Vec6>(rhs);
  double* y = local_.data() + 6;  // over eta
  if (b.exact) {
    // Z^T y = rhs, inner M z = y, Z x = z with Z = (1 0; P_0 P_n)
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const Node& node = b.nodes[i];
      as3(y + node.first) = R0_.transpose() * as3(rhs + node.v);
      if (node.rotations)
        as3(y + node.first + 3) = right_jacobian<double>(nodes_[i].gamma).transpose() * as3(rhs + node.v + 3);
    }
    for (int k = 0; k < b.modes; ++k) y[b.first_mode + k] = rhs[b.v_mode + k];
    local_.head<6>() = b0;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const Node& node = b.nodes[i];
      if (node.rotations)
        local_.head<6>() -= P_.root[i].transpose() * Eigen::Map<const Vec6>(y + node.first);
      else
        local_.head<6>() -= P_.root[i].topRows<3>().transpose() * as3(y + node.first);
    }
    inner_.solve_mass(local_.data(), local2_.data());
    const Vec6 z0 = local2_.head<6>();
    const double* z = local2_.data() + 6;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const Node& node = b.nodes[i];
      const Vec6 frame = P_.root[i] * z0;
      as3(x + node.v) = R0_ * (as3(z + node.first) - frame.head<3>());
      if (node.rotations)
        as3(x + node.v + 3) = right_jacobian<double>(nodes_[i].gamma) * (as3(z + node.first + 3) - frame.tail<3>());
    }
    for (int k = 0; k < b.modes; ++k) x[b.v_mode + k] = z[b.first_mode + k];
    Eigen::Map<Vec6> root(x);
    root = z0;
    return;
  }
  // y = D G x: G_0^T y = b_0, M_n x_n = b_n - G_n^T y, x_0 = G_0^-1 (D^-1 y - G_n x_n)
  const Vec6 reaction = G0_lu_.transpose().solve(b0);
  Eigen::Map<Vec> s(y, b.n);
  s.noalias() = b.A.transpose() * reaction;
  // In the frame's axes M_n is M: with P_n^T s = (R0 s_u, T^-T s_gamma), Lambda T^-T = T^-1 and so on stays explicit.
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = b.nodes[i];
    as3(y + node.first) = R0_.transpose() * as3(rhs + node.v) - as3(y + node.first);
    if (node.rotations)
      as3(y + node.first + 3) =
          nodes_[i].Lambda * (as3(rhs + node.v + 3) - nodes_[i].Ti.transpose() * as3(y + node.first + 3));
  }
  for (int k = 0; k < b.modes; ++k) y[b.first_mode + k] = rhs[b.v_mode + k] - y[b.first_mode + k];
  b.M_cholesky.triangularView<Eigen::Lower>().solveInPlace(s);
  b.M_cholesky.transpose().triangularView<Eigen::Upper>().solveInPlace(s);
  Eigen::Map<Vec> own(local2_.data() + 6, b.n);  // P_n x_n
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = b.nodes[i];
    as3(x + node.v) = R0_ * as3(y + node.first);
    as3(own.data() + node.first) = as3(y + node.first);
    if (!node.rotations) continue;
    as3(x + node.v + 3) = nodes_[i].Lambda.transpose() * as3(y + node.first + 3);
    as3(own.data() + node.first + 3) = nodes_[i].Ti * as3(x + node.v + 3);
  }
  for (int k = 0; k < b.modes; ++k) x[b.v_mode + k] = own[b.first_mode + k] = y[b.first_mode + k];
  Vec6 left = b.D_inverse * reaction;
  left.noalias() -= b.A * own;
  Eigen::Map<Vec6> root(x);
  root = G0_lu_.solve(left);
}

// --- balances --------------------------------------------------------------------------------------------------------

double Superelement::kinetic_energy() {
  if (b_->exact) {
    const Vec6 slip = b_->A * etad_;
    return inner_.kinetic_energy() - 0.5 * slip.dot(b_->D * slip);
  }
  pi_.noalias() = b_->reduced->M * nu_;
  return 0.5 * nu_.dot(pi_);
}

Momenta Superelement::momenta() {
  if (b_->exact) return inner_.momenta();
  Momenta m = inner_.momenta();
  pi_.noalias() = b_->reduced->M * nu_;
  m.linear.setZero();
  m.angular.setZero();
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = b_->nodes[i];
    const Vec3 p = R0_ * as3(pi_.data() + node.first);
    m.linear += p;
    m.angular += (R0_ * nodes_[i].a).cross(p);
    if (node.rotations) m.angular += R0_ * as3(pi_.data() + node.first + 3);
  }
  return m;
}

RowValue Superelement::row(int i) const {
  return {b_->A.row(i).dot(eta_), b_->A.row(i).dot(etad_), b_->A.row(i).dot(etadd_)};
}

void Superelement::row_gradient(int i, double factor, double* g) const {
  Eigen::Map<Vec>(local_.data(), b_->n) = factor * b_->A.row(i).transpose();
  apply_transposed(P_, local_.data(), g);
}

}  // namespace clatter
