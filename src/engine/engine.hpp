// Engine: one thread's evaluator of a System. Implements Dynamics with linear-time sweeps over the trees and small
// sparse algebra over the constraint rows; never allocates after construction.
//
//   evaluate   links -> frames -> measures -> deformations      (kept while the state stays the same)
//   residual   inertia wrenches - applied wrenches - lambda rows, swept inward:  r = M a - h - G^T lambda
//   index 1    a0 = M^-1 h,  X = M^-1 G^T,  (G X) lambda = -(gamma + G a0),  a = a0 + X lambda
#pragma once

#include <Eigen/SparseCore>
#include <memory>
#include <vector>

#include "base/error.hpp"
#include "engine/system.hpp"
#include "engine/tree_tangent.hpp"
#include "solve/schur_solver.hpp"

namespace clatter {

struct Derivatives;    // exact tangents of an engine's residuals (derivatives.hpp)
class AssemblyMetric;  // how flexible bodies are weighed while a start is found (assembly_metric.hpp)

// What a correction of flexible bodies costs: their masses alone; infinitely much where it deforms them; or their
// masses and, a thousand times them for the softest shape, their stiffness.
enum class Deforming { by_mass, never, by_stiffness };

class Engine : public Dynamics {
 public:
  explicit Engine(std::shared_ptr<const System> system);
  ~Engine() override;

  const System& system() const { return *system_; }

  const Sizes& sizes() const override { return system_->sizes; }
  std::span<const int> rotation_blocks() const override { return system_->tree.rotation_blocks; }
  void plus(const Vec& q, const Vec& delta, Vec& q_out) const override { system_->tree.plus(q, delta, q_out); }
  void minus(const Vec& q1, const Vec& q0, Vec& delta) const override { system_->tree.minus(q1, q0, delta); }
  void accelerations(const State& s, Vec& a, Vec& lambda, Vec& zdot) override;
  double constraint_sine() const override;
  std::vector<std::string> nearly_dependent() const override;
  void residual(const State& s, const Vec& a, const Vec& lambda, Vec& r, Vec& zdot) override;
  void constraints(const State& s, Vec& phi, Vec& velocity_residual) override;
  void constraint_forces(const State& s, const Vec& lambda, Vec& f) override;
  void least_correction(const State& s, const Vec& b, bool positions, Vec& delta) override;
  const Tangents& tangent_layout() const override { return *layout_; }
  void tangents(const State& s, const Vec& a, const Vec& lambda, Tangents& out) override;
  // Partial derivatives by time alone, at fixed q, v, z, a, lambda: of r = M a - h - G^T lambda and of G a + gamma.
  // Loads, formulas and drives that are written in t.
  void time_tangent(const State& s, Vec& r_t, Vec& gamma_t);
  double stored_energy(const State& s) override;
  void powers(const State& s, const Vec& a, const Vec& lambda, Vec& p) override;
  void events(const State& s, Vec& g) override;
  std::string event_name(int index) const override;
  std::string row_name(int row) const override;
  std::string velocity_name(int index) const override;
  void scales(Vec& u_scale, Vec& v_scale, Vec& z_scale) const override;

  // Velocities marked here do not move in least_correction (empty: all may). For consistent initialisation.
  void freeze(std::vector<bool> frozen) { frozen_ = std::move(frozen); }
  // How least_correction weighs flexible bodies from now on (by_mass unless told). Not inside a step: it allocates.
  void weigh(Deforming how);

  // --- for contact ---------------------------------------------------------------------------------------------
  // Further applied wrenches, world axes, at the mass centres of links; they act in every call until set anew.
  struct LinkWrench {
    int link;
    Vec3 F, N;
  };
  // `generalized`: nv further generalized forces, or null.
  void set_external(std::span<const LinkWrench> wrenches, const Vec* generalized = nullptr);
  // Links at s: enough for gaps, rates and columns, but not for their second rates nor for response().
  void place(const State& s) { evaluate(s); }
  // Links at s, with bias accelerations; mass and constraints factored. accelerations() does the same.
  void prepare_response(const State& s);
  // What generalized forces b cause with the joints held: M x - G^T mu = b, G x = 0, at the state last prepared. x may
  // be b; mu (nc numbers) may be null.
  void response(const double* b, double* x, double* mu);
  // The same for one tree that no constraint row touches (response_groups); b and x start at its first velocity.
  void response_tree(int tree, const double* b, double* x);
  // Trees that constraint rows tie together answer as one. Fills, a tree each, the number of its group from 1 on,
  // negative where rows touch the group.
  void response_groups(std::vector<int>& group_of_tree) const;
  // tau += J^T (F, N): generalized forces (nv numbers) of a wrench at the mass centre of a link; nothing for ground.
  void add_generalized(int link, const Vec3& F, const Vec3& N, double* tau) const;
  // The same; tau starts at the first velocity of the link's tree.
  void add_generalized_of_tree(int link, const Vec3& F, const Vec3& N, double* tau) const;
  // Derivative columns of a point of a link, in the order of its path; after tangents().
  void point_columns(int link, const Vec3& at, const Vec3& velocity, TreeTangent::PointColumns& out) const;

