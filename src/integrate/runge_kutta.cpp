#include "integrate/runge_kutta.hpp"

#include <algorithm>
#include <cmath>

namespace clatter {

namespace {

constexpr double kEulerC[] = {0}, kEulerB[] = {1};

constexpr double kRk4A[] = {0.5, 0, 0.5, 0, 0, 1};
constexpr double kRk4C[] = {0, 0.5, 0.5, 1};
constexpr double kRk4B[] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};

// Dormand and Prince, J. Comput. Appl. Math. 6 (1980) 19-26.
constexpr double kDpA[] = {1.0 / 5,       3.0 / 40,       9.0 / 40,        44.0 / 45,      -56.0 / 15,
                           32.0 / 9,      19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729,
                           9017.0 / 3168, -355.0 / 33,    46732.0 / 5247,  49.0 / 176,     -5103.0 / 18656};
constexpr double kDpC[] = {0, 1.0 / 5, 3.0 / 10, 4.0 / 5, 8.0 / 9, 1};
constexpr double kDpB[] = {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84};
constexpr double kDpE[] = {71.0 / 57600, 0, -71.0 / 16695, 71.0 / 1920, -17253.0 / 339200, 22.0 / 525, -1.0 / 40};
constexpr double kDpD[] = {-12715105075.0 / 11282082432,  0,
                           87487479700.0 / 32700410799,   -10690763975.0 / 1880347072,
                           701980252875.0 / 199316789632, -1453857185.0 / 822651844,
                           69997945.0 / 29380423};

}  // namespace

const Tableau kEuler{1, 1, nullptr, kEulerC, kEulerB, nullptr, nullptr};
const Tableau kRungeKutta4{4, 4, kRk4A, kRk4C, kRk4B, nullptr, nullptr};
const Tableau kDormandPrince{6, 5, kDpA, kDpC, kDpB, kDpE, kDpD};

ExplicitScheme::ExplicitScheme(Dynamics& dynamics, const IntegratorSettings& settings, int slopes)
    : Integrator(dynamics, settings), k_(static_cast<std::size_t>(slopes) + 1), base_(now_), W_base_(W_) {
  for (Slope& k : k_) {
    k.u.setZero(n_.nv);
    k.v.setZero(n_.nv);
    k.z.setZero(n_.nz);
    k.p.setZero(n_.np);
  }
  last_ = k_.front();
  du_.setZero(n_.nv);
  dv_.setZero(n_.nv);
  dz_.setZero(n_.nz);
  dW_.setZero(n_.np);
  u_.setZero(n_.nv);
}

void ExplicitScheme::finish(double t1) {
  trial_.t = t1;
  dynamics_.plus(now_.q, du_, trial_.q);
  trial_.v = now_.v + dv_;
  trial_.z = now_.z + dz_;
  W_trial_ = W_ + dW_;
  project_trial(du_);
  dv_ = trial_.v - now_.v;
  h_ = t1 - now_.t;
  base_ = now_;
  W_base_ = W_;
  end_is_trial_ = true;
  end_known_ = dense_ready_ = false;
}

void ExplicitScheme::know_end_slope() {
  if (end_known_) return;
  Slope& k = k_.back();
  if (end_is_trial_) {
    know_trial_derivative();
  } else {
    know_derivative();
  }
  const State& end = end_is_trial_ ? trial_ : now_;
  k.v = end_is_trial_ ? a_trial_ : a_;
  k.z = end_is_trial_ ? zdot_trial_ : zdot_;
  increment_rate(du_, end.v, k.u);
  if (n_.np > 0) dynamics_.powers(end, k.v, end_is_trial_ ? lambda_trial_ : lambda_, k.p);
  end_known_ = true;
}

