#include "contact/contacts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "contact/polygon_manifold.hpp"
#include "model/expression.hpp"
#include "model/formula.hpp"

namespace clatter::contact {

namespace {

using Wide = Dual<24>;

FrameState<double> motion_of(const Engine& engine, int link) {
  FrameState<double> f;
  if (link < 0) {
    f.R.setIdentity();
    f.p.setZero();
    f.v.setZero();
    f.w.setZero();
    f.a.setZero();
    f.alpha.setZero();
    return f;
  }
  const LinkMotion& m = engine.links().motion[static_cast<std::size_t>(link)];
  f.R = m.R;
  f.p = m.p;
  f.v = m.v;
  f.w = m.w;
  f.a = m.a;
  f.alpha = m.alpha;
  return f;
}

// Most shapes stand along the axes of their link: a product less, with the same bits.
Mat3 turned(const Mat3& R, const ShapeInstance& s) { return s.R == Mat3::Identity() ? R : Mat3(R * s.R); }

Pose<double> shape_pose(const ShapeInstance& s, const FrameState<double>& f) {
  return {turned(f.R, s), f.p + f.R * s.r};
}

// The shape's pose with its time derivative.
template <class T>
Pose<Jet<T>> shape_jet(const ShapeInstance& s, const FrameState<T>& f) {
  const M3<T> R = f.R * s.R.template cast<T>();
  const V3<T> r = f.R * s.r.template cast<T>();
  const M3<T> dR = skew<T>(f.w) * R;
  const V3<T> dp = f.v + f.w.cross(r);
  Pose<Jet<T>> out;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) out.R(i, j) = Jet<T>(R(i, j), dR(i, j));
    out.p[i] = Jet<T>(f.p[i] + r[i], dp[i]);
  }
  return out;
}

template <class T>
V3<T> values(const V3<Jet<T>>& x) {
  return {x[0].v, x[1].v, x[2].v};
}
template <class T>
V3<T> rates(const V3<Jet<T>>& x) {
  return {x[0].d, x[1].d, x[2].d};
}

template <class T>
struct Rows {
  T gap, margin;
  V3<T> e[3];
  V3<T> p1, p2, c1, c2;
  T rate[6], bias[6];
};

template <class T>
bool rows_of(const ShapeInstance& s1, const ShapeInstance& s2, int slot, const FrameState<T>& A, const FrameState<T>& B,
             Branch& branch, Rows<T>& out) {
  Touch<Jet<T>> t;
  if (!touch<Jet<T>>(s1.geometry, s2.geometry, slot, shape_jet(s1, A), shape_jet(s2, B), branch, t)) return false;
  out.gap = t.gap.v;
  out.margin = t.margin.v;
  out.p1 = values(t.p1);
  out.p2 = values(t.p2);
  out.c1 = out.p1 - A.p;
  out.c2 = out.p2 - B.p;
  const V3<T> v1 = A.v + A.w.cross(out.c1), v2 = B.v + B.w.cross(out.c2), u = v1 - v2;
  const V3<T> a1 = A.a + A.alpha.cross(out.c1) + A.w.cross(rates(t.p1) - A.v);
  const V3<T> a2 = B.a + B.alpha.cross(out.c2) + B.w.cross(rates(t.p2) - B.v);
  const V3<Jet<T>>* basis[3] = {&t.n, &t.t1, &t.t2};
  for (int k = 0; k < 3; ++k) {
    out.e[k] = values(*basis[k]);
    out.rate[k] = out.e[k].dot(u);
    out.bias[k] = out.e[k].dot(a1 - a2) + rates(*basis[k]).dot(u);
    out.rate[3 + k] = out.e[k].dot(A.w - B.w);
    out.bias[3 + k] = out.e[k].dot(A.alpha - B.alpha) + rates(*basis[k]).dot(A.w - B.w);
  }
  return true;
}

}  // namespace

Contacts::Contacts(std::shared_ptr<const ContactSystem> contacts, Engine& engine)
    : contacts_(std::move(contacts)),
      engine_(engine),
      broad_(*contacts_),
      state_(static_cast<std::size_t>(contacts_->slots())),
      branch_(static_cast<std::size_t>(contacts_->slots())) {
  for (const PairInstance& p : contacts_->pairs) {
    any_coordinates_ = any_coordinates_ || p.in_coordinates();
    beams_.push_back(p.beams ? std::make_unique<BeamTouch>(*p.beams, p.rigid) : nullptr);
  }
  is_touched_.assign(state_.size(), 0);
  for (SlotState& s : state_) s.gap = contacts_->length_scale;
}

