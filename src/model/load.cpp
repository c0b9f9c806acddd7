// Files and includes, and the order in which a model is read; load_scopes.cpp says what is declared where, the other
// load_*.cpp what it means.
#include "model/load.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>

#include <fmt/format.h>

#include "base/read_file.hpp"
#include "model/crowd.hpp"
#include "model/loader.hpp"
#include "model/quantities.hpp"

namespace clatter {

namespace {

// Has the text a line that begins with the key `clatter`?
bool is_model_text(std::string_view text) {
  constexpr std::string_view key = "clatter";
  for (std::size_t at = 0; at < text.size();) {
    std::string_view line = text.substr(at, text.find('\n', at) - at);
    at += line.size() + 1;
    if (line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);
    if (!line.starts_with(key)) continue;
    const std::size_t next = line.find_first_not_of(" \t", key.size());
    if (next != std::string_view::npos && line[next] == ':') return true;
  }
  return false;
}

std::optional<std::string> read_text(const LoadOptions& options, const std::string& path) {
  return options.read_file ? options.read_file(path) : read_regular_file(path, options.max_bytes);
}

}  // namespace

Model load_model(const std::string& path, const LoadOptions& options) {
  const auto text = read_text(options, path);
  if (!text) {
    // The nearest name among the neighbours helps with a slip of the pen.
    std::vector<std::string> neighbours;
    if (!options.read_file) {
      std::error_code error;
      const auto parent = std::filesystem::path(path).parent_path();
      for (std::filesystem::directory_iterator it(parent.empty() ? "." : parent, error), end; !error && it != end;
           it.increment(error))
        if (it->path().extension() == ".yaml" && neighbours.size() < 1000)
          neighbours.push_back((parent / it->path().filename()).string());
    }
    throw InputError("cannot read the model file `" + path + "`", did_you_mean(path, neighbours));
  }
  return load_model_text(*text, path, options);
}

Model load_model_text(const std::string& text, const std::string& name, const LoadOptions& options) {
  return loading::Loader(options).run(text, name);
}

namespace loading {

Model Loader::run(const std::string& text, const std::string& name) {
  read_files_.insert(std::filesystem::path(name).lexically_normal().string());
  read_file(text, name);

  scopes_.emplace_back();
  Scope& top = scopes_.back();
  Override given;
  for (const auto& [parameter, value] : options_.parameters) {
    const bool known = std::any_of(sections_.parameters.begin(), sections_.parameters.end(),
                                   [&, key = parameter](const auto* e) { return e->key == key; });
    if (!known) {
      std::vector<std::string> names;
      for (const auto* e : sections_.parameters) names.push_back(e->key);
      throw InputError("the model has no parameter `" + parameter + "`", did_you_mean(parameter, names));
    }
    try {
      const auto b = parse_expression(value).bind(
          [](const std::string& n) -> Symbol { throw ExpressionError(0, "`" + n + "` is not a number"); });
      given[parameter] = {b.constant, b.dimension};
    } catch (const ExpressionError& e) {
      throw InputError("parameter " + parameter + "=" + value + ": " + e.what(), e.hint);
    }
  }
  evaluate_parameters(top, sections_.parameters, given, "");

  if (const auto* n = main_value("title")) model_.title = reader_.text(*n, "a title").value_or("");
  if (const auto* n = main_value("description")) model_.description = reader_.text(*n, "a text").value_or("");
  if (const auto* n = main_value("gravity"))
    model_.gravity = reader_.vector(*n, top, dimension_of("m/s^2")).value_or(Vec3::Zero());
  if (const auto* n = main_value("coordinates")) {
    const auto w = reader_.word(*n, object_spec("model").find("coordinates")->words, "a kind of coordinates");
    model_.joint_coordinates = w && *w == "joint";
  }

  expand(top, sections_);
  for (const auto& w : work_)
    for (const auto* e : w.sections.frames) ground_frame(*w.scope, *e);
  for (const auto& w : work_)
    for (const auto* e : w.sections.bodies) body(*w.scope, *e);
  for (const auto& w : work_)
    for (const auto* e : w.sections.joints) joint(*w.scope, *e);
  check_couplings();
  for (const auto& w : work_)
    for (const auto* e : w.sections.forces) force(*w.scope, *e);
  for (const auto& w : work_)
    for (const auto* e : w.sections.shapes) contact_shape(*w.scope, *e);
  decide_crowd();
  for (const auto& w : work_)
    for (const auto* e : w.sections.contacts) contact(*w.scope, *e);
  for (const auto* n : outputs_) outputs(*n);
  for (const auto* n : checks_) checks(*n);
  if (rigid_contacts() || joint_frictions()) model_.simulate.method = Method::event_driven;
  if (const auto* n = main_value("simulate")) simulate(*n);
  if (const auto* n = main_value("initial")) initial(*n);
  check_uses();
  check_finite();
  mistakes_.throw_if_any();
  keep_crowd();

  for (const auto& [key, parameter] : top.parameters) model_.parameters.emplace_back(key, parameter.value);
  std::sort(model_.parameters.begin(), model_.parameters.end());
  model_.file = name;
  model_.texts = std::move(mistakes_.texts);
  return std::move(model_);
}

// --- files -----------------------------------------------------------------------------------------------------------

void Loader::read_file(const std::string& text, const std::string& name) {
  const int index = static_cast<int>(mistakes_.texts.size());
  mistakes_.texts.emplace_back(name, text);
  const YamlLimits limits{options_.max_bytes, options_.max_nodes};
  documents_.push_back(YamlDocument::parse(text, name, index, limits));
  for (const auto& d : documents_.back().duplicates()) mistakes_.add(d.source, d.message, d.hint);
  open_files_.push_back(std::filesystem::path(name).lexically_normal().string());
  merge(documents_.back().root(), name);
  open_files_.pop_back();
}

const YamlNode* Loader::main_value(const char* key) const {
  const auto it = single_.find(key);
  return it == single_.end() || it->second->kind == YamlNode::Kind::null ? nullptr : it->second;
}

void Loader::merge(const YamlNode& root, const std::string& name) {
  static const Scope none;
  const Object o(reader_, root, object_spec("model"), "the model", none);
  if (!o.ok()) return;
  if (const YamlNode* n = o.find("clatter")) {
    if (n->kind != YamlNode::Kind::scalar || n->text != "1")
      mistakes_.add(*n, "the version of the model language must be 1: `clatter: 1`");
  }
  for (const char* key : {"title", "description", "gravity", "coordinates", "simulate", "initial"})
    if (const YamlNode* n = o.find(key)) single_.emplace(key, n);
  // Included objects come first: the including file builds on them.
  if (const YamlNode* n = o.find("include")) include(*n, name);

  if (const YamlNode* n = o.find("parameters")) {
    std::vector<const YamlNode::Entry*> mine;
    append(mine, *n, "parameters");
    std::unordered_map<std::string_view, std::size_t> included;
    for (std::size_t i = 0; i < sections_.parameters.size(); ++i) included.emplace(sections_.parameters[i]->key, i);
    for (const auto* e : mine) {
      const auto same = included.find(e->key);
      if (same != included.end())
        sections_.parameters[same->second] = e;
      else
        sections_.parameters.push_back(e);
    }
  }
  const auto section = [&](const char* key, std::vector<const YamlNode::Entry*>& to) {
    if (const YamlNode* n = o.find(key)) append(to, *n, key);
  };
  section("frames", sections_.frames);
  section("bodies", sections_.bodies);
  section("joints", sections_.joints);
  section("forces", sections_.forces);
  section("shapes", sections_.shapes);
  section("contacts", sections_.contacts);
  section("instances", sections_.instances);
  std::vector<const YamlNode::Entry*> definitions;
  section("assemblies", definitions);
  for (const auto* e : definitions) {
    if (!valid_name(*e, "assembly")) continue;
    const auto [it, fresh] = assemblies_.emplace(e->key, e);
    if (!fresh && it->second->file != e->file)
      mistakes_.add(mistakes_.source(*e), fmt::format("assembly `{}` is defined twice", e->key),
                    fmt::format("first in {}:{}", mistakes_.source(*it->second).file, it->second->line));
    Object check(reader_, *e->node, object_spec("assembly"), fmt::format("assembly `{}`", e->key), none);
  }
  if (const YamlNode* n = o.find("outputs")) outputs_.push_back(n);
  if (const YamlNode* n = o.find("checks")) checks_.push_back(n);
}

void Loader::append(std::vector<const YamlNode::Entry*>& to, const YamlNode& section, const char* what) {
  if (section.kind == YamlNode::Kind::null) return;
  if (section.kind != YamlNode::Kind::map) {
    mistakes_.add(section, fmt::format("`{}` must be a map of names", what));
    return;
  }
  for (const auto& e : section.entries) to.push_back(&e);
}

void Loader::include(const YamlNode& list, const std::string& name) {
  const auto files = reader_.names(list);
  if (!files) return;
  for (const YamlNode* n : *files) {
    const auto path = (std::filesystem::path(name).parent_path() / n->text).lexically_normal().string();
    const auto open = std::find(open_files_.begin(), open_files_.end(), path);
    if (open != open_files_.end()) {
      std::string chain;
      for (auto it = open; it != open_files_.end(); ++it) chain += *it + " -> ";
      mistakes_.add(*n, fmt::format("`{}` includes itself", n->text), "cycle: " + chain + path);
      continue;
    }
    if (!read_files_.insert(path).second) continue;  // included on another way already
    if (read_files_.size() > options_.max_files) {
      mistakes_.add(*n, fmt::format("more than {} files", options_.max_files));
      return;
    }
    const auto text = n->text.empty() ? std::nullopt : read_text(options_, path);
    if (!text) {
      mistakes_.add(*n, fmt::format("cannot read the included file `{}`", path));
      continue;
    }
    if (!is_model_text(*text)) {
      // Nothing of it is shown: it may be any file, and messages travel.
      mistakes_.add(*n, fmt::format("the included file `{}` is not a model file", path),
                    "a model file has a line `clatter: 1`");
      continue;
    }
    read_file(*text, path);
  }
}

// --- names -----------------------------------------------------------------------------------------------------------

}  // namespace loading
}  // namespace clatter
