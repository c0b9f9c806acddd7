// What a law of contact is: the normal force of one point as a function of its gap g (negative: the penetration is
// delta = -g), the gap's rate and what the contact remembers, on any scalar type.
//
// A law is a struct derived from PlainLaw whose members are its parameters, all double, in the order of its rows
// `parameters`. It has
//
//   type, model     its word in the model language; laws of one type differ by a second word, `model`
//   text            a sentence for people
//   sample          parameters with which the conformance suites look at it
//   normal<T>()     force F, stored energy E and lost power P <= 0, with F dg/dt = -dE/dt + P on every branch
//
// and, where it differs from PlainLaw,
//
//   indicator()     positive exactly where it pushes (where it pulls: where it acts), in parts of a length; its zeros are
//                   the events at which contact begins and ends
//   chi(), remembers()   a number that is set when a contact closes at a speed of approach; whether that happens at all
//   reach()         how far from touch it acts on shapes that close at a speed (before_touch)
//   follows(), relaxation(), left()   of a surface with a place s of its own (has_surface): whether s is the gap; else
//                   ds/dt = -relaxation s, and what the surface that nobody touches stores and loses
//
// A new law is one header like its neighbours and one line in laws/laws.hpp.
#pragma once

#include <cmath>
#include <cstdint>

#include "base/dual.hpp"
#include "laws/parameter.hpp"

namespace clatter::laws {

// What a contact remembers of its past. `unknown`: never settled; the gap decides.
enum class Closure : std::uint8_t { unknown, open, closed };

struct Phase {
  Closure closure = Closure::unknown;
  double chi = 0;
};

template <class T>
struct Normal {
  T force, stored, loss;
};

struct PlainLaw {
  static constexpr const char* model = "";
  static constexpr bool usual_model = false;   // meant where `model` is not given
  static constexpr bool pulls = false;         // may pull while it leaves
  static constexpr bool jumps = false;         // its force does not begin at zero
  static constexpr bool before_touch = false;  // acts on shapes that are still apart
  static constexpr bool has_surface = false;

  double chi(double /*approach*/) const { return 0; }
  bool remembers() const { return false; }
  double reach(double /*speed*/) const { return 0; }
  double indicator(const Phase&, double length, double gap, double /*rate*/) const { return -gap / length; }
  bool follows(const Phase&, double /*gap*/, double /*rate*/, double /*surface*/) const { return false; }
  double relaxation() const { return 0; }
  template <class T>
  Normal<T> left(const T& /*surface*/) const {
    return {T(0.0), T(0.0), T(0.0)};
  }
};

// x^n for x > 0, with the usual exponents written out.
template <class T>
T penetration_power(const T& x, double n) {
  using std::pow, std::sqrt;
  if (n == 1) return x;
  if (n == 1.5) return x * sqrt(x);
  return pow(x, n);
}

// Whether a law with a jump acts: its memory says so, or without one the gap (from the surface).
inline bool closed(const Phase& phase, double gap, double surface) {
  return phase.closure == Closure::unknown ? gap < surface : phase.closure == Closure::closed;
}

}  // namespace clatter::laws
