#include "analysis/transition.hpp"

namespace clatter {

Transition::Transition(Dynamics& dynamics, const IntegratorSettings& settings)
    : integrator_(make_integrator(settings, dynamics)), variational_(dynamics, settings) {}

void Transition::start(const State& s) {
  integrator_->start(s);
  Phi_.setIdentity(variational_.size(), variational_.size());
}

const StepReport& Transition::step(double t_limit) {
  const StepReport& report = integrator_->step(t_limit);
  variational_.advance(*integrator_, Phi_);
  return report;
}

void Transition::apply(const Jump& jump) { Phi_ = jump.S * Phi_; }

}  // namespace clatter
