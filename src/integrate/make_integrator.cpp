#include "base/error.hpp"
#include "integrate/generalized_alpha.hpp"
#include "integrate/integrator.hpp"
#include "integrate/radau5.hpp"
#include "integrate/runge_kutta.hpp"

namespace clatter {

std::unique_ptr<Integrator> make_integrator(const IntegratorSettings& settings, Dynamics& dynamics) {
  const bool controlled = settings.scheme == Scheme::dopri5 || settings.scheme == Scheme::radau5;
  if (!(settings.step > 0) && (!controlled || settings.fixed_step)) {
    throw InputError("this integrator needs a step", "give `step:` a positive time, or take `dopri5` or `radau5`");
  }
  switch (settings.scheme) {
    case Scheme::euler:
      return std::make_unique<RungeKutta>(dynamics, settings, kEuler);
    case Scheme::verlet:
      return std::make_unique<Verlet>(dynamics, settings);
    case Scheme::rk4:
      return std::make_unique<RungeKutta>(dynamics, settings, kRungeKutta4);
    case Scheme::dopri5:
      return std::make_unique<RungeKutta>(dynamics, settings, kDormandPrince);
    case Scheme::generalized_alpha:
      return std::make_unique<GeneralizedAlpha>(dynamics, settings);
    case Scheme::radau5:
      return std::make_unique<Radau5>(dynamics, settings);
  }
  throw InputError("this integrator is not available");
}

}  // namespace clatter
