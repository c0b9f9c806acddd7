// System: the compiled model. Arrays of like elements and index maps; immutable, shared between threads.
//
// Every moving body is a link of a tree. A body in absolute coordinates is a tree of its own whose root moves
// freely; a body in joint coordinates hangs on its parent's link by its joint. What is not part of a tree is a
// deformation: a function e of measures between frames, whose status says what becomes of it (a row of
// constraints, a stress, or only something to look at).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/state.hpp"
#include "engine/deformation.hpp"
#include "engine/tree.hpp"
#include "integrate/dynamics.hpp"
#include "model/model.hpp"

namespace clatter {

// A place on a link: everything that attaches to a body attaches to one of these.
struct Frame {
  int link = -1;              // -1: ground
  Mat3 R = Mat3::Identity();  // frame axes in the link's axes (ground: in the world)
  Vec3 r = Vec3::Zero();      // from the link's mass centre, link axes (ground: in the world)
};

// A force and torque with components that are functions of time and quantities.
struct CompiledLoad {
  std::string name;
  int frame = -1, reaction = -1;  // reaction -1: none
  bool torque = false, follower = false;
  CompiledFunction component[3];
  int channel = 0;  // power channel
};

// What presses a joint's surfaces together: weight (|F/2 + m| + |F/2 - m|), F two reaction forces and m two reaction
// moments divided by the length of the bearing, whose pairs of forces they are. Deformations; -1: none.
struct FrictionLoad {
  int force[2] = {-1, -1}, moment[2] = {-1, -1};
  double inverse_length[2] = {0, 0};  // signed: forces at the far end
  double weight = 1;
};

// Friction in one free component of a joint, or in two that share a limit. Slip is scale times the component's rate, in
// m/s, and friction a force along it, |f| <= base(v / scale) / scale + coefficient(v) load.
struct JointFrictionIndex {
  int joint = -1;
  int count = 1;
  int measure[2] = {-1, -1};
  double scale[2] = {1, 1};
  std::string component[2];
  bool angular[2] = {false, false};
  Friction base, coefficient;
  std::vector<FrictionLoad> load;
  double velocity = 0;  // of the smoothed law, m/s of slip
};

struct BodyIndex {
  int link = -1;
  int frame = -1;     // the body's own frame
  int flexible = -1;  // index into System::flexible
};

// A flexible body: its block, and its elastic coordinates in the state.
struct FlexibleIndex {
  int body = -1, block = -1;
  int n = 0;                  // elastic coordinates of the reduced body
  int first = 0;              // the first of them that is a coordinate of the state; superelements: after the nodes'
  int q = 0, v = 0;           // where it is
  int states = 0;             // how many are
  int node0 = -1;             // link of its first boundary node
  int marker0 = -1;           // link of its first marker
  int row = -1;               // deformation of the first of the six rows that hold its frame, -1: none
  int channel = -1;           // power channel of its damping, -1: none
  std::vector<double> scale;  // of an elastic coordinate for a displacement of unit length
  std::vector<int> frames;    // of the body's named frames, in their order
  struct Pressure {
    std::string name;
    CompiledFunction value;
    int channel = -1;
  };
  std::vector<Pressure> pressures;  // of the block, in their order
};

class System {
 public:
  // Throws InputError for a model that cannot be compiled (bodies that nothing places, unknown quantities, ...).
  static std::shared_ptr<const System> compile(Model model);
  // A place that moves with a marker of a flexible body. Throws InputError for a marker it does not have.
  Frame on_marker(const Attachment& a) const;
  Frame on_beam(const Attachment& a) const;  // ... of a beam
  // False for a boundary node without rotations: such a place has no orientation.
  bool turns(const Attachment& a) const;

  Model model;
  Sizes sizes;
  Tree tree;
  std::vector<Frame> frames;
  std::vector<std::string> frame_names;
  std::vector<BodyIndex> bodies;  // parallel to model.bodies
  std::vector<FlexibleIndex> flexible;
  std::vector<Measure> measures;
  std::vector<Deformation> deformations;
  std::vector<int> holonomic, nonholonomic;  // deformations that make the rows of G, in row order
  std::vector<int> elastic;                  // deformations that carry a stress
  std::vector<CompiledLoad> loads;
  std::vector<char> frame_active, measure_active;  // needed at every evaluation, not only to observe
  std::vector<int> turning;                        // angle measures whose turns an inner state counts
  struct EventIndex {
    int deformation;
    LawEvent which;
  };
  LawTables law_tables;
  std::vector<EventIndex> events;
  std::vector<std::string> velocity_names;
  std::vector<char> velocity_angular;
  std::vector<std::string> channel_names;  // power channels of the ledger
  struct JointComponentIndex {
    int joint;
    std::string name;
    int measure;
    bool angular;
  };
  std::vector<JointComponentIndex> joint_components;  // every component that can be observed
  struct JointIndex {
    int frame_a = -1, frame_b = -1;
    int link = -1;          // in a tree: the link it carries on its second body's side (or first, when reversed)
    bool reversed = false;  // the tree goes from the second body to the first
  };
  std::vector<JointIndex> joints;  // parallel to model.joints
  std::vector<JointFrictionIndex> joint_frictions;
  std::vector<int> element_deformation;   // parallel to model.force_elements
  std::vector<int> joint_of_deformation;  // -1, or the model joint a deformation belongs to
  State initial;                          // as written; not yet made consistent
  double length_scale = 1, mass_scale = 1, time_scale = 1;

 private:
  System() = default;
};

}  // namespace clatter
