// Single pairs of shapes of a crowd by name: for the event log, and for quantities of single pairs.
//
// An entry of n shapes has n^2 / 2 pairs, of which nobody wants to hear but a few: the log follows those of entries with
// at most 40, quantities are those that outputs or checks name. What a pair does is found when it is asked
// for: its gap and rates at the sample's links, its forces among the rows of the last step, by key.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "contact/contact_system.hpp"
#include "contact/friction_rows.hpp"
#include "model/crowd.hpp"

namespace clatter::contact {

// Entries with more pairs are not followed by the log.
constexpr std::size_t kMostPairs = 40;

struct CrowdPairState {
  Mode mode = Mode::open;
  double gap = 0, gap_rate = 0;
  double slip = 0;  // in the plane along t, in space its size
  int touching = 0;
  double normal_force = 0, friction_force = 0;  // friction: in the plane along t, in space the size of the sum
  Vec3 force = Vec3::Zero();                    // on the first shape, world
  Vec3 point = Vec3::Zero();                    // that presses most, or the nearest
};

// Whether outputs or checks name a quantity of a pair of several.
bool asked_for(const Model& model, const std::string& pair);

// Pairs that an entry writes down, those of one body included.
std::size_t pairs_written(const CrowdContact& entry);

// visit(shape1, shape2, name): pairs of an entry on different bodies, "entry" where it is the only one written, else
// "entry.first.second" as of pairs.
void visit_pairs(const ContactSystem& contacts, const CrowdContact& entry,
                 const std::function<void(int, int, const std::string&)>& visit);

}  // namespace clatter::contact
