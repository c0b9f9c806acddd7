// What an entry of a crowd's contacts, or a rope, tells: sums over its points of contact.
#include "contact/motion.hpp"

namespace clatter::contact {

void Motion::crowd_quantities(std::vector<ExtraQuantity>& list) const {
  const std::vector<std::string> xyz = {"x", "y", "z"};
  for (std::size_t g = 0; g < contacts_->groups.size(); ++g) {
    const std::string& name = contacts_->groups[g];
    const auto entry = [this, g]() -> const CrowdEntryState& { return crowd_->entries()[g]; };
    list.push_back({{name + ".gap", "m", {}, "smallest distance at the begin of the step, negative in penetration"},
                    [=](double* out) { *out = entry().gap; }});
    list.push_back(
        {{name + ".touching", "1", {}, "points of contact that carry"}, [=](double* out) { *out = entry().touching; }});
    list.push_back({{name + ".normal_force", "N", {}, "sum of the normal forces; mean over the step"},
                    [=](double* out) { *out = entry().normal_force; }});
    list.push_back(
        {{name + ".force", "N", xyz, "sum of the forces on the first shapes, world axes; mean over the step"},
         [=](double* out) {
           for (int k = 0; k < 3; ++k) out[k] = entry().force[k];
         }});
    list.push_back({{name + ".point", "m", xyz, "point of contact that presses most, world axes"}, [=](double* out) {
                      for (int k = 0; k < 3; ++k) out[k] = entry().point[k];
                    }});
  }
}

}  // namespace clatter::contact
