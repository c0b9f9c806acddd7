// The box along the world axes that holds a bounded shape.
//
//   polygon, box, polytope   its points
//   capsule, cylinder        half of it along axis i: l/2 |z_i| + r, and l/2 |z_i| + r sqrt(1 - z_i^2)
//   others                   the ball about the shape's origin
#pragma once

#include "shapes/shape.hpp"
#include "shapes/shape_tree.hpp"

namespace clatter::contact {

// Planar shapes touch whatever their heights above the plane: z = 0.
WorldBox world_box(const Geometry& g, const Pose<double>& pose);

}  // namespace clatter::contact
