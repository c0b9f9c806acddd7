#include "contact/event_driven.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"

#include "contact/contact_euler.hpp"
#include "contact/penetration.hpp"

namespace clatter::contact {

namespace {

bool has_time(const CompiledFunction& f) {
  return std::any_of(f.inputs.begin(), f.inputs.end(),
                     [](const FunctionInput& in) { return in.kind == FunctionInput::Kind::time; });
}

bool has_functions_of_time(const ContactSystem& contacts) {
  const System& system = *contacts.system;
  bool timed = false;
  for (const Deformation& d : system.deformations) timed = timed || has_time(d.motion) || has_time(d.formula);
  for (const CompiledLoad& load : system.loads)
    for (const CompiledFunction& f : load.component) timed = timed || has_time(f);
  for (const FlexibleIndex& body : system.flexible)
    for (const auto& pressure : body.pressures) timed = timed || has_time(pressure.value);
  for (const PairInstance& pair : contacts.pairs)
    if (pair.coordinates)
      for (const CoordinateRow& row : pair.coordinates->row)
        for (const CoordinateRow::Input& in : row.inputs) timed = timed || in.v < 0;
  return timed;
}

}  // namespace

EventDriven::EventDriven(std::shared_ptr<const ContactSystem> contacts, Engine& engine,
                         const IntegratorSettings& settings)
    : engine_(engine),
      dynamics_(std::move(contacts), engine),
      instant_(dynamics_),
      settings_(settings),
      choice_(settings),
      scheme_(settings.scheme) {
  W_.setZero(dynamics_.sizes().np);
  W_base_ = W_;
  timed_ = has_functions_of_time(dynamics_.system());
  dynamics_.contacts().follow();
  dynamics_.watch_passages();
}

void EventDriven::begin_phase(const State& s, double h, bool jumped) {
  IntegratorSettings settings = settings_;
  settings.scheme = scheme_ = choice_.scheme();
  if (h > 0 && controls_step(settings.scheme)) settings.step = h;
  if (longest_closed_ > 0 && timed_ && !(dynamics_.active().empty() && dynamics_.active_frictions().empty()))
    settings.max_step = longest_closed_;
  const std::unique_ptr<Integrator> before = std::move(inner_);
  // Explicit steps through stiff contacts would have to be short: in those with contact Newton's method takes over.
  if (settings.scheme == Scheme::symplectic_euler && dynamics_.compliant().any())
    inner_ = std::make_unique<ContactEuler>(dynamics_, settings);
  else
    inner_ = make_integrator(settings, dynamics_);
  inner_->set_watch(&dynamics_.watch_passages());
  inner_->start(s);
  if (before) inner_->follow(*before, jumped);
  W_base_ = W_;
  W_certified_ = W_;
  projector_.reset();  // made when a sample between the ends of a step asks for it: few phases have one
}

// Another scheme goes on with the phase.
void EventDriven::go_over(double first_step) { begin_phase(State(inner_->state()), first_step); }

void EventDriven::start(const State& s) {
  W_.setZero(dynamics_.sizes().np);
  choice_.start();
  impacts_ = 0;
  counts_ = {};
  certificate_ = {};
  h_ = 0;
  State first = s;
  if (first.z.size() < dynamics_.sizes().nz) {
    const auto own = first.z.size();
    first.z.conservativeResize(dynamics_.sizes().nz);
    first.z.tail(dynamics_.sizes().nz - own).setZero();
  }
  first_ = first;
  inner_.reset();
  stalled_ = 0;
  fired_.touched.clear();
  fired_.stopped.clear();
  dynamics_.set_active({}, first);
  dynamics_.stored_energy(first);
  dynamics_.compliant().settle();
  instant_.forget();
  instant_.settle(first, {}, {}, {}, false, result_);
  W_ += result_.work;
  impacts_ += result_.impacts;
  count_changes();
  begin_phase(first, settings_.step);
  pending_ = false;
  stored_ = dynamics_.stored_energy(first);
  keep_branches();
}

void EventDriven::keep_branches() {
  Contacts& contacts = dynamics_.contacts();
  branches_.resize(static_cast<std::size_t>(contacts.slots()));
  for (int slot = 0; slot < contacts.slots(); ++slot) branches_[static_cast<std::size_t>(slot)] = contacts.branch(slot);
}

void EventDriven::return_to_branches() {
  Contacts& contacts = dynamics_.contacts();
  for (std::size_t slot = 0; slot < branches_.size(); ++slot) contacts.branch(static_cast<int>(slot)) = branches_[slot];
}

const StepReport& EventDriven::step(double t_limit) {
  return_to_branches();
  if (pending_) {
    fired_.names.clear();
    decide();
    keep_branches();
    report_ = {};
    report_.t = state().t;
    report_.at_event = true;
    return report_;
  }
  fired_.names.clear();
  result_.changes.clear();
  if (scheme_ != choice_.scheme()) go_over(choice_.first_step(inner_->next_step()));
  const double end = series_end(), limit = std::min(t_limit, end);
  try {
    report_ = inner_->step(limit);
  } catch (const SolveError&) {
    if (!choice_.failed()) throw;
    go_over(choice_.first_step(0));
    report_ = inner_->step(limit);
  }
  W_ = W_base_ + inner_->work();
  certify();
  dynamics_.contacts().accept();  // seen there by certify()
  const bool series_ends = inner_->state().t >= end;
  if (!report_.at_event && !series_ends) {
    h_ = inner_->next_step();
    choice_.after(report_);
    dynamics_.remember_slip();
    keep_branches();
    return report_;
  }
  keep_branches();
  guard_progress();
  fired_.touched.clear();
  fired_.stopped.clear();
  fired_.friction_stopped.clear();
  fired_.on_edge = false;
  fired_.compliant.clear();
  report_.at_event = true;
  pending_ = series_ends;
  const int first_compliant = dynamics_.sizes().ne - dynamics_.compliant().event_count();
  for (const int index : inner_->fired()) {
    fired_.names.push_back(dynamics_.event_name(index));
    const ContactDynamics::EventInfo info = dynamics_.event_info(index);
    if (index >= first_compliant) {
      fired_.compliant.push_back(index - first_compliant);
      pending_ = true;
    }
    if (info.friction >= 0) {
      pending_ = true;
      if (info.kind == ContactEvent::stop && dynamics_.friction_has_stopped(info.friction))
        fired_.friction_stopped.push_back(info.friction);
      if (info.kind == ContactEvent::slip) fired_.on_edge = true;
      if (info.kind == ContactEvent::jam) {
        const std::string& name = dynamics_.frictions().joint_name(info.friction);
        throw SolveError("joint-jams", inner_->state().t, {name},
                         fmt::format("friction jams joint {}: the reactions it causes itself ask for more friction "
                                     "without end",
                                     name),
                         "reduce its coefficient or the lever arm of its load, or make the guide longer");
      }
    }
    if (info.slot < 0) continue;
    pending_ = true;
    if (info.kind == ContactEvent::touch) fired_.touched.push_back(info.slot);
    if (info.kind == ContactEvent::stop && dynamics_.slip_has_stopped(info.slot)) fired_.stopped.push_back(info.slot);
    if (info.kind == ContactEvent::jam)
      throw SolveError(
          "painleve", inner_->state().t, {dynamics_.system().slot_name(info.slot)},
          fmt::format("sliding friction jams contact {}: its normal force grows beyond all bounds, and the "
                      "motion is not carried across that singularity",
                      dynamics_.system().slot_name(info.slot)),
          "reduce the friction of this contact, give it a compliant law, or use method: time-stepping");
    if (info.kind == ContactEvent::lift || info.kind == ContactEvent::slip) fired_.on_edge = true;
  }
  return report_;
}

void EventDriven::decide() {
  State s = inner_->state();
  const std::vector<ActiveContact> before = dynamics_.active();
  const double h = std::max(inner_->next_step(), h_);
  if (!fired_.compliant.empty()) {
    dynamics_.stored_energy(s);  // forces at s: what the laws remember is taken from them
    dynamics_.compliant().on_events(fired_.compliant);
    for (const int index : fired_.compliant) ++(index % 2 == 0 ? counts_.closes : counts_.opens);
    fired_.compliant.clear();
  }
  instant_.settle(s, before, fired_.touched, fired_.stopped, fired_.on_edge, result_,
                  {dynamics_.active_frictions(), fired_.friction_stopped});
  W_ += result_.work;
  impacts_ += result_.impacts;
  count_changes();
  Certificate at;
  at.complementarity = result_.residual;
  at.cone = result_.violation;
  certificate_.take(at, s.t);
  begin_phase(s, h, s.v != inner_->state().v);
  pending_ = false;
  stored_ = dynamics_.stored_energy(s);
}

void EventDriven::count_changes() {
  for (const ContactChange& c : result_.changes) {
    if (c.what.starts_with("impact")) ++counts_.impacts;
    if (c.what == "closes") ++counts_.closes;
    if (c.what == "opens") ++counts_.opens;
    if (c.what == "sticks") ++counts_.sticks;
    if (c.what.starts_with("slides")) ++counts_.slides;
  }
}

double EventDriven::series_end() const {
  double end = std::numeric_limits<double>::infinity();
  for (const Instant::Series& x : instant_.series()) end = std::min(end, x.end);
  return end;
}

// Events that follow each other without time moving on are not a motion.
void EventDriven::guard_progress() {
  constexpr int kMost = 500;
  const double t = inner_->state().t;
  if (t - last_event_ > 1e-12 * engine_.system().time_scale) stalled_ = 0;
  last_event_ = t;
  if (++stalled_ < kMost) return;
  std::vector<std::string> names;
  for (const int index : inner_->fired()) names.push_back(dynamics_.event_name(index));
  throw SolveError("events-accumulate", t, names,
                   fmt::format("{} events followed each other without time moving on, the last ones at {}", kMost,
                               names.empty() ? std::string("an unknown contact") : names.front()),
                   "use method: time-stepping for this model, or less friction or another impact law for this contact");
}

// Penetration, friction cones and the energy balance at the end of a step; of compliant contacts the penetration. Along
// the step contacts that were open are looked at for their penetration too.
void EventDriven::certify() {
  Certificate now, between;
  between.penetration = dynamics_.watch_passages().depth();
  certificate_.take(between, dynamics_.watch_passages().depth_time());
  const State& s = inner_->state();
  Contacts& contacts = dynamics_.contacts();
  contacts.detect(dynamics_.engine_state(s), dynamics_.system().any_rigid ? dynamics_.system().length_scale : 0);
  now.penetration = deepest_penetration(contacts);
  const bool frictions = dynamics_.frictions().joints() > 0;
  if (!dynamics_.system().any_rigid && !frictions) return certificate_.take(now, s.t);
  const Vec& lambda = inner_->lambda();
  for (std::size_t i = 0; i < dynamics_.active_frictions().size(); ++i) {
    dynamics_.frictions().evaluate(dynamics_.active_frictions()[i].index, false);
    double f[2];
    dynamics_.friction_force(static_cast<int>(i), lambda, f);
    const double outside = std::hypot(f[0], f[1]) - dynamics_.friction_limit(static_cast<int>(i), lambda);
    now.cone = std::max(now.cone, outside / dynamics_.system().force_scale);
  }
  for (std::size_t i = 0; i < dynamics_.active().size(); ++i) {
    const Vec3 r = dynamics_.force(static_cast<int>(i), lambda);
    const int slot = dynamics_.active()[i].slot;
    if (!contacts[slot].present) contacts.evaluate_held(slot, dynamics_.active()[i].feature, false);
    const double mu = friction_coefficient(dynamics_.system().rigid(slot).friction, 0);
    const double outside =
        std::max(-r[0], dynamics_.active()[i].mode == Mode::stick ? r.tail<2>().norm() - mu * r[0] : 0.0);
    now.cone = std::max(now.cone, outside / dynamics_.system().force_scale);
    now.complementarity =
        std::max(now.complementarity, std::abs(contacts[slot].gap) / dynamics_.system().length_scale * std::abs(r[0]) /
                                          std::max(dynamics_.system().force_scale, std::abs(r[0])));
  }
  const double stored = dynamics_.stored_energy(s);
  now.energy = stored - stored_ - (W_ - W_certified_).sum();
  stored_ = stored;
  W_certified_ = W_;
  certificate_.take(now, s.t);
}

void EventDriven::refresh() {
  return_to_branches();
  if (pending_) decide();
  const State s = state();
  begin_phase(s, inner_->next_step());
  keep_branches();
}

void EventDriven::sample(double t, State& s, Vec& a, Vec& lambda, Vec& W) {
  return_to_branches();
  if (t == inner_->state().t || inner_->step_begin() == inner_->state().t) {
    s = inner_->state();
    a = inner_->acceleration();
    lambda = inner_->lambda();
    W = W_;
    return;
  }
  inner_->interpolate_work(t, W);
  W += W_base_;
  if (inner_->interpolate_singular(t, s, a, lambda)) return;
  inner_->interpolate(t, s);
  if (settings_.project && dynamics_.sizes().nc() > 0) {
    if (!projector_) {
      projector_ = std::make_unique<Projector>(dynamics_);
      projector_->start(s);
    }
    projector_->positions(s);
    projector_->velocities(s);
  }
  a.resize(dynamics_.sizes().nv);
  lambda.resize(dynamics_.sizes().nc());
  zdot_.resize(dynamics_.sizes().nz);
  dynamics_.accelerations(s, a, lambda, zdot_);
}

void EventDriven::event_log(std::vector<StepEvent>& out) const {
  out.clear();
  // "bounce: touches"
  for (const std::string& name : fired_.names) {
    const std::size_t colon = name.find(": ");
    out.push_back({name.substr(0, colon), colon == name.npos ? "" : name.substr(colon + 2), ""});
  }
  for (const ContactChange& c : result_.changes)
    out.push_back({c.friction >= 0 ? dynamics_.system().frictions[static_cast<std::size_t>(c.friction)].name
                                   : dynamics_.system().slot_name(c.slot),
                   c.what, c.detail});
}

void EventDriven::exchange(Archive& archive) {
  // After refresh() everything is in the state, the contact state and the next step.
  State s = state();
  archive.value(s.t);
  archive.vector(s.q);
  archive.vector(s.v);
  archive.vector(s.z);
  archive.vector(W_);
  double h = inner_->next_step();
  archive.value(h);
  archive.value(h_);
  archive.count(impacts_);
  choice_.exchange(archive);
  counts_.exchange(archive);
  const int slots = dynamics_.contacts().slots();
  std::vector<ActiveContact> active;
  std::vector<Instant::Series> series;
  for (int slot = 0; slot < slots; ++slot) {
    ActiveContact c;
    double mode = 0;
    for (const ActiveContact& a : dynamics_.active())
      if (a.slot == slot) {
        c = a;
        mode = static_cast<double>(a.mode);
      }
    archive.value(mode);
    archive.value(c.direction[0]);
    archive.value(c.direction[1]);
    double end = std::numeric_limits<double>::lowest();
    for (const Instant::Series& x : instant_.series())
      if (x.slot == slot) end = x.end;
    archive.value(end);
    if (end > std::numeric_limits<double>::lowest()) series.push_back({slot, end});
    Branch& branch = dynamics_.contacts().branch(slot);
    archive.count(branch.feature);
    archive.value(branch.s1);
    archive.value(branch.s2);
    if (mode != 0) {
      c.slot = slot;
      c.mode = static_cast<Mode>(static_cast<int>(mode));
      active.push_back(c);
    }
  }
  std::vector<ActiveFriction> frictions;
  for (int i = 0; i < dynamics_.frictions().size(); ++i) {
    ActiveFriction f;
    double mode = 0;
    for (const ActiveFriction& a : dynamics_.active_frictions())
      if (a.index == i) {
        f = a;
        mode = static_cast<double>(a.mode);
      }
    archive.value(mode);
    archive.value(f.direction[0]);
    archive.value(f.direction[1]);
    f.index = i;
    f.mode = static_cast<Mode>(static_cast<int>(mode));
    if (mode != 0) frictions.push_back(f);
  }
  dynamics_.compliant().exchange(archive);
  certificate_.exchange(archive);
  instant_.exchange(archive, slots);
  archive.count(stalled_);
  archive.value(last_event_);
  inner_->exchange_watch(archive);
  if (archive.counting()) return;
  // Who writes goes on exactly as who reads: searches along contours start from what they found last, and look once
  // more in both.
  dynamics_.set_active(active, s, frictions);
  instant_.set_series(std::move(series));
  begin_phase(s, h);
  pending_ = false;
  stored_ = dynamics_.stored_energy(s);
  W_certified_ = W_;
  keep_branches();
}

std::size_t EventDriven::memory_size() {
  Archive archive = Archive::counter();
  exchange(archive);
  return archive.position();
}

void EventDriven::save(std::span<double> memory) {
  Archive archive = Archive::writer(memory);
  exchange(archive);
}

void EventDriven::restore(std::span<const double> memory) {
  Archive archive = Archive::reader(memory);
  exchange(archive);
}

}  // namespace clatter::contact
