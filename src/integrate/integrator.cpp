#include "integrate/integrator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "base/interrupt.hpp"
#include "base/rotation.hpp"
#include "integrate/diagnosis.hpp"

namespace clatter {

namespace {

// Steps below this part of the time have collapsed: their ends are known to two digits only.
constexpr double kSmallest = 1e-14;
// Increments of one step stay clear of the half turn, where the shortest rotation between two orientations is
// ambiguous.
constexpr double kLargestRotation = 3.0;
// A step that would leave less than this part of itself before a wanted end is stretched to it.
constexpr double kStretch = 1e-9;
// Steps that move a coordinate further than this, in units of its scale, are asked whether they move it as its velocity
// does: to less than this, a small part of a turn.
constexpr double kTurned = 1, kAsFast = 1;

// Rotation blocks left out: they are bound by kLargestRotation.
double largest_ratio(const Vec& x, const Vec& scale, std::span<const int> rotations) {
  double largest = 0;
  std::size_t block = 0;
  for (int i = 0; i < static_cast<int>(x.size()); ++i) {
    if (block < rotations.size() && i == rotations[block]) {
      i += 2;
      ++block;
      continue;
    }
    largest = std::max(largest, std::abs(x[i]) / scale[i]);
  }
  return largest;
}

}  // namespace

Integrator::Integrator(Dynamics& dynamics, const IntegratorSettings& settings)
    : dynamics_(dynamics),
      settings_(settings),
      n_(dynamics.sizes()),
      projector_(dynamics),
      rotations_(dynamics.rotation_blocks().begin(), dynamics.rotation_blocks().end()) {
  for (State* s : {&now_, &trial_}) {
    s->q.setZero(n_.nq);
    s->v.setZero(n_.nv);
    s->z.setZero(n_.nz);
  }
  for (Vec* x : {&a_, &a_trial_}) x->setZero(n_.nv);
  for (Vec* x : {&lambda_, &lambda_trial_}) x->setZero(n_.nc());
  for (Vec* x : {&zdot_, &zdot_trial_}) x->setZero(n_.nz);
  for (Vec* x : {&W_, &W_trial_}) x->setZero(n_.np);
  worst_error_.setZero(n_.nv);
  events_.setup(n_.ne, now_);
}

void Integrator::start(const State& s) {
  now_ = s;
  trial_ = s;
  W_.setZero();
  start_time_ = begin_ = s.t;
  stored_at_start_ = n_.np > 0 ? dynamics_.stored_energy(s) : 0;
  grid_index_ = 0;
  controller_memory_ = 1e-4;
  last_rejected_ = false;
  known_ = trial_known_ = false;
  watch_ = {};
  passing_ = by_passage_ = false;
  projector_.start(s);
  know_events();
  events_.fired.clear();
  events_.take_signs();
  h_next_ = settings_.step;
  if (controlled() && h_next_ <= 0) {
    h_next_ = first_step();
    trial_ = s;
  }
  if (settings_.max_step > 0) h_next_ = std::min(h_next_, settings_.max_step);
  started();
}

void Integrator::follow(const Integrator& before, bool jumped) {
  watch_ = before.watch_;
  if (jumped) watch_.jumped();
  passing_ = before.passing_ && watches() && !jumped;
}

void Integrator::exchange_watch(Archive& archive) {
  watch_.exchange(archive);
  archive.count(passing_);
}

const StepReport& Integrator::step(double t_limit) {
  report_ = {};
  events_.fired.clear();
  const double t0 = now_.t;
  double t1 = t_limit;
  bool on_grid = false;
  if (controlled()) {
    const double h = h_next_;
    if (t0 + h * (1 + kStretch) < t_limit) {
      // Two equal steps to the limit rather than a full one and a sliver.
      t1 = t0 + 2 * h > t_limit ? t0 + 0.5 * (t_limit - t0) : t0 + h;
      if (settings_.fixed_step) t1 = t0 + h;
    }
  } else {
    const double h = settings_.step;
    while (start_time_ + (grid_index_ + 1) * h - t0 <= kStretch * h) ++grid_index_;
    const double grid = start_time_ + (grid_index_ + 1) * h;
    on_grid = t_limit >= grid - kStretch * h;
    if (on_grid) t1 = std::abs(t_limit - grid) <= kStretch * h ? t_limit : grid;
  }
  take_step(t1, on_grid);
  return report_;
}

bool Integrator::try_attempt(double t1, bool may_fail) {
  leave_if_interrupted();
  trial_known_ = false;
  error_ = 0;
  failure_.reset();
  try {
    by_passage_ = passing_;
    if (!(passing_ ? attempt_passage(t1) : attempt(t1)) || !std::isfinite(error_)) return false;
    return !controlled() || settings_.fixed_step || error_ > 1 || moves_as_its_velocities();
  } catch (const SolveError& failure) {
    if (!may_fail) throw;
    failure_ = failure;
    return false;
  } catch (const std::domain_error&) {
    return false;  // an iteration ran away, and a matrix at where it went holds entries that are not finite
  }
}

bool Integrator::moves_as_its_velocities() {
  const Vec& scale = projector_.u_scale();
  const double h = trial_.t - now_.t;
  if (!(h * std::max(largest_ratio(now_.v, scale, {}), largest_ratio(trial_.v, scale, {})) > kTurned)) return true;
  // Simpson's rule on the dense output.
  State& middle = events_.sample;
  scheme().dense(0.5, middle);
  middle.v = h / 6 * (now_.v + 4 * middle.v + trial_.v);
  dynamics_.plus(now_.q, middle.v, middle.q);
  dynamics_.minus(trial_.q, middle.q, middle.v);
  return largest_ratio(middle.v, scale, rotations_) <= kAsFast;
}

void Integrator::take_step(double t1, bool on_grid) {
  const double t0 = now_.t;
  const bool adapt = controlled() && !settings_.fixed_step;
  int halved = 0;
  if (watches()) singular_ = watch_.ahead();
  for (;;) {
    if (watches()) t1 = plan_passage(t1);
    const double h = t1 - t0;
    const bool smallest = h <= std::max(settings_.min_step, kSmallest * std::max(std::abs(t0), std::abs(t1)));
    const bool may_shorten = !smallest && (adapt || halved < halvings());
    const bool computed = try_attempt(t1, may_shorten || adapt);
    bool taken = computed && (!adapt || error_ <= 1);
    if (taken) guard_finite();
    taken = taken && between_ends(t1, may_shorten);
    if (taken && !(watches() && !passing_ && unforeseen_passage())) break;
    if (!taken && !may_shorten) step_too_small(h, computed);
    ++report_.rejected;
    ++halved;
    on_grid = false;
    if (taken) continue;
    t1 = t0 + (computed && adapt ? scheme().propose(h, error_, false) : (adapt ? 0.25 : 0.5) * h);
    last_rejected_ = true;
  }
  const double h_full = t1 - t0, error_full = error_;
  if (n_.ne > 0 && settings_.find_events) {
    double t_event = 0;
    const int index = first_event(t1, t_event);
    if (index >= 0) {
      on_grid = false;
      if (!land_on_event(index, t_event, t1)) {
        // The event lies at the very start: nothing moved, the function now stands on its zero.
        events_.take_signs();
        report_.t = t0;
        report_.at_event = true;
        return;
      }
    }
  }
  if (adapt && !report_.at_event) {
    double h_new = scheme().propose(h_full, error_full, true);
    if (by_passage_) controller_memory_ = passage_->controller_memory_;
    if (last_rejected_) h_new = std::min(h_new, h_full);
    // A step shortened for an end, not for its error, must not shorten those after it. Multistep schemes may shorten
    // their steps before one fails; the others go on with the step until then.
    const bool keep = !scheme().restarts_at_events() || h_full < (1 - kStretch) * h_next_;
    if (report_.rejected == 0 && keep) h_new = std::max(h_new, std::min(h_next_, 5 * h_full));
    if (settings_.max_step > 0) h_new = std::min(h_new, settings_.max_step);
    h_next_ = h_new;
    last_rejected_ = false;
  }
  if (on_grid) ++grid_index_;
  report_.t = trial_.t;
  report_.h = trial_.t - t0;
  report_.error = error_full;
  begin_ = t0;
  scheme().accept();
  std::swap(now_, trial_);
  W_.swap(W_trial_);
  known_ = trial_known_;
  if (known_) {
    a_.swap(a_trial_);
    lambda_.swap(lambda_trial_);
    zdot_.swap(zdot_trial_);
    sine_ = sine_trial_;
  }
  if (watches()) {
    try {
      know_derivative();
      watch_.passed(now_.t, sine_);
      report_.sine = sine_;
    } catch (const SolveError&) {
      known_ = false;  // the next step will tell
    }
  }
  if (n_.ne > 0 && settings_.find_events) {
    know_events();
    events_.take_signs();
  }
  if (adapt && report_.at_event && restarts_at_events()) h_next_ = std::min(h_next_, first_step());
}

bool Integrator::between_ends(double t1, bool) {
  if (!settings_.find_events) survey(t1);
  return true;
}

double Integrator::propose(double h, double error, bool accepted) {
  // PI control (Gustafsson): the error's trend damps the reaction to its last value.
  constexpr double kBeta = 0.04, kSafety = 0.9;
  const double exponent = 1.0 / (error_order() + 1) - 0.75 * kBeta;
  const double raw = std::pow(std::max(error, 1e-10), exponent);
  if (!accepted) return h / std::min(5.0, raw / kSafety);
  const double factor = std::clamp(raw / std::pow(controller_memory_, kBeta) / kSafety, 0.1, 5.0);
  controller_memory_ = std::max(error, 1e-4);
  return h / factor;
}

void Integrator::guard_finite() {
  const std::string name = first_not_finite(dynamics_, trial_);
  if (name.empty()) return;
  throw SolveError("not-finite", trial_.t, {name}, fmt::format("the solution is no longer finite: {}", name),
                   "take a smaller step, or a scheme that controls its step");
}

void Integrator::step_too_small(double h, bool computed) {
  if (controlled()) collapsed(h, computed ? "without meeting the tolerance" : "without a solution of its equations");
  const Culprits worst = worst_velocities(dynamics_, worst_error_, Vec::Ones(n_.nv));
  const std::string name = worst.names.empty() ? std::string("the inner states") : worst.names.front();
  const std::string broken = first_not_finite(dynamics_, trial_);
  if (!broken.empty()) guard_finite();
  throw SolveError(
      "step-failed", now_.t, {name},
      fmt::format("a step of {:.3g} s cannot be computed: parts turn by more than half a turn in it, or its "
                  "equations were not solved; most affected: {}",
                  h, name),
      "take a smaller step");
}

double Integrator::first_step() {
  // Hairer, Norsett, Wanner, Solving ODEs I, II.4: a step that moves the solution by a hundredth of its size, then one
  // that would make the leading error term a hundredth of the tolerance.
  know_derivative();
  const double d0 = error_norm(projector_.u_scale(), now_.v, now_.z, now_, now_);
  const double d1 = error_norm(now_.v, a_, zdot_, now_, now_);
  double h0 = d1 > 1e-10 * d0 && d1 > 0 ? 0.01 * d0 / d1 : 1e-3 * d0 / std::max(d1, 1e-30);
  if (!(h0 > 0) || !std::isfinite(h0)) h0 = 1e-3;
  if (settings_.max_step > 0) h0 = std::min(h0, settings_.max_step);
  trial_.t = now_.t + h0;
  a_trial_ = h0 * now_.v;
  dynamics_.plus(now_.q, a_trial_, trial_.q);
  trial_.v = now_.v + h0 * a_;
  trial_.z = now_.z + h0 * zdot_;
  double d2 = 0;
  try {
    dynamics_.accelerations(trial_, a_trial_, lambda_trial_, zdot_trial_);
    a_trial_ -= a_;
    zdot_trial_ -= zdot_;
    trial_.v -= now_.v;
    d2 = error_norm(trial_.v, a_trial_, zdot_trial_, now_, now_) / h0;
  } catch (const SolveError&) {
    return 1e-3 * h0;
  }
  const double steepest = std::max(d1, d2);
  const double h1 = steepest > 1e-15 ? std::pow(0.01 / steepest, 1.0 / (error_order() + 1)) : std::max(1e-6, 1e-3 * h0);
  return std::isfinite(h1) ? std::min(100 * h0, h1) : h0;
}

bool Integrator::increment_rate(const Vec& u, const Vec& v, Vec& out) const {
  out = v;
  for (const int i : rotations_) {
    const Vec3 psi = u.segment<3>(i);
    if (!(psi.squaredNorm() <= kLargestRotation * kLargestRotation)) return false;
    out.segment<3>(i).noalias() = right_jacobian_inverse(psi) * v.segment<3>(i);
  }
  return true;
}

void Integrator::project_trial(Vec& u1) {
  if (n_.nc() == 0 || !settings_.project) return;
  if (n_.nh > 0) {
    const ProjectionReport report = projector_.positions(trial_);
    report_.projections += report.iterations;
    report_.drift = std::max(report_.drift, report.size);
    if (report.iterations > 0) dynamics_.minus(trial_.q, now_.q, u1);
  }
  const ProjectionReport report = projector_.velocities(trial_);
  report_.projections += report.iterations;
  report_.drift = std::max(report_.drift, report.size);
}

void Integrator::know_derivative() {
  if (known_) return;
  dynamics_.accelerations(now_, a_, lambda_, zdot_);
  sine_ = dynamics_.constraint_sine();
  known_ = true;
}

void Integrator::know_trial_derivative() {
  if (trial_known_) return;
  dynamics_.accelerations(trial_, a_trial_, lambda_trial_, zdot_trial_);
  sine_trial_ = dynamics_.constraint_sine();
  trial_known_ = true;
}

double Integrator::error_norm(const Vec& du, const Vec& dv, const Vec& dz, const State& from, const State& to) {
  const double relative = settings_.relative_tolerance, absolute = settings_.absolute_tolerance;
  const Vec &us = projector_.u_scale(), &vs = projector_.v_scale(), &zs = projector_.z_scale();
  double sum = 0;
  for (int i = 0; i < n_.nv; ++i) {
    const double eu = du[i] / ((absolute + relative) * us[i]);
    const double ev = dv[i] / (absolute * vs[i] + relative * std::max(std::abs(from.v[i]), std::abs(to.v[i])));
    worst_error_[i] = std::max(std::abs(eu), std::abs(ev));
    sum += eu * eu + ev * ev;
  }
  for (int i = 0; i < n_.nz; ++i) {
    const double ez = dz[i] / (absolute * zs[i] + relative * std::max(std::abs(from.z[i]), std::abs(to.z[i])));
    sum += ez * ez;
  }
  return std::sqrt(sum / std::max(1, 2 * n_.nv + n_.nz));
}

const Vec& Integrator::acceleration() {
  know_derivative();
  return a_;
}

const Vec& Integrator::lambda() {
  know_derivative();
  return lambda_;
}

void Integrator::interpolate(double t, State& out) {
  if (t == now_.t || now_.t == begin_) {
    out = now_;
  } else {
    scheme().dense((t - begin_) / (now_.t - begin_), out);
  }
  out.t = t;
}

void Integrator::interpolate_work(double t, Vec& W) {
  if (t == now_.t || now_.t == begin_) {
    W = W_;
  } else {
    scheme().dense_work((t - begin_) / (now_.t - begin_), W);
  }
}

void Integrator::exchange_all(Archive& archive) {
  archive.value(now_.t);
  archive.vector(now_.q);
  archive.vector(now_.v);
  archive.vector(now_.z);
  archive.vector(W_);
  archive.value(start_time_);
  archive.value(stored_at_start_);
  archive.value(h_next_);
  archive.value(grid_index_);
  archive.value(controller_memory_);
  archive.count(last_rejected_);
  archive.vector(events_.sign);
  exchange_watch(archive);
  projector_.exchange(archive);
  exchange(archive);
}

std::size_t Integrator::memory_size() {
  Archive archive = Archive::counter();
  exchange_all(archive);
  return archive.position();
}

void Integrator::save(std::span<double> memory) {
  Archive archive = Archive::writer(memory);
  exchange_all(archive);
}

void Integrator::restore(std::span<const double> memory) {
  if (memory.size() != memory_size()) {
    throw InputError("the checkpoint was written by another integrator or for another model");
  }
  Archive archive = Archive::reader(memory);
  exchange_all(archive);
  begin_ = now_.t;
  by_passage_ = false;
  known_ = remembers_derivative();
  trial_ = now_;
  know_events();
}

}  // namespace clatter
