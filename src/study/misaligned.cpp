#include "study/misaligned.hpp"

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/text.hpp"
#include "model/kinds.hpp"

namespace clatter::study {

namespace {

enum class Holds { nothing, axis, orientation };

Holds held_by(JointKind kind) {
  switch (joint_kind(kind).axes.size()) {
    case 3:
      return Holds::orientation;
    case 2:
      return Holds::axis;
    default:
      return Holds::nothing;
  }
}

bool turns(const Model& model, int body) {
  if (body < 0) return true;
  return !is_particle(model.bodies[static_cast<std::size_t>(body)].kind);
}

}  // namespace

std::vector<Misaligned> misaligned_joints(Engine& engine, const State& s, double least) {
  const System& system = engine.system();
  const Model& model = system.model;
  std::vector<Misaligned> found;
  try {
    engine.observe(s, nullptr);
  } catch (const SolveError&) {
    return found;  // another trouble, with its own name
  }
  for (std::size_t i = 0; i < model.joints.size(); ++i) {
    const Joint& joint = model.joints[i];
    const System::JointIndex& index = system.joints[i];
    const Holds holds = held_by(joint.kind);
    if (holds == Holds::nothing || index.frame_a < 0 || index.frame_b < 0) continue;
    if (!joint.components.empty()) continue;  // directions that are driven or elastic may be turned
    if (!turns(model, joint.a.body) || !turns(model, joint.b.body)) continue;
    if (!engine.system().turns(joint.a) || !engine.system().turns(joint.b)) continue;
    const Mat3 R = engine.frame_state(index.frame_a).R.transpose() * engine.frame_state(index.frame_b).R;
    const double angle = holds == Holds::orientation ? std::abs(Eigen::AngleAxisd(R).angle())
                                                     : std::atan2(std::hypot(R(0, 2), R(1, 2)), R(2, 2));
    if (!(angle > least)) continue;
    found.push_back({static_cast<int>(i), angle,
                     fmt::format("joint `{}` starts with {} {} and {} {} degrees apart", joint.name,
                                 holds == Holds::orientation ? "the frames" : "the z axes of the frames", joint.a.label,
                                 joint.b.label, number(angle * 180 / std::numbers::pi, 4))});
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Misaligned& a, const Misaligned& b) { return a.angle > b.angle; });
  return found;
}

}  // namespace clatter::study
