// CrowdPart: some rows of a CrowdProblem with the bodies they touch, as a problem of its own.
//
// Rows that share a moving body, directly or through others, must be in it together: nothing else then feels what is
// solved in it.
#pragma once

#include <span>
#include <vector>

#include "impulse/crowd_problem.hpp"

namespace clatter::contact {

class CrowdPart {
 public:
  // rows: ascending. With the impulses and the velocities of the whole.
  void take(const CrowdProblem& whole, std::span<const int> rows);
  // Impulses and velocities back into the whole.
  void put_back(CrowdProblem& whole) const;

  CrowdProblem problem;

 private:
  int body_of(const CrowdProblem& whole, int side);
  int side_of(const CrowdProblem& whole, int side);

  std::vector<int> rows_, bodies_, sides_;    // of the whole
  std::vector<int> body_place_, side_place_;  // by body, side of the whole: its place here, -1: none
};

}  // namespace clatter::contact
