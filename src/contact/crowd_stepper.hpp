// CrowdStepper: time stepping for crowds, thousands of rigid contacts by cone complementarity (Y-28, Y-32).
//
//   detect at q_l, with reach of at least what moves in a step (T-9)
//   v_free = v_l + h a(q_l, v_l),   b = gap / h on normal rows (what is open may close by that much), e n.u- where a
//                                   contact collides with restitution e
//   impulses P by the CrowdProblem; v_{l+1} = v_free + M^-1 D P,  q_{l+1} = q_l (+) h v_{l+1}
//
// No impact is done by halves (strike.hpp): what strikes without restitution has b = 0, what waits has no row, and
// positions are found apart (crowd_landing.cpp). The relaxed law stays as Y-28 has it: its sliding contacts carry at
// gaps of h mu |slip|, so that gaps do not tell there what touches.
//
// Free motion, joints, forces and drives are the engine's; contacts between free bodies never see it. Semi-implicit
// Euler: first order, with its own loss of energy in free flight (the ledger's remainder).
//
// Contacts that the begin does not show are found at the end and solved for (crowd_second_look.cpp). Contacts bring no
// energy in, however well the step is solved (crowd_budget.cpp). What is still too deep at the end is pushed out by
// positions alone, as far as the energy lost in the step pays for the lift (crowd_push.cpp).
//
// A contact with rolling or drilling friction transmits a moment (crowd_turn.hpp), in steps in which it does not
// collide.
//
// What sweeps or gradients do not bring to the tolerance goes on by Newton's method, island by island; what is not
// solved then is counted with its name (crowd_escalation.cpp).
//
// Contacts in coordinates, beams on beams and friction in joints are rows with sides of their own (crowd_slots.cpp),
// compliant contacts forces at the begin of the step.
//
// Impulses are remembered by their shapes and places and start the next step. A checkpoint has room for twelve a body;
// refresh() forgets what goes beyond.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "contact/certificate.hpp"
#include "contact/contact_counts.hpp"
#include "contact/contact_dynamics.hpp"
#include "contact/contact_sample.hpp"
#include "contact/crowd_log.hpp"
#include "contact/crowd_memory.hpp"
#include "contact/crowd_pairs.hpp"
#include "contact/crowd_search.hpp"
#include "contact/overlap.hpp"
#include "contact/unsolved.hpp"
#include "impulse/crowd_newton.hpp"
#include "impulse/crowd_part.hpp"
#include "impulse/crowd_solver.hpp"
#include "impulse/impact.hpp"
#include "impulse/push_sweeps.hpp"
#include "integrate/integrator.hpp"

namespace clatter::contact {

// Penetration below this part of the smaller shape is left alone: what rests need not be lifted for rounding.
constexpr double kSlop = 1e-5;
// What is deeper than this part of the smaller shape at the end of a step is mended (where the tolerance of the rates
// allows more in a step, what is deeper than that).
constexpr double kDeep = 3e-5;
// Newton's iterations of an island, unless the model says so.
constexpr int kNewtonIterations = 400;

// What an entry of `contacts:` does in the last step.
struct CrowdEntryState {
  double gap = 0;  // smallest at the begin of the step
  int touching = 0;
  double normal_force = 0;
  Vec3 force = Vec3::Zero();  // sum on the first shapes, world axes
  Vec3 point = Vec3::Zero();  // where most presses
  double most = 0;            // what presses there
  int row = -1;               // of the problem: that point's
  bool planar = false;
  Vec3 friction = Vec3::Zero();  // sum of the tangential forces
  double along = 0;              // in the plane: along the tangents
  void begin(double smallest_gap) {
    const bool was_planar = planar;
    *this = {};
    gap = smallest_gap;
    planar = was_planar;
  }
};

struct CrowdTimes {
  double free_motion = 0, detection = 0, assembly = 0, solution = 0, rest = 0;
};

class CrowdStepper final : public Integrator {
 public:
  CrowdStepper(ContactDynamics& dynamics, const IntegratorSettings& settings);

