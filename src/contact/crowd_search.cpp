#include "contact/crowd_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.hpp"
#include "shapes/cylinder_manifold.hpp"
#include "shapes/cylinder_polytope.hpp"
#include "shapes/kernels_polytope.hpp"
#include "shapes/pairs.hpp"
#include "shapes/polygon_manifold.hpp"
#include "shapes/polytope_distance.hpp"
#include "shapes/shape_box.hpp"

namespace clatter::contact {

namespace {

using Kind = ContactShape::Kind;

// Shapes larger than this many times the median are held against all others.
constexpr double kLarge = 4;

// Along the line of their centres.
bool told_apart(const Geometry& a, const Geometry& b, const Pose<double>& A, const Pose<double>& B, double reach) {
  const Vec3 d = A.p - B.p;
  const double distance = d.norm();
  if (!(distance > 0)) return false;
  const Vec3 in_a = A.R.transpose() * d / distance, in_b = B.R.transpose() * d / distance;
  double least = std::numeric_limits<double>::infinity(), most = -least;
  for (const Vec3& p : a.points) least = std::min(least, in_a.dot(p));
  for (const Vec3& p : b.points) most = std::max(most, in_b.dot(p));
  return distance + least - most > reach;
}

// Sizes (ascending) for which cells are a poor choice: more than a few much larger than the median are held against all
// others, and where the largest of the rest is this many times the median, a cell of its width holds dozens.
bool unlike(const std::vector<double>& sizes) {
  constexpr std::size_t few = 16, many = 256;
  constexpr double like = 2;
  if (sizes.size() < many) return false;
  const double median = sizes[sizes.size() / 2];
  return sizes[sizes.size() - 1 - few] > like * median;
}

// Nearly sorted: insertion, unless it turns out not to be.
template <class E, class Before>
void sort_again(std::vector<E>& list, const Before& before) {
  long budget = 8 * static_cast<long>(list.size()) + 64;
  for (std::size_t i = 1; i < list.size() && budget > 0; ++i) {
    if (!before(list[i], list[i - 1])) continue;
    const E moved = list[i];
    std::size_t k = i;
    for (; k > 0 && before(moved, list[k - 1]); --k) {
      list[k] = list[k - 1];
      --budget;
    }
    list[k] = moved;
  }
  if (budget <= 0) std::sort(list.begin(), list.end(), before);
}

}  // namespace

CrowdSearch::CrowdSearch(const ContactSystem& contacts, const CrowdModel& crowd, Sorting sorting)
    : contacts_(contacts), apart_(crowd.apart) {
  if (crowd.contacts.size() > 64)
    throw InputError(fmt::format("a crowd has up to 64 entries of contacts, this one has {}", crowd.contacts.size()),
                     "put shapes with the same law into one entry, or use contact_solver: newton");
  members_.resize(contacts.shapes.size());
  poses_.resize(contacts.shapes.size());
  for (std::size_t e = 0; e < crowd.contacts.size(); ++e) {
    for (const int i : crowd.contacts[e].first) members_[static_cast<std::size_t>(i)].first |= std::uint64_t(1) << e;
    for (const int i : crowd.contacts[e].second) members_[static_cast<std::size_t>(i)].second |= std::uint64_t(1) << e;
  }
  std::vector<double> sizes;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    Member& m = members_[i];
    const ShapeInstance& s = contacts.shapes[i];
    m.link = s.link;
    m.bound = s.geometry.bound;
    if (s.geometry.kind == Kind::sphere && !s.geometry.hollow) m.radius = s.geometry.radius;
    m.turns = m.radius <= 0;
    poses_[i].R.setIdentity();  // a ball's pose is its centre
    if ((m.first | m.second) != 0 && std::isfinite(m.bound) && !s.geometry.hollow) sizes.push_back(m.bound);
  }
  std::sort(sizes.begin(), sizes.end());
  has_tree_ = sorting == Sorting::tree || (sorting == Sorting::by_sizes && unlike(sizes));
  double limit = 0;
  if (!sizes.empty()) limit = has_tree_ ? sizes.back() : kLarge * sizes[sizes.size() / 2];
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const Member& m = members_[i];
    if ((m.first | m.second) == 0) continue;
    const bool small = m.bound <= limit && !contacts.shapes[i].geometry.hollow;
    (small ? small_ : large_).push_back(static_cast<int>(i));
  }
  if (has_tree_) {
    sizes.clear();
    for (const int i : small_) sizes.push_back(members_[static_cast<std::size_t>(i)].bound);
    tree_.set_sizes(sizes);
    boxes_.resize(small_.size());
    height_.resize(small_.size());
    rank_.resize(small_.size());
    by_height_.resize(small_.size());
    std::iota(by_height_.begin(), by_height_.end(), 0);
  }
  const Vec3 gravity = contacts.system->model.gravity;
  int axis = 2;
  gravity.cwiseAbs().maxCoeff(&axis);
  if (gravity.isZero(0)) axis = 2;
  sense_ = gravity[axis] > 0 ? -1 : 1;
  up_[0] = (axis + 1) % 3;
  up_[1] = (axis + 2) % 3;
  up_[2] = axis;
  check_kinds(crowd);
}

