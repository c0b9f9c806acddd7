// The program's commands: what each does with the options given, without knowing how options are written.
//
// Every command prints its answer to `out` and everything else to `err`, and returns an exit code:
//   0    done
//   1    a check fell short
//   2    bad input: nothing was written
//   3    a solve failed, or a result could not be written; results so far are kept
//   130  interrupted (Ctrl-C); results so far are kept
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "study/changes.hpp"

namespace clatter {
struct Progress;  // integrate/run.hpp
}

namespace clatter::app {

inline constexpr int kDone = 0;
inline constexpr int kChecksFail = 1;
inline constexpr int kBadInput = 2;
inline constexpr int kSolveFailed = 3;
inline constexpr int kInterrupted = 130;

struct Console {
  std::ostream& out;
  std::ostream& err;
};

struct RunOptions {
  std::string model;
  std::string result;  // empty: the model's name with .h5, in the current folder
  study::Changes changes;
  std::string continue_from;  // a result; then `model` is empty
  bool quiet = false;
  bool force = false;  // as below: the result may replace a file that is none
  // For programs: called after every step, false stops; failures are thrown once the result is closed, not told.
  std::function<bool(const clatter::Progress&)> watch;
  bool raise = false;
};
int run(const RunOptions& options, const Console& console);

struct VerifyOptions {
  std::vector<std::string> paths;  // models, or folders searched for *.yaml
  study::Changes changes;
  int threads = 2;
  bool quiet = false;   // only the last line and what fell short
  std::string gallery;  // a folder for gallery.json and a picture of each model; empty: none
  bool force = false;   // what is there is replaced, whatever it is; never what the command reads. The same below.
};
int verify(const VerifyOptions& options, const Console& console);

// Any study (study/study.hpp), its answer as a table.
struct AskOptions {
  std::string study, model;
  study::Changes changes;
  std::optional<std::string> csv;  // a file; empty: the model's name with .csv; "-": instead of the table
  bool quiet = false;              // no progress
  bool force = false;
};
int ask(const AskOptions& options, const Console& console);

struct CompareOptions {
  std::string model;
  std::vector<std::string> methods;     // FAMILY or FAMILY/SCHEME; empty: those that suit the model
  std::string scheme;                   // of event-driven and smooth where the method names none
  std::vector<std::string> steps;       // "1ms", "0.5 ms": methods with a fixed step run once with each
  std::vector<std::string> quantities;  // scalars, or vectors for all their components; empty: positions
  study::Changes changes;               // without method and step
  std::optional<std::string> csv;       // a file; empty: the model's name with .csv; "-": instead of the table
  bool quiet = false;                   // no progress
  bool force = false;
};
int compare(const CompareOptions& options, const Console& console);

int info(const std::string& path, const study::Changes& changes, const Console& console);

struct ReduceOptions {
  std::string model;
  study::Changes changes;
  std::string body;    // only this one
  std::string sid;     // folder for Standard Input Data, or empty
  bool quiet = false;  // no progress
  bool force = false;
};
int reduce(const ReduceOptions& options, const Console& console);

struct ExportOptions {
  std::string result;
  std::optional<std::string> csv;  // a file; empty: the result's name with .csv; "-": the standard output
  std::optional<std::string> vtk;  // a folder or base name; empty: the result's name
  std::vector<std::string> channels;
  std::uint64_t stride = 1;
  bool force = false;
};
int export_result(const ExportOptions& options, const Console& console);

struct ViewOptions {
  std::string result;  // or a model, which is run first
  int port = 0;        // 0: any free one
  bool browser = true;
};
int view_result(const ViewOptions& options, const Console& console);
int view_model(const ViewOptions& options, const Console& console);  // runs it, and shows the result as it grows

struct ReportOptions {
  std::string result;
  std::string output;     // empty: the result's name with .html, in the current folder
  double megabytes = 50;  // of numbers before they are compressed; samples beyond it are thinned
  bool force = false;
};
int report(const ReportOptions& options, const Console& console);

struct PlotOptions {
  std::string result;
  std::vector<std::string> quantities;  // numbers, vectors (all components), |vector|, or globs
  std::string output;                   // .svg, .pdf, .png
  std::string over;                     // another quantity instead of time
  std::optional<double> from, to;       // s
  std::string title;
  double width = 160, height = 100;  // mm
  double dots_per_inch = 200;        // png
  bool events = true;
  bool force = false;
};
int plot(const PlotOptions& options, const Console& console);

int schema(const Console& console);

struct NewOptions {
  std::string name;  // of the file; .yaml is added where it is missing
  std::string model_template = "pendulum";
  bool list = false;  // instead: the templates there are
};
int new_model(const NewOptions& options, const Console& console);

// Runs a command and turns whatever it throws into a message on `err` and an exit code.
int guarded(const Console& console, const std::function<int()>& command);

}  // namespace clatter::app
