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
  warm_start_.impulse.setZero(3 * contacts_.slots());
  warm_start_.feature.assign(static_cast<std::size_t>(contacts_.slots()), -1);
  way_.partners.reserve(static_cast<std::size_t>(contacts_.slots()));
  log_.touching.reserve(static_cast<std::size_t>(contacts_.slots()));
  way_.pair_carries.assign(system().pairs.size(), 0);
  way_.marked_pairs.reserve(system().pairs.size());
  way_.open_near.reserve(static_cast<std::size_t>(contacts_.slots()));
  way_.seen.assign(static_cast<std::size_t>(contacts_.slots()), 0);
  for (Vec* x : {&u1_, &dense_.u, &dense_.v_end}) x->setZero(n_.nv);
  dense_.z_end.setZero(n_.nz);
  dense_.W_base.setZero(n_.np);
  dense_.W_end.setZero(n_.np);
  compliant_.g.setZero(dynamics.compliant().event_count());
  dense_.base = now_;
  way_.middle = now_;
  set_watch(&dynamics.watch_passages());
  step_frictions_.start.setZero(2 * frictions_.size());
  step_frictions_.limit.setZero(frictions_.size());
  step_frictions_.b.setZero(n_.nv);
  step_frictions_.x.setZero(n_.nv);
  step_frictions_.mu.setZero(n_.nc());
  engine_.response_groups(budget_.group_of_tree);
  int groups = 0;
  for (int& g : budget_.group_of_tree) groups = std::max(groups, g = std::abs(g));
  budget_.accounts.resize(static_cast<std::size_t>(groups) + 1);
  budget_.pull.setZero(n_.nv);
  budget_.v_keep.setZero(n_.nv);
  budget_.phi.setZero(n_.nh);
  budget_.y.setZero(n_.nc());
}

void ContactStepper::started() {
  samples_.clear();
  log_.counts = {};
  log_.mode.assign(static_cast<std::size_t>(contacts_.slots()), Mode::open);
  log_.closed.clear();
  log_.changes.clear();
  warm_start_.impulse.setZero();
  warm_start_.carrying.clear();
  step_frictions_.start.setZero();
  step_frictions_.limit.setZero();
  step_frictions_.samples.clear();
  step_frictions_.mode.assign(static_cast<std::size_t>(frictions_.size()), Mode::open);
  proof_.worst = proof_.last = proof_.step = {};
  proof_.unsolved = proof_.step_unsolved = {};
  way_.passages = way_.step_passages = {};
  energy_.known = false;
  if (contact_.compliant().any()) {
    const State& e = contact_.engine_state(now_);
    engine_.prepare_response(e);
    compliant_.wrenches.clear();
    contact_.compliant().apply(now_.t, now_.z.data() + engine_.sizes().nz, compliant_.wrenches);
    contact_.compliant().settle();
  }
}

void ContactStepper::exchange(Archive& archive) {
  archive.vector(a_);
  archive.vector(lambda_);
  archive.vector(zdot_);
  archive.vector(warm_start_.impulse);
  proof_.worst.exchange(archive);
  log_.counts.exchange(archive);
  proof_.unsolved.exchange(archive);
  way_.passages.exchange(archive);
  for (int slot = 0; slot < contacts_.slots(); ++slot) {
    Branch& branch = contacts_.branch(slot);
    archive.count(branch.feature);
    archive.value(branch.s1);
    archive.value(branch.s2);
    double mode = static_cast<double>(log_.mode[static_cast<std::size_t>(slot)]);
    archive.value(mode);
    log_.mode[static_cast<std::size_t>(slot)] = static_cast<Mode>(static_cast<int>(mode));
    archive.count(warm_start_.feature[static_cast<std::size_t>(slot)]);
  }
  if (archive.reading()) {
    log_.closed.clear();
    warm_start_.carrying.clear();
    for (int slot = 0; slot < contacts_.slots(); ++slot) {
      if (log_.mode[static_cast<std::size_t>(slot)] != Mode::open) log_.closed.push_back(slot);
      if (!warm_start_.impulse.segment<3>(3 * slot).isZero(0)) warm_start_.carrying.push_back(slot);
    }
  }
  archive.vector(step_frictions_.start);
  archive.vector(step_frictions_.limit);
  for (Mode& m : step_frictions_.mode) {
    double mode = static_cast<double>(m);
    archive.value(mode);
    m = static_cast<Mode>(static_cast<int>(mode));
  }
  contact_.compliant().exchange(archive);
  if (archive.reading()) energy_.known = false;
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
  collision_.row0.clear();
  int row = 0;
  for (int i = 0; i < problem_.size(); ++i) {
    collision_.row0.push_back(row);
    row += problem_[i].rows();
  }
}

