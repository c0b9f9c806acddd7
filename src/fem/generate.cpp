#include "fem/generate.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include <fmt/format.h>

#include "base/error.hpp"

namespace clatter::fem {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

void require(bool good, const char* what) {
  if (!good) throw InputError(what);
}

void positive(double x, const char* what) { require(x > 0 && std::isfinite(x), what); }
// Elements in each direction of a grid.
void counts(std::initializer_list<int> n) {
  double all = 1;
  for (int i : n) {
    require(i >= 1 && i <= 10000, "a mesh needs at least one element in each direction (at most 10000)");
    all *= i;
  }
  require_elements(all);
}

// A patch of ni x nj quadrilaterals; `point` takes i, j. Orientation is repaired, nodes are merged by the caller.
void patch(Mesh& mesh, int ni, int nj, const std::function<Vec3(int, int)>& point) {
  const int first = static_cast<int>(mesh.nodes.size());
  for (int j = 0; j <= nj; ++j)
    for (int i = 0; i <= ni; ++i) mesh.nodes.push_back(point(i, j));
  auto& c = mesh.blocks.front().connectivity;
  for (int j = 0; j < nj; ++j)
    for (int i = 0; i < ni; ++i) {
      const int a = first + j * (ni + 1) + i;
      int q[4] = {a, a + 1, a + ni + 2, a + ni + 1};
      const Vec3 d1 = mesh.nodes[at(q[2])] - mesh.nodes[at(q[0])], d2 = mesh.nodes[at(q[3])] - mesh.nodes[at(q[1])];
      if (d1.x() * d2.y() - d1.y() * d2.x() < 0) std::swap(q[1], q[3]);
      c.insert(c.end(), q, q + 4);
    }
}

Mesh quad_mesh() {
  Mesh m;
  m.blocks.push_back({ElementType::quad4, {}, {}});
  return m;
}

void set_where(Mesh& mesh, const std::string& name, const std::function<bool(const Vec3&)>& in) {
  auto& s = mesh.node_sets[name];
  for (std::size_t i = 0; i < mesh.nodes.size(); ++i)
    if (in(mesh.nodes[i])) s.push_back(static_cast<int>(i));
}

struct Round {
  double radius[2];
  double tolerance;
};

// A middle between two nodes on one of the circles lies on it.
Vec3 on_circle(const Vec3& a, const Vec3& b, const Vec3& middle, const void* data) {
  const auto& round = *static_cast<const Round*>(data);
  for (double r : round.radius) {
    if (r <= 0 || std::abs(a.head<2>().norm() - r) > round.tolerance ||
        std::abs(b.head<2>().norm() - r) > round.tolerance)
      continue;
    Vec3 m = middle;
    m.head<2>() *= r / middle.head<2>().norm();
    return m;
  }
  return middle;
}

Mesh finish(Mesh mesh, bool quadratic, const Round* round = nullptr) {
  if (quadratic) mesh = round != nullptr ? to_quadratic(mesh, on_circle, round) : to_quadratic(mesh);
  surfaces_of_node_sets(mesh);
  return mesh;
}

Mesh disk_grid(double radius, int around, int rings, int along = 1) {
  const int n = (around + 3) / 4;
  require_elements((1.0 * n + 4.0 * rings) * n * along);
  Mesh m = quad_mesh();
  // A core whose sides bulge a little keeps the corner angles away from 180 degrees.
  const double a = radius * (rings == 1 ? 0.5 : std::min(0.5, 1.0 / std::sqrt(2.0) * n / (n + 1.3 * rings) + 0.12));
  const auto core = [&](double u, double v) {
    const double bulge = 0.12;
    return Vec3(a * u * (1 + bulge * (1 - v * v)), a * v * (1 + bulge * (1 - u * u)), 0);
  };
  patch(m, n, n, [&](int i, int j) { return core(2.0 * i / n - 1, 2.0 * j / n - 1); });
  for (int side = 0; side < 4; ++side) {
    const Eigen::AngleAxisd turn(side * std::numbers::pi / 2, Vec3::UnitZ());
    patch(m, n, rings, [&](int i, int j) -> Vec3 {
      const double t = 2.0 * i / n - 1, s = static_cast<double>(j) / rings;
      const double phi = t * std::numbers::pi / 4;
      const Vec3 inner = core(1, t), outer(radius * std::cos(phi), radius * std::sin(phi), 0);
      return turn * Vec3((1 - s) * inner + s * outer);
    });
  }
  merge_nodes(m, 1e-9 * radius);
  set_where(m, "rim", [&](const Vec3& x) { return std::abs(x.norm() - radius) < 1e-9 * radius; });
  return m;
}

}  // namespace

