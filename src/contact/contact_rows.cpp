// Derivatives of the rows of contacts, by what carries them (members of Contacts).
#include <algorithm>

#include "contact/contacts.hpp"
#include "contact/slot_motion.hpp"
#include "model/expression.hpp"
#include "model/formula.hpp"

namespace clatter::contact {

namespace {

using Wide = Dual<24>;

}  // namespace

void Contacts::tangent(int slot, SlotTangent& out) {
  const PairInstance& pair = contacts_->pair(slot);
  const ShapeInstance& s1 = contacts_->shapes[static_cast<std::size_t>(pair.shape1)];
  const ShapeInstance& s2 = contacts_->shapes[static_cast<std::size_t>(pair.shape2)];
  // Directions 0-11: pose increments (linear, angular) of A and B; 12-23: their twists. dR = skew(dtheta) R.
  const auto wide = [&](int link, int first) {
    const FrameState<double> f = motion_of(engine_, link);
    FrameState<Wide> w;
    for (int i = 0; i < 3; ++i) {
      w.p[i] = Wide::variable(f.p[i], first + i);
      w.v[i] = Wide::variable(f.v[i], 12 + first + i);
      w.w[i] = Wide::variable(f.w[i], 12 + first + 3 + i);
      w.a[i] = Wide(f.a[i]);
      w.alpha[i] = Wide(f.alpha[i]);
    }
    for (int j = 0; j < 3; ++j) {
      const Vec3 axis = f.R.col(j);
      for (int i = 0; i < 3; ++i) {
        Wide x(axis[i]);
        for (int k = 0; k < 3; ++k) x.d[first + 3 + k] = Vec3(Vec3::Unit(k).cross(axis))[i];
        w.R(i, j) = x;
      }
    }
    return w;
  };
  SlotMotion<Wide> rows;
  slot_motion<Wide>(s1, s2, slot - pair.slot0, wide(s1.link, 0), wide(s2.link, 6),
                    branch_[static_cast<std::size_t>(slot)], rows);
  out.margin_x = rows.margin.d.head<12>().matrix();
  for (int k = 0; k < (pair.moments ? 6 : 3); ++k) {
    const V3<Wide>& e = rows.e[k % 3];
    const V3<Wide> n1 = rows.c1.cross(e), n2 = rows.c2.cross(e);
    for (int i = 0; i < 3; ++i) {
      Wide parts[4] = {e[i], n1[i], -e[i], -n2[i]};
      if (k >= 3) parts[0] = parts[2] = Wide(0.0), parts[1] = e[i], parts[3] = -e[i];
      for (int p = 0; p < 4; ++p) {
        out.g[k][3 * p + i] = parts[p].v;
        out.H[k].row(3 * p + i) = parts[p].d.head<12>().matrix().transpose();
      }
    }
    out.rate_x[k] = rows.rate[k].d.head<12>().matrix();
    out.bias_x[k] = rows.bias[k].d.head<12>().matrix();
    out.bias_xi[k] = rows.bias[k].d.tail<12>().matrix();
  }
}

// Rows written in coordinates: functions of some of them, whose third derivatives along the motion give the slopes of
// the second rates.
void Contacts::coordinate_rows(const PairInstance& pair, int count, const double* r, const Vec* a, Rows& out) const {
  constexpr int most = Expression::max_variables;
  out.columns.clear();
  for (int k = 0; k < count; ++k)
    for (const CoordinateRow::Input& in : pair.coordinates->row[k].inputs)
      if (in.v >= 0 && std::find(out.columns.begin(), out.columns.end(), in.v) == out.columns.end())
        out.columns.push_back(in.v);
  out.begin(count);
  double x[most], u[most], g[most], H[most * most];
  std::size_t place[most];
  for (int k = 0; k < count; ++k) {
    const CoordinateRow& row = pair.coordinates->row[k];
    if (!row.formula) continue;
    const std::size_t n = row.inputs.size();
    for (std::size_t i = 0; i < n; ++i) {
      const CoordinateRow::Input& in = row.inputs[i];
      x[i] = in.v < 0 ? state_at_.t : in.scale * state_at_.q[in.q];
      u[i] = in.v < 0 ? 1.0 : in.scale * state_at_.v[in.v];
      place[i] =
          static_cast<std::size_t>(std::find(out.columns.begin(), out.columns.end(), in.v) - out.columns.begin());
    }
    row.formula->hessian({x, n}, {g, n}, {H, n * n});
    const std::span<double> gradient = out.row(out.g, k), rate_q = out.row(out.rate_q, k);
    const std::span<double> second_q = out.row(out.second_q, k), second_v = out.row(out.second_v, k);
    for (std::size_t i = 0; i < n; ++i) {
      if (row.inputs[i].v < 0) continue;
      const double scale = row.inputs[i].scale;
      const std::size_t at = place[i];
      gradient[at] += scale * g[i];
      for (std::size_t j = 0; j < n; ++j) {
        rate_q[at] += H[i * n + j] * u[j] * scale;
        if (row.inputs[j].v < 0) continue;
        const double h = H[i * n + j] * scale * row.inputs[j].scale;
        out.turn(at, place[j]) -= r[k] * h;
        if (a != nullptr) second_q[place[j]] += h * (*a)[row.inputs[i].v];
      }
      if (a == nullptr) continue;
      // D3[u, u, e_i] by polarisation.
      double plus[most], minus[most], unit[most];
      for (std::size_t j = 0; j < n; ++j) {
        unit[j] = j == i ? 1 : 0;
        plus[j] = u[j] + unit[j];
        minus[j] = u[j] - unit[j];
      }
      second_q[at] += scale / 6 *
                      (third_along(*row.formula, {x, n}, {plus, n}) - third_along(*row.formula, {x, n}, {minus, n}) -
                       2 * third_along(*row.formula, {x, n}, {unit, n}));
    }
    if (a != nullptr)
      for (std::size_t j = 0; j < out.size(); ++j) second_v[j] = 2 * rate_q[j];
  }
  std::copy_n(out.g.begin(), out.size(), out.gap_q.begin());
}

void Contacts::rows(int slot, int count, const double* r, const Vec* a, Rows& out) {
  const PairInstance& pair = contacts_->pair(slot);
  if (pair.beams) {
    const BeamTouch& beams = beams_of(slot);
    if (pair.rigid) return beams.tangents(state_at_.q, state_at_.v, a, slot - pair.slot0, r, out);
    return beams.compliant_tangents(state_at_.q, state_at_.v, slot - pair.slot0, r,
                                    state_[static_cast<std::size_t>(slot)].measure, out);
  }
  if (pair.coordinates) return coordinate_rows(pair, count, r, a, out);
  tangent(slot, tangent_);
  out.columns.clear();
  carrier_.place(pair.link1, pair.link2, out.columns);
  out.begin(count);
  for (int k = 0; k < count; ++k) {
    carrier_.add(tangent_.row(k), 1, k, a != nullptr, out);
    carrier_.turn(tangent_.row(k), r[k]);
  }
  std::copy_n(out.g.begin(), out.size(), out.gap_q.begin());
  carrier_.finish(out);
}

}  // namespace clatter::contact
