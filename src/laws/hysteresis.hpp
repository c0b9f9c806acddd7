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

template <class T>
Normal<T> hysteresis_normal(double stiffness, double exponent, double chi, const T& gap, const T& rate) {
  const T nil(0.0);
  if (!(gap < 0.0)) return {nil, nil, nil};
  const T delta = -gap;
  const T elastic = stiffness * penetration_power(delta, exponent);
  const T bracket = 1.0 - chi * rate;
  const T force = bracket > 0.0 ? T(elastic * bracket) : nil;
  return {force, elastic * delta / (exponent + 1), (force - elastic) * rate};
}

inline double hysteresis_indicator(double chi, double length, double gap, double rate) {
  return std::min(-gap / length, 1 - chi * rate);
}

}  // namespace clatter::laws
