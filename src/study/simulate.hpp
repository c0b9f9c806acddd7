// The study `simulate`: the motion from the start to the end of `simulate:`, by the method it names.
//
// `simulate` is for those who take the rows as they come (result files, verification, comparison of methods);
// simulate_study() answers with the course of every recorded number: at the start, at the end, its extremes.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <span>

#include "base/error.hpp"
#include "integrate/run.hpp"
#include "study/prepare.hpp"
#include "study/recorded.hpp"
#include "study/summary.hpp"

namespace clatter::study {

struct Outcome {
  Summary summary;
  bool finished = false;
  std::optional<SolveError> failure;
};

// Receives a run's rows; the result file, or nothing for `verify`.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void sample(double t, std::span<const double> values) = 0;
  virtual void ledger(double t, std::span<const double> values) = 0;  // stored, works, remainder
  virtual void event(double t, const StepEvent& event) = 0;
  virtual void checkpoint(double t, std::span<const double> memory) = 0;
};

struct RunRequest {
  Sink* sink = nullptr;
  std::function<void(const clatter::Progress&)> progress;
  const std::atomic<bool>* stop = nullptr;
  // A continued run: the memory of the checkpoint, and what was recorded before it.
  std::span<const double> memory;
  std::function<void(const std::function<void(double t, std::span<const double> values)>& each)> earlier_samples;
};

// Runs the prepared model to its end. A failing solve is part of the outcome; trouble with the sink is thrown.
Outcome simulate(Prepared& prepared, const Observer& observer, const RunRequest& request);

}  // namespace clatter::study
