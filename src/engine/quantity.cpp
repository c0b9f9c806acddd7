#include "engine/quantity.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "base/error.hpp"
#include "engine/counted_angles.hpp"
#include "engine/engine.hpp"
#include "model/quantities.hpp"
#include "model/reduced_body.hpp"

namespace clatter {

namespace {

// What a quantity's evaluation may look at.
struct Instant {
  Engine& engine;
  const State& s;
  const Vec& a;
  const Vec& lambda;
  const Vec& ledger;
  double energy_at_start;
  double stored;
  double beyond;
};

struct Quantity {
  QuantityInfo info;
  std::function<void(const Instant&, double*)> evaluate;
};

const std::vector<std::string> xyz = {"x", "y", "z"};
const std::vector<std::string> wxyz = {"w", "x", "y", "z"};

void put(const Vec3& v, double* out) {
  for (int k = 0; k < 3; ++k) out[k] = v[k];
}

// A place by the frame it stands on.
void frame_quantities(std::vector<Quantity>& list, const std::string& name, int frame, const Placement& placement) {
  const Mat3 R = placement.rotation.toRotationMatrix();
  const Vec3 r = placement.position;
  const auto place = [frame, r](const Instant& i) -> std::pair<FrameState<double>, Vec3> {
    const FrameState<double> f = i.engine.frame_state(frame);
    return {f, f.R * r};
  };
  list.push_back({{name + ".position", "m", xyz, "position of the frame's origin, world axes"},
                  [place](const Instant& i, double* out) {
                    const auto [f, arm] = place(i);
                    put(f.p + arm, out);
                  }});
  list.push_back({{name + ".orientation", "1", wxyz, "unit quaternion from the frame's axes to the world's"},
                  [place, R](const Instant& i, double* out) {
                    Quat q(Mat3(place(i).first.R * R));
                    if (q.w() < 0) q.coeffs() = -q.coeffs();
                    out[0] = q.w();
                    out[1] = q.x();
                    out[2] = q.y();
                    out[3] = q.z();
                  }});
  list.push_back({{name + ".velocity", "m/s", xyz, "velocity of the frame's origin, world axes"},
                  [place](const Instant& i, double* out) {
                    const auto [f, arm] = place(i);
                    put(f.v + f.w.cross(arm), out);
                  }});
  list.push_back({{name + ".angular_velocity", "rad/s", xyz, "angular velocity, world axes"},
                  [place](const Instant& i, double* out) { put(place(i).first.w, out); }});
  list.push_back({{name + ".acceleration", "m/s^2", xyz, "acceleration of the frame's origin, world axes"},
                  [place](const Instant& i, double* out) {
                    const auto [f, arm] = place(i);
                    put(f.a + f.alpha.cross(arm) + f.w.cross(f.w.cross(arm)), out);
                  }});
}

// Elastic coordinates, strain energy, and the markers with their displacement against the undeformed body.
void flexible_quantities(std::vector<Quantity>& list, const System& sys, const FlexibleIndex& index) {
  const Body& body = sys.model.bodies[static_cast<std::size_t>(index.body)];
  const BodyIndex& where = sys.bodies[static_cast<std::size_t>(index.body)];
  const auto block = static_cast<std::size_t>(index.block);
  const auto numbered = [](std::size_t n) {
    std::vector<std::string> names;
    for (std::size_t k = 1; k <= n; ++k) names.push_back(std::to_string(k));
    return names;
  };
  if (index.n > 0) {
    const std::vector<std::string> each = numbered(static_cast<std::size_t>(index.n));
    list.push_back(
        {{body.name + ".eta", "1", each, "elastic coordinates"}, [block, n = index.n](const Instant& i, double* out) {
           std::copy_n(i.engine.links().blocks[block]->elastic_coordinates(), n, out);
         }});
    list.push_back({{body.name + ".rate.eta", "1/s", each, "rates of the elastic coordinates"},
                    [block, n = index.n](const Instant& i, double* out) {
                      std::copy_n(i.engine.links().blocks[block]->elastic_rates(), n, out);
                    }});
  }
  static const std::vector<double> no_frequencies;
  if (const std::vector<double>& f = body.reduced ? body.reduced->frequencies : no_frequencies; !f.empty())
    list.push_back(
        {{body.name + ".frequency", "Hz", numbered(f.size()),
          "natural frequencies of the shapes the body was reduced to: of the body held as its reference says, "
          "or of a superelement whose boundary is held"},
         [&f](const Instant&, double* out) { std::copy(f.begin(), f.end(), out); }});
  list.push_back({{body.name + ".elastic_energy", "J", {}, "strain energy of the flexible body"},
                  [block](const Instant& i, double* out) { *out = i.engine.links().blocks[block]->elastic_energy(); }});
  for (std::size_t f = 0; f < body.frames.size(); ++f) {
    const std::string name = body.name + "." + body.frames[f].name;
    const int frame = index.frames[f];
    frame_quantities(list, name, frame, Placement{});
    list.push_back({{name + ".displacement", "m", xyz, "elastic displacement, axes of the body"},
                    [frame, own = where.frame, X = body.frames[f].placement.position](const Instant& i, double* out) {
                      const FrameState<double> reference = i.engine.frame_state(own),
                                               place = i.engine.frame_state(frame);
                      put(reference.R.transpose() * (place.p - reference.p) - X, out);
                    }});
  }
}

// What acts in a joint: its own deformations, and in a tree the elements of others that push on its coordinate.
struct JointParts {
  std::vector<int> own;
  struct Foreign {
    int deformation, term, link;
    bool angular;
  };
  std::vector<Foreign> foreign;
};

std::vector<JointParts> joint_parts(const System& sys) {
  std::vector<JointParts> parts(sys.joints.size());
  std::vector<int> link_of_velocity(sys.velocity_names.size());
  for (std::size_t l = 0; l < sys.tree.links.size(); ++l)
    for (int k = 0; k < sys.tree.links[l].nv; ++k) link_of_velocity[sys.tree.links[l].v + k] = static_cast<int>(l);
  std::vector<const System::JointComponentIndex*> component_of(sys.measures.size(), nullptr);
  for (const System::JointComponentIndex& c : sys.joint_components)
    if (sys.measures[c.measure].velocity >= 0) component_of[c.measure] = &c;
  for (std::size_t i = 0; i < sys.deformations.size(); ++i) {
    const Deformation& d = sys.deformations[i];
    if (d.status == DeformationStatus::free) continue;
    const int index = static_cast<int>(i), joint = sys.joint_of_deformation[i];
    if (joint >= 0) parts[joint].own.push_back(index);
    for (int k = 0; k < d.count; ++k) {
      const System::JointComponentIndex* c = component_of[d.terms[k].measure];
      if (c && c->joint != joint)
        parts[c->joint].foreign.push_back({index, k, link_of_velocity[sys.measures[c->measure].velocity], c->angular});
    }
  }
  return parts;
}

double magnitude(const Deformation& d, const Instant& i) {
  if (d.row >= 0) return i.lambda[d.row];
  return d.status == DeformationStatus::elastic ? -i.engine.stress(d, i.s) : 0;
}

// Force and torque of a joint on its second body, at the second body's joint frame, axes of A. What springs, gears and
// actuators beside the joint do is not the joint's own, whichever coordinates the model is written in.
void joint_wrench(const System& sys, const JointParts& parts, int joint, const Instant& i, Vec3& force, Vec3& torque) {
  const System::JointIndex& where = sys.joints[joint];
  const FrameState<double> A = i.engine.frame_state(where.frame_a), B = i.engine.frame_state(where.frame_b);
  force.setZero();
  torque.setZero();
  double factors[4];
  if (where.link >= 0) {
    // The tree's sweep left what each joint must hand on to its link, at the link's mass centre.
    const TreeWork& work = i.engine.links();
    const double sign = where.reversed ? -1 : 1;
    force = sign * work.F[where.link];
    torque = sign * (work.N[where.link] + (work.motion[where.link].p - B.p).cross(work.F[where.link]));
    for (const JointParts::Foreign& f : parts.foreign) {
      const Deformation& d = sys.deformations[f.deformation];
      i.engine.gradient(d, factors);
      (f.angular ? torque : force) -= magnitude(d, i) * factors[f.term] * work.motion[f.link].z;
    }
  } else {
    for (const int own : parts.own) {
      const Deformation& d = sys.deformations[own];
      const double size = magnitude(d, i);
      i.engine.gradient(d, factors);
      for (int k = 0; k < d.count; ++k) {
        const Measure& m = sys.measures[d.terms[k].measure];
        if (m.velocity >= 0 || m.b != where.frame_b) continue;
        const MeasureValue<double>& value = i.engine.measure(d.terms[k].measure);
        force += size * factors[k] * value.fB;
        torque += size * factors[k] * value.nB;
      }
    }
    for (std::size_t f = 0; f < sys.joint_frictions.size(); ++f)
      for (int c = 0; sys.joint_frictions[f].joint == joint && c < sys.joint_frictions[f].count; ++c) {
        const MeasureValue<double>& value = i.engine.measure(sys.joint_frictions[f].measure[c]);
        const double size = i.engine.friction(f, c) * sys.joint_frictions[f].scale[c];
        force += size * value.fB;
        torque += size * value.nB;
      }
  }
  force = A.R.transpose() * force;
  torque = A.R.transpose() * torque;
}

std::vector<Quantity> catalogue(const System& sys) {
  std::vector<Quantity> list;
  const Model& model = sys.model;
  std::unordered_map<std::string, CountedAngle> counted;
  for (CountedAngle& angle : counted_angles(sys)) counted.emplace(angle.quantity, angle);
  for (std::size_t b = 0; b < model.bodies.size(); ++b) {
    const Body& body = model.bodies[b];
    const int frame = sys.bodies[b].frame;
    frame_quantities(list, body.name, frame, Placement{});
    if (is_planar(body.kind) && !is_particle(body.kind)) {
      const Link& link = sys.tree.links[sys.bodies[b].link];
      if (link.mobility == Mobility::planar3)
        list.push_back({{body.name + ".angle", "rad", {}, "angle of the planar body"},
                        [q = link.q + 2](const Instant& i, double* out) { *out = i.s.q[q]; }});
      else
        list.push_back({{body.name + ".angle", "rad", {}, "angle of the planar body"},
                        [frame, angle = counted.at(body.name + ".angle")](const Instant& i, double* out) {
                          const FrameState<double> f = i.engine.frame_state(frame);
                          *out = in_turn(std::atan2(f.R(1, 0), f.R(0, 0)), angle.near(i.s));
                        }});
    }
    if (deforms(body.kind)) {
      flexible_quantities(list, sys, sys.flexible[static_cast<std::size_t>(sys.bodies[b].flexible)]);
      continue;
    }
    for (const FrameDef& f : body.frames) frame_quantities(list, body.name + "." + f.name, frame, f.placement);
  }
  for (const System::JointComponentIndex& c : sys.joint_components) {
    const std::string& joint = model.joints[c.joint].name;
    const QuantityInfo info{joint + "." + c.name, c.angular ? "rad" : "m", {}, "joint component"};
    if (const auto angle = counted.find(info.name); angle != counted.end())
      list.push_back({info, [m = c.measure, angle = angle->second](const Instant& i, double* out) {
                        *out = in_turn(i.engine.measure(m).e, angle.near(i.s));
                      }});
    else
      list.push_back({info, [m = c.measure](const Instant& i, double* out) { *out = i.engine.measure(m).e; }});
    list.push_back({{joint + ".rate." + c.name, c.angular ? "rad/s" : "m/s", {}, "rate of the joint component"},
                    [m = c.measure](const Instant& i, double* out) { *out = i.engine.measure(m).de; }});
  }
  const auto parts = std::make_shared<const std::vector<JointParts>>(joint_parts(sys));
  for (std::size_t j = 0; j < model.joints.size(); ++j) {
    if (sys.joints[j].frame_a < 0) continue;
    const int joint = static_cast<int>(j);
    const System* system = &sys;
    list.push_back(
        {{model.joints[j].name + ".force", "N", xyz, "force on the second body, axes of the joint's frame A"},
         [joint, system, parts](const Instant& i, double* out) {
           Vec3 force, torque;
           joint_wrench(*system, (*parts)[joint], joint, i, force, torque);
           put(force, out);
         }});
    list.push_back({{model.joints[j].name + ".torque", "N m", xyz,
                     "torque on the second body at its joint frame, axes of the joint's frame A"},
                    [joint, system, parts](const Instant& i, double* out) {
                      Vec3 force, torque;
                      joint_wrench(*system, (*parts)[joint], joint, i, force, torque);
                      put(torque, out);
                    }});
  }
  for (std::size_t e = 0; e < model.force_elements.size(); ++e) {
    const int index = sys.element_deformation[e];
    const Deformation& d = sys.deformations[index];
    const std::string& name = model.force_elements[e].name;
    const Deformation* deformation = &d;
    list.push_back(
        {{d.name, d.angular ? "rad" : "m", {}, "deformation of the element"},
         [deformation](const Instant& i, double* out) { *out = i.engine.deformation_value(*deformation, i.s).e; }});
    list.push_back(
        {{name + ".rate", d.angular ? "rad/s" : "m/s", {}, "rate of the deformation"},
         [deformation](const Instant& i, double* out) { *out = i.engine.deformation_value(*deformation, i.s).rate; }});
    list.push_back({{name + ".force", d.angular ? "N m" : "N", {}, "stress, positive when it pulls together"},
                    [deformation](const Instant& i, double* out) { *out = i.engine.stress(*deformation, i.s); }});
    if (d.z >= 0)
      list.push_back({{name + ".state", "1", {}, "inner state of the actuator"},
                      [z = d.z](const Instant& i, double* out) { *out = i.s.z[z]; }});
  }
  for (const FlexibleIndex& f : sys.flexible)
    for (const FlexibleIndex::Pressure& p : f.pressures)
      list.push_back({{p.name + ".pressure", "Pa", {}, "applied pressure, positive towards the axis"},
                      [&p](const Instant& i, double* out) { *out = i.engine.pressure_value(p, i.s); }});
  for (std::size_t l = 0; l < sys.loads.size(); ++l)
    list.push_back({{sys.loads[l].name + (sys.loads[l].torque ? ".torque" : ".force"),
                     sys.loads[l].torque ? "N m" : "N", xyz, "applied load, world axes"},
                    [l](const Instant& i, double* out) { put(i.engine.load_value(static_cast<int>(l), i.s), out); }});

  list.push_back({{"energy.kinetic", "J", {}, "kinetic energy"},
                  [](const Instant& i, double* out) { *out = i.engine.kinetic(); }});
  list.push_back({{"energy.potential", "J", {}, "gravity, springs and compliant contacts"},
                  [](const Instant& i, double* out) { *out = i.engine.potential(i.s) + i.beyond; }});
  list.push_back({{"energy.total", "J", {}, "kinetic and potential energy"},
                  [](const Instant& i, double* out) { *out = i.stored; }});
  for (std::size_t c = 0; c < sys.channel_names.size(); ++c)
    list.push_back({{"energy." + sys.channel_names[c],
                     "J",
                     {},
                     "work done since the start: supplied positive, dissipated negative"},
                    [c](const Instant& i, double* out) {
                      *out = i.ledger.size() ? i.ledger[static_cast<Eigen::Index>(c)] : 0.0;
                    }});
  list.push_back(
      {{"energy.remainder", "J", {}, "stored energy gained that no channel accounts for: the integrator's own"},
       [](const Instant& i, double* out) { *out = i.stored - i.energy_at_start - i.ledger.sum(); }});
  list.push_back({{"system.momentum", "kg m/s", xyz, "linear momentum"}, [](const Instant& i, double* out) {
                    put(momenta(i.engine.system().tree, i.engine.links()).linear, out);
                  }});
  list.push_back(
      {{"system.angular_momentum", "kg m^2/s", xyz, "angular momentum about the world's origin"},
       [](const Instant& i, double* out) { put(momenta(i.engine.system().tree, i.engine.links()).angular, out); }});
  list.push_back({{"system.center_of_mass", "m", xyz, "mass centre of all bodies"}, [](const Instant& i, double* out) {
                    const Momenta m = momenta(i.engine.system().tree, i.engine.links());
                    put(m.mass > 0 ? Vec3(m.moment / m.mass) : m.moment, out);
                  }});
  list.push_back({{"system.constraint_error", "1", {}, "largest violation of a constraint, in m and rad"},
                  [phi = Vec(sys.sizes.nh), rate = Vec(sys.sizes.nc())](const Instant& i, double* out) mutable {
                    i.engine.constraints(i.s, phi, rate);
                    *out = phi.size() ? phi.cwiseAbs().maxCoeff() : 0.0;
                  }});
  return list;
}

}  // namespace

std::vector<QuantityInfo> all_quantities(const System& system) {
  std::vector<QuantityInfo> infos;
  for (const Quantity& q : catalogue(system)) infos.push_back(q.info);
  return infos;
}

struct Observer::Impl {
  struct Chosen {
    std::function<void(const Instant&, double*)> evaluate;
    int width;      // numbers the evaluation writes
    int component;  // -1: all of them
  };
  std::shared_ptr<const System> system;
  std::vector<QuantityInfo> infos;
  std::vector<Chosen> chosen;
  int width = 0;
  std::unordered_set<std::string> names;  // chosen
  mutable Vec residual, zdot;
  mutable std::vector<double> whole = std::vector<double>(4);  // a quantity of which one component is wanted

