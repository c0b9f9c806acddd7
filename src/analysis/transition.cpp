#include "analysis/transition.hpp"

#include <Eigen/LU>
#include <cmath>

#include "integrate/runge_kutta.hpp"

namespace clatter {

namespace {

const Tableau& tableau_of(Scheme scheme) {
  return scheme == Scheme::euler ? kEuler : (scheme == Scheme::rk4 ? kRungeKutta4 : kDormandPrince);
}

}  // namespace

Transition::Transition(Dynamics& dynamics, const IntegratorSettings& settings)
    : settings_(settings), integrator_(make_integrator(settings, dynamics)), linearisation_(dynamics), A_(7), K_(7) {}

void Transition::start(const State& s) {
  integrator_->start(s);
  sample_ = s;
  Phi_.setIdentity(linearisation_.size(), linearisation_.size());
}

const StepReport& Transition::step(double t_limit) {
  const StepReport& report = integrator_->step(t_limit);
  const double t0 = integrator_->step_begin(), h = report.h;
  if (!(h > 0)) return report;
  switch (settings_.scheme) {
    case Scheme::euler:
    case Scheme::rk4:
    case Scheme::dopri5:
    case Scheme::adams:
      explicit_step(t0, h);
      break;
    case Scheme::radau5:
    case Scheme::bdf:
      radau_step(t0, h);
      break;
    case Scheme::verlet:
    case Scheme::generalized_alpha:
      trapezoidal_step(t0, h);
      break;
  }
  return report;
}

void Transition::apply(const Jump& jump) { Phi_ = jump.S * Phi_; }

void Transition::linearise_at(double t, Mat& A) {
  integrator_->interpolate(t, sample_);
  linearisation_.evaluate(sample_, A);
}

void Transition::explicit_step(double t0, double h) {
  const Tableau& tableau = tableau_of(settings_.scheme);
  const double t1 = integrator_->state().t;
  const double* a = tableau.a;
  for (int i = 0; i < tableau.stages; ++i) {
    const std::size_t k = static_cast<std::size_t>(i);
    stage_ = Phi_;
    for (int j = 0; j < i; ++j, ++a) stage_ += (h * *a) * K_[static_cast<std::size_t>(j)];
    // Neighbouring stages at the same time share their matrix.
    if (i > 0 && tableau.c[i] == tableau.c[i - 1]) {
      A_[k] = A_[k - 1];
    } else {
      linearise_at(tableau.c[i] == 1 ? t1 : t0 + tableau.c[i] * h, A_[k]);
    }
    K_[k].noalias() = A_[k] * stage_;
  }
  for (int i = 0; i < tableau.stages; ++i) Phi_ += (h * tableau.b[i]) * K_[static_cast<std::size_t>(i)];
}

void Transition::radau_step(double t0, double h) {
  const double r = std::sqrt(6.0);
  const double c[3] = {(4 - r) / 10, (4 + r) / 10, 1};
  const double rk[3][3] = {{(88 - 7 * r) / 360, (296 - 169 * r) / 1800, (-2 + 3 * r) / 225},
                           {(296 + 169 * r) / 1800, (88 + 7 * r) / 360, (-2 - 3 * r) / 225},
                           {(16 - r) / 36, (16 + r) / 36, 1.0 / 9}};
  const Eigen::Index n = Phi_.rows();
  Mat system = Mat::Identity(3 * n, 3 * n), right(3 * n, n);
  for (int i = 0; i < 3; ++i) {
    linearise_at(i == 2 ? integrator_->state().t : t0 + c[i] * h, A_[0]);
    for (int j = 0; j < 3; ++j) system.block(i * n, j * n, n, n) -= (h * rk[i][j]) * A_[0];
    right.middleRows(i * n, n).noalias() = A_[0] * Phi_;
  }
  const Mat K = system.partialPivLu().solve(right);
  for (int i = 0; i < 3; ++i) Phi_ += (h * rk[2][i]) * K.middleRows(i * n, n);
}

void Transition::trapezoidal_step(double t0, double h) {
  linearise_at(t0, A_[0]);
  linearise_at(integrator_->state().t, A_[1]);
  const Eigen::Index n = Phi_.rows();
  stage_ = Phi_ + (0.5 * h) * A_[0] * Phi_;
  const Mat left = Mat::Identity(n, n) - (0.5 * h) * A_[1];
  Phi_ = left.partialPivLu().solve(stage_);
}

}  // namespace clatter
