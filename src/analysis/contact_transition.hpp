// The state-transition matrix of a motion with rigid contacts, event by event: x(t) = Phi(t) x(t_0) for perturbations
// x = (du, dv, dz), du the right increment of q.
//
//   phases   dPhi/dt = A Phi with the equations of the present contact state (variational.hpp)
//   events   Phi+ = S Phi-,   S = D + (f+ - D f- - j_t) n^T / (dg/dt)
//
// f- and f+ are the rates (v, dv/dt, dz/dt) before and after, n the gradient of the event function g, dg/dt its rate
// along the motion before, D and j_t the derivatives by state and time of what the event does to the state: nothing for
// transitions, the impact v+ = v- + M^-1 (G^T Lambda + W P) with its active set held otherwise (impact_derivative.hpp).
// With Y du the answer of the jointed bodies to a change of M, G, W at fixed velocity jump and impulses,
//
//   M Y = -d(M (v+ - v-) - G^T Lambda - W P)/dq + G^T (..),   G Y = -d(G (v+ - v-))/dq,   dv+ = dv + X dP + Y du
//
// taken from the tangents of a phase at velocity zero with v+ - v- and the impulses in the places of accelerations and
// forces. Impacts at one moment multiply. At the end, and at the start of the motion, the linearised projection onto
// what is closed (Projector) is applied, so that Phi maps onto perturbations that keep all contacts and joints closed;
// where contacts last, Phi loses rank.
//
// Event functions: gap (touch), slip (stop), normal force (lift), friction reserve (slip), the place on an edge
// (feature). Where motion and rates are continuous S is the projection alone, whatever the event.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analysis/variational.hpp"
#include "contact/event_driven.hpp"

namespace clatter {

// What one event did to the perturbations.
struct ContactJump {
  double t = 0;
  std::vector<std::string> events;  // that ended the phase, by name
  Mat S;
  int impacts = 0;
  double event_rate = 0;   // dg/dt in units of the model's scales; 0 where it was not needed
  bool grazing = false;    // |event_rate| < 1e-4: S is close to its pole
  bool ambiguous = false;  // simultaneous events that neighbouring motions meet one after the other
};

class ContactTransition {
 public:
  explicit ContactTransition(contact::EventDriven& stepper);

  void start(const State& s);
  // One step of the stepper, and of Phi. Throws SolveError `grazing` where an event function that matters does not
  // change its sign at a speed, `no-sensitivity` at events without a gradient (friction that jams) and where a
  // compliant law begins to remember a speed (`restitution`), or a point of contact rolls from one edge or face
  // to the next.
  const StepReport& step(double t_limit);

  const State& state() const { return stepper_.state(); }
  contact::EventDriven& stepper() { return stepper_; }
  const Mat& matrix() const { return Phi_; }
  const std::vector<ContactJump>& jumps() const { return jumps_; }  // since start()

 private:
  struct Trigger {
    Vec n;            // gradient; empty: none
    double rate = 0;  // of the event function along the motion
    double scale = 1;
    std::string name;
  };

  void advance();
  void before_event();
  void after_event();
  void refuse_memory(int compliant, double t);
  void refuse_passed_edges(double t);
  void add_trigger(int index, const State& s);
  Trigger slip_trigger(int slot, const State& s);
  Trigger friction_trigger(int friction, const State& s);  // slip of a friction row that comes to rest
  Trigger force_trigger(int slot, bool reserve, const State& s);
  Trigger margin_trigger(int slot, const State& s);
  // D and j_t of one impact.
  void impact_matrix(const contact::ImpactRecord& record, const State& s, Mat& D, Vec& jt);
  void apply_impacts(const State& s, Mat& D, Vec& jt);
  // Linearised projection onto the constraints of the present phase.
  void projection(const State& s, Mat& Pi);
  void rates(const State& s, Vec& f);
  void begin_phase();
  void use_probe(const std::vector<int>& slots, const State& s);

  contact::EventDriven& stepper_;
  contact::ContactDynamics& dynamics_;
  contact::ContactDynamics probe_;  // rows of single slots, and of impacts, all held
  std::unique_ptr<VariationalStep> variational_;
  Mat Phi_;
  std::vector<ContactJump> jumps_;
  std::vector<Trigger> triggers_;
  std::vector<int> features_;  // of the active contacts, when the step began
  State left_;                 // just before the end of an edge
  Vec f_before_, a_, lambda_, zdot_;
};

}  // namespace clatter
