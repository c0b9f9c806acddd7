#include "engine/floating_frame.hpp"

#include <cmath>

#include "base/jet.hpp"
#include "base/rotation.hpp"
#include "engine/marker_rotation.hpp"
#include "engine/padded.hpp"
#include "engine/tree.hpp"

namespace clatter {

namespace {

using padded::combine;
using padded::dots;

Eigen::Map<Vec3> as3(double* x) { return Eigen::Map<Vec3>(x); }

Vec3 dots3(const Mat& A, const Vec& x) {
  Vec3 out;
  dots<3>(A.data(), static_cast<int>(A.rows()), x.data(), out.data());
  return out;
}

// Adds the components that a field has to the columns of `out`.
void scatter(const FieldMatrices& field, int stride, const double* product, Mat& out) {
  for (std::size_t i = 0; i < field.component.size(); ++i) {
    static constexpr double one = 1;
    combine<1>(product + static_cast<int>(i) * stride, stride, &one, out.col(field.component[i]).data());
  }
}

// A = -B^T B for six padded columns.
void gram(const double* B, int stride, Mat6& A) {
  double first[3], second[6];
  for (int c = 0; c < 3; ++c) {
    dots<3>(B, stride, B + c * stride, first);
    dots<6>(B, stride, B + (3 + c) * stride, second);
    for (int r = 0; r < 3; ++r) {
      A(r, c) = -first[r];
      A(3 + r, 3 + c) = -second[3 + r];
      A(r, 3 + c) = A(3 + c, r) = -second[r];
    }
  }
}

// Inverse of a symmetric positive definite matrix by L L^T = A, X = L^-1, A^-1 = X^T X; false when A is none. Loops of
// fixed length, which the compiler unrolls.
bool invert(const Mat6& A, Mat6& out) {
  double L[6][6], X[6][6] = {};
  for (int j = 0; j < 6; ++j) {
    double d = A(j, j);
    for (int k = 0; k < j; ++k) d -= L[j][k] * L[j][k];
    if (!(d > 0)) return false;
    const double root = 1 / std::sqrt(d);
    X[j][j] = root;  // 1/L(j, j)
    for (int i = j + 1; i < 6; ++i) {
      double s = A(i, j);
      for (int k = 0; k < j; ++k) s -= L[i][k] * L[j][k];
      L[i][j] = s * root;
    }
  }
  for (int j = 0; j < 6; ++j)
    for (int i = j + 1; i < 6; ++i) {
      double s = 0;
      for (int k = j; k < i; ++k) s -= L[i][k] * X[k][j];
      X[i][j] = s * X[i][i];
    }
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j <= i; ++j) {
      double s = 0;
      for (int k = i; k < 6; ++k) s += X[k][i] * X[k][j];
      out(i, j) = out(j, i) = s;
    }
  return true;
}

}  // namespace

MassNotPositive::MassNotPositive(const BlockWork* of, const std::string& name, double t)
    : SolveError("mass-not-positive", t, name.empty() ? std::vector<std::string>{} : std::vector<std::string>{name},
                 "the mass matrix of " + (name.empty() ? "a flexible body" : "the flexible body `" + name + "`") +
                     " is not positive definite: it is deflected further than its stiffening, which is exact to second "
                     "order in the deflection only, can bear in the frame it has",
                 "take `reference: mean-axes` or fewer modes, or cut the body into several"),
      block(of) {}

std::unique_ptr<BlockWork> FloatingFrameBlock::make_work() const {
  return std::make_unique<FloatingFrame>(*body_, level_);
}

FloatingFrame::FloatingFrame(const FlexibleBody& body, double level, bool inertial)
    : b_(&body),
      level_(level),
      inertial_(inertial),
      nr_(body.planar ? 3 : 6),
      eta_(Vec::Zero(body.stride)),
      etad_(Vec::Zero(body.stride)),
      etadd_(Vec::Zero(body.stride)),
      markers_(body.markers.size()),
      Ds_(body.stride, 6),
      H_(body.stride, 3),
      Hd_(body.stride, 3),
      product_(6 * body.stride),
      product2_(6 * body.stride),
      tangent_products_(9 * body.stride),
      rest_(Vec::Zero(body.stride)),
      rest2_(Vec::Zero(body.stride)),
      force_(body.stride),
      B_(body.stride, 6),
      solution_(Vec::Zero(body.stride)) {
  if (body.stiffens)
    for (Mat* m : {&N_, &nd_, &Yd_}) m->resize(body.stride, 3);
  for (std::size_t i = 0; i < markers_.size(); ++i)
    if (body.markers[i].second[0].size() > 0)
      for (Mat* m : {&markers_[i].S, &markers_[i].second_d}) m->setZero(body.stride, 3);
}

