// Friction in joints: given limits (AF-14), and limits that grow with the joint's reactions (P-22 to P-24, AF-21).
#include <fmt/format.h>

#include "model/loader.hpp"

namespace clatter::loading {

void Loader::joint_friction(const Object& o, Joint& j, const std::string& type) {
  const YamlNode* n = o.find("friction");
  if (!n) return;
  const JointKindInfo& kind = joint_kind(j.kind);
  if (kind.friction == JointKindInfo::Friction::none) return;  // the table has said so
  const bool turns = kind.turns(), slides = kind.slides() || j.kind == JointKind::point_on_curve;
  const Object f(reader_, *n, object_spec("joint-friction"), fmt::format("the friction of {}", o.what()), o.scope());
  if (!f.ok()) return;
  const std::size_t before = mistakes_.count();
  if (j.kind == JointKind::point_on_curve && j.curve.kind != Curve::Kind::line)
    o.mistake("friction", "only a point on a line has friction, not one on another curve",
              "use `shapes` and a contact, or `curve: {line: true}`");
  JointFriction friction;
  friction.source = o.key_source("friction");
  const auto belongs = [&](const char* key, bool fits, const char* what) {
    if (!f.has(key) || fits) return;
    f.mistake(key, fmt::format("`{}` has no meaning for the friction of a `{}` joint", key, type), what);
  };
  belongs("torque", turns, "a displacement is held back by a `force`");
  belongs("force", slides, "an angle is held back by a `torque`");
  const bool loads = kind.friction == JointKindInfo::Friction::loaded;
  belongs("coefficient", loads, "give the limit itself: `torque`");
  belongs("radius", loads && turns, "it is the lever arm of friction in a bearing");
  belongs("collar_radius", j.kind == JointKind::revolute, "it belongs to revolute joints");
  belongs("length", loads && j.kind != JointKind::planar && j.kind != JointKind::point_on_curve,
          "it belongs to bearings and guides");
  belongs("width", j.kind == JointKind::prismatic, "it belongs to prismatic joints");
  friction.torque = this->friction(f, "torque", "N*m", "rad/s");
  friction.force = this->friction(f, "force", "N", "m/s");
  friction.coefficient = this->friction(f, "coefficient");
  friction.radius = f.positive("radius").value_or(0);
  friction.collar_radius = f.positive("collar_radius").value_or(0);
  friction.length = f.positive("length").value_or(0);
  friction.width = f.positive("width").value_or(0);
  const bool only_torque = turns && !f.has("coefficient");
  friction.velocity = f.positive("velocity", only_torque && !slides ? 1 : 0).value_or(0);
  if (mistakes_.count() != before) return;
  if (!f.has("torque") && !f.has("force") && !f.has("coefficient")) {
    mistakes_.add(*n, fmt::format("{} has no limit", f.what()),
                  turns ? "give `torque`, or `coefficient` and `radius`" : "give `force` or `coefficient`");
    return;
  }
  if (f.has("coefficient") && (j.kind == JointKind::revolute || j.kind == JointKind::cylindrical))
    f.require("radius", "of the bearing, the lever arm of its friction");
  for (const char* key : {"radius", "collar_radius", "length", "width"})
    if (f.has(key) && !f.has("coefficient")) f.mistake(key, fmt::format("`{}` belongs to a `coefficient`", key));
  if (j.kind == JointKind::cylindrical && f.has("coefficient") && (f.has("torque") || f.has("force")))
    f.mistake("coefficient", "a cylindrical joint has either given limits or a `coefficient`",
              "its slip along and about the axis shares one limit, which the given ones do not");
  // A component that does not move freely has no friction to solve for.
  for (const JointComponent& c : j.components)
    if (std::holds_alternative<Driven>(c.status) || std::holds_alternative<Rigid>(c.status))
      o.mistake("friction",
                fmt::format("`{}` of {} is {} and cannot have friction", c.name, o.what(),
                            std::holds_alternative<Driven>(c.status) ? "driven" : "held"),
                "friction belongs to components that move freely; drive the joint by a torque or force instead");
  const bool particle = [&] {
    for (const Attachment* a : {&j.a, &j.b})
      if (a->body >= 0) {
        const BodyKind body_kind = model_.bodies[static_cast<std::size_t>(a->body)].kind;
        if (body_kind == BodyKind::particle || body_kind == BodyKind::planar_particle) return true;
      }
    return false;
  }();
  if (particle && turns) o.mistake("friction", fmt::format("{} joins a particle, which does not turn", o.what()));
  if (mistakes_.count() == before) j.friction = std::move(friction);
}

}  // namespace clatter::loading
