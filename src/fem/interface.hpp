// Places where a flexible body is touched: groups of nodes seen as one frame.
//
//   mean  (RBE3, V-5)  u = sum w_i u_i + theta x (x - x_c),  theta = J^-1 sum l_i x u_i: the nodes stay free to deform
//                      about their mean; a force F, moment M is spread as w_i F + (J^-1 M) x l_i. Groups that are faces
//                      of the skin take the mean over the area A, w_i = int N_i dA/A and l_i = int N_i r dA/A, so that
//                      F, M act as tractions that are linear over the faces on any mesh and with middle nodes; others,
//                      and `weights: equal`, have w_i = 1/n, l_i = w_i r_i.
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
  std::vector<double> weights;  // w_i; their sum is 1
  std::vector<Vec3> levers;     // l_i, r from the weighted centre of the nodes
  Vec3 at = Vec3::Zero();       // mesh coordinates
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
