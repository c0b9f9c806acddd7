#include "engine/engine.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include "base/error.hpp"
#include "engine/assembly_metric.hpp"
#include "engine/curve_third.hpp"
#include "engine/derivatives.hpp"
#include "engine/floating_frame.hpp"
#include "engine/padded.hpp"
#include "model/expression.hpp"

namespace clatter {

namespace {

constexpr double two_pi = 2 * std::numbers::pi;

bool same_bits(const Vec& a, const Vec& b) {
  return a.size() == b.size() &&
         std::memcmp(a.data(), b.data(), sizeof(double) * static_cast<std::size_t>(a.size())) == 0;
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
  }
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

namespace {

// f(x, y) of a curve with gradient and second derivatives.
struct CurveValue {
  double f, fx, fy, fxx, fxy, fyy;
};

CurveValue curve_value(const Curve& c, double x, double y) {
  switch (c.kind) {
    case Curve::Kind::circle:  // scaled to a length: (r^2 - R^2)/(2R)
      return {(x * x + y * y - c.a * c.a) / (2 * c.a), x / c.a, y / c.a, 1 / c.a, 0, 1 / c.a};
    case Curve::Kind::ellipse: {
      const double ia = 1 / (c.a * c.a), ib = 1 / (c.b * c.b), k = 0.5 * std::min(c.a, c.b);
      return {k * (x * x * ia + y * y * ib - 1), 2 * k * x * ia, 2 * k * y * ib, 2 * k * ia, 0, 2 * k * ib};
    }
    case Curve::Kind::line:
      return {y, 0, 1, 0, 0, 0};
    case Curve::Kind::formula: {
      const double xy[2] = {x, y};
      double g[2], H[4];
      const double f = c.formula->hessian(xy, g, H);
      return {f, g[0], g[1], H[0], H[1], H[3]};
    }
  }
  return {};
}

}  // namespace

Engine::DeformationValue Engine::deformation_value(const Deformation& d, const State&) const {
  DeformationValue out;
  if (d.nonlinear) {
    const MeasureValue<double>&x = measures_[d.terms[0].measure], &y = measures_[d.terms[1].measure];
    const CurveValue c = curve_value(d.curve, x.e, y.e);
    out.e = c.f;
    out.rate = c.fx * x.de + c.fy * y.de;
    out.bias = c.fx * x.bias + c.fy * y.bias + c.fxx * x.de * x.de + 2 * c.fxy * x.de * y.de + c.fyy * y.de * y.de;
    return out;
  }
  out.e = -d.offset;
  for (int k = 0; k < d.count; ++k) {
    const MeasureValue<double>& m = measures_[d.terms[k].measure];
    out.e += d.terms[k].factor * m.e;
    out.rate += d.terms[k].factor * m.de;
    out.bias += d.terms[k].factor * m.bias;
  }
  return out;
}

void Engine::gradient_factors(const Deformation& d, double factors[4]) const {
  if (d.nonlinear) {
    const CurveValue c = curve_value(d.curve, measures_[d.terms[0].measure].e, measures_[d.terms[1].measure].e);
    factors[0] = c.fx;
    factors[1] = c.fy;
    return;
  }
  for (int k = 0; k < d.count; ++k) factors[k] = d.terms[k].factor;
}

void Engine::curvature_factors(const Deformation& d, double& fxx, double& fxy, double& fyy) const {
  const CurveValue c = curve_value(d.curve, measures_[d.terms[0].measure].e, measures_[d.terms[1].measure].e);
  fxx = c.fxx;
  fxy = c.fxy;
  fyy = c.fyy;
}

void Engine::curve_third(const Deformation& d, double third[2]) const {
  third[0] = third[1] = 0;  // circles, ellipses and lines have none
  if (d.curve.kind != Curve::Kind::formula) return;
  const MeasureValue<double>&x = measures_[d.terms[0].measure], &y = measures_[d.terms[1].measure];
  curve_third_derivative(*d.curve.formula, x.e, y.e, x.de, y.de, third);
}

double Engine::input_value(const FunctionInput& in, const State& s, double e, double de) const {
  switch (in.kind) {
    case FunctionInput::Kind::time:
      return s.t;
    case FunctionInput::Kind::value:
      return measures_[in.index].e;
    case FunctionInput::Kind::rate:
      return measures_[in.index].de;
    case FunctionInput::Kind::state:
      return s.z[in.index];
    case FunctionInput::Kind::own_value:
      return e;
    case FunctionInput::Kind::own_rate:
      return de;
  }
  return 0;
}

double Engine::function_value(const CompiledFunction& f, const State& s, double e, double de) const {
  if (f.is_constant()) return f.constant;
  double x[Expression::max_variables];
  for (std::size_t i = 0; i < f.inputs.size(); ++i) x[i] = input_value(f.inputs[i], s, e, de);
  return f.expression->value({x, f.inputs.size()});
}

void Engine::row_value(int row, const State& s, double& phi, double& rate, double& bias) const {
  const System& sys = *system_;
  const Deformation& d =
      sys.deformations[row < sys.sizes.nh ? sys.holonomic[row] : sys.nonholonomic[row - sys.sizes.nh]];
  const DeformationValue value = deformation_value(d, s);
  phi = value.e;
  rate = value.rate;
  bias = value.bias;
  if (d.status == DeformationStatus::driven) {
    double target = d.motion.constant, target_rate = 0, target_acceleration = 0;
    if (!d.motion.is_constant()) {
      const Expression::Motion m = d.motion.expression->motion(s.t);
      target = m.value;
      target_rate = m.rate;
      target_acceleration = m.acceleration;
    }
    if (d.nonholonomic) {  // a prescribed velocity
      rate -= target;
      bias -= target_rate;
    } else {
      phi -= target;
      rate -= target_rate;
      bias -= target_acceleration;
    }
  }
  // A single angle held or driven: whole turns do not count.
  if (d.count == 1 && d.angular && !d.nonlinear) {
    const Measure& m = sys.measures[d.terms[0].measure];
    if (m.velocity < 0 && (m.kind == MeasureKind::angle || m.kind == MeasureKind::swing) && m.turns < 0)
      phi = std::remainder(phi, two_pi);
  }
}

// --- forces
// ------------------------------------------------------------------------------------------------------------

void Engine::wrench_on_frame(int frame, const Vec3& f, const Vec3& n) {
  const int link = system_->frames[frame].link;
  if (link < 0) return;
  F_[link] += f;
  N_[link] += n + (frames_[frame].p - work_.motion[link].p).cross(f);
}

void Engine::add_gradient(const Deformation& d, double factor) {
  double factors[4];
  gradient_factors(d, factors);
  for (int k = 0; k < d.count; ++k) {
    const Measure& m = system_->measures[d.terms[k].measure];
    const MeasureValue<double>& value = measures_[d.terms[k].measure];
    const double c = factor * factors[k];
    if (m.block >= 0) {
      work_.blocks[m.block]->row_gradient(m.row, c,
                                          tau_.data() + system_->tree.trees[system_->tree.rigid_trees + m.block].v0);
    } else if (m.velocity >= 0) {
      tau_[m.velocity] += c * m.rate_scale;
    } else {
      wrench_on_frame(m.a, c * value.fA, c * value.nA);
      wrench_on_frame(m.b, c * value.fB, c * value.nB);
    }
  }
}

double Engine::stress(const Deformation& d, const State& s) const {
  const DeformationValue value = deformation_value(d, s);
  switch (d.stress) {
    case Deformation::Stress::law:
      return evaluate_law(d.law, system_->law_tables, value.e, value.rate).sigma;
    case Deformation::Stress::formula:
      return function_value(d.formula, s, value.e, value.rate);
    case Deformation::Stress::actuator:
      return -d.gain * s.z[d.z];
  }
  return 0;
}

void Engine::apply_forces(const State& s, bool with_gravity) {
  const System& sys = *system_;
  const Vec3 g = with_gravity ? sys.model.gravity : Vec3::Zero();
  for (std::size_t i = 0; i < system_->tree.links.size(); ++i) {
    F_[i] = sys.tree.links[i].mass * g;
    N_[i].setZero();
  }
  tau_.setZero();
  for (const int i : sys.elastic) {
    const Deformation& d = sys.deformations[i];
    const double sigma = stress(d, s);
    if (sigma != 0) add_gradient(d, -sigma);
  }
  for (const CompiledLoad& load : sys.loads) {
    const Vec3 f = load_vector(load, s);
    apply_load(load, f);
  }
  for (const FlexibleIndex& f : sys.flexible)
    for (std::size_t i = 0; i < f.pressures.size(); ++i)
      work_.blocks[f.block]->set_pressure(static_cast<int>(i), pressure_value(f.pressures[i], s));
  for (const LinkWrench& w : external_) {
    F_[w.link] += w.F;
    N_[w.link] += w.N;
  }
  if (external_generalized_.size() > 0) tau_ += external_generalized_;
}

Vec3 Engine::load_vector(const CompiledLoad& load, const State& s) const {
  Vec3 f;
  for (int k = 0; k < 3; ++k) f[k] = function_value(load.component[k], s, 0, 0);
  if (load.follower) f = frames_[load.frame].R * f;
  return f;
}

void Engine::apply_load(const CompiledLoad& load, const Vec3& f) {
  const Vec3 zero = Vec3::Zero();
  if (load.torque) {
    wrench_on_frame(load.frame, zero, f);
    if (load.reaction >= 0) wrench_on_frame(load.reaction, zero, -f);
  } else {
    wrench_on_frame(load.frame, f, zero);
    if (load.reaction >= 0) wrench_on_frame(load.reaction, -f, zero);
  }
}

// r = M a - h - G^T lambda: the wrenches swept inward to the velocities.
void Engine::sweep(Vec& r) {
  rotate_inertias(system_->tree, work_);
  inertia_wrenches(system_->tree, work_, F_, N_);
  project_wrenches(system_->tree, work_, r);
  add_block_forces(system_->tree, work_, r);
  r -= tau_;
}

void Engine::inner_rates(const State& s, Vec& zdot) const {
  for (const int m : system_->turning) zdot[system_->measures[m].turns] = measures_[m].de;
  for (const int i : system_->elastic) {
    const Deformation& d = system_->deformations[i];
    if (d.stress != Deformation::Stress::actuator) continue;
    const DeformationValue value = deformation_value(d, s);
    zdot[d.z] = (function_value(d.formula, s, value.e, value.rate) - s.z[d.z]) / d.time_constant;
  }
}

void Engine::residual(const State& s, const Vec& a, const Vec& lambda, Vec& r, Vec& zdot) {
  evaluate(s);
  clatter::accelerations(system_->tree, s.v, a.data(), work_);
  apply_forces(s);
  for (int i = 0; i < system_->sizes.nc(); ++i)
    if (lambda[i] != 0) add_gradient(row_deformation(i), lambda[i]);
  sweep(r);
  inner_rates(s, zdot);
}

void Engine::constraints(const State& s, Vec& phi, Vec& velocity_residual) {
  evaluate(s);
  double value, rate, bias;
  for (int i = 0; i < system_->sizes.nc(); ++i) {
    row_value(i, s, value, rate, bias);
    if (i < system_->sizes.nh) phi[i] = value;
    velocity_residual[i] = rate;
  }
}

void Engine::constraint_forces(const State& s, const Vec& lambda, Vec& f) {
  evaluate(s);
  for (std::size_t i = 0; i < system_->tree.links.size(); ++i) {
    F_[i].setZero();
    N_[i].setZero();
  }
  tau_.setZero();
  for (int i = 0; i < system_->sizes.nc(); ++i) add_gradient(row_deformation(i), lambda[i]);
  for (std::size_t i = 0; i < system_->tree.links.size(); ++i) {
    work_.F[i] = F_[i];
    work_.N[i] = N_[i];
  }
  project_wrenches(system_->tree, work_, f);
  f += tau_;
}

// --- constraints at acceleration level ------------------------------------------------------------------------------

void Engine::project_path(int link, Vec3 F, Vec3 N, double* tau) const {
  const Tree& tree = system_->tree;
  const int t0 = tree.links[link].tree, v0 = tree.trees[t0].v0;
  if (link >= tree.rigid_links) {
    work_.blocks[t0 - tree.rigid_trees]->project(link - tree.trees[t0].link0, F, N, tau);
    return;
  }
  for (int i = link; i >= 0; i = tree.links[i].parent) {
    const Link& l = tree.links[i];
    const LinkMotion& m = work_.motion[i];
    double* t = tau + (l.v - v0);
    switch (l.mobility) {
      case Mobility::free6: {
        const Vec3 n = m.R.transpose() * N;
        for (int k = 0; k < 3; ++k) {
          t[k] += F[k];
          t[3 + k] += n[k];
        }
        return;
      }
      case Mobility::planar3:
        t[0] += F.x();
        t[1] += F.y();
        t[2] += N.z();
        return;
      case Mobility::particle3:
        t[2] += F.z();
        [[fallthrough]];
      case Mobility::particle2:
        t[0] += F.x();
        t[1] += F.y();
        return;
      case Mobility::revolute:
        t[0] += m.z.dot(N + m.d.cross(F));
        break;
      case Mobility::screw:
        t[0] += m.z.dot(N + m.d.cross(F)) + l.pitch * m.z.dot(F);
        break;
      case Mobility::prismatic:
        t[0] += m.z.dot(F);
        break;
      case Mobility::spherical: {
        const Vec3 n = m.R.transpose() * (N + m.d.cross(F));
        for (int k = 0; k < 3; ++k) t[k] += n[k];
        break;
      }
      case Mobility::weld:
      case Mobility::marker:
        break;
    }
    N += m.r.cross(F);
  }
}

void Engine::build_G(int rows) {
  const System& sys = *system_;
  std::fill(G_.begin(), G_.end(), 0.0);
  for (int r = 0; r < rows; ++r) {
    const Deformation& d = row_deformation(r);
    double factors[4];
    gradient_factors(d, factors);
    for (int k = 0; k < d.count; ++k) {
      const Measure& m = sys.measures[d.terms[k].measure];
      const double c = factors[k];
      const auto segment_of = [&](int tree) -> const Segment& {
        int i = row_begin_[r];
        while (segments_[i].tree != tree) ++i;
        return segments_[i];
      };
      if (m.velocity >= 0) {
        for (int i = row_begin_[r]; i < row_begin_[r + 1]; ++i) {
          const Segment& seg = segments_[i];
          if (m.velocity >= seg.v0 && m.velocity < seg.v0 + seg.n)
            G_[seg.offset + m.velocity - seg.v0] += c * m.rate_scale;
        }
        continue;
      }
      if (m.block >= 0) {
        work_.blocks[m.block]->row_gradient(m.row, c, G_.data() + segment_of(sys.tree.rigid_trees + m.block).offset);
        continue;
      }
      const MeasureValue<double>& value = measures_[d.terms[k].measure];
      const auto add = [&](int frame, const Vec3& f, const Vec3& n) {
        const int link = sys.frames[frame].link;
        if (link < 0) return;
        const Vec3 arm = frames_[frame].p - work_.motion[link].p;
        project_path(link, c * f, c * (n + arm.cross(f)), G_.data() + segment_of(sys.tree.links[link].tree).offset);
      };
      add(m.a, value.fA, value.nA);
      add(m.b, value.fB, value.nB);
    }
  }
}

// X = M^-1 G^T and S = G X for the first `rows` rows; while correcting, in the metric chosen for that.
void Engine::build_schur(int rows, bool correcting) {
  const int last = row_begin_[rows];
  if (!correcting || frozen_.empty()) {
    const AssemblyMetric* metric = correcting ? assembly_.get() : nullptr;
    for (int i = 0; i < last; ++i) {
      const Segment& seg = segments_[i];
      if (metric && metric->solve(seg.tree, G_.data() + seg.offset, X_.data() + seg.offset)) continue;
      solve_mass(system_->tree, seg.tree, work_, G_.data() + seg.offset, X_.data() + seg.offset);
    }
  } else {
    // Some coordinates must not move: a plain metric on the others.
    for (int i = 0; i < last; ++i) {
      const Segment& seg = segments_[i];
      for (int k = 0; k < seg.n; ++k) X_[seg.offset + k] = frozen_[seg.v0 + k] ? 0.0 : G_[seg.offset + k];
    }
  }
  const bool all = rows > system_->sizes.nh;
  SparseMatrix<double>& S = all ? *S_all_ : *S_holonomic_;
  S.set_zero();
  auto values = S.values();
  for (const Pair& p : all ? pairs_all_ : pairs_holonomic_) {
    const Segment& a = segments_[p.first];
    const Segment& b = segments_[p.second];
    values[p.slot] += padded::dot(G_.data() + a.offset, X_.data() + b.offset, a.n);
  }
  last_schur_ = all ? schur_all_.get() : schur_holonomic_.get();
  last_schur_->factorize(S);
}

namespace {

// A row on a body that deforms is none of a mechanism: where rigid links could go on in two ways, the body's stiffness
// decides, and how near such rows come to each other is a matter of its compliance in different directions.
bool acts_on_flexible(const System& sys, const Deformation& d) {
  const auto flexible = [&](int frame) {
    const int link = sys.frames[frame].link;
    return link >= 0 && sys.tree.links[link].tree >= sys.tree.rigid_trees;
  };
  for (int k = 0; k < d.count; ++k) {
    const Measure& m = sys.measures[d.terms[k].measure];
    if (m.block >= 0) return true;
    if (m.velocity < 0 && (flexible(m.a) || flexible(m.b))) return true;
  }
  return false;
}

}  // namespace

namespace {

// Work on masses, with a body whose mass fails told by its name.
template <class Work>
void named(const System& sys, const TreeWork& work, double t, Work&& what) {
  try {
    what();
  } catch (const MassNotPositive& failure) {
    for (const FlexibleIndex& f : sys.flexible)
      if (work.blocks[static_cast<std::size_t>(f.block)].get() == failure.block)
        throw MassNotPositive(failure.block, sys.model.bodies[static_cast<std::size_t>(f.body)].name, t);
    throw;
  }
}

}  // namespace

double Engine::constraint_sine() const {
  return last_schur_ ? std::sqrt(last_schur_->smallest_independent_ratio()) : 1;
}

std::vector<std::string> Engine::nearly_dependent() const {
  std::vector<std::string> names;
  if (!last_schur_) return names;
  for (const int row : last_schur_->weakest_rows()) {
    const Deformation& d = row_deformation(row);
    if (acts_on_flexible(*system_, d)) continue;
    const std::string& name = d.element;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

void Engine::solve_schur(int rows, double* b) { (rows > system_->sizes.nh ? *schur_all_ : *schur_holonomic_).solve(b); }

void Engine::accelerations(const State& s, Vec& a, Vec& lambda, Vec& zdot) {
  const System& sys = *system_;
  const int nc = sys.sizes.nc();
  // Where nobody asks for constraints, powers or events, nobody asks twice for the same state.
  evaluate(s, nc > 0 || sys.sizes.np > 0 || sys.sizes.ne > 0);
  if (nc > 0 || links_watched_)
    evaluate_accelerations(s, nullptr);
  else
    clatter::accelerations(sys.tree, s.v, nullptr, work_);
  apply_forces(s);
  rotate_inertias(sys.tree, work_);
  inertia_wrenches(sys.tree, work_, F_, N_);
  named(sys, work_, s.t, [&] { forward_dynamics(sys.tree, work_, tau_.data(), a.data()); });
  inner_rates(s, zdot);
  if (nc == 0) return;
  build_G(nc);
  build_schur(nc);
  double value, rate, bias;
  for (int r = 0; r < nc; ++r) {
    row_value(r, s, value, rate, bias);
    double sum = bias;
    for (int i = row_begin_[r]; i < row_begin_[r + 1]; ++i) {
      const Segment& seg = segments_[i];
      sum += padded::dot(G_.data() + seg.offset, a.data() + seg.v0, seg.n);
    }
    lambda[r] = -sum;
  }
  solve_schur(nc, lambda.data());
  for (int r = 0; r < nc; ++r)
    for (int i = row_begin_[r]; i < row_begin_[r + 1]; ++i) {
      const Segment& seg = segments_[i];
      padded::axpy(lambda[r], X_.data() + seg.offset, a.data() + seg.v0, seg.n);
    }
}

void Engine::weigh(Deforming how) {
  if (how == Deforming::by_mass || system_->flexible.empty())
    assembly_.reset();
  else
    assembly_ = std::make_unique<AssemblyMetric>(*system_, how);
}

void Engine::least_correction(const State& s, const Vec& b, bool positions, Vec& delta) {
  const System& sys = *system_;
  const int rows = positions ? sys.sizes.nh : sys.sizes.nc();
  delta.setZero();
  if (rows == 0) return;
  evaluate(s);
  if (frozen_.empty()) named(sys, work_, s.t, [&] { factorize_mass(sys.tree, work_); });
  if (assembly_) assembly_->prepare(s, work_);
  build_G(rows);
  build_schur(rows, true);
  for (int r = 0; r < rows; ++r) rhs_[r] = b[r];
  solve_schur(rows, rhs_.data());
  for (int r = 0; r < rows; ++r)
    for (int i = row_begin_[r]; i < row_begin_[r + 1]; ++i) {
      const Segment& seg = segments_[i];
      for (int k = 0; k < seg.n; ++k) delta[seg.v0 + k] += X_[seg.offset + k] * rhs_[r];
    }
  if (assembly_ && positions) assembly_->finish(work_, delta);
}

Eigen::SparseMatrix<double, Eigen::RowMajor> Engine::constraint_matrix(const State& s) {
  evaluate(s);
  const int nc = system_->sizes.nc();
  Eigen::SparseMatrix<double, Eigen::RowMajor> G(nc, system_->sizes.nv);
  if (nc == 0) return G;
  build_G(nc);
  std::vector<Eigen::Triplet<double>> entries;
  for (const Segment& seg : segments_)
    for (int k = 0; k < seg.n; ++k)
      if (G_[seg.offset + k] != 0) entries.emplace_back(seg.row, seg.v0 + k, G_[seg.offset + k]);
  G.setFromTriplets(entries.begin(), entries.end());
  return G;
}

void Engine::tangents(const State& s, const Vec& a, const Vec& lambda, Tangents& out) {
  evaluate(s);
  evaluate_accelerations(s, a.data());
  derivatives_->evaluate(*this, s, lambda, out);
}

// --- energy
// --------------------------------------------------------------------------------------------------------------

double Engine::potential(const State& s) const {
  const System& sys = *system_;
  double E = potential_energy(sys.tree, work_, sys.model.gravity);
  for (const int i : sys.elastic) {
    const Deformation& d = sys.deformations[i];
    if (d.stress != Deformation::Stress::law) continue;
    const DeformationValue value = deformation_value(d, s);
    E += evaluate_law(d.law, system_->law_tables, value.e, value.rate).energy;
  }
  return E;
}

double Engine::stored_energy(const State& s) {
  evaluate(s);
  return kinetic() + potential(s);
}

void Engine::powers(const State& s, const Vec&, const Vec& lambda, Vec& p) {
  const System& sys = *system_;
  evaluate(s);
  p.setZero();
  for (const int i : sys.elastic) {
    const Deformation& d = sys.deformations[i];
    if (d.channel < 0) continue;
    const DeformationValue value = deformation_value(d, s);
    if (d.stress == Deformation::Stress::law)
      p[d.channel] -= evaluate_law(d.law, system_->law_tables, value.e, value.rate).dissipation_power;
    else
      p[d.channel] -= stress(d, s) * value.rate;
  }
  for (const FlexibleIndex& f : sys.flexible) {
    BlockWork& block = *work_.blocks[f.block];
    if (f.channel >= 0) p[f.channel] -= block.dissipation_power();
    for (std::size_t i = 0; i < f.pressures.size(); ++i) {
      block.set_pressure(static_cast<int>(i), pressure_value(f.pressures[i], s));
      p[f.pressures[i].channel] += block.pressure_power(static_cast<int>(i));
    }
  }
  for (const CompiledLoad& load : sys.loads) {
    const Vec3 f = load_vector(load, s);
    const auto velocity = [&](int frame) -> Vec3 { return load.torque ? frames_[frame].w : frames_[frame].v; };
    p[load.channel] += f.dot(velocity(load.frame));
    if (load.reaction >= 0) p[load.channel] -= f.dot(velocity(load.reaction));
  }
  // A driven row moves at its own rate: power of the multiplier is lambda times the rate of e.
  for (int r = 0; r < sys.sizes.nc(); ++r) {
    const Deformation& d = row_deformation(r);
    if (d.channel >= 0) p[d.channel] += lambda[r] * deformation_value(d, s).rate;
  }
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
