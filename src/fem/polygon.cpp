// Meshes of simple polygons: ears are cut off (Meisters 1975), edges longer than wished are halved, the diagonals are
// flipped to Delaunay's condition after each round (Lawson 1977), and each triangle becomes three quadrilaterals
// around its centroid.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>

#include "base/error.hpp"
#include "fem/generate.hpp"

namespace clatter::fem {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

using Triangle = std::array<int, 3>;
using Edge = std::pair<int, int>;
Edge edge(int a, int b) { return {std::min(a, b), std::max(a, b)}; }

double cross(const Vec3& a, const Vec3& b, const Vec3& c) {
  return (b.x() - a.x()) * (c.y() - a.y()) - (b.y() - a.y()) * (c.x() - a.x());
}

class Triangulation {
 public:
  explicit Triangulation(std::vector<Vec3> corners) : points_(std::move(corners)) {
    const int n = static_cast<int>(points_.size());
    for (int i = 0; i < n; ++i) border_[edge(i, (i + 1) % n)] = i;
    cut_ears();
    flip();
  }

  void refine(double size) {
    for (int round = 0; round < 60; ++round) {
      std::map<Edge, std::vector<int>> users = edges();
      std::vector<std::pair<double, Edge>> long_ones;
      for (const auto& [e, t] : users)
        if (const double l = length(e); l > size * (1 + 1e-9)) long_ones.emplace_back(-l, e);
      if (long_ones.empty()) return;
      std::sort(long_ones.begin(), long_ones.end());
      std::vector<char> touched(triangles_.size(), 0);
      for (const auto& [l, e] : long_ones) {
        const auto& t = users[e];
        if (std::any_of(t.begin(), t.end(), [&](int k) { return touched[at(k)] != 0; })) continue;
        for (int k : t) touched[at(k)] = 1;
        split(e, t);
        touched.resize(triangles_.size(), 1);
        if (triangles_.size() > 200000) throw InputError("the wished element size makes too many elements");
      }
      flip();
    }
  }

  // Quadrilaterals; sets edge_1 ...
  Mesh quads() const {
    Mesh m;
    m.blocks.push_back({ElementType::quad4, {}, {}});
    m.nodes = points_;
    std::map<Edge, int> middle;
    const auto middle_of = [&](int a, int b) {
      auto [it, fresh] = middle.try_emplace(edge(a, b), static_cast<int>(m.nodes.size()));
      if (fresh) m.nodes.push_back(0.5 * (points_[at(a)] + points_[at(b)]));
      return it->second;
    };
    for (const Triangle& t : triangles_) {
      const int c = static_cast<int>(m.nodes.size());
      m.nodes.push_back((points_[at(t[0])] + points_[at(t[1])] + points_[at(t[2])]) / 3);
      for (int i = 0; i < 3; ++i) {
        const int a = t[at(i)], b = t[at((i + 1) % 3)], p = t[at((i + 2) % 3)];
        const int ab = middle_of(a, b), pa = middle_of(p, a);
        auto& conn = m.blocks[0].connectivity;
        conn.insert(conn.end(), {a, ab, c, pa});
      }
    }
    for (const auto& [e, side] : border_) {
      auto& s = m.node_sets["edge_" + std::to_string(side + 1)];
      s.insert(s.end(), {e.first, e.second, middle_of(e.first, e.second)});
    }
    for (auto& [name, s] : m.node_sets) {
      std::sort(s.begin(), s.end());
      s.erase(std::unique(s.begin(), s.end()), s.end());
    }
    return m;
  }

 private:
  double length(const Edge& e) const { return (points_[at(e.first)] - points_[at(e.second)]).norm(); }

