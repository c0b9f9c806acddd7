// A consistent start: phi(q,t) = 0, G v + y = 0, then accelerations and multipliers.
//
// What does not fit is moved by the smallest correction in the metric of M (or in those that the caller names, one
// after the other), or refused by name when it must not be moved.
#pragma once

#include <functional>
#include <vector>

#include "integrate/dynamics.hpp"

namespace clatter {

struct InitialSettings {
  bool adjust_positions = true, adjust_velocities = true;
  double tolerance =
      1e-9;  // violations below it, in units of the scales, are not worth an error where moving is forbidden
  // Ways to weigh a correction, told to whoever makes it before it is tried; the first that meets the constraints is
  // taken. None: there is one way.
  std::vector<std::function<void()>> ways;
  // What the last way, once it has met the constraints, goes on to lower by corrections that keep them; none: it ends.
  std::function<double(const State&)> strain_energy;
};

struct InitialReport {
  int position_iterations = 0;
  double position_correction = 0, velocity_correction = 0;  // largest, in units of the coordinates' scales
  Vec acceleration, lambda;
};

// Throws InputError where an inconsistent start may not be adjusted, SolveError where it cannot be.
InitialReport make_consistent(Dynamics& dynamics, State& s, const InitialSettings& settings = {});

}  // namespace clatter
