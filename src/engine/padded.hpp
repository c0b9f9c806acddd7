// Sums over padded vectors (FlexibleBody): `stride`, a multiple of 8, numbers a column, columns one after the other.
//
// Short loops over sums are unrolled by order: left to itself the compiler keeps the sums in memory.
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
#pragma GCC unroll 8
  for (int c = 0; c < columns; ++c) s[c] = Lanes8{};
  for (int i = 0; i < stride; i += 8) {
    Lanes8 xi, a;
    load(x + i, xi);
#pragma GCC unroll 8
    for (int c = 0; c < columns; ++c) {
      load(A + c * stride + i, a);
      s[c] += a * xi;
    }
  }
#pragma GCC unroll 8
  for (int c = 0; c < columns; ++c) out[c] = sum(s[c]);
}

// y += sum_c factor[c] * column c of A
template <int columns>
[[gnu::always_inline]] inline void combine(const double* A, int stride, const double* factor, double* y) {
  for (int i = 0; i < stride; i += 8) {
    Lanes8 s, a;
    load(y + i, s);
#pragma GCC unroll 8
    for (int c = 0; c < columns; ++c) {
      load(A + c * stride + i, a);
      s += a * factor[c];
    }
    store(s, y + i);
  }
}

// Of vectors that are not padded: a . b, and y += f x.
[[gnu::always_inline]] inline double dot(const double* a, const double* b, int n) {
  double rest = 0;
  int k = 0;
  if (n >= 16) {
    Lanes8 s{}, x, y;
    for (; k + 8 <= n; k += 8) {
      load(a + k, x);
      load(b + k, y);
      s += x * y;
    }
    rest = sum(s);
  }
  for (; k < n; ++k) rest += a[k] * b[k];
  return rest;
}
[[gnu::always_inline]] inline void axpy(double f, const double* x, double* y, int n) {
  int k = 0;
  for (; k + 8 <= n; k += 8) {
    Lanes8 a, b;
    load(x + k, a);
    load(y + k, b);
    b += f * a;
    store(b, y + k);
  }
  for (; k < n; ++k) y[k] += f * x[k];
}

}  // namespace clatter::padded
