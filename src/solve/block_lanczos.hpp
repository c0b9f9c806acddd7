// The lowest eigenpairs of K phi = omega^2 M phi on a subspace, through its inverse.
//
// `inverse` maps a block b to y = K^-1 b within the subspace (constraints, rigid motions taken out); it must be
// symmetric, so that A = inverse M is self-adjoint in the inner product of M. The block Krylov space of A is built with
// full reorthogonalisation and Rayleigh and Ritz' method applied to it (block Lanczos, Golub and Underwood 1977):
// clusters up to the size of a block are found as surely as single values. A pair is accepted when the residual of its
// Ritz vector, ||A phi - theta phi||_M, is below tolerance theta.
#pragma once

#include <Eigen/Core>
#include <functional>

namespace clatter {

struct EigenpairsRequest {
  int count = 0;     // how many, or 0: all up to `limit`
  double limit = 0;  // largest omega^2 wanted (0: none)
  double tolerance = 1e-9;
  int block = 6;
  int most = 3000;  // vectors of the Krylov space
  // How many pairs there are at most (dimension of the subspace); 0: not known.
  int dimension = 0;
};

struct Eigenpairs {
  Eigen::VectorXd values;   // omega^2, ascending
  Eigen::MatrixXd vectors;  // M-orthonormal columns
  bool converged = false;
  bool complete = false;  // the subspace has no further ones
  int solves = 0;
};

using ColumnMap = std::function<Eigen::MatrixXd(const Eigen::MatrixXd&)>;

Eigenpairs lowest_eigenpairs(int n, const ColumnMap& inverse, const ColumnMap& mass, const EigenpairsRequest& request,
                             const std::function<void(double)>& progress = {});

}  // namespace clatter
