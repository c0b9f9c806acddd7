// StepProblem: the contact problem of one step in the present position,
//
//   y = b + W^T x,   x = factor X r,   r in K(r), -y in the normal cone of K(r) at r
//
// X = response of the jointed bodies to the columns W of the contacts: by the engine's mass (Engine::response), or by a
// StepMatrix. Bodies that no joint or force couples do not feel each other: columns are stored over groups of
// velocities that answer together, and nothing of the size contacts x contacts is formed. Contacts that share no group,
// directly or through others, are solved apart (islands), each by Newton's method in the space of velocities
// (step_newton.cpp) with a sparse factorisation over the graph of bodies that touch, and sweeps over the contacts
// between its attempts; where these fail and rows are few, by the dense methods of ContactSolver. Whatever the method,
// the residual of the natural map decides.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "contact/contacts.hpp"
#include "contact/friction_rows.hpp"
#include "contact/step_matrix.hpp"
#include "impulse/block_cone.hpp"
#include "solve/block_lu.hpp"
#include "solve/contact_solver.hpp"

namespace clatter::contact {

class StepProblem {
 public:
  struct Item {
    int slot = -1;
    BlockCone cone;
    Vec3 b = Vec3::Zero();
    Vec3 r = Vec3::Zero();       // start of the solver, then its result
    Vec3 relief = Vec3::Zero();  // what b may be changed by where the problem as it stands has no solution
    int friction = -1;           // a friction row instead of a slot
    int rows() const { return cone.rows(); }
  };
  struct Report {
    bool solved = true;
    double complementarity = 0, violation = 0;
    void take(const Report& other);  // the worse of each
  };
  // Natural map, by the largest rate of the island, at which it counts as solved.
  static constexpr double solved_to = 1e-9;
  // What the solvers did since it was last cleared.
  struct Counts {
    long newton = 0, factorisations = 0, sweeps = 0, dense = 0;
  };

  StepProblem(Contacts& contacts, FrictionRows& frictions);

  // Starts a problem at the engine's present response. `matrix`: null for the engine's mass.
  void begin(StepMatrix* matrix);
  // Adds a contact with its columns. Its slot must be evaluated.
  Item& add(int slot, const BlockCone& cone);
  // The same for a friction row, evaluated.
  Item& add_friction(int friction, const BlockCone& cone);
  int size() const { return static_cast<int>(items_.size()); }
  Item& operator[](int i) { return items_[static_cast<std::size_t>(i)]; }
  const Item& operator[](int i) const { return items_[static_cast<std::size_t>(i)]; }

  // W_k . x of contact i for a vector of velocities.
  double along(int i, int k, const Vec& x) const;
  // Forms X and finds the islands. To be called once, after all contacts were added and before what follows.
  void assemble(double factor);
  int rows() const;

  int islands() const { return static_cast<int>(island_begin_.size()) - 1; }
  std::span<const int> island(int k) const;  // its contacts, ascending
  int island_rows(int k) const;
  bool few_rows(int k) const;          // dense methods are affordable
  int island_velocities(int k) const;  // that the one of its contacts moves which moves most
  // Few contacts of bodies with many velocities (flexible ones): Newton's method, which works on velocities, is the
  // long way, and dense methods come first.
  bool wide(int k) const;
  void matrix(int island, Mat& A) const;  // factor W^T X of an island, rows of its contacts in turn

  // Answers with the r of all items (of an island); throws nothing.
  Report solve();
  Report solve(int island);
  // The nearest answer without friction, rays and lines only, to 1e-6: a minimum, which there always is. Rows that
  // contradict each other share what they cannot have. `roughly`: what a few sweeps bring.
  Report solve_convex(int island, bool roughly);
  // r^T factor W^T X r of an island.
  double quadratic(int island);
  // out = sum of W r, generalized impulses.
  void impulses(Vec& out) const;
  // S x - G^T mu = b, G x = 0 with the matrix of this problem.
  void response(const Vec& b, Vec& x, Vec& mu);

  const Counts& counts() const { return counts_; }

