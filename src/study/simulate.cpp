#include "study/simulate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <new>

#include "base/interrupt.hpp"
#include "base/text.hpp"
#include "engine/deformation_watch.hpp"
#include "record/format.hpp"
#include "study/diagnosis.hpp"
#include "study/method.hpp"
#include "study/study.hpp"

namespace clatter::study {

namespace {

constexpr std::size_t kMostWarnings = 5;

// The diagnosis by which a moment is told where the laws of rigid contact left a choice, or would have brought energy
// in; null: it is told by the list of events alone.
const char* diagnosis_of_event(const StepEvent& event) {
  return event.what == "impact without collision" ? "painleve"
         : event.what == "not unique"             ? "not-unique"
         : event.what == "energy gain"            ? "energy-gain"
                                                  : nullptr;
}

// One run: rows into the sink, and all that the summary is made of.
class SimulationLoop {
 public:
  SimulationLoop(Prepared& prepared, const Observer& observer, const RunRequest& request)
      : prepared_(prepared),
        system_(*prepared.system),
        motion_(*prepared.motion),
        observer_(observer),
        request_(request),
        checks_(system_.model.checks, observer),
        kinetic_column_(static_cast<std::size_t>(column_of(observer, "energy.kinetic"))),
        values_(static_cast<std::size_t>(observer.width())),
        last_(prepared.start),
        deformations_(system_, explicit_limit(system_.model.simulate) ? system_.model.simulate.step : 0,
                      explicit_limit(system_.model.simulate).value_or(0)),
        run_(motion_.stepper(), run_settings(system_.model), callbacks()) {
    outcome_.summary = summary_of(prepared);
    ledger_row_.resize(outcome_.summary.ledger.names.size() + 2);
  }

  Outcome run() {
    Summary& summary = outcome_.summary;
    const auto began = std::chrono::steady_clock::now();
    go();
    summary.wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    const clatter::RunSummary& counts = run_.summary();
    summary.end = run_.state().t;
    summary.steps = static_cast<std::uint64_t>(counts.steps - before_.steps);
    summary.rejected = static_cast<std::uint64_t>(counts.rejected - before_.rejected);
    summary.events = static_cast<std::uint64_t>(counts.events - before_.events);
    sum_up_motion(prepared_, last_, static_cast<std::uint64_t>(counts.steps), summary);
    summary.checks = checks_.results();
    return std::move(outcome_);
  }

 private:
  RunCallbacks callbacks() {
    RunCallbacks callbacks;
    callbacks.on_output = [this](const Sample& sample) { output(sample); };
    if (request_.sink != nullptr)
      callbacks.on_checkpoint = [this](double t, std::span<const double> memory) {
        request_.sink->checkpoint(t, memory);
      };
    callbacks.on_event = [this](const State& s, const std::vector<StepEvent>& events) { take_events(s.t, events); };
    callbacks.on_singular = [this](double t, const std::vector<std::string>& elements) { singular(t, elements); };
    if (system_.flexible.empty())
      callbacks.on_progress = request_.progress;
    else
      callbacks.on_progress = [this](const clatter::Progress& p) {
        deformations_.after_step(*prepared_.engine, motion_.engine_state(run_.state()));
        if (request_.progress) request_.progress(p);
      };
    callbacks.stop = request_.stop;
    return callbacks;
  }

  // To the end, or to whatever ends it: every trouble but that of the sink and of memory becomes a diagnosis.
  void go() {
    try {
      begin();
      outcome_.summary.start = run_.state().t;
      outcome_.finished = run_.go().finished;
    } catch (const SolveError& error) {
      outcome_.failure = error;
    } catch (const Interrupted&) {  // before the first step
    } catch (const InputError&) {
      throw;
    } catch (const record::ResultError&) {
      throw;
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& error) {
      outcome_.failure = diagnosis_of(error, motion_.stepper());
    }
  }

  void begin() {
    if (request_.memory.empty()) {
      if (prepared_.overlap.places > 0) warn(prepared_.overlap.text());
      run_.start(prepared_.start);
      return;
    }
    run_.restore(prepared_.start, request_.memory);
    if (request_.earlier_samples)
      request_.earlier_samples([this](double t, std::span<const double> row) { take_in(t, row); });
    before_ = run_.summary();
  }

  void output(const Sample& sample) {
    Engine& engine = *prepared_.engine;
    const double energy_at_start = run_.summary().stored_at_start;
    motion_.observe(sample.s, sample.lambda, sample.W);
    const State& s = motion_.engine_state(sample.s);
    const double beyond = motion_.has_contacts() ? sample.stored - engine.stored_energy(s) : 0;
    observer_.evaluate(engine, s, sample.a, motion_.engine_lambda(sample.lambda), sample.W, energy_at_start, values_,
                       beyond);
    refuse_not_finite(sample);
    take_in(sample.s.t, values_);
    for (std::string& warning : deformations_.look(engine, sample.s.t)) warn(std::move(warning));
    if (!system_.flexible.empty())
      for (std::string& warning :
           deformations_.look_at_loads(engine, s, sample.a, motion_.engine_lambda(sample.lambda)))
        warn(std::move(warning));
    Ledger& ledger = outcome_.summary.ledger;
    ledger.summands = std::max(ledger.summands,
                               energy_summands(engine, std::max(std::abs(sample.stored), sample.W.cwiseAbs().sum())));
    ledger.start = energy_at_start;
    ledger.end = sample.stored;
    ledger.works.assign(sample.W.data(), sample.W.data() + sample.W.size());
    last_ = s;
    if (request_.sink == nullptr) return;
    request_.sink->sample(sample.s.t, values_);
    ledger_row_.front() = sample.stored;
    std::copy(sample.W.data(), sample.W.data() + sample.W.size(), ledger_row_.begin() + 1);
    ledger_row_.back() = sample.remainder;
    request_.sink->ledger(sample.s.t, ledger_row_);
  }