void surfaces_of_node_sets(Mesh& mesh) {
  const std::vector<Face> faces = skin(mesh);
  for (const auto& [name, set] : mesh.node_sets) {
    std::vector<Face> in;
    for (const Face& f : faces) {
      const std::vector<int> n = mesh.face_nodes(f);
      if (std::all_of(n.begin(), n.end(),
                      [&set = set](int i) { return std::binary_search(set.begin(), set.end(), i); }))
        in.push_back(f);
    }
    if (!in.empty()) mesh.surfaces[name] = std::move(in);
  }
}

void require_elements(double count) {
  if (count <= kMostElements) return;
  throw InputError(fmt::format("this mesh would have {:.3g} elements; at most {} are made", count, kMostElements),
                   "use fewer elements");
}

Mesh extrude(const Mesh& plane, double thickness, int layers, double twist_rate) {
  Mesh m;
  const int n = static_cast<int>(plane.nodes.size());
  for (int k = 0; k <= layers; ++k) {
    const double z = thickness * (static_cast<double>(k) / layers - 0.5);
    const Eigen::AngleAxisd turn(twist_rate * z, Vec3::UnitZ());
    for (const Vec3& x : plane.nodes) {
      Vec3 p = turn * Vec3(x.x(), x.y(), 0);
      p.z() = z;
      m.nodes.push_back(p);
    }
  }
  for (const auto& b : plane.blocks) {
    ElementBlock out;
    out.type = b.type == ElementType::tri3 ? ElementType::wedge6 : ElementType::hex8;
    const int corners = info(b.type).nodes;
    for (int k = 0; k < layers; ++k)
      for (int e = 0; e < b.count(); ++e)
        for (int top = 0; top < 2; ++top)
          for (int i = 0; i < corners; ++i)
            out.connectivity.push_back(b.connectivity[at(e * corners + i)] + (k + top) * n);
    m.blocks.push_back(std::move(out));
  }
  for (const auto& [name, set] : plane.node_sets)
    for (int k = 0; k <= layers; ++k)
      for (int i : set) m.node_sets[name].push_back(i + k * n);
  for (int i = 0; i < n; ++i) m.node_sets["z-"].push_back(i);
  for (int i = 0; i < n; ++i) m.node_sets["z+"].push_back(i + layers * n);
  return m;
}

Mesh make_rectangle(double width, double height, int nx, int ny, bool quadratic) {
  positive(width, "a rectangle needs a positive width");
  positive(height, "a rectangle needs a positive height");
  counts({nx, ny});
  Mesh m = quad_mesh();
  patch(m, nx, ny, [&](int i, int j) {
    return Vec3(width * (static_cast<double>(i) / nx - 0.5), height * (static_cast<double>(j) / ny - 0.5), 0);
  });
  const double tx = 1e-9 * width, ty = 1e-9 * height;
  set_where(m, "x-", [&](const Vec3& x) { return x.x() < -width / 2 + tx; });
  set_where(m, "x+", [&](const Vec3& x) { return x.x() > width / 2 - tx; });
  set_where(m, "y-", [&](const Vec3& x) { return x.y() < -height / 2 + ty; });
  set_where(m, "y+", [&](const Vec3& x) { return x.y() > height / 2 - ty; });
  return finish(std::move(m), quadratic);
}

