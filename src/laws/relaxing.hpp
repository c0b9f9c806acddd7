// A surface without mass that has a place s of its own (P-10):
//
//   closed   s = g,             F = c delta + d ddelta     E = c s^2 / 2,  P = -d ddelta^2
//   open     d ds/dt = -c s,    F = 0                      E = c s^2 / 2,  P = -c^2 s^2 / d
//
// It is met where it has crept to and left where the force vanishes.
#pragma once

#include "laws/law.hpp"

namespace clatter::laws {

struct Relaxing : PlainLaw {
  static constexpr const char* type = "linear";
  static constexpr const char* model = "relaxing";
  static constexpr bool jumps = true, pulls = true, has_surface = true;  // pulls only inside a step that ends later
  static constexpr const char* text = "a surface without mass that follows the body, and creeps back when left";
  static constexpr Parameter parameters[] = {linear_stiffness,
                                             {.key = "damping",
                                              .unit = "N*s/m",
                                              .text = "Force for each unit of the rate of the surface; required.",
                                              .bound = Parameter::Bound::positive,
                                              .required = true,
                                              .why = "it resists the surface's creep",
                                              .spread = true}};
  static constexpr double sample[] = {50, 0.5};

  double stiffness, damping;

  template <class T>
  Normal<T> normal(const Phase& phase, const T& gap, const T& rate, const T& surface) const {
    if (follows(phase, value(gap), value(rate), value(surface)))
      return {-stiffness * gap - damping * rate, 0.5 * stiffness * gap * gap, -damping * rate * rate};
    return left(surface);
  }
  template <class T>
  Normal<T> left(const T& surface) const {
    return {T(0.0), 0.5 * stiffness * surface * surface, -relaxation() * stiffness * surface * surface};
  }
  // Without memory the force decides too: the surface stays behind where it would have to be pulled.
  bool follows(const Phase& phase, double gap, double rate, double surface) const {
    if (!closed(phase, gap, surface)) return false;
    return phase.closure == Closure::closed || -stiffness * gap - damping * rate > 0;
  }
  double relaxation() const { return stiffness / damping; }
  double indicator(const Phase&, double length, double gap, double rate) const {
    return -(gap + damping / stiffness * rate) / length;
  }
};

}  // namespace clatter::laws
