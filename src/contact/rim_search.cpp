#include "contact/rim_search.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

namespace clatter::contact {

namespace {

constexpr int kSamples = 24;
constexpr double kPitch = 2 * std::numbers::pi / kSamples;

// cos and sin at the samples.
const std::array<std::pair<double, double>, kSamples>& samples() {
  static const auto table = [] {
    std::array<std::pair<double, double>, kSamples> t;
    for (int i = 0; i < kSamples; ++i) t[static_cast<std::size_t>(i)] = {std::cos(kPitch * i), std::sin(kPitch * i)};
    return t;
  }();
  return table;
}

struct Slope {
  double f, df;
};

// Root of f within `width` of s at which it grows; false where there is none.
template <class F>
bool settle(double& s, double width, const F& slope) {
  double lo = s - width, hi = s + width;
  for (int k = 0; k < 60; ++k) {
    const Slope at = slope(s);
    if (at.f == 0) return at.df > 0;
    (at.f > 0 ? hi : lo) = s;
    const double newton = at.df > 0 ? s - at.f / at.df : lo;
    const double next = newton > lo && newton < hi ? newton : 0.5 * (lo + hi);
    const bool done = std::abs(next - s) <= 1e-15 * (1 + std::abs(s));
    s = next;
    if (done) break;
  }
  const Slope below = slope(s - 1e-7), above = slope(s + 1e-7);
  return below.f < 0 && above.f > 0;
}

struct Minima {
  std::array<double, kSamples / 2 + 2> angle;
  int count = 0;
  // Once each.
  void add(double s) {
    for (int i = 0; i < count; ++i)
      if (std::abs(std::remainder(s - angle[static_cast<std::size_t>(i)], 2 * std::numbers::pi)) < 1e-6) return;
    angle[static_cast<std::size_t>(count++)] = s;
  }
};

// Minima of samples `value`, settled.
template <class V, class F>
Minima minima_of(const V& value, const F& slope) {
  std::array<double, kSamples> d;
  for (int i = 0; i < kSamples; ++i) d[static_cast<std::size_t>(i)] = value(i);
  Minima out;
  for (int i = 0; i < kSamples; ++i) {
    const double here = d[static_cast<std::size_t>(i)];
    if (!(here < d[static_cast<std::size_t>((i + kSamples - 1) % kSamples)])) continue;
    if (!(here <= d[static_cast<std::size_t>((i + 1) % kSamples)])) continue;
    double s = kPitch * i;
    if (settle(s, kPitch, slope)) out.add(s);
  }
  return out;
}

RimMinima in_order(RimMinima m, double key0, double key1) {
  if (m.count == 2 && key1 < key0) {
    std::swap(m.s1[0], m.s1[1]);
    std::swap(m.s2[0], m.s2[1]);
  }
  return m;
}

}  // namespace

Vec3 Ring::radial(double s) const { return x * std::cos(s) + y * std::sin(s); }
Vec3 Ring::along(double s) const { return y * std::cos(s) - x * std::sin(s); }

RimMinima rim_and_line(const Ring& rim, const Vec3& c, const Vec3& e) {
  const auto across = [&](const Vec3& v) { return Vec3(v - e * e.dot(v)); };
  const Vec3 w = across(rim.c - c), X = across(rim.x), Y = across(rim.y);
  const double wx = w.dot(X), wy = w.dot(Y), xy = X.dot(Y), flat = Y.squaredNorm() - X.squaredNorm();
  RimMinima m;
  if (std::abs(wx) + std::abs(wy) + rim.r * (std::abs(xy) + std::abs(flat)) < 1e-12 * rim.r) return m;
  const Minima found = minima_of(
      [&](int i) {
        const auto [cs, sn] = samples()[static_cast<std::size_t>(i)];
        return 2 * (wx * cs + wy * sn) + rim.r * (flat * sn * sn + 2 * xy * sn * cs);
      },
      [&](double s) {
        const double cs = std::cos(s), sn = std::sin(s);
        return Slope{wy * cs - wx * sn + rim.r * (flat * sn * cs + xy * (cs * cs - sn * sn)),
                     -wx * cs - wy * sn + rim.r * (flat * (cs * cs - sn * sn) - 4 * xy * sn * cs)};
      });
  m.count = std::min(2, found.count);
  for (int k = 0; k < m.count; ++k) m.s1[k] = found.angle[static_cast<std::size_t>(k)];
  return m.count < 2 ? m : in_order(m, e.dot(rim.point(m.s1[0])), e.dot(rim.point(m.s1[1])));
}

RimMinima rim_and_rim(const Ring& first, const Ring& second) {
  if (first.r > second.r) {
    RimMinima m = rim_and_rim(second, first);
    std::swap(m.s1, m.s2);
    const Vec3 key = first.x.cross(first.y).cross(second.c - first.c);
    return m.count < 2 ? m : in_order(m, key.dot(first.point(m.s1[0])), key.dot(first.point(m.s1[1])));
  }
  const Vec3 z = second.x.cross(second.y);
  const auto local = [&](const Vec3& p) {
    const Vec3 d = p - second.c;
    return Vec3(second.x.dot(d), second.y.dot(d), z.dot(d));
  };
  const auto angle_on_second = [&](const Vec3& q) { return std::atan2(q.y(), q.x()); };
  // In the axes of the second.
  const Vec3 c = local(first.c), X = local(first.x + second.c), Y = local(first.y + second.c);
  const auto distance = [&](double cs, double sn) {
    const Vec3 q = c + first.r * (X * cs + Y * sn);
    const double off = std::hypot(q.x(), q.y()) - second.r;
    return off * off + q.z() * q.z();
  };
  const auto slope = [&](double s) {
    const double cs = std::cos(s), sn = std::sin(s);
    const Vec3 radial = X * cs + Y * sn, t = Y * cs - X * sn, q = c + first.r * radial;
    const double rho = std::hypot(q.x(), q.y());
    if (!(rho > 0)) return Slope{0, -1};
    const Vec3 u(q.x() / rho, q.y() / rho, 0), d = q - second.r * u;
    const double turn = u.x() * t.y() - u.y() * t.x();
    return Slope{d.dot(t), first.r - first.r * (second.r / rho) * turn * turn - d.dot(radial)};
  };
  Minima found = minima_of(
      [&](int i) {
        const auto [cs, sn] = samples()[static_cast<std::size_t>(i)];
        return distance(cs, sn);
      },
      slope);
  // Rims that nearly face each other cross where their circles do in the plane, however near these places are.
  const Vec3 to = second.c - first.c;
  const double x = first.x.dot(to), y = first.y.dot(to), between = std::hypot(x, y);
  const double lens = (between * between + first.r * first.r - second.r * second.r) / (2 * first.r * between);
  if (between > 0 && std::abs(lens) < 1)
    for (const double side : {-1.0, 1.0}) {
      double s = std::atan2(y, x) + side * std::acos(lens);
      if (settle(s, 0.5 * std::acos(std::abs(lens)), slope)) found.add(s);
    }
  // The two that are nearest.
  std::sort(found.angle.begin(), found.angle.begin() + found.count, [&](double a, double b) {
    return distance(std::cos(a), std::sin(a)) < distance(std::cos(b), std::sin(b));
  });
  RimMinima m;
  m.count = std::min(2, found.count);
  for (int k = 0; k < m.count; ++k) m.s1[k] = found.angle[static_cast<std::size_t>(k)];
  for (int k = 0; k < m.count; ++k)
    m.s2[k] = angle_on_second(c + first.r * (X * std::cos(m.s1[k]) + Y * std::sin(m.s1[k])));
  const Vec3 key = first.x.cross(first.y).cross(second.c - first.c);
  return m.count < 2 ? m : in_order(m, key.dot(first.point(m.s1[0])), key.dot(first.point(m.s1[1])));
}

}  // namespace clatter::contact
