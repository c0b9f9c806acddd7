// ContactStepper: what the time-stepping schemes for rigid contact share.
//
// The scheme moves over contacts without landing on them: forces of rigid contacts are impulses of a step, found from a
// complementarity problem (P-50: rates and impulses). The ContactDynamics given keeps its active set empty and supplies
// the motion without rigid contacts, compliant forces included.
//
// Gaps are held apart from the velocities: after the step, positions are moved by the smallest correction in the metric
// of M,
//
//   0 <= p  perp  gap + W_N^T delta >= 0,   M delta = W_N p + G^T nu,   q <- q (+) delta
//
// and no velocity feels it, so that penetration is removed without kinetic energy. The change of the stored energy that
// it brings is booked with the impacts. Of flexible bodies M moves the point that is too deep and leaves the rest: they
// would be dented, at the price of the energy of the dent. Schemes that have it take the matrix M + c C + k K of their
// step instead, in which what is stiff against the step moves as a whole.
//
// Contacts at rest in space bring no energy into a step (step_budget.cpp): where the impulses of an island, at the mean
// of the rates before and after them, and the correction together did work on its bodies, which is an error of the
// step's order, that work is taken out of their kinetic energy.
//
// Between the ends of a step (step_passage.cpp) the motion is q (+) u(theta) of the dense output. Contacts that took
// part are looked at in its middle, for the certificate. Pairs that did not, but are nearer than what they move, are
// followed by bounds on their motion (passage_watch.hpp): one that was passed through makes the step shorter, and where
// it may not become shorter is told by name (passages.hpp).
#pragma once

#include <span>
#include <vector>

#include "contact/certificate.hpp"
#include "contact/contact_counts.hpp"
#include "contact/contact_dynamics.hpp"
#include "contact/contact_sample.hpp"
#include "contact/gap_correction.hpp"
#include "contact/passage_watch.hpp"
#include "contact/passages.hpp"
#include "contact/step_problem.hpp"
#include "contact/unsolved.hpp"
#include "impulse/impact.hpp"
#include "integrate/integrator.hpp"

namespace clatter::contact {

// Something that happened to a contact within a step.
struct StepChange {
  enum class What { impact, closes, opens, sticks, slides, gain } what;
  int slot;
  double impulse = 0, before = 0, after = 0;  // of impacts: normal impulse, gap rates
  int friction = -1;                          // a friction row's change
  double gain = 0, part = 1;                  // of an energy gain (impact.hpp)
};

// Where the time of the steps went, seconds.
struct StepTimes {
  double detection = 0, assembly = 0, solution = 0;
};

class ContactStepper : public Integrator {
 public:
  ContactStepper(ContactDynamics& dynamics, const IntegratorSettings& settings);

  std::span<const ContactSample> contact_samples() const { return samples_; }
  std::span<const FrictionSample> friction_samples() const { return step_frictions_.samples; }
  const Certificate& certificate() const { return proof_.worst; }  // worst of the run
  const ContactCounts& counts() const { return log_.counts; }
  const UnsolvedSteps& unsolved() const {
    return proof_.unsolved;
  }                                                           // of the run: solved nearly, and taken as they were
  const Passages& passages() const { return way_.passages; }  // of the run: passed through, and told
  const Certificate& last_certificate() const { return proof_.last; }  // of the last step
  const StepTimes& times() const { return times_; }
  const StepProblem::Counts& solver_counts() const { return problem_.counts(); }
  std::span<const StepChange> changes() const { return log_.changes; }  // of the last step
  void describe_step(std::vector<StepEvent>& out) const override;

 protected:
  void accept() override;
  void dense(double theta, State& out) override;
  void dense_work(double theta, Vec& W) override;
  void started() override;
  void exchange(Archive& archive) override;
  bool remembers_derivative() const override { return true; }
  bool between_ends(double t1, bool may_shorten) override;