  void choose(const Quantity& q, int component) {
    QuantityInfo info = q.info;
    if (component >= 0) {
      info.name += "." + info.components[component];
      info.components.clear();
    }
    if (!names.insert(info.name).second) return;
    width += info.width();
    whole.resize(std::max(whole.size(), static_cast<std::size_t>(q.info.width())));
    infos.push_back(std::move(info));
    chosen.push_back({q.evaluate, q.info.width(), component});
  }
};

Observer::Observer(std::shared_ptr<const System> system, const std::vector<std::string>& patterns,
                   const std::vector<ExtraQuantity>& extra)
    : impl_(std::make_unique<Impl>()) {
  impl_->system = std::move(system);
  impl_->residual.resize(impl_->system->sizes.nv);
  impl_->zdot.resize(impl_->system->sizes.nz);
  std::vector<Quantity> all = catalogue(*impl_->system);
  std::unordered_map<std::string, std::size_t> own;
  for (std::size_t i = 0; i < all.size(); ++i) own.emplace(all[i].info.name, i);
  for (const ExtraQuantity& q : extra) {
    Quantity beyond{q.info, [evaluate = q.evaluate](const Instant&, double* out) { evaluate(out); }};
    if (const auto at = own.find(q.info.name); at != own.end())
      all[at->second] = std::move(beyond);
    else
      all.push_back(std::move(beyond));
  }
  // Names written out are looked up: thousands of patterns against thousands of quantities would take minutes.
  // Of equal names the first counts.
  std::unordered_map<std::string, std::pair<const Quantity*, int>> by_name;  // -1: the whole quantity
  for (const Quantity& q : all) {
    by_name.insert({q.info.name, {&q, -1}});
    for (std::size_t c = 0; c < q.info.components.size(); ++c)
      by_name.insert({q.info.name + "." + q.info.components[c], {&q, static_cast<int>(c)}});
  }
  for (const std::string& pattern : patterns) {
    bool found = false;
    if (pattern.find_first_of("*?") == std::string::npos) {
      if (const auto at = by_name.find(pattern); at != by_name.end()) {
        impl_->choose(*at->second.first, at->second.second);
        found = true;
      }
    } else {
      for (const Quantity& q : all) {
        if (glob_match(pattern, q.info.name)) {
          impl_->choose(q, -1);
          found = true;
          continue;
        }
        if (pattern.find('*') != std::string::npos) continue;
        for (std::size_t c = 0; c < q.info.components.size(); ++c)
          if (glob_match(pattern, q.info.name + "." + q.info.components[c])) {
            impl_->choose(q, static_cast<int>(c));
            found = true;
          }
      }
    }
    if (found) continue;
    std::vector<std::string> known;
    for (const Quantity& q : all) {
      known.push_back(q.info.name);
      for (const std::string& c : q.info.components) known.push_back(q.info.name + "." + c);
    }
    const UnknownQuantity unknown = unknown_quantity(pattern, known);
    Source source;
    const Model& model = impl_->system->model;
    for (const Output& o : model.outputs)
      if (o.quantity == pattern) source = o.source;
    for (const Check& c : model.checks)
      if (c.quantity == pattern) source = c.source;
    throw InputError(model.texts, source, unknown.message, unknown.hint);
  }
}

Observer::~Observer() = default;
Observer::Observer(Observer&&) noexcept = default;

const std::vector<QuantityInfo>& Observer::quantities() const { return impl_->infos; }
int Observer::width() const { return impl_->width; }

void Observer::evaluate(Engine& engine, const State& s, const Vec& a, const Vec& lambda, const Vec& ledger,
                        double energy_at_start, std::span<double> out, double beyond) const {
  engine.residual(s, a, lambda, impl_->residual, impl_->zdot);  // leaves the joints' wrenches in the links
  engine.observe(s, &a);
  const Instant instant{engine, s, a, lambda, ledger, energy_at_start, engine.kinetic() + engine.potential(s) + beyond,
                        beyond};
  double* place = out.data();
  for (const Impl::Chosen& c : impl_->chosen) {
    if (c.component < 0) {
      c.evaluate(instant, place);
      place += c.width;
    } else {
      c.evaluate(instant, impl_->whole.data());
      *place++ = impl_->whole[static_cast<std::size_t>(c.component)];
    }
  }
}

}  // namespace clatter
