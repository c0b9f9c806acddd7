// Shapes as given are checked, and what is made from them is right.
#include <gtest/gtest.h>
#include <malloc.h>

#include <functional>
#include <numbers>

#include "base/error.hpp"
#include "shapes.hpp"
#include "shapes/contour.hpp"

namespace clatter::contact {
namespace {

using Kind = ContactShape::Kind;

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

void expect_error(const std::function<void()>& action, const std::string& part) {
  const std::string text = message_of(action);
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

void expect_refused(const ContactShape& shape, const std::string& part) {
  expect_error([&] { make_geometry(shape); }, part);
}

ContactShape polygon_of(std::vector<Vec3> points) {
  ContactShape s = shape_of(Kind::polygon);
  s.points = std::move(points);
  return s;
}

TEST(Polygon, IsRefusedWithTheReason) {
  expect_refused(polygon_of({{0, 0, 0}, {1, 0, 0}}), "needs at least 3 points, this has 2");
  expect_refused(polygon_of({{0, 0, 0}, {0, 1, 0}, {1, 1, 0}, {1, 0, 0}}), "run clockwise");
  expect_refused(polygon_of({{0, 0, 0}, {1, 0, 0}, {0.2, 0.2, 0}, {0, 1, 0}}), "not convex at point 3");
  expect_refused(polygon_of({{0, 0, 0}, {1, 0, 0}, {1, 0, 0}, {0, 1, 0}}), "points 2 and 3 coincide");
  expect_refused(polygon_of({{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {0, 1, 0}}), "point 2 lies on the straight line");
  std::vector<Vec3> star;
  for (int i = 0; i < 5; ++i) {
    const double a = 2 * std::numbers::pi * 2 * i / 5;
    star.emplace_back(std::cos(a), std::sin(a), 0);
  }
  expect_refused(polygon_of(star), "sides cross each other");
  expect_refused(polygon_of({{0, 0, 0}, {1, 0, 0}, {0, std::nan(""), 0}}), "point 3 is not a finite number");
}

TEST(Polygon, NormalsPointOutward) {
  const Geometry g = square(2);
  ASSERT_EQ(g.normals.size(), 4u);
  EXPECT_EQ(g.normals[0], Vec3(0, -1, 0));
  EXPECT_EQ(g.normals[1], Vec3(1, 0, 0));
  EXPECT_DOUBLE_EQ(g.bound, std::sqrt(2.0));
}

TEST(Shape, IsRefusedWithTheReason) {
  ContactShape s = shape_of(Kind::box);
  s.size = {1, 0, 1};
  expect_refused(s, "each edge of a box must be greater than 0");
  s = shape_of(Kind::polytope);
  s.points = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  expect_refused(s, "needs at least 4 points");
  s.points.push_back({1, 1, 0});
  expect_refused(s, "lie in a plane");
  s = shape_of(Kind::cylinder);
  s.radius = 1;
  expect_refused(s, "its length must be greater than 0");
  s = shape_of(Kind::box);
  s.size = {1, 1, 1};
  s.hollow = true;
  expect_refused(s, "only circle and sphere can be hollow");
  s = shape_of(Kind::circle);
  s.radius = -1;
  expect_refused(s, "radius must not be negative");
  s = shape_of(Kind::spline);
  s.closed = true;
  s.points = {{0, 0, 0}, {1, 0, 0}};
  expect_refused(s, "a closed spline needs at least 3 points");
}

TEST(Curve, IsRefusedWithTheReason) {
  expect_error([] { curve("s", "s^2", 1, -1); }, "needs from < to");
  expect_error([] { curve("s", "1/s", -1, 1); }, "not a finite number at s = 0");
  expect_error([] { curve("s^2 - s", "0*s + s^2 - s", 0, 1); }, "its ends meet with a corner");
  expect_error([] { curve("s^2", "s^3", -1, 1); }, "stands still at s = 0");
}

TEST(Curve, IsClosedWhenItsEndsMeetSmoothly) {
  const Geometry g = curve("cos(s)", "sin(s)", 0, 2 * std::numbers::pi);
  EXPECT_TRUE(g.closed);
  EXPECT_TRUE(g.convex);
  EXPECT_FALSE(curve("cos(s)", "sin(s)", 0, 3).closed);
  EXPECT_FALSE(curve("(1+0.3*cos(3*s))*cos(s)", "(1+0.3*cos(3*s))*sin(s)", 0, 2 * std::numbers::pi).convex);
}

// P-13: an ellipse has curvature a / b^2 at the end of its long axis, b / a^2 at that of its short one.
TEST(Contour, HasTheSignedCurvatureOfItsEllipse) {
  const Geometry g = ellipse(3, 2);
  EXPECT_NEAR(contour_at(g, 0).curvature(), 3.0 / 4, 1e-14);
  EXPECT_NEAR(contour_at(g, std::numbers::pi / 2).curvature(), 2.0 / 9, 1e-14);
  EXPECT_NEAR((contour_at(g, 0).outward() - Vec2(1, 0)).norm(), 0, 1e-15);
  // Material on the left of a parabola run from right to left is below it: it bulges out; above it, it caves in.
  EXPECT_NEAR(contour_at(curve("-s", "-s^2", -1, 1), 0).curvature(), 2, 1e-14);
  EXPECT_NEAR(contour_at(curve("-s", "s^2", -1, 1), 0).curvature(), -2, 1e-14);
  EXPECT_EQ(contour_at(curve("s", "0*s", -1, 1), 0.3).curvature(), 0);
}

// Two derivatives are continuous across every knot, the seam of a closed one too.
TEST(Spline, RunsSmoothlyThroughItsPoints) {
  const std::vector<Vec3> points = {{1, 0, 0}, {0.3, 0.9, 0}, {-0.8, 0.5, 0}, {-0.9, -0.4, 0}, {0.2, -1, 0}};
  for (const bool closed : {false, true}) {
    const Geometry g = of_points(Kind::spline, points, closed);
    EXPECT_EQ(g.closed, closed);
    for (std::size_t i = 0; i < points.size(); ++i)
      EXPECT_LT((contour_at(g, g.knots[i]).r - points[i].head<2>()).norm(), 1e-14);
    const double tiny = 1e-9;
    for (std::size_t i = closed ? 0 : 1; i + 1 < g.knots.size(); ++i) {
      const ContourPoint before = contour_at(g, contour_wrap(g, g.knots[i] - tiny)), after = contour_at(g, g.knots[i]);
      EXPECT_LT((before.d1 - after.d1).norm(), 1e-7);
      EXPECT_LT((before.d2 - after.d2).norm(), 1e-7);
    }
    EXPECT_LT(closed ? 0 : contour_at(g, 0).d2.norm(), 1e-13);
  }
}

TEST(Polytope, OfABoxHasSixFacesTwelveEdgesAndDropsInnerPoints) {
  const Geometry g = box({1, 2, 3});
  EXPECT_EQ(g.points.size(), 8u);
  EXPECT_EQ(g.normals.size(), 6u);
  EXPECT_EQ(g.edges.size(), 12u);
  std::vector<Vec3> points = g.points;
  points.insert(points.begin() + 2, Vec3(0.1, 0, 0.2));  // inside
  points.push_back({0, 0, 1.5});                         // in a face
  points.push_back({0.5, 1, 0});                         // in an edge
  const Geometry h = of_points(Kind::polytope, points);
  EXPECT_EQ(h.points.size(), 8u);
  EXPECT_EQ(h.edges.size(), 12u);
  for (std::size_t e = 0; e < h.edges.size(); ++e) {
    const Vec3 along =
        h.points[static_cast<std::size_t>(h.edges[e].second)] - h.points[static_cast<std::size_t>(h.edges[e].first)];
    for (std::size_t k = 0; k < 2; ++k) {
      const auto face = static_cast<std::size_t>(h.edge_faces[e][k]);
      EXPECT_NEAR(h.normals[face].dot(along), 0, 1e-12);
      EXPECT_NEAR(h.edge_sides[e][k].dot(h.normals[face]), 0, 1e-12);
      EXPECT_LT(h.edge_sides[e][k].dot(h.normals[static_cast<std::size_t>(h.edge_faces[e][1 - k])]), 0);
    }
  }
  for (std::size_t f = 0; f < h.faces.size(); ++f) {  // counter-clockwise from outside
    const auto& c = h.faces[f];
    ASSERT_EQ(c.size(), 4u);
    const auto at = [&](std::size_t i) { return h.points[static_cast<std::size_t>(c[i])]; };
    EXPECT_GT((at(1) - at(0)).cross(at(2) - at(1)).dot(h.normals[f]), 0);
  }
}

// Euler's polyhedron formula, for random points on a sphere: all of them are corners.
TEST(Polytope, ObeysEuler) {
  std::vector<Vec3> points;
  for (int i = 0; i < 30; ++i)
    points.push_back(Vec3(std::sin(3.7 * i + 1), std::cos(5.3 * i), std::sin(1.9 * i * i + 2)).normalized());
  const Geometry g = of_points(Kind::polytope, points);
  EXPECT_EQ(g.points.size(), 30u);
  EXPECT_EQ(static_cast<int>(g.points.size()) - static_cast<int>(g.edges.size()) + static_cast<int>(g.faces.size()), 2);
}

// New memory is filled with other bytes: what is made must not hang on what happened to be there (the first sample of a
// curve was compared with a point that was not yet set, and the curve refused). The address sanitizer knows no
// M_PERTURB and fills what it hands out by itself.
TEST(Contour, DoesNotHangOnWhatMemoryHeld) {
  for (const int byte : {0, 0x2b, 0xab, 0xff}) {
#ifndef CLATTER_SANITIZED
    ASSERT_EQ(::mallopt(M_PERTURB, byte), 1);
#endif
    EXPECT_NO_THROW(curve("s", "0.1*sin(s)", -10, 10)) << byte;
    EXPECT_NO_THROW(curve("cos(s)", "sin(s)", 0, 2 * std::numbers::pi)) << byte;
  }
  ::mallopt(M_PERTURB, 0);
}

TEST(PairOfKinds, ThatCannotTouchIsRefusedWithTheReason) {
  Contact contact;
  contact.name = "bump";
  expect_error([&] { pair_kind(circle(1), sphere(1), contact); }, "a circle is planar and a sphere is spatial");
  expect_error([&] { pair_kind(plane(), plane(), contact); }, "contact `bump`: a plane cannot touch a plane");
  expect_error([&] { pair_kind(line(), line(), contact); }, "an endless line cannot touch an endless line");
  expect_error([&] { pair_kind(circle(1, true), circle(2, true), contact); }, "a hollow circle cannot touch");
  expect_error([&] { pair_kind(line(), circle(2, true), contact); }, "touches what is inside");
}

TEST(PairOfKinds, KnowsItsSlotsInEitherOrder) {
  const Contact contact;
  EXPECT_EQ(pair_kind(box({1, 1, 1}), plane(), contact).slots, 8);
  EXPECT_EQ(pair_kind(plane(), box({1, 1, 1}), contact).slots, 8);
  EXPECT_EQ(pair_kind(square(1), pentagon(), contact).slots, 9);
  EXPECT_EQ(pair_kind(circle(1), line(), contact).tangents, 1);
  EXPECT_EQ(pair_kind(sphere(1), plane(), contact).tangents, 2);
}

}  // namespace
}  // namespace clatter::contact
