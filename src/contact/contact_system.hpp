// ContactSystem: the contacts of a compiled model. Immutable, shared between threads like the System it belongs to.
//
// Every pair of shapes named by a contact owns consecutive slots (touch.hpp). Slots are numbered pair by pair in the
// order of the model, so that every result is in a fixed order.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "contact/beam_pair.hpp"
#include "engine/system.hpp"
#include "shapes/shape.hpp"

namespace clatter::contact {

struct ShapeInstance {
  std::string name;
  int link = -1;              // -1: ground
  Mat3 R = Mat3::Identity();  // shape axes in the link's axes (ground: in the world)
  Vec3 r = Vec3::Zero();      // shape origin from the link's mass centre, link axes (ground: in the world)
  Geometry geometry;
};

// A contact written in coordinates: gap(q, t) and tangential displacement slide(q, t) as formulas of joint coordinates.
struct CoordinateRow {
  struct Input {
    int q = -1, v = -1;  // -1: the time
    double scale = 1;
  };
  std::shared_ptr<const Expression> formula;  // null: constant
  double constant = 0;
  std::vector<Input> inputs;
};
struct CoordinateContact {
  CoordinateRow row[2];  // gap, slide
};

struct PairInstance {
  std::string name;
  int shape1 = -1, shape2 = -1;
  int contact = -1;  // into Model::contacts: its law
  int group = -1;    // into ContactSystem::groups
  int slot0 = 0, slots = 1, tangents = 1;
  bool rigid = true;
  bool moments = false;        // its law has rolling or drilling friction
  int link1 = -1, link2 = -1;  // that it moves; of a contact in coordinates: one of each tree
  std::shared_ptr<const CoordinateContact> coordinates;
  std::shared_ptr<const BeamPair> beams;
  // Its rows are functions of the coordinates themselves, not of the motion of two links.
  bool in_coordinates() const { return coordinates != nullptr || beams != nullptr; }
};

// What friction rows (friction_rows.hpp) are made of: friction in a joint, or the moments of a slot.
struct FrictionInstance {
  std::string name;                         // "pin", "pin.angle" where the joint has several; "bounce.rolling"
  int joint = -1;                           // into System::joint_frictions
  int slot = -1;                            // else a moment of this slot
  int count = 1;                            // directions that share the limit
  int component[2] = {-1, -1};              // of the slot
  double scale[2] = {1, 1};                 // slip in m/s = scale * rate
  double ratio = 0;                         // slot: limit = ratio r_N
  double velocity = 0;                      // slip speed of the smoothed law
  double speed_scale = 1, force_scale = 1;  // of its slip and its force: the model's, at its own lever arm
  int link1 = -1, link2 = -1;               // that it moves
};

// An entry of `contacts:` that is several pairs: its consecutive slots.
struct ContactEntry {
  std::string name;
  int slot0 = 0, slots = 0, tangents = 1;
};

class ContactSystem {
 public:
  // `smooth`: rigid laws are replaced by compliant ones (the contact's own `smooth`, or one made from the model's
  // scales).
  static std::shared_ptr<const ContactSystem> compile(std::shared_ptr<const System> system, bool smooth = false);

  std::shared_ptr<const System> system;
  std::vector<ShapeInstance> shapes;
  std::vector<PairInstance> pairs;
  std::vector<int> pair_of_slot;
  std::vector<ContactLaw> laws;     // parallel to Model::contacts; as used
  std::vector<std::string> groups;  // entries of `contacts:`: those of a crowd, then those that are pairs
  bool any_rigid = false, any_compliant = false;
  bool smooth = false;                      // friction in joints is smoothed
  std::vector<FrictionInstance> frictions;  // of joints, then of rigid slots
  int joint_frictions = 0;
  std::vector<std::string> friction_channels;  // joints with friction
  std::vector<int> channel_of_friction;        // a friction of a joint each: into friction_channels
  std::vector<int> friction_of_slot;           // first of a slot's, -1: none
  double velocity_scale = 1, length_scale = 1, force_scale = 1;

  int slots() const { return static_cast<int>(pair_of_slot.size()); }
  const PairInstance& pair(int slot) const {
    return pairs[static_cast<std::size_t>(pair_of_slot[static_cast<std::size_t>(slot)])];
  }
  const ContactLaw& law(int slot) const { return laws[static_cast<std::size_t>(pair(slot).contact)]; }
  const RigidContact& rigid(int slot) const { return std::get<RigidContact>(law(slot)); }
  // "bounce", or "bounce[3]" where the pair has several slots (counted from 1).
  std::string slot_name(int slot) const;
  std::vector<ContactEntry> several() const;
};

// mu at slip speed v >= 0, and its derivative.
double friction_coefficient(const Friction& friction, double v, double* derivative = nullptr);

}  // namespace clatter::contact
