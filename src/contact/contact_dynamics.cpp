#include "contact/contact_dynamics.hpp"

#include <algorithm>
#include <cmath>

namespace clatter::contact {

namespace {

// Event functions are shifted by these parts of the model's scales, so that a contact that has just changed its state
// starts on the positive side whatever rounding did to it.
constexpr double kGapOffset = 1e-13, kForceOffset = 1e-11, kSlipOffset = 1e-11, kRateOffset = 1e-12;
// A point of contact ends where its foot is this part of the shapes' sizes beyond the end of an edge or face: a little
// beyond where the manifolds (polygon_manifold.hpp, polytope_manifold.hpp) let it begin. Faces that lie exactly on each
// other have all their corners on edges, where the drift of what sticks, or rounding, would make them pass to and fro.
constexpr double kBeyondEdge = 1.5e-9;
// Speeds below this part of the velocity scale count as rest at an instant (InstantSettings::velocity).
constexpr double kRest = 1e-9;
// A slot nearer than this part of the length scale was closed when the phase began.
constexpr double kYoung = 1e-9;
// Sliding friction jams when it has taken away all but this part of the contact's own stiffness.
constexpr double kJam = 1e-6;
// Slip in space below this part of the velocity scale has no direction of its own: it keeps the one of the last step.
// Friction turns slip into its own direction at the rate mu r_N (W^T M^-1 W) / |slip|, so that slip which begins (or
// ends) would ask for steps in proportion to |slip|, down to where the integrator's errors are all of it.
constexpr double kNoSlip = 5e-7;
// Pairs farther apart than this part of the length scale are not looked at more closely.
constexpr double kFar = 1e-3;

double beyond_edge(const ContactSystem& system, int slot) {
  const PairInstance& pair = system.pair(slot);
  double size = 0;  // of what has an end
  if (!pair.in_coordinates())
    for (const int shape : {pair.shape1, pair.shape2}) {
      const Geometry& g = system.shapes[static_cast<std::size_t>(shape)].geometry;
      size += std::isfinite(g.bound) ? g.bound : g.length / 2;
    }
  return size > 0 ? kBeyondEdge * size : kGapOffset * system.length_scale;
}

}  // namespace

ContactDynamics::ContactDynamics(std::shared_ptr<const ContactSystem> contacts, Engine& engine)
    : contacts_(std::move(contacts), engine), engine_(engine), compliant_(contacts_), frictions_(contacts_) {
  const Sizes& n = engine.sizes();
  of_engine_.lambda.setZero(n.nc());
  of_engine_.zdot.setZero(n.nz);
  of_engine_.phi.setZero(n.nh);
  of_engine_.velocity.setZero(n.nc());
  of_engine_.p.setZero(n.np);
  of_engine_.g.setZero(n.ne);
  of_engine_.b.setZero(n.nc());
  problem_.column.setZero(n.nv);
  slowest_approach_.assign(static_cast<std::size_t>(contacts_.slots()), -1);
  for (const PairInstance& pair : system().pairs)
    layouts_.couplings.push_back(pair.beams ? std::make_unique<BeamCouplings>(*pair.beams) : nullptr);
  set_active({}, engine.system().initial);
}

void ContactDynamics::set_active(std::vector<ActiveContact> active, const State& s,
                                 std::vector<ActiveFriction> frictions) {
  const Sizes& n = engine_.sizes();
  active_ = std::move(active);
  rows_.clear();
  normals_ = static_cast<int>(active_.size());
  for (int i = 0; i < normals_; ++i) rows_.push_back({i, 0, n.nh + i});
  for (int i = 0; i < normals_; ++i) {
    const ActiveContact& c = active_[static_cast<std::size_t>(i)];
    if (c.mode != Mode::stick) continue;
    for (int k = 1; k <= system().pair(c.slot).tangents; ++k)
      rows_.push_back({i, k, n.nc() + static_cast<int>(rows_.size())});
  }
  set_frictions(std::move(frictions));
  const int k = static_cast<int>(rows_.size());
  sizes_ = n;
  sizes_.nh += normals_;
  sizes_.nn += k - normals_;
  sizes_.nz += compliant_.inner_states();
  sizes_.np += 2 * static_cast<int>(system().groups.size()) + static_cast<int>(system().friction_channels.size());
  problem_.W.setZero(n.nv, k);
  problem_.D.setZero(n.nv, k);
  problem_.X.setZero(n.nv, k);
  problem_.Mu.setZero(n.nc(), k);
  problem_.A.setZero(k, k);
  problem_.rhs.setZero(k);
  problem_.force.setZero(k);
  problem_.qr.reserve(k);
  layouts_.start.reset();
  layouts_.grown.reset();

  // Every rigid slot that is not active is watched.
  watched_.clear();
  std::vector<char> is_active(static_cast<std::size_t>(contacts_.slots()), 0);
  for (const ActiveContact& c : active_) is_active[static_cast<std::size_t>(c.slot)] = 1;
  const bool any = system().any_rigid && contacts_.slots() > 0;
  if (any && s.q.size() == n.nq) contacts_.detect(engine_state(s), system().length_scale);
  for (ActiveContact& c : active_) c.feature = contacts_.branch(c.slot).feature;
  for (int slot = 0; any && slot < contacts_.slots(); ++slot) {
    if (!system().pair(slot).rigid || is_active[static_cast<std::size_t>(slot)]) continue;
    watched_.push_back(slot);
    const bool young = contacts_[slot].present && contacts_[slot].gap < kYoung * system().length_scale;
    // Slower than this it has not come back. What approached when it was let go, no faster than what counts as rest at
    // an instant, may become twice as fast before it does: otherwise the same decision would be asked for at once.
    const double approach = young ? std::max(0.0, -contacts_[slot].rate[0]) / system().velocity_scale : 0;
    slowest_approach_[static_cast<std::size_t>(slot)] =
        young ? system().velocity_scale * (kRateOffset + (approach <= kRest ? 2 * approach : 0)) : -1;
  }
  int reserves = 0;
  for (const ActiveContact& c : active_)
    if (frictional(c.slot)) reserves += c.mode == Mode::slide ? 2 : 1;
  sizes_.ne = n.ne + static_cast<int>(watched_.size()) + 2 * normals_ + reserves + friction_event_count() +
              compliant_.event_count();
  if (watch_)
    watch_->begin_phase(active_, n.ne, static_cast<int>(watched_.size()), sizes_.ne - compliant_.event_count());
  solved_.known = looked_.known = false;
  solved_.a.setZero(n.nv);
  solved_.lambda.setZero(sizes_.nc());
  solved_.zdot.setZero(sizes_.nz);
  looked_.g.setZero(sizes_.ne);
  problem_.weight.setZero(k);
  problem_.weighted.setZero(k, k);
  problem_.groups.setZero(static_cast<Eigen::Index>(system().groups.size()));
}

PassageWatch& ContactDynamics::watch_passages() {
  if (!watch_) watch_ = std::make_unique<PassageWatch>(contacts_);
  return *watch_;
}

void ContactDynamics::watch_only(std::span<const std::size_t> pairs) {
  watch_passages().watch_only(pairs);
  looked_.known = false;
}

const std::vector<int>& ContactDynamics::path(int link) const {
  static const std::vector<int> none;
  return link < 0 ? none : engine_.system().tree.path[static_cast<std::size_t>(link)];
}

const State& ContactDynamics::engine_state(const State& s) {
  contacts_.at(s);
  frictions_.at(s);
  if (s.z.size() == engine_.sizes().nz) return s;
  of_engine_.state.t = s.t;
  of_engine_.state.q = s.q;
  of_engine_.state.v = s.v;
  of_engine_.state.z = s.z.head(engine_.sizes().nz);
  return of_engine_.state;
}

void ContactDynamics::split(const Vec& lambda) {
  const int nc = engine_.sizes().nc();
  for (int r = 0; r < nc; ++r) of_engine_.lambda[r] = lambda[row_of_engine(r)];
  for (std::size_t i = 0; i < rows_.size(); ++i) problem_.force[static_cast<Eigen::Index>(i)] = lambda[rows_[i].index];
}

bool ContactDynamics::frictional(int slot) const {
  const Friction& f = system().rigid(slot).friction;
  return f.mu > 0 || f.curve != nullptr;
}

bool ContactDynamics::turns_with_slip(const ActiveContact& c) const {
  const SlotState& s = contacts_[c.slot];
  return system().pair(c.slot).tangents == 2 &&
         c.direction[0] * s.rate[1] + c.direction[1] * s.rate[2] > kNoSlip * system().velocity_scale;
}

double ContactDynamics::sliding(const ActiveContact& c, double direction[2]) const {
  const SlotState& s = contacts_[c.slot];
  const RigidContact& law = system().rigid(c.slot);
  direction[0] = c.direction[0];
  direction[1] = c.direction[1];
  double speed = std::abs(s.rate[1]);
  if (system().pair(c.slot).tangents == 2) {
    // Beyond rest the direction before it holds, so that a step across it is smooth; an event cuts it there.
    speed = std::hypot(s.rate[1], s.rate[2]);
    if (turns_with_slip(c)) {
      direction[0] = s.rate[1] / speed;
      direction[1] = s.rate[2] / speed;
    }
  }
  return friction_coefficient(law.friction, speed);
}

void ContactDynamics::columns(bool accelerations) {
  solved_.known = false;
  for (const ActiveContact& c : active_) contacts_.evaluate_held(c.slot, c.feature, accelerations);
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const auto col = static_cast<Eigen::Index>(i);
    if (rows_[i].friction >= 0) continue;
    const ActiveContact& c = active_[static_cast<std::size_t>(rows_[i].contact)];
    contacts_.column(c.slot, rows_[i].component, problem_.W.col(col).data());
    problem_.D.col(col) = problem_.W.col(col);
    if (rows_[i].component != 0 || c.mode != Mode::slide) continue;
    double d[2];
    const double mu = sliding(c, d);
    if (mu == 0) continue;
    for (int k = 1; k <= system().pair(c.slot).tangents; ++k) {
      contacts_.column(c.slot, k, problem_.column.data());
      problem_.D.col(col) -= mu * d[k - 1] * problem_.column;
    }
  }
  for (const ActiveFriction& f : active_frictions_) frictions_.evaluate(f.index, accelerations);
  if (!active_frictions_.empty()) friction_columns();
}

