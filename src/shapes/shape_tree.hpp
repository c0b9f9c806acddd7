// ShapeTree: which of many boxes overlap, whatever their sizes.
//
// Boxes along the world axes are put into levels by their size, each four times as large as the one below, with a
// binary tree of boxes a level: halves at the median along the axis of largest extent, up to four members a leaf. A
// query goes through the levels from its own upwards, so that small ones look for large ones and none is held against
// all. Each placement refits the boxes from the leaves up, in linear time; a level is built again where the surfaces of
// its nodes have grown to twice what they were when it was built. How a tree is cut decides how fast it answers, never
// what: members are told where their own boxes overlap, and the caller puts them in order.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "base/math.hpp"

namespace clatter::contact {

struct WorldBox {
  Vec3 lo, hi;
  bool overlaps(const WorldBox& o) const {
    return lo.x() <= o.hi.x() && o.lo.x() <= hi.x() && lo.y() <= o.hi.y() && o.lo.y() <= hi.y() && lo.z() <= o.hi.z() &&
           o.lo.z() <= hi.z();
  }
};

class ShapeTree {
 public:
  // Members 0 to n - 1 with these sizes (radii of balls that hold them), which say what level they are of.
  void set_sizes(std::span<const double> sizes);
  // Where the members are now. No allocation once every level has been built.
  void place(std::span<const WorldBox> boxes);

  int level(int member) const { return level_[static_cast<std::size_t>(member)]; }
  int levels() const { return static_cast<int>(trees_.size()); }
  long builds() const { return builds_; }

  // visit(k) for each member k != i of i's level and those above whose box overlaps that of i.
  template <class Visit>
  void overlapping(int i, const Visit& visit) const {
    const WorldBox& box = boxes_[static_cast<std::size_t>(i)];
    for (std::size_t l = static_cast<std::size_t>(level(i)); l < trees_.size(); ++l) {
      const Level& tree = trees_[l];
      std::array<int, 64> open;
      int top = 0;
      open[0] = 0;
      while (top >= 0) {
        const Node& node = tree.nodes[static_cast<std::size_t>(open[static_cast<std::size_t>(top--)])];
        if (!node.box.overlaps(box)) continue;
        if (node.right < 0) {
          for (int m = node.from; m < node.to; ++m) {
            const int k = tree.members[static_cast<std::size_t>(m)];
            if (k != i && boxes_[static_cast<std::size_t>(k)].overlaps(box)) visit(k);
          }
          continue;
        }
        open[static_cast<std::size_t>(++top)] = node.right;
        open[static_cast<std::size_t>(++top)] = static_cast<int>(&node - tree.nodes.data()) + 1;
      }
    }
  }

 private:
  // The left child follows its parent; right < 0: a leaf.
  struct Node {
    WorldBox box;
    int right = -1, from = 0, to = 0;  // members
  };
  struct Level {
    std::vector<Node> nodes;
    std::vector<int> members;
    double surface = 0;  // sum over the nodes, when built
  };
  int build(Level& tree, int from, int to);
  double refit(Level& tree);

  std::vector<WorldBox> boxes_;
  std::vector<int> level_;
  std::vector<Level> trees_;
  long builds_ = 0;
};

}  // namespace clatter::contact
