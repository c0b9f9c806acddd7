// What the user says about a flexible body: mesh, material, interfaces, reduction. Plain values in SI; `src/fem` makes
// a ReducedBody of them.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/math.hpp"

namespace clatter {

// --- geometry --------------------------------------------------------------------------------------------------------

struct GearData {
  int teeth = 0;
  double module = 0;          // normal module
  double pressure_angle = 0;  // normal
  double helix_angle = 0;     // positive: right hand
  double profile_shift = 0;   // x, multiples of the module: sets the tooth thickness
  double tip_diameter = 0;    // given, not derived from x (VV-5)
  double root_diameter = 0;
  double width = 0;
  double bore_diameter = 0;
  double tip_radius_factor = 0.38;  // of the generating rack, multiples of the module
};

struct GearMeshCounts {
  int involute = 6, fillet = 2, half_tooth = 2, under_tooth = 3, half_gap = 2, rim = 3, width = 4;
};

struct MeshDescription {
  enum class Kind {
    file,       // .msh, .inp
    matrices,   // K, M and node positions
    box,        // size; elements x, y, z
    rectangle,  // plane; size.x, size.y; elements x, y
    cylinder,   // radius, length; elements around, rings, along
    tube,       // radius, inner_radius, length; elements around, through, along
    disk,       // plane; radius; elements around, rings
    extrusion,  // points, thickness, element_size; elements: layers
    polygon,    // plane; points, element_size
    beam,       // length along x, or points; elements
    spring,     // diameter, length, coils; elements a coil
    gear,       // gear, gear_counts
    block       // plane block of one element (E-16): size.x, size.y
  } kind = Kind::file;
  std::string file, mass_file, node_file;
  double unit = 1;  // metres a unit of the file
  bool merge = false;
  Vec3 size = Vec3::Zero();
  double radius = 0, inner_radius = 0, length = 0, thickness = 0, diameter = 0, coils = 0, element_size = 0;
  std::vector<Vec3> points;
  std::vector<int> elements;
  bool quadratic = false;
  bool incompatible_modes = true;
  bool lumped_mass = false;
  bool plane_strain = false;
  GearData gear;
  GearMeshCounts gear_counts;
};

struct MaterialDescription {
  std::string set;  // element set, or empty: all others
  double density = 0, young = 0, poisson = 0;
  // Orthotropic: moduli along three axes; then young and poisson are not used.
  bool orthotropic = false;
  std::array<double, 3> moduli{}, shear_moduli{}, ratios{};  // 1 2 3; 12 23 13; nu 12 23 13
  Mat3 axes = Mat3::Identity();
};

struct SectionDescription {
  enum class Kind { none, circle, ring, rectangle, given } kind = Kind::none;
  double diameter = 0, inner_diameter = 0, width = 0, height = 0;  // rectangle: width along y, height along z
  double area = 0, Iy = 0, Iz = 0, torsion = 0, shear_y = 0, shear_z = 0;
  bool shear = true;  // Timoshenko; else Euler-Bernoulli
  Vec3 up = Vec3::Zero();
};

// --- interfaces ------------------------------------------------------------------------------------------------------

// Nodes of the mesh.
struct NodeSelection {
  enum class Kind { set, box, plane, node, sphere } kind = Kind::set;
  std::string set;  // set: name, or a pattern with * that makes an interface of each set that fits
  Vec3 from = Vec3::Zero(), to = Vec3::Zero();  // box: corners; node, sphere: `from`; plane: a point and its normal
  double radius = 0;                            // sphere
};

struct InterfaceDescription {
  std::string name;
  Source source;
  NodeSelection nodes;
  enum class Coupling { mean, rigid, node } coupling = Coupling::mean;
  enum class Weights { automatic, equal } weights = Weights::automatic;  // automatic: by area where there are faces
  std::optional<Vec3> at;                                                // default: the weighted centre of the nodes
  Mat3 axes = Mat3::Identity();                                          // of the marker
};

struct PointDescription {
  std::string name;
  Source source;
  Vec3 at = Vec3::Zero();
  Mat3 axes = Mat3::Identity();
};

// --- reduction -------------------------------------------------------------------------------------------------------

struct ReductionDescription {
  enum class Method { modal, craig_bampton, frequency_response, given, all } method = Method::craig_bampton;
  std::optional<int> modes;          // eigenmodes kept; default 10 unless a frequency is given
  double max_frequency = 0;          // Hz; 0: none
  std::vector<std::string> clamped;  // modal: interfaces held while modes are computed; none: free
  bool static_corrections = false;   // modal: shapes of unit loads at the interfaces
  double excitation_frequency = 0;   // frequency_response, Hz
  std::string modes_file;            // given: columns of freedoms
};

struct ReferenceDescription {
  enum class Kind { mean_axes, interface, nodes, principal_axes } kind = Kind::mean_axes;
  std::string interface;      // frame fixed to this interface
  std::array<Vec3, 3> nodes;  // E-11: origin, direction of e1, plane (nearest nodes of the mesh)
};

struct DampingDescription {
  enum class Kind { none, rayleigh, ratios, modal } kind = Kind::none;
  double alpha = 0, beta = 0;                  // rayleigh
  std::array<double, 2> frequency{}, ratio{};  // ratios: two frequencies (Hz) and their ratios
  std::vector<double> modal;                   // ratio of each mode; the last one for all further ones
};

struct FlexibleSource {
  MeshDescription mesh;
  std::vector<MaterialDescription> materials;
  SectionDescription section;
  std::vector<InterfaceDescription> interfaces;
  std::vector<PointDescription> points;
  ReductionDescription reduction;
  ReferenceDescription reference;
  DampingDescription damping;
  bool stiffening = false;
  enum class Formulation { floating_frame, superelement, finite_elements } formulation = Formulation::floating_frame;
};

}  // namespace clatter
