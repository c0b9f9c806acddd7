// CrowdLog: what happens to single pairs of shapes of a crowd, and to ropes, step by step: the event log.
//
// A crowd of thousands has no list of pairs, and nobody reads a million events: entries with at most 40 pairs, and
// ropes, are followed. A pair is what its points of contact do together:
//
//   impact   one of them collides in the step; what follows shows in the next
//   closes   one carries, none did          opens    none carries or stays at its place
//   slides   one has its whole friction     sticks   none has any more
//   energy gain   the law of its impact would have brought energy in
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "contact/contact_system.hpp"
#include "contact/friction_rows.hpp"
#include "integrate/archive.hpp"
#include "integrate/step_event.hpp"
#include "model/crowd.hpp"

namespace clatter::contact {

class CrowdLog {
 public:
  CrowdLog(const ContactSystem& contacts, const CrowdModel& crowd);

  bool follows(int entry) const { return followed_[static_cast<std::size_t>(entry)] != 0; }
  bool any() const { return !pairs_.empty(); }
  // Slots of rigid contacts, and behind them the friction rows of joints, have entries of their own.
  int entry_of_slot(int number) const { return groups_ + number; }

  // One point of contact of a followed entry in a step; shapes of a rope are -1.
  struct Point {
    int entry, shape1, shape2;
    double impulse;        // normal
    double before, after;  // gap rates
    double gap;            // at the end of the step, by them
    bool impact, slides;
  };
  void begin_step();
  void take(const Point& point);
  void end_step();
  // After it: an impact whose law would have brought energy in, and the part of its bounce that was taken.
  void take_gain(int entry, int shape1, int shape2, RigidContact::Impact rule, double gain, double part);
  bool changed() const { return !changes_.empty() || !gains_.empty(); }
  void describe(std::vector<StepEvent>& out) const;
  void forget();
  void exchange(Archive& archive);

 private:
  enum class What { impact, closes, opens, sticks, slides };
  struct Pair {
    std::uint64_t key;  // entry and shapes, whichever comes first
    std::string name;
    Mode mode = Mode::open;
    bool friction = false;  // in a joint: slides or sticks
    // of the step
    bool carries = false, near = false, slides = false, impact = false;
    double impulse = 0, before = 0, after = 0;
  };
  struct Change {
    What what;
    int pair;
    double impulse = 0, before = 0, after = 0;
  };
  struct Gain {
    int pair;
    RigidContact::Impact rule;
    double gain, part;
  };
  std::uint64_t key(int entry, int shape1, int shape2) const;
  int pair_of(int entry, int shape1, int shape2) const;  // -1: not followed

  double length_, impulse_;  // scales
  std::uint64_t shapes_;
  int groups_;
  std::vector<char> followed_;  // by entry
  std::vector<Pair> pairs_;     // by key
  std::vector<Change> changes_;
  std::vector<Gain> gains_;
};

}  // namespace clatter::contact
