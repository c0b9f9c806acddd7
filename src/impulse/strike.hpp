// What time stepping takes for an impact, of pairs (time_stepping.hpp) and in crowds (crowd_stepper.hpp) alike.
//
// No impact is done by halves. A contact that lands fast would be stopped in part by a law of gaps, so that its gap
// ends at zero, and the rest of it in the next step; each part with a friction of its own, which is not that of the
// whole impact where slip turns round in between. So velocities are found apart from positions:
//
//   strikes    motion without contacts closes it within the step, fast: velocities have the impact in full, by its law;
//              positions close the gap
//   waits      only the impulses of others bring it together within the step, fast: velocities do not feel it,
//              positions end at gap zero, and it collides with all its speed in the next step
//
// Fast is what approaches by more than twice what forces change in a step: slower, it could bounce less than a step
// long, and rests.
#pragma once

#include <algorithm>
#include <cmath>

namespace clatter::contact {

// change: of the gap rate, by forces in the step.
inline bool is_fast(double approach, double change, double velocity_scale) {
  constexpr double kImpact = 2, kNoApproach = 1e-9;
  return approach > kImpact * change + kNoApproach * velocity_scale;
}

// A gap that may close in `time`: gap rates before, and at its end without contacts; what forces change speeds by.
struct Closing {
  double gap, time, before, free, change;
  double most_change() const { return std::max(change, std::abs(free - before)); }
  bool closes() const { return gap + time * free <= 0; }
  bool strikes(double velocity_scale) const { return closes() && is_fast(-before, most_change(), velocity_scale); }
  bool waits(double velocity_scale) const { return !closes() && is_fast(gap / time, most_change(), velocity_scale); }
};

}  // namespace clatter::contact
