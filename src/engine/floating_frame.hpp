// Floating frame of reference (E-5 to E-13, V-10): a flexible body as a Block.
//
// Coordinates: the reference frame (x0, R) as a free link, then n elastic coordinates eta. A material point stands at
// x0 + R x(X, eta), a marker at x0 + R (X + S eta + 1/2 eta^T second eta), turned by R exp(Psi eta). With Omega, A0 =
// R^T (d2x0/dt2 - g), V = R^T dx0/dt in the body's axes, and the fields of FlexibleBody,
//
//   T = m/2 V.V + V.(Omega x S + N eta') + 1/2 Omega.J Omega + Omega.H eta' + 1/2 eta'.M eta'
//   S = N0 eta + 1/2 eta^T n eta,  N = dS/deta,  J = J0 + tr(e) I - e,  e = sum eta (P0 + D^s)
//
// and Lagrange's equations of this T are, with d = sum eta'_l D^s_l and h = H eta',
//
//   F_X     = m A0 + Omega' x S + N eta'' + Omega x (Omega x S) + 2 Omega x N eta' + n(eta', eta')
//   F_Theta = S x A0 + J Omega' + H eta'' + Omega x J Omega + 2 (tr(d) I - d) Omega + Omega x h + Y(eta', eta')
//   F_eta,l = N_l.A0 + H_l.Omega' + (M eta'')_l + Omega.D^s_l Omega - |Omega|^2 tr D^s_l
//             + 2 Omega . sum_k A_kl eta'_k + (K eta + D eta')_l
//
// E-10 with its corrected second row. The terms with n and Y are the foreshortening of bodies that stiffen; they enter
// T itself, so that energy and momentum balance exactly and every load stiffens by the same fields. M eta'' is
// eliminated first: it has a constant factor, and what remains is 6 x 6 (3 x 3 in the plane).
//
// An evaluation reads each shape integral once: D^s = P0 + P eta, H = H0 + A eta and A eta' in one pass, the sums e, d,
// h in a second one over their results, F_eta in a third.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/wide.hpp"
#include "engine/block.hpp"
#include "engine/flexible_body.hpp"

namespace clatter {

// The kinetic energy of a body that stiffens is exact to second order in eta only: the shortening lessens J and S, but
// what it adds to M is left out. Where the frame has little mass of its own, fixed to an interface in a rich basis, a
// deflection of some per cent of the length can leave M indefinite. Then accelerations have no meaning, and it is said.
// The engine adds the body's name and the time.
struct MassNotPositive : SolveError {
  explicit MassNotPositive(const BlockWork* of, const std::string& name = {}, double t = 0);
  const BlockWork* block;
};

// How a marker moves in the body's axes.
struct MarkerWork {
  Vec3 a, ud, udd_bias;   // X + u, du/dt, second derivative of u without eta''
  Vec3 psi, psid, w, wd;  // rotation vector and its rate; angular velocity and acceleration against the frame
  Mat3 Gamma;             // w = Gamma psid
  double pad = 0;         // of wide loads
  Mat S;                  // of markers with terms of second order: S + second eta, stride x 3
  Mat second_d;           // ... second eta', stride x 3
};

class FloatingFrameBlock : public Block {
 public:
  // `level`: z of the plane a planar body moves in.
  FloatingFrameBlock(std::shared_ptr<const FlexibleBody> body, double level) : body_(std::move(body)), level_(level) {}
  std::unique_ptr<BlockWork> make_work() const override;
  const FlexibleBody& body() const { return *body_; }

 private:
  std::shared_ptr<const FlexibleBody> body_;
  double level_;
};

class FloatingFrame : public BlockWork {
 public:
  // Without inertia: only weight, elasticity, damping, and the motion of markers.
  FloatingFrame(const FlexibleBody& body, double level, bool inertial = true);
  void assign(const BlockWork& other) override;

  void watch(int link, bool on) override { watched_[static_cast<std::size_t>(link - 1)] = on; }
  void kinematics(const double* q, const double* v, LinkMotion* motion) override;
  void accelerations(const double* qdd) override;
  void link_accelerations(LinkMotion* motion) override;
  void project(int link, const Vec3& F, const Vec3& N, double* tau) const override;
  void add_forces(const Vec3& gravity, double* r) override;
  void factorize_mass() override;
  void solve_mass(const double* b, double* x) const override;

  double kinetic_energy() override;
  double elastic_energy() const override;
  double dissipation_power() const override;
  Momenta momenta() override;
  const double* elastic_coordinates() const override { return eta_.data(); }
  const double* elastic_rates() const override { return etad_.data(); }

  void tangents(const Vec3& gravity, const Vec3* F, const Vec3* N, const double* row_forces, double* M, double* C,
                double* K) override;
  void point(int link, const Vec3& at, PointColumns& out) const override;

 private:
  void terms();  // everything of T at the state last given
  void add_static_forces(const Vec3& gravity, double* r);
  void couple_translation();
  template <bool centred>
  void solve(const double* rhs, double* x) const;
  void inertial_tangents(const Vec3& gravity, double* M, double* C, double* K);
  void geometric(int link, const Vec3& F, const Vec3& N, Eigen::Map<Mat>& K) const;
  const Mat& S_of(int marker) const {
    return b_->markers[marker].second[0].size() ? markers_[marker].S : b_->markers[marker].S;
  }
  const Mat& N() const { return b_->nu.empty() ? b_->N0 : N_; }

  // Vectors of three are read four numbers at a time (base/wide.hpp): a number stands behind the last.
  const FlexibleBody* b_;
  double level_;
  bool inertial_;
  int nr_;  // velocities of the frame: 6, or 3 in the plane
  Mat3 R_;
  Vec3 x0_, v0_, Omega_, A_, Omegad_;  // A: without gravity; body axes but x0 and v0
  double pad_ = 0;
  Vec eta_, etad_, etadd_;       // padded
  Vec rows_, rows_d_, rows_dd_;  // FlexibleBody::rows times eta, eta', eta''
  bool moving_ = false;          // accelerations are not zero
  std::vector<MarkerWork> markers_;
  std::vector<char> watched_;  // markers

  bool fresh_ = false;             // what follows belongs to the state
  Mat Ds_, H_, Hd_, N_, nd_, Yd_;  // stride x 6, 3, ...; Hd = sum_k A_kl eta'_k, nd = n eta', Yd = Y eta'
  wide::V3 S_, Nd_, h_;            // Nd = N eta', h = H eta'
  wide::M3 J_;
  double d_[8];  // sum eta'_l D^s_l, and two more
  Vec force_;    // padded

  Mat BN_, BH_;           // stride x 3: L^-1 N of a body that stiffens, L^-1 H unless M = I
  double inverse_[6][8];  // of the reduced 6 x 6, rows padded; in the plane zero where nothing moves
  mutable Vec solution_;  // padded
  const double* BN() const { return b_->nu.empty() ? b_->N0_forward.data() : BN_.data(); }
  const double* BH() const { return b_->unit_mass ? H_.data() : BH_.data(); }

  // Tangents
  Mat zero_, Pd_, Add_, Ydd_, ndd_;  // stride x 6 zeros; P eta', A eta'', Y eta'', n eta''
  Mat spare_;                        // what comes along with them
  Vec rest_, rest2_;                 // padded
};

}  // namespace clatter
