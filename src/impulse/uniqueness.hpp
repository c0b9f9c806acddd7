// Uniqueness: whether the accelerations found for lasting contacts are the only ones (P-34, PV-6, PV-9, trap 25).
//
//   y = A r + b,   A = W^T X,   accelerations a_0 + X r,   Q = D^T X
//
// X = M^-1 D with joints held, so that (dr)^T Q dr = |da|^2 in the metric of M: forces that differ but accelerate alike
// are not told apart. Two ways to be ambiguous:
//
//   several   other states of the contacts satisfy the laws as well (P-32: all states of a small problem are tried).
//             The solution with the smallest normal forces is the choice: of separation and sliding on against a
//             negative stiffness the first, which is the one that survives a little compliance.
//   family    A n = 0 over the forces that are free, but X n != 0: a whole interval r + t n of solutions. The choice is
//             the smallest one, which the equations of the phase that follows take as well.
#pragma once

#include <vector>

#include "solve/complementarity.hpp"

namespace clatter::contact {

struct Ambiguity {
  enum class Kind : std::uint8_t { none, several, family } kind = Kind::none;
  std::vector<int> rows;     // normal rows whose forces differ
  Vec other;                 // several: the solution with the largest normal forces; the smallest were taken
  Vec n;                     // family: direction of the forces; empty where there are several
  double low = 0, high = 0;  // family with one direction: r + t n, low <= t <= high; infinite where nothing bounds it
};

// Looks at the solution r; replaces it by the choice where there are others.
Ambiguity find_ambiguity(const ContactProblem& problem, const Mat& Q, Vec& r);

}  // namespace clatter::contact
