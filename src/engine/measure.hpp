// Measures: scalar functions of two frames A and B, the material of joints, force elements and outputs.
//
// All vectors are in world axes. x = (pA, thetaA, pB, thetaB) are pose increments in world axes (dR = tilde(dtheta) R),
// xi = (vA, wA, vB, wB) the twists, so that dx/dt = xi. A measure gives
//   e(x)                   its value
//   g(x) = (fA,nA,fB,nB)   its gradient: de/dt = g . xi
//   bias = g . (aA, alphaA, aB, alphaB) + xi^T H xi,  H = dg/dx    its second time derivative
// where a and alpha are the frames' accelerations; with the bias accelerations (all generalized accelerations zero)
// the second derivative is bias + g . J dv/dt. A stress sigma that does the virtual power -sigma de/dt (pulls e back
// when positive) puts the wrench -sigma (f, n) on each frame's origin; a constraint's multiplier, entering as
// +G^T lambda, puts +lambda (f, n).
//
// Each kind is one template on its scalar. With T = double it is the hot path; with T = Dual it gives the exact
// derivatives collected in MeasureTangent. The frequent kinds have theirs also by hand, several times faster.
#pragma once

#include "base/math.hpp"
#include "base/rotation.hpp"

namespace clatter {

enum class MeasureKind : unsigned char {
  coordinate,      // a_A . (pB - pA): displacement of B's origin along an axis fixed in A
  dot,             // a_A . b_B
  dot_difference,  // a_A . b_B - c_A . d_B: constant-velocity joint x_A . y_B - y_A . x_B
  distance,        // |pB - pA|
  angle,           // rotation of B about z of A, in (-pi, pi]
  swing,           // atan2(a_A . b_B, c_A . d_B): an angle between chosen axes, universal joints
  rotation,        // component of the rotation vector log(R_A^T R_B)
  slip             // a_A . (vB - vA): a velocity only, e = 0
};

// Where a measure is not defined. Values and gradient are then zero, never NaN; the caller names the element.
enum class MeasureFault : unsigned char {
  none,
  zero_length,    // distance of coincident points has no direction
  opposite_axes,  // angle about z when z_B = -z_A
  no_angle        // swing with both products zero
};

// The axes a, c are fixed in A, b, d in B, each in its own frame's components. Which are read depends on the kind.
struct MeasureParams {
  Vec3 a = Vec3::UnitX(), b = Vec3::UnitX(), c = Vec3::UnitX(), d = Vec3::UnitX();
  int component = 0;  // of the rotation vector
};

template <class T>
struct FrameState {
  Eigen::Matrix<T, 3, 3> R;         // columns are the frame's axes
  Eigen::Matrix<T, 3, 1> p, v, w;   // origin, its velocity, angular velocity
  Eigen::Matrix<T, 3, 1> a, alpha;  // acceleration of the origin, angular acceleration: the bias ones
};

template <class T>
struct MeasureValue {
  T e, de, bias;
  Eigen::Matrix<T, 3, 1> fA, nA, fB, nB;
  MeasureFault fault = MeasureFault::none;
};

namespace measure_detail {

template <class T>
using V3 = Eigen::Matrix<T, 3, 1>;

template <class T>
V3<T> zero() {
  return V3<T>(T(0), T(0), T(0));
}

template <class T>
void undefined(MeasureFault fault, MeasureValue<T>& m) {
  m.e = m.de = m.bias = T(0);
  m.fA = m.nA = m.fB = m.nB = zero<T>();
  m.fault = fault;
}

// One product s = a_A . b_B with its first and second derivatives; n is the gradient by wA, -n the one by wB.
template <class T>
struct AxisProduct {
  T s, ds, bias;
  V3<T> n;
};

template <class T>
AxisProduct<T> axis_product(const V3<T>& a, const V3<T>& b, const FrameState<T>& A, const FrameState<T>& B) {
  // With r = wB - wA: ds = -n . r, and its derivative collected to products of the axes with the angular velocities.
  const V3<T> n = a.cross(b), r = B.w - A.w;
  const T s = a.dot(b), a_wA = a.dot(A.w), a_wB = a.dot(B.w), b_wA = b.dot(A.w), b_wB = b.dot(B.w);
  return {s, -n.dot(r), n.dot(A.alpha - B.alpha) + a_wA * b_wA + a_wB * b_wB - 2.0 * a_wB * b_wA - s * r.squaredNorm(),
          n};
}

}  // namespace measure_detail

// e = a_A . (pB - pA)
template <class T>
void measure_coordinate(const Vec3& axis, const FrameState<T>& A, const FrameState<T>& B, MeasureValue<T>& m) {
  using namespace measure_detail;
  const V3<T> a = A.R * axis, d = B.p - A.p, u = B.v - A.v, wa = A.w.cross(a);
  m.fA = -a;
  m.nA = a.cross(d);
  m.fB = a;
  m.nB = zero<T>();
  m.e = a.dot(d);
  m.de = a.dot(u) + m.nA.dot(A.w);
  m.bias = a.dot(B.a - A.a) + m.nA.dot(A.alpha) + 2.0 * wa.dot(u) + A.w.cross(wa).dot(d);
  m.fault = MeasureFault::none;
}

// e = a_A . b_B
template <class T>
void measure_dot(const Vec3& axis_a, const Vec3& axis_b, const FrameState<T>& A, const FrameState<T>& B,
                 MeasureValue<T>& m) {
  using namespace measure_detail;
  const AxisProduct<T> s = axis_product<T>(A.R * axis_a, B.R * axis_b, A, B);
  m.e = s.s;
  m.de = s.ds;
  m.bias = s.bias;
  m.fA = m.fB = zero<T>();
  m.nA = s.n;
  m.nB = -s.n;
  m.fault = MeasureFault::none;
}

// e = a_A . b_B - c_A . d_B
template <class T>
void measure_dot_difference(const MeasureParams& q, const FrameState<T>& A, const FrameState<T>& B,
                            MeasureValue<T>& m) {
  using namespace measure_detail;
  const AxisProduct<T> s = axis_product<T>(A.R * q.a, B.R * q.b, A, B);
  const AxisProduct<T> t = axis_product<T>(A.R * q.c, B.R * q.d, A, B);
  m.e = s.s - t.s;
  m.de = s.ds - t.ds;
  m.bias = s.bias - t.bias;
  m.fA = m.fB = zero<T>();
  m.nA = s.n - t.n;
  m.nB = -m.nA;
  m.fault = MeasureFault::none;
}

// e = |pB - pA|; with the unit vector u along it, de = u . (vB - vA).
template <class T>
void measure_distance(const FrameState<T>& A, const FrameState<T>& B, MeasureValue<T>& m) {
  using namespace measure_detail;
  using std::sqrt;
  const V3<T> d = B.p - A.p, r = B.v - A.v;
  const T length2 = d.squaredNorm();
  if (!(length2 > 1e-290)) return undefined(MeasureFault::zero_length, m);  // below, its inverse would overflow
  m.e = sqrt(length2);
  const T inverse = 1.0 / m.e;
  const V3<T> u = d * inverse;
  m.de = u.dot(r);
  const V3<T> transverse = r - u * m.de;
  m.bias = u.dot(B.a - A.a) + transverse.squaredNorm() * inverse;
  m.fA = -u;
  m.fB = u;
  m.nA = m.nB = zero<T>();
  m.fault = MeasureFault::none;
}

// The turn about z of A left when the shortest rotation that brings the z axes together is taken out,
//   e = atan2(yA . xB - xA . yB, xA . xB + yA . yB),
// which is atan2(yA . xB, xA . xB) when the z axes agree, and stays defined until they are opposite. Its rate needs
// the z axes only: with u = (zA + zB)/k, k = 1 + zA . zB and r = wB - wA,
//   de = u . r,   d(de)/dt = u . (alphaB - alphaA + wB x wA) + (u . r)(r . (zA x zB))/k
template <class T>
void measure_angle(const FrameState<T>& A, const FrameState<T>& B, MeasureValue<T>& m) {
  using namespace measure_detail;
  using std::atan2;
  const V3<T> zA = A.R.col(2), zB = B.R.col(2), r = B.w - A.w;
  const T k = 1.0 + zA.dot(zB);
  if (!(k > 1e-12)) return undefined(MeasureFault::opposite_axes, m);
  const T inverse = 1.0 / k;
  const V3<T> u = (zA + zB) * inverse;
  const auto xA = A.R.col(0), yA = A.R.col(1), xB = B.R.col(0), yB = B.R.col(1);
  m.e = atan2(T(yA.dot(xB) - xA.dot(yB)), T(xA.dot(xB) + yA.dot(yB)));
  m.de = u.dot(r);
  m.bias = u.dot(B.alpha - A.alpha + B.w.cross(A.w)) + m.de * r.dot(zA.cross(zB)) * inverse;
  m.fA = m.fB = zero<T>();
  m.nA = -u;
  m.nB = u;
  m.fault = MeasureFault::none;
}

// e = atan2(s, t), s = a_A . b_B, t = c_A . d_B:  de = (t ds - s dt)/(s^2 + t^2).
template <class T>
void measure_swing(const MeasureParams& q, const FrameState<T>& A, const FrameState<T>& B, MeasureValue<T>& m) {
  using namespace measure_detail;
  using std::atan2;
  const AxisProduct<T> s = axis_product<T>(A.R * q.a, B.R * q.b, A, B);
  const AxisProduct<T> t = axis_product<T>(A.R * q.c, B.R * q.d, A, B);
  const T n2 = s.s * s.s + t.s * t.s;
  if (!(n2 > 1e-24)) return undefined(MeasureFault::no_angle, m);
  const T ks = t.s / n2, kt = s.s / n2;
  m.e = atan2(s.s, t.s);
  m.de = ks * s.ds - kt * t.ds;
  m.bias = ks * s.bias - kt * t.bias - 2.0 * m.de * (s.s * s.ds + t.s * t.ds) / n2;
  m.fA = m.fB = zero<T>();
  m.nA = ks * s.n - kt * t.n;
  m.nB = -m.nA;
  m.fault = MeasureFault::none;
}

// e = psi_k, psi = log(R_A^T R_B). With Omega = R_B^T (wB - wA): dpsi/dt = T^-1(psi) Omega,
// d2psi/dt2 = T^-1 R_B^T (alphaB - alphaA + wB x wA) + D+(psi, Omega) dpsi/dt.
template <class T>
void measure_rotation(int k, const FrameState<T>& A, const FrameState<T>& B, MeasureValue<T>& m) {
  using namespace measure_detail;
  const V3<T> psi = rotation_log<T>(A.R.transpose() * B.R), r = B.w - A.w;
  const V3<T> Omega = B.R.transpose() * r;
  const Eigen::Matrix<T, 3, 3> Tinv = right_jacobian_inverse(psi);
  const V3<T> psi_dot = Tinv * Omega;
  m.e = psi[k];
  m.de = psi_dot[k];
  m.nB = B.R * Tinv.row(k).transpose();
  m.nA = -m.nB;
  m.fA = m.fB = zero<T>();
  const Eigen::Matrix<T, 3, 3> D = right_jacobian_inverse_derivative(psi, Omega);
  m.bias = m.nB.dot(B.alpha - A.alpha + B.w.cross(A.w)) + D.row(k).transpose().dot(psi_dot);
  m.fault = MeasureFault::none;
}

// de = a_A . (vB - vA), the velocity of B's origin against A's along an axis of A; no position belongs to it.
template <class T>
void measure_slip(const Vec3& axis, const FrameState<T>& A, const FrameState<T>& B, MeasureValue<T>& m) {
  using namespace measure_detail;
  const V3<T> a = A.R * axis, u = B.v - A.v;
  m.e = T(0);
  m.de = a.dot(u);
  m.bias = a.dot(B.a - A.a) + A.w.cross(a).dot(u);
  m.fA = -a;
  m.fB = a;
  m.nA = m.nB = zero<T>();
  m.fault = MeasureFault::none;
}

template <class T>
void evaluate(MeasureKind kind, const MeasureParams& q, const FrameState<T>& A, const FrameState<T>& B,
              MeasureValue<T>& m) {
  switch (kind) {
    case MeasureKind::coordinate:
      return measure_coordinate(q.a, A, B, m);
    case MeasureKind::dot:
      return measure_dot(q.a, q.b, A, B, m);
    case MeasureKind::dot_difference:
      return measure_dot_difference(q, A, B, m);
    case MeasureKind::distance:
      return measure_distance(A, B, m);
    case MeasureKind::angle:
      return measure_angle(A, B, m);
    case MeasureKind::swing:
      return measure_swing(q, A, B, m);
    case MeasureKind::rotation:
      return measure_rotation(q.component, A, B, m);
    case MeasureKind::slip:
      return measure_slip(q.a, A, B, m);
  }
}

template <class T>
MeasureValue<T> evaluate(MeasureKind kind, const MeasureParams& q, const FrameState<T>& A, const FrameState<T>& B) {
  MeasureValue<T> m;
  evaluate(kind, q, A, B, m);
  return m;
}

// The angles of a universal joint R_A^T R_B = Rz(angle) Ry(angle'), the cross being on z of A and y of B.
inline MeasureParams universal_angle_z() {
  return {.a = Vec3::UnitX(), .b = -Vec3::UnitY(), .c = Vec3::UnitY(), .d = Vec3::UnitY()};
}
inline MeasureParams universal_angle_y() {
  return {.a = Vec3::UnitZ(), .b = -Vec3::UnitX(), .c = Vec3::UnitZ(), .d = Vec3::UnitZ()};
}
// The constraint of a constant-velocity joint.
inline MeasureParams constant_velocity_axes() {
  return {.a = Vec3::UnitX(), .b = Vec3::UnitY(), .c = Vec3::UnitY(), .d = Vec3::UnitX()};
}

// --- derivatives -----------------------------------------------------------------------------------------------------

// Exact derivatives with respect to the pose x and the twists xi defined above, everything else held.
struct MeasureTangent {
  using Row = Eigen::Matrix<double, 12, 1>;
  double e, de, bias;
  Row g;                            // (fA, nA, fB, nB)
  Row e_x;                          // de/dx: g itself, zero for `slip`
  Eigen::Matrix<double, 12, 12> H;  // dg/dx, row i: derivative of g_i; not symmetric in rotation increments
  Row de_x;                         // d(de)/dx at fixed twists; d(de)/dxi = g
  Row bias_x;                       // d(bias)/dx at fixed twists and accelerations; d(bias)/d(a, alpha) = g
  Row bias_xi;                      // d(bias)/dxi
  MeasureFault fault = MeasureFault::none;
};

void measure_tangent(MeasureKind kind, const MeasureParams& q, const FrameState<double>& A, const FrameState<double>& B,
                     MeasureTangent& out);
MeasureTangent measure_tangent(MeasureKind kind, const MeasureParams& q, const FrameState<double>& A,
                               const FrameState<double>& B);

namespace measure_detail {
// By dual numbers alone, whatever the kind: what the tangents written by hand are checked against.
void dual_tangent(MeasureKind kind, const MeasureParams& q, const FrameState<double>& A, const FrameState<double>& B,
                  MeasureTangent& out);
}  // namespace measure_detail

}  // namespace clatter
