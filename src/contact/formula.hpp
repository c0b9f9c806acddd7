// A formula of one variable with its first three derivatives, exactly.
//
// Stands apart because the number types of expressions (model/jets.hpp) and of contact (base/jet.hpp) share a name.
#pragma once

#include <array>

namespace clatter {

class Expression;

namespace contact {

// f, f', f'', f''' at s.
std::array<double, 4> formula_at(const Expression& f, double s);

}  // namespace contact
}  // namespace clatter
