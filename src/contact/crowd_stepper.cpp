#include "contact/crowd_stepper.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/stopwatch.hpp"
#include "contact/stable_step.hpp"

namespace clatter::contact {

namespace {

// Sweeps, gradient steps and Newton's iterations unless the model says so; rates that may be wrong, by what forces
// change in a step.
constexpr int kSweeps = 60, kGradients = 200;
constexpr double kTolerance = 1e-4, kNewtonTolerance = 3e-9;
// How often a step is solved again with contacts that its begin did not show.
constexpr int kLooks = 4;

IntegratorSettings without_events(IntegratorSettings s) {
  s.find_events = false;
  return s;
}

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

CrowdStepper::CrowdStepper(ContactDynamics& dynamics, const IntegratorSettings& settings)
    : Integrator(dynamics, without_events(settings)),
      contact_(dynamics),
      engine_(dynamics.engine()),
      crowd_(*dynamics.system().system->model.crowd),
      search_(dynamics.system(), crowd_),
      again_(dynamics.system(), crowd_),
      pool_(crowd_.threads),
      solvers_(pool_),
      log_(dynamics.system(), crowd_) {
  dense_.mid = now_;
  if (!(settings.step > 0)) throw InputError("time stepping needs a step", "give `step:` a positive time");
  for (Vec* x : {&free_.a, &free_.v, &ending_.v_land, &ending_.v_move, &scratch_.u1, &dense_.u, &dense_.v_begin,
                 &dense_.v_end, &scratch_.column, &scratch_.answer})
    x->setZero(n_.nv);
  free_.zdot.setZero(n_.nz);
  free_.lambda.setZero(n_.nc());
  scratch_.mu.setZero(n_.nc());
  for (Vec* x : {&scratch_.p, &dense_.W_base, &dense_.W_end}) x->setZero(n_.np);
  entries_.now.resize(system().groups.size());
  for (std::size_t e = 0; e < crowd_.contacts.size(); ++e)
    entries_.now[e].planar = system().shapes[at(crowd_.contacts[e].first.front())].geometry.planar();
  entries_.trial = entries_.now;
  dense_.base = now_;
  for (const CrowdContact& entry : crowd_.contacts) {
    laws_.turning = laws_.turning || entry.law.rolling > 0 || entry.law.drilling > 0;
    laws_.shifting = laws_.shifting || entry.law.tangential_restitution > 0 ||
                     (needs_two_phases(entry.law) && (entry.law.friction.any() || entry.law.impact_friction));
    impacts_.any = impacts_.any || needs_two_phases(entry.law);
  }
  begin_slots();
  place_links();
  measure_links();
}

void CrowdStepper::started() {
  require_stable_step(engine_.system(), contact_.engine_state(now_), settings_.step);
  memory_.begin(0);
  log_.forget();
  effort_.counts = {};
  proof_.worst = proof_.last = proof_.step = {};
  proof_.last_residual = proof_.worst_residual = {};
  proof_.unsolved = {};
  effort_.touching = 0;
  energy_.known = false;
  slots_.samples.clear();
  slots_.frictions.clear();
  settle_compliant();
  know_derivative();
  engine_.prepare_response(contact_.engine_state(now_));
  free_.a = a_;
  gather(settings_.step);
  const double reach = settings_.step * (2 * speeds_.fastest + speeds_.change) + 1e-9 * system().length_scale;
  for (CrowdEntryState& e : entries_.now) e.begin(reach);
  for (std::size_t k = 0; k < ropes_.size(); ++k)
    entries_.now[crowd_.contacts.size() + k].gap = rope_state(ropes_[k], crowd_.ropes[k].length).gap;
  search_.find(engine_.links().motion, reach, pool_);
  for (const CrowdPoint& p : search_.points()) {
    CrowdEntryState& e = entries_.now[at(p.entry)];
    e.gap = std::min(e.gap, p.gap);
  }
  judge_overlap(engine_.system().model, start_overlap());
}

void CrowdStepper::exchange(Archive& archive) {
  archive.vector(a_);
  archive.vector(lambda_);
  archive.vector(zdot_);
  proof_.worst.exchange(archive);
  effort_.counts.exchange(archive);
  proof_.unsolved.exchange(archive);
  for (double* x : {&proof_.worst_residual.rate, &proof_.worst_residual.impulse, &proof_.worst_residual.approach,
                    &proof_.worst_residual.cone})
    archive.value(*x);
  archive.count(effort_.touching);
  memory_.exchange(archive, room(), laws_.turning);
  log_.exchange(archive);
  contact_.compliant().exchange(archive);
  if (archive.reading()) energy_.known = false;
}

void CrowdStepper::collect(double h) {
  const double reach = speeds_.reach = h * (2 * speeds_.fastest + speeds_.change) + 1e-9 * system().length_scale;
  {
    const Stopwatch watch(effort_.times.detection);
    search_.find(engine_.links().motion, reach, pool_);
  }
  const Stopwatch watch(effort_.times.assembly);
  problem_.sides.clear();
  problem_.W.clear();
  problem_.X.clear();
  const std::size_t points = search_.points().size();
  const int chunks = chunks_of(points);
  assembly_.drafts.resize(kChunks + 2);
  Draft &ropes = assembly_.drafts[at(chunks)], &jointed = assembly_.drafts[at(chunks) + 1];
  for (int k = 0; k < chunks + 2; ++k) assembly_.drafts[at(k)].begin(entries_.now.size(), reach);
  cut_into_blocks(points);
  visit_chunks(points, pool_, [&](std::size_t from, std::size_t to, int k) {
    Draft& draft = assembly_.drafts[at(k)];
    for (std::size_t i = from; i < to; ++i) {
      const CrowdPoint& p = search_.points()[i];
      double& gap = draft.gaps[at(p.entry)];
      gap = std::min(gap, p.gap);
      draft.deepest = std::max(draft.deepest, -p.gap);
      const int index = static_cast<int>(i);
      if (coupled(system().shapes[at(p.shape1)].link) || coupled(system().shapes[at(p.shape2)].link))
        draft.jointed.push_back(index);
      else
        row_of_point(draft, index, h);
    }
    count_blocks(draft);
  });
  // Sides in jointed trees ask the engine, one after the other.
  for (int k = 0; k < chunks; ++k)
    for (const int index : assembly_.drafts[at(k)].jointed) row_of_point(jointed, index, h);
  for (int k = 0; k < static_cast<int>(ropes_.size()); ++k)
    row_of_rope(coupled(ropes_[at(k)].link1) || coupled(ropes_[at(k)].link2) ? jointed : ropes, k, h);
  rows_of_slots(jointed, h);
  count_blocks(ropes);
  join_drafts(chunks + 1);
  problem_.rows.insert(problem_.rows.end(), jointed.rows.begin(), jointed.rows.end());
  assembly_.origins.insert(assembly_.origins.end(), jointed.about.begin(), jointed.about.end());
  problem_.turns.insert(problem_.turns.end(), jointed.turns.begin(), jointed.turns.end());
  assembly_.turned.insert(assembly_.turned.end(), jointed.turned.begin(), jointed.turned.end());
  problem_.shifts.insert(problem_.shifts.end(), jointed.shifts.begin(), jointed.shifts.end());
  assembly_.waiting.clear();
  for (int k = 0; k < chunks + 2; ++k)
    assembly_.waiting.insert(assembly_.waiting.end(), assembly_.drafts[at(k)].waiting.begin(),
                             assembly_.drafts[at(k)].waiting.end());
  proof_.step.penetration = 0;
  for (CrowdEntryState& e : entries_.trial) e.gap = reach;
  for (int k = 0; k < chunks + 2; ++k) {
    const Draft& draft = assembly_.drafts[at(k)];
    proof_.step.penetration = std::max(proof_.step.penetration, draft.deepest);
    for (std::size_t e = 0; e < entries_.trial.size(); ++e)
      entries_.trial[e].gap = std::min(entries_.trial[e].gap, draft.gaps[e]);
  }
  for (std::size_t k = 0; k < ropes_.size(); ++k) {
    const std::size_t e = crowd_.contacts.size() + k;
    entries_.trial[e].gap = coupled(ropes_[k].link1) || coupled(ropes_[k].link2) ? jointed.gaps[e] : ropes.gaps[e];
  }
  free_.bodies = problem_.bodies;
  free_.x = problem_.x;
  visit_parts(problem_, false, pool_, [&](int from, int to, int) {
    for (int i = from; i < to; ++i) {
      const CrowdRow& row = problem_.rows[at(i)];
      if (!(row.pn > 0)) continue;
      problem_.push(row, impulse(row));
      if (laws_.turning) problem_.turn(row, problem_.turns[at(i)], moment(problem_.turns[at(i)]));
    }
  });
}

void CrowdStepper::solve(double tolerance, int most) {
  const bool exact = crowd_.friction == FrictionModel::exact;
  const bool spectral = crowd_.solver == CrowdSolver::barzilai_borwein;
  const bool newton = crowd_.solver == CrowdSolver::newton;
  const CrowdSolverReport report = crowd_.solver == CrowdSolver::gauss_seidel
                                       ? solvers_.sweeps.solve(problem_, exact, tolerance, most)
                                   : newton ? solvers_.newton.solve(problem_, exact, tolerance, most)
                                            : solvers_.gradients.solve(problem_, exact, spectral, tolerance, most);
  effort_.sweeps += report.iterations;
  ending_.answers += report.iterations;
}

bool CrowdStepper::attempt(double t1) {
  const double h = t1 - now_.t;
  proof_.step = {};
  trial_.t = t1;
  {
    const Stopwatch watch(effort_.times.free_motion);
    dynamics_.accelerations(now_, free_.a, free_.lambda, free_.zdot);
    gather(h);
  }
  collect(h);
  find_impacts(h);
  const bool newton = crowd_.solver == CrowdSolver::newton;
  const double tolerance = crowd_.tolerance > 0 ? crowd_.tolerance
                                                : (newton ? kNewtonTolerance : kTolerance) *
                                                      std::max(speeds_.change, 1e-9 * system().velocity_scale);
  const int most = crowd_.iterations > 0                        ? crowd_.iterations
                   : crowd_.solver == CrowdSolver::gauss_seidel ? kSweeps
                   : newton                                     ? kNewtonIterations
                                                                : kGradients;
  ending_.allowed = h * tolerance;
  trial_.z = now_.z + h * free_.zdot;
  ending_.answers = 0;
  for (int look = 0;; ++look) {
    {
      const Stopwatch watch(effort_.times.solution);
      solve_with_limits(h, tolerance, most);
      velocities(trial_.v);
      land(h);
    }
    const Stopwatch watch(effort_.times.rest);
    book(h);
    if (!move(h)) return false;
    if (!ending_.unpaid || look == kLooks || !add_missed(h, tolerance)) break;
  }
  const Stopwatch watch(effort_.times.rest);
  if (n_.nc() > 0) {
    project_trial(scratch_.u1);
    energy_.trial = dynamics_.stored_energy(trial_);
  }
  proof_.step.complementarity = proof_.step_residual.rate / system().velocity_scale;
  proof_.step.cone =
      proof_.step_residual.cone / (system().force_scale * system().length_scale / system().velocity_scale);
  a_trial_ = (trial_.v - now_.v) / h;
  zdot_trial_ = free_.zdot;
  trial_known_ = true;
  proof_.step.energy = energy_.trial - energy_.now - (W_trial_.sum() - W_.sum());
  dense_.base = now_;
  dense_.v_begin = now_.v;
  dense_.v_end = trial_.v;
  dense_.W_base = W_;
  dense_.W_end = W_trial_;
  return true;
}

// Work of the impulses at the mean of the rates before and after: their kinetic energy, exactly.
void CrowdStepper::book(double h) {
  W_trial_ = W_;
  lambda_trial_ = free_.lambda;
  for (CrowdEntryState& e : entries_.trial) e.begin(e.gap);
  bool reactions = false;
  slots_.samples_trial.clear();
  slots_.frictions_trial.clear();
  for (std::size_t i = 0; i < assembly_.origins.size(); ++i) {
    const CrowdRow& row = problem_.rows[i];
    if (!(row.pn > 0)) continue;
    const RowOrigin& c = assembly_.origins[i];
    reactions = reactions || (n_.nc() > 0 && static_cast<int>(i) >= problem_.free_rows);
    if (c.point < 0) book_slot(i, h);
    if (c.entry < 0) continue;
    const Vec3 n(row.n[0], row.n[1], row.n[2]), P = impulse(row), mean = 0.5 * (c.u_begin + problem_.rate(row));
    // Friction of a collision is lost in the impact, as of pairs.
    const double normal = c.impact ? P.dot(mean) : row.pn * n.dot(mean);
    W_trial_[contact_.impact_channel(c.entry)] += normal;
    W_trial_[contact_.friction_channel(c.entry)] += P.dot(mean) - normal;
    if (laws_.turning)
      W_trial_[contact_.friction_channel(c.entry)] +=
          0.5 * (moment(problem_.turns[i]).dot(assembly_.turned[i].w_begin) + moment_power(i));
    CrowdEntryState& e = entries_.trial[at(c.entry)];
    ++e.touching;
    e.normal_force += row.pn / h;
    e.force += P / h;
    e.friction += (P - row.pn * n) / h;
    if (e.planar) e.along += (n.y() * P.x() - n.x() * P.y()) / h;
    if (row.pn > e.most) {
      e.most = row.pn;
      e.row = static_cast<int>(i);
      e.point = c.place;
    }
  }
  if (reactions) {
    // Joints answer to the impulses: their multipliers.
    find_reactions();
    lambda_trial_ += scratch_.mu / h;
  }
  if (engine_.sizes().np > 0 || contact_.compliant().any()) {
    dense_.mid = now_;
    dense_.mid.v = 0.5 * (now_.v + trial_.v);
    a_trial_ = (trial_.v - now_.v) / h;
    dynamics_.powers(dense_.mid, a_trial_, lambda_trial_, scratch_.p);
    W_trial_ += h * scratch_.p;
  }
}

void CrowdStepper::note_events(double h) {
  log_.begin_step();
  for (std::size_t i = 0; i < assembly_.origins.size(); ++i) {
    const RowOrigin& c = assembly_.origins[i];
    const int number = c.point < 0 ? ~c.point - static_cast<int>(ropes_.size()) : -1;
    const int entry = number < 0 ? c.entry : log_.entry_of_slot(number);
    if (!log_.follows(entry)) continue;
    const CrowdRow& row = problem_.rows[i];
    const double after = closing_rate(row) + moving_rate(i);
    CrowdLog::Point point{entry,
                          -1,
                          -1,
                          row.pn,
                          c.before,
                          after,
                          c.gap + h * after,
                          c.impact && !c.closed,
                          row.mu > 0 && mode_of(i) == Mode::slide};
    if (c.point >= 0) {
      point.shape1 = search_.points()[at(c.point)].shape1;
      point.shape2 = search_.points()[at(c.point)].shape2;
    }
    log_.take(point);
  }
  log_.end_step();
  for (const std::vector<Gain>* list : {&bounce_.gains, &impacts_.gains})
    for (const Gain& g : *list) {
      const RowOrigin& c = assembly_.origins[at(g.row)];
      const CrowdPoint* p = c.point >= 0 ? &search_.points()[at(c.point)] : nullptr;
      const int slot = slot_of(c);
      log_.take_gain(slot >= 0 ? log_.entry_of_slot(slot) : c.entry, p != nullptr ? p->shape1 : -1,
                     p != nullptr ? p->shape2 : -1, law_of(c).impact, g.gain, g.part);
    }
  report_.changed = log_.changed();
}

void CrowdStepper::accept() {
  if (log_.any()) note_events(trial_.t - now_.t);
  memory_.begin(assembly_.origins.size());
  int touching = 0;
  for (std::size_t i = 0; i < assembly_.origins.size(); ++i) {
    const CrowdRow& row = problem_.rows[i];
    if (!(row.pn > 0)) continue;
    memory_.put(assembly_.origins[i].key, row.pn, Vec3(row.pt[0], row.pt[1], row.pt[2]), assembly_.origins[i].place);
    if (laws_.turning) memory_.put_moment(moment(problem_.turns[i]));
    if (has_given_limit(row)) continue;
    ++touching;
    if (!assembly_.origins[i].closed) {
      ++effort_.counts.closes;
      if (assembly_.origins[i].impact) ++effort_.counts.impacts;
    } else {
      --effort_.touching;  // what remains of the last step's has opened
    }
  }
  effort_.counts.opens += effort_.touching;
  effort_.touching = touching;
  entries_.now.swap(entries_.trial);
  slots_.samples.swap(slots_.samples_trial);
  slots_.frictions.swap(slots_.frictions_trial);
  proof_.last = proof_.step;
  // Penetration is that of the begin.
  Certificate begin;
  begin.penetration = proof_.step.penetration;
  proof_.worst.take(begin, now_.t);
  proof_.step.penetration = 0;
  proof_.worst.take(proof_.step, trial_.t);
  proof_.last_residual = proof_.step_residual;
  proof_.worst_residual.take(proof_.step_residual);
  proof_.unsolved.take(proof_.step_unsolved);
  energy_.now = energy_.trial;
  note_compliant_events();
}

double CrowdStepper::penetration() {
  engine_.prepare_response(contact_.engine_state(now_));
  search_.find(engine_.links().motion, 0, pool_);
  double deepest = 0;
  for (const CrowdPoint& p : search_.points()) deepest = std::max(deepest, -p.gap);
  return deepest;
}

void CrowdStepper::dense(double theta, State& out) {
  dense_.u = theta * scratch_.u1;
  dynamics_.plus(dense_.base.q, dense_.u, out.q);
  out.v = (1 - theta) * dense_.v_begin + theta * dense_.v_end;
  out.z = (1 - theta) * dense_.base.z + theta * now_.z;
}

void CrowdStepper::dense_work(double theta, Vec& W) { W = (1 - theta) * dense_.W_base + theta * dense_.W_end; }

}  // namespace clatter::contact
