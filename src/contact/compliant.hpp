// CompliantForces: contacts whose force is a function of penetration and its rate (P-9 to P-11, E-23, E-24).
//
// The laws themselves are one file each in laws/, asked through compliant_law.hpp. Here they are fed with the slots'
// kinematics, and what they remember between their events is kept: whether a contact is closed, its speed of approach,
// and how far the place of a relaxing surface is from the inner state that carries it. An event that has been landed on is the only writer of this memory,
// apart from `settle` at the start of a run; trial steps therefore leave no trace, and a step that overshoots an event
// meets a smooth force.
//
// Each slot has two event functions, both positive while nothing happens: it begins (contact opens -> closes; by the
// gap) and it ends (by the force; of the law `damped`, which may pull, by the gap). The one that cannot happen now is
// constant. They are shifted by kShift of the length scale against each other, so that a contact that has just changed
// stands on the positive side of both, whatever rounding did.
//
// Places where beams touch beams wander from slot to slot, and their laws go by the gap: a step that begins or ends in
// contact meets the force. A step between two ends at which they are apart may pass them through each other: for such
// steps (watch_beams()) a pair of them has one event, told by its first slot: it begins, by the least of its gaps.
//
// Inner states: one for each relaxing slot, z. The surface is at s = z + offset. While closed dz/dt is the gap's rate,
// while open dz/dt = -(c/d) s. The offset is set when a contact opens, so that the surface starts exactly from the gap
// and not from its integral.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "contact/beam_couplings.hpp"
#include "contact/contacts.hpp"
#include "integrate/archive.hpp"
#include "laws/law.hpp"

namespace clatter::contact {

class CompliantForces {
 public:
  explicit CompliantForces(Contacts& contacts);

  bool any() const { return !slots_.empty(); }
  int inner_states() const { return inner_; }
  int event_count() const { return 2 * static_cast<int>(slots_.size()); }

  // Forces at the engine's present links: wrenches appended. `z`: this part's inner states. The calls below without a
  // state speak of what was last applied.
  void apply(double t, const double* z, std::vector<Engine::LinkWrench>& wrenches);
  // What beams that touch each other add as generalized forces; null: there are none.
  const Vec* generalized() const { return beams_.empty() ? nullptr : &generalized_; }
  void inner_rates(const double* z, double* zdot) const;
  double stored_energy() const;
  // p[group] += power lost (negative) in contacts of that group.
  void powers(std::span<double> p) const;
  void events(double* g) const;
  std::pair<int, int> event_info(int index) const;  // slot, 0 begins or 1 ends
  // The motion has landed on these events: what the laws remember of them (speed of approach) is taken from the
  // engine's present links. Call after apply() at the event's state; accelerations known before are stale then, because
  // a force may jump.
  void on_events(std::span<const int> indices);
  // Start of a run, after apply() at its first state: contacts that penetrate, or touch and approach, are closed.
  // Without this call they are so by their gap alone until their first event, and laws that remember it take the model's
  // velocity scale for the approach speed nobody saw.
  void settle();
  // Least gaps of the pairs of beams at what was last applied, looked for as far as `reach` times their thickness.
  // Appended.
  void beam_rooms(double reach, std::vector<double>& rooms);
  // Whether a pair of beams, in that order, has its event.
  void watch_beams(std::size_t pair, bool watched) { beams_[pair].watched = watched; }
  // Least gap of slots that are not closed, as last applied; of beams as far as their law looks.
  double nearest_open() const;
  void exchange(Archive& archive);
  Vec3 force(int slot) const;      // (r_N, r_1, r_2) as last applied; zero for rigid slots
  Vec3 moment(int slot) const;     // (M_n, M_1, M_2) likewise
  double surface(int slot) const;  // place of a relaxing surface as last applied, 0 for other laws
  bool closed(int slot) const;
  // Slots whose kinematics were evaluated when last applied and that have a point of contact; of beams on beams none.
  template <class Visit>
  void for_each_near(Visit&& visit) const {
    for (const Slot& s : slots_)
      if (s.near && !contacts_.system().pairs[static_cast<std::size_t>(s.pair)].beams) visit(s.slot);
  }
  // d(M a - h - W r) and d(zdot) of what was last applied; after Engine::tangents() at the same state. The inner states
  // stand after the engine's.
  void add_tangents(Tangents& out);
  void add_pattern(PatternBuilder& pattern) const;  // without beams, which couplings() tells
  // What was last applied between beams ties elements together that have not met: their patterns have to grow.
  bool grow(std::vector<std::unique_ptr<BeamCouplings>>& couplings);

 private:
  struct Slot {
    int slot = 0, pair = 0, link1 = -1, link2 = -1, tangents = 1, group = 0;
    bool moments = false;
    const CompliantContact* law = nullptr;
    int z = -1;  // inner state of a relaxing surface
    // memory
    laws::Phase phase;
    double approach = 0;  // speed at first touch; 0: not seen
    double offset = 0;
    // last applied
    bool near = false;
    double gap = 0, rate[6] = {0, 0, 0, 0, 0, 0}, state = 0, surface = 0;
    Vec3 force = Vec3::Zero(), moment = Vec3::Zero();
    double stored = 0, loss = 0;
    double measure = 1;  // of beams: force and energy are this part of the law's
  };

  struct Beams {
    int pair = 0;
    std::vector<int> near;  // its slots that were near when last applied
    bool watched = false;   // its event function is more than a constant
    double gap = 0;         // least of those near
  };
  void apply_beams(Beams& beams);
  void beam_tangents(const Beams& beams, Tangents& out);

  bool far(const PairInstance& pair, const CompliantContact& law, double& apart) const;
  enum class Where { far, near, found };  // found: the place of contact is known already
  void evaluate(Slot& s, Where where);
  void measure(Slot& s);
  void set_hysteresis(Slot& s) const;
  const Slot* find(int slot) const;
  const std::vector<int>& path(int link) const;

  Contacts& contacts_;
  std::vector<Slot> slots_;
  std::vector<int> index_;  // slot -> into slots_, -1 rigid
  std::vector<Beams> beams_;
  std::vector<int> found_;
  std::vector<CompliantContact> beam_laws_;  // of their slots: by the area of each
  Vec generalized_;
  std::vector<int> elements_;
  BeamTangent beam_;
  int inner_ = 0;
  double shift_ = 0;
  // work of add_tangents
  SlotTangent tangent_;
  TreeTangent::PointColumns points_[2];
  std::vector<int> columns_;
  Mat rows_;  // per column: g of n, t1, t2 and of the spins, then d(rate)/dq of the same
};

}  // namespace clatter::contact
