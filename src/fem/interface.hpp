// Places where a flexible body is touched: groups of nodes seen as one frame.
//
//   mean  (RBE3, V-5)  u = sum w_i u_i/W + theta x (x - x_c),  theta = J_w^-1 sum w_i r_i x u_i: the nodes stay free to
//                      deform about their mean; a force F, moment M is spread as w_i/W F + w_i (J_w^-1 M) x r_i
//   rigid (RBE2)       the nodes move with the frame
//   node               one node: its displacement, and its rotation where it has one
#pragma once

#include "fem/elastic_solver.hpp"
#include "model/flexible.hpp"

namespace clatter::fem {

struct Interface {
  std::string name;
  InterfaceDescription::Coupling coupling = InterfaceDescription::Coupling::mean;
  std::vector<int> nodes;
  std::vector<double> weights;
  Vec3 at = Vec3::Zero();  // mesh coordinates
  Mat3 axes = Mat3::Identity();
  int group = -1;  // rigid group of the structure
};

// Nodes of a selection; InputError naming the interface when there are none.
std::vector<int> select_nodes(const Mesh& mesh, const NodeSelection& selection, const std::string& name);
// All interfaces; patterns become one for each set that matches. Rigid ones are added to `groups`.
std::vector<Interface> make_interfaces(const Mesh& mesh, const std::vector<InterfaceDescription>& descriptions,
                                       std::vector<RigidGroup>& groups);

// u = displacement q, theta = rotation q at an interface or point: 3 rows each; rotation is empty where there is none.
struct PlaceRows {
  Mat displacement, rotation;  // dense, over `columns`
  std::vector<int> columns;    // freedoms
  bool rotates = false;
};
PlaceRows interface_rows(const Structure& structure, const Interface& interface);
// Any point of the body: interpolated in the element it lies in, rotation = curl/2 there (solids), or with the nearest
// node of a line of beams.
PlaceRows point_rows(const Structure& structure, const Vec3& x, const std::string& name);

// Rows of several interfaces one below the other, rotations where they exist (plane bodies: x, y, rotation z).
struct BoundaryRows {
  SparseRows C;
  Vec scale;
  std::vector<int> first;  // row of each interface
  std::vector<bool> rotations;
  int rows() const { return static_cast<int>(C.rows()); }
};
BoundaryRows boundary_rows(const Structure& structure, const std::vector<Interface>& interfaces);

}  // namespace clatter::fem
