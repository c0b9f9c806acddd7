// ContactEuler: semi-implicit Euler with an embedded Newton's method in steps with contact (Y-11).
//
//   trial    v* = v + h a(q, v),  q* = q (+) h v*        taken as it is where no compliant contact presses at it
//   else     M (v+ - v)/h = f(q+, v+) + G^T lambda,  q+ = q (+) h v+,  G v+ + y = 0       all forces at the new state
//
// The second is backward Euler, solved from the trial for the mean acceleration (v+ - v)/h with the exact tangents
// M + h C + h^2 K of every iterate; places of contact are looked for in each of them. Steps are of first order, and
// those with contact take energy out of every vibration they do not resolve (T-13): stiff contacts need no short steps,
// the elasticity of beams does (their free steps are explicit). Inner states follow dz = h f(q+, v+, z+), iterated with
// the rest.
#pragma once

#include "contact/contact_dynamics.hpp"
#include "contact/step_matrix.hpp"
#include "integrate/runge_kutta.hpp"

namespace clatter::contact {

class ContactEuler final : public ExplicitScheme {
 public:
  ContactEuler(ContactDynamics& dynamics, const IntegratorSettings& settings);
  void refresh() override { matrix_.forget(); }
  long contact_steps() const { return contact_steps_; }

 protected:
  bool attempt(double t1) override;
  void started() override;
  int halvings() const override { return 10; }

 private:
  bool presses(const State& s);
  bool solve(double h);  // a_new_ and lambda_new_ of backward Euler; false without convergence
  void move(double h);   // trial_ by a_new_

  ContactDynamics& contact_;
  StepMatrix matrix_;
  State mean_;
  Vec a_new_, lambda_new_, f_, r_, da_, dlambda_, phi_, rows_, rate_;
  long contact_steps_ = 0;
};

}  // namespace clatter::contact
