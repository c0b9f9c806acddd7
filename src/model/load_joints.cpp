// Joints. A joint is given by two places (frames of bodies), or by two bodies and a point `at` of the world
// at the start: then both joint frames are put there, so that every joint coordinate starts at zero.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "model/loader.hpp"
#include "model/quantities.hpp"

namespace clatter::loading {

namespace {

// Joints about or along one axis call rz `angle` and z `displacement`.
std::string own_name(const std::string& component, const std::vector<std::string>& free) {
  const auto has = [&](const char* n) { return std::find(free.begin(), free.end(), n) != free.end(); };
  if (component == "rz" && has("angle")) return "angle";
  if (component == "z" && has("displacement")) return "displacement";
  return component;
}

}  // namespace

void Loader::joint(const Scope& scope, const YamlNode::Entry& e) {
  Joint j;
  j.name = scope.prefix + e.key;
  j.source = mistakes_.source(e);
  const Object o(reader_, *e.node, object_spec("joint"), fmt::format("joint `{}`", j.name), scope);
  const auto type = o.ok() ? o.word("type") : std::nullopt;
  if (type) {
    o.check_type(*type);
    j.kind = joint_kind(*type)->kind;
    const std::size_t before = mistakes_.count();
    if (j.kind == JointKind::gear || j.kind == JointKind::rack_pinion || j.kind == JointKind::coordinate) {
      if (o.has("between"))
        o.mistake("between", fmt::format("a `{}` takes no `between`", *type),
                  j.kind == JointKind::coordinate ? "it takes a `quantity`" : "it takes two `joints`");
    } else {
      // Places may be missing without a mistake of the joint's own: those of a body that is wrong itself.
      if (joint_places(o, j) && mistakes_.count() == before) joint_axes(o, j);
    }
    joint_components(o, j, *type);
    joint_start(o, j);
    joint_extras(o, j);
    joint_friction(o, j, *type);
    joint_play(o, j, *type);
    if (const auto w = o.word("coordinates")) j.in_tree = *w == "joint";
  }
  joint_index_.emplace(j.name, static_cast<int>(model_.joints.size()));
  model_.joints.push_back(std::move(j));
}

bool Loader::joint_places(const Object& o, Joint& j) {
  auto places = two_places(o);
  if (!places) return false;
  j.a = std::move(places->first);
  j.b = std::move(places->second);
  const Scope& scope = o.scope();
  const auto axis = o.direction("axis");
  const auto axis2 = o.direction("axis2");
  if ((o.has("axis") && !axis) || (o.has("axis2") && !axis2)) return false;
  if (axis2 && axis2->cross(axis.value_or(Vec3::UnitZ())).norm() < 1e-9) {
    o.mistake("axis2", "`axis2` is parallel to `axis`");
    return false;
  }
  if (j.kind == JointKind::universal && axis && axis2 && std::abs(axis->dot(*axis2)) > 1e-6) {
    o.mistake("axis2", "the two axes of a universal joint must be perpendicular");
    return false;
  }
  const Quat axes = axis || axis2 ? axes_along(axis.value_or(Vec3::UnitZ()), axis2) : Quat::Identity();
  if (!o.has("at")) {
    j.a.placement.rotation = j.a.placement.rotation * axes;
    j.b.placement.rotation = j.b.placement.rotation * axes;
    return true;
  }

  if (j.kind == JointKind::distance) {
    o.mistake("at", "a distance joint joins two different points",
              "give places: between: [{on: a, at: [..]}, {on: b, at: [..]}]");
    return false;
  }
  const auto at = o.vector("at");
  if (!at) return false;
  const Placement world = scope.placement * Placement{*at, axes};
  for (Attachment* side : {&j.a, &j.b}) {
    const bool whole = side->body < 0 ? side->label == "ground"
                                      : side->label == model_.bodies[static_cast<std::size_t>(side->body)].name;
    if (!whole) {
      mistakes_.add(side->source,
                    fmt::format("`{}` is a frame, but {} is given by a point `at`", side->label, o.what()),
                    "name the bodies only, or leave out `at`");
      return false;
    }
    Placement pose;
    if (side->body >= 0) {
      const Body& b = model_.bodies[static_cast<std::size_t>(side->body)];
      if (!b.pose) {
        mistakes_.add(side->source,
                      fmt::format("body `{}` has no position, which a joint given by a point `at` needs", b.name),
                      "give its `position`, or name frames in `between`");
        return false;
      }
      pose = *b.pose;
    }
    side->placement = pose.inverse() * world;
  }
  const bool flat = (planar(j.a.body) || j.a.body < 0) && (planar(j.b.body) || j.b.body < 0);
  if (joint_kind(j.kind).needs_axis && !(flat && j.kind == JointKind::revolute))
    o.require("axis", "a direction: x, y, z or [x, y, z]");
  if (j.kind == JointKind::universal) o.require("axis2", "the second axis of the universal joint");
  return true;
}

// Between planar bodies the joint must leave the plane alone.
void Loader::joint_axes(const Object& o, Joint& j) {
  const bool a_flat = planar(j.a.body), b_flat = planar(j.b.body);
  if (!(a_flat || j.a.body < 0) || !(b_flat || j.b.body < 0)) return;
  if (!a_flat && !b_flat) return;  // ground alone, or with a body that was refused
  const std::string type = o.word("type").value_or("");
  const std::string& name = model_.bodies[static_cast<std::size_t>(a_flat ? j.a.body : j.b.body)].name;
  if (!joint_kind(type)->in_plane) {
    o.mistake("type", fmt::format("a `{}` joint is for spatial bodies; `{}` is planar", type, name),
              "in the plane: revolute, prismatic, fixed, distance, point-on-curve, bushing, slip");
    return;
  }
  for (const Attachment* side : {&j.a, &j.b}) {
    const Vec3 z = side->placement.rotation * Vec3::UnitZ();
    const char* key = o.has("axis") ? "axis" : "type";
    if (j.kind == JointKind::revolute && z.head<2>().norm() > 1e-9) {
      o.mistake(key, fmt::format("planar body `{}` can only rotate about z", name));
      return;
    }
    if ((j.kind == JointKind::prismatic || j.kind == JointKind::slip) && std::abs(z.z()) > 1e-9) {
      o.mistake(key, fmt::format("planar body `{}` can only slide in the x-y plane", name),
                "give the direction in the plane: `axis: x`");
      return;
    }
  }
}

std::optional<Status> Loader::driven(const YamlNode& n, const Scope& scope, const std::optional<Dimension>& unit) {
  auto f = reader_.function(n, scope, unit, {}, false);
  if (!f) return {};
  return Status(Driven{std::move(*f)});
}

// `drive` or `elastic` of a joint with a single component to mean.
void Loader::only_component(const Object& o, Joint& j, const std::string& type) {
  const auto& free = joint_kind(type)->free;
  const char* key = o.has("drive") ? "drive" : "elastic";
  if (o.has("drive") && o.has("elastic")) o.mistake("elastic", "`drive` and `elastic` exclude each other");
  std::string component;
  bool rotation = false;
  std::optional<Dimension> unit = dimension_of("m");
  if (free.size() == 1) {
    component = free[0];
    rotation = is_rotation(component);
    if (rotation) unit = dimension_of("rad");
  } else if (j.kind == JointKind::distance) {
    component = "distance";
  } else if (j.kind == JointKind::coordinate) {
    component = "coordinate";
    const auto text = o.text("quantity");
    unit = text ? quantity_dimension(*text) : std::nullopt;
    rotation = unit && unit->dimensionless();
  }
  if (component.empty()) {
    o.mistake(key, fmt::format("a `{}` joint has {} free components; say which one", type, free.size()),
              "write components: {rz: {" + std::string(key) + ": ...}}");
  } else if (key == std::string("drive")) {
    if (auto s = driven(*o.find("drive"), o.scope(), unit))
      j.components.push_back({component, std::move(*s), o.key_source("drive")});
  } else {
    const Object l(reader_, *o.find("elastic"), object_spec("law"), fmt::format("`elastic` of {}", o.what()),
                   o.scope());
    if (l.ok())
      if (auto s = law(l, rotation, "rest", 0))
        j.components.push_back({component, Elastic{std::move(*s)}, o.key_source("elastic")});
  }
}

void Loader::joint_components(const Object& o, Joint& j, const std::string& type) {
  const auto& free = joint_kind(type)->free;
  if (o.has("drive") || o.has("elastic")) only_component(o, j, type);
  const YamlNode* n = o.find("components");
  if (!n) return;
  if (j.kind == JointKind::gear || j.kind == JointKind::rack_pinion || j.kind == JointKind::coordinate ||
      j.kind == JointKind::slip || j.kind == JointKind::distance || j.kind == JointKind::point_on_curve) {
    o.mistake("components", fmt::format("a `{}` has no components", type));
    return;
  }
  std::vector<const YamlNode::Entry*> entries;
  append(entries, *n, "components");
  std::vector<std::string> names{"x", "y", "z", "rx", "ry", "rz"};
  for (const auto& f : free)
    if (f == "angle" || f == "displacement") names.push_back(f);
  for (const auto* e : entries) {
    const Source at = mistakes_.source(*e);
    if (std::find(names.begin(), names.end(), e->key) == names.end()) {
      std::string hint = did_you_mean(e->key, names);
      if (hint.empty()) {
        hint = "components:";
        for (const auto& name : names) hint += " " + name;
      }
      mistakes_.add(at, fmt::format("{} has no component `{}`", o.what(), e->key), hint);
      continue;
    }
    const std::string name = own_name(e->key, free);
    if (std::any_of(j.components.begin(), j.components.end(),
                    [&](const JointComponent& c) { return c.name == name; })) {
      mistakes_.add(at, fmt::format("component `{}` of {} is given twice", name, o.what()));
      continue;
    }
    const bool flat = (planar(j.a.body) && (planar(j.b.body) || j.b.body < 0)) || (planar(j.b.body) && j.a.body < 0);
    if (flat && (e->key == "z" || e->key == "rx" || e->key == "ry") && j.kind == JointKind::bushing) {
      mistakes_.add(at, fmt::format("planar bodies do not move along `{}`", e->key), "in the plane: x, y, rz");
      continue;
    }
    const bool rotation = is_rotation(name);
    if (e->node->kind == YamlNode::Kind::scalar) {
      const auto w = reader_.word(*e->node, {"free", "rigid"}, "the status of a component");
      if (w) j.components.push_back({name, *w == "free" ? Status(Free{}) : Status(Rigid{}), at});
      continue;
    }
    const Object c(reader_, *e->node, object_spec("component"), fmt::format("component `{}` of {}", e->key, o.what()),
                   o.scope());
    if (!c.ok()) continue;
    if (c.has("drive")) {
      if (c.node().entries.size() > 1) mistakes_.add(*e->node, "a driven component has no other keys than `drive`");
      if (auto s = driven(*c.find("drive"), o.scope(), dimension_of(rotation ? "rad" : "m")))
        j.components.push_back({name, std::move(*s), at});
    } else if (auto l = law(c, rotation, "rest", 0)) {
      j.components.push_back({name, Elastic{std::move(*l)}, at});
    }
  }
}

void Loader::joint_start(const Object& o, Joint& j) {
  const auto type = o.word("type").value_or("fixed");
  const auto& free = joint_kind(type)->free;
  const auto has_rotation = std::count_if(free.begin(), free.end(), is_rotation);
  const auto values = [&](const char* key, std::size_t count, bool allowed) -> std::vector<double> {
    const YamlNode* n = o.find(key);
    std::vector<double> zeros(count, 0.0);
    if (!n) return zeros;
    if (!allowed || count == 0) {
      o.mistake(key, fmt::format("a `{}` joint has no `{}` at the start", type, key));
      return zeros;
    }
    const auto x = reader_.list(*n, o.scope(), o.dimension(key));
    if (!x) return zeros;
    if (x->size() != count) {
      mistakes_.add(*n, fmt::format("`{}` of a `{}` joint takes {} number{}, not {}", key, type, count,
                                    count == 1 ? "" : "s", x->size()));
      return zeros;
    }
    return *x;
  };
  const auto turns = static_cast<std::size_t>(has_rotation);
  const auto d = values("displacement", free.size() - turns, j.kind != JointKind::bushing);
  const auto a = values("angle", turns, j.kind != JointKind::bushing);
  if (o.has("displacement") || o.has("angle")) {
    j.position = d;
    j.position.insert(j.position.end(), a.begin(), a.end());
  }
  const YamlNode* rate = o.find("rate");
  if (!rate) return;
  if (free.empty() || j.kind == JointKind::bushing) {
    o.mistake("rate", fmt::format("a `{}` joint has no `rate` at the start", type));
    return;
  }
  std::vector<const YamlNode*> items;
  if (rate->kind == YamlNode::Kind::list)
    items = rate->items;
  else
    items.push_back(rate);
  if (items.size() != free.size()) {
    mistakes_.add(*rate, fmt::format("`rate` of a `{}` joint takes {} number{}, not {}", type, free.size(),
                                     free.size() == 1 ? "" : "s", items.size()));
    return;
  }
  for (std::size_t i = 0; i < items.size(); ++i)
    j.velocity.push_back(
        reader_.number(*items[i], o.scope(), dimension_of(is_rotation(free[i]) ? "rad/s" : "m/s")).value_or(0));
}

int Loader::find_joint(const YamlNode& name, const Scope& scope) {
  const auto it = joint_index_.find(Reader::full_name(name.text, scope));
  if (it != joint_index_.end()) return it->second;
  std::vector<std::string> known;
  for (const auto& j : model_.joints)
    known.push_back(!scope.prefix.empty() && j.name.starts_with(scope.prefix) ? j.name.substr(scope.prefix.size())
                                                                              : j.name);
  mistakes_.add(name, fmt::format("there is no joint `{}`", name.text), did_you_mean(name.text, known));
  return -1;
}

void Loader::joint_extras(const Object& o, Joint& j) {
  if (j.kind == JointKind::screw) {
    if (o.require("pitch", "displacement for each radian")) j.pitch = o.number_or("pitch", 0);
  }
  if (j.kind == JointKind::distance && o.has("length")) j.length = o.positive("length");
  if (j.kind == JointKind::coordinate && o.require("quantity", "the quantity to hold or drive: rod.position.x")) {
    if (const auto q = o.text("quantity")) {
      j.first = Reader::full_name(*q, o.scope());
      reader_.uses.push_back({j.first, mistakes_.source(*o.find("quantity"))});
    }
  }
  if (j.kind == JointKind::gear || j.kind == JointKind::rack_pinion) {
    const bool rack = j.kind == JointKind::rack_pinion;
    if (const auto ratio = o.number("ratio", rack ? 1 : 0))
      j.ratio = *ratio;
    else if (!o.has("ratio"))
      o.require("ratio",
                rack ? "displacement for each radian: the pinion's radius" : "angle1 + ratio*angle2 stays constant");
    if (!o.require("joints", "the two joints it couples")) return;
    const auto names = reader_.names(*o.find("joints"));
    if (!names) return;
    if (names->size() != 2) {
      mistakes_.add(*o.find("joints"), "`joints` takes a list of two joints");
      return;
    }
    // Couplings may stand before the joints they couple.
    const auto joint_name = [&](const YamlNode* n, bool rotation) {
      couplings_.push_back({n, &o.scope(), rotation});
      return Reader::full_name(n->text, o.scope());
    };
    j.first = joint_name((*names)[0], !rack);
    j.second = joint_name((*names)[1], true);
    if (j.first == j.second) mistakes_.add(*(*names)[1], fmt::format("{} couples `{}` to itself", o.what(), j.first));
  }
  if (j.kind == JointKind::point_on_curve && o.require("curve", "circle, ellipse, line or formula")) {
    const Object c(reader_, *o.find("curve"), object_spec("curve"), fmt::format("the curve of {}", o.what()),
                   o.scope());
    if (!c.ok()) return;
    const std::string way = c.one_of({"circle", "ellipse", "line", "formula"});
    if (way == "circle") {
      j.curve.kind = Curve::Kind::circle;
      j.curve.a = j.curve.b = c.positive("circle").value_or(1);
    } else if (way == "ellipse") {
      j.curve.kind = Curve::Kind::ellipse;
      const YamlNode& n = *c.find("ellipse");
      const auto ab = reader_.list(n, o.scope(), dimension_of("m"));
      if (ab && (ab->size() != 2 || !((*ab)[0] > 0) || !((*ab)[1] > 0)))
        mistakes_.add(n, "an ellipse has two positive semi-axes [a, b]");
      else if (ab)
        j.curve.a = (*ab)[0], j.curve.b = (*ab)[1];
    } else if (way == "line") {
      j.curve.kind = Curve::Kind::line;
      if (c.boolean("line") == false) c.mistake("line", "a line is given by `line: true`");
    } else if (way == "formula") {
      j.curve.kind = Curve::Kind::formula;
      const Dimension m = dimension_of("m");
      const auto f = reader_.function(*c.find("formula"), o.scope(), {}, {{"x", m}, {"y", m}}, false, false);
      if (f && !f->expression) mistakes_.add(*c.find("formula"), "this is no curve: it depends neither on x nor on y");
      if (f) j.curve.formula = f->expression;
    }
  }
}

void Loader::check_couplings() {
  for (const auto& c : couplings_) {
    const int i = find_joint(*c.name, *c.scope);
    if (i < 0) continue;
    const JointKindInfo& kind = joint_kind(model_.joints[static_cast<std::size_t>(i)].kind);
    if (c.rotation && !kind.has("angle"))
      mistakes_.add(*c.name, fmt::format("joint `{}` has no angle", c.name->text),
                    "revolute, cylindrical and screw joints have");
    if (!c.rotation && !kind.has("displacement"))
      mistakes_.add(*c.name, fmt::format("joint `{}` has no displacement", c.name->text),
                    "prismatic, cylindrical and screw joints have; a rack names the sliding joint first");
  }
}

}  // namespace clatter::loading
