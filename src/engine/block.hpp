// Block: a tree whose links are not rigid bodies of their own but places of one flexible body.
//
// Its first link is the body's reference frame; further links are boundary nodes (with coordinates of their own) and
// markers (without: their motion is a function of the block's coordinates). Frames, measures, joints, loads, shapes
// and contacts see nothing but links, so they work on a flexible body as on any other. What a block owes to the sweeps
// over the trees (tree.hpp) and to their tangents (tree_tangent.hpp) stands here; inertia, elastic and damping forces,
// gravity, energy and mass factors of all its coordinates together come from it, never from its single links.
//
// A Block is constant and shared; a BlockWork is one thread's work on one body. Pointers q, v, qdd, r, b, x start at
// the block's first coordinate or velocity, `motion` at its first link, `link` counts from it.
#pragma once

#include <memory>
#include <vector>

#include "base/math.hpp"

namespace clatter {

struct LinkMotion;

// Derivatives of a point fixed to a link: for each velocity index on the link's path, in path order.
struct PointColumns {
  Eigen::Matrix<double, 6, Eigen::Dynamic> J;   // d(position, orientation): linear, angular
  Eigen::Matrix<double, 6, Eigen::Dynamic> Zq;  // d(velocity, angular velocity)/dq at fixed v
  Eigen::Matrix<double, 6, Eigen::Dynamic> Aq;  // d(acceleration, angular acceleration)/dq at fixed v, dv/dt
  Eigen::Matrix<double, 6, Eigen::Dynamic> Av;  // ... / dv at fixed q, dv/dt
  int n = 0;
  void reserve(int columns);
};

// A body's mass m, first moment m (c - x0) about the reference origin x0, momentum, and angular momentum about x0.
struct Momenta {
  double mass = 0;
  Vec3 moment = Vec3::Zero(), linear = Vec3::Zero(), angular = Vec3::Zero();  // world axes
};

// A row e(q) = 0 that a block brings along, with its first and second derivative.
struct RowValue {
  double e = 0, de = 0, dde = 0;
};

class BlockWork {
 public:
  virtual ~BlockWork() = default;
  // Takes over everything of another work on the same body.
  virtual void assign(const BlockWork& other) = 0;

  // --- sweeps
  // A marker that nobody watches is not moved; all are watched unless told.
  virtual void watch(int /*link*/, bool /*on*/) {}
  virtual void kinematics(const double* q, const double* v, LinkMotion* motion) = 0;
  // Takes generalized accelerations, for the forces; nullptr: the bias. What they make of the links costs more and is
  // asked for by constraints at acceleration level, tangents and observers only: a and alpha of `motion`.
  virtual void accelerations(const double* qdd) = 0;
  virtual void link_accelerations(LinkMotion* motion) = 0;
  // tau += J^T of a wrench at the link's origin, world axes.
  virtual void project(int link, const Vec3& F, const Vec3& N, double* tau) const = 0;
  // r += M dv/dt - h at the accelerations last given: inertia, elasticity, damping, less gravity.
  virtual void add_forces(const Vec3& gravity, double* r) = 0;
  // Pressures on its sides, in their order: part of h until set again; and the power of one at the state last given.
  virtual void set_pressure(int, double /*p*/) {}
  virtual double pressure_power(int) const { return 0; }
  virtual void factorize_mass() = 0;
  virtual void solve_mass(const double* b, double* x) const = 0;

  // --- balances at the state last given
  virtual double kinetic_energy() = 0;
  virtual double elastic_energy() const = 0;
  virtual double dissipation_power() const = 0;  // never negative
  virtual Momenta momenta() = 0;
  // Elastic coordinates: those of the state, or the boundary nodes' displacements as well (superelements).
  virtual const double* elastic_coordinates() const = 0;
  virtual const double* elastic_rates() const = 0;

  // --- constraint rows of the block's own, at the state and accelerations last given
  virtual RowValue row(int) const { return {}; }
  virtual void row_gradient(int, double /*factor*/, double* /*g*/) const {}  // g += factor de/dq
  // Gradient, d(de)/dq, d(dde)/dq, d(dde)/dv; after tangents().
  virtual void row_tangent(int, double* /*g*/, double* /*zq*/, double* /*aq*/, double* /*av*/) const {}

  // --- tangents at the accelerations last given
  // Column by column, each over the rows of its run (Block::runs; nv x nv where there are none), overwritten:
  // d(M dv/dt - h)/d(dv/dt, v, q) with the wrenches F, N on the links (at their origins) fixed in space, as
  // TreeTangent takes them, and the multipliers of the block's rows (or nullptr).
  virtual void tangents(const Vec3& gravity, const Vec3* F, const Vec3* N, const double* row_forces, double* M,
                        double* C, double* K) = 0;
  // Columns of a point `at` that moves with a link.
  virtual void point(int link, const Vec3& at, PointColumns& out) const = 0;
};

// Consecutive velocities of a block: [first, first + count).
struct VelocityRun {
  int first = 0, count = 0;
};

class Block {
 public:
  virtual ~Block() = default;
  virtual std::unique_ptr<BlockWork> make_work() const = 0;
  // Rows in which a column of the tangents may differ from zero, one run a column: chains of elements are banded.
  // Empty: every velocity is coupled with every other.
  virtual std::vector<VelocityRun> runs() const { return {}; }
  // The velocities that move a marker, of the `nv` of the block; the columns of `point` in this order.
  virtual VelocityRun moved_by(int /*link*/, int nv) const { return {0, nv}; }
};

}  // namespace clatter
