// A zero of a continuous function between two points where its signs differ, by Brent's method: inverse quadratic
// interpolation and secants while they shrink the bracket fast enough, bisection otherwise.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace clatter {

// x in [a, b] with f(a) f(b) <= 0; the bracket is narrowed to `tolerance` or to rounding.
template <class Function>
double find_root(Function&& f, double a, double b, double fa, double fb, double tolerance) {
  if (fa == 0) return a;
  if (fb == 0) return b;
  double c = a, fc = fa;  // b is the best point, c on the other side of the zero, a the best point before b
  double move = b - a, last_move = move;
  for (int iteration = 0; iteration < 200; ++iteration) {
    if ((fb > 0) == (fc > 0)) {
      c = a;
      fc = fa;
      move = last_move = b - a;
    }
    if (std::abs(fc) < std::abs(fb)) {
      a = std::exchange(b, c);
      c = a;
      fa = std::exchange(fb, fc);
      fc = fa;
    }
    const double allowed = 2 * std::numeric_limits<double>::epsilon() * std::abs(b) + 0.5 * tolerance;
    const double half = 0.5 * (c - b);
    if (std::abs(half) <= allowed || fb == 0) return b;
    double p = half, q = 1;
    bool interpolated = false;
    if (std::abs(last_move) >= allowed && std::abs(fa) > std::abs(fb)) {
      const double s = fb / fa;
      if (a == c) {
        p = 2 * half * s;
        q = 1 - s;
      } else {
        const double u = fa / fc, w = fb / fc;
        p = s * (2 * half * u * (u - w) - (b - a) * (w - 1));
        q = (u - 1) * (w - 1) * (s - 1);
      }
      if (p > 0) q = -q;
      p = std::abs(p);
      interpolated = 2 * p < std::min(3 * half * q - std::abs(allowed * q), std::abs(last_move * q));
    }
    last_move = interpolated ? move : half;
    move = interpolated ? p / q : half;
    a = b;
    fa = fb;
    b += std::abs(move) > allowed ? move : std::copysign(allowed, half);
    fb = f(b);
  }
  return b;
}

}  // namespace clatter
