// Names of quantities: "rod.tip.position.x", "pin.angle", "energy.total".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/units.hpp"

namespace clatter {

// The dimension a quantity's name tells, where it does: the last word that is not a component.
std::optional<Dimension> quantity_dimension(std::string_view name);

// Words that stand for quantities and can therefore not name a frame.
bool is_quantity_word(std::string_view word);

// First parts of the names of quantities that belong to no object: energy, system.
const std::vector<std::string>& global_quantities();

// A message for a quantity that is not among the `known` ones, with the nearest of them: "unknown quantity `x`" and
// "did you mean `y`?" Compares part by part: the nearest object first, then what it offers.
struct UnknownQuantity {
  std::string message, hint;
};
UnknownQuantity unknown_quantity(const std::string& name, const std::vector<std::string>& known);

// Does the name match a pattern with * (any text) and ? (any one character)?
bool glob_match(std::string_view pattern, std::string_view name);

}  // namespace clatter
