#include "integrate/small_dynamics.hpp"

#include <Eigen/QR>
#include <algorithm>

namespace clatter::test {

SmallDynamics::SmallDynamics(int nv, int nz, int nh, int nn, std::vector<int> rotations, int np, int ne)
    : rotations_(std::move(rotations)), layout_(make_layout(nv, nz, nh + nn)) {
  n_.nv = nv;
  n_.nq = nv + static_cast<int>(rotations_.size());
  n_.nz = nz;
  n_.nh = nh;
  n_.nn = nn;
  n_.np = np;
  n_.ne = ne;
  t_.M.setZero(nv, nv);
  t_.G.setZero(nh + nn, nv);
  t_.h.setZero(nv);
  t_.f.setZero(nz);
  t_.phi.setZero(nh);
  t_.y.setZero(nh + nn);
  t_.gamma.setZero(nh + nn);
  shifted_.q.setZero(n_.nq);
  shifted_.v.setZero(nv);
  shifted_.z.setZero(nz);
  delta_.setZero(nv);
}

void SmallDynamics::plus(const Vec& q, const Vec& delta, Vec& q_out) const {
  int iq = 0;
  for (int i = 0; i < n_.nv;) {
    if (is_rotation(i)) {
      const Vec3 psi = delta.segment<3>(i);
      const double angle = psi.norm(), s = angle > 1e-9 ? std::sin(angle / 2) / angle : 0.5;
      const Quat turn(std::cos(angle / 2), s * psi.x(), s * psi.y(), s * psi.z());
      const Quat r = (Quat(q[iq], q[iq + 1], q[iq + 2], q[iq + 3]) * turn).normalized();
      q_out[iq] = r.w();
      q_out[iq + 1] = r.x();
      q_out[iq + 2] = r.y();
      q_out[iq + 3] = r.z();
      iq += 4;
      i += 3;
    } else {
      q_out[iq] = q[iq] + delta[i];
      ++iq;
      ++i;
    }
  }
}

void SmallDynamics::minus(const Vec& q1, const Vec& q0, Vec& delta) const {
  int iq = 0;
  for (int i = 0; i < n_.nv;) {
    if (is_rotation(i)) {
      Quat r = Quat(q0[iq], q0[iq + 1], q0[iq + 2], q0[iq + 3]).conjugate() *
               Quat(q1[iq], q1[iq + 1], q1[iq + 2], q1[iq + 3]);
      if (r.w() < 0) r.coeffs() *= -1;
      const double s = r.vec().norm();
      delta.segment<3>(i) = (s > 1e-12 ? 2 * std::atan2(s, r.w()) / s : 2.0) * r.vec();
      iq += 4;
      i += 3;
    } else {
      delta[i] = q1[iq] - q0[iq];
      ++iq;
      ++i;
    }
  }
}

void SmallDynamics::accelerations(const State& s, Vec& a, Vec& lambda, Vec& zdot) {
  ++evaluations;
  evaluate(s);
  const int nv = n_.nv, nc = n_.nc();
  KktMat A(nv + nc, nv + nc);
  KktVec b(nv + nc);
  A.setZero();
  A.topLeftCorner(nv, nv) = t_.M;
  A.topRightCorner(nv, nc) = -t_.G.transpose();
  A.bottomLeftCorner(nc, nv) = t_.G;
  b.head(nv) = t_.h;
  b.tail(nc) = -t_.gamma;
  Eigen::CompleteOrthogonalDecomposition<KktMat> qr(nv + nc, nv + nc);
  qr.setThreshold(1e-12);
  qr.compute(A);
  const KktVec x = qr.solve(b);
  a = x.head(nv);
  lambda = x.tail(nc);
  zdot = t_.f;
}

void SmallDynamics::residual(const State& s, const Vec& a, const Vec& lambda, Vec& r, Vec& zdot) {
  evaluate(s);
  r.noalias() = t_.M * a - t_.h;
  r.noalias() -= t_.G.transpose() * lambda;
  zdot = t_.f;
}

void SmallDynamics::constraints(const State& s, Vec& phi, Vec& velocity_residual) {
  evaluate(s);
  phi = t_.phi;
  velocity_residual.noalias() = t_.G * s.v + t_.y;
}

void SmallDynamics::constraint_forces(const State& s, const Vec& lambda, Vec& f) {
  evaluate(s);
  f.noalias() = t_.G.transpose() * lambda;
}

void SmallDynamics::least_correction(const State& s, const Vec& b, bool positions, Vec& delta) {
  evaluate(s);
  const int rows = positions ? n_.nh : n_.nc();
  const SMat G = t_.G.topRows(rows);
  const SMat MiGt = t_.M.llt().solve(SMat(G.transpose()));
  const SMat S = G * MiGt;
  Eigen::CompleteOrthogonalDecomposition<SMat> qr(rows, rows);
  qr.setThreshold(1e-12);
  qr.compute(S);
  const SVec x = qr.solve(SVec(b.head(rows)));
  delta.noalias() = MiGt * x;
}

void SmallDynamics::tangents(const State& s, const Vec& a, const Vec& lambda, Tangents& out) {
  const int nv = n_.nv, nz = n_.nz, nc = n_.nc();
  evaluate(s);
  fill(out.M, t_.M);
  fill(out.G, t_.G);
  const SVec a_small = a, lambda_small = lambda;
  struct Values {
    SVec r, f, vel, acc;
  };
  const auto at = [&](const State& x) {
    evaluate(x);
    Values values;
    values.r = t_.M * a_small - t_.h - t_.G.transpose() * lambda_small;
    values.f = t_.f;
    values.vel = t_.G * SVec(x.v) + t_.y;
    values.acc = t_.G * a_small + t_.gamma;
    return values;
  };
  for (int j = 0; j < nv; ++j) {
    Values d[2][2];
    const double eps = 1e-5, eps_v = 1e-5 * (1 + std::abs(s.v[j]));
    for (int side = 0; side < 2; ++side) {
      shifted_ = s;
      delta_.setZero();
      delta_[j] = side ? -eps : eps;
      plus(s.q, delta_, shifted_.q);
      d[0][side] = at(shifted_);
      shifted_.q = s.q;
      shifted_.v[j] += side ? -eps_v : eps_v;
      d[1][side] = at(shifted_);
    }
    for (int i = 0; i < nv; ++i) {
      out.K.values()[out.K.slot(i, j)] = (d[0][0].r[i] - d[0][1].r[i]) / (2 * eps);
      out.C.values()[out.C.slot(i, j)] = (d[1][0].r[i] - d[1][1].r[i]) / (2 * eps_v);
    }
    for (int i = 0; i < nz; ++i) {
      out.Fq.values()[out.Fq.slot(i, j)] = (d[0][0].f[i] - d[0][1].f[i]) / (2 * eps);
      out.Fv.values()[out.Fv.slot(i, j)] = (d[1][0].f[i] - d[1][1].f[i]) / (2 * eps_v);
    }
    for (int i = 0; i < nc; ++i) {
      out.Vq.values()[out.Vq.slot(i, j)] = (d[0][0].vel[i] - d[0][1].vel[i]) / (2 * eps);
      out.Aq.values()[out.Aq.slot(i, j)] = (d[0][0].acc[i] - d[0][1].acc[i]) / (2 * eps);
      out.Av.values()[out.Av.slot(i, j)] = (d[1][0].acc[i] - d[1][1].acc[i]) / (2 * eps_v);
    }
  }
  for (int j = 0; j < nz; ++j) {
    Values d[2];
    const double eps = 1e-5 * (1 + std::abs(s.z[j]));
    for (int side = 0; side < 2; ++side) {
      shifted_ = s;
      shifted_.z[j] += side ? -eps : eps;
      d[side] = at(shifted_);
    }
    for (int i = 0; i < nv; ++i) out.Rz.values()[out.Rz.slot(i, j)] = (d[0].r[i] - d[1].r[i]) / (2 * eps);
    for (int i = 0; i < nz; ++i) out.Fz.values()[out.Fz.slot(i, j)] = (d[0].f[i] - d[1].f[i]) / (2 * eps);
  }
}

double SmallDynamics::stored_energy(const State& s) { return energy(s); }

void SmallDynamics::powers(const State& s, const Vec& a, const Vec& lambda, Vec& p) { channel_powers(s, a, lambda, p); }

void SmallDynamics::events(const State& s, Vec& g) { event_functions(s, g); }

std::string SmallDynamics::event_name(int index) const { return "event " + std::to_string(index); }

std::string SmallDynamics::row_name(int row) const { return "row " + std::to_string(row); }

std::string SmallDynamics::velocity_name(int index) const { return "velocity " + std::to_string(index); }

void SmallDynamics::scales(Vec& u_scale, Vec& v_scale, Vec& z_scale) const {
  u_scale.setConstant(u_scale_value);
  v_scale.setConstant(v_scale_value);
  z_scale.setConstant(1);
}

Tangents SmallDynamics::make_layout(int nv, int nz, int nc) {
  const PatternPtr square = dense_pattern(nv, nv), rows = dense_pattern(nc, nv), zv = dense_pattern(nz, nv);
  using S = SparseMatrix<double>;
  return Tangents{
      S(square), S(square), S(square), S(dense_pattern(nv, nz)), S(zv), S(zv), S(dense_pattern(nz, nz)), S(rows),
      S(rows),   S(rows),   S(rows)};
}

void SmallDynamics::fill(SparseMatrix<double>& to, const SMat& from) {
  for (int j = 0; j < from.cols(); ++j) {
    for (int i = 0; i < from.rows(); ++i) to.values()[to.slot(i, j)] = from(i, j);
  }
}

bool SmallDynamics::is_rotation(int i) const {
  return std::find(rotations_.begin(), rotations_.end(), i) != rotations_.end();
}

void SmallDynamics::evaluate(const State& s) {
  t_.M.setZero();
  t_.G.setZero();
  t_.h.setZero();
  t_.f.setZero();
  t_.phi.setZero();
  t_.y.setZero();
  t_.gamma.setZero();
  terms(s, t_);
}

}  // namespace clatter::test
