// Contours: ellipse, curve and spline by one parameter s, material on the left (P-12, P-13).
//
// With b = +z of the shape and t = r'/|r'|, the inward normal is b x t and the signed curvature
// kappa = b . (r' x r'') / |r'|^3: positive where the material bulges out, zero on straight pieces.
#pragma once

#include "shapes/shape.hpp"

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

// Where a function of the contour has its least value. 0: inside, s is written; 1, 2: at the end `from`, `to`.
// Started at s when `warm`; another place is taken when a sample is better than what was found from there.
int nearest_to_point(const Geometry& g, const Vec2& c, bool warm, double& s);
int farthest_from_point(const Geometry& g, const Vec2& c, bool warm, double& s);
int lowest_along(const Geometry& g, const Vec2& m, bool warm, double& s);

// Where two contours come nearest (P-15), poses given by rotation and position in the plane. 0: s1 and s2 are written;
// 1, 2: the first has an end nearest to the second contour, 3, 4 the second to the first; -1: no such place. The root
// taken has opposite normals and is a proper minimum: kappa1 + kappa2 + gap kappa1 kappa2 > 0.
struct Plane2 {
  Eigen::Matrix2d R;
  Vec2 p;
};
int nearest_of_two(const Geometry& g1, const Plane2& x1, const Geometry& g2, const Plane2& x2, bool warm, double& s1,
                   double& s2);

}  // namespace clatter::contact
