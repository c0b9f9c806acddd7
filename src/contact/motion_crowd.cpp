// What an entry of a crowd's contacts, or a rope, tells: of an entry that is one pair what pairs tell (motion.cpp), of
// others sums over the points of contact, and pair by pair where outputs or checks ask for them.
#include <algorithm>

#include "contact/crowd_pairs.hpp"
#include "contact/motion.hpp"
#include "model/quantities.hpp"

namespace clatter::contact {

namespace {

const std::vector<std::string> kXyz = {"x", "y", "z"};
constexpr const char* kStates = "0 open, 1 slides forward, -1 slides backward (space: 1), 2 sticks";

double state_of(Mode mode, bool planar, double slip) {
  return mode == Mode::stick ? 2 : mode == Mode::slide ? (planar && slip < 0 ? -1 : 1) : 0;
}

}  // namespace

bool asked_for(const Model& model, const std::string& pair) {
  const auto names = [&](const std::string& wish) {
    // "pile.*" means the entry, not each of what may be thousands of pairs.
    const std::size_t star = wish.find_first_of("*?");
    if (star == std::string::npos) return wish.starts_with(pair + ".");
    const std::size_t dot = wish.rfind('.');
    return dot != std::string::npos && glob_match(wish.substr(0, dot), pair) &&
           std::count(wish.begin(), wish.end(), '.') >= std::count(pair.begin(), pair.end(), '.') + 1;
  };
  return std::any_of(model.outputs.begin(), model.outputs.end(), [&](const Output& o) { return names(o.quantity); }) ||
         std::any_of(model.checks.begin(), model.checks.end(), [&](const Check& c) { return names(c.quantity); });
}

// Of thousands of pairs of an entry each has its quantities where they are asked for.
bool Motion::listed(const PairInstance& pair) const {
  constexpr std::size_t kMost = 2000;
  return contacts_->pairs.size() <= kMost || pair.name == contacts_->groups[static_cast<std::size_t>(pair.group)] ||
         asked_for(system_->model, pair.name);
}

void Motion::energy_quantities(std::vector<ExtraQuantity>& list) const {
  const int np = engine_.sizes().np;
  for (std::size_t g = 0; g < contacts_->groups.size(); ++g)
    for (int k = 0; k < 2; ++k) {
      const auto channel = static_cast<Eigen::Index>(np + 2 * static_cast<int>(g) + k);
      list.push_back(
          {{"energy." + contacts_->groups[g] + (k == 0 ? ".friction" : ".impact"),
            "J",
            {},
            k == 0 ? "work of friction and damping since the start" : "energy lost in impacts since the start"},
           [this, channel](double* out) { *out = channel < W_.size() ? W_[channel] : 0.0; }});
    }
}

// As told of one pair, evaluated at the first question of a sample.
void Motion::crowd_pair(std::vector<ExtraQuantity>& list, const std::string& name, int shape1, int shape2) const {
  auto memory = std::make_shared<std::pair<long, CrowdPairState>>(-1, CrowdPairState());
  const auto now = [this, memory, shape1, shape2]() -> const CrowdPairState& {
    if (memory->first != samples_) memory->second = crowd_->observe_pair(shape1, shape2);
    memory->first = samples_;
    return memory->second;
  };
  const bool planar = contacts_->shapes[static_cast<std::size_t>(shape1)].geometry.planar();
  const std::string mean = "; mean over the step";
  list.push_back(
      {{name + ".gap", "m", {}, "smallest distance, negative in penetration"}, [=](double* out) { *out = now().gap; }});
  list.push_back({{name + ".normal_force", "N", {}, "sum of the normal forces, pressure positive" + mean},
                  [=](double* out) { *out = now().normal_force; }});
  list.push_back({{name + ".friction_force",
                   "N",
                   {},
                   (planar ? "sum of the tangential forces on the first body, along t"
                           : "size of the sum of the tangential forces") +
                       mean},
                  [=](double* out) { *out = now().friction_force; }});
  list.push_back({{name + ".force", "N", kXyz, "force on the first body, world axes" + mean}, [=](double* out) {
                    for (int k = 0; k < 3; ++k) out[k] = now().force[k];
                  }});
  list.push_back({{name + ".slip", "m/s", {}, planar ? "slip of the first body along t" : "size of the slip"},
                  [=](double* out) { *out = now().slip; }});
  list.push_back({{name + ".gap_rate", "m/s", {}, "rate of the gap"}, [=](double* out) { *out = now().gap_rate; }});
  list.push_back(
      {{name + ".state", "1", {}, kStates}, [=](double* out) { *out = state_of(now().mode, planar, now().slip); }});
  list.push_back({{name + ".point", "m", kXyz, "point of contact, world axes"}, [=](double* out) {
                    for (int k = 0; k < 3; ++k) out[k] = now().point[k];
                  }});
  list.push_back(
      {{name + ".touching", "1", {}, "points of contact that carry"}, [=](double* out) { *out = now().touching; }});
}

void Motion::crowd_sums(std::vector<ExtraQuantity>& list, std::size_t g) const {
  const std::string& name = contacts_->groups[g];
  const auto entry = [this, g]() -> const CrowdEntryState& { return crowd_->entries()[g]; };
  const auto leading = [this, g]() { return crowd_->leading(static_cast<int>(g)); };
  list.push_back({{name + ".gap", "m", {}, "smallest distance at the begin of the step, negative in penetration"},
                  [=](double* out) { *out = entry().gap; }});
  list.push_back(
      {{name + ".touching", "1", {}, "points of contact that carry"}, [=](double* out) { *out = entry().touching; }});
  list.push_back({{name + ".normal_force", "N", {}, "sum of the normal forces; mean over the step"},
                  [=](double* out) { *out = entry().normal_force; }});
  list.push_back({{name + ".friction_force",
                   "N",
                   {},
                   "sum of the tangential forces on the first shapes, along t in the plane, its size in space; mean "
                   "over the step"},
                  [=](double* out) { *out = entry().planar ? entry().along : entry().friction.norm(); }});
  list.push_back({{name + ".force", "N", kXyz, "sum of the forces on the first shapes, world axes; mean over the step"},
                  [=](double* out) {
                    for (int k = 0; k < 3; ++k) out[k] = entry().force[k];
                  }});
  list.push_back({{name + ".point", "m", kXyz, "point of contact that presses most, world axes"}, [=](double* out) {
                    for (int k = 0; k < 3; ++k) out[k] = entry().point[k];
                  }});
  list.push_back({{name + ".slip", "m/s", {}, "slip where most presses, at the end of the step"},
                  [=](double* out) { *out = leading().slip; }});
  list.push_back({{name + ".gap_rate", "m/s", {}, "rate of the gap where most presses, at the end of the step"},
                  [=](double* out) { *out = leading().gap_rate; }});
  list.push_back({{name + ".state", "1", {}, std::string("where most presses: ") + kStates}, [=](double* out) {
                    const CrowdPairState s = leading();
                    *out = state_of(s.mode, entry().planar, s.slip);
                  }});
}

void Motion::crowd_quantities(std::vector<ExtraQuantity>& list) const {
  const CrowdModel& crowd = *system_->model.crowd;
  for (std::size_t g = 0; g < crowd.contacts.size() + crowd.ropes.size(); ++g) {
    if (g >= crowd.contacts.size()) {
      crowd_sums(list, g);
      continue;
    }
    const CrowdContact& entry = crowd.contacts[g];
    const std::size_t pairs = pairs_written(entry);
    if (pairs != 1) crowd_sums(list, g);
    // Names of pairs are looked at where outputs or checks may name one, ENTRY.FIRST.SECOND.QUANTITY at least.
    const auto dots = [](const std::string& text) { return std::count(text.begin(), text.end(), '.'); };
    const auto begins = [&](const std::string& wish) {
      return (wish.starts_with(entry.name + ".") || wish[0] == '*') && dots(wish) >= dots(entry.name) + 3;
    };
    const Model& model = system_->model;
    if (pairs > 1 &&
        std::none_of(model.outputs.begin(), model.outputs.end(), [&](const Output& o) { return begins(o.quantity); }) &&
        std::none_of(model.checks.begin(), model.checks.end(), [&](const Check& c) { return begins(c.quantity); }))
      continue;
    visit_pairs(*contacts_, entry, [&](int a, int b, const std::string& name) {
      if (pairs == 1 || asked_for(model, name)) crowd_pair(list, name, a, b);
    });
  }
}

}  // namespace clatter::contact
