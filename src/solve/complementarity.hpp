// Complementarity problems: what is to be solved and what comes back. The methods are in lemke.hpp, enumerate_lcp.hpp,
// prox.hpp and newton_lcp.hpp; contact_solver.hpp chooses between them.
//
// Plain linear problem (LCP):   y = A x + b,   0 <= x  perp  y >= 0.
//
// Contact problem:              y = A r + b,   r in K(r),   -y in the normal cone of K(r) at r,
//
// with A dense, not assumed symmetric and possibly singular, and K(r) a product of small sets, one a cone:
//
//   line   y = 0, r free                                             bilateral row
//   ray    0 <= r  perp  y >= 0                                      normal law (P-27, P-40, P-41)
//   box    lo - mu_minus r[normal] <= r <= hi + mu_plus r[normal];   planar Coulomb friction (P-28), expansion with
//          at the lower end y >= 0, at the upper y <= 0,             reversible part (P-42, P-43), friction with a
//          between y = 0                                             given normal force (normal = -1)
//   disc   |r| <= hi + mu_plus r[normal] for two rows;               spatial Coulomb friction, exact
//          inside y = 0, on the rim y = -s r with s >= 0
//
// One description serves accelerations and forces, velocities and impulses, and time stepping (P-50): r is the
// interaction, y the kinematic quantity. An offset of the interaction (I_M0 of P-50) is the lower end of a box.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/math.hpp"

namespace clatter {

// `ray`: Lemke's path went to infinity; that proves nothing unless A is copositive plus (trap 10).
enum class LcpStatus { solved, ray, cycling, singular, iteration_limit };

struct LcpOptions {
  double tolerance = 1e-12;  // entries of the scaled tableau below this are rounding
  int max_pivots = 0;        // of one path; 0: 50 n + 200
  int paths = 6;             // covering vectors tried before giving up
};

struct LcpResult {
  LcpStatus status = LcpStatus::iteration_limit;
  int pivots = 0;
  double residual = 0;  // max |min(x, y)| of the scaled problem, see kSolvedResidual
};

// `solved` is said only when the largest entry of the natural map, in the scaled problem (entries of A at most one,
// largest entry of b one), is at most this times the size of the terms that cancel in A x + b (that size counted up to
// kLargestCancellation).
inline constexpr double kSolvedResidual = 1e-10;
inline constexpr double kLargestCancellation = 1e4;

struct Cone {
  enum class Kind : std::uint8_t { line, ray, box, disc };

  Kind kind = Kind::ray;
  int row = 0;      // a disc takes this row and the next
  int normal = -1;  // the row whose r widens this set, -1: none. That row's own set must be r >= something >= 0.
  double mu_minus = 0, mu_plus = 0;
  double lo = 0, hi = 0;

  int size() const { return kind == Kind::disc ? 2 : 1; }

  static Cone line(int row) { return {Kind::line, row, -1, 0, 0, 0, 0}; }
  static Cone ray(int row) { return {Kind::ray, row, -1, 0, 0, 0, std::numeric_limits<double>::infinity()}; }
  static Cone box(int row, double lo, double hi) { return {Kind::box, row, -1, 0, 0, lo, hi}; }
  static Cone friction(int normal, int row, double mu) { return {Kind::box, row, normal, mu, mu, 0, 0}; }
  static Cone interval(int normal, int row, double mu_minus, double mu_plus, double lo, double hi) {
    return {Kind::box, row, normal, mu_minus, mu_plus, lo, hi};
  }
  static Cone disc(int normal, int row, double mu, double radius = 0) {
    return {Kind::disc, row, normal, mu, mu, 0, radius};
  }
};

struct ContactProblem {
  Mat A;
  Vec b;
  std::vector<Cone> cones;  // each row belongs to exactly one

  int size() const { return static_cast<int>(b.size()); }
  bool has_discs() const;
  // Throws std::invalid_argument when rows are missing or shared, a normal is not a nonnegative row, or an interval is
  // empty; std::domain_error when a number is not finite.
  void validate() const;
  void validate(std::vector<int>& cone_of) const;  // the same; leaves the index of each row's cone
};

enum class ContactMethod : std::uint8_t { automatic, lemke, enumeration, prox, newton };

enum class ContactStatus : std::uint8_t {
  solved,
  no_solution,      // proved by enumeration
  inconsistent,     // dependent bilateral rows contradict each other
  ray,              // pivoting ended on a ray and no other method found a solution; not a proof
  iteration_limit,  // no method converged
  unsupported,      // the method asked for cannot treat these cones or this size
};

enum class SolutionCount : std::uint8_t { unknown, none, unique, several, infinite };

struct ContactOptions {
  ContactMethod method = ContactMethod::automatic;
  double tolerance = kSolvedResidual;  // of the natural map, scaled; never looser than kSolvedResidual for `solved`
  int max_iterations = 0;              // Newton steps or sweeps; 0: the method's own
  bool warm_start = false;             // take the r given as a start (Newton, prox)
  bool count_solutions = false;        // run the enumeration when the problem is small enough, and fill `count`
};

struct ContactResult {
  ContactStatus status = ContactStatus::iteration_limit;
  ContactMethod answered = ContactMethod::automatic;  // whose r is returned
  int iterations = 0;                                 // pivots, Newton steps, sweeps or states, of all methods tried
  double residual = 0;                                // natural map: complementarity, scaled
  double violation = 0;                               // how far r and y are outside of their sets, scaled
  SolutionCount count = SolutionCount::unknown;       // of r; known only when an enumeration was run
  SolutionCount count_y = SolutionCount::unknown;  // of y = A r + b (P-34: accelerations may be unique when r is not)
};

}  // namespace clatter
