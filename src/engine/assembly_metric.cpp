#include "engine/assembly_metric.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "base/rotation.hpp"
#include "engine/ancf_chain.hpp"
#include "model/reduced_body.hpp"

namespace clatter {

namespace {

constexpr double kStiff = 1000;
constexpr int kOwnRows = 6;  // of a superelement

// Square of the lowest elastic frequency: 1/omega_1^2 is the largest eigenvalue of M on the range of K, in which it is
// 1. M may be singular (beams without inertia of their sections), and K is so for superelements, whose boundary holds
// the rigid motions.
double lowest(const ReducedBody& b) {
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

// The same of a cable or beam: its first bending mode, straight and free at both ends.
double lowest(const BeamSource& b) {
  constexpr double kFirst = 4.730040744862704;  // cos x cosh x = 1
  double length = 0;
  for (const double l : b.lengths) length += l;
  const double EI = b.planar || b.element == BeamSource::Element::cable ? b.EIz : std::min(b.EIy, b.EIz);
  return std::pow(kFirst / length, 4) * EI / b.rhoA;
}

Vec3 beam_vector(const ancf::AncfBody& body, const double* q, int i) {
  Vec3 x = Vec3::Zero();
  for (int c = 0; c < body.dim; ++c) x[c] = q[i * body.dim + c];
  return x;
}

// M + s K of a block whose tangents are banded.
Eigen::SparseMatrix<double> band_of(const std::vector<VelocityRun>& runs, const std::vector<double>& M,
                                    const std::vector<double>& K, double s) {
  const auto n = static_cast<Eigen::Index>(runs.size());
  std::vector<Eigen::Triplet<double>> entries;
  std::size_t at = 0;
  for (Eigen::Index j = 0; j < n; ++j) {
    const VelocityRun& run = runs[static_cast<std::size_t>(j)];
    for (int i = run.first; i < run.first + run.count; ++i, ++at) {
      const double half = 0.5 * (M[at] + s * K[at]);
      entries.emplace_back(i, j, half);
      entries.emplace_back(j, i, half);
    }
  }
  Eigen::SparseMatrix<double> W(n, n);
  W.setFromTriplets(entries.begin(), entries.end());
  return W;
}

}  // namespace

AssemblyMetric::AssemblyMetric(const System& system, Deforming how) : system_(&system), how_(how) {
  for (std::size_t i = 0; i < system.flexible.size(); ++i) {
    const FlexibleIndex& f = system.flexible[i];
    const Body& body = system.model.bodies[static_cast<std::size_t>(f.body)];
    BodyMetric b;
    b.flexible = i;
    b.tree = system.tree.rigid_trees + f.block;
    const TreeRange& range = system.tree.trees[static_cast<std::size_t>(b.tree)];
    b.v0 = range.v0;
    b.n = range.v1 - range.v0;
    if (is_beam(body.kind)) {
      b.beam = &static_cast<const ancf::AncfBlock&>(*system.tree.blocks[static_cast<std::size_t>(f.block)]).body();
      b.mass = b.beam->total_mass;
      b.s = kStiff / lowest(*b.beam->source);
    } else {
      const ReducedBody& r = *body.reduced;
      b.mass = r.mass;
      b.J = r.J0;
      if (how == Deforming::by_stiffness) b.s = kStiff / lowest(r);
    }
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

void AssemblyMetric::rigid_beam(BodyMetric& b, const State& s) const {
  const ancf::AncfBody& body = *b.beam;
  const int dim = body.dim, spins = dim == 2 ? 1 : 3;
  const double* q = s.q.data() + system_->flexible[b.flexible].q;
  Vec3 centre = Vec3::Zero();
  for (int i = 0; i < body.vectors; ++i)
    centre += body.weight[static_cast<std::size_t>(i)] / body.total_mass * beam_vector(body, q, i);
  b.T.setZero(b.n, dim + spins);
  for (int i = 0; i < body.vectors; ++i) {
    Vec3 arm = beam_vector(body, q, i);
    if (body.is_position(i)) {
      arm -= centre;
      for (int c = 0; c < dim; ++c) b.T(i * dim + c, c) = 1;
    }
    if (dim == 2)
      b.T.block<2, 1>(i * dim, 2) << -arm.y(), arm.x();
    else
      b.T.block<3, 3>(i * dim, 3) = -skew<double>(arm);
  }
  Mat MT = Mat::Zero(b.n, b.T.cols());
  for (long k = 0; k < MT.cols(); ++k)
    dim == 2 ? body.mass.add_product<2>(b.T.col(k).data(), MT.col(k).data())
             : body.mass.add_product<3>(b.T.col(k).data(), MT.col(k).data());
  Mat inertia = b.T.transpose() * MT;
  auto turning = inertia.diagonal().tail(spins);
  turning.array() += 1e-3 * turning.maxCoeff();  // as above
  b.inverse.setZero();
  b.inverse.topLeftCorner(inertia.rows(), inertia.cols()) = inertia.inverse();
  b.regular = true;
}

void AssemblyMetric::stiff(BodyMetric& b, const FlexibleIndex& f, const State& s, const TreeWork& work) const {
  const TreeRange& range = system_->tree.trees[static_cast<std::size_t>(b.tree)];
  const Link& root = system_->tree.links[static_cast<std::size_t>(range.link0)];
  // At rest, without weight: what is left of the tangents is inertia and elasticity.
  const std::unique_ptr<BlockWork> block = system_->tree.blocks[static_cast<std::size_t>(f.block)]->make_work();
  std::vector<LinkMotion> motion(work.motion.begin() + range.link0, work.motion.begin() + range.link1);
  const Vec rest = Vec::Zero(b.n);
  const Eigen::Index n = b.n;
  const std::vector<Vec3> none(motion.size(), Vec3::Zero());
  const Vec row_forces = Vec::Zero(kOwnRows);
  block->kinematics(s.q.data() + root.q, rest.data(), motion.data());
  block->accelerations(rest.data());
  block->link_accelerations(motion.data());
  b.force.setZero(n);
  block->add_forces(Vec3::Zero(), b.force.data());
  if (b.force_at_start.size() == 0) b.force_at_start = b.force;
  if (b.beam != nullptr) {
    const std::vector<VelocityRun>& runs = b.beam->runs;
    std::vector<double> M(b.beam->run_mass.size()), C = M, K = M;
    block->tangents(Vec3::Zero(), none.data(), none.data(), nullptr, M.data(), C.data(), K.data());
    b.band = std::make_unique<Eigen::SimplicialLLT<Eigen::SparseMatrix<double>>>(band_of(runs, M, K, b.s));
    b.regular = b.band->info() == Eigen::Success;
    return;
  }
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
      b.beam != nullptr ? rigid_beam(b, s) : rigid(b, work);
    else
      stiff(b, system_->flexible[b.flexible], s, work);
  }
}

bool AssemblyMetric::relax(Vec& delta) const {
  if (how_ != Deforming::by_stiffness) return false;
  for (const BodyMetric& b : bodies_) {
    if (!b.regular) continue;
    const Vec f = -b.s * (b.force - b.force_at_start);
    delta.segment(b.v0, b.n) = b.beam != nullptr ? Vec(b.band->solve(f)) : Vec(b.W.solve(f));
  }
  return true;
}

void AssemblyMetric::finish_beam(const BodyMetric& b, Vec& delta) const {
  const ancf::AncfBody& body = *b.beam;
  const int dim = body.dim;
  const Vec motion = b.T.colPivHouseholderQr().solve(Vec(delta.segment(b.v0, b.n)));
  const Vec3 turned = dim == 2 ? Vec3(0, 0, motion[2]) : Vec3(motion.tail<3>());
  const Mat3 change = rotation_exp<double>(turned) - Mat3::Identity();
  for (int i = 0; i < body.vectors; ++i) {
    const auto at = static_cast<Eigen::Index>(i) * dim;
    // T holds what a turn of unit rate makes of each vector: its arm, turned by a quarter.
    const Vec3 arm = dim == 2 ? Vec3(b.T(at + 1, 2), -b.T(at, 2), 0) : Vec3(b.T(at + 1, 5), b.T(at + 2, 3), b.T(at, 4));
    const Vec3 turn = change * arm;
    for (int c = 0; c < dim; ++c) delta[b.v0 + at + c] = turn[c] + (body.is_position(i) ? motion[c] : 0.0);
  }
}

void AssemblyMetric::finish(const TreeWork& work, Vec& delta) const {
  if (how_ != Deforming::never) return;
  for (const BodyMetric& b : bodies_) {
    if (b.beam != nullptr) {
      finish_beam(b, delta);
      continue;
    }
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
  } else if (body->beam != nullptr) {
    out = body->band->solve(load);
  } else {
    out = body->W.solve(load);
  }
  return true;
}

}  // namespace clatter
