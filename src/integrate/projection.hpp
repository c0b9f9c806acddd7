// Back onto the constraints by the smallest correction in the metric of M.
//
//   positions:  q <- q (+) delta,  G delta = -phi(q,t)         repeated until phi vanishes (holonomic rows)
//   velocities: v <- v + delta,    G delta = -(G v + y)        one linear step (all rows)
//
// From far off a full correction of the positions may overshoot and fold links the other way. Assembly then makes parts
// alpha of corrections, as large as the rows follow their gradients, along Newton's path phi(q) = (1 - s) phi(q_0):
//
//   |phi(q (+) alpha delta) - phi - alpha G delta| <= kFollows alpha |G delta|
//
// Sizes are measured in the scales of the model, so that no unit matters: a correction in units of the coordinates'
// scales, a residual of row j in units of rho_j = sqrt(sum_i (G_ji scale_i)^2), taken at the start of a run.
#pragma once

#include "integrate/archive.hpp"
#include "integrate/dynamics.hpp"

namespace clatter {

struct ProjectionReport {
  int iterations = 0;
  double size = 0;  // largest correction of a coordinate or velocity in units of its scale
};

class Projector {
 public:
  explicit Projector(Dynamics& dynamics);

  // Takes the row scales from the constraint Jacobian at s.
  void start(const State& s);
  // Both throw SolveError with the time and the names of the worst rows when the rows cannot be met.
  // With `polish` one correction more is made than rounding in regular positions asks for: near singular ones what is
  // left of phi is magnified.
  ProjectionReport positions(State& s) { return positions(s, false); }
  ProjectionReport positions(State& s, bool polish);
  // For starts; `size` then is the whole way.
  ProjectionReport assemble(State& s);
  ProjectionReport velocities(State& s) { return velocities(s, false); }
  ProjectionReport velocities(State& s, bool polish);
  // Takes from a change d of the coordinates or velocities at s what the constraints do not allow.
  void tangent(const State& s, Vec& d);

  // Largest |phi_j| / rho_j and |G v + y|_j / rho'_j at s, without changing s.
  double position_violation(const State& s);
  double velocity_violation(const State& s);

  void scale_like(const Projector& other) {
    rho_ = other.rho_;
    rho_v_ = other.rho_v_;
  }
  // The row scales belong to what a continued run must remember.
  void exchange(Archive& archive) {
    archive.vector(rho_);
    archive.vector(rho_v_);
  }

  const Vec& phi() const { return phi_; }  // as last evaluated
  const Vec& velocity_residual() const { return residual_; }
  const Vec& position_row_scale() const { return rho_; }    // all nc rows, from u_scale
  const Vec& velocity_row_scale() const { return rho_v_; }  // all nc rows, from v_scale
  const Vec& u_scale() const { return u_scale_; }
  const Vec& v_scale() const { return v_scale_; }
  const Vec& z_scale() const { return z_scale_; }

 private:
  int approach(State& s);  // parts of corrections, until a full one follows the gradients; returns how many
  void rate_of(const State& s, const Vec& d, Vec& rate);  // G d

  Dynamics& dynamics_;
  Vec u_scale_, v_scale_, z_scale_;
  Vec rho_, rho_v_;
  Vec phi_, residual_, b_, delta_;
  State moved_;
  Vec before_, along_;  // of approach()
};

}  // namespace clatter
