#include "integrate/initial.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "integrate/diagnosis.hpp"
#include "integrate/projection.hpp"

namespace clatter {

namespace {

// Positions that meet the constraints, moved on by least corrections (which follow what they cost: Engine::weigh) as
// long as that lowers the strain energy.
void relax(Dynamics& dynamics, Projector& projector, State& s, const InitialSettings& settings) {
  constexpr int kMost = 20;
  constexpr double kGain = 1e-4;
  const Sizes& n = dynamics.sizes();
  Vec none = Vec::Zero(n.nc()), delta = Vec::Zero(n.nv);
  double energy = settings.strain_energy(s);
  for (int i = 0; i < kMost && energy > 0; ++i) {
    State trial = s;
    dynamics.least_correction(s, none, true, delta);
    dynamics.plus(s.q, delta, trial.q);
    try {
      projector.positions(trial);
    } catch (const SolveError&) {
      return;
    }
    const double now = settings.strain_energy(trial);
    if (!(now < energy)) return;
    const bool last = now > (1 - kGain) * energy;
    s = trial;
    energy = now;
    if (last) return;
  }
}

// Of a start that was far off: how far an assembly is from it, |q (-) q_0| in the metric of its masses, and on along
// the constraints to where that is least,
//
//   q <- q (+) alpha t,   t = -d + M^-1 G^T (G M^-1 G^T)^+ G d,   d = q (-) q_0
//
// which is a fixed point where d is normal to the constraints. What Newton's steps from far off lead to is near it
// only.
class Nearest {
 public:
  Nearest(Dynamics& dynamics, Projector& projector, const State& from)
      : dynamics_(dynamics), projector_(projector), from_(from), n_(dynamics.sizes()) {
    for (Vec* x : {&d_, &t_, &Md_, &rest_}) x->setZero(n_.nv);
    none_.setZero(n_.nc());
    zdot_.setZero(n_.nz);
    phi_.setZero(n_.nh);
    for (Vec* x : {&b_, &rate_}) x->setZero(n_.nc());
    dynamics_.residual(from_, Vec::Zero(n_.nv), none_, rest_, zdot_);
  }

  double distance(const State& s) {
    dynamics_.minus(s.q, from_.q, d_);
    return std::sqrt(std::max(0.0, square(d_)));
  }

  void approach(State& s) {
    constexpr int kMost = 100;
    constexpr double kLongest = 0.3, kArrived = 1e-6, kSmallest = 1e-4, kGain = 0.1;
    double part = 1;
    State trial = s;
    for (int i = 0; i < kMost; ++i) {
      const double now = distance(s);
      tangent(s);
      const double size = std::sqrt(std::max(0.0, square(t_)));
      if (!(size > kArrived * now)) return;
      const double longest = (t_.array().abs() / projector_.u_scale().array()).maxCoeff();
      part = std::min({1.0, 2 * part, kLongest / longest});
      for (;; part /= 2) {
        if (part < kSmallest) return;
        dynamics_.plus(s.q, part * t_, trial.q);
        try {
          projector_.positions(trial);
        } catch (const SolveError&) {
          continue;
        }
        if (distance(trial) < now - kGain * part * size * size / now) break;
      }
      s = trial;
    }
  }

 private:
  double square(const Vec& x) {  // x^T M x, from residuals that differ by M x
    dynamics_.residual(from_, x, none_, Md_, zdot_);
    return x.dot(Md_ - rest_);
  }
  void tangent(const State& s) {
    dynamics_.minus(s.q, from_.q, d_);
    dynamics_.constraints(s, phi_, rate_);
    moved_ = s;
    moved_.v += d_;
    dynamics_.constraints(moved_, phi_, b_);
    b_ -= rate_;
    dynamics_.least_correction(s, b_, true, t_);
    t_ -= d_;
  }

