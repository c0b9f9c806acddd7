// What friction rows do at a sample, and their names in results (members of Motion).
#include <algorithm>
#include <cmath>

#include "contact/motion.hpp"

namespace clatter::contact {

void Motion::observe_frictions(ContactDynamics& dynamics, const Vec& lambda) {
  std::fill(friction_.begin(), friction_.end(), FrictionSnapshot());
  const std::span<const FrictionSample> samples = time_stepping_ != nullptr ? time_stepping_->friction_samples()
                                                  : crowd_ != nullptr       ? crowd_->friction_samples()
                                                                            : std::span<const FrictionSample>();
  for (const FrictionSample& f : samples) {
    FrictionSnapshot& out = friction_[static_cast<std::size_t>(f.index)];
    out = {f.mode, {f.force[0], f.force[1]}, f.limit, f.slip[0] < 0};
  }
  for (std::size_t i = 0; event_driven_ != nullptr && i < dynamics.active_frictions().size(); ++i) {
    const ActiveFriction& f = dynamics.active_frictions()[i];
    FrictionSnapshot& out = friction_[static_cast<std::size_t>(f.index)];
    if (contacts_->frictions[static_cast<std::size_t>(f.index)].slot < 0) dynamics.frictions().evaluate(f.index, false);
    dynamics.friction_force(static_cast<int>(i), lambda, out.force);
    out.limit = dynamics.friction_limit(static_cast<int>(i), lambda);
    out.mode = f.mode;
    out.backward = contacts_->smooth ? dynamics.frictions().rate(f.index)[0] < 0 : f.direction[0] < 0;
  }
  joint_forces_.resize(2 * static_cast<std::size_t>(contacts_->joint_frictions));
  for (std::size_t i = 0; i < joint_forces_.size(); ++i) joint_forces_[i] = friction_[i / 2].force[i % 2];
  engine_.tell_friction(joint_forces_);
}

void Motion::friction_quantities(std::vector<ExtraQuantity>& list) const {
  const std::string states = "1 slides forward, -1 slides backward (two directions: 1), 2 sticks";
  const auto state = [](const FrictionSnapshot& f, int count) {
    return f.mode == Mode::stick ? 2.0 : f.mode == Mode::open ? 0.0 : count == 1 && f.backward ? -1.0 : 1.0;
  };
  const int np = engine_.sizes().np + 2 * static_cast<int>(contacts_->groups.size());
  // All rows of a joint together: one number, or one for each component.
  for (int first = 0; first < contacts_->joint_frictions;) {
    const int channel = contacts_->channel_of_friction[static_cast<std::size_t>(first)];
    int last = first;
    std::vector<std::string> components, rows;
    bool angular = false;
    for (;
         last < contacts_->joint_frictions && contacts_->channel_of_friction[static_cast<std::size_t>(last)] == channel;
         ++last) {
      const JointFrictionIndex& f = system_->joint_frictions[static_cast<std::size_t>(last)];
      for (int c = 0; c < f.count; ++c) components.push_back(f.component[c]);
      rows.push_back(f.count > 1 ? "slide" : f.component[0]);
      angular = f.angular[0];
    }
    if (components.size() == 1) components.clear();
    if (rows.size() == 1) rows.clear();
    const std::string& name = contacts_->friction_channels[static_cast<std::size_t>(channel)];
    const std::string unit = components.empty() && rows.empty() ? (angular ? "N m" : "N") : "N or N m";
    const FrictionInstance* instance = contacts_->frictions.data() + first;
    const FrictionSnapshot* snapshot = friction_.data() + first;
    const int count = last - first;
    list.push_back(
        {{name + ".friction", unit, components, "friction on the second body, along the component"}, [=](double* out) {
           for (int i = 0; i < count; ++i)
             for (int c = 0; c < instance[i].count; ++c) *out++ = snapshot[i].force[c] * instance[i].scale[c];
         }});
    list.push_back({{name + ".friction_limit", unit, rows, "largest friction there can be now"}, [=](double* out) {
                      for (int i = 0; i < count; ++i)
                        *out++ = snapshot[i].limit * (instance[i].count == 1 ? instance[i].scale[0] : 1);
                    }});
    list.push_back({{name + ".friction_state", "1", rows, states}, [=](double* out) {
                      for (int i = 0; i < count; ++i) *out++ = state(snapshot[i], instance[i].count);
                    }});
    const auto at = static_cast<Eigen::Index>(np + channel);
    list.push_back({{"energy." + name + ".friction", "J", {}, "work of friction since the start"},
                    [this, at](double* out) { *out = at < W_.size() ? W_[at] : 0.0; }});
    first = last;
  }
  for (int i = contacts_->joint_frictions; i < static_cast<int>(friction_.size()); ++i) {
    const FrictionInstance& f = contacts_->frictions[static_cast<std::size_t>(i)];
    const FrictionSnapshot* snapshot = friction_.data() + i;
    const bool plane = f.component[0] == 5;
    const int count = f.count;
    // In the plane t2 = -z.
    const double scale = f.scale[0] * (plane ? -1 : 1);
    list.push_back({{f.name + "_moment",
                     "N m",
                     {},
                     plane          ? "moment against rolling on the first body, about z"
                     : f.count == 2 ? "size of the moment against rolling"
                                    : "moment against spinning on the first body, about the normal"},
                    [=](double* out) {
                      *out = count == 2 ? scale * std::hypot(snapshot->force[0], snapshot->force[1])
                                        : scale * snapshot->force[0];
                    }});
    list.push_back({{f.name + "_state", "1", {}, "0 open, 1 turns (plane: -1 against z), 2 sticks"}, [=](double* out) {
                      *out = state(*snapshot, count) * (plane && snapshot->mode == Mode::slide ? -1 : 1);
                    }});
  }
}

}  // namespace clatter::contact
