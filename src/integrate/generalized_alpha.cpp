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
  for (Vec* x : {&A_, &averages_.A_start, &averages_.A, &v_own_, &averages_.v_own, &averages_.v_start, &newton_.u,
                 &newton_.r, &dense_.rate_end, &dense_.a_base, &dense_.a_end, &dense_.v_end, &dense_.u, &past_.a}) {
    x->setZero(n_.nv);
  }
  for (Vec* x : {&B_, &averages_.B_start, &averages_.B, &newton_.f, &dense_.z_end, &dense_.zdot_base, &dense_.zdot_end,
                 &past_.zdot})
    x->setZero(n_.nz);
  past_.lambda.setZero(n_.nc());
  for (Vec* x : {&dense_.p_base, &dense_.p_end, &dense_.W_base, &dense_.W_end}) x->setZero(n_.np);
  newton_.phi.setZero(n_.nh);
  newton_.velocity_residual.setZero(n_.nc());
  newton_.row_scale.setOnes(n_.nc());
  newton_.rhs.setZero(size);
  dense_.base = now_;
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
  past_.known = false;
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
  dynamics_.constraints(now_, newton_.phi, newton_.velocity_residual);
  Vec b = -newton_.velocity_residual;
  ahead = now_;
  ahead.v += c * h * (a - a_);
  dynamics_.constraints(ahead, newton_.phi, newton_.velocity_residual);
  b += newton_.velocity_residual;
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
  archive.count(past_.known);
  archive.vector(past_.a);
  archive.vector(past_.zdot);
  archive.vector(past_.lambda);
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
  turn_matrices(newton_.u);
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
  newton_.row_scale.setZero();
  const Pattern& G = tangents_.G.pattern();
  for (int j = 0; j < n_.nv; ++j) {
    const double mass = std::abs(x[static_cast<std::size_t>(diagonal[static_cast<std::size_t>(j)])]);
    if (!(mass > 0)) continue;
    for (int s = G.col_start()[static_cast<std::size_t>(j)]; s < G.col_start()[static_cast<std::size_t>(j) + 1]; ++s) {
      const double entry = k * tangents_.G.values()[static_cast<std::size_t>(s)];
      newton_.row_scale[G.row_index()[static_cast<std::size_t>(s)]] += entry * entry / mass;
    }
  }
  for (int i = 0; i < n_.nc(); ++i) {
    const std::size_t slot = static_cast<std::size_t>(diagonal[static_cast<std::size_t>(n_.nv + n_.nz + i)]);
    x[slot] += newton_.row_scale[i] > 0 ? kRegularisation * newton_.row_scale[i] : 1;
  }
  iteration_.solver.factorize(iteration_.matrix);
  factored_h_ = iteration_.solver.singular() ? 0 : h;
}

void GeneralizedAlpha::evaluate(double h) {
  const double k = settings_.constraint_scaling;
  const double gp = g_ / (h * b_), bp = (1 - am_) / (h * h * b_ * (1 - af_)), hg = h * g_ * (1 - af_) / (1 - am_);
  dynamics_.residual(trial_, a_trial_, lambda_trial_, newton_.r, newton_.f);
  newton_.rhs.head(n_.nv) = newton_.r * (-1 / bp);
  newton_.rhs.segment(n_.nv, n_.nz) = hg * (newton_.f - zdot_trial_);
  if (n_.nc() == 0) return;
  dynamics_.constraints(trial_, newton_.phi, newton_.velocity_residual);
  newton_.rhs.segment(n_.nv + n_.nz, n_.nh) = -k * newton_.phi;
  newton_.rhs.tail(n_.nn) = (-k / gp) * newton_.velocity_residual.tail(n_.nn);
  // No multiplier answers what an empty row says.
  for (int i = 0; i < n_.nc(); ++i)
    if (!(newton_.row_scale[i] > 0)) newton_.rhs[n_.nv + n_.nz + i] = 0;
}

double GeneralizedAlpha::increment_size(double h) const {
  const Vec &us = projector_.u_scale(), &vs = projector_.v_scale(), &zs = projector_.z_scale();
  double size = 0;
  for (int i = 0; i < n_.nv; ++i) {
    // An increment du changes the acceleration by about du / h^2; below 1e-15 of the scale there is only rounding.
    const double rate = h * vs[i] / us[i];
    size =
        std::max(size, std::abs(newton_.rhs[i]) / (us[i] * std::max(settings_.newton_tolerance * rate * rate, 1e-15)));
  }
  for (int i = 0; i < n_.nz; ++i) {
    const double scale = std::max(zs[i], std::abs(trial_.z[i]));
    size = std::max(size, std::abs(newton_.rhs[n_.nv + i]) / (scale * std::max(settings_.newton_tolerance, 1e-15)));
  }
  return size;
}

