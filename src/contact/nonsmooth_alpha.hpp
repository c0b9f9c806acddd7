// NonsmoothAlpha: generalized-alpha for motion with rigid contacts, impacts split from the smooth part.
//
// Smooth part, second order, with the forces r of lasting contacts in it (V-1, V-2 for the averages):
//
//   (1-am) A+ + am A = (1-af) a+ + af a                           A: the scheme's own accelerations
//   u = h v + h^2 ((1/2-b) A + b A+),   v* = v + h ((1-g) A + g A+),   q* = q (+) u
//   M a+ = f(q*, v*) + G^T lambda + W r
//   G v* + y = 0,   0 <= r_N  perp  gap'* >= 0,   r_T in mu r_N C opposed to slip*           lasting contacts
//
// position level       phi(q+) = 0, gap = 0 where a lasting contact presses, gap >= 0 elsewhere: q+ = q* (+) delta with
//                      the smallest delta in the metric of M; velocities do not feel it
// velocity level       v+ = v* + w,  M w = W P + G^T Lambda: contacts that the step has closed collide together with
//                      the lasting ones, by the laws they name (impact.hpp). Restitution is taken of the rate at the
//                      moment the gap vanished, so that an elastic impact keeps its energy whatever the step
//
// An impact slower than twice what forces change in a step is plastic: its contact lasts from then on. A lasting
// contact ends when r_N vanishes and its gap opens. After an impact, and when slip comes to rest or turns round, A is
// started anew from the accelerations a of the new state (P-31 with given slip directions): averages over a jump would
// ring. Steps without such an event are of second order, those with one of first.
//
// A = a itself would bring energy in: a mode far above the step that is displaced at the start grows before the scheme
// damps it, 1.7 times for rho = 0.8 and omega h = 36, 38 times for omega h = 300, in proportion to (omega h)^2; and the
// impacts of a stiff beam excite just such modes, again and again. Started with what the matrix of the step makes of a,
//
//   S A - G^T mu = M a,   G A = G a        (models with flexible bodies)
//
// none does (those with omega h near 1 by 0.3 % at most), and A differs from a by O(h^2) where the step resolves the
// motion.
//
// Contacts of flexible bodies let go within a step in which they still pressed at its begin: their force then jumps
// too, and averages that go on with its last value would push the bodies apart while the gap opens, at the price of r h
// gap'/2. Such a contact counts as open from the begin of the step. And where the correction of gaps has strained or
// lifted bodies on something fixed, that energy comes out of their motion, as in Moreau's scheme (step_budget.cpp).
//
// Newton on (a+, lambda) with S = M + h g k C + h^2 b k K, k = (1-af)/(1-am); the contact problem is part of every
// iteration. Inner states follow the same average, iterated with the rest.
#pragma once

#include "contact/contact_stepper.hpp"

namespace clatter::contact {

class NonsmoothAlpha final : public ContactStepper {
 public:
  NonsmoothAlpha(ContactDynamics& dynamics, const IntegratorSettings& settings);
  void refresh() override { matrix_.forget(); }

 protected:
  bool attempt(double t1) override;
  void accept() override;
  void started() override;
  void exchange(Archive& archive) override;
  int halvings() const override { return 10; }

 private:
  // Newton's iteration for the smooth part; false without convergence.
  bool smooth_part(double h);
  void predict(double h);
  double increment_size(double h, double cq) const;
  // A anew from the accelerations a.
  void start_averages(const Vec& a, Vec& A);
  // Lasting contacts that pressed at the begin and have opened at trial_ are opened at the begin; true when there are
  // any.
  bool release();
  // Takes what the correction of gaps has lifted out of the kinetic energy of the bodies it moved. Returns how much.
  double take_lift(double lifted);
  // Collisions of the contacts in hit_ at trial_; true when one carried an impulse.
  bool collide();
  // Accelerations, multipliers and forces of lasting contacts at a state, from the laws at acceleration level.
  void consistent(const State& s, const std::vector<int>& lasting, Vec& forces, std::vector<int>& loaded, Vec& a,
                  Vec& lambda, Vec& zdot);
  // Slips at the end of the step, and whether friction of a row has jumped within it.
  bool finish_frictions();
  // Rates at which contact forces work at the engine's present links, added to the channels.
  void add_contact_powers(const Vec& forces, Vec& p);
  void powers_at(const State& s, const Vec& a, const Vec& lambda, const Vec& forces,
                 const std::vector<FrictionSample>& frictions, Vec& p);
  static void list(const std::vector<char>& closed, std::vector<int>& slots);
  void list_trial();
  static void clear_forces(Vec& forces, std::vector<int>& slots);
  void take_forces(Vec& forces, std::vector<int>& slots);  // of the solved problem

  double am_, af_, g_, b_;
  StepMatrix matrix_;
  std::vector<char> closed_, closed_trial_, held_;
  std::vector<int> lasting_, lasting_trial_;  // slots that are closed, ascending
  Vec force_, force_trial_;                   // of lasting contacts, three numbers a slot
  std::vector<int> loaded_, loaded_trial_;    // slots that have a number there
  std::vector<int> collided_;                 // and in impact_
  std::vector<int> carriers_;                 // loaded or collided
  std::vector<char> lifted_;                  // trees that the correction of gaps has moved
  Vec A_, A_trial_, B_, B_trial_, A0_, B0_;
  Vec r_, f_, da_, dlambda_, lambda_now_, x_, mu_step_, rhs_, impulses_, residual_, phi_, rates_, factors_, p_base_,
      p_end_, p_;
  Vec impact_;       // impulses of the collision, three numbers a slot
  Vec impact_rate_;  // of those that collided: gap rates before and after, two numbers a slot
  struct Hit {
    int slot;
    double approach;  // speed at which the gap vanished
  };
  std::vector<Hit> hit_;
  double dv_speed_ = 0;
  bool restart_ = false;
};

}  // namespace clatter::contact
