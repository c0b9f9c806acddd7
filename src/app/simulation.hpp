// A model made ready to run, and one run of it: the part `run`, `verify` and `info` share.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/checks.hpp"
#include "app/summary.hpp"
#include "base/error.hpp"
#include "contact/motion.hpp"
#include "engine/engine.hpp"
#include "engine/quantity.hpp"
#include "engine/system.hpp"
#include "integrate/initial.hpp"
#include "integrate/run.hpp"
#include "solve/rank.hpp"

namespace clatter::app {

// A model and its start in some coordinates.
struct Setting {
  std::shared_ptr<const System> system;
  std::unique_ptr<Engine> engine;
  State written, start;  // as the model states it, and as it was found
  InitialReport initial;
};

// A compiled model at its consistent start.
struct Prepared : Setting {
  std::unique_ptr<contact::Motion> motion;  // by the method the model names
  // The model in absolute coordinates, where joints in trees are rows as well: there a start is found and constraints
  // are told apart. Null where nothing hangs on a tree, or where neither is asked for.
  std::unique_ptr<Setting> absolute;
  contact::StartOverlap overlap;     // of shapes, taken back in `start`
  RankReport rank;                   // of the constraints at the start
  std::vector<ExtraQuantity> extra;  // quantities beyond the system: contacts, stresses of meshes
  // Where starts and constraints are told by name.
  Setting& told() { return absolute ? *absolute : static_cast<Setting&>(*this); }
  const Setting& told() const { return absolute ? *absolute : static_cast<const Setting&>(*this); }
  int degrees_of_freedom() const { return told().system->sizes.nv - rank.rank; }
  std::vector<std::string> redundant() const;  // names of the constraints that repeat others
};

// Compiles and finds the start. A start that cannot be found is a mistake in the model: InputError.
Prepared prepare(Model model);

RunSettings run_settings(const Model& model);

// What the model asks to be recorded: full quantities, in the system's order, each once. Unknown names are InputErrors.
std::vector<std::string> recorded_quantities(const Prepared& prepared);
Observer recorder(const Prepared& prepared);  // of all of them

// Where the scalar `quantity` ("rod.position.x") is among an observer's numbers. Throws InputError with the nearest
// name.
int column_of(const Observer& observer, const std::string& quantity);

// The recorded numbers a model's checks need, and what became of them.
class CheckRecorder {
 public:
  CheckRecorder(const std::vector<Check>& checks, const Observer& observer);
  void add(double t, std::span<const double> values);  // all numbers of the observer
  std::vector<CheckResult> results() const;

 private:
  std::vector<Check> checks_;
  std::vector<int> columns_;
  std::vector<double> t_;
  std::vector<std::vector<double>> x_;
};

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
Outcome simulate_prepared(Prepared& prepared, const Observer& observer, const RunRequest& request);

}  // namespace clatter::app
