#include "impulse/block_cone.hpp"

#include <algorithm>
#include <cmath>

namespace clatter::contact {

Vec3 project(const BlockCone& c, const Vec3& s, Mat3* slope, double given) {
  Vec3 r = Vec3::Zero();
  if (slope != nullptr) slope->setZero();
  if (c.alone) {
    const double length = c.tangents == 2 ? std::hypot(s[0], s[1]) : std::abs(s[0]);
    const bool inside = !c.sliding && length <= c.limit;
    for (int k = 0; k < c.tangents; ++k) {
      r[k] = c.sliding ? -c.limit * c.d[k] : inside ? s[k] : c.limit * s[k] / length;
      if (slope == nullptr || c.sliding) continue;
      for (int l = 0; l < c.tangents; ++l)
        (*slope)(k, l) =
            inside ? (k == l ? 1.0 : 0.0) : c.limit / length * ((k == l ? 1.0 : 0.0) - s[k] * s[l] / (length * length));
    }
    return r;
  }
  if (c.bilateral || s[0] > 0) {
    r[0] = s[0];
    if (slope != nullptr) (*slope)(0, 0) = 1;
  }
  if (c.tangents == 0) return r;
  const bool coupled = given < 0;
  const double radius = coupled ? c.mu * std::max(0.0, r[0]) : given, growth = coupled && r[0] > 0 ? c.mu : 0.0;
  if (c.sliding) {
    for (int k = 0; k < c.tangents; ++k) {
      r[1 + k] = -radius * c.d[k];
      if (slope != nullptr) (*slope)(1 + k, 0) = -growth * c.d[k];
    }
    return r;
  }
  const double s2 = c.tangents == 2 ? s[2] : 0.0;
  const double length = c.tangents == 2 ? std::hypot(s[1], s2) : std::abs(s[1]);
  if (length <= radius) {
    for (int k = 1; k <= c.tangents; ++k) {
      r[k] = s[k];
      if (slope != nullptr) (*slope)(k, k) = 1;
    }
    return r;
  }
  const double d[2] = {s[1] / length, s2 / length};
  for (int k = 0; k < c.tangents; ++k) {
    r[1 + k] = radius * d[k];
    if (slope == nullptr) continue;
    (*slope)(1 + k, 0) = growth * d[k];
    for (int l = 0; l < c.tangents; ++l)
      (*slope)(1 + k, 1 + l) = radius / length * ((k == l ? 1.0 : 0.0) - d[k] * d[l]);
  }
  return r;
}

}  // namespace clatter::contact
