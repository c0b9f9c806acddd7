#include "contact/turn_stepper.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"

namespace clatter::contact {

namespace {
constexpr double kTurned = 1.5;     // rad, between two looks
constexpr double kMostLooks = 1e5;  // in a step
}  // namespace

std::vector<CountedAngle> TurnStepper::followed(const System& system) {
  std::vector<CountedAngle> angles = counted_angles(system);
  std::erase_if(angles, [](const CountedAngle& angle) { return angle.known(); });
  return angles;
}

TurnStepper::TurnStepper(std::unique_ptr<Stepper> stepper, Engine& engine, std::vector<CountedAngle> angles)
    : stepper_(std::move(stepper)), engine_(engine), angles_(std::move(angles)), near_(angles_.size()) {
  const System& sys = engine.system();
  for (const CountedAngle& angle : angles_)
    for (const int frame : {angle.measure.a, angle.measure.b})
      on_blocks_ |= sys.frames[static_cast<std::size_t>(frame)].link >= sys.tree.rigid_links;
  phi_.setZero(engine.sizes().nh);
  residual_.setZero(engine.sizes().nc());
}

double TurnStepper::angle(std::size_t i, double* rate) const {
  const Measure& m = angles_[i].measure;
  MeasureValue<double> value;
  evaluate(m.kind, m.params, engine_.frame_state(m.a), engine_.frame_state(m.b), value);
  if (value.fault != MeasureFault::none) return std::numeric_limits<double>::quiet_NaN();
  if (rate != nullptr) *rate = value.de;
  return value.e;
}

std::vector<ExtraQuantity> TurnStepper::quantities() const {
  std::vector<ExtraQuantity> list;
  for (std::size_t i = 0; i < angles_.size(); ++i)
    list.push_back({{angles_[i].quantity, "rad", {}, angles_[i].description}, [this, i](double* out) {
                      const double e = angle(i, nullptr);
                      *out = std::isnan(e) ? near_[i] : in_turn(e, near_[i]);
                    }});
  return list;
}

void TurnStepper::follow(double t, const State& s) {
  own_ = s;
  own_.z.conservativeResize(engine_.sizes().nz);
  if (on_blocks_)
    engine_.observe(own_, nullptr);
  else
    engine_.constraints(own_, phi_, residual_);
  if (used_ == knots_.size()) knots_.emplace_back();
  Knot& now = knots_[used_];
  const Knot* before = used_ > 0 ? &knots_[used_ - 1] : nullptr;
  now.t = t;
  now.angle.resize(near_.size());
  now.rate.resize(near_.size());
  for (std::size_t i = 0; i < near_.size(); ++i) {
    double rate = before != nullptr ? before->rate[i] : 0;
    const double e = angle(i, &rate);
    const double expected =
        before != nullptr ? before->angle[i] + (t - before->t) * (before->rate[i] + rate) / 2 : angles_[i].start;
    now.angle[i] = std::isnan(e) ? expected : in_turn(e, expected);
    now.rate[i] = rate;
  }
  ++used_;
}

void TurnStepper::start(const State& s) {
  stepper_->start(s);
  used_ = 0;
  follow(stepper_->state().t, stepper_->state());
  near_ = knots_[0].angle;
}

const StepReport& TurnStepper::step(double t_limit) {
  const StepReport& report = stepper_->step(t_limit);
  std::swap(knots_[0], knots_[used_ - 1]);
  used_ = 1;
  const double t0 = knots_[0].t, t1 = stepper_->state().t;
  follow(t1, stepper_->state());
  double fastest = 0;
  for (int k = 0; k < 2; ++k)
    for (const double rate : knots_[static_cast<std::size_t>(k)].rate) fastest = std::max(fastest, std::abs(rate));
  const int looks = static_cast<int>(std::min(kMostLooks, std::ceil(fastest * (t1 - t0) / kTurned)));
  if (looks > 1) {
    used_ = 1;
    between_ = stepper_->state();
    for (int k = 1; k < looks; ++k) {
      const double t = t0 + (t1 - t0) * k / looks;
      stepper_->sample(t, between_, a_, lambda_, W_);
      follow(t, between_);
    }
    follow(t1, stepper_->state());
    // Whoever asks next finds the equations at the end of the step again.
    Dynamics& dynamics = stepper_->dynamics();
    a_.resize(dynamics.sizes().nv);
    lambda_.resize(dynamics.sizes().nc());
    zdot_.resize(dynamics.sizes().nz);
    dynamics.accelerations(stepper_->state(), a_, lambda_, zdot_);
  }
  return report;
}

void TurnStepper::sample(double t, State& s, Vec& a, Vec& lambda, Vec& W) {
  stepper_->sample(t, s, a, lambda, W);
  std::size_t k = used_ - 1;
  while (k > 1 && knots_[k - 1].t > t) --k;
  near_ = knots_[k].angle;
  if (k > 0 && t < knots_[k].t) {
    const Knot& before = knots_[k - 1];
    const double part = (t - before.t) / (knots_[k].t - before.t);
    for (std::size_t i = 0; i < near_.size(); ++i) near_[i] = before.angle[i] + part * (near_[i] - before.angle[i]);
  }
}

std::size_t TurnStepper::memory_size() { return stepper_->memory_size() + 2 * near_.size(); }

void TurnStepper::save(std::span<double> memory) {
  const std::size_t n = near_.size();
  const Knot& now = knots_[used_ - 1];
  std::copy(now.angle.begin(), now.angle.end(), memory.begin());
  std::copy(now.rate.begin(), now.rate.end(), memory.begin() + static_cast<std::ptrdiff_t>(n));
  stepper_->save(memory.subspan(2 * n));
}

void TurnStepper::restore(std::span<const double> memory) {
  const std::size_t n = near_.size();
  if (memory.size() != memory_size())
    throw InputError("the checkpoint was written by another integrator or for another model");
  stepper_->restore(memory.subspan(2 * n));
  used_ = 1;
  knots_[0].t = stepper_->state().t;
  knots_[0].angle.assign(memory.begin(), memory.begin() + static_cast<std::ptrdiff_t>(n));
  knots_[0].rate.assign(memory.begin() + static_cast<std::ptrdiff_t>(n),
                        memory.begin() + static_cast<std::ptrdiff_t>(2 * n));
}

}  // namespace clatter::contact
