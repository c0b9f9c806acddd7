// Contacts between beams: `between` two bodies of type beam, or `within` one that touches itself (Y-16 to Y-22).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/beam.hpp"
#include "model/loader.hpp"

namespace clatter::loading {

namespace {

// Shapes that a name stands for come first; so does a body that is no beam.
constexpr int kNoBeam = -1;

}  // namespace

int Loader::beam_named(const YamlNode& n, const Scope& scope) const {
  if (n.kind != YamlNode::Kind::scalar) return kNoBeam;
  for (const Scope* s = &scope; s; s = s->outer) {
    const std::string full = s->prefix + n.text;
    if (shape_index_.count(full)) return kNoBeam;
    if (const auto it = body_index_.find(full); it != body_index_.end())
      return is_beam(model_.bodies[static_cast<std::size_t>(it->second)].kind) ? it->second : kNoBeam;
  }
  return kNoBeam;
}

bool Loader::between_beams(const Object& o, const Scope& scope) const {
  if (o.has("within")) return true;
  const YamlNode* n = o.find("between");
  return n != nullptr && n->kind == YamlNode::Kind::list && n->items.size() == 2 &&
         std::all_of(n->items.begin(), n->items.end(),
                     [&](const YamlNode* i) { return beam_named(*i, scope) != kNoBeam; });
}

// What a beam's section is for contact: height and depth of an outline, or a radius.
bool Loader::beam_skin(const YamlNode& at, int body, double& radius) {
  const Body& b = model_.bodies[static_cast<std::size_t>(body)];
  if (!b.beam) return false;  // with a mistake of its own
  const BeamSource& s = *b.beam;
  if (s.planar && s.element == BeamSource::Element::beam) {
    if (s.size_y > 0 && s.size_z > 0) return true;
    mistakes_.add(at, fmt::format("the section of beam `{}` has no size to touch with", b.name),
                  "give its `section`, such as {rectangle: [10 mm, 20 mm]}");
    return false;
  }
  if (radius > 0) return true;
  if (!(s.size_y > 0)) {
    mistakes_.add(at, fmt::format("the section of beam `{}` has no size to touch with", b.name),
                  "give its `section`, or a `radius` under `beams`");
    return false;
  }
  if (!s.planar && std::abs(s.size_y - s.size_z) > 1e-9 * s.size_y) {
    mistakes_.add(at,
                  fmt::format("beams in space touch each other as round ones, and the section of `{}` is not", b.name),
                  "give the `radius` to touch with under `beams`");
    return false;
  }
  radius = 0.5 * s.size_y;
  return true;
}

void Loader::beam_contact(const Object& o, Contact c, bool lawful, const PairLaws& of_pair, const YamlNode::Entry& e) {
  const Scope& scope = o.scope();
  const std::size_t before = mistakes_.count();
  const bool within = o.has("within");
  const YamlNode& n = *o.find(within ? "within" : "between");
  for (const PairLaw* law : {&of_pair.law, &of_pair.smooth})
    if (law->young_node != nullptr || law->per_node != nullptr) {
      mistakes_.add(law->young_node != nullptr ? *law->young_node : *law->per_node,
                    fmt::format("the law of {} cannot take its stiffness from the shapes of beams", o.what()),
                    "give the `stiffness` of a point, and `line_stiffness` of a side under `beams`");
      return;
    }
  BeamTouching t;
  if (within) {
    t.first = t.second = beam_named(n, scope);
    if (t.first == kNoBeam) {
      std::vector<std::string> known;
      for (const Body& b : model_.bodies)
        if (is_beam(b.kind)) known.push_back(b.name);
      mistakes_.add(n, fmt::format("`within` takes a body of type beam, and `{}` is none", n.text),
                    did_you_mean(n.text, known));
      return;
    }
  } else {
    t.first = beam_named(*n.items[0], scope);
    t.second = beam_named(*n.items[1], scope);
    if (t.first == t.second) {
      mistakes_.add(n, fmt::format("`{}` is named twice", n.items[0]->text),
                    fmt::format("a beam that touches itself is written within: {}", n.items[0]->text));
      return;
    }
    const auto flat = [&](int body) { return is_planar(model_.bodies[static_cast<std::size_t>(body)].kind); };
    if (flat(t.first) != flat(t.second)) {
      mistakes_.add(n, fmt::format("`{}` is {} and `{}` {}: they cannot touch", n.items[0]->text,
                                   flat(t.first) ? "planar" : "spatial", n.items[1]->text,
                                   flat(t.second) ? "planar" : "spatial"));
      return;
    }
  }
  const bool rigid = std::holds_alternative<RigidContact>(c.law);
  t.gauss = rigid ? 3 : 4;
  if (const YamlNode* node = o.find("beams")) {
    const Object b(reader_, *node, object_spec("beam-contact"), fmt::format("the beams of {}", o.what()), scope);
    if (!b.ok()) return;
    const auto whole = [&](const char* key, int least, int most, int& value) {
      if (!b.has(key)) return;
      const double x = b.number_or(key, value);
      if (x != std::floor(x) || x < least || x > most)
        b.mistake(key, fmt::format("`{}` must be a whole number from {} to {}", key, least, most));
      else
        value = static_cast<int>(x);
    };
    whole("segments", 1, 100, t.segments);
    whole("gauss", 1, 10, t.gauss);
    if (const auto word = b.word("multiplier"))
      t.multiplier = *word == "segment"   ? BeamTouching::Multiplier::segment
                     : *word == "element" ? BeamTouching::Multiplier::element
                                          : BeamTouching::Multiplier::point;
    if (t.multiplier != BeamTouching::Multiplier::point && !rigid)
      b.mistake("multiplier", "a compliant law has a force at every point, which follows its own penetration",
                "leave it out, or give a rigid law");
    if (const auto word = b.word("touch"))
      t.way = *word == "points"  ? BeamTouching::Way::points
              : *word == "lines" ? BeamTouching::Way::lines
                                 : BeamTouching::Way::automatic;
    if (const auto angle = b.not_negative("least_angle")) t.least_angle = *angle;
    if (const auto stiffness = b.positive("line_stiffness")) t.line_stiffness = *stiffness;
    if (t.line_stiffness > 0 && rigid && !c.smooth)
      b.mistake("line_stiffness", "a rigid law has no stiffness", "leave it out, or give a compliant law");
    if (const auto radius = b.positive("radius")) t.radius[0] = t.radius[1] = *radius;
  }
  if (mistakes_.count() != before) return;
  if (!beam_skin(within ? n : *n.items[0], t.first, t.radius[0])) return;
  if (!beam_skin(within ? n : *n.items[1], t.second, t.radius[1])) return;
  if (!lawful) return;
  count_object(e);
  c.beams = std::make_shared<const BeamTouching>(t);
  model_.contacts.push_back(std::move(c));
}

}  // namespace clatter::loading
