// Exact derivatives of a tree's equations of motion, column by column.
//
// Spatial vectors (angular, linear) in world axes about one fixed point O near the tree's root. With S_i the column
// of velocity i, V, A the velocity and acceleration of a link, p(i) the link that carries column i, and i above j
// meaning that column i carries column j (columns of one rotation block carry each other):
//
//   dV_k/dq_i = S_i x V_k + Psd_i                 Psd_i  = V_p(i) x S_i
//   dA_k/dq_i = S_i x A_k + Psdd_i - V_k x Psd_i  Psdd_i = A_p(i) x S_i + V_p(i) x Psd_i
//   dA_k/dv_i = Sd_i + Psd_i - V_k x S_i          Sd_i   = V_i x S_i
//   F_k = I A + V x* I V,   2B = V x* I - I V x + (I V) x-bar*
//   d tau_j/dq_i = S_j . (I^C_j Psdd_i + 2B^C_j Psd_i)                       i above j
//   d tau_j/dq_i = S_j . (I^C_i Psdd_i + 2B^C_i Psd_i + S_i x* F^C_i)        j above i
//   d tau_j/dv_i = S_j . (I^C (Psd_i + Sd_i) + 2B^C S_i),  M_ji = S_j . I^C S_i   (C: composite of the deeper one)
//
// Applied wrenches W (world-fixed at their points) add the geometric term -(S_i x S_j) . W^C_j, i above j.
#pragma once

#include <vector>

#include "engine/tree.hpp"

namespace clatter {

// Spatial cross products of motions, and of a motion with a force.
Vec6 cross_motion(const Vec6& a, const Vec6& b);
Vec6 cross_force(const Vec6& a, const Vec6& f);

class TreeTangent {
 public:
  explicit TreeTangent(const Tree& tree);

  // From work.motion with a, alpha at the given accelerations. Uniform gravity enters as an acceleration -g of the
  // ground.
  void update(const TreeWork& work, const Vec3& gravity);

  // Adds the inertia's part of M, C, K and the geometric part of the applied wrenches (force, torque at the mass
  // centre of each link, world axes) through add(row, col, m, c, k) for every pair of columns on one path; of trees
  // that are not blocks.
  template <class Add>
  void assemble(const std::vector<Vec3>& applied_F, const std::vector<Vec3>& applied_N, Add&& add);

  // Of block `k`: dense, column-major, added to nothing; the wrenches are indexed by link.
  void block(int k, const std::vector<Vec3>& applied_F, const std::vector<Vec3>& applied_N, const double* row_forces,
             double* M, double* C, double* K);
  // Then: gradient, d(de)/dq, d(dde)/dq, d(dde)/dv of a row of its own.
  void block_row(int k, int row, double* g, double* zq, double* aq, double* av) const {
    blocks_[static_cast<std::size_t>(k)]->row_tangent(row, g, zq, aq, av);
  }

  // Derivatives of a point fixed to link `link`, now at `at`: for each velocity index on the link's path, in path
  // order.
  using PointColumns = clatter::PointColumns;
  void point(int link, const Vec3& at, const Vec3& velocity, PointColumns& out) const;
  int longest_path() const { return longest_path_; }

 private:
  struct Column {
    Vec6 S, Sd, Psd, Psdd;
    int link = 0;
    int group = 0;  // columns of one group carry each other; lower groups of a link carry higher ones
  };

  const Tree& tree_;
  std::vector<std::unique_ptr<BlockWork>> blocks_;  // as they were at the last update
  Vec3 gravity_;
  std::vector<Column> columns_;
  std::vector<Vec6> V_, A_, F_, W_;  // per link, about O of its tree
  std::vector<Mat6> I_, B2_;         // per link, then composite
  std::vector<Vec3> O_;              // per tree
  std::vector<Vec3> p_;              // per link: mass centre
  int longest_path_ = 0;
};

template <class Add>
void TreeTangent::assemble(const std::vector<Vec3>& applied_F, const std::vector<Vec3>& applied_N, Add&& add) {
  const int n = tree_.rigid_links;
  for (int i = 0; i < n; ++i) {
    const Vec3 c = p_[i] - O_[tree_.links[i].tree];
    W_[i].head<3>() = applied_N[i] + c.cross(applied_F[i]);
    W_[i].tail<3>() = applied_F[i];
  }
  for (int i = n - 1; i >= 0; --i) {
    const Link& l = tree_.links[i];
    for (int kj = 0; kj < l.nv; ++kj) {
      const int j = l.v + kj;
      const Column& cj = columns_[j];
      const Vec6 IS = I_[i] * cj.S;
      const Vec6 BtS = B2_[i].transpose() * cj.S;
      const Vec6 gj = cross_force(cj.S, W_[i]);
      const Vec6 Kcol = I_[i] * cj.Psdd + B2_[i] * cj.Psd + cross_force(cj.S, F_[i]);
      const Vec6 Ccol = I_[i] * (cj.Psd + cj.Sd) + B2_[i] * cj.S;
      for (const int k : tree_.path[i]) {
        const Column& ck = columns_[k];
        const bool together = ck.link == i && ck.group == cj.group;
        const bool above = ck.link != i || ck.group < cj.group;
        if (!together && !above) continue;
        add(j, k, IS.dot(ck.S), IS.dot(ck.Psd + ck.Sd) + BtS.dot(ck.S),
            IS.dot(ck.Psdd) + BtS.dot(ck.Psd) - ck.S.dot(gj));
        if (above) add(k, j, IS.dot(ck.S), ck.S.dot(Ccol), ck.S.dot(Kcol));
      }
    }
    if (l.parent >= 0) {
      I_[l.parent] += I_[i];
      B2_[l.parent] += B2_[i];
      F_[l.parent] += F_[i];
      W_[l.parent] += W_[i];
    }
  }
}

}  // namespace clatter
