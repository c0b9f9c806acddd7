// Joints as deformations (Compiler).
//
// rows of a joint, A on the first body, B on the second (E-4 and the joint table of docs/model-language.md):
//   x y z    displacement of B's origin along an axis of A
//   zx zy xy products of axes, z_A . x_B and so on: zero when the axes are perpendicular
// In the plane only rows that lie in the plane remain; a particle has no orientation, so rows on it hold positions
// only.
#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "engine/compiler.hpp"
#include "engine/counted_angles.hpp"
#include "engine/engine.hpp"
#include "model/kinds.hpp"

namespace clatter {

namespace {

Measure coordinate(int a, int b, int axis) {
  Measure m;
  m.kind = MeasureKind::coordinate;
  m.params.a = Vec3::Unit(axis);
  m.a = a;
  m.b = b;
  return m;
}

Measure product(int a, int b, int axis_a, int axis_b) {
  Measure m;
  m.kind = MeasureKind::dot;
  m.params.a = Vec3::Unit(axis_a);
  m.params.b = Vec3::Unit(axis_b);
  m.a = a;
  m.b = b;
  return m;
}

Measure of_kind(MeasureKind kind, int a, int b) {
  Measure m;
  m.kind = kind;
  m.a = a;
  m.b = b;
  return m;
}

}  // namespace

bool Compiler::planar_pair(const Attachment& a, const Attachment& b) const {
  const auto planar = [&](int body) { return body < 0 || is_planar(model_.bodies[body].kind); };
  return planar(a.body) && planar(b.body) && (a.body >= 0 || b.body >= 0);
}

bool Compiler::particle_pair(const Attachment& a, const Attachment& b) const {
  const auto particle = [&](const Attachment& x) {
    return x.body >= 0 && (is_particle(model_.bodies[x.body].kind) || !sys_.turns(x));
  };
  return particle(a) || particle(b);
}

int Compiler::frame_of(const Attachment& a) {
  Frame f;
  if (a.body < 0) {
    f.R = a.placement.rotation.toRotationMatrix();
    f.r = a.placement.position;
  } else if (!a.marker.empty()) {
    f = sys_.on_marker(a);
  } else {
    const Placement X = body_in_link_[a.body] * a.placement;
    f.link = sys_.bodies[a.body].link;
    f.R = X.rotation.toRotationMatrix();
    f.r = X.position;
  }
  for (std::size_t i = 0; i < sys_.frames.size(); ++i)
    if (sys_.frames[i].link == f.link && sys_.frames[i].R == f.R && sys_.frames[i].r == f.r) return static_cast<int>(i);
  sys_.frames.push_back(f);
  sys_.frame_names.push_back(a.label);
  return static_cast<int>(sys_.frames.size()) - 1;
}

int Compiler::add_measure(const Measure& m) {
  sys_.measures.push_back(m);
  return static_cast<int>(sys_.measures.size()) - 1;
}

void Compiler::count_turns(int measure) {
  Measure& m = sys_.measures[measure];
  if (m.velocity >= 0 || m.turns >= 0) return;
  if (m.kind != MeasureKind::angle && m.kind != MeasureKind::swing) return;
  m.turns = new_state();
  sys_.turning.push_back(measure);
}

// The measure behind a joint's free component: the joint coordinate in a tree, else a function of the frames.
std::optional<int> Compiler::component_measure(int joint, const std::string& component, bool turns) {
  const Joint& j = model_.joints[joint];
  const auto key = std::make_pair(joint, component);
  auto found = measure_of_component_.find(key);
  if (found == measure_of_component_.end()) {
    std::optional<Measure> m;
    const int tj_index = tree_index_of_joint_[joint];
    if (tj_index >= 0) {
      const TreeJoint& tj = tree_joints_[tj_index];
      std::vector<JointStep> steps = joint_steps(j.kind);
      if (tj.reversed) std::reverse(steps.begin(), steps.end());
      for (std::size_t k = 0; k < steps.size(); ++k) {
        const Link& l = sys_.tree.links[tj.links[k]];
        const bool screw_displacement = steps[k].mobility == Mobility::screw && component == "displacement";
        if ((steps[k].component != component && !screw_displacement) || l.nv != 1) continue;
        Measure coordinate_measure;
        coordinate_measure.q = l.q;
        coordinate_measure.velocity = l.v;
        coordinate_measure.rate_scale = (tj.reversed ? -1 : 1) * (screw_displacement ? j.pitch : 1);
        m = coordinate_measure;
      }
    }
    if (!m) {
      const int a = frame_of(j.a), b = frame_of(j.b);
      const bool turning = !particle_pair(j.a, j.b);
      if (component == "angle" && turning && joint_kind(j.kind).has("angle"))
        m = of_kind(MeasureKind::angle, a, b);
      else if (component == "displacement" && joint_kind(j.kind).has("displacement"))
        m = coordinate(a, b, 2);
      else if (component == "distance" && j.kind == JointKind::distance)
        m = of_kind(MeasureKind::distance, a, b);
      else if (j.kind == JointKind::universal && (component == "rz" || component == "ry")) {
        m = of_kind(MeasureKind::swing, a, b);
        m->params = component == "rz" ? universal_angle_z() : universal_angle_y();
      } else if (j.kind == JointKind::planar && component == "rz")
        m = of_kind(MeasureKind::angle, a, b);
      else if (component == "x" || component == "y" || component == "z")
        m = coordinate(a, b, component[0] - 'x');
      else if ((component == "rx" || component == "ry" || component == "rz") && turning &&
               (j.kind == JointKind::bushing || j.kind == JointKind::spherical)) {
        m = of_kind(MeasureKind::rotation, a, b);
        m->params.component = component[1] - 'x';
      } else if (j.kind == JointKind::slip) {
        m = of_kind(MeasureKind::slip, a, b);
        m->params.a = Vec3::UnitZ();
      }
    }
    if (!m) return std::nullopt;
    found = measure_of_component_.emplace(key, add_measure(*m)).first;
  }
  if (turns) count_turns(found->second);
  return found->second;
}

int Compiler::angle_measure(int joint, const std::string& component, bool turns) {
  const std::optional<int> m = component_measure(joint, component, turns);
  if (!m)
    fail(model_.joints[joint].source, "the joint `" + model_.joints[joint].name + "` is " +
                                          joint_kind_name(model_.joints[joint].kind) + " and has no `" + component +
                                          "`");
  return *m;
}

const Status* Compiler::status_of(const Joint& j, const std::string& component) const {
  for (const JointComponent& c : j.components)
    if (c.name == component) return &c.status;
  return nullptr;
}

Deformation& Compiler::add_deformation(const Joint& j, int joint_index, const std::string& component, int measure,
                                       bool angular) {
  Deformation d;
  d.element = j.name;
  d.name = j.name + "." + component;
  d.terms[0] = {measure, 1};
  d.count = 1;
  d.angular = angular;
  sys_.deformations.push_back(std::move(d));
  sys_.joint_of_deformation.push_back(joint_index);
  return sys_.deformations.back();
}

void Compiler::apply_status(Deformation& d, const Status& status, const Source& source) {
  if (std::holds_alternative<Rigid>(status)) {
    d.status = DeformationStatus::rigid;
  } else if (const auto* driven = std::get_if<Driven>(&status)) {
    d.status = DeformationStatus::driven;
    d.motion = function(driven->motion);
    for (const FunctionInput& in : d.motion.inputs)
      if (in.kind != FunctionInput::Kind::time)
        fail(driven->motion.source, "the drive `" + d.name + "` may depend on the time `t` only",
             "use a force, a torque or an actuator for a motion that answers measured quantities");
    d.channel = channel("drive " + d.name);
  } else if (const auto* elastic = std::get_if<Elastic>(&status)) {
    set_law(d, elastic->law, source);
  }
}

void Compiler::build_joints() {
  sys_.joints.resize(model_.joints.size());
  for (std::size_t i = 0; i < model_.joints.size(); ++i) {
    const Joint& j = model_.joints[i];
    if (j.kind == JointKind::gear || j.kind == JointKind::rack_pinion || j.kind == JointKind::coordinate)
      coupling_row(j, static_cast<int>(i));
    else
      joint_rows(static_cast<int>(i));
  }
}

void Compiler::joint_rows(int index) {
  const Joint& j = model_.joints[index];
  const bool planar = planar_pair(j.a, j.b), particle = particle_pair(j.a, j.b);
  const Placement A = (j.a.body < 0 ? Placement{} : pose_[j.a.body]) * j.a.placement;
  const Placement B = (j.b.body < 0 ? Placement{} : pose_[j.b.body]) * j.b.placement;
  const auto in_plane = [](const Placement& X, int axis) {
    return std::abs((X.rotation * Vec3::Unit(axis)).z()) < 0.5;
  };
  const bool in_tree = tree_index_of_joint_[index] >= 0;
  System::JointIndex& where = sys_.joints[index];
  where.frame_a = frame_of(j.a);
  where.frame_b = frame_of(j.b);
  if (in_tree) {
    const TreeJoint& tj = tree_joints_[tree_index_of_joint_[index]];
    where.link = tj.links.back();
    where.reversed = tj.reversed;
  }
  std::vector<std::string> known;

  // Free components: observed, driven, or elastic.
  const auto free_component = [&](const std::string& name, bool angular) {
    known.push_back(name);
    const Status* status = status_of(j, name);
    const bool set = status && !std::holds_alternative<Free>(*status);
    const bool turns = angular && set && std::holds_alternative<Elastic>(*status);
    const std::optional<int> m = component_measure(index, name, turns);
    if (m) sys_.joint_components.push_back({index, name, *m, angular});
    if (!set) return;
    if (!m) fail(j.source, "the joint `" + j.name + "` has no component `" + name + "` between these bodies");
    apply_status(add_deformation(j, index, name, *m, angular), *status, j.source);
  };
  // Directions the kind holds; the user may make a displacement elastic or drive it.
  const auto held_displacement = [&](int axis) {
    const std::string name(1, static_cast<char>('x' + axis));
    known.push_back(name);
    if (in_tree) return;
    if (planar && !in_plane(A, axis)) return;
    const Status* status = status_of(j, name);
    Deformation& d =
        add_deformation(j, index, name, add_measure(coordinate(frame_of(j.a), frame_of(j.b), axis)), false);
    apply_status(d, status ? *status : Status(Rigid{}), j.source);
  };
  const auto held_product = [&](int axis_a, int axis_b) {
    if (in_tree || particle) return;
    // Moments on a bearing whose friction counts them are written in A's axes, as its forces are, whatever the angle.
    if (axis_a == 2 && j.friction && j.friction->length > 0 && j.kind != JointKind::prismatic)
      std::swap(axis_a, axis_b);
    if (planar && (!in_plane(A, axis_a) || !in_plane(B, axis_b))) return;
    const std::string name = std::string(1, static_cast<char>('x' + axis_a)) + static_cast<char>('x' + axis_b);
    Deformation& d =
        add_deformation(j, index, name, add_measure(product(frame_of(j.a), frame_of(j.b), axis_a, axis_b)), true);
    apply_status(d, Rigid{}, j.source);
  };
  if (planar && (j.kind == JointKind::revolute || j.kind == JointKind::planar) && in_plane(A, 2))
    fail(j.source, "the axis of the joint `" + j.name + "` lies in the plane of its planar bodies",
         "between planar bodies a revolute joint turns about z");
  if (planar &&
      (j.kind == JointKind::universal || j.kind == JointKind::screw || j.kind == JointKind::constant_velocity))
    fail(j.source, std::string("a ") + joint_kind_name(j.kind) + " joint needs spatial bodies; `" + j.name +
                       "` joins planar ones");

  const JointKindInfo& kind = joint_kind(j.kind);
  for (const int axis : kind.held) held_displacement(axis);
  for (const auto& [axis_a, axis_b] : kind.axes) held_product(axis_a, axis_b);
  // Of a bushing between planar bodies only what happens in their plane.
  const auto leaves_plane = [&](const std::string& name) {
    const bool turn = is_rotation(name);
    return in_plane(A, name[turn ? 1 : 0] - 'x') == turn;
  };
  for (const std::string& name : kind.observed)
    if (!planar || j.kind != JointKind::bushing || !leaves_plane(name)) free_component(name, is_rotation(name));

  // What a kind has beyond that.
  switch (j.kind) {
    case JointKind::screw:
      if (!in_tree) {
        if (particle) fail(j.source, "the screw joint `" + j.name + "` needs bodies that can turn");
        const int angle = angle_measure(index, "angle", true);
        const int displacement = *component_measure(index, "displacement", false);
        Deformation& d = add_deformation(j, index, "pitch", displacement, false);
        d.terms[1] = {angle, -j.pitch};
        d.count = 2;
        d.status = DeformationStatus::rigid;
      }
      break;
    case JointKind::constant_velocity: {
      Measure m = of_kind(MeasureKind::dot_difference, frame_of(j.a), frame_of(j.b));
      m.params = constant_velocity_axes();
      apply_status(add_deformation(j, index, "twist", add_measure(m), true), Rigid{}, j.source);
      break;
    }
    case JointKind::distance: {
      known.push_back("distance");
      sys_.joint_components.push_back({index, "distance", *component_measure(index, "distance", false), false});
      const Status* status = status_of(j, "distance");
      Deformation& d = add_deformation(j, index, "distance", *component_measure(index, "distance", false), false);
      if (!status) {
        d.status = DeformationStatus::rigid;
        if (j.length)
          d.offset = *j.length;
        else
          offset_at_start_.push_back(static_cast<int>(sys_.deformations.size()) - 1);
      } else {
        apply_status(d, *status, j.source);
      }
      break;
    }
    case JointKind::point_on_curve: {
      const int a = frame_of(j.a), b = frame_of(j.b);
      Deformation& d = add_deformation(j, index, "curve", add_measure(coordinate(a, b, 0)), false);
      d.terms[1] = {add_measure(coordinate(a, b, 1)), 1};
      d.count = 2;
      d.nonlinear = true;
      d.curve = j.curve;
      d.status = DeformationStatus::rigid;
      break;
    }
    case JointKind::slip: {
      known.push_back("slip");
      const Status* status = status_of(j, "slip");
      Deformation& d = add_deformation(j, index, "slip", *component_measure(index, "slip", false), false);
      d.nonholonomic = true;
      apply_status(d, status ? *status : Status(Rigid{}), j.source);
      break;
    }
    default:
      break;
  }
  for (const JointComponent& c : j.components)
    if (std::find(known.begin(), known.end(), c.name) == known.end())
      fail(c.source,
           "a " + std::string(joint_kind_name(j.kind)) + " joint has no component `" + c.name + "` that can be set",
           did_you_mean(c.name, known));
}

void Compiler::coupling_row(const Joint& j, int index) {
  const auto find = [&](const std::string& name) -> int {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < model_.joints.size(); ++i) {
      if (model_.joints[i].name == name) return static_cast<int>(i);
      names.push_back(model_.joints[i].name);
    }
    fail(j.source, "`" + j.name + "` couples the joint `" + name + "`, which does not exist",
         did_you_mean(name, names));
  };
  const auto turning = [&](int joint) {
    return angle_measure(joint, model_.joints[joint].kind == JointKind::universal ? "rz" : "angle", true);
  };
  Deformation* d = nullptr;
  if (j.kind == JointKind::gear) {
    d = &add_deformation(j, index, "gear", turning(find(j.first)), true);
    const int second = turning(find(j.second));
    d = &sys_.deformations.back();
    d->terms[1] = {second, j.ratio};
    d->count = 2;
    offset_at_start_.push_back(static_cast<int>(sys_.deformations.size()) - 1);
  } else if (j.kind == JointKind::rack_pinion) {
    d = &add_deformation(j, index, "rack", angle_measure(find(j.first), "displacement", false), false);
    const int second = turning(find(j.second));
    d = &sys_.deformations.back();
    d->terms[1] = {second, -j.ratio};
    d->count = 2;
    offset_at_start_.push_back(static_cast<int>(sys_.deformations.size()) - 1);
  } else {
    const FunctionInput in = quantity(j.first, j.source);
    if (in.kind == FunctionInput::Kind::state) fail(j.source, "`" + j.first + "` is an inner state and cannot be held");
    count_turns(in.index);
    d = &add_deformation(j, index, "coordinate", in.index, false);
    d->nonholonomic = in.kind == FunctionInput::Kind::rate;
    const Status* status = status_of(j, "coordinate");
    if (!status || std::holds_alternative<Rigid>(*status)) {
      d->status = DeformationStatus::rigid;
      if (!d->nonholonomic) offset_at_start_.push_back(static_cast<int>(sys_.deformations.size()) - 1);
    } else {
      apply_status(*d, *status, j.source);
    }
    return;
  }
  d->status = DeformationStatus::rigid;
}

