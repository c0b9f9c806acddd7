// How long a step may be where elastic forces are taken at its begin or middle (T-13).
//
// Semi-implicit Euler and Moreau's scheme follow a mode of frequency w, damped by stress that lags the strain by the
// time beta, as long as
//
//   h w < 2 (sqrt(1 + zeta^2) - zeta),   zeta = beta w / 2
//
// (the trace of the step's matrix stays above -1 - its determinant). Beyond, the highest mode of a beam, an axial or a
// thickness mode of its smallest element, grows without bound. w^2 is the largest eigenvalue of M^-1 K at the given
// state, by power iteration.
#pragma once

#include "base/state.hpp"
#include "engine/system.hpp"

namespace clatter::contact {

struct StableStep {
  double step = 0;       // 0: no beam limits it
  double frequency = 0;  // rad/s, of the mode that does
  int body = -1;         // into Model::bodies
};
StableStep stable_step(const System& system, const State& s);

// Throws SolveError `step-too-long`, which names the beam and a step that would do.
void require_stable_step(const System& system, const State& s, double step);

}  // namespace clatter::contact