  void cut_ears() {
    std::vector<int> ring;
    for (int i = 0; i < static_cast<int>(points_.size()); ++i) ring.push_back(i);
    while (ring.size() > 3) {
      const int n = static_cast<int>(ring.size());
      int best = -1;
      double best_quality = 0;
      for (int i = 0; i < n; ++i) {
        const int a = ring[at((i + n - 1) % n)], b = ring[at(i)], c = ring[at((i + 1) % n)];
        const double area = cross(points_[at(a)], points_[at(b)], points_[at(c)]);
        if (area <= 0) continue;
        bool empty = true;
        for (int p : ring)
          if (p != a && p != b && p != c && inside(points_[at(p)], a, b, c)) empty = false;
        const double quality = area / (length({a, b}) + length({b, c}) + length({a, c}));
        if (empty && quality > best_quality) {
          best_quality = quality;
          best = i;
        }
      }
      if (best < 0) throw InputError("the polygon crosses or touches itself, or has corners in a line that folds back");
      const int n1 = static_cast<int>(ring.size());
      triangles_.push_back({ring[at((best + n1 - 1) % n1)], ring[at(best)], ring[at((best + 1) % n1)]});
      ring.erase(ring.begin() + best);
    }
    triangles_.push_back({ring[0], ring[1], ring[2]});
  }

  bool inside(const Vec3& p, int a, int b, int c) const {
    return cross(points_[at(a)], points_[at(b)], p) >= 0 && cross(points_[at(b)], points_[at(c)], p) >= 0 &&
           cross(points_[at(c)], points_[at(a)], p) >= 0;
  }

  std::map<Edge, std::vector<int>> edges() const {
    std::map<Edge, std::vector<int>> users;
    for (std::size_t k = 0; k < triangles_.size(); ++k)
      for (int i = 0; i < 3; ++i)
        users[edge(triangles_[k][at(i)], triangles_[k][at((i + 1) % 3)])].push_back(static_cast<int>(k));
    return users;
  }

  void split(const Edge& e, const std::vector<int>& users) {
    const int m = static_cast<int>(points_.size());
    points_.push_back(0.5 * (points_[at(e.first)] + points_[at(e.second)]));
    if (const auto it = border_.find(e); it != border_.end()) {
      const int side = it->second;
      border_.erase(it);
      border_[edge(e.first, m)] = side;
      border_[edge(e.second, m)] = side;
    }
    for (int k : users) {
      Triangle t = triangles_[at(k)];
      int i = 0;
      while (edge(t[at(i)], t[at((i + 1) % 3)]) != e) ++i;
      const int a = t[at(i)], b = t[at((i + 1) % 3)], c = t[at((i + 2) % 3)];
      triangles_[at(k)] = {a, m, c};
      triangles_.push_back({m, b, c});
    }
  }

  // One edge after the other until all are locally Delaunay.
  void flip() {
    for (int round = 0; round < 200; ++round) {
      bool changed = false;
      std::vector<char> touched(triangles_.size(), 0);
      for (const auto& [e, t] : edges()) {
        if (t.size() != 2 || touched[at(t[0])] != 0 || touched[at(t[1])] != 0) continue;
        const int c = opposite(t[0], e), d = opposite(t[1], e);
        const Triangle& first = triangles_[at(t[0])];
        int a = e.first, b = e.second;
        // a, b in the sense of the first triangle.
        for (int i = 0; i < 3; ++i)
          if (first[at(i)] == e.second && first[at((i + 1) % 3)] == e.first) std::swap(a, b);
        if (cross(points_[at(c)], points_[at(a)], points_[at(d)]) <= 0 ||
            cross(points_[at(d)], points_[at(b)], points_[at(c)]) <= 0)
          continue;
        if (angle(a, c, b) + angle(a, d, b) <= 3.14159265358979 + 1e-9) continue;
        triangles_[at(t[0])] = {c, a, d};
        triangles_[at(t[1])] = {d, b, c};
        touched[at(t[0])] = touched[at(t[1])] = 1;
        changed = true;
      }
      if (!changed) return;
    }
  }
  int opposite(int k, const Edge& e) const {
    for (int v : triangles_[at(k)])
      if (v != e.first && v != e.second) return v;
    return -1;
  }
  double angle(int a, int at_point, int b) const {
    const Vec3 u = points_[at(a)] - points_[at(at_point)], v = points_[at(b)] - points_[at(at_point)];
    return std::atan2(u.cross(v).norm(), u.dot(v));
  }

