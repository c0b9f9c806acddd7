// DeformationWatch: whether flexible bodies still are what linear elasticity in a moving frame can describe.
//
// The root mean square displacement of a body's mass against its frame, divided by the radius of gyration,
//
//   r = sqrt(eta^T M eta / int X.X rho dV)
//
// has no unit and does not depend on the choice of shapes. What is left out is of the order r^2: from r = 0.3 on (some
// 5 %) the watch has something to say, once a body; at r = 1 the body is displaced by its own size and the run ends
// there, with the diagnosis `deformation-too-large`. The known way to get there is a slender body without stiffening
// that turns faster than it vibrates (E-13): its deformation grows without bound, where its frame is fixed to the end
// that turns; in mean axes it is only wrong. Therefore rotation by itself is watched as well: what stiffening would add
// is of the order (Omega/omega_1)^2, told from Omega = 0.2 omega_1 on (4 %).
#pragma once

#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "fem/reduced_body.hpp"

namespace clatter {

class DeformationWatch {
 public:
  explicit DeformationWatch(const System& system);
  // At the state the engine has seen last. Gives the warnings that are new; SolveError when a body is beyond all
  // bounds.
  std::vector<std::string> look(const Engine& engine, double t);
  // After a step to s: only whether a body is beyond all bounds, so that a blow-up is named where it happens and not
  // at the next output. Looks at the state alone but for superelements, whose boundary it asks the engine for.
  void after_step(Engine& engine, const State& s) const;

  static constexpr double kDoubtful = 0.3, kMeaningless = 1, kFast = 0.2;

 private:
  static double displacement(const fem::ReducedBody& b, const double* eta);
  [[noreturn]] void refuse(const Body& body, double r, double t) const;
  static std::string advice(const fem::ReducedBody& b);

  const System* system_;
  std::vector<char> told_, told_fast_;  // by flexible body
  std::vector<double> lowest_;          // omega_1 of bodies without stiffening, else 0
};

}  // namespace clatter
