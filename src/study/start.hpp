// The start of a motion: as the model states it, made consistent with joints and contacts.
//
// A start is found in absolute coordinates, where every joint is rows: there joints can be assembled whatever stands in
// their trees, and what is redundant is told by name.
#pragma once

#include "study/prepare.hpp"

namespace clatter::study {

// A model in its own coordinates at the start that it states.
Setting compiled(Model model);
// Fills `start` and, where trees were assembled, `absolute`. A start that cannot be found is a mistake in the model:
// InputError.
void find_start(Prepared& prepared);
// Shapes that overlap are moved apart, unless that moves what is to be kept.
void clear_start(Prepared& prepared);
RankReport rank_at(Engine& engine, const State& s);

}  // namespace clatter::study
