// ReducedBody: all that a linearly elastic body owes to the equations of motion, and nothing of the mesh it came from.
//
// In the body's reference frame (axes: the mesh's; origin: the undeformed mass centre) a material point stands at
//
//   x(X) = X + Phi(X) eta + 1/2 sum_kl eta_k eta_l g_kl(X)         eta: n elastic coordinates
//
// and a marker (interface, attachment, output point) has turned by the rotation vector Psi eta. g, the foreshortening
// of second order, is there only for bodies that stiffen geometrically. Inertia needs these integrals (V-10, E-6), rho
// dV:
//
//   S0 = int X = 0,  N_l = int Phi_l,  E00 = int X X^T,  E0_l = int X Phi_l^T,  E_kl = int Phi_k Phi_l^T
//   n_kl = int g_kl,  X_kl = int X g_kl^T
//
// The last two follow from geometric stiffness matrices: with K[f] the geometric stiffness of the stress that body
// loads f cause, int f . g_kl = -K[f]_kl; loads rho e_b give n, loads rho X_a e_b give X (E-13).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/math.hpp"

namespace clatter {

// A place of the body that others can see: its displacement u = S eta (+ second order) and rotation Psi eta.
struct Marker {
  std::string name;
  Vec3 X = Vec3::Zero();      // undeformed, reference frame
  Mat3 R = Mat3::Identity();  // axes, undeformed
  Mat S, Psi;                 // 3 x n each
  std::array<Mat, 3> second;  // component b: g_kl,b at X (n x n, symmetric), or all empty
};

// A boundary node of a superelement: its local displacement is eta[first .. first+2], its local rotation vector, where
// it carries rotations, eta[first+3 .. first+5].
struct BoundaryNode {
  std::string name;
  Vec3 X = Vec3::Zero();  // undeformed, reference frame
  int first = 0;
  bool rotations = true;
};

struct ReducedBody {
  bool planar = false;         // moves and deforms in x, y only
  Vec3 origin = Vec3::Zero();  // of the reference frame (undeformed mass centre) in the coordinates of the mesh
  double mass = 0;
  Mat3 J0 = Mat3::Zero();   // inertia tensor, undeformed, about the mass centre
  Mat3 E00 = Mat3::Zero();  // J0 = tr(E00) I - E00, but for the rotatory inertia of beams
  int n = 0;                // elastic coordinates
  Mat N;                    // 3 x n
  std::array<Mat, 3> E0;    // E0[a](b, l) = int X_a Phi_l,b: 3 x n each
  // E[0..5]: (k, l) of int Phi_k,a Phi_l,b for ab = xx, yy, zz, xy, yz, zx; E_ba(k, l) = E_ab(l, k).
  std::array<Mat, 6> E;
  Mat M, K, D;  // n x n: mass (the trace of E, and rotatory inertia), stiffness, damping
  // Geometric stiffening: 12 matrices n x n, or none. [b]: n_kl,b; [3 + 3 a + b]: int X_a g_kl,b.
  std::vector<Mat> stiffening;
  std::vector<Marker> markers;
  // Superelements: boundary nodes first in eta, then internal modes. Empty for a floating frame, whose basis holds no
  // rigid motion.
  std::vector<BoundaryNode> boundary;
  std::vector<double> frequencies;  // Hz, of the modes kept (report)
  std::uint64_t hash = 0;           // of the content it was made from
};

}  // namespace clatter
