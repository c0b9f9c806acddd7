// What a body is made of, and the sections of its beams.
//
// Voigt order xx, yy, zz, xy, yz, zx with engineering shear strains (V-4); a plane problem uses xx, yy, xy.
#pragma once

#include <optional>

#include "base/math.hpp"

namespace clatter::fem {

// Moduli along the material's axes 1, 2, 3 (columns of `axes` in the mesh's coordinates).
struct Orthotropic {
  double E[3] = {0, 0, 0};
  double nu12 = 0, nu23 = 0, nu13 = 0;  // nu_ij: contraction along j for tension along i
  double G12 = 0, G23 = 0, G13 = 0;
  Mat3 axes = Mat3::Identity();
};

struct Material {
  double density = 0;
  double young = 0, poisson = 0;  // isotropic, unless orthotropic is given
  std::optional<Orthotropic> orthotropic;
};

// InputError unless density and elastic constants make a positive strain energy.
void check_material(const Material& material);

Mat6 elasticity(const Material& material);
Mat3 plane_elasticity(const Material& material, bool plane_strain);

// y and z are the principal axes of the section; `up` is a direction in the x-y plane of the section's frame (x along
// the beam).
struct BeamSection {
  double area = 0, Iy = 0, Iz = 0;  // second moments about y and z
  double torsion = 0;               // Saint-Venant's constant
  double polar = 0;                 // for the rotatory inertia about the axis; 0: Iy + Iz
  double shear_y = 0, shear_z = 0;  // shear factors (5/6 for a rectangle); 0: rigid in shear (Euler-Bernoulli)
  Vec3 up = Vec3::Zero();           // zero: chosen
};
BeamSection circular_section(double diameter, double poisson, bool shear);
BeamSection annular_section(double outer, double inner, double poisson, bool shear);
BeamSection rectangular_section(double along_y, double along_z, double poisson, bool shear);
// InputError unless areas and moments are positive.
void check_section(const BeamSection& section);

// What an element is made with.
struct Properties {
  Material material;
  double thickness = 1;       // plane elements
  bool plane_strain = false;  // else plane stress
  BeamSection section;        // beams
};

}  // namespace clatter::fem
