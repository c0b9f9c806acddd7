#include "analysis/variational.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "integrate/runge_kutta.hpp"

namespace clatter {

namespace {

const Tableau& tableau_of(Scheme scheme) {
  return scheme == Scheme::euler ? kEuler : (scheme == Scheme::rk4 ? kRungeKutta4 : kDormandPrince);
}

// Parts of a step are not made shorter than this: there A has no bound.
constexpr double kShortest = 1.0 / 1024;

}  // namespace

VariationalStep::VariationalStep(Dynamics& dynamics, const IntegratorSettings& settings)
    : settings_(settings), linearisation_(dynamics), A_(7), K_(7) {
  const Sizes& n = dynamics.sizes();
  Vec u(n.nv), v(n.nv), z(n.nz);
  dynamics.scales(u, v, z);
  scale_.resize(size());
  scale_ << u, v, z;
}

void VariationalStep::advance(Integrator& integrator, Mat& Phi) {
  advance(integrator, integrator.step_begin(), integrator.state().t, Phi);
}

void VariationalStep::advance(Integrator& integrator, double t0, double t1, Mat& Phi) {
  if (!(t1 > t0)) return;
  integrator_ = &integrator;
  sample_ = integrator.state();
  switch (settings_.scheme) {
    case Scheme::euler:
    case Scheme::rk4:
      explicit_step(t0, t1, Phi);
      break;
    case Scheme::dopri5:
    case Scheme::adams:
      controlled_step(t0, t1, Phi);
      break;
    case Scheme::radau5:
    case Scheme::bdf:
      radau_step(t0, t1, Phi);
      break;
    case Scheme::symplectic_euler:
    case Scheme::verlet:
    case Scheme::generalized_alpha:
      trapezoidal_step(t0, t1, Phi);
      break;
  }
}

void VariationalStep::linearise_at(double t, Mat& A) {
  integrator_->interpolate(t, sample_);
  linearisation_.evaluate(sample_, A);
}

double VariationalStep::measure(const Mat& X) const {
  double largest = 0;
  for (Eigen::Index j = 0; j < X.cols(); ++j)
    for (Eigen::Index i = 0; i < X.rows(); ++i) largest = std::max(largest, std::abs(X(i, j)) * scale_[j] / scale_[i]);
  return largest;
}

void VariationalStep::controlled_step(double t0, double t1, Mat& Phi) {
  const double shortest = kShortest * (t1 - t0);
  double t = t0, h = t1 - t0;
  while (t < t1) {
    const double end = t + h > t && t + 1.5 * h < t1 ? t + h : t1;
    trial_ = Phi;
    const double error = explicit_step(t, end, trial_);
    if (error > 1 && h > shortest && !settings_.fixed_step) {
      h *= 0.5;
      continue;
    }
    Phi.swap(trial_);
    t = end;
    if (error < 1.0 / 64) h *= 2;
  }
}

double VariationalStep::explicit_step(double t0, double t1, Mat& Phi) {
  const Tableau& tableau = tableau_of(settings_.scheme);
  const double h = t1 - t0;
  const double* a = tableau.a;
  for (int i = 0; i < tableau.stages; ++i) {
    const std::size_t k = static_cast<std::size_t>(i);
    stage_ = Phi;
    for (int j = 0; j < i; ++j, ++a) stage_ += (h * *a) * K_[static_cast<std::size_t>(j)];
    // Neighbouring stages at the same time share their matrix.
    if (i > 0 && tableau.c[i] == tableau.c[i - 1]) {
      A_[k] = A_[k - 1];
    } else {
      linearise_at(tableau.c[i] == 1 ? t1 : t0 + tableau.c[i] * h, A_[k]);
    }
    K_[k].noalias() = A_[k] * stage_;
  }
  for (int i = 0; i < tableau.stages; ++i) Phi += (h * tableau.b[i]) * K_[static_cast<std::size_t>(i)];
  if (tableau.e == nullptr) return 0;
  const std::size_t last = static_cast<std::size_t>(tableau.stages);
  K_[last].noalias() = A_[last - 1] * Phi;
  stage_.setZero();
  for (int i = 0; i <= tableau.stages; ++i) stage_ += (h * tableau.e[i]) * K_[static_cast<std::size_t>(i)];
  return measure(stage_) / (settings_.relative_tolerance * std::max(measure(Phi), 1e-300));
}

void VariationalStep::radau_step(double t0, double t1, Mat& Phi) {
  const double r = std::sqrt(6.0), h = t1 - t0;
  const double c[3] = {(4 - r) / 10, (4 + r) / 10, 1};
  const double rk[3][3] = {{(88 - 7 * r) / 360, (296 - 169 * r) / 1800, (-2 + 3 * r) / 225},
                           {(296 + 169 * r) / 1800, (88 + 7 * r) / 360, (-2 - 3 * r) / 225},
                           {(16 - r) / 36, (16 + r) / 36, 1.0 / 9}};
  const Eigen::Index n = Phi.rows();
  Mat system = Mat::Identity(3 * n, 3 * n), right(3 * n, Phi.cols());
  for (int i = 0; i < 3; ++i) {
    linearise_at(i == 2 ? t1 : t0 + c[i] * h, A_[0]);
    for (int j = 0; j < 3; ++j) system.block(i * n, j * n, n, n) -= (h * rk[i][j]) * A_[0];
    right.middleRows(i * n, n).noalias() = A_[0] * Phi;
  }
  const Mat K = system.partialPivLu().solve(right);
  for (int i = 0; i < 3; ++i) Phi += (h * rk[2][i]) * K.middleRows(i * n, n);
}

void VariationalStep::trapezoidal_step(double t0, double t1, Mat& Phi) {
  const double h = t1 - t0;
  linearise_at(t0, A_[0]);
  linearise_at(t1, A_[1]);
  const Eigen::Index n = Phi.rows();
  stage_ = Phi + (0.5 * h) * A_[0] * Phi;
  const Mat left = Mat::Identity(n, n) - (0.5 * h) * A_[1];
  Phi = left.partialPivLu().solve(stage_);
}

}  // namespace clatter
