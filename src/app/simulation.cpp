#include "app/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numbers>
#include <set>

#include "app/changes.hpp"
#include "app/flexible_mesh.hpp"
#include "app/misaligned.hpp"
#include "app/text.hpp"
#include "contact/overlap.hpp"
#include "engine/deformation_watch.hpp"
#include "model/quantities.hpp"

namespace clatter::app {

namespace {

Scheme scheme_of(const Simulate& simulate) {
  const bool family = simulate.method == Method::event_driven || simulate.method == Method::smooth;
  switch (family ? simulate.scheme : simulate.method) {
    case Method::rk4:
      return Scheme::rk4;
    case Method::dopri5:
      return Scheme::dopri5;
    case Method::radau5:
      return Scheme::radau5;
    case Method::generalized_alpha:
    case Method::newmark:
    case Method::hht:
      return Scheme::generalized_alpha;
    case Method::euler:
      return Scheme::euler;
    case Method::symplectic_euler:
      return Scheme::symplectic_euler;
    case Method::verlet:
      return Scheme::verlet;
    case Method::bdf:
      return Scheme::bdf;
    case Method::adams:
      return Scheme::adams;
    case Method::event_driven:
    case Method::time_stepping:
    case Method::smooth:
      break;
  }
  return Scheme::dopri5;
}

std::optional<AlphaWeights> weights_of(const Simulate& simulate) {
  const bool family = simulate.method == Method::event_driven || simulate.method == Method::smooth;
  switch (family ? simulate.scheme : simulate.method) {
    case Method::newmark:
      return AlphaWeights::newmark(simulate.beta, simulate.gamma);
    case Method::hht:
      return AlphaWeights::hilber_hughes_taylor(simulate.hht_alpha);
    default:
      return std::nullopt;
  }
}

// Velocities that `initial: keep:` holds: all that move a kept body, or the components of a kept joint.
std::vector<bool> kept_velocities(const System& system) {
  const Model& model = system.model;
  std::vector<bool> kept(model.initial.keep.empty() ? 0 : static_cast<std::size_t>(system.sizes.nv), false);
  const auto keep_body = [&](int body) {
    if (body < 0) return;
    const int link = system.bodies[static_cast<std::size_t>(body)].link;
    if (link < 0) return;
    for (const int v : system.tree.path[static_cast<std::size_t>(link)]) kept[static_cast<std::size_t>(v)] = true;
    if (link < system.tree.rigid_links) return;
    const TreeRange& block =
        system.tree.trees[static_cast<std::size_t>(system.tree.links[static_cast<std::size_t>(link)].tree)];
    for (int v = block.v0; v < block.v1; ++v) kept[static_cast<std::size_t>(v)] = true;
  };
  for (const std::string& name : model.initial.keep) {
    for (std::size_t i = 0; i < model.bodies.size(); ++i) {
      if (model.bodies[i].name == name) keep_body(static_cast<int>(i));
    }
    for (const Joint& joint : model.joints) {
      if (joint.name != name) continue;
      bool in_tree = false;
      for (std::size_t v = 0; v < kept.size(); ++v) {
        if (system.velocity_names[v].starts_with(name + ".")) kept[v] = in_tree = true;
      }
      if (in_tree) continue;
      keep_body(joint.a.body);
      keep_body(joint.b.body);
    }
  }
  return kept;
}

// Flexible bodies are moved before they are bent; where `keep` holds something, elastic coordinates are held first too.
InitialSettings initial_settings(Engine& engine) {
  const System& system = engine.system();
  const InitialConditions& initial = system.model.initial;
  InitialSettings settings;
  settings.adjust_positions = initial.adjust_positions;
  settings.adjust_velocities = initial.adjust_velocities;
  const std::vector<bool> kept = kept_velocities(system);
  if (!kept.empty()) {
    std::vector<bool> undeformed = kept;
    for (const FlexibleIndex& f : system.flexible)
      for (int k = 0; k < f.states && !is_beam(system.model.bodies[static_cast<std::size_t>(f.body)].kind); ++k)
        undeformed[static_cast<std::size_t>(f.v + k)] = true;
    settings.ways = {[&engine, undeformed] { engine.freeze(undeformed); }, [&engine, kept] { engine.freeze(kept); }};
  } else if (!system.flexible.empty()) {
    settings.ways = {[&engine] { engine.weigh(Deforming::never); },
                     [&engine] { engine.weigh(Deforming::by_stiffness); }};
  }
  return settings;
}

RankReport rank_at(Engine& engine, const State& s) {
  if (engine.sizes().nc() == 0) return {};
  // Columns weighted by the coordinates' scales, so that lengths and angles mix without regard to units.
  Vec u_scale = Vec::Zero(engine.sizes().nv), v_scale = u_scale, z_scale = Vec::Zero(engine.sizes().nz);
  engine.scales(u_scale, v_scale, z_scale);
  std::vector<double> mass(static_cast<std::size_t>(u_scale.size()));
  for (std::size_t i = 0; i < mass.size(); ++i) {
    const double u = u_scale[static_cast<Eigen::Index>(i)];
    mass[i] = 1 / (u * u);
  }
  return dependent_rows(engine.constraint_matrix(s), mass);
}

// Beyond this a joint's products of axes may lead its assembly the wrong way.
constexpr double kFarOff = std::numbers::pi / 4;

void refuse_misaligned(Engine& engine, const State& s, double least) {
  const std::vector<Misaligned> joints = misaligned_joints(engine, s, least);
  if (joints.empty()) return;
  const Model& model = engine.system().model;
  throw InputError(model.texts, model.joints[static_cast<std::size_t>(joints.front().joint)].source,
                   fmt::format("the model cannot be assembled: {}", joints.front().what),
                   "turn one of the two frames or the body so that they point the same way");
}

}  // namespace

std::vector<std::string> Prepared::redundant() const {
  std::vector<std::string> names;
  for (const RedundantRow& row : rank.redundant) names.push_back(engine->row_name(row.row));
  return names;
}

Prepared prepare(Model model) {
  Prepared p;
  p.system = System::compile(std::move(model));
  p.engine = std::make_unique<Engine>(p.system);
  p.start = p.system->initial;
  const Model& m = p.system->model;
  p.start.t = m.simulate.start;
  try {
    p.initial = make_consistent(*p.engine, p.start, initial_settings(*p.engine));
    p.engine->freeze({});
    p.engine->weigh(Deforming::by_mass);
  } catch (const SolveError& error) {
    p.engine->freeze({});
    p.engine->weigh(Deforming::by_mass);
    refuse_misaligned(*p.engine, p.system->initial, kFarOff);
    throw InputError(fmt::format("{}: the model has no consistent start: {}", m.file, error.message()), error.advice());
  }
  // Half a turn off the products of axes vanish as well.
  refuse_misaligned(*p.engine, p.start, std::numbers::pi / 2);
  p.rank = rank_at(*p.engine, p.start);
  p.motion = std::make_unique<contact::Motion>(p.system, *p.engine, m.simulate, run_settings(m).integrator);
  if (p.motion->has_contacts() && p.motion->crowd() == nullptr)  // crowds see for themselves
    contact::refuse_overlap(p.motion->shared_contacts(), *p.engine, p.start);
  p.extra = p.motion->quantities();
  for (ExtraQuantity& q : stress_quantities(*p.system, *p.engine)) p.extra.push_back(std::move(q));
  return p;
}

RunSettings run_settings(const Model& model) {
  const Simulate& s = model.simulate;
  RunSettings settings;
  settings.integrator.scheme = scheme_of(s);
  settings.integrator.step = s.step;
  settings.integrator.max_step = s.max_step;
  // At rest nothing but the looks at the contacts' forces tells when loads make them slip or lift.
  constexpr double kLooks = 10;
  if (s.method == Method::event_driven && s.max_step == 0) settings.integrator.max_step = kLooks * s.output_step;
  settings.integrator.relative_tolerance = s.relative_tolerance;
  settings.integrator.absolute_tolerance = s.absolute_tolerance;
  settings.integrator.rho_inf = s.rho_inf;
  settings.integrator.alpha_weights = weights_of(s);
  settings.integrator.max_order = s.max_order;
  settings.integrator.fixed_point = s.fixed_point;
  settings.integrator.project = s.project;
  settings.end = s.end;
  settings.output_step = s.output_step;
  settings.checkpoint_interval = s.checkpoint_interval;
  return settings;
}

std::vector<std::string> recorded_quantities(const Prepared& prepared) {
  const System& system = *prepared.system;
  const Model& model = system.model;
  std::vector<QuantityInfo> all = all_quantities(system);
  const std::size_t own = all.size();
  for (const ExtraQuantity& q : prepared.extra) all.push_back(q.info);
  std::vector<bool> chosen(all.size(), model.outputs.empty());

  const auto matches = [](const QuantityInfo& q, const std::string& pattern) {
    if (glob_match(pattern, q.name)) return true;
    return std::any_of(q.components.begin(), q.components.end(),
                       [&](const std::string& c) { return glob_match(pattern, q.name + "." + c); });
  };
  const auto choose = [&](const std::string& pattern, const Source& source) {
    bool found = false;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (matches(all[i], pattern)) chosen[i] = found = true;
    }
    if (found) return;
    std::vector<std::string> known;
    for (const QuantityInfo& q : all) known.push_back(q.name);
    const UnknownQuantity unknown = unknown_quantity(pattern, known);
    throw InputError(model.texts, source, unknown.message, unknown.hint);
  };
  // Without a wish, single points of a contact, crowds of contacts and stresses, which need the whole mesh, are left
  // out. Of crowds the sums over the pairs of an entry are taken.
  const bool many = model.contacts.size() > most_pairs_shown;
  std::set<std::string> entries;
  if (prepared.motion->has_contacts())
    for (const contact::ContactEntry& entry : prepared.motion->contacts().several()) entries.insert(entry.name);
  if (model.outputs.empty())
    for (std::size_t i = own; i < all.size(); ++i)
      chosen[i] = all[i].name.find('[') == std::string::npos && !all[i].name.ends_with(".von_mises") &&
                  (all[i].name.starts_with("energy.") ||
                   entries.contains(all[i].name.substr(0, all[i].name.rfind('.'))) == many);
  for (const Output& output : model.outputs) choose(output.quantity, output.source);
  for (const Check& check : model.checks) choose(check.quantity, check.source);
  std::set<std::string> always{"energy.kinetic", "energy.potential", "energy.total"};
  for (const Body& body : model.bodies) {
    always.insert(body.name + ".position");
    always.insert(body.name + ".orientation");
    if (deforms(body.kind)) always.insert(body.name + ".eta");
  }
  // Where contacts press and how, point by point where that is not a crowd.
  if (prepared.motion->has_contacts() && !many) {
    const contact::ContactSystem& contacts = prepared.motion->contacts();
    const bool each = contacts.slots() <= static_cast<int>(most_pairs_shown);
    for (const contact::PairInstance& pair : contacts.pairs) {
      for (int k = 0; k < (each ? pair.slots : 1); ++k) {
        const std::string name = each ? contacts.slot_name(pair.slot0 + k) : pair.name;
        for (const char* quantity : {".point", ".force", ".state"}) always.insert(name + quantity);
      }
    }
  }
  if (many)
    for (const std::string& entry : entries)
      for (const char* quantity : {".point", ".force", ".state"}) always.insert(entry + quantity);
  if (prepared.motion->crowd() != nullptr)
    for (const std::string& entry : prepared.motion->contacts().groups)
      for (const char* quantity : {".point", ".force"}) always.insert(entry + quantity);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (chosen[i] || always.contains(all[i].name)) names.push_back(all[i].name);
  }
  return names;
}

