// Rows of the slots of a pair of beams whose feet are known: gaps, rates, biases, columns and tangents.
#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.hpp"
#include "contact/beam_touch.hpp"
#include "contact/contacts.hpp"

namespace clatter::contact {

namespace {

std::size_t sz(int i) { return static_cast<std::size_t>(i); }

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
    for (int i = 0; i < beam.body->element_vectors * D; ++i) component[sz(at + i)] = i % D;
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

}  // namespace

// Share of a station in its slot.
double BeamTouch::weight(int station) const {
  int begin, end;
  range(pair_.slot_of_station[sz(station)], begin, end);
  if (end - begin == 1) return 1;
  double sum = 0;
  for (int i = begin; i < end; ++i)
    if (feet_[sz(i)].present) sum += pair_.stations[sz(i)].area;
  return pair_.stations[sz(station)].area / sum;
}

template <int D>
void BeamTouch::gather(const BeamStation& s, const Foot& foot, const Vec& q, const Vec& v,
                       BeamCurves<double, D>& out) const {
  using V = BeamVector<double, D>;
  double w[kMost];
  const auto arc = [&](const BeamOutline& beam, const BeamCurve& curve, double x, SkinMotion skin,
                       BeamArc<double, D>& to) {
    for (int k = 0; k < kDerivatives; ++k) {
      beam.weights(curve, x, k, w);
      to.r[k] = combine<D>(beam, curve.element, w, q, beam.q);
      to.dr[k] = combine<D>(beam, curve.element, w, v, beam.v);
    }
    for (int i = 0; i < 2; ++i)
      for (int k = 0; k < kSections; ++k) {
        to.Y[i][k] = to.dY[i][k] = V::Zero();
        if (skin != SkinMotion::turns) continue;
        beam.section_weights(curve.element, x, 1 + i, k, w);
        to.Y[i][k] = combine<D>(beam, curve.element, w, q, beam.q);
        to.dY[i][k] = combine<D>(beam, curve.element, w, v, beam.v);
      }
  };
  const BeamOutline &slave = pair_.slave(s), &master = pair_.master(s);
  arc(slave, s.curve, foot.xs, foot.row.skin[0], out.S);
  arc(master, foot.curve, foot.x, foot.row.skin[1], out.M);
  for (int end = 0; end < 2; ++end) {
    const Edge& edge = foot.edge[end];
    out.edge[end].cut = s.kind == BeamStation::Kind::line && edge.cut;
    out.edge[end].from = edge.at - foot.xs;
    for (int n = 0; n < 2; ++n) {
      out.edge[end].E[n] = out.edge[end].dE[n] = V::Zero();
      if (!out.edge[end].cut) continue;
      master.weights(edge.curve, edge.x, n, w);
      out.edge[end].E[n] = combine<D>(master, edge.curve.element, w, q, master.q);
      out.edge[end].dE[n] = combine<D>(master, edge.curve.element, w, v, master.v);
    }
  }
}

template <int D>
void BeamTouch::station_rows(const Vec& q, const Vec& v, int station, bool accelerations, double share, bool leads,
                             SlotState& out) {
  const BeamStation& s = pair_.stations[sz(station)];
  Foot& foot = feet_[sz(station)];
  const BeamOutline &slave = pair_.slave(s), &master = pair_.master(s);
  const Turned turned(s.second);
  BeamCurves<double, D> c;
  gather<D>(s, foot, q, v, c);
  BeamRows<double, D> r;
  beam_rows<double, D>(foot.row, c, r);
  for (int j = 0; j < 2; ++j) {
    slave.weights(s.curve, foot.xs, j, foot.Ws[j]);
    master.weights(foot.curve, foot.x, j, foot.Wm[j]);
    if (foot.row.skin[0] == SkinMotion::turns)
      slave.section_weights(s.curve.element, foot.xs, 1 + j, 0, foot.Ws[2 + j]);
    if (foot.row.skin[1] == SkinMotion::turns)
      master.section_weights(foot.curve.element, foot.x, 1 + j, 0, foot.Wm[2 + j]);
  }
  for (int k = 0; k < 3; ++k) {
    foot.e[k] = k < D ? in_space(r.e[k]) : Vec3(-Vec3::UnitZ());
    for (int j = 0; j < kArms && k < D; ++j) {
      foot.S[k][j] = in_space(r.S[k][j]);
      foot.M[k][j] = in_space(r.M[k][j]);
    }
  }
  out.gap += share * r.gap;
  for (int k = 0; k < D; ++k) out.rate[k] += share * turned.row[k] * r.rate[k];
  using J = Jet<double>;
  const auto moving = [](double x, double rate, int, int) { return J(x, rate); };
  const auto steady = [](double x) { return J(x, 0.0); };
  if (accelerations) {
    // Rates as functions of time along constant nodal velocities.
    BeamCurves<J, D> cj;
    lift<Places<D, true, 0>, J, D>(c, cj, moving, steady);
    BeamRows<J, D> rj;
    beam_rows<J, D>(foot.row, cj, rj);
    for (int k = 0; k < D; ++k) out.bias[k] += share * turned.row[k] * rj.rate[k].d;
  }
  if (!rigid_) {
    const bool line = s.kind == BeamStation::Kind::line;
    const double length = line ? (foot.edge[1].at - foot.edge[0].at) / nominal_length(s) : 1;
    out.measure = length * r.share;
    out.measure_rate = out.drift = 0;
    if (c.edge[0].cut || c.edge[1].cut || (r.share > 0 && r.share < 1)) {
      BeamCurves<J, D> cj;
      lift<Places<D, true, 0>, J, D>(c, cj, moving, steady);
      BeamRows<J, D> rj;
      beam_rows<J, D>(foot.row, cj, rj);
      out.measure_rate = length * rj.share.d;
      if (line) out.measure_rate += rj.length.d / nominal_length(s) * r.share;
      out.drift = rj.gap.d - r.rate[0];
    }
  }
  if (!leads) return;
  for (int k = 0; k < 3; ++k) out.basis.col(k) = turned.basis[k] * foot.e[k];
  Vec3 on_slave = in_space(c.S.r[0]) - slave.radius * foot.e[0];
  Vec3 on_master = in_space(c.M.r[0]) + master.radius * foot.e[0];
  if constexpr (D == 2) on_slave.z() = on_master.z() = slave.body->level;
  out.p1 = s.second ? on_master : on_slave;
  out.p2 = s.second ? on_slave : on_master;
}

void BeamTouch::rows(const Vec& q, const Vec& v, int slot, bool accelerations, SlotState& out) {
  int begin, end;
  range(slot, begin, end);
  out.present = false;
  int leading = -1;
  for (int i = begin; i < end; ++i)
    if (feet_[sz(i)].present && (leading < 0 || feet_[sz(i)].gap < feet_[sz(leading)].gap)) leading = i;
  if (leading < 0) return;
  out.present = true;
  out.gap = 0;
  out.c1.setZero();
  out.c2.setZero();
  std::fill(out.rate, out.rate + 6, 0.0);
  std::fill(out.bias, out.bias + 6, 0.0);
  for (int i = begin; i < end; ++i) {
    if (!feet_[sz(i)].present) continue;
    if (pair_.dim == 2)
      station_rows<2>(q, v, i, accelerations, weight(i), i == leading, out);
    else
      station_rows<3>(q, v, i, accelerations, weight(i), i == leading, out);
  }
}

void BeamTouch::add_column(int slot, int k, int v0, int v1, double* tau, double scale) const {
  int begin, end;
  range(slot, begin, end);
  const int D = pair_.dim;
  for (int i = begin; i < end; ++i) {
    const Foot& foot = feet_[sz(i)];
    if (!foot.present) continue;
    const BeamStation& s = pair_.stations[sz(i)];
    const double share = scale * weight(i) * Turned(s.second).row[k];
    const auto add = [&](const BeamOutline& beam, int element, SkinMotion skin, const double(*w)[kMost],
                         const Vec3* coefficient) {
      const int at = beam.v + element * beam.body->stride * D;
      if (at < v0 || at >= v1) return;
      for (int j = 0; j < kArms; ++j) {
        if (!has_arm(skin, k, j)) continue;
        for (int n = 0; n < beam.body->element_vectors; ++n)
          for (int c = 0; c < D; ++c) tau[at - v0 + n * D + c] += share * w[j][n] * coefficient[j][c];
      }
    };
    add(pair_.slave(s), s.curve.element, foot.row.skin[0], foot.Ws, foot.S[k]);
    add(pair_.master(s), foot.curve.element, foot.row.skin[1], foot.Wm, foot.M[k]);
  }
}

void BeamTouch::elements(int slot, std::vector<int>& out) const {
  int begin, end;
  range(slot, begin, end);
  for (int i = begin; i < end; ++i) {
    const Foot& foot = feet_[sz(i)];
    if (!foot.present) continue;
    const BeamStation& s = pair_.stations[sz(i)];
    const int other = s.second ? 0 : 1;
    out.push_back(pair_.element_number(s.second ? 1 : 0, s.curve.element));
    out.push_back(pair_.element_number(other, foot.curve.element));
    for (const Edge& edge : foot.edge)
      if (!rigid_ && edge.cut) out.push_back(pair_.element_number(other, edge.curve.element));
  }
}

void BeamTouch::list_columns(int station, std::vector<int>& columns) const {
  const int D = pair_.dim;
  const auto list = [&](const BeamOutline& beam, int element) {
    for (int i = 0; i < beam.body->element_vectors * D; ++i)
      columns.push_back(beam.v + element * beam.body->stride * D + i);
  };
  const BeamStation& s = pair_.stations[sz(station)];
  const Foot& foot = feet_[sz(station)];
  list(pair_.slave(s), s.curve.element);
  list(pair_.master(s), foot.curve.element);
  for (const Edge& edge : foot.edge)
    if (!rigid_ && s.kind == BeamStation::Kind::line && edge.cut) list(pair_.master(s), edge.curve.element);
}

// The gradient of a row is, with the coefficients A_j of the rates and their shape functions W_j,
//
//   g_i = sum_j W_j,i A_j,   dg_i = sum_j W_j,i dA_j + W_j',i A_j d(shift)
//
// where the shifts vanish but their derivatives do not. add(i, row): d g_i over the columns.
template <class P, class Coefficient, class Value, class AddG, class AddH>
static void gradients(const Pulled<P>& pulled, const BeamOutline& beam, int element, const BeamCurve& curve, double x,
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
static void pull(const BeamOutline& slave, const BeamStation& s, double xs, const BeamOutline& master,
                 const BeamCurve& curve, double x, const BeamRowKind& row, const std::vector<int>& columns,
                 Pulled<P>& pulled, int& of_slave, int& of_master) {
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

static void sort_columns(std::vector<int>& columns) {
  std::sort(columns.begin(), columns.end());
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
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
