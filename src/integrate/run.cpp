#include "integrate/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.hpp"
#include "base/interrupt.hpp"

namespace clatter {

namespace {
// An output this close to the end of a step, in parts of the output interval, is taken there.
constexpr double kSame = 1e-9;
}  // namespace

Run::Run(Dynamics& dynamics, const RunSettings& settings, RunCallbacks callbacks)
    : settings_(settings),
      callbacks_(std::move(callbacks)),
      owned_(std::make_unique<PlainStepper>(settings.integrator, dynamics)),
      stepper_(owned_.get()) {}

Run::Run(Stepper& stepper, const RunSettings& settings, RunCallbacks callbacks)
    : settings_(settings), callbacks_(std::move(callbacks)), stepper_(&stepper) {}

void Run::start(const State& s) {
  if (!(settings_.end > s.t)) throw InputError("the simulation ends before it starts");
  summary_ = {};
  singular_ = {};
  start_ = s.t;
  next_output_ = 0;
  next_checkpoint_ = 1;
  told_.clear();
  left_out_ = 0;
  recorded_ = true;
  sample_ = s;
  stepper_->start(s);
  v_watched_ = stepper_->state().v;
  // What happened in no time at the start (impacts) is in the ledger already.
  stepper_->sample(s.t, sample_, a_, lambda_, W_);
  summary_.stored_at_start = stepper_->dynamics().stored_energy(sample_) - W_.sum();
  memory_.resize([&] {
    Archive archive = Archive::counter();
    exchange(archive);
    return archive.position() + stepper_->memory_size();
  }());
  write_sample(s.t);
  stepper_->event_log(events_);
  summary_.events += static_cast<long>(events_.size());
  if (!events_.empty() && callbacks_.on_event) callbacks_.on_event(sample_, events_);
  next_output_ = 1;
}

void Run::restore(const State& like, std::span<const double> memory) {
  // The integrator sizes its arrays and row scales from a state of the run.
  sample_ = like;
  stepper_->start(like);
  Archive counter = Archive::counter();
  exchange(counter);
  const std::size_t own = counter.position();
  memory_.resize(own + stepper_->memory_size());
  if (memory.size() != memory_.size()) {
    throw InputError("the checkpoint was written by another integrator or for another model");
  }
  Archive archive = Archive::reader(memory);
  exchange(archive);
  stepper_->restore(memory.subspan(own));
  stepper_->refresh();
  v_watched_ = stepper_->state().v;
}

void Run::exchange(Archive& archive) {
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
                      &summary_.events, &summary_.outputs, &summary_.singular}) {
    archive.count(*count);
  }
  singular_.exchange(archive);
}

RunSummary Run::go() {
  summary_.finished = false;
  try {
    steps();
  } catch (const Interrupted&) {  // within a step, which did not happen then, or among its outputs
  }
  return summary_;
}

void Run::steps() {
  stall_.start(stepper_->state().t, settings_.end);
  while (stepper_->state().t < settings_.end) {
    const bool decides = stepper_->undecided();  // the second half of a moment with events
    const StepReport& step = stepper_->step(settings_.end);
    ++summary_.steps;
    summary_.rejected += step.rejected;
    summary_.newton_iterations += step.newton_iterations;
    summary_.projections += step.projections;
    summary_.largest_drift = std::max(summary_.largest_drift, step.drift);
    summary_.largest_step = std::max(summary_.largest_step, step.h);
    if (step.h > 0) {
      summary_.smallest_step = summary_.smallest_step > 0 ? std::min(summary_.smallest_step, step.h) : step.h;
    }
    const bool passed = stepper_->dynamics().sizes().nh > 0 && watch_singular(step);
    write_outputs();
    if (step.at_event || step.changed) stepper_->event_log(events_);
    if (step.at_event) count_moment(decides);
    const double sliver = settings_.output_step > 0 ? kSame * settings_.output_step : 0, t = stepper_->state().t;
    const bool wanted = t >= settings_.end || (step.at_event && settings_.output_events && recorded_);
    if (wanted && last_output_time_ < t - sliver) write_sample(t);
    if (step.at_event || step.changed) {
      summary_.events += static_cast<long>(events_.size());
      if (callbacks_.on_event) callbacks_.on_event(stepper_->state(), events_);
    }
    if (step.at_event) {
      if (settings_.output_events && recorded_ && !stepper_->undecided()) write_sample(stepper_->state().t);
    }
    if (passed && callbacks_.on_singular) callbacks_.on_singular(singular_.time(), nearly_dependent_);
    if (callbacks_.on_progress) {
      callbacks_.on_progress({stepper_->state().t, step.h, summary_.steps, summary_.rejected, summary_.events});
    }
    const bool stop = callbacks_.stop && callbacks_.stop->load(std::memory_order_relaxed);
    const double interval = settings_.checkpoint_interval;
    if (interval > 0 && !stepper_->undecided() && stepper_->state().t >= start_ + next_checkpoint_ * interval) {
      while (start_ + next_checkpoint_ * interval <= stepper_->state().t) ++next_checkpoint_;
      write_checkpoint();
    }
    if (stop) return;
    watch_progress(step);
  }
  tell_left_out();
  summary_.finished = true;
}

