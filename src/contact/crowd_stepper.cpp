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
      crew_(crowd_.threads),
      push_(crew_),
      sweeps_(crew_),
      gradients_(sweeps_),
      newton_(sweeps_),
      push_newton_(sweeps_),
      log_(dynamics.system(), crowd_),
      mid_(now_) {
  if (!(settings.step > 0)) throw InputError("time stepping needs a step", "give `step:` a positive time");
  for (Vec* x : {&a_free_, &v_free_, &v_land_, &v_move_, &u1_, &u_dense_, &v_begin_, &v_end_, &column_, &answer_})
    x->setZero(n_.nv);
  zdot_free_.setZero(n_.nz);
  lambda_free_.setZero(n_.nc());
  mu_.setZero(n_.nc());
  for (Vec* x : {&p_, &W_base_, &W_end_}) x->setZero(n_.np);
  entries_.resize(system().groups.size());
  for (std::size_t e = 0; e < crowd_.contacts.size(); ++e)
    entries_[e].planar = system().shapes[at(crowd_.contacts[e].first.front())].geometry.planar();
  entries_trial_ = entries_;
  base_ = now_;
  for (const CrowdContact& entry : crowd_.contacts) {
    turning_ = turning_ || entry.law.rolling > 0 || entry.law.drilling > 0;
    shifting_ = shifting_ || entry.law.tangential_restitution > 0 ||
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
  counts_ = {};
  worst_ = last_ = step_ = {};
  last_residual_ = worst_residual_ = {};
  unsolved_ = {};
  touching_ = 0;
  energy_known_ = false;
  slots_.samples.clear();
  slots_.frictions.clear();
  settle_compliant();
  know_derivative();
  engine_.prepare_response(contact_.engine_state(now_));
  a_free_ = a_;
  gather(settings_.step);
  const double reach = settings_.step * (2 * fastest_ + change_) + 1e-9 * system().length_scale;
  for (CrowdEntryState& e : entries_) e.begin(reach);
  for (std::size_t k = 0; k < ropes_.size(); ++k)
    entries_[crowd_.contacts.size() + k].gap = rope_state(ropes_[k], crowd_.ropes[k].length).gap;
  search_.find(engine_.links().motion, reach, crew_);
  for (const CrowdPoint& p : search_.points()) {
    CrowdEntryState& e = entries_[at(p.entry)];
    e.gap = std::min(e.gap, p.gap);
  }
  judge_overlap(engine_.system().model, start_overlap());
}

void CrowdStepper::exchange(Archive& archive) {
  archive.vector(a_);
  archive.vector(lambda_);
  archive.vector(zdot_);
  worst_.exchange(archive);
  counts_.exchange(archive);
  unsolved_.exchange(archive);
  for (double* x : {&worst_residual_.rate, &worst_residual_.impulse, &worst_residual_.approach, &worst_residual_.cone})
    archive.value(*x);
  archive.count(touching_);
  memory_.exchange(archive, room(), turning_);
  log_.exchange(archive);
  contact_.compliant().exchange(archive);
  if (archive.reading()) energy_known_ = false;
}

void CrowdStepper::collect(double h) {
  const double reach = reach_ = h * (2 * fastest_ + change_) + 1e-9 * system().length_scale;
  {
    const Stopwatch watch(times_.detection);
    search_.find(engine_.links().motion, reach, crew_);
  }
  const Stopwatch watch(times_.assembly);
  problem_.sides.clear();
  problem_.W.clear();
  problem_.X.clear();
  const std::size_t points = search_.points().size();
  const int chunks = chunks_of(points);
  drafts_.resize(kChunks + 2);
  Draft &ropes = drafts_[at(chunks)], &jointed = drafts_[at(chunks) + 1];
  for (int k = 0; k < chunks + 2; ++k) drafts_[at(k)].begin(entries_.size(), reach);
  cut_into_blocks(points);
  visit_chunks(points, crew_, [&](std::size_t from, std::size_t to, int k) {
    Draft& draft = drafts_[at(k)];
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
    for (const int index : drafts_[at(k)].jointed) row_of_point(jointed, index, h);
  for (int k = 0; k < static_cast<int>(ropes_.size()); ++k)
    row_of_rope(coupled(ropes_[at(k)].link1) || coupled(ropes_[at(k)].link2) ? jointed : ropes, k, h);
  rows_of_slots(jointed, h);
  count_blocks(ropes);
  join_drafts(chunks + 1);
  problem_.rows.insert(problem_.rows.end(), jointed.rows.begin(), jointed.rows.end());
  rows_.insert(rows_.end(), jointed.about.begin(), jointed.about.end());
  problem_.turns.insert(problem_.turns.end(), jointed.turns.begin(), jointed.turns.end());
  turned_.insert(turned_.end(), jointed.turned.begin(), jointed.turned.end());
  problem_.shifts.insert(problem_.shifts.end(), jointed.shifts.begin(), jointed.shifts.end());
  waiting_.clear();
  for (int k = 0; k < chunks + 2; ++k)
    waiting_.insert(waiting_.end(), drafts_[at(k)].waiting.begin(), drafts_[at(k)].waiting.end());
  step_.penetration = 0;
  for (CrowdEntryState& e : entries_trial_) e.gap = reach;
  for (int k = 0; k < chunks + 2; ++k) {
    const Draft& draft = drafts_[at(k)];
    step_.penetration = std::max(step_.penetration, draft.deepest);
    for (std::size_t e = 0; e < entries_trial_.size(); ++e)
      entries_trial_[e].gap = std::min(entries_trial_[e].gap, draft.gaps[e]);
  }
  for (std::size_t k = 0; k < ropes_.size(); ++k) {
    const std::size_t e = crowd_.contacts.size() + k;
    entries_trial_[e].gap = coupled(ropes_[k].link1) || coupled(ropes_[k].link2) ? jointed.gaps[e] : ropes.gaps[e];
  }
  free_bodies_ = problem_.bodies;
  free_x_ = problem_.x;
  visit_parts(problem_, false, crew_, [&](int from, int to, int) {
    for (int i = from; i < to; ++i) {
      const CrowdRow& row = problem_.rows[at(i)];
      if (!(row.pn > 0)) continue;
      problem_.push(row, impulse(row));
      if (turning_) problem_.turn(row, problem_.turns[at(i)], moment(problem_.turns[at(i)]));
    }
  });
}

void CrowdStepper::solve(double tolerance, int most) {
  const bool exact = crowd_.friction == FrictionModel::exact;
  const bool spectral = crowd_.solver == CrowdSolver::barzilai_borwein;
  const bool newton = crowd_.solver == CrowdSolver::newton;
  const CrowdSolverReport report = crowd_.solver == CrowdSolver::gauss_seidel
                                       ? sweeps_.solve(problem_, exact, tolerance, most)
                                   : newton ? newton_.solve(problem_, exact, tolerance, most)
                                            : gradients_.solve(problem_, exact, spectral, tolerance, most);
  iterations_ += report.iterations;
  solved_ += report.iterations;
}

bool CrowdStepper::attempt(double t1) {
  const double h = t1 - now_.t;
  step_ = {};
  trial_.t = t1;
  {
    const Stopwatch watch(times_.free_motion);
    dynamics_.accelerations(now_, a_free_, lambda_free_, zdot_free_);
    gather(h);
  }
  collect(h);
  find_impacts(h);
  const bool newton = crowd_.solver == CrowdSolver::newton;
  const double tolerance = crowd_.tolerance > 0 ? crowd_.tolerance
                                                : (newton ? kNewtonTolerance : kTolerance) *
                                                      std::max(change_, 1e-9 * system().velocity_scale);
  const int most = crowd_.iterations > 0                        ? crowd_.iterations
                   : crowd_.solver == CrowdSolver::gauss_seidel ? kSweeps
                   : newton                                     ? kNewtonIterations
                                                                : kGradients;
  allowed_ = h * tolerance;
  trial_.z = now_.z + h * zdot_free_;
  solved_ = 0;
  for (int look = 0;; ++look) {
    {
      const Stopwatch watch(times_.solution);
      solve_with_limits(h, tolerance, most);
      velocities(trial_.v);
      land(h);
    }
    const Stopwatch watch(times_.rest);
    book(h);
    if (!move(h)) return false;
    if (!unpaid_ || look == kLooks || !add_missed(h, tolerance)) break;
  }
  const Stopwatch watch(times_.rest);
  if (n_.nc() > 0) {
    project_trial(u1_);
    energy_trial_ = dynamics_.stored_energy(trial_);
  }
  step_.complementarity = step_residual_.rate / system().velocity_scale;
  step_.cone = step_residual_.cone / (system().force_scale * system().length_scale / system().velocity_scale);
  a_trial_ = (trial_.v - now_.v) / h;
  zdot_trial_ = zdot_free_;
  trial_known_ = true;
  step_.energy = energy_trial_ - energy_now_ - (W_trial_.sum() - W_.sum());
  base_ = now_;
  v_begin_ = now_.v;
  v_end_ = trial_.v;
  W_base_ = W_;
  W_end_ = W_trial_;
  return true;
}

// Work of the impulses at the mean of the rates before and after: their kinetic energy, exactly.
void CrowdStepper::book(double h) {
  W_trial_ = W_;
  lambda_trial_ = lambda_free_;
  for (CrowdEntryState& e : entries_trial_) e.begin(e.gap);
  bool reactions = false;
  slots_.samples_trial.clear();
  slots_.frictions_trial.clear();
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const CrowdRow& row = problem_.rows[i];
    if (!(row.pn > 0)) continue;
    const Contacted& c = rows_[i];
    reactions = reactions || (n_.nc() > 0 && static_cast<int>(i) >= problem_.free_rows);
    if (c.point < 0) book_slot(i, h);
    if (c.entry < 0) continue;
    const Vec3 n(row.n[0], row.n[1], row.n[2]), P = impulse(row), mean = 0.5 * (c.u_begin + problem_.rate(row));
    // Friction of a collision is lost in the impact, as of pairs.
    const double normal = c.impact ? P.dot(mean) : row.pn * n.dot(mean);
    W_trial_[contact_.impact_channel(c.entry)] += normal;
    W_trial_[contact_.friction_channel(c.entry)] += P.dot(mean) - normal;
    if (turning_)
      W_trial_[contact_.friction_channel(c.entry)] +=
          0.5 * (moment(problem_.turns[i]).dot(turned_[i].w_begin) + moment_power(i));
    CrowdEntryState& e = entries_trial_[at(c.entry)];
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
    lambda_trial_ += mu_ / h;
  }
  if (engine_.sizes().np > 0 || contact_.compliant().any()) {
    mid_ = now_;
    mid_.v = 0.5 * (now_.v + trial_.v);
    a_trial_ = (trial_.v - now_.v) / h;
    dynamics_.powers(mid_, a_trial_, lambda_trial_, p_);
    W_trial_ += h * p_;
  }
}

void CrowdStepper::note_events(double h) {
  log_.begin_step();
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Contacted& c = rows_[i];
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
  for (const std::vector<Gain>* list : {&gains_, &impacts_.gains})
    for (const Gain& g : *list) {
      const Contacted& c = rows_[at(g.row)];
      const CrowdPoint* p = c.point >= 0 ? &search_.points()[at(c.point)] : nullptr;
      const int slot = slot_of(c);
      log_.take_gain(slot >= 0 ? log_.entry_of_slot(slot) : c.entry, p != nullptr ? p->shape1 : -1,
                     p != nullptr ? p->shape2 : -1, law_of(c).impact, g.gain, g.part);
    }
  report_.changed = log_.changed();
}

void CrowdStepper::accept() {
  if (log_.any()) note_events(trial_.t - now_.t);
  memory_.begin(rows_.size());
  int touching = 0;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const CrowdRow& row = problem_.rows[i];
    if (!(row.pn > 0)) continue;
    memory_.put(rows_[i].key, row.pn, Vec3(row.pt[0], row.pt[1], row.pt[2]), rows_[i].place);
    if (turning_) memory_.put_moment(moment(problem_.turns[i]));
    if (has_given_limit(row)) continue;
    ++touching;
    if (!rows_[i].closed) {
      ++counts_.closes;
      if (rows_[i].impact) ++counts_.impacts;
    } else {
      --touching_;  // what remains of the last step's has opened
    }
  }
  counts_.opens += touching_;
  touching_ = touching;
  entries_.swap(entries_trial_);
  slots_.samples.swap(slots_.samples_trial);
  slots_.frictions.swap(slots_.frictions_trial);
  last_ = step_;
  // Penetration is that of the begin.
  Certificate begin;
  begin.penetration = step_.penetration;
  worst_.take(begin, now_.t);
  step_.penetration = 0;
  worst_.take(step_, trial_.t);
  last_residual_ = step_residual_;
  worst_residual_.take(step_residual_);
  unsolved_.take(step_unsolved_);
  energy_now_ = energy_trial_;
  note_compliant_events();
}

double CrowdStepper::penetration() {
  engine_.prepare_response(contact_.engine_state(now_));
  search_.find(engine_.links().motion, 0, crew_);
  double deepest = 0;
  for (const CrowdPoint& p : search_.points()) deepest = std::max(deepest, -p.gap);
  return deepest;
}

void CrowdStepper::dense(double theta, State& out) {
  u_dense_ = theta * u1_;
  dynamics_.plus(base_.q, u_dense_, out.q);
  out.v = (1 - theta) * v_begin_ + theta * v_end_;
  out.z = (1 - theta) * base_.z + theta * now_.z;
}

void CrowdStepper::dense_work(double theta, Vec& W) { W = (1 - theta) * W_base_ + theta * W_end_; }

}  // namespace clatter::contact
