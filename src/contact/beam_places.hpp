// What the rows of two beams depend on, as the kernel of their contact sees it: a few vectors, each a sum of nodal ones
// (for beam_rows.cpp and beam_tangents.cpp).
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "base/error.hpp"
#include "contact/beam_touch.hpp"

namespace clatter::contact {

// Rows are kept from the master to the slave; from the second beam to the first the basis turns with n and t1.
struct Turned {
  double basis[3] = {1, 1, 1}, row[3] = {1, 1, 1};
  explicit Turned(bool second) {
    if (!second) return;
    basis[0] = basis[1] = -1;
    row[2] = -1;
  }
};

// Vectors that the kernel sees of a station, linear in the nodal ones: of the slave, of the master, of the sections of
// both where they turn skins, of the ends of the master that cut the segment. kTurn derivatives of a section: biases of
// rigid laws follow its slope too.
template <int D, bool kEdges, int kTurn>
struct Places {
  static constexpr int kDim = D, kSection = kTurn;
  static constexpr int kS = 0, kSlave = 4, kM = kS + kSlave, kMaster = 3, kYS = kM + kMaster;
  static constexpr int kYM = kYS + 2 * kTurn, kE = kYM + 2 * kTurn, kCount = kE + (kEdges ? 4 : 0);
  static constexpr int N = kCount * D;
};

// The kernel's curves with values of another scalar. position(x, rate, place, component): of a vector that moves; place
// -1: its derivatives by position are not needed. rate(x): of a rate.
template <class P, class T, int D, class Position, class Rate>
void lift(const BeamCurves<double, D>& c, BeamCurves<T, D>& out, Position&& position, Rate&& rate) {
  const auto put = [&](const BeamVector<double, D>& r, const BeamVector<double, D>& dr, int place, BeamVector<T, D>& to,
                       BeamVector<T, D>& dto) {
    for (int i = 0; i < D; ++i) {
      to[i] = position(r[i], dr[i], place, i);
      dto[i] = rate(dr[i]);
    }
  };
  for (int n = 0; n < kDerivatives; ++n) {
    put(c.S.r[n], c.S.dr[n], n < P::kSlave ? P::kS + n : -1, out.S.r[n], out.S.dr[n]);
    put(c.M.r[n], c.M.dr[n], n < P::kMaster ? P::kM + n : -1, out.M.r[n], out.M.dr[n]);
  }
  for (int i = 0; i < 2; ++i)
    for (int n = 0; n < kSections; ++n) {
      const bool place = n < P::kSection;
      put(c.S.Y[i][n], c.S.dY[i][n], place ? P::kYS + i * P::kSection + n : -1, out.S.Y[i][n], out.S.dY[i][n]);
      put(c.M.Y[i][n], c.M.dY[i][n], place ? P::kYM + i * P::kSection + n : -1, out.M.Y[i][n], out.M.dY[i][n]);
    }
  for (int end = 0; end < 2; ++end) {
    out.edge[end].cut = c.edge[end].cut;
    out.edge[end].from = c.edge[end].from;
    for (int n = 0; n < 2; ++n)
      put(c.edge[end].E[n], c.edge[end].dE[n], P::kCount > P::kE ? P::kE + 2 * end + n : -1, out.edge[end].E[n],
          out.edge[end].dE[n]);
  }
}

// How the places follow the nodal components listed.
template <class P>
struct Pulled {
  static constexpr int D = P::kDim;
  // A slot with one force for several stations follows the elements of all of them; here are 17.
  static constexpr int kMostColumns = 17 * BeamPair::kMostVectors * D;
  Eigen::Matrix<double, P::kCount, Eigen::Dynamic, 0, P::kCount, kMostColumns> weight;
  std::array<int, kMostColumns> component;  // of columns of other stations: of no weight

  explicit Pulled(const std::vector<int>& columns) {
    if (columns.size() > component.size())
      throw InputError("a force shared by more than 16 elements of the other beam has no tangent here",
                       "use multiplier: point, or smaller segments, in `beams`");
    weight.setZero(P::kCount, static_cast<Eigen::Index>(columns.size()));
    component.fill(0);
  }
  int start(const std::vector<int>& columns, const BeamOutline& beam, int element) {
    const int first = beam.v + element * beam.body->stride * D;
    const auto at = static_cast<int>(std::lower_bound(columns.begin(), columns.end(), first) - columns.begin());
    for (int i = 0; i < beam.body->element_vectors * D; ++i) component[static_cast<std::size_t>(at + i)] = i % D;
    return at;
  }
  void add(const BeamOutline& beam, int at, int place, const double* w) {
    for (int i = 0; i < beam.body->element_vectors; ++i)
      for (int c = 0; c < D; ++c) weight(place, at + i * D + c) += w[i];
  }
  // Derivatives by the places -> by the columns.
  template <class Derivatives>
  void operator()(const Derivatives& d, double* out) const {
    for (Eigen::Index j = 0; j < weight.cols(); ++j) {
      double sum = 0;
      for (int n = 0; n < P::kCount; ++n) sum += weight(n, j) * d[n * D + component[static_cast<std::size_t>(j)]];
      out[j] = sum;
    }
  }
};

}  // namespace clatter::contact
