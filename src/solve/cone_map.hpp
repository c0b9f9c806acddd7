// The contact problem in its own units, and the natural map whose zeros are its solutions.
//
//   u = r / (C load),   y' = R y / load,   A' = R A C,   b' = R b / load        R, C powers of two, |b'| = 1
//   F(u) = u - proj_K(n)(u - y'),   n = proj(u_N - y'_N)     on line rows F = y'
//
// The bound of a friction set is taken from the projected normal unknown n (Alart and Curnier); at a solution it is u_N
// itself. F is piecewise smooth; `derivative` gives the element of its generalized derivative on the piece at hand.
// Both rows of a disc share their scales: it stays round.
#pragma once

#include "solve/complementarity.hpp"

namespace clatter {

struct ScaledContact {
  ContactProblem problem;  // A', b', cones in the units of u
  Vec R, C;
  double load = 1;
  std::vector<int> cone_of;  // row -> index of its cone

  void assign(const ContactProblem& original);  // validates it
  void to_original(const Vec& u, Vec& r) const { r = load * C.cwiseProduct(u); }
  void from_original(const Vec& r, Vec& u) const { u = r.cwiseQuotient(C) / load; }
};

// y = A u + b
void kinematics(const ContactProblem& p, const Vec& u, Vec& y);

// Nearest point to v of the set of a one-row cone without normal: the range of a normal unknown.
double project_range(const Cone& cone, double v);

// F(u); with `J` also dF/du, n x n.
void natural_map(const ScaledContact& s, const Vec& u, const Vec& y, Vec& F, Mat* J = nullptr);

struct ConeResidual {
  double complementarity = 0;  // |F| over the size of what cancels (kSolvedResidual)
  double violation = 0;        // distance of u from K(u), and of y from the signs the cones allow
};
ConeResidual residual(const ScaledContact& s, const Vec& u, const Vec& y, Vec& F);

// Moves u into K(u): normals first, then what they bound.
void project(const ScaledContact& s, Vec& u);

}  // namespace clatter
