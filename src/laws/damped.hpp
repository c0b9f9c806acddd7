// Spring and damper (P-9 b):  F = c delta + d ddelta,  delta > 0;  E = c delta^2 / 2,  P = -d ddelta^2.
//
// The force jumps at touch and pulls at the end, until the gap opens.
#pragma once

#include "laws/law.hpp"

namespace clatter::laws {

struct Damped : PlainLaw {
  static constexpr const char* type = "linear";
  static constexpr const char* model = "damped";
  static constexpr bool usual_model = true, pulls = true, jumps = true;
  static constexpr const char* text = "spring and damper, may pull while it leaves";
  static constexpr Parameter parameters[] = {linear_stiffness, linear_damping};
  static constexpr double sample[] = {50, 0.5};

  double stiffness, damping;

  template <class T>
  Normal<T> normal(const Phase& phase, const T& gap, const T& rate, const T&) const {
    const T nil(0.0);
    if (!closed(phase, value(gap), 0)) return {nil, nil, nil};
    return {-stiffness * gap - damping * rate, 0.5 * stiffness * gap * gap, -damping * rate * rate};
  }
};

}  // namespace clatter::laws
