// MoreauStepper: the time-stepping scheme of Moreau and Jean (P-36, P-50 for a whole step).
//
//   q_m = q (+) h (1-theta) v                               where the step is written: forces, G, W, gaps
//   M (v+ - v) = h f + G^T Lambda + W P
//   q+  = q (+) h ((1-theta) v + theta v+)
//
// with the laws of each contact that may close within the step, rates taken with W at q_m:
//
//   lasting     0 <= P_N  perp  gap'+ + max(gap_m / (theta h) + theta h w_N / 2, theta h w_N) >= 0
//               P_T in mu P_N C, opposed to slip+ + theta h w_T
//   impact      P = P_I + P', P_I by the law the contact names (impact.hpp) from the rates of v + (v_free - v)/2, all
//               contacts that touch taking part; P' as above, for what forces do in the step
//
// w are the biases of P-18: gap'(q+) = W(q_m)^T v+ + theta h w to second order, without which a contact on a curved
// path loses energy at every step. The first of the two says that the gap at q+ is not negative, and lets a body land
// without hovering; the second, that the rate there is not, and keeps what has come too near from being thrown back. On
// a lasting contact, gap_m = h^2 w_N / 8 for theta = 1/2, they agree. A contact is an
// impact when motion without it would close it within the step and its approach speed exceeds twice what forces change
// in a step: slower, it could bounce less than a step long, and rests. Taking half of what forces do in a step before
// the impact makes an elastic bounce keep its energy.
//
// Bodies at rest always meet rates of zero; w_N < 0 and w_T ask for others, and where contacts depend on each other (a
// body held between others) nothing may meet those. Then they count as zero there, for that step.
//
// A contact that q_m does not show may have closed all the same at q+ (a corner that passes a corner): then the step is
// repeated with it, its feature taken from q+ and its gap and directions from q_m. A step whose contact problem is not
// solved is halved.
//
// Joints: v + h a(q_m) of the dynamics, responses with G(q_m) held, then positions and velocities are projected at q+.
// `implicit`: forces that depend on q and v are taken at v + theta (v+ - v) and the like, by their tangents:
//
//   (M + h theta C + h^2 theta^2 K) (v+ - v) = h f - h^2 (2 theta - 1) K v + G^T Lambda + W P
//
// Ledger: P (rate- + rate+)/2 is the change of kinetic energy; of impacts and normal directions it goes into the
// group's impact channel, of lasting friction into its friction channel. Other channels by the midpoint rule with the
// mean velocity.
#pragma once

#include <memory>

#include "contact/contact_stepper.hpp"

namespace clatter::contact {

struct MoreauSettings {
  double theta = 0.5;
  bool implicit = false;
};

class MoreauStepper final : public ContactStepper {
 public:
  MoreauStepper(ContactDynamics& dynamics, const IntegratorSettings& settings, const MoreauSettings& moreau = {});
  void refresh() override;

 protected:
  bool attempt(double t1) override;
  void accept() override;
  void started() override;
  void exchange(Archive& archive) override;
  static constexpr int kHalvings = 6;
  int halvings() const override { return kHalvings; }
  double shortest() const { return settings_.step / (1 << kHalvings); }

 private:
  struct Missed {
    int slot;
    Branch branch;
  };
  struct ItemFeature {
    int slot, feature;
  };
  // v_free_ = v + what all but the contacts do in the step.
  bool free_velocity(double h);
  // Contacts that may take part, with their laws; true when one of them is an impact.
  bool collect(double h);
  bool take_in(int slot, double h);
  void contact_step(double h);
  bool find_missed();
  // Impulses of the impacts into impact_, and what they change into the problem.
  void collide(double h);

  MoreauSettings moreau_;
  std::unique_ptr<StepMatrix> matrix_;
  State mid_;
  std::vector<Missed> missed_;
  std::vector<int> missed_at_;  // a slot each: into missed_, or -1
  std::vector<ItemFeature> features_;
  bool jump_ = false;
  std::vector<char> role_;  // per item: 0 lasting, 1 touching, 2 impact
  std::vector<Vec3> impact_, starts_, lasting_b_;
  Vec pull_;           // acceleration expected in the next step: velocity at its middle
  double change_ = 0;  // speed that forces change in the step
  Vec rates_, factors_;
  Vec a_free_, lambda_free_, lambda_smooth_, lambda_step_, zdot_free_, dv_, v_free_, x_, mu_step_, impulses_, g_, p_;
};

}  // namespace clatter::contact
