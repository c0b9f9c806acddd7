#include "integrate/generalized_alpha.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/interrupt.hpp"
#include "base/rotation.hpp"
#include "integrate/diagnosis.hpp"

namespace clatter {

namespace {

constexpr int kMaxIterations = 12;
constexpr double kRegularisation = 1e-8;
// From here on multipliers amplify disturbances by more than a thousand (generalized_alpha.hpp, docs/energy-drift.md).
constexpr double kLargestRho = 0.99;
// Above this ratio of successive increments an old matrix is replaced.
constexpr double kSlow = 0.1;

}  // namespace

GeneralizedAlpha::GeneralizedAlpha(Dynamics& dynamics, const IntegratorSettings& settings)
    : Integrator(dynamics, settings),
      rotation_index_(n_.nv, rotations_),
      tangents_(dynamics.tangent_layout()),
      iteration_(tangents_, n_, rotation_index_) {
  const double wanted = settings.rho_inf;
  if (!(wanted >= 0 && wanted <= 1)) throw InputError(fmt::format("rho_inf = {} is not between 0 and 1", wanted));
  const AlphaWeights weights = settings.alpha_weights.value_or(AlphaWeights::chung_hulbert(wanted));
  const double r = settings.alpha_weights ? weights.radius_at_infinity() : wanted;
  if (n_.nc() > 0 && r >= kLargestRho) {
    throw InputError(
        fmt::format("{} with {}rho_infinity = {:.4g} does not suit a model with constraints: their forces "
                    "oscillate undamped and feed energy into the motion",
                    !settings.alpha_weights ? "generalized-alpha"
                    : weights.af > 0        ? "hht"
                                            : "newmark",
                    settings.alpha_weights ? "these weights and therefore " : "", r),
        settings.alpha_weights
            ? "damp more (newmark: a gamma of 0.6; hht: an alpha of -0.1), use generalized-alpha, or joint "
              "coordinates without closed loops"
            : "take a rho_infinity of 0.9 or less, or joint coordinates without closed loops");
  }
  am_ = weights.am;
  af_ = weights.af;
  g_ = weights.gamma;
  b_ = weights.beta;
  const int size = n_.nv + n_.nz + n_.nc();
  for (int i = 0; i < n_.nc(); ++i) {
    holonomic_.push_back(i < n_.nh ? 1 : 0);
    others_.push_back(i < n_.nh ? 0 : 1);
  }
  T_.blocks.resize(rotations_.size());
  for (Vec* x : {&A_, &A_start_, &A_trial_, &v_own_, &v_trial_own_, &v_start_, &u_, &r_, &rate_end_, &a_base_, &a_end_,
                 &v_end_, &u_dense_, &a_past_}) {
    x->setZero(n_.nv);
  }
  for (Vec* x : {&B_, &B_start_, &B_trial_, &f_, &z_end_, &zdot_base_, &zdot_end_, &zdot_past_}) x->setZero(n_.nz);
  lambda_past_.setZero(n_.nc());
  for (Vec* x : {&p_base_, &p_end_, &W_base_, &W_end_}) x->setZero(n_.np);
  phi_.setZero(n_.nh);
  velocity_residual_.setZero(n_.nc());
  row_scale_.setOnes(n_.nc());
  rhs_.setZero(size);
  base_ = now_;
}

PatternPtr GeneralizedAlpha::Iteration::make_pattern(const Tangents& tangents, const Sizes& n,
                                                     const RotationIndex& rotations) {
  PatternBuilder builder(n.nv + n.nz + n.nc(), n.nv + n.nz + n.nc());
  builder.add_diagonal();
  BlockMap::declare(builder, tangents.M.pattern(), 0, 0, &rotations);
  BlockMap::declare(builder, tangents.M.pattern(), 0, 0, nullptr);
  BlockMap::declare(builder, tangents.Rz.pattern(), 0, n.nv, nullptr);
  BlockMap::declare(builder, tangents.G.pattern(), 0, n.nv + n.nz, nullptr, true);
  BlockMap::declare(builder, tangents.Fq.pattern(), n.nv, 0, &rotations);
  BlockMap::declare(builder, tangents.Fv.pattern(), n.nv, 0, nullptr);
  BlockMap::declare(builder, tangents.Fz.pattern(), n.nv, n.nv, nullptr);
  BlockMap::declare(builder, tangents.G.pattern(), n.nv + n.nz, 0, &rotations);
  return builder.build();
}

GeneralizedAlpha::Iteration::Iteration(const Tangents& tangents, const Sizes& n, const RotationIndex& rotations)
    : of(tangents.M.pattern_ptr()),
      pattern(make_pattern(tangents, n, rotations)),
      matrix(pattern),
      solver(pattern),
      M(*pattern, tangents.M.pattern(), 0, 0, &rotations),
      Rz(*pattern, tangents.Rz.pattern(), 0, n.nv, nullptr),
      Gt(*pattern, tangents.G.pattern(), 0, n.nv + n.nz, nullptr, true),
      Fq(*pattern, tangents.Fq.pattern(), n.nv, 0, &rotations),
      Fv(*pattern, tangents.Fv.pattern(), n.nv, 0, nullptr),
      Fz(*pattern, tangents.Fz.pattern(), n.nv, n.nv, nullptr),
      G(*pattern, tangents.G.pattern(), n.nv + n.nz, 0, &rotations) {
  for (int i = 0; i < pattern->cols(); ++i) diagonal.push_back(pattern->slot(i, i));
}

void GeneralizedAlpha::started() {
  know_derivative();
  v_own_ = now_.v;
  A_ = a_;
  B_ = zdot_;
  last_h_ = settings_.step;
  have_past_ = false;
  factored_h_ = 0;
  iteration_.solver.forget();
  // Slope of the accelerations from a trial step, for the place in time where A_0 belongs.
  State ahead = now_;
  const double h = settings_.step;
  Vec a(n_.nv), half(n_.nv), lambda(n_.nc()), zdot(n_.nz);
  const auto look_ahead = [&](double dt, Vec& acceleration) {
    const Vec u = dt * now_.v + 0.5 * dt * dt * a_;
    ahead.t = now_.t + dt;
    dynamics_.plus(now_.q, u, ahead.q);
    ahead.v = now_.v + dt * a_;
    ahead.z = now_.z + dt * zdot_;
    projector_.positions(ahead);
    projector_.velocities(ahead);
    dynamics_.accelerations(ahead, acceleration, lambda, zdot);
  };
  try {
    look_ahead(0.5 * h, half);
    look_ahead(h, a);
  } catch (const SolveError&) {
    return;
  }
  // Vibrations that such a step does not resolve have no slope in it: their change grows with h^2 and more.
  if (!((a - 2 * half + a_).norm() <= 0.5 * (a - a_).norm())) return;
  A_ += (am_ - af_) * (a - a_);
  B_ += (am_ - af_) * (zdot - zdot_);
  if (n_.nh == 0 || !settings_.project) return;
  // The scheme's velocities carry c h^2 d2v/dt2, c = 1/6 - b - (am-af)/2, across the constraints (Arnold, Bruels,
  // Cardona, Numer. Math. 129, 2015). G w is the difference of two velocity residuals.
  const double c = 1.0 / 6 - b_ - 0.5 * (am_ - af_);
  dynamics_.constraints(now_, phi_, velocity_residual_);
  Vec b = -velocity_residual_;
  ahead = now_;
  ahead.v += c * h * (a - a_);
  dynamics_.constraints(ahead, phi_, velocity_residual_);
  b += velocity_residual_;
  b.tail(n_.nn).setZero();
  Vec offset(n_.nv);
  dynamics_.least_correction(now_, b, true, offset);
  v_own_ += offset;
}

void GeneralizedAlpha::refresh() {
  factored_h_ = 0;
  // Patterns that have grown with contacts that wander start anew.
  tangents_ = dynamics_.tangent_layout();
  iteration_.solver.forget();
}

void GeneralizedAlpha::exchange(Archive& archive) {
  archive.vector(a_);
  archive.vector(lambda_);
  archive.vector(zdot_);
  archive.vector(A_);
  archive.vector(B_);
  archive.vector(v_own_);
  archive.value(last_h_);
  archive.count(have_past_);
  archive.vector(a_past_);
  archive.vector(zdot_past_);
  archive.vector(lambda_past_);
}

void GeneralizedAlpha::turn_matrices(const Vec& u) {
  for (std::size_t k = 0; k < rotations_.size(); ++k) {
    const Vec3 psi = u.segment<3>(rotations_[k]);
    const Mat3 T = right_jacobian(psi);
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) T_.blocks[k][static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] = T(i, j);
    }
  }
}