  Dynamics& dynamics_;
  Projector& projector_;
  const State from_;
  State moved_;
  const Sizes n_;
  Vec d_, t_, Md_, rest_, none_, zdot_, phi_, b_, rate_;
};

// Rigid bodies, by parts of Newton's corrections. Far off, corrections are no longer least ones by themselves: the
// nearer of what parts and full ones lead to is moved on to where it is.
ProjectionReport assemble(Dynamics& dynamics, Projector& projector, State& s) {
  constexpr double kFar = 0.1;  // of the scales
  const State from = s;
  ProjectionReport report = projector.assemble(s);
  if (!(report.size > kFar)) return report;
  Nearest nearest(dynamics, projector, from);
  nearest.approach(s);
  try {
    State other = from;
    projector.positions(other);
    nearest.approach(other);
    if (nearest.distance(other) < nearest.distance(s)) s = other;
  } catch (const SolveError&) {  // then the first it is
  }
  Vec way = Vec::Zero(dynamics.sizes().nv);
  dynamics.minus(s.q, from.q, way);
  report.size = (way.array().abs() / projector.u_scale().array()).maxCoeff();
  return report;
}

// Beyond it, in units of the scales, rows contradict each other in this way.
constexpr double kMet = 1e-11;

// One of the two corrections of s, by the first way that can. A way that cannot still leads where the next one has less
// to do, if it came nearer.
ProjectionReport correct(Dynamics& dynamics, Projector& projector, State& s, const InitialSettings& settings,
                         bool positions) {
  const auto correction = [&](State& of) {
    if (!positions) return projector.velocities(of);
    return settings.ways.empty() ? assemble(dynamics, projector, of) : projector.assemble(of);
  };
  for (std::size_t i = 0; i + 1 < settings.ways.size(); ++i) {
    settings.ways[i]();
    const double before = positions ? projector.position_violation(s) : projector.velocity_violation(s);
    State trial = s;
    try {
      const ProjectionReport report = correction(trial);
      if (!positions || projector.position_violation(trial) <= kMet) {
        s = trial;
        return report;
      }
    } catch (const SolveError&) {  // the next way may do it
    }
    const std::string broken = first_not_finite(dynamics, trial);
    if (positions && broken.empty() && projector.position_violation(trial) < before) s = trial;
  }
  if (!settings.ways.empty()) settings.ways.back()();
  const ProjectionReport report = correction(s);
  if (positions && settings.strain_energy) relax(dynamics, projector, s, settings);
  return report;
}

}  // namespace

InitialReport make_consistent(Dynamics& dynamics, State& s, const InitialSettings& settings) {
  const Sizes& n = dynamics.sizes();
  InitialReport report;
  const std::string broken = first_not_finite(dynamics, s);
  if (!broken.empty()) throw InputError(fmt::format("the initial state is not finite: {}", broken));
  Projector projector(dynamics);
  projector.start(s);
  if (n.nh > 0) {
    if (settings.adjust_positions) {
      const ProjectionReport moved = correct(dynamics, projector, s, settings, true);
      report.position_iterations = moved.iterations;
      report.position_correction = moved.size;
      projector.start(s);
    } else if (projector.position_violation(s) > settings.tolerance) {
      const Culprits rows = worst_rows(dynamics, projector.phi(), projector.position_row_scale());
      throw InputError(fmt::format("the initial positions do not fit together: {}", rows.text),
                       "correct them, or allow them to be adjusted");
    }
  }
  if (n.nc() > 0) {
    if (settings.adjust_velocities) {
      report.velocity_correction = correct(dynamics, projector, s, settings, false).size;
    } else if (projector.velocity_violation(s) > settings.tolerance) {
      const Culprits rows = worst_rows(dynamics, projector.velocity_residual(), projector.velocity_row_scale());
      throw InputError(fmt::format("the initial velocities do not fit together: {}", rows.text),
                       "correct them, or allow them to be adjusted");
    }
  }
  report.acceleration.setZero(n.nv);
  report.lambda.setZero(n.nc());
  Vec zdot = Vec::Zero(n.nz);
  dynamics.accelerations(s, report.acceleration, report.lambda, zdot);
  return report;
}

}  // namespace clatter
