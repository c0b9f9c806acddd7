// Files, includes, parameters and scopes. What is declared where; the other load_*.cpp say what it means.
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

bool Loader::valid_name(const YamlNode::Entry& e, const char* kind) {
  const auto good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  if (e.key.empty() || e.key.size() > 64 || (e.key[0] >= '0' && e.key[0] <= '9') ||
      !std::all_of(e.key.begin(), e.key.end(), good)) {
    std::string better = e.key.substr(0, 64);
    for (char& c : better)
      if (!good(c)) c = '_';
    const bool digit = !better.empty() && better[0] >= '0' && better[0] <= '9';
    mistakes_.add(mistakes_.source(e),
                  fmt::format("`{}` is not a name for a {}: letters, digits and _ only, a letter first",
                              e.key.substr(0, 64), kind),
                  e.key.empty() || digit ? "" : "for example `" + better + "`");
    return false;
  }
  // Functions and pi only mean something by themselves; objects are always followed by a dot.
  const bool taken = std::string_view(kind) == "parameter"
                         ? is_reserved_name(e.key)
                         : e.key == "ground" || e.key == "energy" || e.key == "system";
  if (taken) {
    mistakes_.add(mistakes_.source(e), fmt::format("`{}` has a meaning of its own and cannot name a {}", e.key, kind));
    return false;
  }
  return true;
}

bool Loader::claim(Scope& scope, const YamlNode::Entry& e, const char* kind) {
  if (!valid_name(e, kind)) return false;
  const auto [it, fresh] = scope.names.emplace(e.key, mistakes_.source(e));
  if (fresh) {
    objects_.insert(scope.prefix + e.key);
    return true;
  }
  // Twice in one map has been reported when the file was read.
  const Source here = mistakes_.source(e);
  const bool reported = std::any_of(documents_.begin(), documents_.end(), [&](const YamlDocument& d) {
    return std::any_of(d.duplicates().begin(), d.duplicates().end(), [&](const Diagnostic& x) {
      return x.source.file == here.file && x.source.line == here.line && x.source.column == here.column;
    });
  });
  if (!reported)
    mistakes_.add(here, fmt::format("the name `{}` is already taken", e.key),
                  fmt::format("first used in {}:{}:{}", it->second.file, it->second.line, it->second.column));
  return false;
}

void Loader::count_object(const YamlNode::Entry& e) {
  if (++object_count_ <= options_.max_objects) return;
  mistakes_.add(mistakes_.source(e), fmt::format("more than {} objects", options_.max_objects));
  mistakes_.throw_if_any();
}

// --- parameters ------------------------------------------------------------------------------------------------------

// A value given for a parameter must be of the kind of the default it replaces, and adopts it when it has none.
Parameter Loader::fit_override(Parameter given, const YamlNode::Entry& definition) {
  if (definition.node->kind != YamlNode::Kind::scalar || given.broken) return given;
  try {
    const auto b = parse_expression(definition.node->text).bind([&](const std::string& name) -> Symbol {
      const Parameter* p = scopes_.front().find_parameter(name);
      if (!p || p->broken) throw ExpressionError(0, name);
      return {p->value, p->dimension};
    });
    if (!given.dimension) given.dimension = b.dimension;
    if (b.dimension && !(*b.dimension == *given.dimension)) {
      mistakes_.add(mistakes_.source(definition), fmt::format("parameter `{}` is {}, but is given {}", definition.key,
                                                              describe(*b.dimension), describe(*given.dimension)));
      given.broken = true;
    }
  } catch (const ExpressionError&) {
    // The default depends on other parameters, or is wrong and not used.
  }
  return given;
}

