#include "contact/crowd_stepper.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/stopwatch.hpp"
#include "contact/stable_step.hpp"

namespace clatter::contact {

namespace {

// Gaps and penetrations below this part of the length scale are rounding.
constexpr double kNoGap = 1e-12;
// An impact approaches faster than this many times what forces change in a step.
constexpr double kImpact = 2;
// Part of a penetration that a step pushes out.
constexpr double kPush = 0.3;
// Penetration below this part of the smaller shape is left alone: what rests need not be lifted for rounding.
constexpr double kSlop = 1e-5;
// Overlaps at the start beyond this part of the smaller shape are refused.
constexpr double kOverlap = 0.1;
// A contact is the one of the last step if it is no farther from it than this part of the smaller shape, and what
// moved.
constexpr double kSamePlace = 0.1;
// Sweeps and gradient steps unless the model says so; rates that may be wrong, by what forces change in a step.
constexpr int kSweeps = 60, kGradients = 200;
constexpr double kTolerance = 1e-4;

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
      sweeps_(crowd_.threads),
      mid_(now_) {
  if (!(settings.step > 0)) throw InputError("time stepping needs a step", "give `step:` a positive time");
  for (Vec* x : {&a_free_, &v_free_, &v_move_, &u1_, &u_dense_, &v_begin_, &v_end_, &column_, &answer_})
    x->setZero(n_.nv);
  zdot_free_.setZero(n_.nz);
  mu_.setZero(n_.nc());
  for (Vec* x : {&p_, &W_base_, &W_end_}) x->setZero(n_.np);
  entries_.resize(system().groups.size());
  entries_trial_ = entries_;
  base_ = now_;
  place_links();
}

void CrowdStepper::started() {
  require_stable_step(engine_.system(), contact_.engine_state(now_), settings_.step);
  memory_.begin(0);
  counts_ = {};
  worst_ = last_ = step_ = {};
  last_residual_ = worst_residual_ = {};
  touching_ = 0;
  energy_known_ = false;
  know_derivative();
  for (CrowdEntryState& e : entries_) e = {};
  engine_.prepare_response(contact_.engine_state(now_));
  search_.find(engine_.links().motion, 1e-9 * system().length_scale);
  const CrowdPoint* deepest = nullptr;
  for (const CrowdPoint& p : search_.points()) {
    if (deepest == nullptr || p.gap < deepest->gap) deepest = &p;
    CrowdEntryState& e = entries_[at(p.entry)];
    e.gap = std::min(e.gap, p.gap);
  }
  if (deepest == nullptr) return;
  // Pushed apart step by step they would leap; small overlaps are inaccuracies of the model and are taken back.
  const auto size = [&](int shape) { return system().shapes[at(shape)].geometry.bound; };
  const double smaller = std::min(size(deepest->shape1), size(deepest->shape2));
  if (-deepest->gap > kOverlap * smaller) {
    const CrowdContact& entry = crowd_.contacts[at(deepest->entry)];
    throw InputError(engine_.system().model.texts, entry.source,
                     fmt::format("contact `{}`: `{}` and `{}` overlap by {:.3g} m at the start", entry.name,
                                 system().shapes[at(deepest->shape1)].name, system().shapes[at(deepest->shape2)].name,
                                 -deepest->gap),
                     "move them apart: more than a tenth of a shape cannot be pushed out without violence");
  }
}

void CrowdStepper::exchange(Archive& archive) {
  archive.vector(a_);
  archive.vector(lambda_);
  archive.vector(zdot_);
  worst_.exchange(archive);
  counts_.exchange(archive);
  for (double* x : {&worst_residual_.rate, &worst_residual_.impulse, &worst_residual_.approach, &worst_residual_.cone})
    archive.value(*x);
  archive.count(touching_);
  memory_.exchange(archive, room());
  if (archive.reading()) energy_known_ = false;
}

Vec3 CrowdStepper::begin_velocity(int link, const Vec3& arm) const {
  if (link < 0) return Vec3::Zero();
  const LinkMotion& m = engine_.links().motion[at(link)];
  return m.v + m.w.cross(arm);
}

void CrowdStepper::add_row(int entry, int point, std::uint64_t key, int link1, int link2, const Vec3& p1,
                           const Vec3& p2, const Vec3& n, double gap, double size, const RigidContact& law, double h) {
  const auto centre = [&](int link) -> Vec3 {
    return link < 0 ? Vec3::Zero() : Vec3(engine_.links().motion[at(link)].p);
  };
  const Vec3 c1 = p1 - centre(link1), c2 = p2 - centre(link2);
  Contacted c;
  c.u_begin = begin_velocity(link1, c1) - begin_velocity(link2, c2);
  c.before = n.dot(c.u_begin);
  if (gap > h * (fastest_ + change_ + std::max(0.0, -c.before)) + kNoGap * system().length_scale) return;
  const bool coupled = (link1 >= 0 && places_[at(link1)].group >= 0) || (link2 >= 0 && places_[at(link2)].group >= 0);
  c.entry = entry;
  c.point = point;
  c.link1 = link1;
  c.link2 = link2;
  c.key = key;
  c.gap = gap;
  CrowdRow row;
  row.side1 = side_of(link1, c1);
  row.side2 = side_of(link2, c2);
  for (int k = 0; k < 3; ++k) {
    row.n[k] = n[k];
    row.c1[k] = c1[k];
    row.c2[k] = c2[k];
    row.pt[k] = 0;
  }
  row.pn = 0;
  c.impact = gap + h * c.before <= 0 && -c.before > kImpact * change_ + 1e-9 * system().velocity_scale;
  const double slip = std::sqrt(std::max(0.0, c.u_begin.squaredNorm() - c.before * c.before));
  row.mu = c.impact && law.impact_friction ? *law.impact_friction : friction_coefficient(law.friction, slip);
  problem_.set_response(row);
  if (row.inverse_nn <= 0) return;
  row.b = gap > 0 ? gap / h : 0;
  c.push = row.b;
  if (c.impact && law.restitution > 0) {
    row.b = c.push = law.restitution * c.before;
  } else if (gap < -kSlop * size) {
    c.push = kPush * (gap + kSlop * size) / h;
    pushes_ = true;
  }
  c.place = p2;
  const CrowdMemory::Entry* last = memory_.find(key, p2, kSamePlace * size + 2 * h * fastest_);
  c.closed = last != nullptr;
  if (last != nullptr) {
    row.pn = last->pn;
    const Vec3 pt = last->pt - n.dot(last->pt) * n;
    const double t = pt.norm(), limit = row.mu * row.pn;
    const double part = t > limit ? limit / t : 1;
    for (int k = 0; k < 3; ++k) row.pt[k] = part * pt[k];
  }
  if (coupled) {
    coupled_.push_back(c);
    coupled_rows_.push_back(row);
  } else {
    rows_.push_back(c);
    problem_.rows.push_back(row);
  }
}

void CrowdStepper::collect(double h) {
  const double reach = h * (2 * fastest_ + change_) + 1e-9 * system().length_scale;
  {
    const Stopwatch watch(times_.detection);
    search_.find(engine_.links().motion, reach);
  }
  const Stopwatch watch(times_.assembly);
  problem_.rows.clear();
  problem_.sides.clear();
  problem_.W.clear();
  problem_.X.clear();
  rows_.clear();
  coupled_.clear();
  coupled_rows_.clear();
  pushes_ = false;
  for (CrowdEntryState& e : entries_trial_) {
    e = {};
    e.gap = reach;
  }
  double deepest = 0;
  int index = 0;
  for (const CrowdPoint& p : search_.points()) {
    CrowdEntryState& e = entries_trial_[at(p.entry)];
    e.gap = std::min(e.gap, p.gap);
    deepest = std::max(deepest, -p.gap);
    const ShapeInstance &s1 = system().shapes[at(p.shape1)], &s2 = system().shapes[at(p.shape2)];
    add_row(p.entry, index++, p.key, s1.link, s2.link, p.p1, p.p2, p.n, p.gap,
            std::min(s1.geometry.bound, s2.geometry.bound), crowd_.contacts[at(p.entry)].law, h);
  }
  for (std::size_t k = 0; k < ropes_.size(); ++k) {
    const RopeEnds& ends = ropes_[k];
    const auto place = [&](int link, const Vec3& r) -> Vec3 {
      if (link < 0) return r;
      const LinkMotion& m = engine_.links().motion[at(link)];
      return m.p + m.R * r;
    };
    const Vec3 p1 = place(ends.link1, ends.r1), p2 = place(ends.link2, ends.r2), d = p2 - p1;
    const double distance = d.norm(), gap = crowd_.ropes[k].length - distance;
    const int entry = static_cast<int>(crowd_.contacts.size() + k);
    CrowdEntryState& e = entries_trial_[at(entry)];
    e.gap = gap;
    deepest = std::max(deepest, -gap);
    if (!(distance > 0)) continue;
    // Of the first end: pulled towards the second.
    add_row(entry, ~static_cast<int>(k), ~std::uint64_t(1) - k, ends.link1, ends.link2, p1, p2, d / distance, gap,
            crowd_.ropes[k].length, crowd_.ropes[k].law, h);
  }
  problem_.free_rows = static_cast<int>(problem_.rows.size());
  cut_into_blocks();
  problem_.rows.insert(problem_.rows.end(), coupled_rows_.begin(), coupled_rows_.end());
  rows_.insert(rows_.end(), coupled_.begin(), coupled_.end());
  step_.penetration = deepest;
  for (const CrowdRow& row : problem_.rows)
    if (row.pn > 0) problem_.push(row, impulse(row));
}

bool CrowdStepper::attempt(double t1) {
  const double h = t1 - now_.t;
  const bool exact = crowd_.friction == FrictionModel::exact;
  step_ = {};
  trial_.t = t1;
  {
    const Stopwatch watch(times_.free_motion);
    dynamics_.accelerations(now_, a_free_, lambda_trial_, zdot_free_);
    gather(h);
  }
  collect(h);
  const double tolerance =
      crowd_.tolerance > 0 ? crowd_.tolerance : kTolerance * std::max(change_, 1e-9 * system().velocity_scale);
  const bool sweeping = crowd_.solver == CrowdSolver::gauss_seidel;
  const int most = crowd_.iterations > 0 ? crowd_.iterations : sweeping ? kSweeps : kGradients;
  const auto solve = [&](int limit) {
    const CrowdSolverReport report =
        sweeping ? sweeps_.solve(problem_, exact, tolerance, limit)
                 : gradients_.solve(problem_, exact, crowd_.solver == CrowdSolver::barzilai_borwein, tolerance, limit);
    iterations_ += report.iterations;
  };
  {
    const Stopwatch watch(times_.solution);
    if (pushes_)
      for (std::size_t i = 0; i < rows_.size(); ++i) std::swap(problem_.rows[i].b, rows_[i].push);
    solve(most);
    velocities(v_move_);
    if (pushes_) {
      for (std::size_t i = 0; i < rows_.size(); ++i) std::swap(problem_.rows[i].b, rows_[i].push);
      solve(std::max(2, most / 4));
      velocities(trial_.v);
    } else {
      trial_.v = v_move_;
    }
    step_residual_ = problem_.residual(exact);
  }
  const Stopwatch watch(times_.rest);
  trial_.z = now_.z + h * zdot_free_;
  u1_ = h * v_move_;
  if (!increment_rate(u1_, v_move_, v_end_)) return false;
  dynamics_.plus(now_.q, u1_, trial_.q);
  book(h);
  project_trial(u1_);
  step_.complementarity = step_residual_.rate / system().velocity_scale;
  step_.cone = step_residual_.cone / (system().force_scale * system().length_scale / system().velocity_scale);
  a_trial_ = (trial_.v - now_.v) / h;
  zdot_trial_ = zdot_free_;
  trial_known_ = true;
  if (!energy_known_) energy_now_ = dynamics_.stored_energy(now_);
  energy_known_ = true;
  energy_trial_ = dynamics_.stored_energy(trial_);
  if (pushes_) {
    // What the push lifted is no work of impulses.
    mid_ = trial_;
    v_begin_ = h * trial_.v;
    dynamics_.plus(now_.q, v_begin_, mid_.q);
    W_trial_[contact_.impact_channel(rows_.front().entry)] += energy_trial_ - dynamics_.stored_energy(mid_);
  }
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
  bool reactions = false;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const CrowdRow& row = problem_.rows[i];
    if (!(row.pn > 0)) continue;
    const Contacted& c = rows_[i];
    const Vec3 n(row.n[0], row.n[1], row.n[2]), P = impulse(row), mean = 0.5 * (c.u_begin + problem_.rate(row));
    const double normal = row.pn * n.dot(mean);
    W_trial_[contact_.impact_channel(c.entry)] += normal;
    W_trial_[contact_.friction_channel(c.entry)] += P.dot(mean) - normal;
    CrowdEntryState& e = entries_trial_[at(c.entry)];
    ++e.touching;
    e.normal_force += row.pn / h;
    e.force += P / h;
    if (row.pn > e.most) {
      e.most = row.pn;
      if (c.point >= 0) {
        e.point = search_.points()[at(c.point)].p2;
      } else {
        const RopeEnds& ends = ropes_[at(~c.point)];
        e.point =
            ends.link2 < 0
                ? ends.r2
                : Vec3(engine_.links().motion[at(ends.link2)].p + engine_.links().motion[at(ends.link2)].R * ends.r2);
      }
    }
    reactions = reactions || (n_.nc() > 0 && static_cast<int>(i) >= problem_.free_rows);
  }
  if (reactions) {
    // Joints answer to the impulses: their multipliers.
    column_.setZero();
    for (std::size_t i = at(problem_.free_rows); i < rows_.size(); ++i) {
      const CrowdRow& row = problem_.rows[i];
      if (!(row.pn > 0)) continue;
      const Vec3 P = impulse(row);
      const auto put = [&](int link, int side, const double* c, const Vec3& F) {
        if (side < 0) engine_.add_generalized(link, F, Vec3(c[0], c[1], c[2]).cross(F), column_.data());
      };
      put(rows_[i].link1, row.side1, row.c1, P);
      put(rows_[i].link2, row.side2, row.c2, -P);
    }
    engine_.response(column_.data(), answer_.data(), mu_.data());
    lambda_trial_ += mu_ / h;
  }
  if (engine_.sizes().np > 0) {
    mid_ = now_;
    mid_.v = 0.5 * (now_.v + trial_.v);
    a_trial_ = (trial_.v - now_.v) / h;
    dynamics_.powers(mid_, a_trial_, lambda_trial_, p_);
    W_trial_ += h * p_;
  }
}

void CrowdStepper::accept() {
  memory_.begin(rows_.size());
  int touching = 0;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const CrowdRow& row = problem_.rows[i];
    if (!(row.pn > 0)) continue;
    ++touching;
    memory_.put(rows_[i].key, row.pn, Vec3(row.pt[0], row.pt[1], row.pt[2]), rows_[i].place);
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
  last_ = step_;
  // Penetration is that of the begin.
  Certificate begin;
  begin.penetration = step_.penetration;
  worst_.take(begin, now_.t);
  step_.penetration = 0;
  worst_.take(step_, trial_.t);
  last_residual_ = step_residual_;
  worst_residual_.rate = std::max(worst_residual_.rate, step_residual_.rate);
  worst_residual_.impulse = std::max(worst_residual_.impulse, step_residual_.impulse);
  worst_residual_.approach = std::max(worst_residual_.approach, step_residual_.approach);
  worst_residual_.cone = std::max(worst_residual_.cone, step_residual_.cone);
  energy_now_ = energy_trial_;
}

double CrowdStepper::penetration() {
  engine_.prepare_response(contact_.engine_state(now_));
  search_.find(engine_.links().motion, 0);
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