void Contacts::follow() {
  for (Branch& branch : branch_) branch.followed = true;
}

void Contacts::accept() {
  for (const PairInstance& pair : contacts_->pairs) {
    if (pair.in_coordinates()) continue;
    for (const int shape : {pair.shape1, pair.shape2})
      if (contacts_->shapes[static_cast<std::size_t>(shape)].geometry.kind == ContactShape::Kind::cylinder)
        for (int k = 0; k < pair.slots; ++k) {
          Branch& branch = branch_[static_cast<std::size_t>(pair.slot0 + k)];
          if (branch.feature >= 0) branch.s2 = branch.here;
        }
  }
}

void Contacts::at(const State& s) {
  if (!any_coordinates_) return;
  state_at_.t = s.t;
  state_at_.q = s.q;
  state_at_.v = s.v;
}

Contacts::CoordinateValue Contacts::coordinate(const CoordinateRow& row, double* gradient) const {
  if (!row.formula) return {row.constant, 0, 0};
  double x[Expression::max_variables], u[Expression::max_variables], g[Expression::max_variables];
  double H[Expression::max_variables * Expression::max_variables];
  const std::size_t n = row.inputs.size();
  for (std::size_t i = 0; i < n; ++i) {
    const CoordinateRow::Input& in = row.inputs[i];
    x[i] = in.v < 0 ? state_at_.t : in.scale * state_at_.q[in.q];
    u[i] = in.v < 0 ? 1.0 : in.scale * state_at_.v[in.v];
  }
  CoordinateValue out{row.formula->hessian({x, n}, {g, n}, {H, n * n}), 0, 0};
  for (std::size_t i = 0; i < n; ++i) {
    out.rate += g[i] * u[i];
    for (std::size_t j = 0; j < n; ++j) out.bias += u[i] * H[i * n + j] * u[j];
    if (gradient != nullptr && row.inputs[i].v >= 0) gradient[row.inputs[i].v] += g[i] * row.inputs[i].scale;
  }
  return out;
}

void Contacts::tangent(int slot, int component, CoordinateTangent& out) const {
  const PairInstance& pair = contacts_->pair(slot);
  if (pair.beams) return beams_of(slot).tangent(state_at_.q, state_at_.v, slot - pair.slot0, component, out);
  const CoordinateRow& row = pair.coordinates->row[component];
  out.columns.clear();
  out.g.clear();
  const std::size_t n = row.inputs.size();
  double x[Expression::max_variables], u[Expression::max_variables], g[Expression::max_variables];
  double H[Expression::max_variables * Expression::max_variables];
  if (!row.formula) return;
  for (std::size_t i = 0; i < n; ++i) {
    const CoordinateRow::Input& in = row.inputs[i];
    x[i] = in.v < 0 ? state_at_.t : in.scale * state_at_.q[in.q];
    u[i] = in.v < 0 ? 1.0 : in.scale * state_at_.v[in.v];
  }
  row.formula->hessian({x, n}, {g, n}, {H, n * n});
  std::size_t moving[Expression::max_variables], count = 0;
  for (std::size_t i = 0; i < n; ++i)
    if (row.inputs[i].v >= 0) moving[count++] = i;
  out.H.setZero(static_cast<Eigen::Index>(count), static_cast<Eigen::Index>(count));
  out.rate_by_q.setZero(static_cast<Eigen::Index>(count));
  out.bias_by_q.setZero(static_cast<Eigen::Index>(count));
  out.bias_by_v.setZero(static_cast<Eigen::Index>(count));
  for (std::size_t a = 0; a < count; ++a) {
    const std::size_t i = moving[a];
    out.columns.push_back(row.inputs[i].v);
    out.g.push_back(g[i] * row.inputs[i].scale);
    for (std::size_t b = 0; b < count; ++b) {
      const double h = H[i * n + moving[b]] * row.inputs[i].scale * row.inputs[moving[b]].scale;
      out.H(static_cast<Eigen::Index>(a), static_cast<Eigen::Index>(b)) = h;
    }
    for (std::size_t j = 0; j < n; ++j) {
      out.rate_by_q[static_cast<Eigen::Index>(a)] += H[i * n + j] * u[j] * row.inputs[i].scale;
    }
    // D3[u, u, e_i] by polarisation.
    double plus[Expression::max_variables], minus[Expression::max_variables], unit[Expression::max_variables];
    for (std::size_t j = 0; j < n; ++j) {
      unit[j] = j == i ? 1 : 0;
      plus[j] = u[j] + unit[j];
      minus[j] = u[j] - unit[j];
    }
    out.bias_by_q[static_cast<Eigen::Index>(a)] =
        row.inputs[i].scale / 6 *
        (third_along(*row.formula, {x, n}, {plus, n}) - third_along(*row.formula, {x, n}, {minus, n}) -
         2 * third_along(*row.formula, {x, n}, {unit, n}));
  }
  out.bias_by_v = 2 * out.rate_by_q;
}

