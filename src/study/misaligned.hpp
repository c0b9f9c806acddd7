// Joints whose two frames do not point the same way at a start.
//
// A joint holds directions by products of axes that must vanish. These also vanish half a turn away, and at a quarter
// turn their gradients do: a joint that starts far off its orientation either cannot be assembled, for reasons the rows
// alone do not tell, or is assembled the wrong way round.
#pragma once

#include <string>
#include <vector>

#include "engine/engine.hpp"

namespace clatter::study {

struct Misaligned {
  int joint;         // of the model
  double angle;      // rad: between the two frames, or between their z axes where the joint lets them turn about these
  std::string what;  // "joint `slide` starts with the frames rail.slot and block.key 90 degrees apart"
};

// Joints off by more than `least` at s, the furthest first.
std::vector<Misaligned> misaligned_joints(Engine& engine, const State& s, double least);

}  // namespace clatter::study
