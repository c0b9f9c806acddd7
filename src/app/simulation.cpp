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
#include "base/interrupt.hpp"
#include "engine/deformation_watch.hpp"
#include "engine/found_start.hpp"
#include "integrate/diagnosis.hpp"
#include "model/quantities.hpp"
#include "record/format.hpp"
#include "solve/linear_solver.hpp"

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

// Of methods with explicit steps of fixed length: the largest product of step and frequency of a vibration that they do
// not make grow.
std::optional<double> explicit_limit(const Simulate& simulate) {
  if (simulate.method == Method::time_stepping)
    return simulate.time_stepping == TimeStepping::moreau ? std::optional(2.0) : std::nullopt;
  switch (scheme_of(simulate)) {
    case Scheme::rk4:
      return 2 * std::numbers::sqrt2;
    case Scheme::symplectic_euler:
    case Scheme::verlet:
      return 2;
    case Scheme::euler:
      return 0;
    default:
      return std::nullopt;
  }
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

double strain_energy(Engine& engine, const State& s) {
  engine.observe(s, nullptr);
  double sum = 0;
  for (const FlexibleIndex& f : engine.system().flexible)
    sum += engine.links().blocks[static_cast<std::size_t>(f.block)]->elastic_energy();
  return sum;
}

// Flexible bodies are moved before they are bent, also where `keep` holds something.
InitialSettings initial_settings(Engine& engine) {
  const System& system = engine.system();
  const InitialConditions& initial = system.model.initial;
  InitialSettings settings;
  settings.adjust_positions = initial.adjust_positions;
  settings.adjust_velocities = initial.adjust_velocities;
  engine.freeze(kept_velocities(system));
  if (system.flexible.empty()) return settings;
  settings.ways = {[&engine] { engine.weigh(Deforming::never); }, [&engine] { engine.weigh(Deforming::by_stiffness); }};
  settings.strain_energy = [&engine](const State& s) { return strain_energy(engine, s); };
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

bool has_trees(const System& system) {
  return std::any_of(system.joints.begin(), system.joints.end(),
                     [](const System::JointIndex& j) { return j.link >= 0; });
}

Setting compiled(Model model) {
  Setting s;
  s.system = System::compile(std::move(model));
  s.engine = std::make_unique<Engine>(s.system);
  s.start = s.system->initial;
  s.start.t = s.system->model.simulate.start;
  s.written = s.start;
  return s;
}

// From a quarter turn on products of axes lead away from the joint's position: what is that far off is a mistake.
constexpr double kWrongWay = (1 - 1e-9) * std::numbers::pi / 2;

void find_start(Setting& s) {
  const Model& m = s.system->model;
  refuse_misaligned(*s.engine, s.written, kWrongWay);
  try {
    s.initial = make_consistent(*s.engine, s.start, initial_settings(*s.engine));
    s.engine->freeze({});
    s.engine->weigh(Deforming::by_mass);
  } catch (const SolveError& error) {
    s.engine->freeze({});
    s.engine->weigh(Deforming::by_mass);
    refuse_misaligned(*s.engine, s.written, kFarOff);
    throw InputError(fmt::format("{}: the model has no consistent start: {}", m.file, error.message()), error.advice());
  }
  // Half a turn off the products of axes vanish as well.
  refuse_misaligned(*s.engine, s.start, std::numbers::pi / 2);
}

// A start that was found in other coordinates: what rounding changed on the way, no more.
void settle(Setting& s) {
  InitialSettings settings;
  settings.adjust_positions = s.system->model.initial.adjust_positions;
  settings.adjust_velocities = s.system->model.initial.adjust_velocities;
  settings.tolerance *= 10;
  s.initial = make_consistent(*s.engine, s.start, settings);
}

// By way of absolute coordinates, where trees cannot begin as the model states or loops must be closed.
void find_start_of_trees(Prepared& p) {
  p.absolute = std::make_unique<Setting>(compiled(in_absolute_coordinates(p.system->model)));
  const bool fits = same_start(*p.engine, p.start, *p.absolute->engine, p.absolute->start);
  if (fits && p.system->sizes.nc() == 0) {
    p.absolute.reset();
    find_start(p);
    return;
  }
  if (fits && !p.system->model.initial.keep.empty()) {  // of joints `keep` holds the coordinates, where they have some
    find_start(p);
    const State written = p.absolute->written;
    *p.absolute = compiled(in_absolute_coordinates(starting_at(*p.engine, p.start)));
    p.absolute->written = written;
    return;
  }
  find_start(*p.absolute);
  const InitialReport& found = p.absolute->initial;
  if (!fits || found.position_correction > 0 || found.velocity_correction > 0) {
    Model model = starting_at(*p.absolute->engine, p.absolute->start);
    model.joint_coordinates = p.system->model.joint_coordinates;
    for (std::size_t j = 0; j < model.joints.size(); ++j) model.joints[j].in_tree = p.system->model.joints[j].in_tree;
    static_cast<Setting&>(p) = compiled(std::move(model));
  }
  settle(p);
}

// Shapes that overlap are moved apart, unless that moves what is to be kept.
void clear_start(Prepared& p) {
  const State given = p.start;
  p.overlap = p.motion->clear_start(p.start);
  if (p.overlap.places == 0) return;
  const std::vector<bool> kept = kept_velocities(*p.system);
  Vec moved = Vec::Zero(p.system->sizes.nv);
  p.engine->minus(p.start.q, given.q, moved);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (!kept[i] || std::abs(moved[static_cast<Eigen::Index>(i)]) <= 1e-3 * p.overlap.moved) continue;
    const Model& m = p.system->model;
    throw InputError(
        m.texts, p.overlap.source,
        fmt::format("contact `{}`: shapes overlap by {:.3g} m at the start", p.overlap.contact, p.overlap.depth),
        "move them apart: what would be moved is in `initial: keep`");
  }
}

// Sizes of all that the stored energy is the sum of, at most, at the state the engine has seen last: kinetic and
// elastic energy are what is left of it without the weights.
double energy_summands(const Engine& engine, double stored) {
  const System& system = engine.system();
  double weights = 0;
  for (std::size_t i = 0; i < system.model.bodies.size(); ++i)
    weights +=
        std::abs(system.model.bodies[i].mass * system.model.gravity.dot(engine.frame_state(system.bodies[i].frame).p));
  const double speed = system.length_scale / system.time_scale;
  return std::abs(stored) + 2 * weights + system.mass_scale * speed * speed;
}

// Steps that stability or small fast vibrations kept short: who took over, or what to do about it. `steps`: of the
// whole run, also of one that was continued.
void tell_stiffness(const SchemeChoice& choice, Dynamics& dynamics, bool automatic, std::uint64_t steps,
                    Summary& summary) {
  constexpr std::uint64_t kMany = 1000, kVeryMany = 20000;
  const auto stiff = static_cast<std::uint64_t>(choice.stiff_steps()),
             fast = static_cast<std::uint64_t>(choice.fast_steps()),
             implicit = static_cast<std::uint64_t>(choice.implicit_steps());
  if (choice.fastest() < 0) return;
  const std::string from = number(choice.fast_since(), 4), fastest = dynamics.velocity_name(choice.fastest());
  if (automatic && 2 * implicit > fast && implicit > 0) {
    summary.notes.push_back(fmt::format("the motion is stiff from {} s on (fastest: {}): there radau5 took {} steps",
                                        from, fastest, whole(implicit)));
  } else if (!automatic && stiff >= kMany && 2 * stiff > steps) {
    summary.warnings.push_back(
        fmt::format("stiff: {} of {} steps were kept short by the stability of dopri5, not by the tolerance, from {} s "
                    "on; the fastest motion is that of {}. Use `radau5`, whose steps are not limited by it",
                    whole(stiff), whole(steps), from, fastest));
  } else if (fast >= kVeryMany && 2 * fast > steps) {
    summary.warnings.push_back(fmt::format(
        "stiff: {} of {} steps follow small fast vibrations from {} s on, most of all of {}. Where these are "
        "of no interest use `radau5` with a larger `tolerance`, or `generalized-alpha`, which damps them",
        whole(fast), whole(steps), from, fastest));
  }
}

constexpr const char* kNotFiniteAdvice =
    "look at the forces just before: lower stiffnesses, masses or velocities that are out of proportion, or take a "
    "smaller step";

// "ball.velocity.x" of the first number of a row that is not finite; empty when all are.
std::string not_finite(const Observer& observer, std::span<const double> row) {
  double sum = 0;
  for (const double x : row) sum += x * 0.0;
  if (sum == 0) return {};
  std::size_t column = 0;
  for (const QuantityInfo& q : observer.quantities())
    for (int k = 0; k < q.width(); ++k, ++column)
      if (!std::isfinite(row[column]))
        return q.components.empty() ? q.name : q.name + "." + q.components[static_cast<std::size_t>(k)];
  return {};
}

// What the mathematics below throws knows nothing of bodies and times: here it gets both. The elements are those whose
// velocity is not finite, or the fastest by the model's own scales.
SolveError diagnosis_of(const std::exception& error, Stepper& stepper) {
  const State& s = stepper.state();
  Dynamics& dynamics = stepper.dynamics();
  std::vector<std::string> elements;
  if (const std::string broken = first_not_finite(dynamics, s); !broken.empty()) {
    elements.push_back(broken);
  } else if (s.v.size() > 0) {
    Vec u(dynamics.sizes().nv), v = u, z(dynamics.sizes().nz);
    dynamics.scales(u, v, z);
    elements = worst_velocities(dynamics, s.v, v).names;
  }
  if (const auto* singular = dynamic_cast<const SingularMatrix*>(&error); singular != nullptr)
    return {"singular-matrix", s.t, elements, fmt::format("equations of the motion have no solution: {}", error.what()),
            kNotFiniteAdvice};
  if (dynamic_cast<const std::domain_error*>(&error) != nullptr)
    return {"not-finite", s.t, elements, fmt::format("the motion grows beyond what numbers can hold: {}", error.what()),
            kNotFiniteAdvice};
  return {"internal-error", s.t, elements, error.what(),
          "this is a defect in Clatter; please report it with the model"};
}

}  // namespace

