// Motion: a model's motion by the method it names, whatever its contacts (one keyword: event-driven, time-stepping,
// smooth).
//
// Owns the contacts of a compiled model and the Stepper that moves it, and tells at any sample what every contact does.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "contact/certificate.hpp"
#include "contact/contact_stepper.hpp"
#include "contact/crowd_stepper.hpp"
#include "contact/event_driven.hpp"
#include "contact/passages.hpp"
#include "contact/unsolved.hpp"
#include "engine/quantity.hpp"
#include "integrate/settings.hpp"

namespace clatter::contact {

class TurnStepper;

// One slot at a sample.
struct SlotSnapshot {
  Mode mode = Mode::open;
  double gap = 0;
  Vec3 force = Vec3::Zero();  // r_N, r_1, r_2
  double rate[3] = {0, 0, 0};
  bool backward = false;            // slides, or begins to, against t1
  Vec3 point = Vec3::Zero();        // on the second body, world
  Vec3 world_force = Vec3::Zero();  // on the first body
};

// One friction row at a sample.
struct FrictionSnapshot {
  Mode mode = Mode::open;
  double force[2] = {0, 0};  // along its slips, in N
  double limit = 0;
  bool backward = false;  // slides, or begins to, against the component
};

class Motion {
 public:
  // `settings.scheme` is the one of the smooth motion, or of time stepping by `simulate`.
  Motion(std::shared_ptr<const System> system, Engine& engine, const Simulate& simulate,
         const IntegratorSettings& settings);
  ~Motion();

  Stepper& stepper() { return *stepper_; }
  Dynamics& dynamics();
  const CrowdStepper* crowd() const { return crowd_; }  // null: contacts are pairs
  bool has_contacts() const { return contacts_ != nullptr; }
  const ContactSystem& contacts() const { return *contacts_; }
  const std::shared_ptr<const ContactSystem>& shared_contacts() const { return contacts_; }
  std::vector<std::string> channel_names() const;  // power channels of the ledger: the engine's, then two a group
  ContactCounts counts() const;
  Certificate certificate() const;  // worst of the run
  UnsolvedReport unsolved() const;  // steps of the run whose contacts were not solved
  PassageReport passages() const;   // and in which shapes passed through each other

  // Takes back what overlaps at a start, or refuses it by name (overlap.hpp): the same whatever the method.
  StartOverlap clear_start(State& start);

  // Contacts at a sample of the last step.
  void observe(const State& s, const Vec& lambda, const Vec& W);
  const SlotSnapshot& slot(int i) const { return snapshot_[static_cast<std::size_t>(i)]; }
  const FrictionSnapshot& friction(int i) const { return friction_[static_cast<std::size_t>(i)]; }
  // The engine's multipliers among those of the stepper's equations.
  const Vec& engine_lambda(const Vec& lambda);
  State engine_state(const State& s);
  // NAME.gap .force .state ... of every contact, reading the last observation.
  std::vector<ExtraQuantity> quantities() const;

 private:
  std::shared_ptr<const System> system_;
  Engine& engine_;
  std::shared_ptr<const ContactSystem> contacts_;
  std::unique_ptr<ContactDynamics> dynamics_;
  std::unique_ptr<Stepper> stepper_;
  EventDriven* event_driven_ = nullptr;
  ContactStepper* time_stepping_ = nullptr;
  CrowdStepper* crowd_ = nullptr;
  TurnStepper* turns_ = nullptr;
  void make_stepper(const Simulate& simulate, const IntegratorSettings& settings);
  // motion_crowd.cpp
  void crowd_quantities(std::vector<ExtraQuantity>& list) const;
  void crowd_pair(std::vector<ExtraQuantity>& list, const std::string& name, int shape1, int shape2) const;
  bool listed(const PairInstance& pair) const;
  void energy_quantities(std::vector<ExtraQuantity>& list) const;
  void crowd_sums(std::vector<ExtraQuantity>& list, std::size_t group) const;
  void observe_frictions(ContactDynamics& dynamics, const Vec& lambda);
  void friction_quantities(std::vector<ExtraQuantity>& list) const;

  std::vector<SlotSnapshot> snapshot_;
  std::vector<FrictionSnapshot> friction_;
  std::vector<double> joint_forces_;  // forces of joints, for the engine's own quantities
  Vec lambda_e_, W_;
  long samples_ = 0;  // observed
};

}  // namespace clatter::contact
