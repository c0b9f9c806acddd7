#include "app/result_page.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "base/error.hpp"
#include "study/changes.hpp"
#include "study/channels.hpp"
#include "study/checks.hpp"
#include "view/json.hpp"
#include "view/json_value.hpp"
#include "view/scene.hpp"

namespace clatter::app {

namespace fs = std::filesystem;
using view::Json;

namespace {

void put_channels(Json& json, const std::vector<record::Channel>& channels, bool ledger) {
  json.array();
  for (const record::Channel& c : channels) {
    json.object().put("name", ledger ? c.name : study::quantity_of_channel(c.name)).put("unit", c.unit);
    json.put("width", c.width).put("description", c.description);
    json.key("components").array();
    for (const std::string& component : c.components) json.text(component);
    json.end().end();
  }
  json.end();
}

std::string state_of(const record::Reader& reader) {
  if (reader.being_written()) return "running";
  if (reader.killed()) return "killed";
  return std::string(record::to_string(reader.status()));
}

void put_progress(Json& json, const record::Reader& reader) {
  const record::RowCounts rows = reader.rows();
  json.put("samples", rows.samples).put("ledger", rows.ledger).put("events", rows.events);
  json.put("state", state_of(reader)).put("message", reader.message()).put("summary", reader.summary());
  json.key("first").number(rows.samples > 0 ? reader.times(0, 1).front() : 0.0);
  json.key("last").number(rows.samples > 0 ? reader.times(rows.samples - 1, 1).front() : 0.0);
}

// Results from before scenes were kept have the model's text, which still tells how it looks.
std::string scene_of(const record::Reader& reader) {
  const record::RunInfo& info = reader.info();
  if (!info.scene.empty()) {
    try {
      return view::checked_scene(info.scene);
    } catch (const view::JsonError& error) {
      throw record::ResultError(reader.path(), fmt::format("'/scene' is not a scene: {}", error.what()),
                                "the file was not written by 'clatter run', or was changed since");
    }
  }
  try {
    return view::scene_json(study::load_recorded(info, {}, study::InputFiles::recorded));
  } catch (const std::exception&) {
    return "null";  // text of another version: bodies are drawn as marks
  }
}

// The folder of the shared library that holds this code (the packages' libclatter, or the Python module), or nothing where
// it is part of the program. The loader may have taken a library for this processor from <folder>/glibc-hwcaps/<level>.
fs::path library_folder() {
  std::error_code error;
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&load_page), &info) == 0 || info.dli_fname == nullptr) return {};
  const fs::path library = fs::canonical(info.dli_fname, error);
  if (error || library.filename().string().find(".so") == std::string::npos) return {};
  const fs::path folder = library.parent_path();
  return folder.parent_path().filename() == "glibc-hwcaps" ? folder.parent_path().parent_path() : folder;
}

fs::path program_folder() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::path(".") : program.parent_path();
}

}  // namespace

std::string meta_json(const record::Reader& reader) {
  const record::RunInfo& info = reader.info();
  Json json;
  json.object().put("version", 1).put("file", fs::path(reader.path()).filename().string());
  json.put("model", info.model_name).put("program", info.version).put("started", info.started);
  json.key("files").array();
  for (const record::SourceFile& file : info.model_files)
    json.object().put("path", fs::path(file.path).filename().string()).put("text", file.text).end();
  json.end();
  json.key("settings").array();
  for (const auto& [key, value] : info.settings) json.array().text(key).text(value).end();
  json.end();
  json.key("channels");
  put_channels(json, reader.channels(), false);
  json.key("ledger");
  put_channels(json, reader.ledger_channels(), true);
  json.key("surfaces").array();
  for (const record::Surface& s : info.surfaces) {
    json.object().put("name", s.name).put("vertices", s.vertices.size() / 3).put("triangles", s.triangles.size() / 3);
    json.put("modes", s.vertices.empty() ? 0 : s.modes.size() / s.vertices.size()).end();
  }
  json.end();
  json.key("scene").raw(scene_of(reader));
  json.key("progress").object();
  put_progress(json, reader);
  return json.end().end().take();
}

