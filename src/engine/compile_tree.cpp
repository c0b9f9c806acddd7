// Bodies, trees and the start state (Compiler).
#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <queue>

#include <Eigen/Eigenvalues>

#include "base/error.hpp"
#include "base/rotation.hpp"
#include "engine/compiler.hpp"
#include "engine/engine.hpp"
#include "model/kinds.hpp"

namespace clatter {

namespace {

// A thin rod has no inertia about its own axis, and then M has no inverse. What turns about that axis gets this part of
// the largest principal moment: less than what a rod with a radius of 1/25 000 of its length has, and enough to keep
// seven digits of the constraint forces.
constexpr double kLeastMoment = 1e-8;

Mat3 with_spin_inertia(const Mat3& inertia) {
  const Eigen::SelfAdjointEigenSolver<Mat3> solver(inertia);
  const Vec3 J = solver.eigenvalues();  // increasing
  const double least = kLeastMoment * J[2];
  if (J[0] >= least) return inertia;
  const Vec3 axis = solver.eigenvectors().col(0);
  return inertia + (least - J[0]) * axis * axis.transpose();
}

}  // namespace

std::vector<JointStep> joint_steps(JointKind kind) {
  static constexpr Mobility kMobility[] = {Mobility::weld, Mobility::revolute, Mobility::prismatic, Mobility::screw,
                                           Mobility::spherical};
  std::vector<JointStep> steps;
  for (const JointMotion& m : joint_kind(kind).motions)
    steps.push_back({kMobility[static_cast<std::size_t>(m.kind)], m.axis, m.component});
  return steps;
}

namespace {

// Turns the chosen axis into z.
Mat3 axis_to_z(int axis) {
  Mat3 C = Mat3::Identity();
  if (axis == 0) C << 0, 0, 1, 1, 0, 0, 0, 1, 0;
  if (axis == 1) C << 1, 0, 0, 0, 0, 1, 0, -1, 0;
  return C;
}

Quat about(int axis, double angle) { return Quat(Eigen::AngleAxisd(angle, Vec3::Unit(axis))); }

}  // namespace

void Compiler::fail(const Source& source, const std::string& message, const std::string& hint) const {
  throw InputError(model_.texts, source, message, hint);
}

Placement Compiler::joint_displacement(const Joint& j) const {
  Placement X;
  const std::vector<JointStep> steps = joint_steps(j.kind);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const double q = i < j.position.size() ? j.position[i] : 0.0;
    if (steps[i].mobility == Mobility::prismatic) X = X * Placement{q * Vec3::Unit(steps[i].axis), Quat::Identity()};
    if (steps[i].mobility == Mobility::revolute) X = X * Placement{Vec3::Zero(), about(steps[i].axis, q)};
    if (steps[i].mobility == Mobility::screw)
      X = X * Placement{j.pitch * q * Vec3::Unit(steps[i].axis), about(steps[i].axis, q)};
    if (steps[i].mobility == Mobility::spherical && j.position.size() >= 3)
      X.rotation = X.rotation * quaternion_exp<double>(Vec3(j.position[0], j.position[1], j.position[2]));
  }
  return X;
}

// Start poses and velocities: as written, else carried over a joint from a body already placed, else at rest at the
// origin of the body's assembly.
namespace {

// Joints pass by pass, in their order, for as long as something changes: but only those at bodies that have changed, so
// that the time is that of one pass (and a logarithm) however long a chain is and in whatever order it is written.
class JointPasses {
 public:
  explicit JointPasses(const Model& model) : at_body_(model.bodies.size()) {
    for (std::size_t i = 0; i < model.joints.size(); ++i) {
      const Joint& j = model.joints[i];
      if (joint_steps(j.kind).empty()) continue;
      next_.push(static_cast<int>(i));
      for (const int body : {j.a.body, j.b.body})
        if (body >= 0) at_body_[static_cast<std::size_t>(body)].push_back(static_cast<int>(i));
    }
  }
  // The next joint to look at; -1 when nothing has changed since all were looked at.
  int next() {
    if (now_.empty()) {
      std::swap(now_, next_);
      place_ = -1;
    }
    if (now_.empty()) return -1;
    place_ = now_.top();
    while (!now_.empty() && now_.top() == place_) now_.pop();
    return place_;
  }
  void changed(int body) {
    for (const int joint : at_body_[static_cast<std::size_t>(body)]) (joint > place_ ? now_ : next_).push(joint);
  }

