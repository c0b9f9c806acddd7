// Registry: every kind of body, joint, law, load and mobility, each with a small model that contains it between moving
// bodies in a general position, and with what must hold for that model. The conformance tests run over all of it; a new
// element is finished when it stands here and they pass.
#pragma once

#include <string>
#include <vector>

namespace clatter {

// What is true of a sample's motion. Each flag opens a check.
struct Traits {
  bool conservative = false;  // no power enters or leaves: the stored energy stays
  bool internal = false;      // acts between the bodies only: momentum and angular momentum stay
  bool scleronomic = false;   // nothing depends on the time
  bool objective = false;     // the model moved as a whole moves the same way
  bool planar_twin = false;   // planar bodies: spatial ones in their place move the same way
  bool tree_capable = false;  // may be written in joint and in absolute coordinates
};

struct Registered {
  std::string name;    // letters, digits and underscores
  std::string group;   // body, joint, mobility, law, load, actuator, contact_law
  std::string sample;  // a model text
  Traits traits;
};

const std::vector<Registered>& registry();
// Parts of it.
std::vector<Registered> registered_beams();         // registry_beams.cpp
std::vector<Registered> registered_contact_laws();  // registry_contacts.cpp: every law of laws/laws.hpp

}  // namespace clatter
