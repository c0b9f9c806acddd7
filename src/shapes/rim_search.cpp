#include "shapes/rim_search.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

namespace clatter::contact {

namespace {

constexpr std::size_t kSamples = 24;
constexpr double kPitch = 2 * std::numbers::pi / kSamples;
constexpr int kParts = 8;  // of an interval in which a minimum is

// cos and sin at the samples.
const std::array<std::pair<double, double>, kSamples>& samples() {
  static const auto table = [] {
    std::array<std::pair<double, double>, kSamples> t;
    for (std::size_t i = 0; i < kSamples; ++i) {
      const double s = kPitch * static_cast<double>(i);
      t[i] = {std::cos(s), std::sin(s)};
    }
    return t;
  }();
  return table;
}

struct Slope {
  double f, df;
};

// Root of f between lo, where it is negative, and hi, where it is positive; either may be rounding.
template <class F>
double root_between(double lo, double hi, double s, const F& slope) {
  for (int k = 0; k < 100; ++k) {
    const Slope at = slope(s);
    if (at.f == 0) break;
    (at.f > 0 ? hi : lo) = s;
    const double newton = at.df > 0 ? s - at.f / at.df : lo;
    const double next = newton > lo && newton < hi ? newton : 0.5 * (lo + hi);
    const bool done = std::abs(next - s) <= 1e-15 * (1 + std::abs(s));
    s = next;
    if (done) break;
  }
  return s;
}

// Root of f within `width` of s at which it grows; false where there is none.
template <class F>
bool settle(double& s, double width, const F& slope) {
  s = root_between(s - width, s + width, s, slope);
  return slope(s - 1e-7).f < 0 && slope(s + 1e-7).f > 0;
}

struct Minima {
  std::array<double, kSamples * kParts / 2 + 2> angle;
  int count = 0;
  // Once each.
  void add(double s) {
    for (int i = 0; i < count; ++i)
      if (std::abs(std::remainder(s - angle[static_cast<std::size_t>(i)], 2 * std::numbers::pi)) < 1e-6) return;
    angle[static_cast<std::size_t>(count++)] = s;
  }
};

// Where f, known at the samples, is smallest (sense 1) or largest (-1) between two of them.
template <class F>
double extreme_between(double lo, double hi, double sense, const F& slope) {
  for (int k = 0; k < 20; ++k) {
    const double s = 0.5 * (lo + hi);
    (sense * slope(s).df > 0 ? hi : lo) = s;
  }
  return 0.5 * (lo + hi);
}

// Roots at which f grows, out of its values at the samples: where it changes its sign, once or three times, and where
// it does so twice between two of them.
template <class F>
Minima growing_roots(const std::array<Slope, kSamples>& at, double noise, const F& slope) {
  Minima out;
  if (std::all_of(at.begin(), at.end(), [&](const Slope& a) { return std::abs(a.f) <= noise; })) return out;
  for (std::size_t i = 0; i < kSamples; ++i) {
    const Slope &left = at[i], &right = at[(i + 1) % kSamples];
    const double lo = kPitch * static_cast<double>(i), hi = lo + kPitch;
    if (left.f <= 0 && right.f > 0) {
      // Rims that just pass through each other do so twice close by: two minima, and a maximum between them.
      Slope before = left;
      for (int k = 1; k <= kParts; ++k) {
        const double from = lo + (k - 1) * kPitch / kParts, to = lo + k * kPitch / kParts;
        const Slope after = k == kParts ? right : slope(to);
        if (before.f <= 0 && after.f > 0)
          out.add(root_between(from, to, from + (to - from) * before.f / (before.f - after.f), slope));
        before = after;
      }
    } else if (left.f > 0 && right.f > 0 && left.df < 0 && right.df > 0) {
      const double s = extreme_between(lo, hi, 1, slope);
      if (slope(s).f < 0) out.add(root_between(s, hi, 0.5 * (s + hi), slope));
    } else if (left.f <= 0 && right.f <= 0 && left.df > 0 && right.df < 0) {
      const double s = extreme_between(lo, hi, -1, slope);
      if (slope(s).f > 0) out.add(root_between(lo, s, 0.5 * (lo + s), slope));
    }
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
  RimMinima m;
  const Vec3 d = rim.c - c, W = d - e * e.dot(d);
  const double ex = e.dot(rim.x), ey = e.dot(rim.y), square = ex * ex + ey * ey, sigma = std::sqrt(square);
  const double wx = W.dot(rim.x), wy = W.dot(rim.y);
  if (std::abs(wx) + std::abs(wy) + rim.r * square < 1e-12 * rim.r) return m;
  // u and v in the rim's axes: z x e = (-ey, ex).
  const double ux = sigma > 0 ? -ey / sigma : 1, uy = sigma > 0 ? ex / sigma : 0;
  const double x = wx * ux + wy * uy, y = -wx * uy + wy * ux;
  const double X = std::abs(x), Y = std::abs(y), bend = rim.r * square;
  // Nearest is what faces the line: cos and sin of phi have the signs of -x and -y.
  const double along_u = x > 0 ? -1 : 1, along_v = y > 0 ? -1 : 1;
  const auto take = [&](double psi) {
    const double cs = along_u * std::cos(psi), sn = along_v * std::sin(psi);
    m.s1[m.count++] = std::atan2(cs * uy + sn * ux, cs * ux - sn * uy);
  };
  const auto slope = [&](double psi) {
    const double cs = std::cos(psi), sn = std::sin(psi);
    return Slope{sn * (X - bend * cs) - Y * cs, cs * X + sn * Y - bend * (cs * cs - sn * sn)};
  };
  constexpr double right = std::numbers::pi / 2;
  const double least = X < bend ? std::acos(X / bend) : 0;  // where the slope is -Y cos psi
  take(root_between(least, right, X < bend ? least : std::atan2(Y, X - bend), slope));
  const double a = std::cbrt(X), b = std::cbrt(Y), evolute = std::cbrt(bend);
  if (a * a + b * b < evolute * evolute) take(root_between(-right, -std::atan2(b, a), -right, slope));
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
  const auto distance = [&](double s) {
    const Vec3 q = c + first.r * (X * std::cos(s) + Y * std::sin(s));
    const double off = std::hypot(q.x(), q.y()) - second.r;
    return off * off + q.z() * q.z();
  };
  const auto slope_at = [&](double cs, double sn) {
    const Vec3 radial = X * cs + Y * sn, t = Y * cs - X * sn, q = c + first.r * radial;
    const double rho = std::sqrt(q.x() * q.x() + q.y() * q.y());
    if (!(rho > 0)) return Slope{0, -1};
    const Vec3 u(q.x() / rho, q.y() / rho, 0), d = q - second.r * u;
    const double turn = u.x() * t.y() - u.y() * t.x();
    return Slope{d.dot(t), first.r - first.r * (second.r / rho) * turn * turn - d.dot(radial)};
  };
  const auto slope = [&](double s) { return slope_at(std::cos(s), std::sin(s)); };
  const double noise = 1e-15 * (first.r + second.r + c.norm());
  std::array<Slope, kSamples> sampled;
  for (std::size_t i = 0; i < kSamples; ++i) sampled[i] = slope_at(samples()[i].first, samples()[i].second);
  Minima found = growing_roots(sampled, noise, slope);
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
  std::sort(found.angle.begin(), found.angle.begin() + found.count,
            [&](double a, double b) { return distance(a) < distance(b); });
  RimMinima m;
  m.count = std::min(2, found.count);
  for (int k = 0; k < m.count; ++k) m.s1[k] = found.angle[static_cast<std::size_t>(k)];
  for (int k = 0; k < m.count; ++k)
    m.s2[k] = angle_on_second(c + first.r * (X * std::cos(m.s1[k]) + Y * std::sin(m.s1[k])));
  const Vec3 key = first.x.cross(first.y).cross(second.c - first.c);
  return m.count < 2 ? m : in_order(m, key.dot(first.point(m.s1[0])), key.dot(first.point(m.s1[1])));
}

}  // namespace clatter::contact
