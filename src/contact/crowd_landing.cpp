// Positions of a step in which something strikes (strike.hpp); for CrowdStepper.
//
//   velocities   v+: what strikes has b = 0 (e n . u- with restitution), what waits has no row
//   positions    q+ = q (+) h u,   u = v+ + M^-1 D n dp,   0 <= p_N + dp  perp  n . D^T u + gap / h >= 0
//
// over all rows, those that wait too: gaps of what landed close to zero, where velocities alone would let it hover, and
// what others send against something stops there. Friction stays that of v+; a landing alone starts with the part s of
// its impulse, friction too, that leaves it n . u = (1 - s) n . u_free = -gap / h (where others carry too, frictions
// balance each other, and stay). Rows that agree and whose bodies do not move otherwise are not answered
// (push_sweeps.hpp): it costs what lands.
//
// What lands lower than v+ says has lost that energy; what lands higher is paid by what the step loses (move).
#include <algorithm>

#include "contact/crowd_stepper.hpp"

namespace clatter::contact {

namespace {

// Answers of all rows on the mean, unless the model says how much may be done.
constexpr int kAnswers = 400;

}  // namespace

double CrowdStepper::closing_rate(const CrowdRow& row) const {
  return Vec3(row.n[0], row.n[1], row.n[2]).dot(problem_.rate(row));
}

double CrowdStepper::moving_rate(std::size_t i) const {
  if (!assembly_.origins[i].driven) return 0;
  const CrowdRow& row = problem_.rows[i];
  return Vec3(row.n[0], row.n[1], row.n[2]).dot(problem_.shifts[i]);
}

// Rows that carry, by body or jointed trees.
void CrowdStepper::count_carrying() {
  graph_.carrying.assign(problem_.bodies.size() + nodes_.groups.size(), 0);
  for (std::size_t i = 0; i < assembly_.origins.size(); ++i)
    if (problem_.rows[i].pn > 0 && !has_given_limit(problem_.rows[i]))
      for (const int link : {assembly_.origins[i].link1, assembly_.origins[i].link2})
        if (const int node = node_of(link); node >= 0) ++graph_.carrying[static_cast<std::size_t>(node)];
}

int CrowdStepper::carrying(int link) const {
  const int node = node_of(link);
  return node < 0 ? 0 : graph_.carrying[static_cast<std::size_t>(node)];
}

// ending_.v_land, from the velocities of the problem. To be called at the begin's links.
void CrowdStepper::land(double h) {
  ending_.v_land = trial_.v;
  const double enough = ending_.allowed / h;
  ending_.landed_entry = -1;
  double most = 0;
  for (std::size_t i = 0; i < assembly_.origins.size(); ++i) {
    const RowOrigin& c = assembly_.origins[i];
    if (!c.lands || !(problem_.rows[i].pn > 0) || !(c.way > enough)) continue;
    if (problem_.rows[i].pn > most) ending_.landed_entry = c.entry;
    most = std::max(most, problem_.rows[i].pn);
  }
  for (const Waiting& w : assembly_.waiting) {
    if (ending_.landed_entry >= 0) break;
    if (closing_rate(w.row) + w.row.b < -enough) ending_.landed_entry = w.entry;
  }
  if (ending_.landed_entry < 0) return;
  solvers_.push.begin(problem_);
  solvers_.push.problem.sides = problem_.sides;
  solvers_.push.problem.W = problem_.W;
  solvers_.push.problem.X = problem_.X;
  solvers_.push.blocks = blocks_.count;
  const auto add = [&](const CrowdRow& row, double b) {
    const int block = row.side1 < 0 || row.side2 < 0 ? 0 : block_between(row.side1, row.side2);
    solvers_.push.add(row, b, block);
  };
  count_carrying();
  for (std::size_t i = 0; i < assembly_.origins.size(); ++i) {
    const RowOrigin& c = assembly_.origins[i];
    CrowdRow row = problem_.rows[i];
    if (has_given_limit(row)) continue;
    // What the solution of the velocities left is not mended here.
    double b = row.pn > 0 ? 0 : std::max(0.0, c.way + closing_rate(row) + moving_rate(i));
    if (c.lands && row.pn > 0) {
      b = c.way + moving_rate(i);
      if (carrying(c.link1) <= 1 && carrying(c.link2) <= 1) {
        const double part = std::clamp(1 + c.way / c.free, 0.0, 1.0);
        solvers_.push.problem.push(row, (part - 1) * impulse(row));
        row.pn *= part;
      }
    }
    add(row, b);
  }
  for (const Waiting& w : assembly_.waiting) add(w.row, w.row.b + closing_rate(w.row));
  solvers_.push.solve(enough, std::max(kAnswers, crowd_.iterations));
  add_push(ending_.v_land);
}

}  // namespace clatter::contact