void Compiler::finish_rows() {
  for (std::size_t i = 0; i < sys_.deformations.size(); ++i) {
    Deformation& d = sys_.deformations[i];
    const int index = static_cast<int>(i);
    if (d.status == DeformationStatus::elastic) sys_.elastic.push_back(index);
    if (d.status != DeformationStatus::rigid && d.status != DeformationStatus::driven) continue;
    (d.nonholonomic ? sys_.nonholonomic : sys_.holonomic).push_back(index);
  }
  for (std::size_t r = 0; r < sys_.holonomic.size(); ++r)
    sys_.deformations[sys_.holonomic[r]].row = static_cast<int>(r);
  for (std::size_t r = 0; r < sys_.nonholonomic.size(); ++r)
    sys_.deformations[sys_.nonholonomic[r]].row = static_cast<int>(sys_.holonomic.size() + r);

  // What every evaluation needs.
  sys_.measure_active.assign(sys_.measures.size(), 0);
  const auto activate = [&](const CompiledFunction& f) {
    for (const FunctionInput& in : f.inputs)
      if (in.kind == FunctionInput::Kind::value || in.kind == FunctionInput::Kind::rate)
        sys_.measure_active[in.index] = 1;
  };
  for (const Deformation& d : sys_.deformations) {
    if (d.status == DeformationStatus::free) continue;
    for (int k = 0; k < d.count; ++k) sys_.measure_active[d.terms[k].measure] = 1;
    activate(d.formula);
    activate(d.motion);
  }
  for (const CompiledLoad& load : sys_.loads)
    for (const CompiledFunction& f : load.component) activate(f);
  for (const int m : sys_.turning) sys_.measure_active[m] = 1;
  sys_.frame_active.assign(sys_.frames.size(), 0);
  for (std::size_t i = 0; i < sys_.measures.size(); ++i)
    if (sys_.measure_active[i] && sys_.measures[i].velocity < 0 && sys_.measures[i].block < 0)
      sys_.frame_active[sys_.measures[i].a] = sys_.frame_active[sys_.measures[i].b] = 1;
  for (const CompiledLoad& load : sys_.loads) {
    sys_.frame_active[load.frame] = 1;
    if (load.reaction >= 0) sys_.frame_active[load.reaction] = 1;
  }
  for (const int i : sys_.elastic) {
    const Deformation& d = sys_.deformations[i];
    if (d.stress != Deformation::Stress::law) continue;
    const LawEvents events = law_events(d.law);
    for (int k = 0; k < events.count; ++k) sys_.events.push_back({i, events.kind[k]});
  }
  Sizes& n = sys_.sizes;
  n.nq = sys_.tree.nq;
  n.nv = sys_.tree.nv;
  n.nz = nz_;
  n.nh = static_cast<int>(sys_.holonomic.size());
  n.nn = static_cast<int>(sys_.nonholonomic.size());
  n.np = static_cast<int>(sys_.channel_names.size());
  n.ne = static_cast<int>(sys_.events.size());
  sys_.initial.z = Eigen::Map<Vec>(z0_.data(), nz_);
}

// Values that the start defines: lengths not given, phases of gears, turn counters.
void Compiler::offsets_from_start() {
  if (offset_at_start_.empty() && sys_.turning.empty()) return;
  std::shared_ptr<const System> borrowed(&sys_, [](const System*) {});
  Engine engine(borrowed);
  engine.observe(sys_.initial, nullptr);
  for (const int m : sys_.turning) sys_.initial.z[sys_.measures[m].turns] = engine.measure(m).e;
  for (const System::JointComponentIndex& c : sys_.joint_components)
    if (const double* stated = stated_component(model_.joints[c.joint], c.name))
      if (const Measure& m = sys_.measures[c.measure]; m.turns >= 0)
        sys_.initial.z[m.turns] = in_turn(engine.measure(c.measure).e, *stated);
  engine.observe(sys_.initial, nullptr);  // with these turns
  for (const int i : offset_at_start_) {
    Deformation& d = sys_.deformations[i];
    d.offset = 0;
    d.offset = engine.deformation_value(d, sys_.initial).e;
  }
}

}  // namespace clatter
