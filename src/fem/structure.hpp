// A mesh with its freedoms and matrices: K u + M u'' = f.
//
// Freedoms of a node: 3 displacements in a solid, 2 in a plane body, 6 (displacement, rotation) where beams end. Nodes
// of a rigid group (RBE2) have none of their own: they move with the group's node, u = u_g + theta_g x (x - x_g).
//
// Inertia of the translational field is kept in a form that gives every integral of V-10: the scalar matrix m_ab of
// solids, and samples of the field of beams, int rho f dV = sum w f(X, u = H q).
#pragma once

#include <Eigen/SparseCore>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "fem/element.hpp"
#include "fem/mesh.hpp"
#include "fem/read.hpp"

namespace clatter::fem {

using Sparse = Eigen::SparseMatrix<double>;
// What is being done, and how much of it: 0 to 1.
using Progress = std::function<void(const std::string& stage, double fraction)>;

struct RigidGroup {
  Vec3 at = Vec3::Zero();
  std::vector<int> nodes;
};

struct StructureInput {
  Mesh mesh;
  // Element set (or "" for all others) and what it is made of.
  std::vector<std::pair<std::string, Properties>> properties;
  Formulation formulation = Formulation::incompatible;
  MassKind mass = MassKind::consistent;
  std::vector<RigidGroup> rigid;
};

class Assembler;

class Structure {
 public:
  explicit Structure(StructureInput input, const Progress& progress = {});
  // A body given by its matrices; nodes become a mesh without elements.
  Structure(const MatrixModel& model, const std::string& name);

  const Mesh& mesh() const { return input_.mesh; }
  bool planar() const { return planar_; }
  bool from_matrices() const { return from_matrices_; }
  int freedoms() const { return freedoms_; }
  int node_count() const { return static_cast<int>(input_.mesh.nodes.size()); }
  const std::vector<RigidGroup>& rigid() const { return input_.rigid; }
  const Sparse& K() const { return K_; }  // lower triangles
  const Sparse& M() const { return M_; }
  // Block (node or rigid group) that freedom i belongs to: for orderings and messages.
  const std::vector<int>& block_of() const { return block_of_; }
  Vec3 block_position(int block) const;

  // Displacement and rotation of a node: `coefficients` times the freedoms first, first + 1, ...
  using NodeMap = Eigen::Matrix<double, 3, Eigen::Dynamic, 0, 3, 6>;
  struct NodeMotion {
    int first = -1;
    NodeMap displacement, rotation;
    bool rotates = false;
  };
  NodeMotion node(int index) const;
  NodeMotion group(int index) const;
  // Displacements of all nodes, 3 rows each, of columns of freedoms.
  Mat nodal(const Mat& V) const;

  Mat mass_times(const Mat& X) const { return M_.selfadjointView<Eigen::Lower>() * X; }
  Mat stiffness_times(const Mat& X) const { return K_.selfadjointView<Eigen::Lower>() * X; }

  // Mass, centre, inertia about the centre, second moments int rho X X^T about it.
  double mass() const { return mass_; }
  const Vec3& centre() const { return centre_; }
  const Mat3& inertia() const { return inertia_; }
  const Mat3& second_moments() const { return E00_; }
  // Rigid motions about the centre: columns translation x, y, z and rotation x, y, z (plane: x, y, rotation z).
  Mat rigid_motions() const;

  const Sparse& scalar_mass() const { return m_; }  // lower, nodes x nodes
  struct Sample {                                   // of the translational field of a beam
    double weight;
    Vec3 X;
    int node[2];
    Mat3x12 H;
  };
  const std::vector<Sample>& samples() const { return samples_; }
  // Displacements of the samples, 3 rows each.
  Mat sampled(const Mat& V) const;

  // Phi^T K_geo Phi for the stress that displacements u (freedoms) cause (E-13).
  Mat geometric(const Vec& u, const Mat& Phi) const;
  // Body force density: f(x) for each material point, integrated with the mass: int rho N^T f(X) dV, X from the centre.
  Vec body_load(const std::function<Vec3(const Vec3&)>& f) const;

  const Properties& properties_of(int element) const {
    return input_.properties[static_cast<std::size_t>(property_[static_cast<std::size_t>(element)])].second;
  }
  Formulation formulation() const { return input_.formulation; }
  // Freedoms of an element's nodes as displacements: 3 (2) a node for solids, 12 for beams.
  Vec element_displacements(const ElementRef& e, const Vec& u) const;

 private:
  void number_freedoms();
  void assign_properties();
  void assemble(const Progress& progress);
  using PairBlock = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, 6, 6>;
  int unit_of(int node) const;  // of the assembler: the node, or its rigid group behind all nodes
  void connect(Assembler& full, Assembler& scalar);
  void add_samples(const int* nodes, const Properties& p);
  void add_pair(Assembler& full, const int* nodes, int i, int j, int d, PairBlock& kb, PairBlock& mb);
  void summarize();

  StructureInput input_;
  bool planar_ = false, from_matrices_ = false;
  int freedoms_ = 0;
  std::vector<int> property_;       // of each element
  std::vector<int> first_, count_;  // of each node; linked nodes have none
  std::vector<int> group_of_;       // rigid group of each node, or -1
  std::vector<int> group_first_;
  std::vector<int> block_of_;
  Sparse K_, M_, m_;
  std::vector<Sample> samples_;
  double mass_ = 0;
  Vec3 centre_ = Vec3::Zero();
  Mat3 inertia_ = Mat3::Zero(), E00_ = Mat3::Zero();
};

}  // namespace clatter::fem
