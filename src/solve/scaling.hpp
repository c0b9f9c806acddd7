// Powers of two that bring the rows and columns of a matrix to a common size without rounding.
//
// Two steps, after the largest |a_ij| of each row (rho_i) and column (kappa_j): first r_i = rho_i^(-1/2), c_j =
// kappa_j^(-1/2), which keeps a symmetric matrix symmetric and brings entries of a saddle-point matrix [M G^T; G 0]
// together; then each row, and then each column, is divided by what is left of its largest entry.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>

namespace clatter {

// 2^exponent for exponents of normal numbers.
inline double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(std::clamp(exponent, -1022, 1023) + 1023) << 52);
}

// Floor of log2|x|; x is not zero.
inline int binary_exponent(double x) {
  return static_cast<int>((std::bit_cast<std::uint64_t>(x) >> 52) & 0x7ff) - 1023;
}

// Power of two next to 1/x and to x^(-1/2), within ranges whose products with each other stay normal. One for x = 0.
inline double reciprocal_power(double x) {
  return x > 0 ? power_of_two(std::clamp(-binary_exponent(x), -480, 480)) : 1.0;
}
inline double reciprocal_root_power(double x) {
  return x > 0 ? power_of_two(std::clamp(-(binary_exponent(x) >> 1), -480, 480)) : 1.0;
}

// Size of an entry as pivoting and scaling see it: cheap, and within a factor sqrt(2) of |z|.
inline double magnitude(double x) { return std::abs(x); }
inline double magnitude(const std::complex<double>& z) { return std::abs(z.real()) + std::abs(z.imag()); }

// Rows and columns within this ratio of each other are left as they are.
inline constexpr double kScaledWellEnough = 64.0;

}  // namespace clatter
