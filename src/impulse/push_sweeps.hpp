// PushSweeps: the smallest change of positions that opens gaps, for CrowdStepper (crowd_push.cpp).
//
//   1/2 |dv|^2_M least with n . D^T dv + b >= 0:    dv = M^-1 D n p,   0 <= p  perp  n . D^T dv + b >= 0
//
// (or, where rows start from impulses p_0 and bodies from dv_0, dv = dv_0 + M^-1 D n (p - p_0).)
//
// Without friction a row is one number, and balls do not turn. Gauss-Seidel sweeps from below upwards and back; a row
// is answered only where its own impulse and rate do not agree at first, or one of its bodies has moved by more than
// the tolerance since it was, so that a push costs what moves in it, not what there is. Rows that share no body with
// those of another block are swept at once by threads, the rows between blocks after them, those with sides in jointed
// trees last: the same numbers whatever the threads.
//
// What stands between the ground and something much heavier moves to and fro, by the ratio of masses: then the same
// rows go to another solver (as_problem).
#pragma once

#include <vector>

#include "base/worker_pool.hpp"
#include "impulse/crowd_problem.hpp"

namespace clatter::contact {

class PushSweeps {
 public:
  explicit PushSweeps(WorkerPool& pool) : pool_(pool) {}

  // Bodies of `like`, at rest; no rows.
  void begin(const CrowdProblem& like);
  // Points c1, c2 from the mass centres; false where nothing can give way. block: of its free bodies, or `blocks`.
  bool add(int side1, int side2, const Vec3& n, const Vec3& c1, const Vec3& c2, double b, int block);
  // The row of another problem with its bodies and sides, which starts from its impulse.
  bool add(const CrowdRow& row, double b, int block);
  // Until rates change by less than the tolerance, or rows have been answered `most` times each on the mean; how often
  // they were.
  double solve(double tolerance, double most);
  // All rows, with their impulses and the velocities that belong to them, as a problem whose rows have no friction.
  CrowdProblem& as_problem();
  // Its velocities.
  void take_velocities();

  CrowdProblem problem;  // bodies, x, sides; rows: those with sides in jointed trees
  int blocks = 0;

 private:
  struct Row {
    double n[3], b;
    double p, inverse;
    std::int32_t side1, side2;
  };
  struct Turn {  // r = c x n, a = I^-1 r
    double r1[3], a1[3], r2[3], a2[3];
  };
  void wake(double tolerance);
  template <bool Balls>
  long sweep(int from, int to, int number, double tolerance, bool backward);
  long sweep_coupled(int number, double tolerance, bool backward, bool& moved);

  WorkerPool& pool_;
  CrowdProblem whole_;
  std::vector<Row> rows_, sorted_;
  std::vector<Turn> turns_, sorted_turns_;  // beside rows, unless all are balls
  std::vector<int> block_, begin_;          // of rows as added; begins of blocks
  std::vector<int> moved_;                  // by body: last sweep that moved it
};

}  // namespace clatter::contact
