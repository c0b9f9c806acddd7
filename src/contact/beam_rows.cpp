// Rows of the slots of a pair of beams whose feet are known: gaps, rates, biases and columns.
#include <algorithm>
#include <cmath>

#include "contact/beam_places.hpp"
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

template void BeamTouch::gather<2>(const BeamStation&, const Foot&, const Vec&, const Vec&,
                                   BeamCurves<double, 2>&) const;
template void BeamTouch::gather<3>(const BeamStation&, const Foot&, const Vec&, const Vec&,
                                   BeamCurves<double, 3>&) const;

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

}  // namespace clatter::contact
