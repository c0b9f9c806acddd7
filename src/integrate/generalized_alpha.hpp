// Generalized-alpha on rotations for constrained systems, index 3 (V-1, V-2, V-3).
//
//   (1-am) A_{n+1} + am A_n = (1-af) dv_{n+1} + af dv_n          A: the scheme's own accelerations
//   u = h v_n + h^2 ((1/2-b) A_n + b A_{n+1}),   q_{n+1} = q_n (+) u
//   v_{n+1} = v_n + h ((1-g) A_n + g A_{n+1})
//   z_{n+1} = z_n + h ((1-g) B_n + g B_{n+1})                    B: the same average of dz/dt
//   M dv - h - G^T lambda = 0,  dz/dt = f,  phi(q_{n+1}) = 0,  non-holonomic rows G v + y = 0     at t_{n+1}
//
//   am = (2r-1)/(r+1), af = r/(r+1), g = 1/2 + af - am, b = (g + 1/2)^2 / 4, r = rho_inf, unless others are given
//   (alpha_weights.hpp: Newmark; Hilber, Hughes and Taylor)
//
// Newton on x = (du, dz, dlambda): dv += g' du, d(dv) += b' du with g' = g/(h b), b' = (1-am)/(h^2 b (1-af)). Rows and
// columns are scaled by powers of h so that the matrix stays bounded as h -> 0:
//
//   [ M + (g'/b') C + K T / b'     Rz / b'      -k G^T ] [ du             ]
//   [ -(Fq T + g' Fv) hg           1 - hg Fz     0     ] [ dz             ]
//   [ k G T (holonomic)            0             e     ] [ dlambda/(k b') ]
//   [ k (G + Vq T / g') (others)   0             e     ]
//
// with hg = h g (1-af)/(1-am) and T = T(u) of V-3.
// e is 1e-8 of the diagonal of G M^-1 G^T: redundant rows keep a regular matrix, and as the residuals do not contain e
// the solution does not depend on it. The factorisation is kept over iterations and steps until convergence suffers.
//
// A_n stands for the acceleration at t_n + (am-af) h, and v_n carries an error proportional to h^2 across the
// constraints. Both are started there, and moved when h changes, so that multipliers are of second order from the first
// step on. The velocities reported satisfy G v + y = 0: they are projected; the scheme itself goes on from its own v,
// because feeding the projection back would disturb the multipliers.
//
// Newton starts from dv, dz/dt and lambda continued along the line through their last two values; after an event, from
// the values at the start of the step.
//
// A step without convergence is halved, at most ten times.
//
// rho_inf close to 1 does not suit constraints: the errors of the multipliers follow a recursion with the triple
// eigenvalue -rho_inf (one Jordan block), which first amplifies what disturbs it by about 0.27 / (1 - rho_inf)^2
// (n^2 rho^n / 2 at its largest) before it forgets: 27 at 0.9, 2700 at 0.99, without bound at 1.
#pragma once

#include <vector>

#include "integrate/integrator.hpp"
#include "integrate/iteration_matrix.hpp"
#include "solve/linear_solver.hpp"

namespace clatter {

class GeneralizedAlpha final : public Integrator {
 public:
  GeneralizedAlpha(Dynamics& dynamics, const IntegratorSettings& settings);
  void refresh() override;

 protected:
  bool attempt(double t1) override;
  void accept() override;
  void dense(double theta, State& out) override;
  void dense_work(double theta, Vec& W) override;
  void started() override;
  void exchange(Archive& archive) override;
  bool remembers_derivative() const override { return true; }
  int halvings() const override { return 10; }

 private:
  // The iteration matrix, laid out by the patterns of the tangents.
  struct Iteration {
    Iteration(const Tangents& tangents, const Sizes& n, const RotationIndex& rotations);
    static PatternPtr make_pattern(const Tangents& tangents, const Sizes& n, const RotationIndex& rotations);
    PatternPtr of;  // of the tangents' M
    PatternPtr pattern;
    SparseMatrix<double> matrix;
    LinearSolver<double> solver;
    BlockMap M, Rz, Gt, Fq, Fv, Fz, G;
    std::vector<int> diagonal;
  };
  void factorize(double h);
  // Residuals at the trial state into rhs_, scaled as the matrix.
  void evaluate(double h);
  // Largest |du| in units of what is worth resolving; below 1 is converged.
  double increment_size(double h) const;
  void turn_matrices(const Vec& u);

  double am_, af_, g_, b_;
  RotationIndex rotation_index_;
  Tangents tangents_;
  Iteration iteration_;
  std::vector<double> holonomic_, others_;  // row weights
  BlockDiagonal<double> T_;
  double factored_h_ = 0;  // 0: no factorisation

  Vec A_, B_;          // at now_
  Vec v_own_;          // the scheme's velocity at now_, before projection
  double last_h_ = 0;  // step to which A_ and B_ belong
  struct Past {        // last step's, for prediction
    bool known = false;
    Vec a, zdot, lambda;
  };
  Past past_;
  struct Trial {  // averages and the scheme's velocity at the begin and the end of the attempt
    Vec A_start, B_start, A, B, v_own, v_start;
  };
  Trial averages_;
  struct Newton {
    Vec u, r, phi, velocity_residual, f, rhs, row_scale;
  };
  Newton newton_;

  struct DenseOutput {  // u and v by cubic Hermite polynomials
    State base;
    Vec W_base, rate_end, a_base, a_end, v_end, z_end, zdot_base, zdot_end, p_base, p_end, W_end, u;
    double h = 0;
  };
  DenseOutput dense_;
};

}  // namespace clatter
