#include "integrate/radau5.hpp"
#include "base/interrupt.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>

#include "integrate/diagnosis.hpp"

namespace clatter {

namespace {

constexpr int kMaxNewton = 7;
constexpr double kSafety = 0.9;
// Increments this small beside the scales are rounding, amplified by the conditioning of the rows; where they stop
// falling there the iteration has arrived, if that is below this part of the tolerance.
constexpr double kRounding = 1e-12, kHarmless = 0.03;
// From this ratio of successive increments on they no longer fall.
constexpr double kStagnant = 0.5;
const double kRoot6 = std::sqrt(6.0);
const double kC[3] = {(4 - kRoot6) / 10, (4 + kRoot6) / 10, 1};
const double kE[3] = {(-13 - 7 * kRoot6) / 3, (-13 + 7 * kRoot6) / 3, -1.0 / 3};

}  // namespace

Radau5::Radau5(Dynamics& dynamics, const IntegratorSettings& settings)
    : Integrator(dynamics, settings),
      tangents_(dynamics.tangent_layout()),
      real_(dynamics, projector_.u_scale()),
      complex_(dynamics, projector_.u_scale()),
      rows_(n_) {
  method_.A << (88 - 7 * kRoot6) / 360, (296 - 169 * kRoot6) / 1800, (-2 + 3 * kRoot6) / 225,  //
      (296 + 169 * kRoot6) / 1800, (88 + 7 * kRoot6) / 360, (-2 - 3 * kRoot6) / 225,           //
      (16 - kRoot6) / 36, (16 + kRoot6) / 36, 1.0 / 9;
  method_.A_inverse = method_.A.inverse();
  const Eigen::EigenSolver<Eigen::Matrix3d> eigen(method_.A_inverse);
  const Eigen::Matrix3cd X = eigen.eigenvectors(), X_inverse = X.inverse();
  for (int k = 0; k < 3; ++k) {
    const std::complex<double> value = eigen.eigenvalues()[k];
    if (std::abs(value.imag()) < 1e-8) {
      method_.real_eigenvalue = value.real();
      // Vector and row carry reciprocal phases; together they are real.
      const std::complex<double> phase = X(2, k) / std::abs(X(2, k));
      method_.real_vector = (X.col(k) / phase).real();
      method_.real_row = (X_inverse.row(k).transpose() * phase).real();
    } else if (value.imag() > 0) {
      method_.complex_eigenvalue = value;
      method_.complex_vector = X.col(k);
      method_.complex_row = X_inverse.row(k).transpose();
    }
  }
  x_real_.resize(n_);
  x_complex_.resize(n_);
  for (Stage& stage : stage_) {
    stage.s = now_;
    for (Vec* x : {&stage.U, &stage.V, &stage.a}) x->setZero(n_.nv);
    stage.Z.setZero(n_.nz);
    stage.L.setZero(n_.nc());
    stage.mu.setZero(n_.nc());
    stage.W.setZero(n_.np);
    stage.p.setZero(n_.np);
    stage.r.resize(n_);
  }
  for (Vec& x : past_.V) x.setZero(n_.nv);
  for (Vec& x : past_.Z) x.setZero(n_.nz);
  for (Vec& x : past_.lambda) x.setZero(n_.nc());
  if (settings.fixed_point) {
    slope_.fill({Vec::Zero(n_.nv), Vec::Zero(n_.nv), Vec::Zero(n_.nz)});
    past_slope_ = slope_;
  }
  for (Vec* x : {&force_, &rate_, &du_, &dv_, &dense_.u, &v_tangents_}) x->setZero(n_.nv);
  dz_.setZero(n_.nz);
  phi_.setZero(n_.nh);
  dense_.W_base.setZero(n_.np);
  dense_.base = now_;
}

void Radau5::started() {
  rows_.start();
  real_.leave_out({});
  complex_.leave_out({});
  faccon_ = 1;
  theta_ = 0;
  last_h_ = 0;
  last_error_ = 1e-2;
  first_ = true;
  rejected_ = false;
  past_.known = false;
  refresh();
}

void Radau5::refresh() {
  tangents_known_ = tangents_current_ = false;
  factored_h_ = 0;
  tangents_ = dynamics_.tangent_layout();
  real_.forget();
  complex_.forget();
}

void Radau5::exchange(Archive& archive) {
  archive.value(faccon_);
  archive.value(theta_);
  archive.value(last_h_);
  archive.value(last_error_);
  archive.count(first_);
  archive.count(rejected_);
  archive.count(past_.known);
  rows_.exchange(archive);
  archive.value(past_.h);
  for (Vec& x : past_.V) archive.vector(x);
  for (Vec& x : past_.Z) archive.vector(x);
  for (Vec& x : past_.lambda) archive.vector(x);
  for (Slope& k : past_slope_) {
    for (Vec* x : {&k.u, &k.v, &k.z}) archive.vector(*x);
  }
}

Eigen::Vector3d Radau5::lagrange(double theta) {
  Eigen::Vector3d weight;
  for (int i = 0; i < 3; ++i) {
    double w = theta / kC[i];
    for (int j = 0; j < 3; ++j) {
      if (j != i) w *= (theta - kC[j]) / (kC[i] - kC[j]);
    }
    weight[i] = w;
  }
  return weight;
}

void Radau5::predict(double h) {
  for (int i = 0; i < 3; ++i) {
    Stage& stage = stage_[static_cast<std::size_t>(i)];
    stage.L.setZero();
    stage.mu.setZero();
    stage.V.setZero();
    stage.Z.setZero();
    if (!past_.known) continue;
    const double theta = 1 + kC[i] * h / past_.h;
    const Eigen::Vector3d w = lagrange(theta);
    // Good velocities with poor multipliers would make the first increments small and the second ones large.
    stage.L = -lambda_;
    for (int j = 0; j < 3; ++j) {
      stage.L += (w[j] * kC[j] / theta) * past_.lambda[static_cast<std::size_t>(j)];
      const double weight = w[j] - (j == 2 ? 1 : 0);
      stage.V += weight * past_.V[static_cast<std::size_t>(j)];
      stage.Z += weight * past_.Z[static_cast<std::size_t>(j)];
    }
  }
  for (int i = 0; i < 3; ++i) {
    Stage& stage = stage_[static_cast<std::size_t>(i)];
    stage.U = (h * kC[i]) * now_.v;
    for (int j = 0; j < 3; ++j) stage.U += (h * method_.A(i, j)) * stage_[static_cast<std::size_t>(j)].V;
  }
}

bool Radau5::prepare(double h) {
  if (!tangents_known_) {
    know_derivative();
    dynamics_.tangents(now_, a_, lambda_, tangents_);
    v_tangents_ = now_.v;
    tangents_known_ = tangents_current_ = true;
    factored_h_ = 0;
    if (rows_.wanted()) {
      const std::vector<char>& redundant = rows_.find(tangents_);
      real_.leave_out(redundant);
      complex_.leave_out(redundant);
    }
  }
  // Steps of one length differ by the rounding of their ends.
  if (std::abs(factored_h_ - h) <= 1e-9 * h) return true;
  factored_h_ = 0;
  if (!real_.factorize(method_.real_eigenvalue / h, tangents_, v_tangents_)) return false;
  if (!complex_.factorize(method_.complex_eigenvalue / h, tangents_, v_tangents_)) return false;
  factored_h_ = h;
  return true;
}

bool Radau5::stage_residual(Stage& stage, double h, int index) {
  State& s = stage.s;
  stage.a.setZero();
  stage.r.u.setZero();
  stage.r.z.setZero();
  for (int j = 0; j < 3; ++j) {
    const Stage& other = stage_[static_cast<std::size_t>(j)];
    const double w = method_.A_inverse(index, j) / h;
    stage.r.u -= w * other.U;
    stage.a += w * other.V;
    stage.r.z -= w * other.Z;
  }
  dynamics_.plus(now_.q, stage.U, s.q);
  s.v = now_.v + stage.V;
  s.z = now_.z + stage.Z;
  lambda_trial_ = lambda_ + stage.L;
  dynamics_.residual(s, stage.a, lambda_trial_, stage.r.v, zdot_trial_);
  stage.r.v = -stage.r.v;
  stage.r.z += zdot_trial_;
  rate_ = s.v;
  if (n_.nc() > 0) {
    dynamics_.constraints(s, stage.r.p, stage.r.w);
    stage.r.p = -stage.r.p;
    stage.r.w = -stage.r.w;
    if (n_.nh > 0) {
      dynamics_.constraint_forces(s, stage.mu, force_);
      rate_ += real_.weights().cwiseProduct(force_);
    }
  }
  if (!increment_rate(stage.U, rate_, force_)) return false;
  stage.r.u += force_;
  return true;
}

Radau5::Newton Radau5::iterate(double h) {
  const double tolerance = std::max(10 * std::numeric_limits<double>::epsilon() / settings_.relative_tolerance,
                                    std::min(0.03, std::sqrt(settings_.relative_tolerance)));
  // Where the step may not be shortened for its error it is iterated for as long as that helps.
  const int most = settings_.fixed_step ? 50 : kMaxNewton;
  double last = 0, last_ratio = 1;
  faccon_ = std::pow(std::max(faccon_, std::numeric_limits<double>::epsilon()), 0.8);
  theta_ = 0.001;
  for (newton_ = 1; newton_ <= most; ++newton_) {
    leave_if_interrupted();
    ++report_.newton_iterations;
    x_real_.set_zero();
    x_complex_.set_zero();
    for (int i = 0; i < 3; ++i) {
      Stage& stage = stage_[static_cast<std::size_t>(i)];
      if (!stage_residual(stage, h, i)) return Newton::failed;
      const double r = method_.real_row[i];
      const std::complex<double> c = method_.complex_row[i];
      x_real_.u += r * stage.r.u;
      x_real_.v += r * stage.r.v;
      x_real_.z += r * stage.r.z;
      x_real_.w += r * stage.r.w;
      x_real_.p += r * stage.r.p;
      x_complex_.u += c * stage.r.u;
      x_complex_.v += c * stage.r.v;
      x_complex_.z += c * stage.r.z;
      x_complex_.w += c * stage.r.w;
      x_complex_.p += c * stage.r.p;
    }
    real_.solve(tangents_, x_real_);
    complex_.solve(tangents_, x_complex_);
    double sum = 0, largest = 0;
    for (int i = 0; i < 3; ++i) {
      Stage& stage = stage_[static_cast<std::size_t>(i)];
      const double r = method_.real_vector[i];
      const std::complex<double> c = 2.0 * method_.complex_vector[i];
      du_ = r * x_real_.u + (c * x_complex_.u).real();
      dv_ = r * x_real_.v + (c * x_complex_.v).real();
      dz_ = r * x_real_.z + (c * x_complex_.z).real();
      stage.U += du_;
      stage.V += dv_;
      stage.Z += dz_;
      stage.L += r * x_real_.w + (c * x_complex_.w).real();
      stage.mu.head(n_.nh) += r * x_real_.p + (c * x_complex_.p).real();
      const double norm = error_norm(du_, dv_, dz_, now_, now_);
      sum += norm * norm;
      largest = std::max(largest, relative_size());
    }
    const double size = std::sqrt(sum / 3);
    if (!std::isfinite(size)) return Newton::failed;
    if (newton_ > 1) {
      const double ratio = last > 0 ? size / last : 0;
      theta_ = newton_ == 2 ? ratio : std::sqrt(ratio * last_ratio);
      // The first increments bring the multipliers into place, and leave the coordinates with little inertia to the
      // second ones: what these are tells nothing of the rate yet.
      const bool early = newton_ == 2;
      if (early) theta_ = std::min(theta_, 0.5);
      last_ratio = ratio;
      if (largest <= kRounding && size <= kHarmless && ratio >= kStagnant) {
        theta_ = std::min(theta_, 0.9);
        return Newton::converged;
      }
      const bool stagnant = !early && tangents_current_ && ratio >= kStagnant && largest <= kMagnifiedRounding;
      const bool falls = theta_ < 0.99 && !(early && ratio > 2);
      faccon_ = theta_ / (1 - theta_);
      const double expected = faccon_ * size * std::pow(theta_, most - 1 - newton_) / tolerance;
      const bool too_slow = falls && expected >= 1 && newton_ < most && !early && largest > kRounding;
      if (stagnant && (!falls || too_slow)) {
        faccon_ = 1;
        rejected_ = true;
        tolerance_too_sharp(dynamics_, now_.t, worst_error_, settings_.relative_tolerance, size);
      }
      if (!falls) return Newton::failed;
      if (too_slow) return Newton::slow;
    }
    last = std::max(size, std::numeric_limits<double>::epsilon());
    if (faccon_ * size <= tolerance && (newton_ > 1 || n_.nc() == 0)) return Newton::converged;
  }
  return Newton::slow;
}

// Largest part of du_, dv_, dz_ in units of the scales and of what is there already.
double Radau5::relative_size() const {
  const Vec &us = projector_.u_scale(), &vs = projector_.v_scale(), &zs = projector_.z_scale();
  double largest = 0;
  for (int i = 0; i < n_.nv; ++i) {
    largest = std::max({largest, std::abs(du_[i]) / us[i], std::abs(dv_[i]) / (vs[i] + std::abs(now_.v[i]))});
  }
  for (int i = 0; i < n_.nz; ++i) largest = std::max(largest, std::abs(dz_[i]) / (zs[i] + std::abs(now_.z[i])));
  return largest;
}

bool Radau5::estimate_error(double h) {
  // -R(s, -(e.V)/h, lambda) = M (a_0 + (e.V)/h) because R is linear in the accelerations.
  du_ = now_.v;
  dv_.setZero();
  dz_ = zdot_;
  for (int i = 0; i < 3; ++i) {
    const Stage& stage = stage_[static_cast<std::size_t>(i)];
    du_ += (kE[i] / h) * stage.U;
    dv_ -= (kE[i] / h) * stage.V;
    dz_ += (kE[i] / h) * stage.Z;
  }
  x_real_.set_zero();
  dynamics_.residual(now_, dv_, lambda_, x_real_.v, zdot_trial_);
  x_real_.v = -x_real_.v;
  x_real_.u = du_;
  x_real_.z = dz_;
  real_.solve(tangents_, x_real_);
  error_ = error_norm(x_real_.u, x_real_.v, x_real_.z, now_, trial_);
  if (error_ >= 1 && (first_ || rejected_)) {
    // Once more from y_0 + err: less pessimistic where the first estimate is dominated by a stiff transient.
    State& s = stage_[0].s;
    s.t = now_.t;
    dynamics_.plus(now_.q, x_real_.u, s.q);
    s.v = now_.v + x_real_.v;
    s.z = now_.z + x_real_.z;
    if (!increment_rate(x_real_.u, s.v, rate_)) return true;
    dynamics_.residual(s, dv_, lambda_, x_real_.v, zdot_trial_);
    x_real_.v = -x_real_.v;
    x_real_.u = du_ - now_.v + rate_;
    x_real_.z = dz_ - zdot_ + zdot_trial_;
    if (n_.nc() > 0) {
      dynamics_.constraints(s, x_real_.p, x_real_.w);
      x_real_.p = -x_real_.p;
      x_real_.w = -x_real_.w;
    }
    real_.solve(tangents_, x_real_);
    error_ = error_norm(x_real_.u, x_real_.v, x_real_.z, now_, trial_);
  }
  error_ = std::max(error_, 1e-10);
  return std::isfinite(error_);
}

bool Radau5::attempt(double t1) {
  const double t0 = now_.t, h = t1 - t0;
  know_derivative();
  for (int i = 0; i < 3; ++i) stage_[static_cast<std::size_t>(i)].s.t = i == 2 ? t1 : t0 + kC[i] * h;
  for (;;) {
    if (settings_.fixed_point) {
      if (!fixed_point(h)) return false;
      break;
    }
    if (!prepare(h)) {
      rejected_ = true;
      return false;
    }
    predict(h);
    if (iterate(h) == Newton::converged) break;
    faccon_ = 1;
    // Old tangents first; only with new ones is the step too long.
    if (tangents_current_) {
      rejected_ = true;
      return false;
    }
    tangents_known_ = false;
  }
  const Stage& end = stage_[2];
  trial_.t = t1;
  du_ = end.U;
  dynamics_.plus(now_.q, du_, trial_.q);
  trial_.v = now_.v + end.V;
  trial_.z = now_.z + end.Z;
  if (!trial_.v.allFinite() || !trial_.z.allFinite()) return false;
  if (n_.np > 0) {
    for (Stage& stage : stage_) {
      lambda_trial_ = lambda_ + stage.L;
      dynamics_.powers(stage.s, stage.a, lambda_trial_, stage.p);
    }
    for (int i = 0; i < 3; ++i) {
      Stage& stage = stage_[static_cast<std::size_t>(i)];
      stage.W.setZero();
      for (int j = 0; j < 3; ++j) stage.W += (h * method_.A(i, j)) * stage_[static_cast<std::size_t>(j)].p;
    }
    W_trial_ = W_ + end.W;
  }
  if (settings_.fixed_point) {
    estimate_error_fixed_point(h, kE);
  } else if (!settings_.fixed_step && !estimate_error(h)) {
    return false;
  }
  if (error_ > 1) rejected_ = true;
  dense_.u = end.U;
  project_trial(dense_.u);
  stage_[2].U = dense_.u;
  stage_[2].V = trial_.v - now_.v;
  dense_.base = now_;
  dense_.W_base = W_;
  dense_.h = h;
  return true;
}

double Radau5::propose(double h, double error, bool accepted) {
  constexpr double kShrink = 5, kGrow = 1.0 / 8;
  const double factor = std::min(kSafety, kSafety * (1 + 2 * kMaxNewton) / (newton_ + 2 * kMaxNewton));
  double quotient = std::clamp(std::pow(error, 0.25) / factor, kGrow, kShrink);
  if (!accepted) return first_ ? 0.1 * h : h / quotient;
  if (last_h_ > 0) {
    const double predicted = last_h_ / h * std::pow(error * error / last_error_, 0.25) / kSafety;
    quotient = std::max(quotient, std::clamp(predicted, kGrow, kShrink));
  }
  last_h_ = h;
  last_error_ = std::max(1e-2, error);
  const double wanted = h / quotient;
  // A step kept is a factorisation kept.
  return wanted >= h && wanted <= 1.2 * h && theta_ <= 0.001 ? h : wanted;
}

void Radau5::accept() {
  const double h = dense_.h;
  for (std::size_t i = 0; i < 3; ++i) {
    past_.V[i] = stage_[i].V;
    past_.Z[i] = stage_[i].Z;
    past_.lambda[i] = lambda_ + stage_[i].L;
  }
  if (settings_.fixed_point) past_slope_ = slope_;
  past_.h = h;
  past_.known = !report_.at_event;
  first_ = rejected_ = false;
  tangents_current_ = false;
  if (theta_ > 0.001) tangents_known_ = false;
}

void Radau5::dense(double theta, State& out) {
  const Eigen::Vector3d w = lagrange(theta);
  dense_.u.setZero();
  out.v = dense_.base.v;
  out.z = dense_.base.z;
  for (int i = 0; i < 3; ++i) {
    const Stage& stage = stage_[static_cast<std::size_t>(i)];
    dense_.u += w[i] * stage.U;
    out.v += w[i] * stage.V;
    out.z += w[i] * stage.Z;
  }
  dynamics_.plus(dense_.base.q, dense_.u, out.q);
  out.t = dense_.base.t + theta * dense_.h;
}

void Radau5::dense_work(double theta, Vec& W) {
  const Eigen::Vector3d w = lagrange(theta);
  W = dense_.W_base;
  for (int i = 0; i < 3; ++i) W += w[i] * stage_[static_cast<std::size_t>(i)].W;
}

}  // namespace clatter
