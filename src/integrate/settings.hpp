// What a caller chooses about time integration. Nothing here depends on how a model was written.
#pragma once

#include <optional>

#include "integrate/alpha_weights.hpp"

namespace clatter {

enum class Scheme { euler, symplectic_euler, verlet, rk4, dopri5, radau5, generalized_alpha, bdf, adams };

// Schemes that choose their step from the tolerances.
inline bool controls_step(Scheme scheme) {
  return scheme == Scheme::dopri5 || scheme == Scheme::radau5 || scheme == Scheme::bdf || scheme == Scheme::adams;
}

struct IntegratorSettings {
  Scheme scheme = Scheme::dopri5;
  // Begin with `scheme`, which is explicit, and let radau5 go on while the motion is stiff (scheme_choice.hpp).
  // Steppers do so; a single integrator is always one scheme.
  bool automatic = false;
  // Fixed schemes: the step. Controlled schemes: the first step, 0 to have it chosen.
  double step = 0;
  // Controlled schemes keep `step` (bdf and adams also the order, max_order) and skip error control; for order studies.
  bool fixed_step = false;
  double min_step = 0;  // 0: a few rounding units of the time
  double max_step = 0;  // 0: none
  // Weight of an error: absolute * scale + relative * |x|, with the scales of Dynamics::scales; for coordinates, which
  // have no natural zero, (absolute + relative) * scale.
  double relative_tolerance = 1e-8, absolute_tolerance = 1e-10;
  int max_order = 0;         // bdf: 1 to 5, adams: 1 to 12; 0: the highest
  bool fixed_point = false;  // radau5: stages by fixed-point iteration instead of Newton's
  bool project = true;       // remove constraint drift after each step (generalized-alpha: velocities only)
  bool find_events = true;
  double rho_inf = 0.8;  // generalized-alpha: spectral radius at infinite frequency, 0 <= rho_inf <= 1
  std::optional<AlphaWeights> alpha_weights;  // instead: those of Newmark, of Hilber, Hughes and Taylor, or any
  double constraint_scaling = 1;   // generalized-alpha: factor on the scaling k of V-1; results do not depend on it
  double newton_tolerance = 1e-8;  // generalized-alpha: error left in accelerations, in units of v_scale^2 / u_scale
};

}  // namespace clatter
