// Dynamics: the one set of equations as integrators and analyses see it.
//
//   dq/dt = T(q) v
//   M(q) dv/dt = h(q,v,z,t) + G(q)^T lambda
//   dz/dt = f(q,v,z,t)
//   phi(q,t) = 0                      holonomic rows, the first nh rows of G
//   G(q) v + y(q,t) = 0               all nc = nh + nn rows: d(phi)/dt, then the non-holonomic rows
//   G(q) dv/dt + gamma(q,v,t) = 0     their derivative
//
// A Dynamics is one thread's view: a shared immutable System plus this thread's work arrays. No call allocates
// after the first. Coordinates live on a manifold: q (+) delta adds vector coordinates and multiplies each
// orientation from the right by exp(delta), delta being in the axes in which v measures that rotation's velocity.
// Everything below is written in such increments, so that integrators never see a quaternion:
// within a step q = q0 (+) u, and du/dt = dexpinv(u) v, which is v itself except on rotation blocks.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/state.hpp"
#include "solve/sparsity.hpp"

namespace clatter {

struct Sizes {
  int nq = 0, nv = 0, nz = 0;
  int nh = 0, nn = 0;  // holonomic, non-holonomic rows
  int np = 0;          // power channels of the energy ledger
  int ne = 0;          // event functions
  int nc() const { return nh + nn; }
};

// Exact derivatives of the residuals at (t,q,v,z) and given dv/dt = a and lambda. K is taken with respect to
// right increments of q at fixed v, a, lambda. Where contacts wander over flexible bodies `tangents` may enlarge out's.
struct Tangents {
  SparseMatrix<double> M, C, K;     // nv x nv, one shared pattern: d(M a - h - G^T lambda) / d(a, v, q)
  SparseMatrix<double> Rz;          // nv x nz: d(M a - h - G^T lambda) / dz
  SparseMatrix<double> Fq, Fv, Fz;  // nz x nv, nz x nv, nz x nz: d f / d(q, v, z)
  SparseMatrix<double> G;           // nc x nv; the next three share its pattern
  SparseMatrix<double> Vq;          // d(G v + y) / dq
  SparseMatrix<double> Aq, Av;      // d(G a + gamma) / d(q, v)
  // Where a row's force does not act along its gradient (sliding friction): r = M a - h - N^T lambda, pattern of G.
  std::optional<SparseMatrix<double>> N = std::nullopt;
  const SparseMatrix<double>& directions() const { return N ? *N : G; }
};

class Dynamics {
 public:
  virtual ~Dynamics() = default;

  virtual const Sizes& sizes() const = 0;
  // First velocity index of every 3-component rotation block; all other coordinates are vectors with q = v index order
  // kept by `plus`.
  virtual std::span<const int> rotation_blocks() const = 0;
  // q_out = q (+) delta; q and q_out may be the same.
  virtual void plus(const Vec& q, const Vec& delta, Vec& q_out) const = 0;
  // delta with q0 (+) delta = q1 (shortest rotation).
  virtual void minus(const Vec& q1, const Vec& q0, Vec& delta) const = 0;

  // Accelerations with the constraints held at acceleration level: solves M a - h - G^T lambda = 0, G a + gamma = 0.
  // Redundant rows share their load (least-norm lambda). Throws SolveError by name where it cannot.
  virtual void accelerations(const State& s, Vec& a, Vec& lambda, Vec& zdot) = 0;

  // Of the constraint equations last factorised: the smallest sine of the angle between an independent row and the rows
  // eliminated before it (1 without constraints), and the elements whose rows are then nearly dependent. A sine that
  // passes through zero tells of a singular position.
  virtual double constraint_sine() const { return 1; }
  virtual std::vector<std::string> nearly_dependent() const { return {}; }

  // r = M a - h - G^T lambda and zdot = f, in one linear-time sweep.
  virtual void residual(const State& s, const Vec& a, const Vec& lambda, Vec& r, Vec& zdot) = 0;
  // phi (nh) and the velocity residual (nc).
  virtual void constraints(const State& s, Vec& phi, Vec& velocity_residual) = 0;
  // f = G^T lambda at s (lambda of size nc).
  virtual void constraint_forces(const State& s, const Vec& lambda, Vec& f) = 0;
  // delta = M^-1 G^T (G M^-1 G^T)^+ b: the smallest correction, in the metric of M, with G delta = b. Coordinates
  // frozen by `freeze` do not take part. The rows used are all nc rows, or the first nh for `positions`.
  virtual void least_correction(const State& s, const Vec& b, bool positions, Vec& delta) = 0;

  virtual const Tangents& tangent_layout() const = 0;  // patterns only, as they begin: build iteration matrices from it
  virtual void tangents(const State& s, const Vec& a, const Vec& lambda, Tangents& out) = 0;

  // Energy ledger. `stored` is kinetic plus all potential energy; `powers` fills np channels whose integrals over
  // time change it: supplied (drives, loads) positive, dissipated negative.
  virtual double stored_energy(const State& s) = 0;
  virtual void powers(const State& s, const Vec& a, const Vec& lambda, Vec& p) = 0;

  // Functions whose zeros are places where the equations change their form (flanks of play, later contacts).
  virtual void events(const State& s, Vec& g) = 0;
  virtual std::string event_name(int index) const = 0;

  // Names for diagnoses: row of G, velocity coordinate, inner state.
  virtual std::string row_name(int row) const = 0;
  virtual std::string velocity_name(int index) const = 0;

  // Typical sizes for tolerances, from the model's own length, mass and time scales: one number a coordinate.
  virtual void scales(Vec& u_scale, Vec& v_scale, Vec& z_scale) const = 0;
};

}  // namespace clatter
