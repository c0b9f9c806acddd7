// Clatter for other programs, in C++ and (through python/) in Python: load a model, run it or step it by hand, read
// results. This header and base/error.hpp are all that is installed; they need nothing but the standard library.
//
//   Setup        what to simulate: a model file or text, and what is changed about it
//   run          simulates into a result file, as `clatter run` does
//   ask          any study of the model (studies() names them), its answer as a table, as `clatter STUDY` prints it
//   Simulation   the same motion in the caller's hands: step by step, every quantity by name at any moment
//   Result       reads a result file: quantities as arrays
//
// Mistakes in the model throw InputError, a computation that cannot go on SolveError (base/error.hpp), a file that is
// not a readable result ResultFileError. A Simulation and a Result belong to one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.hpp"

namespace clatter::api {

struct Setup {
  std::string file;  // the model file; with `text`, its name in messages and what includes are relative to
  std::optional<std::string> text;                 // the model itself
  std::optional<std::string> method, coordinates;  // as the options of `clatter run`
  std::optional<double> end, step, tolerance;
  std::vector<std::pair<std::string, std::string>> parameters;  // {"length", "15 mm"}
};

class ResultFileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Quantity {
  std::string name;  // "rod.tip.position"
  std::string unit;
  std::vector<std::string> components;  // {"x", "y", "z"}; empty: a number
  std::string description;
};

struct Event {
  double t = 0;
  std::string kind, element, text;  // "impact", "beak", details
};

// After a step of a run.
struct Progress {
  double t = 0, step = 0;
  std::uint64_t steps = 0, events = 0;
};

struct RunReport {
  bool finished = false;  // false: stopped by `watch` or by Ctrl-C; the result holds what was recorded
  std::string summary;
};

// Runs the model into the file `result`, replacing it. `watch` is called after every step; false stops the run.
RunReport run(const Setup& setup, const std::string& result, const std::function<bool(const Progress&)>& watch = {});

// What a study found: rows of numbers and words under named columns.
struct Answer {
  std::string study, method;
  bool finished = false;                    // false: stopped by `watch` or by Ctrl-C; the table tells how far it came
  std::vector<std::string> columns, units;  // a unit is empty for words and plain numbers
  std::vector<std::vector<std::variant<double, std::string>>> rows;
  std::vector<std::string> notes, warnings;
};

// What a model can be asked: {"simulate", ...}.
std::vector<std::string> studies();
// Asks it. `watch` is called after every step, its t being what the study walks along; false stops. Throws SolveError
// where it fails, InputError with the nearest word where there is no such study.
Answer ask(const Setup& setup, const std::string& study, const std::function<bool(const Progress&)>& watch = {});

class Simulation {
 public:
  explicit Simulation(const Setup& setup);
  Simulation(Simulation&&) noexcept;
  Simulation& operator=(Simulation&&) noexcept;
  ~Simulation();

  const std::string& title() const;
  double time() const;
  double start() const;
  double end() const;  // of the model's `simulate`; steps may go beyond it
  int degrees_of_freedom() const;
  void restart();  // back to the start

  // One accepted step of the model's method, not beyond `until`; returns the time reached. A step of length zero is a
  // jump: an impact.
  double step(double until);
  // As many steps as it takes.
  double advance(double until);
  // What happened in the last step.
  const std::vector<Event>& events() const;

  // Everything that can be read at a moment, and one of it: all components of "rod.position", or the one of
  // "rod.position.x". The view is good as long as the simulation; the
  // next call that finds it outdated brings it up to date.
  const std::vector<Quantity>& quantities() const;
  std::span<const double> value(const std::string& quantity);

  // The state: generalized coordinates, velocities (velocity_names() tells which), inner states of elements. The views
  // are good as long as the simulation and follow its steps.
  std::span<const double> coordinates() const;
  std::span<const double> velocities() const;
  std::span<const double> inner_states() const;
  const std::vector<std::string>& velocity_names() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

struct Table {
  std::size_t rows = 0, columns = 0;
  std::vector<double> values;  // row by row
};

class Result {
 public:
  explicit Result(const std::string& path);
  Result(Result&&) noexcept;
  Result& operator=(Result&&) noexcept;
  ~Result();

  const std::string& path() const;
  const std::string& model_name() const;
  std::string status() const;  // running, finished, failed, interrupted, or killed
  const std::string& message() const;
  const std::string& summary() const;
  std::vector<std::pair<std::string, std::string>> settings() const;
  bool refresh();  // takes in what a run has written since; true when something changed

  std::vector<Quantity> quantities() const;
  std::vector<Quantity> ledger_quantities() const;
  std::vector<double> times() const;
  std::vector<double> ledger_times() const;
  // All samples of "rod.position" (a column a component) or of "rod.position.x". Throws InputError with the nearest
  // name.
  Table read(const std::string& quantity) const;
  Table read_ledger(const std::string& quantity) const;
  std::vector<Event> events() const;

  // The viewer's page with this result in it, one self-contained text of HTML; at most `megabytes` of numbers.
  std::string report_html(double megabytes = 50) const;
  // The same as a file. A file that is there and is no report is not replaced (InputError) unless `force`.
  void write_report(const std::string& path, double megabytes = 50, bool force = false) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Version of the program.
const char* version();

}  // namespace clatter::api
