#include "contact/rows.hpp"

#include <algorithm>

namespace clatter::contact {

void Rows::begin(int rows) {
  count = rows;
  const std::size_t n = size(), all = n * static_cast<std::size_t>(rows);
  for (std::vector<double>* x : {&g, &rate_q, &second_q, &second_v}) x->assign(all, 0.0);
  gap_q.assign(n, 0.0);
  K.assign(n * n, 0.0);
}

void ForceSlopes::add_sliding(int first, int count, const double* d, double across, double along) {
  for (int p = 0; p < count; ++p)
    for (int q = 0; q < count; ++q)
      by_rate[first + p][first + q] -= across * ((p == q ? 1 : 0) - d[p] * d[q]) + along * d[p] * d[q];
}

void add_forces(const Rows& rows, const ForceSlopes* slopes, Tangents& out) {
  const std::size_t n = rows.size();
  const int count = rows.count;
  const std::span<double> K = out.K.values(), C = out.C.values();
  for (std::size_t j = 0; j < n; ++j) {
    double dq[ForceSlopes::most] = {}, dv[ForceSlopes::most] = {};
    bool follows = false, damps = false;
    if (slopes != nullptr)
      for (int k = 0; k < count; ++k) {
        dq[k] = slopes->by_gap[k] * rows.gap_q[j];
        for (int i = 0; i < count; ++i) {
          const std::size_t at = static_cast<std::size_t>(i) * n + j;
          dq[k] += slopes->by_rate[k][i] * rows.rate_q[at];
          dv[k] += slopes->by_rate[k][i] * rows.g[at];
        }
        follows = follows || dq[k] != 0;
        damps = damps || dv[k] != 0;
      }
    const int column = rows.columns[j];
    for (std::size_t l = 0; l < n; ++l) {
      const auto entry = static_cast<std::size_t>(out.K.slot(rows.columns[l], column));
      double k_lj = rows.K[j * n + l], c_lj = 0;
      if (follows || damps)
        for (int k = 0; k < count; ++k) {
          const double g = rows.g[static_cast<std::size_t>(k) * n + l];
          k_lj -= g * dq[k];
          c_lj -= g * dv[k];
        }
      K[entry] += k_lj;
      if (damps) C[entry] += c_lj;
    }
  }
}

void add_row(const Rows& rows, int k, int index, Tangents& out) {
  const std::size_t n = rows.size(), first = static_cast<std::size_t>(k) * n;
  for (std::size_t j = 0; j < n; ++j) {
    const auto entry = static_cast<std::size_t>(out.G.slot(index, rows.columns[j]));
    out.G.values()[entry] += rows.g[first + j];
    out.Vq.values()[entry] += rows.rate_q[first + j];
    out.Aq.values()[entry] += rows.second_q[first + j];
    out.Av.values()[entry] += rows.second_v[first + j];
    if (out.N) out.N->values()[entry] += rows.g[first + j];
  }
}

void add_direction(const Rows& rows, int k, int index, double factor, Tangents& out) {
  if (!out.N || factor == 0) return;
  const std::span<const double> g = rows.gradient(k);
  for (std::size_t j = 0; j < rows.size(); ++j) out.N->add(index, rows.columns[j], factor * g[j]);
}

LinkCarrier::LinkCarrier(const Engine& engine) : engine_(engine) {
  std::size_t longest = 0;
  for (const auto& path : engine.system().tree.path) longest = std::max(longest, path.size());
  for (auto& p : points_) p.reserve(static_cast<int>(longest));
}

void LinkCarrier::place(const int link[2], const Vec3 at[2], const Vec3 velocity[2], std::vector<int>& columns) {
  H_.setZero();
  for (int b = 0; b < 2; ++b) {
    points_[b].n = 0;
    if (link[b] < 0) continue;
    engine_.point_columns(link[b], at[b], velocity[b], points_[b]);
    const std::vector<int>& path = engine_.system().tree.path[static_cast<std::size_t>(link[b])];
    columns.insert(columns.end(), path.begin(), path.end());
  }
}

void LinkCarrier::place(int link1, int link2, std::vector<int>& columns) {
  const int link[2] = {link1, link2};
  Vec3 at[2], velocity[2];
  for (int b = 0; b < 2; ++b) {
    if (link[b] < 0) continue;
    const LinkMotion& m = engine_.links().motion[static_cast<std::size_t>(link[b])];
    at[b] = m.p;
    velocity[b] = m.v;
  }
  place(link, at, velocity, columns);
}

void LinkCarrier::add(const LinkRow& row, double scale, int k, bool accelerations, Rows& out, std::size_t first) const {
  const std::size_t at = static_cast<std::size_t>(k) * out.size() + first;
  std::size_t j = 0;
  for (int b = 0; b < 2; ++b) {
    const TreeTangent::PointColumns& p = points_[b];
    const Vec6 g = row.g->segment<6>(6 * b), rate_x = row.rate_x->segment<6>(6 * b);
    const Vec6 bias_x = row.bias_x->segment<6>(6 * b), xi = row.bias_xi->segment<6>(6 * b);
    for (int c = 0; c < p.n; ++c, ++j) {
      out.g[at + j] += scale * p.J.col(c).dot(g);
      out.rate_q[at + j] += scale * (p.J.col(c).dot(rate_x) + p.Zq.col(c).dot(g));
      if (!accelerations) continue;
      out.second_q[at + j] += scale * (p.J.col(c).dot(bias_x) + p.Zq.col(c).dot(xi) + p.Aq.col(c).dot(g));
      out.second_v[at + j] += scale * (p.J.col(c).dot(xi) + p.Av.col(c).dot(g));
    }
  }
}

// The lever arms of a force turn with its links: the applied wrenches that the engine has of it do not.
void LinkCarrier::turn(const LinkRow& row, double force) {
  if (force == 0) return;
  H_ -= force * *row.H;
  H_.block<3, 3>(3, 0) += force * skew<double>(row.g->segment<3>(0));
  H_.block<3, 3>(9, 6) += force * skew<double>(row.g->segment<3>(6));
}

void LinkCarrier::finish(Rows& out, std::size_t first) {
  const int na = points_[0].n, n = static_cast<int>(size());
  const auto J = [&](int j) { return j < na ? points_[0].J.col(j) : points_[1].J.col(j - na); };
  for (int j = 0; j < n; ++j) {
    const Eigen::Matrix<double, 12, 1> Hx = H_.middleCols<6>(j < na ? 0 : 6) * J(j);
    for (int l = 0; l < n; ++l)
      out.turn(first + static_cast<std::size_t>(l), first + static_cast<std::size_t>(j)) +=
          J(l).dot(l < na ? Hx.head<6>() : Hx.tail<6>());
  }
}

}  // namespace clatter::contact
