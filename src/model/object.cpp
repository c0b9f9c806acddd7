#include "model/reader.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace clatter::loading {

Object::Object(Reader& reader, const YamlNode& node, const ObjectSpec& spec, std::string what, const Scope& scope)
    : reader_(reader), node_(node), spec_(spec), what_(std::move(what)), scope_(scope) {
  if (node.kind != YamlNode::Kind::map) {
    std::string hint;
    for (const auto& k : spec.keys)
      if (k.required) hint += (hint.empty() ? "it needs `" : ", `") + k.name + "`";
    reader.mistakes().add(node, fmt::format("{} must be a map of keys, this is {}", what_, kind_name(node)), hint);
    return;
  }
  for (const auto& e : node.entries) {
    if (spec.find(e.key)) continue;
    std::string hint = did_you_mean(e.key, spec.key_names());
    if (hint.empty()) {
      hint = "known keys:";
      for (const auto& k : spec.keys) hint += " " + k.name;
    }
    reader.mistakes().add(reader.mistakes().source(e), fmt::format("unknown key `{}` in {}", e.key, what_), hint);
  }
  for (const auto& k : spec.keys)
    if (k.required) require(k.name);
}

const YamlNode::Entry* Object::entry(std::string_view key) const {
  key_spec(key);  // every key the loader asks for is in the table
  return node_.find(key);
}
const YamlNode* Object::find(std::string_view key) const {
  const auto* e = entry(key);
  return e && e->node->kind != YamlNode::Kind::null ? e->node : nullptr;
}
Source Object::key_source(std::string_view key) const {
  const auto* e = entry(key);
  return e ? reader_.mistakes().source(*e) : reader_.mistakes().source(node_);
}

const KeySpec& Object::key_spec(std::string_view key) const {
  const KeySpec* k = spec_.find(key);
  if (!k) throw std::logic_error("key `" + std::string(key) + "` is not in the table of " + spec_.name);
  return *k;
}

Dimension Object::dimension(std::string_view key, int alternative) const {
  std::string_view units = key_spec(key).unit;
  for (int i = 0; i < alternative; ++i) {
    const auto bar = units.find('|');
    if (bar == std::string_view::npos) break;
    units.remove_prefix(bar + 1);
  }
  units = units.substr(0, units.find('|'));
  while (!units.empty() && units.front() == ' ') units.remove_prefix(1);
  while (!units.empty() && units.back() == ' ') units.remove_suffix(1);
  return dimension_of(units);
}

std::optional<double> Object::number(std::string_view key, int alternative) const {
  const YamlNode* n = find(key);
  if (!n) return {};
  // No unit in the table: anything goes.
  const bool any = key_spec(key).unit.empty();
  return reader_.number(*n, scope_, any ? std::nullopt : std::optional(dimension(key, alternative)));
}
double Object::number_or(std::string_view key, double otherwise, int alternative) const {
  return number(key, alternative).value_or(otherwise);
}
std::optional<double> Object::positive(std::string_view key, int alternative) const {
  const auto x = number(key, alternative);
  if (!x || *x > 0) return x;
  reader_.mistakes().add(*find(key), fmt::format("`{}` of {} must be positive, this is {:.6g}", key, what_, *x));
  return {};
}
std::optional<double> Object::not_negative(std::string_view key, int alternative) const {
  const auto x = number(key, alternative);
  if (!x || *x >= 0) return x;
  reader_.mistakes().add(*find(key), fmt::format("`{}` of {} cannot be negative, this is {:.6g}", key, what_, *x));
  return {};
}
std::optional<Vec3> Object::vector(std::string_view key, bool two_allowed) const {
  const YamlNode* n = find(key);
  if (!n) return {};
  return reader_.vector(*n, scope_, dimension(key), two_allowed);
}
std::optional<Quat> Object::rotation(std::string_view key) const {
  const YamlNode* n = find(key);
  if (!n) return {};
  return reader_.rotation(*n, scope_);
}
std::optional<Vec3> Object::direction(std::string_view key) const {
  const YamlNode* n = find(key);
  if (!n) return {};
  return reader_.direction(*n, scope_);
}
std::optional<std::string> Object::text(std::string_view key) const {
  const YamlNode* n = find(key);
  if (!n) return {};
  return reader_.text(*n, "a text");
}
std::optional<std::string> Object::word(std::string_view key) const {
  const YamlNode* n = find(key);
  if (!n) return {};
  return reader_.word(*n, key_spec(key).words, fmt::format("a valid `{}` of {}", key, what_));
}
std::optional<bool> Object::boolean(std::string_view key) const {
  const YamlNode* n = find(key);
  if (!n) return {};
  return reader_.boolean(*n);
}

void Object::check_type(const std::string& type) const {
  for (const auto& e : node_.entries) {
    const KeySpec* k = spec_.find(e.key);
    if (!k || k->only.empty() || std::find(k->only.begin(), k->only.end(), type) != k->only.end()) continue;
    std::string hint = fmt::format("`{}` belongs to:", e.key);
    for (const auto& t : k->only) hint += " " + t;
    reader_.mistakes().add(reader_.mistakes().source(e),
                           fmt::format("`{}` has no meaning for {} of type `{}`", e.key, what_, type), hint);
  }
}

std::string Object::one_of(const std::vector<std::string>& keys) const {
  std::string found, all;
  for (const auto& k : keys) {
    all += (all.empty() ? "`" : ", `") + k + "`";
    if (!has(k)) continue;
    if (!found.empty()) {
      mistake(k, fmt::format("`{}` and `{}` exclude each other in {}", found, k, what_));
      return {};
    }
    found = k;
  }
  if (found.empty()) reader_.mistakes().add(node_, fmt::format("{} needs one of {}", what_, all));
  return found;
}

bool Object::require(std::string_view key, const std::string& why) const {
  if (has(key)) return true;
  if (const auto* e = entry(key))
    reader_.mistakes().add(reader_.mistakes().source(*e), fmt::format("`{}` of {} has no value", key, what_), why);
  else
    reader_.mistakes().add(node_, fmt::format("`{}` is missing in {}", key, what_), why);
  return false;
}

void Object::mistake(std::string_view key, std::string message, std::string hint) const {
  reader_.mistakes().add(key_source(key), std::move(message), std::move(hint));
}

}  // namespace clatter::loading
