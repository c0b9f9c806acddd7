// Kinds of joints as data: a row each, which the language, the loader, the engine and the page read.
//
// A further kind that holds displacements and products of axes and leaves elementary motions free is one row of the
// table in kinds.cpp; kinds with rows of their own (screw: its pitch; distance; a point on a curve) also have a case in
// engine/compile_joints.cpp.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/model.hpp"

namespace clatter {

// One elementary motion of a joint, about or along axis 0..2 of its frame.
struct JointMotion {
  enum class Kind { weld, turn, slide, screw, ball } kind;
  int axis;
  const char* component;
};

struct JointKindInfo {
  JointKind kind;
  const char* word;                            // in the model language
  const char* name;                            // to be told; the same but for the rack
  std::vector<std::string> free = {};          // names of the free components: displacements before angles
  std::vector<std::string> observed = {};      // components with a value, in the order they are told
  std::vector<int> held = {};                  // displacements of B in A's axes that vanish
  std::vector<std::pair<int, int>> axes = {};  // axis of A and axis of B that stay square to each other
  std::vector<JointMotion> motions = {};       // from A to B; empty: cannot stand in a tree
  bool in_plane = false;                       // makes sense between planar bodies
  bool needs_axis = false;
  enum class Friction { none, given, loaded } friction = Friction::none;  // by given limits; by the reactions too

  bool leaves(std::string_view component) const;  // free
  bool has(std::string_view component) const;     // observed
  bool turns() const;                             // some free component is an angle
  bool slides() const;                            // some is a displacement
};

std::span<const JointKindInfo> joint_kinds();  // in the order of JointKind
const JointKindInfo& joint_kind(JointKind kind);
const JointKindInfo* joint_kind(std::string_view word);  // null: there is none
inline const char* joint_kind_name(JointKind kind) { return joint_kind(kind).name; }

// Whether a component is an angle: angle, rx, ry, rz.
bool is_rotation(std::string_view component);

}  // namespace clatter
