// Power of the penetration with a damper that begins at zero (Y-24):
//
//   F = max(0, c delta^n + d delta ddelta),  delta > 0;   E = c delta^(n+1) / (n+1)
#pragma once

#include <algorithm>

#include "laws/law.hpp"

namespace clatter::laws {

struct Hertz : PlainLaw {
  static constexpr const char* type = "hertz";
  static constexpr const char* text = "a power of the penetration, and damping by penetration times its rate";
  static constexpr Parameter parameters[] = {
      power_stiffness,
      {.key = "damping",
       .unit = "N*s/m^2",
       .text = "Force for each unit of penetration times its rate; 0 unless given.",
       .spread = true},
      power_exponent};
  static constexpr double sample[] = {50, 0.5, 1.5};

  double stiffness, damping, exponent;

  template <class T>
  Normal<T> normal(const Phase&, const T& gap, const T& rate, const T&) const {
    const T nil(0.0);
    if (!(gap < 0.0)) return {nil, nil, nil};
    const T delta = -gap;
    const T elastic = stiffness * penetration_power(delta, exponent), raw = elastic - damping * delta * rate;
    const T force = raw > 0.0 ? raw : nil;
    return {force, elastic * delta / (exponent + 1), (force - elastic) * rate};
  }
  double indicator(const Phase&, double length, double gap, double rate) const {
    if (!(damping > 0)) return -gap / length;
    // The force by delta, in parts of that at a penetration of the length.
    const double whole = stiffness * penetration_power(length, exponent) / length;
    const double elastic = gap < 0 ? penetration_power(-gap / length, exponent) / (-gap / length) : 0;
    return std::min(-gap / length, elastic - damping * rate / whole);
  }
};

}  // namespace clatter::laws