void ExplicitScheme::prepare_dense() {
  if (dense_ready_) return;
  know_end_slope();
  last_.u.setZero();
  last_.v.setZero();
  last_.z.setZero();
  last_.p.setZero();
  if (dense_weights_) {
    for (std::size_t i = 0; i < k_.size(); ++i) {
      const double w = h_ * dense_weights_[i];
      if (w == 0) continue;
      last_.u += w * k_[i].u;
      last_.v += w * k_[i].v;
      last_.z += w * k_[i].z;
      last_.p += w * k_[i].p;
    }
  }
  dense_ready_ = true;
}

void ExplicitScheme::dense(double theta, State& out) {
  prepare_dense();
  const Slope &first = k_.front(), &end = k_.back();
  // Weights of D, h k_1, h k_e and of the last term in the formula above.
  const double s = 1 - theta;
  const double wd = theta * (1 - s + 2 * theta * s), w1 = h_ * theta * s * (1 - theta), we = -h_ * theta * theta * s;
  const double wl = theta * theta * s * s;
  u_.noalias() = wd * du_ + w1 * first.u + we * end.u + wl * last_.u;
  dynamics_.plus(base_.q, u_, out.q);
  out.v.noalias() = base_.v + wd * dv_ + w1 * first.v + we * end.v + wl * last_.v;
  out.z.noalias() = base_.z + wd * dz_ + w1 * first.z + we * end.z + wl * last_.z;
  out.t = base_.t + theta * h_;
}

void ExplicitScheme::dense_work(double theta, Vec& W) {
  prepare_dense();
  const double s = 1 - theta;
  const double wd = theta * (1 - s + 2 * theta * s), w1 = h_ * theta * s * (1 - theta), we = -h_ * theta * theta * s;
  W.noalias() = W_base_ + wd * dW_ + w1 * k_.front().p + we * k_.back().p + theta * theta * s * s * last_.p;
}

void ExplicitScheme::dense_acceleration(double theta, Vec& a) {
  prepare_dense();
  const double s = 1 - theta;
  a.noalias() = (6 * theta * s / h_) * dv_ + s * (1 - 3 * theta) * k_.front().v +
                theta * (3 * theta - 2) * k_.back().v + (2 * theta * s * (1 - 2 * theta) / h_) * last_.v;
}

RungeKutta::RungeKutta(Dynamics& dynamics, const IntegratorSettings& settings, const Tableau& tableau,
                       bool on_constraints)
    : ExplicitScheme(dynamics, settings, tableau.stages),
      tableau_(tableau),
      on_constraints_(on_constraints),
      stage_(now_) {
  dense_weights_ = tableau.d;
  lambda_stage_.setZero(n_.nc());
  u_stage_.setZero(n_.nv);
}

