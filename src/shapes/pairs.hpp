// Which kernel serves a pair of kinds, in which order, with how many slots.
#pragma once

#include "shapes/shape.hpp"

namespace clatter::contact {

// A kernel's first shape has the lower rank. Box and polytope are one family, ellipse, curve and spline another.
enum class Family { circle, contour, polygon, line, sphere, capsule, cylinder, polytope, plane };

inline Family family(ContactShape::Kind kind) {
  using Kind = ContactShape::Kind;
  switch (kind) {
    case Kind::line:
      return Family::line;
    case Kind::circle:
      return Family::circle;
    case Kind::polygon:
      return Family::polygon;
    case Kind::ellipse:
    case Kind::curve:
    case Kind::spline:
      return Family::contour;
    case Kind::plane:
      return Family::plane;
    case Kind::sphere:
      return Family::sphere;
    case Kind::capsule:
      return Family::capsule;
    case Kind::cylinder:
      return Family::cylinder;
    case Kind::box:
    case Kind::polytope:
      return Family::polytope;
  }
  return Family::sphere;
}

// The model's first shape is the kernel's second.
inline bool swapped(const Geometry& first, const Geometry& second) {
  const Family a = family(first.kind), b = family(second.kind);
  return a == b ? first.hollow && !second.hollow : a > b;
}

inline constexpr int pair_key(Family a, Family b) { return 16 * static_cast<int>(a) + static_cast<int>(b); }

// Slots of a pair in kernel order; 0: these cannot touch.
int slot_count(const Geometry& first, const Geometry& second);

}  // namespace clatter::contact
