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

}  // namespace clatter
