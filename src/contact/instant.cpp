#include "contact/instant.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"

namespace clatter::contact {

namespace {

// Answers of a complementarity problem below this part of its largest entry are on the edge.
constexpr double kEdge = 1e-9;
// How much later the question is asked again, in parts of the time scale.
constexpr double kLater = 1e-6;
constexpr int kMostImpacts = 200;
// Rounding of the positions that a gap is made of, in units of it.
constexpr double kNoise = 16;

bool contains(const std::vector<int>& list, int x) { return std::find(list.begin(), list.end(), x) != list.end(); }

const ActiveContact* find(const std::vector<ActiveContact>& list, int slot) {
  for (const ActiveContact& c : list)
    if (c.slot == slot) return &c;
  return nullptr;
}

bool hit(const InstantResult& out, int slot) {
  for (std::size_t i = 0; i < out.impact_slots.size(); ++i)
    if (out.impact_slots[i] == slot && out.impulses[i][0] > 0) return true;
  return false;
}

}  // namespace

Instant::Instant(ContactDynamics& dynamics, InstantSettings s)
    : settings(s), dynamics_(dynamics), contacts_(dynamics.contacts()), engine_(dynamics.engine()) {
  const Sizes& n = engine_.sizes();
  a_.setZero(n.nv);
  lambda_e_.setZero(n.nc());
  rows_.column.setZero(n.nv);
  powers0_.setZero(n.np);
  powers1_.setZero(n.np);
}

void Instant::find_closed(const State& s, const std::vector<int>& touched) {
  const ContactSystem& sys = dynamics_.system();
  contacts_.detect(dynamics_.engine_state(s), sys.length_scale);
  closed_.clear();
  for (int slot = 0; slot < contacts_.slots(); ++slot) {
    if (!sys.pair(slot).rigid || !contacts_[slot].present) continue;
    if (contacts_[slot].gap <= settings.gap * sys.length_scale || contains(touched, slot)) closed_.push_back(slot);
  }
}

void Instant::settle(State& s, const std::vector<ActiveContact>& before, const std::vector<int>& touched,
                     const std::vector<int>& stopped, bool on_edge, InstantResult& out, const Frictions& frictions) {
  const ContactSystem& sys = dynamics_.system();
  const double rest = settings.velocity * sys.velocity_scale;
  out.active.clear();
  out.frictions.clear();
  out.changes.clear();
  out.work.setZero(dynamics_.sizes().np);
  out.impacts = 0;
  out.residual = out.violation = 0;
  out.impact_slots.clear();
  out.impulses.clear();
  out.records.clear();
  stopped_.assign(static_cast<std::size_t>(contacts_.slots()), 0);
  for (const int slot : stopped) stopped_[static_cast<std::size_t>(slot)] = 1;
  friction_stopped_.assign(static_cast<std::size_t>(dynamics_.frictions().size()), 0);
  for (const int i : frictions.stopped) friction_stopped_[static_cast<std::size_t>(i)] = 1;

  ambiguity_ = {};
  flights_.clear();
  find_closed(s, touched);
  const bool joints = dynamics_.frictions().joints() > 0 && !sys.smooth;
  bool solved = closed_.empty();
  if (solved) dynamics_.free_accelerations(s, a_, lambda_e_, zdot_);
  for (int round = 0; joints || !closed_.empty(); ++round) {
    if (round >= kMostImpacts) {
      std::vector<std::string> names;
      for (const int slot : closed_) names.push_back(sys.slot_name(slot));
      throw SolveError("impacts-do-not-end", s.t, names,
                       fmt::format("{} impacts at one moment do not lead to a lasting contact or to separation", round),
                       "look at the restitution of these contacts, or use method: time-stepping");
    }
    const bool approaching =
        std::any_of(closed_.begin(), closed_.end(), [&](int slot) { return contacts_[slot].rate[0] < -rest; });
    if (approaching) {
      if (!impact(s, out, false)) break;
      stopped_.assign(stopped_.size(), 0);
      friction_stopped_.assign(friction_stopped_.size(), 0);
      on_edge = false;
      contacts_.detect(dynamics_.engine_state(s), sys.length_scale);
      continue;
    }
    // Lasting contacts, and those that leave so slowly that their flights are not resolved.
    flights_.clear();
    do {
      lasting_.clear();
      for (const int slot : closed_)
        if (contacts_[slot].rate[0] <= rest || flies(slot)) lasting_.push_back({slot, 0});
      solved = accelerations(s);
    } while (solved && find_flights(s));
    if (!solved) {
      if (joints_.jam) joint_jams(s);
      // P-48: the impulsive way out.
      if (!impact(s, out, true)) no_solution(s, ContactStatus::no_solution);
      stopped_.assign(stopped_.size(), 0);
      contacts_.detect(dynamics_.engine_state(s), sys.length_scale);
      continue;
    }
    if (decide(before, out, false) || on_edge) {
      // A little later along the motion just found, with the same sets.
      State later = s;
      const double step = kLater * engine_.system().time_scale;
      const Vec u = step * s.v + (0.5 * step * step) * a_;
      later.t += step;
      engine_.plus(s.q, u, later.q);
      later.v += step * a_;
      if (zdot_.size() == later.z.size()) later.z += step * zdot_;
      if (accelerations(later)) {
        decide(before, out, true);
      } else {
        accelerations(s);
        decide(before, out, true);
      }
    }
    break;
  }
  note_ambiguity(out);

  take_series(s.t, out);
  remove_rest_of_slip(s, out);
  hold(s, out);
  describe_changes(s.t, before, out);
  describe_frictions(frictions, out);
}

bool Instant::flies(int slot) const {
  return std::any_of(flights_.begin(), flights_.end(), [&](const Flight& x) { return x.slot == slot; });
}

bool Instant::lasts(int slot, double t) const {
  return std::none_of(series_.begin(), series_.end(), [&](const Series& x) { return x.slot == slot && t <= x.end; });
}

void Instant::take_series(double t, const InstantResult& out) {
  const double rounding = kNoise * std::numeric_limits<double>::epsilon() * std::abs(t);
  earlier_.swap(series_);
  series_.clear();
  for (const ActiveContact& c : out.active) {
    for (const Flight& x : flights_)
      if (x.slot == c.slot && x.end - t > rounding) series_.push_back({c.slot, x.end});
    if (flies(c.slot) || hit(out, c.slot)) continue;
    for (const Series& x : earlier_)
      if (x.slot == c.slot && t < x.end) series_.push_back(x);
  }
}

bool Instant::find_flights(const State& s) {
  const ContactSystem& sys = dynamics_.system();
  const double rest = settings.velocity * sys.velocity_scale;
  const std::size_t before = flights_.size();
  for (const int slot : closed_) {
    if (contacts_[slot].rate[0] <= rest || flies(slot)) continue;
    contacts_.evaluate(slot, true);
    contacts_.column(slot, 0, rows_.column.data());
    const SlotState& at = contacts_[slot];
    const double second = rows_.column.dot(a_) + at.bias[0], e = sys.rigid(slot).restitution, v = at.rate[0];
    if (second >= 0) continue;
    const double flight = -2 * v / second, height = std::max(at.gap, 0.0) + v * flight / 4;
    if (e < 1) {
      const double place = std::max({sys.length_scale, at.p1.norm(), at.p2.norm()});
      const double noise = kNoise * std::numeric_limits<double>::epsilon() * place / (1 - e * e);
      if (height > settings.height * sys.length_scale + noise) continue;
    } else if (flight > settings.flight * engine_.system().time_scale) {
      continue;
    }
    flights_.push_back({slot, v, s.t + (e < 1 ? flight / (1 - e) : flight)});
  }
  return flights_.size() > before;
}

// The energy of flights that are not resolved is lost in impacts.
void Instant::hold(State& s, InstantResult& out) {
  double sum = 0;
  for (const Flight& x : flights_) sum += x.rate * x.rate;
  const double stored = sum > 0 ? dynamics_.stored_energy(s) : 0;
  dynamics_.set_active(out.active, s, out.frictions);
  if (!out.active.empty() || !out.frictions.empty() || engine_.sizes().nc() > 0) {
    Projector projector(dynamics_);
    projector.start(s);
    if (dynamics_.sizes().nh > 0) projector.positions(s);
    projector.velocities(s);
  }
  if (!(sum > 0)) return;
  const double lost = dynamics_.stored_energy(s) - stored;
  for (const Flight& x : flights_)
    out.work[dynamics_.impact_channel(dynamics_.system().pair(x.slot).group)] += lost * x.rate * x.rate / sum;
}

// Slip that has stopped is zero. What rounding and steps left of it would point anywhere if the contact slides on, and
// an event function of slip along the new direction would begin on the wrong side.
void Instant::remove_rest_of_slip(State& s, const InstantResult& out) {
  held_ = out.active;
  bool any = false;
  for (ActiveContact& c : held_) {
    if (c.mode != Mode::slide || !stopped_[static_cast<std::size_t>(c.slot)]) continue;
    c.mode = Mode::stick;
    any = true;
  }
  if (!any) return;
  dynamics_.set_active(held_, s, out.frictions);
  Projector projector(dynamics_);
  projector.start(s);
  projector.velocities(s);
}

bool Instant::impact(State& s, InstantResult& out, bool without_collision) {
  const ContactSystem& sys = dynamics_.system();
  const int nv = engine_.sizes().nv, nc = engine_.sizes().nc();
  engine_.prepare_response(dynamics_.engine_state(s));
  collision_.problem.contacts.clear();
  ImpactOptions options;
  options.nonzero_solution = without_collision;
  int rows = 0;
  for (const int slot : closed_) {
    contacts_.evaluate(slot, false);
    const RigidContact& law = sys.rigid(slot);
    const double slip = std::hypot(contacts_[slot].rate[1], contacts_[slot].rate[2]);
    const double mu = law.impact_friction ? *law.impact_friction : friction_coefficient(law.friction, slip);
    const ImpactContact c = impact_contact(law, rows, mu > 0 ? sys.pair(slot).tangents : 0, mu);
    rows += 1 + c.tangents;
    collision_.problem.contacts.push_back(c);
  }
  rows_.W.setZero(nv, rows);
  rows_.X.setZero(nv, rows);
  rows_.Mu.setZero(nc, rows);
  collision_.problem.rate.setZero(rows);
  for (std::size_t i = 0; i < closed_.size(); ++i) {
    const ImpactContact& c = collision_.problem.contacts[i];
    for (int k = 0; k <= c.tangents; ++k) {
      const int row = c.row + k;
      contacts_.column(closed_[i], k, rows_.W.col(row).data());
      engine_.response(rows_.W.col(row).data(), rows_.X.col(row).data(), nc > 0 ? rows_.Mu.col(row).data() : nullptr);
      collision_.problem.rate[row] = contacts_[closed_[i]].rate[k];
    }
  }
  collision_.problem.G.noalias() = rows_.W.transpose() * rows_.X;
  collision_.solver.solve(collision_.problem, collision_.result, options);
  if (collision_.result.status != ContactStatus::solved) {
    if (without_collision) return false;
    std::vector<std::string> names;
    for (const int slot : closed_) names.push_back(sys.slot_name(slot));
    throw SolveError(
        "impact-unsolved", s.t, names,
        collision_.result.note.empty() ? "the impact has no solution with these laws" : collision_.result.note,
        "use another impact law (poisson, moreau), less friction, or method: time-stepping");
  }
  if (without_collision && collision_.result.P.cwiseAbs().maxCoeff() == 0) return false;
  collision_.solver.forbid_gain(collision_.problem, collision_.result);
  if (collision_.result.gains >= 0) {
    const auto most = static_cast<std::size_t>(collision_.result.gains);
    out.changes.push_back(
        {closed_[most], "energy gain",
         describe_gain(collision_.problem.contacts[most].rule, collision_.result.gain, collision_.result.part)});
  }

  // Joints' drives do work against their reactions; the rest is the contacts' own.
  if (nc > 0) {
    const Vec Lambda = rows_.Mu * collision_.result.P;
    const State& e = dynamics_.engine_state(s);
    engine_.powers(e, a_, Vec::Zero(nc), powers0_);
    engine_.powers(e, a_, Lambda, powers1_);
    out.work.head(engine_.sizes().np) += powers1_ - powers0_;
  }
  out.records.push_back({closed_, s.v, collision_.problem, collision_.result.stages});
  s.v.noalias() += rows_.X * collision_.result.P;
  ++out.impacts;
  out.impact_slots.clear();
  out.impulses.clear();
  for (std::size_t i = 0; i < closed_.size(); ++i) {
    const ImpactContact& c = collision_.problem.contacts[i];
    Vec3 P = Vec3::Zero();
    for (int k = 0; k <= c.tangents; ++k) P[k] = collision_.result.P[c.row + k];
    out.impact_slots.push_back(closed_[i]);
    out.impulses.push_back(P);
    out.work[dynamics_.impact_channel(sys.pair(closed_[i]).group)] += collision_.result.energy_of_contact[i];
    if (P.isZero(0.0)) continue;
    out.changes.push_back(
        {closed_[i], without_collision ? "impact without collision" : "impact",
         (without_collision ? "sliding friction leaves no acceleration (Painleve), took an impulse: " : "") +
             fmt::format("gap rate {:.6g} -> {:.6g} m/s, impulse {:.6g} N s{}, energy {:.6g} J",
                         collision_.problem.rate[c.row], collision_.result.rate[c.row], P[0],
                         c.tangents > 0 ? fmt::format(" (tangential {:.6g})", P.tail<2>().norm()) : std::string(),
                         collision_.result.energy_of_contact[i]) +
             (collision_.result.note.empty() || without_collision ? "" : "; " + collision_.result.note)});
  }
  return true;
}

bool Instant::accelerations(const State& at) {
  const ContactSystem& sys = dynamics_.system();
  const int nv = engine_.sizes().nv;
  const double rest = settings.velocity * sys.velocity_scale;
  dynamics_.free_accelerations(at, a_, lambda_e_, zdot_);
  int rows = 0;
  for (Lasting& c : lasting_) {
    contacts_.evaluate(c.slot, true);
    const SlotState& state = contacts_[c.slot];
    const Friction& friction = sys.rigid(c.slot).friction;
    const int nt = sys.pair(c.slot).tangents;
    const double slip = nt == 2 ? std::hypot(state.rate[1], state.rate[2]) : std::abs(state.rate[1]);
    c.row = rows;
    c.frictional = friction.mu > 0 || friction.curve != nullptr;
    const bool slides = slip > rest && !stopped_[static_cast<std::size_t>(c.slot)];
    c.tangents = c.frictional && !slides ? nt : 0;
    if (slides) {
      c.direction[0] = state.rate[1] / slip;
      c.direction[1] = nt == 2 ? state.rate[2] / slip : 0;
    }
    rows += 1 + c.tangents;
  }
  rows = collect_frictions(rows);
  rows_.W.setZero(nv, rows);
  rows_.D.setZero(nv, rows);
  rows_.X.setZero(nv, rows);
  rows_.Mu.setZero(engine_.sizes().nc(), rows);
  problem_.b.setZero(rows);
  problem_.cones.clear();
  for (const Lasting& c : lasting_) {
    const SlotState& state = contacts_[c.slot];
    const Friction& friction = sys.rigid(c.slot).friction;
    for (int k = 0; k <= c.tangents; ++k) {
      contacts_.column(c.slot, k, rows_.W.col(c.row + k).data());
      rows_.D.col(c.row + k) = rows_.W.col(c.row + k);
      problem_.b[c.row + k] = rows_.W.col(c.row + k).dot(a_) + state.bias[k];
    }
    problem_.cones.push_back(Cone::ray(c.row));
    const int nt = sys.pair(c.slot).tangents;
    if (c.tangents == 1) problem_.cones.push_back(Cone::friction(c.row, c.row + 1, friction_coefficient(friction, 0)));
    if (c.tangents == 2) problem_.cones.push_back(Cone::disc(c.row, c.row + 1, friction_coefficient(friction, 0)));
    if (c.tangents == 0 && c.frictional) {
      const double slip = nt == 2 ? std::hypot(state.rate[1], state.rate[2]) : std::abs(state.rate[1]);
      const double mu = friction_coefficient(friction, slip);
      for (int k = 1; k <= nt; ++k) {
        contacts_.column(c.slot, k, rows_.column.data());
        rows_.D.col(c.row) -= mu * c.direction[k - 1] * rows_.column;
      }
    }
  }
  ambiguity_ = {};
  friction_rows();
  for (int k = 0; k < rows; ++k)
    engine_.response(rows_.D.col(k).data(), rows_.X.col(k).data(),
                     rows_.Mu.rows() > 0 ? rows_.Mu.col(k).data() : nullptr);
  problem_.A.noalias() = rows_.W.transpose() * rows_.X;
  if (!frictions_.empty()) {
    if (!solve_with_frictions(at)) return false;
  } else {
    if (rows == 0) return true;
    if (solver_.solve(problem_, rows_.r).status != ContactStatus::solved) return false;
    rows_.Q.noalias() = rows_.D.transpose() * rows_.X;
    ambiguity_ = find_ambiguity(problem_, rows_.Q, rows_.r);
    a_.noalias() += rows_.X * rows_.r;
  }
  rows_.y.noalias() = problem_.A * rows_.r;
  rows_.y += problem_.b;
  return true;
}

bool Instant::decide(const std::vector<ActiveContact>& before, InstantResult& out, bool again) {
  out.active.clear();
  out.frictions.clear();
  bool on_edge = false;
  if (lasting_.empty() && frictions_.empty()) return false;
  const double largest = problem_.b.size() > 0 ? problem_.b.cwiseAbs().maxCoeff() : 0;
  // Where forces depend on each other nearly, more cancels in y than is in b, and the solver stops at a part of that.
  const double cancels = problem_.b.size() > 0 ? (problem_.A.cwiseAbs() * rows_.r.cwiseAbs()).maxCoeff() : 0;
  const double tolerance =
      std::max(kEdge * std::max(largest, 1e-6 * dynamics_.system().length_scale /
                                             (engine_.system().time_scale * engine_.system().time_scale)),
               10 * kSolvedResidual * cancels);
  for (const Lasting& c : lasting_) {
    const double yN = rows_.y[c.row], rN = rows_.r[c.row], stiffness = problem_.A(c.row, c.row);
    const bool was_active = find(before, c.slot) != nullptr;
    const double load = rN * std::abs(stiffness);
    bool stays = load > tolerance;
    if (yN <= tolerance && load <= tolerance) {
      on_edge = true;
      // Nothing decides: what was closed stays so, unless it opens ever so slowly.
      stays = yN <= 0.1 * tolerance && (was_active || !again);
    }
    if (!stays) continue;
    ActiveContact active;
    active.slot = c.slot;
    if (c.tangents == 0) {
      active.mode = Mode::slide;
      active.direction[0] = c.direction[0];
      active.direction[1] = c.direction[1];
    } else {
      const double mu = friction_coefficient(dynamics_.system().rigid(c.slot).friction, 0);
      const double y1 = rows_.y[c.row + 1], y2 = c.tangents == 2 ? rows_.y[c.row + 2] : 0;
      const double r1 = rows_.r[c.row + 1], r2 = c.tangents == 2 ? rows_.r[c.row + 2] : 0;
      const double second = std::hypot(y1, y2);
      const double reserve = (mu * rN - std::hypot(r1, r2)) * std::abs(problem_.A(c.row + 1, c.row + 1));
      if (second > tolerance) {
        active.mode = Mode::slide;
        active.direction[0] = y1 / second;
        active.direction[1] = c.tangents == 2 ? y2 / second : 0;
      } else {
        active.mode = Mode::stick;
        if (reserve <= tolerance) on_edge = true;
      }
    }
    out.active.push_back(active);
  }
  return decide_frictions(out, tolerance) || on_edge;
}

// After the accelerations whose ambiguity it is: contacts, W and X are theirs.
void Instant::exchange(Archive& archive, int slots) {
  // Of each slot its place in the list, from one on: the order counts, too.
  std::vector<int> places(static_cast<std::size_t>(slots), 0);
  for (std::size_t i = 0; i < noted_.size(); ++i) places[static_cast<std::size_t>(noted_[i])] = static_cast<int>(i) + 1;
  for (int& place : places) archive.count(place);
  if (!archive.reading()) return;
  noted_.assign(static_cast<std::size_t>(std::count_if(places.begin(), places.end(), [](int p) { return p > 0; })), 0);
  for (std::size_t slot = 0; slot < places.size(); ++slot)
    if (places[slot] > 0 && places[slot] <= static_cast<int>(noted_.size()))
      noted_[static_cast<std::size_t>(places[slot] - 1)] = static_cast<int>(slot);
}

void Instant::note_ambiguity(InstantResult& out) {
  if (ambiguity_.kind == Ambiguity::Kind::none) return noted_.clear();
  const ContactSystem& sys = dynamics_.system();
  std::vector<const Lasting*> involved;
  std::vector<int> slots;
  std::string names;
  for (const Lasting& c : lasting_) {
    if (!std::binary_search(ambiguity_.rows.begin(), ambiguity_.rows.end(), c.row)) continue;
    involved.push_back(&c);
    slots.push_back(c.slot);
    names += (names.empty() ? "" : ", ") + sys.slot_name(c.slot);
  }
  if (slots.empty() || slots == noted_) return;
  noted_ = slots;
  std::string text;
  if (ambiguity_.kind == Ambiguity::Kind::several) {
    text = "several accelerations satisfy the laws of rigid contact, with the normal forces";
    for (const Lasting* c : involved)
      text += fmt::format("{} {:.6g} or {:.6g} N at {}", c == involved.front() ? "" : ",", rows_.r[c->row],
                          ambiguity_.other[c->row], sys.slot_name(c->slot));
    text += "; took the smallest";
  } else {
    text = fmt::format("the normal forces of {} depend on each other and their friction does not: ", names);
    std::string interval = "the motion is not determined by the laws of rigid contact";
    for (const Lasting* c : involved) {
      if (c->tangents > 0 || ambiguity_.n.size() == 0 || !std::isfinite(ambiguity_.high - ambiguity_.low)) continue;
      slip_.setZero(rows_.W.rows());
      double second = 0;
      for (int k = 1; k <= sys.pair(c->slot).tangents; ++k) {
        contacts_.column(c->slot, k, rows_.column.data());
        slip_ += c->direction[k - 1] * rows_.column;
        second += c->direction[k - 1] * (rows_.column.dot(a_) + contacts_[c->slot].bias[k]);
      }
      const double slope = slip_.dot(rows_.X * ambiguity_.n);
      double ends[2] = {second + ambiguity_.low * slope, second + ambiguity_.high * slope};
      std::sort(ends, ends + 2);
      interval = fmt::format("the slip of {} may accelerate by anything from {:.6g} to {:.6g} m/s^2",
                             sys.slot_name(c->slot), ends[0], ends[1]);
      break;
    }
    text += interval + "; took the smallest forces";
  }
  out.changes.push_back({slots.front(), "not unique", text});
}

void Instant::describe_changes(double t, const std::vector<ActiveContact>& before, InstantResult& out) const {
  const auto was_in_series = [&](int slot) {
    return std::any_of(earlier_.begin(), earlier_.end(), [&](const Series& x) { return x.slot == slot; });
  };
  for (const Flight& x : flights_)
    if (find(out.active, x.slot) != nullptr)
      out.changes.push_back(
          {x.slot, "accumulates", fmt::format("flights too low to be resolved, impacts end at t = {:.10g} s", x.end)});
  for (const ActiveContact& now : out.active) {
    if (!lasts(now.slot, t)) continue;
    const ActiveContact* was = find(before, now.slot);
    if (was != nullptr && was_in_series(now.slot)) {
      was = nullptr;
      if (!hit(out, now.slot))
        out.changes.push_back({now.slot, "impact", "the last ones of a series that accumulates here"});
    }
    if (was == nullptr) out.changes.push_back({now.slot, "closes", ""});
    if (was != nullptr && was->mode == now.mode &&
        (now.mode == Mode::stick || was->direction[0] * now.direction[0] + was->direction[1] * now.direction[1] > 0))
      continue;
    if (now.mode == Mode::stick)
      out.changes.push_back({now.slot, "sticks", ""});
    else if (was != nullptr)
      out.changes.push_back({now.slot, was->mode == Mode::stick ? "slides" : "slides back", ""});
  }
  for (const ActiveContact& was : before)
    if (!was_in_series(was.slot) && (find(out.active, was.slot) == nullptr || !lasts(was.slot, t)))
      out.changes.push_back({was.slot, "opens", ""});
}

void Instant::no_solution(const State& s, ContactStatus status) {
  std::vector<std::string> names;
  for (const Lasting& c : lasting_) names.push_back(dynamics_.system().slot_name(c.slot));
  throw SolveError("painleve", s.t, names,
                   status == ContactStatus::no_solution
                       ? "sliding friction leaves no acceleration and no impulse that keeps these contacts consistent"
                       : "the contact forces could not be found",
                   "reduce the friction of these contacts, give them a compliant law, or use method: time-stepping");
}

}  // namespace clatter::contact