void Contacts::by_time(int slot, int component, TimeTangent& out) const {
  const CoordinateRow& row = contacts_->pair(slot).coordinates->row[component];
  out.column.setZero(engine_.sizes().nv);
  out.rate = out.bias = 0;
  if (!row.formula) return;
  const std::size_t n = row.inputs.size();
  double x[Expression::max_variables], u[Expression::max_variables], g[Expression::max_variables];
  double H[Expression::max_variables * Expression::max_variables];
  double plus[Expression::max_variables], minus[Expression::max_variables], unit[Expression::max_variables];
  bool timed = false;
  for (std::size_t i = 0; i < n; ++i) {
    const CoordinateRow::Input& in = row.inputs[i];
    x[i] = in.v < 0 ? state_at_.t : in.scale * state_at_.q[in.q];
    u[i] = in.v < 0 ? 1.0 : in.scale * state_at_.v[in.v];
    unit[i] = in.v < 0 ? 1 : 0;
    plus[i] = u[i] + unit[i];
    minus[i] = u[i] - unit[i];
    timed = timed || in.v < 0;
  }
  if (!timed) return;
  row.formula->hessian({x, n}, {g, n}, {H, n * n});
  for (std::size_t i = 0; i < n; ++i) {
    if (row.inputs[i].v >= 0) continue;
    for (std::size_t j = 0; j < n; ++j) {
      out.rate += H[i * n + j] * u[j];
      if (row.inputs[j].v >= 0) out.column[row.inputs[j].v] += H[i * n + j] * row.inputs[j].scale;
    }
  }
  // D3[u, u, e_t] by polarisation.
  out.bias = (third_along(*row.formula, {x, n}, {plus, n}) - third_along(*row.formula, {x, n}, {minus, n}) -
              2 * third_along(*row.formula, {x, n}, {unit, n})) /
             6;
}

void Contacts::mark(int slot) {
  char& marked = is_touched_[static_cast<std::size_t>(slot)];
  if (marked) return;
  marked = 1;
  touched_.push_back(slot);
}

void Contacts::detect(const State& s, double reach) {
  engine_.prepare_response(s);
  at(s);
  for (const int slot : touched_) {
    is_touched_[static_cast<std::size_t>(slot)] = 0;
    state_[static_cast<std::size_t>(slot)].present = false;
    state_[static_cast<std::size_t>(slot)].gap = contacts_->length_scale;
  }
  touched_.clear();
  near_.clear();
  broad_.find(engine_, reach, pairs_);
  for (const int p : pairs_) {
    const PairInstance& pair = contacts_->pairs[static_cast<std::size_t>(p)];
    if (pair.beams) {
      BeamTouch& beams = *beams_[static_cast<std::size_t>(p)];
      beams.find(state_at_.q, reach, beam_slots_);
      for (const int k : beam_slots_) {
        const int slot = pair.slot0 + k;
        mark(slot);
        SlotState& out = state_[static_cast<std::size_t>(slot)];
        beams.rows(state_at_.q, state_at_.v, k, false, out);
        out.margin = contacts_->length_scale;
        branch_[static_cast<std::size_t>(slot)].feature = beams.feature(k);
        near_.push_back(slot);
      }
      continue;
    }
    const ShapeInstance* of[2] = {nullptr, nullptr};
    if (!pair.coordinates) {
      of[0] = &contacts_->shapes[static_cast<std::size_t>(pair.shape1)];
      of[1] = &contacts_->shapes[static_cast<std::size_t>(pair.shape2)];
    }
    // Polygons decide as a pair: one look at it tells which of the many slots are worth one of their own.
    const bool polygons = of[0] != nullptr && of[0]->geometry.kind == ContactShape::Kind::polygon &&
                          of[1]->geometry.kind == ContactShape::Kind::polygon;
    PolygonManifold manifold;
    if (polygons)
      manifold = polygon_manifold(of[0]->geometry, of[1]->geometry,
                                  Frame2<double>(shape_pose(*of[0], motion_of(engine_, of[0]->link))),
                                  Frame2<double>(shape_pose(*of[1], motion_of(engine_, of[1]->link))));
    for (int slot = pair.slot0; slot < pair.slot0 + pair.slots; ++slot) {
      if (polygons) {
        const int count = count_of(of[0]->geometry.points), k = slot - pair.slot0;
        if (manifold.touched_by(k < count, k < count ? k : k - count) < 0) {
          if (!manifold.apart) continue;
          mark(slot);
          state_[static_cast<std::size_t>(slot)].gap = manifold.distance;
          continue;
        }
      }
      evaluate(slot, false);
      if (state_[static_cast<std::size_t>(slot)].present) near_.push_back(slot);
    }
  }
}

