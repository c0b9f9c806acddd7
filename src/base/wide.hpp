// Wide 3-vectors and 3x3 matrices: each vector, each column, rides in one four-lane register; the fourth lane is
// whatever came along and is never looked at. For the inner loops of the trees only; everything else uses Vec3 and
// Mat3.
//
// Loads read 32 bytes at a vector of 24: the caller's struct must have a number after it. A pointer would be read as a
// denormal number, and every operation on one costs the time of a hundred others.
#pragma once

#include <cstring>

#include "base/math.hpp"

namespace clatter::wide {

typedef double Lanes __attribute__((vector_size(32)));
typedef double Lanes2 __attribute__((vector_size(16)));

struct V3 {
  Lanes x;
};

[[gnu::always_inline]] inline V3 load(const double* p) {
  V3 r;
  std::memcpy(&r.x, p, 32);
  return r;
}
[[gnu::always_inline]] inline V3 load(const Vec3& v) { return load(v.data()); }
// In two pieces: a copy of 24 bytes would go through memory and general registers.
[[gnu::always_inline]] inline void store(const V3& v, double* p) {
  const Lanes2 low = __builtin_shufflevector(v.x, v.x, 0, 1);
  std::memcpy(p, &low, 16);
  p[2] = v.x[2];
}
[[gnu::always_inline]] inline void store(const V3& v, Vec3& out) { store(v, out.data()); }
[[gnu::always_inline]] inline Vec3 vector(const V3& v) { return {v.x[0], v.x[1], v.x[2]}; }
[[gnu::always_inline]] inline V3 make(double a, double b, double c) { return {Lanes{a, b, c, 0}}; }
[[gnu::always_inline]] inline V3 zero() { return {Lanes{0, 0, 0, 0}}; }

[[gnu::always_inline]] inline V3 operator+(const V3& a, const V3& b) { return {a.x + b.x}; }
[[gnu::always_inline]] inline V3 operator-(const V3& a, const V3& b) { return {a.x - b.x}; }
[[gnu::always_inline]] inline V3 operator-(const V3& a) { return {-a.x}; }
[[gnu::always_inline]] inline V3 operator*(const V3& a, double s) { return {a.x * s}; }
[[gnu::always_inline]] inline V3 operator*(double s, const V3& a) { return {a.x * s}; }
[[gnu::always_inline]] inline V3& operator+=(V3& a, const V3& b) {
  a.x += b.x;
  return a;
}

[[gnu::always_inline]] inline V3 yzx(const V3& a) { return {__builtin_shufflevector(a.x, a.x, 1, 2, 0, 3)}; }

[[gnu::always_inline]] inline V3 cross(const V3& a, const V3& b) { return yzx({a.x * yzx(b).x - yzx(a).x * b.x}); }
[[gnu::always_inline]] inline double dot(const V3& a, const V3& b) {
  const Lanes m = a.x * b.x;
  return m[0] + m[1] + m[2];
}

struct M3 {
  V3 c[3];
};

[[gnu::always_inline]] inline M3 load(const Mat3& m) {
  return {load(m.data()), load(m.data() + 3), load(m.data() + 6)};
}
// Columns in ascending order: the last store of each leaves the next column's first number intact.
[[gnu::always_inline]] inline void store(const M3& m, Mat3& out) {
  store(m.c[0], out.data());
  store(m.c[1], out.data() + 3);
  store(m.c[2], out.data() + 6);
}
[[gnu::always_inline]] inline Mat3 matrix(const M3& m) {
  Mat3 out;
  store(m, out);
  return out;
}
[[gnu::always_inline]] inline M3 operator+(const M3& a, const M3& b) {
  return {a.c[0] + b.c[0], a.c[1] + b.c[1], a.c[2] + b.c[2]};
}
[[gnu::always_inline]] inline M3 operator-(const M3& a, const M3& b) {
  return {a.c[0] - b.c[0], a.c[1] - b.c[1], a.c[2] - b.c[2]};
}
[[gnu::always_inline]] inline V3 times(const M3& m, double a, double b, double c) {
  return {m.c[0].x * a + m.c[1].x * b + m.c[2].x * c};
}
[[gnu::always_inline]] inline V3 operator*(const M3& m, const V3& v) { return times(m, v.x[0], v.x[1], v.x[2]); }
[[gnu::always_inline]] inline M3 transpose(const M3& m) {
  return {make(m.c[0].x[0], m.c[1].x[0], m.c[2].x[0]), make(m.c[0].x[1], m.c[1].x[1], m.c[2].x[1]),
          make(m.c[0].x[2], m.c[1].x[2], m.c[2].x[2])};
}
// The three products of columns with v, added up across them: what dot would give for each.
[[gnu::always_inline]] inline V3 transpose_times(const M3& m, const V3& v) {
  const Lanes a = m.c[0].x * v.x, b = m.c[1].x * v.x, c = m.c[2].x * v.x;
  const Lanes even = __builtin_shufflevector(a, b, 0, 4, 2, 6), odd = __builtin_shufflevector(a, b, 1, 5, 3, 7);
  const Lanes first = __builtin_shufflevector(even, c, 0, 1, 4, 5), last = __builtin_shufflevector(even, c, 2, 3, 6, 7);
  return {first + __builtin_shufflevector(odd, c, 0, 1, 5, 5) + last};
}
[[gnu::always_inline]] inline M3 operator*(const M3& a, const M3& b) { return {a * b.c[0], a * b.c[1], a * b.c[2]}; }
// a - s u v^T
[[gnu::always_inline]] inline M3 minus_outer(const M3& a, const V3& u, const V3& v) {
  return {a.c[0] - u * v.x[0], a.c[1] - u * v.x[1], a.c[2] - u * v.x[2]};
}
// m tilde(r)
[[gnu::always_inline]] inline M3 times_skew(const M3& m, const V3& r) {
  const double x = r.x[0], y = r.x[1], z = r.x[2];
  return {m.c[1] * z - m.c[2] * y, m.c[2] * x - m.c[0] * z, m.c[0] * y - m.c[1] * x};
}
// tilde(r) m
[[gnu::always_inline]] inline M3 skew_times(const V3& r, const M3& m) {
  return {cross(r, m.c[0]), cross(r, m.c[1]), cross(r, m.c[2])};
}

}  // namespace clatter::wide
