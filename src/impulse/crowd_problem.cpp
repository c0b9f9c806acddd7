#include "impulse/crowd_problem.hpp"

#include <algorithm>
#include <cmath>

namespace clatter::contact {

void project_on_cone(double mu, double& pn, Vec3& pt) {
  const double t = pt.norm();
  if (t <= mu * pn) return;
  if (mu * t <= -pn) {
    pn = 0;
    pt.setZero();
    return;
  }
  const double k = (mu * t + pn) / (1 + mu * mu);
  pt *= mu * k / t;
  pn = k;
}

Mat3 CrowdProblem::response(int side, const double* c) const {
  if (side >= 0) {
    const CrowdBody& o = bodies[static_cast<std::size_t>(side)];
    const Mat3 turn = skew<double>(Vec3(c[0], c[1], c[2]));
    const Mat3 inertia =
        balls ? Mat3(o.inverse_inertia * Mat3::Identity()) : inverse_inertia[static_cast<std::size_t>(side)];
    return o.inverse_mass * Mat3::Identity() - turn * inertia * turn;
  }
  const CrowdSide& s = sides[static_cast<std::size_t>(~side)];
  Mat3 A = Mat3::Zero();
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k)
      for (int j = 0; j < s.n; ++j)
        A(i, k) +=
            W[static_cast<std::size_t>(s.offset + i * s.n + j)] * X[static_cast<std::size_t>(s.offset + k * s.n + j)];
  return A;
}

void CrowdProblem::set_response(CrowdRow& row) const {
  const Vec3 n(row.n[0], row.n[1], row.n[2]);
  double nn, tt;
  if (balls && row.side1 >= 0 && row.side2 >= 0) {
    const CrowdBody &o1 = bodies[static_cast<std::size_t>(row.side1)],
                    &o2 = bodies[static_cast<std::size_t>(row.side2)];
    nn = o1.inverse_mass + o2.inverse_mass;
    tt = nn + o1.inverse_inertia * (row.c1[0] * row.c1[0] + row.c1[1] * row.c1[1] + row.c1[2] * row.c1[2]) +
         o2.inverse_inertia * (row.c2[0] * row.c2[0] + row.c2[1] * row.c2[1] + row.c2[2] * row.c2[2]);
  } else {
    const Mat3 A = response(row.side1, row.c1) + response(row.side2, row.c2);
    nn = n.dot(A * n);
    const Vec3 t1 = n.unitOrthogonal(), t2 = n.cross(t1);
    const double a = t1.dot(A * t1), b = t2.dot(A * t2), c = t1.dot(A * t2);
    tt = 0.5 * (a + b) + std::sqrt(0.25 * (a - b) * (a - b) + c * c);
  }
  row.inverse_nn = nn > 0 ? 1 / nn : 0;
  row.inverse_tt = tt > 0 ? 1 / tt : 0;
}

CrowdResidual CrowdProblem::residual(bool exact, std::size_t from, std::size_t to) const {
  CrowdResidual out;
  for (std::size_t i = from; i < to; ++i) {
    if (!turns.empty() && turns[i].any()) {
      add_residual(i, exact, out);
      continue;
    }
    const CrowdRow& row = rows[i];
    const Vec3 u = shifted_rate(i), n(row.n[0], row.n[1], row.n[2]), pt(row.pt[0], row.pt[1], row.pt[2]);
    const double un = n.dot(u);
    const Vec3 ut = u - un * n;
    if (has_given_limit(row)) {
      Vec3 zt = pt - row.inverse_tt * ut;
      project_on_disc(row.mu * row.pn, zt);
      out.cone = std::max(out.cone, pt.norm() - row.mu * row.pn);
      out.impulse = std::max(out.impulse, (pt - zt).norm());
      if (row.inverse_tt > 0) out.rate = std::max(out.rate, (pt - zt).norm() / row.inverse_tt);
      continue;
    }
    double dn = un + row.b;
    out.approach = std::max(out.approach, -dn);
    out.cone = std::max({out.cone, pt.norm() - row.mu * row.pn, -row.pn});
    if (exact) dn += row.mu * ut.norm();
    const double eta = row.mu > 0 ? std::min(row.inverse_nn, row.inverse_tt) : row.inverse_nn;
    if (!(eta > 0)) continue;
    double zn = row.pn - eta * dn;
    Vec3 zt = pt - eta * ut;
    if (row.mu > 0) {
      project_on_cone(row.mu, zn, zt);
    } else {
      zn = std::max(0.0, zn);
      zt.setZero();
    }
    const double off = std::sqrt((row.pn - zn) * (row.pn - zn) + (pt - zt).squaredNorm());
    out.impulse = std::max(out.impulse, off);
    out.rate = std::max(out.rate, off / eta);
  }
  return out;
}

}  // namespace clatter::contact