void ContactDynamics::apply_compliant(const State& s) {
  if (!compliant_.any()) return;
  wrenches_.clear();
  const State& e = engine_state(s);
  engine_.place(e);
  compliant_.apply(s.t, s.z.data() + engine_.sizes().nz, wrenches_);
  engine_.set_external(wrenches_, compliant_.generalized());
}

void ContactDynamics::solve_rows(int rows, Vec& x) {
  if (rows == 1) {
    const double d = problem_.A(0, 0);
    x[0] = d != 0 ? x[0] / d : 0;
    return;
  }
  problem_.qr.compute(problem_.A.topLeftCorner(rows, rows));
  problem_.qr.solve(x.head(rows));
}

// Contacts that depend on each other share friction as their normal forces allow it: all reach their limits together,
// and none is called slipping while the others could still hold. problem_.rhs holds forces of least norm.
void ContactDynamics::share_friction() {
  const int k = static_cast<int>(rows_.size());
  problem_.weight.setOnes();
  const double largest = problem_.rhs.head(normals_).cwiseAbs().maxCoeff();
  for (int i = normals_; i < k; ++i) {
    const Row& row = rows_[static_cast<std::size_t>(i)];
    if (row.friction >= 0) continue;
    const double mu =
        friction_coefficient(system().rigid(active_[static_cast<std::size_t>(row.contact)].slot).friction, 0);
    // The least sum of r_T^2 / (mu r_N) has r_T in proportion to mu r_N.
    problem_.weight[i] =
        std::sqrt(std::max(1e-12, largest > 0 ? mu * std::abs(problem_.rhs[row.contact]) / largest : 1.0));
  }
  problem_.weighted.noalias() = problem_.A * problem_.weight.asDiagonal();
  problem_.force.noalias() = problem_.A * problem_.rhs;
  problem_.rhs = problem_.force;
  problem_.qr.compute(problem_.weighted);
  problem_.qr.solve(problem_.rhs);
  problem_.rhs.array() *= problem_.weight.array();
}

