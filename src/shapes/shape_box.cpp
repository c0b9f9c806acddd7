#include "shapes/shape_box.hpp"

#include <cmath>
#include <limits>

namespace clatter::contact {

WorldBox world_box(const Geometry& g, const Pose<double>& pose) {
  using Kind = ContactShape::Kind;
  WorldBox box;
  Vec3 half = Vec3::Constant(g.bound);
  switch (g.kind) {
    case Kind::polygon:
    case Kind::box:
    case Kind::polytope:
      box.lo.setConstant(std::numeric_limits<double>::infinity());
      box.hi = -box.lo;
      for (const Vec3& p : g.points) {
        const Vec3 w = pose.p + pose.R * p;
        box.lo = box.lo.cwiseMin(w);
        box.hi = box.hi.cwiseMax(w);
      }
      break;
    case Kind::capsule:
    case Kind::cylinder:
      for (int i = 0; i < 3; ++i) {
        const double z = pose.R(i, 2);
        const double round = g.kind == Kind::capsule ? 1 : std::sqrt(std::max(0.0, 1 - z * z));
        half[i] = 0.5 * g.length * std::abs(z) + g.radius * round;
      }
      [[fallthrough]];
    default:
      box.lo = pose.p - half;
      box.hi = pose.p + half;
  }
  if (g.planar()) box.lo.z() = box.hi.z() = 0;
  return box;
}

}  // namespace clatter::contact