void CrowdSearch::check_kinds(const CrowdModel& crowd) const {
  for (const CrowdContact& entry : crowd.contacts) {
    // One of each kind, hollow or not, on each side.
    const auto kinds = [&](const std::vector<int>& list) {
      std::vector<int> out;
      for (const int i : list) {
        const Geometry& g = contacts_.shapes[static_cast<std::size_t>(i)].geometry;
        const auto same = [&](int k) {
          const Geometry& o = contacts_.shapes[static_cast<std::size_t>(k)].geometry;
          return o.kind == g.kind && o.hollow == g.hollow && (o.length > 0) == (g.length > 0);
        };
        // Two of each: shapes of one kind meet too.
        if (std::count_if(out.begin(), out.end(), same) < 2) out.push_back(i);
      }
      return out;
    };
    Contact contact;
    contact.name = entry.name;
    contact.source = entry.source;
    for (const int i : kinds(entry.first))
      for (const int k : kinds(entry.second)) {
        const ShapeInstance &a = contacts_.shapes[static_cast<std::size_t>(i)],
                            &b = contacts_.shapes[static_cast<std::size_t>(k)];
        if (i == k || a.link == b.link) continue;
        pair_kind(a.geometry, b.geometry, contact);
      }
  }
}

int CrowdSearch::entry_of(int i, int k, bool& turned) const {
  const Member &a = members_[static_cast<std::size_t>(i)], &b = members_[static_cast<std::size_t>(k)];
  if (a.link == b.link) return -1;
  const std::uint64_t straight = a.first & b.second, back = b.first & a.second, any = straight | back;
  if (any == 0 || is_apart(i, k)) return -1;
  const int e = std::countr_zero(any);
  const bool is_straight = (straight >> e & 1) != 0, is_back = (back >> e & 1) != 0;
  turned = is_straight && is_back ? k < i : !is_straight;
  return e;
}

void CrowdSearch::place(std::size_t i, const std::vector<LinkMotion>& links) {
  Member& m = members_[i];
  if ((m.first | m.second) == 0) return;
  const ShapeInstance& s = contacts_.shapes[i];
  if (s.link < 0) {
    m.centre = s.r;
    poses_[i] = {s.R, s.r};
    return;
  }
  const LinkMotion& motion = links[static_cast<std::size_t>(s.link)];
  m.centre = motion.p + motion.R * s.r;
  if (m.turns)
    poses_[i] = {motion.R * s.R, m.centre};
  else
    poses_[i].p = m.centre;
}

void CrowdSearch::find(const std::vector<LinkMotion>& links, double reach, WorkerPool& pool) {
  visit_chunks(members_.size(), pool, [&](std::size_t from, std::size_t to, int) {
    for (std::size_t i = from; i < to; ++i) place(i, links);
  });
  if (has_tree_)
    sort_heights(reach, pool);
  else
    sort_cells(reach);
  for (SearchWorker& scout : workers_) scout.points.clear();
  for (std::size_t i = 0; i < large_.size(); ++i)
    for (std::size_t k = i + 1; k < large_.size(); ++k) {
      const Member &a = members_[static_cast<std::size_t>(large_[i])],
                   &b = members_[static_cast<std::size_t>(large_[k])];
      if (a.link == b.link) continue;
      if (std::isfinite(a.bound) && std::isfinite(b.bound)) {
        // A hollow shape holds what is inside of it.
        if ((a.centre - b.centre).norm() > a.bound + b.bound + reach) continue;
      }
      look(workers_[0], large_[i], large_[k], reach);
    }
  const std::size_t n = small_.size();
  visit_chunks(n, pool, [&](std::size_t from, std::size_t to, int k) {
    SearchWorker& scout = workers_[static_cast<std::size_t>(k)];
    has_tree_ ? sweep_tree(scout, from, to, reach) : sweep_cells(scout, from, to, reach);
  });
  join_scouts(n, pool);
}

