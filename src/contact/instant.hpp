// Instant: what contacts do at one moment (P-20, P-31, P-35 to P-48; steps 1 to 3 of P-49).
//
//   1  closed slots: gap = 0
//   2  one of them approaches: impact with all closed slots; v jumps; again
//   3  lasting contacts (gap' = 0 too): complementarity on accelerations decides who stays closed, who sticks,
//      who slides and where to; nobody is set to stick or to slide by assumption
//   4  closed slots that leave, but come back from less high than what is resolved: impacts accumulate (P-49 step 7)
//
// At a moment where the answer is on the edge (a normal force or a friction reserve just vanishes, P-49 trap 14) the
// same question is asked a little later along the motion. Where accelerations have no answer (Painleve) the impulsive
// one is taken (P-48); where that fails too a named diagnosis is thrown. Where they have more than one (uniqueness.hpp)
// the choice is noted, once for as long as it lasts.
//
// Accumulation. A contact that leaves at the rate v and is called back at the acceleration -a flies v^2 / (2 a) high,
// for 2 v / a, and its flights are a geometric series of ratio e:
//
//   gap + v^2 / (2 a) <= height L + kNoise eps |p| / (1 - e^2)   not resolved as a flight
//   end = t + 2 v / (a (1 - e))                                  of all impacts that are left
//
// The second term: what a flight loses, (1 - e^2) of its height, must be more than the rounding of positions p adds to
// it, or the series would never end. From there on the contact is held by its force, which is the mean of the impacts
// that are left; it is told as lasting from `end` on (lasts()). Nothing of this depends on the tolerances of the
// integration. With e = 1 nothing accumulates; flights shorter than `flight` are not resolved either.
#pragma once

#include <string>
#include <vector>

#include "contact/contact_dynamics.hpp"
#include "impulse/impact.hpp"
#include "impulse/uniqueness.hpp"
#include "integrate/archive.hpp"
#include "integrate/projection.hpp"
#include "solve/contact_solver.hpp"

namespace clatter::contact {

// One line of the event log.
struct ContactChange {
  int slot = -1;
  // "impact", "impact without collision", "closes", "opens", "sticks", "slides", "slides back", "accumulates", "not
  // unique", "energy gain"
  std::string what;
  std::string detail;  // speeds, impulses, cause
  int friction = -1;   // a friction row's change
};

// One impact as it was solved.
struct ImpactRecord {
  std::vector<int> slots;  // of the contacts of the problem
  Vec v;                   // velocities before it
  ImpactProblem problem;
  std::vector<ImpactStage> stages;
};

struct InstantResult {
  std::vector<ActiveContact> active;
  std::vector<ActiveFriction> frictions;
  std::vector<ContactChange> changes;
  Vec work;  // energy booked to each power channel by impacts
  int impacts = 0;
  double residual = 0;   // worst complementarity residual of the problems solved, scaled
  double violation = 0;  // worst cone violation, scaled
  // Slots that took part in the last impact with the impulses of all rows (normal, tangents).
  std::vector<int> impact_slots;
  std::vector<Vec3> impulses;
  std::vector<ImpactRecord> records;  // all impacts of the instant in order, for sensitivities
};

struct InstantSettings {
  double gap = 1e-9, velocity = 1e-9;  // closed, at rest: parts of the length and velocity scales
  double height = 1e-12;               // lowest flight with e < 1, part of the length scale
  double flight = 1e-9;                // shortest flight with e = 1, part of the time scale
};

class Instant {
 public:
  explicit Instant(ContactDynamics& dynamics, InstantSettings settings = {});

  // Decides the contact state at s, changing v by impacts and q, v by projection onto what is closed. `before`: the
  // contacts active until now. `stopped`, `touched`: slots named by events, whatever rounding says of their slip and
  // gap. The dynamics is left with the new active set.
  // Friction rows likewise: those active until now, and those that events say have stopped.
  struct Frictions {
    std::vector<ActiveFriction> before;
    std::vector<int> stopped;
  };
  void settle(State& s, const std::vector<ActiveContact>& before, const std::vector<int>& touched,
              const std::vector<int>& stopped, bool on_edge, InstantResult& out, const Frictions& frictions);
  void settle(State& s, const std::vector<ActiveContact>& before, const std::vector<int>& touched,
              const std::vector<int>& stopped, bool on_edge, InstantResult& out) {
    settle(s, before, touched, stopped, on_edge, out, Frictions());
  }

