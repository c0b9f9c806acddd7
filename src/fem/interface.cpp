#include "fem/interface.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/error.hpp"

namespace clatter::fem {
namespace {

using Coupling = InterfaceDescription::Coupling;
std::size_t at(int i) { return static_cast<std::size_t>(i); }

// `*` stands for any run of characters.
bool matches(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = std::string_view::npos, mark = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      mark = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++mark;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

int nearest_node(const Mesh& mesh, const Vec3& x) {
  std::vector<char> used(mesh.nodes.size(), mesh.blocks.empty() ? 1 : 0);
  for (const auto& b : mesh.blocks)
    for (int n : b.connectivity) used[at(n)] = 1;
  int best = -1;
  double distance = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < mesh.nodes.size(); ++i) {
    const double d = (mesh.nodes[i] - x).norm();
    if (used[i] != 0 && d < distance) {
      distance = d;
      best = static_cast<int>(i);
    }
  }
  return best;
}

struct Shares {
  std::map<int, double> weight;  // int N_i dA
  std::map<int, Vec3> moment;    // int N_i x dA
};

// Gauss' points of a side of a plane element; nodes: two ends, and the middle of a quadratic one.
void add_side(const Mesh& mesh, const std::vector<int>& side, Shares& out) {
  const double g = std::sqrt(0.6);
  for (const auto& [xi, weight] : {std::pair{-g, 5.0 / 9}, {0.0, 8.0 / 9}, {g, 5.0 / 9}}) {
    Vec3 N(0.5 * (1 - xi), 0.5 * (1 + xi), 0), dN(-0.5, 0.5, 0);
    if (side.size() == 3) {
      N = Vec3(-0.5 * xi * (1 - xi), 0.5 * xi * (1 + xi), 1 - xi * xi);
      dN = Vec3(xi - 0.5, xi + 0.5, -2 * xi);
    }
    Vec3 x = Vec3::Zero(), t = Vec3::Zero();
    for (std::size_t i = 0; i < side.size(); ++i) {
      x += N[static_cast<long>(i)] * mesh.nodes[at(side[i])];
      t += dN[static_cast<long>(i)] * mesh.nodes[at(side[i])];
    }
    for (std::size_t i = 0; i < side.size(); ++i) {
      const double w = weight * t.norm() * N[static_cast<long>(i)];
      out.weight[side[i]] += w;
      out.moment[side[i]] += w * x;
    }
  }
}

void add_face(const Mesh& mesh, const std::vector<int>& face, Shares& out) {
  const ElementType type = face.size() == 3   ? ElementType::tri3
                           : face.size() == 4 ? ElementType::quad4
                           : face.size() == 6 ? ElementType::tri6
                                              : ElementType::quad8;
  NodeCoordinates c(static_cast<long>(face.size()), 3);
  for (std::size_t i = 0; i < face.size(); ++i) c.row(static_cast<long>(i)) = mesh.nodes[at(face[i])].transpose();
  for (const auto& q : mass_rule(type)) {
    const Vec3 a = c.transpose() * q.dN.col(0), b = c.transpose() * q.dN.col(1), x = c.transpose() * q.N;
    const double area = q.weight * a.cross(b).norm();
    for (std::size_t i = 0; i < face.size(); ++i) {
      const double w = area * q.N[static_cast<long>(i)];
      out.weight[face[i]] += w;
      out.moment[face[i]] += w * x;
    }
  }
}

// Weights and levers of a group: over the skin faces (sides in the plane) that lie wholly in it, when these hold all
// its nodes; otherwise all nodes alike.
void weigh(const Mesh& mesh, bool by_area, Interface& f) {
  Shares shares;
  for (int n : f.nodes) shares.weight[n] = 0, shares.moment[n] = Vec3::Zero();
  std::map<int, int> uses;
  if (by_area && !mesh.blocks.empty())
    for (const Face& s : skin(mesh)) {
      const std::vector<int> nodes = mesh.face_nodes(s);
      if (!std::all_of(nodes.begin(), nodes.end(), [&](int n) { return shares.weight.contains(n); })) continue;
      if (mesh.dimension() == 2)
        add_side(mesh, nodes, shares);
      else
        add_face(mesh, nodes, shares);
      for (int n : nodes) ++uses[n];
    }
  if (uses.size() < f.nodes.size())
    for (int n : f.nodes) shares.weight[n] = 1, shares.moment[n] = mesh.nodes[at(n)];
  double W = 0;
  Vec3 centre = Vec3::Zero();
  for (int n : f.nodes) {
    W += shares.weight[n];
    centre += shares.moment[n];
  }
  centre /= W;
  f.weights.clear();
  f.levers.clear();
  for (int n : f.nodes) {
    f.weights.push_back(shares.weight[n] / W);
    f.levers.push_back((shares.moment[n] - shares.weight[n] * centre) / W);
  }
  f.at = centre;
}

}  // namespace

std::vector<int> select_nodes(const Mesh& mesh, const NodeSelection& s, const std::string& name) {
  const double slack = 1e-6 * mesh.size();
  std::vector<int> out;
  const auto take = [&](const auto& in) {
    for (std::size_t i = 0; i < mesh.nodes.size(); ++i)
      if (in(mesh.nodes[i])) out.push_back(static_cast<int>(i));
  };
  const auto fail = [&](const std::string& what, const Vec3& target) {
    const Vec3 n = mesh.nodes[at(nearest_node(mesh, target))];
    std::string hint = fmt::format("the nearest node is at ({:g}, {:g}, {:g}) m", n.x(), n.y(), n.z());
    // A thousand times too large or too small: one of the two is in millimetres.
    const double size = mesh.size(), reach = target.norm();
    if (!mesh.file.empty() && reach > 0 && (reach > 100 * size || (size > 100 * reach && size > 10)))
      hint += fmt::format("; the mesh is {:g} m large: is its unit right (`unit: mm`)?", size);
    throw InputError(fmt::format("interface `{}`: {}", name, what), hint);
  };
  switch (s.kind) {
    case NodeSelection::Kind::set: {
      out = mesh.nodes_of_set(s.set);
      if (out.empty()) {
        const auto names = mesh.set_names();
        std::string hint = did_you_mean(s.set, names);
        if (hint.empty() && !names.empty() && names.size() <= 12)
          hint = fmt::format("its sets: {}", fmt::join(names, ", "));
        throw InputError(fmt::format("interface `{}`: the mesh has no set `{}`", name, s.set), hint);
      }
      return out;
    }
    case NodeSelection::Kind::box: {
      const Vec3 lo = s.from.cwiseMin(s.to).array() - slack, hi = s.from.cwiseMax(s.to).array() + slack;
      take([&](const Vec3& x) { return (x.array() >= lo.array()).all() && (x.array() <= hi.array()).all(); });
      if (out.empty()) fail("no node lies in its box", 0.5 * (lo + hi));
      return out;
    }
    case NodeSelection::Kind::plane: {
      const Vec3 n = s.to.normalized();
      take([&](const Vec3& x) { return std::abs(n.dot(x - s.from)) <= slack; });
      if (out.empty()) fail("no node lies in its plane", s.from);
      return out;
    }
    case NodeSelection::Kind::sphere:
      take([&](const Vec3& x) { return (x - s.from).norm() <= s.radius + slack; });
      if (out.empty()) fail("no node lies in its sphere", s.from);
      return out;
    case NodeSelection::Kind::node: {
      const int n = nearest_node(mesh, s.from);
      // Off the mesh by more than an element's size: a mistake rather than a coarse mesh.
      double edge = 0;
      for (int e = 0; e < mesh.element_count() && edge == 0; ++e) {
        const ElementRef r = mesh.element(e);
        for (int i = 0; i < r.count; ++i)
          if (r.nodes[i] == n)
            for (int j = 0; j < r.count; ++j)
              edge = std::max(edge, (mesh.nodes[at(r.nodes[j])] - mesh.nodes[at(n)]).norm());
      }
      if ((mesh.nodes[at(n)] - s.from).norm() > std::max(edge, slack)) fail("its place is off the mesh", s.from);
      return {n};
    }
  }
  return out;
}

std::vector<Interface> make_interfaces(const Mesh& mesh, const std::vector<InterfaceDescription>& descriptions,
                                       std::vector<RigidGroup>& groups) {
  std::vector<Interface> out;
  const auto add = [&](const InterfaceDescription& d, const std::string& name, const NodeSelection& nodes) {
    Interface f;
    f.name = name;
    f.coupling = d.coupling;
    f.axes = d.axes;
    try {
      f.nodes = select_nodes(mesh, nodes, name);
    } catch (const InputError& e) {
      const Diagnostic& m = e.diagnostics().front();
      throw InputError(d.source, m.message, m.hint);
    }
    if (f.coupling == Coupling::node && f.nodes.size() != 1)
      throw InputError(
          d.source,
          fmt::format("interface `{}`: `coupling: node` needs a single node, there are {}", name, f.nodes.size()),
          "use `coupling: mean` or `rigid`");
    weigh(mesh, d.weights != InterfaceDescription::Weights::equal, f);
    f.at = d.at.value_or(f.at);
    if (f.coupling == Coupling::node) f.at = mesh.nodes[at(f.nodes[0])];
    if (f.coupling == Coupling::rigid) {
      f.group = static_cast<int>(groups.size());
      groups.push_back({f.at, f.nodes});
    }
    out.push_back(std::move(f));
  };
  for (const auto& d : descriptions) {
    if (d.nodes.kind != NodeSelection::Kind::set || d.nodes.set.find('*') == std::string::npos) {
      add(d, d.name, d.nodes);
      continue;
    }
    bool any = false;
    for (const std::string& set : mesh.set_names())
      if (matches(d.nodes.set, set)) {
        NodeSelection one = d.nodes;
        one.set = set;
        add(d, set, one);
        any = true;
      }
    if (!any)
      throw InputError(d.source, fmt::format("interface `{}`: no set of the mesh matches `{}`", d.name, d.nodes.set));
  }
  return out;
}

PlaceRows interface_rows(const Structure& s, const Interface& f) {
  PlaceRows rows;
  const auto add_columns = [&](int first, long n) {
    for (long k = 0; k < n; ++k) rows.columns.push_back(first + static_cast<int>(k));
  };
  if (f.coupling == Coupling::rigid) {
    const auto m = s.group(f.group);
    add_columns(m.first, m.displacement.cols());
    rows.displacement = m.displacement;
    rows.rotation = m.rotation;
    rows.rotates = true;
    return rows;
  }
  if (f.coupling == Coupling::node || f.nodes.size() == 1) {
    const auto m = s.node(f.nodes[0]);
    add_columns(m.first, m.displacement.cols());
    rows.displacement = m.displacement;
    rows.rotation = m.rotation;
    rows.rotates = m.rotates;
    if (m.rotates) {
      const Vec3 offset = f.at - s.mesh().nodes[at(f.nodes[0])];
      rows.displacement += skew(offset).transpose() * m.rotation;
    }
    return rows;
  }
  Vec3 centre = Vec3::Zero();
  for (std::size_t i = 0; i < f.nodes.size(); ++i) centre += f.weights[i] * s.mesh().nodes[at(f.nodes[i])];
  // Sum l x (theta x r): symmetric, because the sum of r l^T is the integral of x x^T.
  Mat3 J = Mat3::Zero();
  for (std::size_t i = 0; i < f.nodes.size(); ++i) {
    const Vec3 r = s.mesh().nodes[at(f.nodes[i])] - centre;
    J += f.levers[i].dot(r) * Mat3::Identity() - r * f.levers[i].transpose();
  }
  J = 0.5 * (J + J.transpose()).eval();
  if (s.planar()) {
    J(0, 0) = J(1, 1) = J(2, 2);
    J(0, 1) = J(1, 0) = J(0, 2) = J(2, 0) = J(1, 2) = J(2, 1) = 0;
  }
  const Eigen::SelfAdjointEigenSolver<Mat3> spread(J);
  rows.rotates = spread.eigenvalues()[0] > 1e-10 * spread.eigenvalues()[2];
  if (!rows.rotates)
    throw InputError(
        fmt::format("interface `{}`: its nodes lie in a line, so that their mean has no rotation about it", f.name),
        "take more nodes, or a rigid coupling with a beam there");
  const Mat3 Ji = J.inverse();
  long columns = 0;
  for (int n : f.nodes) columns += s.node(n).displacement.cols();
  rows.displacement.setZero(3, columns);
  rows.rotation.setZero(3, columns);
  long c = 0;
  for (std::size_t i = 0; i < f.nodes.size(); ++i) {
    const auto m = s.node(f.nodes[i]);
    const long n = m.displacement.cols();
    add_columns(m.first, n);
    rows.rotation.middleCols(c, n) = Ji * skew(f.levers[i]) * m.displacement;
    rows.displacement.middleCols(c, n) = f.weights[i] * m.displacement;
    c += n;
  }
  if (s.planar()) rows.rotation.topRows(2).setZero();
  rows.displacement -= skew(Vec3(f.at - centre)) * rows.rotation;
  return rows;
}

namespace {

// Parent coordinates moved into the element.
Vec3 inside_parent(const ElementInfo& kind, Vec3 p) {
  for (int k = 0; k < 3; ++k) p[k] = k < kind.dimension ? p[k] : 0.0;
  const bool simplex = kind.linear == ElementType::tet4 || kind.linear == ElementType::tri3,
             wedge = kind.linear == ElementType::wedge6;
  const int bary = simplex ? kind.dimension : wedge ? 2 : 0;
  for (int k = 0; k < kind.dimension; ++k) p[k] = k < bary ? std::max(0.0, p[k]) : std::clamp(p[k], -1.0, 1.0);
  double sum = 0;
  for (int k = 0; k < bary; ++k) sum += p[k];
  if (sum > 1)
    for (int k = 0; k < bary; ++k) p[k] /= sum;
  return p;
}

struct PlaceInElement {
  int element = -1;
  Vec3 xi = Vec3::Zero();  // parent coordinates
  double miss = std::numeric_limits<double>::infinity();
};

// Of an element the point nearest to x: its parent coordinates by Newton's method, kept inside.
PlaceInElement nearest_in(const ElementRef& ref, const NodeCoordinates& c, const Vec3& x) {
  const ElementInfo& kind = info(ref.type);
  Vec3 xi = Vec3::Zero();
  for (const Vec3& p : parent_nodes(ref.type)) xi += p / kind.nodes;
  ShapeValues N;
  ShapeGradients dN, g;
  Mat3 J;
  for (int it = 0; it < 30; ++it) {
    shape_functions(ref.type, xi, N, dN);
    spatial_gradients(kind.dimension, dN, c, g, J);
    Vec3 r = x - Vec3(c.transpose() * N);
    if (kind.dimension == 2) r.z() = 0;
    const Vec3 step = J.transpose().inverse() * r;
    const Vec3 next = inside_parent(kind, xi + step);
    const double change = (next - xi).norm();
    xi = next;
    if (change < 1e-14) break;
  }
  shape_functions(ref.type, xi, N, dN);
  Vec3 r = x - Vec3(c.transpose() * N);
  if (kind.dimension == 2) r.z() = 0;
  PlaceInElement place;
  place.xi = xi;
  place.miss = r.norm();
  return place;
}

PlaceInElement find_element(const Mesh& mesh, const Vec3& x) {
  PlaceInElement best;
  const double met = 1e-12 * mesh.size();
  for (int e = 0; e < mesh.element_count(); ++e) {
    const ElementRef ref = mesh.element(e);
    if (info(ref.type).dimension < 2) continue;
    const NodeCoordinates c = mesh.coordinates(ref);
    const Vec3 lo = c.colwise().minCoeff(), hi = c.colwise().maxCoeff();
    const double away = (x.cwiseMin(hi).cwiseMax(lo) - x).norm();
    if (away > 0.05 * (hi - lo).norm() || away > best.miss) continue;
    PlaceInElement place = nearest_in(ref, c, x);
    if (place.miss < best.miss) {
      place.element = e;
      best = place;
    }
    if (best.miss < met) break;
  }
  return best;
}

}  // namespace

PlaceRows point_rows(const Structure& s, const Vec3& x, const std::string& name) {
  const Mesh& mesh = s.mesh();
  PlaceRows rows;
  if (s.from_matrices() || mesh.dimension() == 1) {
    Interface f;
    f.name = name;
    f.coupling = Coupling::node;
    f.nodes = {nearest_node(mesh, x)};
    f.at = x;
    if (!s.node(f.nodes[0]).rotates) f.at = mesh.nodes[at(f.nodes[0])];
    return interface_rows(s, f);
  }
  const PlaceInElement place = find_element(mesh, x);
  if (place.element < 0 || place.miss > 1e-3 * mesh.size()) {
    const Vec3 n = mesh.nodes[at(nearest_node(mesh, x))];
    throw InputError(fmt::format("point `{}` at ({:g}, {:g}, {:g}) m lies off the mesh", name, x.x(), x.y(), x.z()),
                     fmt::format("the nearest node is at ({:g}, {:g}, {:g}) m", n.x(), n.y(), n.z()));
  }
  const ElementRef ref = mesh.element(place.element);
  const NodeCoordinates c = mesh.coordinates(ref);
  ShapeValues N;
  ShapeGradients dN, g;
  Mat3 J;
  shape_functions(ref.type, place.xi, N, dN);
  spatial_gradients(info(ref.type).dimension, dN, c, g, J);
  long columns = 0;
  for (int i = 0; i < ref.count; ++i) columns += s.node(ref.nodes[i]).displacement.cols();
  rows.displacement.setZero(3, columns);
  rows.rotation.setZero(3, columns);
  rows.rotates = true;
  long k = 0;
  for (int i = 0; i < ref.count; ++i) {
    const auto m = s.node(ref.nodes[i]);
    const long n = m.displacement.cols();
    for (long q = 0; q < n; ++q) rows.columns.push_back(m.first + static_cast<int>(q));
    rows.displacement.middleCols(k, n) = N[i] * m.displacement;
    rows.rotation.middleCols(k, n) = 0.5 * skew(Vec3(g.row(i).transpose())) * m.displacement;  // curl u / 2
    k += n;
  }
  return rows;
}

BoundaryRows boundary_rows(const Structure& s, const std::vector<Interface>& interfaces) {
  BoundaryRows out;
  std::vector<Eigen::Triplet<double>> entries;
  std::vector<double> scale;
  int row = 0;
  const double size = s.mesh().size();
  const auto put = [&](const PlaceRows& p, const Mat& m, int component, double row_scale) {
    for (std::size_t c = 0; c < p.columns.size(); ++c)
      if (m(component, static_cast<long>(c)) != 0)
        entries.emplace_back(row, p.columns[c], m(component, static_cast<long>(c)));
    scale.push_back(row_scale);
    ++row;
  };
  for (const Interface& f : interfaces) {
    const PlaceRows p = interface_rows(s, f);
    out.first.push_back(row);
    out.rotations.push_back(p.rotates);
    for (int k = 0; k < (s.planar() ? 2 : 3); ++k) put(p, p.displacement, k, 1);
    if (!p.rotates) continue;
    // Radius of the group, so that rotation rows have the size of displacements (T-18).
    double radius = 0;
    for (int n : f.nodes) radius = std::max(radius, (s.mesh().nodes[at(n)] - f.at).norm());
    if (radius == 0) radius = 0.1 * size;
    for (int k = s.planar() ? 2 : 0; k < 3; ++k) put(p, p.rotation, k, radius);
  }
  out.C.resize(row, s.freedoms());
  out.C.setFromTriplets(entries.begin(), entries.end());
  out.scale = Eigen::Map<const Vec>(scale.data(), static_cast<long>(scale.size()));
  return out;
}

}  // namespace clatter::fem
