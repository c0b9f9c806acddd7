#include "integrate/bdf.hpp"
#include "base/interrupt.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "integrate/diagnosis.hpp"

namespace clatter {

namespace {

constexpr int kMaxNewton = 5;
constexpr double kBestRate = 1e-3;         // believed of a single ratio of increments
constexpr double kStagnant = 0.5;          // from this ratio on increments no longer shrink
constexpr double kSlow = 0.2;              // increments that shrink less than this ask for new tangents
constexpr double kNewtonTolerance = 0.03;  // error left by Newton, in units of the tolerances

std::size_t at(int i) { return static_cast<std::size_t>(i); }

double factorial(int n) { return n <= 1 ? 1 : n * factorial(n - 1); }

}  // namespace

void Bdf::Point::exchange(Archive& archive) {
  archive.value(t);
  archive.value(turn);
  for (Vec* x : {&q, &v, &z, &W, &lambda}) archive.vector(*x);
}

Bdf::Bdf(Dynamics& dynamics, const IntegratorSettings& settings)
    : Multistep(dynamics, settings, kMaxOrder),
      base_(now_),
      newton_(dynamics.tangent_layout()),
      system_(dynamics, projector_.u_scale()),
      rows_(n_) {
  const Column column = make_column();
  c_.fill(column);
  predicted_ = y_ = rate_ = e_ = work_ = start_slope_ = column;
  for (Vec* x : {&force_, &flow_, &newton_.v_tangents}) x->setZero(n_.nv);
  for (Vec* x : {&lambda_new_, &mu_}) x->setZero(n_.nc());
  for (Vec* x : {&p_, &W_base_}) x->setZero(n_.np);
  x_.resize(n_);
  Point point;
  point.q = now_.q;
  point.v = now_.v;
  point.z = now_.z;
  point.W = W_;
  point.lambda = lambda_;
  history_.setup(kMaxOrder + 1, point);
  if (settings.fixed_step) {
    IntegratorSettings start = settings;
    start.scheme = Scheme::radau5;
    start.find_events = false;
    starter_ = make_integrator(start, dynamics);
  }
}

void Bdf::started() {
  rows_.start();
  system_.leave_out({});
  redundant_.clear();
  restart();
  refresh();
}

void Bdf::restart() {
  history_.clear();
  start_kept_ = false;
  control_.restart();
}

void Bdf::refresh() {
  newton_.tangents_known = newton_.tangents_current = false;
  newton_.factored = 0;
  newton_.tangents = dynamics_.tangent_layout();
  system_.forget();
}

void Bdf::exchange(Archive& archive) {
  history_.exchange(archive);
  archive.count(start_kept_);
  for (Vec* x : {&start_slope_.v, &start_slope_.z, &start_slope_.W}) archive.vector(*x);
  control_.exchange(archive);
  rows_.exchange(archive);
}

void Bdf::begin_history() {
  know_derivative();
  Point& point = history_.push();
  point.t = now_.t;
  point.turn = 0;
  point.q = now_.q;
  point.v = now_.v;
  point.z = now_.z;
  point.W = W_;
  point.lambda = lambda_;
  start_kept_ = true;
  start_slope_.v = a_;
  start_slope_.z = zdot_;
  if (n_.np > 0) dynamics_.powers(now_, a_, lambda_, start_slope_.W);
}

void Bdf::take_differences(double h, int points) {
  points_ = points;
  const bool twice = points > history_.size();  // the start
  const int values = twice ? points - 1 : points;
  for (int j = 0; j < values; ++j) {
    const Point& past = history_[j];
    Column& c = c_[at(j)];
    tau_[at(j)] = (past.t - now_.t) / h;
    if (j == 0) {
      c.u.setZero();
    } else {
      dynamics_.minus(past.q, now_.q, c.u);
    }
    c.v = past.v;
    c.z = past.z;
    c.W = past.W;
  }
  if (twice) {
    tau_[at(values)] = tau_[at(values) - 1];
    c_[at(values)] = start_slope_;
    increment_rate(c_[at(values) - 1].u, history_[values - 1].v, c_[at(values)].u);
    c_[at(values)].scale(h);
  }
  for (int level = 1; level < points; ++level) {
    for (int j = points - 1; j >= level; --j) {
      if (level == 1 && j == values) continue;  // the slope itself
      c_[at(j)].add(-1, c_[at(j - 1)]);
      c_[at(j)].scale(1 / (tau_[at(j)] - tau_[at(j - level)]));
    }
  }
  if (points == 1) {
    // No other point within the chart: the slope here in place of one.
    know_derivative();
    Column& c = c_[1];
    tau_[1] = 0;
    c.u = h * now_.v;
    c.v = h * a_;
    c.z = h * zdot_;
    if (n_.np > 0) {
      dynamics_.powers(now_, a_, lambda_, p_);
      c.W = h * p_;
    }
    points_ = 2;
  }
  N_[0] = 1;
  for (int i = 0; i < points_; ++i) N_[at(i) + 1] = N_[at(i)] * (1 - tau_[at(i)]);
}

void Bdf::predict() {
  predicted_.set_zero();
  rate_.set_zero();
  double slope = 0;  // of N_i at 1
  for (int i = 0; i <= k_; ++i) {
    predicted_.add(N_[at(i)], c_[at(i)]);
    rate_.add(slope / h_, c_[at(i)]);
    slope = N_[at(i)] + (1 - tau_[at(i)]) * slope;
  }
  y_ = predicted_;
  mu_.setZero();
  // Multipliers are less smooth than states: three points at most. Those of redundant rows are not corrected, and an
  // extrapolation of extrapolations would run away.
  const int points = std::min({3, k_ + 1, history_.size()});
  lambda_new_.setZero();
  for (int j = 0; j < points; ++j) {
    double w = 1;
    for (int m = 0; m < points; ++m) {
      if (m != j) w *= (1 - tau_[at(m)]) / (tau_[at(j)] - tau_[at(m)]);
    }
    lambda_new_ += w * history_[j].lambda;
  }
  for (std::size_t i = 0; i < redundant_.size(); ++i) {
    const Eigen::Index row = static_cast<Eigen::Index>(i);
    if (redundant_[i]) lambda_new_[row] = history_[0].lambda[row];
  }
}

bool Bdf::prepare(double sigma) {
  if (!newton_.tangents_known) {
    place_trial();
    dynamics_.tangents(trial_, rate_.v, lambda_new_, newton_.tangents);
    newton_.v_tangents = trial_.v;
    newton_.tangents_known = newton_.tangents_current = true;
    newton_.factored = 0;
    if (rows_.wanted()) {
      redundant_ = rows_.find(newton_.tangents);
      system_.leave_out(redundant_);
    }
  }
  // Steps of one length differ by the rounding of their ends.
  if (std::abs(newton_.factored - sigma) <= 1e-9 * sigma) return true;
  newton_.factored = 0;
  if (!system_.factorize(sigma, newton_.tangents, newton_.v_tangents)) return false;
  newton_.factored = sigma;
  newton_.rate_factor = 100;
  return true;
}

void Bdf::place_trial() {
  dynamics_.plus(now_.q, y_.u, trial_.q);
  trial_.v = y_.v;
  trial_.z = y_.z;
}

// Right sides of Newton's equations from y_, rate_, lambda and mu.
bool Bdf::residual() {
  place_trial();
  dynamics_.residual(trial_, rate_.v, lambda_new_, x_.v, zdot_trial_);
  x_.v = -x_.v;
  x_.z = zdot_trial_ - rate_.z;
  flow_ = trial_.v;
  if (n_.nc() > 0) {
    dynamics_.constraints(trial_, x_.p, x_.w);
    x_.p = -x_.p;
    x_.w = -x_.w;
    if (n_.nh > 0) {
      dynamics_.constraint_forces(trial_, mu_, force_);
      flow_ += system_.weights().cwiseProduct(force_);
    }
  }
  if (!increment_rate(y_.u, flow_, x_.u)) return false;
  x_.u -= rate_.u;
  return true;
}

bool Bdf::correct(double h) {
  sigma_ = 0;
  for (int j = 1; j <= k_; ++j) sigma_ += 1 / (j * h);
  if (first_) sigma_ = 2 / h;
  const int most = settings_.fixed_step ? 50 : kMaxNewton;
  // The rate of an earlier step says less and less of this one; what Newton leaves would show as noise in the
  // differences.
  newton_.rate_factor = std::pow(newton_.rate_factor, 0.8);
  for (;;) {
    predict();
    if (!prepare(sigma_)) return false;
    bool converged = false;
    double last = 0, stagnant = 0;
    newton_.slow = false;
    for (int newton = 1; newton <= most; ++newton) {
      leave_if_interrupted();
      ++report_.newton_iterations;
      if (!residual()) break;
      system_.solve(newton_.tangents, x_);
      y_.u += x_.u;
      y_.v += x_.v;
      y_.z += x_.z;
      rate_.u += sigma_ * x_.u;
      rate_.v += sigma_ * x_.v;
      rate_.z += sigma_ * x_.z;
      lambda_new_ += x_.w;
      mu_.head(n_.nh) += x_.p;
      const double size = error_norm(x_.u, x_.v, x_.z, now_, now_);
      if (!std::isfinite(size)) break;
      // Increments of a few rounding units of the scales shrink no further.
      const bool rounding = size * settings_.relative_tolerance <= 1e-13;
      if (newton > 1) {
        // The first increment brings the multipliers into place, and leaves the coordinates with little inertia to the
        // second: what that one is tells nothing of the rate yet.
        const bool settling = newton == 2 && size <= 2 * last;
        const double theta = settling ? std::min(size / last, 0.5) : size / last;
        if (theta > kStagnant && newton > 2 && newton_.tangents_current && !rounding &&
            size * settings_.relative_tolerance <= kMagnifiedRounding)
          stagnant = size;
        if (theta > 0.9 && !rounding) break;
        newton_.slow = theta > kSlow && !settling;
        newton_.rate_factor = std::max(theta, kBestRate) / (1 - std::min(theta, 0.9));
      }
      last = std::max(size, std::numeric_limits<double>::min());
      if ((rounding || newton_.rate_factor * size <= kNewtonTolerance) && (newton > 1 || n_.nc() == 0)) {
        converged = true;
        break;
      }
    }
    if (converged) return true;
    newton_.rate_factor = 100;
    // Old tangents first; only with new ones is the step too long.
    if (stagnant > 0) {
      control_.failed();
      tolerance_too_sharp(dynamics_, now_.t, worst_error_, settings_.relative_tolerance, stagnant);
    }
    if (newton_.tangents_current) return false;
    newton_.tangents_known = false;
  }
}

bool Bdf::attempt(double t1) {
  const double h = t1 - now_.t;
  base_ = now_;
  W_base_ = W_;
  h_ = h;
  from_starter_ = false;
  trial_.t = t1;
  if (history_.size() == 0) begin_history();
  const int usable = points_in_chart(history_);
  if (settings_.fixed_step) {
    if (history_.size() <= control_.highest()) return begin_fixed(t1);
    control_.set(control_.highest());
  }
  k_ = std::clamp(nodes(usable) - 1, 1, control_.order());
  first_ = history_.size() == 1;
  take_differences(h, std::min(nodes(usable), k_ + 2));
  if (!correct(h)) {
    control_.failed();
    if (first_) control_.failed_at_start();
    return false;
  }
  if (!y_.v.allFinite() || !y_.z.allFinite()) return false;
  finish();
  estimate();
  return std::isfinite(error_);
}

void Bdf::finish() {
  place_trial();
  if (n_.np > 0) {
    dynamics_.powers(trial_, rate_.v, lambda_new_, p_);
    y_.W = predicted_.W + (p_ - rate_.W) / sigma_;
    W_trial_ = y_.W;
  }
  project_trial(y_.u);
  y_.v = trial_.v;
  e_ = y_;
  e_.add(-1, predicted_);
}

void Bdf::estimate() {
  // h^(m+1) y^(m+1) = (m+1)! (y - P_m(1)) / N_(m+1)(1), P_m of degree m.
  term_.fill(-1);
  const auto term = [&](int m) { return factorial(m + 1) / N_[at(m) + 1] * size(work_); };
  if (k_ + 1 < points_) {
    work_ = e_;
    work_.add(-N_[at(k_) + 1], c_[at(k_) + 1]);
    term_[at(k_) + 1] = term(k_ + 1);
  }
  work_ = e_;
  for (int m = k_ - 1; m >= std::max(0, k_ - 2); --m) {
    work_.add(N_[at(m) + 1], c_[at(m) + 1]);
    term_[at(m)] = term(m);
  }
  work_ = e_;
  term_[at(k_)] = term(k_);
  if (settings_.fixed_step) return;
  // Error of the formula and of the interpolation between the unequal past points, whichever is larger.
  double alpha_s = 0, alpha_0 = 0;
  for (int i = 1; i <= k_; ++i) {
    alpha_s -= 1.0 / i;
    alpha_0 -= 1 / (1 - tau_[at(i) - 1]);
  }
  const double alpha = 1 / (1 - tau_[at(k_)]);
  error_ = std::max(alpha, std::abs(alpha + alpha_s - alpha_0)) * size(e_);
}

double Bdf::propose(double h, double, bool accepted) {
  std::array<double, kMaxOrder + 2> error;
  for (int m = 0; m < static_cast<int>(error.size()); ++m) error[at(m)] = term_[at(m)] / (m + 1);
  if (!accepted) {
    const double shorter = control_.rejected(h, k_, term_, error);
    if (first_) control_.failed_at_start();
    return shorter;
  }
  // With the new point there will be one more than now.
  return control_.taken(h, k_, term_, error, nodes(history_.size()) > k_);
}

void Bdf::accept() {
  newton_.tangents_current = false;
  if (newton_.slow) newton_.tangents_known = false;
  control_.accepted(h_);
  if (report_.at_event) {
    restart();
    return;
  }
  if (history_.size() == kMaxOrder + 1) start_kept_ = false;
  Point& point = history_.push();
  point.t = trial_.t;
  point.turn = largest_turn(y_.u);
  point.q = trial_.q;
  point.v = trial_.v;
  point.z = trial_.z;
  point.W = W_trial_;
  point.lambda = lambda_new_;
}

bool Bdf::begin_fixed(double t1) {
  starter_->start(now_);
  while (starter_->state().t < t1) starter_->step(t1);
  trial_ = starter_->state();
  trial_.t = t1;
  W_trial_ = W_ + starter_->work();
  lambda_new_ = starter_->lambda();
  dynamics_.minus(trial_.q, now_.q, y_.u);
  from_starter_ = true;
  return true;
}

void Bdf::dense(double theta, State& out) {
  if (from_starter_) {
    starter_->interpolate(base_.t + theta * h_, out);
    return;
  }
  // P and the term that brings in the new point.
  work_.set_zero();
  double N = 1;
  for (int i = 0; i <= k_; ++i) {
    work_.add(N, c_[at(i)]);
    if (i < k_ || first_) N *= theta - tau_[at(i)];
  }
  work_.add(N / N_[at(first_ ? k_ + 1 : k_)], e_);
  dynamics_.plus(base_.q, work_.u, out.q);
  out.v = work_.v;
  out.z = work_.z;
  out.t = base_.t + theta * h_;
}

void Bdf::dense_work(double theta, Vec& W) {
  if (from_starter_) {
    starter_->interpolate_work(base_.t + theta * h_, W);
    W += W_base_;
    return;
  }
  W.setZero();
  double N = 1;
  for (int i = 0; i <= k_; ++i) {
    W += N * c_[at(i)].W;
    if (i < k_ || first_) N *= theta - tau_[at(i)];
  }
  W += N / N_[at(first_ ? k_ + 1 : k_)] * e_.W;
}

}  // namespace clatter
