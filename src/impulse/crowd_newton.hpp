// CrowdNewton: the CrowdProblem to rounding, a second-order method (Y-29).
//
// The relaxed law is a convex problem for velocities. In coordinates of energy, v = v_free + M^-1/2 y,
//
//   least 1/2 |y|^2   such that   d_i = r_i + S_i y in K*      r_i = u_free + b n,  S_i = D_i^T M^-1/2
//
// Its impulses follow from the proximal method of multipliers (Rockafellar 1976),
//
//   y = least point of  phi(y) = 1/2 |y|^2 + sum_i |proj_K(P0_i - rho_i d_i)|^2 / (2 rho_i)
//   P0_i <- P_i = proj_K(P0_i - rho_i d_i)                     rho = kappa / diagonal of D^T M^-1 D
//
// phi is convex with slope y - S^T P, and its second derivative 1 + sum S_i^T rho_i J_i S_i, J an element of the
// derivative of the projection, is positive definite: Newton's method with steps to the least point along its
// directions finds it from anywhere, and at its end doubles the digits with every iteration. Contacts that depend on
// each other do no harm. The matrix has a block for each body and each pair that touches (BlockCholesky); bodies that
// hang together by contacts are islands, solved one by one. An interior-point method needs some twenty factorisations a
// step, whatever it starts from; this one starts from the impulses of the step before and in a pile at rest needs none
// or one.
//
// Sides in jointed trees: A = W^T X of the places touched is factored, A = L L^T with L of its rank (pivoted), and
// u = u_free + L y: whatever joints and flexibility are behind it, to the contacts a tree is a block of unit mass.
//
// Moments (crowd_turn.hpp): a row that transmits one has a second port, M / L with the rate L w; d, P, S have a row of
// three for each port, and the projection takes both ports of a row at once.
//
// Coulomb's own law, from afar: the fixed point with mu |u_T| (and what spins add) of the last answer moved into b (De
// Saxce and Feng 1998), taken in the rounds of multipliers. From near: the same rounds with the law as it is
// (crowd_newton_coulomb.cpp). Where contacts carry each other, velocities settle long before impulses, which run along
// what changes no velocity at a rate of rho times a last small slip, until one of them opens, slides or sticks. A round
// with a stiffer rho goes as far as many; one that has no end is taken back and repeated with a softer rho, as in a
// trust region: the residual may stand still for many rounds and is no reason to leave.
//
// Rounding. P = proj_K(P0 - rho d) has an error of kappa times that of the rates, and so has S^T P. At the end of a
// round, where rates gain no more, the last step is taken by the linear map alone, P <- P - rho J S dy: then S^T P = y
// to the rounding of a sum, whatever kappa is.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "impulse/crowd_solver.hpp"
#include "solve/block_cholesky.hpp"

namespace clatter::contact {

class CrowdNewton {
 public:
  // A sweep costs a hundredth of a factorisation or less: they come first, as long as they lead on. False: Newton's
  // method alone.
  explicit CrowdNewton(CrowdSweeps& sweeps, bool sweeps_first = true) : sweeps_first_(sweeps_first), sweeps_(sweeps) {}
  // From the impulses in the rows, with the velocities that belong to them, until the natural map of the law is within
  // `tolerance`, m/s. `most`: Newton's iterations of an island; then sweeps lead elsewhere. `operations`:
  // multiplications in factorisations that there may be in all, but for a few iterations.
  CrowdSolverReport solve(CrowdProblem& problem, bool exact, double tolerance, int most,
                          double operations = std::numeric_limits<double>::infinity());

  // What was done since the begin.
  struct Counts {
    long newton = 0, rounds = 0, factorisations = 0, directions = 0, fallbacks = 0;
  };
  const Counts& counts() const { return counts_; }
  double operations() const { return matrix_.operations(); }
  // Slope of phi as a change of rates, m/s, before each iteration of the last round of the last island.
  std::span<const double> last_round() const { return last_round_; }

 private:
  struct Side {
    int node = -1;                // block row; -1: the ground
    const double* L = nullptr;    // in jointed trees: 3 rows of the node's size
    const double* arm = nullptr;  // null: a moment
    double lever = 1;             // of a moment
  };
  struct Group {
    int first = 0, n = 0, rank = 0;
    std::vector<int> sides;
  };

