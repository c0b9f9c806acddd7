// Static answers of a structure that nobody holds, with one factorization for all of them.
//
// K of a free body is singular: its null space are the rigid motions R. K_p = K + (springs on as many freedoms as there
// are rigid motions, chosen so that they hold the body) is positive definite, and for loads in equilibrium,
// R^T f = 0, the springs carry nothing: K_p^-1 f solves K u = f exactly, whatever their stiffness.
//
//   free_response:  K y = (I - M R R^T) f,  R^T M y = 0        inertia relief; R orthonormal in M
//   Boundary:       K y + C^T mu = f,  C y = 0 (or u_B)        y = K_p^-1 (f - C^T mu) + R a,  R^T (f - C^T mu) = 0
//
// so that with U = K_p^-1 C^T, F = C U the unknowns mu, a come from a small dense system (V-6, without adding C^T C to
// the sparse matrix).
#pragma once

#include <Eigen/Dense>
#include <memory>

#include "fem/structure.hpp"
#include "solve/block_lanczos.hpp"
#include "solve/supernodal_ldl.hpp"

namespace clatter::fem {

class ElasticSolver {
 public:
  // SolveError "zero-energy mode" with a place when the body has motions without energy other than rigid ones.
  explicit ElasticSolver(const Structure& structure, const Progress& progress = {});

  const Structure& structure() const { return *structure_; }
  const Mat& rigid() const { return R_; }                // about the mass centre, as Structure::rigid_motions
  const Mat& rigid_normal() const { return Rn_; }        // the same space, M-orthonormal
  const Mat& mass_rigid() const { return MRn_; }         // M times rigid_normal
  double rigid_energy() const { return rigid_energy_; }  // largest |R^T K R| against the norms: a check of K

  Mat pinned(Mat loads) const;
  Mat free_response(const Mat& loads) const;
  Mat remove_rigid(const Mat& Y) const { return Y - Rn_ * (MRn_.transpose() * Y); }
  // Lowest elastic modes of the free body.
  Eigenpairs free_modes(const EigenpairsRequest& request, const Progress& progress = {}) const;
  // (K - omega^2 M) X = loads.
  Mat harmonic(double omega, const Mat& loads) const;

 private:
  const Structure* structure_;
  Mat R_, Rn_, MRn_;
  double rigid_energy_ = 0;
  std::unique_ptr<SupernodalLdl> factor_;
};

using SparseRows = Eigen::SparseMatrix<double, Eigen::RowMajor>;

class Boundary {
 public:
  // C: rows of boundary freedoms; scale: size of each row (1 for displacements, a length for rotations).
  Boundary(const ElasticSolver& solver, SparseRows C, const Vec& scale);

  const SparseRows& C() const { return C_; }
  int size() const { return static_cast<int>(C_.rows()); }
  // Displacement for unit boundary displacements; columns. C static_modes = I.
  Mat static_modes() const;
  // Forces for them: the statically reduced stiffness.
  Mat stiffness() const;
  // Response to loads with the boundary held.
  Mat held_response(const Mat& loads) const;
  Eigenpairs held_modes(const EigenpairsRequest& request, const Progress& progress = {}) const;

 private:
  const ElasticSolver* solver_;
  SparseRows C_;
  Vec scale_;
  double compliance_ = 1;
  Mat U_;  // K_p^-1 C_s^T
  Eigen::PartialPivLU<Mat> saddle_;
};

}  // namespace clatter::fem
