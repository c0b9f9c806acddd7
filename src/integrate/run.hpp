// Run: one simulation from a consistent state to its end, with outputs, events, checkpoints and the energy ledger.
//
//   Run run(dynamics, settings, callbacks);
//   run.start(s);            // or run.restore(memory) with what on_checkpoint gave: the same digits follow
//   RunSummary summary = run.go();
//
// Outputs lie at start + k output_step and at the end. Where no step ends there the dense output is projected onto the
// constraints, and accelerations and multipliers are evaluated at it. At an event there are two outputs of the same
// time, one before and one after what happens there, so that corners and jumps are exact and no interpolation crosses
// them. Ledger: remainder = stored(t) - stored(start) - sum W, what the integrator itself added or lost.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "integrate/singular_watch.hpp"
#include "integrate/stall_watch.hpp"
#include "integrate/stepper.hpp"

namespace clatter {

struct RunSettings {
  IntegratorSettings integrator;
  double end = 1;
  double output_step = 0;     // 0: after every step
  bool output_events = true;  // outputs at events, too
  int most_events = 20;       // of a kind between two outputs that are recorded; moments with more of them are counted
  double checkpoint_interval = 0;  // simulated seconds, 0: none
};

struct Sample {
  const State& s;
  const Vec& a;
  const Vec& lambda;
  const Vec& W;
  double stored, remainder;
};

struct Progress {
  double t, h;
  long steps, rejected, events;
};

struct RunCallbacks {
  std::function<void(const Sample&)> on_output;
  std::function<void(const State&, const std::vector<StepEvent>& events)> on_event;
  // The mechanism passed a singular position at t, not later than the step just taken: `elements` lost their
  // independence.
  std::function<void(double t, const std::vector<std::string>& elements)> on_singular;
  std::function<void(double t, std::span<const double> memory)> on_checkpoint;
  std::function<void(const Progress&)> on_progress;  // after every step
  const std::atomic<bool>* stop = nullptr;           // looked at after every step; within one: base/interrupt.hpp
};

struct RunSummary {
  bool finished = false;  // false: stopped
  long steps = 0, rejected = 0, newton_iterations = 0, projections = 0, events = 0, outputs = 0, singular = 0;
  double smallest_step = 0, largest_step = 0;
  double largest_drift = 0;      // correction onto the constraints, in units of the coordinates' scales
  double largest_remainder = 0;  // of the ledger, at the outputs
  double stored_at_start = 0;
};

class Run {
 public:
  Run(Dynamics& dynamics, const RunSettings& settings, RunCallbacks callbacks);
  // Drives a stepper of the caller's, which outlives the run.
  Run(Stepper& stepper, const RunSettings& settings, RunCallbacks callbacks);

  void start(const State& s);
  void restore(const State& like, std::span<const double> memory);
  RunSummary go();

  const State& state() const { return stepper_->state(); }
  std::size_t memory_size() const { return memory_.size(); }  // numbers in a checkpoint, once started
  const RunSummary& summary() const { return summary_; }
  // Whether the moment of the events last told is recorded, or has only events told too often since the last output.
  bool recorded() const { return recorded_; }

 private:
  void exchange(Archive& archive);
  void steps();
  bool watch_singular(const StepReport& step);
  void watch_progress(const StepReport& step);
  void write_outputs();
  void count_moment(bool second_half);
  void tell_left_out();
  void write_sample(double t);
  void write_checkpoint();
  double output_time(double index) const { return start_ + index * settings_.output_step; }

  RunSettings settings_;
  RunCallbacks callbacks_;
  std::unique_ptr<Stepper> owned_;
  Stepper* stepper_;
  std::vector<StepEvent> events_;
  SingularWatch singular_;
  StallWatch stall_;
  std::vector<std::string> nearly_dependent_;
  Vec v_watched_;  // velocities when singular_ last looked
  RunSummary summary_;
  double start_ = 0;
  double next_output_ = 0, next_checkpoint_ = 1;  // indices
  double last_output_time_ = 0;
  std::map<std::string, int> told_;  // events of a kind since the last output
  long left_out_ = 0;                // moments since then
  bool recorded_ = true;
  State sample_;
  Vec a_, lambda_, W_;
  std::vector<double> memory_;
};

RunSummary simulate(Dynamics& dynamics, const State& s, const RunSettings& settings, RunCallbacks callbacks = {});

}  // namespace clatter
