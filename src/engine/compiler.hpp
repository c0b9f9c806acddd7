// Compiler: the work of System::compile, in steps that share one half-built System.
//
//   place bodies -> choose trees -> links -> frames -> joints -> force elements -> loads -> start state -> offsets
//
// A joint in the tree is a chain of elementary mobilities from frame A to frame B (or backwards with the signs turned);
// a joint outside it is a list of deformations. Either way its components carry the same names.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/system.hpp"

namespace clatter {

struct FlexibleBody;

// One elementary motion of a joint: about or along axis 0..2 of the joint frame.
struct JointStep {
  Mobility mobility;
  int axis;
  std::string component;
};
// Steps from A to B; empty for kinds that cannot stand in a tree. `fixed` is one weld.
std::vector<JointStep> joint_steps(JointKind kind);

class Compiler {
 public:
  explicit Compiler(System& system) : sys_(system), model_(system.model) {}
  void run();

 private:
  [[noreturn]] void fail(const Source& source, const std::string& message, const std::string& hint = {}) const;

  // --- bodies and trees (compile_tree.cpp)
  struct TreeJoint {
    int joint = -1;
    bool reversed = false;   // the tree goes from the joint's second body to its first
    std::vector<int> links;  // one per step, in tree order
  };
  void place_bodies();
  void joint_twist(const Joint& j, Vec3& v, Vec3& w) const;
  void choose_trees();
  void build_links();
  void emit_body(int body, int joint, bool reversed);
  void add_child_bodies(int body);
  // (compile_flexible.cpp)
  void prepare_flexible();
  void emit_flexible(int body);
  void finish_flexible();
  std::shared_ptr<const Block> make_block(const Body& b, double level);
  void start_flexible(const FlexibleIndex& f);
  // (compile_beam.cpp)
  void prepare_beams();
  void emit_beam(int body);
  void finish_beams();
  void fill_initial_coordinates();
  void scales();
  bool may_stand_in_tree(const Joint& j) const;
  Placement joint_displacement(const Joint& j) const;  // pose of B in A at the given start values

  // --- joints (compile_joints.cpp)
  int frame_of(const Attachment& a);
  void build_joints();
  void joint_rows(int index);
  void coupling_row(const Joint& j, int index);
  void build_frictions();  // compile_friction.cpp
  void joint_friction(int index);
  int add_measure(const Measure& m);
  int angle_measure(int joint, const std::string& component, bool count_turns);
  std::optional<int> component_measure(int joint, const std::string& component, bool count_turns);
  Deformation& add_deformation(const Joint& j, int joint_index, const std::string& component, int measure,
                               bool angular);
  void apply_status(Deformation& d, const Status& status, const Source& source);
  void count_turns(int measure);
  const Status* status_of(const Joint& j, const std::string& component) const;
  bool planar_pair(const Attachment& a, const Attachment& b) const;
  bool particle_pair(const Attachment& a, const Attachment& b) const;

  // --- functions, force elements, loads (compile_forces.cpp)
  void build_force_elements();
  void build_loads();
  CompiledFunction function(const Function& f, bool own_inputs = false);
  FunctionInput input(const std::string& name, const Source& source, bool own_inputs);
  FunctionInput quantity(const std::string& name, const Source& source);
  void set_law(Deformation& d, const Law& law, const Source& source);
  int channel(const std::string& name);
  int new_state();
  int actuator_state(const std::string& element, const ActuatorLaw& law);
  void finish_rows();
  void offsets_from_start();

  System& sys_;
  Model& model_;
  std::vector<int> tree_joint_of_body_;  // index into tree_joints_, -1: root
  std::vector<TreeJoint> tree_joints_;
  std::vector<int> tree_index_of_joint_;    // -1: outside the tree
  std::vector<std::vector<int>> children_;  // per body: bodies hanging on it
  std::vector<int> ground_children_;
  std::vector<Placement> body_in_link_;  // body's frame in the axes of its link, from the link's mass centre
  std::vector<Placement> pose_;          // start poses of the bodies' frames
  std::vector<Vec3> velocity_, omega_;   // start velocities of the bodies' frames
  std::map<const ReducedBody*, std::shared_ptr<const FlexibleBody>> flexible_bodies_;
  std::map<std::pair<int, std::string>, int> measure_of_component_;
  std::vector<int> offset_at_start_;  // deformations whose offset is their value at the start
  std::map<std::string, int> state_of_element_;
  std::map<std::string, int> deformation_of_element_;
  int world_frame_ = -1;
  int nz_ = 0;
  std::vector<double> z0_;
};

}  // namespace clatter
