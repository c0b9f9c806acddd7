// BlockCone: the set in which the impulse (r_N, r_1, r_2) of one contact lies, and the nearest point of it.
//
//   r_N >= 0 (free where `bilateral`),   |r_T| <= mu r_N   or, where `sliding` gives the direction,   r_T = -mu r_N d
//
// A friction row (friction_rows.hpp) stands `alone`: its one or two rows lie in a disc of the given radius `limit`, or
// at -limit d. The radius of the disc of a contact is that of the projected normal impulse (Alart and Curnier): exact
// Coulomb friction, no relaxed cone. A zero of r - project(r - y / d) is a solution whatever the positive scales d.
#pragma once

#include "base/math.hpp"

namespace clatter::contact {

struct BlockCone {
  int tangents = 0;  // 0, 1, 2
  bool bilateral = false, sliding = false;
  double mu = 0;
  double d[2] = {1, 0};
  bool alone = false;
  double limit = 0;
  int rows() const { return alone ? tangents : 1 + tangents; }
};

// Projection of s; with `slope` one element of its derivative. `radius` >= 0: that of friction is given, whatever the
// normal impulse (Tresca), and the projection is the gradient of a convex function.
Vec3 project(const BlockCone& cone, const Vec3& s, Mat3* slope = nullptr, double radius = -1);

}  // namespace clatter::contact
