// Friction rows in time stepping (members of ContactStepper): boxes and discs of the step's contact problem.
//
//   r in [-unit l, unit l] opposed to the slip at the end of the step,     l = base + mu N(lambda),  (length / L) r_N
//
// lambda and r_N are those of the same step: the problem is solved for given limits, and these again for the reactions
// found, until they agree. The limits of the step before are the start.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "contact/contact_stepper.hpp"

namespace clatter::contact {

namespace {

// Slip slower than this part of the velocity scale is sticking.
constexpr double kNoSlip = 1e-9;
constexpr int kIterations = 100;
// The contact problem itself is solved to about this.
constexpr double kConverged = 1e-9;
constexpr double kRunaway = 1e8;

}  // namespace

void ContactStepper::add_frictions(const Vec& x, double along_factor, double rate_factor, double bias_factor,
                                   bool sliding) {
  step_frictions_.items.clear();
  const int contacts = problem_.size();
  const auto add = [&](int index, int normal) {
    frictions_.evaluate(index, true);
    const FrictionInstance& f = frictions_[index];
    BlockCone cone;
    cone.alone = true;
    cone.tangents = f.count;
    const double speed = frictions_.speed(index), *rate = frictions_.rate(index);
    if (sliding && speed > kNoSlip * system().velocity_scale) {
      cone.sliding = true;
      for (int c = 0; c < f.count; ++c) cone.d[c] = rate[c] / speed;
    }
    StepProblem::Item& item = problem_.add_friction(index, cone);
    const int at = problem_.size() - 1;
    for (int c = 0; c < f.count; ++c)
      item.b[c] =
          rate_factor * rate[c] + along_factor * problem_.along(at, c, x) + bias_factor * frictions_.bias(index)[c];
    step_frictions_.items.push_back({at, index, normal});
  };
  for (int i = 0; i < frictions_.joints(); ++i) add(i, -1);
  for (int i = 0; i < contacts; ++i) {
    const int slot = problem_[i].slot;
    const int first = system().friction_of_slot[static_cast<std::size_t>(slot)];
    for (int f = first; f >= 0 && f < frictions_.size() && frictions_[f].slot == slot; ++f) add(f, i);
  }
}

void ContactStepper::solve_with_frictions(const char* what, double unit, const Vec& lambda) {
  step_frictions_.samples_trial.clear();
  if (step_frictions_.items.empty()) return solve_contacts(what);
  const auto n = static_cast<Eigen::Index>(step_frictions_.items.size());
  const auto joint_limit = [&](const FrictionItem& f, const Vec& reactions) {
    return frictions_.limit(f.friction, frictions_.speed(f.friction),
                            frictions_.loaded(f.friction) ? frictions_.load(f.friction, reactions) : 0.0);
  };
  step_frictions_.limit_now.resize(n);
  step_frictions_.limit_next.resize(n);
  bool loaded = false, moments = false;
  for (Eigen::Index j = 0; j < n; ++j) {
    const FrictionItem& f = step_frictions_.items[static_cast<std::size_t>(j)];
    moments = moments || f.normal >= 0;
    loaded = loaded || (f.normal < 0 && frictions_.loaded(f.friction));
    step_frictions_.limit_now[j] =
        f.normal >= 0 || frictions_.loaded(f.friction) ? step_frictions_.limit[f.friction] : joint_limit(f, lambda);
    for (int c = 0; c < frictions_[f.friction].count; ++c)
      problem_[f.item].r[c] = unit * step_frictions_.start[2 * f.friction + c];
  }
  Relaxation relaxation;
  for (int iteration = 0;; ++iteration) {
    for (Eigen::Index j = 0; j < n; ++j)
      problem_[step_frictions_.items[static_cast<std::size_t>(j)].item].cone.limit =
          unit * step_frictions_.limit_now[j];
    solve_contacts(what);
    if (!loaded && !moments) break;
    step_frictions_.lambda = lambda;
    if (loaded) {
      problem_.impulses(step_frictions_.b);
      problem_.response(step_frictions_.b, step_frictions_.x, step_frictions_.mu);
      step_frictions_.lambda += step_frictions_.mu / unit;
    }
    for (Eigen::Index j = 0; j < n; ++j) {
      const FrictionItem& f = step_frictions_.items[static_cast<std::size_t>(j)];
      step_frictions_.limit_next[j] = f.normal >= 0
                                          ? frictions_[f.friction].ratio * std::max(0.0, problem_[f.normal].r[0]) / unit
                                          : joint_limit(f, step_frictions_.lambda);
    }
    const double size = step_frictions_.limit_next.cwiseAbs().maxCoeff();
    if ((step_frictions_.limit_next - step_frictions_.limit_now).cwiseAbs().maxCoeff() <=
        kConverged * (size + 1e-6 * system().force_scale))
      break;
    if (iteration == kIterations || !(size < kRunaway * system().force_scale / std::min(1.0, unit))) joints_jam();
    relaxation.advance(step_frictions_.limit_now, step_frictions_.limit_next);
  }
  for (Eigen::Index j = 0; j < n; ++j) {
    const FrictionItem& f = step_frictions_.items[static_cast<std::size_t>(j)];
    FrictionSample sample;
    sample.index = f.friction;
    sample.limit = step_frictions_.limit_now[j];
    for (int c = 0; c < frictions_[f.friction].count; ++c) sample.force[c] = problem_[f.item].r[c] / unit;
    step_frictions_.samples_trial.push_back(sample);
  }
}

void ContactStepper::book_frictions(const Vec& v_end, double bias_factor) {
  for (std::size_t j = 0; j < step_frictions_.items.size(); ++j) {
    const FrictionItem& f = step_frictions_.items[j];
    const FrictionInstance& row = frictions_[f.friction];
    FrictionSample& sample = step_frictions_.samples_trial[j];
    const int channel =
        row.joint >= 0 ? contact_.joint_channel(f.friction) : contact_.friction_channel(system().pair(row.slot).group);
    double slip = 0;
    for (int c = 0; c < row.count; ++c) {
      const double before = frictions_.rate(f.friction)[c], after = problem_.along(f.item, c, v_end);
      W_trial_[channel] += problem_[f.item].r[c] * 0.5 * (before + after);
      sample.slip[c] = after + bias_factor * frictions_.bias(f.friction)[c];
      slip = std::hypot(slip, sample.slip[c]);
    }
    sample.mode = slip > kNoSlip * system().velocity_scale ? Mode::slide : Mode::stick;
  }
}

void ContactStepper::add_friction_powers(const std::vector<FrictionSample>& samples, Vec& p) {
  for (const FrictionSample& sample : samples) {
    const FrictionInstance& row = frictions_[sample.index];
    if (row.slot >= 0) contacts_.evaluate(row.slot, false);
    frictions_.evaluate(sample.index, false);
    for (int c = 0; c < row.count; ++c)
      p[row.joint >= 0 ? contact_.joint_channel(sample.index)
                       : contact_.friction_channel(system().pair(row.slot).group)] +=
          sample.force[c] * frictions_.rate(sample.index)[c];
  }
}

void ContactStepper::note_friction_changes() {
  for (Mode& mode : step_frictions_.mode)
    if (mode == Mode::open) mode = Mode::slide;
  for (const FrictionSample& f : step_frictions_.samples) {
    Mode& mode = step_frictions_.mode[static_cast<std::size_t>(f.index)];
    if (mode == f.mode) continue;
    mode = f.mode;
    ++(mode == Mode::stick ? log_.counts.sticks : log_.counts.slides);
    StepChange change{mode == Mode::stick ? StepChange::What::sticks : StepChange::What::slides, -1};
    change.friction = f.index;
    log_.changes.push_back(change);
  }
}

void ContactStepper::joints_jam() const {
  std::vector<std::string> names;
  std::string all;
  for (const FrictionItem& f : step_frictions_.items) {
    if (f.normal < 0 && !frictions_.loaded(f.friction)) continue;
    names.push_back(f.normal < 0 ? frictions_.joint_name(f.friction) : frictions_[f.friction].name);
    all += (all.empty() ? "" : ", ") + names.back();
  }
  throw SolveError(
      "joint-jams", trial_.t, names,
      fmt::format("friction jams in {}: the reactions it causes itself ask for more friction without end", all),
      "reduce the coefficient or the lever arm of the load, or make the guide longer");
}

}  // namespace clatter::contact
