// Contact problems of known mechanics for the tests of the complementarity solvers: M q'' = h + W_N r_N + W_T r_T with
// rows g_N'' = W_N^T q'' + w_N and g_T'' = W_T^T q'' + w_T, written in the compact form (one row a contact direction)
// and as the full LCP P-31 of the four-constraint split.
#pragma once

#include <Eigen/Dense>
#include <random>
#include <vector>

#include "solve/complementarity.hpp"

namespace clatter::test {

struct PlanarContacts {
  Mat M;
  Vec h;
  Mat WN, WT;  // f x n; a tangential row for every contact
  Vec wN, wT, mu;

  int contacts() const { return static_cast<int>(mu.size()); }

  Vec accelerations(const Vec& rN, const Vec& rT) const { return M.llt().solve(h + WN * rN + WT * rT); }

  // Rows N_1..N_n, T_1..T_n.
  ContactProblem problem() const {
    const int n = contacts();
    Mat W(M.rows(), 2 * n);
    W << WN, WT;
    Vec w(2 * n);
    w << wN, wT;
    const Eigen::LLT<Mat> llt(M);
    ContactProblem p{W.transpose() * llt.solve(W), W.transpose() * llt.solve(h) + w, {}};
    for (int i = 0; i < n; ++i) p.cones.push_back(Cone::ray(i));
    for (int i = 0; i < n; ++i) p.cones.push_back(Cone::friction(i, n + i, mu(i)));
    return p;
  }
  Vec accelerations(const Vec& r) const { return accelerations(r.head(contacts()), r.tail(contacts())); }

  // P-31 with all contacts potentially sticking (N_G = 0): x = (r_N, r_T(+), r_T(-), z-, z+), size 5 n.
  void full_lcp(Mat& A, Vec& b) const {
    const int n = contacts(), m = 3 * n;
    Mat W(M.rows(), m);
    W << WN, WT, -WT;
    Vec w(m);
    w << wN, wT, -wT;
    const Eigen::LLT<Mat> llt(M);
    A.setZero(5 * n, 5 * n);
    b.setZero(5 * n);
    A.topLeftCorner(m, m) = W.transpose() * llt.solve(W);
    b.head(m) = W.transpose() * llt.solve(h) + w;
    for (int i = 0; i < n; ++i) {
      A(n + i, m + i) = 1;  // I^T
      A(2 * n + i, m + n + i) = 1;
      A(m + i, i) = mu(i);  // N_H - I: saturation (-) belongs to r_T(+)
      A(m + i, n + i) = -1;
      A(m + n + i, i) = mu(i);
      A(m + n + i, 2 * n + i) = -1;
    }
  }
  Vec accelerations_full(const Vec& x) const {
    const int n = contacts();
    return accelerations(x.head(n), x.segment(n, n) - x.segment(2 * n, n));
  }
};

// PV-14: n blocks of mass 1 on a table with acceleration a0; q = (x_1, y_1, ..., x_n, y_n), g = 10.
inline PlanarContacts tower(const Vec& mu, double a0) {
  const int n = static_cast<int>(mu.size());
  PlanarContacts s;
  s.M = Mat::Identity(2 * n, 2 * n);
  s.h = Vec::Zero(2 * n);
  s.WN = s.WT = Mat::Zero(2 * n, n);
  s.wN = s.wT = Vec::Zero(n);
  s.mu = mu;
  for (int i = 0; i < n; ++i) {
    s.h(2 * i + 1) = -10;
    s.WT(2 * i, i) = 1;
    s.WN(2 * i + 1, i) = 1;
    if (i > 0) s.WT(2 * (i - 1), i) = s.WN(2 * (i - 1) + 1, i) = -1;
  }
  s.wT(0) = -a0;
  return s;
}

inline Mat random_normal(int rows, int cols, std::mt19937& random) {
  std::normal_distribution<double> normal;
  Mat A(rows, cols);
  for (int j = 0; j < cols; ++j) {
    for (int i = 0; i < rows; ++i) A(i, j) = normal(random);
  }
  return A;
}

// Contacts that can separate: every normal direction has a part along one common direction, so that r_N >= 0 with
// W_N r_N = 0 means r_N = 0.
inline PlanarContacts random_contacts(int f, int n, double mu_max, std::mt19937& random) {
  std::uniform_real_distribution<double> uniform(0, 1);
  PlanarContacts s;
  const Mat L = random_normal(f, f, random);
  s.M = L * L.transpose() + 0.5 * Mat::Identity(f, f);
  s.h = 3 * random_normal(f, 1, random);
  s.WN = random_normal(f, n, random);
  s.WN.row(0) = s.WN.row(0).cwiseAbs().array() + 0.5;
  s.WT = random_normal(f, n, random);
  s.wN = random_normal(n, 1, random);
  s.wT = random_normal(n, 1, random);
  s.mu.resize(n);
  for (int i = 0; i < n; ++i) s.mu(i) = mu_max * uniform(random);
  return s;
}

// n spatial contacts on f coordinates: rows (N, T1, T2) a contact.
inline ContactProblem random_spatial(int f, int n, double mu, std::mt19937& random) {
  const Mat L = random_normal(f, f, random);
  const Mat M = L * L.transpose() + 0.5 * Mat::Identity(f, f);
  Mat W = random_normal(f, 3 * n, random);
  for (int i = 0; i < n; ++i) W(0, 3 * i) = std::abs(W(0, 3 * i)) + 1;
  const Eigen::LLT<Mat> llt(M);
  ContactProblem p{W.transpose() * llt.solve(W), W.transpose() * (3 * random_normal(f, 1, random)), {}};
  for (int i = 0; i < n; ++i) {
    p.cones.push_back(Cone::ray(3 * i));
    p.cones.push_back(Cone::disc(3 * i, 3 * i + 1, mu));
  }
  return p;
}

// Gauss's principle (P-25) by a method that shares nothing with the solvers under test: minimise
// 1/2 (a - a_free)^T M (a - a_free) under W^T a + w >= 0 by Hildreth's dual coordinate ascent in long double.
inline Vec gauss_principle(const Mat& M, const Vec& h, const Mat& W, const Vec& w) {
  using Real = long double;
  const Eigen::LLT<Mat> llt(M);
  const Mat G = W.transpose() * llt.solve(W);
  const Vec b = W.transpose() * llt.solve(h) + w;
  const Eigen::Index n = b.size();
  std::vector<Real> lambda(static_cast<std::size_t>(n), 0.0L);
  for (int sweep = 0; sweep < 200000; ++sweep) {
    Real change = 0;
    for (Eigen::Index i = 0; i < n; ++i) {
      if (G(i, i) <= 0) continue;
      Real y = b(i);
      for (Eigen::Index j = 0; j < n; ++j) y += static_cast<Real>(G(i, j)) * lambda[static_cast<std::size_t>(j)];
      Real& l = lambda[static_cast<std::size_t>(i)];
      const Real moved = std::max<Real>(0, l - y / G(i, i));
      change = std::max(change, std::abs(moved - l));
      l = moved;
    }
    if (change < 1e-15L) break;
  }
  Vec r(n);
  for (Eigen::Index i = 0; i < n; ++i) r(i) = static_cast<double>(lambda[static_cast<std::size_t>(i)]);
  return llt.solve(h + W * r);
}

}  // namespace clatter::test