void GeneralizedAlpha::factorize(double h) {
  const double k = settings_.constraint_scaling;
  const double gp = g_ / (h * b_), bp = (1 - am_) / (h * h * b_ * (1 - af_)), hg = h * g_ * (1 - af_) / (1 - am_);
  dynamics_.tangents(trial_, a_trial_, lambda_trial_, tangents_);
  if (tangents_.M.pattern_ptr() != iteration_.of) iteration_ = Iteration(tangents_, n_, rotation_index_);
  turn_matrices(u_);
  const std::vector<int>& diagonal = iteration_.diagonal;
  iteration_.matrix.set_zero();
  const std::span<double> x = iteration_.matrix.values();
  iteration_.M.add(x, tangents_.M, 1.0);
  iteration_.M.add(x, tangents_.C, gp / bp);
  iteration_.M.add_turned(x, tangents_.K, T_, 1 / bp);
  iteration_.Rz.add(x, tangents_.Rz, 1 / bp);
  iteration_.Gt.add(x, tangents_.directions(), -k);
  iteration_.Fq.add_turned(x, tangents_.Fq, T_, -hg);
  iteration_.Fv.add(x, tangents_.Fv, -hg * gp);
  iteration_.Fz.add(x, tangents_.Fz, -hg);
  for (int i = n_.nv; i < n_.nv + n_.nz; ++i) x[static_cast<std::size_t>(diagonal[static_cast<std::size_t>(i)])] += 1;
  iteration_.G.add_turned(x, tangents_.G, T_, k, holonomic_.data());
  iteration_.G.add(x, tangents_.G, k, others_.data());
  iteration_.G.add_turned(x, tangents_.Vq, T_, k / gp, others_.data());
  row_scale_.setZero();
  const Pattern& G = tangents_.G.pattern();
  for (int j = 0; j < n_.nv; ++j) {
    const double mass = std::abs(x[static_cast<std::size_t>(diagonal[static_cast<std::size_t>(j)])]);
    if (!(mass > 0)) continue;
    for (int s = G.col_start()[static_cast<std::size_t>(j)]; s < G.col_start()[static_cast<std::size_t>(j) + 1]; ++s) {
      const double entry = k * tangents_.G.values()[static_cast<std::size_t>(s)];
      row_scale_[G.row_index()[static_cast<std::size_t>(s)]] += entry * entry / mass;
    }
  }
  for (int i = 0; i < n_.nc(); ++i) {
    const std::size_t slot = static_cast<std::size_t>(diagonal[static_cast<std::size_t>(n_.nv + n_.nz + i)]);
    x[slot] += row_scale_[i] > 0 ? kRegularisation * row_scale_[i] : 1;
  }
  iteration_.solver.factorize(iteration_.matrix);
  factored_h_ = iteration_.solver.singular() ? 0 : h;
}