 private:
  struct Group {
    std::vector<std::pair<int, int>> ranges;  // first velocity, number
    int size = 0;
    int first = 0;       // of its velocities when those of all groups follow each other
    int lone_tree = -1;  // the only tree of a group without rows
    int root = -1;       // while islands are found; -1: no contact
    int next_batch = 0;
    int node = -1;  // block row of the matrix of its island
  };
  // Bodies that answer together.
  struct Coupling {
    std::vector<Group> groups;
    std::vector<int> group_of_tree, place_in_group;  // by tree: its group, where its velocities begin in it
  };
  struct Part {
    int group = -1;
    int offset = 0;  // into W_ and X_: rows() columns of the group's size
  };
  struct Job {
    int batch, item, row;
  };

  static void number(const Tree& tree, Coupling& coupling);
  Coupling by_joints() const;
  Coupling by_matrix(const StepMatrix& matrix) const;
  std::vector<Group>& groups() { return coupling_->groups; }
  const std::vector<Group>& groups() const { return coupling_->groups; }
  const Group& group_of(const Part& part) const { return groups()[static_cast<std::size_t>(part.group)]; }
  const std::array<Part, 2>& parts(int i) const { return parts_[static_cast<std::size_t>(i)]; }

  void find_islands();
  void respond(double factor);
  // Over the packed velocities of the groups.
  double along_packed(int i, int k, const double* x) const;
  void add_response(int i, const Vec3& r, double* x) const;
  Vec3 rates(int i, const double* x) const;  // b + W^T x

  Report solve_dense(int island);
  // Natural map of an island at r, relative to the largest rate in it; x is set to X r.
  double natural_residual(std::span<const int> list, const std::vector<Vec3>& r, double* x) const;
  double scale_of(std::span<const int> list) const;
  double energy_of(std::span<const int> list) const;
  // step_newton.cpp
  // `shortly`: one attempt from the start at hand; otherwise all of them.
  Report solve_many(std::span<const int> list, bool shortly);
  double begin_many(std::span<const int> list, bool newton_too);  // from the items' r; its residual
  void gather_nodes(std::span<const int> list);
  double newton(std::span<const int> list, bool shortly, double best);
  bool coupled_newton(std::span<const int> list, double stiffness, double scale, int iterations);
  bool convex_newton(std::span<const int> list, double stiffness, double scale, double enough);
  void newton_direction(std::span<const int> list, double stiffness, bool& regular);
  double take_outer(std::span<const int> list, double& best);
  // F, r1, s and the slopes at x; with the radii of friction given, or the whole law.
  double newton_residual(std::span<const int> list, double stiffness, const double* x, bool given);
  template <class Visit>
  void each_velocity(Visit&& visit) const {
    for (const int g : it_.nodes) {
      const Group& group = groups()[static_cast<std::size_t>(g)];
      for (int j = group.first; j < group.first + group.size; ++j) visit(j);
    }
  }
  void newton_matrix(std::span<const int> list, double stiffness);
  double sweep(std::span<const int> list, int sweeps, double best);

  // Room for the columns of the last item over the groups of two links.
  void make_room(int link1, int link2);

  Contacts& contacts_;
  FrictionRows& frictions_;
  Engine& engine_;
  StepMatrix* matrix_ = nullptr;
  Coupling joints_, stiff_;
  PatternPtr stiff_of_;  // the pattern that stiff_ tells of
  Coupling* coupling_ = nullptr;
  std::vector<Item> items_;
  std::vector<std::array<Part, 2>> parts_;
  std::vector<double> W_, X_;
  std::vector<Mat3> diagonal_;  // factor W_i^T X_i
  std::vector<int> touched_, island_items_, island_begin_, island_of_, row0_;
  std::vector<Job> jobs_;
  Vec column_, answer_;

  // Dense methods, one for each number of rows and, of these, of tangents met: their arrays, and those of the linear
  // problem that the tangents enlarge, fit and stay.
  struct Dense {
    ContactProblem problem;
    ContactSolver solver;
    Vec r, cold;
  };
  std::map<std::pair<int, int>, Dense> dense_;

  // Newton and sweeps: start and result of an outer iteration, best point met, by item.
  struct Iteration {
    std::vector<Vec3> r0, r1, best, before, keep, s, z, u, w;
    std::vector<double> radius;
    std::vector<Mat3> slopes;
    std::vector<Vec3> diagonal_scale;
    Vec x, F, d, trial, weight, lu_x;    // packed; lu_x in the order of lu
    std::vector<int> nodes, node_sizes;  // groups of the island
    BlockLu lu;
  };
  Iteration it_;
  Counts counts_;
};

}  // namespace clatter::contact
