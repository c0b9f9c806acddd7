#include "integrate/stepper.hpp"

#include "base/error.hpp"

namespace clatter {

PlainStepper::PlainStepper(std::unique_ptr<Integrator> integrator, Dynamics& dynamics, bool project)
    : integrator_(std::move(integrator)), dynamics_(dynamics), projector_(dynamics), project_(project) {
  zdot_.setZero(dynamics.sizes().nz);
}

void PlainStepper::start(const State& s) {
  // The equations may hold inner states beyond the caller's (compliant contacts); they start at rest.
  State first = s;
  const auto own = first.z.size();
  first.z.conservativeResize(dynamics_.sizes().nz);
  first.z.tail(first.z.size() - own).setZero();
  projector_.start(first);
  integrator_->start(first);
}

void PlainStepper::sample(double t, State& s, Vec& a, Vec& lambda, Vec& W) {
  if (t == integrator_->state().t) {
    s = integrator_->state();
    a = integrator_->acceleration();
    lambda = integrator_->lambda();
    W = integrator_->work();
    return;
  }
  integrator_->interpolate(t, s);
  integrator_->interpolate_work(t, W);
  if (project_) {
    projector_.positions(s);
    projector_.velocities(s);
  }
  a.resize(dynamics_.sizes().nv);
  lambda.resize(dynamics_.sizes().nc());
  dynamics_.accelerations(s, a, lambda, zdot_);
}

void PlainStepper::event_log(std::vector<StepEvent>& out) const {
  out.clear();
  for (const int index : integrator_->fired()) out.push_back({dynamics_.event_name(index), "", ""});
  integrator_->describe_step(out);
}

std::size_t PlainStepper::memory_size() {
  Archive archive = Archive::counter();
  projector_.exchange(archive);
  return archive.position() + integrator_->memory_size();
}

void PlainStepper::save(std::span<double> memory) {
  Archive archive = Archive::writer(memory);
  projector_.exchange(archive);
  integrator_->save(memory.subspan(archive.position()));
}

void PlainStepper::restore(std::span<const double> memory) {
  if (memory.size() != memory_size())
    throw InputError("the checkpoint was written by another integrator or for another model");
  Archive archive = Archive::reader(memory);
  projector_.exchange(archive);
  integrator_->restore(memory.subspan(archive.position()));
}

}  // namespace clatter
