#include "shapes/pairs.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "shapes/cylinder_manifold.hpp"
#include "shapes/cylinder_polytope.hpp"

namespace clatter::contact {

namespace {

const char* word(ContactShape::Kind kind) {
  static constexpr const char* words[] = {"line",  "circle", "polygon", "ellipse", "curve",    "spline",
                                          "plane", "sphere", "box",     "capsule", "cylinder", "polytope"};
  return words[static_cast<int>(kind)];
}

std::string described(const Geometry& g) {
  const char* w = word(g.kind);
  const bool vowel = g.kind == ContactShape::Kind::ellipse;
  if (g.hollow) return fmt::format("a hollow {}", w);
  if (g.kind == ContactShape::Kind::line && g.length == 0) return "an endless line";
  return fmt::format("{} {}", vowel ? "an" : "a", w);
}

// What a shape may touch, for the message.
const char* partners(const Geometry& g) {
  switch (family(g.kind)) {
    case Family::circle:
      return g.hollow ? "a hollow circle touches what is inside: circle, polygon, ellipse, curve, spline, line with a "
                        "length"
                      : "a circle touches line, circle, polygon, ellipse, curve, spline";
    case Family::contour:
      return "ellipse, curve and spline touch line, circle, polygon, ellipse, curve, spline";
    case Family::polygon:
      return "a polygon touches line, circle, polygon, ellipse, curve, spline";
    case Family::line:
      return "a line touches circle, polygon, ellipse, curve, spline";
    case Family::sphere:
      return g.hollow ? "a hollow sphere touches what is inside: sphere, box, capsule, cylinder, polytope"
                      : "a sphere touches plane, sphere, box, capsule, cylinder, polytope";
    case Family::plane:
      return "a plane touches sphere, box, capsule, cylinder, polytope";
    default:
      return "box, capsule, cylinder and polytope touch plane, sphere, box, capsule, cylinder, polytope";
  }
}

}  // namespace

int slot_count(const Geometry& first, const Geometry& second) {
  const auto size = [](const auto& list) { return static_cast<int>(list.size()); };
  const bool finite = second.length > 0;
  const bool hole = first.hollow || second.hollow;
  switch (pair_key(family(first.kind), family(second.kind))) {
    case pair_key(Family::circle, Family::circle):
    case pair_key(Family::sphere, Family::sphere):
      return first.hollow ? 0 : 1;
    case pair_key(Family::circle, Family::contour):
      return 1;
    case pair_key(Family::circle, Family::polygon):
      return hole ? size(second.points) : 1;
    case pair_key(Family::circle, Family::line):
      return hole ? (finite ? 2 : 0) : 1;
    case pair_key(Family::contour, Family::contour):
    case pair_key(Family::contour, Family::line):
      return 1;
    case pair_key(Family::contour, Family::polygon):
      return 2 * size(second.points);
    case pair_key(Family::polygon, Family::polygon):
      return size(first.points) + size(second.points);
    case pair_key(Family::polygon, Family::line):
      return size(first.points) + (finite ? 2 : 0);
    case pair_key(Family::sphere, Family::plane):
      return hole ? 0 : 1;
    case pair_key(Family::sphere, Family::cylinder):
      return hole ? 8 : 1;
    case pair_key(Family::sphere, Family::capsule):
      return hole ? 2 : 1;
    case pair_key(Family::sphere, Family::polytope):
      return hole ? size(second.points) : 1;
    case pair_key(Family::capsule, Family::capsule):
      return 5;
    case pair_key(Family::capsule, Family::cylinder):
      return 7;
    case pair_key(Family::capsule, Family::polytope):
      return 2 + size(second.edges) + size(second.points);
    case pair_key(Family::capsule, Family::plane):
      return 2;
    case pair_key(Family::cylinder, Family::cylinder):
      return CylinderManifold::slots;
    case pair_key(Family::cylinder, Family::polytope):
      return CylinderPolytopeManifold::Slots(second).count;
    case pair_key(Family::cylinder, Family::plane):
      return 8;
    case pair_key(Family::polytope, Family::polytope):
      return size(first.points) + size(second.points) + size(first.edges) * size(second.edges);
    case pair_key(Family::polytope, Family::plane):
      return size(first.points);
  }
  return 0;
}

PairKind pair_kind(const Geometry& first, const Geometry& second, const Contact& contact) {
  if (first.planar() != second.planar()) {
    throw InputError(
        contact.source,
        fmt::format("contact `{}`: {} is planar and {} is spatial; they cannot touch", contact.name,
                    described(first.planar() ? first : second), described(first.planar() ? second : first)),
        "line, circle, polygon, ellipse, curve and spline are planar; plane, sphere, box, capsule, cylinder "
        "and polytope are spatial");
  }
  const bool turned = swapped(first, second);
  const int slots = turned ? slot_count(second, first) : slot_count(first, second);
  if (slots == 0) {
    const bool second_is_odd = second.hollow && !first.hollow;
    throw InputError(contact.source,
                     fmt::format("contact `{}`: {} cannot touch {}", contact.name, described(first), described(second)),
                     partners(second_is_odd ? second : first));
  }
  return {slots, first.planar() ? 1 : 2};
}

}  // namespace clatter::contact
