// Formulas with their first three derivatives, exactly: of one variable, and of several along a direction.
//
// Stands apart because the number types of expressions (model/jets.hpp) and of contact (base/jet.hpp) share a name.
#pragma once

#include <array>
#include <span>

namespace clatter {

class Expression;

// f, f', f'', f''' at s.
std::array<double, 4> formula_at(const Expression& f, double s);

// Third derivative of f(x + tau d) by tau at 0: D3 f[d, d, d]. Mixed ones follow by polarisation:
//   6 D3[v, v, w] = D3[v + w]^3 - D3[v - w]^3 - 2 D3[w]^3
double third_along(const Expression& f, std::span<const double> x, std::span<const double> d);

}  // namespace clatter
