// Projections of a contact's impulse, a world vector, and of its moment by the lever, M / L, where it transmits one,
// with their derivatives; for CrowdNewton.
//
//   onto_cone   nearest point of the cone |P_T| <= mu p_N (crowd_turn.hpp: with moments): the relaxed law
//   onto_disc   p_N = (z_N)+, then P_T into the disc of radius mu p_N, M_T and M_N into theirs: Coulomb's law (Alart
//               and Curnier 1991)
#pragma once

#include <algorithm>
#include <cmath>

#include "impulse/crowd_problem.hpp"

namespace clatter::contact {

inline Vec3 normal(const CrowdRow& row) { return Vec3(row.n[0], row.n[1], row.n[2]); }

// Friction of a given limit, the same in both laws, with its derivative.
inline Vec3 onto_given_disc(const CrowdRow& row, const Vec3& z, Mat3& J) {
  const Vec3 n = normal(row), zt = z - n.dot(z) * n;
  const double t = zt.norm(), limit = row.mu * row.pn;
  if (t <= limit) {
    J = Mat3::Identity() - n * n.transpose();
    return row.pn * n + zt;
  }
  const Vec3 along = zt / t, across = n.cross(along);
  J = limit / t * across * across.transpose();
  return row.pn * n + limit * along;
}

inline Vec3 onto_cone(const CrowdRow& row, const Vec3& z) {
  const Vec3 n = normal(row);
  if (has_given_limit(row)) {
    Vec3 zt = z - n.dot(z) * n;
    project_on_disc(row.mu * row.pn, zt);
    return row.pn * n + zt;
  }
  double zn = n.dot(z);
  Vec3 zt = z - zn * n;
  if (!(row.mu > 0)) return std::max(0.0, zn) * n;
  if (zt.norm() <= row.mu * zn) return z;
  project_on_cone(row.mu, zn, zt);
  return zn * n + zt;
}

// The same with its derivative: 1 inside, 0 in the polar cone, else along the ray g = n + mu t / |t| it falls on and
// around the cone.
inline Vec3 onto_cone(const CrowdRow& row, const Vec3& z, Mat3& J) {
  if (has_given_limit(row)) return onto_given_disc(row, z, J);
  const Vec3 n = normal(row);
  const double zn = n.dot(z);
  if (!(row.mu > 0)) {
    J.setZero();
    if (zn > 0) J = n * n.transpose();
    return std::max(0.0, zn) * n;
  }
  const Vec3 zt = z - zn * n;
  const double t = zt.norm(), mu = row.mu;
  if (t <= mu * zn) {
    J.setIdentity();
    return z;
  }
  J.setZero();
  if (mu * t <= -zn) return Vec3::Zero();
  const double k = (mu * t + zn) / (1 + mu * mu);
  const Vec3 along = zt / t, across = n.cross(along), ray = n + mu * along;
  J = ray * ray.transpose() / (1 + mu * mu) + mu * k / t * across * across.transpose();
  return k * ray;
}

// J: derivative, not symmetric where it slips; near: a symmetric part of it that is positive semidefinite, without the
// share of the radius.
inline Vec3 onto_disc(const CrowdRow& row, const Vec3& z, Mat3& J, Mat3& near) {
  if (has_given_limit(row)) {
    const Vec3 P = onto_given_disc(row, z, J);
    near = J;
    return P;
  }
  const Vec3 n = normal(row);
  const double zn = n.dot(z);
  J.setZero();
  near.setZero();
  if (!(zn > 0)) return Vec3::Zero();
  if (!(row.mu > 0)) {
    J = near = n * n.transpose();
    return zn * n;
  }
  const Vec3 zt = z - zn * n;
  const double t = zt.norm(), limit = row.mu * zn;
  if (t <= limit) {
    J.setIdentity();
    near.setIdentity();
    return z;
  }
  const Vec3 along = zt / t, across = n.cross(along);
  near = n * n.transpose() + limit / t * across * across.transpose();
  J = near + row.mu * along * n.transpose();
  return zn * n + limit * along;
}

// Impulse and moment of a row, apart by what limits them; slopes s, sizes a and directions of the parts.
struct TurnParts {
  Vec3 n, along[3];
  double zn, slope[3], size[3];
  TurnParts(const CrowdRow& row, const CrowdTurn& t, const Vec3& P, const Vec3& M)
      : n(normal(row)), zn(n.dot(P)), slope{row.mu, t.rolling / t.lever, t.drilling / t.lever} {
    const double mn = n.dot(M);
    const Vec3 parts[3] = {P - zn * n, M - mn * n, mn * n};
    for (int k = 0; k < 3; ++k) {
      size[k] = parts[k].norm();
      along[k] = size[k] > 0 ? Vec3(parts[k] / size[k]) : Vec3::Zero();
    }
  }
  // The impulse and moment with p_N, and parts whose sizes are these.
  void put(double pn, const double sizes[3], Vec3& P, Vec3& M) const {
    P = pn * n + sizes[0] * along[0];
    M = sizes[1] * along[1] + sizes[2] * along[2];
  }
  // Derivative of part k at its own place: `inside` of its limit, or on the radius `limit`.
  Mat3 around(int k, bool inside, double limit) const {
    if (k == 2) return inside ? Mat3(n * n.transpose()) : Mat3::Zero();
    if (inside) return Mat3::Identity() - n * n.transpose();
    if (!(size[k] > 0)) return Mat3::Zero();
    const Vec3 across = n.cross(along[k]);
    return limit / size[k] * across * across.transpose();
  }
};

inline void onto_cone(const CrowdRow& row, const CrowdTurn& t, Vec3& P, Vec3& M) {
  const TurnParts z(row, t, P, M);
  const ConePlace place = place_on_cone(z.slope, z.size, z.zn);
  double sizes[3];
  for (int k = 0; k < 3; ++k) sizes[k] = place.outside[k] ? z.slope[k] * place.pn : z.size[k];
  z.put(place.pn, sizes, P, M);
}

// The same with its derivative: J of P by z, Jm of M by its own z, cross of P by that of M (and transposed). The ray is
// g = n + sum of s_k t_k over the parts outside.
inline void onto_cone(const CrowdRow& row, const CrowdTurn& t, Vec3& P, Vec3& M, Mat3& J, Mat3& Jm, Mat3& cross) {
  const TurnParts z(row, t, P, M);
  const ConePlace place = place_on_cone(z.slope, z.size, z.zn);
  J.setZero();
  Jm.setZero();
  cross.setZero();
  double sizes[3] = {0, 0, 0};
  if (place.pn > 0) {
    Vec3 ray = z.n, ray_m = Vec3::Zero();
    double square = 1;
    for (int k = 0; k < 3; ++k) {
      const bool outside = place.outside[k] || !(z.slope[k] > 0);
      sizes[k] = outside ? z.slope[k] * place.pn : z.size[k];
      (k == 0 ? J : Jm) += z.around(k, !outside, sizes[k]);
      if (!outside) continue;
      (k == 0 ? ray : ray_m) += z.slope[k] * z.along[k];
      square += z.slope[k] * z.slope[k];
    }
    J += ray * ray.transpose() / square;
    Jm += ray_m * ray_m.transpose() / square;
    cross = ray * ray_m.transpose() / square;
  }
  z.put(place.pn, sizes, P, M);
}

// J, Jm, near and near_m as above; cross: of M by the z of P, the radii.
inline void onto_disc(const CrowdRow& row, const CrowdTurn& t, Vec3& P, Vec3& M, Mat3& J, Mat3& Jm, Mat3& cross,
                      Mat3& near, Mat3& near_m) {
  const TurnParts z(row, t, P, M);
  for (Mat3* x : {&J, &Jm, &cross, &near, &near_m}) x->setZero();
  double sizes[3] = {0, 0, 0};
  const double pn = std::max(0.0, z.zn);
  if (pn > 0) {
    J = near = z.n * z.n.transpose();
    for (int k = 0; k < 3; ++k) {
      const double limit = z.slope[k] * pn;
      const bool inside = z.slope[k] > 0 && z.size[k] <= limit;
      sizes[k] = inside ? z.size[k] : limit;
      const Mat3 around = z.around(k, inside, limit);
      (k == 0 ? J : Jm) += around;
      (k == 0 ? near : near_m) += around;
      if (!inside) (k == 0 ? J : cross) += z.slope[k] * z.along[k] * z.n.transpose();
    }
  }
  z.put(pn, sizes, P, M);
}

}  // namespace clatter::contact
