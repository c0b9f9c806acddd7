#include "contact/contacts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "contact/slot_motion.hpp"
#include "model/expression.hpp"
#include "model/formula.hpp"
#include "shapes/polygon_manifold.hpp"

namespace clatter::contact {

Contacts::Contacts(std::shared_ptr<const ContactSystem> contacts, Engine& engine)
    : contacts_(std::move(contacts)),
      engine_(engine),
      broad_(*contacts_),
      state_(static_cast<std::size_t>(contacts_->slots())),
      branch_(static_cast<std::size_t>(contacts_->slots())),
      carrier_(engine) {
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
  SlotMotion<double> rows;
  if (!slot_motion<double>(s1, s2, slot - pair.slot0, A, B, branch, rows)) return;
  for (int k = 0; k < 6; ++k) out.bias[k] = rows.bias[k];
}

void Contacts::evaluate_on_branch(int slot) {
  const PairInstance& pair = contacts_->pair(slot);
  if (pair.in_coordinates()) return evaluate(slot, true);
  mark(slot);
  const ShapeInstance& s1 = contacts_->shapes[static_cast<std::size_t>(pair.shape1)];
  const ShapeInstance& s2 = contacts_->shapes[static_cast<std::size_t>(pair.shape2)];
  SlotState& out = state_[static_cast<std::size_t>(slot)];
  SlotMotion<double> rows;
  out.present = slot_motion<double>(s1, s2, slot - pair.slot0, motion_of(engine_, s1.link), motion_of(engine_, s2.link),
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
