// GapCorrection: the smallest change of positions that takes penetration back,
//
//   0 <= p  perp  gap + W_N^T delta >= 0,   M delta = W_N p + G^T nu,   q <- q (+) delta
//
// linear in delta, so that it takes a few passes. Rows that contradict each other share what they cannot have.
#pragma once

#include <vector>

#include "contact/step_problem.hpp"

namespace clatter::contact {

struct GapCorrection {
  // Contacts up to this many times the largest error apart are rows, too: what opens one must not close another.
  static constexpr double kReach = 8;

  explicit GapCorrection(const Sizes& n) : delta(Vec::Zero(n.nv)), b(Vec::Zero(n.nv)), mu(Vec::Zero(n.nc())) {}

  // Of the contacts near at the present state. most: the largest error. matrix: M + c C + k K instead of M, may be
  // null. closed: a flag a slot, those to be held at gap zero; may be null. False where there is no finite one.
  bool find(StepProblem& problem, Contacts& contacts, StepMatrix* matrix, double most,
            const std::vector<char>* closed = nullptr, bool roughly = false);

  Vec delta;

 private:
  Vec b, mu;
};

}  // namespace clatter::contact
