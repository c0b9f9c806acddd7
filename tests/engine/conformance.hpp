// What the conformance tests share: samples compiled and evaluated, consistent states away from the start, a model put
// into a state, moved as a whole, or written in other coordinates; derivatives by differences.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>

#include "contact/contact_dynamics.hpp"
#include "engine/engine.hpp"
#include "engine/flexible_samples.hpp"
#include "engine/registry.hpp"
#include "integrate/initial.hpp"
#include "model/expression.hpp"
#include "model/load.hpp"

namespace clatter {

inline void PrintTo(const Registered& r, std::ostream* out) { *out << r.name; }

}  // namespace clatter

namespace clatter::test {

// Largest entry of a vector or matrix that may be empty.
template <class Derived>
double largest(const Eigen::MatrixBase<Derived>& m) {
  return m.size() == 0 ? 0.0 : m.cwiseAbs().maxCoeff();
}

// A sample in a consistent state, its accelerations and multipliers known. Samples with contacts are moved by the
// dynamics of contacts around the engine.
struct Setting {
  std::shared_ptr<const System> system;
  std::unique_ptr<Engine> engine;
  std::unique_ptr<contact::ContactDynamics> contacts;
  State s;
  Vec a, lambda, zdot;

  explicit Setting(const Model& model) : system(System::compile(model)), engine(std::make_unique<Engine>(system)) {
    if (!model.contacts.empty()) touch();
    s = system->initial;
    const Eigen::Index own = s.z.size();
    s.z.conservativeResize(sizes().nz);
    s.z.tail(sizes().nz - own).setZero();
    make(sizes().nv, a), make(sizes().nc(), lambda), make(sizes().nz, zdot);
  }
  Dynamics& dynamics() const {
    if (contacts) return *contacts;
    return *engine;
  }
  const Sizes& sizes() const { return dynamics().sizes(); }
  void solve() { dynamics().accelerations(s, a, lambda, zdot); }
  Vec residual(const State& at, const Vec& qdd) {
    Vec r(sizes().nv), z(sizes().nz);
    dynamics().residual(at, qdd, lambda, r, z);
    return r;
  }
  // What the contacts remember: nobody has settled them, and all were touched at the same speed, whatever the scales of
  // the model are.
  void touch() {
    contacts = std::make_unique<contact::ContactDynamics>(contact::ContactSystem::compile(system), *engine);
    Archive counter = Archive::counter();
    contacts->compliant().exchange(counter);
    std::vector<double> memory(counter.position());
    for (std::size_t i = 1; i < memory.size(); i += 3) memory[i] = speed_of_touch;
    Archive reader = Archive::reader(memory);
    contacts->compliant().exchange(reader);
  }
  static constexpr double speed_of_touch = 0.7;
  // G dv/dt + gamma at `at` for given dv/dt.
  Vec constraint_accelerations(const State& at, const Vec& qdd);

 private:
  static void make(int n, Vec& v) { v = Vec::Zero(n); }
};

inline Vec Setting::constraint_accelerations(const State& at, const Vec& qdd) {
  engine->observe(at, &qdd);
  Vec out(sizes().nc());
  for (const std::vector<int>* rows : {&system->holonomic, &system->nonholonomic})
    for (const int i : *rows) {
      const Deformation& d = system->deformations[i];
      double value = engine->deformation_value(d, at).bias;
      if (d.status == DeformationStatus::driven && !d.motion.is_constant()) {
        const Expression::Motion m = d.motion.expression->motion(at.t);
        value -= d.nonholonomic ? m.rate : m.acceleration;
      }
      out[d.row] = value;
    }
  return out;
}

// Numbers in [-1, 1) that are the same everywhere.
class Dice {
 public:
  explicit Dice(unsigned seed) : engine_(seed) {}
  double operator()() { return static_cast<double>(engine_()) / 2147483648.0 - 1.0; }
  Vec operator()(Eigen::Index n) {
    Vec v(n);
    for (double& x : v) x = (*this)();
    return v;
  }