 private:
  using Heap = std::priority_queue<int, std::vector<int>, std::greater<>>;
  std::vector<std::vector<int>> at_body_;
  Heap now_, next_;
  int place_ = -1;
};

}  // namespace

void Compiler::place_bodies() {
  const std::size_t n = model_.bodies.size();
  pose_.resize(n);
  velocity_.assign(n, Vec3::Zero());
  omega_.assign(n, Vec3::Zero());
  std::vector<char> placed(n, 0), moving(n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    const Body& b = model_.bodies[i];
    if (b.pose) {
      pose_[i] = *b.pose;
      placed[i] = 1;
    }
    if (b.velocity) velocity_[i] = *b.velocity;
    if (b.angular_velocity) omega_[i] = *b.angular_velocity;
    moving[i] = b.velocity || b.angular_velocity;
  }
  const auto known = [&](int body) { return body < 0 || placed[body]; };
  JointPasses placing(model_);
  for (auto left = placed.begin();;) {
    for (int i = placing.next(); i >= 0; i = placing.next()) {
      const Joint& j = model_.joints[static_cast<std::size_t>(i)];
      const bool forward = known(j.a.body) && j.b.body >= 0 && !placed[j.b.body];
      const bool backward = known(j.b.body) && j.a.body >= 0 && !placed[j.a.body];
      if (!forward && !backward) continue;
      const Placement X = joint_displacement(j);
      if (forward) {
        const Placement A = (j.a.body < 0 ? Placement{} : pose_[j.a.body]) * j.a.placement;
        pose_[j.b.body] = A * X * j.b.placement.inverse();
      } else {
        const Placement B = (j.b.body < 0 ? Placement{} : pose_[j.b.body]) * j.b.placement;
        pose_[j.a.body] = B * X.inverse() * j.a.placement.inverse();
      }
      const int body = forward ? j.b.body : j.a.body;
      placed[body] = 1;
      placing.changed(body);
    }
    // Nothing hangs on what is placed: put the first body left at its origin and go on from there.
    left = std::find(left, placed.end(), char{0});
    if (left == placed.end()) break;
    *left = 1;
    const auto i = static_cast<std::size_t>(left - placed.begin());
    pose_[i] = model_.bodies[i].origin;
    placing.changed(static_cast<int>(i));
  }
  // Rates given at joints move what was not given a velocity itself, outward from ground and from bodies that have one:
  // from first bodies to second ones as far as that goes, then the other way.
  std::vector<char> done = moving;
  const auto is_done = [&](int body) { return body < 0 || done[body]; };
  const auto carry = [&](bool forward) {
    bool progress = false;
    for (const Joint& j : model_.joints) {
      const Attachment &from = forward ? j.a : j.b, &to = forward ? j.b : j.a;
      if (joint_steps(j.kind).empty() || to.body < 0 || done[to.body] || !is_done(from.body)) continue;
      const Vec3 at = ((j.b.body < 0 ? Placement{} : pose_[j.b.body]) * j.b.placement).position;
      Vec3 v, w;
      joint_twist(j, v, w);
      Vec3 w_from = Vec3::Zero(), v_from = Vec3::Zero();
      if (from.body >= 0) {
        w_from = omega_[from.body];
        v_from = velocity_[from.body] + w_from.cross(at - pose_[from.body].position);
      }
      const double sign = forward ? 1 : -1;
      omega_[to.body] = w_from + sign * w;
      velocity_[to.body] = v_from + sign * v + omega_[to.body].cross(pose_[to.body].position - at);
      done[to.body] = 1;
      progress = true;
    }
    return progress;
  };
  while (carry(true) || carry(false)) {
  }
}

// Twist of B against A from the rates that a joint states, world axes, at B: each step's about its axis as turned by
// the steps before it.
void Compiler::joint_twist(const Joint& j, Vec3& v, Vec3& w) const {
  const std::vector<JointStep> steps = joint_steps(j.kind);
  Placement X = (j.a.body < 0 ? Placement{} : pose_[j.a.body]) * j.a.placement;
  const Placement B = (j.b.body < 0 ? Placement{} : pose_[j.b.body]) * j.b.placement;
  v.setZero();
  w.setZero();
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const double q = i < j.position.size() ? j.position[i] : 0.0;
    const double rate = i < j.velocity.size() ? j.velocity[i] : 0.0;
    const Vec3 axis = X.rotation * Vec3::Unit(steps[i].axis);
    if (steps[i].mobility == Mobility::prismatic) v += rate * axis;
    if (steps[i].mobility == Mobility::revolute || steps[i].mobility == Mobility::screw) {
      w += rate * axis;
      if (steps[i].mobility == Mobility::screw) v += j.pitch * rate * axis;
      X.rotation = X.rotation * about(steps[i].axis, q);
    }
    if (steps[i].mobility == Mobility::spherical && j.velocity.size() >= 3)
      w += B.rotation * Vec3(j.velocity[0], j.velocity[1], j.velocity[2]);
  }
}

