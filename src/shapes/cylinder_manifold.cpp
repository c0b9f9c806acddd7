#include "shapes/cylinder_manifold.hpp"

#include <algorithm>
#include <cmath>

#include "shapes/kernels_cylinder.hpp"

namespace clatter::contact {

namespace {

// Feet this part of the sizes beyond the end of a surface are on it; separations that differ by less are equal.
constexpr double kRounding = 1e-9;
// A sharper feature that overlaps takes over from a blunter one only where it is a way out shorter by this part.
constexpr double kPreference = 0.05;
// Points whose normals are no farther than this (cosine) from the reference are points of contact.
constexpr double kNear = 0.7;
// Tangents of rims that cross under a smaller angle are parallel.
constexpr double kCrossing = 1e-3;

double support(const Geometry& g, const Vec3& z, const Vec3& n) {
  return g.radius * n.cross(z).norm() + 0.5 * g.length * std::abs(n.dot(z));
}

struct Candidate {
  CylinderManifold::Point point;
  Near3<double> near;
  Vec3 place;
  bool parallel;  // rims along each other
};

// The largest separation of every sharpness: caps, sides, rim and side, rims. A sharper one that overlaps takes over
// only where it is better by the preference; of equally sharp ones the best leads, whichever is asked first.
class Leaders {
 public:
  struct Leader {
    double separation = -std::numeric_limits<double>::infinity();
    Vec3 n = Vec3::Zero();
    int slot = -1;  // -1: a cap
  };
  explicit Leaders(double rounding) : rounding_(rounding) {}
  void offer(double separation, const Vec3& n, int slot) {
    using Slots = CylinderManifold;
    Leader& leader = leaders_[slot < 0 ? 0 : slot == Slots::sides ? 1 : slot >= Slots::first_rim_side ? 2 : 3];
    if (separation > leader.separation + (slot < 0 ? 0 : rounding_)) leader = {separation, n, slot};
  }
  Leader best() const {
    Leader best = leaders_[0];
    for (const Leader& leader : leaders_)
      if (leader.separation > best.separation + rounding_ - kPreference * std::min(0.0, best.separation)) best = leader;
    return best;
  }