Vec3 ContactStepper::last_impulse(int slot) {
  if (warm_start_.feature[static_cast<std::size_t>(slot)] != contacts_.branch(slot).feature) return Vec3::Zero();
  return warm_start_.impulse.segment<3>(3 * slot);
}

void ContactStepper::remember_impulse(int slot, const Vec3& r) {
  ContactSample& c = warm_start_.carried.emplace_back();
  c.slot = slot;
  c.feature = contacts_.branch(slot).feature;
  c.impulse = r;
}

void ContactStepper::solve_contacts(const char* what) {
  const Stopwatch watch(times_.solution);
  for (int k = 0; k < problem_.islands(); ++k) {
    StepProblem::Report report = problem_.solve(k);
    if (!report.solved && relieve(k)) report = problem_.solve(k);
    proof_.step.complementarity = std::max(proof_.step.complementarity, report.complementarity);
    proof_.step.cone = std::max(proof_.step.cone, report.violation);
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
  proof_.step_unsolved.note(report.complementarity, StepProblem::solved_to, trial_.t,
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
    const int row = collision_.row0[static_cast<std::size_t>(i)];
    for (int k = 0; k < item.rows(); ++k) item.b[k] = rates[row + k];
    if (restitution[i] > 0) item.b[0] += part * restitution[i] * system().rigid(item.slot).restitution * rates[row];
  }
  const StepProblem::Report report = problem_.solve(island);
  // Bounces that contradict each other in a closed chain of contacts: without them there is an answer.
  if (!report.solved && part > 0) return solve_impact_blocks(island, rates, restitution, 0);
  proof_.step.complementarity = std::max(proof_.step.complementarity, report.complementarity);
  proof_.step.cone = std::max(proof_.step.cone, report.violation);
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
  collision_.taking_part.clear();
  collision_.rows_taking_part.clear();
  collision_.problem.contacts.clear();
  int local = 0;
  for (const int i : problem_.island(island)) {
    const StepProblem::Item& item = problem_[i];
    if (restitution[i] >= 0) {
      ImpactContact c = impact_contact(system().rigid(item.slot), static_cast<int>(collision_.taking_part.size()),
                                       item.cone.tangents, item.cone.mu);
      c.mu = item.cone.mu;
      c.restitution *= restitution[i];
      collision_.problem.contacts.push_back(c);
      for (int k = 0; k < item.rows(); ++k) {
        collision_.taking_part.push_back(local + k);
        collision_.rows_taking_part.push_back(collision_.row0[static_cast<std::size_t>(i)] + k);
      }
    }
    local += item.rows();
  }
  // Without restitution all laws are one, and it needs no memory.
  if (std::none_of(collision_.problem.contacts.begin(), collision_.problem.contacts.end(),
                   [](const ImpactContact& c) { return c.restitution > 0 || c.tangential_restitution > 0; }))
    return false;
  problem_.matrix(island, collision_.whole);
  const auto n = static_cast<Eigen::Index>(collision_.taking_part.size());
  collision_.problem.G.resize(n, n);
  collision_.problem.rate.resize(n);
  for (Eigen::Index r = 0; r < n; ++r) {
    collision_.problem.rate[r] = rates[collision_.rows_taking_part[static_cast<std::size_t>(r)]];
    for (Eigen::Index c = 0; c < n; ++c)
      collision_.problem.G(r, c) = collision_.whole(collision_.taking_part[static_cast<std::size_t>(r)],
                                                    collision_.taking_part[static_cast<std::size_t>(c)]);
  }
  collision_.solver.solve(collision_.problem, collision_.result);
  if (collision_.result.status != ContactStatus::solved) {
    std::vector<std::string> names;
    for (const int i : problem_.island(island))
      if (names.size() < 5) names.push_back(system().slot_name(problem_[i].slot));
    throw SolveError("impact-not-solved", trial_.t, names,
                     fmt::format("the impulses of an impact with {} contacts were not found: {}",
                                 problem_.island(island).size(), collision_.result.note),
                     "take `impact: poisson`, or a smaller step");
  }
  collision_.solver.forbid_gain(collision_.problem, collision_.result);
  int row = 0, contact = 0;
  for (const int i : problem_.island(island)) {
    StepProblem::Item& item = problem_[i];
    item.r.setZero();
    if (restitution[i] < 0) continue;
    for (int k = 0; k < item.rows(); ++k) item.r[k] = collision_.result.P[row++];
    if (contact++ == collision_.result.gains) note_gain(item.slot, collision_.result.gain, collision_.result.part);
  }
  return true;
}

void ContactStepper::note_gain(int slot, double gain, double part) {
  StepChange change{StepChange::What::gain, slot};
  change.gain = gain;
  change.part = part;
  collision_.gains.push_back(change);
}

double ContactStepper::impact_energy(int island, const Vec& rates) {
  double energy = 0.5 * problem_.quadratic(island);
  for (const int i : problem_.island(island))
    for (int k = 0; k < problem_[i].rows(); ++k)
      energy += problem_[i].r[k] * rates[collision_.row0[static_cast<std::size_t>(i)] + k];
  return energy;
}

// As ImpactSolver::forbid_gain, for many contacts.
void ContactStepper::forbid_gain(int island, const Vec& rates, const Vec& restitution) {
  const double with = impact_energy(island, rates);
  double scale = 0;
  for (const int i : problem_.island(island))
    for (int k = 0; k < problem_[i].rows(); ++k)
      scale += std::abs(problem_[i].r[k] * rates[collision_.row0[static_cast<std::size_t>(i)] + k]);
  if (with <= 1e-9 * scale) return;
  collision_.bounce.clear();
  for (const int i : problem_.island(island)) collision_.bounce.push_back(problem_[i].r);
  solve_impact_blocks(island, rates, restitution, 0);
  const double without = impact_energy(island, rates);
  std::size_t at = 0;
  collision_.half.clear();
  for (const int i : problem_.island(island)) {
    collision_.half.push_back(problem_[i].r);
    problem_[i].r = 0.5 * (collision_.half.back() + collision_.bounce[at++]);
  }
  const double s = part_without_gain(without, impact_energy(island, rates), with);
  int most = -1;
  double largest = 0;
  at = 0;
  for (const int i : problem_.island(island)) {
    if (problem_[i].friction < 0 && (most < 0 || collision_.bounce[at][0] > largest)) {
      most = problem_[i].slot;
      largest = collision_.bounce[at][0];
    }
    problem_[i].r = collision_.half[at] + s * (collision_.bounce[at] - collision_.half[at]);
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
    if (budget_.counting) lift_budget();
    const Vec& delta = gap_correction_.delta;
    dynamics_.plus(trial_.q, delta, trial_.q);
    if (n_.nh > 0 && settings_.project) projector_.positions(trial_);
    report_.projections += 1;
    for (int i = 0; i < n_.nv; ++i)
      report_.drift = std::max(report_.drift, std::abs(delta[i]) / projector_.u_scale()[i]);
  }
}

void ContactStepper::finish_step(bool smooth, double penetration) {
  if (!energy_.known) energy_.now = dynamics_.stored_energy(now_);
  energy_.known = true;
  energy_.trial = dynamics_.stored_energy(trial_);
  if (!system().any_rigid) {
    detect(trial_, 0);
    penetration = deepest_penetration(contacts_);
  }
  proof_.step.penetration = penetration;
  proof_.step.energy = energy_.trial - energy_.now - (W_trial_.sum() - W_.sum());
  dense_.base = now_;
  dense_.v_end = trial_.v;
  dense_.z_end = trial_.z;
  dense_.W_base = W_;
  dense_.W_end = W_trial_;
  dense_.h = trial_.t - now_.t;
  dense_.smooth = smooth;
}

void ContactStepper::accept() {
  for (const int slot : warm_start_.carrying) warm_start_.impulse.segment<3>(3 * slot).setZero();
  warm_start_.carrying.clear();
  // Which of the contacts that take part carry, where they depend on each other, may change at any time.
  warm_start_.carrying.reserve(warm_start_.carried.size());
  log_.closed.reserve(warm_start_.carried.size());
  log_.changes.reserve(2 * warm_start_.carried.size() + collision_.gains.size());
  for (const ContactSample& c : warm_start_.carried) {
    if (c.impulse.isZero(0)) continue;
    warm_start_.impulse.segment<3>(3 * c.slot) = c.impulse;
    warm_start_.feature[static_cast<std::size_t>(c.slot)] = c.feature;
    warm_start_.carrying.push_back(c.slot);
  }
  samples_.swap(samples_trial_);
  step_frictions_.samples.swap(step_frictions_.samples_trial);
  for (const FrictionSample& f : step_frictions_.samples) {
    step_frictions_.limit[f.index] = f.limit;
    for (int c = 0; c < 2; ++c) step_frictions_.start[2 * f.index + c] = f.force[c];
  }
  Certificate between;
  between.on_way = way_.depth;
  proof_.worst.take(between, way_.depth_time);
  proof_.worst.take(proof_.step, trial_.t);
  proof_.step.on_way = way_.depth;
  proof_.last = proof_.step;
  proof_.unsolved.take(proof_.step_unsolved);
  way_.passages.take(way_.step_passages);
  note_changes();
  energy_.now = energy_.trial;
  if (contact_.compliant().any()) compliant_events();
}

bool ContactStepper::touches(int slot) const {
  const SlotState& s = contacts_[slot];
  return s.present && s.gap <= kTouches * system().length_scale && s.rate[0] <= kTouches * system().velocity_scale;
}

void ContactStepper::note_changes() {
  using What = StepChange::What;
  log_.changes.clear();
  const double impulse_scale = system().force_scale * system().length_scale / system().velocity_scale;
  for (const ContactSample& sample : samples_) {
    const auto at = static_cast<std::size_t>(sample.slot);
    way_.seen[at] = 1;
    log_.counts.impacts += sample.impact;
    if (sample.impact) {
      // What follows a collision shows in the next step; this one is neither sliding nor sticking.
      if (sample.impulse[0] > kLoggedImpulse * impulse_scale)
        log_.changes.push_back({What::impact, sample.slot, sample.impulse[0], sample.rate[0], sample.rate[1]});
      continue;
    }
    const Mode was = log_.mode[at], now = sample.mode;
    if (was == now) continue;
    log_.mode[at] = now;
    if (was == Mode::open) {
      ++log_.counts.closes;
      log_.closed.push_back(sample.slot);
      log_.changes.push_back({What::closes, sample.slot});
    }
    if (!frictional(sample.slot)) continue;
    // A contact that closes and does not slip had no slip that could have stopped.
    if (now == Mode::stick && was == Mode::slide) {
      ++log_.counts.sticks;
      log_.changes.push_back({What::sticks, sample.slot});
    }
    if (now == Mode::slide && was == Mode::stick) {
      ++log_.counts.slides;
      log_.changes.push_back({What::slides, sample.slot});
    }
  }
  // Whatever carried nothing has opened, unless it still touches: which of contacts that depend on each other carry may
  // change from step to step. (A sample says so itself where a contact only collided.)
  // Those that this step has closed carry.
  log_.touching.resize(log_.closed.size(), 1);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < log_.closed.size(); ++i) {
    const int slot = log_.closed[i];
    Mode& mode = log_.mode[static_cast<std::size_t>(slot)];
    if (!way_.seen[static_cast<std::size_t>(slot)] && !log_.touching[i]) mode = Mode::open;
    if (mode != Mode::open) {
      log_.closed[kept++] = slot;
      continue;
    }
    ++log_.counts.opens;
    log_.changes.push_back({What::opens, slot});
  }
  log_.closed.resize(kept);
  log_.changes.insert(log_.changes.end(), collision_.gains.begin(), collision_.gains.end());
  for (const ContactSample& sample : samples_) way_.seen[static_cast<std::size_t>(sample.slot)] = 0;
  if (any_frictions()) note_friction_changes();
  report_.changed = !log_.changes.empty();
}