bool RungeKutta::attempt(double t1) {
  const double t0 = now_.t, h = t1 - t0;
  know_derivative();
  k_[0].u = now_.v;
  k_[0].v = a_;
  k_[0].z = zdot_;
  if (n_.np > 0) dynamics_.powers(now_, a_, lambda_, k_[0].p);
  const double* a = tableau_.a;
  for (int i = 1; i < tableau_.stages; ++i) {
    u_stage_.setZero();
    stage_.v = now_.v;
    stage_.z = now_.z;
    for (int j = 0; j < i; ++j, ++a) {
      const double w = h * *a;
      if (w == 0) continue;
      const Slope& k = k_[static_cast<std::size_t>(j)];
      u_stage_ += w * k.u;
      stage_.v += w * k.v;
      stage_.z += w * k.z;
    }
    stage_.t = tableau_.c[i] == 1 ? t1 : t0 + tableau_.c[i] * h;
    Slope& k = k_[static_cast<std::size_t>(i)];
    if (!increment_rate(u_stage_, stage_.v, k.u)) return false;
    dynamics_.plus(now_.q, u_stage_, stage_.q);
    if (on_constraints_) {
      if (!bring_stage_onto_constraints()) return false;
      increment_rate(u_stage_, stage_.v, k.u);
    }
    dynamics_.accelerations(stage_, k.v, lambda_stage_, k.z);
    if (n_.np > 0) dynamics_.powers(stage_, k.v, lambda_stage_, k.p);
  }
  du_.setZero();
  dv_.setZero();
  dz_.setZero();
  dW_.setZero();
  for (int i = 0; i < tableau_.stages; ++i) {
    const double w = h * tableau_.b[i];
    if (w == 0) continue;
    const Slope& k = k_[static_cast<std::size_t>(i)];
    du_ += w * k.u;
    dv_ += w * k.v;
    dz_ += w * k.z;
    dW_ += w * k.p;
  }
  if (!du_.allFinite() || !dv_.allFinite()) {
    trial_.v = now_.v + dv_;
    return !controlled();
  }
  if (!increment_rate(du_, now_.v, k_.back().u)) return false;
  if (on_constraints_) {
    stage_.t = t1;
    stage_.v = now_.v + dv_;
    stage_.z = now_.z + dz_;
    dynamics_.plus(now_.q, du_, stage_.q);
    if (!bring_stage_onto_constraints()) return false;
    du_ = u_stage_;
    dv_ = stage_.v - now_.v;
  }
  finish(t1);
  if (tableau_.e) {
    know_end_slope();
    if (!on_constraints_) tell_stiffness(h);
    // The stage arrays are free now and take the error.
    u_stage_.setZero();
    stage_.v.setZero();
    stage_.z.setZero();
    for (int i = 0; i <= tableau_.stages; ++i) {
      const double w = h * tableau_.e[i];
      const Slope& k = k_[static_cast<std::size_t>(i)];
      u_stage_ += w * k.u;
      stage_.v += w * k.v;
      stage_.z += w * k.z;
    }
    if (on_constraints_) {
      projector_.tangent(trial_, u_stage_);
      projector_.tangent(trial_, stage_.v);
    }
    error_ = error_norm(u_stage_, stage_.v, stage_.z, now_, trial_);
    if (n_.np > 0) error_ = std::max(error_, ledger_error(h));
  }
  return true;
}

bool RungeKutta::bring_stage_onto_constraints() {
  const double size = projector_.positions(stage_, true).size;
  projector_.velocities(stage_, true);
  dynamics_.minus(stage_.q, now_.q, u_stage_);
  return stays_on_branch(stage_, size);
}

void RungeKutta::tell_stiffness(double h) {
  constexpr double kLimits = 1e-3;  // of the tolerances: smaller differences do not shorten a step
  const Slope &last = k_[static_cast<std::size_t>(tableau_.stages - 1)], &end = k_.back();
  const Vec &us = projector_.u_scale(), &vs = projector_.v_scale(), &zs = projector_.z_scale();
  const double absolute = settings_.absolute_tolerance, relative = settings_.relative_tolerance;
  double uu = 0, vv = 0, aa = 0, uv = 0, ua = 0, va = 0, moved = 0, fastest = 0;
  for (int i = 0; i < n_.nv; ++i) {
    const double u = (du_[i] - u_stage_[i]) / us[i], v = (dv_[i] - (stage_.v[i] - now_.v[i])) / us[i],
                 a = (end.v[i] - last.v[i]) / us[i];
    uu += u * u;
    vv += v * v;
    aa += a * a;
    uv += u * v;
    ua += u * a;
    va += v * a;
    moved = std::max({moved, std::abs(u) / (absolute + relative), std::abs(v) * us[i] / (absolute * vs[i])});
    if (std::abs(a) > fastest) {
      fastest = std::abs(a);
      report_.stiffest = i;
    }
  }
  double rate = 0;
  if (moved > kLimits && uu > 0) {
    // Unknowns k/m and d with m^2 = |da|/|du|: of one size. A share of the diagonal decides where du and dv are
    // parallel.
    const double m = std::pow(aa / uu, 0.25), share = 1e-3 * (m * m * uu + vv);
    const double xx = m * m * uu + share, yy = vv + share, xy = m * uv, det = xx * yy - xy * xy;
    const double k = -m * (m * ua * yy - va * xy) / det, d = -(va * xx - m * ua * xy) / det;
    const double root = 0.25 * d * d - k;
    rate = root < 0 ? std::sqrt(k) : 0.5 * std::abs(d) + std::sqrt(root);
  }
  double zz = 0, ff = 0;
  for (int i = 0; i < n_.nz; ++i) {
    const double z = (dz_[i] - (stage_.z[i] - now_.z[i])) / zs[i], f = (end.z[i] - last.z[i]) / zs[i];
    if (std::abs(z) <= kLimits * absolute) continue;
    zz += z * z;
    ff += f * f;
  }
  if (zz > 0) rate = std::max(rate, std::sqrt(ff / zz));
  report_.stiffness = h * rate;
}

