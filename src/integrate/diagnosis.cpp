#include "integrate/diagnosis.hpp"

#include <fmt/format.h>

#include <cmath>

namespace clatter {

namespace {

template <class Name>
Culprits worst(const Vec& residual, const Vec& scale, Name&& name) {
  Culprits culprits;
  Vec ratio = residual.cwiseAbs().cwiseQuotient(scale.head(residual.size()));
  for (int k = 0; k < 3 && k < ratio.size(); ++k) {
    Eigen::Index index = 0;
    const double largest = ratio.maxCoeff(&index);
    if (k > 0 && !(largest > 0)) break;
    culprits.names.push_back(name(static_cast<int>(index)));
    culprits.text += fmt::format("{}{} ({:.3g})", k ? ", " : "", culprits.names.back(), residual[index]);
    ratio[index] = -1;
  }
  return culprits;
}

}  // namespace

Culprits worst_rows(const Dynamics& dynamics, const Vec& residual, const Vec& scale) {
  return worst(residual, scale, [&](int i) { return dynamics.row_name(i); });
}

Culprits worst_velocities(const Dynamics& dynamics, const Vec& residual, const Vec& scale) {
  return worst(residual, scale, [&](int i) { return dynamics.velocity_name(i); });
}

std::string first_not_finite(const Dynamics& dynamics, const State& s) {
  for (int i = 0; i < s.v.size(); ++i) {
    if (!std::isfinite(s.v[i])) return dynamics.velocity_name(i);
  }
  for (int i = 0; i < s.z.size(); ++i) {
    if (!std::isfinite(s.z[i])) return fmt::format("inner state {}", i + 1);
  }
  for (int i = 0; i < s.q.size(); ++i) {
    if (!std::isfinite(s.q[i])) return fmt::format("coordinate {}", i + 1);
  }
  return {};
}

void tolerance_too_sharp(const Dynamics& dynamics, double t, const Vec& worst, double tolerance, double left) {
  const Culprits culprits = worst_velocities(dynamics, worst, Vec::Ones(worst.size()));
  throw SolveError("tolerance-too-sharp", t, culprits.names,
                   fmt::format("rounding, magnified by constraints that are nearly dependent, keeps the equations of a "
                               "step from being solved to a tolerance of {:.3g}: corrections stay at {:.2g} of it",
                               tolerance, left),
                   "take ten times the tolerance, `dopri5` or `adams`, whose steps are not iterated, or `coordinates: "
                   "joint`");
}

}  // namespace clatter
