// What is recorded of a study's moments: which quantities, and where each is in a row of numbers.
#pragma once

#include <string>
#include <vector>

#include "study/prepare.hpp"

namespace clatter::study {

// What the model asks to be recorded: full quantities, in the system's order, each once. Unknown names are InputErrors.
std::vector<std::string> recorded_quantities(const Prepared& prepared);
Observer recorder(const Prepared& prepared);  // of all of them

// Where the scalar `quantity` ("rod.position.x") is among an observer's numbers. Throws InputError with the nearest
// name.
int column_of(const Observer& observer, const std::string& quantity);

}  // namespace clatter::study
