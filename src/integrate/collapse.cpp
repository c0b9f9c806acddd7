// Why steps collapse: what kept the step control from going on, told by name.
//
//   lock-up            the constraint rows come to depend on each other, and one of them is driven: the velocities that
//                      the drive asks for, v = -G^+ y, grow without bound as the mechanism reaches a dead centre
//   singular-position  they do without a drive, and no motion was found that continues the velocities
//   stiff              an explicit scheme, kept short by the frequency of a spring or the rate of a damper
//   (of the attempt)   what the last attempt itself ended with
//   step-too-small     anything else: forces that jump or grow without bound
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "integrate/diagnosis.hpp"
#include "integrate/integrator.hpp"

namespace clatter {

namespace {

// Sine of nearly dependent rows, of the largest seen.
constexpr double kNearlyDependent = 0.02;
// From this part of the time of a vibration on, steps of an explicit scheme are bound by it.
constexpr double kStiff = 0.1;

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : (i + 1 == names.size() ? " and " : ", "), names[i]);
  return text;
}

}  // namespace

// Whether rows move with time by themselves: drives.
bool Integrator::driven() {
  State resting = now_;
  resting.v.setZero();
  return projector_.velocity_violation(resting) > 0;
}

// The largest frequency or rate of a single coordinate, and which.
double Integrator::fastest(int& index) {
  Tangents tangents = dynamics_.tangent_layout();
  dynamics_.tangents(now_, a_, lambda_, tangents);
  double fastest = 0;
  for (int i = 0; i < n_.nv; ++i) {
    const double mass = tangents.M.at(i, i);
    if (!(mass > 0)) continue;
    const double rate = std::max(std::sqrt(std::abs(tangents.K.at(i, i)) / mass), std::abs(tangents.C.at(i, i)) / mass);
    if (!(rate > fastest)) continue;
    fastest = rate;
    index = i;
  }
  return fastest;
}

void Integrator::collapsed(double h, const std::string& how) {
  if (watches()) {
    std::vector<std::string> rows;
    try {
      known_ = false;  // so that the rows last factorised are those of now_
      know_derivative();
      rows = dynamics_.nearly_dependent();
    } catch (const SolveError&) {
      rows.clear();  // then it is something else
    }
    if (sine_ <= kNearlyDependent * watch_.largest() && !rows.empty()) {
      if (driven()) {
        throw SolveError("lock-up", now_.t, rows,
                         fmt::format("the mechanism locks: at {} it comes to a dead centre that its drive cannot take "
                                     "it through, and its velocities grow without bound; the step fell to {:.3g} s {}",
                                     listed(rows), h, how),
                         "change the lengths so that the crank can turn round, or end the drive before");
      }
      throw SolveError("singular-position", now_.t, rows,
                       fmt::format("the mechanism comes to a singular position, where {} lose their independence, and "
                                   "no motion was found that continues its velocities; the step fell to {:.3g} s {}",
                                   listed(rows), h, how),
                       "look at this position: lengths that agree exactly, or a dead centre; a method of fixed step "
                       "walks across, and which way the motion then goes is arbitrary");
    }
  }
  const bool is_explicit = settings_.scheme == Scheme::dopri5 || settings_.scheme == Scheme::adams;
  if (is_explicit && controlled()) {
    int index = 0;
    double rate = 0;
    try {
      know_derivative();
      rate = fastest(index);
    } catch (const SolveError&) {
      rate = 0;  // then it is something else
    }
    if (h * rate > kStiff) {
      const std::string name = dynamics_.velocity_name(index);
      throw SolveError("stiff", now_.t, {name},
                       fmt::format("the step fell to {:.3g} s {}: the equations are stiff, {} alone has {:.3g} rad/s",
                                   h, how, name, rate),
                       "take `radau5` or `bdf`");
    }
  }
  if (failure_) throw *failure_;
  const Culprits worst = worst_velocities(dynamics_, worst_error_, Vec::Ones(n_.nv));
  const std::string name = worst.names.empty() ? std::string("the inner states") : worst.names.front();
  throw SolveError("step-too-small", now_.t, {name},
                   fmt::format("the step fell to {:.3g} s {}; most affected: {}", h, how, name),
                   "look for a force that jumps or grows without bound at this time");
}

}  // namespace clatter
