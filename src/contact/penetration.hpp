// Deepest penetration where contacts were last detected, metres, positive. Rigid contacts must not have any; of
// compliant ones it is the deformation, told where a model has no others.
#pragma once

#include <algorithm>

#include "contact/contacts.hpp"

namespace clatter::contact {

inline double deepest_penetration(const Contacts& contacts) {
  double depth = 0;
  for (const int slot : contacts.near())
    if (contacts.system().pair(slot).rigid == contacts.system().any_rigid) depth = std::max(depth, -contacts[slot].gap);
  return depth;
}

}  // namespace clatter::contact
