// Quantities: everything that can be observed of a moving model, by name.
//
//   BODY.position .orientation .velocity .angular_velocity         of the body's frame, world axes
//   BODY.FRAME.position ...                                        of a named frame
//   JOINT.angle .displacement .x .y .z .rx .ry .rz .rate.<one>     free and elastic components
//   JOINT.force .torque                                            on the second body, axes of the joint's frame A
//   ELEMENT.length .angle .displacement .rate .force .state        force elements
//   energy.kinetic .potential .total .<channel> .remainder
//   system.momentum .angular_momentum .center_of_mass
//
// A vector quantity's component is written with a further `.x`.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/state.hpp"

namespace clatter {

class System;
class Engine;

struct QuantityInfo {
  std::string name;                     // "rod.tip.position"
  std::string unit;                     // "m"
  std::vector<std::string> components;  // {"x","y","z"}; empty for a scalar
  std::string description;
  int count = 1;        // numbers of a field without named components
  bool single = false;  // recorded with single precision
  int width() const { return components.empty() ? count : static_cast<int>(components.size()); }
};

// A quantity of something beyond the System (a contact): evaluated from what its owner last observed.
struct ExtraQuantity {
  QuantityInfo info;
  std::function<void(double* out)> evaluate;
};

// Every quantity of the system, in a fixed order.
std::vector<QuantityInfo> all_quantities(const System& system);

// Evaluates a chosen list of quantities at an instant; one per thread.
class Observer {
 public:
  // Names or globs ("rod.*", "*.position"); an unknown name throws InputError with the nearest known one.
  // A component ("rod.position.x") selects just that scalar.
  Observer(std::shared_ptr<const System> system, const std::vector<std::string>& patterns,
           const std::vector<ExtraQuantity>& extra = {});
  ~Observer();
  Observer(Observer&&) noexcept;

  const std::vector<QuantityInfo>& quantities() const;
  int width() const;  // numbers in all
  // `ledger` holds the integrals of the power channels (may be empty: then energy.<channel> reads 0). `beyond`: energy
  // stored by what is not in the System (compliant contacts), counted as potential.
  void evaluate(Engine& engine, const State& s, const Vec& a, const Vec& lambda, const Vec& ledger,
                double energy_at_start, std::span<double> out, double beyond = 0) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace clatter