  // --- for observers and reports -------------------------------------------------------------------------------
  // Links, frames, measures at s; a frame's acceleration is that of generalized accelerations `a` when given.
  void observe(const State& s, const Vec* a);
  FrameState<double> frame_state(int frame) const;
  MeasureValue<double> measure_value(int measure, const State& s, const double* qdd = nullptr) const;
  const TreeWork& links() const { return work_; }
  struct DeformationValue {
    double e = 0, rate = 0, bias = 0;  // bias: second derivative without generalized accelerations
  };
  DeformationValue deformation_value(const Deformation& d, const State& s) const;
  double stress(const Deformation& d, const State& s) const;
  double kinetic() const { return kinetic_energy(system_->tree, work_); }
  double potential(const State& s) const;  // gravity and springs
  Eigen::SparseMatrix<double, Eigen::RowMajor> constraint_matrix(const State& s);
  const MeasureValue<double>& measure(int index) const { return measures_[index]; }
  void gradient(const Deformation& d, double factors[4]) const { gradient_factors(d, factors); }
  // Friction of joints as the caller knows it, along the slips, two numbers for each of System::joint_frictions: a
  // joint's own force and torque include it.
  void tell_friction(std::span<const double> forces) { friction_.assign(forces.begin(), forces.end()); }
  double friction(std::size_t row, int c) const { return 2 * row < friction_.size() ? friction_[2 * row + c] : 0.0; }
  Vec3 load_value(int index, const State& s) const { return load_vector(system_->loads[index], s); }
  double pressure_value(const FlexibleIndex::Pressure& p, const State& s) const {
    return function_value(p.value, s, 0, 0);
  }

 private:
  friend struct Derivatives;

  // --- evaluation
  void evaluate(const State& s, bool keep = true);  // links, frames, measures
  void evaluate_accelerations(const State& s, const double* qdd);
  void watch(bool all);  // markers of blocks: all, or those that take part in the motion
  SolveError measure_fault(int measure, MeasureFault fault, double t) const;
  double input_value(const FunctionInput& in, const State& s, double e, double de) const;
  double function_value(const CompiledFunction& f, const State& s, double e, double de) const;
  double function_by_time(const CompiledFunction& f, const State& s, double e, double de) const;
  void gradient_factors(const Deformation& d, double factors[4]) const;  // de/dm_k
  void curvature_factors(const Deformation& d, double& fxx, double& fxy, double& fyy) const;
  void curve_third(const Deformation& d, double third[2]) const;  // f_ijk dm_i dm_j of a curve
  void row_value(int row, const State& s, double& phi, double& rate, double& bias) const;
  const Deformation& row_deformation(int row) const;

  // --- forces: applied wrenches on links at mass centres, and on joint coordinates directly
  void apply_forces(const State& s, bool with_gravity = true);
  void add_gradient(const Deformation& d, double factor);
  void wrench_on_frame(int frame, const Vec3& f, const Vec3& n);
  Vec3 load_vector(const CompiledLoad& load, const State& s) const;
  void apply_load(const CompiledLoad& load, const Vec3& f);
  void sweep(Vec& r);
  void inner_rates(const State& s, Vec& zdot) const;

  // --- constraint rows
  void project_path(int link, Vec3 F, Vec3 N, double* tau) const;
  void build_G(int rows);
  void build_schur(int rows, bool correcting = false);
  void solve_schur(int rows, double* b);
  std::span<const double> row_scale() const;

  std::shared_ptr<const System> system_;
  std::unique_ptr<Tangents> layout_;
  TreeWork work_;
  std::vector<int> active_frames_, active_measures_;
  std::vector<FrameState<double>> frames_;
  std::vector<MeasureValue<double>> measures_;
  std::vector<Vec3> F_, N_;  // applied wrenches on links, at mass centres
  Vec tau_;                  // applied generalized forces on joint coordinates directly
  Vec rhs_;
  // Constraint rows as dense segments over the trees they touch.
  struct Segment {
    int row, tree, offset, v0, n;
  };
  std::vector<Segment> segments_;
  std::vector<int> row_begin_;  // segments of row r: [row_begin_[r], row_begin_[r+1])
  std::vector<double> G_, X_;
  struct Pair {
    int first, second, slot;  // segments, and their place in S
  };
  std::vector<Pair> pairs_holonomic_, pairs_all_;
  std::unique_ptr<SparseMatrix<double>> S_holonomic_, S_all_;
  std::unique_ptr<SchurSolver> schur_holonomic_, schur_all_;
  SchurSolver* last_schur_ = nullptr;  // of the last factorisation
  std::vector<int> row_group_;         // rows of one element and one unit share a number
  mutable std::vector<double> row_scale_, group_scale_;
  std::vector<bool> frozen_;
  std::unique_ptr<AssemblyMetric> assembly_;
  std::vector<LinkWrench> external_;
  Vec external_generalized_;  // empty: none
  std::vector<double> friction_;
  std::unique_ptr<Derivatives> derivatives_;
  // What the arrays were last evaluated for.
  State last_;
  bool fresh_ = false;
  bool links_watched_;  // contacts or frictions look at links
  struct Marker {
    int block, link;
  };
  std::vector<Marker> unwatched_;  // markers of blocks that only observers look at
};

}  // namespace clatter
