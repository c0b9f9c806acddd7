// One call for all contact problems: chooses a method, checks what it returns, tries the next.
//
//   automatic, no discs   Newton from r when warm; Lemke on the reduced LCP (reduce_lcp.hpp); then enumeration when the
//                         states are few, else Newton from Lemke's last point and from prox; enumeration if affordable
//   automatic, discs      Newton from r when warm; Newton from a short prox run; from the solution with each disc
//                         replaced by a square; from longer and longer prox runs
//
// Whatever the method, `solved` means that the residual of the problem itself was computed and is small. r lies in its
// set exactly: the last thing done is a projection.
//
//   ContactSolver solver;                            // work arrays are kept between calls
//   ContactProblem p{A, b, {Cone::ray(0), Cone::friction(0, 1, 0.3)}};
//   Vec r;
//   const ContactResult result = solver.solve(p, r);
//   if (result.status != ContactStatus::solved) ...  // r is the best point met, finite
//
// Thousands of contacts will not come as a matrix: the place for that is a second `solve` taking, instead of A, an
// operator with apply(u, y) and diagonal blocks; prox then needs nothing but columns of W and a body-wise M^-1.
#pragma once

#include "solve/cone_map.hpp"
#include "solve/enumerate_lcp.hpp"
#include "solve/lemke.hpp"
#include "solve/newton_lcp.hpp"
#include "solve/prox.hpp"
#include "solve/reduce_lcp.hpp"

namespace clatter {

class ContactSolver {
 public:
  // r is a start when options.warm_start is set, and resized otherwise.
  ContactResult solve(const ContactProblem& problem, Vec& r, const ContactOptions& options = {});

 private:
  // Each tries to improve u_ and reports whether the problem is now solved.
  bool try_lemke(const ScaledContact& s);
  bool try_newton(const ScaledContact& s, int steps);
  bool try_prox(const ScaledContact& s, int sweeps, double tolerance);
  bool try_enumeration(const ContactProblem& problem, long max_states);
  bool offer(const Vec& u, ContactMethod method);  // keeps u if it is the best so far

  void automatic_linear(const ContactProblem& problem, bool warm);
  void automatic_discs(bool warm);
  void start_from_squares();

  ScaledContact scaled_, squares_;
  LemkeSolver lemke_;
  LcpReduction reduction_;
  NewtonSolver newton_;
  ProxSolver prox_;
  ContactOptions options_;
  ContactResult result_;
  ContactStatus failure_ = ContactStatus::iteration_limit;
  Vec u_, best_, candidate_, y_, F_, x_, w_;
  double best_residual_ = 0;
};

inline ContactResult solve(const ContactProblem& problem, Vec& r, const ContactOptions& options = {}) {
  return ContactSolver().solve(problem, r, options);
}

}  // namespace clatter
