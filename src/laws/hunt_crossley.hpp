// Hunt and Crossley (Y-23):  F = c delta^n max(0, 1 + chi ddelta),  chi = damping + 3 (1 - e) / (2 v)
//
// with the speed v of the touch: hysteresis.hpp. What comes out is 0.488 for e = 0, far from plastic.
#pragma once

#include "laws/hysteresis.hpp"

namespace clatter::laws {

struct HuntCrossley : HysteresisLaw<HuntCrossley> {
  static constexpr const char* type = "hunt-crossley";
  static constexpr const char* text =
      "a power of the penetration times 1 + chi times its rate, chi a `damping`, or 3 (1 - e) / (2 v) of a "
      "`restitution` e and the speed v of the touch";
  static constexpr Parameter parameters[] = {
      power_stiffness,
      {.key = "damping", .unit = "s/m", .text = "Chi of the factor 1 + chi times the penetration's rate.", .choice = 1},
      power_exponent,
      {.key = "restitution",
       .text = "Coefficient of restitution, 0 to 1, instead of `damping`.",
       .otherwise = 1,
       .bound = Parameter::Bound::fraction,
       .choice = 1}};
  static constexpr double sample[] = {50, 0.3, 1.5, 0.4};

  double stiffness, damping, exponent, restitution;

  double chi(double approach) const { return damping + 1.5 * (1 - restitution) / approach; }
  bool remembers() const { return restitution < 1; }
};

}  // namespace clatter::laws
