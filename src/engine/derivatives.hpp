// Derivatives: exact tangents of an Engine's residuals (the struct Tangents of Dynamics).
//
// Elements only know frames. A measure between frames A and B gives its gradient g and H = dg/dx in frame space
// (x: increments of the two poses, world axes). With J = dx/dq, the columns of the two frames, a stress or multiplier
// that enters the residual as kappa g adds
//
//   K += kappa J^T H' J,   H' = H and, in the rows of the torques, - tilde(f): the lever arm of f moves with the frame
//
// while the turning of the columns themselves under the applied wrenches is one sweep over the tree (TreeTangent).
// Gradients of rates and of second derivatives follow from the frames' own derivative columns:
//   d(de)/dq = J^T de_x + Zq^T g,  d(dde)/dq = J^T bias_x + Zq^T bias_xi + Aq^T g,  d(dde)/dv = J^T bias_xi + Av^T g.
#pragma once

#include <vector>

#include "engine/engine.hpp"

namespace clatter {

struct Derivatives {
  explicit Derivatives(const Engine& engine);
  Tangents layout() const;
  void evaluate(Engine& engine, const State& s, const Vec& lambda, Tangents& out);
  const TreeTangent& tree() const { return tree_; }

  // Rows of joints that close loops and say what the tree alone already holds (held_rows.cpp). They are empty, here and
  // in the engine's own G.
  void empty_if_held(Engine& engine, int row);  // in the engine's G, at its present measures
  bool row_is_empty(int row) const { return row_empty_[static_cast<std::size_t>(row)] != 0; }

 private:
  // Columns of a pair of frames: A's path, then B's.
  struct FramePair {
    int a, b;
    std::vector<int> columns;
    std::vector<int> slots;  // of columns x columns in the pattern of M, C, K; row-major
    int na = 0;
    TreeTangent::PointColumns A, B;
    Eigen::Matrix<double, 12, 12> H;  // sum of kappa H'
    bool used = false;
  };
  // Rows of one measure in velocity space.
  struct MeasureRows {
    int pair = -1;  // -1: a joint coordinate
    std::vector<int> columns;
    std::vector<double> g, zq, aq, av;
    MeasureTangent t;
  };
  // Sum over the terms of a deformation: columns (with repetition) and values.
  struct Composite {
    std::vector<int> columns;
    std::vector<double> g, zq;
    void clear() { columns.clear(), g.clear(), zq.clear(); }
  };

  std::vector<int> measure_columns(const System& sys, int measure) const;
  std::vector<int> deformation_columns(const System& sys, const Deformation& d) const;
  std::vector<int> input_columns(const System& sys, const CompiledFunction& f) const;
  void measures(Engine& engine, bool accelerations);
  void compose(const Engine& engine, const Deformation& d, Composite& c) const;
  void add_hessian(const Engine& engine, const Deformation& d, double kappa, Tangents& out);
  void stress(Engine& engine, const Deformation& d, const State& s, Tangents& out);
  void load(Engine& engine, const CompiledLoad& load, int frame, double sign, const State& s, Tangents& out);
  void inner_states(Engine& engine, const State& s, Tangents& out);
  void constraints(Engine& engine, Tangents& out);
  void find_rows_on_trees(const Engine& engine);
  void path_sizes(const Engine& engine, int link, double F, double N);
  template <class Entry>
  bool held_by_tree(const Engine& engine, int row, const Entry& entry);
  void empty_held_rows(const Engine& engine, SparseMatrix<double>& G);
  // out.K and out.C += column (x) d(function)/d(inputs); inner states go to out.Rz.
  void outer_inputs(const CompiledFunction& f, const double* gradient, const std::vector<int>& columns,
                    const std::vector<double>& values, const Composite* own, Tangents& out) const;
  int pair_of(int a, int b) const;
  void blocks(Engine& engine, const Vec& lambda, Tangents& out);

  TreeTangent tree_;
  std::vector<FramePair> pairs_;
  std::vector<MeasureRows> rows_;
  Composite composite_, other_;
  TreeTangent::PointColumns point_, turning_;
  // Tangents of one block at a time, column by column, and where the run of each column starts in the pattern.
  std::vector<double> block_M_, block_C_, block_K_;
  struct BlockColumn {
    int slot, count;
  };
  std::vector<std::vector<BlockColumn>> block_columns_;
  PatternPtr pattern_, pattern_G_, pattern_Rz_, pattern_F_, pattern_Fz_;
  std::vector<char> row_on_tree_;   // rows that act on bodies hung on others: these alone can be held by a tree
  std::vector<char> row_empty_;     // of the engine's G
  std::vector<double> entry_size_;  // by velocity: what the entry of one row is the sum of
};

}  // namespace clatter
