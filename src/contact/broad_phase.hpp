// BroadPhase: which pairs of shapes may be near, without a look at each of them.
//
// Boxes along the world axes, grown by half the reach, are sorted by where they begin on the axis along which they are
// spread most; a sweep finds those that overlap (Baraff 1992). Where there are many, a tree of boxes does
// (shape_tree.hpp): what a sweep holds open grows with the section across its axis. Two shapes that overlap are looked
// up among the pairs of the model. Shapes without end (line, plane) are told apart by the distance of the other's ball
// from them. The answer is a function of the positions alone, in ascending order.
#pragma once

#include <vector>

#include "contact/contact_system.hpp"
#include "engine/engine.hpp"
#include "shapes/shape_tree.hpp"

namespace clatter::contact {

class BroadPhase {
 public:
  explicit BroadPhase(const ContactSystem& contacts);

  // All pairs whose shapes are no farther apart than `reach` at the engine's present links, and few others; contacts
  // written in coordinates always.
  void find(const Engine& engine, double reach, std::vector<int>& pairs);
  // No larger than the distance of the pair's shapes (negative infinity where nothing is known).
  double distance_bound(const Engine& engine, int pair) const;

 private:
  struct Partner {
    int shape, pair;
  };
  Pose<double> pose(const Engine& engine, int shape) const;
  void sweep(std::vector<int>& pairs);
  void meet(int i, int j, std::vector<int>& pairs) const;

  const ContactSystem& contacts_;
  std::vector<int> always_;       // pairs that cannot be told apart
  std::vector<int> endless_;      // pairs with a line or a plane without end, against a bounded shape
  std::vector<int> swept_;        // shapes of all other pairs
  std::vector<Partner> partner_;  // of shape i, with larger number: [begin_[i], begin_[i + 1]), ascending
  std::vector<int> begin_;
  std::vector<WorldBox> box_;  // of swept_
  std::vector<int> order_, open_;
  ShapeTree tree_;  // of many
};

}  // namespace clatter::contact
