// Rows of the slots of a pair of beams whose feet are known: gaps, rates, biases, columns and tangents.
#include <algorithm>
#include <cmath>

#include "contact/beam_touch.hpp"
#include "contact/contacts.hpp"

namespace clatter::contact {

namespace {

std::size_t sz(int i) { return static_cast<std::size_t>(i); }

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

template <int D, class T>
void BeamTouch::gather(const BeamStation& s, const Foot& foot, const Vec& q, const Vec& v,
                       BeamCurves<T, D>& out) const {
  const BeamOutline &slave = pair_.slave(s), &master = pair_.master(s);
  double w[kMost];
  const auto put = [&](const BeamVector<double, D>& x, BeamVector<T, D>& y) {
    for (int c = 0; c < D; ++c) y[c] = T(x[c]);
  };
  for (int k = 0; k < kDerivatives; ++k) {
    slave.weights(s.curve, foot.xs, k, w);
    put(combine<D>(slave, s.curve.element, w, q, slave.q), out.S[k]);
    put(combine<D>(slave, s.curve.element, w, v, slave.v), out.dS[k]);
    master.weights(foot.curve, foot.x, k, w);
    put(combine<D>(master, foot.curve.element, w, q, master.q), out.M[k]);
    put(combine<D>(master, foot.curve.element, w, v, master.v), out.dM[k]);
  }
}

namespace {

// Rows are kept from the master to the slave; from the second beam to the first the basis turns with n and t1.
struct Turned {
  double basis[3] = {1, 1, 1}, row[3] = {1, 1, 1};
  explicit Turned(bool second) {
    if (!second) return;
    basis[0] = basis[1] = -1;
    row[2] = -1;
  }
};

}  // namespace

template <int D>
void BeamTouch::station_rows(const Vec& q, const Vec& v, int station, bool accelerations, double share, bool leads,
                             SlotState& out) {
  const BeamStation& s = pair_.stations[sz(station)];
  Foot& foot = feet_[sz(station)];
  const BeamOutline &slave = pair_.slave(s), &master = pair_.master(s);
  const Turned turned(s.second);
  BeamCurves<double, D> c;
  gather<D, double>(s, foot, q, v, c);
  BeamRows<double, D> r;
  beam_rows<double, D>(foot.kind, foot.sign, foot.radius, c, r);
  slave.weights(s.curve, foot.xs, 0, foot.Ws);
  master.weights(foot.curve, foot.x, 0, foot.Wm);
  for (int k = 0; k < 3; ++k) foot.e[k] = k < D ? in_space(r.e[k]) : Vec3(-Vec3::UnitZ());
  out.gap += share * r.gap;
  for (int k = 0; k < D; ++k) out.rate[k] += share * turned.row[k] * r.rate[k];
  if (accelerations) {
    // Rates as functions of time along constant nodal velocities.
    using J = Jet<double>;
    BeamCurves<J, D> cj;
    for (int k = 0; k < kDerivatives; ++k)
      for (int i = 0; i < D; ++i) {
        cj.S[k][i] = J(c.S[k][i], c.dS[k][i]);
        cj.M[k][i] = J(c.M[k][i], c.dM[k][i]);
        cj.dS[k][i] = J(c.dS[k][i], 0.0);
        cj.dM[k][i] = J(c.dM[k][i], 0.0);
      }
    BeamRows<J, D> rj;
    beam_rows<J, D>(foot.kind, foot.sign, foot.radius, cj, rj);
    for (int k = 0; k < D; ++k) out.bias[k] += share * turned.row[k] * rj.rate[k].d;
  }
  if (!leads) return;
  for (int k = 0; k < 3; ++k) out.basis.col(k) = turned.basis[k] * foot.e[k];
  Vec3 on_slave = in_space(c.S[0]) - slave.radius * foot.e[0], on_master = in_space(c.M[0]) + master.radius * foot.e[0];
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
    const auto add = [&](const BeamOutline& beam, int element, const double* w, double factor) {
      const int at = beam.v + element * beam.body->stride * D;
      if (at < v0 || at >= v1) return;
      for (int n = 0; n < beam.body->element_vectors; ++n)
        for (int c = 0; c < D; ++c) tau[at - v0 + n * D + c] += factor * w[n] * foot.e[k][c];
    };
    add(pair_.slave(s), s.curve.element, foot.Ws, share);
    add(pair_.master(s), foot.curve.element, foot.Wm, -share);
  }
}

// With local variables X = (S_0.., M_0..) that are linear in the nodal vectors, and local parts of the gradient
//
//   g_i = N_S,i e + N_S',i y e  (slave),   -N_M,i e - N_M',i x e  (master)
//
// where the shifts vanish but their derivatives do not.
template <int D>
void BeamTouch::station_tangent(const Vec& q, const Vec& v, int station, int k, double share,
                                CoordinateTangent& out) const {
  // The slave's curve moves along itself in crossings only.
  constexpr int kSlave = D == 2 ? 1 : kDerivatives, kLocal = kSlave + kDerivatives, N = kLocal * D;
  using T = Dual<N>;
  using J = Jet<T>;
  const BeamStation& s = pair_.stations[sz(station)];
  const Foot& foot = feet_[sz(station)];
  const BeamOutline& beams_slave = pair_.slave(s);
  const BeamOutline& beams_master = pair_.master(s);
  BeamCurves<double, D> c;
  gather<D, double>(s, foot, q, v, c);
  BeamCurves<J, D> cj;
  for (int n = 0; n < kDerivatives; ++n)
    for (int i = 0; i < D; ++i) {
      const T slave = n < kSlave ? T::variable(c.S[n][i], n * D + i) : T(c.S[n][i]);
      const T master = T::variable(c.M[n][i], (kSlave + n) * D + i);
      cj.S[n][i] = J(slave, T(c.dS[n][i]));
      cj.M[n][i] = J(master, T(c.dM[n][i]));
      cj.dS[n][i] = J(T(c.dS[n][i]), T(0.0));
      cj.dM[n][i] = J(T(c.dM[n][i]), T(0.0));
    }
  BeamRows<J, D> r;
  beam_rows<J, D>(foot.kind, foot.sign, foot.radius, cj, r);
  const double factor = share * Turned(s.second).row[k];

  // Nodal vectors of both, slave first.
  double W[kLocal][kMost];
  for (int n = 0; n < kSlave; ++n) beams_slave.weights(s.curve, foot.xs, n, W[n]);
  for (int n = 0; n < kDerivatives; ++n) beams_master.weights(foot.curve, foot.x, n, W[kSlave + n]);
  double slope[2][kMost];  // first derivatives of the shape functions
  beams_slave.weights(s.curve, foot.xs, 1, slope[0]);
  beams_master.weights(foot.curve, foot.x, 1, slope[1]);
  const int ns = beams_slave.body->element_vectors, nm = beams_master.body->element_vectors;
  const auto place = [&](const BeamOutline& beam, int element, int i) {
    const int column = beam.v + element * beam.body->stride * D + i;
    for (std::size_t at = 0; at < out.columns.size(); ++at)
      if (out.columns[at] == column) return static_cast<Eigen::Index>(at);
    return Eigen::Index(-1);
  };
  // Columns of q by number of vector and component: slave, then master.
  Eigen::Index index[2 * kMost * D];
  for (int i = 0; i < ns * D; ++i) index[i] = place(beams_slave, s.curve.element, i);
  for (int i = 0; i < nm * D; ++i) index[ns * D + i] = place(beams_master, foot.curve.element, i);
  // d(local)/dq of column j as (first local variable of its beam, weights).
  const auto pulled = [&](const typename T::Derivatives& d, int j) {
    const bool of_slave = j < ns * D;
    const int vector = (of_slave ? j : j - ns * D) / D, component = (of_slave ? j : j - ns * D) % D;
    double sum = 0;
    for (int n = of_slave ? 0 : kSlave; n < (of_slave ? kSlave : kLocal); ++n)
      sum += W[n][vector] * d[n * D + component];
    return sum;
  };
  const int total = (ns + nm) * D;
  for (int i = 0; i < total; ++i) {
    const bool of_slave = i < ns * D;
    const int vector = (of_slave ? i : i - ns * D) / D, component = (of_slave ? i : i - ns * D) % D;
    const T& e = r.e[k][component].v;
    const T& shift = of_slave ? r.y.v : r.x.v;
    const double w = of_slave ? W[0][vector] : -W[kSlave][vector];
    const double w1 = of_slave ? slope[0][vector] : -slope[1][vector];
    out.g[static_cast<std::size_t>(index[i])] += factor * w * e.v;
    const typename T::Derivatives dg = w * e.d + (w1 * e.v) * shift.d;
    for (int j = 0; j < total; ++j) out.H(index[i], index[j]) += factor * pulled(dg, j);
    out.rate_by_q[index[i]] += factor * pulled(r.rate[k].v.d, i);
    out.bias_by_q[index[i]] += factor * pulled(r.rate[k].d.d, i);
  }
}

void BeamTouch::tangent(const Vec& q, const Vec& v, int slot, int k, CoordinateTangent& out) const {
  int begin, end;
  range(slot, begin, end);
  const int D = pair_.dim;
  out.columns.clear();
  const auto list = [&](const BeamOutline& beam, int element) {
    for (int i = 0; i < beam.body->element_vectors * D; ++i)
      out.columns.push_back(beam.v + element * beam.body->stride * D + i);
  };
  for (int i = begin; i < end; ++i) {
    if (!feet_[sz(i)].present) continue;
    const BeamStation& s = pair_.stations[sz(i)];
    list(pair_.slave(s), s.curve.element);
    list(pair_.master(s), feet_[sz(i)].curve.element);
  }
  std::sort(out.columns.begin(), out.columns.end());
  out.columns.erase(std::unique(out.columns.begin(), out.columns.end()), out.columns.end());
  const auto n = static_cast<Eigen::Index>(out.columns.size());
  out.g.assign(out.columns.size(), 0.0);
  out.H.setZero(n, n);
  out.rate_by_q.setZero(n);
  out.bias_by_q.setZero(n);
  for (int i = begin; i < end; ++i) {
    if (!feet_[sz(i)].present) continue;
    if (D == 2)
      station_tangent<2>(q, v, i, k, weight(i), out);
    else
      station_tangent<3>(q, v, i, k, weight(i), out);
  }
  // bias = v^T H^T v, whether or not the row is the gradient of a function.
  out.bias_by_v.setZero(n);
  for (Eigen::Index i = 0; i < n; ++i)
    for (Eigen::Index j = 0; j < n; ++j)
      out.bias_by_v[i] += (out.H(i, j) + out.H(j, i)) * v[out.columns[static_cast<std::size_t>(j)]];
}

}  // namespace clatter::contact
