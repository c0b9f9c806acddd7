// Passages: steps of time stepping in which shapes that took no part in it passed through each other, or through a part
// of each other, on the way from one end of the step to the other, however short it was made; the deepest of them.
#pragma once

#include <string>

#include "integrate/archive.hpp"

namespace clatter::contact {

struct Passages {
  long steps = 0;
  double depth = 0, t = 0;
  int slot = -1;

  void take(const Passages& step) {
    const long all = steps + step.steps;
    if (step.depth > depth) *this = step;
    steps = all;
  }
  void exchange(Archive& archive) {
    archive.count(steps);
    for (double* x : {&depth, &t}) archive.value(*x);
    archive.count(slot);
  }
};

// The same in words: the contact that was passed.
struct PassageReport {
  Passages worst;
  std::string contact;
};

}  // namespace clatter::contact
