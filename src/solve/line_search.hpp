// The least point of a convex function along a step: root of its slope f(t), which increases, between 0 and 1.
//
// Regula falsi with the Illinois correction, until |f(t)| is a tenth of |f(0)|: the direction is worth no more. The
// whole step where the slope there is as small, or still falls.
#pragma once

#include <cmath>

namespace clatter {

template <class Slope>
double least_point_along(double begin, const Slope& slope) {
  constexpr int kMost = 20;
  constexpr double kFlat = 0.1, kClose = 1e-6;
  double a = 0, fa = begin, b = 1, fb = slope(1.0), t = 1;
  if (!(fb > kFlat * std::abs(begin))) return 1;
  for (int k = 0; k < kMost && b - a > kClose; ++k) {
    t = (a * fb - b * fa) / (fb - fa);
    if (!(t > a && t < b)) t = 0.5 * (a + b);
    const double f = slope(t);
    if (std::abs(f) <= kFlat * std::abs(begin)) break;
    if (f > 0) {
      b = t;
      fb = f;
      fa *= 0.5;
    } else {
      a = t;
      fa = f;
      fb *= 0.5;
    }
  }
  return t;
}

}  // namespace clatter
