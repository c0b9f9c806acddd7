// `clatter verify`: published against computed, model by model.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <mutex>
#include <optional>
#include <ostream>
#include <sstream>
#include <thread>

#include "app/commands.hpp"
#include "app/gallery.hpp"
#include "app/summary_text.hpp"
#include "app/text.hpp"
#include "base/output_file.hpp"
#include "study/changes.hpp"
#include "study/simulate.hpp"

namespace clatter::app {

namespace fs = std::filesystem;

namespace {

struct Verdict {
  std::string text;
  std::string entry;  // of the gallery, JSON
  int code = kDone;
  bool checked = false;  // the model has checks
};

// Models are found in folders by their ending; folders named `parts` hold pieces that models include. The order is that
// of the names, whatever the file system's.
std::vector<std::string> find_models(const std::vector<std::string>& paths) {
  std::vector<std::string> models;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      if (!fs::exists(path, error)) throw InputError(fmt::format("there is no file or folder `{}`", path));
      models.push_back(path);
      continue;
    }
    std::vector<std::string> found;
    for (fs::recursive_directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
      if (it->is_directory() && it->path().filename() == "parts") it.disable_recursion_pending();
      const std::string ending = it->path().extension().string();
      if (it->is_regular_file() && (ending == ".yaml" || ending == ".yml")) found.push_back(it->path().string());
    }
    if (error) throw InputError(fmt::format("{} cannot be searched: {}", path, error.message()));
    if (found.empty()) throw InputError(fmt::format("there is no model (*.yaml) in `{}`", path));
    std::sort(found.begin(), found.end());
    models.insert(models.end(), found.begin(), found.end());
  }
  return models;
}

// Unit of the scalar `name` among an observer's quantities.
std::string unit_of(const Observer& observer, const std::string& name) {
  for (const QuantityInfo& q : observer.quantities())
    if (q.name == name || (!q.components.empty() && name.starts_with(q.name + "."))) return q.unit;
  return "1";
}

// `index`: of the model in the list, which makes the names of pictures differ.
Verdict verify_one(const std::string& path, std::size_t index, const VerifyOptions& options) {
  Verdict verdict;
  std::ostringstream out, messages;
  verdict.code = guarded({out, messages}, [&]() -> int {
    Model model = study::load_changed(path, options.changes);
    if (model.checks.empty()) {
      if (!options.quiet) fmt::print(out, "{}: has no checks\n", path);
      return kDone;
    }
    verdict.checked = true;
    study::Prepared prepared = study::prepare(std::move(model));
    std::vector<std::string> needed{"energy.kinetic"};
    const std::vector<std::string> all = study::recorded_quantities(prepared);
    for (const std::string& name : all) {
      const bool asked =
          std::any_of(prepared.system->model.checks.begin(), prepared.system->model.checks.end(),
                      [&](const Check& c) { return c.quantity == name || c.quantity.starts_with(name + "."); });
      if (asked && name != needed.front()) needed.push_back(name);
    }
    const Observer observer(prepared.system, needed, prepared.extra);
    const std::string shown = pictured(prepared.system->model.checks).quantity;
    CourseSink course(study::column_of(observer, shown));
    study::RunRequest request;
    if (!options.gallery.empty()) request.sink = &course;
    const study::Outcome outcome = study::simulate(prepared, observer, request);
    if (outcome.failure) throw SolveError(*outcome.failure);
    if (!options.gallery.empty() && !course.t().empty()) {
      const std::string picture = fmt::format("{:03}-{}.svg", index, fs::path(path).stem().string());
      draw_course(course, shown, unit_of(observer, shown), (fs::path(options.gallery) / picture).string(),
                  options.force);
      verdict.entry = gallery_json(path, picture, outcome.summary);
    }
    const auto& checks = outcome.summary.checks;
    // Numbers of a motion whose contacts were not solved are not worth a comparison, however well they fit.
    const std::string unsolved = study::unsolved_text(outcome.summary.contact);
    const std::string passed = study::passages_text(outcome.summary.contact);
    const bool ok = unsolved.empty() && passed.empty() &&
                    std::all_of(checks.begin(), checks.end(), [](const study::CheckResult& r) { return r.ok(); });
    if (!options.quiet || !ok) {
      fmt::print(out, "{}: {} ({}, {})\n{}", path, ok ? "ok" : "FAIL", outcome.summary.method,
                 duration(outcome.summary.wall), checks_table(checks));
      for (const std::string& text : {unsolved, passed})
        if (!text.empty()) fmt::print(out, "  {}\n", text);
    }
    return ok ? kDone : kChecksFail;
  });
  if (verdict.code == kBadInput || verdict.code == kSolveFailed) {
    verdict.checked = true;
    fmt::print(out, "{}: {}\n", path, verdict.code == kBadInput ? "FAIL, cannot be read" : "FAIL, the solve failed");
    out << messages.str();
  }
  verdict.text = out.str();
  return verdict;
}

constexpr OutputKind kGallery{"the list of `clatter verify --gallery`", "[\n{\"model\":", OutputKind::At::start};

void write_gallery(const std::vector<Verdict>& verdicts, OutputFile& file) {
  std::ostream& out = file.stream();
  const char* separator = "[\n";
  for (const Verdict& verdict : verdicts) {
    if (verdict.entry.empty()) continue;
    out << separator << verdict.entry;
    separator = ",\n";
  }
  out << (*separator == '[' ? "[]\n" : "\n]\n");
  file.publish();
}

}  // namespace

int verify(const VerifyOptions& options, const Console& console) {
  const std::vector<std::string> models = find_models(options.paths);
  std::optional<OutputFile> gallery;
  if (!options.gallery.empty()) {
    std::error_code error;
    fs::create_directories(options.gallery, error);
    if (error) throw InputError(fmt::format("the folder {} cannot be made: {}", options.gallery, error.message()));
    gallery.emplace((fs::path(options.gallery) / "gallery.json").string(), kGallery,
                    OutputRules{models, options.force});
  }
  std::vector<Verdict> verdicts(models.size());
  std::vector<bool> done(models.size(), false);
  std::atomic<std::size_t> next{0};
  std::size_t printed = 0;
  std::mutex printing;
  const auto work = [&] {
    for (std::size_t i = next++; i < models.size(); i = next++) {
      Verdict verdict = verify_one(models[i], i, options);
      const std::lock_guard lock(printing);
      verdicts[i] = std::move(verdict);
      done[i] = true;
      // In the order of the models, each as soon as those before it are done.
      for (; printed < models.size() && done[printed]; ++printed) console.out << verdicts[printed].text << std::flush;
    }
  };
  {
    std::vector<std::jthread> threads;
    const auto count = std::min<std::size_t>(models.size(), static_cast<std::size_t>(std::max(1, options.threads)));
    for (std::size_t i = 1; i < count; ++i) threads.emplace_back(work);
    work();
  }

  if (gallery) write_gallery(verdicts, *gallery);
  int passed = 0, failed = 0, unchecked = 0, code = kDone;
  for (const Verdict& v : verdicts) {
    if (!v.checked) {
      ++unchecked;
    } else if (v.code == kDone) {
      ++passed;
    } else {
      ++failed;
    }
    code = std::max(code, v.code);
  }
  if (unchecked > 0)
    fmt::print(console.out, "{} without checks\n", counted(static_cast<std::uint64_t>(unchecked), "model"));
  fmt::print(console.out, "{} passed, {} failed\n", passed, failed);
  return code;
}

}  // namespace clatter::app
