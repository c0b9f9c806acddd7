#include "fem/skin.hpp"

#include <cmath>
#include <map>

namespace clatter::fem {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// Corners that stand at nodes, possibly beside them and turning with them.
class Builder {
 public:
  explicit Builder(const Structure& s) : s_(s) {}

  // Vertex of a node, made once.
  int node(int n) {
    const auto [it, fresh] = known_.try_emplace(n, count());
    if (fresh) add(n, Vec3::Zero());
    return it->second;
  }
  int beside(int n, const Vec3& offset) {
    add(n, offset);
    return count() - 1;
  }
  void triangle(int a, int b, int c) { skin_.triangles.push_back({a, b, c}); }

  Skin finish(const Mat& shapes) {
    skin_.modes.resize(3 * count(), shapes.cols());
    for (int i = 0; i < count(); ++i) {
      const auto& [n, offset] = corners_[at(i)];
      const auto m = s_.node(n);
      Structure::NodeMap map = m.displacement;
      if (offset.norm() > 0) map += skew(offset).transpose() * m.rotation;  // theta x offset
      skin_.modes.middleRows<3>(3 * i).noalias() = map * shapes.middleRows(m.first, map.cols());
    }
    return std::move(skin_);
  }

 private:
  int count() const { return static_cast<int>(skin_.vertices.size()); }
  void add(int n, const Vec3& offset) {
    skin_.vertices.push_back(s_.mesh().nodes[at(n)] + offset);
    skin_.nodes.push_back(n);
    corners_.emplace_back(n, offset);
  }

  const Structure& s_;
  Skin skin_;
  std::map<int, int> known_;
  std::vector<std::pair<int, Vec3>> corners_;
};

void add_beam(Builder& out, const Mesh& mesh, const ElementRef& e, const BeamSection& section) {
  const Vec3 &a = mesh.nodes[at(e.nodes[0])], &b = mesh.nodes[at(e.nodes[1])];
  const Mat3 axes = beam_axes(a, b, section);
  const double y = 0.5 * std::sqrt(12 * section.Iz / section.area), z = 0.5 * std::sqrt(12 * section.Iy / section.area);
  int corner[2][4];
  for (int end = 0; end < 2; ++end)
    for (int k = 0; k < 4; ++k) {
      const Vec3 offset =
          (k == 1 || k == 2 ? y : -y) * axes.row(1).transpose() + (k >= 2 ? z : -z) * axes.row(2).transpose();
      corner[end][k] = out.beside(e.nodes[end], offset);
    }
  for (int k = 0; k < 4; ++k) {
    const int n = (k + 1) % 4;
    out.triangle(corner[0][k], corner[1][n], corner[1][k]);
    out.triangle(corner[0][k], corner[0][n], corner[1][n]);
  }
  for (int k = 1; k < 3; ++k) {
    out.triangle(corner[0][0], corner[0][k + 1], corner[0][k]);
    out.triangle(corner[1][0], corner[1][k], corner[1][k + 1]);
  }
}

}  // namespace

Skin make_skin(const Structure& s, const Mat& shapes) {
  const Mesh& mesh = s.mesh();
  Builder out(s);
  for (int e = 0; e < mesh.element_count(); ++e) {
    const ElementRef r = mesh.element(e);
    if (info(r.type).dimension == 1) {
      add_beam(out, mesh, r, s.properties_of(e).section);
    } else if (info(r.type).dimension == 2) {
      const int corners = info(r.type).corners;
      for (int k = 1; k + 1 < corners; ++k)
        out.triangle(out.node(r.nodes[0]), out.node(r.nodes[k]), out.node(r.nodes[k + 1]));
    }
  }
  if (mesh.dimension() == 3)
    for (const Face& f : skin(mesh))
      for (const auto& t : triangles(mesh, f)) out.triangle(out.node(t[0]), out.node(t[1]), out.node(t[2]));
  return out.finish(shapes);
}

}  // namespace clatter::fem
