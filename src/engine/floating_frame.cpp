#include "engine/floating_frame.hpp"

#include <cmath>

#include "base/rotation.hpp"
#include "base/wide.hpp"
#include "engine/marker_rotation.hpp"
#include "engine/padded.hpp"
#include "engine/tree.hpp"

namespace clatter {

namespace {

using padded::Lanes8;
using wide::M3;
using wide::V3;

V3 dots3(const Mat& A, const Vec& x) {
  double out[3];
  padded::dots<3>(A.data(), static_cast<int>(A.rows()), x.data(), out);
  return wide::make(out[0], out[1], out[2]);
}

// Three lanes of eight, from the first or the fourth on.
[[gnu::always_inline]] inline V3 first_three(const Lanes8& x) { return {__builtin_shufflevector(x, x, 0, 1, 2, 3)}; }
[[gnu::always_inline]] inline V3 next_three(const Lanes8& x) { return {__builtin_shufflevector(x, x, 3, 4, 5, 6)}; }

// Symmetric tensor from its six components, times v.
[[gnu::always_inline]] inline V3 symmetric_times(const double* c, const V3& v) {
  return wide::times({wide::make(c[0], c[3], c[5]), wide::make(c[3], c[1], c[4]), wide::make(c[5], c[4], c[2])}, v.x[0],
                     v.x[1], v.x[2]);
}

[[gnu::always_inline]] inline void add_to(const V3& v, double* out) {
  for (int i = 0; i < 3; ++i) out[i] += v.x[i];
}

// a I + b psi~ + c psi psi^T
[[gnu::always_inline]] inline M3 isotropic(double a, double b, double c, const V3& psi) {
  const double x = psi.x[0], y = psi.x[1], z = psi.x[2];
  const V3 u = psi * c;
  return {u * x + wide::make(a, b * z, -b * y), u * y + wide::make(-b * z, a, b * x),
          u * z + wide::make(b * y, -b * x, a)};
}

// Inverse of a symmetric positive definite matrix, of its last rows and columns from `first` on, row by row in
// registers: Gauss and Jordan's elimination, whose pivots are those of L D L^T; false when one is not positive.
template <int first>
bool invert(double (&A)[6][8]) {
  Lanes8 row[6];
#pragma GCC unroll 6
  for (int i = first; i < 6; ++i) padded::load(A[i], row[i]);
#pragma GCC unroll 6
  for (int j = first; j < 6; ++j) {
    const double pivot = row[j][j];
    if (!(pivot > 0)) return false;
    const double r = 1 / pivot;
    row[j][j] = 1;
    row[j] *= r;
#pragma GCC unroll 6
    for (int i = first; i < 6; ++i) {
      if (i == j) continue;
      const double factor = row[i][j];
      row[i][j] = 0;
      row[i] -= factor * row[j];
    }
  }
#pragma GCC unroll 6
  for (int i = first; i < 6; ++i) padded::store(row[i], A[i]);
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
      rows_(Vec::Zero(body.rows.rows())),
      rows_d_(rows_),
      rows_dd_(rows_),
      markers_(body.markers.size()),
      watched_(body.markers.size(), 1),
      Ds_(body.P0),
      H_(body.H0),
      Hd_(Mat::Zero(body.stride, 3)),
      force_(body.stride),
      inverse_{},
      solution_(Vec::Zero(body.stride)),
      zero_(Mat::Zero(body.stride, 6)),
      Pd_(zero_),
      Add_(Mat::Zero(body.stride, 3)),
      spare_(Add_),
      rest_(Vec::Zero(body.stride)),
      rest2_(Vec::Zero(body.stride)) {
  if (body.stiffens) {
    N_ = BN_ = body.N0;
    nd_ = Yd_ = Ydd_ = ndd_ = Mat::Zero(body.stride, 3);
  }
  if (!body.unit_mass) BH_ = Mat::Zero(body.stride, 3);
  for (std::size_t i = 0; i < markers_.size(); ++i)
    if (body.markers[i].second[0].size() > 0)
      for (Mat* m : {&markers_[i].S, &markers_[i].second_d}) m->setZero(body.stride, 3);
}

void FloatingFrame::assign(const BlockWork& other) { *this = static_cast<const FloatingFrame&>(other); }

void FloatingFrame::kinematics(const double* q, const double* v, LinkMotion* motion) {
  const FlexibleBody& b = *b_;
  free_motion(b.planar ? Mobility::planar3 : Mobility::free6, level_, q, v, motion[0]);
  const M3 R = wide::load(motion[0].R);
  const V3 x0 = wide::load(motion[0].p), v0 = wide::load(motion[0].v), w0 = wide::load(motion[0].w);
  const V3 Omega = b.planar ? wide::make(0, 0, v[2]) : wide::make(v[3], v[4], v[5]);
  store(R, R_);
  store(x0, x0_);
  store(v0, v0_);
  store(Omega, Omega_);
  const int nq = b.planar ? 3 : 7;
  std::memcpy(eta_.data(), q + nq, sizeof(double) * static_cast<std::size_t>(b.n));
  std::memcpy(etad_.data(), v + nr_, sizeof(double) * static_cast<std::size_t>(b.n));
  fresh_ = false;
  b.rows.multiply(eta_.data(), etad_.data(), rows_.data(), rows_d_.data());
  for (std::size_t i = 0; i < markers_.size(); ++i) {
    if (!watched_[i]) continue;
    const FlexibleMarker& marker = b.markers[i];
    MarkerWork& w = markers_[i];
    LinkMotion& m = motion[i + 1];
    V3 a = wide::load(marker.X) + wide::load(rows_.data() + marker.row), ud = wide::load(rows_d_.data() + marker.row);
    if (marker.second[0].size() > 0) {
      // u = (S + 1/2 second eta) eta,  du/dt = (S + second eta) eta'
      for (int c = 0; c < 3; ++c) {
        w.S.col(c).noalias() = marker.second[c] * eta_;
        w.second_d.col(c).noalias() = marker.second[c] * etad_;
      }
      a += dots3(w.S, eta_) * 0.5;
      store(dots3(w.second_d, etad_), w.udd_bias);
      w.S += marker.S;
      ud = dots3(w.S, etad_);
    } else {
      w.udd_bias.setZero();
    }
    store(a, w.a);
    store(ud, w.ud);
    store(x0 + R * a, m.p);
    store(v0 + R * (cross(Omega, a) + ud), m.v);
    if (marker.Psi.size() == 0) {
      store(R * wide::load(marker.R), m.R);
      store(w0, m.w);
      continue;
    }
    const V3 psi = wide::load(rows_.data() + marker.row + 4), psid = wide::load(rows_d_.data() + marker.row + 4);
    const double x = dot(psi, psi);
    const double c = rotation_detail::cosc(x), k = rotation_detail::sinc3(x), s = 1 - k * x;  // sin(theta)/theta
    const V3 u = cross(psi, psid), spin = psid + u * c + cross(psi, u) * k;
    store(psi, w.psi);
    store(psid, w.psid);
    store(spin, w.w);
    store(isotropic(s, c, k, psi), w.Gamma);
    const M3 turn = R * isotropic(1 - c * x, s, c, psi);
    store(marker.aligned ? turn : turn * wide::load(marker.R), m.R);
    store(w0 + R * spin, m.w);
  }
}

void FloatingFrame::accelerations(const double* qdd) {
  moving_ = qdd != nullptr;
  if (moving_) {
    const V3 a = b_->planar ? wide::make(qdd[0], qdd[1], 0) : wide::make(qdd[0], qdd[1], qdd[2]);
    store(transpose_times(wide::load(R_), a), A_);
    Omegad_ = b_->planar ? Vec3(0, 0, qdd[2]) : Vec3(qdd[3], qdd[4], qdd[5]);
    std::memcpy(etadd_.data(), qdd + nr_, sizeof(double) * static_cast<std::size_t>(b_->n));
  } else {
    A_.setZero();
    Omegad_.setZero();
    etadd_.setZero();
  }
}

void FloatingFrame::link_accelerations(LinkMotion* motion) {
  const FlexibleBody& b = *b_;
  const M3 R = wide::load(R_);
  const V3 Omega = wide::load(Omega_), Omegad = wide::load(Omegad_);
  const V3 a0 = R * wide::load(A_), alpha0 = R * Omegad;
  store(a0, motion[0].a);
  store(alpha0, motion[0].alpha);
  if (moving_)
    b.rows.multiply(etadd_.data(), rows_dd_.data());
  else
    rows_dd_.setZero();
  for (std::size_t i = 0; i < markers_.size(); ++i) {
    if (!watched_[i]) continue;
    const FlexibleMarker& marker = b.markers[i];
    MarkerWork& w = markers_[i];
    LinkMotion& m = motion[i + 1];
    V3 udd = wide::load(w.udd_bias) + wide::load(rows_dd_.data() + marker.row);
    if (marker.second[0].size() > 0 && moving_) udd = wide::load(w.udd_bias) + dots3(w.S, etadd_);
    const V3 at = wide::load(w.a);
    store(a0 + R * (cross(Omegad, at) + cross(Omega, cross(Omega, at) + 2 * wide::load(w.ud)) + udd), m.a);
    if (marker.Psi.size() == 0) {
      store(alpha0, m.alpha);
      continue;
    }
    Vec3 spin, spin_rate;
    marker_spin<double>(w.psi, w.psid, Vec3(rows_dd_.segment<3>(marker.row + 4)), spin, spin_rate);
    const V3 wd = wide::make(spin_rate[0], spin_rate[1], spin_rate[2]);
    store(wd, w.wd);
    store(alpha0 + R * (wd + cross(Omega, wide::load(w.w))), m.alpha);
  }
}

void FloatingFrame::project(int link, const Vec3& F, const Vec3& N, double* tau) const {
  const M3 R = wide::load(R_);
  const V3 force = wide::make(F[0], F[1], F[2]);
  const V3 f = transpose_times(R, force), n = transpose_times(R, wide::make(N[0], N[1], N[2]));
  const V3 moment = link == 0 ? n : n + cross(wide::load(markers_[link - 1].a), f);
  if (b_->planar) {
    tau[0] += F.x();
    tau[1] += F.y();
    tau[2] += moment.x[2];
  } else {
    add_to(force, tau);
    add_to(moment, tau + 3);
  }
  if (link == 0) return;
  const Mat &S = S_of(link - 1), &Psi = b_->markers[link - 1].Psi;
  const bool turns = Psi.size() > 0;
  const V3 turn = turns ? transpose_times(wide::load(markers_[link - 1].Gamma), n) : wide::zero();
  const double along[3] = {f.x[0], f.x[1], f.x[2]}, about[3] = {turn.x[0], turn.x[1], turn.x[2]};
  padded::combine_into(S.data(), along, turns ? Psi.data() : S.data(), about, b_->stride, tau + nr_, b_->n);
}

void FloatingFrame::terms() {
  if (fresh_) return;
  fresh_ = true;
  const FlexibleBody& b = *b_;
  const double *eta = eta_.data(), *etad = etad_.data();
  if (b.stiffens) H_ = b.H0;
  b.inertia.multiply({eta, etad, b.P0.data(), b.H0.data(), Ds_.data(), H_.data(), Hd_.data()});
  S_ = b.centred ? wide::zero() : wide::load(rows_.data());
  Nd_ = b.centred ? wide::zero() : wide::load(rows_d_.data());
  if (b.stiffens) {
    b.moving.multiply({eta, etad, nullptr, b.N0.data(), nullptr, N_.data(), nd_.data()});
    b.turning.multiply({eta, etad, nullptr, H_.data(), nullptr, H_.data(), Yd_.data()});
    S_ = (S_ + dots3(N_, eta_)) * 0.5;
    Nd_ = dots3(N_, etad_);
  }
  // e = sum eta (P0 + D^s), d = sum eta' D^s, h = H eta'
  Lanes8 first[8], second[8], x, xd, y, y0, sums;
#pragma GCC unroll 8
  for (int c = 0; c < 8; ++c) first[c] = second[c] = Lanes8{};
  for (int i = 0; i < b.stride; i += 8) {
    padded::load(eta + i, x);
    padded::load(etad + i, xd);
#pragma GCC unroll 6
    for (int c = 0; c < 6; ++c) {
      padded::load(Ds_.data() + c * b.stride + i, y);
      padded::load(b.P0.data() + c * b.stride + i, y0);
      first[c] += (y + y0) * x;
      second[c] += y * xd;
    }
#pragma GCC unroll 3
    for (int c = 0; c < 3; ++c) {
      padded::load(H_.data() + c * b.stride + i, y);
      (c < 2 ? first : second)[c < 2 ? 6 + c : 6] += y * xd;
    }
  }
  double e[8];
  padded::sums(first, sums);
  padded::store(sums, e);
  padded::sums(second, sums);
  padded::store(sums, d_);
  h_ = wide::make(e[6], e[7], d_[6]);
  // J0 + tr(e) I - e
  const M3 J0 = wide::load(b.J0);
  J_ = {J0.c[0] + wide::make(e[1] + e[2], -e[3], -e[5]), J0.c[1] + wide::make(-e[3], e[0] + e[2], -e[4]),
        J0.c[2] + wide::make(-e[5], -e[4], e[0] + e[1])};
}

void FloatingFrame::add_forces(const Vec3& gravity, double* r) {
  terms();
  if (!inertial_) {
    add_static_forces(gravity, r);
    return;
  }
  const FlexibleBody& b = *b_;
  const int stride = b.stride;
  const M3 R = wide::load(R_), J = J_;
  const V3 w = wide::load(Omega_), wd = wide::load(Omegad_), S = S_;
  const V3 A0 = wide::load(A_) - transpose_times(R, wide::make(gravity[0], gravity[1], gravity[2]));
  V3 FX = A0 * b.mass + cross(w, cross(w, S) + 2 * Nd_);
  V3 FT = cross(S, A0) + cross(w, J * w + h_) + 2 * ((d_[0] + d_[1] + d_[2]) * w - symmetric_times(d_, w));

  // F_eta, and N eta'', H eta''.
  const double w0 = w.x[0], w1 = w.x[1], w2 = w.x[2], ww = dot(w, w);
  const double centrifugal[6] = {w0 * w0 - ww, w1 * w1 - ww, w2 * w2 - ww, 2 * w0 * w1, 2 * w1 * w2, 2 * w2 * w0};
  const double coriolis[3] = {2 * w0, 2 * w1, 2 * w2}, translation[3] = {A0.x[0], A0.x[1], A0.x[2]},
               rotation[3] = {wd.x[0], wd.x[1], wd.x[2]};
  const double *Ds = Ds_.data(), *H = H_.data(), *Hd = Hd_.data(), *Np = N().data();
  const double* K = b.K_diagonal.size() > 0 ? b.K_diagonal.data() : nullptr;
  Lanes8 inertia[8], f, m, xdd;
#pragma GCC unroll 8
  for (int c = 0; c < 8; ++c) inertia[c] = Lanes8{};
  for (int i = 0; i < stride; i += 8) {
    padded::load(etadd_.data() + i, xdd);
    f = b.unit_mass ? xdd : Lanes8{};
    if (K) {
      padded::load(K + i, m);
      Lanes8 x;
      padded::load(eta_.data() + i, x);
      f += m * x;
    }
#pragma GCC unroll 6
    for (int c = 0; c < 6; ++c) {
      padded::load(Ds + c * stride + i, m);
      f += m * centrifugal[c];
    }
#pragma GCC unroll 3
    for (int c = 0; c < 3; ++c) {
      padded::load(Hd + c * stride + i, m);
      f += m * coriolis[c];
      padded::load(H + c * stride + i, m);
      f += m * rotation[c];
      inertia[3 + c] += m * xdd;
    }
    if (!b.centred)
#pragma GCC unroll 3
      for (int c = 0; c < 3; ++c) {
        padded::load(Np + c * stride + i, m);
        f += m * translation[c];
        inertia[c] += m * xdd;
      }
    padded::store(f, force_.data() + i);
  }
  if (!K) b.add_stiffness(eta_.data(), force_.data());
  if (b.damped) b.add_damping(etad_.data(), force_.data());
  if (moving_) {
    if (!b.unit_mass) b.add_mass(etadd_.data(), force_.data());
    Lanes8 sums;
    padded::sums(inertia, sums);
    FX += cross(wd, S) + first_three(sums);
    FT += J * wd + next_three(sums);
  }
  if (b.stiffens) {
    FX += dots3(nd_, etad_);
    FT += dots3(Yd_, etad_);
  }
  const V3 F = R * FX;
  if (b.planar) {
    r[0] += F.x[0];
    r[1] += F.x[1];
    r[2] += FT.x[2];
  } else {
    add_to(F, r);
    add_to(FT, r + 3);
  }
  padded::add(force_.data(), r + nr_, b.n);
}

void FloatingFrame::add_static_forces(const Vec3& gravity, double* r) {
  const FlexibleBody& b = *b_;
  const Vec3 A0 = -(R_.transpose() * gravity);
  force_.setZero();
  padded::combine<3>(N().data(), b.stride, A0.data(), force_.data());
  b.add_stiffness(eta_.data(), force_.data());
  if (b.damped) b.add_damping(etad_.data(), force_.data());
  Eigen::Map<Vec3>(r) -= b.mass * gravity;
  Eigen::Map<Vec3>(r + 3) += vector(S_).cross(A0);
  padded::add(force_.data(), r + nr_, b.n);
}

// (m I, -S~, N; S~, J, H; N^T, H^T, M) in the body's axes: with B = L^-1 (N H)^T what is left is (...) - B^T B. Where S
// and N are zero, translation goes by itself.
void FloatingFrame::factorize_mass() {
  terms();
  const FlexibleBody& b = *b_;
  const int stride = b.stride;
  if (!b.unit_mass) {
    BH_ = H_;
    for (int c = 0; c < 3; ++c) b.forward(BH_.col(c).data());
  }
  const double* H = BH();
  Lanes8 HH[8], h[3], sums;
#pragma GCC unroll 8
  for (int c = 0; c < 8; ++c) HH[c] = Lanes8{};
  for (int i = 0; i < stride; i += 8) {
#pragma GCC unroll 3
    for (int c = 0; c < 3; ++c) padded::load(H + c * stride + i, h[c]);
#pragma GCC unroll 3
    for (int c = 0; c < 3; ++c) {
      HH[c] += h[c] * h[c];
      HH[3 + c] += h[c] * h[(c + 1) % 3];
    }
  }
  double s[8];
  padded::sums(HH, sums);
  padded::store(sums, s);
  const double left[3][3] = {{s[0], s[3], s[5]}, {s[3], s[1], s[4]}, {s[5], s[4], s[2]}};
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k) inverse_[3 + i][3 + k] = J_.c[k].x[i] - left[i][k];
  if (b.centred)
    for (int i = 0; i < 3; ++i) inverse_[i][i] = 1 / b.mass;
  else
    couple_translation();
  if (b.planar) {
    // Only x, y and the rotation about z move.
    for (const int still : {2, 3, 4})
      for (int k = 0; k < 6; ++k) inverse_[still][k] = inverse_[k][still] = still == k;
  }
  if (!(b.centred ? invert<3>(inverse_) : invert<0>(inverse_))) throw MassNotPositive(this);
  if (b.planar)
    for (const int still : {2, 3, 4}) inverse_[still][still] = 0;
}

// The rows of translation in what is to be inverted: (m I - N N^T, -S~ - N H^T).
void FloatingFrame::couple_translation() {
  const FlexibleBody& b = *b_;
  const int stride = b.stride;
  Mat3 NN = b.N0_gram;
  if (!b.nu.empty()) {
    BN_ = N_;
    for (int c = 0; c < 3; ++c) b.forward(BN_.col(c).data());
    NN.noalias() = BN_.transpose().lazyProduct(BN_);
  }
  const double *N = BN(), *H = BH();
  Lanes8 first[8], last{}, n[3], h, sums;
#pragma GCC unroll 8
  for (int c = 0; c < 8; ++c) first[c] = Lanes8{};
  for (int i = 0; i < stride; i += 8) {
#pragma GCC unroll 3
    for (int c = 0; c < 3; ++c) padded::load(N + c * stride + i, n[c]);
#pragma GCC unroll 3
    for (int c = 0; c < 3; ++c) {
      padded::load(H + c * stride + i, h);
      first[c] += n[0] * h;
      first[3 + c] += n[1] * h;
      if (c < 2)
        first[6 + c] += n[2] * h;
      else
        last += n[2] * h;
    }
  }
  double s[8];
  padded::sums(first, sums);
  padded::store(sums, s);
  const double S0 = S_.x[0], S1 = S_.x[1], S2 = S_.x[2];
  const double off[3][3] = {
      {-s[0], S2 - s[1], -S1 - s[2]}, {-S2 - s[3], -s[4], S0 - s[5]}, {S1 - s[6], -S0 - s[7], -padded::sum(last)}};
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k) {
      inverse_[i][k] = (i == k ? b.mass : 0) - NN(i, k);
      inverse_[i][3 + k] = inverse_[3 + k][i] = off[i][k];
    }
}

void FloatingFrame::solve_mass(const double* rhs, double* x) const {
  if (b_->centred)
    solve<true>(rhs, x);
  else
    solve<false>(rhs, x);
}

template <bool centred>
void FloatingFrame::solve(const double* rhs, double* x) const {
  const FlexibleBody& b = *b_;
  const int stride = b.stride;
  const double *N = BN(), *H = BH();
  double* solution = solution_.data();
  std::memcpy(solution, rhs + nr_, sizeof(double) * static_cast<std::size_t>(b.n));
  b.forward(solution);
  const M3 R = wide::load(R_);
  const V3 force = transpose_times(R, b.planar ? wide::make(rhs[0], rhs[1], 0) : wide::make(rhs[0], rhs[1], rhs[2]));
  Lanes8 products[8], m, s;
#pragma GCC unroll 8
  for (int c = 0; c < 8; ++c) products[c] = Lanes8{};
  for (int i = 0; i < stride; i += 8) {
    padded::load(solution + i, s);
#pragma GCC unroll 3
    for (int c = 0; c < 3; ++c) {
      if constexpr (!centred) {
        padded::load(N + c * stride + i, m);
        products[c] += m * s;
      }
      padded::load(H + c * stride + i, m);
      products[3 + c] += m * s;
    }
  }
  // y = inverse (frame's part - B^T solution); the matrix is symmetric: its rows are its columns.
  Lanes8 coupled, y{};
  padded::sums(products, coupled);
  const Lanes8 own = b.planar ? Lanes8{force.x[0], force.x[1], 0, 0, 0, rhs[2], 0, 0}
                              : Lanes8{force.x[0], force.x[1], force.x[2], rhs[3], rhs[4], rhs[5], 0, 0};
  double left[8], frame[8];
  padded::store(Lanes8(own - coupled), left);
#pragma GCC unroll 6
  for (int i = 0; i < 6; ++i) {
    padded::load(inverse_[i], m);
    y += m * left[i];
  }
  padded::store(y, frame);
  for (int i = 0; i < stride; i += 8) {
    padded::load(solution + i, s);
#pragma GCC unroll 3
    for (int c = 0; c < 3; ++c) {
      if constexpr (!centred) {
        padded::load(N + c * stride + i, m);
        s -= m * frame[c];
      }
      padded::load(H + c * stride + i, m);
      s -= m * frame[3 + c];
    }
    padded::store(s, solution + i);
  }
  b.backward(solution);
  const V3 a = R * first_three(y);
  if (b.planar) {
    x[0] = a.x[0];
    x[1] = a.x[1];
    x[2] = frame[5];
  } else {
    for (int i = 0; i < 3; ++i) {
      x[i] = a.x[i];
      x[3 + i] = frame[3 + i];
    }
  }
  std::memcpy(x + nr_, solution, sizeof(double) * static_cast<std::size_t>(b.n));
}

double FloatingFrame::kinetic_energy() {
  terms();
  force_.setZero();
  b_->add_mass(etad_.data(), force_.data());
  const V3 V = transpose_times(wide::load(R_), wide::load(v0_)), w = wide::load(Omega_);
  return 0.5 * b_->mass * dot(V, V) + dot(V, cross(w, S_) + Nd_) + 0.5 * dot(w, J_ * w) + dot(w, h_) +
         0.5 * etad_.dot(force_);
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
  m.moment = R_ * vector(S_);
  const V3 V = transpose_times(wide::load(R_), wide::load(v0_)), w = wide::load(Omega_);
  m.linear = R_ * vector(V * b_->mass + cross(w, S_) + Nd_);
  m.angular = R_ * vector(cross(S_, V) + J_ * w + h_);
  return m;
}

}  // namespace clatter
