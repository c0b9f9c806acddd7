// Explicit schemes on y = (u, v, z, W) with y' = (dexpinv(u) v, dv/dt, f, powers).
//
//   Euler, classical RK4 (E-17, E-18), Dormand-Prince 5(4):
//     y_i = y_0 + h sum_j a_ij k_j,   k_i = y'(t_0 + c_i h, y_i),   y_1 = y_0 + h sum_i b_i k_i
//   Verlet (S-38), one evaluation a step:
//     k = a(t + h/2, q (+) h/2 v, v),   u = h v + h^2/2 k,   v <- v + h k
//
// Dense output, theta in [0,1], D = y_1 - y_0, k_e the slope at the end:
//     y = y_0 + theta (D + (1-theta)(h k_1 - D + theta (2D - h k_1 - h k_e + (1-theta) h sum_i d_i k_i)))
// With d = 0 this is the cubic Hermite interpolant; Dormand-Prince has d with order 4 (Hairer, Norsett, Wanner, II.6).
#pragma once

#include <vector>

#include "integrate/integrator.hpp"

namespace clatter {

struct Tableau {
  int stages;
  int order;
  const double* a;  // row i holds a_i0 .. a_i,i-1; rows packed one after the other
  const double* c;
  const double* b;
  const double* e;  // weights of the error estimate, with the slope at the end as last entry; null for none
  const double* d;  // weights of the dense output's last term, likewise; null for none
};

class ExplicitScheme : public Integrator {
 public:
  ExplicitScheme(Dynamics& dynamics, const IntegratorSettings& settings, int slopes);

 protected:
  struct Slope {
    Vec u, v, z, p;
  };

  void dense(double theta, State& out) override;
  void dense_work(double theta, Vec& W) override;
  void dense_acceleration(double theta, Vec& a) override;
  void accept() override { end_is_trial_ = false; }
  // trial_ and W_trial_ from the increments in du_, dv_, dz_, dW_; then projection. Prepares the dense output.
  void finish(double t1);
  // k_e, from the end of the step; trial_ before the step is accepted, now_ after it.
  void know_end_slope();
  void prepare_dense();

  std::vector<Slope> k_;  // the last one is the slope at the end
  Vec du_, dv_, dz_, dW_;
  const double* dense_weights_ = nullptr;

 private:
  State base_;
  Vec W_base_;
  double h_ = 0;
  bool end_is_trial_ = true, end_known_ = false, dense_ready_ = false;
  Slope last_;  // h sum d_i k_i
  Vec u_;
};

class RungeKutta final : public ExplicitScheme {
 public:
  // With `on_constraints` every stage is brought onto the constraints before its slope is taken (passage.cpp).
  RungeKutta(Dynamics& dynamics, const IntegratorSettings& settings, const Tableau& tableau,
             bool on_constraints = false);
  bool controlled() const override { return tableau_.e != nullptr; }

 protected:
  bool attempt(double t1) override;
  int error_order() const override { return tableau_.order - 1; }

 private:
  // Error of the ledger's integrals over the step, in units of the relative tolerance on the energy turned over.
  double ledger_error(double h);
  bool bring_stage_onto_constraints();
  // h |lambda| from the last stage and the end, which stand at the same time with states that differ a little by du,
  // dv: lambda^2 + d lambda + k = 0 for the k, d that explain the difference of their accelerations best, |da + k du +
  // d dv| = min, and lambda = |dz'| / |dz| for inner states. Differences below the tolerances limit no step.
  void tell_stiffness(double h);

  const Tableau& tableau_;
  const bool on_constraints_;
  State stage_;
  Vec lambda_stage_, u_stage_;
};

// Semi-implicit Euler (Y-9): v+ = v + h a(q, v), q+ = q (+) h v+.
class SymplecticEuler final : public ExplicitScheme {
 public:
  SymplecticEuler(Dynamics& dynamics, const IntegratorSettings& settings);

 protected:
  bool attempt(double t1) override;

 private:
  State mean_;
};

class Verlet final : public ExplicitScheme {
 public:
  Verlet(Dynamics& dynamics, const IntegratorSettings& settings);

 protected:
  bool attempt(double t1) override;
  void accept() override;
  void started() override;
  void exchange(Archive& archive) override { archive.vector(zdot_last_); }

 private:
  State stage_;
  Vec lambda_stage_, zdot_last_, zdot_stage_;
};

extern const Tableau kEuler, kRungeKutta4, kDormandPrince;

}  // namespace clatter
