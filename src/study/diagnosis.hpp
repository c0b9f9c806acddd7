// A study that cannot go on, told with its time and the names of what is to blame.
#pragma once

#include <exception>
#include <span>
#include <string>

#include "base/error.hpp"
#include "engine/quantity.hpp"
#include "integrate/stepper.hpp"

namespace clatter::study {

// "ball.velocity.x" of the first number of a row that is not finite; empty when all are.
std::string not_finite(const Observer& observer, std::span<const double> row);
// Of such a row, or of an energy ledger where `name` is empty.
SolveError not_finite_error(double t, const std::string& name);

// What the mathematics below throws knows nothing of bodies and times: here it gets both. The elements are those whose
// velocity is not finite, or the fastest by the model's own scales.
SolveError diagnosis_of(const std::exception& error, Stepper& stepper);

}  // namespace clatter::study
