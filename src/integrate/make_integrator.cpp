#include "base/error.hpp"
#include "integrate/adams.hpp"
#include "integrate/bdf.hpp"
#include "integrate/generalized_alpha.hpp"
#include "integrate/integrator.hpp"
#include "integrate/radau5.hpp"
#include "integrate/runge_kutta.hpp"

namespace clatter {

std::unique_ptr<Integrator> make_integrator(const IntegratorSettings& settings, Dynamics& dynamics) {
  if (!(settings.step > 0) && (!controls_step(settings.scheme) || settings.fixed_step)) {
    throw InputError("this integrator needs a step",
                     "give `step:` a positive time, or take a method that controls its step, such as `dopri5`");
  }
  switch (settings.scheme) {
    case Scheme::euler:
      return std::make_unique<RungeKutta>(dynamics, settings, kEuler);
    case Scheme::symplectic_euler:
      return std::make_unique<SymplecticEuler>(dynamics, settings);
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
    case Scheme::bdf:
      return std::make_unique<Bdf>(dynamics, settings);
    case Scheme::adams:
      return std::make_unique<Adams>(dynamics, settings);
  }
  throw InputError("this integrator is not available");
}

}  // namespace clatter
