#include "shapes/shape_tree.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace clatter::contact {

namespace {

constexpr int kLeaf = 4;       // members of a leaf
constexpr double kFactor = 4;  // of sizes from level to level
constexpr int kLevels = 12;    // smaller ones are all of the lowest
constexpr double kWorn = 2;    // surfaces grown by this: build again

double surface(const WorldBox& b) {
  const Vec3 d = b.hi - b.lo;
  return d.x() * d.y() + d.y() * d.z() + d.z() * d.x();
}

}  // namespace

void ShapeTree::set_sizes(std::span<const double> sizes) {
  const auto n = sizes.size();
  boxes_.resize(n);
  level_.assign(n, 0);
  trees_.clear();
  if (n == 0) return;
  const double largest = *std::max_element(sizes.begin(), sizes.end());
  // Counted from the largest down, then turned round; empty levels are passed over.
  std::array<int, kLevels> count{};
  for (std::size_t i = 0; i < n; ++i) {
    int down = kLevels - 1;
    if (largest <= 0)
      down = 0;
    else if (sizes[i] > 0)
      down = std::min(kLevels - 1, static_cast<int>(std::log(largest / sizes[i]) / std::log(kFactor)));
    level_[i] = down;
    ++count[static_cast<std::size_t>(down)];
  }
  std::array<int, kLevels> name{};
  int used = 0;
  for (int down = kLevels - 1; down >= 0; --down)
    if (count[static_cast<std::size_t>(down)] > 0) name[static_cast<std::size_t>(down)] = used++;
  trees_.resize(static_cast<std::size_t>(used));
  for (std::size_t i = 0; i < n; ++i) {
    level_[i] = name[static_cast<std::size_t>(level_[i])];
    trees_[static_cast<std::size_t>(level_[i])].members.push_back(static_cast<int>(i));
  }
  for (Level& tree : trees_) tree.nodes.reserve(2 * tree.members.size());
}

void ShapeTree::place(std::span<const WorldBox> boxes) {
  std::copy(boxes.begin(), boxes.end(), boxes_.begin());
  for (Level& tree : trees_) {
    if (!tree.nodes.empty() && refit(tree) <= kWorn * tree.surface) continue;
    tree.nodes.clear();
    build(tree, 0, static_cast<int>(tree.members.size()));
    tree.surface = refit(tree);
    ++builds_;
  }
}

int ShapeTree::build(Level& tree, int from, int to) {
  const int at = static_cast<int>(tree.nodes.size());
  tree.nodes.push_back({{}, -1, from, to});
  if (to - from <= kLeaf) return at;
  const auto middle = [&](int k) {
    const WorldBox& b = boxes_[static_cast<std::size_t>(k)];
    return Vec3(b.lo + b.hi);
  };
  Vec3 lo = Vec3::Constant(std::numeric_limits<double>::infinity()), hi = -lo;
  for (int m = from; m < to; ++m) {
    const Vec3 c = middle(tree.members[static_cast<std::size_t>(m)]);
    lo = lo.cwiseMin(c);
    hi = hi.cwiseMax(c);
  }
  int axis = 0;
  (hi - lo).maxCoeff(&axis);
  const int half = (from + to) / 2;
  const auto member = [&](int m) { return tree.members.begin() + m; };
  std::nth_element(member(from), member(half), member(to), [&](int a, int b) {
    const double x = middle(a)[axis], y = middle(b)[axis];
    return x != y ? x < y : a < b;
  });
  build(tree, from, half);
  const int right = build(tree, half, to);
  tree.nodes[static_cast<std::size_t>(at)].right = right;
  return at;
}

double ShapeTree::refit(Level& tree) {
  double sum = 0;
  for (std::size_t i = tree.nodes.size(); i-- > 0;) {
    Node& node = tree.nodes[i];
    if (node.right < 0) {
      node.box = boxes_[static_cast<std::size_t>(tree.members[static_cast<std::size_t>(node.from)])];
      for (int m = node.from + 1; m < node.to; ++m) {
        const WorldBox& b = boxes_[static_cast<std::size_t>(tree.members[static_cast<std::size_t>(m)])];
        node.box.lo = node.box.lo.cwiseMin(b.lo);
        node.box.hi = node.box.hi.cwiseMax(b.hi);
      }
    } else {
      const WorldBox &left = tree.nodes[i + 1].box, &right = tree.nodes[static_cast<std::size_t>(node.right)].box;
      node.box.lo = left.lo.cwiseMin(right.lo);
      node.box.hi = left.hi.cwiseMax(right.hi);
    }
    sum += surface(node.box);
  }
  return sum;
}

}  // namespace clatter::contact
