#include "shapes/polytope_manifold.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "shapes/kernels_polytope.hpp"

namespace clatter::contact {

namespace {

// Feet this part of the sizes beyond the end of a face are on it; separations that differ by less are equal.
constexpr double kRounding = 1e-9;
// Edges that overlap take over from a face only where they are a way out shorter by this part.
constexpr double kPreference = 0.05;

struct FaceAxis {
  double separation = -std::numeric_limits<double>::infinity();
  int face = 0, nearest = 0;
};

FaceAxis best_face(const Geometry& g, const Geometry& other, const Frame3<double>& G, const Frame3<double>& O,
                   double rounding) {
  FaceAxis best;
  for (int f = 0; f < count_of(g.normals); ++f) {
    const Vec3 m = G.direction(item(g.normals, f)), o = G.point(item(g.points, item(g.faces, f).front()));
    double least = std::numeric_limits<double>::infinity();
    int nearest = 0;
    for (int i = 0; i < count_of(other.points); ++i) {
      const double d = m.dot(O.point(item(other.points, i)) - o);
      if (d < least) {
        least = d;
        nearest = i;
      }
    }
    if (least > best.separation + rounding) best = {least, f, nearest};
  }
  return best;
}

struct EdgeAxis {
  double separation = -std::numeric_limits<double>::infinity();
  int first = -1, second = -1, sign = 0;
  Vec3 axis;
};

EdgeAxis best_edges(const Geometry& a, const Geometry& b, const Frame3<double>& A, const Frame3<double>& B) {
  constexpr double kParallel = 1e-3;
  EdgeAxis best;
  for (int i = 0; i < count_of(a.edges); ++i) {
    const Edge first(a, i);
    const Vec3 a1 = A.point(first.a), e1 = A.direction(first.e);
    const Vec3 side1[2] = {A.direction(item(a.edge_sides, i)[0]), A.direction(item(a.edge_sides, i)[1])};
    for (int j = 0; j < count_of(b.edges); ++j) {
      const Edge second(b, j);
      const Vec3 e2 = B.direction(second.e);
      Vec3 n = e1.cross(e2);
      const double size = n.norm();
      if (size < kParallel) continue;
      n /= size;
      // n points to the first: outward from the second, inward to the first.
      const auto faces = [&](double sign) {
        for (int k = 0; k < 2; ++k) {
          if (sign * n.dot(B.direction(item(b.edge_sides, j)[static_cast<std::size_t>(k)])) > 0) return false;
          if (-sign * n.dot(side1[k]) > 0) return false;
        }
        return true;
      };
      const bool up = faces(1);
      if (!up && !faces(-1)) continue;
      const double separation = (up ? 1 : -1) * n.dot(a1 - B.point(second.a));
      if (separation > best.separation) best = {separation, i, j, up ? 0 : 1, up ? n : Vec3(-n)};
    }
  }
  return best;
}

// Whether the common perpendicular of the two edges has its feet on them.
bool they_cross(const Geometry& a, const Geometry& b, const Frame3<double>& A, const Frame3<double>& B,
                const EdgeAxis& edges, double rounding) {
  const Edge one(a, edges.first), two(b, edges.second);
  const Perpendicular<double> feet(A.point(one.a), A.direction(one.e), B.point(two.a), B.direction(two.e));
  return std::min(std::min(feet.s, one.length - feet.s), std::min(feet.u, two.length - feet.u)) >= -rounding;
}

bool of_face(const Geometry& g, int edge, int face) {
  const auto& faces = item(g.edge_faces, edge);
  return faces[0] == face || faces[1] == face;
}

}  // namespace

void PolytopeManifold::find(const Geometry& first, const Geometry& second, const Frame3<double>& A,
                            const Frame3<double>& B, double far, bool soon) {
  points_.clear();
  const double rounding = kRounding * (first.bound + second.bound);
  const FaceAxis of_second = best_face(second, first, B, A, rounding);
  separation_ = of_second.separation;
  if (separation_ > far) return;
  const FaceAxis of_first = best_face(first, second, A, B, rounding);
  separation_ = of_first.separation;
  if (separation_ > far) return;
  const bool reference_is_first = of_first.separation > of_second.separation + rounding;
  const FaceAxis& face = reference_is_first ? of_first : of_second;
  const EdgeAxis edges = best_edges(first, second, A, B);
  const double needed = face.separation + rounding - kPreference * std::min(0.0, face.separation);
  if (edges.first >= 0 && edges.separation > needed) {
    separation_ = edges.separation;
    axis_ = edges.axis;
    if (!soon || separation_ <= 0 || they_cross(first, second, A, B, edges, rounding))
      points_.push_back(
          {count_of(first.points) + count_of(second.points) + edges.first * count_of(second.edges) + edges.second,
           edges.sign});
    if (!soon) return;
  } else {
    separation_ = face.separation;
    axis_ = reference_is_first ? Vec3(-A.direction(item(first.normals, face.face)))
                               : Vec3(B.direction(item(second.normals, face.face)));
  }
  if (reference_is_first)
    faces_touch(first, second, face.face, face.nearest, true, first, second, A, B);
  else
    faces_touch(second, first, face.face, face.nearest, false, first, second, A, B);
}

void PolytopeManifold::faces_touch(const Geometry& P, const Geometry& Q, int f, int nearest, bool reference_is_first,
                                   const Geometry& first, const Geometry& second, const Frame3<double>& A,
                                   const Frame3<double>& B) {
  const Frame3<double>&at_P = reference_is_first ? A : B, &at_Q = reference_is_first ? B : A;
  const double rounding = kRounding * (first.bound + second.bound);
  const double deepest = std::min(0.0, separation_) - rounding;
  const Vec3 m = at_P.direction(item(P.normals, f));
  int g = 0;
  double facing = std::numeric_limits<double>::infinity();
  for (int k = 0; k < count_of(Q.normals); ++k) {
    const auto& corners = item(Q.faces, k);
    if (std::find(corners.begin(), corners.end(), nearest) == corners.end()) continue;
    const double c = m.dot(at_Q.direction(item(Q.normals, k)));
    if (c < facing) {
      facing = c;
      g = k;
    }
  }
  const int vertices1 = count_of(first.points), vertices2 = count_of(second.points);
  const int slots_of_P = reference_is_first ? 0 : vertices1, slots_of_Q = reference_is_first ? vertices1 : 0;
  const int crossing = points_.empty() ? -1 : points_.front().slot;  // of edges
  told_.clear();
  const auto is_told = [&](const Vec3& p) {
    return std::any_of(told_.begin(), told_.end(), [&](const Vec3& q) { return (p - q).norm() <= 4 * rounding; });
  };
  for (const int q : item(Q.faces, g)) {
    const Vec3 p = at_Q.point(item(Q.points, q)), local = at_P.local(p);
    const double distance = face_distance<double>(P, f, local);
    if (face_overhang<double>(P, f, local) < -rounding || distance < deepest) continue;
    points_.push_back({slots_of_Q + q, f});
    told_.push_back(p - m * distance);
  }
  for (const int q : item(P.faces, f)) {
    const Vec3 p = at_P.point(item(P.points, q)), local = at_Q.local(p);
    if (face_overhang<double>(Q, g, local) < -rounding) continue;
    if (face_distance<double>(Q, g, local) < deepest || is_told(p)) continue;
    points_.push_back({slots_of_P + q, g});
    told_.push_back(p);
  }
  for (int i = 0; i < count_of(first.edges); ++i) {
    if (!of_face(first, i, reference_is_first ? f : g)) continue;
    const Edge one(first, i);
    const Vec3 a1 = A.point(one.a), e1 = A.direction(one.e);
    for (int j = 0; j < count_of(second.edges); ++j) {
      if (!of_face(second, j, reference_is_first ? g : f)) continue;
      const Edge two(second, j);
      const Perpendicular<double> feet(a1, e1, B.point(two.a), B.direction(two.e));
      if (feet.parallel || feet.N.norm() < 1e-3) continue;
      const double inside = std::min(std::min(feet.s, one.length - feet.s), std::min(feet.u, two.length - feet.u));
      if (inside <= rounding) continue;
      const Vec3 n = feet.N.normalized(), towards = reference_is_first ? Vec3(-m) : m;
      const double along = n.dot(towards);
      if (std::abs(along) < 0.7) continue;
      const double gap = (along > 0 ? 1 : -1) * n.dot(feet.p1 - feet.p2);
      if (gap < deepest || is_told(reference_is_first ? feet.p1 : feet.p2)) continue;
      const int slot = vertices1 + vertices2 + i * count_of(second.edges) + j;
      if (slot == crossing) continue;
      points_.push_back({slot, along > 0 ? 0 : 1});
      told_.push_back(reference_is_first ? feet.p1 : feet.p2);
    }
  }
  // Overlapping without a foot on a face (a sliver in a sliver): the deepest vertex decides.
  if (points_.empty() && separation_ <= 0) points_.push_back({slots_of_Q + nearest, f});
}

int manifold_feature(const Geometry& a, const Geometry& b, const Frame3<double>& A, const Frame3<double>& B, int slot) {
  // All slots of a pair are asked for in turn, at the same place. Shapes are known by their points, not by where they
  // are stored.
  thread_local struct {
    Eigen::Matrix<double, 3, 8> at = Eigen::Matrix<double, 3, 8>::Constant(std::numeric_limits<double>::infinity());
    std::vector<Vec3> points;
    PolytopeManifold manifold;
  } last;
  Eigen::Matrix<double, 3, 8> at;
  at << A.x, A.y, A.z, A.p, B.x, B.y, B.z, B.p;
  const std::size_t n = a.points.size();
  const bool same = last.at == at && last.points.size() == n + b.points.size() &&
                    std::equal(a.points.begin(), a.points.end(), last.points.begin()) &&
                    std::equal(b.points.begin(), b.points.end(), last.points.begin() + static_cast<std::ptrdiff_t>(n));
  if (!same) {
    last.at = at;
    last.points.assign(a.points.begin(), a.points.end());
    last.points.insert(last.points.end(), b.points.begin(), b.points.end());
    last.manifold.find(a, b, A, B);
  }
  return last.manifold.feature(slot);
}

}  // namespace clatter::contact
