#include "contact/motion.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "contact/nonsmooth_alpha.hpp"
#include "contact/time_stepping.hpp"
#include "contact/turn_stepper.hpp"

namespace clatter::contact {

Motion::Motion(std::shared_ptr<const System> system, Engine& engine, const Simulate& simulate,
               const IntegratorSettings& settings)
    : system_(std::move(system)), engine_(engine) {
  lambda_e_.setZero(engine.sizes().nc());
  make_stepper(simulate, settings);
  if (std::vector<CountedAngle> angles = TurnStepper::followed(*system_); !angles.empty()) {
    auto stepper = std::make_unique<TurnStepper>(std::move(stepper_), engine_, std::move(angles));
    turns_ = stepper.get();
    stepper_ = std::move(stepper);
  }
}

void Motion::make_stepper(const Simulate& simulate, const IntegratorSettings& settings) {
  Engine& engine = engine_;
  if (system_->model.contacts.empty() && !system_->model.crowd && system_->joint_frictions.empty()) {
    stepper_ = std::make_unique<PlainStepper>(settings, engine);
    return;
  }
  contacts_ = ContactSystem::compile(system_, simulate.method == Method::smooth);
  snapshot_.resize(static_cast<std::size_t>(contacts_->slots()));
  friction_.resize(contacts_->frictions.size());
  if (system_->model.crowd) {
    if (simulate.method != Method::time_stepping || simulate.time_stepping != TimeStepping::moreau)
      throw InputError("the contacts of this model are a crowd, which only time-stepping by `moreau` moves",
                       "use contact_solver: newton in the model, or leave the method as it is");
    dynamics_ = std::make_unique<ContactDynamics>(contacts_, engine);
    auto stepper = std::make_unique<CrowdStepper>(*dynamics_, settings);
    crowd_ = stepper.get();
    stepper_ = std::make_unique<PlainStepper>(std::move(stepper), *dynamics_, settings.project);
    return;
  }
  if (simulate.method != Method::time_stepping) {
    auto stepper = std::make_unique<EventDriven>(contacts_, engine, settings);
    constexpr double kLeastSteps = 100;
    if (simulate.method == Method::event_driven && simulate.max_step == 0)
      stepper->limit_closed_steps((simulate.end - simulate.start) / kLeastSteps);
    event_driven_ = stepper.get();
    stepper_ = std::move(stepper);
    return;
  }
  dynamics_ = std::make_unique<ContactDynamics>(contacts_, engine);
  std::unique_ptr<ContactStepper> stepper;
  if (simulate.time_stepping == TimeStepping::moreau)
    stepper = std::make_unique<MoreauStepper>(*dynamics_, settings, MoreauSettings{simulate.theta, false});
  else
    stepper = std::make_unique<NonsmoothAlpha>(*dynamics_, settings);
  time_stepping_ = stepper.get();
  stepper_ = std::make_unique<PlainStepper>(std::move(stepper), *dynamics_, settings.project);
}

Motion::~Motion() = default;

StartOverlap Motion::clear_start(State& start) {
  if (!contacts_) return {};
  if (crowd_ != nullptr) {
    const StartOverlap of_slots = take_back_overlap(contacts_, engine_, start);
    const StartOverlap overlap = crowd_->clear_start(start);
    return overlap.places > 0 ? overlap : of_slots;
  }
  return take_back_overlap(contacts_->smooth ? ContactSystem::compile(system_) : contacts_, engine_, start);
}

Dynamics& Motion::dynamics() { return stepper_->dynamics(); }

std::vector<std::string> Motion::channel_names() const {
  std::vector<std::string> names = system_->channel_names;
  if (!contacts_) return names;
  for (const std::string& group : contacts_->groups) {
    names.push_back(group + ".friction");
    names.push_back(group + ".impact");
  }
  for (const std::string& joint : contacts_->friction_channels) names.push_back(joint + ".friction");
  return names;
}

ContactCounts Motion::counts() const {
  if (event_driven_ != nullptr) return event_driven_->counts();
  if (time_stepping_ != nullptr) return time_stepping_->counts();
  if (crowd_ != nullptr) return crowd_->counts();
  return {};
}

Certificate Motion::certificate() const {
  if (event_driven_ != nullptr) return event_driven_->certificate();
  if (time_stepping_ != nullptr) return time_stepping_->certificate();
  if (crowd_ != nullptr) return crowd_->certificate();
  return {};
}

UnsolvedReport Motion::unsolved() const {
  UnsolvedReport report;
  if (crowd_ != nullptr) {
    report.worst = crowd_->unsolved();
    if (report.worst.contact >= 0)
      report.contact = contacts_->groups[static_cast<std::size_t>(report.worst.contact)];
    else if (report.worst.steps > 0)
      report.contact = contacts_->frictions[static_cast<std::size_t>(~report.worst.contact)].name;
    for (const int shape : {report.worst.shape1, report.worst.shape2})
      if (shape >= 0) report.shapes.push_back(contacts_->shapes[static_cast<std::size_t>(shape)].name);
  } else if (time_stepping_ != nullptr) {
    report.worst = time_stepping_->unsolved();
    report.relative = true;
    const int contact = report.worst.contact;
    if (report.worst.steps > 0)
      report.contact =
          contact >= 0 ? contacts_->slot_name(contact) : contacts_->frictions[static_cast<std::size_t>(~contact)].name;
  }
  return report;
}

PassageReport Motion::passages() const {
  PassageReport report;
  if (time_stepping_ != nullptr) report.worst = time_stepping_->passages();
  if (report.worst.slot >= 0) report.contact = contacts_->slot_name(report.worst.slot);
  return report;
}

State Motion::engine_state(const State& s) {
  State e = s;
  e.z.conservativeResize(engine_.sizes().nz);
  return e;
}

const Vec& Motion::engine_lambda(const Vec& lambda) {
  if (event_driven_ == nullptr) return lambda;
  for (int r = 0; r < engine_.sizes().nc(); ++r)
    lambda_e_[r] = lambda[event_driven_->contact_dynamics().row_of_engine(r)];
  return lambda_e_;
}

void Motion::observe(const State& s, const Vec& lambda, const Vec& W) {
  if (!contacts_) return;
  W_ = W;
  ++samples_;
  if (contacts_->slots() == 0 && contacts_->frictions.empty()) return;  // of a crowd: it keeps what its entries do
  ContactDynamics& dynamics = event_driven_ != nullptr ? event_driven_->contact_dynamics() : *dynamics_;
  Contacts& contacts = dynamics.contacts();
  contacts.detect(dynamics.engine_state(s), contacts_->length_scale);
  for (const ActiveContact& c : dynamics.active())
    if (!contacts[c.slot].present) contacts.evaluate_held(c.slot, c.feature, false);
  for (int i = 0; i < contacts_->slots(); ++i) {
    SlotSnapshot& out = snapshot_[static_cast<std::size_t>(i)];
    const SlotState& state = contacts[i];
    out = {};
    out.gap = state.gap;
    if (!state.present) {
      out.gap = std::max(state.gap, contacts.distance_bound(i));
      continue;
    }
    out.point = state.p2;
    for (int k = 0; k < 3; ++k) out.rate[k] = state.rate[k];
    out.backward = state.rate[1] < 0;
  }
  const auto put = [&](int slot, Mode mode, const Vec3& r) {
    SlotSnapshot& out = snapshot_[static_cast<std::size_t>(slot)];
    out.mode = mode;
    out.force = r;
    if (contacts[slot].present) out.world_force = contacts[slot].basis * r;
  };
  if (event_driven_ != nullptr) {
    for (std::size_t i = 0; i < dynamics.active().size(); ++i) {
      // Impacts have no force.
      if (!event_driven_->instant().lasts(dynamics.active()[i].slot, s.t)) continue;
      snapshot_[static_cast<std::size_t>(dynamics.active()[i].slot)].backward = dynamics.active()[i].direction[0] < 0;
      put(dynamics.active()[i].slot, dynamics.active()[i].mode, dynamics.force(static_cast<int>(i), lambda));
    }
  } else if (time_stepping_ != nullptr) {
    for (const ContactSample& sample : time_stepping_->contact_samples()) put(sample.slot, sample.mode, sample.force);
  } else if (crowd_ != nullptr) {
    for (const ContactSample& sample : crowd_->contact_samples()) put(sample.slot, sample.mode, sample.force);
  }
  if (contacts_->any_compliant) {
    std::vector<Engine::LinkWrench> wrenches;
    dynamics.compliant().apply(s.t, s.z.data() + engine_.sizes().nz, wrenches);
    for (int i = 0; i < contacts_->slots(); ++i) {
      if (contacts_->pair(i).rigid) continue;
      const Vec3 r = dynamics.compliant().force(i);
      if (!r.isZero(0.0)) put(i, Mode::slide, r);
    }
  }
  if (!contacts_->frictions.empty()) observe_frictions(dynamics, lambda);
}

std::vector<ExtraQuantity> Motion::quantities() const {
  std::vector<ExtraQuantity> list;
  if (turns_ != nullptr) list = turns_->quantities();
  if (!contacts_) return list;
  const std::vector<std::string> xyz = {"x", "y", "z"};
  // Steps that pass over events know impulses; what they tell as a force is the impulse of the step by its length.
  const std::string mean = time_stepping_ != nullptr || crowd_ != nullptr ? "; mean over the step" : "";
  const auto describe = [&](const std::string& name, int first, int count, int tangents) {
    const SlotSnapshot* slots = snapshot_.data() + first;
    list.push_back({{name + ".gap", "m", {}, "smallest distance, negative in penetration"}, [=](double* out) {
                      *out = std::numeric_limits<double>::max();
                      for (int i = 0; i < count; ++i) *out = std::min(*out, slots[i].gap);
                    }});
    list.push_back(
        {{name + ".normal_force", "N", {}, "sum of the normal forces, pressure positive" + mean}, [=](double* out) {
           *out = 0;
           for (int i = 0; i < count; ++i) *out += slots[i].force[0];
         }});
    list.push_back({{name + ".friction_force",
                     "N",
                     {},
                     (tangents == 1 ? "sum of the tangential forces on the first body, along t"
                                    : "size of the sum of the tangential forces") +
                         mean},
                    [=](double* out) {
                      Vec3 sum = Vec3::Zero();
                      for (int i = 0; i < count; ++i) sum += slots[i].force;
                      *out = tangents == 1 ? sum[1] : std::hypot(sum[1], sum[2]);
                    }});
    list.push_back({{name + ".force", "N", xyz, "force on the first body, world axes" + mean}, [=](double* out) {
                      Vec3 sum = Vec3::Zero();
                      for (int i = 0; i < count; ++i) sum += slots[i].world_force;
                      for (int k = 0; k < 3; ++k) out[k] = sum[k];
                    }});
    // Of the point that presses most, or the nearest where none does.
    const auto leading = [=]() -> const SlotSnapshot& {
      const SlotSnapshot* best = slots;
      for (int i = 1; i < count; ++i) {
        const bool more =
            slots[i].force[0] > best->force[0] || (slots[i].force[0] == best->force[0] && slots[i].gap < best->gap);
        if (more) best = slots + i;
      }
      return *best;
    };
    list.push_back({{name + ".slip", "m/s", {}, tangents == 1 ? "slip of the first body along t" : "size of the slip"},
                    [=](double* out) {
                      const SlotSnapshot& s = leading();
                      *out = tangents == 1 ? s.rate[1] : std::hypot(s.rate[1], s.rate[2]);
                    }});
    list.push_back(
        {{name + ".gap_rate", "m/s", {}, "rate of the gap"}, [=](double* out) { *out = leading().rate[0]; }});
    list.push_back(
        {{name + ".state", "1", {}, "0 open, 1 slides forward, -1 slides backward (space: 1), 2 sticks"},
         [=](double* out) {
           const SlotSnapshot& s = leading();
           *out = s.mode == Mode::stick ? 2 : s.mode == Mode::slide ? (tangents == 1 && s.backward ? -1 : 1) : 0;
         }});
    list.push_back({{name + ".point", "m", xyz, "point of contact, world axes"}, [=](double* out) {
                      const SlotSnapshot& s = leading();
                      for (int k = 0; k < 3; ++k) out[k] = s.point[k];
                    }});
  };
  const auto describe_touching = [&](const std::string& name, int first, int count) {
    list.push_back({{name + ".touching", "1", {}, "points of contact that carry"},
                    [slots = snapshot_.data() + first, count](double* out) {
                      *out = static_cast<double>(
                          std::count_if(slots, slots + count, [](const SlotSnapshot& s) { return s.force[0] > 0; }));
                    }});
  };
  for (const PairInstance& pair : contacts_->pairs) {
    if (!listed(pair)) continue;
    describe(pair.name, pair.slot0, pair.slots, pair.tangents);
    if (pair.beams) describe_touching(pair.name, pair.slot0, pair.slots);
    if (pair.slots == 1 || pair.beams) continue;  // places of beams that touch wander from slot to slot
    for (int k = 0; k < pair.slots; ++k)
      describe(contacts_->slot_name(pair.slot0 + k), pair.slot0 + k, 1, pair.tangents);
  }
  for (const ContactEntry& entry : contacts_->several()) {
    describe(entry.name, entry.slot0, entry.slots, entry.tangents);
    describe_touching(entry.name, entry.slot0, entry.slots);
  }
  friction_quantities(list);
  if (crowd_ != nullptr) crowd_quantities(list);
  energy_quantities(list);
  return list;
}

}  // namespace clatter::contact
