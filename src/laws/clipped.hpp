// Spring and damper that never pull (P-9 c):  F = max(0, c delta + d ddelta) for every delta: acts before touch on
// shapes that approach. E = c delta^2 / 2 of the penetration, what is left of F is lost.
#pragma once

#include "laws/law.hpp"

namespace clatter::laws {

struct Clipped : PlainLaw {
  static constexpr const char* type = "linear";
  static constexpr const char* model = "clipped";
  static constexpr bool jumps = true, before_touch = true;
  static constexpr const char* text = "the same but never pulls";
  static constexpr Parameter parameters[] = {linear_stiffness, linear_damping};
  static constexpr double sample[] = {50, 0.5};

  double stiffness, damping;

  template <class T>
  Normal<T> normal(const Phase&, const T& gap, const T& rate, const T&) const {
    const T nil(0.0), raw = -stiffness * gap - damping * rate;
    const T force = raw > 0.0 ? raw : nil, elastic = gap < 0.0 ? T(-stiffness * gap) : nil;
    return {force, -0.5 * elastic * gap, (force - elastic) * rate};
  }
  double indicator(const Phase&, double length, double gap, double rate) const {
    return -(gap + damping / stiffness * rate) / length;
  }
  double reach(double speed) const { return damping / stiffness * speed; }
};

}  // namespace clatter::laws
