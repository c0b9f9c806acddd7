#include "contact/time_stepping.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "contact/pair_way.hpp"
#include "contact/stable_step.hpp"
#include "impulse/strike.hpp"

namespace clatter::contact {

namespace {

// Slip slower than this part of the velocity scale is sticking.
constexpr double kNoSlip = 1e-9;
// Gaps below this part of the length scale are rounding.
constexpr double kNoGap = 1e-13;
// Gaps below this part of the length scale take part in the impacts of others.
constexpr double kTouching = 1e-7;
// Contacts nearer than this many times what bodies move in a step take part.
constexpr double kReach = 2;
// Penetration deeper than this part of the length scale at the end of a step of a contact that took no part in it.
constexpr double kMissed = 1e-7;
// Work of contacts below this part of force times length that no kinetic energy pays for.
constexpr double kGain = 1e-9;
// How often contacts that were missed may join.
constexpr int kRounds = 3;

}  // namespace

MoreauStepper::MoreauStepper(ContactDynamics& dynamics, const IntegratorSettings& settings,
                             const MoreauSettings& moreau)
    : ContactStepper(dynamics, settings), moreau_(moreau), mid_(now_) {
  if (!(moreau.theta >= 0.5 && moreau.theta <= 1))
    throw InputError(fmt::format("theta = {} is not between 0.5 and 1", moreau.theta));
  if (moreau.implicit) matrix_ = std::make_unique<StepMatrix>(dynamics);
  for (Vec* x : {&a_free_, &move_, &dv_, &v_free_, &x_, &impulses_, &pull_}) x->setZero(n_.nv);
  lambda_free_.setZero(n_.nc());
  zdot_free_.setZero(n_.nz);
  mu_step_.setZero(n_.nc());
  g_.setZero(n_.nc());
  p_.setZero(n_.np);
  missed_at_.assign(static_cast<std::size_t>(contacts_.slots()), -1);
  strikes_.is_later.assign(static_cast<std::size_t>(contacts_.slots()), 0);
}

void MoreauStepper::started() {
  if (!moreau_.implicit) require_stable_step(engine_.system(), contact_.engine_state(now_), settings_.step);
  ContactStepper::started();
  know_derivative();
  pull_ = a_;
}

void MoreauStepper::exchange(Archive& archive) {
  ContactStepper::exchange(archive);
  archive.vector(pull_);
}

void MoreauStepper::accept() {
  ContactStepper::accept();
  pull_ = smooth() ? a_trial_ : a_free_;
}

void MoreauStepper::refresh() {
  if (matrix_) matrix_->forget();
}

bool MoreauStepper::free_velocity(double h) {
  const double theta = moreau_.theta;
  mid_.v = now_.v + (1 - theta) * h * pull_;
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
  mid_.v = now_.v;
  return true;
}

bool MoreauStepper::collect(double h) {
  problem_.begin(matrix_.get());
  parts_.clear();
  step_frictions_.items.clear();
  way_.open_near.clear();
  way_.change = speed_of(dv_);
  if (!system().any_rigid && frictions_.joints() == 0) {
    if (contact_.compliant().any()) way_.fastest = largest_speed();
    return false;
  }
  engine_.prepare_response(contact_.engine_state(mid_));
  way_.fastest = largest_speed();
  const double reach = kReach * h * (way_.fastest + way_.change) + 1e-9 * system().length_scale;
  detect(mid_, reach);
  bool impacts = false;
  for (const int slot : contacts_.near()) {
    if (!system().pair(slot).rigid || missed_at_[static_cast<std::size_t>(slot)] >= 0) continue;
    if (contacts_[slot].gap > reach || strikes_.is_later[static_cast<std::size_t>(slot)]) continue;
    contacts_.evaluate(slot, true);
    impacts = take_in(slot, h) || impacts;
  }
  for (const Missed& m : missed_) {
    if (strikes_.is_later[static_cast<std::size_t>(m.slot)]) continue;
    contacts_.branch(m.slot) = m.branch;
    contacts_.evaluate_on_branch(m.slot);
    if (contacts_[m.slot].present) impacts = take_in(m.slot, h) || impacts;
  }
  if (any_frictions()) add_frictions(dv_, 1, 1, moreau_.theta * h, false);
  return impacts;
}

bool MoreauStepper::take_in(int slot, double h) {
  const double theta = moreau_.theta;
  const SlotState& s = contacts_[slot];
  const RigidContact& law = system().rigid(slot);
  BlockCone cone;
  cone.tangents = frictional(slot) ? system().pair(slot).tangents : 0;
  StepProblem::Item& item = problem_.add(slot, cone);
  const int index = problem_.size() - 1;
  Vec3 free = Vec3::Zero();
  for (int k = 0; k < item.rows(); ++k) free[k] = s.rate[k] + problem_.along(index, k, dv_);
  const Closing closing{s.gap, theta * h, s.rate[0], free[0], way_.change};
  const bool fast = closing.strikes(system().velocity_scale);
  const bool lands = fast && law.restitution == 0, impact = fast && (strikes_.any || !lands);
  const bool touches = s.gap <= kTouching * system().length_scale || (closing.closes() && s.rate[0] < 0);
  Part& part = parts_.emplace_back(Part{impact    ? Role::impact
                                        : touches ? Role::touching
                                                  : Role::lasting,
                                        lands, closing.most_change(), 0});
  item.b = free;
  if (!impact) {
    for (int k = 1; k < item.rows(); ++k) {
      item.b[k] += theta * h * s.bias[k];
      item.relief[k] = -theta * h * s.bias[k];
    }
    // A gap of rounding is none: divided by a short step it would move what rests.
    const double gap = std::abs(s.gap) <= kNoGap * system().length_scale ? 0.0 : s.gap;
    const double bend = std::max(gap / (theta * h) + 0.5 * theta * h * s.bias[0], theta * h * s.bias[0]);
    item.b[0] += bend;
    item.relief[0] = std::max(0.0, -bend);
    part.bend = bend;
  }
  item.cone.mu = friction(slot, std::hypot(s.rate[1], cone.tangents == 2 ? s.rate[2] : 0.0), fast);
  item.r = last_impulse(slot);
  return impact;
}

// Contacts that the middle of the step did not show but its end does: corners that pass each other, an edge behind
// another. They take part in a second go with the features of the end.
bool MoreauStepper::find_missed() {
  const double deep = kMissed * system().length_scale;
  const std::size_t before = missed_.size();
  for (const int slot : contacts_.near()) {
    if (!system().pair(slot).rigid || contacts_[slot].gap > -deep || strikes_.is_later[static_cast<std::size_t>(slot)])
      continue;
    const Branch& branch = contacts_.branch(slot);
    bool known = false;
    for (const ItemFeature& f : features_) known = known || (f.slot == slot && f.feature == branch.feature);
    int& at = missed_at_[static_cast<std::size_t>(slot)];
    if (known || at >= 0) continue;
    at = static_cast<int>(missed_.size());
    missed_.push_back({slot, branch});
  }
  return missed_.size() > before;
}

void MoreauStepper::collide(double h) {
  rates_.resize(problem_.rows());
  factors_.resize(problem_.size());
  int row = 0;
  for (int i = 0; i < problem_.size(); ++i) {
    const StepProblem::Item& item = problem_[i];
    if (item.friction >= 0) {
      // Friction rows answer afterwards, to the impulses of the impact too.
      for (int k = 0; k < item.rows(); ++k) rates_[row++] = frictions_.rate(item.friction)[k];
      factors_[i] = -1;
      continue;
    }
    const SlotState& s = contacts_[item.slot];
    const Role role = parts_[static_cast<std::size_t>(i)].role;
    for (int k = 0; k < item.rows(); ++k) {
      double rate = s.rate[k];
      if (role == Role::impact) rate += 0.5 * problem_.along(i, k, dv_);
      if (role == Role::lasting && k == 0) rate += std::max(s.gap, 0.0) / (moreau_.theta * h);
      rates_[row + k] = rate;
    }
    factors_[i] = role == Role::lasting ? -1 : 1;
    row += item.rows();
  }
  // Where nothing collides the laws of lasting contact are enough.
  for (int k = 0; k < problem_.islands(); ++k) {
    bool collides = false;
    for (const int i : problem_.island(k))
      collides = collides || (problem_[i].friction < 0 && parts_[static_cast<std::size_t>(i)].role == Role::impact);
    for (const int i : problem_.island(k))
      if (!collides) factors_[i] = -1;
  }
  starts_.clear();
  lasting_b_.clear();
  for (int i = 0; i < problem_.size(); ++i) {
    starts_.push_back(problem_[i].r);
    lasting_b_.push_back(problem_[i].b);
  }
  solve_impact(rates_, factors_);
  problem_.impulses(impulses_);
  problem_.response(impulses_, x_, mu_step_);
  for (int i = 0; i < problem_.size(); ++i) {
    StepProblem::Item& item = problem_[i];
    const auto at = static_cast<std::size_t>(i);
    impact_[at] = item.r;
    item.b = lasting_b_[at];
    for (int k = 0; k < item.rows(); ++k) item.b[k] += problem_.along(i, k, x_);
    item.r = starts_[at];
  }
}

void MoreauStepper::contact_solution(double h) {
  mid_.v = now_.v;
  clear_gains();
  proof_.step_unsolved = {};
  const bool impacts = collect(h);
  assemble(1);
  impact_.assign(static_cast<std::size_t>(problem_.size()), Vec3::Zero());
  if (impacts) collide(h);
  jump_ = impacts;
  lambda_step_ = lambda_smooth_;
  if (impacts) lambda_step_ += mu_step_ / h;
  solve_with_frictions("impulses", h, lambda_step_);
  warm_start_.carried.clear();
  features_.clear();
  for (int i = 0; i < problem_.size(); ++i) {
    if (problem_[i].friction >= 0) continue;
    remember_impulse(problem_[i].slot, problem_[i].r);
    features_.push_back({problem_[i].slot, contacts_.branch(problem_[i].slot).feature});
    problem_[i].r += impact_[static_cast<std::size_t>(i)];
  }
  find_open_near(h);
  problem_.impulses(impulses_);
  problem_.response(impulses_, x_, mu_step_);
}

void MoreauStepper::find_open_near(double h) {
  const double way = h * (way_.fastest + way_.change);
  clear_carrying();
  for (int i = 0; i < problem_.size(); ++i)
    if (problem_[i].friction < 0 && problem_[i].r[0] != 0) note_carrying(problem_[i].slot);
  way_.open_near.clear();
  const double span = std::max(moreau_.theta, 1 - moreau_.theta) * h;
  for (int i = 0; i < problem_.size(); ++i) {
    const int slot = problem_[i].slot;
    if (problem_[i].friction < 0 && !carries(slot) &&
        may_pass(system(), contacts_[slot], slot, span, h, way_.change, way))
      way_.open_near.push_back(pair_at(slot));
  }
}

void MoreauStepper::forget_strikes() {
  strikes_.any = false;
  for (const int slot : strikes_.later) strikes_.is_later[static_cast<std::size_t>(slot)] = 0;
  strikes_.later.clear();
}

bool MoreauStepper::find_strikes() {
  bool any = false;
  for (int i = 0; i < problem_.size(); ++i) {
    const StepProblem::Item& item = problem_[i];
    if (item.friction >= 0) continue;
    const Part& part = parts_[static_cast<std::size_t>(i)];
    any = any || part.lands;
    if (part.role != Role::lasting || item.r[0] == 0 || !is_fast(part.bend, part.change, system().velocity_scale))
      continue;
    strikes_.later.push_back(item.slot);
    strikes_.is_later[static_cast<std::size_t>(item.slot)] = 1;
    any = true;
  }
  return any;
}

// Impulses of the contacts, the velocities after them, and what both did.
void MoreauStepper::contact_step(double h) {
  forget_strikes();
  contact_solution(h);
  move_ = v_free_ + x_;
  if (find_strikes()) {
    strikes_.any = true;
    contact_solution(h);
  }
  trial_.v = v_free_ + x_;
  trial_.z = now_.z + h * zdot_free_;
  lambda_trial_ = lambda_smooth_ + mu_step_ / h;
  book_contacts(h);
}

// Ledger and samples, with the columns at q_m.
void MoreauStepper::book_contacts(double h) {
  const double theta = moreau_.theta;
  W_trial_ = W_;
  samples_trial_.clear();
  samples_trial_.reserve(static_cast<std::size_t>(problem_.size()));
  book_frictions(trial_.v, theta * h);
  for (int i = 0; i < problem_.size(); ++i) {
    const StepProblem::Item& item = problem_[i];
    if (item.friction >= 0 || item.r.isZero(0)) continue;
    const SlotState& s = contacts_[item.slot];
    ContactSample sample;
    sample.slot = item.slot;
    sample.impulse = item.r;
    sample.force = item.r / h;
    Vec3 after = Vec3::Zero();
    for (int k = 0; k < item.rows(); ++k) after[k] = problem_.along(i, k, trial_.v);
    sample.rate[0] = s.rate[0];
    sample.rate[1] = after[0];
    const int group = system().pair(item.slot).group;
    W_trial_[contact_.impact_channel(group)] += 0.5 * item.r[0] * (s.rate[0] + after[0]);
    // A landing without restitution is a jump all the same.
    sample.impact = is_fast(-s.rate[0], way_.change, system().velocity_scale);
    jump_ = jump_ || sample.impact;
    sample.impact = sample.impact || !impact_[static_cast<std::size_t>(i)].isZero(0);
    double slip = 0;
    for (int k = 1; k < item.rows(); ++k) {
      const double shock = impact_[static_cast<std::size_t>(i)][k], mean = 0.5 * (s.rate[k] + after[k]);
      W_trial_[contact_.impact_channel(group)] += shock * mean;
      W_trial_[contact_.friction_channel(group)] += (item.r[k] - shock) * mean;
      sample.slip[k - 1] = after[k] + theta * h * s.bias[k];
      slip = std::hypot(slip, sample.slip[k - 1]);
    }
    if (item.cone.tangents == 0) slip = std::hypot(s.rate[1], s.rate[2]);
    sample.mode = slip > kNoSlip * system().velocity_scale ? Mode::slide : Mode::stick;
    samples_trial_.push_back(sample);
  }
}

// Energy that trial_ would have, had positions moved with the velocities of the ledger. Leaves the engine elsewhere.
double MoreauStepper::energy_of_motion(double h) {
  q_keep_ = trial_.q;
  x_ = u1_ + h * moreau_.theta * (trial_.v - move_);
  dynamics_.plus(now_.q, x_, trial_.q);
  const double energy = dynamics_.stored_energy(trial_);
  trial_.q = q_keep_;
  return energy;
}

bool MoreauStepper::attempt(double t1) {
  const double h = t1 - now_.t, theta = moreau_.theta;
  proof_.step = {};
  trial_.t = t1;
  u1_ = h * (1 - theta) * now_.v;
  dynamics_.plus(now_.q, u1_, mid_.q);
  mid_.v = now_.v;
  mid_.z = now_.z;
  mid_.t = now_.t + h * (1 - theta);
  if (!free_velocity(h)) return false;
  lambda_smooth_ = lambda_trial_;
  for (const Missed& m : missed_) missed_at_[static_cast<std::size_t>(m.slot)] = -1;
  missed_.clear();
  for (int round = 0;; ++round) {
    contact_step(h);
    u1_ = h * ((1 - theta) * now_.v + theta * move_);
    if (!increment_rate(u1_, trial_.v, x_)) return false;
    dynamics_.plus(now_.q, u1_, trial_.q);
    project_trial(u1_);
    if (!system().any_rigid) break;
    detect(trial_, 0);
    if (round == kRounds || !find_missed()) break;
  }
  if (n_.np > 0) {
    mid_.v = 0.5 * (now_.v + trial_.v);
    a_trial_ = (trial_.v - now_.v) / h;
    dynamics_.powers(mid_, a_trial_, lambda_trial_, p_);
    W_trial_ += h * p_;
  }
  const double ledger = strikes_.any ? energy_of_motion(h) : 0;
  const double before = system().any_rigid ? dynamics_.stored_energy(trial_) : 0;
  const int corrections = report_.projections;
  const int slot = problem_.size() > 0 ? std::max(0, problem_[0].slot) : 0;
  if (system().any_rigid) open_budget(now_.v, trial_.v, a_free_);
  const double penetration = correct_gaps(nullptr, !strikes_.any);
  if (system().any_rigid) {
    double lifted = 0;
    if (report_.projections != corrections) {
      lifted = dynamics_.stored_energy(trial_) - before;
      dynamics_.minus(trial_.q, now_.q, u1_);
    }
    // What lands lower than its velocity says has lost that energy: it is no credit for what others were lifted.
    const double sunk = strikes_.any ? before - ledger : 0;
    lifted += std::max(0.0, sunk);
    W_trial_[contact_.impact_channel(system().pair(slot).group)] += std::min(0.0, sunk);
    double missing = 0;
    lifted -= settle_budget(lifted, missing);
    // The last halving is taken as it is.
    if (missing > kGain * system().force_scale * system().length_scale && h > 2.5 * shortest()) return false;
    W_trial_[contact_.impact_channel(system().pair(slot).group)] += lifted;
  }
  for (ContactSample& sample : samples_trial_) sample.gap = contacts_[sample.slot].gap;
  a_trial_ = (trial_.v - now_.v) / h;
  zdot_trial_ = zdot_free_;
  trial_known_ = true;
  finish_step(!jump_, penetration);
  return true;
}

}  // namespace clatter::contact
