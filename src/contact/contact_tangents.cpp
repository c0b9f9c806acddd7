// Exact tangents of a phase: the engine's, and those of active contacts (symbols as in engine/derivatives.hpp).
//
//   sliding: r_T = -mu(|s|) r_N d,  d = s / |s|,   d(r_T)/ds = -r_N [mu/|s| (1 - d d^T) + mu' d d^T]
//
// What a row adds, whatever carries it, is in rows.hpp.
#include <algorithm>
#include <cmath>

#include "contact/contact_dynamics.hpp"

namespace clatter::contact {

namespace {

template <class Visit>
void entries(const Pattern& pattern, Visit&& visit) {
  for (int j = 0; j < pattern.cols(); ++j)
    for (int k = pattern.col_start()[static_cast<std::size_t>(j)];
         k < pattern.col_start()[static_cast<std::size_t>(j) + 1]; ++k)
      visit(pattern.row_index()[static_cast<std::size_t>(k)], j, k);
}

void copy_into(const SparseMatrix<double>& from, SparseMatrix<double>& to) {
  entries(from.pattern(), [&](int i, int j, int k) { to.add(i, j, from.values()[static_cast<std::size_t>(k)]); });
}

}  // namespace

const Tangents& ContactDynamics::tangent_layout() const {
  if (!layouts_.start) layouts_.start = make_layout(false);
  return *layouts_.start;
}

std::unique_ptr<Tangents> ContactDynamics::make_layout(bool with_couplings) const {
  const Tangents& e = engine_.tangent_layout();
  const Sizes& n = engine_.sizes();
  const int extra = compliant_.inner_states();
  PatternBuilder P(n.nv, n.nv), G(sizes_.nc(), n.nv), Rz(n.nv, sizes_.nz), F(sizes_.nz, n.nv), Fz(sizes_.nz, sizes_.nz);
  entries(e.M.pattern(), [&](int i, int j, int) { P.add(i, j); });
  entries(e.G.pattern(), [&](int i, int j, int) { G.add(row_of_engine(i), j); });
  entries(e.Rz.pattern(), [&](int i, int j, int) { Rz.add(i, j); });
  entries(e.Fq.pattern(), [&](int i, int j, int) { F.add(i, j); });
  entries(e.Fz.pattern(), [&](int i, int j, int) { Fz.add(i, j); });
  for (int z = n.nz; z < n.nz + extra; ++z) {
    for (int v = 0; v < n.nv; ++v) {
      Rz.add(v, z);
      F.add(z, v);
    }
    Fz.add(z, z);
  }
  bool directed = false;
  for (const ActiveFriction& f : active_frictions_) {
    const std::vector<int> columns = frictions_.columns(f.index);
    P.add_block(columns, columns);
    if (f.mode == Mode::stick) continue;
    // The rows that load a sliding friction push along its columns too.
    const FrictionInstance& friction = frictions_[f.index];
    std::vector<int> loads;
    if (friction.slot >= 0) loads.push_back(n.nh + normal_of(friction.slot));
    for (const FrictionLoad& load : friction.joint >= 0 ? frictions_.joint(f.index).load : std::vector<FrictionLoad>{})
      for (const int d : {load.force[0], load.force[1], load.moment[0], load.moment[1]})
        if (d >= 0) loads.push_back(row_of_engine(engine_.system().deformations[static_cast<std::size_t>(d)].row));
    for (const int row : loads)
      for (const int c : columns) G.add(row, c);
    directed = directed || !loads.empty();
  }
  for (const Row& row : rows_) {
    if (row.friction >= 0) {
      for (const int c : frictions_.columns(active_frictions_[static_cast<std::size_t>(row.friction)].index))
        G.add(row.index, c);
      continue;
    }
    const PairInstance& pair = system().pair(active_[static_cast<std::size_t>(row.contact)].slot);
    std::vector<int> columns = path(pair.link1);
    const std::vector<int>& second = path(pair.link2);
    if (pair.beams) {
      // The place of contact may wander over all elements. A row of both beams costs no more than they do; blocks are
      // those of elements that have met.
      for (int b = 0; b < (pair.beams->self ? 1 : 2); ++b)
        for (int v = 0; v < pair.beams->beam[b].body->nv; ++v) G.add(row.index, pair.beams->beam[b].v + v);
      continue;
    }
    if (pair.coordinates) {
      columns.clear();
      for (const CoordinateRow& r : pair.coordinates->row)
        for (const CoordinateRow::Input& in : r.inputs)
          if (in.v >= 0) columns.push_back(in.v);
    } else {
      columns.insert(columns.end(), second.begin(), second.end());
    }
    P.add_block(columns, columns);
    for (const int c : columns) G.add(row.index, c);
  }
  compliant_.add_pattern(P);
  for (const auto& couplings : layouts_.couplings)
    if (with_couplings && couplings) couplings->add_pattern(P);
  using Matrix = SparseMatrix<double>;
  const PatternPtr p = P.build(), g = G.build(), rz = Rz.build(), f = F.build(), fz = Fz.build();
  auto out = std::make_unique<Tangents>(Tangents{Matrix(p), Matrix(p), Matrix(p), Matrix(rz), Matrix(f), Matrix(f),
                                                 Matrix(fz), Matrix(g), Matrix(g), Matrix(g), Matrix(g), std::nullopt});
  for (const ActiveContact& c : active_) directed = directed || c.mode == Mode::slide;
  if (directed) out->N = Matrix(g);
  return out;
}

// The patterns grow by what touches here for the first time. Whoever comes with those of the start (a run that begins
// or goes on from a checkpoint) gets the couplings of this place alone, whatever was met before: the digits of a run do
// not depend on what it forgot.
void ContactDynamics::grow_layout(Tangents& out) {
  if (std::none_of(layouts_.couplings.begin(), layouts_.couplings.end(), [](const auto& c) { return c != nullptr; }))
    return;
  if (out.M.pattern_ptr() == tangent_layout().M.pattern_ptr()) {
    for (const auto& couplings : layouts_.couplings)
      if (couplings) couplings->forget();
    layouts_.grown.reset();
  }
  bool grown = compliant_.grow(layouts_.couplings);
  for (const ActiveContact& c : active_) {
    const auto pair = static_cast<std::size_t>(system().pair_of_slot[static_cast<std::size_t>(c.slot)]);
    if (!layouts_.couplings[pair]) continue;
    columns_.clear();
    contacts_.elements(c.slot, columns_);
    grown = layouts_.couplings[pair]->meet(columns_) || grown;
  }
  if (grown) layouts_.grown = make_layout(true);
  if (layouts_.grown && out.M.pattern_ptr() != layouts_.grown->M.pattern_ptr()) out = *layouts_.grown;
}

void ContactDynamics::tangents(const State& s, const Vec& a, const Vec& lambda, Tangents& out) {
  solved_.known = solved_.known && same_state(s, solved_.at);
  split(lambda);
  const State& e = engine_state(s);
  // All contact forces as applied wrenches, so that the tree turns its columns under them.
  wrenches_.clear();
  engine_.prepare_response(e);
  if (compliant_.any()) compliant_.apply(s.t, s.z.data() + engine_.sizes().nz, wrenches_);
  const std::size_t compliant_wrenches = wrenches_.size();
  for (const ActiveContact& c : active_) contacts_.evaluate_held(c.slot, c.feature, false);
  grow_layout(out);
  for (SparseMatrix<double>* m :
       {&out.M, &out.C, &out.K, &out.Rz, &out.Fq, &out.Fv, &out.Fz, &out.G, &out.Vq, &out.Aq, &out.Av})
    m->set_zero();
  if (out.N) out.N->set_zero();
  for (int i = 0; i < normals_; ++i)
    contacts_.wrenches(active_[static_cast<std::size_t>(i)].slot, force(i, lambda), wrenches_);
  for (std::size_t i = 0; i < active_frictions_.size(); ++i) {
    frictions_.evaluate(active_frictions_[i].index, false);
    double f[2];
    friction_force(static_cast<int>(i), lambda, f);
    frictions_.wrenches(active_frictions_[i].index, f, wrenches_);
  }
  engine_.set_external(wrenches_, compliant_.generalized());
  if (!layouts_.of_engine) layouts_.of_engine = std::make_unique<Tangents>(engine_.tangent_layout());
  Tangents& own = *layouts_.of_engine;
  engine_.tangents(e, a, of_engine_.lambda, own);
  wrenches_.resize(compliant_wrenches);
  engine_.set_external(wrenches_, compliant_.generalized());

  copy_into(own.M, out.M);
  copy_into(own.C, out.C);
  copy_into(own.K, out.K);
  copy_into(own.Rz, out.Rz);
  copy_into(own.Fq, out.Fq);
  copy_into(own.Fv, out.Fv);
  copy_into(own.Fz, out.Fz);
  entries(own.G.pattern(), [&](int i, int j, int k) {
    const int row = row_of_engine(i);
    const auto at = static_cast<std::size_t>(k);
    out.G.add(row, j, own.G.values()[at]);
    out.Vq.add(row, j, own.Vq.values()[at]);
    out.Aq.add(row, j, own.Aq.values()[at]);
    out.Av.add(row, j, own.Av.values()[at]);
    if (out.N) out.N->add(row, j, own.G.values()[at]);
  });
  if (compliant_.any()) compliant_.add_tangents(out);
  if (!active_frictions_.empty()) add_friction_tangents(lambda, out);

  for (int i = 0; i < normals_; ++i) add_contact_tangents(i, a, lambda, out);
}

void ContactDynamics::add_contact_tangents(int i, const Vec& a, const Vec& lambda, Tangents& out) {
  const ActiveContact& c = active_[static_cast<std::size_t>(i)];
  const int tangents = system().pair(c.slot).tangents;
  const Vec3 r = force(i, lambda);
  contacts_.rows(c.slot, 1 + tangents, r.data(), &a, contact_rows_);
  double d[2] = {0, 0}, mu = 0;
  if (c.mode == Mode::slide) {
    mu = sliding(c, d);
    const SlotState& slot = contacts_[c.slot];
    const double speed = tangents == 2 ? std::hypot(slot.rate[1], slot.rate[2]) : std::abs(slot.rate[1]);
    double dmu = 0;
    friction_coefficient(system().rigid(c.slot).friction, speed, &dmu);
    ForceSlopes slopes;
    slopes.add_sliding(1, tangents, d, turns_with_slip(c) ? r[0] * mu / speed : 0, r[0] * dmu);
    add_forces(contact_rows_, &slopes, out);
  } else {
    add_forces(contact_rows_, nullptr, out);
  }
  for (const Row& row : rows_) {
    if (row.contact != i) continue;
    add_row(contact_rows_, row.component, row.index, out);
    for (int k = 1; k <= tangents && row.component == 0; ++k)
      add_direction(contact_rows_, k, row.index, -mu * d[k - 1], out);
  }
}

// Shapes move with their bodies; only rows written in coordinates know the time. With i_t the place of t among a
// formula's inputs and u their rates, dW/dt = H(i_t, .), d(rate)/dt = H(i_t, .) u, d(bias)/dt = D3[u, u, e_t].
void ContactDynamics::time_tangent(const State& s, const Vec& a, const Vec& lambda, Vec& r_t, Vec& gamma_t) {
  const int nc = engine_.sizes().nc();
  Vec own(nc);
  engine_.time_tangent(engine_state(s), r_t, own);
  gamma_t.setZero(sizes_.nc());
  for (int r = 0; r < nc; ++r) gamma_t[row_of_engine(r)] = own[r];
  if (rows_.empty()) return;
  engine_.prepare_response(engine_state(s));
  columns(false);
  Contacts::TimeTangent t[2];
  for (int i = 0; i < normals_; ++i) {
    const ActiveContact& c = active_[static_cast<std::size_t>(i)];
    if (!system().pair(c.slot).coordinates) continue;
    for (int k = 0; k < 2; ++k) contacts_.by_time(c.slot, k, t[k]);
    const Vec3 r = force(i, lambda);
    r_t -= r[0] * t[0].column + r[1] * t[1].column;
    if (c.mode == Mode::slide) {
      double d[2], slope = 0;
      sliding(c, d);
      friction_coefficient(system().rigid(c.slot).friction, std::abs(contacts_[c.slot].rate[1]), &slope);
      contacts_.column(c.slot, 1, problem_.column.data());
      r_t += slope * std::copysign(t[1].rate, contacts_[c.slot].rate[1] * t[1].rate) * d[0] * r[0] * problem_.column;
    }
    for (const Row& row : rows_)
      if (row.contact == i) gamma_t[row.index] = t[row.component].bias + t[row.component].column.dot(a);
  }
}

}  // namespace clatter::contact
