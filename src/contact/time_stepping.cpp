#include "contact/time_stepping.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"

namespace clatter::contact {

namespace {

// Approach slower than this part of the velocity scale is rounding, slip slower than that is sticking.
constexpr double kNoApproach = 1e-9, kNoSlip = 1e-9;
// An impact approaches faster than this many times what forces change in a step.
constexpr double kImpact = 2;
// Contacts nearer than this many times what bodies move in a step take part.
constexpr double kReach = 2;

}  // namespace

MoreauStepper::MoreauStepper(ContactDynamics& dynamics, const IntegratorSettings& settings,
                             const MoreauSettings& moreau)
    : ContactStepper(dynamics, settings), moreau_(moreau), mid_(now_) {
  if (!(moreau.theta >= 0.5 && moreau.theta <= 1))
    throw InputError(fmt::format("theta = {} is not between 0.5 and 1", moreau.theta));
  if (moreau.implicit) matrix_ = std::make_unique<StepMatrix>(dynamics);
  for (Vec* x : {&a_free_, &dv_, &v_free_, &x_, &impulses_}) x->setZero(n_.nv);
  lambda_free_.setZero(n_.nc());
  zdot_free_.setZero(n_.nz);
  mu_step_.setZero(n_.nc());
  g_.setZero(n_.nc());
  p_.setZero(n_.np);
}

void MoreauStepper::refresh() {
  if (matrix_) matrix_->forget();
}

bool MoreauStepper::free_velocity(double h) {
  const double theta = moreau_.theta;
  dynamics_.accelerations(mid_, a_free_, lambda_free_, zdot_free_);
  lambda_trial_ = lambda_free_;
  if (!matrix_) {
    dv_ = h * a_free_;
  } else {
    if (!matrix_->factorize(mid_, a_free_, lambda_free_, h * theta, h * h * theta * theta)) return false;
    const Tangents& T = matrix_->tangents();
    T.M.multiply(a_free_.data(), impulses_.data());
    impulses_ *= h;
    if (theta != 0.5) {
      T.K.multiply(now_.v.data(), x_.data());
      impulses_ -= h * h * (2 * theta - 1) * x_;
    }
    if (n_.nc() > 0) {
      T.G.multiply(a_free_.data(), g_.data());
      g_ *= h;
    }
    matrix_->solve(impulses_.data(), g_.data(), dv_.data(), mu_step_.data());
    lambda_trial_ += mu_step_ / h;
  }
  v_free_ = now_.v + dv_;
  return true;
}

bool MoreauStepper::collect(double h) {
  const double theta = moreau_.theta, v_scale = system().velocity_scale;
  problem_.begin(matrix_.get());
  if (!system().any_rigid) return false;
  engine_.prepare_response(contact_.engine_state(mid_));
  const double change = speed_of(dv_);
  const double reach = kReach * h * (largest_speed() + change) + 1e-9 * system().length_scale;
  contacts_.detect(contact_.engine_state(mid_), reach);
  bool impacts = false;
  for (int slot = 0; slot < contacts_.slots(); ++slot) {
    if (!system().pair(slot).rigid || !contacts_[slot].present || contacts_[slot].gap > reach) continue;
    contacts_.evaluate(slot, true);
    const SlotState& s = contacts_[slot];
    const RigidContact& law = system().rigid(slot);
    BlockCone cone;
    cone.tangents = frictional(slot) ? system().pair(slot).tangents : 0;
    StepProblem::Item& item = problem_.add(slot, cone);
    const int index = problem_.size() - 1;
    Vec3 free = Vec3::Zero();
    for (int k = 0; k < item.rows(); ++k) free[k] = s.rate[k] + problem_.along(index, k, dv_);
    const double approach = -s.rate[0];
    const bool impact = law.restitution > 0 && s.gap + theta * h * free[0] <= 0 &&
                        approach > kImpact * std::max(change, std::abs(free[0] - s.rate[0])) + kNoApproach * v_scale;
    impacts = impacts || impact;
    item.b = free;
    if (impact) {
      const double et = law.reversibility >= 1 ? law.restitution * law.tangential_restitution : 0.0;
      item.b[0] += law.restitution * s.rate[0];
      for (int k = 1; k < item.rows(); ++k) item.b[k] += et * s.rate[k];
    } else {
      item.b[0] += std::max(s.gap, 0.0) / (theta * h);
      for (int k = 0; k < item.rows(); ++k) item.b[k] += theta * h * s.bias[k];
    }
    item.cone.mu = friction(slot, std::hypot(s.rate[1], cone.tangents == 2 ? s.rate[2] : 0.0), impact);
    item.r = impulse_.segment<3>(3 * slot);
  }
  return impacts;
}

bool MoreauStepper::attempt(double t1) {
  const double h = t1 - now_.t, theta = moreau_.theta;
  step_ = {};
  trial_.t = t1;
  u1_ = h * (1 - theta) * now_.v;
  dynamics_.plus(now_.q, u1_, mid_.q);
  mid_.v = now_.v;
  mid_.z = now_.z;
  mid_.t = now_.t + h * (1 - theta);
  if (!free_velocity(h)) return false;
  bool impacts = collect(h);
  solve_contacts(1, "impulses");
  problem_.impulses(impulses_);
  problem_.response(impulses_, x_, mu_step_);
  trial_.v = v_free_ + x_;
  trial_.z = now_.z + h * zdot_free_;
  lambda_trial_ += mu_step_ / h;

  // Ledger, with the columns at q_m.
  W_trial_ = W_;
  impulse_trial_.setZero();
  samples_trial_.clear();
  for (int i = 0; i < problem_.size(); ++i) {
    const StepProblem::Item& item = problem_[i];
    if (item.r.isZero(0)) continue;
    const SlotState& s = contacts_[item.slot];
    impulse_trial_.segment<3>(3 * item.slot) = item.r;
    ContactSample sample;
    sample.slot = item.slot;
    sample.impulse = item.r;
    sample.force = item.r / h;
    Vec3 after = Vec3::Zero();
    for (int k = 0; k < item.rows(); ++k) after[k] = problem_.along(i, k, trial_.v);
    const int group = system().pair(item.slot).group;
    W_trial_[contact_.impact_channel(group)] += 0.5 * item.r[0] * (s.rate[0] + after[0]);
    double slip = 0;
    for (int k = 1; k < item.rows(); ++k) {
      W_trial_[contact_.friction_channel(group)] += 0.5 * item.r[k] * (s.rate[k] + after[k]);
      sample.slip[k - 1] = after[k] + theta * h * s.bias[k];
      slip = std::hypot(slip, sample.slip[k - 1]);
    }
    if (item.cone.tangents == 0) slip = std::hypot(s.rate[1], s.rate[2]);
    sample.mode = slip > kNoSlip * system().velocity_scale ? Mode::slide : Mode::stick;
    samples_trial_.push_back(sample);
  }
  if (n_.np > 0) {
    mid_.v = 0.5 * (now_.v + trial_.v);
    a_trial_ = (trial_.v - now_.v) / h;
    dynamics_.powers(mid_, a_trial_, lambda_trial_, p_);
    W_trial_ += h * p_;
  }

  u1_ = h * ((1 - theta) * now_.v + theta * trial_.v);
  if (!increment_rate(u1_, trial_.v, x_)) return false;
  dynamics_.plus(now_.q, u1_, trial_.q);
  project_trial(u1_);
  const double before = system().any_rigid ? dynamics_.stored_energy(trial_) : 0;
  const int corrections = report_.projections;
  const double penetration = correct_gaps(nullptr);
  if (report_.projections != corrections) {
    const double lifted = dynamics_.stored_energy(trial_) - before;
    const int slot = problem_.size() > 0 ? problem_[0].slot : 0;
    W_trial_[contact_.impact_channel(system().pair(slot).group)] += lifted;
    dynamics_.minus(trial_.q, now_.q, u1_);
  }
  for (ContactSample& sample : samples_trial_) sample.gap = contacts_[sample.slot].gap;
  a_trial_ = (trial_.v - now_.v) / h;
  zdot_trial_ = zdot_free_;
  trial_known_ = true;
  finish_step(!impacts, penetration);
  return true;
}

}  // namespace clatter::contact
