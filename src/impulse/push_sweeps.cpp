#include "impulse/push_sweeps.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace clatter::contact {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

double dot(const double* a, const double* b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

void add_to(double* to, double part, const double* from) {
  for (int k = 0; k < 3; ++k) to[k] += part * from[k];
}

}  // namespace

void PushSweeps::begin(const CrowdProblem& like) {
  problem.balls = like.balls;
  problem.bodies.assign(like.bodies.begin(), like.bodies.end());
  for (CrowdBody& body : problem.bodies)
    for (int k = 0; k < 3; ++k) body.v[k] = body.w[k] = 0;
  problem.inverse_inertia.assign(like.inverse_inertia.begin(), like.inverse_inertia.end());
  problem.x.assign(like.x.size(), 0);
  problem.rows.clear();
  problem.sides.clear();
  problem.W.clear();
  problem.X.clear();
  problem.free_rows = 0;
  rows_.clear();
  turns_.clear();
  block_.clear();
}

bool PushSweeps::add(int side1, int side2, const Vec3& n, const Vec3& c1, const Vec3& c2, double b, int block) {
  if (side1 < 0 || side2 < 0) {
    CrowdRow row{};
    row.side1 = side1;
    row.side2 = side2;
    for (int k = 0; k < 3; ++k) {
      row.n[k] = n[k];
      row.c1[k] = c1[k];
      row.c2[k] = c2[k];
    }
    row.b = b;
    problem.set_response(row);
    if (!(row.inverse_nn > 0)) return false;
    problem.rows.push_back(row);
    return true;
  }
  double response = problem.bodies[at(side1)].inverse_mass + problem.bodies[at(side2)].inverse_mass;
  if (!problem.balls) {
    const Vec3 r1 = c1.cross(n), r2 = c2.cross(n);
    const Vec3 a1 = problem.inverse_inertia[at(side1)] * r1, a2 = problem.inverse_inertia[at(side2)] * r2;
    response += r1.dot(a1) + r2.dot(a2);
    if (!(response > 0)) return false;
    Turn& turn = turns_.emplace_back();
    for (int k = 0; k < 3; ++k) {
      turn.r1[k] = r1[k];
      turn.a1[k] = a1[k];
      turn.r2[k] = r2[k];
      turn.a2[k] = a2[k];
    }
  }
  if (!(response > 0)) return false;
  rows_.push_back({{n[0], n[1], n[2]}, b, 0, 1 / response, side1, side2});
  block_.push_back(block);
  return true;
}

bool PushSweeps::add(const CrowdRow& row, double b, int block) {
  if (row.side1 < 0 || row.side2 < 0) {
    problem.rows.push_back(row);
    problem.rows.back().b = b;
    return true;
  }
  const auto vec = [](const double* x) { return Vec3(x[0], x[1], x[2]); };
  if (!add(row.side1, row.side2, vec(row.n), vec(row.c1), vec(row.c2), b, block)) return false;
  rows_.back().p = row.pn;
  return true;
}

// Bodies of rows that do not agree count as moved before the first sweep.
void PushSweeps::wake(double tolerance) {
  constexpr int kAsleep = -2, kAwake = -1;
  moved_.assign(problem.bodies.size(), kAsleep);
  for (std::size_t k = 0; k < rows_.size(); ++k) {
    const Row& row = rows_[k];
    const CrowdBody &o1 = problem.bodies[at(row.side1)], &o2 = problem.bodies[at(row.side2)];
    double rate = row.b + dot(row.n, o1.v) - dot(row.n, o2.v);
    if (!turns_.empty()) rate += dot(turns_[k].r1, o1.w) - dot(turns_[k].r2, o2.w);
    if (!(std::abs(std::max(0.0, row.p - rate * row.inverse) - row.p) > tolerance * row.inverse)) continue;
    for (const int side : {row.side1, row.side2})
      if (problem.bodies[at(side)].inverse_mass > 0) moved_[at(side)] = kAwake;
  }
}

// Number of rows answered.
template <bool Balls>
long PushSweeps::sweep(int from, int to, int number, double tolerance, bool backward) {
  long answered = 0;
  const int last = number - 1;
  for (int i = from; i < to; ++i) {
    const std::size_t k = at(backward ? to - 1 - (i - from) : i);
    Row& row = rows_[k];
    int &moved1 = moved_[at(row.side1)], &moved2 = moved_[at(row.side2)];
    if (moved1 < last && moved2 < last) continue;
    ++answered;
    CrowdBody &o1 = problem.bodies[at(row.side1)], &o2 = problem.bodies[at(row.side2)];
    double rate = row.b + dot(row.n, o1.v) - dot(row.n, o2.v);
    if constexpr (!Balls) rate += dot(turns_[k].r1, o1.w) - dot(turns_[k].r2, o2.w);
    const double p = std::max(0.0, row.p - rate * row.inverse), dp = p - row.p;
    if (dp == 0) continue;
    row.p = p;
    const bool counts = std::abs(dp) > tolerance * row.inverse;
    // The ground is everybody's: nothing is written there.
    if (o1.inverse_mass > 0) {
      add_to(o1.v, dp * o1.inverse_mass, row.n);
      if constexpr (!Balls) add_to(o1.w, dp, turns_[k].a1);
      if (counts) moved1 = number;
    }
    if (o2.inverse_mass > 0) {
      add_to(o2.v, -dp * o2.inverse_mass, row.n);
      if constexpr (!Balls) add_to(o2.w, -dp, turns_[k].a2);
      if (counts) moved2 = number;
    }
  }
  return answered;
}

