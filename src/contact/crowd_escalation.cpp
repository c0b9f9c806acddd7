// What the first method of a crowd leaves unsolved; for CrowdStepper.
//
//   off_i    natural map of the law at row i, m/s: how far its rate and its impulse are from agreeing
//   goal     what it may be in an island, by a = what forces change in a step and w = the fastest rate of its contacts:
//            the largest of  kAtRest a (or kGiven contact_tolerance),  1e-3 w,  and 1e-2 w up to kMoving a
//
// What rests must be right by a small part of its weight, or it sinks and topples in time; an error in what moves is
// mended in the next step. Weight that is not carried shows as off = a, beyond any goal but that of violent impacts.
//
// A body on others of a thousandth of its mass keeps falling by g h a step until some thousand sweeps have brought its
// weight to the ground: sweeps and gradients need rounds by the ratio of masses. So islands that are off by more than
// their goal go on by Newton's method (crowd_newton.hpp), which does not feel that ratio, each as a problem of its own
// (crowd_part.hpp). From its impulses the next step starts: where nothing changes, a sweep is enough.
//
// `contact_iterations` says how much may be done: then there is no other method. What is off by more than its goal
// when the step is done is counted, and the worst of it kept by name (unsolved.hpp).
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "contact/crowd_stepper.hpp"