bool GeneralizedAlpha::attempt(double t1) {
  const double h = t1 - now_.t;
  const double gp = g_ / (h * b_), bp = (1 - am_) / (h * h * b_ * (1 - af_)), hg = h * g_ * (1 - af_) / (1 - am_);
  know_derivative();
  const double moved = last_h_ > 0 ? h / last_h_ : 1;
  averages_.A_start = a_ + moved * (A_ - a_);
  averages_.B_start = zdot_ + moved * (B_ - zdot_);
  averages_.v_start = now_.v + moved * moved * (v_own_ - now_.v);

  a_trial_ = a_;
  zdot_trial_ = zdot_;
  lambda_trial_ = lambda_;
  if (past_.known) {
    a_trial_ += moved * (a_ - past_.a);
    zdot_trial_ += moved * (zdot_ - past_.zdot);
    lambda_trial_ += moved * (lambda_ - past_.lambda);
  }
  averages_.A = ((1 - af_) * a_trial_ + af_ * a_ - am_ * averages_.A_start) / (1 - am_);
  averages_.B = ((1 - af_) * zdot_trial_ + af_ * zdot_ - am_ * averages_.B_start) / (1 - am_);
  newton_.u = h * averages_.v_start + h * h * ((0.5 - b_) * averages_.A_start + b_ * averages_.A);
  trial_.v = averages_.v_start + h * ((1 - g_) * averages_.A_start + g_ * averages_.A);
  trial_.z = now_.z + h * ((1 - g_) * averages_.B_start + g_ * averages_.B);
  trial_.t = t1;

  bool converged = false, current = false;
  double last_size = 0;
  for (int iteration = 0; iteration < kMaxIterations && !converged; ++iteration) {
    leave_if_interrupted();
    if (!increment_rate(newton_.u, trial_.v, dense_.rate_end)) return false;
    dynamics_.plus(now_.q, newton_.u, trial_.q);
    if (std::abs(factored_h_ - h) > 1e-9 * h) {
      factorize(h);
      if (factored_h_ == 0) return false;
      current = true;
    }
    evaluate(h);
    iteration_.solver.solve(newton_.rhs.data());
    ++report_.newton_iterations;
    const double size = increment_size(h);
    if (!std::isfinite(size)) return false;
    newton_.u += newton_.rhs.head(n_.nv);
    trial_.v += gp * newton_.rhs.head(n_.nv);
    a_trial_ += bp * newton_.rhs.head(n_.nv);
    trial_.z += newton_.rhs.segment(n_.nv, n_.nz);
    zdot_trial_ += newton_.rhs.segment(n_.nv, n_.nz) / hg;
    lambda_trial_ += (settings_.constraint_scaling * bp) * newton_.rhs.tail(n_.nc());
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
    for (int i = 0; i < n_.nv; ++i) worst_error_[i] = std::abs(newton_.rhs[i]) / projector_.u_scale()[i];
  }
  // Iterations that only shuffle rounding errors of a poorly conditioned system have arrived, too.
  if (!converged && !(current && worst_error_.maxCoeff() < 1e-11)) {
    factored_h_ = 0;
    return false;
  }
  dynamics_.plus(now_.q, newton_.u, trial_.q);
  averages_.A = ((1 - af_) * a_trial_ + af_ * a_ - am_ * averages_.A_start) / (1 - am_);
  averages_.B = ((1 - af_) * zdot_trial_ + af_ * zdot_ - am_ * averages_.B_start) / (1 - am_);
  averages_.v_own = trial_.v;
  if (n_.nc() > 0 && settings_.project) {
    const ProjectionReport report = projector_.velocities(trial_);
    report_.projections += report.iterations;
    report_.drift = std::max(report_.drift, report.size);
  }
  trial_known_ = true;

  dense_.base = now_;
  dense_.W_base = W_;
  dense_.h = h;
  dense_.a_base = a_;
  dense_.a_end = a_trial_;
  dense_.v_end = trial_.v;
  dense_.z_end = trial_.z;
  dense_.zdot_base = zdot_;
  dense_.zdot_end = zdot_trial_;
  increment_rate(newton_.u, trial_.v, dense_.rate_end);
  if (n_.np > 0) {
    dynamics_.powers(now_, a_, lambda_, dense_.p_base);
    dynamics_.powers(trial_, a_trial_, lambda_trial_, dense_.p_end);
    W_trial_ = W_ + 0.5 * h * (dense_.p_base + dense_.p_end);
    dense_.W_end = W_trial_;
  }
  return true;
}

void GeneralizedAlpha::accept() {
  A_.swap(averages_.A);
  B_.swap(averages_.B);
  v_own_.swap(averages_.v_own);
  past_.a = a_;
  past_.zdot = zdot_;
  past_.lambda = lambda_;
  past_.known = !report_.at_event;
  last_h_ = trial_.t - now_.t;
}

void GeneralizedAlpha::dense(double theta, State& out) {
  const double s = 1 - theta, h = dense_.h;
  const double d = theta * theta * (3 - 2 * theta), w0 = h * theta * s * s, w1 = -h * theta * theta * s;
  dense_.u = d * newton_.u + w0 * dense_.base.v + w1 * dense_.rate_end;
  dynamics_.plus(dense_.base.q, dense_.u, out.q);
  out.v = dense_.base.v + d * (dense_.v_end - dense_.base.v) + w0 * dense_.a_base + w1 * dense_.a_end;
  out.z = dense_.base.z + d * (dense_.z_end - dense_.base.z) + w0 * dense_.zdot_base + w1 * dense_.zdot_end;
  out.t = dense_.base.t + theta * h;
}

void GeneralizedAlpha::dense_work(double theta, Vec& W) {
  // The integral of the linear interpolant of the powers: what the trapezoidal rule integrates.
  W = dense_.W_base + dense_.h * theta * ((1 - 0.5 * theta) * dense_.p_base + 0.5 * theta * dense_.p_end);
}

}  // namespace clatter
