// Joints with play: the joint is loosened to one that only observes, and contacts between its surfaces take its place.
#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "model/loader.hpp"

namespace clatter::loading {

// The surfaces of the joint, and contacts between them.
void Loader::play_contacts(const Joint& j, const Contact& law, const PairLaws& of_pair, const PlaySize& size) {
  const auto shape = [&](const Attachment& at, const char* name, ContactShape::Kind kind) -> ContactShape& {
    ContactShape& s = model_.shapes.emplace_back();
    s.name = j.name + "." + name;
    s.source = law.source;
    s.at = at;
    s.kind = kind;
    // Out of the joint's axes into the plane: x along the joint's axis, where it lies in it.
    const Vec3 axis = at.placement.rotation * Vec3::UnitZ();
    const double angle = kind == ContactShape::Kind::circle ? 0 : std::atan2(axis.y(), axis.x());
    s.at.placement.rotation = Quat(Eigen::AngleAxisd(angle, Vec3::UnitZ()));
    return s;
  };
  const auto contact = [&](const char* name, int first, int second) {
    Contact& c = model_.contacts.emplace_back(law);
    c.name = j.name + "." + name;
    c.first = first;
    c.second = second;
    fit_laws(c, of_pair);
  };
  const auto last = [&] { return static_cast<int>(model_.shapes.size()) - 1; };
  if (j.kind == JointKind::revolute) {
    shape(j.b, "pin", ContactShape::Kind::circle).radius = size.radius;
    const int moving = last();
    ContactShape& hole = shape(j.a, "hole", ContactShape::Kind::circle);
    hole.radius = size.radius + size.clearance;
    hole.hollow = true;
    contact("play", moving, last());
  } else {
    const double a = size.length / 2, b = size.height / 2;
    shape(j.b, "block", ContactShape::Kind::polygon).points = {{-a, -b, 0}, {a, -b, 0}, {a, b, 0}, {-a, b, 0}};
    const int moving = last();
    for (const bool upper : {false, true}) {
      ContactShape& wall = shape(j.a, upper ? "upper_wall" : "lower_wall", ContactShape::Kind::line);
      const Quat turned = wall.at.placement.rotation;
      wall.at.placement.position += turned * Vec3(0, (upper ? 1 : -1) * (b + size.clearance), 0);
      // Material on the side y < 0 of a line.
      if (upper) wall.at.placement.rotation = turned * Quat(Eigen::AngleAxisd(std::numbers::pi, Vec3::UnitZ()));
      contact(upper ? "upper" : "lower", moving, last());
    }
  }
}

void Loader::joint_play(const Object& o, Joint& j, const std::string& type) {
  const YamlNode* n = o.find("play");
  if (!n || (j.kind != JointKind::revolute && j.kind != JointKind::prismatic)) return;
  const Object p(reader_, *n, object_spec("joint-play"), fmt::format("the play of {}", o.what()), o.scope());
  if (!p.ok()) return;
  const std::size_t before = mistakes_.count();
  const bool pin = j.kind == JointKind::revolute;
  for (const char* key : {"radius", "length", "height"})
    if (p.has(key) && (std::string_view(key) == "radius") != pin)
      p.mistake(key, fmt::format("`{}` has no meaning for the play of a `{}` joint", key, type),
                pin ? "a pin has a `radius`" : "a block has a `length` and a `height`");
  for (const char* key : {"friction", "drive", "elastic", "components", "angle", "displacement", "rate"})
    if (o.has(key))
      o.mistake(key, fmt::format("a joint with play has no `{}`", key),
                std::string_view(key) == "friction"
                    ? "give friction in the law of its play"
                    : "its contacts hold it, and its bodies have positions of their own");
  const auto flat = [&](const Attachment& a) { return a.body < 0 || planar(a.body); };
  if (!flat(j.a) || !flat(j.b))
    o.mistake("play", fmt::format("{} joins spatial bodies: play is for planar ones", o.what()),
              "put shapes on the bodies and contacts between them");
  for (const Attachment* a : {&j.a, &j.b})
    if (a->body >= 0 && !model_.bodies[static_cast<std::size_t>(a->body)].pose)
      mistakes_.add(a->source, fmt::format("body `{}` has no position, and a joint with play does not place it",
                                           model_.bodies[static_cast<std::size_t>(a->body)].name));
  const double clearance = p.positive("clearance").value_or(0);
  const double radius = p.not_negative("radius").value_or(0), length = p.positive("length").value_or(0);
  const double height = p.positive("height").value_or(0);
  if (pin) {
    p.require("radius", "of the pin");
  } else {
    p.require("length", "of the block, along the axis");
    p.require("height", "of the block, across the axis");
  }
  Contact law;
  law.group = j.name;
  law.source = o.key_source("play");
  PairLaws of_pair;
  const bool lawful = contact_law(p, law, of_pair);
  if (!lawful || mistakes_.count() != before) return;
  play_contacts(j, law, of_pair, {clearance, radius, length, height});
  j.kind = JointKind::bushing;
  j.components.clear();
  j.position.clear();
  j.velocity.clear();
}

}  // namespace clatter::loading