Observer recorder(const Prepared& prepared) {
  return Observer(prepared.system, recorded_quantities(prepared), prepared.extra);
}

int column_of(const Observer& observer, const std::string& quantity) {
  int column = 0;
  std::vector<std::string> known;
  for (const QuantityInfo& q : observer.quantities()) {
    if (q.components.empty() && q.width() == 1) {
      if (q.name == quantity) return column;
      known.push_back(q.name);
    }
    for (std::size_t i = 0; i < q.components.size(); ++i) {
      const std::string name = q.name + "." + q.components[i];
      if (name == quantity) return column + static_cast<int>(i);
      known.push_back(name);
    }
    column += q.width();
  }
  const UnknownQuantity unknown = unknown_quantity(quantity, known);
  throw InputError(unknown.message, unknown.hint);
}

CheckRecorder::CheckRecorder(const std::vector<Check>& checks, const Observer& observer)
    : checks_(checks), x_(checks.size()) {
  for (const Check& check : checks) {
    try {
      columns_.push_back(column_of(observer, check.quantity));
    } catch (const InputError& error) {
      const Diagnostic& d = error.diagnostics().front();
      throw InputError(check.source, d.message, d.hint);
    }
  }
}

void CheckRecorder::add(double t, std::span<const double> values) {
  if (checks_.empty()) return;
  t_.push_back(t);
  for (std::size_t i = 0; i < columns_.size(); ++i) x_[i].push_back(values[static_cast<std::size_t>(columns_[i])]);
}

