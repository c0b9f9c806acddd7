#include "study/start.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.hpp"
#include "engine/found_start.hpp"
#include "study/misaligned.hpp"

namespace clatter::study {

namespace {

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

// From a quarter turn on products of axes lead away from the joint's position: what is that far off is a mistake.
constexpr double kWrongWay = (1 - 1e-9) * std::numbers::pi / 2;

void find_start_here(Setting& s) {
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
    find_start_here(p);
    return;
  }
  if (fits && !p.system->model.initial.keep.empty()) {  // of joints `keep` holds the coordinates, where they have some
    find_start_here(p);
    const State written = p.absolute->written;
    *p.absolute = compiled(in_absolute_coordinates(starting_at(*p.engine, p.start)));
    p.absolute->written = written;
    return;
  }
  find_start_here(*p.absolute);
  const InitialReport& found = p.absolute->initial;
  if (!fits || found.position_correction > 0 || found.velocity_correction > 0) {
    Model model = starting_at(*p.absolute->engine, p.absolute->start);
    model.joint_coordinates = p.system->model.joint_coordinates;
    for (std::size_t j = 0; j < model.joints.size(); ++j) model.joints[j].in_tree = p.system->model.joints[j].in_tree;
    static_cast<Setting&>(p) = compiled(std::move(model));
  }
  settle(p);
}

}  // namespace

Setting compiled(Model model) {
  Setting s;
  s.system = System::compile(std::move(model));
  s.engine = std::make_unique<Engine>(s.system);
  s.start = s.system->initial;
  s.start.t = s.system->model.simulate.start;
  s.written = s.start;
  return s;
}

void find_start(Prepared& p) {
  if (has_trees(*p.system))
    find_start_of_trees(p);
  else
    find_start_here(p);
}

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

}  // namespace clatter::study
