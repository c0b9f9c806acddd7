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
  if (!rows_[i].driven) return 0;
  const CrowdRow& row = problem_.rows[i];
  return Vec3(row.n[0], row.n[1], row.n[2]).dot(problem_.shifts[i]);
}

// Rows that carry, by body or jointed trees.
void CrowdStepper::count_carrying() {
  carrying_.assign(problem_.bodies.size() + groups_.size(), 0);
  for (std::size_t i = 0; i < rows_.size(); ++i)
    if (problem_.rows[i].pn > 0 && !has_given_limit(problem_.rows[i]))
      for (const int link : {rows_[i].link1, rows_[i].link2})
        if (const int node = node_of(link); node >= 0) ++carrying_[static_cast<std::size_t>(node)];
}

int CrowdStepper::carrying(int link) const {
  const int node = node_of(link);
  return node < 0 ? 0 : carrying_[static_cast<std::size_t>(node)];
}

// v_land_, from the velocities of the problem. To be called at the begin's links.
void CrowdStepper::land(double h) {
  v_land_ = trial_.v;
  const double enough = allowed_ / h;
  landed_entry_ = -1;
  double most = 0;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Contacted& c = rows_[i];
    if (!c.lands || !(problem_.rows[i].pn > 0) || !(c.way > enough)) continue;
    if (problem_.rows[i].pn > most) landed_entry_ = c.entry;
    most = std::max(most, problem_.rows[i].pn);
  }
  for (const Waiting& w : waiting_) {
    if (landed_entry_ >= 0) break;
    if (closing_rate(w.row) + w.row.b < -enough) landed_entry_ = w.entry;
  }
  if (landed_entry_ < 0) return;
  push_.begin(problem_);
  push_.problem.sides = problem_.sides;
  push_.problem.W = problem_.W;
  push_.problem.X = problem_.X;
  push_.blocks = blocks_;
  const auto add = [&](const CrowdRow& row, double b) {
    const int block = row.side1 < 0 || row.side2 < 0 ? 0 : block_between(row.side1, row.side2);
    push_.add(row, b, block);
  };
  count_carrying();
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Contacted& c = rows_[i];
    CrowdRow row = problem_.rows[i];
    if (has_given_limit(row)) continue;
    // What the solution of the velocities left is not mended here.
    double b = row.pn > 0 ? 0 : std::max(0.0, c.way + closing_rate(row) + moving_rate(i));
    if (c.lands && row.pn > 0) {
      b = c.way + moving_rate(i);
      if (carrying(c.link1) <= 1 && carrying(c.link2) <= 1) {
        const double part = std::clamp(1 + c.way / c.free, 0.0, 1.0);
        push_.problem.push(row, (part - 1) * impulse(row));
        row.pn *= part;
      }
    }
    add(row, b);
  }
  for (const Waiting& w : waiting_) add(w.row, w.row.b + closing_rate(w.row));
  push_.solve(enough, std::max(kAnswers, crowd_.iterations));
  add_push(v_land_);
}

}  // namespace clatter::contact