void Contacts::evaluate_beams(int slot, const PairInstance& pair, bool accelerations) {
  BeamTouch& beams = beams_of(slot);
  SlotState& out = state_[static_cast<std::size_t>(slot)];
  beams.locate(state_at_.q, slot - pair.slot0);
  out.gap = contacts_->length_scale;
  out.margin = contacts_->length_scale;
  beams.rows(state_at_.q, state_at_.v, slot - pair.slot0, accelerations, out);
  branch_[static_cast<std::size_t>(slot)].feature = beams.feature(slot - pair.slot0);
}

void Contacts::find_beams(int pair, double reach, std::vector<int>& slots) {
  beams_[static_cast<std::size_t>(pair)]->find(state_at_.q, reach, slots);
  for (int& slot : slots) slot += contacts_->pairs[static_cast<std::size_t>(pair)].slot0;
}

void Contacts::evaluate_found(int slot) {
  mark(slot);
  const PairInstance& pair = contacts_->pair(slot);
  BeamTouch& beams = beams_of(slot);
  SlotState& out = state_[static_cast<std::size_t>(slot)];
  out.gap = out.margin = contacts_->length_scale;
  beams.rows(state_at_.q, state_at_.v, slot - pair.slot0, false, out);
  branch_[static_cast<std::size_t>(slot)].feature = beams.feature(slot - pair.slot0);
}

void Contacts::elements(int slot, std::vector<int>& out) const {
  beams_of(slot).elements(slot - contacts_->pair(slot).slot0, out);
}

double Contacts::largest_speed() const {
  double most = 0;
  for (const auto& beams : beams_)
    if (beams) most = std::max(most, beams->largest_speed(state_at_.v));
  return most;
}

void Contacts::evaluate(int slot, bool accelerations) {
  mark(slot);
  const PairInstance& pair = contacts_->pair(slot);
  if (pair.beams) return evaluate_beams(slot, pair, accelerations);
  SlotState& out = state_[static_cast<std::size_t>(slot)];
  if (pair.coordinates) {
    out.present = true;
    out.margin = contacts_->length_scale;
    out.basis.setIdentity();
    out.p1.setZero();
    out.p2.setZero();
    out.c1.setZero();
    out.c2.setZero();
    for (int k = 0; k < 2; ++k) {
      const CoordinateValue value = coordinate(pair.coordinates->row[k], nullptr);
      if (k == 0) out.gap = value.value;
      out.rate[k] = value.rate;
      out.bias[k] = value.bias;
    }
    for (int k = 2; k < 6; ++k) out.rate[k] = out.bias[k] = 0;
    return;
  }
  const ShapeInstance& s1 = contacts_->shapes[static_cast<std::size_t>(pair.shape1)];
  const ShapeInstance& s2 = contacts_->shapes[static_cast<std::size_t>(pair.shape2)];
  const FrameState<double> A = motion_of(engine_, s1.link), B = motion_of(engine_, s2.link);
  Branch& branch = branch_[static_cast<std::size_t>(slot)];
  Touch<double> t;
  t.gap = contacts_->length_scale;
  out.present =
      touch<double>(s1.geometry, s2.geometry, slot - pair.slot0, shape_pose(s1, A), shape_pose(s2, B), branch, t);
  out.gap = t.gap;
  if (!out.present) return;
  out.margin = t.margin;
  out.basis.col(0) = t.n;
  out.basis.col(1) = t.t1;
  out.basis.col(2) = t.t2;
  out.p1 = t.p1;
  out.p2 = t.p2;
  out.c1 = t.p1 - A.p;
  out.c2 = t.p2 - B.p;
  const Vec3 u = A.v + A.w.cross(out.c1) - B.v - B.w.cross(out.c2);
  for (int k = 0; k < 3; ++k) {
    out.rate[k] = out.basis.col(k).dot(u);
    out.rate[3 + k] = out.basis.col(k).dot(A.w - B.w);
  }
  if (!accelerations) return;
  Rows<double> rows;
  if (!rows_of<double>(s1, s2, slot - pair.slot0, A, B, branch, rows)) return;
  for (int k = 0; k < 6; ++k) out.bias[k] = rows.bias[k];
}