void ContactDynamics::free_accelerations(const State& s, Vec& a, Vec& lambda, Vec& zdot) {
  const int nz = engine_.sizes().nz;
  apply_compliant(s);
  const State& e = engine_state(s);
  engine_.accelerations(e, a, lambda, of_engine_.zdot);
  zdot.resize(sizes_.nz);
  zdot.head(nz) = of_engine_.zdot;
  if (compliant_.inner_states() > 0) compliant_.inner_rates(s.z.data() + nz, zdot.data() + nz);
}

void ContactDynamics::accelerations(const State& s, Vec& a, Vec& lambda, Vec& zdot) {
  const int nc = engine_.sizes().nc(), k = static_cast<int>(rows_.size());
  if (solved_.known && same_state(s, solved_.at)) {
    engine_.prepare_response(engine_state(s));
    a = solved_.a;
    lambda = solved_.lambda;
    zdot = solved_.zdot;
    return;
  }
  free_accelerations(s, a, of_engine_.lambda, zdot);
  if (k > 0 || !sliding_.list.empty()) columns(true);
  respond_to_sliding();
  if (k > 0) {
    for (int i = 0; i < k; ++i)
      engine_.response(problem_.D.col(i).data(), problem_.X.col(i).data(),
                       nc > 0 ? problem_.Mu.col(i).data() : nullptr);
    problem_.A.noalias() = problem_.W.transpose() * problem_.X;
    for (int i = 0; i < k; ++i) {
      const Row& row = rows_[static_cast<std::size_t>(i)];
      problem_.rhs[i] =
          -problem_.W.col(i).dot(a) -
          (row.friction >= 0
               ? frictions_.bias(active_frictions_[static_cast<std::size_t>(row.friction)].index)[row.component]
               : contacts_[active_[static_cast<std::size_t>(row.contact)].slot].bias[row.component]);
    }
    solve_rows(k, problem_.rhs);
    const bool shared = k > 1 && normals_ > 0 && k > normals_ && problem_.qr.rank() < k;
    if (shared) share_friction();
    for (Eigen::Index j = 0; j < sliding_.R.cols(); ++j) {
      sliding_.R.col(j).noalias() = problem_.W.transpose() * sliding_.X.col(j);
      if (k == 1) {
        sliding_.R(0, j) = problem_.A(0, 0) != 0 ? sliding_.R(0, j) / problem_.A(0, 0) : 0;
      } else {
        problem_.qr.solve(sliding_.R.col(j));
        if (shared) sliding_.R.col(j).array() *= problem_.weight.array();
      }
    }
    a.noalias() += problem_.X * problem_.rhs;
    if (nc > 0) of_engine_.lambda.noalias() += problem_.Mu * problem_.rhs;
  }
  if (!sliding_.list.empty()) solve_frictions(a, problem_.rhs);
  for (int i = 0; i < k; ++i) lambda[rows_[static_cast<std::size_t>(i)].index] = problem_.rhs[i];
  for (int r = 0; r < nc; ++r) lambda[row_of_engine(r)] = of_engine_.lambda[r];
  // Compliant forces are wrenches in the engine, which others may replace; sliding joints keep more than is kept here.
  if (k == 0 || compliant_.any() || !active_frictions_.empty()) return;
  solved_.a = a;
  solved_.lambda = lambda;
  solved_.zdot = zdot;
  solved_.at = s;
  solved_.known = true;
}

