// ContactDynamics: the equations of a model during a phase of constant contact state (P-22, P-23).
//
// Closed contacts add rows to the engine's constraints: gap = 0 for each of them, and slip = 0 in one or two directions
// for those that stick. A sliding contact pushes along its normal and drags against its slip,
//
//   M a = h + G^T lambda + W_N r_N + W_T r_T,     r_T = -mu(|slip|) r_N slip / |slip|     (sliding)
//
// so its force direction D = W_N - mu W_T d differs from its row: A = W^T response(D) is unsymmetric. Rows in order:
// the engine's holonomic ones, normals, the engine's non-holonomic ones, sticking directions. Compliant contacts are
// applied forces (CompliantForces). Power channels after the engine's: friction, impacts and compliant losses of each
// group.
//
// Friction rows (friction_rows.hpp): sticking ones are rows after the contacts' sticking directions, sliding moments of
// contacts turn the force direction of their normal like sliding contacts do. Sliding joints push with forces l_j along
// their columns w_j whose sizes follow from the multipliers they change (friction_dynamics.cpp),
//
//   M a = h + G^T lambda + ... - sum_j l_j w_j,    l_j = base_j + mu_j N_j(lambda)
//
// Event functions, all positive while the phase lasts: gap of open slots, r_N of closed ones, slip along its direction
// of sliding ones, mu r_N - |r_T| of sticking ones (P-20); the contact starts by its gap and ends by its force.
// Friction rows have the last two; det(1 - mu dN/dl) of sliding joints that load themselves is positive until they jam.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "contact/compliant.hpp"
#include "contact/contacts.hpp"
#include "contact/friction_rows.hpp"
#include "contact/passage_watch.hpp"
#include "solve/least_norm.hpp"

namespace clatter::contact {

struct ActiveContact {
  int slot = -1;
  Mode mode = Mode::slide;
  double direction[2] = {1, 0};  // of slip along t1, t2, a unit vector; planar: +-1, 0
  int feature = -1;              // of the second shape, where the phase began
};

// What ends a phase: an open contact closes, a closed one lifts off, slip comes to rest, a sticking one begins to slip,
// the point of contact passes an edge, sliding friction jams the contact (Painleve: A of P-23 is about to lose its
// sign).
enum class ContactEvent : std::uint8_t { touch, lift, stop, slip, feature, jam };

inline bool same_state(const State& a, const State& b) {
  return a.t == b.t && a.q.size() == b.q.size() && a.v.size() == b.v.size() && a.z.size() == b.z.size() && a.q == b.q &&
         a.v == b.v && a.z == b.z;
}

class ContactDynamics : public Dynamics {
 public:
  ContactDynamics(std::shared_ptr<const ContactSystem> contacts, Engine& engine);

  // Begins a phase. Sizes change: integrators made before must not be used any more.
  // Friction rows not named transmit nothing; with smoothed friction all joints take part, whatever is named.
  void set_active(std::vector<ActiveContact> active, const State& s, std::vector<ActiveFriction> frictions = {});
  const std::vector<ActiveContact>& active() const { return active_; }
  const std::vector<ActiveFriction>& active_frictions() const { return active_frictions_; }
  FrictionRows& frictions() { return frictions_; }
  Contacts& contacts() {
    solved_.known = false;  // whoever asks may evaluate them elsewhere
    return contacts_;
  }
  Engine& engine() { return engine_; }
  CompliantForces& compliant() { return compliant_; }
  const ContactSystem& system() const { return contacts_.system(); }

  // Event functions are watched between the looks at them, from the next phase on.
  PassageWatch& watch_passages();
  void watch_only(std::span<const std::size_t> pairs);  // PassageWatch::watch_only, at states seen before too

