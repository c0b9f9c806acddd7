#include "fem/elastic_solver.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "base/error.hpp"

namespace clatter::fem {
namespace {

constexpr double no_time = 0;

std::function<void(double)> stage(const Progress& progress, const char* name) {
  if (!progress) return {};
  return [progress, name](double f) { progress(name, f); };
}

}  // namespace

ElasticSolver::ElasticSolver(const Structure& structure, const Progress& progress)
    : structure_(&structure), R_(structure.rigid_motions()) {
  const Mat MR = structure.mass_times(R_);
  const Mat gram = R_.transpose() * MR;
  const Eigen::LLT<Mat> llt(0.5 * (gram + gram.transpose()));
  if (llt.info() != Eigen::Success)
    throw SolveError("no-rigid-inertia", no_time, {}, "the flexible body has no inertia against some rigid motion",
                     "a line of beams without rotatory inertia, or a mass matrix that is not positive");
  Rn_ = llt.matrixU().solve<Eigen::OnTheRight>(R_);
  MRn_ = llt.matrixU().solve<Eigen::OnTheRight>(MR);

  const Sparse& K = structure.K();
  {
    const Mat KR = structure.stiffness_times(R_);
    for (int k = 0; k < R_.cols(); ++k) {
      // |K| |r| bounds the rounding of K r.
      double bound = 0, size = 0;
      for (int c = 0; c < K.outerSize(); ++c) {
        bound += std::abs(K.coeff(c, c) * R_(c, k) * R_(c, k));
        size += std::abs(KR(c, k) * R_(c, k));
      }
      if (bound > 0) rigid_energy_ = std::max(rigid_energy_, size / bound);
    }
  }
  if (rigid_energy_ > 1e-6)
    throw SolveError(
        "grounded-stiffness", no_time, {},
        fmt::format("the stiffness matrix resists rigid motions (energy {:.1e} of its diagonal)", rigid_energy_),
        "a flexible body must be given free, without supports");

  // Freedoms that hold the body best: pivots of the rigid motions.
  Mat scaled = R_.transpose();
  for (int k = 0; k < scaled.rows(); ++k) scaled.row(k) /= scaled.row(k).cwiseAbs().maxCoeff();
  const Eigen::ColPivHouseholderQR<Mat> qr(scaled);
  Sparse pinned = K;
  for (int k = 0; k < R_.cols(); ++k) {
    const int i = static_cast<int>(qr.colsPermutation().indices()[k]);
    pinned.coeffRef(i, i) *= 2;
  }
  factor_ = std::make_unique<SupernodalLdl>(pinned, structure.block_of());
  const bool good = factor_->factorize(pinned, stage(progress, "factorizing the stiffness matrix"));
  if (!good || factor_->negative_pivots() > 0 || factor_->smallest_pivot() < 1e-14) {
    const int block = structure.block_of()[static_cast<std::size_t>(std::max(0, factor_->smallest_pivot_freedom()))];
    const Vec3 x = structure.block_position(block);
    const std::string node = block < structure.node_count() ? fmt::format("node {}", structure.mesh().node_label(block))
                                                            : std::string("a rigid interface");
    throw SolveError("zero-energy-mode", no_time, {},
                     fmt::format("the body can move without deforming: {} at ({:g}, {:g}, {:g}) is not held by its "
                                 "neighbours (pivot {:.1e})",
                                 node, x.x(), x.y(), x.z(), factor_->smallest_pivot()),
                     "parts that touch in a single node or edge are hinged there; connect them by faces");
  }
}

Mat ElasticSolver::pinned(Mat loads) const {
  factor_->solve(loads);
  return loads;
}

Mat ElasticSolver::free_response(const Mat& loads) const {
  return remove_rigid(pinned(loads - MRn_ * (Rn_.transpose() * loads)));
}

Eigenpairs ElasticSolver::free_modes(const EigenpairsRequest& request, const Progress& progress) const {
  EigenpairsRequest r = request;
  r.dimension = structure_->freedoms() - static_cast<int>(R_.cols());
  return lowest_eigenpairs(
      structure_->freedoms(), [&](const Mat& b) { return free_response(b); },
      [&](const Mat& x) { return structure_->mass_times(x); }, r, stage(progress, "computing modes"));
}

Mat ElasticSolver::harmonic(double omega, const Mat& loads) const {
  const Sparse A = structure_->K() - (omega * omega) * structure_->M();
  SupernodalLdl factor(A, structure_->block_of());
  Mat X = loads;
  const bool good = factor.factorize(A);
  if (good) {
    factor.solve(X);
    // One step of refinement mends what pivots from the diagonal lose.
    for (int pass = 0; pass < 2; ++pass) {
      Mat residual = loads - A.selfadjointView<Eigen::Lower>() * X;
      factor.solve(residual);
      X += residual;
    }
    const Mat residual = loads - A.selfadjointView<Eigen::Lower>() * X;
    const double scale = A.norm() * X.norm();
    if (X.allFinite() && residual.norm() <= 1e-10 * std::max(loads.norm(), 1e-6 * scale)) return X;
  }
  throw SolveError("resonant-excitation", no_time, {},
                   fmt::format("the excitation frequency {:g} Hz meets a natural frequency of the body",
                               omega / (2 * std::numbers::pi)),
                   "choose another excitation frequency for the frequency-response modes");
}

Boundary::Boundary(const ElasticSolver& solver, SparseRows C, const Vec& scale)
    : solver_(&solver), C_(std::move(C)), scale_(scale) {
  const SparseRows Cs = scale_.asDiagonal() * C_;
  U_ = solver.pinned(Mat(Cs.transpose()));
  Mat F = Cs * U_;
  F = 0.5 * (F + F.transpose()).eval();
  const int n = size();
  const auto r = solver.rigid().cols();
  // Rigid motions scaled to rows of size one.
  Mat CR = Cs * solver.rigid_normal();
  compliance_ = F.diagonal().cwiseAbs().mean() / std::max(CR.cwiseAbs().maxCoeff(), 1e-300);
  Eigen::ColPivHouseholderQR<Mat> rank(CR);
  rank.setThreshold(1e-9);
  if (rank.rank() < r)
    throw InputError("the interfaces that are held leave the body free to move as a whole",
                     "hold an interface with rotations, or three nodes that are not in a line");
  Mat S = Mat::Zero(n + r, n + r);
  S.topLeftCorner(n, n) = F / compliance_;
  S.topRightCorner(n, r) = CR;
  S.bottomLeftCorner(r, n) = CR.transpose();
  saddle_.compute(S);
  // Boundary rows that repeat each other make the small system singular.
  Mat probe = saddle_.solve(Mat::Identity(n + r, n));
  if (!probe.allFinite() || (S * probe - Mat::Identity(n + r, n)).norm() > 1e-6 * std::sqrt(n))
    throw InputError("two interfaces hold the same nodes", "interfaces must not share all their nodes");
}

Mat Boundary::static_modes() const {
  const int n = size();
  const auto r = solver_->rigid().cols();
  Mat rhs = Mat::Zero(n + r, n);
  rhs.topRows(n) = Mat(scale_.asDiagonal());
  const Mat x = saddle_.solve(rhs);
  return U_ * (x.topRows(n) / compliance_) + solver_->rigid_normal() * x.bottomRows(r);
}

Mat Boundary::stiffness() const {
  const int n = size();
  const auto r = solver_->rigid().cols();
  Mat rhs = Mat::Zero(n + r, n);
  rhs.topRows(n) = Mat(scale_.asDiagonal());
  const Mat f = scale_.asDiagonal() * saddle_.solve(rhs).topRows(n) / compliance_;
  return 0.5 * (f + f.transpose());
}

Mat Boundary::held_response(const Mat& loads) const {
  const int n = size();
  const auto r = solver_->rigid().cols();
  Mat y = solver_->pinned(loads);
  Mat rhs(n + r, loads.cols());
  rhs.topRows(n) = scale_.asDiagonal() * (C_ * y);
  // F mu - C R a = C y,  (C R)^T mu = R^T f; the unknowns are compliance mu and -a.
  rhs.bottomRows(r) = compliance_ * (solver_->rigid_normal().transpose() * loads);
  const Mat x = saddle_.solve(rhs);
  y.noalias() -= U_ * (x.topRows(n) / compliance_);
  y.noalias() -= solver_->rigid_normal() * x.bottomRows(r);
  return y;
}

Eigenpairs Boundary::held_modes(const EigenpairsRequest& request, const Progress& progress) const {
  const Structure& s = solver_->structure();
  EigenpairsRequest r = request;
  r.dimension = s.freedoms() - size();
  return lowest_eigenpairs(
      s.freedoms(), [&](const Mat& b) { return held_response(b); }, [&](const Mat& x) { return s.mass_times(x); }, r,
      stage(progress, "computing modes"));
}

}  // namespace clatter::fem
