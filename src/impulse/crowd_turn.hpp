// CrowdTurn: the moment that a row of a CrowdProblem transmits, rolling and drilling friction (P-26) in crowds.
//
//   w = w_1 - w_2 = w_N n + w_T          spin of the first body against the second
//   exact:    |M_T| <= rho p_N,  M_T against w_T where it rolls;   |M_N| <= delta p_N,  M_N against w_N where it drills
//   relaxed:  K contains (P, M)  perp  (d, w) in K*,   K: |P_T| <= mu p_N, |M_T| <= rho p_N, |M_N| <= delta p_N
//                                                      K*: d_N >= mu |u_T| + rho |w_T| + delta |w_N|
//
// K is an intersection of three cones over the same axis p_N; its dual is the sum of theirs (Tasora and Anitescu 2013
// write the rolling part alone). The exact law is the relaxed one with mu |u_T| + rho |w_T| + delta |w_N| moved into b,
// as without moments (De Saxce and Feng 1998).
//
// Moments are measured by a lever L, so that M / L is an impulse and L w a rate: L^2 = (response to forces) / (response
// to moments), which is about the radius of a ball. In the norm |P|^2 + |M / L|^2 the nearest point of K has a p_N that
// one line tells: of the three friction parts each is either inside of its limit or on it,
//
//   p_N = (z + sum s_k a_k) / (1 + sum s_k^2)   over those outside: a_k > s_k p_N,  s = (mu, rho / L, delta / L)
//
// More of them are outside for smaller p_N: starting with all, those inside are dropped until none is.
#pragma once

#include <cstdint>

#include "base/math.hpp"

namespace clatter::contact {

struct CrowdTurn {
  double m[3] = {0, 0, 0};  // moment on the first body times the step, world, N m s
  double lever = 1;
  double rolling = 0, drilling = 0;       // lengths; both 0: no moment
  double inverse_rr = 0, inverse_dd = 0;  // 1 / (largest response across n), 1 / n^T B n, B = sum of inverse inertias
  std::int32_t place1 = -1, place2 = -1;  // sides of a CrowdProblem with columns of moments, where in jointed trees
  bool any() const { return rolling > 0 || drilling > 0; }
};

// Where the nearest point of K lies, of parts with these sizes and limits: its p_N, and which parts it takes to theirs.
struct ConePlace {
  double pn;
  bool outside[3];
};
ConePlace place_on_cone(const double slope[3], const double size[3], double pn);

// Nearest point of K to (pn, pt, mt, mn); mt and mn in impulses, M / L, and so `rolling` and `drilling` over L.
void project_on_cone(double mu, double rolling, double drilling, double& pn, Vec3& pt, Vec3& mt, double& mn);

}  // namespace clatter::contact
