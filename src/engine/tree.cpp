#include "engine/tree.hpp"

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <cmath>

#include "base/rotation.hpp"

namespace clatter {

int coordinate_count(Mobility m) {
  switch (m) {
    case Mobility::weld:
      return 0;
    case Mobility::revolute:
    case Mobility::prismatic:
    case Mobility::screw:
      return 1;
    case Mobility::spherical:
      return 4;
    case Mobility::free6:
      return 7;
    case Mobility::planar3:
    case Mobility::particle3:
      return 3;
    case Mobility::particle2:
      return 2;
  }
  return 0;
}

int velocity_count(Mobility m) {
  if (m == Mobility::spherical) return 3;
  if (m == Mobility::free6) return 6;
  return coordinate_count(m);
}

void Tree::finish() {
  nq = nv = 0;
  trees.clear();
  rotation_blocks.clear();
  path.assign(links.size(), {});
  for (int i = 0; i < static_cast<int>(links.size()); ++i) {
    Link& l = links[i];
    l.q = nq;
    l.v = nv;
    l.nv = velocity_count(l.mobility);
    nq += coordinate_count(l.mobility);
    nv += l.nv;
    if (l.parent < 0) trees.push_back({i, i, l.v, l.v, false});
    l.tree = static_cast<int>(trees.size()) - 1;
    trees.back().link1 = i + 1;
    trees.back().v1 = nv;
    if (l.mobility == Mobility::spherical) rotation_blocks.push_back(l.v);
    if (l.mobility == Mobility::free6) rotation_blocks.push_back(l.v + 3);
    if (l.parent >= 0) path[i] = path[l.parent];
    for (int k = 0; k < l.nv; ++k) path[i].push_back(l.v + k);
    if (l.mass > 0 && l.inertia.determinant() > 0) l.inertia_inverse = l.inertia.inverse();
  }
  for (TreeRange& t : trees) {
    const Mobility m = links[t.link0].mobility;
    t.simple = t.link1 == t.link0 + 1 &&
               (m == Mobility::free6 || m == Mobility::planar3 || m == Mobility::particle3 || m == Mobility::particle2);
  }
}

namespace {

Eigen::Map<Vec3> as3(double* x) { return Eigen::Map<Vec3>(x); }
Eigen::Map<Vec6> as6(double* x) { return Eigen::Map<Vec6>(x); }

Quat quaternion_at(const double* q) { return Quat(q[0], q[1], q[2], q[3]); }
void store(const Quat& quat, double* q) {
  q[0] = quat.w();
  q[1] = quat.x();
  q[2] = quat.y();
  q[3] = quat.z();
}

// Quaternion product with exp(delta), normalised: the coordinates of an orientation never leave the unit sphere.
void turn(const double* q, const double* delta, double* out) {
  Quat r = quaternion_at(q) * quaternion_exp<double>(Vec3(delta[0], delta[1], delta[2]));
  r.normalize();
  store(r, out);
}

Mat3 turn_about_z(const Mat3& F, double angle) {
  const double c = std::cos(angle), s = std::sin(angle);
  Mat3 R;
  R.col(0) = c * F.col(0) + s * F.col(1);
  R.col(1) = c * F.col(1) - s * F.col(0);
  R.col(2) = F.col(2);
  return R;
}

// A - H r~ - (H r~)^T - r~ L r~,  H + r~ L,  L added to the parent.
void shift_to_parent(const Mat3& A, const Mat3& H, const Mat3& L, const Vec3& r, ArticulatedInertia& parent) {
  const Mat3 rs = skew<double>(r);
  const Mat3 rL = rs * L;
  const Mat3 Hr = H * rs;
  parent.A += A - Hr - Hr.transpose() - rL * rs;
  parent.H += H + rL;
  parent.L += L;
}

}  // namespace

void Tree::plus(const Vec& q, const Vec& delta, Vec& q_out) const {
  for (const Link& l : links) {
    const double* qi = q.data() + l.q;
    const double* di = delta.data() + l.v;
    double* qo = q_out.data() + l.q;
    if (l.mobility == Mobility::free6) {
      for (int k = 0; k < 3; ++k) qo[k] = qi[k] + di[k];
      turn(qi + 3, di + 3, qo + 3);
    } else if (l.mobility == Mobility::spherical) {
      turn(qi, di, qo);
    } else {
      for (int k = 0; k < l.nv; ++k) qo[k] = qi[k] + di[k];
    }
  }
}

void Tree::minus(const Vec& q1, const Vec& q0, Vec& delta) const {
  for (const Link& l : links) {
    const double* a = q1.data() + l.q;
    const double* b = q0.data() + l.q;
    double* d = delta.data() + l.v;
    const auto rotation = [](const double* to, const double* from, double* out) {
      const Vec3 psi = rotation_log<double>(Quat(quaternion_at(from).conjugate() * quaternion_at(to)));
      for (int k = 0; k < 3; ++k) out[k] = psi[k];
    };
    if (l.mobility == Mobility::free6) {
      for (int k = 0; k < 3; ++k) d[k] = a[k] - b[k];
      rotation(a + 3, b + 3, d + 3);
    } else if (l.mobility == Mobility::spherical) {
      rotation(a, b, d);
    } else {
      for (int k = 0; k < l.nv; ++k) d[k] = a[k] - b[k];
    }
  }
}

TreeWork::TreeWork(const Tree& tree)
    : motion(tree.links.size()),
      inertia(tree.links.size()),
      spherical_D(tree.links.size()),
      spherical_U(tree.links.size()),
      root_inverse(tree.links.size()),
      F(tree.links.size(), Vec3::Zero()),
      N(tree.links.size(), Vec3::Zero()),
      pF(tree.links.size()),
      pN(tree.links.size()),
      u(tree.nv) {}

void kinematics(const Tree& tree, const Vec& q, const Vec& v, TreeWork& work) {
  for (std::size_t i = 0; i < tree.links.size(); ++i) {
    const Link& l = tree.links[i];
    LinkMotion& m = work.motion[i];
    const double* qi = q.data() + l.q;
    const double* vi = v.data() + l.v;
    switch (l.mobility) {
      case Mobility::free6:
        m.p = Vec3(qi[0], qi[1], qi[2]);
        m.R = quaternion_at(qi + 3).toRotationMatrix();
        m.v = Vec3(vi[0], vi[1], vi[2]);
        m.w = m.R * Vec3(vi[3], vi[4], vi[5]);
        continue;
      case Mobility::planar3:
        m.p = Vec3(qi[0], qi[1], l.p_PF.z());
        m.R = turn_about_z(Mat3::Identity(), qi[2]);
        m.v = Vec3(vi[0], vi[1], 0);
        m.w = Vec3(0, 0, vi[2]);
        continue;
      case Mobility::particle3:
        m.p = Vec3(qi[0], qi[1], qi[2]);
        m.R = l.R_PF;
        m.v = Vec3(vi[0], vi[1], vi[2]);
        m.w.setZero();
        continue;
      case Mobility::particle2:
        m.p = Vec3(qi[0], qi[1], l.p_PF.z());
        m.R = l.R_PF;
        m.v = Vec3(vi[0], vi[1], 0);
        m.w.setZero();
        continue;
      default:
        break;
    }
    // Joint frame F on the parent.
    Mat3 F;
    Vec3 wp, vp, pp;
    if (l.parent >= 0) {
      const LinkMotion& parent = work.motion[l.parent];
      F.noalias() = parent.R * l.R_PF;
      m.j.noalias() = parent.R * l.p_PF;
      wp = parent.w;
      vp = parent.v;
      pp = parent.p;
    } else {
      F = l.R_PF;
      m.j = l.p_PF;
      wp.setZero();
      vp.setZero();
      pp.setZero();
    }
    m.z = F.col(2);
    double displacement_rate = 0;
    switch (l.mobility) {
      case Mobility::revolute:
        m.R = turn_about_z(F, qi[0]);
        m.w = wp + m.z * vi[0];
        break;
      case Mobility::screw:
        m.R = turn_about_z(F, qi[0]);
        m.w = wp + m.z * vi[0];
        m.j += m.z * (l.pitch * qi[0]);
        displacement_rate = l.pitch * vi[0];
        break;
      case Mobility::prismatic:
        m.R = F;
        m.w = wp;
        m.j += m.z * qi[0];
        displacement_rate = vi[0];
        break;
      case Mobility::spherical:
        m.R.noalias() = F * quaternion_at(qi).toRotationMatrix();
        m.w = wp + m.R * Vec3(vi[0], vi[1], vi[2]);
        break;
      default:  // weld
        m.R = F;
        m.w = wp;
        break;
    }
    m.d.noalias() = m.R * l.p_MB;
    m.p = pp + m.j + m.d;
    m.v = vp + wp.cross(m.j) + m.z * displacement_rate + m.w.cross(m.d);
  }
}

void accelerations(const Tree& tree, const Vec& v, const double* qdd, TreeWork& work) {
  static const double zeros[6] = {0, 0, 0, 0, 0, 0};
  for (std::size_t i = 0; i < tree.links.size(); ++i) {
    const Link& l = tree.links[i];
    LinkMotion& m = work.motion[i];
    const double* vi = v.data() + l.v;
    const double* ai = qdd ? qdd + l.v : zeros;
    switch (l.mobility) {
      case Mobility::free6:
        m.a = Vec3(ai[0], ai[1], ai[2]);
        m.alpha = m.R * Vec3(ai[3], ai[4], ai[5]);  // w x w = 0: body components differentiate to the same vector
        continue;
      case Mobility::planar3:
        m.a = Vec3(ai[0], ai[1], 0);
        m.alpha = Vec3(0, 0, ai[2]);
        continue;
      case Mobility::particle3:
        m.a = Vec3(ai[0], ai[1], ai[2]);
        m.alpha.setZero();
        continue;
      case Mobility::particle2:
        m.a = Vec3(ai[0], ai[1], 0);
        m.alpha.setZero();
        continue;
      default:
        break;
    }
    Vec3 ap, alphap, wp;
    if (l.parent >= 0) {
      const LinkMotion& parent = work.motion[l.parent];
      ap = parent.a;
      alphap = parent.alpha;
      wp = parent.w;
    } else {
      ap.setZero();
      alphap.setZero();
      wp.setZero();
    }
    m.alpha = alphap;
    double ud = 0, udd = 0;
    switch (l.mobility) {
      case Mobility::revolute:
        m.alpha += wp.cross(m.z) * vi[0] + m.z * ai[0];
        break;
      case Mobility::screw:
        m.alpha += wp.cross(m.z) * vi[0] + m.z * ai[0];
        ud = l.pitch * vi[0];
        udd = l.pitch * ai[0];
        break;
      case Mobility::prismatic:
        ud = vi[0];
        udd = ai[0];
        break;
      case Mobility::spherical: {
        const Vec3 wJ = m.w - wp;
        m.alpha += wp.cross(wJ) + m.R * Vec3(ai[0], ai[1], ai[2]);
        break;
      }
      default:
        break;
    }
    m.a = ap + alphap.cross(m.j) + wp.cross(wp.cross(m.j)) + (2.0 * ud) * wp.cross(m.z) + m.z * udd +
          m.alpha.cross(m.d) + m.w.cross(m.w.cross(m.d));
  }
}

void project_wrenches(const Tree& tree, TreeWork& work, Vec& tau) {
  for (int i = static_cast<int>(tree.links.size()) - 1; i >= 0; --i) {
    const Link& l = tree.links[i];
    const LinkMotion& m = work.motion[i];
    const Vec3& F = work.F[i];
    const Vec3& N = work.N[i];
    double* t = tau.data() + l.v;
    switch (l.mobility) {
      case Mobility::free6:
        as3(t) = F;
        as3(t + 3) = m.R.transpose() * N;
        continue;
      case Mobility::planar3:
        t[0] = F.x();
        t[1] = F.y();
        t[2] = N.z();
        continue;
      case Mobility::particle3:
        as3(t) = F;
        continue;
      case Mobility::particle2:
        t[0] = F.x();
        t[1] = F.y();
        continue;
      case Mobility::revolute:
        t[0] = m.z.dot(N + m.d.cross(F));
        break;
      case Mobility::screw:
        t[0] = m.z.dot(N + m.d.cross(F)) + l.pitch * m.z.dot(F);
        break;
      case Mobility::prismatic:
        t[0] = m.z.dot(F);
        break;
      case Mobility::spherical:
        as3(t) = m.R.transpose() * (N + m.d.cross(F));
        break;
      case Mobility::weld:
        break;
    }
    if (l.parent >= 0) {
      const Vec3 r = m.j + m.d;
      work.F[l.parent] += F;
      work.N[l.parent] += N + r.cross(F);
    }
  }
}

void factorize_mass(const Tree& tree, TreeWork& work) {
  for (std::size_t i = 0; i < tree.links.size(); ++i) {
    const Link& l = tree.links[i];
    if (tree.trees[l.tree].simple) continue;
    ArticulatedInertia& I = work.inertia[i];
    const Mat3& R = work.motion[i].R;
    I.A.noalias() = R * l.inertia * R.transpose();
    I.H.setZero();
    I.L = l.mass * Mat3::Identity();
  }
  for (int i = static_cast<int>(tree.links.size()) - 1; i >= 0; --i) {
    const Link& l = tree.links[i];
    if (tree.trees[l.tree].simple) continue;
    const LinkMotion& m = work.motion[i];
    ArticulatedInertia& I = work.inertia[i];
    switch (l.mobility) {
      case Mobility::revolute:
      case Mobility::screw:
      case Mobility::prismatic: {
        if (l.mobility == Mobility::prismatic) {
          I.UN.noalias() = I.H * m.z;
          I.UF.noalias() = I.L * m.z;
          I.inverse_D = 1.0 / m.z.dot(I.UF);
        } else {
          Vec3 s = m.z.cross(m.d);
          if (l.mobility == Mobility::screw) s += l.pitch * m.z;
          I.UN.noalias() = I.A * m.z + I.H * s;
          I.UF.noalias() = I.H.transpose() * m.z + I.L * s;
          I.inverse_D = 1.0 / (m.z.dot(I.UN) + s.dot(I.UF));
        }
        if (l.parent >= 0) {
          const Vec3 UNd = I.UN * I.inverse_D, UFd = I.UF * I.inverse_D;
          const Mat3 A = I.A - UNd * I.UN.transpose();
          const Mat3 H = I.H - UNd * I.UF.transpose();
          const Mat3 L = I.L - UFd * I.UF.transpose();
          shift_to_parent(A, H, L, m.j + m.d, work.inertia[l.parent]);
        }
        break;
      }
      case Mobility::spherical: {
        Eigen::Matrix<double, 6, 3>& U = work.spherical_U[i];
        const Mat3 S_lin = -skew<double>(m.d) * m.R;  // (R e_k) x d
        U.topRows<3>().noalias() = I.A * m.R + I.H * S_lin;
        U.bottomRows<3>().noalias() = I.H.transpose() * m.R + I.L * S_lin;
        const Mat3 D = m.R.transpose() * U.topRows<3>() + S_lin.transpose() * U.bottomRows<3>();
        work.spherical_D[i] = D.inverse();
        if (l.parent >= 0) {
          const Eigen::Matrix<double, 6, 3> UD = U * work.spherical_D[i];
          const Mat3 A = I.A - UD.topRows<3>() * U.topRows<3>().transpose();
          const Mat3 H = I.H - UD.topRows<3>() * U.bottomRows<3>().transpose();
          const Mat3 L = I.L - UD.bottomRows<3>() * U.bottomRows<3>().transpose();
          shift_to_parent(A, H, L, m.j + m.d, work.inertia[l.parent]);
        }
        break;
      }
      case Mobility::weld:
        if (l.parent >= 0) shift_to_parent(I.A, I.H, I.L, m.j + m.d, work.inertia[l.parent]);
        break;
      case Mobility::free6: {
        Mat6 D;
        D.topLeftCorner<3, 3>() = I.L;
        D.topRightCorner<3, 3>().noalias() = I.H.transpose() * m.R;
        D.bottomLeftCorner<3, 3>() = D.topRightCorner<3, 3>().transpose();
        D.bottomRightCorner<3, 3>().noalias() = m.R.transpose() * I.A * m.R;
        work.root_inverse[i] = D.llt().solve(Mat6::Identity());
        break;
      }
      case Mobility::planar3: {
        Mat3 D;
        D << I.L(0, 0), I.L(0, 1), I.H(2, 0), I.L(1, 0), I.L(1, 1), I.H(2, 1), I.H(2, 0), I.H(2, 1), I.A(2, 2);
        work.spherical_D[i] = D.inverse();
        break;
      }
      case Mobility::particle3:
        work.spherical_D[i] = I.L.inverse();
        break;
      case Mobility::particle2: {
        Mat3 D = Mat3::Identity();
        D.topLeftCorner<2, 2>() = I.L.topLeftCorner<2, 2>();
        work.spherical_D[i] = D.inverse();
        break;
      }
    }
  }
}

namespace {

void solve_simple(const Link& l, const double* b, double* x) {
  const double im = 1.0 / l.mass;
  switch (l.mobility) {
    case Mobility::free6: {
      const Vec3 N(b[3], b[4], b[5]);
      for (int k = 0; k < 3; ++k) x[k] = b[k] * im;
      as3(x + 3) = l.inertia_inverse * N;
      break;
    }
    case Mobility::planar3:
      x[0] = b[0] * im;
      x[1] = b[1] * im;
      x[2] = b[2] / l.inertia(2, 2);
      break;
    default:
      for (int k = 0; k < l.nv; ++k) x[k] = b[k] * im;
      break;
  }
}

}  // namespace

void solve_mass(const Tree& tree, int which, TreeWork& work, const double* b, double* x) {
  const TreeRange& t = tree.trees[which];
  if (t.simple) {
    solve_simple(tree.links[t.link0], b, x);
    return;
  }
  const int v0 = t.v0;
  for (int i = t.link0; i < t.link1; ++i) {
    work.pF[i].setZero();
    work.pN[i].setZero();
  }
  for (int i = t.link1 - 1; i >= t.link0; --i) {
    const Link& l = tree.links[i];
    const LinkMotion& m = work.motion[i];
    const ArticulatedInertia& I = work.inertia[i];
    Vec3 F = work.pF[i], N = work.pN[i];
    double* u = work.u.data() + l.v;
    const double* bi = b + (l.v - v0);
    switch (l.mobility) {
      case Mobility::revolute:
      case Mobility::screw:
      case Mobility::prismatic: {
        double Sp = l.mobility == Mobility::prismatic ? m.z.dot(F) : m.z.dot(N + m.d.cross(F));
        if (l.mobility == Mobility::screw) Sp += l.pitch * m.z.dot(F);
        u[0] = (bi[0] - Sp) * I.inverse_D;
        F += I.UF * u[0];
        N += I.UN * u[0];
        break;
      }
      case Mobility::spherical: {
        const Vec3 Sp = m.R.transpose() * (N + m.d.cross(F));
        const Vec3 y = work.spherical_D[i] * (Vec3(bi[0], bi[1], bi[2]) - Sp);
        as3(u) = y;
        N += work.spherical_U[i].topRows<3>() * y;
        F += work.spherical_U[i].bottomRows<3>() * y;
        break;
      }
      default:
        break;
    }
    if (l.parent >= 0) {
      const Vec3 r = m.j + m.d;
      work.pF[l.parent] += F;
      work.pN[l.parent] += N + r.cross(F);
    }
  }
  // Outward: pF, pN now hold the linear and angular acceleration of each link.
  for (int i = t.link0; i < t.link1; ++i) {
    const Link& l = tree.links[i];
    const LinkMotion& m = work.motion[i];
    const ArticulatedInertia& I = work.inertia[i];
    const double* u = work.u.data() + l.v;
    const double* bi = b + (l.v - v0);
    double* xi = x + (l.v - v0);
    Vec3 a, alpha;
    if (l.parent >= 0) {
      const Vec3 r = m.j + m.d;
      alpha = work.pN[l.parent];
      a = work.pF[l.parent] + alpha.cross(r);
    } else {
      a.setZero();
      alpha.setZero();
    }
    switch (l.mobility) {
      case Mobility::revolute:
      case Mobility::screw: {
        const double y = u[0] - I.inverse_D * (I.UN.dot(alpha) + I.UF.dot(a));
        alpha += m.z * y;
        a += m.z.cross(m.d) * y;
        if (l.mobility == Mobility::screw) a += m.z * (l.pitch * y);
        xi[0] = y;
        break;
      }
      case Mobility::prismatic: {
        const double y = u[0] - I.inverse_D * (I.UN.dot(alpha) + I.UF.dot(a));
        a += m.z * y;
        xi[0] = y;
        break;
      }
      case Mobility::spherical: {
        const Eigen::Matrix<double, 6, 3>& U = work.spherical_U[i];
        const Vec3 Ua = U.topRows<3>().transpose() * alpha + U.bottomRows<3>().transpose() * a;
        const Vec3 y = Vec3(u[0], u[1], u[2]) - work.spherical_D[i] * Ua;
        const Vec3 w = m.R * y;
        alpha += w;
        a += w.cross(m.d);
        as3(xi) = y;
        break;
      }
      case Mobility::free6: {
        Vec6 rhs;
        rhs.head<3>() = Vec3(bi[0], bi[1], bi[2]) - work.pF[i];
        rhs.tail<3>() = Vec3(bi[3], bi[4], bi[5]) - m.R.transpose() * work.pN[i];
        const Vec6 y = work.root_inverse[i] * rhs;
        a = y.head<3>();
        alpha = m.R * y.tail<3>();
        as6(xi) = y;
        break;
      }
      case Mobility::planar3: {
        const Vec3 y =
            work.spherical_D[i] * Vec3(bi[0] - work.pF[i].x(), bi[1] - work.pF[i].y(), bi[2] - work.pN[i].z());
        a = Vec3(y[0], y[1], 0);
        alpha = Vec3(0, 0, y[2]);
        as3(xi) = y;
        break;
      }
      case Mobility::particle3: {
        const Vec3 y = work.spherical_D[i] * (Vec3(bi[0], bi[1], bi[2]) - work.pF[i]);
        a = y;
        as3(xi) = y;
        break;
      }
      case Mobility::particle2: {
        const Vec3 y = work.spherical_D[i] * Vec3(bi[0] - work.pF[i].x(), bi[1] - work.pF[i].y(), 0);
        a = Vec3(y[0], y[1], 0);
        xi[0] = y[0];
        xi[1] = y[1];
        break;
      }
      case Mobility::weld:
        break;
    }
    work.pF[i] = a;
    work.pN[i] = alpha;
  }
}

void solve_mass(const Tree& tree, TreeWork& work, const double* b, double* x) {
  for (int t = 0; t < static_cast<int>(tree.trees.size()); ++t) {
    const int v0 = tree.trees[t].v0;
    solve_mass(tree, t, work, b + v0, x + v0);
  }
}

void velocity_column(const Tree& tree, const TreeWork& work, int link, int k, const Vec3& at, Vec3& angular,
                     Vec3& linear) {
  const Link& l = tree.links[link];
  const LinkMotion& m = work.motion[link];
  const int c = k - l.v;
  switch (l.mobility) {
    case Mobility::free6:
      if (c < 3) {
        angular.setZero();
        linear = Vec3::Unit(c);
      } else {
        angular = m.R.col(c - 3);
        linear = angular.cross(at - m.p);
      }
      return;
    case Mobility::planar3:
      if (c < 2) {
        angular.setZero();
        linear = Vec3::Unit(c);
      } else {
        angular = Vec3::UnitZ();
        linear = angular.cross(at - m.p);
      }
      return;
    case Mobility::particle3:
    case Mobility::particle2:
      angular.setZero();
      linear = Vec3::Unit(c);
      return;
    case Mobility::prismatic:
      angular.setZero();
      linear = m.z;
      return;
    case Mobility::revolute:
    case Mobility::screw:
      angular = m.z;
      linear = m.z.cross(at - (m.p - m.d));
      if (l.mobility == Mobility::screw) linear += l.pitch * m.z;
      return;
    case Mobility::spherical:
      angular = m.R.col(c);
      linear = angular.cross(at - (m.p - m.d));
      return;
    case Mobility::weld:
      angular.setZero();
      linear.setZero();
      return;
  }
}

double kinetic_energy(const Tree& tree, const TreeWork& work) {
  double T = 0;
  for (std::size_t i = 0; i < tree.links.size(); ++i) {
    const LinkMotion& m = work.motion[i];
    const Vec3 w = m.R.transpose() * m.w;
    T += 0.5 * tree.links[i].mass * m.v.squaredNorm() + 0.5 * w.dot(tree.links[i].inertia * w);
  }
  return T;
}

}  // namespace clatter
