// The state-transition matrix along a trajectory: x(t) = Phi(t) x(t_0) for perturbations x = (du, dv, dz), dPhi/dt =
// A(t) Phi.
//
// The state is advanced by any integrator; over each accepted step Phi is advanced by the matching method, with A
// (state_matrix.hpp) at the method's own stages, taken from the dense output, whose error is one order in h below what
// would be felt:
//
//   euler, rk4, dopri5   the same explicit Runge-Kutta tableau; adams: that of dopri5
//   radau5, bdf          Radau IIA with three stages: (1 - h A_rk (x) A_i) K = A_i Phi_0, L-stable as the motion itself
//   verlet, generalized_alpha   trapezoidal rule
//
// At an event the step ends. Where the motion or its equations jump there, the caller multiplies in the jump
// (saltation) matrix; where both are continuous it is the identity.
#pragma once

#include <memory>
#include <vector>

#include "analysis/state_matrix.hpp"
#include "integrate/integrator.hpp"

namespace clatter {

// Perturbations after a jump from those before it.
struct Jump {
  Mat S;
};

class Transition {
 public:
  Transition(Dynamics& dynamics, const IntegratorSettings& settings);

  void start(const State& s);
  // One accepted step of the state and of Phi.
  const StepReport& step(double t_limit);
  void apply(const Jump& jump);

  const State& state() const { return integrator_->state(); }
  Integrator& integrator() { return *integrator_; }
  const Mat& matrix() const { return Phi_; }

 private:
  void explicit_step(double t0, double h);
  void radau_step(double t0, double h);
  void trapezoidal_step(double t0, double h);
  void linearise_at(double t, Mat& A);

  IntegratorSettings settings_;
  std::unique_ptr<Integrator> integrator_;
  Linearisation linearisation_;
  Mat Phi_, stage_;
  std::vector<Mat> A_, K_;
  State sample_;
};

}  // namespace clatter
