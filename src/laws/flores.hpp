// Flores (V-26):  F = c delta^n max(0, 1 + chi ddelta),  chi = 8 (1 - e) / (5 e v)
//
// with the speed v of the touch: hysteresis.hpp. Made for all e: what comes out is 0.256 for 0.3, 0.577 for 0.6 and 0.894
// for 0.9. It has no value for e = 0.
#pragma once

#include "laws/hysteresis.hpp"

namespace clatter::laws {

struct Flores : HysteresisLaw<Flores> {
  static constexpr const char* type = "flores";
  static constexpr const char* text =
      "a power of the penetration times 1 + chi times its rate, chi = 8 (1 - e) / (5 e v) of the `restitution` e and "
      "the speed v of the touch";
  static constexpr Parameter parameters[] = {power_stiffness,
                                             power_exponent,
                                             {.key = "restitution",
                                              .text = "Coefficient of restitution, above 0, up to 1; required.",
                                              .otherwise = 1,
                                              .bound = Parameter::Bound::positive_fraction,
                                              .required = true,
                                              .why = "its damping 8 (1 - e) / (5 e v) has no bound as e becomes 0"}};
  static constexpr double sample[] = {50, 1.5, 0.7};

  double stiffness, exponent, restitution;

  double chi(double approach) const { return 8 * (1 - restitution) / (5 * restitution * approach); }
  bool remembers() const { return restitution < 1; }
};

}  // namespace clatter::laws
