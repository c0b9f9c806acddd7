// Named diagnoses of a solve that cannot go on.
#pragma once

#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/math.hpp"
#include "integrate/dynamics.hpp"

namespace clatter {

// The rows or coordinates with the largest |residual| / scale, at most three, and "name (value), name (value)".
struct Culprits {
  std::vector<std::string> names;
  std::string text;
};
Culprits worst_rows(const Dynamics& dynamics, const Vec& residual, const Vec& scale);
Culprits worst_velocities(const Dynamics& dynamics, const Vec& residual, const Vec& scale);

// Name of the first entry of the state that is not finite; empty when all are.
std::string first_not_finite(const Dynamics& dynamics, const State& s);

// An iteration whose increments, `left` times what the tolerance asks for, no longer fall although they are rounding:
// magnified by rows that are nearly dependent, however short the step.
inline constexpr double kMagnifiedRounding = 1e-10;  // of the scales
[[noreturn]] void tolerance_too_sharp(const Dynamics& dynamics, double t, const Vec& worst, double tolerance,
                                      double left);

}  // namespace clatter
