// What goes wrong, said to the one who can mend it.
//
// InputError: the user's file or command is wrong. It carries one or more diagnostics, each with file, line, column,
// the offending line and, where there is one, the nearest valid word.
// SolveError: the input was understood but the computation cannot go on: a named diagnosis with the time, the
// elements concerned and what to try.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace clatter {

// Where in which file something was written, 1-based; line 0 when it was made by a program.
struct Source {
  std::string file;
  int line = 0;
  int column = 0;
};

struct Diagnostic {
  Source source;
  std::string message;
  std::string hint;  // "did you mean `mass`?", or empty
  std::string text;  // the source line, or empty
};

// file:line:column: message
//   the source line
//   ^
//   hint
std::string format(const Diagnostic& diagnostic);

class InputError : public std::runtime_error {
 public:
  explicit InputError(std::vector<Diagnostic> diagnostics);
  explicit InputError(std::string message, std::string hint = {});
  InputError(Source source, std::string message, std::string hint = {});
  // The same, with the source line looked up in the files' texts (`Model::texts`).
  InputError(const std::vector<std::pair<std::string, std::string>>& texts, Source source, std::string message,
             std::string hint = {});

  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

 private:
  std::vector<Diagnostic> diagnostics_;
};

class SolveError : public std::runtime_error {
 public:
  // kind: a short fixed name of the diagnosis, "newton-not-converged"; `message` what happened in a sentence;
  // `elements` full names of what is concerned; `advice` what to try.
  SolveError(std::string kind, double time, std::vector<std::string> elements, std::string message, std::string advice);

  const std::string& kind() const { return kind_; }
  double time() const { return time_; }
  const std::vector<std::string>& elements() const { return elements_; }
  const std::string& message() const { return message_; }
  const std::string& advice() const { return advice_; }

 private:
  std::string kind_;
  double time_;
  std::vector<std::string> elements_;
  std::string message_, advice_;
};

// Line `line` (1-based) of a text without its line end; empty beyond the end.
std::string_view line_of(std::string_view text, int line);

// The candidate with the smallest Damerau-Levenshtein distance (neighbours swapped count one), letters compared
// without case; empty when even the nearest is far off (more than a third of the longer word differs).
std::string nearest_word(std::string_view word, const std::vector<std::string>& candidates);

// "did you mean `x`?", or empty when no candidate is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace clatter
