// Sums over padded vectors (FlexibleBody): `stride`, a multiple of 8, numbers a column, columns one after the other.
//
// Short loops over sums are unrolled by order: left to itself the compiler keeps the sums in memory.
#pragma once

#include <cstring>

namespace clatter::padded {

typedef double Lanes8 __attribute__((vector_size(64)));
typedef double Lanes4 __attribute__((vector_size(32)));

// By reference: on processors without registers of this width a vector as a return value would be a question of ABI.
template <class Lanes>
[[gnu::always_inline]] inline void load(const double* p, Lanes& x) {
  std::memcpy(&x, p, sizeof(x));
}
template <class Lanes>
[[gnu::always_inline]] inline void store(const Lanes& x, double* p) {
  std::memcpy(p, &x, sizeof(x));
}
[[gnu::always_inline]] inline double sum(const Lanes8& x) {
  return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]));
}

// Sums of eight vectors at once: lane i of the result is sum(s[i]). A third of the instructions of eight single sums.
[[gnu::always_inline]] inline void sums(const Lanes8 (&s)[8], Lanes8& out) {
  Lanes8 pair[4], four[2];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i)
    pair[i] = __builtin_shufflevector(s[2 * i], s[2 * i + 1], 0, 8, 2, 10, 4, 12, 6, 14) +
              __builtin_shufflevector(s[2 * i], s[2 * i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
#pragma GCC unroll 2
  for (int i = 0; i < 2; ++i)
    four[i] = __builtin_shufflevector(pair[2 * i], pair[2 * i + 1], 0, 1, 8, 9, 4, 5, 12, 13) +
              __builtin_shufflevector(pair[2 * i], pair[2 * i + 1], 2, 3, 10, 11, 6, 7, 14, 15);
  out = __builtin_shufflevector(four[0], four[1], 0, 1, 2, 3, 8, 9, 10, 11) +
        __builtin_shufflevector(four[0], four[1], 4, 5, 6, 7, 12, 13, 14, 15);
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

// y += A a + B b for three columns each, of which only the first n rows are taken: y need not be padded, nor aligned.
[[gnu::always_inline]] inline void combine_into(const double* A, const double* a, const double* B, const double* b,
                                                int stride, double* y, int n) {
  const auto rows = [&](auto& s, int i) {
    auto m = s;
    load(y + i, s);
#pragma GCC unroll 3
    for (int c = 0; c < 3; ++c) {
      load(A + c * stride + i, m);
      s += m * a[c];
    }
#pragma GCC unroll 3
    for (int c = 0; c < 3; ++c) {
      load(B + c * stride + i, m);
      s += m * b[c];
    }
    store(s, y + i);
  };
  int i = 0;
  for (Lanes8 s{}; i + 8 <= n; i += 8) rows(s, i);
  if (Lanes4 s{}; i + 4 <= n) {
    rows(s, i);
    i += 4;
  }
  for (double s = 0; i < n; ++i) rows(s, i);
}

// y += x over n numbers, neither padded.
[[gnu::always_inline]] inline void add(const double* x, double* y, int n) {
  const auto rows = [&](auto& s, int i) {
    auto m = s;
    load(y + i, s);
    load(x + i, m);
    s += m;
    store(s, y + i);
  };
  int i = 0;
  for (Lanes8 s{}; i + 8 <= n; i += 8) rows(s, i);
  if (Lanes4 s{}; i + 4 <= n) {
    rows(s, i);
    i += 4;
  }
  for (double s = 0; i < n; ++i) rows(s, i);
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
