// Deformations, what they push with, and what is stored and supplied:
//
//   e = sum of factors times measures, or f(x, y) of a curve;   stress = law(e, de) or a function of time
//   r = M a - h - G^T lambda by one inward sweep of the wrenches on links
//
// A deformation acts on its measures with its gradient: the force along e is the stress times de/d(measure).
#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/curve_third.hpp"
#include "engine/engine.hpp"
#include "engine/floating_frame.hpp"
#include "model/expression.hpp"

namespace clatter {

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
      phi = std::remainder(phi, 2 * std::numbers::pi);
  }
}

// --- forces ----------------------------------------------------------------------------------------------------------

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

// --- energy ----------------------------------------------------------------------------------------------------------

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

}  // namespace clatter
