// Runs and orders of convergence for the tests of this room.
#pragma once

#include <cmath>

#include "integrate/integrator.hpp"
#include "integrate/problems.hpp"

namespace clatter::test {

inline IntegratorSettings fixed(Scheme scheme, double step) {
  IntegratorSettings settings;
  settings.scheme = scheme;
  settings.step = step;
  settings.fixed_step = true;
  return settings;
}
inline IntegratorSettings quiet(IntegratorSettings settings) {
  settings.find_events = false;
  return settings;
}
inline double order(double coarse, double fine, double ratio = 2) { return std::log(coarse / fine) / std::log(ratio); }

inline State run_to(Dynamics& dynamics, const IntegratorSettings& settings, const State& s0, double t) {
  auto integrator = make_integrator(quiet(settings), dynamics);
  integrator->start(s0);
  while (integrator->state().t < t) integrator->step(t);
  return integrator->state();
}
inline State run_fixed(Dynamics& dynamics, const IntegratorSettings& settings, const State& s0, double t) {
  return run_to(dynamics, settings, s0, t);
}

// Observed order on x'' + x = 0 over t = 3, from `steps` and twice as many.
inline double oscillator_order(Scheme scheme, int steps) {
  Oscillator problem;
  const auto error = [&](int n) {
    const State s = run_fixed(problem, fixed(scheme, 3.0 / n), Oscillator::initial(), 3.0);
    return std::hypot(s.q[0] - problem.x(3), s.v[0] - problem.v(3));
  };
  return order(error(steps), error(2 * steps));
}

}  // namespace clatter::test