namespace clatter::contact {

namespace {

// See above. Sweeps stop where a sweep changes no rate by more than the tolerance; what they leave is some times that.
constexpr double kAtRest = 1e-3, kGiven = 10;
constexpr double kFast = 1e-3, kSlow = 1e-2, kMoving = 0.2;
// Newton's method goes on to this part of the goal; then to that, where the budget of energy (crowd_budget.cpp), which
// multiplies small errors of rates by large impulses, took more than the goal.
constexpr double kAims[] = {0.1, 1e-3};
// Multiplications in the factorisations of an island: about a second. Larger ones get fewer iterations.
constexpr double kMultiplications = 4e9;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

// Bodies and jointed trees that hang together by rows, `carrying`: by those with an impulse.
void CrowdStepper::join_islands(bool carrying) {
  graph_.parent.resize(problem_.bodies.size() + nodes_.groups.size());
  std::iota(graph_.parent.begin(), graph_.parent.end(), 0);
  for (std::size_t i = 0; i < assembly_.origins.size(); ++i) {
    if (carrying && !(problem_.rows[i].pn > 0)) continue;
    const int a = island_of(assembly_.origins[i].link1), b = island_of(assembly_.origins[i].link2);
    if (a >= 0 && b >= 0 && a != b) graph_.parent[at(std::max(a, b))] = std::min(a, b);
  }
}

// Goals of islands, and how far they are off.
void CrowdStepper::find_open_islands() {
  const bool exact = crowd_.friction == FrictionModel::exact;
  const double change = std::max(speeds_.change, 1e-9 * system().velocity_scale);
  join_islands(false);
  graph_.open.assign(graph_.parent.size(), {});
  for (std::size_t i = 0; i < assembly_.origins.size(); ++i) {
    OpenIsland& k = graph_.open[root_of_row(i)];
    k.fastest = std::max(k.fastest, assembly_.origins[i].u_begin.norm());
    const double off = problem_.residual(exact, i, i + 1).rate;
    if (off <= k.off) continue;
    k.off = off;
    k.worst = static_cast<int>(i);
  }
  for (OpenIsland& k : graph_.open)
    k.goal = std::max({crowd_.tolerance > 0 ? kGiven * crowd_.tolerance : kAtRest * change, kFast * k.fastest,
                       std::min(kSlow * k.fastest, kMoving * change)});
}

std::size_t CrowdStepper::root_of_row(std::size_t i) {
  const int a = island_of(assembly_.origins[i].link1);
  return at(a >= 0 ? a : island_of(assembly_.origins[i].link2));
}

// Rows of islands that are off by more than their goal, island by island.
void CrowdStepper::gather_open_rows() {
  for (std::size_t i = 0; i < assembly_.origins.size(); ++i) {
    OpenIsland& k = graph_.open[root_of_row(i)];
    if (k.off > k.goal) ++k.end;
  }
  int sum = 0;
  for (OpenIsland& k : graph_.open) {
    const int n = k.end;
    k.end = sum;
    sum += n;
  }
  graph_.open_rows.resize(at(sum));
  for (std::size_t i = 0; i < assembly_.origins.size(); ++i) {
    OpenIsland& k = graph_.open[root_of_row(i)];
    if (k.off > k.goal) graph_.open_rows[at(k.end++)] = static_cast<int>(i);
  }
}

void CrowdStepper::escalate(double aim) {
  const bool exact = crowd_.friction == FrictionModel::exact;
  find_open_islands();
  gather_open_rows();
  int begin = 0;
  for (const OpenIsland& k : graph_.open) {
    if (!(k.off > k.goal)) continue;
    part_.take(problem_, std::span(graph_.open_rows).subspan(at(begin), at(k.end - begin)));
    begin = k.end;
    ++effort_.escalations;
    effort_.sweeps +=
        solvers_.newton.solve(part_.problem, exact, aim * k.goal, kNewtonIterations, kMultiplications).iterations;
    if (part_.problem.residual(exact).rate < k.off) part_.put_back(problem_);
  }
}

// The part by the first method, where that may be done no more than `most` times, or by Newton's.
void CrowdStepper::solve_part(double tolerance, int most) {
  const bool exact = crowd_.friction == FrictionModel::exact;
  if (crowd_.iterations > 0 && crowd_.solver != CrowdSolver::newton)
    effort_.sweeps += solvers_.sweeps.solve(part_.problem, exact, tolerance, most).iterations;
  else
    effort_.sweeps +=
        solvers_.newton.solve(part_.problem, exact, tolerance, kNewtonIterations, kMultiplications).iterations;
}

void CrowdStepper::solve_to_goal(double tolerance, int most) {
  solve(tolerance, most);
  settle_energy(false);
  judge();
  if (crowd_.solver != CrowdSolver::newton && crowd_.iterations == 0)
    for (const double aim : kAims) {
      if (proof_.step_unsolved.steps == 0) break;
      escalate(aim);
      settle_energy(false);
      judge();
    }
  // What the laws of impacts bring in is no error of the solution: it is told apart.
  forbid_gain(tolerance, most);
  settle_energy(true);
}

// Residual of the step, and what in it is not solved.
void CrowdStepper::judge() {
  const bool exact = crowd_.friction == FrictionModel::exact;
  std::array<CrowdResidual, kChunks> residuals{};
  visit_chunks(assembly_.origins.size(), pool_,
               [&](std::size_t from, std::size_t to, int k) { residuals[at(k)] = problem_.residual(exact, from, to); });
  proof_.step_residual = {};
  for (const CrowdResidual& r : residuals) proof_.step_residual.take(r);
  proof_.step_unsolved = {};
  const double change = std::max(speeds_.change, 1e-9 * system().velocity_scale);
  if (!(proof_.step_residual.rate > (crowd_.tolerance > 0 ? kGiven * crowd_.tolerance : kAtRest * change))) return;
  find_open_islands();
  for (const OpenIsland& k : graph_.open) {
    if (!(k.off > k.goal)) continue;
    const RowOrigin& c = assembly_.origins[at(k.worst)];
    const CrowdPoint* p = c.point >= 0 ? &search_.points()[at(c.point)] : nullptr;
    proof_.step_unsolved.note(k.off, k.goal, trial_.t, c.entry >= 0 ? c.entry : ~friction_of(c),
                              p != nullptr ? p->shape1 : -1, p != nullptr ? p->shape2 : -1);
  }
}

}  // namespace clatter::contact