void Loader::evaluate_parameters(Scope& scope, const std::vector<const YamlNode::Entry*>& entries,
                                 const Override& given, const std::string& instance) {
  struct Waiting {
    const YamlNode::Entry* entry;
    std::vector<std::string> needs;
  };
  std::unordered_map<std::string, Waiting> waiting;
  std::vector<std::string> order;
  parameter_count_ += entries.size();
  if (parameter_count_ > options_.max_objects && !entries.empty()) {
    mistakes_.add(mistakes_.source(*entries[0]), fmt::format("more than {} parameters", options_.max_objects));
    mistakes_.throw_if_any();
  }
  for (const auto* e : entries) {
    if (!valid_name(*e, "parameter")) continue;
    if (const auto it = given.find(e->key); it != given.end()) {
      scope.parameters[e->key] = fit_override(it->second, *e);
      continue;
    }
    if (e->node->kind == YamlNode::Kind::null) {
      if (!instance.empty())
        mistakes_.add(mistakes_.source(*e),
                      fmt::format("parameter `{}` has no default and is not given by {}", e->key, instance));
      else
        mistakes_.add(mistakes_.source(*e), fmt::format("parameter `{}` has no value", e->key));
      scope.parameters[e->key].broken = true;
      continue;
    }
    if (waiting.count(e->key)) continue;
    Waiting w{e, {}};
    if (e->node->kind == YamlNode::Kind::scalar) {
      try {
        for (auto& n : parse_expression(e->node->text).names()) w.needs.push_back(n.text);
      } catch (const ExpressionError&) {
        // Reported when it is evaluated.
      }
    }
    waiting.emplace(e->key, std::move(w));
    order.push_back(e->key);
  }

  // Depth first with a stack of our own: a chain of parameters may be long.
  enum class Mark { fresh, open, done };
  std::unordered_map<std::string, Mark> marks;
  for (const auto& start : order) {
    std::vector<std::pair<std::string, std::size_t>> stack{{start, 0}};
    while (!stack.empty()) {
      auto& [name, next] = stack.back();
      Mark& mark = marks[name];
      if (mark == Mark::done) {
        stack.pop_back();
        continue;
      }
      mark = Mark::open;
      const Waiting& w = waiting.at(name);
      bool descended = false;
      while (next < w.needs.size()) {
        const std::string need = w.needs[next++];
        if (!waiting.count(need) || marks[need] == Mark::done) continue;
        if (marks[need] == Mark::open) {
          std::string cycle;
          bool in = false;
          for (const auto& [n, k] : stack) {
            in = in || n == need;
            if (in && cycle.size() < 500) cycle += n + " -> ";
          }
          mistakes_.add(*w.entry->node, fmt::format("parameter `{}` depends on itself", need),
                        "cycle: " + cycle + need);
          scope.parameters[name].broken = true;
          marks[name] = Mark::done;
          continue;
        }
        stack.emplace_back(need, 0);
        descended = true;
        break;
      }
      if (descended) continue;
      if (marks[name] != Mark::done) {
        const auto p = reader_.constant(*w.entry->node, scope, {});
        Parameter& slot = scope.parameters[name];
        if (p)
          slot = *p;
        else
          slot.broken = true;
        marks[name] = Mark::done;
      }
      stack.pop_back();
    }
  }
}

// --- scopes ----------------------------------------------------------------------------------------------------------

Sections Loader::assembly_sections(const YamlNode& node) {
  Sections s;
  if (node.kind != YamlNode::Kind::map) return s;
  const auto section = [&](const char* key, std::vector<const YamlNode::Entry*>& to) {
    if (const auto* e = node.find(key)) append(to, *e->node, key);
  };
  section("parameters", s.parameters);
  section("frames", s.frames);
  section("bodies", s.bodies);
  section("joints", s.joints);
  section("forces", s.forces);
  section("shapes", s.shapes);
  section("contacts", s.contacts);
  section("instances", s.instances);
  return s;
}

void Loader::expand(Scope& scope, Sections sections) {
  const auto keep = [&](std::vector<const YamlNode::Entry*>& entries, const char* kind) {
    std::erase_if(entries, [&](const auto* e) {
      count_object(*e);
      return !claim(scope, *e, kind);
    });
  };
  keep(sections.bodies, "body");
  keep(sections.joints, "joint");
  keep(sections.forces, "force");
  keep(sections.contacts, "contact");
  keep(sections.instances, "instance");
  const auto instances = sections.instances;
  work_.push_back({&scope, std::move(sections)});
  for (const auto* e : instances) instantiate(scope, *e);
}