void CrowdSearch::find_again(const std::vector<CrowdPoint>& near, const std::vector<LinkMotion>& links,
                             const std::vector<double>& moved, double reach, double part, double least,
                             WorkerPool& pool) {
  visit_chunks(members_.size(), pool, [&](std::size_t from, std::size_t to, int) {
    for (std::size_t i = from; i < to; ++i) place(i, links);
  });
  for (SearchWorker& scout : workers_) scout.points.clear();
  const auto way = [&](int member) {
    const int link = members_[static_cast<std::size_t>(member)].link;
    return link < 0 ? 0.0 : moved[static_cast<std::size_t>(link)];
  };
  // The points of a pair follow each other; the chunk with the first of them looks at it.
  visit_chunks(near.size(), pool, [&](std::size_t from, std::size_t to, int k) {
    for (std::size_t i = from; i < to; ++i) {
      const CrowdPoint& p = near[i];
      if (i > 0 && near[i - 1].key == p.key) continue;
      double gap = p.gap;
      for (std::size_t j = i + 1; j < near.size() && near[j].key == p.key; ++j) gap = std::min(gap, near[j].gap);
      const double smaller = std::min(members_[static_cast<std::size_t>(p.shape1)].bound,
                                      members_[static_cast<std::size_t>(p.shape2)].bound);
      if (gap - way(p.shape1) - way(p.shape2) > reach - std::max(part * smaller, least)) continue;
      look(workers_[static_cast<std::size_t>(k)], p.shape1, p.shape2, reach);
    }
  });
  join_scouts(near.size(), pool);
}

// What the scouts of `items` found, one after the other.
void CrowdSearch::join_scouts(std::size_t items, WorkerPool& pool) {
  if (chunks_of(items) == 1) {
    points_.swap(workers_[0].points);
    return;
  }
  std::array<std::size_t, kChunks + 1> begin{};
  for (std::size_t k = 0; k < kChunks; ++k) begin[k + 1] = begin[k] + workers_[k].points.size();
  points_.resize(begin[kChunks]);
  pool.run(kChunks, [&](int k) {
    const std::vector<CrowdPoint>& found = workers_[static_cast<std::size_t>(k)].points;
    std::copy(found.begin(), found.end(),
              points_.begin() + static_cast<std::ptrdiff_t>(begin[static_cast<std::size_t>(k)]));
  });
}