  // Accelerations without any rigid contact; leaves the engine ready for response(). lambda: the engine's rows.
  void free_accelerations(const State& s, Vec& a, Vec& lambda, Vec& zdot);
  const State& engine_state(const State& s);  // without the compliant contacts' inner states
  // Forces (r_N, r_1, r_2) of active contact i for the multipliers of this phase, at the state last given to
  // accelerations().
  Vec3 force(int i, const Vec& lambda) const;
  // Takes the present directions of slip of sliding contacts as those of the next step: one that turns by more than a
  // right angle within a step has passed through rest. After an accepted step, at the engine's present links.
  void remember_slip();
  bool slip_has_stopped(int slot) const;
  bool friction_has_stopped(int friction) const;
  // Force of active friction row i along its slips, and the limit that holds for it: at rest of those that stick.
  void friction_force(int i, const Vec& lambda, double f[2]);
  double friction_limit(int i, const Vec& lambda);
  // Which slot and what an event of this phase is about; slot -1: not a contact's.
  struct EventInfo {
    int slot = -1;
    ContactEvent kind = ContactEvent::touch;
    int friction = -1;  // a friction row's event
  };
  EventInfo event_info(int index) const;
  int friction_channel(int group) const { return engine_.sizes().np + 2 * group; }
  int impact_channel(int group) const { return engine_.sizes().np + 2 * group + 1; }
  int joint_channel(int friction) const;  // of a joint's friction
  int row_of_engine(int r) const { return r < engine_.sizes().nh ? r : r + normals_; }

  const Sizes& sizes() const override { return sizes_; }
  std::span<const int> rotation_blocks() const override { return engine_.rotation_blocks(); }
  void plus(const Vec& q, const Vec& delta, Vec& q_out) const override { engine_.plus(q, delta, q_out); }
  void minus(const Vec& q1, const Vec& q0, Vec& delta) const override { engine_.minus(q1, q0, delta); }
  void accelerations(const State& s, Vec& a, Vec& lambda, Vec& zdot) override;
  // Of the mechanism: rows of contacts come and go, and depend on each other wherever bodies lie on several points.
  double constraint_sine() const override { return engine_.constraint_sine(); }
  std::vector<std::string> nearly_dependent() const override { return engine_.nearly_dependent(); }
  void residual(const State& s, const Vec& a, const Vec& lambda, Vec& r, Vec& zdot) override;
  void constraints(const State& s, Vec& phi, Vec& velocity_residual) override;
  void constraint_forces(const State& s, const Vec& lambda, Vec& f) override;
  void least_correction(const State& s, const Vec& b, bool positions, Vec& delta) override;
  const Tangents& tangent_layout() const override;
  void tangents(const State& s, const Vec& a, const Vec& lambda, Tangents& out) override;
  // d(M a - h - N^T lambda)/dt and d(G a + gamma)/dt at fixed q, v, z, a, lambda.
  void time_tangent(const State& s, const Vec& a, const Vec& lambda, Vec& r_t, Vec& gamma_t);
  double stored_energy(const State& s) override;
  void powers(const State& s, const Vec& a, const Vec& lambda, Vec& p) override;
  void events(const State& s, Vec& g) override;
  std::string event_name(int index) const override;
  std::string row_name(int row) const override;
  std::string velocity_name(int index) const override { return engine_.velocity_name(index); }
  void scales(Vec& u_scale, Vec& v_scale, Vec& z_scale) const override;

 private:
  struct Row {
    int contact, component;  // into active_; 0 normal, 1 and 2 tangents
    int index;               // among all rows
    int friction = -1;       // into active_frictions_, component 0 or 1; contact is -1
  };

