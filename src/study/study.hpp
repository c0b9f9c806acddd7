// What a model can be asked. Every study is one file: a word, the key of its settings in the model file, its run with
// progress and interruption, its result as a table and its diagnosis. It is reached alike from the command line
// (`clatter WORD MODEL`), from Python and C++ (api/clatter.hpp: `ask`).
//
//   load + compile + reduce --> Prepared --Study::run--> Answer: status, diagnosis, table, checks, notes
//
// A further study is its file and its line in studies() (study.cpp).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.hpp"
#include "study/checks.hpp"
#include "study/prepare.hpp"

namespace clatter::study {

// How far a study is: `done` of all of it, at the value `at` of what it walks along (time, a parameter, a frequency).
struct Progress {
  double done = 0;  // 0 to 1
  double at = 0, step = 0;
  std::uint64_t steps = 0, events = 0;
};

struct Request {
  std::function<void(const Progress&)> progress;  // after every step
  const std::atomic<bool>* stop = nullptr;        // looked at after every step; within one: base/interrupt.hpp
};

// Rows of numbers and words under named columns with units ("" for words and plain numbers).
struct ResultTable {
  struct Column {
    std::string name, unit;
  };
  using Cell = std::variant<double, std::string>;
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;
};

enum class Status { finished, stopped, failed };

// What a study found, also where it was stopped or failed: then as far as it came.
struct Answer {
  Status status = Status::finished;
  std::optional<SolveError> failure;  // the diagnosis of a failed one
  ResultTable table;
  std::vector<CheckResult> checks;
  std::vector<std::string> notes, warnings;  // full sentences
  std::string method;
  double reached = 0;  // how far it came, in what Progress::at counts
  double wall = 0;     // s
};

class Study {
 public:
  virtual ~Study() = default;
  virtual std::string_view name() const = 0;     // the word on the command line and in programs
  virtual std::string_view purpose() const = 0;  // a line for the help
  virtual std::string_view key() const = 0;      // of its settings, at the top of a model file
  // A solve that fails is part of the answer; a mistake in the model is an InputError.
  virtual Answer run(Prepared& prepared, const Request& request) const = 0;
};

// All there are, in the order of the help.
std::span<const Study* const> studies();
// Throws InputError with the nearest word.
const Study& study_named(std::string_view name);

// One a study, each in the file of its name.
const Study& simulate_study();

}  // namespace clatter::study
