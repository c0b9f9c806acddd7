// What a beam or cable is: its axis cut into elements, what its section resists and weighs, and named points of it.
// Plain values in SI; `src/engine` makes a chain of elements of the absolute nodal coordinate formulation of them.
#pragma once

#include <string>
#include <vector>

#include "base/error.hpp"
#include "model/model.hpp"

namespace clatter {

struct BeamSource {
  enum class Element {
    cable,  // two nodes, position and slope: rigid in shear, no torsion
    beam    // three nodes, position and the section's vectors: shear, torsion, and a section that gives
  } element = Element::cable;
  bool planar = true;
  bool continuum = false;  // planar beams: forces of the strained continuum instead of the section's
  bool full_integration =
      false;  // integrates along the axis exactly: beams and cables of few elements become too stiff
  int elements = 1;
  // The undeformed axis, in the body's frame: origin and axes of every node, x along the axis, y and z of the section;
  // elements + 1 (cables) or 2 elements + 1 (beams) of them. Arc lengths of the elements.
  std::vector<Placement> nodes;
  std::vector<double> lengths;

  // Section: axial, shear along y and z, torsion, bending about y and z (planar: about z alone).
  double EA = 0, GAy = 0, GAz = 0, GJ = 0, EIy = 0, EIz = 0;
  double rhoA = 0, rhoIy = 0, rhoIz = 0;                // mass and rotary inertia a length
  double young = 0, poisson = 0, width = 0, depth = 0;  // continuum: extent along y and z
  double axial_damping = 0, damping = 0;  // retardation times: stress follows strain + time * rate; axial, all others

  struct Point {
    std::string name;
    Source source;
    double s = 0;         // 0 at the start, 1 at the end, in equal parts for all elements
    double y = 0, z = 0;  // beams: beside the axis, r + y r_y + z r_z; moves as the section strains
  };
  std::vector<Point> points;
  // Pressure on a side of a planar beam, normal to the side wherever it goes (Y-7).
  struct Pressure : Named {
    bool above = false;  // on the side y > 0 of the section
    Function value;      // of the time, Pa; positive towards the axis
  };
  std::vector<Pressure> pressures;
  // For pictures: extent of the section along y and z.
  double size_y = 0, size_z = 0;

  int nodes_of_element() const { return element == Element::cable ? 2 : 3; }
  int node_count() const { return (nodes_of_element() - 1) * elements + 1; }
  // A straight axis from one point to another, with y of the section near `up`.
  void straight(const Vec3& from, const Vec3& to, const Vec3& up = Vec3::UnitY());
  // A place of the undeformed body as its elements interpolate it, in the body's frame; s from 0 to 1.
  Placement at(double s, double y = 0, double z = 0) const;
  // Stiffness and inertia of a section of one material: rectangle (extent along y, z) or circle (diameter).
  void rectangle(double y, double z, double young_modulus, double poisson_ratio, double density);
  void circle(double diameter, double young_modulus, double poisson_ratio, double density);
};

}  // namespace clatter