// Copies of an instance: counters i, j, k and the running number n from 0, and u, v, w, uniform in [-0.5, 0.5), which
// its `at`, `rotate` and `parameters` may use. The generator is the linear congruential one of Knuth's MMIX, so that a
// seed gives the same heap everywhere.
void Loader::instantiate(Scope& outer, const YamlNode::Entry& e) {
  const YamlNode::Entry* repeat = e.node->kind == YamlNode::Kind::map ? e.node->find("repeat") : nullptr;
  if (repeat == nullptr) return instantiate(outer, outer, e, e.key);
  const std::string what = fmt::format("`repeat` of instance `{}`", outer.prefix + e.key);
  const Object o(reader_, *repeat->node, object_spec("repeat"), what, outer);
  if (!o.ok()) return;
  const auto whole = [&](const char* key, double least) {
    const double x = o.number(key).value_or(least);
    if (x >= least && x <= 9e15 && x == std::floor(x)) return x;
    o.mistake(key, fmt::format("{} of {} must be a whole number, at least {}", key, what, least));
    return 0.0;
  };
  const double counts[] = {whole("i", 1), whole("j", 1), whole("k", 1)};
  const double seed = whole("seed", 0);
  const double copies = counts[0] * counts[1] * counts[2];
  if (copies == 0) return;
  if (copies > static_cast<double>(options_.max_objects)) {
    mistakes_.add(*repeat->node, fmt::format("{} makes more than {} copies", what, options_.max_objects));
    return;
  }
  auto random = static_cast<std::uint64_t>(seed);
  const std::size_t before = mistakes_.count();
  for (int n = 0; n < static_cast<int>(copies); ++n) {
    Scope counters;
    counters.outer = outer.outer;
    counters.lexical = &outer;
    const int i = static_cast<int>(counts[0]), j = static_cast<int>(counts[1]);
    const auto set = [&](const char* name, double x) { counters.parameters[name] = {x, Dimension{}, false}; };
    set("i", n % i);
    set("j", n / i % j);
    set("k", n / i / j);
    set("n", n);
    for (const char* name : {"u", "v", "w"}) {
      random = random * 6364136223846793005U + 1442695040888963407U;
      set(name, std::ldexp(static_cast<double>(random >> 11), -53) - 0.5);
    }
    const std::string name = fmt::format("{}_{}", e.key, n + 1);
    const auto [it, fresh] = outer.names.emplace(name, mistakes_.source(e));
    if (!fresh) {
      mistakes_.add(*repeat->node, fmt::format("the name `{}` of a copy is already taken", name),
                    fmt::format("first used in {}:{}:{}", it->second.file, it->second.line, it->second.column));
      return;
    }
    instantiate(counters, outer, e, name);
    if (mistakes_.count() > before) return;  // the next copy has the same
  }
}

// `local`: where the instance's own values are read.
void Loader::instantiate(const Scope& local, Scope& outer, const YamlNode::Entry& e, const std::string& called) {
  const std::string what = fmt::format("instance `{}`", outer.prefix + called);
  const Object o(reader_, *e.node, object_spec("instance"), what, local);
  if (!o.ok()) return;
  const auto of = o.text("of");
  const auto at = o.vector("at");
  const auto turn = o.rotation("rotate");
  if (!of) return;
  const auto definition = assemblies_.find(*of);
  if (definition == assemblies_.end()) {
    std::vector<std::string> names;
    for (const auto& [name, entry] : assemblies_) names.push_back(name);
    std::sort(names.begin(), names.end());
    mistakes_.add(*o.find("of"), fmt::format("there is no assembly `{}`", *of), did_you_mean(*of, names));
    return;
  }
  const auto open = std::find(open_assemblies_.begin(), open_assemblies_.end(), *of);
  if (open != open_assemblies_.end()) {
    std::string cycle;
    for (auto it = open; it != open_assemblies_.end(); ++it) cycle += *it + " -> ";
    mistakes_.add(*o.find("of"), fmt::format("assembly `{}` contains itself", *of), "cycle: " + cycle + *of);
    return;
  }
  if (open_assemblies_.size() >= 32) {
    mistakes_.add(*o.find("of"), "assemblies are nested too deeply");
    return;
  }
  const Sections sections = assembly_sections(*definition->second->node);

  Override given;
  if (const YamlNode* n = o.find("parameters")) {
    std::vector<const YamlNode::Entry*> values;
    append(values, *n, "parameters");
    for (const auto* v : values) {
      const bool known = std::any_of(sections.parameters.begin(), sections.parameters.end(),
                                     [&](const auto* p) { return p->key == v->key; });
      if (!known) {
        std::vector<std::string> names;
        for (const auto* p : sections.parameters) names.push_back(p->key);
        mistakes_.add(mistakes_.source(*v), fmt::format("assembly `{}` has no parameter `{}`", *of, v->key),
                      did_you_mean(v->key, names));
        continue;
      }
      const auto p = reader_.constant(*v->node, local, {});
      given[v->key] = p ? *p : Parameter{0, {}, true};
    }
  }

  scopes_.emplace_back();
  Scope& scope = scopes_.back();
  scope.outer = &outer;
  scope.lexical = &scopes_.front();
  scope.prefix = outer.prefix + called + ".";
  scope.placement = outer.placement * Placement{at.value_or(Vec3::Zero()), turn.value_or(Quat::Identity())};
  evaluate_parameters(scope, sections.parameters, given, what);
  open_assemblies_.push_back(*of);
  expand(scope, sections);
  open_assemblies_.pop_back();
}

}  // namespace loading
}  // namespace clatter
