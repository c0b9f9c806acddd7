#include "fem/mesh.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <unordered_map>

#include "base/error.hpp"

namespace clatter::fem {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

void sort_unique(std::vector<int>& v) {
  std::sort(v.begin(), v.end());
  v.erase(std::unique(v.begin(), v.end()), v.end());
}

// Node numbers change from i to map[i] everywhere.
void renumber(Mesh& mesh, const std::vector<int>& map) {
  for (auto& b : mesh.blocks)
    for (int& n : b.connectivity) n = map[at(n)];
  for (auto& [name, set] : mesh.node_sets) {
    for (int& n : set) n = map[at(n)];
    sort_unique(set);
    if (!set.empty() && set.front() < 0) set.erase(set.begin());
  }
}

}  // namespace

int Mesh::element_count() const {
  int n = 0;
  for (const auto& b : blocks) n += b.count();
  return n;
}

ElementRef Mesh::element(int index) const {
  for (const auto& b : blocks) {
    const int n = info(b.type).nodes;
    if (index < b.count()) return {b.type, b.connectivity.data() + static_cast<std::ptrdiff_t>(index) * n, n};
    index -= b.count();
  }
  throw std::out_of_range("Mesh::element");
}

int Mesh::element_label(int index) const {
  int i = index;
  for (const auto& b : blocks) {
    if (i < b.count()) return b.labels.empty() ? index + 1 : b.labels[at(i)];
    i -= b.count();
  }
  return index + 1;
}

int Mesh::dimension() const {
  int d = 0;
  for (const auto& b : blocks)
    if (b.count() > 0) d = std::max(d, info(b.type).dimension);
  return d;
}

NodeCoordinates Mesh::coordinates(const ElementRef& e) const {
  NodeCoordinates x(e.count, 3);
  for (int i = 0; i < e.count; ++i) x.row(i) = nodes[at(e.nodes[i])];
  return x;
}

std::vector<int> Mesh::nodes_of_set(const std::string& name) const {
  if (const auto it = node_sets.find(name); it != node_sets.end()) return it->second;
  std::vector<int> out;
  if (const auto it = surfaces.find(name); it != surfaces.end()) {
    for (const Face& f : it->second) {
      const std::vector<int> n = face_nodes(f);
      out.insert(out.end(), n.begin(), n.end());
    }
  } else if (const auto es = element_sets.find(name); es != element_sets.end()) {
    for (int e : es->second) {
      const ElementRef r = element(e);
      out.insert(out.end(), r.nodes, r.nodes + r.count);
    }
  }
  sort_unique(out);
  return out;
}

