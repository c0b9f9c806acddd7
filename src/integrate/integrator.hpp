// Integrator: advances a State through a Dynamics, one accepted step at a time.
//
//   start(s)         consistent state in, memory cleared, ledger zeroed
//   step(t_limit)    one accepted step, not beyond t_limit; cut at the first event in it
//   interpolate(t,s) dense output within the last step: q = q0 (+) u(t)
//   save, restore    everything a run needs to go on with the same digits; refresh() first, on both sides,
//                    drops what is cached but not saved (factorised matrices)
//
// Within a step all schemes work on increments u from the coordinates q0 at its start: q = q0 (+) u, du/dt = dexpinv(u)
// v (Munthe-Kaas), so that orders are full on rotations and quaternions stay unit without normalisation drift.
//
// Ledger: W(t) = integral of Dynamics::powers, by the scheme's own quadrature.
//
// Events are sign changes of Dynamics::events. They are first found on the dense output, then the step is repeated with
// its end moved until the event function vanishes there: a law that changes its form at the event has then not polluted
// the step that leads to it. A function that has just fired stands on its zero: its sign is taken anew just after the
// start. Functions are looked at five times in a step, and more often where an EventWatch is not sure of what lies
// between or where the polynomial through the five values reaches zero.
//
// Singular positions, where constraint rows become dependent for an instant, are foreseen and passed by steps of their
// own (passage.cpp).
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "integrate/archive.hpp"
#include "integrate/dynamics.hpp"
#include "integrate/event_watch.hpp"
#include "integrate/projection.hpp"
#include "integrate/settings.hpp"
#include "integrate/singular_watch.hpp"
#include "integrate/step_event.hpp"

namespace clatter {

struct StepReport {
  double t = 0;      // end of the step
  double h = 0;      // its length
  double error = 0;  // scaled estimate, accepted when at most 1; 0 where the scheme has none
  int rejected = 0;
  int newton_iterations = 0;
  int projections = 0;    // corrections needed to come back onto the constraints
  double drift = 0;       // largest of them in units of the coordinates' scales
  bool at_event = false;  // the step ends at the events listed by Integrator::fired()
  bool changed = false;   // within the step something happened that Integrator::describe_step() tells
  double stiffness = 0;   // h |lambda|, lambda the fastest rate the step has met; 0: the scheme does not tell
  int stiffest = -1;      // velocity that changes most at that rate
  double sine = -1;       // Dynamics::constraint_sine at the end; -1: nobody looked
};

class Integrator {
 public:
  Integrator(Dynamics& dynamics, const IntegratorSettings& settings);
  virtual ~Integrator() = default;
  Integrator(const Integrator&) = delete;
  Integrator& operator=(const Integrator&) = delete;

  // Before start(); outlives the integrator. Where events are not to be found it is still shown every step.
  void set_watch(EventWatch* watch) { events_.watch = watch; }
  void start(const State& s);
  // After start(): what another integrator has seen of the same motion, of equations that may have changed since and
  // velocities that may have jumped.
  void follow(const Integrator& before, bool jumped);
  void exchange_watch(Archive& archive);
  const StepReport& step(double t_limit);

  const State& state() const { return now_; }
  // dv/dt and the multipliers at state(); explicit schemes evaluate them when asked.
  const Vec& acceleration();
  const Vec& lambda();
  const Vec& work() const { return W_; }
  std::span<const int> fired() const { return events_.fired; }

  double step_begin() const { return begin_; }
  // Both only for step_begin() <= t <= state().t.
  void interpolate(double t, State& out);
  void interpolate_work(double t, Vec& W);
  // Where t is so close to a singular position passed in this step that the constraints do not determine derivatives:
  // the dense output and its derivative as they are, and multipliers between those of both sides. False elsewhere.
  bool interpolate_singular(double t, State& out, Vec& a, Vec& lambda);

  std::size_t memory_size();
  void save(std::span<double> memory);
  void restore(std::span<const double> memory);
  virtual void refresh() {}
  // What happened within the last step of a scheme that passes over events without landing on them; appended.
  virtual void describe_step(std::vector<StepEvent>&) const {}

  // Step the controller would take next; 0 before the first.
  double next_step() const { return h_next_; }
  virtual bool controlled() const { return false; }
  // Steps of about h no longer come forward, as `how` tells: throws the diagnosis (collapse.cpp).
  [[noreturn]] void collapsed(double h, const std::string& how);

 protected:
  // One step from now_ to time t1. Fills trial_, W_trial_, error_ and the scheme's dense output. False when the step is
  // too long to be computed (no convergence, not finite, rotation beyond the half turn).
  virtual bool attempt(double t1) = 0;
  // The attempt is taken: the scheme moves its own memory.
  virtual void accept() {}
  // Dense output of the last attempt at 0 <= theta <= 1.
  virtual void dense(double theta, State& out) = 0;
  virtual void dense_work(double theta, Vec& W) = 0;
  // Derivative of its velocities; of the scheme that passes singular positions only.
  virtual void dense_acceleration(double, Vec&) {}
  // Length of the next step after an accepted (error <= 1) or rejected one.
  virtual double propose(double h, double error, bool accepted);
  virtual int error_order() const { return 4; }
  // Further memory of the scheme beyond the common part.
  virtual void exchange(Archive&) {}
  virtual void started() {}
  // Whether exchange() restores dv/dt and the multipliers; otherwise they are evaluated anew.
  virtual bool remembers_derivative() const { return false; }
  // Whether the scheme's past ends at an event, so that the step must be chosen anew.
  virtual bool restarts_at_events() const { return false; }
  // How often a failed attempt may be halved where the step is not controlled.
  virtual int halvings() const { return 0; }
  // Looks at what lies between the ends of an attempt that would be taken; false: it must be shorter, as far as it may.
  virtual bool between_ends(double t1, bool may_shorten);
  // Shows the attempt to the watch, without a search for events.
  void survey(double t1);

