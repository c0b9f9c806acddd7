// UnsolvedSteps: steps of time stepping whose contact problem ended above its tolerance, whatever was tried; the worst
// of them, by that tolerance, with its time and place.
//
//   residual   natural map of the law: in crowds m/s, of pairs by the largest rate of the contacts that hang together
#pragma once

#include <string>
#include <vector>

#include "integrate/archive.hpp"

namespace clatter::contact {

struct UnsolvedSteps {
  long steps = 0;
  double residual = 0, tolerance = 0, t = 0;
  int contact = -1;              // crowds: an entry; pairs: a slot, or ~k: friction row k
  int shape1 = -1, shape2 = -1;  // crowds: of the pair

  // A contact problem of the present step that was not solved.
  void note(double r, double allowed, double when, int which, int first = -1, int second = -1) {
    if (steps > 0 && !(r * tolerance > residual * allowed)) return;
    *this = {1, r, allowed, when, which, first, second};
  }
  // Those of another step, or of none.
  void take(const UnsolvedSteps& step) {
    const long all = steps + step.steps;
    if (steps == 0 || step.residual * tolerance > residual * step.tolerance) *this = step;
    steps = all;
  }
  void exchange(Archive& archive) {
    archive.count(steps);
    for (double* x : {&residual, &tolerance, &t}) archive.value(*x);
    for (int* i : {&contact, &shape1, &shape2}) archive.count(*i);
  }
};

// The same in words: what touches what, and whether the residual has no unit.
struct UnsolvedReport {
  UnsolvedSteps worst;
  bool relative = false;
  std::string contact;
  std::vector<std::string> shapes;
};

}  // namespace clatter::contact
