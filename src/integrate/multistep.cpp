#include "integrate/multistep.hpp"

#include <algorithm>
#include <cmath>

namespace clatter {

void Multistep::Column::set_zero() {
  for (Vec* x : {&u, &v, &z, &W}) x->setZero();
}

void Multistep::Column::add(double w, const Column& x) {
  u += w * x.u;
  v += w * x.v;
  z += w * x.z;
  W += w * x.W;
}

void Multistep::Column::scale(double w) {
  for (Vec* x : {&u, &v, &z, &W}) *x *= w;
}

Multistep::Multistep(Dynamics& dynamics, const IntegratorSettings& settings, int highest_order)
    : Integrator(dynamics, settings),
      control_(settings.max_order > 0 ? std::min(settings.max_order, highest_order) : highest_order) {}

Multistep::Column Multistep::make_column() const {
  return {Vec::Zero(n_.nv), Vec::Zero(n_.nv), Vec::Zero(n_.nz), Vec::Zero(n_.np)};
}

double Multistep::size(const Column& x) {
  double ledger = 0;
  if (n_.np > 0) {
    // A driven mechanism moves as it is told, whatever the step: only the work done to move it shows the error then.
    double error = 0, turnover = std::abs(stored_at_start_);
    for (Eigen::Index c = 0; c < n_.np; ++c) {
      error = std::max(error, std::abs(x.W[c]));
      turnover += std::abs(W_trial_[c]) + std::abs(W_trial_[c] - W_[c]);
    }
    if (turnover > 0) ledger = error / (settings_.relative_tolerance * turnover);
  }
  return std::max(ledger, error_norm(x.u, x.v, x.z, now_, trial_));
}

double Multistep::largest_turn(const Vec& u) const {
  double turn = 0;
  for (const int i : rotations_) turn = std::max(turn, u.segment<3>(i).norm());
  return turn;
}

}  // namespace clatter
