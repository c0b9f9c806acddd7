// Kalker's coefficients of linear creep, C_11, C_22, C_23 (Y-45), for semi-axes a along rolling and b across it and
// Poisson's ratio nu:
//
//   F_x = -G a b C_11 xi_x,   F_y = -G a b C_22 xi_y - G (a b)^(3/2) C_23 phi
//
// The table has them at g = min(a/b, b/a) = 0.1 ... 1 and nu = 0, 1/4, 1/2. They are taken linearly in nu, and between
// the ratios by cubics of ln C over ln(a/b) that are monotonic wherever the table is and once continuously
// differentiable: C_23 of a long patch behaves as a power of g, and straight lines over g would be off by 14 %.
// Beyond the table's ends they go on as Kalker's limits for slender ellipses, scaled to meet the table there.
#pragma once

namespace clatter::contact {

struct KalkerCoefficient {
  double value = 0;
  double by_ratio = 0;  // derivative by a/b
};

struct KalkerCoefficients {
  KalkerCoefficient C11, C22, C23;
};

// ratio = a/b > 0; 0 <= nu <= 1/2 (kept within).
KalkerCoefficients kalker_coefficients(double ratio, double poisson);

}  // namespace clatter::contact
