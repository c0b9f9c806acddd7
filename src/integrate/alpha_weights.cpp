#include "integrate/alpha_weights.hpp"

#include <algorithm>
#include <cmath>
#include <complex>

namespace clatter {

AlphaWeights AlphaWeights::chung_hulbert(double rho_infinity) {
  const double r = rho_infinity, am = (2 * r - 1) / (r + 1), af = r / (r + 1), gamma = 0.5 + af - am;
  return {am, af, 0.25 * (gamma + 0.5) * (gamma + 0.5), gamma};
}

// With q held at zero, h v_n = -h^2 ((1/2-beta) A_n + beta A_{n+1}); in v_{n+1} - v_n this is
// beta z^2 + (1/2 + gamma - 2 beta) z + (1/2 + beta - gamma) = 0 for A_n = z^n, and a follows A with the root
// -af/(1-af).
double AlphaWeights::radius_at_infinity() const {
  const double own = std::abs(af / (1 - af));
  const double p = 0.5 + gamma - 2 * beta, q = 0.5 + beta - gamma;
  if (beta == 0) return HUGE_VAL;  // explicit: not stable beyond h omega = 2
  const std::complex<double> root = std::sqrt(std::complex<double>(p * p - 4 * beta * q));
  return std::max({own, std::abs((-p + root) / (2 * beta)), std::abs((-p - root) / (2 * beta))});
}

}  // namespace clatter
