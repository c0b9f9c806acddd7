// `clatter run`: simulate, show progress, record, sum up; and the same from a checkpoint.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <atomic>
#include <ctime>
#include <filesystem>
#include <new>
#include <ostream>

#include "app/body_making.hpp"
#include "app/commands.hpp"
#include "app/flexible_mesh.hpp"
#include "app/progress.hpp"
#include "app/stop_signals.hpp"
#include "app/summary_text.hpp"
#include "app/text.hpp"
#include "base/output_file.hpp"
#include "record/hash.hpp"
#include "record/reader.hpp"
#include "record/writer.hpp"
#include "study/changes.hpp"
#include "study/channels.hpp"
#include "study/input_files.hpp"
#include "study/method.hpp"
#include "study/simulate.hpp"
#include "study/start_notes.hpp"
#include "view/scene.hpp"

namespace clatter::app {

namespace fs = std::filesystem;

namespace {

class ResultSink final : public study::Sink {
 public:
  explicit ResultSink(record::Writer& writer) : writer_(writer) {}
  void sample(double t, std::span<const double> values) override { writer_.append(t, values); }
  void ledger(double t, std::span<const double> values) override {
    writer_.append_ledger(t, values);
    writer_.commit_if_due();
  }
  void event(double t, const StepEvent& event) override {
    writer_.append_event({t, event.what.empty() ? "event" : event.what, event.element, event.detail});
  }
  void checkpoint(double t, std::span<const double> memory) override { writer_.checkpoint(t, {}, memory, {}); }