// A driven mechanism moves as it is told, whatever the step: only the work done to move it shows the error then.
double RungeKutta::ledger_error(double h) {
  double error = 0, turnover = std::abs(stored_at_start_);
  for (Eigen::Index c = 0; c < n_.np; ++c) {
    double e = 0;
    for (int i = 0; i <= tableau_.stages; ++i) e += tableau_.e[i] * k_[static_cast<std::size_t>(i)].p[c];
    error = std::max(error, std::abs(h * e));
    turnover += std::abs(W_trial_[c]) + std::abs(dW_[c]);
  }
  return turnover > 0 ? error / (settings_.relative_tolerance * turnover) : 0;
}

SymplecticEuler::SymplecticEuler(Dynamics& dynamics, const IntegratorSettings& settings)
    : ExplicitScheme(dynamics, settings, 1), mean_(now_) {}

bool SymplecticEuler::attempt(double t1) {
  const double h = t1 - now_.t;
  know_derivative();
  Slope& k = k_.front();
  dv_ = h * a_;
  dz_ = h * zdot_;
  du_ = h * (now_.v + dv_);
  if (n_.np > 0) {
    // Forces of the begin work at the mean velocity: their sum is the change of the kinetic energy.
    mean_ = now_;
    mean_.v += 0.5 * dv_;
    dynamics_.powers(mean_, a_, lambda_, k.p);
    dW_ = h * k.p;
  }
  if (!increment_rate(du_, now_.v, k.u)) return false;
  k.u = now_.v;
  k.v = a_;
  k.z = zdot_;
  finish(t1);
  return true;
}

Verlet::Verlet(Dynamics& dynamics, const IntegratorSettings& settings)
    : ExplicitScheme(dynamics, settings, 1), stage_(now_) {
  lambda_stage_.setZero(n_.nc());
  zdot_last_.setZero(n_.nz);
  zdot_stage_.setZero(n_.nz);
}

void Verlet::started() {
  if (n_.nz == 0) return;
  know_derivative();
  zdot_last_ = zdot_;
}

bool Verlet::attempt(double t1) {
  const double h = t1 - now_.t;
  Slope& k = k_.front();
  du_ = 0.5 * h * now_.v;
  if (!increment_rate(du_, now_.v, k.u)) return false;
  dynamics_.plus(now_.q, du_, stage_.q);
  stage_.t = now_.t + 0.5 * h;
  stage_.v = now_.v;
  stage_.z = now_.z + 0.5 * h * zdot_last_;
  dynamics_.accelerations(stage_, k.v, lambda_stage_, zdot_stage_);
  du_ = h * now_.v + 0.5 * h * h * k.v;
  dv_ = h * k.v;
  dz_ = h * zdot_stage_;
  if (n_.np > 0) {
    stage_.v += 0.5 * h * k.v;
    dynamics_.powers(stage_, k.v, lambda_stage_, k.p);
    dW_ = h * k.p;
  }
  if (!increment_rate(du_, now_.v, k.u)) return false;
  k.u = now_.v;
  k.z = zdot_stage_;
  finish(t1);
  return true;
}

void Verlet::accept() {
  ExplicitScheme::accept();
  zdot_last_ = zdot_stage_;
}

}  // namespace clatter
