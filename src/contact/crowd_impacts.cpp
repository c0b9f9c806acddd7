// Impacts of a crowd by the law each contact names (impact.hpp); for CrowdStepper.
//
// Moreau's law is in the rows themselves: b = e n . u-, s = e_T u_T-. Poisson's has two phases, Newton's its own
// conditions; for islands of up to 160 rows, as of pairs, they are found densely,
//
//   P, u+ of ImpactSolver with G = D^T M^-1 D and the rates of the begin, over what collides or touches
//
// and the rows get as their law what leads there: b = -n . u+, s = -u_T+ where a contact carries. P lies in Coulomb's
// cone and is a solution of these rows to what forces change in the step. Larger islands follow Moreau's law, whatever
// their contacts name, as of pairs; and so do those whose impulses are not found, which the event log tells.
#include <algorithm>
#include <cmath>

#include "contact/crowd_stepper.hpp"

namespace clatter::contact {

namespace {

constexpr std::size_t kDenseRows = 160;
// Gaps below this part of the length scale touch.
constexpr double kTouching = 1e-9;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

const RigidContact& CrowdStepper::law_of(const RowOrigin& c) const {
  if (const int slot = slot_of(c); slot >= 0) return system().rigid(slot);
  return c.point >= 0 ? crowd_.contacts[at(c.entry)].law : crowd_.ropes[at(c.entry) - crowd_.contacts.size()].law;
}

bool CrowdStepper::needs_two_phases(const RigidContact& law) {
  return law.impact != RigidContact::Impact::moreau && (law.restitution > 0 || law.tangential_restitution > 0);
}

// Tangents of a row that friction has: none, one in the plane, or two.
int CrowdStepper::tangents_of(std::size_t i, Vec3 t[2]) const {
  const CrowdRow& row = problem_.rows[i];
  const RowOrigin& c = assembly_.origins[i];
  const Vec3 n(row.n[0], row.n[1], row.n[2]);
  if (!(row.mu > 0)) return 0;
  if (const int slot = slot_of(c); slot >= 0) {
    t[0] = Vec3::UnitY();
    t[1] = Vec3::UnitZ();
    return system().pair(slot).tangents;
  }
  if (entries_.now[at(c.entry)].planar) {
    t[0] = Vec3(n.y(), -n.x(), 0);
    return 1;
  }
  t[0] = n.unitOrthogonal();
  t[1] = n.cross(t[0]);
  return 2;
}

void CrowdStepper::find_impacts(double h) {
  impacts_.gains.clear();
  if (!impacts_.any) return;
  bool collides = false;
  for (const RowOrigin& c : assembly_.origins)
    collides = collides || (c.impact && c.entry >= 0 && needs_two_phases(law_of(c)));
  if (!collides) return;
  join_islands(false);
  std::vector<std::vector<int>>& islands = impacts_.islands;
  islands.assign(graph_.parent.size(), {});
  std::vector<char> struck(graph_.parent.size(), 0);
  for (std::size_t i = 0; i < assembly_.origins.size(); ++i) {
    const RowOrigin& c = assembly_.origins[i];
    if (c.entry < 0) continue;
    const std::size_t root = root_of_row(i);
    const bool touches = c.gap <= kTouching * system().length_scale || (c.gap + h * c.free <= 0 && c.before < 0);
    if (c.impact && needs_two_phases(law_of(c))) struck[root] = 1;
    if (c.impact || touches) islands[root].push_back(static_cast<int>(i));
  }
  for (std::size_t root = 0; root < islands.size(); ++root)
    if (struck[root]) collide(islands[root], h);
}

// The rows of one island that take part.
void CrowdStepper::collide(const std::vector<int>& rows, double h) {
  ImpactProblem& dense = impacts_.problem;
  std::vector<Vec3>& along = impacts_.along;
  dense.contacts.clear();
  along.clear();
  std::vector<std::size_t> row_of;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const std::size_t i = at(rows[k]);
    const CrowdRow& row = problem_.rows[i];
    Vec3 t[2];
    const int tangents = tangents_of(i, t);
    ImpactContact c = impact_contact(law_of(assembly_.origins[i]), static_cast<int>(along.size()), tangents, row.mu);
    c.mu = row.mu;
    dense.contacts.push_back(c);
    along.emplace_back(row.n[0], row.n[1], row.n[2]);
    for (int j = 0; j < tangents; ++j) along.push_back(t[j]);
    row_of.resize(along.size(), k);
  }
  const std::size_t n = along.size();
  if (n > kDenseRows) return;
  part_.take(problem_, rows);
  CrowdProblem& part = part_.problem;
  for (CrowdBody& body : part.bodies) std::fill(body.v, body.v + 3, 0.0), std::fill(body.w, body.w + 3, 0.0);
  std::fill(part.x.begin(), part.x.end(), 0.0);
  const auto size = static_cast<Eigen::Index>(n);
  dense.G.resize(size, size);
  dense.rate.resize(size);
  for (std::size_t c = 0; c < n; ++c) {
    part.push(part.rows[row_of[c]], along[c]);
    for (std::size_t r = 0; r < n; ++r)
      dense.G(static_cast<Eigen::Index>(r), static_cast<Eigen::Index>(c)) =
          along[r].dot(part.rate(part.rows[row_of[r]]));
    part.push(part.rows[row_of[c]], -along[c]);
    const RowOrigin& about = assembly_.origins[at(rows[row_of[c]])];
    Vec3 u = about.u_begin;
    if (about.driven) u += moving_of(at(rows[row_of[c]]));
    dense.rate[static_cast<Eigen::Index>(c)] = along[c].dot(u);
  }
  impacts_.solver.solve(dense, impacts_.result);
  if (impacts_.result.status != ContactStatus::solved) {
    impacts_.gains.push_back({rows.front(), 0, 1});
    return;
  }
  impacts_.solver.forbid_gain(dense, impacts_.result);
  if (impacts_.result.gains >= 0)
    impacts_.gains.push_back({rows[at(impacts_.result.gains)], impacts_.result.gain, impacts_.result.part});
  for (std::size_t k = 0; k < rows.size(); ++k) aim(at(rows[k]), dense.contacts[k], h);
}

// The law of row i leads to the rates of the result.
void CrowdStepper::aim(std::size_t i, const ImpactContact& c, double h) {
  CrowdRow& row = problem_.rows[i];
  const Vec3 moving = assembly_.origins[i].driven ? moving_of(i) : Vec3::Zero();
  if (!(impacts_.result.P[c.row] > 0)) {
    row.b = assembly_.origins[i].way = std::max(0.0, assembly_.origins[i].gap / h);
    if (laws_.shifting) problem_.shifts[i] = moving;
    return;
  }
  row.b = -impacts_.result.rate[c.row];
  if (assembly_.origins[i].impact && !assembly_.origins[i].lands) assembly_.origins[i].way = row.b;
  if (!laws_.shifting) return;
  problem_.shifts[i] = moving;
  for (int j = 1; j <= c.tangents; ++j)
    problem_.shifts[i] -= impacts_.result.rate[c.row + j] * impacts_.along[at(c.row + j)];
}

// What the surfaces of a driven row move by themselves: its shift, without what restitution has put there.
Vec3 CrowdStepper::moving_of(std::size_t i) const {
  const RigidContact& law = law_of(assembly_.origins[i]);
  Vec3 s = problem_.shifts[i];
  if (!assembly_.origins[i].impact || !(problem_.rows[i].mu > 0) || !(law.tangential_restitution > 0)) return s;
  // s = m + e_T (u_T- + m_T) for the tangential part.
  const CrowdRow& row = problem_.rows[i];
  const Vec3 n(row.n[0], row.n[1], row.n[2]), u = assembly_.origins[i].u_begin, ut = u - n.dot(u) * n;
  const Vec3 st = s - n.dot(s) * n;
  return n.dot(s) * n + (st - law.tangential_restitution * ut) / (1 + law.tangential_restitution);
}

}  // namespace clatter::contact