void ContactDynamics::residual(const State& s, const Vec& a, const Vec& lambda, Vec& r, Vec& zdot) {
  const int nz = engine_.sizes().nz;
  apply_compliant(s);
  split(lambda);
  const State& e = engine_state(s);
  engine_.residual(e, a, of_engine_.lambda, r, of_engine_.zdot);
  zdot.head(nz) = of_engine_.zdot;
  if (compliant_.inner_states() > 0) compliant_.inner_rates(s.z.data() + nz, zdot.data() + nz);
  if (rows_.empty() && sliding_.list.empty()) return;
  columns(false);
  if (!rows_.empty()) r.noalias() -= problem_.D * problem_.force;
  if (!sliding_.list.empty()) add_sliding(r);
}

void ContactDynamics::constraints(const State& s, Vec& phi, Vec& velocity_residual) {
  const State& e = engine_state(s);
  const int nh = engine_.sizes().nh, nc = engine_.sizes().nc();
  engine_.constraints(e, of_engine_.phi, of_engine_.velocity);
  phi.head(nh) = of_engine_.phi;
  for (int r = 0; r < nc; ++r) velocity_residual[row_of_engine(r)] = of_engine_.velocity[r];
  if (rows_.empty()) return;
  engine_.place(e);
  solved_.known = solved_.known && same_state(s, solved_.at);
  for (const ActiveContact& c : active_) contacts_.evaluate_held(c.slot, c.feature, false);
  for (const ActiveFriction& f : active_frictions_) frictions_.evaluate(f.index, false);
  for (const Row& row : rows_) {
    if (row.friction >= 0) {
      velocity_residual[row.index] =
          frictions_.rate(active_frictions_[static_cast<std::size_t>(row.friction)].index)[row.component];
      continue;
    }
    const SlotState& slot = contacts_[active_[static_cast<std::size_t>(row.contact)].slot];
    if (row.component == 0) phi[row.index] = slot.gap;
    velocity_residual[row.index] = slot.rate[row.component];
  }
}

