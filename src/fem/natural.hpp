// Natural vibrations of a reduced body with its frame at rest: K x = omega^2 M x over its elastic coordinates. With
// mean axes these are the vibrations of the free body, with a frame at an interface those of the body held there; of
// superelements, whose coordinates hold the rigid motions too, the vibrations of the free body.
#pragma once

#include <vector>

#include "model/reduced_body.hpp"

namespace clatter::fem {

struct NaturalShape {
  double frequency;  // Hz
  Vec eta;           // elastic coordinates, largest entry 1
};

// The lowest `most` that are no rigid motions, ascending; fewer where there are fewer.
std::vector<NaturalShape> natural_shapes(const ReducedBody& body, int most);

}  // namespace clatter::fem
