#include "engine/counted_angles.hpp"

#include <cmath>
#include <numbers>
#include <optional>

#include "engine/compiler.hpp"
#include "model/expression.hpp"

namespace clatter {

namespace {

using Terms = std::vector<std::pair<int, double>>;

FrameState<double> frame_at(const System& sys, const TreeWork& work, int frame) {
  const Frame& f = sys.frames[static_cast<std::size_t>(frame)];
  FrameState<double> out;
  out.R = f.R;
  out.p = f.r;
  out.v = out.w = out.a = out.alpha = Vec3::Zero();
  if (f.link < 0) return out;
  const LinkMotion& m = work.motion[static_cast<std::size_t>(f.link)];
  out.R = m.R * f.R;
  out.p = m.p + m.R * f.r;
  return out;
}

// A planar link's angle against the world up to a constant, as a sum of coordinates; nothing where it is none.
std::optional<Terms> planar_angle(const System& sys, const TreeWork& work, int link) {
  Terms terms;
  for (int i = link; i >= 0; i = sys.tree.links[static_cast<std::size_t>(i)].parent) {
    const Link& l = sys.tree.links[static_cast<std::size_t>(i)];
    switch (l.mobility) {
      case Mobility::planar3:
        terms.emplace_back(l.q + 2, 1.0);
        return terms;
      case Mobility::revolute:
        terms.emplace_back(l.q, work.motion[static_cast<std::size_t>(i)].z.z() < 0 ? -1.0 : 1.0);
        break;
      case Mobility::prismatic:
      case Mobility::weld:
        break;
      case Mobility::marker:
        if (l.parent < 0) return std::nullopt;  // a beam: its axes follow from gradients
        break;
      default:
        return std::nullopt;
    }
  }
  return terms;
}

// By tree: whether its bodies are planar.
std::vector<char> planar_trees(const System& sys) {
  std::vector<char> planar(sys.tree.trees.size(), 0);
  for (std::size_t b = 0; b < sys.bodies.size(); ++b)
    if (is_planar(sys.model.bodies[b].kind))
      planar[static_cast<std::size_t>(sys.tree.links[static_cast<std::size_t>(sys.bodies[b].link)].tree)] = 1;
  return planar;
}

double target(const Deformation& drive, double t) {
  return drive.motion.is_constant() ? drive.motion.constant : drive.motion.expression->motion(t).value;
}

const Deformation* drive_of(const System& sys, int measure) {
  for (const int i : sys.holonomic) {
    const Deformation& d = sys.deformations[static_cast<std::size_t>(i)];
    if (d.status == DeformationStatus::driven && d.count == 1 && !d.nonlinear && d.terms[0].measure == measure)
      return &d;
  }
  return nullptr;
}

class Counting {
 public:
  explicit Counting(const System& sys) : sys_(sys), work_(sys.tree, sys.model.gravity), planar_(planar_trees(sys)) {
    kinematics(sys.tree, sys.initial.q, sys.initial.v, work_);
  }

  void add(const std::string& quantity, const char* description, const Measure& measure, const double* stated,
           const Deformation* drive) {
    CountedAngle angle;
    angle.drive = drive;
    angle.quantity = quantity;
    angle.description = description;
    angle.measure = measure;
    const FrameState<double> A = frame_at(sys_, work_, measure.a);
    MeasureValue<double> value;
    evaluate(measure.kind, measure.params, A, frame_at(sys_, work_, measure.b), value);
    angle.start = stated != nullptr ? in_turn(value.e, *stated) : value.e;
    if (drive != nullptr) angle.start = in_turn(value.e, target(*drive, sys_.initial.t));
    if (drive == nullptr && measure.kind == MeasureKind::angle && planar(measure.a) && planar(measure.b)) {
      const auto a = planar_angle(sys_, work_, link(measure.a)), b = planar_angle(sys_, work_, link(measure.b));
      if (a && b) count(angle, *a, *b, A.R(2, 2) < 0 ? -1 : 1);
    }
    list.push_back(std::move(angle));
  }

  std::vector<CountedAngle> list;

 private:
  int link(int frame) const { return sys_.frames[static_cast<std::size_t>(frame)].link; }
  bool planar(int frame) const {
    const int l = link(frame);
    return l < 0 || planar_[static_cast<std::size_t>(sys_.tree.links[static_cast<std::size_t>(l)].tree)] != 0;
  }
  void count(CountedAngle& angle, const Terms& a, const Terms& b, double sign) const {
    angle.by_coordinates = true;
    for (const auto& [q, factor] : b) angle.terms.emplace_back(q, sign * factor);
    for (const auto& [q, factor] : a) angle.terms.emplace_back(q, -sign * factor);
    angle.offset = angle.start;
    for (const auto& [q, factor] : angle.terms) angle.offset -= factor * sys_.initial.q[q];
  }

  const System& sys_;
  TreeWork work_;
  std::vector<char> planar_;
};

}  // namespace

double in_turn(double e, double near) {
  constexpr double two_pi = 2 * std::numbers::pi;
  return e + two_pi * std::round((near - e) / two_pi);
}

double CountedAngle::near(const State& s) const {
  if (drive != nullptr) return target(*drive, s.t);
  if (!by_coordinates) return start;
  double sum = offset;
  for (const auto& [q, factor] : terms) sum += factor * s.q[q];
  return sum;
}

const double* stated_component(const Joint& joint, const std::string& component) {
  const std::vector<JointStep> steps = joint_steps(joint.kind);
  for (std::size_t k = 0; k < steps.size() && k < joint.position.size(); ++k)
    if (steps[k].component == component && steps[k].mobility != Mobility::spherical) return &joint.position[k];
  return nullptr;
}

std::vector<CountedAngle> counted_angles(const System& sys) {
  Counting counting(sys);
  for (std::size_t b = 0; b < sys.bodies.size(); ++b) {
    const Body& body = sys.model.bodies[b];
    if (!is_planar(body.kind) || is_particle(body.kind)) continue;
    if (sys.tree.links[static_cast<std::size_t>(sys.bodies[b].link)].mobility == Mobility::planar3) continue;
    Measure m;
    m.kind = MeasureKind::angle;
    m.a = 0;  // ground
    m.b = sys.bodies[b].frame;
    counting.add(body.name + ".angle", "angle of the planar body", m, nullptr, nullptr);
  }
  for (const System::JointComponentIndex& c : sys.joint_components) {
    const Measure& m = sys.measures[static_cast<std::size_t>(c.measure)];
    if (m.velocity >= 0 || m.turns >= 0 || (m.kind != MeasureKind::angle && m.kind != MeasureKind::swing)) continue;
    const Joint& joint = sys.model.joints[static_cast<std::size_t>(c.joint)];
    counting.add(joint.name + "." + c.name, "joint component", m, stated_component(joint, c.name),
                 drive_of(sys, c.measure));
  }
  return std::move(counting.list);
}

}  // namespace clatter
