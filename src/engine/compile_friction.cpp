// Friction in joints (Compiler): which rates it opposes, and which reactions press on it (P-22 to P-24, AF-14, AF-21).
//
//   revolute      torque of the angle,  radius * coefficient * (pair(x, y) + collar_radius / radius |z|)
//   prismatic     force of the displacement,  coefficient * (pair(x, y) + 2 |moment about the axis| / width)
//   cylindrical   displacement and radius * angle share the disc of coefficient * pair(x, y): slip on one surface
//   point-on-curve, a line   force along it, coefficient * |reaction|
//   planar        x and y share the disc of coefficient * |z|; rz: radius * coefficient * |z|
//
// pair = |F/2 + m| + |F/2 - m|: the forces at the two ends of a bearing of length L about B's origin, F the reaction
// force and m = M x z / L of the reaction moment M on B; for one direction it is max(|F|, 2 |M| / L), AF-21.
#include <fmt/format.h>

#include <cmath>

#include "base/error.hpp"
#include "engine/compiler.hpp"

namespace clatter {

namespace {

// Slip speed of the smoothed law in parts of the model's own speed.
constexpr double kSmoothVelocity = 1e-3;

}  // namespace

void Compiler::build_frictions() {
  for (std::size_t i = 0; i < model_.joints.size(); ++i)
    if (model_.joints[i].friction) joint_friction(static_cast<int>(i));
}

void Compiler::joint_friction(int index) {
  const Joint& j = model_.joints[static_cast<std::size_t>(index)];
  const JointFriction& law = *j.friction;
  const double speed = sys_.length_scale / sys_.time_scale;

  // Rows of this joint by the axes of their measures.
  int force[3] = {-1, -1, -1}, tilt[2] = {-1, -1}, twist = -1, curve = -1;
  double tilt_sign[2] = {0, 0};
  const auto axis_of = [](const Vec3& a) { return a.x() != 0 ? 0 : a.y() != 0 ? 1 : 2; };
  for (std::size_t i = 0; i < sys_.deformations.size(); ++i) {
    const Deformation& d = sys_.deformations[i];
    if (sys_.joint_of_deformation[i] != index) continue;
    if (d.nonlinear) {
      curve = static_cast<int>(i);
      continue;
    }
    const Measure& m = sys_.measures[static_cast<std::size_t>(d.terms[0].measure)];
    const bool held = d.status == DeformationStatus::rigid || d.status == DeformationStatus::driven;
    if (m.velocity >= 0 || (m.kind != MeasureKind::coordinate && m.kind != MeasureKind::dot)) continue;
    if (!held) {
      if (law.coefficient.any() && d.status == DeformationStatus::elastic && m.kind == MeasureKind::coordinate &&
          axis_of(m.params.a) != 2)
        fail(law.source, fmt::format("`{}` is elastic: its reaction cannot load the friction of the joint", d.name),
             "give friction of a given size, or make the direction rigid");
      continue;
    }
    const int a = axis_of(m.params.a), b = axis_of(m.params.b);
    if (m.kind == MeasureKind::coordinate) {
      force[a] = static_cast<int>(i);
    } else if (a == 2 || b == 2) {
      tilt[a == 2 ? b : a] = static_cast<int>(i);
      tilt_sign[a == 2 ? b : a] = a == 2 ? -1 : 1;
    } else {
      twist = static_cast<int>(i);
    }
  }
  const auto pair = [&] {
    FrictionLoad load;
    for (int k = 0; k < 2; ++k) {
      load.force[k] = force[k];
      if (law.length > 0) {
        load.moment[k] = tilt[k];
        load.inverse_length[k] = tilt_sign[k] / law.length;
      }
    }
    return load;
  };
  const auto alone = [](int deformation, double weight) {
    FrictionLoad load;
    load.force[0] = deformation;
    load.weight = weight;
    return load;
  };

  JointFrictionIndex f;
  const auto component = [&](int k, const char* name, bool angular, double scale) {
    f.measure[k] = angle_measure(index, name, false);
    f.component[k] = name;
    f.angular[k] = angular;
    f.scale[k] = scale;
  };
  const auto add = [&](const Friction& base, std::vector<FrictionLoad> load) {
    f.joint = index;
    f.base = base;
    f.coefficient = load.empty() ? Friction{} : law.coefficient;
    f.load = std::move(load);
    f.velocity = law.velocity;
    const bool torque_alone = f.angular[0] && !law.coefficient.any();
    if (law.velocity > 0 && torque_alone) f.velocity *= f.scale[0];
    if (!(f.velocity > 0)) f.velocity = kSmoothVelocity * speed * (f.angular[0] ? f.scale[0] / sys_.length_scale : 1);
    if (f.base.any() || f.coefficient.any()) sys_.joint_frictions.push_back(f);
    f = {};
  };
  const bool loaded = law.coefficient.any();
  const double arm = loaded && law.radius > 0 ? law.radius : sys_.length_scale;
  std::vector<FrictionLoad> load;
  switch (j.kind) {
    case JointKind::revolute:
      component(0, "angle", true, arm);
      if (loaded) load.push_back(pair());
      if (loaded && law.collar_radius > 0 && force[2] >= 0) load.push_back(alone(force[2], law.collar_radius / arm));
      add(law.torque, load);
      break;
    case JointKind::prismatic:
      component(0, "displacement", false, 1);
      if (loaded) load.push_back(pair());
      if (loaded && law.width > 0 && twist >= 0) load.push_back(alone(twist, 2 / law.width));
      add(law.force, load);
      break;
    case JointKind::cylindrical:
      component(0, "displacement", false, 1);
      if (loaded) {
        component(1, "angle", true, arm);
        f.count = 2;
        add({}, {pair()});
      } else {
        add(law.force, {});
        component(0, "angle", true, arm);
        add(law.torque, {});
      }
      break;
    case JointKind::planar:
      component(0, "x", false, 1);
      component(1, "y", false, 1);
      f.count = 2;
      if (loaded) load.push_back(alone(force[2], 1));
      add(law.force, load);
      component(0, "rz", true, arm);
      add(law.torque, loaded && law.radius > 0 ? load : std::vector<FrictionLoad>{});
      break;
    case JointKind::point_on_curve:
      component(0, "x", false, 1);
      if (loaded) load.push_back(alone(curve, 1));
      add(law.force, load);
      break;
    case JointKind::universal:
      for (const char* name : {"rz", "ry"}) {
        component(0, name, true, arm);
        add(law.torque, {});
      }
      break;
    case JointKind::screw:
      component(0, "angle", true, arm);
      add(law.torque, {});
      break;
    default:
      break;
  }
}

}  // namespace clatter
