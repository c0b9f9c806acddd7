// No contact brings energy in: the account of the contacts' work in one step, island by island, for ContactStepper.
//
//   work       sum P . (rate- + rate+)/2, P and the columns W of the step's problem; by the midpoint rule, exactly the
//              change of kinetic and potential energy that contacts bring where forces are uniform
//   lift       -p W^T a: what the correction of gaps M delta = W p does against the forces f = M a
//   v <- s v   on all bodies that a carrying contact of the island touches, with T (1 - s^2) = work + lift, if that is
//              positive
//
// Both vanish for contacts at rest. While contacts last their sum is an error of third order a step (gaps and their
// columns move along curves that a step sees at one point), in a landing step of second order, of either sign; the
// negative ones are dissipation, and stay. All laws of contact are cones in the velocities: s v satisfies them as v
// does, as long as what the island leans on does not move. An island that floats has no frame to be slowed down in, nor
// does the correction, whose total momentum is zero, lift it; a drive moves on whatever contacts do. Neither is
// touched.
//
// Bodies that are nearly at rest may not have as much: then the step is halved, and its error falls with the square.
#include <algorithm>
#include <cmath>

#include "contact/contact_stepper.hpp"

namespace clatter::contact {

namespace {
// Work below this part of force times length is rounding.
constexpr double kRoundingWork = 1e-14;
}  // namespace

// Rows that move by themselves: their rates at velocity zero are not.
bool ContactStepper::driven() {
  if (n_.nc() == 0) return false;
  budget_.v_keep = trial_.v;
  trial_.v.setZero();
  dynamics_.constraints(trial_, budget_.phi, budget_.y);
  trial_.v = budget_.v_keep;
  return budget_.y.lpNorm<Eigen::Infinity>() > 1e-12 * system().velocity_scale;
}

void ContactStepper::open_budget(const Vec& v_begin, const Vec& v_end, const Vec& pull) {
  budget_.counting = true;
  budget_.pull = pull;
  for (Account& account : budget_.accounts) account = {};
  const auto islands = static_cast<std::size_t>(problem_.islands());
  budget_.energy.assign(islands, 0);
  budget_.lift.assign(islands, 0);
  budget_.grounded.assign(islands, 0);
  const Tree& tree = engine_.system().tree;
  for (std::size_t k = 0; k < islands; ++k)
    for (const int i : problem_.island(static_cast<int>(k))) {
      const StepProblem::Item& item = problem_[i];
      if (item.friction >= 0) continue;
      const bool carries = !item.r.isZero(0);
      const PairInstance& pair = system().pair(item.slot);
      for (const int link : {pair.link1, pair.link2}) {
        const int t = link < 0 ? -1 : tree.links[static_cast<std::size_t>(link)].tree;
        if (t < 0 || tree.trees[static_cast<std::size_t>(t)].v1 == tree.trees[static_cast<std::size_t>(t)].v0) {
          if (carries) budget_.grounded[k] = 1;
          continue;
        }
        Account& account =
            budget_.accounts[static_cast<std::size_t>(budget_.group_of_tree[static_cast<std::size_t>(t)])];
        account.island = static_cast<int>(k);
        account.active = account.active || carries;
      }
      for (int row = 0; carries && row < item.rows(); ++row)
        budget_.energy[k] += 0.5 * item.r[row] * (problem_.along(i, row, v_begin) + problem_.along(i, row, v_end));
    }
}

void ContactStepper::lift_budget() {
  const Tree& tree = engine_.system().tree;
  for (int i = 0; i < problem_.size(); ++i) {
    const StepProblem::Item& item = problem_[i];
    if (item.r[0] == 0) continue;
    const PairInstance& pair = system().pair(item.slot);
    int island = -1;
    bool on_ground = false;
    for (const int link : {pair.link1, pair.link2}) {
      const int t = link < 0 ? -1 : tree.links[static_cast<std::size_t>(link)].tree;
      if (t < 0 || tree.trees[static_cast<std::size_t>(t)].v1 == tree.trees[static_cast<std::size_t>(t)].v0) {
        on_ground = true;
        continue;
      }
      Account& account = budget_.accounts[static_cast<std::size_t>(budget_.group_of_tree[static_cast<std::size_t>(t)])];
      account.active = true;
      if (account.island >= 0) island = account.island;
    }
    if (island < 0) continue;
    budget_.lift[static_cast<std::size_t>(island)] -= item.r[0] * problem_.along(i, 0, budget_.pull);
    if (on_ground) budget_.grounded[static_cast<std::size_t>(island)] = 1;
  }
}

double ContactStepper::settle_budget(double lifted, double& missing) {
  budget_.counting = false;
  missing = 0;
  double known = 0;
  std::size_t most = 0;
  for (std::size_t k = 0; k < budget_.lift.size(); ++k) {
    known += budget_.lift[k];
    if (std::abs(budget_.lift[k]) > std::abs(budget_.lift[most])) most = k;
  }
  // What forces that are not uniform add belongs where most was moved.
  if (!budget_.lift.empty()) budget_.lift[most] += lifted - known;
  const double rounding = kRoundingWork * system().force_scale * system().length_scale;
  double taken = 0;
  int moved_by_drives = -1;  // not known yet
  const Tree& tree = engine_.system().tree;
  for (std::size_t k = 0; k < budget_.energy.size(); ++k) {
    const double excess = budget_.energy[k] + budget_.lift[k];
    if (!(excess > rounding) || !budget_.grounded[k]) continue;
    if (moved_by_drives < 0) moved_by_drives = driven() ? 1 : 0;
    if (moved_by_drives == 1) return taken;
    const auto each = [&](auto&& visit) {
      for (std::size_t t = 0; t < tree.trees.size(); ++t) {
        const Account& account = budget_.accounts[static_cast<std::size_t>(budget_.group_of_tree[t])];
        if (!account.active || account.island != static_cast<int>(k)) continue;
        const int n = tree.trees[t].v1 - tree.trees[t].v0;
        visit(trial_.v.segment(tree.trees[t].v0, n));
      }
    };
    budget_.v_keep = trial_.v;
    const double with = dynamics_.stored_energy(trial_);
    each([](auto v) { v.setZero(); });
    const double kinetic = with - dynamics_.stored_energy(trial_);
    trial_.v = budget_.v_keep;
    missing += std::max(0.0, excess - kinetic);
    if (!(kinetic > 0)) continue;
    const double part = std::min(1.0, excess / kinetic), s = std::sqrt(1 - part);
    each([&](auto v) { v *= s; });
    taken += part * kinetic;
  }
  return taken;
}

}  // namespace clatter::contact
