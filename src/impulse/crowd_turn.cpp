// Moments of a CrowdProblem: spins, their responses, the nearest point of the cone; see crowd_turn.hpp.
#include "impulse/crowd_turn.hpp"

#include <algorithm>
#include <cmath>

#include "impulse/crowd_problem.hpp"

namespace clatter::contact {

ConePlace place_on_cone(const double slope[3], const double size[3], double pn) {
  ConePlace place{pn, {true, true, true}};
  for (bool dropped = true; dropped;) {
    double above = pn, below = 1;
    for (int k = 0; k < 3; ++k)
      if (place.outside[k]) {
        above += slope[k] * size[k];
        below += slope[k] * slope[k];
      }
    place.pn = above / below;
    dropped = false;
    for (int k = 0; k < 3; ++k)
      if (place.outside[k] && size[k] <= slope[k] * place.pn) {
        place.outside[k] = false;
        dropped = true;
      }
  }
  place.pn = std::max(0.0, place.pn);
  return place;
}

void project_on_cone(double mu, double rolling, double drilling, double& pn, Vec3& pt, Vec3& mt, double& mn) {
  const double slope[3] = {mu, rolling, drilling}, size[3] = {pt.norm(), mt.norm(), std::abs(mn)};
  const ConePlace place = place_on_cone(slope, size, pn);
  pn = place.pn;
  const auto part = [&](int k) { return place.outside[k] && size[k] > 0 ? slope[k] * pn / size[k] : 1.0; };
  pt *= part(0);
  mt *= part(1);
  mn *= part(2);
}

// Sides in jointed trees have columns of moments only where the row transmits one; others do not ask.
Vec3 CrowdProblem::spin(int side, int place) const {
  if (place >= 0) return velocity(~place, nullptr);
  if (side < 0) return Vec3::Zero();
  const CrowdBody& o = bodies[static_cast<std::size_t>(side)];
  return Vec3(o.w[0], o.w[1], o.w[2]);
}

void CrowdProblem::turn(int side, int place, const Vec3& M) {
  if (place >= 0) return push(~place, nullptr, M);
  if (side < 0) return;
  CrowdBody& o = bodies[static_cast<std::size_t>(side)];
  const Vec3 change = balls ? Vec3(o.inverse_inertia * M) : Vec3(inverse_inertia[static_cast<std::size_t>(side)] * M);
  for (int k = 0; k < 3; ++k) o.w[k] += change[k];
}

Mat3 CrowdProblem::turn_response(int side, int place) const {
  if (place >= 0) return response(~place, nullptr);
  const CrowdBody& o = bodies[static_cast<std::size_t>(side)];
  return balls ? Mat3(o.inverse_inertia * Mat3::Identity()) : inverse_inertia[static_cast<std::size_t>(side)];
}

void CrowdProblem::set_response(const CrowdRow& row, CrowdTurn& turn) const {
  const Mat3 B = turn_response(row.side1, turn.place1) + turn_response(row.side2, turn.place2);
  const Vec3 n(row.n[0], row.n[1], row.n[2]), t1 = n.unitOrthogonal(), t2 = n.cross(t1);
  const double a = t1.dot(B * t1), b = t2.dot(B * t2), c = t1.dot(B * t2);
  const double rr = 0.5 * (a + b) + std::sqrt(0.25 * (a - b) * (a - b) + c * c), dd = n.dot(B * n);
  // What cannot turn that way, as in the plane about the normal, needs no moment. Below rounding of the other: cannot.
  const double none = 1e-12 * std::max(rr, dd);
  turn.inverse_rr = rr > none ? 1 / rr : 0;
  turn.inverse_dd = dd > none ? 1 / dd : 0;
  if (!(turn.inverse_rr > 0)) turn.rolling = 0;
  if (!(turn.inverse_dd > 0)) turn.drilling = 0;
  const double forces = std::max(1 / row.inverse_nn, row.inverse_tt > 0 ? 1 / row.inverse_tt : 0.0),
               moments = std::max(turn.rolling > 0 ? rr : 0.0, turn.drilling > 0 ? dd : 0.0);
  turn.lever = moments > 0 ? std::sqrt(forces / moments) : 1;
}

double CrowdProblem::step_of(std::size_t i) const {
  const CrowdRow& row = rows[i];
  if (has_given_limit(row)) return row.inverse_tt;
  const bool tangential = row.mu > 0 || (!turns.empty() && turns[i].any());
  return tangential ? std::min(row.inverse_nn, row.inverse_tt) : row.inverse_nn;
}

// Natural map of a row with a moment: see residual().
void CrowdProblem::add_residual(std::size_t i, bool exact, CrowdResidual& out) const {
  const CrowdRow& row = rows[i];
  const CrowdTurn& t = turns[i];
  const Vec3 u = rate(row), w = spin(row, t), n(row.n[0], row.n[1], row.n[2]), pt(row.pt[0], row.pt[1], row.pt[2]),
             m = Vec3(t.m[0], t.m[1], t.m[2]) / t.lever;
  const double un = n.dot(u), wn = t.lever * n.dot(w), mn = n.dot(m), rolling = t.rolling / t.lever,
               drilling = t.drilling / t.lever;
  const Vec3 ut = u - un * n, wt = t.lever * w - wn * n, mt = m - mn * n;
  double dn = un + row.b;
  out.approach = std::max(out.approach, -dn);
  out.cone = std::max(
      {out.cone, pt.norm() - row.mu * row.pn, mt.norm() - rolling * row.pn, std::abs(mn) - drilling * row.pn, -row.pn});
  if (exact) dn += row.mu * ut.norm() + rolling * wt.norm() + drilling * std::abs(wn);
  const double eta = step_of(i);
  if (!(eta > 0)) return;
  double zn = row.pn - eta * dn, zd = mn - eta * wn;
  Vec3 zt = pt - eta * ut, zr = mt - eta * wt;
  project_on_cone(row.mu, rolling, drilling, zn, zt, zr, zd);
  const double off = std::sqrt((row.pn - zn) * (row.pn - zn) + (pt - zt).squaredNorm() + (mt - zr).squaredNorm() +
                               (mn - zd) * (mn - zd));
  out.impulse = std::max(out.impulse, off);
  out.rate = std::max(out.rate, off / eta);
}

}  // namespace clatter::contact
