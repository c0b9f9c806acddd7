// PassageWatch: whether two shapes can have met, or passed through each other, between two looks at them.
//
// In the axes of one shape, B, of a pair the other one, A, moves. Let c be its origin, R its axes, w its angular
// velocity and n a unit vector fixed to B. With the support functions h of the two shapes (support.hpp) they are apart
// along n by
//
//   s(t) = n . c - h_A(-R^T n) - h_B(n),        distance >= s for every n
//
// and h_A, being convex, lies below its chord. So a time tau (to either side) after a look, not later than delta,
//
//   s(tau) >= s + tau [n . c' - (h_A(-R^T(n + delta n x w)) - h_A(-R^T n)) / delta] - tau^2/2 [k + (|w'| + w^2) r_A]
//
// where -k is the least of n . c'' and r_A the size of A. The pair is free as long as that is positive: for a time T
// after look a and a time T' before look b. It cannot have met between them where T + T' reaches from one to the other;
// otherwise there is need for a look between a + T and b - T'. In a hole (circle, sphere) of radius rho
//
//   s(t) = rho - max over the points y of A of |c + R y|
//
// takes that place, a maximum of convex functions that lies below its chord as well.
//
// c'' and w' are bounded by the coefficients of Bernstein of the cubic that has the means of the four parts of a
// stretch: exact for dense output whose velocities are of fourth degree, which is why stretches in which something
// turns by more than two radians are looked at in parts.
//
// Pairs that are closed already, contours that are not convex, formulas and rigid beams on beams are judged by their
// slots: a gap that falls at one look and rises at the other may have vanished between where its two tangents meet
// below zero. Compliant beams on beams, whose slots wander, are watched along stretches at whose ends they are apart,
// by the least of their gaps and the fastest of their nodes: they cannot have met between two looks where
//
//   gap_a + gap_b > 2 |v| (t_b - t_a)
//
// A tap that is over within a step is left to the law; where they are deep in each other (kDeep of their thickness) on
// the way from apart to apart they pass, and the begin of their contact is an event.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "contact/contacts.hpp"
#include "integrate/event_watch.hpp"

namespace clatter::contact {

struct ActiveContact;
class CompliantForces;

class PassageWatch final : public EventWatch {
 public:
  explicit PassageWatch(const Contacts& contacts);

  // A phase begins with these slots closed; others of rigid pairs have the event functions from `first_gap` on, and
  // compliant slots two each from `first_compliant` on.
  void begin_phase(const std::vector<ActiveContact>& active, int first_gap, int gaps, int first_compliant);
  // Of the pairs that are not closed these alone are watched, until the next phase.
  void watch_only(std::span<const std::size_t> pairs);
  bool leaves_out(int slot) const;
  // The next three at each evaluation of the event functions: all shapes at the engine's present links, then the slots
  // that were evaluated there, ascending within each of the calls.
  void see_shapes();
  void see_slot(int slot);
  void see_compliant(CompliantForces& compliant);

  void begin() override;
  void keep(int look, double t) override;
  int parts(const Stretch& stretch) override;
  void bound(const Stretch& stretch) override;
  bool unsure(int a, int b, double& from, double& to) override;
  bool covers(int index) const override;

  // Deepest penetration of contacts that are not closed (of compliant ones any) at the looks since begin(), and when.
  double depth() const { return depth_; }
  double depth_time() const { return depth_time_; }
  // Deepest of pairs that are not closed, at the looks between the first and the last of what was surveyed since
  // begin().
  struct Deepest {
    double depth = 0, t = 0;
    int slot = -1;
  };
  Deepest deepest_open(double begin, double end) const;
  // How much the velocities of a slot's two shapes differ between the ends of what was surveyed; of beams nothing.
  double velocity_change(int slot) const;

 private:
  struct Place {  // of a shape: axes, origin, their rates
    Mat3 R;
    Vec3 p, v, w;
  };
  struct Seen {
    int slot;
    double gap, rate;
    Vec3 n;
  };
  struct Look {
    double t = 0, depth = 0;
    std::vector<Place> places;
    std::vector<Seen> slots;
    std::vector<double> room;  // of compliant beams on beams, as far as it is looked for
    double speed = 0;          // of their nodes
    double open_depth = 0;
    int open_slot = -1;
  };
  enum class Way : std::uint8_t { separate, face, hole, slots };
  struct Pair {  // constant: what is watched how
    int a = -1, b = -1;
    Way way = Way::slots;
    bool first_moves = true;  // A is the model's first shape
    bool axes = false;        // B turns, and carries the axes
    bool planar = false;
    double bounds = 0;  // of both, for the quick look; infinite: there is none
  };
  struct Near {
    int pair;
    std::array<Vec3, 4> c2;  // Bernstein's coefficients of c''
    double bend;             // (|w'| + w^2) r_A
  };
  struct Relative {
    Vec3 c, dc, w;
    Mat3 R;
  };

  bool apart(const Pair& pair, const Stretch& stretch, double h) const;
  void add_near(int index, const Stretch& stretch);
  Relative relative(const Pair& pair, const Look& look) const;
  const Seen* nearest_seen(int pair, const Look& look) const;
  double along(const Pair& pair, const Relative& m, const Vec3& n) const;
  Vec3 quick_direction(const Near& near, const Relative& m, const Look& look) const;
  Vec3 best_direction(const Pair& pair, const Relative& m, const Vec3& start) const;
  double free_time(const Near& near, const Relative& m, const Vec3& n, double side, double delta) const;
  double free_time_in_hole(const Near& near, const Relative& m, double side, double delta) const;
  bool unsure_pair(const Near& near, const Look& a, const Look& b, double& from, double& to) const;
  void unsure_slots(const Look& a, const Look& b, double& from, double& to) const;
  void unsure_beams(const Look& a, const Look& b, double& from, double& to) const;
  void take_open(int slot, double gap);
  void arm(std::size_t pair, double room);
  static constexpr char kApart = 1, kPassing = 2;  // beams_watched_: apart at both ends; and deep between

  const Contacts& contacts_;
  const ContactSystem& system_;
  std::vector<Pair> pairs_;
  std::vector<char> closed_;     // pairs with a closed slot in this phase
  std::vector<char> is_active_;  // slots
  CompliantForces* compliant_ = nullptr;
  std::vector<char> beams_watched_;  // in this stretch
  bool limited_ = false;             // by watch_only()
  int first_gap_ = 0, gaps_ = 0, first_compliant_ = 0;
  Look now_;
  std::vector<Look> looks_;
  std::vector<Near> near_;
  std::vector<double> speed_;
  std::vector<char> by_slots_;
  bool any_by_slots_ = false;
  double unseen_;  // depth below which nobody looks
  double depth_ = 0, depth_time_ = 0;
  int last_look_ = 0;
  std::vector<Deepest> open_;  // of the looks since begin()
  std::vector<double> deep_;   // of compliant beams on beams: how deep they pass
};

}  // namespace clatter::contact
