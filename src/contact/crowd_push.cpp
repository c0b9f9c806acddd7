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
// Velocities and impulses stay as they are: momentum is theirs. Where the push lifts bodies, the fall of the energy in
// the same step pays for it, and where that is not enough the push is made smaller: what rests is not lifted.
#include <algorithm>
#include <cmath>
#include <limits>

#include "contact/crowd_stepper.hpp"

namespace clatter::contact {

namespace {

// Passes of a push; sweeps of one, which end where they change gaps by less than this part of kSlop.
constexpr int kPasses = 6, kSweeps = 40;
constexpr double kPart = 0.1;
// Part of what a rope is too long by that a step takes back: a taut one grows in every step.
constexpr double kRopePart = 0.3;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

bool CrowdStepper::too_deep(bool ropes) {
  if (anything_deep()) return true;
  if (!ropes) return false;
  for (std::size_t k = 0; k < ropes_.size(); ++k) {
    const RopeState rope = rope_state(ropes_[k], crowd_.ropes[k].length);
    if (rope.gap < -kSlop * crowd_.ropes[k].length) return true;
  }
  return false;
}

// Rows of the push at the engine's present links.
void CrowdStepper::gather_push(double h) {
  if (!groups_.empty()) engine_.prepare_response(contact_.engine_state(trial_));
  push_.balls = problem_.balls;
  push_.bodies.assign(problem_.bodies.begin(), problem_.bodies.end());
  for (CrowdBody& body : push_.bodies)
    for (int k = 0; k < 3; ++k) body.v[k] = body.w[k] = 0;
  push_.inverse_inertia.assign(problem_.inverse_inertia.begin(), problem_.inverse_inertia.end());
  push_.x.assign(problem_.x.size(), 0);
  push_.rows.clear();
  push_.sides.clear();
  push_.W.clear();
  push_.X.clear();
  push_coupled_.clear();
  const auto centre = [&](int link) -> Vec3 {
    return link < 0 ? Vec3::Zero() : Vec3(engine_.links().motion[at(link)].p);
  };
  double smallest = std::numeric_limits<double>::infinity(), most = 0;
  const auto add = [&](int entry, int link1, int link2, const Vec3& p1, const Vec3& p2, const Vec3& n, double gap,
                       double size) {
    CrowdRow row{};
    const Vec3 c1 = p1 - centre(link1), c2 = p2 - centre(link2);
    row.side1 = side_of(push_, link1, c1);
    row.side2 = side_of(push_, link2, c2);
    for (int k = 0; k < 3; ++k) {
      row.n[k] = n[k];
      row.c1[k] = c1[k];
      row.c2[k] = c2[k];
    }
    const double slop = std::max(kSlop * size, allowed_ / 3);
    row.b = (gap > 0 ? gap : std::min(0.0, gap + slop)) / h;
    if (row.b < 0 && at(entry) >= crowd_.contacts.size()) row.b *= kRopePart;
    push_.set_response(row);
    if (!(row.inverse_nn > 0)) return;
    if (row.b < 0) smallest = std::min(smallest, size);
    if (-gap > most) {
      most = -gap;
      push_entry_ = entry;
    }
    (row.side1 < 0 || row.side2 < 0 ? push_coupled_ : push_.rows).push_back(row);
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
  push_.free_rows = static_cast<int>(push_.rows.size());
  push_.rows.insert(push_.rows.end(), push_coupled_.begin(), push_coupled_.end());
  sweeps_.solve(push_, true, kPart * std::max(kSlop * smallest, allowed_ / 3) / h, kSweeps);
}

// v += what the push gives, at the engine's present links.
void CrowdStepper::add_push(Vec& v) const {
  const Tree& tree = engine_.system().tree;
  for (std::size_t k = 0; k < bodies_.size(); ++k) {
    const Link& link = tree.links[at(bodies_[k])];
    const CrowdBody& body = push_.bodies[k + CrowdProblem::grounds];
    double* out = v.data() + link.v;
    out[0] += body.v[0];
    out[1] += body.v[1];
    if (link.mobility == Mobility::planar3) out[2] += body.w[2];
    if (link.mobility == Mobility::particle3) out[2] += body.v[2];
    if (link.mobility != Mobility::free6) continue;
    out[2] += body.v[2];
    const Vec3 w = engine_.links().motion[at(bodies_[k])].R.transpose() * Vec3(body.w[0], body.w[1], body.w[2]);
    for (int i = 0; i < 3; ++i) out[3 + i] += w[i];
  }
  for (const Group& g : groups_) {
    int j = g.first;
    for (const auto& [first, n] : g.ranges)
      for (int i = 0; i < n; ++i) v[first + i] += push_.x[at(j++)];
  }
}

// Positions of the step.
bool CrowdStepper::move(double h) {
  if (!energy_known_) energy_now_ = dynamics_.stored_energy(now_);
  energy_known_ = true;
  const auto go = [&](const Vec& v) {
    u1_ = h * v;
    if (!increment_rate(u1_, v, v_end_)) return false;
    dynamics_.plus(now_.q, u1_, trial_.q);
    energy_trial_ = dynamics_.stored_energy(trial_);  // the links are at the end now
    return true;
  };
  unpaid_ = false;
  missed_.clear();
  if (!go(trial_.v)) return false;
  v_move_ = trial_.v;
  const double without = energy_trial_;
  bool pushed = false;
  for (int pass = 0; pass < kPasses; ++pass) {
    measure_ways(h, v_move_);
    if (!too_deep(pass == 0)) break;
    if (pass == 0) keep_missed();
    gather_push(h);
    add_push(v_move_);
    if (!go(v_move_)) return false;
    pushed = true;
  }
  if (!pushed) return true;
  ++pushes_;
  const int np = engine_.sizes().np;
  const double paid = std::max(0.0, energy_now_ - without + W_trial_.head(np).sum() - W_.head(np).sum());
  const double lift = energy_trial_ - without;
  unpaid_ = lift > paid;
  if (unpaid_) {
    v_move_ = trial_.v + paid / lift * (v_move_ - trial_.v);
    if (!go(v_move_)) return false;
  }
  // What the push lifted is no work of impulses.
  W_trial_[contact_.impact_channel(push_entry_)] += energy_trial_ - without;
  return true;
}

}  // namespace clatter::contact
