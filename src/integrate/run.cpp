#include "integrate/run.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"

namespace clatter {

namespace {
// An output this close to the end of a step, in parts of the output interval, is taken there.
constexpr double kSame = 1e-9;
}  // namespace

Run::Run(Dynamics& dynamics, const RunSettings& settings, RunCallbacks callbacks)
    : dynamics_(dynamics),
      settings_(settings),
      callbacks_(std::move(callbacks)),
      integrator_(make_integrator(settings.integrator, dynamics)),
      projector_(dynamics) {
  const Sizes& n = dynamics.sizes();
  a_.setZero(n.nv);
  lambda_.setZero(n.nc());
  zdot_.setZero(n.nz);
  W_.setZero(n.np);
}

void Run::start(const State& s) {
  if (!(settings_.end > s.t)) throw InputError("the simulation ends before it starts");
  summary_ = {};
  start_ = s.t;
  next_output_ = 0;
  next_checkpoint_ = 1;
  sample_ = s;
  projector_.start(s);
  integrator_->start(s);
  summary_.stored_at_start = dynamics_.stored_energy(s);
  memory_.resize([&] {
    Archive archive = Archive::counter();
    exchange(archive);
    return archive.position() + integrator_->memory_size();
  }());
  write_sample(s.t);
  next_output_ = 1;
}

void Run::restore(const State& like, std::span<const double> memory) {
  // The integrator sizes its arrays and row scales from a state of the run.
  sample_ = like;
  projector_.start(like);
  integrator_->start(like);
  Archive counter = Archive::counter();
  exchange(counter);
  const std::size_t own = counter.position();
  memory_.resize(own + integrator_->memory_size());
  if (memory.size() != memory_.size()) {
    throw InputError("the checkpoint was written by another integrator or for another model");
  }
  Archive archive = Archive::reader(memory);
  exchange(archive);
  integrator_->restore(memory.subspan(own));
  integrator_->refresh();
}

void Run::exchange(Archive& archive) {
  projector_.exchange(archive);
  archive.value(start_);
  archive.value(next_output_);
  archive.value(next_checkpoint_);
  archive.value(last_output_time_);
  archive.value(summary_.stored_at_start);
  archive.value(summary_.largest_remainder);
  archive.value(summary_.largest_drift);
  archive.value(summary_.smallest_step);
  archive.value(summary_.largest_step);
  for (long* count : {&summary_.steps, &summary_.rejected, &summary_.newton_iterations, &summary_.projections,
                      &summary_.events, &summary_.outputs}) {
    archive.count(*count);
  }
}

RunSummary Run::go() {
  summary_.finished = false;
  while (integrator_->state().t < settings_.end) {
    const StepReport& step = integrator_->step(settings_.end);
    ++summary_.steps;
    summary_.rejected += step.rejected;
    summary_.newton_iterations += step.newton_iterations;
    summary_.projections += step.projections;
    summary_.largest_drift = std::max(summary_.largest_drift, step.drift);
    summary_.largest_step = std::max(summary_.largest_step, step.h);
    if (step.h > 0) {
      summary_.smallest_step = summary_.smallest_step > 0 ? std::min(summary_.smallest_step, step.h) : step.h;
    }
    write_outputs();
    if (step.at_event) {
      summary_.events += static_cast<long>(integrator_->fired().size());
      if (callbacks_.on_event) callbacks_.on_event(integrator_->state(), integrator_->fired());
    }
    if (callbacks_.on_progress) {
      callbacks_.on_progress({integrator_->state().t, step.h, summary_.steps, summary_.rejected, summary_.events});
    }
    const bool stop = callbacks_.stop && callbacks_.stop->load(std::memory_order_relaxed);
    const double interval = settings_.checkpoint_interval;
    if (interval > 0 && integrator_->state().t >= start_ + next_checkpoint_ * interval) {
      while (start_ + next_checkpoint_ * interval <= integrator_->state().t) ++next_checkpoint_;
      write_checkpoint();
    }
    if (stop) return summary_;
  }
  summary_.finished = true;
  return summary_;
}

void Run::write_outputs() {
  const double t = integrator_->state().t;
  if (settings_.output_step > 0) {
    for (; output_time(next_output_) <= t + kSame * settings_.output_step; ++next_output_) {
      const double wanted = output_time(next_output_);
      if (wanted > settings_.end + kSame * settings_.output_step) break;
      write_sample(std::min(wanted, t));
    }
  } else if (integrator_->step_begin() < t) {
    write_sample(t);
  }
  const double sliver = settings_.output_step > 0 ? kSame * settings_.output_step : 0;
  if (t >= settings_.end && last_output_time_ < t - sliver) write_sample(t);
}

void Run::write_sample(double t) {
  ++summary_.outputs;
  last_output_time_ = t;
  const double now = integrator_->state().t;
  if (std::abs(t - now) <= kSame * settings_.output_step) {
    sample_ = integrator_->state();
    a_ = integrator_->acceleration();
    lambda_ = integrator_->lambda();
    W_ = integrator_->work();
  } else {
    integrator_->interpolate(t, sample_);
    integrator_->interpolate_work(t, W_);
    if (settings_.integrator.project) {
      projector_.positions(sample_);
      projector_.velocities(sample_);
    }
    dynamics_.accelerations(sample_, a_, lambda_, zdot_);
  }
  const double stored = dynamics_.stored_energy(sample_);
  const double remainder = stored - summary_.stored_at_start - W_.sum();
  summary_.largest_remainder = std::max(summary_.largest_remainder, std::abs(remainder));
  if (callbacks_.on_output) callbacks_.on_output({sample_, a_, lambda_, W_, stored, remainder});
}

void Run::write_checkpoint() {
  integrator_->refresh();
  if (!callbacks_.on_checkpoint) return;
  Archive archive = Archive::writer(memory_);
  exchange(archive);
  integrator_->save(std::span<double>(memory_).subspan(archive.position()));
  callbacks_.on_checkpoint(integrator_->state().t, memory_);
}

RunSummary simulate(Dynamics& dynamics, const State& s, const RunSettings& settings, RunCallbacks callbacks) {
  Run run(dynamics, settings, std::move(callbacks));
  run.start(s);
  return run.go();
}

}  // namespace clatter