void GeneralizedAlpha::evaluate(double h) {
  const double k = settings_.constraint_scaling;
  const double gp = g_ / (h * b_), bp = (1 - am_) / (h * h * b_ * (1 - af_)), hg = h * g_ * (1 - af_) / (1 - am_);
  dynamics_.residual(trial_, a_trial_, lambda_trial_, r_, f_);
  rhs_.head(n_.nv) = r_ * (-1 / bp);
  rhs_.segment(n_.nv, n_.nz) = hg * (f_ - zdot_trial_);
  if (n_.nc() == 0) return;
  dynamics_.constraints(trial_, phi_, velocity_residual_);
  rhs_.segment(n_.nv + n_.nz, n_.nh) = -k * phi_;
  rhs_.tail(n_.nn) = (-k / gp) * velocity_residual_.tail(n_.nn);
  // No multiplier answers what an empty row says.
  for (int i = 0; i < n_.nc(); ++i)
    if (!(row_scale_[i] > 0)) rhs_[n_.nv + n_.nz + i] = 0;
}

double GeneralizedAlpha::increment_size(double h) const {
  const Vec &us = projector_.u_scale(), &vs = projector_.v_scale(), &zs = projector_.z_scale();
  double size = 0;
  for (int i = 0; i < n_.nv; ++i) {
    // An increment du changes the acceleration by about du / h^2; below 1e-15 of the scale there is only rounding.
    const double rate = h * vs[i] / us[i];
    size = std::max(size, std::abs(rhs_[i]) / (us[i] * std::max(settings_.newton_tolerance * rate * rate, 1e-15)));
  }
  for (int i = 0; i < n_.nz; ++i) {
    const double scale = std::max(zs[i], std::abs(trial_.z[i]));
    size = std::max(size, std::abs(rhs_[n_.nv + i]) / (scale * std::max(settings_.newton_tolerance, 1e-15)));
  }
  return size;
}

