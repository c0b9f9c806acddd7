// Every plane through three points that has all others on one side carries a face. Points of one plane form one face,
// so that a box has six quadrangles and no triangle is degenerate; the cost, of order n^3 and more, is paid once a
// model and is small for the polytopes people write down.
#include "shapes/hull.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace clatter::contact {

namespace {

// Corners of the convex polygon of coplanar points `members`, counter-clockwise about n (gift wrapping). A corner lies
// beyond all others in some direction: those on a side between two corners are passed over.
std::vector<int> wrap(const std::vector<Vec3>& points, const std::vector<int>& members, const Vec3& n, double slack) {
  const Vec3 u = n.unitOrthogonal(), w = n.cross(u);
  const auto at = [&](int i) { return points[static_cast<std::size_t>(i)]; };
  const int start = *std::min_element(members.begin(), members.end(), [&](int a, int b) {
    const double ua = u.dot(at(a)), ub = u.dot(at(b));
    return std::abs(ua - ub) > slack ? ua < ub : w.dot(at(a)) < w.dot(at(b));
  });
  std::vector<int> corners = {start};
  for (int here = start; corners.size() <= members.size();) {
    int next = -1;
    for (int j : members) {
      if (j == here || (at(j) - at(here)).norm() <= slack) continue;
      if (next < 0) {
        next = j;
        continue;
      }
      const Vec3 a = at(next) - at(here), b = at(j) - at(here);
      const double turn = n.dot(a.cross(b)) / std::max(a.norm(), b.norm());
      if (turn < -slack || (turn <= slack && b.norm() > a.norm())) next = j;
    }
    if (next < 0 || next == start) break;
    corners.push_back(next);
    here = next;
  }
  return corners;
}

}  // namespace

bool convex_hull(const std::vector<Vec3>& points, Geometry& g) {
  const int count = static_cast<int>(points.size());
  const auto at = [&](int i) -> const Vec3& { return points[static_cast<std::size_t>(i)]; };
  Vec3 centre = Vec3::Zero();
  for (const Vec3& p : points) centre += p / count;
  double extent = 0;
  for (const Vec3& p : points) extent = std::max(extent, (p - centre).norm());
  const double slack = 1e-9 * extent;

  std::vector<std::vector<int>> faces;
  std::vector<Vec3> normals;
  for (int i = 0; i < count; ++i)
    for (int j = i + 1; j < count; ++j)
      for (int k = j + 1; k < count; ++k) {
        Vec3 n = (at(j) - at(i)).cross(at(k) - at(i));
        if (n.norm() <= 1e-9 * extent * extent) continue;
        n.normalize();
        if (n.dot(at(i) - centre) < 0) n = -n;
        if (n.dot(at(i) - centre) <= slack) continue;  // through the middle
        bool outermost = true;
        for (int m = 0; m < count && outermost; ++m) outermost = n.dot(at(m) - at(i)) <= 10 * slack;
        if (!outermost) continue;
        if (std::any_of(normals.begin(), normals.end(), [&](const Vec3& o) { return (o - n).norm() < 1e-6; })) continue;
        std::vector<int> members;
        for (int m = 0; m < count; ++m)
          if (n.dot(at(m) - at(i)) >= -10 * slack) members.push_back(m);
        normals.push_back(n);
        faces.push_back(wrap(points, members, n, 10 * slack));
      }
  if (normals.size() < 4) return false;

  std::vector<int> renamed(points.size(), -1);
  for (const auto& face : faces)
    for (int i : face) renamed[static_cast<std::size_t>(i)] = 0;
  g.points.clear();
  for (std::size_t i = 0; i < points.size(); ++i)
    if (renamed[i] == 0) {
      renamed[i] = static_cast<int>(g.points.size());
      g.points.push_back(points[i]);
    }
  for (auto& face : faces)
    for (int& i : face) i = renamed[static_cast<std::size_t>(i)];

  std::map<std::pair<int, int>, std::vector<int>> sides;  // faces on both sides of an edge
  for (std::size_t f = 0; f < faces.size(); ++f)
    for (std::size_t k = 0; k < faces[f].size(); ++k) {
      const int a = faces[f][k], b = faces[f][(k + 1) % faces[f].size()];
      sides[{std::min(a, b), std::max(a, b)}].push_back(static_cast<int>(f));
    }
  g.normals = normals;
  g.faces = faces;
  for (const auto& [edge, on] : sides) {
    if (on.size() != 2) return false;
    g.edges.push_back(edge);
    g.edge_faces.push_back({on[0], on[1]});
    const Vec3& a = g.points[static_cast<std::size_t>(edge.first)];
    const Vec3 along = (g.points[static_cast<std::size_t>(edge.second)] - a).normalized();
    std::array<Vec3, 2> away;
    for (std::size_t k = 0; k < 2; ++k) {
      away[k] = normals[static_cast<std::size_t>(on[k])].cross(along).normalized();
      // Towards the face's own corners: the middle of the body may lie beyond the edge.
      double reach = 0;
      for (const int i : faces[static_cast<std::size_t>(on[k])])
        reach += away[k].dot(g.points[static_cast<std::size_t>(i)] - a);
      if (reach < 0) away[k] = -away[k];
    }
    g.edge_sides.push_back(away);
  }
  for (const Vec3& p : g.points) g.bound = std::max(g.bound, p.norm());
  return true;
}

}  // namespace clatter::contact