std::vector<CheckResult> CheckRecorder::results() const {
  std::vector<CheckResult> results;
  for (std::size_t i = 0; i < checks_.size(); ++i) results.push_back(evaluate_check(checks_[i], t_, x_[i]));
  return results;
}

Outcome simulate_prepared(Prepared& prepared, const Observer& observer, const RunRequest& request) {
  const System& system = *prepared.system;
  const Model& model = system.model;
  Engine& engine = *prepared.engine;
  Outcome outcome;
  Summary& summary = outcome.summary;
  summary.title = model.title;
  summary.bodies = model.bodies.size();
  summary.coordinates = static_cast<std::uint64_t>(system.sizes.nv);
  summary.constraints = static_cast<std::uint64_t>(system.sizes.nc());
  summary.degrees_of_freedom = static_cast<std::uint64_t>(prepared.degrees_of_freedom());
  summary.method = method_name(model.simulate.method);
  contact::Motion& motion = *prepared.motion;
  summary.ledger.names = motion.channel_names();

  CheckRecorder checks(model.checks, observer);
  const auto kinetic_column = static_cast<std::size_t>(column_of(observer, "energy.kinetic"));
  std::vector<double> values(static_cast<std::size_t>(observer.width()));
  std::vector<double> ledger_row(summary.ledger.names.size() + 2);
  const auto take_in = [&](double t, std::span<const double> row) {
    checks.add(t, row);
    summary.ledger.kinetic = std::max(summary.ledger.kinetic, row[kinetic_column]);
  };

  constexpr std::size_t kMostWarnings = 5;
  const auto warn = [&](std::string text) {
    if (summary.warnings.size() > kMostWarnings) return;
    summary.warnings.push_back(summary.warnings.size() == kMostWarnings
                                   ? "there were more moments like these; the list of events has them all"
                                   : std::move(text));
  };
  double energy_at_start = 0;
  State last = prepared.start;
  DeformationWatch deformations(system);
  RunCallbacks callbacks;
  Run* self = nullptr;
  callbacks.on_output = [&](const Sample& sample) {
    energy_at_start = self->summary().stored_at_start;
    motion.observe(sample.s, sample.lambda, sample.W);
    const State& s = motion.engine_state(sample.s);
    const double beyond = motion.has_contacts() ? sample.stored - engine.stored_energy(s) : 0;
    observer.evaluate(engine, s, sample.a, motion.engine_lambda(sample.lambda), sample.W, energy_at_start, values,
                      beyond);
    take_in(sample.s.t, values);
    for (std::string& warning : deformations.look(engine, sample.s.t)) warn(std::move(warning));
    summary.ledger.start = energy_at_start;
    summary.ledger.end = sample.stored;
    summary.ledger.works.assign(sample.W.data(), sample.W.data() + sample.W.size());
    last = s;
    if (request.sink == nullptr) return;
    request.sink->sample(sample.s.t, values);
    ledger_row.front() = sample.stored;
    std::copy(sample.W.data(), sample.W.data() + sample.W.size(), ledger_row.begin() + 1);
    ledger_row.back() = sample.remainder;
    request.sink->ledger(sample.s.t, ledger_row);
  };
  if (request.sink != nullptr)
    callbacks.on_checkpoint = [&](double t, std::span<const double> memory) { request.sink->checkpoint(t, memory); };
  // Moments at which the laws of rigid contact left a choice.
  callbacks.on_event = [&](const State& s, const std::vector<StepEvent>& events) {
    for (const StepEvent& event : events) {
      if (request.sink != nullptr) request.sink->event(s.t, event);
      const bool painleve = event.what == "impact without collision";
      if (painleve || event.what == "not unique")
        warn(fmt::format("{}: contact {} at t = {} s: {}", painleve ? "painleve" : "not-unique", event.element,
                         number(s.t, 6), event.detail));
    }
  };
  callbacks.on_singular = [&](double t, const std::vector<std::string>& elements) {
    if (request.sink != nullptr) request.sink->event(t, {listed(elements), "singular position", ""});
    warn(
        fmt::format("singular-position: the mechanism passes a singular position at t = {} s, where {} lose their "
                    "independence; which way it goes on from there may be arbitrary",
                    number(t, 6), listed(elements)));
  };
  if (system.flexible.empty())
    callbacks.on_progress = request.progress;
  else
    callbacks.on_progress = [&](const clatter::Progress& p) {
      deformations.after_step(engine, motion.engine_state(self->state()));
      if (request.progress) request.progress(p);
    };
  callbacks.stop = request.stop;

  Run run(motion.stepper(), run_settings(model), std::move(callbacks));
  self = &run;
  const auto began = std::chrono::steady_clock::now();
  long steps_before = 0, rejected_before = 0, events_before = 0;
  try {
    if (request.memory.empty()) {
      run.start(prepared.start);
    } else {
      run.restore(prepared.start, request.memory);
      if (request.earlier_samples) request.earlier_samples(take_in);
      steps_before = run.summary().steps;
      rejected_before = run.summary().rejected;
      events_before = run.summary().events;
    }
    summary.start = run.state().t;
    outcome.finished = run.go().finished;
  } catch (const SolveError& error) {
    outcome.failure = error;
  }
  summary.wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  const clatter::RunSummary& counts = run.summary();
  summary.end = run.state().t;
  summary.steps = static_cast<std::uint64_t>(counts.steps - steps_before);
  summary.rejected = static_cast<std::uint64_t>(counts.rejected - rejected_before);
  summary.events = static_cast<std::uint64_t>(counts.events - events_before);
  if (system.sizes.nc() > 0) {
    summary.constrained = true;
    Projector projector(engine);
    projector.start(prepared.start);
    if (system.sizes.nh > 0) summary.position_residual = projector.position_violation(last);
    summary.velocity_residual = projector.velocity_violation(last);
  }
  if (motion.has_contacts()) {
    const contact::ContactSystem& contacts = motion.contacts();
    summary.contact = {contacts.pairs.size(), static_cast<std::uint64_t>(contacts.slots()),
                       contacts.any_rigid,    motion.counts(),
                       motion.certificate(),  contacts.length_scale};
    if (const contact::CrowdStepper* crowd = motion.crowd()) {
      summary.contact.rigid = summary.contact.crowd = true;
      summary.contact.contacts = contacts.groups.size();
      summary.contact.points = static_cast<std::uint64_t>(crowd->touching());
      summary.contact.residual = crowd->worst_residual();
    }
  }
  summary.checks = checks.results();
  return outcome;
}

}  // namespace clatter::app
