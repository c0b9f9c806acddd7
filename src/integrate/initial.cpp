#include "integrate/initial.hpp"

#include <fmt/format.h>

#include "integrate/diagnosis.hpp"
#include "integrate/projection.hpp"

namespace clatter {

namespace {

// Positions that meet the constraints, moved on by least corrections (which follow what they cost: Engine::weigh) as
// long as that lowers the strain energy.
void relax(Dynamics& dynamics, Projector& projector, State& s, const InitialSettings& settings) {
  constexpr int kMost = 20;
  constexpr double kGain = 1e-4;
  const Sizes& n = dynamics.sizes();
  Vec none = Vec::Zero(n.nc()), delta = Vec::Zero(n.nv);
  double energy = settings.strain_energy(s);
  for (int i = 0; i < kMost && energy > 0; ++i) {
    State trial = s;
    dynamics.least_correction(s, none, true, delta);
    dynamics.plus(s.q, delta, trial.q);
    try {
      projector.positions(trial);
    } catch (const SolveError&) {
      return;
    }
    const double now = settings.strain_energy(trial);
    if (!(now < energy)) return;
    const bool last = now > (1 - kGain) * energy;
    s = trial;
    energy = now;
    if (last) return;
  }
}

// Beyond it, in units of the scales, rows contradict each other in this way.
constexpr double kMet = 1e-11;

// One of the two corrections of s, by the first way that can. A way that cannot still leads where the next one has less
// to do, if it came nearer.
ProjectionReport correct(Dynamics& dynamics, Projector& projector, State& s, const InitialSettings& settings,
                         bool positions) {
  const auto correction = [&](State& of) { return positions ? projector.positions(of) : projector.velocities(of); };
  for (std::size_t i = 0; i + 1 < settings.ways.size(); ++i) {
    settings.ways[i]();
    const double before = positions ? projector.position_violation(s) : projector.velocity_violation(s);
    State trial = s;
    try {
      const ProjectionReport report = correction(trial);
      if (!positions || projector.position_violation(trial) <= kMet) {
        s = trial;
        return report;
      }
    } catch (const SolveError&) {  // the next way may do it
    }
    const std::string broken = first_not_finite(dynamics, trial);
    if (positions && broken.empty() && projector.position_violation(trial) < before) s = trial;
  }
  if (!settings.ways.empty()) settings.ways.back()();
  const ProjectionReport report = correction(s);
  if (positions && settings.strain_energy) relax(dynamics, projector, s, settings);
  return report;
}

}  // namespace

InitialReport make_consistent(Dynamics& dynamics, State& s, const InitialSettings& settings) {
  const Sizes& n = dynamics.sizes();
  InitialReport report;
  const std::string broken = first_not_finite(dynamics, s);
  if (!broken.empty()) throw InputError(fmt::format("the initial state is not finite: {}", broken));
  Projector projector(dynamics);
  projector.start(s);
  if (n.nh > 0) {
    if (settings.adjust_positions) {
      const ProjectionReport moved = correct(dynamics, projector, s, settings, true);
      report.position_iterations = moved.iterations;
      report.position_correction = moved.size;
      projector.start(s);
    } else if (projector.position_violation(s) > settings.tolerance) {
      const Culprits rows = worst_rows(dynamics, projector.phi(), projector.position_row_scale());
      throw InputError(fmt::format("the initial positions do not fit together: {}", rows.text),
                       "correct them, or allow them to be adjusted");
    }
  }
  if (n.nc() > 0) {
    if (settings.adjust_velocities) {
      report.velocity_correction = correct(dynamics, projector, s, settings, false).size;
    } else if (projector.velocity_violation(s) > settings.tolerance) {
      const Culprits rows = worst_rows(dynamics, projector.velocity_residual(), projector.velocity_row_scale());
      throw InputError(fmt::format("the initial velocities do not fit together: {}", rows.text),
                       "correct them, or allow them to be adjusted");
    }
  }
  report.acceleration.setZero(n.nv);
  report.lambda.setZero(n.nc());
  Vec zdot = Vec::Zero(n.nz);
  dynamics.accelerations(s, report.acceleration, report.lambda, zdot);
  return report;
}

}  // namespace clatter
