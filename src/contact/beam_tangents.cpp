// Exact derivatives of the rows of beams on beams (members of BeamTouch).
#include <algorithm>

#include "contact/beam_places.hpp"
#include "contact/contacts.hpp"

namespace clatter::contact {

namespace {

std::size_t sz(int i) { return static_cast<std::size_t>(i); }

// The gradient of a row is, with the coefficients A_j of the rates and their shape functions W_j,
//
//   g_i = sum_j W_j,i A_j,   dg_i = sum_j W_j,i dA_j + W_j',i A_j d(shift)
//
// where the shifts vanish but their derivatives do not. add(i, row): d g_i over the columns.
template <class P, class Coefficient, class Value, class AddG, class AddH>
void gradients(const Pulled<P>& pulled, const BeamOutline& beam, int element, const BeamCurve& curve, double x,
               SkinMotion skin, int at, int k, const Coefficient& coefficient, const Value& shift, AddG&& add_g,
               AddH&& add_h) {
  constexpr int kMost = BeamPair::kMostVectors, D = P::kDim;
  double W[kMost], slope[kMost], row[Pulled<P>::kMostColumns], moved[Pulled<P>::kMostColumns];
  pulled(shift.d, moved);
  const auto columns = pulled.weight.cols();
  for (int j = 0; j < kArms; ++j) {
    if (!has_arm(skin, k, j)) continue;
    if (j < 2) {
      beam.weights(curve, x, j, W);
      beam.weights(curve, x, j + 1, slope);
    } else {
      beam.section_weights(element, x, j - 1, 0, W);
      beam.section_weights(element, x, j - 1, 1, slope);
    }
    for (int c = 0; c < D; ++c) {
      const auto& A = coefficient(j, c);
      pulled(A.d, row);
      for (int n = 0; n < beam.body->element_vectors; ++n) {
        add_g(at + n * D + c, W[n] * A.v);
        for (Eigen::Index m = 0; m < columns; ++m) add_h(at + n * D + c, m, W[n] * row[m] + slope[n] * A.v * moved[m]);
      }
    }
  }
}

template <class P>
void pull(const BeamOutline& slave, const BeamStation& s, double xs, const BeamOutline& master, const BeamCurve& curve,
          double x, const BeamRowKind& row, const std::vector<int>& columns, Pulled<P>& pulled, int& of_slave,
          int& of_master) {
  double w[BeamPair::kMostVectors];
  of_slave = pulled.start(columns, slave, s.curve.element);
  of_master = pulled.start(columns, master, curve.element);
  for (int n = 0; n < P::kSlave; ++n) {
    slave.weights(s.curve, xs, n, w);
    pulled.add(slave, of_slave, P::kS + n, w);
  }
  for (int n = 0; n < P::kMaster; ++n) {
    master.weights(curve, x, n, w);
    pulled.add(master, of_master, P::kM + n, w);
  }
  for (int i = 0; i < 2; ++i)
    for (int n = 0; n < P::kSection; ++n) {
      if (row.skin[0] == SkinMotion::turns) {
        slave.section_weights(s.curve.element, xs, 1 + i, n, w);
        pulled.add(slave, of_slave, P::kYS + i * P::kSection + n, w);
      }
      if (row.skin[1] == SkinMotion::turns) {
        master.section_weights(curve.element, x, 1 + i, n, w);
        pulled.add(master, of_master, P::kYM + i * P::kSection + n, w);
      }
    }
}

void sort_columns(std::vector<int>& columns) {
  std::sort(columns.begin(), columns.end());
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
}

}  // namespace

template <int D, int kTurn>
void BeamTouch::station_tangent(const Vec& q, const Vec& v, const Vec* a, int station, double share, const double* r,
                                Rows& out) const {
  using P = Places<D, false, kTurn>;
  using T = Dual<P::N>;
  using J = Jet<T>;
  const BeamStation& s = pair_.stations[sz(station)];
  const Foot& foot = feet_[sz(station)];
  const BeamOutline &slave = pair_.slave(s), &master = pair_.master(s);
  BeamCurves<double, D> c;
  gather<D>(s, foot, q, v, c);
  BeamCurves<J, D> cj;
  lift<P, J, D>(
      c, cj,
      [](double x, double rate, int place, int i) {
        return J(place < 0 ? T(x) : T::variable(x, place * D + i), T(rate));
      },
      [](double x) { return J(T(x), T(0.0)); });
  BeamRows<J, D> rows;
  beam_rows<J, D>(foot.row, cj, rows);
  Pulled<P> pulled(out.columns);
  int of_slave, of_master;
  pull<P>(slave, s, foot.xs, master, foot.curve, foot.x, foot.row, out.columns, pulled, of_slave, of_master);
  const Turned turned(s.second);
  double pulled_row[Pulled<P>::kMostColumns];
  const auto velocity = [&](std::size_t i) { return v[out.columns[i]]; };
  for (int k = 0; k < D; ++k) {
    const double factor = share * turned.row[k];
    const std::span<double> g = out.row(out.g, k), rate_q = out.row(out.rate_q, k);
    const std::span<double> second_q = out.row(out.second_q, k), second_v = out.row(out.second_v, k);
    const auto add_g = [&](int i, double x) { g[sz(i)] += factor * x; };
    // H = dg/dq; the second rate is H^T v . v + g . a, whether or not the row is the gradient of a function.
    const auto add_h = [&](int i, Eigen::Index j, double x) {
      const std::size_t l = sz(i), m = static_cast<std::size_t>(j);
      const double h = factor * x;
      out.turn(l, m) -= r[k] * h;
      if (a == nullptr) return;
      second_q[m] += h * (*a)[out.columns[l]];
      second_v[l] += h * velocity(m);
      second_v[m] += h * velocity(l);
    };
    gradients<P>(
        pulled, slave, s.curve.element, s.curve, foot.xs, foot.row.skin[0], of_slave, k,
        [&](int j, int i) -> const T& { return rows.S[k][j][i].v; }, rows.y.v, add_g, add_h);
    gradients<P>(
        pulled, master, foot.curve.element, foot.curve, foot.x, foot.row.skin[1], of_master, k,
        [&](int j, int i) -> const T& { return rows.M[k][j][i].v; }, rows.x.v, add_g, add_h);
    pulled(rows.rate[k].v.d, pulled_row);
    for (std::size_t j = 0; j < out.size(); ++j) rate_q[j] += factor * pulled_row[j];
    if (a == nullptr) continue;
    pulled(rows.rate[k].d.d, pulled_row);
    for (std::size_t j = 0; j < out.size(); ++j) second_q[j] += factor * pulled_row[j];
  }
}

void BeamTouch::tangents(const Vec& q, const Vec& v, const Vec* a, int slot, const double* r, Rows& out) const {
  int begin, end;
  range(slot, begin, end);
  out.columns.clear();
  for (int i = begin; i < end; ++i)
    if (feet_[sz(i)].present) list_columns(i, out.columns);
  sort_columns(out.columns);
  out.begin(pair_.dim);
  for (int i = begin; i < end; ++i) {
    if (!feet_[sz(i)].present) continue;
    if (pair_.dim == 2)
      station_tangent<2, 0>(q, v, a, i, weight(i), r, out);
    else if (turns(i))
      station_tangent<3, 2>(q, v, a, i, weight(i), r, out);
    else
      station_tangent<3, 0>(q, v, a, i, weight(i), r, out);
  }
  std::copy_n(out.g.begin(), out.size(), out.gap_q.begin());
}

template <int D, int kTurn>
void BeamTouch::compliant_tangent(const Vec& q, const Vec& v, int station, const double* r, double measure,
                                  Rows& out) const {
  using P = Places<D, true, kTurn>;
  using T = Dual<P::N>;
  const BeamStation& s = pair_.stations[sz(station)];
  const Foot& foot = feet_[sz(station)];
  const BeamOutline &slave = pair_.slave(s), &master = pair_.master(s);
  BeamCurves<double, D> c;
  gather<D>(s, foot, q, v, c);
  BeamCurves<T, D> ct;
  lift<P, T, D>(
      c, ct, [](double x, double, int place, int i) { return place < 0 ? T(x) : T::variable(x, place * D + i); },
      [](double x) { return T(x); });
  BeamRows<T, D> rows;
  beam_rows<T, D>(foot.row, ct, rows);
  Pulled<P> pulled(out.columns);
  int of_slave, of_master;
  pull<P>(slave, s, foot.xs, master, foot.curve, foot.x, foot.row, out.columns, pulled, of_slave, of_master);
  double w[kMost];
  for (int end = 0; end < 2; ++end) {
    if (!c.edge[end].cut) continue;
    const Edge& edge = foot.edge[end];
    const int at = pulled.start(out.columns, master, edge.curve.element);
    for (int n = 0; n < 2; ++n) {
      master.weights(edge.curve, edge.x, n, w);
      pulled.add(master, at, P::kE + 2 * end + n, w);
    }
  }
  const Turned turned(s.second);
  for (int k = 0; k < D; ++k) {
    const double factor = turned.row[k], force = measure * r[k] * factor;
    const std::span<double> g = out.row(out.g, k);
    const auto add_g = [&](int i, double x) { g[sz(i)] += factor * x; };
    const auto add_h = [&](int i, Eigen::Index j, double x) {
      out.turn(sz(i), static_cast<std::size_t>(j)) -= force * x;
    };
    gradients<P>(
        pulled, slave, s.curve.element, s.curve, foot.xs, foot.row.skin[0], of_slave, k,
        [&](int j, int i) -> const T& { return rows.S[k][j][i]; }, rows.y, add_g, add_h);
    gradients<P>(
        pulled, master, foot.curve.element, foot.curve, foot.x, foot.row.skin[1], of_master, k,
        [&](int j, int i) -> const T& { return rows.M[k][j][i]; }, rows.x, add_g, add_h);
    pulled((factor * rows.rate[k].d).eval(), out.row(out.rate_q, k).data());
  }
  pulled(rows.gap.d, out.gap_q.data());
  // The part of the law by which the station acts changes with its place.
  const bool line = s.kind == BeamStation::Kind::line;
  const double length = line ? (foot.edge[1].at - foot.edge[0].at) / nominal_length(s) : 1;
  const T part = line ? T((length + rows.length / nominal_length(s)) * rows.share) : rows.share;
  double by_q[Pulled<P>::kMostColumns];
  pulled(part.d, by_q);
  for (std::size_t j = 0; j < out.size(); ++j)
    for (std::size_t l = 0; l < out.size(); ++l)
      for (int k = 0; k < D; ++k) out.turn(l, j) -= out.gradient(k)[l] * r[k] * by_q[j];
}

void BeamTouch::compliant_tangents(const Vec& q, const Vec& v, int slot, const double* r, double measure,
                                   Rows& out) const {
  int station, end;
  range(slot, station, end);
  out.columns.clear();
  list_columns(station, out.columns);
  sort_columns(out.columns);
  out.begin(pair_.dim);
  if (pair_.dim == 2)
    compliant_tangent<2, 0>(q, v, station, r, measure, out);
  else if (turns(station))
    compliant_tangent<3, 1>(q, v, station, r, measure, out);
  else
    compliant_tangent<3, 0>(q, v, station, r, measure, out);
}

}  // namespace clatter::contact
