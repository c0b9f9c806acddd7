// The state-transition matrix along a trajectory: x(t) = Phi(t) x(t_0) for perturbations x = (du, dv, dz), dPhi/dt =
// A(t) Phi.
//
// The state is advanced by any integrator; over each accepted step Phi is advanced by the matching method
// (variational.hpp).
//
// At an event the step ends. Where the motion or its equations jump there, the caller multiplies in the jump
// (saltation) matrix; where both are continuous it is the identity. Motions with rigid contacts:
// contact_transition.hpp.
#pragma once

#include <memory>

#include "analysis/variational.hpp"

namespace clatter {

// Perturbations after a jump from those before it.
struct Jump {
  Mat S;
};

class Transition final : public VariationalMotion {
 public:
  Transition(Dynamics& dynamics, const IntegratorSettings& settings);

  void start(const State& s) override;
  const StepReport& step(double t_limit) override;
  void apply(const Jump& jump);

  const State& state() const override { return integrator_->state(); }
  Integrator& integrator() { return *integrator_; }

 private:
  std::unique_ptr<Integrator> integrator_;
  VariationalStep variational_;
};

}  // namespace clatter
