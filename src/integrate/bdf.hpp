// BDF: backward differentiation of variable step and variable order 1 to 5 (E-20, after DASSL: Brenan, Campbell,
// Petzold, Numerical Solution of Initial-Value Problems in DAEs, ch. 5), for constrained systems in the stabilised
// index-2 form that radau5.hpp states.
//
// Step n+1 of order k and length h, tau = (t - t_n)/h. P(tau) is the polynomial of degree k through the points of the
// last k+1 times tau_0 = 0, tau_1, ..., in Newton's form with divided differences c_i and N_i = prod_{m<i} (tau -
// tau_m). Fixed leading coefficient:
//
//   y = P(1) + e,   dy/dt = P'(1)/h + sigma e,   sigma = (1 + 1/2 + ... + 1/k)/h,       y = (u, v, z, W)
//
// so that the matrix (radau_system.hpp) depends on h and k alone; it is kept as long as they stay. Newton solves for e,
// lambda and mu; W follows from its power. Local error: C e with C from the spacing of the points; multipliers do not
// count, the ledger does as in the explicit schemes. Order and step follow the sizes of h^(m+1) y^(m+1), m = k-2 ..
// k+1, taken from the differences that contain the new point. Dense output: the polynomial of degree k through the new
// point and the last k; so its order is that of the step.
//
// Rotations. The points are kept as orientations, not as increments. Each step takes all of them as increments from its
// own start, u_j = log(q_n^-1 q_j). In this chart the whole motion, past and new, is one smooth curve that satisfies
// du/dt = dexpinv(u) v, and BDF is applied to that equation without further approximation: full order, nothing to carry
// from chart to chart. Points further back than a rotation of 3 rad are not used: the order falls instead.
//
// At an event the past is dropped, and a step chosen anew. The slope at the start, which is known, counts as one more
// point there: the start is a double one, tau_j = tau_{j+1}, as long as it is among the points. The first step then is
// that of the trapezoidal rule,
//
//   P = y_0 + h y_0' tau,   sigma = 2/h,   dense output  P + tau^2 e
//
// and the second has order 2. So all steps from an event on are exact for parabolas, which short flights between two
// impacts are: with first order a flight lower than the tolerance would end anywhere, and a series of impacts with it.
// With `fixed_step` the order is max_order throughout; the first points come from RADAU5.
#pragma once

#include <array>
#include <vector>

#include "integrate/multistep.hpp"
#include "integrate/radau_system.hpp"
#include "integrate/redundant_rows.hpp"

namespace clatter {

class Bdf final : public Multistep {
 public:
  static constexpr int kMaxOrder = 5;

  Bdf(Dynamics& dynamics, const IntegratorSettings& settings);
  void refresh() override;

 protected:
  bool attempt(double t1) override;
  void accept() override;
  void dense(double theta, State& out) override;
  void dense_work(double theta, Vec& W) override;
  double propose(double h, double error, bool accepted) override;
  void exchange(Archive& archive) override;
  void started() override;

 private:
  struct Point {
    double t = 0, turn = 0;  // turn: largest rotation of a body in the step that led here
    Vec q, v, z, W, lambda;
    void exchange(Archive& archive);
  };
  void begin_history();
  void take_differences(double h, int points);
  void predict();
  bool correct(double h);
  bool prepare(double sigma);
  void place_trial();
  bool residual();
  void finish();
  void estimate();
  bool begin_fixed(double t1);
  void restart();

  // Points that count: those within the chart, the start twice.
  int nodes(int usable) const { return usable + (start_kept_ && usable == history_.size() ? 1 : 0); }

  History<Point> history_;
  bool start_kept_ = false;  // the oldest point is the start, and the slope there:
  Column start_slope_;       // dy/dt but for u, which depends on the chart

  // The attempt: its order k, differences c_0 .. c_{points-1} at tau_, N_i(1), predicted and new y and dy/dt.
  int k_ = 1, points_ = 0;
  double h_ = 0, sigma_ = 0;
  bool first_ = false;  // the first step from the start
  std::array<double, kMaxOrder + 2> tau_{};
  std::array<double, kMaxOrder + 3> N_{};
  std::array<Column, kMaxOrder + 2> c_;
  Column predicted_, y_, rate_, e_, work_;
  Vec lambda_new_, mu_, force_, flow_, p_;
  std::array<double, kMaxOrder + 2> term_{};  // size of h^(m+1) y^(m+1) at [m]; negative where not known
  State base_;
  Vec W_base_;

  struct Newton {
    explicit Newton(const Tangents& layout) : tangents(layout) {}
    Tangents tangents;
    Vec v_tangents;
    bool tangents_known = false, tangents_current = false, slow = false;
    double factored = 0;  // sigma
    double rate_factor = 100;
  };
  Newton newton_;
  RadauSystem<double> system_;
  RadauVector<double> x_;
  RedundantRows rows_;
  std::vector<char> redundant_;

  std::unique_ptr<Integrator> starter_;
  bool from_starter_ = false;
};

}  // namespace clatter