void ContactStepper::describe_step(std::vector<StepEvent>& out) const {
  static constexpr const char* kWords[] = {"impact", "closes", "opens", "sticks", "slides", "energy gain"};
  const auto detail = [&](const StepChange& c) {
    if (c.what == StepChange::What::gain) return describe_gain(system().rigid(c.slot).impact, c.gain, c.part);
    if (c.what != StepChange::What::impact) return std::string();
    return fmt::format("gap rate {:.6g} -> {:.6g} m/s, impulse {:.6g} N s, mean over the step", c.before, c.after,
                       c.impulse);
  };
  for (const StepChange& c : log_.changes)
    out.push_back({c.friction >= 0 ? frictions_[c.friction].name : system().slot_name(c.slot),
                   kWords[static_cast<int>(c.what)], detail(c)});
}

// Compliant contacts remember when they began; a step passes over that moment, its end stands for it.
void ContactStepper::compliant_events() {
  CompliantForces& compliant = contact_.compliant();
  for (int pass = 0; pass < 2; ++pass) {
    engine_.prepare_response(contact_.engine_state(trial_));
    compliant_.wrenches.clear();
    compliant.apply(trial_.t, trial_.z.data() + engine_.sizes().nz, compliant_.wrenches);
    compliant.events(compliant_.g.data());
    compliant_.fired.clear();
    for (int i = 0; i < compliant.event_count(); ++i)
      if (compliant_.g[i] < 0) compliant_.fired.push_back(i);
    if (compliant_.fired.empty()) return;
    compliant.on_events(compliant_.fired);
    for (const int i : compliant_.fired) ++(i % 2 == 0 ? log_.counts.closes : log_.counts.opens);
    energy_.known = false;
  }
}

void ContactStepper::dense(double theta, State& out) {
  // Continuous velocities are taken as linear, the increment then as quadratic; a step with an impact has the mean
  // velocity throughout, so that nothing dips through a surface between two ends that do not.
  const double bend = dense_.smooth ? 0.5 * dense_.h * theta * (theta - 1) : 0;
  dense_.u = theta * u1_ + bend * (dense_.v_end - dense_.base.v);
  dynamics_.plus(dense_.base.q, dense_.u, out.q);
  out.v = (1 - theta) * dense_.base.v + theta * dense_.v_end;
  out.z = (1 - theta) * dense_.base.z + theta * dense_.z_end;
  out.t = dense_.base.t + theta * dense_.h;
}

void ContactStepper::dense_work(double theta, Vec& W) { W = (1 - theta) * dense_.W_base + theta * dense_.W_end; }

}  // namespace clatter::contact