void ContactDynamics::constraint_forces(const State& s, const Vec& lambda, Vec& f) {
  split(lambda);
  const State& e = engine_state(s);
  engine_.constraint_forces(e, of_engine_.lambda, f);
  if (rows_.empty()) return;
  engine_.place(e);
  columns(false);
  f.noalias() += problem_.D * problem_.force;
}

void ContactDynamics::least_correction(const State& s, const Vec& b, bool positions, Vec& delta) {
  const int nh = engine_.sizes().nh, nc = engine_.sizes().nc();
  const int k = positions ? normals_ : static_cast<int>(rows_.size());
  const State& e = engine_state(s);
  for (int r = 0; r < nc; ++r) of_engine_.b[r] = positions ? (r < nh ? b[r] : 0.0) : b[row_of_engine(r)];
  engine_.least_correction(e, of_engine_.b, positions, delta);
  if (k == 0) return;
  // The engine's rows are met; add the smallest change that meets the contacts' and keeps them. Non-holonomic rows are
  // held as well when positions are corrected: sliding wheels do not turn to close a gap.
  engine_.prepare_response(e);
  columns(false);
  for (int i = 0; i < k; ++i) engine_.response(problem_.W.col(i).data(), problem_.X.col(i).data(), nullptr);
  problem_.A.topLeftCorner(k, k).noalias() = problem_.W.leftCols(k).transpose() * problem_.X.leftCols(k);
  for (int i = 0; i < k; ++i)
    problem_.rhs[i] = b[rows_[static_cast<std::size_t>(i)].index] - problem_.W.col(i).dot(delta);
  solve_rows(k, problem_.rhs);
  delta.noalias() += problem_.X.leftCols(k) * problem_.rhs.head(k);
}

double ContactDynamics::stored_energy(const State& s) {
  const double stored = engine_.stored_energy(engine_state(s));
  if (!compliant_.any()) return stored;
  apply_compliant(s);
  return stored + compliant_.stored_energy();
}

void ContactDynamics::powers(const State& s, const Vec& a, const Vec& lambda, Vec& p) {
  const int np = engine_.sizes().np;
  split(lambda);
  const State& e = engine_state(s);
  engine_.powers(e, a, of_engine_.lambda, of_engine_.p);
  p.setZero();
  p.head(np) = of_engine_.p;
  if (compliant_.any()) {
    apply_compliant(s);
    problem_.groups.setZero();
    compliant_.powers({problem_.groups.data(), static_cast<std::size_t>(problem_.groups.size())});
    for (Eigen::Index g = 0; g < problem_.groups.size(); ++g)
      p[friction_channel(static_cast<int>(g))] += problem_.groups[g];
  }
  if (rows_.empty() && active_frictions_.empty()) return;
  engine_.place(e);
  solved_.known = solved_.known && same_state(s, solved_.at);
  for (const ActiveContact& c : active_) contacts_.evaluate_held(c.slot, c.feature, false);
  for (std::size_t i = 0; i < active_frictions_.size(); ++i) {
    const int index = active_frictions_[i].index;
    frictions_.evaluate(index, false);
    double f[2];
    friction_force(static_cast<int>(i), lambda, f);
    const FrictionInstance& row = frictions_[index];
    for (int c = 0; c < row.count; ++c)
      p[row.joint >= 0 ? joint_channel(index) : friction_channel(system().pair(row.slot).group)] +=
          f[c] * frictions_.rate(index)[c];
  }
  for (int i = 0; i < normals_; ++i) {
    const ActiveContact& c = active_[static_cast<std::size_t>(i)];
    const SlotState& slot = contacts_[c.slot];
    const Vec3 r = force(i, lambda);
    // A row held at rate zero does no work; what rounding leaves of it is booked too, so that the ledger closes.
    p[friction_channel(system().pair(c.slot).group)] += r[0] * slot.rate[0] + r[1] * slot.rate[1] + r[2] * slot.rate[2];
  }
}

