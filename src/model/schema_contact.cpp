// The part of the language's table that is about contact: shapes, contacts and their laws.
#include <algorithm>
#include <utility>

#include "laws/table.hpp"
#include "model/schema.hpp"

namespace clatter {

namespace {

using V = ValueType;
using Words = std::vector<std::string>;

// Types of laws with a parameter that is `wanted`.
template <class Wanted>
Words types_with(Wanted&& wanted) {
  Words out;
  for (const laws::LawRow& row : laws::table())
    if (std::any_of(row.parameters.begin(), row.parameters.end(), wanted) &&
        std::find(out.begin(), out.end(), row.type) == out.end())
      out.emplace_back(row.type);
  return out;
}

Words power_laws() {
  return types_with([](const laws::Parameter& p) { return p.of_power; });
}

// What stands between the parts of a list.
void join(std::string& list, std::string_view part, std::string_view between) {
  if (!list.empty()) list += between;
  list += part;
}

KeySpec friction_key() {
  return {"friction",
          V::friction,
          false,
          "1",
          "Coefficient of friction: a number, a formula of the slip speed `v` in m/s, or a block with `static` and "
          "`kinetic`; 0 unless given.",
          "friction"};
}

std::vector<KeySpec> moment_keys() {
  return {{"rolling_friction", V::quantity, false, "m",
           "Moment against rolling, at most this length times the normal force; 0 unless given."},
          {"drilling_friction", V::quantity, false, "m",
           "Moment against spinning about the normal, at most this length times the normal force; 0 unless given. "
           "Spatial contacts only."}};
}

// The key of a parameter of contact laws: units of all of them, and the sentences of those that differ, each with the
// names of its laws. `sentences`: what further types say about it, each with its type in
// backquotes.
KeySpec law_key(std::string_view key, std::vector<std::pair<std::string, std::string>> sentences = {}) {
  KeySpec spec{std::string(key), V::quantity, false, "", ""};
  for (const auto& [names, sentence] : sentences) spec.only.push_back(names.substr(1, names.size() - 2));
  Words units;
  for (const laws::LawRow& row : laws::table()) {
    const laws::Parameter* p = row.find(key);
    if (p == nullptr || !p->in_language) continue;
    if (std::find(units.begin(), units.end(), p->unit) == units.end()) units.emplace_back(p->unit);
    if (std::find(spec.only.begin(), spec.only.end(), row.type) == spec.only.end()) spec.only.emplace_back(row.type);
    const std::string name = "`" + std::string(row.name()) + "`";
    const auto same = std::find_if(sentences.begin(), sentences.end(), [&](auto& s) { return s.second == p->text; });
    if (same == sentences.end())
      sentences.emplace_back(name, p->text);
    else
      join(same->first, name, ", ");
  }
  for (const std::string& unit : units) join(spec.unit, unit, " | ");
  for (const auto& [names, sentence] : sentences)
    join(spec.text, sentences.size() == 1 ? sentence : names + ": " + sentence, " ");
  return spec;
}

KeySpec model_key() {
  KeySpec spec{"model", V::word, false, "", ""};
  for (const laws::LawRow& row : laws::table()) {
    if (row.model[0] == 0) continue;
    spec.words.emplace_back(row.model);
    if (std::find(spec.only.begin(), spec.only.end(), row.type) == spec.only.end()) spec.only.emplace_back(row.type);
    join(spec.text, "`" + std::string(row.model) + "`" + (row.usual_model ? " (the default): " : ": ") + row.text,
         "; ");
  }
  spec.text += ".";
  return spec;
}

KeySpec type_key(const std::string& further = {}) {
  KeySpec spec{"type", V::word, true, "", further};
  for (const std::string& type : laws::types()) {
    spec.words.push_back(type);
    const laws::LawRow& row = *laws::find(type);
    const bool alone = row.model[0] == 0;
    join(spec.text, "`" + type + "`: " + (alone ? row.text : "by its `model`"), "; ");
  }
  spec.text += ".";
  return spec;
}

// Keys of all compliant laws, without `restitution`, which rigid ones have too.
std::vector<KeySpec> compliant_keys() {
  std::vector<KeySpec> keys;
  for (const laws::LawRow& row : laws::table())
    for (const laws::Parameter& p : row.parameters) {
      const bool known = std::any_of(keys.begin(), keys.end(), [&](const KeySpec& k) { return k.name == p.key; });
      if (!known && p.in_language && std::string_view(p.key) != "restitution") keys.push_back(law_key(p.key));
    }
  const std::vector<KeySpec> further{
      {"young",
       V::quantities,
       false,
       "Pa",
       "Instead of `stiffness`: Young's modulus of both bodies, or [first, second]; Hertz's formula then makes it.",
       "",
       {},
       power_laws()},
      {"poisson",
       V::quantities,
       false,
       "1",
       "With `young`: Poisson's ratio of both bodies, or [first, second].",
       "",
       {},
       power_laws()},
      {"radii",
       V::quantities,
       false,
       "m",
       "With `young`: radius of curvature of both surfaces where they touch, or [first, second]; those of circles, "
       "spheres and beams (half their height) unless given, lines and planes being flat.",
       "",
       {},
       power_laws()},
      {"per",
       V::word,
       false,
       "",
       "`sides` of beams: stiffness and damping are for each `point` (the default), or for each m of `length` or m^2 "
       "of `area`, of which a point has its share, so that their number does not matter.",
       "",
       {"point", "length", "area"},
       types_with([](const laws::Parameter& p) { return p.spread; })},
      model_key(),
      {"friction_velocity",
       V::quantity,
       false,
       "m/s",
       "Slip speed at which the smoothed friction has reached its value; chosen by the program unless given.",
       "",
       {},
       laws::types()},
      {"friction_curve",
       V::word,
       false,
       "",
       "How it gets there, with x the part of that speed: `quadratic` 2x - x^2 (the default), `cubic` (3x - x^3)/2, or "
       "`quartic` (3x^2 - x^4)/2, which holds nothing at rest.",
       "",
       {"quadratic", "cubic", "quartic"},
       laws::types()}};
  keys.insert(keys.end(), further.begin(), further.end());
  return keys;
}

// Long because it is a table: a row a key of the language.
ObjectSpec contact_shape() {
  const Words with_points{"polygon", "spline", "polytope"};
  return {
      "contact-shape",
      "A contour or surface on a body. Planar shapes (line, circle, polygon, ellipse, curve, spline) lie in the "
      "x-y plane of their frame and touch planar shapes; the others are spatial and touch spatial ones. `sides` are "
      "points all along a beam, planar or spatial as the beam is.",
      "",
      {{"on", V::place, true, "", "The body, frame of a body, or ground it belongs to."},
       {"type",
        V::word,
        true,
        "",
        "The kind of shape.",
        "",
        {"line", "circle", "polygon", "ellipse", "curve", "spline", "plane", "sphere", "box", "capsule", "cylinder",
         "polytope", "sides"}},
       {"at", V::vector, false, "m", "Where its origin sits in that body or frame."},
       {"rotate", V::rotation, false, "", "How it is turned in that body or frame.", "orientation"},
       {"radius",
        V::quantity,
        false,
        "m",
        "Radius; 0 makes a circle or sphere a point. Sides of cables and spatial beams: half the smaller extent of "
        "the section unless given.",
        "",
        {},
        {"circle", "sphere", "capsule", "cylinder", "sides"}},
       {"length",
        V::quantity,
        false,
        "m",
        "Length along z of a cylinder, or between the centres of a capsule's ends; of a line along x, about the "
        "origin (endless unless given).",
        "",
        {},
        {"line", "capsule", "cylinder"}},
       {"size", V::vector, false, "m", "Edges of a box along x, y, z.", "", {}, {"box"}},
       {"semi_axes", V::quantities, false, "m", "[a, b]: semi-axes along x and y.", "", {}, {"ellipse"}},
       {"points",
        V::points,
        false,
        "m",
        "Polygon: corners [x, y], convex and counter-clockwise; spline: points [x, y] the curve passes through; "
        "polytope: points [x, y, z] whose convex hull it is.",
        "",
        {},
        with_points},
       {"x", V::function, false, "m", "The curve's x as a formula of its parameter `s`.", "", {}, {"curve"}},
       {"y", V::function, false, "m", "The curve's y as a formula of its parameter `s`.", "", {}, {"curve"}},
       {"from", V::quantity, false, "", "`s` at the start of the curve.", "", {}, {"curve"}},
       {"to", V::quantity, false, "", "`s` at the end of the curve.", "", {}, {"curve"}},
       {"closed",
        V::boolean,
        false,
        "",
        "The end is joined to the start (false unless given).",
        "",
        {},
        {"curve", "spline"}},
       {"per_element",
        V::quantity,
        false,
        "1",
        "Points of an element, its ends included, which neighbours share; 5 unless given.",
        "",
        {},
        {"sides"}},
       {"side",
        V::word,
        false,
        "",
        "Of a planar `ancf-beam`: `below` (y < 0 of the section), `above` or `both` (the default).",
        "",
        {"below", "above", "both"},
        {"sides"}},
       {"hollow",
        V::boolean,
        false,
        "",
        "The material is outside (false unless given).",
        "",
        {},
        {"circle", "sphere"}}}};
}

ObjectSpec contact_law() {
  ObjectSpec law{"contact-law",
                 "What two shapes do when they touch: impenetrable bodies (`rigid`), or a force that grows with the "
                 "penetration (all others).",
                 "",
                 {type_key("`rigid`: impenetrable, exact friction, impacts in no time"),
                  friction_key(),
                  law_key("restitution", {{"`rigid`", "Coefficient of restitution, 0 to 1; 0 unless given."}}),
                  {"impact",
                   V::word,
                   false,
                   "",
                   "The impact law: `poisson` (the default; restitution of impulses), `newton` (of velocities; not for "
                   "eccentric impacts with friction) or `moreau`.",
                   "",
                   {"newton", "poisson", "moreau"},
                   {"rigid"}},
                  {"tangential_restitution",
                   V::quantity,
                   false,
                   "1",
                   "Part of the tangential impulse of compression that is given back, 0 to 1; 0 unless given.",
                   "",
                   {},
                   {"rigid"}},
                  {"reversibility",
                   V::quantity,
                   false,
                   "1",
                   "Part of the friction that works reversibly in expansion, 0 to 1, where `tangential_restitution` is "
                   "not 0; 1 unless given.",
                   "",
                   {},
                   {"rigid"}},
                  {"impact_friction",
                   V::quantity,
                   false,
                   "1",
                   "Coefficient of friction in impacts; that of `friction` at rest unless given.",
                   "",
                   {},
                   {"rigid"}},
                  {"smooth",
                   V::object,
                   false,
                   "",
                   "The law that `method: smooth` puts in the place of this one; made from the model's scales unless "
                   "given.",
                   "compliant-law",
                   {},
                   {"rigid"}}}};
  law.keys.front().words.insert(law.keys.front().words.begin(), "rigid");
  for (auto& k : compliant_keys()) law.keys.push_back(std::move(k));
  for (auto& k : moment_keys()) law.keys.push_back(std::move(k));
  return law;
}

ObjectSpec compliant_law() {
  ObjectSpec law{"compliant-law",
                 "A force that grows with the penetration.",
                 "",
                 {type_key(), friction_key(), law_key("restitution")}};
  for (auto& k : compliant_keys()) law.keys.push_back(std::move(k));
  for (auto& k : moment_keys()) law.keys.push_back(std::move(k));
  law.keys[1].text = "As in `contact-law`; that of the rigid law unless given.";
  return law;
}

}  // namespace

std::vector<ObjectSpec> contact_language() {
  return {
      contact_shape(),
      {"contact",
       "Shapes that may touch: the pairs and what happens between them.",
       "",
       {{"between", V::groups, false, "",
         "Two shapes, or two groups of them of which each of the first may touch each of the second. A body with a "
         "`shape` may stand for it, a beam for its sides; `*` and `?` make a name a pattern."},
        {"among", V::names, false, "", "Shapes of which any two on different bodies may touch."},
        {"within", V::name, false, "", "A body of type beam that may touch itself."},
        {"beams", V::object, false, "", "Between beams, or within one: where and how their sides are looked at.",
         "beam-contact"},
        {"gap", V::function, false, "m",
         "Instead of shapes: the gap as a formula of joint coordinates (`slider.displacement`, `pin.angle`) and `t`; "
         "needs `coordinates: joint`."},
        {"slide", V::function, false, "m",
         "With `gap`: the tangential displacement as such a formula; slip is its rate. Without it there is no "
         "friction."},
        {"rope", V::places, false, "",
         "Instead of shapes: two places, on bodies or the ground, that a rope keeps from going farther apart than its "
         "`length`. It pulls and does not push; `method: time-stepping` only.",
         "place"},
        {"length", V::quantity, false, "m", "Of the rope; the distance at the start unless given."},
        {"law", V::object, true, "", "What they do when they touch.", "contact-law"}}},
      {"beam-contact",
       "How beams touch each other: by Gauss points on their sides where they lie on each other, by corners and ends "
       "where they do not.",
       "",
       {{"segments", V::integer, false, "", "Of each element of the first beam, equal parts (3 unless given)."},
        {"gauss", V::integer, false, "", "Points in a segment (3 unless given, 4 where the law is compliant)."},
        {"multiplier",
         V::word,
         false,
         "",
         "Rigid laws: one force for each point (unless given), or one for the mean gap of a segment or of an element's "
         "side. Compliant laws have one at each point.",
         "",
         {"point", "segment", "element"}},
        {"touch",
         V::word,
         false,
         "",
         "By lines where the angle between the beams is small and by points elsewhere (unless given), or one of the "
         "two "
         "always.",
         "",
         {"automatic", "points", "lines"}},
        {"least_angle", V::quantity, false, "rad", "Beams that meet at less lie on each other (2 deg unless given)."},
        {"line_stiffness", V::quantity, false, "N/m^3",
         "Compliant laws: pressure by penetration along a side (the law's stiffness over height and depth unless "
         "given)."},
        {"radius", V::quantity, false, "m", "Of cables and of beams in space, which touch as round ones."}}},
      contact_law(),
      compliant_law(),
      {"friction",
       "Friction that falls from rest to sliding: kinetic + (static - kinetic) exp(-v/velocity) for the slip speed "
       "v.",
       "a number, or a formula of `v`: `0.2 + 0.1*exp(-v/0.1)`",
       {{"static", V::quantity, true, "1", "Coefficient at rest."},
        {"kinetic", V::quantity, true, "1", "Coefficient in fast sliding."},
        {"velocity", V::quantity, true, "m/s", "Slip speed over which it falls."}}}};
}

}  // namespace clatter
