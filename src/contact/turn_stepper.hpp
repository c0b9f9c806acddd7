// TurnStepper: any stepper, with the turns of observed angles counted as it goes.
//
// An angle between two frames is known within half a turn only (counted_angles.hpp). From one step to the next it moves
// by about h (rate before + rate after) / 2, which tells its turn as long as that is exact to half of one; steps that
// turn further than kTurned are looked at on the way. Counting reads the motion and does not take part in it: whatever
// is observed, the steps are the same.
#pragma once

#include <memory>
#include <vector>

#include "engine/counted_angles.hpp"
#include "engine/quantity.hpp"
#include "integrate/stepper.hpp"

namespace clatter::contact {

class TurnStepper final : public Stepper {
 public:
  TurnStepper(std::unique_ptr<Stepper> stepper, Engine& engine, std::vector<CountedAngle> angles);
  // Those that follow neither from coordinates nor from a drive.
  static std::vector<CountedAngle> followed(const System& system);

  // The angles, in the turn they are in at the last sample; the engine has observed it.
  std::vector<ExtraQuantity> quantities() const;

  void start(const State& s) override;
  const StepReport& step(double t_limit) override;
  const State& state() const override { return stepper_->state(); }
  double step_begin() const override { return stepper_->step_begin(); }
  void sample(double t, State& s, Vec& a, Vec& lambda, Vec& W) override;
  Dynamics& dynamics() override { return stepper_->dynamics(); }
  void event_log(std::vector<StepEvent>& out) const override { stepper_->event_log(out); }
  bool undecided() const override { return stepper_->undecided(); }
  Integrator* controller() override { return stepper_->controller(); }
  const SchemeChoice* scheme_choice() const override { return stepper_->scheme_choice(); }
  std::size_t memory_size() override;
  void save(std::span<double> memory) override;
  void restore(std::span<const double> memory) override;
  void refresh() override { stepper_->refresh(); }

 private:
  struct Knot {
    double t = 0;
    std::vector<double> angle, rate;  // with turns
  };
  void follow(double t, const State& s);            // a further knot
  double angle(std::size_t i, double* rate) const;  // at the engine's links; NaN where it is undefined

  std::unique_ptr<Stepper> stepper_;
  Engine& engine_;
  std::vector<CountedAngle> angles_;
  bool on_blocks_ = false;   // some are between places of bodies that deform
  std::vector<Knot> knots_;  // of the last step, in time; the last is the present
  std::size_t used_ = 0;
  std::vector<double> near_;
  State own_, between_;  // own_: the engine's part of a state
  Vec a_, lambda_, W_, zdot_, phi_, residual_;
};

}  // namespace clatter::contact