void CrowdSearch::sort_cells(double reach) {
  if (small_.empty()) return;
  double widest = 0;
  Vec3 high = Vec3::Constant(-std::numeric_limits<double>::infinity());
  low_ = -high;
  for (const int i : small_) {
    const Member& m = members_[static_cast<std::size_t>(i)];
    widest = std::max(widest, 2 * m.bound);
    low_ = low_.cwiseMin(m.centre);
    high = high.cwiseMax(m.centre);
  }
  width_ = widest + reach;
  if (!(width_ > 0)) width_ = 1;  // points alone, without reach
  for (;;) {
    double cells = 1;
    for (int k = 0; k < 3; ++k) {
      const double n = std::floor((high[up_[k]] - low_[up_[k]]) / width_) + 3;
      count_[k] = static_cast<std::int64_t>(std::min(n, 1e9));
      cells *= n;
    }
    // Bodies far apart: wider cells, so that the table stays as large as the crowd.
    if (cells <= 16.0 * static_cast<double>(small_.size()) + 4096) break;
    width_ *= 2;
  }
  // The order of the last time is a good start.
  if (cells_.size() != small_.size()) {
    cells_.resize(small_.size());
    for (std::size_t i = 0; i < small_.size(); ++i) cells_[i].member = small_[i];
  }
  for (Cell& c : cells_) {
    const Member& m = members_[static_cast<std::size_t>(c.member)];
    std::int64_t at[3];
    for (int k = 0; k < 3; ++k) {
      at[k] = static_cast<std::int64_t>((m.centre[up_[k]] - low_[up_[k]]) / width_) + 1;
      if (k == 2 && sense_ < 0) at[k] = count_[k] - 1 - at[k];
    }
    c.key = static_cast<std::uint64_t>((at[2] * count_[1] + at[1]) * count_[0] + at[0]);
    c.x = m.centre.x();
    c.y = m.centre.y();
    c.z = m.centre.z();
    c.r = m.bound;
  }
  const auto before = [](const Cell& a, const Cell& b) {
    return a.key < b.key || (a.key == b.key && a.member < b.member);
  };
  sort_again(cells_, before);
  const auto total = static_cast<std::size_t>(count_[0] * count_[1] * count_[2]);
  begin_.assign(total + 2, 0);
  for (const Cell& c : cells_) ++begin_[static_cast<std::size_t>(c.key) + 1];
  for (std::size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
}

void CrowdSearch::sweep_cells(SearchWorker& scout, std::size_t first, std::size_t last, double reach) const {
  const std::int64_t nx = count_[0], plane = count_[0] * count_[1];
  // Three cells in a row follow each other: ranges that begin at these, half of the cells around.
  const std::int64_t rows[4] = {nx - 1, plane - nx - 1, plane - 1, plane + nx - 1};
  for (std::size_t i = first; i < last; ++i) {
    const Cell a = cells_[i];
    for (const int large : large_)
      if (may_touch_large(a.member, large, reach)) look(scout, a.member, large, reach);
    const auto try_range = [&](std::size_t from, std::size_t to) {
      for (std::size_t k = from; k < to; ++k) {
        const Cell& b = cells_[k];
        const double dx = a.x - b.x, dy = a.y - b.y, dz = a.z - b.z, far = a.r + b.r + reach;
        if (dx * dx + dy * dy + dz * dz <= far * far) look(scout, a.member, b.member, reach);
      }
    };
    const auto key = static_cast<std::int64_t>(a.key);
    // The rest of its own cell and the next one.
    try_range(i + 1, static_cast<std::size_t>(begin_[static_cast<std::size_t>(key + 2)]));
    for (const std::int64_t row : rows) {
      const std::int64_t from = key + row, to = from + 3;
      if (from + 1 >= static_cast<std::int64_t>(begin_.size()) - 1) continue;
      const auto end = static_cast<std::size_t>(std::min(to, static_cast<std::int64_t>(begin_.size()) - 1));
      try_range(static_cast<std::size_t>(begin_[static_cast<std::size_t>(from)]),
                static_cast<std::size_t>(begin_[end]));
    }
  }
}

void CrowdSearch::sort_heights(double reach, WorkerPool& pool) {
  visit_chunks(small_.size(), pool, [&](std::size_t from, std::size_t to, int) {
    for (std::size_t m = from; m < to; ++m) {
      const auto i = static_cast<std::size_t>(small_[m]);
      boxes_[m] = world_box(contacts_.shapes[i].geometry, poses_[i]);
      boxes_[m].lo.array() -= 0.5 * reach;
      boxes_[m].hi.array() += 0.5 * reach;
      height_[m] = sense_ * members_[i].centre[up_[2]];
    }
  });
  tree_.place(boxes_);
  const auto before = [&](int a, int b) {
    const double x = height_[static_cast<std::size_t>(a)], y = height_[static_cast<std::size_t>(b)];
    return x != y ? x < y : a < b;
  };
  sort_again(by_height_, before);
  for (std::size_t k = 0; k < by_height_.size(); ++k)
    rank_[static_cast<std::size_t>(by_height_[k])] = static_cast<int>(k);
  // level_axis() asks which of the two extents across is the wider.
  Vec3 low = Vec3::Constant(std::numeric_limits<double>::infinity()), high = -low;
  for (const WorldBox& box : boxes_) {
    low = low.cwiseMin(box.lo);
    high = high.cwiseMax(box.hi);
  }
  const bool second_is_wider = high[up_[1]] - low[up_[1]] > high[up_[0]] - low[up_[0]];
  count_[0] = second_is_wider ? 1 : 2;
  count_[1] = second_is_wider ? 2 : 1;
}

void CrowdSearch::sweep_tree(SearchWorker& scout, std::size_t first, std::size_t last, double reach) const {
  const auto of = [&](int m) { return small_[static_cast<std::size_t>(m)]; };
  const auto rank = [&](int m) { return rank_[static_cast<std::size_t>(m)]; };
  for (std::size_t k = first; k < last; ++k) {
    const int m = by_height_[k], i = of(m);
    for (const int large : large_)
      if (may_touch_large(i, large, reach)) look(scout, i, large, reach);
    scout.near.clear();
    const Member& a = members_[static_cast<std::size_t>(i)];
    tree_.overlapping(m, [&](int o) {
      // Of two of a level the lower one looks, of two levels the smaller one.
      if (tree_.level(o) == tree_.level(m) && rank(o) < rank(m)) return;
      const Member& b = members_[static_cast<std::size_t>(of(o))];
      const double far = a.bound + b.bound + reach;
      if (a.link != b.link && (a.centre - b.centre).squaredNorm() <= far * far) scout.near.push_back(rank(o));
    });
    std::sort(scout.near.begin(), scout.near.end());
    for (const int other : scout.near) look(scout, i, of(by_height_[static_cast<std::size_t>(other)]), reach);
  }
}

bool CrowdSearch::may_touch_large(int small, int large, double reach) const {
  const Member &a = members_[static_cast<std::size_t>(small)], &b = members_[static_cast<std::size_t>(large)];
  if (a.link == b.link) return false;
  const Geometry& g = contacts_.shapes[static_cast<std::size_t>(large)].geometry;
  if (g.hollow) return true;
  const Pose<double>& pose = poses_[static_cast<std::size_t>(large)];
  const Vec3 r = a.centre - b.centre;
  const double far = a.bound + reach;
  if (g.kind == Kind::plane) return r.dot(pose.R.col(2)) <= far;
  if (g.kind == Kind::line && g.length == 0) return r.dot(pose.R.col(1)) <= far;
  if (g.kind == Kind::box) {
    for (int k = 0; k < 3; ++k)
      if (std::abs(r.dot(pose.R.col(k))) > 0.5 * g.size[k] + far) return false;
    return true;
  }
  if (!std::isfinite(b.bound)) return true;
  return r.squaredNorm() <= (b.bound + far) * (b.bound + far);
}

void CrowdSearch::look(SearchWorker& scout, int i, int k, double reach) const {
  bool turned = false;
  const int entry = entry_of(i, k, turned);
  if (entry < 0) return;
  const int first = turned ? k : i, second = turned ? i : k;
  const Member &a = members_[static_cast<std::size_t>(first)], &b = members_[static_cast<std::size_t>(second)];
  if (a.radius > 0 && b.radius > 0) return balls(scout, first, second, entry, reach);
  if (a.radius > 0 && contacts_.shapes[static_cast<std::size_t>(second)].geometry.kind == Kind::plane)
    return ball_on_plane(scout, first, second, false, entry, reach);
  if (b.radius > 0 && contacts_.shapes[static_cast<std::size_t>(first)].geometry.kind == Kind::plane)
    return ball_on_plane(scout, second, first, true, entry, reach);
  others(scout, first, second, entry, reach);
}

void CrowdSearch::add(SearchWorker& scout, int first, int second, int entry, const Touch<double>& t) const {
  CrowdPoint& p = scout.points.emplace_back();
  p.shape1 = first;
  p.shape2 = second;
  p.entry = entry;
  p.key = static_cast<std::uint64_t>(first) * members_.size() + static_cast<std::uint64_t>(second);
  p.gap = t.gap;
  p.n = t.n;
  p.p1 = t.p1;
  p.p2 = t.p2;
}

void CrowdSearch::balls(SearchWorker& scout, int i, int k, int entry, double reach) const {
  const Member &a = members_[static_cast<std::size_t>(i)], &b = members_[static_cast<std::size_t>(k)];
  const Vec3 d = a.centre - b.centre;
  const double distance = d.norm(), gap = distance - a.radius - b.radius;
  if (gap > reach) return;
  Touch<double> t;
  t.gap = gap;
  t.n = distance > 1e-12 * a.radius ? Vec3(d / distance) : Vec3::Unit(up_[2]);
  t.p1 = a.centre - a.radius * t.n;
  t.p2 = b.centre + b.radius * t.n;
  add(scout, i, k, entry, t);
}

void CrowdSearch::ball_on_plane(SearchWorker& scout, int ball, int plane, bool turned, int entry, double reach) const {
  const Member& a = members_[static_cast<std::size_t>(ball)];
  const Pose<double>& pose = poses_[static_cast<std::size_t>(plane)];
  const Vec3 up = pose.R.col(2);
  const double height = up.dot(a.centre - pose.p);
  if (height - a.radius > reach) return;
  Touch<double> t;
  t.gap = height - a.radius;
  t.n = up;
  t.p1 = a.centre - a.radius * up;
  t.p2 = a.centre - height * up;
  if (turned) {
    t.n = -up;
    std::swap(t.p1, t.p2);
    return add(scout, plane, ball, entry, t);
  }
  add(scout, ball, plane, entry, t);
}

void CrowdSearch::polytopes(SearchWorker& scout, int first, int second, int entry, double reach) const {
  const bool turned = swapped(contacts_.shapes[static_cast<std::size_t>(first)].geometry,
                              contacts_.shapes[static_cast<std::size_t>(second)].geometry);
  const auto i = static_cast<std::size_t>(turned ? second : first),
             k = static_cast<std::size_t>(turned ? first : second);
  const Geometry &a = contacts_.shapes[i].geometry, &b = contacts_.shapes[k].geometry;
  const Frame3<double> A(poses_[i]), B(poses_[k]);
  scout.manifold.find(a, b, A, B, reach, true);
  const double separation = scout.manifold.separation();
  if (separation > reach) return;
  double least = std::numeric_limits<double>::infinity();
  const auto tell = [&](Near3<double> near) {
    least = std::min(least, near.gap);
    if (turned) turn_round(near);
    Touch<double> t;
    t.gap = near.gap;
    t.n = near.n;
    t.p1 = near.p1;
    t.p2 = near.p2;
    add(scout, first, second, entry, t);
  };
  for (const PolytopeManifold::Point& p : scout.manifold.points()) {
    Near3<double> near;
    if (polytope_feature<double>(a, b, p.slot, p.feature, A, B, near) && near.gap <= reach) tell(near);
  }
  // Apart with nothing above a face or across an edge: ends of edges are nearest, in no slot.
  const double rounding = 1e-9 * (a.bound + b.bound);
  NearestPoints nearest;
  if (separation <= rounding || least <= separation + rounding) return;
  if (!nearest_edges(a, b, A, B, scout.manifold.axis(), std::min(least, reach), nearest)) return;
  Near3<double> near;
  near.gap = nearest.distance;
  near.n = (nearest.p1 - nearest.p2) / nearest.distance;
  near.p1 = nearest.p1;
  near.p2 = nearest.p2;
  tell(near);
}

void CrowdSearch::others(SearchWorker& scout, int first, int second, int entry, double reach) const {
  const Geometry &a = contacts_.shapes[static_cast<std::size_t>(first)].geometry,
                 &b = contacts_.shapes[static_cast<std::size_t>(second)].geometry;
  const Pose<double>&A = poses_[static_cast<std::size_t>(first)], &B = poses_[static_cast<std::size_t>(second)];
  const auto ask = [&](int slot) {
    Branch branch;
    Touch<double> t;
    t.gap = std::numeric_limits<double>::max();
    if (touch<double>(a, b, slot, A, B, branch, t) && t.gap <= reach) add(scout, first, second, entry, t);
  };
  const bool turned = swapped(a, b);
  if (family(a.kind) == Family::polytope && family(b.kind) == Family::polytope && !a.hollow && !b.hollow) {
    if (told_apart(a, b, A, B, reach)) return;
    return polytopes(scout, first, second, entry, reach);
  }
  if (a.kind == Kind::polygon && b.kind == Kind::polygon) {
    const PolygonManifold manifold = polygon_manifold(a, b, Frame2<double>(A), Frame2<double>(B));
    const int count = static_cast<int>(a.points.size()), all = count + static_cast<int>(b.points.size());
    for (int slot = 0; slot < all; ++slot)
      if (manifold.touched_by(slot < count, slot < count ? slot : slot - count) >= 0) ask(slot);
    return;
  }
  const Geometry &one = turned ? b : a, &two = turned ? a : b;
  if (one.kind == Kind::cylinder) {
    const Frame3<double> at_one(turned ? B : A), at_two(turned ? A : B);
    if (two.kind == Kind::cylinder && cylinders_apart(one, two, at_one, at_two, reach)) return;
    if (family(two.kind) == Family::polytope && cylinder_apart(one, two, at_one, at_two, reach)) return;
  }
  const int slots = slot_count(one, two);
  for (int slot = 0; slot < slots; ++slot) ask(slot);
}

}  // namespace clatter::contact