bool GeneralizedAlpha::attempt(double t1) {
  const double h = t1 - now_.t;
  const double gp = g_ / (h * b_), bp = (1 - am_) / (h * h * b_ * (1 - af_)), hg = h * g_ * (1 - af_) / (1 - am_);
  know_derivative();
  const double moved = last_h_ > 0 ? h / last_h_ : 1;
  A_start_ = a_ + moved * (A_ - a_);
  B_start_ = zdot_ + moved * (B_ - zdot_);
  v_start_ = now_.v + moved * moved * (v_own_ - now_.v);

  a_trial_ = a_;
  zdot_trial_ = zdot_;
  lambda_trial_ = lambda_;
  if (have_past_) {
    a_trial_ += moved * (a_ - a_past_);
    zdot_trial_ += moved * (zdot_ - zdot_past_);
    lambda_trial_ += moved * (lambda_ - lambda_past_);
  }
  A_trial_ = ((1 - af_) * a_trial_ + af_ * a_ - am_ * A_start_) / (1 - am_);
  B_trial_ = ((1 - af_) * zdot_trial_ + af_ * zdot_ - am_ * B_start_) / (1 - am_);
  u_ = h * v_start_ + h * h * ((0.5 - b_) * A_start_ + b_ * A_trial_);
  trial_.v = v_start_ + h * ((1 - g_) * A_start_ + g_ * A_trial_);
  trial_.z = now_.z + h * ((1 - g_) * B_start_ + g_ * B_trial_);
  trial_.t = t1;

  bool converged = false, current = false;
  double last_size = 0;
  for (int iteration = 0; iteration < kMaxIterations && !converged; ++iteration) {
    leave_if_interrupted();
    if (!increment_rate(u_, trial_.v, rate_end_)) return false;
    dynamics_.plus(now_.q, u_, trial_.q);
    if (std::abs(factored_h_ - h) > 1e-9 * h) {
      factorize(h);
      if (factored_h_ == 0) return false;
      current = true;
    }
    evaluate(h);
    iteration_.solver.solve(rhs_.data());
    ++report_.newton_iterations;
    const double size = increment_size(h);
    if (!std::isfinite(size)) return false;
    u_ += rhs_.head(n_.nv);
    trial_.v += gp * rhs_.head(n_.nv);
    a_trial_ += bp * rhs_.head(n_.nv);
    trial_.z += rhs_.segment(n_.nv, n_.nz);
    zdot_trial_ += rhs_.segment(n_.nv, n_.nz) / hg;
    lambda_trial_ += (settings_.constraint_scaling * bp) * rhs_.tail(n_.nc());
    const double rate = iteration > 0 && last_size > 0 ? size / last_size : 1;
    // What is left after this increment, for a linear rate of convergence.
    converged = size == 0 || (iteration > 0 && rate < 1 && size * rate / (1 - rate) <= 1 && size <= 1e3) ||
                (iteration > 0 && size <= 1);
    if (!converged && iteration > 0 && rate > kSlow && size > 1) {
      if (!current) {
        factored_h_ = 0;
      } else if (rate > 2 && iteration > 3) {
        return false;
      }
    }
    last_size = size;
    for (int i = 0; i < n_.nv; ++i) worst_error_[i] = std::abs(rhs_[i]) / projector_.u_scale()[i];
  }
  // Iterations that only shuffle rounding errors of a poorly conditioned system have arrived, too.
  if (!converged && !(current && worst_error_.maxCoeff() < 1e-11)) {
    factored_h_ = 0;
    return false;
  }
  dynamics_.plus(now_.q, u_, trial_.q);
  A_trial_ = ((1 - af_) * a_trial_ + af_ * a_ - am_ * A_start_) / (1 - am_);
  B_trial_ = ((1 - af_) * zdot_trial_ + af_ * zdot_ - am_ * B_start_) / (1 - am_);
  v_trial_own_ = trial_.v;
  if (n_.nc() > 0 && settings_.project) {
    const ProjectionReport report = projector_.velocities(trial_);
    report_.projections += report.iterations;
    report_.drift = std::max(report_.drift, report.size);
  }
  trial_known_ = true;

  base_ = now_;
  W_base_ = W_;
  h_dense_ = h;
  a_base_ = a_;
  a_end_ = a_trial_;
  v_end_ = trial_.v;
  z_end_ = trial_.z;
  zdot_base_ = zdot_;
  zdot_end_ = zdot_trial_;
  increment_rate(u_, trial_.v, rate_end_);
  if (n_.np > 0) {
    dynamics_.powers(now_, a_, lambda_, p_base_);
    dynamics_.powers(trial_, a_trial_, lambda_trial_, p_end_);
    W_trial_ = W_ + 0.5 * h * (p_base_ + p_end_);
    W_end_ = W_trial_;
  }
  return true;
}

