#include "integrate/stepper.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace clatter {

PlainStepper::PlainStepper(std::unique_ptr<Integrator> integrator, Dynamics& dynamics, bool project)
    : integrator_(std::move(integrator)), dynamics_(dynamics), projector_(dynamics), project_(project) {
  zdot_.setZero(dynamics.sizes().nz);
  W_base_.setZero(dynamics.sizes().np);
}

PlainStepper::PlainStepper(const IntegratorSettings& settings, Dynamics& dynamics)
    : PlainStepper(make_integrator(settings, dynamics), dynamics, settings.project) {
  if (settings.scheme != Scheme::dopri5) return;
  choice_.emplace(settings);
  settings_ = settings;
  if (!settings.automatic) return;
  IntegratorSettings implicit = settings;
  implicit.scheme = Scheme::radau5;
  largest_memory_ = std::max(integrator_->memory_size(), make_integrator(implicit, dynamics)->memory_size());
}

void PlainStepper::take(Scheme scheme, double first_step) {
  scheme_ = scheme;
  IntegratorSettings settings = settings_;
  settings.scheme = scheme;
  settings.step = first_step;
  integrator_ = make_integrator(settings, dynamics_);
}

// Another scheme goes on from the present state. Between two steps, so that the last one can still be sampled until
// then.
void PlainStepper::go_over(double first_step) {
  const State s = integrator_->state();
  W_base_ += integrator_->work();
  const std::unique_ptr<Integrator> before = std::move(integrator_);
  take(choice_->scheme(), first_step);
  integrator_->start(s);
  integrator_->follow(*before, false);
}

void PlainStepper::start(const State& s) {
  // The equations may hold inner states beyond the caller's (compliant contacts); they start at rest.
  State first = s;
  const auto own = first.z.size();
  first.z.conservativeResize(dynamics_.sizes().nz);
  first.z.tail(first.z.size() - own).setZero();
  projector_.start(first);
  W_base_.setZero();
  if (choice_) {
    choice_->start();
    if (scheme_ != choice_->scheme()) take(choice_->scheme(), settings_.step);
  }
  integrator_->start(first);
}

const StepReport& PlainStepper::step(double t_limit) {
  if (!choice_) return integrator_->step(t_limit);
  if (scheme_ != choice_->scheme()) go_over(choice_->first_step(integrator_->next_step()));
  const StepReport* report = nullptr;
  try {
    report = &integrator_->step(t_limit);
  } catch (const SolveError&) {
    if (!choice_->failed()) throw;
    go_over(choice_->first_step(0));
    report = &integrator_->step(t_limit);
  }
  if (!report->at_event) choice_->after(*report);
  return *report;
}

void PlainStepper::sample(double t, State& s, Vec& a, Vec& lambda, Vec& W) {
  if (t == integrator_->state().t) {
    s = integrator_->state();
    a = integrator_->acceleration();
    lambda = integrator_->lambda();
    W = W_base_ + integrator_->work();
    return;
  }
  integrator_->interpolate_work(t, W);
  W += W_base_;
  if (integrator_->interpolate_singular(t, s, a, lambda)) return;
  integrator_->interpolate(t, s);
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

void PlainStepper::exchange(Archive& archive) {
  projector_.exchange(archive);
  if (!choice_) return;
  archive.vector(W_base_);
  choice_->exchange(archive);
  // The scheme of the last step: the choice may already be another one, which the next step goes over to.
  archive.count(scheme_);
}

std::size_t PlainStepper::memory_size() {
  Archive archive = Archive::counter();
  exchange(archive);
  return archive.position() + std::max(largest_memory_, integrator_->memory_size());
}

void PlainStepper::save(std::span<double> memory) {
  Archive archive = Archive::writer(memory);
  exchange(archive);
  std::fill(memory.begin() + static_cast<std::ptrdiff_t>(archive.position()), memory.end(), 0.0);
  integrator_->save(memory.subspan(archive.position(), integrator_->memory_size()));
}

void PlainStepper::restore(std::span<const double> memory) {
  if (memory.size() != memory_size())
    throw InputError("the checkpoint was written by another integrator or for another model");
  const Scheme before = scheme_;
  Archive archive = Archive::reader(memory);
  exchange(archive);
  if (scheme_ != before) {
    const State like = integrator_->state();
    take(scheme_, settings_.step);
    integrator_->start(like);
  }
  integrator_->restore(memory.subspan(archive.position(), integrator_->memory_size()));
}

}  // namespace clatter
