#include "contact/broad_phase.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "shapes/shape_box.hpp"

namespace clatter::contact {

namespace {

bool endless(const Geometry& g) {
  return g.kind == ContactShape::Kind::plane || (g.kind == ContactShape::Kind::line && g.length == 0);
}

bool bounded(const Geometry& g) { return std::isfinite(g.bound) && !g.hollow; }

// From so many shapes on a tree is faster than a sweep.
constexpr std::size_t kMany = 256;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

BroadPhase::BroadPhase(const ContactSystem& contacts) : contacts_(contacts) {
  const std::size_t shapes = contacts.shapes.size();
  std::vector<std::vector<Partner>> partners(shapes);
  std::vector<char> swept(shapes, 0);
  for (std::size_t p = 0; p < contacts.pairs.size(); ++p) {
    const PairInstance& pair = contacts.pairs[p];
    const int index = static_cast<int>(p);
    if (pair.in_coordinates()) {
      always_.push_back(index);
      continue;
    }
    const Geometry &first = contacts.shapes[at(pair.shape1)].geometry,
                   &second = contacts.shapes[at(pair.shape2)].geometry;
    if (bounded(first) && bounded(second)) {
      partners[at(std::min(pair.shape1, pair.shape2))].push_back({std::max(pair.shape1, pair.shape2), index});
      swept[at(pair.shape1)] = swept[at(pair.shape2)] = 1;
    } else if ((endless(first) && bounded(second)) || (endless(second) && bounded(first))) {
      endless_.push_back(index);
    } else {
      always_.push_back(index);
    }
  }
  begin_.assign(1, 0);
  for (std::size_t i = 0; i < shapes; ++i) {
    std::sort(partners[i].begin(), partners[i].end(), [](const Partner& a, const Partner& b) {
      return a.shape != b.shape ? a.shape < b.shape : a.pair < b.pair;
    });
    partner_.insert(partner_.end(), partners[i].begin(), partners[i].end());
    begin_.push_back(static_cast<int>(partner_.size()));
    if (swept[i]) swept_.push_back(static_cast<int>(i));
  }
  box_.resize(swept_.size());
  if (swept_.size() >= kMany) {
    std::vector<double> sizes;
    for (const int i : swept_) sizes.push_back(contacts.shapes[at(i)].geometry.bound);
    tree_.set_sizes(sizes);
  }
  order_.reserve(swept_.size());
  open_.reserve(swept_.size());
}

Pose<double> BroadPhase::pose(const Engine& engine, int shape) const {
  const ShapeInstance& s = contacts_.shapes[at(shape)];
  if (s.link < 0) return {s.R, s.r};
  const LinkMotion& m = engine.links().motion[at(s.link)];
  return {m.R * s.R, m.p + m.R * s.r};
}

double BroadPhase::distance_bound(const Engine& engine, int index) const {
  const PairInstance& pair = contacts_.pairs[at(index)];
  constexpr double unknown = -std::numeric_limits<double>::infinity();
  if (pair.in_coordinates()) return unknown;
  const Geometry &first = contacts_.shapes[at(pair.shape1)].geometry,
                 &second = contacts_.shapes[at(pair.shape2)].geometry;
  const Pose<double> a = pose(engine, pair.shape1), b = pose(engine, pair.shape2);
  if (bounded(first) && bounded(second)) {
    Vec3 d = a.p - b.p;
    if (first.planar()) d.z() = 0;
    return d.norm() - first.bound - second.bound;
  }
  const bool turned = endless(first);
  const Geometry &face = turned ? first : second, &other = turned ? second : first;
  if (!endless(face) || !bounded(other)) return unknown;
  const Pose<double>&on = turned ? a : b, &of = turned ? b : a;
  const Vec3 normal = on.R.col(face.kind == ContactShape::Kind::plane ? 2 : 1);
  return normal.dot(of.p - on.p) - other.bound;
}

void BroadPhase::find(const Engine& engine, double reach, std::vector<int>& pairs) {
  pairs = always_;
  for (const int p : endless_)
    if (distance_bound(engine, p) <= reach) pairs.push_back(p);
  if (!std::isfinite(reach)) {
    for (const Partner& partner : partner_) pairs.push_back(partner.pair);
    std::sort(pairs.begin(), pairs.end());
    return;
  }
  const double grow = 0.5 * reach;
  for (std::size_t k = 0; k < swept_.size(); ++k) {
    const int i = swept_[k];
    box_[k] = world_box(contacts_.shapes[at(i)].geometry, pose(engine, i));
    box_[k].lo.array() -= grow;
    box_[k].hi.array() += grow;
  }
  if (swept_.size() < kMany) {
    sweep(pairs);
  } else {
    tree_.place(box_);
    for (int k = 0; k < static_cast<int>(swept_.size()); ++k)
      tree_.overlapping(k, [&](int other) {
        if (tree_.level(other) > tree_.level(k) || other > k) meet(swept_[at(k)], swept_[at(other)], pairs);
      });
  }
  std::sort(pairs.begin(), pairs.end());
}

void BroadPhase::meet(int i, int j, std::vector<int>& pairs) const {
  const int low = std::min(i, j), high = std::max(i, j);
  const auto first = partner_.begin() + begin_[at(low)], last = partner_.begin() + begin_[at(low) + 1];
  for (auto it = std::lower_bound(first, last, high, [](const Partner&p, int shape) { return p.shape < shape; });
       it != last && it->shape == high; ++it)
    pairs.push_back(it->pair);
}

void BroadPhase::sweep(std::vector<int>& pairs) {
  Vec3 sum = Vec3::Zero(), squares = Vec3::Zero();
  for (const WorldBox& box : box_) {
    const Vec3 middle = 0.5 * (box.lo + box.hi);
    sum += middle;
    squares += middle.cwiseAbs2();
  }
  const double n = static_cast<double>(box_.size());
  int axis = 0;
  if (n > 0) (squares / n - (sum / n).cwiseAbs2()).maxCoeff(&axis);
  order_.resize(box_.size());
  std::iota(order_.begin(), order_.end(), 0);
  std::sort(order_.begin(), order_.end(), [&](int a, int b) {
    const double x = box_[at(a)].lo[axis], y = box_[at(b)].lo[axis];
    return x != y ? x < y : a < b;
  });
  open_.clear();
  for (const int i : order_) {
    const WorldBox& box = box_[at(i)];
    std::size_t kept = 0;
    for (std::size_t k = 0; k < open_.size(); ++k) {
      const int j = open_[k];
      const WorldBox& other = box_[at(j)];
      if (other.hi[axis] < box.lo[axis]) continue;
      open_[kept++] = j;
      if (box.overlaps(other)) meet(swept_[at(i)], swept_[at(j)], pairs);
    }
    open_.resize(kept);
    open_.push_back(i);
  }
}

}  // namespace clatter::contact
