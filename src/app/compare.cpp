// `clatter compare`: one model by several methods, in one table: where it ends, how well contact and energy were kept,
// what it cost.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <ostream>

#include "app/commands.hpp"
#include "app/progress.hpp"
#include "app/stop_signals.hpp"
#include "app/text.hpp"
#include "base/output_file.hpp"
#include "study/changes.hpp"
#include "study/input_files.hpp"
#include "study/method.hpp"
#include "study/simulate.hpp"

namespace clatter::app {

namespace fs = std::filesystem;

namespace {

constexpr OutputKind kComparison{"a table of `clatter compare`", "method,step [s]", OutputKind::At::start};
constexpr std::size_t kDefaultNumbers = 6;
constexpr std::size_t kWidestTable = 140;  // columns; a wider one is printed in two halves

struct Compared {
  std::string method;
  double step = 0;  // 0: controlled
  std::vector<double> values;
  study::Summary summary;
  std::string trouble;  // diagnosis, or where it was stopped
};

struct Column {
  std::string name, unit;
};

std::vector<std::string> default_methods(const Model& model) {
  const bool friction =
      std::any_of(model.joints.begin(), model.joints.end(), [](const Joint& j) { return j.friction.has_value(); });
  if (model.crowd) return {"time-stepping/moreau"};
  if (model.contacts.empty() && !friction) return {"dopri5", "radau5"};
  std::vector<std::string> methods{"event-driven", "time-stepping/moreau", "time-stepping/generalized-alpha"};
  // Contacts written in coordinates are between no shapes and have no compliant substitute.
  if (std::all_of(model.contacts.begin(), model.contacts.end(), [](const Contact& c) { return !c.gap; }))
    methods.push_back("smooth");
  return methods;
}

// Positions that can change, of the first bodies.
std::vector<std::string> default_quantities(const Model& model, std::size_t& left_out) {
  std::vector<std::string> names;
  for (const Body& body : model.bodies) {
    const bool planar = is_planar(body.kind);
    for (const char* axis : {"x", "y", "z"})
      if (!planar || *axis != 'z') names.push_back(fmt::format("{}.position.{}", body.name, axis));
  }
  left_out = names.size() > kDefaultNumbers ? names.size() - kDefaultNumbers : 0;
  names.resize(names.size() - left_out);
  return names;
}

std::vector<Column> scalars(const Observer& observer) {
  std::vector<Column> list;
  for (const QuantityInfo& q : observer.quantities()) {
    if (q.width() == 1 && q.components.empty()) list.push_back({q.name, q.unit});
    for (const std::string& c : q.components) list.push_back({q.name + "." + c, q.unit});
  }
  return list;
}

// Keeps the last sample.
class LastSample final : public study::Sink {
 public:
  void sample(double, std::span<const double> values) override { last.assign(values.begin(), values.end()); }
  void ledger(double, std::span<const double>) override {}
  void event(double, const StepEvent&) override {}
  void checkpoint(double, std::span<const double>) override {}
  std::vector<double> last;
};

class Comparison {
 public:
  explicit Comparison(const CompareOptions& options) : options_(options) {}

  // The model by one method, with every setting decided; nothing has run yet.
  void add(const std::string& method, std::optional<double> step) {
    study::Changes changes = options_.changes;
    changes.method = method;
    changes.step = step;
    changes.default_step = true;
    Model model = study::load_changed(options_.model, changes);
    // The end alone is of interest; outputs and checkpoints would cost time that is not the method's.
    model.checks.clear();
    model.simulate.output_step = model.simulate.end - model.simulate.start;
    model.simulate.checkpoint_interval = 0;
    models_.push_back(std::move(model));
  }

  bool fixed_step() const { return study::has_fixed_step(models_.back().simulate); }

  int run() {
    const StopSignals signals;
    int code = kDone;
    for (Model& model : models_) {
      code = std::max(code, run_one(std::move(model)));
      if (code == kInterrupted) break;
    }
    return code;
  }

