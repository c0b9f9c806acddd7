#include "contact/contact_stepper.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "contact/penetration.hpp"

namespace clatter::contact {

namespace {

constexpr int kCorrections = 6;
// Penetration below this part of the length scale is rounding.
constexpr double kRoundingGap = 1e-13;
// A contact problem that was not solved to rounding may pass with this residual; the certificate tells.
constexpr double kAcceptable = 1e-5;

IntegratorSettings without_events(IntegratorSettings s) {
  s.find_events = false;
  return s;
}

}  // namespace

ContactStepper::ContactStepper(ContactDynamics& dynamics, const IntegratorSettings& settings)
    : Integrator(dynamics, without_events(settings)),
      contact_(dynamics),
      contacts_(dynamics.contacts()),
      engine_(dynamics.engine()),
      problem_(dynamics.contacts()) {
  if (!dynamics.active().empty()) throw InputError("time stepping starts without active contacts");
  if (!(settings.step > 0)) throw InputError("time stepping needs a step", "give `step:` a positive time");
  impulse_.setZero(3 * contacts_.slots());
  impulse_trial_ = impulse_;
  for (Vec* x : {&u1_, &u_dense_, &delta_, &b_, &v_end_}) x->setZero(n_.nv);
  mu_.setZero(n_.nc());
  z_end_.setZero(n_.nz);
  W_base_.setZero(n_.np);
  W_end_.setZero(n_.np);
  g_compliant_.setZero(dynamics.compliant().event_count());
  base_ = now_;
}

void ContactStepper::started() {
  samples_.clear();
  counts_ = {};
  mode_.assign(static_cast<std::size_t>(contacts_.slots()), Mode::open);
  mode_now_ = mode_;
  impulse_.setZero();
  worst_ = last_ = step_ = {};
  energy_known_ = false;
  if (contact_.compliant().any()) {
    const State& e = contact_.engine_state(now_);
    engine_.prepare_response(e);
    wrenches_.clear();
    contact_.compliant().apply(now_.t, now_.z.data() + engine_.sizes().nz, wrenches_);
    contact_.compliant().settle();
  }
}

void ContactStepper::exchange(Archive& archive) {
  archive.vector(a_);
  archive.vector(lambda_);
  archive.vector(zdot_);
  archive.vector(impulse_);
  worst_.exchange(archive);
  counts_.exchange(archive);
  for (int slot = 0; slot < contacts_.slots(); ++slot) {
    Branch& branch = contacts_.branch(slot);
    archive.count(branch.feature);
    archive.value(branch.s1);
    archive.value(branch.s2);
    double mode = static_cast<double>(mode_[static_cast<std::size_t>(slot)]);
    archive.value(mode);
    mode_[static_cast<std::size_t>(slot)] = static_cast<Mode>(static_cast<int>(mode));
  }
  contact_.compliant().exchange(archive);
  if (archive.reading()) energy_known_ = false;
}

bool ContactStepper::frictional(int slot) const {
  const RigidContact& law = system().rigid(slot);
  return law.friction.mu > 0 || law.friction.curve || law.impact_friction.value_or(0) > 0;
}

double ContactStepper::friction(int slot, double speed, bool impact) const {
  const RigidContact& law = system().rigid(slot);
  if (impact && law.impact_friction) return *law.impact_friction;
  return friction_coefficient(law.friction, speed);
}

double ContactStepper::largest_speed() const {
  double most = 0;
  for (const ShapeInstance& shape : system().shapes) {
    if (shape.link < 0) continue;
    const LinkMotion& m = engine_.links().motion[static_cast<std::size_t>(shape.link)];
    const double arm = shape.r.norm() + (std::isfinite(shape.geometry.bound) ? shape.geometry.bound : 0.0);
    most = std::max(most, m.v.norm() + m.w.norm() * arm);
  }
  return most;
}

double ContactStepper::speed_of(const Vec& dv) const {
  double most = 0;
  for (int i = 0; i < n_.nv; ++i) most = std::max(most, std::abs(dv[i]) / projector_.v_scale()[i]);
  return most * system().velocity_scale;
}

void ContactStepper::solve_contacts(const char* what) {
  const StepProblem::Report report = problem_.solve();
  step_.complementarity = std::max(step_.complementarity, report.complementarity);
  step_.cone = std::max(step_.cone, report.violation);
  if (report.solved || report.complementarity <= kAcceptable) return;
  std::vector<std::string> names;
  for (int i = 0; i < problem_.size() && names.size() < 5; ++i) names.push_back(system().slot_name(problem_[i].slot));
  throw SolveError("contact-not-solved", trial_.t, names,
                   fmt::format("the {} of {} contacts were not found; residual {:.2g}", what, problem_.size(),
                               report.complementarity),
                   "take a smaller step, or look for bodies that are wedged");
}

void ContactStepper::solve_impact(const Vec& rates, const Vec& restitution) {
  if (!problem_.few_rows()) {
    // Many contacts: Moreau's law for all of them, in one problem of blocks.
    int row = 0;
    for (int i = 0; i < problem_.size(); ++i) {
      StepProblem::Item& item = problem_[i];
      for (int k = 0; k < item.rows(); ++k) item.b[k] = rates[row + k];
      if (restitution[i] > 0) item.b[0] += restitution[i] * system().rigid(item.slot).restitution * rates[row];
      row += item.rows();
    }
    solve_contacts("impulses");
    return;
  }
  problem_.matrix(whole_);
  taking_part_.clear();
  impact_problem_.contacts.clear();
  for (int i = 0, row = 0; i < problem_.size(); row += problem_[i].rows(), ++i) {
    const StepProblem::Item& item = problem_[i];
    if (restitution[i] < 0) continue;
    ImpactContact c = impact_contact(system().rigid(item.slot), static_cast<int>(taking_part_.size()),
                                     item.cone.tangents, item.cone.mu);
    c.mu = item.cone.mu;
    c.restitution *= restitution[i];
    impact_problem_.contacts.push_back(c);
    for (int k = 0; k < item.rows(); ++k) taking_part_.push_back(row + k);
  }
  impact_problem_.G = whole_(taking_part_, taking_part_);
  impact_problem_.rate = rates(taking_part_);
  impact_solver_.solve(impact_problem_, impact_result_);
  if (impact_result_.status != ContactStatus::solved) {
    std::vector<std::string> names;
    for (int i = 0; i < problem_.size() && names.size() < 5; ++i) names.push_back(system().slot_name(problem_[i].slot));
    throw SolveError("impact-not-solved", trial_.t, names,
                     fmt::format("the impulses of an impact with {} contacts were not found: {}", problem_.size(),
                                 impact_result_.note),
                     "take `impact: poisson`, or a smaller step");
  }
  for (int i = 0, row = 0; i < problem_.size(); ++i) {
    StepProblem::Item& item = problem_[i];
    item.r.setZero();
    if (restitution[i] < 0) continue;
    for (int k = 0; k < item.rows(); ++k) item.r[k] = impact_result_.P[row++];
  }
}

double ContactStepper::correct_gaps(const std::vector<char>* closed) {
  if (!system().any_rigid) return 0;
  const double rounding = kRoundingGap * system().length_scale;
  double left = 0;
  for (int pass = 0;; ++pass) {
    contacts_.detect(contact_.engine_state(trial_), 0);
    double depth = 0, off = 0;
    for (int slot = 0; slot < contacts_.slots(); ++slot) {
      const SlotState& s = contacts_[slot];
      if (!s.present || !system().pair(slot).rigid) continue;
      depth = std::max(depth, -s.gap);
      if (closed != nullptr && (*closed)[static_cast<std::size_t>(slot)]) off = std::max(off, s.gap);
    }
    left = depth;
    if (std::max(depth, off) <= rounding || pass == kCorrections) return left;
    problem_.begin(nullptr);
    for (int slot = 0; slot < contacts_.slots(); ++slot) {
      const SlotState& s = contacts_[slot];
      if (!s.present || !system().pair(slot).rigid || s.gap > 8 * std::max(depth, off)) continue;
      BlockCone cone;
      cone.bilateral = closed != nullptr && (*closed)[static_cast<std::size_t>(slot)];
      StepProblem::Item& item = problem_.add(slot, cone);
      item.b[0] = s.gap;
    }
    problem_.assemble(1);
    StepProblem::Report report = problem_.solve();
    if (!report.solved && closed != nullptr) {
      // Held contacts that depend on each other need not agree to rounding: then only penetration is removed.
      for (int i = 0; i < problem_.size(); ++i) {
        problem_[i].cone.bilateral = false;
        problem_[i].r.setZero();
      }
      report = problem_.solve();
    }
    problem_.impulses(b_);
    problem_.response(b_, delta_, mu_);
    if (!delta_.allFinite()) return left;
    dynamics_.plus(trial_.q, delta_, trial_.q);
    if (n_.nh > 0 && settings_.project) projector_.positions(trial_);
    report_.projections += 1;
    for (int i = 0; i < n_.nv; ++i)
      report_.drift = std::max(report_.drift, std::abs(delta_[i]) / projector_.u_scale()[i]);
  }
}

void ContactStepper::finish_step(bool smooth, double penetration) {
  if (!energy_known_) energy_now_ = dynamics_.stored_energy(now_);
  energy_known_ = true;
  energy_trial_ = dynamics_.stored_energy(trial_);
  if (!system().any_rigid) {
    contacts_.detect(contact_.engine_state(trial_), 0);
    penetration = deepest_penetration(contacts_);
  }
  step_.penetration = penetration;
  step_.energy = energy_trial_ - energy_now_ - (W_trial_.sum() - W_.sum());
  base_ = now_;
  v_end_ = trial_.v;
  z_end_ = trial_.z;
  W_base_ = W_;
  W_end_ = W_trial_;
  h_dense_ = trial_.t - now_.t;
  smooth_ = smooth;
}

void ContactStepper::accept() {
  impulse_.swap(impulse_trial_);
  samples_.swap(samples_trial_);
  last_ = step_;
  worst_.take(step_, trial_.t);
  count_changes();
  energy_now_ = energy_trial_;
  if (contact_.compliant().any()) compliant_events();
}

void ContactStepper::count_changes() {
  for (int slot = 0; slot < contacts_.slots(); ++slot)
    if (system().pair(slot).rigid) mode_now_[static_cast<std::size_t>(slot)] = Mode::open;
  for (const ContactSample& sample : samples_) {
    const auto at = static_cast<std::size_t>(sample.slot);
    counts_.impacts += sample.impact;
    mode_now_[at] = sample.impact ? mode_[at] : sample.mode;
  }
  for (int slot = 0; slot < contacts_.slots(); ++slot) {
    Mode& was = mode_[static_cast<std::size_t>(slot)];
    const Mode now = mode_now_[static_cast<std::size_t>(slot)];
    if (was == now) continue;
    if (was == Mode::open) ++counts_.closes;
    if (now == Mode::open) ++counts_.opens;
    if (now == Mode::stick && frictional(slot)) ++counts_.sticks;
    if (now == Mode::slide && was == Mode::stick && frictional(slot)) ++counts_.slides;
    was = now;
  }
}

// Compliant contacts remember when they began; a step passes over that moment, its end stands for it.
void ContactStepper::compliant_events() {
  CompliantForces& compliant = contact_.compliant();
  for (int pass = 0; pass < 2; ++pass) {
    engine_.prepare_response(contact_.engine_state(trial_));
    wrenches_.clear();
    compliant.apply(trial_.t, trial_.z.data() + engine_.sizes().nz, wrenches_);
    compliant.events(g_compliant_.data());
    fired_compliant_.clear();
    for (int i = 0; i < compliant.event_count(); ++i)
      if (g_compliant_[i] < 0) fired_compliant_.push_back(i);
    if (fired_compliant_.empty()) return;
    compliant.on_events(fired_compliant_);
    for (const int i : fired_compliant_) ++(i % 2 == 0 ? counts_.closes : counts_.opens);
    energy_known_ = false;
  }
}

void ContactStepper::dense(double theta, State& out) {
  // Continuous velocities are taken as linear, the increment then as quadratic; a step with an impact has the mean
  // velocity throughout, so that nothing dips through a surface between two ends that do not.
  const double bend = smooth_ ? 0.5 * h_dense_ * theta * (theta - 1) : 0;
  u_dense_ = theta * u1_ + bend * (v_end_ - base_.v);
  dynamics_.plus(base_.q, u_dense_, out.q);
  out.v = (1 - theta) * base_.v + theta * v_end_;
  out.z = (1 - theta) * base_.z + theta * z_end_;
  out.t = base_.t + theta * h_dense_;
}

void ContactStepper::dense_work(double theta, Vec& W) { W = (1 - theta) * W_base_ + theta * W_end_; }

}  // namespace clatter::contact