void Contacts::evaluate_on_branch(int slot) {
  const PairInstance& pair = contacts_->pair(slot);
  if (pair.in_coordinates()) return evaluate(slot, true);
  mark(slot);
  const ShapeInstance& s1 = contacts_->shapes[static_cast<std::size_t>(pair.shape1)];
  const ShapeInstance& s2 = contacts_->shapes[static_cast<std::size_t>(pair.shape2)];
  SlotState& out = state_[static_cast<std::size_t>(slot)];
  Rows<double> rows;
  out.present = rows_of<double>(s1, s2, slot - pair.slot0, motion_of(engine_, s1.link), motion_of(engine_, s2.link),
                                branch_[static_cast<std::size_t>(slot)], rows);
  if (!out.present) return;
  out.gap = rows.gap;
  out.margin = rows.margin;
  out.p1 = rows.p1;
  out.p2 = rows.p2;
  out.c1 = rows.c1;
  out.c2 = rows.c2;
  for (int k = 0; k < 3; ++k) out.basis.col(k) = rows.e[k];
  for (int k = 0; k < 6; ++k) {
    out.rate[k] = rows.rate[k];
    out.bias[k] = rows.bias[k];
  }
}

void Contacts::evaluate_held(int slot, int feature, bool accelerations) {
  evaluate(slot, accelerations);
  if (state_[static_cast<std::size_t>(slot)].present || feature < 0) return;
  branch_[static_cast<std::size_t>(slot)].feature = feature;
  evaluate_on_branch(slot);
}

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
  Rows<Wide> rows;
  rows_of<Wide>(s1, s2, slot - pair.slot0, wide(s1.link, 0), wide(s2.link, 6), branch_[static_cast<std::size_t>(slot)],
                rows);
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

void Contacts::column(int slot, int k, double* out) const {
  const PairInstance& pair = contacts_->pair(slot);
  const SlotState& s = state_[static_cast<std::size_t>(slot)];
  const Vec3 f = s.basis.col(k % 3);
  std::fill(out, out + engine_.sizes().nv, 0.0);
  if (pair.beams) return beams_of(slot).add_column(slot - pair.slot0, k, 0, engine_.sizes().nv, out);
  if (pair.coordinates) {
    coordinate(pair.coordinates->row[k], out);
    return;
  }
  if (k >= 3) {
    engine_.add_generalized(pair.link1, Vec3::Zero(), f, out);
    engine_.add_generalized(pair.link2, Vec3::Zero(), -f, out);
    return;
  }
  engine_.add_generalized(pair.link1, f, s.c1.cross(f), out);
  engine_.add_generalized(pair.link2, -f, -s.c2.cross(f), out);
}

void Contacts::add_column(int slot, int k, int tree, double* tau) {
  const PairInstance& pair = contacts_->pair(slot);
  const SlotState& s = state_[static_cast<std::size_t>(slot)];
  const Tree& trees = engine_.system().tree;
  const TreeRange& range = trees.trees[static_cast<std::size_t>(tree)];
  if (pair.beams) return beams_of(slot).add_column(slot - pair.slot0, k, range.v0, range.v1, tau);
  if (pair.coordinates) {
    gradient_.setZero(engine_.sizes().nv);
    coordinate(pair.coordinates->row[k], gradient_.data());
    for (int v = range.v0; v < range.v1; ++v) tau[v - range.v0] += gradient_[v];
    return;
  }
  const Vec3 f = s.basis.col(k);
  const auto in_tree = [&](int link) { return link >= 0 && trees.links[static_cast<std::size_t>(link)].tree == tree; };
  if (in_tree(pair.link1)) engine_.add_generalized_of_tree(pair.link1, f, s.c1.cross(f), tau);
  if (in_tree(pair.link2)) engine_.add_generalized_of_tree(pair.link2, -f, -s.c2.cross(f), tau);
}

void Contacts::add_beam_force(int slot, int k, double factor, double* out) const {
  beams_of(slot).add_column(slot - contacts_->pair(slot).slot0, k, 0, engine_.sizes().nv, out, factor);
}

void Contacts::wrenches(int slot, const Vec3& r, std::vector<Engine::LinkWrench>& out) const {
  const PairInstance& pair = contacts_->pair(slot);
  const SlotState& s = state_[static_cast<std::size_t>(slot)];
  if (pair.in_coordinates()) return;
  const Vec3 f = s.basis * r;
  if (pair.link1 >= 0) out.push_back({pair.link1, f, s.c1.cross(f)});
  if (pair.link2 >= 0) out.push_back({pair.link2, -f, -s.c2.cross(f)});
}

}  // namespace clatter::contact
