#include "contact/contact_euler.hpp"

#include <algorithm>
#include <cmath>

#include "contact/stable_step.hpp"

namespace clatter::contact {

namespace {

constexpr int kIterations = 25;
// Increments below this part of the scale of a coordinate are rounding.
constexpr double kRounding = 1e-15;

}  // namespace

ContactEuler::ContactEuler(ContactDynamics& dynamics, const IntegratorSettings& settings)
    : ExplicitScheme(dynamics, settings, 1), contact_(dynamics), matrix_(dynamics), mean_(now_) {
  for (Vec* x : {&a_new_, &r_, &da_, &rate_}) x->setZero(n_.nv);
  for (Vec* x : {&lambda_new_, &dlambda_, &rows_}) x->setZero(n_.nc());
  phi_.setZero(n_.nh);
  f_.setZero(n_.nz);
}

void ContactEuler::started() {
  contact_steps_ = 0;
  require_stable_step(contact_.engine().system(), contact_.engine_state(now_), settings_.step);
  matrix_.forget();
}

bool ContactEuler::presses(const State& s) {
  contact_.stored_energy(s);  // leaves the forces there
  const ContactSystem& system = contact_.system();
  for (int slot = 0; slot < system.slots(); ++slot)
    if (!system.pair(slot).rigid && contact_.compliant().force(slot)[0] != 0) return true;
  return false;
}

void ContactEuler::move(double h) {
  trial_.v = now_.v + h * a_new_;
  du_ = h * trial_.v;
  dynamics_.plus(now_.q, du_, trial_.q);
}

bool ContactEuler::solve(double h) {
  const Vec &us = projector_.u_scale(), &vs = projector_.v_scale();
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    if (!increment_rate(du_, trial_.v, rate_)) return false;
    dynamics_.residual(trial_, a_new_, lambda_new_, r_, f_);
    double change = 0;
    for (int i = 0; i < n_.nz; ++i)
      change = std::max(change, std::abs(now_.z[i] + h * f_[i] - trial_.z[i]) / projector_.z_scale()[i]);
    trial_.z = now_.z + h * f_;
    if (!matrix_.factorize(trial_, a_new_, lambda_new_, h, h * h)) return false;
    r_ *= -1;
    if (n_.nc() > 0) {
      dynamics_.constraints(trial_, phi_, rows_);
      rows_ /= -h;
    }
    matrix_.solve(r_.data(), n_.nc() > 0 ? rows_.data() : nullptr, da_.data(), dlambda_.data());
    a_new_ += da_;
    lambda_new_ += dlambda_;
    move(h);
    ++report_.newton_iterations;
    double size = change / settings_.newton_tolerance;
    for (int i = 0; i < n_.nv; ++i) {
      const double rate = h * vs[i] / us[i], du = h * h * std::abs(da_[i]) / us[i];
      worst_error_[i] = du;
      size = std::max(size, du / std::max(settings_.newton_tolerance * rate * rate, kRounding));
    }
    if (!std::isfinite(size)) return false;
    if (size <= 1) return true;
  }
  return false;
}

bool ContactEuler::attempt(double t1) {
  const double h = t1 - now_.t;
  know_derivative();
  Slope& k = k_.front();
  a_new_ = a_;
  lambda_new_ = lambda_;
  trial_.t = t1;
  move(h);
  if (!increment_rate(du_, trial_.v, rate_)) return false;
  f_ = zdot_;
  trial_.z = now_.z + h * f_;
  const bool touches = presses(trial_);
  if (touches) {
    ++contact_steps_;
    if (!solve(h)) return false;
  }
  dv_ = h * a_new_;
  dz_ = h * f_;
  if (n_.np > 0) {
    // Forces of the begin, or of the end, work at the mean velocity: their sum is the change of the kinetic energy.
    mean_ = touches ? trial_ : now_;
    mean_.v = now_.v + 0.5 * dv_;
    dynamics_.powers(mean_, a_new_, lambda_new_, k.p);
    dW_ = h * k.p;
  }
  k.u = now_.v;
  k.v = a_;
  k.z = zdot_;
  finish(t1);
  return true;
}

}  // namespace clatter::contact
