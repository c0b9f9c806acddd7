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
// No impact is done by halves. The first of the two rates above lets a contact that lands fast be stopped in part in
// one step, so that its gap ends at zero, and the rest in the next; each part with a friction of its own, which is not
// that of the whole impact where slip turns round in between, nor is the restitution of the second part that of the
// whole. So where a contact strikes, the step is solved twice:
//
//   positions   q+ = q (+) h ((1-theta) v + theta u), u the velocity above: gaps close to zero, nothing hovers
//   velocities  v+ anew, where what strikes without restitution has its impact in full (an impact as above with e = 0),
//               and what only the impulses of others send against something is left out: its gap closes in this step,
//               and it collides with all its speed in the next
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
  // Impulses of the contacts; the change of velocity they make into x_.
  void contact_solution(double h);
  // Of the solution at hand: whether a contact strikes that it stops in part only. Those that others send against
  // something go to strikes_.later.
  bool find_strikes();
  void forget_strikes();
  void find_open_near(double h);
  void contact_step(double h);
  void book_contacts(double h);
  double energy_of_motion(double h);
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
  enum class Role : char { lasting, touching, impact };
  struct Part {
    Role role;
    bool lands;     // strikes without restitution
    double change;  // of its gap rate, by forces in the step
    double bend;    // approach that is left when its gap closes
  };
  std::vector<Part> parts_;  // a contact of the problem each; friction rows follow them
  struct Strikes {
    bool any = false;            // velocities are solved apart from positions
    std::vector<int> later;      // slots that collide in the next step
    std::vector<char> is_later;  // a slot each
  };
  Strikes strikes_;
  std::vector<Vec3> impact_, starts_, lasting_b_;
  Vec pull_;  // acceleration expected in the next step: velocity at its middle
  Vec rates_, factors_;
  Vec a_free_, move_, lambda_free_, lambda_smooth_, lambda_step_, zdot_free_, dv_, v_free_, x_, mu_step_, impulses_, g_,
      p_, q_keep_;
};

}  // namespace clatter::contact
