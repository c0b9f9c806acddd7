// Lankarani and Nikravesh (S-42):  F = c delta^n max(0, 1 + chi ddelta),  chi = 3 (1 - e^2) / (4 v)
//
// with the speed v of the touch: hysteresis.hpp. A formula for e near 1. Where the program makes a law that gives back an
// e exactly it sets D = chi v itself (`damping`, a number).
#pragma once

#include "laws/hysteresis.hpp"

namespace clatter::laws {

struct LankaraniNikravesh : HysteresisLaw<LankaraniNikravesh> {
  static constexpr const char* type = "lankarani-nikravesh";
  static constexpr const char* text =
      "a power of the penetration times 1 + chi times its rate, chi = 3 (1 - e^2) / (4 v) of the `restitution` e and "
      "the speed v of the touch";
  static constexpr Parameter parameters[] = {power_stiffness,
                                             {.key = "damping", .in_language = false},
                                             power_exponent,
                                             {.key = "restitution",
                                              .text = "Coefficient of restitution, 0 to 1; required.",
                                              .otherwise = 1,
                                              .bound = Parameter::Bound::fraction,
                                              .required = true}};
  static constexpr double sample[] = {50, 0, 1.5, 0.6};

  double stiffness, damping, exponent, restitution;

  double chi(double approach) const {
    return (damping > 0 ? damping : 0.75 * (1 - restitution * restitution)) / approach;
  }
  bool remembers() const { return damping > 0 || restitution < 1; }
};

}  // namespace clatter::laws
