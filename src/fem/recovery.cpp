// Stresses are taken at the points of the stiffness rule, where they are most accurate, fitted by a linear function of
// the parent coordinates and evaluated at the nodes, then averaged over the elements of a node.
#include "fem/recovery.hpp"

#include <cmath>

namespace clatter::fem {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// Nodes x points: from stresses at the points to stresses at the nodes.
Mat extrapolation(ElementType type) {
  const auto& rule = stiffness_rule(type);
  const auto& nodes = parent_nodes(type);
  const int d = info(type).dimension;
  const long points = static_cast<long>(rule.size()), terms = points > d ? d + 1 : 1;
  Mat P(points, terms), Q(static_cast<long>(nodes.size()), terms);
  const auto fill = [&](auto row, const Vec3& xi) {
    row[0] = 1;
    for (long k = 1; k < terms; ++k) row[k] = xi[k - 1];
  };
  for (long i = 0; i < points; ++i) fill(P.row(i), rule[static_cast<std::size_t>(i)].xi);
  for (long i = 0; i < Q.rows(); ++i) fill(Q.row(i), nodes[static_cast<std::size_t>(i)]);
  return Q * P.colPivHouseholderQr().solve(Mat::Identity(points, points));
}

}  // namespace

Recovery::Recovery(const Structure& s, const Mat& shapes, bool with_stress)
    : mesh_(s.mesh()), origin_(s.centre()), displacement_(s.nodal(shapes)) {
  if (!with_stress) return;
  const long n = shapes.cols();
  stress_ = Mat::Zero(6 * s.node_count(), n);
  std::vector<int> uses(at(s.node_count()), 0);
  int index = 0;
  PointStresses sigma;
  for (const auto& b : mesh_.blocks) {
    if (b.type == ElementType::line2) {
      index += b.count();
      continue;
    }
    const Mat map = extrapolation(b.type);
    const int nodes = info(b.type).nodes, d = info(b.type).dimension;
    // Stresses at the nodes (6 rows each) for unit displacements of the nodes, then for those of the shapes.
    Mat operation(6 * nodes, d * nodes), u(d * nodes, n), at_nodes;
    for (int k = 0; k < b.count(); ++k, ++index) {
      const ElementRef e{b.type, b.connectivity.data() + static_cast<std::ptrdiff_t>(k) * nodes, nodes};
      const StressOperator op(b.type, mesh_.coordinates(e), s.properties_of(index), s.formulation());
      for (int c = 0; c < d * nodes; ++c) {
        op.apply(Vec::Unit(d * nodes, c), sigma);
        operation.col(c).reshaped(6, nodes).noalias() = sigma * map.transpose();
      }
      for (int i = 0; i < nodes; ++i) {
        ++uses[at(e.nodes[i])];
        u.middleRows(d * i, d) = displacement_.middleRows(3 * e.nodes[i], d);
      }
      at_nodes.noalias() = operation * u;
      for (int i = 0; i < nodes; ++i) stress_.middleRows<6>(6 * e.nodes[i]) += at_nodes.middleRows<6>(6 * i);
    }
  }
  for (int i = 0; i < s.node_count(); ++i)
    if (uses[at(i)] > 1) stress_.middleRows<6>(6 * i) /= uses[at(i)];
}

Vec Recovery::von_mises(const Vec& eta) const {
  const Vec s = stress(eta);
  Vec out(s.size() / 6);
  von_mises_of(s, out.data());
  return out;
}

Mat Recovery::stress_rows(const std::vector<int>& nodes) const {
  Mat rows(6 * static_cast<long>(nodes.size()), stress_.cols());
  for (std::size_t i = 0; i < nodes.size(); ++i)
    rows.middleRows<6>(6 * static_cast<long>(i)) = stress_.middleRows<6>(6 * nodes[i]);
  return rows;
}

void Recovery::von_mises_of(const Vec& s, double* out) {
  for (long i = 0; i < s.size() / 6; ++i) {
    const auto t = s.segment<6>(6 * i);
    const double a = t[0] - t[1], b = t[1] - t[2], c = t[2] - t[0];
    out[i] = std::sqrt(0.5 * (a * a + b * b + c * c) + 3 * t.tail<3>().squaredNorm());
  }
}

std::pair<double, int> Recovery::largest_von_mises(const Vec& eta) const {
  long node = 0;
  const double value = von_mises(eta).maxCoeff(&node);
  return {value, static_cast<int>(node)};
}

}  // namespace clatter::fem
