// Between the engine's links and the bodies of a CrowdProblem, for CrowdStepper: which links are free bodies and which
// answer together, their velocities in and out, columns of places in jointed trees, and slabs of rows for threads.
//
// Free bodies turn by the midpoint rule, I (w+ - w) / h + w_m x I w_m = N, w_m = (w + w+) / 2, in their own axes: the
// gyroscopic moment then does no work. Euler's method would add half of h^2 |I^-1 (w x I w)|^2 a step.
#include <algorithm>
#include <cmath>

#include "contact/crowd_stepper.hpp"

namespace clatter::contact {

namespace {

// Fewer contacts are swept in one go.
constexpr std::size_t kBlockRows = 4000;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// All moments of inertia alike.
bool same_moments(const Mat3& inertia) {
  const double mean = inertia.trace() / 3;
  return (inertia - mean * Mat3::Identity()).cwiseAbs().maxCoeff() <= 1e-12 * mean;
}

// w+ of the midpoint rule from w and explicit = w + h I^-1 (N - w x I w).
Vec3 turned(const Link& link, const Vec3& w, const Vec3& explicitly, double h) {
  constexpr int kMost = 6;
  const Mat3& I = link.inertia;
  const Vec3 target = I * explicitly + h * w.cross(Vec3(I * w));
  Vec3 next = explicitly;
  for (int k = 0; k < kMost; ++k) {
    const Vec3 middle = 0.5 * (w + next), momentum = I * middle;
    const Vec3 r = I * next + h * middle.cross(momentum) - target;
    const Mat3 J = I + 0.5 * h * (skew<double>(middle) * I - skew<double>(momentum));
    const Vec3 change = J.inverse() * r;
    next -= change;
    if (change.squaredNorm() <= 1e-28 * next.squaredNorm()) break;
  }
  return next;
}

}  // namespace

// Ends of ropes; marks their links.
void CrowdStepper::place_ropes(std::vector<char>& used) {
  const System& sys = engine_.system();
  for (const CrowdRope& rope : crowd_.ropes) {
    RopeEnds ends;
    const auto end = [&](const Attachment& a, int& link, Vec3& r) {
      r = a.placement.position;
      if (!a.marker.empty()) {
        const Frame place = sys.on_marker(a);
        link = place.link;
        r = place.r;
      } else if (a.body >= 0) {
        const Frame& frame = sys.frames[at(sys.bodies[at(a.body)].frame)];
        link = frame.link;
        r = frame.r + frame.R * r;
      }
    };
    end(rope.a, ends.link1, ends.r1);
    end(rope.b, ends.link2, ends.r2);
    for (const int link : {ends.link1, ends.link2})
      if (link >= 0) used[at(link)] = 1;
    ropes_.push_back(ends);
    problem_.balls = false;
  }
}

// Which links are free bodies, which answer together.
void CrowdStepper::place_links() {
  const System& sys = engine_.system();
  const Tree& tree = sys.tree;
  std::vector<int> group_of_tree;
  engine_.response_groups(group_of_tree);
  nodes_.places.assign(tree.links.size(), {});
  std::vector<int> number(tree.trees.size() + 1, -1);
  problem_.balls = true;
  problem_.bodies.assign(CrowdProblem::grounds, {});
  problem_.inverse_inertia.assign(CrowdProblem::grounds, Mat3::Zero());
  std::vector<char> used(tree.links.size(), 0);
  for (const ShapeInstance& s : system().shapes)
    if (s.link >= 0) used[at(s.link)] = 1;
  std::vector<char> grouped(tree.trees.size(), 0);
  use_slots(used, grouped);
  place_ropes(used);
  int packed = 0;
  for (int l = 0; l < static_cast<int>(tree.links.size()); ++l) {
    if (!used[at(l)]) continue;
    const Link& link = tree.links[at(l)];
    const TreeRange& range = tree.trees[at(link.tree)];
    if (range.v0 == range.v1) continue;
    const int group = group_of_tree[at(link.tree)];
    if (range.simple && group > 0 && !grouped[at(link.tree)]) {
      nodes_.places[at(l)].body = static_cast<int>(problem_.bodies.size());
      CrowdBody body;
      const bool particle = link.mobility == Mobility::particle3 || link.mobility == Mobility::particle2;
      body.inverse_mass = 1 / link.mass;
      if (!particle) body.inverse_inertia = 3 / link.inertia.trace();
      // What can turn about one axis only, or not at all, is no ball.
      if (link.mobility != Mobility::free6 || !same_moments(link.inertia)) problem_.balls = false;
      problem_.bodies.push_back(body);
      problem_.inverse_inertia.push_back(Mat3::Zero());
      nodes_.bodies.push_back(l);
      nodes_.round.push_back(same_moments(link.inertia));
      continue;
    }
    int& k = number[at(std::abs(group))];
    if (k < 0) {
      k = static_cast<int>(nodes_.groups.size());
      Group g;
      g.first = packed;
      int trees = 0;
      for (std::size_t t = 0; t < tree.trees.size(); ++t) {
        if (std::abs(group_of_tree[t]) != std::abs(group)) continue;
        const int n = tree.trees[t].v1 - tree.trees[t].v0;
        g.ranges.emplace_back(tree.trees[t].v0, n);
        g.n += n;
        ++trees;
      }
      if (group > 0 && trees == 1) g.tree = link.tree;
      packed += g.n;
      nodes_.groups.push_back(std::move(g));
    }
    nodes_.places[at(l)].group = k;
  }
  problem_.x.assign(at(packed), 0);
  nodes_.is_ball.assign(system().shapes.size(), 0);
  for (std::size_t i = 0; i < system().shapes.size(); ++i) {
    const ShapeInstance& s = system().shapes[i];
    nodes_.is_ball[i] = s.geometry.kind == ContactShape::Kind::sphere && s.r.norm() <= 1e-12 * s.geometry.radius;
    if (s.link >= 0 && !nodes_.is_ball[i]) problem_.balls = false;
  }
}

// Bodies and groups at the velocities without contacts.
void CrowdStepper::gather(double h) {
  const Tree& tree = engine_.system().tree;
  free_.v = now_.v + h * free_.a;
  speeds_.fastest = speeds_.change = 0;
  for (int k = 0; k < CrowdProblem::grounds; ++k) problem_.bodies[at(k)] = {};
  for (std::size_t k = 0; k < nodes_.bodies.size(); ++k) {
    const Link& link = tree.links[at(nodes_.bodies[k])];
    const LinkMotion& m = engine_.links().motion[at(nodes_.bodies[k])];
    CrowdBody& body = problem_.bodies[k + CrowdProblem::grounds];
    const double* v = free_.v.data() + link.v;
    Vec3 w = Vec3::Zero();
    body.v[0] = v[0];
    body.v[1] = v[1];
    body.v[2] = 0;
    switch (link.mobility) {
      case Mobility::free6:
        body.v[2] = v[2];
        w = Vec3(v[3], v[4], v[5]);
        if (!nodes_.round[k]) w = turned(link, now_.v.segment<3>(link.v + 3), w, h);
        w = m.R * w;
        break;
      case Mobility::particle3:
        body.v[2] = v[2];
        break;
      case Mobility::planar3:
        w[2] = v[2];
        break;
      default:
        break;
    }
    for (int i = 0; i < 3; ++i) body.w[i] = w[i];
    const Vec3 free(body.v[0], body.v[1], body.v[2]);
    speeds_.change = std::max(speeds_.change, (free - m.v).norm());
    if (!problem_.balls) {
      Mat3& inverse = problem_.inverse_inertia[k + CrowdProblem::grounds];
      if (link.mobility == Mobility::free6)
        inverse.noalias() = m.R * link.inertia_inverse * m.R.transpose();
      else if (link.mobility == Mobility::planar3)
        inverse(2, 2) = 1 / link.inertia(2, 2);
    }
  }
  for (const Group& g : nodes_.groups) {
    int j = g.first;
    for (const auto& [first, n] : g.ranges)
      for (int i = 0; i < n; ++i) problem_.x[at(j++)] = free_.v[first + i];
  }
  if (!nodes_.groups.empty())
    for (int i = 0; i < n_.nv; ++i)
      speeds_.change =
          std::max(speeds_.change, std::abs(h * free_.a[i]) / projector_.v_scale()[i] * system().velocity_scale);
  for (std::size_t i = 0; i < system().shapes.size(); ++i) {
    const ShapeInstance& s = system().shapes[i];
    if (s.link < 0) continue;
    const LinkMotion& m = engine_.links().motion[at(s.link)];
    double speed = m.v.norm();
    if (!nodes_.is_ball[i])
      speed += m.w.norm() * (s.r.norm() + (std::isfinite(s.geometry.bound) ? s.geometry.bound : 0.0));
    speeds_.fastest = std::max(speeds_.fastest, speed);
  }
  if (slots_.any) speeds_.fastest = std::max(speeds_.fastest, contact_.contacts().largest_speed());
}

int CrowdStepper::side_of(CrowdProblem& problem, int link, const Vec3& arm) {
  if (link < 0) return 0;
  if (nodes_.places[at(link)].group < 0) return nodes_.places[at(link)].body;
  const Vec3 F[3] = {Vec3::UnitX(), Vec3::UnitY(), Vec3::UnitZ()},
             N[3] = {arm.cross(F[0]), arm.cross(F[1]), arm.cross(F[2])};
  return ~columns_of(problem, link, F, N);
}

// W and X of three loads, force F and moment N about its mass centre, on a link in jointed trees.
int CrowdStepper::columns_of(CrowdProblem& problem, int link, const Vec3 F[3], const Vec3 N[3]) {
  const Group& g = nodes_.groups[at(nodes_.places[at(link)].group)];
  CrowdSide side;
  side.offset = static_cast<int>(problem.W.size());
  side.first = g.first;
  side.n = g.n;
  problem.W.resize(problem.W.size() + at(3 * g.n), 0);
  problem.X.resize(problem.W.size(), 0);
  for (int k = 0; k < 3; ++k) {
    double* W = problem.W.data() + side.offset + k * g.n;
    double* X = problem.X.data() + side.offset + k * g.n;
    if (g.tree >= 0) {
      std::fill(W, W + g.n, 0.0);
      engine_.add_generalized_of_tree(link, F[k], N[k], W);
      engine_.response_tree(g.tree, W, X);
      continue;
    }
    scratch_.column.setZero();
    engine_.add_generalized(link, F[k], N[k], scratch_.column.data());
    engine_.response(scratch_.column.data(), scratch_.answer.data(), nullptr);
    int j = 0;
    for (const auto& [first, n] : g.ranges)
      for (int i = 0; i < n; ++i, ++j) {
        W[j] = scratch_.column[first + i];
        X[j] = scratch_.answer[first + i];
      }
  }
  problem.sides.push_back(side);
  return static_cast<int>(problem.sides.size()) - 1;
}

// Slabs of equally many bodies along a horizontal axis; rows within one come first, slab by slab, those between two
// after them, in the order they had. A matter of the positions alone, not of the threads there are.
void CrowdStepper::cut_into_blocks(std::size_t points) {
  blocks_.count = 0;
  if (points < kBlockRows || crowd_.solver != CrowdSolver::gauss_seidel) return;
  blocks_.count = points < 4 * kBlockRows ? 2 : CrowdProblem::grounds;
  const int axis = search_.level_axis();
  blocks_.along.clear();
  for (const int link : nodes_.bodies) blocks_.along.push_back(engine_.links().motion[at(link)].p[axis]);
  double cuts[CrowdProblem::grounds - 1];
  blocks_.sorted.assign(blocks_.along.begin(), blocks_.along.end());
  for (int k = 1; k < blocks_.count; ++k) {
    const auto middle =
        blocks_.sorted.begin() + static_cast<std::ptrdiff_t>(blocks_.sorted.size() * at(k) / at(blocks_.count));
    std::nth_element(blocks_.sorted.begin(), middle, blocks_.sorted.end());
    cuts[k - 1] = *middle;
  }
  blocks_.of_body.assign(problem_.bodies.size(), -1);
  for (std::size_t i = 0; i < nodes_.bodies.size(); ++i) {
    int block = 0;
    while (block < blocks_.count - 1 && blocks_.along[i] >= cuts[block]) ++block;
    blocks_.of_body[i + CrowdProblem::grounds] = block;
  }
}

// Of two free bodies, or one and the ground; blocks_.count: of two blocks.
int CrowdStepper::block_between(int side1, int side2) const {
  if (blocks_.count == 0) return 0;
  const int a = blocks_.of_body[at(side1)], b = blocks_.of_body[at(side2)];
  return a < 0 ? b : b < 0 || a == b ? a : blocks_.count;
}

// Which block the rows of a draft belong to; each block has a ground of its own.
void CrowdStepper::count_blocks(Draft& draft) const {
  std::fill(draft.count, draft.count + CrowdProblem::grounds + 1, 0);
  draft.block.resize(draft.rows.size());
  for (std::size_t i = 0; i < draft.rows.size(); ++i) {
    CrowdRow& row = draft.rows[i];
    const int block = block_between(row.side1, row.side2);
    if (block < blocks_.count) {
      if (row.side1 == 0) row.side1 = block;
      if (row.side2 == 0) row.side2 = block;
    }
    draft.block[i] = block;
    ++draft.count[block];
  }
}

// Rows of the problem: block by block, in each in the order of the drafts.
void CrowdStepper::join_drafts(int drafts) {
  problem_.blocks.clear();
  int sum = 0;
  for (int block = 0; block <= blocks_.count; ++block) {
    if (blocks_.count > 0) problem_.blocks.push_back(sum);
    for (int k = 0; k < drafts; ++k) {
      assembly_.drafts[at(k)].begin_of_block[block] = sum;
      sum += assembly_.drafts[at(k)].count[block];
    }
  }
  problem_.free_rows = sum;
  problem_.rows.resize(at(sum));
  assembly_.origins.resize(at(sum));
  problem_.turns.resize(laws_.turning ? at(sum) : 0);
  assembly_.turned.resize(problem_.turns.size());
  problem_.shifts.resize(laws_.shifting ? at(sum) : 0);
  pool_.run(drafts, [&](int k) {
    Draft& draft = assembly_.drafts[at(k)];
    for (std::size_t i = 0; i < draft.rows.size(); ++i) {
      const auto to = at(draft.begin_of_block[draft.block[i]]++);
      problem_.rows[to] = draft.rows[i];
      assembly_.origins[to] = draft.about[i];
      if (laws_.shifting) problem_.shifts[to] = draft.shifts[i];
      if (!laws_.turning) continue;
      problem_.turns[to] = draft.turns[i];
      assembly_.turned[to] = draft.turned[i];
    }
  });
}

// Generalized velocities of the problem's.
void CrowdStepper::velocities(Vec& v) const {
  const Tree& tree = engine_.system().tree;
  v = free_.v;
  for (std::size_t k = 0; k < nodes_.bodies.size(); ++k) {
    const Link& link = tree.links[at(nodes_.bodies[k])];
    const CrowdBody& body = problem_.bodies[k + CrowdProblem::grounds];
    double* out = v.data() + link.v;
    out[0] = body.v[0];
    out[1] = body.v[1];
    if (link.mobility == Mobility::planar3) out[2] = body.w[2];
    if (link.mobility == Mobility::particle3) out[2] = body.v[2];
    if (link.mobility != Mobility::free6) continue;
    out[2] = body.v[2];
    const Vec3 w = engine_.links().motion[at(nodes_.bodies[k])].R.transpose() * Vec3(body.w[0], body.w[1], body.w[2]);
    for (int i = 0; i < 3; ++i) out[3 + i] = w[i];
  }
  for (const Group& g : nodes_.groups) {
    int j = g.first;
    for (const auto& [first, n] : g.ranges)
      for (int i = 0; i < n; ++i) v[first + i] = problem_.x[at(j++)];
  }
}

}  // namespace clatter::contact
