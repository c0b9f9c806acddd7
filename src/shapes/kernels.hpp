// What the kernels of plane and space share: the scalar's helpers and the nearest points of balls.
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "shapes/shape.hpp"

namespace clatter::contact {

template <class T>
inline constexpr bool searching = std::is_same_v<T, double>;

// A simplified Newton iteration (matrix in double) gains one order of derivatives a step: none needed for values that
// were converged before, one for Jet<double>, two where the mixed second derivatives count.
template <class T>
inline constexpr int newton_steps = std::is_same_v<T, double> ? 0 : (std::is_same_v<T, Jet<double>> ? 1 : 2);

inline constexpr double far_away = 1e30;  // margin where no other feature is

// Shorter than this no direction is taken from a difference of positions.
inline constexpr double no_direction = 1e-12;

template <class E>
const E& item(const std::vector<E>& list, int i) {
  return list[static_cast<std::size_t>(i)];
}
template <class E>
int count_of(const std::vector<E>& list) {
  return static_cast<int>(list.size());
}

template <class T>
T smaller(const T& a, const T& b) {
  return value(b) < value(a) ? b : a;
}

template <class T, int D>
using VD = Eigen::Matrix<T, D, 1>;

template <class T, int D>
T length_of(const VD<T, D>& d) {
  using std::sqrt;
  T s = d[0] * d[0];
  for (int i = 1; i < D; ++i) s += d[i] * d[i];
  return sqrt(s);
}

// Before tangents are made.
template <class T, int D>
struct Near {
  T gap;
  VD<T, D> n, p1, p2;
  T margin = far_away;
};

// Ball r1 about c1 against ball r2 about c2. Concentric: the direction `spare` stands in, and the gap follows it.
template <class T, int D>
Near<T, D> ball_ball(const VD<T, D>& c1, double r1, const VD<T, D>& c2, double r2, const VD<T, D>& spare) {
  Near<T, D> out;
  const VD<T, D> d = c1 - c2;
  T distance = length_of<T, D>(d);
  if (value(distance) > no_direction) {
    out.n = d / distance;
  } else {
    out.n = spare;
    distance = spare.dot(d);
  }
  out.gap = distance - (r1 + r2);
  out.p1 = c1 - out.n * r1;
  out.p2 = c2 + out.n * r2;
  return out;
}

// Ball r1 about c1 in the hole of radius r2 about c2: with u from c2 to c1, n = -u.
template <class T, int D>
Near<T, D> ball_in_hole(const VD<T, D>& c1, double r1, const VD<T, D>& c2, double r2, const VD<T, D>& spare) {
  Near<T, D> out = ball_ball<T, D>(c1, -r1, c2, r2, spare);
  out.n = -out.n;
  out.gap = -out.gap;
  return out;
}

// The same place seen from the other body.
template <class T, int D>
void turn_round(Near<T, D>& near) {
  near.n = -near.n;
  std::swap(near.p1, near.p2);
}

}  // namespace clatter::contact
