#include "engine/found_start.hpp"

#include <algorithm>

#include "engine/compiler.hpp"
#include "engine/counted_angles.hpp"
#include "engine/engine.hpp"

namespace clatter {

Model starting_at(Engine& engine, const State& s) {
  const System& sys = engine.system();
  Model model = sys.model;
  engine.observe(s, nullptr);
  for (std::size_t i = 0; i < sys.bodies.size(); ++i) {
    const FrameState<double> f = engine.frame_state(sys.bodies[i].frame);
    Body& body = model.bodies[i];
    body.pose = Placement{f.p, Quat(f.R).normalized()};
    body.velocity = f.v;
    body.angular_velocity = f.w;
  }
  for (const FlexibleIndex& f : sys.flexible) {
    const BlockWork& block = *engine.links().blocks[static_cast<std::size_t>(f.block)];
    Body& body = model.bodies[static_cast<std::size_t>(f.body)];
    body.elastic.assign(block.elastic_coordinates(), block.elastic_coordinates() + f.n);
    body.elastic_rate.assign(block.elastic_rates(), block.elastic_rates() + f.n);
  }
  // With every pose given, positions of joints only say in which turn they are.
  for (Joint& joint : model.joints) {
    const auto index = static_cast<int>(&joint - model.joints.data());
    std::vector<double> position;
    for (const JointStep& step : joint_steps(joint.kind))
      for (const System::JointComponentIndex& c : sys.joint_components)
        if (c.joint == index && c.name == step.component) {
          const double* stated = stated_component(joint, c.name);
          const double e = engine.measure(c.measure).e;
          position.push_back(c.angular && stated != nullptr ? in_turn(e, *stated) : e);
        }
    if (position.size() == joint_steps(joint.kind).size()) joint.position = position;
  }
  return model;
}

Model in_absolute_coordinates(Model model) {
  model.joint_coordinates = false;
  for (Joint& j : model.joints) j.in_tree = false;
  return model;
}

bool same_start(Engine& one, const State& s, Engine& other, const State& of_other) {
  constexpr double kRounding = 1e-12;
  const System& sys = one.system();
  one.observe(s, nullptr);
  other.observe(of_other, nullptr);
  double speed = sys.length_scale / sys.time_scale, spin = 1 / sys.time_scale, length = sys.length_scale;
  for (const BodyIndex& b : sys.bodies) {
    const FrameState<double> f = one.frame_state(b.frame);
    length = std::max(length, f.p.norm());
    speed = std::max(speed, f.v.norm());
    spin = std::max(spin, f.w.norm());
  }
  for (std::size_t i = 0; i < sys.bodies.size(); ++i) {
    const FrameState<double> a = one.frame_state(sys.bodies[i].frame),
                             b = other.frame_state(other.system().bodies[i].frame);
    if ((a.p - b.p).norm() > kRounding * length || (a.v - b.v).norm() > kRounding * speed) return false;
    if ((a.R - b.R).norm() > kRounding || (a.w - b.w).norm() > kRounding * spin) return false;
  }
  return true;
}

}  // namespace clatter
