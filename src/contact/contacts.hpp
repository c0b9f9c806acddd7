// Contacts: one thread's kinematics of all contact slots (P-17 to P-19).
//
// With n, t1, t2 the basis of a slot, v_k and a_k the material velocity and acceleration of body k at its point,
// u = v_1 - v_2, and rho_k' the speed at which the point travels over body k,
//
//   gap' = n . u                 slip_i = t_i . u
//   gap'' = n . (a_1 - a_2) + n' . u + n . (w_1 x rho_1' - w_2 x rho_2'),      slip_i' likewise with t_i
//
// n', t_i' and rho' come from the kernels evaluated on time jets; `bias` is what is left at generalized accelerations
// zero. A contact force (r_N, r_1, r_2) puts the wrench f = n r_N + t1 r_1 + t2 r_2 at p1 on body 1, its opposite at p2
// on body 2: the columns W of the slot.
//
// Moments (P-26): components 3, 4, 5 are the spins of body 1 against body 2 about n (drilling), t1 and t2 (rolling; in
// the plane t2 alone), w = w_1 - w_2, with columns of a pure torque:
//
//   spin_i = e_i . w,   spin_i' = e_i . (alpha_1 - alpha_2) + e_i' . w
#pragma once

#include <memory>
#include <vector>

#include "contact/beam_touch.hpp"
#include "contact/broad_phase.hpp"
#include "contact/contact_system.hpp"
#include "contact/rows.hpp"
#include "engine/engine.hpp"

namespace clatter::contact {

struct SlotState {
  bool present = false;  // the slot has a point of contact here, and it is near
  double gap = 0, margin = 0;
  Mat3 basis;      // columns n, t1, t2
  Vec3 p1, p2;     // world
  Vec3 c1, c2;     // from the mass centres of the links
  double rate[6];  // gap', slip_1, slip_2, spins about n, t1, t2
  double bias[6];  // second rates without generalized accelerations
  // Compliant contact of beams: the part of its law by which it acts, the rate of that, and by which rate the gap
  // changes because its place moves along the beam.
  double measure = 1, measure_rate = 0, drift = 0;
};

// Rows of one slot in the space of its two links' motions (linear, angular of body 1, then of body 2): gradients g, and
// derivatives by pose increments x and twists xi as in MeasureTangent.
struct SlotTangent {
  using Row = Eigen::Matrix<double, 12, 1>;
  Row g[6], rate_x[6], bias_x[6], bias_xi[6];
  Eigen::Matrix<double, 12, 12> H[6];  // dg/dx
  Row margin_x;
  LinkRow row(int k) const { return {&g[k], &rate_x[k], &bias_x[k], &bias_xi[k], &H[k]}; }
};

class Contacts {
 public:
  Contacts(std::shared_ptr<const ContactSystem> contacts, Engine& engine);

  const ContactSystem& system() const { return *contacts_; }
  const std::shared_ptr<const ContactSystem>& shared_system() const { return contacts_; }
  Engine& engine() { return engine_; }
  const Engine& engine() const { return engine_; }
  int slots() const { return contacts_->slots(); }

  // Gaps and rates of every slot whose shapes may be nearer than `reach` (broad_phase.hpp); others are not present.
  // Evaluates the engine at s.
  void detect(const State& s, double reach);
  // Slots that detect() found present, ascending.
  const std::vector<int>& near() const { return near_; }
  // No larger than the distance of the slot's shapes at the engine's present links.
  // Largest speed of a skin that is not carried by a link: of beams.
  double largest_speed() const;
  // Compliant forces: slots of a pair of beams that are near, as detect() finds them, at the state last given.
  void find_beams(int pair, double reach, std::vector<int>& slots);
  // Gap and rates of a slot that find_beams() gave, at the places it found.
  void evaluate_found(int slot);
  // Elements of beams that the slot's rows depend on (BeamTouch::elements), appended.
  void elements(int slot, std::vector<int>& out) const;
  double distance_bound(int slot) const {
    return broad_.distance_bound(engine_, contacts_->pair_of_slot[static_cast<std::size_t>(slot)]);
  }
  // Gap and rates, and with `accelerations` the biases, of one slot at the engine's present links.
  void evaluate(int slot, bool accelerations);
  // The same with the feature that the slot's branch names, whether or not it is the nearest here.
  void evaluate_on_branch(int slot);
  // As evaluate(), but where nothing is touched any more, on the continuation of `feature`: a step that goes beyond the
  // end of an edge has values until the event that ends it is found.
  void evaluate_held(int slot, int feature, bool accelerations);
  // Derivatives at the engine's present links with the given generalized accelerations in them (Engine::observe(s,
  // &a)), of slots between shapes.
  void tangent(int slot, SlotTangent& out);
  // The first `count` rows of a slot, whatever carries it, under the forces r; with their second rates at the
  // accelerations a, null: without. After Engine::tangents() at the same state. Of a compliant slot of beams without
  // second rates; r is then the law's force, of which the slot's measure acts.
  void rows(int slot, int count, const double* r, const Vec* a, Rows& out);

  // Partial derivatives by time of a row written in coordinates: its column, rate and bias.
  struct TimeTangent {
    Vec column;
    double rate = 0, bias = 0;
  };
  void by_time(int slot, int component, TimeTangent& out) const;

  // The state whose coordinates the contacts written in them are evaluated at; detect() sets it too.
  void at(const State& s);

  const SlotState& operator[](int slot) const { return state_[static_cast<std::size_t>(slot)]; }
  // Positions are followed step by step: what detect() saw last becomes what the next steps continue.
  void follow();
  void accept();
  Branch& branch(int slot) { return branch_[static_cast<std::size_t>(slot)]; }

  // out (nv numbers) = W column k of the slot: 0 normal, 1 and 2 tangents, 3 to 5 torques about n, t1, t2.
  void column(int slot, int k, double* out) const;
  // The part of it that belongs to one tree, added to tau, which starts at the tree's first velocity.
  void add_column(int slot, int k, int tree, double* tau);
  // Of beams: factor times the column added to out (nv numbers).
  void add_beam_force(int slot, int k, double factor, double* out) const;
  // Wrenches of a force with components along n, t1, t2.
  void wrenches(int slot, const Vec3& r, std::vector<Engine::LinkWrench>& out) const;

 private:
  std::shared_ptr<const ContactSystem> contacts_;
  Engine& engine_;
  BroadPhase broad_;
  std::vector<SlotState> state_;
  std::vector<int> pairs_, near_,
      touched_;  // pairs and slots of the last detection; slots evaluated since the one before
  std::vector<char> is_touched_;
  std::vector<std::unique_ptr<BeamTouch>> beams_;  // a pair each; null: no beams
  std::vector<int> beam_slots_;
  std::vector<Branch> branch_;

  void mark(int slot);
  BeamTouch& beams_of(int slot) const {
    return *beams_[static_cast<std::size_t>(contacts_->pair_of_slot[static_cast<std::size_t>(slot)])];
  }
  void evaluate_beams(int slot, const PairInstance& pair, bool accelerations);
  // Value, rate and bias of a row written in coordinates, and its gradient by velocity index.
  struct CoordinateValue {
    double value, rate, bias;
  };
  CoordinateValue coordinate(const CoordinateRow& row, double* gradient) const;
  void coordinate_rows(const PairInstance& pair, int count, const double* r, const Vec* a, Rows& out) const;
  LinkCarrier carrier_;
  SlotTangent tangent_;
  State state_at_;
  bool any_coordinates_ = false;
  Vec gradient_;
};

}  // namespace clatter::contact
