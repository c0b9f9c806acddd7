// Tree: recursive kinematics and dynamics of links in linear time (P-4 to P-7, E-1 to E-3).
//
// A link's own frame sits at its mass centre. Its axes are the axes of its joint's moving frame M (root links that
// move freely: the body's axes), so that a joint turns a link about its own z. All vectors of the recursions are in
// world axes, all moments about the link's own mass centre: shifting from child to parent is then a cross product,
// and a machine far from the origin loses no digits.
//
//   outward   w_c = w_p + z qd            v_c = v_p + w_p x (j+u) + z ud + w_c x d
//   inward    tau_k = S_k . (N, F)        N_p += N_c + r x F_c,  F_p += F_c
//   M x = b   articulated inertia (A H; H^T L) per link, factored inward once, then one sweep in and out per b
//
// j: joint on the parent from the parent's mass centre; u = z q displacement; d: joint to this link's mass centre;
// r = j + u + d; S_k = (angular, linear) column of velocity k at the link's mass centre.
//
// Trees of rigid links come first; then the blocks, trees whose links are places of one flexible body (block.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/math.hpp"
#include "engine/block.hpp"

namespace clatter {

enum class Mobility : std::uint8_t {
  weld,
  revolute,
  prismatic,
  screw,
  spherical,
  free6,
  planar3,
  particle3,
  particle2,
  marker  // a place of a flexible body: moves with all coordinates of its block
};

int coordinate_count(Mobility m);
int velocity_count(Mobility m);

struct Link {
  int parent = -1;  // -1: ground
  Mobility mobility = Mobility::free6;
  int q = 0, v = 0;  // first coordinate and first velocity
  int nv = 0;
  int tree = 0;
  Mat3 R_PF = Mat3::Identity();  // joint frame F on the parent, parent axes
  Vec3 p_PF = Vec3::Zero();      // its origin from the parent's mass centre, parent axes
  Vec3 p_MB = Vec3::Zero();      // this link's mass centre from the joint's moving frame, link axes
  double pitch = 0;              // screw: displacement a radian
  int vectors = 0;               // blocks: vector coordinates that stand behind this link's own in q and v
  double mass = 0;               // links of blocks have none
  Mat3 inertia = Mat3::Zero();   // about the mass centre, link axes
  Mat3 inertia_inverse = Mat3::Zero();
};

// Links [link0, link1) and velocities [v0, v1) of one tree. `simple`: one freely moving link, its mass block constant.
struct TreeRange {
  int link0 = 0, link1 = 0, v0 = 0, v1 = 0;
  bool simple = false;
};

// Vector coordinates of a block: [q, q + n) and [v, v + n).
struct VectorRange {
  int q = 0, v = 0, n = 0;
};

struct Tree {
  std::vector<Link> links;  // parents before children, trees contiguous
  std::vector<TreeRange> trees;
  std::vector<std::shared_ptr<const Block>> blocks;  // of the last trees, in their order
  std::vector<VectorRange> vectors;
  std::vector<int> rotation_blocks;    // first velocity of every 3-component rotation
  std::vector<std::vector<int>> path;  // per link: velocity indices that move it, ascending
  int nq = 0, nv = 0;
  int rigid_links = 0, rigid_trees = 0;  // what comes before the blocks

  int tree_of_velocity(int v) const;

  // Numbers coordinates and velocities, groups links into trees. Links must already stand parents first, tree by tree.
  void finish();