void FloatingFrame::assign(const BlockWork& other) { *this = static_cast<const FloatingFrame&>(other); }

void FloatingFrame::kinematics(const double* q, const double* v, LinkMotion* motion) {
  const FlexibleBody& b = *b_;
  free_motion(b.planar ? Mobility::planar3 : Mobility::free6, level_, q, v, motion[0]);
  x0_ = motion[0].p;
  R_ = motion[0].R;
  const int nq = b.planar ? 3 : 7;
  std::memcpy(eta_.data(), q + nq, sizeof(double) * static_cast<std::size_t>(b.n));
  std::memcpy(etad_.data(), v + nr_, sizeof(double) * static_cast<std::size_t>(b.n));
  V_ = R_.transpose() * motion[0].v;
  Omega_ = b.planar ? Vec3(0, 0, v[2]) : Vec3(v[3], v[4], v[5]);
  fresh_ = false;
  for (std::size_t i = 0; i < markers_.size(); ++i) {
    const FlexibleMarker& marker = b.markers[i];
    MarkerWork& w = markers_[i];
    LinkMotion& m = motion[i + 1];
    if (marker.second[0].size() > 0) {
      // u = (S + 1/2 second eta) eta,  du/dt = (S + second eta) eta'
      for (int c = 0; c < 3; ++c) {
        w.S.col(c).noalias() = marker.second[c] * eta_;
        w.second_d.col(c).noalias() = marker.second[c] * etad_;
      }
      w.a = marker.X + dots3(marker.S, eta_) + 0.5 * dots3(w.S, eta_);
      w.udd_bias = dots3(w.second_d, etad_);
      w.S += marker.S;
      w.ud = dots3(w.S, etad_);
    } else {
      w.a = marker.X + dots3(marker.S, eta_);
      w.ud = dots3(marker.S, etad_);
      w.udd_bias.setZero();
    }
    m.p = x0_ + R_ * w.a;
    m.v = motion[0].v + R_ * (Omega_.cross(w.a) + w.ud);
    if (marker.Psi.size() == 0) {
      m.R.noalias() = R_ * marker.R;
      m.w = motion[0].w;
      continue;
    }
    w.psi = dots3(marker.Psi, eta_);
    w.psid = dots3(marker.Psi, etad_);
    w.Gamma = right_jacobian<double>(w.psi).transpose();
    w.w = w.Gamma * w.psid;
    m.R.noalias() = R_ * rotation_exp<double>(w.psi) * marker.R;
    m.w = R_ * (Omega_ + w.w);
  }
}

void FloatingFrame::accelerations(const double* qdd, LinkMotion* motion) {
  const FlexibleBody& b = *b_;
  moving_ = qdd != nullptr;
  if (moving_) {
    const Vec3 a = b.planar ? Vec3(qdd[0], qdd[1], 0) : Vec3(qdd[0], qdd[1], qdd[2]);
    A_ = R_.transpose() * a;
    Omegad_ = b.planar ? Vec3(0, 0, qdd[2]) : Vec3(qdd[3], qdd[4], qdd[5]);
    std::memcpy(etadd_.data(), qdd + nr_, sizeof(double) * static_cast<std::size_t>(b.n));
    motion[0].a = a;
    motion[0].alpha = R_ * Omegad_;
  } else {
    A_.setZero();
    Omegad_.setZero();
    etadd_.setZero();
    motion[0].a.setZero();
    motion[0].alpha.setZero();
  }
  for (std::size_t i = 0; i < markers_.size(); ++i) {
    const FlexibleMarker& marker = b.markers[i];
    MarkerWork& w = markers_[i];
    LinkMotion& m = motion[i + 1];
    Vec3 local = Omegad_.cross(w.a) + Omega_.cross(Omega_.cross(w.a) + 2 * w.ud) + w.udd_bias;
    if (moving_) local += dots3(S_of(static_cast<int>(i)), etadd_);
    m.a = motion[0].a + R_ * local;
    if (marker.Psi.size() == 0) {
      m.alpha = motion[0].alpha;
      continue;
    }
    const Vec3 psidd = moving_ ? dots3(marker.Psi, etadd_) : Vec3(Vec3::Zero());
    Vec3 spin;
    marker_spin<double>(w.psi, w.psid, psidd, spin, w.wd);
    m.alpha = R_ * (Omegad_ + w.wd + Omega_.cross(w.w));
  }
}

