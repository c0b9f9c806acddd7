// Stepper: what a Run drives: one integrator over one set of equations, or a motion whose equations change on the way
// (contact, event by event).
//
//   start(s)       consistent state in, memory cleared, ledger zeroed
//   step(t_limit)  one accepted step, not beyond t_limit; a step of length zero is a jump
//   sample(t, ..)  state, derivatives and ledger within the last step, on the constraints
//   save, restore  everything a run needs to go on with the same digits; refresh() first, on both sides, drops what is
//                  cached but not saved (factorised matrices)
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "integrate/integrator.hpp"
#include "integrate/projection.hpp"
#include "integrate/scheme_choice.hpp"
#include "integrate/step_event.hpp"

namespace clatter {

class Stepper {
 public:
  virtual ~Stepper() = default;

  virtual void start(const State& s) = 0;
  virtual const StepReport& step(double t_limit) = 0;

  virtual const State& state() const = 0;
  virtual double step_begin() const = 0;
  // At step_begin() <= t <= state().t. lambda: multipliers of dynamics(); its size may change from step to step.
  virtual void sample(double t, State& s, Vec& a, Vec& lambda, Vec& W) = 0;
  // The equations in force during the last step.
  virtual Dynamics& dynamics() = 0;
  virtual void event_log(std::vector<StepEvent>& out) const = 0;
  // The last step ended at an event whose consequences the next one brings, in no time.
  virtual bool undecided() const { return false; }
  // The integrator that controls the steps; null where they are given.
  virtual Integrator* controller() { return nullptr; }
  // Who steps, and whether steps were kept short by stability; null: one scheme, and nobody looked.
  virtual const SchemeChoice* scheme_choice() const { return nullptr; }

  virtual std::size_t memory_size() = 0;
  virtual void save(std::span<double> memory) = 0;
  virtual void restore(std::span<const double> memory) = 0;
  virtual void refresh() = 0;
};

// One set of equations, by one integrator of the caller's, or by that of the settings and, where these leave the choice
// to the program, radau5 in turn.
class PlainStepper final : public Stepper {
 public:
  PlainStepper(std::unique_ptr<Integrator> integrator, Dynamics& dynamics, bool project);
  PlainStepper(const IntegratorSettings& settings, Dynamics& dynamics);

  void start(const State& s) override;
  const StepReport& step(double t_limit) override;
  const State& state() const override { return integrator_->state(); }
  double step_begin() const override { return integrator_->step_begin(); }
  void sample(double t, State& s, Vec& a, Vec& lambda, Vec& W) override;
  Dynamics& dynamics() override { return dynamics_; }
  void event_log(std::vector<StepEvent>& out) const override;
  const SchemeChoice* scheme_choice() const override { return choice_ ? &*choice_ : nullptr; }
  std::size_t memory_size() override;
  void save(std::span<double> memory) override;
  void restore(std::span<const double> memory) override;
  void refresh() override { integrator_->refresh(); }
  Integrator* controller() override { return integrator_->controlled() ? integrator_.get() : nullptr; }
  Integrator& integrator() { return *integrator_; }

 private:
  void take(Scheme scheme, double first_step);
  void go_over(double first_step);
  void exchange(Archive& archive);

  std::unique_ptr<Integrator> integrator_;
  Dynamics& dynamics_;
  Projector projector_;
  bool project_;
  std::optional<SchemeChoice> choice_;
  IntegratorSettings settings_;  // of choice_
  Scheme scheme_ = Scheme::dopri5;
  std::size_t largest_memory_ = 0;  // of the schemes there are to choose from
  Vec W_base_;                      // of the schemes before the present one
  Vec zdot_;
};

}  // namespace clatter