Mesh make_box(const Vec3& edges, int nx, int ny, int nz, bool quadratic) {
  positive(edges.minCoeff(), "a box needs three positive edges");
  counts({nx, ny, nz});
  Mesh plane = make_rectangle(edges.x(), edges.y(), nx, ny);
  plane.surfaces.clear();
  return finish(extrude(plane, edges.z(), nz), quadratic);
}

Mesh make_disk(double radius, int around, int rings, bool quadratic) {
  positive(radius, "a disk needs a positive radius");
  counts({around, rings});
  const Round round{{radius, 0}, 1e-9 * radius};
  return finish(disk_grid(radius, around, rings), quadratic, &round);
}

Mesh make_cylinder(double radius, double length, int around, int rings, int along, bool quadratic) {
  positive(radius, "a cylinder needs a positive radius");
  positive(length, "a cylinder needs a positive length");
  counts({around, rings, along});
  Mesh m = extrude(disk_grid(radius, around, rings, along), length, along);
  auto node = m.node_sets.extract("rim");
  node.key() = "side";
  m.node_sets.insert(std::move(node));
  const Round round{{radius, 0}, 1e-9 * radius};
  return finish(std::move(m), quadratic, &round);
}

Mesh make_tube(double inner, double outer, double length, int around, int through, int along, bool quadratic) {
  positive(inner, "a tube needs a positive inner radius");
  require(outer > inner, "the outer radius of a tube must be larger than the inner");
  positive(length, "a tube needs a positive length");
  counts({around, through, along});
  require(around >= 3, "a tube needs at least three elements around");
  Mesh plane = quad_mesh();
  patch(plane, around, through, [&](int i, int j) {
    const double phi = 2 * std::numbers::pi * (i % around) / around, r = inner + (outer - inner) * j / through;
    return Vec3(r * std::cos(phi), r * std::sin(phi), 0);
  });
  merge_nodes(plane, 1e-9 * outer);
  const double tolerance = 1e-9 * outer;
  set_where(plane, "inner", [&](const Vec3& x) { return x.norm() < inner + tolerance; });
  set_where(plane, "outer", [&](const Vec3& x) { return x.norm() > outer - tolerance; });
  const Round round{{inner, outer}, tolerance};
  return finish(extrude(plane, length, along), quadratic, &round);
}

Mesh make_polyline(const std::vector<Vec3>& points, int elements) {
  require(points.size() >= 2, "a line of beams needs at least two points");
  counts({elements});
  require_elements(1.0 * elements * static_cast<double>(points.size() - 1));
  Mesh m;
  m.blocks.push_back({ElementType::line2, {}, {}});
  m.nodes.push_back(points.front());
  for (std::size_t k = 0; k + 1 < points.size(); ++k)
    for (int i = 1; i <= elements; ++i) {
      const int n = static_cast<int>(m.nodes.size());
      m.nodes.push_back(points[k] + (points[k + 1] - points[k]) * (static_cast<double>(i) / elements));
      m.blocks[0].connectivity.insert(m.blocks[0].connectivity.end(), {n - 1, n});
    }
  m.node_sets["start"] = {0};
  m.node_sets["end"] = {static_cast<int>(m.nodes.size()) - 1};
  return m;
}

Mesh make_line(double length, int elements) {
  positive(length, "a beam needs a positive length");
  return make_polyline({Vec3::Zero(), Vec3(length, 0, 0)}, elements);
}

Mesh make_helix(double diameter, double height, double coils, int elements_per_coil) {
  positive(diameter, "a helical spring needs a positive diameter");
  positive(height, "a helical spring needs a positive height");
  positive(coils, "a helical spring needs a positive number of coils");
  counts({elements_per_coil});
  require_elements(coils * elements_per_coil);
  const int n = std::max(1, static_cast<int>(std::lround(coils * elements_per_coil)));
  std::vector<Vec3> points;
  for (int i = 0; i <= n; ++i) {
    const double phi = 2 * std::numbers::pi * coils * i / n;
    points.emplace_back(diameter / 2 * std::cos(phi), diameter / 2 * std::sin(phi), height * i / n);
  }
  return make_polyline(points, 1);
}

}  // namespace clatter::fem
