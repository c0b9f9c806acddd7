// Kinds of finite elements: dimension, nodes, faces and edges, shape functions, quadrature.
//
// Node order: corners first, then the middles of `edges` in their order (the order of Abaqus and CalculiX). Parent
// domains: xi in [-1, 1]^d for lines, quadrilaterals and hexahedra; area or volume coordinates xi_i >= 0, sum <= 1 for
// triangles and tetrahedra; wedges: triangle in (xi_1, xi_2), xi_3 in [-1, 1]. Faces are seen from outside
// counter-clockwise; the faces of a plane element are its edges, material on the left.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "base/math.hpp"

namespace clatter::fem {

enum class ElementType : unsigned char { tet4, tet10, hex8, hex20, wedge6, wedge15, tri3, tri6, quad4, quad8, line2 };
constexpr int element_types = 11;
constexpr int most_nodes = 20;

struct ElementInfo {
  std::string_view name;
  int dimension = 3;
  int corners = 0, nodes = 0;
  std::vector<std::array<int, 2>> edges;  // corners; node corners + k is the middle of edge k of a quadratic element
  std::vector<std::vector<int>> faces;    // corners, then middles of the face's edges in the order of its corners
  ElementType linear;                     // the type with the same corners and no middles
  ElementType quadratic;                  // the type with middles; itself for lines
};
const ElementInfo& info(ElementType type);

using NodeCoordinates = Eigen::Matrix<double, Eigen::Dynamic, 3, 0, most_nodes, 3>;
using ShapeValues = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, most_nodes, 1>;
using ShapeGradients = Eigen::Matrix<double, Eigen::Dynamic, 3, 0, most_nodes, 3>;  // row a: dN_a/dxi (or /dx)

void shape_functions(ElementType type, const Vec3& xi, ShapeValues& N, ShapeGradients& dN);

// Parent coordinates of the nodes.
const std::vector<Vec3>& parent_nodes(ElementType type);

struct QuadraturePoint {
  Vec3 xi;
  double weight;
  ShapeValues N;
  ShapeGradients dN;
};
// Enough for the stiffness of an undistorted element (V-4), and for rho N_a N_b and rho x x on a distorted one.
const std::vector<QuadraturePoint>& stiffness_rule(ElementType type);
const std::vector<QuadraturePoint>& mass_rule(ElementType type);

// Gradients in space from those in the parent domain; J(r, s) = dx_s/dxi_r. Returns det J (length or area factor of
// the plane problem for plane elements, whose z is ignored).
double spatial_gradients(int dimension, const ShapeGradients& dN, const NodeCoordinates& x, ShapeGradients& dNdx,
                         Mat3& J);

}  // namespace clatter::fem