Vec3 ContactDynamics::force(int i, const Vec& lambda) const {
  const ActiveContact& c = active_[static_cast<std::size_t>(i)];
  Vec3 r = Vec3::Zero();
  for (const Row& row : rows_)
    if (row.contact == i) r[row.component] = lambda[row.index];
  if (c.mode == Mode::slide) {
    double d[2];
    const double mu = sliding(c, d);
    r[1] = -mu * r[0] * d[0];
    if (system().pair(c.slot).tangents == 2) r[2] = -mu * r[0] * d[1];
  }
  return r;
}

// Gap of a watched slot, or a lower bound of it where its pair is far apart. Contours keep following their nearest
// points. `pair` and `far` remember the pair looked at last: slots of a pair follow each other.
double ContactDynamics::watched_gap(int slot, int& pair, bool& far) {
  const int of_slot = system().pair_of_slot[static_cast<std::size_t>(slot)];
  if (of_slot != pair) {
    pair = of_slot;
    const PairInstance& p = system().pair(slot);
    const auto contour = [&](int shape) {
      const ContactShape::Kind kind = system().shapes[static_cast<std::size_t>(shape)].geometry.kind;
      return kind == ContactShape::Kind::ellipse || kind == ContactShape::Kind::curve ||
             kind == ContactShape::Kind::spline;
    };
    far = !p.in_coordinates() && !contour(p.shape1) && !contour(p.shape2) &&
          contacts_.distance_bound(slot) > kFar * system().length_scale;
  }
  if (far) return kFar * system().length_scale;
  contacts_.evaluate(slot, false);
  const SlotState& state = contacts_[slot];
  // A slot that has just been left is on the positive side until it comes back.
  const double slow = slowest_approach_[static_cast<std::size_t>(slot)];
  const bool leaving = slow >= 0 && state.present && state.rate[0] > -slow;
  return leaving ? std::max(state.gap, kGapOffset * system().length_scale) : state.gap;
}

void ContactDynamics::events(const State& s, Vec& g) {
  if (looked_.known && same_state(s, looked_.at)) {
    g = looked_.g;
    return;
  }
  const int ne = engine_.sizes().ne;
  const State& e = engine_state(s);
  if (ne > 0) {
    engine_.events(e, of_engine_.g);
    g.head(ne) = of_engine_.g;
  }
  int at = ne;
  if (normals_ > 0 || friction_event_count() > 0) {
    accelerations(s, solved_.a, solved_.lambda, solved_.zdot);
  } else {
    apply_compliant(s);
    engine_.place(e);
  }
  int pair = -1;
  bool far = false;
  if (watch_) watch_->see_shapes();
  for (const int slot : watched_) {
    if (watch_ && watch_->leaves_out(slot)) {
      g[at++] = kFar * system().length_scale;
      continue;
    }
    g[at++] = watched_gap(slot, pair, far);
    if (watch_ && !far) watch_->see_slot(slot);
  }
  if (watch_ && compliant_.any()) watch_->see_compliant(compliant_);
  const double f0 = kForceOffset * system().force_scale, v0 = kSlipOffset * system().velocity_scale;
  for (int i = 0; i < normals_; ++i) {
    const ActiveContact& c = active_[static_cast<std::size_t>(i)];
    const Vec3 r = force(i, solved_.lambda);
    g[at++] = r[0] + f0;
    const SlotState& slot = contacts_[c.slot];
    if (frictional(c.slot)) {
      if (c.mode == Mode::slide) {
        engine_.response(problem_.W.col(i).data(), problem_.column.data(), nullptr);
        g[at++] = problem_.A(i, i) / problem_.W.col(i).dot(problem_.column) - kJam;
      }
      if (c.mode == Mode::stick) {
        g[at++] = friction_coefficient(system().rigid(c.slot).friction, 0) * r[0] - std::hypot(r[1], r[2]) + f0;
      } else {
        g[at++] = c.direction[0] * slot.rate[1] + c.direction[1] * slot.rate[2] + v0;
      }
    }
    const double beyond = beyond_edge(system(), c.slot);
    g[at++] = slot.present ? slot.margin + beyond : -beyond;
  }
  friction_events(solved_.lambda, g, at);
  if (compliant_.event_count() > 0) compliant_.events(g.data() + at);
  if (compliant_.any()) return;  // what their laws remember may change without the state
  looked_.at = s;
  looked_.g = g;
  looked_.known = true;
}

