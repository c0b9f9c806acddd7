// Stages of RADAU5 by fixed-point iteration (E-19, as in the source's appendix): k_m = y'(t_n + c_m h, y_n + h sum_p
// a_mp k_p), from the converged k of the last step until they stand still. y' comes from Dynamics::accelerations, so
// that constraints are held at acceleration level and their drift is removed after the step. No tangents and no
// matrices; the iteration contracts only while h times the stiffness is below about one.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "integrate/diagnosis.hpp"
#include "integrate/radau5.hpp"

namespace clatter {

namespace {

constexpr int kMostIterations = 100;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

bool Radau5::fixed_point(double h) {
  for (std::size_t i = 0; i < 3; ++i) {
    for (Vec* x : {&stage_[i].U, &stage_[i].V, &stage_[i].Z}) x->setZero();
    slope_[i].u = past_.known ? past_slope_[i].u : now_.v;
    slope_[i].v = past_.known ? past_slope_[i].v : a_;
    slope_[i].z = past_.known ? past_slope_[i].z : zdot_;
  }
  const double tolerance = std::max(10 * std::numeric_limits<double>::epsilon() / settings_.relative_tolerance,
                                    std::min(0.03, std::sqrt(settings_.relative_tolerance)));
  double last = 0;
  for (newton_ = 1; newton_ <= kMostIterations; ++newton_) {
    ++report_.newton_iterations;
    double sum = 0, largest = 0;
    for (int i = 0; i < 3; ++i) {
      Stage& stage = stage_[at(i)];
      du_ = -stage.U;
      dv_ = -stage.V;
      dz_ = -stage.Z;
      stage.U.setZero();
      stage.V.setZero();
      stage.Z.setZero();
      for (int j = 0; j < 3; ++j) {
        stage.U += (h * method_.A(i, j)) * slope_[at(j)].u;
        stage.V += (h * method_.A(i, j)) * slope_[at(j)].v;
        stage.Z += (h * method_.A(i, j)) * slope_[at(j)].z;
      }
      du_ += stage.U;
      dv_ += stage.V;
      dz_ += stage.Z;
      const double norm = error_norm(du_, dv_, dz_, now_, now_);
      sum += norm * norm;
      largest = std::max(largest, relative_size());
    }
    const double size = std::sqrt(sum / 3);
    const double ratio = newton_ > 2 && last > 0 ? size / last : 0;
    // The first increments are the stages themselves.
    if (newton_ > 2 && (ratio / std::max(1 - ratio, 0.1) * size <= tolerance || (largest <= 1e-13 && size <= 0.03))) {
      return true;
    }
    if (!std::isfinite(size) || ratio > 2 || (newton_ > 6 && ratio >= 1) || newton_ == kMostIterations) {
      const Culprits worst = worst_velocities(dynamics_, worst_error_, Vec::Ones(n_.nv));
      const std::string name = worst.names.empty() ? std::string("the inner states") : worst.names.front();
      throw SolveError("no-contraction", now_.t, {name},
                       fmt::format("the fixed-point iteration of the stages does not contract in a step of {:.3g} s; "
                                   "most affected: {}",
                                   h, name),
                       "take a smaller step, or `iteration: newton`");
    }
    last = size;
    for (int i = 0; i < 3; ++i) {
      Stage& stage = stage_[at(i)];
      dynamics_.plus(now_.q, stage.U, stage.s.q);
      stage.s.v = now_.v + stage.V;
      stage.s.z = now_.z + stage.Z;
      if (!increment_rate(stage.U, stage.s.v, slope_[at(i)].u)) return false;
      dynamics_.accelerations(stage.s, slope_[at(i)].v, lambda_trial_, slope_[at(i)].z);
      stage.a = slope_[at(i)].v;
      stage.L = lambda_trial_ - lambda_;
    }
  }
  return false;
}

// err = (h/g) (y'_0 + (e . Y)/h): the formula of radau5.hpp with J = 0.
void Radau5::estimate_error_fixed_point(double h, const double* e) {
  du_ = now_.v;
  dv_ = a_;
  dz_ = zdot_;
  for (int i = 0; i < 3; ++i) {
    du_ += (e[i] / h) * stage_[at(i)].U;
    dv_ += (e[i] / h) * stage_[at(i)].V;
    dz_ += (e[i] / h) * stage_[at(i)].Z;
  }
  const double g = h / method_.real_eigenvalue;
  du_ *= g;
  dv_ *= g;
  dz_ *= g;
  error_ = std::max(1e-10, error_norm(du_, dv_, dz_, now_, trial_));
}

}  // namespace clatter