  // out = dexpinv(u) v; false when a rotation of u is beyond the range in which increments may be used.
  bool increment_rate(const Vec& u, const Vec& v, Vec& out) const;
  // Projects trial_ onto the constraints; u1 becomes the increment to the projected coordinates.
  void project_trial(Vec& u1);
  // dv/dt, multipliers, inner rates at now_ and at trial_.
  void know_derivative();
  void know_trial_derivative();
  // Near a singular position: whether a correction of the coordinates of s, in units of their scales, is too small to
  // lead to another branch of the motion.
  bool stays_on_branch(const State& s, double correction) const;
  // Root mean square of the errors in units of their weights.
  double error_norm(const Vec& du, const Vec& dv, const Vec& dz, const State& from, const State& to);

  Dynamics& dynamics_;
  const IntegratorSettings settings_;
  const Sizes n_;
  Projector projector_;
  std::vector<int> rotations_;

  State now_, trial_;
  Vec W_, W_trial_;
  Vec a_, lambda_, zdot_;                    // at now_ when known_
  Vec a_trial_, lambda_trial_, zdot_trial_;  // at trial_ when trial_known_
  bool known_ = false, trial_known_ = false;
  double sine_ = 1, sine_trial_ = 1;  // Dynamics::constraint_sine there
  double error_ = 0;
  std::optional<SolveError> failure_;  // that ended the last attempt
  Vec worst_error_;                    // of each velocity index in the last attempt, for diagnoses
  double start_time_ = 0;
  double stored_at_start_ = 0;  // what errors of the ledger are measured against, with the work done since
  StepReport report_;

 private:
  struct Events {
    Vec g_now;  // at now_
    Vec sign;   // of each function at now_; 0 while it stands on its zero
    Vec before, g_sample, g;
    State sample;
    std::vector<int> fired;
    EventWatch* watch = nullptr;
    // Looks along the attempt: their places in the step and the functions there, a column each.
    std::array<double, EventWatch::most_looks> theta;
    Mat looks;
    std::array<int, EventWatch::most_looks> pending;  // looks still ahead, the next one last
    int ahead = 0;
    std::array<int, EventWatch::most_looks> free;  // numbers that are not in use
    int free_count = 0;
    int between = 0;  // looks that the watch asked for
    void setup(int count, const State& like);
    void take_signs();
    bool has_fired(int index) const;
  };

  double first_step();  // trial_ and its derivatives serve as work arrays
  void exchange_all(Archive& archive);
  void take_step(double t1, bool on_grid);
  bool try_attempt(double t1, bool may_fail);
  // Constraints know angles but for whole turns: where they decide the coordinates of a long step, these must still be
  // what its velocities lead to.
  bool moves_as_its_velocities();

  // Passage of singular positions.
  bool watches() const { return controlled() && !settings_.fixed_step && settings_.project && n_.nh > 0; }
  double plan_passage(double t1);
  bool attempt_passage(double t1);
  void leave_passage();
  bool unforeseen_passage();
  // The scheme of the last attempt.
  Integrator& scheme() { return by_passage_ ? *passage_ : *this; }

  void guard_finite();
  [[noreturn]] void step_too_small(double h, bool computed);
  bool driven();
  double fastest(int& index);
  void know_events();  // at now_
  // First sign change on the dense output of the attempt ending at t1: its function and time; -1 for none.
  int first_event(double t1, double& t_event);
  double event_on_dense(int index, double theta, double t1);
  void look(int look, double theta, double t1);
  EventWatch::Stretch look_along(int part, int parts, double t1);
  // Looks where the polynomials through the five values of a stretch have their extremes, if beyond zero.
  void look_at_dips(const EventWatch::Stretch& stretch, double t1);
  void put_ahead(int look);
  void lay_out(const EventWatch::Stretch& stretch);
  int pass(int from);  // the next look ahead takes the place of `from`
  // First sign change between look `from` and the looks ahead: its function and place; -1 for none.
  int walk(int from, double t1, double& theta_event);
  int first_change(int a, int b, double t1, double& theta_event);
  // A look between a and b where the watch is not sure; false: it is.
  bool look_between(int a, int b, double t1);
  // Moves the end of the attempt onto the first event; false when that is the start of the step.
  bool land_on_event(int index, double t_event, double t1);
  // Repeats the attempt with its end moved to t, where the function vanishes; low: the latest end before.
  //   at_start       t lies no later than rounding from the begin
  //   nowhere        no attempt as far as t1 shows the event that the dense output did
  //   not_computed   the step to it cannot be computed, one to low could
  enum class Landing { landed, at_start, nowhere, not_computed };
  Landing approach_event(int index, double t_event, double t1, double& t, double& low);
  // Takes the attempt to `end`, or to where it can be computed, if it shows no event: -1. Otherwise which, and where.
  int stop_without_event(double& end, double& t_event);

  double begin_ = 0;
  double h_next_ = 0;
  double grid_index_ = 0;  // fixed steps end at start_time_ + k step
  double controller_memory_ = 1e-4;
  bool last_rejected_ = false;
  Events events_;

  SingularWatch watch_;
  double singular_ = 0;                  // where the next singular position is expected
  bool passing_ = false;                 // near one: steps are taken by passage_
  bool by_passage_ = false;              // as the last attempt was
  std::unique_ptr<Integrator> passage_;  // made when first needed
};

std::unique_ptr<Integrator> make_integrator(const IntegratorSettings& settings, Dynamics& dynamics);

}  // namespace clatter
