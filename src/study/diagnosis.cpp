#include "study/diagnosis.hpp"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "integrate/diagnosis.hpp"
#include "solve/linear_solver.hpp"

namespace clatter::study {

namespace {

constexpr const char* kNotFiniteAdvice =
    "look at the forces just before: lower stiffnesses, masses or velocities that are out of proportion, or take a "
    "smaller step";

}  // namespace

std::string not_finite(const Observer& observer, std::span<const double> row) {
  double sum = 0;
  for (const double x : row) sum += x * 0.0;
  if (sum == 0) return {};
  std::size_t column = 0;
  for (const QuantityInfo& q : observer.quantities())
    for (int k = 0; k < q.width(); ++k, ++column)
      if (!std::isfinite(row[column]))
        return q.components.empty() ? q.name : q.name + "." + q.components[static_cast<std::size_t>(k)];
  return {};
}

SolveError not_finite_error(double t, const std::string& name) {
  return {"not-finite",
          t,
          {name.empty() ? "energy" : name},
          fmt::format("{} is not a finite number any more", name.empty() ? "the energy ledger" : name),
          kNotFiniteAdvice};
}

SolveError diagnosis_of(const std::exception& error, Stepper& stepper) {
  const State& s = stepper.state();
  Dynamics& dynamics = stepper.dynamics();
  std::vector<std::string> elements;
  if (const std::string broken = first_not_finite(dynamics, s); !broken.empty()) {
    elements.push_back(broken);
  } else if (s.v.size() > 0) {
    Vec u(dynamics.sizes().nv), v = u, z(dynamics.sizes().nz);
    dynamics.scales(u, v, z);
    elements = worst_velocities(dynamics, s.v, v).names;
  }
  if (const auto* singular = dynamic_cast<const SingularMatrix*>(&error); singular != nullptr)
    return {"singular-matrix", s.t, elements, fmt::format("equations of the motion have no solution: {}", error.what()),
            kNotFiniteAdvice};
  if (dynamic_cast<const std::domain_error*>(&error) != nullptr)
    return {"not-finite", s.t, elements, fmt::format("the motion grows beyond what numbers can hold: {}", error.what()),
            kNotFiniteAdvice};
  return {"internal-error", s.t, elements, error.what(),
          "this is a defect in Clatter; please report it with the model"};
}

}  // namespace clatter::study