std::vector<std::string> Prepared::redundant() const {
  std::vector<std::string> names;
  for (const RedundantRow& row : rank.redundant) names.push_back(told().engine->row_name(row.row));
  return names;
}

Prepared prepare(Model model) {
  Prepared p;
  static_cast<Setting&>(p) = compiled(std::move(model));
  if (has_trees(*p.system))
    find_start_of_trees(p);
  else
    find_start(p);
  p.rank = rank_at(*p.told().engine, p.told().start);
  const Model& m = p.system->model;
  p.motion = std::make_unique<contact::Motion>(p.system, *p.engine, m.simulate, run_settings(m).integrator);
  clear_start(p);
  p.extra = p.motion->quantities();
  for (ExtraQuantity& q : stress_quantities(*p.system, *p.engine)) p.extra.push_back(std::move(q));
  return p;
}

RunSettings run_settings(const Model& model) {
  const Simulate& s = model.simulate;
  RunSettings settings;
  settings.integrator.scheme = scheme_of(s);
  settings.integrator.automatic = chosen_by_program(s);
  settings.integrator.step = s.step;
  settings.integrator.max_step = s.max_step;
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
  std::set<std::string> known_names;
  for (const QuantityInfo& q : all) known_names.insert(q.name);
  for (const ExtraQuantity& q : prepared.extra)
    if (!known_names.contains(q.info.name)) all.push_back(q.info);
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
  // Before anything is taken from a row: no sum, no check and no result is ever made of what is not a number.
  const auto refuse_not_finite = [&](const Sample& sample, std::span<const double> row) {
    const std::string name = not_finite(observer, row);
    const bool energy = std::isfinite(sample.stored) && std::isfinite(sample.remainder) && sample.W.allFinite();
    if (name.empty() && energy) return;
    throw SolveError("not-finite", sample.s.t, {name.empty() ? "energy" : name},
                     fmt::format("{} is not a finite number any more", name.empty() ? "the energy ledger" : name),
                     kNotFiniteAdvice);
  };
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
  DeformationWatch deformations(system, explicit_limit(model.simulate) ? model.simulate.step : 0,
                                explicit_limit(model.simulate).value_or(0));
  RunCallbacks callbacks;
  Run* self = nullptr;
  callbacks.on_output = [&](const Sample& sample) {
    energy_at_start = self->summary().stored_at_start;
    motion.observe(sample.s, sample.lambda, sample.W);
    const State& s = motion.engine_state(sample.s);
    const double beyond = motion.has_contacts() ? sample.stored - engine.stored_energy(s) : 0;
    observer.evaluate(engine, s, sample.a, motion.engine_lambda(sample.lambda), sample.W, energy_at_start, values,
                      beyond);
    refuse_not_finite(sample, values);
    take_in(sample.s.t, values);
    for (std::string& warning : deformations.look(engine, sample.s.t)) warn(std::move(warning));
    if (!system.flexible.empty())
      for (std::string& warning : deformations.look_at_loads(engine, s, sample.a, motion.engine_lambda(sample.lambda)))
        warn(std::move(warning));
    summary.ledger.summands = std::max(
        summary.ledger.summands, energy_summands(engine, std::max(std::abs(sample.stored), sample.W.cwiseAbs().sum())));
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
  // Moments at which the laws of rigid contact left a choice, or would have brought energy in.
  callbacks.on_event = [&](const State& s, const std::vector<StepEvent>& events) {
    for (const StepEvent& event : events) {
      if (request.sink != nullptr && self->recorded()) request.sink->event(s.t, event);
      const char* name = event.what == "impact without collision" ? "painleve"
                         : event.what == "not unique"             ? "not-unique"
                         : event.what == "energy gain"            ? "energy-gain"
                                                                  : nullptr;
      if (name != nullptr)
        warn(fmt::format("{}: contact {} at t = {} s: {}", name, event.element, number(s.t, 6), event.detail));
    }
  };
  callbacks.on_singular = [&](double t, const std::vector<std::string>& elements) {
    if (request.sink != nullptr) request.sink->event(t, {listed(elements), "singular position", ""});
    warn(
        fmt::format("singular-position: the mechanism passes a singular position at t = {} s, where {} lose their "
                    "independence; of the motions that go on from there the one that continues the velocities is taken",
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
      if (prepared.overlap.places > 0) warn(prepared.overlap.text());
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
  } catch (const Interrupted&) {  // before the first step
  } catch (const InputError&) {
    throw;
  } catch (const record::ResultError&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    outcome.failure = diagnosis_of(error, motion.stepper());
  }
  summary.wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  const clatter::RunSummary& counts = run.summary();
  summary.end = run.state().t;
  summary.steps = static_cast<std::uint64_t>(counts.steps - steps_before);
  summary.rejected = static_cast<std::uint64_t>(counts.rejected - rejected_before);
  summary.events = static_cast<std::uint64_t>(counts.events - events_before);
  if (const SchemeChoice* choice = motion.stepper().scheme_choice())
    tell_stiffness(*choice, motion.dynamics(), chosen_by_program(model.simulate),
                   static_cast<std::uint64_t>(counts.steps), summary);
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
    summary.contact.unsolved = motion.unsolved();
    summary.contact.passages = motion.passages();
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
