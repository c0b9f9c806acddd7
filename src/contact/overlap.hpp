// Shapes that overlap at the start. Rigid contact pushes them apart within a few steps: small overlaps are inaccuracies
// of the model and are taken back so, more than a tenth of the smaller shape is a mistake and would make it leap.
// Shapes without a size (points, lines, planes) have no share in the measure; compliant contacts may begin deformed.
#pragma once

#include <memory>

#include "contact/contact_system.hpp"
#include "engine/engine.hpp"

namespace clatter::contact {

// Of the smaller shape's bound.
inline constexpr double kLargestOverlap = 0.1;

// InputError with the place of the contact, the deepest pair and its depth.
void refuse_overlap(const std::shared_ptr<const ContactSystem>& contacts, Engine& engine, const State& start);

}  // namespace clatter::contact
