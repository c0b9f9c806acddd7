#include "engine/tree_tangent.hpp"

#include <algorithm>

namespace clatter {

Vec6 cross_motion(const Vec6& a, const Vec6& b) {
  Vec6 r;
  const Vec3 wa = a.head<3>(), va = a.tail<3>(), wb = b.head<3>(), vb = b.tail<3>();
  r.head<3>() = wa.cross(wb);
  r.tail<3>() = wa.cross(vb) + va.cross(wb);
  return r;
}

Vec6 cross_force(const Vec6& a, const Vec6& f) {
  Vec6 r;
  const Vec3 w = a.head<3>(), v = a.tail<3>(), N = f.head<3>(), F = f.tail<3>();
  r.head<3>() = w.cross(N) + v.cross(F);
  r.tail<3>() = w.cross(F);
  return r;
}

namespace {

Mat6 motion_matrix(const Vec6& V) {  // V x
  Mat6 m = Mat6::Zero();
  const Mat3 w = skew<double>(V.head<3>());
  m.topLeftCorner<3, 3>() = w;
  m.bottomRightCorner<3, 3>() = w;
  m.bottomLeftCorner<3, 3>() = skew<double>(V.tail<3>());
  return m;
}

Mat6 momentum_matrix(const Vec6& h) {  // X -> X x* h
  Mat6 m = Mat6::Zero();
  const Mat3 f = skew<double>(h.tail<3>());
  m.topLeftCorner<3, 3>() = -skew<double>(h.head<3>());
  m.topRightCorner<3, 3>() = -f;
  m.bottomLeftCorner<3, 3>() = -f;
  return m;
}

}  // namespace

TreeTangent::TreeTangent(const Tree& tree)
    : tree_(tree),
      columns_(tree.nv),
      V_(tree.links.size()),
      A_(tree.links.size()),
      F_(tree.links.size()),
      W_(tree.links.size()),
      I_(tree.links.size()),
      B2_(tree.links.size()),
      O_(tree.trees.size()),
      p_(tree.links.size()) {
  for (const auto& path : tree.path) longest_path_ = std::max(longest_path_, static_cast<int>(path.size()));
  for (const std::shared_ptr<const Block>& block : tree.blocks) blocks_.push_back(block->make_work());
  for (int i = 0; i < tree.rigid_links; ++i) {
    const Link& l = tree.links[i];
    for (int k = 0; k < l.nv; ++k) {
      Column& c = columns_[l.v + k];
      c.link = i;
      c.group = (l.mobility == Mobility::free6 && k >= 3) || (l.mobility == Mobility::planar3 && k == 2) ? 1 : 0;
    }
  }
}

void TreeTangent::update(const TreeWork& work, const Vec3& gravity) {
  gravity_ = gravity;
  for (std::size_t k = 0; k < blocks_.size(); ++k) blocks_[k]->assign(*work.blocks[k]);
  for (std::size_t t = 0; t < tree_.trees.size(); ++t) O_[t] = work.motion[tree_.trees[t].link0].p;
  for (int i = 0; i < tree_.rigid_links; ++i) {
    const Link& l = tree_.links[i];
    const LinkMotion& m = work.motion[i];
    const Vec3 O = O_[l.tree];
    const Vec3 c = m.p - O;
    p_[i] = m.p;
    V_[i] << m.w, m.v - m.w.cross(c);
    A_[i] << m.alpha, m.a - gravity - m.alpha.cross(c) - m.w.cross(m.v);

    // Spatial inertia about O.
    const Mat3 mc = l.mass * skew<double>(c);
    Mat6& I = I_[i];
    I.topLeftCorner<3, 3>() = m.R * l.inertia * m.R.transpose() - mc * skew<double>(c);
    I.topRightCorner<3, 3>() = mc;
    I.bottomLeftCorner<3, 3>() = -mc;
    I.bottomRightCorner<3, 3>() = l.mass * Mat3::Identity();
    const Vec6 h = I * V_[i];
    F_[i] = I * A_[i] + cross_force(V_[i], h);
    const Mat6 Vx = motion_matrix(V_[i]);
    B2_[i] = -Vx.transpose() * I - I * Vx + momentum_matrix(h);

    // What carries the link's columns: the parent, or, for a free root's rotation, the translating frame.
    Vec6 Vp = Vec6::Zero(), Ap = Vec6::Zero();
    Ap.tail<3>() = -gravity;
    if (l.parent >= 0) {
      Vp = V_[l.parent];
      Ap = A_[l.parent];
    }
    for (int k = 0; k < l.nv; ++k) {
      Column& col = columns_[l.v + k];
      Vec3 angular, linear;
      velocity_column(tree_, work, i, l.v + k, O, angular, linear);
      col.S << angular, linear;
      Vec6 Vc = Vp, Ac = Ap, Vi = V_[i];
      if (l.mobility == Mobility::free6 || l.mobility == Mobility::planar3) {
        // Translation first (its columns never turn), then rotation about the moving mass centre.
        Vec6 translating_V = Vec6::Zero(), translating_A = Vec6::Zero();
        translating_V.tail<3>() = m.v;
        translating_A.tail<3>() = m.a - gravity;
        if (col.group == 1) {
          Vc = translating_V;
          Ac = translating_A;
        } else {
          Vi = translating_V;
        }
      }
      col.Psd = cross_motion(Vc, col.S);
      col.Psdd = cross_motion(Ac, col.S) + cross_motion(Vc, col.Psd);
      col.Sd = cross_motion(Vi, col.S);
    }
  }
}

void TreeTangent::block(int k, const std::vector<Vec3>& applied_F, const std::vector<Vec3>& applied_N,
                        const double* row_forces, double* M, double* C, double* K) {
  const int link0 = tree_.trees[tree_.rigid_trees + k].link0;
  blocks_[k]->tangents(gravity_, applied_F.data() + link0, applied_N.data() + link0, row_forces, M, C, K);
}

void TreeTangent::point(int link, const Vec3& at, const Vec3& velocity, PointColumns& out) const {
  if (link >= tree_.rigid_links) {
    const int tree = tree_.links[link].tree;
    blocks_[tree - tree_.rigid_trees]->point(link - tree_.trees[tree].link0, at, out);
    return;
  }
  const Vec3 c = at - O_[tree_.links[link].tree];
  const Vec6& V = V_[link];
  const Vec6& A = A_[link];
  const Vec3 w = V.head<3>(), alpha = A.head<3>();
  out.n = 0;
  for (const int i : tree_.path[link]) {
    const Column& col = columns_[i];
    // A free root's translation columns are carried by nothing and carry everything: the formulas hold as they stand.
    const Vec6 dV = cross_motion(col.S, V) + col.Psd;
    const Vec6 dA = cross_motion(col.S, A) + col.Psdd - cross_motion(V, col.Psd);
    const Vec6 dAv = col.Sd + col.Psd - cross_motion(V, col.S);
    const Vec3 Sw = col.S.head<3>();
    const Vec3 dp = col.S.tail<3>() + Sw.cross(c);
    const Vec3 dw = dV.head<3>();
    const Vec3 dv = dV.tail<3>() + dw.cross(c) + w.cross(dp);
    const int k = out.n++;
    out.J.col(k) << dp, Sw;
    out.Zq.col(k) << dv, dw;
    out.Aq.col(k) << dA.tail<3>() + dA.head<3>().cross(c) + alpha.cross(dp) + dw.cross(velocity) + w.cross(dv),
        dA.head<3>();
    out.Av.col(k) << dAv.tail<3>() + dAv.head<3>().cross(c) + Sw.cross(velocity) + w.cross(dp), dAv.head<3>();
  }
}

}  // namespace clatter