  void print(std::ostream& out) const {
    const Model& model = first_->model;
    fmt::print(out, "{}at t = {} s\n", model.title.empty() ? "" : model.title + ", ", number(model.simulate.end));
    const std::string text = table(true, true).text();
    if (text.find('\n') <= kWidestTable) {
      out << text;
    } else {
      out << table(true, false).text() << "\n" << table(false, true).text();
    }
    for (const Compared& c : results_)
      if (!c.trouble.empty()) fmt::print(out, "  {}{}: {}\n", c.method, step_suffix(c), c.trouble);
    if (left_out_ > 0)
      fmt::print(out, "  {} left out; choose with --quantity\n",
                 counted(left_out_, "more position is", "more positions are"));
  }

  void write_csv(std::ostream& out) const {
    out << "method,step [s]";
    for (const Column& c : columns_)
      fmt::print(out, ",{0} [{1}],difference of {0} [{1}]", c.name, c.unit.empty() ? "1" : c.unit);
    out << ",energy [J],remainder [J],penetration [m],complementarity [1],events,impacts,steps,wall time [s],outcome\n";
    for (const Compared& c : results_) {
      fmt::print(out, "{},{}", c.method, c.step > 0 ? fmt::format("{}", c.step) : "");
      const bool done = c.trouble.empty();
      for (std::size_t i = 0; i < columns_.size(); ++i) {
        fmt::print(out, ",{}", done ? fmt::format("{}", c.values[i]) : "");
        fmt::print(out, ",{}", comparable(c) ? fmt::format("{}", difference(c, i)) : "");
      }
      const study::Summary& s = c.summary;
      const bool touches = s.contact.contacts > 0;
      fmt::print(out, ",{},{},{},{},{},{},{},{},{}\n", done ? fmt::format("{}", s.ledger.end) : "",
                 done ? fmt::format("{}", s.ledger.remainder()) : "",
                 touches ? fmt::format("{}", s.contact.worst.penetration) : "",
                 touches && s.contact.rigid ? fmt::format("{}", s.contact.worst.complementarity) : "", s.events,
                 s.contact.counts.impacts, s.steps, s.wall, done ? "done" : csv_quoted(c.trouble));
    }
  }

 private:
  static std::string csv_quoted(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) out += c == '"' ? std::string("\"\"") : c == '\n' ? std::string(" ") : std::string(1, c);
    return out + "\"";
  }
  static std::string step_suffix(const Compared& c) {
    return c.step > 0 ? fmt::format(", step {} s", number(c.step)) : "";
  }

  int run_one(Model model) {
    Compared result;
    result.method = study::method_text(model.simulate);
    result.step = study::has_fixed_step(model.simulate) ? model.simulate.step : 0;
    study::Prepared prepared = study::prepare(std::move(model));
    if (!first_) first_ = prepared.system;
    const Model& m = prepared.system->model;
    std::vector<std::string> wanted =
        options_.quantities.empty() ? default_quantities(m, left_out_) : options_.quantities;
    const Observer chosen(prepared.system, wanted, prepared.extra);
    columns_ = scalars(chosen);
    wanted.clear();
    for (const Column& c : columns_) wanted.push_back(c.name);
    wanted.push_back("energy.kinetic");
    const Observer observer(prepared.system, wanted, prepared.extra);

    LastSample sink;
    study::RunRequest request;
    request.sink = &sink;
    request.stop = &StopSignals::requested();
    ProgressBar bar(m.simulate.start, m.simulate.end, m.simulate.start, options_.quiet);
    request.progress = [&](const clatter::Progress& p) {
      bar.update(p.t, p.h, static_cast<std::uint64_t>(p.steps), static_cast<std::uint64_t>(p.events));
    };
    const study::Outcome outcome = study::simulate(prepared, observer, request);
    bar.clear();
    result.summary = outcome.summary;
    const SchemeChoice* choice = prepared.motion->stepper().scheme_choice();
    if (choice != nullptr && choice->implicit_steps() > 0) result.method += "+radau5";
    int code = kDone;
    if (outcome.failure) {
      result.trouble = outcome.failure->what();
      code = kSolveFailed;
    } else if (!outcome.finished) {
      result.trouble = fmt::format("interrupted at {} s", number(outcome.summary.end));
      code = kInterrupted;
    } else {
      for (const Column& c : columns_)
        result.values.push_back(sink.last[static_cast<std::size_t>(study::column_of(observer, c.name))]);
    }
    results_.push_back(std::move(result));
    return code;
  }