  void split(const Vec& lambda);  // engine's multipliers to of_engine_, contact forces to problem_
  // Kinematics, columns W and force directions D of the active contacts at the engine's present links.
  void columns(bool accelerations);
  // Slip direction and mu of a sliding contact.
  double sliding(const ActiveContact& c, double direction[2]) const;
  // Whether friction follows the direction of slip (space), or keeps the one it had.
  bool turns_with_slip(const ActiveContact& c) const;
  bool frictional(int slot) const;
  void apply_compliant(const State& s);
  // Patterns for what touches here: those that `out` has, or larger ones.
  void grow_layout(Tangents& out);
  std::unique_ptr<Tangents> make_layout(bool couplings) const;
  void add_contact_tangents(int i, const Vec& a, const Vec& lambda, Tangents& out);
  void solve_rows(int rows, Vec& x);  // A_ x = x over the first rows, least norm
  void share_friction();
  double watched_gap(int slot, int& pair, bool& far);
  const std::vector<int>& path(int link) const;

  // friction_dynamics.cpp
  void set_frictions(std::vector<ActiveFriction> frictions);
  bool slides_in_joint(const ActiveFriction& f) const { return f.mode == Mode::slide && f.index < frictions_.joints(); }
  // What the slip's direction is multiplied with: d of size one, smaller where friction is smoothed. Returns |slip|.
  double friction_direction(const ActiveFriction& f, double d[2]) const;
  int normal_of(int slot) const;  // its place in active_
  void friction_columns();
  void respond_to_sliding();  // what the columns of sliding joints cause
  // Sizes of the forces of sliding joints; a and of_engine_.lambda hold the motion without them.
  void solve_frictions(Vec& a, Vec& row_forces);
  void add_sliding(Vec& r);  // r += sum l_j w_j at the multipliers of_engine_.lambda
  void add_friction_tangents(const Vec& lambda, Tangents& out);
  void friction_events(const Vec& lambda, Vec& g, int& at);
  int friction_event_count() const;

  Contacts contacts_;
  Engine& engine_;
  CompliantForces compliant_;
  FrictionRows frictions_;
  std::vector<ActiveFriction> active_frictions_;
  struct SlidingJoints {    // friction_dynamics.cpp
    std::vector<int> list;  // into active_frictions_
    bool load_themselves = false;
    double jam = 1;   // det(1 - mu dN/dl) as last solved
    int jamming = 0;  // into active_frictions_: the one nearest to it
    Mat W, X, Mu, R, Lambda, J;
    Vec limit, residual, lambda;
    std::vector<std::pair<int, double>> gradient;
  };
  SlidingJoints sliding_;
  std::vector<ActiveContact> active_;
  std::vector<Row> rows_;  // normals, then sticking directions
  int normals_ = 0;
  Sizes sizes_;
  std::vector<int> watched_;  // open rigid slots
  std::unique_ptr<PassageWatch> watch_;
  std::vector<Engine::LinkWrench> wrenches_;
  // Per slot, of those closed when the phase began: the speed of approach below which the gap means nothing; else -1.
  std::vector<double> slowest_approach_;
  struct RowProblem {  // of the rows of contacts and sticking friction: A r = rhs, A = W^T X, X = response(D)
    Mat W, D, X, Mu, A;
    Vec rhs, force, column;
    LeastNorm qr;
    Vec weight, groups;
    Mat weighted;
  };
  RowProblem problem_;
  struct OfEngine {  // its own part of what is asked for
    Vec lambda, zdot, phi, velocity, p, g, b, r;
    State state;
  };
  OfEngine of_engine_;
  // Accelerations and events are asked for at the same state more than once in a step (end of a step, looks for
  // events). `solved_`: the contacts, W, D, X and A are still those of the accelerations last found.
  struct Solved {
    bool known = false;
    State at;
    Vec a, lambda, zdot;
  };
  Solved solved_;
  struct Looked {
    bool known = false;
    State at;
    Vec g;
  };
  Looked looked_;
  std::vector<int> columns_;
  Rows contact_rows_;
  struct Layouts {
    std::unique_ptr<Tangents> start, grown;  // without and with the couplings of beams; null: not made yet
    std::vector<std::unique_ptr<BeamCouplings>> couplings;  // a pair each; null: no beams
    std::unique_ptr<Tangents> of_engine;
  };
  mutable Layouts layouts_;
};

}  // namespace clatter::contact
