// What a contact or a friction row did in the last time step, whichever stepper took it.
#pragma once

#include "contact/friction_rows.hpp"

namespace clatter::contact {

// A contact that carried force in the last step.
struct ContactSample {
  int slot = -1;
  Mode mode = Mode::open;
  bool impact = false;          // it collided in this step
  int feature = -1;             // of the slot's branch: which edge, face, ...
  double rate[2] = {0, 0};      // gap rate before and after
  Vec3 force = Vec3::Zero();    // along n, t1, t2; mean over the step
  Vec3 impulse = Vec3::Zero();  // of the step (Moreau), of the impact alone (non-smooth generalized-alpha)
  double gap = 0;
  double slip[2] = {0, 0};  // at the end of the step
};

// A friction row in the last step (friction_stepping.cpp, crowd_slots.cpp).
struct FrictionSample {
  int index = -1;
  Mode mode = Mode::open;
  double force[2] = {0, 0};  // along its slips, mean over the step
  double limit = 0;
  double slip[2] = {0, 0};  // at the end of the step
};

}  // namespace clatter::contact
