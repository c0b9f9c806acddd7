// CrowdSearch: points of contact of a crowd, without a list of pairs.
//
// Bounded shapes of like size are sorted into cells as wide as the largest of them and the reach; the cells are
// numbered with the height (against gravity) first, so that what is found comes from below upwards. Each shape looks at
// half of the cells around it. The few that are much larger (a floor, walls) and those without end are held against all
// others. Crowds of unlike sizes, whose cells would hold dozens of their small ones, have their boxes in a tree instead
// (shape_tree.hpp): each shape, from below upwards, looks for those of its level above it and for larger ones. Balls
// are dealt with here; all other pairs by the kernels of touch.hpp and the manifolds of polygons and polytopes, without
// memory of the step before. What is found is a function of the positions alone.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "contact/contact_system.hpp"
#include "impulse/crowd_parts.hpp"
#include "model/crowd.hpp"
#include "shapes/polytope_manifold.hpp"
#include "shapes/shape_tree.hpp"

namespace clatter::contact {

struct CrowdPoint {
  int shape1 = -1, shape2 = -1;
  int entry = -1;         // of CrowdModel::contacts
  std::uint64_t key = 0;  // of the two shapes: the same from step to step
  double gap = 0;
  Vec3 n, p1, p2;  // from the second to the first
};

class CrowdSearch {
 public:
  enum class Sorting { by_sizes, cells, tree };  // by_sizes: cells for like sizes, a tree for unlike ones

  // Throws InputError for shapes that cannot touch.
  CrowdSearch(const ContactSystem& contacts, const CrowdModel& crowd, Sorting sorting = Sorting::by_sizes);

  bool has_tree() const { return has_tree_; }

  // All points with gap <= reach, and few others, at the given places of the links.
  void find(const std::vector<LinkMotion>& links, double reach, WorkerPool& pool);
  // Of the pairs that have points in `near`, at other places of the links, no point of a shape more than `moved` (by
  // link) from where it was then: points with gap <= reach. Pairs that cannot be nearer than `reach` less `part` of the
  // smaller shape and less `least` are left out unseen.
  void find_again(const std::vector<CrowdPoint>& near, const std::vector<LinkMotion>& links,
                  const std::vector<double>& moved, double reach, double part, double least, WorkerPool& pool);
  // Of one pair of shapes, at the given places of the links.
  const std::vector<CrowdPoint>& find_pair(int shape1, int shape2, const std::vector<LinkMotion>& links, double reach);
  const std::vector<CrowdPoint>& points() const { return points_; }
  int level_axis() const { return count_[0] >= count_[1] ? up_[0] : up_[1]; }  // across gravity, where it is widest

 private:
  struct Member {
    Vec3 centre = Vec3::Zero();
    double bound = 0, radius = 0;         // radius > 0: a ball
    std::uint64_t first = 0, second = 0;  // entries it is part of
    int link = -1;
    bool turns = true;  // its pose is needed
  };
  struct Cell {
    std::uint64_t key;
    double x, y, z, r;
    int member;
  };
  // What one thread finds in one chunk of the cells.
  struct SearchWorker {
    std::vector<CrowdPoint> points;
    PolytopeManifold manifold;
    std::vector<int> near;  // of the tree's members, by rank
  };
  void check_kinds(const CrowdModel& crowd) const;
  int entry_of(int i, int k, bool& turned) const;
  bool is_apart(int i, int k) const {
    return !apart_.empty() && std::binary_search(apart_.begin(), apart_.end(), std::pair<int, int>(std::minmax(i, k)));
  }
  void look(SearchWorker& scout, int i, int k, double reach) const;
  void balls(SearchWorker& scout, int i, int k, int entry, double reach) const;
  void ball_on_plane(SearchWorker& scout, int ball, int plane, bool turned, int entry, double reach) const;
  void polytopes(SearchWorker& scout, int first, int second, int entry, double reach) const;
  void others(SearchWorker& scout, int first, int second, int entry, double reach) const;
  void add(SearchWorker& scout, int first, int second, int entry, const Touch<double>& t) const;
  void place(std::size_t member, const std::vector<LinkMotion>& links);
  bool may_touch_large(int small, int large, double reach) const;
  void join_scouts(std::size_t items, WorkerPool& pool);
  void sort_cells(double reach);
  void sweep_cells(SearchWorker& scout, std::size_t from, std::size_t to, double reach) const;
  void sort_heights(double reach, WorkerPool& pool);
  void sweep_tree(SearchWorker& scout, std::size_t from, std::size_t to, double reach) const;

  const ContactSystem& contacts_;
  int up_[3];  // axes, the one along gravity last
  double sense_ = 1;
  std::vector<Member> members_;
  std::vector<std::pair<int, int>> apart_;  // pairs of shapes that are no business of the crowd
  std::vector<Pose<double>> poses_;
  std::vector<int> small_, large_;  // small: in cells or the tree; large: held against all
  bool has_tree_ = false;
  std::vector<Cell> cells_;
  std::vector<int> begin_;
  ShapeTree tree_;  // its members are places in small_
  std::vector<WorldBox> boxes_;
  std::vector<double> height_;
  std::vector<int> by_height_, rank_;
  std::vector<CrowdPoint> points_;
  std::array<SearchWorker, kChunks> workers_;
  double width_ = 1;
  Vec3 low_ = Vec3::Zero();
  std::int64_t count_[3] = {1, 1, 1};
};

}  // namespace clatter::contact
