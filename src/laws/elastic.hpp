// Elastic contact (P-9 a):  F = c delta,  delta > 0;  E = c delta^2 / 2.
#pragma once

#include "laws/law.hpp"

namespace clatter::laws {

struct Elastic : PlainLaw {
  static constexpr const char* type = "linear";
  static constexpr const char* model = "elastic";
  static constexpr const char* text = "stiffness only";
  static constexpr Parameter parameters[] = {linear_stiffness};
  static constexpr double sample[] = {50};

  double stiffness;

  template <class T>
  Normal<T> normal(const Phase&, const T& gap, const T&, const T&) const {
    const T nil(0.0);
    if (!(gap < 0.0)) return {nil, nil, nil};
    return {-stiffness * gap, 0.5 * stiffness * gap * gap, nil};
  }
};

}  // namespace clatter::laws
