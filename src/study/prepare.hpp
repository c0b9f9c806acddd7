// A model made ready for any study: compiled, its flexible bodies reduced, at its consistent start, with its motion by
// the method it names and all that can be observed of it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "contact/motion.hpp"
#include "engine/engine.hpp"
#include "engine/quantity.hpp"
#include "engine/system.hpp"
#include "integrate/initial.hpp"
#include "solve/rank.hpp"

namespace clatter::study {

// A model and its start in some coordinates.
struct Setting {
  std::shared_ptr<const System> system;
  std::unique_ptr<Engine> engine;
  State written, start;  // as the model states it, and as it was found
  InitialReport initial;
};

// A compiled model at its consistent start.
struct Prepared : Setting {
  std::unique_ptr<contact::Motion> motion;  // by the method the model names
  // The model in absolute coordinates, where joints in trees are rows as well: there a start is found and constraints
  // are told apart. Null where nothing hangs on a tree, or where neither is asked for.
  std::unique_ptr<Setting> absolute;
  contact::StartOverlap overlap;     // of shapes, taken back in `start`
  RankReport rank;                   // of the constraints at the start
  std::vector<ExtraQuantity> extra;  // quantities beyond the system: contacts, stresses of meshes
  // Where starts and constraints are told by name.
  Setting& told() { return absolute ? *absolute : static_cast<Setting&>(*this); }
  const Setting& told() const { return absolute ? *absolute : static_cast<const Setting&>(*this); }
  int degrees_of_freedom() const { return told().system->sizes.nv - rank.rank; }
  std::vector<std::string> redundant() const;  // names of the constraints that repeat others
};

// Compiles and finds the start. A start that cannot be found is a mistake in the model: InputError.
Prepared prepare(Model model);

}  // namespace clatter::study
