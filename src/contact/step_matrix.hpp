// StepMatrix: the response of the jointed bodies to impulses when forces that stiffen and damp them act within the
// step.
//
//   S x - G^T mu = b,   G x = g,      S = M + c C + k K         (tangents of integrate/dynamics.hpp)
//
// Redundant rows are kept regular by 1e-8 of the diagonal of G S^-1 G^T; one step of refinement removes its trace.
#pragma once

#include <vector>

#include "integrate/dynamics.hpp"
#include "integrate/iteration_matrix.hpp"
#include "solve/linear_solver.hpp"

namespace clatter::contact {

class StepMatrix {
 public:
  explicit StepMatrix(Dynamics& dynamics);

  // False when the matrix is singular.
  bool factorize(const State& s, const Vec& a, const Vec& lambda, double c, double k);
  // Any of g (zero), mu may be null; x may be b.
  void solve(const double* b, const double* g, double* x, double* mu);
  const Tangents& tangents() const { return tangents_; }
  void forget() {
    tangents_ = dynamics_.tangent_layout();
    solver_.forget();
  }

 private:
  PatternPtr make_pattern() const;
  void lay_out();

  Dynamics& dynamics_;
  Tangents tangents_;
  PatternPtr of_;  // of the tangents that the following is laid out by
  PatternPtr pattern_;
  SparseMatrix<double> matrix_;
  LinearSolver<double> solver_;
  BlockMap map_M_, map_G_, map_Gt_;
  std::vector<int> diagonal_;
  int nv_, nc_;
  Vec regular_, row_scale_, rhs_, x_, residual_;
};

}  // namespace clatter::contact
