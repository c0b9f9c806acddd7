#include "fem/element_type.hpp"

#include <cmath>

namespace clatter::fem {
namespace {

std::vector<std::vector<int>> with_middles(const ElementInfo& e, const std::vector<std::vector<int>>& corner_faces) {
  std::vector<std::vector<int>> faces = corner_faces;
  if (e.nodes == e.corners) return faces;
  for (auto& face : faces) {
    const std::size_t k = face.size();
    const std::size_t edges = e.dimension == 2 ? 1 : k;
    for (std::size_t i = 0; i < edges; ++i) {
      const int a = face[i], b = face[(i + 1) % k];
      for (std::size_t m = 0; m < e.edges.size(); ++m)
        if ((e.edges[m][0] == a && e.edges[m][1] == b) || (e.edges[m][0] == b && e.edges[m][1] == a))
          face.push_back(e.corners + static_cast<int>(m));
    }
  }
  return faces;
}

std::array<ElementInfo, element_types> make_infos() {
  using Edges = std::vector<std::array<int, 2>>;
  using Faces = std::vector<std::vector<int>>;
  const Edges tet_edges{{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}};
  const Faces tet_faces{{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {2, 0, 3}};
  const Edges hex_edges{{0, 1}, {1, 2}, {2, 3}, {3, 0}, {4, 5}, {5, 6}, {6, 7}, {7, 4}, {0, 4}, {1, 5}, {2, 6}, {3, 7}};
  const Faces hex_faces{{0, 3, 2, 1}, {4, 5, 6, 7}, {0, 1, 5, 4}, {1, 2, 6, 5}, {2, 3, 7, 6}, {3, 0, 4, 7}};
  const Edges wedge_edges{{0, 1}, {1, 2}, {2, 0}, {3, 4}, {4, 5}, {5, 3}, {0, 3}, {1, 4}, {2, 5}};
  const Faces wedge_faces{{0, 2, 1}, {3, 4, 5}, {0, 1, 4, 3}, {1, 2, 5, 4}, {2, 0, 3, 5}};
  const Edges tri_edges{{0, 1}, {1, 2}, {2, 0}};
  const Edges quad_edges{{0, 1}, {1, 2}, {2, 3}, {3, 0}};
  const Faces tri_faces{{0, 1}, {1, 2}, {2, 0}};
  const Faces quad_faces{{0, 1}, {1, 2}, {2, 3}, {3, 0}};
  using T = ElementType;
  std::array<ElementInfo, element_types> all;
  const auto put = [&](T type, std::string_view name, int dimension, int corners, int nodes, const Edges& edges,
                       const Faces& faces, T linear, T quadratic) {
    ElementInfo& e = all[static_cast<std::size_t>(type)];
    e = {name, dimension, corners, nodes, edges, {}, linear, quadratic};
    e.faces = with_middles(e, faces);
  };
  put(T::tet4, "tet4", 3, 4, 4, tet_edges, tet_faces, T::tet4, T::tet10);
  put(T::tet10, "tet10", 3, 4, 10, tet_edges, tet_faces, T::tet4, T::tet10);
  put(T::hex8, "hex8", 3, 8, 8, hex_edges, hex_faces, T::hex8, T::hex20);
  put(T::hex20, "hex20", 3, 8, 20, hex_edges, hex_faces, T::hex8, T::hex20);
  put(T::wedge6, "wedge6", 3, 6, 6, wedge_edges, wedge_faces, T::wedge6, T::wedge15);
  put(T::wedge15, "wedge15", 3, 6, 15, wedge_edges, wedge_faces, T::wedge6, T::wedge15);
  put(T::tri3, "tri3", 2, 3, 3, tri_edges, tri_faces, T::tri3, T::tri6);
  put(T::tri6, "tri6", 2, 3, 6, tri_edges, tri_faces, T::tri3, T::tri6);
  put(T::quad4, "quad4", 2, 4, 4, quad_edges, quad_faces, T::quad4, T::quad8);
  put(T::quad8, "quad8", 2, 4, 8, quad_edges, quad_faces, T::quad4, T::quad8);
  put(T::line2, "line2", 1, 2, 2, {{0, 1}}, {}, T::line2, T::line2);
  return all;
}

// Barycentric L_0 = 1 - sum xi, L_i = xi_i; quadratic: L (2 L - 1) and 4 L_a L_b.
void simplex(int corners, bool quadratic, const ElementInfo& e, const Vec3& xi, ShapeValues& N, ShapeGradients& dN) {
  const int d = corners - 1;
  double L[4] = {1, 0, 0, 0};
  Vec3 dL[4];
  dL[0].setZero();
  for (int i = 0; i < d; ++i) {
    L[i + 1] = xi[i];
    L[0] -= xi[i];
    dL[0][i] = -1;
    dL[i + 1] = Vec3::Unit(i);
  }
  for (int i = 0; i < corners; ++i) {
    N[i] = quadratic ? L[i] * (2 * L[i] - 1) : L[i];
    dN.row(i) = (quadratic ? 4 * L[i] - 1 : 1.0) * dL[i].transpose();
  }
  if (!quadratic) return;
  for (std::size_t k = 0; k < e.edges.size(); ++k) {
    const int a = e.edges[k][0], b = e.edges[k][1], r = corners + static_cast<int>(k);
    N[r] = 4 * L[a] * L[b];
    dN.row(r) = 4 * (L[a] * dL[b] + L[b] * dL[a]).transpose();
  }
}

// Products of (1 + s x)/2 for corners; serendipity middles (1 - x^2) (1 + s y)/2 ..., corners times (sum s x - (d-1))
// (Zienkiewicz and Taylor, The Finite Element Method, chapter on serendipity families).
void brick(int d, bool quadratic, const ElementInfo& e, const std::vector<Vec3>& parent, const Vec3& xi, ShapeValues& N,
           ShapeGradients& dN) {
  const double scale = d == 3 ? 0.125 : d == 2 ? 0.25 : 0.5;
  for (int i = 0; i < e.nodes; ++i) {
    const Vec3& s = parent[static_cast<std::size_t>(i)];
    double f[3], df[3];
    bool middle = false;
    for (int k = 0; k < d; ++k) {
      if (s[k] == 0) {
        f[k] = 1 - xi[k] * xi[k];
        df[k] = -2 * xi[k];
        middle = true;
      } else {
        f[k] = 1 + s[k] * xi[k];
        df[k] = s[k];
      }
    }
    double product = 1;
    for (int k = 0; k < d; ++k) product *= f[k];
    Vec3 g = Vec3::Zero();
    for (int k = 0; k < d; ++k) {
      g[k] = df[k];
      for (int j = 0; j < d; ++j)
        if (j != k) g[k] *= f[j];
    }
    if (middle) {
      N[i] = 2 * scale * product;
      dN.row(i) = 2 * scale * g.transpose();
    } else if (quadratic) {
      double q = 1 - d;
      for (int k = 0; k < d; ++k) q += s[k] * xi[k];
      N[i] = scale * product * q;
      for (int k = 0; k < 3; ++k) dN(i, k) = k < d ? scale * (g[k] * q + product * s[k]) : 0;
    } else {
      N[i] = scale * product;
      dN.row(i) = scale * g.transpose();
    }
  }
}

// Triangle times line; quadratic by the serendipity wedge of 15 nodes.
void wedge(bool quadratic, const ElementInfo& e, const Vec3& xi, ShapeValues& N, ShapeGradients& dN) {
  const double L[3] = {1 - xi[0] - xi[1], xi[0], xi[1]};
  const Vec3 dL[3] = {{-1, -1, 0}, {1, 0, 0}, {0, 1, 0}};
  const double z = xi[2];
  for (int i = 0; i < 6; ++i) {
    const int t = i % 3;
    const double s = i < 3 ? -1 : 1;
    const double l = 0.5 * (1 + s * z);
    if (!quadratic) {
      N[i] = L[t] * l;
      dN.row(i) = l * dL[t].transpose();
      dN(i, 2) += L[t] * 0.5 * s;
    } else {
      const double q = 2 * L[t] - 2 + s * z;  // L (1 + s z)/2 (2 L - 2 + s z)
      N[i] = L[t] * l * q;
      dN.row(i) = l * (q + 2 * L[t]) * dL[t].transpose();
      dN(i, 2) += L[t] * (0.5 * s * q + l * s);
    }
  }
  if (!quadratic) return;
  for (std::size_t k = 0; k < e.edges.size(); ++k) {
    const int a = e.edges[k][0], b = e.edges[k][1], r = 6 + static_cast<int>(k);
    if (k < 6) {
      const double s = k < 3 ? -1 : 1, l = 0.5 * (1 + s * z);
      const int ta = a % 3, tb = b % 3;
      N[r] = 4 * L[ta] * L[tb] * l;
      dN.row(r) = 4 * l * (L[ta] * dL[tb] + L[tb] * dL[ta]).transpose();
      dN(r, 2) += 4 * L[ta] * L[tb] * 0.5 * s;
    } else {
      N[r] = L[a] * (1 - z * z);
      dN.row(r) = (1 - z * z) * dL[a].transpose();
      dN(r, 2) -= L[a] * 2 * z;
    }
  }
}

std::vector<Vec3> make_parent(ElementType type) {
  const ElementInfo& e = info(type);
  std::vector<Vec3> x;
  switch (e.linear) {
    case ElementType::tet4:
      x = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
      break;
    case ElementType::tri3:
      x = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
      break;
    case ElementType::wedge6:
      x = {{0, 0, -1}, {1, 0, -1}, {0, 1, -1}, {0, 0, 1}, {1, 0, 1}, {0, 1, 1}};
      break;
    case ElementType::quad4:
      x = {{-1, -1, 0}, {1, -1, 0}, {1, 1, 0}, {-1, 1, 0}};
      break;
    case ElementType::line2:
      x = {{-1, 0, 0}, {1, 0, 0}};
      break;
    default:
      x = {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1}, {-1, -1, 1}, {1, -1, 1}, {1, 1, 1}, {-1, 1, 1}};
  }
  if (e.nodes > e.corners)
    for (const auto& edge : e.edges)
      x.push_back(0.5 * (x[static_cast<std::size_t>(edge[0])] + x[static_cast<std::size_t>(edge[1])]));
  return x;
}

struct Gauss {
  std::vector<double> x, w;
};

// Gauss-Legendre on [-1, 1].
Gauss gauss(int n) {
  switch (n) {
    case 1:
      return {{0}, {2}};
    case 2: {
      const double a = 1 / std::sqrt(3.0);
      return {{-a, a}, {1, 1}};
    }
    case 3: {
      const double a = std::sqrt(0.6);
      return {{-a, 0, a}, {5.0 / 9, 8.0 / 9, 5.0 / 9}};
    }
    default: {
      const double r = 2.0 / 7 * std::sqrt(1.2);
      const double a = std::sqrt(3.0 / 7 - r), b = std::sqrt(3.0 / 7 + r);
      const double s = std::sqrt(30.0) / 36;
      return {{-b, -a, a, b}, {0.5 - s, 0.5 + s, 0.5 + s, 0.5 - s}};
    }
  }
}

using Rule = std::vector<std::pair<Vec3, double>>;

Rule product_rule(int d, int n) {
  const Gauss g = gauss(n);
  Rule rule;
  for (int k = 0; k < (d > 2 ? n : 1); ++k)
    for (int j = 0; j < (d > 1 ? n : 1); ++j)
      for (int i = 0; i < n; ++i) {
        const auto at = [&](int m) { return static_cast<std::size_t>(m); };
        rule.emplace_back(Vec3(g.x[at(i)], d > 1 ? g.x[at(j)] : 0, d > 2 ? g.x[at(k)] : 0),
                          g.w[at(i)] * (d > 1 ? g.w[at(j)] : 1) * (d > 2 ? g.w[at(k)] : 1));
      }
  return rule;
}

// Collapsed product rule: the square or cube squeezed onto the simplex. n points a direction integrate polynomials of
// degree 2 n - 2 (triangle) or 2 n - 3 (tetrahedron) exactly.
Rule collapsed_rule(int d, int n) {
  Rule rule;
  for (const auto& [x, w] : product_rule(d, n)) {
    const double u = 0.5 * (1 + x[0]), v = 0.5 * (1 + x[1]), t = d == 3 ? 0.5 * (1 + x[2]) : 0;
    if (d == 2)
      rule.emplace_back(Vec3(u, v * (1 - u), 0), 0.25 * w * (1 - u));
    else
      rule.emplace_back(Vec3(u, v * (1 - u), t * (1 - u) * (1 - v)), 0.125 * w * (1 - u) * (1 - u) * (1 - v));
  }
  return rule;
}

Rule wedge_rule(const Rule& triangle, int n) {
  const Gauss g = gauss(n);
  Rule rule;
  for (const auto& [x, w] : triangle)
    for (std::size_t k = 0; k < g.x.size(); ++k) rule.emplace_back(Vec3(x[0], x[1], g.x[k]), w * g.w[k]);
  return rule;
}

Rule three_point_triangle() {
  return {{{1.0 / 6, 1.0 / 6, 0}, 1.0 / 6}, {{2.0 / 3, 1.0 / 6, 0}, 1.0 / 6}, {{1.0 / 6, 2.0 / 3, 0}, 1.0 / 6}};
}

Rule four_point_tetrahedron() {
  const double b = (5 - std::sqrt(5.0)) / 20, a = 1 - 3 * b;
  return {{{b, b, b}, 1.0 / 24}, {{a, b, b}, 1.0 / 24}, {{b, a, b}, 1.0 / 24}, {{b, b, a}, 1.0 / 24}};
}

Rule rule_of(ElementType type, bool mass) {
  using T = ElementType;
  switch (type) {
    case T::tet4:
      return mass ? four_point_tetrahedron() : Rule{{{0.25, 0.25, 0.25}, 1.0 / 6}};
    case T::tet10:
      return mass ? collapsed_rule(3, 4) : four_point_tetrahedron();
    case T::hex8:
      return product_rule(3, mass ? 3 : 2);
    case T::hex20:
      return product_rule(3, mass ? 4 : 3);
    case T::wedge6:
      return mass ? wedge_rule(collapsed_rule(2, 3), 3) : wedge_rule(three_point_triangle(), 2);
    case T::wedge15:
      return mass ? wedge_rule(collapsed_rule(2, 4), 4) : wedge_rule(collapsed_rule(2, 3), 3);
    case T::tri3:
      return mass ? three_point_triangle() : Rule{{{1.0 / 3, 1.0 / 3, 0}, 0.5}};
    case T::tri6:
      return mass ? collapsed_rule(2, 4) : three_point_triangle();
    case T::quad4:
      return product_rule(2, mass ? 3 : 2);
    case T::quad8:
      return product_rule(2, mass ? 4 : 3);
    case T::line2:
      return product_rule(1, mass ? 4 : 2);
  }
  return {};
}

using Table = std::array<std::vector<QuadraturePoint>, element_types>;

Table make_table(bool mass) {
  Table table;
  for (int t = 0; t < element_types; ++t) {
    const auto type = static_cast<ElementType>(t);
    for (const auto& [xi, w] : rule_of(type, mass)) {
      QuadraturePoint p{xi, w, {}, {}};
      shape_functions(type, xi, p.N, p.dN);
      table[static_cast<std::size_t>(t)].push_back(p);
    }
  }
  return table;
}

}  // namespace

const ElementInfo& info(ElementType type) {
  static const std::array<ElementInfo, element_types> all = make_infos();
  return all[static_cast<std::size_t>(type)];
}

const std::vector<Vec3>& parent_nodes(ElementType type) {
  static const std::array<std::vector<Vec3>, element_types> all = [] {
    std::array<std::vector<Vec3>, element_types> x;
    for (int t = 0; t < element_types; ++t) x[static_cast<std::size_t>(t)] = make_parent(static_cast<ElementType>(t));
    return x;
  }();
  return all[static_cast<std::size_t>(type)];
}

void shape_functions(ElementType type, const Vec3& xi, ShapeValues& N, ShapeGradients& dN) {
  const ElementInfo& e = info(type);
  N.resize(e.nodes);
  dN.setZero(e.nodes, 3);
  const bool quadratic = e.nodes > e.corners;
  switch (e.linear) {
    case ElementType::tet4:
      simplex(4, quadratic, e, xi, N, dN);
      break;
    case ElementType::tri3:
      simplex(3, quadratic, e, xi, N, dN);
      break;
    case ElementType::wedge6:
      wedge(quadratic, e, xi, N, dN);
      break;
    default:
      brick(e.dimension, quadratic, e, parent_nodes(type), xi, N, dN);
  }
}

const std::vector<QuadraturePoint>& stiffness_rule(ElementType type) {
  static const Table table = make_table(false);
  return table[static_cast<std::size_t>(type)];
}

const std::vector<QuadraturePoint>& mass_rule(ElementType type) {
  static const Table table = make_table(true);
  return table[static_cast<std::size_t>(type)];
}

double spatial_gradients(int dimension, const ShapeGradients& dN, const NodeCoordinates& x, ShapeGradients& dNdx,
                         Mat3& J) {
  J.noalias() = dN.transpose() * x;
  if (dimension == 2) {
    J.row(2) = Vec3::UnitZ();
    J(0, 2) = J(1, 2) = 0;
  }
  dNdx.noalias() = dN * J.inverse().transpose();
  return J.determinant();
}

}  // namespace clatter::fem
