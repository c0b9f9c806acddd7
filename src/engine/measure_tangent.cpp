// Tangents of measures: by dual numbers over the template of each kind, the frequent kinds also by hand.
//
// One translation unit holds the twelve-fold dual numbers; who only evaluates measures does not pay for
// them.
#include "engine/measure.hpp"

#include "base/dual.hpp"

namespace clatter {

namespace measure_detail {
namespace {

using D12 = Dual<12>;

// Pose of a frame with the increments x_first.. of its origin and orientation as variables.
void seed(const FrameState<double>& F, int first, FrameState<D12>& out) {
  for (int i = 0; i < 3; ++i) {
    out.p[i] = D12::variable(F.p[i], first + i);
    out.v[i] = D12(F.v[i]);
    out.w[i] = D12(F.w[i]);
    out.a[i] = D12(F.a[i]);
    out.alpha[i] = D12(F.alpha[i]);
  }
  for (int j = 0; j < 3; ++j) {
    // dr = dtheta x r, column by column
    const double x = F.R(0, j), y = F.R(1, j), z = F.R(2, j);
    for (int i = 0; i < 3; ++i) out.R(i, j) = D12(F.R(i, j));
    out.R(0, j).d[first + 4] = z, out.R(0, j).d[first + 5] = -y;
    out.R(1, j).d[first + 5] = x, out.R(1, j).d[first + 3] = -z;
    out.R(2, j).d[first + 3] = y, out.R(2, j).d[first + 4] = -x;
  }
}

}  // namespace

void dual_tangent(MeasureKind kind, const MeasureParams& q, const FrameState<double>& A, const FrameState<double>& B,
                  MeasureTangent& out) {
  FrameState<D12> a, b;
  seed(A, 0, a);
  seed(B, 6, b);
  MeasureValue<D12> m;
  evaluate(kind, q, a, b, m);
  out.fault = m.fault;
  out.e = m.e.v;
  out.de = m.de.v;
  out.bias = m.bias.v;
  for (int i = 0; i < 3; ++i) {
    out.g[i] = m.fA[i].v;
    out.g[3 + i] = m.nA[i].v;
    out.g[6 + i] = m.fB[i].v;
    out.g[9 + i] = m.nB[i].v;
    out.H.row(i) = m.fA[i].d;
    out.H.row(3 + i) = m.nA[i].d;
    out.H.row(6 + i) = m.fB[i].d;
    out.H.row(9 + i) = m.nB[i].d;
  }
  out.e_x = m.e.d;
  out.de_x = m.de.d;
  out.bias_x = m.bias.d;
  // bias = g . a + xi^T H xi, so that its derivative by the twists needs no further seeds.
  MeasureTangent::Row xi;
  xi << A.v, A.w, B.v, B.w;
  out.bias_xi.noalias() = out.H * xi;
  out.bias_xi.noalias() += out.H.transpose() * xi;
}

namespace {

// The frequent kinds by hand. Each first clears the tangent, then fills the blocks that differ from zero.

void clear(const MeasureValue<double>& m, MeasureTangent& out) {
  out.e = m.e;
  out.de = m.de;
  out.bias = m.bias;
  out.fault = m.fault;
  out.g << m.fA, m.nA, m.fB, m.nB;
  out.e_x = out.g;
  out.H.setZero();
  out.de_x.setZero();
  out.bias_x.setZero();
  out.bias_xi.setZero();
}

// bias = a . Q with Q = (aB - aA) + d x alphaA + 2 u x wA + wA (wA . d) - d wA^2, d = pB - pA, u = vB - vA
void coordinate_tangent(const Vec3& axis, const FrameState<double>& A, const FrameState<double>& B,
                        MeasureTangent& out) {
  MeasureValue<double> m;
  measure_coordinate(axis, A, B, m);
  clear(m, out);
  const Vec3 a = m.fB, d = B.p - A.p, u = B.v - A.v, wa = A.w.cross(a);
  const double ww = A.w.squaredNorm(), a_w = a.dot(A.w), d_w = d.dot(A.w);
  const Mat3 S = skew<double>(a);
  out.H.block<3, 3>(0, 3) = S;
  out.H.block<3, 3>(3, 0) = -S;
  out.H.block<3, 3>(3, 6) = S;
  out.H.block<3, 3>(6, 3) = -S;
  out.H.block<3, 3>(3, 3) = a * d.transpose();
  out.H.block<3, 3>(3, 3).diagonal().array() -= m.e;
  out.de_x.segment<3>(0) = -wa;
  out.de_x.segment<3>(3) = a.cross(u + d.cross(A.w));
  out.de_x.segment<3>(6) = wa;
  const Vec3 Q = B.a - A.a + d.cross(A.alpha) + 2 * u.cross(A.w) + A.w * d_w - d * ww;
  const Vec3 by_d = A.alpha.cross(a) + A.w * a_w - a * ww;
  out.bias_x.segment<3>(0) = -by_d;
  out.bias_x.segment<3>(3) = a.cross(Q);
  out.bias_x.segment<3>(6) = by_d;
  out.bias_xi.segment<3>(0) = -2 * wa;
  out.bias_xi.segment<3>(3) = 2 * a.cross(u) + a * d_w + d * a_w - 2 * m.e * A.w;
  out.bias_xi.segment<3>(6) = 2 * wa;
}

// de = a . u, bias = a . (aB - aA + u x wA)
void slip_tangent(const Vec3& axis, const FrameState<double>& A, const FrameState<double>& B, MeasureTangent& out) {
  MeasureValue<double> m;
  measure_slip(axis, A, B, m);
  clear(m, out);
  const Vec3 a = m.fB, u = B.v - A.v, wa = A.w.cross(a);
  const Mat3 S = skew<double>(a);
  out.e_x.setZero();
  out.H.block<3, 3>(0, 3) = S;
  out.H.block<3, 3>(6, 3) = -S;
  out.de_x.segment<3>(3) = a.cross(u);
  out.bias_x.segment<3>(3) = a.cross(B.a - A.a + u.cross(A.w));
  out.bias_xi.segment<3>(0) = -wa;
  out.bias_xi.segment<3>(3) = a.cross(u);
  out.bias_xi.segment<3>(6) = wa;
}

// With P = (I - u u^T)/L the derivative of the direction u, and r = vB - vA.
void distance_tangent(const FrameState<double>& A, const FrameState<double>& B, MeasureTangent& out) {
  MeasureValue<double> m;
  measure_distance(A, B, m);
  clear(m, out);
  if (m.fault != MeasureFault::none) return;
  const Vec3 u = m.fB, r = B.v - A.v, transverse = r - u * m.de;
  const double inverse = 1 / m.e;
  const Mat3 P = (Mat3::Identity() - u * u.transpose()) * inverse;
  out.H.block<3, 3>(0, 0) = P;
  out.H.block<3, 3>(0, 6) = -P;
  out.H.block<3, 3>(6, 0) = -P;
  out.H.block<3, 3>(6, 6) = P;
  const Vec3 by_d = P * (B.a - A.a) - transverse * (2 * m.de * inverse * inverse) -
                    u * (transverse.squaredNorm() * inverse * inverse);
  out.de_x.segment<3>(0) = -transverse * inverse;
  out.de_x.segment<3>(6) = transverse * inverse;
  out.bias_x.segment<3>(0) = -by_d;
  out.bias_x.segment<3>(6) = by_d;
  out.bias_xi.segment<3>(0) = -2 * inverse * transverse;
  out.bias_xi.segment<3>(6) = 2 * inverse * transverse;
}

// Derivative of n = a x b by the turns of A and of B: a b^T - s I and s I - b a^T.
Mat3 normal_by_A(const Vec3& a, const Vec3& b, double s) {
  Mat3 N = a * b.transpose();
  N.diagonal().array() -= s;
  return N;
}
Mat3 normal_by_B(const Vec3& a, const Vec3& b, double s) { return -normal_by_A(b, a, s); }

// Adds `sign` times the tangent of s = a . b; bias = a^T M b,
// M = wA wA^T + wB wB^T - 2 wB wA^T - r^2 I - tilde(alphaA - alphaB), r = wB - wA.
void add_dot_tangent(const Vec3& axis_a, const Vec3& axis_b, double sign, const FrameState<double>& A,
                     const FrameState<double>& B, MeasureTangent& out) {
  const Vec3 a = sign * (A.R * axis_a), b = B.R * axis_b, r = B.w - A.w, beta = A.alpha - B.alpha;
  const double s = a.dot(b), rr = r.squaredNorm();
  const double a_wA = a.dot(A.w), a_wB = a.dot(B.w), b_wA = b.dot(A.w), b_wB = b.dot(B.w);
  const Mat3 NA = normal_by_A(a, b, s), NB = normal_by_B(a, b, s);
  out.H.block<3, 3>(3, 3) += NA;
  out.H.block<3, 3>(3, 9) += NB;
  out.H.block<3, 3>(9, 3) -= NA;
  out.H.block<3, 3>(9, 9) -= NB;
  out.de_x.segment<3>(3) += a.cross(r.cross(b));
  out.de_x.segment<3>(9) += b.cross(a.cross(r));
  const Vec3 Mb = A.w * b_wA + B.w * (b_wB - 2 * b_wA) - rr * b - beta.cross(b);
  const Vec3 aM = A.w * (a_wA - 2 * a_wB) + B.w * a_wB - rr * a + beta.cross(a);
  out.bias_x.segment<3>(3) += a.cross(Mb);
  out.bias_x.segment<3>(9) += b.cross(aM);
  out.bias_xi.segment<3>(3) += a * b_wA + b * (a_wA - 2 * a_wB) + (2 * s) * r;
  out.bias_xi.segment<3>(9) += a * (b_wB - 2 * b_wA) + b * a_wB - (2 * s) * r;
}

// With N = zA x zB, dk = N . (dthetaA - dthetaB), and U_X the derivative of u by the turn of frame X.
void angle_tangent(const FrameState<double>& A, const FrameState<double>& B, MeasureTangent& out) {
  MeasureValue<double> m;
  measure_angle(A, B, m);
  clear(m, out);
  if (m.fault != MeasureFault::none) return;
  const Vec3 zA = A.R.col(2), zB = B.R.col(2), u = m.nB, r = B.w - A.w, N = zA.cross(zB);
  const double s = zA.dot(zB), inverse = 1 / (1 + s), r_N = r.dot(N);
  const Mat3 UA = (-skew<double>(zA) - u * N.transpose()) * inverse;
  const Mat3 UB = (-skew<double>(zB) + u * N.transpose()) * inverse;
  out.H.block<3, 3>(3, 3) = -UA;
  out.H.block<3, 3>(3, 9) = -UB;
  out.H.block<3, 3>(9, 3) = UA;
  out.H.block<3, 3>(9, 9) = UB;
  out.de_x.segment<3>(3) = UA.transpose() * r;
  out.de_x.segment<3>(9) = UB.transpose() * r;
  const Vec3 c = B.alpha - A.alpha + B.w.cross(A.w) + r * (r_N * inverse);
  const Vec3 by_k = N * (m.de * r_N * inverse * inverse);
  out.bias_x.segment<3>(3) = UA.transpose() * c + normal_by_A(zA, zB, s).transpose() * r * (m.de * inverse) - by_k;
  out.bias_x.segment<3>(9) = UB.transpose() * c + normal_by_B(zA, zB, s).transpose() * r * (m.de * inverse) + by_k;
  const Vec3 by_r = (u * r_N + N * m.de) * inverse;
  out.bias_xi.segment<3>(3) = u.cross(B.w) - by_r;
  out.bias_xi.segment<3>(9) = A.w.cross(u) + by_r;
}

}  // namespace
}  // namespace measure_detail

void measure_tangent(MeasureKind kind, const MeasureParams& q, const FrameState<double>& A, const FrameState<double>& B,
                     MeasureTangent& out) {
  using namespace measure_detail;
  switch (kind) {
    case MeasureKind::coordinate:
      return coordinate_tangent(q.a, A, B, out);
    case MeasureKind::slip:
      return slip_tangent(q.a, A, B, out);
    case MeasureKind::distance:
      return distance_tangent(A, B, out);
    case MeasureKind::angle:
      return angle_tangent(A, B, out);
    case MeasureKind::dot:
    case MeasureKind::dot_difference: {
      MeasureValue<double> m;
      evaluate(kind, q, A, B, m);
      clear(m, out);
      add_dot_tangent(q.a, q.b, 1, A, B, out);
      if (kind == MeasureKind::dot_difference) add_dot_tangent(q.c, q.d, -1, A, B, out);
      return;
    }
    case MeasureKind::swing:
    case MeasureKind::rotation:
      return dual_tangent(kind, q, A, B, out);
  }
}

MeasureTangent measure_tangent(MeasureKind kind, const MeasureParams& q, const FrameState<double>& A,
                               const FrameState<double>& B) {
  MeasureTangent out;
  measure_tangent(kind, q, A, B, out);
  return out;
}

}  // namespace clatter
