#include "integrate/initial.hpp"

#include <fmt/format.h>

#include "integrate/diagnosis.hpp"
#include "integrate/projection.hpp"

namespace clatter {

namespace {

// One of the two corrections of s, by the first way that can.
ProjectionReport correct(Projector& projector, State& s, const InitialSettings& settings,
                         ProjectionReport (Projector::*correction)(State&)) {
  for (std::size_t i = 0; i + 1 < settings.ways.size(); ++i) {
    settings.ways[i]();
    State trial = s;
    try {
      const ProjectionReport report = (projector.*correction)(trial);
      s = trial;
      return report;
    } catch (const SolveError&) {  // the next way may do it
    }
  }
  if (!settings.ways.empty()) settings.ways.back()();
  return (projector.*correction)(s);
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
      const ProjectionReport moved = correct(projector, s, settings, &Projector::positions);
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
      report.velocity_correction = correct(projector, s, settings, &Projector::velocities).size;
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
