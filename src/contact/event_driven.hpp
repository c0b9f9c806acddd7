// EventDriven: a motion with rigid contacts, event by event (P-49).
//
// Between events one ordinary integrator moves the equations of the present contact state (ContactDynamics); it ends
// its step where an indicator of a contact vanishes. The next call of step() then decides what happens (Instant) in no
// time: a step of length zero, after which the state, the contact state and the forces are those after the event.
// Whoever looks between the two calls sees the left-hand side of the event, whoever looks after the second one the
// right-hand side.
//
// Models whose contacts are all compliant move in one phase; contacts that begin and end are then noted, and what their
// laws remember is written.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "contact/certificate.hpp"
#include "contact/contact_counts.hpp"
#include "contact/instant.hpp"
#include "integrate/stepper.hpp"

namespace clatter::contact {

class EventDriven final : public Stepper {
 public:
  EventDriven(std::shared_ptr<const ContactSystem> contacts, Engine& engine, const IntegratorSettings& settings);

  // Longest step while something is closed and the model has functions of time: at rest nothing but the looks at the
  // contacts' forces tells when loads make them slip or lift. 0: none.
  void limit_closed_steps(double longest) { longest_closed_ = longest; }
  void start(const State& s) override;
  const StepReport& step(double t_limit) override;

  const State& state() const override { return inner_ ? inner_->state() : first_; }
  const Vec& acceleration() { return inner_->acceleration(); }
  const Vec& lambda() { return inner_->lambda(); }
  const Vec& work() const { return W_; }
  double step_begin() const override { return inner_->step_begin(); }
  void sample(double t, State& s, Vec& a, Vec& lambda, Vec& W) override;
  Dynamics& dynamics() override { return dynamics_; }
  void event_log(std::vector<StepEvent>& out) const override;

  std::size_t memory_size() override;
  void save(std::span<double> memory) override;
  void restore(std::span<const double> memory) override;
  // Decides a pending event and begins the present phase anew, so that a continued run repeats the same digits.
  void refresh() override;

  ContactDynamics& contact_dynamics() { return dynamics_; }
  // Moves the present phase; another one after every decided event.
  Integrator* controller() override { return inner_ && inner_->controlled() ? inner_.get() : nullptr; }
  Integrator& integrator() { return *inner_; }
  const IntegratorSettings& settings() const { return settings_; }
  const Certificate& certificate() const { return certificate_; }  // worst of the run
  Instant& instant() { return instant_; }
  // Events of the last step: names of what ended the phase, or what was decided at the instant.
  const std::vector<ContactChange>& changes() const { return result_.changes; }
  const InstantResult& result() const { return result_; }
  const std::vector<std::string>& fired_names() const { return fired_.names; }
  bool undecided() const override { return pending_; }
  const SchemeChoice* scheme_choice() const override { return &choice_; }
  const std::vector<ActiveContact>& active() const { return dynamics_.active(); }
  const std::vector<ActiveFriction>& active_frictions() const { return dynamics_.active_frictions(); }
  long impacts() const { return impacts_; }  // moments with an impact
  const ContactCounts& counts() const { return counts_; }

 private:
  void begin_phase(const State& s, double h, bool jumped = false);
  void go_over(double first_step);
  void decide();
  void certify();
  void guard_progress();
  // What searches along contours and bases of tangents remember is that of the last step, whoever has looked at the
  // contacts since: outputs leave no trace.
  void keep_branches();
  void return_to_branches();
  double series_end() const;  // when the first series of impacts too fast to be resolved ends; infinite: there is none
  void count_changes();
  void exchange(Archive& archive);

  Engine& engine_;
  ContactDynamics dynamics_;
  Instant instant_;
  IntegratorSettings settings_;
  double longest_closed_ = 0;
  bool timed_;  // the model has functions of time
  SchemeChoice choice_;
  Scheme scheme_ = Scheme::dopri5;  // of inner_
  std::unique_ptr<Integrator> inner_;
  State first_;      // where the start was asked for, until it is decided
  int stalled_ = 0;  // events since time last moved
  double last_event_ = 0;
  bool pending_ = false;  // the last step ended at events not yet decided
  std::vector<Branch> branches_;
  struct Fired {  // events that the last step ended at
    std::vector<int> touched, stopped, friction_stopped, compliant;
    bool on_edge = false;
    std::vector<std::string> names;
  };
  Fired fired_;
  InstantResult result_;
  StepReport report_;
  Vec W_, W_base_;
  Certificate certificate_;
  double stored_ = 0;  // energy and work when the certificate last looked
  Vec W_certified_;
  std::unique_ptr<Projector> projector_;
  Vec zdot_;
  double h_ = 0;
  long impacts_ = 0;
  ContactCounts counts_;
};

}  // namespace clatter::contact
