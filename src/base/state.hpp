// State: where a model is, as a plain value. Copy it, store it, roll back to it.
#pragma once

#include "base/math.hpp"

namespace clatter {

struct State {
  double t = 0;
  Vec q;  // coordinates (orientations as unit quaternions w x y z)
  Vec v;  // velocities, dq/dt = T(q) v
  Vec z;  // first-order inner states
};

}  // namespace clatter
