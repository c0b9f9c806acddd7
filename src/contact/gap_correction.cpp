#include "contact/gap_correction.hpp"

namespace clatter::contact {

bool GapCorrection::find(StepProblem& problem, Contacts& contacts, StepMatrix* matrix, double most,
                         const std::vector<char>* closed, bool roughly) {
  problem.begin(matrix);
  for (const int slot : contacts.near()) {
    const SlotState& s = contacts[slot];
    if (!contacts.system().pair(slot).rigid || s.gap > kReach * most) continue;
    BlockCone cone;
    cone.bilateral = closed != nullptr && (*closed)[static_cast<std::size_t>(slot)];
    problem.add(slot, cone).b[0] = s.gap;
  }
  problem.assemble(1);
  for (int k = 0; k < problem.islands(); ++k) problem.solve_convex(k, roughly);
  problem.impulses(b);
  problem.response(b, delta, mu);
  return delta.allFinite();
}

}  // namespace clatter::contact