  const ContactSystem& system() const { return contact_.system(); }
  // Friction coefficient of a slot at a slip speed, in impacts or not.
  double friction(int slot, double speed, bool impact) const;
  bool frictional(int slot) const;
  // Largest speed of a contact shape at the engine's present links.
  double largest_speed() const;
  // A velocity of generalized components dv as a speed, by the scales of the model.
  double speed_of(const Vec& dv) const;
  // Contacts at s into contacts_.near(), as detect().
  void detect(const State& s, double reach);
  void assemble(double factor);
  // The impulse that the slot carried in the last step on the same feature, as a start of the solver.
  Vec3 last_impulse(int slot);
  // Keeps the r of the problem's items for that.
  void remember_impulse(int slot, const Vec3& r);
  // Moves trial_ out of penetration; with `closed` (a flag a slot, may be null) contacts that are held at gap zero.
  // Leaves the contacts evaluated at trial_. Returns the deepest penetration left.
  // `detected`: they already are when it begins. `reach`: how far contacts in `closed` may have come apart.
  double correct_gaps(const std::vector<char>* closed, bool detected = false, double reach = 0);
  // What contacts may have brought in, island by island: begun from the solved problem of the step with the velocities
  // before and after it; the correction adds what it lifts against the accelerations `pull`; then what is positive is
  // taken from trial_.v. Returns the energy taken; `missing`: what there was not.
  void open_budget(const Vec& v_begin, const Vec& v_end, const Vec& pull);
  double settle_budget(double lifted, double& missing);
  bool driven();  // some rows move by themselves
  // Solves the assembled problem or throws SolveError; keeps its residuals for the certificate.
  void solve_contacts(const char* what);
  // Whether what is not solved is taken, where neither the whole step nor one of half its length was; it is counted.
  bool tolerable(int island, const StepProblem::Report& report);
  // Friction rows: joints', and the moments of the contacts in the problem. Their rates are
  //   rate_factor slip + along_factor W . x + bias_factor bias
  // `sliding`: those that slip keep their direction. The engine must be at the state, the contacts evaluated.
  bool any_frictions() const { return !system().frictions.empty(); }
  void add_frictions(const Vec& x, double along_factor, double rate_factor, double bias_factor, bool sliding);
  // solve_contacts() with limits that agree with the reactions of the same step, lambda + response / unit. `unit` makes
  // forces of the problem's r: the step, or 1. Leaves forces and limits in step_frictions_.samples_trial.
  void solve_with_frictions(const char* what, double unit, const Vec& lambda);
  // Work of the friction rows' r at mean rates, and their slips at the end, into ledger and samples.
  void book_frictions(const Vec& v_end, double bias_factor);
  void add_friction_powers(const std::vector<FrictionSample>& samples, Vec& p);
  // Impulses of a collision, by the laws the contacts name (impact.hpp), into item.r of the assembled problem. rates:
  // before it, rows of the items in turn. restitution: one factor a contact on its law's, negative for those that do
  // not touch.
  void solve_impact(const Vec& rates, const Vec& restitution);
  void clear_gains() { collision_.gains.clear(); }
  // Books E(trial) - E(now) against the work, sets up dense output. `smooth`: velocities are continuous in this step.
  void finish_step(bool smooth, double penetration);
  bool smooth() const { return dense_.smooth; }

