// Contacts that the begin of a step does not show, found at its end; for CrowdStepper.
//
//   A row is linear in what a step moves: gap + h n . u at the points and along the normal of its begin. Balls cannot
//   get past it, |d + h u| >= n . (d + h u). Other shapes can: the point where nearly parallel axes cross runs along
//   them within a step, and pieces meet with corners and edges that were not the nearest.
//
//   The step is solved, the bodies are moved, and the pairs that were near are looked at again there. Positions are
//   pushed out of what is deep (crowd_push.cpp), and the next step sees what still approaches: that is enough where
//   the step has lost the energy for it. Where it has not, the impact itself was missed. A point of the end, of depth
//   -g, with normal n of the end and its two material points taken back to the begin (arms c), makes a row of the step:
//
//   n . u + b >= 0,   b = max(0, g / h - n . u*),   u*: rates of the solution at hand
//
//   which is what the end showed at u* (the secant), and no approach where the points had passed each other along n
//   before the step. b >= 0 as in every row: what is solved brings no energy in (crowd_budget.cpp). Impulses at hand
//   are where the next solution starts. What is deep and does not approach, or because sweeps ended early, was not
//   missed.
#include <algorithm>
#include <cmath>
#include <limits>

#include "contact/crowd_stepper.hpp"

namespace clatter::contact {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

// How far a point of any shape of a link is from its mass centre; balls about it do not move by turning.
void CrowdStepper::measure_links() {
  look_.extent.assign(engine_.system().tree.links.size(), 0);
  for (std::size_t i = 0; i < system().shapes.size(); ++i) {
    const ShapeInstance& s = system().shapes[i];
    if (s.link >= 0 && !nodes_.is_ball[i])
      look_.extent[at(s.link)] = std::max(look_.extent[at(s.link)], s.r.norm() + s.geometry.bound);
  }
  look_.moved.assign(look_.extent.size(), 0);
}

// Size of the smaller shape; points have none, and are mended down to rounding.
double CrowdStepper::smaller_of(const CrowdPoint& p) const {
  return std::min(system().shapes[at(p.shape1)].geometry.bound, system().shapes[at(p.shape2)].geometry.bound);
}

double CrowdStepper::most_depth(double size) const {
  constexpr double kRounding = 1e-12;
  return std::max({kDeep * size, ending_.allowed, kRounding * system().length_scale});
}

// At most what the points of links move in h at velocities v. What moves on joints: unknown.
void CrowdStepper::measure_ways(double h, const Vec& v) {
  const Tree& tree = engine_.system().tree;
  std::fill(look_.moved.begin(), look_.moved.end(),
            nodes_.groups.empty() ? 0 : std::numeric_limits<double>::infinity());
  for (const int l : nodes_.bodies) {
    const Link& link = tree.links[at(l)];
    const double* x = v.data() + link.v;
    double linear = x[0] * x[0] + x[1] * x[1], turn = 0;
    if (link.mobility == Mobility::free6 || link.mobility == Mobility::particle3) linear += x[2] * x[2];
    if (link.mobility == Mobility::free6) turn = x[3] * x[3] + x[4] * x[4] + x[5] * x[5];
    if (link.mobility == Mobility::planar3) turn = x[2] * x[2];
    look_.moved[at(l)] = h * (std::sqrt(linear) + (turn > 0 ? std::sqrt(turn) * look_.extent[at(l)] : 0.0));
  }
}

// Points of the end with gap <= reach, where `deep` only of pairs that may be too deep: of those that were near at the
// begin, or of all, where impulses made something faster than was looked for there.
void CrowdStepper::find_at_end(double reach, bool deep) {
  double most = 0;
  for (const double way : look_.moved) most = std::max(most, way);
  if (2 * most <= speeds_.reach)
    again_.find_again(search_.points(), engine_.links().motion, look_.moved, reach, deep ? kDeep : 0,
                      deep ? ending_.allowed : 0, pool_);
  else
    again_.find(engine_.links().motion, reach, pool_);
}

// Whether a point is too deep at the engine's present links; those seen are in `again_`.
bool CrowdStepper::anything_deep() {
  find_at_end(0, true);
  for (const CrowdPoint& p : again_.points())
    if (p.gap < -most_depth(smaller_of(p))) return true;
  return false;
}

// Keeps what `again_` saw deep at the engine's present links.
void CrowdStepper::keep_missed() {
  look_.missed.clear();
  const auto local = [&](int link, const Vec3& p) -> Vec3 {
    if (link < 0) return p;
    const LinkMotion& m = engine_.links().motion[at(link)];
    return m.R.transpose() * (p - m.p);
  };
  for (const CrowdPoint& p : again_.points()) {
    if (!(p.gap < -most_depth(smaller_of(p)))) continue;
    look_.missed.push_back(
        {p, local(system().shapes[at(p.shape1)].link, p.p1), local(system().shapes[at(p.shape2)].link, p.p2)});
  }
}

namespace {

// Places of a list by the keys of its items, in order.
template <class Items>
void index_by_key(const Items& items, std::vector<std::pair<std::uint64_t, int>>& out) {
  out.clear();
  for (std::size_t i = 0; i < items.size(); ++i) out.emplace_back(items[i].key, static_cast<int>(i));
  std::sort(out.begin(), out.end());
}

auto first_of(const std::vector<std::pair<std::uint64_t, int>>& index, std::uint64_t key) {
  return std::lower_bound(index.begin(), index.end(), std::pair(key, 0));
}

}  // namespace

// Whether a row of the pair along the same normal still approaches: it explains half of the depth at least. Rows that
// were missed and added follow each other by pairs.
bool CrowdStepper::is_known(const CrowdPoint& end, const Draft& added, double h) const {
  constexpr double kSameNormal = 0.99;
  const auto explains = [&](const CrowdRow& row) {
    const Vec3 n(row.n[0], row.n[1], row.n[2]);
    return n.dot(end.n) > kSameNormal && n.dot(problem_.rate(row)) + row.b < 0.5 * end.gap / h;
  };
  for (auto k = first_of(look_.row_of_key, end.key); k != look_.row_of_key.end() && k->first == end.key; ++k)
    if (explains(problem_.rows[at(k->second)])) return true;
  for (std::size_t i = added.rows.size() - 1; i > 0 && added.about[i - 1].key == end.key; --i)
    if (explains(added.rows[i - 1])) return true;
  return false;
}

// Rows of what was missed; false where none of it approaches.
bool CrowdStepper::add_missed(double h, double tolerance) {
  if (look_.missed.empty() || only_balls()) return false;
  engine_.prepare_response(contact_.engine_state(now_));
  const auto placed = [&](int link, const Vec3& r) -> Vec3 {
    if (link < 0) return r;
    const LinkMotion& m = engine_.links().motion[at(link)];
    return m.p + m.R * r;
  };
  index_by_key(search_.points(), look_.point_of_key);
  index_by_key(assembly_.origins, look_.row_of_key);
  Draft &free = assembly_.drafts[0], &jointed = assembly_.drafts[1];
  for (Draft* draft : {&free, &jointed}) {
    draft->begin(entries_.now.size(), 0);
    draft->may_wait = false;  // what approaches and is not paid for must be stopped now
  }
  for (const Missed& missed : look_.missed) {
    const CrowdPoint& p = missed.end;
    // Pairs that were not near at the begin have met because of impulses, whose loss pays for a push.
    const auto begin = first_of(look_.point_of_key, p.key);
    if (begin == look_.point_of_key.end() || begin->first != p.key) continue;
    const int link1 = system().shapes[at(p.shape1)].link, link2 = system().shapes[at(p.shape2)].link;
    const Vec3 p1 = placed(link1, missed.r1), p2 = placed(link2, missed.r2);
    Draft& draft = coupled(link1) || coupled(link2) ? jointed : free;
    const auto change_places = [&] {
      problem_.bodies.swap(free_.bodies);
      problem_.x.swap(free_.x);
    };
    change_places();
    const bool made = make_row(draft, p.entry, begin->second, p.key, link1, link2, p1, p2, p.n, p.n.dot(p1 - p2),
                               smaller_of(p), crowd_.contacts[at(p.entry)].law, h);
    change_places();
    if (!made) continue;
    CrowdRow& row = draft.rows.back();
    RowOrigin& about = draft.about.back();
    // The impulse remembered is that of the pair's row of the begin.
    row.pn = row.pt[0] = row.pt[1] = row.pt[2] = 0;
    if (laws_.turning)
      for (double& m : draft.turns.back().m) m = 0;
    about.closed = false;
    about.place = p.p2;
    const double rate = p.n.dot(problem_.rate(row));
    if (row.b >= 0) about.way = std::max(0.0, p.gap / h - rate);
    row.b = about.lands ? 0 : about.way;
    if (rate + row.b >= -tolerance || is_known(p, draft, h)) draft.drop_last();
  }
  // Those between free bodies behind the others of their kind, in no block; those in jointed trees at the end.
  const auto insert = [&](auto& list, const auto& of_free, const auto& of_jointed) {
    list.insert(list.begin() + problem_.free_rows, of_free.begin(), of_free.end());
    list.insert(list.end(), of_jointed.begin(), of_jointed.end());
  };
  insert(problem_.rows, free.rows, jointed.rows);
  insert(assembly_.origins, free.about, jointed.about);
  if (laws_.shifting) insert(problem_.shifts, free.shifts, jointed.shifts);
  if (laws_.turning) insert(problem_.turns, free.turns, jointed.turns);
  if (laws_.turning) insert(assembly_.turned, free.turned, jointed.turned);
  problem_.free_rows += static_cast<int>(free.rows.size());
  const bool any = !free.rows.empty() || !jointed.rows.empty();
  effort_.looks += any ? 1 : 0;
  return any;
}

}  // namespace clatter::contact
