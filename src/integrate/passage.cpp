// How a step passes a singular position of the mechanism, at t*.
//
// There G loses rank for an instant: its smallest singular values go through zero, sigma = sigma' (t - t*). The motion
// that continues the velocities is smooth through t*, but other branches meet it there (a parallelogram may go on
// crossed), and what decides between them, phi(q) = 0 with its derivatives, determines q, v and dv/dt across the branch
// only up to eta / (sigma' d), eta / (sigma' d^2) and eta / (sigma' d^3) at the distance d = t - t*, eta being what is
// left of phi. Stages of an ordinary step lie off the constraints by their own truncation error, and an iteration
// matrix of one side of t* does not serve the other. So, near t*,
//
//   - steps are taken by Dormand-Prince on stages that are each brought onto the constraints: on the branch the field
//     is smooth, and what lies across is taken away before it can grow. A correction must stay small beside the
//     distance from the branching point, otherwise the step is too long;
//   - the step across t* has it in the widest gap between the stages, between 3/10 and 4/5, and steps before it are cut
//     so that none ends close to it: all d are a fair part of h;
//   - errors are measured along the branch only;
//   - outputs within the gap are the dense output as it is.
//
// What errors of this kind do to the motion along the branch is of second order. Afterwards the scheme starts anew.
#include <algorithm>
#include <cmath>

#include "integrate/integrator.hpp"
#include "integrate/runge_kutta.hpp"

namespace clatter {

namespace {

// Steps this many times their length away from t* are ordinary.
constexpr double kReach = 2;
// ... and so are those where the smallest sine is still more than this part of the largest seen.
constexpr double kSmall = 0.5;
// Schemes that iterate come back only from this part on, or this many steps behind t*: rounding in their matrices, of
// the order of 1 / sigma^2, keeps them from converging to sharp tolerances sooner.
constexpr double kClear = 0.7, kFar = 50;
// For the same reason they may fail before t* is within reach: after so many attempts on end they leave it to the
// passage.
constexpr int kFailures = 3;
// Part of the step across that lies before t*.
constexpr double kPlace = 0.55;
// Largest correction of a stage beside its way to t*.
constexpr double kOnBranch = 0.1;
// Half of the gap around t* in which derivatives are not evaluated, as a part of the step.
constexpr double kGap = 0.15;

}  // namespace

double Integrator::plan_passage(double t1) {
  const double t0 = now_.t;
  const double h = t1 - t0, way = singular_ - t0, behind = t0 - watch_.time(), sine = watch_.now() / watch_.largest();
  const bool stages_only = settings_.scheme == Scheme::dopri5;
  const bool clear = !(behind < kReach * h) && (stages_only || sine > kClear || behind > kFar * h);
  const bool near = std::isfinite(way) || !clear;
  if (!passing_) {
    const bool stuck = report_.rejected >= kFailures && near;
    if (!(way < kReach * h && sine <= kSmall) && !stuck) return t1;
    // Rows on bodies that deform are nearly dependent as their compliance has it: no branches meet there.
    if (dynamics_.nearly_dependent().empty()) return t1;
    passing_ = true;
  } else if (!near) {
    leave_passage();
    return t0 + std::min(h, h_next_);
  }
  if (way <= kPlace * h) return t0 + way / kPlace;
  if (way < (1 + kPlace) * h) return t0 + way / (1 + kPlace);
  return t1;
}

bool Integrator::attempt_passage(double t1) {
  if (!passage_) {
    IntegratorSettings settings = settings_;
    settings.scheme = Scheme::dopri5;
    settings.find_events = false;
    passage_ = std::make_unique<RungeKutta>(dynamics_, settings, kDormandPrince, true);
  }
  Integrator& p = *passage_;
  p.projector_.scale_like(projector_);
  p.controller_memory_ = controller_memory_;
  p.stored_at_start_ = stored_at_start_;
  p.singular_ = std::isfinite(singular_) ? singular_ : watch_.time();
  p.now_ = now_;
  p.W_ = W_;
  p.known_ = known_;
  p.a_ = a_;
  p.lambda_ = lambda_;
  p.zdot_ = zdot_;
  p.trial_known_ = false;
  p.error_ = 0;
  p.report_ = {};
  const bool computed = p.attempt(t1);
  report_.projections += p.report_.projections;
  report_.drift = std::max(report_.drift, p.report_.drift);
  error_ = p.error_;
  trial_ = p.trial_;
  W_trial_ = p.W_trial_;
  worst_error_ = p.worst_error_;
  trial_known_ = p.trial_known_;
  a_trial_ = p.a_trial_;
  lambda_trial_ = p.lambda_trial_;
  zdot_trial_ = p.zdot_trial_;
  sine_trial_ = p.sine_trial_;
  return computed;
}

void Integrator::leave_passage() {
  passing_ = by_passage_ = false;
  started();
  if (restarts_at_events()) h_next_ = std::min(h_next_, first_step());
}

bool Integrator::unforeseen_passage() {
  try {
    know_trial_derivative();
  } catch (const SolveError&) {
    return false;  // the next step will tell
  }
  double zero = 0;
  if (!watch_.would_pass(trial_.t, sine_trial_, zero) || dynamics_.nearly_dependent().empty()) return false;
  singular_ = zero;
  passing_ = true;
  return true;
}

bool Integrator::interpolate_singular(double t, State& out, Vec& a, Vec& lambda) {
  const double h = now_.t - begin_;
  if (!by_passage_ || !(begin_ < singular_ && singular_ < now_.t) || !(std::abs(t - singular_) < kGap * h))
    return false;
  // lambda: c / (t - t*) where the inertia of the branch is not balanced at t*; between both sides it is finite.
  lambda.setZero(n_.nc());
  a.resize(n_.nv);
  for (const double side : {-1.0, 1.0}) {
    out.t = singular_ + side * kGap * h;
    interpolate(out.t, out);
    projector_.positions(out, true);
    projector_.velocities(out, true);
    dynamics_.accelerations(out, a, lambda_trial_, zdot_trial_);
    lambda += 0.5 * (1 + side * (t - singular_) / (kGap * h)) * lambda_trial_;
  }
  interpolate(t, out);
  passage_->dense_acceleration((t - begin_) / h, a);
  return true;
}

bool Integrator::stays_on_branch(const State& s, double correction) const {
  const double way = std::abs(s.t - singular_);
  if (!std::isfinite(way)) return true;
  double rate = 0;
  for (int i = 0; i < n_.nv; ++i) rate = std::max(rate, std::abs(s.v[i]) / projector_.u_scale()[i]);
  return correction <= kOnBranch * way * rate;
}

}  // namespace clatter
