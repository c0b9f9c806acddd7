// Adams-Bashforth-Moulton PECE of variable step and variable order 1 to 12 (S-40; Shampine and Gordon, Computer
// Solution of ODEs, 1975), on y = (u, v, z, W) with y' = (dexpinv(u) v, dv/dt, f, powers).
//
// Step n+1 of order k and length h, tau = (t - t_n)/h. p(tau) is the polynomial of degree k-1 through the slopes at the
// last k times tau_0 = 0, tau_1, ..., in Newton's form with divided differences c_i, N_i = prod_{m<i} (tau - tau_m) and
// G_i(tau) = integral of N_i from 0 to tau:
//
//   predict    y_p = y_n + h sum_{i<k} c_i G_i(1)                  evaluate  f_p = y'(t_{n+1}, y_p)
//   correct    y = y_p + h G_k(1)/N_k(1) (f_p - p(1))              evaluate  f = y'(t_{n+1}, y)
//
// The corrector has order k+1 (local extrapolation), and so has the motion; the error controlled is that of the
// corrector of order k: h |G_k/N_k - G_{k-1}/N_{k-1}| |f_p - p(1)|. Order and step: order_control.hpp. Dense output:
// the integral of the polynomial through f and the last k slopes, order k+1; what it misses of y at the step's end, a
// part of the tolerance, is brought in by a cubic.
//
// Constraints: accelerations with the constraints held (Dynamics::accelerations), drift removed after the corrector.
//
// Rotations: as in bdf.hpp the past is kept as orientations with velocities. Each step writes the past slopes anew in
// the chart of its own start, dexpinv(u_j) v_j with u_j = log(q_n^-1 q_j): exact, so that orders are full. Points
// further back than a rotation of 3 rad are not used.
//
// At an event the past is dropped: order 1 and a step chosen anew. With `fixed_step` the order is max_order throughout;
// the first points come from DOPRI5 at a tolerance of 1e-13.
#pragma once

#include <array>

#include "integrate/multistep.hpp"

namespace clatter {

class Adams final : public Multistep {
 public:
  static constexpr int kMaxOrder = 12;

  Adams(Dynamics& dynamics, const IntegratorSettings& settings);

 protected:
  bool attempt(double t1) override;
  void accept() override;
  void dense(double theta, State& out) override;
  void dense_work(double theta, Vec& W) override;
  double propose(double h, double error, bool accepted) override;
  void exchange(Archive& archive) override;
  void started() override { restart(); }

 private:
  struct Point {
    double t = 0, turn = 0;  // turn: largest rotation of a body in the step that led here
    Vec q, v, a, zdot, p;
    void exchange(Archive& archive);
  };
  using Weights = std::array<double, kMaxOrder + 2>;

  void restart();
  void take_differences(double h, int points);
  bool evaluate_trial(Column& slope);
  void estimate(double h);
  void begin_fixed(double t1);
  void prepare_dense(double h);
  // G_i(theta), i = 0 .. k
  void integrals(double theta, Weights& G) const;

  History<Point> history_;

  int k_ = 1, points_ = 0;
  double h_ = 0;
  Weights tau_{}, N_{}, G_{};
  std::array<Column, kMaxOrder + 1> c_;
  Column y_, slope_, delta_, work_, last_, miss_;  // increments; f_p or f; f_p - p(1); (f - p(1))/N_k(1); dense's cubic
  Vec u_;
  std::array<double, kMaxOrder + 2> error_term_{};
  State base_;
  Vec W_base_;
  std::unique_ptr<Integrator> starter_;
};

}  // namespace clatter
