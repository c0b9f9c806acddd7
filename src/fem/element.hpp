// Matrices of single elements.
//
// Solids and plane elements (V-4, E-7): K = int B^T D B, m_ab = int rho N_a N_b (scalar; M = m (x) I). Hexahedra and
// quadrilaterals of first order carry incompatible modes 1 - xi_i^2 whose gradients are (det J0/det J) J0^-1 d/dxi, so
// that the patch test holds on distorted meshes; they are condensed and have no mass (Taylor, Beresford and Wilson
// 1976).
//
// Beams: two nodes with displacement and rotation, exact for end loads; shear factors make it Timoshenko's, with
// Phi = 12 E I/(k G A L^2) and the interpolation that satisfies the homogeneous equations (Friedman and Kosmatka 1993).
#pragma once

#include <Eigen/Dense>
#include <memory>

#include "fem/element_type.hpp"
#include "fem/material.hpp"

namespace clatter::fem {

enum class Formulation { incompatible, plain };
enum class MassKind { consistent, lumped };

using ElementMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, 60, 60>;
using ScalarMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, most_nodes, most_nodes>;
using Mat12 = Eigen::Matrix<double, 12, 12>;

// Solids: 3 freedoms a node; plane elements: 2.
void solid_stiffness(ElementType type, const NodeCoordinates& x, const Properties& p, Formulation formulation,
                     ElementMatrix& K);
void solid_mass(ElementType type, const NodeCoordinates& x, const Properties& p, MassKind kind, ScalarMatrix& m);

// Stress at each point of the stiffness rule for nodal displacements u (3 or 2 a node): columns xx, yy, zz, xy, yz, zx
// (plane: zz is what plane strain makes, 0 in plane stress).
using PointStresses = Eigen::Matrix<double, 6, Eigen::Dynamic>;
void solid_stress(ElementType type, const NodeCoordinates& x, const Properties& p, Formulation formulation,
                  const Vec& u, PointStresses& stress);
// The same for many displacements of one element.
class StressOperator {
 public:
  StressOperator(ElementType type, const NodeCoordinates& x, const Properties& p, Formulation formulation);
  ~StressOperator();
  StressOperator(const StressOperator&) = delete;
  StressOperator& operator=(const StressOperator&) = delete;
  void apply(const Vec& u, PointStresses& stress) const;

 private:
  std::unique_ptr<class SolidElement> element_;
  bool plane_strain_;
  double poisson_;
};
// Scalar geometric stiffness g_ab = int grad N_a . sigma grad N_b: each displacement component feels it alike (E-13).
void solid_geometric(ElementType type, const NodeCoordinates& x, const Properties& p, const PointStresses& stress,
                     ScalarMatrix& g);

// Rows: axes x (along the beam), y, z of the section.
Mat3 beam_axes(const Vec3& a, const Vec3& b, const BeamSection& section);
// Freedoms u1, theta1, u2, theta2 in the mesh's axes.
void beam_stiffness(const Vec3& a, const Vec3& b, const Properties& p, Mat12& K);
void beam_mass(const Vec3& a, const Vec3& b, const Properties& p, MassKind kind, Mat12& M);
// Geometric stiffness of an axial force of one newton, tension positive.
void beam_geometric(const Vec3& a, const Vec3& b, const Properties& p, Mat12& G);
double beam_axial_force(const Vec3& a, const Vec3& b, const Properties& p, const Eigen::Matrix<double, 12, 1>& u);
// Displacement of the axis at s in [0, 1] from the twelve freedoms: what carries the translational mass.
using Mat3x12 = Eigen::Matrix<double, 3, 12>;
Mat3x12 beam_interpolation(const Vec3& a, const Vec3& b, const Properties& p, double s);

}  // namespace clatter::fem
