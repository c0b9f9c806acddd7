#include "study/recorded.hpp"

#include <algorithm>
#include <set>

#include "base/error.hpp"
#include "model/quantities.hpp"

namespace clatter::study {

std::vector<std::string> recorded_quantities(const Prepared& prepared) {
  const System& system = *prepared.system;
  const Model& model = system.model;
  std::vector<QuantityInfo> all = all_quantities(system);
  const std::size_t own = all.size();
  std::set<std::string> known_names;
  for (const QuantityInfo& q : all) known_names.insert(q.name);
  for (const ExtraQuantity& q : prepared.extra)
    if (!known_names.contains(q.info.name)) all.push_back(q.info);
  std::vector<bool> chosen(all.size(), model.outputs.empty());

  const auto matches = [](const QuantityInfo& q, const std::string& pattern) {
    if (glob_match(pattern, q.name)) return true;
    return std::any_of(q.components.begin(), q.components.end(),
                       [&](const std::string& c) { return glob_match(pattern, q.name + "." + c); });
  };
  const auto choose = [&](const std::string& pattern, const Source& source) {
    bool found = false;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (matches(all[i], pattern)) chosen[i] = found = true;
    }
    if (found) return;
    std::vector<std::string> known;
    for (const QuantityInfo& q : all) known.push_back(q.name);
    const UnknownQuantity unknown = unknown_quantity(pattern, known);
    throw InputError(model.texts, source, unknown.message, unknown.hint);
  };
  // Without a wish, single points of a contact, crowds of contacts and stresses, which need the whole mesh, are left
  // out. Of crowds the sums over the pairs of an entry are taken.
  const bool many = model.contacts.size() > most_pairs_shown;
  std::set<std::string> entries;
  if (prepared.motion->has_contacts())
    for (const contact::ContactEntry& entry : prepared.motion->contacts().several()) entries.insert(entry.name);
  if (model.outputs.empty())
    for (std::size_t i = own; i < all.size(); ++i)
      chosen[i] = all[i].name.find('[') == std::string::npos && !all[i].name.ends_with(".von_mises") &&
                  (all[i].name.starts_with("energy.") ||
                   entries.contains(all[i].name.substr(0, all[i].name.rfind('.'))) == many);
  for (const Output& output : model.outputs) choose(output.quantity, output.source);
  for (const Check& check : model.checks) choose(check.quantity, check.source);
  std::set<std::string> always{"energy.kinetic", "energy.potential", "energy.total"};
  for (const Body& body : model.bodies) {
    always.insert(body.name + ".position");
    always.insert(body.name + ".orientation");
    if (deforms(body.kind)) always.insert(body.name + ".eta");
  }
  // Where contacts press and how, point by point where that is not a crowd.
  if (prepared.motion->has_contacts() && !many) {
    const contact::ContactSystem& contacts = prepared.motion->contacts();
    const bool each = contacts.slots() <= static_cast<int>(most_pairs_shown);
    for (const contact::PairInstance& pair : contacts.pairs) {
      for (int k = 0; k < (each ? pair.slots : 1); ++k) {
        const std::string name = each ? contacts.slot_name(pair.slot0 + k) : pair.name;
        for (const char* quantity : {".point", ".force", ".state"}) always.insert(name + quantity);
      }
    }
  }
  if (many)
    for (const std::string& entry : entries)
      for (const char* quantity : {".point", ".force", ".state"}) always.insert(entry + quantity);
  if (prepared.motion->crowd() != nullptr)
    for (const std::string& entry : prepared.motion->contacts().groups)
      for (const char* quantity : {".point", ".force"}) always.insert(entry + quantity);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (chosen[i] || always.contains(all[i].name)) names.push_back(all[i].name);
  }
  return names;
}

Observer recorder(const Prepared& prepared) {
  return Observer(prepared.system, recorded_quantities(prepared), prepared.extra);
}

int column_of(const Observer& observer, const std::string& quantity) {
  int column = 0;
  std::vector<std::string> known;
  for (const QuantityInfo& q : observer.quantities()) {
    if (q.components.empty() && q.width() == 1) {
      if (q.name == quantity) return column;
      known.push_back(q.name);
    }
    for (std::size_t i = 0; i < q.components.size(); ++i) {
      const std::string name = q.name + "." + q.components[i];
      if (name == quantity) return column + static_cast<int>(i);
      known.push_back(name);
    }
    column += q.width();
  }
  const UnknownQuantity unknown = unknown_quantity(quantity, known);
  throw InputError(unknown.message, unknown.hint);
}

}  // namespace clatter::study
