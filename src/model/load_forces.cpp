// Loads, force elements and the laws they share with elastic joint components.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "model/loader.hpp"
#include "model/quantities.hpp"

namespace clatter::loading {

// --- laws ------------------------------------------------------------------------------------------------------------

std::optional<PlayLaw> Loader::play(const Object& o, bool rotational) {
  const int unit = rotational ? 1 : 0;
  const std::size_t before = mistakes_.count();
  PlayLaw p;
  p.has_lower = o.has("lower");
  p.has_upper = o.has("upper");
  if (!p.has_lower && !p.has_upper) mistakes_.add(o.node(), fmt::format("{} needs `lower`, `upper` or both", o.what()));
  p.lower = o.number_or("lower", 0, unit);
  p.upper = o.number_or("upper", 0, unit);
  if (p.has_lower && p.has_upper && p.lower > p.upper && mistakes_.count() == before)
    o.mistake("upper", fmt::format("`upper` ({:.6g}) lies below `lower` ({:.6g})", p.upper, p.lower));
  if (o.require("stiffness")) p.stiffness = o.number_or("stiffness", 0, unit);
  p.damping = o.number_or("damping", 0, unit);
  if (const auto w = o.word("law"))
    p.kind =
        *w == "elastic" ? PlayLaw::Kind::elastic : (*w == "clipped" ? PlayLaw::Kind::clipped : PlayLaw::Kind::damped);
  if (mistakes_.count() != before) return {};
  return p;
}

std::optional<TableLaw> Loader::table(const Object& o, bool rotational) {
  const YamlNode& n = *o.find("table");
  TableLaw t;
  if (n.kind != YamlNode::Kind::list || n.items.size() < 2) {
    mistakes_.add(n, "a table has at least two points: [[deformation, force], ...]");
    return {};
  }
  const Dimension e_unit = dimension_of(rotational ? "rad" : "m"), s_unit = dimension_of(rotational ? "N*m" : "N");
  const std::size_t before = mistakes_.count();
  for (const YamlNode* row : n.items) {
    if (row->kind != YamlNode::Kind::list || row->items.size() != 2) {
      mistakes_.add(*row, "a point of the table is [deformation, force]");
      continue;
    }
    const auto e = reader_.number(*row->items[0], o.scope(), e_unit);
    const auto s = reader_.number(*row->items[1], o.scope(), s_unit);
    if (!e || !s) continue;
    if (!t.e.empty() && !(*e > t.e.back())) mistakes_.add(*row->items[0], "the deformations of a table must increase");
    t.e.push_back(*e);
    t.sigma.push_back(*s);
  }
  if (mistakes_.count() != before) return {};
  t.smooth = o.boolean("smooth").value_or(true);
  t.damping = o.number_or("damping", 0, rotational ? 1 : 0);
  return t;
}

std::optional<Law> Loader::law(const Object& o, bool rotational, const std::string& rest_key, double rest) {
  const int unit = rotational ? 1 : 0;
  const std::size_t before = mistakes_.count();
  const bool has_play = o.node().find("play") != nullptr;
  std::vector<std::string> ways;
  for (const char* way : {"stiffness", "table", "formula"})
    if (o.has(way)) ways.emplace_back(way);
  if (has_play) ways.emplace_back("play");
  if (ways.size() > 1) {
    o.mistake(ways[1], fmt::format("`{}` and `{}` exclude each other in {}", ways[0], ways[1], o.what()));
    return {};
  }
  if (ways.empty() && !o.has("damping")) {
    mistakes_.add(o.node(), fmt::format("{} needs one of `stiffness`, `damping`, `table`, `formula`", o.what()));
    return {};
  }
  const std::string way = ways.empty() ? "stiffness" : ways[0];
  const auto forbid = [&](const char* key) {
    if (o.has(key)) o.mistake(key, fmt::format("`{}` does not go with `{}` in {}", key, way, o.what()));
  };
  if (way != "table") forbid("smooth");
  if (way != "stiffness") forbid("tension_only"), forbid("compression_only");
  if (way == "play" || way == "formula") {
    forbid("damping");
    if (o.has(rest_key)) o.mistake(rest_key, fmt::format("`{}` does not go with `{}` in {}", rest_key, way, o.what()));
  }
  if (mistakes_.count() != before) return {};
  const auto given_rest = o.number(rest_key, unit);

  if (way == "stiffness") {
    LinearLaw l;
    l.stiffness = o.number_or("stiffness", 0, unit);
    l.damping = o.number_or("damping", 0, unit);
    l.rest = given_rest.value_or(rest);
    l.tension_only = o.boolean("tension_only").value_or(false);
    l.compression_only = o.boolean("compression_only").value_or(false);
    if (l.tension_only && l.compression_only)
      o.mistake("compression_only", "`tension_only` and `compression_only` exclude each other");
    if (mistakes_.count() != before) return {};
    return l;
  }
  if (way == "table") {
    auto t = table(o, rotational);
    if (!t) return {};
    for (double& e : t->e) e += given_rest.value_or(0);
    return std::move(*t);
  }
  if (way == "formula") {
    const Dimension e = dimension_of(rotational ? "rad" : "m"), de = dimension_of(rotational ? "rad/s" : "m/s");
    auto f = reader_.function(*o.find("formula"), o.scope(), o.dimension("formula", unit), {{"e", e}, {"de", de}});
    if (!f) return {};
    return FormulaLaw{std::move(*f)};
  }
  const Object p(reader_, *o.find("play"), object_spec("play"), fmt::format("the play of {}", o.what()), o.scope());
  if (!p.ok()) return {};
  auto l = play(p, rotational);
  if (!l) return {};
  return *l;
}

// --- forces ----------------------------------------------------------------------------------------------------------

void Loader::force(const Scope& scope, const YamlNode::Entry& e) {
  const std::string name = scope.prefix + e.key;
  const Object o(reader_, *e.node, object_spec("force"), fmt::format("force `{}`", name), scope);
  if (!o.ok()) return;
  const auto type = o.word("type");
  if (!type) return;
  o.check_type(*type);
  if (*type == "force" || *type == "torque") {
    Load l;
    l.name = name;
    l.source = mistakes_.source(e);
    l.torque = *type == "torque";
    load(o, std::move(l));
  } else if (*type == "pressure") {
    pressure(o, name, mistakes_.source(e));
  } else {
    ForceElement f;
    f.name = name;
    f.source = mistakes_.source(e);
    element(o, std::move(f), *type);
  }
}

void Loader::pressure(const Object& o, const std::string& name, const Source& source) {
  const std::size_t before = mistakes_.count();
  std::optional<Attachment> on;
  if (o.require("on", "the beam it acts on")) on = named_place(*o.find("on"), o.scope());
  o.require("side", "`below` or `above`");
  const std::string side = o.word("side").value_or("below");
  std::optional<Function> value;
  if (o.require("pressure", "a number or a function of t"))
    value = reader_.function(*o.find("pressure"), o.scope(), o.dimension("pressure"), {}, false);
  if (mistakes_.count() != before || !on || !value) return;
  Body* b = on->body < 0 ? nullptr : &model_.bodies[static_cast<std::size_t>(on->body)];
  const bool beam = b != nullptr && b->beam && b->beam->planar && b->beam->element == BeamSource::Element::beam;
  if (b != nullptr && is_beam(b->kind) && !b->beam) return;  // its own mistake has been reported
  if (!beam || !on->marker.empty())
    o.mistake("on", fmt::format("{} acts on a side of a planar beam of `element: ancf-beam`, and `{}` is none",
                                o.what(), on->label));
  else if (!(b->beam->size_y > 0 && b->beam->size_z > 0))
    o.mistake("on", fmt::format("beam `{}` has no height and width: its `section` is not given", b->name));
  if (mistakes_.count() != before) return;
  auto changed = std::make_shared<BeamSource>(*b->beam);
  BeamSource::Pressure p;
  p.name = name;
  p.source = source;
  p.above = side == "above";
  p.value = std::move(*value);
  changed->pressures.push_back(std::move(p));
  b->beam = std::move(changed);
}

void Loader::load(const Object& o, Load l) {
  const std::size_t before = mistakes_.count();
  if (o.require("on", "the place it acts on"))
    if (auto a = place(*o.find("on"), o.scope())) l.at = std::move(*a);
  if (const YamlNode* n = o.find("reaction"))
    if (auto a = place(*n, o.scope())) l.reaction = std::move(*a);
  if (mistakes_.count() == before && l.reaction && l.reaction->body == l.at.body)
    o.mistake("reaction", fmt::format("{} acts and reacts on the same body", o.what()));
  l.follower = o.word("axes").value_or("world") == "body";
  if (mistakes_.count() == before && !l.torque && !l.follower && planar(l.at.body) && o.has("components")) {
    const YamlNode& n = *o.find("components");
    if (n.kind == YamlNode::Kind::list && n.items.size() == 3 && n.items[2]->text != "0")
      mistakes_.add(*n.items[2], fmt::format("{} acts on a planar body: it has no z component", o.what()));
  }
  if (!o.require("components", "[x, y, z], numbers or functions of t")) return;
  const YamlNode& n = *o.find("components");
  const Dimension unit = o.dimension("components", l.torque ? 1 : 0);
  for (auto& c : l.component) c.source = mistakes_.source(n);
  const auto read = [&](const YamlNode& item, int i) {
    if (auto f = reader_.function(item, o.scope(), unit)) l.component[i] = std::move(*f);
  };
  if (n.kind == YamlNode::Kind::list) {
    if (n.items.size() != 3 && (n.items.size() != 2 || l.torque)) {
      mistakes_.add(n, fmt::format("`components` takes [x, y, z], these are {}", n.items.size()));
      return;
    }
    for (std::size_t i = 0; i < n.items.size(); ++i) read(*n.items[i], static_cast<int>(i));
    if (mistakes_.count() == before && l.torque && planar(l.at.body))
      for (std::size_t i = 0; i < 2; ++i)
        if (!l.component[i].is_constant() || l.component[i].constant != 0)
          mistakes_.add(*n.items[i], fmt::format("{} acts on a planar body: it is about z only", o.what()));
  } else if (l.torque) {
    if (!planar(l.at.body) && mistakes_.count() == before)
      mistakes_.add(n, "a torque on a spatial body has three components [x, y, z]");
    read(n, 2);
  } else {
    mistakes_.add(n, "a force has components [x, y, z], in the plane [x, y]");
  }
  if (mistakes_.count() == before) model_.loads.push_back(std::move(l));
}

// What the element measures. `start` is the deformation at the start where the poses tell it, else NaN.
bool Loader::deformation(const Object& o, ForceElement& f, const std::string& type, bool& rotational, double& start) {
  start = std::nan("");
  rotational = type == "torsion-spring";
  const std::string way = o.one_of({"between", "joint", "quantity"});
  if (way.empty()) return false;
  if (way != "between" && o.has("along")) {
    o.mistake("along", "`along` goes with `between`");
    return false;
  }
  if (way == "joint") {
    const YamlNode& n = *o.find("joint");
    if (!reader_.text(n, "the name of a joint")) return false;
    const int i = find_joint(n, o.scope());
    if (i < 0) return false;
    const Joint& j = model_.joints[static_cast<std::size_t>(i)];
    const JointKindInfo& kind = joint_kind(j.kind);
    const bool turns = kind.leaves("angle"), slides = kind.leaves("displacement");
    if (type == "torsion-spring" ? !turns : (!turns && !slides)) {
      mistakes_.add(n, fmt::format("joint `{}` has no single angle or displacement", n.text),
                    "name a `quantity`, or the places in `between`");
      return false;
    }
    // A cylindrical joint has both: a torsion spring takes the angle, the others the displacement.
    rotational = type == "torsion-spring" || !slides;
    f.kind = ForceElement::Kind::coordinate;
    f.quantity = j.name + (rotational ? ".angle" : ".displacement");
    start = 0;
    return true;
  }
  if (way == "quantity") {
    const auto q = o.text("quantity");
    if (!q) return false;
    f.kind = ForceElement::Kind::coordinate;
    f.quantity = Reader::full_name(*q, o.scope());
    reader_.uses.push_back({f.quantity, mistakes_.source(*o.find("quantity"))});
    const auto d = quantity_dimension(f.quantity);
    rotational = rotational || (d && d->dimensionless());
    return true;
  }
  auto places = two_places(o);
  if (!places) return false;
  f.a = std::move(places->first);
  f.b = std::move(places->second);
  const std::string along = o.word("along").value_or(type == "torsion-spring" ? "angle" : "distance");
  if (type == "torsion-spring" && along != "angle") {
    o.mistake("along", "a torsion spring acts about z of its first place: `angle`");
    return false;
  }
  if (along == "angle") {
    f.kind = ForceElement::Kind::angle;
    rotational = true;
    return true;
  }
  const auto a = start_pose(f.a), b = start_pose(f.b);
  if (along == "distance") {
    f.kind = ForceElement::Kind::distance;
    if (a && b) start = (b->position - a->position).norm();
    return true;
  }
  f.kind = ForceElement::Kind::coordinate;
  f.axis = along[0] - 'x';
  if (a && b) start = (a->rotation.conjugate() * (b->position - a->position))[f.axis];
  return true;
}

void Loader::element(const Object& o, ForceElement f, const std::string& type) {
  const std::size_t before = mistakes_.count();
  bool rotational = false;
  double start = 0;
  if (!deformation(o, f, type, rotational, start)) return;
  if (type == "play") {
    if (const auto p = play(o, rotational)) f.law = *p;
  } else if (type == "actuator") {
    ActuatorLaw a;
    if (o.require("command", "a function of t and quantities"))
      if (auto c = reader_.function(*o.find("command"), o.scope(), {})) a.command = std::move(*c);
    if (o.require("time_constant")) a.time_constant = o.positive("time_constant").value_or(1);
    a.gain = o.number_or("gain", 1);
    a.initial = o.number_or("initial", 0);
    f.law = std::move(a);
  } else {
    std::string rest_key = "rest";
    if (o.has("length")) {
      rest_key = "length";
      if (o.has("rest")) o.mistake("rest", "`length` and `rest` exclude each other");
      if (f.kind != ForceElement::Kind::distance)
        o.mistake("length", "`length` is for a spring along the distance", "use `rest`");
      else
        o.not_negative("length");
    }
    const bool linear = o.has("stiffness") && !o.has("table") && !o.has("formula");
    const bool free_length = f.kind == ForceElement::Kind::distance && linear && !o.has("rest") && !o.has("length");
    if (free_length && std::isnan(start))
      o.require("length", "its places have no position from which to take the length at the start");
    if (mistakes_.count() != before) return;
    if (auto l = law(o, rotational, rest_key, free_length ? start : 0)) f.law = std::move(*l);
  }
  if (mistakes_.count() == before) model_.force_elements.push_back(std::move(f));
}

}  // namespace clatter::loading
