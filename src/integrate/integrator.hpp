// Integrator: advances a State through a Dynamics, one accepted step at a time.
//
//   start(s)         consistent state in, memory cleared, ledger zeroed
//   step(t_limit)    one accepted step, not beyond t_limit; cut at the first event in it
//   interpolate(t,s) dense output within the last step: q = q0 (+) u(t)
//   save, restore    everything a run needs to go on with the same digits; refresh() first, on both sides, drops what
//   is
//                    cached but not saved (factorised matrices)
//
// Within a step all schemes work on increments u from the coordinates q0 at its start: q = q0 (+) u, du/dt = dexpinv(u)
// v (Munthe-Kaas), so that orders are full on rotations and quaternions stay unit without normalisation drift.
//
// Ledger: W(t) = integral of Dynamics::powers, by the scheme's own quadrature.
//
// Events are sign changes of Dynamics::events. They are first found on the dense output, then the step is repeated with
// its end moved until the event function vanishes there: a law that changes its form at the event has then not polluted
// the step that leads to it. A function that has just fired stands on its zero: its sign is taken anew just after the
// start.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "integrate/archive.hpp"
#include "integrate/dynamics.hpp"
#include "integrate/projection.hpp"
#include "integrate/settings.hpp"
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
};

class Integrator {
 public:
  Integrator(Dynamics& dynamics, const IntegratorSettings& settings);
  virtual ~Integrator() = default;
  Integrator(const Integrator&) = delete;
  Integrator& operator=(const Integrator&) = delete;

  void start(const State& s);
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

  std::size_t memory_size();
  void save(std::span<double> memory);
  void restore(std::span<const double> memory);
  virtual void refresh() {}
  // What happened within the last step of a scheme that passes over events without landing on them; appended.
  virtual void describe_step(std::vector<StepEvent>&) const {}

  // Step the controller would take next; 0 before the first.
  double next_step() const { return h_next_; }
  virtual bool controlled() const { return false; }

 protected:
  // One step from now_ to time t1. Fills trial_, W_trial_, error_ and the scheme's dense output. False when the step is
  // too long to be computed (no convergence, not finite, rotation beyond the half turn).
  virtual bool attempt(double t1) = 0;
  // The attempt is taken: the scheme moves its own memory.
  virtual void accept() {}
  // Dense output of the last attempt at 0 <= theta <= 1.
  virtual void dense(double theta, State& out) = 0;
  virtual void dense_work(double theta, Vec& W) = 0;
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

  // out = dexpinv(u) v; false when a rotation of u is beyond the range in which increments may be used.
  bool increment_rate(const Vec& u, const Vec& v, Vec& out) const;
  // Projects trial_ onto the constraints; u1 becomes the increment to the projected coordinates.
  void project_trial(Vec& u1);
  // dv/dt, multipliers, inner rates at now_.
  void know_derivative();
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
  double error_ = 0;
  Vec worst_error_;  // of each velocity index in the last attempt, for diagnoses
  double start_time_ = 0;
  double stored_at_start_ = 0;  // what errors of the ledger are measured against, with the work done since
  StepReport report_;

 private:
  struct Events {
    Vec g_now;  // at now_
    Vec sign;   // of each function at now_; 0 while it stands on its zero
    Vec before, g_before, g_sample, g;
    State sample;
    std::vector<int> fired;
    void setup(int count, const State& like);
    void take_signs();
  };

  double first_step();  // trial_ and its derivatives serve as work arrays
  void exchange_all(Archive& archive);
  void take_step(double t1, bool on_grid);
  bool try_attempt(double t1, bool may_fail);
  void guard_finite();
  [[noreturn]] void step_too_small(double h, bool computed);
  // First sign change on the dense output of the attempt ending at t1: its function and time; -1 for none.
  int first_event(double t1, double& t_event);
  double event_on_dense(int index, double theta, double t1);
  // Moves the end of the attempt onto the first event; false when that is the start of the step.
  bool land_on_event(int index, double t_event, double t1);

  double begin_ = 0;
  double h_next_ = 0;
  double grid_index_ = 0;  // fixed steps end at start_time_ + k step
  double controller_memory_ = 1e-4;
  bool last_rejected_ = false;
  Events events_;
};

std::unique_ptr<Integrator> make_integrator(const IntegratorSettings& settings, Dynamics& dynamics);

}  // namespace clatter
