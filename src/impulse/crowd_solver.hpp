// Solvers of the CrowdProblem (Y-29): sweeps and gradients, matrix-free.
//
//   sweeps     block Gauss-Seidel: contact after contact takes the impulse that satisfies its own law at the velocities
//              as they are. Exact: p_N = (p_N - (n.u + b) / A_nn)+, then P_T into the disc of radius mu p_N. Relaxed:
//              the block into the cone. Moments (crowd_turn_sweep.hpp) after the impulse, or with it. Forward and
//              backward in turn; rows come in the order of height, so that a sweep upwards carries the weight of a pile
//              and one downwards its answer. A sweep there and back is a symmetric preconditioner, and as long as
//              contacts neither open nor change from sticking to sliding the problem is linear: the changes z_k of
//              these rounds are made the directions of conjugate gradients (Silcowitz, Niebe, Erleben 2010), d_k = z_k
//              + beta d_{k-1}, beta = |z_k|^2 / |z_{k-1}|^2 in the norm of the diagonal, started anew where that is 1
//              or more. Sweeps alone need as many rounds as a pile has layers, squared.
//   apgd       Nesterov's accelerated projected gradients with a step that adapts to the curvature met and a restart
//              where the acceleration points uphill (O'Donoghue and Candes 2015, Mazhar et al. 2015)
//   barzilai-borwein  spectral projected gradients with a line search against the worst of the last ten values
//              (Birgin, Martinez, Raydan 2000)
//
// Gradients minimise 1/2 P^T N P + r^T P over the cones, the relaxed law. Coulomb's own is its fixed point with
// mu |u_T| of the last answer moved into b (De Saxce and Feng 1998): a few outer rounds. In some problems of a hundred
// these rounds crawl or go round a cycle: sweeps by the exact law then go on. Where rows transmit moments, P goes on
// with M / L of each row, and the rates with L w.
#pragma once

#include <vector>

#include "base/wide.hpp"
#include "base/worker_pool.hpp"
#include "impulse/crowd_problem.hpp"
#include "model/crowd.hpp"

namespace clatter::contact {

struct CrowdSolverReport {
  int iterations = 0;
  bool converged = false;
};

class CrowdSweeps {
 public:
  explicit CrowdSweeps(WorkerPool& pool) : pool_(pool) {}
  // Sweeps from the impulses in the rows, with the velocities that belong to them, until a sweep changes no rate by
  // more than `tolerance`. Blocks of rows are swept at once where there are several threads, with the same result.
  CrowdSolverReport solve(CrowdProblem& problem, bool exact, double tolerance, int most);

 private:
  void begin_round(const CrowdProblem& problem);
  double change_of_round(const CrowdProblem& problem);                 // |z|^2
  void go_on(CrowdProblem& problem, double beta);                      // impulses and velocities further by beta d
  void turn_on(CrowdProblem& problem, double beta, int from, int to);  // the same of moments of rows
  WorkerPool& pool_;
  std::vector<wide::Lanes> start_, way_;            // P_T and p_N of rows before a round; d
  std::vector<wide::Lanes> start_turn_, way_turn_;  // of their moments
};

class CrowdGradients {
 public:
  explicit CrowdGradients(CrowdSweeps& sweeps) : sweeps_(sweeps) {}
  // `spectral`: Barzilai-Borwein, else Nesterov.
  CrowdSolverReport solve(CrowdProblem& problem, bool exact, bool spectral, double tolerance, int most);

 private:
  using Impulses = std::vector<Vec3>;  // P of all rows, then M / L of all rows if any transmits a moment
  // Velocities of the problem for impulses P.
  void take(CrowdProblem& problem, const Impulses& P);
  // At the present velocities.
  void gradient(const CrowdProblem& problem, Impulses& g) const;
  static void project(const CrowdProblem& problem, Impulses& P);
  int nesterov(CrowdProblem& problem, double tolerance, int most, bool& converged);
  int spectral(CrowdProblem& problem, double tolerance, int most, bool& converged);
  double natural(const CrowdProblem& problem, const Impulses& P, const Impulses& g) const;
  void begin(const CrowdProblem& problem);
  void put_into(CrowdProblem& problem);
  void lift_by_slip(const CrowdProblem& problem);
  int sweep_on(CrowdProblem& problem, double tolerance, int most, double& off);

  CrowdSweeps& sweeps_;
  std::vector<CrowdBody> free_bodies_;
  std::vector<double> free_x_;
  std::vector<double> lift_;  // mu |u_T| and what moments add, moved into b
  Impulses P_, y_, next_, g_, g_next_;
};

}  // namespace clatter::contact