long PushSweeps::sweep_coupled(int number, double tolerance, bool backward, bool& moved) {
  const std::size_t n = problem.rows.size();
  for (std::size_t i = 0; i < n; ++i) {
    CrowdRow& row = problem.rows[backward ? n - 1 - i : i];
    const Vec3 normal(row.n[0], row.n[1], row.n[2]);
    const double rate = row.b + normal.dot(problem.rate(row));
    const double p = std::max(0.0, row.pn - rate * row.inverse_nn), dp = p - row.pn;
    if (dp == 0) continue;
    row.pn = p;
    problem.push(row, dp * normal);
    if (!(std::abs(dp) > tolerance * row.inverse_nn)) continue;
    moved = true;
    for (const int side : {row.side1, row.side2})
      if (side >= 0) moved_[at(side)] = number;
  }
  return static_cast<long>(n);
}

double PushSweeps::solve(double tolerance, double most) {
  if (rows_.empty() && problem.rows.empty()) return 0;
  begin_.assign(at(blocks) + 2, 0);
  if (blocks > 0) {
    for (const int block : block_) ++begin_[at(block) + 1];
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    sorted_.resize(rows_.size());
    sorted_turns_.resize(turns_.size());
    std::array<int, CrowdProblem::grounds + 1> next{};
    std::copy_n(begin_.begin(), at(blocks) + 1, next.begin());
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const std::size_t to = at(next[at(block_[i])]++);
      sorted_[to] = rows_[i];
      if (!turns_.empty()) sorted_turns_[to] = turns_[i];
    }
    rows_.swap(sorted_);
    turns_.swap(sorted_turns_);
  } else {
    begin_[1] = static_cast<int>(rows_.size());
  }
  wake(tolerance);
  const int parts = blocks + 1;
  const double all = static_cast<double>(rows_.size() + problem.rows.size());
  long answered = 0;
  for (int number = 0; static_cast<double>(answered) < most * all; ++number) {
    const bool backward = number % 2 == 1;
    std::array<long, CrowdProblem::grounds + 1> done{};
    const auto part = [&](int k) {
      const int from = begin_[at(k)], to = begin_[at(k) + 1];
      done[at(k)] = problem.balls ? sweep<true>(from, to, number, tolerance, backward)
                                  : sweep<false>(from, to, number, tolerance, backward);
    };
    bool moved = false;
    const auto in_blocks = [&] { pool_.run(blocks, part); };
    const auto others = [&] {
      if (!backward) part(parts - 1);
      if (!problem.rows.empty()) answered += sweep_coupled(number, tolerance, backward, moved);
      if (backward) part(parts - 1);
    };
    if (backward) others();
    in_blocks();
    if (!backward) others();
    const long now = std::accumulate(done.begin(), done.end(), 0L);
    answered += now;
    if (now == 0 && !moved) break;
  }
  return static_cast<double>(answered) / all;
}

CrowdProblem& PushSweeps::as_problem() {
  whole_.balls = problem.balls;
  whole_.bodies = problem.bodies;
  whole_.inverse_inertia = problem.inverse_inertia;
  whole_.x = problem.x;
  whole_.sides = problem.sides;
  whole_.W = problem.W;
  whole_.X = problem.X;
  whole_.rows.clear();
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Row& from = rows_[i];
    CrowdRow& row = whole_.rows.emplace_back();
    row = {};
    std::copy_n(from.n, 3, row.n);
    row.b = from.b;
    row.pn = from.p;
    row.inverse_nn = row.inverse_tt = from.inverse;
    row.side1 = from.side1;
    row.side2 = from.side2;
    if (turns_.empty()) continue;
    // Of the arms only what turns, n x (c x n); those of balls lie along n.
    const auto arm = [&](const double* r, double* c) {
      for (int k = 0; k < 3; ++k) {
        const int i1 = (k + 1) % 3, i2 = (k + 2) % 3;
        c[k] = from.n[i1] * r[i2] - from.n[i2] * r[i1];
      }
    };
    arm(turns_[i].r1, row.c1);
    arm(turns_[i].r2, row.c2);
  }
  whole_.free_rows = static_cast<int>(rows_.size());
  whole_.rows.insert(whole_.rows.end(), problem.rows.begin(), problem.rows.end());
  return whole_;
}

void PushSweeps::take_velocities() {
  problem.bodies = whole_.bodies;
  problem.x = whole_.x;
}

}  // namespace clatter::contact
