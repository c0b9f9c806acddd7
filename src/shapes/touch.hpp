// Touch: where two shapes come nearest, as a function of the poses of their carriers (P-12 to P-19).
//
// A pair of shapes owns a fixed number of slots. A slot is one possible point of contact: the only one of two circles,
// or one vertex of a polygon against another shape. For given poses a slot has a gap (positive apart), a unit normal n
// from the second body to the first, tangents t1, t2 with (n, t1, t2) right-handed, and the two nearest points p1 on
// the first and p2 on the second body, p1 - p2 = gap n. Planar pairs: t1 = n x b with b = z of the plane, t2 = -b.
//
// A kernel is a template on its scalar. `start` holds what selects the branch (which edge, contour parameters): the
// kernel converges it in double and then writes every result as a differentiable function of the poses on that branch.
// With T = Jet<double> the derivatives of n and of the points give the acceleration terms of P-18, with T =
// Jet<Dual<24>> the tangents; nobody writes curvature terms by hand.
#pragma once

#include "base/jet.hpp"
#include "base/math.hpp"

namespace clatter::contact {

template <class T>
using V3 = Eigen::Matrix<T, 3, 1>;
template <class T>
using M3 = Eigen::Matrix<T, 3, 3>;

// A shape's frame in the world.
template <class T>
struct Pose {
  M3<T> R;
  V3<T> p;
};

// What selects the branch of a slot: written by the kernel when called with T = double, read otherwise.
struct Branch {
  int feature = -1;       // edge, face, end of a contour; -1 not yet known
  double s1 = 0, s2 = 0;  // contour parameters
  int axis = 0;           // axis of the second shape that t1 follows: 0 x, 1 y
  // Positions are followed in time, step by accepted step and event, and `here` is the direction of a coin's first
  // support at the last one looked at: supports may then run with the deepest point, and go on smoothly where the coin,
  // or a trial step, passes the flat position, at which the deepest point changes sides.
  bool followed = false;
  double here = 0;
};

template <class T>
struct Touch {
  T gap = T(0.0);
  V3<T> n, t1, t2;
  V3<T> p1, p2;
  // Distance to where another feature of the shapes takes over (an edge ends, a contour stops), in metres, positive on
  // this branch; large where there is no such place.
  T margin;
};

}  // namespace clatter::contact
