#include "view/scene.hpp"

#include <algorithm>
#include <iterator>

#include "model/crowd.hpp"
#include "model/kinds.hpp"
#include "shapes/shape.hpp"
#include "view/json.hpp"

namespace clatter::view {
namespace {

const char* word(Shape::Kind kind) {
  switch (kind) {
    case Shape::Kind::box:
      return "box";
    case Shape::Kind::sphere:
      return "sphere";
    case Shape::Kind::capsule:
      return "capsule";
    case Shape::Kind::rod:
      return "rod";
    case Shape::Kind::cylinder:
    case Shape::Kind::none:
      break;
  }
  return "cylinder";
}

const char* word(ContactShape::Kind kind) {
  static constexpr const char* kWords[] = {"line",  "circle", "polygon", "ellipse", "curve",    "spline",
                                           "plane", "sphere", "box",     "capsule", "cylinder", "polytope"};
  static_assert(std::size(kWords) == static_cast<std::size_t>(ContactShape::Kind::polytope) + 1);
  return kWords[static_cast<int>(kind)];
}

const char* word(BodyKind kind) {
  static constexpr const char* kWords[] = {"rigid",    "planar",          "particle", "planar-particle",
                                           "flexible", "planar-flexible", "beam",     "planar-beam"};
  static_assert(std::size(kWords) == static_cast<std::size_t>(BodyKind::planar_beam) + 1);
  return kWords[static_cast<int>(kind)];
}

const char* word(ForceElement::Kind kind) {
  static constexpr const char* kWords[] = {"distance", "angle", "coordinate"};
  static_assert(std::size(kWords) == static_cast<std::size_t>(ForceElement::Kind::coordinate) + 1);
  return kWords[static_cast<int>(kind)];
}

void put_placement(Json& json, const Placement& placement) {
  json.put("position", placement.position).put("rotation", placement.rotation);
}

void put_solid(Json& json, const Shape& shape) {
  json.object().put("kind", word(shape.kind)).put("role", "body");
  put_placement(json, shape.placement);
  if (shape.kind == Shape::Kind::box) {
    json.put("size", shape.size);
  } else {
    json.put("radius", shape.size.x());
    if (shape.kind != Shape::Kind::sphere) json.put("length", shape.size.y());
  }
  json.end();
}

void put_contact_shape(Json& json, const ContactShape& shape) {
  using Kind = ContactShape::Kind;
  json.object().put("kind", word(shape.kind)).put("name", shape.name).put("role", "contact");
  put_placement(json, shape.at.placement);
  if (shape.kind == Kind::box) json.put("size", shape.size);
  if (shape.radius > 0 || shape.kind == Kind::circle || shape.kind == Kind::sphere) json.put("radius", shape.radius);
  if (shape.length > 0) json.put("length", shape.length);
  if (shape.hollow) json.put("hollow", true);
  const bool outlined = shape.kind == Kind::polygon || shape.kind == Kind::ellipse || shape.kind == Kind::curve ||
                        shape.kind == Kind::spline || shape.kind == Kind::polytope;
  if (outlined) {
    const contact::Geometry geometry = contact::make_geometry(shape);
    json.put("closed", geometry.closed || shape.kind == Kind::polygon || shape.kind == Kind::ellipse);
    json.key("points").array();
    for (const Vec3& point : geometry.points) json.vector(point);
    json.end();
    if (shape.kind == Kind::polytope) {
      json.key("faces").array();
      for (const std::vector<int>& face : geometry.faces) {
        json.array();
        for (const int vertex : face) json.integer(vertex);
        json.end();
      }
      json.end();
    }
  }
  json.end();
}

// What is fixed to a body, or to the ground (-1): its looks, what touches, and where others hold it.
void put_carried(Json& json, const Model& model, int body) {
  const Shape* solid = body >= 0 ? &model.bodies[static_cast<std::size_t>(body)].shape : nullptr;
  const bool has_solid = solid != nullptr && solid->kind != Shape::Kind::none;
  json.key("shapes").array();
  if (has_solid) put_solid(json, *solid);
  for (const ContactShape& shape : model.shapes) {
    if (shape.at.body != body) continue;
    // The points of a beam's sides move with its skin, which shows them.
    if (shape.share > 0) continue;
    // The contact shape made from the solid itself.
    if (has_solid && shape.name == model.bodies[static_cast<std::size_t>(body)].name) continue;
    put_contact_shape(json, shape);
  }
  json.end();
  json.key("anchors").array();
  const auto anchor = [&](const Attachment& at) {
    if (at.body == body) json.vector(at.placement.position);
  };
  for (const Joint& joint : model.joints) {
    if (joint.kind == JointKind::gear || joint.kind == JointKind::rack_pinion || joint.kind == JointKind::coordinate)
      continue;
    anchor(joint.a);
    anchor(joint.b);
  }
  for (const ForceElement& force : model.force_elements) {
    if (!force.quantity.empty()) continue;
    anchor(force.a);
    anchor(force.b);
  }
  json.end();
}

void put_place(Json& json, std::string_view name, const Attachment& at) {
  json.key(name).object().put("body", at.body);
  put_placement(json, at.placement);
  json.end();
}

bool all_planar(const Model& model) {
  return !model.bodies.empty() &&
         std::all_of(model.bodies.begin(), model.bodies.end(), [](const Body& b) { return is_planar(b.kind); });
}

}  // namespace

std::string scene_json(const Model& model, const std::vector<SurfaceUse>& surfaces) {
  Json json;
  json.object().put("version", 1).put("title", model.title).put("planar", all_planar(model));
  json.put("gravity", model.gravity);
  json.key("bodies").array();
  for (std::size_t i = 0; i < model.bodies.size(); ++i) {
    const Body& body = model.bodies[i];
    json.object().put("name", body.name).put("kind", word(body.kind)).put("mass", body.mass);
    json.put("center", body.center_of_mass);
    put_carried(json, model, static_cast<int>(i));
    json.end();
  }
  json.end();
  json.key("ground").object();
  put_carried(json, model, -1);
  json.end();
  json.key("joints").array();
  for (const Joint& joint : model.joints) {
    // Relations between other joints have no place of their own.
    if (joint.kind == JointKind::gear || joint.kind == JointKind::rack_pinion || joint.kind == JointKind::coordinate)
      continue;
    json.object().put("name", joint.name).put("type", joint_kind_name(joint.kind));
    put_place(json, "a", joint.a);
    put_place(json, "b", joint.b);
    json.end();
  }
  json.end();
  json.key("forces").array();
  for (const ForceElement& force : model.force_elements) {
    if (!force.quantity.empty()) continue;
    json.object().put("name", force.name).put("kind", word(force.kind));
    put_place(json, "a", force.a);
    put_place(json, "b", force.b);
    json.end();
  }
  json.end();
  json.key("contacts").array();
  for (const Contact& contact : model.contacts) {
    json.object().put("name", contact.name);
    if (contact.first >= 0) json.put("first", model.shapes[static_cast<std::size_t>(contact.first)].name);
    if (contact.second >= 0) json.put("second", model.shapes[static_cast<std::size_t>(contact.second)].name);
    json.end();
  }
  // Entries that are a crowd of pairs are recorded as sums.
  for (std::size_t i = 0; i < model.contacts.size(); ++i) {
    const Contact& contact = model.contacts[i];
    const bool sum = contact.group != contact.name && (i == 0 || model.contacts[i - 1].group != contact.group);
    if (sum && model.contacts.size() > most_pairs_shown) json.object().put("name", contact.group).end();
  }
  if (model.crowd) {
    for (const CrowdContact& entry : model.crowd->contacts) json.object().put("name", entry.name).end();
    for (const CrowdRope& rope : model.crowd->ropes) json.object().put("name", rope.name).end();
  }
  json.end();
  json.key("surfaces").array();
  for (const SurfaceUse& surface : surfaces) {
    json.object()
        .put("name", surface.name)
        .put("body", surface.body)
        .put("coordinates", surface.coordinates)
        .put("stress", surface.stress)
        .put("large", surface.large);
    json.key("shapes").array();
    for (const SurfaceUse::Shape& shape : surface.shapes) {
      json.object().put("frequency", shape.frequency).key("eta").array();
      for (const double x : shape.eta) json.number(x);
      json.end().end();
    }
    json.end().end();
  }
  json.end();
  return json.end().take();
}

}  // namespace clatter::view
