// Between the ends of a step of time stepping: how deep contacts get on the way, and what passes through what.
//
// A pair that took no part in the step has no impulse in it. Where it overlaps by delta on the way, it approached by
// about 4 delta / h (a parabola over the step): if that is what would count as an impact there, a contact was missed.
// Less is what forces may do in one step anyway, or what impulses on the two bodies changed within it, of which the
// scheme does not say when: the next step sees what they sent against each other.
#include <algorithm>
#include <cmath>

#include "contact/contact_stepper.hpp"
#include "contact/penetration.hpp"

namespace clatter::contact {

namespace {

// As in the schemes: an impact approaches faster than this many times what forces change in a step.
constexpr double kImpact = 2;
// Depths below this part of the length scale are left to the next step.
constexpr double kMissed = 1e-7;
// Motion below this part of the length scale within a step shows nothing between its ends that they do not.
constexpr double kRest = 1e-9;

}  // namespace

bool ContactStepper::find_partners() {
  way_.partners.clear();
  for (const ContactSample& sample : samples_trial_) {
    ActiveContact& c = way_.partners.emplace_back();
    c.slot = sample.slot;
  }
  return !way_.partners.empty();
}

void ContactStepper::clear_carrying() {
  for (const std::size_t pair : way_.marked_pairs) way_.pair_carries[pair] = 0;
  way_.marked_pairs.clear();
}

void ContactStepper::note_carrying(int slot) {
  if (carries(slot)) return;
  way_.pair_carries[pair_at(slot)] = 1;
  way_.marked_pairs.push_back(pair_at(slot));
}

bool ContactStepper::between_ends(double t1, bool may_shorten) {
  way_.step_passages = {};
  way_.depth = 0;
  log_.touching.clear();
  for (const int slot : log_.closed) log_.touching.push_back(touches(slot));
  const double h = t1 - now_.t, L = system().length_scale;
  const bool partners = find_partners();
  const bool compliant =
      contact_.compliant().any() && contact_.compliant().nearest_open() <= 2 * h * (way_.fastest + way_.change);
  const bool open = compliant || !way_.open_near.empty();
  if (h * way_.fastest <= kRest * L || !(partners || open)) return true;
  if (partners) {
    dense(0.5, way_.middle);
    detect(way_.middle, 0);
    way_.depth = deepest_penetration(contacts_);
    way_.depth_time = way_.middle.t;
  }
  if (!open) {
    detect(trial_, 0);
    return true;
  }
  PassageWatch& watch = contact_.watch_passages();
  watch.begin_phase(way_.partners, 0, 0, 0);
  if (!compliant) contact_.watch_only(way_.open_near);
  survey(t1);
  if (watch.depth() > way_.depth) {
    way_.depth = watch.depth();
    way_.depth_time = watch.depth_time();
  }
  detect(trial_, 0);
  const PassageWatch::Deepest passed = watch.deepest_open(now_.t, t1);
  if (passed.slot < 0 || passed.depth <= kMissed * L) return true;
  if (4 * passed.depth <= kImpact * h * std::max(way_.change, watch.velocity_change(passed.slot))) return true;
  // What overlaps at the end as well has been met, not passed.
  const PairInstance& pair = system().pair(passed.slot);
  for (const int slot : contacts_.near())
    if (slot >= pair.slot0 && slot < pair.slot0 + pair.slots && contacts_[slot].gap < -kMissed * L) return true;
  if (may_shorten) return false;
  way_.step_passages = {1, passed.depth, passed.t, passed.slot};
  return true;
}

}  // namespace clatter::contact
