#include "engine/tree.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "base/rotation.hpp"
#include "base/wide.hpp"

namespace clatter {

int coordinate_count(Mobility m) {
  switch (m) {
    case Mobility::weld:
    case Mobility::marker:
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
  vectors.clear();
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
    if (l.vectors > 0) {
      vectors.push_back({nq, nv, l.vectors});
      nq += l.vectors;
      nv += l.vectors;
    }
    trees.back().link1 = i + 1;
    trees.back().v1 = nv;
    if (l.mobility == Mobility::spherical) rotation_blocks.push_back(l.v);
    if (l.mobility == Mobility::free6) rotation_blocks.push_back(l.v + 3);
    if (l.parent >= 0) path[i] = path[l.parent];
    for (int k = 0; k < l.nv; ++k) path[i].push_back(l.v + k);
    if (l.mass > 0 && l.inertia.determinant() > 0) l.inertia_inverse = l.inertia.inverse();
  }
  rigid_trees = static_cast<int>(trees.size() - blocks.size());
  rigid_links = blocks.empty() ? static_cast<int>(links.size()) : trees[rigid_trees].link0;
  for (std::size_t t = rigid_trees; t < trees.size(); ++t)
    for (int i = trees[t].link0; i < trees[t].link1; ++i) {
      path[i].clear();
      int first = links[i].v, count = links[i].nv;
      if (links[i].mobility == Mobility::marker) {
        const VelocityRun run = blocks[t - rigid_trees]->moved_by(i - trees[t].link0, trees[t].v1 - trees[t].v0);
        first = trees[t].v0 + run.first;
        count = run.count;
      }
      for (int v = first; v < first + count; ++v) path[i].push_back(v);
    }
  for (int i = 0; i < rigid_trees; ++i) {
    TreeRange& t = trees[i];
    const Mobility m = links[t.link0].mobility;
    t.simple = t.link1 == t.link0 + 1 &&
               (m == Mobility::free6 || m == Mobility::planar3 || m == Mobility::particle3 || m == Mobility::particle2);
  }
}

int Tree::tree_of_velocity(int v) const {
  const auto after =
      std::upper_bound(trees.begin(), trees.end(), v, [](int x, const TreeRange& t) { return x < t.v1; });
  return static_cast<int>(after - trees.begin());
}

namespace {

Eigen::Map<Vec3> as3(double* x) { return Eigen::Map<Vec3>(x); }

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
  for (const VectorRange& r : vectors) q_out.segment(r.q, r.n) = q.segment(r.q, r.n) + delta.segment(r.v, r.n);
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
  for (const VectorRange& r : vectors) delta.segment(r.v, r.n) = q1.segment(r.q, r.n) - q0.segment(r.q, r.n);
}

TreeWork::TreeWork(const Tree& tree, const Vec3& uniform_gravity)
    : gravity(uniform_gravity),
      motion(tree.links.size()),
      inertia(tree.links.size()),
      spherical_D(tree.links.size()),
      spherical_U(tree.links.size()),
      root_inverse(tree.links.size()),
      F(tree.links.size() + 1, Vec3::Zero()),
      N(tree.links.size() + 1, Vec3::Zero()),
      p(tree.links.size()),
      u(tree.nv) {
  for (const std::shared_ptr<const Block>& block : tree.blocks) blocks.push_back(block->make_work());
}

void PointColumns::reserve(int columns) {
  J.resize(6, columns);
  Zq.resize(6, columns);
  Aq.resize(6, columns);
  Av.resize(6, columns);
}

void free_motion(Mobility mobility, double level, const double* q, const double* v, LinkMotion& m) {
  if (mobility == Mobility::free6) {
    m.p = Vec3(q[0], q[1], q[2]);
    m.R = quaternion_at(q + 3).toRotationMatrix();
    m.v = Vec3(v[0], v[1], v[2]);
    m.w = m.R * Vec3(v[3], v[4], v[5]);
  } else {
    m.p = Vec3(q[0], q[1], level);
    m.R = rotation_z(q[2]);
    m.v = Vec3(v[0], v[1], 0);
    m.w = Vec3(0, 0, v[2]);
  }
}

void kinematics(const Tree& tree, const Vec& q, const Vec& v, TreeWork& work) {
  using namespace wide;
  for (int i = 0; i < tree.rigid_links; ++i) {
    const Link& l = tree.links[i];
    LinkMotion& m = work.motion[i];
    const double* qi = q.data() + l.q;
    const double* vi = v.data() + l.v;
    switch (l.mobility) {
      case Mobility::free6:
      case Mobility::planar3:
        free_motion(l.mobility, l.p_PF.z(), qi, vi, m);
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
    // Joint frame F on the parent; j: from the parent's mass centre to the joint.
    M3 F = load(l.R_PF);
    V3 j = load(l.p_PF), wp = zero(), vp = zero(), pp = zero();
    if (l.parent >= 0) {
      const LinkMotion& parent = work.motion[l.parent];
      const M3 P = load(parent.R);
      F = P * F;
      j = P * j;
      wp = load(parent.w);
      vp = load(parent.v);
      pp = load(parent.p);
    }
    const V3 z = F.c[2];
    V3 w = wp;
    double slide = 0, slide_rate = 0;
    switch (l.mobility) {
      case Mobility::revolute:
      case Mobility::screw: {
        const double c = std::cos(qi[0]), s = std::sin(qi[0]);
        const V3 x = F.c[0];
        F.c[0] = x * c + F.c[1] * s;
        F.c[1] = F.c[1] * c - x * s;
        w += z * vi[0];
        slide = l.pitch * qi[0];
        slide_rate = l.pitch * vi[0];
        break;
      }
      case Mobility::prismatic:
        slide = qi[0];
        slide_rate = vi[0];
        break;
      case Mobility::spherical: {
        Mat3 turn;
        turn = quaternion_at(qi).toRotationMatrix();
        for (int k = 0; k < 3; ++k) m.I.col(k) = turn.col(k);  // padded room for the wide load
        F = F * load(m.I);
        w += times(F, vi[0], vi[1], vi[2]);
        break;
      }
      default:
        break;  // weld
    }
    V3 vj = vp;
    if (l.mobility == Mobility::prismatic || l.mobility == Mobility::screw) {
      j += z * slide;
      vj += z * slide_rate;
    }
    const V3 d = F * load(l.p_MB);
    const V3 r = j + d;
    store(F, m.R);
    store(z, m.z);
    store(j, m.j);
    store(d, m.d);
    store(r, m.r);
    store(pp + r, m.p);
    store(w, m.w);
    store(vj + cross(wp, j) + cross(w, d), m.v);
    if (l.mobility == Mobility::prismatic) {
      store(z, m.s);
    } else {
      V3 column = cross(z, d);
      if (l.mobility == Mobility::screw) column += z * l.pitch;
      store(column, m.s);
    }
  }
  for (std::size_t k = 0; k < work.blocks.size(); ++k) {
    const TreeRange& t = tree.trees[tree.rigid_trees + k];
    work.blocks[k]->kinematics(q.data() + tree.links[t.link0].q, v.data() + t.v0, work.motion.data() + t.link0);
  }
}

void accelerations(const Tree& tree, const Vec& v, const double* qdd, TreeWork& work) {
  using namespace wide;
  static const double zeros[6] = {0, 0, 0, 0, 0, 0};
  for (int i = 0; i < tree.rigid_links; ++i) {
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
    V3 a = zero(), alpha = zero(), wp = zero();
    const V3 z = load(m.z), j = load(m.j), d = load(m.d), w = load(m.w);
    if (l.parent >= 0) {
      const LinkMotion& parent = work.motion[l.parent];
      alpha = load(parent.alpha);
      wp = load(parent.w);
      a = load(parent.a) + cross(alpha, j) + cross(wp, cross(wp, j));
    }
    switch (l.mobility) {
      case Mobility::revolute:
        alpha += cross(wp, z) * vi[0] + z * ai[0];
        break;
      case Mobility::screw:
        alpha += cross(wp, z) * vi[0] + z * ai[0];
        a += cross(wp, z) * (2 * l.pitch * vi[0]) + z * (l.pitch * ai[0]);
        break;
      case Mobility::prismatic:
        a += cross(wp, z) * (2 * vi[0]) + z * ai[0];
        break;
      case Mobility::spherical:
        alpha += cross(wp, w) + times(load(m.R), ai[0], ai[1], ai[2]);
        break;
      default:
        break;
    }
    store(alpha, m.alpha);
    store(a + cross(alpha, d) + cross(w, cross(w, d)), m.a);
  }
  for (std::size_t k = 0; k < work.blocks.size(); ++k) {
    const TreeRange& t = tree.trees[tree.rigid_trees + k];
    work.blocks[k]->accelerations(qdd ? qdd + t.v0 : nullptr);
  }
}

void block_link_accelerations(const Tree& tree, TreeWork& work) {
  for (std::size_t k = 0; k < work.blocks.size(); ++k)
    work.blocks[k]->link_accelerations(work.motion.data() + tree.trees[tree.rigid_trees + k].link0);
}

void add_block_forces(const Tree& tree, TreeWork& work, Vec& tau) {
  for (std::size_t k = 0; k < work.blocks.size(); ++k)
    work.blocks[k]->add_forces(work.gravity, tau.data() + tree.trees[tree.rigid_trees + k].v0);
}

void project_wrenches(const Tree& tree, TreeWork& work, Vec& tau) {
  for (std::size_t k = 0; k < work.blocks.size(); ++k) {
    const TreeRange& t = tree.trees[tree.rigid_trees + k];
    tau.segment(t.v0, t.v1 - t.v0).setZero();
    for (int i = t.link0; i < t.link1; ++i)
      if (!work.F[i].isZero(0.0) || !work.N[i].isZero(0.0))
        work.blocks[k]->project(i - t.link0, work.F[i], work.N[i], tau.data() + t.v0);
  }
  for (int i = tree.rigid_links - 1; i >= 0; --i) {
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
      case Mobility::marker:
        break;
    }
    if (l.parent >= 0) {
      work.F[l.parent] += F;
      work.N[l.parent] += N + m.r.cross(F);
    }
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
    case Mobility::marker:
      angular.setZero();
      linear.setZero();
      return;
  }
}

double kinetic_energy(const Tree& tree, const TreeWork& work) {
  double T = 0;
  for (int i = 0; i < tree.rigid_links; ++i) {
    const LinkMotion& m = work.motion[i];
    const Vec3 w = m.R.transpose() * m.w;
    T += 0.5 * tree.links[i].mass * m.v.squaredNorm() + 0.5 * w.dot(tree.links[i].inertia * w);
  }
  for (const std::unique_ptr<BlockWork>& block : work.blocks) T += block->kinetic_energy();
  return T;
}

Momenta momenta(const Tree& tree, const TreeWork& work) {
  Momenta sum;
  for (int i = 0; i < tree.rigid_links; ++i) {
    const Link& l = tree.links[i];
    const LinkMotion& m = work.motion[i];
    sum.mass += l.mass;
    sum.moment += l.mass * m.p;
    sum.linear += l.mass * m.v;
    sum.angular += m.p.cross(l.mass * m.v) + m.R * (l.inertia * (m.R.transpose() * m.w));
  }
  for (std::size_t k = 0; k < work.blocks.size(); ++k) {
    const Momenta m = work.blocks[k]->momenta();
    const Vec3& x0 = work.motion[tree.trees[tree.rigid_trees + k].link0].p;
    sum.mass += m.mass;
    sum.moment += m.mass * x0 + m.moment;
    sum.linear += m.linear;
    sum.angular += x0.cross(m.linear) + m.angular;
  }
  return sum;
}

double potential_energy(const Tree& tree, const TreeWork& work, const Vec3& gravity) {
  double E = 0;
  for (int i = 0; i < tree.rigid_links; ++i) E -= tree.links[i].mass * gravity.dot(work.motion[i].p);
  for (std::size_t k = 0; k < work.blocks.size(); ++k) {
    const Momenta m = work.blocks[k]->momenta();
    E += work.blocks[k]->elastic_energy();
    E -= gravity.dot(m.mass * work.motion[tree.trees[tree.rigid_trees + k].link0].p + m.moment);
  }
  return E;
}

}  // namespace clatter
