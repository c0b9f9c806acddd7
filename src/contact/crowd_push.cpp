// Positions of a step, and the push of what is too deep at its end; for CrowdStepper.
//
//   q+ = q (+) h v+                          what is too deep there: turning bodies move along arcs that rows take for
//                                            straight lines, some (h w)^2 / 2 of their size, and sweeps end early
//   smallest |dv|_M with n . D^T dv + b >= 0 over all points near at the end, without friction;
//   b = gap / h, 0 from touching to kSlop of the smaller shape, (gap + kSlop) / h where it is deeper
//   q+ = q (+) h (v+ + dv), looked at again, until nothing is deeper than kDeep of the smaller shape, or than what the
//                                            tolerance of the rates allows in a step; then a third of it counts as
//                                            touching
//
// A push takes no more answers of rows (push_sweeps.hpp) than the solution of the step did. What is too deep after that
// goes on by Newton's method, unless `contact_iterations` says how much may be done.
//
// Velocities and impulses stay as they are: momentum is theirs. Where the push lifts bodies, the fall of the energy in
// the same step pays for it, and where that is not enough the push is made smaller: what rests is not lifted.
#include <algorithm>
#include <cmath>
#include <limits>

#include "contact/crowd_stepper.hpp"

namespace clatter::contact {

namespace {

// Passes of a push; answers a row gets in all of them where the solution of the step took fewer.
constexpr int kPasses = 6;
// Passes by Newton's method after them.
constexpr int kExactPasses = 2;
constexpr double kAnswers = 40;
// A pass ends where answers change gaps by less than this part of kSlop.
constexpr double kPart = 0.1;
// Part of what a rope is too long by that a step takes back: a taut one grows in every step.
constexpr double kRopePart = 0.3;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// Of a start, which has no step to be cheap for.
constexpr int kStartPasses = 40;
constexpr double kStartAnswers = 400;

}  // namespace

bool CrowdStepper::too_deep(bool ropes) {
  if (anything_deep() || deepest_slot() > most_depth(size_of_slots())) return true;
  if (!ropes) return false;
  for (std::size_t k = 0; k < ropes_.size(); ++k) {
    const RopeState rope = rope_state(ropes_[k], crowd_.ropes[k].length);
    if (rope.gap < -kSlop * crowd_.ropes[k].length) return true;
  }
  return false;
}

// The push out of what is deep at the engine's present links; how often its rows were answered, on the mean.
double CrowdStepper::find_push(double h, double most_answers, bool exactly) {
  if (!nodes_.groups.empty()) engine_.prepare_response(contact_.engine_state(trial_));
  solvers_.push.begin(problem_);
  solvers_.push.blocks = blocks_.count;
  const auto centre = [&](int link) -> Vec3 {
    return link < 0 ? Vec3::Zero() : Vec3(engine_.links().motion[at(link)].p);
  };
  double smallest = std::numeric_limits<double>::infinity(), most = 0;
  const auto add_sides = [&](int entry, int side1, int side2, const Vec3& c1, const Vec3& c2, const Vec3& n, double gap,
                             double size) {
    const double slop = std::max(kSlop * size, ending_.allowed / 3);
    double b = (gap > 0 ? gap : std::min(0.0, gap + slop)) / h;
    const std::size_t ropes = crowd_.contacts.size();
    if (b < 0 && at(entry) >= ropes && at(entry) < ropes + ropes_.size()) b *= kRopePart;
    const int block = side1 < 0 || side2 < 0 ? 0 : block_between(side1, side2);
    if (!solvers_.push.add(side1, side2, n, c1, c2, b, block)) return;
    if (b < 0) smallest = std::min(smallest, size);
    if (-gap > most) {
      most = -gap;
      ending_.push_entry = entry;
    }
  };
  const auto add = [&](int entry, int link1, int link2, const Vec3& p1, const Vec3& p2, const Vec3& n, double gap,
                       double size) {
    const Vec3 c1 = p1 - centre(link1), c2 = p2 - centre(link2);
    const int side1 = side_of(solvers_.push.problem, link1, c1), side2 = side_of(solvers_.push.problem, link2, c2);
    add_sides(entry, side1, side2, c1, c2, n, gap, size);
  };
  double deepest = 0;
  for (const CrowdPoint& p : again_.points()) deepest = std::max(deepest, -p.gap);
  find_at_end(deepest, false);
  for (const CrowdPoint& p : again_.points())
    add(p.entry, system().shapes[at(p.shape1)].link, system().shapes[at(p.shape2)].link, p.p1, p.p2, p.n, p.gap,
        smaller_of(p));
  for (std::size_t k = 0; k < ropes_.size(); ++k) {
    const RopeState rope = rope_state(ropes_[k], crowd_.ropes[k].length);
    if (rope.distance > 0)
      add(static_cast<int>(crowd_.contacts.size() + k), ropes_[k].link1, ropes_[k].link2, rope.p1, rope.p2, rope.n,
          rope.gap, crowd_.ropes[k].length);
  }
  push_slots([&](int entry, int side1, int side2, double gap) {
    add_sides(entry, side1, side2, Vec3::Zero(), Vec3::Zero(), Vec3::UnitX(), gap, size_of_slots());
  });
  const double tolerance = kPart * std::max(kSlop * smallest, ending_.allowed / 3) / h;
  if (!exactly) return solvers_.push.solve(tolerance, most_answers);
  solvers_.push_newton.solve(solvers_.push.as_problem(), true, tolerance, kNewtonIterations);
  solvers_.push.take_velocities();
  return 0;
}

// v += what the push gives, at the engine's present links.
void CrowdStepper::add_push(Vec& v) const {
  const Tree& tree = engine_.system().tree;
  for (std::size_t k = 0; k < nodes_.bodies.size(); ++k) {
    const Link& link = tree.links[at(nodes_.bodies[k])];
    const CrowdBody& body = solvers_.push.problem.bodies[k + CrowdProblem::grounds];
    double* out = v.data() + link.v;
    out[0] += body.v[0];
    out[1] += body.v[1];
    if (link.mobility == Mobility::planar3) out[2] += body.w[2];
    if (link.mobility == Mobility::particle3) out[2] += body.v[2];
    if (link.mobility != Mobility::free6) continue;
    out[2] += body.v[2];
    const Vec3 w = engine_.links().motion[at(nodes_.bodies[k])].R.transpose() * Vec3(body.w[0], body.w[1], body.w[2]);
    for (int i = 0; i < 3; ++i) out[3 + i] += w[i];
  }
  for (const Group& g : nodes_.groups) {
    int j = g.first;
    for (const auto& [first, n] : g.ranges)
      for (int i = 0; i < n; ++i) v[first + i] += solvers_.push.problem.x[at(j++)];
  }
}

StartOverlap CrowdStepper::start_overlap() const {
  StartOverlap out;
  double worst = -1;
  for (const CrowdPoint& p : search_.points()) {
    const double size = smaller_of(p);
    if (!(-p.gap > most_depth(size))) continue;
    ++out.places;
    out.depth = std::max(out.depth, -p.gap);
    const double share = size > 0 ? -p.gap / size : 0;
    if (!(share > worst)) continue;
    worst = out.share = share;
    const CrowdContact& entry = crowd_.contacts[at(p.entry)];
    out.source = entry.source;
    out.contact = entry.name;
    out.shape1 = system().shapes[at(p.shape1)].name;
    out.shape2 = system().shapes[at(p.shape2)].name;
  }
  return out;
}

// With a step of one second, velocities of the push are the ways it moves.
StartOverlap CrowdStepper::clear_start(State& s) {
  now_ = trial_ = s;
  free_.a.setZero();
  ending_.allowed = 0;
  blocks_.count = 0;
  projector_.start(s);
  const auto look = [&] {
    engine_.prepare_response(contact_.engine_state(trial_));
    search_.find(engine_.links().motion, 0, pool_);
  };
  look();
  StartOverlap out = start_overlap();
  judge_overlap(engine_.system().model, out);
  if (out.places == 0) return out;
  const std::vector<Vec3> before = mass_centres(engine_);
  gather(0);
  std::fill(look_.moved.begin(), look_.moved.end(), std::numeric_limits<double>::infinity());
  for (int pass = 0; pass < kStartPasses && too_deep(false); ++pass) {
    find_push(1, kStartAnswers, false);
    scratch_.u1.setZero();
    add_push(scratch_.u1);
    dynamics_.plus(trial_.q, scratch_.u1, trial_.q);
    if (n_.nh > 0) projector_.positions(trial_);
    engine_.prepare_response(contact_.engine_state(trial_));
  }
  if (n_.nc() > 0) projector_.velocities(trial_);
  look();
  out.left = start_overlap().depth;
  out.moved = largest_shift(engine_, before);
  s.q = trial_.q;
  s.v = trial_.v;
  return out;
}

// Positions of the step.
bool CrowdStepper::move(double h) {
  if (!energy_.known) energy_.now = dynamics_.stored_energy(now_);
  energy_.known = true;
  const auto go = [&](const Vec& v) {
    scratch_.u1 = h * v;
    if (!increment_rate(scratch_.u1, v, dense_.v_end)) return false;
    dynamics_.plus(now_.q, scratch_.u1, trial_.q);
    energy_.trial = dynamics_.stored_energy(trial_);  // the links are at the end now
    return true;
  };
  ending_.unpaid = false;
  look_.missed.clear();
  if (!go(trial_.v)) return false;
  const int np = engine_.sizes().np;
  double paid = energy_.now - energy_.trial + W_trial_.head(np).sum() - W_.head(np).sum();
  // What compliant contacts have lost pays for nothing.
  if (contact_.compliant().any()) paid += (trial_.t - now_.t) * scratch_.p.tail(scratch_.p.size() - np).sum();
  paid = std::max(0.0, paid);
  if (ending_.landed_entry >= 0) {
    const double flown = energy_.trial;
    if (!go(ending_.v_land)) return false;
    if (energy_.trial - flown > paid) {
      ending_.v_land = trial_.v + paid / (energy_.trial - flown) * (ending_.v_land - trial_.v);
      if (!go(ending_.v_land)) return false;
    }
    paid = std::max(0.0, paid - (energy_.trial - flown));
    W_trial_[contact_.impact_channel(ending_.landed_entry)] += energy_.trial - flown;
  }
  ending_.v_move = ending_.v_land;
  const double without = energy_.trial;
  bool pushed = false;
  double answers = std::max(kAnswers, ending_.answers);
  const int exact_passes = crowd_.iterations > 0 ? 0 : kExactPasses;
  for (int pass = 0, exact = 0; exact <= exact_passes; ++pass) {
    measure_ways(h, ending_.v_move);
    if (!too_deep(pass == 0)) break;
    if (pass == 0) keep_missed();
    const bool exactly = pass >= kPasses || !(answers > 0);
    if (exactly && ++exact > exact_passes) break;
    effort_.exact_pushes += exactly ? 1 : 0;
    answers -= find_push(h, answers, exactly);
    add_push(ending_.v_move);
    if (!go(ending_.v_move)) return false;
    pushed = true;
  }
  if (!pushed) return true;
  ++effort_.pushes;
  const double lift = energy_.trial - without;
  ending_.unpaid = lift > paid;
  if (ending_.unpaid) {
    ending_.v_move = ending_.v_land + paid / lift * (ending_.v_move - ending_.v_land);
    if (!go(ending_.v_move)) return false;
  }
  // What the push lifted is no work of impulses.
  W_trial_[contact_.impact_channel(ending_.push_entry)] += energy_.trial - without;
  return true;
}

}  // namespace clatter::contact
