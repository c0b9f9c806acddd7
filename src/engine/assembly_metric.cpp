#include "engine/assembly_metric.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "base/rotation.hpp"
#include "fem/reduced_body.hpp"

namespace clatter {

namespace {

constexpr double kStiff = 1000;
constexpr int kOwnRows = 6;  // of a superelement

// Square of the lowest elastic frequency: 1/omega_1^2 is the largest eigenvalue of M on the range of K, in which it is
// 1. M may be singular (beams without inertia of their sections), and K is so for superelements, whose boundary holds
// the rigid motions.
double lowest(const fem::ReducedBody& b) {
  const Mat off = b.K - Mat(b.K.diagonal().asDiagonal());
  if (off.isZero(0.0) && b.M.isIdentity(1e-12)) return b.K.diagonal().minCoeff();
  constexpr double kRigid = 1e-10;
  const Vec scale = b.K.diagonal().cwiseSqrt().cwiseInverse();
  const Eigen::SelfAdjointEigenSolver<Mat> K(Mat(scale.asDiagonal() * b.K * scale.asDiagonal()));
  Mat V = scale.asDiagonal() * K.eigenvectors();
  for (long i = 0; i < V.cols(); ++i) V.col(i) *= K.eigenvalues()[i] > kRigid ? 1 / std::sqrt(K.eigenvalues()[i]) : 0.0;
  return 1 / Eigen::SelfAdjointEigenSolver<Mat>(Mat(V.transpose() * b.M * V), Eigen::EigenvaluesOnly)
                 .eigenvalues()
                 .maxCoeff();
}

}  // namespace

AssemblyMetric::AssemblyMetric(const System& system, Deforming how) : system_(&system), how_(how) {
  for (std::size_t i = 0; i < system.flexible.size(); ++i) {
    const FlexibleIndex& f = system.flexible[i];
    const Body& body = system.model.bodies[static_cast<std::size_t>(f.body)];
    if (is_beam(body.kind)) continue;  // has no shape to keep: weighed by its mass
    const fem::ReducedBody& r = *body.reduced;
    BodyMetric b;
    b.flexible = i;
    b.tree = system.tree.rigid_trees + f.block;
    const TreeRange& range = system.tree.trees[static_cast<std::size_t>(b.tree)];
    b.v0 = range.v0;
    b.n = range.v1 - range.v0;
    b.mass = r.mass;
    b.J = r.J0;
    if (how == Deforming::by_stiffness) b.s = kStiff / lowest(r);
    bodies_.push_back(std::move(b));
  }
}

void AssemblyMetric::rigid(BodyMetric& b, const TreeWork& work) const {
  const TreeRange& range = system_->tree.trees[static_cast<std::size_t>(b.tree)];
  const LinkMotion& frame = work.motion[static_cast<std::size_t>(range.link0)];
  const bool planar = system_->tree.links[static_cast<std::size_t>(range.link0)].mobility == Mobility::planar3;
  b.T.setZero(b.n, planar ? 3 : 6);
  for (int i = range.link0; i < range.link1; ++i) {
    const Link& link = system_->tree.links[static_cast<std::size_t>(i)];
    const LinkMotion& m = work.motion[static_cast<std::size_t>(i)];
    const int v = link.v - b.v0;
    const Vec3 arm = m.p - frame.p;
    if (link.mobility == Mobility::planar3) {
      b.T.block<3, 3>(v, 0) << 1, 0, -arm.y(), 0, 1, arm.x(), 0, 0, 1;
    } else if (link.mobility == Mobility::free6 || link.mobility == Mobility::particle3) {
      b.T.block<3, 3>(v, 0).setIdentity();
      b.T.block<3, 3>(v, 3) = -skew<double>(arm);
      if (link.mobility == Mobility::free6) b.T.block<3, 3>(v + 3, 3) = m.R.transpose();
    }
  }
  b.inverse.setZero();
  if (planar) {
    b.inverse.diagonal().head<3>() << 1 / b.mass, 1 / b.mass, 1 / b.J(2, 2);
  } else {
    b.inverse.diagonal().head<3>().setConstant(1 / b.mass);
    // A straight line of beams has no inertia about itself: a thousandth of the largest keeps it regular.
    Mat3 J = b.J;
    J.diagonal().array() += 1e-3 * J.diagonal().maxCoeff();
    b.inverse.bottomRightCorner<3, 3>() = frame.R * J.inverse() * frame.R.transpose();
  }
  b.regular = true;
}

void AssemblyMetric::stiff(BodyMetric& b, const FlexibleIndex& f, const State& s, const TreeWork& work) const {
  const TreeRange& range = system_->tree.trees[static_cast<std::size_t>(b.tree)];
  const Link& root = system_->tree.links[static_cast<std::size_t>(range.link0)];
  // At rest, without weight: what is left of the tangents is inertia and elasticity.
  const std::unique_ptr<BlockWork> block = system_->tree.blocks[static_cast<std::size_t>(f.block)]->make_work();
  std::vector<LinkMotion> motion(work.motion.begin() + range.link0, work.motion.begin() + range.link1);
  const Vec rest = Vec::Zero(b.n);
  const std::vector<Vec3> none(motion.size(), Vec3::Zero());
  const Vec row_forces = Vec::Zero(kOwnRows);
  block->kinematics(s.q.data() + root.q, rest.data(), motion.data());
  block->accelerations(rest.data());
  block->link_accelerations(motion.data());
  Mat M(b.n, b.n), C(b.n, b.n), K(b.n, b.n);
  block->tangents(Vec3::Zero(), none.data(), none.data(), row_forces.data(), M.data(), C.data(), K.data());
  Mat W = M + b.s * K;
  W = 0.5 * (W + W.transpose()).eval();
  if (f.row >= 0)
    for (int i = 0; i < kOwnRows; ++i) {
      Vec g = Vec::Zero(b.n);
      block->row_gradient(i, 1, g.data());
      W += (i < 3 ? b.mass : b.J.diagonal().maxCoeff()) * g * g.transpose();
    }
  b.W.compute(W);
  b.regular = b.W.info() == Eigen::Success;
}

void AssemblyMetric::prepare(const State& s, const TreeWork& work) {
  for (BodyMetric& b : bodies_) {
    if (how_ == Deforming::never)
      rigid(b, work);
    else
      stiff(b, system_->flexible[b.flexible], s, work);
  }
}

void AssemblyMetric::finish(const TreeWork& work, Vec& delta) const {
  if (how_ != Deforming::never) return;
  for (const BodyMetric& b : bodies_) {
    const TreeRange& range = system_->tree.trees[static_cast<std::size_t>(b.tree)];
    const LinkMotion& frame = work.motion[static_cast<std::size_t>(range.link0)];
    const Link& root = system_->tree.links[static_cast<std::size_t>(range.link0)];
    if (root.mobility != Mobility::free6) continue;
    const Vec3 moved = delta.segment<3>(root.v), turned = frame.R * delta.segment<3>(root.v + 3);
    const Mat3 change = rotation_exp<double>(turned) - Mat3::Identity();
    for (int i = range.link0 + 1; i < range.link1; ++i) {
      const Link& link = system_->tree.links[static_cast<std::size_t>(i)];
      if (link.mobility != Mobility::free6 && link.mobility != Mobility::particle3) continue;
      delta.segment<3>(link.v) = moved + change * (work.motion[static_cast<std::size_t>(i)].p - frame.p);
    }
  }
}

bool AssemblyMetric::solve(int tree, const double* b, double* x) const {
  const auto body =
      std::find_if(bodies_.begin(), bodies_.end(), [tree](const BodyMetric& m) { return m.tree == tree; });
  if (body == bodies_.end() || !body->regular) return false;
  const Eigen::Map<const Vec> load(b, body->n);
  Eigen::Map<Vec> out(x, body->n);
  if (how_ == Deforming::never) {
    const auto n = body->T.cols();
    Vec force = body->T.transpose() * load;
    // What holds a superelement's frame does no work in rigid motion: rounding must not make a row of it.
    const Vec terms = body->T.cwiseAbs().transpose() * load.cwiseAbs();
    for (long i = 0; i < n; ++i)
      if (std::abs(force[i]) <= 1e-12 * terms[i]) force[i] = 0;
    out = body->T * (body->inverse.topLeftCorner(n, n) * force);
  } else {
    out = body->W.solve(load);
  }
  return true;
}

}  // namespace clatter
