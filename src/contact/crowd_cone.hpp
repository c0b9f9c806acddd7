// Projections of a contact's impulse, a world vector, and their derivatives; for CrowdNewton.
//
//   onto_cone   nearest point of the cone |P_T| <= mu p_N: the relaxed law
//   onto_disc   p_N = (z_N)+, then P_T into the disc of radius mu p_N: Coulomb's law (Alart and Curnier 1991)
#pragma once

#include <algorithm>
#include <cmath>

#include "contact/crowd_problem.hpp"

namespace clatter::contact {

inline Vec3 normal(const CrowdRow& row) { return Vec3(row.n[0], row.n[1], row.n[2]); }

inline Vec3 onto_cone(const CrowdRow& row, const Vec3& z) {
  const Vec3 n = normal(row);
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

}  // namespace clatter::contact
