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
//
// A slender body that is pulled is stiffer against bending, pressed it is softer. What a body without stiffening leaves
// out of that is watched by its work on the present shape, as a share of the elastic energy E of that shape:
//
//   kappa = int |N| w'^2 dx / (2 E),    int w'^2 dx = 52 u^2 / L
//
// where u is the root mean square displacement of the mass, its mean translation and turn taken off: so much for a bend
// of one half wave over the length L, w = A (sin(pi x/L) - 2/pi), u^2 = A^2 (1/2 - 4/pi^2). Shapes of more waves have
// more.
//
//   N(x) = sum of the forces beyond x - (mass beyond x)/m sum of all + m Omega^2 (L^2/4 - x^2) / (2 L)
//
// along its long axis, from the forces that act on it (loads and constraints) and the inertia these leave; L from its
// second moment of mass. Told from kappa = 0.05 on, where also kappa u is 1e-4 of the length.
//
// A body displaced beyond all bounds whose highest mode omega_n is too fast for explicit steps h of fixed length,
// h omega_n > limit (2; rk4: 2.83), is told to be that: `step-too-long`.
#pragma once

#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "model/reduced_body.hpp"

namespace clatter {

class DeformationWatch {
 public:
  // `explicit_step`: of a method whose steps are fixed and explicit, stable for modes up to limit / step; 0: none.
  explicit DeformationWatch(const System& system, double explicit_step = 0, double limit = 0);
  // At the state the engine has seen last. Gives the warnings that are new; SolveError when a body is beyond all
  // bounds.
  std::vector<std::string> look(const Engine& engine, double t);
  // The same for what is left out without stiffening; a, lambda: at s.
  std::vector<std::string> look_at_loads(Engine& engine, const State& s, const Vec& a, const Vec& lambda);
  // After a step to s: only whether a body is beyond all bounds, so that a blow-up is named where it happens and not
  // at the next output. Looks at the state alone but for superelements, whose boundary it asks the engine for.
  void after_step(Engine& engine, const State& s) const;

  static constexpr double kDoubtful = 0.3, kMeaningless = 1, kFast = 0.2, kStiffens = 0.05, kVisible = 1e-4;

 private:
  struct Slender {             // of bodies without stiffening whose cross-sections are small
    double length = 0;         // 0: not such a body
    Vec3 axis = Vec3::Zero();  // body axes
    bool told = false;
  };
  double mean_axial_force(const Engine& engine, const FlexibleIndex& f, const Slender& slender) const;
  static double displacement(const ReducedBody& b, const double* eta);
  static double bending(const ReducedBody& b, const double* eta);  // u^2
  [[noreturn]] void refuse(const Body& body, double r, double t) const;
  static std::string advice(const ReducedBody& b);

  const System* system_;
  std::vector<char> told_, told_fast_;  // by flexible body
  std::vector<double> lowest_;          // omega_1 of bodies without stiffening, else 0
  std::vector<Slender> slender_;        // likewise
  double step_, limit_;
  Vec residual_, zdot_;
};

}  // namespace clatter
