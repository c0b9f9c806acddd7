// What finding a start that fits the joints did to what the model says: which quantity of which body, from what to
// what.
#pragma once

#include <string>
#include <vector>

#include "study/prepare.hpp"

namespace clatter::study {

// Lines such as "crank.position.x from 0.1 m to 0.1003 m", the largest change first, measured by the model's scales.
// Only what the model states counts: a body that nothing places is carried along by its joints. Elastic coordinates
// count always.
std::vector<std::string> changed_positions(Prepared& prepared);
std::vector<std::string> changed_velocities(Prepared& prepared);

}  // namespace clatter::study
