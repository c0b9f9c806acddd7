// Systems for tests of impacts: mass matrix, contact directions, velocities.
#pragma once

#include <Eigen/Dense>
#include <cmath>
#include <numbers>
#include <random>

#include "impulse/impact.hpp"

namespace clatter::contact {

// The spec's numbers have nine decimals; closed forms are met to a few dozen roundings of numbers of size one.
inline constexpr double kPrinted = 1e-9, kClosed = 1e-12;

inline double radians(double degrees) { return degrees * std::numbers::pi / 180; }

struct ImpactSystem {
  Mat M, W;  // columns of W: normal and tangents of each contact in turn
  Vec v;

  double energy() const { return 0.5 * v.dot(M * v); }
  ImpactProblem problem(std::vector<ImpactContact> contacts) const {
    return {W.transpose() * M.llt().solve(W), W.transpose() * v, std::move(contacts)};
  }
  void apply(const Vec& P) { v += M.llt().solve(W * P); }
};

// f coordinates, `count` contacts with `tangents` each; M between 1 and about 10.
inline ImpactSystem random_impact(std::mt19937& random, int f, int count, int tangents) {
  std::uniform_real_distribution<double> u(-1, 1);
  const auto fill = [&](Mat& A) {
    for (Eigen::Index i = 0; i < A.size(); ++i) A(i) = u(random);
  };
  Mat L(f, f);
  ImpactSystem s;
  s.W.resize(f, count * (1 + tangents));
  s.v.resize(f);
  fill(L);
  fill(s.W);
  for (Eigen::Index i = 0; i < f; ++i) s.v[i] = u(random);
  s.M = L * L.transpose() + Mat::Identity(f, f);
  return s;
}

// PV-6, PV-22: rod of half length 1 and mass 1 on its tip.
inline ImpactSystem rod_on_tip(double phi, const Vec3& v) {
  ImpactSystem s;
  s.M = Vec3(1, 1, 1.0 / 3).asDiagonal();
  s.W.resize(3, 2);
  s.W << 0, 1, 1, 0, -std::cos(phi), -std::sin(phi);
  s.v = v;
  return s;
}

// PV-16 to PV-18: rod of half length 1 and mass 1 over obstacles at x = a and x = b.
inline ImpactSystem rod_on_obstacles(double a, double b, const Vec3& v, bool rough = false) {
  ImpactSystem s;
  s.M = Vec3(1, 1, 1.0 / 3).asDiagonal();
  s.W = Mat::Zero(3, rough ? 4 : 2);
  s.W.col(0) << 0, 1, a;
  s.W.col(rough ? 2 : 1) << 0, 1, b;
  if (rough) s.W(0, 1) = s.W(0, 3) = 1;
  s.v = v;
  return s;
}

// n balls of equal mass in a row, touching; the first moves.
inline ImpactSystem cradle(int n) {
  ImpactSystem s;
  s.M = Mat::Identity(n, n);
  s.W = Mat::Zero(n, n - 1);
  for (int i = 0; i < n - 1; ++i) {
    s.W(i, i) = -1;
    s.W(i + 1, i) = 1;
  }
  s.v = Vec::Unit(n, 0);
  return s;
}

}  // namespace clatter::contact
