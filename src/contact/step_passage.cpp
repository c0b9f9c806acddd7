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
  partners_.clear();
  for (const ContactSample& sample : samples_trial_) {
    ActiveContact& c = partners_.emplace_back();
    c.slot = sample.slot;
  }
  return !partners_.empty();
}

void ContactStepper::clear_carrying() {
  for (const std::size_t pair : marked_pairs_) pair_carries_[pair] = 0;
  marked_pairs_.clear();
}

void ContactStepper::note_carrying(int slot) {
  if (carries(slot)) return;
  pair_carries_[pair_at(slot)] = 1;
  marked_pairs_.push_back(pair_at(slot));
}

bool ContactStepper::between_ends(double t1, bool may_shorten) {
  step_passages_ = {};
  depth_on_way_ = 0;
  touching_.clear();
  for (const int slot : closed_list_) touching_.push_back(touches(slot));
  const double h = t1 - now_.t, L = system().length_scale;
  const bool partners = find_partners();
  const bool compliant =
      contact_.compliant().any() && contact_.compliant().nearest_open() <= 2 * h * (fastest_ + change_);
  const bool open = compliant || !open_near_.empty();
  if (h * fastest_ <= kRest * L || !(partners || open)) return true;
  if (partners) {
    dense(0.5, on_way_);
    detect(on_way_, 0);
    depth_on_way_ = deepest_penetration(contacts_);
    depth_time_ = on_way_.t;
  }
  if (!open) {
    detect(trial_, 0);
    return true;
  }
  PassageWatch& watch = contact_.watch_passages();
  watch.begin_phase(partners_, 0, 0, 0);
  if (!compliant) contact_.watch_only(open_near_);
  survey(t1);
  if (watch.depth() > depth_on_way_) {
    depth_on_way_ = watch.depth();
    depth_time_ = watch.depth_time();
  }
  detect(trial_, 0);
  const PassageWatch::Deepest passed = watch.deepest_open(now_.t, t1);
  if (passed.slot < 0 || passed.depth <= kMissed * L) return true;
  if (4 * passed.depth <= kImpact * h * std::max(change_, watch.velocity_change(passed.slot))) return true;
  // What overlaps at the end as well has been met, not passed.
  const PairInstance& pair = system().pair(passed.slot);
  for (const int slot : contacts_.near())
    if (slot >= pair.slot0 && slot < pair.slot0 + pair.slots && contacts_[slot].gap < -kMissed * L) return true;
  if (may_shorten) return false;
  step_passages_ = {1, passed.depth, passed.t, passed.slot};
  return true;
}

}  // namespace clatter::contact