bool Run::watch_singular(const StepReport& step) {
  const State& s = stepper_->state();
  if (!(step.h > 0) && v_watched_ != s.v) singular_.jumped();
  v_watched_ = s.v;
  // What the next step needs anyway, and then the constraint equations last factorised are those of this state.
  stepper_->sample(s.t, sample_, a_, lambda_, W_);
  if (!singular_.passed(s.t, step.sine >= 0 ? step.sine : stepper_->dynamics().constraint_sine())) return false;
  nearly_dependent_ = stepper_->dynamics().nearly_dependent();
  if (nearly_dependent_.empty()) return false;
  ++summary_.singular;
  return true;
}

void Run::watch_progress(const StepReport& step) {
  Integrator* controller = stepper_->controller();
  if (!stall_.stalled(stepper_->state().t, step.h, 1 + step.rejected, step.at_event)) return;
  const double h = stall_.mean_step();
  if (!stall_.eventful()) {
    if (controller == nullptr) return;  // steps as short as they were asked for
    controller->collapsed(h, "on average, too short to reach the end in a million million of them");
  }
  std::vector<std::string> names;  // of the last moment with events
  for (const StepEvent& event : events_) names.push_back(event.element);
  throw SolveError("events-accumulate", stepper_->state().t, names,
                   fmt::format("events follow each other every {:.3g} s on average without end, the last of them: {}",
                               h, names.empty() ? std::string("unknown") : names.front()),
                   "look at what switches there to and fro; method: time-stepping does not follow single events");
}

// However fast events follow each other, what they leave is bounded by the number of outputs. The first of a kind are
// recorded, and so are moments at which something else happens.
void Run::count_moment(bool second_half) {
  if (!(settings_.output_step > 0)) return;
  bool news = events_.empty() && !second_half;
  for (const StepEvent& event : events_)
    news = ++told_[event.element + ": " + event.what] <= settings_.most_events || news;
  if (!second_half) {
    recorded_ = news;
    left_out_ += news ? 0 : 1;
  } else if (news && !recorded_) {
    recorded_ = true;
    --left_out_;
  }
}

void Run::tell_left_out() {
  told_.clear();
  const long left_out = std::exchange(left_out_, 0);
  if (left_out == 0 || !callbacks_.on_event) return;
  const bool recorded = std::exchange(recorded_, true);
  callbacks_.on_event(stepper_->state(), {{"run", "left out", fmt::format("{} moments with events", left_out)}});
  recorded_ = recorded;
}

void Run::write_outputs() {
  const double t = stepper_->state().t;
  if (settings_.output_step > 0) {
    for (; output_time(next_output_) <= t + kSame * settings_.output_step; ++next_output_) {
      const double wanted = output_time(next_output_);
      if (wanted > settings_.end + kSame * settings_.output_step) break;
      leave_if_interrupted();  // one step may hold millions of outputs
      tell_left_out();
      write_sample(std::min(wanted, t));
    }
  } else if (stepper_->step_begin() < t) {
    write_sample(t);
  }
}

void Run::write_sample(double t) {
  ++summary_.outputs;
  last_output_time_ = t;
  const double now = stepper_->state().t;
  if (std::abs(t - now) <= kSame * settings_.output_step) t = now;
  stepper_->sample(t, sample_, a_, lambda_, W_);
  const double stored = stepper_->dynamics().stored_energy(sample_);
  const double remainder = stored - summary_.stored_at_start - W_.sum();
  summary_.largest_remainder = std::max(summary_.largest_remainder, std::abs(remainder));
  if (callbacks_.on_output) callbacks_.on_output({sample_, a_, lambda_, W_, stored, remainder});
}

void Run::write_checkpoint() {
  tell_left_out();  // who goes on from here begins to count anew
  stepper_->refresh();
  if (!callbacks_.on_checkpoint) return;
  Archive archive = Archive::writer(memory_);
  exchange(archive);
  stepper_->save(std::span<double>(memory_).subspan(archive.position()));
  callbacks_.on_checkpoint(stepper_->state().t, memory_);
}

RunSummary simulate(Dynamics& dynamics, const State& s, const RunSettings& settings, RunCallbacks callbacks) {
  Run run(dynamics, settings, std::move(callbacks));
  run.start(s);
  return run.go();
}

}  // namespace clatter