  // Before anything is taken from a row: no sum, no check and no result is ever made of what is not a number.
  void refuse_not_finite(const Sample& sample) const {
    const std::string name = not_finite(observer_, values_);
    const bool energy = std::isfinite(sample.stored) && std::isfinite(sample.remainder) && sample.W.allFinite();
    if (!name.empty() || !energy) throw not_finite_error(sample.s.t, name);
  }

  void take_in(double t, std::span<const double> row) {
    checks_.add(t, row);
    Ledger& ledger = outcome_.summary.ledger;
    ledger.kinetic = std::max(ledger.kinetic, row[kinetic_column_]);
  }

  void take_events(double t, const std::vector<StepEvent>& events) {
    for (const StepEvent& event : events) {
      if (request_.sink != nullptr && run_.recorded()) request_.sink->event(t, event);
      if (const char* name = diagnosis_of_event(event))
        warn(fmt::format("{}: contact {} at t = {} s: {}", name, event.element, number(t, 6), event.detail));
    }
  }

  void singular(double t, const std::vector<std::string>& elements) {
    if (request_.sink != nullptr) request_.sink->event(t, {listed(elements), "singular position", ""});
    warn(
        fmt::format("singular-position: the mechanism passes a singular position at t = {} s, where {} lose their "
                    "independence; of the motions that go on from there the one that continues the velocities is taken",
                    number(t, 6), listed(elements)));
  }

  void warn(std::string text) {
    std::vector<std::string>& warnings = outcome_.summary.warnings;
    if (warnings.size() > kMostWarnings) return;
    warnings.push_back(warnings.size() == kMostWarnings
                           ? "there were more moments like these; the list of events has them all"
                           : std::move(text));
  }

  Prepared& prepared_;
  const System& system_;
  contact::Motion& motion_;
  const Observer& observer_;
  const RunRequest& request_;
  Outcome outcome_;
  CheckRecorder checks_;
  std::size_t kinetic_column_;
  std::vector<double> values_, ledger_row_;
  State last_;
  DeformationWatch deformations_;
  Run run_;
  clatter::RunSummary before_;  // of a continued run, where it goes on
};

// First, last and extreme value of every number of a row.
class CourseExtremes final : public Sink {
 public:
  void sample(double, std::span<const double> values) override {
    if (first.empty()) first = least = greatest = {values.begin(), values.end()};
    last.assign(values.begin(), values.end());
    for (std::size_t i = 0; i < last.size(); ++i) {
      least[i] = std::min(least[i], last[i]);
      greatest[i] = std::max(greatest[i], last[i]);
    }
  }
  void ledger(double, std::span<const double>) override {}
  void event(double, const StepEvent&) override {}
  void checkpoint(double, std::span<const double>) override {}

  // A row a number; fields over a skin, of thousands, are left out.
  ResultTable table(const Observer& observer) const {
    ResultTable table{{{"quantity", ""}, {"unit", ""}, {"start", ""}, {"end", ""}, {"least", ""}, {"greatest", ""}},
                      {}};
    if (first.empty()) return table;
    std::size_t column = 0;
    for (const QuantityInfo& q : observer.quantities()) {
      for (int k = 0; k < q.width(); ++k, ++column) {
        if (q.single) continue;
        const std::string name = !q.components.empty() ? q.name + "." + q.components[static_cast<std::size_t>(k)]
                                 : q.width() > 1       ? fmt::format("{}.{}", q.name, k + 1)
                                                       : q.name;
        table.rows.push_back({name, q.unit, first[column], last[column], least[column], greatest[column]});
      }
    }
    return table;
  }

 private:
  std::vector<double> first, last, least, greatest;
};

class SimulateStudy final : public Study {
 public:
  std::string_view name() const override { return "simulate"; }
  std::string_view purpose() const override {
    return "the motion as a table: every recorded number at its start, end and extremes";
  }
  std::string_view key() const override { return "simulate"; }
  Answer run(Prepared& prepared, const Request& request) const override {
    const Observer observer = recorder(prepared);
    const Simulate& settings = prepared.system->model.simulate;
    CourseExtremes course;
    RunRequest run;
    run.sink = &course;
    run.stop = request.stop;
    if (request.progress)
      run.progress = [&](const clatter::Progress& p) {
        request.progress({(p.t - settings.start) / (settings.end - settings.start), p.t, p.h,
                          static_cast<std::uint64_t>(p.steps), static_cast<std::uint64_t>(p.events)});
      };
    Outcome outcome = simulate(prepared, observer, run);
    Answer answer;
    answer.status = outcome.failure ? Status::failed : outcome.finished ? Status::finished : Status::stopped;
    answer.failure = std::move(outcome.failure);
    answer.table = course.table(observer);
    Summary& summary = outcome.summary;
    answer.checks = std::move(summary.checks);
    answer.notes = std::move(summary.notes);
    for (std::string text : {unsolved_text(summary.contact), passages_text(summary.contact)})
      if (!text.empty()) answer.warnings.push_back(std::move(text));
    for (std::string& text : summary.warnings) answer.warnings.push_back(std::move(text));
    answer.method = method_text(settings);
    answer.reached = summary.end;
    answer.wall = summary.wall;
    return answer;
  }
};

}  // namespace

Outcome simulate(Prepared& prepared, const Observer& observer, const RunRequest& request) {
  return SimulationLoop(prepared, observer, request).run();
}

const Study& simulate_study() {
  static const SimulateStudy study;
  return study;
}

}  // namespace clatter::study