bool Compiler::may_stand_in_tree(const Joint& j) const {
  const std::vector<JointStep> steps = joint_steps(j.kind);
  if (steps.empty() || !j.in_tree.value_or(model_.joint_coordinates)) return false;
  // Friction that grows with the reactions needs them as multipliers.
  if (j.friction && j.friction->coefficient.any()) return false;
  // A direction that the kind holds rigid but the user made elastic or driven belongs to the absolute form.
  for (const JointComponent& c : j.components)
    if (std::none_of(steps.begin(), steps.end(), [&](const JointStep& s) { return s.component == c.name; }))
      return false;
  for (const Attachment* a : {&j.a, &j.b})
    if (a->body >= 0 && (is_particle(model_.bodies[a->body].kind) || deforms(model_.bodies[a->body].kind)))
      return false;
  if (planar_pair(j.a, j.b)) {
    // In the plane a tree may turn about z and slide along directions of the plane.
    for (const JointStep& s : steps) {
      const Placement A = (j.a.body < 0 ? Placement{} : pose_[j.a.body]) * j.a.placement;
      const double out_of_plane = std::abs((A.rotation * Vec3::Unit(s.axis)).z());
      if (s.mobility == Mobility::revolute && out_of_plane < 0.5) return false;
      if (s.mobility == Mobility::prismatic && out_of_plane > 0.5) return false;
      if (s.mobility == Mobility::spherical || s.mobility == Mobility::screw) return false;
    }
  }
  return true;
}

void Compiler::choose_trees() {
  const std::size_t n = model_.bodies.size();
  tree_joint_of_body_.assign(n, -1);
  tree_index_of_joint_.assign(model_.joints.size(), -1);
  children_.assign(n, {});
  std::vector<char> reached(n, 0);
  // Grow outward from ground, breadth first, joints in the order written; then from each body not reached.
  const auto grow = [&](std::vector<int> front) {
    while (!front.empty()) {
      std::vector<int> next;
      for (const int from : front)
        for (std::size_t k = 0; k < model_.joints.size(); ++k) {
          const Joint& j = model_.joints[k];
          if (tree_index_of_joint_[k] >= 0 || !may_stand_in_tree(j)) continue;
          int to = -2;
          bool reversed = false;
          if (j.a.body == from && j.b.body >= 0) to = j.b.body;
          if (j.b.body == from && j.a.body >= 0) {
            to = j.a.body;
            reversed = true;
          }
          if (to < 0 || reached[to]) continue;
          reached[to] = 1;
          tree_index_of_joint_[k] = static_cast<int>(tree_joints_.size());
          tree_joint_of_body_[to] = static_cast<int>(tree_joints_.size());
          tree_joints_.push_back({static_cast<int>(k), reversed, {}});
          (from < 0 ? ground_children_ : children_[from]).push_back(to);
          next.push_back(to);
        }
      front = std::move(next);
    }
  };
  grow({-1});
  for (std::size_t i = 0; i < n; ++i) {
    if (reached[i]) continue;
    reached[i] = 1;
    grow({static_cast<int>(i)});
  }
}

void Compiler::build_links() {
  sys_.bodies.resize(model_.bodies.size());
  body_in_link_.resize(model_.bodies.size());
  for (std::size_t i = 0; i < model_.bodies.size(); ++i) {
    if (deforms(model_.bodies[i].kind)) continue;
    const int tj = tree_joint_of_body_[i];
    if (tj < 0) {
      emit_body(static_cast<int>(i), -1, false);
      add_child_bodies(static_cast<int>(i));
    } else {
      const Joint& j = model_.joints[tree_joints_[tj].joint];
      const int parent = tree_joints_[tj].reversed ? j.b.body : j.a.body;
      if (parent >= 0) continue;
      emit_body(static_cast<int>(i), tj, tree_joints_[tj].reversed);
      add_child_bodies(static_cast<int>(i));
    }
  }
  for (std::size_t i = 0; i < model_.bodies.size(); ++i) {
    if (is_flexible(model_.bodies[i].kind)) emit_flexible(static_cast<int>(i));
    if (is_beam(model_.bodies[i].kind)) emit_beam(static_cast<int>(i));
  }
  sys_.tree.finish();
}

