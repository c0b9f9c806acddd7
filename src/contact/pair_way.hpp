// Whether the two shapes of a slot that carries nothing can have passed through a part of each other within a step
// (step_passage.cpp). Along the slot's normal, kept as it is, convex shapes are apart by the gap where it was
// evaluated, and a time tau before or after by no less than
//
//   gap - tau (|gap'| + |w| 2 r) - h change
//
// with the relative spin w, the smaller shape's size r and what forces change of the speed in the step h. What is
// missing to zero within `span` on either side is how deep they can get.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "contact/contacts.hpp"

namespace clatter::contact {

// `all`: the way of the fastest shape, for slots of beams and formulas.
inline bool may_pass(const ContactSystem& system, const SlotState& s, int slot, double span, double h, double change,
                     double all) {
  // As in step_passage.cpp: less deep is left to the next step.
  constexpr double kMissed = 1e-7;
  const PairInstance& pair = system.pair(slot);
  double way = all;
  if (!pair.in_coordinates()) {
    double size = std::numeric_limits<double>::infinity();
    for (const int shape : {pair.shape1, pair.shape2})
      size = std::min(size, system.shapes[static_cast<std::size_t>(shape)].geometry.bound);
    if (std::isfinite(size))
      way = span * (std::abs(s.rate[0]) + 2 * size * std::hypot(s.rate[3], s.rate[4], s.rate[5])) + h * change;
  }
  return way - s.gap > std::max(kMissed * system.length_scale, 0.5 * change * h);
}

}  // namespace clatter::contact
