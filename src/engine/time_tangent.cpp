// Partial derivatives of the equations of motion by time, at fixed state, accelerations and multipliers.
//
//   dr/dt = -dh/dt      loads f(t, ..) and stresses sigma(t, ..) written in time
//   dgamma/dt           third derivative of a drive's motion; of a prescribed velocity its second
#include "engine/engine.hpp"
#include "model/expression.hpp"
#include "model/formula.hpp"

namespace clatter {

double Engine::function_by_time(const CompiledFunction& f, const State& s, double e, double de) const {
  if (f.is_constant()) return 0;
  double x[Expression::max_variables], g[Expression::max_variables];
  bool timed = false;
  for (std::size_t i = 0; i < f.inputs.size(); ++i) {
    x[i] = input_value(f.inputs[i], s, e, de);
    timed = timed || f.inputs[i].kind == FunctionInput::Kind::time;
  }
  if (!timed) return 0;
  f.expression->gradient({x, f.inputs.size()}, {g, f.inputs.size()});
  double sum = 0;
  for (std::size_t i = 0; i < f.inputs.size(); ++i)
    if (f.inputs[i].kind == FunctionInput::Kind::time) sum += g[i];
  return sum;
}

void Engine::time_tangent(const State& s, Vec& r_t, Vec& gamma_t) {
  const System& sys = *system_;
  evaluate(s);
  for (std::size_t i = 0; i < sys.tree.links.size(); ++i) {
    F_[i].setZero();
    N_[i].setZero();
  }
  tau_.setZero();
  for (const int i : sys.elastic) {
    const Deformation& d = sys.deformations[static_cast<std::size_t>(i)];
    if (d.stress != Deformation::Stress::formula) continue;
    const DeformationValue value = deformation_value(d, s);
    const double slope = function_by_time(d.formula, s, value.e, value.rate);
    if (slope != 0) add_gradient(d, -slope);
  }
  for (const CompiledLoad& load : sys.loads) {
    Vec3 f;
    for (int k = 0; k < 3; ++k) f[k] = function_by_time(load.component[k], s, 0, 0);
    if (load.follower) f = frames_[static_cast<std::size_t>(load.frame)].R * f;
    apply_load(load, f);
  }
  for (std::size_t i = 0; i < sys.tree.links.size(); ++i) {
    work_.F[i] = -F_[i];
    work_.N[i] = -N_[i];
  }
  r_t.setZero(sys.sizes.nv);
  project_wrenches(sys.tree, work_, r_t);
  r_t -= tau_;

  gamma_t.setZero(sys.sizes.nc());
  for (int row = 0; row < sys.sizes.nc(); ++row) {
    const Deformation& d = row_deformation(row);
    if (d.status != DeformationStatus::driven || d.motion.is_constant()) continue;
    const std::array<double, 4> m = formula_at(*d.motion.expression, s.t);
    gamma_t[row] = d.nonholonomic ? -m[2] : -m[3];
  }
}

}  // namespace clatter