void Compiler::add_child_bodies(int body) {
  // An explicit stack: chains may be thousands of links long.
  std::vector<int> stack(children_[body].rbegin(), children_[body].rend());
  while (!stack.empty()) {
    const int b = stack.back();
    stack.pop_back();
    const int tj = tree_joint_of_body_[b];
    emit_body(b, tj, tree_joints_[tj].reversed);
    stack.insert(stack.end(), children_[b].rbegin(), children_[b].rend());
  }
}

void Compiler::emit_body(int body, int tree_joint, bool reversed) {
  const Body& b = model_.bodies[body];
  std::vector<Link>& links = sys_.tree.links;
  Link link;
  link.mass = b.mass;
  if (tree_joint < 0) {
    const Mat3 R = pose_[body].rotation.toRotationMatrix();
    link.mobility = b.kind == BodyKind::particle          ? Mobility::particle3
                    : b.kind == BodyKind::planar_particle ? Mobility::particle2
                    : is_planar(b.kind)                   ? Mobility::planar3
                                                          : Mobility::free6;
    if (is_planar(b.kind)) {
      if (std::abs(R(2, 2) - 1) > 1e-9)
        fail(b.source, "the planar body `" + b.name + "` is turned out of the x-y plane");
      link.p_PF = Vec3(0, 0, pose_[body].position.z());
    }
    if (is_particle(b.kind)) link.R_PF = R;
    if (!is_particle(b.kind)) link.inertia = with_spin_inertia(b.inertia);
    if (b.kind == BodyKind::planar) {
      link.inertia = Mat3::Zero();
      link.inertia(2, 2) = b.inertia(2, 2);
    }
    body_in_link_[body] = {-b.center_of_mass, Quat::Identity()};
    sys_.bodies[body].link = static_cast<int>(links.size());
    links.push_back(link);
    return;
  }

  TreeJoint& tj = tree_joints_[tree_joint];
  const Joint& j = model_.joints[tj.joint];
  std::vector<JointStep> steps = joint_steps(j.kind);
  const Attachment& inner = reversed ? j.b : j.a;
  const Attachment& outer = reversed ? j.a : j.b;
  if (reversed) std::reverse(steps.begin(), steps.end());
  int parent = inner.body < 0 ? -1 : sys_.bodies[inner.body].link;
  // The joint frame seen from the parent link's mass centre, in the parent link's axes.
  Placement X = (inner.body < 0 ? Placement{} : body_in_link_[inner.body]) * inner.placement;
  for (std::size_t k = 0; k < steps.size(); ++k) {
    const Mat3 C = axis_to_z(steps[k].axis);
    Link step;
    step.parent = parent;
    step.mobility = steps[k].mobility;
    step.pitch = j.pitch;
    step.R_PF = X.rotation.toRotationMatrix() * C;
    step.p_PF = X.position;
    X = {Vec3::Zero(), Quat(Mat3(C.transpose()))};
    if (k + 1 == steps.size()) {
      // The body itself: its frame in the axes of the moving joint frame M.
      const Placement in_M = X * outer.placement.inverse();
      const Vec3 centre = in_M.position + in_M.rotation * b.center_of_mass;
      const Mat3 R = in_M.rotation.toRotationMatrix();
      step.p_MB = centre;
      step.mass = b.mass;
      Mat3 inertia = is_particle(b.kind) ? Mat3::Zero() : with_spin_inertia(b.inertia);
      if (b.kind == BodyKind::planar) {
        inertia.setZero();
        inertia(2, 2) = b.inertia(2, 2);
      }
      step.inertia = R * inertia * R.transpose();
      body_in_link_[body] = {in_M.position - centre, in_M.rotation};
      sys_.bodies[body].link = static_cast<int>(links.size());
    }
    tj.links.push_back(static_cast<int>(links.size()));
    parent = static_cast<int>(links.size());
    links.push_back(step);
  }
}