  ContactDynamics& contact_;
  Contacts& contacts_;
  Engine& engine_;
  StepProblem problem_;
  StepMatrix* correction_ = nullptr;  // in whose metric gaps are corrected; null: the engine's mass
  FrictionRows& frictions_;
  std::vector<ContactSample> samples_, samples_trial_;
  struct FrictionItem {
    int item, friction;
    int normal;  // item of the contact whose moment it is, -1: a joint's
  };
  struct StepFrictions {  // friction_stepping.cpp
    std::vector<FrictionSample> samples, samples_trial;
    std::vector<FrictionItem> items;
    Vec start, limit;  // two numbers and one a friction row: start of the next step's iteration
    Vec limit_now, limit_next, b, x, mu, lambda;
    std::vector<Mode> mode;
  };
  StepFrictions step_frictions_;
  struct Proof {
    Certificate worst, last, step;
    UnsolvedSteps unsolved, step_unsolved;
  };
  Proof proof_;
  struct WarmStart {
    Vec impulse;                         // three numbers a slot: start of the next step's solver
    std::vector<int> feature;            // a slot each: the feature it belongs to
    std::vector<ContactSample> carried;  // of the trial step: slot, feature, impulse
    std::vector<int> carrying;           // slots whose impulse is not zero
  };
  WarmStart warm_start_;
  // Of the trial step: which open pairs are nearer than what they move, how fast shapes are, and what forces change
  // of their speed; what is seen between its ends (step_passage.cpp).
  struct Way {
    std::vector<std::size_t> open_near;  // pairs, some of them more than once
    double fastest = 0, change = 0;
    std::vector<ActiveContact> partners;
    std::vector<char> pair_carries;
    std::vector<std::size_t> marked_pairs;
    Passages passages, step_passages;
    double depth = 0, depth_time = 0;
    State middle;
    std::vector<char> seen;
  };
  Way way_;
  // Pairs that carry in the trial step.
  void clear_carrying();
  void note_carrying(int slot);
  bool carries(int slot) const { return way_.pair_carries[pair_at(slot)] != 0; }
  std::size_t pair_at(int slot) const {
    return static_cast<std::size_t>(system().pair_of_slot[static_cast<std::size_t>(slot)]);
  }
  struct Energy {
    double now = 0, trial = 0;
    bool known = false;
  };
  Energy energy_;
  Vec u1_;  // increment of the step

 private:
  void compliant_events();
  void note_changes();
  bool touches(int slot) const;
  // Marks the pairs that took part in the trial step; whether there are any.
  bool find_partners();
  // Takes the relief that the items of an island allow; false when there is none.
  bool relieve(int island);
  void note_friction_changes();
  [[noreturn]] void joints_jam() const;
  // Impulses of one island; small ones by the laws the contacts name, else Moreau's. False where
  // nothing rebounds: there all laws are Moreau's, which the block solver knows.
  bool solve_impact_dense(int island, const Vec& rates, const Vec& restitution);
  void solve_impact_blocks(int island, const Vec& rates, const Vec& restitution, double part);
  // Kinetic energy that the impulses in the items of an island bring, from the rates before.
  double impact_energy(int island, const Vec& rates);
  void forbid_gain(int island, const Vec& rates, const Vec& restitution);
  void note_gain(int slot, double gain, double part);

  void lift_budget();
  GapCorrection gap_correction_;

  // A response group each (Engine::response_groups).
  struct Account {
    int island = -1;  // of the step's problem
    bool active = false;
  };
  struct Budget {  // step_budget.cpp
    std::vector<int> group_of_tree;
    std::vector<Account> accounts;
    std::vector<double> energy, lift;  // by island
    std::vector<char> grounded;        // by island: it leans on something that does not move
    Vec pull, v_keep, phi, y;
    bool counting = false;
  };
  Budget budget_;

  struct Collision {
    ImpactSolver solver;
    ImpactProblem problem;
    ImpactResult result;
    Mat whole;
    std::vector<int> taking_part, rows_taking_part;
    std::vector<int> row0;  // first row of each item of the problem
    std::vector<Vec3> bounce, half;
    std::vector<StepChange> gains;  // of the trial step
  };
  Collision collision_;
  struct DenseOutput {
    State base;
    Vec v_end, z_end, W_base, W_end, u;
    double h = 0;
    bool smooth = true;
  };
  DenseOutput dense_;
  struct CompliantEvents {
    Vec g;
    std::vector<int> fired;
    std::vector<Engine::LinkWrench> wrenches;
  };
  CompliantEvents compliant_;
  struct ChangeLog {
    std::vector<Mode> mode;      // a slot each: at the end of the last step without a collision of it
    std::vector<int> closed;     // slots whose mode is not open
    std::vector<char> touching;  // those that touch at the end of the trial step, in the same order
    std::vector<StepChange> changes;
    ContactCounts counts;
  };
  ChangeLog log_;
  StepTimes times_;
};

}  // namespace clatter::contact
