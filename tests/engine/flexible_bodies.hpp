// Reduced bodies made by hand: clouds of point masses with random modes, for which every integral is a sum, and models
// in which a rigid body of a registered sample is replaced by such a cloud.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <vector>

#include "base/math.hpp"
#include "model/model.hpp"
#include "model/reduced_body.hpp"

namespace clatter::test {

using RandomNumber = std::function<double()>;  // between -1 and 1

// A body of point masses: X, mass, modes Phi (3 x n) and second-order fields g_kl (component b: n x n) of each.
struct Cloud {
  struct Point {
    double mass;
    Vec3 X;
    Mat Phi;
    std::array<Mat, 3> g;
  };
  std::vector<Point> points;
  int n = 0;
  bool planar = false;

  // The integrals of ReducedBody as sums; M from the modes, K and D left to the caller (zero).
  ReducedBody reduced(bool stiffens) const;
};

Cloud random_cloud(int n, int points, bool planar, bool unit_mass, double second_order, const RandomNumber& dice);

// A marker for a named frame: a point of its own with random motion.
Marker random_marker(const std::string& name, const Vec3& X, const Mat3& R, int n, bool planar, bool turns,
                     double second_order, const RandomNumber& dice);

// Kinds of hand-made bodies the samples use.
struct CloudKind {
  int n = 4;
  bool unit_mass = true, damped = false, stiffens = false, turns = true;
  unsigned seed = 1;
};

// Everything attached to a frame of the body moves with the marker of that name.
void move_to_markers(Model& model, int index);

// Turns the named body of a model into a flexible one of about the same size; its frames become markers.
void make_flexible(Model& model, const std::string& name, const CloudKind& kind);

// A straight beam along x from -L/2 to L/2 that bends in y (and z): Ritz functions of s in [0, L], Euler-Bernoulli,
// with the shortening g_x = -int (phi_k' phi_l' + psi_k' psi_l') of stiffening where asked.
struct RitzBeam {
  double length = 1, mass_per_length = 1, EI = 1;
  int n = 1;             // functions in one direction
  bool spatial = false;  // also z, with the same functions
  bool stiffens = false;
  // phi_k and its first two derivatives at s
  std::function<std::array<double, 3>(int, double)> function;

  int coordinates() const { return spatial ? 2 * n : n; }
  // Markers at s = 0 ("root") and s = L ("tip").
  ReducedBody reduced() const;
};

// s^(k+2): clamped at s = 0, complete.
std::array<double, 3> clamped_power(int k, double s, double length);
// sin(k pi s/L): pinned at both ends.
std::array<double, 3> pinned_sine(int k, double s, double length);

// A model body of a reduced one; its markers become its frames.
Body flexible_body(const std::string& name, ReducedBody reduced);
// Puts a reduced body in the place of a rigid one whose frames carry the names of its markers.
void replace(Model& model, const std::string& name, ReducedBody reduced);

// Superelements made by hand: a cloud whose modes contain the rigid motions of its boundary nodes exactly, as those of
// a Craig-Bampton reduction do.
struct SuperKind {
  SuperelementOptions options = {};
  bool damped = false;
  bool second_frame_is_marker = false;  // else every frame of the body is a boundary node
  int modes = 3;
  unsigned seed = 1;
};

ReducedBody random_superelement(const std::vector<BoundaryNode>& boundary, int modes, bool damped,
                                const RandomNumber& dice);

void make_superelement(Model& model, const std::string& name, const SuperKind& kind);

}  // namespace clatter::test
