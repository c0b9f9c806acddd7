// Contacts: which shapes may touch. The laws between them are read in load_contact_laws.cpp.
#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "model/loader.hpp"
#include "model/quantities.hpp"

namespace clatter::loading {

namespace {

bool is_pattern(const std::string& s) { return s.find_first_of("*?") != std::string::npos; }

std::string local_name(const std::string& full, const Scope& scope) {
  return full.starts_with(scope.prefix) ? full.substr(scope.prefix.size()) : full;
}

}  // namespace

// --- pairs -----------------------------------------------------------------------------------------------------------

// A shape, else a body with a solid, of this name in the scope or in one around it. Patterns take all of the innermost
// scope in which something fits: shapes, and bodies with a solid that carry no shape.
std::vector<int> Loader::touching(const YamlNode& n, const Scope& scope) {
  if (is_pattern(n.text)) return matching(n, scope);
  for (const Scope* s = &scope; s; s = s->outer) {
    const std::string full = s->prefix + n.text;
    if (const auto it = shape_index_.find(full); it != shape_index_.end()) {
      std::vector<int> found;
      it->second.row.append_to(found);
      return found;
    }
    const auto it = body_index_.find(full);
    if (it == body_index_.end()) continue;
    if (!touchable(it->second)) {
      const bool rod = model_.bodies[static_cast<std::size_t>(it->second)].shape.kind == Shape::Kind::rod;
      mistakes_.add(n,
                    rod ? fmt::format("body `{}` is a rod without radius: it has no surface", full)
                        : fmt::format("body `{}` has no `shape` to touch with", full),
                    "describe one under `shapes`");
      return {};
    }
    return shapes_of_body(it->second, n);
  }
  if (n.text == "ground") {
    mistakes_.add(n, "`ground` has no shape of its own",
                  "describe one under `shapes`, for example floor: {on: ground, type: plane}");
    return {};
  }
  std::vector<std::string> known;
  for (const auto& [name, shape] : shape_index_) known.push_back(local_name(name, scope));
  for (std::size_t i = 0; i < model_.bodies.size(); ++i)
    if (touchable(static_cast<int>(i))) known.push_back(local_name(model_.bodies[i].name, scope));
  std::sort(known.begin(), known.end());
  mistakes_.add(n, fmt::format("there is no shape `{}`, nor a body with a shape", n.text), did_you_mean(n.text, known));
  return {};
}

std::vector<int> Loader::matching(const YamlNode& n, const Scope& scope) {
  std::unordered_set<int> carriers;
  for (const auto& [name, shape] : shape_index_) carriers.insert(shape.body);
  for (const Scope* s = &scope; s; s = s->outer) {
    const auto fits = [&](const std::string& name) {
      return name.starts_with(s->prefix) && glob_match(n.text, std::string_view(name).substr(s->prefix.size()));
    };
    std::vector<int> found;
    bool any = false;
    for (const auto& [name, shape] : shape_index_) {
      if (!fits(name)) continue;
      any = true;
      shape.row.append_to(found);
    }
    std::sort(found.begin(), found.end());  // in the order of the file
    for (std::size_t i = 0; i < model_.bodies.size(); ++i) {
      const int b = static_cast<int>(i);
      if (carriers.count(b) || !touchable(b) || !fits(model_.bodies[i].name)) continue;
      any = true;
      for (const int index : shapes_of_body(b, n)) found.push_back(index);
    }
    if (any) return found;
  }
  mistakes_.add(n, fmt::format("no shape, and no body with a shape, is named like `{}`", n.text));
  return {};
}

std::vector<int> Loader::touching_all(const std::vector<const YamlNode*>& names, const Scope& scope) {
  std::vector<int> all;
  std::unordered_set<int> seen;
  for (const YamlNode* n : names)
    for (const int i : touching(*n, scope))
      if (seen.insert(i).second) all.push_back(i);
  return all;
}

// Planar shapes touch planar ones, spatial shapes spatial ones; what meets a planar body lies in its plane.
bool Loader::can_touch(const ContactShape& a, const ContactShape& b, const YamlNode& at) {
  if (a.share > 0 && b.share > 0) {
    mistakes_.add(at, fmt::format("`{}` and `{}` are points of two beams' sides, which do not meet", a.name, b.name),
                  "name the beams themselves: between: [beam1, beam2]");
    return false;
  }
  const bool flat = ContactShape::planar(a.kind);
  if (flat != ContactShape::planar(b.kind)) {
    const auto& [p, s] = flat ? std::tie(a, b) : std::tie(b, a);
    std::string hint = "planar are: line circle polygon ellipse curve spline";
    for (const auto* shape : {&p, &s})
      if (!shape_index_.count(shape->name) && shape->share == 0 && planar(shape->at.body))
        hint = fmt::format(
            "the solid of planar body `{}` stands for its section; describe a spatial one under `shapes`", shape->name);
    mistakes_.add(at, fmt::format("`{}` is a planar shape and `{}` a spatial one: they cannot touch", p.name, s.name),
                  hint);
    return false;
  }
  if (!flat) return true;
  for (const auto& [shape, other] : {std::pair(&a, &b), std::pair(&b, &a)}) {
    const Quat& q = shape->at.placement.rotation;
    if (shape->at.body >= 0 || !planar(other->at.body) || std::hypot(q.x(), q.y()) <= 1e-9) continue;
    mistakes_.add(shape->source, fmt::format("shape `{}` is turned out of the x-y plane, in which `{}` moves",
                                             shape->name, other->name));
    return false;
  }
  return true;
}

void Loader::contact(const Scope& scope, const YamlNode::Entry& e) {
  Contact c;
  c.name = c.group = scope.prefix + e.key;
  c.source = mistakes_.source(e);
  const Object o(reader_, *e.node, object_spec("contact"), fmt::format("contact `{}`", c.name), scope);
  if (!o.ok()) return;
  const std::size_t before = mistakes_.count();
  PairLaws of_pair;
  const bool lawful = contact_law(o, c, of_pair);
  const std::string way = o.one_of({"between", "among", "within", "gap", "rope"});
  if (way.empty()) return;
  if (between_beams(o, scope)) return beam_contact(o, std::move(c), lawful, of_pair, e);
  if (o.has("beams")) {
    mistakes_.add(*o.find("beams"), "`beams` belongs to a contact between two beams, or `within` one");
    return;
  }
  const YamlNode& n = *o.find(way);
  if (o.has("length") && way != "rope") {
    mistakes_.add(*o.find("length"), "`length` belongs to a `rope`");
    return;
  }
  if (way == "rope") return rope(o, std::move(c), lawful, e);
  if (way == "gap") {
    c.gap = reader_.function(n, o.scope(), o.dimension("gap"));
    if (const YamlNode* slide = o.find("slide")) c.slide = reader_.function(*slide, o.scope(), o.dimension("slide"));
    if (const auto* rigid = std::get_if<RigidContact>(&c.law);
        lawful && rigid != nullptr && !c.slide && (rigid->friction.mu > 0 || rigid->friction.curve))
      mistakes_.add(n, fmt::format("{} has friction but no `slide`", o.what()),
                    "say by `slide` along what it slides, or leave friction out");
    if (!lawful || mistakes_.count() != before) return;
    count_object(e);
    model_.contacts.push_back(std::move(c));
    return;
  }
  if (o.has("slide")) {
    mistakes_.add(*o.find("slide"), "`slide` belongs to a contact written by its `gap`");
    return;
  }

  std::vector<std::pair<int, int>> pairs;
  bool broken = false;
  const bool crowded = crowd_ && lawful && std::holds_alternative<RigidContact>(c.law);
  const auto shape = [&](int i) -> const ContactShape& { return model_.shapes[static_cast<std::size_t>(i)]; };
  bool single = way == "between" && n.kind == YamlNode::Kind::list && n.items.size() == 2 &&
                std::all_of(n.items.begin(), n.items.end(), [](const YamlNode* i) {
                  return i->kind == YamlNode::Kind::scalar && !is_pattern(i->text);
                });
  if (way == "among") {
    const auto names = reader_.names(n);
    if (!names) return;
    const auto all = touching_all(*names, scope);
    broken = mistakes_.count() != before;
    if (crowded && !broken) return crowd_entry(o, std::move(c), true, all, all, n);
    for (std::size_t i = 0; i < all.size(); ++i)
      for (std::size_t k = i + 1; k < all.size(); ++k)
        if (shape(all[i]).at.body != shape(all[k]).at.body) pairs.emplace_back(all[i], all[k]), count_object(e);
  } else {
    if (n.kind != YamlNode::Kind::list || n.items.size() != 2) {
      mistakes_.add(n, "`between` takes two shapes, or two lists of them: [[a, b], [c, d]]");
      return;
    }
    const auto first_names = reader_.names(*n.items[0]), second_names = reader_.names(*n.items[1]);
    if (!first_names || !second_names) return;
    const auto first = touching_all(*first_names, scope), second = touching_all(*second_names, scope);
    broken = mistakes_.count() != before;
    single = single && first.size() <= 1 && second.size() <= 1;  // a beam is a row of points
    if (crowded && !broken && !first.empty() && !second.empty() &&
        !(single && shape(first[0]).at.body == shape(second[0]).at.body))
      return crowd_entry(o, std::move(c), false, first, second, n);
    std::unordered_set<int> in_first(first.begin(), first.end()), in_second(second.begin(), second.end());
    for (const int i : first)
      for (const int k : second) {
        // Two shapes that are in both groups meet twice here, but are one pair.
        if (i > k && in_first.count(k) && in_second.count(i)) continue;
        if (shape(i).at.body != shape(k).at.body) {
          pairs.emplace_back(i, k), count_object(e);
        } else if (single) {
          const int b = shape(i).at.body;
          const std::string on = b < 0 ? "ground" : "body `" + model_.bodies[static_cast<std::size_t>(b)].name + "`";
          mistakes_.add(n, fmt::format("`{}` and `{}` are both on {}", shape(i).name, shape(k).name, on),
                        "shapes of one body cannot touch each other");
          return;
        }
      }
  }
  if (pairs.empty()) {
    // Names that stand for a shape with a mistake of its own leave nothing, and say nothing twice.
    if (!broken && mistakes_.count() == 0)
      mistakes_.add(n, fmt::format("{} has no two shapes on different bodies", o.what()));
    return;
  }
  for (const auto& [i, k] : pairs)
    if (!can_touch(shape(i), shape(k), n)) return;
  if (!lawful || mistakes_.count() != before) return;
  if (!single) {
    // Two shapes meet by the first entry that has them: laws by pair are written before those of a group.
    std::set<std::pair<int, int>> taken;
    for (const Contact& other : model_.contacts) taken.insert(std::minmax(other.first, other.second));
    std::erase_if(pairs, [&](const auto& pair) { return taken.contains(std::minmax(pair.first, pair.second)); });
    if (crowd_) leave_to_crowd(o, pairs, n);
    if (pairs.empty()) {
      mistakes_.add(n, fmt::format("every pair of {} has its law from an entry above", o.what()),
                    "the first one counts");
      return;
    }
  }
  for (const auto& [i, k] : pairs) {
    Contact& one = model_.contacts.emplace_back(c);
    one.first = i;
    one.second = k;
    if (!fit_laws(one, of_pair)) return;
    if (single) continue;
    one.name += "." + local_name(shape(i).name, scope) + "." + local_name(shape(k).name, scope);
    if (!contact_names_.insert(one.name).second)
      mistakes_.add(n, fmt::format("two pairs of {} would both be named `{}`", o.what(), one.name),
                    "give one of the shapes another name");
  }
}

}  // namespace clatter::loading
