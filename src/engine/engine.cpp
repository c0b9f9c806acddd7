// The engine's frame: what is prepared once, the motion of links, frames and measures at a state, and names and scales.
// Forces and energies are in engine_forces.cpp, rows of constraints and accelerations in engine_constraints.cpp.
#include "engine/engine.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include "base/error.hpp"
#include "engine/assembly_metric.hpp"
#include "engine/derivatives.hpp"
#include "engine/floating_frame.hpp"

namespace clatter {

namespace {

constexpr double two_pi = 2 * std::numbers::pi;

bool same_bits(const Vec& a, const Vec& b) {
  // Systems without inner states, or without anything that moves, have empty vectors, whose pointers memcmp may not
  // get.
  return a.size() == b.size() &&
         (a.size() == 0 || std::memcmp(a.data(), b.data(), sizeof(double) * static_cast<std::size_t>(a.size())) == 0);
}

}  // namespace

Engine::~Engine() = default;

Engine::Engine(std::shared_ptr<const System> system)
    : system_(std::move(system)),
      work_(system_->tree, system_->model.gravity),
      frames_(system_->frames.size()),
      measures_(system_->measures.size()),
      F_(system_->tree.links.size() + 1, Vec3::Zero()),
      N_(system_->tree.links.size() + 1, Vec3::Zero()),
      tau_(Vec::Zero(system_->sizes.nv)),
      rhs_(system_->sizes.nc()),
      last_(system_->initial),
      links_watched_(!system_->model.contacts.empty() || system_->model.crowd || !system_->joint_frictions.empty()) {
  const System& sys = *system_;
  // Ground frames never move.
  for (std::size_t i = 0; i < sys.frames.size(); ++i) {
    FrameState<double>& f = frames_[i];
    f.R = sys.frames[i].R;
    f.p = sys.frames[i].r;
    f.v.setZero();
    f.w.setZero();
    f.a.setZero();
    f.alpha.setZero();
  }

  for (std::size_t i = 0; i < sys.frames.size(); ++i)
    if (sys.frames[i].link >= 0 && sys.frame_active[i]) active_frames_.push_back(static_cast<int>(i));
  for (std::size_t i = 0; i < sys.measures.size(); ++i)
    if (sys.measure_active[i]) active_measures_.push_back(static_cast<int>(i));
  std::vector<char> watched(sys.tree.links.size(), links_watched_);
  for (const int i : active_frames_) watched[sys.frames[i].link] = 1;
  for (std::size_t k = 0; k < sys.tree.blocks.size(); ++k) {
    const TreeRange& range = sys.tree.trees[sys.tree.rigid_trees + k];
    for (int i = range.link0; i < range.link1; ++i)
      if (sys.tree.links[i].mobility == Mobility::marker && !watched[i])
        unwatched_.push_back({static_cast<int>(k), i - range.link0});
  }
  watch(false);

  // Rows over trees.
  const int nc = sys.sizes.nc();
  row_begin_.assign(nc + 1, 0);
  int offset = 0;
  std::vector<std::vector<int>> segments_of_tree(sys.tree.trees.size());
  for (int r = 0; r < nc; ++r) {
    const Deformation& d = sys.deformations[r < sys.sizes.nh ? sys.holonomic[r] : sys.nonholonomic[r - sys.sizes.nh]];
    std::vector<int> trees;
    for (int k = 0; k < d.count; ++k) {
      const Measure& m = sys.measures[d.terms[k].measure];
      const auto add = [&](int link) {
        if (link >= 0) trees.push_back(sys.tree.links[link].tree);
      };
      if (m.block >= 0) {
        trees.push_back(sys.tree.rigid_trees + m.block);
      } else if (m.velocity >= 0) {
        trees.push_back(sys.tree.tree_of_velocity(m.velocity));
      } else {
        add(sys.frames[m.a].link);
        add(sys.frames[m.b].link);
      }
    }
    std::sort(trees.begin(), trees.end());
    trees.erase(std::unique(trees.begin(), trees.end()), trees.end());
    for (const int t : trees) {
      const TreeRange& range = sys.tree.trees[t];
      segments_of_tree[t].push_back(static_cast<int>(segments_.size()));
      segments_.push_back({r, t, offset, range.v0, range.v1 - range.v0});
      offset += range.v1 - range.v0;
    }
    row_begin_[r + 1] = static_cast<int>(segments_.size());
    int group = r;
    for (int other = r - 1; other >= std::max(0, r - 6) && group == r; --other) {
      const Deformation& o = row_deformation(other);
      if (o.element == d.element && o.angular == d.angular) group = row_group_[other];
    }
    row_group_.push_back(group);
  }
  row_scale_.assign(nc, 0);
  group_scale_.assign(nc, 0);
  G_.assign(offset, 0);
  X_.assign(offset, 0);
  if (nc > 0) {
    const auto schur = [&](int rows, std::vector<Pair>& pairs, std::unique_ptr<SparseMatrix<double>>& S,
                           std::unique_ptr<SchurSolver>& solver) {
      if (rows == 0) return;
      PatternBuilder builder(rows, rows);
      builder.add_diagonal();
      for (const auto& list : segments_of_tree)
        for (const int i : list)
          for (const int j : list)
            if (segments_[i].row < rows && segments_[j].row <= segments_[i].row)
              builder.add(segments_[i].row, segments_[j].row);
      S = std::make_unique<SparseMatrix<double>>(builder.build());
      for (const auto& list : segments_of_tree)
        for (const int i : list)
          for (const int j : list)
            if (segments_[i].row < rows && segments_[j].row <= segments_[i].row)
              pairs.push_back({i, j, S->slot(segments_[i].row, segments_[j].row)});
      solver = std::make_unique<SchurSolver>(S->pattern_ptr());
    };
    schur(sys.sizes.nh, pairs_holonomic_, S_holonomic_, schur_holonomic_);
    if (sys.sizes.nn > 0) schur(nc, pairs_all_, S_all_, schur_all_);
  }
  derivatives_ = std::make_unique<Derivatives>(*this);
  layout_ = std::make_unique<Tangents>(derivatives_->layout());
}

// --- evaluation ------------------------------------------------------------------------------------------------------

void Engine::evaluate(const State& s, bool keep) {
  if (fresh_ && s.t == last_.t && same_bits(s.q, last_.q) && same_bits(s.v, last_.v) && same_bits(s.z, last_.z)) return;
  const System& sys = *system_;
  kinematics(sys.tree, s.q, s.v, work_);
  for (const int i : active_frames_) {
    const Frame& f = sys.frames[i];
    const LinkMotion& m = work_.motion[f.link];
    FrameState<double>& out = frames_[i];
    const Vec3 r = m.R * f.r;
    out.R.noalias() = m.R * f.R;
    out.p = m.p + r;
    out.v = m.v + m.w.cross(r);
    out.w = m.w;
  }
  for (const int i : active_measures_) measures_[i] = measure_value(i, s);
  fresh_ = keep;
  if (!keep) return;
  last_.t = s.t;
  last_.q = s.q;
  last_.v = s.v;
  last_.z = s.z;
}

// Accelerations of links, frames and measures for given generalized accelerations (nullptr: zero).
void Engine::evaluate_accelerations(const State& s, const double* qdd) {
  const System& sys = *system_;
  clatter::accelerations(sys.tree, s.v, qdd, work_);
  block_link_accelerations(sys.tree, work_);
  if (sys.sizes.nc() == 0 && !qdd) return;
  for (const int i : active_frames_) {
    const Frame& f = sys.frames[i];
    const LinkMotion& m = work_.motion[f.link];
    FrameState<double>& out = frames_[i];
    const Vec3 r = out.p - m.p;
    out.a = m.a + m.alpha.cross(r) + m.w.cross(m.w.cross(r));
    out.alpha = m.alpha;
  }
  for (const int row_deformation : sys.holonomic) {
    const Deformation& d = sys.deformations[row_deformation];
    for (int k = 0; k < d.count; ++k) measures_[d.terms[k].measure] = measure_value(d.terms[k].measure, s, qdd);
  }
  for (const int row_deformation : sys.nonholonomic) {
    const Deformation& d = sys.deformations[row_deformation];
    for (int k = 0; k < d.count; ++k) measures_[d.terms[k].measure] = measure_value(d.terms[k].measure, s, qdd);
  }
}

FrameState<double> Engine::frame_state(int frame) const {
  const Frame& f = system_->frames[frame];
  FrameState<double> out = frames_[frame];
  if (f.link < 0) return out;
  const LinkMotion& m = work_.motion[f.link];
  const Vec3 r = m.R * f.r;
  out.R = m.R * f.R;
  out.p = m.p + r;
  out.v = m.v + m.w.cross(r);
  out.w = m.w;
  out.a = m.a + m.alpha.cross(r) + m.w.cross(m.w.cross(r));
  out.alpha = m.alpha;
  return out;
}

MeasureValue<double> Engine::measure_value(int measure, const State& s, const double* qdd) const {
  const Measure& m = system_->measures[measure];
  MeasureValue<double> out;
  if (m.velocity >= 0) {
    out.e = m.rate_scale * s.q[m.q];
    out.de = m.rate_scale * s.v[m.velocity];
    out.bias = qdd ? m.rate_scale * qdd[m.velocity] : 0;
    return out;
  }
  if (m.block >= 0) {
    const RowValue row = work_.blocks[m.block]->row(m.row);
    out.e = row.e;
    out.de = row.de;
    out.bias = row.dde;
    return out;
  }
  clatter::evaluate(m.kind, m.params, frames_[m.a], frames_[m.b], out);
  if (out.fault != MeasureFault::none) throw measure_fault(measure, out.fault, s.t);
  if (m.turns >= 0) out.e += two_pi * std::round((s.z[m.turns] - out.e) / two_pi);
  return out;
}

SolveError Engine::measure_fault(int measure, MeasureFault fault, double t) const {
  std::vector<std::string> names;
  for (const Deformation& d : system_->deformations)
    for (int k = 0; k < d.count; ++k)
      if (d.terms[k].measure == measure && (names.empty() || names.back() != d.name)) names.push_back(d.name);
  const char* what = fault == MeasureFault::zero_length ? "the two points coincide, so the distance has no direction"
                     : fault == MeasureFault::opposite_axes
                         ? "the two axes point opposite ways, so the angle about them is not defined"
                         : "both axes are perpendicular to the reference, so the angle is not defined";
  return SolveError("undefined-measure", t, names, what,
                    "start from another configuration, or measure between points or axes that stay apart");
}

void Engine::watch(bool all) {
  for (const Marker& m : unwatched_) work_.blocks[m.block]->watch(m.link, all);
}

void Engine::observe(const State& s, const Vec* a) {
  if (!unwatched_.empty()) fresh_ = false;
  watch(true);
  evaluate(s);
  evaluate_accelerations(s, a ? a->data() : nullptr);
  for (std::size_t i = 0; i < system_->frames.size(); ++i)
    if (system_->frames[i].link >= 0) frames_[i] = frame_state(static_cast<int>(i));
  for (std::size_t i = 0; i < system_->measures.size(); ++i)
    measures_[i] = measure_value(static_cast<int>(i), s, a ? a->data() : nullptr);
  watch(false);
}

void Engine::tangents(const State& s, const Vec& a, const Vec& lambda, Tangents& out) {
  evaluate(s);
  evaluate_accelerations(s, a.data());
  derivatives_->evaluate(*this, s, lambda, out);
}

// --- events, names, scales ------------------------------------------------------------------------------------------

void Engine::events(const State& s, Vec& g) {
  evaluate(s);
  for (std::size_t i = 0; i < system_->events.size(); ++i) {
    const Deformation& d = system_->deformations[system_->events[i].deformation];
    const DeformationValue value = deformation_value(d, s);
    g[static_cast<Eigen::Index>(i)] =
        law_event_value(d.law, system_->law_tables, system_->events[i].which, value.e, value.rate);
  }
}

std::string Engine::event_name(int index) const {
  const System::EventIndex& e = system_->events[index];
  return system_->deformations[e.deformation].name + ": " + law_event_name(e.which);
}

const Deformation& Engine::row_deformation(int row) const {
  const System& sys = *system_;
  return sys.deformations[row < sys.sizes.nh ? sys.holonomic[row] : sys.nonholonomic[row - sys.sizes.nh]];
}

std::string Engine::row_name(int row) const { return row_deformation(row).name; }
std::string Engine::velocity_name(int index) const { return system_->velocity_names[index]; }

void Engine::scales(Vec& u_scale, Vec& v_scale, Vec& z_scale) const {
  const System& sys = *system_;
  for (int i = 0; i < sys.sizes.nv; ++i) {
    u_scale[i] = sys.velocity_angular[i] ? 1.0 : sys.length_scale;
  }
  for (const FlexibleIndex& f : sys.flexible)
    for (std::size_t k = 0; k < f.scale.size(); ++k) u_scale[f.v + static_cast<int>(k)] *= f.scale[k];
  for (int i = 0; i < sys.sizes.nv; ++i) {
    v_scale[i] = u_scale[i] / sys.time_scale;
  }
  z_scale.setConstant(1.0);
}

}  // namespace clatter
