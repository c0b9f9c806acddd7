// StepProblem: the contact problem of one step, y = A r + b with A = factor W^T X, in the present position.
//
// X = response of the jointed bodies to the columns W of the contacts: by the engine's mass (Engine::response), or by a
// StepMatrix. Bodies that no joint connects do not feel each other: columns are stored over the groups of trees that
// constraint rows tie together (Engine::response_groups), and A in blocks of contacts that share a group. Few rows are
// solved as a dense problem by ContactSolver, many by Newton's method in the space of velocities (step_newton.cpp) and,
// where that fails or velocities are too many, by BlockProx.
#pragma once

#include <Eigen/LU>
#include <array>
#include <vector>

#include "contact/block_prox.hpp"
#include "contact/contacts.hpp"
#include "contact/step_matrix.hpp"
#include "solve/contact_solver.hpp"

namespace clatter::contact {

class StepProblem {
 public:
  struct Item {
    int slot = -1;
    BlockCone cone;
    Vec3 b = Vec3::Zero();
    Vec3 r = Vec3::Zero();  // start of the solver, then its result
    int rows() const { return 1 + cone.tangents; }
  };
  struct Report {
    bool solved = true;
    double complementarity = 0, violation = 0;
  };

  explicit StepProblem(Contacts& contacts);

  // Starts a problem at the engine's present response. `matrix`: null for the engine's mass.
  void begin(StepMatrix* matrix);
  // Adds a contact with its columns. Its slot must be evaluated.
  Item& add(int slot, const BlockCone& cone);
  int size() const { return static_cast<int>(items_.size()); }
  Item& operator[](int i) { return items_[static_cast<std::size_t>(i)]; }
  const Item& operator[](int i) const { return items_[static_cast<std::size_t>(i)]; }

  // W_k . x of contact i for a vector of velocities.
  double along(int i, int k, const Vec& x) const;
  // Forms A. To be called before the three below, and again only when items were added.
  void assemble(double factor);
  int rows() const;
  bool few_rows() const;      // dense methods are affordable
  void matrix(Mat& A) const;  // rows of the items in turn
  // Answers with the r of all items; throws nothing.
  Report solve();
  // out = sum of W r, generalized impulses.
  void impulses(Vec& out) const;
  // S x - G^T mu = b, G x = 0 with the matrix of this problem.
  void response(const Vec& b, Vec& x, Vec& mu);

 private:
  struct Group {
    std::vector<std::pair<int, int>> ranges;  // first velocity, number
    int size = 0;
    int lone_tree = -1;  // the only tree of a group without rows
    std::vector<int> members;
  };
  struct Part {
    int group = -1, offset = 0;  // into W_ and X_: rows() columns of the group's size
  };

  void gather(const Group& group, const double* full, double* packed) const;
  Report solve_dense();
  Report solve_blocks(int sweeps);
  // step_newton.cpp
  Report solve_newton();
  double newton_residual(const Vec& x, std::vector<Vec3>& r, Vec& F);
  void newton_matrix(Mat& J) const;
  const Group& group_of(const Part& part) const {
    return matrix_ != nullptr ? whole_ : groups_[static_cast<std::size_t>(part.group)];
  }

  Contacts& contacts_;
  Engine& engine_;
  StepMatrix* matrix_ = nullptr;
  std::vector<int> group_of_tree_;
  std::vector<Group> groups_;
  Group whole_;  // all velocities, with a StepMatrix
  std::vector<Item> items_;
  std::vector<std::array<Part, 2>> parts_;
  std::vector<double> W_, X_;
  std::vector<int> touched_, seen_, row0_;
  Vec column_, answer_;

  BlockMatrix A_;
  ContactProblem dense_;
  ContactSolver solver_;
  BlockProx prox_;
  Vec r_, answer_rows_;
  std::vector<BlockCone> cones_;
  std::vector<Vec3> b_blocks_, r_blocks_, r_next_, best_blocks_, diagonal_;
  std::vector<Mat3> slopes_;
  Vec newton_x_, newton_F_, newton_d_, newton_trial_;
  Mat newton_J_;
  Eigen::PartialPivLU<Mat> newton_lu_;
};

}  // namespace clatter::contact
