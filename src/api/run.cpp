#include <fmt/format.h>

#include <sstream>

#include "api/clatter.hpp"
#include "api/setup.hpp"
#include "app/commands.hpp"
#include "integrate/run.hpp"
#include "record/format.hpp"
#include "record/reader.hpp"

namespace clatter::api {

study::Changes changes_of(const Setup& setup) {
  study::Changes changes;
  changes.method = setup.method;
  changes.coordinates = setup.coordinates;
  changes.end = setup.end;
  changes.step = setup.step;
  changes.tolerance = setup.tolerance;
  for (const auto& [name, value] : setup.parameters) changes.parameters.push_back(name + "=" + value);
  changes.text = setup.text;
  return changes;
}

namespace {
std::string name_of(const Setup& setup) {
  if (!setup.file.empty()) return setup.file;
  if (!setup.text) throw InputError("there is no model: give a file or a text");
  return "model";
}
}  // namespace

Model load(const Setup& setup) { return study::load_changed(name_of(setup), changes_of(setup)); }

RunReport run(const Setup& setup, const std::string& result, const std::function<bool(const Progress&)>& watch) {
  app::RunOptions options;
  options.model = name_of(setup);
  options.result = result;
  options.changes = changes_of(setup);
  options.quiet = true;
  options.raise = true;
  if (watch)
    options.watch = [&](const clatter::Progress& p) {
      return watch({p.t, p.h, static_cast<std::uint64_t>(p.steps), static_cast<std::uint64_t>(p.events)});
    };
  std::ostringstream out, notes;
  try {
    const int code = app::run(options, {out, notes});
    return {code == app::kDone, record::Reader(result).summary()};
  } catch (const record::ResultError& error) {
    throw ResultFileError(error.what());
  }
}

const char* version() { return CLATTER_VERSION; }

}  // namespace clatter::api
