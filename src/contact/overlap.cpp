#include "contact/overlap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "contact/contacts.hpp"

namespace clatter::contact {

void refuse_overlap(const std::shared_ptr<const ContactSystem>& contacts, Engine& engine, const State& start) {
  if (!contacts->any_rigid) return;
  const auto size = [&](int shape) {
    const double bound = contacts->shapes[static_cast<std::size_t>(shape)].geometry.bound;
    return bound > 0 ? bound : std::numeric_limits<double>::infinity();
  };
  Contacts places(contacts, engine);  // of its own: a look leaves traces in what it remembers
  places.detect(start, 0);
  int deepest = -1;
  double worst = kLargestOverlap;
  for (const int slot : places.near()) {
    const PairInstance& pair = contacts->pair(slot);
    if (!pair.rigid || pair.in_coordinates()) continue;
    const double share = -places[slot].gap / std::min(size(pair.shape1), size(pair.shape2));
    if (!(share > worst)) continue;
    worst = share;
    deepest = slot;
  }
  if (deepest < 0) return;
  const PairInstance& pair = contacts->pair(deepest);
  const Model& model = engine.system().model;
  const Contact& contact = model.contacts[static_cast<std::size_t>(pair.contact)];
  throw InputError(model.texts, contact.source,
                   fmt::format("contact `{}`: `{}` and `{}` overlap by {:.3g} m at the start",
                               contact.group.empty() ? contact.name : contact.group,
                               contacts->shapes[static_cast<std::size_t>(pair.shape1)].name,
                               contacts->shapes[static_cast<std::size_t>(pair.shape2)].name, -places[deepest].gap),
                   "move them apart: more than a tenth of a shape cannot be pushed out without violence");
}

}  // namespace clatter::contact
