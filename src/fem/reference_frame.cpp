#include "fem/reference_frame.hpp"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <vector>

#include "base/error.hpp"

namespace clatter::fem {

namespace {
std::size_t at(int i) { return static_cast<std::size_t>(i); }
}  // namespace

BoundaryRows principal_frame(const Structure& s) {
  constexpr double kDistinct = 0.01;
  const Mat3& E = s.second_moments();
  Mat3 axes = Mat3::Identity();
  if (s.planar()) {
    const double angle = 0.5 * std::atan2(2 * E(0, 1), E(0, 0) - E(1, 1));
    axes.topLeftCorner<2, 2>() << std::cos(angle), -std::sin(angle), std::sin(angle), std::cos(angle);
  } else {
    axes = Eigen::SelfAdjointEigenSolver<Mat3>(E).eigenvectors();
  }
  BoundaryRows rows;
  std::vector<Eigen::Triplet<double>> entries;
  std::vector<double> scale;
  const auto put = [&](const std::function<Vec3(const Vec3&)>& field, double divisor, double size) {
    const Vec load = s.body_load(field) / divisor;
    for (int i = 0; i < load.size(); ++i)
      if (load[i] != 0) entries.emplace_back(static_cast<int>(scale.size()), i, load[i]);
    scale.push_back(size);
  };
  const int axes_count = s.planar() ? 2 : 3;
  for (int k = 0; k < axes_count; ++k) put([&](const Vec3&) { return Vec3(Vec3::Unit(k)); }, s.mass(), 1);
  for (int a = 0; a < axes_count; ++a)
    for (int b = a + 1; b < axes_count; ++b) {
      const Vec3 pa = axes.col(a), pb = axes.col(b);
      const double Ea = pa.dot(E * pa), Eb = pb.dot(E * pb);
      if (!(std::abs(Ea - Eb) > kDistinct * E.trace()))
        throw InputError(fmt::format("two principal moments of inertia of the body are equal or nearly so ({:.4g} and "
                                     "{:.4g} kg m^2): its principal axes do not tell how it has turned",
                                     E.trace() - Ea, E.trace() - Eb),
                         "use `reference: mean-axes`");
      put([&](const Vec3& x) { return Vec3(x.dot(pa) * pb + x.dot(pb) * pa); }, Ea - Eb,
          std::sqrt(E.trace() / s.mass()));
    }
  rows.C.resize(static_cast<int>(scale.size()), s.freedoms());
  rows.C.setFromTriplets(entries.begin(), entries.end());
  rows.scale = Eigen::Map<const Vec>(scale.data(), static_cast<long>(scale.size()));
  return rows;
}

BoundaryRows nodal_frame(const Structure& s, const ReferenceDescription& d) {
  std::vector<Interface> f;
  for (const Vec3& x : d.nodes) {
    NodeSelection sel;
    sel.kind = NodeSelection::Kind::node;
    sel.from = x;
    Interface i;
    i.name = "reference";
    i.coupling = InterfaceDescription::Coupling::node;
    i.nodes = select_nodes(s.mesh(), sel, "reference");
    i.at = s.mesh().nodes[at(i.nodes[0])];
    f.push_back(i);
    if (s.planar() && f.size() == 2) break;
  }
  const Vec3 e1 = f[1].at - f[0].at;
  BoundaryRows rows;
  std::vector<Eigen::Triplet<double>> entries;
  int row = 0;
  const auto put = [&](const Interface& i, const Vec3& direction) {
    const PlaceRows p = interface_rows(s, i);
    for (std::size_t c = 0; c < p.columns.size(); ++c)
      if (const double v = direction.dot(p.displacement.col(static_cast<long>(c))); v != 0)
        entries.emplace_back(row, p.columns[c], v);
    ++row;
  };
  if (e1.norm() < 1e-9 * s.mesh().size()) throw InputError("the first two reference nodes are the same");
  if (s.planar()) {
    put(f[0], Vec3::UnitX());
    put(f[0], Vec3::UnitY());
    put(f[1], Vec3(-e1.y(), e1.x(), 0).normalized());
  } else {
    const Vec3 e3 = e1.cross(f[2].at - f[0].at);
    if (e3.norm() < 1e-9 * e1.squaredNorm()) throw InputError("the three reference nodes lie in a line");
    const Vec3 e2 = e3.cross(e1);
    for (int k = 0; k < 3; ++k) put(f[0], Vec3::Unit(k));
    put(f[1], e2.normalized());
    put(f[1], e3.normalized());
    put(f[2], e3.normalized());
  }
  rows.C.resize(row, s.freedoms());
  rows.C.setFromTriplets(entries.begin(), entries.end());
  rows.scale = Vec::Ones(row);
  return rows;
}

}  // namespace clatter::fem
