// Sums over padded vectors (FlexibleBody): `stride`, a multiple of 8, numbers a column, columns one after the other.
#pragma once

#include <cstring>

namespace clatter::padded {

typedef double Lanes8 __attribute__((vector_size(64)));

// By reference: on processors without registers of this width a vector as a return value would be a question of ABI.
[[gnu::always_inline]] inline void load(const double* p, Lanes8& x) { std::memcpy(&x, p, 64); }
[[gnu::always_inline]] inline void store(const Lanes8& x, double* p) { std::memcpy(p, &x, 64); }
[[gnu::always_inline]] inline double sum(const Lanes8& x) {
  return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]));
}

// out[c] = column c of A . x
template <int columns>
[[gnu::always_inline]] inline void dots(const double* A, int stride, const double* x, double* out) {
  Lanes8 s[columns];
  for (int c = 0; c < columns; ++c) s[c] = Lanes8{};
  for (int i = 0; i < stride; i += 8) {
    Lanes8 xi, a;
    load(x + i, xi);
    for (int c = 0; c < columns; ++c) {
      load(A + c * stride + i, a);
      s[c] += a * xi;
    }
  }
  for (int c = 0; c < columns; ++c) out[c] = sum(s[c]);
}

// y += sum_c factor[c] * column c of A
template <int columns>
[[gnu::always_inline]] inline void combine(const double* A, int stride, const double* factor, double* y) {
  for (int i = 0; i < stride; i += 8) {
    Lanes8 s, a;
    load(y + i, s);
    for (int c = 0; c < columns; ++c) {
      load(A + c * stride + i, a);
      s += a * factor[c];
    }
    store(s, y + i);
  }
}

}  // namespace clatter::padded