  const Certificate& certificate() const { return proof_.worst; }
  const Certificate& last_certificate() const { return proof_.last; }
  const CrowdResidual& residual() const { return proof_.last_residual; }
  const CrowdResidual& worst_residual() const { return proof_.worst_residual; }
  const UnsolvedSteps& unsolved() const { return proof_.unsolved; }  // of the run
  long escalations() const { return effort_.escalations; }           // islands that went on by Newton's method
  long exact_pushes() const { return effort_.exact_pushes; }         // of positions by Newton's method
  const ContactCounts& counts() const { return effort_.counts; }
  const CrowdTimes& times() const { return effort_.times; }
  long sweeps() const { return effort_.sweeps; }
  long pushes() const { return effort_.pushes; }        // of positions
  long looks() const { return effort_.looks; }          // solutions with contacts that the begin of a step did not show
  double stored_energy() const { return energy_.now; }  // after the last step
  int touching() const { return effort_.touching; }     // rows with an impulse in the last step
  int rows() const { return static_cast<int>(problem_.rows.size()); }
  const CrowdNewton::Counts& newton_counts() const { return solvers_.newton.counts(); }
  const std::vector<CrowdEntryState>& entries() const { return entries_.now; }
  // Slots and friction rows (crowd_slots.cpp) that took part in the last step.
  std::span<const ContactSample> contact_samples() const { return slots_.samples; }
  std::span<const FrictionSample> friction_samples() const { return slots_.frictions; }
  // crowd_pairs.cpp: a pair of shapes at the engine's present links; of an entry what moves where most presses.
  CrowdPairState observe_pair(int shape1, int shape2);
  CrowdPairState leading(int entry) const;
  // Overlaps of a start, taken back by pushes (overlap.hpp). To be called before the motion starts.
  StartOverlap clear_start(State& s);
  // Deepest penetration at the present state, metres, positive.
  double penetration();
  void refresh() override { memory_.keep(room()); }
  void describe_step(std::vector<StepEvent>& out) const override { log_.describe(out); }

 protected:
  bool attempt(double t1) override;
  void accept() override;
  void dense(double theta, State& out) override;
  void dense_work(double theta, Vec& W) override;
  void started() override;
  void exchange(Archive& archive) override;
  bool remembers_derivative() const override { return true; }