void Compiler::fill_initial_coordinates() {
  State& s = sys_.initial;
  s.t = model_.simulate.start;
  s.q = Vec::Zero(sys_.tree.nq);
  s.v = Vec::Zero(sys_.tree.nv);
  const auto store = [](double* q, const Quat& r) { q[0] = r.w(), q[1] = r.x(), q[2] = r.y(), q[3] = r.z(); };
  for (std::size_t i = 0; i < model_.bodies.size(); ++i) {
    const Body& b = model_.bodies[i];
    const int tj_index = tree_joint_of_body_[i];
    const Quat R = pose_[i].rotation.normalized();
    if (tj_index < 0) {
      const Link& l = sys_.tree.links[sys_.bodies[i].link];
      const Vec3 arm = R * b.center_of_mass;
      const Vec3 p = pose_[i].position + arm, v = velocity_[i] + omega_[i].cross(arm);
      double* q = s.q.data() + l.q;
      double* u = s.v.data() + l.v;
      const int axes = l.mobility == Mobility::planar3 || l.mobility == Mobility::particle2 ? 2 : 3;
      for (int k = 0; k < axes; ++k) {
        q[k] = p[k];
        u[k] = v[k];
      }
      if (l.mobility == Mobility::planar3) {
        const Mat3 m = R.toRotationMatrix();
        q[2] = std::atan2(m(1, 0), m(0, 0));
        u[2] = omega_[i].z();
      }
      if (l.mobility == Mobility::free6) {
        store(q + 3, R);
        const Vec3 w = R.conjugate() * omega_[i];
        for (int k = 0; k < 3; ++k) u[3 + k] = w[k];
      }
      continue;
    }
    const TreeJoint& tj = tree_joints_[tj_index];
    const Joint& j = model_.joints[tj.joint];
    const auto world = [&](const Attachment& a) { return (a.body < 0 ? Placement{} : pose_[a.body]) * a.placement; };
    const auto omega = [&](const Attachment& a) -> Vec3 { return a.body < 0 ? Vec3(Vec3::Zero()) : omega_[a.body]; };
    const Placement A = world(j.a), B = world(j.b);
    const Placement X = A.inverse() * B;
    const Mat3 m = X.rotation.toRotationMatrix();
    const Vec3 w = A.rotation.conjugate() * (omega(j.b) - omega(j.a));  // relative, axes of A
    const auto velocity = [&](const Attachment& a, const Vec3& at) -> Vec3 {
      return a.body < 0 ? Vec3(Vec3::Zero())
                        : Vec3(velocity_[a.body] + omega_[a.body].cross(at - pose_[a.body].position));
    };
    const Vec3 vr = A.rotation.conjugate() * (velocity(j.b, B.position) - velocity(j.a, B.position));
    const std::vector<JointStep> steps = joint_steps(j.kind);
    const double sign = tj.reversed ? -1 : 1;
    for (std::size_t k = 0; k < steps.size(); ++k) {
      const std::size_t in_tree = tj.reversed ? steps.size() - 1 - k : k;
      const Link& l = sys_.tree.links[tj.links[in_tree]];
      double q = 0, u = 0;
      switch (steps[k].mobility) {
        case Mobility::prismatic:
          q = X.position[steps[k].axis];
          u = vr[steps[k].axis];
          break;
        case Mobility::revolute:
        case Mobility::screw:
          if (j.kind == JointKind::universal) {  // R = Rz(a) Ry(b)
            const double a = std::atan2(-m(0, 1), m(1, 1));
            if (steps[k].axis == 2) {
              q = a;
              u = w.z();
            } else {
              q = std::atan2(-m(2, 0), m(2, 2));
              u = w.dot(Vec3(-std::sin(a), std::cos(a), 0));
            }
          } else {
            q = std::atan2(m(1, 0), m(0, 0));
            u = w.z();
          }
          break;
        case Mobility::spherical: {
          const Quat r = tj.reversed ? Quat(X.rotation.conjugate()) : X.rotation;
          store(s.q.data() + l.q, r.normalized());
          const Vec3 wb = tj.reversed ? Vec3(-w) : Vec3(X.rotation.conjugate() * w);
          for (int c = 0; c < 3; ++c) s.v[l.v + c] = wb[c];
          continue;
        }
        default:
          continue;
      }
      // A start angle beyond half a turn is kept as written.
      if (k < j.position.size() && steps[k].mobility != Mobility::prismatic)
        q += 2 * std::numbers::pi * std::round((j.position[k] - q) / (2 * std::numbers::pi));
      s.q[l.q] = sign * q;
      s.v[l.v] = sign * u;
    }
  }
}

