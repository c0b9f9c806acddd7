// Plane elastic block of one bilinear element (E-16), in closed form.
//
// Nodes 4 (0, 0), 1 (L, 0), 2 (L, H), 3 (0, H); coordinates eta = (u1x, u2x, u2y, u3x, u3y): the source's frame sits in
// node 4 with its x axis through node 1. Here the frame's origin is the mass centre: its motion differs from the
// source's by the constant offset (L/2, H/2) only, since the shapes are the same functions of the material point. Hence
// x = X + Phi eta with X from the centre and the shapes of the source, which do not move node 4 nor turn edge 4-1.
//
// Scalar mass of the rectangle: m_ab = m/36 (4 for a = b, 2 for neighbours, 1 for opposite corners). E and density are
// those of an areal body times the thickness; plane stress (or strain).
#include <fmt/format.h>

#include "base/error.hpp"
#include "fem/element.hpp"
#include "fem/make.hpp"

namespace clatter::fem {

ReducedBody planar_block(double L, double H, const Properties& p) {
  if (!(L > 0 && H > 0)) throw InputError("a block needs a positive length and height");
  check_material(p.material);
  ReducedBody b;
  b.planar = true;
  b.n = 5;
  b.origin = Vec3(L / 2, H / 2, 0);
  b.mass = p.material.density * p.thickness * L * H;
  // Order of the element's corners: nodes 4, 1, 2, 3.
  NodeCoordinates x(4, 3);
  x << 0, 0, 0, L, 0, 0, L, H, 0, 0, H, 0;
  constexpr double share[4][4] = {{4, 2, 1, 2}, {2, 4, 2, 1}, {1, 2, 4, 2}, {2, 1, 2, 4}};
  // Freedom (node, component) of each coordinate.
  constexpr int node[5] = {1, 2, 2, 3, 3}, component[5] = {0, 0, 1, 0, 1};
  ElementMatrix K;
  solid_stiffness(ElementType::quad4, x, p, Formulation::plain, K);
  b.N = Mat::Zero(3, 5);
  for (Mat& e : b.E0) e = Mat::Zero(3, 5);
  for (Mat& e : b.E) e = Mat::Zero(5, 5);
  b.M = b.K = b.D = Mat::Zero(5, 5);
  const auto X = [&](int a) { return Vec3(x.row(a).transpose() - b.origin); };
  for (int a = 0; a < 4; ++a)
    for (int c = 0; c < 4; ++c) b.E00 += b.mass * share[a][c] / 36 * X(a) * X(c).transpose();
  b.J0 = b.E00.trace() * Mat3::Identity() - b.E00;
  for (int l = 0; l < 5; ++l) {
    for (int a = 0; a < 4; ++a) {
      const double m = b.mass * share[a][node[l]] / 36;
      b.N(component[l], l) += m;
      for (int i = 0; i < 3; ++i) b.E0[static_cast<std::size_t>(i)](component[l], l) += m * X(a)[i];
    }
    for (int k = 0; k < 5; ++k) {
      const double m = b.mass * share[node[k]][node[l]] / 36;
      if (component[k] == component[l]) {
        b.M(k, l) = m;
        b.E[static_cast<std::size_t>(component[l])](k, l) = m;
      } else if (component[k] == 0) {
        b.E[3](k, l) = m;  // xy
      }
      b.K(k, l) = K(2 * node[k] + component[k], 2 * node[l] + component[l]);
    }
  }
  for (int a = 0; a < 4; ++a) {
    Marker m;
    m.name = fmt::format("node_{}", a == 0 ? 4 : a);
    m.X = X(a);
    m.S = Mat::Zero(3, 5);
    m.Psi = Mat::Zero(3, 5);
    for (int l = 0; l < 5; ++l)
      if (node[l] == a) m.S(component[l], l) = 1;
    // Rotation of the material at the corner: half the curl of the bilinear field.
    ShapeValues N;
    ShapeGradients dN, g;
    Mat3 J;
    shape_functions(ElementType::quad4, parent_nodes(ElementType::quad4)[static_cast<std::size_t>(a)], N, dN);
    spatial_gradients(2, dN, x, g, J);
    for (int l = 0; l < 5; ++l) m.Psi(2, l) = component[l] == 0 ? -0.5 * g(node[l], 1) : 0.5 * g(node[l], 0);
    b.markers.push_back(std::move(m));
  }
  return b;
}

}  // namespace clatter::fem