 private:
  struct RowOrigin {   // what a row is about
    int entry, point;  // point of the search, or ~k: rope k, then slots, then friction rows; entry -1: of a joint
    int link1, link2;
    std::uint64_t key;
    Vec3 place;
    double gap, before;
    double way, free;  // b of positions: the gap closes by that much at most; its rate without impulses
    Vec3 u_begin, u_free;
    bool impact, closed, lands;
    bool driven;  // its surfaces move by themselves
  };
  struct Meeting {  // of a row whose sides are known
    int entry = -1, point = -1, link1 = -1, link2 = -1;
    std::uint64_t key = 0;
    double gap = 0, size = 0;  // of the smaller shape
    Vec3 place = Vec3::Zero(), u_begin = Vec3::Zero();
    Vec3 moving = Vec3::Zero();  // rates that the surfaces have by themselves
  };
  struct Waiting {  // contact that collides in the next step; b as `way`
    CrowdRow row;
    int entry;
  };
  struct Turned {  // of its moment: spins before the step and without impulses
    Vec3 w_begin, w_free;
  };
  struct Place {
    int body = 0;    // 0: the ground
    int group = -1;  // >= 0: velocities that answer together
  };
  struct Group {
    std::vector<std::pair<int, int>> ranges;  // velocities: first, number
    int first = 0, n = 0;                     // in the problem's x
    int tree = -1;                            // the only one, without rows
  };
  const ContactSystem& system() const { return contact_.system(); }
  std::size_t room() const { return 64 + 12 * nodes_.bodies.size(); }
  void place_links();
  void place_ropes(std::vector<char>& used);
  void gather(double h);
  void collect(double h);
  // Rows of a chunk of the points, before they are put in order.
  struct Draft {
    std::vector<CrowdRow> rows;
    std::vector<RowOrigin> about;
    std::vector<CrowdTurn> turns;  // beside rows, in crowds that know moments
    std::vector<Turned> turned;
    std::vector<Vec3> shifts;  // beside rows, in crowds that know them
    std::vector<Waiting> waiting;
    std::vector<int> block, jointed;  // of rows; points with sides in jointed trees, left for later
    std::vector<double> gaps;         // smallest, by entry
    int count[CrowdProblem::grounds + 1], begin_of_block[CrowdProblem::grounds + 1];
    double deepest = 0;
    bool may_wait = true;
    void begin(std::size_t entries, double reach) {
      rows.clear();
      about.clear();
      turns.clear();
      turned.clear();
      shifts.clear();
      may_wait = true;
      waiting.clear();
      jointed.clear();
      gaps.assign(entries, reach);
      deepest = 0;
    }
    void drop_last() {
      rows.pop_back();
      about.pop_back();
      if (!shifts.empty()) shifts.pop_back();
      if (turns.empty()) return;
      turns.pop_back();
      turned.pop_back();
    }
  };
  bool coupled(int link) const;
  bool make_row(Draft& draft, int entry, int point, std::uint64_t key, int link1, int link2, const Vec3& p1,
                const Vec3& p2, const Vec3& n, double gap, double size, const RigidContact& law, double h);
  bool within_reach(double gap, double rate, double h) const;
  bool add_laws(Draft& draft, const Meeting& m, const RigidContact& law, double h);
  void row_of_point(Draft& draft, int index, double h);
  void row_of_rope(Draft& draft, int index, double h);
  int side_of(CrowdProblem& problem, int link, const Vec3& arm);
  int columns_of(CrowdProblem& problem, int link, const Vec3 F[3], const Vec3 N[3]);
  void cut_into_blocks(std::size_t points);
  int block_between(int side1, int side2) const;
  void count_blocks(Draft& draft) const;
  void join_drafts(int drafts);
  void velocities(Vec& v) const;
  void solve(double tolerance, int most);
  void book(double h);
  void note_events(double h);
  Mode mode_of(std::size_t i) const;
  // crowd_slots.cpp
  using PushSlot = std::function<void(int entry, int side1, int side2, double gap)>;
  void begin_slots();
  void use_slots(std::vector<char>& used, std::vector<char>& grouped) const;
  int slot_of(const RowOrigin& c) const;      // -1: none
  int friction_of(const RowOrigin& c) const;  // -1: none
  int generalized_side(CrowdProblem& problem, int group, double sign);
  CrowdRow generalized_row(CrowdProblem& problem, int link1, int link2);
  void columns_of_slot(int slot, bool normal_only);
  void rows_of_slots(Draft& draft, double h);
  void row_of_slot(Draft& draft, int slot, double h);
  void row_of_friction(Draft& draft, int index, double h);
  double joint_limit(int friction, const Vec& lambda);
  void find_reactions();
  void solve_with_limits(double h, double tolerance, int most);
  [[noreturn]] void joints_jam() const;
  void book_slot(std::size_t i, double h);
  double deepest_slot();
  double size_of_slots() const;
  void push_slots(const PushSlot& add);
  void settle_compliant();
  void note_compliant_events();
  // crowd_impacts.cpp
  const RigidContact& law_of(const RowOrigin& c) const;
  static bool needs_two_phases(const RigidContact& law);  // or what else Moreau's law has not
  int tangents_of(std::size_t i, Vec3 t[2]) const;
  void find_impacts(double h);
  void collide(const std::vector<int>& rows, double h);
  void aim(std::size_t i, const ImpactContact& c, double h);
  Vec3 moving_of(std::size_t i) const;
  // crowd_turning.cpp
  void make_turn(Draft& draft, const RigidContact& law, const CrowdMemory::Entry* last);
  Vec3 begin_spin(int link) const;
  double moment_power(std::size_t i) const;  // M . w of a row
  void find_free_spins();
  // crowd_escalation.cpp
  struct OpenIsland {
    double goal = 0, off = 0, fastest = 0;  // m/s
    int worst = -1;                         // row
    int end = 0;                            // of its rows in graph_.open_rows
  };
  void join_islands(bool carrying);
  std::size_t root_of_row(std::size_t i);
  void find_open_islands();
  void gather_open_rows();
  void solve_to_goal(double tolerance, int most);
  void escalate(double aim);
  void solve_part(double tolerance, int most);
  void judge();
  // crowd_budget.cpp
  int node_of(int link) const;
  int island_of(int link);  // its root; -1: the ground
  double impact_energy(const CrowdProblem& part, std::span<const int> of_rows) const;
  bool bounces(std::size_t i) const;  // carries, and gives back what it struck with
  void forbid_gain(double tolerance, int most);
  void take_part_of_bounce(double s);
  void settle_energy(bool bouncing);
  // crowd_second_look.cpp
  bool only_balls() const { return problem_.balls && nodes_.groups.empty() && ropes_.empty(); }
  double smaller_of(const CrowdPoint& p) const;
  void measure_links();
  void measure_ways(double h, const Vec& v);
  void find_at_end(double reach, bool deep);
  double most_depth(double size) const;
  bool anything_deep();
  void keep_missed();
  bool is_known(const CrowdPoint& end, const Draft& added, double h) const;
  bool add_missed(double h, double tolerance);
  // crowd_landing.cpp
  double closing_rate(const CrowdRow& row) const;
  double moving_rate(std::size_t i) const;  // along the normal, of surfaces by themselves
  void count_carrying();
  int carrying(int link) const;
  void land(double h);
  // crowd_push.cpp
  StartOverlap start_overlap() const;  // of the points of the search
  bool too_deep(bool ropes);
  double find_push(double h, double most_answers, bool exactly);
  void add_push(Vec& v) const;
  bool move(double h);  // false: a rotation beyond what a step may have
  Vec3 begin_velocity(int link, const Vec3& arm) const;

