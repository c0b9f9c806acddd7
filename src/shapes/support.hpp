// Support points of convex shapes: the point of a shape that lies farthest along a direction.
//
// A shape is a core and a radius around it, so that what turns a ball does not move it:
//
//   circle, sphere     its centre, and its radius
//   capsule            its axis, and its radius
//   others             itself, and 0
#pragma once

#include "shapes/shape.hpp"

namespace clatter::contact {

// Whether the shape is solid, convex and has an end.
bool has_support(const Geometry& g);
inline bool is_round(const Geometry& g) {
  return g.kind == ContactShape::Kind::circle || g.kind == ContactShape::Kind::sphere;
}
inline bool is_endless(const Geometry& g) {
  return g.kind == ContactShape::Kind::plane || (g.kind == ContactShape::Kind::line && g.length == 0);
}
inline double radius_around_core(const Geometry& g) {
  return is_round(g) || g.kind == ContactShape::Kind::capsule ? g.radius : 0;
}
// Of the ball about the shape's origin that holds its core.
double core_bound(const Geometry& g);
// The point of the core farthest along m (any length), shape axes.
Vec3 support_point(const Geometry& g, const Vec3& m);

}  // namespace clatter::contact