  // A contact that is held, and of which the impacts that are not resolved end at `end`.
  struct Series {
    int slot;
    double end;
  };
  const std::vector<Series>& series() const { return series_; }
  void set_series(std::vector<Series> series) { series_ = std::move(series); }
  // Whether the force of an active contact is more than the mean of impacts at time t.
  bool lasts(int slot, double t) const;

  // Forgets which ambiguities were noted: a new run notes them again; and series.
  void forget() {
    noted_.clear();
    series_.clear();
  }
  // What it remembers between instants: a continued run notes an ambiguity that lasts no second time.
  void exchange(Archive& archive, int slots);

  InstantSettings settings;

 private:
  struct Lasting {
    int slot, row;     // row of the normal in the problem; tangents follow where it may stick
    int tangents = 0;  // rows for sticking, 0: slides or has no friction
    double direction[2] = {1, 0};
    bool frictional = false;
  };

  // A friction row of a joint, or of a lasting contact (friction_instant.cpp).
  struct LastingFriction {
    int index, row = 0;  // first of its rows in the problem
    int rows = 0;        // for sticking; 0: slides
    double direction[2] = {1, 0};
    int column = -1;   // sliding joint: its column of joints_.W
    double limit = 0;  // of a joint
  };
  int collect_frictions(int rows);  // after the contacts' rows; returns the number of all
  void friction_rows();             // columns, force directions, cones of a slot's moments
  bool solve_with_frictions(const State& at);
  bool decide_frictions(InstantResult& out, double tolerance) const;
  void describe_frictions(const Frictions& frictions, InstantResult& out) const;
  [[noreturn]] void joint_jams(const State& s) const;

  void find_closed(const State& s, const std::vector<int>& touched);
  bool flies(int slot) const;  // is among flights_
  // Adds to flights_ those that leave and do not get far with the accelerations last found; whether there were any.
  bool find_flights(const State& s);
  void take_series(double t, const InstantResult& out);
  void hold(State& s, InstantResult& out);  // what is active from now on, q and v projected onto it
  bool impact(State& s, InstantResult& out, bool without_collision);
  // Complementarity on accelerations at state `at`; leaves rows_.r, rows_.y, a_.
  bool accelerations(const State& at);
  // True when some decision is on the edge.
  bool decide(const std::vector<ActiveContact>& before, InstantResult& out, bool again);
  void remove_rest_of_slip(State& s, const InstantResult& out);
  void note_ambiguity(InstantResult& out);
  void describe_changes(double t, const std::vector<ActiveContact>& before, InstantResult& out) const;
  [[noreturn]] void no_solution(const State& s, ContactStatus status);

  ContactDynamics& dynamics_;
  Contacts& contacts_;
  Engine& engine_;
  ContactSolver solver_;
  struct Collision {
    ImpactSolver solver;
    ImpactProblem problem;
    ImpactResult result;
  };
  Collision collision_;
  ContactProblem problem_;
  std::vector<int> closed_;
  std::vector<Lasting> lasting_;
  std::vector<LastingFriction> frictions_;
  std::vector<char> friction_stopped_;
  struct SlidingJoints {
    Mat W, X, Mu;
    Vec limit, lambda_now, b_free, next_limit, last_step;
    bool jam = false;
  };
  SlidingJoints joints_;
  struct Flight {
    int slot;
    double rate;  // at which it leaves
    double end;   // of all that follow it
  };
  std::vector<Flight> flights_;  // not resolved: lasting although they still separate
  std::vector<Series> series_;   // of contacts held now; those with one before
  std::vector<Series> earlier_;
  std::vector<char> stopped_;
  std::vector<ActiveContact> held_;
  Ambiguity ambiguity_;     // of the accelerations last found
  std::vector<int> noted_;  // slots of the one noted last, while it lasts
  struct RowProblem {       // of lasting contacts and friction rows
    Mat W, D, X, Mu, Q;
    Vec r, y, column;
  };
  RowProblem rows_;
  Vec a_, lambda_e_, zdot_, powers0_, powers1_, slip_;
};

}  // namespace clatter::contact
