// Angles between frames that turn more than once and that no inner state counts: those that are only observed.
//
// A frame knows an angle within half a turn. Which turn it is in follows from its drive, or from a sum of coordinates
// where planar bodies and joints in trees have them; else it must be followed from step to step by whoever moves the
// system (contact/turn_stepper.hpp). Either way counting takes no part in the motion: what is recorded changes nothing.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/engine.hpp"

namespace clatter {

struct CountedAngle {
  std::string quantity;  // "pin.angle"
  std::string description;
  Measure measure;                            // between two frames
  double start = 0;                           // at the start of the system, in the turn that the joint states
  const Deformation* drive = nullptr;         // of the system: the angle is what its motion says
  bool by_coordinates = false;                // the angle is in the turn of a sum of coordinates
  std::vector<std::pair<int, double>> terms;  // coordinate, factor
  double offset = 0;

  bool known() const { return drive != nullptr || by_coordinates; }
  // A value in the turn that the angle is in at s, as far as that is known; else as at the start.
  double near(const State& s) const;
};

std::vector<CountedAngle> counted_angles(const System& system);

// e and whole turns, next to `near`.
double in_turn(double e, double near);

// Turns that the start of a joint states for one of its components: its value there, nothing where it states none.
const double* stated_component(const Joint& joint, const std::string& component);

}  // namespace clatter
