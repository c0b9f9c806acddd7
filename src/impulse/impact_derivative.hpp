// Derivative of an impact's impulses with the active set of its complementarity problems held.
//
// A stage with impulses P takes the rates from rho to rho+ = rho + G P. With dG P the change of G P at fixed P,
//
//   d rho+ = d rho + dG P + G dP,       y = rho+ + e rho   (e = 0 but in the one-phase laws)
//
// and each contact adds as many equations as it has rows (d = P_TC / |P_TC|, m the place on the rim of the friction
// set):
//
//   compression, one phase   P_N = 0: dP = 0.   P_N > 0: dy_N = 0; inside of the disc dy_T = 0, on its rim
//                            P_T = mu P_N m,   m = -y_T / |y_T|
//   expansion                P_NE = eps P_NC: dP_NE = eps dP_NC, else d rho_N+ = 0; inside d rho_T+ = 0, on the rim
//                            P_TE = S d + (mu P_NE - S) m,   2 S = mu nu P_NE + eps eps_T |P_TC|
//   reduction                P = P_0 + s (P_1 - P_0), ds from d(P . rho + P G P / 2) = 0
//
// mu varies with the slip before the impact where the friction law does. Dependent equations (impulses not unique)
// share by least norm.
#pragma once

#include <vector>

#include "impulse/impact.hpp"

namespace clatter::contact {

// Every matrix has a row for each row of the problem and a column for each direction x of differentiation.
struct ImpactVariation {
  Mat rate;                      // d(rate before)/dx
  std::vector<Mat> G;            // a stage each: d(G P)/dx at fixed P
  std::vector<double> mu_slope;  // a contact each: d mu / d |slip before|
};

// dP: a stage each.
void impact_derivative(const ImpactProblem& problem, const std::vector<ImpactStage>& stages,
                       const ImpactVariation& variation, std::vector<Mat>& dP);

}  // namespace clatter::contact
