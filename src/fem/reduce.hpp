// From a structure to a ReducedBody: shapes (E-12, V-6), reference conditions (E-11), integrals (E-6, V-10), damping
// (E-8), geometric stiffening (E-13), markers.
//
// Floating frame: shapes Psi of any method; the reference condition A u = 0 takes the rigid motions out,
// Psi - R (A R)^-1 A Psi with A = R^T M (mean axes, Buckens), the rows of an interface, or six displacements of three
// nodes; the reduced eigenproblem then makes coordinates with M = I and K = diag(omega^2). Superelement: Craig-Bampton
// shapes as they are, boundary nodes first.
#pragma once

#include "fem/interface.hpp"
#include "model/reduced_body.hpp"

namespace clatter::fem {

struct LoadError {
  std::string load;  // "tip.x", "tip.rz"
  double error = 0;  // share of the full model's strain energy that the reduced one misses
};

struct ReductionReport {
  int nodes = 0, elements = 0, freedoms = 0;
  std::vector<double> frequencies;  // Hz: of the coordinates kept (floating frame), or of the internal modes
  // Unit loads at the interfaces. Where the frame moves with an interface or with nodes these hold the body; in mean
  // axes and of superelements the loads are balanced by inertia.
  std::vector<LoadError> static_errors;
  Mat effective_mass;           // modes x 6 (3): N_l^2 and the like, floating frame only
  double rigid_energy = 0;      // of the stiffness matrix, relative
  double rigid_mass_error = 0;  // tau^T M tau of the reduced model against the body's, relative
};

struct Reduced {
  ReducedBody body;
  ReductionReport report;
  Mat shapes;  // freedoms x n
};

Reduced reduce(const Structure& structure, const std::vector<Interface>& interfaces, const FlexibleSource& source,
               const Progress& progress = {});

// Parts of the above, for tests.
void add_integrals(const Structure& structure, const Mat& Phi, ReducedBody& body);
// Rayleigh's alpha and beta from two ratios (E-8).
std::pair<double, double> rayleigh(double omega1, double ratio1, double omega2, double ratio2);

}  // namespace clatter::fem
