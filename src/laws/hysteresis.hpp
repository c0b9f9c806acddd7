// What laws with hysteresis damping share:
//
//   F = c delta^n max(0, 1 + chi ddelta),  delta > 0;   E = c delta^(n+1) / (n+1)
//
// chi is a given number, or follows from a coefficient of restitution and the speed v at which this contact was touched;
// laws differ by that formula. With w = ddelta / v and D = chi v a body that meets it at v leaves at e v with
//
//   D - log(1 + D) = -D e - log(1 - D e)
//
// whatever mass, stiffness and exponent are.
#pragma once

#include <algorithm>

#include "laws/law.hpp"

namespace clatter::laws {

// A law of this family has members `stiffness` and `exponent` and writes chi() and remembers() itself.
template <class Law>
struct HysteresisLaw : PlainLaw {
  template <class T>
  Normal<T> normal(const Phase& phase, const T& gap, const T& rate, const T& /*surface*/) const {
    const T nil(0.0);
    if (!(gap < 0.0)) return {nil, nil, nil};
    const Law& law = static_cast<const Law&>(*this);
    const T delta = -gap;
    const T elastic = law.stiffness * penetration_power(delta, law.exponent);
    const T bracket = 1.0 - phase.chi * rate;
    const T force = bracket > 0.0 ? T(elastic * bracket) : nil;
    return {force, elastic * delta / (law.exponent + 1), (force - elastic) * rate};
  }
  double indicator(const Phase& phase, double length, double gap, double rate) const {
    return std::min(-gap / length, 1 - phase.chi * rate);
  }
};

}  // namespace clatter::laws