  void begin(CrowdProblem& problem);
  void put(CrowdProblem& problem) const;
  double sweep(CrowdProblem& problem, bool exact, double tolerance, int least);
  bool sweep_long(CrowdProblem& problem, bool exact, double tolerance, int most, double operations);
  bool solve_islands(CrowdProblem& problem, bool exact, double tolerance, int most, double& operations);
  void read(const CrowdProblem& problem);  // P0 of the impulses there, in the cones
  void gather(const CrowdProblem& problem);
  void factor_groups(const CrowdProblem& problem);
  void gather_islands(const CrowdProblem& problem);
  Side side(int side, const double* arm) const;
  Side turning_side(int side, int place, double lever) const;
  // S y of a side, and y += S^T F.
  Vec3 rate(const Side& s, const double* y) const;
  void push(const Side& s, const Vec3& F, double* y) const;
  Vec3 rate_of(int port, const Vec& y) const {
    const auto i = static_cast<std::size_t>(port);
    return rate(side1_[i], y.data()) - rate(side2_[i], y.data());
  }
  void push_of(int port, const Vec3& P, double* y) const {
    const auto i = static_cast<std::size_t>(port);
    push(side1_[i], P, y);
    push(side2_[i], -P, y);
  }
  // The three rows of S of a side; body: room for them.
  const double* columns(const Side& s, double* body) const;
  void add_to_matrix(int left, int right, const Mat3& H);  // S^T H S of two ports

  // Rows [0, n) are the ports of impulses, n + i is that of the moment of row i.
  bool turns(int row) const { return turn_[static_cast<std::size_t>(row)] != nullptr; }
  int moment_port(int row) const { return static_cast<int>(turn_.size()) + row; }
  // z of both ports of a row into the cone.
  void project(const CrowdProblem& problem, int row, Vec3& P, Vec3& M) const;
  Vec3 lifted(const CrowdProblem& problem, int row) const;
  double lift_at(const CrowdProblem& problem, int row) const;
  template <class Visit>
  void each_port(int row, const Visit& visit) const {
    visit(row);
    if (turns(row)) visit(moment_port(row));
  }

  bool solve_island(const CrowdProblem& problem, int island, bool exact, double tolerance, int& left);
  // y and d that belong to the impulses P0; natural map of the law there.
  double take(const CrowdProblem& problem, bool exact);
  void keep(std::vector<Vec3>& to, const std::vector<Vec3>& from) const;
  // P, J and the slope of phi at y; the largest change of rates that the slope asks for.
  double evaluate(const CrowdProblem& problem);
  double largest_rate(const Vec& y) const;
  bool minimise(const CrowdProblem& problem, double enough, int& left);
  bool factorize();
  double length_of_step(const CrowdProblem& problem) const;
  double go(double t);  // by t dy; the largest rate there
  // crowd_newton_coulomb.cpp: the same for Coulomb's law as it is; |F|^2.
  double evaluate_whole(const CrowdProblem& problem);
  bool direction();
  bool minimise_whole(const CrowdProblem& problem, double enough, int& left);

  BlockCholesky matrix_;
  std::vector<int> sizes_;
  std::vector<std::pair<int, int>> coupled_;
  // By node that is a body: roots of its inverse mass and inertia.
  std::vector<double> root_mass_;
  std::vector<Mat3> root_inertia_;
  std::vector<Group> groups_;
  int group_count_ = 0;
  std::vector<int> group_at_;  // by velocity of jointed trees: the group that begins there
  std::vector<int> group_of_side_;
  std::vector<std::size_t> L_at_;  // by side
  std::vector<double> L_, diagonal_, column_;

  // Ports of islands, rows first; those of the island at hand.
  std::vector<int> row_island_, island_begin_, island_rows_, next_row_, next_turn_, island_ports_;
  std::span<const int> rows_, ports_;
  int island_ = 0;
  std::pair<int, int> unknowns_;
  std::vector<const CrowdTurn*> turn_;  // by row, null: none
  std::vector<double> place_lever_;     // by side in jointed trees
  // By port; eta and lift by row.
  std::vector<Side> side1_, side2_;
  std::vector<Vec3> start_, P0_, P_, best_, kept_, d_, way_;
  std::vector<double> lift_, eta_;
  std::vector<Mat3> slope_, factored_slope_, whole_slope_;  // of a port by itself
  std::vector<Mat3> cross_, factored_cross_, whole_cross_;  // by row: of P by M, the same, of M by P
  Mat krylov_;
  double kappa_ = 0, factored_kappa_ = 0;
  bool factored_ = false;
  Vec y_, g_, dy_;
  std::vector<CrowdBody> free_bodies_;
  std::vector<double> free_x_;
  std::vector<double> T_;
  bool sweeps_first_;
  CrowdSweeps& sweeps_;
  Counts counts_;
  std::vector<double> last_round_;
};

}  // namespace clatter::contact
