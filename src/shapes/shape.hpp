// Geometry of shapes and of pairs of shapes, compiled from the model's contact shapes.
//
// A pair is ordered so that a kernel exists for its two kinds (`swapped`: the model's second shape is the kernel's
// first); normals and points are turned back, so that callers always see the model's order.
#pragma once

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "model/model.hpp"
#include "shapes/touch.hpp"

namespace clatter::contact {

struct Geometry {
  ContactShape::Kind kind = ContactShape::Kind::sphere;
  double radius = 0, length = 0;
  Vec3 size = Vec3::Zero();
  std::vector<Vec3> points;                // vertices, shape axes; of a curve: samples at equal steps of its parameter
  std::vector<Vec3> normals;               // outward, of edges (polygon: edge i from point i to i + 1), faces, samples
  std::vector<std::vector<int>> faces;     // box and polytope: vertices of each face, counter-clockwise from outside
  std::vector<std::pair<int, int>> edges;  // box and polytope
  std::vector<std::array<int, 2>> edge_faces;
  std::vector<std::array<Vec3, 2>> edge_sides;  // along its two faces, away from the edge, unit
  bool closed = false, hollow = false;
  bool convex = true;                               // contours: curvature >= 0 everywhere and closed
  double pace = 0;                                  // contours: length by to - from
  double from = 0, to = 0;                          // of the parameter of ellipse, curve and spline
  std::shared_ptr<const Expression> x, y;           // curve
  std::vector<Eigen::Matrix<double, 4, 2>> spline;  // per span: coefficients of 1, s, s^2, s^3 of x and y
  std::vector<double> knots;                        // spline: where spans begin, and the end; s counts from there
  double bound = 0;  // radius of the ball about the shape's origin that holds it; infinite for line and plane
  bool planar() const { return ContactShape::planar(kind); }
};

// Throws InputError for a shape that cannot be (polygon not convex, points in a plane, curve that crosses itself at its
// ends, ...).
Geometry make_geometry(const ContactShape& shape);

// Number of slots of a pair; throws InputError (with the contact's source) for kinds that cannot touch each other
// (planar with spatial, plane with plane, ...).
struct PairKind {
  int slots = 1;
  int tangents = 1;  // 1 planar, 2 spatial
};
PairKind pair_kind(const Geometry& first, const Geometry& second, const Contact& contact);

// Evaluates slot `slot` of the pair for the poses of the two shapes. T = double searches and updates `branch`; the
// other scalars keep it. False: the slot has no point of contact in this position (the edge is passed, lines are
// parallel); out.gap then is as it was given, or a distance that is known all the same.
template <class T>
bool touch(const Geometry& first, const Geometry& second, int slot, const Pose<T>& pose1, const Pose<T>& pose2,
           Branch& branch, Touch<T>& out);

extern template bool touch(const Geometry&, const Geometry&, int, const Pose<double>&, const Pose<double>&, Branch&,
                           Touch<double>&);
extern template bool touch(const Geometry&, const Geometry&, int, const Pose<Jet<double>>&, const Pose<Jet<double>>&,
                           Branch&, Touch<Jet<double>>&);
extern template bool touch(const Geometry&, const Geometry&, int, const Pose<Jet<Dual<24>>>&,
                           const Pose<Jet<Dual<24>>>&, Branch&, Touch<Jet<Dual<24>>>&);

}  // namespace clatter::contact