std::string progress_json(const record::Reader& reader) {
  Json json;
  json.object();
  put_progress(json, reader);
  return json.end().take();
}

std::string events_json(const record::Reader& reader, std::uint64_t first, std::uint64_t count) {
  Json json;
  json.array();
  for (const record::Event& e : reader.events(first, count))
    json.array().number(e.t).text(e.kind).text(e.element).text(e.text).end();
  return json.end().take();
}

std::string checks_json(const record::Reader& reader) {
  Json json;
  json.object();
  try {
    const Model model = study::load_recorded(reader.info(), {}, study::InputFiles::recorded);
    json.key("checks").array();
    const std::vector<double> t = model.checks.empty() ? std::vector<double>() : reader.times();
    for (const Check& check : model.checks) {
      study::CheckResult result{check, 0, false, "it is not recorded"};
      for (const record::Channel& c : reader.channels()) {
        const std::string name = study::quantity_of_channel(c.name);
        if (!check.quantity.starts_with(name)) continue;
        for (int k = 0; k < c.width; ++k) {
          const auto component = static_cast<std::size_t>(k);
          const std::string full = c.components.empty() ? name : name + "." + c.components[component];
          if (full != check.quantity) continue;
          const record::RowMatrix rows = reader.read(c.name);
          std::vector<double> x(static_cast<std::size_t>(rows.rows()));
          for (std::size_t i = 0; i < x.size(); ++i) x[i] = rows(static_cast<Eigen::Index>(i), k);
          result = study::evaluate_check(check, t, x);
        }
      }
      json.object().put("quantity", study::describe(check)).put("name", check.quantity);
      json.put("file", fs::path(check.source.file).filename().string()).put("line", check.source.line);
      json.put("value", check.value).put("tolerance", check.tolerance).put("from", check.from);
      if (result.known)
        json.put("computed", result.computed).put("difference", result.difference()).put("ok", result.ok());
      else
        json.put("reason", result.reason);
      json.end();
    }
    json.end();
  } catch (const InputError& error) {
    // The text was right when it ran; this program reads the language another way.
    json.key("errors").array();
    for (const Diagnostic& d : error.diagnostics())
      json.object()
          .put("file", fs::path(d.source.file).filename().string())
          .put("line", d.source.line)
          .put("column", d.source.column)
          .put("message", d.message)
          .put("hint", d.hint)
          .end();
    json.end();
  }
  return json.end().take();
}

void refuse_model(const std::string& path, const std::string& command) {
  const std::string extension = fs::path(path).extension().string();
  if (extension != ".yaml" && extension != ".yml") return;
  throw InputError(fmt::format("{} is a model; {} shows results", path, command),
                   fmt::format("run it first:  clatter run {}", path));
}

std::string load_page() {
  // Of a library: in its folder (the Python module installed by CMake), above it (the wheel, whose library is in clatter/lib),
  // and two above it (the module in a build folder). Of the program: beside it, and where it is installed.
  std::vector<fs::path> places;
  if (const fs::path library = library_folder(); !library.empty())
    places = {library / "viewer.html", library / "../viewer.html", library / "../../viewer.html"};
  const fs::path folder = program_folder();
  places.push_back(folder / "viewer.html");
  places.push_back(folder / "../share/clatter/viewer.html");
  for (const fs::path& place : places) {
    std::ifstream in(place, std::ios::binary);
    if (!in) continue;
    return {std::istreambuf_iterator<char>(in), {}};
  }
  throw record::ResultError(places.front().string(), "the viewer's page is not there, it needs npm once to be built",
                            "run tools/setup.sh with a network; everything else works without it");
}

}  // namespace clatter::app