 private:
  double rounding_;
  std::array<Leader, 4> leaders_;
};

}  // namespace

bool cylinders_apart(const Geometry& first, const Geometry& second, const Frame3<double>& A, const Frame3<double>& B,
                     double reach) {
  const Vec3 d = A.p - B.p;
  const auto apart = [&](const Vec3& n) {
    return std::abs(n.dot(d)) - support(first, A.z, n) - support(second, B.z, n) > reach;
  };
  if (apart(A.z) || apart(B.z)) return true;
  const double distance = d.norm();
  if (distance > 0 && apart(d / distance)) return true;
  const Vec3 N = A.z.cross(B.z);
  const double size = N.norm();
  if (size > kCrossing && apart(N / size)) return true;
  for (const Vec3& z : {A.z, B.z}) {
    const Vec3 across = d - z * z.dot(d);
    const double length = across.norm();
    if (length > 0 && apart(across / length)) return true;
  }
  return false;
}

void CylinderManifold::find(const Geometry& first, const Geometry& second, const Frame3<double>& A,
                            const Frame3<double>& B) {
  count_ = 0;
  forced_ = -1;
  const double size = first.bound + second.bound;
  rounding_ = kRounding * size;
  const Vec3 d = A.p - B.p;
  const Vec3 N = A.z.cross(B.z);
  const bool crossed = N.norm() > kCrossing;
  // Axes that count as parallel may still cross: between the ends, under an angle phi, sides are nearer than their rims
  // by up to 2 (phi l)^2 / (r1 + r2).
  const double bent = kCrossing * std::max(first.length, second.length);
  const double hidden = crossed ? 0 : 2 * bent * bent / (first.radius + second.radius);
  Leaders leaders(rounding_);
  const auto offer = [&](Vec3 n, double gap, int slot) {
    if (n.dot(d) < 0) {
      n = -n;
      gap = -gap;
    }
    const double s = n.dot(d) - support(first, A.z, n) - support(second, B.z, n);
    // A feature of which the bodies reach beyond `gap` along its own normal is not what is between them.
    const double between = slot >= first_rim_side && slot < sides ? hidden : 0;
    if (slot >= 0 && gap > s + kPreference * std::abs(s) + between + 4 * rounding_) return;
    leaders.offer(s, n, slot);
  };
  offer(B.z, 0, -1);
  offer(A.z, 0, -1);

  std::array<Candidate, slots - rim_rim> found;
  std::size_t count = 0;
  const auto take = [&](const Point& point, bool parallel = false) {
    Candidate& c = found[count];
    c.point = point;
    c.parallel = parallel;
    if (!cylinder_feature<double>(first, second, point.slot, point.feature, point.s1, point.s2, A, B, c.near)) return;
    c.place = 0.5 * (c.near.p1 + c.near.p2);
    // A rim seen from inside is no way out.
    if (point.feature != 20 || c.near.n.dot(d) > 0) offer(c.near.n, c.near.gap, point.slot);
    ++count;
  };
  if (crossed) take({sides, N.dot(d) >= 0 ? 30 : 31, 0, 0});
  const auto ring = [](const Geometry& g, const Frame3<double>& F, bool up) {
    return Ring{F.p + F.z * (up ? g.length / 2 : -g.length / 2), F.x, F.y, g.radius};
  };
  for (int k = 0; k < 4; ++k) {
    const bool of_first = k < 2, up = k % 2 == 0;
    const RimMinima m =
        of_first ? rim_and_line(ring(first, A, up), B.p, B.z) : rim_and_line(ring(second, B, up), A.p, A.z);
    for (int i = 0; i < m.count; ++i)
      take({(of_first ? first_rim_side : second_rim_side) + 2 * (k % 2) + i, 20, m.s1[i], 0});
  }
  for (int k = 0; k < 4; ++k) {
    const Ring one = ring(first, A, k < 2), two = ring(second, B, k % 2 == 0);
    const RimMinima m = rim_and_rim(one, two);
    for (int i = 0; i < m.count; ++i) {
      const Vec3 t = one.along(m.s1[i]).cross(two.along(m.s2[i]));
      const bool parallel = t.norm() < kCrossing;
      take({rim_rim + 2 * k + i, parallel ? 12 : (t.dot(d) >= 0 ? 10 : 11), m.s1[i], m.s2[i]}, parallel);
    }
  }
  const Leaders::Leader reference = leaders.best();
  separation_ = reference.separation;
  n_ = reference.n;
  lean_[0] = A.z.dot(n_);
  lean_[1] = B.z.dot(n_);

  const double deepest = std::min(0.0, separation_) - rounding_;
  for (std::size_t i = 0; i < count; ++i) {
    Candidate& c = found[i];
    const bool leads = c.point.slot == reference.slot;
    // The sign of a product of tangents is the one that agrees with the reference.
    if (c.point.feature == 10 || c.point.feature == 11) {
      if (c.near.n.dot(n_) < 0) {
        c.point.feature = 21 - c.point.feature;
        cylinder_feature<double>(first, second, c.point.slot, c.point.feature, c.point.s1, c.point.s2, A, B, c.near);
      }
    }
    // Rims along each other are sharp: a point only where they lead, or are as near as what leads.
    const bool nearest = separation_ > 0 && c.near.gap <= separation_ + 4 * (rounding_ + kRounding * separation_);
    if (!leads && !nearest && c.parallel) continue;
    const bool strict = c.point.slot >= second_rim_side && c.point.slot < sides;  // what coincides counts for the first
    const double inside = c.near.margin + (strict ? -2 * rounding_ : rounding_);
    if (!(leads && separation_ <= rounding_) && (inside < 0 || c.near.n.dot(n_) < kNear || c.near.gap < deepest))
      continue;
    points_[static_cast<std::size_t>(count_++)] = c.point;
  }
  // A cap leads whose deepest guest is beside it.
  if (reference.slot == -1 && separation_ <= rounding_ && count_ == 0) {
    const bool cap_of_second = std::abs(lean_[1]) >= std::abs(lean_[0]);
    const double lean = cap_of_second ? lean_[0] : -lean_[1];
    forced_ = (cap_of_second ? 0 : 8) + (lean < 0 ? 0 : 4);
  }
}

bool CylinderManifold::cap_faces(bool of_second, bool& upper) const {
  const double lean = of_second ? lean_[1] : -lean_[0];
  upper = lean > 0;
  return std::abs(lean) >= kNear;
}

bool CylinderManifold::rim_point_counts(int slot, double inside, double gap) const {
  if (slot == forced_) return true;
  if (inside < (slot < 8 ? -rounding_ : 2 * rounding_)) return false;
  return gap >= std::min(0.0, separation_) - rounding_;
}

const CylinderManifold& manifold_of_cylinders(const Geometry& a, const Geometry& b, const Frame3<double>& A,
                                              const Frame3<double>& B) {
  // All slots of a pair are asked for in turn, at the same place.
  thread_local struct {
    Eigen::Matrix<double, 3, 8> at = Eigen::Matrix<double, 3, 8>::Constant(std::numeric_limits<double>::infinity());
    Eigen::Vector4d sizes = Eigen::Vector4d::Zero();
    CylinderManifold manifold;
  } last;
  Eigen::Matrix<double, 3, 8> at;
  at << A.x, A.y, A.z, A.p, B.x, B.y, B.z, B.p;
  const Eigen::Vector4d sizes(a.radius, a.length, b.radius, b.length);
  if (last.at != at || last.sizes != sizes) {
    last.at = at;
    last.sizes = sizes;
    last.manifold.find(a, b, A, B);
  }
  return last.manifold;
}

}  // namespace clatter::contact
