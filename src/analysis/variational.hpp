// One step of the variational equations dPhi/dt = A(t) Phi along a step an integrator has just made.
//
// Phi is advanced by the method that matches the integrator's, with A (state_matrix.hpp) at the method's own stages,
// taken from the dense output, whose error is one order in h below what would be felt:
//
//   euler, rk4, dopri5   the same explicit Runge-Kutta tableau; adams: that of dopri5
//   radau5, bdf          Radau IIA with three stages: (1 - h A_rk (x) A_i) K = A_i Phi_0, L-stable as the motion itself
//   symplectic_euler, verlet, generalized_alpha   trapezoidal rule
//
// A motion may be simpler than its neighbours (a ball that rolls steadily is exact in one step, however far it turns).
// Where dopri5 or adams control their step, the step of Phi is therefore split until its own error estimate, each entry
// in the scales of its row and column, is within the relative tolerance of its largest entry.
#pragma once

#include <vector>

#include "analysis/state_matrix.hpp"
#include "integrate/integrator.hpp"

namespace clatter {

// A motion together with its transition matrix Phi, x(t) = Phi(t) x(t_0): what sensitivities, periodic motions and their
// multipliers stand on. Smooth motions: Transition (transition.hpp); through contact events: ContactTransition
// (contact_transition.hpp), where Phi also carries what every event does to neighbouring motions.
class VariationalMotion {
 public:
  virtual ~VariationalMotion() = default;
  virtual void start(const State& s) = 0;              // Phi maps onto perturbations that s allows
  virtual const StepReport& step(double t_limit) = 0;  // one accepted step of the state and of Phi
  virtual bool undecided() const { return false; }     // something at the present time is still to happen
  virtual const State& state() const = 0;
  const Mat& matrix() const { return Phi_; }
  // As many steps as it takes, and all that happens at `t`.
  void advance_to(double t) {
    while (state().t < t || undecided()) step(t);
  }

 protected:
  Mat Phi_;
};

class VariationalStep {
 public:
  VariationalStep(Dynamics& dynamics, const IntegratorSettings& settings);
  int size() const { return linearisation_.size(); }
  // Over the last step of the integrator, which moves the dynamics given above, or over a part of that step.
  void advance(Integrator& integrator, Mat& Phi);
  void advance(Integrator& integrator, double t0, double t1, Mat& Phi);

 private:
  void controlled_step(double t0, double t1, Mat& Phi);
  double explicit_step(double t0, double t1, Mat& Phi);  // returns its error, at most 1 where it is accepted
  void radau_step(double t0, double t1, Mat& Phi);
  void trapezoidal_step(double t0, double t1, Mat& Phi);
  void linearise_at(double t, Mat& A);

  double measure(const Mat& X) const;

  IntegratorSettings settings_;
  Linearisation linearisation_;
  Integrator* integrator_ = nullptr;
  Vec scale_;
  Mat stage_, trial_;
  std::vector<Mat> A_, K_;
  State sample_;
};

}  // namespace clatter