void GeneralizedAlpha::accept() {
  A_.swap(A_trial_);
  B_.swap(B_trial_);
  v_own_.swap(v_trial_own_);
  a_past_ = a_;
  zdot_past_ = zdot_;
  lambda_past_ = lambda_;
  have_past_ = !report_.at_event;
  last_h_ = trial_.t - now_.t;
}

void GeneralizedAlpha::dense(double theta, State& out) {
  const double s = 1 - theta, h = h_dense_;
  const double d = theta * theta * (3 - 2 * theta), w0 = h * theta * s * s, w1 = -h * theta * theta * s;
  u_dense_ = d * u_ + w0 * base_.v + w1 * rate_end_;
  dynamics_.plus(base_.q, u_dense_, out.q);
  out.v = base_.v + d * (v_end_ - base_.v) + w0 * a_base_ + w1 * a_end_;
  out.z = base_.z + d * (z_end_ - base_.z) + w0 * zdot_base_ + w1 * zdot_end_;
  out.t = base_.t + theta * h;
}

void GeneralizedAlpha::dense_work(double theta, Vec& W) {
  // The integral of the linear interpolant of the powers: what the trapezoidal rule integrates.
  W = W_base_ + h_dense_ * theta * ((1 - 0.5 * theta) * p_base_ + 0.5 * theta * p_end_);
}

}  // namespace clatter
