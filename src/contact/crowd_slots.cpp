// Rows of a crowd that no search of shapes finds: contacts written in coordinates, beams on beams, friction in joints;
// for CrowdStepper.
//
//   u_k = W_k^T v + m_k,   W_k: columns of generalized forces of the slot (contacts.hpp) or friction row
//                          (friction_rows.hpp), m: what its surfaces move by themselves (formulas of the time)
//
// Such a row lives in a space of its own whose axes x, y, z are n, t1, t2: its sides are columns over the one or two
// groups of velocities that answer together. From there on it is a row as any other: same laws, solvers, energy, push
// and proof. It is written at the begin of the step, as all rows of crowds are.
//
// Friction in a joint has no gap but a limit l h, l = base + mu N(lambda) (has_given_limit). lambda are the reactions
// of the same step: the step is solved for given limits and these again for the reactions found, until they agree to
// what the tolerance of the rates lets forces differ by. The limits of the step before are the start.
//
// Compliant contacts of a crowd are forces at the begin of the step (ContactDynamics); here they remember their events.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "contact/crowd_stepper.hpp"

namespace clatter::contact {

namespace {

constexpr int kIterations = 100;
// Limits beyond this many times the force scale have no end.
constexpr double kRunaway = 1e8;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

void CrowdStepper::begin_slots() {
  slots_.columns.setZero(n_.nv, 3);
  slots_.events.setZero(contact_.compliant().event_count());
  for (const PairInstance& pair : system().pairs) {
    if (!pair.rigid) continue;
    slots_.any = true;
    const RigidContact& law = system().rigid(pair.slot0);
    impacts_.any = impacts_.any || needs_two_phases(law);
    laws_.shifting = laws_.shifting || law.tangential_restitution > 0 || (needs_two_phases(law) && law.friction.any());
    if (!pair.coordinates) continue;
    for (const CoordinateRow& row : pair.coordinates->row)
      for (const CoordinateRow::Input& in : row.inputs) laws_.shifting = laws_.shifting || in.v < 0;
  }
}

// Marks the links that slots and friction rows move, and the trees that have to be groups for them.
void CrowdStepper::use_slots(std::vector<char>& used, std::vector<char>& grouped) const {
  const auto use = [&](int link) {
    if (link < 0) return;
    used[at(link)] = 1;
    grouped[at(engine_.system().tree.links[at(link)].tree)] = 1;
  };
  for (const PairInstance& pair : system().pairs) {
    if (!pair.rigid) continue;
    use(pair.link1);
    use(pair.link2);
  }
  for (const FrictionInstance& f : system().frictions) {
    use(f.link1);
    use(f.link2);
  }
}

int CrowdStepper::slot_of(const RowOrigin& c) const {
  const int k = ~c.point - static_cast<int>(ropes_.size());
  return c.point < 0 && k >= 0 && k < system().slots() ? k : -1;
}

int CrowdStepper::friction_of(const RowOrigin& c) const {
  const int k = ~c.point - static_cast<int>(ropes_.size()) - system().slots();
  return c.point < 0 && k >= 0 ? k : -1;
}

// W and X of slots_.columns over the velocities of a group.
int CrowdStepper::generalized_side(CrowdProblem& problem, int group, double sign) {
  const Group& g = nodes_.groups[at(group)];
  CrowdSide side;
  side.offset = static_cast<int>(problem.W.size());
  side.first = g.first;
  side.n = g.n;
  problem.W.resize(problem.W.size() + at(3 * g.n), 0);
  problem.X.resize(problem.W.size(), 0);
  for (int k = 0; k < 3; ++k) {
    double* W = problem.W.data() + side.offset + k * g.n;
    double* X = problem.X.data() + side.offset + k * g.n;
    int j = 0;
    bool any = false;
    scratch_.column.setZero();
    for (const auto& [first, n] : g.ranges)
      for (int i = 0; i < n; ++i, ++j) {
        W[j] = scratch_.column[first + i] = sign * slots_.columns(first + i, k);
        any = any || W[j] != 0;
      }
    if (!any) continue;
    if (g.tree >= 0) {
      engine_.response_tree(g.tree, W, X);
      continue;
    }
    engine_.response(scratch_.column.data(), scratch_.answer.data(), nullptr);
    j = 0;
    for (const auto& [first, n] : g.ranges)
      for (int i = 0; i < n; ++i, ++j) X[j] = scratch_.answer[first + i];
  }
  problem.sides.push_back(side);
  return static_cast<int>(problem.sides.size()) - 1;
}

// Sides of a row with these columns on the trees of two links.
CrowdRow CrowdStepper::generalized_row(CrowdProblem& problem, int link1, int link2) {
  CrowdRow row{};
  row.n[0] = 1;
  int last = -1;
  for (const int link : {link1, link2}) {
    if (link < 0) continue;
    const int group = nodes_.places[at(link)].group;
    if (group < 0 || group == last) continue;
    const int side = ~generalized_side(problem, group, last < 0 ? 1 : -1);
    (last < 0 ? row.side1 : row.side2) = side;
    last = group;
  }
  return row;
}

void CrowdStepper::columns_of_slot(int slot, bool normal_only) {
  Contacts& contacts = contact_.contacts();
  slots_.columns.setZero();
  const int last = normal_only ? 0 : system().pair(slot).tangents;
  for (int k = 0; k <= last; ++k) contacts.column(slot, k, slots_.columns.col(k).data());
}

void CrowdStepper::rows_of_slots(Draft& draft, double h) {
  slots_.friction_rows = 0;
  if (slots_.any) {
    Contacts& contacts = contact_.contacts();
    contacts.detect(contact_.engine_state(now_), speeds_.reach);
    for (const int slot : contacts.near())
      if (system().pair(slot).rigid) row_of_slot(draft, slot, h);
  }
  for (int i = 0; i < contact_.frictions().joints(); ++i) row_of_friction(draft, i, h);
}

void CrowdStepper::row_of_slot(Draft& draft, int slot, double h) {
  const SlotState& s = contact_.contacts()[slot];
  const PairInstance& pair = system().pair(slot);
  const int number = static_cast<int>(ropes_.size()) + slot;
  Meeting m;
  m.entry = pair.group;
  m.point = ~number;
  m.key = ~std::uint64_t(1) - static_cast<std::uint64_t>(number);
  m.link1 = pair.link1;
  m.link2 = pair.link2;
  m.gap = s.gap;
  m.size = std::numeric_limits<double>::infinity();
  m.place = s.p2;
  draft.gaps[at(pair.group)] = std::min(draft.gaps[at(pair.group)], s.gap);
  draft.deepest = std::max(draft.deepest, -s.gap);
  if (!within_reach(s.gap, s.rate[0], h)) return;
  columns_of_slot(slot, false);
  m.u_begin = slots_.columns.transpose() * now_.v;
  if (pair.coordinates)
    for (int k = 0; k <= pair.tangents; ++k) m.moving[k] = s.rate[k] - m.u_begin[k];
  draft.rows.push_back(generalized_row(problem_, pair.link1, pair.link2));
  add_laws(draft, m, system().rigid(slot), h);
}

void CrowdStepper::row_of_friction(Draft& draft, int index, double h) {
  FrictionRows& frictions = contact_.frictions();
  const FrictionInstance& f = frictions[index];
  frictions.evaluate(index, false);
  slots_.columns.setZero();
  for (int c = 0; c < f.count; ++c) frictions.column(index, c, slots_.columns.col(1 + c).data());
  CrowdRow row = generalized_row(problem_, f.link1, f.link2);
  problem_.set_response(row);
  if (!(row.inverse_tt > 0)) return;
  const int number = static_cast<int>(ropes_.size()) + system().slots() + index;
  RowOrigin& c = draft.about.emplace_back();
  c.entry = -1;
  c.point = ~number;
  c.link1 = f.link1;
  c.link2 = f.link2;
  c.key = ~std::uint64_t(1) - static_cast<std::uint64_t>(number);
  c.place.setZero();
  c.gap = std::numeric_limits<double>::infinity();
  c.before = c.way = c.free = 0;
  c.u_begin = slots_.columns.transpose() * now_.v;
  c.impact = c.lands = c.driven = false;
  c.closed = true;
  const CrowdMemory::Entry* last = memory_.find(c.key, c.place, 1);
  row.mu = 1;
  row.pn = last != nullptr && frictions.loaded(index) ? last->pn : h * joint_limit(index, free_.lambda);
  if (last != nullptr) {
    Vec3 pt = last->pt;
    project_on_disc(row.pn, pt);
    for (int k = 0; k < 3; ++k) row.pt[k] = pt[k];
  }
  draft.rows.push_back(row);
  if (laws_.shifting) draft.shifts.push_back(Vec3::Zero());
  if (laws_.turning) {
    draft.turns.emplace_back();
    draft.turned.push_back({Vec3::Zero(), Vec3::Zero()});
  }
  ++slots_.friction_rows;
}

double CrowdStepper::joint_limit(int friction, const Vec& lambda) {
  const FrictionRows& frictions = contact_.frictions();
  return frictions.limit(friction, frictions.speed(friction),
                         frictions.loaded(friction) ? frictions.load(friction, lambda) : 0.0);
}

// scratch_.mu: what joints answer to the impulses at hand, times the step.
void CrowdStepper::find_reactions() {
  scratch_.column.setZero();
  const auto put = [&](int side, const Vec3& P) {
    if (side >= 0) return;
    const CrowdSide& s = problem_.sides[at(~side)];
    const auto after = std::upper_bound(nodes_.groups.begin(), nodes_.groups.end(), s.first,
                                        [](int first, const Group& g) { return first < g.first; });
    int j = s.offset;
    for (const auto& [first, n] : std::prev(after)->ranges)
      for (int i = 0; i < n; ++i, ++j)
        for (int k = 0; k < 3; ++k) scratch_.column[first + i] += problem_.W[at(j + k * s.n)] * P[k];
  };
  for (std::size_t i = at(problem_.free_rows); i < assembly_.origins.size(); ++i) {
    const CrowdRow& row = problem_.rows[i];
    if (!(row.pn > 0)) continue;
    put(row.side1, impulse(row));
    put(row.side2, -impulse(row));
    if (!laws_.turning) continue;
    const CrowdTurn& t = problem_.turns[i];
    if (t.place1 >= 0) put(~t.place1, moment(t));
    if (t.place2 >= 0) put(~t.place2, -moment(t));
  }
  engine_.response(scratch_.column.data(), scratch_.answer.data(), scratch_.mu.data());
}

void CrowdStepper::solve_with_limits(double h, double tolerance, int most) {
  solve_to_goal(tolerance, most);
  if (slots_.friction_rows == 0) return;
  const FrictionRows& frictions = contact_.frictions();
  std::vector<std::size_t>& loaded = slots_.loaded;
  loaded.clear();
  for (std::size_t i = at(problem_.free_rows); i < assembly_.origins.size(); ++i)
    if (const int f = friction_of(assembly_.origins[i]); f >= 0 && frictions.loaded(f)) loaded.push_back(i);
  if (loaded.empty()) return;
  const auto n = static_cast<Eigen::Index>(loaded.size());
  slots_.now.resize(n);
  slots_.next.resize(n);
  Relaxation relaxation;
  for (int iteration = 0;; ++iteration) {
    find_reactions();
    slots_.lambda = free_.lambda + scratch_.mu / h;
    double off = 0;
    for (Eigen::Index j = 0; j < n; ++j) {
      const std::size_t i = loaded[static_cast<std::size_t>(j)];
      slots_.now[j] = problem_.rows[i].pn;
      slots_.next[j] = h * joint_limit(friction_of(assembly_.origins[i]), slots_.lambda);
      off = std::max(off, std::abs(slots_.next[j] - slots_.now[j]) / problem_.rows[i].inverse_tt);
    }
    if (off <= tolerance) return;
    const double largest = slots_.next.cwiseAbs().maxCoeff() / h;
    if (iteration == kIterations || !(largest < kRunaway * system().force_scale)) joints_jam();
    relaxation.advance(slots_.now, slots_.next);
    for (Eigen::Index j = 0; j < n; ++j) {
      CrowdRow& row = problem_.rows[loaded[static_cast<std::size_t>(j)]];
      const Vec3 before(row.pt[0], row.pt[1], row.pt[2]);
      Vec3 pt = before;
      row.pn = slots_.now[j];
      project_on_disc(row.pn, pt);
      problem_.push(row, pt - before);
      for (int k = 0; k < 3; ++k) row.pt[k] = pt[k];
    }
    solve_to_goal(tolerance, most);
  }
}

void CrowdStepper::joints_jam() const {
  std::vector<std::string> names;
  std::string all;
  for (const std::size_t i : slots_.loaded) {
    names.push_back(contact_.frictions().joint_name(friction_of(assembly_.origins[i])));
    all += (all.empty() ? "" : ", ") + names.back();
  }
  throw SolveError(
      "joint-jams", trial_.t, names,
      fmt::format("friction jams in {}: the reactions it causes itself ask for more friction without end", all),
      "reduce the coefficient or the lever arm of the load, or make the guide longer");
}

// Work and sample of a row of a slot or of friction in a joint.
void CrowdStepper::book_slot(std::size_t i, double h) {
  constexpr double kNoSlip = 1e-9;
  const CrowdRow& row = problem_.rows[i];
  const RowOrigin& c = assembly_.origins[i];
  const Vec3 after = problem_.rate(row), mean = 0.5 * (c.u_begin + after);
  const int slot = slot_of(c), friction = friction_of(c);
  if (friction >= 0) {
    FrictionSample& sample = slots_.frictions_trial.emplace_back();
    sample.index = friction;
    sample.limit = row.pn / h;
    for (int k = 0; k < contact_.frictions()[friction].count; ++k) {
      sample.force[k] = row.pt[1 + k] / h;
      sample.slip[k] = after[1 + k];
      W_trial_[contact_.joint_channel(friction)] += row.pt[1 + k] * mean[1 + k];
    }
    const double slip = std::hypot(sample.slip[0], sample.slip[1]);
    sample.mode = slip > kNoSlip * system().velocity_scale ? Mode::slide : Mode::stick;
    return;
  }
  if (slot < 0) return;
  const Vec3 moving = laws_.shifting && c.driven ? problem_.shifts[i] : Vec3::Zero();
  ContactSample& sample = slots_.samples_trial.emplace_back();
  sample.slot = slot;
  sample.impact = c.impact;
  sample.gap = c.gap;
  sample.impulse = impulse(row);
  sample.force = sample.impulse / h;
  sample.rate[0] = c.before;
  sample.rate[1] = after[0] + moving[0];
  for (int k = 0; k < 2; ++k) sample.slip[k] = after[1 + k] + moving[1 + k];
  const double slip = std::hypot(sample.slip[0], sample.slip[1]);
  sample.mode = slip > kNoSlip * system().velocity_scale ? Mode::slide : Mode::stick;
}

// Slots have no size: what is within 1e-9 of the length scale touches, as of pairs.
double CrowdStepper::size_of_slots() const { return 1e-9 / kSlop * system().length_scale; }

// Deepest of the rigid slots at the state of the trial step.
double CrowdStepper::deepest_slot() {
  if (!slots_.any) return 0;
  Contacts& contacts = contact_.contacts();
  contacts.detect(contact_.engine_state(trial_), 0);
  double deepest = 0;
  for (const int slot : contacts.near())
    if (system().pair(slot).rigid) deepest = std::max(deepest, -contacts[slot].gap);
  return deepest;
}

// Rows of the push, at the engine's present links; calls add(entry, side1, side2, gap).
void CrowdStepper::push_slots(const PushSlot& add) {
  if (!slots_.any) return;
  Contacts& contacts = contact_.contacts();
  contacts.detect(contact_.engine_state(trial_), speeds_.reach);
  for (const int slot : contacts.near()) {
    const PairInstance& pair = system().pair(slot);
    if (!pair.rigid) continue;
    columns_of_slot(slot, true);
    const CrowdRow row = generalized_row(solvers_.push.problem, pair.link1, pair.link2);
    add(pair.group, row.side1, row.side2, contacts[slot].gap);
  }
}

// Compliant contacts remember when they began; a step passes over that moment, its end stands for it.
void CrowdStepper::settle_compliant() {
  if (!contact_.compliant().any()) return;
  engine_.prepare_response(contact_.engine_state(now_));
  slots_.wrenches.clear();
  contact_.compliant().apply(now_.t, now_.z.data() + engine_.sizes().nz, slots_.wrenches);
  contact_.compliant().settle();
}

void CrowdStepper::note_compliant_events() {
  CompliantForces& compliant = contact_.compliant();
  if (!compliant.any()) return;
  for (int pass = 0; pass < 2; ++pass) {
    engine_.prepare_response(contact_.engine_state(trial_));
    slots_.wrenches.clear();
    compliant.apply(trial_.t, trial_.z.data() + engine_.sizes().nz, slots_.wrenches);
    compliant.events(slots_.events.data());
    slots_.fired.clear();
    for (int i = 0; i < compliant.event_count(); ++i)
      if (slots_.events[i] < 0) slots_.fired.push_back(i);
    if (slots_.fired.empty()) return;
    compliant.on_events(slots_.fired);
    for (const int i : slots_.fired) ++(i % 2 == 0 ? effort_.counts.closes : effort_.counts.opens);
    energy_.known = false;
  }
}

}  // namespace clatter::contact
