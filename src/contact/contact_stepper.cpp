#include "contact/contact_stepper.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/stopwatch.hpp"
#include "contact/penetration.hpp"

namespace clatter::contact {

namespace {

// Passes of the correction of gaps: each leaves what its linear problem does not see. A ball that strikes a wall takes
// ten.
constexpr int kCorrections = 20;
// Natural map, of the largest rate, that is taken where no method gets to what counts as solved.
constexpr double kTolerated = 1e-5;
// Penetration below this part of the length scale is rounding.
constexpr double kRoundingGap = 1e-13, kRoughGap = 1e-11;
// Gaps and gap rates below this part of the scales of length and velocity are those of a contact that lasts.
constexpr double kTouches = 1e-9;
// Impulses below this part of the model's impulse scale are not told as impacts.
constexpr double kLoggedImpulse = 1e-6;

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
      problem_(dynamics.contacts(), dynamics.frictions()),
      frictions_(dynamics.frictions()),
      gap_correction_(dynamics.sizes()) {
  if (!dynamics.active().empty()) throw InputError("time stepping starts without active contacts");
  if (!(settings.step > 0)) throw InputError("time stepping needs a step", "give `step:` a positive time");
  impulse_.setZero(3 * contacts_.slots());
  impulse_feature_.assign(static_cast<std::size_t>(contacts_.slots()), -1);
  partners_.reserve(static_cast<std::size_t>(contacts_.slots()));
  touching_.reserve(static_cast<std::size_t>(contacts_.slots()));
  pair_carries_.assign(system().pairs.size(), 0);
  marked_pairs_.reserve(system().pairs.size());
  open_near_.reserve(static_cast<std::size_t>(contacts_.slots()));
  seen_.assign(static_cast<std::size_t>(contacts_.slots()), 0);
  for (Vec* x : {&u1_, &u_dense_, &v_end_}) x->setZero(n_.nv);
  z_end_.setZero(n_.nz);
  W_base_.setZero(n_.np);
  W_end_.setZero(n_.np);
  g_compliant_.setZero(dynamics.compliant().event_count());
  base_ = now_;
  on_way_ = now_;
  set_watch(&dynamics.watch_passages());
  friction_start_.setZero(2 * frictions_.size());
  friction_limit_.setZero(frictions_.size());
  friction_b_.setZero(n_.nv);
  friction_x_.setZero(n_.nv);
  friction_mu_.setZero(n_.nc());
  engine_.response_groups(group_of_tree_);
  int groups = 0;
  for (int& g : group_of_tree_) groups = std::max(groups, g = std::abs(g));
  accounts_.resize(static_cast<std::size_t>(groups) + 1);
  pull_budget_.setZero(n_.nv);
  v_keep_.setZero(n_.nv);
  phi_budget_.setZero(n_.nh);
  y_budget_.setZero(n_.nc());
}

void ContactStepper::started() {
  samples_.clear();
  counts_ = {};
  mode_.assign(static_cast<std::size_t>(contacts_.slots()), Mode::open);
  closed_list_.clear();
  changes_.clear();
  impulse_.setZero();
  carrying_.clear();
  friction_start_.setZero();
  friction_limit_.setZero();
  friction_samples_.clear();
  friction_mode_.assign(static_cast<std::size_t>(frictions_.size()), Mode::open);
  worst_ = last_ = step_ = {};
  unsolved_ = step_unsolved_ = {};
  passages_ = step_passages_ = {};
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
  unsolved_.exchange(archive);
  passages_.exchange(archive);
  for (int slot = 0; slot < contacts_.slots(); ++slot) {
    Branch& branch = contacts_.branch(slot);
    archive.count(branch.feature);
    archive.value(branch.s1);
    archive.value(branch.s2);
    double mode = static_cast<double>(mode_[static_cast<std::size_t>(slot)]);
    archive.value(mode);
    mode_[static_cast<std::size_t>(slot)] = static_cast<Mode>(static_cast<int>(mode));
    archive.count(impulse_feature_[static_cast<std::size_t>(slot)]);
  }
  if (archive.reading()) {
    closed_list_.clear();
    carrying_.clear();
    for (int slot = 0; slot < contacts_.slots(); ++slot) {
      if (mode_[static_cast<std::size_t>(slot)] != Mode::open) closed_list_.push_back(slot);
      if (!impulse_.segment<3>(3 * slot).isZero(0)) carrying_.push_back(slot);
    }
  }
  archive.vector(friction_start_);
  archive.vector(friction_limit_);
  for (Mode& m : friction_mode_) {
    double mode = static_cast<double>(m);
    archive.value(mode);
    m = static_cast<Mode>(static_cast<int>(mode));
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
  double most = contacts_.largest_speed();
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

void ContactStepper::detect(const State& s, double reach) {
  const Stopwatch watch(times_.detection);
  contacts_.detect(contact_.engine_state(s), reach);
}

void ContactStepper::assemble(double factor) {
  const Stopwatch watch(times_.assembly);
  problem_.assemble(factor);
  row0_.clear();
  int row = 0;
  for (int i = 0; i < problem_.size(); ++i) {
    row0_.push_back(row);
    row += problem_[i].rows();
  }
}

Vec3 ContactStepper::last_impulse(int slot) {
  if (impulse_feature_[static_cast<std::size_t>(slot)] != contacts_.branch(slot).feature) return Vec3::Zero();
  return impulse_.segment<3>(3 * slot);
}

void ContactStepper::remember_impulse(int slot, const Vec3& r) {
  ContactSample& c = carried_.emplace_back();
  c.slot = slot;
  c.feature = contacts_.branch(slot).feature;
  c.impulse = r;
}

void ContactStepper::solve_contacts(const char* what) {
  const Stopwatch watch(times_.solution);
  for (int k = 0; k < problem_.islands(); ++k) {
    StepProblem::Report report = problem_.solve(k);
    if (!report.solved && relieve(k)) report = problem_.solve(k);
    step_.complementarity = std::max(step_.complementarity, report.complementarity);
    step_.cone = std::max(step_.cone, report.violation);
    if (report.solved || tolerable(k, report)) continue;
    std::vector<std::string> names;
    for (const int i : problem_.island(k))
      if (names.size() < 5)
        names.push_back(problem_[i].friction >= 0 ? frictions_[problem_[i].friction].name
                                                  : system().slot_name(problem_[i].slot));
    throw SolveError("contact-not-solved", trial_.t, names,
                     fmt::format("the {} of {} contacts were not found; residual {:.2g}", what,
                                 problem_.island(k).size(), report.complementarity),
                     "take a smaller step, or look for bodies that are wedged");
  }
}

bool ContactStepper::tolerable(int island, const StepProblem::Report& report) {
  if (report.complementarity > kTolerated || trial_.t - now_.t > 0.51 * settings_.step) return false;
  const StepProblem::Item& first = problem_[problem_.island(island).front()];
  step_unsolved_.note(report.complementarity, StepProblem::solved_to, trial_.t,
                      first.friction >= 0 ? ~first.friction : first.slot);
  return true;
}

bool ContactStepper::relieve(int island) {
  bool any = false;
  for (const int i : problem_.island(island)) {
    StepProblem::Item& item = problem_[i];
    any = any || !item.relief.isZero(0);
    item.b += item.relief;
    item.relief.setZero();
  }
  return any;
}

void ContactStepper::solve_impact(const Vec& rates, const Vec& restitution) {
  const Stopwatch watch(times_.solution);
  for (int k = 0; k < problem_.islands(); ++k) {
    bool any = false;
    for (const int i : problem_.island(k)) any = any || restitution[i] >= 0;
    if (!any) {
      // None of them takes part.
      for (const int i : problem_.island(k)) problem_[i].r.setZero();
      continue;
    }
    if (problem_.few_rows(k) && solve_impact_dense(k, rates, restitution)) continue;
    solve_impact_blocks(k, rates, restitution, 1);
    forbid_gain(k, rates, restitution);
  }
}

// Many contacts: Moreau's law for all of them, in one problem of blocks. `part` of the restitution.
void ContactStepper::solve_impact_blocks(int island, const Vec& rates, const Vec& restitution, double part) {
  for (const int i : problem_.island(island)) {
    StepProblem::Item& item = problem_[i];
    const int row = row0_[static_cast<std::size_t>(i)];
    for (int k = 0; k < item.rows(); ++k) item.b[k] = rates[row + k];
    if (restitution[i] > 0) item.b[0] += part * restitution[i] * system().rigid(item.slot).restitution * rates[row];
  }
  const StepProblem::Report report = problem_.solve(island);
  // Bounces that contradict each other in a closed chain of contacts: without them there is an answer.
  if (!report.solved && part > 0) return solve_impact_blocks(island, rates, restitution, 0);
  step_.complementarity = std::max(step_.complementarity, report.complementarity);
  step_.cone = std::max(step_.cone, report.violation);
  if (report.solved || tolerable(island, report)) return;
  std::vector<std::string> names;
  for (const int i : problem_.island(island))
    if (names.size() < 5) names.push_back(system().slot_name(problem_[i].slot));
  throw SolveError("impact-not-solved", trial_.t, names,
                   fmt::format("the impulses of an impact with {} contacts were not found; residual {:.2g}",
                               problem_.island(island).size(), report.complementarity),
                   "take a smaller step, or look for bodies that are wedged");
}

bool ContactStepper::solve_impact_dense(int island, const Vec& rates, const Vec& restitution) {
  taking_part_.clear();
  rows_taking_part_.clear();
  impact_problem_.contacts.clear();
  int local = 0;
  for (const int i : problem_.island(island)) {
    const StepProblem::Item& item = problem_[i];
    if (restitution[i] >= 0) {
      ImpactContact c = impact_contact(system().rigid(item.slot), static_cast<int>(taking_part_.size()),
                                       item.cone.tangents, item.cone.mu);
      c.mu = item.cone.mu;
      c.restitution *= restitution[i];
      impact_problem_.contacts.push_back(c);
      for (int k = 0; k < item.rows(); ++k) {
        taking_part_.push_back(local + k);
        rows_taking_part_.push_back(row0_[static_cast<std::size_t>(i)] + k);
      }
    }
    local += item.rows();
  }
  // Without restitution all laws are one, and it needs no memory.
  if (std::none_of(impact_problem_.contacts.begin(), impact_problem_.contacts.end(),
                   [](const ImpactContact& c) { return c.restitution > 0 || c.tangential_restitution > 0; }))
    return false;
  problem_.matrix(island, whole_);
  const auto n = static_cast<Eigen::Index>(taking_part_.size());
  impact_problem_.G.resize(n, n);
  impact_problem_.rate.resize(n);
  for (Eigen::Index r = 0; r < n; ++r) {
    impact_problem_.rate[r] = rates[rows_taking_part_[static_cast<std::size_t>(r)]];
    for (Eigen::Index c = 0; c < n; ++c)
      impact_problem_.G(r, c) =
          whole_(taking_part_[static_cast<std::size_t>(r)], taking_part_[static_cast<std::size_t>(c)]);
  }
  impact_solver_.solve(impact_problem_, impact_result_);
  if (impact_result_.status != ContactStatus::solved) {
    std::vector<std::string> names;
    for (const int i : problem_.island(island))
      if (names.size() < 5) names.push_back(system().slot_name(problem_[i].slot));
    throw SolveError("impact-not-solved", trial_.t, names,
                     fmt::format("the impulses of an impact with {} contacts were not found: {}",
                                 problem_.island(island).size(), impact_result_.note),
                     "take `impact: poisson`, or a smaller step");
  }
  impact_solver_.forbid_gain(impact_problem_, impact_result_);
  int row = 0, contact = 0;
  for (const int i : problem_.island(island)) {
    StepProblem::Item& item = problem_[i];
    item.r.setZero();
    if (restitution[i] < 0) continue;
    for (int k = 0; k < item.rows(); ++k) item.r[k] = impact_result_.P[row++];
    if (contact++ == impact_result_.gains) note_gain(item.slot, impact_result_.gain, impact_result_.part);
  }
  return true;
}

void ContactStepper::note_gain(int slot, double gain, double part) {
  StepChange change{StepChange::What::gain, slot};
  change.gain = gain;
  change.part = part;
  gains_.push_back(change);
}

double ContactStepper::impact_energy(int island, const Vec& rates) {
  double energy = 0.5 * problem_.quadratic(island);
  for (const int i : problem_.island(island))
    for (int k = 0; k < problem_[i].rows(); ++k)
      energy += problem_[i].r[k] * rates[row0_[static_cast<std::size_t>(i)] + k];
  return energy;
}

// As ImpactSolver::forbid_gain, for many contacts.
void ContactStepper::forbid_gain(int island, const Vec& rates, const Vec& restitution) {
  const double with = impact_energy(island, rates);
  double scale = 0;
  for (const int i : problem_.island(island))
    for (int k = 0; k < problem_[i].rows(); ++k)
      scale += std::abs(problem_[i].r[k] * rates[row0_[static_cast<std::size_t>(i)] + k]);
  if (with <= 1e-9 * scale) return;
  bounce_.clear();
  for (const int i : problem_.island(island)) bounce_.push_back(problem_[i].r);
  solve_impact_blocks(island, rates, restitution, 0);
  const double without = impact_energy(island, rates);
  std::size_t at = 0;
  half_.clear();
  for (const int i : problem_.island(island)) {
    half_.push_back(problem_[i].r);
    problem_[i].r = 0.5 * (half_.back() + bounce_[at++]);
  }
  const double s = part_without_gain(without, impact_energy(island, rates), with);
  int most = -1;
  double largest = 0;
  at = 0;
  for (const int i : problem_.island(island)) {
    if (problem_[i].friction < 0 && (most < 0 || bounce_[at][0] > largest)) {
      most = problem_[i].slot;
      largest = bounce_[at][0];
    }
    problem_[i].r = half_[at] + s * (bounce_[at] - half_[at]);
    ++at;
  }
  if (most >= 0) note_gain(most, with, s);
}

double ContactStepper::correct_gaps(const std::vector<char>* closed, bool detected, double reach) {
  if (!system().any_rigid) return 0;
  const double rounding = kRoundingGap * system().length_scale;
  double last = 0;
  for (int pass = 0;; ++pass) {
    if (pass > 0 || !detected) detect(trial_, reach);
    double depth = 0, off = 0;
    for (const int slot : contacts_.near()) {
      if (!system().pair(slot).rigid) continue;
      depth = std::max(depth, -contacts_[slot].gap);
      if (closed != nullptr && (*closed)[static_cast<std::size_t>(slot)]) off = std::max(off, contacts_[slot].gap);
    }
    const double most = std::max(depth, off);
    if (most <= rounding || pass == kCorrections) return depth;
    // Held contacts that depend on each other need not agree to rounding.
    if (pass > 0 && depth <= rounding && off > 0.5 * last) return depth;
    last = most;
    // Many contacts at rest that disagree by little more than rounding need no exact answer.
    const bool rough = most <= kRoughGap * system().length_scale;
    if (rough && pass > 1) return depth;
    {
      const Stopwatch watch(times_.solution);
      if (!gap_correction_.find(problem_, contacts_, correction_, most, closed, rough)) return depth;
    }
    if (counting_) lift_budget();
    const Vec& delta = gap_correction_.delta;
    dynamics_.plus(trial_.q, delta, trial_.q);
    if (n_.nh > 0 && settings_.project) projector_.positions(trial_);
    report_.projections += 1;
    for (int i = 0; i < n_.nv; ++i)
      report_.drift = std::max(report_.drift, std::abs(delta[i]) / projector_.u_scale()[i]);
  }
}

void ContactStepper::finish_step(bool smooth, double penetration) {
  if (!energy_known_) energy_now_ = dynamics_.stored_energy(now_);
  energy_known_ = true;
  energy_trial_ = dynamics_.stored_energy(trial_);
  if (!system().any_rigid) {
    detect(trial_, 0);
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
  for (const int slot : carrying_) impulse_.segment<3>(3 * slot).setZero();
  carrying_.clear();
  // Which of the contacts that take part carry, where they depend on each other, may change at any time.
  carrying_.reserve(carried_.size());
  closed_list_.reserve(carried_.size());
  changes_.reserve(2 * carried_.size() + gains_.size());
  for (const ContactSample& c : carried_) {
    if (c.impulse.isZero(0)) continue;
    impulse_.segment<3>(3 * c.slot) = c.impulse;
    impulse_feature_[static_cast<std::size_t>(c.slot)] = c.feature;
    carrying_.push_back(c.slot);
  }
  samples_.swap(samples_trial_);
  friction_samples_.swap(friction_samples_trial_);
  for (const FrictionSample& f : friction_samples_) {
    friction_limit_[f.index] = f.limit;
    for (int c = 0; c < 2; ++c) friction_start_[2 * f.index + c] = f.force[c];
  }
  Certificate between;
  between.on_way = depth_on_way_;
  worst_.take(between, depth_time_);
  worst_.take(step_, trial_.t);
  step_.on_way = depth_on_way_;
  last_ = step_;
  unsolved_.take(step_unsolved_);
  passages_.take(step_passages_);
  note_changes();
  energy_now_ = energy_trial_;
  if (contact_.compliant().any()) compliant_events();
}

bool ContactStepper::touches(int slot) const {
  const SlotState& s = contacts_[slot];
  return s.present && s.gap <= kTouches * system().length_scale && s.rate[0] <= kTouches * system().velocity_scale;
}

void ContactStepper::note_changes() {
  using What = StepChange::What;
  changes_.clear();
  const double impulse_scale = system().force_scale * system().length_scale / system().velocity_scale;
  for (const ContactSample& sample : samples_) {
    const auto at = static_cast<std::size_t>(sample.slot);
    seen_[at] = 1;
    counts_.impacts += sample.impact;
    if (sample.impact) {
      // What follows a collision shows in the next step; this one is neither sliding nor sticking.
      if (sample.impulse[0] > kLoggedImpulse * impulse_scale)
        changes_.push_back({What::impact, sample.slot, sample.impulse[0], sample.rate[0], sample.rate[1]});
      continue;
    }
    const Mode was = mode_[at], now = sample.mode;
    if (was == now) continue;
    mode_[at] = now;
    if (was == Mode::open) {
      ++counts_.closes;
      closed_list_.push_back(sample.slot);
      changes_.push_back({What::closes, sample.slot});
    }
    if (!frictional(sample.slot)) continue;
    // A contact that closes and does not slip had no slip that could have stopped.
    if (now == Mode::stick && was == Mode::slide) {
      ++counts_.sticks;
      changes_.push_back({What::sticks, sample.slot});
    }
    if (now == Mode::slide && was == Mode::stick) {
      ++counts_.slides;
      changes_.push_back({What::slides, sample.slot});
    }
  }
  // Whatever carried nothing has opened, unless it still touches: which of contacts that depend on each other carry may
  // change from step to step. (A sample says so itself where a contact only collided.)
  // Those that this step has closed carry.
  touching_.resize(closed_list_.size(), 1);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < closed_list_.size(); ++i) {
    const int slot = closed_list_[i];
    Mode& mode = mode_[static_cast<std::size_t>(slot)];
    if (!seen_[static_cast<std::size_t>(slot)] && !touching_[i]) mode = Mode::open;
    if (mode != Mode::open) {
      closed_list_[kept++] = slot;
      continue;
    }
    ++counts_.opens;
    changes_.push_back({What::opens, slot});
  }
  closed_list_.resize(kept);
  changes_.insert(changes_.end(), gains_.begin(), gains_.end());
  for (const ContactSample& sample : samples_) seen_[static_cast<std::size_t>(sample.slot)] = 0;
  if (any_frictions()) note_friction_changes();
  report_.changed = !changes_.empty();
}

void ContactStepper::describe_step(std::vector<StepEvent>& out) const {
  static constexpr const char* kWords[] = {"impact", "closes", "opens", "sticks", "slides", "energy gain"};
  const auto detail = [&](const StepChange& c) {
    if (c.what == StepChange::What::gain) return describe_gain(system().rigid(c.slot).impact, c.gain, c.part);
    if (c.what != StepChange::What::impact) return std::string();
    return fmt::format("gap rate {:.6g} -> {:.6g} m/s, impulse {:.6g} N s, mean over the step", c.before, c.after,
                       c.impulse);
  };
  for (const StepChange& c : changes_)
    out.push_back({c.friction >= 0 ? frictions_[c.friction].name : system().slot_name(c.slot),
                   kWords[static_cast<int>(c.what)], detail(c)});
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
