// M x = b over trees by articulated inertias (P-7 without forming M).
//
// Inward, for a link with columns S, U = I S, D = S^T U:
//   u = D^-1 (b - S^T p),  I^a = I - U D^-1 U^T,  p^a = p + U u, both shifted to the parent's mass centre and added
//   there.
// Outward: x = u - D^-1 U^T a',  a = a' + S x, with a' the parent's acceleration shifted to the link.
#include <Eigen/Cholesky>
#include <Eigen/LU>

#include "base/wide.hpp"
#include "engine/tree.hpp"

namespace clatter {

namespace {

using namespace wide;

[[gnu::always_inline]] inline bool one_axis(Mobility m) {
  return m == Mobility::revolute || m == Mobility::prismatic || m == Mobility::screw;
}

// A - H r~ - (H r~)^T - r~ L r~,  H + r~ L,  L added to the parent.
[[gnu::always_inline]] inline void shift_to_parent(const M3& A, const M3& H, const M3& L, const V3& r,
                                                   ArticulatedInertia& parent) {
  const M3 rL = skew_times(r, L);
  const M3 Hp = H + rL;
  const M3 Hr = times_skew(H, r);
  store(load(parent.A) + (A - times_skew(Hp, r) - transpose(Hr)), parent.A);
  store(load(parent.H) + Hp, parent.H);
  store(load(parent.L) + L, parent.L);
}

// Starts the articulated inertia of a link from its own body.
[[gnu::always_inline]] inline void start(const Link& l, const LinkMotion& m, ArticulatedInertia& I) {
  store(load(m.I), I.A);
  store({zero(), zero(), zero()}, I.H);
  store({make(l.mass, 0, 0), make(0, l.mass, 0), make(0, 0, l.mass)}, I.L);
}

// Eliminates the joint of link i: U, D^-1 and what is left for the parent.
[[gnu::always_inline]] inline void eliminate(const Tree& tree, int i, TreeWork& work) {
  const Link& l = tree.links[i];
  const LinkMotion& m = work.motion[i];
  ArticulatedInertia& I = work.inertia[i];
  switch (l.mobility) {
    case Mobility::revolute:
    case Mobility::screw:
    case Mobility::prismatic: {
      const M3 A = load(I.A), H = load(I.H), L = load(I.L);
      const V3 z = load(m.z), s = load(m.s);
      V3 UN = H * s, UF = L * s;
      double D = dot(s, UF);
      if (l.mobility != Mobility::prismatic) {
        UN += A * z;
        UF += transpose_times(H, z);
        D = dot(z, UN) + dot(s, UF);
      }
      I.inverse_D = 1.0 / D;
      store(UN, I.UN);
      store(UF, I.UF);
      if (l.parent >= 0) {
        const V3 UNd = UN * I.inverse_D, UFd = UF * I.inverse_D;
        shift_to_parent(minus_outer(A, UNd, UN), minus_outer(H, UNd, UF), minus_outer(L, UFd, UF), load(m.r),
                        work.inertia[l.parent]);
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
        struct {
          Mat3 A, H, L;
          double pad;
        } left;
        left.A = I.A - UD.topRows<3>() * U.topRows<3>().transpose();
        left.H = I.H - UD.topRows<3>() * U.bottomRows<3>().transpose();
        left.L = I.L - UD.bottomRows<3>() * U.bottomRows<3>().transpose();
        left.pad = 0;
        shift_to_parent(load(left.A), load(left.H), load(left.L), load(m.r), work.inertia[l.parent]);
      }
      break;
    }
    case Mobility::marker:
      break;
    case Mobility::weld:
      if (l.parent >= 0) shift_to_parent(load(I.A), load(I.H), load(I.L), load(m.r), work.inertia[l.parent]);
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

// Inward for one link: u from b and p, and p handed to the parent.
[[gnu::always_inline]] inline void inward(const Tree& tree, int i, TreeWork& work, const double* bi) {
  const Link& l = tree.links[i];
  const LinkMotion& m = work.motion[i];
  const ArticulatedInertia& I = work.inertia[i];
  V3 F = load(work.p[i].F), N = load(work.p[i].N);
  double* u = work.u.data() + l.v;
  if (one_axis(l.mobility)) {
    double Sp = dot(load(m.s), F);
    if (l.mobility != Mobility::prismatic) Sp += dot(load(m.z), N);
    u[0] = (bi[0] - Sp) * I.inverse_D;
    F += load(I.UF) * u[0];
    N += load(I.UN) * u[0];
  } else if (l.mobility == Mobility::spherical) {
    const Vec3 Sp = m.R.transpose() * (work.p[i].N + m.d.cross(work.p[i].F));
    const Vec3 y = work.spherical_D[i] * (Vec3(bi[0], bi[1], bi[2]) - Sp);
    for (int k = 0; k < 3; ++k) u[k] = y[k];
    const Vec3 dN = work.spherical_U[i].topRows<3>() * y, dF = work.spherical_U[i].bottomRows<3>() * y;
    N += make(dN[0], dN[1], dN[2]);
    F += make(dF[0], dF[1], dF[2]);
  }
  if (l.parent >= 0) {
    LinkVector& p = work.p[l.parent];
    store(load(p.F) + F, p.F);
    store(load(p.N) + N + cross(load(m.r), F), p.N);
  }
}

// Outward for one link: x, and work.p becomes the link's acceleration.
[[gnu::always_inline]] inline void outward(const Tree& tree, int i, TreeWork& work, const double* bi, double* xi) {
  const Link& l = tree.links[i];
  const LinkMotion& m = work.motion[i];
  const ArticulatedInertia& I = work.inertia[i];
  LinkVector& p = work.p[i];
  const double* u = work.u.data() + l.v;
  V3 a = zero(), alpha = zero();
  if (l.parent >= 0) {
    alpha = load(work.p[l.parent].N);
    a = load(work.p[l.parent].F) + cross(alpha, load(m.r));
  }
  if (one_axis(l.mobility)) {
    const double y = u[0] - I.inverse_D * (dot(load(I.UN), alpha) + dot(load(I.UF), a));
    if (l.mobility != Mobility::prismatic) alpha += load(m.z) * y;
    a += load(m.s) * y;
    xi[0] = y;
    store(a, p.F);
    store(alpha, p.N);
    return;
  }
  switch (l.mobility) {
    case Mobility::spherical: {
      const Eigen::Matrix<double, 6, 3>& U = work.spherical_U[i];
      Vec3 ae, alphae;
      store(a, ae);
      store(alpha, alphae);
      const Vec3 Ua = U.topRows<3>().transpose() * alphae + U.bottomRows<3>().transpose() * ae;
      const Vec3 y = Vec3(u[0], u[1], u[2]) - work.spherical_D[i] * Ua;
      const V3 w = times(load(m.R), y[0], y[1], y[2]);
      alpha += w;
      a += cross(w, load(m.d));
      for (int k = 0; k < 3; ++k) xi[k] = y[k];
      break;
    }
    case Mobility::free6: {
      Vec6 rhs;
      rhs.head<3>() = Vec3(bi[0], bi[1], bi[2]) - p.F;
      rhs.tail<3>() = Vec3(bi[3], bi[4], bi[5]) - m.R.transpose() * p.N;
      const Vec6 y = work.root_inverse[i] * rhs;
      a = make(y[0], y[1], y[2]);
      alpha = times(load(m.R), y[3], y[4], y[5]);
      for (int k = 0; k < 6; ++k) xi[k] = y[k];
      break;
    }
    case Mobility::planar3: {
      const Vec3 y = work.spherical_D[i] * Vec3(bi[0] - p.F.x(), bi[1] - p.F.y(), bi[2] - p.N.z());
      a = make(y[0], y[1], 0);
      alpha = make(0, 0, y[2]);
      for (int k = 0; k < 3; ++k) xi[k] = y[k];
      break;
    }
    case Mobility::particle3: {
      const Vec3 y = work.spherical_D[i] * (Vec3(bi[0], bi[1], bi[2]) - p.F);
      a = make(y[0], y[1], y[2]);
      for (int k = 0; k < 3; ++k) xi[k] = y[k];
      break;
    }
    case Mobility::particle2: {
      const Vec3 y = work.spherical_D[i] * Vec3(bi[0] - p.F.x(), bi[1] - p.F.y(), 0);
      a = make(y[0], y[1], 0);
      xi[0] = y[0];
      xi[1] = y[1];
      break;
    }
    default:
      break;
  }
  store(a, p.F);
  store(alpha, p.N);
}

// A root that is a tree by itself: its mass block is constant.
void solve_simple(const Link& l, const double* b, double* x) {
  const double im = 1.0 / l.mass;
  switch (l.mobility) {
    case Mobility::free6: {
      const Vec3 y = l.inertia_inverse * Vec3(b[3], b[4], b[5]);
      for (int k = 0; k < 3; ++k) {
        x[k] = b[k] * im;
        x[3 + k] = y[k];
      }
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

// Generalized force of a wrench on a simple root.
void project_simple(const Link& l, const LinkMotion& m, const Vec3& F, const Vec3& N, double* tau) {
  const int axes = l.mobility == Mobility::planar3 || l.mobility == Mobility::particle2 ? 2 : 3;
  for (int k = 0; k < axes; ++k) tau[k] = F[k];
  if (l.mobility == Mobility::planar3) tau[2] = N.z();
  if (l.mobility == Mobility::free6)
    for (int k = 0; k < 3; ++k) tau[3 + k] = m.R.col(k).dot(N);
}

}  // namespace

void rotate_inertias(const Tree& tree, TreeWork& work) {
  for (int which = 0; which < tree.rigid_trees; ++which) {
    const TreeRange& t = tree.trees[which];
    if (t.simple) continue;
    for (int i = t.link0; i < t.link1; ++i) {
      LinkMotion& m = work.motion[i];
      const M3 R = load(m.R);
      const M3 RI = R * load(tree.links[i].inertia);
      const Mat3& r = m.R;  // RI R^T, column k with row k of R
      for (int k = 0; k < 3; ++k) store(times(RI, r(k, 0), r(k, 1), r(k, 2)), m.I.data() + 3 * k);
    }
  }
}

void inertia_wrenches(const Tree& tree, TreeWork& work, const std::vector<Vec3>& applied_F,
                      const std::vector<Vec3>& applied_N) {
  for (int which = 0; which < tree.rigid_trees; ++which) {
    const TreeRange& t = tree.trees[which];
    for (int i = t.link0; i < t.link1; ++i) {
      const Link& l = tree.links[i];
      const LinkMotion& m = work.motion[i];
      store(load(m.a) * l.mass - load(applied_F[i]), work.F[i]);
      if (t.simple) {
        const Vec3 w = m.R.transpose() * m.w, alpha = m.R.transpose() * m.alpha;
        const Vec3 Iw = l.inertia * w;
        work.N[i].noalias() = m.R * (l.inertia * alpha + w.cross(Iw)) - applied_N[i];
      } else {
        const M3 I = load(m.I);
        const V3 w = load(m.w);
        store(I * load(m.alpha) + cross(w, I * w) - load(applied_N[i]), work.N[i]);
      }
    }
  }
  for (std::size_t i = tree.rigid_links; i < tree.links.size(); ++i) {
    work.F[i] = -applied_F[i];
    work.N[i] = -applied_N[i];
  }
}

void factorize_mass(const Tree& tree, TreeWork& work) {
  rotate_inertias(tree, work);
  for (const std::unique_ptr<BlockWork>& block : work.blocks) block->factorize_mass();
  for (int which = 0; which < tree.rigid_trees; ++which) {
    const TreeRange& t = tree.trees[which];
    if (t.simple) continue;
    for (int i = t.link0; i < t.link1; ++i) start(tree.links[i], work.motion[i], work.inertia[i]);
    for (int i = t.link1 - 1; i >= t.link0; --i) eliminate(tree, i, work);
  }
}

void solve_mass(const Tree& tree, int which, TreeWork& work, const double* b, double* x) {
  const TreeRange& t = tree.trees[which];
  if (t.simple) {
    solve_simple(tree.links[t.link0], b, x);
    return;
  }
  if (which >= tree.rigid_trees) {
    work.blocks[which - tree.rigid_trees]->solve_mass(b, x);
    return;
  }
  for (int i = t.link0; i < t.link1; ++i) {
    work.p[i].F.setZero();
    work.p[i].N.setZero();
  }
  for (int i = t.link1 - 1; i >= t.link0; --i) inward(tree, i, work, b + (tree.links[i].v - t.v0));
  for (int i = t.link0; i < t.link1; ++i)
    outward(tree, i, work, b + (tree.links[i].v - t.v0), x + (tree.links[i].v - t.v0));
}

void solve_mass(const Tree& tree, TreeWork& work, const double* b, double* x) {
  for (int t = 0; t < static_cast<int>(tree.trees.size()); ++t) {
    const int v0 = tree.trees[t].v0;
    solve_mass(tree, t, work, b + v0, x + v0);
  }
}

void forward_dynamics(const Tree& tree, TreeWork& work, const double* tau, double* x) {
  for (std::size_t which = 0; which < work.blocks.size(); ++which) {
    const TreeRange& t = tree.trees[tree.rigid_trees + which];
    const int n = t.v1 - t.v0;
    BlockWork& block = *work.blocks[which];
    double* y = x + t.v0;
    for (int i = 0; i < n; ++i) y[i] = 0;
    block.add_forces(work.gravity, y);
    for (int i = t.link0; i < t.link1; ++i)
      if (!work.F[i].isZero(0.0) || !work.N[i].isZero(0.0)) block.project(i - t.link0, work.F[i], work.N[i], y);
    for (int i = 0; i < n; ++i) y[i] = tau[t.v0 + i] - y[i];
    block.factorize_mass();
    block.solve_mass(y, y);
  }
  for (int which = 0; which < tree.rigid_trees; ++which) {
    const TreeRange& t = tree.trees[which];
    if (t.simple) {
      const Link& l = tree.links[t.link0];
      double b[6];
      project_simple(l, work.motion[t.link0], work.F[t.link0], work.N[t.link0], b);
      for (int k = 0; k < l.nv; ++k) b[k] = tau[l.v + k] - b[k];
      solve_simple(l, b, x + t.v0);
      continue;
    }
    for (int i = t.link0; i < t.link1; ++i) {
      start(tree.links[i], work.motion[i], work.inertia[i]);
      store(load(work.F[i]), work.p[i].F);
      store(load(work.N[i]), work.p[i].N);
    }
    for (int i = t.link1 - 1; i >= t.link0; --i) {
      eliminate(tree, i, work);
      inward(tree, i, work, tau + tree.links[i].v);
    }
    for (int i = t.link0; i < t.link1; ++i) outward(tree, i, work, tau + tree.links[i].v, x + tree.links[i].v);
  }
}

}  // namespace clatter
