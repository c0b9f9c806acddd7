// Where a rim comes near a line or another rim: the local minima of their distance, in double.
//
// With p(s) = c + r (x cos s + y sin s) the point of a rim, and w its part across a line,
//
//   rim and line    |w|^2 is the distance of a point and an ellipse, the rim seen along the line: with
//                   u = z x e / |z x e| and v = z x u in the rim's plane, sigma = |z x e|,
//                   p = c + r (u cos phi + v sin phi),
//
//                     w . p' / r = -x sin phi + y cos phi - r sigma^2 sin phi cos phi,    x = w_c . u,  y = w_c . v
//
//                   By their signs x, y >= 0 is taken. One minimum is in the quadrant of the point; another one is in
//                   that beside the long axis where the point is within the ellipse's evolute, beyond the angle
//                   tan^3 = y / x. Both are bracketed, none can be missed.
//   two rims        D^2(s) = (rho - r2)^2 + z^2 in the axes of the other rim, with d from the other's nearest point to
//                   p:  D D' = d . p'
//
// Of two rims the smaller is sampled, so that the other looks like a line or a plane between two samples; a minimum
// between neighbours is found by Newton's method, held in the interval in which d . p' changes sign. Two minima are
// told in an order that does not change when the bodies roll.
#pragma once

#include "base/math.hpp"

namespace clatter::contact {

struct Ring {
  Vec3 c, x, y;  // centre, axes
  double r;
  Vec3 radial(double s) const;
  Vec3 along(double s) const;  // unit tangent
  Vec3 point(double s) const { return c + r * radial(s); }
};

struct RimMinima {
  int count = 0;
  double s1[2] = {0, 0}, s2[2] = {0, 0};  // angle on the (first) rim, on the second
};

// Line through c with unit direction e; minima by their place along it. None where the rim runs round the line.
RimMinima rim_and_line(const Ring& rim, const Vec3& c, const Vec3& e);
// By their place along the product of the first rim's axis and the line of centres.
RimMinima rim_and_rim(const Ring& first, const Ring& second);

}  // namespace clatter::contact