void ContactDynamics::remember_slip() {
  looked_.known = solved_.known = false;
  for (ActiveContact& c : active_) {
    if (c.mode != Mode::slide || system().pair(c.slot).tangents != 2) continue;
    double d[2];
    sliding(c, d);
    c.direction[0] = d[0];
    c.direction[1] = d[1];
  }
  for (ActiveFriction& f : active_frictions_) {
    if (f.mode != Mode::slide || frictions_[f.index].count != 2 || system().smooth) continue;
    frictions_.evaluate(f.index, false);
    friction_direction(f, f.direction);
  }
}

bool ContactDynamics::slip_has_stopped(int slot) const {
  constexpr double kStopped = 1e-6;
  const SlotState& s = contacts_[slot];
  const double speed = system().pair(slot).tangents == 2 ? std::hypot(s.rate[1], s.rate[2]) : std::abs(s.rate[1]);
  return speed < kStopped * system().velocity_scale;
}

ContactDynamics::EventInfo ContactDynamics::event_info(int index) const {
  int at = index - engine_.sizes().ne;
  if (at < 0) return {-1, ContactEvent::touch};
  if (at < static_cast<int>(watched_.size())) return {watched_[static_cast<std::size_t>(at)], ContactEvent::touch};
  at -= static_cast<int>(watched_.size());
  for (const ActiveContact& c : active_) {
    if (at-- == 0) return {c.slot, ContactEvent::lift};
    if (frictional(c.slot)) {
      if (c.mode == Mode::slide && at-- == 0) return {c.slot, ContactEvent::jam};
      if (at-- == 0) return {c.slot, c.mode == Mode::stick ? ContactEvent::slip : ContactEvent::stop};
    }
    if (at-- == 0) return {c.slot, ContactEvent::feature};
  }
  if (friction_event_count() > 0) {
    for (const ActiveFriction& f : active_frictions_)
      if (at-- == 0) return {-1, f.mode == Mode::stick ? ContactEvent::slip : ContactEvent::stop, f.index};
    if (sliding_.load_themselves && at-- == 0)
      return {-1, ContactEvent::jam, active_frictions_[static_cast<std::size_t>(sliding_.jamming)].index};
  }
  return {-1, ContactEvent::touch};
}

std::string ContactDynamics::event_name(int index) const {
  if (index < engine_.sizes().ne) return engine_.event_name(index);
  const EventInfo info = event_info(index);
  if (info.slot < 0 && info.friction < 0) {
    const int first = sizes_.ne - compliant_.event_count();
    const auto [slot, ends] = compliant_.event_info(index - first);
    return system().slot_name(slot) + (ends ? ": contact ends" : ": contact begins");
  }
  static constexpr const char* kNames[] = {"touches",        "lifts off",      "slip stops",
                                           "starts to slip", "passes an edge", "jams by friction"};
  return (info.friction >= 0 ? frictions_[info.friction].name : system().slot_name(info.slot)) + ": " +
         kNames[static_cast<int>(info.kind)];
}

std::string ContactDynamics::row_name(int row) const {
  for (const Row& r : rows_) {
    if (r.index != row) continue;
    if (r.friction >= 0)
      return frictions_[active_frictions_[static_cast<std::size_t>(r.friction)].index].name + ".friction";
    return system().slot_name(active_[static_cast<std::size_t>(r.contact)].slot) +
           (r.component == 0 ? ".gap" : ".slip");
  }
  return engine_.row_name(row < engine_.sizes().nh ? row : row - normals_);
}

void ContactDynamics::scales(Vec& u_scale, Vec& v_scale, Vec& z_scale) const {
  Vec z(engine_.sizes().nz);
  engine_.scales(u_scale, v_scale, z);
  z_scale.head(engine_.sizes().nz) = z;
  z_scale.tail(compliant_.inner_states()).setConstant(system().length_scale);
}

}  // namespace clatter::contact
