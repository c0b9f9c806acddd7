#include "impulse/crowd_part.hpp"

#include <algorithm>

namespace clatter::contact {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

int CrowdPart::body_of(const CrowdProblem& whole, int body) {
  if (body < CrowdProblem::grounds) return body;
  int& place = body_place_[at(body)];
  if (place < 0) {
    place = static_cast<int>(problem.bodies.size());
    problem.bodies.push_back(whole.bodies[at(body)]);
    if (!whole.balls) problem.inverse_inertia.push_back(whole.inverse_inertia[at(body)]);
    bodies_.push_back(body);
  }
  return place;
}

int CrowdPart::side_of(const CrowdProblem& whole, int side) {
  int& place = side_place_[at(side)];
  if (place >= 0) return place;
  place = static_cast<int>(problem.sides.size());
  CrowdSide s = whole.sides[at(side)];
  const auto from = static_cast<std::ptrdiff_t>(s.offset), to = from + 3 * s.n;
  s.offset = static_cast<int>(problem.W.size());
  problem.W.insert(problem.W.end(), whole.W.begin() + from, whole.W.begin() + to);
  problem.X.insert(problem.X.end(), whole.X.begin() + from, whole.X.begin() + to);
  problem.sides.push_back(s);
  sides_.push_back(side);
  return place;
}

void CrowdPart::take(const CrowdProblem& whole, std::span<const int> rows) {
  rows_.assign(rows.begin(), rows.end());
  bodies_.clear();
  sides_.clear();
  body_place_.assign(whole.bodies.size(), -1);
  side_place_.assign(whole.sides.size(), -1);
  problem.balls = whole.balls;
  problem.bodies.assign(whole.bodies.begin(), whole.bodies.begin() + CrowdProblem::grounds);
  problem.inverse_inertia.assign(
      whole.inverse_inertia.begin(),
      whole.inverse_inertia.begin() +
          std::min<std::ptrdiff_t>(CrowdProblem::grounds, std::ssize(whole.inverse_inertia)));
  problem.rows.clear();
  problem.turns.clear();
  problem.shifts.clear();
  problem.sides.clear();
  problem.W.clear();
  problem.X.clear();
  problem.x = whole.x;
  problem.free_rows = 0;
  for (const int i : rows) {
    CrowdRow& row = problem.rows.emplace_back(whole.rows[at(i)]);
    for (std::int32_t* side : {&row.side1, &row.side2})
      *side = *side >= 0 ? body_of(whole, *side) : ~side_of(whole, ~*side);
    problem.free_rows += i < whole.free_rows ? 1 : 0;
    if (!whole.shifts.empty()) problem.shifts.push_back(whole.shifts[at(i)]);
    if (whole.turns.empty()) continue;
    CrowdTurn& turn = problem.turns.emplace_back(whole.turns[at(i)]);
    for (std::int32_t* place : {&turn.place1, &turn.place2})
      if (*place >= 0) *place = side_of(whole, *place);
  }
}

void CrowdPart::put_back(CrowdProblem& whole) const {
  for (std::size_t k = 0; k < rows_.size(); ++k) {
    CrowdRow& row = whole.rows[at(rows_[k])];
    row.pn = problem.rows[k].pn;
    std::copy_n(problem.rows[k].pt, 3, row.pt);
    if (!problem.turns.empty()) std::copy_n(problem.turns[k].m, 3, whole.turns[at(rows_[k])].m);
  }
  for (std::size_t k = 0; k < bodies_.size(); ++k)
    whole.bodies[at(bodies_[k])] = problem.bodies[k + CrowdProblem::grounds];
  for (const CrowdSide& s : problem.sides) std::copy_n(problem.x.begin() + s.first, s.n, whole.x.begin() + s.first);
}

}  // namespace clatter::contact
