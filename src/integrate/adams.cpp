#include "integrate/adams.hpp"

#include <algorithm>
#include <cmath>

namespace clatter {

namespace {

// Gauss-Legendre on [-1, 1]: exact for N_i up to degree 13.
constexpr int kNodes = 7;
constexpr double kNode[kNodes] = {-0.949107912342758524526, -0.741531185599394439864, -0.405845151377397166907, 0,
                                  0.405845151377397166907,  0.741531185599394439864,  0.949107912342758524526};
constexpr double kWeight[kNodes] = {0.129484966168869693271, 0.279705391489276667901, 0.381830050505118944950,
                                    0.417959183673469387755, 0.381830050505118944950, 0.279705391489276667901,
                                    0.129484966168869693271};

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// |gamma*_m| m!: the local error of the corrector of order m with equal steps is h gamma*_m times the m-th backward
// difference of the slopes; gamma*_0 = 1, sum_{i<=m} gamma*_i / (m + 1 - i) = 0.
struct Constants {
  std::array<double, Adams::kMaxOrder + 2> error{};
  Constants() {
    std::array<double, Adams::kMaxOrder + 2> gamma{1};
    double factorial = 1;
    error[0] = 1;
    for (int m = 1; m < static_cast<int>(gamma.size()); ++m) {
      for (int i = 0; i < m; ++i) gamma[at(m)] -= gamma[at(i)] / (m + 1 - i);
      factorial *= m;
      error[at(m)] = std::abs(gamma[at(m)]) * factorial;
    }
  }
};
const Constants kConstants;

}  // namespace

void Adams::Point::exchange(Archive& archive) {
  archive.value(t);
  archive.value(turn);
  for (Vec* x : {&q, &v, &a, &zdot, &p}) archive.vector(*x);
}

Adams::Adams(Dynamics& dynamics, const IntegratorSettings& settings)
    : Multistep(dynamics, settings, kMaxOrder), base_(now_) {
  const Column column = make_column();
  u_.setZero(n_.nv);
  c_.fill(column);
  y_ = slope_ = delta_ = work_ = last_ = miss_ = column;
  W_base_ = W_;
  Point point;
  point.q = now_.q;
  point.v = now_.v;
  point.a = a_;
  point.zdot = zdot_;
  point.p = W_;
  history_.setup(kMaxOrder + 1, point);
  if (settings.fixed_step) {
    IntegratorSettings start = settings;
    start.scheme = Scheme::dopri5;
    start.fixed_step = start.find_events = false;
    start.relative_tolerance = start.absolute_tolerance = 1e-13;
    starter_ = make_integrator(start, dynamics);
  }
}

void Adams::restart() {
  history_.clear();
  control_.restart();
}

void Adams::exchange(Archive& archive) {
  history_.exchange(archive);
  control_.exchange(archive);
}

void Adams::take_differences(double h, int points) {
  points_ = points;
  for (int j = 0; j < points; ++j) {
    const Point& past = history_[j];
    Column& c = c_[at(j)];
    tau_[at(j)] = (past.t - now_.t) / h;
    if (j == 0 || rotations_.empty()) {
      c.u = past.v;
    } else {
      dynamics_.minus(past.q, now_.q, u_);
      increment_rate(u_, past.v, c.u);
    }
    c.v = past.a;
    c.z = past.zdot;
    c.W = past.p;
  }
  for (int level = 1; level < points; ++level) {
    for (int j = points - 1; j >= level; --j) {
      c_[at(j)].add(-1, c_[at(j - 1)]);
      c_[at(j)].scale(1 / (tau_[at(j)] - tau_[at(j - level)]));
    }
  }
  N_[0] = 1;
  for (int i = 0; i < points; ++i) N_[at(i) + 1] = N_[at(i)] * (1 - tau_[at(i)]);
  integrals(1, G_);
}

void Adams::integrals(double theta, Weights& G) const {
  G.fill(0);
  for (int node = 0; node < kNodes; ++node) {
    const double tau = 0.5 * theta * (1 + kNode[node]);
    double N = 0.5 * theta * kWeight[node];
    for (int i = 0; i <= k_; ++i) {
      G[at(i)] += N;
      N *= tau - tau_[at(i)];
    }
  }
}

// Slopes at trial_, which lies at now_ (+) y_.
bool Adams::evaluate_trial(Column& slope) {
  if (!increment_rate(y_.u, trial_.v, slope.u)) return false;
  trial_known_ = false;
  know_trial_derivative();
  slope.v = a_trial_;
  slope.z = zdot_trial_;
  if (n_.np > 0) dynamics_.powers(trial_, a_trial_, lambda_trial_, slope.W);
  return true;
}

bool Adams::attempt(double t1) {
  const double h = t1 - now_.t;
  know_derivative();
  if (history_.size() == 0) {
    Point& point = history_.push();
    point.t = now_.t;
    point.turn = 0;
    point.q = now_.q;
    point.v = now_.v;
    point.a = a_;
    point.zdot = zdot_;
    if (n_.np > 0) dynamics_.powers(now_, a_, lambda_, point.p);
  }
  base_ = now_;
  W_base_ = W_;
  h_ = h;
  const bool begin = settings_.fixed_step && history_.size() < control_.highest();
  if (settings_.fixed_step) control_.set(control_.highest());
  const int usable = points_in_chart(history_);
  k_ = std::min(usable, control_.order());
  take_differences(h, std::min(usable, k_ + 1));
  if (begin) {
    begin_fixed(t1);
  } else {
    y_.set_zero();
    for (int i = 0; i < k_; ++i) y_.add(h * G_[at(i)], c_[at(i)]);
    trial_.t = t1;
    dynamics_.plus(now_.q, y_.u, trial_.q);
    trial_.v = now_.v + y_.v;
    trial_.z = now_.z + y_.z;
    if (!trial_.v.allFinite() || !trial_.z.allFinite() || !evaluate_trial(delta_)) {
      control_.failed();
      return false;
    }
    for (int i = 0; i < k_; ++i) delta_.add(-N_[at(i)], c_[at(i)]);
    y_.add(h * G_[at(k_)] / N_[at(k_)], delta_);
    dynamics_.plus(now_.q, y_.u, trial_.q);
    trial_.v = now_.v + y_.v;
    trial_.z = now_.z + y_.z;
    W_trial_ = W_ + y_.W;
    if (!trial_.v.allFinite() || !trial_.z.allFinite()) return false;
    project_trial(y_.u);
    y_.v = trial_.v - now_.v;
  }
  if (!evaluate_trial(slope_)) return false;
  if (!begin) estimate(h);
  prepare_dense(h);
  return std::isfinite(error_);
}

void Adams::estimate(double h) {
  // The m-th backward difference is m! (f_p - p_m(1)) / N_m(1), p_m through m points.
  error_term_.fill(-1);
  const auto term = [&](int m) { return h * kConstants.error[at(m)] / N_[at(m)] * size(work_); };
  if (k_ < points_) {
    work_ = delta_;
    work_.add(-N_[at(k_)], c_[at(k_)]);
    error_term_[at(k_) + 1] = term(k_ + 1);
  }
  work_ = delta_;
  for (int m = k_ - 1; m >= std::max(1, k_ - 2); --m) {
    work_.add(N_[at(m)], c_[at(m)]);
    error_term_[at(m)] = term(m);
  }
  work_ = delta_;
  error_term_[at(k_)] = term(k_);
  if (settings_.fixed_step) return;
  error_ = h * std::abs(G_[at(k_)] / N_[at(k_)] - G_[at(k_) - 1] / N_[at(k_) - 1]) * size(delta_);
}

double Adams::propose(double h, double, bool accepted) {
  if (!accepted) return control_.rejected(h, k_, error_term_, error_term_);
  return control_.taken(h, k_, error_term_, error_term_, true);
}

void Adams::accept() {
  control_.accepted(h_);
  if (report_.at_event) {
    restart();
    return;
  }
  Point& point = history_.push();
  point.t = trial_.t;
  point.turn = largest_turn(y_.u);
  point.q = trial_.q;
  point.v = trial_.v;
  point.a = a_trial_;
  point.zdot = zdot_trial_;
  point.p = slope_.W;
}

void Adams::begin_fixed(double t1) {
  starter_->start(now_);
  while (starter_->state().t < t1) starter_->step(t1);
  trial_ = starter_->state();
  trial_.t = t1;
  dynamics_.minus(trial_.q, now_.q, y_.u);
  y_.v = trial_.v - now_.v;
  y_.z = trial_.z - now_.z;
  y_.W = starter_->work();
  W_trial_ = W_ + y_.W;
}

void Adams::prepare_dense(double h) {
  last_ = slope_;
  for (int i = 0; i < k_; ++i) last_.add(-N_[at(i)], c_[at(i)]);
  last_.scale(1 / N_[at(k_)]);
  miss_ = y_;
  for (int i = 0; i < k_; ++i) miss_.add(-h * G_[at(i)], c_[at(i)]);
  miss_.add(-h * G_[at(k_)], last_);
}

void Adams::dense(double theta, State& out) {
  Weights G;
  integrals(theta, G);
  work_ = miss_;
  work_.scale(theta * theta * (3 - 2 * theta));
  for (int i = 0; i < k_; ++i) work_.add(h_ * G[at(i)], c_[at(i)]);
  work_.add(h_ * G[at(k_)], last_);
  dynamics_.plus(base_.q, work_.u, out.q);
  out.v = base_.v + work_.v;
  out.z = base_.z + work_.z;
  out.t = base_.t + theta * h_;
}

void Adams::dense_work(double theta, Vec& W) {
  Weights G;
  integrals(theta, G);
  W = W_base_ + theta * theta * (3 - 2 * theta) * miss_.W;
  for (int i = 0; i < k_; ++i) W += h_ * G[at(i)] * c_[at(i)].W;
  W += h_ * G[at(k_)] * last_.W;
}

}  // namespace clatter