 private:
  record::Writer& writer_;
};

std::vector<record::Channel> sample_channels(const Model& model, const Observer& observer) {
  std::vector<record::Channel> channels;
  for (const QuantityInfo& q : observer.quantities()) {
    channels.push_back(
        {study::channel_of_quantity(model, q.name), q.unit, q.width(), q.components, q.description, q.single});
  }
  return channels;
}

std::vector<record::Channel> ledger_channels(const contact::Motion& motion) {
  std::vector<record::Channel> channels{{"stored", "J", 1, {}, "kinetic and potential energy"}};
  for (const std::string& name : motion.channel_names()) {
    channels.push_back({"work/" + name, "J", 1, {}, "energy supplied by it so far (negative: taken)"});
  }
  channels.push_back({"remainder", "J", 1, {}, "what the integration itself added to the stored energy"});
  return channels;
}

record::RunInfo run_info(const Model& model, const study::Changes& changes) {
  record::RunInfo info;
  info.model_name = fs::path(model.file).filename().string();
  for (const auto& [path, text] : model.texts) info.model_files.push_back({path, text});
  info.model_hash = record::model_hash(info.model_files);
  info.inputs = study::hashed_inputs(model);
  info.version = CLATTER_VERSION;
  info.settings = study::settings_of(model, changes);
  info.started = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  return info;
}

// Where the result goes. A name that was not asked for must not cost the user another model's result.
std::string result_path(const RunOptions& options, const std::string& model_name, bool& replaces) {
  std::string path = options.result;
  if (path.empty()) path = fs::path(options.model).filename().replace_extension(".h5").string();
  std::error_code ignored;
  replaces = fs::exists(path, ignored);
  if (!replaces || options.force || !options.result.empty() || !record::Reader::is_result(path)) return path;
  std::string other;
  try {
    other = record::Reader(path).info().model_name;
  } catch (const record::ResultError&) {
    return path;  // too damaged to tell; Writer decides
  }
  if (other == model_name) return path;
  throw InputError(fmt::format("{} is the result of another model ({})", path, other), "name the result with -o");
}

// The first few of a list of changes.
std::string told(const std::vector<std::string>& changes) {
  constexpr std::size_t kTold = 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(kTold, changes.size()); ++i) text += (i > 0 ? "; " : "") + changes[i];
  if (changes.size() > kTold) text += fmt::format("; and {} more", changes.size() - kTold);
  return text;
}

void print_notes(study::Prepared& prepared, std::ostream& err) {
  const std::vector<std::string> redundant = prepared.redundant();
  if (!redundant.empty()) {
    fmt::print(err, "note: {} {} what others already say: {}. {}\n", counted(redundant.size(), "constraint"),
               redundant.size() == 1 ? "repeats" : "repeat", listed(redundant),
               prepared.absolute
                   ? "Joints whose coordinates say it carry the forces alone, the others share them evenly."
                   : "Their forces are shared evenly.");
  }
  if (const auto moved = study::changed_positions(prepared); !moved.empty())
    fmt::print(err, "note: the start was moved to fit the joints{}: {}\n",
               prepared.overlap.places > 0 ? " and to take overlaps back" : "", told(moved));
  if (const auto changed = study::changed_velocities(prepared); !changed.empty())
    fmt::print(err, "note: the initial velocities were changed to fit the joints: {}\n", told(changed));
}

// Numbers in a checkpoint, which a result fixes before its first row. Where the start itself fails there will be none.
std::size_t checkpoint_size(study::Prepared& prepared) {
  Run run(prepared.motion->stepper(), study::run_settings(prepared.system->model), {});
  try {
    run.start(prepared.start);
  } catch (const InputError&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception&) {  // told by the run itself
    return 0;
  }
  return run.memory_size();
}

// Runs into the writer and closes the result, whatever happens.
int execute(study::Prepared& prepared, const Observer& observer, record::Writer& writer, study::RunRequest request,
            double first, const RunOptions& options, const Console& console) {
  const Model& model = prepared.system->model;
  const std::string path = writer.path();
  ResultSink sink(writer);
  const StopSignals signals;
  request.sink = &sink;
  std::atomic<bool> stop = false;
  request.stop = &stop;
  study::Outcome outcome;
  try {
    ProgressBar bar(model.simulate.start, model.simulate.end, first, options.quiet);
    request.progress = [&](const clatter::Progress& p) {
      bar.update(p.t, p.h, static_cast<std::uint64_t>(p.steps), static_cast<std::uint64_t>(p.events));
      writer.commit_if_due();
      if (StopSignals::requested() || (options.watch && !options.watch(p))) stop = true;
    };
    outcome = study::simulate(prepared, observer, request);
    const std::string text = summary_text(outcome.summary);
    if (outcome.failure) {
      writer.finish(record::Status::kFailed, outcome.failure->what(), text);
    } else if (!outcome.finished) {
      writer.finish(record::Status::kInterrupted, fmt::format("stopped at {} s", number(outcome.summary.end)), text);
    } else {
      writer.finish(record::Status::kFinished, "", text);
    }
    bar.clear();
    if (!options.quiet) fmt::print(console.out, "{}\n", text);
  } catch (const record::ResultError& error) {
    if (options.raise) throw;
    // The disk is full or gone: the simulation cannot go on without losing what it computes.
    fmt::print(console.err, "error: {}\n", error.what());
    fmt::print(console.err, "what was recorded before is in {}; go on with  clatter run --continue {}\n", path, path);
    return kSolveFailed;
  }
  if (outcome.failure && options.raise) throw SolveError(*outcome.failure);
  if (outcome.failure) {
    fmt::print(console.err, "error: the solve failed: {}\n", outcome.failure->what());
    fmt::print(console.err, "results up to {} s are in {}\n", number(outcome.summary.end), path);
    return kSolveFailed;
  }
  if (!outcome.finished) {
    fmt::print(console.err, "interrupted at {} s; results so far are in {}\ngo on with  clatter run --continue {}\n",
               number(outcome.summary.end), path, path);
    return kInterrupted;
  }
  if (!options.quiet) {
    fmt::print(console.out, "result: {}\nnext:   clatter view {}   or   clatter export {} --csv\n", path, path, path);
  }
  return kDone;
}

// Reductions can take long: a bar while they do, and a line that tells what came out of it or that it was known.
study::BodyMaking body_making(const RunOptions& options, const Console& console) {
  study::BodyMaking making = making_shown(options.quiet);
  if (!options.quiet)
    making.made = [&console](const study::MadeBody& m) { fmt::print(console.err, "{}\n", made_text(m)); };
  return making;
}

int run_from_start(const RunOptions& options, const Console& console) {
  if (options.model.empty())
    throw InputError("run needs a model", "for example  clatter run models/rigid/heavy_top.yaml");
  study::BodyMaking making = body_making(options, console);
  std::vector<study::MadeBody> bodies;
  making.made = [&bodies, tell = making.made](const study::MadeBody& m) {
    if (tell) tell(m);
    bodies.push_back(m);
  };
  Model loaded = study::load_changed(options.model, options.changes, making);
  record::RunInfo info = run_info(loaded, options.changes);
  study::Prepared prepared = study::prepare(std::move(loaded));
  const System& system = *prepared.system;
  Skins skins = skins_of(system.model, bodies);
  bodies.clear();
  info.surfaces = std::move(skins.surfaces);
  info.scene = view::scene_json(system.model, skins.uses);
  const Observer observer = study::recorder(prepared);

  bool replaces = false;
  const std::string path = result_path(options, info.model_name, replaces);
  refuse_input_as_output(path, study::files_of(system.model));
  record::WriterOptions writer_options;
  writer_options.checkpoint.memory = checkpoint_size(prepared);
  writer_options.replace_any = options.force;
  const Simulate& s = system.model.simulate;
  // A guess for the size of chunks: whoever asks for outputs without end is told a large number, not one that
  // overflowed.
  writer_options.expected_rows = static_cast<std::uint64_t>(std::min((s.end - s.start) / s.output_step, 1e15)) + 2;
  record::Writer writer = record::Writer::create(path, info, sample_channels(system.model, observer),
                                                 ledger_channels(*prepared.motion), writer_options);
  if (replaces && !options.quiet) fmt::print(console.err, "note: {} is written anew\n", path);
  print_notes(prepared, console.err);
  return execute(prepared, observer, writer, {}, s.start, options, console);
}

int run_from_checkpoint(const RunOptions& options, const Console& console) {
  const std::string& path = options.continue_from;
  record::Checkpoint checkpoint;
  record::RunInfo info;
  {
    const record::Reader reader(path);
    if (reader.being_written()) throw InputError(fmt::format("{} is being written by a run right now", path));
    const auto last = reader.last_checkpoint();
    if (!last) throw InputError(fmt::format("{} holds no checkpoint to go on from", path), "run the model again");
    checkpoint = *last;
    info = reader.info();
  }
  std::vector<std::pair<std::string, std::string>> texts;
  for (const record::SourceFile& file : info.model_files) texts.emplace_back(file.path, file.text);
  study::refuse_changed_inputs(info.inputs, texts);
  Model model = study::load_recorded(info, body_making(options, console));
  if (options.changes.end) {
    if (!(*options.changes.end > checkpoint.t)) {
      throw InputError(fmt::format("--end must lie after the last checkpoint at {} s", number(checkpoint.t)));
    }
    model.simulate.end = *options.changes.end;
  }
  if (checkpoint.t >= model.simulate.end) {
    throw InputError(fmt::format("{} is finished: it reached its end at {} s", path, number(model.simulate.end)),
                     "add --end to go further");
  }
  study::Prepared prepared = study::prepare(std::move(model));
  const Observer observer = study::recorder(prepared);
  record::Writer writer = record::Writer::resume(path, checkpoint.rows.checkpoints - 1);
  if (writer.channels() != sample_channels(prepared.system->model, observer)) {
    throw InputError(fmt::format("{} was written by another version of Clatter ({})", path, info.version),
                     "run the model again");
  }
  if (info.version != CLATTER_VERSION) {
    fmt::print(console.err, "note: begun with version {}, continued with {}: digits may differ\n", info.version,
               CLATTER_VERSION);
  }
  if (!options.quiet) fmt::print(console.err, "going on from {} s\n", number(checkpoint.t));

  study::RunRequest request;
  request.memory = checkpoint.memory;
  request.earlier_samples = [&](const std::function<void(double, std::span<const double>)>& each) {
    const record::Reader reader(path);
    const std::uint64_t rows = checkpoint.rows.samples;
    const std::vector<double> t = reader.times(0, rows);
    std::vector<double> row(static_cast<std::size_t>(observer.width()));
    std::vector<record::RowMatrix> blocks;
    for (const record::Channel& c : reader.channels()) blocks.push_back(reader.read(c.name, 0, rows));
    for (std::size_t i = 0; i < t.size(); ++i) {
      std::size_t column = 0;
      for (const record::RowMatrix& block : blocks) {
        for (Eigen::Index k = 0; k < block.cols(); ++k) row[column++] = block(static_cast<Eigen::Index>(i), k);
      }
      each(t[i], row);
    }
  };
  return execute(prepared, observer, writer, request, checkpoint.t, options, console);
}

}  // namespace

int run(const RunOptions& options, const Console& console) {
  return options.continue_from.empty() ? run_from_start(options, console) : run_from_checkpoint(options, console);
}

}  // namespace clatter::app