  std::vector<Vec3> points_;
  std::vector<Triangle> triangles_;
  std::map<Edge, int> border_;  // which side of the polygon
};

// Whether the closed segments ab and cd have a point in common.
bool meet(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d) {
  const auto side = [](double x) { return (x > 0) - (x < 0); };
  const int c1 = side(cross(a, b, c)), d1 = side(cross(a, b, d)), a1 = side(cross(c, d, a)), b1 = side(cross(c, d, b));
  if (c1 == 0 && d1 == 0) {  // in one line
    const Vec3 t = b - a;
    const double u = t.dot(c - a), v = t.dot(d - a), l = t.squaredNorm();
    return std::max(u, v) >= 0 && std::min(u, v) <= l;
  }
  return c1 * d1 <= 0 && a1 * b1 <= 0;
}

// Ears can be cut off some crossed polygons as well, into triangles that lie on each other.
void refuse_crossing(const std::vector<Vec3>& corners) {
  const std::size_t n = corners.size();
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i + 2; j < n; ++j) {
      if ((j + 1) % n == i) continue;
      if (meet(corners[i], corners[i + 1], corners[j], corners[(j + 1) % n]))
        throw InputError(fmt::format("the polygon crosses or touches itself: side {} (corners {} and {}) meets side {} "
                                     "(corners {} and {})",
                                     i + 1, i + 1, i + 2, j + 1, j + 1, (j + 1) % n + 1),
                         "list the corners in order around the polygon");
    }
}

Mesh plane_mesh(std::vector<Vec3> corners, double size) {
  if (corners.size() < 3) throw InputError("a polygon needs at least three corners");
  if (!(size > 0)) throw InputError("the element size of a polygon must be positive");
  for (Vec3& c : corners) c.z() = 0;
  double area = 0;
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const Vec3 &a = corners[i], &b = corners[(i + 1) % corners.size()];
    if ((a - b).norm() == 0) throw InputError("the polygon has the same corner twice in a row");
    area += 0.5 * (a.x() * b.y() - a.y() * b.x());
  }
  refuse_crossing(corners);
  if (area == 0) throw InputError("the polygon has no area");
  const bool clockwise = area < 0;
  if (clockwise) std::reverse(corners.begin(), corners.end());
  const int n = static_cast<int>(corners.size());
  Triangulation t(std::move(corners));
  t.refine(2 * size);  // triangles become quadrilaterals of half their edges
  Mesh m = t.quads();
  if (clockwise) {  // edges are counted as the user wrote the corners
    std::map<std::string, std::vector<int>> renamed;
    for (int i = 0; i < n; ++i)
      renamed["edge_" + std::to_string(i < n - 1 ? n - 1 - i : n)] = m.node_sets["edge_" + std::to_string(i + 1)];
    m.node_sets = std::move(renamed);
  }
  return m;
}

}  // namespace

Mesh make_polygon(const std::vector<Vec3>& corners, double size, bool quadratic) {
  Mesh m = plane_mesh(corners, size);
  if (quadratic) m = to_quadratic(m);
  surfaces_of_node_sets(m);
  return m;
}

Mesh make_extrusion(const std::vector<Vec3>& corners, double thickness, double size, int layers, bool quadratic) {
  if (!(thickness > 0)) throw InputError("an extruded polygon needs a positive thickness");
  if (layers < 1 || layers > 10000) throw InputError("an extruded polygon needs at least one layer of elements");
  const Mesh plane = plane_mesh(corners, size);
  require_elements(1.0 * plane.element_count() * layers);
  Mesh m = extrude(plane, thickness, layers);
  if (quadratic) m = to_quadratic(m);
  surfaces_of_node_sets(m);
  return m;
}

}  // namespace clatter::fem
