// Hertz's ellipse of contact (Y-44): two smooth bodies pressed together by N touch in an ellipse with the semi-axes a
// along x and b along y and come nearer by delta, with relative curvatures A along x and B along y,
//
//   gap before loading = A x^2 + B y^2,   A = (1/R_1x + 1/R_2x) / 2,   B likewise,   1/E* = sum (1 - nu^2) / E.
//
// Take A <= B (otherwise the axes change their parts), k = b/a <= 1, m = 1 - k^2 and the complete elliptic integrals
//
//   K = B_m + D,  E = B_m + k^2 D:   B_m = int cos^2/w,  D = int sin^2/w,  C = (D - B_m)/m,  w = sqrt(1 - m sin^2)
//
// which, other than K - E and E - k^2 K, keep their digits where the ellipse is a circle. Then
//
//   B/A = B_m / (k^2 D)                                    gives k
//   R_e = 1 / (2 sqrt(A B)),   F_1^3 = (4/pi) sqrt(k B_m D),   F_2 = (2/pi) sqrt(k) K / F_1
//   sqrt(a b) = F_1 (3 N R_e / (4 E*))^(1/3)
//   N = K_h delta^(3/2),   K_h = (4/3) E* sqrt(R_e) F_2^(-3/2)
//
// The ratio depends on B/A alone and both axes grow with N^(1/3): the ellipse of a unit force is all there is to keep.
// Derivatives follow from dB_m/dm = C/2, dD/dm = (D - C)/(2 k^2):
//
//   d ln(B_m/(k^2 D)) / d ln k = -(1 + k^2 C/B_m + C/D),   between -1.5 (circle) and -2 (line): Newton needs four
//   steps.
#pragma once

#include <cmath>

namespace clatter::contact {

// B_m, D and C of the file's head at the modulus whose complement is k, 0 < k <= 1.
struct EllipticIntegrals {
  double B, D, C;
};
EllipticIntegrals elliptic_integrals(double k);

// A number with its derivatives by the two relative curvatures.
struct OfCurvatures {
  double value = 0;
  double by_A = 0, by_B = 0;
};

struct HertzEllipse {
  OfCurvatures ratio;      // a / b
  OfCurvatures a, b;       // semi-axes at one newton, m
  OfCurvatures stiffness;  // K_h, N/m^1.5

  // What grows with N^(1/3); nothing where the bodies do not press.
  static double growth(double N) { return N > 0 ? std::cbrt(N) : 0; }
  double force(double approach) const { return approach > 0 ? stiffness.value * approach * std::sqrt(approach) : 0; }
};

// A, B > 0 in 1/m, E* > 0 in Pa. Bodies that are not curved against each other in both directions have no ellipse:
// SolveError "no-hertz-ellipse".
HertzEllipse hertz_ellipse(double A, double B, double contact_modulus);

// 1/E* = (1 - nu_1^2)/E_1 + (1 - nu_2^2)/E_2.
double contact_modulus(double young_1, double poisson_1, double young_2, double poisson_2);

}  // namespace clatter::contact