  bool comparable(const Compared& c) const {
    return &c != &results_.front() && c.trouble.empty() && results_.front().trouble.empty();
  }
  double difference(const Compared& c, std::size_t i) const { return c.values[i] - results_.front().values[i]; }

  Table table(bool ends, bool quality) const {
    using enum Table::Align;
    const bool contacts = !first_->model.contacts.empty() || first_->model.crowd;
    std::vector<std::string> heading{"method", "step/s"};
    std::vector<Table::Align> align{left, right};
    const auto column = [&](std::string name) {
      heading.push_back(std::move(name));
      align.push_back(right);
    };
    if (ends)
      for (const Column& c : columns_) {
        column(c.unit.empty() || c.unit == "1" ? c.name : fmt::format("{}/{}", c.name, c.unit));
        column("difference");
      }
    if (quality) {
      for (const char* name : {"energy/J", "remainder/J"}) column(name);
      if (contacts)
        for (const char* name : {"penetration/m", "complementarity"}) column(name);
      column("events");
      if (contacts) column("impacts");
      for (const char* name : {"steps", "wall time"}) column(name);
    }
    Table out(heading, align);
    for (const Compared& c : results_) {
      const bool done = c.trouble.empty();
      std::vector<std::string> row{c.method, c.step > 0 ? number(c.step) : "controlled"};
      if (ends)
        for (std::size_t i = 0; i < columns_.size(); ++i) {
          row.push_back(done ? number(c.values[i], 8) : i == 0 ? "FAILED" : "");
          row.push_back(comparable(c) ? number(difference(c, i), 3) : "");
        }
      if (quality) {
        const study::Summary& s = c.summary;
        row.push_back(done ? number(s.ledger.end, 8) : "FAILED");
        row.push_back(done ? number(s.ledger.remainder(), 2) : "");
        if (contacts) {
          row.push_back(number(s.contact.worst.penetration, 2));
          row.push_back(s.contact.rigid ? number(s.contact.worst.complementarity, 2) : "");
        }
        row.push_back(whole(s.events));
        if (contacts) row.push_back(s.contact.rigid ? whole(static_cast<std::uint64_t>(s.contact.counts.impacts)) : "");
        row.push_back(whole(s.steps));
        row.push_back(duration(s.wall));
      }
      out.row(std::move(row));
    }
    return out;
  }

  const CompareOptions& options_;
  std::vector<Model> models_;
  std::shared_ptr<const System> first_;
  std::vector<Column> columns_;
  std::vector<Compared> results_;
  std::size_t left_out_ = 0;
};

}  // namespace

int compare(const CompareOptions& options, const Console& console) {
  std::vector<double> steps;
  for (const std::string& text : options.steps) steps.push_back(study::seconds(text, "--step"));
  std::vector<std::string> methods = options.methods;
  std::vector<std::string> inputs;
  {
    study::Changes changes = options.changes;
    changes.default_step = true;
    const Model model = study::load_changed(options.model, changes);
    if (methods.empty()) methods = default_methods(model);
    inputs = study::files_of(model);
  }
  std::optional<OutputFile> file;
  if (options.csv && *options.csv != "-")
    file.emplace(
        options.csv->empty() ? fs::path(options.model).filename().replace_extension(".csv").string() : *options.csv,
        kComparison, OutputRules{inputs, options.force});
  Comparison comparison(options);
  for (std::string method : methods) {
    if (!options.scheme.empty() && (method == "event-driven" || method == "smooth")) method += "/" + options.scheme;
    comparison.add(method, steps.empty() ? std::nullopt : std::optional(steps.front()));
    for (std::size_t i = 1; i < steps.size() && comparison.fixed_step(); ++i) comparison.add(method, steps[i]);
  }
  const int code = comparison.run();
  if (options.csv && *options.csv == "-") {
    comparison.write_csv(console.out);
    return code;
  }
  comparison.print(console.out);
  if (file) {
    comparison.write_csv(file->stream());
    file->publish();
    fmt::print(console.out, "table: {}\n", file->path());
  }
  return code;
}

}  // namespace clatter::app
