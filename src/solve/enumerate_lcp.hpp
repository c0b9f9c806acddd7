// All solutions of a small contact problem without discs, by trying every state (P-32).
//
// Each row is on one of a few linear pieces: a ray at r = 0 or y = 0, a box at its lower end, inside (y = 0) or at its
// upper end. A choice of pieces is a system of n linear equations C r = d (the complementary cones of P-32: "b lies in
// the cone" is "r and y have the right signs"). Where C is regular it gives one candidate. Where it is singular and the
// equations agree, r = r0 + N t, and the signs are a polyhedron G t + g >= 0: whether it is empty is decided by
// nonnegative least squares, whether it is a single point by Stiemke's alternative.
//
// The only method that always decides (P-34). Friction on a row whose normal is open and that transmits nothing then
// has one state, not three.
#pragma once

#include <vector>

#include "solve/complementarity.hpp"

namespace clatter {

enum class Piece : std::uint8_t { lower, active, upper };  // lower: r = lower end (open); active: y = 0

struct EnumeratedSolution {
  Vec r, y;                  // x and y of a plain LCP
  std::vector<Piece> at;     // a piece for each row; points on several pieces are listed once
  bool family = false;       // r is one point of infinitely many on these pieces
  bool family_of_y = false;  // and y varies over them
};

struct Enumeration {
  SolutionCount count = SolutionCount::unknown;    // of r; unknown: too many states, or a close miss
  SolutionCount count_y = SolutionCount::unknown;  // of y
  std::vector<EnumeratedSolution> solutions;
  long states = 0, singular_states = 0;
};

// Number of states `enumerate` would try at most; infinity-like large numbers are cut at 2^40.
long state_count(const ContactProblem& p);

Enumeration enumerate(const ContactProblem& p, long max_states = 200000);
Enumeration enumerate(const Eigen::Ref<const Mat>& A, const Eigen::Ref<const Vec>& b, long max_states = 200000);

// min |E x - f| over x >= 0 (Lawson and Hanson); returns the norm that is left.
double nonnegative_least_squares(const Mat& E, const Vec& f, Vec& x);

}  // namespace clatter
