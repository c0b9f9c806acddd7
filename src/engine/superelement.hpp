// Superelement (V-7 to V-12): a Craig-Bampton reduced body whose boundary nodes are links of their own.
//
// Coordinates, in this order: the corotational frame (x0, R0), the boundary nodes (x_i, R_i) or (x_i), the internal
// modes eta_I. The local coordinates of the reduced body follow from them,
//
//   u_i = R0^T (x_i - x0) - X_i,   gamma_i = log(R0^T R_i),   eta_I             d(eta) = P dq
//
// and carry elasticity and damping, P^T (K eta + D P v); s -> P^T s has the derivative G(q, s) (V-8). Two inertias:
//
//   interpolated (V-9)   the nodes' absolute velocities nu = B(q) v, in the axes of the frame, are interpolated by the
//                        modes: T = 1/2 nu^T M nu. B is orthogonal: one constant factor of M serves all states.
//   exact (V-10)         the floating frame's T of (x0, R0, eta), seen through P.
//
// Six rows A eta(q) = 0 hold the frame in the body (V-11). The frame itself has no mass, so M is singular; in its place
// stands M + P^T A^T D A P, and the forces get P^T A^T D A d2(eta)/dt2, which is zero wherever the rows hold: nothing
// changes but that M^-1 exists. The rows of A are scaled to the mean displacement and rotation they measure, D = (m,
// J0), so that all of them weigh alike.
#pragma once

#include <Eigen/LU>
#include <memory>
#include <vector>

#include "engine/block.hpp"
#include "engine/floating_frame.hpp"
#include "engine/tree.hpp"
#include "model/model.hpp"

namespace clatter {

// What is constant of a superelement; shared by all bodies made of it in the same way.
struct SuperelementBody {
  SuperelementBody(std::shared_ptr<const ReducedBody> reduced, const SuperelementOptions& options);

  struct Node {
    Vec3 X;
    int first;  // in eta
    bool rotations;
    int q, v;  // in the block
    int size() const { return rotations ? 6 : 3; }
  };
  std::shared_ptr<const ReducedBody> reduced;
  bool exact;  // inertia of V-10
  int n, modes, first_mode;
  int nq, nv, v_mode, q_mode;
  std::vector<Node> nodes;
  Mat A;  // 6 x n
  Mat6 D;
  Mat W;  // A^T D A
  Mat6 D_inverse;
  std::unique_ptr<const FlexibleBody> inner;  // exact: with M + W; else only weight, elasticity, damping and markers
  Mat M_cholesky;                             // of M, lower; not exact
};

class SuperelementBlock : public Block {
 public:
  explicit SuperelementBlock(std::shared_ptr<const SuperelementBody> body) : body_(std::move(body)) {}
  std::unique_ptr<BlockWork> make_work() const override;

 private:
  std::shared_ptr<const SuperelementBody> body_;
};

class Superelement : public BlockWork {
 public:
  explicit Superelement(const SuperelementBody& body);
  void assign(const BlockWork& other) override;

  void watch(int link, bool on) override;
  void kinematics(const double* q, const double* v, LinkMotion* motion) override;
  void accelerations(const double* qdd) override;
  void link_accelerations(LinkMotion* motion) override;
  void project(int link, const Vec3& F, const Vec3& N, double* tau) const override;
  void add_forces(const Vec3& gravity, double* r) override;
  void factorize_mass() override;
  void solve_mass(const double* b, double* x) const override;

  double kinetic_energy() override;
  double elastic_energy() const override { return inner_.elastic_energy(); }
  double dissipation_power() const override { return inner_.dissipation_power(); }
  Momenta momenta() override;
  const double* elastic_coordinates() const override { return eta_.data(); }
  const double* elastic_rates() const override { return etad_.data(); }

  void tangents(const Vec3& gravity, const Vec3* F, const Vec3* N, const double* row_forces, double* M, double* C,
                double* K) override;
  void point(int link, const Vec3& at, PointColumns& out) const override;

  RowValue row(int i) const override;
  void row_gradient(int i, double factor, double* g) const override;
  void row_tangent(int i, double* g, double* zq, double* aq, double* av) const override;

 private:
  using Node = SuperelementBody::Node;
  // An operator from the velocities to eta: rows of a node over the frame (6) and the node itself; modes to modes.
  struct Lift {
    std::vector<Mat6> root, own;  // rows (u, gamma); columns (x, Theta)
    double modes;
  };
  struct NodeWork {
    Mat3 R, Lambda, Ti;  // of the node; R0^T R; T^-1(gamma)
    Vec3 a, gamma, d, ud, gammad, D2;
    Vec3 Omega, Omegad, A;  // A: acceleration, world axes
    Mat3 Y;                 // d(gamma')/d(gamma)
  };

  void apply(const Lift& lift, const double* v, double* eta) const;             // eta = L v
  void apply_transposed(const Lift& lift, const double* s, double* tau) const;  // tau += L^T s
  template <class X, class Out>
  void times(const X& x, const Lift& lift, Out& out) const;  // out += x L
  template <class X, class Out>
  void transposed_times(const Lift& lift, const X& x, Out& out) const;  // out += L^T x
  void update_P();
  void update_derivatives();                                  // of d(eta)/dt and d2(eta)/dt2
  void geometric(const double* s, Eigen::Map<Mat>& K) const;  // K += G(q, s)
  void interpolated_forces(double* r);
  void interpolated_tangents(Eigen::Map<Mat>& M, Eigen::Map<Mat>& C, Eigen::Map<Mat>& K);

  const SuperelementBody* b_;
  FloatingFrame inner_;
  std::vector<LinkMotion> inner_motion_;
  Mat3 R0_;
  Vec3 x0_, V0_, Omega0_, A0_, Omegad0_;  // V0, A0: world axes
  std::vector<NodeWork> nodes_;
  Vec q_in_, v_in_, a_in_;             // of the inner floating frame
  Vec eta_, etad_, etadd_;             // eta, P v, P dv/dt + P' v
  Vec nu_, alpha_, pi_, h_, scratch_;  // interpolated inertia
  Lift P_, Pq_, Q_, V_;                // P; d(eta')/dq, d(eta'')/dq, d(eta'')/dv
  mutable Vec local_, local2_;
  Mat6 G0_;
  Eigen::PartialPivLU<Mat6> G0_lu_;
  // Tangents
  Mat M_in_, C_in_, K_in_, X_, S_;
  mutable PointColumns point_;
  std::vector<Vec3> F_in_, N_in_;
  struct Vector3Block {  // a boundary 3-vector: its place in v, its turn into the frame's axes, the node if a rotation
    int v;
    Mat3 turn;
    const NodeWork* node;
  };
  std::vector<Vector3Block> vector_blocks_;
  Mat frame_row_, frame_C_, frame_K_, block_column_;
  std::vector<double> inertia_scratch_;
};

}  // namespace clatter