 private:
  std::mt19937 engine_;
};

constexpr int states_of_a_sample = 3;
constexpr double instant = 0.3;  // of the time-dependent samples

// Thrown about the start, then made consistent.
inline Setting thrown(const Model& model, int which) {
  Setting x(model);
  Dice dice(static_cast<unsigned>(7919 + which));
  x.s.t = instant;
  x.dynamics().plus(x.s.q, 0.2 * dice(x.s.v.size()), x.s.q);
  x.s.v += 0.8 * dice(x.s.v.size());
  for (const Deformation& d : x.system->deformations)
    if (d.z >= 0) x.s.z[d.z] += 0.5 * dice();
  make_consistent(x.dynamics(), x.s);
  x.solve();
  return x;
}

// The model with every body posed and moving as in the state.
inline Model in_state(Setting& x) {
  Model model = x.system->model;
  model.simulate.start = x.s.t;
  x.engine->observe(x.s, nullptr);
  for (std::size_t i = 0; i < model.bodies.size(); ++i) {
    const FrameState<double> f = x.engine->frame_state(x.system->bodies[i].frame);
    model.bodies[i].pose = Placement{f.p, Quat(f.R).normalized()};
    model.bodies[i].velocity = f.v;
    model.bodies[i].angular_velocity = f.w;
  }
  for (const FlexibleIndex& f : x.system->flexible) {
    const BlockWork& block = *x.engine->links().blocks[static_cast<std::size_t>(f.block)];
    Body& body = model.bodies[static_cast<std::size_t>(f.body)];
    body.elastic.assign(block.elastic_coordinates(), block.elastic_coordinates() + f.n);
    body.elastic_rate.assign(block.elastic_rates(), block.elastic_rates() + f.n);
  }
  for (std::size_t i = 0; i < model.force_elements.size(); ++i) {
    const Deformation& d = x.system->deformations[x.system->element_deformation[i]];
    if (auto* law = std::get_if<ActuatorLaw>(&model.force_elements[i].law)) law->initial = x.s.z[d.z];
  }
  return model;
}

// Everything fixed in the world moved by X, gravity too.
inline Model moved(Model model, const Placement& X) {
  const auto move = [&](Attachment& a) {
    if (a.body < 0) a.placement = X * a.placement;
  };
  model.gravity = X.rotation * model.gravity;
  for (Body& b : model.bodies) {
    if (b.pose) b.pose = X * *b.pose;
    if (b.velocity) b.velocity = X.rotation * *b.velocity;
    if (b.angular_velocity) b.angular_velocity = X.rotation * *b.angular_velocity;
  }
  for (Joint& j : model.joints) move(j.a), move(j.b);
  for (ContactShape& shape : model.shapes) move(shape.at);
  for (ForceElement& e : model.force_elements) move(e.a), move(e.b);
  for (Load& l : model.loads) {
    move(l.at);
    if (l.reaction) move(*l.reaction);
  }
  return model;
}

inline bool has_planar_bodies(const Model& model) {
  for (const Body& b : model.bodies)
    if (is_planar(b.kind)) return true;
  return false;
}

// Derivative of a smooth vector function at 0: central differences of fourth order. With the step 1e-3 both the cut-off
// (h^4) and the rounding (1e-16/h) stay below 1e-11 of the function's own size.
template <class F>
auto slope(F&& f) {
  const double h = 1e-3;
  using Value = std::decay_t<decltype(f(0.0))>;
  const Value p1 = f(h), m1 = f(-h), p2 = f(2 * h), m2 = f(-2 * h);
  return Value((8 * (p1 - m1) - (p2 - m2)) / (12 * h));
}

// The state a moment `dt` along a path with the tangent (v, a, dz/dt).
inline State along(const Setting& x, double dt) {
  State s = x.s;
  s.t += dt;
  x.engine->plus(x.s.q, dt * x.s.v, s.q);
  s.v += dt * x.a;
  s.z += dt * x.zdot;
  return s;
}

inline Mat dense(const SparseMatrix<double>& m) {
  Mat out(m.rows(), m.cols());
  for (int i = 0; i < m.rows(); ++i)
    for (int j = 0; j < m.cols(); ++j) out(i, j) = m.at(i, j);
  return out;
}

// One test a sample; `which` states of it.
class Conformance : public ::testing::TestWithParam<Sample> {
 protected:
  const Traits& traits() const { return GetParam().traits; }
  static Model sample() {
    Model model = load_model_text(GetParam().sample, GetParam().name);
    if (GetParam().change) GetParam().change(model);
    return model;
  }
  static Model sample(bool joint_coordinates) {
    Model model = sample();
    model.joint_coordinates = joint_coordinates;
    return model;
  }
  // Each formulation the sample can be written in.
  template <class F>
  void each_setting(F&& check) {
    for (const bool joint : {false, true}) {
      if (joint && !traits().tree_capable) break;
      for (int which = 0; which < states_of_a_sample; ++which) {
        SCOPED_TRACE((joint ? "joint coordinates, state " : "absolute coordinates, state ") + std::to_string(which));
        Setting x = thrown(sample(joint), which);
        check(x);
      }
    }
  }
};

template <class Predicate>
std::vector<Sample> samples(Predicate&& wanted) {
  std::vector<Sample> out;
  for (const Registered& r : registry())
    if (wanted(r)) out.push_back({r, nullptr});
  for (const Sample& s : flexible_samples())
    if (wanted(s)) out.push_back(s);
  return out;
}
inline std::vector<Sample> samples() {
  return samples([](const Registered&) { return true; });
}

inline std::string sample_name(const ::testing::TestParamInfo<Sample>& info) { return info.param.name; }

}  // namespace clatter::test