// Length, mass and time that tolerances are measured against.
void Compiler::scales() {
  double length = 0, mass = 0, speed = 0;
  for (std::size_t i = 0; i < model_.bodies.size(); ++i) {
    mass = std::max(mass, model_.bodies[i].mass);
    for (const FrameDef& f : model_.bodies[i].frames)
      length = std::max(length, (f.placement.position - model_.bodies[i].center_of_mass).norm());
    const double m = model_.bodies[i].mass;
    if (!is_particle(model_.bodies[i].kind))
      length = std::max(length, std::sqrt(model_.bodies[i].inertia.diagonal().maxCoeff() / m));
    speed = std::max({speed, velocity_[i].norm()});
  }
  for (const Joint& j : model_.joints)
    for (const Attachment* a : {&j.a, &j.b})
      if (a->body >= 0)
        length = std::max(length, (a->placement.position - model_.bodies[a->body].center_of_mass).norm());
  if (length == 0)
    for (const Placement& p : pose_) length = std::max(length, p.position.norm());
  sys_.length_scale = length > 0 ? length : 1;
  sys_.mass_scale = mass > 0 ? mass : 1;
  const double g = model_.gravity.norm();
  sys_.time_scale = g > 0 ? std::sqrt(sys_.length_scale / g) : speed > 0 ? sys_.length_scale / speed : 1;
  double omega = 0;
  for (const Vec3& w : omega_) omega = std::max(omega, w.norm());
  if (omega > 0) sys_.time_scale = std::min(sys_.time_scale, 1 / omega);
}

void Compiler::run() {
  prepare_flexible();
  prepare_beams();
  place_bodies();
  choose_trees();
  build_links();
  fill_initial_coordinates();
  scales();
  sys_.frames.push_back({});
  sys_.frame_names.push_back("ground");
  world_frame_ = 0;
  for (std::size_t i = 0; i < model_.bodies.size(); ++i) {
    const Placement& X = body_in_link_[i];
    sys_.bodies[i].frame = static_cast<int>(sys_.frames.size());
    sys_.frames.push_back({sys_.bodies[i].link, X.rotation.toRotationMatrix(), X.position});
    sys_.frame_names.push_back(model_.bodies[i].name);
  }
  const char* const xyz[] = {"x", "y", "z"};
  sys_.velocity_names.resize(sys_.tree.nv);
  sys_.velocity_angular.assign(sys_.tree.nv, 0);
  for (std::size_t i = 0; i < model_.bodies.size(); ++i) {
    if (tree_joint_of_body_[i] >= 0) continue;
    const Link& l = sys_.tree.links[sys_.bodies[i].link];
    for (int k = 0; k < l.nv; ++k) {
      const bool angular = (l.mobility == Mobility::free6 && k >= 3) || (l.mobility == Mobility::planar3 && k == 2);
      sys_.velocity_names[l.v + k] =
          model_.bodies[i].name +
          (angular ? l.mobility == Mobility::planar3 ? ".angle" : std::string(".rotation.") + xyz[k - 3]
                   : std::string(".") + xyz[k]);
      sys_.velocity_angular[l.v + k] = angular;
    }
  }
  for (const TreeJoint& tj : tree_joints_) {
    const Joint& j = model_.joints[tj.joint];
    std::vector<JointStep> steps = joint_steps(j.kind);
    if (tj.reversed) std::reverse(steps.begin(), steps.end());
    for (std::size_t k = 0; k < steps.size(); ++k) {
      const Link& l = sys_.tree.links[tj.links[k]];
      for (int c = 0; c < l.nv; ++c) {
        sys_.velocity_names[l.v + c] = j.name + "." + steps[k].component + (l.nv == 3 ? std::string(".") + xyz[c] : "");
        sys_.velocity_angular[l.v + c] = l.mobility != Mobility::prismatic;
      }
    }
  }
  finish_flexible();
  finish_beams();
  build_joints();
  build_frictions();
  build_force_elements();
  build_loads();
  finish_rows();
  offsets_from_start();
}

std::shared_ptr<const System> System::compile(Model model) {
  std::shared_ptr<System> system(new System());
  system->model = std::move(model);
  Compiler(*system).run();
  return system;
}

}  // namespace clatter
