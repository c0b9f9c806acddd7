#include "contact/crowd_log.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "contact/crowd_pairs.hpp"
#include "impulse/impact.hpp"

namespace clatter::contact {

namespace {

// Impulses below this part of the model's impulse scale are not told as impacts; gaps below this part of its length are
// none. As of pairs.
constexpr double kLoggedImpulse = 1e-6, kTouches = 1e-9;

}  // namespace

std::uint64_t CrowdLog::key(int entry, int shape1, int shape2) const {
  const auto low = static_cast<std::uint64_t>(std::min(shape1, shape2) + 1),
             high = static_cast<std::uint64_t>(std::max(shape1, shape2) + 1);
  return (static_cast<std::uint64_t>(entry) * (shapes_ + 1) + low) * (shapes_ + 1) + high;
}

CrowdLog::CrowdLog(const ContactSystem& contacts, const CrowdModel& crowd)
    : length_(contacts.length_scale),
      impulse_(contacts.force_scale * contacts.length_scale / contacts.velocity_scale),
      shapes_(contacts.shapes.size()),
      groups_(static_cast<int>(contacts.groups.size())),
      followed_(contacts.groups.size() + static_cast<std::size_t>(contacts.slots() + contacts.joint_frictions), 0) {
  const auto add = [&](int entry, int a, int b, std::string name) {
    Pair pair;
    pair.key = key(entry, a, b);
    pair.name = std::move(name);
    pairs_.push_back(std::move(pair));
    followed_[static_cast<std::size_t>(entry)] = 1;
  };
  for (std::size_t e = 0; e < crowd.contacts.size(); ++e) {
    const CrowdContact& entry = crowd.contacts[e];
    if (pairs_written(entry) > kMostPairs) continue;
    visit_pairs(contacts, entry, [&](int a, int b, const std::string& name) { add(static_cast<int>(e), a, b, name); });
  }
  for (std::size_t k = 0; k < crowd.ropes.size(); ++k)
    add(static_cast<int>(crowd.contacts.size() + k), -1, -1, crowd.ropes[k].name);
  for (int slot = 0; slot < contacts.slots(); ++slot)
    if (contacts.pair(slot).rigid) add(entry_of_slot(slot), -1, -1, contacts.slot_name(slot));
  for (int i = 0; i < contacts.joint_frictions; ++i) {
    add(entry_of_slot(contacts.slots() + i), -1, -1, contacts.frictions[static_cast<std::size_t>(i)].name);
    pairs_.back().friction = true;
  }
  std::stable_sort(pairs_.begin(), pairs_.end(), [](const Pair& a, const Pair& b) { return a.key < b.key; });
  // Two groups of one entry may name a pair twice.
  pairs_.erase(std::unique(pairs_.begin(), pairs_.end(), [](const Pair& a, const Pair& b) { return a.key == b.key; }),
               pairs_.end());
  changes_.reserve(pairs_.size());
}

int CrowdLog::pair_of(int entry, int shape1, int shape2) const {
  const std::uint64_t wanted = key(entry, shape1, shape2);
  const auto found = std::lower_bound(pairs_.begin(), pairs_.end(), wanted,
                                      [](const Pair& pair, std::uint64_t k) { return pair.key < k; });
  return found == pairs_.end() || found->key != wanted ? -1 : static_cast<int>(found - pairs_.begin());
}

void CrowdLog::take_gain(int entry, int shape1, int shape2, RigidContact::Impact rule, double gain, double part) {
  const int pair = pair_of(entry, shape1, shape2);
  if (pair >= 0) gains_.push_back({pair, rule, gain, part});
}

void CrowdLog::begin_step() {
  changes_.clear();
  gains_.clear();
  for (Pair& pair : pairs_) {
    pair.carries = pair.near = pair.slides = pair.impact = false;
    pair.impulse = pair.before = pair.after = 0;
  }
}

void CrowdLog::take(const Point& point) {
  const int index = pair_of(point.entry, point.shape1, point.shape2);
  if (index < 0) return;
  Pair* found = &pairs_[static_cast<std::size_t>(index)];
  found->near = found->near || point.gap <= kTouches * length_;
  if (!(point.impulse > 0)) return;
  found->carries = true;
  found->slides = found->slides || point.slides;
  if (!point.impact) return;
  // The rates are those of the point that collides fastest.
  if (!found->impact || point.before < found->before) {
    found->before = point.before;
    found->after = point.after;
  }
  found->impact = true;
  found->impulse += point.impulse;
}

void CrowdLog::end_step() {
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    Pair& pair = pairs_[i];
    const auto tell = [&](What what) { changes_.push_back({what, static_cast<int>(i), 0, 0, 0}); };
    if (pair.impact) {
      if (pair.impulse > kLoggedImpulse * impulse_)
        changes_.push_back({What::impact, static_cast<int>(i), pair.impulse, pair.before, pair.after});
      continue;
    }
    if (pair.friction) {
      const Mode was = pair.mode == Mode::open ? Mode::slide : pair.mode;
      pair.mode = pair.carries && !pair.slides ? Mode::stick : Mode::slide;
      if (was != pair.mode) tell(pair.mode == Mode::stick ? What::sticks : What::slides);
      continue;
    }
    if (!pair.carries) {
      if (pair.mode == Mode::open || pair.near) continue;
      pair.mode = Mode::open;
      tell(What::opens);
      continue;
    }
    const Mode was = pair.mode;
    pair.mode = pair.slides ? Mode::slide : Mode::stick;
    if (was == Mode::open)
      tell(What::closes);
    else if (was != pair.mode)
      tell(pair.mode == Mode::stick ? What::sticks : What::slides);
  }
}

void CrowdLog::describe(std::vector<StepEvent>& out) const {
  static constexpr const char* kWords[] = {"impact", "closes", "opens", "sticks", "slides"};
  for (const Change& c : changes_)
    out.push_back({pairs_[static_cast<std::size_t>(c.pair)].name, kWords[static_cast<int>(c.what)],
                   c.what != What::impact
                       ? std::string()
                       : fmt::format("gap rate {:.6g} -> {:.6g} m/s, impulse {:.6g} N s, mean over the step", c.before,
                                     c.after, c.impulse)});
  for (const Gain& g : gains_)
    out.push_back({pairs_[static_cast<std::size_t>(g.pair)].name, g.gain > 0 ? "energy gain" : "law of impact",
                   g.gain > 0
                       ? describe_gain(g.rule, g.gain, g.part)
                       : std::string("impulses by the law it names were not found, Moreau's law took its place")});
}

void CrowdLog::forget() {
  changes_.clear();
  gains_.clear();
  for (Pair& pair : pairs_) pair.mode = Mode::open;
}

void CrowdLog::exchange(Archive& archive) {
  for (Pair& pair : pairs_) {
    int mode = static_cast<int>(pair.mode);
    archive.count(mode);
    pair.mode = static_cast<Mode>(mode);
  }
}

}  // namespace clatter::contact
