// Oriented boxes in the plane: the smallest box around a cloud of points, whether two of them are apart, and which part
// of a segment lies in one (Y-17, Y-18).
//
//   smallest box    one of its sides lies on an edge of the convex hull: the least area over the hull's edges
//   apart           along one of the four axes L of the two boxes, with half sizes a, b and distance T of the centres
//                     |T.L| > a_x |A_x.L| + a_y |A_y.L| + b_x |B_x.L| + b_y |B_y.L|
//   clipping        (Cyrus, Beck 1978) of a + t (b - a), 0 <= t <= 1, against the sides with outward normals m
//                   through c:
//                     N = m.(c - a), D = m.(b - a);   D < 0: t >= N/D;   D > 0: t <= N/D;   D = 0, N < 0: outside
#pragma once

#include <Eigen/Core>
#include <span>

namespace clatter::contact {

struct OrientedBox {
  Eigen::Vector2d centre = Eigen::Vector2d::Zero();
  Eigen::Vector2d axis = Eigen::Vector2d::UnitX();  // the other one is turned by +90 degrees
  Eigen::Vector2d half = Eigen::Vector2d::Zero();   // half sizes along the two

  Eigen::Vector2d other_axis() const { return {-axis.y(), axis.x()}; }
  double diagonal() const { return 2 * half.norm(); }
};

// The points are put in another order.
OrientedBox smallest_box(std::span<Eigen::Vector2d> points);

// A separating axis exists for the boxes grown by `grow` on every side.
bool apart(const OrientedBox& a, const OrientedBox& b, double grow);

// The part [from, to] of the segment that lies in the grown box; false: none does.
bool clip(const OrientedBox& box, double grow, const Eigen::Vector2d& a, const Eigen::Vector2d& b, double& from,
          double& to);

}  // namespace clatter::contact