  void plus(const Vec& q, const Vec& delta, Vec& q_out) const;
  void minus(const Vec& q1, const Vec& q0, Vec& delta) const;
};

// Where a link is and how it moves, world axes. The last member pads wide loads (base/wide.hpp).
struct LinkMotion {
  Mat3 R;
  Vec3 p, v, w;
  Vec3 a, alpha;  // accelerations for the generalized accelerations last given (zero: the bias)
  Vec3 z;         // joint axis
  Vec3 j;         // parent's mass centre to the joint, and along it (j + u)
  Vec3 d;         // joint to mass centre
  Vec3 r;         // parent's mass centre to this one
  Vec3 s;         // one-axis joints: linear part of the column at the mass centre
  Mat3 I;         // inertia about the mass centre, world axes; only of links that are not a tree by themselves
  double pad = 0;
};

struct ArticulatedInertia {
  Mat3 A, H, L;
  Vec3 UN, UF;  // one-axis joints: U = I S
  double inverse_D;
};

// A wrench or an acceleration: angular and linear part, padded for wide loads.
struct LinkVector {
  Vec3 N, F;
  double pad = 0;
};

// One thread's work arrays for a tree.
struct TreeWork {
  explicit TreeWork(const Tree& tree, const Vec3& uniform_gravity = Vec3::Zero());
  Vec3 gravity;  // blocks carry their own weight
  std::vector<std::unique_ptr<BlockWork>> blocks;
  std::vector<LinkMotion> motion;
  std::vector<ArticulatedInertia> inertia;
  std::vector<Mat3> spherical_D;  // per link (used by spherical links): inverse of S^T U
  std::vector<Eigen::Matrix<double, 6, 3>> spherical_U;
  std::vector<Mat6> root_inverse;  // per link (used by free6 roots with children)
  std::vector<Vec3> F, N;          // wrench on each link, at its mass centre
  std::vector<LinkVector> p;       // scratch of the sweeps
  std::vector<double> u;
};

// A link that moves freely, from its own coordinates and velocities; `level` is the plane's z.
void free_motion(Mobility mobility, double level, const double* q, const double* v, LinkMotion& motion);

void kinematics(const Tree& tree, const Vec& q, const Vec& v, TreeWork& work);
// World inertias of links in trees; needed by factorize_mass and forward_dynamics.
void rotate_inertias(const Tree& tree, TreeWork& work);
// work.F, work.N = inertia at the accelerations last given, less the applied wrenches (arrays one longer than the
// links).
void inertia_wrenches(const Tree& tree, TreeWork& work, const std::vector<Vec3>& applied_F,
                      const std::vector<Vec3>& applied_N);
// Fills a, alpha of every rigid link for generalized accelerations `qdd`; with nullptr the bias accelerations. Blocks
// take them for their forces; a, alpha of their links are filled by the second, for whoever looks at them.
void accelerations(const Tree& tree, const Vec& v, const double* qdd, TreeWork& work);
void block_link_accelerations(const Tree& tree, TreeWork& work);
// tau += what the inertia, elasticity, damping and weight of blocks ask for at the accelerations last given.
void add_block_forces(const Tree& tree, TreeWork& work, Vec& tau);
// tau_k = S_k . sum of (N, F) over the links that velocity k carries. Destroys work.F, work.N.
void project_wrenches(const Tree& tree, TreeWork& work, Vec& tau);
// Articulated inertias of the current configuration; then M x = b for any number of b. x and b may be the same.
void factorize_mass(const Tree& tree, TreeWork& work);
void solve_mass(const Tree& tree, TreeWork& work, const double* b, double* x);
// Accelerations under tau and the link wrenches work.F, work.N (inertia at the bias accelerations less applied):
// factorize_mass and the solution in one sweep in and one out. Blocks add their own forces at the bias.
void forward_dynamics(const Tree& tree, TreeWork& work, const double* tau, double* x);
// solve_mass for the links of one tree only; b and x start at that tree's first velocity.
void solve_mass(const Tree& tree, int which, TreeWork& work, const double* b, double* x);

// Column S_k of velocity k (belonging to link `link`) at point `at` (world): angular and linear part.
void velocity_column(const Tree& tree, const TreeWork& work, int link, int k, const Vec3& at, Vec3& angular,
                     Vec3& linear);

double kinetic_energy(const Tree& tree, const TreeWork& work);
// Of all links and blocks about the world's origin; `moment` is mass times position.
Momenta momenta(const Tree& tree, const TreeWork& work);
// Weight and elasticity of blocks; weight of links.
double potential_energy(const Tree& tree, const TreeWork& work, const Vec3& gravity);

}  // namespace clatter