void FloatingFrame::project(int link, const Vec3& F, const Vec3& N, double* tau) const {
  const Vec3 f = R_.transpose() * F, n = R_.transpose() * N;
  const Vec3 moment = link == 0 ? n : Vec3(n + markers_[link - 1].a.cross(f));
  if (b_->planar) {
    tau[0] += F.x();
    tau[1] += F.y();
    tau[2] += moment.z();
  } else {
    as3(tau) += F;
    as3(tau + 3) += moment;
  }
  if (link == 0) return;
  Eigen::Map<Vec> elastic(tau + nr_, b_->n);
  const Mat& S = S_of(link - 1);
  for (int c = 0; c < 3; ++c) elastic += f[c] * S.col(c).head(b_->n);
  const Mat& Psi = b_->markers[link - 1].Psi;
  if (Psi.size() == 0) return;
  const Vec3 turn = markers_[link - 1].Gamma.transpose() * n;
  for (int c = 0; c < 3; ++c) elastic += turn[c] * Psi.col(c).head(b_->n);
}

void FloatingFrame::terms() {
  if (fresh_) return;
  fresh_ = true;
  const FlexibleBody& b = *b_;
  const int stride = b.stride;
  Ds_ = b.P0;
  b.P.packed.multiply(eta_.data(), product_.data());
  scatter(b.P, stride, product_.data(), Ds_);
  H_ = b.H0;
  Hd_.setZero();
  b.A.packed.multiply(eta_.data(), etad_.data(), product_.data(), product2_.data());
  scatter(b.A, stride, product_.data(), H_);
  scatter(b.A, stride, product2_.data(), Hd_);
  if (b.stiffens) {
    N_ = b.N0;
    nd_.setZero();
    Yd_.setZero();
    b.nu.packed.multiply(eta_.data(), etad_.data(), product_.data(), product2_.data());
    scatter(b.nu, stride, product_.data(), N_);
    scatter(b.nu, stride, product2_.data(), nd_);
    b.Y.packed.multiply(eta_.data(), etad_.data(), product_.data(), product2_.data());
    scatter(b.Y, stride, product_.data(), H_);
    scatter(b.Y, stride, product2_.data(), Yd_);
    S_ = 0.5 * (dots3(b.N0, eta_) + dots3(N_, eta_));
  } else {
    S_ = dots3(b.N0, eta_);
  }
  double e0[6], e[6];
  dots<6>(b.P0.data(), stride, eta_.data(), e0);
  dots<6>(Ds_.data(), stride, eta_.data(), e);
  for (int c = 0; c < 6; ++c) e[c] += e0[c];
  J_ = b.J0 - symmetric_tensor(e);
  J_.diagonal().array() += e[0] + e[1] + e[2];
}

void FloatingFrame::add_forces(const Vec3& gravity, double* r) {
  terms();
  const FlexibleBody& b = *b_;
  const int stride = b.stride;
  if (!inertial_) {
    add_static_forces(gravity, r);
    return;
  }
  const Vec3& w = Omega_;
  const Vec3 A0 = A_ - R_.transpose() * gravity;
  const Vec3 Nd = dots3(N(), etad_), h = dots3(H_, etad_), Jw = J_ * w;
  double d[6];
  dots<6>(Ds_.data(), stride, etad_.data(), d);
  Vec3 FX = b.mass * A0 + w.cross(w.cross(S_) + 2 * Nd);
  Vec3 FT = S_.cross(A0) + w.cross(Jw + h) + 2 * ((d[0] + d[1] + d[2]) * w - symmetric_tensor(d) * w);
  const double ww = w.squaredNorm();
  const double centrifugal[6] = {w[0] * w[0] - ww, w[1] * w[1] - ww, w[2] * w[2] - ww,
                                 2 * w[0] * w[1],  2 * w[1] * w[2],  2 * w[2] * w[0]};
  const double coriolis[3] = {2 * w[0], 2 * w[1], 2 * w[2]};
  force_.setZero();
  combine<6>(Ds_.data(), stride, centrifugal, force_.data());
  combine<3>(Hd_.data(), stride, coriolis, force_.data());
  combine<3>(N().data(), stride, A0.data(), force_.data());
  b.add_stiffness(eta_.data(), force_.data());
  if (b.damped) b.add_damping(etad_.data(), force_.data());
  if (b.stiffens) {
    FX += dots3(nd_, etad_);
    FT += dots3(Yd_, etad_);
  }
  if (moving_) {
    FX += Omegad_.cross(S_) + dots3(N(), etadd_);
    FT += J_ * Omegad_ + dots3(H_, etadd_);
    combine<3>(H_.data(), stride, Omegad_.data(), force_.data());
    b.add_mass(etadd_.data(), force_.data());
  }
  const Vec3 F = R_ * FX;
  if (b.planar) {
    r[0] += F.x();
    r[1] += F.y();
    r[2] += FT.z();
  } else {
    as3(r) += F;
    as3(r + 3) += FT;
  }
  Eigen::Map<Vec>(r + nr_, b.n) += force_.head(b.n);
}

