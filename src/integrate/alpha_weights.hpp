// The family of one-step schemes around Newmark's (E-21, V-1):
//
//   (1-am) A_{n+1} + am A_n = (1-af) a_{n+1} + af a_n
//   q_{n+1} = q_n + h v_n + h^2 ((1/2-beta) A_n + beta A_{n+1}),   v_{n+1} = v_n + h ((1-gamma) A_n + gamma A_{n+1})
//
//   Newmark                  am = af = 0
//
//   Hilber, Hughes, Taylor   am = 0, af = -alpha, gamma = 1/2 - alpha, beta = (1 - alpha)^2 / 4,   alpha in [-1/3, 0]
//
//   Chung, Hulbert           am = (2r-1)/(r+1), af = r/(r+1), gamma = 1/2 + af - am, beta = (gamma + 1/2)^2 / 4
//
// The order is 2 for gamma = 1/2 + af - am, else 1.
#pragma once

namespace clatter {

struct AlphaWeights {
  double am = 0, af = 0, beta = 0.25, gamma = 0.5;

  static AlphaWeights newmark(double beta, double gamma) { return {0, 0, beta, gamma}; }
  static AlphaWeights hilber_hughes_taylor(double alpha) {
    return {0, -alpha, 0.25 * (1 - alpha) * (1 - alpha), 0.5 - alpha};
  }
  static AlphaWeights chung_hulbert(double rho_infinity);
  // Largest eigenvalue of the amplification matrix of an oscillator as h omega goes to infinity. Constraints are
  // oscillators of that kind: above 1 the scheme cannot hold them.
  double radius_at_infinity() const;
};

}  // namespace clatter