  ContactDynamics& contact_;
  Engine& engine_;
  const CrowdModel& crowd_;
  CrowdSearch search_, again_;  // at the begin, at the end
  CrowdProblem problem_;
  WorkerPool pool_;
  struct Solvers {
    explicit Solvers(WorkerPool& pool)
        : push(pool), sweeps(pool), gradients(sweeps), newton(sweeps), push_newton(sweeps) {}
    PushSweeps push;
    CrowdSweeps sweeps;
    CrowdGradients gradients;
    CrowdNewton newton, push_newton;
  };
  Solvers solvers_;
  CrowdMemory memory_;
  CrowdLog log_;
  struct Nodes {
    std::vector<Place> places;  // by link
    std::vector<Group> groups;
    std::vector<int> bodies;    // links of the bodies 1, 2, ...
    std::vector<char> round;    // by body: moments of inertia all alike
    std::vector<char> is_ball;  // by shape: a ball about its body's mass centre, of equal moments of inertia
  };
  Nodes nodes_;
  struct Laws {
    bool turning = false;   // some have rolling or drilling friction
    bool shifting = false;  // some have tangential restitution, or something moves by itself
  };
  Laws laws_;
  struct Assembly {
    std::vector<Draft> drafts;
    std::vector<RowOrigin> origins;  // of the problem's rows
    std::vector<Turned> turned;      // beside the problem's turns
    std::vector<Waiting> waiting;
  };
  Assembly assembly_;
  struct Slots {
    bool any = false;  // rigid ones
    int friction_rows = 0;
    Mat columns;  // W of the slot or friction row at hand: n, t1, t2
    std::vector<ContactSample> samples, samples_trial;
    std::vector<FrictionSample> frictions, frictions_trial;
    std::vector<std::size_t> loaded;  // rows of friction whose limits follow reactions
    Vec now, next, lambda, events;
    std::vector<int> fired;
    std::vector<Engine::LinkWrench> wrenches;
  };
  Slots slots_;
  struct Blocks {  // slabs that threads sweep apart
    std::vector<double> along, sorted;
    std::vector<int> of_body;
    int count = 0;
  };
  Blocks blocks_;
  struct Entries {
    std::vector<CrowdEntryState> now, trial;
  };
  Entries entries_;
  struct Island {  // P . u+, P . (u+ + u-), P^T N P of its contacts; what remains of their impulses
    double gain = 0, middle = 0, square = 0, part = 1;
    bool bounces = false;
    bool driven = false;  // something moves by itself: it may bring energy in
  };
  struct Graph {
    std::vector<int> parent;
    std::vector<int> carrying;  // by node
    std::vector<Island> islands;
    std::vector<OpenIsland> open;  // by root
    std::vector<int> open_rows;
  };
  Graph graph_;
  CrowdPart part_;
  struct Gain {         // that the law of impacts would have brought in
    int row;            // of its largest impulse
    double gain, part;  // part of the bounce that brings none
  };
  struct Bounce {
    CrowdProblem with, without;  // of part_
    std::vector<Gain> gains;
  };
  Bounce bounce_;
  struct Impacts {
    bool any = false;  // some law is not Moreau's
    ImpactSolver solver;
    ImpactProblem problem;
    ImpactResult result;
    std::vector<Vec3> along;                // of its rows
    std::vector<std::vector<int>> islands;  // rows that take part, by root
    std::vector<Gain> gains;                // gain 0: its impulses were not found
  };
  Impacts impacts_;
  struct FreeMotion {  // without impulses
    std::vector<CrowdBody> bodies;
    std::vector<double> x;
    Vec a, zdot, lambda, v;
  };
  FreeMotion free_;
  struct Missed {
    CrowdPoint end;
    Vec3 r1, r2;  // its material points from the mass centres, link axes (ground: world)
  };
  struct SecondLook {
    std::vector<Missed> missed;
    std::vector<std::pair<std::uint64_t, int>> point_of_key,
        row_of_key;                     // of the search at the begin, of assembly_.origins
    std::vector<double> extent, moved;  // by link
  };
  SecondLook look_;
  struct Ending {  // where positions go beside what velocities say
    Vec v_land, v_move;
    int landed_entry = -1;  // of what struck most; -1: positions follow the velocities
    int push_entry = 0;     // of the deepest that was pushed
    bool unpaid = false;    // the push would have lifted more than the step pays for
    double answers = 0;     // of a row in the solution of the step
    double allowed = 0;     // depth that the tolerance of the rates allows in a step
  };
  Ending ending_;
  struct RopeEnds {
    int link1 = -1, link2 = -1;
    Vec3 r1, r2;  // from the mass centres, link axes (ground: world)
  };
  std::vector<RopeEnds> ropes_;
  struct RopeState {
    Vec3 p1, p2, n;
    double distance, gap;
  };
  RopeState rope_state(const RopeEnds& ends, double length) const;  // at the engine's present links
  struct Proof {
    Certificate worst, last, step;
    CrowdResidual worst_residual, last_residual, step_residual;
    UnsolvedSteps unsolved, step_unsolved;
  };
  Proof proof_;
  struct Effort {
    ContactCounts counts;
    CrowdTimes times;
    long escalations = 0, exact_pushes = 0, sweeps = 0, pushes = 0, looks = 0;
    int touching = 0;
  };
  Effort effort_;
  struct Speeds {
    double change = 0, fastest = 0, reach = 0;
  };
  Speeds speeds_;
  struct Scratch {
    Vec column, answer, mu, p, u1;
  };
  Scratch scratch_;
  struct DenseOutput {
    State base, mid;
    Vec u, v_begin, v_end, W_base, W_end;
  };
  DenseOutput dense_;
  struct Energy {
    double now = 0, trial = 0;
    bool known = false;
  };
  Energy energy_;
};

}  // namespace clatter::contact
