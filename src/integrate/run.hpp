// Run: one simulation from a consistent state to its end, with outputs, events, checkpoints and the energy ledger.
//
//   Run run(dynamics, settings, callbacks);
//   run.start(s);            // or run.restore(memory) with what on_checkpoint gave: the same digits follow
//   RunSummary summary = run.go();
//
// Outputs lie at start + k output_step and at the end. Where no step ends there the dense output is projected onto the
// constraints, and accelerations and multipliers are evaluated at it. Ledger: remainder = stored(t) - stored(start) -
// sum W, what the integrator itself added or lost.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "integrate/integrator.hpp"

namespace clatter {

struct RunSettings {
  IntegratorSettings integrator;
  double end = 1;
  double output_step = 0;          // 0: after every step
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
  std::function<void(const State&, std::span<const int> events)> on_event;
  std::function<void(double t, std::span<const double> memory)> on_checkpoint;
  std::function<void(const Progress&)> on_progress;  // after every step
  const std::atomic<bool>* stop = nullptr;           // looked at after every step
};

struct RunSummary {
  bool finished = false;  // false: stopped
  long steps = 0, rejected = 0, newton_iterations = 0, projections = 0, events = 0, outputs = 0;
  double smallest_step = 0, largest_step = 0;
  double largest_drift = 0;      // correction onto the constraints, in units of the coordinates' scales
  double largest_remainder = 0;  // of the ledger, at the outputs
  double stored_at_start = 0;
};

class Run {
 public:
  Run(Dynamics& dynamics, const RunSettings& settings, RunCallbacks callbacks);

  void start(const State& s);
  void restore(const State& like, std::span<const double> memory);
  RunSummary go();

  const Integrator& integrator() const { return *integrator_; }
  const RunSummary& summary() const { return summary_; }

 private:
  void exchange(Archive& archive);
  void write_outputs();
  void write_sample(double t);
  void write_checkpoint();
  double output_time(double index) const { return start_ + index * settings_.output_step; }

  Dynamics& dynamics_;
  RunSettings settings_;
  RunCallbacks callbacks_;
  std::unique_ptr<Integrator> integrator_;
  Projector projector_;
  RunSummary summary_;
  double start_ = 0;
  double next_output_ = 0, next_checkpoint_ = 1;  // indices
  double last_output_time_ = 0;
  State sample_;
  Vec a_, lambda_, zdot_, W_;
  std::vector<double> memory_;
};

RunSummary simulate(Dynamics& dynamics, const State& s, const RunSettings& settings, RunCallbacks callbacks = {});

}  // namespace clatter
