// Contours: ellipse, curve and spline by one parameter s, material on the left (P-12, P-13).
//
// With b = +z of the shape and t = r'/|r'|, the inward normal is b x t and the signed curvature
// kappa = b . (r' x r'') / |r'|^3: positive where the material bulges out, zero on straight pieces.
#pragma once

#include "contact/shape.hpp"

namespace clatter::contact {

using Vec2 = Eigen::Vector2d;

struct ContourPoint {
  Vec2 r, d1, d2, d3;  // position and derivatives with respect to s, shape axes

  double speed() const { return d1.norm(); }
  Vec2 tangent() const { return d1 / speed(); }
  Vec2 outward() const { return Vec2(d1.y(), -d1.x()) / speed(); }
  double curvature() const {
    const double v = speed();
    return (d1.x() * d2.y() - d1.y() * d2.x()) / (v * v * v);
  }
};

bool is_contour(ContactShape::Kind kind);

ContourPoint contour_at(const Geometry& g, double s);

// s brought back into [from, to]: by whole turns when the contour is closed, else to the nearer end.
double contour_wrap(const Geometry& g, double s);

// The parameter of sample i of `points`.
double sample_parameter(const Geometry& g, int i);

}  // namespace clatter::contact