std::vector<std::string> Mesh::set_names() const {
  std::vector<std::string> names;
  for (const auto& [name, s] : node_sets) names.push_back(name);
  for (const auto& [name, s] : surfaces) names.push_back(name);
  for (const auto& [name, s] : element_sets) names.push_back(name);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::vector<int> Mesh::face_nodes(const Face& f) const {
  const ElementRef e = element(f.element);
  std::vector<int> out;
  for (int local : info(e.type).faces[at(f.side)]) out.push_back(e.nodes[local]);
  return out;
}

double Mesh::size() const {
  if (nodes.empty()) return 0;
  Vec3 lo = nodes.front(), hi = lo;
  for (const Vec3& x : nodes) {
    lo = lo.cwiseMin(x);
    hi = hi.cwiseMax(x);
  }
  return (hi - lo).norm();
}

std::vector<Face> skin(const Mesh& mesh) {
  std::map<std::vector<int>, std::pair<int, Face>> uses;
  int index = 0;
  const int dimension = mesh.dimension();
  for (const auto& b : mesh.blocks) {
    const ElementInfo& e = info(b.type);
    const int count = b.count();
    for (int k = 0; k < count; ++k, ++index) {
      if (e.dimension != dimension) continue;
      const int* n = b.connectivity.data() + static_cast<std::ptrdiff_t>(k) * e.nodes;
      const int corners = dimension == 2 ? 2 : 0;
      for (std::size_t s = 0; s < e.faces.size(); ++s) {
        const std::size_t c = corners != 0 ? 2 : (e.nodes == e.corners ? e.faces[s].size() : e.faces[s].size() / 2);
        std::vector<int> key;
        for (std::size_t i = 0; i < c; ++i) key.push_back(n[e.faces[s][i]]);
        std::sort(key.begin(), key.end());
        auto [it, fresh] = uses.try_emplace(std::move(key), 0, Face{index, static_cast<int>(s)});
        ++it->second.first;
      }
    }
  }
  std::vector<Face> out;
  for (const auto& [key, use] : uses)
    if (use.first == 1) out.push_back(use.second);
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<std::array<int, 3>> triangles(const Mesh& mesh, const Face& face) {
  const std::vector<int> n = mesh.face_nodes(face);
  switch (n.size()) {
    case 3:
      return {{n[0], n[1], n[2]}};
    case 4:
      return {{n[0], n[1], n[2]}, {n[0], n[2], n[3]}};
    case 6:
      return {{n[0], n[3], n[5]}, {n[3], n[1], n[4]}, {n[5], n[4], n[2]}, {n[3], n[4], n[5]}};
    case 8:
      return {{n[0], n[4], n[7]}, {n[4], n[1], n[5]}, {n[5], n[2], n[6]},
              {n[6], n[3], n[7]}, {n[4], n[5], n[7]}, {n[5], n[6], n[7]}};
    default:
      return {};
  }
}

void merge_nodes(Mesh& mesh, double tolerance) {
  const int n = static_cast<int>(mesh.nodes.size());
  std::vector<int> map(at(n), -1);
  std::vector<Vec3> kept;
  std::unordered_map<std::uint64_t, std::vector<int>> cells;
  const double cell = 4 * tolerance;
  // A hash, in numbers that may overflow: cells are as many sizes of the mesh from the origin as a file says.
  const auto key = [](std::int64_t i, std::int64_t j, std::int64_t k) {
    return static_cast<std::uint64_t>(i) * 73856093u ^ static_cast<std::uint64_t>(j) * 19349663u ^
           static_cast<std::uint64_t>(k) * 83492791u;
  };
  for (int i = 0; i < n; ++i) {
    const Vec3& x = mesh.nodes[at(i)];
    const Vec3 c = x / cell;
    int found = -1;
    for (int corner = 0; corner < 8 && found < 0; ++corner) {
      // The eight cells that a ball of the tolerance about x may reach.
      std::int64_t q[3];
      for (int a = 0; a < 3; ++a) q[a] = std::llround(std::floor(c[a] + ((corner >> a & 1) != 0 ? 0.25 : -0.25)));
      const auto it = cells.find(key(q[0], q[1], q[2]));
      if (it == cells.end()) continue;
      for (int k : it->second)
        if ((kept[at(k)] - x).norm() <= tolerance) {
          found = k;
          break;
        }
    }
    if (found < 0) {
      found = static_cast<int>(kept.size());
      kept.push_back(x);
      cells[key(std::llround(std::floor(c[0])), std::llround(std::floor(c[1])), std::llround(std::floor(c[2])))]
          .push_back(found);
    }
    map[at(i)] = found;
  }
  renumber(mesh, map);
  mesh.nodes = std::move(kept);
  mesh.node_labels.clear();
}

void remove_unused_nodes(Mesh& mesh) {
  std::vector<int> map(mesh.nodes.size(), -1);
  for (const auto& b : mesh.blocks)
    for (int n : b.connectivity) map[at(n)] = 0;
  int next = 0;
  std::vector<Vec3> kept;
  std::vector<int> labels;
  for (std::size_t i = 0; i < map.size(); ++i) {
    if (map[i] < 0) continue;
    map[i] = next++;
    kept.push_back(mesh.nodes[i]);
    labels.push_back(mesh.node_label(static_cast<int>(i)));
  }
  if (kept.size() == mesh.nodes.size()) return;
  renumber(mesh, map);
  mesh.nodes = std::move(kept);
  mesh.node_labels = std::move(labels);
}

Mesh to_quadratic(const Mesh& mesh, Vec3 (*place)(const Vec3&, const Vec3&, const Vec3&, const void*),
                  const void* data) {
  Mesh out = mesh;
  std::map<std::pair<int, int>, int> middles;
  for (auto& b : out.blocks) {
    const ElementInfo& from = info(b.type);
    const ElementInfo& to = info(from.quadratic);
    if (to.nodes == from.nodes) continue;
    std::vector<int> connectivity;
    connectivity.reserve(at(b.count() * to.nodes));
    for (int k = 0; k < b.count(); ++k) {
      const int* n = b.connectivity.data() + static_cast<std::ptrdiff_t>(k) * from.nodes;
      connectivity.insert(connectivity.end(), n, n + from.nodes);
      for (const auto& edge : from.edges) {
        const int a = std::min(n[edge[0]], n[edge[1]]), c = std::max(n[edge[0]], n[edge[1]]);
        auto [it, fresh] = middles.try_emplace({a, c}, static_cast<int>(out.nodes.size()));
        if (fresh) {
          const Vec3 &xa = out.nodes[at(a)], &xc = out.nodes[at(c)];
          const Vec3 straight = 0.5 * (xa + xc);
          out.nodes.push_back(place != nullptr ? place(xa, xc, straight, data) : straight);
        }
        connectivity.push_back(it->second);
      }
    }
    b.type = from.quadratic;
    b.connectivity = std::move(connectivity);
  }
  out.node_labels.clear();
  // A middle belongs to a node set when both its corners do.
  for (auto& [name, set] : out.node_sets) {
    std::vector<int> more;
    for (const auto& [edge, middle] : middles)
      if (std::binary_search(set.begin(), set.end(), edge.first) &&
          std::binary_search(set.begin(), set.end(), edge.second))
        more.push_back(middle);
    set.insert(set.end(), more.begin(), more.end());
    sort_unique(set);
  }
  return out;
}

Mesh to_quadratic(const Mesh& mesh) { return to_quadratic(mesh, nullptr, nullptr); }

std::vector<std::vector<int>> separate_parts(const Mesh& mesh) {
  std::vector<int> parent(mesh.nodes.size());
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](int i) {
    while (parent[at(i)] != i) i = parent[at(i)] = parent[at(parent[at(i)])];
    return i;
  };
  const int elements = mesh.element_count();
  std::vector<int> first;
  for (const auto& b : mesh.blocks) {
    const int n = info(b.type).nodes;
    for (int k = 0; k < b.count(); ++k) {
      const int* c = b.connectivity.data() + static_cast<std::ptrdiff_t>(k) * n;
      first.push_back(c[0]);
      for (int i = 1; i < n; ++i) parent[at(root(c[i]))] = root(c[0]);
    }
  }
  std::map<int, std::vector<int>> parts;
  for (int e = 0; e < elements; ++e) parts[root(first[at(e)])].push_back(e);
  std::vector<std::vector<int>> out;
  for (auto& [r, part] : parts) out.push_back(std::move(part));
  if (out.size() < 2) return {};
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
  out.erase(out.begin());
  return out;
}

void check_mesh(const Mesh& mesh) {
  const std::string where = mesh.file.empty() ? "the mesh" : "mesh `" + mesh.file + "`";
  const int count = mesh.element_count();
  if (count == 0) throw InputError(where + " has no elements");
  const int nodes = static_cast<int>(mesh.nodes.size());
  for (int i = 0; i < nodes; ++i)
    if (!mesh.nodes[at(i)].allFinite())
      throw InputError(fmt::format("{}: node {} has no finite coordinates", where, mesh.node_label(i)));
  const double size = mesh.size();
  int dimension = 0;
  for (const auto& b : mesh.blocks) dimension = std::max(dimension, info(b.type).dimension);
  std::vector<std::string> inverted;
  int inverted_count = 0, index = 0;
  for (const auto& b : mesh.blocks) {
    const ElementInfo& e = info(b.type);
    if (e.dimension == 2 && dimension == 3)
      throw InputError(fmt::format("{}: plane elements ({}) and solids in one body", where, e.name),
                       "shells are not known; leave the surface elements out");
    if (e.dimension == 1 && dimension == 2)
      throw InputError(fmt::format("{}: beams and plane elements in one body", where));
    for (int k = 0; k < b.count(); ++k, ++index) {
      const int* c = b.connectivity.data() + static_cast<std::ptrdiff_t>(k) * e.nodes;
      for (int i = 0; i < e.nodes; ++i) {
        if (c[i] < 0 || c[i] >= nodes)
          throw InputError(
              fmt::format("{}: element {} names a node that does not exist", where, mesh.element_label(index)));
        for (int j = 0; j < i; ++j)
          if (c[i] == c[j])
            throw InputError(fmt::format("{}: element {} ({}) has node {} twice", where, mesh.element_label(index),
                                         e.name, mesh.node_label(c[i])));
      }
      if (e.dimension == 1) {
        if (!((mesh.nodes[at(c[0])] - mesh.nodes[at(c[1])]).norm() > 1e-12 * size))
          throw InputError(fmt::format("{}: beam element {} has no length", where, mesh.element_label(index)));
        continue;
      }
      const NodeCoordinates x = mesh.coordinates({b.type, c, e.nodes});
      double smallest = std::numeric_limits<double>::max(), largest = 0;
      ShapeGradients g;
      Mat3 J;
      for (const auto& p : stiffness_rule(b.type)) {
        const double det = spatial_gradients(e.dimension, p.dN, x, g, J);
        smallest = std::min(smallest, det);
        largest = std::max(largest, std::abs(det));
      }
      double extent = 0;
      for (int i = 1; i < e.nodes; ++i) extent = std::max(extent, (x.row(i) - x.row(0)).norm());
      if (largest < 1e-10 * std::pow(extent, e.dimension))
        throw InputError(fmt::format("{}: element {} ({}) has no volume; its nodes lie in a {}", where,
                                     mesh.element_label(index), e.name, e.dimension == 2 ? "line" : "plane"));
      if (smallest <= 0) {
        if (inverted.size() < 5) inverted.push_back(std::to_string(mesh.element_label(index)));
        ++inverted_count;
      }
    }
  }
  if (inverted_count > 0) {
    std::string list = fmt::format("{}", fmt::join(inverted, ", "));
    if (inverted_count > static_cast<int>(inverted.size())) list += ", ...";
    throw InputError(fmt::format("{}: {} of {} elements {} inverted or too distorted (negative Jacobian): {}", where,
                                 inverted_count, count, inverted_count == 1 ? "is" : "are", list),
                     inverted_count == count
                         ? "is the order of their nodes mirrored?"
                         : "improve the mesh there; the middles of curved edges are a common cause");
  }
  if (const auto parts = separate_parts(mesh); !parts.empty()) {
    // Duplicate nodes are the usual reason: say so when merging would join the pieces.
    Mesh merged = mesh;
    merge_nodes(merged, 1e-9 * size);
    const std::size_t duplicates = mesh.nodes.size() - merged.nodes.size();
    std::string hint = "a body must be of one piece: join the parts in the mesher, or make a body of each";
    if (duplicates > 0 && separate_parts(merged).empty())
      hint = fmt::format("{} nodes lie on top of others; merging them (`merge: true`) joins the parts", duplicates);
    throw InputError(fmt::format("{}: it consists of {} parts that are not connected; element {} is not connected to "
                                 "element {}",
                                 where, parts.size() + 1, mesh.element_label(parts.front().front()),
                                 mesh.element_label(parts.front().front() == 0 ? count - 1 : 0)),
                     hint);
  }
}

MeshVolume volume_of(const Mesh& mesh) {
  MeshVolume v;
  ShapeGradients g;
  Mat3 J;
  for (const auto& b : mesh.blocks) {
    const ElementInfo& e = info(b.type);
    if (e.dimension < 2) continue;
    for (int k = 0; k < b.count(); ++k) {
      const NodeCoordinates x =
          mesh.coordinates({b.type, b.connectivity.data() + static_cast<std::ptrdiff_t>(k) * e.nodes, e.nodes});
      for (const auto& p : mass_rule(b.type)) {
        const double w = p.weight * spatial_gradients(e.dimension, p.dN, x, g, J);
        v.volume += w;
        v.centre += w * (x.transpose() * p.N);
      }
    }
  }
  if (v.volume > 0) v.centre /= v.volume;
  return v;
}

}  // namespace clatter::fem
