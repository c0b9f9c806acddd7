// RADAU5: three-stage Radau IIA, order 5, with error control (E-19), for constrained systems in the stabilised index-2
// form of Gear, Gupta and Leimkuhler:
//
//   du/dt = dexpinv(u) (v + D Gh^T mu)        D = diag(scale^2)
//   M dv/dt = h + G^T lambda,   dz/dt = f
//   phi = 0,   G v + y = 0                     both at every stage
//
// Stages Y_i = y_i - y_0 with Y'_i = sum_j (A^-1)_ij Y_j / h. Simplified Newton with the tangents at the start of the
// step; A^-1 has one real and one pair of complex eigenvalues, so that one real and one complex system of the size of
// (v, z, lambda, mu) is factorised (radau_system.hpp). Tangents and factorisations are kept as long as the iteration
// converges well.
//
// With `fixed_point` the stages are found without matrices (radau5_fixed_point.cpp).
//
// Error: (g/h - J) err = y'_0 + (e . Y) / h, g the real eigenvalue, e = (-13-7 sqrt6, -13+7 sqrt6, -1)/3; multipliers
// do not count. Predictive step control of Gustafsson as in Hairer and Wanner, Solving ODEs II, IV.8. Dense output: the
// collocation polynomial. lambda() is evaluated from the state at the step's end (index 1), and so has the order of the
// state.
#pragma once

#include <array>
#include <complex>

#include "integrate/integrator.hpp"
#include "integrate/radau_system.hpp"
#include "integrate/redundant_rows.hpp"

namespace clatter {

class Radau5 final : public Integrator {
 public:
  Radau5(Dynamics& dynamics, const IntegratorSettings& settings);
  bool controlled() const override { return true; }
  void refresh() override;

 protected:
  bool attempt(double t1) override;
  void accept() override;
  void dense(double theta, State& out) override;
  void dense_work(double theta, Vec& W) override;
  double propose(double h, double error, bool accepted) override;
  int error_order() const override { return 3; }
  void exchange(Archive& archive) override;
  void started() override;

 private:
  struct Stage {
    State s;                   // at the stage
    Vec U, V, Z, L, mu, W, p;  // increments from the start of the step; L: lambda - lambda_0; p: powers
    Vec a;                     // dv/dt
    RadauVector<double> r;     // residuals, then increments
  };
  enum class Newton { converged, slow, failed };

  void predict(double h);
  bool prepare(double h);
  Newton iterate(double h);
  bool stage_residual(Stage& stage, double h, int index);
  double relative_size() const;
  bool estimate_error(double h);
  // False or SolveError where the iteration does not contract.
  bool fixed_point(double h);
  void estimate_error_fixed_point(double h, const double* e);
  // Weights of the stages in the collocation polynomial at theta, zero at theta = 0.
  static Eigen::Vector3d lagrange(double theta);

  struct Coefficients {  // of the method, and the eigenvalues and vectors of its inverse matrix
    Eigen::Matrix3d A, A_inverse;
    double real_eigenvalue = 0;
    std::complex<double> complex_eigenvalue;
    Eigen::Vector3d real_vector, real_row;
    Eigen::Vector3cd complex_vector, complex_row;
  };
  Coefficients method_;

  Tangents tangents_;
  Vec v_tangents_;
  RadauSystem<double> real_;
  RadauSystem<std::complex<double>> complex_;
  RadauVector<double> x_real_;
  RadauVector<std::complex<double>> x_complex_;
  std::array<Stage, 3> stage_;
  struct Slope {
    Vec u, v, z;
  };
  std::array<Slope, 3> slope_, past_slope_;  // of the stages, fixed-point iteration only

  RedundantRows rows_;

  bool tangents_known_ = false;    // of now_, or of an earlier step that still serves
  bool tangents_current_ = false;  // of now_
  double factored_h_ = 0;

  // Newton and step control.
  double faccon_ = 1, theta_ = 0;
  int newton_ = 0;
  double last_h_ = 0, last_error_ = 1e-2;
  bool first_ = true, rejected_ = false;

  struct Past {  // last accepted step, for prediction: stage increments of v and z, multipliers at the stages
    bool known = false;
    double h = 0;
    std::array<Vec, 3> V, Z, lambda;
  };
  Past past_;
  struct DenseOutput {
    State base;
    Vec W_base, u;
    double h = 0;
  };
  DenseOutput dense_;
  Vec force_, rate_, du_, dv_, dz_, phi_;
};

}  // namespace clatter