void FloatingFrame::add_static_forces(const Vec3& gravity, double* r) {
  const FlexibleBody& b = *b_;
  const Vec3 A0 = -(R_.transpose() * gravity);
  force_.setZero();
  combine<3>(N().data(), b.stride, A0.data(), force_.data());
  b.add_stiffness(eta_.data(), force_.data());
  if (b.damped) b.add_damping(etad_.data(), force_.data());
  as3(r) -= b.mass * gravity;
  as3(r + 3) += S_.cross(A0);
  Eigen::Map<Vec>(r + nr_, b.n) += force_.head(b.n);
}

// (m I, -S~, N; S~, J, H; N^T, H^T, M) in the body's axes: with B = L^-1 (N H)^T what is left is (...) - B^T B.
void FloatingFrame::factorize_mass() {
  terms();
  const FlexibleBody& b = *b_;
  const int stride = b.stride;
  B_.leftCols<3>() = N();
  B_.rightCols<3>() = H_;
  if (!b.unit_mass)
    for (int c = 0; c < 6; ++c) b.forward(B_.col(c).data());
  Mat6 A;
  gram(B_.data(), stride, A);
  A.diagonal().head<3>().array() += b.mass;
  const Mat3 S = skew<double>(S_);
  A.topRightCorner<3, 3>() -= S;
  A.bottomLeftCorner<3, 3>() += S;
  A.bottomRightCorner<3, 3>() += J_;
  if (b.planar) {
    // Only x, y and the rotation about z move.
    Mat3 small;
    small << A(0, 0), A(0, 1), A(0, 5), A(1, 0), A(1, 1), A(1, 5), A(5, 0), A(5, 1), A(5, 5);
    const Eigen::LLT<Mat3> factor(small);
    if (factor.info() != Eigen::Success) throw MassNotPositive(this);
    inverse_.topLeftCorner<3, 3>() = factor.solve(Mat3::Identity());
  } else if (!invert(A, inverse_)) {
    throw MassNotPositive(this);
  }
}

void FloatingFrame::solve_mass(const double* rhs, double* x) const {
  const FlexibleBody& b = *b_;
  const int stride = b.stride;
  std::memcpy(solution_.data(), rhs + nr_, sizeof(double) * static_cast<std::size_t>(b.n));
  b.forward(solution_.data());
  Vec6 coupled, y;
  dots<6>(B_.data(), stride, solution_.data(), coupled.data());
  if (b.planar) {
    const Vec3 force = R_.transpose() * Vec3(rhs[0], rhs[1], 0);
    const Vec3 reduced(force.x() - coupled[0], force.y() - coupled[1], rhs[2] - coupled[5]);
    const Vec3 z = inverse_.topLeftCorner<3, 3>() * reduced;
    y << z[0], z[1], 0, 0, 0, z[2];
  } else {
    coupled = -coupled;
    coupled.head<3>() += R_.transpose() * Eigen::Map<const Vec3>(rhs);
    coupled.tail<3>() += Eigen::Map<const Vec3>(rhs + 3);
    y.noalias() = inverse_ * coupled;
  }
  const Vec6 minus = -y;
  combine<6>(B_.data(), stride, minus.data(), solution_.data());
  b.backward(solution_.data());
  const Vec3 a = R_ * y.head<3>();
  if (b.planar) {
    x[0] = a.x();
    x[1] = a.y();
    x[2] = y[5];
  } else {
    as3(x) = a;
    as3(x + 3) = y.tail<3>();
  }
  std::memcpy(x + nr_, solution_.data(), sizeof(double) * static_cast<std::size_t>(b.n));
}

double FloatingFrame::kinetic_energy() {
  terms();
  force_.setZero();
  b_->add_mass(etad_.data(), force_.data());
  return 0.5 * b_->mass * V_.squaredNorm() + V_.dot(Omega_.cross(S_) + dots3(N(), etad_)) +
         0.5 * Omega_.dot(J_ * Omega_) + Omega_.dot(dots3(H_, etad_)) + 0.5 * etad_.dot(force_);
}

double FloatingFrame::elastic_energy() const {
  solution_.setZero();
  b_->add_stiffness(eta_.data(), solution_.data());
  return 0.5 * eta_.dot(solution_);
}

double FloatingFrame::dissipation_power() const {
  if (!b_->damped) return 0;
  solution_.setZero();
  b_->add_damping(etad_.data(), solution_.data());
  return etad_.dot(solution_);
}

Momenta FloatingFrame::momenta() {
  terms();
  Momenta m;
  m.mass = b_->mass;
  m.moment = R_ * S_;
  m.linear = R_ * (b_->mass * V_ + Omega_.cross(S_) + dots3(N(), etad_));
  m.angular = R_ * (S_.cross(V_) + J_ * Omega_ + dots3(H_, etad_));
  return m;
}

}  // namespace clatter
